/* The engine against a gpu of a test's making: measuring, failing, stopping, going on, inferring again. */
#include "base/arena.h"
#include "engine_watch.h"
#include "probe/engine.h"
#include "probe/study.h"
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct finding_list copy(const struct finding_list *l)
{
	struct finding_list out = {0};

	for (size_t i = 0; i < l->count; i++)
		assert_int_equal(findings_add(&out, &l->items[i]), 0);
	return out;
}

static void measures_and_infers_the_same(void **state)
{
	(void)state;
	struct null_gpu g;
	struct run r;
	struct watch w = {0};
	struct err e = {0};

	null_gpu_init(&g);
	run_init(&r);
	assert_int_equal(measure(&r, &g, NAMES("child"), 1, &w, &e), 0);
	const struct finding *size = findings_get(&r.findings, "cache.global.l1.size");
	assert_non_null(size);
	assert_int_equal(size->verdict, VERDICT_MEASURED);
	assert_true(size->value.number == 100);
	assert_string_equal(size->unit, "bytes");
	assert_string_equal(size->probe, "step");
	assert_string_equal(size->because, "edge at 100");
	assert_int_equal(size->evidence_count, 2);
	assert_string_equal(size->evidence[0], "step:1");
	assert_string_equal(size->evidence[1], "step");
	const struct finding *next = findings_get(&r.findings, "barrier.latency");
	assert_non_null(next);
	assert_true(next->value.number == 11);
	assert_int_equal(findings_get(&r.findings, "branch.granularity")->verdict, VERDICT_BOUND);
	assert_int_equal(w.begun, 2);
	assert_int_equal(w.ended, 2);
	assert_int_equal(w.committed, 2);
	assert_int_equal(w.progressed, g.runs);
	assert_int_equal(g.loads, 1); /* one text, however many points */
	assert_int_equal(g.kernels, 1);
	assert_string_equal(g.labels[0], "step.step x=1 sm=1 gap=2");
	const struct series *s = run_series(&r, "step", "step");
	assert_non_null(s);
	assert_string_equal(s->axis, "size");
	assert_int_equal(s->count, g.runs);
	assert_int_equal(s->points[0].repeats, 3);
	assert_int_equal(s->points[0].native, 0);
	assert_int_equal(s->native_count, 1);
	assert_true(s->before.sm_clock_mhz == 1000);
	assert_int_equal(run_probe(&r, "step")->state, PROBE_DONE);

	struct finding_list measured = copy(&r.findings);
	assert_int_equal(engine_infer(&r, &e), 0);
	expect_same(&measured, &r.findings);

	/* a run that is complete measures nothing again */
	const unsigned runs = g.runs;
	assert_int_equal(measure(&r, &g, NAMES("child"), 1, &w, &e), 0);
	assert_int_equal(g.runs, runs);
	expect_same(&measured, &r.findings);

	struct figure_list figures = {0};
	assert_int_equal(engine_draw(&r, &figures, &e), 0);
	assert_int_equal(figures.count, 1);
	assert_int_equal(figures.items[0].marks[0].count, s->count);
	assert_int_equal(figures.items[0].notes_count, 1);
	assert_true(figures.items[0].notes[0].at == 100);
	figures_free(&figures);
	findings_free(&measured);
	run_free(&r);
}

static void stops_and_goes_on(void **state)
{
	(void)state;
	struct null_gpu g;
	struct run r;
	struct watch w = {.stop_after = 4};
	struct err e = {0};

	null_gpu_init(&g);
	run_init(&r);
	assert_int_equal(measure(&r, &g, NAMES("child"), 1, &w, &e), -EINTR);
	assert_int_equal(run_probe(&r, "step")->state, PROBE_INTERRUPTED);
	assert_int_equal(run_probe(&r, "child")->state, PROBE_PENDING);
	assert_int_equal(w.committed, 1); /* what was measured is stored */
	assert_int_equal(r.findings.count, 0);
	assert_int_equal(run_series(&r, "step", "step")->count, 4);

	w.stop_after = 0;
	assert_int_equal(measure(&r, &g, NAMES("child"), 1, &w, &e), 0);
	assert_int_equal(g.runs, run_series(&r, "step", "step")->count); /* no point twice */
	assert_true(findings_get(&r.findings, "cache.global.l1.size")->value.number == 100);

	/* stopping before a probe began leaves it pending */
	struct run other;
	struct watch now = {.stop_after = 1, .progressed = 1};
	run_init(&other);
	assert_int_equal(measure(&other, &g, NAMES("step"), 1, &now, &e), -EINTR);
	assert_int_equal(run_probe(&other, "step")->state, PROBE_PENDING);
	run_free(&other);
	run_free(&r);
}

