/* What nvcc's code registers before main, and launches. */
#include "base/arena.h"
#include "exec/cudart.h"
#include <pthread.h>
#include <string.h>

struct binary { /* what __cudaRegisterFatBinary returns a handle of */
	const void *image;
	struct {
		CUmodule module;
		CUresult result; /* of the only try */
		bool tried;
	} on[EXEC_DEVICES];
	struct binary *next;
};
struct kernel {
	const void *host; /* the stub that stands for it in the program */
	const char *name;
	struct binary *binary;
	CUfunction function[EXEC_DEVICES];
};
struct symbol {
	const void *host;
	const char *name;
	struct binary *binary;
	size_t bytes;
	void **managed; /* __managed__: where the program keeps its address */
};

static struct cudart_table {
	pthread_mutex_t lock;
	struct binary *binaries;
	struct kernel *kernel;
	size_t kernel_count, kernel_cap;
	struct symbol *symbol;
	size_t symbol_count, symbol_cap;
} cudart_table = {.lock = PTHREAD_MUTEX_INITIALIZER};

struct call { /* <<<grid, block, shared, stream>>> */
	struct dim3 grid, block;
	size_t shared;
	cudaStream_t stream;
};
#define CALLS 16
static _Thread_local struct {
	struct call call[CALLS];
	unsigned depth;
} cudart_calls;

/* ---- registration ---- */

EXEC_API void **__cudaRegisterFatBinary(void *image)
{
	struct binary *b = mem_zero(1, sizeof *b);
	if (!b)
		cudart_unserved("__cudaRegisterFatBinary", "out of memory");
	b->image = image;
	pthread_mutex_lock(&cudart_table.lock);
	b->next = cudart_table.binaries;
	cudart_table.binaries = b;
	pthread_mutex_unlock(&cudart_table.lock);
	return (void **)b;
}

EXEC_API void __cudaRegisterFatBinaryEnd(void **handle)
{
	(void)handle;
}

/* At the program's end: destructors may still launch, so everything stays. */
EXEC_API void __cudaUnregisterFatBinary(void **handle)
{
	(void)handle;
}

EXEC_API void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name, int threads,
				     void *a, void *b, void *c, void *d, int *size)
{
	struct cudart_table *t = &cudart_table;
	(void)device, (void)threads, (void)a, (void)b, (void)c, (void)d, (void)size;
	pthread_mutex_lock(&t->lock);
	if (mem_room((void **)&t->kernel, &t->kernel_cap, t->kernel_count, sizeof *t->kernel))
		cudart_unserved("__cudaRegisterFunction", "out of memory");
	t->kernel[t->kernel_count++] = (struct kernel){.host = host, .name = name, .binary = (struct binary *)handle};
	pthread_mutex_unlock(&t->lock);
}

static void add_symbol(const struct symbol *s)
{
	struct cudart_table *t = &cudart_table;
	pthread_mutex_lock(&t->lock);
	if (mem_room((void **)&t->symbol, &t->symbol_cap, t->symbol_count, sizeof *t->symbol))
		cudart_unserved("__cudaRegisterVar", "out of memory");
	t->symbol[t->symbol_count++] = *s;
	pthread_mutex_unlock(&t->lock);
}

EXEC_API void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int ext, size_t bytes,
				int constant, int global)
{
	(void)device, (void)ext, (void)constant, (void)global;
	add_symbol(&(struct symbol){.host = host, .name = name, .binary = (struct binary *)handle, .bytes = bytes});
}

EXEC_API void __cudaRegisterManagedVar(void **handle, void **host, char *device, const char *name, int ext,
				       size_t bytes, int constant, int global)
{
	(void)device, (void)ext, (void)constant, (void)global;
	add_symbol(&(struct symbol){
	    .host = host, .name = name, .binary = (struct binary *)handle, .bytes = bytes, .managed = host});
}

/* ---- modules, when they are first wanted ---- */

/* On the thread's device. */
static CUresult load(struct binary *b, CUmodule *m)
{
	const int device = cudart_current();
	if (!b->on[device].tried) {
		b->on[device].tried = true;
		b->on[device].result = cuModuleLoadData(&b->on[device].module, b->image);
	}
	*m = b->on[device].module;
	return b->on[device].result;
}

static CUresult with_lock(CUresult r)
{
	pthread_mutex_unlock(&cudart_table.lock);
	return r;
}

