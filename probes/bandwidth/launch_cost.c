#include "bandwidth.h"
#include "stat/stat.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
	TURNS = 1 << 14,
	LONG = 20 /* times as many */,
	TRIALS = 5,
	EMPTY = 21 /* launches, whose times differ by much of one */,
	STEP = 3
};
/* Timers of devices tell half a microsecond apart. */
#define TIMER_MS 0.0005
/* What two lengths may differ in their rates by, of what they differ in time. */
#define PACE 0.01
enum { BLOCKS_FEW = 32, BLOCKS_MANY = 256 /* for each SM */, TRIALS_BLOCKS = 3 };

/* x: turns; p[0]: which of several launches alike. */
int turns_setup(const struct study *s, double x, const double *p, struct job *j)
{
	(void)s;
	(void)p;
	j->template_path = "probes/bandwidth/turns.ptx";
	snprintf(j->launch.entry, sizeof j->launch.entry, "turns");
	job_output(j, 3);
	job_arg_u32(j, STEP);
	job_arg_u32(j, (uint32_t)x * STEP);
	j->launch.warmups = 1;
	return 0;
}

/* x: which of several launches alike; p[0]: 1, right behind the same kernel. */
int empty_setup(const struct study *s, double x, const double *p, struct job *j)
{
	(void)s;
	(void)x;
	j->template_path = "probes/bandwidth/empty.ptx";
	snprintf(j->launch.entry, sizeof j->launch.entry, "empty");
	j->launch.warmups = 1;
	/* The launch comes behind other work. A device that waits for its host's next call would show the host's speed.
	 * A flush takes the kernel's instructions away, though, if they are in caches. */
	j->launch.flush = !(p[0] > 0);
	return 0;
}

/* x: blocks for each SM; p[0]: which of several launches alike. */
int blocks_setup(const struct study *s, double x, const double *p, struct job *j)
{
	const struct device_info *d = study_device(s);
	(void)p;
	j->template_path = "probes/bandwidth/empty.ptx";
	snprintf(j->launch.entry, sizeof j->launch.entry, "empty");
	j->launch.grid[0] = (uint32_t)x * d->sm_count;
	j->launch.block[0] = d->warp_size;
	j->launch.warmups = 1;
	j->launch.flush = true; /* as the empty kernel of one block */
	return 0;
}

static double turn_cycles(const struct point *pt)
{
	return (double)(uint32_t)(pt->y[1] - pt->y[0]);
}

static bool right(const struct point *pt)
{
	return pt && pt->outcome == OUTCOME_OK && pt->words_per_repeat >= 3 && pt->y[2] == (uint32_t)pt->x * STEP;
}

struct spread {
	double v[EMPTY], scratch[EMPTY];
	size_t n;
};

static void measured(struct study *s, const char *key, struct spread *d, double widen, const char *method,
		     const char *evidence)
{
	const double median = stat_median(d->v, d->n, d->scratch);
	double lo = median, hi = median;
	for (size_t k = 0; k < d->n; k++) {
		lo = fmin(lo, d->v[k]);
		hi = fmax(hi, d->v[k]);
	}
	study_measured_number(s, key, median, fmax(0, lo - widen), hi + widen, "card", method, evidence, "%zu launches",
			      d->n);
}

/* Whether all launches went at one rate. If some were faster, the difference of two lengths tells the rate of
 * neither. */
static bool same_pace(const struct point *const a[TRIALS], const struct point *const b[TRIALS])
{
	double low[2] = {INFINITY, INFINITY}, high[2] = {0, 0};
	for (unsigned k = 0; k < TRIALS; k++) {
		low[0] = fmin(low[0], a[k]->elapsed_ms);
		high[0] = fmax(high[0], a[k]->elapsed_ms);
		low[1] = fmin(low[1], b[k]->elapsed_ms);
		high[1] = fmax(high[1], b[k]->elapsed_ms);
	}
	return high[0] - low[0] + high[1] - low[1] <= PACE * (low[1] - low[0]) + 2 * TIMER_MS;
}

/* A launch's own rate: its cycles over its time, of which nothing up to what an empty kernel takes was before and after them. */
static void rate_of_long(struct study *s)
{
	struct spread hz = {.n = 0};
	double empty = INFINITY, widen = 0;
	const struct point *own[TRIALS];
	for (unsigned k = 0; k < EMPTY; k++) {
		const double p[POINT_PARAMS] = {1};
		const struct point *pt = study_ask(s, EXPERIMENT_EMPTY, k, p);
		if (pt && pt->outcome == OUTCOME_OK && pt->elapsed_ms >= 0)
			empty = fmin(empty, pt->elapsed_ms);
	}
	for (unsigned k = 0; k < TRIALS; k++) {
		const double p[POINT_PARAMS] = {k};
		own[k] = study_ask(s, EXPERIMENT_TURNS, LONG * TURNS, p);
	}
	if (study_pending(s))
		return;
	for (unsigned k = 0; k < TRIALS; k++) {
		if (!right(own[k]) || empty > 2 * PACE * own[k]->elapsed_ms)
			continue;
		const double most = turn_cycles(own[k]) / (own[k]->elapsed_ms - empty) * 1e3,
			     least = turn_cycles(own[k]) / own[k]->elapsed_ms * 1e3;
		hz.v[hz.n++] = (most + least) / 2;
		widen = fmax(widen, (most - least) / 2);
	}
	if (hz.n == TRIALS)
		measured(s, "device.clock_hz", &hz, widen,
			 "cycles of the SM's clock over the time of long launches, which differ in how fast it went",
			 "turns");
	else
		study_verdict(s, "device.clock_hz", VERDICT_INCONCLUSIVE, "turns",
			      "launches alike are not equally fast, and take too little time for a rate of each");
}

