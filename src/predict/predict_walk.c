/* One warp on its way through a kernel: the lanes that are furthest behind go on, so that paths meet where the code does. */
#include "predict/predict_impl.h"
#include <errno.h>
#include <string.h>

static uint64_t align_to(uint64_t v, uint64_t a)
{
	return a ? (v + a - 1) / a * a : v;
}

/* Module variables one behind the other, each space by itself; those in global memory where no buffer lies. */
static int place_symbols(struct walk *w, struct arena *a, const struct ptx_module *m, struct err *e)
{
	uint64_t at[PTX_SPACES] = {0};
	w->symbol = ARENA_ARRAY(a, m->var_count + 1, uint64_t);
	if (!w->symbol)
		return err_nomem(e);
	at[PTX_GLOBAL] = (uint64_t)(w->entry->param_count + 1) << BUFFER_SHIFT;
	for (unsigned pass = 0; pass < 2; pass++) {
		for (uint32_t k = 0; k < m->var_count; k++) {
			const struct ptx_var *v = &m->vars[k];
			if (v->external != (pass == 1))
				continue;
			at[v->space] = align_to(at[v->space], v->align ? v->align : v->external ? 16 : 8);
			w->symbol[k] = at[v->space];
			at[v->space] += v->size;
		}
		if (pass == 0)
			w->shared_static = at[PTX_SHARED];
	}
	return 0;
}

int walk_open(struct walk *w, struct arena *a, const struct predict_request *q, const struct native *n,
	      uint32_t warp_size, uint32_t sm_count, struct err *e)
{
	uint64_t threads = (uint64_t)q->block[0] * q->block[1] * q->block[2];
	*w = (struct walk){.q = q,
			   .entry = &n->run,
			   .operand = n->operand,
			   .meets = n->meets,
			   .warp_size = warp_size,
			   .sm_count = sm_count};
	w->warps_per_block = (uint32_t)((threads + warp_size - 1) / warp_size);
	w->decided = ARENA_ARRAY(a, w->entry->inst_count + 1, uint8_t);
	w->way = ARENA_ARRAY(a, w->entry->inst_count + 1, uint8_t);
	if (!w->decided || !w->way || loop_ways(w->entry, w->way, e))
		return err_nomem(e);
	for (uint32_t k = 0; k < w->entry->inst_count; k++) {
		const struct ptx_inst *in = &w->entry->insts[k];
		if (in->op == PTX_OP_CALL || in->op == PTX_OP_BRX)
			return err_set(e, -ENOTSUP, "line %u: %s is not followed", in->line,
				       in->op == PTX_OP_CALL ? "a call" : "an indexed branch");
	}
	return place_symbols(w, a, q->module, e);
}

void walker_start(struct walker *w, struct walk *all, uint64_t block, uint32_t warp)
{
	const uint32_t *g = all->q->grid, *b = all->q->block;
	uint64_t threads = (uint64_t)b[0] * b[1] * b[2], from = (uint64_t)warp * all->warp_size,
		 lanes = threads - from < all->warp_size ? threads - from : all->warp_size;
	w->all = all;
	w->warp = warp;
	w->draws = (block * all->warps_per_block + warp) << 32;
	w->block[0] = (uint32_t)(block % g[0]);
	w->block[1] = (uint32_t)(block / g[0] % g[1]);
	w->block[2] = (uint32_t)(block / g[0] / g[1]);
	w->alive = lanes < 64 ? (1ull << lanes) - 1 : ~0ull;
	memset(w->pc, 0, sizeof w->pc);
	for (uint32_t k = 0; k < all->entry->reg_count; k++) {
		w->reg[k].known = 0;
		w->reg[k].buffer = 0;
	}
	for (uint32_t k = 0; k < all->entry->inst_count; k++)
		w->turn[k] = 0;
}

/* Lanes where the guard holds, and where it is not known whether it does. */
static void guarded(const struct walker *w, const struct ptx_inst *in, uint64_t mask, uint64_t *yes, uint64_t *maybe)
{
	*yes = mask;
	*maybe = 0;
	if (in->guard < 0)
		return;
	const struct lanes *p = &w->reg[in->guard];
	uint64_t is = 0;
	for (uint64_t rest = mask & p->known; rest; rest &= rest - 1) {
		unsigned k = (unsigned)__builtin_ctzll(rest);
		is |= (uint64_t)((p->v[k] & 1) != (uint64_t)in->guard_negated) << k;
	}
	*yes = is;
	*maybe = mask & ~p->known;
}

/* Which of the lanes take a branch, or leave at an exit, that data decide. A loop is left when its end was asked for as often as was told.
 * Elsewhere the short way jumps and the long way has both sides; what is expected is the long way. Lanes of which the same data decide go the
 * same way. */
