/* The event loop: which warp issues next, and what its issue does to the scoreboard. */
#include "base/err.h"
#include "gpu/sim/time/time_fetch.h"
#include "gpu/sim/time/time_trace.h"
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

/* Cycle from which some pipe of the set accepts. */
static inline uint64_t set_free(const struct time_sched *s, const struct time_set *set)
{
	if (!set->count)
		return 0;
	uint64_t best = *s->pipe[set->pipe[0]];
	if (__builtin_expect(set->count > 1, 0))
		for (uint32_t k = 1; k < set->count; k++) {
			uint64_t f = *s->pipe[set->pipe[k]];
			best = f < best ? f : best;
		}
	return best >> FIX;
}

/* Pipes that share one kind of instruction have one issue port in front of them: when both are free at once, the second is
 * fed a turn later. What waits in front of it makes up for that turn, as a short queue would; without it two pipes would
 * never reach the sum of their rates. */
static inline void take(struct time_sched *s, const struct time_set *set, const uint32_t *interval, uint64_t t,
			uint32_t turn)
{
	if (!set->count)
		return;
	uint32_t chosen = 0;
	for (uint32_t k = 1; k < set->count; k++)
		if (*s->pipe[set->pipe[k]] < *s->pipe[set->pipe[chosen]])
			chosen = k;
	uint64_t *free = s->pipe[set->pipe[chosen]];
	uint64_t at = t << FIX;
	if (set->count > 1)
		at = at > turn ? at - turn : 0;
	*free = (*free > at ? *free : at) + interval[chosen];
}

void time_fault(struct time_run *x, const struct time_warp *w, uint32_t pc)
{
	x->stop = true;
	x->r->end = TIME_FAULT;
	func_fault_text(x->r->message, sizeof x->r->message, &w->f, &x->fi[pc], &x->p->func->info[pc]);
}

static inline void run_handler(struct time_warp *w, const struct func_inst *fi, uint32_t mask)
{
	if (mask & (mask - 1))
		func_wide[fi->op](&w->f, fi, mask);
	else
		func_one[fi->op](&w->f, fi, (unsigned)__builtin_ctz(mask));
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

static void issue_memory(struct time_run *x, struct time_warp *w, const struct func_inst *fi,
			 const struct time_inst *ti, uint32_t mask, uint64_t t)
{
	struct time_sched *s = w->sched;
	uint32_t pc = w->f.pc, busy, effect = FAR_NONE;
	if (ti->path == PATH_GLOBAL && !x->c->direct)
		time_effect(x, w, fi, mask, &effect);
	else if (__builtin_expect(x->watch, 0) && ti->kind != FUNC_LOAD)
		time_watch_handler(x, w, fi, mask);
	else
		run_handler(w, fi, mask);
	if (__builtin_expect(w->f.fault, 0)) {
		time_fault(x, w, pc);
		return;
	}
	if (ti->kind == FUNC_STORE) {
		time_store(x, w, fi, ti->path, mask, t, &busy, effect);
	} else {
		uint64_t ready = time_load(x, w, fi, ti->path, mask, t, &busy);
		uint32_t flight = FAR_NONE;
		if (__builtin_expect(x->note != NULL, 0))
			time_note_done(x, ready);
		for (uint32_t k = 0; k < ti->write_count; k++)
			w->ready[ti->write[k]] = ready;
		if (w->flight) {
			flight = w->flight_at;
			w->flight[flight] = ready;
			w->flight_at = w->flight_at + 1 == x->g->spec->loads_in_flight ? 0 : w->flight_at + 1;
		}
		if (ready >= PENDING && x->c->request_count) {
			struct far_request *q = &x->c->request[x->c->request_count - 1];
			q->pc = pc;
			q->flight = flight;
			q->effect = effect;
		}
	}
	take(s, &x->p->set[ti->set], &busy, t, x->g->issue);
	func_warp_next(&w->f);
	time_next(x, w, t);
}

/* The warp's next native step goes out at cycle t; its operands, a pipe and the port are known to be free. Inlined where one
 * warp runs alone, because there the call itself would show. */
static inline __attribute__((always_inline)) void issue(struct time_run *x, struct time_warp *w, uint64_t t)
{
	struct time_sched *s = w->sched;
	const struct time_inst *ti = &x->ti[w->f.pc];
	const struct func_inst *fi = &x->fi[w->f.pc];
	uint32_t mask = func_mask(&w->f, fi);
	uint64_t port = t << FIX;
	bool executed = false;

	if (__builtin_expect(w->f.diverged, 0) && fi->flags & (FUNC_GATHER | FUNC_WARP_SYNC) && mask &&
	    w->sub == ti->before) {
		mask = func_paths_gather(&w->f, fi, mask, &executed);
		if (!mask) { /* waits for lanes: another path has the turn, and nothing was issued */
			w->sub = 0;
			time_next(x, w, t);
			return;
		}
	}
	if (__builtin_expect(x->note != NULL, 0))
		time_note_step(x, w, mask, t);
	s->free = (s->free > port ? s->free : port) + x->g->issue;
	s->last = w->slot;
	x->last = t;
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
			if (__builtin_expect(next >= PENDING, 0))
				w->from = t + ((uint64_t)ti->step * w->sub >> FIX) - done;
			s->wake[w->slot] = next;
			s->set[w->slot] = w->sub < ti->before ? ti->set_before : ti->set;
			return;
		}
		w->sub = 0;
	} else {
		w->sampled = t;
	}
	x->r->instructions++;
	if (!mask) { /* guarded off: it takes its turn and nothing else */
		func_warp_next(&w->f);
		time_next(x, w, ti->kind == FUNC_BRANCH ? t + ti->after : t);
		return;
	}
	switch ((enum func_kind)ti->kind) {
	case FUNC_CLOCK:
		x->epoch++;
		read_clock(x, w);
		/* fall through */
	case FUNC_ALU:
		if (__builtin_expect(!executed, 1))
			run_handler(w, fi, mask);
		if (__builtin_expect(ti->checked && w->f.fault, 0)) {
			time_fault(x, w, w->f.pc);
			return;
		}
		for (uint32_t k = 0; k < ti->write_count; k++)
			w->ready[ti->write[k]] = t + ti->tail;
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
		func_warp_branch(&w->f, fi, mask);
		if (__builtin_expect(x->watch, 0))
			time_watch_branch(x, w, fi, from);
		time_next(x, w, t + ti->after);
		break;
	}
	case FUNC_BARRIER:
		time_barrier(x, w, fi, mask, t);
		break;
	case FUNC_FENCE:
		func_warp_next(&w->f);
		time_next(x, w, t);
		break;
	case FUNC_EXIT:
		x->epoch++;
		w->block->threads -= (uint32_t)__builtin_popcount(mask);
		func_warp_exit(&w->f, mask);
		if (!w->f.live) {
			time_warp_done(x, w, t);
		} else {
			time_next(x, w, t);
			if (x->l->independent)
				time_barriers_try(x, w->block, t);
		}
		break;
	case FUNC_KINDS:
		break;
	}
}

