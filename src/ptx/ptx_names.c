/* Names in nested scopes: a chained hash table. The newest entry of a chain comes first, so that leaving a scope only
 * takes the newest entries off. */
#include "base/arena.h"
#include "ptx/ptx_impl.h"
#include <string.h>

uint32_t ptx_name_hash(const char *s, uint32_t n)
{
	uint32_t h = 2166136261u;
	for (uint32_t i = 0; i < n; i++)
		h = (h ^ (unsigned char)s[i]) * 16777619u;
	return h ^ h >> 15;
}

int ptx_names_init(struct ptx_names *t)
{
	*t = (struct ptx_names){.buckets = 256, .cap = 256, .count = 1};
	t->bucket = mem_zero(t->buckets, sizeof *t->bucket);
	t->entry = mem_zero(t->cap, sizeof *t->entry);
	return t->bucket && t->entry ? 0 : -ENOMEM;
}

void ptx_names_free(struct ptx_names *t)
{
	mem_free(t->bucket);
	mem_free(t->entry);
	*t = (struct ptx_names){0};
}

static int grow(struct ptx_names *t)
{
	struct ptx_name *entry = mem_grow(t->entry, (size_t)t->cap * 2 * sizeof *entry);
	if (!entry)
		return -ENOMEM;
	t->entry = entry;
	t->cap *= 2;
	uint32_t *bucket = mem_zero((size_t)t->buckets * 2, sizeof *bucket);
	if (!bucket)
		return -ENOMEM;
	mem_free(t->bucket);
	t->bucket = bucket;
	t->buckets *= 2;
	for (uint32_t i = 1; i < t->count; i++) { /* oldest first keeps the newest in front */
		uint32_t *head = &t->bucket[t->entry[i].hash & (t->buckets - 1)];
		t->entry[i].next = *head;
		*head = i;
	}
	return 0;
}

int ptx_names_add(struct ptx_names *t, const char *s, uint32_t n, enum ptx_name_kind kind, int32_t index, uint32_t line)
{
	if (t->count == t->cap && grow(t))
		return -ENOMEM;
	uint32_t hash = ptx_name_hash(s, n);
	uint32_t *head = &t->bucket[hash & (t->buckets - 1)];
	t->entry[t->count] = (struct ptx_name){.s = s,
					       .n = n,
					       .hash = hash,
					       .next = *head,
					       .depth = t->depth,
					       .line = line,
					       .kind = (uint8_t)kind,
					       .index = index};
	*head = t->count++;
	return 0;
}

const struct ptx_name *ptx_names_find(const struct ptx_names *t, const char *s, uint32_t n)
{
	uint32_t hash = ptx_name_hash(s, n);
	for (uint32_t i = t->bucket[hash & (t->buckets - 1)]; i; i = t->entry[i].next) {
		const struct ptx_name *e = &t->entry[i];
		if (e->hash == hash && e->n == n && memcmp(e->s, s, n) == 0)
			return e;
	}
	return NULL;
}

void ptx_names_push(struct ptx_names *t)
{
	t->depth++;
}

void ptx_names_pop(struct ptx_names *t)
{
	while (t->count > 1 && t->entry[t->count - 1].depth == t->depth) {
		const struct ptx_name *e = &t->entry[--t->count];
		t->bucket[e->hash & (t->buckets - 1)] = e->next;
	}
	t->depth--;
}

/* ---- unique names: nested scopes are flattened ---- */
static int unique_name(struct ptx_parser *p, struct ptx_names *used, const char **name)
{
	const char *s = *name;
	for (unsigned i = 1; ptx_names_find(used, s, (uint32_t)strlen(s)); i++) {
		s = arena_printf(p->a, "%s$%u", *name, i);
		if (!s)
			return err_nomem(p->e);
	}
	*name = s;
	return ptx_names_add(used, s, (uint32_t)strlen(s), NAME_VAR, 0, 0) ? err_nomem(p->e) : 0;
}

static int keep_name(struct ptx_parser *p, struct ptx_names *used, const char *s)
{
	return ptx_names_add(used, s, (uint32_t)strlen(s), NAME_VAR, 0, 0) ? err_nomem(p->e) : 0;
}

/* What a function's own names must differ from: the module's, and its own parameters. */
static int names_of_func(struct ptx_parser *p, struct ptx_names *used, int32_t index)
{
	struct ptx_func *f = &p->funcs.v[index];
	for (uint32_t i = 0; i < f->param_count; i++)
		if (f->params[i].reg < 0)
			PTX_TRY(keep_name(p, used, f->params[i].name));
	for (uint32_t i = 0; i < f->ret_count; i++)
		if (f->rets[i].reg < 0)
			PTX_TRY(keep_name(p, used, f->rets[i].name));
	if (f->refused) /* its registers went with its body */
		return 0;
	for (uint32_t i = 0; i < f->reg_count; i++)
		PTX_TRY(unique_name(p, used, &f->regs[i].name));
	for (uint32_t i = 0; i < f->ret_count; i++)
		if (f->rets[i].reg >= 0)
			f->rets[i].name = f->regs[f->rets[i].reg].name;
	for (uint32_t i = 0; i < f->param_count; i++)
		if (f->params[i].reg >= 0)
			f->params[i].name = f->regs[f->params[i].reg].name;
	for (uint32_t i = 0; i < f->label_count; i++)
		PTX_TRY(unique_name(p, used, &f->labels[i].name));
	return 0;
}

