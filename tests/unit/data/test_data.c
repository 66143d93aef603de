#include "base/arena.h"
#include "data/keys.h"
#include "data/run.h"
#include "data/run_compare.h"
#include "data/schedule.h"
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

static void names_parse_back(void **state)
{
	(void)state;
	enum outcome o;
	enum verdict v;
	enum probe_state s;

	for (int i = 0; i <= OUTCOME_CRASH; i++) {
		assert_int_equal(outcome_parse(outcome_name((enum outcome)i), &o), 0);
		assert_int_equal(o, i);
	}
	for (int i = 0; i <= VERDICT_FAILED; i++) {
		assert_int_equal(verdict_parse(verdict_name((enum verdict)i), &v), 0);
		assert_int_equal(v, i);
	}
	for (int i = 0; i <= PROBE_INTERRUPTED; i++) {
		assert_int_equal(probe_state_parse(probe_state_name((enum probe_state)i), &s), 0);
		assert_int_equal(s, i);
	}
	assert_int_equal(outcome_parse("ok", &o), -EINVAL);
	assert_int_equal(verdict_parse("", &v), -EINVAL);
	assert_int_equal(probe_state_parse("DONE ", &s), -EINVAL);
	for (int i = 0; i < NATIVE_CLASSES; i++)
		assert_string_not_equal(native_class_name((enum native_class)i), "?");
	assert_string_equal(native_class_name(NATIVE_CLASSES), "?");
}

static void keys_match_exactly(void **state)
{
	(void)state;
	static const struct {
		const char *key, *pattern;
	} good[] = {
	    {"device.sm_count", "device.sm_count"},
	    {"arith.mul24hi.u32.latency", "arith.<op>.<type>.latency"},
	    {"arith.fma.f16x2.native_ops", "arith.<op>.<type>.native_ops"},
	    {"cache.constant.levels", "cache.<p>.levels"},
	    {"cache.constant.l15.size", "cache.<p>.<l>.size"},
	    {"cache.global.l2.latency_classes", "cache.<p>.<l>.latency_classes"},
	    {"cache.global.l2.partitions", "cache.<p>.<l>.partitions"},
	    {"cache.instruction.fetch_bytes", "cache.instruction.fetch_bytes"},
	    {"memory.global.latency", "memory.<p>.latency"},
	    {"memory.global.16.bandwidth", "memory.<space>.<bytes>.bandwidth"},
	    {"memory.private.4.issue", "memory.<space>.<bytes>.issue"},
	    {"pipeline.softsf.ilp4.ridge", "pipeline.<class>.ilp<n>.ridge"},
	    {"float.mad.fused", "float.mad.fused"},
	    {"sfu.rsqrt.good_bits", "sfu.<fn>.good_bits"},
	    {"tlb.texture.l2.set_sizes", "tlb.<p>.<l>.set_sizes"},
	    {"atomic.add.same_address", "atomic.<op>.same_address"},
	};
	static const char *const bad[] = {
	    "",
	    "device",
	    "device.sm_count.x",
	    "device.sm_coun",
	    "cache.global.l5.size",
	    "cache.shared.l1.size",
	    "cache.global.l1.size.",
	    "cache.global..size",
	    "arith.add.latency",
	    "arith.Add.u32.latency",
	    "arith.add.u33.latency",
	    "memory.global.x.bandwidth",
	    "memory.global.04.bandwidth",
	    "pipeline.sp.ilp.issue",
	    "pipeline.sp.ilp0x.issue",
	    "pipeline.fp.ilp1.issue",
	    "cache.<p>.levels",
	    "arith.1add.u32.latency",
	    "sfu..max_ulp",
	};

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		const struct key_family *f = key_family(good[i].key);
		assert_non_null(f);
		assert_string_equal(f->pattern, good[i].pattern);
		assert_true(f->unit[0] && f->meaning[0]);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_null(key_family(bad[i]));
	for (size_t i = 0; i < key_family_count; i++) {
		for (size_t k = i + 1; k < key_family_count; k++)
			assert_string_not_equal(key_families[i].pattern, key_families[k].pattern);
	}
}

