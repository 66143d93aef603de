/* One instruction: guard, operation, modifiers in any order, operands. */
#include "ptx/ptx_impl.h"
#include <stdio.h>
#include <string.h>

static int find_op(const struct ptx_parser *p, const char *s, uint32_t n)
{
	for (unsigned i = p->op_bucket[ptx_name_hash(s, n) & 255]; i; i = p->op_next[i])
		if (strlen(ptx_ops[i - 1].name) == n && memcmp(ptx_ops[i - 1].name, s, n) == 0)
			return (int)i - 1;
	return -1;
}

static int unknown_op(struct ptx_parser *p, const struct ptx_token *t)
{
	static const char *const others[] = {
#define PTX_ISA(name, sm) name,
#include "isa.def"
#undef PTX_ISA
	};
	const char *names[PTX_OPS];
	char word[64];
	snprintf(word, sizeof word, "%.*s", (int)t->n, t->s);
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		if (strcmp(word, others[i]) == 0)
			return PTX_FAIL_AT(p, t, "'%s' is an instruction that the simulated GPU does not execute",
					   word);
	for (unsigned i = 0; i < PTX_OPS; i++)
		names[i] = ptx_ops[i].name;
	const char *near = str_nearest(word, names, PTX_OPS);
	/* Short names are near to many: only one that begins alike helps. */
	bool helps = near && near[0] == word[0] && (near[1] == word[1] || near[2] == word[1] || near[1] == word[2]);
	return helps ? PTX_FAIL_AT(p, t, "unknown instruction '%s'; did you mean '%s'?", word, near)
		     : PTX_FAIL_AT(p, t, "unknown instruction '%s'", word);
}

/* The operation's own name may hold dots: bar.sync, bar.warp.sync, barrier.sync, brx.idx. */
static int parse_op(struct ptx_parser *p, struct ptx_inst *in)
{
	char buf[64];
	struct ptx_token t = p->tok;
	if (t.kind != TOK_IDENT)
		return PTX_FAIL_AT(p, &t, "expected an instruction, not %s", ptx_token_text(&t, buf));
	PTX_TRY(ptx_advance(p));
	bool cta = p->tok.kind == TOK_DOT && ptx_token_is(&p->tok, "cta") &&
		   (ptx_token_is(&t, "bar") || ptx_token_is(&t, "barrier"));
	if (cta) /* barrier.cta.sync: the block's, as without */
		PTX_TRY(ptx_advance(p));
	int op = find_op(p, t.s, t.n);
	for (int dots = 0; op < 0 && dots < 2 && p->tok.kind == TOK_DOT && (cta || p->tok.s == t.s + t.n + 1); dots++) {
		struct ptx_token longer = t;
		longer.n += p->tok.n + 1;
		if (cta) {
			longer.s = arena_printf(p->a, "%.*s.%.*s", (int)t.n, t.s, (int)p->tok.n, p->tok.s);
			if (!longer.s)
				return err_nomem(p->e);
		}
		if ((t.n > 4 && t.n != 7) || (memcmp(t.s, "bar", 3) != 0 && memcmp(t.s, "brx", 3) != 0)) {
			if (dots == 0)
				break;
		}
		PTX_TRY(ptx_advance(p));
		t = longer;
		op = ptx_token_is(&t, "barrier.arrive") ? PTX_OP_BAR_ARRIVE : find_op(p, t.s, t.n);
	}
	if (op < 0)
		return unknown_op(p, &t);
	if (op == PTX_OP_PREFETCH &&
	    (ptx_token_is(&p->tok, "tensormap") || ptx_token_is(&p->tok, "const") || ptx_token_is(&p->tok, "param")))
		op = PTX_OP_PREFETCH_MAP;
	if ((op == PTX_OP_FENCE || op == PTX_OP_MEMBAR) &&
	    (ptx_token_is(&p->tok, "proxy") || ptx_token_is(&p->tok, "mbarrier_init")))
		op = PTX_OP_FENCE_PROXY;
	if ((op == PTX_OP_ST || op == PTX_OP_RED) && ptx_token_is(&p->tok, "async"))
		op = op == PTX_OP_ST ? PTX_OP_ST_ASYNC : PTX_OP_RED_ASYNC;
	if (op == PTX_OP_CVT && ptx_token_is(&p->tok, "pack"))
		op = PTX_OP_CVT_PACK;
	in->op = (uint16_t)op;
	return 0;
}

