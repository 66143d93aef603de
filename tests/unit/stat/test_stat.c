#include "base/rng.h"
#include "stat/stat.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define near(a, b) assert_true(fabs((a) - (b)) < 1e-9)

static void quantiles(void **state)
{
	(void)state;
	const double v[] = {5, 1, 4, 2, 3}, one[] = {7};
	double scratch[5];

	near(stat_median(v, 5, scratch), 3);
	near(stat_median(v, 4, scratch), 3); /* 1 2 4 5 */
	near(stat_quantile(v, 5, 0, scratch), 1);
	near(stat_quantile(v, 5, 1, scratch), 5);
	near(stat_quantile(v, 5, 0.125, scratch), 1.5);
	near(stat_median(one, 1, scratch), 7);
	near(stat_mad(v, 5, scratch), 1);
	near(stat_harmonic_mean((const double[]){1, 2, 4}, 3), 3 / 1.75);
}

/* Many values are selected from, not sorted; with ties, ascending, descending and all alike. */
static void quantiles_of_many(void **state)
{
	enum { MOST = 700 };
	double v[MOST], sorted[MOST], scratch[MOST];
	struct rng r;
	(void)state;

	rng_seed(&r, 7);
	for (unsigned round = 0; round < 400; round++) {
		size_t n = 1 + rng_below(&r, MOST), values = round % 4 ? 1 + rng_below(&r, 2000) : 1;
		for (size_t i = 0; i < n; i++)
			v[i] = round % 4 == 1	? (double)i
			       : round % 4 == 2 ? (double)(n - i)
						: (double)rng_below(&r, values);
		memcpy(sorted, v, n * sizeof(*v));
		qsort(sorted, n, sizeof(*sorted), stat_compare_double);
		for (unsigned k = 0; k <= 8; k++) {
			double at = k / 8.0 * (double)(n - 1);
			size_t low = (size_t)at, high = low + 1 < n ? low + 1 : low;
			double want = sorted[low] + (at - (double)low) * (sorted[high] - sorted[low]);
			assert_true(stat_quantile(v, n, k / 8.0, scratch) == want);
		}
	}
}

static void trimmed_mean_ignores_outliers(void **state)
{
	(void)state;
	const double v[] = {10, 10.5, 9.5, 10, 1000};
	double scratch[5];
	size_t used;

	near(stat_trimmed_mean(v, 5, 3, 0, scratch, &used), 10);
	assert_int_equal(used, 4);
	const double same[] = {3, 3, 3, 4, 9}; /* no deviation: the floor decides */
	near(stat_trimmed_mean(same, 5, 3, 1, scratch, &used), 3.25);
	assert_int_equal(used, 4);
	near(stat_trimmed_mean(same, 5, 3, 0, scratch, NULL), 3);
}

static void modes_are_found(void **state)
{
	(void)state;
	double v[1000], scratch[1000];
	struct stat_mode m[4];
	struct rng r;

	rng_seed(&r, 1);
	for (int i = 0; i < 1000; i++)
		v[i] = i < 600	 ? 38 + (double)rng_below(&r, 3)
		       : i < 950 ? 220 + (double)rng_below(&r, 9)
				 : 500 + 40 * i;
	assert_int_equal(stat_modes(v, 1000, 4, 0.05, m, 4, scratch), 2);
	near(m[0].lo, 38);
	near(m[0].hi, 40);
	assert_int_equal(m[0].count, 600);
	near(m[1].lo, 220);
	near(m[1].hi, 228);
	assert_true(m[1].centre >= 223 && m[1].centre <= 225);
	assert_int_equal(stat_modes(v, 0, 4, 0.05, m, 4, scratch), 0);
	/* more modes than room: the populous ones stay, in order */
	const double w[] = {1, 1, 1, 10, 20, 20, 30, 30, 30, 30};
	assert_int_equal(stat_modes(w, 10, 1, 0.05, m, 2, scratch), 2);
	near(m[0].centre, 1);
	near(m[1].centre, 30);
}

static void robust_gcd(void **state)
{
	(void)state;
	const uint64_t exact[] = {64, 128, 192, 640, 0}, noisy[] = {64, 128, 192, 640, 64, 64, 64, 64, 64, 65};

	assert_int_equal(stat_gcd_robust(exact, 5, 1, 1024), 64);
	assert_int_equal(stat_gcd_robust(exact, 5, 1, 48), 32);
	assert_int_equal(stat_gcd_robust(noisy, 10, 0.9, 1024), 64);
	assert_int_equal(stat_gcd_robust(noisy, 10, 0.95, 1024), 1);
	assert_int_equal(stat_gcd_robust(noisy, 0, 0.9, 1024), 0);
}

