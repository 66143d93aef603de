/* The event loop: which warp issues next, and what its issue does to the scoreboard. */
#include "base/err.h"
#include "gpu/sim/time/time_fetch.h"
#include "gpu/sim/time/time_tally.h"
#include "gpu/sim/time/time_turn.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

void time_turn(const struct time_sched *s, uint64_t at)
{
	struct time_cluster *c = s->cluster;
	c->sooner++;
	if (at < PENDING && at < c->wheel.at[s->number])
		wheel_set(&c->wheel, s->number, at);
}

/* ---- one issue ---- */

void time_fault(struct time_run *x, const struct time_warp *w, uint32_t pc)
{
	x->stop = true;
	if (!x->c->direct || x->apart) /* others may have run ahead */
		x->last = x->c->now;
	x->r->end = TIME_FAULT;
	x->r->fault = (enum func_fault)w->f.fault;
	func_fault_text(x->r->message, sizeof x->r->message, &w->f, &x->fi[pc], &x->p->func->info[pc]);
}

static void read_clock(struct time_run *x, struct time_warp *w)
{
	const struct sim_spec *s = x->g->spec;
	uint32_t sm = w->block->sm;
	uint32_t n = s->clock_scope == SCOPE_SM ? sm : s->clock_scope == SCOPE_CLUSTER ? x->g->sm[sm].cluster : 0;
	uint64_t value = w->sampled + x->g->clock_offset[n];
	uint32_t grain = s->clock_granularity ? s->clock_granularity : 1;
	w->f.clock = grain > 1 ? value - value % grain : value;
	w->f.globaltimer = (uint64_t)boost_ns(&x->g->boost, w->sampled);
}

static inline void checked(const struct time_run *x, const struct time_warp *w, const struct func_warp *f,
			   const struct func_inst *fi, uint32_t mask)
{
	if (__builtin_expect(x->q->check != NULL, 0) && !f->fault)
		x->q->check->access(x->q->check->ctx, f, fi, &x->p->func->info[w->f.pc], mask);
}

/* One half's access; `t`: when it leaves. Returns when its result is there, PENDING too; *busy: what it keeps the pipe. */
static uint64_t access(struct time_run *x, struct time_warp *w, struct func_warp *f, const struct func_inst *fi,
		       const struct time_inst *ti, uint32_t mask, uint64_t t, uint32_t flight, uint32_t *busy)
{
	uint32_t effect = FAR_NONE;
	if (ti->path == PATH_GLOBAL && !x->c->direct)
		time_effect(x, w, f, fi, mask, &effect);
	else if (__builtin_expect(x->watch, 0) && ti->kind != FUNC_LOAD)
		time_watch_handler(x, f, fi, mask);
	else
		func_do_half(f, fi, mask);
	if (__builtin_expect(f->fault, 0))
		return 0;
	checked(x, w, f, fi, mask);
	if (ti->kind == FUNC_STORE) {
		time_store(x, w, f, fi, ti->path, mask, t, busy, effect);
		return 0;
	}
	uint64_t ready = time_load(x, w, f, fi, ti->path, mask, t, busy);
	if (fi->kind == FUNC_ATOMIC && ready < PENDING && ready > x->landed)
		x->landed = ready;
	if (ready >= PENDING && x->c->request_count) {
		struct far_request *q = &x->c->request[x->c->request_count - 1];
		q->pc = w->f.pc;
		q->flight = flight;
		q->effect = effect;
	}
	return ready;
}

/* The same of one lane, of an instruction that is `alone`, in a cluster that asks at once. */
static inline uint64_t access_one(struct time_run *x, struct time_warp *w, const struct func_inst *fi,
				  const struct time_inst *ti, uint32_t mask, uint64_t t, uint32_t *busy)
{
	const uint32_t lane = (uint32_t)__builtin_ctz(mask);
	func_one[fi->op](&w->f, fi, lane);
	checked(x, w, &w->f, fi, mask);
	return __builtin_expect(w->f.fault, 0) ? 0 : time_load_one(x, w, &w->f, fi, ti->path, lane, t, busy);
}

