/* What the misses of a ring say, lap after lap. Private to chase_fit.c. */
#ifndef FATHOM_CHASE_LAPS_H
#define FATHOM_CHASE_LAPS_H
#include "probe/chase.h"

#define LAPS_SETTLE  32 /* a ring is given, to settle */
#define LAPS_SETTLED 8	/* laps of which the later half is seen */

unsigned laps_clean(const struct chase_run *r);
/* laps: how many the later half has; sure: of each, the misses that a ring that does not fit shows. */
bool laps_calm_down(const struct chase_run *r, double sure, uint32_t *laps);
bool laps_spread(const struct chase_run *run, unsigned runs, const bool *hot, uint32_t blocks);
bool laps_settle(const struct chase_run *r);

#endif
