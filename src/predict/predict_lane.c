/* What is known of a warp's registers. Integers, predicates, addresses and the plain arithmetic of floating point are followed. What comes
 * from memory is drawn: the same place gives the same value, and what is computed from it is not known either. */
#include "predict/predict_impl.h"
#include <math.h>
#include <string.h>

static unsigned bits_of(uint8_t type)
{
	switch (type) {
	case PTX_PRED:
		return 1;
	case PTX_B8:
	case PTX_U8:
	case PTX_S8:
		return 8;
	case PTX_B16:
	case PTX_U16:
	case PTX_S16:
	case PTX_F16:
		return 16;
	case PTX_B32:
	case PTX_U32:
	case PTX_S32:
	case PTX_F32:
	case PTX_F16X2:
		return 32;
	default:
		return 64;
	}
}

static bool is_signed(uint8_t type)
{
	return type == PTX_S8 || type == PTX_S16 || type == PTX_S32 || type == PTX_S64;
}

static bool is_integer(uint8_t type)
{
	return type != PTX_F16 && type != PTX_F16X2 && type != PTX_F32 && type != PTX_F64 && type != PTX_B128;
}

static bool is_float(uint8_t type)
{
	return type == PTX_F32 || type == PTX_F64;
}

static bool is_number(uint8_t type)
{
	return is_integer(type) || is_float(type);
}

static double number_of(uint64_t v, uint8_t type)
{
	const uint32_t low = (uint32_t)v;
	float single;
	double d;
	memcpy(&single, &low, sizeof single);
	memcpy(&d, &v, sizeof d);
	return type == PTX_F32 ? single : d;
}

static uint64_t bits_from(double d, uint8_t type)
{
	const float single = (float)d;
	uint32_t low;
	uint64_t v;
	memcpy(&low, &single, sizeof low);
	memcpy(&v, &d, sizeof v);
	return type == PTX_F32 ? low : v;
}

static uint64_t cut(uint64_t v, unsigned bits)
{
	return bits < 64 ? v & ((1ull << bits) - 1) : v;
}

/* To 64 bits, with its sign where it has one. */
static uint64_t wide(uint64_t v, uint8_t type)
{
	unsigned bits = bits_of(type);
	v = cut(v, bits);
	if (is_signed(type) && bits < 64 && v >> (bits - 1))
		v |= ~0ull << bits;
	return v;
}

static uint64_t special(const struct walker *w, int32_t sreg, unsigned lane, bool *known)
{
	const struct predict_request *q = w->all->q;
	uint32_t thread = w->warp * w->all->warp_size + lane;
	*known = true;
	switch (sreg) {
	case PTX_SREG_TID_X:
		return thread % q->block[0];
	case PTX_SREG_TID_Y:
		return thread / q->block[0] % q->block[1];
	case PTX_SREG_TID_Z:
		return thread / q->block[0] / q->block[1];
	case PTX_SREG_NTID_X:
	case PTX_SREG_NTID_Y:
	case PTX_SREG_NTID_Z:
		return q->block[sreg - PTX_SREG_NTID_X];
	case PTX_SREG_CTAID_X:
	case PTX_SREG_CTAID_Y:
	case PTX_SREG_CTAID_Z:
		return w->block[sreg - PTX_SREG_CTAID_X];
	case PTX_SREG_NCTAID_X:
	case PTX_SREG_NCTAID_Y:
	case PTX_SREG_NCTAID_Z:
		return q->grid[sreg - PTX_SREG_NCTAID_X];
	case PTX_SREG_LANEID:
		return lane;
	case PTX_SREG_WARPID:
		return w->warp;
	case PTX_SREG_NSMID:
		return w->all->sm_count;
	case PTX_SREG_DYNAMIC_SMEM_SIZE:
		return q->shared_bytes;
	case PTX_SREG_TOTAL_SMEM_SIZE:
		return q->shared_bytes + w->all->shared_static;
	default:
		*known = false;
		return 0;
	}
}

/* 1 + the buffer that an address lies in. */
static uint32_t buffer_of(uint64_t address)
{
	uint64_t k = address >> BUFFER_SHIFT;
	return k < UINT32_MAX ? (uint32_t)k : 0;
}

