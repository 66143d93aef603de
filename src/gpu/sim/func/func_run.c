#include "gpu/sim/func/func_run.h"
#include "gpu/sim/func/func_paths.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define BARRIERS 16
#define TURN	 65536 /* instructions of one warp before the next has a turn: it may be what this one waits for */

struct run {
	const struct func_launch *l;
	struct func_outcome *out;
	struct func_warp *warp;
	uint32_t *waiting; /* per warp: barrier number + 1, 0 = none */
	uint32_t warps;
	uint32_t arrived[BARRIERS], expected[BARRIERS]; /* in warps, or threads; expected 0: all that are alive */
	uint64_t left;
};

static void stop(struct run *x, enum func_end end, const struct func_warp *w, const char *text)
{
	const struct func_program *p = x->l->program;
	x->out->end = end;
	if (end == FUNC_FAULT)
		func_fault_text(x->out->message, sizeof x->out->message, w, &p->inst[w->pc], &p->info[w->pc]);
	else
		snprintf(x->out->message, sizeof x->out->message, "line %u: %s", p->info[w->pc].line, text);
}

static void stopped(struct run *x, struct func_warp *w)
{
	if (!w->active && w->paths && w->paths->count)
		w->pc = w->paths->other[0].from;
	else if (w->pc)
		w->pc--;
	stop(x, FUNC_DEADLOCK, w, "waits at a barrier, or for lanes, that never come");
}

/* The warp goes on, or waits. */
static void arrive(struct run *x, uint32_t n, const struct func_inst *i, uint64_t mask)
{
	struct func_warp *w = &x->warp[n];
	bool threads = x->l->independent;
	uint32_t lane = (uint32_t)__builtin_ctzll(mask), size = threads ? 1 : x->l->warp_size;
	uint32_t number = i->a == FUNC_NONE ? 0 : func_lane_value(w, i->a, lane) % BARRIERS;
	uint32_t count = i->b == FUNC_NONE ? 0 : func_lane_value(w, i->b, lane);
	if (i->flags & FUNC_WARP_SYNC) {
		func_warp_next(w);
		return;
	}
	x->arrived[number] += threads ? (uint32_t)__builtin_popcountll(mask) : 1;
	x->expected[number] = (count + size - 1) / size;
	if (w->diverged && !(i->flags & FUNC_ARRIVE)) {
		func_paths_park(w, FUNC_WAITS_BARRIER + number);
		return;
	}
	if (!(i->flags & FUNC_ARRIVE))
		x->waiting[n] = number + 1;
	func_warp_next(w);
}

/* Until it ends, waits or fails, or its turn is over: then true. */
static bool run_warp(struct run *x, uint32_t n)
{
	const struct func_program *p = x->l->program;
	struct func_warp *w = &x->warp[n];
	uint64_t left = x->left, stay = left > TURN ? left - TURN : 0;
	while (w->active && !x->waiting[n]) {
		const struct func_inst *i = &p->inst[w->pc];
		uint64_t mask = func_mask(w, i);
		bool executed = false;
		if (left == stay) {
			x->left = left;
			if (left)
				return true;
			stop(x, FUNC_LIMIT, w, "still running at the limit");
			break;
		}
		if (__builtin_expect(w->diverged, 0) && mask && !func_paths_together(w) &&
		    i->flags & (FUNC_GATHER | FUNC_WARP_SYNC) &&
		    !(mask = func_paths_gather(w, i, (uint32_t)mask, &executed)))
			continue;
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
				stop(x, FUNC_FAULT, w, "");
				x->left = left;
				return false;
			}
			break;
		case FUNC_KINDS:
			break;
		}
		func_warp_next(w);
	}
	x->left = left;
	return false;
}

static bool release(struct run *x)
{
	bool any = false;
	uint32_t alive = 0;
	for (uint32_t n = 0; n < x->warps; n++)
		alive += x->l->independent ? (uint32_t)__builtin_popcountll(x->warp[n].live) : x->warp[n].live != 0;
	for (uint32_t b = 0; b < BARRIERS; b++) {
		uint32_t need = x->expected[b] ? x->expected[b] : alive;
		if (!x->arrived[b] || x->arrived[b] < need)
			continue;
		x->arrived[b] = x->expected[b] = 0;
		for (uint32_t n = 0; n < x->warps; n++) {
			if (x->waiting[n] == b + 1) {
				x->waiting[n] = 0;
				any = true;
			}
			if (x->warp[n].diverged && func_paths_wake(&x->warp[n], FUNC_WAITS_BARRIER + b, 0))
				any = true;
		}
	}
	return any;
}

