/* Kernels that are timed one by one begin when all of them are queued. Otherwise the span between two events is as long
 * as the host takes to queue what lies between them. No kernel of some microseconds would be timed. */
#include "gpu/cuda/cuda_gpu.h"

/* Looks at the host's memory, each of about a microsecond: queueing takes less, unless the host is asleep. */
enum { LOOKS = 4000 };

int cuda_hold_ready(struct cuda_gpu *g, struct err *e)
{
	void *word = NULL;

	if (!g->held && g->d.mem_host_alloc && g->d.mem_host_pointer) {
		if (g->d.mem_host_alloc(&word, sizeof *g->held, HOST_MAPPED))
			return 0;
		g->held = word;
		*g->held = g->holds = 0;
		if (g->d.mem_host_pointer(&g->held_at, word, 0))
			cuda_hold_free(g);
	}
	return g->held ? cuda_own_kernel(g, "src/kernel/hold.ptx", "hold", &g->hold_id, e) : 0;
}

CUresult cuda_hold(struct cuda_gpu *g)
{
	if (!g->held)
		return CUDA_SUCCESS;
	const uint64_t values[] = {g->held_at, ++g->holds, LOOKS};
	return cuda_own_launch(g, g->hold_id, 1, 1, values, 3);
}

void cuda_hold_end(struct cuda_gpu *g)
{
	if (g->held)
		*g->held = g->holds;
}

void cuda_hold_free(struct cuda_gpu *g)
{
	if (g->held)
		g->d.mem_free_host((void *)g->held);
	g->held = NULL;
}