static uint64_t guess(struct walker *w, uint32_t pc, bool exits, uint64_t maybe)
{
	struct walk *all = w->all;
	uint64_t half = 0;
	all->decided[pc] = 1;
	if (all->way[pc] != LOOP_NONE) {
		bool stays = ++w->turn[pc] < all->q->turns;
		all->endless = all->endless || !(all->q->turns > 0);
		w->turn[pc] = stays ? w->turn[pc] : 0;
		return stays == (all->way[pc] == LOOP_STAYS_JUMP) ? maybe : 0;
	}
	if (exits)
		return 0;
	/* In a loop every lane has to go both ways in time: one of them may hold its only end. */
	if (all->end == END_FAST)
		return ++w->turn[pc] <= all->q->turns + 1 ? maybe : (w->turn[pc] = 0);
	const struct lanes *p = &w->reg[all->entry->insts[pc].guard];
	const uint64_t odd = w->turn[pc]++ & 1;
	for (uint64_t rest = maybe; rest; rest &= rest - 1) {
		const unsigned k = (unsigned)__builtin_ctzll(rest);
		half |= ((p->v[k] & 1) ^ odd) << k;
	}
	return half;
}

static void set_pc(struct walker *w, uint64_t mask, uint32_t pc)
{
	for (uint64_t rest = mask; rest; rest &= rest - 1)
		w->pc[__builtin_ctzll(rest)] = pc;
}

static bool touches_memory(const struct ptx_inst *in)
{
	switch (in->op) {
	case PTX_OP_LD:
	case PTX_OP_LDU:
	case PTX_OP_ST:
	case PTX_OP_ATOM:
	case PTX_OP_RED:
	case PTX_OP_TEX:
		return in->space != PTX_PARAM;
	default:
		return false;
	}
}

static uint32_t bytes_of(uint8_t type)
{
	uint32_t n = (uint32_t)ptx_type_bytes((enum ptx_type)type);
	return n ? n : 4;
}

static void access(struct walker *w, const struct ptx_inst *in, struct step *s)
{
	s->bytes = bytes_of(in->type) * (in->vec_width ? in->vec_width : 1);
	s->space = in->space;
	if (in->op == PTX_OP_TEX) {
		s->space = PTX_TEX;
		s->bytes = 16; /* four values, whatever the texels are */
		s->sure = SURE_NOT;
		return;
	}
	const struct lanes l = lane_address(w, in, s->mask);
	s->buffer = l.buffer;
	s->sure = (l.known & s->mask) == s->mask ? SURE_KNOWN : l.drawn ? SURE_DRAWN : SURE_NOT;
	s->skip_l1 =
	    in->cache == PTX_CG || in->cache == PTX_CV || in->mods & (PTX_VOLATILE | PTX_RELAXED | PTX_ACQUIRE);
	if (!s->space) /* generic: buffers lie high */
		s->space = l.buffer || s->sure != SURE_KNOWN ? PTX_GLOBAL : PTX_SHARED;
	memcpy(s->address, l.v, sizeof s->address);
	if (s->sure != SURE_KNOWN)
		w->all->decided[s->number] = 2;
}

bool walker_next(struct walker *w, struct step *s)
{
	const struct ptx_func *f = w->all->entry;
	uint32_t pc = UINT32_MAX;
	uint64_t mask = 0, yes, maybe;
	for (uint64_t rest = w->alive; rest; rest &= rest - 1) {
		unsigned k = (unsigned)__builtin_ctzll(rest);
		if (w->pc[k] < pc) {
			pc = w->pc[k];
			mask = 0;
		}
		if (w->pc[k] == pc)
			mask |= 1ull << k;
	}
	if (!mask || pc >= f->inst_count) {
		w->alive = 0;
		return false;
	}
	const struct ptx_inst *in = &f->insts[pc];
	guarded(w, in, mask, &yes, &maybe);
	s->in = in;
	s->number = pc;
	s->space = 0;
	s->branched = s->parted = false;
	s->mask = in->op == PTX_OP_BRA ? mask : yes | maybe;
	set_pc(w, mask, pc + 1);
	if (in->op == PTX_OP_BRA) {
		uint32_t target = f->labels[in->operand[0].index].inst;
		if (maybe)
			yes |= guess(w, pc, false, maybe);
		s->branched = yes != 0;
		s->parted = yes && mask & ~yes;
		set_pc(w, yes, target);
		return true;
	}
	if (in->op == PTX_OP_RET || in->op == PTX_OP_EXIT) {
		if (maybe)
			yes |= guess(w, pc, true, maybe);
		w->alive &= ~yes;
		return true;
	}
	if (touches_memory(in) && s->mask)
		access(w, in, s);
	/* If it is not known whether a lane writes, what it has then is not known either. */
	lane_execute(w, in, s->mask);
	for (uint32_t k = 0; maybe && k < in->operand_count && k < 2; k++)
		if (in->operand[k].kind == PTX_OPND_REG && (k == 0 || in->op == PTX_OP_SETP || in->op == PTX_OP_SHFL))
			w->reg[in->operand[k].reg].known &= ~maybe;
	return true;
}
