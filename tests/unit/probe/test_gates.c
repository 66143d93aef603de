/* Gates: each conflict turns exactly the findings that it involves INCONCLUSIVE. */
#include "data/keys.h"
#include "gates_findings.h"
#include "probe/chase.h"
#include "probe/policy.h"
#include <string.h>

/* A sound constant path of two levels. */
static struct finding_list sound(void)
{
	struct finding_list l = {0};

	add(&l, "cache.constant.levels", 2);
	add(&l, "cache.constant.l1.size", 2048);
	add(&l, "cache.constant.l1.line", 64);
	add(&l, "cache.constant.l1.ways", 4);
	add(&l, "cache.constant.l1.sets", 8);
	add(&l, "cache.constant.l1.latency", 8);
	add(&l, "cache.constant.l2.size", 8192);
	add(&l, "cache.constant.l2.line", 256);
	add(&l, "cache.constant.l2.latency", 81);
	add(&l, "memory.constant.latency", 476);
	return l;
}

static unsigned inconclusive(const struct finding_list *l)
{
	unsigned n = 0;

	for (size_t i = 0; i < l->count; i++)
		n += l->items[i].verdict == VERDICT_INCONCLUSIVE;
	return n;
}

static void sound_findings_stay(void **state)
{
	(void)state;
	struct finding_list l = sound();

	assert_int_equal(gates_apply(&l), 0);
	assert_int_equal(inconclusive(&l), 0);
	findings_free(&l);
}

struct wrong {
	const char *key;
	double value;
	const char *involved[7];
	const char *words;
	unsigned besides; /* numbers of levels that nobody tells any more */
};

static void each_conflict_is_named(void **state)
{
	(void)state;
	static const struct wrong wrongs[] = {
	    {"cache.constant.l1.ways",
	     5,
	     {"cache.constant.l1.size", "cache.constant.l1.line", "cache.constant.l1.ways", "cache.constant.l1.sets"},
	     "8 sets x 5 ways x 64 bytes"},
	    {"cache.constant.l2.line", 96, {"cache.constant.l2.size", "cache.constant.l2.line"}, "not whole lines"},
	    {"cache.constant.l2.size",
	     2048,
	     {"cache.constant.l1.size", "cache.constant.l2.size", "cache.constant.l1.line", "cache.constant.l1.ways",
	      "cache.constant.l1.sets", "cache.constant.l2.line"},
	     "is not larger"},
	    {"cache.constant.l2.latency",
	     8,
	     {"cache.constant.l1.latency", "cache.constant.l2.latency"},
	     "is not slower"},
	    {"memory.constant.latency", 81, {"cache.constant.l2.latency", "memory.constant.latency"}, "is not slower"},
	    {"cache.constant.levels",
	     1,
	     {"cache.constant.levels", "cache.constant.l1.size", "cache.constant.l2.size"},
	     "2 levels were measured, but 1 counted",
	     6},
	    {"cache.constant.l1.sector", 48, {"cache.constant.l1.line", "cache.constant.l1.sector"}, "whole sectors"},
	};

	for (size_t i = 0; i < sizeof(wrongs) / sizeof(wrongs[0]); i++) {
		struct finding_list l = sound();
		unsigned n = 0;
		add(&l, wrongs[i].key, wrongs[i].value);
		assert_int_equal(gates_apply(&l), 0);
		for (; n < 7 && wrongs[i].involved[n]; n++) {
			assert_int_equal(verdict(&l, wrongs[i].involved[n]), VERDICT_INCONCLUSIVE);
			assert_non_null(strstr(findings_get(&l, wrongs[i].involved[n])->because, wrongs[i].words));
		}
		assert_int_equal(inconclusive(&l), n + wrongs[i].besides);
		findings_free(&l);
	}
}

static void bounds_are_compared_too(void **state)
{
	(void)state;
	struct finding_list l = sound();
	struct finding f = study_measured("cache.constant.l2.size", 65536, 65536, INFINITY, "largest that was tried");

	f.verdict = VERDICT_BOUND;
	snprintf(f.because, sizeof(f.because), "all of it hits");
	findings_add(&l, &f);
	add(&l, "cache.constant.levels", 3);
	assert_int_equal(gates_apply(&l), 0);
	assert_int_equal(inconclusive(&l), 0);
	add(&l, "cache.constant.l3.size", 32768);
	assert_int_equal(gates_apply(&l), 0);
	assert_int_equal(verdict(&l, "cache.constant.l2.size"), VERDICT_INCONCLUSIVE);
	assert_int_equal(verdict(&l, "cache.constant.l3.size"), VERDICT_INCONCLUSIVE);
	assert_int_equal(inconclusive(&l), 3); /* and the line of l2 */
	findings_free(&l);
}

