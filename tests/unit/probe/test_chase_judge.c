/* The judge on points as a chase stores them: what time does to them, what a floor leaves out, and what is found. */
#include "base/rng.h"
#include "model/cache.h"
#include "probe/chase.h"
#include "probe/engine.h"
#include "probe/study.h"
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

static const struct how {
	double floor;	 /* of the third order's chases */
	unsigned slower; /* every tick is so many */
	bool lent, beyond;
} plain = {.slower = 1};

/* A chase over a cache of which a hit and a miss take so many ticks. */
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

static int setup(const struct study *s, double x, const double *p, struct job *j)
{
	(void)s;
	job_output(j, CHASE_HEAD + LAPS * chase_elements(x, p));
	return 0;
}

static const struct how *how;
static bool concluded;

static void study_level(struct study *s)
{
	const struct series *all = study_series(s, 0);
	struct chase_path c = {
	    .study = s,
	    .beyond_sm = how->beyond,
	    .class_count = 2,
	    .classes = {{HIT * how->slower, HIT * how->slower, 1}, {MISS * how->slower, MISS * how->slower, 1}},
	    .level_count = 2,
	    .level = {{.floor = 100 * how->slower, .lent = how->lent}}};

	/* Not the last one: what this pass does not ask for is none of its evidence. */
	for (size_t i = 0; i + 1 < all->count; i++)
		(void)study_ask(s, 0, all->points[i].x, all->points[i].p);
	concluded = chase_conclude_judged(&c, "cache.constant.l1");
}

static const char *const claims[] = {"cache.constant.*", NULL};
static const struct experiment experiments[] = {
    {.name = "chase", .axis = "footprint", .unit = "bytes", .setup = setup}};
static const struct probe probe = {.name = "constant_cache",
				   .claims = claims,
				   .experiments = experiments,
				   .experiment_count = 1,
				   .study = study_level};

/* Findings are the run's; the last chase of the record is over a cache of another size, and nobody asks for it. */
static void judge(struct run *r, const struct model_shape *shape, const struct how *h)
{
	const struct model_shape other = {.line = 64, .sector = 64, .sets = 64, .ways = 4, .rule.rule = RULE_LRU};
	struct study s;
	struct err e;
	size_t count;

	assert_int_equal(run_init(r), 0);
	struct series *all = run_series_new(r, "constant_cache", "chase");
	assert_non_null(all);
	for (unsigned q = 0; q < 12; q++)
		for (unsigned order = 0; order < 3; order++) {
			const double floor = order == 2 ? h->floor : 0;
			chase(r, all, shape, 1536 + 64 * q, 64, order, floor, h->slower);
			chase(r, all, shape, 1536 + 64 * q, 16, order, 0, h->slower);
			chase(r, all, shape, 512 * (1 + q % 6), 512, order, 0, h->slower);
		}
	chase(r, all, &other, 8192, 64, 0, 0, h->slower);
	how = h;
	assert_int_equal(study_open(&s, r, &probe, STUDY_INFER, &e), 0);
	assert_int_equal(study_pass(&s), 0);
	assert_int_equal(study_publish(&s, &count), 0);
	study_close(&s);
}

static const struct finding *of(const struct run *r, const char *what)
{
	char key[64];

	snprintf(key, sizeof(key), "cache.constant.l1.%s", what);
	return findings_get(&r->findings, key);
}

static void is(const struct run *r, const char *what, enum verdict v, double number)
{
	const struct finding *f = of(r, what);

	assert_non_null(f);
	if (f->verdict != v || f->value.number != number)
		fail_msg("%s is %s %g: %s", f->key, verdict_name(f->verdict), f->value.number, f->because);
}

/* As it is; on a clock three times as fast; where some chases recorded misses alone; and what took a floor of another level. */
static void time_alone_changes_nothing(void **state)
{
	(void)state;
	static const struct model_shape shape = {.line = 64, .sector = 64, .sets = 8, .ways = 4, .rule.rule = RULE_LRU};
	static const struct how hows[] = {
	    {.slower = 1}, {.slower = 3}, {.slower = 1, .floor = 80}, {.slower = 1, .floor = 300}};

	for (unsigned i = 0; i < 4; i++) {
		struct run r;
		judge(&r, &shape, &hows[i]);
		assert_true(concluded);
		is(&r, "size", VERDICT_MEASURED, 2048);
		is(&r, "line", VERDICT_MEASURED, 64);
		is(&r, "sector", VERDICT_MEASURED, 64);
		is(&r, "sets", VERDICT_MEASURED, 8);
		is(&r, "ways", VERDICT_MEASURED, 4);
		/* What came second, and the ring that parted them. */
		const struct finding_rival *second = &of(&r, "ways")->rival;
		assert_true(*second->shape && second->value != 4 && second->nats >= 20);
		assert_true(second->best_least != second->least && second->misses <= second->visits);
		/* The ring is the point that it says, and can be drawn. */
		assert_true(r.series[0].points[second->point].x == second->bytes);
		struct figure_list drawn = {0};
		assert_int_equal(engine_draw_parted(&r, of(&r, "ways"), &drawn), 0);
		double misses = 0;
		for (size_t k = 0; k < drawn.items[0].marks[0].count; k++)
			misses += drawn.items[0].marks[0].y[k];
		assert_true(misses == second->misses);
		figures_free(&drawn);
		run_free(&r);
	}
}

