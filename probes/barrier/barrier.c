/* What a barrier costs, and what it counts. */
#include "probe/probe.h"
#include "stat/stat.h"
#include <math.h>
#include <stdio.h>

enum { HEADER_WORDS = 2, SHORT = 32, LONG = 96, REPEATS = 7, WAIT_MS = 200 };
enum { EXPERIMENT_CHAIN, EXPERIMENT_CASES };
enum { CASE_WRITER_FALLS, CASE_WRITER_TAKES, CASE_EXIT, CASE_NEVER, CASE_PAIRS, CASES };

/* x: barriers between the clock reads. */
static int setup_chain(const struct study *s, double x, const double *p, struct job *j)
{
	const struct device_info *d = study_device(s);
	(void)p;
	j->template_path = "probes/barrier/chain.ptx";
	job_param(j, "N", (long long)x);
	snprintf(j->launch.entry, sizeof j->launch.entry, "chain");
	j->launch.block[0] = d->warp_size;
	j->launch.block[1] = j->launch.block[2] = 1;
	job_output(j, HEADER_WORDS + 2);
	job_pin(j, d, 0);
	j->launch.repeats = REPEATS;
	j->launch.warmups = 1;
	j->check.cls = NATIVE_BARRIER;
	j->check.region = 0;
	j->check.min = j->check.max = (unsigned)x;
	j->check.others = (unsigned)x; /* what stands between barriers; the study counts them */
	return 0;
}

/* x: which case. */
static int setup_cases(const struct study *s, double x, const double *p, struct job *j)
{
	const struct device_info *d = study_device(s);
	const unsigned which = (unsigned)x;
	(void)p;
	j->template_path = "probes/barrier/cases.ptx";
	job_param(j, "CASE", which);
	/* What lanes of one warp may reach apart has a name of its own since they are independent. */
	job_param_text(j, "JOINT", d->cc >= 70 ? "barrier.sync" : "bar.sync");
	snprintf(j->launch.entry, sizeof j->launch.entry, "cases");
	j->launch.block[0] = which < CASE_EXIT ? d->warp_size : 2 * d->warp_size;
	j->launch.block[1] = j->launch.block[2] = 1;
	job_output(j, HEADER_WORDS + 2);
	job_pin(j, d, 0);
	job_arg_u32(j, 5);
	j->launch.repeats = which == CASE_NEVER ? 1 : 3;
	j->launch.time_limit_ms = WAIT_MS;
	j->launch.may_hang = true;
	return 0;
}

static const struct experiment experiments[] = {
    [EXPERIMENT_CHAIN] = {.name = "chain", .axis = "barriers", .unit = "count", .setup = setup_chain},
    [EXPERIMENT_CASES] = {.name = "cases", .axis = "case", .unit = "number", .setup = setup_cases},
};

static uint32_t word(const struct point *pt, unsigned repeat, unsigned i)
{
	return pt->y[(size_t)repeat * pt->words_per_repeat + HEADER_WORDS + i];
}

static void study_latency(struct study *s)
{
	static const char key[] = "barrier.latency";
	const struct point *pt[2] = {study_ask(s, EXPERIMENT_CHAIN, SHORT, NULL),
				     study_ask(s, EXPERIMENT_CHAIN, LONG, NULL)};
	if (study_pending(s))
		return;
	double lo = INFINITY, hi = -INFINITY, each[2][REPEATS], scratch[REPEATS];
	for (unsigned i = 0; i < 2; i++) {
		if (!pt[i] || pt[i]->outcome != OUTCOME_OK) {
			study_verdict(s, key, VERDICT_INCONCLUSIVE, "chain", "%s", point_why(pt[i]));
			return;
		}
		for (unsigned r = 0; r < REPEATS; r++)
			each[i][r] = (uint32_t)(word(pt[i], r, 1) - word(pt[i], r, 0));
	}
	/* A quick one and a slow one of either length bound the slope. */
	double low[2], high[2];
	for (unsigned i = 0; i < 2; i++) {
		low[i] = INFINITY;
		high[i] = -INFINITY;
		for (unsigned r = 0; r < REPEATS; r++) {
			low[i] = fmin(low[i], each[i][r]);
			high[i] = fmax(high[i], each[i][r]);
		}
	}
	lo = (low[1] - high[0]) / (LONG - SHORT);
	hi = (high[1] - low[0]) / (LONG - SHORT);
	const double value =
	    (stat_median(each[1], REPEATS, scratch) - stat_median(each[0], REPEATS, scratch)) / (LONG - SHORT);
	const struct native_info *n = study_native(s, EXPERIMENT_CHAIN, pt[1]);
	const unsigned others = n && n->region_count ? n->region[0].total - n->region[0].count[NATIVE_BARRIER] : 0;
	if (!(lo > 0) || hi - lo > fmax(1, 0.1 * value))
		study_verdict(s, key, VERDICT_INCONCLUSIVE, "chain", "from %.2f to %.2f cycles a barrier", lo, hi);
	else if (others > LONG / 4)
		study_bound(s, key, -INFINITY, hi, "slope over two numbers of barriers, one warp", "chain",
			    "the compiler put %u other instructions between %u barriers", others, (unsigned)LONG);
	else
		study_measured_number(s, key, value, lo, hi, "sm", "slope over two numbers of barriers, one warp",
				      "chain", "%d and %d barriers in a block of one warp, %d launches each", SHORT,
				      LONG, REPEATS);
}

