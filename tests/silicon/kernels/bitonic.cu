#include "silicon.h"

KERNEL(bitonic, const u32 *from, u32 *to)
{
	__shared__ u32 a[512];
	BEGIN();
	u32 t = threadIdx.x, base = blockIdx.x * 512;
	a[t] = from[base + t];
	a[t + 256] = from[base + t + 256];
	for (u32 k = 2; k <= 512; k *= 2)
		for (u32 j = k / 2; j; j /= 2) {
			__syncthreads();
			u32 i = 2 * t - (t & (j - 1)), p = a[i], q = a[i + j];
			if ((p > q) == ((i & k) == 0)) {
				a[i] = q;
				a[i + j] = p;
			}
		}
	__syncthreads();
	to[base + t] = a[t];
	to[base + t + 256] = a[t + 256];
	END();
}
