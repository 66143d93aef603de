/* A matrix of floats, transposed through tiles of shared memory whose rows begin PITCH words apart. */
#include "silicon.h"

KERNEL(TRANSPOSE, u32 n, const float *from, float *to)
{
	__shared__ float tile[32][PITCH];
	BEGIN();
	u32 x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
	for (u32 j = 0; j < 32; j += 8)
		tile[threadIdx.y + j][threadIdx.x] = from[(y + j) * n + x];
	__syncthreads();
	x = blockIdx.y * 32 + threadIdx.x;
	y = blockIdx.x * 32 + threadIdx.y;
	for (u32 j = 0; j < 32; j += 8)
		to[(y + j) * n + x] = tile[threadIdx.x][threadIdx.y + j];
	END();
}
