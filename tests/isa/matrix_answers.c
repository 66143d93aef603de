/* Matrix operations of a warp, and carries, of random inputs on a device:
 *   matrix_answers DEVICE FILE           writes down what it answered
 *   matrix_answers DEVICE FILE --compare compares
 *   matrix_answers DEVICE --inputs       prints the inputs and the device's answers as text, to find out how it rounds
 * The file beside this was written by an H200; the test compares the simulator with it, bit for bit. */
#include "base/arena.h"
#include "base/rng.h"
#include "base/str.h"
#include "gpu/gpu.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 128, IN_MOST = 14, OUT_MOST = 8 };
#define SEED  20261128
#define MAGIC "fathom matrices 1"

enum element { E_F16, E_BF16, E_TF32, E_E4M3, E_E5M2, E_S8, E_F32, E_F64, E_S32 };
enum mix { MIX_NEAR, MIX_FAR, MIX_CANCEL, MIX_SPECIAL, MIXES };
static const char *const mixes[MIXES] = {"near", "far", "cancel", "special"};

struct matrix_case {
	const char *name;
	enum element ab, c;
	unsigned a_words, b_words, c_words, out_words; /* of 32 bits, a thread */
	const char *body;			       /* %a0.. in, %d0.. out; %f and %e are f32 */
	bool given;				       /* the file has its inputs, before the answers, of few mixes */
	unsigned chunk; /* sparse: of so many elements half are there, and the word behind the others says which */
};

#define F32_C		     "mov.b32 %f0, %a6;\nmov.b32 %f1, %a7;\nmov.b32 %f2, %a8;\nmov.b32 %f3, %a9;\n"
#define F32_D		     "mov.b32 %d0, %e0;\nmov.b32 %d1, %e1;\nmov.b32 %d2, %e2;\nmov.b32 %d3, %e3;\n"
#define F32_DC		     "{%e0, %e1, %e2, %e3}, {%a0, %a1, %a2, %a3}, {%a4, %a5}, {%f0, %f1, %f2, %f3};\n"
#define MMA_F32(shape, type) F32_C "mma.sync.aligned." shape ".row.col.f32." type "." type ".f32 " F32_DC F32_D
#define SHORT_F32(shape, type)                                                                                         \
	"mov.b32 %f0, %a3;\nmov.b32 %f1, %a4;\nmov.b32 %f2, %a5;\nmov.b32 %f3, %a6;\n"                                 \
	"mma.sync.aligned." shape ".row.col.f32." type "." type                                                        \
	".f32 {%e0, %e1, %e2, %e3}, {%a0, %a1}, {%a2}, {%f0, %f1, %f2, %f3};\n" F32_D
#define S32_D "{%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%a4, %a5}, {%a6, %a7, %a8, %a9};\n"

/* Half of a is zero and not there: of few words, or of twice as many. */
#define FEW_AB	  "{%a0, %a1}, {%a2, %a3}, "
#define FEW_WHICH ", %a8, 0;\n"
#define FEW_F32(shape, type)                                                                                           \
	"mov.b32 %f0, %a4;\nmov.b32 %f1, %a5;\nmov.b32 %f2, %a6;\nmov.b32 %f3, %a7;\n" SPARSE(                         \
	    shape, "f32", type, "{%e0, %e1, %e2, %e3}, " FEW_AB "{%f0, %f1, %f2, %f3}" FEW_WHICH) F32_D
#define FEW_S32(shape, type)                                                                                           \
	SPARSE(shape, "s32", type, "{%d0, %d1, %d2, %d3}, " FEW_AB "{%a4, %a5, %a6, %a7}" FEW_WHICH)
#define TWICE_AB    "{%a0, %a1, %a2, %a3}, {%a4, %a5, %a6, %a7}, "
#define TWICE_WHICH ", %a12, 0;\n"
#define TWICE_F32(shape, type)                                                                                         \
	"mov.b32 %f0, %a8;\nmov.b32 %f1, %a9;\nmov.b32 %f2, %a10;\nmov.b32 %f3, %a11;\n" SPARSE(                       \
	    shape, "f32", type, "{%e0, %e1, %e2, %e3}, " TWICE_AB "{%f0, %f1, %f2, %f3}" TWICE_WHICH) F32_D
