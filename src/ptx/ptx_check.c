/* Whether an instruction makes sense: what its operands and modifiers may be. What passes here can be executed without
 * further questions about types. */
#include "ptx/ptx_impl.h"
#include <stdio.h>
#include <string.h>

enum ptx_type ptx_widen(enum ptx_type t)
{
	switch (t) {
	case PTX_U16:
		return PTX_U32;
	case PTX_S16:
		return PTX_S32;
	case PTX_U32:
		return PTX_U64;
	case PTX_S32:
		return PTX_S64;
	default:
		return t;
	}
}

/* Same size and the same kind, or one of them untyped bits; relaxed (ld, st, cvt): the register may be wider. */
static bool reg_fits(enum ptx_type want, enum ptx_type reg, bool relaxed)
{
	char a = ptx_type_class(want), b = ptx_type_class(reg);
	unsigned n = ptx_type_bytes(want), m = ptx_type_bytes(reg);
	if (a == 'p' || b == 'p')
		return a == b;
	if (n == m)
		return a == b ? a != 'f' || want == reg : a == 'b' || b == 'b';
	if (!relaxed || m < n)
		return false;
	return a == 'f' ? b == 'b' : b != 'f' || a == 'b';
}

static int bad_reg(struct ptx_parser *p, const struct ptx_inst *in, const struct ptx_operand *o,
		   const struct ptx_place *at, const char *want)
{
	const struct ptx_reg *r = &p->regs.v[o->reg];
	return ptx_fail(p, at->line, at->column, "'%s' is a .%s register; %s needs %s here", r->name,
			ptx_type_name((enum ptx_type)r->type), ptx_op_name(in->op), want);
}

static int bad_operand(struct ptx_parser *p, const struct ptx_inst *in, const struct ptx_place *at, const char *want)
{
	return ptx_fail(p, at->line, at->column, "%s needs %s here", ptx_op_name(in->op), want);
}

static int check_literal(struct ptx_parser *p, const struct ptx_inst *in, enum ptx_type type,
			 const struct ptx_operand *o, const struct ptx_place *at)
{
	unsigned bytes = ptx_type_bytes(type);
	char class = ptx_type_class(type);
	if (type == PTX_PRED) {
		if (in->op == PTX_OP_MOV && o->kind == PTX_OPND_INT)
			return 0;
		return bad_operand(p, in, at, "a predicate register");
	}
	if (o->kind == PTX_OPND_INT) {
		if (class == 'f')
			return ptx_fail(p, at->line, at->column,
					"%s on .%s needs a floating-point constant (1.0, 0f3F800000), not an integer",
					ptx_op_name(in->op), ptx_type_name(type));
		if (bytes < 8 && o->imm >> (bytes * 8) && ~o->imm >> (bytes * 8 - 1))
			return ptx_fail(p, at->line, at->column, "%lld does not fit .%s", (long long)o->imm,
					ptx_type_name(type));
		return 0;
	}
	if (class == 'f' && bytes >= 4 && type != PTX_F16X2)
		return 0;
	if (class == 'b' && bytes == (o->kind == PTX_OPND_F32 ? 4u : 8u))
		return 0;
	return ptx_fail(p, at->line, at->column, "a floating-point constant does not fit .%s", ptx_type_name(type));
}