/* Loading reads them in order: in time that grows with their number, not its square (minutes here). */
static void many_findings_in_order(void **state)
{
	(void)state;
	struct finding_list l = {0};
	struct finding f = {.verdict = VERDICT_MEASURED};
	const clock_t began = clock();

	for (int i = 0; i < 60000; i++) {
		snprintf(f.key, sizeof(f.key), "key%06d", i);
		assert_int_equal(findings_add(&l, &f), 0);
		assert_ptr_equal(findings_get(&l, f.key), &l.items[i]);
	}
	assert_true(clock() - began < 4 * CLOCKS_PER_SEC);
	findings_free(&l);
}

static void findings_are_one_a_key(void **state)
{
	(void)state;
	struct finding_list l = {0};
	struct finding f = {.verdict = VERDICT_MEASURED};

	for (int i = 199; i >= 0; i--) {
		snprintf(f.key, sizeof(f.key), "key%03d", i % 150);
		f.lo = i;
		assert_int_equal(findings_add(&l, &f), 0);
	}
	assert_int_equal(l.count, 150);
	findings_sort(&l);
	assert_string_equal(l.items[0].key, "key000");
	assert_true(findings_get(&l, "key000")->lo == 0); /* the last one added counts */
	assert_null(findings_get(&l, "key"));
	/* Whatever order they come and go in, each is found. */
	for (int i = 149; i >= 0; i--) {
		snprintf(f.key, sizeof(f.key), "key%03d%s", i, i % 2 ? "x" : "");
		snprintf(f.probe, sizeof(f.probe), "%s", i % 3 ? "kept" : "gone");
		assert_int_equal(findings_add(&l, &f), 0);
	}
	findings_forget(&l, "gone");
	snprintf(f.key, sizeof(f.key), "a");
	assert_int_equal(findings_add(&l, &f), 0);
	assert_int_equal(l.count, 1 + 150 - 25 + 50);
	for (size_t i = 0; i < l.count; i++)
		assert_ptr_equal(findings_get(&l, l.items[i].key), &l.items[i]);
	findings_free(&l);
	findings_sort(&l);
	mem_fail_after(1);
	assert_int_equal(findings_add(&l, &f), -ENOMEM);
	findings_free(&l);
}

static void runs_hold_series(void **state)
{
	(void)state;
	struct run r;
	uint32_t words[6] = {1, 2, 3, 4, 5, 6};

	assert_int_equal(run_init(&r), 0);
	assert_null(run_series(&r, "p", "x"));
	for (int i = 0; i < 40; i++) {
		char name[8];
		snprintf(name, sizeof(name), "x%d", i);
		assert_non_null(run_series_new(&r, "p", name));
	}
	struct series *s = run_series(&r, "p", "x17");
	assert_non_null(s);
	assert_true(s->before.sm_clock_mhz < 0 && s->after.throttle == -1); /* unknown so far */
	for (int i = 0; i < 100; i++) {
		struct point pt = {
		    .x = i, .p = {i % 3}, .outcome = OUTCOME_OK, .repeats = 2, .words_per_repeat = 3, .y = words};
		words[0] = (uint32_t)i;
		assert_int_equal(series_add(&r, s, &pt), 0);
	}
	const double p[POINT_PARAMS] = {2};
	const struct point *pt = series_find(s, 50, p);
	assert_non_null(pt);
	assert_int_equal(pt->y[0], 50); /* its own copy */
	assert_int_equal(pt->y[5], 6);
	assert_null(series_find(s, 50, NULL));
	assert_null(series_find(s, 50.5, p));
	assert_non_null(series_find(s, 51, NULL));
	struct native_info a = {.fingerprint = 7, .registers = 1}, b = {.fingerprint = 8}, none = {.problem = "x"};
	assert_int_equal(series_add_native(&r, s, &a), 0);
	assert_int_equal(series_add_native(&r, s, &b), 1);
	assert_int_equal(series_add_native(&r, s, &none), 2);
	assert_int_equal(series_add_native(&r, s, &none), 2);
	assert_int_equal(series_add_native(&r, s, &a), 0);
	struct probe_record *rec = run_probe(&r, "clock");
	assert_non_null(rec);
	assert_int_equal(rec->state, PROBE_PENDING);
	rec->state = PROBE_DONE;
	assert_int_equal(run_probe(&r, "clock")->state, PROBE_DONE);
	assert_int_equal(r.probe_count, 1);
	run_free(&r);
	run_free(&r);
}

