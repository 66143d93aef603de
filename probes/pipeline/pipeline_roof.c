/* How the peak and the ridge of one class are looked for. */
#include "pipeline_roof.h"
#include <math.h>

enum {
	LONGER = 8,
	SHARPER = 4 /* loads tried */,
	OTHERS = 2 /* loads beside the one that is known best */,
	PARTS_MOST = 4, /* of an SM, each with its own scheduler */
	RIDGE_WIDE = 8	/* warps between which a ridge is looked for in longer launches */
};
#define ENDS 0.002 /* of what a link takes: what beginning and end of launches so long may hide */

#define RIDGE 0.95 /* of the peak: Lemeire 2016, III */
/* What a rate near the ridge may be off by, that of warps that stop together, too. What those have begun when the first
 * one ends is nearly the same in both lengths of a launch. */
#define UNSURE	  0.02
#define SURE	  0.01 /* the same of what one warp's time tells of a rate */
#define NEAR	  0.05 /* of a number of warps: from and to how many there have to be */
#define VAGUE	  0.2  /* the same, where that is all that rates say: a number known no better says too little */
#define NO_BETTER 0.98 /* of the time with fewer warps: more of them gain nothing */
#define BEYOND	  1.1  /* times faster than the peak: something is wrong, and not with the peak */
/* Times as long a link may take by the upper half of the difference of two loops as by all of it. FILLS is beyond what
 * warps had begun, FILLS_LONG in longer launches. */
#define FILLS	   1.03
#define FILLS_LONG 1.005

static struct timed_pair pair_of(const struct study *s, const struct roof *r, unsigned warps)
{
	return pipeline_pair(study_device(s), r->class, r->chains, warps, r->shorter, r->spans);
}

/* The upper half of what the two loops of a pair differ by. */
static struct timed_pair upper_half(struct timed_pair pair)
{
	pair.few = (pair.few + pair.many) / 2;
	return pair;
}

/* NULL: it is not there. */
static const struct timed *load(struct study *s, struct roof *r, unsigned warps, double timer)
{
	for (unsigned i = 0; i < r->count; i++)
		if (r->warps[i] == warps)
			return r->time[i].ok ? &r->time[i] : NULL;
	if (r->count == ROOF_LOADS)
		return NULL;
	r->warps[r->count] = warps;
	struct timed *t = &r->time[r->count++];
	const struct timed_pair pair = pair_of(s, r, warps);
	*t = timed_ask(s, &pair, pair.clock_hz > 0 ? timer : r->outside);
	/* Warps that all find their turn when they are ready take as long as one, and end together. How long some wait for others may differ
	 * from launch to launch so much that times tell nothing, and turns do. */
	const bool wild = !t->ok && t->point && !t->bad;
	if (r->starves && r->time[0].ok && warps > 1 &&
	    (wild || (t->ok && (t->ns > CONTENDED * r->time[0].ns || timed_starves(s, &pair))))) {
		*t = timed_together(s, &pair, warps, timer);
		r->together[r->count - 1] = true;
	}
	if (t->bad)
		r->bad = t->bad;
	else if (!t->ok && t->point)
		r->noisy = true;
	return t->ok ? t : NULL;
}

/* Time for a link of one warp, as if all of them were one after the other: less is more. */
static double each(const struct timed *t, unsigned warps)
{
	return t->ns / warps;
}

/* Doubles the warps until that gains nothing, twice, or there are as many as can be. */
static void climb(struct study *s, struct roof *r, double timer)
{
	const struct device_info *d = study_device(s);
	bool known;
	const unsigned block = d->max_threads_per_block / d->warp_size;
	unsigned most = pipeline_most_warps(d, &known);
	unsigned full = 1;
	while (2 * full <= block && 2 * full <= most)
		full *= 2;
	const struct timed_pair pair = pair_of(s, r, full);
	r->starves = timed_starves(s, &pair) || r->preferred;
	if (r->starves && most > block) { /* warps of several blocks cannot tell each other in time */
		most = block;
		known = false;
	}
	double before[2] = {INFINITY, INFINITY};
	for (unsigned w = 1; w <= most; w = w < most && 2 * w > most ? most : 2 * w) {
		if (!pipeline_blocks(d, w))
			break;
		const struct timed *t = load(s, r, w, timer);
		if (!t && w > 1 && r->bad && r->bad->outcome == OUTCOME_REFUSED) { /* so many do not fit */
			r->bad = NULL;
			r->whole = true;
			return;
		}
		if (!t)
			return;
		const double now = each(t, w);
		/* Warps that are behind wanted to issue and could not: what they wait for is full.
		 * Beyond one block all SMs have to be filled: once is enough there. */
		if ((r->starves && w >= full) || now > NO_BETTER * before[2 * w > block ? 0 : 1]) {
			r->flat = true;
			return;
		}
		before[1] = before[0];
		before[0] = now;
	}
	r->whole = known;
}

