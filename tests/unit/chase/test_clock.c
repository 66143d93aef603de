/* What SMs say of one another about the cost of the clock. */
#include "probe/chase_clock.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
// clang-format off
#include <cmocka.h>
// clang-format on

#define SMS  12
#define COST 63
#define FAR  409

/* Of an access that takes `single` ticks, and loads of a chain that take so many cycles. */
static struct chase_latency of(double single, double chain)
{
	return (struct chase_latency){.single = single, .clock = single - chain, .value = chain};
}

/* Refreshes delay the shorter chains of two SMs in each round, and the longer ones of another: none of them is nearer or farther. */
static void test_delayed(void **state)
{
	const struct chase_path c = {.grain = 2, .classes = {{.centre = FAR + COST}}};
	struct chase_latency one[SMS];

	(void)state;
	for (unsigned i = 0; i < SMS; i++)
		one[i] = of(FAR + COST, FAR + (i == 1 ? -50 : i == 9 ? -59 : i == 4 ? 31 : 0));
	chase_same_clock(&c, one, SMS);
	for (unsigned i = 0; i < SMS; i++)
		assert_float_equal(one[i].value, FAR, 0.5);
	/* One that is nearer is so by its single accesses, too. */
	for (unsigned i = 0; i < SMS; i++)
		one[i] = of(FAR + COST - (i == 3 ? 20 : 0), FAR - (i == 3 ? 20 : 0));
	chase_same_clock(&c, one, SMS);
	assert_float_equal(one[3].value, FAR - 20, 0.5);
}

/* Of two SMs the chain of one met a clock that is faster now and then, and no single access did. */
static void test_few(void **state)
{
	const struct chase_path c = {.grain = 1, .swing = 0.04, .classes = {{.centre = FAR + COST}}};
	struct chase_latency one[] = {of(FAR + COST, FAR), of(FAR + COST, FAR * 1.04)};

	(void)state;
	chase_same_clock(&c, one, 2);
	assert_float_equal(one[0].value, FAR, 0.01);
	assert_float_equal(one[1].value, FAR, 0.01);
	/* Or it is farther. */
	one[1] = of(FAR * 1.04 + COST, FAR * 1.04);
	chase_same_clock(&c, one, 2);
	assert_float_equal(one[1].value, FAR * 1.04, 0.01);
}

/* Of many SMs, which are some cycles apart, one's chain over a line of the nearest level met that clock: its accesses of this level are as far as
 * they were. */
static void test_chain_alone(void **state)
{
	enum { NEAREST = 172, GONE = 14 };
	const struct chase_path c = {.grain = 1, .swing = 0.08, .classes = {{.centre = NEAREST + COST}}};
	struct chase_latency one[SMS];

	(void)state;
	for (unsigned i = 0; i < SMS; i++) {
		const double apart = (int)i - SMS / 2, clock = COST - (i == 2 ? GONE : 0);
		one[i] = (struct chase_latency){
		    .single = NEAREST + COST, .clock = clock, .value = FAR + COST + apart - clock};
	}
	chase_same_clock(&c, one, SMS);
	for (unsigned i = 0; i < SMS; i++)
		assert_float_equal(one[i].value, FAR + (int)i - SMS / 2, 0.01);
}

/* One of four SMs was told by longer chases, whose turns cost two cycles more, and is as far as the others. */
static void test_unlike_lengths(void **state)
{
	enum { NEAREST = 111 };
	const struct chase_path c = {.grain = 4, .swing = 0.12, .classes = {{.centre = NEAREST + COST}}};
	struct chase_latency one[SMS_LEAST];

	(void)state;
	for (unsigned i = 0; i < SMS_LEAST; i++)
		one[i] = (struct chase_latency){.single = NEAREST + COST + (i ? 0 : 2.2),
						.clock = COST + (i ? 0 : 2.2),
						.value = FAR,
						.brief = i != 0};
	chase_same_clock(&c, one, SMS_LEAST);
	for (unsigned i = 0; i < SMS_LEAST; i++)
		assert_float_equal(one[i].value, FAR, 0.01);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_delayed), cmocka_unit_test(test_few),
					   cmocka_unit_test(test_chain_alone), cmocka_unit_test(test_unlike_lengths)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
