/* The truth told about a description is what stands in it. */
#include "base/str.h"
#include "gpu/sim/spec.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

struct wanted {
	const char *key;
	struct truth found;
	char text[32];
	unsigned times;
};

static int look(void *ctx, const struct truth *t)
{
	struct wanted *w = ctx;
	if (strcmp(t->key, w->key) != 0)
		return 0;
	w->found = *t;
	w->times++;
	if (t->text)
		strncpy(w->text, t->text, sizeof w->text - 1);
	return 0;
}

static struct wanted truth_of(const char *gpu, const char *key)
{
	struct arena a;
	struct err e = {0};
	struct sim_spec *s;
	struct wanted w = {.key = key};
	arena_init(&a);
	if (spec_open(&s, &a, gpu, &e))
		fail_msg("%s", e.text);
	assert_int_equal(spec_truth(s, look, &w), 0);
	if (w.times != 1)
		fail_msg("%s is told %u times of %s", key, w.times, gpu);
	arena_free(&a);
	return w;
}

static void expect_number(const char *gpu, const char *key, double number)
{
	struct wanted w = truth_of(gpu, key);
	if (w.found.absent || w.text[0] || fabs(w.found.number - number) > 1e-9)
		fail_msg("%s of %s is told as %g, absent %d", key, gpu, w.found.number, w.found.absent);
}

/* Local memory passes by an L1 that is for plain loads alone. */
static void local_memory_past_the_l1(void **state)
{
	static const char key[] = "memory.private.4.timed_hit";
	struct str text;
	struct arena a;
	struct err e = {0};
	struct sim_spec *s;
	struct wanted asks = {.key = key}, passes = {.key = key};

	(void)state;
	arena_init(&a);
	str_init(&text);
	assert_int_equal(spec_random(&text, 3150000006), 0);
	assert_int_equal(spec_parse(&s, &a, "drawn", str_text(&text), text.len, &e), 0);
	s->has_l1 = s->has_l2 = true;
	s->local_past_l1 = false;
	assert_int_equal(spec_truth(s, look, &asks), 0);
	s->local_past_l1 = true;
	assert_int_equal(spec_truth(s, look, &passes), 0);
	assert_true(fabs(asks.found.number - s->global.level[0].latency) <= asks.found.tolerance);
	assert_true(passes.found.number >= s->global.level[1].latency);
	str_free(&text);
	arena_free(&a);
}

static void numbers(void **state)
{
	(void)state;
	expect_number("gtx280", "clock.read_latency", 28);
	expect_number("gtx280", "clock.granularity", 2);
	/* Loads marked read-only ask a cache that others have, too. */
	expect_number("v100", "cache.readonly.l1.ways", 64);
	expect_number("v100", "cache.local.l1.ways", 64);
	expect_number("gtx280", "arith.mad.u32.latency", 120);
	expect_number("gtx280", "arith.mad.u32.native_ops", 5);
	expect_number("gtx280", "arith.mul.f32.throughput", 12);
	expect_number("gtx280", "arith.add.f64.issue", 32);
	expect_number("gtx280", "shared.latency", 38);
	expect_number("gtx280", "cache.constant.levels", 3);
	expect_number("gtx280", "cache.constant.l3.ways", 8);
	expect_number("gtx280", "cache.constant.l3.sets", 16);
	expect_number("gtx280", "cache.instruction.levels", 3);
	expect_number("gtx280", "cache.instruction.l1.sets", 4);
	expect_number("gtx280", "cache.instruction.fetch_bytes", 64);
	expect_number("gtx280", "memory.constant.latency", 476);
	expect_number("gtx280", "memory.global.latency", 440);
	expect_number("gtx280", "cache.texture.levels", 2);
	expect_number("gtx280", "cache.texture.l1.size", 5120);
	expect_number("gtx280", "cache.texture.l2.sets", 128);
	expect_number("gtx280", "memory.texture.latency", 499);
	expect_number("gtx280", "tlb.global.levels", 2);
	expect_number("gtx280", "tlb.global.l2.reach", 32 << 20);
	expect_number("gtx280", "tlb.global.miss_latency", 211);
	expect_number("gtx280", "tlb.texture.levels", 2);
	expect_number("gtx280", "tlb.texture.l1.reach", 8 << 20);
	expect_number("gtx280", "tlb.texture.l1.entries", 16);
	expect_number("gtx280", "tlb.texture.l2.reach", 16 << 20);
	expect_number("gtx280", "tlb.texture.l2.latency", 47);
	expect_number("gtx280", "tlb.page_size", 4096);
	/* Without a texture path, textures are read through the levels behind the L1. */
	expect_number("v100", "cache.texture.levels", 1);
	expect_number("v100", "cache.texture.l1.latency", 193 + 20);
	expect_number("v100", "cache.global.l2.latency", 193 + 20); /* half of the lines are 40 cycles farther */
	expect_number("v100", "cache.global.l2.partitions", 2);
	expect_number("v100", "cache.global.l1.sector", 32);
	expect_number("toy", "cache.global.levels", 2);
	expect_number("toy", "outstanding.loads_per_warp", 8);
	expect_number("toy", "shared.banks", 32);
	expect_number("toy", "shared.conflict_cost", 2);
}

