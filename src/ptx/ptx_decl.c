/* Declarations: registers, variables with initialisers, parameters. */
#include "ptx/ptx_impl.h"
#include <stdio.h>
#include <string.h>

static const char *kind_name(uint8_t kind)
{
	switch (kind) {
	case NAME_REG:
	case NAME_VECTOR2:
	case NAME_VECTOR4:
		return "a register";
	case NAME_VAR:
		return "a variable";
	case NAME_PARAM:
		return "a parameter";
	case NAME_FUNC:
		return "a function";
	case NAME_PROTOTYPE:
		return "a prototype";
	case NAME_TARGETS:
		return "a list of branch targets";
	default:
		return "a special register";
	}
}

int ptx_declare(struct ptx_parser *p, const struct ptx_token *t, enum ptx_name_kind kind, int32_t index)
{
	const struct ptx_name *old = ptx_names_find(&p->names, t->s, t->n);
	if (old && old->depth == p->names.depth)
		return old->line ? PTX_FAIL_AT(p, t, "'%.*s' is already %s, declared in line %u", (int)t->n, t->s,
					       kind_name(old->kind), old->line)
				 : PTX_FAIL_AT(p, t, "'%.*s' is already %s", (int)t->n, t->s, kind_name(old->kind));
	return ptx_names_add(&p->names, t->s, t->n, kind, index, t->line) ? err_nomem(p->e) : 0;
}

int ptx_type_of_word(struct ptx_parser *p, const struct ptx_token *t, enum ptx_type *type)
{
	char buf[64];
	if (t->kind == TOK_DOT)
		for (int i = PTX_NONE + 1; i < PTX_TYPES; i++)
			if (ptx_token_is(t, ptx_type_name((enum ptx_type)i))) {
				*type = (enum ptx_type)i;
				return 0;
			}
	return PTX_FAIL_AT(p, t, "expected a type (.u32 .s32 .f32 .b64 .pred ...), not %s", ptx_token_text(t, buf));
}

int ptx_uint(struct ptx_parser *p, uint64_t max, const char *what, uint64_t *v)
{
	char buf[64];
	if (p->tok.kind != TOK_INT)
		return PTX_FAIL_AT(p, &p->tok, "expected %s, an integer, not %s", what, ptx_token_text(&p->tok, buf));
	if (p->tok.imm > max)
		return PTX_FAIL_AT(p, &p->tok, "%s can be at most %llu", what, (unsigned long long)max);
	*v = p->tok.imm;
	return ptx_advance(p);
}

/* Behind .align */
static int parse_align(struct ptx_parser *p, uint32_t *align)
{
	struct ptx_token at = p->tok;
	uint64_t v = 0;
	PTX_TRY(ptx_uint(p, 1 << 20, "an alignment", &v));
	if (v == 0 || (v & (v - 1)))
		return PTX_FAIL_AT(p, &at, "an alignment is a power of two, not %llu", (unsigned long long)v);
	*align = (uint32_t)v;
	return 0;
}

/* .v2, .v4, .align N, in any order; what they say of a register is nothing but how many elements it has. */
static int parse_shape(struct ptx_parser *p, unsigned *vector, uint32_t *align)
{
	uint32_t ignored = 0;
	for (;;) {
		const bool aligns = ptx_token_is(&p->tok, "align");
		if (ptx_token_is(&p->tok, "v2") || ptx_token_is(&p->tok, "v4"))
			*vector = ptx_token_is(&p->tok, "v2") ? 2 : 4;
		else if (!aligns)
			return 0;
		PTX_TRY(ptx_advance(p));
		if (aligns)
			PTX_TRY(parse_align(p, align ? align : &ignored));
	}
}

int ptx_add_reg(struct ptx_parser *p, const char *name, enum ptx_type type, int32_t *index)
{
	PTX_TRY(PTX_PUSH(p, p->regs));
	*index = (int32_t)p->regs.n;
	p->regs.v[p->regs.n++] = (struct ptx_reg){.name = name, .type = (uint8_t)type};
	return 0;
}

