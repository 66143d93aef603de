/* Textures of a launch: objects of the driver, on the buffers themselves or on arrays that they are copied to. Made for one
 * launch and gone after it; the buffers stay. */
#include "gpu/cuda/cuda_gpu.h"
#include <errno.h>
#include <string.h>

static CUarray_format format_of(enum texel_type t)
{
	static const CUarray_format formats[] = {
	    [TEXEL_U8] = CU_AD_FORMAT_UNSIGNED_INT8,   [TEXEL_U16] = CU_AD_FORMAT_UNSIGNED_INT16,
	    [TEXEL_U32] = CU_AD_FORMAT_UNSIGNED_INT32, [TEXEL_S8] = CU_AD_FORMAT_SIGNED_INT8,
	    [TEXEL_S16] = CU_AD_FORMAT_SIGNED_INT16,   [TEXEL_S32] = CU_AD_FORMAT_SIGNED_INT32,
	    [TEXEL_F16] = CU_AD_FORMAT_HALF,	       [TEXEL_F32] = CU_AD_FORMAT_FLOAT};
	return formats[t];
}

static CUaddress_mode address_of(enum texture_address a)
{
	static const CUaddress_mode modes[] = {[TEXTURE_CLAMP] = CU_TR_ADDRESS_MODE_CLAMP,
					       [TEXTURE_WRAP] = CU_TR_ADDRESS_MODE_WRAP,
					       [TEXTURE_MIRROR] = CU_TR_ADDRESS_MODE_MIRROR,
					       [TEXTURE_BORDER] = CU_TR_ADDRESS_MODE_BORDER};
	return modes[a];
}

static CUresult make_array(struct cuda_gpu *g, const struct launch_texture *t, CUdeviceptr from, CUarray *array)
{
	CUDA_ARRAY3D_DESCRIPTOR shape = {.Width = t->size[0],
					 .Height = t->size[1],
					 .Depth = t->size[2],
					 .Format = format_of(t->type),
					 .NumChannels = t->channels};
	size_t row = (size_t)t->size[0] * t->channels * texel_bytes(t->type), rows = t->size[1] ? t->size[1] : 1;
	struct cuda_copy_3d copy = {.source_type = CU_MEMORYTYPE_DEVICE,
				    .source_device = from,
				    .source_pitch = row,
				    .source_height = rows,
				    .target_type = CU_MEMORYTYPE_ARRAY,
				    .width_bytes = row,
				    .height = rows,
				    .depth = t->size[2] ? t->size[2] : 1};
	CUresult r = g->d.array_3d_create(array, &shape);
	if (r) {
		*array = NULL;
		return r;
	}
	copy.target_array = *array;
	return g->d.memcpy_3d(&copy);
}

static CUresult make(struct cuda_gpu *g, const struct launch_texture *t, CUdeviceptr base, struct cuda_texture *out)
{
	CUDA_TEXTURE_DESC how = {.filterMode = t->linear ? CU_TR_FILTER_MODE_LINEAR : CU_TR_FILTER_MODE_POINT,
				 .flags = (t->normalized_values ? 0 : CU_TRSF_READ_AS_INTEGER) |
					  (t->normalized_coords ? TEXTURE_NORMALIZED_COORDINATES : 0)};
	CUDA_RESOURCE_DESC what;
	size_t row = (size_t)t->size[0] * t->channels * texel_bytes(t->type);
	CUresult r = CUDA_SUCCESS;

	memset(&what, 0, sizeof what);
	/* An array of one dimension is read as a row of two, whose border above and below would count for half of each filtered texel. */
	for (int k = 0; k < 3; k++)
		how.addressMode[k] = address_of(k == 0 || t->size[k] ? t->address[k] : TEXTURE_CLAMP);
	if (t->place == TEXTURE_ARRAY) {
		r = make_array(g, t, base, &out->array);
		what.resType = CU_RESOURCE_TYPE_ARRAY;
		what.res.array.hArray = out->array;
	} else if (!t->size[1]) {
		what.resType = CU_RESOURCE_TYPE_LINEAR;
		what.res.linear.devPtr = base;
		what.res.linear.format = format_of(t->type);
		what.res.linear.numChannels = t->channels;
		what.res.linear.sizeInBytes = row;
	} else {
		what.resType = CU_RESOURCE_TYPE_PITCH2D;
		what.res.pitch2D.devPtr = base;
		what.res.pitch2D.format = format_of(t->type);
		what.res.pitch2D.numChannels = t->channels;
		what.res.pitch2D.width = t->size[0];
		what.res.pitch2D.height = t->size[1];
		what.res.pitch2D.pitchInBytes = row;
	}
	return r ? r : g->d.tex_object_create(&out->object, &what, &how, NULL);
}

int cuda_textures_make(struct cuda_gpu *g, const struct launch *l, const CUdeviceptr *address, CUresult *r,
		       struct err *e)
{
	const struct cuda_driver *d = &g->d;
	int code = launch_check_textures(l, e);

	*r = CUDA_SUCCESS;
	if (code || !l->texture_count)
		return code;
	if (!d->tex_object_create || !d->tex_object_destroy || !d->array_3d_create || !d->array_destroy ||
	    !d->memcpy_3d)
		return err_set(e, -ENOTSUP, "%s: this NVIDIA driver has no texture objects; a newer one is needed",
			       l->label);
	for (uint32_t i = 0; i < l->texture_count && !*r; i++)
		*r = make(g, &l->textures[i], address[l->textures[i].buffer], &g->textures[i]);
	return 0;
}

void cuda_textures_free(struct cuda_gpu *g)
{
	for (int i = 0; i < LAUNCH_TEXTURES; i++) {
		if (g->textures[i].object)
			g->d.tex_object_destroy(g->textures[i].object);
		if (g->textures[i].array)
			g->d.array_destroy(g->textures[i].array);
		memset(&g->textures[i], 0, sizeof g->textures[i]);
	}
}
