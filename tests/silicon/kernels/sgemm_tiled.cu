#include "silicon.h"

KERNEL(sgemm_tiled, u32 n, const float *a, const float *b, float *c)
{
	__shared__ float s[16][16], t[16][16];
	BEGIN();
	u32 x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
	float sum = 0;
	for (u32 k = 0; k < n; k += 16) {
		s[threadIdx.y][threadIdx.x] = a[y * n + k + threadIdx.x];
		t[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + x];
		__syncthreads();
		for (u32 i = 0; i < 16; i++)
			sum += s[threadIdx.y][i] * t[i][threadIdx.x];
		__syncthreads();
	}
	c[y * n + x] = sum;
	END();
}
