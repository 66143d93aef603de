/* alloca, stacksave and stackrestore: a piece of local memory of its own, taken from its beginning on. What a function took is given back when it
 * returns. */
#include "decode.h"

#define ALLOCA_BYTES   (16u << 10) /* of a thread, as for calls */
#define ALLOCA_ALIGN   8	   /* PTX manual: unless more is asked for */
#define ALLOCA_LARGEST (1u << 15)

static bool takes(const struct ptx_module *m)
{
	for (uint32_t k = 0; k < m->func_count; k++)
		for (uint32_t n = 0; n < m->funcs[k].inst_count; n++)
			if (m->funcs[k].insts[n].op == PTX_OP_ALLOCA)
				return true;
	return false;
}

static int move(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in, uint16_t to, uint16_t from)
{
	struct decode_record r;
	DECODE_TRY(decode_begin(d, f, in, &r));
	r.i.op = EXEC_mov_64;
	r.i.dst = to;
	r.i.a = from;
	decode_reads(d, &r, from);
	decode_writes(&r, to);
	return decode_emit(d, &r);
}

int decode_stack_begin(struct decoder *d, struct decode_frame *entry)
{
	struct decode_record r;
	d->top = FUNC_NONE;
	if (!takes(d->m))
		return 0;
	d->local_bytes = (d->local_bytes + 15) & ~15ull;
	DECODE_TRY(decode_new_row(d, true, &d->top));
	DECODE_TRY(decode_begin(d, entry, d->at, &r));
	DECODE_TRY(decode_literal(d, d->local_bytes, true, &r.i.a));
	r.i.op = EXEC_mov_64;
	r.i.dst = d->top;
	decode_writes(&r, d->top);
	d->local_bytes += ALLOCA_BYTES;
	d->top_most = d->local_bytes;
	return decode_emit(d, &r);
}

int decode_stack_keep(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in, uint16_t *kept)
{
	*kept = FUNC_NONE;
	if (d->top == FUNC_NONE)
		return 0;
	DECODE_TRY(decode_new_row(d, true, kept));
	return move(d, f, in, *kept, d->top);
}

int decode_stack_back(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in, uint16_t kept)
{
	return kept == FUNC_NONE ? 0 : move(d, f, in, d->top, kept);
}

static int take(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in, unsigned bytes)
{
	const uint64_t align = in->operand_count > 2 ? in->operand[2].imm : ALLOCA_ALIGN;
	struct decode_record r;
	if (in->operand_count < 2 || in->operand_count > 3 ||
	    (in->operand_count > 2 && in->operand[2].kind != PTX_OPND_INT) || !align || align & (align - 1) ||
	    align > ALLOCA_LARGEST)
		return decode_not(d, in);
	DECODE_TRY(decode_begin(d, f, in, &r));
	DECODE_TRY(decode_result(d, f, &r, in, bytes));
	if (r.i.dst == FUNC_NONE)
		return decode_not(d, in);
	DECODE_TRY(decode_value(d, f, &r, in, 1, bytes, &r.i.a));
	r.i.op = EXEC_alloca;
	r.i.b = d->top;
	r.i.more[0] = (uint16_t)align;
	r.i.more[1] = bytes == 8;
	r.i.imm = d->top_most;
	decode_reads(d, &r, d->top);
	decode_writes(&r, d->top);
	return decode_emit(d, &r);
}

int decode_stack(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in)
{
	const bool wide = decode_word(in, "u64"), save = in->op == PTX_OP_STACKSAVE;
	struct decode_record r;
	if (in->op == PTX_OP_ALLOCA)
		return take(d, f, in, wide ? 8 : 4);
	if (in->operand_count != 1 || in->operand[0].kind != PTX_OPND_REG)
		return decode_not(d, in);
	DECODE_TRY(decode_begin(d, f, in, &r));
	if (d->top == FUNC_NONE) { /* nothing is ever taken */
		if (!save)
			return decode_emit(d, &r);
		DECODE_TRY(decode_literal(d, 0, wide, &r.i.a));
	} else if (save) {
		r.i.a = d->top;
		decode_reads(d, &r, d->top);
	}
	if (save) {
		DECODE_TRY(decode_result(d, f, &r, in, wide ? 8 : 4));
		r.i.op = wide ? EXEC_mov_64 : d->top == FUNC_NONE ? EXEC_mov_32 : EXEC_mov_32_64;
		return decode_emit(d, &r);
	}
	DECODE_TRY(decode_value(d, f, &r, in, 0, wide ? 8 : 4, &r.i.a));
	r.i.op = wide ? EXEC_mov_64 : EXEC_mov_64_u32;
	r.i.dst = d->top;
	decode_writes(&r, d->top);
	return decode_emit(d, &r);
}