static void absent_levels_have_no_properties(void **state)
{
	(void)state;
	struct finding_list l = {0};

	add_verdict(&l, "cache.global.l1.size", VERDICT_ABSENT, "no step");
	add(&l, "cache.global.l1.latency", 30);
	add(&l, "cache.global.l2.latency", 200);
	assert_int_equal(gates_apply(&l), 0);
	assert_int_equal(verdict(&l, "cache.global.l1.latency"), VERDICT_INCONCLUSIVE);
	assert_int_equal(verdict(&l, "cache.global.l1.size"), VERDICT_INCONCLUSIVE);
	assert_int_equal(verdict(&l, "cache.global.l2.latency"), VERDICT_MEASURED);
	findings_free(&l);
}

static void one_cache_has_one_shape(void **state)
{
	(void)state;
	struct finding_list l = {0};
	struct finding f = study_measured("cache.readonly.l1.shared_with", 0, NAN, NAN, "test");

	f.value = (struct value){.kind = VALUE_TEXT, .text = "texture.l1"};
	findings_add(&l, &f);
	add(&l, "cache.global.l1.size", 16384);
	add(&l, "cache.texture.l1.size", 12288);
	add(&l, "cache.texture.l1.line", 32);
	f = study_measured("cache.readonly.l1.size", 8192, 8192, INFINITY, "largest that was tried");
	f.verdict = VERDICT_BOUND;
	snprintf(f.because, sizeof(f.because), "all of it hits");
	findings_add(&l, &f);
	add(&l, "cache.readonly.l1.line", 32);
	assert_int_equal(gates_apply(&l), 0);
	assert_int_equal(inconclusive(&l), 0);
	add(&l, "cache.readonly.l1.size", 16384);
	assert_int_equal(gates_apply(&l), 0);
	assert_int_equal(verdict(&l, "cache.readonly.l1.size"), VERDICT_INCONCLUSIVE);
	assert_int_equal(verdict(&l, "cache.readonly.l1.shared_with"), VERDICT_INCONCLUSIVE);
	assert_int_equal(verdict(&l, "cache.texture.l1.size"), VERDICT_INCONCLUSIVE);
	assert_int_equal(inconclusive(&l), 3);
	findings_free(&l);
}

static void local_memory_asks_one_cache(void **state)
{
	(void)state;
	struct finding_list l = {0};
	struct finding f = study_measured("cache.local.l1.shared_with", 0, NAN, NAN, "test");

	f.value = (struct value){.kind = VALUE_TEXT, .text = "global.l1"};
	findings_add(&l, &f);
	add(&l, "cache.global.l1.size", 16384);
	add(&l, "cache.local.l1.size", 16384);
	assert_int_equal(gates_apply(&l), 0);
	assert_int_equal(inconclusive(&l), 0);
	add(&l, "cache.local.l1.size", 32768);
	assert_int_equal(gates_apply(&l), 0);
	assert_int_equal(verdict(&l, "cache.local.l1.size"), VERDICT_INCONCLUSIVE);
	assert_int_equal(inconclusive(&l), 3);
	findings_free(&l);
}

static void classes_span_the_latency(void **state)
{
	(void)state;
	struct finding_list l = {0};
	struct finding f = study_measured("cache.global.l2.latency_classes", 0, NAN, NAN, "test");

	f.value = (struct value){.kind = VALUE_ARRAY, .array = {200, 230}, .array_count = 2};
	findings_add(&l, &f);
	add(&l, "cache.global.l2.latency", 215);
	assert_int_equal(gates_apply(&l), 0);
	assert_int_equal(inconclusive(&l), 0);
	add(&l, "cache.global.l2.latency", 260);
	assert_int_equal(gates_apply(&l), 0);
	assert_int_equal(inconclusive(&l), 2);
	findings_free(&l);
}

