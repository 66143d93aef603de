/* Branches, calls, memory and lanes, as whole kernels; what decode refuses. */
#include "func_fixture.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define HEAD  ".version 8.0\n.target sm_90\n.address_size 64\n"
#define ENTRY ".entry k(.param .u64 out, .param .u64 in, .param .u64 big, .param .u32 n) {\n"
/* tid in t, this thread's word of the output in po, of the input in pi */
#define START                                                                                                          \
	".reg .u64 po, pi, d<8>; .reg .u32 t, v, r<8>; .reg .pred p, q; .reg .f32 f<4>; .reg .b16 h<4>;\n"             \
	"ld.param.u64 po, [out]; ld.param.u64 pi, [in]; mov.u32 t, %tid.x;\n"                                          \
	"mad.wide.u32 po, t, 4, po; mad.wide.u32 pi, t, 4, pi;\n"
#define END "st.global.u32 [po], v; ret; }\n"

typedef uint32_t expected(uint32_t t);

static void run_words(const char *text, expected *want)
{
	struct func_fixture f;
	fixture_open(&f);
	for (uint32_t k = 0; k < FIXTURE_BYTES / 4; k++)
		((uint32_t *)f.in->data)[k] = k * 3 + 1;
	if (fixture_load(&f, text, 90))
		fail_msg("%s", f.e.text);
	fixture_run(&f);
	for (uint32_t t = 0; t < 32; t++)
		if (((uint32_t *)f.out->data)[t] != want(t))
			fail_msg("thread %u: %x, not %x\n%s", t, ((uint32_t *)f.out->data)[t], want(t), text);
	fixture_close(&f);
}

/* ---- control ---- */
static uint32_t triangle(uint32_t t)
{
	return t * (t + 1) / 2;
}

static uint32_t collatz(uint32_t t)
{
	uint32_t n = 0;
	for (uint32_t x = t + 1; x != 1; n++)
		x = x % 2 ? 3 * x + 1 : x / 2;
	return n;
}

static uint32_t nested(uint32_t t)
{
	uint32_t v = 0;
	for (uint32_t i = 0; i < t % 4; i++)
		for (uint32_t k = 0; k < i + t % 3; k++)
			v += k % 2 ? i : 100;
	return v * 7 + 1;
}

static uint32_t early(uint32_t t)
{
	return t % 3 == 0 ? 5 : t % 3 == 1 ? 6 : 7;
}

static uint32_t indexed(uint32_t t)
{
	static const uint32_t value[4] = {11, 22, 33, 44};
	return t % 2 ? value[t / 2 % 4] : 99;
}

static uint32_t called(uint32_t t)
{
	uint32_t x = t > 10 ? 1000 + t : t * 2;
	return x + 1 + 30 * (t + 2);
}

static void branches(void **state)
{
	(void)state;
	run_words(HEAD ENTRY START
		  "mov.u32 v, 0; mov.u32 r0, 0;\n"
		  "L: setp.gt.u32 p, r0, t; @p bra D; add.u32 v, v, r0; add.u32 r0, r0, 1; bra L; D:\n" END,
		  triangle);
	run_words(HEAD ENTRY START
		  "mov.u32 v, 0; add.u32 r0, t, 1;\n"
		  "L: setp.eq.u32 p, r0, 1; @p bra D; and.b32 r1, r0, 1; setp.eq.u32 q, r1, 0; @q bra EVEN;\n"
		  "mad.lo.u32 r0, r0, 3, 1; bra NEXT; EVEN: shr.u32 r0, r0, 1; NEXT: add.u32 v, v, 1; bra L; D:\n" END,
		  collatz);
	run_words(HEAD ENTRY START
		  "mov.u32 v, 0; mov.u32 r0, 0; and.b32 r1, t, 3; rem.u32 r2, t, 3;\n"
		  "OUTER: setp.ge.u32 p, r0, r1; @p bra DONE; add.u32 r3, r0, r2; mov.u32 r4, 0;\n"
		  "{ INNER: setp.ge.u32 p, r4, r3; @p bra OUT; and.b32 r5, r4, 1; setp.ne.u32 q, r5, 0;\n"
		  "@q bra ODD; add.u32 v, v, 100; bra JOIN; ODD: add.u32 v, v, r0; JOIN: add.u32 r4, r4, 1;\n"
		  "bra.uni INNER; OUT: }\n"
		  "add.u32 r0, r0, 1; bra OUTER; DONE: mad.lo.u32 v, v, 7, 1;\n" END,
		  nested);
	/* lanes that leave early, by a guard and by a branch */
	run_words(HEAD ENTRY START "rem.u32 r0, t, 3; mov.u32 v, 5; setp.eq.u32 p, r0, 0;\n"
				   "@p st.global.u32 [po], v; @p exit; setp.eq.u32 p, r0, 1; @!p bra L; mov.u32 v, 6;\n"
				   "st.global.u32 [po], v; ret; L: mov.u32 v, 7;\n" END,
		  early);
	run_words(
	    HEAD ENTRY START
	    "mov.u32 v, 99; and.b32 r0, t, 1; setp.ne.u32 p, r0, 0; shr.u32 r1, t, 1;\n"
	    "and.b32 r1, r1, 3; T: .branchtargets A, B, C, D; @p brx.idx r1, T; bra E;\n"
	    "A: mov.u32 v, 11; bra E; B: mov.u32 v, 22; bra E; C: mov.u32 v, 33; bra E; D: mov.u32 v, 44; E:\n" END,
	    indexed);
}

