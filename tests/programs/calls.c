/* What programs ask of the driver beside launches: libraries, pools, streams, memory. */
#include "calls.h"
#include <stdio.h>

int n = N;

bool succeeded(int r, const char *call)
{
	if (r)
		printf("error %d: %.60s\n", r, call);
	return !r;
}

bool step(void *stream, gpu v, int add, int times)
{
	void *params[] = {&v, &add, &times, &n};
	return good(cuLaunchKernel(function("step"), 2, 1, 1, N / 2, 1, 1, 0, stream, params, NULL));
}

bool all_are(gpu v, int want)
{
	int got[N];
	from_gpu(got, v, sizeof got);
	for (int i = 0; i < N; i++)
		if (got[i] != want)
			return false;
	return true;
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
	const uint64_t props[11] = {1, 1}; /* pinned memory that no process shares, of device 0 */
	void *own, *common, *s;
	gpu a, b, c;
	uint64_t used = 0, most = 0, after = 1;
	if (!good(cuStreamCreate(&s, 0)) || !good(cuDeviceGetDefaultMemPool(&common, 0)) ||
	    cuMemPoolCreate(&own, NULL) != 1 || !good(cuMemPoolCreate(&own, props)) ||
	    !good(cuMemAllocFromPoolAsync(&a, 4096, own, s)) || !good(cuMemAllocFromPoolAsync(&b, 1024, own, s)) ||
	    !good(cuMemAllocAsync(&c, N * sizeof(int), s)) || !good(cuMemPoolGetAttribute(own, USED, &used)) ||
	    !good(cuMemFreeAsync(a, s)) || !good(cuMemFreeAsync(b, s)) || !good(cuStreamSynchronize(s)) ||
	    !good(cuMemPoolGetAttribute(own, USED_MOST, &most)) || !good(cuMemPoolGetAttribute(own, USED, &after)))
		return false;
	return own != common && used == 5120 && most == 5120 && !after && good(cuMemsetD32Async(c, 4, N, s)) &&
	       step(s, c, 1, 2) && all_are(c, 9) && good(cuMemFreeAsync(c, s)) && cuMemFreeAsync(c, s) == 1 &&
	       good(cuMemPoolDestroy(own));
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
	if (!step(NULL, p, 5, 3) || !good(cuCtxSynchronize()))
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

static const char cluster_text[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry ranks(.param .u64 out) {\n"
    "	.reg .b32 %r<4>; .reg .b64 %d<3>; ld.param.u64 %d0, [out]; mov.u32 %r0, %cluster_ctarank;\n"
    "	mov.u32 %r1, %cluster_nctarank; mad.lo.u32 %r0, %r1, 100, %r0; mov.u32 %r2, %ctaid.x;\n"
    "	mul.wide.u32 %d1, %r2, 4; add.u64 %d0, %d0, %d1; st.global.u32 [%d0], %r0; ret;\n}\n";

/* Clusters of as many blocks as the launch says: up to 8, and 16 for those that opt in. The grid is made of clusters.
 * Older GPUs refuse the kernel. */
static bool clusters(void)
{
	enum { CLUSTERS = 120, LARGE = 14, DIMENSION = 4, INVALID = 912, BLOCKS = 48 };
	struct attribute size = {.id = DIMENSION, .value = {1, 1, 1}};
	struct config c = {.grid = {BLOCKS, 1, 1}, .block = {1, 1, 1}, .attribute = &size, .attributes = 1};
	gpu v = to_gpu(NULL, BLOCKS * sizeof(int));
	void *m, *f, *params[] = {&v};
	int able = 0, got[BLOCKS], at_once = 0;
	if (!good(cuDeviceGetAttribute(&able, CLUSTERS, 0)))
		return false;
	if (!able)
		return cuModuleLoadData(&m, cluster_text) || cuModuleGetFunction(&f, m, "ranks") ||
		       cuLaunchKernelEx(&c, f, params, NULL);
	if (!good(cuModuleLoadData(&m, cluster_text)) || !good(cuModuleGetFunction(&f, m, "ranks")))
		return false;
	for (unsigned k = 1; k <= 16; k *= 2) {
		size.value[0] = k;
		if (k == 16 &&
		    (cuLaunchKernelEx(&c, f, params, NULL) != INVALID || !good(cuFuncSetAttribute(f, LARGE, 1))))
			return false;
		if (!good(cuOccupancyMaxActiveClusters(&at_once, f, &c)) ||
		    !good(cuLaunchKernelEx(&c, f, params, NULL)))
			return false;
		from_gpu(got, v, sizeof got);
		for (int b = 0; b < BLOCKS; b++)
			if (got[b] != (int)(100 * k + (unsigned)b % k))
				return false;
	}
	size.value[0] = 5;
	return at_once > 0 && cuLaunchKernelEx(&c, f, params, NULL) == INVALID;
}

static const char launching_text[] =
    ".version 6.0\n.target sm_70\n.address_size 64\n"
    ".extern .func (.param .b32 back) cudaLaunchDeviceV2(.param .b64 a, .param .b64 b);\n"
    ".visible .entry launches(.param .u64 out) {\n	.reg .b32 %r<2>; .reg .b64 %d<2>; ld.param.u64 %d0, [out];\n"
    "	.param .b64 a; st.param.b64 [a], %d0; .param .b64 b; st.param.b64 [b], %d0; .param .b32 back;\n"
    "	call.uni (back), cudaLaunchDeviceV2, (a, b); ld.param.b32 %r0, [back]; st.global.u32 [%d0], %r0; ret;\n}\n"
    ".visible .entry seven(.param .u64 out) {\n	.reg .b64 %d<2>; ld.param.u64 %d0, [out]; st.global.u32 [%d0], 7; "
    "ret;\n}\n";

/* Of a module the kernel that launches others is refused, and the other one runs. A driver that takes modules as a whole refuses both. */
static bool launches(void)
{
	enum { INVALID_PTX = 218 };
	void *m, *f;
	int got = 0;
	gpu v = to_gpu(NULL, sizeof got);
	void *out = &v;
	const int loaded = cuModuleLoadData(&m, launching_text);
	if (loaded)
		return loaded == INVALID_PTX;
	if (cuModuleGetFunction(&f, m, "launches") != INVALID_PTX || !good(cuModuleGetFunction(&f, m, "seven")) ||
	    !good(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, &out, NULL)))
		return false;
	from_gpu(&got, v, sizeof got);
	return got == 7;
}

/* More values at once than a thread has registers: a compiler keeps some of them in memory. */
static bool many_values(void)
{
	enum { VALUES = 400, LINE = 64 };
	char *text = malloc((3 * VALUES + 8) * LINE), *at = text;
	uint32_t v[VALUES], got = 0, want = 0;
	void *module, *f;
	bool right;
	if (!text)
		return false;
	at += sprintf(
	    at,
	    ".version 6.0\n.target sm_60\n.address_size 64\n.visible .entry many(.param .u64 in, .param .u64 out) {\n"
	    ".reg .b32 %%v<%d>, %%s;\n.reg .b64 %%i, %%o;\nld.param.u64 %%i, [in];\nld.param.u64 %%o, [out];\n",
	    VALUES);
	for (int k = 0; k < VALUES; k++) {
		v[k] = number();
		want = want * 3 + v[k];
		at += sprintf(at, "ld.volatile.global.u32 %%v%d, [%%i + %d];\n", k, 4 * k);
	}
	at += sprintf(at, "mov.u32 %%s, 0;\n");
	for (int k = 0; k < VALUES; k++)
		at += sprintf(at, "mad.lo.u32 %%s, %%s, 3, %%v%d;\n", k);
	sprintf(at, "st.global.u32 [%%o], %%s;\nret;\n}\n");
	gpu in = to_gpu(v, sizeof v), out = to_gpu(NULL, sizeof got);
	void *params[] = {&in, &out};
	right = good(cuModuleLoadData(&module, text)) && good(cuModuleGetFunction(&f, module, "many")) &&
		good(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
	free(text);
	from_gpu(&got, out, sizeof got);
	return right && got == want;
}

const struct program programs_of_calls[] = {
    {"library", library},	{"pools", pools},	  {"streams", streams},		{"managed", managed},
    {"registered", registered}, {"occupancy", occupancy}, {"cooperative", cooperative}, {"clusters", clusters},
    {"links", links},		{"butterfly", butterfly}, {"pointers", pointers},	{"bytes4", bytes4},
    {"greatest", greatest},	{"launches", launches},	  {"many_values", many_values}, {NULL, NULL},
};
