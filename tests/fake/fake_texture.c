/* Texture objects and arrays. An array is device memory with its texels row by row. */
#include "fake_state.h"
#include <string.h>

#define EXPORT		 __attribute__((visibility("default")))
#define FAKE(name, type) EXPORT type name
#define PITCH_ALIGN	 32

#define ENTER()                                                                                                        \
	do {                                                                                                           \
		CUresult entered = fake_enter(__func__, true);                                                         \
		if (entered)                                                                                           \
			return entered;                                                                                \
	} while (0)

static uint32_t channel_bytes(CUarray_format f)
{
	switch (f) {
	case CU_AD_FORMAT_UNSIGNED_INT8:
	case CU_AD_FORMAT_SIGNED_INT8:
		return 1;
	case CU_AD_FORMAT_UNSIGNED_INT16:
	case CU_AD_FORMAT_SIGNED_INT16:
	case CU_AD_FORMAT_HALF:
		return 2;
	default:
		return 4;
	}
}

static enum ptx_type channel_type(CUarray_format f)
{
	switch (f) {
	case CU_AD_FORMAT_UNSIGNED_INT8:
		return PTX_U8;
	case CU_AD_FORMAT_SIGNED_INT8:
		return PTX_S8;
	case CU_AD_FORMAT_UNSIGNED_INT16:
		return PTX_U16;
	case CU_AD_FORMAT_SIGNED_INT16:
		return PTX_S16;
	case CU_AD_FORMAT_HALF:
		return PTX_F16;
	case CU_AD_FORMAT_FLOAT:
		return PTX_F32;
	case CU_AD_FORMAT_SIGNED_INT32:
		return PTX_S32;
	default:
		return PTX_U32;
	}
}

FAKE(cuArray3DCreate_v2, tcuArray3DCreate);
CUresult cuArray3DCreate_v2(CUarray *array, const CUDA_ARRAY3D_DESCRIPTOR *s)
{
	ENTER();
	for (uint32_t k = 0; k < FAKE_TEXTURES; k++) {
		struct CUarray_st *a = &fake.arrays[k];
		uint64_t rows = (s->Height ? s->Height : 1) * (s->Depth ? s->Depth : 1);
		if (a->base)
			continue;
		*a = (struct CUarray_st){.shape = *s};
		CUdeviceptr base = 0;
		CUresult r = fake_memory_alloc(s->Width * rows * s->NumChannels * channel_bytes(s->Format), &base);
		a->base = base;
		*array = a;
		return fake_leave(r);
	}
	return fake_leave((CUresult)FAKE_OUT_OF_MEMORY);
}

FAKE(cuArrayDestroy, tcuArrayDestroy);
CUresult cuArrayDestroy(CUarray a)
{
	ENTER();
	CUresult r = fake_memory_free(a->base);
	a->base = 0;
	return fake_leave(r);
}

FAKE(cuMemcpy3D_v2, tcuMemcpy3D);
CUresult cuMemcpy3D_v2(const struct cuda_copy_3d *c)
{
	ENTER();
	if (c->source_type != CU_MEMORYTYPE_DEVICE || c->target_type != CU_MEMORYTYPE_ARRAY ||
	    c->source_pitch != c->width_bytes || c->source_height != c->height)
		return fake_leave((CUresult)FAKE_INVALID_VALUE);
	uint64_t bytes = (uint64_t)c->width_bytes * c->height * c->depth;
	const uint8_t *from = fake_memory_at(c->source_device, bytes);
	uint8_t *to = fake_memory_at(c->target_array->base, bytes);
	if (!from || !to)
		return fake_leave((CUresult)FAKE_INVALID_VALUE);
	memcpy(to, from, bytes);
	fake_memory_written(c->target_array->base, bytes);
	return fake_leave(CUDA_SUCCESS);
}

