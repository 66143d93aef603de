/* A CUDA program without CUDA: it registers a fat binary as the code does that nvcc makes, and checks what comes out. Its
 * first argument says which:
 *
 *   plain, lz4  the PTX as it is, or compressed
 *   driver      through the driver's interface
 *   link        likewise, of two modules
 *   managed, events, textures, described
 *   mapped      memory at addresses that were reserved
 *   names       textures and surfaces that a module names
 *   apart       of two parts, as nvcc -rdc=true leaves them
 *   careless, neighbours
 *               wrong in ways that only --check sees
 *   endless     a kernel that counts for hours
 *
 * These have to fail:
 *
 *   unserved, fault
 *   new         PTX for a GPU that this is not
 *   native      no PTX */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what the headers of CUDA would declare ---- */
struct dim3 {
	unsigned x, y, z;
};
void **__cudaRegisterFatBinary(void *image);
void __cudaRegisterFatBinaryEnd(void **handle);
void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name, int threads, void *a,
			    void *b, void *c, void *d, int *size);
void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int ext, size_t bytes, int constant,
		       int global);
unsigned __cudaPushCallConfiguration(struct dim3 grid, struct dim3 block, size_t shared, void *stream);
int __cudaPopCallConfiguration(struct dim3 *grid, struct dim3 *block, size_t *shared, void *stream);
int cudaLaunchKernel(const void *host, struct dim3 grid, struct dim3 block, void **args, size_t shared, void *stream);
int cudaLaunchKernel_ptsz(const void *host, struct dim3 grid, struct dim3 block, void **args, size_t shared,
			  void *stream);
int cudaGetDeviceCount(int *count);
int cudaGetDevice(int *device);
int cudaSetDevice(int device);
int cudaMallocHost(void **p, size_t bytes);
int cudaPointerGetAttributes(void *out, const void *p);
int cudaMalloc(void **p, size_t bytes);
int cudaMallocManaged(void **p, size_t bytes, unsigned flags);
int cudaStreamAttachMemAsync(void *s, void *p, size_t bytes, unsigned flags);
int cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device, size_t bytes, void *s);
int cudaDeviceGetPCIBusId(char *name, int room, int device);
int cudaDeviceGetByPCIBusId(int *device, const char *name);
int cudaFree(void *p);
int cudaMemset(void *p, int v, size_t bytes);
int cudaMemcpy(void *to, const void *from, size_t bytes, int kind);
int cudaMemcpy_ptds(void *to, const void *from, size_t bytes, int kind);
int cudaMemcpyToSymbol(const void *symbol, const void *from, size_t bytes, size_t offset, int kind);
int cudaMemcpyFromSymbol(void *to, const void *symbol, size_t bytes, size_t offset, int kind);
int cudaDeviceSynchronize(void);
int cudaGetLastError(void);
const char *cudaGetErrorString(int r);
const char *cudaGetErrorName(int r);
int cudaEventCreate(void **e);
int cudaEventRecord(void *e, void *stream);
int cudaEventElapsedTime(float *ms, void *from, void *to);
int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *host, int threads, size_t shared);
void cudaGraphDebugDotPrint(void);
int cuInit(unsigned flags);
int cuDeviceGetName(char *name, int len, int device);
int cuCtxCreate_v2(void **c, unsigned flags, int device);
int cudaMallocArray(void **a, const int channel[5], size_t width, size_t height, unsigned flags);
int cudaArrayGetInfo(int channel[5], size_t extent[3], unsigned *flags, void *a);
int cudaCreateTextureObject(uint64_t *t, const void *what, const void *how, const void *view);
int cudaCreateSurfaceObject(uint64_t *s, const void *what);
int cudaGetTextureObjectResourceDesc(void *what, uint64_t t);
int cudaGetSurfaceObjectResourceDesc(void *what, uint64_t s);
int cudaGetTextureObjectTextureDesc(void *how, uint64_t t);
int cuMemGetAllocationGranularity(size_t *bytes, const void *how, int option);
int cuMemAddressReserve(uint64_t *at, size_t bytes, size_t align, uint64_t wish, uint64_t flags);
int cuMemAddressFree(uint64_t at, size_t bytes);
int cuMemCreate(uint64_t *piece, size_t bytes, const void *how, uint64_t flags);
int cuMemRelease(uint64_t piece);
int cuMemMap(uint64_t at, size_t bytes, size_t offset, uint64_t piece, uint64_t flags);
int cuMemUnmap(uint64_t at, size_t bytes);
int cuMemSetAccess(uint64_t at, size_t bytes, const void *who, size_t count);
int cuArrayCreate_v2(void **out, const void *shape);
int cuModuleGetTexRef(void **out, void *module, const char *name);
int cuModuleGetSurfRef(void **out, void *module, const char *name);
int cuTexRefSetFormat(void *r, int format, int channels);
int cuTexRefSetFlags(void *r, unsigned flags);
int cuTexRefSetAddress_v2(size_t *offset, void *r, uint64_t at, size_t bytes);
int cuTexRefSetArray(void *r, void *array, unsigned flags);
int cuSurfRefSetArray(void *r, void *array, unsigned flags);
int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t bytes);
int cuModuleLoadData(void **m, const void *image);
int cuModuleLoadDataEx(void **m, const void *image, unsigned n, const int *option, void **value);
int cuLinkCreate_v2(unsigned n, const int *option, void **value, void **link);
int cuLinkAddData_v2(void *link, int type, const void *data, size_t bytes, const char *name, unsigned n,
		     const int *option, void **value);
