/* Groups of values in which the shares of two samples are alike. */
#ifndef FATHOM_UNLIKE_SHARES_H
#define FATHOM_UNLIKE_SHARES_H
#include <stddef.h>

struct stat_share_group {
	double lo, hi;	 /* its smallest and its largest value */
	size_t count[2]; /* values of each sample */
};

/* Two samples are drawn from one set of components in other proportions. Neighbouring values of one component have one
 * chance of being of the first sample. Cuts the pooled values into the contiguous groups of the largest likelihood, at
 * the price of `nats` a cut. Equal values stay together. Inputs a and b are ascending, n and m values. Returns how many
 * groups there are, ascending; out gets at most max of them. 0 when there are no values. Array `scratch` has
 * STAT_SHARE_SCRATCH(n + m) doubles. Time grows with (n + m) squared. */
size_t stat_share_groups(const double *a, size_t n, const double *b, size_t m, double nats,
			 struct stat_share_group *out, size_t max, double *scratch);
#define STAT_SHARE_SCRATCH(all) (5 * ((all) + 1))

#endif
