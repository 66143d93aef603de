/* Places of a module's variables. Constants and globals are those of the module; shared and local memory only what the
 * entry and the functions it calls name. */
#include "decode.h"
#include <string.h>

static uint64_t align_up(uint64_t at, uint64_t align)
{
	return (at + align - 1) / align * align;
}

/* used: of each variable, and behind them of the system's shared memory. */
static void mark_operand(const struct decoder *d, const struct ptx_operand *o, bool *used)
{
	if (o->kind == PTX_OPND_SREG && o->index >= PTX_SREG_RESERVED_BEGIN && o->index <= PTX_SREG_RESERVED_1)
		used[d->m->var_count] = true;
	if ((o->kind == PTX_OPND_SYMBOL || o->kind == PTX_OPND_ADDRESS) && o->sym >= 0)
		used[o->sym] = true;
}

/* What function f names; a function that it calls is put on the list unless it stood there before. */
static void mark(const struct decoder *d, const struct ptx_func *f, bool *used, bool *listed, uint32_t *list,
		 uint32_t *count)
{
	for (uint32_t k = 0; k < f->inst_count; k++) {
		const struct ptx_inst *in = &f->insts[k];
		for (unsigned x = 0; x < in->operand_count; x++) {
			const struct ptx_operand *o = &in->operand[x];
			mark_operand(d, o, used);
			for (int v = 0; o->kind == PTX_OPND_VECTOR && v < o->count; v++)
				mark_operand(d, &in->vec[o->index + v], used);
			if (o->kind == PTX_OPND_FUNC && !listed[o->index]) {
				listed[o->index] = true;
				list[(*count)++] = (uint32_t)o->index;
			}
		}
	}
}

/* Of the entry and all that it calls, in whatever depth. */
static int mark_all(struct decoder *d, const struct ptx_func *entry, bool *used)
{
	const struct ptx_module *m = d->m;
	bool *listed = mem_zero((size_t)m->func_count + 1, sizeof *listed);
	uint32_t *list = mem_zero((size_t)m->func_count + 1, sizeof *list), count = 0;
	if (listed && list) {
		mark(d, entry, used, listed, list, &count);
		for (uint32_t k = 0; k < m->var_count; k++)
			for (uint32_t n = 0; n < m->vars[k].address_count; n++) {
				int32_t func = m->vars[k].addresses[n].func;
				if (func >= 0 && !listed[func]) { /* it may be called through a register */
					listed[func] = true;
					list[count++] = (uint32_t)func;
				}
			}
		for (uint32_t k = 0; k < count; k++)
			mark(d, &m->funcs[list[k]], used, listed, list, &count);
	}
	int rc = listed && list ? 0 : err_nomem(d->e);
	mem_free(listed);
	mem_free(list);
	return rc;
}

static uint64_t alignment(const struct ptx_var *v)
{
	return v->align ? v->align : (uint64_t)ptx_type_bytes((enum ptx_type)v->type) * v->vec;
}

static void place(struct decoder *d, uint32_t k, const struct ptx_var *v, uint64_t *at)
{
	*at = align_up(*at, alignment(v));
	d->address[k] = *at;
	*at += v->size;
}

static uint64_t globals_of(const struct decoder *d)
{
	return d->target->globals ? d->target->globals : FUNC_MODULE_BASE;
}

uint64_t func_space_bytes(const struct ptx_module *m, enum ptx_space space)
{
	uint64_t at = 0;
	for (uint32_t k = 0; k < m->var_count; k++)
		if (m->vars[k].space == space)
			at = align_up(at, alignment(&m->vars[k])) + m->vars[k].size;
	return at;
}