int cuLinkComplete(void *link, void **image, size_t *bytes);
int cuLinkDestroy(void *link);
int cuModuleGetFunction(void **f, void *m, const char *name);
int cuModuleGetGlobal_v2(uint64_t *p, size_t *bytes, void *m, const char *name);
int cuMemAlloc_v2(uint64_t *p, size_t bytes);
int cuMemFree_v2(uint64_t p);
int cuMemsetD32_v2(uint64_t p, unsigned v, size_t n);
int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t bytes);
int cuMemcpyDtoH_v2_ptds(void *to, uint64_t from, size_t bytes);
int cuLaunchKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
		   unsigned shared, void *stream, void **params, void **extra);
int cuGetProcAddress_v2(const char *name, void **p, int version, uint64_t flags, int *status);

enum { TO_DEVICE = 1, TO_HOST = 2, N = 1000 };

static const char ptx[] =
    ".version 6.0\n.target %s\n.address_size 64\n"
    ".visible .global .align 4 .u32 total;\n"
    ".visible .const .align 4 .f32 factor[2] = {0f3f800000, 0f40000000};\n"
    /* y[i] = factor[0] * x[i] + factor[1]; total += 1 */
    ".visible .entry scale(.param .u64 scale_y, .param .u64 scale_x, .param .u32 scale_n)\n{\n"
    "\t.reg .u32 %%r<8>; .reg .u64 %%d<8>; .reg .f32 %%f<5>; .reg .pred %%p;\n"
    "\tld.param.u64 %%d0, [scale_y]; ld.param.u64 %%d1, [scale_x]; ld.param.u32 %%r0, [scale_n];\n"
    "\tmov.u32 %%r1, %%ctaid.x; mov.u32 %%r2, %%ntid.x; mov.u32 %%r3, %%tid.x;\n"
    "\tmad.lo.u32 %%r4, %%r1, %%r2, %%r3; setp.ge.u32 %%p, %%r4, %%r0; @%%p ret;\n"
    "\tcvta.to.global.u64 %%d0, %%d0; cvta.to.global.u64 %%d1, %%d1; mul.wide.u32 %%d2, %%r4, 4;\n"
    "\tadd.u64 %%d0, %%d0, %%d2; add.u64 %%d1, %%d1, %%d2; ld.global.f32 %%f0, [%%d1];\n"
    "\tld.const.f32 %%f1, [factor]; ld.const.f32 %%f2, [factor+4]; fma.rn.f32 %%f3, %%f0, %%f1, %%f2;\n"
    "\tst.global.f32 [%%d0], %%f3; mov.u64 %%d3, total; atom.global.add.u32 %%r5, [%%d3], 1; ret;\n}\n"
    ".visible .entry careless(.param .u64 careless_p)\n{\n"
    "\t.reg .u32 %%r<5>; .reg .u64 %%d<4>; .shared .align 4 .b8 room[256];\n"
    "\tld.param.u64 %%d0, [careless_p]; mov.u32 %%r0, %%tid.x; mul.wide.u32 %%d1, %%r0, 4; add.u64 %%d1, %%d1, %%d0;\n"
    "\tld.global.u32 %%r1, [%%d1];\n"
    "\tmov.u64 %%d2, room; mul.wide.u32 %%d3, %%r0, 4; add.u64 %%d3, %%d3, %%d2; st.shared.u32 [%%d3], %%r1;\n"
    "\tld.shared.u32 %%r2, [room+252];\n"
    "\tst.global.u32 [%%d1+400], %%r2; ret;\n}\n"
    ".visible .entry wild()\n{\n\t.reg .u64 %%d; mov.u64 %%d, 0x7000000000; st.global.u64 [%%d], %%d; ret;\n}\n"
    ".visible .entry endless()\n{\n\t.reg .u64 %%d; mov.u64 %%d, 0;\nL:\tadd.u64 %%d, %%d, 1; bra L;\n}\n";

