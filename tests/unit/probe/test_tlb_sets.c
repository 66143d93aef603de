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

/* Rings that leave pages out, of sets as they are: there is room if one of them is of the extra page's set, or nobody knows. */
static enum tlb_room room_without(void *ctx, uint32_t row, uint32_t first, uint32_t count)
{
	for (uint32_t q = first; q < first + count; q++)
		if (set_of(q) == set_of(PAGES + row))
			return *(const enum tlb_room *)ctx;
	return TLB_ROOM_NONE;
}

static uint32_t assigned(unsigned rows, enum tlb_room room)
{
	const struct tlb_conflicts c = {PAGES, rows, hot};
	const struct tlb_rooms rooms = {.ask = room_without, .ctx = &room};
	uint32_t size[ROWS], sets = 0, all = 0;
	struct arena a;

	arena_init(&a);
	assert_int_equal(tlb_assign_by(&a, &c, extras(&a), &rooms, size, ROWS, &sets),
			 room == TLB_ROOM_PENDING ? CHASE_PENDING : CHASE_DONE);
	arena_free(&a);
	for (unsigned k = 0; k < sets; k++)
		all += size[k] == WAYS;
	assert_int_equal(all, sets);
	return sets;
}

/* A page misses in no row of its set, and one in all rows. */
static void test_left_out(void **state)
{
	const unsigned lost = PAGES / 2, stray = PAGES / 3;

	(void)state;
	fill();
	for (unsigned i = 0; i < ROWS; i++)
		hot[i * PAGES + stray] = true;
	assert_int_equal(assigned(ROWS, TLB_ROOM_IS), SETS);
	assert_int_equal(assigned(ROWS, TLB_ROOM_PENDING), 0);
	/* Of no other set than one that may have it. */
	assert_int_equal(assigned(ROWS, TLB_ROOM_MAYBE), SETS);
	in_turn = true;
	fill();
	for (unsigned i = 0; i < ROWS; i++)
		hot[i * PAGES + lost] = false;
	assert_int_equal(assigned(ROWS, TLB_ROOM_IS), SETS);
	/* No row has it. */
	assert_int_equal(assigned(ROWS, TLB_ROOM_MAYBE), 0);
	in_turn = false;
	/* A set that no row shows: its pages are of none. */
	fill();
	assert_int_equal(assigned(SETS - 1, TLB_ROOM_IS), 0);
}

/* Each half of a set misses for another extra page: two sets of half as many. */
static void test_halves(void **state)
{
	unsigned seen = 0;

	(void)state;
	fill();
	for (unsigned q = 0; q < PAGES; q++)
		if (set_of(q) == set_of(PAGES)) {
			const bool odd = seen++ % 2;
			for (unsigned i = 0; i < ROWS; i++)
				hot[i * PAGES + q] = hot[i * PAGES + q] && odd == (i >= SETS);
		}
	assert_int_equal(assigned(ROWS, TLB_ROOM_IS), 0);
	assert_int_equal(assigned(ROWS, TLB_ROOM_MAYBE), 0);
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
	    cmocka_unit_test(test_left_out),
	    cmocka_unit_test(test_halves),
	    cmocka_unit_test(test_visits),
	    cmocka_unit_test(test_show),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
