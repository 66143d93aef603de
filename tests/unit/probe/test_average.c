/* Averages of whole laps beside single accesses: each kind of disagreement is said with both values, and agreement says nothing. */
#include "probe/chase.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* 4 KB in 8 sets of 4 lines of 128 bytes, lru: a hit takes 100 ticks, a miss 300. Half a way more: in 4 of 8 sets 5 lines miss. */
static const struct chase_shape_known shape = {.size = 4096, .line = 128, .ways = 4, .sets = 8};
static const struct chase_means lru = {.below = 100,
				       .below_bytes = 3072,
				       .full = 100,
				       .half = 100 + 200 * 20 / 36.0,
				       .over = 300,
				       .top = 300,
				       .narrow = 200,
				       .wide = 300};

static struct chase_average judge(struct chase_means m, struct chase_shape_known is)
{
	struct chase_average out;

	chase_average_judge(&m, &is, &out);
	return out;
}

static void agreement_says_nothing(void **state)
{
	struct chase_average a = judge(lru, shape);

	(void)state;
	assert_string_equal(a.size, "");
	assert_string_equal(a.line, "");
	assert_string_equal(a.ways, "");
	/* Late accesses move a mean a little. */
	struct chase_means m = lru;
	m.full = 110;
	m.over = 290;
	m.narrow = 215;
	a = judge(m, shape);
	assert_string_equal(a.size, "");
	assert_string_equal(a.line, "");
	assert_string_equal(a.ways, "");
}

static void a_size_too_large(void **state)
{
	struct chase_means m = lru;

	(void)state;
	m.full = 180;
	const struct chase_average a = judge(m, shape);
	assert_non_null(strstr(a.size, "say 4096 bytes, averages (Wong 2010, III-B) less, between 3072 and 4096"));
}

static void a_size_too_small(void **state)
{
	struct chase_means m = lru;

	(void)state;
	m.over = m.half = 101;
	const struct chase_average a = judge(m, shape);
	assert_non_null(strstr(a.size, "say 4096 bytes, averages (Wong 2010, III-B) more, above 5120"));
	assert_string_equal(a.ways, "");
}

static void a_line_too_long_or_too_short(void **state)
{
	struct chase_means m = lru;

	(void)state;
	m.narrow = 295;
	assert_non_null(strstr(judge(m, shape).line, "lines of 128 bytes, averages (Wong 2010, III-B) at most 64"));
	/* Lines of 256 bytes: in steps of 128 every second access hits. */
	m = lru;
	m.top = m.over = 200;
	m.narrow = 150;
	assert_non_null(strstr(judge(m, shape).line, "lines of 128 bytes, averages (Wong 2010, III-B) at least 256"));
}

static void sets_that_are_not_lru(void **state)
{
	struct chase_means m = lru;

	(void)state;
	m.over = 220;
	struct chase_average a = judge(m, shape);
	assert_string_equal(a.size, "");
	assert_non_null(strstr(a.ways, "fewer than 4 ways"));
	m = lru;
	m.half = 300;
	assert_non_null(strstr(judge(m, shape).ways, "8 ways or more"));
}

static void no_second_plateau(void **state)
{
	struct chase_means m = lru;

	(void)state;
	m.full = m.over = m.half = m.top = m.wide = 102;
	m.narrow = 101;
	struct chase_average a = judge(m, shape);
	assert_string_equal(a.size, "");
	assert_string_equal(a.line, "");
	assert_string_equal(a.ways, "");
	/* What was not measured contradicts nothing. */
	m = lru;
	m.half = m.over = m.narrow = m.wide = NAN;
	a = judge(m, shape);
	assert_string_equal(a.size, "");
	assert_string_equal(a.line, "");
	assert_string_equal(a.ways, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(agreement_says_nothing), cmocka_unit_test(a_size_too_large),
	    cmocka_unit_test(a_size_too_small),	      cmocka_unit_test(a_line_too_long_or_too_short),
	    cmocka_unit_test(sets_that_are_not_lru),  cmocka_unit_test(no_second_plateau),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