/* ---- a fat binary ---- */
static uint8_t image[16384];
static struct {
	uint32_t magic, version;
	const void *data, *name;
} wrapper = {0x466243b1, 1, image, NULL};

static void put(size_t at, uint64_t v, size_t bytes)
{
	memcpy(image + at, &v, bytes);
}

/* LZ4: all as literals but for the second "ld.param.u64 ", which goes back to the first. */
static size_t lz4(uint8_t *out, const char *in, size_t n)
{
	const char *first = strstr(in, "ld.param.u64 "), *second = first ? strstr(first + 1, "ld.param.u64 ") : NULL;
	size_t o = 0, from = 0;
	if (!second)
		abort();
	const size_t cut = (size_t)(second - in), back = (size_t)(second - first), copied = strlen("ld.param.u64 ");
	for (int last = 0; last < 2; last++) {
		const size_t literals = last ? n - from : cut;
		size_t left = literals - 15;
		out[o++] = (uint8_t)(0xf0 | (last ? 0 : copied - 4));
		for (; left >= 255; left -= 255)
			out[o++] = 255;
		out[o++] = (uint8_t)left;
		memcpy(out + o, in + from, literals);
		o += literals;
		from += literals;
		if (!last) {
			out[o++] = (uint8_t)back;
			out[o++] = (uint8_t)(back >> 8);
			from += copied;
		}
	}
	return o;
}

static void make_image(const char *target, bool packed, bool native)
{
	enum { HEADER = 16, ENTRY = 64 };
	char text[4096];
	const size_t n = (size_t)snprintf(text, sizeof text, ptx, target) + 1;
	uint8_t *data = image + HEADER + ENTRY;
	size_t bytes = n;
	if (packed)
		bytes = lz4(data, text, n);
	else
		memcpy(data, text, n);
	const size_t padded = (bytes + 7) / 8 * 8;
	put(0, 0xba55ed50, 4);
	put(4, 1, 2);
	put(6, HEADER, 2);
	put(8, ENTRY + padded, 8);
	put(HEADER, native ? 2 : 1, 2);
	put(HEADER + 4, ENTRY, 4);
	put(HEADER + 8, padded, 8);
	put(HEADER + 16, packed ? bytes : 0, 4);
	put(HEADER + 28, (uint64_t)strtol(target + 3, NULL, 10), 4);
	put(HEADER + 40, packed ? 0x2011 : 0x11, 8);
	put(HEADER + 56, packed ? n : 0, 8);
}

/* ---- the program ---- */
static char scale_stub, wild_stub, endless_stub, careless_stub, total_shadow, factor_shadow;

static void check(bool good, const char *what)
{
	if (good)
		return;
	printf("wrong: %s\n", what);
	exit(1);
}

static void register_all(void)
{
	void **h = __cudaRegisterFatBinary(&wrapper);
	__cudaRegisterFunction(h, &scale_stub, "scale", "scale", -1, NULL, NULL, NULL, NULL, NULL);
	__cudaRegisterFunction(h, &wild_stub, "wild", "wild", -1, NULL, NULL, NULL, NULL, NULL);
	__cudaRegisterFunction(h, &endless_stub, "endless", "endless", -1, NULL, NULL, NULL, NULL, NULL);
	__cudaRegisterFunction(h, &careless_stub, "careless", "careless", -1, NULL, NULL, NULL, NULL, NULL);
	__cudaRegisterVar(h, &total_shadow, "total", "total", 0, 4, 0, 0);
	__cudaRegisterVar(h, &factor_shadow, "factor", "factor", 0, 8, 1, 0);
	__cudaRegisterFatBinaryEnd(h);
}

/* stub<<<grid, block>>>(args) */
static int launch(const void *stub, unsigned grid, unsigned block, void **args)
{
	struct dim3 g, b;
	size_t shared;
	void *stream;
	if (__cudaPushCallConfiguration((struct dim3){grid, 1, 1}, (struct dim3){block, 1, 1}, 0, NULL) ||
	    __cudaPopCallConfiguration(&g, &b, &shared, &stream))
		return -1;
	/* As code does that is built for a default stream of each thread. */
	return (grid > 1 ? cudaLaunchKernel_ptsz : cudaLaunchKernel)(stub, g, b, args, shared, stream);
}

