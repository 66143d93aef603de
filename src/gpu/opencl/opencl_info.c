/* What an OpenCL device says of itself, in the words of struct device_info. */
#include "base/str.h"
#include "gpu/opencl/opencl_gpu.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Vendors' extensions; cl.h has no names for them. */
#define NV_COMPUTE_MAJOR 0x4000
#define NV_COMPUTE_MINOR 0x4001
#define NV_REGISTERS	 0x4002
#define NV_WARP_SIZE	 0x4003
#define AMD_WAVEFRONT	 0x4043
#define KHR_DEVICE_UUID	 0x106a
#define EXTENSIONS	 16384

static void text_of(const struct opencl_api *api, cl_device_id d, cl_device_info what, char *out, size_t n)
{
	out[0] = 0;
	if (api->get_device_info(d, what, n - 1, out, NULL))
		out[0] = 0;
	out[n - 1] = 0;
	size_t len = strlen(out);
	while (len && out[len - 1] == ' ')
		out[--len] = 0;
	size_t blank = strspn(out, " ");
	memmove(out, out + blank, len - blank + 1);
}

static uint64_t number_of(const struct opencl_api *api, cl_device_id d, cl_device_info what)
{
	uint64_t v = 0; /* the answer may be narrower: both have its low bytes first */
	size_t size = 0;
	if (api->get_device_info(d, what, sizeof v, &v, &size) || size > sizeof v)
		return 0;
	return v;
}

static bool has(const char *extensions, const char *name)
{
	size_t n = strlen(name);
	for (const char *s = extensions; (s = strstr(s, name)) != NULL; s += n)
		if ((s == extensions || s[-1] == ' ') && (s[n] == ' ' || !s[n]))
			return true;
	return false;
}

void opencl_info_fill(const struct opencl_api *api, cl_device_id d, unsigned platform, unsigned number,
		      struct device_info *info)
{
	char extensions[EXTENSIONS];
	char version[64];
	memset(info, 0, sizeof *info);
	snprintf(info->backend, sizeof info->backend, "opencl");
	snprintf(info->spec, sizeof info->spec, "opencl:%u.%u", platform, number);
	snprintf(info->dialect, sizeof info->dialect, "cl");
	text_of(api, d, CL_DEVICE_NAME, info->name, sizeof info->name);
	text_of(api, d, CL_DRIVER_VERSION, info->driver, sizeof info->driver);
	text_of(api, d, CL_DEVICE_VERSION, version, sizeof version);
	text_of(api, d, CL_DEVICE_EXTENSIONS, extensions, sizeof extensions);
	info->sm_count = (uint32_t)number_of(api, d, CL_DEVICE_MAX_COMPUTE_UNITS);
	info->max_threads_per_block = (uint32_t)number_of(api, d, CL_DEVICE_MAX_WORK_GROUP_SIZE);
	info->shared_per_block = number_of(api, d, CL_DEVICE_LOCAL_MEM_SIZE);
	info->constant_bytes = number_of(api, d, CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE);
	info->memory_bytes = number_of(api, d, CL_DEVICE_GLOBAL_MEM_SIZE);
	info->clock_hz = 1e6 * (double)number_of(api, d, CL_DEVICE_MAX_CLOCK_FREQUENCY);
	info->has_f64 = number_of(api, d, CL_DEVICE_DOUBLE_FP_CONFIG) != 0;
	info->has_f16 = has(extensions, "cl_khr_fp16");
	info->has_fma = number_of(api, d, CL_DEVICE_SINGLE_FP_CONFIG) & CL_FP_FMA;
	info->warp_size =
	    1; /* what a device does not tell, a kernel's preferred multiple does not tell for certain either */
	if (has(extensions, "cl_nv_device_attribute_query")) {
		info->warp_size = (uint32_t)number_of(api, d, NV_WARP_SIZE);
		info->registers_per_block = (uint32_t)number_of(api, d, NV_REGISTERS);
		info->cc = (int)(10 * number_of(api, d, NV_COMPUTE_MAJOR) + number_of(api, d, NV_COMPUTE_MINOR));
	} else if (has(extensions, "cl_amd_device_attribute_query")) {
		info->warp_size = (uint32_t)number_of(api, d, AMD_WAVEFRONT);
	}
	if (!info->warp_size)
		info->warp_size = 1;
	/* "OpenCL 3.0 CUDA": what the vendor adds is no part of what the device keeps to */
	const size_t told = str_starts(version, "OpenCL ") ? 7 + strcspn(version + 7, " ") : strlen(version);
	snprintf(info->target, sizeof info->target, "%.*s", (int)told, version);
	unsigned char uuid[16];
	size_t size = 0;
	if (has(extensions, "cl_khr_device_uuid") &&
	    !api->get_device_info(d, KHR_DEVICE_UUID, sizeof uuid, uuid, &size) && size == sizeof uuid) {
		char *s = info->uuid;
		s += snprintf(s, 5, "GPU-");
		for (unsigned i = 0; i < sizeof uuid; i++)
			s += snprintf(s, 4, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", uuid[i]);
	}
}