/* The load of the peak. What warps that stop together had begun errs either way, and least if most warps wait. The
 * least time of all would be the one that errs most. */
double roof_least(const struct roof *r, unsigned *at)
{
	double best = INFINITY;
	*at = 0;
	for (unsigned i = 1; i < r->count && r->starves; i++)
		if (r->time[i].ok && r->warps[i] > r->warps[*at])
			*at = i;
	if (r->starves && *at)
		return each(&r->time[*at], r->warps[*at]);
	/* Of the loads the one counts that is the least as far as it is known. If no clock times warps together, the
	 * least time would be the one that errs most. */
	for (unsigned i = 0; i < r->count; i++)
		if (r->time[i].ok && r->time[i].hi / r->warps[i] < best) {
			best = r->time[i].hi / r->warps[i];
			*at = i;
		}
	return isfinite(best) ? each(&r->time[*at], r->warps[*at]) : best;
}

/* Fewest of the loads asked for that come up to so much of the peak. */
static unsigned reaches(const struct roof *r, double part)
{
	unsigned at, found = 0;
	const double best = roof_least(r, &at);
	for (unsigned i = 0; i < r->count; i++)
		if (r->time[i].ok && best / each(&r->time[i], r->warps[i]) >= part && (!found || r->warps[i] < found))
			found = r->warps[i];
	return found;
}

/* Most warps below `above` that do not come up to it; 0: none. */
static unsigned below(const struct roof *r, double part, unsigned above)
{
	unsigned at, found = 0;
	const double best = roof_least(r, &at);
	for (unsigned i = 0; i < r->count; i++)
		if (r->time[i].ok && r->warps[i] < above && best / each(&r->time[i], r->warps[i]) < part &&
		    r->warps[i] > found)
			found = r->warps[i];
	return found;
}

/* Halves the gap below the fewest warps that come up to so much of the peak, until nothing lies in it. Returns those. */
static unsigned narrow_to(struct study *s, struct roof *r, double part, double timer)
{
	const struct device_info *d = study_device(s);
	for (;;) {
		const unsigned hi = reaches(r, part), lo = below(r, part, hi);
		unsigned mid = 0;
		for (unsigned k = 0; k < hi - lo && !mid; k++) { /* the one nearest the middle that can be */
			const unsigned at = (lo + hi) / 2 + (k % 2 ? (k + 1) / 2 : -(k / 2));
			if (at > lo && at < hi && pipeline_blocks(d, at))
				mid = at;
		}
		if (!mid || !load(s, r, mid, timer))
			return hi;
	}
}

/* Of warps that stop together, a number that seems to do more than the most warps do, which fill the pipe. 0: none. Two
 * lengths of a loop differ by what links take only if the pipe is as full in both. If warps that are behind find no
 * turn in the shorter loop, the longer one seems too fast. */
unsigned roof_beyond_peak(const struct roof *r)
{
	unsigned at;
	const double best = roof_least(r, &at);
	for (unsigned i = 0; i < r->count && r->starves; i++)
		if (r->time[i].ok && BEYOND * each(&r->time[i], r->warps[i]) < best)
			return r->warps[i];
	return 0;
}

/* Part of its time that the load of so many warps may be off by; 0: it was not asked for. */
static double known_to(const struct roof *r, unsigned warps)
{
	for (unsigned i = 0; i < r->count; i++)
		if (r->warps[i] == warps && r->time[i].ok)
			return (r->time[i].hi - r->time[i].lo) / 2 / r->time[i].ns;
	return 0;
}

/* From and to how many warps the ridge may be, as far as rates may be off. */
void roof_ridge_between(const struct roof *r, unsigned *lo, unsigned *hi)
{
	unsigned best;
	roof_least(r, &best);
	/* If turns are counted until the first warp ends, rates are hardly better known than the peak. Those of fewer
	 * warps are known less well. */
	const double counted = r->starves ? fmax(known_to(r, r->warps[best]),
						 fmax(known_to(r, r->ridge), known_to(r, below(r, RIDGE, r->ridge))))
					  : 0,
		     unsure =
			 r->unseen ? 1 - ROOF_COMPILED : fmax(UNSURE, counted), /* of the peak, which is one at most */
	    above = fmin(RIDGE + unsure, (1 + RIDGE) / 2);
	const unsigned most = reaches(r, above), fewest = reaches(r, RIDGE - unsure);
	*lo = below(r, RIDGE - unsure, r->ridge) + 1;
	/* Fewer warps may do while more do not, if all wait for the last. One more than a whole number for each
	 * scheduler takes a turn more. */
	*lo = !r->starves && fewest && fewest < *lo ? fewest : *lo;
	*hi = most > r->ridge ? most : r->ridge;
}