/* Every error that our libraries return has a name and words, as NVIDIA's have. */
static void words_of_errors(void)
{
	static const int codes[] = {0,	 1,   2,   3,	9,   13,  98,  100, 101, 200, 201, 209, 218, 301, 400, 500,
				    600, 700, 701, 702, 704, 710, 712, 713, 715, 716, 719, 720, 801, 910, 912, 999};
	for (size_t k = 0; k < sizeof codes / sizeof *codes; k++)
		check(!strstr(cudaGetErrorString(codes[k]), "unrecognized") && !strstr(cudaGetErrorName(codes[k]), " "),
		      "the words of an error");
	check(strstr(cudaGetErrorString(12345), "unrecognized") != NULL, "the words of none");
}

static int runtime(bool managed)
{
	float *x, *y, host[N], factor[2] = {3, 4}, ms = -1;
	unsigned n = N, total = 0;
	void *from, *to;
	int blocks = 0;
	words_of_errors();
	check((managed ? cudaMallocManaged((void **)&x, sizeof host, 1) : cudaMalloc((void **)&x, sizeof host)) == 0,
	      "allocation");
	check((managed ? cudaMallocManaged((void **)&y, sizeof host, 1) : cudaMalloc((void **)&y, sizeof host)) == 0,
	      "allocation");
	for (int i = 0; i < N; i++)
		(managed ? x : host)[i] = (float)i;
	if (!managed)
		check(cudaMemcpy(x, host, sizeof host, TO_DEVICE) == 0 &&
			  cudaMemcpyPeerAsync(y, 0, x, 0, sizeof host, NULL) == 0 &&
			  cudaMemcpyPeerAsync(y, 1, x, 0, sizeof host, NULL) == 101,
		      "copy to the device");
	else
		check(cudaStreamAttachMemAsync(NULL, x, 0, 4) == 0, "memory of a stream");
	char bus[16] = "";
	check(cudaDeviceGetPCIBusId(bus, sizeof bus, 0) == 0 && cudaDeviceGetByPCIBusId(&blocks, bus) == 0 && !blocks,
	      "the device by its bus");
	check(cudaEventCreate(&from) == 0 && cudaEventCreate(&to) == 0 && cudaEventRecord(from, NULL) == 0, "events");
	int r = launch(&scale_stub, (N + 127) / 128, 128, (void *[]){&y, &x, &n});
	if (r) {
		printf("launch: %s\n", cudaGetErrorString(r));
		return 1;
	}
	check(cudaEventRecord(to, NULL) == 0 && cudaDeviceSynchronize() == 0, "the launch");
	check(cudaEventElapsedTime(&ms, from, to) == 0 && ms > 0 && ms < 1, "simulated time");
	check(cudaMemcpyToSymbol(&factor_shadow, factor, sizeof factor, 0, TO_DEVICE) == 0, "a constant");
	check(launch(&scale_stub, (N + 127) / 128, 128, (void *[]){&x, &y, &n}) == 0, "the second launch");
	check(cudaMemcpyFromSymbol(&total, &total_shadow, sizeof total, 0, TO_HOST) == 0 && total == 2 * N,
	      "a variable");
	if (!managed)
		check(cudaMemcpy_ptds(host, x, sizeof host, TO_HOST) == 0, "copy to the host");
	for (int i = 0; i < N; i++)
		check((managed ? x : host)[i] == 3 * ((float)i + 2) + 4, "a result");
	check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, &scale_stub, 128, 0) == 0 && blocks >= 4,
	      "the occupancy");
	check(cudaMemcpy(host, x, sizeof host * 2, TO_HOST) == 1 && cudaGetLastError() == 1 && cudaGetLastError() == 0,
	      "a copy beyond the end");
	check(cudaFree(x) == 0 && cudaFree(y) == 0 && cudaFree(y) == 1, "freeing");
	puts("good");
	return 0;
}

