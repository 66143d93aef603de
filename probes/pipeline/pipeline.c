/* The occupancy roofline and the two latencies of the pipeline model: Lemeire's method, which needs no clock in the kernel.
 *
 * For every class of instructions, with 1, 2 and 4 independent chains in a warp: what a link takes against the number of warps that
 * an SM has. One warp alone shows the completion latency, the least of all numbers of warps the issue latency; the fewest warps
 * that come within 5 % of it are the ridge point. */
#include "pipeline.h"
#include "base/arena.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ILPS = 3, LOADS_MOST = 64 };
static const unsigned ilp[ILPS] = {1, 2, 4};

#define RIDGE 0.95 /* of the peak: Lemeire 2016, III */
/* What a rate near the ridge may be off by. That of warps that stop together, too: what those have begun when the first one comes to its
 * end is nearly the same in both lengths of a launch. */
#define UNSURE	  0.02
#define NEAR	  0.05 /* of a number of warps: from and to how many there have to be */
#define NO_BETTER 0.98 /* of the time with fewer warps: more of them gain nothing */
#define PACE	  0.05 /* of the clock that the device tells: what is nearer to it may boost now and then */
#define BEYOND	  1.1  /* times faster than the peak: something is wrong, and not with the peak */
#define CONTENDED 1.03 /* of the time of one warp */

/* Of the time that operations take as they were compiled, what they take in a better order and with registers that do not get in each
 * other's way. Only the native code tells: through OpenCL, cosines of one GPU took 1.05 times as long as through CUDA, and multiply-adds
 * among others 1.07 times. */
#define COMPILED 0.9

const struct pipeline_row pipeline_row[CLASSES] = {
#define CLASS_ROW(name, ID, reg, operations) {name, reg, operations},
    PIPELINE_CLASSES(CLASS_ROW)
#undef CLASS_ROW
};