#define TWICE_S32(shape, type)                                                                                         \
	SPARSE(shape, "s32", type, "{%d0, %d1, %d2, %d3}, " TWICE_AB "{%a8, %a9, %a10, %a11}" TWICE_WHICH)
#define SPARSE(shape, to, type, rest)                                                                                  \
	"mma.sp::ordered_metadata.sync.aligned." shape ".row.col." to "." type "." type "." to " " rest
/* Of four warps: a and b lie in shared memory. A line has 16 bytes together, and 8 lines lie together. A descriptor
 * names the start, 128 bytes to the next 16 of a line, and 256 to the next lines. */
#define GROUP_IN                                                                                                       \
	".shared .align 128 .b8 room[3072];\n.reg .b32 %s;\n.reg .b64 %da, %db;\n.reg .pred %p;\n"                     \
	"mov.u32 %s, room;\nshl.b32 %d0, %i, 4;\nadd.u32 %d0, %d0, %s;\n"                                              \
	"st.shared.v4.b32 [%d0], {%a0, %a1, %a2, %a3};\nshl.b32 %d0, %i, 2;\nadd.u32 %d0, %d0, %s;\n"                  \
	"st.shared.b32 [%d0+2048], %a4;\nfence.proxy.async;\nbar.sync 0;\nshr.u32 %s, %s, 4;\n"                        \
	"cvt.u64.u32 %da, %s;\nadd.u64 %da, %da, 0x1000080000;\nadd.u64 %db, %da, 128;\nsetp.eq.u32 %p, %i, %i;\n"
#define GROUP_END "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n"
#define GROUP(shape, to, type, d, rest)                                                                                \
	"wgmma.fence.sync.aligned;\nwgmma.mma_async.sync.aligned." shape "." to "." type "." type " " d                \
	", %da, %db, %p" rest ";\n" GROUP_END
#define GROUP_F32(shape, type, rest)                                                                                   \
	GROUP_IN "mov.b32 %e0, %a5;\nmov.b32 %e1, %a6;\nmov.b32 %e2, %a7;\nmov.b32 %e3, %a8;\n" GROUP(                 \
	    shape, "f32", type, "{%e0, %e1, %e2, %e3}", rest) F32_D

/* Four products of 8 lanes each: two words of a and of b. */
#define QUAD_AB "{%a0, %a1}, {%a2, %a3}, "
#define QUAD_F32(layout)                                                                                               \
	"mov.b32 %f0, %a4;\nmov.b32 %f1, %a5;\nmov.b32 %f2, %a6;\nmov.b32 %f3, %a7;\nmov.b32 %h0, %a8;\n"              \
	"mov.b32 %h1, %a9;\nmov.b32 %h2, %a10;\nmov.b32 %h3, %a11;\nmma.sync.aligned.m8n8k4." layout                   \
	".f32.f16.f16.f32 {%e0, %e1, %e2, %e3, %k0, %k1, %k2, %k3}, " QUAD_AB                                          \
	"{%f0, %f1, %f2, %f3, %h0, %h1, %h2, %h3};\n" F32_D                                                            \
	"mov.b32 %d4, %k0;\nmov.b32 %d5, %k1;\nmov.b32 %d6, %k2;\nmov.b32 %d7, %k3;\n"
#define QUAD_F16(layout)                                                                                               \
	"mma.sync.aligned.m8n8k4." layout ".f16.f16.f16.f16 {%d0, %d1, %d2, %d3}, " QUAD_AB "{%a4, %a5, %a6, %a7};\n"
/* Half of a is zero and not there; the word behind the others says which half. */
#define GROUP_SPARSE(shape, type, selector, rest)                                                                      \
	GROUP_IN "mov.b32 %e0, %a5;\nmov.b32 %e1, %a6;\nmov.b32 %e2, %a7;\nmov.b32 %e3, %a8;\n"                        \
		 "wgmma.fence.sync.aligned;\nwgmma.mma_async.sp.sync.aligned." shape ".f32." type "." type             \
		 " {%e0, %e1, %e2, %e3}, %da, %db, %a9, " selector ", %p" rest ";\n" GROUP_END F32_D

