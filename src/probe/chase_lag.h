/* What the steps of the clock cut off single accesses: the whole loop tells. Inside this folder. */
#ifndef FATHOM_CHASE_LAG_H
#define FATHOM_CHASE_LAG_H
#include "probe/chase.h"

/* Cycles that a turn of the loop took beyond what its accesses say: the loop, less what the clock's steps cut off. The first turns, whose
 * accesses are not recorded, fetch the code, from far where the chase has driven it out. twice: so ask for a chase of half as many accesses,
 * which does so as well, where the clock counts in steps: by what the two differ the turns alone are told. Where nobody asked for it, as in
 * an older recording, the long one has to do. r: of that footprint with these params. PENDING or DONE. */
enum chase_state chase_lag(struct chase_path *c, double footprint, const double *p, const struct chase_run *r,
			   bool twice, double *lag);

#endif
