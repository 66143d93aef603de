/* Curves of latency against requests, and where they jump. */
#include "outstanding.h"
#include "stat/stat.h"
#include <math.h>
#include <stdio.h>

#define STEP	     0.3  /* of the latency, beyond what issue explains: looked at closer */
#define FAINT	     0.1  /* the same, where nothing else is there to be looked at */
#define LIKE	     0.1  /* of the latency: what a low jump may be lower by than what a full table makes ... */
#define LIKE_HIGHER  0.25 /* ... and higher: a load that is left out takes a while, too, which the latency lacks */
#define STEPS_BESIDE 2.5  /* times what the steps beside a low jump rise by */
#define FLAT	     0.35 /* of what a full table would make: no jump */
#define UNLIKE_L2    0.4  /* of the latency: what a jump is higher by when a line came from memory */
#define STRONG	     0.45 /* of the latency: a table that is full, and not the spread of the latency */
#define BLOCKED	     0.45 /* of the latency: a load that is not issued */
#define STEEP	     2	  /* times what issue costs: jumps may hide in it */
#define SPIKE	     5	  /* times the step before */
#define SLACK	     1.5  /* what issue costs may grow by */
#define USUAL	     0.07 /* of the parts of a curve: where nothing jumps */
#define BEYOND	     1.25 /* requests that leave in so many latencies: more are never under way at once */
#define SOME	     4	  /* threads by which the first slope is seen */
#define LEAST	     0.25 /* cycles between two requests, at least */
#define LIKE_MEMORY  0.8  /* of what memory would take */

static double time_of(struct study *s, const struct way *w, const struct pattern *m)
{
	return latency_least(latency_ask(s, w->number, m));
}

static unsigned warps_of(const struct study *s)
{
	const struct device_info *d = study_device(s);
	return d->max_threads_per_block / d->warp_size;
}

/* ---- a way ---- */

/* The least and the most of a pattern on several lines. */
static void on_lines(struct study *s, const struct way *w, struct pattern m, double *least, double *most)
{
	*least = INFINITY;
	*most = -INFINITY;
	for (m.round = 0; m.round < PLACES; m.round++) {
		const double t = time_of(s, w, &m);
		*least = fmin(*least, t);
		*most = fmax(*most, t);
	}
}

void way_measure(struct study *s, struct way *w)
{
	const unsigned warp = study_device(s)->warp_size, warps = warps_of(s), few = warps < 8 ? warps : 8;
	struct pattern m = {.loads = 1, .group = 1, .stride = LATENCY_STRIDE_BYTES};
	double none = time_of(s, w, &m), one, slowest, full, fullest, first, many;

	m.threads = 1;
	on_lines(s, w, m, &one, &slowest);
	m.threads = warp;
	on_lines(s, w, m, &full, &fullest);
	m.group = warp;
	m.lanes = 1;
	first = time_of(s, w, &m);
	m.threads = few * warp;
	many = time_of(s, w, &m);
	if (study_pending(s)) {
		w->state = CHASE_PENDING;
		return;
	}
	w->state = CHASE_UNDECIDED;
	w->latency = slowest - none;
	w->spread = fmax(slowest - one, fullest - full);
	w->line = fmax(LEAST, (full - slowest) / (warp - 1));
	w->inst = few > 1 ? fmax(LEAST, (many - first) / (few - 1)) : LEAST;
	if (!isfinite(w->latency + w->spread + w->line + w->inst)) {
		m = (struct pattern){.loads = 1, .group = 1, .threads = 1, .stride = LATENCY_STRIDE_BYTES};
		snprintf(w->why, sizeof w->why, "a load could not be timed: %.120s",
			 point_why(latency_ask(s, w->number, &m)));
	} else if (w->latency < 4 * fmax(w->line, w->inst)) {
		snprintf(w->why, sizeof w->why, "a load takes %.0f cycles and the next leaves after %.1f", w->latency,
			 fmax(w->line, w->inst));
	} else {
		w->state = CHASE_DONE;
	}
}

/* ---- one warp ---- */

