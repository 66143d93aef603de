#include "silicon.h"

__constant__ float weight[25] = {.1f, .2f, .3f, .2f, .1f, .2f, .3f, .4f, .3f, .2f, .3f, .4f, .5f,
				 .4f, .3f, .2f, .3f, .4f, .3f, .2f, .1f, .2f, .3f, .2f, .1f};
KERNEL(convolution, u32 n, const float *from, float *to)
{
	BEGIN();
	u32 x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
	if (x > 1 && y > 1 && x < n - 2 && y < n - 2) {
		float sum = 0;
#pragma unroll
		for (u32 j = 0; j < 5; j++)
#pragma unroll
			for (u32 i = 0; i < 5; i++)
				sum += weight[j * 5 + i] * from[(y + j - 2) * n + x + i - 2];
		to[y * n + x] = sum;
	}
	END();
}
