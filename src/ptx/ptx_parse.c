/* Functions and scopes. */
#include "ptx/ptx_impl.h"
#include <stdlib.h>
#include <string.h>

int ptx_grow(struct ptx_parser *p, void **v, uint32_t *cap, size_t size)
{
	uint32_t bigger = *cap ? *cap * 2 : 32;
	if (bigger < *cap || bigger > 1u << 28)
		return err_nomem(p->e);
	void *grown = mem_grow(*v, bigger * size);
	if (!grown)
		return err_nomem(p->e);
	*v = grown;
	*cap = bigger;
	return 0;
}

int ptx_add_item(struct ptx_parser *p, enum ptx_item_kind kind, uint32_t index)
{
	PTX_TRY(PTX_PUSH(p, p->items));
	p->items.v[p->items.n++] = (struct ptx_item){.kind = (uint8_t)kind, .index = index};
	return 0;
}

static int branch_targets(struct ptx_parser *p, const struct ptx_token *label)
{
	struct ptx_targets list = {.first = p->target_names.n};
	char buf[64];
	bool more;
	do {
		PTX_TRY(ptx_advance(p));
		if (p->tok.kind != TOK_IDENT)
			return PTX_FAIL_AT(p, &p->tok, "expected a label, not %s", ptx_token_text(&p->tok, buf));
		if (++list.count > 65535)
			return PTX_FAIL_AT(p, &p->tok, "more than 65535 branch targets");
		PTX_TRY(PTX_PUSH(p, p->target_names));
		p->target_names.v[p->target_names.n++] = p->tok;
		PTX_TRY(ptx_advance(p));
		more = ptx_is(p, ',');
	} while (more);
	PTX_TRY(PTX_PUSH(p, p->targets));
	PTX_TRY(ptx_declare(p, label, NAME_TARGETS, (int32_t)p->targets.n));
	p->targets.v[p->targets.n++] = list;
	return ptx_expect(p, ';', "after the branch targets");
}

static void layout_params(struct ptx_param *q, uint32_t count, uint32_t *bytes)
{
	uint32_t at = 0;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t align = q[i].align ? q[i].align : ptx_type_bytes((enum ptx_type)q[i].type);
		if (q[i].reg >= 0)
			continue;
		at = (at + align - 1) / align * align;
		q[i].offset = at;
		at += q[i].size;
	}
	*bytes = at;
}

/* P: .callprototype (.param .b32 _) _ (.param .b32 _); */
static int prototype(struct ptx_parser *p, const struct ptx_token *label)
{
	struct ptx_prototype t = {.params = NULL};
	uint32_t bytes;
	ptx_names_push(&p->names);
	p->nameless = true;
	PTX_TRY(ptx_advance(p));
	if (ptx_is(p, '('))
		PTX_TRY(ptx_decl_param_list(p, &t.rets, &t.ret_count, false, true));
	if (!ptx_token_is(&p->tok, "_"))
		return PTX_FAIL_AT(p, &p->tok, "a prototype has the name _");
	PTX_TRY(ptx_advance(p));
	if (ptx_is(p, '('))
		PTX_TRY(ptx_decl_param_list(p, &t.params, &t.param_count, false, false));
	p->nameless = false;
	layout_params(t.params, t.param_count, &bytes);
	layout_params(t.rets, t.ret_count, &bytes);
	ptx_names_pop(&p->names);
	for (;;) { /* what the callee keeps of registers: here it has its own */
		const bool kept =
		    ptx_token_is(&p->tok, "abi_preserve") || ptx_token_is(&p->tok, "abi_preserve_control");
		uint64_t ignored;
		if (p->tok.kind != TOK_DOT || (!kept && !ptx_token_is(&p->tok, "noreturn")))
			break;
		PTX_TRY(ptx_advance(p));
		if (kept)
			PTX_TRY(ptx_uint(p, UINT32_MAX, "a number of registers", &ignored));
	}
	PTX_TRY(PTX_PUSH(p, p->prototypes));
	PTX_TRY(ptx_declare(p, label, NAME_PROTOTYPE, (int32_t)p->prototypes.n));
	p->prototypes.v[p->prototypes.n++] = t;
	return ptx_expect(p, ';', "after the prototype");
}

