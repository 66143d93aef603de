#include "silicon.h"

KERNEL(spmv_vector, u32 width, const u32 *col, const float *value, const float *x, float *y)
{
	BEGIN();
	u32 lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
	float sum = 0;
	for (u32 k = row * width + lane; k < (row + 1) * width; k += 32)
		sum += value[k] * x[col[k]];
	for (u32 d = 16; d; d /= 2)
		sum += __shfl_down_sync(~0u, sum, d);
	if (lane == 0)
		y[row] = sum;
	END();
}
