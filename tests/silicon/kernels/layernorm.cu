#include "silicon.h"

/* One row of 1,024 values a block of 256 threads. */
KERNEL(layernorm, const float4 *from, float4 *to)
{
	__shared__ float part[2][8];
	BEGIN();
	u32 i = blockIdx.x * 256 + threadIdx.x;
	float4 v = from[i];
	float sum = v.x + v.y + v.z + v.w, squares = v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
	for (u32 d = 16; d; d /= 2) {
		sum += __shfl_xor_sync(~0u, sum, d);
		squares += __shfl_xor_sync(~0u, squares, d);
	}
	if (threadIdx.x % 32 == 0) {
		part[0][threadIdx.x / 32] = sum;
		part[1][threadIdx.x / 32] = squares;
	}
	__syncthreads();
	sum = squares = 0;
	for (u32 k = 0; k < 8; k++) {
		sum += part[0][k];
		squares += part[1][k];
	}
	float mean = sum / 1024, scale = rsqrtf(squares / 1024 - mean * mean + 1e-5f);
	to[i] = make_float4((v.x - mean) * scale, (v.y - mean) * scale, (v.z - mean) * scale, (v.w - mean) * scale);
	END();
}
