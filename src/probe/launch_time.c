/* Run times of launches, and what a link takes by the difference of two lengths. */
#include "probe/launch_time.h"
#include "stat/stat.h"
#include <math.h>
#include <stdlib.h>

enum {
	FIRST_ROUNDS = 4,
	FIRST_REPEATS = 2,
	REPEATS = 25, /* Lemeire 2016, III */
	ROUNDS_MOST = 1 << 20,
	LIMIT_MS = 30000, /* some devices compile for each size of a block, when it is first launched */
	TIMER_POINTS = 6,
	STRETCH = 4,
	TIMER_PAIRS = TIMER_POINTS * (TIMER_POINTS - 1) / 2,
	CLOCK_WORDS = 2,
	TIME_WORDS = 2,
	STEPS = 8,
	STEP_MOST = 64 /* times longer than before */
};

#define GOOD	    0.01  /* half of a 95 % interval, of the value */
#define QUIET	    0.005 /* the same of what is as good as exact */
#define USABLE	    0.05
#define LOST	    0.003  /* of a launch: a difference that the timer may have hidden */
#define ENDS	    0.01   /* of the value: what filling and draining the pipelines hides */
#define NS_MOST	    400e3  /* of a launch that is made longer */
#define NS_STRETCH  100e3  /* what still differs between launches as long as this grows with them */
#define DEVIATION   1.4826 /* standard deviations in a MAD */
#define CONFIDENCE  1.96
#define OUTLIER_MAD 5
#define STEADY	    1.02  /* of a clock: its rates differ by no more */
#define TOGETHER    0.004 /* of a launch: by so much more or less its run time goes with its cycles as others' do */
#define ROUNDING    1.000001
#define DIFFER	    0.015 /* of the value, by run times and by cycles: more is a clock that was not steady */

void timed_job(struct job *j, double repeats)
{
	j->launch.warmups = 1;
	j->launch.repeats = (uint32_t)repeats;
	j->launch.timed = SPAN_KERNELS;
	j->launch.time_limit_ms = LIMIT_MS;
}

/* ---- times of a point ---- */

struct times {
	double ns, spread; /* robust mean; half of its repeats' 95 % interval */
	double off;	   /* of the same repeats, whole: run time less cycles, in ns at the rate of a steady clock */
	double off_spread;
};

/* Whether all repeats say how many cycles they took. */
static bool has_cycles(const struct timed_pair *k, const struct point *pt)
{
	bool all =
	    k && (k->clock_hz > 0 || k->both_hz > 0) && pt->words_per_repeat >= CLOCK_WORDS + TIME_WORDS && pt->repeats;
	for (uint32_t r = 0; r < pt->repeats && all; r++) {
		const uint32_t *w = pt->y + (size_t)r * pt->words_per_repeat;
		all = w[0] != w[1];
	}
	return all;
}

/* The shortest interval that holds more than half of n values: its middle, and half its length. v is sorted. */
static double middle_of_most(double *v, size_t n, double *half)
{
	const size_t most = n / 2 + 1;
	size_t at = 0;
	qsort(v, n, sizeof *v, stat_compare_double);
	for (size_t i = 1; i + most <= n; i++)
		if (v[i + most - 1] - v[i] < v[at + most - 1] - v[at])
			at = i;
	*half = (v[at + most - 1] - v[at]) / 2;
	return v[at] + *half;
}

/* Run times and cycles, both in ns, and what else belongs to them, of the repeats where the one goes with the other as for most. A clock that is faster now and then
 * makes some repeats shorter, by another part of each. Returns how many are left. */
static size_t of_one_rate(double *ns, double *cycles, double *inner, size_t n)
{
	double off[LAUNCH_TIMED], half;
	size_t left = 0;
	for (size_t i = 0; i < n; i++)
		off[i] = ns[i] - cycles[i];
	const double middle = middle_of_most(off, n, &half);
	for (size_t i = 0; i < n; i++)
		if (fabs(ns[i] - cycles[i] - middle) <= fmax(half, TOGETHER * ns[i]) * ROUNDING) {
			ns[left] = ns[i];
			inner[left] = inner[i];
			cycles[left++] = cycles[i];
		}
	return left;
}

