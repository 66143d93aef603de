/* Run times beside cycles of two launches: a clock that was faster for one of them shows, though each launch agrees with itself. */
#include "probe/launch_time.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

enum { REPEATS = 2, WORDS = 4 };
static const struct timed_pair pair = {.both_hz = 1e9};

/* A launch of so many cycles, and as many ns at the usual rate; 5000 ns more to begin. */
static struct point launch(uint32_t y[REPEATS * WORDS], uint32_t cycles, double rate)
{
	for (unsigned r = 0; r < REPEATS; r++) {
		y[r * WORDS] = 77;
		y[r * WORDS + 1] = 77 + cycles;
		y[r * WORDS + 2] = 5000 + (uint32_t)(cycles / rate);
		y[r * WORDS + 3] = 0;
	}
	return (struct point){.repeats = REPEATS, .words_per_repeat = WORDS, .y = y};
}

static double gap(double rate_few, double rate_many)
{
	uint32_t few[REPEATS * WORDS], many[REPEATS * WORDS];
	const struct point a = launch(few, 10000, rate_few), b = launch(many, 60000, rate_many);

	return timed_gap(&pair, &a, &b, 20);
}

static void a_steady_clock_leaves_none(void **state)
{
	(void)state;
	assert_true(gap(1, 1) == 0);
}

static void a_faster_clock_is_seen(void **state)
{
	(void)state;
	assert_true(gap(1, 1.1) > 0.08 * 50000);
	assert_true(gap(1.1, 1) > 800);
	assert_true(gap(1.1, 1.1) > 0.08 * 50000);
}

/* What else a repeat says belongs to its run time: an outlier's, which the mean leaves out, does not count. */
static void a_mean_tells_its_repeats(void **state)
{
	enum { MANY = 5 };
	static const struct timed_pair clocked = {.clock_hz = 1e9};
	static const uint32_t cycles[MANY] = {1000, 1001, 1999, 1000, 1001};
	uint32_t y[MANY * WORDS] = {0};
	const struct point pt = {.repeats = MANY, .words_per_repeat = WORDS, .y = y};

	(void)state;
	for (unsigned r = 0; r < MANY; r++)
		y[r * WORDS + 1] = cycles[r];
	assert_true(fabs(timed_mean(&clocked, &pt) - 1000.5) < 1e-9);
	assert_int_equal(timed_counted(&clocked, &pt), 0x1b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_steady_clock_leaves_none),
	    cmocka_unit_test(a_faster_clock_is_seen),
	    cmocka_unit_test(a_mean_tells_its_repeats),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
