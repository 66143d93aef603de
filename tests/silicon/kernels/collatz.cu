#include "silicon.h"

KERNEL(collatz, u32 first, u32 *to)
{
	BEGIN();
	u32 i = blockIdx.x * blockDim.x + threadIdx.x, v = first + i, k = 0;
	while (v != 1 && k < 400) {
		v = v & 1 ? 3 * v + 1 : v / 2;
		k++;
	}
	to[i] = k;
	END();
}
