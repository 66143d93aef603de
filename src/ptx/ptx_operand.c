/* One operand, then all operands of an instruction along the shape that ops.def gives it. */
#include "ptx/ptx_impl.h"
#include <stdio.h>
#include <string.h>

static int unknown_name(struct ptx_parser *p, const struct ptx_token *t, const char *what)
{
	enum { NEAR = 512, WIDTH = 40 };
	char *copies = mem_alloc((size_t)NEAR * WIDTH);
	const char **list = mem_alloc(NEAR * sizeof *list);
	const char *near = NULL;
	char word[WIDTH];
	size_t n = 0;
	snprintf(word, sizeof word, "%.*s", (int)t->n, t->s);
	for (uint32_t i = p->names.count; copies && list && i > 1 && n < NEAR; i--) {
		const struct ptx_name *e = &p->names.entry[i - 1];
		snprintf(copies + n * WIDTH, WIDTH, "%.*s", (int)e->n, e->s);
		list[n] = copies + n * WIDTH;
		n++;
	}
	if (n)
		near = str_nearest(word, list, n);
	int rc = near ? PTX_FAIL_AT(p, t, "%s '%s' is not declared; did you mean '%s'?", what, word, near)
		      : PTX_FAIL_AT(p, t, "%s '%s' is not declared", what, word);
	mem_free(copies);
	mem_free(list);
	return rc;
}

/* b0 to b3 and h0, h1, from 1 on, or the digits of several parts, as in ptx_operand.count; 0: none */
static unsigned selector(const struct ptx_token *t)
{
	const bool half = t->s[0] == 'h';
	const unsigned digits = t->n - 1;
	unsigned all = 0;
	if ((t->s[0] != 'b' && !half) || t->n < 2 || digits > (half ? 2u : 4u))
		return 0;
	for (unsigned k = 1; k <= digits; k++) {
		unsigned digit = (unsigned)(t->s[k] - '0');
		if (digit > (half ? 3u : 7u))
			return 0;
		all = all << 3 | digit;
	}
	if (digits == 1)
		return all > (half ? 1u : 3u) ? 0 : (half ? 5 : 1) + all;
	return PTX_PARTS | (half ? PTX_PARTS_HALF : 0) | (digits & 3) << PTX_PARTS_COUNT | all;
}

/* %tid.x is two tokens and one name. */
static int join_component(struct ptx_parser *p, struct ptx_token *t)
{
	if (p->tok.kind == TOK_DOT && p->tok.s == t->s + t->n + 1) {
		t->n += p->tok.n + 1;
		return ptx_advance(p);
	}
	return 0;
}

static int32_t param_symbol(const struct ptx_parser *p, int32_t index)
{
	return index >= 0 ? -2 - index : -2 - (int32_t)p->f->param_count - (-1 - index);
}

/* + 4, + -4; ptxas takes no - 4. */
static int parse_offset(struct ptx_parser *p, int64_t *offset)
{
	struct ptx_token lit;
	if (ptx_is(p, '-'))
		return PTX_FAIL_AT(p, &p->tok, "an offset is added: write + -4");
	if (!ptx_is(p, '+'))
		return 0;
	PTX_TRY(ptx_advance(p));
	PTX_TRY(ptx_literal(p, &lit));
	if (lit.kind != TOK_INT)
		return PTX_FAIL_AT(p, &lit, "an offset is an integer");
	*offset = (int64_t)lit.imm;
	return 0;
}

/* Special registers are names of the module: a register of a function hides one of its name, with all components. */
static const struct ptx_name *find(const struct ptx_parser *p, const char *s, uint32_t n)
{
	const struct ptx_name *e = ptx_names_find(&p->names, s, n), *base = NULL;
	const char *dot = e && e->kind == NAME_SREG ? memchr(s, '.', n) : NULL;
	if (dot)
		base = ptx_names_find(&p->names, s, (uint32_t)(dot - s));
	return base && base->kind != NAME_SREG ? NULL : e;
}

