/* Textures and surfaces that a module names: what is bound to a name is an object like those that programs make themselves. */
#include "exec/driver.h"
#include <string.h>

struct CUtexref_st {
	struct CUmod_st *module;
	uint32_t variable; /* of the module */
	struct exec_resource what;
	struct exec_texture_how how;
	int format; /* of texels in plain memory */
	unsigned channels;
	bool bound;
};

static CUresult find(struct CUtexref_st **out, struct CUmod_st *m, const char *name, bool surface)
{
	EXEC_ENTER();
	const struct ptx_module *ptx = m->ptx;
	uint32_t k = 0;
	while (k < ptx->var_count && (ptx->vars[k].space != PTX_TEX || strcmp(ptx->vars[k].name, name) != 0 ||
				      (ptx->vars[k].opaque == PTX_SURFREF) != surface))
		k++;
	if (k == ptx->var_count)
		return exec_leave(EXEC_NOT_FOUND);
	if (!m->named && !(m->named = ARENA_ARRAY(&m->arena, ptx->var_count, uint64_t)))
		return exec_leave(EXEC_OUT_OF_MEMORY);
	struct CUtexref_st *r = ARENA_NEW(&m->arena, struct CUtexref_st);
	if (r)
		*r = (struct CUtexref_st){.module = m, .variable = k};
	*out = r;
	return exec_leave(r ? EXEC_OK : EXEC_OUT_OF_MEMORY);
}

/* Anew, whenever what is bound or how it is read changes. */
static CUresult bind(struct CUtexref_st *r)
{
	uint64_t *object = &r->module->named[r->variable], made = 0;
	if (!r->bound)
		return EXEC_OK;
	if (*object)
		cuTexObjectDestroy(*object);
	*object = 0;
	CUresult result = cuTexObjectCreate(&made, &r->what, &r->how, NULL);
	if (!result)
		*object = made;
	return result;
}

static CUresult bind_to(struct CUtexref_st *r, const struct exec_resource *what)
{
	r->what = *what;
	r->bound = true;
	return bind(r);
}

EXEC_API CUresult cuModuleGetTexRef(struct CUtexref_st **out, CUmodule m, const char *name)
{
	return out && m && name ? find(out, m, name, false) : EXEC_INVALID_VALUE;
}

EXEC_API CUresult cuModuleGetSurfRef(struct CUtexref_st **out, CUmodule m, const char *name)
{
	return out && m && name ? find(out, m, name, true) : EXEC_INVALID_VALUE;
}

EXEC_API CUresult cuTexRefSetArray(struct CUtexref_st *r, CUarray a, unsigned flags)
{
	(void)flags;
	return r && a ? bind_to(r, &(struct exec_resource){.kind = EXEC_RESOURCE_ARRAY, .of.array = a})
		      : EXEC_INVALID_VALUE;
}

EXEC_API CUresult cuSurfRefSetArray(struct CUtexref_st *r, CUarray a, unsigned flags)
{
	if (r)
		r->how.flags = EXEC_TEXTURE_INTEGERS;
	return cuTexRefSetArray(r, a, flags);
}

EXEC_API CUresult cuTexRefSetAddress_v2(size_t *offset, struct CUtexref_st *r, CUdeviceptr at, size_t bytes)
{
	if (!r)
		return EXEC_INVALID_VALUE;
	if (offset)
		*offset = 0;
	return bind_to(
	    r, &(struct exec_resource){.kind = EXEC_RESOURCE_LINEAR, .of.linear = {at, r->format, r->channels, bytes}});
}

EXEC_API CUresult cuTexRefSetAddress2D_v3(struct CUtexref_st *r, const struct exec_array_flat *s, CUdeviceptr at,
					  size_t pitch)
{
	return r && s ? bind_to(r, &(struct exec_resource){.kind = EXEC_RESOURCE_PITCH,
							   .of.rows = {at, s->format, s->channels, s->width, s->height,
								       pitch}})
		      : EXEC_INVALID_VALUE;
}

EXEC_API CUresult cuTexRefSetFormat(struct CUtexref_st *r, int format, int channels)
{
	if (!r)
		return EXEC_INVALID_VALUE;
	r->format = format;
	r->channels = (unsigned)channels;
	return EXEC_OK;
}

EXEC_API CUresult cuTexRefSetAddressMode(struct CUtexref_st *r, int dimension, int mode)
{
	if (!r || dimension < 0 || dimension > 2)
		return EXEC_INVALID_VALUE;
	r->how.address[dimension] = mode;
	return bind(r);
}

EXEC_API CUresult cuTexRefSetFilterMode(struct CUtexref_st *r, int mode)
{
	if (!r)
		return EXEC_INVALID_VALUE;
	r->how.filter = mode;
	return bind(r);
}

EXEC_API CUresult cuTexRefSetFlags(struct CUtexref_st *r, unsigned flags)
{
	if (!r)
		return EXEC_INVALID_VALUE;
	r->how.flags = flags;
	return bind(r);
}
