/* One PTX instruction to one record, sometimes a few. Control flow is in decode.c, memory in decode_memory.c. */
#include "decode.h"

int decode_begin(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in, struct decode_record *r)
{
	*r = (struct decode_record){
	    .i = {.op = EXEC_nothing,
		  .kind = FUNC_ALU,
		  .guard = FUNC_NONE,
		  .dst = FUNC_NONE,
		  .a = FUNC_NONE,
		  .b = FUNC_NONE,
		  .c = FUNC_NONE},
	    .info = {.ptx_op = in->op,
		     .type = in->type,
		     .type2 = in->type2,
		     .space = in->space,
		     .cache = in->cache,
		     .vec = in->vec_width,
		     .mods = in->mods,
		     .line = in->line,
		     .source = in->source},
	};
	if (in->guard >= 0) {
		DECODE_TRY(decode_reg(d, f, in->guard, &r->i.guard));
		decode_reads(d, r, DECODE_PRED_SLOT + r->i.guard);
		if (in->guard_negated)
			r->i.flags |= FUNC_GUARD_NOT;
	}
	return 0;
}

static uint32_t number_of(const struct decoder *d)
{
	size_t bytes = (uintptr_t)d->at - (uintptr_t)d->entry->insts;
	return bytes < d->entry->inst_count * sizeof *d->at ? (uint32_t)(bytes / sizeof *d->at) : FUNC_NO_NUMBER;
}

int decode_emit(struct decoder *d, const struct decode_record *r)
{
	if (d->n == d->cap) {
		uint32_t cap = d->cap ? d->cap * 2 : 128;
		if (cap > 1u << 22)
			return decode_fail(d, "this kernel is longer than 2^22 instructions");
		struct func_inst *inst = mem_grow(d->inst, cap * sizeof *inst);
		if (!inst)
			return err_nomem(d->e);
		d->inst = inst;
		struct func_info *info = mem_grow(d->info, cap * sizeof *info);
		if (!info)
			return err_nomem(d->e);
		d->info = info;
		d->cap = cap;
	}
	d->inst[d->n] = r->i;
	d->info[d->n] = r->info;
	d->info[d->n].number = number_of(d);
	d->n++;
	return 0;
}

bool decode_flushes(const struct decoder *d, enum ptx_type type)
{
	return type == PTX_F32 && d->target->flushes;
}

/* The type of source k (0: first) of an operation. */
static enum ptx_type source_type(const struct ptx_inst *in, unsigned k)
{
	enum ptx_type t = (enum ptx_type)in->type;
	switch (in->op) {
	case PTX_OP_SHL:
	case PTX_OP_SHR:
		return k == 1 ? PTX_U32 : t;
	case PTX_OP_SHF:
	case PTX_OP_PRMT:
		return k == 2 ? PTX_U32 : t;
	case PTX_OP_BFE:
		return k >= 1 ? PTX_U32 : t;
	case PTX_OP_BFI:
		return k >= 2 ? PTX_U32 : t;
	case PTX_OP_SHFL:
		return k >= 1 ? PTX_U32 : t;
	case PTX_OP_SLCT:
		return k == 2 ? (enum ptx_type)in->type2 : t;
	case PTX_OP_MAD:
		if (k == 2 && in->mods & PTX_WIDE)
			return ptx_type_bytes(t) == 2 ? PTX_U32 : PTX_U64;
		return t;
	default:
		return t;
	}
}

/* Destination and up to three sources; rows of missing sources are those of the first, so that every row exists. */
static int operands(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in, struct decode_record *r,
		    unsigned first, unsigned sources)
{
	uint16_t *rows[] = {&r->i.a, &r->i.b, &r->i.c};
	DECODE_TRY(decode_dest(d, f, r, &in->operand[0], &r->i.dst));
	for (unsigned k = 0; k < 3; k++) {
		if (k < sources)
			DECODE_TRY(decode_source(d, f, r, &in->operand[first + k], source_type(in, k), rows[k]));
		else
			*rows[k] = r->i.a;
	}
	return 0;
}

