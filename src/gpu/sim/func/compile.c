#include "gpu/sim/func/compile.h"
#include "gpu/sim/func/compile_impl.h"
#include "gpu/sim/func/decode.h"
#include "gpu/sim/func/fold.h"
#include <errno.h>

#define OTHERS 3 /* registers for what has none here: the stack pointer and the address of the next load */
#define STEP   8 /* registers of a thread by which an SM holds fewer of them */

bool stretch_in(uint16_t slot, const uint16_t *list, uint32_t count)
{
	for (uint32_t k = 0; k < count; k++)
		if (list[k] == slot)
			return true;
	return false;
}

/* Register in, register out, and all of both are listed. */
bool stretch_is_plain(const struct func_inst *i, const struct func_info *n)
{
	bool listed = n->read_count < FUNC_READS && n->write_count < FUNC_WRITES;
	return i->kind == FUNC_ALU && listed && (n->ptx_op <= PTX_OP_SHFL || n->ptx_op == PTX_OP_LD);
}

/* It may move with a load whose address it computes. Lanes of a shuffle have to come together, and a carry has no slot. */
bool stretch_may_move(const struct func_inst *i, const struct func_info *n)
{
	bool carries =
	    n->ptx_op == PTX_OP_ADDC || n->ptx_op == PTX_OP_SUBC || n->ptx_op == PTX_OP_MADC || n->mods & PTX_CC_OUT;
	return stretch_is_plain(i, n) && !(i->flags & FUNC_GATHER) && n->ptx_op != PTX_OP_SHFL && !carries;
}

bool stretch_is_name(const struct func_inst *i, const struct func_info *n)
{
	switch (n->ptx_op) {
	case PTX_OP_LD:
		return (n->space == PTX_PARAM || n->space == PTX_CONST) && !n->read_count;
	case PTX_OP_MOV:
		return i->op == EXEC_mov_32 || i->op == EXEC_mov_64;
	case PTX_OP_CVTA:
		return true;
	case PTX_OP_CVT:
		return n->type == PTX_U64 && n->type2 == PTX_U32;
	default:
		return false;
	}
}

/* An operand, and no load: what it reads is named by the code. */
static bool is_constant(const struct func_inst *i, const struct func_info *n)
{
	return i->kind == FUNC_LOAD && i->space == PTX_CONST && !n->read_count;
}

/* The same for all threads of a block, where what it reads is. */
static bool is_uniform(const struct func_inst *i, const struct func_info *n)
{
	switch (n->ptx_op) {
	case PTX_OP_MOV:
		return i->op != EXEC_sreg || (i->more[0] >= PTX_SREG_NTID_X && i->more[0] <= PTX_SREG_NTID_Z) ||
		       (i->more[0] >= PTX_SREG_CTAID_X && i->more[0] <= PTX_SREG_NCTAID_Z);
	case PTX_OP_ADD:
	case PTX_OP_SUB:
	case PTX_OP_MUL:
	case PTX_OP_MAD:
	case PTX_OP_SHL:
	case PTX_OP_SHR:
	case PTX_OP_AND:
	case PTX_OP_OR:
	case PTX_OP_XOR:
	case PTX_OP_NEG:
		return i->kind == FUNC_ALU && i->guard == FUNC_NONE && ptx_type_class((enum ptx_type)n->type) != 'f';
	default:
		return false;
	}
}

/* For each row, whether it holds only what instructions take at its place, or what a block has once. Such a row is no
 * register of a thread. */
static bool *find_names(const struct func_program *p)
{
	bool *none = mem_zero((size_t)p->rows + p->preds + 1, sizeof *none), changed = none;
	for (uint32_t r = 0; none && r < p->rows; r++)
		none[r] = true;
	while (changed) {
		changed = false;
		for (uint32_t k = 0; k < p->inst_count; k++) {
			const struct func_info *n = &p->info[k];
			bool name = stretch_is_name(&p->inst[k], n) || is_uniform(&p->inst[k], n);
			for (uint32_t r = 0; r < n->read_count; r++)
				name &= none[n->read[r]];
			for (uint32_t w = 0; w < n->write_count && !name; w++) {
				changed |= none[n->write[w]];
				none[n->write[w]] = false;
			}
		}
	}
	/* The base of an address is added from a register. */
	for (uint32_t r = 0; none && r < p->rows; r++)
		none[r] &= !p->wide[r];
	return none;
}

static int order(struct func_program *q, struct func_inst *inst, struct func_info *info, const bool *leader,
		 uint32_t registers)
{
	uint16_t *live = mem_zero((size_t)q->inst_count + 1, sizeof *live);
	bool *none = find_names(q);
	int r = live && none ? func_pressure(q, none, live) : -ENOMEM;
	uint32_t peak = 0;
	for (uint32_t k = 0; k < q->inst_count && !r; k++)
		peak = live[k] > peak ? live[k] : peak;
	while (registers < peak + OTHERS)
		registers += STEP;
	for (uint32_t k = 0, end; !r && k < q->inst_count; k = end) {
		for (end = k + 1; !leader[end]; end++)
			;
		struct stretch s = {.inst = inst + k, .info = info + k, .live = live + k, .count = end - k};
		stretch_hoist(&s, registers - OTHERS);
	}
	mem_free(live);
	mem_free(none);
	return r;
}

int func_compile(struct func_program **out, struct arena *a, const struct func_program *p, uint32_t registers)
{
	struct func_program *q = arena_copy(a, p, sizeof *p);
	struct func_inst *inst = arena_copy(a, p->inst, p->inst_count * sizeof *inst);
	struct func_info *info = arena_copy(a, p->info, p->inst_count * sizeof *info);
	bool *leader = func_leaders(p);
	int r = q && inst && info && leader ? 0 : -ENOMEM;
	for (uint32_t k = 0; !r && k < p->inst_count; k++)
		if (is_constant(&inst[k], &info[k]))
			inst[k].kind = FUNC_ALU;
	if (!r) {
		q->inst = inst;
		q->info = info;
		r = order(q, inst, info, leader, registers);
	}
	if (!r)
		r = func_narrow(q, inst, info);
	if (!r)
		r = func_fuse(q, inst, info, leader);
	if (!r)
		*out = q;
	mem_free(leader);
	return r;
}
