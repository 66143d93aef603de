/* What programs ask of the driver beside launches: graphs, captures, libraries, pools, arrays, streams. */
#include "programs.h"
#include <stdio.h>

int cuGraphCreate(void **g, unsigned flags);
int cuGraphDestroy(void *g);
int cuGraphAddKernelNode_v2(void **n, void *g, void *const *after, size_t count, const void *params);
int cuGraphAddMemcpyNode(void **n, void *g, void *const *after, size_t count, const void *copy, void *context);
int cuGraphAddMemsetNode(void **n, void *g, void *const *after, size_t count, const void *fill, void *context);
int cuGraphAddHostNode(void **n, void *g, void *const *after, size_t count, const void *host);
int cuGraphAddChildGraphNode(void **n, void *g, void *const *after, size_t count, void *child);
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
int cuMemAllocManaged(gpu *p, size_t bytes, unsigned flags);
int cuMemHostRegister_v2(void *p, size_t bytes, unsigned flags);
int cuMemHostUnregister(void *p);
int cuMemcpyHtoDAsync_v2(gpu to, const void *from, size_t bytes, void *s);
int cuMemcpyDtoHAsync_v2(void *to, gpu from, size_t bytes, void *s);
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
int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, void *f, int threads, size_t shared);
int cuOccupancyMaxPotentialBlockSize(int *grid, int *block, void *f, void *of, size_t shared, int most);
int cuDeviceGetAttribute(int *v, int which, int device);
int cuModuleGetFunction(void **f, void *m, const char *name);

enum { N = 256 };
static int n = N;

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
struct how {
	int address[3], filter;
	unsigned flags, anisotropy;
	int level;
	float levels[3], border[4];
	int reserved[12];
};

static bool good(int r)
{
	if (r)
		printf("error %d\n", r);
	return !r;
}

/* step<<<2, 128, stream>>>(v, add, times, n) */
static bool step(void *stream, gpu v, int add, int times)
{
	void *params[] = {&v, &add, &times, &n};
	return good(cuLaunchKernel(function("step"), 2, 1, 1, N / 2, 1, 1, 0, stream, params, NULL));
}

static bool all_are(gpu v, int want)
{
	int got[N];
	from_gpu(got, v, sizeof got);
	for (int i = 0; i < N; i++)
		if (got[i] != want)
			return false;
	return true;
}

static void count(void *data)
{
	++*(int *)data;
}

/* ---- graphs ---- */

/* Set to 5, then v * 3 + 1, then copied; a host function beside. */
static bool graph_nodes(void)
{
	gpu v = to_gpu(NULL, N * sizeof(int));
	int add = 1, times = 3, calls = 0, out[N];
	void *g, *e, *node[4], *params[] = {&v, &add, &times, &n};
	struct kernel_node k = {.f = function("step"), .grid = {2, 1, 1}, .block = {N / 2, 1, 1}, .params = params};
	struct fill_node f = {v, 0, 5, 4, N, 1};
	struct host_node h = {count, &calls};
	struct copy c = {.from_type = DEVICE,
			 .from = v,
			 .to_type = HOST,
			 .to_host = out,
			 .width = sizeof out,
			 .height = 1,
			 .depth = 1};
	size_t nodes = 0, roots = 0;
	/* in an order in which only the dependencies are right */
	if (!good(cuGraphCreate(&g, 0)) || !good(cuGraphAddMemcpyNode(&node[0], g, NULL, 0, &c, NULL)) ||
	    !good(cuGraphAddKernelNode_v2(&node[1], g, NULL, 0, &k)) ||
	    !good(cuGraphAddMemsetNode(&node[2], g, NULL, 0, &f, NULL)) ||
	    !good(cuGraphAddHostNode(&node[3], g, &node[2], 1, &h)) ||
	    !good(cuGraphAddDependencies(g, &node[1], &node[0], 1)) ||
	    !good(cuGraphAddDependencies(g, &node[2], &node[1], 1)) || !good(cuGraphGetNodes(g, NULL, &nodes)) ||
	    !good(cuGraphGetRootNodes(g, NULL, &roots)) || !good(cuGraphInstantiateWithFlags(&e, g, 0)))
		return false;
	for (int k2 = 0; k2 < 3; k2++)
		if (!good(cuGraphLaunch(e, NULL)))
			return false;
	bool right = nodes == 4 && roots == 1 && calls == 3;
	for (int i = 0; i < N; i++)
		right = right && out[i] == 16;
	return right && good(cuGraphExecDestroy(e)) && good(cuGraphDestroy(g));
}