/* T: .calltargets f, g; which functions a call goes to, all of one kind: what it takes is as in a prototype. */
static int call_targets(struct ptx_parser *p, const struct ptx_token *label)
{
	struct ptx_prototype t = {.params = NULL};
	bool more = true;
	for (unsigned n = 0; more; n++) {
		PTX_TRY(ptx_advance(p));
		const struct ptx_name *e =
		    p->tok.kind == TOK_IDENT ? ptx_names_find(&p->names, p->tok.s, p->tok.n) : NULL;
		if (!e || e->kind != NAME_FUNC || p->funcs.v[e->index].entry)
			return PTX_FAIL_AT(p, &p->tok, "expected a function declared above");
		const struct ptx_func *f = &p->funcs.v[e->index];
		if (!n)
			t = (struct ptx_prototype){.params = f->params,
						   .param_count = f->param_count,
						   .rets = f->rets,
						   .ret_count = f->ret_count};
		PTX_TRY(ptx_advance(p));
		more = ptx_is(p, ',');
	}
	PTX_TRY(PTX_PUSH(p, p->prototypes));
	PTX_TRY(ptx_declare(p, label, NAME_PROTOTYPE, (int32_t)p->prototypes.n));
	p->prototypes.v[p->prototypes.n++] = t;
	return ptx_expect(p, ';', "after the call targets");
}

/* .maxntid 128, 1, 1 and friends: kept as text, in one spelling */
static bool is_performance(const struct ptx_token *t)
{
	static const char *const words[] = {"maxntid",	       "reqntid",      "minnctapersm",	      "maxnctapersm",
					    "maxnreg",	       "noreturn",     "reqnctapercluster",   "maxclusterrank",
					    "explicitcluster", "abi_preserve", "abi_preserve_control"};
	for (size_t i = 0; t->kind == TOK_DOT && i < sizeof words / sizeof *words; i++)
		if (ptx_token_is(t, words[i]))
			return true;
	return false;
}

static int performance(struct ptx_parser *p, struct ptx_func *f)
{
	uint64_t v;
	bool more = false;
	bool bare = ptx_token_is(&p->tok, "noreturn") || ptx_token_is(&p->tok, "explicitcluster");
	bool exact = ptx_token_is(&p->tok, "reqntid");
	bool most = ptx_token_is(&p->tok, "maxntid"), cluster = ptx_token_is(&p->tok, "reqnctapercluster");
	if (most)
		f->most_threads = 1;
	for (uint32_t k = 0; (exact || cluster) && k < 3; k++)
		*(exact ? &f->block[k] : &f->cluster[k]) = 1;
	str_addf(&p->pragmas, ".%.*s", (int)p->tok.n, p->tok.s);
	PTX_TRY(ptx_advance(p));
	if (!bare) {
		for (uint32_t k = 0; k == 0 || more; k++) {
			PTX_TRY(ptx_uint(p, UINT32_MAX, "a limit", &v));
			if (exact && k < 3)
				f->block[k] = (uint32_t)v;
			if (most && f->most_threads <= UINT32_MAX)
				f->most_threads *= v;
			if (cluster && k < 3)
				f->cluster[k] = (uint32_t)v;
			PTX_TRY(ptx_accept(p, ',', &more));
			str_addf(&p->pragmas, " %llu%s", (unsigned long long)v, more ? "," : "");
		}
	}
	str_addc(&p->pragmas, '\n');
	return p->pragmas.failed ? err_nomem(p->e) : 0;
}

/* .pragma "nounroll"; */
int ptx_pragma(struct ptx_parser *p, struct ptx_token *text)
{
	char buf[64];
	PTX_TRY(ptx_advance(p));
	*text = p->tok;
	if (text->kind != TOK_STRING)
		return PTX_FAIL_AT(p, text, "expected a string after .pragma, not %s", ptx_token_text(text, buf));
	PTX_TRY(ptx_advance(p));
	return ptx_expect(p, ';', "after the pragma");
}

bool ptx_is_line_directive(const struct ptx_token *t)
{
	return t->kind == TOK_DOT && (ptx_token_is(t, "loc") || ptx_token_is(t, "file"));
}

/* The second number of ".loc file line column". What it is not is no error: it says nothing about what is executed. */
static void read_loc(struct ptx_parser *p, const struct ptx_token *t)
{
	const char *s = t->s + t->n;
	uint64_t n = 0;
	for (int word = 0; word < 2; word++) {
		while (s < p->end && (*s == ' ' || *s == '\t'))
			s++;
		for (n = 0; s < p->end && *s >= '0' && *s <= '9' && n < UINT32_MAX / 10; s++)
			n = n * 10 + (uint64_t)(*s - '0');
	}
	p->source = (uint32_t)n;
}

int ptx_skip_line_directive(struct ptx_parser *p)
{
	if (ptx_token_is(&p->tok, "loc"))
		read_loc(p, &p->tok);
	p->has_ahead = false;
	ptx_skip_line(p);
	return ptx_advance(p);
}

