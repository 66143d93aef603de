#include "silicon.h"

KERNEL(fma_four, u32 rounds, float a, float b, float *to)
{
	BEGIN();
	u32 i = blockIdx.x * blockDim.x + threadIdx.x;
	float v = i, w = i + 1, x = i + 2, y = i + 3;
	for (u32 k = 0; k < rounds; k++)
#pragma unroll
		for (u32 j = 0; j < 8; j++) {
			v = v * a + b;
			w = w * a + b;
			x = x * a + b;
			y = y * a + b;
		}
	to[i] = v + w + x + y;
	END();
}
