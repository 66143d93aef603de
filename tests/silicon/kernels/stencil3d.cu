#include "silicon.h"

KERNEL(stencil3d, u32 n, const float *from, float *to)
{
	BEGIN();
	u32 x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
	if (x > 0 && y > 0 && x < n - 1 && y < n - 1) {
		for (u32 z = 1; z < n - 1; z++) {
			u32 i = (z * n + y) * n + x;
			to[i] = 0.4f * from[i] + 0.1f * (from[i - 1] + from[i + 1] + from[i - n] + from[i + n] + from[i - n * n] +
							from[i + n * n]);
		}
	}
	END();
}
