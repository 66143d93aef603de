/* The judge on records made by the model of a cache and known noise. Usage: test_judge doc/inference.md */
#include "base/rng.h"
#include "judge/judge.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#define RINGS 160
#define WARM  3
#define LAPS  6

static const char *page;

struct record {
	struct arena a;
	struct judge_ring ring[RINGS];
	unsigned rings;
};

/* Visits every `step` bytes of `bytes` from `start` on, in a drawn order unless seed is 0. So many accesses in a
 * thousand seem to miss. */
static void visit(struct record *r, const struct model_shape *s, uint64_t start, double bytes, uint64_t step,
		  uint64_t seed, double noise)
{
	struct judge_ring *g = &r->ring[r->rings++];
	const uint32_t n = (uint32_t)ceil(bytes / (double)step);
	uint64_t *at = ARENA_ARRAY(&r->a, n, uint64_t);
	uint32_t *missed = ARENA_ARRAY(&r->a, n * LAPS + 1, uint32_t);
	struct model_cache c;
	struct rng rng;

	assert_true(r->rings <= RINGS && at && missed);
	assert_int_equal(model_cache_open(&c, s, seed), 0);
	rng_seed(&rng, seed + 17);
	for (uint32_t e = 0; e < n; e++)
		at[e] = start + e * step;
	if (seed)
		rng_shuffle(&rng, at, n);
	*g = (struct judge_ring){.n = n,
				 .seen = n,
				 .laps = LAPS,
				 .at = at,
				 .missed = missed,
				 .warm = WARM * n,
				 .bytes = bytes,
				 .step = (double)step};
	for (uint32_t i = 0; i < (WARM + LAPS) * n; i++) {
		const bool miss = !model_access(&c, at[i % n]) || rng_unit(&rng) < noise / 1000;
		if (i >= WARM * n && miss)
			missed[g->misses++] = i - WARM * n;
	}
	model_cache_close(&c);
	assert_int_equal(judge_ring_ready(&r->a, g), 0);
}

static uint64_t size_of(const struct model_shape *s)
{
	return s->line * s->sets * s->ways;
}

/* What a survey asks: footprints around the size in steps of a sector and of a line, and a few lines far apart. */
static void survey(struct record *r, const struct model_shape *s, uint64_t start, double noise)
{
	const uint64_t size = size_of(s);

	r->rings = 0;
	arena_init(&r->a);
	for (unsigned q = 0; q < 12; q++) {
		const double bytes = (double)size / 2 + (double)(2 * q * s->line * (s->sets > 8 ? s->sets / 8 : 1));
		visit(r, s, start, bytes, 16, q, noise);
		visit(r, s, start, bytes, 16, 0, noise);
		visit(r, s, start, bytes, s->line, q + 1, noise);
	}
	/* Half a line further on the same bytes are of one line more. */
	for (unsigned q = 0; q < 4; q++)
		visit(r, s, start + s->line / 2, (double)(size - q * s->line / 2), 16, q, noise);
	for (unsigned lines = 1; lines <= s->ways + 2 && lines < 20; lines++)
		for (uint64_t step = s->line; step <= s->line * s->sets; step *= 2)
			visit(r, s, start, (double)(lines * step), step, lines, noise);
}

static struct judge_result *judged(const struct record *r)
{
	static struct judge_result j;

	assert_int_equal(judge_weigh(r->ring, r->rings, &j), 0);
	assert_true(j.kept > 0);
	return &j;
}

static void is_shape(const struct judge_result *j, const struct model_shape *s)
{
	const struct judge_shape *q = &j->shape[0];

	if (q->line != s->line || q->sector != s->sector || q->sets != s->sets || q->ways != s->ways ||
	    q->folded != s->folded)
		fail_msg("%u x %u x %u/%u%s taken for %u x %u x %u/%u%s", s->sets, s->ways, (unsigned)s->line,
			 (unsigned)s->sector, s->folded ? " hashed" : "", q->sets, q->ways, q->line, q->sector,
			 q->folded ? " hashed" : "");
}

