#include "gpu/sim/func/func_paths.h"
#include <assert.h>
#include <string.h>

void func_warp_start(struct func_warp *w, struct func_block *b, uint32_t first_thread)
{
	const struct func_launch *l = b->launch;
	const struct func_program *p = l->program;
	uint32_t threads = l->block[0] * l->block[1] * l->block[2];
	uint32_t lanes = threads - first_thread;
	if (lanes > l->warp_size)
		lanes = l->warp_size;

	w->pc = 0;
	w->join = FUNC_NO_JOIN;
	w->active = w->live = lanes >= 32 ? UINT32_MAX : (1u << lanes) - 1;
	w->depth = 0;
	w->diverged = false;
	if (w->paths)
		func_paths_start(w);
	w->thread = first_thread;
	w->block = b;
	w->clock = w->globaltimer = 0;
	w->space = PTX_GENERIC;
	w->fault = FUNC_FAULT_NONE;
	if (p->preds)
		memset(w->pred, 0, p->preds * sizeof *w->pred);
	if (p->local_bytes)
		memset(w->local, 0, p->local_bytes * FUNC_LANES);
}

void func_warp_literals(struct func_warp *w, const struct func_program *p)
{
	for (uint32_t i = 0; i < p->literal_count; i++) {
		const struct func_literal *l = &p->literal[i];
		uint32_t *row = w->reg + (size_t)l->row * FUNC_LANES;
		if (l->wide) {
			uint64_t *wide = (uint64_t *)row;
			for (unsigned k = 0; k < FUNC_LANES; k++)
				wide[k] = l->bits;
		} else {
			for (unsigned k = 0; k < FUNC_LANES; k++)
				row[k] = (uint32_t)l->bits;
		}
	}
}

static void push(struct func_warp *w, uint32_t pc, uint32_t join, uint32_t mask)
{
	/* Each split takes lanes away from the active set and pushes two entries at most: 31 splits never fill the stack. */
	assert(w->depth < FUNC_STACK);
	w->stack[w->depth++] = (struct func_path){.pc = pc, .join = join, .mask = mask};
}

void func_warp_pop(struct func_warp *w)
{
	if (w->paths) {
		func_paths_meet(w);
		return;
	}
	while (w->depth) {
		const struct func_path *p = &w->stack[--w->depth];
		if (!p->mask)
			continue; /* all its lanes have exited meanwhile */
		w->pc = p->pc;
		w->join = p->join;
		w->active = p->mask;
		return;
	}
	w->active = 0;
	w->join = FUNC_NO_JOIN;
}

void func_warp_split(struct func_warp *w, const struct func_inst *i, uint32_t taken)
{
	if (w->paths) {
		func_paths_split(w, i, taken);
		return;
	}
	uint32_t join = i->join, next = w->pc + 1, rest = w->active & ~taken, first = i->target;
	if (w->block->launch->fallthrough_first) {
		uint32_t fall = rest;
		rest = taken;
		taken = fall;
		first = next;
		next = i->target;
	}
	if (join == FUNC_NO_JOIN)
		join = w->join;
	/* Lanes that leave a loop one after another meet at a join that already waits below: one entry serves all. */
	if (join != w->join)
		push(w, join, w->join, w->active);
	if (next != join)
		push(w, next, join, rest);
	if (first == join) {
		func_warp_pop(w);
	} else {
		w->pc = first;
		w->join = join;
		w->active = taken;
	}
}

void func_warp_exit(struct func_warp *w, uint32_t lanes)
{
	if (w->paths) {
		func_paths_exit(w, lanes);
		return;
	}
	w->live &= ~lanes;
	w->active &= ~lanes;
	for (uint32_t d = 0; d < w->depth; d++)
		w->stack[d].mask &= ~lanes;
	if (w->active)
		func_warp_next(w);
	else
		func_warp_pop(w);
}
