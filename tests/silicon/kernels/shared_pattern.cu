#include "silicon.h"

/* Loads of shared memory by lanes `stride` words apart. */
KERNEL(shared_pattern, u32 rounds, u32 stride, u32 *to)
{
	__shared__ u32 s[2048];
	BEGIN();
	u32 at = threadIdx.x % 32 * stride, sum = 0;
	for (u32 i = threadIdx.x; i < 2048; i += blockDim.x)
		s[i] = i;
	__syncthreads();
	volatile u32 *p = s;
	for (u32 k = 0; k < rounds; k++)
#pragma unroll
		for (u32 j = 0; j < 8; j++)
			sum += p[(at + j) & 2047];
	to[blockIdx.x * blockDim.x + threadIdx.x] = sum;
	END();
}

