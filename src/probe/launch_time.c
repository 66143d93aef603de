/* Run times of launches, and what a link takes by the difference of two lengths. */
#include "probe/launch_time.h"
#include "judge/house.h"
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
	TIMER_SHORT = 2, /* of them, the first */
	STRETCH = 4,
	TIMER_PAIRS = TIMER_POINTS * (TIMER_POINTS - 1) / 2,
	CLOCK_WORDS = 2,
	SPAN_WORDS = 3, /* of each block: its SM's clock before and after, and which SM that is */
	SPAN_SMS = 1024,
	TIME_WORDS = 2,
	STEPS = 8,
	STEP_MOST = 64 /* times longer than before */
};

#define QUIET	     0.005 /* the same of what is as good as exact */
#define LOST	     0.003 /* of a launch: a difference that the timer may have hidden */
#define ENDS	     0.01  /* of the value: what filling and draining the pipelines hides */
#define NS_MOST	     400e3 /* of a launch that is made longer */
#define NS_STRETCH   100e3 /* what still differs between launches as long as this grows with them */
#define CONFIDENCE   1.96
#define OUTLIER_MAD  5
#define STEADY	     1.02  /* of a clock: its rates differ by no more */
#define ALIKE	     1.003 /* of one that kept its rate, as far as the timer tells */
#define HEAP	     8 /* times as far apart are half of the launches as the quarter of them that are nearest to each other */
#define HEAPED	     8 /* of slopes between launches, one in so many is a heap */
#define AS_TOLD	     0.001
#define NOISE_HALF   2.1   /* the same of launches that noise alone sets apart */
#define TOGETHER     0.004 /* of a launch: by so much more or less its run time goes with its cycles as others' do */
#define RATES	     0.01  /* of a launch: by so much more or less, and another one of its length had another rate */
#define MISFIT	     0.2 /* of what two launches are apart in that, their run times may be apart otherwise than others' are */
#define SHARE_UNSURE 0.05
#define ROUNDING     1.000001

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
	double moved; /* mean of what is off in repeats of a faster clock, ns */
};

/* What launches of one kind, of whatever length, have in common where the clock is faster for some of them. */
struct usual {
	bool known;
	double off; /* run time less cycles of those at the usual rate, ns */
	double
	    share; /* of a faster launch: what keeps the SM's clock, and would take longer at the usual one. The rest is the memory's */
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

/* Ticks from the first block's begin to the last one's end on the SM where that is longest: each SM's clock is read for itself. */
static uint32_t longest_span(const uint32_t *w, size_t blocks)
{
	struct span {
		bool used;
		uint32_t from;
		int32_t first, last; /* ticks since then */
	} of[SPAN_SMS] = {{false, 0, 0, 0}};
	uint32_t longest = 0;
	for (size_t b = 0; b < blocks; b++, w += SPAN_WORDS) {
		struct span alone = {.used = false}, *s = w[2] < SPAN_SMS ? &of[w[2]] : &alone;
		if (!s->used)
			*s = (struct span){true, w[0], 0, 0};
		const int32_t begin = (int32_t)(w[0] - s->from), end = (int32_t)(w[1] - s->from);
		s->first = begin < s->first ? begin : s->first;
		s->last = end > s->last ? end : s->last;
		const uint32_t span = (uint32_t)s->last - (uint32_t)s->first;
		longest = span > longest ? span : longest;
	}
	return longest;
}

/* What the clock says that a repeat took. */
static uint32_t ticks_of(const struct timed_pair *k, const uint32_t *w, uint32_t words)
{
	return k->words == WORDS_SPANS ? longest_span(w, (words - TIME_WORDS) / SPAN_WORDS) : w[1] - w[0];
}

/* The shortest interval that holds more than a part of n values: its middle, and half its length. v is sorted. */
static double middle_of(double *v, size_t n, size_t part, double *half)
{
	const size_t most = n / part + 1;
	size_t at = 0;
	qsort(v, n, sizeof *v, stat_compare_double);
	for (size_t i = 1; i + most <= n; i++)
		if (v[i + most - 1] - v[i] < v[at + most - 1] - v[at])
			at = i;
	*half = (v[at + most - 1] - v[at]) / 2;
	return v[at] + *half;
}

static double middle_of_most(double *v, size_t n, double *half)
{
	return middle_of(v, n, 2, half);
}

/* Run times and cycles, both in ns, and what belongs to them, of the repeats in which the two go together as in most. A
 * clock that is faster now and then makes some repeats shorter, by another part of each. Returns how many are left. */
static size_t of_one_rate(double *ns, double *cycles, double *inner, uint32_t *repeat, size_t n)
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
			repeat[left] = repeat[i];
			cycles[left++] = cycles[i];
		}
	return left;
}

