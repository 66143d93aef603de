/* What a miss costs, from pages that are known to miss. */
#include "base/arena.h"
#include "stat/stat.h"
#include "tlb_visits.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ALIKE 0.05 /* of the cost that the survey saw */

static enum chase_state undecided(struct tlb_price *out, const char *why)
{
	snprintf(out->why, sizeof(out->why), "%s", why);
	return out->state = CHASE_UNDECIDED;
}

/* Mean of the costs near their median: what else comes upon a visit makes it much slower, or, as a follower, much faster. A clock
 * that counts by several rounds each of them, and the mean of all much less. */
static double middle_mean(double *cost, size_t n, double *scratch, double reach, size_t *kept)
{
	const double middle = stat_median(cost, n, scratch);
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		scratch[i] = fabs(cost[i] - middle);
	const double most = reach + 4 * JUDGE_DEVIATION * stat_median(scratch, n, scratch + n);
	*kept = 0;
	for (size_t i = 0; i < n; i++)
		if (fabs(cost[i] - middle) <= most) {
			sum += cost[i];
			++*kept;
		}
	return *kept ? sum / (double)*kept : middle;
}

/* What the first access to a page costs that the first level has: nothing, but where the next page is another row of the memory.
 * That is in every price, and comes with most visits or with few. */
#define TAILS	  0.25
#define HIT_LEAST 1 /* cycles in the mean, of which nobody knows that they are any */
static enum chase_state price_of_hits(struct tlb_path *c, struct tlb_price *out)
{
	const struct tlb_level *l = &c->level[0];
	struct tlb_visits v;
	size_t kept;

	/* Nothing, once what rows cost is known: prices are those of pages whose rows are open. */
	if (c->rows > 0 || !c->level_count || l->reach.state != CHASE_DONE || !l->entries.value)
		return out->state = CHASE_DONE;
	const struct tlb_ring full = {.pages = (uint32_t)l->entries.value, .stride = l->line.value};
	if (tlb_visits_get(c, &full, -INFINITY, l->floor, &v, out) != CHASE_DONE || v.n < TLB_VISITS_LEAST)
		return out->state;
	out->value = middle_mean(v.cost, v.n, v.scratch, c->gap, &kept);
	qsort(v.cost, v.n, sizeof(*v.cost), stat_compare_double);
	const double last = (double)(v.n - 1);
	/* Both accesses of a hit take as long. Steps of the clock add at most one step to its cost, or take one away,
	 * and do both alike. Rows of the memory only add to it. */
	const double high = v.cost[(size_t)((1 - TAILS) * last)], low = v.cost[(size_t)(TAILS * last)];
	const bool by_steps = c->grain > 1 && high <= c->grain && low >= -c->grain && fabs(out->value) <= HIT_LEAST;
	const bool even = out->value > c->gap && high - low <= c->gap;
	if ((high - low > c->gap && !by_steps) || (fabs(out->value) > c->gap && !even))
		out->loose = high - low;
	/* No hit is faster as the first access to its page. If one seems so, caches had its line as an opener and not
	 * as a follower. */
	if (out->value < -c->gap && !by_steps) {
		out->loose = fmax(out->loose, -out->value);
		out->value = 0;
	}
	/* Turns of the SM's issue and the like make all hits a little faster or slower. They need not be in the other
	 * prices, and are within what those leave open. Wide steps of the clock hide how many hits are slower, but not
	 * that some are. Pages that miss may all be, or none. Only the place in the clock's steps at which it begins
	 * makes an opener faster. */
	if (out->value > GAP_LEAST && (out->value <= c->gap || even))
		out->value = out->either = out->value / 2;
	else if (fabs(out->value) <= c->gap)
		out->value = 0;
	out->low = out->high = out->value;
	return out->state;
}

/* Keeps, of costs with and without a row of the memory, those without, if both were seen. The two are apart by what a
 * row costs, or by any amount while that is unknown. */
