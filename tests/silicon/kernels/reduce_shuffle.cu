#include "silicon.h"

KERNEL(reduce_shuffle, u32 n, const float4 *from, float *to)
{
	__shared__ float part[32];
	BEGIN();
	float sum = 0;
	for (u32 i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
		float4 v = from[i];
		sum += (v.x + v.y) + (v.z + v.w);
	}
	for (u32 d = 16; d; d /= 2)
		sum += __shfl_down_sync(~0u, sum, d);
	if (threadIdx.x % 32 == 0)
		part[threadIdx.x / 32] = sum;
	__syncthreads();
	if (threadIdx.x < 32) {
		sum = threadIdx.x < blockDim.x / 32 ? part[threadIdx.x] : 0;
		for (u32 d = 16; d; d /= 2)
			sum += __shfl_down_sync(~0u, sum, d);
		if (threadIdx.x == 0)
			atomicAdd(to, sum);
	}
	END();
}