/* Fewest warps that reach so much of the peak if no turn at the pipe is lost. Each of so many equal parts of an SM has
 * every parts-th warp. alone: part of the peak that one warp reaches. */
static unsigned fewest_at_best(double alone, unsigned parts, double part)
{
	for (unsigned w = 1;; w++) {
		const unsigned each = w / parts, more = w % parts;
		const double full = 1.0 / parts,
			     rate = (parts - more) * fmin(full, each * alone) + more * fmin(full, (each + 1) * alone);
		if (rate >= part)
			return w;
	}
}

/* Part of the peak that one warp reaches. */
static double reached_alone(const struct roof *r)
{
	unsigned at;
	return roof_least(r, &at) / r->time[0].ns;
}

unsigned roof_lost(const struct roof *r, unsigned lo, unsigned hi)
{
	if (!r->starves || r->chains == 1 || !r->time[0].ok)
		return 0;
	const double alone = reached_alone(r);
	const unsigned fewest = fewest_at_best(alone, 1, RIDGE - UNSURE);
	for (unsigned parts = 1; parts <= PARTS_MOST; parts *= 2)
		if (r->ridge >= fewest_at_best(alone, parts, RIDGE - SURE) &&
		    r->ridge <= fewest_at_best(alone, parts, RIDGE + SURE))
			return 0;
	return fewest < lo && !roof_is_told(r, fewest, hi) ? fewest : 0;
}

unsigned roof_ridge_from(const struct roof *r, unsigned lo, unsigned hi)
{
	if (!r->starves || !r->time[0].ok)
		return lo;
	const unsigned fewest = fewest_at_best(reached_alone(r), 1, RIDGE - UNSURE);
	return fewest < lo && roof_is_told(r, fewest, hi) ? fewest : lo;
}

bool roof_is_known(const struct roof *r, unsigned lo, unsigned hi)
{
	return hi - lo <= fmax(1, VAGUE * r->ridge);
}

/* Whether that says how many fill the pipe where warps are preferred: to one more or less, or nearly. */
bool roof_is_told(const struct roof *r, unsigned lo, unsigned hi)
{
	return !r->starves || hi - lo <= fmax(1, NEAR * r->ridge);
}

/* Whether numbers in between, which were not tried, could tell where those that were do not. */
static bool may_be_told(const struct roof *r)
{
	unsigned lo, hi;
	roof_ridge_between(r, &lo, &hi);
	const unsigned least = reaches(r, RIDGE - UNSURE), most = below(r, RIDGE + UNSURE, hi) + 1;
	return !roof_is_told(r, lo, hi) && (most <= least || roof_is_told(r, least, most));
}

static void narrow(struct study *s, struct roof *r, double timer)
{
	const bool noisy = r->noisy;
	r->ridge = narrow_to(s, r, RIDGE, timer);
	if (!study_pending(s) && may_be_told(r)) {
		narrow_to(s, r, RIDGE - UNSURE, timer);
		narrow_to(s, r, RIDGE + UNSURE, timer);
		r->ridge = reaches(r, RIDGE);
	}
	/* What the pipe does when it is full does not depend on how soon it is. */
	r->vague = r->noisy && !noisy;
	r->noisy = noisy;
}

/* t: of the pair under load `at`, whose warps stop together. fills: times as much that the upper half of the loops' difference may say. */
static void allow_for_gaps(struct study *s, struct roof *r, unsigned at, struct timed *t, const struct timed_pair *pair,
			   double fills, double timer)
{
	if (!r->starves || !t->ok || !pipeline_may_have_gaps(t, pair))
		return;
	const struct timed_pair half = upper_half(*pair);
	const struct timed upper = timed_together(s, &half, r->warps[at], timer);
	if (!study_pending(s))
		r->gaps = pipeline_gaps(t, &upper, pair, fills);
}

static void allow_for_wide_gaps(struct study *s, struct roof *r, double timer)
{
	unsigned at;
	roof_least(r, &at);
	const struct timed_pair pair = pair_of(s, r, r->warps[at]);
	allow_for_gaps(s, r, at, &r->time[at], &pair, FILLS, timer);
}

