#include "silicon.h"

/* 1,024 points a block of 512 threads, radix 2, in shared memory. */
KERNEL(fft, const float2 *from, float2 *to)
{
	__shared__ float re[1024], im[1024];
	BEGIN();
	u32 t = threadIdx.x, base = blockIdx.x * 1024;
	for (u32 i = t; i < 1024; i += 512) {
		float2 v = from[base + i];
		u32 r = __brev(i) >> 22;
		re[r] = v.x;
		im[r] = v.y;
	}
	for (u32 half = 1; half < 1024; half *= 2) {
		__syncthreads();
		u32 k = t & (half - 1), p = 2 * t - k, q = p + half;
		float c, s;
		__sincosf(-3.14159265f * k / half, &s, &c);
		float x = re[q] * c - im[q] * s, y = re[q] * s + im[q] * c;
		re[q] = re[p] - x;
		im[q] = im[p] - y;
		re[p] += x;
		im[p] += y;
	}
	__syncthreads();
	for (u32 i = t; i < 1024; i += 512)
		to[base + i] = make_float2(re[i], im[i]);
	END();
}
