#include "silicon.h"

KERNEL(mandelbrot, u32 n, u32 limit, u32 *to)
{
	BEGIN();
	u32 x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, k = 0;
	float cx = 3.0f * x / n - 2, cy = 2.0f * y / n - 1, zx = 0, zy = 0;
	while (k < limit && zx * zx + zy * zy < 4) {
		float t = zx * zx - zy * zy + cx;
		zy = 2 * zx * zy + cy;
		zx = t;
		k++;
	}
	to[y * n + x] = k;
	END();
}
