/* An L2 that is too large to be walked by one thread: all threads of a block fill it, one thread samples it. */
#ifndef FATHOM_LARGE_L2_H
#define FATHOM_LARGE_L2_H
#include "probe/chase.h"

/* Experiment "sweep": x is the footprint in bytes. */
enum sweep_param { SWEEP_STRIDE, SWEEP_PASSES, SWEEP_SEED, SWEEP_SM };
#define SWEEP_PARAM_NAMES                                                                                              \
	{                                                                                                              \
		"stride", "passes", "seed", "sm"                                                                       \
	}
int sweep_setup(const struct study *s, double x, const double *p, struct job *j, const char *load, const char *fill);

struct large_l2 {
	uint64_t limit;		       /* given: no larger footprint */
	bool overflows;		       /* a footprint was found that something does not hold any more */
	bool pages;		       /* what overflows may be pages and not lines */
	double near, far;	       /* ticks: median of a small footprint, and of the largest one */
	double fits, beyond;	       /* bytes: largest footprint that always hits, smallest one that does not */
	double largest;		       /* bytes: the largest footprint tried */
	double slow, slow_lo, slow_hi; /* ticks of misses: mean, 5 % and 95 % */
	char why[200];
};
/* Is there anything behind loads past the L1 that a large footprint overflows? */
enum chase_state large_check(struct study *s, unsigned experiment, struct large_l2 *out);
/* Its size, as a bracket. unit: bytes that one miss fetches. Only after large_check said that it overflows. */
enum chase_state large_size(struct study *s, unsigned experiment, uint64_t unit, struct large_l2 *out);

#endif
