#include "stat/walk_levels.h"
#include <math.h>
#include <string.h>

#define STEPS	   (STAT_LEVELS - 1) /* between levels */
#define COARSE	   12		     /* places of a step that are tried in an octave */
#define FINE	   96
#define NEIGHBOURS 16 /* fine places on either side */
#define PASSES	   4
#define BETTER	   16	/* a level more: so much less squared error */
#define PERHAPS	   2	/* so much less: too little to say that it is there, too much to say that it is not */
#define SLOWER	   0.03 /* than the level before it, at least */
#define MISFIT	   4	/* mean squared error that is no fit any more */
#define INTERVAL   4	/* squared error more at the ends of an interval: two standard deviations */
#define LEFT_OUT   2	/* neighbours of the curve that are left out at a time */
#define SIZES_MOST 128	/* of a curve that is looked at without some of its sizes */
#define POINTS	   3	/* of the curve for each number that is fitted */

struct data {
	const double *size, *value, *error;
	size_t n;
};

struct fit {
	size_t steps;
	double at[STEPS];			 /* sizes */
	double by[STAT_LEVELS];			 /* first latency, then what each level adds */
	double spread[STAT_LEVELS][STAT_LEVELS]; /* covariance of by */
	double error;				 /* squared, in standard deviations */
};

static double share(const struct fit *f, size_t k, double size)
{
	return k == 0 ? 1 : size > f->at[k - 1] ? 1 - f->at[k - 1] / size : 0;
}

/* Inverse of a symmetric positive matrix of n rows, by Gauss and Jordan. False: there is none. */
static bool invert(double a[STAT_LEVELS][STAT_LEVELS], double inverse[STAT_LEVELS][STAT_LEVELS], size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < n; j++)
			inverse[i][j] = i == j;
	for (size_t i = 0; i < n; i++) {
		const double pivot = a[i][i];
		if (!(pivot > 1e-12))
			return false;
		for (size_t j = 0; j < n; j++) {
			a[i][j] /= pivot;
			inverse[i][j] /= pivot;
		}
		for (size_t r = 0; r < n; r++) {
			const double factor = a[r][i];
			for (size_t j = 0; j < n && r != i; j++) {
				a[r][j] -= factor * a[i][j];
				inverse[r][j] -= factor * inverse[i][j];
			}
		}
	}
	return true;
}

/* Best latencies for steps at these sizes. False: some level would not be slower than the one before it. */
static bool solve(const struct data *d, struct fit *f)
{
	const size_t n = f->steps + 1;
	double a[STAT_LEVELS][STAT_LEVELS] = {{0}}, b[STAT_LEVELS] = {0}, x[STAT_LEVELS], below = 0;
	for (size_t i = 0; i < d->n; i++) {
		const double w = 1 / (d->error[i] * d->error[i]);
		for (size_t k = 0; k < n; k++)
			x[k] = share(f, k, d->size[i]);
		for (size_t k = 0; k < n; k++) {
			b[k] += w * x[k] * d->value[i];
			for (size_t j = 0; j < n; j++)
				a[k][j] += w * x[k] * x[j];
		}
	}
	if (!invert(a, f->spread, n))
		return false;
	for (size_t k = 0; k < n; k++) {
		f->by[k] = 0;
		for (size_t j = 0; j < n; j++)
			f->by[k] += f->spread[k][j] * b[j];
		if (!(f->by[k] > SLOWER * below))
			return false;
		below += f->by[k];
	}
	f->error = 0;
	for (size_t i = 0; i < d->n; i++) {
		double v = 0;
		for (size_t k = 0; k < n; k++)
			v += f->by[k] * share(f, k, d->size[i]);
		f->error += (v - d->value[i]) * (v - d->value[i]) / (d->error[i] * d->error[i]);
	}
	return true;
}

/* Puts step k where it fits best, of the places between `from` and `to`, so many in an octave. */
static void place(const struct data *d, struct fit *f, size_t k, double from, double to, unsigned octave)
{
	const double below = k ? f->at[k - 1] : 0, above = k + 1 < f->steps ? f->at[k + 1] : INFINITY;
	const unsigned places = (unsigned)(log2(to / from) * octave + 0.5);
	for (unsigned i = 0; i <= places; i++) {
		const double at = from * exp2((double)i / octave);
		struct fit other = *f;
		other.at[k] = at;
		if (at > below && at < above && solve(d, &other) && other.error < f->error)
			*f = other;
	}
}

/* Moves each step to where it fits best, a few times over. */
static void improve(const struct data *d, struct fit *f)
{
	for (unsigned pass = 0; pass < PASSES; pass++)
		for (size_t k = 0; k < f->steps; k++) {
			const double reach = exp2((double)NEIGHBOURS / FINE), at = f->at[k];
			place(d, f, k, at / reach / reach, at * reach * reach, COARSE * 2);
			place(d, f, k, f->at[k] / reach, f->at[k] * reach, FINE);
		}
}

/* The best fit with one step more. False: there is none. */
static bool add_step(const struct data *d, const struct fit *old, struct fit *best)
{
	*best = *old;
	best->error = INFINITY;
	const unsigned places = (unsigned)(log2(d->size[d->n - 1] / d->size[0]) * COARSE);
	for (unsigned i = 0; i < places; i++) {
		const double at = d->size[0] * exp2((double)i / COARSE);
		struct fit f = *old;
		size_t k = f.steps++;
		for (; k > 0 && f.at[k - 1] > at; k--)
			f.at[k] = f.at[k - 1];
		f.at[k] = at;
		if (solve(d, &f) && f.error < best->error)
			*best = f;
	}
	if (isinf(best->error))
		return false;
	improve(d, best);
	return true;
}

