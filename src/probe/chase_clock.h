/* What reading the clock costs, as SMs tell it of one another. Inside this folder. */
#ifndef FATHOM_CHASE_CLOCK_H
#define FATHOM_CHASE_CLOCK_H
#include "probe/chase.h"

#define SMS_LEAST 4 /* of which most can be told from others */
#define SMS_APART 2 /* cycles that SMs may be apart, besides those of the clock's steps */

/* Reading the clock costs the same on every SM. Where a chain of loads without it was delayed each time, as by refreshes that it cannot escape, or
 * met a faster clock, it seems to cost less and the loads to take longer; where only the shorter of two such chains was, more, and less long: by so
 * much the others say. */
void chase_same_clock(const struct chase_path *c, struct chase_latency *one, unsigned n);

#endif
