/* Several modules to one, as a linker of device code does: what one announces another defines. Operands name variables, functions and prototypes
 * by their place in the module, so that names that only one part knows may stand in several. */
#include "ptx/ptx_impl.h"
#include <string.h>

struct defined { /* names that other parts see */
	const char **name;
	uint32_t *index;
	uint32_t room; /* a power of two */
};
struct link {
	struct arena *a;
	struct err *e;
	struct ptx_module *const *part;
	size_t parts;
	struct ptx_module *m;
	uint32_t *var, *func; /* of all parts, one behind the other: the number in m */
	struct defined vars, funcs;
};
#define NO_PLACE UINT32_MAX

static uint32_t *place(const struct defined *d, const char *name)
{
	uint32_t at = ptx_name_hash(name, (uint32_t)strlen(name)) & (d->room - 1);
	while (d->name[at] && strcmp(d->name[at], name) != 0)
		at = (at + 1) & (d->room - 1);
	return &d->index[at];
}

static int make_room(const struct link *l, struct defined *d, uint32_t names)
{
	for (d->room = 16; d->room < 2 * names; d->room *= 2)
		;
	d->name = ARENA_ARRAY(l->a, d->room, const char *);
	d->index = ARENA_ARRAY(l->a, d->room, uint32_t);
	return d->name && d->index ? 0 : err_nomem(l->e);
}

/* The first definition of a name stands; others are copies of it where they are weak. */
static int define(const struct link *l, struct defined *d, const char *name, uint8_t linkage, uint32_t number,
		  uint32_t *to)
{
	uint32_t *index = place(d, name);
	const char **known = &d->name[index - d->index];
	*to = number;
	if (linkage != PTX_VISIBLE && linkage != PTX_WEAK_LINK)
		return 0;
	if (*known && linkage == PTX_VISIBLE)
		return err_set(l->e, -EINVAL, "two parts of the program define '%s'", name);
	if (*known) {
		*to = *index;
		return 0;
	}
	*known = name;
	*index = number;
	return 0;
}

static bool is_announced(const struct ptx_var *v)
{
	return v->func < 0 && v->linkage == PTX_EXTERN && !v->external;
}

/* Variables and functions that stay, and numbers for those that are defined. */
static int take(struct link *l)
{
	struct ptx_module *m = l->m;
	uint32_t v = 0, f = 0;
	for (size_t p = 0; p < l->parts; p++) {
		const struct ptx_module *part = l->part[p];
		for (uint32_t k = 0; k < part->var_count; k++, v++) {
			const struct ptx_var *one = &part->vars[k];
			l->var[v] = NO_PLACE;
			if (is_announced(one))
				continue;
			if (one->func < 0)
				PTX_TRY(define(l, &l->vars, one->name, one->linkage, m->var_count, &l->var[v]));
			else
				l->var[v] = m->var_count;
			if (l->var[v] == m->var_count)
				m->vars[m->var_count++] = *one;
		}
		for (uint32_t k = 0; k < part->func_count; k++, f++) {
			const struct ptx_func *one = &part->funcs[k];
			l->func[f] = NO_PLACE;
			if (!one->defined)
				continue;
			PTX_TRY(define(l, &l->funcs, one->name, one->linkage, m->func_count, &l->func[f]));
			if (l->func[f] == m->func_count)
				m->funcs[m->func_count++] = *one;
		}
	}
	return 0;
}

/* What is announced is what another part defines. A function that none defines stays announced: the GPU's own may be meant. */
static int resolve(struct link *l)
{
	struct ptx_module *m = l->m;
	uint32_t v = 0, f = 0;
	for (size_t p = 0; p < l->parts; p++) {
		const struct ptx_module *part = l->part[p];
		for (uint32_t k = 0; k < part->var_count; k++, v++) {
			if (l->var[v] != NO_PLACE)
				continue;
			const uint32_t *index = place(&l->vars, part->vars[k].name);
			if (!l->vars.name[index - l->vars.index])
				return err_set(l->e, -EINVAL, "no part of the program defines '%s'",
					       part->vars[k].name);
			l->var[v] = *index;
		}
		for (uint32_t k = 0; k < part->func_count; k++, f++) {
			if (l->func[f] != NO_PLACE)
				continue;
			uint32_t *index = place(&l->funcs, part->funcs[k].name);
			if (!l->funcs.name[index - l->funcs.index]) {
				l->funcs.name[index - l->funcs.index] = part->funcs[k].name;
				*index = m->func_count;
				m->funcs[m->func_count++] = part->funcs[k];
			}
			l->func[f] = *index;
		}
	}
	return 0;
}

struct bases { /* of a part in the lists of all */
	uint32_t var, func, prototype;
};

static void renumber_operand(const struct link *l, const struct bases *b, struct ptx_operand *o)
{
	if ((o->kind == PTX_OPND_SYMBOL || o->kind == PTX_OPND_ADDRESS) && o->sym >= 0)
		o->sym = (int32_t)l->var[b->var + (uint32_t)o->sym];
	else if (o->kind == PTX_OPND_FUNC)
		o->index = (int32_t)l->func[b->func + (uint32_t)o->index];
	else if (o->kind == PTX_OPND_PROTOTYPE)
		o->index += (int32_t)b->prototype;
}

