/* One SM: its warps' instructions through the two pipelines. Whoever is ready first issues first; a unit that is busy makes who
 * wants it wait, and nobody else. */
#include "predict/predict_impl.h"
#include "predict/predict_seen.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define STEPS_MAX  60000000.0 /* warp instructions that are followed, at most */
#define STEPS_WISH 2000000.0  /* after so many, blocks that are all alike are no longer followed one by one */
#define SLOTS	   (TIMING_UNITS + 64)

struct unit {
	double free, busy;
};

struct warp {
	struct walker w;
	struct step s;
	bool live, waits, second;    /* second: its latest instruction went out with the one before it */
	double at, alone;	     /* when it may issue again; the same if it were alone on an SM without limits */
	double *ready, *ready_alone; /* of its registers */
	double last, last_alone;     /* its latest result */
	uint32_t block;
};

struct place { /* of a resident block */
	uint32_t alive, arrived;
	double begin;
	bool used;
};

struct pipe {
	const struct pipe_request *q;
	struct pipe_result *r;
	struct model *m;
	struct warp *warp;
	struct place *place;
	uint32_t warps;
	struct unit issue, unit[SLOTS], load, l2, memory, atomics;
	struct seen l1_seen, l2_seen, stored;
	double common[64]; /* of each buffer, share of what this SM touches first that another one has touched */
	uint64_t started, ended;
	double *end;	     /* of each block */
	double alone, clock; /* sum over blocks of what each takes alone; the latest end */
	bool failed;
};

static double pick(const struct pipe *p, const struct term *t)
{
	return t->there ? term_at(t, p->q->end) : 0;
}

/* From when on the unit works on something that was ready at t and takes so long. */
static double take(struct unit *u, double t, double cycles)
{
	double start = u->free > t ? u->free : t;
	u->free = start + cycles;
	u->busy += cycles;
	return start;
}

/* ---- registers ---- */

static void wait_for(const struct warp *w, const struct ptx_inst *in, const struct ptx_operand *o, double *t,
		     double *alone)
{
	if (o->kind == PTX_OPND_REG || (o->kind == PTX_OPND_ADDRESS && o->has_reg)) {
		*t = fmax(*t, w->ready[o->reg]);
		*alone = fmax(*alone, w->ready_alone[o->reg]);
	}
	for (uint32_t k = 0; o->kind == PTX_OPND_VECTOR && k < o->count; k++)
		wait_for(w, in, &in->vec[(uint32_t)o->index + k], t, alone);
}

static void operands_ready(const struct warp *w, double *t, double *alone)
{
	const struct ptx_inst *in = w->s.in;
	*t = w->at;
	*alone = w->alone;
	for (uint32_t k = 0; k < in->operand_count; k++)
		wait_for(w, in, &in->operand[k], t, alone);
	if (in->guard >= 0) {
		*t = fmax(*t, w->ready[in->guard]);
		*alone = fmax(*alone, w->ready_alone[in->guard]);
	}
}

static void write_one(struct warp *w, const struct ptx_inst *in, const struct ptx_operand *o, double t, double alone)
{
	if (o->kind == PTX_OPND_REG) {
		w->ready[o->reg] = t;
		w->ready_alone[o->reg] = alone;
	}
	for (uint32_t k = 0; o->kind == PTX_OPND_VECTOR && k < o->count; k++)
		write_one(w, in, &in->vec[(uint32_t)o->index + k], t, alone);
}

static void writes(struct warp *w, double t, double alone)
{
	const struct ptx_inst *in = w->s.in;
	w->last = fmax(w->last, t);
	w->last_alone = fmax(w->last_alone, alone);
	if (in->op == PTX_OP_ST || in->op == PTX_OP_RED || !in->operand_count)
		return;
	write_one(w, in, &in->operand[0], t, alone);
	if (in->op == PTX_OP_SETP || in->op == PTX_OP_SHFL)
		write_one(w, in, &in->operand[1], t, alone);
}