#define ROW_SHARE 0.15 /* of the visits have each of both costs */
static bool without_rows(struct tlb_path *c, struct tlb_visits *v)
{
	struct stat_mode mode[3];
	size_t n = 0;

	if (stat_modes(v->cost, v->n, c->gap, ROW_SHARE, mode, 3, v->scratch) != 2)
		return false;
	const double apart = mode[1].centre - mode[0].centre;
	/* While nobody knows what rows cost, neither the clock's steps nor a faster clock may be what sets the two
	 * apart. */
	if (c->rows > 0 ? fabs(apart - c->rows) > c->gap + TLB_ROWS_ALIKE * c->rows
			: apart <= c->gap + 2 * c->grain + c->swing * c->slowest)
		return false;
	for (size_t i = 0; i < v->n; i++)
		if (v->cost[i] >= mode[0].lo && v->cost[i] <= mode[0].hi)
			v->cost[n++] = v->cost[i];
	v->n = n;
	return true;
}

/* Whether anything is kept of what walks read. Nothing is if nothing is kept of what loads of global memory read. */
static bool tables_kept(const struct tlb_path *c)
{
	return !c->bare && (c->experiment != TLB_ON_GLOBAL || !tlb_none_quick(c));
}

enum chase_state tlb_price_of(struct tlb_path *c, unsigned k, struct tlb_price *out)
{
	const struct tlb_level *up = &c->level[k ? k - 1 : 0];
	const double below = k < c->level_count ? c->level[k].floor : INFINITY;
	struct tlb_visits v;
	size_t kept;
	char why[200];

	*out = (struct tlb_price){.state = CHASE_UNDECIDED};
	if (!k)
		return price_of_hits(c, out);
	if (up->reach.state != CHASE_DONE)
		return undecided(out, up->reach.why);
	/* Twice as many pages as fit, or as the buffer has room for: whatever is replaced, most of them miss. */
	uint64_t most = (c->bytes - 2 * RING_PAGE) / up->line.value, pages = 2 * up->entries.value;
	pages = pages < most ? pages : most;
	pages = pages < RING_MOST ? pages : RING_MOST;
	if (pages <= up->entries.value)
		return undecided(out, "the buffer has no room for pages that are known to miss");
	const struct tlb_ring over = {.pages = (uint32_t)pages, .stride = up->line.value};
	if (tlb_visits_get(c, &over, up->floor, below, &v, out) != CHASE_DONE)
		return out->state;
	const bool either = !v.near && !without_rows(c, &v) && c->rows > 0;
	if (v.n < TLB_VISITS_LEAST)
		return undecided(out, "too few visits to pages that do not fit the level above cost what one does");
	out->value = middle_mean(v.cost, v.n, v.scratch, c->gap, &kept);
	/* What comes upon few visits, as rows that few of them open, is in the mean and not in the middle. */
	const double middle = stat_median(v.cost, v.n, v.scratch) - out->value;
	/* A miss that costs as much as the way from a cache to the memory may go that way, or have a long walk. Pages
	 * of one set are few, and their entries may all be in one set of the cache as well. */
	if (k == c->level_count && k > 1 && !v.near && tables_kept(c) &&
	    !(out->value - c->step[k - 1] < TABLE_LEAST * (c->slowest - c->quickest)))
		return undecided(
		    out,
		    "what is read to translate may come from a cache or, as so many pages are visited, from memory");
	if (either) {
		out->value -= c->rows / 2;
		out->loose = c->rows / 2;
	}
	/* Rows that cost too little to be known are in the price as well. Costs with no memory asked are lower by them,
	 * or the least cost of some ring is, by more than the clock's steps. Pages of another path may also cost as
	 * much, for rows or for something else. */
	const double beside = out->value - c->least[k],
		     more = fmax(out->value - c->near[k],
				 fmax(beside > c->gap + 2 * (c->grain - 1) ? beside : 0, c->maybe_rows));
	if (!v.near && !(c->rows > 0) && more > c->gap) {
		out->value -= more / 2;
		out->loose += more / 2;
	}
	out->usual = v.usual;
	out->loose += v.astray;
	out->low = fmin(out->value - 2 * (c->grain - 1), out->value + middle);
	out->high = fmax(out->value + 2 * (c->grain - 1), out->value + middle);
	/* The survey did not ask which clock it met. */
	const double swing = v.usual ? c->swing * (c->step[k] + c->slowest) : 0, differ = out->value - c->step[k];
	if (fabs(differ) <= 2 * c->gap + ALIKE * c->step[k] + out->loose + swing)
		return out->state;
	snprintf(why, sizeof(why),
		 "%llu pages of which most miss the level above cost %.1f cycles, and others %.1f: something else "
		 "delays one or the other",
		 (unsigned long long)pages, out->value, c->step[k]);
	return undecided(out, why);
}
