/* What the steps of the clock cut off single accesses: the whole loop tells. Inside this folder. */
#ifndef FATHOM_CHASE_LAG_H
#define FATHOM_CHASE_LAG_H
#include "probe/chase.h"

/* Cycles that a turn of the loop took beyond what its accesses say: the loop, less what the clock's steps cut off. The first turns, whose
 * accesses are not recorded, fetch the code, from far where the chase has driven it out. twice: so ask for a chase of half as many accesses,
 * which does so as well, where the clock counts in steps: by what the two differ the turns alone are told. Where nobody asked for it, as in
 * an older recording, the long one has to do. r: of that footprint with these params. apart: by how much that differs from what the long one alone
 * says, in whose turns the first ones are. PENDING or DONE. */
enum chase_state chase_lag(struct chase_path *c, double footprint, const double *p, const struct chase_run *r,
			   bool twice, double *lag, double *apart);

/* How far the mean of what is within a step of the clock of it may be off because some of it met a faster clock, took a few cycles longer, and
 * is not told from the rest access by access: that comes for many accesses in a row, so that most stretches know nothing of it. least, most:
 * what counts. */
double chase_unsteady(const struct chase_run *r, double least, double most, double *scratch);

#endif
