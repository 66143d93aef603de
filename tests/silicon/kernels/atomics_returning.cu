#include "silicon.h"

KERNEL(atomics_returning, u32 rounds, u32 mask, u32 *counter, u32 *to)
{
	BEGIN();
	u32 i = blockIdx.x * blockDim.x + threadIdx.x, at = i;
	for (u32 k = 0; k < rounds; k++)
		at = atomicAdd(&counter[at & mask], 1) + i;
	to[i] = at;
	END();
}
