/* The part of the driver's interface that programs call beside launches, and what they have in common. */
#ifndef FATHOM_TESTS_CALLS_H
#define FATHOM_TESTS_CALLS_H
#include "programs.h"

int cuGraphCreate(void **g, unsigned flags);
int cuGraphDestroy(void *g);
int cuGraphAddKernelNode_v2(void **n, void *g, void *const *after, size_t count, const void *params);
int cuGraphAddMemcpyNode(void **n, void *g, void *const *after, size_t count, const void *copy, void *context);
int cuGraphAddMemsetNode(void **n, void *g, void *const *after, size_t count, const void *fill, void *context);
int cuGraphAddHostNode(void **n, void *g, void *const *after, size_t count, const void *host);
int cuGraphAddChildGraphNode(void **n, void *g, void *const *after, size_t count, void *child);
int cuGraphAddMemAllocNode(void **n, void *g, void *const *after, size_t count, void *take);
int cuDeviceGraphMemTrim(int device);
int cuDeviceGetGraphMemAttribute(int device, int which, void *value);
int cuGraphAddDependencies(void *g, void *const *from, void *const *to, size_t count);
int cuGraphGetNodes(void *g, void **nodes, size_t *count);
int cuGraphGetRootNodes(void *g, void **nodes, size_t *count);
int cuGraphInstantiateWithFlags(void **e, void *g, unsigned long long flags);
int cuGraphExecKernelNodeSetParams_v2(void *e, void *n, const void *params);
int cuGraphExecUpdate_v2(void *e, void *g, void *result);
int cuGraphLaunch(void *e, void *stream);
int cuGraphExecDestroy(void *e);
int cuStreamCreate(void **s, unsigned flags);
int cuStreamDestroy_v2(void *s);
int cuStreamBeginCapture_v2(void *s, int mode);
int cuStreamEndCapture(void *s, void **g);
int cuStreamIsCapturing(void *s, int *status);
int cuStreamWaitEvent(void *s, void *e, unsigned flags);
int cuStreamSynchronize(void *s);
int cuCtxGetCurrent(void **context);
int cuCtxSynchronize(void);
int cuLaunchHostFunc(void *s, void (*call)(void *), void *data);
int cuEventCreate(void **e, unsigned flags);
int cuEventDestroy_v2(void *e);
int cuEventRecord(void *e, void *s);
int cuEventElapsedTime(float *ms, void *from, void *to);
int cuLibraryLoadData(void **lib, const void *image, void *o, void *v, unsigned n, void *lo, void *lv, unsigned ln);
int cuLibraryGetKernel(void **k, void *lib, const char *name);
int cuLibraryGetKernelCount(unsigned *n, void *lib);
int cuLibraryEnumerateKernels(void **k, unsigned most, void *lib);
int cuLibraryGetGlobal(gpu *p, size_t *bytes, void *lib, const char *name);
int cuLibraryUnload(void *lib);
int cuKernelGetName(const char **name, void *k);
int cuKernelGetAttribute(int *v, int which, void *k, int device);
int cuDeviceGetDefaultMemPool(void **pool, int device);
int cuMemPoolCreate(void **pool, const void *props);
int cuMemPoolDestroy(void *pool);
int cuMemPoolGetAttribute(void *pool, int which, void *value);
int cuMemAllocFromPoolAsync(gpu *p, size_t bytes, void *pool, void *s);
int cuMemAllocAsync(gpu *p, size_t bytes, void *s);
int cuMemFreeAsync(gpu p, void *s);
int cuMemFree_v2(gpu p);
int cuMemAllocManaged(gpu *p, size_t bytes, unsigned flags);
int cuMemHostRegister_v2(void *p, size_t bytes, unsigned flags);
int cuMemHostUnregister(void *p);
int cuMemcpyHtoDAsync_v2(gpu to, const void *from, size_t bytes, void *s);
int cuMemcpyDtoHAsync_v2(void *to, gpu from, size_t bytes, void *s);
int cuMemcpyDtoDAsync_v2(gpu to, gpu from, size_t bytes, void *s);
int cuMemsetD32Async(gpu to, unsigned v, size_t n, void *s);
int cuMemcpy3D_v2(const void *c);
int cuArray3DCreate_v2(void **a, const void *shape);
int cuArrayDestroy(void *a);
int cuSurfObjectCreate(gpu *s, const void *resource);
int cuSurfObjectDestroy(gpu s);
int cuTexObjectCreate(gpu *t, const void *resource, const void *how, const void *view);
int cuTexObjectDestroy(gpu t);
int cuLaunchKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
		   unsigned shared, void *stream, void **params, void **extra);
int cuLaunchCooperativeKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
			      unsigned shared, void *stream, void **params);
int cuLaunchKernelEx(const void *config, void *f, void **params, void **extra);
int cuOccupancyMaxActiveClusters(int *clusters, void *f, const void *config);
int cuFuncSetAttribute(void *f, int which, int v);
int cuModuleLoadData(void **m, const void *text);
int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, void *f, int threads, size_t shared);
int cuOccupancyMaxPotentialBlockSize(int *grid, int *block, void *f, void *of, size_t shared, int most);
int cuDeviceGetAttribute(int *v, int which, int device);
int cuModuleGetFunction(void **f, void *m, const char *name);

enum { N = 256 };
extern int n; /* N */

/* ---- structures of the interface ---- */

struct kernel_node {
	void *f;
	unsigned grid[3], block[3], shared;
	void **params, **extra;
	void *kernel, *context;
};
struct fill_node {
	gpu to;
	size_t pitch;
	unsigned value, bytes;
	size_t width, height;
};
struct take_node {
	uint64_t pool[11];
	const void *access;
	size_t accesses, bytes;
	gpu at;
};
struct host_node {
	void (*call)(void *);
	void *data;
};
struct copy {
	size_t from_x, from_y, from_z, from_lod;
	int from_type;
	const void *from_host;
	gpu from;
	void *from_array, *r0;
	size_t from_pitch, from_height, to_x, to_y, to_z, to_lod;
	int to_type;
	void *to_host;
	gpu to;
	void *to_array, *r1;
	size_t to_pitch, to_height, width, height, depth;
};
enum { HOST = 1, DEVICE = 2, ARRAY = 3 };
struct shape {
	size_t width, height, depth;
	int format;
	unsigned channels, flags;
};
enum { S32 = 10, F32 = 32, LAYERED = 1, SURFACES = 2, CUBE = 4 };
struct resource {
	int kind;
	union {
		void *array;
		struct {
			gpu at;
			int format;
			unsigned channels;
			size_t bytes;
		} linear;
		int reserved[32];
	} of;
	unsigned flags;
};
struct config {
	unsigned grid[3], block[3], shared;
	void *stream;
	struct attribute {
		int id, pad;
		unsigned value[16];
	} * attribute;
	unsigned attributes;
};
struct how {
	int address[3], filter;
	unsigned flags, anisotropy;
	int level;
	float levels[3], border[4];
	int reserved[12];
};

/* calls.c */
bool succeeded(int r, const char *call); /* says which error it was, else */
#define good(call) succeeded(call, #call)
bool step(void *stream, gpu v, int add, int times); /* step<<<2, 128, stream>>>(v, add, times, n) */
bool all_are(gpu v, int want);

#endif
