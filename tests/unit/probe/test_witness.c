/* The judge on points as a chase stores them: what time does to them, and what a floor leaves out. */
#include "base/rng.h"
#include "model/cache.h"
#include "probe/chase.h"
#include "probe/witness.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#define HIT  50 /* ticks */
#define MISS 120
#define LAPS 4

/* A chase over a cache of which a hit and a miss take so many ticks, times `slower`. */
static void chase(struct run *r, struct series *s, const struct model_shape *shape, double bytes, double stride,
		  double order, double floor, unsigned slower)
{
	struct point pt = {.x = bytes, .outcome = OUTCOME_OK, .repeats = 1};
	const uint32_t n = chase_elements(bytes, (double[POINT_PARAMS]){[CHASE_STRIDE] = stride});
	uint32_t *y = arena_alloc(&r->arena, CHASE_HEAD + LAPS * n, sizeof(*y));
	struct model_cache c;
	struct rng rng;

	assert_non_null(y);
	pt.p[CHASE_STRIDE] = stride;
	pt.p[CHASE_WARM] = 2 * n;
	pt.p[CHASE_TIMED] = LAPS * n;
	pt.p[CHASE_ORDER] = order;
	pt.p[CHASE_FLOOR] = floor * slower;
	const uint64_t *ring = chase_ring(&r->arena, bytes, pt.p);
	assert_non_null(ring);
	rng_seed(&rng, 7);
	assert_int_equal(model_cache_open(&c, shape, 0), 0);
	for (uint32_t i = 0; i < 2 * n + CHASE_PRE; i++)
		model_access(&c, ring[i % n]);
	for (uint32_t i = 0; i < LAPS * n; i++) {
		const bool hit = model_access(&c, ring[chase_at(pt.p, n, i)]);
		const uint32_t ticks = slower * ((hit ? HIT : MISS) + (uint32_t)rng_below(&rng, 3));
		if (ticks >= pt.p[CHASE_FLOOR])
			y[CHASE_HEAD + y[3]++] = i << 12 | ticks;
	}
	model_cache_close(&c);
	pt.words_per_repeat = CHASE_HEAD + LAPS * n;
	pt.y = y;
	assert_int_equal(series_add(r, s, &pt), 0);
}

static void record(struct run *r, const struct model_shape *shape, double floor, unsigned slower)
{
	assert_int_equal(run_init(r), 0);
	struct series *s = run_series_new(r, "constant_cache", "chase");
	assert_non_null(s);
	for (unsigned q = 0; q < 12; q++)
		for (unsigned order = 0; order < 3; order++) {
			/* What only its misses tell is of no use without a chase that tells both classes. */
			chase(r, s, shape, 1536 + 64 * q, 64, order, order == 2 ? floor : 0, slower);
			chase(r, s, shape, 1536 + 64 * q, 16, order, 0, slower);
			chase(r, s, shape, 512 * (1 + q % 6), 512, order, 0, slower);
		}
}

static void time_alone_changes_nothing(void **state)
{
	(void)state;
	const struct model_shape shape = {.line = 64, .sector = 64, .sets = 8, .ways = 4, .rule.rule = RULE_LRU};
	static struct judge_result j[4];

	for (unsigned i = 0; i < 4; i++) {
		/* As it is; on a clock three times as fast; where some chases recorded misses alone; and what took a floor of another level. */
		static const struct {
			double floor;
			unsigned slower;
		} how[] = {{0, 1}, {0, 3}, {80, 1}, {300, 1}};
		struct run r;
		struct arena a;
		struct judge_ring *ring;
		unsigned rings;
		record(&r, &shape, how[i].floor, how[i].slower);
		arena_init(&a);
		assert_int_equal(witness_rings(&a, &r, &witness_paths[0], &ring, &rings), 0);
		assert_int_equal(rings, i < 3 ? 108 : 96);
		assert_int_equal(judge_weigh(ring, rings, &j[i]), 0);
		const struct judge_shape *q = &j[i].shape[0];
		assert_true(q->line == 64 && q->sector == 64 && q->sets == 8 && q->ways == 4 && !q->folded);
		assert_int_equal(j[i].unexplained, 0);
		if (i < 3)
			assert_true(q->ll == j[0].shape[0].ll);
		arena_free(&a);
		run_free(&r);
	}
}

static void say(struct run *r, const char *what, enum verdict v, double number)
{
	struct finding f = {.verdict = v, .lo = NAN, .hi = NAN, .because = "noise"};

	snprintf(f.key, sizeof(f.key), "cache.constant.l1.%s", what);
	if (v == VERDICT_MEASURED)
		f.value = (struct value){.kind = VALUE_NUMBER, .number = number};
	assert_int_equal(findings_add(&r->findings, &f), 0);
}

/* What is open is estimated, unless the shape denies something that was measured, or nothing was. */
static void what_is_open_is_estimated(void **state)
{
	(void)state;
	const struct model_shape shape = {.line = 64, .sector = 64, .sets = 8, .ways = 4, .rule.rule = RULE_FIFO};

	for (unsigned i = 0; i < 3; i++) {
		struct run r;
		record(&r, &shape, 0, 1);
		say(&r, "size", i == 2 ? VERDICT_INCONCLUSIVE : VERDICT_MEASURED, 2048);
		say(&r, "ways", i == 2 ? VERDICT_INCONCLUSIVE : VERDICT_MEASURED, i == 1 ? 5 : 4);
		say(&r, "sets", VERDICT_INCONCLUSIVE, 0);
		say(&r, "mapping", VERDICT_INCONCLUSIVE, 0);
		say(&r, "sector", VERDICT_ABSENT, 0);
		assert_int_equal(witness_estimate(&r), 0);
		const struct finding *sets = findings_get(&r.findings, "cache.constant.l1.sets"),
				     *mapping = findings_get(&r.findings, "cache.constant.l1.mapping");
		assert_int_equal(sets->verdict, i ? VERDICT_INCONCLUSIVE : VERDICT_LIKELY);
		assert_int_equal(mapping->verdict, i ? VERDICT_INCONCLUSIVE : VERDICT_LIKELY);
		assert_true(i || (sets->value.number == 8 && sets->lo == 8 && sets->hi == 8));
		assert_true(i || strcmp(mapping->value.text, "modulo") == 0);
		assert_int_equal(findings_get(&r.findings, "cache.constant.l1.sector")->verdict, VERDICT_ABSENT);
		run_free(&r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(time_alone_changes_nothing),
					   cmocka_unit_test(what_is_open_is_estimated)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