static int check_source(struct ptx_parser *p, const struct ptx_inst *in, enum ptx_type type, bool relaxed,
			const struct ptx_operand *o, const struct ptx_place *at)
{
	char want[48];
	switch (o->kind) {
	case PTX_OPND_REG:
		if (reg_fits(type, (enum ptx_type)p->regs.v[o->reg].type, relaxed))
			return 0;
		snprintf(want, sizeof want, "a .%s register", ptx_type_name(type));
		return bad_reg(p, in, o, at, want);
	case PTX_OPND_INT:
	case PTX_OPND_F32:
	case PTX_OPND_F64:
		return check_literal(p, in, type, o, at);
	case PTX_OPND_SREG: {
		enum ptx_type s = ptx_sreg_type((enum ptx_sreg)o->index);
		bool legacy = o->index <= PTX_SREG_NCTAID_Z && ptx_type_bytes(type) == 2;
		bool grid = o->index == PTX_SREG_GRIDID && ptx_type_bytes(type) == 4;
		if (in->op != PTX_OP_MOV && in->op != PTX_OP_CVT)
			return bad_operand(p, in, at, "a register or a constant; special registers are read by mov");
		if (ptx_is_float(type) || (type == PTX_PRED) != (s == PTX_PRED) ||
		    (!legacy && !grid && ptx_type_bytes(s) != ptx_type_bytes(type)))
			return ptx_fail(p, at->line, at->column, "%s is .%s; .%s does not fit",
					ptx_sreg_name((enum ptx_sreg)o->index), ptx_type_name(s), ptx_type_name(type));
		return 0;
	}
	case PTX_OPND_FUNC:
	case PTX_OPND_SYMBOL:
		if (in->op != PTX_OP_MOV && in->op != PTX_OP_CVTA)
			return bad_operand(p, in, at,
					   "a register or a constant; the address of a variable is read by mov");
		if (ptx_type_bytes(type) < 4 || ptx_is_float(type) || type == PTX_B128)
			return ptx_fail(p, at->line, at->column, "an address does not fit .%s", ptx_type_name(type));
		return 0;
	default:
		snprintf(want, sizeof want, "a .%s register or constant", ptx_type_name(type));
		return bad_operand(p, in, at, want);
	}
}

static int check_dest(struct ptx_parser *p, const struct ptx_inst *in, enum ptx_type type, bool relaxed,
		      const struct ptx_operand *o, const struct ptx_place *at)
{
	char want[48];
	snprintf(want, sizeof want, "a .%s register", ptx_type_name(type));
	if (o->kind != PTX_OPND_REG || o->negated)
		return bad_operand(p, in, at, want);
	return reg_fits(type, (enum ptx_type)p->regs.v[o->reg].type, relaxed) ? 0 : bad_reg(p, in, o, at, want);
}

static bool is_pred(const struct ptx_parser *p, const struct ptx_operand *o)
{
	return o->kind == PTX_OPND_REG && p->regs.v[o->reg].type == PTX_PRED;
}

/* A vector's elements, or one scalar, of the instruction's type. */
static int check_data(struct ptx_parser *p, const struct ptx_inst *in, bool dest, const struct ptx_operand *o,
		      const struct ptx_place *at)
{
	enum ptx_type type = (enum ptx_type)in->type;
	const bool relaxed = in->op != PTX_OP_ATOM && in->op != PTX_OP_MOV;
	if (in->vec_width == 1) {
		if (o->kind == PTX_OPND_VECTOR)
			return ptx_fail(p, at->line, at->column, "%s without .v2 or .v4 takes one register",
					ptx_op_name(in->op));
		return dest ? check_dest(p, in, type, relaxed, o, at) : check_source(p, in, type, relaxed, o, at);
	}
	if (o->kind != PTX_OPND_VECTOR || o->count != in->vec_width)
		return ptx_fail(p, at->line, at->column, "%s.v%u takes {%u registers}", ptx_op_name(in->op),
				in->vec_width, in->vec_width);
	for (unsigned i = 0; i < o->count; i++) {
		const struct ptx_operand *e = &in->vec[o->index + (int)i];
		if (dest && e->kind == PTX_OPND_SINK)
			continue;
		PTX_TRY(dest ? check_dest(p, in, type, relaxed, e, at) : check_source(p, in, type, relaxed, e, at));
	}
	return 0;
}

/* mov packs {a, b} into one register or takes it apart: equal elements that fill it. */
static int check_pack(struct ptx_parser *p, const struct ptx_inst *in, bool dest, const struct ptx_operand *o,
		      const struct ptx_place *at)
{
	enum ptx_type type = (enum ptx_type)in->type;
	unsigned total = ptx_type_bytes(type), each = o->count ? total / o->count : 0;
	if (ptx_type_class(type) != 'b')
		return ptx_fail(p, at->line, at->column, "packing needs an untyped mov (.b32 .b64), not .%s",
				ptx_type_name(type));
	if ((o->count != 2 && o->count != 4) || each < 1)
		return ptx_fail(p, at->line, at->column, "a mov packs 2 or 4 elements");
	for (unsigned i = 0; i < o->count; i++) {
		const struct ptx_operand *e = &in->vec[o->index + (int)i];
		if (dest && e->kind == PTX_OPND_SINK)
			continue;
		if (!dest && e->kind == PTX_OPND_INT &&
		    (each >= 8 || !(e->imm >> (each * 8)) || !(~e->imm >> (each * 8 - 1))))
			continue;
		if (e->kind != PTX_OPND_REG)
			return ptx_fail(p, at->line, at->column, "the elements of a packed mov are registers%s",
					dest ? "" : " or constants that fit");
		if (ptx_type_bytes((enum ptx_type)p->regs.v[e->reg].type) != each)
			return ptx_fail(p, at->line, at->column, "the elements of this mov.%s are registers of %u bits",
					ptx_type_name(type), each * 8);
	}
	return 0;
}

