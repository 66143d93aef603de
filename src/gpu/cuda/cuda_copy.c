/* Copies between the host's memory and the device's, both ways at once and beside a kernel; and host memory that kernels read. */
#include "base/arena.h"
#include "gpu/cuda/cuda_gpu.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { WAY_IN, WAY_OUT };

static void host_drop(struct cuda_gpu *g, unsigned way)
{
	struct cuda_host_side *h = &g->host[way];

	if (h->memory && h->pinned)
		g->d.mem_free_host(h->memory);
	else
		mem_free(h->memory);
	memset(h, 0, sizeof *h);
}

void cuda_copies_drop(struct cuda_gpu *g)
{
	host_drop(g, WAY_IN);
	host_drop(g, WAY_OUT);
}

void cuda_copies_free(struct cuda_gpu *g)
{
	cuda_copies_drop(g);
	for (unsigned k = 0; k < CUDA_STREAMS; k++)
		if (g->stream[k])
			g->d.stream_destroy(g->stream[k]);
	if (g->mapped)
		g->d.mem_free_host(g->mapped);
	g->mapped = NULL;
	g->mapped_bytes = 0;
	memset(g->stream, 0, sizeof g->stream);
}

CUresult cuda_mapped(struct cuda_gpu *g, const struct launch_buffer *b, CUdeviceptr *address)
{
	CUresult r = CUDA_SUCCESS;

	if (!g->d.mem_host_alloc || !g->d.mem_host_pointer)
		return (CUresult)RESULT_NOT_SUPPORTED;
	if (g->mapped_bytes < b->bytes) {
		void *p = NULL;
		if (g->mapped)
			g->d.mem_free_host(g->mapped);
		g->mapped = NULL;
		g->mapped_bytes = 0;
		r = g->d.mem_host_alloc(&p, b->bytes, HOST_MAPPED);
		if (r)
			return r;
		g->mapped = p;
		g->mapped_bytes = b->bytes;
	}
	r = g->d.mem_host_pointer(address, g->mapped, 0);
	if (!r)
		cuda_memory_image(b, *address, 0, g->mapped, b->bytes);
	return r;
}

/* Memory of the host's that was written to: pages that nobody has touched are not there. */
static CUresult host_room(struct cuda_gpu *g, unsigned way, uint64_t bytes, bool pinned, int *nomem)
{
	struct cuda_host_side *h = &g->host[way];
	void *p = NULL;
	CUresult r = CUDA_SUCCESS;

	if (!bytes || (h->pinned == pinned && h->bytes >= bytes))
		return r;
	host_drop(g, way);
	if (pinned)
		r = g->d.mem_alloc_host(&p, bytes);
	else
		p = mem_alloc(bytes);
	if (r)
		return r;
	if (!p) {
		*nomem = -ENOMEM;
		return r;
	}
	memset(p, (int)way + 1, bytes);
	*h = (struct cuda_host_side){p, bytes, pinned};
	return r;
}

static CUresult streams_make(struct cuda_gpu *g)
{
	CUresult r = CUDA_SUCCESS;

	for (unsigned k = 0; k < CUDA_STREAMS && !r; k++)
		if (!g->stream[k])
			r = g->d.stream_create(&g->stream[k], STREAM_NON_BLOCKING);
	for (unsigned k = 0; k < CUDA_STREAMS && !r; k++)
		if (!g->each[k])
			r = g->d.event_create(&g->each[k], 0);
	return r;
}

/* What goes on at once: in stream 0 the first of it, which the others begin and end with. */
struct together {
	const struct cuda_kernel *kernel;
	const struct launch *l;
	void **args;
	CUdeviceptr device[2];
};

static CUresult queue_one(struct cuda_gpu *g, const struct together *t, unsigned what, CUstream s)
{
	const struct launch *l = t->l;

	if (what == WAY_IN)
		return g->d.memcpy_htod_async(t->device[WAY_IN], g->host[WAY_IN].memory, l->copy.in, s);
	if (what == WAY_OUT)
		return g->d.memcpy_dtoh_async(g->host[WAY_OUT].memory, t->device[WAY_OUT], l->copy.out, s);
	return g->d.launch_kernel(t->kernel->function, l->grid[0], l->grid[1], l->grid[2], l->block[0], l->block[1],
				  l->block[2], l->shared_bytes, s, t->args, NULL);
}