static int driver(void)
{
	void *context, *module, *f;
	uint64_t x, y, total;
	unsigned n = N, count = 0;
	size_t bytes = 0;
	float host[N];
	char text[4096];
	int (*by_name)(uint64_t *, size_t) = NULL;
	snprintf(text, sizeof text, ptx, "sm_50");
	check(cuInit(0) == 0 && cuCtxCreate_v2(&context, 0, 0) == 0, "the context");
	check(cuModuleLoadData(&module, text) == 0 && cuModuleGetFunction(&f, module, "scale") == 0, "the module");
	check(cuModuleGetFunction(&f, module, "none") == 500 && cuModuleGetFunction(&f, module, "scale") == 0,
	      "a name");
	check(cuGetProcAddress_v2("cuMemAlloc", (void **)&by_name, 12000, 0, NULL) == 0 && by_name, "cuGetProcAddress");
	check(by_name(&x, sizeof host) == 0 && cuMemAlloc_v2(&y, sizeof host) == 0, "allocation");
	check(cuMemsetD32_v2(x, 0x40400000, N) == 0, "filling"); /* 3.0f */
	check(cuLaunchKernel(f, (N + 63) / 64, 1, 1, 64, 1, 1, 0, NULL, (void *[]){&y, &x, &n}, NULL) == 0,
	      "the launch");
	check(cuMemcpyDtoH_v2(host, y, sizeof host) == 0, "copy to the host");
	check(cuModuleGetGlobal_v2(&total, &bytes, module, "total") == 0 && bytes == 4, "a variable");
	check(cuMemcpyDtoH_v2_ptds(&count, total, 4) == 0 && count == N, "what it counted");
	check(cuMemFree_v2(total) == 1, "a module's variable is not the program's to free");
	for (int i = 0; i < N; i++)
		check(host[i] == 5, "a result");
	puts("good");
	return 0;
}

/* Two GPUs: each has its memory, its kernels and variables; page-locked memory is both's, and what is copied may go across. */
static int devices(void)
{
	float *x[2], *y[2], *host, other[N];
	char name[2][64];
	unsigned n = N, total = 0;
	int count = 0, now = -1;
	struct {
		int type, device;
		void *at, *on_host;
	} a;
	check(cudaGetDeviceCount(&count) == 0 && count == 2, "how many");
	check(cuDeviceGetName(name[0], 64, 0) == 0 && cuDeviceGetName(name[1], 64, 1) == 0 && strcmp(name[0], name[1]),
	      "their names");
	check(cuDeviceGetName(name[0], 64, 2) == 101 && cudaSetDevice(2) == 101, "a third one");
	check(cudaMallocHost((void **)&host, sizeof other) == 0, "page-locked memory");
	for (int i = 0; i < N; i++)
		host[i] = (float)i;
	for (int d = 0; d < 2; d++) {
		check(cudaSetDevice(d) == 0 && cudaGetDevice(&now) == 0 && now == d, "which one");
		check(cudaMalloc((void **)&x[d], sizeof other) == 0 && cudaMalloc((void **)&y[d], sizeof other) == 0,
		      "allocation");
		check(cudaPointerGetAttributes(&a, x[d]) == 0 && a.device == d, "whose memory");
		for (int k = 0; k <= d; k++)
			check(launch(&scale_stub, (N + 127) / 128, 128, (void *[]){&y[d], &host, &n}) == 0, "a launch");
		check(cudaDeviceSynchronize() == 0, "the launches");
		check(cudaMemcpyFromSymbol(&total, &total_shadow, sizeof total, 0, TO_HOST) == 0 &&
			  total == (unsigned)(d + 1) * N,
		      "a variable of each");
	}
	check(cudaMemcpyPeerAsync(x[0], 0, y[1], 1, sizeof other, NULL) == 0, "from one to the other");
	check(cudaMemcpy(other, x[0], sizeof other, TO_HOST) == 0, "copy to the host");
	for (int i = 0; i < N; i++)
		check(other[i] == (float)i + 2, "a result");
	check(launch(&scale_stub, 1, 128, (void *[]){&y[0], &x[1], &n}) == 0 && cudaDeviceSynchronize() == 700,
	      "what is the other one's memory");
	check(cudaSetDevice(0) == 0 && cudaDeviceSynchronize() == 0, "the other one goes on");
	puts("good");
	return 0;
}

