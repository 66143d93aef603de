/* The OpenCL backend: list, open, close. */
#include "base/arena.h"
#include "gpu/opencl/opencl_gpu.h"
#include "gpu/opencl/opencl_known.h"
#include "gpu/opencl/opencl_vendors.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLATFORMS 32
#define DEVICES	  64

/* One more thing that is wrong, behind those that the note tells of already. */
__attribute__((format(printf, 2, 3))) static void add_note(struct device_list *list, const char *fmt, ...)
{
	const size_t n = strlen(list->note);
	const int begun = n ? snprintf(list->note + n, sizeof list->note - n, "; ") : 0;
	va_list ap;

	va_start(ap, fmt);
	if (n + (size_t)begun < sizeof list->note)
		vsnprintf(list->note + n + begun, sizeof list->note - n - (size_t)begun, fmt, ap);
	va_end(ap);
}

static int add_platform(const struct opencl_api *api, cl_platform_id platform, unsigned number,
			struct device_list *list, struct err *e)
{
	cl_device_id device[DEVICES];
	cl_uint count = 0;
	char room[OPENCL_WORDS], name[64] = "";
	cl_int r = api->get_device_ids(platform, CL_DEVICE_TYPE_ALL, DEVICES, device, &count);

	if (api->get_platform_info(platform, CL_PLATFORM_NAME, sizeof name - 1, name, NULL))
		name[0] = 0;
	if (r == CL_DEVICE_NOT_FOUND || (!r && !count))
		add_note(list, "OpenCL platform %u (%s) has no device", number, name);
	else if (r)
		add_note(list, "OpenCL platform %u (%s) does not tell its devices: %s", number, name,
			 opencl_words(r, room));
	for (unsigned i = 0; !r && i < count && i < DEVICES; i++) {
		struct device_info *items = mem_grow(list->items, (list->count + 1) * sizeof *items);
		if (!items)
			return err_nomem(e);
		list->items = items;
		opencl_info_fill(api, device[i], number, i, &items[list->count++]);
	}
	return 0;
}

static int opencl_list(struct device_list *list, struct err *e)
{
	struct opencl_api api;
	struct err why = {0};
	cl_platform_id platform[PLATFORMS];
	cl_uint count = 0;
	char why_none[OPENCL_WHY], path[512], key[KNOWN_KEY];
	int rc = 0;
	const bool keep =
	    known_path(path, sizeof path, "opencl-devices") && opencl_known_key(key, "", "/etc/OpenCL/vendors");

	if (keep && known_read(list, "opencl", path, key))
		return 0;
	if (opencl_api_open(&api, &why)) {
		snprintf(list->note, sizeof list->note, "%.255s", why.text);
		return 0;
	}
	cl_int r = api.get_platform_ids(PLATFORMS, platform, &count);
	const bool none = r || !count;
	/* If others have platforms, a driver that does not load is missed by nobody but its device's owner. */
	if (opencl_why_none(why_none) || none)
		add_note(list, "%s%.230s", none ? "no OpenCL platform: " : "", why_none);
	for (unsigned i = 0; !r && !rc && i < count && i < PLATFORMS; i++)
		rc = add_platform(&api, platform[i], i, list, e);
	if (keep && !rc && !list->note[0])
		known_write(list, path, key);
	/* The loader stays: drivers have threads and exit handlers of their own. */
	return rc;
}

static void opencl_close(struct gpu *gpu)
{
	struct opencl_gpu *g = (struct opencl_gpu *)gpu;
	/* What a lost context holds is left to the end of the process: a call into it could wait for ever. */
	if (!g->lost) {
		opencl_memory_free(g);
		opencl_kernels_free(g);
		if (g->queue)
			g->api.release_queue(g->queue);
		if (g->context)
			g->api.release_context(g->context);
	}
	mem_free(g->kernels);
	mem_free(g);
}

