/* Own kernels between those of the probes. Emptying the caches: what an earlier launch left in them goes, and nothing of what takes its
 * place has to be written back later. Filling what is as large as a part of the memory. */
#include "gpu/opencl/opencl_gpu.h"
#include "kernel/kernel.h"

enum {
	PIECE = 16,  /* bytes of one of the kernel's loads */
	GROUP = 256, /* work items */
	SHARE = 8    /* of the memory, that is read at most */
};
#define MIB	     ((uint64_t)1 << 20)
#define LEAST	     (64 * MIB)
#define LEAST_OF_GPU (512 * MIB) /* what many GPUs tell is the size of their nearest cache, not of their last */

/* Makes an own kernel, once. */
static int own_kernel(struct opencl_gpu *g, const char *path, const char *entry, uint32_t *id, struct err *e)
{
	struct str text;
	int rc;
	if (*id != OPENCL_NO_KERNEL)
		return 0;
	str_init(&text);
	rc = kernel_expand_own(&text, path, &g->info, e);
	const struct kernel_source source = {.name = path, .entry = entry, .text = str_text(&text)};
	if (!rc)
		rc = opencl_load(&g->base, &source, 1, id, NULL, e);
	if (rc)
		*id = OPENCL_NO_KERNEL;
	str_free(&text);
	return rc;
}

int opencl_evict_ready(struct opencl_gpu *g, struct err *e)
{
	return own_kernel(g, "src/kernel/evict.ptx", "evict", &g->evict_id, e);
}

/* Of an own kernel: enough work items to keep every SM busy. */
static cl_int launch_wide(struct opencl_gpu *g, cl_kernel k)
{
	const size_t group = g->info.max_threads_per_block < GROUP ? g->info.max_threads_per_block : GROUP,
		     all = group * g->info.sm_count * (1024 / GROUP);
	return g->api.launch(g->queue, k, 1, NULL, &all, &group, 0, NULL, NULL);
}

int opencl_fill_large(struct opencl_gpu *g, cl_mem memory, uint64_t bytes, cl_int *r, struct err *e)
{
	const cl_ulong count = bytes / PIECE;
	int rc = own_kernel(g, "src/kernel/fill.cl", "fill", &g->fill_id, e);
	*r = CL_SUCCESS;
	if (rc || !count)
		return rc;
	const cl_kernel k = g->kernels[g->fill_id].kernel;
	*r = g->api.set_arg(k, 0, sizeof memory, &memory);
	if (!*r)
		*r = g->api.set_arg(k, 1, sizeof count, &count);
	if (!*r)
		*r = launch_wide(g, k);
	return 0;
}

static cl_int room(struct opencl_gpu *g)
{
	cl_ulong cache = 0, most = 0;
	cl_device_type type = 0;
	const cl_uint zero = 0;
	cl_int r = CL_SUCCESS;
	g->api.get_device_info(g->device, CL_DEVICE_GLOBAL_MEM_CACHE_SIZE, sizeof cache, &cache, NULL);
	g->api.get_device_info(g->device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof most, &most, NULL);
	g->api.get_device_info(g->device, CL_DEVICE_TYPE, sizeof type, &type, NULL);
	g->evict_fills = type & CL_DEVICE_TYPE_CPU;
	uint64_t bytes = LEAST + cache;
	if (!g->evict_fills)
		bytes = bytes > LEAST_OF_GPU ? 2 * bytes : LEAST_OF_GPU;
	most = most && most < g->info.memory_bytes / SHARE ? most : g->info.memory_bytes / SHARE;
	bytes = (bytes < most ? bytes : most) / PIECE * PIECE;
	g->scratch = g->api.create_buffer(g->context, CL_MEM_READ_WRITE, bytes, NULL, &r);
	if (r) {
		g->scratch = NULL;
		return r;
	}
	g->scratch_bytes = bytes;
	/* Memory that was never written need not be there. */
	return g->api.fill_buffer(g->queue, g->scratch, &zero, sizeof zero, 0, bytes, 0, NULL, NULL);
}

cl_int opencl_evict(struct opencl_gpu *g)
{
	const cl_kernel k = g->kernels[g->evict_id].kernel;
	cl_int r = g->scratch ? CL_SUCCESS : room(g);
	if (!r && g->evict_fills) {
		const cl_uint pattern = ++g->flushes;
		return g->api.fill_buffer(g->queue, g->scratch, &pattern, sizeof pattern, 0, g->scratch_bytes, 0, NULL,
					  NULL);
	}
	const cl_uint count = (cl_uint)(g->scratch_bytes / PIECE), never = 0;
	if (!r)
		r = g->api.set_arg(k, 0, sizeof g->scratch, &g->scratch);
	if (!r)
		r = g->api.set_arg(k, 1, sizeof count, &count);
	if (!r)
		r = g->api.set_arg(k, 2, sizeof never, &never);
	return r ? r : launch_wide(g, k);
}
