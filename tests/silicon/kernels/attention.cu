#include "silicon.h"

/* A query of 64 values a warp over n keys, the running maximum kept. */
KERNEL(attention, u32 n, const float2 *q, const float2 *k, const float2 *v, float2 *to)
{
	BEGIN();
	u32 lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
	float2 mine = q[row * 32 + lane], sum = make_float2(0, 0);
	float most = -1e30f, weight = 0;
	for (u32 j = 0; j < n; j++) {
		float2 key = k[j * 32 + lane];
		float s = mine.x * key.x + mine.y * key.y;
		for (u32 d = 16; d; d /= 2)
			s += __shfl_xor_sync(~0u, s, d);
		float next = fmaxf(most, s), old = __expf(most - next), p = __expf(s - next);
		float2 value = v[j * 32 + lane];
		sum.x = sum.x * old + p * value.x;
		sum.y = sum.y * old + p * value.y;
		weight = weight * old + p;
		most = next;
	}
	to[row * 32 + lane] = make_float2(sum.x / weight, sum.y / weight);
	END();
}