static struct timed_pair longer_pair(const struct study *s, const struct roof *r, unsigned at)
{
	struct timed_pair pair = pair_of(s, r, r->warps[at]);
	pair.longer = LONGER;
	pair.ends = ENDS;
	pair.quiet = ENDS / 4;
	return pair;
}

/* Times a load in launches so many times longer. Warps hide some of each other's beginnings and ends. Some begin turns
 * only when the first warp comes to its end. Both are as much of any launch: a real GPU of 128 operations a cycle
 * seemed to do 131.5. The long launch may still be off by its part of what the short one was off. Two repeats that
 * happen to agree say too little of what is to be known so well. */
static struct timed longer(struct study *s, const struct roof *r, unsigned at, double timer)
{
	const struct timed_pair pair = longer_pair(s, r, at);
	struct timed t = r->together[at] ? timed_together(s, &pair, r->warps[at], timer)
					 : timed_ask(s, &pair, pair.clock_hz > 0 ? timer : r->outside);
	const double off = fabs(t.ns - r->time[at].ns) / (LONGER - 1);
	t.lo -= off;
	t.hi += off;
	return t;
}

/* Allows for gaps in longer launches, in which less is begun only, so that a smaller part of what links take tells. The
 * last warps may hide a little more of the loop's end the longer it is. Such an end took 6 %, and 1 % by the two halves
 * of the difference. */
static void allow_for_small_gaps(struct study *s, struct roof *r, double timer)
{
	const struct timed_pair pair = longer_pair(s, r, r->sharp_at);
	allow_for_gaps(s, r, r->sharp_at, &r->sharp, &pair, FILLS_LONG, timer);
}

/* Whether the difference of two loops is that of their links, in longer launches that seem faster than short ones.
 * Warps that begin together come to the loop's end together, and all wait there, which does not cancel. They fall out
 * of step as they go, sooner or later by the length of the loop. The upper half of the difference then says something
 * else than all of it. */
static bool is_of_links(struct study *s, const struct roof *r, unsigned at, const struct timed *t, double timer)
{
	const struct timed_pair half = upper_half(longer_pair(s, r, at));
	if (r->starves || !at || t->ns >= NO_BETTER * r->time[at].ns)
		return true;
	const struct timed upper = timed_ask(s, &half, half.clock_hz > 0 ? timer : r->outside);
	return study_pending(s) || (upper.ok && fabs(upper.ns - t->ns) <= (1 - NO_BETTER) * t->ns);
}

/* Joins the peak with what another load says. The peak is the most that any load does. So it is at least what any does
 * for certain, and at most what any may do. A real GPU did 126 operations a cycle with 32 warps, known well. With 16
 * warps it did 127.5 to 128, known less well. Either alone would come out in one run and not in the next. */
static void join(struct roof *r, unsigned at, const struct timed *t)
{
	const double was = r->warps[r->sharp_at], is = r->warps[at], lo = fmin(r->sharp.lo / was, t->lo / is),
		     hi = fmin(r->sharp.hi / was, t->hi / is);
	if (each(t, r->warps[at]) < each(&r->sharp, r->warps[r->sharp_at])) {
		r->sharp = *t;
		r->sharp_at = at;
	}
	r->sharp.lo = lo * r->warps[r->sharp_at];
	r->sharp.hi = hi * r->warps[r->sharp_at];
}

/* Loads that may do as well or better, as far as shorter launches tell. Of one that differs from launch to launch the best would be the one that
 * errs most. */
static void sharpen_others(struct study *s, struct roof *r, double timer)
{
	bool asked[ROOF_LOADS] = {false};
	asked[r->sharp_at] = true;
	for (unsigned n = 0; n < OTHERS; n++) {
		const double peak = each(&r->sharp, r->warps[r->sharp_at]);
		unsigned at = 0;
		double best = INFINITY;
		for (unsigned i = 1; i < r->count; i++) {
			const struct timed *t = &r->time[i];
			if (asked[i] || !t->ok || each(t, r->warps[i]) > peak / RIDGE || t->hi / r->warps[i] >= best)
				continue;
			best = t->hi / r->warps[i];
			at = i;
		}
		if (!at)
			return;
		asked[at] = true;
		const struct timed t = longer(s, r, at, timer);
		if (study_pending(s))
			return;
		if (t.ok && (t.hi - t.lo) / 2 <= UNSURE * t.ns && is_of_links(s, r, at, &t, timer))
			join(r, at, &t);
	}
}

