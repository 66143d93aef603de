#include "silicon.h"

KERNEL(stencil2d, u32 n, const float *from, float *to)
{
	BEGIN();
	u32 x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
	if (x > 0 && y > 0 && x < n - 1 && y < n - 1) {
		u32 i = y * n + x;
		to[i] = 0.5f * from[i] + 0.125f * (from[i - 1] + from[i + 1] + from[i - n] + from[i + n]);
	}
	END();
}