static int declare_reg(struct ptx_parser *p, const struct ptx_token *t, enum ptx_type type)
{
	if (p->regs.n >= PTX_REGS_MAX)
		return PTX_FAIL_AT(p, t, "more than %u registers in one function", PTX_REGS_MAX);
	char *name = arena_alloc(p->a, t->n + 1, 1);
	if (!name)
		return ptx_nomem(p);
	memcpy(name, t->s, t->n);
	int32_t index = 0;
	PTX_TRY(ptx_add_reg(p, name, type, &index));
	return ptx_declare(p, t, NAME_REG, index);
}

/* name<count>: name0 ... */
static int declare_reg_range(struct ptx_parser *p, const struct ptx_token *t, uint64_t count, enum ptx_type type)
{
	if (count > PTX_REGS_MAX || p->regs.n + count > PTX_REGS_MAX)
		return PTX_FAIL_AT(p, t, "more than %u registers in one function", PTX_REGS_MAX);
	size_t width = t->n + 7;
	if (t->n > 1024)
		return PTX_FAIL_AT(p, t, "the name of a range of registers has at most 1024 characters");
	char *name = count ? arena_alloc(p->a, (size_t)count, width) : NULL;
	if (count && !name)
		return ptx_nomem(p);
	for (uint64_t i = 0; i < count; i++, name += width) {
		struct ptx_token one = *t;
		int32_t index = 0;
		memcpy(name, t->s, t->n);
		one.n = t->n + (uint32_t)snprintf(name + t->n, width - t->n, "%u", (unsigned)i);
		one.s = name;
		PTX_TRY(ptx_add_reg(p, name, type, &index));
		PTX_TRY(ptx_declare(p, &one, NAME_REG, index));
	}
	return 0;
}

/* A register of several elements is one register each; `v` is known as the list of them, `v.x` and `v.r` as the first. */
static int declare_vector(struct ptx_parser *p, const struct ptx_token *t, unsigned count, enum ptx_type type)
{
	static const char *const letters[] = {"xyzw", "rgba"};
	int32_t first = (int32_t)p->regs.n;
	if (type == PTX_PRED)
		return PTX_FAIL_AT(p, t, "a vector has no elements of .pred");
	for (unsigned k = 0; k < count; k++) {
		struct ptx_token one = *t;
		int32_t index = 0;
		char *name = arena_printf(p->a, "%.*s$%c", (int)t->n, t->s, letters[0][k]);
		if (!name)
			return ptx_nomem(p);
		if (p->regs.n >= PTX_REGS_MAX)
			return PTX_FAIL_AT(p, t, "more than %u registers in one function", PTX_REGS_MAX);
		PTX_TRY(ptx_add_reg(p, name, type, &index));
		for (size_t l = 0; l < sizeof letters / sizeof *letters; l++) {
			one.s = arena_printf(p->a, "%.*s.%c", (int)t->n, t->s, letters[l][k]);
			one.n = t->n + 2;
			if (!one.s)
				return ptx_nomem(p);
			PTX_TRY(ptx_declare(p, &one, NAME_REG, index));
		}
	}
	return ptx_declare(p, t, count == 2 ? NAME_VECTOR2 : NAME_VECTOR4, first);
}

/* name<count>: name0 ... */
static int declare_vectors(struct ptx_parser *p, const struct ptx_token *t, uint64_t range, unsigned count,
			   enum ptx_type type)
{
	for (uint64_t i = 0; i < range; i++) {
		struct ptx_token one = *t;
		one.s = arena_printf(p->a, "%.*s%u", (int)t->n, t->s, (unsigned)i);
		if (!one.s)
			return ptx_nomem(p);
		one.n = (uint32_t)strlen(one.s);
		PTX_TRY(declare_vector(p, &one, count, type));
	}
	return 0;
}

