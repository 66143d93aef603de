/* Copies between the host's memory and the device's, both ways at once and beside a kernel, by queues of their own. */
#include "base/arena.h"
#include "gpu/opencl/opencl_gpu.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { WAY_IN, WAY_OUT, KERNEL, QUEUES };

struct together {
	const struct launch *l;
	cl_kernel kernel;
	cl_mem device[2], pinned[2];
	void *host[2];
	cl_command_queue queue[QUEUES];
	cl_event event[QUEUES];
};

/* The host's side, touched, and the device's. */
static cl_int side_make(struct opencl_gpu *g, struct together *t, unsigned way, uint64_t bytes, bool *nomem)
{
	cl_int r = CL_SUCCESS;
	t->device[way] = g->api.create_buffer(g->context, CL_MEM_READ_WRITE, bytes, NULL, &r);
	if (r) {
		t->device[way] = NULL;
		return r;
	}
	if (!t->l->copy.pinned) {
		t->host[way] = mem_alloc(bytes);
		*nomem = !t->host[way];
	} else {
		t->pinned[way] =
		    g->api.create_buffer(g->context, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, bytes, NULL, &r);
		if (r) {
			t->pinned[way] = NULL;
			return r;
		}
		t->host[way] = g->api.map_buffer(g->queue, t->pinned[way], CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0,
						 bytes, 0, NULL, NULL, &r);
		if (r)
			t->host[way] = NULL;
	}
	if (t->host[way])
		memset(t->host[way], (int)way + 1, bytes);
	return r;
}

static void together_free(struct opencl_gpu *g, struct together *t)
{
	for (unsigned way = 0; way < 2; way++) {
		if (t->pinned[way] && t->host[way])
			g->api.unmap(g->queue, t->pinned[way], t->host[way], 0, NULL, NULL);
		else
			mem_free(t->host[way]);
		if (t->pinned[way])
			g->api.release_memory(t->pinned[way]);
		if (t->device[way])
			g->api.release_memory(t->device[way]);
	}
	g->api.finish(g->queue);
	for (unsigned k = 0; k < QUEUES; k++)
		if (t->queue[k])
			g->api.release_queue(t->queue[k]);
}

static cl_int queue_one(struct opencl_gpu *g, struct together *t, unsigned what)
{
	const struct launch *l = t->l;
	size_t all[3], block[3];
	if (what == WAY_IN)
		return g->api.write_buffer(t->queue[what], t->device[what], CL_FALSE, 0, l->copy.in, t->host[what], 0,
					   NULL, &t->event[what]);
	if (what == WAY_OUT)
		return g->api.read_buffer(t->queue[what], t->device[what], CL_FALSE, 0, l->copy.out, t->host[what], 0,
					  NULL, &t->event[what]);
	for (unsigned i = 0; i < 3; i++) {
		block[i] = l->block[i];
		all[i] = (size_t)l->grid[i] * l->block[i];
	}
	return g->api.launch(t->queue[what], t->kernel, 3, NULL, all, block, 0, NULL, &t->event[what]);
}

/* From the first start to the last end, ns; negative: the device does not tell. */
static double device_ns(const struct opencl_gpu *g, const struct together *t)
{
	cl_ulong first = UINT64_MAX, last = 0;
	for (unsigned k = 0; k < QUEUES; k++) {
		cl_ulong from = 0, to = 0;
		if (!t->event[k])
			continue;
		if (g->api.get_profiling_info(t->event[k], CL_PROFILING_COMMAND_START, sizeof from, &from, NULL) ||
		    g->api.get_profiling_info(t->event[k], CL_PROFILING_COMMAND_END, sizeof to, &to, NULL))
			return -1;
		first = from < first ? from : first;
		last = to > last ? to : last;
	}
	return last > first ? (double)(last - first) : -1;
}

/* One repeat. False: it did not end in time, and what it uses has to stay. */
static bool copy_once(struct opencl_gpu *g, struct together *t, double *device, double *host, cl_int *r,
		      struct sample *out)
{
	static const unsigned order[] = {KERNEL, WAY_IN, WAY_OUT};
	const int64_t before = opencl_now(), limit = opencl_limit_ns(t->l);
	bool in_time = true;
	for (unsigned k = 0; k < QUEUES && !*r; k++)
		if (t->queue[order[k]])
			*r = queue_one(g, t, order[k]);
	for (unsigned k = 0; k < QUEUES; k++)
		if (t->event[k])
			g->api.flush(t->queue[k]);
	for (unsigned k = 0; k < QUEUES && in_time; k++) {
		cl_int ended = CL_SUCCESS;
		if (t->event[k])
			in_time = opencl_wait(g, t->event[k], limit, &ended);
		*r = *r ? *r : ended;
	}
	if (!in_time) {
		opencl_late(g, t->l, limit / 1000000, out);
		return false;
	}
	*host = (double)(opencl_now() - before);
	*device = *r ? -1 : device_ns(g, t);
	for (unsigned k = 0; k < QUEUES; k++)
		if (t->event[k])
			g->api.release_event(t->event[k]);
	memset(t->event, 0, sizeof t->event);
	return true;
}

static int copy_all(struct opencl_gpu *g, struct together *t, cl_int *r, struct sample *out, struct err *e)
{
	const struct launch *l = t->l;
	const uint32_t repeats = l->repeats ? l->repeats : 1;
	uint32_t *words = mem_zero((size_t)repeats * COPY_WORDS, sizeof *words);
	if (!words)
		return err_nomem(e);
	for (uint32_t n = 0; n < l->warmups + repeats && !*r; n++) {
		double device, host;
		if (!copy_once(g, t, &device, &host, r, out))
			break;
		if (n >= l->warmups)
			launch_set_copy_time(l, words, n - l->warmups, device, host);
		out->elapsed_ms = 1e-6 * (device > 0 ? device : host);
	}
	if (*r || out->outcome != OUTCOME_OK) {
		mem_free(words);
		return 0;
	}
	out->words = words;
	out->repeats = repeats;
	out->words_per_repeat = COPY_WORDS;
	return 0;
}

int opencl_copies(struct opencl_gpu *g, const struct opencl_kernel *k, const struct launch *l, struct sample *out,
		  struct err *e)
{
	const uint64_t bytes[] = {l->copy.in, l->copy.out};
	const bool wanted[] = {l->copy.in > 0, l->copy.out > 0, l->copy.beside};
	struct together t = {.l = l, .kernel = k->kernel};
	bool nomem = false;
	cl_int r = CL_SUCCESS;
	int rc = 0;
	for (unsigned n = 0; n < QUEUES && !r; n++)
		if (wanted[n])
			t.queue[n] = g->api.create_queue(g->context, g->device, CL_QUEUE_PROFILING_ENABLE, &r);
	for (unsigned way = 0; way < 2 && !r && !nomem; way++)
		if (bytes[way])
			r = side_make(g, &t, way, bytes[way], &nomem);
	if (!r && !nomem)
		rc = copy_all(g, &t, &r, out, e);
	if (g->lost) /* the device may still read and write there */
		return rc;
	together_free(g, &t);
	if (nomem)
		return err_nomem(e);
	return r ? opencl_said(g, l, r, out) : rc;
}
