/* Levels that a row of lines does not tell. Some have one set. In others the loop, and what is fetched ahead, take
 * lines of many sets. */
#include "code_ring.h"
#include <stdio.h>

#define PLACES	8    /* groups of sets that are asked */
#define AGREE	0.5  /* of the groups hold as many lines of each set; the loop has lines in those that hold fewer */
#define ALL	0.95 /* of the jumps: all of them */
#define PARTLY	0.5  /* and most */
#define RUNNING 2    /* lines of the loop that are sure to be in each lap */

static enum code_state unknown(struct code_fact *f, const char *why)
{
	f->known = false;
	snprintf(f->why, sizeof f->why, "%s", why);
	return CODE_MISSING;
}

static struct code_fact likely(unsigned lo, unsigned hi, unsigned unit)
{
	return (struct code_fact){.known = true,
				  .likely = lo < hi,
				  .value = (lo + hi) / 2 * unit,
				  .lo = lo * unit,
				  .hi = hi * unit,
				  .why = "the loop that jumps takes some of the lines, and how many is not known"};
}

void code_one_set(const struct code *c, struct code_level *l)
{
	const unsigned line = l->line.value,
		       most = c->before / line + 1 + (c->behind ? c->behind / line + 1 : 0) + RUNNING;
	l->sets = (struct code_fact){.known = true, .value = 1, .lo = 1, .hi = 1};
	l->ways = likely(l->lines + RUNNING, l->lines + most, 1);
	l->size = likely(l->lines + RUNNING, l->lines + most, line);
}

static double missing(const struct code_run *r, double floor)
{
	return (double)code_slow(r, floor) / r->visits;
}

/* Tests rings of lines in a row. One as long as the level is large has most of its lines there. One longer by a line of
 * each set has none there. */
static enum code_state foretold(const struct code *c, const struct code_survey *v, unsigned k, unsigned sets,
				unsigned ways)
{
	const struct code_level *l = &v->level[k];
	struct code_ring r = {
	    .first = l->first, .stride = l->line.value / c->unit, .warm = 4, .laps = 4, .count = sets * ways};
	struct code_run full, over;
	if (r.first + r.stride * sets * (ways + 1) > c->pieces)
		return CODE_MISSING;
	const enum code_state st = code_get(c, &r, &full);
	r.count += sets;
	const enum code_state next = code_get(c, &r, &over);
	if (st != CODE_HERE || next != CODE_HERE)
		return st == CODE_PENDING || next == CODE_PENDING ? CODE_PENDING : CODE_MISSING;
	return missing(&full, l->miss) <= PARTLY && missing(&over, l->miss) >= ALL ? CODE_HERE : CODE_MISSING;
}

/* Lines of each set of the group that fit, 0: not even one does. The level above keeps none of them. */
static enum code_state rows_that_fit(const struct code *c, const struct code_survey *v, unsigned k, struct code_ring r,
				     unsigned most, unsigned *rows)
{
	struct code_run run;
	bool yes;
	unsigned over;
	r.count = most * r.group;
	enum code_state st = code_fits(c, v, k, &r, &yes);
	if (st == CODE_HERE && yes)
		return CODE_MISSING;
	if (st == CODE_HERE)
		st = code_smallest(c, v, k, r, 0, most, r.group, &over);
	if (st != CODE_HERE)
		return st;
	*rows = over - 1;
	r.count = *rows * r.group;
	if (!*rows)
		return CODE_HERE;
	st = code_get(c, &r, &run);
	return st == CODE_HERE && missing(&run, v->level[k - 1].miss) < ALL ? CODE_MISSING : st;
}

/* Ways, as groups of so many sets say. */
static enum code_state ways_of(const struct code *c, const struct code_survey *v, unsigned k, unsigned sets,
			       unsigned group, struct code_fact *ways)
{
	const struct code_level *l = &v->level[k];
	const unsigned per = l->line.value / c->unit, about = l->lines / sets + 1;
	unsigned most_rows = 0, agree = 0, told = 0;
	enum code_state all = CODE_HERE;
	for (unsigned i = 0; i < PLACES; i++) {
		struct code_ring r = {.first = l->first + i * sets / PLACES * per,
				      .stride = per,
				      .warm = 4,
				      .laps = CODE_LAPS_SURE,
				      .group = group,
				      .period = sets * per};
		const unsigned last = r.first + (group - 1) * per;
		unsigned rows = 0;
		if (last >= c->pieces)
			break;
		const unsigned held = (c->pieces - 1 - last) / r.period + 1,
			       most = 2 * about + 2 < held ? 2 * about + 2 : held;
		if (most < 2)
			break;
		const enum code_state st = rows_that_fit(c, v, k, r, most, &rows);
		all = st == CODE_PENDING ? st : all;
		if (st != CODE_HERE)
			continue;
		told++;
		agree = rows > most_rows ? 1 : agree + (rows == most_rows);
		most_rows = rows > most_rows ? rows : most_rows;
	}
	if (all == CODE_PENDING)
		return all;
	if (!most_rows || agree < AGREE * PLACES)
		return unknown(ways, told < PLACES ? "groups of lines that should conflict could not be asked"
						   : "groups of sets hold different numbers of lines");
	*ways = (struct code_fact){.known = true, .value = most_rows, .lo = most_rows, .hi = most_rows};
	return CODE_HERE;
}

enum code_state code_rows(const struct code *c, struct code_survey *v, unsigned k, unsigned sets)
{
	/* Small groups leave out most of what the loop takes, and large ones leave nothing to the level above. */
	static const unsigned parts[] = {8, 4};
	struct code_fact ways = {0}, *out = &v->level[k].ways;
	enum code_state st = CODE_MISSING;
	for (unsigned i = 0; i < sizeof parts / sizeof *parts && st == CODE_MISSING; i++)
		if (sets / parts[i] >= 2)
			st = ways_of(c, v, k, sets, sets / parts[i], &ways);
	if (st == CODE_PENDING)
		return st;
	if (st == CODE_MISSING)
		return unknown(out, ways.why[0] ? ways.why : "there are too few sets to ask groups of them");
	st = foretold(c, v, k, sets, ways.value);
	if (st != CODE_HERE)
		return st == CODE_PENDING ? st : unknown(out, "rings in a row do not miss as their sets foretell");
	*out = ways;
	return CODE_HERE;
}
