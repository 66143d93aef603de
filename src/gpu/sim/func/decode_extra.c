/* Operations whose words and operands the parser leaves alone (M_FREE in ops.def): what they may be is said here. */
#include "decode.h"
#include <stdio.h>
#include <string.h>

bool decode_word(const struct ptx_inst *in, const char *word)
{
	size_t n = strlen(word);
	for (const char *at = in->tail; at && *at == '.'; at = strchr(at + 1, '.'))
		if (strncmp(at + 1, word, n) == 0 && (at[n + 1] == '.' || !at[n + 1]))
			return true;
	return false;
}

int decode_not(struct decoder *d, const struct ptx_inst *in)
{
	return decode_fail(d, "%s%s is not executed by the simulated GPU, or not with these operands",
			   ptx_op_name((enum ptx_op)in->op), in->tail ? in->tail : "");
}

/* The k-th of the tail's words that is a type; PTX_NONE: there are fewer. */
enum ptx_type decode_word_type(const struct ptx_inst *in, unsigned k)
{
	for (const char *at = in->tail; at && *at == '.'; at = strchr(at + 1, '.')) {
		size_t n = strcspn(at + 1, ".");
		for (int t = PTX_NONE + 1; t < PTX_TYPES; t++) {
			const char *name = ptx_type_name((enum ptx_type)t);
			if (strlen(name) == n && strncmp(at + 1, name, n) == 0 && k-- == 0)
				return (enum ptx_type)t;
		}
	}
	return PTX_NONE;
}

static bool is_value(const struct decode_frame *f, const struct ptx_operand *o, unsigned bytes)
{
	if (o->kind == PTX_OPND_INT)
		return true;
	return o->kind == PTX_OPND_REG && ptx_type_bytes((enum ptx_type)f->f->regs[o->reg].type) == bytes;
}

bool decode_is_pred(const struct decode_frame *f, const struct ptx_operand *o)
{
	return o->kind == PTX_OPND_REG && f->f->regs[o->reg].type == PTX_PRED;
}

/* A source of so many bytes, whatever its type. */
int decode_value(struct decoder *d, struct decode_frame *f, struct decode_record *r, const struct ptx_inst *in,
		 unsigned k, unsigned bytes, uint16_t *row)
{
	if (k >= in->operand_count || !is_value(f, &in->operand[k], bytes))
		return decode_not(d, in);
	return decode_source(d, f, r, &in->operand[k], bytes == 8 ? PTX_B64 : PTX_B32, row);
}

int decode_result(struct decoder *d, struct decode_frame *f, struct decode_record *r, const struct ptx_inst *in,
		  unsigned bytes)
{
	const struct ptx_operand *o = &in->operand[0];
	if (!in->operand_count || (o->kind != PTX_OPND_SINK && (o->kind != PTX_OPND_REG || !is_value(f, o, bytes))))
		return decode_not(d, in);
	return decode_dest(d, f, r, o, &r->i.dst);
}

/* d = op(a, b, c) of 32-bit words; missing sources are the first again. */
static int three(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in, struct decode_record *r,
		 unsigned sources)
{
	uint16_t *rows[] = {&r->i.a, &r->i.b, &r->i.c};
	DECODE_TRY(decode_begin(d, f, in, r));
	DECODE_TRY(decode_result(d, f, r, in, 4));
	if (in->operand[0].kind == PTX_OPND_SINK || in->operand_count > 1 + sources)
		return decode_not(d, in);
	for (unsigned k = 0; k < 3; k++) {
		if (k < sources && k + 1 < in->operand_count)
			DECODE_TRY(decode_value(d, f, r, in, 1 + k, 4, rows[k]));
		else if (k)
			*rows[k] = r->i.a;
		else
			return decode_not(d, in);
	}
	return 0;
}

static int words(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in)
{
	struct decode_record r;
	bool two = in->op == PTX_OP_BMSK || in->op == PTX_OP_SZEXT;
	if (in->operand_count < 3 || (!two && in->operand_count < 4 && in->op != PTX_OP_CVT_PACK))
		return decode_not(d, in);
	DECODE_TRY(three(d, f, in, &r, two ? 2 : 3));
	r.i.op = EXEC_words;
	r.i.more[0] = in->op;
	r.i.more[1] = (uint16_t)decode_word_type(in, 0);
	r.i.more[2] = (uint16_t)decode_word_type(in, 1);
	r.i.imm = two ? decode_word(in, "wrap") : decode_word(in, "hi");
	if (in->op == PTX_OP_CVT_PACK && in->operand_count < 4)
		DECODE_TRY(decode_literal(d, 0, false, &r.i.c));
	if (in->op == PTX_OP_CVT_PACK) {
		const bool of_four = decode_word(in, "s4") || decode_word(in, "u4"),
			   of_two = decode_word(in, "s2") || decode_word(in, "u2");
		const enum ptx_type to = decode_word_type(in, 0);
		r.i.more[1] = (uint16_t)(of_four ? 4 : of_two ? 2 : ptx_type_bytes(to) * 8);
		r.i.more[2] =
		    decode_word(in, "s4") || decode_word(in, "s2") || (!of_four && !of_two && ptx_type_signed(to));
		if (!decode_word(in, "sat"))
			return decode_not(d, in);
	}
	return decode_emit(d, &r);
}

