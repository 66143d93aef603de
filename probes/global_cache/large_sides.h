/* What answers beyond the part of a large L2 that one SM fills: another side of it, or memory. */
#ifndef FATHOM_LARGE_SIDES_H
#define FATHOM_LARGE_SIDES_H
#include "large_l2.h"

/* The model. One SM keeps near copies of what it reads. A line whose home is another side and whose copy is lost is a far hit, as long as that
 * side holds it. Homes are spread evenly, so of the misses of a footprint little larger than the near part the share (sides - 1) / sides are far
 * hits. Of one several times larger than all sides hardly any are. What memory does is the same at both. So groups of latency in which
 * the two footprints have unlike shares tell far hits, the fastest misses, from memory. */
struct large_sides {
	bool sides;	       /* far hits were told from memory */
	double far_share;      /* of the misses of the smaller footprint: far hits */
	double far_lo, far_hi; /* its interval, two standard deviations */
	double far;	       /* ticks of a far hit, mean */
	double memory, memory_lo,
	    memory_hi;			/* ticks of an answer by memory: mean over random lines, two standard errors */
	size_t far_count, memory_count; /* samples that the means are of */
	char why[200];			/* of CHASE_UNDECIDED */
};
/* Only after large_size was done. Asks for the sweeps that large_size has not asked for. */
enum chase_state large_sides(struct study *s, unsigned experiment, uint64_t unit, const struct large_l2 *l,
			     struct large_sides *out);
/* How many of n samples, ascending, no refresh of the memory delayed. The slowest were delayed if they are as few as
 * refreshes make them. scratch: n more. Exposed for tests. */
size_t large_undelayed(const double *ticks, size_t n, double *scratch);
/* The mean of what memory answered, in ascending order, and its interval. Parts of the memory differ, so that the
 * spread of all decides how many of the slowest count as delayed. The interval holds the mean with those and
 * without. */
void large_memory(const double *ticks, size_t n, double *scratch, struct large_sides *out);

#endif