/* Two modules, of which each uses what the other one has. Who reads NVIDIA's images can read theirs, and the log tells errors. */
static int link_modules(void)
{
	static const char
	    head[] = ".version 6.0\n.target sm_50\n.address_size 64\n",
	    user[] = ".extern .global .align 4 .u32 factor;\n.extern .func (.param .u32 r) times(.param .u32 x);\n"
		     ".visible .const .u32 more = 7;\n"
		     ".visible .entry k(.param .u64 out)\n{\n.reg .u64 d;\n.reg .u32 a, b;\nld.param.u64 d, [out];\n"
		     "ld.global.u32 a, [factor];\n{\n.param .u32 p, r;\nst.param.u32 [p], a;\n"
		     "call (r), times, (p);\nld.param.u32 b, [r];\n}\nst.global.u32 [d], b;\nret;\n}\n",
	    maker[] = ".extern .const .u32 more;\n.visible .global .align 4 .u32 factor = 6;\n"
		      ".visible .func (.param .u32 r) times(.param .u32 x)\n{\n.reg .u32 a, b;\nld.param.u32 a, [x];\n"
		      "ld.const.u32 b, [more];\nmul.lo.u32 a, a, b;\nst.param.u32 [r], a;\nret;\n}\n",
	    wrong[] = "\n.entry w()\n{\nfrobnicate.u32 a, b;\nret;\n}\n";
	enum { PTX = 1, LOG_ROOM = 512 };
	static char text[4096], log[LOG_ROOM];
	static const int option[] = {5, 6}; /* the log of errors and its size */
	void *value[] = {log, (void *)(uintptr_t)sizeof log}, *context, *link, *module, *f, *made;
	uint64_t out;
	uint32_t got = 0;
	size_t bytes = 0;
	check(cuInit(0) == 0 && cuCtxCreate_v2(&context, 0, 0) == 0, "the context");
	check(cuLinkCreate_v2(2, option, value, &link) == 0, "the linker");
	snprintf(text, sizeof text, "%s%s", head, user);
	check(cuLinkAddData_v2(link, PTX, text, strlen(text) + 1, "user", 0, NULL, NULL) == 0, "a module");
	snprintf(text, sizeof text, "%s%s", head, maker);
	check(cuLinkAddData_v2(link, PTX, text, strlen(text) + 1, "maker", 0, NULL, NULL) == 0, "the other module");
	check(cuLinkComplete(link, &made, &bytes) == 0 && bytes > 64 && !memcmp(made, "\177ELF", 4), "linking");
	check(cuModuleLoadData(&module, made) == 0 && cuLinkDestroy(link) == 0, "what was linked");
	check(cuModuleGetFunction(&f, module, "k") == 0 && cuMemAlloc_v2(&out, 4) == 0, "its kernel");
	check(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&out}, NULL) == 0, "the launch");
	check(cuMemcpyDtoH_v2(&got, out, sizeof got) == 0 && got == 42, "what both computed");
	snprintf(text, sizeof text, "%s%s", head, wrong);
	value[1] = (void *)(uintptr_t)sizeof log;
	check(cuLinkCreate_v2(2, option, value, &link) == 0 &&
		  cuLinkAddData_v2(link, PTX, text, strlen(text) + 1, "wrong", 0, NULL, NULL) == 218 &&
		  cuLinkDestroy(link) == 0 && (size_t)(uintptr_t)value[1] == strlen(log),
	      "what does not compile");
	check(strstr(log, "line 7;") && strstr(log, "frobnicate"), log);
	log[0] = '\0';
	value[1] = (void *)(uintptr_t)sizeof log;
	check(cuModuleLoadDataEx(&module, text, 2, option, value) == 218 && strstr(log, "line 7;"), "another log");
	puts("good");
	return 0;
}

/* Reads 256 bytes that nobody wrote, has its warps read what the other one writes, and writes behind the end; and keeps its memory. */
static int careless(void)
{
	void *p;
	check(cudaMalloc(&p, 600) == 0 && launch(&careless_stub, 1, 64, (void *[]){&p}) == 0 &&
		  cudaDeviceSynchronize() == 0,
	      "a careless launch");
	puts("good");
	return 0;
}

/* Writes behind the end of what another allocation follows, then into memory that was given back. */
static int neighbours(void)
{
	void *p, *q;
	check(cudaMalloc(&p, 512) == 0 && cudaMalloc(&q, 512) == 0 && cudaMemset(p, 0, 512) == 0 &&
		  launch(&careless_stub, 1, 64, (void *[]){&p}) == 0 && cudaFree(q) == 0 &&
		  launch(&careless_stub, 1, 64, (void *[]){&q}) == 0 && cudaDeviceSynchronize() == 0,
	      "a careless launch");
	puts("good");
	return cudaFree(p);
}

