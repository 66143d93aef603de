/* Devices and contexts. */
#include "exec/driver.h"
#include <stdio.h>
#include <string.h>

#define VERSION 13000
#define STACK	16

/* Which context a thread has is the thread's own state: every context of a GPU is its primary one. */
static _Thread_local struct {
	CUcontext stack[STACK];
	unsigned depth;
} exec_thread;

int exec_current(void)
{
	return exec_thread.depth && exec_thread.stack[exec_thread.depth - 1]
		   ? exec_thread.stack[exec_thread.depth - 1]->device
		   : 0;
}

/* Begins a call about a device, whichever the thread's context is, and however that one is. */
#define ENTER_OF(d, device)                                                                                            \
	exec_begin();                                                                                                  \
	struct exec_device *d = exec_numbered(device);                                                                 \
	if (!d)                                                                                                        \
	return exec_leave(EXEC_INVALID_DEVICE)

EXEC_API CUresult cuInit(unsigned flags)
{
	if (flags)
		return EXEC_INVALID_VALUE;
	EXEC_ENTER();
	return exec_leave(EXEC_OK);
}

EXEC_API CUresult cuDriverGetVersion(int *version)
{
	*version = VERSION;
	return EXEC_OK;
}

static const struct {
	CUresult code;
	const char *name, *text;
} known[] = {
    {EXEC_OK, "CUDA_SUCCESS", "no error"},
    {EXEC_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {EXEC_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {EXEC_NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {EXEC_NO_DEVICE, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {EXEC_INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {EXEC_INVALID_IMAGE, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
    {EXEC_INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {EXEC_NO_BINARY, "CUDA_ERROR_NO_BINARY_FOR_GPU", "no kernel image is available for execution on the device"},
    {EXEC_INVALID_PTX, "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"},
    {EXEC_NOT_FILE, "CUDA_ERROR_FILE_NOT_FOUND", "file not found"},
    {EXEC_INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {EXEC_NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {EXEC_NOT_READY, "CUDA_ERROR_NOT_READY", "device not ready"},
    {EXEC_ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {EXEC_OUT_OF_RESOURCES, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", "too many resources requested for launch"},
    {EXEC_TIMEOUT, "CUDA_ERROR_LAUNCH_TIMEOUT", "the launch timed out and was terminated"},
    {EXEC_PEER_ALREADY, "CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED", "peer access is already enabled"},
    {EXEC_ASSERT, "CUDA_ERROR_ASSERT", "device-side assert triggered"},
    {EXEC_HOST_ALREADY_REGISTERED, "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED",
     "part or all of the requested memory range is already mapped"},
    {EXEC_HOST_NOT_REGISTERED, "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED",
     "pointer does not correspond to a registered memory region"},
    {EXEC_INVALID_CLUSTER, "CUDA_ERROR_INVALID_CLUSTER_SIZE", "cluster size is invalid"},
    {EXEC_ILLEGAL_INSTRUCTION, "CUDA_ERROR_ILLEGAL_INSTRUCTION", "an illegal instruction was encountered"},
    {EXEC_MISALIGNED, "CUDA_ERROR_MISALIGNED_ADDRESS", "misaligned address"},
    {EXEC_LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    {EXEC_COOPERATIVE_TOO_LARGE, "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE", "too many blocks in cooperative launch"},
    {EXEC_GRAPH_NOT_UPDATED, "CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE",
     "the graph update was not performed because it included changes which violated constraints specific to "
     "instantiated graph update"},
    {EXEC_NOT_SUPPORTED, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
    {EXEC_UNKNOWN, "CUDA_ERROR_UNKNOWN", "unknown error"},
};

EXEC_API CUresult cuGetErrorString(CUresult r, const char **text)
{
	*text = NULL;
	for (size_t k = 0; k < sizeof known / sizeof *known; k++)
		if (known[k].code == r)
			*text = known[k].text;
	return *text ? EXEC_OK : EXEC_INVALID_VALUE;
}

EXEC_API CUresult cuGetErrorName(CUresult r, const char **name)
{
	*name = NULL;
	for (size_t k = 0; k < sizeof known / sizeof *known; k++)
		if (known[k].code == r)
			*name = known[k].name;
	return *name ? EXEC_OK : EXEC_INVALID_VALUE;
}

/* ---- devices ---- */

EXEC_API CUresult cuDeviceGetCount(int *count)
{
	EXEC_ENTER();
	*count = exec_process.devices;
	return exec_leave(EXEC_OK);
}

EXEC_API CUresult cuDeviceGet(CUdevice *device, int ordinal)
{
	ENTER_OF(d, ordinal);
	*device = d->index;
	return exec_leave(EXEC_OK);
}

EXEC_API CUresult cuDeviceGetName(char *name, int len, CUdevice device)
{
	ENTER_OF(d, device);
	if (len < 1)
		return exec_leave(EXEC_INVALID_VALUE);
	snprintf(name, (size_t)len, "%s (simulated)", d->spec->name);
	return exec_leave(EXEC_OK);
}

EXEC_API CUresult cuDeviceGetUuid(uint8_t *uuid, CUdevice device)
{
	ENTER_OF(d, device);
	memset(uuid, 0, 16);
	memcpy(uuid, &d->spec->hash, sizeof d->spec->hash);
	uuid[15] = (uint8_t)device; /* two of a kind are two */
	return exec_leave(EXEC_OK);
}

EXEC_API CUresult cuDeviceGetUuid_v2(uint8_t *uuid, CUdevice device)
{
	return cuDeviceGetUuid(uuid, device);
}

EXEC_API CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice device)
{
	ENTER_OF(d, device);
	*bytes = d->heap.size;
	return exec_leave(EXEC_OK);
}

EXEC_API CUresult cuDeviceComputeCapability(int *major, int *minor, CUdevice device)
{
	ENTER_OF(d, device);
	*major = d->spec->cc / 10;
	*minor = d->spec->cc % 10;
	return exec_leave(EXEC_OK);
}

/* CUdevice_attribute: what a description says, and what this library can do. Others are 0. */
static int attribute(const struct sim_spec *s, int which)
{
	enum {
		GRID_X = 2147483647,
		GRID_YZ = 65535,
		CLUSTERS_FROM = 90, /* of blocks */
		BLOCK_Z = 64
	}; /* CUDA Programming Guide, compute capability 3 and later */
	const int shared = (int)s->shared_per_block, threads = (int)s->max_threads_per_block;
	const struct {
		int which, value;
	} table[] = {{1, threads},
		     {2, threads},
		     {3, threads},
		     {4, BLOCK_Z},
		     {5, s->cc < 30 ? GRID_YZ : GRID_X},
		     {6, GRID_YZ},
		     {7, GRID_YZ},
		     {8, shared},
		     {9, (int)s->constant_bytes},
		     {10, (int)s->warp_size},
		     {11, GRID_X},
		     {12, (int)s->registers_per_sm},
		     {13, (int)(s->clock_hz / 1e3)},
		     {14, EXEC_ALIGN},
		     {15, 1},
		     {16, (int)s->sm_count},
		     {19, 1}, /* maps host memory */
		     {31, 1}, /* concurrent kernels: asked for before streams are used */
		     {38, s->has_l2 ? (int)s->global.level[1].size : 0},
		     {39, (int)s->max_threads_per_sm},
		     {40, 1},
		     {41, 1}, /* one address space */
		     {51, 32},
		     {75, s->cc / 10},
		     {76, s->cc % 10},
		     {78, 1},
		     {79, s->has_l1},
		     {80, s->has_l1},
		     {81, (int)s->shared_per_sm},
		     {82, (int)s->registers_per_sm},
		     {83, 1}, /* managed memory */
		     {89, 1}, /* at the same time as the host */
		     {91, 1},
		     {95, 1}, /* cooperative launches */
		     {97, (int)spec_shared_most(s)},
		     {99, 1},
		     {106, (int)s->max_blocks_per_sm},
		     {115, 1}, /* memory pools */
		     {120, s->cc >= CLUSTERS_FROM}};
	for (size_t k = 0; k < sizeof table / sizeof *table; k++)
		if (table[k].which == which)
			return table[k].value;
	return 0;
}

enum { BUS_NUMBER = 33 }; /* CU_DEVICE_ATTRIBUTE_PCI_BUS_ID */

EXEC_API CUresult cuDeviceGetAttribute(int *v, int which, CUdevice device)
{
	ENTER_OF(d, device);
	*v = which == BUS_NUMBER ? d->index + 1 : attribute(d->spec, which);
	return exec_leave(EXEC_OK);
}

EXEC_API CUresult cuDeviceCanAccessPeer(int *can, CUdevice a, CUdevice b)
{
	(void)a, (void)b;
	*can = 0;
	return EXEC_OK;
}

/* ---- contexts ---- */

static CUresult push(CUcontext c)
{
	if (exec_thread.depth == STACK)
		return EXEC_OUT_OF_MEMORY;
	exec_thread.stack[exec_thread.depth++] = c;
	return EXEC_OK;
}

EXEC_API CUresult cuDevicePrimaryCtxRetain(CUcontext *c, CUdevice device)
{
	ENTER_OF(d, device);
	*c = &d->primary;
	return exec_leave(EXEC_OK);
}

EXEC_API CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device)
{
	return exec_numbered(device) ? EXEC_OK : EXEC_INVALID_DEVICE;
}

EXEC_API CUresult cuDevicePrimaryCtxRelease(CUdevice device)
{
	return cuDevicePrimaryCtxRelease_v2(device);
}

EXEC_API CUresult cuDevicePrimaryCtxReset_v2(CUdevice device)
{
	return exec_numbered(device) ? EXEC_OK : EXEC_INVALID_DEVICE;
}

EXEC_API CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice device, unsigned flags)
{
	(void)flags;
	return exec_numbered(device) ? EXEC_OK : EXEC_INVALID_DEVICE;
}

EXEC_API CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned *flags, int *active)
{
	*flags = 0;
	*active = 1;
	return exec_numbered(device) ? EXEC_OK : EXEC_INVALID_DEVICE;
}

EXEC_API CUresult cuCtxCreate_v2(CUcontext *c, unsigned flags, CUdevice device)
{
	(void)flags;
	ENTER_OF(d, device);
	*c = &d->primary;
	return exec_leave(push(*c));
}

EXEC_API CUresult cuCtxCreate_v4(CUcontext *c, void *params, unsigned flags, CUdevice device)
{
	(void)params;
	return cuCtxCreate_v2(c, flags, device);
}

EXEC_API CUresult cuCtxDestroy_v2(CUcontext c)
{
	if (exec_thread.depth && exec_thread.stack[exec_thread.depth - 1] == c)
		exec_thread.depth--;
	return c ? EXEC_OK : EXEC_INVALID_CONTEXT;
}

EXEC_API CUresult cuCtxPushCurrent_v2(CUcontext c)
{
	return c ? push(c) : EXEC_INVALID_CONTEXT;
}

EXEC_API CUresult cuCtxPopCurrent_v2(CUcontext *c)
{
	if (!exec_thread.depth)
		return EXEC_INVALID_CONTEXT;
	exec_thread.depth--;
	if (c)
		*c = exec_thread.stack[exec_thread.depth];
	return EXEC_OK;
}

EXEC_API CUresult cuCtxSetCurrent(CUcontext c)
{
	if (exec_thread.depth)
		exec_thread.depth--;
	return c ? push(c) : EXEC_OK;
}

EXEC_API CUresult cuCtxGetCurrent(CUcontext *c)
{
	*c = exec_thread.depth ? exec_thread.stack[exec_thread.depth - 1] : NULL;
	return EXEC_OK;
}

EXEC_API CUresult cuCtxGetDevice(CUdevice *device)
{
	*device = exec_current();
	return exec_thread.depth ? EXEC_OK : EXEC_INVALID_CONTEXT;
}

EXEC_API CUresult cuCtxSynchronize(void)
{
	EXEC_ENTER();
	return exec_leave(EXEC_OK);
}

EXEC_API CUresult cuCtxGetApiVersion(CUcontext c, unsigned *version)
{
	(void)c;
	*version = 3020;
	return EXEC_OK;
}

enum { LIMIT_STACK = 0, LIMIT_PRINT = 1, LIMIT_HEAP = 2 }; /* CUlimit */

EXEC_API CUresult cuCtxSetLimit(int limit, size_t value)
{
	EXEC_ENTER();
	if (limit == LIMIT_HEAP)
		exec_here->heap_most = value;
	return exec_leave(EXEC_OK);
}

EXEC_API CUresult cuCtxGetLimit(size_t *value, int limit)
{
	EXEC_ENTER();
	*value = limit == LIMIT_PRINT ? FUNC_PRINT_MOST : limit == LIMIT_HEAP ? exec_here->heap_most : 1024;
	return exec_leave(EXEC_OK);
}

EXEC_API CUresult cuCtxSetCacheConfig(int config)
{
	(void)config;
	return EXEC_OK;
}

EXEC_API CUresult cuCtxGetStreamPriorityRange(int *least, int *greatest)
{
	if (least)
		*least = 0;
	if (greatest)
		*greatest = 0;
	return EXEC_OK;
}
