/* What memory behind a large L2 takes, and what a refresh adds to few of its answers. */
#include "global_cache/large_sides.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

enum { SAMPLES = 200 };

/* Answers of 600 cycles and a little, of which the last `slow` take 100 more. */
static size_t kept(unsigned slow)
{
	double ticks[SAMPLES], scratch[SAMPLES];

	for (unsigned i = 0; i < SAMPLES; i++)
		ticks[i] = 600 + i / 50 + (i + slow >= SAMPLES ? 100 : 0);
	return large_undelayed(ticks, SAMPLES, scratch);
}

/* A refresh delays few; what many lines take is another part of the memory, and counts. */
static void few_are_refreshed(void **state)
{
	(void)state;
	assert_int_equal(kept(0), SAMPLES);
	assert_int_equal(kept(1), SAMPLES - 1);
	assert_int_equal(kept(SAMPLES / 20), SAMPLES - SAMPLES / 20);
	assert_int_equal(kept(SAMPLES / 20 + 1), SAMPLES);
	assert_int_equal(kept(SAMPLES / 2), SAMPLES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(few_are_refreshed)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
