#include "silicon.h"

KERNEL(hash, u32 rounds, u32 *to)
{
	BEGIN();
	u32 i = blockIdx.x * blockDim.x + threadIdx.x, h = i;
	for (u32 k = 0; k < rounds; k++) {
		h ^= h >> 16;
		h *= 0x85ebca6bu;
		h ^= h >> 13;
		h *= 0xc2b2ae35u;
		h ^= h >> 16;
		h = (h << 5 | h >> 27) + k;
	}
	to[i] = h;
	END();
}