/* ---- memory ---- */

static enum predict_end way(const struct pipe *p)
{
	return p->q->end;
}

/* Where a piece is found; brings it in where it is not. */
static unsigned level_of(struct pipe *p, const struct step *s, uint64_t piece, bool load)
{
	const struct model *m = p->m;
	double bytes = m->piece;
	if (load && m->has_l1 && !s->skip_l1) {
		double window = m->l1_size.there ? m->l1_size.value / bytes : INFINITY;
		if (seen_touch(&p->l1_seen, piece, window, &p->failed))
			return PREDICT_L1;
	}
	if (!m->has_l2)
		return PREDICT_MEMORY;
	/* What memory fills at once is there for the piece beside it; what other SMs bring takes room as well. */
	double window = m->l2_size.there ? m->l2_size.value / m->fill / p->q->share : INFINITY;
	return seen_touch(&p->l2_seen, piece * m->piece / m->fill, window, &p->failed) ? PREDICT_L2 : PREDICT_MEMORY;
}

/* Where the data decide the address. */
static unsigned level_unknown(const struct pipe *p, const struct step *s)
{
	const struct model *m = p->m;
	const struct predict_request *q = p->q->walk->q;
	double size = INFINITY;
	if (s->buffer && s->buffer <= q->entry->param_count && q->args[s->buffer - 1].buffer)
		size = (double)q->args[s->buffer - 1].bytes;
	bool l1 = m->has_l1 && !s->skip_l1, in_l1 = l1 && m->l1_size.there && size <= m->l1_size.value,
	     in_l2 = m->has_l2 && m->l2_size.there && size <= m->l2_size.value;
	if (way(p) == END_FAST)
		return l1 ? PREDICT_L1 : m->has_l2 ? PREDICT_L2 : PREDICT_MEMORY;
	if (way(p) == END_SLOW)
		return PREDICT_MEMORY;
	return in_l1 ? PREDICT_L1 : in_l2 ? PREDICT_L2 : PREDICT_MEMORY;
}

static double latency_of(const struct pipe *p, unsigned level)
{
	const struct model *m = p->m;
	const struct term *t = level == PREDICT_L1   ? &m->l1_latency
			       : level == PREDICT_L2 ? &m->l2_latency
						     : &m->memory_latency;
	return pick(p, t->there ? t : &m->memory_latency);
}

/* Cycles that `bytes` take of the rate, 0 when it is not known. */
static double over(double bytes, double rate)
{
	return rate > 0 ? bytes / rate : 0;
}

/* One piece: when its data are there. */
static double bring(struct pipe *p, unsigned level, double t, bool load, double common)
{
	const struct model *m = p->m;
	double wait = 0;
	p->r->bytes[level] += level == PREDICT_MEMORY ? m->fill : m->piece;
	if (level != PREDICT_L1) {
		double cycles = over(m->piece * p->q->share, pick(p, &m->l2_total));
		wait = fmax(wait, take(&p->l2, t, cycles) + cycles - t);
	}
	if (level == PREDICT_MEMORY) {
		double cycles =
		    over(m->fill * p->q->share, pick(p, &m->memory_total)) * (1 - common + common / p->q->share);
		wait = fmax(wait, take(&p->memory, t, cycles) - t);
	}
	return load ? t + latency_of(p, level) + wait : t;
}

