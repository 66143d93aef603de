/* cp.async.bulk.tensor: a loop over the pieces of a box. exec_tensor.c says of each where it lies and what it is; the accesses are plain ones. */
#include "decode.h"
#include "gpu/sim/func/tensor.h"

struct box {
	const struct ptx_inst *in;
	struct decode_place global, shared;
	uint16_t kind, fill, here, test; /* rows, predicates */
	uint16_t data[2];
};

enum { WHOLE = 16, SIZES = 4 }; /* bytes of a piece, or those of an element: 1, 2, 4 or 8 */

/* What EXEC_tensor_piece gives: twice the size's logarithm, and one more where the piece is inside. */
static unsigned kind_of(unsigned bytes, bool inside)
{
	return 2u * (unsigned)__builtin_ctz(bytes) + inside;
}

static int if_kind(struct decoder *d, struct decode_frame *f, const struct box *b, unsigned kind)
{
	return decode_test(d, f, b->in, PTX_EQ, b->kind, kind, b->test);
}

/* Lanes whose piece is outside take what stands for it. */
static int in_one(struct decoder *d, struct decode_frame *f, const struct box *b, unsigned bytes)
{
	const unsigned rows = bytes > 8 ? 2 : 1;
	DECODE_TRY(if_kind(d, f, b, kind_of(bytes, true)));
	DECODE_TRY(decode_move_bytes(d, f, b->in, b->test, PTX_GLOBAL, &b->global, bytes, b->data, false));
	DECODE_TRY(decode_move_bytes(d, f, b->in, b->test, PTX_SHARED, &b->shared, bytes, b->data, true));
	DECODE_TRY(if_kind(d, f, b, kind_of(bytes, false)));
	for (unsigned k = 0; k < rows; k++) {
		const struct decode_place to = {.row = b->data[k]};
		DECODE_TRY(decode_step(d, f, b->in, b->test, bytes < 8 ? EXEC_mov_32_64 : EXEC_mov_64, &to, b->fill,
				       FUNC_NONE));
	}
	return decode_move_bytes(d, f, b->in, b->test, PTX_SHARED, &b->shared, bytes, b->data, true);
}

/* Elements of binary32 that are flushed or rounded on their way in. */
static int in_rounded(struct decoder *d, struct decode_frame *f, const struct box *b)
{
	struct decode_record r;
	for (unsigned t = TENSOR_F32_FTZ; t < TENSOR_TYPES; t++) {
		DECODE_TRY(if_kind(d, f, b, EXEC_TENSOR_ROUNDED + t));
		DECODE_TRY(decode_move_bytes(d, f, b->in, b->test, PTX_GLOBAL, &b->global, 4, b->data, false));
		DECODE_TRY(decode_begin_on(d, f, b->in, &r, b->test));
		r.i.op = EXEC_tensor_value;
		r.i.dst = r.i.a = b->data[0];
		r.i.imm = t;
		decode_reads(d, &r, b->data[0]);
		decode_writes(&r, b->data[0]);
		DECODE_TRY(decode_emit(d, &r));
		DECODE_TRY(decode_move_bytes(d, f, b->in, b->test, PTX_SHARED, &b->shared, 4, b->data, true));
	}
	return 0;
}

static int out_one(struct decoder *d, struct decode_frame *f, const struct box *b, unsigned bytes)
{
	DECODE_TRY(if_kind(d, f, b, kind_of(bytes, true)));
	DECODE_TRY(decode_move_bytes(d, f, b->in, b->test, PTX_SHARED, &b->shared, bytes, b->data, false));
	return decode_move_bytes(d, f, b->in, b->test, PTX_GLOBAL, &b->global, bytes, b->data, true);
}

/* The type of the elements is the map's, which is known when the kernel runs. */
static int reduce(struct decoder *d, struct decode_frame *f, struct box *b, const uint16_t narrow, const uint16_t wide)
{
	static const enum ptx_type types[TENSOR_TYPES] = {
	    [TENSOR_U32] = PTX_U32, [TENSOR_S32] = PTX_S32, [TENSOR_U64] = PTX_U64, [TENSOR_S64] = PTX_S64,
	    [TENSOR_F16] = PTX_F16, [TENSOR_F32] = PTX_F32, [TENSOR_F64] = PTX_F64, [TENSOR_BF16] = PTX_BF16};
	const enum ptx_atom atom = decode_atom(b->in);
	for (unsigned t = 0; t < TENSOR_TYPES; t++) {
		const unsigned bytes = tensor_element(t);
		if (!types[t])
			continue;
		b->data[0] = bytes == 8 ? wide : narrow;
		DECODE_TRY(if_kind(d, f, b, 1 + t));
		DECODE_TRY(decode_move_bytes(d, f, b->in, b->test, PTX_SHARED, &b->shared, bytes, b->data, false));
		DECODE_TRY(decode_reduce(d, f, b->in, b->test, PTX_GLOBAL, &b->global, atom, types[t], b->data[0]));
	}
	return 0;
}

static int body(struct decoder *d, struct decode_frame *f, struct box *b, bool load)
{
	uint16_t narrow, wide, upper;
	DECODE_TRY(decode_new_row(d, false, &narrow));
	DECODE_TRY(decode_new_row(d, true, &wide));
	if (decode_word(b->in, "reduce"))
		return reduce(d, f, b, narrow, wide);
	DECODE_TRY(decode_new_row(d, true, &upper));
	b->data[0] = wide;
	b->data[1] = upper;
	DECODE_TRY(load ? in_one(d, f, b, WHOLE) : out_one(d, f, b, WHOLE));
	DECODE_TRY(if_kind(d, f, b, kind_of(WHOLE, true)));
	const uint32_t past = d->n;
	DECODE_TRY(decode_jump(d, f, b->in, b->test, 0));
	for (unsigned k = 0; k < SIZES; k++) {
		b->data[0] = k == SIZES - 1 ? wide : narrow;
		DECODE_TRY(load ? in_one(d, f, b, 1u << k) : out_one(d, f, b, 1u << k));
	}
	b->data[0] = narrow;
	DECODE_TRY(load ? in_rounded(d, f, b) : 0);
	d->inst[past].target = d->n;
	return 0;
}

