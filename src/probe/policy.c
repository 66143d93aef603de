#include "probe/policy.h"
#include "base/arena.h"
#include "stat/stat.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define LINES	     1024 /* numbers of lines are less */
#define FITS_LAPS    8
#define MORE_LAPS    3
#define PREFIX_LAPS  3
#define BODY_LEAST   128u
#define BODY_MOST    512u
#define SURE_LEAST   12u
#define ROUNDS_MOST  24u
#define ROUNDS_LEAST 6u
#define SEEDS	     6u
#define ASKS	     3u
#define ASKS_MORE    9u
#define EXPLAINED    0.025 /* of a round's accesses may be otherwise than a rule says */
#define RIGHT	     0.6   /* of the rounds a rule explains when it is the one */
#define WRONG	     0.25  /* and at most when it is not */
#define ALONE	     0.4   /* or so many, when no other rule explains more than NONE of them */
#define NONE	     0.05
#define ALONE_LEAST  20u /* rounds */
#define OUTDOES	     4u	 /* times as many rounds as it leaves to another rule that explains those */
#define SEVERAL	     0.3 /* or so many of them, when it outdoes all others */
#define ALL	     0.9 /* of the rounds nothing contradicts the one ... */
#define HALF	     0.5 /* ... that leaves no other more than so many */
#define SLOW_MOST    0.1 /* of the hits may be as slow as misses */
#define SLOW_CHANCE  0.01
#define PART_NEAR    3 /* ticks */

/* Reads as many lines as fit, half of them again, others as new ones, and then those of the first that may still be
 * there. What was used lately and what only came lately part here. At most `most` accesses; returns how many. */
static uint32_t cycle(uint16_t *to, uint32_t most, const struct policy_plan *p, struct rng *r)
{
	uint16_t line[POLICY_SLOTS] = {0};
	uint32_t n = 0, fresh = p->lines - p->ways;

	fresh = fresh < (p->ways + 3) / 4 ? fresh : (p->ways + 3) / 4;
	for (unsigned i = 0; i < p->lines; i++) {
		unsigned k = (unsigned)rng_below(r, i + 1);
		line[i] = line[k];
		line[k] = (uint16_t)i;
	}
	for (unsigned i = 0; i < p->ways && n < most; i++)
		to[n++] = line[i];
	for (unsigned i = 0; i < (p->ways + 1) / 2 && n < most; i++)
		to[n++] = line[rng_below(r, p->ways)];
	for (unsigned i = 0; i < fresh && n < most; i++)
		to[n++] = line[p->ways + i];
	for (unsigned i = p->ways; i > 0; i--) {
		unsigned k = (unsigned)rng_below(r, i);
		uint16_t is = line[k];
		line[k] = line[i - 1];
		line[i - 1] = is;
	}
	for (unsigned i = 0; i < p->ways && n < most; i++)
		to[n++] = line[i];
	return n;
}

