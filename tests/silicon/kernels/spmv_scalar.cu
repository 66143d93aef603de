#include "silicon.h"

/* Each row has `width` nonzeros; col are random columns. */
KERNEL(spmv_scalar, u32 width, const u32 *col, const float *value, const float *x, float *y)
{
	BEGIN();
	u32 row = blockIdx.x * blockDim.x + threadIdx.x;
	float sum = 0;
	for (u32 k = row * width; k < (row + 1) * width; k++)
		sum += value[k] * x[col[k]];
	y[row] = sum;
	END();
}
