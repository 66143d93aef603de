/* How many work items cost as much time as a few. Each makes the same instructions, one after the other, and more and
 * more of them are launched. As long as they find room beside each other the time stays the same. */
#include "pipeline.h"
#include <math.h>

enum { FEW = 16, MANY = 48, ROUNDS = 2, POINTS_MOST = 48, FINE = 16, LONGER = 8 };
#define FLAT   1.05  /* of the time of one warp: the tolerance of ridge points */
#define UNSURE 0.02  /* what a time near that may be off by */
#define ENDS   0.002 /* of a time: what beginning and end of launches so many times longer may hide */
#define RISEN  2
#define WIDE   4.0 /* from an end of an interval to the other, that say nothing */

static const char key[] = "pipeline.items";
static const char method[] = "run time against work items, difference of two lengths";
static const char evidence[] = "items";

struct climb {
	bool spans;
	unsigned block, count, items[POINTS_MOST];
	double ratio[POINTS_MOST];		      /* to the time of one warp */
	double least[POINTS_MOST], most[POINTS_MOST]; /* that this may be */
	bool sharp[POINTS_MOST];		      /* of longer launches */
	double one;				      /* that time, ns */
	struct timed last;
};

static struct timed_pair pair_of(const struct study *s, const struct climb *c, unsigned items)
{
	return (struct timed_pair){.experiment = EXPERIMENT_ITEMS,
				   .x = items,
				   .p = {[P_CHAINS] = 1, [P_BLOCK] = c->block, [P_SPANS] = c->spans},
				   .links_at = P_LINKS,
				   .rounds_at = P_ROUNDS,
				   .repeats_at = P_REPEATS,
				   .few = FEW,
				   .many = MANY,
				   .first = ROUNDS,
				   .clock_hz = c->spans ? study_device(s)->clock_hz : 0,
				   .words = c->spans ? WORDS_SPANS : WORDS_WHOLE};
}

/* False: it is not there. */
static bool load(struct study *s, struct climb *c, unsigned items, double timer)
{
	const struct timed_pair k = pair_of(s, c, items);
	c->last = timed_ask(s, &k, timer);
	if (!c->last.ok || c->count == POINTS_MOST)
		return false;
	if (!c->count)
		c->one = c->last.ns;
	const double ratio = c->last.ns / c->one;
	c->items[c->count] = items;
	c->least[c->count] = ratio - UNSURE;
	c->most[c->count] = ratio + UNSURE;
	c->ratio[c->count++] = ratio;
	return true;
}

/* Most items whose time, and that of all fewer ones, is within 5 % of that of one warp. ratio: what their times are taken for. */
static unsigned flat_until(const struct climb *c, const double *ratio)
{
	unsigned end = UINT32_MAX, found = 0;
	for (unsigned i = 0; i < c->count; i++)
		if (ratio[i] > FLAT && c->items[i] < end)
			end = c->items[i];
	for (unsigned i = 0; i < c->count; i++)
		if (c->items[i] < end && c->items[i] > found)
			found = c->items[i];
	return found;
}

/* Fewest items that take longer; UINT32_MAX: none does. */
static unsigned rises_at(const struct climb *c, const double *ratio)
{
	unsigned found = UINT32_MAX;
	for (unsigned i = 0; i < c->count; i++)
		if (ratio[i] > FLAT && c->items[i] < found)
			found = c->items[i];
	return found;
}

/* The most that any of up to so many items take. */
static double most_until(const struct climb *c, unsigned items)
{
	double most = 0;
	for (unsigned i = 0; i < c->count; i++)
		if (c->items[i] <= items)
			most = fmax(most, c->ratio[i]);
	return most;
}

/* Blocks between which, after so many, nobody looks where the time begins to rise. */
static unsigned step(unsigned blocks)
{
	return 1 + blocks / FINE;
}

/* Items that take as long as one warp, for certain and at most, and the fewest that take longer for certain. */
struct range {
	unsigned lo, hi, end;
	bool clear; /* no wider than what lies between two that were looked at */
};

static struct range range_of(const struct climb *c)
{
	const unsigned at = flat_until(c, c->ratio), lo = flat_until(c, c->most), end = rises_at(c, c->least),
		       hi = end > at + c->block ? end - c->block : at;
	return (struct range){.lo = lo, .hi = hi, .end = end, .clear = hi - lo < step(lo / c->block) * c->block};
}