/* Done by the special function unit: what is written as approximate, and what PTX before 1.4 leaves open. The full-precision
 * rsqrt.approx.f64 is a routine. */
static bool is_special(const struct ptx_inst *in)
{
	bool approximate = in->mods & (PTX_APPROX | PTX_FULL) || in->round == PTX_RND_NONE;
	switch (in->op) {
	case PTX_OP_SIN:
	case PTX_OP_COS:
	case PTX_OP_EX2:
	case PTX_OP_LG2:
	case PTX_OP_TANH:
		return in->type == PTX_F32;
	case PTX_OP_DIV:
	case PTX_OP_SQRT:
		return in->type == PTX_F32 && approximate;
	case PTX_OP_RCP:
	case PTX_OP_RSQRT:
		return approximate && (in->type == PTX_F32 || (in->mods & PTX_FTZ));
	default:
		return false;
	}
}

static unsigned float_flags(const struct decoder *d, const struct ptx_inst *in)
{
	enum ptx_type t = (enum ptx_type)in->type;
	unsigned flags = 0;
	flags |= in->mods & PTX_FTZ || decode_flushes(d, t) ? EXEC_FTZ : 0;
	flags |= in->mods & PTX_SAT ? EXEC_SAT : 0;
	flags |= in->mods & PTX_NAN_OUT ? EXEC_NAN : 0;
	flags |= in->mods & PTX_RELU ? EXEC_RELU : 0;
	flags |= in->mods & PTX_FULL ? EXEC_FULL : 0;
	flags |= in->mods & PTX_XORSIGN_ABS ? EXEC_XORSIGN_ABS : 0;
	flags |= in->mods & PTX_OOB ? EXEC_OOB : 0;
	if (in->op == PTX_OP_MAD && t == PTX_F32)
		flags |= d->target->mad == FUNC_MAD_TRUNCATED ? EXEC_TRUNCATED
			 : d->target->mad == FUNC_MAD_ROUNDED ? EXEC_ROUNDED
							      : 0;
	return flags;
}

/* .relu of integers: the greater of what the record before gives and 0. */
static int not_below_zero(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in,
			  const struct decode_record *before)
{
	struct decode_record r;
	DECODE_TRY(decode_begin(d, f, in, &r));
	if (in->type == PTX_S32) {
		r.i.op = (uint16_t)decode_plain(PTX_OP_MAX, PTX_S32, 0);
	} else {
		r.i = before->i;
		r.i.more[0] = PTX_OP_VMAX2;
	}
	r.i.dst = r.i.a = before->i.dst;
	DECODE_TRY(decode_literal(d, 0, false, &r.i.b));
	decode_reads(d, &r, r.i.a);
	decode_writes(&r, r.i.dst);
	return decode_emit(d, &r);
}