static const struct ptx_word *find_word(const struct ptx_parser *p, const char *s, uint32_t n, uint32_t classes,
					uint32_t subs, bool *known)
{
	const struct ptx_word *found = NULL;
	*known = false;
	for (unsigned i = p->word_bucket[ptx_name_hash(s, n) & 255]; i; i = p->word_next[i]) {
		const struct ptx_word *w = &ptx_words[i - 1];
		if (strlen(w->word) != n || memcmp(w->word, s, n) != 0)
			continue;
		*known = true;
		if (w->class == M_SUB && subs >> w->value & 1) /* what an operation says of its own */
			return w;
		if (!found && w->class != M_SUB && classes & w->class)
			found = w;
	}
	return found;
}

static int types_text(uint32_t set, char *buf, size_t size)
{
	size_t at = 0;
	buf[0] = '\0';
	for (int t = 0; t < PTX_TYPES && at < size; t++)
		if (set >> t & 1)
			at += (size_t)snprintf(buf + at, size - at, " .%s", ptx_type_name((enum ptx_type)t));
	return 0;
}

static int refuse_word(struct ptx_parser *p, const struct ptx_inst *in, const struct ptx_token *t, bool known)
{
	if (known)
		return PTX_FAIL_AT(p, t, "%s does not take .%.*s", ptx_op_name(in->op), (int)t->n, t->s);
	const char *names[256];
	char word[64];
	size_t n = 0;
	for (; n < ptx_word_count; n++)
		names[n] = ptx_words[n].word;
	snprintf(word, sizeof word, "%.*s", (int)t->n, t->s);
	const char *near = str_nearest(word, names, n);
	return near ? PTX_FAIL_AT(p, t, "unknown modifier '.%s'; did you mean '.%s'?", word, near)
		    : PTX_FAIL_AT(p, t, "unknown modifier '.%s'", word);
}

static int set_type(struct ptx_parser *p, struct ptx_inst *in, const struct ptx_token *t, uint32_t value,
		    unsigned *types)
{
	const struct ptx_opinfo *op = &ptx_ops[in->op];
	bool two = (op->may & M_TYPE2) != 0;
	/* set writes its destination's type first; everything else the type it works on */
	bool second = in->op == PTX_OP_SET ? *types == 0 : *types == 1;
	uint32_t set = second ? op->types2 : op->types;
	char list[160];
	if (*types == (two ? 2u : 1u) || !op->types)
		return PTX_FAIL_AT(p, t, op->types ? "%s has %s" : "%s has no type", op->name,
				   two ? "two types only" : "one type only");
	if (!(set >> value & 1)) {
		types_text(set, list, sizeof list);
		return PTX_FAIL_AT(p, t, "%s does not work on .%.*s; it takes%s", op->name, (int)t->n, t->s, list);
	}
	if (second)
		in->type2 = (uint8_t)value;
	else
		in->type = (uint8_t)value;
	++*types;
	return 0;
}

static void set_mod(struct ptx_inst *in, const struct ptx_word *w)
{
	switch (w->class) {
	case M_RND:
	case M_RNDI:
		in->round = (uint8_t)w->value;
		break;
	case M_CMP:
		in->cmp = (uint8_t)w->value;
		break;
	case M_BOOL:
		in->boolop = (uint8_t)w->value;
		break;
	case M_SPACE:
		in->space = (uint8_t)w->value;
		break;
	case M_CACHE:
		in->cache = (uint8_t)w->value;
		break;
	case M_VEC:
		in->vec_width = (uint8_t)w->value;
		break;
	case M_ATOM:
		in->atom = (uint8_t)w->value;
		break;
	case M_SUB:
		in->sub = (uint8_t)w->value;
		in->space = w->value == PTX_SUB_CLUSTER ? PTX_SHARED : in->space;
		break;
	default:
		in->mods |= w->value;
		break;
	}
}