bool policy_sequence(struct arena *a, const struct policy_plan *p, struct policy_sequence *q)
{
	uint32_t head = TRACE_LEAD + FITS_LAPS * p->ways + MORE_LAPS * p->lines, n = 0;
	struct rng r;

	*q = (struct policy_sequence){.from = head};
	if (p->kind == POLICY_ROUNDS) {
		q->body = 6 * p->ways < BODY_LEAST ? BODY_LEAST : 6 * p->ways > BODY_MOST ? BODY_MOST : 6 * p->ways;
		q->prefix = PREFIX_LAPS * p->lines;
		q->rounds = p->length > head ? (p->length - head) / (q->prefix + q->body) : 0;
		q->rounds = q->rounds > ROUNDS_MOST ? ROUNDS_MOST : q->rounds < ROUNDS_LEAST ? ROUNDS_LEAST : q->rounds;
		q->count = head + q->rounds * (q->prefix + q->body);
	} else {
		q->count = head + p->length;
	}
	q->line = ARENA_ARRAY(a, q->count, uint16_t);
	if (!q->line)
		return false;
	for (uint32_t i = 0; i < TRACE_LEAD; i++)
		q->line[n++] = 0;
	for (uint32_t i = 0; i < FITS_LAPS * p->ways; i++)
		q->line[n++] = (uint16_t)(i % p->ways);
	q->fits_from = n - FITS_LAPS / 2 * p->ways;
	q->fits_to = q->more_from = n;
	for (uint32_t i = 0; i < MORE_LAPS * p->lines; i++)
		q->line[n++] = (uint16_t)(i % p->lines);
	q->more_to = n;
	rng_seed(&r, p->seed + 1);
	for (uint32_t round = 0; round < q->rounds; round++) {
		for (uint32_t i = 0; i < q->prefix; i++)
			q->line[n++] = (uint16_t)(i % p->lines);
		for (uint32_t to = n + q->body; n < to;)
			n += cycle(q->line + n, to - n, p, &r);
	}
	for (; n < q->count; n++) /* never the same again: that says nothing */
		q->line[n] = (uint16_t)(p->seed ? (q->line[n - 1] + 1 + rng_below(&r, p->ways)) % (p->ways + 1)
						: (n - head) % (p->ways + 1));
	return true;
}

/* States that a rule may be in before a round. nru goes round the ways, so that the laps leave it anywhere on its way. */
static unsigned variants_of(enum rule r, unsigned ways)
{
	return r == RULE_NRU ? 2 * (ways - 1) : 4;
}

static void begin(struct rule_set *s, enum rule r, unsigned ways, unsigned variant)
{
	rule_start(s, r, ways, r == RULE_NRU ? 0 : variant);
	for (unsigned i = 0; r == RULE_NRU && i < ways + variant; i++)
		rule_access(s, POLICY_SLOTS + i);
}

/* What one round would be under one rule. hit[body] is filled. */
static void simulate(const struct policy_sequence *q, uint32_t round, enum rule r, unsigned ways, bool *hit)
{
	uint32_t from = q->from + round * (q->prefix + q->body), to = from + q->prefix + q->body;
	struct rule_set s;

	begin(&s, r, ways, 0);
	for (uint32_t i = from; i < to; i++) {
		bool is = rule_access(&s, q->line[i]);
		if (i >= from + q->prefix)
			hit[i - from - q->prefix] = is;
	}
}

/* How far apart the least different two of the rules in `left` are, over the first rounds. */
static uint32_t apart(const struct policy_level *l, const struct policy_sequence *q, unsigned left)
{
	bool hit[RULES][BODY_MOST] = {{false}};
	uint32_t least = UINT32_MAX;

	for (unsigned a = 0; a < RULES; a++)
		for (unsigned b = 0; b < a; b++) {
			uint32_t differ = 0;
			if (!(left >> a & 1) || !(left >> b & 1))
				continue;
			for (uint32_t round = 0; round < 3; round++) {
				simulate(q, round, a, l->ways, hit[a]);
				simulate(q, round, b, l->ways, hit[b]);
				for (uint32_t i = 0; i < q->body; i++)
					differ += hit[a][i] != hit[b][i];
			}
			least = differ < least ? differ : least;
		}
	return least;
}

/* Beside the rules: nothing is ever replaced, and all that missed was taken by others or is late. */
enum { NEVER = RULES, ALL_RULES };

/* What the rounds of one trace say of each rule; beyond: those that it explains and the other one does not. */
struct tally {
	uint32_t rounds, explained[ALL_RULES], beyond[ALL_RULES][ALL_RULES];
	uint32_t hits, misses;
};

/* Accesses of a round, from `from` on, that were otherwise than the rule says in such a state, counted until they are more than `most`. So many
 * hits may be slow for another reason; misses are never fast. */