static const struct {
	const char *word;
	enum ptx_cmp cmp;
} compares[] = {{"eq", PTX_EQ}, {"ne", PTX_NE}, {"lt", PTX_LT}, {"le", PTX_LE}, {"gt", PTX_GT}, {"ge", PTX_GE}};

/* Which parts of a and b, side by side, each part of an operand is: three bits each, from the lowest part on. */
static bool parts_of(const struct ptx_operand *o, unsigned parts, unsigned first, uint64_t *code)
{
	const unsigned bits = 3, all = (parts == 2 ? PTX_PARTS_HALF : 0) | PTX_PARTS | (parts & 3) << PTX_PARTS_COUNT;
	*code = 0;
	for (unsigned k = 0; k < parts; k++)
		*code |= (uint64_t)(first + k) << bits * k;
	if (!o->count)
		return true;
	*code = o->count & ((1u << bits * parts) - 1);
	return (o->count & ~((1u << bits * parts) - 1)) == all;
}

/* Which parts of the destination are written, a bit each; they are named from the highest on. */
static bool mask_of(const struct ptx_operand *o, unsigned parts, uint64_t *mask)
{
	const unsigned digits = o->count & PTX_PARTS ? o->count >> PTX_PARTS_COUNT & 3 : 0;
	unsigned next = 0;
	*mask = (1u << parts) - 1;
	if (!o->count)
		return true;
	*mask = 0;
	if (!(o->count & PTX_PARTS)) {
		*mask = 1u << (o->count - (o->count < 5 ? 1 : 5));
		return (o->count >= 5) == (parts == 2);
	}
	for (unsigned k = 0; k < (digits ? digits : 4); k++) {
		const unsigned part = o->count >> 3 * k & 7;
		if (part < next || part >= parts)
			return false;
		*mask |= 1u << part;
		next = part + 1;
	}
	return (o->count & PTX_PARTS_HALF) != 0 ? parts == 2 : parts == 4;
}

static int video(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in)
{
	struct decode_record r;
	const char *name = ptx_op_name((enum ptx_op)in->op);
	char last = name[strlen(name) - 1];
	unsigned parts = last == '2' ? 2 : last == '4' ? 4 : 1;
	bool set = strncmp(name, "vset", 4) == 0, mad = in->op == PTX_OP_VMAD;
	uint64_t code = 0;
	DECODE_TRY(three(d, f, in, &r, 3));
	uint64_t of_a = 0, of_b = 0, mask = 0;
	if (in->operand_count < 3 || ((mad || parts > 1) && in->operand_count < 4))
		return decode_not(d, in);
	if (parts > 1 ? !parts_of(&in->operand[1], parts, 0, &of_a) ||
			    !parts_of(&in->operand[2], parts, parts, &of_b) || !mask_of(&in->operand[0], parts, &mask)
		      : (in->operand[0].count | in->operand[1].count | in->operand[2].count) & PTX_PARTS)
		return decode_not(d, in);
	r.i.op = EXEC_packed;
	r.i.more[0] = in->op;
	enum ptx_type a = decode_word_type(in, set ? 0 : 1), b = decode_word_type(in, set ? 1 : 2),
		      to = set ? PTX_U32 : decode_word_type(in, 0);
	if (a == PTX_NONE || b == PTX_NONE || to == PTX_NONE)
		return decode_not(d, in);
	r.i.more[1] = (uint16_t)(to | (unsigned)a << 5 | (unsigned)b << 10);
	r.i.more[2] = (uint16_t)parts;
	if (parts == 1)
		code |= (uint64_t)in->operand[1].count << PACKED_A | (uint64_t)in->operand[2].count << PACKED_B |
			(uint64_t)in->operand[0].count << PACKED_D;
	code |= of_a << PACKED_PARTS_A | of_b << PACKED_PARTS_B | mask << PACKED_MASK;
	if (mad)
		code |= (in->operand[1].negated != in->operand[2].negated ? PACKED_MINUS : 0) |
			(in->operand[3].negated ? PACKED_MINUS_C : 0);
	code |= decode_word(in, "sat") ? PACKED_SATURATED : 0;
	code |= decode_word(in, "wrap") ? PACKED_WRAP : 0;
	code |= decode_word(in, "po") ? PACKED_PLUS_ONE : 0;
	code |= (uint64_t)(decode_word(in, "shr7") ? 7 : decode_word(in, "shr15") ? 15 : 0) << PACKED_SHIFT;
	code |= (uint64_t)(decode_word(in, "add")   ? PACKED_ADD
			   : decode_word(in, "min") ? PACKED_MIN
			   : decode_word(in, "max") ? PACKED_MAX
						    : 0)
		<< PACKED_SECOND;
	for (size_t k = 0; set && k < sizeof compares / sizeof *compares; k++)
		if (decode_word(in, compares[k].word))
			code |= (uint64_t)compares[k].cmp << PACKED_CMP;
	if ((set && !(code >> PACKED_CMP)) || (in->operand_count == 3 && code >> PACKED_SECOND & 3))
		return decode_not(d, in);
	r.i.imm = code;
	return decode_emit(d, &r);
}

