/* Lines of one set, to a point and back. */
#include "replacement/replacement.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
// clang-format off
#include <cmocka.h>
// clang-format on

/* As many lines as a point can count. The one more of a large hashed level lies so far from all of its lines. */
static void test_many_lines(void **state)
{
	enum { WAYS = 14, TOTAL = 1 << 17 };
	struct set_lines all = {.path = SET_TEXTURE, .mode = SET_HASHED, .line = 32, .total = TOTAL, .ways = WAYS};
	const struct policy_plan plan = {.kind = POLICY_RING, .ways = WAYS, .lines = 2 * WAYS, .length = 100};
	struct policy_plan other;
	struct set_lines back;
	struct point pt = {.x = plan.length};

	(void)state;
	for (uint32_t i = 0; i < WAYS; i++)
		all.listed[i] = 8193 * i + 16;
	all.listed[WAYS] = TOTAL;
	set_params(&all, &plan, pt.p);
	set_point(&pt, &back, &other);
	assert_int_equal(back.total, TOTAL);
	assert_int_equal(back.line, 32);
	for (unsigned n = 0; n < 2 * WAYS; n++)
		assert_int_equal(set_address(&back, n), set_address(&all, n));
}

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
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_many_lines), cmocka_unit_test(test_same_part)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