/* What nvlink leaves of a program: a list of the parts that it was made of. */
static int apart(void)
{
	static const char
	    head[] = ".version 6.0\n.target sm_50\n.address_size 64\n",
	    user[] =
		".extern .global .u32 g; .global .u32 own = 1; .extern .func (.param .b32 r) late(.param .b32 x);\n"
		".visible .entry scale(.param .u64 p) { .reg .u64 d; .reg .u32 a, b; .param .b32 x, r;\n"
		"ld.param.u64 d, [p]; ld.global.u32 a, [own]; st.param.b32 [x], a; call (r), late, (x);\n"
		"ld.param.b32 a, [r]; ld.global.u32 b, [g]; add.u32 a, a, b; st.global.u32 [d], a; ret; }\n",
	    maker[] = ".global .u32 own = 20; .visible .global .u32 g = 300;\n"
		      ".visible .func (.param .b32 r) late(.param .b32 x) { .reg .u32 a, b; ld.param.b32 a, [x];\n"
		      "ld.global.u32 b, [own]; add.u32 a, a, b; st.param.b32 [r], a; ret; }\n";
	static char text[2][1024];
	static const void *part[3];
	uint32_t got = 0;
	void *p;
	snprintf(text[0], sizeof text[0], "%s%s", head, user);
	snprintf(text[1], sizeof text[1], "%s%s", head, maker);
	part[0] = text[0];
	part[1] = text[1];
	wrapper.version = 2;
	wrapper.name = part;
	register_all();
	check(cudaMalloc(&p, 4) == 0 && launch(&scale_stub, 1, 1, (void *[]){&p}) == 0, "the launch");
	check(cudaMemcpy(&got, p, 4, 2) == 0 && got == 321, "what both computed");
	puts("good");
	return cudaFree(p);
}

/* Addresses, and memory that is mapped at them: its bytes go along. */
static int mapped(void)
{
	const uint32_t how[8] = {1, 0, 1, 0}, who[3] = {1, 0, 3};
	uint32_t word = 0x12345678, got = 1;
	uint64_t at, piece, other;
	size_t unit = 0;
	void *context;
	check(cuInit(0) == 0 && cuCtxCreate_v2(&context, 0, 0) == 0 &&
		  cuMemGetAllocationGranularity(&unit, how, 0) == 0 && unit >= 4096,
	      "the granularity");
	check(cuMemAddressReserve(&at, 4 * unit, 0, 0, 0) == 0 && at % unit == 0 &&
		  cuMemCreate(&piece, unit, how, 0) == 0 && cuMemCreate(&other, unit, how, 0) == 0 &&
		  cuMemCreate(&other, unit + 1, how, 0) == 1,
	      "addresses and memory");
	check(cuMemMap(at + unit, unit, 0, piece, 0) == 0 && cuMemSetAccess(at + unit, unit, who, 1) == 0 &&
		  cuMemcpyHtoD_v2(at + unit + 8, &word, 4) == 0 && cuMemMap(at + 4 * unit, unit, 0, other, 0) == 1,
	      "mapping");
	check(cuMemUnmap(at + unit, unit) == 0 && cuMemMap(at + unit, unit, 0, other, 0) == 0 &&
		  cuMemcpyDtoH_v2(&got, at + unit + 8, 4) == 0 && got == 0 && cuMemMap(at, unit, 0, piece, 0) == 0 &&
		  cuMemcpyDtoH_v2(&got, at + 8, 4) == 0 && got == word,
	      "mapping elsewhere");
	check(cuMemRelease(piece) == 0 && cuMemRelease(piece) == 1 && cuMemRelease(other) == 0 &&
		  cuMemUnmap(at, 4 * unit) == 0 && cuMemUnmap(at, 4 * unit) == 1 &&
		  cuMemAddressFree(at, 4 * unit) == 0 && cuMemAddressFree(at, 4 * unit) == 1,
	      "the end");
	puts("good");
	return 0;
}

