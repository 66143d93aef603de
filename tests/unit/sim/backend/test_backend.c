/* The simulated GPU behind the seam: what goes in and what comes out, and what is refused. */
#include "../../gpu/texture_cases.h"
#include "base/arena.h"
#include "base/str.h"
#include "gpu/sim/func/func.h"
#include "gpu/sim/sim.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#define HEADER ".version 6.0\n.target sm_70\n.address_size 64\n"

static struct gpu *open_toy(void)
{
	struct gpu *g = NULL;
	struct err e = {0};
	if (gpu_sim.open(&g, "toy", 1, &e))
		fail_msg("%s", e.text);
	return g;
}

static uint32_t load(struct gpu *g, const char *text, struct native_info *n)
{
	struct err e = {0};
	struct kernel_source src = {.name = "test", .entry = "k", .text = text};
	uint32_t id = 0;
	if (g->ops->load(g, &src, 1, &id, n, &e))
		fail_msg("%s", e.text);
	return id;
}

static struct launch shape(uint32_t grid, uint32_t block, uint32_t words)
{
	struct launch l = {.entry = "k", .grid = {grid, 1, 1}, .block = {block, 1, 1}};
	l.buffers[0] = (struct launch_buffer){.bytes = words * 4ull, .output = true, .output_words = words};
	l.args[0] = (struct launch_arg){.kind = ARG_BUFFER};
	l.buffer_count = l.arg_count = 1;
	return l;
}

static struct sample run(struct gpu *g, uint32_t id, const struct launch *l)
{
	struct err e = {0};
	struct sample s;
	if (g->ops->run(g, id, l, &s, &e))
		fail_msg("%s", e.text);
	return s;
}

static const char count_text[] =
    HEADER ".const .align 4 .u32 step[4];\n"
	   ".visible .entry k(.param .u64 out, .param .u32 add)\n{\n"
	   "	.reg .b32 %t, %a, %s;\n	.reg .b64 %o, %w;\n"
	   "	ld.param.u64 %o, [out];\n	ld.param.u32 %a, [add];\n	ld.const.u32 %s, [step + 4];\n"
	   "	mov.u32 %t, %tid.x;\n	mul.wide.u32 %w, %t, 4;\n	add.u64 %o, %o, %w;\n"
	   "	atom.global.add.u32 %s, [%o], %s;\n	atom.global.add.u32 %s, [%o], %a;\n	ret;\n}\n";

static void arguments_buffers_and_repeats(void **state)
{
	(void)state;
	static const uint32_t step[2] = {9, 100}, start[3] = {1000, 2000, 3000};
	struct gpu *g = open_toy();
	uint32_t id = load(g, count_text, NULL);
	struct launch l = shape(3, 8, 8);
	l.buffers[0].init = start;
	l.buffers[0].init_bytes = sizeof start;
	l.buffers[1] = (struct launch_buffer){
	    .space = BUFFER_CONSTANT, .symbol = "step", .bytes = 8, .init = step, .init_bytes = sizeof step};
	l.buffer_count = 2;
	l.args[1] = (struct launch_arg){.kind = ARG_U32, .bits = 7};
	l.arg_count = 2;
	l.repeats = 3;
	l.warmups = 2;
	struct sample s = run(g, id, &l);
	assert_int_equal(s.outcome, OUTCOME_OK);
	assert_int_equal(s.repeats, 3);
	assert_int_equal(s.words_per_repeat, 8);
	/* Content is set before every launch, so no repeat sees what the one before left. */
	for (uint32_t k = 0; k < 24; k++)
		assert_int_equal(s.words[k], (k % 8 < 3 ? start[k % 8] : 0) + 3 * 107);
	assert_true(s.elapsed_ms > 0);
	sample_free(&s);
	/* Each repeat's time behind its words. */
	l.timed = SPAN_KERNELS;
	s = run(g, id, &l);
	assert_int_equal(s.words_per_repeat, 10);
	for (uint32_t r = 0; r < 3; r++) {
		const uint32_t *w = s.words + (size_t)r * 10;
		assert_int_equal(w[0], start[0] + 3 * 107);
		assert_true(w[8] > 0 && w[9] == 0);
	}
	assert_true(fabs(s.elapsed_ms * 1e6 - s.words[28]) <= 1);
	sample_free(&s);
	g->ops->close(g);
}