static int name_operand(struct ptx_parser *p, struct ptx_operand *o, const struct ptx_name **out)
{
	struct ptx_token t = p->tok;
	PTX_TRY(ptx_advance(p));
	bool joined = p->tok.kind == TOK_DOT && p->tok.s == t.s + t.n + 1;
	const struct ptx_name *e = joined ? find(p, t.s, t.n + p->tok.n + 1) : NULL;
	if (!e && joined && selector(&p->tok))
		e = find(p, t.s, t.n);
	if (e && e->n == t.n) { /* the part of a register that a video instruction takes */
		o->count = (uint16_t)selector(&p->tok);
		PTX_TRY(ptx_advance(p));
	} else if (t.s[0] == '%' || e) {
		PTX_TRY(join_component(p, &t));
	}
	if (!e)
		e = find(p, t.s, t.n);
	if (!e)
		return unknown_name(p, &t, t.s[0] == '%' ? "register" : "name");
	*out = e;
	switch (e->kind) {
	case NAME_REG:
		o->kind = PTX_OPND_REG;
		o->reg = e->index;
		return 0;
	case NAME_SREG:
		if (e->index < 0)
			return PTX_FAIL_AT(p, &t, "'%.*s' has components: write %.*s.x", (int)t.n, t.s, (int)t.n, t.s);
		o->kind = PTX_OPND_SREG;
		o->index = e->index;
		return 0;
	case NAME_VAR:
		o->kind = PTX_OPND_SYMBOL;
		o->sym = e->index;
		return 0;
	case NAME_PARAM:
		o->kind = PTX_OPND_SYMBOL;
		o->sym = param_symbol(p, e->index);
		return 0;
	case NAME_VECTOR2:
	case NAME_VECTOR4:
		o->kind = PTX_OPND_VECTOR;
		o->reg = e->index;
		o->count = e->kind == NAME_VECTOR2 ? 2 : 4;
		return 0;
	case NAME_FUNC:
		if (p->funcs.v[e->index].entry)
			return PTX_FAIL_AT(
			    p, &t,
			    "'%.*s' is a kernel: one that takes its address launches it (dynamic parallelism), "
			    "which is not executed; launch it from the host",
			    (int)t.n, t.s);
		o->kind = PTX_OPND_FUNC;
		o->index = e->index;
		return 0;
	case NAME_PROTOTYPE:
		return PTX_FAIL_AT(p, &t, "a prototype is not a value");
	default:
		return PTX_FAIL_AT(p, &t, "a list of branch targets is not a value");
	}
}

static int address_operand(struct ptx_parser *p, struct ptx_operand *o)
{
	PTX_TRY(ptx_advance(p)); /* [ */
	if (p->tok.kind == TOK_IDENT && !ptx_token_is(&p->tok, "WARP_SZ")) {
		const struct ptx_name *e;
		struct ptx_token t = p->tok;
		PTX_TRY(name_operand(p, o, &e));
		if (o->kind == PTX_OPND_SREG)
			return PTX_FAIL_AT(p, &t, "a special register cannot be an address");
		if (o->kind == PTX_OPND_VECTOR || o->kind == PTX_OPND_FUNC)
			return PTX_FAIL_AT(p, &t, "a %s cannot be an address",
					   o->kind == PTX_OPND_FUNC ? "function" : "vector");
		o->has_reg = o->kind == PTX_OPND_REG;
		PTX_TRY(parse_offset(p, &o->offset));
	} else {
		struct ptx_token lit;
		PTX_TRY(ptx_literal(p, &lit));
		if (lit.kind != TOK_INT)
			return PTX_FAIL_AT(p, &lit, "an address is a register, a name or an integer");
		o->offset = (int64_t)lit.imm;
	}
	o->kind = PTX_OPND_ADDRESS;
	return ptx_expect(p, ']', "at the end of the address");
}