static int rename_all(struct ptx_parser *p, struct ptx_names *used)
{
	for (int i = 0; i < PTX_SREGS; i++) /* scopes become one: a register that hid one would hide it everywhere */
		PTX_TRY(keep_name(p, used, ptx_sreg_name((enum ptx_sreg)i)));
	for (uint32_t i = 0; i < p->vars.n; i++)
		if (p->vars.v[i].func < 0)
			PTX_TRY(keep_name(p, used, p->vars.v[i].name));
	for (uint32_t i = 0; i < p->funcs.n; i++)
		PTX_TRY(keep_name(p, used, p->funcs.v[i].name));
	/* Variables of functions are found by name from outside (debuggers, messages), so they are unique in the module. */
	for (uint32_t i = 0; i < p->vars.n; i++)
		if (p->vars.v[i].func >= 0)
			PTX_TRY(unique_name(p, used, &p->vars.v[i].name));
	for (uint32_t i = 0; i < p->funcs.n; i++) {
		ptx_names_push(used);
		PTX_TRY(names_of_func(p, used, (int32_t)i));
		ptx_names_pop(used);
	}
	return 0;
}

int ptx_finish_names(struct ptx_parser *p)
{
	struct ptx_names used;
	int rc = ptx_names_init(&used) ? err_nomem(p->e) : rename_all(p, &used);
	ptx_names_free(&used);
	return rc;
}

/* ---- labels ---- */
static int64_t find_label(const struct ptx_parser *p, const struct ptx_label_ref *r, uint32_t depth, uint32_t first)
{
	uint32_t hash = ptx_name_hash(r->s, r->n);
	for (uint32_t i = p->label_bucket[hash & 1023]; i > first; i = p->labels.v[i - 1].next) {
		const struct ptx_label_def *l = &p->labels.v[i - 1];
		if (l->hash == hash && l->depth == depth && l->n == r->n && memcmp(l->s, r->s, r->n) == 0)
			return i - 1;
	}
	return -1;
}

/* Labels are visible in their scope and the scopes inside of it, also before they are written. A reference is therefore
 * resolved when the scope ends, or handed on to the scope around. */
int ptx_resolve_labels(struct ptx_parser *p, uint32_t first_label, uint32_t outermost)
{
	uint32_t depth = p->names.depth, kept = 0;
	for (uint32_t i = 0; i < p->refs.n; i++) {
		struct ptx_label_ref *r = &p->refs.v[i];
		int64_t l = r->depth == depth ? find_label(p, r, depth, first_label) : -1;
		if (l >= 0) {
			struct ptx_operand *o = &p->insts.v[r->inst].operand[r->operand];
			if (r->vec >= 0)
				o = &p->insts.v[r->inst].vec[r->vec];
			o->index = (int32_t)l;
			continue;
		}
		if (r->depth == depth && depth == outermost)
			return ptx_fail(p, r->line, r->column, "label '%.*s' is not declared in this function",
					(int)r->n, r->s);
		if (r->depth == depth)
			r->depth--;
		p->refs.v[kept++] = *r;
	}
	p->refs.n = kept;
	/* Labels of this scope are out of sight now, but a later scope of the same depth must not see them. */
	for (uint32_t i = first_label; i < p->labels.n; i++)
		if (p->labels.v[i].depth == depth)
			p->labels.v[i].depth = UINT32_MAX;
	return 0;
}

int ptx_add_label(struct ptx_parser *p, const struct ptx_token *t)
{
	struct ptx_label_ref probe = {.s = t->s, .n = t->n};
	int64_t old = find_label(p, &probe, p->names.depth, 0);
	if (old >= 0)
		return PTX_FAIL_AT(p, t, "label '%.*s' stands already in line %u", (int)t->n, t->s,
				   p->labels.v[old].line);
	PTX_TRY(PTX_PUSH(p, p->labels));
	uint32_t hash = ptx_name_hash(t->s, t->n), *head = &p->label_bucket[hash & 1023];
	p->labels.v[p->labels.n++] = (struct ptx_label_def){.s = t->s,
							    .n = t->n,
							    .hash = hash,
							    .next = *head,
							    .inst = p->insts.n,
							    .depth = p->names.depth,
							    .line = t->line};
	*head = p->labels.n;
	return 0;
}
