/* Kernels and launches that are wrong: each ends with what a driver would call it, and with the line. */
#include "gpu/sim/sim.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#define HEAD ".version 6.0\n.target sm_70\n.address_size 64\n"
#define ENTRY                                                                                                          \
	".visible .entry k(.param .u64 out)\n{\n"                                                                      \
	"	.reg .pred %p;\n	.reg .b32 %t, %a, %b;\n	.reg .b64 %o, %w;\n	.shared .align 8 .b8 s[64];\n"                  \
	"	.local .align 8 .b8 own[16];\n	ld.param.u64 %o, [out];\n	mov.u32 %t, %tid.x;\n"

struct bad {
	const char *text; /* behind HEAD and ENTRY: the first line is line 13 */
	enum outcome outcome;
	const char *says[3];
};

static struct gpu *open_toy(void)
{
	struct gpu *g = NULL;
	struct err e = {0};
	if (gpu_sim.open(&g, "toy", 1, &e))
		fail_msg("%s", e.text);
	return g;
}

static void run(struct gpu *g, const char *text, const uint32_t grid[3], const uint32_t block[3], uint32_t shared,
		struct sample *s)
{
	struct err e = {0};
	struct kernel_source src = {.name = "test", .entry = "k", .text = text};
	uint32_t id;
	if (g->ops->load(g, &src, 1, &id, NULL, &e))
		fail_msg("%s", e.text);
	struct launch l = {.entry = "k",
			   .grid = {grid[0], grid[1], grid[2]},
			   .block = {block[0], block[1], block[2]},
			   .shared_bytes = shared,
			   .buffer_count = 1,
			   .arg_count = 1,
			   .time_limit_ms = 500};
	l.buffers[0] = (struct launch_buffer){.bytes = 256, .output = true, .output_words = 64};
	l.args[0].kind = ARG_BUFFER;
	if (g->ops->run(g, id, &l, s, &e))
		fail_msg("%s", e.text);
}

static void a_wrong_access_names_everything(void **state)
{
	static const struct bad all[] = {
	    {"	st.global.u32 [%o + 256], %t;\n	ret;\n}\n",
	     OUTCOME_CRASH,
	     {"line 13: illegal address: store of 4 bytes at 0x10000100 is outside global memory",
	      "thread (0,0,0) of block (", "lane 0 of warp 0"}},
	    {"	setp.lt.u32 %p, %t, 3;\n	@%p ret;\n	mov.u32 %a, %tid.y;\n	setp.eq.u32 %p, %a, "
	     "0;\n	@%p ret;\n"
	     "	mov.u32 %a, %ctaid.y;\n	setp.eq.u32 %p, %a, 0;\n	@%p ret;\n	ld.global.u32 %a, [%o + "
	     "4096];\n	ret;\n}\n",
	     OUTCOME_CRASH,
	     {"line 21: illegal address: load of 4 bytes", "thread (3,1,0) of block (", "lane 19 of warp 0"}},
	    {"	ld.shared.v2.u32 {%a, %b}, [s + 60];\n	ret;\n}\n",
	     OUTCOME_CRASH,
	     {"line 13: misaligned address: load of 8 bytes at 0x3c in shared memory", "", ""}},
	    {"	st.shared.u32 [s + 64], %a;\n	ret;\n}\n",
	     OUTCOME_CRASH,
	     {"line 13: illegal address: store of 4 bytes at 0x40 is outside shared memory", "", ""}},
	    {"	mul.lo.u32 %a, %t, 4;\n	mov.u32 %b, own;\n	add.u32 %a, %a, %b;\n	st.local.u32 [%a], "
	     "%t;\n	ret;\n}\n",
	     OUTCOME_CRASH,
	     {"line 16: illegal address: store of 4 bytes at 0x10 is outside local memory", "thread (4,0,0)", ""}},
	    {"	mov.u64 %w, 65536;\n	ld.const.u32 %a, [%w];\n	ret;\n}\n",
	     OUTCOME_CRASH,
	     {"line 14: illegal address: load of 4 bytes at 0x10000 is outside constant memory", "", ""}},
	    {"	atom.global.add.u32 %a, [%o + 2], 1;\n	ret;\n}\n",
	     OUTCOME_CRASH,
	     {"line 13: misaligned address: atomic of 4 bytes at 0x10000002 in global memory", "", ""}},
	    {"	mov.u64 %w, 0;\n	ld.u32 %a, [%w];\n	ret;\n}\n",
	     OUTCOME_CRASH,
	     {"line 14: illegal address: load of 4 bytes at 0x0 is outside global memory", "", ""}},
	    {"	trap;\n}\n", OUTCOME_CRASH, {"line 13: trap; thread (0,0,0)", "", ""}},
	    {"	mov.u32 %a, 33;\n	bar.sync 1, %a;\n	ret;\n}\n", /* CUDA_ERROR_ILLEGAL_INSTRUCTION on an H200 */
	     OUTCOME_CRASH,
	     {"line 14: illegal instruction: a barrier for 33 threads", "", ""}},
	    {"L:\n	add.u32 %a, %a, 1;\n	bra L;\n}\n",
	     OUTCOME_TIMEOUT,
	     {"line 1", ": still running after 500 ms", ""}},
	    {"L:\n	bra L;\n}\n", OUTCOME_DEADLOCK, {"loop of line 14", "", ""}},
	};
	static const uint32_t grid[3] = {2, 2, 1}, block[3] = {16, 2, 1};
	(void)state;
	for (size_t n = 0; n < sizeof all / sizeof all[0]; n++) {
		char text[2048];
		struct gpu *g = open_toy();
		struct sample s;
		snprintf(text, sizeof text, "%s%s%s", HEAD, ENTRY, all[n].text);
		run(g, text, grid, block, 0, &s);
		for (unsigned k = 0; k < 3; k++)
			if (s.outcome != all[n].outcome || !strstr(s.message, all[n].says[k]))
				fail_msg("case %zu: %s \"%s\", not \"%s\"", n, outcome_name(s.outcome), s.message,
					 all[n].says[k]);
		/* The GPU goes on working. */
		sample_free(&s);
		run(g, HEAD ".visible .entry k(.param .u64 out)\n{\n	ret;\n}\n", grid, block, 0, &s);
		assert_int_equal(s.outcome, OUTCOME_OK);
		sample_free(&s);
		g->ops->close(g);
	}
}