bool ptx_var_space(const struct ptx_token *t, bool body, enum ptx_space *space)
{
	static const struct {
		const char *word;
		enum ptx_space space;
	} spaces[] = {{"const", PTX_CONST}, {"global", PTX_GLOBAL}, {"shared", PTX_SHARED},
		      {"local", PTX_LOCAL}, {"param", PTX_PARAM},   {"tex", PTX_TEX}};
	for (size_t i = 0; t->kind == TOK_DOT && i < sizeof spaces / sizeof *spaces; i++)
		if (ptx_token_is(t, spaces[i].word)) {
			*space = spaces[i].space;
			return body ? *space != PTX_TEX : *space != PTX_PARAM;
		}
	return false;
}

static int body_directive(struct ptx_parser *p)
{
	enum ptx_space space;
	char buf[64];
	struct ptx_token t = p->tok;
	if (ptx_is_line_directive(&t))
		return ptx_skip_line_directive(p);
	if (ptx_token_is(&t, "reg")) {
		PTX_TRY(ptx_advance(p));
		return ptx_decl_reg(p);
	}
	if (ptx_token_is(&t, "pragma")) {
		struct ptx_token text;
		PTX_TRY(ptx_pragma(p, &text));
		PTX_TRY(PTX_PUSH(p, p->notes));
		char *copy = arena_alloc(p->a, text.n + 1, 1);
		if (!copy)
			return err_nomem(p->e);
		memcpy(copy, text.s, text.n);
		p->notes.v[p->notes.n++] = (struct ptx_note){.inst = p->insts.n, .text = copy};
		return 0;
	}
	if (ptx_var_space(&t, true, &space)) {
		PTX_TRY(ptx_advance(p));
		return ptx_decl_var(p, space, PTX_LINK_NONE);
	}
	return PTX_FAIL_AT(p, &t, "%s is no directive that may stand in a function", ptx_token_text(&t, buf));
}

static int statement(struct ptx_parser *p)
{
	if (p->tok.kind == TOK_DOT)
		return body_directive(p);
	if (p->tok.kind == TOK_IDENT) {
		PTX_TRY(ptx_peek(p));
		if (p->ahead.kind == TOK_PUNCT && p->ahead.c == ':') {
			struct ptx_token label = p->tok;
			PTX_TRY(ptx_advance(p));
			PTX_TRY(ptx_advance(p));
			if (ptx_token_is(&p->tok, "callprototype"))
				return prototype(p, &label);
			if (ptx_token_is(&p->tok, "branchtargets"))
				return branch_targets(p, &label);
			if (ptx_token_is(&p->tok, "calltargets"))
				return call_targets(p, &label);
			return ptx_add_label(p, &label);
		}
	}
	return ptx_parse_inst(p);
}

static int block(struct ptx_parser *p, unsigned nesting, uint32_t outermost)
{
	struct ptx_token open = p->tok;
	uint32_t first_label = p->labels.n;
	if (nesting > 64)
		return PTX_FAIL_AT(p, &open, "scopes are nested deeper than 64");
	PTX_TRY(ptx_advance(p)); /* { */
	while (!ptx_is(p, '}')) {
		bool empty;
		if (p->tok.kind == TOK_EOF)
			return PTX_FAIL_AT(p, &open, "the '{' that stands here has no '}'");
		if (ptx_is(p, '{')) {
			ptx_names_push(&p->names);
			PTX_TRY(block(p, nesting + 1, outermost));
			PTX_TRY(ptx_advance(p));
			continue;
		}
		PTX_TRY(ptx_accept(p, ';', &empty));
		if (!empty)
			PTX_TRY(statement(p));
	}
	PTX_TRY(ptx_resolve_labels(p, first_label, outermost));
	ptx_names_pop(&p->names);
	return 0; /* the caller reads past the } */
}

/* ---- functions ---- */
static int keep_body(struct ptx_parser *p)
{
	struct ptx_func *f = p->f;
	PTX_KEEP(p, p->insts, f->insts);
	f->inst_count = p->insts.n;
	PTX_KEEP(p, p->notes, f->notes);
	f->note_count = p->notes.n;
	f->label_count = p->labels.n;
	if (f->label_count && !(f->labels = ARENA_ARRAY(p->a, f->label_count, struct ptx_label)))
		return err_nomem(p->e);
	for (uint32_t i = 0; i < f->label_count; i++) {
		char *name = arena_alloc(p->a, p->labels.v[i].n + 1, 1);
		if (!name)
			return err_nomem(p->e);
		memcpy(name, p->labels.v[i].s, p->labels.v[i].n);
		f->labels[i] = (struct ptx_label){.name = name, .inst = p->labels.v[i].inst};
	}
	return 0;
}

