#include "silicon.h"

KERNEL(l2_store, u32 rounds, u32 words, u32 *to)
{
	BEGIN();
	u32 i = blockIdx.x * blockDim.x + threadIdx.x, step = gridDim.x * blockDim.x;
	for (u32 k = 0; k < rounds; k++)
		asm volatile("st.global.u32 [%0], %1;" ::"l"(to + (i + k * step) % words), "r"(k) : "memory");
	END();
}