/* What an H200 gives: all ones, for quotients and remainders alike. */
static void division_by_zero_is_no_error(void **state)
{
	static const char text[] = HEAD ENTRY
	    "	mov.u32 %b, 0;\n	div.s32 %a, %t, %b;\n	st.global.u32 [%o], %a;\n	rem.s32 %a, %t, %b;\n"
	    "	st.global.u32 [%o + 4], %a;\n	div.u32 %a, %t, %b;\n	st.global.u32 [%o + 8], %a;\n"
	    "	rem.u32 %a, %t, %b;\n	st.global.u32 [%o + 12], %a;\n	cvt.u64.u32 %w, %b;\n	div.s64 %w, "
	    "%o, %w;\n	st.global.u64 [%o + 16], %w;\n	ret;\n}\n";
	static const uint32_t one[3] = {1, 1, 1};
	(void)state;
	struct gpu *g = open_toy();
	struct sample s;
	run(g, text, one, one, 0, &s);
	assert_int_equal(s.outcome, OUTCOME_OK);
	for (unsigned k = 0; k < 6; k++)
		assert_int_equal(s.words[k], UINT32_MAX);
	sample_free(&s);
	g->ops->close(g);
}

static void too_much_is_refused(void **state)
{
	static const char text[] = HEAD ".visible .entry k(.param .u64 out)\n{\n	ret;\n}\n";
	static const uint32_t one[3] = {1, 1, 1}, wide[3] = {64, 64, 1};
	(void)state;
	struct gpu *g = open_toy();
	struct sample s;
	run(g, text, one, wide, 0, &s);
	assert_int_equal(s.outcome, OUTCOME_REFUSED);
	assert_non_null(strstr(s.message, "a block of 4096 threads is more than"));
	sample_free(&s);
	run(g, text, one, one, 1 << 20, &s);
	assert_int_equal(s.outcome, OUTCOME_REFUSED);
	assert_non_null(strstr(s.message, "line 4: a block with 1048576 bytes of shared memory is more than"));
	sample_free(&s);
	g->ops->close(g);

	/* Values that are all alive at once, one register each. */
	struct arena a;
	struct sim_spec *toy;
	struct err e = {0};
	static char many[16384];
	size_t n = (size_t)snprintf(
	    many, sizeof many,
	    HEAD ".visible .entry k(.param .u64 out)\n{\n	.reg .b32 %%r<100>;\n	.reg .b64 %%o;\n	"
		 "ld.param.u64 %%o, [out];\n");
	for (unsigned k = 0; k < 100; k++)
		n += (size_t)snprintf(many + n, sizeof many - n, "	ld.global.u32 %%r%u, [%%o];\n", k);
	for (unsigned k = 0; k < 100; k++)
		n += (size_t)snprintf(many + n, sizeof many - n, "	st.global.u32 [%%o], %%r%u;\n", k);
	snprintf(many + n, sizeof many - n, "	ret;\n}\n");
	arena_init(&a);
	assert_int_equal(spec_open(&toy, &a, "toy", &e), 0);
	toy->registers_per_sm = 1024;
	assert_int_equal(sim_open_spec(&g, toy, 1, &e), 0);
	static const uint32_t warp[3] = {32, 1, 1};
	run(g, many, one, warp, 0, &s);
	assert_int_equal(s.outcome, OUTCOME_REFUSED);
	/* All of them live when the last is loaded. */
	assert_non_null(strstr(s.message, "line 108: too many resources requested for launch"));
	sample_free(&s);
	g->ops->close(g);
	toy->registers_per_sm = 16384;
	toy->regfile.max_per_thread = 63;
	assert_int_equal(sim_open_spec(&g, toy, 1, &e), 0);
	run(g, many, one, warp, 0, &s);
	assert_int_equal(s.outcome, OUTCOME_REFUSED);
	assert_non_null(strstr(s.message, "line 108: a thread needs 102 registers, more than the 63"));
	sample_free(&s);
	g->ops->close(g);
	arena_free(&a);
}