/* A texture and a surface that the module names. */
static int names(void)
{
	static const char text[] =
	    ".version 6.0\n.target sm_50\n.address_size 64\n.global .texref t;\n.global .surfref s;\n"
	    ".visible .entry k(.param .u64 p) { .reg .u64 d; .reg .u32 a, b, c, e, w; .reg .u64 h;\n"
	    "ld.param.u64 d, [p]; mov.u64 h, t; tex.1d.v4.u32.s32 {a, b, c, e}, [t, {2}];\n"
	    "txq.width.b32 w, [h]; sust.b.1d.b32.trap [s, {4}], w; st.global.v2.u32 [d], {a, w}; ret; }\n";
	const struct {
		size_t width, height;
		int format;
		unsigned channels;
	} shape = {8, 0, 3, 1}; /* of 32 bits without a sign */
	const uint32_t texels[8] = {5, 6, 7, 8};
	uint32_t got[2] = {1, 1}, back[2];
	void *module, *f, *context, *texture, *surface, *array;
	uint64_t out, in;
	check(cuInit(0) == 0 && cuCtxCreate_v2(&context, 0, 0) == 0 && cuModuleLoadData(&module, text) == 0,
	      "the module");
	check(cuModuleGetFunction(&f, module, "k") == 0 && cuMemAlloc_v2(&out, 8) == 0 && cuMemAlloc_v2(&in, 32) == 0 &&
		  cuMemcpyHtoD_v2(in, texels, 32) == 0 && cuArrayCreate_v2(&array, &shape) == 0,
	      "its kernel");
	check(cuModuleGetSurfRef(&surface, module, "s") == 0 && cuSurfRefSetArray(surface, array, 0) == 0 &&
		  cuModuleGetTexRef(&texture, module, "s") == 500,
	      "the surface");
	for (uint32_t round = 0; round < 2; round++) {
		check(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&out}, NULL) == 0 &&
			  cuMemcpyDtoH_v2(got, out, sizeof got) == 0 && got[0] == 7 * round && got[1] == 8 * round,
		      "what is bound");
		check(cuModuleGetTexRef(&texture, module, "t") == 0 && cuTexRefSetFormat(texture, 3, 1) == 0 &&
			  cuTexRefSetFlags(texture, 1) == 0 && cuTexRefSetAddress_v2(NULL, texture, in, 32) == 0,
		      "the texture");
	}
	check(cuSurfRefSetArray(surface, array, 0) == 0 && cuTexRefSetArray(texture, array, 0) == 0 &&
		  cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&out}, NULL) == 0 &&
		  cuMemcpyDtoH_v2(back, out, sizeof back) == 0 && back[0] == 0 && back[1] == 8,
	      "an array");
	puts("good");
	return 0;
}

/* What arrays and objects say that they were made of. */
static int described(void)
{
	const int channel[5] = {16, 16, 0, 0, 2};
	int back[5] = {0};
	size_t extent[3] = {1, 1, 1};
	unsigned flags = 9;
	struct {
		int kind;
		union {
			void *array;
			int reserved[32];
		} of;
	} made = {.kind = 0}, got = {.kind = 7};
	struct {
		int address[3], filter, read, srgb;
		float border[4];
		int normalized, rest[16];
	} how = {.address = {1, 0, 3}, .filter = 1, .border = {0, 2, 0, 0}, .normalized = 1}, told = {.filter = 0};
	uint64_t texture, surface;
	check(cudaMallocArray(&made.of.array, channel, 8, 4, 2) == 0, "the array");
	check(cudaArrayGetInfo(back, extent, &flags, made.of.array) == 0 && !memcmp(channel, back, sizeof back) &&
		  extent[0] == 8 && extent[1] == 4 && !extent[2] && flags == 2,
	      "what it is");
	check(cudaCreateTextureObject(&texture, &made, &how, NULL) == 0 &&
		  cudaCreateSurfaceObject(&surface, &made) == 0,
	      "its objects");
	check(cudaGetTextureObjectResourceDesc(&got, texture) == 0 && got.kind == 0 && got.of.array == made.of.array &&
		  cudaGetSurfaceObjectResourceDesc(&got, surface) == 0 && got.of.array == made.of.array &&
		  cudaGetTextureObjectResourceDesc(&got, 3) == 1,
	      "what they are of");
	check(cudaGetTextureObjectTextureDesc(&told, texture) == 0 &&
		  !memcmp(&how, &told, offsetof(__typeof__(how), rest)),
	      "how it is read");
	puts("good");
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "plain";
	if (!strcmp(what, "driver"))
		return driver();
	if (!strcmp(what, "link"))
		return link_modules();
	if (!strcmp(what, "apart"))
		return apart();
	if (!strcmp(what, "names"))
		return names();
	if (!strcmp(what, "mapped"))
		return mapped();
	if (!strcmp(what, "described"))
		return described();
	make_image(!strcmp(what, "new") ? "sm_120" : "sm_50", !strcmp(what, "lz4"), !strcmp(what, "native"));
	register_all();
	if (!strcmp(what, "unserved"))
		cudaGraphDebugDotPrint();
	if (!strcmp(what, "devices"))
		return devices();
	if (!strcmp(what, "careless"))
		return careless();
	if (!strcmp(what, "neighbours"))
		return neighbours();
	if (!strcmp(what, "endless")) {
		puts("begun");
		fflush(stdout);
		return launch(&endless_stub, 1, 1, NULL) + cudaDeviceSynchronize();
	}
	if (strcmp(what, "fault") != 0)
		return runtime(!strcmp(what, "managed"));
	check(launch(&wild_stub, 1, 1, NULL) == 0, "the launch");
	printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
	return 7;
}