/* Loads that each of `warps` warps has under way before one more has to wait; *jumps: that was seen. 0: not known. */
static unsigned chain_fits(struct study *s, const struct way *w, unsigned warps, bool *jumps, double *height)
{
	const unsigned warp = study_device(s)->warp_size;
	double t[CHAIN_MOST + 1];
	unsigned fits = 0;

	for (unsigned k = 1; k <= CHAIN_MOST; k++) {
		const struct pattern m = {
		    .loads = k, .group = warp, .lanes = 1, .threads = warps * warp, .stride = LATENCY_STRIDE_BYTES};
		const struct point *pt = latency_ask(s, w->number, &m);
		/* One of several warps may go first: then it is the others' loads that wait. */
		t[k] = warps > 1 ? latency_least(pt) : latency_issue(pt);
	}
	*jumps = false;
	for (unsigned k = CHAIN_MOST; k-- > 1;)
		t[k] = fmin(t[k], t[k + 1]); /* more loads never take less time */
	for (unsigned k = 1; k <= CHAIN_MOST && isfinite(t[k]); k++) {
		if (k > 1 && t[k] - t[k - 1] >= BLOCKED * w->latency) {
			*jumps = true;
			*height = (t[k] - t[k - 1]) / w->latency;
			break;
		}
		if (t[k] - t[1] >= (1 - BLOCKED) * w->latency)
			break;
		fits = k;
	}
	return fits;
}

void chain_measure(struct study *s, const struct way *w, struct chain *out)
{
	const unsigned some = warps_of(s) < 4 ? warps_of(s) : 4;
	bool jumps = false;
	double height = 0;

	*out = (struct chain){.state = CHASE_PENDING};
	out->fits = chain_fits(s, w, 1, &out->blocks, &out->height);
	const unsigned each = some > 1 ? chain_fits(s, w, some, &jumps, &height) : 0;
	if (study_pending(s))
		return;
	out->state = CHASE_UNDECIDED;
	if (!out->fits || (some > 1 && !each)) {
		snprintf(out->why, sizeof out->why, "loads of one warp could not be timed");
		return;
	}
	out->state = CHASE_DONE;
	/* The load that waits for a full table is the one behind. */
	out->shared = jumps && some * each <= out->fits && out->fits <= some * (each + 1);
}

/* ---- curves ---- */

static unsigned lines_of_warp(const struct study *s, const struct curve *c)
{
	return (study_device(s)->warp_size + c->group - 1) / c->group;
}

/* Threads of the first n lines of a load. */
static unsigned threads_of(const struct study *s, const struct curve *c, unsigned n)
{
	const unsigned warp = study_device(s)->warp_size, per = lines_of_warp(s, c), rest = n % per * c->group;
	return n / per * warp + (rest < warp ? rest : warp);
}

/* The n-th step is a line of load n modulo the loads: so many lines has load k after n steps. */
static unsigned lines_of_load(const struct curve *c, unsigned n, unsigned k)
{
	return n / c->loads + (k < n % c->loads);
}

unsigned curve_most(const struct study *s, const struct curve *c)
{
	const unsigned warps = warps_of(s);

	if (!c->light)
		return warps * c->loads * lines_of_warp(s, c);
	return c->light + c->loads - 1 + (warps - (c->light + c->loads - 1)) * c->loads;
}

/* The first step: a line of each load of a thread. */
static unsigned first_step(const struct curve *c)
{
	return c->light + c->loads;
}

unsigned curve_instructions(const struct study *s, const struct curve *c, unsigned n)
{
	return curve_pieces(s, c, n, study_device(s)->warp_size);
}

unsigned curve_pieces(const struct study *s, const struct curve *c, unsigned n, unsigned piece)
{
	const unsigned warp = study_device(s)->warp_size, per = lines_of_warp(s, c), each = (warp + piece - 1) / piece;
	unsigned sum = 0;

	if (c->lanes == 1)
		return n;
	for (unsigned k = 0; k < c->loads; k++) {
		const unsigned lines = lines_of_load(c, n, k), lanes = lines % per * c->group;
		sum += lines / per * each + ((lanes < warp ? lanes : warp) + piece - 1) / piece;
	}
	return sum;
}