static void absences(void **state)
{
	(void)state;
	static const char *const keys[] = {"cache.global.levels",    "cache.global.l1.size",  "cache.global.l2.latency",
					   "cache.constant.l4.size", "cache.texture.l3.size", "tlb.global.l3.reach",
					   "tlb.active_window"};
	assert_true(truth_of("k620", "tlb.global.levels").found.absent);
	for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
		assert_true(truth_of("gtx280", keys[i]).found.absent);
	assert_true(truth_of("toy", "cache.instruction.levels").found.absent);
	assert_false(truth_of("toy", "cache.global.l1.size").found.absent);
	assert_true(truth_of("toy", "outstanding.kind").found.absent);
	assert_true(truth_of("toy", "outstanding.merge").found.absent);
	assert_true(isinf(truth_of("toy", "outstanding.entries").found.number)); /* no table: no number is too large */
	assert_true(truth_of("toy", "memory.partitions").found.absent);
	assert_true(truth_of("toy", "memory.partition_stride").found.absent);
	assert_true(truth_of("toy", "cache.constant.l3.size").found.absent);
}

static void words(void **state)
{
	(void)state;
	assert_string_equal(truth_of("gtx280", "shared.cached").text, "no");
	assert_string_equal(truth_of("gtx280", "cache.texture.l1.scope").text, "cluster");
	assert_string_equal(truth_of("v100", "cache.texture.l1.shared_with").text, "global.l2");
	assert_string_equal(truth_of("gtx280", "clock.scope").text, "cluster");
	assert_string_equal(truth_of("gtx280", "cache.instruction.l1.shared_with").text, "none");
	assert_string_equal(truth_of("gtx280", "cache.instruction.l2.shared_with").text, "constant.l2");
	assert_string_equal(truth_of("gtx280", "cache.constant.l3.shared_with").text, "instruction.l3");
	assert_string_equal(truth_of("v100", "branch.independent_threads").text, "yes");
}

static void tolerances(void **state)
{
	(void)state;
	assert_true(truth_of("toy", "cache.constant.l1.size").found.tolerance == 0);
	assert_true(fabs(truth_of("toy", "shared.latency").found.tolerance - 1) < 1e-6);
	assert_true(fabs(truth_of("toy", "arith.add.u32.throughput").found.tolerance - 0.8) < 1e-9);
}

/* Ten warps of two chains each, of 21 cycles, just fill pipes of two cycles, if all come in turn. Otherwise, as in
 * simulated launches, it takes twelve. Chains of whole numbers of such turns fit, and so does one chain. */