static const struct matrix_case cases[] = {
    {"m16n8k16 f16 to f32", E_F16, E_F32, 4, 2, 4, 4, MMA_F32("m16n8k16", "f16")},
    {"m16n8k8 f16 to f32", E_F16, E_F32, 2, 1, 4, 4, SHORT_F32("m16n8k8", "f16")},
    {"m16n8k16 f16 to f16", E_F16, E_F16, 4, 2, 2, 2,
     "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%d0, %d1}, {%a0, %a1, %a2, %a3}, {%a4, %a5}, {%a6, %a7};\n"},
    {"m16n8k16 bf16 to f32", E_BF16, E_F32, 4, 2, 4, 4, MMA_F32("m16n8k16", "bf16")},
    {"m16n8k8 tf32 to f32", E_TF32, E_F32, 4, 2, 4, 4, MMA_F32("m16n8k8", "tf32")},
    {"m16n8k4 tf32 to f32", E_TF32, E_F32, 2, 1, 4, 4, SHORT_F32("m16n8k4", "tf32")},
    {"m16n8k32 e4m3 to f32", E_E4M3, E_F32, 4, 2, 4, 4, MMA_F32("m16n8k32", "e4m3")},
    {"m16n8k32 e5m2 to f32", E_E5M2, E_F32, 4, 2, 4, 4, MMA_F32("m16n8k32", "e5m2")},
    {"m8n8k4 f64", E_F64, E_F64, 2, 2, 4, 4,
     "mov.b64 %g0, {%a0, %a1};\nmov.b64 %g1, {%a2, %a3};\nmov.b64 %g2, {%a4, %a5};\nmov.b64 %g3, {%a6, %a7};\n"
     "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%g4, %g5}, {%g0}, {%g1}, {%g2, %g3};\n"
     "mov.b64 {%d0, %d1}, %g4;\nmov.b64 {%d2, %d3}, %g5;\n"},
    {"m16n8k32 s8", E_S8, E_S32, 4, 2, 4, 4, "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 " S32_D},
    {"m16n8k32 s8 clamped", E_S8, E_S32, 4, 2, 4, 4,
     "mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.s8.s32 " S32_D},
    {"sub.cc, add.cc and what follows", E_S32, E_S32, 2, 0, 0, 4,
     "sub.cc.u32 %d0, %a0, %a1;\naddc.u32 %d0, 0, 0;\nsub.cc.u32 %d1, %a0, %a1;\nsubc.u32 %d1, 0, 0;\n"
     "add.cc.u32 %d2, %a0, %a1;\nsubc.u32 %d2, 0, 0;\nadd.cc.u32 %d3, %a0, %a1;\naddc.u32 %d3, 0, 0;\n"},
    {"carries between sums and differences", E_S32, E_S32, 2, 0, 0, 4,
     "sub.cc.u32 %d0, %a0, %a1;\naddc.cc.u32 %d0, %a0, %a1;\nsubc.u32 %d0, %d0, 7;\n"
     "add.cc.u32 %d1, %a0, %a1;\nsubc.cc.u32 %d1, %a1, %a0;\naddc.u32 %d1, %d1, 0;\n"
     "mad.lo.cc.u32 %d2, %a0, %a1, %a0;\nsubc.u32 %d2, %a1, 5;\n"
     "sub.cc.u32 %d3, %a0, %a1;\nmadc.hi.u32 %d3, %a0, %a1, 3;\n"},
    {"m16n8k32 e4m3 to f16", E_E4M3, E_F16, 4, 2, 2, 2,
     "mma.sync.aligned.m16n8k32.row.col.f16.e4m3.e4m3.f16 {%d0, %d1}, {%a0, %a1, %a2, %a3}, {%a4, %a5}, {%a6, %a7};\n",
     true},
    {"m64n8k16 f16 to f32", E_F16, E_F32, 4, 1, 4, 4, GROUP_F32("m64n8k16", "f16", ", 1, 1, 0, 0"), true},
    {"m64n8k8 tf32 to f32", E_TF32, E_F32, 4, 1, 4, 4, GROUP_F32("m64n8k8", "tf32", ", 1, 1"), true},
    {"m64n8k32 e4m3 to f32", E_E4M3, E_F32, 4, 1, 4, 4, GROUP_F32("m64n8k32", "e4m3", ", 1, 1"), true},
    {"m64n8k32 e5m2 to f32", E_E5M2, E_F32, 4, 1, 4, 4, GROUP_F32("m64n8k32", "e5m2", ", 1, 1"), true},
    {"m64n8k32 e4m3 to f16", E_E4M3, E_F16, 4, 1, 2, 2,
     GROUP_IN "mov.b32 %d0, %a5;\nmov.b32 %d1, %a6;\n" GROUP("m64n8k32", "f16", "e4m3", "{%d0, %d1}", ", 1, 1"), true},
    {"m16n8k4 f64", E_F64, E_F64, 4, 2, 8, 8,
     "mov.b64 %g0, {%a0, %a1};\nmov.b64 %g1, {%a2, %a3};\nmov.b64 %g2, {%a4, %a5};\nmov.b64 %g3, {%a6, %a7};\n"
     "mov.b64 %g4, {%a8, %a9};\nmov.b64 %g5, {%a10, %a11};\nmov.b64 %g6, {%a12, %a13};\n"
     "mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%g7, %g8, %g9, %g10}, {%g0, %g1}, {%g2}, {%g3, %g4, %g5, "
     "%g6};\n"
     "mov.b64 {%d0, %d1}, %g7;\nmov.b64 {%d2, %d3}, %g8;\nmov.b64 {%d4, %d5}, %g9;\nmov.b64 {%d6, %d7}, %g10;\n",
     false, 0},
    {"sparse m16n8k16 f16 to f32", E_F16, E_F32, 2, 2, 4, 4, FEW_F32("m16n8k16", "f16"), false, 4},
    {"sparse m16n8k32 f16 to f32", E_F16, E_F32, 4, 4, 4, 4, TWICE_F32("m16n8k32", "f16"), false, 4},
    {"sparse m16n8k32 f16 to f16", E_F16, E_F16, 4, 4, 2, 2,
     SPARSE("m16n8k32", "f16", "f16", "{%d0, %d1}, " TWICE_AB "{%a8, %a9}, %a10, 0;\n"), false, 4},
    {"sparse m16n8k32 bf16 to f32", E_BF16, E_F32, 4, 4, 4, 4, TWICE_F32("m16n8k32", "bf16"), false, 4},
    {"sparse m16n8k8 tf32 to f32", E_TF32, E_F32, 2, 2, 4, 4, FEW_F32("m16n8k8", "tf32"), false, 2},
    {"sparse m16n8k16 tf32 to f32", E_TF32, E_F32, 4, 4, 4, 4, TWICE_F32("m16n8k16", "tf32"), false, 2},
    {"sparse m16n8k32 s8", E_S8, E_S32, 2, 2, 4, 4, FEW_S32("m16n8k32", "s8"), false, 4},
    {"sparse m16n8k64 s8", E_S8, E_S32, 4, 4, 4, 4, TWICE_S32("m16n8k64", "s8"), false, 4},
    {"sparse m16n8k64 s4", E_S8, E_S32, 2, 2, 4, 4, FEW_S32("m16n8k64", "s4"), false, 8},
    {"sparse m16n8k128 s4", E_S8, E_S32, 4, 4, 4, 4, TWICE_S32("m16n8k128", "s4"), false, 8},
    {"sparse m16n8k64 e4m3 to f32", E_E4M3, E_F32, 4, 4, 4, 4, TWICE_F32("m16n8k64", "e4m3"), false, 4},
    {"m8n8k4 row.col f16 to f32", E_F16, E_F32, 2, 2, 8, 8, QUAD_F32("row.col"), false, 0},
    {"m8n8k4 col.row f16 to f32", E_F16, E_F32, 2, 2, 8, 8, QUAD_F32("col.row"), false, 0},
    {"m8n8k4 row.row f16 to f16", E_F16, E_F16, 2, 2, 4, 4, QUAD_F16("row.row"), false, 0},
    {"m8n8k4 col.col f16 to f16", E_F16, E_F16, 2, 2, 4, 4, QUAD_F16("col.col"), false, 0},
    {"m64n8k32 sparse f16 to f32", E_F16, E_F32, 4, 1, 4, 4, GROUP_SPARSE("m64n8k32", "f16", "0", ", 1, 1, 0, 0"),
     false, 4},
    {"m64n8k32 sparse f16 to f32 by others", E_F16, E_F32, 4, 1, 4, 4,
     GROUP_SPARSE("m64n8k32", "f16", "1", ", 1, 1, 0, 0"), false, 4},
    {"m64n8k16 sparse tf32 to f32", E_TF32, E_F32, 4, 1, 4, 4, GROUP_SPARSE("m64n8k16", "tf32", "0", ", 1, 1"), false,
     2},
    {"m64n8k64 sparse e4m3 to f32", E_E4M3, E_F32, 4, 1, 4, 4, GROUP_SPARSE("m64n8k64", "e4m3", "0", ", 1, 1"), false,
     4},
};

