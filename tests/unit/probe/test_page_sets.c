/* Pages of one set, from misses of each and from where their lines lie; and lines of one set, to a point and back. */
#include "replacement/replacement.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
// clang-format off
#include <cmocka.h>
// clang-format on

#define PAGES 32
#define EXTRA 37

/* Two sets, by whether a page's number has an odd number of ones: 16 pages are in each, and EXTRA is with the odd ones. */
static bool is_odd(uint32_t page)
{
	page ^= page >> 4;
	page ^= page >> 2;
	return (page ^ page >> 1) & 1;
}

static void test_spanned(void **state)
{
	uint32_t misses[PAGES + 1] = {0};
	bool hot[PAGES];

	(void)state;
	for (uint32_t i = 0; i < PAGES; i++)
		misses[i] = is_odd(i) && i != 25 ? 2 + i % 7 : 0;
	/* One never missed, and one of the other set did once. */
	misses[3] = 1;
	assert_true(set_spanned(misses, PAGES, EXTRA, 16, hot));
	for (uint32_t i = 0; i < PAGES; i++)
		assert_int_equal(hot[i], is_odd(i));
	/* As many as another number of ways, or misses of both sets, are no set. */
	assert_false(set_spanned(misses, PAGES, EXTRA, 8, hot));
	misses[3] = 5;
	assert_false(set_spanned(misses, PAGES, EXTRA, 16, hot));
	/* Nor are a few pages of which the others only follow. */
	memset(misses, 0, sizeof(misses));
	misses[1] = misses[2] = misses[4] = misses[8] = misses[16] = 6;
	assert_false(set_spanned(misses, PAGES, EXTRA, 16, hot));
}

/* As many lines as a point can count, which is how far the one more of a large hashed level lies from all of its lines. */
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
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_spanned), cmocka_unit_test(test_many_lines),
					   cmocka_unit_test(test_same_part)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
