/* Steps of what translation costs, from the costs that pages of the survey's rings have. */
#include "base/arena.h"
#include "stat/stat.h"
#include "tlb.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ALL_PAGES  24	/* of a ring at least, as chance makes fewer of them alike */
#define TWICE	   1.5	/* cycles, ... */
#define TWICE_PART 0.03 /* ... and of a cost, by which it may differ from itself */

/* Costs that are near to each other, of all rings. */
struct cost {
	double centre, share[TLB_SURVEY_RINGS];
	double all; /* the largest share of those that are no chance's */
};

/* Whether one cost is another one and a row of the memory. */
static bool is_with_row(const struct tlb_path *c, double one, double other)
{
	return c->rows > 0 && fabs(other - one - c->rows) <= c->gap + TLB_ROWS_ALIKE * c->rows;
}

/* Whether a ring whose lines were at hand has that cost. */
static bool without_memory(const struct cost *cost, const bool *near)
{
	for (unsigned r = 0; r < TLB_SURVEY_RINGS; r++)
		if (near[r] && cost->share[r] >= TLB_SHARE_REAL)
			return true;
	return false;
}

/* Whether two costs that rings had, `one` the lesser, are one that the clock's steps hide. A cost is the difference of
 * two times, each of which is off by less than a step to either side. All visits of a ring may be off alike, if those
 * begin at one place in the clock's steps. A cost of nothing is off by no more than one step. */
static bool is_one_by_steps(const struct tlb_path *c, double one, double other)
{
	return c->grain > 1 && one > c->gap && other - one <= 2 * c->grain;
}

/* near: a flag for each of TLB_SURVEY_RINGS rings. by_steps: costs that the clock's steps may have made two of are one. */
static unsigned cluster(struct tlb_path *c, struct tlb_seen *seen, unsigned n, const bool *near, bool by_steps,
			struct cost *out)
{
	unsigned count = 0;

	qsort(seen, n, sizeof(*seen), stat_compare_double);
	for (unsigned i = 0; i < n; count++) {
		double sum = 0, weight = 0;
		unsigned from = i;
		out[count] = (struct cost){0};
		for (; i < n && (i == from || seen[i].centre - seen[i - 1].centre <= c->gap + 0.02 * seen[i].centre ||
				 (by_steps && is_one_by_steps(c, seen[from].centre, seen[i].centre)));
		     i++) {
			sum += seen[i].centre * seen[i].share;
			weight += seen[i].share;
			out[count].share[seen[i].ring] = fmax(out[count].share[seen[i].ring], seen[i].share);
			if (seen[i].pages >= ALL_PAGES)
				out[count].all = fmax(out[count].all, seen[i].share);
		}
		out[count].centre = sum / weight;
		if (seen[from].centre <= c->gap && seen[i - 1].centre >= -c->gap)
			out[count].centre = 0;
	}
	/* Pages of one ring have open and closed rows, which together are one cost. A cost that comes with no memory
	 * asked is instead a level's that costs as much as a row does. So is one that all pages have although rows are
	 * short. */
	for (unsigned i = 0; i + 1 < count; i++)
		for (unsigned k = i + 1; k < count; k++) {
			if (!is_with_row(c, out[i].centre, out[k].centre) || without_memory(&out[k], near) ||
			    (c->rows_short && out[k].all >= TLB_SHARE_ALL))
				continue;
			for (unsigned r = 0; r < TLB_SURVEY_RINGS; r++)
				out[i].share[r] += out[k].share[r];
			memmove(&out[k], &out[k + 1], (--count - k) * sizeof(*out));
			k--;
		}
	return count;
}

/* Whether two differences of costs are one. */
static bool is_as_much(double more, double other)
{
	return fabs(other - more) <= TWICE + TWICE_PART * more;
}

/* At how many places one cost is that much more than another. */
static unsigned places(const struct cost *cost, unsigned n, double more)
{
	unsigned count = 0;

	for (unsigned i = 0; i < n; i++)
		for (unsigned k = i + 1; k < n; k++)
			count += cost[i].centre >= 0 && is_as_much(more, cost[k].centre - cost[i].centre);
	return count;
}

/* How much one cost is more than the one before, if that difference comes up at two places. It comes on top of what
 * pages cost, as a row of the memory does. The difference between the two places then comes up twice as well. If a row
 * may cost that, the answer is the one that comes up at more places, on top of all levels' costs. The result is 0 if
 * nothing does. */