/* Puts the elements behind those of the instruction's other vectors. */
static int keep_vector(struct ptx_parser *p, struct ptx_inst *in, struct ptx_operand *o, const struct ptx_operand *list,
		       uint32_t n)
{
	uint32_t before = 0;
	for (unsigned i = 0; i < in->operand_count; i++)
		if (in->operand[i].kind == PTX_OPND_VECTOR)
			before += in->operand[i].count;
	*o = (struct ptx_operand){
	    .kind = PTX_OPND_VECTOR, .count = (uint16_t)n, .index = (int32_t)before, .sym = -1, .reg = -1};
	if (n == 0)
		return 0;
	struct ptx_operand *vec = arena_alloc(p->a, before + n, sizeof *vec);
	if (!vec)
		return err_nomem(p->e);
	if (before)
		memcpy(vec, in->vec, before * sizeof *vec);
	memcpy(vec + before, list, n * sizeof *vec);
	in->vec = vec;
	return 0;
}

/* What a call hands over of a vector register: its elements, one argument each. */
static int vector_elements(struct ptx_parser *p, const struct ptx_operand *whole, struct ptx_operand *list,
			   uint32_t room)
{
	if (whole->count > room)
		return PTX_FAIL_AT(p, &p->tok, "more than 128 elements");
	for (int k = 0; k < whole->count; k++)
		list[k] = (struct ptx_operand){.kind = PTX_OPND_REG, .reg = whole->reg + k, .sym = -1};
	return 0;
}

/* Reads {a, b, ...}; the elements go into the instruction's vec[]. */
static int vector_operand(struct ptx_parser *p, struct ptx_inst *in, struct ptx_operand *o, char close)
{
	struct ptx_operand list[128]; /* of the largest result of wgmma */
	struct ptx_place at;
	uint32_t n = 0;
	bool more = true;
	PTX_TRY(ptx_advance(p)); /* { or ( */
	if (close == ')' && ptx_is(p, ')'))
		more = false;
	while (more) {
		if (n == sizeof list / sizeof *list)
			return PTX_FAIL_AT(p, &p->tok, "more than 128 elements");
		if (ptx_is(p, '{') || ptx_is(p, '['))
			return PTX_FAIL_AT(p, &p->tok, "an element is a register or a number");
		const struct ptx_name *e = NULL;
		list[n] = (struct ptx_operand){.sym = -1, .reg = -1};
		at = (struct ptx_place){p->tok.line, p->tok.column};
		if (p->tok.kind == TOK_IDENT && close == ')')
			e = ptx_names_find(&p->names, p->tok.s, p->tok.n);
		if (e && (e->kind == NAME_VECTOR2 || e->kind == NAME_VECTOR4)) {
			PTX_TRY(name_operand(p, &list[n], &e));
		} else {
			PTX_TRY(ptx_parse_operand(p, in, &list[n], &at));
		}
		const struct ptx_operand whole = list[n];
		if (whole.kind == PTX_OPND_VECTOR && close != ')')
			return PTX_FAIL_AT(p, &at, "an element is a register or a number");
		if (whole.kind == PTX_OPND_VECTOR)
			PTX_TRY(vector_elements(p, &whole, &list[n], sizeof list / sizeof *list - n));
		n += whole.kind == PTX_OPND_VECTOR ? whole.count : 1;
		PTX_TRY(ptx_accept(p, ',', &more));
	}
	char why[] = "at the end of the list";
	PTX_TRY(ptx_expect(p, close, why));
	return keep_vector(p, in, o, list, n);
}

static int whole_vector(struct ptx_parser *p, struct ptx_inst *in, struct ptx_operand *o)
{
	struct ptx_operand list[4];
	for (int k = 0; k < o->count; k++)
		list[k] = (struct ptx_operand){.kind = PTX_OPND_REG, .reg = o->reg + k, .sym = -1};
	return keep_vector(p, in, o, list, o->count);
}