/* Something that a and b decide, and nobody knows how: mixed as splitmix64 does it. */
static uint64_t drawn(uint64_t a, uint64_t b)
{
	uint64_t v = (a ^ (b + 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u) * 0x94d049bb133111ebu;
	v = (v ^ v >> 31) * 0xbf58476d1ce4e5b9u;
	return v ^ v >> 29;
}

static struct lanes constant(uint64_t v)
{
	struct lanes l = {.known = ~0ull, .buffer = buffer_of(v)};
	for (unsigned k = 0; k < PREDICT_LANES; k++)
		l.v[k] = v;
	return l;
}

static uint64_t symbol_address(const struct walker *w, int32_t sym)
{
	return sym >= 0 ? w->all->symbol[sym] : 0;
}

/* Parameter number -(sym + 2): its address in the parameters' own space is its number, over 2^32. */
static struct lanes argument(const struct walker *w, int32_t sym, int64_t offset)
{
	uint32_t n = (uint32_t)(-(int64_t)sym - 2);
	const struct ptx_func *f = w->all->entry;
	if (n >= f->param_count || offset != 0)
		return (struct lanes){.known = 0};
	const struct predict_arg *a = &w->all->q->args[n];
	return constant(a->buffer ? (uint64_t)(n + 1) << BUFFER_SHIFT : a->bits);
}

struct lanes lane_operand(struct walker *w, const struct ptx_operand *o, uint8_t type)
{
	struct lanes l = {.known = 0};
	switch (o->kind) {
	case PTX_OPND_REG:
		l = w->reg[o->reg];
		if (o->negated)
			for (unsigned k = 0; k < PREDICT_LANES; k++)
				l.v[k] = type == PTX_PRED ? !l.v[k]
					 : is_float(type) ? bits_from(-number_of(l.v[k], type), type)
							  : 0 - l.v[k];
		return l;
	case PTX_OPND_INT:
		return constant(o->imm);
	case PTX_OPND_F32:
	case PTX_OPND_F64:
		return constant(o->imm);
	case PTX_OPND_SYMBOL:
		return constant(symbol_address(w, o->sym) + (uint64_t)o->offset);
	case PTX_OPND_ADDRESS:
		if (!o->has_reg)
			return constant(symbol_address(w, o->sym) + (uint64_t)o->offset);
		l = w->reg[o->reg];
		for (unsigned k = 0; k < PREDICT_LANES; k++)
			l.v[k] += (uint64_t)o->offset;
		return l;
	case PTX_OPND_SREG:
		for (unsigned k = 0; k < PREDICT_LANES; k++) {
			bool known;
			l.v[k] = special(w, o->index, k, &known);
			l.known |= (uint64_t)known << k;
		}
		return l;
	default:
		return l;
	}
}

struct lanes lane_address(struct walker *w, const struct ptx_inst *in, uint64_t mask)
{
	const struct predict_request *q = w->all->q;
	struct lanes l = lane_operand(w, &in->operand[in->op == PTX_OP_ST || in->op == PTX_OP_RED ? 0 : 1], PTX_U64);
	const bool buffer = l.buffer && l.buffer <= w->all->entry->param_count && q->args[l.buffer - 1].buffer;
	const uint64_t base = (uint64_t)(buffer ? l.buffer : 0) << BUFFER_SHIFT,
		       bytes = buffer			 ? q->args[l.buffer - 1].bytes
			       : in->space == PTX_SHARED ? w->all->shared_static + q->shared_bytes
							 : 0;
	for (uint64_t rest = bytes ? mask & ~l.known : 0; rest; rest &= rest - 1) {
		const unsigned k = (unsigned)__builtin_ctzll(rest);
		l.v[k] = base + (l.v[k] - base) % bytes;
	}
	l.drawn = bytes > 0;
	return l;
}

static bool compare(uint8_t cmp, uint8_t type, uint64_t a, uint64_t b, bool *known)
{
	bool sign = is_signed(type);
	int64_t x = (int64_t)a, y = (int64_t)b;
	switch (cmp) {
	case PTX_EQ:
		return a == b;
	case PTX_NE:
		return a != b;
	case PTX_LT:
		return sign ? x < y : a < b;
	case PTX_LE:
		return sign ? x <= y : a <= b;
	case PTX_GT:
		return sign ? x > y : a > b;
	case PTX_GE:
		return sign ? x >= y : a >= b;
	case PTX_LO:
		return a < b;
	case PTX_LS:
		return a <= b;
	case PTX_HI:
		return a > b;
	case PTX_HS:
		return a >= b;
	default:
		*known = false;
		return false;
	}
}

/* Ordered as numbers are. With an operand that is none, only an unordered comparison holds. */
static bool compare_floats(uint8_t cmp, double x, double y)
{
	const bool none = x != x || y != y;
	switch (cmp) {
	case PTX_EQ:
	case PTX_EQU:
		return none ? cmp == PTX_EQU : x >= y && x <= y;
	case PTX_NE:
	case PTX_NEU:
		return none ? cmp == PTX_NEU : x < y || x > y;
	case PTX_LT:
	case PTX_LTU:
		return none ? cmp == PTX_LTU : x < y;
	case PTX_LE:
	case PTX_LEU:
		return none ? cmp == PTX_LEU : x <= y;
	case PTX_GT:
	case PTX_GTU:
		return none ? cmp == PTX_GTU : x > y;
	case PTX_GE:
	case PTX_GEU:
		return none ? cmp == PTX_GEU : x >= y;
	default:
		return none == (cmp == PTX_NAN);
	}
}

static uint64_t logic(uint8_t op, uint64_t a, uint64_t b)
{
	return op == PTX_BOOL_AND ? (a & b) : op == PTX_BOOL_OR ? (a | b) : op == PTX_BOOL_XOR ? (a ^ b) : a;
}

/* Rounded to nearest, and approximations as what they approximate: a branch that such a bit decides is rare. */
static uint64_t calculate_float(const struct ptx_inst *in, const uint64_t *x, bool *known)
{
	const double a = number_of(x[0], in->type), b = number_of(x[1], in->type), c = number_of(x[2], in->type);
	switch (in->op) {
	case PTX_OP_ADD:
		return bits_from(a + b, in->type);
	case PTX_OP_SUB:
		return bits_from(a - b, in->type);
	case PTX_OP_MUL:
		return bits_from(a * b, in->type);
	case PTX_OP_MAD:
	case PTX_OP_FMA:
		return bits_from(fma(a, b, c), in->type);
	case PTX_OP_DIV:
		return bits_from(a / b, in->type);
	case PTX_OP_RCP:
		return bits_from(1 / a, in->type);
	case PTX_OP_SQRT:
		return bits_from(sqrt(a), in->type);
	case PTX_OP_NEG:
		return bits_from(-a, in->type);
	case PTX_OP_ABS:
		return bits_from(fabs(a), in->type);
	case PTX_OP_MIN:
		return bits_from(fmin(a, b), in->type);
	case PTX_OP_MAX:
		return bits_from(fmax(a, b), in->type);
	default:
		*known = false;
		return 0;
	}
}

/* Between integers and floating point. An integer is what lies next to it in the direction of zero. */
static uint64_t convert(const struct ptx_inst *in, uint64_t v, bool *known)
{
	const bool sign = is_signed(is_float(in->type2) ? in->type : in->type2);
	if (!is_float(in->type2))
		return bits_from(sign ? (double)(int64_t)v : (double)v, in->type);
	const double d = number_of(v, in->type2);
	if (is_float(in->type)) {
		*known = in->round < PTX_RNI;
		return bits_from(d, in->type);
	}
	const double most = ldexp(1, (int)bits_of(in->type) - sign), least = sign ? -most : 0;
	*known = in->round == PTX_RZI && trunc(d) >= least && trunc(d) < most;
	return !*known ? 0 : sign ? (uint64_t)(int64_t)d : (uint64_t)d;
}

/* The operation's result for one lane, of operands that were widened. */
static uint64_t calculate(const struct ptx_inst *in, const uint64_t *x, bool *known)
{
	unsigned bits = bits_of(in->type);
	bool sign = is_signed(in->type);
	uint64_t a = x[0], b = x[1], c = x[2];
	if (in->op == PTX_OP_CVT && (is_float(in->type) || is_float(in->type2)))
		return convert(in, a, known);
	if (is_float(in->type) && in->op != PTX_OP_MOV && in->op != PTX_OP_SELP)
		return calculate_float(in, x, known);
	switch (in->op) {
	case PTX_OP_MOV:
	case PTX_OP_CVTA:
		return a;
	case PTX_OP_ADD:
		return a + b;
	case PTX_OP_SUB:
		return a - b;
	case PTX_OP_MUL:
	case PTX_OP_MUL24:
		*known = !(in->mods & PTX_HI_PART);
		return a * b;
	case PTX_OP_MAD:
	case PTX_OP_MAD24:
		*known = !(in->mods & PTX_HI_PART);
		return a * b + c;
	case PTX_OP_DIV:
		*known = b != 0;
		return !b     ? 0
		       : sign ? (uint64_t)((int64_t)a / (b == ~0ull ? 1 : (int64_t)b)) * (b == ~0ull ? ~0ull : 1)
			      : a / b;
	case PTX_OP_REM:
		*known = b != 0;
		return !b ? 0 : sign ? (b == ~0ull ? 0 : (uint64_t)((int64_t)a % (int64_t)b)) : a % b;
	case PTX_OP_MIN:
		return (sign ? (int64_t)a < (int64_t)b : a < b) ? a : b;
	case PTX_OP_MAX:
		return (sign ? (int64_t)a < (int64_t)b : a < b) ? b : a;
	case PTX_OP_NEG:
		return 0 - a;
	case PTX_OP_ABS:
		return (int64_t)a < 0 ? 0 - a : a;
	case PTX_OP_AND:
		return a & b;
	case PTX_OP_OR:
		return a | b;
	case PTX_OP_XOR:
		return a ^ b;
	case PTX_OP_NOT:
		return ~a;
	case PTX_OP_SHL:
		return (b & UINT32_MAX) < bits ? a << (b & UINT32_MAX) : 0;
	case PTX_OP_SHR:
		b &= UINT32_MAX;
		if (sign)
			return (uint64_t)((int64_t)a >> ((b < bits ? b : bits - 1) & 63));
		return b < bits ? a >> b : 0;
	case PTX_OP_SELP:
		return c ? a : b;
	case PTX_OP_CVT:
		return a;
	default:
		*known = false;
		return 0;
	}
}

/* What the result depends on: a selection on its predicate, and on what that picks. */
static uint64_t known_of(const struct ptx_inst *in, const struct lanes *x, unsigned n)
{
	uint64_t known = ~0ull;
	for (unsigned k = 0; k < n; k++)
		known &= x[k].known;
	/* A product with zero, a bit that is masked out: not looked for. */
	(void)in;
	return known;
}

static void assign(struct walker *w, const struct ptx_operand *to, const struct lanes *from, uint64_t mask,
		   uint64_t sure, unsigned bits)
{
	if (to->kind != PTX_OPND_REG)
		return;
	struct lanes *l = &w->reg[to->reg];
	l->known = (l->known & ~mask) | (from->known & mask & sure);
	for (uint64_t rest = mask; rest; rest &= rest - 1) {
		unsigned k = (unsigned)__builtin_ctzll(rest);
		l->v[k] = cut(from->v[k], bits);
	}
	l->buffer = from->buffer;
}

/* from: what decides each lane's value. */
static void forget(struct walker *w, const struct ptx_inst *in, const struct ptx_operand *o, uint64_t mask,
		   const uint64_t *from, uint64_t element)
{
	if (o->kind == PTX_OPND_REG) {
		struct lanes *l = &w->reg[o->reg];
		l->known &= ~mask;
		l->buffer = 0;
		for (uint64_t rest = mask; rest; rest &= rest - 1) {
			const unsigned k = (unsigned)__builtin_ctzll(rest);
			l->v[k] = cut(drawn(from[k], element), bits_of(in->type));
		}
	}
	for (uint32_t k = 0; o->kind == PTX_OPND_VECTOR && k < o->count; k++)
		forget(w, in, &in->vec[(uint32_t)o->index + k], mask, from, element + k);
}

/* What decides the result of an operation that is not followed: its operands, and of what the lanes do together, which lane it is. */
static void forget_result(struct walker *w, const struct ptx_inst *in, uint64_t mask)
{
	const bool lanes = in->op == PTX_OP_SHFL, both = lanes || in->op == PTX_OP_MATCH || in->op == PTX_OP_TESTP,
		   atomic = in->op == PTX_OP_ATOM;
	uint64_t from[PREDICT_LANES];
	for (unsigned k = 0; k < PREDICT_LANES; k++)
		from[k] = drawn((uint64_t)in->op, (uint64_t)(lanes || atomic) * k + (uint64_t)atomic * w->draws);
	w->draws += atomic;
	if (in->op == PTX_OP_LD || in->op == PTX_OP_LDU) {
		const struct lanes l = lane_address(w, in, mask);
		memcpy(from, l.v, sizeof from);
	}
	for (uint32_t n = both ? 2 : 1; !atomic && n < in->operand_count; n++) {
		const struct lanes x = lane_operand(w, &in->operand[n], in->type);
		for (unsigned k = 0; k < PREDICT_LANES; k++)
			from[k] = drawn(from[k], x.v[k]);
	}
	forget(w, in, &in->operand[0], mask, from, 0);
	if (both)
		forget(w, in, &in->operand[1], mask, from, 1);
}

/* A parameter that is loaded, whole or element by element. */
static void load_argument(struct walker *w, const struct ptx_inst *in, uint64_t mask)
{
	const struct ptx_operand *from = &in->operand[1], *to = &in->operand[0];
	if (to->kind == PTX_OPND_VECTOR || from->has_reg || from->sym > -2) {
		const uint64_t same[PREDICT_LANES] = {0};
		forget(w, in, to, mask, same, (uint64_t)from->offset);
		return;
	}
	struct lanes l = argument(w, from->sym, from->offset);
	for (unsigned k = 0; k < PREDICT_LANES; k++)
		l.v[k] = wide(l.v[k], in->type);
	assign(w, to, &l, mask, ~0ull, bits_of(in->type));
}

static void set_predicates(struct walker *w, const struct ptx_inst *in, uint64_t mask)
{
	struct lanes a = lane_operand(w, &in->operand[2], in->type), b = lane_operand(w, &in->operand[3], in->type), p;
	struct lanes yes = {.known = a.known & b.known}, no = {.known = a.known & b.known};
	bool also = in->boolop && in->operand_count > 4;
	if (also) {
		p = lane_operand(w, &in->operand[4], PTX_PRED);
		yes.known &= p.known;
		no.known &= p.known;
	}
	for (unsigned k = 0; k < PREDICT_LANES; k++) {
		bool known = is_number(in->type);
		bool is = is_float(in->type)
			      ? compare_floats(in->cmp, number_of(a.v[k], in->type), number_of(b.v[k], in->type))
			      : compare(in->cmp, in->type, wide(a.v[k], in->type), wide(b.v[k], in->type), &known);
		/* What is not known is as often true as not. */
		if (!(yes.known >> k & 1))
			is = drawn(drawn(a.v[k], b.v[k]), in->cmp) & 1;
		yes.v[k] = also ? logic(in->boolop, is, p.v[k]) : is;
		no.v[k] = also ? logic(in->boolop, !is, p.v[k]) : !is;
		if (!known) {
			yes.known &= ~(1ull << k);
			no.known &= ~(1ull << k);
		}
	}
	assign(w, &in->operand[0], &yes, mask, ~0ull, 1);
	assign(w, &in->operand[1], &no, mask, ~0ull, 1);
}

static unsigned sources_of(const struct ptx_inst *in)
{
	return in->operand_count > 1 ? (in->operand_count > 4 ? 3u : in->operand_count - 1u) : 0;
}

static uint8_t source_type(const struct ptx_inst *in, unsigned k)
{
	if ((in->op == PTX_OP_SHL || in->op == PTX_OP_SHR) && k == 1)
		return PTX_U32;
	if (in->op == PTX_OP_SELP && k == 2)
		return PTX_PRED;
	if (in->op == PTX_OP_CVT)
		return in->type2 ? in->type2 : in->type;
	if (in->op == PTX_OP_MAD && k == 2 && in->mods & PTX_WIDE)
		return is_signed(in->type) ? PTX_S64 : PTX_U64;
	return in->type;
}

void lane_execute(struct walker *w, const struct ptx_inst *in, uint64_t mask)
{
	struct lanes x[3] = {{.known = 0}}, out = {.known = 0};
	unsigned n = sources_of(in), bits;
	if (in->op == PTX_OP_LD && in->space == PTX_PARAM) {
		load_argument(w, in, mask);
		return;
	}
	if (in->op == PTX_OP_SETP) {
		set_predicates(w, in, mask);
		return;
	}
	if (in->op == PTX_OP_ST || in->op == PTX_OP_RED || !in->operand_count)
		return;
	bool together = in->op == PTX_OP_SHFL || in->op == PTX_OP_MATCH || in->op == PTX_OP_TESTP;
	bool moves = in->op == PTX_OP_MOV || in->op == PTX_OP_SELP;
	if (together || in->op == PTX_OP_LD || (!is_number(in->type) && !moves) ||
	    in->operand[0].kind != PTX_OPND_REG || (in->op == PTX_OP_CVT && !is_number(in->type2))) {
		forget_result(w, in, mask);
		return;
	}
	bits = in->mods & PTX_WIDE ? 2 * bits_of(in->type) : bits_of(in->type);
	for (unsigned k = 0; k < n; k++) {
		x[k] = lane_operand(w, &in->operand[k + 1], source_type(in, k));
		if (x[k].buffer && !out.buffer)
			out.buffer = x[k].buffer;
	}
	out.known = known_of(in, x, n);
	for (uint64_t rest = mask; rest; rest &= rest - 1) {
		unsigned k = (unsigned)__builtin_ctzll(rest);
		uint64_t v[3];
		bool known = true;
		for (unsigned i = 0; i < 3; i++)
			v[i] = i < n ? wide(x[i].v[k], source_type(in, i)) : 0;
		out.v[k] = calculate(in, v, &known);
		if (known)
			continue;
		out.known &= ~(1ull << k);
		out.v[k] = drawn(drawn(v[0], v[1]), drawn(v[2], in->op));
	}
	assign(w, &in->operand[0], &out, mask, ~0ull, bits);
}
