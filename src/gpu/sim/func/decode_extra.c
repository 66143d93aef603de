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

static bool is_pred(const struct decode_frame *f, const struct ptx_operand *o)
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

static int result(struct decoder *d, struct decode_frame *f, struct decode_record *r, const struct ptx_inst *in,
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
	DECODE_TRY(result(d, f, r, in, 4));
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
	if (in->op == PTX_OP_CVT_PACK && (!decode_word(in, "sat") || decode_word(in, "s2") || decode_word(in, "u2") ||
					  decode_word(in, "s4") || decode_word(in, "u4")))
		return decode_not(d, in);
	return decode_emit(d, &r);
}

static const struct {
	const char *word;
	enum ptx_cmp cmp;
} compares[] = {{"eq", PTX_EQ}, {"ne", PTX_NE}, {"lt", PTX_LT}, {"le", PTX_LE}, {"gt", PTX_GT}, {"ge", PTX_GE}};

static int video(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in)
{
	struct decode_record r;
	const char *name = ptx_op_name((enum ptx_op)in->op);
	char last = name[strlen(name) - 1];
	unsigned parts = last == '2' ? 2 : last == '4' ? 4 : 1;
	bool set = strncmp(name, "vset", 4) == 0, mad = in->op == PTX_OP_VMAD;
	uint64_t code = 0;
	DECODE_TRY(three(d, f, in, &r, 3));
	if (in->operand_count < 3 || (mad && in->operand_count < 4) ||
	    (parts > 1 && (in->operand[0].count || in->operand[1].count || in->operand[2].count)))
		return decode_not(d, in);
	r.i.op = EXEC_packed;
	r.i.more[0] = in->op;
	enum ptx_type a = decode_word_type(in, set ? 0 : 1), b = decode_word_type(in, set ? 1 : 2),
		      to = set ? PTX_U32 : decode_word_type(in, 0);
	if (a == PTX_NONE || b == PTX_NONE || to == PTX_NONE)
		return decode_not(d, in);
	r.i.more[1] = (uint16_t)(to | (unsigned)a << 5 | (unsigned)b << 10);
	r.i.more[2] = (uint16_t)parts;
	code |= (uint64_t)in->operand[1].count << PACKED_A | (uint64_t)in->operand[2].count << PACKED_B |
		(uint64_t)in->operand[0].count << PACKED_D;
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
	DECODE_TRY(result(d, f, &r, in, 4));
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
	DECODE_TRY(result(d, f, &r, in, 4));
	if (in->operand_count != 3 || !is_pred(f, &in->operand[1]))
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
	if (in->operand_count < 3 || in->operand_count > 4 || !is_pred(f, &in->operand[last]) ||
	    is_pred(f, &in->operand[0]) == popc || (!popc && !decode_word(in, "and") && !decode_word(in, "or")))
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

/* The row whose arrival stands for that of all copies so far. */
static int copies_row(struct decoder *d, uint16_t *row)
{
	if (d->copies == FUNC_NONE)
		DECODE_TRY(decode_new_row(d, false, &d->copies));
	*row = d->copies;
	return 0;
}

static int copy(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in)
{
	struct decode_record r;
	unsigned code = 0, unused = 0;
	uint16_t row, take = FUNC_NONE;
	const struct ptx_operand *to = &in->operand[0], *from = &in->operand[1], *bytes = &in->operand[2];
	DECODE_TRY(copies_row(d, &row));
	DECODE_TRY(decode_begin(d, f, in, &r));
	if (decode_word(in, "commit_group") || decode_word(in, "wait_group") || decode_word(in, "wait_all")) {
		if (!decode_word(in, "commit_group"))
			decode_reads(d, &r, row);
		return decode_emit(d, &r);
	}
	bool plain = decode_word(in, "ca") || decode_word(in, "cg"), policy = decode_word(in, "L2::cache_hint");
	if (!plain || in->operand_count < 3u + policy || to->kind != PTX_OPND_ADDRESS ||
	    from->kind != PTX_OPND_ADDRESS || bytes->kind != PTX_OPND_INT ||
	    (bytes->imm != 4 && bytes->imm != 8 && bytes->imm != 16))
		return decode_not(d, in);
	if (in->operand_count > 3u + policy) { /* how much of it is read, or whether nothing is */
		if (is_pred(f, &in->operand[3]))
			return decode_not(d, in);
		DECODE_TRY(decode_value(d, f, &r, in, 3, 4, &take));
	}
	if (to->offset < 0 || to->offset > UINT16_MAX) /* what the record has room for */
		return decode_not(d, in);
	DECODE_TRY(decode_address(d, f, &r, to, &unused));
	uint64_t fixed = r.i.imm;
	r.i.b = r.i.a;
	if (fixed > UINT16_MAX)
		return decode_not(d, in);
	r.i.more[1] = (uint16_t)fixed;
	r.i.more[0] = (unused & MEM_ADDRESS_64) != 0;
	DECODE_TRY(decode_address(d, f, &r, from, &code));
	r.i.c = take;
	r.i.kind = FUNC_LOAD;
	r.i.op = EXEC_copy;
	r.i.space = PTX_GLOBAL;
	r.i.bytes = (uint8_t)bytes->imm;
	r.i.more[3] = (uint16_t)code;
	r.info.space = PTX_GLOBAL;
	decode_writes(&r, row);
	return decode_emit(d, &r);
}

static int mbarrier(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in)
{
	static const struct {
		const char *word;
		enum exec_barrier_op op;
	} ops[] = {{"init", MBARRIER_INIT},	{"inval", MBARRIER_INVAL},	{"expect_tx", MBARRIER_EXPECT},
		   {"arrive", MBARRIER_ARRIVE}, {"arrive_drop", MBARRIER_DROP}, {"test_wait", MBARRIER_TEST},
		   {"try_wait", MBARRIER_TEST}};
	struct decode_record r;
	unsigned code = 0, at = 0, k;
	const size_t count = sizeof ops / sizeof *ops;
	size_t n = count;
	/* arrive.expect_tx is an arrival */
	for (size_t x = 0; x < count; x++)
		if (decode_word(in, ops[x].word) && (n == count || ops[x].op != MBARRIER_EXPECT))
			n = x;
	if (n == count || decode_word(in, "noComplete"))
		return decode_not(d, in);
	enum exec_barrier_op op = ops[n].op;
	bool wait = op == MBARRIER_TEST, arrives = op == MBARRIER_ARRIVE || op == MBARRIER_DROP;
	if (wait && decode_word(in, "parity"))
		op = MBARRIER_PARITY;
	DECODE_TRY(decode_begin(d, f, in, &r));
	if (wait) {
		if (!in->operand_count || !is_pred(f, &in->operand[0]))
			return decode_not(d, in);
		DECODE_TRY(decode_dest(d, f, &r, &in->operand[at++], &r.i.more[3]));
	} else if (arrives && in->operand_count && in->operand[0].kind != PTX_OPND_ADDRESS) {
		DECODE_TRY(result(d, f, &r, in, 8));
		at++;
	}
	k = at++;
	if (k >= in->operand_count || in->operand[k].kind != PTX_OPND_ADDRESS)
		return decode_not(d, in);
	if (at < in->operand_count) {
		bool bytes = op == MBARRIER_EXPECT || (arrives && decode_word(in, "expect_tx"));
		DECODE_TRY(
		    decode_value(d, f, &r, in, at, op == MBARRIER_TEST ? 8 : 4, bytes && arrives ? &r.i.c : &r.i.b));
	}
	DECODE_TRY(decode_address(d, f, &r, &in->operand[k], &code));
	r.i.kind = FUNC_ATOMIC;
	r.i.op = EXEC_mbarrier;
	r.i.space = decode_word(in, "shared") || decode_word(in, "shared::cta") || in->operand[k].sym >= 0
			? PTX_SHARED
			: PTX_GENERIC;
	d->p->atomics |= r.i.space != PTX_SHARED;
	r.info.space = r.i.space;
	r.i.bytes = 8;
	r.i.more[0] = (uint16_t)op;
	r.i.more[1] = PTX_B64;
	r.i.more[2] = (uint16_t)code;
	return decode_emit(d, &r);
}

static int policy(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in)
{
	struct decode_record r;
	DECODE_TRY(decode_begin(d, f, in, &r));
	DECODE_TRY(result(d, f, &r, in, 8));
	if (r.i.dst == FUNC_NONE)
		return decode_not(d, in);
	DECODE_TRY(decode_literal(d, 0, true, &r.i.a)); /* caches here follow none */
	r.i.op = EXEC_mov_64;
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
		return decode_word(in, "async") && !decode_word(in, "bulk") && !decode_word(in, "mbarrier")
			   ? copy(d, f, in)
			   : decode_not(d, in);
	case PTX_OP_MBARRIER:
		return mbarrier(d, f, in);
	case PTX_OP_CREATEPOLICY:
		return policy(d, f, in);
	case PTX_OP_MMA:
	case PTX_OP_WMMA:
	case PTX_OP_LDMATRIX:
	case PTX_OP_STMATRIX:
	case PTX_OP_MOVMATRIX:
		return decode_matrix(d, f, in);
	case PTX_OP_FENCE_PROXY:
	case PTX_OP_PREFETCHU:
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