static void figures_copy(void **state)
{
	(void)state;
	struct figure_list l = {0};
	double x[3] = {1, 2, 3}, y[3] = {4, 5, 6};

	for (int i = 0; i < 20; i++) {
		struct figure *f = figures_new(&l, "name", "title");
		assert_non_null(f);
		assert_int_equal(figure_add(f, "marks", MARK_BAND, x, y, y, 3), 0);
		assert_int_equal(figure_add(f, "none", MARK_LINE, x, y, NULL, 0), 0);
		figure_note(f, true, 2, "here");
	}
	x[0] = 9;
	assert_true(l.items[7].marks[0].x[0] == 1);
	struct figure *f = &l.items[19];
	for (long n = 1; n <= 3; n++) {
		mem_fail_after(n);
		assert_int_equal(figure_add(f, "marks", MARK_BAND, x, y, y, 3), -ENOMEM);
	}
	mem_fail_after(0);
	assert_int_equal(f->marks_count, 2);
	figures_free(&l);
	figures_free(&l);
}

static void schedules_have_one_name(void **state)
{
	(void)state;
	static const uint16_t mei[] = {1, 0, 2, 1, 3, 1}, other[] = {0, 1, 2, 0, 3, 0}, turned[] = {7, 9, 7, 4, 7, 2},
			      round[] = {3, 1, 2}, one[] = {5};
	char text[64];
	schedule_text(text, sizeof text, turned, 6);
	assert_string_equal(text, "1,2,1,3,1,4");
	schedule_text(text, sizeof text, mei, 6);
	assert_string_equal(text, "1,1,2,3,1,4");
	schedule_text(text, sizeof text, other, 6);
	assert_string_equal(text, "1,1,2,3,1,4");
	schedule_text(text, sizeof text, round, 3);
	assert_string_equal(text, "1,2,3");
	schedule_text(text, sizeof text, one, 1);
	assert_string_equal(text, "1");
	/* The longest one fits into a finding. */
	uint16_t all[SCHEDULE_MOST];
	struct value v;
	for (uint16_t i = 0; i < SCHEDULE_MOST; i++)
		all[i] = i;
	schedule_text(text, sizeof text, all, SCHEDULE_MOST);
	assert_true(strlen(text) < sizeof v.text && strcmp(text + strlen(text) - 3, ",24") == 0);
}

static struct finding number(const char *key, const char *unit, enum verdict v, double value, double lo, double hi)
{
	struct finding f = {.verdict = v, .value = {.kind = VALUE_NUMBER, .number = value}, .lo = lo, .hi = hi};
	snprintf(f.key, sizeof f.key, "%s", key);
	snprintf(f.unit, sizeof f.unit, "%s", unit);
	return f;
}

static enum compare_state of_two(struct finding a, struct finding b)
{
	assert_int_equal(compare_findings(&a, &b), compare_findings(&b, &a));
	return compare_findings(&a, &b);
}

static void old_keys_are_read(void **state)
{
	(void)state;
	char key[96] = "memory.global.4.completion", tight[16] = "memory.a.alone",
	     other[96] = "pipeline.sp.ilp1.completion";

	key_rename(key, sizeof key);
	assert_string_equal(key, "memory.global.4.timed_latency");
	assert_non_null(key_family(key));
	key_rename(key, sizeof key);
	assert_string_equal(key, "memory.global.4.timed_latency");
	key_rename(tight, sizeof tight); /* no room */
	assert_string_equal(tight, "memory.a.alone");
	key_rename(other, sizeof other);
	assert_string_equal(other, "pipeline.sp.ilp1.completion");
	assert_true(key_pattern_meets("cache.<p>.<l>.size", "cache.constant.*"));
	assert_true(key_pattern_meets("memory.<space>.<bytes>.issue", "memory.*.*.issue"));
	assert_false(key_pattern_meets("cache.<p>.<l>.size", "cache.constant.*.line"));
	assert_false(key_pattern_meets("float.<op>.rounding", "arith.*"));
}

