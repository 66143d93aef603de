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
	uint64_t limit;	     /* given: no larger footprint */
	bool overflows;	     /* a footprint was found that something does not hold any more */
	bool pages;	     /* what overflows may be pages and not lines */
	double near, far;    /* ticks: median of a small footprint, and of the largest one */
	double fits, beyond; /* bytes: largest footprint that always hits, smallest one that does not */
	double largest;	     /* bytes: the largest footprint tried */
	double hit;	     /* ticks: mean of hits, by lines near and far */
	double hit_limit;    /* ticks: an access that takes longer is no hit of the near part */
	char why[200];
};
/* Ticks of single accesses, ascending, of a footprint that a block has read twice. */
struct large_sample {
	double *ticks;
	double *scratch; /* n more */
	size_t n;
};
enum {
	LARGE_UNIT = 128, /* bytes from line to line of the largest footprint, of which the unit is not known yet */
};
/* unit: bytes from one line that the block reads to the next. l->why says what failed. */
enum chase_state large_sample(struct study *s, unsigned experiment, double footprint, uint64_t unit, unsigned seed,
			      struct large_sample *out, struct large_l2 *l);
/* Bytes: half as much again as does not fit, so that enough accesses miss and few pages are touched. */
double large_half_more(const struct large_l2 *l);

/* Is there anything behind loads past the L1 that a large footprint overflows? */
enum chase_state large_check(struct study *s, unsigned experiment, struct large_l2 *out);
/* Its size, as a bracket. unit: bytes that one miss fetches. Only after large_check said that it overflows. */
enum chase_state large_size(struct study *s, unsigned experiment, uint64_t unit, struct large_l2 *out);
/* The share of the samples of all seeds that miss at one footprint. */
enum chase_state large_misses(struct study *s, unsigned experiment, double footprint, uint64_t unit, struct large_l2 *l,
			      double *share);
/* Bytes under one tag. Only after large_size was done. CHASE_UNDECIDED: l->why says why it is not told. */
enum chase_state large_line(struct study *s, unsigned experiment, uint64_t unit, struct large_l2 *l, uint64_t *line);

#endif