CUresult cudart_function(CUfunction *f, const void *host)
{
	struct cudart_table *t = &cudart_table;
	pthread_mutex_lock(&t->lock);
	for (size_t i = 0; i < t->kernel_count; i++) {
		struct kernel *k = &t->kernel[i];
		if (k->host != host)
			continue;
		CUfunction *function = &k->function[cudart_current()];
		CUmodule m = NULL;
		CUresult r = *function ? EXEC_OK : load(k->binary, &m);
		if (!r && !*function)
			r = cuModuleGetFunction(function, m, k->name);
		*f = *function;
		return with_lock(r == EXEC_NOT_FOUND ? EXEC_INVALID_DEVICE_FUNCTION : r);
	}
	return with_lock(EXEC_INVALID_DEVICE_FUNCTION);
}

CUresult cudart_symbol(uint64_t *at, size_t *bytes, const void *host)
{
	struct cudart_table *t = &cudart_table;
	pthread_mutex_lock(&t->lock);
	for (size_t i = 0; i < t->symbol_count; i++) {
		const struct symbol *s = &t->symbol[i];
		if (s->host != host && !(s->managed && *s->managed == host))
			continue;
		CUmodule m = NULL;
		CUresult r = load(s->binary, &m);
		if (!r)
			r = cuModuleGetGlobal_v2(at, bytes, m, s->name);
		return with_lock(r == EXEC_NOT_FOUND ? EXEC_INVALID_SYMBOL : r);
	}
	return with_lock(EXEC_INVALID_SYMBOL);
}

/* nvcc's code calls it before the program first touches a __managed__ variable. */
EXEC_API char __cudaInitModule(void **handle)
{
	struct cudart_table *t = &cudart_table;
	struct binary *b = (struct binary *)handle;
	pthread_mutex_lock(&t->lock);
	for (size_t i = 0; i < t->symbol_count; i++) {
		struct symbol *s = &t->symbol[i];
		CUdeviceptr at;
		size_t bytes;
		CUmodule m = NULL;
		if (s->binary == b && s->managed && !load(b, &m) && !cuModuleGetGlobal_v2(&at, &bytes, m, s->name))
			*s->managed = (void *)(uintptr_t)at;
	}
	with_lock(EXEC_OK);
	return 1;
}

/* ---- launches ---- */

EXEC_API unsigned __cudaPushCallConfiguration(struct dim3 grid, struct dim3 block, size_t shared, void *stream)
{
	if (cudart_calls.depth == CALLS)
		return 1;
	cudart_calls.call[cudart_calls.depth++] = (struct call){grid, block, shared, stream};
	return 0;
}

EXEC_API cudaError_t __cudaPopCallConfiguration(struct dim3 *grid, struct dim3 *block, size_t *shared, void *stream)
{
	if (!cudart_calls.depth)
		return cudart_result(EXEC_INVALID_CONFIGURATION);
	const struct call *c = &cudart_calls.call[--cudart_calls.depth];
	*grid = c->grid;
	*block = c->block;
	*shared = c->shared;
	memcpy(stream, &c->stream, sizeof c->stream);
	return EXEC_OK;
}

static bool is_shape(struct dim3 grid, struct dim3 block)
{
	int most = 0;
	cuDeviceGetAttribute(&most, 1, cudart_current());
	const uint64_t threads = (uint64_t)block.x * block.y * block.z;
	return threads && threads <= (uint64_t)most && grid.x && grid.y && grid.z;
}

static cudaError_t launch(CUfunction f, struct dim3 grid, struct dim3 block, void **args, size_t shared,
			  cudaStream_t stream)
{
	return is_shape(grid, block) ? cuLaunchKernel(f, grid.x, grid.y, grid.z, block.x, block.y, block.z,
						      (unsigned)shared, stream, args, NULL)
				     : EXEC_INVALID_CONFIGURATION;
}

EXEC_API cudaError_t cudaLaunchKernel(const void *host, struct dim3 grid, struct dim3 block, void **args, size_t shared,
				      cudaStream_t stream)
{
	CUfunction f;
	CUresult r = cudart_function(&f, host);
	return cudart_result(r ? r : launch(f, grid, block, args, shared, stream));
}

EXEC_API cudaError_t cudaLaunchCooperativeKernel(const void *host, struct dim3 grid, struct dim3 block, void **args,
						 size_t shared, cudaStream_t stream)
{
	CUfunction f;
	CUresult r = cudart_function(&f, host);
	if (!r && !is_shape(grid, block))
		r = EXEC_INVALID_CONFIGURATION;
	return cudart_result(r ? r
			       : cuLaunchCooperativeKernel(f, grid.x, grid.y, grid.z, block.x, block.y, block.z,
							   (unsigned)shared, stream, args));
}

EXEC_API cudaError_t __cudaGetKernel(CUfunction *kernel, const void *host)
{
	return cudart_result(cudart_function(kernel, host));
}