static const char chase_text[] = HEADER
    ".visible .entry k(.param .u64 out, .param .u64 p, .param .u32 n)\n{\n"
    "	.reg .pred %q;\n	.reg .b32 %i, %n, %a, %b;\n	.reg .b64 %o, %p;\n"
    "	ld.param.u64 %o, [out];\n	ld.param.u64 %p, [p];\n	ld.param.u32 %n, [n];\n"
    "	mov.u32 %i, 0;\n	mov.u32 %a, %clock;\n"
    "L:\n	ld.global.u64 %p, [%p];\n	add.u32 %i, %i, 1;\n	setp.lt.u32 %q, %i, %n;\n	@%q bra L;\n"
    "	setp.eq.u64 %q, %p, 1;\n	@%q bra E;\n	mov.u32 %b, %clock;\n	sub.u32 %b, %b, %a;\n"
    "	st.global.u64 [%o], %p;\n	st.global.u32 [%o + 8], %b;\nE:\n	ret;\n}\n";

static uint32_t chase(struct gpu *g, uint32_t id, uint32_t count, uint32_t stride, uint32_t steps, bool flush)
{
	static uint64_t ring[4096];
	struct launch l = shape(1, 1, 4);
	assert_true(count <= 4096);
	for (uint32_t k = 0; k < count; k++)
		ring[k] = (uint64_t)k * stride;
	l.buffers[1] = (struct launch_buffer){
	    .bytes = (uint64_t)count * stride, .ring = ring, .ring_count = count, .ring_word = 8};
	l.buffer_count = 2;
	l.args[1] = (struct launch_arg){.kind = ARG_BUFFER, .buffer = 1};
	l.args[2] = (struct launch_arg){.kind = ARG_U32, .bits = steps};
	l.arg_count = 3;
	l.flush = flush;
	struct sample s = run(g, id, &l);
	assert_int_equal(s.outcome, OUTCOME_OK);
	uint64_t end = s.words[0] | (uint64_t)s.words[1] << 32;
	assert_int_equal(end % 256, (uint64_t)(steps % count) * stride % 256);
	uint32_t ticks = s.words[2];
	sample_free(&s);
	return ticks;
}

static void caches_stay_warm_until_the_host_says_otherwise(void **state)
{
	(void)state;
	struct gpu *g = open_toy();
	uint32_t id = load(g, chase_text, NULL);
	uint32_t cold = chase(g, id, 8, 256, 8, false);
	uint32_t warm = chase(g, id, 8, 256, 8, false);
	assert_true(warm < cold);
	assert_int_equal(chase(g, id, 8, 256, 8, false), warm); /* the same ring again is not copied again */
	assert_int_equal(chase(g, id, 8, 256, 8, true), cold);
	assert_int_equal(chase(g, id, 8, 256, 8, false), warm);
	chase(g, id, 8, 192, 8, false); /* other content */
	assert_int_equal(chase(g, id, 8, 256, 8, false), cold);
	g->ops->close(g);
}

/* A kernel as the probes have them, on random GPUs with all their noise. It has reads of the clock around loads from
 * both spaces, a barrier, shared memory, and blocks that leave at once. */
static const char mixed_text[] =
    ".address_size 64\n.const .align 4 .b8 table[4096];\n"
    ".visible .entry k(.param .u64 out, .param .u64 p, .param .u32 n)\n{\n"
    "	.reg .pred %q;\n	.reg .b32 %i, %n, %a, %b, %c, %s;\n	.reg .b64 %o, %p, %w;\n	.shared .align 4 .b8 "
    "note[1024];\n"
    "	mov.u32 %a, %smid;\n	setp.ne.u32 %q, %a, 0;\n	@%q ret;\n"
    "	ld.param.u64 %o, [out];\n	ld.param.u64 %p, [p];\n	ld.param.u32 %n, [n];\n"
    "	mov.u32 %i, %tid.x;\n	setp.ne.u32 %q, %i, 0;\n	bar.sync 0;\n	@%q ret;\n"
    "	mov.u32 %i, 0;\n	mov.u32 %c, table;\n	mov.u32 %s, note;\n"
    "L:\n	mov.u32 %a, %clock;\n	ld.global.u64 %p, [%p];\n	setp.eq.u64 %q, %p, 1;\n	@%q bra E;\n"
    "	mov.u32 %b, %clock;\n	sub.u32 %a, %b, %a;\n	st.shared.u32 [%s], %a;\n"
    "	mov.u32 %a, %clock;\n	ld.const.u32 %c, [%c];\n	setp.eq.u32 %q, %c, 1;\n	@%q bra E;\n"
    "	mov.u32 %b, %clock;\n	sub.u32 %a, %b, %a;\n	st.global.u32 [%o], %a;\n	ld.shared.u32 %b, [%s];\n"
    "	st.global.u32 [%o + 4], %b;\n	add.u64 %o, %o, 8;\n	add.u32 %i, %i, 1;\n	mul.lo.u32 %a, %i, %n;\n"
    "	setp.lt.u32 %q, %i, %n;\n	@%q bra L;\nE:\n	ret;\n}\n";

