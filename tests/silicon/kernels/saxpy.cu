#include "silicon.h"

KERNEL(saxpy, u32 n, float a, const float *x, float *y)
{
	BEGIN();
	for (u32 i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
		y[i] = a * x[i] + y[i];
	END();
}
