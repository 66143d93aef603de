/* How often a visit costs as much as a miss and is none, as far as the survey's rings say. Whether some such visits are
 * hits of one more level. */
#include "base/arena.h"
#include "stat/stat.h"
#include "tlb.h"
#include <math.h>

#define BEYOND	  0.1  /* of a cost, that another one is larger at least */
#define ODD_MOST  0.75 /* ... of which so many may be none of a hit's, ... */
#define EVEN_MOST 0.1  /* ... that are so many of all visits */

/* How much the cost of one page differs from visit to visit. */
double tlb_sigma(struct tlb_path *c, const struct tlb_view *w)
{
	uint32_t laps = w->visits / w->pages;
	size_t n = 0;
	double *v = ARENA_ARRAY(study_arena(c->study), 2 * (size_t)(w->visits + laps) + 2, double),
	       *one = v + 2 * (size_t)w->visits;

	if (!v)
		return 0;
	for (uint32_t i = 0; i < w->pages; i++) {
		size_t from = n;
		for (uint32_t k = i; k < w->visits; k += w->pages)
			if (!isnan(w->cost[k]))
				v[n++] = w->cost[k];
		if (n == from)
			continue;
		double middle = stat_median(v + from, n - from, one);
		for (size_t k = from; k < n; k++)
			v[k] = fabs(v[k] - middle);
	}
	return n ? JUDGE_DEVIATION * stat_median(v, n, v + w->visits) : 0;
}

size_t tlb_page_costs(struct tlb_path *c, const struct tlb_view *w, double *out, double *each, size_t *mixed)
{
	uint32_t laps = w->visits / w->pages;
	double *one = ARENA_ARRAY(study_arena(c->study), 2 * (size_t)laps + 2, double);
	size_t n = 0, sum = 0;

	if (mixed)
		*mixed = 0;
	for (uint32_t i = 0; one && i < w->pages; i++) {
		size_t seen = 0;
		for (uint32_t v = i; v < w->visits; v += w->pages)
			if (!isnan(w->cost[v]))
				one[seen++] = w->cost[v];
		sum += seen;
		if (!seen)
			continue;
		double low = stat_quantile(one, seen, 0.25, one + laps + 1),
		       high = stat_quantile(one, seen, 0.75, one + laps + 1);
		if (mixed && high - low > 2 * c->gap + 4 * c->sigma)
			++*mixed;
		else
			out[n++] = stat_median(one, seen, one + laps + 1);
	}
	*each = n ? (double)sum / (double)n : 1;
	return n;
}

/* What makes a line slow for other reasons comes upon openers and followers alike, and makes costs too low as well. */
static double noise_of(const struct tlb_view *w, unsigned rings, double rise)
{
	double low = 0, of = 0;

	for (unsigned k = 0; k < rings; k++)
		for (uint32_t i = 0; i < w[k].visits; i++) {
			of += !isnan(w[k].cost[i]);
			low += w[k].cost[i] <= -(float)rise;
		}
	return (low + 1) / (of + 1);
}

/* The same of rings whose pages all cost `centre`, as pages do that all miss. Whatever slows a line down also makes
 * costs too low, here lower than `centre` if not than nothing. Pages of another cost are on one side only. NAN: pages
 * of the ring differ. */
static double noise_around(const struct tlb_view *w, unsigned rings, const double *centre, double rise)
{
	double both = 0, of = 0;

	for (unsigned k = 0; k < rings; k++) {
		double low = 0, high = 0;
		for (uint32_t i = 0; i < w[k].visits && !isnan(centre[k]); i++) {
			of += !isnan(w[k].cost[i]);
			low += w[k].cost[i] <= (float)(centre[k] - rise);
			high += w[k].cost[i] >= (float)(centre[k] + rise);
		}
		both += fmin(low, high);
	}
	return both / (of + 1);
}

double tlb_noise(const struct tlb_view *w, unsigned rings, const double *centre, double rise)
{
	return fmax(noise_of(w, rings, rise), noise_around(w, rings, centre, rise));
}

/* What most visits of a ring do not cost: nothing, or no more than a row of the memory that is not open. */
struct evenness {
	double told;	  /* visits that have a cost, ... */
	double high, low; /* ... of which so many are too dear, and too cheap, ... */
	double between;	  /* ... and so many between nothing and a row */
};

static struct evenness weigh(const struct tlb_path *c, const struct tlb_view *w, double most, double least)
{
	const double below = (1 - BEYOND) * c->rows - c->gap;
	struct evenness e = {0};

	for (uint32_t v = 0; v < w->visits; v++) {
		e.told += !isnan(w->cost[v]);
		e.high += w->cost[v] > (float)most;
		e.low += w->cost[v] < -(float)least;
		e.between += w->cost[v] > (float)c->gap && w->cost[v] < (float)below;
	}
	return e;
}

static bool is_balanced(const struct evenness *e, const struct tlb_view *w, double more, double loose)
{
	const double chance = JUDGE_SIGMA * sqrt(e->high + e->low + 1) + loose;

	return e->told >= TLB_TOLD * w->visits && e->high + e->low <= ODD_MOST * e->told && more <= chance &&
	       chance <= EVEN_MOST * e->told;
}

/* Whether pages of a ring that tells no cost cost nothing all the same. Most visits cost nothing then. As many of the
 * others are too cheap as too dear, but for a few in a hundred. A slow line comes upon openers and followers alike, and
 * translation upon openers only.
 *
 * Openers may pay for a row of the memory, too. Followers that are slow by no more than that are then not too cheap. So
 * as many visits are below nothing as are beyond a row, but for those lost between the two. */
bool tlb_is_even(const struct tlb_path *c, const struct tlb_view *w)
{
	const double most = c->gap + (1 + BEYOND) * c->rows;
	const struct evenness far = weigh(c, w, most, most), near = weigh(c, w, most, c->gap);

	return is_balanced(&far, w, far.high - far.low, 0) ||
	       (c->rows > 0 && is_balanced(&near, w, fabs(near.high - near.low), near.between));
}