static uint32_t contradictions(const struct policy_sequence *q, uint32_t from, uint32_t body, struct rule_set s,
			       const uint8_t *seen, uint32_t most, uint32_t slow)
{
	uint32_t wrong = 0;

	for (uint32_t i = from; i < body + q->body && wrong <= most; i++) {
		bool hit = seen[i] == TRACE_ABOVE || rule_access(&s, q->line[i]);
		if (i >= body && seen[i] == TRACE_MISS && hit && slow)
			slow--;
		else
			wrong += i >= body && ((seen[i] == TRACE_HIT && !hit) || (seen[i] == TRACE_MISS && hit));
	}
	return wrong;
}

/* Moves a rule on, over what reached the level. */
static void move_on(struct rule_set *s, const struct policy_sequence *q, const uint8_t *seen, uint32_t from,
		    uint32_t to)
{
	for (uint32_t i = from; i < to; i++)
		if (seen[i] != TRACE_ABOVE)
			rule_access(s, q->line[i]);
}

/* How many of as many accesses as `sure` may look like misses and be none, as often as that came up where all fit. */
static uint32_t slow_hits(const struct policy_sequence *q, const uint8_t *seen, uint32_t sure)
{
	uint32_t missed = 0, n = q->fits_to - q->fits_from;

	for (uint32_t i = q->fits_from; i < q->fits_to; i++)
		missed += seen[i] == TRACE_MISS;
	return missed ? stat_binomial_limit(sure, fmin(SLOW_MOST, (missed + 1.0) / n), SLOW_CHANCE) : 0;
}

/* Whether a rule explains a round, from some state that it may begin in, or from the state that the rounds before left.
 * Laps alone do not bring every rule into a known state. */
static bool explains(const struct policy_level *l, const struct policy_sequence *q, uint32_t round, enum rule r,
		     const struct rule_set *left, const uint8_t *seen, uint32_t sure)
{
	const uint32_t most = (uint32_t)(EXPLAINED * sure), slow = slow_hits(q, seen, sure),
		       start = q->from + round * (q->prefix + q->body), body = start + q->prefix;
	/* If nothing hits, the laps only move it on, and the variants are all the places where it may be then. */
	const uint32_t from = r == RULE_NRU && l->lines >= 2 * l->ways ? body - l->lines : start;
	struct rule_set s;

	for (unsigned v = 0; v < variants_of(r, l->ways); v++) {
		if (r == RULE_NRU && v)
			rule_access(&s, POLICY_SLOTS + l->ways + v - 1);
		else
			begin(&s, r, l->ways, v);
		if (contradictions(q, from, body, s, seen, most, slow) <= most)
			return true;
	}
	return contradictions(q, start, body, *left, seen, most, slow) <= most;
}

static void judge_trace(const struct policy_level *l, const struct policy_sequence *q, const uint8_t *seen,
			struct tally *t)
{
	struct rule_set left[RULES];

	for (unsigned r = 0; r < RULES; r++) {
		begin(&left[r], r, l->ways, 0);
		move_on(&left[r], q, seen, 0, q->from);
	}
	for (uint32_t round = 0; round < q->rounds; round++) {
		const uint32_t start = q->from + round * (q->prefix + q->body), from = start + q->prefix;
		uint32_t sure = 0, hits = 0;
		for (uint32_t i = 0; i < q->body; i++) {
			sure += seen[from + i] == TRACE_HIT || seen[from + i] == TRACE_MISS;
			hits += seen[from + i] == TRACE_HIT;
		}
		/* Too little of it reached the level. */
		const bool tells = sure >= SURE_LEAST && sure >= q->body / 8 && hits && hits != sure;
		t->rounds += tells;
		t->hits += tells ? hits : 0;
		t->misses += tells ? sure - hits : 0;
		bool is[ALL_RULES] = {false};
		is[NEVER] = tells && sure - hits <= (uint32_t)(EXPLAINED * sure) + slow_hits(q, seen, sure);
		t->explained[NEVER] += is[NEVER];
		for (unsigned r = 0; r < RULES; r++) {
			if (!rule_applies(r, l->ways))
				continue;
			is[r] = tells && explains(l, q, round, r, &left[r], seen, sure);
			t->explained[r] += is[r];
			move_on(&left[r], q, seen, start, from + q->body);
		}
		for (unsigned r = 0; r < ALL_RULES; r++)
			for (unsigned other = 0; other < ALL_RULES; other++)
				t->beyond[r][other] += is[r] && !is[other];
	}
}

