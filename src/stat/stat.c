#include "stat/stat.h"
#include "base/rng.h"
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FEW	    24 /* values that are sorted faster than selected from */
#define ROUNDS_MOST 64

int stat_compare_double(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

int stat_compare_u32(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static void sort(double *v, size_t n)
{
	qsort(v, n, sizeof(*v), stat_compare_double);
}

static double sorted_quantile(const double *v, size_t n, double q)
{
	double at = q * (double)(n - 1);
	size_t i = (size_t)at;

	if (i + 1 >= n)
		return v[n - 1];
	return v[i] + (at - (double)i) * (v[i + 1] - v[i]);
}

static void sort_few(double *v, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		double x = v[i];
		size_t k = i;
		for (; k && v[k - 1] > x; k--)
			v[k] = v[k - 1];
		v[k] = x;
	}
}

/* Puts the value of this rank at its place, and none after it that is smaller. false: it would take too long. */
static bool select_rank(double *v, ptrdiff_t n, ptrdiff_t rank)
{
	ptrdiff_t lo = 0, hi = n - 1;

	for (unsigned rounds = 0; lo < hi; rounds++) {
		double x = v[lo], y = v[lo + (hi - lo) / 2], z = v[hi];
		double pivot = fmax(fmin(x, y), fmin(fmax(x, y), z));
		ptrdiff_t a = lo, b = hi;
		if (rounds == ROUNDS_MOST)
			return false;
		while (a <= b) {
			while (v[a] < pivot)
				a++;
			while (v[b] > pivot)
				b--;
			if (a > b)
				break;
			double swapped = v[a];
			v[a++] = v[b];
			v[b--] = swapped;
		}
		if (rank <= b)
			hi = b;
		else if (rank >= a)
			lo = a;
		else
			break;
	}
	return true;
}

/* Changes the order of v. */
static double quantile_of(double *v, size_t n, double q)
{
	double at = q * (double)(n - 1), next;
	size_t i = (size_t)at;

	if (n <= FEW) {
		sort_few(v, n);
		return sorted_quantile(v, n, q);
	}
	if (!select_rank(v, (ptrdiff_t)n, (ptrdiff_t)i)) {
		sort(v, n);
		return sorted_quantile(v, n, q);
	}
	if (i + 1 >= n)
		return v[i];
	next = v[i + 1];
	for (size_t k = i + 2; k < n; k++)
		next = v[k] < next ? v[k] : next;
	return v[i] + (at - (double)i) * (next - v[i]);
}

double stat_quantile(const double *v, size_t n, double q, double *scratch)
{
	assert(n > 0 && q >= 0 && q <= 1);
	memcpy(scratch, v, n * sizeof(*v));
	return quantile_of(scratch, n, q);
}

double stat_median(const double *v, size_t n, double *scratch)
{
	return stat_quantile(v, n, 0.5, scratch);
}

double stat_mad(const double *v, size_t n, double *scratch)
{
	double m = stat_median(v, n, scratch);

	for (size_t i = 0; i < n; i++)
		scratch[i] = fabs(v[i] - m);
	return quantile_of(scratch, n, 0.5);
}

void stat_widen(double value, double share, double *lo, double *hi)
{
	*lo = fmin(*lo, (1 - share) * value);
	*hi = fmax(*hi, (1 + share) * value);
}

double stat_trimmed_mean(const double *v, size_t n, double k, double floor, double *scratch, size_t *used)
{
	double m = stat_median(v, n, scratch), width = k * stat_mad(v, n, scratch), sum = 0;
	size_t count = 0;

	if (width < floor)
		width = floor;
	for (size_t i = 0; i < n; i++) {
		if (fabs(v[i] - m) <= width) {
			sum += v[i];
			count++;
		}
	}
	if (used)
		*used = count;
	return count ? sum / (double)count : m;
}

double stat_harmonic_mean(const double *v, size_t n)
{
	double sum = 0;

	assert(n > 0);
	for (size_t i = 0; i < n; i++)
		sum += 1 / v[i];
	return (double)n / sum;
}

/* Drops the least populous of `count` modes. */
static void drop_smallest(struct stat_mode *out, size_t count)
{
	size_t small = 0;

	for (size_t i = 1; i < count; i++) {
		if (out[i].count < out[small].count)
			small = i;
	}
	memmove(&out[small], &out[small + 1], (count - small - 1) * sizeof(*out));
}

size_t stat_modes(const double *v, size_t n, double gap, double min_share, struct stat_mode *out, size_t max,
		  double *scratch)
{
	size_t found = 0;

	if (n == 0 || max == 0)
		return 0;
	memcpy(scratch, v, n * sizeof(*v));
	sort(scratch, n);
	for (size_t from = 0, to; from < n; from = to) {
		for (to = from + 1; to < n && scratch[to] - scratch[to - 1] <= gap;)
			to++;
		size_t count = to - from;
		if ((double)count < min_share * (double)n)
			continue;
		struct stat_mode m = {.lo = scratch[from],
				      .hi = scratch[to - 1],
				      .centre = sorted_quantile(scratch + from, count, 0.5),
				      .count = count};
		if (found == max) {
			size_t least = 0;
			for (size_t i = 1; i < max; i++) {
				if (out[i].count < out[least].count)
					least = i;
			}
			if (out[least].count >= count)
				continue;
			drop_smallest(out, found--);
		}
		out[found++] = m;
	}
	return found;
}

bool stat_line(const double *x, const double *y, size_t n, double *slope, double *intercept)
{
	double mx = 0, my = 0, sxx = 0, sxy = 0;

	for (size_t i = 0; i < n; i++) {
		mx += x[i] / (double)n;
		my += y[i] / (double)n;
	}
	/* about the means, so that large offsets do not eat the digits */
	for (size_t i = 0; i < n; i++) {
		sxx += (x[i] - mx) * (x[i] - mx);
		sxy += (x[i] - mx) * (y[i] - my);
	}
	if (!(sxx > 0))
		return false;
	*slope = sxy / sxx;
	*intercept = my - *slope * mx;
	return true;
}

unsigned stat_binomial_limit(unsigned n, double p, double alpha)
{
	if (n == 0 || !(p > 0))
		return 0;
	if (p >= 1)
		return n;
	/* Goes up from the mode until the terms no longer matter. The tail is then summed from its small end, so that
	 * no digits are lost to cancellation. */
	double odds = p / (1 - p);
	unsigned k = (unsigned)((double)n * p);
	double term = exp(lgamma((double)n + 1) - lgamma((double)k + 1) - lgamma((double)(n - k) + 1) +
			  (double)k * log(p) + (double)(n - k) * log1p(-p));
	while (k < n && term > alpha * 1e-18) {
		term *= (double)(n - k) / (double)(k + 1) * odds;
		k++;
	}
	double tail = term;
	while (tail < alpha && k > 0) {
		term *= (double)k / ((double)(n - k + 1) * odds);
		k--;
		tail += term;
	}
	return k;
}
