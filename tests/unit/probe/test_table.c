/* The real probes: each is complete and can be planned. */
#include "base/arena.h"
#include "base/embed.h"
#include "base/str.h"
#include "data/keys.h"
#include "probe/engine.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void every_probe_is_complete(void **state)
{
	(void)state;
	assert_true(probe_count > 0);
	for (size_t i = 0; i < probe_count; i++) {
		const struct probe *p = probe_table[i];
		if (!p->how || !*p->how || !p->fooled || !*p->fooled)
			fail_msg("the probe %s does not say how it works and what can fool it", p->name);
		if (p->draw && !p->figure)
			fail_msg("the probe %s draws, but names none of its figures", p->name);
		assert_non_null(p->name);
		assert_true(strlen(p->name) < sizeof(((struct probe_record *)NULL)->name));
		assert_ptr_equal(probe_find(p->name), p); /* names are unique */
		assert_true(str_ends(p->asks, "?"));
		assert_true(strlen(p->source) > 10);
		assert_non_null(p->study);
		assert_non_null(p->claims);
		assert_non_null(p->claims[0]);
	}
}

/* A claim of one key is a key; a pattern begins like one. */
static void every_claim_is_a_key(void **state)
{
	(void)state;
	for (size_t i = 0; i < probe_count; i++) {
		for (size_t k = 0; probe_table[i]->claims[k]; k++) {
			const char *claim = probe_table[i]->claims[k];
			size_t word = strcspn(claim, ".");
			bool known = false;
			if (!strpbrk(claim, "*?")) {
				if (!key_family(claim))
					print_error("%s claims %s, which is no key\n", probe_table[i]->name, claim);
				assert_non_null(key_family(claim));
				continue;
			}
			for (size_t f = 0; f < key_family_count; f++)
				known |= strncmp(key_families[f].pattern, claim, word + 1) == 0;
			assert_true(known);
		}
	}
}

static void every_experiment_is_named(void **state)
{
	(void)state;
	for (size_t i = 0; i < probe_count; i++) {
		const struct probe *p = probe_table[i];
		for (unsigned k = 0; k < p->experiment_count; k++) {
			assert_non_null(p->experiments[k].setup);
			assert_true(p->experiments[k].name[0] != '\0');
			assert_non_null(p->experiments[k].axis);
			for (unsigned m = k + 1; m < p->experiment_count; m++)
				assert_string_not_equal(p->experiments[k].name, p->experiments[m].name);
		}
	}
}

static void all_can_be_planned(void **state)
{
	(void)state;
	struct engine_plan plan;
	struct err e = {0};

	assert_int_equal(engine_plan(&plan, NULL, 0, &e), 0);
	assert_int_equal(plan.count, probe_count);
	for (size_t i = 0; i < plan.count; i++) {
		for (size_t k = 0; plan.probes[i]->needs && plan.probes[i]->needs[k]; k++) {
			bool before = false;
			for (size_t m = 0; m < i; m++)
				before |= strcmp(plan.probes[m]->name, plan.probes[i]->needs[k]) == 0;
			assert_true(before);
		}
	}
	mem_free(plan.probes);
}

/* Without a single point every study ends and concludes nothing that it did not see. */
static void nothing_measured_nothing_concluded(void **state)
{
	(void)state;
	struct run r;
	struct err e = {0};

	run_init(&r);
	r.device = (struct device_info){.backend = "none",
					.name = "nothing",
					.target = "sm_90",
					.ptx_version = 78,
					.cc = 90,
					.sm_count = 4,
					.warp_size = 32,
					.max_threads_per_block = 1024,
					.max_threads_per_sm = 2048,
					.shared_per_block = 49152,
					.constant_bytes = 65536,
					.memory_bytes = 1 << 30,
					.has_f64 = true,
					.has_f16 = true,
					.has_fma = true};
	for (size_t i = 0; i < probe_count; i++)
		run_probe(&r, probe_table[i]->name)->state = PROBE_DONE;
	assert_int_equal(engine_infer(&r, &e), 0);
	for (size_t i = 0; i < r.findings.count; i++) {
		const struct finding *f = &r.findings.items[i];
		if (f->verdict == VERDICT_MEASURED || f->verdict == VERDICT_ABSENT || f->verdict == VERDICT_BOUND)
			print_error("%s is %s without a point\n", f->key, verdict_name(f->verdict));
		assert_true(f->verdict == VERDICT_INCONCLUSIVE || f->verdict == VERDICT_UNSUPPORTED ||
			    f->verdict == VERDICT_FAILED);
		assert_true(f->because[0] != '\0');
	}
	struct figure_list figures = {0};
	assert_int_equal(engine_draw(&r, &figures, &e), 0);
	figures_free(&figures);
	run_free(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(every_probe_is_complete),
	    cmocka_unit_test(every_claim_is_a_key),
	    cmocka_unit_test(every_experiment_is_named),
	    cmocka_unit_test(all_can_be_planned),
	    cmocka_unit_test(nothing_measured_nothing_concluded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