static int parse(const char *spec, unsigned *platform, unsigned *device, struct err *e)
{
	char *end = NULL, *last = NULL;
	unsigned long p = strtoul(spec, &end, 10), d = 0;
	if (end != spec && *end == '.')
		d = strtoul(end + 1, &last, 10);
	if (end == spec || !last || last == end + 1 || *last || *spec == '-' || end[1] == '-' || p > 4096 || d > 4096)
		return err_set(
		    e, -EINVAL,
		    "opencl:%.64s is no device: opencl: is followed by the numbers of platform and device, such "
		    "as opencl:0.0",
		    spec);
	*platform = (unsigned)p;
	*device = (unsigned)d;
	return 0;
}

static int find(struct opencl_gpu *g, unsigned p, unsigned d, struct err *e)
{
	cl_platform_id platform[PLATFORMS];
	cl_device_id device[DEVICES];
	cl_uint platforms = 0, devices = 0;
	char why[OPENCL_WHY];
	cl_int r = g->api.get_platform_ids(PLATFORMS, platform, &platforms);
	if (r && r != -1001)
		return opencl_fail(r, e, "the OpenCL loader does not tell its platforms");
	if (r || !platforms) {
		opencl_why_none(why);
		return err_set(e, -ENODEV, "the OpenCL loader finds no platform: %s", why);
	}
	if (p >= platforms || p >= PLATFORMS)
		return err_set(e, -ENODEV, "there is no opencl:%u.%u: OpenCL has %u platform%s, counted from 0", p, d,
			       platforms, platforms == 1 ? "" : "s");
	r = g->api.get_device_ids(platform[p], CL_DEVICE_TYPE_ALL, DEVICES, device, &devices);
	if (r && r != CL_DEVICE_NOT_FOUND)
		return opencl_fail(r, e, "the OpenCL platform does not tell its devices");
	if (r || d >= devices || d >= DEVICES)
		return err_set(e, -ENODEV, "there is no opencl:%u.%u: platform %u has %u device%s, counted from 0", p,
			       d, p, r ? 0 : devices, !r && devices == 1 ? "" : "s");
	g->device = device[d];
	return 0;
}

static int start(struct opencl_gpu *g, const char *spec, struct err *e)
{
	unsigned p = 0, d = 0;
	cl_uint bits = 0;
	char what[64];
	cl_int r;
	int rc = parse(spec, &p, &d, e);
	if (!rc)
		rc = opencl_api_open(&g->api, e);
	if (!rc)
		rc = find(g, p, d, e);
	if (rc)
		return rc;
	opencl_info_fill(&g->api, g->device, p, d, &g->info);
	if (!g->api.get_device_info(g->device, CL_DEVICE_MEM_BASE_ADDR_ALIGN, sizeof bits, &bits, NULL))
		g->sub_align = bits / 8;
	g->context = g->api.create_context(NULL, 1, &g->device, NULL, NULL, &r);
	if (!r)
		g->queue = g->api.create_queue(g->context, g->device, CL_QUEUE_PROFILING_ENABLE, &r);
	snprintf(what, sizeof what, "opencl:%u.%u cannot be used", p, d);
	return r ? opencl_fail(r, e, what) : 0;
}

static int opencl_open(struct gpu **out, const char *spec, uint64_t seed, struct err *e)
{
	(void)seed; /* nothing here is random */
	*out = NULL;
	struct opencl_gpu *g = mem_zero(1, sizeof *g);
	if (!g)
		return err_nomem(e);
	g->base.ops = &gpu_opencl;
	g->evict_id = g->fill_id = OPENCL_NO_KERNEL;
	int rc = start(g, spec, e);
	if (rc) {
		opencl_close(&g->base);
		return rc;
	}
	*out = &g->base;
	return 0;
}

static const struct device_info *opencl_info(struct gpu *g)
{
	return &((struct opencl_gpu *)g)->info;
}

const struct gpu_ops gpu_opencl = {
    .name = "opencl",
    .help = "opencl:P.D, device D of OpenCL platform P",
    .list = opencl_list,
    .open = opencl_open,
    .info = opencl_info,
    .load = opencl_load,
    .run = opencl_run,
    .close = opencl_close,
};
