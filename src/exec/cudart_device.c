/* The runtime's devices, errors, streams, events and textures. */
#include "exec/cudart.h"
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

static _Thread_local cudaError_t cudart_latest;

cudaError_t cudart_result(cudaError_t r)
{
	if (r)
		cudart_latest = r;
	return r;
}

void cudart_unserved(const char *call, const char *why)
{
	fflush(stdout);
	fprintf(stderr, "fathom exec: the program calls %s, which the simulated GPU does not serve%s%s\n", call,
		*why ? ": " : "", why);
	_exit(3);
}

/* ---- errors ---- */

EXEC_API cudaError_t cudaGetLastError(void)
{
	cudaError_t r = cudart_latest;
	cudart_latest = EXEC_OK;
	return r;
}

EXEC_API cudaError_t cudaPeekAtLastError(void)
{
	return cudart_latest;
}

static const struct {
	cudaError_t code;
	const char *name, *text; /* text NULL: the driver's */
} known[] = {{EXEC_OK, "cudaSuccess", NULL},
	     {EXEC_INVALID_VALUE, "cudaErrorInvalidValue", NULL},
	     {EXEC_OUT_OF_MEMORY, "cudaErrorMemoryAllocation", NULL},
	     {EXEC_NOT_INITIALIZED, "cudaErrorInitializationError", NULL},
	     {EXEC_INVALID_CONFIGURATION, "cudaErrorInvalidConfiguration", "invalid configuration argument"},
	     {EXEC_INVALID_SYMBOL, "cudaErrorInvalidSymbol", "invalid device symbol"},
	     {EXEC_INVALID_DEVICE_FUNCTION, "cudaErrorInvalidDeviceFunction", "invalid device function"},
	     {EXEC_NO_DEVICE, "cudaErrorNoDevice", NULL},
	     {EXEC_INVALID_DEVICE, "cudaErrorInvalidDevice", NULL},
	     {EXEC_INVALID_IMAGE, "cudaErrorInvalidKernelImage", NULL},
	     {EXEC_INVALID_CONTEXT, "cudaErrorDeviceUninitialized", NULL},
	     {EXEC_NO_BINARY, "cudaErrorNoKernelImageForDevice", NULL},
	     {EXEC_INVALID_PTX, "cudaErrorInvalidPtx", NULL},
	     {EXEC_NOT_FILE, "cudaErrorFileNotFound", NULL},
	     {EXEC_INVALID_HANDLE, "cudaErrorInvalidResourceHandle", NULL},
	     {EXEC_NOT_FOUND, "cudaErrorSymbolNotFound", NULL},
	     {EXEC_NOT_READY, "cudaErrorNotReady", NULL},
	     {EXEC_ILLEGAL_ADDRESS, "cudaErrorIllegalAddress", NULL},
	     {EXEC_OUT_OF_RESOURCES, "cudaErrorLaunchOutOfResources", NULL},
	     {EXEC_TIMEOUT, "cudaErrorLaunchTimeout", NULL},
	     {EXEC_PEER_ALREADY, "cudaErrorPeerAccessAlreadyEnabled", NULL},
	     {EXEC_ASSERT, "cudaErrorAssert", NULL},
	     {EXEC_HOST_ALREADY_REGISTERED, "cudaErrorHostMemoryAlreadyRegistered", NULL},
	     {EXEC_HOST_NOT_REGISTERED, "cudaErrorHostMemoryNotRegistered", NULL},
	     {EXEC_ILLEGAL_INSTRUCTION, "cudaErrorIllegalInstruction", NULL},
	     {EXEC_MISALIGNED, "cudaErrorMisalignedAddress", NULL},
	     {EXEC_LAUNCH_FAILED, "cudaErrorLaunchFailure", NULL},
	     {EXEC_COOPERATIVE_TOO_LARGE, "cudaErrorCooperativeLaunchTooLarge", NULL},
	     {EXEC_GRAPH_NOT_UPDATED, "cudaErrorGraphExecUpdateFailure", NULL},
	     {EXEC_INVALID_CLUSTER, "cudaErrorInvalidClusterSize", NULL},
	     {EXEC_NOT_SUPPORTED, "cudaErrorNotSupported", NULL},
	     {EXEC_UNKNOWN, "cudaErrorUnknown", NULL}};

EXEC_API const char *cudaGetErrorName(cudaError_t r)
{
	for (size_t k = 0; k < sizeof known / sizeof *known; k++)
		if (known[k].code == r)
			return known[k].name;
	return "unrecognized error code";
}

