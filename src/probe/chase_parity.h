/* Sets of which a launch misses only a part. Private to the chase. */
#ifndef FATHOM_CHASE_PARITY_H
#define FATHOM_CHASE_PARITY_H
#include "probe/chase.h"

#define CHASE_PARITY_RUNS 10 /* that are looked at */
#define CHASE_PARITY_LAPS 32 /* that a run needs: in its first half lines still settle */

/* Which blocks of `unit` bytes of the ring, one element too long for its level by ring->extra, are in that element's set: by the
 * addresses that missed in the later laps of chases through it, whatever their order. hot: an entry for each block, filled in only
 * when this is true. False: they do not agree in the parity of any bits of their addresses, or too few were seen to miss, or not all
 * lines of the set are equally likely to; or memory ran out. */
bool chase_parity(struct arena *a, const struct chase_ring_spec *ring, uint64_t unit, const struct chase_run *run,
		  unsigned runs, bool *hot);

#endif
