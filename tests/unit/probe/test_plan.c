/* Plans: order by needs, names that do not exist, circles. */
#include "base/arena.h"
#include "probe/engine.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define NAMES(...) ((const char *const[]){__VA_ARGS__, NULL})

static const struct probe base = {.name = "base"};
static const struct probe top = {.name = "top", .needs = NAMES("middle", "base")};
static const struct probe middle = {.name = "middle", .helped = NAMES("base")};
static const struct probe ring_a = {.name = "ring_a", .needs = NAMES("ring_b")};
static const struct probe ring_b = {.name = "ring_b", .needs = NAMES("ring_a")};
static const struct probe orphan = {.name = "orphan", .needs = NAMES("nobody")};
const struct probe *const probe_table[] = {&top, &middle, &base, &ring_a, &ring_b, &orphan};
const size_t probe_count = sizeof(probe_table) / sizeof(probe_table[0]);

static void sorts_by_needs(void **state)
{
	(void)state;
	struct engine_plan plan;
	struct err e = {0};

	assert_int_equal(engine_plan(&plan, NAMES("top"), 1, &e), 0);
	assert_int_equal(plan.count, 3);
	assert_ptr_equal(plan.probes[0], &base);
	assert_ptr_equal(plan.probes[1], &middle);
	assert_ptr_equal(plan.probes[2], &top);
	mem_free(plan.probes);
	assert_int_equal(engine_plan(&plan, NAMES("base", "middle", "base"), 3, &e), 0);
	assert_int_equal(plan.count, 2);
	mem_free(plan.probes);
}

static void refuses(void **state)
{
	(void)state;
	struct engine_plan plan;
	struct err e = {0};

	assert_int_equal(engine_plan(&plan, NAMES("midle"), 1, &e), -EINVAL);
	assert_non_null(strstr(e.text, "did you mean 'middle'?"));
	assert_int_equal(engine_plan(&plan, NAMES("xyzzy"), 1, &e), -EINVAL);
	assert_non_null(strstr(e.text, "there is no probe 'xyzzy'"));
	assert_int_equal(engine_plan(&plan, NAMES("ring_a"), 1, &e), -EINVAL);
	assert_non_null(strstr(e.text, "need each other"));
	assert_int_equal(engine_plan(&plan, NAMES("orphan"), 1, &e), -EINVAL);
	assert_non_null(strstr(e.text, "orphan needs 'nobody'"));
	assert_int_equal(engine_plan(&plan, NULL, 0, &e), -EINVAL); /* all of them: the circle is among them */
	assert_null(plan.probes);
	mem_fail_after(1);
	assert_int_equal(engine_plan(&plan, NAMES("top"), 1, &e), -ENOMEM);
	mem_fail_after(0);
	assert_ptr_equal(probe_find("base"), &base);
	assert_null(probe_find("bas"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(sorts_by_needs), cmocka_unit_test(refuses)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