EXEC_API const char *cudaGetErrorString(cudaError_t r)
{
	const char *text = NULL;
	for (size_t k = 0; k < sizeof known / sizeof *known; k++)
		if (known[k].code == r && known[k].text)
			return known[k].text;
	return cuGetErrorString(r, &text) ? "unrecognized error code" : text;
}

/* ---- devices ---- */

int cudart_current(void)
{
	CUdevice device = 0;
	return cuCtxGetDevice(&device) ? 0 : device;
}

EXEC_API cudaError_t cudaGetDeviceCount(int *count)
{
	return cudart_result(cuDeviceGetCount(count));
}

EXEC_API cudaError_t cudaGetDevice(int *device)
{
	*device = cudart_current();
	return EXEC_OK;
}

EXEC_API cudaError_t cudaSetDevice(int device)
{
	CUcontext c;
	CUresult r = cuDevicePrimaryCtxRetain(&c, device);
	return cudart_result(r ? r : cuCtxSetCurrent(c));
}

EXEC_API cudaError_t cudaInitDevice(int device, unsigned flags, unsigned more)
{
	(void)flags, (void)more;
	return cudaSetDevice(device);
}

EXEC_API cudaError_t cudaSetDeviceFlags(unsigned flags)
{
	(void)flags;
	return EXEC_OK;
}

EXEC_API cudaError_t cudaGetDeviceFlags(unsigned *flags)
{
	*flags = 0;
	return EXEC_OK;
}

EXEC_API cudaError_t cudaChooseDevice(int *device, const void *prop)
{
	(void)prop;
	return cudaGetDevice(device);
}

EXEC_API cudaError_t cudaDeviceGetAttribute(int *v, int which, int device)
{
	return cudart_result(cuDeviceGetAttribute(v, which, device));
}

static int of(int which, int device)
{
	int v = 0;
	cuDeviceGetAttribute(&v, which, device);
	return v;
}

#define PROP_FIELD(type, name, n) type name[n];
#define ONLY_12(type, name, n)	  PROP_FIELD(type, name, n)
struct prop_12 {
#include "exec/cudart_prop.def"
};
#undef ONLY_12
#define ONLY_12(type, name, n)
struct prop_13 {
#include "exec/cudart_prop.def"
};
#undef PROP_FIELD
#undef ONLY_12
_Static_assert(offsetof(struct prop_13, registers_host) == 704 && offsetof(struct prop_13, pools) == 720,
	       "as CUDA 13's driver_types.h has it");

#define ROOM_12 1032 /* sizeof(cudaDeviceProp) in CUDA 12 */
#define ROOM_13 1008 /* and in 13 */

/* What the fields are is the attributes' business: the numbers are CUdevice_attribute's. */
static CUresult common(struct prop_12 *p, int device)
{
	size_t bytes = 0;
	CUresult r = cuDeviceGetName(p->name, sizeof p->name, device);
	if (r)
		return r;
	cuDeviceGetUuid((uint8_t *)p->uuid, device);
	cuDeviceTotalMem_v2(&bytes, device);
	*p->memory = bytes;
	*p->shared_per_block = (size_t)of(8, device);
	*p->registers_per_block = of(12, device);
	*p->warp_size = of(10, device);
	*p->pitch = (size_t)of(11, device);
	*p->threads_per_block = of(1, device);
	for (int k = 0; k < 3; k++) {
		p->block_most[k] = of(2 + k, device);
		p->grid_most[k] = of(5 + k, device);
	}
	*p->clock_khz = of(13, device);
	*p->constant_bytes = (size_t)of(9, device);
	*p->major = of(75, device);
	*p->minor = of(76, device);
	*p->texture_alignment = (size_t)of(14, device);
	*p->texture_pitch_alignment = (size_t)of(51, device);
	*p->sm_count = of(16, device);
	*p->maps_host = of(19, device);
	*p->concurrent_kernels = of(31, device);
	*p->engines = of(40, device);
	*p->one_address_space = of(41, device);
	*p->l2_bytes = of(38, device);
	*p->threads_per_sm = of(39, device);
	*p->global_l1 = of(79, device);
	*p->local_l1 = of(80, device);
	*p->shared_per_sm = (size_t)of(81, device);
	*p->registers_per_sm = of(82, device);
	*p->managed = of(83, device);
	*p->concurrent_managed = of(89, device);
	*p->host_pointer = of(91, device);
	*p->cooperative = of(95, device);
	*p->shared_optin = (size_t)of(97, device);
	*p->registers_host = of(99, device);
	*p->blocks_per_sm = of(106, device);
	*p->pools = of(115, device);
	return EXEC_OK;
}

