/* The exported functions: calls, devices, memory, events. Errors are the numbers that the real driver uses. */
#include "base/arena.h"
#include "base/str.h"
#include "fake_state.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct fake fake = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Declared here: ffnvcodec's header has types of functions, no functions. */
#define EXPORT		 __attribute__((visibility("default")))
#define FAKE(name, type) EXPORT type name

static long number(const char *name, long otherwise)
{
	const char *v = getenv(name);

	return v && *v ? strtol(v, NULL, 10) : otherwise;
}

CUresult fake_leave(CUresult r)
{
	pthread_mutex_unlock(&fake.lock);
	return r;
}

CUresult fake_enter(const char *name, bool needs_context)
{
	pthread_mutex_lock(&fake.lock);
	if (fake.fail_name[0] && !strcmp(fake.fail_name, name) && (++fake.fail_calls == fake.fail_at || !fake.fail_at))
		return fake_leave((CUresult)fake.fail_code);
	if (!fake.initialised)
		return fake_leave((CUresult)FAKE_NOT_INITIALIZED);
	if (needs_context && !fake.spec)
		return fake_leave((CUresult)FAKE_INVALID_CONTEXT);
	if (needs_context && fake.sticky)
		return fake_leave((CUresult)fake.sticky);
	return CUDA_SUCCESS;
}

#define ENTER(context)                                                                                                 \
	do {                                                                                                           \
		CUresult entered = fake_enter(__func__, context);                                                      \
		if (entered)                                                                                           \
			return entered;                                                                                \
	} while (0)

/* ---- start ---- */
static int fake_version(void)
{
	return (int)number("FAKE_CUDA_VERSION", 13000);
}

FAKE(cuDriverGetVersion, tcuDriverGetVersion);
CUresult cuDriverGetVersion(int *version)
{
	*version = fake_version();
	return CUDA_SUCCESS;
}

static int open_spec(void)
{
	struct err e = {0};
	const char *gpu = getenv("FAKE_CUDA_GPU");

	arena_init(&fake.arena);
	if (spec_open(&fake.spec, &fake.arena, gpu ? gpu : "toy", &e)) {
		fprintf(stderr, "fake driver: %s\n", e.text);
		return -1;
	}
	return 0;
}

FAKE(cuInit, tcuInit);
CUresult cuInit(unsigned flags)
{
	const char *fail = getenv("FAKE_CUDA_FAIL");
	int r = (int)number("FAKE_CUDA_INIT", 0);

	(void)flags;
	if (r < 0)
		raise(-r);
	const char *gone = getenv("FAKE_CUDA_GONE");
	if (r || fake.initialised)
		return (CUresult)r;
	if (gone && access(gone, F_OK) == 0)
		return (CUresult)FAKE_NO_DEVICE;
	if (fail && sscanf(fail, "%63[^:]:%ld:%d", fake.fail_name, &fake.fail_at, &fake.fail_code) != 3)
		return CUDA_ERROR_UNKNOWN;
	fake.hang_at = number("FAKE_CUDA_HANG", 0);
	fake.fault_at = number("FAKE_CUDA_FAULT", 0);
	fake.crash_at = number("FAKE_CUDA_CRASH", 0);
	fake.devices = (int)number("FAKE_CUDA_DEVICES", 1);
	if (fake.devices && open_spec())
		return CUDA_ERROR_UNKNOWN;
	fake.version = fake_version();
	fake.cc = (int)number("FAKE_CUDA_CC", fake.spec ? fake.spec->cc : 0);
	fake.initialised = true;
	return CUDA_SUCCESS;
}

