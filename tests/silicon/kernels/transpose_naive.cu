#include "silicon.h"

KERNEL(transpose_naive, u32 n, const float *from, float *to)
{
	BEGIN();
	u32 x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
	to[x * n + y] = from[y * n + x];
	END();
}
