#include "silicon.h"

KERNEL(scan_shuffle, const u32 *from, u32 *to, u32 *sums)
{
	__shared__ u32 part[32];
	BEGIN();
	u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32, i = blockIdx.x * blockDim.x + threadIdx.x;
	u32 v = from[i];
	for (u32 d = 1; d < 32; d *= 2) {
		u32 o = __shfl_up_sync(~0u, v, d);
		if (lane >= d)
			v += o;
	}
	if (lane == 31)
		part[warp] = v;
	__syncthreads();
	if (warp == 0) {
		u32 s = lane < blockDim.x / 32 ? part[lane] : 0;
		for (u32 d = 1; d < 32; d *= 2) {
			u32 o = __shfl_up_sync(~0u, s, d);
			if (lane >= d)
				s += o;
		}
		part[lane] = s;
	}
	__syncthreads();
	if (warp)
		v += part[warp - 1];
	to[i] = v;
	if (threadIdx.x == blockDim.x - 1)
		sums[blockIdx.x] = v;
	END();
}