/* A circle cannot be instantiated. */
static bool graph_circle(void)
{
	struct host_node h = {count, NULL};
	void *g, *e, *node[2];
	return good(cuGraphCreate(&g, 0)) && good(cuGraphAddHostNode(&node[0], g, NULL, 0, &h)) &&
	       good(cuGraphAddHostNode(&node[1], g, &node[0], 1, &h)) &&
	       good(cuGraphAddDependencies(g, &node[1], &node[0], 1)) && cuGraphInstantiateWithFlags(&e, g, 0) == 1 &&
	       good(cuGraphDestroy(g));
}

/* Work of two streams, joined by events: nothing is done until the graph is launched. */
static bool graph_capture(void)
{
	gpu a = to_gpu(NULL, N * sizeof(int)), b = to_gpu(NULL, N * sizeof(int));
	void *s, *t, *fork, *join, *g, *e;
	int capturing = 0, calls = 0;
	if (!good(cuStreamCreate(&s, 1)) || !good(cuStreamCreate(&t, 1)) || !good(cuEventCreate(&fork, 0)) ||
	    !good(cuEventCreate(&join, 0)) || !good(cuStreamBeginCapture_v2(s, 0)) || !step(s, a, 2, 1) ||
	    !good(cuEventRecord(fork, s)) || !good(cuStreamWaitEvent(t, fork, 0)) || !step(t, b, 3, 1) ||
	    !good(cuEventRecord(join, t)) || !good(cuStreamWaitEvent(s, join, 0)) ||
	    !good(cuLaunchHostFunc(s, count, &calls)) || !good(cuStreamIsCapturing(t, &capturing)) ||
	    !good(cuStreamEndCapture(s, &g)))
		return false;
	bool right = capturing == 1 && all_are(a, 0) && all_are(b, 0) && !calls;
	right = right && good(cuGraphInstantiateWithFlags(&e, g, 0));
	for (int k = 0; right && k < 5; k++)
		right = good(cuGraphLaunch(e, s));
	right = right && good(cuStreamSynchronize(s)) && all_are(a, 10) && all_are(b, 15) && calls == 5;
	return right && step(t, b, 1, 1) && all_are(b, 16) && good(cuGraphExecDestroy(e)) && good(cuGraphDestroy(g)) &&
	       good(cuStreamDestroy_v2(s)) && good(cuStreamDestroy_v2(t));
}

static bool capture_steps(void **g, gpu v, int add, int times)
{
	void *s;
	return good(cuStreamCreate(&s, 1)) && good(cuStreamBeginCapture_v2(s, 0)) &&
	       good(cuMemsetD32Async(v, 1, N, s)) && step(s, v, add, times) && step(s, v, add, times) &&
	       good(cuStreamEndCapture(s, g)) && good(cuStreamDestroy_v2(s));
}

