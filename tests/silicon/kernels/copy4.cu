#include "silicon.h"

KERNEL(copy4, const float4 *from, float4 *to)
{
	BEGIN();
	u32 i = blockIdx.x * blockDim.x + threadIdx.x;
	to[i] = from[i];
	END();
}
