#include "silicon.h"

KERNEL(histogram_shared, u32 n, const u32 *from, u32 *bins)
{
	__shared__ u32 own[256];
	BEGIN();
	own[threadIdx.x] = 0;
	__syncthreads();
	for (u32 i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
		atomicAdd(&own[from[i] & 255], 1);
	__syncthreads();
	atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
	END();
}
