/* The model beside the simulator's cache, which shares no line with it. Both have the same hits and misses, access by
 * access, for every rule, mapping, set size and sector. Neither may be wrong alone. */
#include "base/arena.h"
#include "gpu/sim/time/time_cache.h"
#include "shape_of.h"
#include <stdio.h>
#include <string.h>

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

/* ---- both ---- */
static bool cache_hit(struct time_cache *c, uint64_t address)
{
	uint64_t *fill = cache_touch(c, address, 0);
	bool was = *fill != CACHE_INVALID;
	*fill = 0;
	return was;
}

/* The same with a place where this line, or some other, once was. */
static bool cache_hit_place(struct time_cache *c, uint64_t address, uint32_t *place)
{
	uint64_t *fill = *place == CACHE_NOWHERE ? NULL : cache_touch_place(c, address, 0, *place);
	bool was = fill;
	if (!fill) {
		fill = cache_touch(c, address, 0);
		was = *fill != CACHE_INVALID;
	}
	*fill = 0;
	*place = cache_place(c, address);
	assert_true(*place == (uint32_t)((fill - c->fill) / c->sectors));
	return was;
}

#define PLACES 64
/* Rings, random walks and both over regions from a half to three times the cache. */
static void compare(const struct cache_spec *s, uint64_t seed)
{
	const struct model_shape shape = shape_of(s);
	struct model_cache m;
	struct time_cache c;
	struct rng r;
	rng_seed(&r, seed + 1);
	cache_init(&c, s, seed, 0);
	assert_int_equal(cache_reserve(&c), 0);
	assert_int_equal(model_cache_open(&m, &shape, seed), 0);
	uint32_t place[PLACES];
	memset(place, 0xff, sizeof place);
	uint64_t base = rng_below(&r, 1u << 20) * s->line;
	for (unsigned phase = 0; phase < 6; phase++) {
		uint64_t bytes = s->size * (phase + 1) / 2;
		for (unsigned n = 0; n < 1500; n++) {
			uint64_t at = phase % 2 ? rng_below(&r, bytes) : (uint64_t)n * s->sector % bytes;
			bool is = n % 3 ? cache_hit(&c, base + at)
					: cache_hit_place(&c, base + at, &place[at / s->line % PLACES]);
			bool wanted = model_access(&m, base + at);
			if (is != wanted)
				fail_msg("policy %u mapping %u from %u, %u sets %u ways, line %u sector %u: access %u "
					 "of phase %u is %s",
					 s->policy, s->mapping, s->set_bits_from, s->sets, s->ways, s->line, s->sector,
					 n, phase, is ? "a hit" : "a miss");
		}
	}
	cache_free(&c);
	model_cache_close(&m);
}

static void every_access_is_what_the_model_says(void **state)
{
	(void)state;
	static const uint32_t sets[] = {1, 2, 4, 7, 16, 24}, ways[] = {1, 2, 3, 4, 8, 20}, lines[] = {32, 128};
	for (unsigned n = 0; n < 6 * 6 * 2 * 7 * 3; n++) {
		struct cache_spec s = {.present = true,
				       .sets = sets[n % 6],
				       .ways = ways[n / 6 % 6],
				       .line = lines[n / 36 % 2],
				       .policy = (enum cache_policy)(n / 72 % 7),
				       .mapping = n / 504 == 1 ? MAP_HASH : MAP_MODULO,
				       .partitions = 1};
		s.sector = 32;
		s.size = (uint64_t)s.sets * s.ways * s.line;
		if (n / 504 == 2) { /* two or four lines in a row go to one set */
			uint32_t run = s.ways % 4 == 0 ? 4 : s.ways % 2 == 0 ? 2 : 1;
			s.set_bits_from = (uint32_t)__builtin_ctz(s.line * run);
		}
		for (unsigned w = 0; w < s.ways; w++) /* uneven, sums to 1 */
			s.weight[w] = 2.0 * (w + 1) / (s.ways * (s.ways + 1.0));
		s.step = n % 2 ? STEP_MISS : STEP_ACCESS;
		s.schedule_count = s.ways + n % 4;
		for (unsigned k = 0; k < s.schedule_count; k++)
			s.schedule[k] = (uint16_t)(k * 7 % s.ways);
		compare(&s, n);
	}
}

static void unequal_sets_too(void **state)
{
	(void)state;
	static const uint32_t sizes[][7] = {{17, 8, 8, 8, 8, 8, 8}, {1, 2, 3, 4, 5, 6, 7}, {4, 1, 4, 1, 4, 1, 4}};
	static const enum cache_policy policy[] = {POLICY_LRU, POLICY_FIFO, POLICY_RANDOM, POLICY_NRU};
	for (unsigned n = 0; n < 12; n++) {
		struct cache_spec s = {.present = true,
				       .sets = 7,
				       .line = 64,
				       .sector = 64,
				       .policy = policy[n % 4],
				       .set_ways = sizes[n / 4],
				       .partitions = 1};
		for (unsigned k = 0; k < 7; k++) {
			s.ways = s.set_ways[k] > s.ways ? s.set_ways[k] : s.ways;
			s.size += (uint64_t)s.set_ways[k] * s.line;
		}
		compare(&s, n);
	}
}