static CUresult queue_all(struct cuda_gpu *g, const struct together *t)
{
	/* The kernel first: a copy of memory that is not pinned keeps the host's thread. */
	const bool wanted[] = {t->l->copy.in > 0, t->l->copy.out > 0, t->l->copy.beside};
	static const unsigned order[] = {2, WAY_IN, WAY_OUT};
	CUresult r = g->d.event_record(g->begin, g->stream[0]);
	unsigned used = 0;

	for (unsigned k = 0; k < CUDA_STREAMS && !r; k++) {
		CUstream s = g->stream[used];
		if (!wanted[order[k]])
			continue;
		if (used)
			r = g->d.stream_wait_event(s, g->begin, 0);
		if (!r)
			r = queue_one(g, t, order[k], s);
		if (!r && used)
			r = g->d.event_record(g->each[used], s);
		used++;
	}
	for (unsigned k = 1; k < used && !r; k++)
		r = g->d.stream_wait_event(g->stream[0], g->each[k], 0);
	return r ? r : g->d.event_record(g->end, g->stream[0]);
}

/* One repeat, to its end. 0, or what cuda_said answered as *said. */
static int copy_once(struct cuda_gpu *g, const struct together *t, double *device_ns, double *host_ns,
		     struct sample *out)
{
	const struct launch *l = t->l;
	const int64_t limit = (int64_t)(l->time_limit_ms ? l->time_limit_ms : CUDA_TIME_LIMIT_MS) * 1000000,
		      before = cuda_now();
	CUresult r = queue_all(g, t), waited = CUDA_SUCCESS;
	float ms = -1;

	if (cuda_sticky(r))
		return cuda_said(g, l, r, out);
	if (!cuda_wait(g, g->end, limit, &waited))
		return cuda_late(g, l, limit / 1000000, out);
	*host_ns = (double)(cuda_now() - before);
	if (r || waited)
		return cuda_said(g, l, cuda_sticky(waited) || !r ? waited : r, out);
	*device_ns = g->d.event_elapsed_time(&ms, g->begin, g->end) ? -1 : 1e6 * ms;
	out->elapsed_ms = ms;
	return 0;
}

static int copy_all(struct cuda_gpu *g, const struct together *t, struct sample *out, struct err *e)
{
	const struct launch *l = t->l;
	const uint32_t repeats = l->repeats ? l->repeats : 1;

	out->words = mem_zero((size_t)repeats * COPY_WORDS, sizeof *out->words);
	if (!out->words)
		return err_nomem(e);
	out->repeats = repeats;
	out->words_per_repeat = COPY_WORDS;
	for (uint32_t n = 0; n < l->warmups + repeats && out->outcome == OUTCOME_OK; n++) {
		double device_ns = -1, host_ns = 0;
		copy_once(g, t, &device_ns, &host_ns, out);
		if (n >= l->warmups)
			launch_set_copy_time(l, out->words, n - l->warmups, device_ns, host_ns);
	}
	if (out->outcome != OUTCOME_OK) {
		mem_free(out->words);
		out->words = NULL;
		out->repeats = out->words_per_repeat = 0;
	}
	return 0;
}

int cuda_copies(struct cuda_gpu *g, const struct cuda_kernel *k, const struct launch *l, void **args,
		struct sample *out, struct err *e)
{
	const uint64_t bytes[] = {l->copy.in, l->copy.out};
	struct together t = {.kernel = k, .l = l, .args = args};
	CUresult r = CUDA_SUCCESS;
	int nomem = 0, code = 0;

	if (!g->d.stream_create || !g->d.stream_destroy || !g->d.stream_wait_event)
		return cuda_said(g, l, (CUresult)RESULT_NOT_SUPPORTED, out);
	r = streams_make(g);
	for (unsigned way = 0; way < 2 && !r && !nomem; way++) {
		r = host_room(g, way, bytes[way], l->copy.pinned, &nomem);
		if (!r && !nomem && bytes[way])
			r = g->d.mem_alloc(&t.device[way], bytes[way]);
	}
	if (!r && !nomem)
		code = copy_all(g, &t, out, e);
	for (unsigned way = 0; way < 2 && !g->lost; way++)
		if (t.device[way])
			g->d.mem_free(t.device[way]);
	if (nomem)
		return err_nomem(e);
	return r ? cuda_said(g, l, r, out) : code;
}
