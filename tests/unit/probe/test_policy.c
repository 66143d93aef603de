/* Policies from what a set of this test's own did: every rule, drawn victims, noise, and rules that nobody asks for. */
#include "base/arena.h"
#include "base/rng.h"
#include "probe/policy.h"
#include "probe/study.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
// clang-format off
#include <cmocka.h>
// clang-format on

#define HIT  100
#define MISS 180

enum kind { A_RULE, EVEN, UNEVEN, ROUND_ROBIN_OF_TWO, NEWEST, LISTED };
struct device { /* a set, and what makes its latencies doubtful */
	struct study study;
	enum kind kind;
	enum rule rule;
	unsigned ways, start; /* start: of the rule's state */
	const char *list;     /* LISTED: digits, the ways that go, moved on by every access, or miss */
	bool by_miss;
	double noise;	  /* chance that a hit is late, by up to 60 ticks */
	double strangers; /* chance that somebody else's line comes into the set, in the first half of a trace */
	double seldom;	  /* the same all the time; not of a rule */
	double taken;	  /* chance that somebody else empties a way, all the time; of a rule by age */
	double early;	  /* and while all lines fit */
	double open;	  /* chance that a miss is a tenth faster */
	unsigned parts;	  /* kinds of lines, each of whose misses cost 20 ticks more than those of the one before */
	unsigned cost;	  /* ticks of a miss beyond a hit; 0: MISS - HIT */
	unsigned row;	  /* ticks that one access in three is later, hit or miss */
	unsigned far;	  /* ticks that every access to some lines is later */
	bool unknown;	  /* nobody knows the cost */
	bool shared;	  /* others may write into the set, so what is later than a miss may be either */
	unsigned above;	  /* lines that a first in, first out level above keeps; 0: there is none */
	unsigned nearer;  /* ticks that its hits are faster */
	unsigned asked;
};

static unsigned drawn(struct rng *r, const struct device *d)
{
	double u = rng_unit(r);

	if (d->kind == EVEN)
		return (unsigned)(u * d->ways);
	/* One way three times as often as any other. */
	unsigned another = (2 + (unsigned)rng_below(r, d->ways - 1));
	return u < 3.0 / (d->ways + 2) ? 1 : another < d->ways ? another : 0;
}

static unsigned cost_of(const struct device *d)
{
	return d->cost ? d->cost : MISS - HIT;
}

/* One access to a set that goes by no rule. Whether it hit. */
static bool replace(const struct device *d, struct rule_set *s, uint16_t line, unsigned *turn, unsigned *last,
		    struct rng *r)
{
	unsigned w = 0;

	while (w < d->ways && s->way[w].line != line)
		w++;
	if (w < d->ways)
		return true;
	for (w = 0; w < d->ways && s->way[w].line != RULE_EMPTY;)
		w++;
	if (w == d->ways)
		w = d->kind == NEWEST		    ? *last
		    : d->kind == ROUND_ROBIN_OF_TWO ? (*turn)++ % 2
		    : d->kind == LISTED		    ? (unsigned)(d->list[(*turn)++ % strlen(d->list)] - '1')
						    : drawn(r, d);
	s->way[w].line = line;
	*last = w;
	return false;
}

/* A way is emptied, and is the next to be filled. */
static void empty(struct rule_set *s, unsigned way)
{
	s->way[way].line = RULE_EMPTY;
	s->state.full = false;
}

