#include "silicon.h"

__device__ static inline float cumulative(float d)
{
	float k = 1 / (1 + 0.2316419f * fabsf(d));
	float c = 0.39894228f * __expf(-0.5f * d * d) *
		  (k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f)))));
	return d > 0 ? 1 - c : c;
}

KERNEL(black_scholes, const float *price, const float *strike, const float *years, float *call, float *put)
{
	BEGIN();
	u32 i = blockIdx.x * blockDim.x + threadIdx.x;
	float s = 5 + 25 * price[i], x = 1 + 99 * strike[i], t = 0.25f + 9 * years[i], root = sqrtf(t);
	float d1 = (__logf(s / x) + (0.02f + 0.5f * 0.09f) * t) / (0.3f * root), d2 = d1 - 0.3f * root;
	float n1 = cumulative(d1), n2 = cumulative(d2), e = x * __expf(-0.02f * t);
	call[i] = s * n1 - e * n2;
	put[i] = e * (1 - n2) - s * (1 - n1);
	END();
}
