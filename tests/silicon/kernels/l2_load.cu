#include "silicon.h"

/* Loads that pass the L1, of a part of `words` words of the L2, every warp its own lines in turn. */
KERNEL(l2_load, u32 rounds, u32 words, const u32 *from, u32 *to)
{
	BEGIN();
	u32 i = blockIdx.x * blockDim.x + threadIdx.x, step = gridDim.x * blockDim.x, sum = 0;
	for (u32 k = 0; k < rounds; k += 8)
#pragma unroll
		for (u32 j = 0; j < 8; j++) {
			u32 v;
			asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v) : "l"(from + (i + (k + j) * step) % words));
			sum += v;
		}
	to[i] = sum;
	END();
}