static enum chase_state ask(void *ctx, const struct policy_plan *p, const struct policy_sequence *q, uint32_t **ticks,
			    char *why, size_t why_bytes)
{
	struct device *d = ctx;
	struct rule_set s, above;
	struct rng r;
	unsigned turn = 0, last = 0, strangers = 0;

	(void)p;
	(void)why;
	(void)why_bytes;
	d->asked++;
	rng_seed(&r, 77 + d->asked);
	rule_start(&s, d->rule, d->ways, d->start);
	rule_start(&above, RULE_FIFO, d->above ? d->above : 1, 0);
	*ticks = ARENA_ARRAY(&d->study.scratch, q->count, uint32_t);
	assert_non_null(*ticks);
	for (uint32_t i = 0; i < q->count; i++) {
		bool hit;
		if (d->above && rule_access(&above, q->line[i])) {
			(*ticks)[i] = HIT - d->nearer + (uint32_t)rng_below(&r, 2);
			continue;
		}
		if (d->kind == A_RULE) {
			if (i > q->more_to && i < q->count / 2 && rng_unit(&r) < d->strangers)
				rule_access(&s, (POLICY_SLOTS + rng_below(&r, 4)));
			if (d->taken > 0 && rng_unit(&r) < d->taken)
				empty(&s, (unsigned)rng_below(&r, d->ways));
			hit = rule_access(&s, q->line[i]);
		} else {
			turn = d->kind == LISTED && !d->by_miss ? i + strangers : turn;
			const double chance = i < q->more_from ? d->early : d->seldom;
			if (chance > 0 && rng_unit(&r) < chance) {
				replace(d, &s, (POLICY_SLOTS + i % 4), &turn, &last, &r);
				strangers++;
			}
			turn = d->kind == LISTED && !d->by_miss ? i + strangers : turn;
			hit = replace(d, &s, q->line[i], &turn, &last, &r);
		}
		(*ticks)[i] = (hit ? HIT : HIT + cost_of(d)) + (uint32_t)rng_below(&r, 2);
		if (!hit && d->open > 0 && rng_unit(&r) < d->open)
			(*ticks)[i] -= cost_of(d) / 10;
		if (!hit && d->parts)
			(*ticks)[i] += 20 * (q->line[i] % d->parts);
		if (d->row && rng_below(&r, 3) == 0)
			(*ticks)[i] += d->row;
		(*ticks)[i] += q->line[i] * 5 % 7 < 3 ? d->far : 0;
		if (rng_unit(&r) < d->noise)
			(*ticks)[i] += (uint32_t)rng_below(&r, 60);
	}
	return CHASE_DONE;
}

static void infer(struct device *d, unsigned lines, struct policy_result *out)
{
	const struct policy_level l = {
	    .study = &d->study,
	    .ways = d->ways,
	    .lines = lines,
	    .known = {1, d->nearer ? d->nearer : NAN, d->unknown ? NAN : cost_of(d), d->nearer ? d->nearer : NAN},
	    .others = d->shared || d->row > 0 || d->far > 0,
	    .kept = d->above > 0,
	    .most = 30000,
	    .most_ring = 30000,
	    .ask = ask,
	    .ctx = d};
	arena_init(&d->study.scratch);
	arena_init(&d->study.kept_arena);
	policy_infer(&l, out);
	arena_free(&d->study.scratch);
	arena_free(&d->study.kept_arena);
	memset(d->study.kept, 0, sizeof(d->study.kept));
}

static void expect(struct device d, unsigned lines, const char *name)
{
	struct policy_result out;

	infer(&d, lines, &out);
	if (!name && out.state == CHASE_DONE)
		fail_msg("%u ways, %u lines, kind %d: called %s: %s", d.ways, lines, (int)d.kind, out.name, out.seen);
	if (name && (out.state != CHASE_DONE || strcmp(out.name, name) != 0))
		fail_msg("%u ways, %u lines: %s instead of %s: %s", d.ways, lines,
			 out.state == CHASE_DONE ? out.name : "nothing", name, out.seen);
}

static void test_rules(void **state)
{
	(void)state;
	for (unsigned ways = 2; ways <= 24; ways += ways < 8 ? 1 : 4)
		for (enum rule r = 0; r < RULES; r++)
			if (rule_applies(r, ways))
				for (unsigned noisy = 0; noisy < 2; noisy++)
					expect((struct device){.rule = r, .ways = ways, .noise = noisy * 0.01},
					       2 * ways, rule_name(r));
	/* As many lines as there are ways and one more are enough for what laps bring into one state. */
	expect((struct device){.rule = RULE_LRU, .ways = 8}, 9, "lru");
	expect((struct device){.rule = RULE_FIFO, .ways = 8}, 9, "fifo");
}

