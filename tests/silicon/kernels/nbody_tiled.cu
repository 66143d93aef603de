#include "silicon.h"

KERNEL(nbody_tiled, u32 n, const float4 *body, float4 *force)
{
	__shared__ float4 tile[128];
	BEGIN();
	u32 i = blockIdx.x * blockDim.x + threadIdx.x;
	float4 p = body[i];
	float fx = 0, fy = 0, fz = 0;
	for (u32 k = 0; k < n; k += 128) {
		tile[threadIdx.x] = body[k + threadIdx.x];
		__syncthreads();
#pragma unroll 8
		for (u32 j = 0; j < 128; j++) {
			float4 q = tile[j];
			float dx = q.x - p.x, dy = q.y - p.y, dz = q.z - p.z;
			float r = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f), s = q.w * r * r * r;
			fx += dx * s;
			fy += dy * s;
			fz += dz * s;
		}
		__syncthreads();
	}
	force[i] = make_float4(fx, fy, fz, 0);
	END();
}