/* Other arguments for one node, then for all of them; a graph of another shape is refused. */
static bool graph_update(void)
{
	gpu v = to_gpu(NULL, N * sizeof(int));
	int add = 7, times = 1, result[8];
	void *g, *h, *e, *nodes[3], *params[] = {&v, &add, &times, &n};
	struct kernel_node k = {.f = function("step"), .grid = {2, 1, 1}, .block = {N / 2, 1, 1}, .params = params};
	size_t room = 3;
	if (!capture_steps(&g, v, 1, 2) || !capture_steps(&h, v, 0, 5) ||
	    !good(cuGraphInstantiateWithFlags(&e, g, 0)) || !good(cuGraphLaunch(e, NULL)) || !all_are(v, 7) ||
	    !good(cuGraphGetNodes(g, nodes, &room)) || room != 3)
		return false;
	if (!good(cuGraphExecKernelNodeSetParams_v2(e, nodes[2], &k)) || !good(cuGraphLaunch(e, NULL)) ||
	    !all_are(v, 10) || !good(cuGraphExecUpdate_v2(e, h, result)) || !good(cuGraphLaunch(e, NULL)) ||
	    !all_are(v, 25))
		return false;
	void *empty;
	return good(cuGraphCreate(&empty, 0)) && cuGraphExecUpdate_v2(e, empty, result) == 910 &&
	       good(cuGraphLaunch(e, NULL)) && all_are(v, 25) && good(cuGraphExecDestroy(e)) &&
	       good(cuGraphDestroy(g)) && good(cuGraphDestroy(h)) && good(cuGraphDestroy(empty));
}

static bool graph_child(void)
{
	gpu v = to_gpu(NULL, N * sizeof(int));
	int calls = 0;
	void *g, *child, *e, *node[2];
	struct host_node h = {count, &calls};
	return capture_steps(&child, v, 1, 3) && good(cuGraphCreate(&g, 0)) &&
	       good(cuGraphAddChildGraphNode(&node[0], g, NULL, 0, child)) && good(cuGraphDestroy(child)) &&
	       good(cuGraphAddHostNode(&node[1], g, &node[0], 1, &h)) && good(cuGraphInstantiateWithFlags(&e, g, 0)) &&
	       good(cuGraphLaunch(e, NULL)) && all_are(v, 13) && calls == 1 && good(cuGraphExecDestroy(e)) &&
	       good(cuGraphDestroy(g));
}

/* ---- libraries and pools ---- */

static bool library(void)
{
	static const char text[] =
	    ".version 6.0\n.target sm_30\n.address_size 64\n.global .u32 seven = 7;\n"
	    ".visible .entry a(.param .u64 p)\n{\n.reg .b64 %p;\n.reg .b32 %v;\n"
	    "ld.param.u64 %p, [p];\nld.global.u32 %v, [seven];\nst.global.u32 [%p], %v;\nret;\n}\n"
	    ".visible .entry b(.param .u64 p)\n{\nret;\n}\n";
	gpu out = to_gpu(NULL, 4), seven;
	void *lib, *k, *both[2], *params[] = {&out};
	unsigned kernels = 0, got = 0, nine = 9;
	const char *name = "";
	size_t bytes = 0;
	int registers = 0;
	if (!good(cuLibraryLoadData(&lib, text, NULL, NULL, 0, NULL, NULL, 0)) ||
	    !good(cuLibraryGetKernelCount(&kernels, lib)) || !good(cuLibraryEnumerateKernels(both, 2, lib)) ||
	    !good(cuLibraryGetKernel(&k, lib, "a")) || !good(cuKernelGetName(&name, k)) ||
	    !good(cuKernelGetAttribute(&registers, 4, k, 0)) ||
	    !good(cuLibraryGetGlobal(&seven, &bytes, lib, "seven")) || cuLibraryGetKernel(&k, lib, "c") != 500 ||
	    !good(cuLibraryGetKernel(&k, lib, "a")))
		return false;
	if (!good(cuMemcpyHtoDAsync_v2(seven, &nine, 4, NULL)) ||
	    !good(cuLaunchKernel(k, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL)))
		return false;
	from_gpu(&got, out, 4);
	return kernels == 2 && both[0] != both[1] && !strcmp(name, "a") && registers > 0 && bytes == 4 && got == 9 &&
	       good(cuLibraryUnload(lib));
}

