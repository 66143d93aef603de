/* How many work items cost as much time as a few: each makes the same instructions, one after the other, and more and more of them are
 * launched. As long as they find room beside each other the time stays the same. */
#include "pipeline.h"
#include <math.h>

enum { FEW = 16, MANY = 48, ROUNDS = 2, POINTS_MOST = 48, FINE = 16 };
#define FLAT   1.05 /* of the time of one warp: the tolerance of ridge points */
#define UNSURE 0.02 /* what a time near that may be off by */
#define RISEN  2
#define WIDE   4.0 /* from an end of an interval to the other, that say nothing */

static const char key[] = "pipeline.items";
static const char method[] = "run time against work items, difference of two lengths";
static const char evidence[] = "items";

struct climb {
	bool spans;
	unsigned block, count, items[POINTS_MOST];
	double ratio[POINTS_MOST]; /* to the time of one warp */
	double one;		   /* that time, ns */
	struct timed last;
};

/* False: it is not there. */
static bool load(struct study *s, struct climb *c, unsigned items, double timer)
{
	const struct timed_pair k = {.experiment = EXPERIMENT_ITEMS,
				     .x = items,
				     .p = {[P_CHAINS] = 1, [P_BLOCK] = c->block, [P_SPANS] = c->spans},
				     .links_at = P_LINKS,
				     .rounds_at = P_ROUNDS,
				     .repeats_at = P_REPEATS,
				     .few = FEW,
				     .many = MANY,
				     .first = ROUNDS,
				     .clock_hz = c->spans ? study_device(s)->clock_hz : 0,
				     .spans = c->spans};
	c->last = timed_ask(s, &k, timer);
	if (!c->last.ok || c->count == POINTS_MOST)
		return false;
	if (!c->count)
		c->one = c->last.ns;
	c->items[c->count] = items;
	c->ratio[c->count++] = c->last.ns / c->one;
	return true;
}

/* Most items whose time, and that of all fewer ones, is no more than so much. */
static unsigned flat_until(const struct climb *c, double most)
{
	unsigned end = UINT32_MAX, found = 0;
	for (unsigned i = 0; i < c->count; i++)
		if (c->ratio[i] > most && c->items[i] < end)
			end = c->items[i];
	for (unsigned i = 0; i < c->count; i++)
		if (c->items[i] < end && c->items[i] > found)
			found = c->items[i];
	return found;
}

/* Fewest items that take longer; UINT32_MAX: none does. */
static unsigned rises_at(const struct climb *c, double most)
{
	unsigned found = UINT32_MAX;
	for (unsigned i = 0; i < c->count; i++)
		if (c->ratio[i] > most && c->items[i] < found)
			found = c->items[i];
	return found;
}

static void conclude(struct study *s, const struct climb *c)
{
	const unsigned at = flat_until(c, FLAT), lo = flat_until(c, FLAT - UNSURE), end = rises_at(c, FLAT + UNSURE),
		       hi = end > at + c->block ? end - c->block : at;
	const double most = c->ratio[c->count - 1];
	if (end == UINT32_MAX)
		study_bound(s, key, lo, INFINITY, method, evidence,
			    "with the most that all SMs take at once it is %.3g times that of one warp", most);
	else if (hi > WIDE * lo)
		study_verdict(s, key, VERDICT_INCONCLUSIVE, evidence,
			      "the time grows bit by bit, somewhere from %u to %u work items", lo, hi);
	else
		study_measured_number(s, key, at, lo, hi, "card", method, evidence,
				      "in blocks of %u; %u take longer than one warp by more than 5 %%", c->block, end);
}

/* Doubles the blocks until they take twice as long as one warp or fill all SMs, then halves the gap in which the time begins to rise. */
static bool climb(struct study *s, struct climb *c, unsigned blocks_most, double timer)
{
	bool there = load(s, c, study_device(s)->warp_size, timer);
	for (unsigned blocks = 1; there; blocks = 2 * blocks < blocks_most ? 2 * blocks : blocks_most) {
		there = load(s, c, blocks * c->block, timer);
		if (blocks == blocks_most || (there && c->ratio[c->count - 1] >= RISEN))
			break;
	}
	while (there) {
		const unsigned lo = flat_until(c, FLAT) / c->block, end = rises_at(c, FLAT);
		if (end == UINT32_MAX || end / c->block - lo <= 1 + lo / FINE)
			break;
		there = load(s, c, (lo + end / c->block) / 2 * c->block, timer);
	}
	return there;
}

void pipeline_items(struct study *s, double timer, bool spans)
{
	const struct device_info *d = study_device(s);
	bool known;
	struct climb c = {.spans = spans, .block = pipeline_item_block(d)};
	bool there = climb(s, &c, pipeline_most_warps(d, &known) * d->warp_size / c.block * d->sm_count, timer);
	if (there && rises_at(&c, FLAT) <= c.block && c.block > d->warp_size) { /* smaller ones will do */
		const unsigned each = c.block / d->warp_size;
		c = (struct climb){.spans = spans, .block = d->warp_size};
		there = climb(s, &c, each * d->sm_count, timer);
	}
	if (study_pending(s))
		return;
	if (there)
		conclude(s, &c);
	else if (c.last.bad)
		study_verdict(s, key,
			      c.last.bad->outcome == OUTCOME_INVALID ? VERDICT_INCONCLUSIVE : VERDICT_UNSUPPORTED,
			      evidence, "%s", point_why(c.last.bad));
	else
		study_verdict(s, key, VERDICT_INCONCLUSIVE, evidence, "run times of equal launches differ too much");
}