static void runs_agree_within_what_is_said(void **state)
{
	(void)state;
	const enum verdict is = VERDICT_MEASURED, bound = VERDICT_BOUND;
	const char *const l = "memory.global.latency", *const s = "shared.size", *const i = "arith.add.f32.issue";

	assert_int_equal(of_two(number(l, "cycles", is, 440, NAN, NAN), number(l, "cycles", is, 441, NAN, NAN)),
			 COMPARE_AGREE);
	assert_int_equal(of_two(number(l, "cycles", is, 440, 430, 450), number(l, "cycles", is, 442, 441, 443)),
			 COMPARE_DIFFER);
	assert_int_equal(of_two(number(l, "cycles", is, 440, 439, 441), number(l, "cycles", is, 450, 449, 451)),
			 COMPARE_CONTRADICT);
	/* Of a list each value may be off by as much as the first. */
	struct finding one = number("atomic.add.latency_classes", "cycles", is, 0, 285, 305), two = one;
	one.value = (struct value){.kind = VALUE_ARRAY, .array = {295, 487}, .array_count = 2};
	two.value = (struct value){.kind = VALUE_ARRAY, .array = {292, 484}, .array_count = 2};
	assert_int_equal(of_two(one, two), COMPARE_DIFFER);
	two.value.array[1] = 440;
	assert_int_equal(of_two(one, two), COMPARE_CONTRADICT);
	two.value.array[1] = 484;
	one.lo = one.hi = two.lo = two.hi = NAN;
	assert_int_equal(of_two(one, two), COMPARE_CONTRADICT);
	/* A byte more is another size, and a whole cycle of two is another rate. */
	assert_int_equal(
	    of_two(number(s, "bytes", is, 16384, 16000, 17000), number(s, "bytes", is, 16385, 16000, 17000)),
	    COMPARE_DIFFER);
	assert_int_equal(of_two(number(i, "cycles", is, 2, NAN, NAN), number(i, "cycles", is, 3, NAN, NAN)),
			 COMPARE_CONTRADICT);
	assert_int_equal(of_two(number(i, "cycles", is, 2, NAN, NAN), number(i, "cycles", is, 2.01, NAN, NAN)),
			 COMPARE_AGREE);
	assert_int_equal(of_two(number(s, "bytes", is, 16384, NAN, NAN), number(s, "bytes", bound, 0, 8192, INFINITY)),
			 COMPARE_SOME);
	assert_int_equal(of_two(number(s, "bytes", is, 16384, NAN, NAN), number(s, "bytes", bound, 0, 32768, INFINITY)),
			 COMPARE_CONTRADICT);
	assert_int_equal(of_two(number(s, "bytes", is, 1, NAN, NAN), number(s, "bytes", VERDICT_ABSENT, 0, NAN, NAN)),
			 COMPARE_CONTRADICT);
	assert_int_equal(of_two(number(s, "bytes", VERDICT_INCONCLUSIVE, 0, NAN, NAN),
				number(s, "bytes", VERDICT_ABSENT, 0, NAN, NAN)),
			 COMPARE_SOME);

	/* An estimate is held to its interval as a measured value is, and decides a row. */
	assert_int_equal(
	    of_two(number(l, "cycles", VERDICT_LIKELY, 440, 430, 450), number(l, "cycles", is, 445, 441, 449)),
	    COMPARE_DIFFER);
	assert_int_equal(
	    of_two(number(l, "cycles", VERDICT_LIKELY, 440, 430, 445), number(l, "cycles", is, 455, 451, 460)),
	    COMPARE_CONTRADICT);
	assert_int_equal(of_two(number(l, "cycles", VERDICT_LIKELY, 440, 430, 445),
				number(l, "cycles", VERDICT_INCONCLUSIVE, 0, NAN, NAN)),
			 COMPARE_SOME);

	struct finding lru = number("cache.global.l2.policy", "name", is, 0, NAN, NAN), fifo = lru;
	lru.value = (struct value){.kind = VALUE_TEXT, .text = "lru"};
	fifo.value = (struct value){.kind = VALUE_TEXT, .text = "fifo"};
	assert_int_equal(of_two(lru, lru), COMPARE_AGREE);
	assert_int_equal(of_two(lru, fifo), COMPARE_CONTRADICT);
}