int ptx_decl_reg(struct ptx_parser *p)
{
	enum ptx_type type = PTX_NONE;
	char buf[64];
	unsigned vector = 0;
	PTX_TRY(parse_shape(p, &vector, NULL));
	PTX_TRY(ptx_type_of_word(p, &p->tok, &type));
	PTX_TRY(ptx_advance(p));
	for (;;) {
		struct ptx_token t = p->tok;
		bool more;
		if (t.kind != TOK_IDENT)
			return PTX_FAIL_AT(p, &t, "expected the name of a register, not %s", ptx_token_text(&t, buf));
		PTX_TRY(ptx_advance(p));
		if (ptx_is(p, '<')) {
			uint64_t count = 0;
			PTX_TRY(ptx_advance(p));
			PTX_TRY(ptx_uint(p, PTX_REGS_MAX, "the number of registers", &count));
			PTX_TRY(ptx_expect(p, '>', "after the number of registers"));
			PTX_TRY(vector ? declare_vectors(p, &t, count, vector, type)
				       : declare_reg_range(p, &t, count, type));
		} else if (vector) {
			PTX_TRY(declare_vector(p, &t, vector, type));
		} else {
			PTX_TRY(declare_reg(p, &t, type));
		}
		PTX_TRY(ptx_accept(p, ',', &more));
		if (!more)
			return ptx_expect(p, ';', "after the declaration of registers");
	}
}

/* The low `bytes` of the literal in the type's own format. */
static int element_bytes(struct ptx_parser *p, enum ptx_type type, const struct ptx_token *lit, uint8_t *out)
{
	uint64_t bits = lit->imm;
	char class = ptx_type_class(type);
	double d;
	float f;
	unsigned bytes = ptx_type_bytes(type);
	if (lit->kind == TOK_INT) {
		if (class == 'f' && bytes < 4)
			return PTX_FAIL_AT(p, lit, "initialise .%s by its bits in a .b%u variable", ptx_type_name(type),
					   bytes * 8);
		if (type == PTX_F32) {
			f = (float)(int64_t)bits;
			bits = 0;
			memcpy(&bits, &f, sizeof f);
		} else if (type == PTX_F64) {
			d = (double)(int64_t)bits;
			memcpy(&bits, &d, sizeof d);
		} else if (bytes < 8 && bits >> (bytes * 8) && ~bits >> (bytes * 8 - 1)) {
			return PTX_FAIL_AT(p, lit, "this value does not fit .%s", ptx_type_name(type));
		}
	} else if (class == 'i') {
		return PTX_FAIL_AT(p, lit, "a .%s is initialised with integers", ptx_type_name(type));
	} else if (type == PTX_F32 && lit->kind == TOK_F64) {
		memcpy(&d, &bits, sizeof d);
		f = (float)d;
		bits = 0;
		memcpy(&bits, &f, sizeof f);
	} else if (type == PTX_F64 && lit->kind == TOK_F32) {
		uint32_t low = (uint32_t)bits;
		memcpy(&f, &low, sizeof f);
		d = f;
		memcpy(&bits, &d, sizeof d);
	} else if (bytes != (lit->kind == TOK_F32 ? 4 : 8)) {
		return PTX_FAIL_AT(p, lit, "this floating-point value does not fit .%s", ptx_type_name(type));
	}
	for (unsigned i = 0; i < bytes; i++)
		out[i] = (uint8_t)(bits >> (8 * i));
	return 0;
}

/* = { 1, 2, {3, 4} }: nesting groups, it does not pad */
struct init_list {
	uint8_t *bytes;
	size_t n, cap; /* elements */
	PTX_LIST(struct ptx_address) addresses;
};

/* x, x+4, generic(x), generic(x)+4, or the name of a function */
static int init_address(struct ptx_parser *p, unsigned size, struct init_list *list, struct ptx_token *lit)
{
	char buf[64];
	struct ptx_address a = {
	    .at = list->n * size, .sym = -1, .func = -1, .generic = ptx_token_is(&p->tok, "generic")};
	struct ptx_token first = p->tok, offset = {.imm = 0};
	if (a.generic) {
		PTX_TRY(ptx_advance(p));
		PTX_TRY(ptx_expect(p, '(', "after generic"));
	}
	const struct ptx_name *e = p->tok.kind == TOK_IDENT ? ptx_names_find(&p->names, p->tok.s, p->tok.n) : NULL;
	if (!e || (e->kind != NAME_VAR && e->kind != NAME_FUNC))
		return PTX_FAIL_AT(p, &p->tok, "expected a number, or a variable or function declared above, not %s",
				   ptx_token_text(&p->tok, buf));
	if (size < 4)
		return PTX_FAIL_AT(p, &p->tok, "an address does not fit an element of %u bits", size * 8);
	if (e->kind == NAME_VAR)
		a.sym = e->index;
	else
		a.func = e->index;
	PTX_TRY(ptx_advance(p));
	if (a.generic)
		PTX_TRY(ptx_expect(p, ')', "after generic(..."));
	if (ptx_is(p, '+') || ptx_is(p, '-'))
		PTX_TRY(ptx_literal(p, &offset));
	a.offset = (int64_t)offset.imm;
	PTX_TRY(PTX_PUSH(p, list->addresses));
	list->addresses.v[list->addresses.n++] = a;
	*lit = first;
	lit->kind = TOK_INT;
	lit->imm = 0;
	return 0;
}