FAKE(cuGetErrorString, tcuGetErrorString);
CUresult cuGetErrorString(CUresult r, const char **text)
{
	static const struct {
		int code;
		const char *text;
	} known[] = {
	    {FAKE_INVALID_VALUE, "invalid argument"},
	    {FAKE_OUT_OF_MEMORY, "out of memory"},
	    {FAKE_NOT_INITIALIZED, "initialization error"},
	    {FAKE_UNAVAILABLE, "CUDA-capable device(s) is/are busy or unavailable"},
	    {FAKE_NO_DEVICE, "no CUDA-capable device is detected"},
	    {FAKE_INVALID_DEVICE, "invalid device ordinal"},
	    {FAKE_INVALID_IMAGE, "device kernel image is invalid"},
	    {FAKE_INVALID_CONTEXT, "invalid device context"},
	    {FAKE_INVALID_PTX, "a PTX JIT compilation failed"},
	    {FAKE_NOT_FOUND, "named symbol not found"},
	    {FAKE_ILLEGAL_ADDRESS, "an illegal memory access was encountered"},
	    {FAKE_OUT_OF_RESOURCES, "too many resources requested for launch"},
	    {FAKE_UNKNOWN, "unknown error"},
	};

	*text = NULL;
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (known[i].code == (int)r)
			*text = known[i].text;
	return *text ? CUDA_SUCCESS : (CUresult)FAKE_INVALID_VALUE;
}

/* ---- devices ---- */
FAKE(cuDeviceGetCount, tcuDeviceGetCount);
CUresult cuDeviceGetCount(int *count)
{
	ENTER(false);
	*count = fake.devices;
	return fake_leave(CUDA_SUCCESS);
}

FAKE(cuDeviceGet, tcuDeviceGet);
CUresult cuDeviceGet(CUdevice *device, int ordinal)
{
	ENTER(false);
	if (ordinal < 0 || ordinal >= fake.devices)
		return fake_leave((CUresult)FAKE_INVALID_DEVICE);
	*device = ordinal;
	return fake_leave(CUDA_SUCCESS);
}

FAKE(cuDeviceGetName, tcuDeviceGetName);
CUresult cuDeviceGetName(char *name, int len, CUdevice dev)
{
	ENTER(true);
	snprintf(name, (size_t)len, "Fake %s %d", fake.spec->name, dev);
	return fake_leave(CUDA_SUCCESS);
}

FAKE(cuDeviceGetUuid, tcuDeviceGetUuid);
CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice dev)
{
	ENTER(true);
	memset(uuid, dev, sizeof *uuid);
	memcpy(uuid->bytes, &fake.spec->hash, sizeof fake.spec->hash);
	return fake_leave(CUDA_SUCCESS);
}

FAKE(cuDeviceTotalMem_v2, tcuDeviceTotalMem);
CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice dev)
{
	(void)dev;
	ENTER(true);
	*bytes = fake.spec->memory_bytes;
	return fake_leave(CUDA_SUCCESS);
}

FAKE(cuDeviceGetAttribute, tcuDeviceGetAttribute);
CUresult cuDeviceGetAttribute(int *v, CUdevice_attribute a, CUdevice dev)
{
	const struct sim_spec *s = fake.spec;
	CUresult r = CUDA_SUCCESS;

	(void)dev;
	ENTER(true);
	switch ((int)a) {
	case DEVICE_MAX_THREADS_PER_BLOCK:
		*v = (int)s->max_threads_per_block;
		break;
	case DEVICE_SHARED_PER_BLOCK:
		*v = (int)s->shared_per_block;
		break;
	case DEVICE_CONSTANT_BYTES:
		*v = (int)s->constant_bytes;
		break;
	case DEVICE_WARP_SIZE:
		*v = (int)s->warp_size;
		break;
	case DEVICE_REGISTERS_PER_BLOCK:
		*v = (int)s->registers_per_sm;
		break;
	case DEVICE_CLOCK_KHZ:
		*v = (int)(s->clock_hz / 1e3);
		break;
	case DEVICE_SM_COUNT:
		*v = (int)s->sm_count;
		break;
	case DEVICE_L2_BYTES:
		*v = s->has_l2 ? (int)s->global.level[1].size : 0;
		break;
	case DEVICE_MAX_THREADS_PER_SM:
		*v = (int)s->max_threads_per_sm;
		break;
	case DEVICE_CC_MAJOR:
		*v = fake.cc / 10;
		break;
	case DEVICE_CC_MINOR:
		*v = fake.cc % 10;
		break;
	default:
		r = (CUresult)FAKE_INVALID_VALUE;
	}
	return fake_leave(r);
}