unsigned curve_warps(const struct study *s, const struct curve *c, unsigned n)
{
	if (c->light)
		return (n - c->light) / c->loads + c->light + (n - c->light) % c->loads;
	return (curve_instructions(s, c, n) + c->loads - 1) / c->loads;
}

unsigned curve_entries(const struct study *s, const struct curve *c, unsigned n, unsigned merge)
{
	const unsigned warp = study_device(s)->warp_size, per = lines_of_warp(s, c);
	unsigned sum = 0;

	if (merge >= MERGE_ANY || c->lanes == 1)
		return n;
	for (unsigned k = 0; k < c->loads; k++) {
		const unsigned lines = lines_of_load(c, n, k);
		for (unsigned i = 0; i < per; i++) {
			const unsigned from = i * c->group, lanes = warp - from < c->group ? warp - from : c->group;
			sum += (lines / per + (i < lines % per)) * ((lanes + merge - 1) / merge);
		}
	}
	return sum;
}

unsigned curve_threads(const struct study *s, const struct curve *c, unsigned n)
{
	return threads_of(s, c, n / c->loads);
}

struct pattern curve_pattern(const struct study *s, const struct curve *c, unsigned n)
{
	const unsigned warp = study_device(s)->warp_size, lines = n / c->loads, more = n - c->light;
	if (c->light)
		return (struct pattern){.loads = c->loads,
					.group = c->group,
					.lanes = c->lanes,
					.threads = more / c->loads * warp,
					.extra = 1,
					.more = (c->light + more % c->loads) * warp,
					.stride = c->stride};
	struct pattern m = {.loads = c->loads,
			    .group = c->group,
			    .lanes = c->lanes,
			    .threads = threads_of(s, c, lines),
			    .extra = n % c->loads,
			    .stride = c->stride};
	m.more = m.extra ? threads_of(s, c, lines + 1) - m.threads : 0;
	return m;
}

static double at_step(struct study *s, const struct curve *c, unsigned n, unsigned round)
{
	struct pattern m = curve_pattern(s, c, n);
	m.round = round;
	return time_of(s, c->way, &m);
}

/* Cycles from one line to the next. */
static double step_cost(const struct study *s, const struct curve *c)
{
	const double inst = c->way->inst, per = lines_of_warp(s, c);
	return per > 1 ? fmax(c->way->line, inst / per) : inst;
}

double curve_cycles(const struct curve *c, unsigned n)
{
	unsigned k = 0;

	while (k + 1 < c->count && c->at[k + 1] <= n)
		k++;
	if (k + 1 >= c->count || n <= c->at[k])
		return c->cycles[k];
	const double part = (double)(n - c->at[k]) / (c->at[k + 1] - c->at[k]);
	return c->cycles[k] + part * (c->cycles[k + 1] - c->cycles[k]);
}

/* What it rises by beyond what issue explains. */
static double excess(double cost, double from, double to, unsigned steps)
{
	return to - from - SLACK * cost * steps;
}

static bool rises(const struct curve *c, double cost, double from, double to, unsigned steps)
{
	return excess(cost, from, to, steps) >= STEP * c->way->latency + c->way->spread;
}

bool curve_tells(const struct curve *c)
{
	return c->state == CHASE_DONE && c->jumps && (!c->weak || c->like);
}

/* What the L2 does not hold comes from memory, which says nothing of a table. */
static bool leaves_l2(struct study *s, const struct curve *c, unsigned n)
{
	const struct pattern m = curve_pattern(s, c, n);
	return !(c->after < LIKE_MEMORY * latency_least(latency_ask(s, LATENCY_MEMORY, &m)));
}

/* Closes in on the first jump between points k and k + 1, or where none is high, on the highest. DONE: c->fits and what it looks
 * like. */
static enum chase_state close_in(struct study *s, struct curve *c, double cost, unsigned k)
{
	unsigned lo = c->at[k], hi = c->at[k + 1];
	double from = c->cycles[k], to = c->cycles[k + 1], before[ROUNDS], after[ROUNDS];