static void calls(void **state)
{
	(void)state;
	run_words(HEAD
		  ".func (.param .b32 y) pick(.param .b32 x) {\n"
		  ".reg .u32 a; .reg .pred p; ld.param.u32 a, [x]; setp.gt.u32 p, a, 10; @p bra BIG;\n"
		  "add.u32 a, a, a; st.param.b32 [y], a; ret; BIG: add.u32 a, a, 1000; st.param.b32 [y], a; ret; }\n"
		  ".func (.reg .u32 y) plus(.reg .u32 a, .reg .pred one) {\n"
		  "mov.u32 y, a; @one add.u32 y, y, 1; }\n"
		  ".func (.reg .u32 y) deep(.reg .u32 a) { .reg .pred yes; setp.eq.u32 yes, 0, 0;\n"
		  "call (y), plus, (a, yes); call (y), plus, (y, yes); mul.lo.u32 y, y, 30; ret; }\n" ENTRY START
		  "{ .param .b32 a, b; st.param.b32 [a], t; call.uni (b), pick, (a); ld.param.b32 r0, [b]; }\n"
		  "setp.eq.u32 p, 0, 0; call (r0), plus, (r0, p); @p call (r1), deep, (t); add.u32 v, r0, r1;\n" END,
		  called);
	/* a guard of a call, a register for a .param and a result that nobody wants */
	run_words(HEAD
		  ".func (.param .b32 y) add5(.param .b32 x) { .reg .u32 a; ld.param.u32 a, [x]; add.u32 a, a, 5;\n"
		  "st.param.b32 [y], a; }\n" ENTRY START
		  "mov.u32 v, 5; call (_), add5, (v); rem.u32 r0, t, 3; setp.eq.u32 p, r0, 1; setp.eq.u32 q, r0, 2;\n"
		  "mov.u32 r1, 2; @q call (v), add5, (r1); mov.u32 r1, 1; @p call (v), add5, (r1);\n" END,
		  early);
}

/* ---- memory ---- */
static uint32_t extended(uint32_t t)
{
	uint32_t word = t * 3 + 1 + 0x80;
	return (uint32_t)(int32_t)(int8_t)word + (word & 0xff) * 3 + (uint32_t)(int32_t)(int16_t)(word << 8) * 5;
}

static uint32_t vectors(uint32_t t)
{
	uint32_t k = t / 4 * 4;
	return (3 * k + 1) + 10 * (3 * k + 4) + 100 * (3 * k + 7) + 1000 * (3 * k + 10);
}

static uint32_t reversed(uint32_t t)
{
	return (31 - t) * 2 + (t + 1) % 32;
}

static uint32_t constants(uint32_t t)
{
	static const uint32_t table[4] = {5, 7, 0xfffffffd, 0};
	return table[t % 4] + (t == 0 ? 0x1234 : 0) + 2;
}

