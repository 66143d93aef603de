/* Moves, packing, conversions, special registers. */
#include "decode.h"
#include <string.h>

/* One record from row a (and b) to row dst; a helper for instructions that take several. */
static int move(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in, unsigned op, uint16_t dst,
		uint16_t a, uint16_t b)
{
	struct decode_record r;
	DECODE_TRY(decode_begin(d, f, in, &r));
	r.i.op = (uint16_t)op;
	r.i.dst = dst;
	r.i.a = a;
	r.i.b = b;
	decode_reads(d, &r, a);
	if (b != FUNC_NONE)
		decode_reads(d, &r, b);
	decode_writes(&r, dst);
	return decode_emit(d, &r);
}

/* bytes: of an element, when it is a constant */
static int element_row(struct decoder *d, struct decode_frame *f, const struct ptx_operand *o, unsigned bytes,
		       uint16_t *row)
{
	*row = FUNC_NONE;
	if (o->kind == PTX_OPND_INT)
		return decode_literal(d, bytes < 8 ? o->imm & ((1ull << bytes * 8) - 1) : o->imm, bytes == 8, row);
	return o->kind == PTX_OPND_SINK ? 0 : decode_reg(d, f, o->reg, row);
}

static int unpack(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in)
{
	const struct ptx_operand *list = &in->operand[0];
	bool wide = ptx_type_bytes((enum ptx_type)in->type) == 8;
	struct decode_record scratch;
	uint16_t from = FUNC_NONE, half[2] = {FUNC_NONE, FUNC_NONE}, row = FUNC_NONE;
	DECODE_TRY(decode_begin(d, f, in, &scratch));
	DECODE_TRY(decode_source(d, f, &scratch, &in->operand[1], (enum ptx_type)in->type, &from));
	for (unsigned k = 0; k < list->count; k++) {
		DECODE_TRY(element_row(d, f, &in->vec[list->index + (int)k], 0, &row));
		if (list->count == 4 && k % 2 == 0) {
			DECODE_TRY(decode_new_row(d, false, &half[k / 2]));
			DECODE_TRY(move(d, f, in, k ? EXEC_unpack_hi : EXEC_mov_32_64, half[k / 2], from, FUNC_NONE));
		}
		if (row == FUNC_NONE)
			continue;
		if (list->count == 4)
			DECODE_TRY(
			    move(d, f, in, k % 2 ? EXEC_unpack_16_hi : EXEC_unpack_16, row, half[k / 2], FUNC_NONE));
		else if (wide)
			DECODE_TRY(move(d, f, in, k ? EXEC_unpack_hi : EXEC_mov_32_64, row, from, FUNC_NONE));
		else
			DECODE_TRY(move(d, f, in, k ? EXEC_unpack_16_hi : EXEC_unpack_16, row, from, FUNC_NONE));
	}
	return 0;
}

static int pack(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in)
{
	const struct ptx_operand *list = &in->operand[1];
	bool wide = ptx_type_bytes((enum ptx_type)in->type) == 8;
	uint16_t dst = FUNC_NONE, row[4] = {FUNC_NONE, FUNC_NONE, FUNC_NONE, FUNC_NONE},
		 half[2] = {FUNC_NONE, FUNC_NONE};
	DECODE_TRY(decode_reg(d, f, in->operand[0].reg, &dst));
	for (unsigned k = 0; k < list->count; k++)
		DECODE_TRY(element_row(d, f, &in->vec[list->index + (int)k],
				       ptx_type_bytes((enum ptx_type)in->type) / list->count, &row[k]));
	if (list->count == 2)
		return move(d, f, in, wide ? EXEC_pack_64 : EXEC_pack_32, dst, row[0], row[1]);
	for (unsigned k = 0; k < 2; k++) {
		DECODE_TRY(decode_new_row(d, false, &half[k]));
		DECODE_TRY(move(d, f, in, EXEC_pack_32, half[k], row[2 * k], row[2 * k + 1]));
	}
	return move(d, f, in, EXEC_pack_64, dst, half[0], half[1]);
}

