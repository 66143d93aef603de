/* What a description says of values, flipped line by line: the finding flips with it. And the GeForce 8800's special functions as published. */
#include "base/arena.h"
#include "base/embed.h"
#include "known.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* The built-in GPU with lines added. */
static struct sim_spec *described(struct arena *a, const char *gpu, const char *lines)
{
	char path[64];
	struct str text;
	struct err e = {0};
	struct sim_spec *s;
	snprintf(path, sizeof path, "gpus/%s.gpu", gpu);
	const struct embedded *m = embed_find(path);
	assert_non_null(m);
	str_init(&text);
	str_addf(&text, "%.*s\n%s", (int)m->size, (const char *)m->data, lines);
	if (spec_parse(&s, a, path, str_text(&text), text.len, &e))
		fail_msg("%s", e.text);
	str_free(&text);
	return s;
}

static void measure(struct run *r, struct arena *a, const char *gpu, const char *lines, const char *probe)
{
	struct err e = {0};
	if (known_measure_probe(r, described(a, gpu, lines), 1, probe, &e))
		fail_msg("%s", e.text);
}

static void says(const struct run *r, const char *key, const char *text)
{
	const struct finding *f = findings_get(&r->findings, key);
	if (!f || f->verdict != VERDICT_MEASURED || strcmp(f->value.text, text) != 0)
		fail_msg("%s is not MEASURED %s but %s %s", key, text, f ? verdict_name(f->verdict) : "silent",
			 f ? f->value.text : "");
}

static void a_flag_flips_its_finding(void **state)
{
	static const struct {
		const char *gpu, *lines, *fused, *mad, *denormals;
	} cases[] = {
	    {"g8800gtx", "", "no", "truncated", "no"},
	    {"gtx280", "", "no", "truncated", "no"},
	    {"h200", "", "yes", "nearest", "yes"},
	    {"g8800gtx", "float.denormals = yes yes/no # flipped\n", "no", "truncated", "yes"},
	    {"g8800gtx", "float.mad.fused = yes yes/no # flipped\n", "yes", "nearest", "no"},
	    {"gtx280", "float.mad.rounding = nearest name # flipped\n", "no", "nearest", "no"},
	    {"h200", "float.denormals = no yes/no # flipped\n", "yes", "nearest", "no"},
	    {"h200", "float.mad.fused = no yes/no # flipped\n", "no", "truncated", "yes"},
	};
	(void)state;
	for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
		struct arena a;
		struct run r;
		arena_init(&a);
		measure(&r, &a, cases[k].gpu, cases[k].lines, "float");
		says(&r, "float.mad.fused", cases[k].fused);
		says(&r, "float.mad.rounding", cases[k].mad);
		says(&r, "float.denormals", cases[k].denormals);
		says(&r, "float.add.rounding", "nearest");
		says(&r, "float.specials", "yes");
		run_free(&r);
		arena_free(&a);
	}
}

/* Figure B.6.1 of Nickolls and Kirk, as the probe finds it: within 0.1 bit, 0.05 ulp and 2 %, from both sides. */
static void special_functions_are_the_published_ones(void **state)
{
	static const struct {
		const char *key;
		double value, off;
	} figure[] = {
	    {"sfu.rcp.good_bits", 24.02, 0.1},	 {"sfu.rcp.max_ulp", 0.98, 0.05},
	    {"sfu.rcp.exact_ratio", 0.87, 0.02}, {"sfu.rsqrt.good_bits", 23.40, 0.1},
	    {"sfu.rsqrt.max_ulp", 1.52, 0.05},	 {"sfu.rsqrt.exact_ratio", 0.78, 0.02},
	    {"sfu.ex2.good_bits", 22.51, 0.1},	 {"sfu.ex2.max_ulp", 1.41, 0.05},
	    {"sfu.ex2.exact_ratio", 0.74, 0.02}, {"sfu.lg2.good_bits", 22.57, 0.1},
	    {"sfu.sin.good_bits", 22.47, 0.1},	 {"sfu.cos.good_bits", 22.47, 0.1},
	};
	struct arena a;
	struct run r;
	(void)state;
	arena_init(&a);
	measure(&r, &a, "g8800gtx", "", "sfu");
	for (size_t k = 0; k < sizeof figure / sizeof *figure; k++) {
		const struct finding *f = findings_get(&r.findings, figure[k].key);
		if (!f || !finding_estimated(f) || fabs(f->value.number - figure[k].value) > figure[k].off)
			fail_msg("%s is %g, not %g", figure[k].key, f ? f->value.number : 0, figure[k].value);
	}
	says(&r, "sfu.sin.monotonic", "no");
	says(&r, "sfu.cos.monotonic", "no");
	assert_string_equal(findings_get(&r.findings, "sfu.rcp.monotonic")->value.text, "yes");
	run_free(&r);
	arena_free(&a);
}

static int keep_answer(void *ctx, const struct known_answer *a)
{
	if (strcmp(a->key, "cache.global.l1.miss_rate") == 0)
		*(enum answer *)ctx = a->answer;
	return 0;
}

/* What ran before leaves either side ahead, by more than the laps of one footprint take back. */
static void a_duel_may_begin_with_either_side_ahead(void **state)
{
	static const struct {
		double rate;
		enum answer is;
	} cases[] = {{0.99, ANSWER_RIGHT}, {0.55, ANSWER_RIGHT}, {0.4, ANSWER_WRONG}};
	struct arena a;
	(void)state;
	arena_init(&a);
	struct sim_spec *s = described(&a, "m2070", "");
	struct cache_spec *c = &s->global.level[0];
	c->policy = POLICY_DUEL;
	c->sets = 48;
	c->size = (uint64_t)c->sets * c->ways * c->line;
	for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
		struct run r;
		struct finding f = {.key = "cache.global.l1.miss_rate",
				    .value = {.kind = VALUE_NUMBER, .number = cases[k].rate}};
		enum answer is = ANSWER_SILENT;
		f.verdict = VERDICT_MEASURED;
		assert_int_equal(run_init(&r), 0);
		assert_int_equal(findings_add(&r.findings, &f), 0);
		assert_int_equal(known_each(&r, s, keep_answer, &is), 0);
		assert_int_equal(is, cases[k].is);
		run_free(&r);
	}
	arena_free(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(special_functions_are_the_published_ones),
	    cmocka_unit_test(a_flag_flips_its_finding),
	    cmocka_unit_test(a_duel_may_begin_with_either_side_ahead),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