/* ---- inputs ---- */

struct shape { /* of a number's bits */
	unsigned exponent, fraction;
};
static struct shape shape_of(enum element e)
{
	switch (e) {
	case E_F16:
		return (struct shape){5, 10};
	case E_E4M3:
		return (struct shape){4, 3};
	case E_E5M2:
		return (struct shape){5, 2};
	case E_F64:
		return (struct shape){11, 52};
	case E_BF16:
		return (struct shape){8, 7};
	default:
		return (struct shape){8, 23};
	}
}

static uint64_t below(struct rng *r, uint64_t n)
{
	return rng_below(r, n);
}

/* Specials: zeros, subnormal and the largest numbers, infinities and what is no number. */
static uint64_t number(struct rng *r, enum element e, enum mix mix, bool sum)
{
	if (e == E_S8)
		return rng_next(r) & 0xff;
	if (e == E_S32) {
		static const uint32_t edges[] = {0, 1, 2, 0x7fffffff, 0x80000000, 0xffffffff, 0x7ffffff0};
		return below(r, 2) ? edges[below(r, sizeof edges / sizeof *edges)] : (uint32_t)rng_next(r);
	}
	const struct shape s = shape_of(e);
	const uint64_t sign = (rng_next(r) & 1) << (s.exponent + s.fraction),
		       fraction = rng_next(r) & ((1ull << s.fraction) - 1), top = (1ull << s.exponent) - 1;
	uint64_t bias = top / 2, exponent = bias - below(r, 4);
	const uint64_t reach = bias < 13 ? bias : 13;
	switch (mix) {
	case MIX_FAR:
		exponent = bias - reach + below(r, 2 * reach);
		break;
	case MIX_CANCEL:
		exponent = sum ? bias + below(r, 12) : bias - below(r, 6);
		break;
	case MIX_SPECIAL:
		exponent = below(r, 24) == 0 ? top : below(r, 3) ? bias - below(r, 2) : below(r, 2);
		if (below(r, 8) == 0)
			return sign | exponent << s.fraction;
		break;
	default:
		break;
	}
	return sign | exponent << s.fraction | fraction;
}

