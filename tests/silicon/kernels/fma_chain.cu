#include "silicon.h"

KERNEL(fma_chain, u32 rounds, float a, float b, float *to)
{
	BEGIN();
	u32 i = blockIdx.x * blockDim.x + threadIdx.x;
	float v = i;
	for (u32 k = 0; k < rounds; k++)
#pragma unroll
		for (u32 j = 0; j < 32; j++)
			v = v * a + b;
	to[i] = v;
	END();
}
