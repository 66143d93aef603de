/* What textures and surfaces are, changes of a tensor's map, and memory of several GPUs: each by plain records. */
#include "decode.h"
#include "gpu/sim/func/tensor.h"
#include <stddef.h>
#include <string.h>

/* txq and suq */
int decode_query(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in)
{
	static const struct {
		const char *word;
		enum exec_query what;
	} all[] = {{"width", QUERY_WIDTH},
		   {"height", QUERY_HEIGHT},
		   {"depth", QUERY_DEPTH},
		   {"array_size", QUERY_LAYERS},
		   {"num_mipmap_levels", QUERY_ONE},
		   {"num_samples", QUERY_ONE},
		   {"channel_data_type", QUERY_CHANNEL},
		   {"channel_order", QUERY_ORDER},
		   {"normalized_coords", QUERY_NORMALIZED},
		   {"force_unnormalized_coords", QUERY_ZERO},
		   {"filter_mode", QUERY_FILTER},
		   {"addr_mode_0", QUERY_ADDRESS},
		   {"addr_mode_1", QUERY_ADDRESS + 1},
		   {"addr_mode_2", QUERY_ADDRESS + 2}};
	const bool level = decode_word(in, "level"); /* the first one is all there is: others are as it is */
	const struct ptx_operand *o = &in->operand[1];
	struct decode_record r;
	if (in->operand_count != (level ? 3 : 2) || o->kind != PTX_OPND_ADDRESS)
		return decode_not(d, in);
	for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
		if (!decode_word(in, all[k].word))
			continue;
		DECODE_TRY(decode_begin(d, f, in, &r));
		DECODE_TRY(decode_result(d, f, &r, in, 4));
		if (r.i.dst == FUNC_NONE)
			return decode_not(d, in);
		r.i.op = EXEC_query;
		r.i.more[0] = (uint16_t)all[k].what;
		const bool named = !o->has_reg && o->sym >= 0 && d->m->vars[o->sym].space == PTX_TEX;
		if (named) {
			DECODE_TRY(decode_literal(d, decode_symbol(d, f, o->sym), true, &r.i.a));
		} else if (o->has_reg && decode_reg_wide(f, o->reg)) {
			DECODE_TRY(decode_reg(d, f, o->reg, &r.i.a));
			decode_reads(d, &r, r.i.a);
		} else {
			return decode_not(d, in);
		}
		return decode_emit(d, &r);
	}
	return decode_not(d, in);
}

/* istypep: whether an address is that of a variable of such a type. What a handle stands for is no variable. */
int decode_kind(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in)
{
	const enum ptx_opaque want = decode_word(in, "texref")	     ? PTX_TEXREF
				     : decode_word(in, "samplerref") ? PTX_SAMPLERREF
				     : decode_word(in, "surfref")    ? PTX_SURFREF
								     : PTX_OPAQUE_NONE;
	struct decode_record r;
	uint16_t yes, result, address;
	if (in->operand_count != 2 || want == PTX_OPAQUE_NONE || !decode_is_pred(f, &in->operand[0]) ||
	    in->operand[1].kind != PTX_OPND_REG || !decode_reg_wide(f, in->operand[1].reg))
		return decode_not(d, in);
	DECODE_TRY(decode_constant_pred(d, f, in, 0, &yes));
	DECODE_TRY(decode_reg(d, f, in->operand[1].reg, &address));
	for (uint32_t k = 0; k < d->m->var_count; k++) {
		if (d->m->vars[k].space != PTX_TEX || d->m->vars[k].opaque != want)
			continue;
		DECODE_TRY(decode_begin(d, f, in, &r));
		r.i.op = (uint16_t)decode_compare(PTX_EQ, PTX_U64);
		DECODE_TRY(decode_new_pred(d, &r.i.dst));
		r.i.a = address;
		DECODE_TRY(decode_literal(d, d->address[k], true, &r.i.b));
		decode_reads(d, &r, address);
		decode_writes(&r, DECODE_PRED_SLOT + r.i.dst);
		const uint16_t same = r.i.dst;
		DECODE_TRY(decode_emit(d, &r));
		DECODE_TRY(decode_begin_on(d, f, in, &r, same));
		r.i.op = EXEC_pred_set;
		r.i.dst = yes;
		r.i.imm = 1;
		decode_writes(&r, DECODE_PRED_SLOT + yes);
		DECODE_TRY(decode_emit(d, &r));
	}
	DECODE_TRY(decode_begin(d, f, in, &r));
	DECODE_TRY(decode_dest(d, f, &r, &in->operand[0], &result));
	r.i.op = EXEC_pred;
	r.i.dst = result;
	r.i.a = yes;
	r.i.more[0] = PTX_OP_MOV;
	r.i.more[1] = 0;
	decode_reads(d, &r, DECODE_PRED_SLOT + yes);
	return decode_emit(d, &r);
}

