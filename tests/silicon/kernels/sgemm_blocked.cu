#include "silicon.h"

/* 64 x 64 of c a block of 256 threads, 4 x 4 a thread. */
KERNEL(sgemm_blocked, u32 n, const float *a, const float *b, float *c)
{
	__shared__ float s[16][64], t[16][64];
	BEGIN();
	u32 tx = threadIdx.x % 16, ty = threadIdx.x / 16, x0 = blockIdx.x * 64, y0 = blockIdx.y * 64;
	float sum[4][4] = {};
	for (u32 k = 0; k < n; k += 16) {
		for (u32 i = threadIdx.x; i < 1024; i += 256) {
			s[i % 16][i / 16] = a[(y0 + i / 16) * n + k + i % 16];
			t[i / 64][i % 64] = b[(k + i / 64) * n + x0 + i % 64];
		}
		__syncthreads();
#pragma unroll
		for (u32 i = 0; i < 16; i++) {
			float p[4], q[4];
#pragma unroll
			for (u32 j = 0; j < 4; j++) {
				p[j] = s[i][ty * 4 + j];
				q[j] = t[i][tx * 4 + j];
			}
#pragma unroll
			for (u32 j = 0; j < 4; j++)
#pragma unroll
				for (u32 l = 0; l < 4; l++)
					sum[j][l] += p[j] * q[l];
		}
		__syncthreads();
	}
#pragma unroll
	for (u32 j = 0; j < 4; j++)
#pragma unroll
		for (u32 l = 0; l < 4; l++)
			c[(y0 + ty * 4 + j) * n + x0 + tx * 4 + l] = sum[j][l];
	END();
}
