#include "silicon.h"

/* One row of `width` values a block of 256 threads. */
KERNEL(softmax, u32 width, const float *from, float *to)
{
	__shared__ float part[8];
	BEGIN();
	const float *row = from + (u64)blockIdx.x * width;
	float *out = to + (u64)blockIdx.x * width, most = -1e30f, sum = 0;
	for (u32 i = threadIdx.x; i < width; i += 256)
		most = fmaxf(most, row[i]);
	for (u32 d = 16; d; d /= 2)
		most = fmaxf(most, __shfl_xor_sync(~0u, most, d));
	if (threadIdx.x % 32 == 0)
		part[threadIdx.x / 32] = most;
	__syncthreads();
	for (u32 i = 0; i < 8; i++)
		most = fmaxf(most, part[i]);
	__syncthreads();
	for (u32 i = threadIdx.x; i < width; i += 256)
		sum += __expf(row[i] - most);
	for (u32 d = 16; d; d /= 2)
		sum += __shfl_xor_sync(~0u, sum, d);
	if (threadIdx.x % 32 == 0)
		part[threadIdx.x / 32] = sum;
	__syncthreads();
	sum = 0;
	for (u32 i = 0; i < 8; i++)
		sum += part[i];
	float scale = 1 / sum;
	for (u32 i = threadIdx.x; i < width; i += 256)
		out[i] = __expf(row[i] - most) * scale;
	END();
}