/* Moves launches to the usual rate. A boost by a tenth makes the cycles of launches that wait for memory a tenth more.
 * Of their run times it takes off a tenth of what does not wait for memory. */
static double to_usual(const struct usual *u, double *ns, double *cycles, size_t n)
{
	double moved = 0;
	for (size_t i = 0; i < n; i++) {
		const double less = u->off - (ns[i] - cycles[i]);
		if (less <= TOGETHER * ns[i])
			continue;
		moved += less / (double)n;
		ns[i] += u->share * less;
		cycles[i] = ns[i] - u->off;
	}
	return moved;
}

/* Repeats of a point that count. */
struct repeats {
	size_t n;
	double run[LAUNCH_TIMED], c[LAUNCH_TIMED], v[LAUNCH_TIMED]; /* run time, cycles and what is asked, ns */
	uint32_t repeat[LAUNCH_TIMED];				    /* which one it is */
	double moved; /* mean of what is off in repeats of a faster clock, ns */
};

/* u: NULL, or what is known of all launches of the pair. */
static void repeats_of(const struct timed_pair *k, const struct point *pt, const struct usual *u, struct repeats *of)
{
	const bool cycles = k && has_cycles(k, pt), both = cycles && k->both_hz > 0,
		   inner = both && k->words == WORDS_INNER && pt->words_per_repeat > CLOCK_WORDS + TIME_WORDS;
	size_t n = 0;
	*of = (struct repeats){.n = 0};
	for (uint32_t r = 0; r < pt->repeats && n < LAUNCH_TIMED; r++) {
		const uint32_t *first = pt->y + (size_t)r * pt->words_per_repeat,
			       *w = first + pt->words_per_repeat - TIME_WORDS;
		of->repeat[n] = r;
		of->run[n] = (double)w[0] + 4294967296.0 * w[1];
		if (cycles)
			of->c[n] = ticks_of(k, first, pt->words_per_repeat) / (both ? k->both_hz : k->clock_hz) * 1e9;
		of->v[n] = inner	     ? (uint32_t)(first[1] - first[CLOCK_WORDS]) / k->both_hz * 1e9
			   : cycles && !both ? of->c[n]
					     : of->run[n];
		n++;
	}
	of->moved = both && !inner && u && u->known ? to_usual(u, of->run, of->c, n) : 0;
	for (size_t i = 0; i < n && both && !inner; i++)
		of->v[i] = of->run[i];
	of->n = both ? of_one_rate(of->run, of->c, of->v, of->repeat, n) : n;
}

static struct times times_among(const struct timed_pair *k, const struct point *pt, const struct usual *u)
{
	double scratch[LAUNCH_TIMED];
	struct repeats of;
	size_t used = 0;
	repeats_of(k, pt, u, &of);
	const bool both = k && has_cycles(k, pt) && k->both_hz > 0;
	const size_t n = of.n;
	const double mad = stat_mad(of.v, n, scratch);
	const double low = stat_quantile(of.v, n, 0, scratch), high = stat_quantile(of.v, n, 1, scratch);
	const double ns = stat_trimmed_mean(of.v, n, OUTLIER_MAD, 0, scratch, &used);
	double *c = of.c;
	for (size_t i = 0; i < n; i++)
		c[i] = of.run[i] - c[i];
	return (struct times){.ns = ns,
			      .moved = of.moved,
			      .spread = n < 5 ? (high - low) / 2 : CONFIDENCE * JUDGE_DEVIATION * mad,
			      .off = both ? stat_trimmed_mean(c, n, OUTLIER_MAD, 0, scratch, &used) : 0,
			      .off_spread =
				  both ? stat_quantile(c, n, 1, scratch) - stat_quantile(c, n, 0, scratch) : 0};
}

