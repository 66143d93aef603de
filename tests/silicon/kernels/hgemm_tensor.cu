#include "silicon.h"

/* 16 x 16 of c a warp, by mma m16n8k16 on halves; a and b are read from global memory. b is stored by columns. */
KERNEL(hgemm_tensor, u32 n, const u32 *a, const u32 *b, float *c)
{
	BEGIN();
	u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32, g = lane / 4, q = lane % 4;
	u32 x0 = (blockIdx.x * (blockDim.x / 32) + warp) * 8, y0 = blockIdx.y * 16, half = n / 2;
	float d0 = 0, d1 = 0, d2 = 0, d3 = 0;
	for (u32 k = 0; k < half; k += 8) {
		u32 a0 = a[(y0 + g) * half + k + q], a1 = a[(y0 + g + 8) * half + k + q];
		u32 a2 = a[(y0 + g) * half + k + q + 4], a3 = a[(y0 + g + 8) * half + k + q + 4];
		u32 b0 = b[(x0 + g) * half + k + q], b1 = b[(x0 + g) * half + k + q + 4];
		asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
			     : "+f"(d0), "+f"(d1), "+f"(d2), "+f"(d3)
			     : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
	}
	c[(y0 + g) * n + x0 + q * 2] = d0;
	c[(y0 + g) * n + x0 + q * 2 + 1] = d1;
	c[(y0 + g + 8) * n + x0 + q * 2] = d2;
	c[(y0 + g + 8) * n + x0 + q * 2 + 1] = d3;
	END();
}
