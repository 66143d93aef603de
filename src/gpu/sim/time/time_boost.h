/* The SM's clock, which may run faster than its nominal rate for a while. Private to time/.
 *
 * Cycles are those of the SM. While it is boosted a cycle is shorter, and what keeps its own clock (network, caches of wide
 * scope, memory) takes more of them. Each period of `interval` cycles has one boost of `cycles`, which begins where the seed
 * says. Everything is a function of the cycle alone: nothing is kept. */
#ifndef FATHOM_TIME_BOOST_H
#define FATHOM_TIME_BOOST_H
#include "gpu/sim/spec.h"
#include <stdint.h>

struct time_boost {
	double gain; /* 0: never boosted. 0.1: 1.1 times the nominal rate */
	uint64_t interval, cycles, seed;
	double nominal; /* nanoseconds of a cycle that is not boosted */
};

void boost_init(struct time_boost *b, const struct sim_spec *s, uint64_t seed);
/* SM cycles at t for one at the nominal rate. */
double boost_pace(const struct time_boost *b, uint64_t t);
/* Nanoseconds from cycle 0 to t. */
double boost_ns(const struct time_boost *b, uint64_t t);

#endif
