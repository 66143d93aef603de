/* Tensor maps say what a program says of a tensor and of the box that a copy moves. The kernels of the simulated GPU
 * read them. */
#include "exec/driver.h"
#include "gpu/sim/func/tensor.h"
#include <string.h>

/* CUDA Driver API, cuTensorMapEncodeTiled: what it accepts. */
enum { LINE = 16, BOX_MOST = 256, STEP_MOST = 8, SWIZZLES = 4, FLOATS_FROM = TENSOR_F16 };
#define SIZE_MOST   (1ull << 32)
#define STRIDE_MOST (1ull << 40)

static bool tensor_fits(const struct func_tensor *t, uint64_t base, const uint64_t *sizes, const uint64_t *strides,
			const uint32_t *steps)
{
	bool fits = t->rank >= 1 && t->rank <= TENSOR_RANK && t->type < TENSOR_TYPES && base % LINE == 0;
	for (unsigned k = 0; fits && k < t->rank; k++) {
		fits = sizes[k] && sizes[k] <= SIZE_MOST && steps[k] && steps[k] <= STEP_MOST;
		if (k)
			fits &= strides[k - 1] % LINE == 0 && strides[k - 1] < STRIDE_MOST;
	}
	return fits && !(t->nan && t->type < FLOATS_FROM);
}

/* What tiles and columns of pixels have in common. */
static CUresult begin(struct func_tensor *t, int type, uint32_t rank, CUdeviceptr base, const uint64_t *sizes,
		      const uint64_t *strides, const uint32_t *steps, int interleave, int swizzle, int fill)
{
	if (type < 0 || type >= TENSOR_TYPES || !rank || rank > TENSOR_RANK || swizzle < 0 || !sizes || !steps ||
	    (rank > 1 && !strides))
		return EXEC_INVALID_VALUE;
	if (interleave || swizzle >= SWIZZLES)
		return EXEC_NOT_SUPPORTED;
	*t = (struct func_tensor){.magic = TENSOR_MAGIC,
				  .type = (uint8_t)type,
				  .rank = (uint8_t)rank,
				  .swizzle = (uint8_t)((1u << swizzle) - 1),
				  .nan = fill,
				  .base = base};
	if (!tensor_fits(t, base, sizes, strides, steps))
		return EXEC_INVALID_VALUE;
	for (unsigned k = 0; k < rank; k++) {
		t->size[k] = (uint32_t)(sizes[k] < UINT32_MAX ? sizes[k] : UINT32_MAX);
		t->step[k] = (uint8_t)steps[k];
		if (k)
			t->stride[k - 1] = strides[k - 1];
	}
	t->step[0] = 1; /* the first dimension has none */
	return EXEC_OK;
}

/* A line of the box: whole pieces of 16 bytes, and no longer than what is swizzled together. */
static CUresult put(void *map, const struct func_tensor *t)
{
	const unsigned line = t->box[0] * tensor_element(t->type);
	if (line % LINE || (t->swizzle && line > (t->swizzle + 1u) * LINE))
		return EXEC_INVALID_VALUE;
	memset(map, 0, TENSOR_BYTES);
	memcpy(map, t, sizeof *t);
	return EXEC_OK;
}

EXEC_API CUresult cuTensorMapEncodeTiled(void *map, int type, uint32_t rank, CUdeviceptr base, const uint64_t *sizes,
					 const uint64_t *strides, const uint32_t *box, const uint32_t *steps,
					 int interleave, int swizzle, int promotion, int fill)
{
	struct func_tensor t;
	(void)promotion; /* of lines in the L2: nothing to compute */
	CUresult r = map && box ? begin(&t, type, rank, base, sizes, strides, steps, interleave, swizzle, fill)
				: EXEC_INVALID_VALUE;
	for (unsigned k = 0; !r && k < rank; k++) {
		r = box[k] && box[k] <= BOX_MOST ? EXEC_OK : EXEC_INVALID_VALUE;
		t.box[k] = (uint16_t)box[k];
	}
	return r ? r : put(map, &t);
}

EXEC_API CUresult cuTensorMapEncodeIm2col(void *map, int type, uint32_t rank, CUdeviceptr base, const uint64_t *sizes,
					  const uint64_t *strides, const int *low, const int *high, uint32_t channels,
					  uint32_t pixels, const uint32_t *steps, int interleave, int swizzle,
					  int promotion, int fill)
{
	enum { RANK_LEAST = 3, PIXELS_MOST = 1024 };
	struct func_tensor t;
	(void)promotion;
	if (!map || !low || !high || rank < RANK_LEAST || !channels || channels > BOX_MOST || !pixels ||
	    pixels > PIXELS_MOST)
		return EXEC_INVALID_VALUE;
	CUresult r = begin(&t, type, rank, base, sizes, strides, steps, interleave, swizzle, fill);
	if (r)
		return r;
	t.column = true;
	t.box[0] = (uint16_t)channels;
	t.box[1] = (uint16_t)pixels;
	for (unsigned k = 0; k < rank - 2; k++) {
		t.low[k] = (int16_t)low[k];
		t.high[k] = (int16_t)high[k];
	}
	return put(map, &t);
}

EXEC_API CUresult cuTensorMapReplaceAddress(void *map, CUdeviceptr base)
{
	struct func_tensor t;
	if (!map)
		return EXEC_INVALID_VALUE;
	memcpy(&t, map, sizeof t);
	if (t.magic != TENSOR_MAGIC || base % LINE)
		return EXEC_INVALID_VALUE;
	t.base = base;
	return put(map, &t);
}
