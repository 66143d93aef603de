/* Sets told by the parities of the addresses that miss. */
#include "base/arena.h"
#include "base/rng.h"
#include "probe/chase_fit.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum {
	PART = 32,
	LINE = 128,
	LINES = 1864,
	LAPS = 40,
	MISSED = 120,
	PARTS = LINE / PART,
	ELEMENTS = LINES * PARTS + 1
};

/* Two bits of a set's number; `other`: a bit more, which is no parity. */
static unsigned set_of(uint64_t line, bool other)
{
	return (unsigned)(__builtin_parityll(line & 0x5da) + 2 * __builtin_parityll(line & 0x2b5)) +
	       (other ? 4 * (unsigned)(line % 3 == 0) : 0);
}

struct made {
	struct point point[CHASE_PARITY_RUNS];
	struct chase_run run[CHASE_PARITY_RUNS];
	bool expected[LINES];
	uint32_t in_set;
};

/* Runs that miss, lap after lap, MISSED lines of the extra element's set, others in each. stray: lines of any set, too. */
static void make(struct arena *a, struct made *m, const struct chase_ring_spec *ring, unsigned runs, bool other,
		 bool stray)
{
	const unsigned set = set_of(ring->extra / LINE, other);
	memset(m, 0, sizeof *m);
	for (uint32_t q = 0; q < LINES; q++) {
		m->expected[q] = set_of(q, other) == set;
		m->in_set += m->expected[q];
	}
	for (unsigned i = 0; i < runs; i++) {
		struct rng r;
		uint64_t member[LINES];
		bool misses[LINES] = {false};
		uint32_t n = 0, *record = ARENA_ARRAY(a, (size_t)LAPS * ELEMENTS, uint32_t), kept = 0;
		assert_non_null(record);
		for (uint32_t q = 0; q < LINES; q++)
			if (stray || m->expected[q])
				member[n++] = q;
		rng_seed(&r, 100 + i);
		rng_shuffle(&r, member, n);
		for (uint32_t k = 0; k < MISSED && k < n; k++)
			misses[member[k]] = true;
		m->point[i].p[CHASE_STRIDE] = PART;
		m->point[i].p[CHASE_EXTRA] = (double)ring->extra;
		m->point[i].p[CHASE_ORDER] = i;
		const double *p = m->point[i].p;
		const uint64_t *at = chase_ring(a, (double)ring->bytes, p);
		assert_non_null(at);
		for (uint32_t index = 0; index < LAPS * ELEMENTS; index++) {
			const uint32_t e = chase_at(p, ELEMENTS, index);
			/* A line comes back, with all its parts, in one lap of three. */
			if (at[e] != ring->extra && misses[at[e] / LINE] && index / ELEMENTS % 3 == at[e] / LINE % 3)
				record[kept++] = index << 12 | 300;
		}
		m->run[i] = (struct chase_run){.point = &m->point[i],
					       .elements = ELEMENTS,
					       .timed = LAPS * ELEMENTS,
					       .kept = kept,
					       .record = record,
					       .covered = LAPS * ELEMENTS};
	}
}

static bool told(unsigned runs, bool other, bool stray, bool *right)
{
	struct arena a;
	arena_init(&a);
	const struct chase_ring_spec ring = {.bytes = LINES * LINE, .stride = PART, .extra = LINES * LINE};
	struct made *m = ARENA_NEW(&a, struct made);
	bool *hot = ARENA_ARRAY(&a, LINES * PARTS, bool);
	assert_true(m && hot);
	make(&a, m, &ring, runs, other, stray);
	const bool is = chase_parity(&a, &ring, PART, m->run, runs, hot);
	*right = is;
	for (uint32_t i = 0; is && i < LINES * PARTS; i++)
		*right = *right && hot[i] == m->expected[i / PARTS];
	arena_free(&a);
	return is;
}

static void a_set_is_told_by_the_part_that_misses(void **state)
{
	(void)state;
	bool right;
	assert_true(told(4, false, false, &right));
	assert_true(right);
}

static void one_run_says_nothing_of_the_rest(void **state)
{
	(void)state;
	bool right;
	assert_false(told(1, false, false, &right));
}

/* What no parity tells apart is a smaller set, of which each run misses more of the same. */
static void smaller_sets_are_no_parity(void **state)
{
	(void)state;
	bool right;
	assert_false(told(4, true, false, &right));
}

static void lines_of_all_sets_do_not_agree(void **state)
{
	(void)state;
	bool right;
	assert_false(told(4, false, true, &right));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_set_is_told_by_the_part_that_misses),
	    cmocka_unit_test(one_run_says_nothing_of_the_rest),
	    cmocka_unit_test(smaller_sets_are_no_parity),
	    cmocka_unit_test(lines_of_all_sets_do_not_agree),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