static void test_draws(void **state)
{
	static const unsigned ways[] = {3, 4, 8, 16};

	(void)state;
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		struct device d = {.kind = UNEVEN, .ways = ways[i], .noise = 0.01};
		struct policy_result out;
		double most = 0, sum = 0;
		infer(&d, 2 * ways[i], &out);
		assert_int_equal(out.state, CHASE_DONE);
		assert_string_equal(out.name, "weighted");
		for (unsigned w = 0; w < ways[i]; w++) {
			most = fmax(most, out.chance[w]);
			sum += out.chance[w];
		}
		assert_true(fabs(sum - 1) < 0.01);
		assert_true(fabs(most - 3.0 / (ways[i] + 2)) < 0.05);
		expect((struct device){.kind = EVEN, .ways = ways[i], .noise = 0.01}, 2 * ways[i], "random");
	}
}

/* An access that may be a hit or a miss is read as what makes the ways most unequal. Even draws must not be called
 * weighted for it, and those that are weighted by far still are. */
static void test_doubtful(void **state)
{
	(void)state;
	for (unsigned seed = 0; seed < 12; seed++) {
		struct device even = {.kind = EVEN, .ways = 3, .noise = 0.03, .shared = true, .asked = 100 * seed};
		struct policy_result out;
		infer(&even, 6, &out);
		if (out.state == CHASE_DONE && strcmp(out.name, "random") != 0)
			fail_msg("draws %u called %s: %s", seed, out.name, out.seen);
	}
	expect((struct device){.kind = UNEVEN, .ways = 3, .noise = 0.03, .shared = true}, 6, "weighted");
}

static void expect_no_draws(struct device d)
{
	struct policy_result out;

	infer(&d, d.ways + 1, &out);
	if (out.state == CHASE_DONE && strcmp(out.name, rule_name(d.rule)) != 0)
		fail_msg("%u ways, %s called %s: %s", d.ways, rule_name(d.rule), out.name, out.seen);
}

/* Nothing may be concluded of a rule that is not among those tried. */
static void test_strangers(void **state)
{
	(void)state;
	for (unsigned ways = 4; ways <= 16; ways *= 2) {
		expect((struct device){.kind = NEWEST, .ways = ways}, 2 * ways, NULL);
		expect((struct device){.kind = ROUND_ROBIN_OF_TWO, .ways = ways}, 2 * ways, NULL);
	}
	/* Too few lines to bring these into a known state: then they are not recognised, but no draws either. */
	for (unsigned ways = 3; ways <= 24; ways++)
		for (enum rule r = RULE_PLRU; r < RULES; r++)
			for (unsigned start = 1; start < 6; start++)
				if (rule_applies(r, ways))
					expect_no_draws((struct device){.rule = r, .ways = ways, .start = start});
}