static void run_mixed(const struct sim_spec *spec, bool general, uint32_t *words, struct time_result *r)
{
	static uint64_t ring[300], table[64];
	struct gpu *g = NULL;
	struct err e = {0};
	char text[sizeof mixed_text + 64];
	for (uint64_t k = 0; k < 300; k++)
		ring[k] = k * 7 % 300 * 96;
	for (uint64_t k = 0; k < 64; k++)
		table[k] = k * 64;
	assert_int_equal(sim_open_spec(&g, spec, 11, &e), 0);
	snprintf(text, sizeof text, ".version %d.%d\n.target %s\n%s", spec->ptx_version / 10, spec->ptx_version % 10,
		 spec->target, mixed_text);
	uint32_t id = load(g, text, NULL);
	struct launch l = shape(spec->sm_count, 64, 1000);
	l.buffers[1] = (struct launch_buffer){.bytes = 300 * 96, .ring = ring, .ring_count = 300, .ring_word = 8};
	l.buffers[2] = (struct launch_buffer){.space = BUFFER_CONSTANT,
					      .symbol = "table",
					      .bytes = 4096,
					      .ring = table,
					      .ring_count = 64,
					      .ring_word = 4};
	l.buffer_count = 3;
	l.args[1] = (struct launch_arg){.kind = ARG_BUFFER, .buffer = 1};
	l.args[2] = (struct launch_arg){.kind = ARG_U32, .bits = 500};
	l.arg_count = 3;
	sim_general(g, general);
	struct sample s = run(g, id, &l);
	if (s.outcome != OUTCOME_OK)
		fail_msg("%s", s.message);
	memcpy(words, s.words, 4000);
	*r = *sim_result(g);
	sample_free(&s);
	g->ops->close(g);
}

static void solo_and_general_agree_on_random_gpus(void **state)
{
	(void)state;
	static uint32_t a[1000], b[1000];
	for (uint64_t seed = 1; seed <= 24; seed++) {
		struct arena arena;
		struct str text;
		struct sim_spec *spec;
		struct err e = {0};
		struct time_result ra, rb;
		arena_init(&arena);
		str_init(&text);
		assert_int_equal(spec_random(&text, seed), 0);
		if (spec_parse(&spec, &arena, "random.gpu", str_text(&text), text.len, &e))
			fail_msg("%s", e.text);
		run_mixed(spec, false, a, &ra);
		run_mixed(spec, true, b, &rb);
		assert_true(ra.solo > 5000);
		assert_int_equal(rb.solo, 0);
		assert_int_equal(ra.cycles, rb.cycles);
		assert_memory_equal(a, b, sizeof a);
		str_free(&text);
		arena_free(&arena);
	}
}

static void the_native_record_counts_what_is_timed(void **state)
{
	(void)state;
	struct gpu *g = open_toy();
	struct native_info n;
	load(g,
	     HEADER ".visible .entry k(.param .u64 out)\n{\n	.reg .b32 %a<4>;\n	.reg .b64 %o;\n"
		    "	ld.param.u64 %o, [out];\n	mov.u32 %a0, %tid.x;\n	mov.u32 %a1, %clock;\n"
		    "	mul.lo.u32 %a0, %a0, %a0;\n	mul.lo.u32 %a0, %a0, %a0;\n	add.u32 %a0, %a0, %a0;\n"
		    "	mov.u32 %a2, %clock;\n	st.global.u32 [%o], %a0;\n	mov.u32 %a3, %clock;\n	ret;\n}\n",
	     &n);
	assert_int_equal(n.clock_reads, 3);
	assert_int_equal(n.region_count, 2);
	assert_int_equal(n.region[0].total, 2 * 2 + 1); /* a multiplication is two native instructions on the toy */
	assert_int_equal(n.region[0].count[NATIVE_ALU], 5);
	assert_int_equal(n.region[0].top_count, 4);
	assert_int_equal(n.region[1].count[NATIVE_STORE], 1);
	assert_string_equal(n.source, "sim");
	assert_int_not_equal(n.fingerprint, 0);
	g->ops->close(g);
}

