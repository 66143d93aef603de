/* A tensor in global memory and the box of it that one copy moves: what a tensor map says (PTX manual, tensors).
 * Function cuTensorMapEncodeTiled writes one into the 128 bytes that a program keeps for it. Kernels hand its address
 * to cp.async.bulk.tensor. */
#ifndef FATHOM_TENSOR_H
#define FATHOM_TENSOR_H
#include <stdbool.h>
#include <stdint.h>

#define TENSOR_RANK  5
#define TENSOR_BYTES 128
#define TENSOR_MAGIC 0x746d6170u

enum tensor_type { /* as CUtensorMapDataType counts */
		   TENSOR_U8,
		   TENSOR_U16,
		   TENSOR_U32,
		   TENSOR_S32,
		   TENSOR_U64,
		   TENSOR_S64,
		   TENSOR_F16,
		   TENSOR_F32,
		   TENSOR_F64,
		   TENSOR_BF16,
		   TENSOR_F32_FTZ,
		   TENSOR_TF32,
		   TENSOR_TF32_FTZ,
		   TENSOR_TYPES
};

struct func_tensor {
	uint32_t magic;
	uint8_t type, rank;
	uint8_t swizzle; /* pieces of 16 bytes that trade places, less one: 0, 1, 3 or 7 */
	bool nan;	 /* what lies outside is no number; else 0 */
	uint64_t base;
	uint64_t stride[TENSOR_RANK - 1]; /* bytes, of the dimensions behind the first */
	uint32_t size[TENSOR_RANK];	  /* elements */
	uint16_t box[TENSOR_RANK];	  /* elements that are copied; of a column of pixels: channels, pixels */
	uint8_t step[TENSOR_RANK];	  /* from one that is copied to the next */
	bool column;			  /* im2col */
	int16_t low[TENSOR_RANK - 2], high[TENSOR_RANK - 2]; /* corners that pixels stay within */
};

static inline unsigned tensor_element(unsigned type)
{
	static const uint8_t bytes[TENSOR_TYPES] = {
	    [TENSOR_U8] = 1,	  [TENSOR_U16] = 2,  [TENSOR_U32] = 4,	   [TENSOR_S32] = 4, [TENSOR_U64] = 8,
	    [TENSOR_S64] = 8,	  [TENSOR_F16] = 2,  [TENSOR_F32] = 4,	   [TENSOR_F64] = 8, [TENSOR_BF16] = 2,
	    [TENSOR_F32_FTZ] = 4, [TENSOR_TF32] = 4, [TENSOR_TF32_FTZ] = 4};
	return bytes[type];
}

#endif
