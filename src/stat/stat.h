/* Robust statistics on arrays. Nothing here knows what a cycle or a cache is. */
#ifndef FATHOM_STAT_H
#define FATHOM_STAT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

int stat_compare_double(const void *a, const void *b);
int stat_compare_u32(const void *a, const void *b);
/* Quantile q in [0,1] of n values by linear interpolation; scratch must hold n doubles (it is overwritten). n > 0. */
double stat_quantile(const double *v, size_t n, double q, double *scratch);
double stat_median(const double *v, size_t n, double *scratch);
double stat_mad(const double *v, size_t n, double *scratch); /* median absolute deviation from the median */
/* Takes an interval to a share of the value on either side, at least. */
void stat_widen(double value, double share, double *lo, double *hi);
/* Mean of the values within k MADs (at least `floor`) of the median; *used gets how many. */
double stat_trimmed_mean(const double *v, size_t n, double k, double floor, double *scratch, size_t *used);
double stat_harmonic_mean(const double *v, size_t n);

/* Modes (clusters) of latency-like values: groups separated by gaps wider than `gap`, each with at least min_share of the values.
 * Returns how many were written to out (ascending by centre); values in no mode are outliers. When there are more modes than max, the most
 * populous are kept. scratch: n doubles. */
struct stat_mode {
	double lo, hi, centre; /* median */
	size_t count;
};
size_t stat_modes(const double *v, size_t n, double gap, double min_share, struct stat_mode *out, size_t max,
		  double *scratch);

/* Greatest common divisor; 0 is a multiple of everything. */
uint64_t stat_gcd(uint64_t a, uint64_t b);
/* Largest g such that nearly all values (share >= quorum) are multiples of g, among candidates 1..max. 0 is a multiple
 * of everything. Returns 0 when n = 0. */
uint64_t stat_gcd_robust(const uint64_t *v, size_t n, double quorum, uint64_t max);

/* Least squares line through points; false when x has no spread. */
bool stat_line(const double *x, const double *y, size_t n, double *slope, double *intercept);
/* Largest k such that P(Binomial(n, p) >= k) >= alpha: how many rare events chance explains. */
unsigned stat_binomial_limit(unsigned n, double p, double alpha);

#endif