static void what_goes_wrong_is_an_outcome(void **state)
{
	(void)state;
	struct gpu *g = open_toy();
	struct launch l = shape(1, 1024, 4);
	uint32_t id = load(g, HEADER ".visible .entry k(.param .u64 out)\n{\n	ret;\n}\n", NULL);
	struct sample s = run(g, id, &l);
	assert_int_equal(s.outcome, OUTCOME_REFUSED);
	assert_non_null(strstr(s.message, "1024 threads"));
	sample_free(&s);

	l = shape(1, 64, 4);
	id = load(g,
		  HEADER ".visible .entry k(.param .u64 out)\n{\n	.reg .b64 %o;\n	.reg .b32 %a;\n"
			 "	ld.param.u64 %o, [out];\n	ld.global.u32 %a, [%o + 4096];\n	ret;\n}\n",
		  NULL);
	s = run(g, id, &l);
	assert_int_equal(s.outcome, OUTCOME_CRASH);
	assert_non_null(strstr(s.message, "line 9"));
	sample_free(&s);

	id = load(g,
		  HEADER ".visible .entry k(.param .u64 out)\n{\n	.reg .pred %p;\n	.reg .b32 %t;\n"
			 "	mov.u32 %t, %tid.x;\n	setp.lt.u32 %p, %t, 32;\n	@%p bra A;\n	bar.sync 1;\n"
			 "	bra.uni E;\nA:\n	bar.sync 2;\nE:\n	bar.sync 0;\n	ret;\n}\n",
		  NULL);
	s = run(g, id, &l);
	assert_int_equal(s.outcome, OUTCOME_DEADLOCK);
	sample_free(&s);

	id = load(
	    g,
	    HEADER
	    ".visible .entry k(.param .u64 out)\n{\n	.reg .b32 %i;\nL:\n	add.u32 %i, %i, 1;\n	bra L;\n}\n",
	    NULL);
	l.time_limit_ms = 20;
	s = run(g, id, &l);
	assert_int_equal(s.outcome, OUTCOME_TIMEOUT);
	sample_free(&s);
	g->ops->close(g);
}

static void what_cannot_be_asked_is_an_error(void **state)
{
	(void)state;
	struct gpu *g = open_toy();
	struct err e = {0};
	struct sample s;
	uint32_t id = load(g, chase_text, NULL);
	struct launch l = shape(1, 1, 4);
	assert_int_equal(g->ops->run(g, id, &l, &s, &e), -EINVAL);
	assert_non_null(strstr(e.text, "takes 3 arguments"));
	assert_int_equal(g->ops->run(g, 99, &l, &s, &e), -EINVAL);
	struct kernel_source src = {.name = "new",
				    .entry = "k",
				    .text = ".version 7.8\n.target sm_90\n.address_size 64\n"
					    ".visible .entry k()\n{\n	ret;\n}\n"};
	assert_int_equal(g->ops->load(g, &src, 1, &id, NULL, &e), -EINVAL);
	assert_non_null(strstr(e.text, "sm_90"));
	src.text = HEADER ".visible .entry k()\n{\n	frobnicate.u32 %r, 1;\n}\n";
	assert_true(g->ops->load(g, &src, 1, &id, NULL, &e) < 0);
	assert_non_null(strstr(e.text, "new:6"));
	g->ops->close(g);
}

static void devices_say_what_they_are(void **state)
{
	(void)state;
	struct device_list list = {0};
	struct err e = {0};
	assert_int_equal(gpu_sim.list(&list, &e), 0);
	bool toy = false;
	for (size_t k = 0; k < list.count; k++)
		toy |= !strcmp(list.items[k].spec, "sim:toy");
	assert_true(toy);
	mem_free(list.items);
	struct gpu *g = open_toy();
	const struct device_info *d = g->ops->info(g);
	assert_string_equal(d->spec, "sim:toy");
	assert_string_equal(d->dialect, "ptx");
	assert_int_equal(d->sm_count, 2);
	g->ops->close(g);
	assert_true(gpu_sim.open(&g, "no-such-gpu", 1, &e) < 0);
}