static void verdicts_keep_their_promise(void **state)
{
	(void)state;
	struct finding_list l = {0};
	struct finding f = study_measured("shared.latency", 38, 39, 40, "outside of its interval");

	findings_add(&l, &f);
	f = study_measured("barrier.latency", NAN, NAN, NAN, "not a number");
	findings_add(&l, &f);
	f = study_measured("clock.granularity", 2, 2, INFINITY, "open");
	findings_add(&l, &f);
	f = study_measured("tlb.page_size", 4096, 4096, 8192, "two ends");
	f.verdict = VERDICT_BOUND;
	snprintf(f.because, sizeof(f.because), "seen");
	findings_add(&l, &f);
	f = study_measured("shared.cached", 0, NAN, NAN, "maybe");
	f.value = (struct value){.kind = VALUE_TEXT, .text = "maybe"};
	findings_add(&l, &f);
	add_verdict(&l, "clock.scope", VERDICT_FAILED, "");
	add_verdict(&l, "barrier.counts", VERDICT_FAILED, "the cable fell out");
	f = study_measured("shared.banks", 32, 32, INFINITY, "a sound bound");
	f.verdict = VERDICT_BOUND;
	snprintf(f.because, sizeof(f.because), "no more threads");
	findings_add(&l, &f);
	assert_int_equal(gates_apply(&l), 0);
	assert_int_equal(inconclusive(&l), 6);
	assert_int_equal(verdict(&l, "barrier.counts"), VERDICT_FAILED);
	assert_int_equal(verdict(&l, "shared.banks"), VERDICT_BOUND);
	assert_int_equal(findings_get(&l, "shared.latency")->value.kind, VALUE_NONE);
	findings_free(&l);
}

/* What loops timed from outside and the SM's clock both say, and agree on. */
static struct finding_list twice(void)
{
	struct finding_list l = sound();

	add(&l, "device.warp_size", 32);
	add(&l, "arith.add.f32.latency", 24);
	add(&l, "arith.add.f32.throughput", 7.9);
	add(&l, "pipeline.sp.ilp1.completion", 24.3);
	add(&l, "pipeline.sp.ilp1.peak", 6); /* one chain of so few warps need not fill the pipe */
	add(&l, "pipeline.sp.ilp2.peak", 7.9);
	add(&l, "pipeline.sp.ilp4.peak", 7.95);
	add(&l, "arith.mad.u32.latency", 120);
	add(&l, "arith.mad.u32.throughput", 1.4);
	add(&l, "pipeline.int.ilp1.completion", 60); /* a link is two operations */
	add(&l, "pipeline.int.ilp1.peak", 2.8);
	add(&l, "cache.global.l1.latency", 29);
	add(&l, "memory.global.4.timed_hit", 30);
	add(&l, "shared.latency", 36);
	add(&l, "memory.shared.4.timed_latency", 36.1);
	add(&l, "shared.bandwidth", 32);
	add(&l, "memory.shared.4.issue", 4);
	add(&l, "memory.shared.4.bandwidth", 1300);
	add(&l, "walk.constant.1.capacity", 2108);
	add(&l, "memory.constant.4.timed_hit", 56); /* 48 of its address */
	add(&l, "walk.constant.1.latency", 56.1);
	add(&l, "walk.constant.2.capacity", 8133);
	add(&l, "walk.constant.2.latency", 132);
	add(&l, "walk.constant.3.latency", 470);
	return l;
}