static unsigned per_word(enum element e)
{
	return e == E_F16 || e == E_BF16 ? 2 : e == E_E4M3 || e == E_E5M2 || e == E_S8 ? 4 : 1;
}

static void words(struct rng *r, enum element e, enum mix mix, bool sum, unsigned n, uint32_t *out)
{
	const unsigned per = per_word(e);
	for (unsigned k = 0; k < n; k++) {
		if (e == E_F64) {
			const uint64_t v = number(r, e, mix, sum);
			out[k++] = (uint32_t)v;
			out[k] = (uint32_t)(v >> 32);
			continue;
		}
		out[k] = 0;
		for (unsigned i = 0; i < per; i++)
			out[k] |= (uint32_t)number(r, e, mix, sum) << (32 / per * i);
	}
}

/* Which elements of eight chunks are there: of four two, the first one first, of two one, which has two codes. */
static uint32_t which(struct rng *r, unsigned chunk)
{
	static const uint8_t of_two[] = {0x4, 0xe}, of_four[] = {0x4, 0x8, 0xc, 0x9, 0xd, 0xe};
	uint32_t all = 0;
	for (unsigned k = 0; k < 8; k++)
		all = all << 4 | (chunk == 2 ? of_two[below(r, sizeof of_two)] : of_four[below(r, sizeof of_four)]);
	return all;
}

