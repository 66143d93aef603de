/* Constants: numbers, and expressions of integers in C's precedence. */
#include "ptx/ptx_impl.h"

#define NESTED_MOST 64

enum operation {
	OP_NONE,
	OP_OR,
	OP_AND,
	OP_BIT_OR,
	OP_XOR,
	OP_BIT_AND,
	OP_EQ,
	OP_NE,
	OP_LE,
	OP_LT,
	OP_GE,
	OP_GT,
	OP_SHL,
	OP_SHR,
	OP_PLUS,
	OP_MINUS,
	OP_MUL,
	OP_DIV,
	OP_REM
};

static int expression(struct ptx_parser *p, struct ptx_token *out, unsigned least, unsigned depth);

static int unary(struct ptx_parser *p, struct ptx_token *out, unsigned depth);

/* Behind the opening parenthesis: what follows has a sign, or none, whatever it had. */
static int cast(struct ptx_parser *p, struct ptx_token *out, unsigned depth)
{
	char buf[64];
	const struct ptx_token type = p->tok;
	if (!ptx_token_is(&type, "s64") && !ptx_token_is(&type, "u64"))
		return PTX_FAIL_AT(p, &type, "a constant is cast to .s64 or .u64, not to %s",
				   ptx_token_text(&type, buf));
	PTX_TRY(ptx_advance(p));
	PTX_TRY(ptx_expect(p, ')', "after the type"));
	PTX_TRY(unary(p, out, depth + 1));
	if (out->kind != TOK_INT)
		return PTX_FAIL_AT(p, out, "only an integer is cast");
	out->natural = ptx_token_is(&type, "u64");
	out->line = type.line;
	out->column = type.column;
	return 0;
}

/* A sign in front binds closest. Floating-point numbers take no other operator. */
static int unary(struct ptx_parser *p, struct ptx_token *out, unsigned depth)
{
	char buf[64];
	const bool minus = ptx_is(p, '-'), flip = ptx_is(p, '~'), invert = ptx_is(p, '!');
	const struct ptx_token first = p->tok;
	if (depth > NESTED_MOST)
		return PTX_FAIL_AT(p, &first, "this expression is nested deeper than %u", NESTED_MOST);
	if (minus || flip || invert || ptx_is(p, '+')) {
		PTX_TRY(ptx_advance(p));
		PTX_TRY(unary(p, out, depth + 1));
		if (out->kind != TOK_INT && (flip || invert))
			return PTX_FAIL_AT(p, &first, "%c needs an integer", first.c);
		out->natural = out->natural && !invert;
		if (out->kind == TOK_INT)
			out->imm = minus ? 0 - out->imm : flip ? ~out->imm : invert ? !out->imm : out->imm;
		else
			out->imm ^= !minus ? 0 : out->kind == TOK_F32 ? 0x80000000u : 1ull << 63;
	} else if (ptx_is(p, '(')) {
		PTX_TRY(ptx_advance(p));
		if (p->tok.kind == TOK_DOT)
			return cast(p, out, depth);
		PTX_TRY(expression(p, out, OP_NONE, depth + 1));
		PTX_TRY(ptx_expect(p, ')', "at the end of the expression"));
	} else if (p->tok.kind == TOK_INT || p->tok.kind == TOK_F32 || p->tok.kind == TOK_F64) {
		*out = p->tok;
		PTX_TRY(ptx_advance(p));
	} else if (p->tok.kind == TOK_IDENT && ptx_token_is(&p->tok, "WARP_SZ")) {
		*out = p->tok;
		out->kind = TOK_INT;
		out->imm = 32;
		PTX_TRY(ptx_advance(p));
	} else {
		return PTX_FAIL_AT(p, &p->tok, "expected a number, not %s", ptx_token_text(&p->tok, buf));
	}
	out->line = first.line;
	out->column = first.column;
	return 0;
}

/* The operator that comes next, and how many tokens it has. */
static int next_operator(struct ptx_parser *p, enum operation *op, unsigned *tokens)
{
	static const struct {
		char text[3];
		uint8_t op;
	} all[] = {{"||", OP_OR},  {"&&", OP_AND}, {"==", OP_EQ},    {"!=", OP_NE}, {"<=", OP_LE},     {">=", OP_GE},
		   {"<<", OP_SHL}, {">>", OP_SHR}, {"|", OP_BIT_OR}, {"^", OP_XOR}, {"&", OP_BIT_AND}, {"<", OP_LT},
		   {">", OP_GT},   {"+", OP_PLUS}, {"-", OP_MINUS},  {"*", OP_MUL}, {"/", OP_DIV}};
	*op = OP_NONE;
	*tokens = 1;
	if (p->tok.kind == TOK_IDENT && ptx_token_is(&p->tok, "%"))
		*op = OP_REM;
	if (p->tok.kind != TOK_PUNCT)
		return 0;
	for (size_t k = 0; k < sizeof all / sizeof *all && !*op; k++) {
		if (p->tok.c != all[k].text[0])
			continue;
		if (all[k].text[1]) {
			PTX_TRY(ptx_peek(p));
			if (p->ahead.kind != TOK_PUNCT || p->ahead.c != all[k].text[1] || p->ahead.s != p->tok.s + 1)
				continue;
			*tokens = 2;
		}
		*op = all[k].op;
	}
	return 0;
}