static void two_methods_find_one_value(void **state)
{
	(void)state;
	static const struct wrong wrongs[] = {
	    {"pipeline.sp.ilp1.completion", 30, {"arith.add.f32.latency", "pipeline.sp.ilp1.completion"}, "24"},
	    {"pipeline.int.ilp1.completion", 120, {"arith.mad.u32.latency", "pipeline.int.ilp1.completion"}, "240"},
	    {"arith.add.f32.throughput",
	     8.9,
	     {"arith.add.f32.throughput", "pipeline.sp.ilp1.peak", "pipeline.sp.ilp2.peak", "pipeline.sp.ilp4.peak"},
	     "7.95 a cycle"},
	    {"pipeline.int.ilp1.peak", 4, {"arith.mad.u32.throughput", "pipeline.int.ilp1.peak"}, "reach 2 a cycle"},
	    {"pipeline.int.ilp1.completion", 62, {"arith.mad.u32.latency", "pipeline.int.ilp1.completion"}, "124"},
	    {"memory.global.4.timed_hit", 26, {"memory.global.4.timed_hit", "cache.global.l1.latency"}, "26 cycles"},
	    {"memory.global.4.timed_hit", 33, {"memory.global.4.timed_hit", "cache.global.l1.latency"}, "33 cycles"},
	    {"shared.latency", 38, {"shared.latency", "memory.shared.4.timed_latency"}, "38 by the SM's clock"},
	    {"memory.shared.4.issue",
	     3.2,
	     {"memory.shared.4.issue", "memory.shared.4.bandwidth", "shared.bandwidth"},
	     "3.04 to 3.36 cycles"},
	    /* and what lies behind a level that is none */
	    {"walk.constant.2.capacity",
	     4096,
	     {"walk.constant.2.capacity", "walk.constant.2.latency", "walk.constant.3.latency"},
	     "of a walk"},
	    {"walk.constant.2.latency",
	     150,
	     {"walk.constant.2.capacity", "walk.constant.2.latency", "walk.constant.3.latency"},
	     "of a walk"},
	};
	struct finding_list l = twice();

	assert_int_equal(gates_apply(&l), 0);
	assert_int_equal(inconclusive(&l), 0);
	findings_free(&l);
	for (size_t i = 0; i < sizeof(wrongs) / sizeof(wrongs[0]); i++) {
		unsigned n = 0;
		l = twice();
		add(&l, wrongs[i].key, wrongs[i].value);
		assert_int_equal(gates_apply(&l), 0);
		for (; n < 5 && wrongs[i].involved[n]; n++) {
			assert_int_equal(verdict(&l, wrongs[i].involved[n]), VERDICT_INCONCLUSIVE);
			assert_non_null(strstr(findings_get(&l, wrongs[i].involved[n])->because, wrongs[i].words));
		}
		assert_int_equal(inconclusive(&l), n);
		findings_free(&l);
	}

	/* A walk that has a level more before one that both have: single accesses may have taken two for one. */
	l = twice();
	add(&l, "walk.constant.3.capacity", 8133);
	add(&l, "walk.constant.3.latency", 132);
	add_verdict(&l, "walk.constant.2.capacity", VERDICT_INCONCLUSIVE, "anything from 4000 to 8000 bytes fits");
	assert_int_equal(gates_apply(&l), 0);
	assert_int_equal(verdict(&l, "memory.constant.latency"), VERDICT_INCONCLUSIVE);
	/* The level that nobody denies is told all the same. */
	assert_int_equal(verdict(&l, "cache.constant.levels"), VERDICT_BOUND);
	assert_true(findings_get(&l, "cache.constant.levels")->lo == 1);
	assert_int_equal(verdict(&l, "cache.constant.l2.size"), VERDICT_INCONCLUSIVE);
	assert_int_equal(verdict(&l, "cache.constant.l1.size"), VERDICT_MEASURED);
	assert_int_equal(verdict(&l, "walk.constant.3.capacity"), VERDICT_INCONCLUSIVE);
	findings_free(&l);

	/* Loads that are sooner than the nearest level: one before it may not have been seen, and then none is what it passes for. */
	l = twice();
	add(&l, "cache.constant.l1.latency", 60);
	assert_int_equal(gates_apply(&l), 0);
	assert_int_equal(verdict(&l, "memory.constant.4.timed_hit"), VERDICT_INCONCLUSIVE);
	assert_int_equal(verdict(&l, "cache.constant.levels"), VERDICT_INCONCLUSIVE);
	assert_int_equal(verdict(&l, "cache.constant.l1.size"), VERDICT_INCONCLUSIVE);
	assert_int_equal(verdict(&l, "cache.constant.l2.size"), VERDICT_INCONCLUSIVE);
	assert_int_equal(verdict(&l, "cache.global.l1.latency"), VERDICT_MEASURED);
	findings_free(&l);

	/* No stream brings more than memory gives. */
	l = twice();
	add(&l, "device.clock_hz", 1e9);
	add(&l, "memory.global.bandwidth", 100);
	add(&l, "memory.global.4.bandwidth", 110);
	add(&l, "memory.global.2.bandwidth", 120);
	assert_int_equal(gates_apply(&l), 0);
	assert_int_equal(verdict(&l, "memory.global.4.bandwidth"), VERDICT_MEASURED);
	assert_int_equal(verdict(&l, "memory.global.2.bandwidth"), VERDICT_INCONCLUSIVE);
	assert_int_equal(verdict(&l, "memory.global.bandwidth"), VERDICT_INCONCLUSIVE);
	assert_int_equal(inconclusive(&l), 2);
	findings_free(&l);

	/* A walk does not accuse where a level is not known: it may be that one's. */
	l = twice();
	add(&l, "walk.constant.2.capacity", 4096);
	add_verdict(&l, "cache.constant.l2.size", VERDICT_INCONCLUSIVE, "noise");
	assert_int_equal(gates_apply(&l), 0);
	assert_int_equal(verdict(&l, "walk.constant.2.capacity"), VERDICT_MEASURED);
	findings_free(&l);
}

