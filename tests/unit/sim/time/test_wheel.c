/* The wheel of turns against a plain list of them. */
#include "base/rng.h"
#include "gpu/sim/time/time_wheel.h"

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#define SCHEDULERS 70

/* A far turn that came near and was taken says nothing about those that are set later. */
static void a_far_turn_that_is_gone_is_forgotten(void **state)
{
	(void)state;
	struct time_wheel w;
	uint32_t n;
	assert_int_equal(wheel_open(&w, WHEEL_FEW + 2), 0);
	wheel_reset(&w, 1000);
	wheel_set(&w, 0, 5000);
	wheel_set(&w, 0, 1100); /* sooner, after all */
	for (uint64_t t = 1100; t < 8000; t += 900) {
		assert_int_equal(wheel_next(&w, t + 1, &n), t);
		wheel_set(&w, 0, t + 900);
	}
	wheel_set(&w, 1, 50000);
	assert_int_equal(wheel_least(&w), 8300);
	assert_int_equal(wheel_next(&w, 8301, &n), 8300);
	assert_int_equal(n, 0);
	wheel_set(&w, 0, WHEEL_NEVER);
	assert_int_equal(wheel_least(&w), 50000);
	assert_int_equal(wheel_next(&w, 50001, &n), 50000);
	assert_int_equal(n, 1);
	wheel_close(&w);
}

/* The next turn of all, the lowest scheduler first. */
static uint64_t first_of(const uint64_t *at, uint32_t count, uint32_t *n)
{
	*n = 0;
	for (uint32_t k = 1; k < count; k++)
		if (at[k] < at[*n])
			*n = k;
	return at[*n];
}

/* Ends as the two ways of running give them: a grid of epochs, or just behind the earliest turn that is known. */
static void random_turns_come_in_order(void **state)
{
	(void)state;
	struct rng r;
	rng_seed(&r, 20261120);
	for (uint32_t round = 0; round < 40; round++) {
		struct time_wheel w;
		uint64_t at[SCHEDULERS] = {0}, now = rng_below(&r, 100000), far = 1 + rng_below(&r, 5);
		uint32_t count = round % 3 ? 1 + (uint32_t)rng_below(&r, SCHEDULERS) : 2 + round % 2;
		assert_int_equal(wheel_open(&w, count), 0);
		wheel_reset(&w, now);
		for (uint32_t k = 0; k < count; k++) {
			at[k] = rng_below(&r, 3) ? now + rng_below(&r, 20000) : WHEEL_NEVER;
			wheel_set(&w, k, at[k]);
		}
		for (uint32_t step = 0; step < 2000; step++) {
			uint32_t n, want;
			uint64_t least = wheel_least(&w), first = first_of(at, count, &want);
			assert_true(least >= now && least <= first);
			if (first == WHEEL_NEVER)
				break;
			uint64_t end = round % 2 ? least + 1 : now + 1 + rng_below(&r, 700);
			uint64_t got = wheel_next(&w, end, &n);
			if (first >= end) {
				assert_true(got >= end && got <= first);
				now = round % 2 ? now : end;
				continue;
			}
			assert_int_equal(got, first);
			assert_int_equal(n, want);
			now = got;
			uint64_t gap = rng_below(&r, 10) < far ? rng_below(&r, 5000) : 1 + rng_below(&r, 30);
			at[n] = rng_below(&r, 50) ? now + gap : WHEEL_NEVER;
			wheel_set(&w, n, at[n]);
			uint32_t other = (uint32_t)rng_below(&r, count); /* woken, or put off */
			if (!rng_below(&r, 4)) {
				at[other] = now + rng_below(&r, rng_below(&r, 2) ? 50 : 9000);
				wheel_set(&w, other, at[other]);
			}
		}
		wheel_close(&w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(a_far_turn_that_is_gone_is_forgotten),
					   cmocka_unit_test(random_turns_come_in_order)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