static unsigned words_in(const struct matrix_case *c)
{
	return c->a_words + c->b_words + c->c_words + (c->chunk != 0);
}

static void fill(const struct matrix_case *c, enum mix mix, uint32_t *in)
{
	struct rng r;
	rng_seed(&r, SEED ^ hash64(c->name, strlen(c->name), mix));
	for (unsigned t = 0; t < THREADS; t++) {
		uint32_t *own = in + t * IN_MOST;
		words(&r, c->ab, mix, false, c->a_words + c->b_words, own);
		words(&r, c->c, mix, true, c->c_words, own + c->a_words + c->b_words);
		if (c->chunk)
			own[c->a_words + c->b_words + c->c_words] = which(&r, c->chunk);
	}
}

/* ---- a case ---- */

static void write_text(struct str *out, const struct device_info *d, const struct matrix_case *c)
{
	const bool small = c->ab == E_E4M3 || c->ab == E_E5M2, group = strncmp(c->name, "m64", 3) == 0;
	const int least = c->chunk	    ? 85 /* with metadata in order */
			  : group && !small ? 80
			  : !small	    ? 0
			  : c->c == E_F16   ? 87
					    : 84,
		  /* PTX ISA that has it */ version = d->ptx_version > least ? d->ptx_version : least;
	str_addf(
	    out,
	    ".version %d.%d\n.target %s%s\n.address_size 64\n.visible .entry k(.param .u64 out, .param .u64 in)\n{\n"
	    ".reg .b32 %%a<%d>, %%d<%d>, %%i;\n.reg .f32 %%f<4>, %%e<4>, %%h<4>, %%k<4>;\n.reg .f64 %%g<11>;\n"
	    ".reg .b64 %%o, %%n, %%w;\n"
	    "ld.param.u64 %%o, [out];\nld.param.u64 %%n, [in];\nmov.u32 %%i, %%tid.x;\n"
	    "mul.wide.u32 %%w, %%i, %d;\nadd.u64 %%n, %%n, %%w;\nmul.wide.u32 %%w, %%i, %d;\nadd.u64 %%o, %%o, %%w;\n",
	    version / 10, version % 10, d->target, group ? "a" : "", IN_MOST, OUT_MOST, IN_MOST * 4, OUT_MOST * 4);
	for (unsigned k = 0; k < words_in(c); k++)
		str_addf(out, "ld.global.b32 %%a%u, [%%n+%u];\n", k, 4 * k);
	str_add(out, c->body);
	for (unsigned k = 0; k < c->out_words; k++)
		str_addf(out, "st.global.b32 [%%o+%u], %%d%u;\n", 4 * k, k);
	str_add(out, "ret;\n}\n");
}

static int run_case(struct gpu *g, const struct matrix_case *c, const uint32_t *in, uint32_t *answer, struct err *e)
{
	struct native_info native;
	struct str text;
	uint32_t id = 0;
	str_init(&text);
	write_text(&text, g->ops->info(g), c);
	struct kernel_source src = {.name = c->name, .entry = "k", .text = str_text(&text)};
	int rc = text.failed ? err_nomem(e) : g->ops->load(g, &src, 1, &id, &native, e);
	str_free(&text);
	if (rc)
		return rc;
	struct launch l = {
	    .entry = "k", .grid = {1, 1, 1}, .block = {THREADS, 1, 1}, .buffer_count = 2, .arg_count = 2};
	snprintf(l.label, sizeof l.label, "%s", c->name);
	l.buffers[0] =
	    (struct launch_buffer){.bytes = THREADS * OUT_MOST * 4, .output = true, .output_words = THREADS * OUT_MOST};
	l.buffers[1] =
	    (struct launch_buffer){.bytes = THREADS * IN_MOST * 4, .init = in, .init_bytes = THREADS * IN_MOST * 4};
	l.args[0] = (struct launch_arg){.kind = ARG_BUFFER};
	l.args[1] = (struct launch_arg){.kind = ARG_BUFFER, .buffer = 1};
	struct sample out = {0};
	rc = g->ops->run(g, id, &l, &out, e);
	if (!rc && (out.outcome != OUTCOME_OK || out.words_per_repeat != THREADS * OUT_MOST))
		rc = err_set(e, -1, "%s: %s", c->name, out.message);
	if (!rc)
		memcpy(answer, out.words, THREADS * OUT_MOST * 4);
	sample_free(&out);
	return rc;
}