	while (hi - lo > 1) {
		const unsigned mid = lo + (hi - lo) / 2;
		const double t = at_step(s, c, mid, 0);
		if (study_pending(s))
			return CHASE_PENDING;
		if (!isfinite(t))
			return CHASE_UNDECIDED;
		if (rises(c, cost, from, t, mid - lo) ||
		    (!rises(c, cost, t, to, hi - mid) &&
		     excess(cost, from, t, mid - lo) > excess(cost, t, to, hi - mid))) {
			hi = mid;
			to = t;
		} else {
			lo = mid;
			from = t;
		}
	}
	for (unsigned r = 0; r < ROUNDS; r++) {
		before[r] = at_step(s, c, lo, r);
		after[r] = at_step(s, c, hi, r);
	}
	const double first = lo > 1 ? at_step(s, c, lo - 1, 0) : before[0],
		     last = hi < curve_most(s, c) ? at_step(s, c, hi + 1, 0) : after[0];
	if (study_pending(s))
		return CHASE_PENDING;
	c->fits = lo;
	c->before = fmin(before[0], before[1]);
	c->after = fmin(after[0], after[1]);
	c->expected = c->way->latency - (c->before - c->base);
	const double height = c->after - c->before, latency = c->way->latency;
	const bool beyond =
	    c->way->number == LATENCY_L2 && ((double)hi * c->stride > c->way->holds || leaves_l2(s, c, hi) ||
					     height > c->expected + UNLIKE_L2 * latency);
	/* When the first answer is back a place is free again: no table fills later. */
	const bool late = c->expected < -LIKE_HIGHER * latency - c->way->spread;
	const bool alike = height < STEPS_BESIDE * fmax(c->before - first, last - c->after);
	/* Of a steep curve any step may be as high as a jump. */
	c->weak = height < STRONG * latency + c->way->spread || beyond || late || (c->steep && alike);
	c->like = c->way->number == LATENCY_MEMORY && height >= FAINT * latency + c->way->spread && !alike &&
		  height >= c->expected - LIKE * latency - c->way->spread &&
		  height <= c->expected + LIKE_HIGHER * latency + c->way->spread;
	if (study_pending(s))
		return CHASE_PENDING;
	return isfinite(c->before + c->after) ? CHASE_DONE : CHASE_UNDECIDED;
}

/* What a step takes where nothing jumps: threads that ask for one address may yet be served one by one. */
static double usual_slope(const struct curve *c)
{
	double slope[GRID + 1], scratch[GRID + 1];
	unsigned n = 0;

	for (unsigned k = 0; k + 1 < c->count; k++)
		slope[n++] = (c->cycles[k + 1] - c->cycles[k]) / (c->at[k + 1] - c->at[k]);
	return n ? stat_quantile(slope, n, USUAL, scratch) : 0;
}

/* The step at which the curve rises by most beyond what issue explains. It has two points at least. */
static unsigned highest(const struct curve *c, double cost)
{
	unsigned best = 0;
	double most = -INFINITY;

	for (unsigned k = 0; k + 1 < c->count; k++) {
		const double is = excess(cost, c->cycles[k], c->cycles[k + 1], c->at[k + 1] - c->at[k]);
		best = is > most ? k : best;
		most = fmax(most, is);
	}
	return best;
}

/* What a step takes at the beginning: several loads of a thread follow each other faster than those of several threads. */
static double first_slope(struct study *s, const struct curve *c)
{
	const unsigned most = curve_most(s, c), from = first_step(c), far = from + (SOME - 1) * c->loads,
		       to = far < most ? far : most;

	if (to <= from)
		return NAN;
	return (at_step(s, c, to, 0) - at_step(s, c, from, 0)) / (to - from);
}