static void native_code_that_is_not_what_it_claims(void **state)
{
	(void)state;
	struct null_gpu g;
	struct run r;
	struct watch w = {0};
	struct err e = {0};

	null_gpu_init(&g);
	g.native.region[0].total = g.native.region[0].count[NATIVE_ALU] = 4; /* folded two by two */
	run_init(&r);
	assert_int_equal(measure(&r, &g, NAMES("step"), 1, &w, &e), 0);
	assert_int_equal(g.runs, 0);
	const struct finding *f = findings_get(&r.findings, "cache.global.l1.size");
	assert_int_equal(f->verdict, VERDICT_INCONCLUSIVE);
	assert_non_null(strstr(f->because, "INVALID: the native code holds 4 alu"));
	assert_int_equal(run_series(&r, "step", "step")->points[0].native, 0); /* kept as evidence */
	run_free(&r);

	g.native.region_count = 0;
	run_init(&r);
	assert_int_equal(measure(&r, &g, NAMES("step"), 1, &w, &e), 0);
	assert_non_null(strstr(findings_get(&r.findings, "cache.global.l1.size")->because, "timed region is gone"));
	run_free(&r);

	g.native = (struct native_info){.problem = "no such table"}; /* nothing to check: measured, and said so */
	run_init(&r);
	assert_int_equal(measure(&r, &g, NAMES("step"), 1, &w, &e), 0);
	f = findings_get(&r.findings, "cache.global.l1.size");
	assert_int_equal(f->verdict, VERDICT_MEASURED);
	assert_non_null(strstr(f->method, "native code not read back"));
	struct finding_list measured = copy(&r.findings);
	assert_int_equal(engine_infer(&r, &e), 0);
	expect_same(&measured, &r.findings);
	findings_free(&measured);
	run_free(&r);
}

static void pins(void **state)
{
	(void)state;
	struct null_gpu g;
	struct run r;
	struct watch w = {0};
	struct err e = {0};

	null_gpu_init(&g);
	g.unpinned = 2;
	run_init(&r);
	assert_int_equal(measure(&r, &g, NAMES("step"), 1, &w, &e), 0);
	assert_int_equal(g.runs, 3 * run_series(&r, "step", "step")->count);
	assert_int_equal(g.last_grid, 4 * 4); /* one block an SM, doubled twice */
	assert_int_equal(findings_get(&r.findings, "cache.global.l1.size")->verdict, VERDICT_MEASURED);
	run_free(&r);

	null_gpu_init(&g);
	g.unpinned = 1000;
	run_init(&r);
	assert_int_equal(measure(&r, &g, NAMES("step"), 1, &w, &e), 0);
	assert_int_equal(g.runs, 16);
	assert_non_null(
	    strstr(findings_get(&r.findings, "cache.global.l1.size")->because, "INVALID: no block landed on SM 1"));
	run_free(&r);
}

static void expect_failed(const struct run *r, const char *key, const char *why)
{
	const struct finding *f = findings_get(&r->findings, key);

	assert_non_null(f);
	assert_int_equal(f->verdict, VERDICT_FAILED);
	if (!strstr(f->because, why))
		fail_msg("%s: \"%s\" does not say \"%s\"", key, f->because, why);
}

/* A card on which nothing runs has no properties that could be inconclusive. */
static void every_launch_is_refused(void **state)
{
	(void)state;
	struct null_gpu g;
	struct run r;
	struct watch w = {0};
	struct err e = {0};

	null_gpu_init(&g);
	g.refuses = true;
	run_init(&r);
	assert_int_equal(measure(&r, &g, NAMES("step"), 1, &w, &e), 0);
	expect_failed(&r, "cache.global.l1.size", "no launch succeeded: not today");
	run_free(&r);
}