#define CLASS_SETUP(name, ID, reg, operations)                                                                         \
	static int setup_##ID(const struct study *s, double x, const double *p, struct job *j)                         \
	{                                                                                                              \
		return pipeline_setup(s, CLASS_##ID, false, x, p, j);                                                  \
	}                                                                                                              \
	static int setup_together_##ID(const struct study *s, double x, const double *p, struct job *j)                \
	{                                                                                                              \
		return pipeline_setup(s, CLASS_##ID, true, x, p, j);                                                   \
	}
PIPELINE_CLASSES(CLASS_SETUP)
#undef CLASS_SETUP

static const struct experiment experiments[] = {
#define ROOF_EXPERIMENT(name_, setup_)                                                                                 \
	{.name = name_,                                                                                                \
	 .axis = "warps",                                                                                              \
	 .unit = "count",                                                                                              \
	 .params = {"chains", "links", "rounds", "repeats", "block", "spans"},                                         \
	 .setup = setup_},
#define CLASS_EXPERIMENT(name, ID, reg, operations) ROOF_EXPERIMENT(name, setup_##ID)
    PIPELINE_CLASSES(CLASS_EXPERIMENT)
#undef CLASS_EXPERIMENT
#define CLASS_EXPERIMENT(name, ID, reg, operations) ROOF_EXPERIMENT(name "-together", setup_together_##ID)
	PIPELINE_CLASSES(CLASS_EXPERIMENT)
#undef CLASS_EXPERIMENT
#undef ROOF_EXPERIMENT
	    [EXPERIMENT_ITEMS] = {.name = "items",
				  .axis = "work items",
				  .unit = "count",
				  .params = {"chains", "links", "rounds", "repeats", "block", "spans"},
				  .setup = pipeline_items_setup},
};

/* ---- what is asked ---- */

/* One class at one parallelism: the loads that were asked for, in that order. */
struct roof {
	enum pipeline_class class;
	unsigned chains, count, ridge;
	unsigned shorter; /* than usual: so many times shorter loops */
	bool spans;	  /* each block of launches of several reads the clock */
	double outside;	  /* how well the timer tells launches apart of which no thread sees all, ns */
	double
	    full; /* what a link takes, at least, with one chain in as many warps as fill the pipe, ns; 0: not known */
	unsigned warps[LOADS_MOST];
	struct timed time[LOADS_MOST];
	const struct point *bad;
	bool whole;   /* the last doubling reached all warps that an SM can have */
	bool flat;    /* more warps gained nothing */
	bool noisy;   /* a time that is not known well enough */
	bool vague;   /* the same of one that only the ridge depends on */
	bool starves; /* warps are preferred to each other */
	bool unseen;  /* what runs cannot be read back, and could be something better */
	enum pipeline_gaps gaps;
	bool preferred; /* other operations' warps are preferred to each other */
	bool measured;	/* there is something to conclude from */
};

/* NULL: it is not there. */
static const struct timed *load(struct study *s, struct roof *r, unsigned warps, double timer)
{
	for (unsigned i = 0; i < r->count; i++)
		if (r->warps[i] == warps)
			return r->time[i].ok ? &r->time[i] : NULL;
	if (r->count == LOADS_MOST)
		return NULL;
	r->warps[r->count] = warps;
	struct timed *t = &r->time[r->count++];
	const struct timed_pair pair = pipeline_pair(study_device(s), r->class, r->chains, warps, r->shorter, r->spans);
	*t = timed_ask(s, &pair, pair.clock_hz > 0 ? timer : r->outside);
	/* Warps that all find their turn when they are ready take as long as one, and end together. */
	if (r->starves && t->ok && r->time[0].ok && (t->ns > CONTENDED * r->time[0].ns || timed_starves(s, &pair)))
		*t = timed_together(s, &pair, warps, timer);
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
	const struct timed_pair pair = pipeline_pair(d, r->class, r->chains, full, r->shorter, r->spans);
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

/* The peak's. What warps that stop together had begun errs either way, and least where most warps wait: the least of all would be
 * the one that errs most. */
static double least(const struct roof *r, unsigned *at)
{
	double best = INFINITY;
	*at = 0;
	for (unsigned i = 1; i < r->count && r->starves; i++)
		if (r->time[i].ok && r->warps[i] > r->warps[*at])
			*at = i;
	if (r->starves && *at)
		return each(&r->time[*at], r->warps[*at]);
	for (unsigned i = 0; i < r->count; i++)
		if (r->time[i].ok && each(&r->time[i], r->warps[i]) < best) {
			best = each(&r->time[i], r->warps[i]);
			*at = i;
		}
	return best;
}

/* Fewest of the loads asked for that come up to so much of the peak. */
static unsigned reaches(const struct roof *r, double part)
{
	unsigned at, found = 0;
	const double best = least(r, &at);
	for (unsigned i = 0; i < r->count; i++)
		if (r->time[i].ok && best / each(&r->time[i], r->warps[i]) >= part && (!found || r->warps[i] < found))
			found = r->warps[i];
	return found;
}

/* Most warps below `above` that do not come up to it; 0: none. */
static unsigned below(const struct roof *r, double part, unsigned above)
{
	unsigned at, found = 0;
	const double best = least(r, &at);
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

/* Of warps that stop together, a number that seems to do more than the most warps do, which fill the pipe; 0: none. What two lengths
 * of a loop differ by is what links take only if the pipe is as full in both: where the warps that are behind find no turn in the shorter
 * one, the longer one seems too fast. */
static unsigned beyond_peak(const struct roof *r)
{
	unsigned at;
	const double best = least(r, &at);
	for (unsigned i = 0; i < r->count && r->starves; i++)
		if (r->time[i].ok && BEYOND * each(&r->time[i], r->warps[i]) < best)
			return r->warps[i];
	return 0;
}

/* From and to how many warps the ridge may be, as far as rates may be off. */
static void ridge_between(const struct roof *r, unsigned *lo, unsigned *hi)
{
	unsigned best;
	least(r, &best);
	/* Where turns are counted until the first warp ends, rates are hardly better known than the peak. */
	const double counted = r->starves ? (r->time[best].hi - r->time[best].lo) / 2 / r->time[best].ns : 0,
		     unsure = r->unseen ? 1 - COMPILED : fmax(UNSURE, counted), /* of the peak, which is one at most */
	    above = fmin(RIDGE + unsure, (1 + RIDGE) / 2);
	const unsigned most = reaches(r, above), fewest = reaches(r, RIDGE - unsure);
	*lo = below(r, RIDGE - unsure, r->ridge) + 1;
	/* Fewer may do while more do not, where all wait for the last: one more than a whole number for each scheduler takes a turn more. */
	*lo = !r->starves && fewest && fewest < *lo ? fewest : *lo;
	*hi = most > r->ridge ? most : r->ridge;
}

/* Whether that says how many fill the pipe where warps are preferred: to one more or less, or nearly. */
static bool is_told(const struct roof *r, unsigned lo, unsigned hi)
{
	return !r->starves || hi - lo <= fmax(1, NEAR * r->ridge);
}

/* Whether numbers in between, which were not tried, could tell where those that were do not. */
static bool may_be_told(const struct roof *r)
{
	unsigned lo, hi;
	ridge_between(r, &lo, &hi);
	const unsigned least = reaches(r, RIDGE - UNSURE), most = below(r, RIDGE + UNSURE, hi) + 1;
	return !is_told(r, lo, hi) && (most <= least || is_told(r, least, most));
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

static void allow_for_gaps(struct study *s, struct roof *r, double timer)
{
	unsigned at;
	least(r, &at);
	struct timed *t = &r->time[at];
	struct timed_pair pair =
	    pipeline_pair(study_device(s), r->class, r->chains, r->warps[at], r->shorter, r->spans);
	if (!r->starves || !t->ok || !pipeline_may_have_gaps(t, &pair))
		return;
	struct timed_pair half = pair;
	half.few = (pair.few + pair.many) / 2;
	const struct timed upper = timed_together(s, &half, r->warps[at], timer);
	if (!study_pending(s))
		r->gaps = pipeline_gaps(t, &upper, &pair);
}

/* ---- what is concluded ---- */

static const char *const parts[] = {"issue", "completion", "peak", "ridge", "performance"};
enum { PART_ISSUE, PART_COMPLETION, PART_PEAK, PART_RIDGE, PART_PERFORMANCE, PARTS };

static const char *key_of(char *out, const struct roof *r, unsigned part)
{
	snprintf(out, 64, "pipeline.%s.ilp%u.%s", pipeline_row[r->class].name, r->chains, parts[part]);
	return out;
}

static void verdict_all(struct study *s, const struct roof *r, enum verdict v, const char *because)
{
	char key[64];
	for (unsigned i = 0; i < PARTS; i++)
		study_verdict(s, key_of(key, r, i), v, pipeline_row[r->class].name, "%s", because);
}

static void conclude_ridge(struct study *s, const struct roof *r, const char *evidence)
{
	char key[64];
	const unsigned at = r->ridge;
	unsigned lo, hi;
	ridge_between(r, &lo, &hi);
	if (!r->ridge || r->bad || r->noisy || r->vague) {
		study_verdict(s, key_of(key, r, PART_RIDGE), VERDICT_INCONCLUSIVE, evidence,
			      "run times of equal launches with fewer warps than fill the pipe differ too much");
		return;
	}
	if (r->gaps) {
		study_verdict(
		    s, key_of(key, r, PART_RIDGE), VERDICT_INCONCLUSIVE, evidence,
		    "some warps are preferred to others, and the pipe is not as full in the shorter loop as in longer "
		    "ones: with fewer warps it may be less so");
		return;
	}
	const unsigned faster = beyond_peak(r);
	if (faster) {
		study_verdict(
		    s, key_of(key, r, PART_RIDGE), VERDICT_INCONCLUSIVE, evidence,
		    "some warps are preferred to others, and %u warps seem faster than the peak: the pipe is not as "
		    "full in the shorter loop as in the longer one",
		    faster);
		return;
	}
	if (!is_told(r, lo, hi)) {
		study_verdict(
		    s, key_of(key, r, PART_RIDGE), VERDICT_INCONCLUSIVE, evidence,
		    "some warps are preferred to others, and what they reach together within 5 %% of the peak begins "
		    "somewhere from %u to %u warps",
		    lo, hi);
		return;
	}
	study_measured_number(s, key_of(key, r, PART_RIDGE), at, lo < at ? lo : at, hi, "sm",
			      "fewest warps within 5 % of the peak", evidence, "%u work items",
			      at * study_device(s)->warp_size);
}

/* ridge: the same, where its warps that end before others were counted on their own; or r. */
static void conclude(struct study *s, const struct roof *r, const struct roof *ridge, double pace)
{
	const struct device_info *d = study_device(s);
	const unsigned operations = pipeline_row[r->class].operations, flops = r->class == CLASS_MAD ? 2 : operations;
	const char *evidence = pipeline_row[r->class].name;
	static const char one[] = "run time of one warp, difference of two lengths",
			  least_of[] = "least of all numbers of warps, difference of two lengths",
			  together[] =
			      "turns of all warps until one has made all of its own, difference of two lengths";
	char key[64];
	unsigned at;
	const char *full = r->starves ? together : least_of;
	least(r, &at);
	const struct timed *first = &r->time[0], *best = &r->time[at];
	const double w = r->warps[at], cycles = d->clock_hz * 1e-9 / operations, lanes = d->warp_size;
	const bool plateau = r->flat || r->whole;
	const double better = r->unseen ? COMPILED : 1;
	const double value = best->ns / w, lo = best->lo / w * better, hi = best->hi / w;
	if (!plateau) {
		verdict_all(
		    s, r, VERDICT_INCONCLUSIVE,
		    "the rate still grows with the most warps that could be tried, and the device does not tell "
		    "how many an SM takes");
		return;
	}
	/* Times are those of the clock that the device tells. */
	const double all = flops * lanes * d->sm_count, usual = fabs(pace - 1) > PACE ? pace : 1;
	study_measured_number(
	    s, key_of(key, r, PART_PERFORMANCE), all / value * usual, all / hi * fmin(usual, pace),
	    all / lo * fmax(usual, pace), "card", "operations a second of all SMs, from the run time on one", evidence,
	    "with %u warps on an SM, at %.3g of the clock that the device tells; a multiply-add counts as two "
	    "operations",
	    r->warps[at], usual);
	conclude_ridge(s, ridge, evidence);
	if (!(d->clock_hz > 0)) {
		for (unsigned k = PART_ISSUE; k <= PART_PEAK; k++)
			study_verdict(s, key_of(key, r, k), VERDICT_UNSUPPORTED, evidence,
				      "the device does not tell its clock, so run times are no cycles");
		return;
	}
	study_measured_number(
	    s, key_of(key, r, PART_ISSUE), value * cycles, lo * cycles, hi * cycles, "sm", full, evidence,
	    "with %u warps, %u repeats%s; from the whole run time, as the paper takes it, %.4g cycles", r->warps[at],
	    best->repeats, r->gaps ? ", from the longer of three loops, as the shortest leaves gaps" : "",
	    best->coarse / w * cycles);
	study_measured_number(s, key_of(key, r, PART_COMPLETION), first->ns * cycles, first->lo * better * cycles,
			      first->hi * cycles, "sm", one, evidence,
			      "%u repeats; from the whole run time, as the paper takes it, %.4g cycles", first->repeats,
			      first->coarse * cycles);
	study_measured_number(s, key_of(key, r, PART_PEAK), lanes / (value * cycles), lanes / (hi * cycles),
			      lanes / (lo * cycles), "sm", "warp size over issue latency", evidence, "with %u warps",
			      r->warps[at]);
}

/* Chains of a warp issue faster than warps that fill the pipe, in loops that are shorter than usual: instructions that go out in pairs,
 * or what is left of a loop's end, which hides behind more of them in the longer loop. */
static bool ends_show(const struct roof *r)
{
	unsigned at;
	least(r, &at);
	return r->shorter > 1 && !r->starves && r->time[at].hi / r->warps[at] < r->full;
}

/* Whether chains are long enough in loops that are shorter than usual: what is at the end of a loop hides behind the last links, and differently
 * where those are the first as well. */
static bool has_room(const struct study *s, const struct roof *r)
{
	const struct timed_pair k = pipeline_pair(study_device(s), r->class, r->chains, 1, r->shorter, false);
	return k.few && (r->shorter == 1 || PIPELINE_OPS / r->shorter / r->chains >= PIPELINE_LINKS_LEAST);
}

/* Its loops are as short as they have to be. */
static void measure(struct study *s, struct roof *r, double timer)
{
	climb(s, r, timer);
	r->unseen = !study_seen(s, r->class, r->time[0].point);
	if (!r->bad && r->flat | r->whole)
		narrow(s, r, timer);
	if (!study_pending(s) && r->ridge)
		allow_for_gaps(s, r, timer);
}

static void measure_roof(struct study *s, struct roof *r, double timer)
{
	if (r->class == CLASS_DP && !study_device(s)->has_f64) {
		verdict_all(s, r, VERDICT_UNSUPPORTED, "the device has no double precision");
		return;
	}
	const char *why;
	r->shorter = pipeline_shorter(s, r->class, timer, &why);
	if (r->shorter && !why && !has_room(s, r))
		why = "a loop whose instructions are at hand has no room for as many chains";
	if (why)
		verdict_all(s, r, VERDICT_INCONCLUSIVE, why);
	if (!r->shorter || why)
		return;
	measure(s, r, timer);
	r->measured = true;
}

static void conclude_roof(struct study *s, const struct roof *r, const struct roof *ridge, double pace)
{
	if (!r->measured)
		return;
	if (r->bad)
		verdict_all(s, r, r->bad->outcome == OUTCOME_INVALID ? VERDICT_INCONCLUSIVE : VERDICT_UNSUPPORTED,
			    point_why(r->bad));
	else if (r->noisy || !r->count || !r->time[0].ok)
		verdict_all(s, r, VERDICT_INCONCLUSIVE, "run times of equal launches differ too much");
	else if (ends_show(r))
		verdict_all(
		    s, r, VERDICT_INCONCLUSIVE,
		    "several chains seem faster than warps that fill the pipe, in loops whose end may be hidden better "
		    "the longer they are");
	else if (r->gaps == GAPS_WIDE)
		verdict_all(
		    s, r, VERDICT_INCONCLUSIVE,
		    "some warps are preferred to others, and the pipe is not as full in the shorter loop as in longer "
		    "ones, in which what else is there takes too much time");
	else
		conclude(s, r, ridge, pace);
}

/* Whether warps of any of them are preferred to others. */
static bool is_preferred(const struct roof *r, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (r[i].starves)
			return true;
	return false;
}

/* Whether, of as many warps as the ridge and of fewer, some end before others although none is preferred: where two take turns at a part of the
 * pipe and others have one each, as many take as long as where all of it is full. */
static bool ends_apart(const struct roof *r)
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

/* The same as where its own warps are preferred to others, for its ridge: those that end sooner do not wait for the last. Where nobody asked, as in
 * an older recording, it stays as it is. */
static void measure_again(struct study *s, struct roof *r, double timer)
{
	struct roof again = {.class = r->class,
			     .chains = r->chains,
			     .shorter = r->shorter,
			     .full = r->full,
			     .spans = r->spans,
			     .outside = r->outside,
			     .preferred = true};
	measure(s, &again, timer);
	if (again.ridge || again.bad || again.noisy)
		*r = again;
}

/* Loops of all classes and chains, as long as they are where instructions are at hand. */
static void look_ahead(struct study *s)
{
	for (unsigned c = 0; c < CLASSES; c++)
		for (unsigned i = 0; i < ILPS; i++) {
			const struct timed_pair k =
			    pipeline_pair(study_device(s), (enum pipeline_class)c, ilp[i], 1, 1, false);
			for (unsigned links = 0; links < 2; links++) {
				timed_point(s, &k, k.experiment, links ? k.many : k.few, 1, 1);
				timed_point(s, &k, k.together, links ? k.many : k.few, 1, 1);
			}
		}
}

static void study(struct study *s)
{
	const char *why;
	double timer;
	const struct timed_pair one = pipeline_pair(study_device(s), CLASS_SP, 1, 1, 1, false);
	struct timed_pair unseen = one;
	unseen.clock_hz = 0;
	double outside;
	const bool told = timed_timer(s, &one, &timer, &why) && timed_timer(s, &unseen, &outside, &why);
	if (!told && !why && study_ahead(s)) {
		look_ahead(s);
		return;
	}
	bool steady = true;
	const double seen = told ? timed_pace(s, &one, &steady) : 1;
	/* Run times of launches say little where the clock goes faster for some of them; as long as all are at one rate they need no clock. */
	const double swing = study_swing(s);
	const bool boosts = swing > 0;
	const bool spans = one.clock_hz > 0 && (!steady || boosts);
	/* All launches that told may have met the faster rate. */
	const double pace = boosts && seen > 1 && seen <= 1 + swing ? 1 : seen;
	struct roof *all = ARENA_ARRAY(study_arena(s), 2 * CLASSES * ILPS, struct roof), *again = all + CLASSES * ILPS;
	for (unsigned c = 0; all && c < CLASSES; c++) {
		double full = 0;
		for (unsigned i = 0; i < ILPS; i++) {
			struct roof *r = &all[c * ILPS + i];
			*r = (struct roof){
			    .class = (enum pipeline_class)c, .chains = ilp[i], .full = full, .spans = spans};
			unsigned at;
			if (told)
				r->outside = outside;
			if (told)
				measure_roof(s, r, timer);
			else if (why)
				verdict_all(s, r, VERDICT_INCONCLUSIVE, why);
			if (r->flat && ilp[i] == 1 && least(r, &at) < INFINITY)
				full = r->time[at].lo / r->warps[at];
		}
	}
	for (unsigned i = 0; all && i < CLASSES * ILPS && !study_pending(s); i++) {
		again[i] = all[i];
		if (is_preferred(all, CLASSES * ILPS) && ends_apart(&all[i]))
			measure_again(s, &again[i], timer);
	}
	for (unsigned i = 0; all && i < CLASSES * ILPS && !study_pending(s); i++)
		conclude_roof(s, &all[i], &again[i], pace);
	if (told)
		pipeline_items(s, spans ? timer : outside, spans);
	else if (why)
		study_verdict(s, "pipeline.items", VERDICT_INCONCLUSIVE, "items", "%s", why);
}

static const char *const helped[] = {"instruction_cache", "clock", NULL};
static const char *const claims[] = {"pipeline.*", NULL};

const struct probe probe_pipeline = {
    .name = "pipeline",
    .asks = "How many warps fill each pipeline, what does it reach, and what are its issue and completion latencies?",
    .source = "Lemeire 2016, I and III to V: occupancy roofline, equations 1 to 5, Figures 1 to 3, Table II; here the "
	      "difference of two "
	      "lengths instead of one whole run time",
    .how =
	"Two kernels that differ only in how many instructions of a class their loop has are timed from outside, with "
	"1, 2 and 4 "
	"independent chains and more and more warps. What they differ by, over the instructions, is the time of one: "
	"with one warp the completion latency, with so many that more gain nothing the issue latency. More and more "
	"work "
	"items, on all SMs, show up to how many the run time stays the same.",
    .fooled =
	"A compiler that drops or folds instructions: those of the compiled kernel are counted, where it can be "
	"read back. A timer too "
	"coarse for short launches: how well it tells launches of different length apart is measured first, and "
	"launches are made longer "
	"and repeated until the interval is narrow. A clock that is not what the device says, or goes faster now and "
	"then: where a kernel can read the SM's clock it tells how many cycles a launch took, and latencies are "
	"made of those; where it cannot, they are cycles of the clock that the device tells. A scheduler that "
	"prefers some warps: when the first one has come to its end the others say how far they are; where some "
	"are behind, all of them stop with the first one, and the turns that they made are counted.",
    .figure = "occupancy-roofline",
    .helped = helped,
    .claims = claims,
    .experiments = experiments,
    .experiment_count = sizeof(experiments) / sizeof(experiments[0]),
    .study = study,
    .draw = pipeline_draw,
};
