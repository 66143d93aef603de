/* What every kernel here starts and ends with. Thread 0 of each block writes when its block began and ended, by the
 * global timer in nanoseconds and by the SM's clock in cycles. The span of a launch is from the first begin to the last
 * end. */
#ifndef SILICON_H
#define SILICON_H

typedef unsigned int u32;
typedef unsigned long long u64;

struct times {
	u64 begin_ns, end_ns, begin_cycle, end_cycle;
};

__device__ static inline u64 now_ns(void)
{
	u64 t;
	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t)::"memory");
	return t;
}

__device__ static inline u64 now_cycle(void)
{
	u64 t;
	asm volatile("mov.u64 %0, %%clock64;" : "=l"(t)::"memory");
	return t;
}

#define FLAT_THREAD	  ((threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x)
#define FLAT_BLOCK	  ((blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x)
#define KERNEL(name, ...) extern "C" __global__ void name(struct times *times, __VA_ARGS__)
#define BEGIN()		  u64 begin_ns = now_ns(), begin_cycle = now_cycle()
#define END()                                                                                                          \
	__syncthreads();                                                                                               \
	if (FLAT_THREAD == 0) {                                                                                        \
		u64 end_ns = now_ns(), end_cycle = now_cycle();                                                        \
		times[FLAT_BLOCK] = (struct times){begin_ns, end_ns, begin_cycle, end_cycle};                          \
	}

#endif
