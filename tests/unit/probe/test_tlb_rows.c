/* Open rows of a memory, which a page more than fits closes, are told from a TLB while the clock changes its rate.
 * Delays of lines are told from translations in a ring that tells no cost. */
#include "tlb/tlb.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

enum { PAGES = 10, LAPS = 64, VISITS = PAGES * LAPS };

/* A miss costs 9 cycles, in `each` of a lap's visits. In `torn` laps the clock ran faster in one half. An opener there
 * costs 40 cycles more. A follower there makes its opener, in the other half, cost 40 less. */
static struct tlb_surplus surplus(unsigned each, unsigned torn)
{
	float cost[VISITS];
	struct tlb_path c = {.gap = 3, .steps = 2, .step = {0, 9}, .level_count = 1};
	const struct tlb_view w = {.pages = PAGES, .lines = 2, .visits = VISITS, .order = 1, .cost = cost};

	c.level[0].floor = 4.5;
	for (unsigned v = 0; v < VISITS; v++) {
		const unsigned lap = v / PAGES;
		cost[v] = v % PAGES < each ? 9 : 0;
		if (lap < torn)
			cost[v] += lap % 2 ? -40 : 40;
	}
	return tlb_surplus_of(&c, 0, &w);
}

static void rows_of_a_steady_clock(void **state)
{
	const struct tlb_surplus less = surplus(0, 0), two = surplus(2, 0), three = surplus(3, 0);

	(void)state;
	assert_true(tlb_as_rows(&less, &two));
	assert_false(tlb_as_rows(&less, &three));
}

static void rows_while_the_clock_changes(void **state)
{
	const struct tlb_surplus less = surplus(0, 0), two = surplus(2, LAPS), all = surplus(PAGES, 20);

	(void)state;
	assert_true(tlb_as_rows(&less, &two));
	assert_false(tlb_as_rows(&less, &all));
}

/* Costs that come upon openers and followers of a ring alike are left out, and what comes upon openers more often is not. */
static void whims_of_lines(void **state)
{
	const struct tlb_path c = {.gap = 3};
	struct tlb_seen whim[] = {{-235, 0.08, 0, 960}, {0, 0.14, 0, 960}, {235, 0.1, 0, 960}},
			miss[] = {{-235, 0.02, 0, 960}, {0, 0.14, 0, 960}, {235, 0.1, 0, 960}};

	(void)state;
	assert_int_equal(tlb_without_whims(&c, whim, 3), 1);
	assert_true(whim[0].centre == 0);
	assert_int_equal(tlb_without_whims(&c, miss, 3), 3);
}

/* Whether a ring is even. Of 100 visits `dear` have to open a row of 24 cycles, and `missed` others wait for a
 * translation. Of all of them `late` wait 45 cycles more, as openers and as followers. */
static bool even(unsigned dear, unsigned late, unsigned missed, double rows)
{
	float cost[VISITS];
	const struct tlb_path c = {.gap = 3, .steps = 1, .rows = rows, .rows_short = true};
	const struct tlb_view w = {.pages = PAGES, .lines = 2, .visits = VISITS, .order = 1, .cost = cost};

	for (unsigned v = 0; v < VISITS; v++) {
		const unsigned part = v * 37 % 100, when = v * 13 % 100;
		cost[v] = part < dear ? 24 : 0;
		cost[v] += when < late ? 45 : when < 2 * late ? -45 : 0;
		cost[v] += part >= 100 - missed ? 100 : 0;
	}
	return tlb_is_even(&c, &w);
}

static void rows_besides_noise(void **state)
{
	(void)state;
	assert_true(even(60, 3, 0, 24));
	assert_false(even(60, 3, 0, 0));
	assert_false(even(60, 3, 20, 24));
}

/* A miss of 38 cycles beside a cache that answers after 213 was told to be a walk. The next level reached over all of
 * the memory. */
static void a_miss_that_is_sooner_than_a_table_is_read(void **state)
{
	struct tlb_path c = {.level_count = 1, .steps = 2, .step = {0, 38}, .beyond = 213};

	(void)state;
	assert_true(tlb_is_behind(&c));
	c.step[1] = 150;
	assert_false(tlb_is_behind(&c));
	c = (struct tlb_path){.level_count = 2, .steps = 3, .step = {0, 6, 59}, .beyond = 230};
	assert_false(tlb_is_behind(&c));
}

/* Metamorphic: a clock that is three times as fast makes the same record of it. */
static void times_that_are_scaled_miss_as_often(void **state)
{
	const struct tlb_ring ring = {.pages = PAGES, .stride = 1 << 20, .from = PAGES};
	struct judge_ring r[2];
	struct arena a;

	(void)state;
	arena_init(&a);
	for (unsigned i = 0; i < 2; i++) {
		const float scale = i ? 3 : 1;
		float cost[VISITS];
		struct tlb_path c = {.gap = 3 * scale, .steps = 3, .level_count = 2};
		const struct tlb_view w = {.pages = PAGES, .lines = 2, .visits = VISITS, .order = 3, .cost = cost};
		c.level[0].floor = 5 * scale;
		c.level[1].floor = 50 * scale;
		for (unsigned v = 0; v < VISITS; v++)
			cost[v] = scale * (v % PAGES < 4 ? 99 : 10);
		assert_true(tlb_judge_ring(&a, &c, 1, &ring, &w, &r[i]));
		assert_int_equal(r[i].laps, LAPS);
		assert_int_equal(r[i].misses, 4 * LAPS);
	}
	assert_memory_equal(r[0].missed, r[1].missed, r[0].misses * sizeof(*r[0].missed));
	assert_memory_equal(r[0].at, r[1].at, PAGES * sizeof(*r[0].at));
	arena_free(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_miss_that_is_sooner_than_a_table_is_read),
	    cmocka_unit_test(times_that_are_scaled_miss_as_often),
	    cmocka_unit_test(whims_of_lines),
	    cmocka_unit_test(rows_besides_noise),
	    cmocka_unit_test(rows_of_a_steady_clock),
	    cmocka_unit_test(rows_while_the_clock_changes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
