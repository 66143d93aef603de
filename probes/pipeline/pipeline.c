/* The occupancy roofline and the two latencies of the pipeline model: Lemeire's method, which needs no clock in the
 * kernel.
 *
 * Every class of instructions is timed with 1, 2 and 4 independent chains in a warp. The time of a link is asked for
 * against the number of warps of an SM. One warp alone shows the completion latency, and the least of all numbers of
 * warps the issue latency. The fewest warps that come within 5 % of it are the ridge point. */
#include "base/arena.h"
#include "pipeline_roof.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ILPS = 3 };
static const unsigned ilp[ILPS] = {1, 2, 4};

#define PACE   0.05 /* of the clock that the device tells: what is nearer to it may boost now and then */
#define WIDEST 0.06 /* interval of what a link takes where loops leave gaps, as a part of it */

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
#define ROOF_EXPERIMENT(name_, setup_, thorough_)                                                                      \
	{.name = name_,                                                                                                \
	 .axis = "warps",                                                                                              \
	 .unit = "count",                                                                                              \
	 .params = {"chains", "links", "rounds", "repeats", "block", "spans"},                                         \
	 .setup = setup_,                                                                                              \
	 .thorough = thorough_},
#define CLASS_EXPERIMENT(name, ID, reg, operations) ROOF_EXPERIMENT(name, setup_##ID, CLASS_##ID == CLASS_SOFTSF)
    PIPELINE_CLASSES(CLASS_EXPERIMENT)
#undef CLASS_EXPERIMENT
#define CLASS_EXPERIMENT(name, ID, reg, operations)                                                                    \
	ROOF_EXPERIMENT(name "-together", setup_together_##ID, CLASS_##ID == CLASS_SOFTSF)
	PIPELINE_CLASSES(CLASS_EXPERIMENT)
#undef CLASS_EXPERIMENT
#undef ROOF_EXPERIMENT
	    [EXPERIMENT_ITEMS] = {.name = "items",
				  .axis = "work items",
				  .unit = "count",
				  .params = {"chains", "links", "rounds", "repeats", "block", "spans"},
				  .setup = pipeline_items_setup,
				  .thorough = true},
};

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
	static const char fewest_within[] = "fewest warps within 5 % of the peak";
	char key[64];
	const unsigned at = r->ridge;
	unsigned lo, hi;
	roof_ridge_between(r, &lo, &hi);
	if (!r->ridge || r->bad || r->noisy || r->vague) {
		study_verdict(s, key_of(key, r, PART_RIDGE), VERDICT_INCONCLUSIVE, evidence,
			      "run times of equal launches with fewer warps than fill the pipe differ too much");
		return;
	}
	if (r->slips) {
		study_verdict(s, key_of(key, r, PART_RIDGE), VERDICT_INCONCLUSIVE, evidence,
			      "warps that fill the pipe in short launches do not in longer ones");
		return;
	}
	if (r->gaps) {
		study_verdict(s, key_of(key, r, PART_RIDGE), VERDICT_INCONCLUSIVE, evidence,
			      "some warps are preferred, and the shorter loop fills the pipe less than longer ones: "
			      "with fewer warps it may fill it even less");
		return;
	}
	const unsigned faster = roof_beyond_peak(r);
	if (faster) {
		study_verdict(s, key_of(key, r, PART_RIDGE), VERDICT_INCONCLUSIVE, evidence,
			      "some warps are preferred, and %u warps seem faster than the peak: the shorter loop "
			      "fills the pipe less than the longer one",
			      faster);
		return;
	}
	if (!roof_is_told(r, lo, hi)) {
		study_between(
		    s, key_of(key, r, PART_RIDGE), at, lo, hi, "sm", fewest_within, evidence,
		    "some warps are preferred to others, and what they reach together within 5 %% of the peak begins "
		    "somewhere from %u to %u warps",
		    lo, hi);
		return;
	}
	if (!roof_is_known(r, lo, hi)) {
		study_between(s, key_of(key, r, PART_RIDGE), at, lo, hi, "sm", fewest_within, evidence,
			      "as far as rates are known, what comes within 5 %% of the peak begins somewhere from %u "
			      "to %u warps",
			      lo, hi);
		return;
	}
	const unsigned fewest = roof_lost(r, lo, hi);
	if (fewest) {
		study_verdict(s, key_of(key, r, PART_RIDGE), VERDICT_INCONCLUSIVE, evidence,
			      "some warps are preferred to others, and chains of those that are not come too late: %u "
			      "warps could do what %u to %u do",
			      fewest, lo, hi);
		return;
	}
	lo = roof_ridge_from(r, lo, hi);
	study_measured_number(s, key_of(key, r, PART_RIDGE), at, lo < at ? lo : at, hi, "sm", fewest_within, evidence,
			      "%u work items", at * study_device(s)->warp_size);
}

