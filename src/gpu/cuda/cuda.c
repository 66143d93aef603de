/* The CUDA backend: list, open, close. */
#include "base/arena.h"
#include "gpu/cuda/cuda_ahead.h"
#include "gpu/cuda/cuda_gpu.h"
#include "gpu/cuda/cuda_known.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int cuda_list(struct device_list *list, struct err *e)
{
	struct cuda_driver d;
	struct err why = {0};
	int count = 0;
	char path[512], key[KNOWN_KEY];
	const bool keep = known_path(path, sizeof path, "devices") && cuda_known_key(key, "");

	if (keep && known_read(list, "cuda", path, key))
		return 0;
	if (cuda_driver_open(&d, &why)) {
		snprintf(list->note, sizeof list->note, "%.255s", why.text);
		return 0;
	}
	CUresult r = d.device_get_count(&count);
	if (r) {
		cuda_fail(&d, r, &why, "the NVIDIA driver does not count its GPUs");
		snprintf(list->note, sizeof list->note, "%.255s", why.text);
		cuda_driver_close(&d);
		return 0;
	}
	if (!count)
		snprintf(list->note, sizeof list->note, "the NVIDIA driver (CUDA %d.%d) finds no GPU", d.version / 1000,
			 d.version % 1000 / 10);
	for (int i = 0; i < count; i++) {
		struct device_info info;
		if (cuda_info_fill(&d, i, &info, &why)) {
			snprintf(list->note, sizeof list->note, "%.255s", why.text);
			continue;
		}
		struct device_info *items = mem_grow(list->items, (list->count + 1) * sizeof *items);
		if (!items) {
			cuda_driver_close(&d);
			return err_nomem(e);
		}
		list->items = items;
		items[list->count++] = info;
	}
	cuda_driver_close(&d);
	if (keep && !list->note[0])
		known_write(list, path, key);
	return 0;
}

static void cuda_close(struct gpu *gpu)
{
	struct cuda_gpu *g = (struct cuda_gpu *)gpu;

	cuda_sense_close(g);
	/* Threads that compile in a lost context may never come back, and still use what is here. */
	if (g->lost && g->ahead)
		return;
	cuda_ahead_free(g->ahead);
	/* A lost context is left to the end of the process: every call into it would fail or wait for ever. */
	if (g->context && !g->lost) {
		cuda_memory_free(g);
		cuda_hold_free(g);
		cuda_copies_free(g);
		if (g->begin)
			g->d.event_destroy(g->begin);
		if (g->end)
			g->d.event_destroy(g->end);
		if (g->done)
			g->d.event_destroy(g->done);
		for (size_t i = 0; i < sizeof g->each / sizeof *g->each; i++)
			if (g->each[i])
				g->d.event_destroy(g->each[i]);
	}
	cuda_kernels_free(g);
	mem_free(g->staging);
	if (g->context && !g->lost)
		g->d.primary_release(g->device);
	cuda_driver_close(&g->d);
	mem_free(g);
}

static int parse_index(const char *spec, int *index, struct err *e)
{
	char *end;
	long n = strtol(spec, &end, 10);

	if (end == spec || *end || n < 0 || n > 4096)
		return err_set(e, -EINVAL,
			       "cuda:%.64s is no device: cuda: is followed by the GPU's index, such as cuda:0", spec);
	*index = (int)n;
	return 0;
}

static int cuda_start(struct cuda_gpu *g, int index, struct err *e)
{
	int count = 0, r = cuda_driver_open(&g->d, e);
	char what[64];
	CUresult c;

	if (r)
		return r;
	c = g->d.device_get_count(&count);
	if (c)
		return cuda_fail(&g->d, c, e, "the NVIDIA driver does not count its GPUs");
	if (!count)
		return err_set(e, -ENODEV, "the NVIDIA driver (CUDA %d.%d) finds no GPU", g->d.version / 1000,
			       g->d.version % 1000 / 10);
	if (index >= count)
		return err_set(e, -ENODEV, "there is no cuda:%d: the NVIDIA driver has %d GPU%s, cuda:0%s", index,
			       count, count == 1 ? "" : "s", count == 1 ? "" : " and up");
	r = cuda_info_fill(&g->d, index, &g->info, e);
	if (r)
		return r;
	c = g->d.device_get(&g->device, index);
	if (!c)
		c = g->d.primary_retain(&g->context, g->device);
	if (c) {
		g->context = NULL;
		snprintf(what, sizeof what, "cuda:%d cannot be used", index);
		return cuda_fail(&g->d, c, e, what);
	}
	c = g->d.ctx_set_current(g->context);
	if (!c)
		c = g->d.event_create(&g->begin, 0);
	if (!c)
		c = g->d.event_create(&g->end, 0);
	if (!c)
		c = g->d.event_create(&g->done, CU_EVENT_DISABLE_TIMING);
	snprintf(what, sizeof what, "the context of cuda:%d cannot be used", index);
	return c ? cuda_fail(&g->d, c, e, what) : 0;
}

static int cuda_open(struct gpu **out, const char *spec, uint64_t seed, struct err *e)
{
	int index = 0, r = parse_index(spec, &index, e);

	(void)seed; /* nothing here is random */
	*out = NULL;
	if (r)
		return r;
	struct cuda_gpu *g = mem_zero(1, sizeof *g);
	if (!g)
		return err_nomem(e);
	g->base.ops = &gpu_cuda;
	g->evict_id = g->scatter_id = g->hold_id = CUDA_NO_KERNEL;
	r = cuda_start(g, index, e);
	if (r) {
		cuda_close(&g->base);
		return r;
	}
	*out = &g->base;
	return 0;
}

static size_t cuda_uncompiled(struct gpu *g, uint32_t group)
{
	return cuda_ahead_left(((struct cuda_gpu *)g)->ahead, group);
}

static const struct device_info *cuda_info(struct gpu *g)
{
	return &((struct cuda_gpu *)g)->info;
}

const struct gpu_ops gpu_cuda = {
    .name = "cuda",
    .help = "cuda:N, an NVIDIA GPU by its index",
    .list = cuda_list,
    .open = cuda_open,
    .info = cuda_info,
    .load = cuda_load,
    .expect = cuda_expect,
    .uncompiled = cuda_uncompiled,
    .run = cuda_run,
    .sense = cuda_sense,
    .close = cuda_close,
};