/* ---- tensormap ---- */

static enum ptx_space space_of(const struct ptx_inst *in)
{
	return decode_word(in, "global")				     ? PTX_GLOBAL
	       : decode_word(in, "shared::cta") || decode_word(in, "shared") ? PTX_SHARED
									     : PTX_GENERIC;
}

/* A field of the map: where it lies, and what an immediate value of the instruction stands for. */
struct field {
	const char *word;
	size_t at;
	unsigned bytes;
	bool counted; /* one of several: a number of it comes first */
};

/* PTX manual, tensormap.replace: its numbers of types are not those of the driver's. */
static bool number_of(const struct ptx_inst *in, const struct ptx_operand *o, uint64_t *value)
{
	static const uint8_t types[] = {TENSOR_U8,   TENSOR_U16,  TENSOR_U32,	  TENSOR_S32,	  TENSOR_U64,
					TENSOR_S64,  TENSOR_F16,  TENSOR_F32,	  TENSOR_F32_FTZ, TENSOR_F64,
					TENSOR_BF16, TENSOR_TF32, TENSOR_TF32_FTZ};
	enum { SWIZZLES = 4, FILLS = 2 };
	*value = o->imm;
	if (o->kind != PTX_OPND_INT)
		return false;
	if (decode_word(in, "elemtype")) {
		*value = o->imm < sizeof types ? types[o->imm] : 0;
		return o->imm < sizeof types;
	}
	if (decode_word(in, "swizzle_mode")) {
		*value = (1ull << (o->imm & 3)) - 1;
		return o->imm < SWIZZLES;
	}
	return o->imm < FILLS;
}

static int replace(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in)
{
	static const struct field all[] = {{"global_address", offsetof(struct func_tensor, base), 8, false},
					   {"rank", offsetof(struct func_tensor, rank), 1, false},
					   {"box_dim", offsetof(struct func_tensor, box), 2, true},
					   {"global_dim", offsetof(struct func_tensor, size), 4, true},
					   {"global_stride", offsetof(struct func_tensor, stride), 8, true},
					   {"element_stride", offsetof(struct func_tensor, step), 1, true},
					   {"elemtype", offsetof(struct func_tensor, type), 1, false},
					   {"swizzle_mode", offsetof(struct func_tensor, swizzle), 1, false},
					   {"fill_mode", offsetof(struct func_tensor, nan), 1, false}};
	const struct field *x = NULL;
	struct decode_place p;
	struct decode_record r;
	uint16_t row[2] = {FUNC_NONE, FUNC_NONE};
	uint64_t number = 0;
	for (size_t k = 0; k < sizeof all / sizeof *all; k++)
		x = decode_word(in, all[k].word) ? &all[k] : x;
	if (!x || in->operand_count != (x->counted ? 3 : 2) || (x->counted && in->operand[1].kind != PTX_OPND_INT) ||
	    (x->counted && in->operand[1].imm >= (x->bytes == 8 ? TENSOR_RANK - 1 : TENSOR_RANK)))
		return decode_not(d, in);
	const unsigned last = in->operand_count - 1u;
	const bool named = x->bytes == 1 && !x->counted && strcmp(x->word, "rank") != 0;
	DECODE_TRY(decode_place(d, f, in, &in->operand[0], &p));
	DECODE_TRY(decode_add(d, f, in, FUNC_NONE, &p, x->at + (x->counted ? in->operand[1].imm * x->bytes : 0)));
	if (named) {
		if (!number_of(in, &in->operand[last], &number))
			return decode_not(d, in);
		DECODE_TRY(decode_literal(d, number, false, &row[0]));
	} else if (strcmp(x->word, "rank") == 0) { /* one less is said */
		DECODE_TRY(decode_new_row(d, false, &row[0]));
		DECODE_TRY(decode_begin(d, f, in, &r));
		DECODE_TRY(decode_value(d, f, &r, in, last, 4, &r.i.a));
		DECODE_TRY(decode_literal(d, 1, false, &r.i.b));
		r.i.op = (uint16_t)decode_plain(PTX_OP_ADD, PTX_U32, 0);
		r.i.dst = row[0];
		decode_writes(&r, row[0]);
		DECODE_TRY(decode_emit(d, &r));
	} else {
		DECODE_TRY(decode_begin(d, f, in, &r));
		DECODE_TRY(decode_value(d, f, &r, in, last, x->bytes == 8 ? 8 : 4, &row[0]));
	}
	DECODE_TRY(decode_begin(d, f, in, &r));
	return decode_move_bytes(d, f, in, r.i.guard, space_of(in), &p, x->bytes, row, true);
}

