/* What a link takes if a short loop leaves gaps in the pipe. Times are made up here, of loops of 4, 8 and 12 links. */
#include "pipeline/pipeline.h"
// clang-format off
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
// clang-format on

static const double FILLS = 1.03; /* times as much that the upper half may say */

static const struct timed_pair pair = {.few = 4, .many = 12};

/* By loops of so many links that take so much, known to a hundredth. */
static struct timed by(double few, double few_ns, double many, double many_ns)
{
	const double ns = (many_ns - few_ns) / (many - few);
	return (struct timed){.ok = true, .ns = ns, .lo = ns * 0.99, .hi = ns * 1.01, .alone = few_ns / few};
}

/* Links of 100 ns, behind which the rest of the loop hides once there are eight of them. */
static void test_gaps(void **state)
{
	(void)state;
	struct timed t = by(4, 480, 12, 1200);
	const struct timed upper = by(8, 800, 12, 1200);
	assert_true(t.hi < 100);
	assert_true(pipeline_may_have_gaps(&t, &pair));
	assert_int_equal(pipeline_gaps(&t, &upper, &pair, FILLS), GAPS_SOME);
	assert_true(t.ns > 99 && t.ns < 101);
	assert_true(t.lo < 90 && t.hi > 100);
}

/* What else is in the loop takes the pipe's time in each of them. */
static void test_none(void **state)
{
	(void)state;
	struct timed t = by(4, 800, 12, 1600);
	const struct timed upper = by(8, 1210, 12, 1600), before = t;
	assert_true(pipeline_may_have_gaps(&t, &pair));
	assert_int_equal(pipeline_gaps(&t, &upper, &pair, FILLS), GAPS_NONE);
	assert_true(t.ns == before.ns && t.lo == before.lo && t.hi == before.hi);
	/* And where it takes next to nothing nobody asks. */
	t = by(4, 410, 12, 1210);
	assert_false(pipeline_may_have_gaps(&t, &pair));
}

/* Links of 106 ns, of which a little more hides behind the rest of the loop the longer it is. Both halves say nearly
 * the same, which is nearly as much too little. */
static void test_small(void **state)
{
	(void)state;
	struct timed t = by(4, 470, 12, 1284);
	const struct timed upper = by(8, 873, 12, 1284), before = t;
	assert_true(t.hi < 106);
	assert_int_equal(pipeline_gaps(&t, &upper, &pair, FILLS), GAPS_NONE);
	assert_true(t.ns == before.ns);
	assert_int_equal(pipeline_gaps(&t, &upper, &pair, 1.005), GAPS_SOME);
	assert_true(t.hi > 106);
}

/* Both at once: from the upper half to the whole of the longer loop is too far. */
static void test_wide(void **state)
{
	(void)state;
	struct timed t = by(4, 880, 12, 1600);
	const struct timed upper = by(8, 1200, 12, 1600);
	assert_int_equal(pipeline_gaps(&t, &upper, &pair, FILLS), GAPS_WIDE);
}

/* A half that is not known says nothing. */
static void test_unknown(void **state)
{
	(void)state;
	struct timed t = by(4, 480, 12, 1200);
	const struct timed upper = {.ok = false};
	assert_int_equal(pipeline_gaps(&t, &upper, &pair, FILLS), GAPS_NONE);
	assert_true(t.hi < 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_gaps), cmocka_unit_test(test_none),	 cmocka_unit_test(test_small),
	    cmocka_unit_test(test_wide), cmocka_unit_test(test_unknown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
