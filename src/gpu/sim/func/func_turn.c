/* The engine without time: a block's turn. */
#include "gpu/sim/func/func_seat.h"
#include <stdio.h>

#define TURN 65536 /* instructions of one warp before the next has a turn: it may be what this one waits for */

void func_stop(struct func_engine *x, enum func_end end, const struct func_warp *w, const char *text)
{
	const struct func_program *p = x->l->program;
	x->out.end = end;
	x->out.fault = (enum func_fault)w->fault;
	if (end == FUNC_FAULT)
		func_fault_text(x->out.message, sizeof x->out.message, w, &p->inst[w->pc], &p->info[w->pc]);
	else
		snprintf(x->out.message, sizeof x->out.message, "line %u: %s", p->info[w->pc].line, text);
}

static void stopped(struct func_engine *x, struct func_warp *w)
{
	if (!w->active && w->paths && w->paths->count)
		w->pc = w->paths->other[0].from;
	else if (w->pc)
		w->pc--;
	func_stop(x, FUNC_DEADLOCK, w, "waits at a barrier, or for lanes, that never come");
}

/* Of a barrier that counts what comes apart from what waits for it. */
static void arrive_cluster(struct func_engine *x, uint32_t n, const struct func_inst *i, uint32_t mask)
{
	struct func_warp *w = &x->now->warp[n];
	if (i->flags & FUNC_ARRIVE) {
		func_cluster_arrive(w, mask);
		func_cluster_meets(w->block->cluster);
	} else if (mask & ~func_cluster_passes(w)) {
		if (w->diverged) {
			func_paths_park(w, FUNC_WAITS_BARRIER + FUNC_BARRIERS);
			return;
		}
		x->now->waiting[n] = FUNC_BARRIERS + 1;
	}
	func_warp_next(w);
}

/* The warp goes on, or waits. */
static void arrive(struct func_engine *x, uint32_t n, const struct func_inst *i, uint64_t mask)
{
	struct func_warp *w = &x->now->warp[n];
	bool threads = x->l->independent;
	uint32_t lane = (uint32_t)__builtin_ctzll(mask), size = threads ? 1 : x->l->warp_size;
	uint32_t number = i->a == FUNC_NONE ? 0 : func_lane_value(w, i->a, lane) % FUNC_BARRIERS;
	uint32_t count = i->b == FUNC_NONE ? 0 : func_lane_value(w, i->b, lane);
	if (i->flags & FUNC_WARP_SYNC) {
		func_warp_next(w);
		return;
	}
	if (x->check)
		x->check->barrier(x->check->ctx, w);
	if (i->flags & FUNC_OF_CLUSTER) {
		arrive_cluster(x, n, i, (uint32_t)mask);
		return;
	}
	x->now->arrived[number] += threads ? (uint32_t)__builtin_popcountll(mask) : 1;
	x->now->expected[number] = (count + size - 1) / size;
	if (w->diverged && !(i->flags & FUNC_ARRIVE)) {
		func_paths_park(w, FUNC_WAITS_BARRIER + number);
		return;
	}
	if (!(i->flags & FUNC_ARRIVE))
		x->now->waiting[n] = number + 1;
	func_warp_next(w);
}

static void look_at(const struct func_engine *x, const struct func_warp *w, const struct func_inst *i, uint64_t mask)
{
	const struct func_info *info = &x->l->program->info[w->pc];
	if ((uint32_t)mask)
		x->check->access(x->check->ctx, w, i, info, (uint32_t)mask);
	if (mask >> FUNC_LANES)
		x->check->access(x->check->ctx, w->upper, i, info, (uint32_t)(mask >> FUNC_LANES));
}