EXEC_API cudaError_t cudaGetDeviceProperties_v2(void *out, int device)
{
	struct prop_12 p = {0};
	const CUresult r = common(&p, device);
	if (r)
		return cudart_result(r);
	memset(out, 0, ROOM_12);
	memcpy(out, &p, sizeof p);
	return EXEC_OK;
}

/* Of CUDA 13. Programs for 12 call the one above; those for 11, another library. */
EXEC_API cudaError_t cudaGetDeviceProperties(void *out, int device)
{
	struct prop_12 all = {0};
	struct prop_13 p = {0};
	if (CUDART_MAJOR < 13)
		return cudaGetDeviceProperties_v2(out, device);
	const CUresult r = common(&all, device);
	if (r)
		return cudart_result(r);
#define PROP_FIELD(type, name, n) memcpy(p.name, all.name, sizeof p.name);
#define ONLY_12(type, name, n)
#include "exec/cudart_prop.def"
#undef PROP_FIELD
#undef ONLY_12
	memset(out, 0, ROOM_13);
	memcpy(out, &p, sizeof p);
	return EXEC_OK;
}

EXEC_API cudaError_t cudaDeviceSynchronize(void)
{
	return cudart_result(cuCtxSynchronize());
}

EXEC_API cudaError_t cudaThreadSynchronize(void)
{
	return cudaDeviceSynchronize();
}

EXEC_API cudaError_t cudaDeviceReset(void)
{
	return EXEC_OK;
}

EXEC_API cudaError_t cudaThreadExit(void)
{
	return EXEC_OK;
}

EXEC_API cudaError_t cudaDeviceSetLimit(int limit, size_t value)
{
	return cudart_result(cuCtxSetLimit(limit, value));
}

EXEC_API cudaError_t cudaDeviceGetLimit(size_t *value, int limit)
{
	return cudart_result(cuCtxGetLimit(value, limit));
}

EXEC_API cudaError_t cudaDeviceSetCacheConfig(int config)
{
	(void)config;
	return EXEC_OK;
}

EXEC_API cudaError_t cudaDeviceSetSharedMemConfig(int config)
{
	(void)config;
	return EXEC_OK;
}

#define BUS	  "0000:%02x:00.0"
#define BUS_BYTES 13
EXEC_API cudaError_t cudaDeviceGetPCIBusId(char *name, int room, int device)
{
	int bus;
	CUresult r = cuDeviceGetAttribute(&bus, 33, device);
	if (!r && (!name || room < BUS_BYTES))
		r = EXEC_INVALID_VALUE;
	if (!r)
		snprintf(name, (size_t)room, BUS, (unsigned)bus);
	return cudart_result(r);
}

EXEC_API cudaError_t cudaDeviceGetByPCIBusId(int *device, const char *name)
{
	unsigned bus = 0;
	return cudart_result(sscanf(name, BUS, &bus) == 1 ? cuDeviceGet(device, (int)bus - 1) : EXEC_INVALID_DEVICE);
}

EXEC_API cudaError_t cudaDeviceCanAccessPeer(int *can, int a, int b)
{
	(void)a, (void)b;
	*can = 0;
	return EXEC_OK;
}

EXEC_API cudaError_t cudaDriverGetVersion(int *version)
{
	return cuDriverGetVersion(version);
}

EXEC_API cudaError_t cudaRuntimeGetVersion(int *version)
{
	*version = CUDART_MAJOR * 1000;
	return EXEC_OK;
}

EXEC_API cudaError_t cudaProfilerStart(void)
{
	return EXEC_OK;
}

EXEC_API cudaError_t cudaProfilerStop(void)
{
	return EXEC_OK;
}

EXEC_API cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
	*least = *greatest = 0;
	return EXEC_OK;
}

/* ---- streams and events ---- */

EXEC_API cudaError_t cudaStreamCreateWithFlags(cudaStream_t *s, unsigned flags)
{
	return cudart_result(cuStreamCreate(s, flags));
}

EXEC_API cudaError_t cudaStreamCreate(cudaStream_t *s)
{
	return cudaStreamCreateWithFlags(s, 0);
}

