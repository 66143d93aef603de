/* Levels of instruction caches from classes of jumps. A survey as a random GPU gave it: a second cache that neighbours keep emptying, so
 * that the memory answers from the same ring on. */
#include "base/arena.h"
#include "instruction_cache/code_ring.h"
#include "instruction_cache/code_share.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { RINGS = 6, LAPS = 8, FITS = 3 };

/* Rings of 8, 16, ... pieces, the first FITS of which take `own` ticks. Of the others' jumps half do, three of eight take `near` and
 * one of eight takes `far`. */
static void survey(struct code_survey *v, uint32_t *word, double near, double far)
{
	const double own = 29;

	*v = (struct code_survey){.count = RINGS};
	for (unsigned i = 0; i < RINGS; i++) {
		const unsigned n = 8u << i;
		v->ring[i] = (struct code_ring){.stride = 1, .count = n, .laps = LAPS};
		v->run[i] = (struct code_run){.count = n, .laps = LAPS, .visits = n * LAPS, .word = word};
		for (unsigned j = 0; j < n * LAPS; j++, word += 2) {
			const double ticks = i < FITS || j % 2 ? own : j % 8 ? near : far;
			word[0] = 1000;
			word[1] = 1000 + (uint32_t)ticks;
		}
	}
	const struct code_classes classes = {.count = 3, .centre = {own, near, far}, .points = {RINGS, 3, 3}};
	code_find_levels(v, &classes);
}

static struct code_survey *found(double near, double far)
{
	static uint32_t word[2 * LAPS * (8 << RINGS)];
	struct code_survey *v = calloc(1, sizeof *v);

	assert_non_null(v);
	survey(v, word, near, far);
	return v;
}

static void a_cache_that_others_empty(void **state)
{
	struct code_survey *v = found(91, 546);

	(void)state;
	assert_int_equal(v->levels, 3);
	assert_true(v->level[0].floor < 91);
	assert_true(v->level[1].ticks == 91 && v->level[1].floor > 91 && v->level[1].floor < 546);
	assert_int_equal(v->level[1].fits, v->level[0].fits);
	free(v);
}

/* Two rows of a memory, or halves of a cache, are as near as that. */
static void two_ways_of_one_memory(void **state)
{
	struct code_survey *v = found(470, 546);

	(void)state;
	assert_int_equal(v->levels, 2);
	assert_true(v->level[0].floor < 470);
	assert_true(v->level[1].ticks == 546);
	assert_true(isinf(v->level[1].floor));
	free(v);
}

/* A memory of which one of two rows is open, behind long lines. Few jumps miss. The first half of those takes `open`
 * ticks, which is no class. With noise as many do so in rings that fit. */
static struct code_survey *open_rows(bool noise)
{
	enum { OWN = 42, OPEN = 454, CLOSED = 492 };
	static uint32_t word[2 * LAPS * (8 << RINGS)];
	struct code_survey *v = calloc(1, sizeof *v);
	const struct code_classes classes = {.count = 2, .centre = {OWN, CLOSED}, .points = {RINGS, 3}};
	struct arena a;
	uint32_t *w = word;

	assert_non_null(v);
	arena_init(&a);
	v->count = RINGS;
	for (unsigned i = 0; i < RINGS; i++) {
		const unsigned n = 8u << i;
		v->ring[i] = (struct code_ring){.stride = 1, .count = n, .laps = LAPS};
		v->run[i] = (struct code_run){.count = n, .laps = LAPS, .visits = n * LAPS, .word = w};
		for (unsigned j = 0; j < n * LAPS; j++, w += 2) {
			w[0] = 1000;
			w[1] = 1000 + OWN;
			if (j % 8 == 0 && (i >= FITS || (noise && j % 16)))
				w[1] = 1000 + (j % 16 ? OPEN : CLOSED);
		}
	}
	code_find_levels(v, &classes);
	code_find_misses(&a, v, &classes, 0);
	arena_free(&a);
	return v;
}

static void open_rows_miss_too(void **state)
{
	struct code_survey *v = open_rows(false);

	(void)state;
	assert_true(v->level[0].miss > 42 && v->level[0].miss < 454);
	assert_true(v->level[0].floor == v->level[0].miss);
	free(v);
	v = open_rows(true);
	assert_true(v->level[0].miss > 454 && v->level[0].floor > 454);
	free(v);
}

/* Every second read is late, so that their median lies half-way, and late ones differ by a cycle. */
static void every_second_read_late(void **state)
{
	double late[CODE_READS];
	unsigned number;

	(void)state;
	for (unsigned i = 0; i < CODE_READS; i++)
		late[i] = i % 2 ? 42 + i / 2 % 2 : 2;
	assert_int_equal(code_late_period(late, 42, &number), 2);
	assert_int_equal(number, CODE_READS / 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_cache_that_others_empty),
	    cmocka_unit_test(two_ways_of_one_memory),
	    cmocka_unit_test(open_rows_miss_too),
	    cmocka_unit_test(every_second_read_late),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