/* Everything of the form d = op(a, b, c). */
static int arithmetic(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in, unsigned sources)
{
	struct decode_record r;
	enum ptx_type t = (enum ptx_type)in->type;
	const uint32_t plain_mods = PTX_LO_PART | PTX_HI_PART | PTX_WIDE | PTX_SAT | PTX_FTZ;
	uint32_t mods = in->mods & plain_mods;
	bool is_float = ptx_type_class(t) == 'f', plain = true;
	DECODE_TRY(decode_begin(d, f, in, &r));
	DECODE_TRY(operands(d, f, in, &r, 1, sources));
	bool sign_only = in->op == PTX_OP_ABS || in->op == PTX_OP_NEG;
	if (is_float) {
		unsigned flags = float_flags(d, in);
		plain = in->round <= PTX_RN && !(flags & ~(unsigned)(EXEC_FTZ | EXEC_TRUNCATED));
		if (flags & EXEC_FTZ && !sign_only)
			mods |= PTX_FTZ;
		if (t == PTX_F64 && !(in->op == PTX_OP_RCP || in->op == PTX_OP_RSQRT))
			mods &= ~(uint32_t)PTX_FTZ;
		r.i.more[0] = in->op;
		r.i.more[1] = in->type;
		r.i.more[2] = in->round;
		r.i.more[3] = (uint16_t)flags;
		if (plain && flags & EXEC_TRUNCATED && !(flags & EXEC_FTZ))
			plain = false;
		if (plain && flags & EXEC_TRUNCATED) {
			r.i.op = EXEC_mad_trunc_f32;
			return decode_emit(d, &r);
		}
	}
	if (t == PTX_U16X2 || t == PTX_S16X2) { /* the video instruction of two halves */
		const unsigned each = t == PTX_S16X2 ? PTX_S32 : PTX_U32;
		r.i.op = EXEC_packed;
		r.i.more[0] = in->op == PTX_OP_ADD ? PTX_OP_VADD2 : in->op == PTX_OP_MIN ? PTX_OP_VMIN2 : PTX_OP_VMAX2;
		r.i.more[1] = (uint16_t)(each | each << 5 | each << 10);
		r.i.more[2] = 2;
		r.i.imm = PACKED_HALVES | (in->mods & PTX_SAT ? PACKED_SATURATED : 0);
		DECODE_TRY(decode_emit(d, &r));
		return in->mods & PTX_RELU ? not_below_zero(d, f, in, &r) : 0;
	}
	bool half = t == PTX_F16 || t == PTX_F16X2 || t == PTX_BF16 || t == PTX_BF16X2;
	int op = plain && !is_special(in) ? decode_plain((enum ptx_op)in->op, t, mods) : -1;
	if (op >= 0)
		r.i.op = (uint16_t)op;
	else if (half)
		r.i.op = EXEC_half;
	else if (is_float)
		r.i.op = is_special(in) ? EXEC_special : EXEC_float;
	else
		return decode_fail(d, "%s.%s with these modifiers is not executed", ptx_op_name((enum ptx_op)in->op),
				   ptx_type_name(t));
	d->p->uses_sfu |= r.i.op == EXEC_special || (half && (in->op == PTX_OP_EX2 || in->op == PTX_OP_TANH));
	DECODE_TRY(decode_emit(d, &r));
	return in->mods & PTX_RELU && t == PTX_S32 ? not_below_zero(d, f, in, &r) : 0;
}

static int carry(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in)
{
	struct decode_record r;
	bool in_op = in->op == PTX_OP_ADDC || in->op == PTX_OP_SUBC || in->op == PTX_OP_MADC;
	bool mad = in->op == PTX_OP_MAD || in->op == PTX_OP_MADC;
	if (d->carry == FUNC_NONE) {
		uint16_t p;
		DECODE_TRY(decode_new_pred(d, &p));
		d->carry = p;
	}
	DECODE_TRY(decode_begin(d, f, in, &r));
	DECODE_TRY(operands(d, f, in, &r, 1, mad ? 3 : 2));
	r.i.op = EXEC_carry;
	r.i.more[0] = in->op;
	r.i.more[1] = in->type;
	r.i.more[2] = (uint16_t)((in_op ? EXEC_CARRY_IN : 0) | (in->mods & PTX_CC_OUT ? EXEC_CARRY_OUT : 0) |
				 (in->mods & PTX_HI_PART ? EXEC_HI : 0));
	r.i.more[3] = (uint16_t)d->carry;
	if (in_op)
		decode_reads(d, &r, DECODE_PRED_SLOT + d->carry);
	if (in->mods & PTX_CC_OUT)
		decode_writes(&r, DECODE_PRED_SLOT + d->carry);
	return decode_emit(d, &r);
}

