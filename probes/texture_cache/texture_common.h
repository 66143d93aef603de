/* Which of the texture path's levels is the L2 of global memory. No other level has a line that was read past the SM's
 * caches. */
#ifndef FATHOM_TEXTURE_COMMON_H
#define FATHOM_TEXTURE_COMMON_H
#include "probe/chase.h"

/* Experiment "reuse": x says how each line was read before a texture fetch reads it. */
enum texture_reuse { REUSE_FETCHED, REUSE_PAST };
int texture_reuse_setup(const struct study *s, double x, const double *p, struct job *j);

struct texture_common {
	bool none;	/* global memory has no L2 */
	bool known;	/* else single accesses do not tell, or the device cannot ask */
	unsigned level; /* the one in which such lines were found; the number of caches: in none */
	double before,
	    past; /* ticks of a fetch: of a line that was just fetched, and of one read past the SM's caches */
};
/* After the survey. caches: levels that may be one. PENDING or DONE. */
enum chase_state texture_common_find(const struct chase_path *c, unsigned experiment, unsigned caches,
				     struct texture_common *out);
/* cache.texture.l<k+1>.shared_with, where it is told. */
void texture_common_conclude(struct study *s, const struct texture_common *t, unsigned k);

#endif
