/* Products of a warpgroup: matrices in shared memory by descriptors, plain and with pieces that trade places, and in registers. */
#include "base/str.h"
#include "gpu/sim/sim.h"

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

enum { M = 64, N = 16, K = 16, THREADS = 128, EACH = M * N / THREADS, A_BYTES = 8192, LINE = 128 };

/* Every half of shared memory gets a small number made of its place. d is the first product, less the second. */
static const char head[] =
    ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 out) {\n"
    "	.reg .pred %p, %no, %yes;\n	.reg .b16 %h;\n	.reg .b32 %t, %i, %v, %a, %r<4>;\n	.reg .f32 %d<8>;\n"
    "	.reg .b64 %o, %w, %s<4>;\n	.shared .align 1024 .b8 room[12288];\n"
    "	mov.u32 %t, %tid.x;\n	mov.u32 %i, %t;\nL:\n	mul.lo.u32 %v, %i, 7;\n	rem.u32 %v, %v, 13;\n"
    "	sub.s32 %v, %v, 6;\n	cvt.rn.f16.s32 %h, %v;\n	shl.b32 %a, %i, 1;\n	mov.u32 %v, room;\n"
    "	add.u32 %a, %a, %v;\n	st.shared.b16 [%a], %h;\n	add.u32 %i, %i, 128;\n"
    "	setp.lt.u32 %p, %i, 6144;\n	@%p bra L;\n	bar.sync 0;\n	setp.ne.u32 %no, %t, %t;\n"
    "	setp.eq.u32 %yes, %t, %t;\n	mov.b32 %r0, 0x3c003c00;\n";
static const char tail[] =
    "	wgmma.commit_group.sync.aligned;\n	wgmma.wait_group.sync.aligned 0;\n	ld.param.u64 %o, [out];\n"
    "	mul.wide.u32 %w, %t, 32;\n	add.u64 %o, %o, %w;\n	st.global.v4.f32 [%o], {%d0, %d1, %d2, %d3};\n"
    "	st.global.v4.f32 [%o + 16], {%d4, %d5, %d6, %d7};\n	ret;\n}\n";
#define PRODUCT                                                                                                        \
	"	wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 {%%d0, %%d1, %%d2, %%d3, %%d4, %%d5, %%d6, %%d7}, "

/* The half at a place of shared memory. */
static double half_at(unsigned byte)
{
	return (double)(int)(byte / 2 * 7 % 13) - 6;
}

enum way { PLAIN, SWIZZLED, REGISTERS, ACROSS, SWIZZLED_ACROSS };

/* The place of element k of a line. Without swizzle 8 lines of 16 bytes lie together. Such tiles follow each other down
 * a matrix of that many lines, then across. With it a line has 128 bytes, whose 16-byte pieces are exchanged by the
 * line's number. A matrix that lies across has lines and columns the other way round. Without swizzle its tiles follow
 * each other along the columns first. */
static unsigned place(enum way way, unsigned lines, unsigned line, unsigned k)
{
	const unsigned byte = 2 * k, over = 2 * line;
	switch (way) {
	case SWIZZLED:
		return line * LINE + (byte / 16 ^ line % 8) * 16 + byte % 16;
	case ACROSS:
		return over / 16 * 2 * K * 16 + k * 16 + over % 16;
	case SWIZZLED_ACROSS:
		return k * LINE + (over / 16 ^ k % 8) * 16 + over % 16;
	default:
		return byte / 16 * lines * 16 + line * 16 + byte % 16;
	}
}

/* REGISTERS: a is one in every element. */
static void check(enum way way, const float *got)
{
	for (unsigned t = 0; t < THREADS; t++)
		for (unsigned e = 0; e < EACH; e++) {
			const unsigned lane = t % 32, y = t / 32 * 16 + lane / 4 + e / 2 % 2 * 8,
				       x = e / 4 * 8 + lane % 4 * 2 + e % 2;
			double want = 0;
			for (unsigned half = 0; half < 2; half++)
				for (unsigned k = half * K; k < (half + 1) * K; k++) {
					const double a = way == REGISTERS ? 1 : half_at(place(way, M, y, k));
					const double b = half_at(A_BYTES + place(way, N, x, k));
					want += half ? -a * b : a * b;
				}
			assert_float_equal(got[t * EACH + e], want, 0);
		}
}

/* Start, leading distance and stride, kind of swizzle: the places as above, for the elements of a product from K * slice on. */
static unsigned long long descriptor(enum way way, unsigned start, unsigned lines, unsigned slice)
{
	static const struct {
		unsigned leading, stride, step;
	} of[] = {[SWIZZLED] = {16, 8 * LINE, 2 * K},
		  [ACROSS] = {128, 2 * K * 16, K * 16},
		  [SWIZZLED_ACROSS] = {16, 8 * LINE, K * LINE}};
	const bool plain = way == PLAIN || way == REGISTERS, swizzled = way == SWIZZLED || way == SWIZZLED_ACROSS;
	const unsigned leading = plain ? lines * 16 : of[way].leading, stride = plain ? 128 : of[way].stride;
	const unsigned from = start + (plain ? 2 * leading : of[way].step) * slice;
	return from / 16 | (unsigned long long)(leading / 16) << 16 | (unsigned long long)(stride / 16) << 32 |
	       (swizzled ? 1ull << 62 : 0);
}

static void run(enum way way)
{
	struct err e = {0};
	struct gpu *g;
	struct sample s;
	struct str text;
	uint32_t id;
	str_init(&text);
	str_add(&text, head);
	for (unsigned slice = 0; slice < 2; slice++)
		str_addf(&text, "	mov.b64 %%s%u, %llu;\n	mov.b64 %%s%u, %llu;\n", 2 * slice,
			 descriptor(way, 0, M, slice), 2 * slice + 1, descriptor(way, A_BYTES, N, slice));
	str_add(&text, "	wgmma.fence.sync.aligned;\n");
	for (unsigned slice = 0; slice < 2; slice++) {
		const char *first = way == REGISTERS ? "{%r0, %r0, %r0, %r0}" : slice ? "%s2" : "%s0";
		str_addf(&text, PRODUCT "%s, %%s%u, %s, %d, 1%s;\n", first, 2 * slice + 1, slice ? "%yes" : "%no",
			 slice ? -1 : 1,
			 way == REGISTERS			   ? ", 0"
			 : way == ACROSS || way == SWIZZLED_ACROSS ? ", 1, 1"
								   : ", 0, 0");
	}
	str_add(&text, tail);
	if (gpu_sim.open(&g, "h200", 1, &e))
		fail_msg("%s", e.text);
	struct kernel_source src = {.name = "warpgroup", .entry = "k", .text = str_text(&text)};
	if (g->ops->load(g, &src, 1, &id, NULL, &e))
		fail_msg("%s", e.text);
	struct launch l = {.grid = {1, 1, 1}, .block = {THREADS, 1, 1}, .buffer_count = 1, .arg_count = 1};
	l.buffers[0] = (struct launch_buffer){.bytes = M * N * 4, .output = true, .output_words = M * N};
	l.args[0].kind = ARG_BUFFER;
	assert_int_equal(g->ops->run(g, id, &l, &s, &e), 0);
	assert_string_equal(s.message, "");
	check(way, (const float *)(const void *)s.words);
	sample_free(&s);
	g->ops->close(g);
	str_free(&text);
}

static void plain_matrices(void **state)
{
	(void)state;
	run(PLAIN);
}

static void swizzled_matrices(void **state)
{
	(void)state;
	run(SWIZZLED);
}

static void a_in_registers(void **state)
{
	(void)state;
	run(REGISTERS);
}

static void matrices_across(void **state)
{
	(void)state;
	run(ACROSS);
	run(SWIZZLED_ACROSS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(plain_matrices),
	    cmocka_unit_test(swizzled_matrices),
	    cmocka_unit_test(a_in_registers),
	    cmocka_unit_test(matrices_across),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