static void add_counts(uint32_t *to, const uint32_t *by, size_t n)
{
	for (size_t i = 0; i < n; i++)
		to[i] += by[i];
}

/* Each pass looks at the same traces again: what they say is kept for the passes to come. */
static void judge(const struct policy_level *l, const struct policy_plan *p, const struct policy_sequence *q,
		  const uint8_t *seen, struct tally *t)
{
	const size_t bytes = sizeof(*p) + q->count;
	char *key = ARENA_ARRAY(study_arena(l->study), bytes, char);
	const struct tally *before = NULL;
	struct tally one = {0};

	if (key) {
		memcpy(key, p, sizeof(*p));
		memcpy(key + sizeof(*p), seen, q->count);
		before = study_recall(l->study, "rounds", key, bytes);
	}
	if (!before) {
		judge_trace(l, q, seen, &one);
		before = &one;
		if (key)
			study_keep(l->study, "rounds", key, bytes, &one, sizeof(one));
	}
	add_counts((uint32_t *)t, (const uint32_t *)before, sizeof(*t) / sizeof(uint32_t));
}

/* Whether one rule explains many rounds that each other one does not, while those explain hardly any that it does not.
 * Strangers may write into the set so often that late hits pass for misses. In some rounds these are as many as tell
 * rules apart. */
static bool outdoes(const struct tally *t, unsigned rule)
{
	for (unsigned r = 0; r < ALL_RULES; r++)
		if (r != rule && (r != NEVER || t->explained[r]) &&
		    (t->beyond[rule][r] < ALONE_LEAST || t->beyond[rule][r] < OUTDOES * t->beyond[r][rule]))
			return false;
	return t->explained[rule] >= SEVERAL * t->rounds;
}

/* apart: lines are not alike, and hits need not be of one latency. */
static bool classify(const struct trace_level *known, const struct policy_sequence *q, const uint32_t *ticks,
		     bool apart, struct trace_classes *c)
{
	const struct trace_part nearest = {ticks + TRACE_LEAD / 2, TRACE_LEAD / 2},
				fits = {ticks + q->fits_from, q->fits_to - q->fits_from},
				laps = {ticks + q->more_from, q->more_to - q->more_from},
				more = {ticks + q->more_from, (q->rounds ? q->more_to : q->count) - q->more_from},
				all = {ticks + TRACE_LEAD, q->count - TRACE_LEAD};

	if (apart)
		return trace_classify_apart(c, known, fits, more, all);
	/* Few accesses of a ring may miss, and parts of what lies behind the level have a few of those each. More
	 * accesses miss in the laps before the ring. */
	return trace_classify(c, known, nearest, fits, more, all) ||
	       (!q->rounds && trace_classify(c, known, nearest, fits, laps, all));
}

bool policy_classify(const struct trace_level *known, const struct policy_sequence *q, const uint32_t *ticks,
		     struct trace_classes *c)
{
	return classify(known, q, ticks, false, c);
}

/* The first access but those that do not count is one to the page before, which the nearest level has: once is not enough. */
void policy_same_part(const struct trace_level *known, double spread, const struct policy_sequence *q, uint32_t *ticks)
{
	const double near = PART_NEAR + known->grain;
	uint32_t once[LINES], least[LINES], first = UINT32_MAX;

	if (!(spread > 2 * near) || fabs(known->below - spread) <= 2 * near)
		return;
	memset(once, 0xff, sizeof(once));
	memset(least, 0xff, sizeof(least));
	for (uint32_t i = TRACE_LEAD; i < q->count; i++) {
		const uint16_t n = q->line[i];
		if (ticks[i] >= least[n])
			continue;
		least[n] = ticks[i] < once[n] ? once[n] : ticks[i];
		once[n] = ticks[i] < once[n] ? ticks[i] : once[n];
	}
	for (uint32_t n = 0; n < LINES; n++)
		first = least[n] < first ? least[n] : first;
	for (uint32_t i = 0; i < q->count; i++)
		if (fabs(least[q->line[i]] - (first + spread)) <= near)
			ticks[i] = ticks[i] > spread ? ticks[i] - (uint32_t)lround(spread) : 0;
}

