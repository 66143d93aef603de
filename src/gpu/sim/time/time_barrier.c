/* Barriers of a block, and whose turn it is among the paths of a warp.
 *
 * With a reconvergence stack a barrier counts warps. Each path of a diverged warp arrives for the whole warp, so
 * barriers on two paths pair with what other warps reach meanwhile. With independent threads it counts threads. Both
 * ways those that have exited are not waited for. */
#include "gpu/sim/time/time_next.h"
#include "gpu/sim/time/time_units.h"

void time_next_path(struct time_run *x, struct time_warp *w, uint64_t earliest)
{
	const struct func_paths *p = w->f.paths;
	if (!w->f.active) {
		time_wake(w->sched, w->slot, NEVER);
		return;
	}
	if (p->now.at > earliest)
		earliest = p->now.at;
	func_paths_together(&w->f);
	/* Paths may be looked at again while their instructions are on the way. */
	bool held = x->ti[w->f.pc].block == w->held, late = held && w->fetched >= PENDING;
	if (held && !late && w->fetched > earliest)
		earliest = w->fetched;
	time_next_together(x, w, earliest);
	if (late && w->sched->wake[w->slot] < PENDING) {
		w->from = w->sched->wake[w->slot];
		time_wake(w->sched, w->slot, PENDING);
	}
}

/* Of the warps of b, wherever it is: those of x's clusters go on in order. lanes: may go. */
static void release(struct time_run *x, struct time_block *b, uint32_t number, uint64_t go)
{
	const bool all = number < TIME_BARRIERS;
	for (uint32_t k = 0; k < b->warps; k++) {
		struct time_warp *w = b->warp[k];
		if (!w)
			continue;
		const uint32_t lanes = all ? UINT32_MAX : func_cluster_passes(&w->f);
		if (w->waiting == number + 1 && !((uint32_t)w->f.active & ~lanes))
			w->waiting = 0;
		else if (!w->f.diverged || !func_paths_wake(&w->f, FUNC_WAITS_BARRIER + number, lanes, go))
			continue;
		w->released = go;
		time_next(x, w, go);
		time_turn(w->sched, w->sched->wake[w->slot]);
	}
}

static void barrier_try(struct time_run *x, struct time_block *b, uint32_t number, uint64_t t)
{
	uint32_t all = x->l->independent ? b->threads : b->alive;
	uint32_t need = b->barrier[number].expected ? b->barrier[number].expected : all;
	if (!b->barrier[number].arrived || b->barrier[number].arrived < need)
		return;
	b->barrier[number].arrived = b->barrier[number].expected = 0;
	release(x, b, number, t + (uint64_t)(x->g->spec->barrier_latency + 0.5));
}

/* Blocks of several SMs: their clusters take turns (time_epoch.c), and one that was not to have one before may have it now. */
void time_cluster_try(struct time_run *x, struct time_block *b, uint64_t t)
{
	struct func_cluster *c = b->f.cluster;
	if (!func_cluster_meets(c))
		return;
	const struct sim_spec *s = x->g->spec;
	const double latency = s->cluster_barrier > 0 ? s->cluster_barrier : s->barrier_latency;
	x->epoch++;
	for (uint32_t k = 0; k < func_cluster_size(x->l); k++) {
		struct time_block *of = (struct time_block *)(void *)c->block[k];
		if (!of)
			continue;
		struct time_cluster *there = &x->g->cluster[x->g->sm[of->sm].cluster];
		release(&there->run, of, TIME_BARRIERS, t + (uint64_t)(latency + 0.5));
		x->grid->woken |= there != x->c;
	}
}

/* Those who come are counted apart from those who wait. */
static void cluster_barrier(struct time_run *x, struct time_warp *w, const struct func_inst *i, uint32_t mask,
			    uint64_t t)
{
	struct time_block *b = w->block;
	x->epoch++;
	if (i->flags & FUNC_ARRIVE) {
		func_cluster_arrive(&w->f, mask);
	} else if (mask & ~func_cluster_passes(&w->f)) {
		if (w->f.diverged) {
			func_paths_park(&w->f, FUNC_WAITS_BARRIER + TIME_BARRIERS);
			time_next(x, w, t);
			return;
		}
		w->waits_at = w->f.pc;
		func_warp_next(&w->f);
		w->waiting = TIME_BARRIERS + 1;
		time_wake(w->sched, w->slot, NEVER);
		return;
	}
	func_warp_next(&w->f);
	time_next(x, w, t);
	time_cluster_try(x, b, t);
}

/* When a warp that came to a barrier of its block is counted there: an SM's barriers take one after the other. */
static uint64_t counted_at(struct time_run *x, const struct time_block *b, uint64_t t)
{
	struct time_sm *sm = &x->g->sm[b->sm];
	const uint64_t at = t << FIX > sm->meets ? t << FIX : sm->meets;
	sm->meets = at + time_fixed(x->g->spec->barrier_interval);
	return at >> FIX;
}

void time_barriers_try(struct time_run *x, struct time_block *b, uint64_t t)
{
	for (uint32_t k = 0; k < TIME_BARRIERS; k++)
		barrier_try(x, b, k, t);
}

void time_barrier(struct time_run *x, struct time_warp *w, const struct func_inst *i, uint64_t mask, uint64_t t)
{
	struct time_block *b = w->block;
	uint32_t lane = (uint32_t)__builtin_ctzll(mask);
	uint32_t number = i->a == FUNC_NONE ? 0 : func_lane_value(&w->f, i->a, lane) % TIME_BARRIERS;
	uint32_t threads = i->b == FUNC_NONE ? 0 : func_lane_value(&w->f, i->b, lane);
	uint32_t size = x->l->independent ? 1 : x->g->spec->warp_size;

	if (i->flags & FUNC_WARP_SYNC) {
		func_warp_next(&w->f);
		time_next(x, w, t);
		return;
	}
	if (i->flags & FUNC_OF_CLUSTER) {
		cluster_barrier(x, w, i, (uint32_t)mask, t);
		return;
	}
	if (threads % x->g->spec->warp_size) {
		w->f.fault = FUNC_FAULT_BARRIER;
		w->f.fault_lane = (uint8_t)lane;
		w->f.fault_address = threads;
		time_fault(x, w, w->f.pc);
		return;
	}
	x->epoch++;
	t = counted_at(x, b, t);
	b->barrier[number].arrived += x->l->independent ? (uint32_t)__builtin_popcountll(mask) : 1;
	b->barrier[number].expected = (threads + size - 1) / size;
	if (i->flags & FUNC_ARRIVE) {
		func_warp_next(&w->f);
		time_next(x, w, t);
	} else if (w->f.diverged) {
		func_paths_park(&w->f, FUNC_WAITS_BARRIER + number);
		time_next(x, w, t);
	} else {
		w->waits_at = w->f.pc;
		func_warp_next(&w->f);
		w->waiting = number + 1;
		time_wake(w->sched, w->slot, NEVER);
	}
	barrier_try(x, b, number, t);
}
