/* What reading the clock costs, and how coarse the counter is. Everything else is timed with it. */
#include "probe/probe.h"
#include "stat/stat.h"
#include <math.h>
#include <stdio.h>

enum { READS = 16, HEADER_WORDS = 2, GAPS = 6, PLACES = 4, GRANULARITY_MAX = 1024, WINDOW = 8, STEPS = 256 };
enum { EXPERIMENT_READS };

/* x: additions between two reads; p[0]: the SM. */
static int setup_reads(const struct study *s, double x, const double *p, struct job *j)
{
	j->template_path = "probes/clock/reads.ptx";
	job_param(j, "READS", READS);
	job_param(j, "GAP", (long long)x);
	snprintf(j->launch.entry, sizeof j->launch.entry, "reads");
	j->launch.block[0] = j->launch.block[1] = j->launch.block[2] = 1;
	job_output(j, HEADER_WORDS + READS + 1); /* the last word is the additions' result */
	job_pin(j, study_device(s), (uint32_t)p[0]);
	job_arg_u32(j, 5);
	j->launch.repeats = 5;
	j->launch.warmups = 1;
	/* between the first two reads stand exactly the additions */
	j->check.cls = NATIVE_ALU;
	j->check.region = 0;
	j->check.min = j->check.max = (unsigned)x;
	j->check.others = 0;
	return 0;
}

static const struct experiment experiments[] = {
    [EXPERIMENT_READS] =
	{.name = "reads", .axis = "additions between reads", .unit = "count", .params = {"sm"}, .setup = setup_reads},
};

static uint32_t read_value(const struct point *pt, unsigned repeat, unsigned i)
{
	return pt->y[(size_t)repeat * pt->words_per_repeat + HEADER_WORDS + i];
}

static void study_clock(struct study *s)
{
	const struct device_info *d = study_device(s);
	const struct point *pt[PLACES][GAPS];
	unsigned places = d->sm_count < PLACES ? d->sm_count : PLACES;
	const struct point *bad = NULL;
	bool all = true;
	for (unsigned k = 0; k < places; k++)
		for (unsigned g = 0; g < GAPS; g++) {
			const double p[POINT_PARAMS] = {(double)((uint64_t)k * d->sm_count / places)};
			pt[k][g] = study_ask(s, EXPERIMENT_READS, g, p);
			if (!pt[k][g])
				all = false;
			else if (pt[k][g]->outcome != OUTCOME_OK)
				bad = pt[k][g];
		}
	if (study_pending(s))
		return;
	if (!all || bad) {
		const enum verdict v = bad && bad->outcome == OUTCOME_CRASH ? VERDICT_FAILED : VERDICT_INCONCLUSIVE;
		const char *why =
		    bad ? (bad->message[0] ? bad->message : outcome_name(bad->outcome)) : "points are missing";
		study_verdict(s, "clock.read_latency", v, "reads", "%s", why);
		study_verdict(s, "clock.granularity", v, "reads", "%s", why);
		return;
	}
	/* Granularity: every value that the counter ever shows is a multiple of it. Reads after different numbers of additions
	 * on several SMs and launches fall on different phases; the low bits that never move are the counter's. */
	uint64_t g = 0;
	size_t values = 0;
	double step[STEPS] = {0}, scratch[STEPS];
	size_t steps = 0;
	for (unsigned k = 0; k < places; k++)
		for (unsigned i = 0; i < GAPS; i++)
			for (unsigned r = 0; r < pt[k][i]->repeats; r++) {
				for (unsigned t = 0; t < READS; t++) {
					uint64_t v = read_value(pt[k][i], r, t);
					values++;
					while (v) { /* gcd */
						const uint64_t rest = g % v;
						g = v;
						v = rest;
					}
				}
				/* Means over a few reads, so that a coarse counter does no harm and one hiccup spoils few of them. */
				for (unsigned t = 0; i == 0 && t + WINDOW < READS && steps < STEPS; t++)
					step[steps++] = (uint32_t)(read_value(pt[k][i], r, t + WINDOW) -
								   read_value(pt[k][i], r, t)) /
							(double)WINDOW;
			}
	if (g == 0 || g > GRANULARITY_MAX)
		study_verdict(s, "clock.granularity", VERDICT_INCONCLUSIVE, "reads",
			      "the values share the factor %llu: the counter hardly moves", (unsigned long long)g);
	else
		study_measured_number(s, "clock.granularity", (double)g, (double)g, (double)g, "card",
				      "greatest common divisor of all values read", "reads",
				      "%zu values from %u SMs, after 0 to %d dependent additions", values, places,
				      GAPS - 1);

	double lo = step[0], hi = step[0];
	for (size_t i = 1; i < steps; i++) {
		lo = fmin(lo, step[i]);
		hi = fmax(hi, step[i]);
	}
	const double median = stat_median(step, steps, scratch);
	const double tolerance = fmax(1.0, (double)g / WINDOW);
	if (hi - lo > 2 * tolerance)
		study_verdict(s, "clock.read_latency", VERDICT_INCONCLUSIVE, "reads:0",
			      "from %.2f to %.2f cycles a read in %zu windows of 8 reads", lo, hi, steps);
	else
		study_measured_number(s, "clock.read_latency", median, lo, hi, places > 1 ? "card" : "sm",
				      "median distance of consecutive reads, over windows of 8", "reads:0",
				      "%zu windows on %u SMs", steps, places);
}

static const char *const claims[] = {"clock.read_latency", "clock.granularity", NULL};

const struct probe probe_clock = {
    .name = "clock",
    .asks = "What does reading the clock cost, and in which steps does it count?",
    .source = "Wong 2010, IV-A; here the step comes from the values' greatest common divisor",
    .claims = claims,
    .experiments = experiments,
    .experiment_count = sizeof experiments / sizeof *experiments,
    .study = study_clock,
};