static CUresult describe(struct func_texture *t, const CUDA_RESOURCE_DESC *what, const CUDA_TEXTURE_DESC *how)
{
	static const enum func_texture_address modes[] = {[CU_TR_ADDRESS_MODE_WRAP] = FUNC_TEXTURE_WRAP,
							  [CU_TR_ADDRESS_MODE_CLAMP] = FUNC_TEXTURE_CLAMP,
							  [CU_TR_ADDRESS_MODE_MIRROR] = FUNC_TEXTURE_MIRROR,
							  [CU_TR_ADDRESS_MODE_BORDER] = FUNC_TEXTURE_BORDER};
	CUarray_format format;
	size_t size[3] = {0, 0, 0};
	bool linear_memory = what->resType == CU_RESOURCE_TYPE_LINEAR, flat = false;
	*t = (struct func_texture){.linear = how->filterMode == CU_TR_FILTER_MODE_LINEAR,
				   .normalized_coords = how->flags & TEXTURE_NORMALIZED_COORDINATES};
	if (what->resType == CU_RESOURCE_TYPE_ARRAY) {
		const CUDA_ARRAY3D_DESCRIPTOR *s = &what->res.array.hArray->shape;
		size[0] = s->Width;
		size[1] = s->Height;
		size[2] = s->Depth;
		format = s->Format;
		t->channels = (uint8_t)s->NumChannels;
		t->base = what->res.array.hArray->base;
	} else if (linear_memory) {
		format = what->res.linear.format;
		t->channels = (uint8_t)what->res.linear.numChannels;
		t->base = what->res.linear.devPtr;
		size[0] = what->res.linear.sizeInBytes / t->channels / channel_bytes(format);
		flat = t->linear || t->normalized_coords;
	} else {
		format = what->res.pitch2D.format;
		t->channels = (uint8_t)what->res.pitch2D.numChannels;
		t->base = what->res.pitch2D.devPtr;
		size[0] = what->res.pitch2D.width;
		size[1] = what->res.pitch2D.height;
		flat = what->res.pitch2D.pitchInBytes % PITCH_ALIGN;
	}
	t->type = (uint8_t)channel_type(format);
	t->texel_bytes = (uint8_t)(t->channels * channel_bytes(format));
	t->normalized_values = !(how->flags & CU_TRSF_READ_AS_INTEGER) && channel_bytes(format) < 4;
	t->dimensions = !size[1] ? 1 : !size[2] ? 2 : 3;
	for (int k = 0; k < 3; k++) {
		bool outside = t->normalized_coords || how->addressMode[k] == CU_TR_ADDRESS_MODE_BORDER;
		t->size[k] = size[k] ? (uint32_t)size[k] : 1;
		t->address[k] = (uint8_t)(linear_memory ? FUNC_TEXTURE_BORDER
					  : outside	? modes[how->addressMode[k]]
							: FUNC_TEXTURE_CLAMP);
	}
	t->row_pitch = (uint64_t)t->size[0] * t->texel_bytes;
	t->slice_pitch = t->row_pitch * t->size[1];
	if (flat || t->base % (what->resType == CU_RESOURCE_TYPE_ARRAY ? 1 : FAKE_TEXTURE_ALIGN))
		return (CUresult)FAKE_INVALID_VALUE;
	return fake_memory_at(t->base, t->slice_pitch * t->size[2]) ? CUDA_SUCCESS : (CUresult)FAKE_INVALID_VALUE;
}

FAKE(cuTexObjectCreate, tcuTexObjectCreate);
CUresult cuTexObjectCreate(CUtexObject *out, const CUDA_RESOURCE_DESC *what, const CUDA_TEXTURE_DESC *how,
			   const CUDA_RESOURCE_VIEW_DESC *view)
{
	ENTER();
	if (view)
		return fake_leave((CUresult)FAKE_INVALID_VALUE);
	for (uint32_t k = 0; k < FAKE_TEXTURES; k++) {
		if (fake.textures[k].dimensions)
			continue;
		CUresult r = describe(&fake.textures[k], what, how);
		if (r)
			fake.textures[k].dimensions = 0;
		*out = FUNC_TEXTURE_HANDLE + k;
		return fake_leave(r);
	}
	return fake_leave((CUresult)FAKE_OUT_OF_MEMORY);
}

FAKE(cuTexObjectDestroy, tcuTexObjectDestroy);
CUresult cuTexObjectDestroy(CUtexObject t)
{
	ENTER();
	if (t - FUNC_TEXTURE_HANDLE >= FAKE_TEXTURES || !fake.textures[t - FUNC_TEXTURE_HANDLE].dimensions)
		return fake_leave((CUresult)FAKE_INVALID_VALUE);
	fake.textures[t - FUNC_TEXTURE_HANDLE].dimensions = 0;
	return fake_leave(CUDA_SUCCESS);
}
