/* Equality of modules. Lines and columns do not count, nor does the order in which functions and variables stand. */
#include "ptx/ptx_impl.h"
#include <string.h>

struct pair {
	const struct ptx_module *a, *b;
	const struct ptx_func *f, *g;
};

static bool same(const char *a, const char *b)
{
	return strcmp(a, b) == 0;
}

static const struct ptx_func *func_named(const struct ptx_module *m, const char *name)
{
	for (uint32_t i = 0; i < m->func_count; i++)
		if (same(m->funcs[i].name, name))
			return &m->funcs[i];
	return NULL;
}

static const struct ptx_var *var_named(const struct ptx_module *m, const char *name)
{
	for (uint32_t i = 0; i < m->var_count; i++)
		if (same(m->vars[i].name, name))
			return &m->vars[i];
	return NULL;
}

static bool same_sym(const struct pair *p, int32_t a, int32_t b)
{
	if (a >= 0 && b >= 0)
		return same(p->a->vars[a].name, p->b->vars[b].name);
	return a == b;
}

static bool same_params(const struct ptx_param *a, uint32_t n, const struct ptx_param *b, uint32_t m)
{
	if (n != m)
		return false;
	for (uint32_t i = 0; i < n; i++)
		if (!same(a[i].name, b[i].name) || a[i].type != b[i].type || a[i].align != b[i].align ||
		    a[i].offset != b[i].offset || a[i].size != b[i].size || a[i].is_array != b[i].is_array ||
		    a[i].reg != b[i].reg)
			return false;
	return true;
}

static bool same_operand(const struct pair *p, const struct ptx_operand *a, const struct ptx_operand *b)
{
	if (a->kind != b->kind || a->count != b->count || a->negated != b->negated || a->has_reg != b->has_reg ||
	    a->reg != b->reg || a->offset != b->offset || a->imm != b->imm || !same_sym(p, a->sym, b->sym))
		return false;
	if (a->kind == PTX_OPND_PROTOTYPE) {
		const struct ptx_prototype *t = &p->a->prototypes[a->index], *u = &p->b->prototypes[b->index];
		return same_params(t->params, t->param_count, u->params, u->param_count) &&
		       same_params(t->rets, t->ret_count, u->rets, u->ret_count);
	}
	if (a->kind == PTX_OPND_FUNC)
		return same(p->a->funcs[a->index].name, p->b->funcs[b->index].name);
	return a->index == b->index;
}

static bool same_inst(const struct pair *p, const struct ptx_inst *a, const struct ptx_inst *b)
{
	if (a->op != b->op || a->type != b->type || a->type2 != b->type2 || a->space != b->space || a->cmp != b->cmp ||
	    a->round != b->round || a->cache != b->cache || a->atom != b->atom || a->boolop != b->boolop ||
	    a->vec_width != b->vec_width || a->sub != b->sub || a->mods != b->mods || a->guard != b->guard ||
	    a->guard_negated != b->guard_negated || a->operand_count != b->operand_count)
		return false;
	if (!a->tail != !b->tail || (a->tail && !same(a->tail, b->tail)))
		return false;
	for (unsigned i = 0; i < a->operand_count; i++) {
		if (!same_operand(p, &a->operand[i], &b->operand[i]))
			return false;
		for (int k = 0; a->operand[i].kind == PTX_OPND_VECTOR && k < a->operand[i].count; k++)
			if (!same_operand(p, &a->vec[a->operand[i].index + k], &b->vec[b->operand[i].index + k]))
				return false;
	}
	return true;
}

static bool same_func(const struct pair *p)
{
	const struct ptx_func *f = p->f, *g = p->g;
	if (!same(f->name, g->name) || f->entry != g->entry || f->defined != g->defined || f->linkage != g->linkage ||
	    !f->refused != !g->refused || f->param_bytes != g->param_bytes || !same(f->pragmas, g->pragmas) ||
	    f->reg_count != g->reg_count || f->label_count != g->label_count || f->inst_count != g->inst_count ||
	    f->note_count != g->note_count || !same_params(f->params, f->param_count, g->params, g->param_count) ||
	    !same_params(f->rets, f->ret_count, g->rets, g->ret_count))
		return false;
	for (uint32_t i = 0; i < f->reg_count; i++)
		if (f->regs[i].type != g->regs[i].type || !same(f->regs[i].name, g->regs[i].name))
			return false;
	for (uint32_t i = 0; i < f->label_count; i++)
		if (f->labels[i].inst != g->labels[i].inst || !same(f->labels[i].name, g->labels[i].name))
			return false;
	for (uint32_t i = 0; i < f->note_count; i++)
		if (f->notes[i].inst != g->notes[i].inst || !same(f->notes[i].text, g->notes[i].text))
			return false;
	for (uint32_t i = 0; i < f->inst_count; i++)
		if (!same_inst(p, &f->insts[i], &g->insts[i]))
			return false;
	return true;
}

static bool same_var(const struct ptx_module *a, const struct ptx_var *v, const struct ptx_module *b,
		     const struct ptx_var *w)
{
	if (v->space != w->space || v->type != w->type || v->vec != w->vec || v->opaque != w->opaque ||
	    v->managed != w->managed || v->linkage != w->linkage || v->is_array != w->is_array ||
	    v->external != w->external || v->count != w->count || v->align != w->align || v->size != w->size ||
	    !v->init != !w->init || (v->func < 0) != (w->func < 0))
		return false;
	if (v->func >= 0 && !same(a->funcs[v->func].name, b->funcs[w->func].name))
		return false;
	if (v->address_count != w->address_count)
		return false;
	for (uint32_t k = 0; k < v->address_count; k++) {
		const struct ptx_address *x = &v->addresses[k], *y = &w->addresses[k];
		const char *s = x->sym >= 0 ? a->vars[x->sym].name : a->funcs[x->func].name,
			   *t = y->sym >= 0 ? b->vars[y->sym].name : b->funcs[y->func].name;
		if (x->at != y->at || x->generic != y->generic || x->offset != y->offset || !same(s, t))
			return false;
	}
	return !v->init || memcmp(v->init, w->init, v->size) == 0;
}

bool ptx_equal(const struct ptx_module *a, const struct ptx_module *b)
{
	if (a->version != b->version || !same(a->target, b->target) || a->address_size != b->address_size ||
	    a->var_count != b->var_count || a->func_count != b->func_count)
		return false;
	for (uint32_t i = 0; i < a->var_count; i++) {
		const struct ptx_var *w = var_named(b, a->vars[i].name);
		if (!w || !same_var(a, &a->vars[i], b, w))
			return false;
	}
	for (uint32_t i = 0; i < a->func_count; i++) {
		struct pair p = {a, b, &a->funcs[i], func_named(b, a->funcs[i].name)};
		if (!p.g || !same_func(&p))
			return false;
	}
	return true;
}
