/* Whether a class of latency on the way to constants is the GPU's common L2. Private to the probe. */
#ifndef FATHOM_COMMON_L2_H
#define FATHOM_COMMON_L2_H
#include "probe/chase.h"

enum common_l2 { L2_NONE, L2_OTHER, L2_THIS, L2_UNKNOWN };

/* What a hit in that L2 takes, in cycles, from whatever said so. */
struct common_hit {
	/* L2_NONE: there is no such cache; L2_UNKNOWN: nobody knows what it takes; else lo and hi are */
	enum common_l2 state;
	double lo, hi;
	double nearest, farthest; /* of its parts, where it has some; else lo and hi */
	double slack;		  /* a share by which either side may be off besides */
};

/* The experiment that follows a ring through global memory, past the L1. */
int common_l2_setup(const struct study *s, double x, const double *p, struct job *j);
/* What the findings say of it. */
struct common_hit common_l2_found(const struct study *s);
/* The same from global loads past the L1 over so many bytes: what most of them take. Reading the clock adds `clock`
 * ticks to an access. Returns PENDING, or DONE with L2_UNKNOWN in out if loads could not be had. */
enum chase_state common_l2_seen(struct study *s, unsigned experiment, uint64_t bytes, uint64_t stride, double clock,
				struct common_hit *out);
/* Whether misses of the constant caches bypass that L2 although they take as long as a hit there. Behind emptied caches
 * they take no longer, while first touches by other loads do, for which that L2 has to fetch.
 *
 * c: no first touch of a walk through constants was slower than what a warm footprint shows. Returns PENDING, or DONE;
 * `is` is false if it is not seen. */
enum chase_state common_l2_passed(const struct chase_path *c, unsigned experiment, uint64_t stride, double clock,
				  const struct common_hit *hit, bool *is);
/* Whether what takes so many cycles, on average over its parts, may be that L2. */
enum common_l2 common_l2_is(const struct common_hit *hit, double cycles);
/* The same of a single class of latency: it may be one part alone, and then nobody knows. */
enum common_l2 common_l2_has(const struct common_hit *hit, double cycles);

#endif
