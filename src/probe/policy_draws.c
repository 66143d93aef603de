/* Victims that are drawn. In laps over one line more than fits, exactly one is missing, so each miss tells which line
 * the miss before it replaced. The line that missed takes that one's place. Every line's way is therefore known, up to
 * the ways' names. */
#include "base/arena.h"
#include "judge/house.h"
#include "probe/policy.h"
#include "stat/stat.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BEAM	     24
#define DRAWS_LEAST  64u
#define DRAWS_WANTED 4000.0 /* chances are then within 0.03 */
#define DETECT	     0.015  /* variance of the ways' chances, as a share of the mean squared, that may not go unseen */
#define ALWAYS	     0.9    /* chance that two victims are of one way, from which they are no draws */
#define EVEN	     2.5
#define CHOSEN	     1.3863 /* 2 log 2: so much more unequal may the better of two readings be by luck, as a sum of squares */
#define PARTS_MOST   8u
#define PARTS_HELD   64u  /* the same where ways lose their names */
#define PIECE_LEAST  8u	  /* draws of each way, in which those that depend on the ones before still show */
#define NAMES_HOLD   0.5  /* of the ways may have lost theirs */
#define NAMES_TAKEN  6.0  /* the part of the ways that lose theirs while one line of others is there */
#define VISITED	     0.5  /* of the time, from which on it is not one line that is missing */
#define PART_LEAST   8u	  /* draws of each way */
#define LATE	     0.05 /* of the misses may come later than the laps allow */
#define LONGER	     4	  /* times as long a ring where one does not tell */
#define ABOVE	     0.02 /* of the accesses: where the level above answers more of them, what is missing may be met late */
#define SWAPS	     0.1 /* unsure accesses, as a share of the draws */

/* One way to read the trace: accesses that could be either are taken as hits or as misses. */
struct reading {
	double score;		     /* log of the chance of its draws, whatever the ways' chances are */
	uint16_t way[RULE_WAYS + 1]; /* of each line */
	uint32_t count[RULE_WAYS];
	uint32_t draws, late, since; /* since: accesses since the last miss */
	uint16_t last;		     /* the line that missed last */
	bool begun;
	uint32_t newest;  /* its last draw, of the readings' common list; NO_DRAW: none */
	uint32_t missed;  /* accesses to the set when it missed last */
	bool above;	  /* the level above answered since the last miss */
	double way_round; /* of `rounds` draws: accesses from a miss to the next one */
	uint32_t rounds;
	/* Of each draw, when all is read: which way, and accesses to the set until then. */
	uint16_t *victim;
	uint32_t *turn;
};

#define NO_DRAW UINT32_MAX

/* Readings that part have all draws before that in common. */
struct draw_list {
	struct draw {
		uint32_t before, turn; /* before: NO_DRAW where it is the first */
		uint16_t way;
	} * draw;
	uint32_t count, cap;
	bool failed; /* out of memory */
};

static void add_draw(struct draw_list *d, struct reading *r, uint16_t way)
{
	if (d->count == d->cap && !d->failed) {
		const uint32_t cap = d->cap ? 2 * d->cap : 1024;
		struct draw *grown = cap < NO_DRAW / 2 ? mem_grow(d->draw, cap * sizeof(*grown)) : NULL;
		d->failed = !grown;
		d->draw = grown ? grown : d->draw;
		d->cap = grown ? cap : d->cap;
	}
	if (d->failed)
		return;
	d->draw[d->count] = (struct draw){r->newest, r->missed, way};
	r->newest = d->count++;
	r->draws++;
}

static void miss(struct reading *r, struct draw_list *d, uint16_t line, unsigned ways, uint32_t turn)
{
	if (!r->begun) {
		/* All others are somewhere. */
		for (unsigned k = 0, w = 0; k <= ways; k++)
			if (k != line)
				r->way[k] = (uint16_t)w++;
		r->begun = true;
	} else if (line != r->last) {
		uint16_t way = r->way[line];
		r->score += log((r->count[way] + 1.0) / (r->draws + ways));
		r->count[way]++;
		add_draw(d, r, way);
		r->way[r->last] = way;
		if (!r->above && r->since <= ways) {
			r->way_round += r->since;
			r->rounds++;
		}
	}
	r->late += r->since > ways;
	r->since = 0;
	r->above = false;
	r->missed = turn;
	r->last = line;
}