/* One warp alone. better: part of its time that operations may take that nobody sees. */
static void conclude_completion(struct study *s, const struct roof *r, double cycles, double better)
{
	static const char one[] = "run time of one warp, difference of two lengths";
	const struct timed *first = &r->time[0];
	const char *evidence = pipeline_row[r->class].name;
	char key[64];
	key_of(key, r, PART_COMPLETION);
	if (r->end_shows)
		study_verdict(s, key, VERDICT_INCONCLUSIVE, evidence,
			      "what is at the end of a loop takes longer than the few links of a short one, and hides "
			      "behind more of them");
	else
		study_measured_number(s, key, first->ns * cycles, first->lo * better * cycles, first->hi * cycles, "sm",
				      one, evidence,
				      "%u repeats; from the whole run time, as the paper takes it, %.4g cycles",
				      first->repeats, first->coarse * cycles);
}

/* Whether more warps may have gained nothing only because those of a second block waited for the first one's to end.
 * That may be if schedulers prefer some warps, and those of one block find their turns whenever they are ready. */
static bool may_wait_in_blocks(const struct study *s, const struct roof *r)
{
	const unsigned block = study_device(s)->max_threads_per_block / study_device(s)->warp_size;
	for (unsigned i = 0; i < r->count; i++)
		if (r->time[i].ok && r->warps[i] <= block && r->time[i].ns > CONTENDED * r->time[0].ns)
			return false;
	return !r->starves;
}

/* ridge: the same, where its warps that end before others were counted on their own; or r. preferred: schedulers prefer some warps to others. */
static void conclude(struct study *s, const struct roof *r, const struct roof *ridge, double pace, bool preferred)
{
	const struct device_info *d = study_device(s);
	const unsigned operations = pipeline_row[r->class].operations, flops = r->class == CLASS_MAD ? 2 : operations;
	const char *evidence = pipeline_row[r->class].name;
	static const char least_of[] = "least of all numbers of warps, difference of two lengths",
			  together[] =
			      "turns of all warps until one has made all of its own, difference of two lengths";
	char key[64];
	unsigned at;
	const char *full = r->starves ? together : least_of;
	roof_least(r, &at);
	at = r->sharp.ok ? r->sharp_at : at;
	const struct timed *best = r->sharp.ok ? &r->sharp : &r->time[at];
	const double w = r->warps[at], cycles = d->clock_hz * 1e-9 / operations, lanes = d->warp_size;
	const bool plateau = r->flat || r->whole;
	const double better = r->unseen ? ROOF_COMPILED : 1;
	const double value = best->ns / w, lo = best->lo / w * better, hi = best->hi / w;
	const bool wide = r->gaps && hi - best->lo / w > WIDEST * value;
	if (wide && hi - best->lo / w > STUDY_LIKELY_WIDEST * value) {
		verdict_all(s, r, VERDICT_INCONCLUSIVE,
			    "some warps are preferred to others. What a link takes by all of the loops lies too far "
			    "from what the upper half of their difference says");
		return;
	}
	if (!plateau || (preferred && may_wait_in_blocks(s, r))) {
		verdict_all(
		    s, r, VERDICT_INCONCLUSIVE,
		    plateau ? "warps of one block do not fill the pipe, and those of a second one may wait for its end"
			    : "the rate still grows with the most warps that could be tried, and the device "
			      "does not tell how many an SM takes");
		if (plateau && d->clock_hz > 0)
			conclude_completion(s, r, cycles, better);
		return;
	}
	/* Times are those of the clock that the device tells. */
	const double all = flops * lanes * d->sm_count, usual = fabs(pace - 1) > PACE ? pace : 1;
	void (*say)(struct study *, const char *, double, double, double, const char *, const char *, const char *,
		    const char *, ...) = wide ? study_likely_number : study_measured_number;
	say(s, key_of(key, r, PART_PERFORMANCE), all / value * usual, all / hi * fmin(usual, pace),
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
	say(s, key_of(key, r, PART_ISSUE), value * cycles, lo * cycles, hi * cycles, "sm", full, evidence,
	    "with %u warps, %u repeats%s; from the whole run time, as the paper takes it, %.4g cycles", r->warps[at],
	    best->repeats, r->gaps ? ", from the longer of three loops, as the shortest leaves gaps" : "",
	    best->coarse / w * cycles);
	conclude_completion(s, r, cycles, better);
	say(s, key_of(key, r, PART_PEAK), lanes / (value * cycles), lanes / (hi * cycles), lanes / (lo * cycles), "sm",
	    "warp size over issue latency", evidence, "with %u warps", r->warps[at]);
}

/* Whether chains of a warp issue faster than warps that fill the pipe, in loops that are shorter than usual.
 * Instructions may go out in pairs. Or some of a loop's end hides behind the more numerous ones in the longer loop. */
static bool ends_show(const struct roof *r)
{
	unsigned at;
	roof_least(r, &at);
	return r->shorter > 1 && !r->starves && r->time[at].hi / r->warps[at] < r->full;
}

/* Whether chains are long enough in loops that are shorter than usual. A loop's end hides behind the last links, and
 * differently if those are the first as well. */
static bool has_room(const struct study *s, const struct roof *r)
{
	const struct timed_pair k = pipeline_pair(study_device(s), r->class, r->chains, 1, r->shorter, false);
	return k.few && (r->shorter == 1 || PIPELINE_OPS / r->shorter / r->chains >= PIPELINE_LINKS_LEAST);
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
	roof_measure(s, r, timer);
	r->measured = true;
}

static void conclude_roof(struct study *s, const struct roof *r, const struct roof *ridge, double pace, bool preferred)
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
	else if (r->out_of_step)
		verdict_all(s, r, VERDICT_INCONCLUSIVE,
			    "longer launches seem faster than short ones, and what a link takes differs with the "
			    "length of the loop");
	else if (r->slower)
		verdict_all(s, r, VERDICT_INCONCLUSIVE,
			    "some warps are preferred to others, and the longer they run the slower all of them are");
	else
		conclude(s, r, ridge, pace, preferred);
}