static __attribute__((noinline)) void issue_one(struct time_run *x, struct time_warp *w, uint64_t t)
{
	issue(x, w, t);
}

/* ---- the two loops ---- */

static bool out_of_time(struct time_run *x)
{
	x->patience = TIME_PATIENCE;
	if (x->c->alone)
		time_watch_window(x, &x->patience);
	if (x->c->out_of_memory)
		x->stop = true;
	if (!x->grid->limit)
		return x->stop;
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	if ((uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec < x->grid->limit)
		return x->stop;
	x->stop = true;
	x->r->end = TIME_LIMIT;
	snprintf(x->r->message, sizeof x->r->message, "still running after %u ms and %llu cycles", x->q->limit_ms,
		 (unsigned long long)(x->last - x->start));
	return true;
}

/* One warp is alive and no block waits: it runs straight on. Every rule is the general loop's with one candidate. */
static void run_solo(struct time_run *x, struct time_warp *w)
{
	struct time_sched *s = w->sched;
	uint64_t from = x->r->instructions;
	const uint64_t *wake = &s->wake[w->slot];
	const uint8_t *set = &s->set[w->slot];
	while (x->alive && !x->stop) {
		uint64_t t = *wake, pipe = set_free(s, &x->p->set[*set]), port = s->free >> FIX;
		if (t == NEVER) {
			time_deadlock(x);
			break;
		}
		t = pipe > t ? pipe : t;
		t = port > t ? port : t;
		issue(x, w, t);
		if (__builtin_expect(!--x->patience, 0) && out_of_time(x))
			break;
	}
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

#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GNUC__) && !defined(__clang__) &&                       \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define CLONES
#endif
#if defined(__GNUC__) && !defined(__clang__)
#define VECTORS __attribute__((optimize("O3"))) /* at -O2 the compiler makes none of this loop */
#else
#define VECTORS
#endif

/* Which of up to 64 slots are ready at t, and when the first of the others will be. Without a branch, for the compiler. */
CLONES VECTORS static uint64_t ready_slots(const uint64_t *wake, uint32_t n, uint64_t t, uint64_t *later)
{
	uint64_t ready = 0, first = *later;
	for (uint32_t k = 0; k < n; k++) {
		bool now = wake[k] <= t;
		uint64_t then = now ? NEVER : wake[k];
		ready |= (uint64_t)now << k;
		first = then < first ? then : first;
	}
	*later = first;
	return ready;
}

static inline void fetch_warp(const struct time_warp *w)
{
	__builtin_prefetch(w);
	__builtin_prefetch((const char *)w + 64);
	__builtin_prefetch((const char *)w + 128);
	__builtin_prefetch(w->ready);
}

/* What a look at all warps of a scheduler found. */
struct glance {
	uint32_t best;	/* slot that issues, UINT32_MAX = none can */
	bool more;	/* others are ready too ... */
	bool alike;	/* ... and want the same pipes, all of them */
	uint64_t later; /* when the first of those that are not ready will be */
};

static bool wants(const struct time_sched *s, uint64_t slots, uint32_t first, uint8_t set)
{
	for (; slots; slots &= slots - 1)
		if (s->set[first + (uint32_t)__builtin_ctzll(slots)] != set)
			return false;
	return true;
}

/* The first ready slot after the one that issued last whose pipes are free. */
static struct glance choose(const struct time_run *x, const struct time_sched *s, uint64_t t)
{
	struct glance g = {.best = UINT32_MAX, .later = NEVER};
	uint64_t ready[TIME_SLOTS / 64];
	uint32_t busy = TIME_SETS; /* the pipes that were just found busy: mostly those of the other warps too */
	uint32_t words = (s->slots + 63) / 64, from = s->last + 1 < s->slots ? s->last + 1 : 0;
	for (uint32_t n = 0; n < words; n++) {
		uint32_t here = s->slots - n * 64 < 64 ? s->slots - n * 64 : 64;
		ready[n] = ready_slots(s->wake + (size_t)n * 64, here, t, &g.later);
	}
	/* The word of `from` is visited twice: first what lies behind, at the end what lies before. */
	for (uint32_t n = 0; n <= words && words; n++) {
		uint32_t at = (from / 64 + n) % words;
		uint64_t below = (1ull << from % 64) - 1;
		uint64_t rest = n == 0 ? ready[at] & ~below : n == words ? ready[at] & below : ready[at];
		for (; rest; rest &= rest - 1) {
			uint32_t k = at * 64 + (uint32_t)__builtin_ctzll(rest);
			if (s->set[k] == busy)
				continue;
			uint64_t pipe = set_free(s, &x->p->set[s->set[k]]);
			if (pipe <= t) {
				uint64_t others = ready[at] & ~(1ull << k % 64);
				g.best = k;
				g.more = others || words > 1;
				g.alike = words == 1 && wants(s, others, 0, s->set[k]);
				/* By its turn, hundreds of other schedulers will have had theirs. */
				if (rest & (rest - 1))
					fetch_warp(s->warp[at * 64 + (uint32_t)__builtin_ctzll(rest & (rest - 1))]);
				return g;
			}
			busy = s->set[k];
			g.later = pipe < g.later ? pipe : g.later;
		}
	}
	return g;
}

static void run_scheduler(struct time_run *x, struct time_sched *s, uint64_t at)
{
	struct time_cluster *g = x->c;
	uint64_t port = s->free >> FIX, t = at, sooner = g->sooner;
	if (port > at) { /* a warp was woken meanwhile: nobody may issue ahead of his turn */
		wheel_set(&g->wheel, s->number, port);
		return;
	}
	struct glance c = choose(x, s, t);
	if (c.best != UINT32_MAX) {
		const struct time_set *set = &x->p->set[s->set[c.best]];
		issue_one(x, s->warp[c.best], t);
		/* Those that are ready wait for the pipes or, if they want different ones, look again at once; so do all when this
		 * issue woke others after they had been looked at. */
		if (g->sooner != sooner)
			c.later = t;
		else if (c.more) {
			uint64_t pipe = c.alike ? set_free(s, set) : 0;
			c.later = pipe < c.later ? pipe : c.later;
		}
		if (s->wake[c.best] < c.later)
			c.later = s->wake[c.best];
		port = s->free >> FIX;
		c.later = port > c.later ? port : c.later;
		if (!s->slots)
			c.later = NEVER;
	}
	if (c.later >= PENDING) /* the serving will give it a turn */
		c.later = NEVER;
	if (x->q->poll && c.later != NEVER) {
		uint64_t next = c.best == UINT32_MAX ? t + 1 : port;
		c.later = next < c.later ? next : c.later;
	}
	wheel_set(&g->wheel, s->number, c.later);
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
	uint64_t at = wheel_next(&c->wheel, end, &n);
	if (__builtin_expect(c->start_next < end && c->start_next <= at, 0)) {
		time_arrive(x);
		return true;
	}
	if (at >= end)
		return false;
	c->now = at;
	run_scheduler(x, &x->g->sched[c->sched_first + n], at);
	if (__builtin_expect(!--x->patience, 0))
		out_of_time(x);
	return true;
}

void time_run_cluster(struct time_run *x, uint64_t end)
{
	while (!x->stop && time_step(x, end))
		;
}

void time_run_direct(struct time_run *x)
{
	struct time_cluster *c = x->c;
	bool solo = !x->q->no_solo && !x->q->poll && !x->q->hook;
	c->direct = c->alone = true;
	x->watch = false;
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
	if (q->limit_ms) {
		struct timespec now;
		clock_gettime(CLOCK_MONOTONIC, &now);
		grid.limit =
		    (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec + (uint64_t)q->limit_ms * 1000000u;
	}
	return time_run_all(g, &grid, r);
}
