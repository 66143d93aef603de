/* The constant and global probes on a reference model of caches. Nothing that they call MEASURED may be wrong, and
 * nearly everything that exists must be measured. */
#include "base/arena.h"
#include "base/str.h"
#include "probe/engine.h"
#include "reference_gpu.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

struct score {
	const struct run *run;
	const char *path;
	unsigned exist, measured, wrong;
};

static int compare(void *ctx, const struct truth *t)
{
	static const char *const what[] = {".size", ".line", ".sector", ".ways", ".sets", ".latency", ".levels"};
	struct score *s = ctx;
	bool mine = false;
	char prefix[64];

	snprintf(prefix, sizeof(prefix), "cache.%s.", s->path);
	for (size_t i = 0; i < sizeof(what) / sizeof(what[0]); i++)
		mine |= str_starts(t->key, prefix) && str_ends(t->key, what[i]);
	snprintf(prefix, sizeof(prefix), "memory.%s.latency", s->path);
	mine |= strcmp(t->key, prefix) == 0;
	snprintf(prefix, sizeof(prefix), "cache.%s.l2.partitions", s->path);
	mine |= strcmp(t->key, prefix) == 0 && strcmp(s->path, "global") == 0;
	if (!mine)
		return 0;
	const struct finding *f = findings_get(&s->run->findings, t->key);
	bool number = f && f->verdict == VERDICT_MEASURED && f->value.kind == VALUE_NUMBER;
	bool wrong = t->absent ? number
			       : (number && fabs(f->value.number - t->number) > t->tolerance) ||
				     (f && f->verdict == VERDICT_ABSENT);
	s->exist += !t->absent;
	s->measured += !t->absent && number;
	s->wrong += wrong;
	if (wrong)
		print_message("%s: the truth is %s %g, concluded was %s %g\n", t->key, t->absent ? "absent" : "",
			      t->number, verdict_name(f->verdict), f->value.number);
	return 0;
}

/* Runs one probe on the described GPU and adds to the score. */
static void pursue(const char *gpu, const char *text, size_t size, const char *probe, const char *path,
		   struct score *total)
{
	struct arena a;
	struct sim_spec *spec;
	struct err e = {0};
	struct gpu *g;
	struct run r;

	arena_init(&a);
	if (text ? spec_parse(&spec, &a, gpu, text, size, &e) : spec_open(&spec, &a, gpu, &e))
		fail_msg("%s", e.text);
	/* What address arithmetic costs is another probe's business. */
	spec->constant.address_ops = 0;
	assert_int_equal(reference_gpu_open(&g, spec, 1), 0);
	assert_int_equal(run_init(&r), 0);
	r.seed = 1;
	r.device = *g->ops->info(g);
	/* Which level of constants is the common L2 only the other probe tells. */
	const struct probe *two[] = {probe_find("global_cache"), probe_find(probe)};
	assert_non_null(two[0]);
	assert_non_null(two[1]);
	const bool both = two[0] != two[1];
	for (unsigned k = 0; k < 2; k++)
		for (size_t i = 0; two[k]->needs && two[k]->needs[i]; i++)
			if (!both || strcmp(two[k]->needs[i], two[0]->name) != 0)
				run_probe(&r, two[k]->needs[i])->state = PROBE_DONE;
	struct engine_plan plan = {.probes = both ? two : two + 1, .count = 1 + both};
	if (engine_measure(&r, g, &plan, NULL, &e) || engine_infer(&r, &e))
		fail_msg("%s: %s", gpu, e.text);
	struct score s = {.run = &r, .path = path};
	spec_truth(spec, compare, &s);
	print_message("%s %s: %u exist, %u measured, %u wrong\n", gpu, path, s.exist, s.measured, s.wrong);
	total->exist += s.exist;
	total->measured += s.measured;
	total->wrong += s.wrong;
	g->ops->close(g);
	run_free(&r);
	arena_free(&a);
}

static void described_gpus_are_recovered(void **state)
{
	(void)state;
	struct score s = {0};

	struct score unseen = {0};

	pursue("toy", NULL, 0, "constant_cache", "constant", &s);
	pursue("toy", NULL, 0, "global_cache", "global", &s);
	assert_int_equal(s.wrong, 0);
	assert_int_equal(s.measured, s.exist);
	/* The model sweeps no memory, so that nobody knows that there is no L2 which constants might come from. */
	pursue("gtx280", NULL, 0, "constant_cache", "constant", &unseen);
	assert_int_equal(unseen.wrong, 0);
	assert_true(2 * unseen.measured > unseen.exist);
}

static void nothing_is_found_where_nothing_is(void **state)
{
	(void)state;
	struct score s = {0};

	pursue("gtx280", NULL, 0, "global_cache", "global", &s);
	assert_int_equal(s.wrong, 0);
	assert_int_equal(s.measured, 1); /* memory's latency */
}

static void random_gpus_are_recovered(void **state)
{
	(void)state;
	struct score constant = {0}, global = {0};

	for (uint64_t seed = 500; seed < 512; seed++) {
		struct str text;
		char name[32];
		str_init(&text);
		assert_int_equal(spec_random(&text, seed), 0);
		snprintf(name, sizeof(name), "random %llu", (unsigned long long)seed);
		pursue(name, str_text(&text), text.len, "constant_cache", "constant", &constant);
		if (seed < 504)
			pursue(name, str_text(&text), text.len, "global_cache", "global", &global);
		str_free(&text);
	}
	assert_int_equal(constant.wrong + global.wrong, 0);
	assert_true(constant.measured >= 0.9 * constant.exist);
	assert_true(global.measured >= 0.6 * global.exist);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(described_gpus_are_recovered),
	    cmocka_unit_test(nothing_is_found_where_nothing_is),
	    cmocka_unit_test(random_gpus_are_recovered),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
