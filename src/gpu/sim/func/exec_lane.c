/* Lanes that see each other, and registers that say who they are. */
#include "exec.h"
#include "gpu/sim/func/func_clones.h"
#include <string.h>

/* Lanes that take part: those that execute this and that the instruction's own mask names. */
static uint32_t members(const struct func_warp *w, uint16_t row, uint32_t mask)
{
	return row == FUNC_NONE ? mask : mask & exec_row(w, row)[__builtin_ctz(mask)];
}

/* Among the lanes `with`, of which p say yes. */
static bool votes(const struct func_inst *i, uint32_t with, uint32_t p)
{
	return i->more[0] == PTX_SUB_ANY ? p != 0 : p == with || (i->more[0] == PTX_SUB_UNI && !p);
}

/* Each lane hears of those that it names itself, which mostly are the same. */
void exec_wide_vote(struct func_warp *w, const struct func_inst *i, uint32_t mask)
{
	const uint32_t first = members(w, i->more[2], mask),
		       *named = i->more[2] == FUNC_NONE ? NULL : exec_row(w, i->more[2]);
	const uint32_t yes = i->more[1] ? ~w->pred[i->a] : w->pred[i->a];
	uint32_t others = 0, answer = 0;
	EACH_LANE(l, named ? mask : 0)
	{
		others |= (named[l] & mask) ^ first;
	}
	if (i->more[0] != PTX_SUB_BALLOT && !others) {
		exec_put_pred(w, i->dst, mask, votes(i, first, yes & first) ? UINT32_MAX : 0);
		return;
	}
	EACH_LANE(l, mask)
	{
		const uint32_t with = others ? named[l] & mask : first;
		if (i->more[0] == PTX_SUB_BALLOT)
			exec_row(w, i->dst)[l] = yes & with;
		else
			answer |= (uint32_t)votes(i, with, yes & with) << l;
	}
	if (i->more[0] != PTX_SUB_BALLOT)
		exec_put_pred(w, i->dst, mask, answer);
}
EXEC_FORWARD(vote)

void exec_wide_shfl(struct func_warp *w, const struct func_inst *i, uint32_t mask)
{
	uint32_t from[FUNC_LANES], in_range = 0;
	uint32_t *d = exec_row(w, i->dst);
	const uint32_t *b = exec_row(w, i->b), *c = exec_row(w, i->c);
	memcpy(from, exec_row(w, i->a), sizeof from); /* the destination may be the source */
	EACH_LANE(l, mask)
	{
		uint32_t delta = b[l] & 31, clamp = c[l] & 31, segment = c[l] >> 8 & 31;
		uint32_t first = l & segment, last = first | (clamp & ~segment);
		uint32_t j;
		bool in;
		switch (i->more[0]) {
		case PTX_SUB_UP:
			j = l - delta;
			in = (int32_t)j >= (int32_t)last;
			break;
		case PTX_SUB_DOWN:
			j = l + delta;
			in = j <= last;
			break;
		case PTX_SUB_BFLY:
			j = l ^ delta;
			in = j <= last;
			break;
		default:
			j = first | (delta & ~segment);
			in = j <= last;
			break;
		}
		d[l] = from[in ? j & 31 : l];
		in_range |= (uint32_t)in << l;
	}
	if (i->more[1] != FUNC_NONE)
		exec_put_pred(w, i->more[1], mask, in_range);
}
EXEC_FORWARD(shfl)

void exec_wide_match(struct func_warp *w, const struct func_inst *i, uint32_t mask)
{
	const uint32_t *named = exec_row(w, i->more[2]);
	const bool wide = i->more[3];
	uint32_t result[FUNC_LANES] = {0}, all = 0;
	for (uint32_t rest = mask; rest;) {
		const uint32_t group = exec_together(named, rest), first = (uint32_t)__builtin_ctz(group);
		EACH_LANE(l, group)
		{
			const uint64_t v = exec_get(w, i->a, wide, l);
			for (unsigned k = 0; k < FUNC_LANES; k++)
				if ((group >> k & 1) && exec_get(w, i->a, wide, k) == v)
					result[l] |= 1u << k;
		}
		all |= result[first] == group ? group : 0;
		rest &= ~group;
	}
	EACH_LANE(l, mask)
	{
		exec_row(w, i->dst)[l] = i->more[0] == PTX_SUB_ANY || all >> l & 1 ? result[l] : 0;
	}
	if (i->more[1] != FUNC_NONE)
		exec_put_pred(w, i->more[1], mask, all);
}
EXEC_FORWARD(match)

void exec_wide_activemask(struct func_warp *w, const struct func_inst *i, uint32_t mask)
{
	uint32_t *d = exec_row(w, i->dst);
	EACH_LANE(l, mask)
	{
		d[l] = mask;
	}
}
EXEC_FORWARD(activemask)

static uint32_t blocks_across(const struct func_launch *l, int dimension)
{
	return l->cluster[0] ? l->cluster[dimension] : 1;
}