uint8_t *policy_classes(const struct policy_level *l, const struct policy_plan *p, struct policy_sequence *q,
			struct policy_result *out)
{
	struct arena *a = study_arena(l->study);
	struct trace_classes c;
	uint32_t *ticks;

	out->state = CHASE_UNDECIDED;
	snprintf(out->seen, sizeof(out->seen), "out of memory");
	if (!q->line && !policy_sequence(a, p, q))
		return NULL;
	out->state = l->ask(l->ctx, p, q, &ticks, out->seen, sizeof(out->seen));
	if (out->state != CHASE_DONE)
		return NULL;
	out->state = CHASE_UNDECIDED;
	uint8_t *seen = ARENA_ARRAY(a, q->count, uint8_t);
	if (!seen)
		return NULL;
	policy_same_part(&l->known, l->parts, q, ticks);
	if (!classify(&l->known, q, ticks, l->apart, &c)) {
		out->hidden = true;
		snprintf(out->seen, sizeof(out->seen),
			 "%u lines of one set are no slower than %u: the level above may keep them", l->lines, l->ways);
		return NULL;
	}
	if (l->others)
		c.late = TRACE_UNSURE;
	for (uint32_t i = 0; i < q->count; i++)
		seen[i] = (uint8_t)trace_class_of(&c, ticks[i]);
	return seen;
}

static struct policy_plan next_plan(const struct policy_level *l, unsigned left, uint32_t ask)
{
	const uint32_t key[] = {l->ways, l->lines, l->most, left, ask};
	const struct policy_plan *before = study_recall(l->study, "plan", key, sizeof(key));
	struct policy_plan best = {0};
	uint32_t widest = 0;

	if (before)
		return *before;
	for (uint32_t k = 0; k < SEEDS; k++) {
		struct policy_plan p = {POLICY_ROUNDS, l->ways, l->lines, ask * SEEDS + k, l->most};
		struct policy_sequence q;
		if (!k)
			best = p;
		if (!policy_sequence(study_arena(l->study), &p, &q))
			return best;
		uint32_t is = apart(l, &q, left);
		if (is != UINT32_MAX && is > widest) {
			widest = is;
			best = p;
		}
	}
	study_keep(l->study, "plan", key, sizeof(key), &best, sizeof(best));
	return best;
}

static void names(char *out, size_t n, unsigned left)
{
	size_t at = 0;

	out[0] = '\0';
	for (unsigned r = 0; r < RULES && at < n; r++)
		if (left >> r & 1)
			at += (size_t)snprintf(out + at, n - at, "%s%s", at ? ", " : "", rule_name(r));
}

/* Whether hits of a level above that keeps these lines are seen to be faster than this level's own. */
static bool told_by_speed(const struct policy_level *l)
{
	return !l->apart && isfinite(l->known.deep) && l->known.above > 2 * (PART_NEAR + l->known.grain);
}