static void what_made_a_record_is_found(void **state)
{
	(void)state;
	static const struct model_shape made[] = {
	    {.line = 64, .sector = 64, .sets = 8, .ways = 4, .rule.rule = RULE_LRU},
	    {.line = 32, .sector = 32, .sets = 6, .ways = 5, .rule.rule = RULE_FIFO},
	    {.line = 64, .sector = 32, .sets = 4, .ways = 8, .rule.rule = RULE_PLRU},
	    {.line = 128, .sector = 128, .sets = 16, .ways = 2, .rule.rule = RULE_RANDOM},
	    {.line = 64, .sector = 64, .sets = 16, .ways = 4, .folded = true, .rule.rule = RULE_RANDOM},
	};

	for (size_t i = 0; i < sizeof(made) / sizeof(made[0]); i++) {
		struct record r;
		survey(&r, &made[i], 0, i % 2 ? 3 : 0);
		const struct judge_result *j = judged(&r);
		is_shape(j, &made[i]);
		assert_int_equal(j->unexplained, 0);
		/* Drawn victims say less in as many laps. */
		const enum judge_verdict least = made[i].rule.rule < RULES ? JUDGE_MEASURED : JUDGE_LIKELY;
		for (enum judge_key k = 0; k < JUDGE_KEYS; k++)
			if (judge_verdict(j, k) < least)
				fail_msg("%s of shape %zu is %s", judge_key_name(k), i,
					 judge_verdict_name(judge_verdict(j, k)));
		arena_free(&r.a);
	}
}

/* Rings in steps of 256 bytes say nothing of the line: nothing may be concluded of it, and what they do say stays. */
static void what_no_ring_tells_is_open(void **state)
{
	(void)state;
	const struct model_shape s = {.line = 64, .sector = 64, .sets = 8, .ways = 4, .rule.rule = RULE_LRU};
	struct record r = {.rings = 0};

	arena_init(&r.a);
	for (unsigned n = 1; n < 24; n++)
		visit(&r, &s, 0, n * 256.0, 256, n, 0);
	const struct judge_result *j = judged(&r);
	assert_int_equal(judge_verdict(j, JUDGE_LINE), JUDGE_OPEN);
	assert_int_equal(judge_verdict(j, JUDGE_SETS), JUDGE_OPEN);
	assert_int_equal(j->shape[0].ways, 4);
	arena_free(&r.a);
}

/* What the space does not have may not be measured: sets that hold unlike many lines. */
static void what_is_outside_of_the_space_is_flagged(void **state)
{
	(void)state;
	static const uint32_t ways[] = {7, 2, 2, 5};
	const struct model_shape s = {
	    .line = 64, .sector = 64, .sets = 4, .ways = 7, .set_ways = ways, .rule.rule = RULE_LRU};
	struct record r = {.rings = 0};

	arena_init(&r.a);
	for (unsigned q = 0; q < 24; q++) {
		visit(&r, &s, 0, 512.0 + 64 * q, 64, q, 0);
		visit(&r, &s, 0, 512.0 + 64 * q, 16, q, 0);
	}
	const struct judge_result *j = judged(&r);
	assert_true(j->unexplained > 0);
	for (enum judge_key k = 0; k < JUDGE_KEYS; k++)
		assert_int_not_equal(judge_verdict(j, k), JUDGE_MEASURED);
	arena_free(&r.a);
}

/* A rival that differs in one key only wins as soon as it is what made the record. */
static void a_planted_rival_wins(void **state)
{
	(void)state;
	const struct model_shape base = {.line = 64, .sector = 64, .sets = 8, .ways = 4, .rule.rule = RULE_LRU};
	struct model_shape rival[5] = {base, base, base, base, base};

	rival[0].ways = 5;
	rival[1].sector = 32;
	rival[2].folded = true;
	rival[3].sets = 9;
	rival[4].line = rival[4].sector = 128;
	rival[4].sets = 4;
	for (unsigned i = 0; i < 5; i++) {
		struct record r;
		survey(&r, &rival[i], 0, 0);
		is_shape(judged(&r), &rival[i]);
		arena_free(&r.a);
	}
}

static double log_p(struct record *r, const struct judge_shape *q)
{
	struct judge_room *room = judge_room(&r->a, r->ring, r->rings);
	double ll[JUDGE_WAYS_MOST + 1] = {0};

	assert_non_null(room);
	for (unsigned i = 0; i < r->rings; i++) {
		struct judge_tally t;
		judge_tally(room, &r->ring[i], q, &t);
		judge_likelihood(&t, q->ways, ll);
	}
	return ll[q->ways];
}

