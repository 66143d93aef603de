/* Rows that serve one register after another. A kernel that loops were unrolled in has more registers than there are rows, though few live at once.
 * Only such a kernel is decoded this way: registers that share a row wait for each other. */
#include "decode.h"
#include <string.h>

/* A thread has 255 registers at most (CUDA C++ Programming Guide, compute capabilities). As many rows rest before one
 * serves again, so that sharing keeps no load from standing early. */
#define REST 255u

enum { NARROW, WIDE, PREDICATE };

struct decode_life { /* of a register in a function's text */
	uint32_t first, last, block;
	uint32_t next; /* another one that ends in the same instruction, 1-based */
	bool mentioned;
	bool within; /* it lives in one basic block, which writes it before it is read */
};

static unsigned kind_of(enum ptx_type type)
{
	return type == PTX_PRED ? PREDICATE : ptx_type_bytes(type) == 8 ? WIDE : NARROW;
}

/* Whether the first operand is written and not read, and is all of a register. */
static bool first_is_result(const struct ptx_inst *in)
{
	switch (in->op) {
	case PTX_OP_MMA:
	case PTX_OP_LDMATRIX:
	case PTX_OP_MOVMATRIX:
		return true;
	case PTX_OP_WMMA:
		return !decode_word(in, "store");
	default:
		return !in->tail && ptx_writes_first((enum ptx_op)in->op);
	}
}

static void mention(struct decode_life *x, uint32_t inst, uint32_t block, bool result)
{
	if (!x->mentioned)
		*x = (struct decode_life){
		    .first = inst, .last = inst, .block = block, .mentioned = true, .within = result};
	else if (x->block != block || x->first == inst) /* the same instruction may read what it writes */
		x->within = false;
	x->last = inst;
}

static void operand_mentions(struct decode_frame *f, const struct ptx_inst *in, const struct ptx_operand *o,
			     uint32_t inst, uint32_t block, bool result)
{
	if (o->kind == PTX_OPND_VECTOR)
		for (unsigned k = 0; k < o->count; k++)
			operand_mentions(f, in, &in->vec[o->index + (int)k], inst, block, result);
	else if (o->kind == PTX_OPND_REG || (o->kind == PTX_OPND_ADDRESS && o->has_reg))
		mention(&f->life[o->reg], inst, block, result && o->kind == PTX_OPND_REG && !o->count);
}

static void find_lives(struct decode_frame *f)
{
	const struct ptx_func *func = f->f;
	uint32_t block = 0, label = 0;
	for (uint32_t k = 0; k < func->inst_count; k++) {
		const struct ptx_inst *in = &func->insts[k];
		for (; label < func->label_count && func->labels[label].inst <= k; label++)
			block += func->labels[label].inst == k;
		for (unsigned x = 0; x < in->operand_count; x++)
			operand_mentions(f, in, &in->operand[x], k, block,
					 x == 0 && in->guard < 0 && first_is_result(in));
		if (in->guard >= 0)
			mention(&f->life[in->guard], k, block, false);
		block += in->op == PTX_OP_BRA || in->op == PTX_OP_BRX || in->op == PTX_OP_RET || in->op == PTX_OP_EXIT;
	}
	for (uint32_t k = 0; k < func->reg_count; k++)
		if (func->regs[k].type == PTX_B128)
			f->life[k].within = false;
	for (uint32_t k = 0; k < func->param_count; k++)
		if (func->params[k].reg >= 0)
			f->life[func->params[k].reg] = (struct decode_life){.mentioned = true};
	for (uint32_t k = 0; k < func->ret_count; k++)
		if (func->rets[k].reg >= 0)
			f->life[func->rets[k].reg] = (struct decode_life){.mentioned = true};
}

static int give(struct decoder *d, struct decode_frame *f, uint32_t reg)
{
	struct decode_spare *s = &d->spare[kind_of((enum ptx_type)f->f->regs[reg].type)];
	if (f->row[reg] == FUNC_NONE || f->f->regs[reg].type == PTX_B128)
		return 0;
	if (mem_room((void **)&s->row, &s->cap, s->given, sizeof *s->row))
		return err_nomem(d->e);
	s->row[s->given++] = f->row[reg];
	return 0;
}

bool decode_spare_take(struct decoder *d, const struct decode_frame *f, int32_t reg, uint16_t *row)
{
	struct decode_spare *s = &d->spare[kind_of((enum ptx_type)f->f->regs[reg].type)];
	if (!f->life || !f->life[reg].within || s->given - s->taken <= REST)
		return false;
	*row = s->row[s->taken++];
	return true;
}

/* A callee's other registers live as long as its body: theirs are rows that rest when it begins. */
static void take_for_body(struct decoder *d, struct decode_frame *f)
{
	for (uint32_t k = 0; f->caller && k < f->f->reg_count; k++) {
		struct decode_spare *s = &d->spare[kind_of((enum ptx_type)f->f->regs[k].type)];
		if (f->life[k].mentioned && !f->life[k].within && f->f->regs[k].type != PTX_B128 &&
		    s->given - s->taken > REST)
			f->row[k] = s->row[s->taken++];
	}
}

int decode_spare_begin(struct decoder *d, struct decode_frame *f)
{
	if (!d->shares)
		return 0;
	f->life = mem_zero((size_t)f->f->reg_count + 1, sizeof *f->life);
	f->ends = mem_zero((size_t)f->f->inst_count + 1, sizeof *f->ends);
	if (!f->life || !f->ends)
		return err_nomem(d->e);
	find_lives(f);
	for (uint32_t k = 0; k < f->f->reg_count; k++)
		if (f->life[k].within) {
			f->life[k].next = f->ends[f->life[k].last];
			f->ends[f->life[k].last] = k + 1;
		}
	take_for_body(d, f);
	return 0;
}

int decode_spare_behind(struct decoder *d, struct decode_frame *f, uint32_t inst)
{
	for (uint32_t k = f->ends ? f->ends[inst] : 0; k; k = f->life[k - 1].next)
		DECODE_TRY(give(d, f, k - 1));
	return 0;
}

int decode_spare_end(struct decoder *d, struct decode_frame *f)
{
	for (uint32_t k = 0; f->life && k < f->f->reg_count; k++)
		if (!f->life[k].within)
			DECODE_TRY(give(d, f, k));
	return 0;
}