static uint32_t parameters(uint32_t t)
{
	(void)t;
	return 0x55667788 + 0x11223344 + 7 + 0x88 + 0xffffff88;
}

static uint32_t generic(uint32_t t)
{
	return t + 1 + (t + 2) * 2 + (t + 3) * 4 + 0x70;
}

static void spaces(void **state)
{
	(void)state;
	run_words(HEAD ENTRY START
		  "ld.global.u32 r0, [pi]; add.u32 r0, r0, 0x80; shl.b32 r1, r0, 8; st.global.u32 [pi], r0;\n"
		  "st.global.b16 [pi+2], r1; ld.global.s8 r2, [pi]; ld.global.u8 r3, [pi]; ld.global.s16 r4, [pi+2];\n"
		  "mad.lo.u32 v, r3, 3, r2; mad.lo.u32 v, r4, 5, v;\n" END,
		  extended);
	run_words(HEAD ENTRY START
		  "and.b64 d0, pi, -16; ld.global.v4.u32 {r0, r1, r2, r3}, [d0];\n"
		  "ld.global.v2.u64 {d1, d2}, [d0]; cvt.u32.u64 r4, d2; sub.u32 r4, r4, r2; add.u32 r0, r0, r4;\n"
		  "ld.global.v2.b32 {_, r5}, [d0+8]; sub.u32 r5, r5, r3; mad.lo.u32 v, r1, 10, r0;\n"
		  "mad.lo.u32 v, r2, 100, v; mad.lo.u32 v, r3, 1000, v; add.u32 v, v, r5;\n" END,
		  vectors);
	run_words(
	    HEAD
	    ".extern .shared .b32 unused[];\n" ENTRY START
	    ".shared .u32 s[32]; .local .u32 mine[4]; mov.u32 r0, s; mad.lo.u32 r1, t, 4, r0; mul.lo.u32 r2, t, 2;\n"
	    "st.shared.u32 [r1], r2; st.local.u32 [mine+8], t; bar.sync 0; sub.u32 r3, 31, t;\n"
	    "mad.lo.u32 r3, r3, 4, r0; ld.shared.u32 v, [r3]; ld.local.u32 r4, [mine+8]; add.u32 r4, r4, 1;\n"
	    "and.b32 r4, r4, 31; add.u32 v, v, r4;\n" END,
	    reversed);
	run_words(HEAD
		  ".const .u8 odd = 9;\n.const .u32 table[4] = {5, 7, -3};\n.global .u32 cell = 0x1234;\n"
		  ".global .v2 .f32 pair;\n" ENTRY START
		  "and.b32 r0, t, 3; shl.b32 r0, r0, 2; mov.u32 r1, table; add.u32 r1, r1, r0; ld.const.u32 v, [r1];\n"
		  "mov.u32 r2, 0; setp.eq.u32 p, t, 0; @p ld.global.u32 r2, [cell]; add.u32 v, v, r2;\n"
		  "ld.const.u8 r3, [odd]; sub.u32 r3, r3, 7; add.u32 v, v, r3;\n" END,
		  constants);
	run_words(HEAD ENTRY START "ld.param.u32 v, [big]; ld.param.u32 r0, [big+4]; add.u32 v, v, r0;\n"
				   "ld.param.u32 r0, [n]; add.u32 v, v, r0; ld.param.u8 r0, [big]; add.u32 v, v, r0;\n"
				   "ld.param.s8 r0, [big]; add.u32 v, v, r0;\n" END,
		  parameters);
	run_words(
	    HEAD
	    ".const .u32 c = 0x70;\n" ENTRY START
	    ".shared .u32 s[32]; .local .u32 l; add.u32 r0, t, 1; st.global.u32 [pi], r0; add.u32 r0, r0, 1;\n"
	    "cvta.shared.u64 d0, 0; mov.u64 d1, s; add.u64 d0, d0, d1; mul.wide.u32 d2, t, 4; add.u64 d0, d0, d2;\n"
	    "st.u32 [d0], r0; add.u32 r0, r0, 1; mov.u64 d3, l; cvta.local.u64 d3, d3; st.u32 [d3], r0;\n"
	    "cvta.const.u64 d4, c; cvta.global.u64 d5, pi; ld.u32 r1, [d5]; ld.u32 r2, [d0]; ld.u32 r3, [d3];\n"
	    "ld.u32 r4, [d4]; mad.lo.u32 v, r2, 2, r1; mad.lo.u32 v, r3, 4, v; add.u32 v, v, r4;\n"
	    "isspacep.shared p, d0; @!p mov.u32 v, 0; isspacep.local p, d0; @p mov.u32 v, 0;\n"
	    "isspacep.global p, d5; @!p mov.u32 v, 0; cvta.to.local.u64 d6, d3; setp.ne.u64 p, d6, d3;\n"
	    "mov.u64 d7, l; setp.ne.u64 q, d6, d7; @q mov.u32 v, 1;\n" END,
	    generic);
}