static enum ptx_space symbol_space(const struct ptx_parser *p, int32_t sym)
{
	return sym >= 0 ? (enum ptx_space)p->vars.v[sym].space : PTX_PARAM;
}

const char *ptx_space_name(enum ptx_space s)
{
	return s == PTX_TEX ? "tex" : ptx_word_of(M_SPACE, s);
}

static int check_address(struct ptx_parser *p, const struct ptx_inst *in, const struct ptx_operand *o,
			 const struct ptx_place *at)
{
	if (o->kind != PTX_OPND_ADDRESS)
		return bad_operand(p, in, at, "an address in [ ]");
	if (o->has_reg) {
		enum ptx_type t = (enum ptx_type)p->regs.v[o->reg].type;
		if ((ptx_type_class(t) != 'i' && ptx_type_class(t) != 'b') || ptx_type_bytes(t) < 4 || t == PTX_B128)
			return ptx_fail(p, at->line, at->column,
					"'%s' is a .%s register; an address is an integer of 32 or 64 bits",
					p->regs.v[o->reg].name, ptx_type_name(t));
		return 0;
	}
	if (o->sym == -1) {
		if (in->space == PTX_PARAM)
			return ptx_fail(p, at->line, at->column, "a parameter is addressed by its name");
		return 0;
	}
	enum ptx_space have = symbol_space(p, o->sym);
	if (in->space != PTX_GENERIC && have != in->space)
		return ptx_fail(p, at->line, at->column, "this name is in .%s, %s reads .%s", ptx_space_name(have),
				ptx_op_name(in->op), ptx_space_name((enum ptx_space)in->space));
	if (in->space == PTX_GENERIC && have != PTX_GLOBAL && have != PTX_SHARED && have != PTX_LOCAL)
		return ptx_fail(p, at->line, at->column, "this name is in .%s: write %s.%s", ptx_space_name(have),
				ptx_op_name(in->op), ptx_space_name(have));
	uint64_t size = o->sym >= 0 ? p->vars.v[o->sym].size : 0;
	if (o->sym <= -2) {
		uint32_t k = (uint32_t)(-2 - o->sym);
		size = k < p->f->param_count ? p->f->params[k].size : p->f->rets[k - p->f->param_count].size;
	}
	unsigned bytes = ptx_type_bytes((enum ptx_type)in->type) * in->vec_width;
	bool open =
	    o->sym >= 0 ? p->vars.v[o->sym].external || p->vars.v[o->sym].linkage == PTX_EXTERN : o->sym <= -2 && !size;
	if (in->space == PTX_PARAM && !open && (o->offset < 0 || (uint64_t)o->offset + bytes > size))
		return ptx_fail(p, at->line, at->column, "bytes %lld to %lld are outside of the parameter's %llu bytes",
				(long long)o->offset, (long long)o->offset + bytes - 1, (unsigned long long)size);
	return 0;
}

static int check_int_source(struct ptx_parser *p, const struct ptx_inst *in, const struct ptx_operand *o,
			    const struct ptx_place *at)
{
	if (o->kind == PTX_OPND_INT)
		return check_literal(p, in, PTX_U32, o, at);
	if (o->kind != PTX_OPND_REG)
		return bad_operand(p, in, at, "a 32-bit integer register or constant");
	enum ptx_type t = (enum ptx_type)p->regs.v[o->reg].type;
	if (ptx_type_bytes(t) != 4 || ptx_is_float(t))
		return bad_reg(p, in, o, at, "a 32-bit integer register");
	return 0;
}

