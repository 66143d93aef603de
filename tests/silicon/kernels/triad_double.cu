#include "silicon.h"

KERNEL(triad_double, double s, const double *b, const double *c, double *a)
{
	BEGIN();
	u32 i = blockIdx.x * blockDim.x + threadIdx.x;
	a[i] = b[i] + s * c[i];
	END();
}