/* Everything that a run does to the outside goes through here, so every allocation of it is made to fail once. */
/* Arrays are tiled on one, and lie row by row on the other. */
static void textures_are_read(void **state)
{
	static const char *const gpus[] = {"toy", "v100"};
	(void)state;
	for (size_t k = 0; k < sizeof gpus / sizeof *gpus; k++) {
		struct gpu *g = NULL;
		struct err e = {0};
		if (gpu_sim.open(&g, gpus[k], 1, &e))
			fail_msg("%s", e.text);
		texture_cases(g);
		g->ops->close(g);
	}
}

static void running_out_of_memory_is_an_error(void **state)
{
	(void)state;
	bool done = false;
	for (long n = 1; !done && n < 4000; n++) {
		struct gpu *g = NULL;
		struct err e = {0};
		struct sample s = {0};
		uint32_t id;
		struct kernel_source src = {.name = "test", .entry = "k", .text = count_text};
		struct launch l = shape(3, 8, 8);
		l.args[1] = (struct launch_arg){.kind = ARG_U32, .bits = 7};
		l.arg_count = 2;
		mem_fail_after(n);
		int r = gpu_sim.open(&g, "toy", 1, &e);
		if (!r)
			r = g->ops->load(g, &src, 1, &id, NULL, &e);
		if (!r)
			r = g->ops->run(g, id, &l, &s, &e);
		mem_fail_after(0);
		done = r == 0;
		if (r)
			assert_int_equal(r, -ENOMEM);
		else
			assert_int_equal(s.outcome, OUTCOME_OK);
		sample_free(&s);
		if (g)
			g->ops->close(g);
	}
	assert_true(done);
}

/* Reads its last word of local memory, which nobody has written, and then may write it. */
static uint32_t load_local(struct gpu *g, unsigned bytes, bool write)
{
	char text[800];
	snprintf(
	    text, sizeof text,
	    HEADER
	    ".visible .entry k(.param .u64 out)\n{\n	.local .align 4 .b8 own[%u];\n"
	    "	.reg .b32 %%v, %%old;\n	.reg .b64 %%o, %%p;\n	ld.param.u64 %%o, [out];\n"
	    "	mov.u64 %%p, own;\n	ld.local.u32 %%old, [%%p + %u];\n	mov.u32 %%v, 7;\n"
	    "	%sst.local.u32 [%%p + %u], %%v;\n	atom.global.add.u32 %%v, [%%o], %%old;\n	ret;\n}\n",
	    bytes, bytes - 4, write ? "" : "//", bytes - 4);
	return load(g, text, NULL);
}

static void local_memory_is_what_was_left(void **state)
{
	(void)state;
	struct gpu *g = open_toy();
	/* No launch finds what an earlier one wrote, nor 0: one that has less of it, and writes none, leaves that alone. */
	const uint32_t large = load_local(g, 1024, true), small = load_local(g, 64, false),
		       of[] = {large, small, large, large};
	struct launch l = shape(8, 64, 1);
	for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
		struct sample s = run(g, of[i], &l);
		assert_int_equal(s.outcome, OUTCOME_OK);
		assert_int_equal(s.words[0], (uint32_t)(8 * 64 * (FUNC_LOCAL_LEFT * 0x01010101ull)));
		sample_free(&s);
	}
	g->ops->close(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(arguments_buffers_and_repeats),
	    cmocka_unit_test(caches_stay_warm_until_the_host_says_otherwise),
	    cmocka_unit_test(solo_and_general_agree_on_random_gpus),
	    cmocka_unit_test(the_native_record_counts_what_is_timed),
	    cmocka_unit_test(what_goes_wrong_is_an_outcome),
	    cmocka_unit_test(what_cannot_be_asked_is_an_error),
	    cmocka_unit_test(devices_say_what_they_are),
	    cmocka_unit_test(textures_are_read),
	    cmocka_unit_test(local_memory_is_what_was_left),
	    cmocka_unit_test(running_out_of_memory_is_an_error),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
