/* Copies of boxes of tensors between global and shared memory, against a walk over the box's elements on the host. */
#include "calls.h"

int cuModuleUnload(void *m);
int cuDeviceGetAttribute(int *v, int which, int device);
int cuCtxSynchronize(void);
int cuTensorMapEncodeTiled(void *map, int type, uint32_t rank, gpu base, const uint64_t *sizes, const uint64_t *strides,
			   const uint32_t *box, const uint32_t *steps, int interleave, int swizzle, int promotion,
			   int fill);

enum { RANK = 3, WORDS = 4096, MAJOR = 75, CLUSTERS_FROM = 9, THREADS = 32, MAP = 128 };
enum { U8 = 0, U32_TYPE = 2 }; /* CUtensorMapDataType */

#define HEAD(name)                                                                                                     \
	".visible .entry " name                                                                                        \
	"(.param .u64 map, .param .u64 at, .param .u64 data, .param .u32 bytes, .param .u32 room) {\n"                 \
	"	.reg .pred %p, %q;\n	.reg .b32 %t, %i, %v, %n, %s, %c<3>, %r, %x;\n	.reg .b64 %m, %a, %d, %w;\n"             \
	"	.shared .align 1024 .b8 box[16384];\n	.shared .align 8 .b64 bar;\n	ld.param.u64 %m, [map];\n"                \
	"	ld.param.u64 %a, [at];\n	ld.param.u64 %d, [data];\n	ld.param.u32 %n, [bytes];\n"                             \
	"	ld.param.u32 %r, [room];\n"                                                                                  \
	"	ld.global.u32 %c0, [%a];\n	ld.global.u32 %c1, [%a + 4];\n	ld.global.u32 %c2, [%a + 8];\n"                    \
	"	mov.u32 %t, %tid.x;\n	setp.eq.u32 %p, %t, 0;\n	mov.u32 %s, box;\n"
/* Every thread's words, between shared memory and data. */
#define EACH(label, words)                                                                                             \
	"	shl.b32 %i, %t, 2;\n" label                                                                            \
	":	add.u32 %v, %s, %i;\n	cvt.u64.u32 %w, %i;\n	add.u64 %w, %w, %d;\n" words                           \
	"	add.u32 %i, %i, 128;\n	setp.lt.u32 %q, %i, %r;\n	@%q bra " label ";\n"
#define IN EACH("I", "	ld.global.u32 %x, [%w];\n	st.shared.u32 [%v], %x;\n") /* shared memory as it is before */
#define LOAD(rank, at)                                                                                                 \
	HEAD("load" rank)                                                                                              \
	IN "	fence.proxy.async.shared::cta;\n	@%p mbarrier.init.shared.b64 [bar], 1;\n	bar.sync 0;\n"                  \
	   "	@%p mbarrier.arrive.expect_tx.shared.b64 _, [bar], %n;\n"                                                 \
	   "	@%p cp.async.bulk.tensor." rank "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [box], "   \
	   "[%m, {" at "}], [bar];\n"                                                                                  \
	   "W:	mbarrier.test_wait.parity.shared.b64 %q, [bar], 0;\n	@!%q bra W;\n" EACH(                           \
	       "L", "	ld.shared.u32 %c0, [%v];\n	st.global.u32 [%w], %c0;\n") "	ret;\n}\n"
#define OUT(name, what)                                                                                                \
	HEAD(name)                                                                                                     \
	IN "	fence.proxy.async.shared::cta;\n	bar.sync 0;\n	@%p " what                                     \
	   " [%m, {%c0, %c1}], [box];\n	cp.async.bulk.commit_group;\n"                                                 \
	   "	cp.async.bulk.wait_group 0;\n	ret;\n}\n"