static void place_all(struct decoder *d, const bool *used)
{
	const struct ptx_module *m = d->m;
	d->p->reserved = d->target->cc < 80 ? 0 : FUNC_RESERVED;
	d->p->reserved_bytes = used[m->var_count] ? d->p->reserved : 0;
	uint64_t shared = d->p->reserved_bytes, constant = 0, global = globals_of(d);
	uint64_t dynamic = 1; /* what the launch's shared memory begins at a multiple of */
	for (uint32_t k = 0; k < m->var_count; k++) {
		const struct ptx_var *v = &m->vars[k];
		switch (v->space) {
		case PTX_CONST:
			place(d, k, v, &constant);
			break;
		case PTX_GLOBAL:
			place(d, k, v, &global);
			break;
		case PTX_SHARED:
			if (used[k] && !v->external)
				place(d, k, v, &shared);
			if (used[k] && v->external) {
				dynamic = dynamic < 16 ? 16 : dynamic;
				dynamic = dynamic < alignment(v) ? alignment(v) : dynamic;
			}
			break;
		case PTX_TEX:
			d->address[k] = FUNC_TEXTURE_NAMED + k;
			break;
		case PTX_LOCAL:
		case PTX_PARAM:
			if (used[k] && !decode_is_framed(d, (int32_t)k))
				place(d, k, v, &d->local_bytes);
			break;
		default:
			break;
		}
	}
	shared = align_up(shared, dynamic);
	for (uint32_t k = 0; k < m->var_count; k++)
		if (m->vars[k].space == PTX_SHARED && m->vars[k].external)
			d->address[k] = shared;
	d->p->shared_static = shared;
	d->p->const_bytes = constant;
	d->p->global_bytes = global - globals_of(d);
}

int decode_layout(struct decoder *d, const struct ptx_func *entry)
{
	bool *used = mem_zero((size_t)d->m->var_count + 1, sizeof *used);
	int rc = -ENOMEM;
	if (used) {
		rc = mark_all(d, entry, used);
		place_all(d, used);
	} else {
		err_nomem(d->e);
	}
	mem_free(used);
	if (rc)
		return rc;
	if (!d->target->globals && d->p->global_bytes > FUNC_GLOBAL_BASE - FUNC_MODULE_BASE)
		return err_set(d->e, -EINVAL,
			       "%s: the variables in .global take %llu bytes, more than the %llu there are", d->name,
			       (unsigned long long)d->p->global_bytes,
			       (unsigned long long)(FUNC_GLOBAL_BASE - FUNC_MODULE_BASE));
	return 0;
}

static void put_address(const struct decoder *d, const struct ptx_var *v, const struct ptx_address *a, uint8_t *data)
{
	static const uint64_t window[PTX_SPACES] = {
	    [PTX_SHARED] = FUNC_SHARED_WINDOW, [PTX_CONST] = FUNC_CONST_WINDOW, [PTX_LOCAL] = FUNC_LOCAL_WINDOW};
	uint64_t to = a->func >= 0 ? FUNC_CODE_BASE + (uint64_t)a->func * FUNC_CODE_STEP
				   : d->address[a->sym] + (a->generic ? window[d->m->vars[a->sym].space] : 0);
	unsigned bytes = ptx_type_bytes((enum ptx_type)v->type);
	to += (uint64_t)a->offset;
	for (unsigned k = 0; k < bytes && k < 8; k++)
		data[a->at + k] = (uint8_t)(to >> (8 * k));
}

static int image(struct decoder *d, enum ptx_space space, uint64_t base, uint64_t bytes, const uint8_t **out)
{
	const struct ptx_module *m = d->m;
	uint8_t *data = NULL;
	for (uint32_t k = 0; k < m->var_count; k++) {
		const struct ptx_var *v = &m->vars[k];
		if (v->space != space || !v->init)
			continue;
		if (!data && !(data = arena_alloc(d->a, bytes, 1)))
			return err_nomem(d->e);
		memcpy(data + (d->address[k] - base), v->init, v->size);
		for (uint32_t n = 0; n < v->address_count; n++)
			put_address(d, v, &v->addresses[n], data + (d->address[k] - base));
	}
	*out = data;
	return 0;
}

int decode_initial(struct decoder *d)
{
	const struct ptx_module *m = d->m;
	struct func_symbol *s = ARENA_ARRAY(d->a, m->var_count ? m->var_count : 1, struct func_symbol);
	if (!s)
		return err_nomem(d->e);
	DECODE_TRY(image(d, PTX_CONST, 0, d->p->const_bytes, &d->p->const_init));
	DECODE_TRY(image(d, PTX_GLOBAL, globals_of(d), d->p->global_bytes, &d->p->global_init));
	d->p->symbol = s;
	for (uint32_t k = 0; k < m->var_count; k++) {
		const struct ptx_var *v = &m->vars[k];
		if (v->space == PTX_TEX || v->space == PTX_PARAM)
			continue;
		s->name = arena_strdup(d->a, v->name);
		if (!s->name)
			return err_nomem(d->e);
		s->space = v->space;
		s->address = d->address[k];
		s->size = v->size;
		s++;
	}
	d->p->symbol_count = (uint32_t)(s - d->p->symbol);
	return 0;
}
