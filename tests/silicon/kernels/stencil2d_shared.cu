#include "silicon.h"

KERNEL(stencil2d_shared, u32 n, const float *from, float *to)
{
	__shared__ float s[18][34];
	BEGIN();
	u32 x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y, tx = threadIdx.x + 1, ty = threadIdx.y + 1;
	s[ty][tx] = from[y * n + x];
	if (threadIdx.x == 0)
		s[ty][0] = x ? from[y * n + x - 1] : 0;
	if (threadIdx.x == 31)
		s[ty][33] = x < n - 1 ? from[y * n + x + 1] : 0;
	if (threadIdx.y == 0)
		s[0][tx] = y ? from[(y - 1) * n + x] : 0;
	if (threadIdx.y == 15)
		s[17][tx] = y < n - 1 ? from[(y + 1) * n + x] : 0;
	__syncthreads();
	to[y * n + x] = 0.5f * s[ty][tx] + 0.125f * (s[ty][tx - 1] + s[ty][tx + 1] + s[ty - 1][tx] + s[ty + 1][tx]);
	END();
}