/* Another tensor's map is brought to shared memory, made this one's, and brought back. */
#define REPLACE                                                                                                        \
	".visible .entry replace(.param .u64 map, .param .u64 values) {\n	.reg .pred %p;\n"                            \
	"	.reg .b32 %t, %r, %x, %v<8>;\n	.reg .b64 %m, %a, %w, %d<2>;\n	.shared .align 128 .b8 s[128];\n"              \
	"	ld.param.u64 %m, [map];\n	ld.param.u64 %a, [values];\n	mov.u32 %t, %tid.x;\n	setp.eq.u32 "                   \
	"%p, %t, 0;\n"                                                                                                 \
	"	mul.wide.u32 %w, %t, 4;\n	add.u64 %w, %w, %m;\n	ld.global.u32 %x, [%w];\n	mov.u32 %r, "                      \
	"s;\n"                                                                                                         \
	"	mad.lo.u32 %r, %t, 4, %r;\n	st.shared.u32 [%r], %x;\n	bar.sync 0;\n	@!%p bra D;\n"                           \
	"	ld.global.v2.b64 {%d0, %d1}, [%a];\n	ld.global.v4.b32 {%v0, %v1, %v2, %v3}, [%a+16];\n"                      \
	"	ld.global.v2.b32 {%v4, %v5}, [%a+32];\n	mov.u32 %r, s;\n" SET("global_address", "b64", "%d0")          \
	    SET("rank", "b32", "1") SET("elemtype", "b32", "2") SET("swizzle_mode", "b32", "3")                        \
		SET("interleave_layout", "b32", "0") SET("fill_mode", "b32", "0")                                      \
		    SET("global_stride", "b64", "0, %d1") SET("global_dim", "b32", "0, %v0")                           \
			SET("global_dim", "b32", "1, %v1") SET("box_dim", "b32", "0, %v2")                             \
			    SET("box_dim", "b32", "1, %v3") SET("element_stride", "b32", "0, %v4")                     \
				SET("element_stride", "b32",                                                           \
				    "1, %v5") "D:	bar.sync 0;\n"                                                       \
					      "	tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic."        \
					      "release.gpu.sync.aligned [%m], [s], 128;\n"                             \
					      "	ret;\n}\n"
#define SET(field, type, value) "	tensormap.replace.tile." field ".shared::cta.b1024." type " [%r], " value ";\n"

static const char text[] = ".version 8.3\n.target sm_90a\n.address_size 64\n" REPLACE LOAD("2", "%c0, %c1")
    LOAD("3", "%c0, %c1, %c2") OUT("store", "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group")
	OUT("add", "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group");

struct tensor {
	int type, swizzle; /* of CUtensorMapSwizzle: pieces of 16 bytes that trade places are 1 << swizzle */
	uint32_t rank, bytes;
	uint64_t size[RANK], stride[RANK - 1];
	uint32_t box[RANK], step[RANK];
	int at[RANK];
};

static uint32_t count(const struct tensor *t, unsigned k)
{
	return (t->box[k] + t->step[k] - 1) / t->step[k];
}

/* Lines lie as far from each other as what is swizzled together is long. */
static uint32_t pitch_of(const struct tensor *t)
{
	return t->swizzle ? 16u << t->swizzle : t->box[0] * t->bytes;
}

/* Element n of the box: where in global memory, if it is inside, and where in shared memory. */
static bool find(const struct tensor *t, uint32_t element, bool stores, uint64_t *global, uint32_t *shared)
{
	bool inside = true;
	const uint32_t line = t->box[0] * t->bytes,
		       byte = element * t->bytes / line * pitch_of(t) + element * t->bytes % line;
	*shared = byte ^ (byte >> 7 & ((1u << t->swizzle) - 1)) << 4;
	*global = 0;
	for (unsigned k = 0; k < t->rank; k++) {
		const int64_t x = t->at[k] + (int64_t)(element % count(t, k) * t->step[k]);
		element /= count(t, k);
		/* A store ends at 16 bytes. */
		const int64_t past =
		    stores && !k ? (int64_t)((t->size[k] * t->bytes + 15) / 16 * 16 / t->bytes) : (int64_t)t->size[k];
		inside = inside && x >= 0 && x < past;
		*global += (uint64_t)x * (k ? t->stride[k - 1] : t->bytes);
	}
	return inside;
}

static bool encode(uint8_t map[MAP], const struct tensor *t, gpu base)
{
	return good(cuTensorMapEncodeTiled(map, t->type, t->rank, base, t->size, t->stride, t->box, t->step, 0,
					   t->swizzle, 0, 0));
}

/* The map at m becomes that of a tensor of two dimensions, of words, in pieces of 128 bytes. */
static bool replace(void *module, const struct tensor *t, gpu base, gpu m)
{
	const struct {
		uint64_t base, stride;
		uint32_t size[2], box[2], step[2];
	} is = {base,
		t->stride[0],
		{(uint32_t)t->size[0], (uint32_t)t->size[1]},
		{t->box[0], t->box[1]},
		{t->step[0], t->step[1]}};
	gpu values = to_gpu(&is, sizeof is);
	void *f, *params[] = {&m, &values};
	return good(cuModuleGetFunction(&f, module, "replace")) &&
	       good(cuLaunchKernel(f, 1, 1, 1, THREADS, 1, 1, 0, NULL, params, NULL)) && good(cuCtxSynchronize());
}

