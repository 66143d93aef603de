#include "silicon.h"

KERNEL(histogram_global, u32 n, u32 mask, const u32 *from, u32 *bins)
{
	BEGIN();
	for (u32 i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
		atomicAdd(&bins[from[i] & mask], 1);
	END();
}
