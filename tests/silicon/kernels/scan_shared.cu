#include "silicon.h"

KERNEL(scan_shared, const u32 *from, u32 *to, u32 *sums)
{
	__shared__ u32 a[2][512];
	BEGIN();
	u32 t = threadIdx.x, side = 0, base = blockIdx.x * blockDim.x;
	a[0][t] = from[base + t];
	__syncthreads();
	for (u32 d = 1; d < blockDim.x; d *= 2) {
		a[1 - side][t] = t >= d ? a[side][t] + a[side][t - d] : a[side][t];
		side = 1 - side;
		__syncthreads();
	}
	to[base + t] = a[side][t];
	if (t == blockDim.x - 1)
		sums[blockIdx.x] = a[side][t];
	END();
}
