/* Arrays and texture objects. An array is memory with its texels row by row. */
#include "exec/driver.h"
#include <string.h>

#define CUBE_FACES  6
#define PITCH_ALIGN 32 /* of rows that a texture reads in place, CUDA Programming Guide */

struct format {
	int number;
	enum ptx_type type;
	uint8_t bytes;
};

static const struct format *format_of(int number)
{
	static const struct format all[] = {{EXEC_FORMAT_U8, PTX_U8, 1},   {EXEC_FORMAT_U16, PTX_U16, 2},
					    {EXEC_FORMAT_U32, PTX_U32, 4}, {EXEC_FORMAT_S8, PTX_S8, 1},
					    {EXEC_FORMAT_S16, PTX_S16, 2}, {EXEC_FORMAT_S32, PTX_S32, 4},
					    {EXEC_FORMAT_F16, PTX_F16, 2}, {EXEC_FORMAT_F32, PTX_F32, 4}};
	for (size_t k = 0; k < sizeof all / sizeof *all; k++)
		if (all[k].number == number)
			return &all[k];
	return NULL;
}

static uint64_t rows_of(const struct exec_array_shape *s)
{
	return (s->height ? s->height : 1) * (s->depth ? s->depth : 1);
}

EXEC_API CUresult cuArray3DCreate_v2(CUarray *out, const struct exec_array_shape *s)
{
	const struct format *f = format_of(s->format);
	if (!f || !s->width || (s->channels != 1 && s->channels != 2 && s->channels != 4))
		return EXEC_INVALID_VALUE;
	const bool several = s->flags & EXEC_ARRAY_LAYERED;
	if (s->flags & EXEC_ARRAY_CUBE &&
	    (s->width != s->height || !s->depth || s->depth % CUBE_FACES || (s->depth != CUBE_FACES && !several)))
		return EXEC_INVALID_VALUE;
	EXEC_ENTER();
	CUarray a = mem_zero(1, sizeof *a);
	if (!a)
		return exec_leave(EXEC_OUT_OF_MEMORY);
	a->shape = *s;
	a->texel_bytes = f->bytes * s->channels;
	CUresult r = exec_alloc(s->width * rows_of(s) * a->texel_bytes, EXEC_DEVICE, &a->base);
	if (r) {
		mem_free(a);
		return exec_leave(r);
	}
	a->next = exec_process.arrays;
	exec_process.arrays = *out = a;
	return exec_leave(EXEC_OK);
}

EXEC_API CUresult cuArrayCreate_v2(CUarray *out, const struct exec_array_flat *s)
{
	const struct exec_array_shape all = {
	    .width = s->width, .height = s->height, .format = s->format, .channels = s->channels};
	return cuArray3DCreate_v2(out, &all);
}

EXEC_API CUresult cuArrayDestroy(CUarray a)
{
	EXEC_ENTER();
	struct CUarray_st **p = &exec_process.arrays;
	while (*p && *p != a)
		p = &(*p)->next;
	if (!*p)
		return exec_leave(EXEC_INVALID_HANDLE);
	*p = a->next;
	CUresult r = exec_free(a->base);
	mem_free(a);
	return exec_leave(r);
}

EXEC_API CUresult cuArray3DGetDescriptor_v2(struct exec_array_shape *s, CUarray a)
{
	*s = a->shape;
	return EXEC_OK;
}

static CUresult place(struct func_texture *t, const struct exec_resource *what, const struct format **f)
{
	size_t size[3] = {0, 0, 0};
	switch (what->kind) {
	case EXEC_RESOURCE_ARRAY: {
		const struct exec_array_shape *s = &what->of.array->shape;
		size[0] = s->width;
		size[1] = s->height;
		size[2] = s->depth;
		t->layered = s->flags & (EXEC_ARRAY_LAYERED | EXEC_ARRAY_CUBE);
		*f = format_of(s->format);
		t->channels = (uint8_t)s->channels;
		t->base = what->of.array->base;
		break;
	}
	case EXEC_RESOURCE_LINEAR:
		*f = format_of(what->of.linear.format);
		t->channels = (uint8_t)what->of.linear.channels;
		t->base = what->of.linear.at;
		if (*f && t->channels)
			size[0] = what->of.linear.bytes / t->channels / (*f)->bytes;
		break;
	case EXEC_RESOURCE_PITCH:
		*f = format_of(what->of.rows.format);
		t->channels = (uint8_t)what->of.rows.channels;
		t->base = what->of.rows.at;
		size[0] = what->of.rows.width;
		size[1] = what->of.rows.height;
		t->row_pitch = what->of.rows.pitch;
		break;
	default:
		exec_unserved("cuTexObjectCreate", "textures of arrays with several levels are not modelled");
	}
	if (!*f || !t->channels || !size[0] || t->row_pitch % PITCH_ALIGN || t->base % EXEC_ALIGN)
		return EXEC_INVALID_VALUE;
	t->dimensions = !size[1] ? 1 : t->layered || !size[2] ? 2 : 3;
	for (int k = 0; k < 3; k++)
		t->size[k] = size[k] ? (uint32_t)size[k] : 1;
	return EXEC_OK;
}