static void the_same_record_elsewhere_is_as_probable(void **state)
{
	(void)state;
	const struct model_shape s = {.line = 64, .sector = 64, .sets = 6, .ways = 4, .rule.rule = RULE_PLRU};
	const struct judge_shape q = {.line = 64, .sector = 64, .sets = 6, .ways = 4};
	struct record here, there;

	survey(&here, &s, 0, 3);
	survey(&there, &s, 5 * 6 * 64, 3); /* whole periods further on */
	const double ll = log_p(&here, &q);
	assert_true(ll == log_p(&there, &q));
	is_shape(judged(&there), &s);
	/* Sets in another order: the lines of set s are called those of set 5 - s. */
	for (unsigned i = 0; i < here.rings; i++) {
		uint64_t *at = arena_copy(&here.a, here.ring[i].at, here.ring[i].n * sizeof(*at));
		assert_non_null(at);
		for (uint32_t e = 0; e < here.ring[i].n; e++) {
			const uint64_t line = at[e] / 64, set = line % 6;
			at[e] += 64 * (5 - set) - 64 * set;
		}
		here.ring[i].at = at;
		assert_int_equal(judge_ring_ready(&here.a, &here.ring[i]), 0);
	}
	assert_true(fabs(ll - log_p(&here, &q)) < 1e-9 * fabs(ll));
	arena_free(&here.a);
	arena_free(&there.a);
}

/* Of all that a small ring could have shown the probabilities sum to one where it fits; where it does not, to no more. */
static void probabilities_sum_to_one(void **state)
{
	(void)state;
	enum { N = 3, LAPS_OF = 3, BITS = N * LAPS_OF };
	for (uint32_t ways = 1; ways <= 4; ways++) {
		double sum = 0;
		for (uint32_t seen = 0; seen < 1u << BITS; seen++) {
			static const uint64_t at[N] = {0, 64, 128};
			uint32_t missed[BITS], misses = 0;
			struct record r = {.rings = 1};
			for (uint32_t i = 0; i < BITS; i++)
				if (seen >> i & 1)
					missed[misses++] = i;
			arena_init(&r.a);
			r.ring[0] = (struct judge_ring){.n = N,
							.seen = N,
							.laps = LAPS_OF,
							.at = at,
							.misses = misses,
							.missed = missed,
							.bytes = 192,
							.step = 64};
			assert_int_equal(judge_ring_ready(&r.a, &r.ring[0]), 0);
			sum += exp(log_p(&r, &(struct judge_shape){.line = 64, .sector = 64, .sets = 1, .ways = ways}));
			arena_free(&r.a);
		}
		if (ways >= N)
			assert_true(fabs(sum - 1) < 1e-9);
		else
			assert_true(sum > 0.1 && sum <= 1);
	}
}

/* Rings that overflow all sets of a shape tell no shapes apart that have as many lines in all. It does not matter how
 * many such rings there are, and how many numbers of lines in a set each shape makes of them. */
static void rings_that_overflow_all_sets_part_nothing(void **state)
{
	(void)state;
	const struct model_shape s = {
	    .line = 32, .sector = 32, .sets = 4, .ways = 24, .folded = true, .rule.rule = RULE_RANDOM};
	const struct judge_shape is = {.line = 32, .sector = 32, .sets = 4, .ways = 24, .folded = true};
	const struct judge_shape other[] = {
	    {.line = 32, .sector = 32, .sets = 1, .ways = 96},
	    {.line = 32, .sector = 32, .sets = 2, .ways = 48, .folded = true},
	    {.line = 32, .sector = 32, .sets = 3, .ways = 32},
	    {.line = 32, .sector = 32, .sets = 16, .ways = 6},
	};
	struct record r = {.rings = 0};

	arena_init(&r.a);
	while (r.rings < 100)
		visit(&r, &s, 0, 481 * 32, 32, r.rings + 1, 0);
	const double ll = log_p(&r, &is);
	for (size_t i = 0; i < sizeof(other) / sizeof(other[0]); i++)
		if (fabs(log_p(&r, &other[i]) - ll) >= JUDGE_NATS)
			fail_msg("%u x %u is %.1f nats better", other[i].sets, other[i].ways,
				 log_p(&r, &other[i]) - ll);
	arena_free(&r.a);
}

