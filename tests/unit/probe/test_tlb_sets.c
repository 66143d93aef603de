/* Sets of a TLB from pages that miss beside one page more than fits: hashed sets, pages that miss without being of the set, and sets
 * whose pages take turns. */
#include "../../../probes/tlb/tlb.h"
#include "base/arena.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
// clang-format off
#include <cmocka.h>
// clang-format on

#define WAYS  6u
#define SETS  8u
#define PAGES (WAYS * SETS)
#define ROWS  (2 * SETS)

/* The set of a page, by a hash, or one after another. */
static bool in_turn;
static unsigned set_of(unsigned page)
{
	return in_turn ? page % SETS : (page ^ page / SETS ^ page / SETS / SETS) % SETS;
}

static bool hot[ROWS * PAGES];

static void fill(void)
{
	for (unsigned i = 0; i < ROWS; i++)
		for (unsigned q = 0; q < PAGES; q++)
			hot[i * PAGES + q] = set_of(q) == set_of(PAGES + i);
}

/* Of each row's extra page: how many pages behind the reach it is. */
static const uint32_t *extras(struct arena *a)
{
	uint32_t *past = ARENA_ARRAY(a, ROWS, uint32_t);

	assert_non_null(past);
	for (unsigned i = 0; i < ROWS; i++)
		past[i] = i;
	return past;
}

/* Every second visit of a lap misses, and the pages are even in number: pages of one set look like two. */
static void test_visits(void **state)
{
	enum { ODD = 15 };
	const struct tlb_conflicts c = {ODD, 2, hot}, sets = {PAGES, ROWS, hot};

	(void)state;
	for (unsigned i = 0; i < 2; i++)
		for (unsigned q = 0; q < ODD; q++)
			hot[i * ODD + q] = q % 2 == i;
	assert_true(tlb_may_be_visits(&c));
	/* A page that does not keep step. */
	hot[ODD + 6] = true;
	hot[2] = false;
	assert_false(tlb_may_be_visits(&c));
	/* All pages of a lap are no part of one. */
	memset(hot, true, 2 * ODD);
	assert_false(tlb_may_be_visits(&c));
	/* As many as there are sets do not divide a lap of one page more. */
	in_turn = true;
	fill();
	assert_false(tlb_may_be_visits(&sets));
	in_turn = false;
	fill();
	assert_false(tlb_may_be_visits(&sets));
}

static bool sets_show(void)
{
	const struct tlb_conflicts c = {PAGES, ROWS, hot};
	struct arena a;

	arena_init(&a);
	const bool yes = tlb_sets_show(&a, &c, extras(&a));
	arena_free(&a);
	return yes;
}

/* Sets show although some of their pages do not; lines of page tables, which all extra pages drive out or of which each is a run, are none. */
static void test_show(void **state)
{
	(void)state;
	fill();
	assert_true(sets_show());
	for (unsigned i = 0; i < ROWS; i++)
		for (unsigned q = 0; q < PAGES / 3; q++)
			hot[i * PAGES + q] = false;
	assert_true(sets_show());
	/* One page of another set. */
	hot[0] = set_of(PAGES) != set_of(0);
	hot[PAGES] = set_of(PAGES + 1) != set_of(0);
	assert_false(sets_show());
	for (unsigned i = 0; i < ROWS; i++)
		for (unsigned q = 0; q < PAGES; q++)
			hot[i * PAGES + q] = q % 4 == 1;
	assert_false(sets_show());
	for (unsigned i = 0; i < ROWS; i++)
		for (unsigned q = 0; q < PAGES; q++)
			hot[i * PAGES + q] = q / WAYS == i % SETS;
	assert_false(sets_show());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_visits),
	    cmocka_unit_test(test_show),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