/* Until it ends, waits or fails, or its turn is over: then true. */
static bool run_warp(struct func_engine *x, uint32_t n)
{
	const struct func_program *p = x->l->program;
	struct func_warp *w = &x->now->warp[n];
	uint64_t left = x->left, stay = left > TURN ? left - TURN : 0;
	while (w->active && !x->now->waiting[n]) {
		const struct func_inst *i = &p->inst[w->pc];
		uint64_t mask = func_mask(w, i);
		bool executed = false;
		if (left == stay) {
			x->left = left;
			if (left)
				return true;
			func_stop(x, FUNC_LIMIT, w, "still running at the limit");
			break;
		}
		if (__builtin_expect(w->diverged, 0) && mask && !func_paths_together(w) &&
		    i->flags & (FUNC_GATHER | FUNC_WARP_SYNC) &&
		    !(mask = func_paths_gather(w, i, (uint32_t)mask, &executed)))
			continue;
		uint32_t some = x->grid->stretch[w->pc];
		if (some > 1 && !w->diverged) {
			some = w->join - w->pc < some ? w->join - w->pc : some;
			some = left - stay < some ? (uint32_t)(left - stay) : some;
			func_do_stretch(w, i, some, mask);
			left -= some;
			w->pc += some - 1;
			func_warp_next(w);
			continue;
		}
		left--;
		if (!mask) {
			func_warp_next(w);
			continue;
		}
		switch ((enum func_kind)i->kind) {
		case FUNC_BRANCH: {
			struct func_inst one;
			if (i->flags & FUNC_INDEXED)
				i = func_warp_indexed(w, i, &mask, &one);
			func_warp_branch(w, i, mask);
			continue;
		}
		case FUNC_EXIT:
			func_warp_exit(w, mask);
			continue;
		case FUNC_BARRIER:
			arrive(x, n, i, mask);
			continue;
		case FUNC_FENCE:
			break;
		case FUNC_CLOCK:
			w->clock = w->globaltimer = UINT64_MAX - left;
			/* fall through */
		case FUNC_ALU:
		case FUNC_LOAD:
		case FUNC_STORE:
		case FUNC_ATOMIC:
			if (executed)
				break;
			func_do(w, i, mask);
			if (__builtin_expect(w->fault, 0)) {
				func_stop(x, FUNC_FAULT, w, "");
				x->left = left;
				return false;
			}
			if (__builtin_expect(x->check != NULL, 0) && i->kind >= FUNC_LOAD)
				look_at(x, w, i, mask);
			break;
		case FUNC_KINDS:
			break;
		}
		func_warp_next(w);
	}
	x->left = left;
	return false;
}

static bool release(struct func_engine *x)
{
	bool any = false;
	uint32_t alive = 0;
	for (uint32_t n = 0; n < x->warps; n++)
		alive += x->l->independent ? (uint32_t)__builtin_popcountll(x->now->warp[n].live)
					   : x->now->warp[n].live != 0;
	for (uint32_t b = 0; b < FUNC_BARRIERS; b++) {
		uint32_t need = x->now->expected[b] ? x->now->expected[b] : alive;
		if (!x->now->arrived[b] || x->now->arrived[b] < need)
			continue;
		x->now->arrived[b] = x->now->expected[b] = 0;
		for (uint32_t n = 0; n < x->warps; n++) {
			if (x->now->waiting[n] == b + 1) {
				x->now->waiting[n] = 0;
				any = true;
			}
			if (x->now->warp[n].diverged &&
			    func_paths_wake(&x->now->warp[n], FUNC_WAITS_BARRIER + b, UINT32_MAX, 0))
				any = true;
		}
	}
	return any;
}

/* Those whom the cluster's barrier let go. */
static bool release_cluster(struct func_engine *x)
{
	bool any = false;
	func_cluster_meets(x->now->b.cluster);
	for (uint32_t n = 0; n < x->warps; n++) {
		struct func_warp *w = &x->now->warp[n];
		const uint32_t passes = func_cluster_passes(w);
		if (x->now->waiting[n] == FUNC_BARRIERS + 1 && !((uint32_t)w->active & ~passes)) {
			x->now->waiting[n] = 0;
			any = true;
		}
		if (w->diverged && func_paths_wake(w, FUNC_WAITS_BARRIER + FUNC_BARRIERS, passes, 0))
			any = true;
	}
	return any;
}

/* Whether it waits for other blocks. */
static bool waits_for_cluster(const struct func_engine *x, const struct func_seat *s)
{
	for (uint32_t n = 0; func_cluster_size(x->l) > 1 && n < x->warps; n++) {
		const struct func_paths *p = s->warp[n].diverged ? s->warp[n].paths : NULL;
		if (s->waiting[n] == FUNC_BARRIERS + 1)
			return true;
		for (uint32_t k = 0; p && k < p->count; k++)
			if (p->other[k].wait == FUNC_WAITS_BARRIER + FUNC_BARRIERS)
				return true;
	}
	return false;
}

void func_stopped(struct func_engine *x, struct func_seat *s)
{
	for (uint32_t n = 0; n < x->warps && x->out.end == FUNC_DONE; n++)
		if (s->warp[n].live)
			stopped(x, &s->warp[n]);
}

void func_turn(struct func_engine *x, struct func_seat *s, uint64_t instructions)
{
	const uint64_t until = x->left > instructions ? x->left - instructions : 0;
	const uint64_t before = x->left;
	bool more;
	x->now = s;
	do {
		more = false;
		for (uint32_t n = 0; n < x->warps && x->out.end == FUNC_DONE; n++)
			more |= run_warp(x, n);
		more |= release(x);
		more |= release_cluster(x);
	} while (x->out.end == FUNC_DONE && more && x->left > until);
	s->moved = x->left != before;
	s->taken = more || waits_for_cluster(x, s);
	if (s->taken)
		return;
	func_stopped(x, s);
	func_block_end(&s->b);
}