int ptx_parse_operand(struct ptx_parser *p, struct ptx_inst *in, struct ptx_operand *o, struct ptx_place *at)
{
	char buf[64];
	struct ptx_token lit;
	at->line = p->tok.line;
	at->column = p->tok.column;
	*o = (struct ptx_operand){.sym = -1, .reg = -1};
	if (ptx_is(p, '['))
		return address_operand(p, o);
	if (ptx_is(p, '{'))
		return vector_operand(p, in, o, '}');
	if (ptx_is(p, '!')) {
		const struct ptx_name *e;
		PTX_TRY(ptx_advance(p));
		if (p->tok.kind != TOK_IDENT)
			return PTX_FAIL_AT(p, &p->tok, "expected a predicate after '!', not %s",
					   ptx_token_text(&p->tok, buf));
		PTX_TRY(name_operand(p, o, &e));
		o->negated = true;
		if (o->kind != PTX_OPND_REG || p->regs.v[o->reg].type != PTX_PRED)
			return ptx_fail(p, at->line, at->column, "only a predicate can be negated with '!'");
		return 0;
	}
	if (ptx_is(p, '-'))
		PTX_TRY(ptx_peek(p));
	const bool minus = ptx_is(p, '-') && p->ahead.kind == TOK_IDENT && !ptx_token_is(&p->ahead, "WARP_SZ");
	if (minus && in->op == PTX_OP_VMAD) {
		o->negated = true;
		PTX_TRY(ptx_advance(p));
	} else if (minus)
		return PTX_FAIL_AT(p, &p->tok, "a register cannot be negated here; use neg");
	if (p->tok.kind == TOK_IDENT && ptx_token_is(&p->tok, "_")) {
		o->kind = PTX_OPND_SINK;
		return ptx_advance(p);
	}
	if (p->tok.kind == TOK_IDENT && !ptx_token_is(&p->tok, "WARP_SZ")) {
		const struct ptx_name *e;
		PTX_TRY(name_operand(p, o, &e));
		if (o->kind == PTX_OPND_VECTOR)
			return whole_vector(p, in, o);
		return o->kind == PTX_OPND_SYMBOL ? parse_offset(p, &o->offset) : 0;
	}
	if (p->tok.kind != TOK_INT && p->tok.kind != TOK_F32 && p->tok.kind != TOK_F64 && p->tok.kind != TOK_IDENT &&
	    !ptx_is(p, '-') && !ptx_is(p, '+') && !ptx_is(p, '~') && !ptx_is(p, '('))
		return PTX_FAIL_AT(p, &p->tok, "expected an operand, not %s", ptx_token_text(&p->tok, buf));
	PTX_TRY(ptx_literal(p, &lit));
	o->kind = lit.kind == TOK_INT ? PTX_OPND_INT : lit.kind == TOK_F32 ? PTX_OPND_F32 : PTX_OPND_F64;
	o->imm = lit.imm;
	return 0;
}

static int label_ref(struct ptx_parser *p, const struct ptx_token *t, int32_t operand, int32_t vec)
{
	PTX_TRY(PTX_PUSH(p, p->refs));
	p->refs.v[p->refs.n++] = (struct ptx_label_ref){.s = t->s,
							.n = t->n,
							.line = t->line,
							.column = t->column,
							.inst = p->insts.n,
							.depth = p->names.depth,
							.operand = operand,
							.vec = vec};
	return 0;
}

static int label_operand(struct ptx_parser *p, struct ptx_inst *in, struct ptx_operand *o)
{
	char buf[64];
	struct ptx_token t = p->tok;
	if (t.kind != TOK_IDENT)
		return PTX_FAIL_AT(p, &t, "expected a label, not %s", ptx_token_text(&t, buf));
	PTX_TRY(ptx_advance(p));
	*o = (struct ptx_operand){.kind = PTX_OPND_LABEL, .sym = -1, .reg = -1};
	return label_ref(p, &t, in->operand_count, -1);
}

/* brx.idx: the name of a .branchtargets list, written out as a vector of labels */
static int targets_operand(struct ptx_parser *p, struct ptx_inst *in, struct ptx_operand *o)
{
	char buf[64];
	struct ptx_token t = p->tok;
	if (t.kind != TOK_IDENT)
		return PTX_FAIL_AT(p, &t, "expected the label of a .branchtargets list, not %s",
				   ptx_token_text(&t, buf));
	PTX_TRY(ptx_advance(p));
	const struct ptx_name *e = ptx_names_find(&p->names, t.s, t.n);
	if (!e || e->kind != NAME_TARGETS)
		return PTX_FAIL_AT(p, &t, "'%.*s' is no .branchtargets list declared above", (int)t.n, t.s);
	const struct ptx_targets *list = &p->targets.v[e->index];
	*o = (struct ptx_operand){.kind = PTX_OPND_VECTOR, .count = (uint16_t)list->count, .sym = -1, .reg = -1};
	in->vec = ARENA_ARRAY(p->a, list->count, struct ptx_operand);
	if (!in->vec)
		return err_nomem(p->e);
	for (uint32_t i = 0; i < list->count; i++) {
		in->vec[i] = (struct ptx_operand){.kind = PTX_OPND_LABEL, .sym = -1, .reg = -1};
		PTX_TRY(label_ref(p, &p->target_names.v[list->first + i], in->operand_count, (int32_t)i));
	}
	return 0;
}