static uint64_t sreg_value(const struct func_warp *w, int reg, uint32_t l)
{
	const struct func_block *b = w->block;
	const struct func_launch *k = b->launch;
	uint32_t t = w->thread + l;
	switch (reg) {
	case PTX_SREG_TID_X:
		return t % k->block[0];
	case PTX_SREG_TID_Y:
		return t / k->block[0] % k->block[1];
	case PTX_SREG_TID_Z:
		return t / k->block[0] / k->block[1];
	case PTX_SREG_NTID_X:
	case PTX_SREG_NTID_Y:
	case PTX_SREG_NTID_Z:
		return k->block[reg - PTX_SREG_NTID_X];
	case PTX_SREG_CTAID_X:
	case PTX_SREG_CTAID_Y:
	case PTX_SREG_CTAID_Z:
		return b->ctaid[reg - PTX_SREG_CTAID_X];
	case PTX_SREG_NCTAID_X:
	case PTX_SREG_NCTAID_Y:
	case PTX_SREG_NCTAID_Z:
		return k->grid[reg - PTX_SREG_NCTAID_X];
	case PTX_SREG_LANEID:
		return w->first_lane + l;
	case PTX_SREG_WARPID:
		return w->warp_id;
	case PTX_SREG_NWARPID:
		return k->max_warps;
	case PTX_SREG_SMID:
		return b->sm;
	case PTX_SREG_NSMID:
		return k->sm_count;
	case PTX_SREG_LANEMASK_EQ:
		return 1u << l;
	case PTX_SREG_LANEMASK_LT:
		return (1u << l) - 1;
	case PTX_SREG_LANEMASK_LE:
		return (1u << l) | ((1u << l) - 1);
	case PTX_SREG_LANEMASK_GE:
		return ~((1u << l) - 1);
	case PTX_SREG_LANEMASK_GT:
		return ~((1u << l) | ((1u << l) - 1));
	case PTX_SREG_DYNAMIC_SMEM_SIZE:
		return k->shared_bytes - (uint32_t)k->program->shared_static;
	case PTX_SREG_AGGR_SMEM_SIZE:
		return k->shared_bytes - k->program->reserved_bytes + k->program->reserved;
	case PTX_SREG_TOTAL_SMEM_SIZE:
		return k->shared_bytes - k->program->reserved_bytes;
	case PTX_SREG_RESERVED_END:
		return k->program->reserved ? FUNC_RESERVED_USED : 0;
	case PTX_SREG_RESERVED_CAP:
		return k->program->reserved;
	case PTX_SREG_RESERVED_BEGIN:
	case PTX_SREG_RESERVED_0:
	case PTX_SREG_RESERVED_1:
		return 0;
	case PTX_SREG_CLOCK:
		return (uint32_t)w->clock;
	case PTX_SREG_CLOCK_HI:
		return w->clock >> 32;
	case PTX_SREG_CLOCK64:
		return w->clock;
	case PTX_SREG_GLOBALTIMER:
		return w->globaltimer;
	case PTX_SREG_GLOBALTIMER_LO:
		return (uint32_t)w->globaltimer;
	case PTX_SREG_GLOBALTIMER_HI:
		return w->globaltimer >> 32;
	case PTX_SREG_CLUSTERID_X:
	case PTX_SREG_CLUSTERID_Y:
	case PTX_SREG_CLUSTERID_Z:
		return b->ctaid[reg - PTX_SREG_CLUSTERID_X] / blocks_across(k, reg - PTX_SREG_CLUSTERID_X);
	case PTX_SREG_NCLUSTERID_X:
	case PTX_SREG_NCLUSTERID_Y:
	case PTX_SREG_NCLUSTERID_Z:
		return k->grid[reg - PTX_SREG_NCLUSTERID_X] / blocks_across(k, reg - PTX_SREG_NCLUSTERID_X);
	case PTX_SREG_CLUSTER_CTAID_X:
	case PTX_SREG_CLUSTER_CTAID_Y:
	case PTX_SREG_CLUSTER_CTAID_Z:
		return b->ctaid[reg - PTX_SREG_CLUSTER_CTAID_X] % blocks_across(k, reg - PTX_SREG_CLUSTER_CTAID_X);
	case PTX_SREG_CLUSTER_NCTAID_X:
	case PTX_SREG_CLUSTER_NCTAID_Y:
	case PTX_SREG_CLUSTER_NCTAID_Z:
		return blocks_across(k, reg - PTX_SREG_CLUSTER_NCTAID_X);
	case PTX_SREG_CLUSTER_CTARANK:
		return b->rank;
	case PTX_SREG_CLUSTER_NCTARANK:
		return func_cluster_size(k);
	case PTX_SREG_IS_EXPLICIT_CLUSTER:
		return k->cluster[0] != 0;
	case PTX_SREG_ENVREG1:
		return (uint32_t)(k->workspace >> 32);
	case PTX_SREG_ENVREG2:
		return (uint32_t)k->workspace;
	default: /* %gridid: one grid runs at a time; other %envreg: what a driver puts there, and none is here */
		return 0;
	}
}