static void runs_are_laid_beside_each_other(void **state)
{
	(void)state;
	struct run r[3];
	const struct run *const runs[] = {&r[0], &r[1], &r[2]};
	const struct finding clock = number("clock.granularity", "cycles", VERDICT_MEASURED, 1, NAN, NAN),
			     size = number("shared.size", "bytes", VERDICT_MEASURED, 16384, NAN, NAN),
			     other = number("shared.size", "bytes", VERDICT_MEASURED, 8192, NAN, NAN);
	struct comparison c;
	struct arena a;

	arena_init(&a);
	for (int i = 0; i < 3; i++)
		assert_int_equal(run_init(&r[i]), 0);
	/* Of three runs two lack one key, and the last says another size than the first. */
	assert_int_equal(findings_add(&r[0].findings, &size), 0);
	assert_int_equal(findings_add(&r[0].findings, &clock), 0);
	assert_int_equal(findings_add(&r[1].findings, &size), 0);
	assert_int_equal(findings_add(&r[2].findings, &other), 0);
	assert_int_equal(compare_runs(&c, &a, runs, 3), 0);
	assert_int_equal(c.row_count, 2);
	assert_string_equal(c.rows[0].key, "clock.granularity");
	assert_int_equal(c.rows[0].state, COMPARE_SOME);
	assert_null(c.rows[0].of[1]);
	assert_int_equal(c.rows[1].state, COMPARE_CONTRADICT);
	assert_int_equal(c.counts[COMPARE_CONTRADICT], 1);
	assert_int_equal(compare_runs(&c, &a, runs, 2), 0);
	assert_int_equal(c.counts[COMPARE_AGREE], 1);
	for (int i = 0; i < 3; i++)
		run_free(&r[i]);
	arena_free(&a);
}

static void devices_are_told_apart(void **state)
{
	(void)state;
	struct device_info a = {.backend = "cuda", .spec = "cuda:0", .name = "One", .sm_count = 132, .clock_hz = 1e9},
			   b = a;
	char how[320], few[16];

	assert_false(device_differs(&a, &b, how, sizeof how));
	assert_string_equal(how, "");
	snprintf(b.spec, sizeof b.spec, "cuda:1"); /* where it is, and what is written for it */
	snprintf(b.target, sizeof b.target, "sm_90");
	b.ptx_version = 90;
	assert_false(device_differs(&a, &b, how, sizeof how));
	b.sm_count = 114;
	snprintf(b.driver, sizeof b.driver, "580");
	b.clock_hz = 1.5e9;
	b.has_f64 = true;
	assert_true(device_differs(&a, &b, how, sizeof how));
	assert_string_equal(how, "driver none, not 580; SMs 132, not 114; clock in Hz 1000000000, not 1500000000; "
				 "double precision no, not yes");
	assert_true(device_differs(&a, &b, few, sizeof few));
	assert_string_equal(few, "driver none, no");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(devices_are_told_apart),
	    cmocka_unit_test(names_parse_back),
	    cmocka_unit_test(keys_match_exactly),
	    cmocka_unit_test(old_keys_are_read),
	    cmocka_unit_test(findings_are_one_a_key),
	    cmocka_unit_test(many_findings_in_order),
	    cmocka_unit_test(runs_hold_series),
	    cmocka_unit_test(figures_copy),
	    cmocka_unit_test(schedules_have_one_name),
	    cmocka_unit_test(runs_agree_within_what_is_said),
	    cmocka_unit_test(runs_are_laid_beside_each_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
