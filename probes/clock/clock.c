/* What reading the clock costs, and how coarse the counter is. Everything else is timed with it. */
#include "base/arena.h"
#include "boost.h"
#include "probe/share.h"
#include "stat/stat.h"
#include <math.h>
#include <stdio.h>

enum {
	READS = 16,
	HEADER_WORDS = 2,
	GAPS = 6,
	PLACES = 4,
	GRANULARITY_MAX = 1024,
	WINDOW = 8,
	STEPS = 256,
	SHOWN = 512 /* SMs */
};
enum { EXPERIMENT_READS, EXPERIMENT_PHASES, EXPERIMENT_SCOPE, EXPERIMENT_BOOST };

/* Operations whose latencies have little in common, so that some do not fit into the steps of a coarse counter. */
static const struct phase { /* in the order of phases.ptx */
	const char *name;
	bool real;
} phases[] = {
    {"div.f32", true}, {"mul.hi.u32", false}, {"rem.u32", false}, {"div.s32", false},
    {"mul.f32", true}, {"sqrt.f32", true},    {"rcp.f32", true},
};
enum { PHASES = sizeof phases / sizeof *phases, PHASE_SHORT = 6, PHASE_LONG = 32, CHAINS = PHASE_SHORT + 1 };

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

/* x: operations between two reads; p[0]: which, a row of phases. */
static int setup_phases(const struct study *s, double x, const double *p, struct job *j)
{
	const struct phase *f = &phases[(unsigned)p[0]];
	(void)s;
	j->template_path = "probes/clock/phases.ptx";
	job_param(j, "N", (long long)x);
	job_param(j, "OP", (long long)p[0]);
	job_param(j, "REAL", f->real);
	snprintf(j->launch.entry, sizeof j->launch.entry, "phases");
	j->launch.block[0] = j->launch.block[1] = j->launch.block[2] = 1;
	job_output(j, HEADER_WORDS + 3);
	job_pin(j, study_device(s), 0);
	job_arg_u32(j, 5);
	j->launch.repeats = 5;
	j->launch.warmups = 1;
	/* What the operations compile to does not matter, as long as each takes the same time: the study looks at that. */
	return 0;
}

static const struct experiment experiments[] = {
    [EXPERIMENT_SCOPE] = {.name = "scope", .axis = "launch", .unit = "number", .setup = share_clock_setup},
    [EXPERIMENT_BOOST] = {.name = "boost", .axis = "loads in a row", .unit = "count", .setup = boost_setup},
    [EXPERIMENT_PHASES] = {.name = "phases",
			   .axis = "operations between two reads",
			   .unit = "count",
			   .params = {"operation"},
			   .setup = setup_phases},
    [EXPERIMENT_READS] =
	{.name = "reads", .axis = "additions between reads", .unit = "count", .params = {"sm"}, .setup = setup_reads},
};

static uint32_t read_value(const struct point *pt, unsigned repeat, unsigned i)
{
	return pt->y[(size_t)repeat * pt->words_per_repeat + HEADER_WORDS + i];
}

/* Cycles of one operation, from chains of 1 to PHASE_LONG of them. NAN if they do not take equally long: then times
 * between the counter's steps may be the operations' own doing. */
static double phase_latency(const struct point *const chain[CHAINS], const unsigned links[CHAINS], double g)
{
	double took[CHAINS], scratch[16], each[16];
	for (unsigned i = 0; i < CHAINS; i++) {
		const unsigned n = chain[i]->repeats < 16 ? chain[i]->repeats : 16;
		if (!n)
			return NAN;
		for (unsigned r = 0; r < n; r++)
			each[r] = (uint32_t)(read_value(chain[i], r, 1) - read_value(chain[i], r, 0));
		took[i] = stat_median(each, n, scratch);
		for (unsigned r = 0; r < n; r++)
			if (fabs(each[r] - took[i]) > g + 0.5)
				return NAN;
	}
	const double one = (took[CHAINS - 1] - took[0]) / (links[CHAINS - 1] - links[0]);
	for (unsigned i = 0; i < CHAINS; i++)
		if (fabs(took[i] - took[0] - one * (links[i] - links[0])) > g + 0.5)
			return NAN;
	return one;
}

/* Granularity: every value that the counter ever shows is a multiple of it. All values so far may have a factor in
 * common just because everything that was timed takes a multiple of it. So times that do not must be seen to be
 * rounded. g: common factor of what was read. True: wait for more points. */