static bool same_params(const struct ptx_param *a, uint32_t n, const struct ptx_param *b, uint32_t m)
{
	if (n != m)
		return false;
	for (uint32_t i = 0; i < n; i++)
		if (a[i].type != b[i].type || a[i].size != b[i].size || (a[i].reg < 0) != (b[i].reg < 0))
			return false;
	return true;
}

/* A new function, or the one that a prototype has already announced. */
static int name_func(struct ptx_parser *p, const struct ptx_token *t, bool entry, int32_t *index, bool *announced)
{
	const struct ptx_name *old = ptx_names_find(&p->names, t->s, t->n);
	*announced = old && old->kind == NAME_FUNC;
	if (*announced) {
		*index = old->index;
		if (p->funcs.v[old->index].entry != entry || entry)
			return PTX_FAIL_AT(p, t, "'%.*s' is already declared in line %u", (int)t->n, t->s, old->line);
		return 0;
	}
	*index = (int32_t)p->funcs.n;
	PTX_TRY(PTX_PUSH(p, p->funcs));
	char *name = arena_alloc(p->a, t->n + 1, 1);
	if (!name)
		return err_nomem(p->e);
	memcpy(name, t->s, t->n);
	p->funcs.v[p->funcs.n] = (struct ptx_func){.name = name, .entry = entry, .pragmas = "", .line = t->line};
	p->funcs.n++;
	return 0;
}

/* Begins something of the module's: then no body follows. */
static bool starts_item(const struct ptx_token *t)
{
	static const char *const words[] = {"entry", "func",   "visible", "weak", "extern",
					    "const", "global", "shared",  "tex"};
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (ptx_token_is(t, words[i]))
			return true;
	return false;
}

static int function_head(struct ptx_parser *p, struct ptx_func *f, struct ptx_token *name, bool entry)
{
	char buf[64];
	*f = (struct ptx_func){.entry = entry, .pragmas = ""};
	if (!entry && ptx_is(p, '('))
		PTX_TRY(ptx_decl_param_list(p, &f->rets, &f->ret_count, false, true));
	*name = p->tok;
	if (name->kind != TOK_IDENT)
		return PTX_FAIL_AT(p, name, "expected the name of a function, not %s", ptx_token_text(name, buf));
	PTX_TRY(ptx_advance(p));
	f->line = name->line;
	if (ptx_is(p, '('))
		PTX_TRY(ptx_decl_param_list(p, &f->params, &f->param_count, entry, false));
	uint32_t ret_bytes;
	layout_params(f->params, f->param_count, &f->param_bytes);
	layout_params(f->rets, f->ret_count, &ret_bytes);
	while (p->tok.kind == TOK_DOT) {
		if (is_performance(&p->tok)) {
			PTX_TRY(performance(p, f));
		} else if (ptx_token_is(&p->tok, "pragma")) {
			struct ptx_token text;
			PTX_TRY(ptx_pragma(p, &text));
			str_addf(&p->pragmas, ".pragma \"%.*s\";\n", (int)text.n, text.s);
		} else if (ptx_is_line_directive(&p->tok)) {
			PTX_TRY(ptx_skip_line_directive(p));
		} else if (!entry && starts_item(&p->tok)) {
			break;
		} else {
			return PTX_FAIL_AT(p, &p->tok, "%s is no directive that may stand before a body",
					   ptx_token_text(&p->tok, buf));
		}
	}
	return p->pragmas.failed ? err_nomem(p->e) : 0;
}

/* Names of parameters belong to the function, the function's own name to the module. */
static int declare_outside(struct ptx_parser *p, const struct ptx_token *name, int32_t index)
{
	if (ptx_names_find(&p->names, name->s, name->n) &&
	    ptx_names_find(&p->names, name->s, name->n)->kind == NAME_FUNC)
		return 0;
	return ptx_declare(p, name, NAME_FUNC, index);
}

static void reset_body(struct ptx_parser *p)
{
	p->regs.n = p->insts.n = p->notes.n = p->labels.n = p->refs.n = p->targets.n = p->target_names.n = 0;
	memset(p->label_bucket, 0, sizeof p->label_bucket);
	str_clear(&p->pragmas);
}

/* What stood before a body that cannot be read. */
struct ptx_saved {
	struct ptx_token at; /* its { */
	uint32_t depth, vars, prototypes;
};