/* Every launch of the point says the same, or -1. */
static int agreed(const struct point *pt, unsigned i)
{
	for (unsigned r = 1; r < pt->repeats; r++)
		if (word(pt, r, i) != word(pt, 0, i))
			return -1;
	return (int)word(pt, 0, i);
}

/* One half of a warp waits for what the other half wrote before its barrier, if the barrier counts threads. If it
 * counts warps, the half whose side runs first reads too early. */
static void conclude_scope(struct study *s, const struct point *const *pt)
{
	static const char key[] = "barrier.counts", method[] = "halves of one warp at two barriers, either side first";
	int read[2];
	for (unsigned i = 0; i < 2; i++) {
		if (!pt[i] || pt[i]->outcome != OUTCOME_OK) {
			study_verdict(s, key, VERDICT_INCONCLUSIVE, "cases", "halves of one warp at two barriers: %s",
				      point_why(pt[i]));
			return;
		}
		read[i] = agreed(pt[i], 0);
	}
	if (read[0] == 1 && read[1] == 1)
		study_text(s, key, "thread", method, "cases",
			   "whichever half writes, the other one reads behind its own barrier what was written");
	else if ((read[0] == 0 && read[1] == 1) || (read[0] == 1 && read[1] == 0))
		study_text(s, key, "warp", method, "cases",
			   "the half that runs first passes its barrier before the other half has written");
	else
		study_verdict(s, key, VERDICT_INCONCLUSIVE, "cases",
			      "the half that reads saw %d and %d, so not even the order of the halves decides", read[0],
			      read[1]);
}

static void conclude_exit(struct study *s, const struct point *pt)
{
	static const char key[] = "barrier.releases_on_exit";
	if (pt && pt->outcome == OUTCOME_OK)
		study_text(s, key, "yes", "one of two warps ends, the other reaches a barrier", "cases",
			   "the barrier lets the warp go on");
	else if (pt && outcome_hangs(pt->outcome))
		study_text(s, key, "no", "one of two warps ends, the other reaches a barrier", "cases",
			   "the warp at the barrier waits for ever: %s", point_why(pt));
	else
		study_verdict(s, key, VERDICT_INCONCLUSIVE, "cases", "%s", point_why(pt));
}

static void conclude_timeout(struct study *s, const struct point *pt)
{
	static const char key[] = "barrier.timeout", method[] = "one warp at a barrier, another that never reaches one";
	if (pt && outcome_hangs(pt->outcome))
		study_text(s, key, "no", method, "cases", "the kernel was stopped from outside: %s", point_why(pt));
	else if (pt && pt->outcome == OUTCOME_OK)
		study_text(s, key, "yes", method, "cases",
			   "the barrier let the warp go on although the other warp never came");
	else
		study_verdict(s, key, VERDICT_INCONCLUSIVE, "cases", "%s", point_why(pt));
}

static void conclude_pairs(struct study *s, const struct point *pt)
{
	static const char key[] = "barrier.divergent_pairing",
			  method[] = "a warp whose halves reach one barrier each, beside a warp that reaches two";
	if (!pt || pt->outcome != OUTCOME_OK) {
		study_verdict(s, key, VERDICT_INCONCLUSIVE, "cases", "%s", point_why(pt));
		return;
	}
	const int a = agreed(pt, 0), b = agreed(pt, 1);
	if (a + b == 1 && a >= 0 && b >= 0)
		study_text(
		    s, key, "yes", method, "cases",
		    "the half whose side runs first pairs with the other warp's first barrier, the other half with its "
		    "second");
	else if (a == 0 && b == 0)
		study_text(s, key, "no", method, "cases", "both halves pair with the other warp's first barrier");
	else
		study_verdict(s, key, VERDICT_INCONCLUSIVE, "cases",
			      "the halves saw %d and %d of the other warp's mark", a, b);
}

static void study_barrier(struct study *s)
{
	const struct point *pt[CASES];
	study_latency(s);
	for (unsigned i = 0; i < CASES; i++)
		pt[i] = study_ask(s, EXPERIMENT_CASES, i, NULL);
	if (study_pending(s))
		return;
	conclude_scope(s, pt);
	conclude_exit(s, pt[CASE_EXIT]);
	conclude_timeout(s, pt[CASE_NEVER]);
	conclude_pairs(s, pt[CASE_PAIRS]);
}

static const char *const claims[] = {"barrier.*", NULL};

const struct probe probe_barrier = {
    .name = "barrier",
    .asks = "What does a barrier cost, and what does it count?",
    .source = "Wong 2010, IV-D; here either half of the warp comes first in turn, so that order alone explains nothing",
    .how = "The cost is the slope over 32 and 96 barriers of a block of one warp. For the rest, two parts of a "
	   "block wait for each other. One kind of barrier lets them end; with the other they hang or read too "
	   "early. The parts are halves of one warp, a warp that has ended, or one that never comes. The last "
	   "case is two sides of a branch against a warp with two barriers. A launch that hangs is ended after "
	   "half a second and is data like any other.",
    .fooled = "A half that only happens to run first: either half is the writer in turn, so that the order alone "
	      "explains nothing. A slow launch that looks like one that hangs: a case counts only when all its "
	      "launches say the same, and the simulated GPU knows a deadlock exactly. Instructions that the "
	      "compiler puts between the barriers: they are counted, and many make the cost a bound.",
    .claims = claims,
    .experiments = experiments,
    .experiment_count = sizeof experiments / sizeof *experiments,
    .study = study_barrier,
};