/* call (results), register, (arguments), prototype; p->tok is the register */
static int call_through(struct ptx_parser *p, struct ptx_inst *in, int32_t reg)
{
	struct ptx_operand *o = in->operand;
	bool more;
	o[1] = (struct ptx_operand){.kind = PTX_OPND_REG, .reg = reg, .sym = -1};
	if (ptx_type_bytes((enum ptx_type)p->regs.v[reg].type) < 4)
		return PTX_FAIL_AT(p, &p->tok, "a function's address has 32 or 64 bits");
	in->operand_count = 2;
	PTX_TRY(ptx_advance(p));
	PTX_TRY(ptx_accept(p, ',', &more));
	if (more && ptx_is(p, '(')) {
		PTX_TRY(vector_operand(p, in, &o[2], ')'));
		PTX_TRY(ptx_accept(p, ',', &more));
	}
	in->operand_count = 3;
	const struct ptx_name *e = p->tok.kind == TOK_IDENT ? ptx_names_find(&p->names, p->tok.s, p->tok.n) : NULL;
	if (!more || !e || e->kind != NAME_PROTOTYPE)
		return PTX_FAIL_AT(p, &p->tok,
				   "a call through a register ends with the label of a .callprototype above");
	o[3] = (struct ptx_operand){.kind = PTX_OPND_PROTOTYPE, .index = e->index, .sym = -1, .reg = -1};
	in->operand_count = 4;
	return ptx_advance(p);
}

/* call (results), target, (arguments); both lists may be left out */
static int call_operands(struct ptx_parser *p, struct ptx_inst *in)
{
	bool more = false;
	char buf[64];
	struct ptx_operand *o = in->operand;
	o[0] = o[2] = (struct ptx_operand){.kind = PTX_OPND_VECTOR, .sym = -1, .reg = -1};
	if (ptx_is(p, '(')) {
		PTX_TRY(vector_operand(p, in, &o[0], ')'));
		PTX_TRY(ptx_expect(p, ',', "after the results"));
	}
	in->operand_count = 1;
	struct ptx_token t = p->tok;
	if (t.kind != TOK_IDENT)
		return PTX_FAIL_AT(p, &t, "expected the function to call, not %s", ptx_token_text(&t, buf));
	const struct ptx_name *e = ptx_names_find(&p->names, t.s, t.n);
	if (e && e->kind == NAME_REG)
		return call_through(p, in, e->index);
	if (!e || e->kind != NAME_FUNC)
		return e ? PTX_FAIL_AT(p, &t, "'%.*s' is not a function", (int)t.n, t.s)
			 : unknown_name(p, &t, "function");
	PTX_TRY(ptx_advance(p));
	o[1] = (struct ptx_operand){.kind = PTX_OPND_FUNC, .index = e->index, .sym = -1, .reg = -1};
	in->operand_count = 2;
	PTX_TRY(ptx_accept(p, ',', &more));
	if (more) {
		if (!ptx_is(p, '('))
			return PTX_FAIL_AT(p, &p->tok, "expected the arguments in ( ), not %s",
					   ptx_token_text(&p->tok, buf));
		PTX_TRY(vector_operand(p, in, &o[2], ')'));
	}
	in->operand_count = 3;
	return 0;
}