static struct times times_of(const struct timed_pair *k, const struct point *pt)
{
	double run[LAUNCH_TIMED] = {0}, c[LAUNCH_TIMED] = {0}, v[LAUNCH_TIMED] = {0}, scratch[LAUNCH_TIMED];
	size_t n = 0, used = 0;
	const bool cycles = has_cycles(k, pt), both = cycles && k->both_hz > 0,
		   inner = both && k->inner && pt->words_per_repeat > CLOCK_WORDS + TIME_WORDS;
	for (uint32_t r = 0; r < pt->repeats && n < LAUNCH_TIMED; r++) {
		const uint32_t *first = pt->y + (size_t)r * pt->words_per_repeat,
			       *w = first + pt->words_per_repeat - TIME_WORDS;
		run[n] = (double)w[0] + 4294967296.0 * w[1];
		if (cycles)
			c[n] = (uint32_t)(first[1] - first[0]) / (both ? k->both_hz : k->clock_hz) * 1e9;
		v[n] = inner		 ? (uint32_t)(first[1] - first[CLOCK_WORDS]) / k->both_hz * 1e9
		       : cycles && !both ? c[n]
					 : run[n];
		n++;
	}
	if (both)
		n = of_one_rate(run, c, v, n);
	const double mad = stat_mad(v, n, scratch);
	const double low = stat_quantile(v, n, 0, scratch), high = stat_quantile(v, n, 1, scratch);
	const double ns = stat_trimmed_mean(v, n, OUTLIER_MAD, 0, scratch, &used);
	for (size_t i = 0; i < n; i++)
		c[i] = run[i] - c[i];
	return (struct times){.ns = ns,
			      .spread = n < 5 ? (high - low) / 2 : CONFIDENCE * DEVIATION * mad,
			      .off = both ? stat_trimmed_mean(c, n, OUTLIER_MAD, 0, scratch, &used) : 0,
			      .off_spread =
				  both ? stat_quantile(c, n, 1, scratch) - stat_quantile(c, n, 0, scratch) : 0};
}

double timed_mean(const struct timed_pair *k, const struct point *pt)
{
	return times_of(k, pt).ns;
}

double timed_spread(const struct timed_pair *k, const struct point *pt)
{
	return times_of(k, pt).spread;
}

const struct point *timed_point(struct study *s, const struct timed_pair *k, unsigned experiment, unsigned links,
				unsigned rounds, unsigned repeats)
{
	double p[POINT_PARAMS];
	for (unsigned i = 0; i < POINT_PARAMS; i++)
		p[i] = k->p[i];
	p[k->links_at] = links;
	p[k->rounds_at] = rounds;
	p[k->repeats_at] = repeats;
	return study_ask(s, experiment, k->x, p);
}

static const unsigned timer_rounds[TIMER_POINTS] = {7, 61, 127, 251, 509, 1021};

/* How well run times go with cycles: what the timer adds to them differs from launch to launch. */
static double noise_beside_cycles(const struct timed_pair *k, const struct point *const pt[TIMER_POINTS])
{
	double off[TIMER_POINTS * (FIRST_REPEATS + 1)], half;
	size_t n = 0;
	for (unsigned i = 0; i < TIMER_POINTS; i++)
		for (uint32_t r = 0; r < pt[i]->repeats && r < FIRST_REPEATS + 1; r++) {
			const uint32_t *w = pt[i]->y + (size_t)r * pt[i]->words_per_repeat,
				       *t = w + pt[i]->words_per_repeat - TIME_WORDS;
			off[n++] = (double)t[0] + 4294967296.0 * t[1] - (uint32_t)(w[1] - w[0]) / k->both_hz * 1e9;
		}
	middle_of_most(off, n, &half);
	return fmax(1, 3 * half);
}