static double twice(struct tlb_path *c, const struct cost *cost, unsigned n, const bool *near)
{
	for (unsigned i = 0; i + 1 < n; i++)
		for (unsigned k = i + 2; k + 1 < n; k++) {
			const double more = cost[i + 1].centre - cost[i].centre,
				     between = cost[k].centre - cost[i].centre;
			if (cost[i].centre < 0 || !is_as_much(more, cost[k + 1].centre - cost[k].centre))
				continue;
			if (without_memory(&cost[i + 1], near) || without_memory(&cost[k + 1], near))
				c->no_row = more;
			if (c->no_row > 0 && is_as_much(c->no_row, more))
				continue;
			const bool other = between <= ROW_COST_MOST && !without_memory(&cost[k], near) &&
					   places(cost, n, between) > places(cost, n, more);
			return other ? between : more;
		}
	return 0;
}

/* Whether as many pages of one ring cost so much less than nothing as others of it cost more, but for chance. */
static bool is_mirrored(const struct tlb_path *c, const struct tlb_seen *seen, const struct tlb_seen *one)
{
	const double both = seen->share + one->share, alike = c->gap + TWICE_PART * fabs(one->centre);

	return fabs(one->centre) > c->gap && fabs(seen->centre + one->centre) <= alike &&
	       fabs(seen->share - one->share) <= JUDGE_SIGMA * sqrt(both / one->pages);
}

unsigned tlb_without_whims(const struct tlb_path *c, struct tlb_seen *seen, unsigned n)
{
	bool whim[TLB_SURVEY_RINGS] = {false};
	unsigned left = 0;

	for (unsigned i = 0; i < n && n <= TLB_SURVEY_RINGS; i++)
		for (unsigned k = 0; k < n && !whim[i]; k++)
			whim[i] = is_mirrored(c, &seen[k], &seen[i]);
	for (unsigned i = 0; i < n; i++)
		if (n > TLB_SURVEY_RINGS || !whim[i])
			seen[left++] = seen[i];
	return left;
}

void tlb_steps_from(struct tlb_path *c, struct tlb_seen *seen, unsigned n, const bool *near)
{
	struct cost *cost = ARENA_ARRAY(study_arena(c->study), n + 1, struct cost);

	c->steps = 1;
	c->step[0] = 0;
	c->clarity = cost ? TLB_CLEAR : TLB_UNCLEAR;
	c->odd_count = 0;
	unsigned count = cost ? cluster(c, seen, n, near, false, cost) : 0;
	/* Rows of the memory that cost no more than the clock's steps hide show in two places, and no step does. */
	if (cost && !(c->rows > 0))
		c->rows = twice(c, cost, count, near);
	if (cost && (c->rows > 0 || c->grain > 1))
		count = cluster(c, seen, n, near, true, cost);
	n = count;
	for (unsigned i = 0; i < n; i++) {
		double centre = cost[i].centre, most = 0;
		for (unsigned r = 0; r < TLB_SURVEY_RINGS; r++)
			most = fmax(most, cost[i].share[r]);
		if (centre == 0)
			continue; /* no cost */
		if (centre < 0 || most < TLB_SHARE_REAL || c->steps > TLB_STEPS) {
			c->clarity = TLB_UNCLEAR;
			if (centre > c->gap && c->odd_count < TLB_ODD)
				c->odd[c->odd_count++] = centre;
			continue;
		}
		c->step[c->steps++] = centre;
	}
	c->level_count = c->steps - 1;
}

/* The cost of a level without the memory, as far as that was seen, and the least that it cost in any ring. Closed rows
 * are in the level's other costs only. */
void tlb_near_steps(struct tlb_path *c, const struct tlb_seen *seen, unsigned n, const bool *near)
{
	for (unsigned k = 0; k < c->steps; k++) {
		c->near[k] = c->least[k] = INFINITY;
		for (unsigned i = 0; i < n; i++) {
			const double alike = c->gap + 0.02 * c->step[k], apart = fabs(seen[i].centre - c->step[k]);
			if (seen[i].share < TLB_SHARE_REAL)
				continue;
			if (near[seen[i].ring] && apart <= alike)
				c->near[k] = fmin(c->near[k], seen[i].centre);
			if (apart <= alike + 2 * c->grain)
				c->least[k] = fmin(c->least[k], seen[i].centre);
		}
	}
}
