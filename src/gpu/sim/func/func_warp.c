#include "gpu/sim/func/func_paths.h"
#include <assert.h>
#include <errno.h>
#include <string.h>

/* ---- clusters ---- */

int func_clusters_open(struct func_launch *l)
{
	const uint32_t size = func_cluster_size(l);
	l->clusters = NULL;
	if (size > 1)
		l->clusters = mem_zero((size_t)l->grid[0] * l->grid[1] * l->grid[2] / size, sizeof *l->clusters);
	return size > 1 && !l->clusters ? -ENOMEM : 0;
}

void func_clusters_close(struct func_launch *l)
{
	mem_free(l->clusters);
	l->clusters = NULL;
}

void func_block_begin(struct func_block *b, const struct func_launch *l, uint64_t n)
{
	static const uint32_t one[3] = {1, 1, 1};
	const uint32_t *of = l->cluster[0] ? l->cluster : one, size = func_cluster_size(l);
	uint64_t rank = n % size, cluster = n / size;
	b->launch = l;
	b->rank = (uint32_t)rank;
	b->cluster = size > 1 ? &l->clusters[cluster] : &b->alone;
	for (unsigned k = 0; k < 3; k++) {
		const uint32_t across = k < 2 ? l->grid[k] / of[k] : UINT32_MAX, within = k < 2 ? of[k] : UINT32_MAX;
		b->ctaid[k] = (uint32_t)(cluster % across * of[k] + rank % within);
		cluster /= across;
		rank /= within;
	}
	if (size == 1 || !b->cluster->begun)
		*b->cluster =
		    (struct func_cluster){.alive = size * l->block[0] * l->block[1] * l->block[2], .begun = true};
	b->cluster->block[b->rank] = b;
}

void func_block_end(struct func_block *b)
{
	b->cluster->block[b->rank] = NULL;
}

void func_cluster_arrive(struct func_warp *w, uint32_t mask)
{
	struct func_cluster *c = w->block->cluster;
	c->arrived += (uint32_t)__builtin_popcount(mask);
	w->odd = c->odd ? w->odd | mask : w->odd & ~mask;
}

bool func_cluster_meets(struct func_cluster *c)
{
	if (!c->arrived || c->arrived < c->alive)
		return false;
	c->arrived = 0;
	c->odd = !c->odd;
	return true;
}

/* ---- warps ---- */

static void start_half(struct func_warp *w, struct func_block *b, uint32_t first_thread, uint32_t first_lane)
{
	const struct func_program *p = b->launch->program;
	w->thread = first_thread;
	w->first_lane = first_lane;
	w->block = b;
	w->addr = b->addr + first_lane;
	w->clock = w->globaltimer = 0;
	w->space = PTX_GENERIC;
	w->fault = FUNC_FAULT_NONE;
	memset(w->counted, 0, sizeof w->counted);
	if (p->preds)
		memset(w->pred, 0, p->preds * sizeof *w->pred);
	if (p->local_bytes)
		memset(w->local + func_local_pieces(p) * FUNC_LOCAL_PIECE, 0, func_local_pieces(p));
}

void func_warp_start(struct func_warp *w, struct func_block *b, uint32_t first_thread)
{
	const struct func_launch *l = b->launch;
	uint32_t threads = l->block[0] * l->block[1] * l->block[2];
	uint32_t lanes = threads - first_thread;
	if (lanes > l->warp_size)
		lanes = l->warp_size;

	w->pc = 0;
	w->join = FUNC_NO_JOIN;
	w->active = w->live = lanes >= FUNC_WIDEST ? UINT64_MAX : (1ull << lanes) - 1;
	w->depth = 0;
	w->odd = 0;
	w->diverged = false;
	if (w->paths)
		func_paths_start(w);
	start_half(w, b, first_thread, 0);
	if (w->upper)
		start_half(w->upper, b, first_thread + FUNC_LANES, FUNC_LANES);
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
	if (w->upper)
		func_warp_literals(w->upper, p);
}

void func_upper_fault(struct func_warp *w)
{
	w->fault = w->upper->fault;
	w->fault_lane = (uint8_t)(w->upper->fault_lane + FUNC_LANES);
	w->fault_address = w->upper->fault_address;
	w->fault_space = w->upper->fault_space;
	w->space = w->upper->space;
}

void func_do_upper(struct func_warp *w, const struct func_inst *i, uint64_t mask)
{
	if ((uint32_t)mask)
		func_do_half(w, i, (uint32_t)mask);
	if (w->fault)
		return;
	w->upper->clock = w->clock;
	w->upper->globaltimer = w->globaltimer;
	func_do_half(w->upper, i, (uint32_t)(mask >> FUNC_LANES));
	if (w->upper->fault)
		func_upper_fault(w);
}

static void push(struct func_warp *w, uint32_t pc, uint32_t join, uint64_t mask)
{
	/* Each split takes lanes away from the active set and pushes two entries at most: 63 splits never fill the stack. */
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

const struct func_inst *func_warp_indexed(const struct func_warp *w, const struct func_inst *i, uint64_t *mask,
					  struct func_inst *one)
{
	const size_t row = (size_t)i->a * FUNC_LANES;
	const uint32_t *index[2] = {w->reg + row, w->upper ? w->upper->reg + row : NULL};
	uint32_t count = (uint32_t)i->imm, lane = (uint32_t)__builtin_ctzll(*mask);
	uint32_t first = index[lane / FUNC_LANES][lane % FUNC_LANES];
	uint64_t same = 0;
	for (uint64_t rest = *mask; rest; rest &= rest - 1) {
		lane = (uint32_t)__builtin_ctzll(rest);
		same |= (uint64_t)(index[lane / FUNC_LANES][lane % FUNC_LANES] == first) << lane;
	}
	*mask = same;
	*one = *i;
	one->target = w->block->launch->program->target[(i->imm >> 32) + (first < count ? first : count - 1)];
	return one;
}

void func_warp_split(struct func_warp *w, const struct func_inst *i, uint64_t taken)
{
	if (w->paths) {
		func_paths_split(w, i, (uint32_t)taken);
		return;
	}
	uint32_t join = i->join, next = w->pc + 1, first = i->target;
	uint64_t rest = w->active & ~taken;
	if (w->block->launch->fallthrough_first) {
		uint64_t fall = rest;
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

void func_warp_exit(struct func_warp *w, uint64_t lanes)
{
	w->block->cluster->alive -= (uint32_t)__builtin_popcountll(lanes);
	if (w->paths) {
		func_paths_exit(w, (uint32_t)lanes);
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

void func_stretches(const struct func_program *p, uint32_t *stretch)
{
	uint32_t next = 0; /* operands on the way to a record belong to it */
	for (uint32_t k = p->inst_count; k-- > 0;) {
		const struct func_inst *i = &p->inst[k];
		const bool whole = func_is_private(i) && i->guard == FUNC_NONE && (!p->info[k].fused || next);
		next = whole ? next + 1 : 0;
		stretch[k] = next;
	}
}
