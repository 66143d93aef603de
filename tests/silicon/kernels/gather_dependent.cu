#include "silicon.h"

KERNEL(gather_dependent, u32 steps, u32 mask, const u32 *next, u32 *to)
{
	BEGIN();
	u32 i = blockIdx.x * blockDim.x + threadIdx.x, at = i & mask;
	for (u32 k = 0; k < steps; k++)
		at = next[at] & mask;
	to[i] = at;
	END();
}