static bool launch(void *module, const char *name, const struct tensor *t, gpu base, gpu data, uint32_t bytes,
		   uint32_t room, bool replaced)
{
	static const struct tensor other = {U8, 0, 1, 1, {64}, {0}, {16}, {1}, {0}};
	uint8_t map[MAP];
	void *f;
	if (!encode(map, replaced ? &other : t, base) || !good(cuModuleGetFunction(&f, module, name)))
		return false;
	gpu m = to_gpu(map, sizeof map), at = to_gpu(t->at, sizeof t->at);
	if (replaced && !replace(module, t, base, m))
		return false;
	void *params[] = {&m, &at, &data, &bytes, &room};
	return good(cuLaunchKernel(f, 1, 1, 1, THREADS, 1, 1, 0, NULL, params, NULL)) && good(cuCtxSynchronize());
}

static bool one(void *module, const char *name, const struct tensor *t, bool replaced)
{
	static uint8_t memory[4 * WORDS], want[4 * WORDS], box[4 * WORDS], got[4 * WORDS];
	const bool load = !strncmp(name, "load", 4), add = !strcmp(name, "add");
	uint32_t elements = 1;
	for (unsigned k = 0; k < t->rank; k++)
		elements *= count(t, k);
	for (unsigned k = 0; k < sizeof memory; k++) {
		memory[k] = (uint8_t)number();
		box[k] = (uint8_t)number();
	}
	memcpy(want, load ? box : memory, sizeof want);
	for (uint32_t e = 0; e < elements; e++) {
		uint64_t at;
		uint32_t shared, v, w;
		const bool inside = find(t, e, !load, &at, &shared);
		if (load) {
			memset(want + shared, 0, t->bytes);
			if (inside)
				memcpy(want + shared, memory + at, t->bytes);
		} else if (inside && add) {
			memcpy(&v, memory + at, 4);
			memcpy(&w, box + shared, 4);
			v += w;
			memcpy(want + at, &v, 4);
		} else if (inside) {
			memcpy(want + at, box + shared, t->bytes);
		}
	}
	gpu base = to_gpu(memory, sizeof memory), data = to_gpu(box, sizeof box);
	if (!launch(module, name, t, base, data, elements * t->bytes, elements / t->box[0] * pitch_of(t), replaced))
		return false;
	from_gpu(got, load ? data : base, sizeof got);
	return !memcmp(got, want, sizeof got);
}

static bool boxes(void)
{
	static const struct tensor all[] = {
	    {U32_TYPE, 0, 2, 4, {40, 12}, {192}, {16, 4}, {1, 1}, {8, 2}},
	    {U32_TYPE, 3, 2, 4, {40, 12}, {192}, {32, 8}, {1, 1}, {-4, 7}},
	    {U32_TYPE, 3, 2, 4, {40, 12}, {192}, {20, 8}, {1, 1}, {12, 7}},
	    {U32_TYPE, 2, 2, 4, {40, 12}, {192}, {16, 9}, {1, 2}, {28, -4}},
	    {U32_TYPE, 2, 2, 4, {40, 12}, {192}, {16, 9}, {1, 2}, {28, 4}},
	    {U8, 1, 2, 1, {100, 30}, {112}, {32, 20}, {1, 1}, {-16, -1}},
	    {U8, 1, 2, 1, {100, 30}, {112}, {32, 20}, {1, 1}, {80, 20}},
	    {U8, 0, 3, 1, {48, 10, 6}, {48, 480}, {32, 5, 3}, {1, 3, 2}, {16, 1, 2}},
	};
	void *module;
	int major = 0;
	if (!good(cuDeviceGetAttribute(&major, MAJOR, 0)))
		return false;
	if (major < CLUSTERS_FROM) /* such a GPU has no copies of tensors, and refuses the kernels */
		return !good(cuModuleLoadData(&module, text)) || !good(cuModuleGetFunction(&module, module, "load2"));
	if (!good(cuModuleLoadData(&module, text)))
		return false;
	bool right = true;
	for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
		const struct tensor *t = &all[k];
		right = right && one(module, t->rank == 2 ? "load2" : "load3", t, false);
		right = right && (t->type != U32_TYPE || t->swizzle != 3 || one(module, "load2", t, true));
		/* What is stored begins inside: a card stops at anything else. */
		const bool leaves = t->rank == 2 && t->at[0] >= 0 && t->at[1] >= 0;
		right = right && (!leaves || one(module, "store", t, false));
		right = right && (!leaves || t->bytes != 4 || one(module, "add", t, false));
	}
	return right && good(cuModuleUnload(module));
}

const struct program programs_of_tensors[] = {{"tensor_boxes", boxes}, {NULL, NULL}};
