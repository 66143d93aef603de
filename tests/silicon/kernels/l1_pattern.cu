#include "silicon.h"

/* Loads that the L1 has, of lanes `stride` words apart: what a sector and what a line costs.
 * Neighbouring loads have addresses of their own, so that no compiler joins them. */
KERNEL(l1_pattern, u32 rounds, u32 stride, const u32 *from, u32 *to)
{
	BEGIN();
	u32 at = threadIdx.x % 32 * stride, sum = 0;
	for (u32 k = 0; k < rounds; k++)
#pragma unroll
		for (u32 j = 0; j < 8; j++) {
			u32 v;
			asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(v) : "l"(from + ((at + k * 8 + j) & 8191)));
			sum += v;
		}
	to[blockIdx.x * blockDim.x + threadIdx.x] = sum;
	END();
}