/* ---- atomics ---- */
static void atomics(void **state)
{
	static const struct {
		const char *line;
		uint32_t start, cell;
		uint32_t first, last; /* what lanes 0 and 31 got back */
	} cases[] = {
	    {"atom.global.add.u32 v, [d0], 2;", 10, 74, 10, 72},
	    {"atom.global.exch.b32 v, [d0], t;", 77, 31, 77, 30},
	    {"atom.global.min.s32 v, [d0], r0;", 5, (uint32_t)-31, 5, (uint32_t)-30},
	    {"atom.global.min.u32 v, [d0], r0;", 5, 0, 5, 0},
	    {"atom.global.max.u32 v, [d0], t;", 5, 31, 5, 30},
	    {"atom.global.and.b32 v, [d0], 6;", 5, 4, 5, 4},
	    {"atom.global.or.b32 v, [d0], t;", 32, 63, 32, 63},
	    {"atom.global.xor.b32 v, [d0], 1;", 0, 0, 0, 1},
	    {"atom.global.inc.u32 v, [d0], 9;", 0, 2, 0, 1},
	    {"atom.global.dec.u32 v, [d0], 9;", 3, 1, 3, 2},
	    {"atom.global.cas.b32 v, [d0], t, r1;", 0, 32, 0, 31},
	    {"atom.global.add.f32 f0, [d0], 0f3F800000; mov.b32 v, f0;", 0, 0x42000000, 0, 0x41f80000},
	    {"atom.add.u32 v, [d0], 1;", 0, 32, 0, 31},
	    {"red.global.add.u32 [d0], 3;", 1, 97, 0, 0},
	};
	(void)state;
	for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
		struct func_fixture f;
		struct str text;
		str_init(&text);
		str_add(&text,
			HEAD ENTRY START "ld.param.u64 d0, [in]; neg.s32 r0, t; add.u32 r1, t, 1; mov.u32 v, 0;\n");
		str_add(&text, cases[k].line);
		str_add(&text, "\n" END);
		fixture_open(&f);
		((uint32_t *)f.in->data)[0] = cases[k].start;
		if (fixture_load(&f, text.data, 90))
			fail_msg("%s", f.e.text);
		fixture_run(&f);
		uint32_t *out = (uint32_t *)f.out->data;
		if (((uint32_t *)f.in->data)[0] != cases[k].cell || out[0] != cases[k].first ||
		    out[31] != cases[k].last)
			fail_msg("%s: cell %x, lanes %x %x", cases[k].line, ((uint32_t *)f.in->data)[0], out[0],
				 out[31]);
		fixture_close(&f);
		str_free(&text);
	}
}

/* ---- lanes ---- */
static uint32_t ballot(uint32_t t)
{
	return t % 2 ? 0x88888888 : 0x11111111;
}

static uint32_t votes(uint32_t t)
{
	(void)t;
	return 2 + 8 + 16;
}

static uint32_t shuffled(uint32_t t)
{
	uint32_t up = t >= 3 ? t - 3 : t, down = t + 5 < 32 ? t + 5 : t, fly = t ^ 9, idx = (t & 24) | 2;
	return up + (down << 6) + (fly << 12) + (idx << 18) + ((t >= 3) << 24) + ((t + 5 < 32) << 25);
}

static uint32_t matches(uint32_t t)
{
	return (0x49249249u << t % 3) + (t % 3 == 2 ? 0u : 0u);
}

