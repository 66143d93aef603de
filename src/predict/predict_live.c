#include "predict/predict_impl.h"
#include <errno.h>
#include <string.h>

static uint32_t words_of(uint8_t type)
{
	switch (type) {
	case PTX_PRED:
		return 0;
	case PTX_B64:
	case PTX_U64:
	case PTX_S64:
	case PTX_F64:
		return 2;
	case PTX_B128:
		return 4;
	default:
		return 1;
	}
}

struct live {
	const struct ptx_func *f;
	uint64_t *set; /* rows of `words`: alive before each instruction */
	uint32_t words;
};

static void use(struct live *l, uint64_t *row, const struct ptx_inst *in, const struct ptx_operand *o)
{
	if (o->kind == PTX_OPND_REG || (o->kind == PTX_OPND_ADDRESS && o->has_reg))
		row[o->reg / 64] |= 1ull << o->reg % 64;
	for (uint32_t k = 0; o->kind == PTX_OPND_VECTOR && k < o->count; k++)
		use(l, row, in, &in->vec[(uint32_t)o->index + k]);
}

static void define(struct live *l, uint64_t *row, const struct ptx_inst *in, const struct ptx_operand *o)
{
	if (o->kind == PTX_OPND_REG && in->guard < 0)
		row[o->reg / 64] &= ~(1ull << o->reg % 64);
	for (uint32_t k = 0; o->kind == PTX_OPND_VECTOR && k < o->count; k++)
		define(l, row, in, &in->vec[(uint32_t)o->index + k]);
}

static void flow(const struct live *l, uint32_t i, uint64_t *row)
{
	const struct ptx_inst *in = &l->f->insts[i];
	bool falls = in->guard >= 0 || (in->op != PTX_OP_BRA && in->op != PTX_OP_RET && in->op != PTX_OP_EXIT);
	if (in->op == PTX_OP_BRA) {
		uint32_t to = l->f->labels[in->operand[0].index].inst;
		for (uint32_t k = 0; to < l->f->inst_count && k < l->words; k++)
			row[k] |= l->set[(size_t)to * l->words + k];
	}
	for (uint32_t k = 0; falls && i + 1 < l->f->inst_count && k < l->words; k++)
		row[k] |= l->set[((size_t)i + 1) * l->words + k];
}

/* Destinations come first: how many there are, the operation says; stores and the like have none. */
static uint32_t destinations(const struct ptx_inst *in)
{
	switch (in->op) {
	case PTX_OP_ST:
	case PTX_OP_RED:
	case PTX_OP_BRA:
	case PTX_OP_BRX:
	case PTX_OP_RET:
	case PTX_OP_EXIT:
	case PTX_OP_BAR_SYNC:
	case PTX_OP_BAR_ARRIVE:
	case PTX_OP_BARRIER_SYNC:
	case PTX_OP_BAR_WARP_SYNC:
	case PTX_OP_PREFETCH:
	case PTX_OP_MEMBAR:
	case PTX_OP_FENCE:
	case PTX_OP_NANOSLEEP:
	case PTX_OP_TRAP:
		return 0;
	case PTX_OP_SETP:
	case PTX_OP_SHFL:
	case PTX_OP_MATCH:
	case PTX_OP_TESTP:
		return 2;
	default:
		return 1;
	}
}

static bool update(struct live *l, uint32_t i, uint64_t *row)
{
	const struct ptx_inst *in = &l->f->insts[i];
	uint64_t *old = &l->set[(size_t)i * l->words];
	uint32_t to = destinations(in);
	memset(row, 0, l->words * sizeof *row);
	flow(l, i, row);
	for (uint32_t k = 0; k < to && k < in->operand_count; k++)
		define(l, row, in, &in->operand[k]);
	for (uint32_t k = to; k < in->operand_count; k++)
		use(l, row, in, &in->operand[k]);
	if (in->guard >= 0)
		row[in->guard / 64] |= 1ull << in->guard % 64;
	if (!memcmp(old, row, l->words * sizeof *row))
		return false;
	memcpy(old, row, l->words * sizeof *row);
	return true;
}

int live_registers(const struct ptx_func *f, uint32_t *most, struct err *e)
{
	struct live l = {.f = f, .words = f->reg_count / 64 + 1};
	uint64_t *row = mem_alloc(l.words * sizeof *row);
	bool changed = true;
	l.set = mem_zero((size_t)(f->inst_count + 1) * l.words, sizeof *l.set);
	*most = 0;
	while (row && l.set && changed) {
		changed = false;
		for (uint32_t i = f->inst_count; i-- > 0;)
			changed |= update(&l, i, row);
	}
	for (uint32_t i = 0; row && l.set && i < f->inst_count; i++) {
		uint32_t alive = 0;
		for (uint32_t k = 0; k < f->reg_count; k++)
			if (l.set[(size_t)i * l.words + k / 64] >> k % 64 & 1)
				alive += words_of(f->regs[k].type);
		*most = alive > *most ? alive : *most;
	}
	bool failed = !row || !l.set;
	mem_free(row);
	mem_free(l.set);
	return failed ? err_nomem(e) : 0;
}