/* ---- context ---- */
FAKE(cuDevicePrimaryCtxRetain, tcuDevicePrimaryCtxRetain);
CUresult cuDevicePrimaryCtxRetain(CUcontext *c, CUdevice dev)
{
	uint64_t bytes;

	ENTER(true);
	if (dev < number("FAKE_CUDA_BUSY", 0))
		return fake_leave((CUresult)FAKE_UNAVAILABLE);
	bytes = fake.spec->memory_bytes < FAKE_MEMORY_MAX ? fake.spec->memory_bytes : FAKE_MEMORY_MAX;
	if (!fake.time &&
	    (time_open(&fake.time, fake.spec, 1) || func_memory_add(&fake.memory, FUNC_GLOBAL_BASE, bytes, NULL)))
		return fake_leave((CUresult)FAKE_OUT_OF_MEMORY);
	*c = &fake.context;
	return fake_leave(CUDA_SUCCESS);
}

FAKE(cuDevicePrimaryCtxRelease, tcuDevicePrimaryCtxRelease);
CUresult cuDevicePrimaryCtxRelease(CUdevice dev)
{
	(void)dev;
	ENTER(true);
	return fake_leave(CUDA_SUCCESS);
}

FAKE(cuCtxSetCurrent, tcuCtxSetCurrent);
CUresult cuCtxSetCurrent(CUcontext c)
{
	ENTER(true);
	return fake_leave(c == &fake.context ? CUDA_SUCCESS : (CUresult)FAKE_INVALID_CONTEXT);
}

/* ---- memory ---- */
FAKE(cuMemAlloc_v2, tcuMemAlloc_v2);
CUresult cuMemAlloc_v2(CUdeviceptr *p, size_t bytes)
{
	ENTER(true);
	return fake_leave(fake_memory_alloc(bytes, p));
}

FAKE(cuMemFree_v2, tcuMemFree_v2);
CUresult cuMemFree_v2(CUdeviceptr p)
{
	ENTER(true);
	return fake_leave(fake_memory_free(p));
}

FAKE(cuMemAllocHost_v2, tcuMemAllocHost);
CUresult cuMemAllocHost_v2(void **p, size_t bytes)
{
	ENTER(true);
	/* The driver's own until the process ends, as what a lost context leaves behind is. */
	*p = arena_alloc(&fake.arena, bytes, 1);
	return fake_leave(*p ? CUDA_SUCCESS : (CUresult)FAKE_OUT_OF_MEMORY);
}

FAKE(cuMemFreeHost, tcuMemFreeHost);
CUresult cuMemFreeHost(void *p)
{
	ENTER(true);
	return fake_leave(p ? CUDA_SUCCESS : (CUresult)FAKE_INVALID_VALUE);
}

static CUresult to_device(CUdeviceptr dst, const void *src, size_t n)
{
	uint8_t *p = fake_memory_at(dst, n);

	if (!p)
		return (CUresult)FAKE_INVALID_VALUE;
	memcpy(p, src, n);
	fake_memory_written(dst, n);
	return CUDA_SUCCESS;
}

FAKE(cuMemcpyHtoD_v2, tcuMemcpyHtoD_v2);
CUresult cuMemcpyHtoD_v2(CUdeviceptr dst, const void *src, size_t n)
{
	ENTER(true);
	return fake_leave(to_device(dst, src, n));
}