static unsigned worst(const struct reading *r, unsigned n)
{
	unsigned k = 0;
	for (unsigned i = 1; i < n; i++)
		if (r[i].score < r[k].score)
			k = i;
	return k;
}

/* Lays the draws of a reading out in order. False: out of memory. */
static bool lay_out(struct arena *a, const struct draw_list *d, struct reading *r)
{
	uint32_t i = r->draws, at = r->newest;

	r->victim = ARENA_ARRAY(a, r->draws + 1, uint16_t);
	r->turn = ARENA_ARRAY(a, r->draws + 1, uint32_t);
	if (!r->victim || !r->turn)
		return false;
	for (; i > 0 && d->draw; at = d->draw[at].before) {
		r->victim[--i] = d->draw[at].way;
		r->turn[i] = d->draw[at].turn;
	}
	return true;
}

/* The likeliest reading, or NULL: out of memory. */
static struct reading *read_ring(struct arena *a, const struct policy_sequence *q, const uint8_t *seen, unsigned ways,
				 uint32_t *unsure)
{
	struct reading *r = ARENA_ARRAY(a, BEAM, struct reading);
	struct draw_list list = {.failed = !r};
	unsigned n = 1, best = 0;
	uint32_t turn = 0;

	if (r)
		r[0].newest = NO_DRAW;
	for (uint32_t i = q->from; !list.failed && i < q->count; i++) {
		unsigned before = n;
		/* What the level above answers may be the line that is missing: it is met again a lap later. */
		for (unsigned k = 0; seen[i] == TRACE_ABOVE && k < before; k++) {
			r[k].since = 0;
			r[k].above = true;
		}
		if (seen[i] == TRACE_ABOVE)
			continue;
		*unsure += seen[i] == TRACE_UNSURE;
		turn++;
		for (unsigned k = 0; k < before; k++) {
			r[k].since++;
			if (seen[i] == TRACE_MISS)
				miss(&r[k], &list, q->line[i], ways, turn);
			if (seen[i] != TRACE_UNSURE || !r[k].begun)
				continue;
			unsigned to = n < BEAM ? n++ : worst(r, n);
			if (to == k)
				continue;
			r[to] = r[k];
			miss(&r[to], &list, q->line[i], ways, turn);
		}
	}
	for (unsigned k = 1; !list.failed && k < n; k++)
		best = r[k].score > r[best].score ? k : best;
	const bool ok = !list.failed && lay_out(a, &list, &r[best]);
	mem_free(list.draw);
	return ok ? &r[best] : NULL;
}

/* A sum of squares of `free` differences, in standard deviations of what chance makes (Wilson and Hilferty). */
static double deviations_of(double chi, double free)
{
	double part = 2.0 / (9.0 * free);
	return (cbrt(chi / free) - (1 - part)) / sqrt(part);
}

/* How unequal shares are. Of all readings that `unsure` accesses allow, the one with the most unequal ways was taken.
 * So often the better of two may have been chosen. */
struct unequal {
	double seen, least; /* standard deviations; least: without what that choice may have made of it */
};

static struct unequal unequal_by(double chi, double free, uint32_t unsure)
{
	return (struct unequal){deviations_of(chi, free), deviations_of(fmax(0, chi - CHOSEN * unsure), free)};
}

/* Of the ways' counts. */
static struct unequal of_all(const struct reading *r, unsigned ways, uint32_t unsure)
{
	double each = (double)r->draws / ways, chi = 0;

	for (unsigned w = 0; w < ways; w++)
		chi += pow(r->count[w] - each, 2) / each;
	return unequal_by(chi, ways - 1, unsure);
}