int decode_logic_pred(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in)
{
	struct decode_record r;
	const struct ptx_operand *x = &in->operand[1], *y = in->operand_count > 2 ? &in->operand[2] : NULL;
	DECODE_TRY(decode_begin(d, f, in, &r));
	DECODE_TRY(decode_dest(d, f, &r, &in->operand[0], &r.i.dst));
	if (x->kind == PTX_OPND_INT) {
		r.i.op = EXEC_pred_set;
		r.i.imm = x->imm != 0;
		return decode_emit(d, &r);
	}
	DECODE_TRY(decode_pred_source(d, f, &r, x, &r.i.a));
	if (y)
		DECODE_TRY(decode_pred_source(d, f, &r, y, &r.i.b));
	r.i.op = EXEC_pred;
	r.i.more[0] = in->op;
	r.i.more[1] = (uint16_t)(x->negated | (y && y->negated) << 1);
	return decode_emit(d, &r);
}

static int compare(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in)
{
	struct decode_record r;
	enum ptx_type t = (enum ptx_type)in->type;
	bool set = in->op == PTX_OP_SET;
	unsigned first = set ? 1 : 2;
	uint16_t second = FUNC_NONE, p = FUNC_NONE;
	bool ftz = in->mods & PTX_FTZ || decode_flushes(d, t);
	DECODE_TRY(decode_begin(d, f, in, &r));
	DECODE_TRY(decode_dest(d, f, &r, &in->operand[0], &r.i.dst));
	if (!set)
		DECODE_TRY(decode_dest(d, f, &r, &in->operand[1], &second));
	DECODE_TRY(decode_source(d, f, &r, &in->operand[first], t, &r.i.a));
	DECODE_TRY(decode_source(d, f, &r, &in->operand[first + 1], t, &r.i.b));
	int plain = decode_compare((enum ptx_cmp)in->cmp, t);
	if (!set && !in->boolop && !ftz && second == FUNC_NONE && r.i.dst != FUNC_NONE && plain >= 0) {
		r.i.op = (uint16_t)plain;
		return decode_emit(d, &r);
	}
	if (in->boolop) {
		const struct ptx_operand *o = &in->operand[first + 2];
		DECODE_TRY(decode_pred_source(d, f, &r, o, &p));
		r.i.more[3] |= o->negated ? EXEC_NEGATED : 0;
	}
	r.i.op = EXEC_compare;
	r.i.more[0] = in->type;
	r.i.more[1] = (uint16_t)(in->cmp | in->boolop << 8);
	r.i.more[2] = p;
	r.i.more[3] |= ftz ? EXEC_FTZ : 0;
	r.i.imm = second | (set ? (uint64_t)in->type2 << 16 : 0);
	return decode_emit(d, &r);
}

static int select_pred(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in)
{
	struct decode_record r;
	enum ptx_type t = (enum ptx_type)in->type;
	const struct ptx_operand *p = &in->operand[3];
	DECODE_TRY(decode_begin(d, f, in, &r));
	DECODE_TRY(decode_dest(d, f, &r, &in->operand[0], &r.i.dst));
	if (p->kind == PTX_OPND_INT) {
		r.i.op = ptx_type_bytes(t) == 8 ? EXEC_mov_64 : EXEC_mov_32;
		DECODE_TRY(decode_source(d, f, &r, &in->operand[p->imm ? 1 : 2], t, &r.i.a));
		return decode_emit(d, &r);
	}
	DECODE_TRY(decode_source(d, f, &r, &in->operand[p->negated ? 2 : 1], t, &r.i.a));
	DECODE_TRY(decode_source(d, f, &r, &in->operand[p->negated ? 1 : 2], t, &r.i.b));
	DECODE_TRY(decode_pred_source(d, f, &r, p, &r.i.c));
	r.i.op = ptx_type_bytes(t) == 8 ? EXEC_selp_64 : EXEC_selp_32;
	return decode_emit(d, &r);
}

