/* Gates between paths to one cache: what one leaves open the other answers, and a number of a level needs that somebody tells the level. */
#include "gates_findings.h"

/* One cache by two paths: what one leaves open is likely what the other found; what is another cache's is nobody's business. */
static void one_path_answers_for_the_other(void **state)
{
	(void)state;
	struct finding_list l = {0};
	struct finding open = {.key = "cache.readonly.l1.line",
			       .verdict = VERDICT_INCONCLUSIVE,
			       .because = "irregular"},
		       with = {.key = "cache.readonly.l1.shared_with",
			       .verdict = VERDICT_MEASURED,
			       .value = {.kind = VALUE_TEXT, .text = "global.l1"}};

	add(&l, "cache.global.l1.line", 128);
	add(&l, "cache.readonly.l1.sets", 4);
	findings_add(&l, &open);
	findings_add(&l, &with);
	snprintf(open.key, sizeof(open.key), "cache.global.l1.sets");
	findings_add(&l, &open);
	snprintf(open.key, sizeof(open.key), "cache.texture.l1.line");
	findings_add(&l, &open);
	same_cache_estimate(&l);
	assert_int_equal(verdict(&l, "cache.readonly.l1.line"), VERDICT_LIKELY);
	assert_true(findings_get(&l, "cache.readonly.l1.line")->value.number == 128);
	assert_int_equal(verdict(&l, "cache.global.l1.sets"), VERDICT_LIKELY);
	assert_int_equal(verdict(&l, "cache.texture.l1.line"), VERDICT_INCONCLUSIVE);
	assert_int_equal(verdict(&l, "cache.global.l1.line"), VERDICT_MEASURED);
	findings_free(&l);
}

/* Paths that are told in pairs: what the last of the chain found is the first one's, too, in whatever order the pairs come. */
static void all_paths_to_a_cache_answer_alike(void **state)
{
	(void)state;
	static const char *const pair[][2] = {
	    {"local.l1", "global.l1"}, {"global.l1", "texture.l1"}, {"readonly.l1", "global.l1"}};

	for (unsigned first = 0; first < 3; first++) {
		struct finding_list l = {0};
		struct finding f = study_measured("cache.texture.l1.line", 128, 128, 128, "test");
		findings_add(&l, &f);
		for (unsigned k = 0; k < 3; k++) {
			const char *const *p = pair[(first + k) % 3];
			f = (struct finding){.verdict = VERDICT_MEASURED, .value.kind = VALUE_TEXT};
			snprintf(f.key, sizeof(f.key), "cache.%s.shared_with", p[0]);
			snprintf(f.value.text, sizeof(f.value.text), "%s", p[1]);
			findings_add(&l, &f);
			snprintf(f.key, sizeof(f.key), "cache.%s.line", p[0]);
			f.verdict = VERDICT_INCONCLUSIVE;
			f.value = (struct value){0};
			findings_add(&l, &f);
		}
		same_cache_estimate(&l);
		for (unsigned k = 0; k < 3; k++) {
			snprintf(f.key, sizeof(f.key), "cache.%s.line", pair[k][0]);
			assert_int_equal(verdict(&l, f.key), VERDICT_LIKELY);
		}
		findings_free(&l);
	}
}

static void add_bound(struct finding_list *l, const char *key, double least)
{
	struct finding f = study_measured(key, least, least, INFINITY, "test");

	f.verdict = VERDICT_BOUND;
	snprintf(f.because, sizeof(f.because), "more was not seen");
	assert_int_equal(findings_add(l, &f), 0);
}

/* The same for bounds, but for those that exclude what the other path found, and for how many levels there are. */
static void bounds_are_answered_too(void **state)
{
	(void)state;
	struct finding_list l = {0};
	const struct finding with = {.key = "cache.texture.l3.shared_with",
				     .verdict = VERDICT_MEASURED,
				     .value = {.kind = VALUE_TEXT, .text = "global.l2"}};

	add(&l, "cache.global.l2.size", 1000);
	add(&l, "cache.global.l2.line", 128);
	add(&l, "cache.global.levels", 3);
	add_bound(&l, "cache.texture.l3.size", 500);
	add_bound(&l, "cache.texture.l3.line", 256);
	add_bound(&l, "cache.texture.levels", 3);
	findings_add(&l, &with);
	same_cache_estimate(&l);
	assert_int_equal(verdict(&l, "cache.texture.l3.size"), VERDICT_LIKELY);
	assert_int_equal(verdict(&l, "cache.texture.l3.line"), VERDICT_BOUND);
	assert_int_equal(verdict(&l, "cache.texture.levels"), VERDICT_LIKELY);
	assert_true(findings_get(&l, "cache.texture.levels")->value.number == 4);
	findings_free(&l);
}