static void chains_out_of_step(void **state)
{
	static const struct {
		double latency;
		const char *key;
		double number, tolerance;
	} rows[] = {
	    {21, "pipeline.sp.ilp2.ridge", 11, 1},
	    {21, "pipeline.sp.ilp1.ridge", 20, 1},
	    {16, "pipeline.sp.ilp2.ridge", 8, 0.4},
	};
	struct str text;
	struct arena a;
	struct err e = {0};
	struct sim_spec *s;

	(void)state;
	arena_init(&a);
	str_init(&text);
	assert_int_equal(spec_random(&text, 4000425049), 0);
	assert_int_equal(spec_parse(&s, &a, "drawn", str_text(&text), text.len, &e), 0);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct wanted w = {.key = rows[i].key};
		s->op[spec_find_op(s, "add", "f32")].latency = rows[i].latency;
		assert_int_equal(spec_truth(s, look, &w), 0);
		if (w.times != 1 || fabs(w.found.number - rows[i].number) > 1e-9 ||
		    fabs(w.found.tolerance - rows[i].tolerance) > 1e-9)
			fail_msg("%s with %g cycles is told as %g, to %g", rows[i].key, rows[i].latency, w.found.number,
				 w.found.tolerance);
	}
	str_free(&text);
	arena_free(&a);
}

static int refuse(void *ctx, const struct truth *t)
{
	unsigned *times = ctx;
	(void)t;
	++*times;
	return -12;
}

static void expect_word(const char *gpu, const char *key, const char *word)
{
	struct wanted w = truth_of(gpu, key);
	if (strcmp(w.text, word) != 0)
		fail_msg("%s of %s is told as '%s'", key, gpu, w.text);
}

static void units(void **state)
{
	(void)state;
	expect_word("gtx280", "arith.add.u32.unit", "sp");
	expect_word("gtx280", "arith.mul.f32.unit", "sp, sfu");
	expect_word("gtx280", "arith.add.f64.unit", "dpu");
	expect_word("v100", "arith.add.u32.unit", "int32");
	expect_word("v100", "arith.add.f32.unit", "fp32");
	expect_word("v100", "arith.add.f16x2.unit", "fp16");
	expect_word("toy", "arith.add.f64.unit", "sfu");     /* one slow pipe does both */
	expect_word("hd7970", "arith.rsqrt.f32.unit", "sp"); /* one pipe does everything */
	expect_word("gtx780", "arith.shl.b32.unit", "sp");   /* on one of the pipes of an addition */
	expect_number("gtx280", "unit.sp.latency", 24);
	expect_number("gtx280", "unit.sfu.issue", 16);
	expect_number("gtx280", "unit.dpu.throughput", 1);
	/* 24 cycles, one warp every 4.05: six fill it, as the CUDA programming guide says */
	expect_number("gtx280", "arith.add.u32.warps_to_fill", 6);
	expect_number("gtx280", "arith.rsqrt.f32.warps_to_fill", 2);
	/* four schedulers, of which each needs as many */
	expect_number("v100", "arith.add.f32.warps_to_fill", 8);
	/* 192 results a cycle of nine cycles are more than a block of single chains has */
	expect_number("gtx780", "arith.add.f32.warps_to_fill", 33);
}

static void a_refusal_ends_the_telling(void **state)
{
	(void)state;
	struct arena a;
	struct sim_spec *s;
	unsigned times = 0;
	arena_init(&a);
	assert_int_equal(spec_open(&s, &a, "toy", NULL), 0);
	assert_int_equal(spec_truth(s, refuse, &times), -12);
	assert_int_equal(times, 1);
	arena_free(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(local_memory_past_the_l1),
	    cmocka_unit_test(numbers),
	    cmocka_unit_test(absences),
	    cmocka_unit_test(words),
	    cmocka_unit_test(tolerances),
	    cmocka_unit_test(units),
	    cmocka_unit_test(chains_out_of_step),
	    cmocka_unit_test(a_refusal_ends_the_telling),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