static struct times times_of(const struct timed_pair *k, const struct point *pt)
{
	return times_among(k, pt, NULL);
}

/* What launches of up to four lengths have in common. Those at the usual rate are off by the same, whatever their
 * length. Launches of one length at different rates tell what a boost makes of their run times. At least two lengths
 * are needed, and all have to say the same. */
static struct usual usual_of(const struct timed_pair *k, const struct point *const *pt, unsigned points)
{
	double ns[4 * LAUNCH_TIMED], off[4 * LAUNCH_TIMED], sorted[4 * LAUNCH_TIMED], half, both = 0, square = 0;
	unsigned from[5] = {0}, lengths = 0;
	size_t n = 0;
	for (unsigned i = 0; i < points; i++) {
		if (!has_cycles(k, pt[i]) || !(k->both_hz > 0) || k->words == WORDS_INNER)
			return (struct usual){.known = false};
		for (uint32_t r = 0; r < pt[i]->repeats && r < LAUNCH_TIMED; r++, n++) {
			const uint32_t *w = pt[i]->y + (size_t)r * pt[i]->words_per_repeat,
				       *t = w + pt[i]->words_per_repeat - TIME_WORDS;
			ns[n] = (double)t[0] + 4294967296.0 * t[1];
			sorted[n] = off[n] = ns[n] - ticks_of(k, w, pt[i]->words_per_repeat) / k->both_hz * 1e9;
		}
		from[i + 1] = (unsigned)n;
	}
	struct usual u = {.off = middle_of(sorted, n, 3, &half)};
	for (unsigned pass = 0; pass < 2; pass++) {
		u.known = pass && lengths > 1;
		for (unsigned i = 0; i < points; i++) {
			bool tells = false;
			for (size_t a = from[i]; a < from[i + 1]; a++)
				for (size_t b = from[i]; b < a; b++) {
					const double rate = off[a] - off[b], run = ns[a] - ns[b];
					if (fabs(rate) <= RATES * ns[a])
						continue;
					tells = true;
					if (!pass) {
						both += rate * run;
						square += rate * rate;
					} else if (fabs(run - u.share * rate) > MISFIT * fabs(rate)) {
						u.known = false;
					}
				}
			lengths += tells && !pass;
		}
		u.share = square > 0 ? fmin(fmax(both / square, 0), 1) : 0;
	}
	return u;
}

double timed_mean(const struct timed_pair *k, const struct point *pt)
{
	return times_of(k, pt).ns;
}

uint32_t timed_counted(const struct timed_pair *k, const struct point *pt)
{
	double scratch[LAUNCH_TIMED];
	struct repeats of;
	uint32_t counted = 0;
	repeats_of(k, pt, NULL, &of);
	const double middle = stat_median(of.v, of.n, scratch), width = OUTLIER_MAD * stat_mad(of.v, of.n, scratch);
	for (size_t i = 0; i < of.n; i++)
		if (fabs(of.v[i] - middle) <= width)
			counted |= 1u << of.repeat[i];
	return counted;
}

double timed_spread(const struct timed_pair *k, const struct point *pt)
{
	return times_of(k, pt).spread;
}

