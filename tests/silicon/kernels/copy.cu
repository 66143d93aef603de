#include "silicon.h"

KERNEL(copy, const float *from, float *to)
{
	BEGIN();
	u32 i = blockIdx.x * blockDim.x + threadIdx.x;
	to[i] = from[i];
	END();
}