EXEC_API cudaError_t cudaGetKernel(CUfunction *kernel, const void *host)
{
	return cudart_result(cudart_function(kernel, host));
}

EXEC_API cudaError_t __cudaLaunchKernel(CUfunction f, struct dim3 grid, struct dim3 block, void **args, size_t shared,
					cudaStream_t stream)
{
	/* The kernel could not be had: what __cudaGetKernel said is the latest error already. */
	return f ? cudart_result(launch(f, grid, block, args, shared, stream)) : EXEC_INVALID_DEVICE_FUNCTION;
}

struct config { /* cudaLaunchConfig_t */
	struct dim3 grid, block;
	size_t shared;
	cudaStream_t stream;
	const struct exec_launch_attribute *attribute;
	unsigned attribute_count;
};

static struct exec_launch_config whole(const struct config *c)
{
	return (struct exec_launch_config){.grid = {c->grid.x, c->grid.y, c->grid.z},
					   .block = {c->block.x, c->block.y, c->block.z},
					   .shared = (unsigned)c->shared,
					   .stream = c->stream,
					   .attribute = c->attribute,
					   .attribute_count = c->attribute_count};
}

EXEC_API cudaError_t cudaOccupancyMaxActiveClusters(int *clusters, const void *host, const struct config *c)
{
	CUfunction f;
	CUresult r = cudart_function(&f, host);
	const struct exec_launch_config all = whole(c);
	return cudart_result(r ? r : cuOccupancyMaxActiveClusters(clusters, f, &all));
}

EXEC_API cudaError_t cudaOccupancyMaxPotentialClusterSize(int *blocks, const void *host, const struct config *c)
{
	CUfunction f;
	CUresult r = cudart_function(&f, host);
	const struct exec_launch_config all = whole(c);
	return cudart_result(r ? r : cuOccupancyMaxPotentialClusterSize(blocks, f, &all));
}

EXEC_API cudaError_t cudaLaunchKernelExC(const struct config *c, const void *host, void **args)
{
	CUfunction f;
	CUresult r = cudart_function(&f, host);
	if (!r && !is_shape(c->grid, c->block))
		r = EXEC_INVALID_CONFIGURATION;
	const struct exec_launch_config all = whole(c);
	return cudart_result(r ? r : cuLaunchKernelEx(&all, f, args, NULL));
}

EXEC_API cudaError_t cudaFuncGetAttributes(void *out, const void *host)
{
	struct { /* cudaFuncAttributes, its common begin */
		size_t shared, constants, local;
		int most_threads, registers, ptx_version, binary_version, cached, dynamic_shared, carveout;
	} a = {0};
	int v[EXEC_FUNC_DYNAMIC_SHARED + 1] = {0};
	CUfunction f;
	CUresult r = cudart_function(&f, host);
	for (int k = 0; !r && k <= EXEC_FUNC_DYNAMIC_SHARED; k++)
		r = cuFuncGetAttribute(&v[k], k, f);
	if (r)
		return cudart_result(r);
	a.shared = (size_t)v[EXEC_FUNC_SHARED];
	a.constants = (size_t)v[EXEC_FUNC_CONST];
	a.local = (size_t)v[EXEC_FUNC_LOCAL];
	a.most_threads = v[EXEC_FUNC_MOST_THREADS];
	a.registers = v[EXEC_FUNC_REGISTERS];
	a.ptx_version = v[EXEC_FUNC_PTX_VERSION];
	a.binary_version = v[EXEC_FUNC_BINARY_VERSION];
	a.dynamic_shared = v[EXEC_FUNC_DYNAMIC_SHARED];
	a.carveout = -1;
	memcpy(out, &a, sizeof a);
	return EXEC_OK;
}

EXEC_API cudaError_t cudaFuncSetAttribute(const void *host, int attribute, int v)
{
	CUfunction f;
	CUresult r = cudart_function(&f, host);
	return cudart_result(r ? r : cuFuncSetAttribute(f, attribute, v));
}

EXEC_API cudaError_t cudaFuncSetCacheConfig(const void *host, int config)
{
	CUfunction f;
	(void)config;
	return cudart_result(cudart_function(&f, host));
}

EXEC_API cudaError_t cudaFuncSetSharedMemConfig(const void *host, int config)
{
	return cudaFuncSetCacheConfig(host, config);
}

EXEC_API cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *host, int threads,
								   size_t shared)
{
	CUfunction f;
	CUresult r = cudart_function(&f, host);
	return cudart_result(r ? r : cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks, f, threads, shared));
}

EXEC_API cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const void *host, int threads,
									    size_t shared, unsigned flags)
{
	(void)flags;
	return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, host, threads, shared);
}