static bool pools(void)
{
	enum { USED = 7, USED_MOST = 8 };
	void *own, *common, *s;
	gpu a, b, c;
	uint64_t used = 0, most = 0, after = 1;
	if (!good(cuStreamCreate(&s, 0)) || !good(cuDeviceGetDefaultMemPool(&common, 0)) ||
	    !good(cuMemPoolCreate(&own, NULL)) || !good(cuMemAllocFromPoolAsync(&a, 4096, own, s)) ||
	    !good(cuMemAllocFromPoolAsync(&b, 1024, own, s)) || !good(cuMemAllocAsync(&c, N * sizeof(int), s)) ||
	    !good(cuMemPoolGetAttribute(own, USED, &used)) || !good(cuMemFreeAsync(a, s)) ||
	    !good(cuMemFreeAsync(b, s)) || !good(cuMemPoolGetAttribute(own, USED_MOST, &most)) ||
	    !good(cuMemPoolGetAttribute(own, USED, &after)))
		return false;
	return own != common && used == 5120 && most == 5120 && !after && good(cuMemsetD32Async(c, 4, N, s)) &&
	       step(s, c, 1, 2) && all_are(c, 9) && good(cuMemFreeAsync(c, s)) && cuMemFreeAsync(c, s) == 1 &&
	       good(cuMemPoolDestroy(own));
}

/* ---- arrays ---- */

static void *array_of(const void *data, size_t w, size_t h, size_t d, int format, unsigned flags)
{
	const struct shape s = {w, h, d, format, 1, flags};
	void *a = NULL;
	if (!good(cuArray3DCreate_v2(&a, &s)))
		return NULL;
	const struct copy c = {.from_type = HOST,
			       .from_host = data,
			       .from_pitch = 4 * w,
			       .from_height = h,
			       .to_type = ARRAY,
			       .to_array = a,
			       .width = 4 * w,
			       .height = h ? h : 1,
			       .depth = d ? d : 1};
	return !data || good(cuMemcpy3D_v2(&c)) ? a : NULL;
}

static gpu surface_of(void *array)
{
	const struct resource r = {.of.array = array};
	gpu s = 0;
	return array && good(cuSurfObjectCreate(&s, &r)) ? s : 0;
}

static gpu texture_of(void *array, bool filtered)
{
	const struct resource r = {.of.array = array};
	const struct how h = {.address = {1, 1, 1}, .filter = filtered};
	gpu t = 0;
	return array && good(cuTexObjectCreate(&t, &r, &h, NULL)) ? t : 0;
}

static bool surface_turn(void)
{
	enum { W = 24, H = 10 };
	int v[H][W], got[W][H], w = W, h = H;
	for (int y = 0; y < H; y++)
		for (int x = 0; x < W; x++)
			v[y][x] = 100 * y + x;
	void *a = array_of(v, W, H, 0, S32, SURFACES), *b = array_of(NULL, H, W, 0, S32, SURFACES);
	gpu from = surface_of(a), to = surface_of(b);
	if (!from || !to)
		return false;
	go("surface_turn", 3, 2, 8, 8, &from, &to, &w, &h, NULL);
	const struct copy c = {.from_type = ARRAY,
			       .from_array = b,
			       .to_type = HOST,
			       .to_host = got,
			       .to_pitch = 4 * H,
			       .width = 4 * H,
			       .height = W,
			       .depth = 1};
	bool right = good(cuMemcpy3D_v2(&c));
	for (int y = 0; y < H; y++)
		for (int x = 0; x < W; x++)
			right = right && got[x][y] == v[y][x] + 1;
	return right && good(cuSurfObjectDestroy(from)) && good(cuSurfObjectDestroy(to)) && good(cuArrayDestroy(a)) &&
	       good(cuArrayDestroy(b));
}

static bool surface_edges(void)
{
	enum { W = 8 };
	int v[W], got[W + 8][2], w = W;
	for (int x = 0; x < W; x++)
		v[x] = 10 + x;
	gpu s = surface_of(array_of(v, W, 0, 0, S32, SURFACES)), out = to_gpu(NULL, sizeof got);
	if (!s)
		return false;
	go("surface_edges", 1, 1, W + 8, 1, &s, &out, &w, NULL);
	from_gpu(got, out, sizeof got);
	for (int k = 0; k < W + 8; k++) {
		const int x = k - 4, at = x < 0 ? 0 : x >= W ? W - 1 : x;
		if (got[k][0] != (x == at ? v[x] : 0) || got[k][1] != v[at])
			return false;
	}
	return true;
}

