/* The cache alone: capacity, policies, sectors, mapping, flushes. A plain model beside it says what is right. */
#include "base/arena.h"
#include "gpu/sim/time/time_cache.h"
#include <string.h>

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

static struct cache_spec shape(uint32_t sets, uint32_t ways, uint32_t line, enum cache_policy policy,
			       enum cache_mapping mapping)
{
	struct cache_spec s = {.present = true,
			       .size = (uint64_t)sets * ways * line,
			       .line = line,
			       .sector = line,
			       .ways = ways,
			       .sets = sets,
			       .policy = policy,
			       .mapping = mapping,
			       .partitions = 1};
	return s;
}

static bool hit(struct time_cache *c, uint64_t address)
{
	uint64_t *fill = cache_touch(c, address, 0);
	bool was = *fill != CACHE_INVALID;
	*fill = 0;
	return was;
}

static uint32_t misses(struct time_cache *c, uint32_t lines, uint32_t rounds)
{
	uint32_t n = 0;
	for (uint32_t r = 0; r < rounds; r++)
		for (uint32_t k = 0; k < lines; k++)
			n += !hit(c, (uint64_t)k * c->spec->line);
	return n;
}

static void open_cache(struct time_cache *c, const struct cache_spec *s)
{
	cache_init(c, s, 3, 0);
	assert_int_equal(cache_reserve(c), 0);
}

static void exactly_its_size_fits(void **state)
{
	(void)state;
	static const uint32_t sets[] = {1, 2, 4, 6, 7, 32, 40}, ways[] = {1, 3, 4, 5, 8, 20, 24, 96},
			      lines[] = {16, 48, 64, 256};
	static const enum cache_policy policy[] = {POLICY_LRU, POLICY_FIFO, POLICY_RANDOM, POLICY_PLRU,
						   POLICY_WEIGHTED};
	for (uint32_t n = 0; n < 7 * 8 * 4 * 5 * 2; n++) {
		struct cache_spec s = shape(sets[n % 7], ways[n / 7 % 8], lines[n / 56 % 4], policy[n / 224 % 5],
					    n / 1120 ? MAP_HASH : MAP_MODULO);
		if (s.policy == POLICY_PLRU && s.ways & (s.ways - 1))
			continue;
		struct time_cache c;
		uint32_t all = s.sets * s.ways;
		for (uint32_t k = 0; k < s.ways; k++)
			s.weight[k] = 1.0 / s.ways;
		open_cache(&c, &s);
		assert_int_equal(misses(&c, all, 3), all);
		cache_flush(&c);
		assert_int_equal(misses(&c, all, 1), all);
		assert_true(misses(&c, all + 1, 2) > 1);
		cache_free(&c);
	}
}

static void lru_loses_a_whole_set_by_one_line_too_many(void **state)
{
	(void)state;
	struct cache_spec s = shape(4, 5, 64, POLICY_LRU, MAP_MODULO);
	struct time_cache c;
	open_cache(&c, &s);
	misses(&c, 21, 1);
	assert_int_equal(misses(&c, 21, 1), 6);
	assert_int_equal(misses(&c, 21, 10), 60);
	cache_free(&c);
}

static void lru_and_fifo_differ_where_they_should(void **state)
{
	(void)state;
	for (int fifo = 0; fifo < 2; fifo++) {
		struct cache_spec s = shape(1, 2, 64, fifo ? POLICY_FIFO : POLICY_LRU, MAP_MODULO);
		struct time_cache c;
		open_cache(&c, &s);
		hit(&c, 0);
		hit(&c, 64);
		hit(&c, 0);   /* makes it the younger one for LRU alone */
		hit(&c, 128); /* takes the place of 64 (LRU) or of 0 (FIFO) */
		assert_int_equal(hit(&c, 0), !fifo);
		cache_free(&c);
	}
}

static void the_tree_spares_the_latest_line(void **state)
{
	(void)state;
	struct cache_spec s = shape(1, 128, 64, POLICY_PLRU, MAP_MODULO);
	struct time_cache c;
	open_cache(&c, &s);
	misses(&c, 128, 1);
	for (uint64_t k = 128; k < 2000; k++) {
		assert_false(hit(&c, k * 64));
		assert_true(hit(&c, k * 64));
		assert_true(hit(&c, (k - 1) * 64));
	}
	cache_free(&c);
}

