/* Walks in steps of a word, between the files that tell latencies apart. Private to the chase. */
#ifndef FATHOM_CHASE_WALK_H
#define FATHOM_CHASE_WALK_H
#include "probe/chase.h"

#define UNIT_SAMPLES 512
#define UNIT_MOST    1024 /* bytes that one miss fetches, at most */

/* Ticks within which two accesses may be of one class: a clock that ticks in steps of grain, or drifts. */
static inline double chase_reach(double ticks, double grain)
{
	return 1.5 + 1.25 * grain + 0.008 * ticks;
}

/* What a miss of a class fetches, and how much of the walk such misses explain. */
struct chase_walked {
	uint64_t unit;	     /* common divisor of where accesses of these classes fall, 0 = too few */
	double coverage;     /* of all multiples of unit in one walk, the best walk's */
	double own_coverage; /* the same without accesses that are only slower than every class */
	bool lopsided;	     /* every second multiple has far fewer than the others: the unit may be twice as large */
	uint64_t
	    blocks; /* a larger unit of which nearly every block begins with one, and few lie elsewhere; 0 = none */
};

/* Of accesses that are in class first_class or slower. */
struct chase_walked chase_walk_of(struct chase_path *c, const struct chase_run *run, unsigned runs,
				  unsigned first_class);

#endif