static double global_access(struct pipe *p, const struct step *s, double t0, double *alone)
{
	uint64_t piece[STEP_PIECES];
	const struct model *m = p->m;
	bool load = s->in->op != PTX_OP_ST, atomic = s->in->op == PTX_OP_ATOM || s->in->op == PTX_OP_RED;
	uint32_t lanes = (uint32_t)__builtin_popcountll(s->mask), n;
	bool known = s->address_known && s->space != PTX_LOCAL && s->space != PTX_TEX;
	if (known)
		n = pieces_of(s, m->piece, piece);
	else if (s->space == PTX_LOCAL || way(p) == END_FAST)
		n = (lanes * s->bytes + m->piece - 1) / m->piece;
	else
		n = lanes * ((s->bytes + m->piece - 1) / m->piece);
	/* What a single SM can ask for. */
	double rate =
	    load && m->has_l1 && !s->skip_l1 && m->l1_rate.there ? pick(p, &m->l1_rate) : pick(p, &m->l2_rate);
	double cycles = rate > 0 ? n * m->piece / rate : pick(p, &m->load_issue) * fmax(1, s->bytes / 4.0);
	double t = take(&p->load, t0, cycles), done = t, longest = 0;
	unsigned unknown = known ? 0 : level_unknown(p, s), seen[PREDICT_LEVELS] = {0};
	double common = s->buffer && s->buffer < 64 ? p->common[s->buffer] : 0;
	for (uint32_t k = 0; k < n; k++) {
		unsigned level = known ? level_of(p, s, piece[k], load && !atomic) : unknown;
		/* What is stored goes on to memory, now or later, once. */
		if (!load && known && way(p) != END_FAST)
			level = seen_touch(&p->stored, piece[k] * m->piece / m->fill, INFINITY, &p->failed)
				    ? PREDICT_L2
				    : PREDICT_MEMORY;
		/* The pieces leave one after the other. */
		done = fmax(done, bring(p, level, t + cycles * k / n, load, common));
		longest = fmax(longest, load ? latency_of(p, level) : 0);
		seen[level] = 1;
	}
	for (unsigned k = 0; k < PREDICT_LEVELS; k++)
		p->r->requests[k] += seen[k];
	if (atomic) {
		bool one = known;
		for (uint64_t rest = s->mask; rest; rest &= rest - 1)
			one = one && s->address[__builtin_ctzll(rest)] == s->address[__builtin_ctzll(s->mask)];
		double same = one ? lanes * pick(p, &m->atomic_same) * p->q->share : 0;
		double wait = take(&p->atomics, t, same) + same - t;
		if (m->atomic_latency.there)
			done = t + pick(p, &m->atomic_latency);
		done += wait;
	}
	*alone += cycles * (n ? (n - 1.0) / n : 0) + longest;
	return done;
}

static double shared_access(struct pipe *p, const struct step *s, double t0, double *alone)
{
	const struct model *m = p->m;
	uint32_t lanes = p->q->walk->warp_size, more = 0;
	if (m->banks && s->address_known)
		more = bank_conflicts(s, m->banks, m->bank_width);
	else if (m->banks && way(p) == END_SLOW)
		more = lanes - 1;
	double cost = more * pick(p, &m->conflict);
	double cycles = over(lanes * fmax(4, s->bytes), pick(p, &m->shared_rate)) + cost;
	double t = take(&p->load, t0, cycles);
	p->r->bytes[PREDICT_SHARED] += (double)s->bytes * __builtin_popcountll(s->mask);
	p->r->requests[PREDICT_SHARED]++;
	if (s->in->op == PTX_OP_ST)
		return t;
	*alone += pick(p, &m->shared_latency) + cost;
	return t + pick(p, &m->shared_latency) + cost;
}

static double memory_access(struct pipe *p, const struct step *s, double t, double *alone)
{
	if (s->space == PTX_SHARED)
		return shared_access(p, s, t, alone);
	if (s->space != PTX_CONST)
		return global_access(p, s, t, alone);
	p->r->requests[PREDICT_CONSTANT]++;
	*alone += pick(p, &p->m->constant_latency);
	return t + pick(p, &p->m->constant_latency);
}

/* ---- blocks ---- */