/* The upper half follows the lower one through the pipe, and the instruction is done when both are. */
static __attribute__((noinline)) uint64_t access_upper(struct time_run *x, struct time_warp *w,
						       const struct func_inst *fi, const struct time_inst *ti,
						       uint64_t mask, uint64_t t, uint32_t flight, uint32_t *busy)
{
	uint64_t ready = 0;
	*busy = 0;
	if ((uint32_t)mask)
		ready = access(x, w, &w->f, fi, ti, (uint32_t)mask, t, flight, busy);
	if (w->f.fault)
		return 0;
	uint32_t first = *busy;
	uint64_t more =
	    access(x, w, w->f.upper, fi, ti, (uint32_t)(mask >> FUNC_LANES), t + (first >> FIX), flight, busy);
	*busy += first;
	if (w->f.upper->fault) {
		func_upper_fault(&w->f);
		return 0;
	}
	if ((ready >= PENDING) != (more >= PENDING) && x->c->request_count) {
		struct far_request *q = &x->c->request[x->c->request_count - 1];
		uint64_t known = ready < PENDING ? ready : more;
		q->known = known > q->known ? known : q->known;
	}
	return ready > more ? ready : more;
}

/* From the first step of an instruction at t on. A second one that goes out with it has the same turn. */
static void begin_turn(const struct time_run *x, struct time_warp *w, uint64_t t)
{
	if (w->turned == t)
		return;
	w->turned = t;
	w->turn = x->dual ? t : t + x->turn;
}

void time_turn_over(const struct time_run *x, struct time_sched *s, uint32_t slot, uint64_t t)
{
	struct time_warp *w = slot < s->slots ? s->warp[slot] : NULL;
	if (!w || w->turned != t)
		return;
	w->turn = t + x->turn;
	/* The steps of one instruction are one turn. */
	if (!w->sub && s->wake[slot] < w->turn)
		time_wake(s, slot, w->turn);
}

static void issue_memory(struct time_run *x, struct time_warp *w, const struct func_inst *fi,
			 const struct time_inst *ti, uint64_t mask, uint64_t t)
{
	struct time_sched *s = w->sched;
	uint32_t pc = w->f.pc, busy, flight = FAR_NONE;
	bool load = ti->kind != FUNC_STORE;
	uint64_t ready;
	if (load && w->flight)
		flight = ti->path == PATH_CONSTANT && x->g->spec->constant_blocks ? x->g->spec->loads_in_flight
			 : x->g->spec->loads_in_flight				  ? w->flight_at
										  : FAR_NONE;
	if (ti->alone && !(mask & (mask - 1)) && !(mask >> FUNC_LANES) && x->c->direct)
		ready = access_one(x, w, fi, ti, (uint32_t)mask, t, &busy);
	else if (__builtin_expect(mask >> FUNC_LANES != 0, 0))
		ready = access_upper(x, w, fi, ti, mask, t, flight, &busy);
	else
		ready = access(x, w, &w->f, fi, ti, (uint32_t)mask, t, flight, &busy);
	if (__builtin_expect(w->f.fault, 0)) {
		time_fault(x, w, pc);
		return;
	}
	if (__builtin_expect(w->together != NULL, 0))
		time_note_together(w, ti, 0);
	busy += ti->request;
	if (__builtin_expect(ti->operand, 0)) /* what is left are conflicts */
		ready = ready > x->g->shared_latency + t ? ready - x->g->shared_latency : t;
	if (load) {
		if (__builtin_expect(x->note != NULL, 0))
			time_note_done(x, ready);
		for (uint32_t k = 0; k < ti->write_count; k++)
			w->ready[ti->write[k]] = ready;
		if (flight != FAR_NONE) {
			w->flight[flight] = ready;
			if (flight == w->flight_at && flight < x->g->spec->loads_in_flight)
				w->flight_at = flight + 1 == x->g->spec->loads_in_flight ? 0 : flight + 1;
		}
	}
	take(s, &x->p->set[ti->set], &busy, t, x->g->issue);
	func_warp_next(&w->f);
	time_next(x, w, t);
}