/* Asks for the peak in longer launches. Few warps that just fill the pipe may fall into a step in which some of them
 * wait, the more often the longer they run. Others, of which more wait, are asked then. */
static void sharpen(struct study *s, struct roof *r, double timer)
{
	for (unsigned tries = 0; tries < SHARPER && !r->gaps; tries++) {
		unsigned at;
		roof_least(r, &at);
		const double before = r->time[at].ns;
		if (!r->time[at].ok)
			return;
		const struct timed sharp = longer(s, r, at, timer);
		if (study_pending(s) || !sharp.ok)
			return;
		if (!r->starves && at && sharp.ns * NO_BETTER > before) {
			r->time[at] = sharp;
			r->slips = true;
			continue;
		}
		r->out_of_step = !is_of_links(s, r, at, &sharp, timer);
		if (r->out_of_step) {
			r->time[at].ok = false;
			continue;
		}
		r->slower = r->starves && sharp.lo > r->time[at].hi;
		r->sharp = sharp;
		r->sharp_at = at;
		if (!r->starves)
			sharpen_others(s, r, timer);
		return;
	}
}

/* Asks, in longer launches, for the loads around a ridge that is not told. A load that nobody asked for stays as it
 * is. */
static void sharpen_ridge(struct study *s, struct roof *r, double timer)
{
	unsigned lo, hi, at;
	roof_ridge_between(r, &lo, &hi);
	roof_least(r, &at);
	if (!r->starves || !r->sharp.ok || roof_is_told(r, lo, hi) || hi - lo > RIDGE_WIDE)
		return;
	for (unsigned i = 0; i < r->count; i++) {
		if (!r->together[i] || i == at || r->warps[i] + 1 < lo || r->warps[i] > hi)
			continue;
		struct timed_pair pair = pair_of(s, r, r->warps[i]);
		pair.longer = LONGER;
		const struct timed longer = timed_together(s, &pair, r->warps[i], timer);
		if (longer.ok)
			r->time[i] = longer;
	}
	if (study_pending(s))
		return;
	r->time[at] = r->sharp;
	r->ridge = reaches(r, RIDGE);
}

/* Whether the difference of two loops that are shorter than usual is less than that of their links. The loop's end, as
 * the counter that its jump waits for, may take longer than the few links of the shorter loop. It hides behind the
 * links of the longer one. The upper half of the difference has less of it. Links of 7 cycles of one GPU seemed to take
 * 6.6. */
static bool end_shows(struct study *s, const struct roof *r, double timer)
{
	const struct timed_pair half = upper_half(pair_of(s, r, 1));
	if (r->shorter == 1 || !r->count || !r->time[0].ok)
		return false;
	const struct timed upper = timed_ask(s, &half, half.clock_hz > 0 ? timer : r->outside);
	return upper.ok && upper.ns * NO_BETTER > r->time[0].ns && upper.lo > r->time[0].hi;
}

/* Its loops are as short as they have to be. */
void roof_measure(struct study *s, struct roof *r, double timer)
{
	climb(s, r, timer);
	r->unseen = !study_seen(s, r->class, r->time[0].point);
	if (!r->bad && r->flat | r->whole)
		narrow(s, r, timer);
	if (!study_pending(s) && r->ridge)
		allow_for_wide_gaps(s, r, timer);
	if (study_pending(s) || !r->ridge || r->noisy || r->bad)
		return;
	r->end_shows = end_shows(s, r, timer);
	sharpen(s, r, timer);
	if (!study_pending(s))
		allow_for_small_gaps(s, r, timer);
	if (!study_pending(s))
		sharpen_ridge(s, r, timer);
}

/* Whether some of the ridge's warps, or of fewer, end before others although none is preferred. Two that take turns at
 * a part of the pipe, while others have one each, take as long as a full pipe. */
bool roof_ends_apart(const struct roof *r)
{
	unsigned sooner = 0;
	double full = 0;
	if (!r->measured || r->starves || !r->ridge)
		return false;
	for (unsigned i = 0; i < r->count; i++)
		if (r->warps[i] == r->ridge)
			full = r->time[i].ns;
	if (full <= CONTENDED * r->time[0].ns)
		return false;
	for (unsigned i = 0; i < r->count; i++)
		if (r->time[i].ok && r->time[i].ns < full * NO_BETTER && r->warps[i] > sooner)
			sooner = r->warps[i];
	return r->ridge > sooner && r->ridge - sooner > fmax(1, NEAR * r->ridge);
}
