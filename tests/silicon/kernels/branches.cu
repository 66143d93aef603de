#include "silicon.h"

KERNEL(branches, u32 rounds, float *to)
{
	BEGIN();
	u32 i = blockIdx.x * blockDim.x + threadIdx.x, way = threadIdx.x % 8;
	float v = i;
	for (u32 k = 0; k < rounds; k++) {
		switch (way) {
		case 0: v = sqrtf(v + 1); break;
		case 1: v = v * 1.01f + 2; break;
		case 2: v = __sinf(v); break;
		case 3: v = v / 3.1f; break;
		case 4: v = __expf(-v); break;
		case 5: v = v * v - 1; break;
		case 6: v = __logf(v * v + 1); break;
		default: v = fabsf(v) - 2; break;
		}
	}
	to[i] = v;
	END();
}