static void what_shared_memory_takes_is_not_counted(void **state)
{
	(void)state;
	static const struct model_shape shape = {
	    .line = 64, .sector = 64, .sets = 8, .ways = 4, .rule.rule = RULE_FIFO};
	static const struct how lent = {.slower = 1, .lent = true};
	struct run r;

	judge(&r, &shape, &lent);
	is(&r, "size", VERDICT_BOUND, 2048);
	assert_true(of(&r, "size")->lo == 2048 && isinf(of(&r, "size")->hi));
	is(&r, "ways", VERDICT_BOUND, 4);
	is(&r, "sets", VERDICT_MEASURED, 8);
	/* What a launch takes is whole ways of all sets, and drivers may take as much again: here that is too much to say more. */
	chase_lent_estimate(&r.findings, 511, 0);
	is(&r, "size", VERDICT_BOUND, 2048);
	run_free(&r);
}

static const struct finding lent_level[] = {
    {.key = "cache.global.l1.size",
     .verdict = VERDICT_BOUND,
     .value = {.kind = VALUE_NUMBER, .number = 51200},
     .lo = 51200,
     .hi = INFINITY,
     .notes = NOTE_LENT},
    {.key = "cache.global.l1.ways",
     .verdict = VERDICT_BOUND,
     .value = {.kind = VALUE_NUMBER, .number = 50},
     .lo = 50,
     .hi = INFINITY,
     .notes = NOTE_LENT},
    {.key = "cache.global.l1.line", .verdict = VERDICT_MEASURED, .value = {.kind = VALUE_NUMBER, .number = 128}},
    {.key = "cache.global.l1.sets", .verdict = VERDICT_MEASURED, .value = {.kind = VALUE_NUMBER, .number = 8}},
};

static void what_is_known_to_a_quarter_is_estimated(void **state)
{
	(void)state;
	for (unsigned known = 0; known < 2; known++) {
		struct finding_list l = {.count = 0};
		for (unsigned i = 0; i < 4; i++)
			assert_int_equal(findings_add(&l, &lent_level[i]), 0);
		if (!known)
			l.items[2].verdict = VERDICT_INCONCLUSIVE;
		chase_lent_estimate(&l, 3 * 1024 - 1, 0);
		assert_int_equal(l.items[0].verdict, VERDICT_LIKELY);
		assert_int_equal(l.items[1].verdict, known ? VERDICT_LIKELY : VERDICT_BOUND);
		assert_true(l.items[0].lo == 51200 && l.items[1].lo == 50);
		/* Whole ways, as far as those are known. */
		assert_true(l.items[0].value.number == (known ? 53 * 1024 : 53 * 1024 - 1));
		assert_true(l.items[0].hi == (known ? 56 * 1024 : 56 * 1024 - 2));
		assert_true(!known || (l.items[1].value.number == 53 && l.items[1].hi == 56));
		findings_free(&l);
	}
}

/* Of sets that hold unlike many lines, and of a level that others share, the judge says nothing. */
static void what_it_cannot_explain_it_leaves(void **state)
{
	(void)state;
	static const uint32_t ways[] = {7, 2, 2, 5, 4, 4, 6, 2};
	static const struct model_shape unlike = {
	    .line = 64, .sector = 64, .sets = 8, .ways = 7, .set_ways = ways, .rule.rule = RULE_LRU};
	static const struct model_shape shape = {.line = 64, .sector = 64, .sets = 8, .ways = 4, .rule.rule = RULE_LRU};
	static const struct how beyond = {.slower = 1, .beyond = true};
	struct run r;

	judge(&r, &unlike, &plain);
	assert_false(concluded);
	assert_int_equal(r.findings.count, 0);
	run_free(&r);
	judge(&r, &shape, &beyond);
	assert_false(concluded);
	run_free(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(time_alone_changes_nothing),
					   cmocka_unit_test(what_shared_memory_takes_is_not_counted),
					   cmocka_unit_test(what_is_known_to_a_quarter_is_estimated),
					   cmocka_unit_test(what_it_cannot_explain_it_leaves)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