static CUresult describe(struct func_texture *t, const struct exec_resource *what, const struct exec_texture_how *how)
{
	static const enum func_texture_address modes[] = {FUNC_TEXTURE_WRAP, FUNC_TEXTURE_CLAMP, FUNC_TEXTURE_MIRROR,
							  FUNC_TEXTURE_BORDER};
	const struct format *f = NULL;
	*t = (struct func_texture){.linear = how->filter == 1,
				   .normalized_coords = how->flags & EXEC_TEXTURE_NORMALIZED};
	if (how->flags & EXEC_TEXTURE_SRGB)
		exec_unserved("cuTexObjectCreate", "textures whose texels are sRGB are not modelled");
	if (what->kind != EXEC_RESOURCE_LINEAR) /* whose texels end with zeros */
		memcpy(t->border, how->border, sizeof t->border);
	CUresult r = place(t, what, &f);
	if (r)
		return r;
	t->type = (uint8_t)f->type;
	t->texel_bytes = (uint8_t)(t->channels * f->bytes);
	t->normalized_values = !(how->flags & EXEC_TEXTURE_INTEGERS) && f->bytes < 4 && f->type != PTX_F16;
	for (int k = 0; k < 3; k++) {
		bool beyond = t->normalized_coords || how->address[k] == 3;
		t->address[k] = (uint8_t)(what->kind == EXEC_RESOURCE_LINEAR ? FUNC_TEXTURE_BORDER
					  : beyond			     ? modes[how->address[k] & 3]
									     : FUNC_TEXTURE_CLAMP);
	}
	if (!t->row_pitch)
		t->row_pitch = (uint64_t)t->size[0] * t->texel_bytes;
	t->slice_pitch = t->row_pitch * t->size[1];
	return exec_at(t->base, t->slice_pitch * t->size[2]) ? EXEC_OK : EXEC_INVALID_VALUE;
}

static CUresult create(CUtexObject *out, const struct exec_resource *what, const struct exec_texture_how *how)
{
	EXEC_ENTER();
	for (uint32_t k = 0; k < EXEC_TEXTURES; k++) {
		struct func_texture *t = &exec_process.texture[k];
		if (t->dimensions)
			continue;
		CUresult r = describe(t, what, how);
		if (r)
			t->dimensions = 0;
		t->fraction_bits = (uint8_t)exec_here->spec->texture_fraction_bits;
		exec_process.object[k] = (struct exec_object){*what, *how};
		*out = FUNC_TEXTURE_HANDLE + k;
		return exec_leave(r);
	}
	return exec_leave(EXEC_OUT_OF_MEMORY);
}

EXEC_API CUresult cuTexObjectCreate(CUtexObject *out, const struct exec_resource *what,
				    const struct exec_texture_how *how, const void *view)
{
	(void)view; /* another format of the same bytes: only what the resource says is served */
	return create(out, what, how);
}

/* A surface is an array's texture that nobody filters. */
EXEC_API CUresult cuSurfObjectCreate(CUsurfObject *out, const struct exec_resource *what)
{
	static const struct exec_texture_how plain = {.flags = EXEC_TEXTURE_INTEGERS};
	return what->kind == EXEC_RESOURCE_ARRAY ? create(out, what, &plain) : EXEC_INVALID_VALUE;
}

static const struct exec_object *object_of(CUtexObject t)
{
	const uint64_t k = t - FUNC_TEXTURE_HANDLE;
	return k < EXEC_TEXTURES && exec_process.texture[k].dimensions ? &exec_process.object[k] : NULL;
}

EXEC_API CUresult cuTexObjectGetResourceDesc(struct exec_resource *what, CUtexObject t)
{
	EXEC_ENTER();
	const struct exec_object *o = object_of(t);
	if (o && what)
		*what = o->what;
	return exec_leave(o && what ? EXEC_OK : EXEC_INVALID_VALUE);
}

EXEC_API CUresult cuSurfObjectGetResourceDesc(struct exec_resource *what, CUsurfObject s)
{
	return cuTexObjectGetResourceDesc(what, s);
}

EXEC_API CUresult cuTexObjectGetTextureDesc(struct exec_texture_how *how, CUtexObject t)
{
	EXEC_ENTER();
	const struct exec_object *o = object_of(t);
	if (o && how)
		*how = o->how;
	return exec_leave(o && how ? EXEC_OK : EXEC_INVALID_VALUE);
}

EXEC_API CUresult cuTexObjectDestroy(CUtexObject t)
{
	EXEC_ENTER();
	if (t - FUNC_TEXTURE_HANDLE >= EXEC_TEXTURES)
		return exec_leave(EXEC_INVALID_HANDLE);
	exec_process.texture[t - FUNC_TEXTURE_HANDLE].dimensions = 0;
	return exec_leave(EXEC_OK);
}

EXEC_API CUresult cuSurfObjectDestroy(CUsurfObject s)
{
	return cuTexObjectDestroy(s);
}