static void print(const struct matrix_case *c, enum mix mix, const uint32_t *in, const uint32_t *answer)
{
	printf("case %s; %s\n", c->name, mixes[mix]);
	for (unsigned t = 0; t < THREADS; t++) {
		for (unsigned k = 0; k < words_in(c); k++)
			printf("%08x ", in[t * IN_MOST + k]);
		printf(":");
		for (unsigned k = 0; k < c->out_words; k++)
			printf(" %08x", answer[t * OUT_MOST + k]);
		printf("\n");
	}
}

static unsigned compare(const struct matrix_case *c, const uint32_t *got, const uint32_t *want)
{
	unsigned wrong = 0;
	for (unsigned t = 0; t < THREADS; t++)
		for (unsigned k = 0; k < c->out_words; k++)
			wrong += got[t * OUT_MOST + k] != want[t * OUT_MOST + k];
	return wrong;
}

static bool move(FILE *f, bool reads, uint32_t *at, unsigned n)
{
	return (reads ? fread(at, 4, n, f) : fwrite(at, 4, n, f)) == n;
}

int main(int argc, char **argv)
{
	const bool compares = argc == 4 && strcmp(argv[3], "--compare") == 0;
	const bool prints = argc == 3 && strcmp(argv[2], "--inputs") == 0;
	static uint32_t in[THREADS * IN_MOST], answer[THREADS * OUT_MOST], want[THREADS * OUT_MOST];
	struct err e = {0};
	struct gpu *g;
	unsigned wrong = 0, compared = 0;

	if (argc != 3 && !compares)
		return fprintf(stderr, "usage: matrix_answers DEVICE FILE [--compare]\n"), 2;
	if (gpu_open(&g, argv[1], 1, false, &e))
		return fprintf(stderr, "%s\n", e.text), 3;
	FILE *f = prints ? stdout : fopen(argv[2], compares ? "rb" : "wb");
	if (!f)
		return perror(argv[2]), 3;
	char head[200] = "";
	if (compares && (!fgets(head, sizeof head, f) || strncmp(head, MAGIC, strlen(MAGIC)) != 0))
		return fprintf(stderr, "%s holds no answers\n", argv[2]), 3;
	if (!compares)
		fprintf(f, MAGIC " on %s, %s\n", g->ops->info(g)->name, g->ops->info(g)->driver);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		for (int mix = 0; mix < MIXES; mix++) {
			const struct matrix_case *c = &cases[i];
			if ((c->ab == E_S32 && mix) || (c->given && mix != MIX_NEAR && mix != MIX_SPECIAL))
				continue;
			fill(c, (enum mix)mix, in);
			for (unsigned t = 0; t < THREADS && c->given && !prints; t++)
				if (!move(f, compares, in + t * IN_MOST, words_in(c)))
					return fprintf(stderr, "%s: %s\n", argv[2], c->name), 1;
			if (run_case(g, c, in, answer, &e)) {
				fprintf(stderr, "%s: %s\n", c->name, e.text);
				if (compares)
					return 1;
			}
			if (prints)
				print(c, (enum mix)mix, in, answer);
			for (unsigned t = 0; t < THREADS && !prints; t++)
				if (!move(f, compares, (compares ? want : answer) + t * OUT_MOST, c->out_words))
					return fprintf(stderr, "%s: %s\n", argv[2], c->name), 1;
			const unsigned bad = compares ? compare(c, answer, want) : 0;
			if (bad)
				printf("%s, %s: %u of %u words differ\n", c->name, mixes[mix], bad,
				       THREADS * c->out_words);
			wrong += bad;
			compared += THREADS * c->out_words;
		}
	if (compares)
		printf("%u words, %u wrong\n", compared, wrong);
	if (!prints && fclose(f))
		return perror(argv[2]), 3;
	g->ops->close(g);
	return wrong > 0;
}