/* Reasons that were seen at any time stay, and every rate tells of them; an SM takes as many cycles at any clock. */
static void throttling_is_told(void **state)
{
	(void)state;
	struct null_gpu g;
	struct run r;
	struct watch w = {0};
	struct err e = {0};
	char words[THROTTLE_WORDS];

	null_gpu_init(&g);
	g.throttle = 0x25; /* power, heat, and that it was idle */
	run_init(&r);
	assert_int_equal(measure(&r, &g, NAMES("step"), 1, &w, &e), 0);
	assert_int_equal(run_series(&r, "step", "step")->after.throttle, 0x25);
	assert_string_equal(findings_get(&r.findings, "cache.global.l1.bandwidth")->method,
			    "one look; clocks were held back by power, heat");
	assert_null(strstr(findings_get(&r.findings, "shared.latency")->method, "held back"));
	run_free(&r);
	assert_string_equal(throttle_words(0x103, words), ""); /* idle, or at clocks that were chosen */
	assert_string_equal(throttle_words(-1, words), "");
	assert_string_equal(throttle_words(INT64_MAX, words),
			    "power, heat, the power supply, the hardware's own protection");
}

static void environment_fails(void **state)
{
	(void)state;
	struct null_gpu g;
	struct run r;
	struct watch w = {0};
	struct err e = {0};

	/* one launch lost: that point says so, the rest goes on */
	null_gpu_init(&g);
	g.lost_from = 1;
	g.lost_to = 2;
	run_init(&r);
	assert_int_equal(measure(&r, &g, NAMES("step"), 1, &w, &e), 0);
	assert_int_equal(run_series(&r, "step", "step")->points[0].outcome, OUTCOME_CRASH);
	expect_failed(&r, "cache.global.l1.size", "a launch failed: the cable fell out");
	expect_failed(&r, "shared.latency", "a launch failed: the cable fell out"); /* its study never came to it */
	assert_string_equal(run_probe(&r, "step")->message, "1 of its points were lost");
	/* taken up again although it is done, with what follows from it, and concluded the same way from the file */
	assert_int_equal(engine_infer(&r, &e), 0);
	expect_failed(&r, "shared.latency", "a launch failed: the cable fell out");
	assert_int_equal(measure(&r, &g, NAMES("child"), 1, &w, &e), 0);
	assert_int_equal(run_probe(&r, "step")->state, PROBE_DONE);
	assert_string_equal(run_probe(&r, "step")->message, "");
	assert_true(findings_get(&r.findings, "barrier.latency")->value.number == 11);
	const unsigned runs = g.runs;
	assert_int_equal(measure(&r, &g, NAMES("child"), 1, &w, &e), 0);
	assert_int_equal(g.runs, runs);
	run_free(&r);

	/* lost for good: the probe fails, what needs it is skipped, the next one is tried */
	null_gpu_init(&g);
	g.lost_from = 3;
	g.lost_to = 1000;
	run_init(&r);
	assert_int_equal(measure(&r, &g, NAMES("child", "endless", "picky"), 3, &w, &e), 0);
	assert_int_equal(run_probe(&r, "step")->state, PROBE_FAILED); /* one lost point, nothing concluded */
	assert_int_equal(findings_get(&r.findings, "shared.latency")->verdict, VERDICT_FAILED);
	assert_int_equal(run_probe(&r, "child")->state, PROBE_FAILED);
	expect_failed(&r, "barrier.latency", "it needs the probe step, which failed");
	assert_int_equal(run_probe(&r, "endless")->state, PROBE_FAILED);
	assert_string_equal(run_probe(&r, "endless")->message, "3 launches in a row failed: the cable fell out");
	assert_int_equal(run_probe(&r, "picky")->state, PROBE_DONE);

	/* taken up again with the cable back in: what crashed is tried again, what was measured is not */
	const unsigned before = g.runs;
	g.lost_to = 0;
	assert_int_equal(measure(&r, &g, NAMES("child"), 1, &w, &e), 0);
	assert_true(findings_get(&r.findings, "barrier.latency")->value.number == 11);
	assert_int_equal(g.runs - before, run_series(&r, "step", "step")->count - 2);
	run_free(&r);
}