/* How often a line of others came into the set. While one is there, two lines of the ring are missing instead of one.
 * The next miss comes after a third of the way round then, and not after half of it. The stranger stays for about as
 * many draws as there are ways. Without one, a line that was drawn is anywhere on the way round. What came last is in a
 * way that is drawn more often, and is rather at the end. */
static double visits(const struct reading *r, unsigned ways)
{
	const double half = (ways + 1) / 2.0, third = (ways + 1) / 3.0,
		     mean = r->rounds ? r->way_round / r->rounds : half;
	return fmax(0, fmin(1, (half - mean) / (half - third))) * r->draws / ways;
}

/* Draws in a row over which half of the ways keep their names. A hit read as a miss changes two of them, and so does a
 * miss read as a hit. While another's line is there, two lines are missing, and each is read to be in the other's
 * place. This changes more names, the more ways there are. */
static double names_hold(const struct reading *r, unsigned ways, uint32_t unsure)
{
	const double changes = r->late + unsure + visits(r, ways) * fmax(1, ways / NAMES_TAKEN);

	return changes > 0 ? fmin(r->draws, r->draws / changes * NAMES_HOLD * ways) : r->draws;
}

/* How many of so many pairs of victims, each of one piece of the draws, would be of one way whatever was drawn before. Ways lose their names now
 * and then, and shares of all draws are more even than those of pieces in which they hold. */
static double expected_same(const struct reading *r, unsigned ways, uint32_t piece, unsigned lag)
{
	double all = 0;

	for (uint32_t from = 0; from < r->draws; from += piece) {
		const uint32_t to = from + 2 * piece > r->draws ? r->draws : from + piece, n = to - from;
		uint32_t count[RULE_WAYS] = {0};
		double same = 0;
		for (uint32_t i = from; i < to; i++)
			count[r->victim[i]]++;
		for (unsigned w = 0; w < ways; w++)
			same += (double)count[w] * (count[w] - 1.0);
		all += same / (n * (n - 1.0)) * (from ? n : n - lag);
		if (to == r->draws)
			break;
	}
	return all;
}

/* Draws that depend on those before them are no draws. Returns the distance at which they do, 0 = none. */
static unsigned repeats(const struct reading *r, unsigned ways, uint32_t unsure)
{
	const double held = fmax(names_hold(r, ways, unsure), PIECE_LEAST * ways);
	const uint32_t piece = held < r->draws ? (uint32_t)held : r->draws;
	double same = 0;

	for (unsigned w = 0; w < ways; w++)
		same += pow((double)r->count[w] / r->draws, 2);
	if (same > ALWAYS)
		return 1;
	for (unsigned lag = 1; lag <= 2 * ways + 2 && lag < r->draws / 2; lag++) {
		const double usual = expected_same(r, ways, piece, lag);
		double equal = 0;
		for (uint32_t i = lag; i < r->draws; i++)
			equal += r->victim[i] == r->victim[i - lag];
		if (fabs(equal - usual) > 5 * sqrt(usual * (1 - same)) + 2)
			return lag;
	}
	return 0;
}

/* The least variance of the ways' chances, as a share of the mean squared, that so many draws do not leave unseen. */
static double detectable(const struct reading *r, unsigned ways, uint32_t unsure)
{
	return JUDGE_SIGMA_SURE * sqrt(2.0 * (ways - 1) / (r->draws * names_hold(r, ways, unsure)));
}

/* The same of parts of the trace, each by itself; and by how much their shares differ from the whole's: *between. What others write
 * into the set moves ways' names, and then the whole's counts are mixed. */
static struct unequal by_parts(const struct reading *r, unsigned ways, uint32_t unsure, double *between)
{
	unsigned parts = r->draws / (PART_LEAST * ways), held = (unsigned)(r->draws / names_hold(r, ways, unsure));
	double inside = 0, among = 0;