/* What the instruction takes as operands is computed before it, in no time. False: it faults. */
static bool lead_up(struct time_run *x, struct time_warp *w, uint32_t count)
{
	for (; count; count--) {
		compute(x, w, &x->fi[w->f.pc], w->f.active);
		if (__builtin_expect(w->f.fault, 0)) {
			time_fault(x, w, w->f.pc);
			return false;
		}
		w->f.pc++;
	}
	return true;
}

/* How much longer a branch takes at t because lanes part. */
static uint32_t part(const struct time_run *x, struct time_sched *s, const struct time_inst *ti, uint64_t t)
{
	const uint64_t from = s->parts > t ? s->parts : t;
	s->parts = from + x->g->part_issue;
	return (uint32_t)(from - t) + ti->tail;
}

/* How long a branch at t waits until the scheduler's others have begun. Those that mark a place to meet take turns of it, too. */
static uint32_t queue_up(struct time_sched *s, const struct time_inst *ti, uint64_t t)
{
	const uint64_t at = t << FIX, from = s->branches > at ? s->branches : at;
	s->branches = from + ti->interval[0];
	s->free += ti->request;
	return (uint32_t)((from - at + FIX_ONE / 2) >> FIX);
}

/* The warp's next native step goes out at cycle t; its operands, a pipe and the port are known to be free. Inlined where one
 * warp runs alone, because there the call itself would show. */