static int parse_init(struct ptx_parser *p, enum ptx_type type, struct init_list *list, uint64_t limit, unsigned depth)
{
	bool open, more;
	if (depth > 8)
		return PTX_FAIL_AT(p, &p->tok, "braces are nested deeper than 8");
	PTX_TRY(ptx_accept(p, '{', &open));
	if (!open) {
		struct ptx_token lit = {.kind = TOK_EOF};
		unsigned size = ptx_type_bytes(type);
		if (p->tok.kind == TOK_IDENT && !ptx_token_is(&p->tok, "WARP_SZ"))
			PTX_TRY(init_address(p, size, list, &lit));
		else
			PTX_TRY(ptx_literal(p, &lit));
		if (limit && list->n >= limit)
			return PTX_FAIL_AT(p, &lit, "more values than the %llu elements of the variable",
					   (unsigned long long)limit);
		if (list->n == list->cap) {
			size_t cap = list->cap ? list->cap * 2 : 64;
			uint8_t *grown = mem_grow(list->bytes, cap * size);
			if (!grown)
				return ptx_nomem(p);
			list->bytes = grown;
			list->cap = cap;
		}
		return element_bytes(p, type, &lit, list->bytes + list->n++ * size);
	}
	do {
		PTX_TRY(parse_init(p, type, list, limit, depth + 1));
		PTX_TRY(ptx_accept(p, ',', &more));
	} while (more);
	return ptx_expect(p, '}', "at the end of the values");
}

static int store_init(struct ptx_parser *p, struct ptx_var *v, const struct ptx_token *at, const struct init_list *list,
		      bool sized)
{
	unsigned size = ptx_type_bytes((enum ptx_type)v->type);
	if (!sized) {
		if (list->n % v->vec)
			return PTX_FAIL_AT(p, at, "the number of values is no multiple of the vector's %u elements",
					   v->vec);
		v->count = list->n / v->vec;
		v->size = (uint64_t)list->n * size;
	}
	uint8_t *bytes = arena_alloc(p->a, v->size ? v->size : 1, 1);
	if (!bytes)
		return ptx_nomem(p);
	if (list->n)
		memcpy(bytes, list->bytes, list->n * size);
	v->init = bytes;
	v->address_count = list->addresses.n;
	if (list->addresses.n &&
	    !(v->addresses = arena_copy(p->a, list->addresses.v, list->addresses.n * sizeof *list->addresses.v)))
		return ptx_nomem(p);
	return 0;
}

/* The module's variable of this name and kind that one of them only announces, or NULL. */
static struct ptx_var *announced(const struct ptx_parser *p, const struct ptx_token *name, const struct ptx_var *v)
{
	const struct ptx_name *old = v->func < 0 ? ptx_names_find(&p->names, name->s, name->n) : NULL;
	struct ptx_var *was = old && old->kind == NAME_VAR ? &p->vars.v[old->index] : NULL;
	const bool same = was && was->func < 0 && was->space == v->space && was->type == v->type && was->vec == v->vec;
	return same && (was->linkage == PTX_EXTERN || v->linkage == PTX_EXTERN) ? was : NULL;
}

#define VAR_BYTES_MAX (1ull << 34)