static void fails_and_skips(void **state)
{
	(void)state;
	struct null_gpu g;
	struct run r;
	struct watch w = {0};
	struct err e = {0};

	null_gpu_init(&g);
	run_init(&r);
	assert_int_equal(measure(&r, &g, NAMES("idle", "endless", "picky", "step"), 4, &w, &e), 0);
	assert_int_equal(run_probe(&r, "idle")->state, PROBE_FAILED);
	assert_string_equal(run_probe(&r, "idle")->message, "the study concluded nothing");
	assert_int_equal(findings_get(&r.findings, "barrier.counts")->verdict, VERDICT_FAILED);
	assert_int_equal(findings_get(&r.findings, "barrier.timeout")->verdict, VERDICT_FAILED);
	assert_int_equal(run_probe(&r, "endless")->state, PROBE_FAILED);
	assert_non_null(strstr(run_probe(&r, "endless")->message, "does not end"));
	assert_int_equal(run_probe(&r, "picky")->state, PROBE_DONE);
	assert_string_equal(findings_get(&r.findings, "clock.scope")->because, "REFUSED; OK: this device cannot do it");
	assert_int_equal(run_probe(&r, "step")->state, PROBE_DONE);
	struct finding_list measured = copy(&r.findings);
	assert_int_equal(engine_infer(&r, &e), 0);
	expect_same(&measured, &r.findings);
	findings_free(&measured);
	run_free(&r);

	/* a need that failed */
	null_gpu_init(&g);
	run_init(&r);
	g.lost_from = 1;
	g.lost_to = 1000;
	assert_int_equal(measure(&r, &g, NAMES("child", "endless"), 2, &w, &e), 0);
	assert_int_equal(run_probe(&r, "endless")->state, PROBE_FAILED);
	run_free(&r);
}

static void kernels_that_do_not_compile(void **state)
{
	(void)state;
	struct null_gpu g;
	struct run r;
	struct watch w = {0};
	struct err e = {0};

	null_gpu_init(&g);
	g.refuse_entry = "entry";
	run_init(&r);
	assert_int_equal(measure(&r, &g, NAMES("step"), 1, &w, &e), 0);
	expect_failed(&r, "cache.global.l1.size", "a launch failed: probes/clock/reads.ptx does not compile");
	run_free(&r);
	/* What is too large for the device is refused by it, and that alone is no failure. */
	null_gpu_init(&g);
	g.refuse_entry = "entry";
	g.refuse_code = -E2BIG;
	run_init(&r);
	assert_int_equal(measure(&r, &g, NAMES("step"), 1, &w, &e), 0);
	assert_int_equal(run_series(&r, "step", "step")->points[0].outcome, OUTCOME_REFUSED);
	assert_int_equal(findings_get(&r.findings, "cache.global.l1.size")->verdict, VERDICT_INCONCLUSIVE);
	run_free(&r);
}

static void answers_of_a_wrong_shape(void **state)
{
	(void)state;
	struct null_gpu g;
	struct run r;
	struct watch w = {0};
	struct err e = {0};

	null_gpu_init(&g);
	g.short_answer = true;
	run_init(&r);
	assert_int_equal(measure(&r, &g, NAMES("step"), 1, &w, &e), 0);
	assert_non_null(strstr(findings_get(&r.findings, "cache.global.l1.size")->because,
			       "a launch failed: the device answered with 3 x 3 words instead of 3 x 4"));
	run_free(&r);
}

static void a_store_that_is_full_ends_the_run(void **state)
{
	(void)state;
	struct null_gpu g;
	struct run r;
	struct watch w = {.commit_rc = -ENOSPC};
	struct err e = {0};

	null_gpu_init(&g);
	run_init(&r);
	assert_int_equal(measure(&r, &g, NAMES("step", "picky"), 2, &w, &e), -ENOSPC);
	assert_int_equal(w.committed, 1);
	assert_int_equal(w.ended, 0);
	assert_string_equal(e.text, "no room");
	run_free(&r);
}

static void another_device_is_refused(void **state)
{
	(void)state;
	struct null_gpu g;
	struct run r;
	struct watch w = {0};
	struct err e = {0};

	null_gpu_init(&g);
	run_init(&r);
	assert_int_equal(measure(&r, &g, NAMES("step"), 1, &w, &e), 0);
	snprintf(g.info.uuid, sizeof(g.info.uuid), "null-2");
	assert_int_equal(measure(&r, &g, NAMES("picky"), 1, &w, &e), -EINVAL);
	assert_non_null(strstr(e.text, "null-1"));
	run_free(&r);
}