/* What the kernel itself says of its blocks. */
static void a_block_that_the_kernel_is_not_for_is_refused(void **state)
{
	static const struct {
		const char *says;
		uint32_t block[3];
		const char *why; /* NULL: it runs */
	} all[] = {
	    {".reqntid 32, 2", {32, 2, 1}, NULL},
	    {".reqntid 32, 2", {64, 1, 1}, "line 4: the kernel is for blocks of 32 x 2 x 1 threads, not of 64 x 1 x 1"},
	    {".reqntid 64", {32, 2, 1}, "line 4: the kernel is for blocks of 64 x 1 x 1 threads, not of 32 x 2 x 1"},
	    {".maxntid 8, 8, 1", {64, 1, 1}, NULL},
	    {".maxntid 8, 8, 1", {65, 1, 1}, "line 4: the kernel is for blocks of at most 64 threads, not of 65"},
	};
	static const uint32_t one[3] = {1, 1, 1};
	(void)state;
	struct gpu *g = open_toy();
	for (size_t n = 0; n < sizeof all / sizeof all[0]; n++) {
		char text[256];
		struct sample s;
		snprintf(text, sizeof text, "%s.visible .entry k(.param .u64 out)\n%s\n{\n	ret;\n}\n", HEAD,
			 all[n].says);
		run(g, text, one, all[n].block, 0, &s);
		assert_int_equal(s.outcome, all[n].why ? OUTCOME_REFUSED : OUTCOME_OK);
		if (all[n].why)
			assert_string_equal(s.message, all[n].why);
		sample_free(&s);
	}
	g->ops->close(g);
}

static void recursion_with_registers_is_named(void **state)
{
	static const char text[] =
	    HEAD ".func f(.reg .b32 %n)\n{\n	call f, (%n);\n	ret;\n}\n"
		 ".visible .entry k(.param .u64 out)\n{\n	.reg .b32 %a;\n	call f, (%a);\n	"
		 "ret;\n}\n";
	(void)state;
	struct gpu *g = open_toy();
	struct err e = {0};
	struct kernel_source src = {.name = "test", .entry = "k", .text = text};
	uint32_t id;
	assert_int_equal(g->ops->load(g, &src, 1, &id, NULL, &e), -EINVAL);
	if (!strstr(e.text, "test:12") || !strstr(e.text, "calls itself and takes registers"))
		fail_msg("%s", e.text);
	g->ops->close(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_wrong_access_names_everything),
	    cmocka_unit_test(division_by_zero_is_no_error),
	    cmocka_unit_test(too_much_is_refused),
	    cmocka_unit_test(a_block_that_the_kernel_is_not_for_is_refused),
	    cmocka_unit_test(recursion_with_registers_is_named),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
