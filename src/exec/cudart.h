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

struct extent { /* cudaExtent */
	size_t width, height, depth;
};
struct position { /* cudaPos */
	size_t x, y, z;
};
struct pitched { /* cudaPitchedPtr */
	void *p;
	size_t pitch, width, height;
};
struct copy_3d { /* cudaMemcpy3DParms */
	cudaArray_t from_array;
	struct position from_at;
	struct pitched from;
	cudaArray_t to_array;
	struct position to_at;
	struct pitched to;
	struct extent extent;
	int kind;
};

/* cudart_memory.c. If an array takes part, widths and positions count its texels. */
struct exec_copy_3d cudart_copy_3d(const struct copy_3d *p);

/* cudart_error.c. Remembers r for cudaGetLastError. */
cudaError_t cudart_result(cudaError_t r);
_Noreturn void cudart_unserved(const char *call, const char *why);

int cudart_current(void); /* cudart_device.c: the thread's device */
/* cudart_register.c */
CUresult cudart_function(CUfunction *f, const void *host);
CUresult cudart_symbol(uint64_t *at, size_t *bytes, const void *host);

/* ---- what is taken of the driver's interface ---- */
CUresult cuInit(unsigned flags);
CUresult cuDriverGetVersion(int *version);
CUresult cuGetErrorString(CUresult r, const char **text);
CUresult cuGetErrorName(CUresult r, const char **name);
CUresult cuDeviceGetCount(int *count);
CUresult cuDeviceGet(CUdevice *device, int ordinal);
CUresult cuDevicePrimaryCtxRetain(CUcontext *c, CUdevice device);
CUresult cuCtxSetCurrent(CUcontext c);
CUresult cuCtxGetDevice(CUdevice *device);
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
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t bytes, CUstream s);
CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t bytes, CUstream s);
CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream s);
CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream s);
CUresult cuMemcpy3DAsync_v2(const struct exec_copy_3d *c, CUstream s);
CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t n, CUstream s);
CUresult cuMemAllocFromPoolAsync(CUdeviceptr *p, size_t bytes, CUmemPool pool, CUstream s);
CUresult cuDeviceGetDefaultMemPool(CUmemPool *pool, CUdevice device);
CUresult cuMemPoolCreate(CUmemPool *pool, const void *props);
CUresult cuMemPoolDestroy(CUmemPool pool);
CUresult cuMemPoolTrimTo(CUmemPool pool, size_t keep);
CUresult cuMemPoolSetAccess(CUmemPool pool, const void *what, size_t count);
CUresult cuMemPoolSetAttribute(CUmemPool pool, int which, void *value);
CUresult cuMemPoolGetAttribute(CUmemPool pool, int which, void *value);
CUresult cuLaunchCooperativeKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
				   unsigned bz, unsigned shared, CUstream stream, void **params);
CUresult cuOccupancyMaxActiveClusters(int *clusters, CUfunction f, const struct exec_launch_config *c);
CUresult cuOccupancyMaxPotentialClusterSize(int *blocks, CUfunction f, const struct exec_launch_config *c);
CUresult cuLaunchKernelEx(const struct exec_launch_config *c, CUfunction f, void **params, void **extra);
CUresult cuLaunchHostFunc(CUstream s, void (*call)(void *), void *data);
CUresult cuStreamWaitEvent(CUstream s, CUevent e, unsigned flags);
CUresult cuStreamIsCapturing(CUstream s, int *status);
CUresult cuStreamBeginCapture_v2(CUstream s, int mode);
CUresult cuStreamEndCapture(CUstream s, CUgraph *g);
CUresult cuStreamGetCaptureInfo_v2(CUstream s, int *status, uint64_t *id, CUgraph *g, const CUgraphNode **after,
				   size_t *count);
CUresult cuGraphCreate(CUgraph *g, unsigned flags);
CUresult cuGraphDestroy(CUgraph g);
CUresult cuGraphClone(CUgraph *out, CUgraph g);
CUresult cuGraphAddKernelNode_v2(CUgraphNode *out, CUgraph g, const CUgraphNode *after, size_t count,
				 const struct exec_kernel_node *p);
CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode n, const struct exec_kernel_node *p);
CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec g, CUgraphNode n, const struct exec_kernel_node *p);
CUresult cuGraphAddMemcpyNode(CUgraphNode *out, CUgraph g, const CUgraphNode *after, size_t count,
			      const struct exec_copy_3d *p, CUcontext c);
CUresult cuGraphAddMemsetNode(CUgraphNode *out, CUgraph g, const CUgraphNode *after, size_t count,
			      const struct exec_fill *p, CUcontext c);
CUresult cuGraphAddMemAllocNode(CUgraphNode *out, CUgraph g, const CUgraphNode *after, size_t count,
				struct exec_take_node *p);
CUresult cuGraphAddMemFreeNode(CUgraphNode *out, CUgraph g, const CUgraphNode *after, size_t count, CUdeviceptr p);
CUresult cuDeviceGetGraphMemAttribute(CUdevice device, int which, void *value);
CUresult cuDeviceSetGraphMemAttribute(CUdevice device, int which, void *value);
CUresult cuDeviceGraphMemTrim(CUdevice device);
CUresult cuMemFreeAsync(CUdeviceptr p, CUstream s);
CUresult cuGraphAddHostNode(CUgraphNode *out, CUgraph g, const CUgraphNode *after, size_t count,
			    const struct exec_host_node *p);
CUresult cuGraphAddEmptyNode(CUgraphNode *out, CUgraph g, const CUgraphNode *after, size_t count);
CUresult cuGraphAddEventRecordNode(CUgraphNode *out, CUgraph g, const CUgraphNode *after, size_t count, CUevent e);
CUresult cuGraphAddEventWaitNode(CUgraphNode *out, CUgraph g, const CUgraphNode *after, size_t count, CUevent e);
CUresult cuGraphAddChildGraphNode(CUgraphNode *out, CUgraph g, const CUgraphNode *after, size_t count, CUgraph child);
CUresult cuGraphAddDependencies(CUgraph g, const CUgraphNode *from, const CUgraphNode *to, size_t count);
CUresult cuGraphGetNodes(CUgraph g, CUgraphNode *nodes, size_t *count);
CUresult cuGraphGetRootNodes(CUgraph g, CUgraphNode *nodes, size_t *count);
CUresult cuGraphNodeGetType(CUgraphNode n, int *type);
CUresult cuGraphNodeSetEnabled(CUgraphExec g, CUgraphNode n, unsigned on);
CUresult cuGraphInstantiateWithFlags(CUgraphExec *out, CUgraph g, unsigned long long flags);
CUresult cuGraphExecUpdate_v2(CUgraphExec g, CUgraph from, void *result);
CUresult cuGraphLaunch(CUgraphExec g, CUstream s);
CUresult cuGraphUpload(CUgraphExec g, CUstream s);
CUresult cuMemsetD2D8Async(CUdeviceptr to, size_t pitch, unsigned char value, size_t w, size_t h, CUstream s);
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
CUresult cuTexObjectGetResourceDesc(struct exec_resource *what, CUtexObject t);
CUresult cuTexObjectGetTextureDesc(struct exec_texture_how *how, CUtexObject t);
CUresult cuSurfObjectCreate(CUsurfObject *out, const struct exec_resource *what);
CUresult cuDeviceSetMemPool(CUdevice device, CUmemPool pool);
CUresult cuCtxSetLimit(int limit, size_t value);

#endif