/* By the same traces: hits as hits of one latency. */
static void infer_by(const struct policy_level *l, struct policy_result *out)
{
	unsigned left = 0;
	struct tally t = {0};
	char text[64];

	*out = (struct policy_result){.state = CHASE_UNDECIDED, .ways = l->ways};
	/* A level that is asked only what the one above misses goes by the order in which that one takes lines in.
	 * Behind a first in, first out level, a least recently used one is first in, first out, too. No sequence tells
	 * them apart. */
	if (l->kept && !told_by_speed(l)) {
		out->hidden = true;
		snprintf(out->seen, sizeof(out->seen),
			 "the level above may keep %u lines of one set, and its hits are not told from this one's. The "
			 "rule seen may be its own",
			 l->ways);
		return;
	}
	for (unsigned r = 0; r < RULES; r++)
		left |= (unsigned)rule_applies(r, l->ways) << r;
	for (unsigned ask = 0, asks = ASKS; ask < asks; ask++) {
		struct policy_plan p = next_plan(l, left, ask);
		struct policy_sequence q = {0};
		uint8_t *seen = policy_classes(l, &p, &q, out);
		if (!seen)
			return;
		judge(l, &p, &q, seen, &t);
		if (t.rounds < ROUNDS_LEAST)
			continue;
		unsigned right = 0, last = 0, others = t.explained[NEVER];
		for (unsigned r = 0; r < RULES; r++) {
			if (!rule_applies(r, l->ways))
				continue;
			right += t.explained[r] >= RIGHT * t.rounds;
			last = t.explained[r] > t.explained[last] || !rule_applies(last, l->ways) ? r : last;
			if (t.explained[r] <= WRONG * t.rounds)
				left &= ~(1u << r);
		}
		for (unsigned r = 0; r < RULES; r++)
			others = r != last && t.explained[r] > others ? t.explained[r] : others;
		/* A round is over a hundred accesses: chance does not make one go by a rule. In the rest somebody else wrote into the set, or
		 * they began in a state that no variant is. */
		const bool alone = (t.explained[last] >= ALONE_LEAST && t.explained[last] >= ALONE * t.rounds &&
				    others <= NONE * t.rounds) ||
				   outdoes(&t, last);
		/* If many accesses may be either, another rule explains what those leave open, and yet nothing
		 * contradicts this one. */
		const bool all =
		    t.rounds >= ALONE_LEAST && t.explained[last] >= ALL * t.rounds && others <= HALF * t.rounds;
		/* A rule has to say more than that nothing is replaced. */
		const bool told = right == 1 && !(left & (left - 1)) && t.explained[NEVER] <= WRONG * t.rounds;
		if (told || alone || all) {
			out->state = CHASE_DONE;
			out->name = rule_name(last);
			snprintf(out->seen, sizeof(out->seen),
				 "explains %u of %u rounds of accesses to one set, %u hits and %u misses; no other "
				 "rule explains more than %s",
				 t.explained[last], t.rounds, t.hits, t.misses,
				 told || others <= WRONG * t.rounds ? "a quarter" : "half of them");
			return;
		}
		if (!left && l->apart)
			break;
		/* One is left that explains as much as where others write into the set, but of too few rounds. */
		if (left && !(left & (left - 1)) && left >> last & 1 && t.explained[last] >= SEVERAL * t.rounds)
			asks = ASKS_MORE;
		if (!left)
			return policy_draws(l, out);
	}
	out->state = CHASE_UNDECIDED;
	names(text, sizeof(text), left);
	out->hidden = t.rounds < ROUNDS_LEAST;
	if (out->hidden)
		snprintf(out->seen, sizeof(out->seen),
			 "the level above answers most accesses to one set: only %u rounds of them tell", t.rounds);
	else if (!left)
		snprintf(out->seen, sizeof(out->seen), "of %u rounds of accesses to one set some contradict each rule",
			 t.rounds);
	else
		snprintf(out->seen, sizeof(out->seen), "of %u rounds of accesses to one set too few tell; %s remain",
			 t.rounds, text);
}

/* What hits take once, and as pages whose lines are not alike. */
void policy_infer(const struct policy_level *l, struct policy_result *out)
{
	struct policy_level again = *l;
	struct policy_result other;

	infer_by(l, out);
	if (out->state == CHASE_UNDECIDED && l->others && !l->apart) {
		again.apart = true;
		infer_by(&again, &other);
		*out = other.state != CHASE_UNDECIDED ? other : *out;
	}
}