static int redux(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in)
{
	static const struct {
		const char *word;
		enum ptx_atom op;
	} ops[] = {{"add", PTX_ATOM_ADD}, {"min", PTX_ATOM_MIN}, {"max", PTX_ATOM_MAX},
		   {"and", PTX_ATOM_AND}, {"or", PTX_ATOM_OR},	 {"xor", PTX_ATOM_XOR}};
	struct decode_record r;
	DECODE_TRY(decode_begin(d, f, in, &r));
	DECODE_TRY(decode_result(d, f, &r, in, 4));
	enum ptx_type t = decode_word_type(in, 0);
	for (size_t k = 0; k < sizeof ops / sizeof *ops; k++)
		if (decode_word(in, ops[k].word))
			r.i.more[0] = ops[k].op;
	if (!r.i.more[0] || in->operand_count != 3 || r.i.dst == FUNC_NONE ||
	    (t != PTX_U32 && t != PTX_S32 && t != PTX_B32))
		return decode_not(d, in);
	DECODE_TRY(decode_value(d, f, &r, in, 1, 4, &r.i.a));
	DECODE_TRY(decode_value(d, f, &r, in, 2, 4, &r.i.more[2]));
	r.i.op = EXEC_redux;
	r.i.flags |= FUNC_GATHER;
	r.i.more[1] = (uint16_t)t;
	return decode_emit(d, &r);
}

static int elect(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in)
{
	struct decode_record r;
	DECODE_TRY(decode_begin(d, f, in, &r));
	DECODE_TRY(decode_result(d, f, &r, in, 4));
	if (in->operand_count != 3 || !decode_is_pred(f, &in->operand[1]))
		return decode_not(d, in);
	DECODE_TRY(decode_dest(d, f, &r, &in->operand[1], &r.i.more[0]));
	DECODE_TRY(decode_value(d, f, &r, in, 2, 4, &r.i.more[2]));
	r.i.op = EXEC_elect;
	r.i.flags |= FUNC_GATHER;
	return decode_emit(d, &r);
}

/* bar.red: counts, meets, takes what was counted. */
static int barrier_red(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in)
{
	struct decode_record r;
	const unsigned last = in->operand_count - 1u;
	const bool popc = decode_word(in, "popc");
	if (in->operand_count < 3 || in->operand_count > 4 || !decode_is_pred(f, &in->operand[last]) ||
	    decode_is_pred(f, &in->operand[0]) == popc || (!popc && !decode_word(in, "and") && !decode_word(in, "or")))
		return decode_not(d, in);
	DECODE_TRY(decode_begin(d, f, in, &r));
	r.i.op = EXEC_count_in;
	DECODE_TRY(decode_value(d, f, &r, in, 1, 4, &r.i.a));
	DECODE_TRY(decode_pred_source(d, f, &r, &in->operand[last], &r.i.more[0]));
	r.i.more[1] = in->operand[last].negated;
	DECODE_TRY(decode_emit(d, &r));
	DECODE_TRY(decode_begin(d, f, in, &r));
	r.i.kind = FUNC_BARRIER;
	DECODE_TRY(decode_value(d, f, &r, in, 1, 4, &r.i.a));
	if (in->operand_count == 4)
		DECODE_TRY(decode_value(d, f, &r, in, 2, 4, &r.i.b));
	DECODE_TRY(decode_emit(d, &r));
	DECODE_TRY(decode_begin(d, f, in, &r));
	r.i.op = EXEC_count_out;
	DECODE_TRY(decode_dest(d, f, &r, &in->operand[0], &r.i.dst));
	DECODE_TRY(decode_value(d, f, &r, in, 1, 4, &r.i.a));
	r.i.more[0] = popc ? 0 : decode_word(in, "and") ? 1 : 2;
	return decode_emit(d, &r);
}

