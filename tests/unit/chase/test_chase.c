/* Rings and peaks. */
#include "base/arena.h"
#include "probe/chase.h"
#include "probe/study.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void ring_visits_each_element_once(void **state)
{
	(void)state;
	double p[POINT_PARAMS] = {0};
	struct arena a;

	p[CHASE_STRIDE] = 48;
	p[CHASE_START] = 96;
	p[CHASE_EXTRA] = 100000;
	for (unsigned order = 0; order < 3; order++) {
		arena_init(&a);
		p[CHASE_ORDER] = order;
		uint32_t n = chase_elements(4800, p), seen = 0;
		assert_int_equal(n, 101);
		uint64_t *ring = chase_ring(&a, 4800, p);
		assert_non_null(ring);
		for (uint32_t i = 0; i < n; i++) {
			for (uint32_t k = 0; k < i; k++)
				assert_true(ring[i] != ring[k]);
			if (ring[i] == 100000)
				seen++;
			else
				assert_true(ring[i] >= 96 && ring[i] < 96 + 4800 && (ring[i] - 96) % 48 == 0);
			if (order == 0)
				assert_true(i == 100 || ring[i] == 96 + 48 * i);
		}
		assert_int_equal(seen, 1);
		arena_free(&a);
	}
}

/* Beyond the reach of a TLB: each page is entered once a lap, and not always at the same place of it. */
static void ring_enters_each_page_once(void **state)
{
	(void)state;
	enum { STEP = 64, BYTES = 5 * CHASE_PAGE, EXTRA = 9 * CHASE_PAGE, PER_PAGE = CHASE_PAGE / STEP };
	double p[POINT_PARAMS] = {0};
	struct arena a;

	p[CHASE_STRIDE] = STEP;
	p[CHASE_EXTRA] = EXTRA;
	for (unsigned order = 0; order < 3; order++) {
		arena_init(&a);
		p[CHASE_ORDER] = CHASE_PAGED + order;
		uint32_t n = chase_elements(BYTES, p), entered = 0, places[PER_PAGE] = {0}, most = 0;
		bool seen[BYTES / STEP] = {false};
		uint64_t *ring = chase_ring(&a, BYTES, p);
		assert_non_null(ring);
		for (uint32_t i = 0; i < n; i++) {
			if (ring[i] != EXTRA) {
				assert_true(ring[i] < BYTES && ring[i] % STEP == 0 && !seen[ring[i] / STEP]);
				seen[ring[i] / STEP] = true;
			}
			if (ring[i] / CHASE_PAGE == ring[i ? i - 1 : n - 1] / CHASE_PAGE)
				continue;
			entered++;
			places[ring[i] % CHASE_PAGE / STEP]++;
		}
		assert_int_equal(n, BYTES / STEP + 1);
		assert_int_equal(entered, 6);
		for (unsigned i = 0; i < PER_PAGE; i++)
			most = places[i] > most ? places[i] : most;
		assert_true(most <= 3);
		arena_free(&a);
	}
}

static void the_same_order_again_for_the_same_seed(void **state)
{
	(void)state;
	double p[POINT_PARAMS] = {0};
	struct arena a;
	bool differs = false;

	arena_init(&a);
	p[CHASE_STRIDE] = 8;
	p[CHASE_ORDER] = 7;
	uint64_t *one = chase_ring(&a, 800, p), *two = chase_ring(&a, 800, p);
	p[CHASE_ORDER] = 8;
	uint64_t *other = chase_ring(&a, 800, p);
	if (!one || !two || !other) {
		arena_free(&a);
		fail_msg("out of memory");
		return;
	}
	for (unsigned i = 0; i < 100; i++) {
		assert_true(one[i] == two[i]);
		differs |= one[i] != other[i];
	}
	assert_true(differs);
	arena_free(&a);
}

static void index_continues_after_warming(void **state)
{
	(void)state;
	double p[POINT_PARAMS] = {0};

	p[CHASE_WARM] = 25;
	assert_int_equal(chase_at(p, 10, 0), (25 + CHASE_PRE) % 10);
	assert_int_equal(chase_at(p, 10, 9), (25 + CHASE_PRE + 9) % 10);
}

static void peaks_are_where_values_gather(void **state)
{
	(void)state;
	uint32_t v[1000];
	struct chase_peak peak[8];

	/* 60 % at 50, 30 % at 120, the rest spread thinly from 200 to 400 */
	for (unsigned i = 0; i < 1000; i++)
		v[i] = i < 600 ? 50 : i < 900 ? 120 : 200 + 2 * (i - 900);
	unsigned n = chase_peaks(v, 1000, 1, 0.02, peak, 8);
	assert_int_equal(n, 2);
	assert_true(peak[0].centre == 50 && peak[0].share > 0.59);
	assert_true(peak[1].centre == 120 && peak[1].share > 0.29);
}

static void a_coarse_clock_makes_one_peak_of_two_steps(void **state)
{
	(void)state;
	uint32_t v[400];
	struct chase_peak peak[8];

	for (unsigned i = 0; i < 400; i++)
		v[i] = i % 3 ? 96 : 100;
	assert_int_equal(chase_peaks(v, 400, 4, 0.02, peak, 8), 1);
}

static void the_floor_lies_between_and_nearer_to_the_slower(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 57; i++) {
		double gap = 2 + 7.0 * i;
		double floor = chase_floor(100, 100 + gap);
		assert_true(floor > 100 && floor <= 100 + gap);
		assert_true(floor - 100 >= 100 + gap - floor - 1);
	}
}

static void placements_are_spread_and_distinct(void **state)
{
	(void)state;
	struct device_info d = {.sm_count = 132};
	uint32_t sm[160];

	assert_int_equal(chase_placements(&d, 160, sm), 132);
	assert_int_equal(sm[131], 131);
	assert_int_equal(chase_placements(&d, 16, sm), 16);
	for (unsigned i = 1; i < 16; i++)
		assert_true(sm[i] > sm[i - 1] && sm[i] < 132);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(ring_visits_each_element_once),
	    cmocka_unit_test(ring_enters_each_page_once),
	    cmocka_unit_test(the_same_order_again_for_the_same_seed),
	    cmocka_unit_test(index_continues_after_warming),
	    cmocka_unit_test(peaks_are_where_values_gather),
	    cmocka_unit_test(a_coarse_clock_makes_one_peak_of_two_steps),
	    cmocka_unit_test(the_floor_lies_between_and_nearer_to_the_slower),
	    cmocka_unit_test(placements_are_spread_and_distinct),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