bool timed_timer(struct study *s, const struct timed_pair *k, double *ns, const char **why)
{
	const struct point *pts[TIMER_POINTS];
	double x[TIMER_POINTS], y[TIMER_POINTS], off[TIMER_POINTS], scratch[TIMER_POINTS], slope, start, noise = 0;
	bool all = true, both = k->both_hz > 0;
	*why = NULL;
	for (unsigned i = 0; i < TIMER_POINTS; i++) {
		const struct point *pt = pts[i] =
		    timed_point(s, k, k->experiment, k->few, timer_rounds[i], FIRST_REPEATS + 1);
		all = all && pt;
		both = both && pt && has_cycles(k, pt);
		if (!pt)
			continue;
		if (pt->outcome != OUTCOME_OK) {
			*why = point_why(pt);
			return false;
		}
		const struct times t = times_of(k, pt);
		x[i] = timer_rounds[i];
		y[i] = t.ns;
		noise = fmax(noise, t.spread / 2);
	}
	if (!all)
		return false;
	if (!stat_line(x, y, TIMER_POINTS, &slope, &start) || !(slope > 0)) {
		*why = "longer kernels do not take longer";
		return false;
	}
	if (both) {
		*ns = noise_beside_cycles(k, pts);
		return true;
	}
	for (unsigned i = 0; i < TIMER_POINTS; i++)
		off[i] = fabs(y[i] - start - slope * x[i]);
	*ns = fmax(1, fmax(noise, 2 * stat_median(off, TIMER_POINTS, scratch)));
	return true;
}

double timed_pace(struct study *s, const struct timed_pair *k)
{
	struct timed_pair clocked = *k;
	double by[2][TIMER_POINTS], pace[TIMER_PAIRS], scratch[TIMER_PAIRS];
	size_t n = 0;
	if (k->both_hz > 0) {
		clocked.clock_hz = k->both_hz;
		clocked.both_hz = 0;
	}
	for (unsigned i = 0; i < TIMER_POINTS; i++) {
		const struct point *pt = timed_point(s, k, k->experiment, k->few, timer_rounds[i], FIRST_REPEATS + 1);
		if (!pt || pt->outcome != OUTCOME_OK || !has_cycles(k, pt))
			return 1;
		by[0][i] = times_of(&clocked, pt).ns;
		by[1][i] = times_of(NULL, pt).ns;
		for (unsigned b = 0; b < i; b++)
			if (by[1][i] > by[1][b])
				pace[n++] = (by[0][i] - by[0][b]) / (by[1][i] - by[1][b]);
	}
	/* Where the clock goes faster now and then, some of them differ from the others. */
	if (!n || stat_quantile(pace, n, 0.9, scratch) > STEADY * stat_quantile(pace, n, 0.1, scratch))
		return 1;
	return stat_median(pace, n, scratch);
}

bool timed_steady(struct study *s, struct timed_pair *k, double *ns, const char **why)
{
	if (!timed_timer(s, k, ns, why))
		return false;
	k->both_hz *= timed_pace(s, k);
	return timed_timer(s, k, ns, why);
}

/* ---- a link's time ---- */

struct difference {
	bool there;
	double ns, half, coarse; /* for one link; half of the 95 % interval */
	double gap;		 /* by run times and by cycles */
	double alone;		 /* a fresh pair's link by the shorter kernel alone, with its part of the loop */
	double fewer;		 /* a fresh pair's link in half as many rounds alone */
	double launch, links;	 /* the longer launch, and by how many links it is longer */
	const struct point *point, *bad;
};