/* A variable of the module, or a register that holds a handle. */
static int texture_name(struct ptx_parser *p, const struct ptx_operand *o, const struct ptx_place *at)
{
	if (o->kind == PTX_OPND_REG) {
		enum ptx_type t = (enum ptx_type)p->regs.v[o->reg].type;
		char class = ptx_type_class(t);
		if (ptx_type_bytes(t) == 8 && (class == 'b' || class == 'i'))
			return 0;
		return ptx_fail(p, at->line, at->column, "'%s' is a .%s register; a texture's handle has 64 bits",
				p->regs.v[o->reg].name, ptx_type_name(t));
	}
	if (o->kind != PTX_OPND_SYMBOL || o->sym < 0 || p->vars.v[o->sym].space != PTX_TEX)
		return ptx_fail(p, at->line, at->column,
				"expected the name of a .tex variable or a register that holds a handle");
	return 0;
}

int ptx_handle_at(const struct ptx_inst *in)
{
	switch ((enum ptx_op)in->op) {
	case PTX_OP_CP: { /* of a tensor map: behind shared memory that is copied to, else first */
		const char *to = strstr(in->tail, ".shared"), *from = strstr(in->tail, ".global");
		return !strstr(in->tail, ".tensor") ? -1 : to && from && to < from;
	}
	case PTX_OP_SUST:
	case PTX_OP_SURED:
		return 0;
	case PTX_OP_TEX:
	case PTX_OP_TLD4:
		return 2;
	case PTX_OP_SULD:
		return 1;
	default:
		return -1;
	}
}

static void count_shape(const char *shape, unsigned *least, unsigned *most)
{
	bool optional = false;
	*least = *most = 0;
	for (const char *c = shape; *c; c++) {
		if (*c == '?')
			optional = true;
		else
			++*most, *least += !optional;
	}
}

static int wrong_count(struct ptx_parser *p, const struct ptx_inst *in, unsigned written)
{
	unsigned least, most;
	count_shape(ptx_ops[in->op].shape, &least, &most);
	if (least == most)
		return PTX_FAIL_AT(p, &p->tok, "%s takes %u operand%s, not %u", ptx_op_name(in->op), most,
				   most == 1 ? "" : "s", written);
	return PTX_FAIL_AT(p, &p->tok, "%s takes %u or %u operands, not %u", ptx_op_name(in->op), least, most, written);
}

/* p|q and d|p: the second destination, a sink when it is not written */
static int second_destination(struct ptx_parser *p, struct ptx_inst *in)
{
	struct ptx_operand *o = &in->operand[in->operand_count];
	struct ptx_place at = {p->tok.line, p->tok.column};
	bool yes;
	PTX_TRY(ptx_accept(p, '|', &yes));
	*o = (struct ptx_operand){.kind = PTX_OPND_SINK, .sym = -1, .reg = -1};
	if (yes) {
		if (in->op == PTX_OP_TESTP || in->op == PTX_OP_ISSPACEP)
			return ptx_fail(p, at.line, at.column, "%s has one destination only", ptx_op_name(in->op));
		PTX_TRY(ptx_parse_operand(p, in, o, &at));
		PTX_TRY(ptx_check_operand(p, in, 'q', o, &at));
	}
	in->operand_count++;
	return 0;
}

unsigned ptx_coordinates_at(const struct ptx_inst *in, const struct ptx_reg *regs, unsigned handle)
{
	if (handle + 1 >= in->operand_count)
		return handle + 1;
	const struct ptx_operand *o = &in->operand[handle + 1];
	const bool sampler = o->kind == PTX_OPND_SYMBOL ||
			     (o->kind == PTX_OPND_REG && ptx_type_bytes((enum ptx_type)regs[o->reg].type) == 8);
	return handle + (sampler ? 2 : 1);
}

/* [handle, {x, y}]: two operands, or three with a texture's sampler between them */
static int handle_operands(struct ptx_parser *p, struct ptx_inst *in)
{
	struct ptx_operand *o = &in->operand[in->operand_count];
	const bool texture = in->op == PTX_OP_TEX || in->op == PTX_OP_TLD4;
	struct ptx_place at;
	PTX_TRY(ptx_advance(p));
	PTX_TRY(ptx_parse_operand(p, in, &o[0], &at));
	if (in->op != PTX_OP_CP || o[0].kind == PTX_OPND_REG)
		PTX_TRY(texture_name(p, &o[0], &at));
	PTX_TRY(ptx_expect(p, ',', "after the texture or surface"));
	PTX_TRY(ptx_parse_operand(p, in, &o[1], &at));
	in->operand_count = (uint8_t)(in->operand_count + 2);
	if (texture && ptx_coordinates_at(in, p->regs.v, in->operand_count - 2u) == in->operand_count) {
		PTX_TRY(texture_name(p, &o[1], &at));
		PTX_TRY(ptx_expect(p, ',', "after the sampler"));
		PTX_TRY(ptx_parse_operand(p, in, &o[2], &at));
		in->operand_count++;
	}
	return ptx_expect(p, ']', "after the coordinates");
}