static bool is_clock(int sreg)
{
	return sreg >= PTX_SREG_CLOCK && sreg <= PTX_SREG_GLOBALTIMER_HI;
}

static int read_sreg(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in, int sreg, unsigned bytes,
		     uint16_t dst)
{
	struct decode_record r;
	DECODE_TRY(decode_begin(d, f, in, &r));
	r.i.op = is_clock(sreg) ? EXEC_clock : EXEC_sreg;
	r.i.kind = is_clock(sreg) ? FUNC_CLOCK : FUNC_ALU;
	r.i.dst = dst;
	r.i.more[0] = (uint16_t)sreg;
	r.i.more[1] = (uint16_t)bytes;
	decode_writes(&r, dst);
	return decode_emit(d, &r);
}

/* %is_explicit_cluster */
static int read_pred(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in)
{
	struct decode_record r;
	uint16_t word;
	DECODE_TRY(decode_new_row(d, false, &word));
	DECODE_TRY(read_sreg(d, f, in, in->operand[1].index, 4, word));
	DECODE_TRY(decode_begin(d, f, in, &r));
	DECODE_TRY(decode_dest(d, f, &r, &in->operand[0], &r.i.dst));
	DECODE_TRY(decode_literal(d, 0, false, &r.i.b));
	r.i.op = (uint16_t)decode_compare(PTX_NE, PTX_U32);
	r.i.a = word;
	decode_reads(d, &r, word);
	return decode_emit(d, &r);
}

/* Of 128 bits: its halves, each from a register of 64 bits or to one, or both in one register. */
static int large(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in)
{
	struct ptx_operand half[2][2];
	for (unsigned k = 0; k < 2; k++) {
		const struct ptx_operand *o = &in->operand[k];
		if (o->kind == PTX_OPND_VECTOR)
			memcpy(half[k], &in->vec[o->index], sizeof half[k]);
		else if (o->kind == PTX_OPND_REG)
			decode_halves(o, half[k]);
		else
			return decode_fail(d, "a move of 128 bits takes a register or a list of two");
	}
	for (unsigned k = 0; k < 2; k++) {
		struct decode_record r;
		if (half[0][k].kind == PTX_OPND_SINK)
			continue;
		DECODE_TRY(decode_begin(d, f, in, &r));
		DECODE_TRY(decode_dest(d, f, &r, &half[0][k], &r.i.dst));
		DECODE_TRY(decode_source(d, f, &r, &half[1][k], PTX_B64, &r.i.a));
		r.i.op = EXEC_mov_64;
		DECODE_TRY(decode_emit(d, &r));
	}
	return 0;
}

static bool written_before(const struct ptx_operand *to, unsigned k, const struct ptx_operand *from)
{
	for (unsigned n = 0; n < k && from->kind == PTX_OPND_REG; n++)
		if (to[n].kind == PTX_OPND_REG && to[n].reg == from->reg)
			return true;
	return false;
}

/* One move an element. All are read before one is written: those that would come too late are kept first. */
static int vector(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in)
{
	const struct ptx_operand *to = &in->vec[in->operand[0].index], *from = &in->vec[in->operand[1].index];
	const bool wide = ptx_type_bytes((enum ptx_type)in->type) == 8;
	const unsigned op = wide ? EXEC_mov_64 : EXEC_mov_32;
	uint16_t kept[4], row = FUNC_NONE;
	struct ptx_inst one = *in;
	one.vec_width = 1;
	for (unsigned k = 0; k < in->vec_width; k++)
		if (written_before(to, k, &from[k])) {
			DECODE_TRY(decode_new_row(d, wide, &kept[k]));
			DECODE_TRY(decode_reg(d, f, from[k].reg, &row));
			DECODE_TRY(move(d, f, in, op, kept[k], row, FUNC_NONE));
		}
	for (unsigned k = 0; k < in->vec_width; k++) {
		if (to[k].kind == PTX_OPND_SINK)
			continue;
		one.operand[0] = to[k];
		one.operand[1] = from[k];
		if (!written_before(to, k, &from[k])) {
			DECODE_TRY(decode_mov(d, f, &one));
			continue;
		}
		DECODE_TRY(decode_reg(d, f, to[k].reg, &row));
		DECODE_TRY(move(d, f, in, op, row, kept[k], FUNC_NONE));
	}
	return 0;
}

