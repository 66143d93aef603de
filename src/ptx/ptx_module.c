/* A module: its head, then functions and variables. */
#include "ptx/ptx_impl.h"
#include <stdlib.h>
#include <string.h>

/* Debug sections hold nothing that runs. */
static int skip_section(struct ptx_parser *p)
{
	struct ptx_token at = p->tok;
	for (int depth = 0;;) {
		if (p->tok.kind == TOK_EOF)
			return PTX_FAIL_AT(p, &at, "this section has no end");
		depth += ptx_is(p, '{') - ptx_is(p, '}');
		bool end = depth == 0 && ptx_is(p, '}');
		PTX_TRY(ptx_advance(p));
		if (end)
			return 0;
	}
}

static int parse_version(struct ptx_parser *p)
{
	char buf[64];
	PTX_TRY(ptx_advance(p));
	double d = 0;
	if (p->tok.kind == TOK_F64)
		memcpy(&d, &p->tok.imm, sizeof d);
	if (p->tok.kind != TOK_F64 || !(d >= 1 && d < 100))
		return PTX_FAIL_AT(p, &p->tok, "expected a version (7.8), not %s", ptx_token_text(&p->tok, buf));
	p->m->version = (int)(d * 10 + 0.5);
	return ptx_advance(p);
}

static int parse_target(struct ptx_parser *p)
{
	char buf[64];
	struct str text;
	bool more;
	int rc = 0;
	str_init(&text);
	do {
		rc = ptx_advance(p);
		if (!rc && p->tok.kind != TOK_IDENT)
			rc = PTX_FAIL_AT(p, &p->tok, "expected a target (sm_90), not %s", ptx_token_text(&p->tok, buf));
		if (rc)
			break;
		str_addf(&text, "%s%.*s", text.len ? ", " : "", (int)p->tok.n, p->tok.s);
		if (text.failed)
			rc = err_nomem(p->e);
		else if (text.len >= sizeof p->m->target)
			rc = PTX_FAIL_AT(p, &p->tok, "the targets have more than %zu characters",
					 sizeof p->m->target - 1);
		if (!rc)
			rc = ptx_advance(p);
		more = !rc && ptx_is(p, ',');
	} while (more);
	if (!rc) {
		memcpy(p->m->target, str_text(&text), text.len + 1);
		if (str_starts(p->m->target, "sm_"))
			p->sm = (unsigned)strtoul(p->m->target + 3, NULL, 10);
	}
	str_free(&text);
	return rc;
}

static int parse_address_size(struct ptx_parser *p)
{
	struct ptx_token at;
	uint64_t v;
	PTX_TRY(ptx_advance(p));
	at = p->tok;
	PTX_TRY(ptx_uint(p, 64, "the size of an address", &v));
	if (v != 32 && v != 64)
		return PTX_FAIL_AT(p, &at, "the size of an address is 32 or 64");
	p->m->address_size = (int)v;
	return 0;
}

static int module_item(struct ptx_parser *p)
{
	enum ptx_linkage linkage = PTX_LINK_NONE;
	enum ptx_space space;
	char buf[64];
	if (ptx_is_line_directive(&p->tok))
		return ptx_skip_line_directive(p);
	if (ptx_token_is(&p->tok, "section"))
		return skip_section(p);
	if (ptx_token_is(&p->tok, "pragma")) {
		struct ptx_token text;
		return ptx_pragma(p, &text);
	}
	if (ptx_token_is(&p->tok, "visible"))
		linkage = PTX_VISIBLE;
	else if (ptx_token_is(&p->tok, "weak") || ptx_token_is(&p->tok, "common"))
		linkage = PTX_WEAK_LINK;
	else if (ptx_token_is(&p->tok, "extern"))
		linkage = PTX_EXTERN;
	if (linkage)
		PTX_TRY(ptx_advance(p));
	if (p->tok.kind == TOK_DOT && ptx_token_is(&p->tok, "entry")) {
		PTX_TRY(ptx_advance(p));
		return ptx_parse_func(p, true, linkage);
	}
	if (p->tok.kind == TOK_DOT && ptx_token_is(&p->tok, "func")) {
		PTX_TRY(ptx_advance(p));
		return ptx_parse_func(p, false, linkage);
	}
	if (ptx_var_space(&p->tok, false, &space)) {
		PTX_TRY(ptx_advance(p));
		return ptx_decl_var(p, space, linkage);
	}
	return PTX_FAIL_AT(p, &p->tok, "expected .entry, .func or a variable, not %s", ptx_token_text(&p->tok, buf));
}