static void start_block(struct pipe *p, uint32_t n, double t)
{
	struct place *b = &p->place[n];
	const struct pipe_request *q = p->q;
	uint32_t each = q->walk->warps_per_block;
	/* Blocks are handed out one after the other, to all SMs. */
	t = fmax(t, pick(p, &p->m->cold) +
			pick(p, &p->m->blocks) * pick(p, &p->m->clock_hz) * (double)(p->started * q->stride));
	uint64_t block = q->first + p->started++ * q->stride;
	*b = (struct place){.alive = each, .begin = t, .used = true};
	for (uint32_t k = 0; k < each; k++) {
		struct warp *w = &p->warp[n * each + k];
		walker_start(&w->w, q->walk, block, k);
		w->live = walker_next(&w->w, &w->s);
		w->waits = false;
		w->second = true; /* there is none before the first */
		w->at = w->last = t;
		w->alone = w->last_alone = 0;
		w->block = n;
		for (uint32_t i = 0; i < q->walk->entry->reg_count; i++)
			w->ready[i] = w->ready_alone[i] = 0;
		b->alive -= !w->live;
	}
}

static void release(struct pipe *p, uint32_t n)
{
	struct place *b = &p->place[n];
	uint32_t each = p->q->walk->warps_per_block;
	double t = 0, alone = 0, cost = pick(p, &p->m->barrier);
	if (!b->alive || b->arrived < b->alive)
		return;
	for (uint32_t k = 0; k < each; k++) {
		const struct warp *w = &p->warp[n * each + k];
		if (w->live && w->waits) {
			t = fmax(t, w->at);
			alone = fmax(alone, w->alone);
		}
	}
	for (uint32_t k = 0; k < each; k++) {
		struct warp *w = &p->warp[n * each + k];
		if (w->live && w->waits) {
			w->waits = false;
			w->at = t + cost;
			w->alone = alone + cost;
		}
	}
	b->arrived = 0;
}

static bool go_on(const struct pipe *p)
{
	const struct pipe_request *q = p->q;
	uint64_t few = 4ull * q->resident;
	return p->started < q->blocks && (p->r->steps < STEPS_WISH || p->started < few);
}

static void end_warp(struct pipe *p, struct warp *w)
{
	struct place *b = &p->place[w->block];
	uint32_t n = w->block, each = p->q->walk->warps_per_block;
	w->live = false;
	b->alive--;
	p->clock = fmax(p->clock, fmax(w->at, w->last));
	if (b->alive) {
		release(p, n);
		return;
	}
	double end = 0, alone = 0;
	for (uint32_t k = 0; k < each; k++) {
		const struct warp *x = &p->warp[n * each + k];
		end = fmax(end, fmax(x->at, x->last));
		alone = fmax(alone, fmax(x->alone, x->last_alone));
	}
	p->end[p->ended++] = end;
	p->alone += alone;
	b->used = false;
	if (go_on(p))
		start_block(p, n, end);
}

/* ---- issue ---- */

static void arithmetic(struct pipe *p, struct warp *w, const struct timing *t, double at, double *issued, double *alone)
{
	uint32_t slot = t->unit	      ? t->unit
			: p->q->apart ? TIMING_UNITS + (uint32_t)(w->s.number % (SLOTS - TIMING_UNITS))
				      : 0;
	if (!t->unit && p->q->apart) /* each kind of instruction has a unit of its own */
		slot = TIMING_UNITS + (uint32_t)((uintptr_t)t->cls / sizeof *t->cls % (SLOTS - TIMING_UNITS));
	double cycles = pick(p, &t->issue), start = take(&p->unit[slot], at, cycles);
	*issued = fmax(*issued, start);
	writes(w, *issued + pick(p, &t->latency), *alone + pick(p, &t->latency));
}