static bool conclude_granularity(struct study *s, uint64_t *g, size_t values, unsigned places)
{
	static const char key[] = "clock.granularity";
	if (*g == 1) {
		study_measured_number(s, key, 1, 1, 1, "card", "greatest common divisor of all values read", "reads",
				      "%zu values from %u SMs, after 0 to %d dependent additions", values, places,
				      GAPS - 1);
		return false;
	}
	const struct point *pt[PHASES][PHASE_SHORT + 1];
	unsigned links[PHASE_SHORT + 1], have[PHASES] = {0};
	for (unsigned i = 0; i <= PHASE_SHORT; i++)
		links[i] = i < PHASE_SHORT ? i + 1 : PHASE_LONG;
	for (unsigned k = 0; k < PHASES; k++)
		for (unsigned i = 0; i <= PHASE_SHORT; i++) {
			const double p[POINT_PARAMS] = {k};
			pt[k][i] = study_ask(s, EXPERIMENT_PHASES, links[i], p);
			have[k] += pt[k][i] && pt[k][i]->outcome == OUTCOME_OK;
		}
	if (study_pending(s))
		return true;
	for (unsigned k = 0; k < PHASES; k++)
		for (unsigned i = 0; have[k] == PHASE_SHORT + 1 && i <= PHASE_SHORT; i++)
			for (unsigned r = 0; r < pt[k][i]->repeats; r++, values += 2)
				*g = stat_gcd(stat_gcd(*g, read_value(pt[k][i], r, 0)), read_value(pt[k][i], r, 1));
	const double step = (double)*g;
	const char *rounded = NULL;
	double took = 0;
	for (unsigned k = 0; k < PHASES && !rounded; k++) {
		if (have[k] <= PHASE_SHORT)
			continue;
		took = phase_latency(pt[k], links, step);
		if (fabs(took - step * round(took / step)) > 2 * step / (PHASE_LONG - 1) + 0.1)
			rounded = phases[k].name;
	}
	if (*g == 0 || *g > GRANULARITY_MAX)
		study_verdict(s, key, VERDICT_INCONCLUSIVE, "reads",
			      "the values share the factor %llu: the counter hardly moves", (unsigned long long)*g);
	else if (*g > 1 && !rounded)
		study_verdict(s, key, VERDICT_INCONCLUSIVE, "reads, phases",
			      "all values are multiples of %llu, but so may be all times: no operation was seen to end "
			      "between two steps",
			      (unsigned long long)*g);
	else if (*g > 1)
		study_measured_number(
		    s, key, step, step, step, "card", "greatest common divisor of all values read", "reads, phases",
		    "%zu values; a chain of %s takes %.3g cycles a link, and no value shows it", values, rounded, took);
	else
		study_measured_number(s, key, 1, 1, 1, "card", "greatest common divisor of all values read",
				      "reads, phases", "%zu values, between operations of several latencies", values);
	return false;
}

static void study_scope(struct study *s)
{
	static const char key[] = "clock.scope", method[] = "counters of all SMs, read in one launch";
	const unsigned sms = study_device(s)->sm_count;
	const struct point *pt = study_ask(s, EXPERIMENT_SCOPE, 0, NULL);
	uint32_t *group = ARENA_ARRAY(study_arena(s), sms, uint32_t);
	unsigned *members = ARENA_ARRAY(study_arena(s), sms, unsigned), groups = 0, smallest = 0, largest = 0;
	char why[160];
	if (study_pending(s))
		return;
	if (!pt || pt->outcome != OUTCOME_OK || !group || !members) {
		study_verdict(s, key, VERDICT_INCONCLUSIVE, "scope", "%s", point_why(pt));
		return;
	}
	if (!share_clock_groups(study_arena(s), pt, sms, group, why, sizeof why)) {
		study_verdict(s, key, VERDICT_INCONCLUSIVE, "scope", "%s", why);
		return;
	}
	share_count(group, sms, members, &groups, &smallest, &largest);
	/* What defects leave of clusters differs by a few SMs. */
	if (groups > 1 && smallest != largest && largest >= 2 * smallest)
		study_verdict(s, key, VERDICT_INCONCLUSIVE, "scope",
			      "counters agree in %u groups of unequal sizes, from %u to %u SMs", groups, smallest,
			      largest);
	else if (sms == 1)
		study_verdict(s, key, VERDICT_INCONCLUSIVE, "scope", "there is only one SM");
	else if (groups == 1)
		study_text(
		    s, key, "gpu", method, "scope",
		    "all %u SMs show one time, launch after launch: one counter, or some that were started together",
		    sms);
	else
		study_text(s, key, groups == sms ? "sm" : "cluster", method, "scope",
			   groups == sms
			       ? "%u SMs show %u different times, launch after launch"
			       : "%u SMs show %u different times, launch after launch, each on %u to %u of them",
			   sms, groups, smallest, largest);
}

static void study_clock(struct study *s)
{
	const struct device_info *d = study_device(s);
	const struct point *pt[PLACES][GAPS];
	study_scope(s);
	boost_ask(s, EXPERIMENT_BOOST);
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
		study_verdict(s, "clock.boost", v, "reads", "%s", why);
		return;
	}
	uint64_t g = 0;
	size_t values = 0;
	double step[STEPS] = {0}, scratch[STEPS];
	size_t steps = 0;
	for (unsigned k = 0; k < places; k++)
		for (unsigned i = 0; i < GAPS; i++)
			for (unsigned r = 0; r < pt[k][i]->repeats; r++) {
				for (unsigned t = 0; t < READS; t++) {
					values++;
					g = stat_gcd(g, read_value(pt[k][i], r, t));
				}
				/* Means over a few reads, so that a coarse counter does no harm and one hiccup spoils few of them. */
				for (unsigned t = 0; i == 0 && t + WINDOW < READS && steps < STEPS; t++)
					step[steps++] = (uint32_t)(read_value(pt[k][i], r, t + WINDOW) -
								   read_value(pt[k][i], r, t)) /
							(double)WINDOW;
			}
	if (conclude_granularity(s, &g, values, places))
		return;
	boost_study(s, EXPERIMENT_BOOST, (double)g);

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