FAKE(cuMemcpyHtoDAsync_v2, tcuMemcpyHtoDAsync_v2);
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr dst, const void *src, size_t n, CUstream s)
{
	(void)s;
	ENTER(true);
	return fake_leave(to_device(dst, src, n));
}

FAKE(cuMemcpyDtoHAsync_v2, tcuMemcpyDtoHAsync_v2);
CUresult cuMemcpyDtoHAsync_v2(void *dst, CUdeviceptr src, size_t n, CUstream s)
{
	(void)s;
	ENTER(true);
	const uint8_t *p = fake_memory_at(src, n);
	if (p)
		memcpy(dst, p, n);
	return fake_leave(p ? CUDA_SUCCESS : (CUresult)FAKE_INVALID_VALUE);
}

FAKE(cuMemsetD8Async, tcuMemsetD8Async);
CUresult cuMemsetD8Async(CUdeviceptr dst, unsigned char v, size_t n, CUstream s)
{
	(void)s;
	ENTER(true);
	uint8_t *p = fake_memory_at(dst, n);
	if (p) {
		memset(p, v, n);
		fake_memory_written(dst, n);
		if (n >= 8 << 20) /* that much traffic leaves nothing else in a cache */
			time_flush(fake.time);
	}
	return fake_leave(p ? CUDA_SUCCESS : (CUresult)FAKE_INVALID_VALUE);
}

/* ---- streams: what is asked for is done at once, in whichever order it comes ---- */
FAKE(cuStreamCreate, tcuStreamCreate);
CUresult cuStreamCreate(CUstream *s, unsigned flags)
{
	(void)flags;
	ENTER(true);
	*s = arena_alloc(&fake.arena, 1, 1);
	return fake_leave(*s ? CUDA_SUCCESS : (CUresult)FAKE_OUT_OF_MEMORY);
}

FAKE(cuStreamDestroy_v2, tcuStreamDestroy_v2);
CUresult cuStreamDestroy_v2(CUstream s)
{
	ENTER(true);
	return fake_leave(s ? CUDA_SUCCESS : (CUresult)FAKE_INVALID_VALUE);
}

FAKE(cuStreamWaitEvent, tcuStreamWaitEvent);
CUresult cuStreamWaitEvent(CUstream s, CUevent ev, unsigned flags)
{
	(void)flags;
	ENTER(true);
	return fake_leave(s && ev ? CUDA_SUCCESS : (CUresult)FAKE_INVALID_VALUE);
}

/* ---- events ---- */
FAKE(cuEventCreate, tcuEventCreate);
CUresult cuEventCreate(CUevent *ev, unsigned flags)
{
	(void)flags;
	ENTER(true);
	*ev = arena_alloc(&fake.arena, 1, sizeof **ev);
	return fake_leave(*ev ? CUDA_SUCCESS : (CUresult)FAKE_OUT_OF_MEMORY);
}

FAKE(cuEventDestroy_v2, tcuEventDestroy_v2);
CUresult cuEventDestroy_v2(CUevent ev)
{
	ENTER(true);
	return fake_leave(ev ? CUDA_SUCCESS : (CUresult)FAKE_INVALID_VALUE);
}

FAKE(cuEventRecord, tcuEventRecord);
CUresult cuEventRecord(CUevent ev, CUstream s)
{
	(void)s;
	ENTER(true);
	ev->ms = fake.now_ms;
	return fake_leave(CUDA_SUCCESS);
}

FAKE(cuEventQuery, tcuEventQuery);
CUresult cuEventQuery(CUevent ev)
{
	(void)ev;
	ENTER(true);
	return fake_leave(fake.hung ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS);
}

FAKE(cuEventElapsedTime, tcuEventElapsedTime);
CUresult cuEventElapsedTime(float *ms, CUevent a, CUevent b)
{
	ENTER(true);
	*ms = (float)(b->ms - a->ms);
	return fake_leave(CUDA_SUCCESS);
}