static inline __attribute__((always_inline)) void issue(struct time_run *x, struct time_warp *w, uint64_t t)
{
	struct time_sched *s = w->sched;
	const struct time_inst *ti = &x->ti[w->f.pc];
	if (__builtin_expect(ti->lead, 0) && !lead_up(x, w, ti->lead))
		return;
	ti += ti->lead;
	const struct func_inst *fi = &x->fi[w->f.pc];
	uint64_t mask = func_mask(&w->f, fi);
	uint64_t port = t << FIX;
	bool executed = false;

	if (__builtin_expect(w->f.diverged, 0) && fi->flags & (FUNC_GATHER | FUNC_WARP_SYNC) && mask &&
	    w->sub == ti->before) {
		mask = func_paths_gather(&w->f, fi, (uint32_t)mask, &executed);
		if (!mask) { /* waits for lanes: another path has the turn, and nothing was issued */
			w->sub = 0;
			time_next(x, w, t);
			return;
		}
	}
	if (__builtin_expect(x->note != NULL, 0))
		time_note_step(x, w, mask, t);
	if (__builtin_expect(x->counted != NULL, 0))
		time_tally_step(x, w, ti, false, mask, t);
	if (__builtin_expect(!ti->operand, 1)) {
		s->free = (s->free > port ? s->free : port) + x->g->issue;
		s->last = w->slot;
	}
	x->last = t > x->last ? t : x->last;
	if (__builtin_expect(x->turn != 0, 0) && !w->sub)
		begin_turn(x, w, t);
	if (__builtin_expect(ti->before != 0, 0)) {
		if (!w->sub)
			w->sampled = t;
		if (w->sub < ti->before && mask) {
			take(s, &x->p->set[ti->set_before], ti->interval_before, t, x->g->issue);
			uint64_t done = (uint64_t)ti->step * w->sub >> FIX;
			w->sub++;
			uint64_t next = t + ((uint64_t)ti->step * w->sub >> FIX) - done;
			/* The instruction's own fetch goes on while the step before it is under way. */
			if (__builtin_expect(ti->spans, 0)) {
				uint64_t there = time_fetch_step(x, w, ti, t);
				next = there > next ? there : next;
			}
			if (w->sub == ti->before && ti->kind == FUNC_LOAD && w->flight) {
				uint64_t free = time_blocked(x, w, ti);
				next = free > next ? free : next;
			}
			if (__builtin_expect(next >= PENDING, 0))
				w->from = t + ((uint64_t)ti->step * w->sub >> FIX) - done;
			time_wake(s, w->slot, next);
			time_want(s, w->slot, w->sub < ti->before ? ti->set_before : ti->set);
			return;
		}
		w->sub = 0;
	} else {
		w->sampled = t;
	}
	x->r->instructions++;
	if (!mask) { /* guarded off: it takes its turn and nothing else */
		func_warp_next(&w->f);
		time_next(x, w, ti->kind == FUNC_BRANCH ? t + ti->after + queue_up(s, ti, t) : t);
		return;
	}
	switch ((enum func_kind)ti->kind) {
	case FUNC_CLOCK:
		x->epoch++;
		read_clock(x, w);
		/* fall through */
	case FUNC_ALU:
		if (__builtin_expect(x->watch && ti->keeps, 0))
			time_watch_own(x, &w->f, fi, mask);
		else if (__builtin_expect(!executed, 1))
			compute(x, w, fi, mask);
		if (__builtin_expect(ti->checked && w->f.fault, 0)) {
			time_fault(x, w, w->f.pc);
			return;
		}
		for (uint32_t k = 0; k < ti->write_count; k++)
			w->ready[ti->write[k]] = t + ti->tail;
		if (__builtin_expect(w->together != NULL, 0))
			time_note_together(w, ti, t + ti->tail);
		take(s, &x->p->set[ti->set], ti->interval, t, x->g->issue);
		func_warp_next(&w->f);
		time_next(x, w, t + ti->after);
		break;
	case FUNC_LOAD:
	case FUNC_STORE:
	case FUNC_ATOMIC:
		issue_memory(x, w, fi, ti, mask, t);
		break;
	case FUNC_BRANCH: {
		uint32_t from = w->f.pc;
		struct func_inst one;
		if (__builtin_expect(fi->flags & FUNC_INDEXED, 0))
			fi = func_warp_indexed(&w->f, fi, &mask, &one);
		uint32_t split = mask != w->f.active ? part(x, s, ti, t) : 0;
		func_warp_branch(&w->f, fi, mask);
		if (__builtin_expect(x->watch, 0))
			time_watch_branch(x, w, fi, from);
		time_next(x, w, t + ti->after + split + queue_up(s, ti, t));
		break;
	}
	case FUNC_BARRIER:
		if (__builtin_expect(x->q->check != NULL, 0) && !(fi->flags & FUNC_WARP_SYNC))
			x->q->check->barrier(x->q->check->ctx, &w->f);
		time_barrier(x, w, fi, mask, t);
		break;
	case FUNC_FENCE:
		func_warp_next(&w->f);
		time_next(x, w, t);
		break;
	case FUNC_EXIT:
		x->epoch++;
		w->block->threads -= (uint32_t)__builtin_popcountll(mask);
		func_warp_exit(&w->f, mask);
		if (!w->f.live) {
			if (__builtin_expect(x->tally != NULL, 0))
				time_tally_done(x, w, t);
			time_warp_done(x, w, t);
		} else {
			time_next(x, w, t);
			if (x->l->independent)
				time_barriers_try(x, w->block, t);
			time_cluster_try(x, w->block, t);
		}
		break;
	case FUNC_KINDS:
		break;
	}
}

__attribute__((noinline)) void time_issue(struct time_run *x, struct time_warp *w, uint64_t t)
{
	if (!issue_plain(x, w, t))
		issue(x, w, t);
}

/* ---- the two loops ---- */

/* The line of some warp of the cluster: others may be running. */
static uint32_t line_now(const struct time_run *x)
{
	for (uint32_t n = 0; n < x->c->sched_count; n++) {
		const struct time_sched *s = &x->g->sched[x->c->sched_first + n];
		for (uint32_t k = 0; k < s->slots; k++)
			if (s->warp[k])
				return x->p->func->info[s->warp[k]->f.pc].line;
	}
	return x->p->func->line;
}

#define LIMIT_PATIENCE 1024 /* issues, of a launch that something may end */

/* Ends the launch; why: "still running after" so many cycles. */
static void end_here(struct time_run *x, const char *why)
{
	x->stop = true;
	x->r->end = TIME_LIMIT;
	snprintf(x->r->message, sizeof x->r->message, "line %u: %s %llu cycles", line_now(x), why,
		 (unsigned long long)(x->last - x->start));
}