/* Misses of the last `laps` rounds of a ring of n lines that was walked `before` times already. */
static unsigned ring_misses(const struct cache_spec *s, uint64_t seed, unsigned n, unsigned before, unsigned laps)
{
	struct time_cache c;
	unsigned misses = 0;
	cache_init(&c, s, seed, 0);
	assert_int_equal(cache_reserve(&c), 0);
	for (unsigned lap = 0; lap < before + laps; lap++)
		for (unsigned k = 0; k < n; k++)
			misses += !cache_hit(&c, (uint64_t)k * s->line) && lap >= before;
	cache_free(&c);
	return misses;
}

/* Of one more round, when all have settled. */
static unsigned settled(const struct cache_spec *s, unsigned n)
{
	return ring_misses(s, 5, n, 3, 1);
}

/* Mei 2014, Fig. 8 and 9: the second of four ways goes with every other miss, and half of the lines miss at most. */
static void a_schedule_misses_half_of_a_ring(void **state)
{
	(void)state;
	struct cache_spec s = {.present = true,
			       .size = 16384,
			       .line = 128,
			       .sector = 128,
			       .ways = 4,
			       .sets = 32,
			       .policy = POLICY_SCHEDULE,
			       .schedule = {0, 1, 2, 1, 3, 1},
			       .schedule_count = 6,
			       .partitions = 1};
	for (unsigned lines = 128; lines <= 192; lines += 8) {
		unsigned laps = 24;
		/* Of five lines in a set as of six, every second access misses. */
		unsigned over = lines < 160 ? 5 * (lines - 128) : lines;
		assert_int_equal(ring_misses(&s, 5, lines, laps, laps), laps * over / 2);
	}
}

/* Mei 2014, Fig. 10 and 11: 65 entries of 2 MB. The 66th costs the whole set of 17, and each of the next six a set of
 * 8. */
static void a_ring_over_unequal_sets_misses_set_by_set(void **state)
{
	(void)state;
	static const uint32_t sizes[] = {17, 8, 8, 8, 8, 8, 8};
	struct cache_spec s = {.present = true,
			       .size = 65ull << 21,
			       .line = 1u << 21,
			       .sector = 1u << 21,
			       .ways = 17,
			       .sets = 7,
			       .set_ways = sizes,
			       .partitions = 1};
	assert_int_equal(settled(&s, 64), 0);
	assert_int_equal(settled(&s, 65), 0);
	for (unsigned more = 1; more <= 7; more++)
		assert_int_equal(settled(&s, 65 + more), 18 + 9 * (more - 1));
	assert_int_equal(settled(&s, 75), 75);
}

/* Mei 2014, 4.3: 12 KB of 32-byte lines in 4 sets, 128 bytes in a row in one set. One line too many costs a set of 96 lines,
 * three more of its neighbours cost no other set, the next costs one. */
static void neighbours_share_a_set_where_the_index_starts_higher(void **state)
{
	(void)state;
	struct cache_spec s = {.present = true,
			       .size = 12288,
			       .line = 32,
			       .sector = 32,
			       .ways = 96,
			       .sets = 4,
			       .set_bits_from = 7,
			       .partitions = 1};
	assert_int_equal(settled(&s, 384), 0);
	for (unsigned more = 1; more <= 4; more++)
		assert_int_equal(settled(&s, 384 + more), 96 + more);
	assert_int_equal(settled(&s, 384 + 5), 100 + 97);
	assert_int_equal(settled(&s, 384 + 16), 400);
	s.set_bits_from = 0; /* the usual mapping loses another set with each line */
	assert_int_equal(settled(&s, 384 + 2), 2 * 97);
}

/* Misses of one set of four ways with chances 1/6, 1/2, 1/6, 1/6 under a ring of n lines. They are worked out from the
 * chain of states by power iteration. A state is which of the lines lie in which ways when line 0 is due. */
static double chain(unsigned n)
{
	enum { MOST = 8 * 8 * 8 * 8 };
	static double now[MOST], next[MOST];
	static const double weight[4] = {1.0 / 6, 0.5, 1.0 / 6, 1.0 / 6};
	double missed = 0;
	memset(now, 0, sizeof now);
	now[0 + 1 * 8 + 2 * 64 + 3 * 512] = 1;
	for (unsigned step = 0; step < 600 * n; step++) {
		unsigned line = step % n;
		bool last = step >= 599 * n;
		memset(next, 0, sizeof next);
		for (unsigned state = 0; state < MOST; state++) {
			if (now[state] == 0)
				continue;
			unsigned way[4] = {state % 8, state / 8 % 8, state / 64 % 8, state / 512};
			if (way[0] == line || way[1] == line || way[2] == line || way[3] == line) {
				next[state] += now[state];
				continue;
			}
			missed += last ? now[state] : 0;
			for (unsigned w = 0, place = 1; w < 4; w++, place *= 8)
				next[state - way[w] * place + line * place] += now[state] * weight[w];
		}
		memcpy(now, next, sizeof now);
	}
	return missed / n;
}