/* A kernel, or in a module without kernels a function, that could be read. */
static bool any_left(const struct ptx_parser *p)
{
	bool entries = false, good[2] = {false, false};
	for (uint32_t i = 0; i < p->funcs.n; i++) {
		const struct ptx_func *f = &p->funcs.v[i];
		entries |= f->entry;
		good[f->entry] |= f->defined && !f->refused;
	}
	return good[entries];
}

static int parse_module(struct ptx_parser *p)
{
	char buf[64];
	PTX_TRY(ptx_advance(p));
	while (ptx_is_line_directive(&p->tok))
		PTX_TRY(ptx_skip_line_directive(p));
	if (!ptx_token_is(&p->tok, "version"))
		return PTX_FAIL_AT(p, &p->tok, "a module starts with .version, not %s", ptx_token_text(&p->tok, buf));
	PTX_TRY(parse_version(p));
	if (!ptx_token_is(&p->tok, "target"))
		return PTX_FAIL_AT(p, &p->tok, "expected .target, not %s", ptx_token_text(&p->tok, buf));
	PTX_TRY(parse_target(p));
	p->m->address_size = 32; /* what PTX takes when nothing is said */
	if (ptx_token_is(&p->tok, "address_size"))
		PTX_TRY(parse_address_size(p));
	while (p->tok.kind != TOK_EOF)
		PTX_TRY(module_item(p));
	if (p->refusals && !any_left(p)) {
		if (p->e)
			*p->e = p->refusal;
		return -EINVAL;
	}
	PTX_TRY(ptx_finish_names(p));
	PTX_KEEP(p, p->vars, p->m->vars);
	p->m->var_count = p->vars.n;
	PTX_KEEP(p, p->funcs, p->m->funcs);
	p->m->func_count = p->funcs.n;
	PTX_KEEP(p, p->prototypes, p->m->prototypes);
	p->m->prototype_count = p->prototypes.n;
	PTX_KEEP(p, p->items, p->m->items);
	p->m->item_count = p->items.n;
	return 0;
}

static int prepare(struct ptx_parser *p)
{
	if (ptx_names_init(&p->names))
		return err_nomem(p->e);
	for (unsigned i = 0; i < PTX_SREGS; i++) {
		const char *s = ptx_sreg_name((enum ptx_sreg)i);
		const uint32_t whole = (uint32_t)strlen(s), base = (uint32_t)strcspn(s, ".");
		if (ptx_names_add(&p->names, s, whole, NAME_SREG, (int32_t)i, 0))
			return err_nomem(p->e);
		if (base < whole && !ptx_names_find(&p->names, s, base) &&
		    ptx_names_add(&p->names, s, base, NAME_SREG, -1, 0)) /* of components */
			return err_nomem(p->e);
	}
	for (unsigned i = PTX_OPS; i-- > 0;) {
		uint16_t *head = &p->op_bucket[ptx_name_hash(ptx_ops[i].name, (uint32_t)strlen(ptx_ops[i].name)) & 255];
		p->op_next[i + 1] = *head;
		*head = (uint16_t)(i + 1);
	}
	for (size_t i = ptx_word_count; i-- > 0;) {
		const char *w = ptx_words[i].word;
		uint16_t *head = &p->word_bucket[ptx_name_hash(w, (uint32_t)strlen(w)) & 255];
		p->word_next[i + 1] = *head;
		*head = (uint16_t)(i + 1);
	}
	p->m = ARENA_NEW(p->a, struct ptx_module);
	return p->m ? 0 : err_nomem(p->e);
}

int ptx_parse(struct ptx_module **out, struct arena *a, const char *name, const char *text, size_t size, struct err *e)
{
	struct ptx_parser *p = mem_zero(1, sizeof *p);
	if (!p)
		return err_nomem(e);
	p->a = a;
	p->e = e;
	p->name = name;
	/* Editors put a byte order mark before the text. */
	size_t mark = size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
	p->at = p->line_start = text + mark;
	p->end = text + size;
	p->line = 1;
	p->func_index = -1;
	str_init(&p->pragmas);
	int rc = prepare(p);
	if (!rc)
		rc = parse_module(p);
	if (!rc)
		*out = p->m;
	ptx_names_free(&p->names);
	str_free(&p->pragmas);
	mem_free(p->vars.v);
	mem_free(p->funcs.v);
	mem_free(p->prototypes.v);
	mem_free(p->items.v);
	mem_free(p->regs.v);
	mem_free(p->insts.v);
	mem_free(p->notes.v);
	mem_free(p->labels.v);
	mem_free(p->refs.v);
	mem_free(p->targets.v);
	mem_free(p->target_names.v);
	mem_free(p);
	return rc;
}