/* The weights of all values of a key sum to one. */
static void weights_sum_to_one(void **state)
{
	(void)state;
	const struct model_shape s = {.line = 64, .sector = 64, .sets = 8, .ways = 4, .rule.rule = RULE_LRU};
	struct record r = {.rings = 0};

	arena_init(&r.a);
	for (unsigned n = 1; n < 24; n++)
		visit(&r, &s, 0, n * 256.0, 256, n, 0);
	const struct judge_result *j = judged(&r);
	double line = 0, all = 0;
	for (unsigned i = 0; i < j->kept; i++) {
		all += exp(j->shape[i].ll - j->shape[0].ll);
		line += j->shape[i].line == j->shape[0].line ? exp(j->shape[i].ll - j->shape[0].ll) : 0;
	}
	assert_true(fabs(line / all - j->fact[JUDGE_LINE].weight) < 1e-12);
	assert_true(j->fact[JUDGE_LINE].weight < JUDGE_WEIGHT);
	arena_free(&r.a);
}

/* doc/inference.md, the worked example: its lines are what the judge says. */
static void the_example_on_the_page_is_true(void **state)
{
	(void)state;
	static char text[1 << 16];
	const struct model_shape gtx280 = {.line = 64, .sector = 64, .sets = 8, .ways = 4, .rule.rule = RULE_LRU};
	static const struct judge_shape told[] = {{.line = 64, .sector = 64, .sets = 8, .ways = 4},
						  {.line = 64, .sector = 64, .sets = 8, .ways = 5},
						  {.line = 64, .sector = 64, .sets = 4, .ways = 8}};
	static const uint64_t steps[][2] = {{2048, 64}, {2112, 64}, {2048, 512}, {2560, 512}};
	FILE *f = fopen(page, "r");
	struct record r = {.rings = 0};

	assert_non_null(f);
	text[fread(text, 1, sizeof(text) - 1, f)] = 0;
	fclose(f);
	arena_init(&r.a);
	for (unsigned i = 0; i < 4; i++) {
		struct record one = {.rings = 0};
		char line[160];
		arena_init(&one.a);
		visit(&one, &gtx280, 0, (double)steps[i][0], steps[i][1], 0, 0);
		int at =
		    snprintf(line, sizeof(line), "%4u bytes, steps of %3u: %3u misses of %3u |", (unsigned)steps[i][0],
			     (unsigned)steps[i][1], one.ring[0].misses, one.ring[0].n * LAPS);
		for (unsigned k = 0; k < 3; k++)
			at += snprintf(line + at, sizeof(line) - (size_t)at, " %8.2f", log_p(&one, &told[k]));
		if (!strstr(text, line))
			fail_msg("the page does not say: %s", line);
		arena_free(&one.a);
	}
	survey(&r, &gtx280, 0, 0);
	const struct judge_result *j = judged(&r);
	for (enum judge_key k = 0; k < JUDGE_KEYS; k++) {
		char line[160];
		snprintf(line, sizeof(line), "%-8s %5llu %9.1f %s", judge_key_name(k),
			 (unsigned long long)judge_value(&j->shape[0], k), j->fact[k].margin,
			 judge_verdict_name(judge_verdict(j, k)));
		if (!strstr(text, line))
			fail_msg("the page does not say: %s", line);
	}
	arena_free(&r.a);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_made_a_record_is_found),
	    cmocka_unit_test(what_no_ring_tells_is_open),
	    cmocka_unit_test(what_is_outside_of_the_space_is_flagged),
	    cmocka_unit_test(a_planted_rival_wins),
	    cmocka_unit_test(the_same_record_elsewhere_is_as_probable),
	    cmocka_unit_test(probabilities_sum_to_one),
	    cmocka_unit_test(rings_that_overflow_all_sets_part_nothing),
	    cmocka_unit_test(weights_sum_to_one),
	    cmocka_unit_test(the_example_on_the_page_is_true),
	};
	page = argc > 1 ? argv[1] : "doc/inference.md";
	return cmocka_run_group_tests(tests, NULL, NULL);
}