	held = held > PARTS_HELD ? PARTS_HELD : held;
	parts = parts < 2 ? 2 : parts > PARTS_MOST ? PARTS_MOST : parts;
	parts = parts < held ? held : parts;
	for (unsigned k = 0; k < parts; k++) {
		uint32_t count[RULE_WAYS] = {0}, from = (uint32_t)((uint64_t)r->draws * k / parts),
			 to = (uint32_t)((uint64_t)r->draws * (k + 1) / parts);
		for (uint32_t i = from; i < to; i++)
			count[r->victim[i]]++;
		for (unsigned w = 0; w < ways; w++) {
			double even = (double)(to - from) / ways,
			       usual = fmax(0.5, (double)r->count[w] * (to - from) / r->draws);
			inside += pow(count[w] - even, 2) / even;
			among += pow(count[w] - usual, 2) / usual;
		}
	}
	*between = deviations_of(among, (parts - 1.0) * (ways - 1));
	return unequal_by(inside, (double)parts * (ways - 1), unsure);
}

/* Lines of the ring that never missed. */
static unsigned never_missed(const struct policy_sequence *q, const uint8_t *seen, unsigned ways)
{
	bool missed[RULE_WAYS + 1] = {false};
	unsigned never = 0;

	for (uint32_t i = q->from; i < q->count; i++)
		if (seen[i] == TRACE_MISS)
			missed[q->line[i]] = true;
	for (unsigned k = 0; k <= ways; k++)
		never += !missed[k];
	return never;
}

#define WALK_EACH 40u /* victims for each way, at least */

/* Whether a list says which way goes. Lines of the ring, in any order, show every place of the list, with hits in
 * between and without. */
static enum chase_state scheduled_by(const struct policy_level *l, double length, struct policy_result *out)
{
	const unsigned ways = l->ways;
	struct policy_plan p = {POLICY_RING, ways, l->lines, 1, (uint32_t)length};
	struct policy_sequence q = {0};
	struct policy_result walk = {.ways = ways};
	uint32_t unsure = 0;
	uint8_t *seen = policy_classes(l, &p, &q, &walk);

	if (!seen)
		return walk.state;
	struct reading *r = read_ring(study_arena(l->study), &q, seen, ways, &unsure);
	if (!r)
		return CHASE_UNDECIDED;
	return policy_schedule(&(struct policy_victims){r->draws, r->victim, r->turn}, ways, out);
}

/* The same, and of a longer walk where others write into the set so often that none of it goes long without. */
static enum chase_state scheduled(const struct policy_level *l, struct policy_result *out)
{
	const double length = WALK_EACH * (l->ways + 12.0) * l->ways, most = l->most_ring;
	const enum chase_state state = scheduled_by(l, fmin(length, most), out);

	return state == CHASE_UNDECIDED ? scheduled_by(l, fmin(LONGER * length, LONGER * most), out) : state;
}

/* Draws that tell random from weighted. */
static double draws_needed(unsigned ways)
{
	return fmax(DRAWS_LEAST, JUDGE_SIGMA_SURE * sqrt(2.0 * (ways - 1)) / DETECT);
}

/* Whether the level above answered so many of the ring's accesses that victims were met out of turn. If that level
 * draws its own victims, it keeps some lines for long, whatever is read in between. */
static bool kept_above(const struct policy_sequence *q, const uint8_t *seen)
{
	uint32_t above = 0;

	for (uint32_t i = q->from; i < q->count; i++)
		above += seen[i] == TRACE_ABOVE;
	return above > ABOVE * (q->count - q->from);
}

/* The ways' chances: their shares of all draws, unless names get lost along those. */
static void conclude_weighted(const struct reading *r, unsigned ways, double between, struct policy_result *out)
{
	out->state = CHASE_DONE;
	out->name = "weighted";
	out->half = 0;
	out->mixed = between > JUDGE_SIGMA_SURE;
	for (unsigned w = 0; w < ways && w < VALUE_ARRAY_MAX; w++) {
		const double share = (double)r->count[w] / r->draws;
		out->half = fmax(out->half, 2 * sqrt(share * (1 - share) / r->draws));
		out->chance[w] = round(share * 1e4) / 1e4;
	}
}

