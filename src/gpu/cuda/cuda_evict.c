/* Empties the caches. What an earlier launch left in them goes. If the driver tells the size of the last one, nothing
 * that takes its place has to be written back later. */
#include "gpu/cuda/cuda_gpu.h"

enum {
	LAST_CACHE = 4 << 20, /* where the driver tells none */
	WRITTEN = 2,	      /* times the last cache's size */
	READ = 4,	      /* victims are not always the oldest lines */
	PIECE = 16	      /* bytes of one of the kernel's loads */
};

int cuda_evict_ready(struct cuda_gpu *g, struct err *e)
{
	return cuda_own_kernel(g, "src/kernel/evict.ptx", "evict", &g->evict_id, e);
}

static CUresult room(struct cuda_gpu *g)
{
	int l2 = 0;
	g->d.device_get_attribute(&l2, (CUdevice_attribute)DEVICE_L2_BYTES, g->device);
	g->scratch_read = l2 > 0;
	g->scratch_bytes = l2 > 0 ? READ * (size_t)l2 : WRITTEN * (size_t)LAST_CACHE;
	CUresult r = g->d.mem_alloc(&g->scratch, g->scratch_bytes);
	if (r) {
		g->scratch = 0;
		return r;
	}
	return g->scratch_read ? g->d.memset_d8_async(g->scratch, 0, g->scratch_bytes, NULL) : r;
}

/* Reads more than the last cache holds. If nobody tells how much that is, more than an old one holds is overwritten. */
CUresult cuda_evict(struct cuda_gpu *g)
{
	CUresult r = g->scratch ? CUDA_SUCCESS : room(g);
	if (!r && !g->scratch_read)
		r = g->d.memset_d8_async(g->scratch, (unsigned char)++g->flushes, g->scratch_bytes, NULL);
	if (r || !g->scratch_read)
		return r;
	const uint64_t values[] = {g->scratch, g->scratch_bytes / PIECE, 0};
	return cuda_own_launch(g, g->evict_id, g->info.sm_count, g->info.max_threads_per_block, values, 3);
}