/* What shared memory took of a cache is told once its size is estimated, and not where something is known. */
static void a_lent_size_is_the_other_paths_too(void **state)
{
	(void)state;
	const struct finding with = {.key = "cache.local.l1.shared_with",
				     .verdict = VERDICT_MEASURED,
				     .value = {.kind = VALUE_TEXT, .text = "global.l1"}};
	struct finding size = study_measured("cache.global.l1.size", 1000, 900, 1100, "test");

	for (unsigned lent = 0; lent < 2; lent++) {
		struct finding_list l = {0};
		size.verdict = VERDICT_LIKELY;
		size.notes = lent ? NOTE_LENT : 0;
		findings_add(&l, &size);
		findings_add(&l, &with);
		add_verdict(&l, "cache.local.l1.size", VERDICT_INCONCLUSIVE, "noise");
		add_bound(&l, "cache.local.l1.ways", 3);
		same_cache_lent(&l);
		assert_int_equal(verdict(&l, "cache.local.l1.size"), lent ? VERDICT_LIKELY : VERDICT_INCONCLUSIVE);
		assert_int_equal(verdict(&l, "cache.local.l1.ways"), VERDICT_BOUND);
		findings_free(&l);
	}
}

/* What is behind a common last level is as much later by either path, unless a path has another level behind it. */
static void one_memory_is_behind_one_cache(void **state)
{
	(void)state;
	const struct finding with = {.key = "cache.texture.l2.shared_with",
				     .verdict = VERDICT_MEASURED,
				     .value = {.kind = VALUE_TEXT, .text = "global.l2"}};

	for (unsigned levels = 2; levels <= 3; levels++) {
		struct finding_list l = {0};
		add(&l, "cache.global.levels", levels);
		add(&l, "cache.global.l2.latency", 200);
		add(&l, "memory.global.latency", 500);
		add(&l, "cache.texture.levels", 2);
		add(&l, "cache.texture.l2.latency", 260);
		add_bound(&l, "memory.texture.latency", 260);
		findings_add(&l, &with);
		same_cache_estimate(&l);
		const struct finding *f = findings_get(&l, "memory.texture.latency");
		assert_int_equal(f->verdict, levels == 2 ? VERDICT_LIKELY : VERDICT_BOUND);
		assert_true(f->value.number == (levels == 2 ? 560 : 260));
		findings_free(&l);
	}
}

/* A number of a level needs that somebody tells the level, on every path. told: levels at least; 0: INCONCLUSIVE, 3: not asked. */
static void numbers_need_a_level(void **state)
{
	(void)state;
	static const char *const paths[] = {"cache.constant", "cache.global", "cache.instruction",
					    "cache.texture",  "tlb.global",   "tlb.texture"};

	for (size_t p = 0; p < sizeof paths / sizeof *paths; p++)
		for (unsigned told = 0; told <= 3; told++) {
			const char *const what = p < 4 ? "latency" : "reach";
			struct finding_list l = {0};
			char levels[64], first[64], second[64], miss[64];
			snprintf(levels, sizeof levels, "%s.levels", paths[p]);
			snprintf(first, sizeof first, "%s.l1.%s", paths[p], what);
			snprintf(second, sizeof second, "%s.l2.%s", paths[p], what);
			snprintf(miss, sizeof miss, "tlb.%s.miss_latency", p == 4 ? "global" : "texture");
			add(&l, first, 10);
			add(&l, second, 20);
			add(&l, miss, 30);
			if (!told)
				add_verdict(&l, levels, VERDICT_INCONCLUSIVE, "noise");
			else if (told < 3)
				add_bound(&l, levels, told);
			assert_int_equal(gates_apply(&l), 0);
			assert_int_equal(verdict(&l, first), told ? VERDICT_MEASURED : VERDICT_INCONCLUSIVE);
			assert_int_equal(verdict(&l, second), told > 1 ? VERDICT_MEASURED : VERDICT_INCONCLUSIVE);
			assert_int_equal(verdict(&l, miss),
					 p < 4 || told == 3 ? VERDICT_MEASURED : VERDICT_INCONCLUSIVE);
			findings_free(&l);
		}
}

/* A path that counts no levels has one that its size tells, or that is another path's. */
static void own_size_or_another_path_tells(void **state)
{
	(void)state;
	const struct finding with = {.key = "cache.readonly.l1.shared_with",
				     .verdict = VERDICT_MEASURED,
				     .value = {.kind = VALUE_TEXT, .text = "global.l1"}};

	for (unsigned shared = 0; shared < 3; shared++) {
		struct finding_list l = {0};
		add_verdict(&l, "cache.readonly.l1.size", VERDICT_INCONCLUSIVE, "noise");
		add(&l, "cache.readonly.l1.latency", 32);
		if (shared)
			findings_add(&l, &with);
		if (shared > 1)
			add(&l, "cache.global.levels", 2);
		assert_int_equal(gates_apply(&l), 0);
		assert_int_equal(verdict(&l, "cache.readonly.l1.latency"),
				 shared > 1 ? VERDICT_MEASURED : VERDICT_INCONCLUSIVE);
		findings_free(&l);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(one_path_answers_for_the_other), cmocka_unit_test(all_paths_to_a_cache_answer_alike),
	    cmocka_unit_test(bounds_are_answered_too),	      cmocka_unit_test(a_lent_size_is_the_other_paths_too),
	    cmocka_unit_test(one_memory_is_behind_one_cache), cmocka_unit_test(numbers_need_a_level),
	    cmocka_unit_test(own_size_or_another_path_tells),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