double timed_gap(const struct timed_pair *k, const struct point *a, const struct point *b, double timer)
{
	const struct times x = times_of(k, a), y = times_of(k, b);
	return fmax(0, fabs(y.off - x.off) - hypot(x.off_spread, y.off_spread) - timer);
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
	double dense;
	middle_of_most(off, n, &half);
	middle_of(off, n, 4, &dense);
	/* Of launches at two rates few may be at the usual one, and those go together: noise alone makes no such heap. */
	return fmax(1, 3 * (half > HEAP * fmax(1, dense) ? NOISE_HALF * dense : half));
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

/* The pace by slopes between single launches of different length. Launches may be at two rates. Slopes between two of
 * the usual rate all say the same, and those between one of each scatter. If a heap of them says what the device tells,
 * that is the pace. */
static double usual_pace(const struct timed_pair *clocked, const struct point *const pt[TIMER_POINTS])
{
	enum { ALL = TIMER_POINTS * (FIRST_REPEATS + 1) };
	double ticks[ALL], ns[ALL], pace[ALL * ALL / 2], half;
	unsigned of[ALL];
	size_t n = 0, pairs = 0, told = 0;
	for (unsigned i = 0; i < TIMER_POINTS; i++)
		for (uint32_t r = 0; r < pt[i]->repeats && r < FIRST_REPEATS + 1; r++, n++) {
			const uint32_t *w = pt[i]->y + (size_t)r * pt[i]->words_per_repeat,
				       *t = w + pt[i]->words_per_repeat - TIME_WORDS;
			ticks[n] = ticks_of(clocked, w, pt[i]->words_per_repeat) / clocked->clock_hz * 1e9;
			ns[n] = (double)t[0] + 4294967296.0 * t[1];
			of[n] = i;
			for (size_t b = 0; b < n; b++)
				if (of[b] != i && ns[n] > ns[b])
					pace[pairs++] = (ticks[n] - ticks[b]) / (ns[n] - ns[b]);
		}
	for (size_t i = 0; i < pairs; i++)
		told += fabs(pace[i] - 1) < AS_TOLD;
	return told * HEAPED > pairs || !pairs ? 1 : middle_of(pace, pairs, 3, &half);
}

/* Short launches are left out: how they begin is not the same each time, and shows in slopes between them. */
static bool is_steady(const double ticks[TIMER_POINTS], const double ns[TIMER_POINTS])
{
	double low = INFINITY, high = 0;
	for (unsigned i = TIMER_SHORT + 1; i < TIMER_POINTS; i++) {
		const double pace = (ticks[i] - ticks[i - 1]) / fmax(ns[i] - ns[i - 1], 1);
		low = fmin(low, pace);
		high = fmax(high, pace);
	}
	return high <= STEADY * low;
}

double timed_pace(struct study *s, const struct timed_pair *k, bool *steady)
{
	struct timed_pair clocked = *k;
	const struct point *pts[TIMER_POINTS];
	double by[2][TIMER_POINTS], pace[TIMER_PAIRS], scratch[TIMER_PAIRS];
	size_t n = 0;
	*steady = true;
	if (k->both_hz > 0) {
		clocked.clock_hz = k->both_hz;
		clocked.both_hz = 0;
	}
	for (unsigned i = 0; i < TIMER_POINTS; i++) {
		const struct point *pt = pts[i] =
		    timed_point(s, k, k->experiment, k->few, timer_rounds[i], FIRST_REPEATS + 1);
		if (!pt || pt->outcome != OUTCOME_OK || !has_cycles(k, pt))
			return 1;
		by[0][i] = times_of(&clocked, pt).ns;
		by[1][i] = times_of(NULL, pt).ns;
		for (unsigned b = 0; b < i; b++)
			if (by[1][i] > by[1][b])
				pace[n++] = (by[0][i] - by[0][b]) / (by[1][i] - by[1][b]);
	}
	if (!n)
		return 1;
	/* If the clock goes faster now and then, some of them differ from the others. */
	const double ratio = stat_quantile(pace, n, 0.9, scratch) / stat_quantile(pace, n, 0.1, scratch);
	*steady = is_steady(by[0], by[1]);
	if (ratio > STEADY)
		return 1;
	return ratio > ALIKE ? usual_pace(&clocked, pts) : stat_median(pace, n, scratch);
}

bool timed_steady(struct study *s, struct timed_pair *k, double *ns, const char **why)
{
	if (!timed_timer(s, k, ns, why))
		return false;
	bool steady;
	k->both_hz *= timed_pace(s, k, &steady);
	return timed_timer(s, k, ns, why);
}

/* ---- a link's time ---- */

/* Of the launches of a pair. What they say does not change, and many passes of a study look at the same ones. */
struct pair_times {
	struct times of[4];
	double coarse; /* ns of the longer one by its run time alone */
};

static struct pair_times times_of_pair(struct study *s, const struct timed_pair *k, const struct point *const *pt,
				       unsigned points)
{
	const struct series *series = study_series(s, k->experiment);
	struct {
		double clock_hz, both_hz;
		uint64_t experiment, kind, at[4];
	} key = {k->clock_hz, k->both_hz, k->experiment, k->words, {0}};
	for (unsigned i = 0; i < points; i++)
		key.at[i] = 1 + (uint64_t)(pt[i] - series->points);
	const struct pair_times *before = study_recall(s, "pair", &key, sizeof(key));
	if (before)
		return *before;
	const struct usual usual = usual_of(k, pt, points);
	struct pair_times t = {.coarse = times_of(NULL, pt[1]).ns};
	for (unsigned i = 0; i < points; i++)
		t.of[i] = times_among(k, pt[i], &usual);
	study_keep(s, "pair", &key, sizeof(key), &t, sizeof(t));
	return t;
}

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
	const struct pair_times all = times_of_pair(s, k, pt, points);
	const struct times *t = all.of;
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
	out.half = hypot(out.half, SHARE_UNSURE * fabs((t[1].moved - t[0].moved) - (t[3].moved - t[2].moved)) / links);
	out.alone = k->fresh ? (t[0].ns - t[2].ns) / (k->few * each * rounds) : 0;
	out.fewer = k->fresh ? (t[3].ns - t[2].ns) / links : 0;
	out.coarse = all.coarse / ((double)k->many * each * (k->fresh ? 2 * rounds : rounds));
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
	const double enough = LAUNCH_GOOD / 2 * d->ns * d->links;
	return timed_longer(rounds, enough > 0 ? fmin(fmax(timer / enough, 2), STEP_MOST) : STEP_MOST, d->launch);
}