static void turns_study(struct study *s)
{
	const struct point *a[TRIALS], *b[TRIALS], *bad = NULL;
	struct spread hz = {.n = 0}, turn = {.n = 0};
	bool all = true;
	for (unsigned k = 0; k < TRIALS; k++) {
		const double p[POINT_PARAMS] = {k};
		a[k] = study_ask(s, EXPERIMENT_TURNS, TURNS, p);
		b[k] = study_ask(s, EXPERIMENT_TURNS, 5 * TURNS, p);
		bad = !bad && !right(a[k]) ? a[k] : bad;
		all = all && right(a[k]) && right(b[k]);
	}
	if (study_pending(s))
		return;
	for (unsigned k = 0; all && k < TRIALS; k++) {
		const double cycles = turn_cycles(b[k]) - turn_cycles(a[k]), ms = b[k]->elapsed_ms - a[k]->elapsed_ms;
		turn.v[turn.n++] = cycles / (4.0 * TURNS);
		if (a[k]->elapsed_ms >= 0 && ms > 100 * TIMER_MS)
			hz.v[hz.n++] = cycles / ms * 1e3;
	}
	if (turn.n)
		measured(s, "branch.turn", &turn, 0, "slope of the time of one thread's loop over its turns", "turns");
	else
		study_verdict(s, "branch.turn", VERDICT_INCONCLUSIVE, "turns", "%s", point_why(bad));
	if (hz.n == TRIALS && !same_pace(a, b))
		rate_of_long(s);
	else if (hz.n == TRIALS)
		measured(s, "device.clock_hz", &hz,
			 stat_median(hz.v, hz.n, hz.scratch) * TIMER_MS / (b[0]->elapsed_ms - a[0]->elapsed_ms),
			 "cycles of the SM's clock over the time of the launch, two lengths subtracted", "turns");
	else
		study_verdict(s, "device.clock_hz", VERDICT_INCONCLUSIVE, "turns",
			      all ? "launches have no time, or too short a one" : "the loop did not run as it should");
}

static void empty_study(struct study *s)
{
	struct spread cost[2] = {{.n = 0}, {.n = 0}};
	const struct point *bad = NULL;
	for (unsigned k = 0; k < 2 * EMPTY; k++) {
		const unsigned again = k / EMPTY;
		const double p[POINT_PARAMS] = {again};
		const struct point *pt = study_ask(s, EXPERIMENT_EMPTY, k % EMPTY, p);
		if (pt && pt->outcome == OUTCOME_OK && pt->elapsed_ms >= 0)
			cost[again].v[cost[again].n++] = pt->elapsed_ms * 1e-3;
		else if (!again)
			bad = pt;
	}
	if (study_pending(s))
		return;
	const bool behind =
	    cost[0].n < EMPTY || cost[1].n < EMPTY ||
	    stat_median(cost[0].v, cost[0].n, cost[0].scratch) <= stat_median(cost[1].v, cost[1].n, cost[1].scratch);
	const double step = TIMER_MS * 1e-3,
		     empty = cost[0].n == EMPTY ? stat_median(cost[!behind].v, EMPTY, cost[!behind].scratch) : 0;
	if (cost[0].n == EMPTY && empty <= step)
		study_bound(s, "host.launch_latency", -INFINITY, empty + step, "time of an empty kernel of one block",
			    "empty", "an empty kernel takes no longer than one step of the timer, %.3g us", step * 1e6);
	else if (cost[0].n == EMPTY)
		measured(s, "host.launch_latency", &cost[!behind], step,
			 behind
			     ? "time of an empty kernel of one block behind other work, by the timer that times kernels"
			     : "time of an empty kernel of one block behind itself, by the timer that times kernels",
			 "empty");
	else
		study_verdict(s, "host.launch_latency", VERDICT_INCONCLUSIVE, "empty", "%s",
			      bad && bad->outcome == OUTCOME_OK ? "launches have no time" : point_why(bad));
}

/* Blocks that do nothing: what is left is handing them out, and an SM's taking them and giving them up. */
static void blocks_study(struct study *s)
{
	struct spread each = {.n = 0};
	const struct point *bad = NULL;
	const double blocks = (double)(BLOCKS_MANY - BLOCKS_FEW) * study_device(s)->sm_count;
	for (unsigned k = 0; k < TRIALS_BLOCKS; k++) {
		const double p[POINT_PARAMS] = {k};
		const struct point *few = study_ask(s, EXPERIMENT_BLOCKS, BLOCKS_FEW, p),
				   *many = study_ask(s, EXPERIMENT_BLOCKS, BLOCKS_MANY, p);
		const bool both = few && many && few->outcome == OUTCOME_OK && many->outcome == OUTCOME_OK;
		if (both && few->elapsed_ms >= 0 && many->elapsed_ms - few->elapsed_ms > TIMER_MS)
			each.v[each.n++] = (many->elapsed_ms - few->elapsed_ms) * 1e-3 / blocks;
		else
			bad = few && few->outcome != OUTCOME_OK ? few : many;
	}
	if (study_pending(s))
		return;
	if (each.n == TRIALS_BLOCKS)
		measured(s, "host.block_interval", &each, TIMER_MS * 1e-3 / blocks,
			 "time of launches of many and of few blocks that do nothing, over the blocks between",
			 "blocks");
	else
		study_verdict(s, "host.block_interval", VERDICT_INCONCLUSIVE, "blocks", "%s",
			      bad && bad->outcome != OUTCOME_OK
				  ? point_why(bad)
				  : "launches have no time, or many blocks take as long as few");
}

void launch_study(struct study *s)
{
	turns_study(s);
	empty_study(s);
	blocks_study(s);
}
