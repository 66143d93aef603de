/* What looks at rings have in common: whether they fit, and which of their elements miss. Inside this folder. */
#ifndef FATHOM_CHASE_FIT_H
#define FATHOM_CHASE_FIT_H
#include "judge/house.h"
#include "probe/chase.h"

#define LAPS_MOST  4096
#define INDEX_MOST (1u << 20) /* a record's index has 20 bits */
#define PATIENCE   192	      /* laps after which a stranger's line is gone, whatever is replaced */

/* Whether translations hide what the ring does: it is in more pages than are translated, and few of its accesses stay in one. */
bool chase_untranslated(struct chase_path *c, const struct chase_ring_spec *ring);
/* Params of a chase over the ring at level k, after so many accesses, of so many that are timed. */
void chase_fit_params(const struct chase_path *c, unsigned k, const struct chase_ring_spec *ring, double warm,
		      double timed, double *p);
/* Misses per access that noise may cause. Others' traffic evicts anything, so the fuller the level, the more it hits us. */
double chase_noise_most(const struct chase_path *c, unsigned k, uint64_t bytes);
/* What one miss of the level fetches, as far as the ring can show it: only its first element can miss. */
uint64_t chase_fit_unit(const struct chase_level *l, uint64_t stride);
/* Adds the recorded misses to the blocks they fall in; those of the extra element to *extra. -1: out of memory. */
int chase_count_blocks(struct chase_path *c, const struct chase_ring_spec *ring, const struct chase_run *r,
		       uint64_t unit, uint32_t *count, uint32_t *extra);
/* Whether what misses in a ring, when chase_fits first looks at it, is of these blocks more than of any others. */
enum chase_state chase_misses_in(struct chase_path *c, unsigned k, const struct chase_ring_spec *ring,
				 const struct chase_blocks *of, bool *are);

/* ---- what the misses of a ring say, lap after lap: chase_laps.c ---- */
#define LAPS_SETTLE  32 /* a ring is given, to settle */
#define LAPS_SETTLED 8	/* laps of which the later half is seen */

unsigned laps_clean(const struct chase_run *r);
/* laps: how many the later half has; sure: of each, the misses that a ring that does not fit shows. */
bool laps_calm_down(const struct chase_run *r, double sure, uint32_t *laps);
bool laps_spread(const struct chase_run *run, unsigned runs, const bool *hot, uint32_t blocks);
bool laps_settle(const struct chase_run *r);

/* ---- sets of which a launch misses only a part: chase_parity.c ---- */
#define CHASE_PARITY_RUNS 10 /* that are looked at */
#define CHASE_PARITY_LAPS 32 /* that a run needs: in its first half lines still settle */

/* Which blocks of `unit` bytes of the ring are in the set of ring->extra, the one element too many for the level. The
 * addresses tell that missed in the later laps of chases through the ring, whatever their order. Array `hot` has an
 * entry for each block, filled in only when this is true. False: the addresses agree in no parity, too few were seen to
 * miss, or not all lines of the set are equally likely to. It is also false when memory ran out. */
bool chase_parity(struct arena *a, const struct chase_ring_spec *ring, uint64_t unit, const struct chase_run *run,
		  unsigned runs, bool *hot);

#endif