int decode_mov(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in)
{
	struct decode_record r;
	unsigned bytes = ptx_type_bytes((enum ptx_type)in->type);
	uint16_t dst;
	if (in->type == PTX_PRED)
		return in->operand[1].kind == PTX_OPND_SREG ? read_pred(d, f, in) : decode_logic_pred(d, f, in);
	if (in->type == PTX_B128)
		return large(d, f, in);
	if (in->vec_width > 1)
		return vector(d, f, in);
	if (in->operand[0].kind == PTX_OPND_VECTOR)
		return unpack(d, f, in);
	if (in->operand[1].kind == PTX_OPND_VECTOR)
		return pack(d, f, in);
	if (in->operand[1].kind == PTX_OPND_SREG) {
		DECODE_TRY(decode_reg(d, f, in->operand[0].reg, &dst));
		return read_sreg(d, f, in, in->operand[1].index, bytes, dst);
	}
	DECODE_TRY(decode_begin(d, f, in, &r));
	DECODE_TRY(decode_dest(d, f, &r, &in->operand[0], &r.i.dst));
	DECODE_TRY(decode_source(d, f, &r, &in->operand[1], (enum ptx_type)in->type, &r.i.a));
	r.i.op = bytes == 8 ? EXEC_mov_64 : EXEC_mov_32;
	return decode_emit(d, &r);
}

/* Conversions that are a move, an extension or one C conversion. -1: the general handler */
static int plain_cvt(enum ptx_type to, enum ptx_type from, int round, unsigned width)
{
	unsigned n = ptx_type_bytes(to), m = ptx_type_bytes(from);
	bool to_float = ptx_type_class(to) == 'f', from_float = ptx_type_class(from) == 'f';
	if (width != n || n == 1 || m == 1)
		return -1;
	if (!to_float && !from_float) {
		if (n == m)
			return n == 8 ? EXEC_mov_64 : EXEC_mov_32;
		if (n == 8 && m == 4)
			return ptx_type_signed(from) ? EXEC_mov_64_s32 : EXEC_mov_64_u32;
		if (n == 4 && m == 8)
			return EXEC_mov_32_64;
		if (n == 4 && m == 2)
			return ptx_type_signed(from) ? EXEC_mov_s32_s16 : EXEC_mov_32_u16;
		return n == 2 && m == 4 ? EXEC_mov_32_u16 : -1;
	}
	if (to == PTX_F64 && from == PTX_F32 && !round)
		return EXEC_cvt_f64_f32;
	if (m != 4 || from_float || round != PTX_RN)
		return -1;
	if (to == PTX_F32)
		return ptx_type_signed(from) ? EXEC_cvt_f32_s32 : EXEC_cvt_f32_u32;
	return to != PTX_F64 ? -1 : ptx_type_signed(from) ? EXEC_cvt_f64_s32 : EXEC_cvt_f64_u32;
}