static uint32_t identity(uint32_t t)
{
	return t + (1u << t) + ((1u << t) - 1) * 2 + 32 * 1000 + 4 * 100000;
}

static void lanes(void **state)
{
	(void)state;
	run_words(HEAD ENTRY START "and.b32 r0, t, 3; setp.eq.u32 p, r0, 0; setp.eq.u32 q, r0, 3; and.b32 r1, t, 1;\n"
				   "setp.ne.u32 q, r1, 0; @q bra ODD; vote.sync.ballot.b32 v, p, -1; bra J;\n"
				   "ODD: setp.eq.u32 p, r0, 3; vote.sync.ballot.b32 v, p, 0xffffffff; J:\n" END,
		  ballot);
	run_words(
	    HEAD ENTRY START
	    "mov.u32 v, 0; setp.gt.u32 p, t, 40; vote.sync.any.pred q, p, -1; @q add.u32 v, v, 1;\n"
	    "vote.sync.all.pred q, !p, -1; @q add.u32 v, v, 2; setp.gt.u32 p, t, 30; vote.sync.uni.pred q, p, -1;\n"
	    "@q add.u32 v, v, 4; vote.sync.any.pred q, p, -1; @q add.u32 v, v, 8; vote.sync.all.pred q, !p, "
	    "0x7fffffff;\n"
	    "@q add.u32 v, v, 16;\n" END,
	    votes);
	run_words(HEAD ENTRY START
		  "shfl.sync.up.b32 r0|p, t, 3, 0, -1; shfl.sync.down.b32 r1|q, t, 5, 31, -1;\n"
		  "shfl.sync.bfly.b32 r2, t, 9, 31, -1; shfl.sync.idx.b32 r3, t, 2, 0x181f, -1; shl.b32 r1, r1, 6;\n"
		  "shl.b32 r2, r2, 12; shl.b32 r3, r3, 18; add.u32 v, r0, r1; add.u32 v, v, r2; add.u32 v, v, r3;\n"
		  "@p add.u32 v, v, 0x1000000; @q add.u32 v, v, 0x2000000;\n" END,
		  shuffled);
	run_words(HEAD ENTRY START
		  "rem.u32 r0, t, 3; match.any.sync.b32 v, r0, -1; match.all.sync.b32 r1|p, r0, -1;\n"
		  "@p mov.u32 v, 0; setp.ne.u32 p, r1, 0; @p mov.u32 v, 1; match.all.sync.b32 r1|p, 5, -1;\n"
		  "@!p mov.u32 v, 2; mov.b64 d0, {r0, t}; match.any.sync.b64 r2, d0, -1; mov.u32 r3, %lanemask_eq;\n"
		  "setp.ne.u32 p, r2, r3; @p mov.u32 v, 3; isspacep.global p, t; @!p mov.u32 v, 4;\n" END,
		  matches);
	run_words(HEAD ENTRY START
		  "mov.u32 v, %laneid; mov.u32 r0, %lanemask_eq; add.u32 v, v, r0; mov.u32 r0, %lanemask_lt;\n"
		  "mad.lo.u32 v, r0, 2, v; mov.u32 r0, %ntid.x; mad.lo.u32 v, r0, 1000, v; mov.u32 r0, %nsmid;\n"
		  "mad.lo.u32 v, r0, 100000, v; mov.u32 r0, %ctaid.y; add.u32 v, v, r0; cvt.u32.u16 r0, %ctaid.z;\n"
		  "add.u32 v, v, r0; activemask.b32 r0; setp.ne.u32 p, r0, -1; @p mov.u32 v, 0;\n" END,
		  identity);
}

