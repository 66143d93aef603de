/* What the driver says about a device, and which PTX it takes. */
#include "gpu/cuda/cuda_gpu.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* The first PTX version (x 10) that knows a target, and the last one where there is such. Documented by NVIDIA in the PTX manual's release notes. */
static const struct target {
	int cc, first, last;
} targets[] = {
    {20, 20, 0},  {21, 20, 0},	 {30, 30, 0},  {32, 40, 0},  {35, 31, 0},  {37, 41, 0},	 {50, 40, 0},
    {52, 41, 0},  {53, 42, 0},	 {60, 50, 0},  {61, 50, 0},  {62, 50, 0},  {70, 60, 0},	 {72, 61, 0},
    {75, 63, 0},  {80, 70, 0},	 {86, 71, 0},  {87, 74, 0},  {88, 90, 0},  {89, 78, 0},	 {90, 78, 0},
    {100, 86, 0}, {101, 86, 88}, {103, 88, 0}, {110, 90, 0}, {120, 87, 0}, {121, 88, 0},
};

/* The newest PTX version of each driver, by the version of CUDA it reports. */
static const struct driver_ptx {
	int driver, ptx;
} drivers[] = {
    {5000, 31},	 {5050, 32},  {6000, 40},  {6050, 41},	{7000, 42},  {7050, 43},  {8000, 50},  {9000, 60},
    {9010, 61},	 {9020, 62},  {10000, 63}, {10010, 64}, {10020, 65}, {11000, 70}, {11010, 71}, {11020, 72},
    {11030, 73}, {11040, 74}, {11050, 75}, {11060, 76}, {11070, 77}, {11080, 78}, {12000, 80}, {12010, 81},
    {12020, 82}, {12030, 83}, {12040, 84}, {12050, 85}, {12070, 86}, {12080, 87}, {12090, 88}, {13000, 90},
};

int cuda_ptx_version(int cc, int driver_version, int *target)
{
	const struct target *best = NULL;
	int newest = drivers[0].ptx;

	for (size_t i = 0; i < sizeof drivers / sizeof *drivers; i++)
		if (driver_version >= drivers[i].driver)
			newest = drivers[i].ptx;
	for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
		const struct target *t = &targets[i];
		if (t->cc <= cc && t->first <= newest && (!t->last || t->last >= newest))
			best = t;
	}
	*target = best ? best->cc : cc;
	/* 4.3 is what every driver that is still in use for the old targets speaks, and the oldest that our texts are written in. */
	const int first = best && best->first > 43 ? best->first : 43;
	return first > newest ? newest : first;
}

/* "580.65.06" from the kernel module, or "". */
static void module_version(char *out, size_t n)
{
	FILE *f = fopen("/sys/module/nvidia/version", "re");

	out[0] = 0;
	if (!f)
		return;
	if (!fgets(out, (int)n, f))
		out[0] = 0;
	out[strcspn(out, " \n")] = 0;
	fclose(f);
}

int cuda_info_fill(const struct cuda_driver *d, int index, struct device_info *info, struct err *e)
{
	int major = 0, minor = 0, target = 0, v[8] = {0};
	static const int wanted[8] = {DEVICE_SM_COUNT,
				      DEVICE_WARP_SIZE,
				      DEVICE_MAX_THREADS_PER_BLOCK,
				      DEVICE_MAX_THREADS_PER_SM,
				      DEVICE_REGISTERS_PER_BLOCK,
				      DEVICE_SHARED_PER_BLOCK,
				      DEVICE_CONSTANT_BYTES,
				      DEVICE_CLOCK_KHZ};
	size_t memory = 0;
	CUdevice dev;
	CUresult r;

	memset(info, 0, sizeof *info);
	r = d->device_get(&dev, index);
	if (!r)
		r = d->device_get_name(info->name, (int)sizeof info->name - 1, dev);
	if (!r)
		r = d->device_total_mem(&memory, dev);
	if (!r)
		r = d->device_get_attribute(&major, (CUdevice_attribute)DEVICE_CC_MAJOR, dev);
	if (!r)
		r = d->device_get_attribute(&minor, (CUdevice_attribute)DEVICE_CC_MINOR, dev);
	for (int i = 0; i < 8 && !r; i++)
		r = d->device_get_attribute(&v[i], (CUdevice_attribute)wanted[i], dev);
	if (r) {
		char what[64];
		snprintf(what, sizeof what, "cuda:%d does not say what it is", index);
		return cuda_fail(d, r, e, what);
	}
	snprintf(info->backend, sizeof info->backend, "cuda");
	snprintf(info->spec, sizeof info->spec, "cuda:%d", index);
	snprintf(info->dialect, sizeof info->dialect, "ptx");
	info->cc = major * 10 + minor;
	info->ptx_version = cuda_ptx_version(info->cc, d->version, &target);
	snprintf(info->target, sizeof info->target, "sm_%d", target);
	info->sm_count = (uint32_t)v[0];
	info->warp_size = (uint32_t)v[1];
	info->max_threads_per_block = (uint32_t)v[2];
	info->max_threads_per_sm = (uint32_t)v[3];
	info->registers_per_block = (uint32_t)v[4];
	info->shared_per_block = (uint64_t)v[5];
	info->constant_bytes = (uint64_t)v[6];
	info->clock_hz = v[7] * 1000.0;
	info->memory_bytes = memory;
	info->has_f64 = info->cc >= 13;
	info->has_fma = info->cc >= 20;
	info->has_f16 = info->cc >= 53;

	CUuuid u;
	if (d->device_get_uuid && !d->device_get_uuid(&u, dev)) {
		const unsigned char *b = (const unsigned char *)u.bytes;
		snprintf(info->uuid, sizeof info->uuid,
			 "GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", b[0], b[1], b[2],
			 b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13], b[14], b[15]);
	}
	char module[32];
	module_version(module, sizeof module);
	snprintf(info->driver, sizeof info->driver, "%s%sCUDA %d.%d%s", module, module[0] ? " (" : "",
		 d->version / 1000, d->version % 1000 / 10, module[0] ? ")" : "");
	return 0;
}
