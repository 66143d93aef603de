/* libcudart.so.12 and .13 over libcuda.so.1: the runtime's interface in terms of the driver's. Built once for each; CUDART_MAJOR says which.
 * Its state is what nvcc's code registers before main and each thread's latest error; the interface has no handle of it. */
#ifndef FATHOM_CUDART_H
#define FATHOM_CUDART_H
#include "exec/driver_abi.h"
#include <stdbool.h>

typedef int cudaError_t;
typedef CUstream cudaStream_t;
typedef CUevent cudaEvent_t;
typedef CUarray cudaArray_t;
struct dim3 {
	unsigned x, y, z;
};

/* cudart_error.c. Remembers r for cudaGetLastError. */
cudaError_t cudart_result(cudaError_t r);
_Noreturn void cudart_unserved(const char *call, const char *why);

/* cudart_register.c */
CUresult cudart_function(CUfunction *f, const void *host);
CUresult cudart_symbol(uint64_t *at, size_t *bytes, const void *host);

/* ---- what is taken of the driver's interface ---- */
CUresult cuInit(unsigned flags);
CUresult cuDriverGetVersion(int *version);
CUresult cuGetErrorString(CUresult r, const char **text);
CUresult cuGetErrorName(CUresult r, const char **name);
CUresult cuDeviceGetName(char *name, int len, CUdevice device);
CUresult cuDeviceGetUuid(uint8_t *uuid, CUdevice device);
CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice device);
CUresult cuDeviceGetAttribute(int *v, int which, CUdevice device);
CUresult cuCtxSynchronize(void);
CUresult cuCtxGetLimit(size_t *value, int limit);
CUresult cuModuleLoadData(CUmodule *out, const void *image);
CUresult cuModuleUnload(CUmodule m);
CUresult cuModuleGetFunction(CUfunction *f, CUmodule m, const char *name);
CUresult cuModuleGetGlobal_v2(CUdeviceptr *p, size_t *bytes, CUmodule m, const char *name);
CUresult cuFuncGetAttribute(int *v, int attribute, CUfunction f);
CUresult cuFuncSetAttribute(CUfunction f, int attribute, int v);
CUresult cuLaunchKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
			unsigned shared, CUstream stream, void **params, void **extra);
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction f, int threads, size_t shared);
CUresult cuMemAlloc_v2(CUdeviceptr *p, size_t bytes);
CUresult cuMemAllocManaged(CUdeviceptr *p, size_t bytes, unsigned flags);
CUresult cuMemAllocHost_v2(void **p, size_t bytes);
CUresult cuMemFree_v2(CUdeviceptr p);
CUresult cuMemFreeHost(void *p);
CUresult cuMemGetInfo_v2(size_t *left, size_t *total);
CUresult cuMemGetAddressRange_v2(CUdeviceptr *base, size_t *bytes, CUdeviceptr p);
CUresult cuMemHostRegister_v2(void *p, size_t bytes, unsigned flags);
CUresult cuMemHostUnregister(void *p);
CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *d, void *p, unsigned flags);
CUresult cuPointerGetAttribute(void *out, int attribute, CUdeviceptr p);
CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t bytes);
CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t bytes);
CUresult cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes);
CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes);
CUresult cuMemcpy3D_v2(const struct exec_copy_3d *c);
CUresult cuMemsetD8_v2(CUdeviceptr to, unsigned char value, size_t n);
CUresult cuMemsetD2D8_v2(CUdeviceptr to, size_t pitch, unsigned char value, size_t w, size_t h);
CUresult cuStreamCreate(CUstream *s, unsigned flags);
CUresult cuStreamDestroy_v2(CUstream s);
CUresult cuStreamSynchronize(CUstream s);
CUresult cuStreamGetFlags(CUstream s, unsigned *flags);
CUresult cuEventCreate(CUevent *e, unsigned flags);
CUresult cuEventDestroy_v2(CUevent e);
CUresult cuEventRecord(CUevent e, CUstream s);
CUresult cuEventSynchronize(CUevent e);
CUresult cuEventElapsedTime(float *ms, CUevent from, CUevent to);
CUresult cuArray3DCreate_v2(CUarray *out, const struct exec_array_shape *s);
CUresult cuArrayDestroy(CUarray a);
CUresult cuArray3DGetDescriptor_v2(struct exec_array_shape *s, CUarray a);
CUresult cuTexObjectCreate(CUtexObject *out, const struct exec_resource *what, const struct exec_texture_how *how,
			   const void *view);
CUresult cuTexObjectDestroy(CUtexObject t);

#endif