static int bit_field(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in)
{
	struct decode_record r;
	unsigned sources = in->op == PTX_OP_BFIND ? 1 : 3;
	DECODE_TRY(decode_begin(d, f, in, &r));
	DECODE_TRY(operands(d, f, in, &r, 1, sources));
	if (in->op == PTX_OP_BFI)
		DECODE_TRY(decode_source(d, f, &r, &in->operand[4], PTX_U32, &r.i.more[3]));
	r.i.op = EXEC_bits;
	r.i.more[0] = in->op;
	r.i.more[1] = in->type;
	r.i.more[2] = in->mods & PTX_SHIFTAMT ? 1 : 0;
	return decode_emit(d, &r);
}

/* d|p: the predicate is whether d has a bit, joined with another one. */
static int logic_of_three(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in)
{
	struct decode_record r;
	DECODE_TRY(decode_begin(d, f, in, &r));
	DECODE_TRY(operands(d, f, in, &r, 2, 3));
	r.i.op = EXEC_lop3;
	r.i.more[0] = (uint16_t)in->operand[5].imm;
	if (!in->boolop)
		return decode_emit(d, &r);
	if (r.i.dst == FUNC_NONE) {
		DECODE_TRY(decode_new_row(d, false, &r.i.dst));
		decode_writes(&r, r.i.dst);
	}
	const uint16_t made = r.i.dst;
	DECODE_TRY(decode_emit(d, &r));
	DECODE_TRY(decode_begin(d, f, in, &r));
	DECODE_TRY(decode_dest(d, f, &r, &in->operand[1], &r.i.dst));
	DECODE_TRY(decode_pred_source(d, f, &r, &in->operand[6], &r.i.more[2]));
	DECODE_TRY(decode_literal(d, 0, false, &r.i.b));
	r.i.a = made;
	decode_reads(d, &r, made);
	r.i.op = EXEC_compare;
	r.i.more[0] = PTX_B32;
	r.i.more[1] = (uint16_t)(PTX_NE | in->boolop << 8);
	r.i.more[3] = in->operand[6].negated ? EXEC_NEGATED : 0;
	r.i.imm = FUNC_NONE;
	return decode_emit(d, &r);
}

static int three_inputs(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in)
{
	static const uint16_t funnels[] = {[PTX_SUB_L_CLAMP] = EXEC_shf_l_clamp,
					   [PTX_SUB_L_WRAP] = EXEC_shf_l_wrap,
					   [PTX_SUB_R_CLAMP] = EXEC_shf_r_clamp,
					   [PTX_SUB_R_WRAP] = EXEC_shf_r_wrap};
	struct decode_record r;
	DECODE_TRY(decode_begin(d, f, in, &r));
	DECODE_TRY(operands(d, f, in, &r, 1, 3));
	if (in->op == PTX_OP_PRMT) {
		r.i.op = EXEC_prmt;
		r.i.more[0] = in->sub;
	} else if (in->op == PTX_OP_SHF) {
		r.i.op = funnels[in->sub];
	} else {
		r.i.op = EXEC_slct;
		r.i.more[0] = in->type;
		r.i.more[1] = in->type2;
		r.i.more[3] = in->mods & PTX_FTZ || decode_flushes(d, (enum ptx_type)in->type2) ? EXEC_FTZ : 0;
	}
	return decode_emit(d, &r);
}

static int member_mask(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in, struct decode_record *r,
		       unsigned k)
{
	r->i.more[2] = FUNC_NONE;
	if (!(in->mods & PTX_SYNC))
		return 0;
	r->i.flags |= FUNC_GATHER;
	return decode_source(d, f, r, &in->operand[k], PTX_U32, &r->i.more[2]);
}

