/* Pages of one set, from where their lines lie. */
#include "replacement/replacement.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
// clang-format off
#include <cmocka.h>
// clang-format on

#define LINES 8u
#define LAPS  6u
#define FIRST (TRACE_LEAD + 1)
#define ALL   (FIRST + LAPS * LINES)
#define FAR   16u

/* Lines 0 and odd ones lie in the far part. The first access after those that do not count finds its page in the level above. */
static void test_same_part(void **state)
{
	uint16_t line[ALL] = {0};
	uint32_t ticks[ALL], i;
	const struct trace_level known = {.grain = 2, .above = 34, .below = 300};
	const struct policy_sequence q = {.count = ALL, .line = line};

	(void)state;
	for (i = 0; i < FIRST; i++)
		ticks[i] = 238 + FAR;
	for (; i < ALL; i++) {
		line[i] = (uint16_t)((i - FIRST) % LINES);
		ticks[i] = 272 + (line[i] % 2 || !line[i] ? FAR : 0) + (i % 5 ? 0 : 300);
	}
	policy_same_part(&known, FAR, &q, ticks);
	for (i = FIRST; i < ALL; i++)
		assert_int_equal(ticks[i], i % 5 ? 272 : 572);
	/* A miss costs as much as the far part does: nobody knows which it is. */
	const struct trace_level alike = {.grain = 2, .above = 34, .below = 18};
	ticks[FIRST] = 272 + FAR;
	policy_same_part(&alike, FAR, &q, ticks);
	assert_int_equal(ticks[FIRST], 272 + FAR);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_same_part)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
