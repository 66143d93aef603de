/* Optimal partition of labels along an axis, by dynamic programming over its cuts (Jackson and others 2005). */
#include "stat/unlike_shares.h"
#include <math.h>
#include <stdbool.h>

/* Values up to each cut: cut 0 stands before all, and each further one behind the last of equal values. */
struct cuts {
	size_t n;
	double *value;		/* the largest value before the cut */
	double *first, *second; /* values of each sample before the cut */
	double *best, *from;	/* best log likelihood of all before the cut, and the cut before it */
};

static struct cuts cuts_of(const double *a, size_t n, const double *b, size_t m, double *scratch)
{
	const size_t room = n + m + 1;
	struct cuts c = {.value = scratch,
			 .first = scratch + room,
			 .second = scratch + 2 * room,
			 .best = scratch + 3 * room,
			 .from = scratch + 4 * room};
	size_t i = 0, k = 0;

	c.value[0] = -INFINITY;
	c.first[0] = c.second[0] = c.best[0] = c.from[0] = 0;
	for (c.n = 1; i < n || k < m; c.n++) {
		const double v = k == m || (i < n && a[i] < b[k]) ? a[i] : b[k];
		while (i < n && a[i] <= v)
			i++;
		while (k < m && b[k] <= v)
			k++;
		c.value[c.n] = v;
		c.first[c.n] = (double)i;
		c.second[c.n] = (double)k;
	}
	return c;
}

static double likelihood(double x, double y)
{
	const double all = x + y;

	return (x > 0 ? x * log(x / all) : 0) + (y > 0 ? y * log(y / all) : 0);
}

size_t stat_share_groups(const double *a, size_t n, const double *b, size_t m, double nats,
			 struct stat_share_group *out, size_t max, double *scratch)
{
	if (n + m == 0)
		return 0;
	struct cuts c = cuts_of(a, n, b, m, scratch);
	for (size_t k = 1; k < c.n; k++) {
		c.best[k] = -INFINITY;
		for (size_t i = 0; i < k; i++) {
			const double sum =
			    c.best[i] + likelihood(c.first[k] - c.first[i], c.second[k] - c.second[i]) - nats;
			if (sum > c.best[k]) {
				c.best[k] = sum;
				c.from[k] = (double)i;
			}
		}
	}
	size_t groups = 0;
	for (size_t k = c.n - 1; k; k = (size_t)c.from[k])
		groups++;
	size_t at = groups;
	for (size_t k = c.n - 1; k; k = (size_t)c.from[k]) {
		const size_t i = (size_t)c.from[k];
		if (--at < max)
			out[at] = (struct stat_share_group){
			    .lo = c.value[i + 1],
			    .hi = c.value[k],
			    .count = {(size_t)(c.first[k] - c.first[i]), (size_t)(c.second[k] - c.second[i])}};
	}
	return groups;
}