/* Between texel centres the filter gives the mean of those around. */
static bool texture_flat(void)
{
	enum { W = 8, T = 12 };
	float v[W][W], got[T][T];
	int w = T;
	for (int y = 0; y < W; y++)
		for (int x = 0; x < W; x++)
			v[y][x] = (float)(x + 16 * y);
	gpu t = texture_of(array_of(v, W, W, 0, F32, 0), true), out = to_gpu(NULL, sizeof got);
	if (!t)
		return false;
	go("texture_flat", 1, 1, T, T, &t, &out, &w, NULL);
	from_gpu(got, out, sizeof got);
	for (int y = 0; y < T; y++)
		for (int x = 0; x < T; x++) {
			const float fx = x ? 0.5f * (float)x - 0.5f : 0, fy = y ? 0.5f * (float)y - 0.5f : 0;
			if (got[y][x] != fx + 16 * fy)
				return false;
		}
	return good(cuTexObjectDestroy(t));
}

static bool texture_layers(void)
{
	enum { W = 4, L = 3 };
	float v[L][W][W], got[L][W][W];
	int w = W;
	for (int k = 0; k < L * W * W; k++)
		v[k / (W * W)][k / W % W][k % W] = (float)(k * k);
	gpu t = texture_of(array_of(v, W, W, L, F32, LAYERED), false), out = to_gpu(NULL, sizeof got);
	if (!t)
		return false;
	go("texture_layers", L, 1, W, W, &t, &out, &w, NULL);
	from_gpu(got, out, sizeof got);
	return !memcmp(v, got, sizeof v);
}

/* The middle of each face, in the order of the layers. */
static bool texture_cube(void)
{
	static const float xyz[6][3] = {{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}};
	float v[6][4], got[6];
	for (int k = 0; k < 24; k++)
		v[k / 4][k % 4] = (float)(k / 4);
	gpu t = texture_of(array_of(v, 2, 2, 6, F32, CUBE), false), at = to_gpu(xyz, sizeof xyz),
	    out = to_gpu(NULL, sizeof got);
	if (!t)
		return false;
	go("texture_cube", 1, 1, 6, 1, &t, &at, &out, NULL);
	from_gpu(got, out, sizeof got);
	for (int k = 0; k < 6; k++)
		if (got[k] != (float)k)
			return false;
	return true;
}

static bool texture_gather(void)
{
	enum { W = 4 };
	float v[W][W], got[2][4];
	for (int k = 0; k < W * W; k++)
		v[k / W][k % W] = (float)k;
	gpu t = texture_of(array_of(v, W, W, 0, F32, 8), false), out = to_gpu(NULL, sizeof got);
	if (!t)
		return false;
	go("texture_gather", 1, 1, 2, 1, &t, &out, NULL);
	from_gpu(got, out, sizeof got);
	for (int x = 0; x < 2; x++)
		if (got[x][0] != v[2][x] || got[x][1] != v[2][x + 1] || got[x][2] != v[1][x + 1] ||
		    got[x][3] != v[1][x])
			return false;
	return true;
}

static bool texture_line(void)
{
	int v[N], got[N];
	for (int i = 0; i < N; i++)
		v[i] = (int)number() - 1000;
	gpu dv = to_gpu(v, sizeof v), out = to_gpu(NULL, sizeof got), t;
	const struct resource r = {.kind = 2, .of.linear = {dv, S32, 1, sizeof v}};
	const struct how h = {.flags = 1};
	if (!good(cuTexObjectCreate(&t, &r, &h, NULL)))
		return false;
	go("texture_line", 2, 1, N / 2, 1, &t, &out, &n, NULL);
	from_gpu(got, out, sizeof got);
	for (int i = 0; i < N; i++)
		if (got[i] != v[N - 1 - i])
			return false;
	return true;
}