/* A recording is believed: its native code and its seed are taken over, nothing is checked or retried. */
static void replays(void **state)
{
	(void)state;
	struct null_gpu g;
	struct run r, again;
	struct watch w = {0};
	struct err e = {0};

	null_gpu_init(&g);
	run_init(&r);
	r.seed = 77;
	assert_int_equal(measure(&r, &g, NAMES("child", "picky"), 2, &w, &e), 0);
	const size_t points = run_series(&r, "step", "step")->count;
	null_gpu_init(&g);
	g.recorded = &r;
	g.native = (struct native_info){.fingerprint = 1, .region_count = 1}; /* would not pass the check */
	run_init(&again);
	assert_int_equal(measure(&again, &g, NAMES("child", "picky"), 2, &w, &e), 0);
	expect_same(&r.findings, &again.findings);
	assert_int_equal(again.seed, 77);
	const struct series *s = run_series(&again, "step", "step");
	assert_int_equal(s->count, points);
	assert_int_equal(s->native_count, 1);
	assert_int_equal(s->native[0].fingerprint, run_series(&r, "step", "step")->native[0].fingerprint);
	run_free(&again);
	run_free(&r);
}

static void a_study_keeps_what_it_computed(void **state)
{
	(void)state;
	struct study s = {0};
	const double key[2] = {1, 2}, other[2] = {1, 3}, value = 42, later = 43;

	assert_null(study_recall(&s, "survey", key, sizeof(key)));
	study_keep(&s, "survey", key, sizeof(key), &value, sizeof(value));
	const double *got = study_recall(&s, "survey", key, sizeof(key));
	assert_non_null(got);
	assert_true(*got == value && got != &value); /* a copy */
	assert_null(study_recall(&s, "survey", other, sizeof(other)));
	assert_null(study_recall(&s, "survey", key, sizeof(key[0])));
	assert_null(study_recall(&s, "walk", key, sizeof(key)));
	study_keep(&s, "walk", key, sizeof(key), &later, sizeof(later));
	assert_true(*(const double *)study_recall(&s, "walk", key, sizeof(key)) == later);
	assert_true(*(const double *)study_recall(&s, "survey", key, sizeof(key)) == value);
	study_close(&s);
}

/* Every allocation fails once: a clean -ENOMEM or a result, never a crash, and nothing leaks (the sanitizer looks). */
static void memory_runs_out(void **state)
{
	(void)state;
	unsigned failures = 0, successes = 0;

	for (long n = 1; successes < 6 && n < 10000; n++) {
		struct null_gpu g;
		struct run r;
		struct watch w = {0};
		struct err e = {0};
		null_gpu_init(&g);
		if (successes >= 3) /* again, on one that compiles ahead */
			null_gpu_foresees(&g);
		run_init(&r);
		const long before = mem_count();
		mem_fail_after(n);
		int rc = measure(&r, &g, NAMES("child", "picky", "seer"), 3, &w, &e);
		mem_fail_after(0);
		const bool reached = mem_count() - before >= n;
		if (rc) {
			assert_int_equal(rc, -ENOMEM);
			assert_true(e.text[0] != '\0');
			failures++;
		} else if (!reached) {
			assert_int_equal(findings_get(&r.findings, "cache.global.l1.size")->verdict, VERDICT_MEASURED);
			successes++;
			n = successes == 3 ? 0 : n;
		}
		run_free(&r);
	}
	assert_true(failures > 40);
	assert_int_equal(successes, 6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(measures_and_infers_the_same),
	    cmocka_unit_test(stops_and_goes_on),
	    cmocka_unit_test(native_code_that_is_not_what_it_claims),
	    cmocka_unit_test(pins),
	    cmocka_unit_test(throttling_is_told),
	    cmocka_unit_test(environment_fails),
	    cmocka_unit_test(every_launch_is_refused),
	    cmocka_unit_test(fails_and_skips),
	    cmocka_unit_test(kernels_that_do_not_compile),
	    cmocka_unit_test(a_store_that_is_full_ends_the_run),
	    cmocka_unit_test(another_device_is_refused),
	    cmocka_unit_test(replays),
	    cmocka_unit_test(answers_of_a_wrong_shape),
	    cmocka_unit_test(a_study_keeps_what_it_computed),
	    cmocka_unit_test(memory_runs_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
