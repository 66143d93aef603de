/* What single visits of a ring's pages cost. */
#include "tlb_visits.h"
#include "base/arena.h"
#include "stat/stat.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SLOW 0.9 /* quantile of a ring's followers: a faster clock puts no more to a cost than to those */

/* What followers of the usual clock take, for each kind of line. Followers of a faster clock take longer in proportion,
 * and are no kind of their own. */
#define KINDS	  3
#define KIND_TAIL 8 /* one in so many may be quicker than its kind, or be of none */
struct kinds {
	double least[KINDS], most[KINDS];
	unsigned count;
};

static bool is_usual(const struct kinds *k, double ticks)
{
	for (unsigned i = 0; i < k->count; i++)
		if (ticks >= k->least[i] && ticks <= k->most[i])
			return true;
	return false;
}

/* Whether so many ticks may be what a faster clock makes of fewer. Some followers have to have taken as many fewer.
 * They are at least the share of a kind that hides between another kind and a faster clock. v is sorted. */
#define KIND_HIDDEN 32 /* one in so many are some */
static bool may_be_faster(const struct tlb_path *c, const double *v, size_t n, double ticks, double one)
{
	size_t some = 0;

	for (size_t i = 0; i < n; i++)
		some += v[i] >= ticks / (1 + c->swing) - one && v[i] <= ticks / (1 + c->swing_least) + one;
	return some > n / KIND_HIDDEN;
}

/* False: a clock that is a little faster is not told from the usual one. */
static bool kinds_of(struct tlb_path *c, const struct tlb_view *w, double *scratch, struct kinds *k)
{
	const double one = c->grain + c->gap;
	size_t n = 0, at = 0;

	*k = (struct kinds){.count = 0};
	for (uint32_t i = 0; i < w->visits; i++)
		if (isfinite(w->cost[i]))
			scratch[n++] = w->ticks[2 * i + 1];
	qsort(scratch, n, sizeof(*scratch), stat_compare_double);
	while (k->count < KINDS && n - at > n / KIND_TAIL) {
		const double least = scratch[at + (n - at) / KIND_TAIL];
		if (k->count && may_be_faster(c, scratch, n, least, one)) {
			while (at < n && scratch[at] <= least + one)
				at++;
			continue;
		}
		k->least[k->count] = least - one;
		k->most[k->count++] = least + one;
		if (least * (1 + c->swing_least) - c->grain <= least + one)
			return false;
		while (at < n && scratch[at] <= least * (1 + c->swing) + one)
			at++;
	}
	return k->count > 0;
}

/* Leaves the visits of one clock. An access of the usual clock less one of a faster clock is the cost of nothing. A
 * visit's follower says which clock its opener met. A cache in the SM has the SM's own clock; if it answers followers,
 * other openers say it. All visits are left if the clocks cannot be told apart. */
static void of_one_clock(struct tlb_path *c, const struct tlb_view *w, double from, double below, struct tlb_visits *v)
{
	enum tlb_pace *pace = ARENA_ARRAY(study_arena(c->study), w->visits, enum tlb_pace);
	/* If one level has all lines, its quickest ring says what followers take, near or not. */
	const bool same = c->slowest <= c->quickest * (1 + c->swing) + c->gap;
	const bool changes = pace && v->near && tlb_clock(c, w, from, below, pace) > 1;
	struct kinds k;
	size_t n = 0;

	for (uint32_t i = 0; i < w->visits; i++)
		v->scratch[i] = w->ticks[2 * i + 1];
	v->astray = c->swing * stat_quantile(v->scratch, w->visits, SLOW, v->scratch + w->visits);
	const bool told = kinds_of(c, w, v->scratch, &k);
	if (!pace || (!told && !changes))
		return;
	for (uint32_t i = 0; i < w->visits; i++) {
		const uint32_t other = tlb_other_role(w, i);
		if (!(w->cost[i] >= (float)from && w->cost[i] < (float)below))
			continue;
		if (pace[i] == TLB_USUAL && pace[other] == TLB_USUAL &&
		    (!told || (is_usual(&k, w->ticks[2 * i + 1]) && is_usual(&k, w->ticks[2 * other + 1]))))
			v->scratch[n++] = w->cost[i];
	}
	if (n < TLB_VISITS_LEAST)
		return;
	memcpy(v->cost, v->scratch, n * sizeof(*v->cost));
	v->n = n;
	v->astray = 0;
	/* The quickest ring that there is was not all boosted. */
	v->usual = (v->near || same) && (changes || k.least[0] <= c->quickest);
}

/* Visits in pairs: the opener's line of one is the follower's of the other. A faster clock then takes from one what it
 * adds to the other, as long as both accesses of a visit met one clock. Lines that are not equally far leave a rest of
 * it. Changes within a visit are few. */
static void in_pairs(struct tlb_path *c, const struct tlb_view *w, double from, double below, struct tlb_visits *v)
{
	double apart = 0;
	size_t n = 0;

	for (uint32_t i = 0; i < w->visits; i++) {
		const uint32_t other = tlb_other_role(w, i);
		if (other <= i || other >= w->visits || !(w->cost[i] >= (float)from && w->cost[i] < (float)below) ||
		    !(w->cost[other] >= (float)from && w->cost[other] < (float)below))
			continue;
		const double first = w->ticks[2 * i + 1], second = w->ticks[2 * other + 1],
			     differ = fabs(first - second);
		if (differ > c->swing * fmax(first, second) + c->gap + c->grain)
			continue;
		apart = fmax(apart, differ);
		v->scratch[n++] = (w->ticks[2 * i] + w->ticks[2 * other] - first - second) / 2;
	}
	const double astray = c->swing * apart / 2;
	if (n < TLB_VISITS_LEAST || astray >= v->astray)
		return;
	memcpy(v->cost, v->scratch, n * sizeof(*v->cost));
	v->n = n;
	v->astray = astray;
}

enum chase_state tlb_visits_get(struct tlb_path *c, const struct tlb_ring *ring, double from, double below,
				struct tlb_visits *v, struct tlb_price *out)
{
	struct tlb_view w;
	*v = (struct tlb_visits){0};
	out->state = tlb_get(c, ring, &w);
	if (out->state == CHASE_UNDECIDED)
		snprintf(out->why, sizeof(out->why), "%s", c->why);
	if (out->state != CHASE_DONE)
		return out->state;
	v->cost = ARENA_ARRAY(study_arena(c->study), w.visits, double);
	v->scratch = ARENA_ARRAY(study_arena(c->study), 3 * (size_t)w.visits, double);
	if (!v->cost || !v->scratch) {
		snprintf(out->why, sizeof(out->why), "out of memory");
		return out->state = CHASE_UNDECIDED;
	}
	v->near = tlb_at_hand(c, &w);
	for (uint32_t i = 0; i < w.visits; i++)
		if (w.cost[i] >= (float)from && w.cost[i] < (float)below && !(w.moved && w.moved[i]))
			v->cost[v->n++] = w.cost[i];
	if (c->swing > 0)
		of_one_clock(c, &w, from, below, v);
	/* Rows of the memory are in one of both now and then, and in half of what a pair costs. */
	if (v->astray > 0 && (v->near || !(c->rows > 0)))
		in_pairs(c, &w, from, below, v);
	return CHASE_DONE;
}