EXEC_API cudaError_t cudaStreamCreateWithPriority(cudaStream_t *s, unsigned flags, int priority)
{
	(void)priority;
	return cudaStreamCreateWithFlags(s, flags);
}

EXEC_API cudaError_t cudaStreamDestroy(cudaStream_t s)
{
	return cudart_result(cuStreamDestroy_v2(s));
}

EXEC_API cudaError_t cudaStreamSynchronize(cudaStream_t s)
{
	return cudart_result(cuStreamSynchronize(s));
}

EXEC_API cudaError_t cudaStreamQuery(cudaStream_t s)
{
	return cudaStreamSynchronize(s);
}

EXEC_API cudaError_t cudaStreamGetFlags(cudaStream_t s, unsigned *flags)
{
	return cuStreamGetFlags(s, flags);
}

EXEC_API cudaError_t cudaStreamGetPriority(cudaStream_t s, int *priority)
{
	(void)s;
	*priority = 0;
	return EXEC_OK;
}

/* Priorities, access policies and the like: they change nothing here. */
EXEC_API cudaError_t cudaStreamSetAttribute(cudaStream_t s, int which, const void *value)
{
	(void)s, (void)which;
	return cudart_result(value ? EXEC_OK : EXEC_INVALID_VALUE);
}

EXEC_API cudaError_t cudaStreamGetAttribute(cudaStream_t s, int which, void *value)
{
	enum { BYTES = 64 }; /* of a cudaLaunchAttributeValue */
	(void)s, (void)which;
	if (value)
		memset(value, 0, BYTES);
	return cudart_result(value ? EXEC_OK : EXEC_INVALID_VALUE);
}

/* Managed memory is the host's and the GPU's at any time. */
EXEC_API cudaError_t cudaStreamAttachMemAsync(cudaStream_t s, void *p, size_t bytes, unsigned flags)
{
	(void)bytes, (void)flags;
	CUresult r = cuStreamSynchronize(s);
	return cudart_result(r || p ? r : EXEC_INVALID_VALUE);
}

EXEC_API cudaError_t cudaStreamWaitEvent(cudaStream_t s, cudaEvent_t e, unsigned flags)
{
	return cudart_result(cuStreamWaitEvent(s, e, flags));
}

EXEC_API cudaError_t cudaStreamIsCapturing(cudaStream_t s, int *status)
{
	return cudart_result(cuStreamIsCapturing(s, status));
}

EXEC_API cudaError_t cudaStreamAddCallback(cudaStream_t s, void (*call)(cudaStream_t, cudaError_t, void *), void *data,
					   unsigned flags)
{
	(void)flags;
	call(s, EXEC_OK, data);
	return EXEC_OK;
}

EXEC_API cudaError_t cudaLaunchHostFunc(cudaStream_t s, void (*call)(void *), void *data)
{
	return cudart_result(cuLaunchHostFunc(s, call, data));
}

EXEC_API cudaError_t cudaEventCreateWithFlags(cudaEvent_t *e, unsigned flags)
{
	return cudart_result(cuEventCreate(e, flags));
}

EXEC_API cudaError_t cudaEventCreate(cudaEvent_t *e)
{
	return cudaEventCreateWithFlags(e, 0);
}

EXEC_API cudaError_t cudaEventDestroy(cudaEvent_t e)
{
	return cudart_result(cuEventDestroy_v2(e));
}

EXEC_API cudaError_t cudaEventRecord(cudaEvent_t e, cudaStream_t s)
{
	return cudart_result(cuEventRecord(e, s));
}

EXEC_API cudaError_t cudaEventRecordWithFlags(cudaEvent_t e, cudaStream_t s, unsigned flags)
{
	(void)flags;
	return cudaEventRecord(e, s);
}

EXEC_API cudaError_t cudaEventSynchronize(cudaEvent_t e)
{
	return cudart_result(cuEventSynchronize(e));
}

EXEC_API cudaError_t cudaEventQuery(cudaEvent_t e)
{
	return cudaEventSynchronize(e);
}

EXEC_API cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t from, cudaEvent_t to)
{
	return cudart_result(cuEventElapsedTime(ms, from, to));
}

/* ---- what is not served ---- */

#define EXEC_UNSERVED(name)                                                                                            \
	EXEC_API void name(void)                                                                                       \
	{                                                                                                              \
		cudart_unserved(#name, "");                                                                            \
	}
#include "exec/cudart_unserved.def"