/* Mei's, and others: the list comes out, wherever it begins and whatever the ways are called, and what moves it on. */
static void test_lists(void **state)
{
	static const struct {
		unsigned ways;
		const char *list, *is;
		bool by_miss;
	} lists[] = {{4, "232421", "1,2,1,3,1,4", false}, /* begins with another way, and is the same */
		     {4, "212324", "1,2,1,3,1,4", false},      {4, "212324", "1,2,1,3,1,4", true},
		     {4, "122334", "1,1,2,2,3,4", false},      {4, "1234", "1,2,3,4", false},
		     {3, "11223", "1,1,2,2,3", true},	       {8, "8123456787", "1,2,1,2,3,4,5,6,7,8", true},
		     {5, "31415325", "1,2,1,3,4,5,3,4", false}};

	(void)state;
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		struct device d = {
		    .kind = LISTED, .ways = lists[i].ways, .list = lists[i].list, .by_miss = lists[i].by_miss};
		struct policy_result out;
		for (unsigned noisy = 0; noisy < 2; noisy++) {
			d.noise = noisy * 0.002;
			d.asked = 0;
			infer(&d, 2 * d.ways, &out);
			if (out.state != CHASE_DONE && noisy)
				continue; /* what is misread may hide it, and never makes another one of it */
			if (out.state != CHASE_DONE || strcmp(out.name, "schedule") != 0)
				fail_msg("%s: %s: %s", d.list, out.state == CHASE_DONE ? out.name : "nothing",
					 out.seen);
			if (strcmp(out.schedule, lists[i].is) != 0)
				fail_msg("%s is called %s: %s", d.list, out.schedule, out.seen);
			assert_string_equal(out.step, d.by_miss ? "miss" : "access");
		}
	}
	/* With every miss in turn: that is first in, first out. */
	expect((struct device){.kind = LISTED, .ways = 4, .list = "1234", .by_miss = true}, 8, "fifo");
}

/* A few misses find a row open, and others write into the set where all its lines fit, too. */
static void test_open_rows(void **state)
{
	(void)state;
	expect((struct device){.kind = EVEN, .ways = 16, .cost = 300, .open = 0.3, .early = 0.1}, 32, "random");
}

/* Others write into the set for half of the time: what is left goes by one rule, and by no other. */
static void test_half(void **state)
{
	(void)state;
	for (enum rule r = 0; r < RULES; r++)
		expect((struct device){.rule = r, .ways = 16, .strangers = 0.06}, 32, rule_name(r));
}

/* Others take so many lines that most misses are theirs when one line more than fits is read. A rule that says no more
 * than that nothing is replaced is then not the one. */
static void test_taken(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 40; i++)
		expect_no_draws((struct device){.rule = RULE_LRU,
						.ways = 23,
						.taken = 0.02 + 0.01 * (i % 8),
						.above = 11 * (i % 2),
						.nearer = 40 * (i % 2),
						.asked = 100 * i});
}

/* A level above keeps lines: whose rule is seen is not known, unless its hits are faster. */
static void test_kept(void **state)
{
	(void)state;
	expect((struct device){.rule = RULE_LRU, .ways = 8, .above = 8}, 16, NULL);
	expect((struct device){.rule = RULE_LRU, .ways = 8, .above = 8, .row = 20}, 16, NULL);
	expect((struct device){.rule = RULE_LRU, .ways = 8, .above = 2, .nearer = 40}, 16, "lru");
	expect((struct device){.rule = RULE_FIFO, .ways = 8, .above = 2, .nearer = 40}, 16, "fifo");
}

/* Pages whose lines are not alike: rows that are open or not, for less than a miss costs, for more, and for as much. */
static void test_apart(void **state)
{
	static const struct {
		unsigned cost, row;
	} pages[] = {{46, 24}, {190, 76}, {36, 284}, {60, 95}, {58, 37}};

	(void)state;
	for (size_t i = 0; i < sizeof(pages) / sizeof(pages[0]); i++)
		for (enum rule r = 0; r < RULES; r++)
			for (unsigned unknown = 0; unknown < 2; unknown++)
				expect((struct device){.rule = r,
						       .ways = 16,
						       .cost = pages[i].cost,
						       .row = pages[i].row,
						       .unknown = unknown},
				       32, rule_name(r));
	for (enum rule r = 0; r < RULES; r++) {
		const struct device alike = {.rule = r, .ways = 16, .cost = 46, .row = 46};
		struct policy_result out;
		struct device d = alike;
		infer(&d, 32, &out);
		if (out.state == CHASE_DONE && strcmp(out.name, rule_name(r)) != 0)
			fail_msg("%s called %s: %s", rule_name(r), out.name, out.seen);
	}
}

