#include "silicon.h"

/* Each thread adds `rounds` times to the word (i * stride) & mask. */
KERNEL(atomics, u32 rounds, u32 stride, u32 mask, u32 *to)
{
	BEGIN();
	u32 i = (blockIdx.x * blockDim.x + threadIdx.x) * stride & mask;
	for (u32 k = 0; k < rounds; k++)
		atomicAdd(&to[i], 1 + k);
	END();
}