/* ---- streams, memory, launches ---- */

static bool streams(void)
{
	gpu v = to_gpu(NULL, N * sizeof(int));
	int up[N], down[N];
	void *s, *from, *to;
	float ms = -1;
	for (int i = 0; i < N; i++)
		up[i] = 3;
	if (!good(cuStreamCreate(&s, 1)) || !good(cuEventCreate(&from, 0)) || !good(cuEventCreate(&to, 0)) ||
	    !good(cuEventRecord(from, s)) || !good(cuMemcpyHtoDAsync_v2(v, up, sizeof up, s)) || !step(s, v, 1, 2) ||
	    !good(cuMemcpyDtoHAsync_v2(down, v, sizeof down, s)) || !good(cuEventRecord(to, s)) ||
	    !good(cuStreamSynchronize(s)) || !good(cuEventElapsedTime(&ms, from, to)) || !good(cuEventDestroy_v2(to)))
		return false;
	for (int i = 0; i < N; i++)
		if (down[i] != 7)
			return false;
	return ms > 0 && ms < 100;
}

static bool managed(void)
{
	gpu p;
	if (!good(cuMemAllocManaged(&p, N * sizeof(int), 1)))
		return false;
	int *v = (int *)(uintptr_t)p;
	for (int i = 0; i < N; i++)
		v[i] = i;
	if (!step(NULL, p, 5, 3))
		return false;
	for (int i = 0; i < N; i++)
		if (v[i] != 3 * i + 5)
			return false;
	return true;
}

static bool registered(void)
{
	static int v[N];
	if (!good(cuMemHostRegister_v2(v, sizeof v, 0)) || !step(NULL, (uintptr_t)v, 6, 1) ||
	    !good(cuMemHostUnregister(v)))
		return false;
	for (int i = 0; i < N; i++)
		if (v[i] != 6)
			return false;
	return cuMemHostUnregister(v) == 713;
}

static bool occupancy(void)
{
	int blocks = 0, fewer = 0, grid = 0, block = 0, sms = 0, most = 0;
	return good(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function("step"), 64, 0)) &&
	       good(cuOccupancyMaxActiveBlocksPerMultiprocessor(&fewer, function("step"), 64, 8192)) &&
	       good(cuOccupancyMaxPotentialBlockSize(&grid, &block, function("step"), NULL, 0, 0)) &&
	       good(cuDeviceGetAttribute(&sms, 16, 0)) && good(cuDeviceGetAttribute(&most, 1, 0)) && blocks > 0 &&
	       fewer <= blocks && block > 0 && block <= most && grid % sms == 0 && grid >= sms;
}

/* As many blocks as are there at once meet; one more is too many. */
static bool cooperative(void)
{
	int blocks = 0, sms = 0, count = 1000, all[64];
	gpu part = to_gpu(NULL, sizeof all), out = to_gpu(NULL, sizeof all);
	void *f = function("grid_sum"), *params[] = {&part, &out, &count};
	if (!good(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, f, 32, 0)) ||
	    !good(cuDeviceGetAttribute(&sms, 16, 0)))
		return false;
	const unsigned most = (unsigned)(blocks * sms), grid = most < 64 ? most : 64;
	if (!good(cuLaunchCooperativeKernel(f, grid, 1, 1, 32, 1, 1, 0, NULL, params)))
		return false;
	from_gpu(all, out, sizeof all);
	for (unsigned k = 0; k < grid; k++)
		if (all[k] != 999 * 1000 / 2)
			return false;
	return cuLaunchCooperativeKernel(f, most + 1, 1, 1, 32, 1, 1, 0, NULL, params) == 720;
}

static bool links(void)
{
	int got[64], length = 9;
	gpu out = to_gpu(NULL, sizeof got);
	go("links", 1, 1, 64, 1, &out, &length, NULL);
	from_gpu(got, out, sizeof got);
	for (int i = 0; i < 64; i++)
		if (got[i] != 36 * (i + 1))
			return false;
	return true;
}

