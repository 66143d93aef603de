#include "silicon.h"

KERNEL(dgemm_naive, u32 n, const double *a, const double *b, double *c)
{
	BEGIN();
	u32 x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
	double sum = 0;
	for (u32 k = 0; k < n; k++)
		sum += a[y * n + k] * b[k * n + x];
	c[y * n + x] = sum;
	END();
}