int decode_cvt(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in)
{
	struct decode_record r;
	enum ptx_type to = (enum ptx_type)in->type, from = (enum ptx_type)in->type2;
	const struct ptx_operand *o = &in->operand[1];
	unsigned width = ptx_type_bytes((enum ptx_type)f->f->regs[in->operand[0].reg].type), flags = 0;
	uint16_t low = FUNC_NONE;
	if (o->kind == PTX_OPND_SREG) {
		bool wide = ptx_type_bytes(from) == 8;
		DECODE_TRY(decode_new_row(d, wide, &low));
		DECODE_TRY(read_sreg(d, f, in, o->index, ptx_type_bytes(from), low));
	} else if (o->kind == PTX_OPND_REG && decode_reg_wide(f, o->reg) && ptx_type_bytes(from) < 8) {
		uint16_t whole;
		DECODE_TRY(decode_reg(d, f, o->reg, &whole));
		DECODE_TRY(decode_new_row(d, false, &low));
		DECODE_TRY(move(d, f, in, EXEC_mov_32_64, low, whole, FUNC_NONE));
	}
	DECODE_TRY(decode_begin(d, f, in, &r));
	DECODE_TRY(decode_dest(d, f, &r, &in->operand[0], &r.i.dst));
	if (low != FUNC_NONE) {
		r.i.a = low;
		decode_reads(d, &r, low);
	} else {
		DECODE_TRY(decode_source(d, f, &r, o, from, &r.i.a));
	}
	r.i.b = r.i.a;
	if (ptx_cvt_pairs(in))
		DECODE_TRY(decode_source(d, f, &r, &in->operand[2], from, &r.i.b));
	flags |= in->mods & PTX_SAT ? EXEC_SAT : 0;
	flags |= in->mods & PTX_SATFINITE ? EXEC_SATFINITE : 0;
	flags |= in->mods & PTX_RELU ? EXEC_RELU : 0;
	flags |= in->mods & PTX_FTZ || decode_flushes(d, to) || decode_flushes(d, from) ? EXEC_FTZ : 0;
	bool floats = ptx_type_class(to) == 'f' && ptx_type_class(from) == 'f';
	int plain = flags & (EXEC_SAT | EXEC_SATFINITE | EXEC_RELU) || (flags & EXEC_FTZ && floats)
			? -1
			: plain_cvt(to, from, in->round, width);
	const uint32_t small = 1u << PTX_E4M3X2 | 1u << PTX_E5M2X2 | 1u << PTX_TF32 | 1u << PTX_BF16X2;
	r.i.op = (small >> to | small >> from) & 1 ? EXEC_cvt_small : plain >= 0 ? (uint16_t)plain : EXEC_cvt;
	r.i.more[0] = in->type;
	r.i.more[1] = in->type2;
	r.i.more[2] = in->round;
	r.i.more[3] = (uint16_t)(flags | width << EXEC_WIDTH_SHIFT);
	return decode_emit(d, &r);
}

/* cvta adds or takes off the window of the space; global addresses are themselves. */
int decode_cvta(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in)
{
	struct decode_record r;
	enum ptx_type t = (enum ptx_type)in->type;
	uint64_t window = 0;
	switch (in->space) {
	case PTX_SHARED:
		window = FUNC_SHARED_WINDOW;
		break;
	case PTX_LOCAL:
		window = FUNC_LOCAL_WINDOW;
		break;
	case PTX_CONST:
		window = FUNC_CONST_WINDOW;
		break;
	case PTX_GLOBAL:
		break;
	default:
		window = f->f->entry ? FUNC_PARAM_WINDOW : FUNC_LOCAL_WINDOW;
		break;
	}
	bool wide = ptx_type_bytes(t) == 8, to = in->mods & PTX_TO;
	DECODE_TRY(decode_begin(d, f, in, &r));
	DECODE_TRY(decode_dest(d, f, &r, &in->operand[0], &r.i.dst));
	DECODE_TRY(decode_source(d, f, &r, &in->operand[1], t, &r.i.a));
	DECODE_TRY(decode_literal(d, window, wide, &r.i.b));
	if (!window)
		r.i.op = wide ? EXEC_mov_64 : EXEC_mov_32;
	else if (to)
		r.i.op = wide ? EXEC_sub_u64 : EXEC_sub_u32;
	else
		r.i.op = wide ? EXEC_add_u64 : EXEC_add_u32;
	return decode_emit(d, &r);
}
