/* Open rows of a memory, which a page more than fits closes, are told from a TLB while the clock changes its rate. */
#include "tlb/tlb.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

enum { PAGES = 10, LAPS = 64, VISITS = PAGES * LAPS };

/* A miss costs 9 cycles, in `each` of a lap's visits. In `torn` laps the clock ran faster in one half: what is an opener there costs 40
 * cycles more, and what is a follower there makes its opener, in the other half, cost 40 less. */
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

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(rows_of_a_steady_clock),
	    cmocka_unit_test(rows_while_the_clock_changes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