/* By a ring of so many accesses. True: UNDECIDED, and more of them may tell. */
static bool draws(const struct policy_level *l, double length, struct policy_result *out)
{
	unsigned ways = l->ways;
	struct policy_plan p = {POLICY_RING, ways, l->lines, 0, (uint32_t)length};
	struct policy_sequence q = {0};
	uint32_t unsure = 0;
	uint8_t *seen = policy_classes(l, &p, &q, out);

	if (!seen)
		return false;
	out->state = CHASE_UNDECIDED;
	struct reading *r = read_ring(study_arena(l->study), &q, seen, ways, &unsure);
	if (!r)
		return CHASE_WHY(out->seen, "out of memory");
	if (r->draws < DRAWS_LEAST || r->draws < 4 * ways)
		return CHASE_WHY(
		    out->seen,
		    "no rule that always does the same explains one set, and only %u replaced lines were seen",
		    r->draws);
	unsigned lag = repeats(r, ways, unsure);
	struct policy_result list = {.ways = ways};
	if (lag || policy_schedule(&(struct policy_victims){r->draws, r->victim, r->turn}, ways, &list) == CHASE_DONE) {
		enum chase_state state = scheduled(l, out);
		if (state != CHASE_UNDECIDED) {
			out->state = state;
			return false;
		}
		lag = lag ? lag : 1;
	}
	out->hidden = kept_above(&q, seen);
	if (lag || r->late > LATE * r->draws || unsure > SWAPS * r->draws)
		return CHASE_WHY(
		    out->seen,
		    lag ? "a rule that none of those tried is: a victim says something of that %u misses later"
			: "victims could not be followed: %u of %u misses came when all lines were there, %u "
			  "accesses could be either",
		    lag ? lag : r->late, r->draws, unsure);
	if (visits(r, ways) * ways > VISITED * r->draws)
		return CHASE_WHY(
		    out->seen,
		    "misses come after %.3g accesses to %u lines of one set, as if more than one of them were "
		    "missing. Which way is which is not known",
		    r->way_round / r->rounds, ways + 1);
	double between;
	const struct unequal whole = of_all(r, ways, unsure), within = by_parts(r, ways, unsure, &between);
	const bool uneven = whole.least > JUDGE_SIGMA_SURE || within.least > JUDGE_SIGMA_SURE;
	const unsigned never = never_missed(&q, seen, ways);
	if (uneven && never) {
		/* A part of what lies behind the level may be so near that its few misses pass for late hits. */
		snprintf(out->seen, sizeof(out->seen),
			 "victims are drawn, but %u of %u lines never missed: a way is never given up, or what misses "
			 "there is answered faster than elsewhere",
			 never, ways + 1);
	} else if (uneven) {
		conclude_weighted(r, ways, between, out);
		snprintf(
		    out->seen, sizeof(out->seen),
		    "no rule explains one set; of %u replaced lines the ways' shares differ by more than chance, and "
		    "do not depend on one another",
		    r->draws);
	} else if (whole.seen < EVEN && within.seen < EVEN && between < JUDGE_SIGMA_SURE &&
		   detectable(r, ways, unsure) <= DETECT / 0.9) {
		out->state = CHASE_DONE;
		out->name = "random";
		snprintf(out->seen, sizeof(out->seen),
			 "no rule explains one set; of %u replaced lines each way has its share, whatever was replaced "
			 "before",
			 r->draws);
	} else {
		snprintf(out->seen, sizeof(out->seen),
			 "victims are drawn, but of %u it cannot be told whether evenly: random, weighted remain",
			 r->draws);
		return true;
	}
	return false;
}

void policy_draws(const struct policy_level *l, struct policy_result *out)
{
	const double length = 1.2 * fmax(draws_needed(l->ways), DRAWS_WANTED) * (l->ways / 2.0 + 1);

	if (draws(l, fmin(length, l->most_ring), out))
		draws(l, fmin(LONGER * length, LONGER * (double)l->most_ring), out);
}