static int lanes(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in)
{
	struct decode_record r;
	const struct ptx_operand *o = in->operand;
	const bool constant = in->op == PTX_OP_VOTE && o[1].kind == PTX_OPND_INT;
	uint16_t made = FUNC_NONE;
	if (constant)
		DECODE_TRY(decode_constant_pred(d, f, in, o[1].imm, &made));
	DECODE_TRY(decode_begin(d, f, in, &r));
	DECODE_TRY(decode_dest(d, f, &r, &o[0], &r.i.dst));
	r.i.more[0] = in->sub;
	switch (in->op) {
	case PTX_OP_VOTE:
		r.i.op = EXEC_vote;
		if (constant) {
			r.i.a = made;
			decode_reads(d, &r, DECODE_PRED_SLOT + made);
		} else {
			DECODE_TRY(decode_pred_source(d, f, &r, &o[1], &r.i.a));
		}
		r.i.more[1] = o[1].negated;
		DECODE_TRY(member_mask(d, f, in, &r, 2));
		break;
	case PTX_OP_SHFL:
		r.i.op = EXEC_shfl;
		DECODE_TRY(decode_dest(d, f, &r, &o[1], &r.i.more[1]));
		DECODE_TRY(decode_source(d, f, &r, &o[2], PTX_B32, &r.i.a));
		DECODE_TRY(decode_source(d, f, &r, &o[3], PTX_U32, &r.i.b));
		DECODE_TRY(decode_source(d, f, &r, &o[4], PTX_U32, &r.i.c));
		DECODE_TRY(member_mask(d, f, in, &r, 5));
		break;
	case PTX_OP_MATCH: {
		/* match's destination is a 32-bit mask whatever it compares */
		r.i.op = EXEC_match;
		DECODE_TRY(decode_dest(d, f, &r, &o[1], &r.i.more[1]));
		DECODE_TRY(decode_source(d, f, &r, &o[2], (enum ptx_type)in->type, &r.i.a));
		DECODE_TRY(member_mask(d, f, in, &r, 3));
		r.i.more[3] = ptx_type_bytes((enum ptx_type)in->type) == 8;
		break;
	}
	default:
		r.i.op = EXEC_activemask;
		break;
	}
	return decode_emit(d, &r);
}

static int question(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in)
{
	struct decode_record r;
	bool space = in->op == PTX_OP_ISSPACEP;
	DECODE_TRY(decode_begin(d, f, in, &r));
	DECODE_TRY(decode_dest(d, f, &r, &in->operand[0], &r.i.dst));
	DECODE_TRY(decode_source(d, f, &r, &in->operand[2], space ? PTX_U64 : (enum ptx_type)in->type, &r.i.a));
	r.i.op = space ? EXEC_isspace : EXEC_testp;
	r.i.more[0] = space ? in->space : in->type;
	r.i.more[1] = !space ? in->sub : decode_reg_wide(f, in->operand[2].reg) ? 8 : 4;
	r.i.more[2] = in->sub == PTX_SUB_CLUSTER;
	if (r.i.dst == FUNC_NONE)
		r.i.op = EXEC_nothing;
	return decode_emit(d, &r);
}

static int only_time(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in)
{
	struct decode_record r;
	DECODE_TRY(decode_begin(d, f, in, &r));
	r.i.op = in->op == PTX_OP_TRAP || in->op == PTX_OP_BRKPT ? EXEC_trap : EXEC_nothing;
	r.i.kind = in->op == PTX_OP_MEMBAR || in->op == PTX_OP_FENCE ? FUNC_FENCE : FUNC_ALU;
	return decode_emit(d, &r);
}

static int barrier(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in)
{
	struct decode_record r;
	DECODE_TRY(decode_begin(d, f, in, &r));
	r.i.kind = FUNC_BARRIER;
	r.i.flags |= in->op == PTX_OP_BAR_ARRIVE ? FUNC_ARRIVE : in->op == PTX_OP_BAR_WARP_SYNC ? FUNC_WARP_SYNC : 0;
	DECODE_TRY(decode_source(d, f, &r, &in->operand[0], PTX_U32, &r.i.a));
	if (in->operand_count > 1)
		DECODE_TRY(decode_source(d, f, &r, &in->operand[1], PTX_U32, &r.i.b));
	return decode_emit(d, &r);
}