static uint64_t brute_gcd(const uint64_t *v, size_t n, double quorum, uint64_t max)
{
	for (uint64_t g = max; g > 1; g--) {
		size_t multiples = 0;
		for (size_t i = 0; i < n; i++)
			multiples += v[i] % g == 0;
		if ((double)multiples >= quorum * (double)n)
			return g;
	}
	return 1;
}

static void robust_gcd_is_its_definition(void **state)
{
	(void)state;
	uint64_t v[60];
	struct rng r;

	rng_seed(&r, 5);
	for (int round = 0; round < 3000; round++) {
		const size_t n = 1 + rng_below(&r, 60);
		const uint64_t unit = 1 + rng_below(&r, 300), max = 1 + rng_below(&r, 900),
			       wide = rng_below(&r, 50) ? 0 : 33;
		const uint64_t zeros = rng_below(&r, 3) ? 0 : rng_below(&r, 10), noise = rng_below(&r, 4);
		for (size_t i = 0; i < n; i++) {
			v[i] = unit * rng_below(&r, 1000) << wide;
			if (rng_below(&r, 10) < noise)
				v[i] += rng_below(&r, 7);
			if (rng_below(&r, 10) < zeros)
				v[i] = 0;
		}
		const double quorum = 0.5 + 0.05 * (double)rng_below(&r, 11);
		assert_int_equal(stat_gcd_robust(v, n, quorum, max), brute_gcd(v, n, quorum, max));
	}
	v[0] = 3 * 70000;
	v[1] = 5 * 70000;
	assert_int_equal(stat_gcd_robust(v, 2, 1, 100000), 70000);
	assert_int_equal(stat_gcd_robust(v, 2, 1, 0), 1);
}

static void lines(void **state)
{
	(void)state;
	const double x[] = {1e9 + 1, 1e9 + 2, 1e9 + 3}, y[] = {5, 7, 9}, same[] = {4, 4, 4};
	double slope, intercept;

	assert_true(stat_line(x, y, 3, &slope, &intercept));
	near(slope, 2);
	assert_false(stat_line(same, y, 3, &slope, &intercept));
}

static double tail(unsigned n, double p, unsigned k)
{
	double sum = 0;

	for (unsigned i = k; i <= n; i++)
		sum += exp(lgamma(n + 1.0) - lgamma(i + 1.0) - lgamma(n - i + 1.0) + i * log(p) + (n - i) * log1p(-p));
	return sum;
}

static void binomial_limits(void **state)
{
	(void)state;
	static const unsigned ns[] = {1, 10, 100, 1000};
	static const double ps[] = {0.001, 0.02, 0.3, 0.9}, alphas[] = {0.5, 0.01, 1e-6};

	for (size_t i = 0; i < 4; i++) {
		for (size_t j = 0; j < 4; j++) {
			for (size_t k = 0; k < 3; k++) {
				unsigned limit = stat_binomial_limit(ns[i], ps[j], alphas[k]);
				assert_true(limit <= ns[i]);
				assert_true(limit == 0 || tail(ns[i], ps[j], limit) >= alphas[k] * (1 - 1e-6));
				assert_true(limit == ns[i] || tail(ns[i], ps[j], limit + 1) < alphas[k] * (1 + 1e-6));
			}
		}
	}
	assert_int_equal(stat_binomial_limit(0, 0.5, 0.01), 0);
	assert_int_equal(stat_binomial_limit(100, 0, 0.01), 0);
	assert_int_equal(stat_binomial_limit(100, 1, 0.01), 100);
	/* large numbers stay quick and exact enough: mean 1000, deviation about 31.6 */
	assert_in_range(stat_binomial_limit(10000000, 1e-4, 1e-3), 1090, 1105);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(quantiles),
	    cmocka_unit_test(quantiles_of_many),
	    cmocka_unit_test(trimmed_mean_ignores_outliers),
	    cmocka_unit_test(modes_are_found),
	    cmocka_unit_test(robust_gcd),
	    cmocka_unit_test(robust_gcd_is_its_definition),
	    cmocka_unit_test(lines),
	    cmocka_unit_test(binomial_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