/* Lines of which some are farther by as much as a miss costs, or nearly: no other rule is named. */
static void test_far(void **state)
{
	(void)state;
	for (enum rule r = 0; r < RULES; r++)
		for (unsigned far = 58; far <= 62; far += 2) {
			struct device d = {.rule = r, .ways = 16, .cost = 60, .far = far, .noise = 0.02};
			struct policy_result out;
			infer(&d, 32, &out);
			if (out.state == CHASE_DONE && strcmp(out.name, rule_name(r)) != 0)
				fail_msg("%s called %s: %s", rule_name(r), out.name, out.seen);
		}
	/* No rule is named if victims are drawn. */
	for (unsigned uneven = 0; uneven < 2; uneven++) {
		struct device d = {.kind = uneven ? UNEVEN : EVEN, .ways = 8, .cost = 60, .far = 60};
		struct policy_result out;
		infer(&d, 16, &out);
		if (out.state == CHASE_DONE && strcmp(out.name, "random") != 0 && strcmp(out.name, "weighted") != 0)
			fail_msg("drawn victims were called %s: %s", out.name, out.seen);
	}
}

/* Of a level's accesses one in `each` misses, and one in twenty is late by up to `late` ticks, a hit or not. */
static void test_classes(void **state)
{
	enum { FITS = 80, ALL = 1000 };
	static const uint32_t miss[] = {400, 415};
	uint32_t fits[FITS], all[ALL], nearest[8];
	struct rng r;
	struct trace_classes c;
	(void)state;

	rng_seed(&r, 1);
	for (unsigned i = 0; i < ALL; i++) {
		all[i] = i % 8 == 0 ? miss[i / 8 % 4 != 0] : 190;
		all[i] += rng_below(&r, 20) == 0 ? 4 + (uint32_t)rng_below(&r, 38) : 0;
	}
	for (unsigned i = 0; i < FITS; i++)
		fits[i] = i % 20 ? 190 : 194 + i / 4;
	for (unsigned i = 0; i < 8; i++)
		nearest[i] = 190;
	struct trace_level known = {.grain = 2, .above = NAN, .below = 220, .spread = 20, .first = true};
	const struct trace_part near = {nearest, 8}, in = {fits, FITS}, more = {all, ALL};
	assert_true(trace_classify(&c, &known, near, in, more, more));
	/* A miss in a nearer part is no hit that is late, so nothing is nearly as late as one. */
	assert_int_equal(trace_class_of(&c, 402), TRACE_MISS);
	assert_int_equal(trace_class_of(&c, 450), TRACE_MISS);
	assert_int_equal(trace_class_of(&c, 225), TRACE_HIT);
	/* Nothing is nearer that could be faster; and where something is, what is as fast as that comes from there. */
	assert_int_equal(trace_class_of(&c, 150), TRACE_HIT);
	known.first = false;
	known.above = 60;
	assert_true(trace_classify(&c, &known, near, in, more, more));
	assert_int_equal(trace_class_of(&c, 150), TRACE_ABOVE);
	assert_int_equal(trace_class_of(&c, 175), TRACE_UNSURE);
	/* Seen while the clock is faster, a miss takes less at other times. */
	known.swing = 0.1;
	assert_true(trace_classify(&c, &known, near, in, more, more));
	assert_int_equal(trace_class_of(&c, 375), TRACE_MISS);
	assert_int_equal(trace_class_of(&c, 300), TRACE_HIT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_rules),    cmocka_unit_test(test_draws), cmocka_unit_test(test_strangers),
	    cmocka_unit_test(test_lists),    cmocka_unit_test(test_kept),  cmocka_unit_test(test_taken),
	    cmocka_unit_test(test_half),     cmocka_unit_test(test_apart), cmocka_unit_test(test_open_rows),
	    cmocka_unit_test(test_doubtful), cmocka_unit_test(test_far),   cmocka_unit_test(test_classes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