/* A rank takes the place of what the address names. */
void exec_wide_mapa(struct func_warp *w, const struct func_inst *i, uint32_t mask)
{
	EACH_LANE(l, mask)
	{
		const uint64_t a = exec_get(w, i->a, i->more[0], l), rank = exec_row(w, i->b)[l];
		const uint64_t within = a & (FUNC_RANK_BYTES - 1), window = a & ~(FUNC_WINDOW_BYTES - 1);
		exec_put(w, i->dst, i->more[0], l,
			 window | ((rank + 1) * FUNC_RANK_BYTES & (FUNC_WINDOW_BYTES - 1)) | within);
	}
}
EXEC_FORWARD(mapa)

void exec_wide_ranks(struct func_warp *w, const struct func_inst *i, uint32_t mask)
{
	EACH_LANE(l, mask)
	{
		const uint64_t n = (exec_get(w, i->a, i->more[0], l) & (FUNC_WINDOW_BYTES - 1)) / FUNC_RANK_BYTES;
		exec_row(w, i->dst)[l] = n ? (uint32_t)n - 1 : w->block->rank;
	}
}
EXEC_FORWARD(ranks)

/* Values from `first` on, `step` more each lane, of which the instruction takes the low `bytes`. */
CLONES VECTORS static void series(uint32_t *d, uint32_t mask, uint32_t first, uint32_t step, uint32_t keep)
{
	for (uint32_t l = 0; l < FUNC_LANES; l++)
		d[l] = mask >> l & 1 ? (first + l * step) & keep : d[l];
}

static void put_series(struct func_warp *w, const struct func_inst *i, uint32_t mask, uint64_t first, uint32_t step)
{
	if (i->more[1] != 8) {
		series(exec_row(w, i->dst), mask, (uint32_t)first, step, i->more[1] == 2 ? UINT16_MAX : UINT32_MAX);
		return;
	}
	EACH_LANE(l, mask)
	{
		exec_row64(w, i->dst)[l] = first + (uint64_t)l * step;
	}
}

/* more[1]: bytes that the instruction takes of the value */
void exec_wide_sreg(struct func_warp *w, const struct func_inst *i, uint32_t mask)
{
	int reg = i->more[0];
	bool thread = reg >= PTX_SREG_TID_X && reg <= PTX_SREG_TID_Z;
	bool lane = reg == PTX_SREG_LANEID || (reg >= PTX_SREG_LANEMASK_EQ && reg <= PTX_SREG_LANEMASK_GT);
	/* Within a row of the block only x differs. */
	const uint32_t *block = w->block->launch->block;
	if (mask & (mask - 1) && !lane && (!thread || w->thread % block[0] + FUNC_LANES <= block[0])) {
		put_series(w, i, mask, sreg_value(w, reg, 0), reg == PTX_SREG_TID_X);
		return;
	}
	EACH_LANE(l, mask)
	{
		uint64_t v = sreg_value(w, reg, l);
		exec_put(w, i->dst, i->more[1] == 8, l, i->more[1] == 2 ? (uint16_t)v : v);
	}
}
EXEC_FORWARD(sreg)

void exec_wide_clock(struct func_warp *w, const struct func_inst *i, uint32_t mask)
{
	exec_wide_sreg(w, i, mask);
}
EXEC_FORWARD(clock)

static int space_of(uint64_t address)
{
	if (address - FUNC_SHARED_WINDOW < FUNC_WINDOW_BYTES)
		return PTX_SHARED;
	if (address - FUNC_LOCAL_WINDOW < FUNC_WINDOW_BYTES)
		return PTX_LOCAL;
	if (address - FUNC_CONST_WINDOW < FUNC_WINDOW_BYTES)
		return PTX_CONST;
	if (address - FUNC_PARAM_WINDOW < FUNC_WINDOW_BYTES)
		return PTX_PARAM;
	return PTX_GLOBAL;
}

void exec_wide_isspace(struct func_warp *w, const struct func_inst *i, uint32_t mask)
{
	uint32_t m = 0;
	EACH_LANE(l, mask)
	{
		uint64_t address = exec_get(w, i->a, i->more[1] == 8, l);
		const uint64_t rank = (address - FUNC_SHARED_WINDOW) / FUNC_RANK_BYTES;
		const bool own = !rank || rank == w->block->rank + 1u; /* also by mapa, as on an H200 */
		m |= (uint32_t)(space_of(address) == i->more[0] && (own || i->more[2] || i->more[0] != PTX_SHARED))
		     << l;
	}
	exec_put_pred(w, i->dst, mask, m);
}
EXEC_FORWARD(isspace)

void exec_wide_trap(struct func_warp *w, const struct func_inst *i, uint32_t mask)
{
	(void)i;
	w->fault = FUNC_FAULT_TRAP;
	w->fault_lane = (uint8_t)__builtin_ctz(mask);
	w->fault_address = 0;
}
EXEC_FORWARD(trap)

void exec_wide_nothing(struct func_warp *w, const struct func_inst *i, uint32_t mask)
{
	(void)w;
	(void)i;
	(void)mask;
}
EXEC_FORWARD(nothing)