/* Operations that take any words take any operands; whoever executes them looks. */
static int free_operands(struct ptx_parser *p, struct ptx_inst *in)
{
	struct ptx_place at;
	bool more = !ptx_is(p, ';');
	while (more) {
		if (in->operand_count == PTX_OPERANDS)
			return PTX_FAIL_AT(p, &p->tok, "%s takes %d operands at most", ptx_op_name(in->op),
					   PTX_OPERANDS);
		if (ptx_is(p, '[') && (int)in->operand_count == ptx_handle_at(in) &&
		    in->operand_count + 3 <= PTX_OPERANDS) {
			PTX_TRY(handle_operands(p, in));
			PTX_TRY(ptx_accept(p, ',', &more));
			continue;
		}
		PTX_TRY(ptx_parse_operand(p, in, &in->operand[in->operand_count], &at));
		in->operand_count++;
		if (ptx_ops[in->op].shape[0] == 'P' && in->operand_count == 1) {
			PTX_TRY(ptx_expect(p, '|', "between the two destinations"));
			continue;
		}
		if (ptx_ops[in->op].shape[0] == 'Q' && in->operand_count == 1)
			PTX_TRY(second_destination(p, in));
		PTX_TRY(ptx_accept(p, ',', &more));
	}
	return 0;
}

int ptx_parse_operands(struct ptx_parser *p, struct ptx_inst *in)
{
	bool optional = false;
	unsigned written = 0;
	if (ptx_ops[in->op].may & M_FREE)
		return free_operands(p, in);
	if (in->op == PTX_OP_CALL)
		return call_operands(p, in);
	for (const char *c = ptx_ops[in->op].shape; *c; c++) {
		struct ptx_place at = {p->tok.line, p->tok.column};
		if (*c == '?') {
			optional = true;
			continue;
		}
		if (ptx_is(p, ';')) {
			if (!optional)
				return wrong_count(p, in, written);
			return 0;
		}
		if (written)
			PTX_TRY(ptx_expect(p, ',', "between operands"));
		struct ptx_operand *o = &in->operand[in->operand_count];
		if (*c == 'l')
			PTX_TRY(label_operand(p, in, o));
		else if (*c == 'j')
			PTX_TRY(targets_operand(p, in, o));
		else
			PTX_TRY(ptx_parse_operand(p, in, o, &at));
		/* A list of one is that one, as compilers write it. */
		if ((*c == 'V' || *c == 'v') && o->kind == PTX_OPND_VECTOR && o->count == 1)
			*o = in->vec[o->index];
		/* atom without a second value: the policy stands in its place */
		bool policy = in->mods & PTX_POLICY && *c == 'a' && optional && in->atom != PTX_ATOM_CAS;
		PTX_TRY(ptx_check_operand(p, in, policy ? 'h' : *c, o, &at));
		in->operand_count++;
		if (*c == 'P' || *c == 'Q')
			PTX_TRY(second_destination(p, in));
		written++;
	}
	if (ptx_is(p, ',')) {
		/* Count what is there, so that the sentence is about the whole line. */
		while (ptx_is(p, ',')) {
			struct ptx_operand extra;
			struct ptx_place at;
			struct ptx_inst scratch = *in;
			struct ptx_token comma = p->tok;
			PTX_TRY(ptx_advance(p));
			PTX_TRY(ptx_parse_operand(p, &scratch, &extra, &at));
			written++;
			if (!ptx_is(p, ',')) {
				p->tok.line = comma.line;
				p->tok.column = comma.column;
				return wrong_count(p, in, written);
			}
		}
	}
	return 0;
}