/* Concludes the number of items, or a range of it. Some items may take nearly as much longer as is told apart; all
 * numbers between are as likely then. */
static void conclude(struct study *s, const struct climb *c)
{
	const struct range r = range_of(c);
	if (r.end == UINT32_MAX)
		study_bound(s, key, r.lo, INFINITY, method, evidence,
			    "with the most that all SMs take at once it is %.3g times that of one warp",
			    c->ratio[c->count - 1]);
	else if (r.hi > WIDE * r.lo)
		study_verdict(s, key, VERDICT_INCONCLUSIVE, evidence,
			      "the time grows bit by bit, somewhere from %u to %u work items", r.lo, r.hi);
	else if (!r.clear)
		study_bound(s, key, r.lo, INFINITY, method, evidence,
			    "up to %u take up to %.3g times as long as one warp, too near 5 %% to decide, and %u "
			    "do",
			    r.hi, most_until(c, r.hi), r.end);
	else
		study_measured_number(s, key, flat_until(c, c->ratio), r.lo, r.hi, "card", method, evidence,
				      "in blocks of %u; %u take longer than one warp by more than 5 %%", c->block,
				      r.end);
}

/* Finds in launches so many times longer how many items take longer than one warp, one number after the other until one
 * does for certain. Beginnings and ends are a smaller part of those, as are the last warps if a scheduler prefers
 * others. One GPU's short launches took 1.060 times as long, and its longer ones 1.046 times. The long ones may still
 * be off by their part of what the short ones were off. */
static void sharpen(struct study *s, struct climb *c, double timer)
{
	struct timed_pair k = pair_of(s, c, study_device(s)->warp_size);
	struct timed one = {.ok = false};
	k.longer = LONGER;
	k.ends = ENDS;
	k.quiet = ENDS / 4;
	for (struct range r = range_of(c); !r.clear && r.end != UINT32_MAX; r = range_of(c)) {
		unsigned at = c->count;
		for (unsigned i = 0; i < c->count; i++)
			if (c->items[i] == rises_at(c, c->most))
				at = i;
		if (at == c->count || c->items[at] >= r.end || c->sharp[at])
			return;
		if (!one.ok)
			one = timed_ask(s, &k, timer);
		k.x = c->items[at];
		const struct timed t = timed_ask(s, &k, timer);
		if (study_pending(s) || !one.ok || !t.ok)
			return;
		const double off = fabs(t.ns / one.ns - c->ratio[at]) / (LONGER - 1);
		c->sharp[at] = true;
		c->ratio[at] = t.ns / one.ns;
		c->least[at] = t.lo / one.hi - off;
		c->most[at] = t.hi / one.lo + off;
	}
}

/* Doubles the blocks until they take twice as long as one warp or fill all SMs. Then it halves the gap in which the
 * time begins to rise, and looks at its end more closely. */
static bool climb(struct study *s, struct climb *c, unsigned blocks_most, double timer)
{
	bool there = load(s, c, study_device(s)->warp_size, timer);
	for (unsigned blocks = 1; there; blocks = 2 * blocks < blocks_most ? 2 * blocks : blocks_most) {
		there = load(s, c, blocks * c->block, timer);
		if (blocks == blocks_most || (there && c->ratio[c->count - 1] >= RISEN))
			break;
	}
	while (there) {
		const unsigned lo = flat_until(c, c->ratio) / c->block, end = rises_at(c, c->ratio);
		if (end == UINT32_MAX || end / c->block - lo <= step(lo))
			break;
		there = load(s, c, (lo + end / c->block) / 2 * c->block, timer);
	}
	if (there && !study_pending(s))
		sharpen(s, c, timer);
	return there;
}

void pipeline_items(struct study *s, double timer, bool spans)
{
	const struct device_info *d = study_device(s);
	bool known;
	struct climb c = {.spans = spans, .block = pipeline_item_block(d)};
	bool there = climb(s, &c, pipeline_most_warps(d, &known) * d->warp_size / c.block * d->sm_count, timer);
	if (there && !study_pending(s) && rises_at(&c, c.ratio) <= c.block &&
	    c.block > d->warp_size) { /* smaller ones will do */
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