static void renumber_func(const struct link *l, const struct bases *b, struct ptx_func *f)
{
	for (uint32_t k = 0; k < f->inst_count; k++) {
		struct ptx_inst *in = &f->insts[k];
		for (unsigned x = 0; x < in->operand_count; x++) {
			struct ptx_operand *o = &in->operand[x];
			renumber_operand(l, b, o);
			for (int y = 0; o->kind == PTX_OPND_VECTOR && y < o->count; y++)
				renumber_operand(l, b, &in->vec[o->index + y]);
		}
	}
}

static void renumber_var(const struct link *l, const struct bases *b, struct ptx_var *v)
{
	if (v->func >= 0)
		v->func = (int32_t)l->func[b->func + (uint32_t)v->func];
	for (uint32_t k = 0; k < v->address_count; k++) {
		struct ptx_address *to = &v->addresses[k];
		if (to->sym >= 0)
			to->sym = (int32_t)l->var[b->var + (uint32_t)to->sym];
		if (to->func >= 0)
			to->func = (int32_t)l->func[b->func + (uint32_t)to->func];
	}
}

/* What stays of each part, by its new numbers. Instructions are those of the parts themselves: each is renumbered once. */
static void renumber(struct link *l)
{
	struct ptx_module *m = l->m;
	struct bases b = {0, 0, 0};
	uint32_t vars = 0, funcs = 0;
	for (size_t p = 0; p < l->parts; p++) {
		const struct ptx_module *part = l->part[p];
		for (uint32_t k = 0; k < part->var_count; k++)
			if (vars < m->var_count && l->var[b.var + k] == vars)
				renumber_var(l, &b, &m->vars[vars++]);
		for (uint32_t k = 0; k < part->func_count; k++)
			if (part->funcs[k].defined && funcs < m->func_count && l->func[b.func + k] == funcs)
				renumber_func(l, &b, &m->funcs[funcs++]);
		if (part->prototype_count)
			memcpy(m->prototypes + m->prototype_count, part->prototypes,
			       part->prototype_count * sizeof *part->prototypes);
		m->prototype_count += part->prototype_count;
		b.var += part->var_count;
		b.func += part->func_count;
		b.prototype += part->prototype_count;
	}
}

/* In an order in which everything is announced before it is used. */
static int list_items(struct link *l)
{
	struct ptx_module *m = l->m;
	struct ptx_item *item = ARENA_ARRAY(l->a, m->var_count + 2 * (size_t)m->func_count + 1, struct ptx_item);
	if (!(m->items = item))
		return err_nomem(l->e);
	for (uint32_t k = 0; k < m->func_count; k++)
		if (!m->funcs[k].entry || !m->funcs[k].defined)
			item[m->item_count++] = (struct ptx_item){.kind = PTX_ITEM_HEAD, .index = k};
	for (uint32_t k = 0; k < m->var_count; k++)
		if (m->vars[k].func < 0)
			item[m->item_count++] = (struct ptx_item){.kind = PTX_ITEM_VAR, .index = k};
	for (uint32_t k = 0; k < m->func_count; k++)
		if (m->funcs[k].defined)
			item[m->item_count++] = (struct ptx_item){.kind = PTX_ITEM_BODY, .index = k};
	return 0;
}

int ptx_link(struct ptx_module **out, struct arena *a, struct ptx_module *const *part, size_t parts, struct err *e)
{
	uint32_t vars = 0, funcs = 0, prototypes = 0;
	struct link l = {.a = a, .e = e, .part = part, .parts = parts, .m = ARENA_NEW(a, struct ptx_module)};
	if (!(*out = l.m))
		return err_nomem(e);
	for (size_t p = 0; p < parts; p++) {
		vars += part[p]->var_count;
		funcs += part[p]->func_count;
		prototypes += part[p]->prototype_count;
		if (part[p]->address_size != part[0]->address_size)
			return err_set(e, -EINVAL, "parts of the program have addresses of 32 and of 64 bits");
		if (!p || part[p]->version > l.m->version)
			l.m->version = part[p]->version;
	}
	l.m->address_size = part[0]->address_size;
	memcpy(l.m->target, part[0]->target, sizeof l.m->target);
	l.m->vars = ARENA_ARRAY(a, vars + 1, struct ptx_var);
	l.m->funcs = ARENA_ARRAY(a, funcs + 1, struct ptx_func);
	l.m->prototypes = ARENA_ARRAY(a, prototypes + 1, struct ptx_prototype);
	l.var = ARENA_ARRAY(a, vars + 1, uint32_t);
	l.func = ARENA_ARRAY(a, funcs + 1, uint32_t);
	if (!l.m->vars || !l.m->funcs || !l.m->prototypes || !l.var || !l.func)
		return err_nomem(e);
	PTX_TRY(make_room(&l, &l.vars, vars));
	PTX_TRY(make_room(&l, &l.funcs, funcs));
	PTX_TRY(take(&l));
	PTX_TRY(resolve(&l));
	renumber(&l);
	return list_items(&l);
}
