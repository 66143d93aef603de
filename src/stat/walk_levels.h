/* Latency of a random walk against the size of the array: how large and how slow the levels are that it meets. */
#ifndef FATHOM_WALK_LEVELS_H
#define FATHOM_WALK_LEVELS_H
#include <stdbool.h>
#include <stddef.h>

#define STAT_LEVELS 5 /* at most, memory counted */

struct stat_level {
	double size, size_lo, size_hi; /* as far as it holds the array; of the last level 0 */
	double value, lo, hi;	       /* a load that it serves */
};

/* Lemeire 2016, equation 6, for any number of levels. A level of size c serves the share c/size of random accesses to
 * an array larger than itself, which gives
 *
 *   value(size) = v1 + sum of (v[k+1] - v[k]) * max(0, 1 - c[k]/size)
 *
 * Levels are added as long as each makes the fit better by more than chance would, and is slower than the one before
 * it. Array `size` is ascending, n values; `error` is one standard deviation of each value. Intervals hold two standard
 * deviations, or as many more as the misfit says. They also hold what they would be with one level more, if that makes
 * the fit better, but not by enough to be added. If the misfit is more than chance leaves, they hold what they would be
 * without any two neighbouring sizes, of up to 128. Returns how many levels there are, nearest first, or 0: n is too
 * small, or no sum of levels fits. *misfit is the mean squared error in standard deviations. */
size_t stat_levels(const double *size, const double *value, const double *error, size_t n,
		   struct stat_level out[STAT_LEVELS], double *misfit);

#endif
