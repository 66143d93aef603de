/* Which tables of outstanding requests could have made a set of curves. */
#include "outstanding.h"
#include <math.h>
#include <stdio.h>

#define VISIBLE 0.55 /* of the latency: a jump that cannot be overlooked */
#define LATEST	0.85 /* of the time at which others jumped */
#define UNLIKE	0.4  /* of the latency: what a jump may differ by from what a full table makes */

/* Steps of a curve are counted as entries of a table. */
static unsigned entries_of(const struct study *s, const struct curve *c, unsigned n, bool mshr, unsigned merge)
{
	return mshr ? curve_entries(s, c, n, merge) : curve_instructions(s, c, n);
}

static void describe(char *out, size_t n, const struct curve *c)
{
	const unsigned threads = c->lanes ? c->lanes : c->group;
	snprintf(out, n, "%u load%s a thread, %u thread%s a line, answers from %s", c->loads, c->loads > 1 ? "s" : "",
		 threads, threads > 1 ? "s" : "", c->way->number == LATENCY_L2 ? "the L2" : "memory");
}

/* Entries of such a table, as far as the jumps say. False: they contradict each other, or there are none. */
static bool agree(const struct study *s, const struct curve *const *c, unsigned count, struct table *t, unsigned merge)
{
	char where[96];
	unsigned jumps = 0;

	t->lo = 1;
	t->hi = UINT32_MAX;
	for (unsigned k = 0; k < count; k++) {
		if (c[k]->state != CHASE_DONE || !c[k]->jumps || c[k]->weak)
			continue;
		/* A line for which several entries are missing may wait for them, or come with the first of them. */
		const unsigned n = c[k]->fits, less = entries_of(s, c[k], n - 1, t->mshr, merge) + 1,
			       fit = entries_of(s, c[k], n, t->mshr, merge), least = t->mshr && less < fit ? less : fit,
			       full = entries_of(s, c[k], n + 1, t->mshr, merge);
		describe(where, sizeof where, c[k]);
		jumps++;
		if (fit == full || least > t->hi || full - 1 < t->lo) {
			if (fit == full)
				snprintf(t->why, sizeof t->why, "a jump where it would be no fuller (%s)", where);
			else
				snprintf(t->why, sizeof t->why, "a jump at %u where %u to %u are expected (%s)", fit,
					 t->lo, t->hi, where);
			return false;
		}
		t->lo = least > t->lo ? least : t->lo;
		t->hi = full - 1 < t->hi ? full - 1 : t->hi;
		/* A table that is full waits for its first answer: for what is left of its latency, or longer when answers queue. */
		const double height = c[k]->after - c[k]->before, latency = c[k]->way->latency;
		if (height < c[k]->expected - UNLIKE * latency) {
			snprintf(t->why, sizeof t->why,
				 "a jump of %.0f cycles where a full table makes one of %.0f (%s)", height,
				 c[k]->expected, where);
			return false;
		}
	}
	if (!jumps)
		snprintf(t->why, sizeof t->why, "no curve jumps");
	return jumps > 0;
}

/* The latest that a curve by this way jumped, in cycles after its first step. */
static double latest_jump(const struct curve *const *c, unsigned count, const struct way *w)
{
	double latest = -INFINITY;

	for (unsigned k = 0; k < count; k++)
		if (c[k]->way == w && c[k]->state == CHASE_DONE && c[k]->jumps && !c[k]->weak)
			latest = fmax(latest, c[k]->before - c[k]->cycles[0]);
	return latest;
}

/* Whether a curve without a jump would have had one. It could not be overlooked where much of the latency is left, or where
 * others that had taken as long did jump. */
static bool missed(const struct study *s, const struct curve *c, struct table *t, unsigned merge, double latest)
{
	char where[96];
	const unsigned end = c->at[c->count - 1];

	if (c->state != CHASE_DONE || c->jumps || c->steep)
		return false;
	for (unsigned n = 1; n < end; n++) {
		if (entries_of(s, c, n, t->mshr, merge) < t->hi || entries_of(s, c, n + 1, t->mshr, merge) <= t->hi)
			continue;
		const double taken = curve_cycles(c, n) - c->cycles[0];
		if (taken > (1 - VISIBLE) * c->way->latency - c->way->spread && !(t->mshr && taken <= LATEST * latest))
			return false;
		describe(where, sizeof where, c);
		snprintf(t->why, sizeof t->why, "no jump where %u entries would be full (%s)", t->hi, where);
		return true;
	}
	return false;
}

static bool stands(const struct study *s, const struct curve *const *c, unsigned count, struct table *t, unsigned merge)
{
	if (!agree(s, c, count, t, merge))
		return false;
	for (unsigned k = 0; k < count; k++)
		if (missed(s, c[k], t, merge, latest_jump(c, count, c[k]->way)))
			return false;
	return true;
}

void table_eliminate(const struct study *s, const struct curve *const *c, unsigned count, struct table *mshr,
		     struct table *prt)
{
	*prt = (struct table){.possible = true};
	*mshr = (struct table){.mshr = true};
	prt->possible = stands(s, c, count, prt, 1);
	struct table one = *mshr;
	for (unsigned merge = MERGE_ANY; merge >= 1; merge--) {
		if (!stands(s, c, count, &one, merge)) {
			if (!mshr->possible && merge == MERGE_ANY)
				snprintf(mshr->why, sizeof mshr->why, "%.199s", one.why);
			continue;
		}
		if (!mshr->possible) {
			mshr->lo = one.lo;
			mshr->hi = one.hi;
			mshr->merge_lo = mshr->merge_hi = merge;
			mshr->possible = true;
		}
		mshr->lo = one.lo < mshr->lo ? one.lo : mshr->lo;
		mshr->hi = one.hi > mshr->hi ? one.hi : mshr->hi;
		mshr->merge_lo = merge;
	}
}
