/* Large buffers with a ring: zeros by the driver, and the ring's words by a kernel. Only the ring travels, not the buffer, which may be a
 * hundred times as large. */
#include "gpu/cuda/cuda_gpu.h"

#define LARGE (1ull << 20) /* bytes of a buffer; below, one copy takes no longer than a launch */

bool cuda_scatters(const struct launch_buffer *b)
{
	const uint64_t travels = (uint64_t)b->ring_count * sizeof *b->ring + (b->init ? b->init_bytes : 0);
	uint64_t any = 0;

	if (b->space != BUFFER_GLOBAL || !b->ring_count || b->bytes < LARGE || travels > b->bytes / 2)
		return false;
	for (uint32_t i = 0; i < b->ring_count; i++)
		any |= b->ring[i];
	return any % b->ring_word == 0;
}

int cuda_scatter_ready(struct cuda_gpu *g, const struct launch *l, struct err *e)
{
	for (uint32_t i = 0; i < l->buffer_count; i++)
		if (cuda_scatters(&l->buffers[i]))
			return cuda_own_kernel(g, "src/kernel/scatter.ptx", "scatter", &g->scatter_id, e);
	return 0;
}

/* Room for the offsets. The driver waits for whoever still reads the old ones. */
static CUresult ring_room(struct cuda_gpu *g, size_t bytes)
{
	CUresult r = CUDA_SUCCESS;

	if (g->ring_bytes >= bytes)
		return r;
	if (g->ring)
		g->d.mem_free(g->ring);
	g->ring = 0;
	g->ring_bytes = 0;
	r = g->d.mem_alloc(&g->ring, bytes);
	if (r)
		g->ring = 0;
	else
		g->ring_bytes = bytes;
	return r;
}

CUresult cuda_scatter(struct cuda_gpu *g, const struct launch_buffer *b, CUdeviceptr base)
{
	const struct cuda_driver *d = &g->d;
	const size_t bytes = b->ring_count * sizeof *b->ring;
	CUresult r = ring_room(g, bytes);

	if (!r)
		r = d->memset_d8_async(base, 0, b->bytes, NULL);
	if (!r && b->init && b->init_bytes)
		r = d->memcpy_htod(base, b->init, b->init_bytes);
	if (!r)
		r = d->memcpy_htod(g->ring, b->ring, bytes);
	if (r)
		return r;
	const uint64_t values[] = {base, g->ring, b->ring_count, b->ring_word, b->ring_unit ? b->ring_unit : 1};
	return cuda_own_launch(g, g->scatter_id, g->info.sm_count, g->info.max_threads_per_block, values, 5);
}