/* SMs whose counters show about the same time get marks of their own, as far as there are enough for all groups. */
static int draw_groups(struct figure *f, const uint32_t *group, const double *sm, const double *at, size_t n)
{
	double x[SHOWN], y[SHOWN];
	uint32_t first[FIGURE_MARKS + 1];
	unsigned groups = 0;

	for (size_t i = 0; i < n && groups <= FIGURE_MARKS; i++) {
		unsigned k = 0;
		while (k < groups && first[k] != group[(size_t)sm[i]])
			k++;
		if (k == groups)
			first[groups++] = group[(size_t)sm[i]];
	}
	if (groups > FIGURE_MARKS)
		return figure_add(f, "an SM's counter", MARK_POINTS, sm, at, NULL, n);
	for (unsigned k = 0; k < groups; k++) {
		char label[48];
		size_t count = 0;
		for (size_t i = 0; i < n; i++)
			if (group[(size_t)sm[i]] == first[k]) {
				x[count] = sm[i];
				y[count++] = at[i];
			}
		snprintf(label, sizeof label, groups > 1 ? "%zu SMs with SM %u" : "all %zu SMs", count, first[k]);
		if (figure_add(f, label, MARK_POINTS, x, y, NULL, count))
			return -1;
	}
	return 0;
}

/* Wong, Fig. 5: where blocks of one launch show the same time, they read one counter. */
static int draw_clock(const struct study *s, struct figure_list *out)
{
	const struct series *series = study_series(s, EXPERIMENT_SCOPE);
	const struct point *pt = NULL;
	const unsigned sms = study_device(s)->sm_count;
	double sm[SHOWN], at[SHOWN], least = 0;
	char why[160];
	size_t n = 0;

	for (size_t i = 0; series && i < series->count && !pt; i++)
		if (series->points[i].outcome == OUTCOME_OK && series->points[i].repeats)
			pt = &series->points[i];
	if (!pt)
		return 0;
	for (unsigned i = 0; i < sms && n < SHOWN; i++)
		if (share_clock_time(pt, i, &at[n])) {
			least = fmin(least, at[n]);
			sm[n++] = i;
		}
	for (size_t i = 0; i < n; i++)
		at[i] -= least;
	struct figure *f = figures_new(out, "clock-counters", "What each SM's clock counter shows in one launch");
	uint32_t *group = ARENA_ARRAY(study_arena((struct study *)s), sms, uint32_t);
	if (!f || !group)
		return -1;
	figure_key(f, "clock.scope");
	snprintf(f->caption, sizeof f->caption,
		 "SMs at one height read one counter; others were started at other moments.");
	f->x = (struct figure_axis){.label = "SM"};
	f->y = (struct figure_axis){.label = "counter, from the lowest on", .unit = "cycles"};
	if (share_clock_groups(study_arena((struct study *)s), pt, sms, group, why, sizeof why))
		return draw_groups(f, group, sm, at, n);
	return figure_add(f, "an SM's counter", MARK_POINTS, sm, at, NULL, n);
}

static const char *const claims[] = {"clock.read_latency", "clock.granularity", "clock.scope", "clock.boost", NULL};

const struct probe probe_clock = {
    .name = "clock",
    .quick = true,
    .asks = "What does reading the clock cost, in which steps does it count, who shares a counter, and does it boost?",
    .source = "Wong 2010, IV-A; here the step comes from the values' greatest common divisor",
    .how = "The clock is read sixteen times in a row with nothing, and then with known additions, between the "
	   "reads. The step of the counter is what all differences ever seen have in common. They are asked "
	   "with operations whose latencies have little in common. Who shares a counter is told by reading it "
	   "on all SMs in one launch, again and again. Counters of their own were started at different moments. "
	   "Loads of one line past the L1 are timed twelve thousand times, in chains of two and of four. When "
	   "some of both take as much longer, the SM's clock ran faster than the memory's for a while.",
    .fooled = "A step that only the timed operations have in common, not the counter: a step of more than one is "
	      "believed only when some operation, in chains of one to 32, ends between two steps. A hiccup between "
	      "two reads: the cost is a median over windows of eight reads on several SMs. Counters that were "
	      "started together: they show one time as one counter does, and more than that is not said of those "
	      "that share it. What delays single loads: of four chains in a row only the fastest counts. A boost "
	      "is believed only when one group of chains in two hundred is slower, most of them by the same.",
    .figure = "clock-counters",
    .claims = claims,
    .experiments = experiments,
    .experiment_count = sizeof experiments / sizeof *experiments,
    .study = study_clock,
    .draw = draw_clock,
};