/* Mei 2014, Fig. 8 and 9: a Fermi L1 of 32 sets and 4 ways keeps part of a ring that LRU would lose altogether. */
static void unequal_chances_keep_part_of_a_ring(void **state)
{
	(void)state;
	struct cache_spec s = {.present = true,
			       .size = 16384,
			       .line = 128,
			       .sector = 128,
			       .ways = 4,
			       .sets = 32,
			       .policy = POLICY_WEIGHTED,
			       .weight = {1.0 / 6, 0.5, 1.0 / 6, 1.0 / 6},
			       .partitions = 1};
	for (unsigned in_set = 4; in_set <= 8; in_set++) {
		unsigned lines = in_set * 32, rounds = 400, misses = ring_misses(&s, 11, lines, 50, rounds);
		double rate = (double)misses / (lines * rounds), wanted = chain(in_set);
		assert_float_equal(rate, wanted, 0.01);
		if (in_set == 5)
			assert_in_range((unsigned)(1000 * wanted), 390, 410);
	}
}

static void a_port_moves_its_bytes_and_no_more(void **state)
{
	(void)state;
	struct cache_spec s = {
	    .present = true, .size = 1024, .line = 64, .sector = 64, .ways = 4, .sets = 4, .bandwidth = 9.75};
	struct time_cache c;
	cache_init(&c, &s, 1, 0);
	uint64_t wait = 0;
	for (unsigned n = 0; n < 1000; n++) /* all at cycle 100: each waits for those before it */
		wait = cache_port(&c, 0, 100, 0, 64);
	assert_float_equal((double)wait / 1024, 999 * 64 / 9.75, 4);
	assert_int_equal(cache_port(&c, 0, 100 + 1000 * 64, 0, 64), 0); /* long drained */
	assert_float_equal((double)cache_port(&c, 0, 100 + 1000 * 64, 0, 64) / 1024, 64 / 9.75, 0.01);
	cache_free(&c);
}

static void sectors_of_one_access_come_together(void **state)
{
	(void)state;
	struct cache_spec s = {.present = true,
			       .size = 1024,
			       .line = 128,
			       .sector = 32,
			       .ways = 4,
			       .sets = 2,
			       .access = 64,
			       .interval = 8};
	struct time_cache c;
	cache_init(&c, &s, 1, 0);
	for (uint64_t at = 0; at < 1024; at += 32) /* 32 sectors, 16 accesses */
		cache_port(&c, at, 0, 0, 32);
	assert_int_equal(cache_port(&c, 4096, 0, 0, 32), 16 * 8 * 1024);
	for (uint64_t at = 0; at < 1024; at += 64) /* each its own */
		cache_port(&c, at, 0, 0, 32);
	assert_int_equal(cache_port(&c, 4096, 0, 0, 32), 33 * 8 * 1024);
	cache_free(&c);
}

static void a_written_line_is_given_back_when_it_is_replaced(void **state)
{
	(void)state;
	struct cache_spec s = {
	    .present = true, .size = 256, .line = 128, .sector = 32, .ways = 2, .sets = 1, .write = WRITE_BACK};
	struct time_cache c;
	cache_init(&c, &s, 1, 0);
	assert_null(cache_find(&c, 0)); /* not even tables yet */
	assert_int_equal(cache_reserve(&c), 0);
	for (uint64_t a = 0; a < 256; a += 32)
		cache_hit(&c, a);
	cache_soil(&c, cache_find(&c, 0));
	cache_soil(&c, cache_find(&c, 96));
	cache_soil(&c, cache_find(&c, 96 + 31));
	assert_null(cache_find(&c, 256));
	assert_int_equal(cache_written_back(&c), 0);
	cache_hit(&c, 256); /* in place of the first line */
	assert_int_equal(cache_written_back(&c), 2 * 32);
	assert_int_equal(cache_written_back(&c), 0);
	cache_hit(&c, 384); /* in place of a clean one */
	assert_int_equal(cache_written_back(&c), 0);
	cache_soil(&c, cache_find(&c, 256));
	cache_drop(&c, 256);
	assert_null(cache_find(&c, 256));
	cache_hit(&c, 512);
	cache_hit(&c, 640);
	cache_hit(&c, 768);
	assert_int_equal(cache_written_back(&c), 0); /* what was dropped is not written */
	cache_free(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(every_access_is_what_the_model_says),
	    cmocka_unit_test(unequal_sets_too),
	    cmocka_unit_test(a_ring_over_unequal_sets_misses_set_by_set),
	    cmocka_unit_test(a_schedule_misses_half_of_a_ring),
	    cmocka_unit_test(neighbours_share_a_set_where_the_index_starts_higher),
	    cmocka_unit_test(unequal_chances_keep_part_of_a_ring),
	    cmocka_unit_test(a_port_moves_its_bytes_and_no_more),
	    cmocka_unit_test(sectors_of_one_access_come_together),
	    cmocka_unit_test(a_written_line_is_given_back_when_it_is_replaced),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
