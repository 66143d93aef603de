/* Laps over a few lines at equal distances, and whether they fit a level. Private to chase_strides.c. */
#ifndef FATHOM_CHASE_RINGS_H
#define FATHOM_CHASE_RINGS_H
#include "probe/chase.h"

#define LAPS  3u /* of each ring of a search; of the first one every access is a miss */
#define SHIFT 4

struct strides {
	uint64_t from, step; /* so many rings, of `lines` lines at distances from `from` on */
	uint32_t rings, lines;
	/* Of one ring: it begins at `start`, and its last line is moved by `moved`. If twin is not 0, every line comes
	 * once more so much further. */
	uint64_t start, moved, twin;
	uint32_t sm;
	bool patient; /* of one ring: many laps, in which even a victim that is drawn seldom goes */
};

/* Which rings of one trace do not fit the first level: share[rings] is how many of their accesses miss. */
enum chase_state strides_look(struct chase_path *c, const struct strides *d, float *share);
/* Whether a ring of a few lines fits: else it misses in every lap, whatever is replaced. patient: after many laps. */
enum chase_state strides_fits_in(struct chase_path *c, const struct strides *asked, bool patient, bool *yes);
/* The same of a ring that fits, if not at once. */
enum chase_state strides_fits(struct chase_path *c, const struct strides *asked, bool *yes);

#endif