/* How far step k can be moved, by this factor at a time, until the fit is worse by `worse` wherever its neighbours go. */
static double moved(const struct data *d, const struct fit *f, size_t k, double factor, double worse)
{
	const double reach = exp2((double)NEIGHBOURS / FINE);
	struct fit other = *f;
	while (other.at[k] > d->size[0] / 2 && other.at[k] < d->size[d->n - 1]) {
		other.at[k] *= factor;
		if (!solve(d, &other))
			break;
		for (size_t i = k ? k - 1 : 0; i < other.steps && i <= k + 1; i++)
			if (i != k)
				place(d, &other, i, other.at[i] / reach, other.at[i] * reach, FINE);
		if (other.error > f->error + worse)
			break;
	}
	return other.at[k];
}

static double value_of(const struct fit *f, size_t k)
{
	double value = 0;
	for (size_t i = 0; i <= k; i++)
		value += f->by[i];
	return value;
}

/* Widens the levels' intervals by fits without any two neighbouring sizes. A rule of replacement may hold more than its
 * share of arrays a little larger than the level. Single sizes then say too much, and the levels are as likely to be
 * where the other sizes put them. */
static void without(const struct data *d, const struct fit *f, struct stat_level *out)
{
	double size[SIZES_MOST], value[SIZES_MOST], error[SIZES_MOST];
	if (d->n > SIZES_MOST)
		return;
	for (size_t left = 0; left + LEFT_OUT <= d->n; left++) {
		size_t n = 0;
		for (size_t i = 0; i < d->n; i++)
			if (i < left || i >= left + LEFT_OUT) {
				size[n] = d->size[i];
				value[n] = d->value[i];
				error[n++] = d->error[i];
			}
		const struct data part = {size, value, error, n};
		struct fit other = *f;
		if (!solve(&part, &other))
			continue;
		improve(&part, &other);
		for (size_t k = 0; k <= f->steps; k++) {
			const double v = value_of(&other, k);
			out[k].lo = fmin(out[k].lo, v);
			out[k].hi = fmax(out[k].hi, v);
			if (k < f->steps) {
				out[k].size_lo = fmin(out[k].size_lo, other.at[k]);
				out[k].size_hi = fmax(out[k].size_hi, other.at[k]);
			}
		}
	}
}

/* A level more that may be there: those from it on may be the next ones. */
static void doubt(const struct data *d, const struct fit *f, const struct fit *more, double worse,
		  struct stat_level *out)
{
	size_t first = 0; /* that is not in both */
	while (first < f->steps &&
	       fabs(log2(more->at[first + 1] / f->at[first])) > fabs(log2(more->at[first] / f->at[first])))
		first++;
	for (size_t k = first; k < f->steps; k++)
		for (size_t other = k; other <= k + 1; other++) {
			out[k].size_lo = fmin(out[k].size_lo, moved(d, more, other, exp2(-1.0 / FINE), worse));
			out[k].size_hi = fmax(out[k].size_hi, moved(d, more, other, exp2(1.0 / FINE), worse));
		}
	for (size_t k = first + 1; k <= f->steps; k++)
		for (size_t other = k; other <= k + 1; other++) {
			out[k].lo = fmin(out[k].lo, value_of(more, other));
			out[k].hi = fmax(out[k].hi, value_of(more, other));
		}
}

size_t stat_levels(const double *size, const double *value, const double *error, size_t n,
		   struct stat_level out[STAT_LEVELS], double *misfit)
{
	const struct data d = {size, value, error, n};
	struct fit f = {.steps = 0}, more;
	memset(out, 0, STAT_LEVELS * sizeof *out);
	*misfit = INFINITY;
	if (n < POINTS || !solve(&d, &f))
		return 0;
	bool another;
	while ((another = f.steps < STEPS && POINTS * 2 * (f.steps + 1) < n && add_step(&d, &f, &more)) &&
	       more.error < f.error - BETTER)
		f = more;
	*misfit = f.error / (double)(n - f.steps);
	if (*misfit > MISFIT)
		return 0;
	const double worse = INTERVAL * fmax(1, *misfit);
	for (size_t k = 0; k <= f.steps; k++) {
		double spread = 0;
		out[k].value = value_of(&f, k);
		for (size_t i = 0; i <= k; i++) {
			for (size_t j = 0; j <= k; j++)
				spread += f.spread[i][j];
		}
		spread = sqrt(fmax(0, spread) * worse);
		out[k].lo = out[k].value - spread;
		out[k].hi = out[k].value + spread;
		if (k < f.steps) {
			out[k].size = f.at[k];
			out[k].size_lo = moved(&d, &f, k, exp2(-1.0 / FINE), worse);
			out[k].size_hi = moved(&d, &f, k, exp2(1.0 / FINE), worse);
		}
	}
	if (*misfit > 1) /* more than chance leaves: the curve is no such sum everywhere */
		without(&d, &f, out);
	if (another && more.error < f.error - PERHAPS)
		doubt(&d, &f, &more, worse, out);
	return f.steps + 1;
}