bool time_ended(struct time_gpu *g, struct time_run *x)
{
	const struct time_request *q = x->q;
	uint64_t issued = 0;
	for (uint32_t n = 0; q->limit_instructions && n < g->spec->cluster_count; n++)
		issued += g->cluster[n].result.instructions;
	if (q->limit_instructions && issued >= q->limit_instructions) {
		char why[64];
		snprintf(why, sizeof why, "still running after %llu instructions and", (unsigned long long)issued);
		end_here(x, why);
	} else if (q->watch && q->watch->look(q->watch->ctx, x->grid->next_block, x->grid->blocks)) {
		end_here(x, "stopped after");
	}
	return x->stop;
}

static bool out_of_time(struct time_run *x)
{
	x->patience = TIME_PATIENCE;
	if (x->c->alone)
		time_watch_window(x, &x->patience);
	if (x->c->out_of_memory)
		x->stop = true;
	const uint64_t cycles = x->q->limit_cycles;
	if (time_is_limited(x->q) && x->patience > LIMIT_PATIENCE)
		x->patience = LIMIT_PATIENCE;
	if (cycles && x->last - x->start >= cycles)
		end_here(x, "still running after");
	if (x->c->alone && !x->stop)
		time_ended(x->g, x);
	if (!x->grid->limit || x->stop)
		return x->stop;
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	if ((uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec < x->grid->limit)
		return x->stop;
	x->stop = true;
	x->r->end = TIME_LIMIT;
	snprintf(x->r->message, sizeof x->r->message, "line %u: still running after %u ms and %llu cycles", line_now(x),
		 x->q->limit_ms, (unsigned long long)(x->last - x->start));
	return true;
}

/* One warp is alive and no block waits: it runs straight on. Every rule is the general loop's with one candidate. */
static void run_solo(struct time_run *x, struct time_warp *w)
{
	struct time_sched *s = w->sched;
	uint64_t from = x->r->instructions;
	const uint64_t *wake = &s->wake[w->slot];
	const uint8_t *set = &s->set[w->slot], before = *set;
	const uint32_t slot = w->slot;
	wakes_close(&s->wakes);
	while (x->alive && !x->stop) {
		uint64_t t = *wake, pipe = set_free(s, &x->p->set[*set]), port = s->free >> FIX;
		if (t == NEVER) {
			time_deadlock(x);
			break;
		}
		t = pipe > t ? pipe : t;
		t = port > t ? port : t;
		int first = __builtin_expect(x->dual, 0) ? pipe_for(s, &x->p->set[*set], t) : -1;
		if (!issue_plain(x, w, t))
			issue(x, w, t);
		if (__builtin_expect(x->dual, 0) && x->alive && second_pipe(x, s, w->slot, first, t) >= 0)
			issue_second(x, s, w->slot, t);
		if (__builtin_expect(x->dual && x->turn, 0) && x->alive)
			time_turn_over(x, s, w->slot, t);
		if (__builtin_expect(!--x->patience, 0) && out_of_time(x))
			break;
	}
	wakes_open(&s->wakes);
	time_want_instead(s, slot, before);
	x->r->solo += x->r->instructions - from;
}

static struct time_warp *only_warp(const struct time_cluster *c)
{
	const struct time_sched *s = c->run.g->sched + c->sched_first;
	for (uint32_t n = 0; n < c->sched_count; n++)
		for (uint32_t k = 0; k < s[n].slots; k++)
			if (s[n].warp[k])
				return s[n].warp[k];
	return NULL;
}

/* Whether a scheduler behind this one has its turn in the same cycle. */
static inline bool others_turn(const struct time_run *x, const struct time_sched *s, uint64_t t)
{
	for (uint32_t k = 1; s->index + k < x->schedulers; k++)
		if (x->c->wheel.at[s->number + k] == t)
			return true;
	return false;
}

static void run_scheduler(struct time_run *x, struct time_sched *s, uint64_t at, uint64_t until)
{
	uint64_t port = s->free >> FIX, t = at;
	if (port > at) { /* a warp was woken meanwhile: nobody may issue ahead of his turn */
		wheel_set(&x->c->wheel, s->number, port);
		return;
	}
	struct glance c =
	    __builtin_expect(s->kept != UINT32_MAX, 0) ? time_look_again(x, s, t) : choose(x, s, t, false);
	uint64_t later = c.later;
	if (c.best != UINT32_MAX) {
		const struct time_set *set = &x->p->set[s->set[c.best]];
		if (__builtin_expect(set->shared, 0)) {
			if (others_turn(x, s, t)) {
				time_contend(x, s, c, t);
				return;
			}
			s->user[pipe_for(s, set, t)] = (uint8_t)s->index;
		}
		later = issue_chosen(x, s, &c, t);
		uint64_t next = s->free >> FIX > later ? s->free >> FIX : later;
		if (x->apart && !x->watch && next < until && s->slots)
			later = time_ahead(x, s, next, until);
	}
	next_turn(x, s, t, c.best, later);
}

uint64_t time_soonest(const struct time_cluster *c)
{
	uint64_t turn = wheel_least(&c->wheel);
	return c->start_next < turn ? c->start_next : turn;
}

bool time_step(struct time_run *x, uint64_t end)
{
	struct time_cluster *c = x->c;
	uint32_t n;
	/* A block that arrives takes its first turns then: the wheel must not have gone beyond. */
	uint64_t until = c->start_next < end ? c->start_next : end, at = wheel_next(&c->wheel, until, &n);
	if (__builtin_expect(at >= until, 0)) {
		if (until == end)
			return false;
		time_arrive(x);
		return true;
	}
	c->now = at;
	if (__builtin_expect(x->dual, 0))
		time_turns_of_sm(x, &x->g->sched[c->sched_first + n], at);
	else
		run_scheduler(x, &x->g->sched[c->sched_first + n], at, until);
	if (__builtin_expect(!--x->patience, 0))
		out_of_time(x);
	return true;
}

/* Whether nobody sees in which order schedulers have their turns, as long as what they issue is apart. With several turns in a cycle, who runs
 * ahead names the second one's pipe when the others name their first ones'. */
static bool unseen(const struct time_run *x)
{
	const struct time_request *q = x->q;
	return x->g->issue >= FIX_ONE && !x->dual && !x->note && !q->poll && !q->check && !q->limit_cycles;
}

void time_run_cluster(struct time_run *x, uint64_t end)
{
	x->apart = unseen(x) && !x->c->direct;
	while (!x->stop && time_step(x, end))
		;
}

void time_run_direct(struct time_run *x)
{
	struct time_cluster *c = x->c;
	bool solo = !x->q->no_solo && !x->q->poll && !x->q->hook;
	c->direct = c->alone = true;
	x->watch = false;
	x->apart = unseen(x) && !x->q->limit_instructions && func_cluster_size(x->l) <= 1;
	while ((x->alive || c->start_next != NEVER) && !x->stop) {
		if (x->alive == 1 && solo && c->start_next == NEVER) {
			run_solo(x, only_warp(c));
			continue;
		}
		if (!time_step(x, NEVER)) {
			time_deadlock(x);
			return;
		}
	}
}

int time_launch(struct time_gpu *g, const struct time_request *q, struct time_result *r)
{
	struct time_grid grid = {.q = q, .l = q->launch};
	*r = (struct time_result){.end = TIME_DONE};
	grid.l->program = q->program->func;
	grid.l->warp_size = g->spec->warp_size;
	grid.l->sm_count = g->spec->sm_count;
	grid.l->max_warps = g->spec->max_warps_per_sm;
	grid.l->independent = g->spec->independent_threads;
	grid.l->fallthrough_first = g->spec->first_path == FIRST_FALLTHROUGH;
	grid.l->yield_after = g->spec->yield_after;
	if (!grid.l->cluster[0])
		memcpy(grid.l->cluster, grid.l->program->cluster, sizeof grid.l->cluster);
	if (q->limit_ms) {
		struct timespec now;
		clock_gettime(CLOCK_MONOTONIC, &now);
		grid.limit =
		    (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec + (uint64_t)q->limit_ms * 1000000u;
	}
	return time_run_all(g, &grid, r);
}
