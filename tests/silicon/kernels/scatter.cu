#include "silicon.h"

KERNEL(scatter, const u32 *index, const float *from, float *to)
{
	BEGIN();
	u32 i = blockIdx.x * blockDim.x + threadIdx.x;
	to[index[i]] = from[i];
	END();
}