static int check_pointer(struct ptx_parser *p, const struct ptx_inst *in, const struct ptx_operand *o,
			 const struct ptx_place *at)
{
	if (o->kind != PTX_OPND_REG)
		return bad_operand(p, in, at, "a register that holds an address");
	bool narrow = ptx_type_bytes((enum ptx_type)p->regs.v[o->reg].type) == 4;
	return check_source(p, in, narrow ? PTX_B32 : PTX_B64, false, o, at);
}

int ptx_check_operand(struct ptx_parser *p, const struct ptx_inst *in, char letter, const struct ptx_operand *o,
		      const struct ptx_place *at)
{
	enum ptx_type type = (enum ptx_type)in->type, type2 = (enum ptx_type)in->type2;
	bool relaxed = in->op == PTX_OP_CVT;
	bool vector_only = letter == 'V' || letter == 'v' || letter == 'X' || letter == 'z' || letter == 'j';
	if (o->kind == PTX_OPND_VECTOR && !vector_only)
		return bad_operand(p, in, at, "one operand, not a list in { }");
	if (o->negated && letter != 'p' && !(type == PTX_PRED && letter == 'a'))
		return bad_operand(p, in, at, "an operand without '!'");
	switch (letter) {
	case 'Q': /* match answers with a mask of lanes */
		if (in->op == PTX_OP_LOP3 && o->kind == PTX_OPND_SINK)
			return 0;
		return check_dest(p, in, in->op == PTX_OP_MATCH ? PTX_B32 : type, false, o, at);
	case 'd':
		return check_dest(p, in, type, relaxed, o, at);
	case 'D':
		return check_dest(p, in, in->mods & PTX_WIDE ? ptx_widen(type) : type, false, o, at);
	case 't':
		return check_dest(p, in, type2, false, o, at);
	case 'e':
		return check_dest(p, in, PTX_B32, false, o, at);
	case 'P':
	case 'q':
		if (o->kind == PTX_OPND_SINK || is_pred(p, o))
			return 0;
		return o->kind == PTX_OPND_REG ? bad_reg(p, in, o, at, "a .pred register")
					       : bad_operand(p, in, at, "a .pred register");
	case 'B':
		return check_dest(p, in, in->sub == PTX_SUB_BALLOT ? PTX_B32 : PTX_PRED, false, o, at);
	case 'V':
		return check_data(p, in, true, o, at);
	case 'v':
		return check_data(p, in, false, o, at);
	case 'a':
		return in->op == PTX_OP_ISSPACEP ? check_pointer(p, in, o, at)
						 : check_source(p, in, type, relaxed, o, at);
	case 'w':
		return check_source(p, in, in->mods & PTX_WIDE ? ptx_widen(type) : type, false, o, at);
	case 's':
		return check_source(p, in, type2, relaxed, o, at);
	case 'u':
		return check_int_source(p, in, o, at);
	case 'p':
		return is_pred(p, o) || ((in->op == PTX_OP_SELP || in->op == PTX_OP_VOTE) && o->kind == PTX_OPND_INT)
			   ? 0
			   : bad_operand(p, in, at, "a .pred register");
	case 'z':
		if (in->vec_width > 1)
			return check_data(p, in, true, o, at);
		return o->kind == PTX_OPND_VECTOR ? check_pack(p, in, true, o, at)
						  : check_dest(p, in, type, false, o, at);
	case 'X':
		if (in->vec_width > 1)
			return check_data(p, in, false, o, at);
		if (o->kind == PTX_OPND_VECTOR)
			return in->operand[0].kind == PTX_OPND_VECTOR
				   ? bad_operand(p, in, at, "one register, the destination being a list")
				   : check_pack(p, in, false, o, at);
		return check_source(p, in, type, false, o, at);
	case 'm':
		return check_address(p, in, o, at);
	case 'h':
		if (!(in->mods & PTX_POLICY))
			return bad_operand(p, in, at, "no more operands without .L2::cache_hint");
		return check_source(p, in, PTX_B64, false, o, at);
	case 'i':
		return o->kind == PTX_OPND_INT && o->imm < 256 ? 0 : bad_operand(p, in, at, "a constant from 0 to 255");
	default:
		return 0; /* labels and lists were checked while they were read */
	}
}