static void run_block(struct run *x, struct func_block *b)
{
	memset(x->waiting, 0, x->warps * sizeof *x->waiting);
	memset(x->arrived, 0, sizeof x->arrived);
	memset(x->expected, 0, sizeof x->expected);
	if (x->l->shared_bytes)
		memset(b->shared, 0, x->l->shared_bytes);
	for (uint32_t n = 0; n < x->warps; n++)
		func_warp_start(&x->warp[n], b, n * x->l->warp_size);
	bool more;
	do {
		more = false;
		for (uint32_t n = 0; n < x->warps && x->out->end == FUNC_DONE; n++)
			more |= run_warp(x, n);
		more |= release(x);
	} while (x->out->end == FUNC_DONE && more);
	for (uint32_t n = 0; n < x->warps && x->out->end == FUNC_DONE; n++)
		if (x->warp[n].live)
			stopped(x, &x->warp[n]);
}

/* One allocation a kind for all warps of a block; blocks take turns in them. */
struct store {
	uint8_t *reg, *local, *shared;
	uint32_t *pred, *waiting;
	struct func_warp *warp; /* the upper halves behind them */
	struct func_paths *paths;
	struct func_path *stack;
};

static bool store_new(struct store *s, const struct func_launch *l, uint32_t warps, uint32_t halves)
{
	const struct func_program *p = l->program;
	*s = (struct store){.reg = mem_zero((size_t)halves * p->rows * FUNC_LANES * 4 + 64, 1),
			    .local = mem_zero((size_t)halves * func_local_room(p) + 1, 1),
			    .shared = mem_zero((size_t)l->shared_bytes + 16, 1),
			    .pred = mem_zero((size_t)halves * p->preds + 1, sizeof(uint32_t)),
			    .waiting = mem_zero(warps, sizeof(uint32_t)),
			    .warp = mem_zero(halves, sizeof(struct func_warp)),
			    .paths = mem_zero(l->independent ? warps : 1, sizeof(struct func_paths)),
			    .stack =
				mem_zero(l->independent ? 1 : (size_t)warps * FUNC_STACK, sizeof(struct func_path))};
	return s->paths && s->stack && s->reg && s->local && s->shared && s->pred && s->waiting && s->warp;
}

static void store_free(struct store *s)
{
	mem_free(s->reg);
	mem_free(s->local);
	mem_free(s->shared);
	mem_free(s->pred);
	mem_free(s->waiting);
	mem_free(s->warp);
	mem_free(s->paths);
	mem_free(s->stack);
}

int func_run(const struct func_launch *l, uint64_t limit, struct func_outcome *out)
{
	const struct func_program *p = l->program;
	uint32_t threads = l->block[0] * l->block[1] * l->block[2];
	uint32_t warps = (threads + l->warp_size - 1) / l->warp_size;
	uint32_t halves = l->warp_size > FUNC_LANES ? 2 * warps : warps;
	struct store s;
	*out = (struct func_outcome){.end = FUNC_DONE};
	if (!store_new(&s, l, warps, halves)) {
		store_free(&s);
		return -ENOMEM;
	}
	uint64_t budget = limit ? limit : UINT64_MAX;
	struct run x = {.l = l, .out = out, .warp = s.warp, .waiting = s.waiting, .warps = warps, .left = budget};
	uint8_t *aligned = (uint8_t *)(((uintptr_t)s.reg + 63) & ~(uintptr_t)63);
	for (uint32_t n = 0; n < halves; n++) {
		s.warp[n].reg = (uint32_t *)(aligned + (size_t)n * p->rows * FUNC_LANES * 4);
		s.warp[n].pred = s.pred + (size_t)n * p->preds;
		s.warp[n].local = s.local + (size_t)n * func_local_room(p);
		s.warp[n].paths = l->independent ? &s.paths[n] : NULL; /* never with halves */
		s.warp[n].stack = l->independent || n >= warps ? NULL : s.stack + (size_t)n * FUNC_STACK;
		s.warp[n].warp_id = n % warps;
		s.warp[n].upper = n + warps < halves ? &s.warp[n + warps] : NULL;
		func_warp_literals(&s.warp[n], p);
	}
	uint64_t blocks = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2];
	for (uint64_t n = 0; n < blocks && out->end == FUNC_DONE; n++) {
		struct func_block b = {.launch = l, .shared = s.shared};
		b.ctaid[0] = (uint32_t)(n % l->grid[0]);
		b.ctaid[1] = (uint32_t)(n / l->grid[0] % l->grid[1]);
		b.ctaid[2] = (uint32_t)(n / l->grid[0] / l->grid[1]);
		b.sm = l->sm_count ? (uint32_t)(n % l->sm_count) : 0;
		run_block(&x, &b);
	}
	out->instructions = budget - x.left;
	store_free(&s);
	return 0;
}
