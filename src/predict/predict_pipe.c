/* One SM: its warps' instructions through the two pipelines. Whoever is ready first issues first; a unit that is busy makes who
 * wants it wait, and nobody else. */
#include "predict/predict_pipe.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

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

/* The warp's next instruction. What is a part of others comes before them: their operands are those that it waits for. */
static bool next_step(struct warp *w)
{
	const struct walk *all = w->w.all;
	bool more;
	while ((more = walker_next(&w->w, &w->s)) && all->operand[w->s.number]) {
		const double at = w->at, at_alone = w->alone, last = w->last, last_alone = w->last_alone;
		double t, alone;
		w->at = w->alone = 0;
		operands_ready(w, &t, &alone);
		writes(w, t, alone);
		w->at = at;
		w->alone = at_alone;
		w->last = last;
		w->last_alone = last_alone;
	}
	return more;
}

/* ---- blocks ---- */

static void start_block(struct pipe *p, uint32_t n, double t)
{
	struct place *b = &p->place[n];
	const struct pipe_request *q = p->q;
	uint32_t each = q->walk->warps_per_block;
	/* Blocks are handed out one after the other, to all SMs. */
	if (p->started < q->resident)
		t += pipe_pick(p, &p->m->parameters);
	t = fmax(t, (q->walk->q->warm ? 0 : pipe_pick(p, &p->m->cold)) +
			pipe_pick(p, &p->m->blocks) * pipe_pick(p, &p->m->clock_hz) * (double)(p->started * q->stride));
	uint64_t block = q->first + p->started++ * q->stride;
	*b = (struct place){.alive = each, .begin = t, .used = true};
	for (uint32_t k = 0; k < each; k++) {
		struct warp *w = &p->warp[n * each + k];
		walker_start(&w->w, q->walk, block, k);
		w->waits = false;
		w->second = true; /* there is none before the first */
		w->at = w->last = t;
		w->alone = w->last_alone = 0;
		w->block = n;
		for (uint32_t i = 0; i < q->walk->entry->reg_count; i++)
			w->ready[i] = w->ready_alone[i] = 0;
		w->live = next_step(w);
		for (uint32_t i = 0; i < WARP_LOADS; i++)
			w->load[i] = 0;
		for (uint32_t i = 0; i < TIMING_KINDS; i++)
			w->kind[i] = 0;
		b->alive -= !w->live;
	}
}

static void release(struct pipe *p, uint32_t n)
{
	struct place *b = &p->place[n];
	uint32_t each = p->q->walk->warps_per_block;
	double t = 0, alone = 0, cost = pipe_pick(p, &p->m->barrier);
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
		start_block(p, n, end + pipe_pick(p, &p->m->refill));
}

/* ---- issue ---- */

static void arithmetic(struct pipe *p, struct warp *w, const struct timing *t, double at, double *issued, double *alone)
{
	/* Each kind of instruction has a unit, or a part of one, of its own; or none has. */
	const uint32_t own = TIMING_UNITS + (uint32_t)((uintptr_t)t->cls / sizeof *t->cls % (SLOTS - TIMING_UNITS));
	const double cycles = pipe_pick(p, &t->issue), all = p->m->schedulers;
	struct unit *unit = w->scheduler->unit;
	double start = at;
	if (p->q->apart)
		start = pipe_take(&unit[own], start, all * cycles * t->spread);
	if (t->unit || !p->q->apart)
		start =
		    pipe_take(&unit[t->unit], start, all * (p->q->apart ? t->spread * fmin(cycles, t->part) : cycles));
	*issued = fmax(*issued, start);
	writes(w, *issued + pipe_pick(p, &t->latency), *alone + pipe_pick(p, &t->latency));
}

/* What a branch at t takes besides its own turn: of a scheduler's warps one branches and one parts at a time. */
static void branch(struct pipe *p, struct warp *w, double at)
{
	const struct step *s = &w->s;
	const struct model *m = p->m;
	const bool meets = p->q->walk->meets[s->number];
	double after = meets ? pipe_pick(p, &m->meet) : 0;
	if (s->branched || (s->in->guard >= 0 && p->q->end != END_FAST))
		after += fmax(0, pipe_pick(p, &m->turn_extra) - pipe_pick(p, &m->warp_gap));
	if (s->parted)
		after += pipe_pick(p, &m->split);
	double turn = pipe_take(&w->scheduler->branch, at, pipe_pick(p, &m->branch) * (meets ? 1 + m->meet_ops : 1));
	if (s->parted)
		turn = pipe_take(&w->scheduler->parting, turn, pipe_pick(p, &m->split_turn));
	w->at += turn - at + after;
	w->alone += after;
}

