#include "silicon.h"

KERNEL(binary_search, u32 n, const u32 *sorted, const u32 *wanted, u32 *to)
{
	BEGIN();
	u32 i = blockIdx.x * blockDim.x + threadIdx.x, w = wanted[i], low = 0, high = n;
	while (low < high) {
		u32 middle = (low + high) / 2;
		if (sorted[middle] < w)
			low = middle + 1;
		else
			high = middle;
	}
	to[i] = low;
	END();
}
