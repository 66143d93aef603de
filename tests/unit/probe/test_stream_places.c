/* Streams of one length difference at several places of the memory: what most of them take counts. */
#include "walk/walk.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

static void a_slow_place(void **state)
{
	static const double ns[] = {100, 101, 113, 100, 102};
	struct stream_places p;

	(void)state;
	assert_true(fabs(stream_usual(ns, 5, &p) - 100.75) < 1e-9);
	assert_int_equal(p.slower, 1);
	assert_int_equal(p.faster, 0);
}

static void a_fast_place(void **state)
{
	static const double ns[] = {112, 113, 92, 112.5, 113.5};
	struct stream_places p;

	(void)state;
	assert_true(fabs(stream_usual(ns, 5, &p) - 112.75) < 1e-9);
	assert_int_equal(p.slower, 0);
	assert_int_equal(p.faster, 1);
	assert_int_equal(p.seen, 5);
}

/* Of as many the faster ones. */
static void nothing_in_common(void **state)
{
	static const double ns[] = {100, 110};
	struct stream_places p;

	(void)state;
	assert_true(stream_usual(ns, 2, &p) == 100);
	assert_int_equal(p.slower, 1);
	assert_true(fabs(p.most - 0.1) < 1e-9);
}

/* Two turns took 10.9 us and four 26.1: the two more took longer than the two with beginning and end. */
static void longer_launches_wait(void **state)
{
	static const struct timed wait[] = {{.ns = 7570, .coarse = 6515}, {.ns = 7536, .coarse = 6517}},
				  begin[] = {{.ns = 9520, .coarse = 9814}, {.ns = 9518, .coarse = 9808}},
				  one[] = {{.ns = 9520, .coarse = 9814},
					   {.ns = 7536, .coarse = 6517},
					   {.ns = 9518, .coarse = 9808}};

	(void)state;
	assert_true(stream_is_uneven(wait, 2));
	assert_false(stream_is_uneven(begin, 2));
	assert_true(stream_is_uneven(one, 2));
	assert_false(stream_is_uneven(one, 3));
	assert_false(stream_is_uneven(one, 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_slow_place),
	    cmocka_unit_test(a_fast_place),
	    cmocka_unit_test(nothing_in_common),
	    cmocka_unit_test(longer_launches_wait),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