static unsigned precedence(enum operation op)
{
	static const uint8_t level[] = {
	    [OP_OR] = 1,  [OP_AND] = 2,	 [OP_BIT_OR] = 3, [OP_XOR] = 4,	 [OP_BIT_AND] = 5, [OP_EQ] = 6,
	    [OP_NE] = 6,  [OP_LE] = 7,	 [OP_LT] = 7,	  [OP_GE] = 7,	 [OP_GT] = 7,	   [OP_SHL] = 8,
	    [OP_SHR] = 8, [OP_PLUS] = 9, [OP_MINUS] = 9,  [OP_MUL] = 10, [OP_DIV] = 10,	   [OP_REM] = 10};
	return level[op];
}

/* As in C with numbers of 64 bits, but that a remainder takes both as numbers without a sign. */
static int apply(struct ptx_parser *p, enum operation op, struct ptx_token *a, const struct ptx_token *b)
{
	const int64_t x = (int64_t)a->imm, y = (int64_t)b->imm;
	const uint64_t u = a->imm, v = b->imm;
	const bool natural = a->natural || b->natural, less = natural ? u < v : x < y,
		   shifts = op == OP_SHL || op == OP_SHR, truth = op <= OP_AND || (op >= OP_EQ && op <= OP_GT);
	if (a->kind != TOK_INT || b->kind != TOK_INT)
		return PTX_FAIL_AT(p, a, "an expression of constants has integers only");
	if ((op == OP_DIV || op == OP_REM) && (!v || (!natural && x == INT64_MIN && y == -1)))
		return PTX_FAIL_AT(p, b, "this quotient does not exist");
	if (shifts && v > 63)
		return PTX_FAIL_AT(p, b, "a constant of 64 bits is not shifted so far");
	a->imm = op == OP_OR	    ? u || v
		 : op == OP_AND	    ? u && v
		 : op == OP_BIT_OR  ? u | v
		 : op == OP_XOR	    ? u ^ v
		 : op == OP_BIT_AND ? u & v
		 : op == OP_EQ	    ? u == v
		 : op == OP_NE	    ? u != v
		 : op == OP_LE	    ? less || u == v
		 : op == OP_LT	    ? less
		 : op == OP_GE	    ? !less
		 : op == OP_GT	    ? !less && u != v
		 : op == OP_SHL	    ? u << v
		 : op == OP_SHR	    ? (a->natural ? u >> v : (uint64_t)(x >> v))
		 : op == OP_PLUS    ? u + v
		 : op == OP_MINUS   ? u - v
		 : op == OP_MUL	    ? u * v
		 : op == OP_REM	    ? u % v
		 : natural	    ? u / v
				    : (uint64_t)(x / y);
	a->natural = truth ? false : shifts ? a->natural : natural;
	return 0;
}

/* Operators that bind closer than `least`; with 0 also a choice. */
static int expression(struct ptx_parser *p, struct ptx_token *out, unsigned least, unsigned depth)
{
	PTX_TRY(unary(p, out, depth));
	for (;;) {
		enum operation op;
		unsigned tokens;
		struct ptx_token right = {.kind = TOK_EOF};
		PTX_TRY(next_operator(p, &op, &tokens));
		if (!op || precedence(op) <= least)
			break;
		while (tokens--)
			PTX_TRY(ptx_advance(p));
		PTX_TRY(expression(p, &right, precedence(op), depth + 1));
		PTX_TRY(apply(p, op, out, &right));
	}
	if (least || !ptx_is(p, '?'))
		return 0;
	struct ptx_token yes = {.kind = TOK_EOF}, no = yes;
	PTX_TRY(ptx_advance(p));
	PTX_TRY(expression(p, &yes, 0, depth + 1));
	PTX_TRY(ptx_expect(p, ':', "between the two values"));
	PTX_TRY(expression(p, &no, 0, depth + 1));
	if (out->kind != TOK_INT)
		return PTX_FAIL_AT(p, out, "a choice needs an integer before ?");
	const struct ptx_token chosen = out->imm ? yes : no, first = *out;
	*out = chosen;
	out->line = first.line;
	out->column = first.column;
	return 0;
}

int ptx_literal(struct ptx_parser *p, struct ptx_token *out)
{
	return expression(p, out, 0, 0);
}