/* Threads of a block of three dimensions know their place. */
static void places(void **state)
{
	struct func_fixture f;
	(void)state;
	fixture_open(&f);
	f.block[0] = 5;
	f.block[1] = 4;
	f.block[2] = 3;
	f.grid[0] = 2;
	f.grid[1] = 3;
	assert_int_equal(
	    fixture_load(
		&f,
		HEAD ENTRY
		".reg .u64 p; .reg .u32 x, y, z, i, c, e; ld.param.u64 p, [out];\n"
		"mov.u32 x, %tid.x; mov.u32 y, %tid.y; mov.u32 z, %tid.z; mad.lo.u32 i, z, 4, y; mad.lo.u32 i, i, 5, "
		"x;\n"
		"mov.u32 c, %ctaid.y; mov.u32 e, %nctaid.x; mul.lo.u32 c, c, e; mov.u32 e, %ctaid.x; add.u32 c, c, e;\n"
		"mad.lo.u32 i, c, 60, i; mad.wide.u32 p, i, 4, p; mad.lo.u32 i, x, 100, y; mad.lo.u32 i, i, 100, z;\n"
		"mad.lo.u32 i, i, 100, c; st.global.u32 [p], i; ret; }\n",
		90),
	    0);
	fixture_run(&f);
	for (uint32_t c = 0; c < 6; c++)
		for (uint32_t i = 0; i < 60; i++)
			assert_int_equal(((uint32_t *)f.out->data)[c * 60 + i],
					 ((i % 5 * 100 + i / 5 % 4) * 100 + i / 20) * 100 + c);
	fixture_close(&f);
}

/* ---- packing ---- */
static uint32_t packed(uint32_t t)
{
	return (t * 3 + 1) * 0x10000u + (t & 0xffff) + (t ^ 5);
}

static void packing(void **state)
{
	(void)state;
	run_words(
	    HEAD ENTRY START
	    "ld.global.u32 r0, [pi]; mov.b64 d0, {t, r0}; mov.b64 {h0, h1, h2, h3}, d0; mov.b32 r1, {h0, h2};\n"
	    "mov.b64 d1, {h3, h2, h1, h0}; mov.b64 {_, r2}, d1; mov.b32 {h1, h2}, r2; mov.b32 r3, {h2, h1};\n"
	    "xor.b32 r4, t, 5; add.u32 v, r1, r4; mov.b64 {r5, r6}, d0; sub.u32 r5, r5, r3; add.u32 v, v, r5;\n" END,
	    packed);
}

/* ---- what does not end well ---- */
static void faults(void **state)
{
	static const struct {
		const char *line, *says;
	} cases[] = {
	    {"ld.global.u32 v, [po+1];", "line 8"},
	    {"ld.global.u32 v, [0];", "line 8"},
	    {"ld.shared.u32 v, [4096];", "line 8"},
	    {"st.global.v2.u32 [po+4], {t, t};", "line 8"},
	    {"ld.const.u32 v, [64];", "line 8"},
	    {"ld.local.u32 v, [64];", "line 8"},
	    {"atom.shared.add.u32 v, [512], 1;", "line 8"},
	    {"trap;", "line 8"},
	    {"ld.global.u8 v, [0xffffffff];", "line 8"},
	    {"ld.global.v4.u32 {v, v, v, v}, [0xffff0000];", "line 8"},
	};
	(void)state;
	for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
		struct func_fixture f;
		struct func_outcome out = {0};
		struct str text;
		str_init(&text);
		str_add(&text, HEAD ENTRY START);
		str_add(&text, cases[k].line);
		str_add(&text, "\n" END);
		fixture_open(&f);
		if (fixture_load(&f, text.data, 90))
			fail_msg("%s", f.e.text);
		for (f.block[0] = 1; f.block[0] <= 32; f.block[0] += 31) { /* one lane, then all: both handlers */
			assert_int_equal(fixture_try(&f, &out), 0);
			if (out.end != FUNC_FAULT || !strstr(out.message, cases[k].says))
				fail_msg("%s: %s", cases[k].line, out.message);
		}
		str_free(&text);
		fixture_close(&f);
	}
}