/* A map is brought from shared to global memory. */
static int bring(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in)
{
	enum { PIECE = 16 };
	struct decode_place to, from;
	uint16_t row[2];
	if (in->operand_count != 3 || in->operand[2].kind != PTX_OPND_INT || in->operand[2].imm != TENSOR_BYTES)
		return decode_not(d, in);
	DECODE_TRY(decode_place(d, f, in, &in->operand[0], &to));
	DECODE_TRY(decode_place(d, f, in, &in->operand[1], &from));
	DECODE_TRY(decode_new_row(d, true, &row[0]));
	DECODE_TRY(decode_new_row(d, true, &row[1]));
	for (unsigned at = 0; at < TENSOR_BYTES; at += PIECE) {
		DECODE_TRY(decode_move_bytes(d, f, in, FUNC_NONE, PTX_SHARED, &from, PIECE, row, false));
		DECODE_TRY(decode_move_bytes(d, f, in, FUNC_NONE, PTX_GLOBAL, &to, PIECE, row, true));
		DECODE_TRY(decode_add(d, f, in, FUNC_NONE, &from, PIECE));
		DECODE_TRY(decode_add(d, f, in, FUNC_NONE, &to, PIECE));
	}
	return 0;
}

int decode_tensormap(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in)
{
	if (in->guard >= 0) /* what a guard keeps out is not written, either */
		return decode_fail(d, "tensormap with a guard is not executed");
	if (decode_word(in, "interleave_layout")) { /* none is all that is modelled */
		struct decode_record r;
		if (in->operand_count != 2 || in->operand[1].kind != PTX_OPND_INT || in->operand[1].imm)
			return decode_not(d, in);
		DECODE_TRY(decode_begin(d, f, in, &r));
		return decode_emit(d, &r);
	}
	return decode_word(in, "replace")	  ? replace(d, f, in)
	       : decode_word(in, "cp_fenceproxy") ? bring(d, f, in)
						  : decode_not(d, in);
}

/* multimem: one GPU is all that an address of several stands for. */
int decode_multimem(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in)
{
	struct ptx_inst one = *in;
	one.type = (uint8_t)decode_word_type(in, 0);
	one.space = (uint8_t)space_of(in);
	one.vec_width = decode_word(in, "v8") ? 8 : decode_word(in, "v4") ? 4 : decode_word(in, "v2") ? 2 : 1;
	one.mods |= PTX_RELAXED;
	one.atom = (uint8_t)decode_atom(in);
	one.op = decode_word(in, "ld_reduce") ? PTX_OP_LD : decode_word(in, "st") ? PTX_OP_ST : PTX_OP_RED;
	const unsigned where = one.op == PTX_OP_LD ? 1 : 0, what = 1 - where;
	const struct ptx_operand *o = &in->operand[what];
	if (in->operand_count != 2 || one.type == PTX_NONE || in->operand[where].kind != PTX_OPND_ADDRESS ||
	    (o->kind == PTX_OPND_VECTOR ? o->count : 1) != one.vec_width ||
	    one.vec_width * ptx_type_bytes((enum ptx_type)one.type) > 16 || (one.op != PTX_OP_ST && !one.atom))
		return decode_not(d, in);
	return decode_memory(d, f, &one);
}