static void weights_choose_the_way(void **state)
{
	(void)state;
	struct cache_spec s = shape(1, 4, 64, POLICY_WEIGHTED, MAP_MODULO);
	double weight[4] = {1.0 / 6, 0.5, 1.0 / 6, 1.0 / 6};
	memcpy(s.weight, weight, sizeof weight);
	struct time_cache c;
	uint32_t taken[4] = {0}, tries = 60000;
	open_cache(&c, &s);
	misses(&c, 4, 1);
	for (uint64_t k = 4; k < 4 + tries; k++) {
		uint64_t before[4];
		memcpy(before, c.tag, sizeof before);
		hit(&c, k * 64);
		for (uint32_t w = 0; w < 4; w++)
			taken[w] += before[w] != c.tag[w];
	}
	for (uint32_t w = 0; w < 4; w++)
		assert_float_equal((double)taken[w] / tries, weight[w], 0.01);
	cache_free(&c);
}

static void sectors_fill_alone_and_leave_together(void **state)
{
	(void)state;
	struct cache_spec s = shape(1, 2, 128, POLICY_LRU, MAP_MODULO);
	struct time_cache c;
	s.sector = 32;
	open_cache(&c, &s);
	for (uint64_t a = 0; a < 128; a += 32) {
		assert_false(hit(&c, a));
		assert_true(hit(&c, a + 28));
	}
	hit(&c, 128);
	hit(&c, 256); /* takes the place of the first line, all of it */
	for (uint64_t a = 0; a < 128; a += 32)
		assert_false(hit(&c, a));
	cache_free(&c);
}

static void a_hash_spreads_every_aligned_run(void **state)
{
	(void)state;
	static const uint32_t sets[] = {8, 12, 17, 64};
	for (uint32_t n = 0; n < 4; n++) {
		struct cache_spec s = shape(sets[n], 1, 64, POLICY_LRU, MAP_HASH);
		struct time_cache c;
		open_cache(&c, &s);
		bool moved = false;
		for (uint64_t run = 0; run < 50; run++) {
			uint64_t base = run * 37 * sets[n] * 64;
			cache_flush(&c);
			for (uint32_t twice = 0; twice < 2; twice++)
				for (uint32_t k = 0; k < sets[n]; k++)
					assert_int_equal(hit(&c, base + k * 64ull), twice);
			moved |= c.tag[0] % sets[n] != 0;
		}
		assert_true(moved); /* else it would be the plain mapping */
		cache_free(&c);
	}
}

static void the_host_writes_only_where_it_writes(void **state)
{
	(void)state;
	struct cache_spec s = shape(16, 4, 64, POLICY_LRU, MAP_MODULO);
	struct time_cache c;
	open_cache(&c, &s);
	misses(&c, 64, 1);
	cache_forget(&c, 100, 30); /* lines 1 and 2 */
	for (uint32_t k = 0; k < 64; k++)
		assert_int_equal(hit(&c, k * 64), k != 1 && k != 2);
	cache_forget(&c, 640, 1u << 20); /* far more than the cache holds */
	for (uint32_t k = 0; k < 64; k++)
		assert_int_equal(hit(&c, k * 64), k < 10);
	cache_free(&c);
}

static void neighbours_evict_at_their_rate(void **state)
{
	(void)state;
	struct cache_spec s = shape(64, 4, 64, POLICY_LRU, MAP_MODULO);
	struct time_cache c;
	cache_init(&c, &s, 3, 0.01);
	assert_int_equal(cache_reserve(&c), 0);
	uint64_t now = 0;
	uint32_t lost = 0;
	for (uint32_t n = 0; n < 100000; n++, now += 10) {
		uint64_t *fill = cache_touch(&c, n % 256 * 64, now);
		lost += *fill == CACHE_INVALID;
		*fill = 0;
	}
	/* A million cycles, one eviction in a hundred; some hit a place that is still empty. */
	assert_in_range(lost, 9000, 10500);
	cache_free(&c);
}

/* Five lines in a set of four: as the last lines that came in go first, three of them stay. */
static void qlru_keeps_old_lines_of_a_ring_that_is_too_large(void **state)
{
	(void)state;
	struct cache_spec s = shape(1, 4, 64, POLICY_QLRU, MAP_MODULO);
	struct time_cache c;
	s.insert_age = QLRU_OLDEST;
	open_cache(&c, &s);
	assert_int_equal(misses(&c, 4, 2), 4);	 /* used: of age 0 */
	assert_int_equal(misses(&c, 5, 1), 1);	 /* the fifth replaces the first way ... */
	assert_int_equal(misses(&c, 5, 10), 20); /* ... and from then on it and the first line replace each other */
	cache_free(&c);
	s.policy = POLICY_LRU;
	open_cache(&c, &s);
	assert_int_equal(misses(&c, 5, 10), 50);
	cache_free(&c);
}