static int parse_dims(struct ptx_parser *p, struct ptx_var *v, bool *sized, unsigned *dims)
{
	bool open;
	v->count = 1;
	*sized = true;
	for (*dims = 0;; ++*dims) {
		uint64_t n = 0;
		PTX_TRY(ptx_accept(p, '[', &open));
		if (!open)
			return 0;
		v->is_array = true;
		if (ptx_is(p, ']')) {
			if (*dims)
				return PTX_FAIL_AT(p, &p->tok, "only the first dimension can be left open");
			*sized = false;
		} else {
			struct ptx_token at = p->tok;
			PTX_TRY(ptx_uint(p, VAR_BYTES_MAX, "the size of an array", &n));
			if (n == 0)
				return PTX_FAIL_AT(p, &at, "an array has at least one element");
			if (__builtin_mul_overflow(v->count, n, &v->count) || v->count > VAR_BYTES_MAX)
				return PTX_FAIL_AT(p, &at, "the array is larger than 2^34 bytes");
		}
		PTX_TRY(ptx_expect(p, ']', "after the size of an array"));
	}
}

static int parse_one_var(struct ptx_parser *p, struct ptx_var v)
{
	struct ptx_token name = p->tok;
	char buf[64];
	bool sized, equals;
	unsigned dims;
	if (name.kind != TOK_IDENT)
		return PTX_FAIL_AT(p, &name, "expected the name of a variable, not %s", ptx_token_text(&name, buf));
	PTX_TRY(ptx_advance(p));
	PTX_TRY(parse_dims(p, &v, &sized, &dims));
	if (!sized && dims > 1)
		return PTX_FAIL_AT(p, &name, "an array with an open first dimension has one dimension only");
	v.line = name.line;
	v.external = v.linkage == PTX_EXTERN && !sized;
	v.size = v.count * v.vec * ptx_type_bytes((enum ptx_type)v.type);
	if (v.size > VAR_BYTES_MAX)
		return PTX_FAIL_AT(p, &name, "the variable is larger than 2^34 bytes");
	PTX_TRY(ptx_accept(p, '=', &equals));
	if (equals && v.opaque) { /* how it is addressed, which whoever binds it says */
		while (p->tok.kind != TOK_EOF && !ptx_is(p, ';'))
			PTX_TRY(ptx_advance(p));
	} else if (equals) {
		struct init_list list = {0};
		struct ptx_token at = p->tok;
		if (v.space != PTX_CONST && v.space != PTX_GLOBAL)
			return PTX_FAIL_AT(p, &at, "only .const and .global variables are initialised");
		if (v.size > 256 * 1024 * 1024)
			return PTX_FAIL_AT(p, &at, "an initialised variable has at most 256 MB");
		int rc = parse_init(p, (enum ptx_type)v.type, &list, sized ? v.count * v.vec : 0, 0);
		if (!rc)
			rc = store_init(p, &v, &at, &list, sized);
		mem_free(list.bytes);
		mem_free(list.addresses.v);
		if (rc)
			return rc;
	} else if (!sized) {
		if (!v.external)
			return PTX_FAIL_AT(p, &name, "an array without a size is .extern or has an initialiser");
		v.count = 0;
		v.size = 0;
	}
	struct ptx_var *was = announced(p, &name, &v);
	if (was) { /* what is defined counts, in whichever order they come */
		v.name = was->name;
		*was = v.linkage == PTX_EXTERN ? *was : v;
		return 0;
	}
	char *copy = arena_alloc(p->a, name.n + 1, 1);
	if (!copy)
		return ptx_nomem(p);
	memcpy(copy, name.s, name.n);
	v.name = copy;
	PTX_TRY(PTX_PUSH(p, p->vars));
	PTX_TRY(ptx_declare(p, &name, NAME_VAR, (int32_t)p->vars.n));
	if (v.func < 0)
		PTX_TRY(ptx_add_item(p, PTX_ITEM_VAR, p->vars.n));
	p->vars.v[p->vars.n++] = v;
	return 0;
}

/* .attribute(.managed): the host may touch it. Others, as .unified(...), say nothing to a GPU that is simulated. */
static int parse_attribute(struct ptx_parser *p, bool *managed)
{
	PTX_TRY(ptx_advance(p));
	PTX_TRY(ptx_expect(p, '(', "after .attribute"));
	for (int depth = 1; depth;) {
		if (p->tok.kind == TOK_EOF)
			return PTX_FAIL_AT(p, &p->tok, "expected ')' after the attributes of a variable");
		*managed = *managed || ptx_token_is(&p->tok, "managed");
		depth += ptx_is(p, '(') ? 1 : ptx_is(p, ')') ? -1 : 0;
		PTX_TRY(ptx_advance(p));
	}
	return 0;
}