static void issue(struct pipe *p, struct warp *w, double ready, double alone)
{
	const struct step *s = &w->s;
	const struct timing *t = &p->m->timing[s->number];
	/* One that waits for nothing goes out with the one before it, if that did not do so itself. */
	w->second = p->m->turn.there && !w->second && ready <= w->at;
	const bool computes = t->issue.there || t->latency.there;
	double turn = p->m->turn.there ? pipe_pick(p, &p->m->turn) : p->m->issue_least;
	/* What no unit of computations does may go out every cycle, or as seldom as what they do. */
	if (p->q->apart && !computes)
		turn = fmin(turn, 1);
	if (computes)
		turn *= t->turns;
	if (s->in->op == PTX_OP_BRA && p->q->walk->meets[s->number])
		turn *= 1 + p->m->meet_ops;
	double at = pipe_take(&w->scheduler->issue, ready, w->second ? 0 : turn * p->m->schedulers),
	       gap = pipe_pick(p, &p->m->warp_gap);
	bool barrier = s->in->op == PTX_OP_BAR_SYNC || s->in->op == PTX_OP_BARRIER_SYNC;
	p->r->steps++;
	if (p->q->count && t->cls)
		t->cls->count++;
	if (computes) {
		arithmetic(p, w, t, ready, &at, &alone);
	} else if (s->space && s->mask) {
		double done_alone = alone, done = memory_access(p, w, at, &done_alone);
		memory_sent(p, w, done);
		writes(w, done, done_alone);
	}
	w->at = at + gap;
	w->alone = alone + gap;
	w->kind[t->kind] = at + pipe_pick(p, &p->m->kind_gap[t->kind]);
	if (s->in->op == PTX_OP_BRA)
		branch(p, w, at);
	if (!next_step(w)) {
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
		t = fmax(t, fmax(memory_free(p, w), w->kind[p->m->timing[w->s.number].kind]));
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

/* ---- all of it ---- */

static int pipe_open(struct pipe *p, struct err *e)
{
	const struct walk *a = p->q->walk;
	size_t regs = a->entry->reg_count + 1, insts = a->entry->inst_count + 1;
	p->warps = p->q->resident * a->warps_per_block;
	p->warp = mem_zero(p->warps, sizeof *p->warp);
	p->place = mem_zero(p->q->resident, sizeof *p->place);
	p->end = mem_zero(p->q->blocks + 1, sizeof *p->end);
	p->entry = p->m->entries ? mem_zero(p->m->entries, sizeof *p->entry) : NULL;
	if (!p->warp || !p->place || !p->end || (p->m->entries && !p->entry))
		return err_nomem(e);
	for (uint32_t k = 0; k < p->warps; k++) {
		struct warp *w = &p->warp[k];
		w->w.reg = mem_zero(regs, sizeof *w->w.reg);
		w->w.turn = mem_zero(insts, sizeof *w->w.turn);
		w->ready = mem_zero(2 * regs, sizeof *w->ready);
		w->ready_alone = w->ready ? w->ready + regs : NULL;
		w->w.all = p->q->walk;
		w->scheduler = &p->scheduler[k % p->m->schedulers];
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
	mem_free(p->entry);
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
	for (unsigned n = 0; n < p->m->schedulers; n++) {
		const struct scheduler *c = &p->scheduler[n];
		fuller(&c->issue, "the issue of instructions", &r->issue, r->issue_what, sizeof r->issue_what);
		for (unsigned k = 0; k < SLOTS; k++)
			fuller(&c->unit[k], k && k < TIMING_UNITS ? p->m->unit[k] : "the computations' pipeline",
			       &r->issue, r->issue_what, sizeof r->issue_what);
		fuller(&c->branch, "branches", &r->issue, r->issue_what, sizeof r->issue_what);
		fuller(&c->parting, "lanes that part", &r->issue, r->issue_what, sizeof r->issue_what);
	}
	fuller(&p->load, "the load/store unit of the SM", &r->bandwidth, r->bandwidth_what, sizeof r->bandwidth_what);
	fuller(&p->link, "the way from the L2 to the SM", &r->bandwidth, r->bandwidth_what, sizeof r->bandwidth_what);
	fuller(&p->l2, "the L2", &r->bandwidth, r->bandwidth_what, sizeof r->bandwidth_what);
	fuller(&p->l2_in, "the L2, of what is stored", &r->bandwidth, r->bandwidth_what, sizeof r->bandwidth_what);
	fuller(&p->memory, "memory", &r->bandwidth, r->bandwidth_what, sizeof r->bandwidth_what);
	fuller(&p->atomics, "atomics on one address", &r->bandwidth, r->bandwidth_what, sizeof r->bandwidth_what);
	r->handed = pipe_pick(p, &p->m->blocks) * pipe_pick(p, &p->m->clock_hz) * (double)(p->q->blocks * p->q->stride);
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
		p.kept = memory_kept(&p);
		memory_compare(&p);
		for (uint32_t k = 0; k < q->resident && k < q->blocks; k++)
			start_block(&p, k, 0);
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