struct timed timed_ask(struct study *s, const struct timed_pair *k, double timer)
{
	unsigned most = k->most ? k->most : REPEATS;
	struct timed out = {.ok = false};
	unsigned rounds = (k->first ? k->first : FIRST_ROUNDS) * (k->longer ? k->longer : 1),
		 repeats = k->all ? most : FIRST_REPEATS;
	struct difference d = {.there = false};
	for (unsigned step = 0; step < STEPS; step++) {
		d = difference(s, k, timer, rounds, repeats);
		out.bad = d.bad;
		if (!d.there)
			return out;
		/* More repeats are of no use where the timer is what is too coarse, nor longer launches where it is not. */
		const bool coarse = d.ns > 0 ? timer > LAUNCH_GOOD / 2 * d.ns * d.links : timer > LOST * d.launch;
		const double good = repeats >= most ? LAUNCH_GOOD : k->quiet > 0 ? k->quiet : QUIET;
		unsigned next = coarse ? longer(&d, rounds, timer) : rounds;
		if (k->stretch && next == rounds && repeats == most && d.half > good * d.ns && d.launch < NS_STRETCH)
			next = STRETCH * rounds;
		const bool apart = d.gap > LAUNCH_DIFFER * d.ns;
		if (apart && repeats == most)
			most = 2 * most < REPEATS ? 2 * most : REPEATS;
		if (next == rounds && (repeats == most || (d.ns > 0 && d.half <= good * d.ns && !apart)))
			break;
		repeats = most;
		rounds = next;
	}
	/* The mean is better known than one repeat is. */
	out.unsteady = d.gap > LAUNCH_DIFFER * d.ns;
	out.ok = d.ns > 0 && !out.unsteady && d.half * 2 / sqrt(fmax(repeats, 4)) <= LAUNCH_USABLE * d.ns;
	out.ns = d.ns;
	const double ends = (k->ends > 0 ? k->ends : ENDS) * d.ns;
	out.lo = d.ns - hypot(d.half, ends) - d.gap;
	out.hi = d.ns + hypot(d.half, ends) + d.gap;
	out.half = d.half + d.gap;
	out.coarse = d.coarse;
	out.alone = d.alone;
	out.fewer = d.fewer;
	out.repeats = repeats;
	out.point = d.point;
	return out;
}