int ptx_decl_var(struct ptx_parser *p, enum ptx_space space, enum ptx_linkage linkage)
{
	struct ptx_var v = {.space = (uint8_t)space, .vec = 1, .linkage = (uint8_t)linkage, .func = p->func_index};
	struct ptx_token at;
	enum ptx_type type = PTX_NONE;
	bool more;
	for (;;) {
		bool align = ptx_token_is(&p->tok, "align");
		if (ptx_token_is(&p->tok, "attribute")) {
			PTX_TRY(parse_attribute(p, &v.managed));
			continue;
		}
		if (ptx_token_is(&p->tok, "v2"))
			v.vec = 2;
		else if (ptx_token_is(&p->tok, "v4"))
			v.vec = 4;
		else if (!align)
			break;
		PTX_TRY(ptx_advance(p));
		if (align)
			PTX_TRY(parse_align(p, &v.align));
	}
	at = p->tok;
	v.opaque = ptx_token_is(&at, "texref")	     ? PTX_TEXREF
		   : ptx_token_is(&at, "samplerref") ? PTX_SAMPLERREF
		   : ptx_token_is(&at, "surfref")    ? PTX_SURFREF
						     : PTX_OPAQUE_NONE;
	if (v.opaque) {
		v.space = PTX_TEX;
		type = PTX_B64;
	} else {
		PTX_TRY(ptx_type_of_word(p, &at, &type));
	}
	if (type == PTX_PRED || type == PTX_F16X2)
		return PTX_FAIL_AT(p, &at, "a variable in memory cannot be .%s; use .b%u", ptx_type_name(type),
				   type == PTX_PRED ? 8u : 32u);
	v.type = (uint8_t)type;
	PTX_TRY(ptx_advance(p));
	do {
		PTX_TRY(parse_one_var(p, v));
		PTX_TRY(ptx_accept(p, ',', &more));
	} while (more);
	return ptx_expect(p, ';', "after the declaration of a variable");
}

/* Behind the name: the size of an array, or nothing in between, which is that of what a call hands over. */
static int param_array(struct ptx_parser *p, struct ptx_param *q, uint64_t *count, bool open_ends)
{
	bool open;
	PTX_TRY(ptx_accept(p, '[', &open));
	if (!open)
		return 0;
	q->is_array = true;
	if (open_ends && ptx_is(p, ']')) {
		*count = 0;
		return ptx_advance(p);
	}
	const struct ptx_token at = p->tok;
	PTX_TRY(ptx_uint(p, 32768, "the size of an array parameter", count));
	if (!*count)
		return PTX_FAIL_AT(p, &at, "an array parameter has at least one element");
	return ptx_expect(p, ']', "after the size of an array parameter");
}

