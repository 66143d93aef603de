/* What looks at rings have in common: whether they fit, and which of their elements miss. Inside this folder. */
#ifndef FATHOM_CHASE_FIT_H
#define FATHOM_CHASE_FIT_H
#include "probe/chase.h"

#define LAPS_MOST  4096
#define INDEX_MOST (1u << 20) /* a record's index has 20 bits */
#define PATIENCE   192	      /* laps after which a stranger's line is gone, whatever is replaced */
#define CHANCE	   1e-4	      /* what noise may be blamed for */

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

#endif