/* Whether warps of any of them are preferred to others. */
static bool is_preferred(const struct roof *r, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (r[i].starves)
			return true;
	return false;
}

/* Measures the roof again, as if its own warps were preferred to others, for its ridge. Warps that end sooner do not
 * wait for the last. The roof stays as it is if nobody asked, as in an older recording. */
static void measure_again(struct study *s, struct roof *r, double timer)
{
	struct roof again = {.class = r->class,
			     .chains = r->chains,
			     .shorter = r->shorter,
			     .full = r->full,
			     .spans = r->spans,
			     .outside = r->outside,
			     .preferred = true};
	roof_measure(s, &again, timer);
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
	/* Run times of launches say little if the clock goes faster for some of them. They need no clock as long as all
	 * are at one rate. */
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
			if (r->flat && ilp[i] == 1 && roof_least(r, &at) < INFINITY)
				full = r->time[at].lo / r->warps[at];
		}
	}
	const bool preferred = all && is_preferred(all, CLASSES * ILPS);
	for (unsigned i = 0; all && i < CLASSES * ILPS && !study_pending(s); i++) {
		again[i] = all[i];
		if (preferred && roof_ends_apart(&all[i]))
			measure_again(s, &again[i], timer);
	}
	for (unsigned i = 0; all && i < CLASSES * ILPS && !study_pending(s); i++)
		conclude_roof(s, &all[i], &again[i], pace, preferred);
	if (told)
		pipeline_items(s, spans ? timer : outside, spans);
	else if (why)
		study_verdict(s, "pipeline.items", VERDICT_INCONCLUSIVE, "items", "%s", why);
}

static const char *const helped[] = {"instruction_cache", "clock", NULL};
static const char *const claims[] = {"pipeline.*", NULL};

const struct probe probe_pipeline = {
    .name = "pipeline",
    .quick = true,
    .asks = "How many warps fill each pipeline, what does it reach, and what are its issue and completion latencies?",
    .source = "Lemeire 2016, I and III to V: occupancy roofline, equations 1 to 5, Figures 1 to 3, Table II. Here "
	      "the difference of two lengths instead of one whole run time",
    .how = "Two kernels differ only in how many instructions of a class their loop has. They are timed from "
	   "outside, with 1, 2 and 4 independent chains and more and more warps. What they differ by, over the "
	   "instructions, is the time of one. With one warp that is the completion latency, with so many that "
	   "more gain nothing the issue latency. More and more work items, on all SMs, show up to how many the "
	   "run time stays the same.",
    .fooled = "A compiler that drops or folds instructions: those of the compiled kernel are counted, where it can "
	      "be read back. A timer too coarse for short launches: how well it tells launches of different length "
	      "apart is measured first, and launches are made longer and repeated until the interval is narrow. A "
	      "clock that is not what the device says, or goes faster now and then: if a kernel can read the SM's "
	      "clock it tells how many cycles a launch took, and latencies are made of those. If it cannot, they "
	      "are cycles of the clock that the device tells, when chains take whole ones of it. A scheduler that "
	      "prefers some warps: when the first one has come to its end the others say how far they are. If some "
	      "are behind, all of them stop with the first one, and the turns that they made are counted. What "
	      "warps hide of each other's beginnings and ends: the peak is told by launches eight times as long, "
	      "on a real GPU 128 operations a cycle where short ones gave 131.5. And by the best of up to three "
	      "loads, as some are a little slower.",
    .figure = "occupancy-roofline",
    .helped = helped,
    .claims = claims,
    .experiments = experiments,
    .experiment_count = sizeof(experiments) / sizeof(experiments[0]),
    .study = study,
    .draw = pipeline_draw,
};