/* Sets follow the side that inserts old if rings are too large. They follow the one that inserts young if new lines are
 * all that is used again. */
static void a_duel_goes_to_the_side_that_misses_less(void **state)
{
	(void)state;
	struct cache_spec s = shape(64, 8, 64, POLICY_DUEL, MAP_MODULO);
	struct time_cache c;
	open_cache(&c, &s);
	misses(&c, 64 * 12, 40);
	const uint32_t settled = misses(&c, 64 * 12, 10);
	cache_free(&c);
	s.policy = POLICY_QLRU;
	s.insert_age = 2;
	open_cache(&c, &s);
	misses(&c, 64 * 12, 40);
	assert_true(settled < misses(&c, 64 * 12, 10) * 8 / 10);
	cache_free(&c);
}

static void a_victim_buffer_adds_its_lines_to_any_set(void **state)
{
	(void)state;
	struct cache_spec s = shape(8, 4, 64, POLICY_LRU, MAP_MODULO);
	struct time_cache c;
	s.victims = 3;
	open_cache(&c, &s);
	assert_int_equal(misses(&c, 35, 5), 35); /* three sets with one line too many */
	for (uint32_t k = 0; k < 7; k++)
		hit(&c, (uint64_t)k * 8 * 64);
	for (uint32_t k = 0; k < 7; k++)
		assert_true(hit(&c, (uint64_t)k * 8 * 64)); /* one set with three too many */
	cache_drop(&c, 0);
	cache_drop(&c, 6 * 8 * 64);
	assert_false(hit(&c, 0));
	assert_false(hit(&c, 6 * 8 * 64));
	cache_flush(&c);
	assert_int_equal(misses(&c, 35, 1), 35);
	assert_true(misses(&c, 37, 5) > 37);
	cache_free(&c);
}

static void scrambled_sets_hold_every_aligned_run(void **state)
{
	(void)state;
	struct cache_spec s = shape(64, 4, 64, POLICY_LRU, MAP_SCRAMBLE);
	struct time_cache c;
	open_cache(&c, &s);
	assert_int_equal(misses(&c, 256, 3), 256);
	/* Lines a whole number of sets apart, all in one set of the plain mapping, lie in many. */
	cache_flush(&c);
	uint32_t missed = 0;
	for (uint32_t k = 0; k < 2 * 32; k++)
		missed += !hit(&c, (uint64_t)(k % 32) * 64 * 64);
	assert_true(missed < 40);
	cache_free(&c);
}

/* A stranger's line takes a way until it is replaced, where one that only empties a way is made good by the next miss. */
static void strangers_that_stay_cost_a_full_set_more(void **state)
{
	(void)state;
	struct cache_spec s = shape(16, 4, 64, POLICY_LRU, MAP_MODULO);
	uint32_t missed[2];
	for (uint32_t stays = 0; stays < 2; stays++) {
		struct time_cache c;
		uint64_t now = 0;
		cache_init(&c, &s, 3, 0.01);
		c.insert_share = stays;
		assert_int_equal(cache_reserve(&c), 0);
		missed[stays] = 0;
		for (uint32_t k = 0; k < 64 * 400; k++) {
			uint64_t *fill = cache_touch(&c, (uint64_t)(k % 64) * 64, now++);
			missed[stays] += *fill == CACHE_INVALID;
			*fill = 0;
		}
		cache_free(&c);
	}
	assert_true(missed[0] > 64);
	assert_true(missed[1] > 2 * missed[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(qlru_keeps_old_lines_of_a_ring_that_is_too_large),
	    cmocka_unit_test(a_duel_goes_to_the_side_that_misses_less),
	    cmocka_unit_test(a_victim_buffer_adds_its_lines_to_any_set),
	    cmocka_unit_test(scrambled_sets_hold_every_aligned_run),
	    cmocka_unit_test(strangers_that_stay_cost_a_full_set_more),
	    cmocka_unit_test(exactly_its_size_fits),
	    cmocka_unit_test(lru_loses_a_whole_set_by_one_line_too_many),
	    cmocka_unit_test(lru_and_fifo_differ_where_they_should),
	    cmocka_unit_test(the_tree_spares_the_latest_line),
	    cmocka_unit_test(weights_choose_the_way),
	    cmocka_unit_test(sectors_fill_alone_and_leave_together),
	    cmocka_unit_test(a_hash_spreads_every_aligned_run),
	    cmocka_unit_test(the_host_writes_only_where_it_writes),
	    cmocka_unit_test(neighbours_evict_at_their_rate),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