/* An estimate that contradicts what was measured falls alone; two that contradict each other fall both. */
static void estimates_accuse_nobody(void **state)
{
	(void)state;

	for (unsigned both = 0; both < 2; both++) {
		struct finding_list l = sound();
		struct finding *slow = gates_find(&l, "cache.constant.l1.latency"),
			       *fast = gates_find(&l, "cache.constant.l2.latency");
		slow->value.number = slow->lo = slow->hi = 90;
		slow->verdict = VERDICT_LIKELY;
		fast->verdict = both ? VERDICT_LIKELY : VERDICT_MEASURED;
		snprintf(slow->because, sizeof(slow->because), "one launch of two");
		snprintf(fast->because, sizeof(fast->because), "one launch of two");
		assert_int_equal(gates_apply(&l), 0);
		assert_int_equal(verdict(&l, "cache.constant.l1.latency"), VERDICT_INCONCLUSIVE);
		assert_int_equal(verdict(&l, "cache.constant.l2.latency"),
				 both ? VERDICT_INCONCLUSIVE : VERDICT_MEASURED);
		assert_int_equal(inconclusive(&l), 1 + both);
		findings_free(&l);
	}
	struct finding_list l = sound();
	struct finding *mute = gates_find(&l, "cache.constant.l1.latency");
	mute->verdict = VERDICT_LIKELY; /* no reason was given */
	assert_int_equal(gates_apply(&l), 0);
	assert_int_equal(verdict(&l, "cache.constant.l1.latency"), VERDICT_INCONCLUSIVE);
	assert_int_equal(inconclusive(&l), 1);
	findings_free(&l);
}

/* What is said of a level's sets hangs on each other. */
static void shapes_hang_together(void **state)
{
	(void)state;
	/* A size that others contradict takes what was found on the way to it along, and nothing of other levels. */
	struct finding_list l = sound();
	add(&l, "cache.constant.levels", 3);
	add(&l, "cache.constant.l3.size", 4096);
	add(&l, "cache.constant.l3.ways", 64);
	assert_int_equal(gates_apply(&l), 0);
	assert_int_equal(verdict(&l, "cache.constant.l3.ways"), VERDICT_INCONCLUSIVE);
	assert_int_equal(verdict(&l, "cache.constant.l2.line"), VERDICT_INCONCLUSIVE);
	assert_int_equal(verdict(&l, "cache.constant.l1.line"), VERDICT_MEASURED);
	assert_int_equal(verdict(&l, "cache.constant.l1.sets"), VERDICT_MEASURED);
	findings_free(&l);
}

/* A wider load takes no longer than a narrower one, but for its bytes. */
static void wide_loads_bring_bytes(void **state)
{
	(void)state;
	static const double twice[] = {6, 30}; /* cycles of loads of two bytes */

	for (unsigned i = 0; i < 2; i++) {
		struct finding_list l = {0};
		add(&l, "memory.global.1.issue", 10);
		add(&l, "memory.global.2.issue", twice[i]);
		add(&l, "memory.global.2.bandwidth", 100);
		add(&l, "memory.global.16.issue", 80);
		assert_int_equal(gates_apply(&l), 0);
		assert_int_equal(verdict(&l, "memory.global.1.issue"), VERDICT_MEASURED);
		assert_int_equal(verdict(&l, "memory.global.16.issue"), VERDICT_MEASURED);
		assert_int_equal(verdict(&l, "memory.global.2.issue"), i ? VERDICT_INCONCLUSIVE : VERDICT_MEASURED);
		assert_int_equal(verdict(&l, "memory.global.2.bandwidth"), i ? VERDICT_INCONCLUSIVE : VERDICT_MEASURED);
		findings_free(&l);
	}
}

