#include "silicon.h"

KERNEL(nbody_naive, u32 n, const float4 *body, float4 *force)
{
	BEGIN();
	u32 i = blockIdx.x * blockDim.x + threadIdx.x;
	float4 p = body[i];
	float fx = 0, fy = 0, fz = 0;
	for (u32 j = 0; j < n; j++) {
		float4 q = body[j];
		float dx = q.x - p.x, dy = q.y - p.y, dz = q.z - p.z;
		float r = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f), s = q.w * r * r * r;
		fx += dx * s;
		fy += dy * s;
		fz += dz * s;
	}
	force[i] = make_float4(fx, fy, fz, 0);
	END();
}