static struct difference difference(struct study *s, const struct timed_pair *k, double timer, unsigned rounds,
				    unsigned repeats)
{
	const double each = k->each > 0 ? k->each : 1;
	/* The two lengths, and the same in half as many rounds. */
	const unsigned points = k->fresh ? 4 : 2;
	const struct point *pt[4] = {NULL};
	struct times t[4] = {{0, 0}};
	struct difference out = {.there = true};
	for (unsigned i = 0; i < points; i++) {
		pt[i] = timed_point(s, k, k->experiment, i % 2 ? k->many : k->few,
				    i < 2 && k->fresh ? 2 * rounds : rounds, repeats);
		out.there = out.there && pt[i] && pt[i]->outcome == OUTCOME_OK;
		if (pt[i] && pt[i]->outcome != OUTCOME_OK)
			out.bad = pt[i];
	}
	out.point = pt[1];
	if (!out.there)
		return out;
	for (unsigned i = 0; i < points; i++)
		t[i] = times_of(k, pt[i]);
	const double links = (double)(k->many - k->few) * each * rounds;
	out.launch = t[1].ns;
	out.links = links;
	out.ns = ((t[1].ns - t[0].ns) - (t[3].ns - t[2].ns)) / links;
	/* By so much more than what the timer adds, which is not the same for all launches. */
	out.gap = fmax(0, fabs((t[1].off - t[0].off) - (t[3].off - t[2].off)) -
			      hypot(hypot(t[0].off_spread, t[1].off_spread), hypot(t[2].off_spread, t[3].off_spread)) -
			      timer) /
		  links;
	/* A mean over many repeats is as far off as the timer is only when all of them are, in the same direction. */
	out.half = fmax(hypot(hypot(t[0].spread, t[1].spread), hypot(t[2].spread, t[3].spread)), timer) / links;
	out.alone = k->fresh ? (t[0].ns - t[2].ns) / (k->few * each * rounds) : 0;
	out.fewer = k->fresh ? (t[3].ns - t[2].ns) / links : 0;
	out.coarse = times_of(NULL, pt[1]).ns / ((double)k->many * each * (k->fresh ? 2 * rounds : rounds));
	return out;
}

unsigned timed_longer(unsigned rounds, double times, double launch)
{
	const double more = fmin(times, NS_MOST / fmax(launch, 1));
	return more < 2 ? rounds : (unsigned)fmin(ROUNDS_MOST, rounds * exp2(floor(log2(more))));
}

/* Rounds with which the timer would do. */
static unsigned longer(const struct difference *d, unsigned rounds, double timer)
{
	const double enough = GOOD / 2 * d->ns * d->links;
	return timed_longer(rounds, enough > 0 ? fmin(fmax(timer / enough, 2), STEP_MOST) : STEP_MOST, d->launch);
}

struct timed timed_ask(struct study *s, const struct timed_pair *k, double timer)
{
	unsigned most = k->most ? k->most : REPEATS;
	struct timed out = {.ok = false};
	unsigned rounds = k->first ? k->first : FIRST_ROUNDS, repeats = FIRST_REPEATS;
	struct difference d = {.there = false};
	for (unsigned step = 0; step < STEPS; step++) {
		d = difference(s, k, timer, rounds, repeats);
		out.bad = d.bad;
		if (!d.there)
			return out;
		/* More repeats are of no use where the timer is what is too coarse, nor longer launches where it is not. */
		const bool coarse = d.ns > 0 ? timer > GOOD / 2 * d.ns * d.links : timer > LOST * d.launch;
		const double good = repeats >= most ? GOOD : k->quiet > 0 ? k->quiet : QUIET;
		unsigned next = coarse ? longer(&d, rounds, timer) : rounds;
		if (k->stretch && next == rounds && repeats == most && d.half > good * d.ns && d.launch < NS_STRETCH)
			next = STRETCH * rounds;
		const bool apart = d.gap > DIFFER * d.ns;
		if (apart && repeats == most)
			most = 2 * most < REPEATS ? 2 * most : REPEATS;
		if (next == rounds && (repeats == most || (d.ns > 0 && d.half <= good * d.ns && !apart)))
			break;
		repeats = most;
		rounds = next;
	}
	/* The mean is better known than one repeat is. */
	out.unsteady = d.gap > DIFFER * d.ns;
	out.ok = d.ns > 0 && !out.unsteady && d.half * 2 / sqrt(fmax(repeats, 4)) <= USABLE * d.ns;
	out.ns = d.ns;
	const double ends = (k->ends > 0 ? k->ends : ENDS) * d.ns;
	out.lo = d.ns - hypot(d.half, ends) - d.gap;
	out.hi = d.ns + hypot(d.half, ends) + d.gap;
	out.coarse = d.coarse;
	out.alone = d.alone;
	out.fewer = d.fewer;
	out.repeats = repeats;
	out.point = d.point;
	return out;
}