int decode_inst(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in)
{
	bool pred = in->type == PTX_PRED;
	switch ((enum ptx_op)in->op) {
	case PTX_OP_ADD:
	case PTX_OP_SUB:
		return in->mods & PTX_CC_OUT ? carry(d, f, in) : arithmetic(d, f, in, 2);
	case PTX_OP_ADDC:
	case PTX_OP_SUBC:
	case PTX_OP_MADC:
		return carry(d, f, in);
	case PTX_OP_MAD:
		return in->mods & PTX_CC_OUT ? carry(d, f, in) : arithmetic(d, f, in, 3);
	case PTX_OP_MAD24:
	case PTX_OP_FMA:
	case PTX_OP_SAD:
		return arithmetic(d, f, in, 3);
	case PTX_OP_MUL:
	case PTX_OP_MUL24:
	case PTX_OP_DIV:
	case PTX_OP_REM:
	case PTX_OP_MIN:
	case PTX_OP_MAX:
	case PTX_OP_COPYSIGN:
	case PTX_OP_SHL:
	case PTX_OP_SHR:
		return arithmetic(d, f, in, 2);
	case PTX_OP_AND:
	case PTX_OP_OR:
	case PTX_OP_XOR:
		return pred ? decode_logic_pred(d, f, in) : arithmetic(d, f, in, 2);
	case PTX_OP_NOT:
		return pred ? decode_logic_pred(d, f, in) : arithmetic(d, f, in, 1);
	case PTX_OP_ABS:
	case PTX_OP_NEG:
	case PTX_OP_RCP:
	case PTX_OP_SQRT:
	case PTX_OP_RSQRT:
	case PTX_OP_SIN:
	case PTX_OP_COS:
	case PTX_OP_EX2:
	case PTX_OP_LG2:
	case PTX_OP_TANH:
	case PTX_OP_CNOT:
	case PTX_OP_POPC:
	case PTX_OP_CLZ:
	case PTX_OP_BREV:
		return arithmetic(d, f, in, 1);
	case PTX_OP_BFIND:
	case PTX_OP_BFE:
	case PTX_OP_BFI:
		return bit_field(d, f, in);
	case PTX_OP_LOP3:
		return logic_of_three(d, f, in);
	case PTX_OP_SHF:
	case PTX_OP_PRMT:
	case PTX_OP_SLCT:
		return three_inputs(d, f, in);
	case PTX_OP_SET:
	case PTX_OP_SETP:
		return compare(d, f, in);
	case PTX_OP_SELP:
		return select_pred(d, f, in);
	case PTX_OP_MOV:
		return decode_mov(d, f, in);
	case PTX_OP_CVT:
		return decode_cvt(d, f, in);
	case PTX_OP_CVTA:
		return decode_cvta(d, f, in);
	case PTX_OP_TESTP:
	case PTX_OP_ISSPACEP:
		return question(d, f, in);
	case PTX_OP_VOTE:
	case PTX_OP_SHFL:
	case PTX_OP_MATCH:
	case PTX_OP_ACTIVEMASK:
		return lanes(d, f, in);
	case PTX_OP_LD:
	case PTX_OP_LDU:
	case PTX_OP_ST:
	case PTX_OP_ATOM:
	case PTX_OP_RED:
		return decode_memory(d, f, in);
	case PTX_OP_TEX:
	case PTX_OP_TLD4:
		return decode_texture(d, f, in);
	case PTX_OP_SULD:
	case PTX_OP_SUST:
	case PTX_OP_SURED:
		return decode_surface(d, f, in);
	case PTX_OP_MEMBAR:
	case PTX_OP_FENCE:
	case PTX_OP_PREFETCH:
	case PTX_OP_NANOSLEEP:
	case PTX_OP_TRAP:
	case PTX_OP_BRKPT: /* no debugger takes it */
		return only_time(d, f, in);
	case PTX_OP_BAR_SYNC:
	case PTX_OP_BARRIER_SYNC:
	case PTX_OP_BAR_ARRIVE:
	case PTX_OP_BAR_WARP_SYNC:
		return barrier(d, f, in);
	default:
		return decode_extra(d, f, in);
	}
}