static int policy(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in)
{
	struct decode_record r;
	DECODE_TRY(decode_begin(d, f, in, &r));
	DECODE_TRY(decode_result(d, f, &r, in, 8));
	if (r.i.dst == FUNC_NONE)
		return decode_not(d, in);
	DECODE_TRY(decode_literal(d, 0, true, &r.i.a)); /* caches here follow none */
	r.i.op = EXEC_mov_64;
	return decode_emit(d, &r);
}

/* Of the blocks of a cluster: where the others' shared memory is, whose an address is, and where all of them meet. */
static int cluster(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in)
{
	const unsigned bytes = in->op == PTX_OP_MAPA && decode_word(in, "u64") ? 8 : 4;
	struct decode_record r;
	DECODE_TRY(decode_begin(d, f, in, &r));
	if (in->op == PTX_OP_BARRIER_CLUSTER) {
		const bool arrives = decode_word(in, "arrive");
		r.i.kind = FUNC_BARRIER;
		r.i.flags |= FUNC_OF_CLUSTER | (arrives ? FUNC_ARRIVE : 0);
		return arrives || decode_word(in, "wait") ? decode_emit(d, &r) : decode_not(d, in);
	}
	DECODE_TRY(decode_result(d, f, &r, in, bytes));
	if (r.i.dst == FUNC_NONE || in->operand_count != (in->op == PTX_OP_MAPA ? 3 : 2))
		return decode_not(d, in);
	r.i.op = in->op == PTX_OP_MAPA ? EXEC_mapa : EXEC_ranks;
	r.i.more[0] = decode_word(in, "u64");
	const enum ptx_type type = r.i.more[0] ? PTX_B64 : PTX_B32;
	if (in->operand[1].kind == PTX_OPND_SYMBOL)
		DECODE_TRY(decode_source(d, f, &r, &in->operand[1], type, &r.i.a));
	else
		DECODE_TRY(decode_value(d, f, &r, in, 1, r.i.more[0] ? 8 : 4, &r.i.a));
	if (in->op == PTX_OP_MAPA)
		DECODE_TRY(decode_value(d, f, &r, in, 2, 4, &r.i.b));
	return decode_emit(d, &r);
}

int decode_extra(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in)
{
	struct decode_record r;
	switch ((enum ptx_op)in->op) {
	case PTX_OP_BMSK:
	case PTX_OP_SZEXT:
	case PTX_OP_FNS:
	case PTX_OP_DP4A:
	case PTX_OP_DP2A:
	case PTX_OP_CVT_PACK:
		return words(d, f, in);
	case PTX_OP_REDUX:
		return redux(d, f, in);
	case PTX_OP_ELECT:
		return elect(d, f, in);
	case PTX_OP_BAR_RED:
	case PTX_OP_BARRIER_RED:
		return barrier_red(d, f, in);
	case PTX_OP_CP:
	case PTX_OP_MBARRIER:
	case PTX_OP_ST_ASYNC:
	case PTX_OP_RED_ASYNC:
		return decode_copy(d, f, in);
	case PTX_OP_MAPA:
	case PTX_OP_GETCTARANK:
	case PTX_OP_BARRIER_CLUSTER:
		return cluster(d, f, in);
	case PTX_OP_CREATEPOLICY:
		return policy(d, f, in);
	case PTX_OP_ISTYPEP:
		return decode_kind(d, f, in);
	case PTX_OP_TXQ:
	case PTX_OP_SUQ:
		return decode_query(d, f, in);
	case PTX_OP_TENSORMAP:
		return decode_tensormap(d, f, in);
	case PTX_OP_MULTIMEM:
		return decode_multimem(d, f, in);
	case PTX_OP_ALLOCA:
	case PTX_OP_STACKSAVE:
	case PTX_OP_STACKRESTORE:
		return decode_stack(d, f, in);
	case PTX_OP_MMA:
	case PTX_OP_WMMA:
	case PTX_OP_WGMMA:
	case PTX_OP_LDMATRIX:
	case PTX_OP_STMATRIX:
	case PTX_OP_MOVMATRIX:
		return decode_matrix(d, f, in);
	case PTX_OP_FENCE_PROXY:
	case PTX_OP_PREFETCHU:
	case PTX_OP_PREFETCH_MAP:
	case PTX_OP_DISCARD:
	case PTX_OP_APPLYPRIORITY:
	case PTX_OP_PMEVENT:
	case PTX_OP_GRIDDEPCONTROL:
	case PTX_OP_SETMAXNREG: /* of time, or of other launches: nothing to compute */
		DECODE_TRY(decode_begin(d, f, in, &r));
		r.i.kind = in->op == PTX_OP_FENCE_PROXY ? FUNC_FENCE : FUNC_ALU;
		return decode_emit(d, &r);
	default:
		return in->tail ? video(d, f, in) : decode_not(d, in);
	}
}