static int coordinates(struct decoder *d, struct decode_frame *f, struct decode_record *r, const struct ptx_inst *in,
		       const struct ptx_operand *o, unsigned most)
{
	const unsigned n = !o ? 0 : o->kind == PTX_OPND_VECTOR ? o->count : 1;
	uint16_t row;
	if (n > most)
		return decode_not(d, in);
	DECODE_TRY(decode_keep_row(d, (uint16_t)n));
	for (unsigned k = 0; k < n; k++) {
		const struct ptx_operand *e = o->kind == PTX_OPND_VECTOR ? &in->vec[o->index + (int)k] : o;
		if (e->kind != PTX_OPND_REG && e->kind != PTX_OPND_INT)
			return decode_not(d, in);
		DECODE_TRY(decode_source(d, f, r, e, PTX_B32, &row));
		DECODE_TRY(decode_keep_row(d, row));
	}
	return 0;
}

int decode_tensor(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in,
		  const struct decode_place *shared, uint16_t on, bool load, uint16_t *bytes)
{
	struct decode_record r;
	struct decode_place n = {.wide = false}, left = {.wide = false};
	struct box b = {.in = in, .global.wide = true, .shared.wide = shared->wide};
	const struct ptx_operand *map = &in->operand[load ? 1 : 0], *at = map + 1,
				 *offsets = load && decode_word(in, "im2col") && in->operand_count > 4 ? &in->operand[4]
												       : NULL;
	const unsigned flags = (decode_word(in, "reduce") ? EXEC_TENSOR_REDUCES : 0) | (load ? EXEC_TENSOR_LOADS : 0) |
			       (shared->wide ? EXEC_TENSOR_WIDE : 0);
	uint16_t from;
	if (map->kind != PTX_OPND_REG || !decode_reg_wide(f, map->reg))
		return decode_not(d, in);
	DECODE_TRY(decode_reg(d, f, map->reg, &from));
	uint16_t *const rows[] = {&n.row, &left.row, &b.kind, bytes, &b.global.row, &b.fill, &b.shared.row};
	for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
		DECODE_TRY(decode_new_row(d, k == 4 || k == 5 || (k == 6 && shared->wide), rows[k]));
	DECODE_TRY(decode_new_pred(d, &b.here));
	DECODE_TRY(decode_new_pred(d, &b.test));
	/* Lanes that take no part have no pieces, and a kind that is none. */
	const struct {
		uint16_t row;
		uint32_t value;
	} first[] = {{n.row, 0}, {left.row, 0}, {b.kind, UINT32_MAX}};
	for (size_t k = 0; k < sizeof first / sizeof *first; k++) {
		DECODE_TRY(decode_begin_on(d, f, in, &r, FUNC_NONE));
		r.i.op = EXEC_mov_32;
		r.i.dst = first[k].row;
		DECODE_TRY(decode_literal(d, first[k].value, false, &r.i.a));
		decode_writes(&r, first[k].row);
		DECODE_TRY(decode_emit(d, &r));
	}
	DECODE_TRY(on == FUNC_NONE ? decode_begin(d, f, in, &r) : decode_begin_on(d, f, in, &r, on));
	const uint32_t many = d->manies;
	DECODE_TRY(coordinates(d, f, &r, in, at, TENSOR_RANK));
	DECODE_TRY(coordinates(d, f, &r, in, offsets, TENSOR_RANK - 2));
	if (!d->many[many])
		return decode_not(d, in);
	r.i.op = EXEC_tensor;
	r.i.dst = left.row;
	r.i.more[0] = *bytes;
	r.i.a = from;
	r.i.b = d->many[many + 1];
	r.i.imm = flags;
	decode_reads(d, &r, from);
	decode_writes(&r, left.row);
	decode_writes(&r, *bytes);
	DECODE_TRY(decode_emit(d, &r));
	DECODE_TRY(decode_test(d, f, in, PTX_NE, left.row, 0, b.here));
	const uint32_t again = d->n;
	DECODE_TRY(decode_begin_on(d, f, in, &r, b.here));
	r.i.op = EXEC_tensor_piece;
	r.i.dst = b.global.row;
	r.i.a = from;
	r.i.b = shared->row;
	r.i.c = n.row;
	r.i.imm = many;
	r.i.more[0] = b.shared.row;
	r.i.more[1] = b.kind;
	r.i.more[2] = b.fill;
	r.i.more[3] = (uint16_t)flags;
	const uint16_t read[] = {from, shared->row, n.row}, written[] = {b.global.row, b.shared.row, b.kind, b.fill};
	for (size_t k = 0; k < sizeof read / sizeof *read; k++)
		decode_reads(d, &r, read[k]);
	for (size_t k = 0; k < sizeof written / sizeof *written; k++)
		decode_writes(&r, written[k]);
	DECODE_TRY(decode_emit(d, &r));
	DECODE_TRY(body(d, f, &b, load));
	DECODE_TRY(decode_add(d, f, in, b.here, &n, 1));
	DECODE_TRY(decode_add(d, f, in, b.here, &left, UINT32_MAX));
	DECODE_TRY(decode_test(d, f, in, PTX_NE, left.row, 0,
			       b.here)); /* a lane that is done must not meet its last piece again */
	return decode_jump(d, f, in, b.here, again);
}