static void refusals(void **state)
{
	static const struct {
		const char *text, *says;
	} cases[] = {
	    {HEAD ".entry other { ret; }", "test:1:1: there is no kernel 'k'"},
	    {HEAD ".func k { ret; }", "no kernel 'k'"},
	    {HEAD ".func f(.reg .u32 x) { call f, (x); }\n.entry k { .reg .u32 y;\ncall f, (y); }",
	     "test:6:1: 'f' calls itself and takes registers"},
	    {HEAD ".extern .func f;\n.entry k {\ncall f; }", "test:6:1: 'f' has no body"},
	    {HEAD ".entry k { .reg .u64 t; .reg .f32 f;\ntex.2d.v4.f32.f32 {f, f, f, f}, [t, {f}]; }",
	     "test:5:1: tex.2d.v4.f32.f32 takes 2 coordinates, not 1"},
	    {HEAD ".entry k { .reg .u64 t; .reg .f32 f;\ntex.1d.v4.f32.s32 {f, f, f, f}, [t, {f}]; }",
	     "test:5:1: a coordinate of tex.1d.v4.f32.s32 has 32 bits and its type"},
	    {HEAD ".entry k { .reg .u64 t; .reg .f32 f;\ntex.1d.v2.f32.f32 {f, f}, [t, {f}]; }",
	     "test:5:1: tex.1d.v2.f32.f32 gives 4 registers"},
	    {HEAD ".func f(.param .b8 x[]) { call f, (x); }\n.entry k { .param .b32 y;\ncall f, (y); }",
	     "test:6:1: 'f' calls itself and takes an array without a size"},
	    {HEAD ".entry k { .reg .b128 x;\nst.global.b128 [4], 5; }",
	     "test:5:1: an access of 128 bits takes a register"},
	    {HEAD ".entry k { .reg .b32 x;\nmma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 {x}, {x}, {x}, {x}; }",
	     "test:5:1: mma.sync.aligned"},
	    {HEAD ".entry k(.param .u32 p) {\nst.param.u32 [p], 1; }", "test:5:1: the parameters of a kernel"},
	    {HEAD ".func f(.param .b32 x) { ret; }\n.entry k { .param .b64 y;\ncall f, (y); }",
	     "test:6:1: 'x' has 4 bytes"},
	    {HEAD ".func f(.reg .u32 x) { ret; }\n.entry k { .reg .u64 y;\ncall f, (y); }", "test:6:1: 'y' is .u64"},
	    {HEAD ".global .u8 huge[1073741824];\n.entry k { ret; }", ".global take"},
	};
	(void)state;
	for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
		struct func_fixture f;
		fixture_open(&f);
		if (fixture_load(&f, cases[k].text, 90) != -EINVAL || !strstr(f.e.text, cases[k].says))
			fail_msg("'%s' does not say '%s'", f.e.text, cases[k].says);
		fixture_close(&f);
	}
}

static const char big_kernel[] = HEAD
    ".const .u32 c[2] = {1, 2};\n.global .u32 g = 3;\n"
    ".func (.reg .u32 y) f(.reg .u32 a) { .reg .pred z; setp.lt.u32 z, a, 9; @z bra L; add.u32 a, a, 1; L: mov.u32 y, "
    "a; }\n" ENTRY START "T: .branchtargets A, B; setp.lt.u32 p, t, 4; @p bra A; brx.idx t, T; A: call (v), f, (t);\n"
    "B: add.cc.u32 v, v, 1; addc.u32 v, v, 0; cvt.rn.f32.u32 f0, v; add.f32 f0, f0, 0f3F800000;\n" END;

static void every_allocation_may_fail(void **state)
{
	struct func_target target = {.cc = 90};
	struct ptx_module *m;
	struct arena text;
	struct err e;
	(void)state;
	arena_init(&text);
	if (ptx_parse(&m, &text, "test", big_kernel, sizeof big_kernel - 1, &e))
		fail_msg("%s", e.text);
	bool done = false;
	for (long n = 1; !done; n++) {
		struct arena a;
		struct func_program *p;
		arena_init(&a);
		mem_fail_after(n);
		long before = mem_count();
		int rc = func_decode(&p, &a, "test", m, "k", &target, &e);
		mem_fail_after(0);
		done = mem_count() - before < n;
		assert_int_equal(rc, done ? 0 : -ENOMEM);
		arena_free(&a);
	}
	arena_free(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(branches), cmocka_unit_test(calls),
	    cmocka_unit_test(spaces),	cmocka_unit_test(atomics),
	    cmocka_unit_test(lanes),	cmocka_unit_test(places),
	    cmocka_unit_test(packing),	cmocka_unit_test(faults),
	    cmocka_unit_test(refusals), cmocka_unit_test(every_allocation_may_fail),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
