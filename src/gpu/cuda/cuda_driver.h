/* libcuda.so.1, opened at run time: no toolkit is needed to build or to run. */
#ifndef FATHOM_CUDA_DRIVER_H
#define FATHOM_CUDA_DRIVER_H
#include "base/err.h"
#include <ffnvcodec/dynlink_cuda.h>
#include <stdbool.h>

/* What ffnvcodec's header does not declare. */
typedef CUresult CUDAAPI tcuDriverGetVersion(int *version);
typedef CUresult CUDAAPI tcuDeviceTotalMem(size_t *bytes, CUdevice dev);
typedef CUresult CUDAAPI tcuCtxSetCurrent(CUcontext ctx);
typedef CUresult CUDAAPI tcuFuncGetAttribute(int *value, int attribute, CUfunction f);
typedef CUresult CUDAAPI tcuFuncSetAttribute(CUfunction f, int attribute, int value);
typedef CUresult CUDAAPI tcuFuncSetSharedMemConfig(CUfunction f, int config);
typedef CUresult CUDAAPI tcuFuncGetParamInfo(CUfunction f, size_t index, size_t *offset, size_t *size);
typedef CUresult CUDAAPI tcuMemAllocHost(void **p, size_t bytes);
typedef CUresult CUDAAPI tcuMemFreeHost(void *p);
typedef CUresult CUDAAPI tcuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags);
typedef CUresult CUDAAPI tcuMemHostAlloc(void **p, size_t bytes, unsigned flags);
typedef CUresult CUDAAPI tcuMemHostGetDevicePointer(CUdeviceptr *out, void *p, unsigned flags);
typedef CUresult CUDAAPI tcuEventElapsedTime(float *ms, CUevent start, CUevent end);

struct cuda_copy_3d { /* CUDA_MEMCPY3D of cuMemcpy3D_v2 */
	size_t source_x_bytes, source_y, source_z, source_lod;
	CUmemorytype source_type;
	const void *source_host;
	CUdeviceptr source_device;
	CUarray source_array;
	void *reserved0;
	size_t source_pitch, source_height;
	size_t target_x_bytes, target_y, target_z, target_lod;
	CUmemorytype target_type;
	void *target_host;
	CUdeviceptr target_device;
	CUarray target_array;
	void *reserved1;
	size_t target_pitch, target_height;
	size_t width_bytes, height, depth;
};
typedef CUresult CUDAAPI tcuMemcpy3D(const struct cuda_copy_3d *copy);

enum { STREAM_NON_BLOCKING = 1, HOST_MAPPED = 2 }; /* CU_STREAM_NON_BLOCKING, CU_MEMHOSTALLOC_DEVICEMAP */
enum { TEXTURE_NORMALIZED_COORDINATES = 2 };	   /* CU_TRSF_NORMALIZED_COORDINATES */
enum {						   /* CUdevice_attribute */
       DEVICE_MAX_THREADS_PER_BLOCK = 1,
       DEVICE_SHARED_PER_BLOCK = 8,
       DEVICE_CONSTANT_BYTES = 9,
       DEVICE_WARP_SIZE = 10,
       DEVICE_REGISTERS_PER_BLOCK = 12,
       DEVICE_CLOCK_KHZ = 13,
       DEVICE_SM_COUNT = 16,
       DEVICE_L2_BYTES = 38,
       DEVICE_MAX_THREADS_PER_SM = 39,
       DEVICE_CC_MAJOR = 75,
       DEVICE_CC_MINOR = 76,
};
enum { /* CUfunction_attribute */
       FUNC_SHARED_BYTES = 1,
       FUNC_REGISTERS = 4,
       FUNC_MAX_DYNAMIC_SHARED = 8,
       FUNC_CARVEOUT = 9,
};
enum { /* CUsharedconfig */
       SHARED_CONFIG_DEFAULT = 0,
       SHARED_CONFIG_FOUR = 1,
       SHARED_CONFIG_EIGHT = 2,
};
enum { /* CUresult values that are told apart */
       RESULT_INVALID_VALUE = 1,
       RESULT_OUT_OF_MEMORY = 2,
       RESULT_NO_DEVICE = 100,
       RESULT_ECC = 214,
       RESULT_LAUNCH_OUT_OF_RESOURCES = 701,
       RESULT_LAUNCH_TIMEOUT = 702,
       RESULT_LAUNCH_INCOMPATIBLE_TEXTURING = 703,
       RESULT_NOT_SUPPORTED = 801,
       RESULT_FIRST_STICKY = 700, /* from here on, but for those two, the context is dead */
};

struct cuda_driver {
	void *lib;
	int version; /* 13000 = CUDA 13.0 */
#define CUDA_SYMBOL(needed, member, symbol, type) type *member;
#include "cuda_symbols.def"
#undef CUDA_SYMBOL
};

/* Opens the library and calls cuInit, no context. -ENODEV: no driver or no device, a sentence says which. */
int cuda_driver_open(struct cuda_driver *d, struct err *e);
void cuda_driver_close(struct cuda_driver *d);
/* The driver's words for r: "out of memory (CUDA_ERROR_OUT_OF_MEMORY)". Valid until the next call with the same buffer. */
struct cuda_words {
	char text[160];
};
const char *cuda_words(const struct cuda_driver *d, CUresult r, struct cuda_words *w);
/* err_set with "what: the driver's words"; code by the kind of error. */
int cuda_fail(const struct cuda_driver *d, CUresult r, struct err *e, const char *what);
/* The context cannot be used any more after this error. */
bool cuda_sticky(CUresult r);
/* The error is an answer to this launch, and not a failure of the driver, the machine or the card. */
bool cuda_refuses(CUresult r);

#endif
