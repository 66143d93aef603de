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

/* + 4, - 4, +-4 */
static int parse_offset(struct ptx_parser *p, int64_t *offset)
{
	bool plus;
	struct ptx_token lit;
	if (!ptx_is(p, '+') && !ptx_is(p, '-'))
		return 0;
	PTX_TRY(ptx_accept(p, '+', &plus));
	PTX_TRY(ptx_literal(p, &lit));
	if (lit.kind != TOK_INT)
		return PTX_FAIL_AT(p, &lit, "an offset is an integer");
	*offset = (int64_t)lit.imm;
	return 0;
}

static int name_operand(struct ptx_parser *p, struct ptx_operand *o, const struct ptx_name **out)
{
	struct ptx_token t = p->tok;
	PTX_TRY(ptx_advance(p));
	if (t.s[0] == '%')
		PTX_TRY(join_component(p, &t));
	const struct ptx_name *e = ptx_names_find(&p->names, t.s, t.n);
	if (!e)
		return unknown_name(p, &t, t.s[0] == '%' ? "register" : "name");
	*out = e;
	switch (e->kind) {
	case NAME_REG:
		o->kind = PTX_OPND_REG;
		o->reg = e->index;
		return 0;
	case NAME_SREG:
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
	case NAME_FUNC:
		return PTX_FAIL_AT(p, &t, "the address of a function is not supported");
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

/* Reads {a, b, ...}; the elements go into the instruction's vec[]. */
static int vector_operand(struct ptx_parser *p, struct ptx_inst *in, struct ptx_operand *o, char close)
{
	struct ptx_operand list[64];
	struct ptx_place at;
	uint32_t n = 0, before = 0;
	bool more = true;
	PTX_TRY(ptx_advance(p)); /* { or ( */
	if (close == ')' && ptx_is(p, ')'))
		more = false;
	while (more) {
		if (n == sizeof list / sizeof *list)
			return PTX_FAIL_AT(p, &p->tok, "more than 64 elements");
		if (ptx_is(p, '{') || ptx_is(p, '['))
			return PTX_FAIL_AT(p, &p->tok, "an element is a register or a number");
		list[n] = (struct ptx_operand){.sym = -1, .reg = -1};
		PTX_TRY(ptx_parse_operand(p, in, &list[n], &at));
		n++;
		PTX_TRY(ptx_accept(p, ',', &more));
	}
	char why[] = "at the end of the list";
	PTX_TRY(ptx_expect(p, close, why));
	for (unsigned i = 0; i < in->operand_count; i++)
		if (in->operand[i].kind == PTX_OPND_VECTOR)
			before += in->operand[i].count;
	o->kind = PTX_OPND_VECTOR;
	o->count = (uint8_t)n;
	o->index = (int32_t)before;
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
	if (ptx_is(p, '-') && p->ahead.kind == TOK_IDENT && !ptx_token_is(&p->ahead, "WARP_SZ"))
		return PTX_FAIL_AT(p, &p->tok, "a register cannot be negated here; use neg");
	if (p->tok.kind == TOK_IDENT && ptx_token_is(&p->tok, "_")) {
		o->kind = PTX_OPND_SINK;
		return ptx_advance(p);
	}
	if (p->tok.kind == TOK_IDENT && !ptx_token_is(&p->tok, "WARP_SZ")) {
		const struct ptx_name *e;
		PTX_TRY(name_operand(p, o, &e));
		return o->kind == PTX_OPND_SYMBOL ? parse_offset(p, &o->offset) : 0;
	}
	if (p->tok.kind != TOK_INT && p->tok.kind != TOK_F32 && p->tok.kind != TOK_F64 && p->tok.kind != TOK_IDENT &&
	    !ptx_is(p, '-') && !ptx_is(p, '+') && !ptx_is(p, '~'))
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
		return PTX_FAIL_AT(p, &t, "a call through a register is not supported");
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

/* tex: [name, {x, y}] */
static int texture_operands(struct ptx_parser *p, struct ptx_inst *in, struct ptx_place *at)
{
	const struct ptx_name *e;
	char buf[64];
	struct ptx_operand *o = &in->operand[in->operand_count];
	PTX_TRY(ptx_expect(p, '[', "before the texture"));
	at->line = p->tok.line;
	at->column = p->tok.column;
	if (p->tok.kind != TOK_IDENT)
		return PTX_FAIL_AT(p, &p->tok, "expected the name of a texture, not %s", ptx_token_text(&p->tok, buf));
	o[0] = (struct ptx_operand){.sym = -1, .reg = -1};
	PTX_TRY(name_operand(p, &o[0], &e));
	PTX_TRY(texture_name(p, &o[0], at));
	PTX_TRY(ptx_expect(p, ',', "after the texture"));
	in->operand_count++;
	at->line = p->tok.line;
	at->column = p->tok.column;
	PTX_TRY(ptx_parse_operand(p, in, &o[1], at));
	PTX_TRY(ptx_check_coordinates(p, in, &o[1], at));
	in->operand_count++;
	return ptx_expect(p, ']', "after the coordinates");
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

int ptx_parse_operands(struct ptx_parser *p, struct ptx_inst *in)
{
	bool optional = false;
	unsigned written = 0;
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
		if (*c == 'y') {
			PTX_TRY(texture_operands(p, in, &at));
		} else {
			if (*c == 'l')
				PTX_TRY(label_operand(p, in, o));
			else if (*c == 'j')
				PTX_TRY(targets_operand(p, in, o));
			else
				PTX_TRY(ptx_parse_operand(p, in, o, &at));
			PTX_TRY(ptx_check_operand(p, in, *c, o, &at));
			in->operand_count++;
			if (*c == 'P' || *c == 'Q')
				PTX_TRY(second_destination(p, in));
		}
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