int ptx_check_inst(struct ptx_parser *p, const struct ptx_inst *in)
{
	unsigned want = in->operand_count;
	const char *why = "";
	unsigned policy = in->mods & PTX_POLICY ? 1 : 0;
	switch (in->op) {
	case PTX_OP_LD:
	case PTX_OP_ST:
	case PTX_OP_RED:
		want = 2 + policy;
		why = "a cache policy goes with .L2::cache_hint";
		break;
	case PTX_OP_CVT:
		want = ptx_cvt_pairs(in) ? 3 : 2;
		why = ptx_cvt_pairs(in) ? "two values make a pair" : "one value";
		break;
	case PTX_OP_SET:
		want = in->boolop ? 4 : 3;
		why = in->boolop ? "a predicate goes with .and .or .xor" : "a predicate needs .and, .or or .xor";
		break;
	case PTX_OP_LOP3:
		want = in->boolop ? 7 : 6;
		why = in->boolop ? "a predicate goes with .and .or .xor" : "a predicate needs .and, .or or .xor";
		if (!in->boolop && (in->operand[0].kind == PTX_OPND_SINK || in->operand[1].kind != PTX_OPND_SINK))
			return ptx_fail(p, in->line, in->column, "lop3 gives a predicate with .and, .or or .xor");
		break;
	case PTX_OP_SETP:
		want = in->boolop ? 5 : 4;
		why = in->boolop ? "a predicate goes with .and .or .xor" : "a predicate needs .and, .or or .xor";
		break;
	case PTX_OP_SHFL:
		want = in->mods & PTX_SYNC ? 6 : 5;
		why = "the mask of lanes goes with .sync";
		break;
	case PTX_OP_VOTE:
		want = in->mods & PTX_SYNC ? 3 : 2;
		why = "the mask of lanes goes with .sync";
		break;
	case PTX_OP_ATOM:
		want = (in->atom == PTX_ATOM_CAS ? 4 : 3) + policy;
		why = in->atom == PTX_ATOM_CAS ? "cas compares and swaps: two values" : "one value";
		break;
	case PTX_OP_CALL: {
		if (in->operand[1].kind == PTX_OPND_REG) {
			const struct ptx_prototype *t = &p->prototypes.v[in->operand[3].index];
			if (in->operand[0].count != t->ret_count || in->operand[2].count != t->param_count)
				return ptx_fail(
				    p, in->line, in->column,
				    "the prototype has %u results and %u parameters, this call has %u and %u",
				    t->ret_count, t->param_count, in->operand[0].count, in->operand[2].count);
			break;
		}
		const struct ptx_func *f =
		    in->operand[1].index == p->func_index ? p->f : &p->funcs.v[in->operand[1].index];
		if (f->entry)
			return ptx_fail(p, in->line, in->column, "'%s' is a kernel; only a .func can be called",
					f->name);
		if (in->operand[0].count != f->ret_count || in->operand[2].count != f->param_count)
			return ptx_fail(p, in->line, in->column,
					"'%s' has %u results and %u parameters, this call has %u and %u", f->name,
					f->ret_count, f->param_count, in->operand[0].count, in->operand[2].count);
		break;
	}
	default:
		break;
	}
	bool barrier = in->op == PTX_OP_BAR_SYNC || in->op == PTX_OP_BARRIER_SYNC || in->op == PTX_OP_BAR_ARRIVE;
	const struct ptx_operand *threads = &in->operand[1];
	if (barrier && in->operand_count == 2 && threads->kind == PTX_OPND_INT && (threads->imm % 32 || !threads->imm))
		return ptx_fail(p, in->line, in->column, "a barrier is for a multiple of 32 threads, not for %lld",
				(long long)threads->imm);
	if (in->op == PTX_OP_MATCH && in->sub == PTX_SUB_ANY && in->operand[1].kind != PTX_OPND_SINK)
		return ptx_fail(p, in->line, in->column, "match.any has one destination only");
	if (barrier && in->operand[0].kind == PTX_OPND_INT && in->operand[0].imm > 15)
		return ptx_fail(p, in->line, in->column, "barriers have the numbers 0 to 15");
	if (want != in->operand_count)
		return ptx_fail(p, in->line, in->column, "%s has a wrong number of operands: %s", ptx_op_name(in->op),
				why);
	return 0;
}