static bool butterfly(void)
{
	int v[64], got[2][33];
	for (int i = 0; i < 64; i++)
		v[i] = (int)(number() % 1000);
	gpu d = to_gpu(v, sizeof v), out = to_gpu(NULL, sizeof got);
	go("butterfly", 2, 1, 32, 1, &d, &out, NULL);
	from_gpu(got, out, sizeof got);
	for (int b = 0; b < 2; b++) {
		int sum = 0;
		for (int i = 0; i < 32; i++) {
			sum += v[32 * b + i];
			if (got[b][i] != sum)
				return false;
		}
		if (got[b][32] != sum)
			return false;
	}
	return true;
}

static bool pointers(void)
{
	int which[N], v[N], got[N];
	for (int i = 0; i < N; i++) {
		which[i] = (int)(number() % 3);
		v[i] = (int)(number() % 1000);
	}
	gpu dw = to_gpu(which, sizeof which), dv = to_gpu(v, sizeof v);
	go("pointers", 2, 1, N / 2, 1, &dw, &dv, &n, NULL);
	from_gpu(got, dv, sizeof got);
	for (int i = 0; i < N; i++)
		if (got[i] != (which[i] == 0 ? 2 * v[i] : which[i] == 1 ? v[i] * v[i] : -v[i]))
			return false;
	return true;
}

static bool bytes4(void)
{
	uint32_t a[N], b[N], got[N][3];
	for (int i = 0; i < N; i++) {
		a[i] = number() << 12 ^ number();
		b[i] = number() << 12 ^ number();
	}
	gpu da = to_gpu(a, sizeof a), db = to_gpu(b, sizeof b), out = to_gpu(NULL, sizeof got);
	go("bytes4", 2, 1, N / 2, 1, &da, &db, &out, &n, NULL);
	from_gpu(got, out, sizeof got);
	for (int i = 0; i < N; i++) {
		uint32_t dot = (uint32_t)i, sad = 0;
		for (int k = 0; k < 32; k += 8) {
			const uint32_t x = a[i] >> k & 255, y = b[i] >> k & 255;
			dot += x * y;
			sad += x > y ? x - y : y - x;
		}
		const uint64_t both = (uint64_t)b[i] << 32 | a[i];
		if (got[i][0] != dot || got[i][1] != sad || got[i][2] != (uint32_t)(both << (i & 31) >> 32))
			return false;
	}
	return true;
}

static bool greatest(void)
{
	float v[N], most = 0, got;
	for (int i = 0; i < N; i++) {
		v[i] = (float)(number() % 100000) / 7;
		most = v[i] > most ? v[i] : most;
	}
	gpu d = to_gpu(v, sizeof v), out = to_gpu(NULL, 4);
	go("greatest", 2, 1, N / 2, 1, &d, &out, &n, NULL);
	from_gpu(&got, out, 4);
	return got == most;
}

/* Of a module the kernel that launches others is refused; all the others run. */
static bool launches(void)
{
	void *f;
	return cuModuleGetFunction(&f, all_kernels(), "launches") == 218 && graph_child();
}

const struct program programs_of_calls[] = {{"graph_nodes", graph_nodes},
					    {"graph_circle", graph_circle},
					    {"graph_capture", graph_capture},
					    {"graph_update", graph_update},
					    {"graph_child", graph_child},
					    {"library", library},
					    {"pools", pools},
					    {"surface_turn", surface_turn},
					    {"surface_edges", surface_edges},
					    {"texture_flat", texture_flat},
					    {"texture_layers", texture_layers},
					    {"texture_cube", texture_cube},
					    {"texture_gather", texture_gather},
					    {"texture_line", texture_line},
					    {"streams", streams},
					    {"managed", managed},
					    {"registered", registered},
					    {"occupancy", occupancy},
					    {"cooperative", cooperative},
					    {"links", links},
					    {"butterfly", butterfly},
					    {"pointers", pointers},
					    {"bytes4", bytes4},
					    {"greatest", greatest},
					    {"launches", launches},
					    {NULL, NULL}};