/* A kernel that holds something unknown refuses itself, not the module: the body is passed over, and whoever asks for it is told why. */
static int refuse_body(struct ptx_parser *p, const struct ptx_saved *s, int32_t index, const struct ptx_token *name)
{
	struct ptx_func *f = &p->funcs.v[index];
	const char *why = arena_strdup(p->a, p->e ? p->e->text : "");
	struct err first = p->e ? *p->e : (struct err){0};
	unsigned depth = 0;
	if (!why)
		return err_nomem(p->e);
	p->at = s->at.s;
	p->line = s->at.line;
	p->line_start = s->at.s - (s->at.column - 1);
	p->has_ahead = false;
	p->nameless = false;
	do {
		if (ptx_advance(p) ||
		    p->tok.kind == TOK_EOF) { /* the end is nowhere: what was wrong before is to be told */
			if (p->e)
				*p->e = first;
			return -EINVAL;
		}
		depth += ptx_is(p, '{');
		depth -= ptx_is(p, '}');
	} while (depth);
	while (p->names.depth >= s->depth)
		ptx_names_pop(&p->names);
	p->vars.n = s->vars;
	p->prototypes.n = s->prototypes;
	p->func_index = -1;
	f->refused = why;
	f->regs = NULL;
	f->reg_count = f->inst_count = f->label_count = f->note_count = 0;
	size_t bytes = (size_t)(p->at - s->at.s);
	char *text = arena_alloc(p->a, bytes + 1, 1);
	if (!text)
		return err_nomem(p->e);
	memcpy(text, s->at.s, bytes);
	f->text = text;
	p->refusals++;
	if (p->refusals == 1)
		p->refusal = first;
	PTX_TRY(declare_outside(p, name, index));
	return ptx_advance(p); /* } */
}

int ptx_parse_func(struct ptx_parser *p, bool entry, enum ptx_linkage linkage)
{
	struct ptx_func head;
	struct ptx_token name;
	int32_t index;
	bool announced;
	reset_body(p);
	ptx_names_push(&p->names);
	PTX_TRY(function_head(p, &head, &name, entry));
	bool body = ptx_is(p, '{');
	/* nvopencc ends an announcement without ';', and what follows is the next directive of the module. */
	bool bare = !entry && p->tok.kind == TOK_DOT;
	if (!body && !bare && (entry || !ptx_is(p, ';')))
		return ptx_expect(p, '{', "before the body of the function");
	PTX_TRY(name_func(p, &name, entry, &index, &announced));
	struct ptx_func *f = &p->funcs.v[index];
	if (announced) {
		if (f->defined && body)
			return PTX_FAIL_AT(p, &name, "'%s' has already a body", f->name);
		if (!same_params(f->params, f->param_count, head.params, head.param_count) ||
		    !same_params(f->rets, f->ret_count, head.rets, head.ret_count))
			return PTX_FAIL_AT(p, &name, "'%s' was announced with other parameters in line %u", f->name,
					   f->line);
	}
	if (linkage)
		f->linkage = (uint8_t)linkage;
	if (f->defined) {
		ptx_names_pop(&p->names);
		return bare ? 0 : ptx_advance(p);
	}
	head.name = f->name;
	head.linkage = f->linkage;
	*f = head;
	p->f = f;
	p->func_index = index;
	p->source = 0;
	PTX_TRY(ptx_add_item(p, body ? PTX_ITEM_BODY : PTX_ITEM_HEAD, (uint32_t)index));
	if (!body) {
		PTX_KEEP(p, p->regs, f->regs);
		f->reg_count = p->regs.n;
		ptx_names_pop(&p->names);
		p->func_index = -1;
		PTX_TRY(declare_outside(p, &name, index));
		return bare ? 0 : ptx_advance(p);
	}
	/* The name belongs to the scope around, which is closed to new names now: recursion finds this one. */
	if (!ptx_names_find(&p->names, name.s, name.n))
		PTX_TRY(ptx_declare(p, &name, NAME_FUNC, index));
	f->defined = true;
	struct ptx_saved saved = {
	    .at = p->tok, .depth = p->names.depth, .vars = p->vars.n, .prototypes = p->prototypes.n};
	int rc = block(p, 0, p->names.depth);
	if (rc == -EINVAL)
		return refuse_body(p, &saved, index, &name);
	if (rc)
		return rc;
	p->func_index = -1;
	f = p->f;
	PTX_KEEP(p, p->regs, f->regs);
	f->reg_count = p->regs.n;
	PTX_TRY(keep_body(p));
	if (p->pragmas.len && !(f->pragmas = arena_strdup(p->a, str_text(&p->pragmas))))
		return err_nomem(p->e);
	PTX_TRY(declare_outside(p, &name, index));
	return ptx_advance(p); /* } */
}
