#include "silicon.h"

KERNEL(reduce_shared, u32 n, const float *from, float *to)
{
	__shared__ float part[256];
	BEGIN();
	float sum = 0;
	for (u32 i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
		sum += from[i];
	part[threadIdx.x] = sum;
	__syncthreads();
	for (u32 half = blockDim.x / 2; half; half /= 2) {
		if (threadIdx.x < half)
			part[threadIdx.x] += part[threadIdx.x + half];
		__syncthreads();
	}
	if (threadIdx.x == 0)
		to[blockIdx.x] = part[0];
	END();
}