/* The first step is a line of each load of a thread: what comes after its loads takes longer for several. */
void curve_measure(struct study *s, struct curve *c)
{
	double cost = step_cost(s, c);
	const double slope = first_slope(s, c);
	unsigned most = curve_most(s, c);

	c->state = CHASE_PENDING;
	if (study_pending(s))
		return;
	cost = slope < cost ? fmax(LEAST, slope) : cost;
	const unsigned first = first_step(c);
	const double range = first + ceil(BEYOND * c->way->latency / cost);
	most = range < most ? (unsigned)range : most;
	c->count = 0;
	c->jumps = c->weak = c->like = false;
	for (unsigned k = 0; k <= GRID; k++) {
		const unsigned n = first + (unsigned)((double)(most - first) * k / GRID);
		if (c->count && n == c->at[c->count - 1])
			continue;
		c->at[c->count] = n;
		c->cycles[c->count++] = at_step(s, c, n, 0);
	}
	if (study_pending(s))
		return;
	c->state = CHASE_UNDECIDED;
	for (unsigned k = c->count; k-- > 0;) {
		if (!isfinite(c->cycles[k])) {
			struct pattern m = curve_pattern(s, c, c->at[k]);
			c->count = k > 1 ? k : c->count; /* a block that is too large ends the curve */
			if (c->count == k)
				continue;
			snprintf(c->why, sizeof c->why, "%u threads could not be timed: %.100s", m.threads,
				 point_why(latency_ask(s, c->way->number, &m)));
			return;
		}
		if (k + 1 < c->count) /* more requests never take less time */
			c->cycles[k] = fmin(c->cycles[k], c->cycles[k + 1]);
	}
	c->state = CHASE_DONE;
	c->base = c->cycles[0] - (c->at[0] - 1) * cost;
	c->steep = usual_slope(c) > STEEP * cost;
	cost = fmax(cost, usual_slope(c));
	for (unsigned k = 0; k + 1 < c->count && !c->jumps; k++) {
		if (!rises(c, cost, c->cycles[k], c->cycles[k + 1], c->at[k + 1] - c->at[k]))
			continue;
		c->jumps = true;
		c->state = close_in(s, c, cost, k);
	}
	if (!c->jumps && c->count > 1) {
		const unsigned k = highest(c, cost);
		c->jumps = excess(cost, c->cycles[k], c->cycles[k + 1], c->at[k + 1] - c->at[k]) >=
			   FAINT * c->way->latency + c->way->spread;
		c->state = c->jumps ? close_in(s, c, cost, k) : c->state;
	}
	if (c->state == CHASE_UNDECIDED)
		snprintf(c->why, sizeof c->why, "the points around a jump could not be timed");
}

enum chase_state curve_look(struct study *s, struct curve *c, unsigned n, double expected)
{
	const double cost = step_cost(s, c), noise = c->way->spread;
	double t[4];

	for (unsigned k = 0; k < 4; k++)
		t[k] = fmin(at_step(s, c, n - 1 + k, 0), at_step(s, c, n - 1 + k, 1));
	if (study_pending(s))
		return CHASE_PENDING;
	if (!isfinite(t[0] + t[1] + t[2] + t[3]))
		return CHASE_UNDECIDED;
	const double height = t[2] - t[1], beside = fmax(fmax(t[1] - t[0], t[3] - t[2]), cost);
	if (height < FLAT * expected && beside < FLAT * expected && noise < FLAT * expected)
		c->flat = n;
	return CHASE_DONE;
}

enum chase_state curve_rises(struct study *s, const struct curve *c, unsigned n, bool *rises)
{
	const double cost = step_cost(s, c);
	double t[3];

	for (unsigned k = 0; k < 3; k++) {
		const double one = at_step(s, c, n - 1 + k, 0), two = at_step(s, c, n - 1 + k, 1);
		t[k] = fmin(one, two);
		t[k] = isfinite(one + two) ? t[k] : NAN;
	}
	if (study_pending(s))
		return CHASE_PENDING;
	if (!isfinite(t[0] + t[1] + t[2]))
		return CHASE_UNDECIDED;
	*rises = t[2] - t[1] > SPIKE * fmax(cost, fabs(t[1] - t[0])) + c->way->spread;
	return CHASE_DONE;
}