static void issue(struct pipe *p, struct warp *w, double ready, double alone)
{
	const struct step *s = &w->s;
	const struct timing *t = &p->m->timing[s->number];
	/* One that waits for nothing goes out with the one before it, if that did not do so itself. */
	w->second = p->m->turn.there && !w->second && ready <= w->at;
	const double turn = p->m->turn.there ? pick(p, &p->m->turn) : p->m->issue_least;
	double at = take(&p->issue, ready, w->second ? 0 : turn), gap = pick(p, &p->m->warp_gap);
	bool barrier = s->in->op == PTX_OP_BAR_SYNC || s->in->op == PTX_OP_BARRIER_SYNC;
	p->r->steps++;
	if (p->q->count && t->cls)
		t->cls->count++;
	if (t->issue.there || t->latency.there) {
		arithmetic(p, w, t, ready, &at, &alone);
	} else if (s->space && s->mask) {
		double done_alone = alone, done = memory_access(p, s, at, &done_alone);
		writes(w, done, done_alone);
	}
	w->at = at + gap;
	w->alone = alone + gap;
	if (s->branched) {
		w->at += fmax(0, pick(p, &p->m->turn_extra) - gap);
		w->alone += fmax(0, pick(p, &p->m->turn_extra) - gap);
	}
	if (!walker_next(&w->w, &w->s)) {
		end_warp(p, w);
	} else if (barrier) {
		w->waits = true;
		p->place[w->block].arrived++;
		release(p, w->block);
	}
}

static bool advance(struct pipe *p)
{
	struct warp *best = NULL;
	double at = INFINITY, alone = 0;
	for (uint32_t k = 0; k < p->warps; k++) {
		struct warp *w = &p->warp[k];
		double t, a;
		if (!w->live || w->waits || w->at >= at)
			continue;
		operands_ready(w, &t, &a);
		if (t < at) {
			at = t;
			alone = a;
			best = w;
		}
	}
	if (best)
		issue(p, best, at, alone);
	return best != NULL;
}

/* ---- what SMs share: two blocks that neighbours run ---- */

static void compare_blocks(struct pipe *p)
{
	const struct pipe_request *q = p->q;
	struct warp *w = &p->warp[0];
	struct seen first = {0};
	double all[64] = {0}, both[64] = {0};
	uint64_t piece[STEP_PIECES], grid = (uint64_t)q->walk->q->grid[0] * q->walk->q->grid[1] * q->walk->q->grid[2];
	double steps = 0;
	for (unsigned turn = 0; grid > 1 && turn < 2; turn++)
		for (uint32_t k = 0; k < q->walk->warps_per_block; k++) {
			walker_start(&w->w, q->walk, (grid / 2 + turn) % grid, k);
			while (walker_next(&w->w, &w->s) && steps++ < STEPS_WISH) {
				const struct step *s = &w->s;
				if ((s->space != PTX_GLOBAL) || !s->address_known || !s->buffer || s->buffer >= 64)
					continue;
				uint32_t n = pieces_of(s, p->m->piece, piece);
				for (uint32_t i = 0; i < n; i++) {
					if (!turn)
						seen_touch(&first, piece[i], INFINITY, &p->failed);
					all[s->buffer] += turn;
					both[s->buffer] += turn && seen_has(&first, piece[i]);
				}
			}
		}
	for (unsigned k = 0; k < 64; k++)
		p->common[k] = all[k] > 0 ? both[k] / all[k] : 0;
	seen_free(&first);
}

/* ---- all of it ---- */

static int pipe_open(struct pipe *p, struct err *e)
{
	const struct walk *a = p->q->walk;
	size_t regs = a->entry->reg_count + 1, insts = a->entry->inst_count + 1;
	p->warps = p->q->resident * a->warps_per_block;
	p->warp = mem_zero(p->warps, sizeof *p->warp);
	p->place = mem_zero(p->q->resident, sizeof *p->place);
	p->end = mem_zero(p->q->blocks + 1, sizeof *p->end);
	if (!p->warp || !p->place || !p->end)
		return err_nomem(e);
	for (uint32_t k = 0; k < p->warps; k++) {
		struct warp *w = &p->warp[k];
		w->w.reg = mem_zero(regs, sizeof *w->w.reg);
		w->w.turn = mem_zero(insts, sizeof *w->w.turn);
		w->ready = mem_zero(2 * regs, sizeof *w->ready);
		w->ready_alone = w->ready ? w->ready + regs : NULL;
		w->w.all = p->q->walk;
		if (!w->w.reg || !w->w.turn || !w->ready)
			return err_nomem(e);
	}
	return 0;
}