static int keep_tail(struct ptx_parser *p, struct ptx_inst *in)
{
	struct str text;
	int rc = 0;
	str_init(&text);
	while (!rc && p->tok.kind == TOK_DOT) {
		str_addf(&text, ".%.*s", (int)p->tok.n, p->tok.s);
		rc = ptx_advance(p);
	}
	if (!rc && (text.failed || !(in->tail = arena_strdup(p->a, str_text(&text)))))
		rc = err_nomem(p->e);
	str_free(&text);
	return rc;
}

static int parse_mods(struct ptx_parser *p, struct ptx_inst *in)
{
	const struct ptx_opinfo *op = &ptx_ops[in->op];
	uint32_t seen = 0;
	unsigned types = 0;
	bool known;
	in->vec_width = 1;
	if (op->may & M_FREE)
		return keep_tail(p, in);
	while (p->tok.kind == TOK_DOT) {
		struct ptx_token t = p->tok;
		PTX_TRY(ptx_advance(p));
		/* shf's .l.clamp is one choice written as two words, and so is .xorsign.abs */
		if (((in->op == PTX_OP_SHF && t.n == 1) || ptx_token_is(&t, "xorsign")) && p->tok.kind == TOK_DOT &&
		    p->tok.s == t.s + t.n + 1) {
			t.n += p->tok.n + 1;
			PTX_TRY(ptx_advance(p));
		}
		const struct ptx_word *w = find_word(p, t.s, t.n, op->may | M_TYPE, op->subs, &known);
		if (!w)
			return refuse_word(p, in, &t, known);
		if (w->class == M_TYPE) {
			PTX_TRY(set_type(p, in, &t, w->value, &types));
			continue;
		}
		if (seen & w->class & ~(uint32_t)M_HINT)
			return PTX_FAIL_AT(p, &t, "%s takes %s once", op->name, ptx_class_name(w->class));
		seen |= w->class;
		set_mod(in, w);
	}
	if (types && (op->may & M_TYPE2) && types < 2)
		return ptx_fail(p, in->line, in->column, "%s needs two types", op->name);
	if (!types && op->types) {
		char list[160];
		types_text(op->types, list, sizeof list);
		return ptx_fail(p, in->line, in->column, "%s needs a type:%s", op->name, list);
	}
	uint32_t missing = op->must & ~seen & ~(uint32_t)(M_TYPE2 | (in->space ? M_SPACE : 0));
	if (op->subs && !in->sub) {
		if (op->subs >> PTX_SUB_INDEX & 1)
			in->sub = PTX_SUB_INDEX;
		else
			missing |= M_SUB;
	}
	if (missing)
		return ptx_fail(p, in->line, in->column, "%s needs %s", op->name, ptx_class_name(missing & -missing));
	return ptx_check_mods(p, in);
}

static int parse_guard(struct ptx_parser *p, struct ptx_inst *in)
{
	char buf[64];
	PTX_TRY(ptx_advance(p)); /* @ */
	PTX_TRY(ptx_accept(p, '!', &in->guard_negated));
	struct ptx_token t = p->tok;
	if (t.kind != TOK_IDENT)
		return PTX_FAIL_AT(p, &t, "expected a predicate after '@', not %s", ptx_token_text(&t, buf));
	struct ptx_operand o;
	struct ptx_place at;
	PTX_TRY(ptx_parse_operand(p, in, &o, &at));
	if (o.kind != PTX_OPND_REG || p->regs.v[o.reg].type != PTX_PRED)
		return PTX_FAIL_AT(p, &t, "a guard is a .pred register; '%.*s' is not", (int)t.n, t.s);
	in->guard = o.reg;
	return 0;
}

int ptx_parse_inst(struct ptx_parser *p)
{
	struct ptx_inst in = {.guard = -1};
	if (ptx_is(p, '@'))
		PTX_TRY(parse_guard(p, &in));
	in.line = p->tok.line;
	in.column = p->tok.column;
	in.source = p->source;
	PTX_TRY(parse_op(p, &in));
	PTX_TRY(parse_mods(p, &in));
	PTX_TRY(ptx_parse_operands(p, &in));
	PTX_TRY(ptx_check_inst(p, &in));
	PTX_TRY(ptx_expect(p, ';', "at the end of the instruction"));
	PTX_TRY(PTX_PUSH(p, p->insts));
	p->insts.v[p->insts.n++] = in;
	return 0;
}