/* registers: of a vector, that many parameters one behind the other */
static int parse_param(struct ptx_parser *p, struct ptx_param *out, unsigned *registers, int32_t index, bool entry)
{
	struct ptx_param q = {.reg = -1};
	unsigned vector = 0;
	char buf[64];
	enum ptx_type type = PTX_NONE;
	if (ptx_token_is(&p->tok, "hidden")) /* from host code only: it takes its place like any other */
		PTX_TRY(ptx_advance(p));
	bool in_reg = ptx_token_is(&p->tok, "reg");
	if (p->tok.kind != TOK_DOT || (!ptx_token_is(&p->tok, "param") && (entry || !in_reg)))
		return PTX_FAIL_AT(p, &p->tok, "expected .param%s, not %s", entry ? "" : " or .reg",
				   ptx_token_text(&p->tok, buf));
	PTX_TRY(ptx_advance(p));
	PTX_TRY(parse_shape(p, &vector, &q.align));
	struct ptx_token at = p->tok;
	PTX_TRY(ptx_type_of_word(p, &p->tok, &type));
	if (!in_reg && (type == PTX_PRED || type == PTX_F16X2))
		return PTX_FAIL_AT(p, &at, "a parameter in memory cannot be .%s; use .b32", ptx_type_name(type));
	PTX_TRY(ptx_advance(p));
	if (ptx_token_is(&p->tok, "ptr")) { /* .ptr .global .align 4: a hint about what it points to */
		PTX_TRY(ptx_advance(p));
		if (p->tok.kind == TOK_DOT && !ptx_token_is(&p->tok, "align"))
			PTX_TRY(ptx_advance(p));
		if (ptx_token_is(&p->tok, "align")) {
			uint32_t ignored;
			PTX_TRY(ptx_advance(p));
			PTX_TRY(parse_align(p, &ignored));
		}
	}
	struct ptx_token name = p->tok;
	if (name.kind != TOK_IDENT)
		return PTX_FAIL_AT(p, &name, "expected the name of a parameter, not %s", ptx_token_text(&name, buf));
	PTX_TRY(ptx_advance(p));
	uint64_t count = 1;
	PTX_TRY(param_array(p, &q, &count, !entry && index >= 0));
	if (in_reg && q.is_array)
		return PTX_FAIL_AT(p, &name, "an array parameter is in .param");
	if (vector && !in_reg) { /* an array of as many elements, that lie as a vector does */
		if (!q.is_array)
			return PTX_FAIL_AT(p, &name, "a vector in .param is an array: write %.*s[1]", (int)name.n,
					   name.s);
		q.align = q.align ? q.align : ptx_type_bytes(type) * vector;
		count *= vector;
	}
	char *copy = arena_alloc(p->a, name.n + 1, 1);
	if (!copy)
		return ptx_nomem(p);
	memcpy(copy, name.s, name.n);
	q.name = copy;
	q.type = (uint8_t)type;
	q.size = ptx_type_bytes(type) * (uint32_t)count;
	if (p->nameless) {
		if (in_reg)
			return PTX_FAIL_AT(p, &name, "a prototype has parameters in .param only");
	} else if (in_reg && vector) {
		q.reg = (int32_t)p->regs.n;
		PTX_TRY(declare_vector(p, &name, vector, type));
	} else if (in_reg) {
		PTX_TRY(ptx_add_reg(p, copy, type, &q.reg));
		PTX_TRY(ptx_declare(p, &name, NAME_REG, q.reg));
	} else {
		PTX_TRY(ptx_declare(p, &name, NAME_PARAM, index));
	}
	*out = q;
	*registers = in_reg && vector ? vector : 1;
	return 0;
}

int ptx_decl_param_list(struct ptx_parser *p, struct ptx_param **out, uint32_t *count, bool entry, bool results)
{
	PTX_LIST(struct ptx_param) list = {0};
	bool more = true;
	int rc = ptx_expect(p, '(', "before the parameters");
	if (!rc && ptx_is(p, ')'))
		more = false;
	while (!rc && more) {
		struct ptx_param q = {.reg = -1};
		unsigned registers = 1;
		/* Results come first in the text; their numbers follow when the parameters are counted. */
		rc = parse_param(p, &q, &registers, results ? -1 - (int32_t)list.n : (int32_t)list.n, entry);
		const bool ends = q.is_array && !q.size;
		for (unsigned k = 0; !rc && k < registers; k++) {
			rc = PTX_PUSH(p, list);
			if (rc)
				break;
			list.v[list.n] = q;
			if (registers > 1) {
				list.v[list.n].reg = q.reg + (int32_t)k;
				list.v[list.n].name = p->regs.v[q.reg + (int32_t)k].name;
			}
			list.n++;
		}
		if (!rc)
			rc = ptx_accept(p, ',', &more);
		if (!rc && more && ends)
			rc = PTX_FAIL_AT(p, &p->tok, "an array without a size is the last parameter");
	}
	if (!rc)
		rc = ptx_expect(p, ')', "after the parameters");
	if (!rc && list.n) {
		*out = arena_copy(p->a, list.v, list.n * sizeof *list.v);
		if (!*out)
			rc = err_nomem(p->e);
	}
	*count = list.n;
	mem_free(list.v);
	return rc;
}