static void pipe_close(struct pipe *p)
{
	for (uint32_t k = 0; p->warp && k < p->warps; k++) {
		mem_free(p->warp[k].w.reg);
		mem_free(p->warp[k].w.turn);
		mem_free(p->warp[k].ready);
	}
	mem_free(p->warp);
	mem_free(p->place);
	mem_free(p->end);
	seen_free(&p->l1_seen);
	seen_free(&p->l2_seen);
	seen_free(&p->stored);
}

static void fuller(const struct unit *u, const char *name, double *most, char *what, size_t n)
{
	if (u->busy > *most) {
		*most = u->busy;
		snprintf(what, n, "%s", name);
	}
}

static void conclude(struct pipe *p)
{
	struct pipe_result *r = p->r;
	double all = (double)p->q->blocks, done = (double)p->ended, times = done > 0 ? all / done : 1;
	r->cycles = p->clock;
	if (p->ended < p->q->blocks && p->ended > 1) {
		/* The rest goes on as the second half went. */
		uint64_t half = p->ended / 2;
		r->cycles += (all - done) * (p->end[p->ended - 1] - p->end[half - 1]) / (done - (double)half);
	}
	fuller(&p->issue, "the issue of instructions", &r->issue, r->issue_what, sizeof r->issue_what);
	for (unsigned k = 0; k < SLOTS; k++)
		fuller(&p->unit[k], k && k < TIMING_UNITS ? p->m->unit[k] : "the computations' pipeline", &r->issue,
		       r->issue_what, sizeof r->issue_what);
	fuller(&p->load, "the load/store unit of the SM", &r->bandwidth, r->bandwidth_what, sizeof r->bandwidth_what);
	fuller(&p->l2, "the L2", &r->bandwidth, r->bandwidth_what, sizeof r->bandwidth_what);
	fuller(&p->memory, "memory", &r->bandwidth, r->bandwidth_what, sizeof r->bandwidth_what);
	fuller(&p->atomics, "atomics on one address", &r->bandwidth, r->bandwidth_what, sizeof r->bandwidth_what);
	r->handed = pick(p, &p->m->blocks) * pick(p, &p->m->clock_hz) * (double)(p->q->blocks * p->q->stride);
	r->issue *= times;
	r->bandwidth *= times;
	r->latency = done > 0 ? p->alone / done * ceil(all / p->q->resident) : 0;
	for (unsigned k = 0; k < PREDICT_LEVELS; k++) {
		r->bytes[k] *= times;
		r->requests[k] *= times;
	}
	r->endless = p->q->walk->endless;
}

int pipe_run(struct pipe_result *r, const struct pipe_request *q, struct err *e)
{
	struct pipe p = {.q = q, .r = r, .m = q->model};
	*r = (struct pipe_result){.cycles = 0};
	q->walk->end = q->end;
	int rc = pipe_open(&p, e);
	if (!rc) {
		compare_blocks(&p);
		for (uint32_t k = 0; k < q->resident && k < q->blocks; k++)
			start_block(&p, k, pick(&p, &p.m->cold));
		while (!p.failed && r->steps < STEPS_MAX && advance(&p))
			;
		if (p.failed)
			rc = err_nomem(e);
		else if (r->steps >= STEPS_MAX)
			rc = err_set(e, -E2BIG,
				     "one SM runs more than %.0f million warp instructions, and no more are followed",
				     STEPS_MAX * 1e-6);
		else
			conclude(&p);
	}
	pipe_close(&p);
	return rc;
}
