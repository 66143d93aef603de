#include "silicon.h"

KERNEL(gather, const u32 *index, const float *from, float *to)
{
	BEGIN();
	u32 i = blockIdx.x * blockDim.x + threadIdx.x;
	to[i] = from[index[i]];
	END();
}
