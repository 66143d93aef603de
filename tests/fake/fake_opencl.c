/* An OpenCL loader whose device goes away. It hands every call to the real one, FAKE_OPENCL_REAL, but for launches. The
 * one with the number FAKE_OPENCL_FAULT and those that follow answer CL_DEVICE_NOT_AVAILABLE, and make the file
 * FAKE_OPENCL_GONE. While that exists there is no device. */
#define CL_TARGET_OPENCL_VERSION 120
#include "fake_opencl.h"
#include <CL/cl.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static long launches;
static __typeof__(clGetDeviceIDs) *real_devices;
static __typeof__(clEnqueueNDRangeKernel) *real_enqueue;

__attribute__((constructor)) static void fake_open(void)
{
	const char *path = getenv("FAKE_OPENCL_REAL");
	void *lib = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;

	if (!lib) {
		fprintf(stderr, "fake loader: %s\n", path ? dlerror() : "FAKE_OPENCL_REAL is not set");
		return;
	}
	for (size_t i = 0; fake_jumps[i].name; i++) {
		*fake_jumps[i].to = dlsym(lib, fake_jumps[i].name);
		if (strcmp(fake_jumps[i].name, "clGetDeviceIDs") == 0)
			memcpy(&real_devices, fake_jumps[i].to, sizeof real_devices);
		if (strcmp(fake_jumps[i].name, "clEnqueueNDRangeKernel") == 0)
			memcpy(&real_enqueue, fake_jumps[i].to, sizeof real_enqueue);
	}
}

static const char *marker(void)
{
	const char *name = getenv("FAKE_OPENCL_GONE");
	return name ? name : "/";
}

cl_int clGetDeviceIDs(cl_platform_id platform, cl_device_type type, cl_uint room, cl_device_id *devices, cl_uint *count)
{
	if (strcmp(marker(), "/") != 0 && access(marker(), F_OK) == 0)
		return CL_DEVICE_NOT_FOUND;
	return real_devices(platform, type, room, devices, count);
}

cl_int clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const size_t *offset,
			      const size_t *global, const size_t *local, cl_uint waits, const cl_event *wait,
			      cl_event *event)
{
	const char *fault = getenv("FAKE_OPENCL_FAULT");

	if (!fault || ++launches < strtol(fault, NULL, 10))
		return real_enqueue(queue, kernel, dimensions, offset, global, local, waits, wait, event);
	int fd = open(marker(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	if (fd >= 0)
		close(fd);
	return CL_DEVICE_NOT_AVAILABLE;
}