/* Loops that are timed from outside do not take back what the clock tells more finely; as fine, either may be wrong. The times are an H200's. */
static void a_coarse_method_falls_alone(void **state)
{
	(void)state;
	for (unsigned fine = 0; fine < 2; fine++) {
		struct finding_list l = {0};
		const double half = fine ? 0.125 : 0.4;
		struct finding hit = study_measured("memory.global.16.timed_hit", 34.155, 33.776, 34.534, "test"),
			       one = study_measured("cache.global.l1.latency", 32, 32 - half, 32 + half, "test");
		findings_add(&l, &hit);
		findings_add(&l, &one);
		assert_int_equal(gates_apply(&l), 0);
		assert_int_equal(verdict(&l, "memory.global.16.timed_hit"), VERDICT_INCONCLUSIVE);
		assert_int_equal(verdict(&l, "cache.global.l1.latency"),
				 fine ? VERDICT_MEASURED : VERDICT_INCONCLUSIVE);
		findings_free(&l);
	}
}

/* Cycles by a clock that is only told: chains of whole cycles confirm it. */
static void a_told_clock_is_confirmed(void **state)
{
	(void)state;
	static const struct {
		double sp, mad, integer, dp;
		enum verdict is;
	} told[] = {
	    {4.001, 3.998, 2.001, 8.01, VERDICT_MEASURED},    {0.7, 2.81, 0.35, 2.81, VERDICT_INCONCLUSIVE},
	    {4.001, 3.998, 2.001, 7.3, VERDICT_INCONCLUSIVE}, {4.001, 3.998, NAN, NAN, VERDICT_LIKELY},
	    {0.98, 0.98, 0.49, NAN, VERDICT_MEASURED},
	};

	for (size_t i = 0; i < sizeof told / sizeof *told; i++) {
		struct finding_list l = {0};
		add_verdict(&l, "clock.granularity", VERDICT_UNSUPPORTED, "no kernel reads a clock here");
		add(&l, "pipeline.sp.ilp1.completion", told[i].sp);
		add(&l, "pipeline.mad.ilp1.completion", told[i].mad);
		if (!isnan(told[i].integer))
			add(&l, "pipeline.int.ilp1.completion", told[i].integer);
		if (!isnan(told[i].dp))
			add(&l, "pipeline.dp.ilp1.completion", told[i].dp);
		add(&l, "pipeline.sp.ilp1.peak", 128);
		add(&l, "pipeline.sp.ilp1.performance", 1e12);
		assert_int_equal(gates_apply(&l), 0);
		assert_int_equal(verdict(&l, "pipeline.sp.ilp1.completion"), told[i].is);
		assert_int_equal(verdict(&l, "pipeline.sp.ilp1.peak"), told[i].is);
		assert_int_equal(verdict(&l, "pipeline.sp.ilp1.performance"), VERDICT_MEASURED);
		/* Nothing is said of a clock that kernels read. */
		findings_free(&l);
		add(&l, "clock.granularity", 1);
		add(&l, "pipeline.sp.ilp1.completion", told[i].sp);
		assert_int_equal(gates_apply(&l), 0);
		assert_int_equal(verdict(&l, "pipeline.sp.ilp1.completion"), VERDICT_MEASURED);
		findings_free(&l);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(sound_findings_stay),	   cmocka_unit_test(each_conflict_is_named),
	    cmocka_unit_test(bounds_are_compared_too),	   cmocka_unit_test(absent_levels_have_no_properties),
	    cmocka_unit_test(classes_span_the_latency),	   cmocka_unit_test(verdicts_keep_their_promise),
	    cmocka_unit_test(one_cache_has_one_shape),	   cmocka_unit_test(local_memory_asks_one_cache),
	    cmocka_unit_test(two_methods_find_one_value),  cmocka_unit_test(shapes_hang_together),
	    cmocka_unit_test(wide_loads_bring_bytes),	   cmocka_unit_test(estimates_accuse_nobody),
	    cmocka_unit_test(a_coarse_method_falls_alone), cmocka_unit_test(a_told_clock_is_confirmed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
