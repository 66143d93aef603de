/* Laps over a few lines at equal distances, and whether they fit a level. Private to chase_strides.c. */
#ifndef FATHOM_CHASE_RINGS_H
#define FATHOM_CHASE_RINGS_H
#include "probe/chase.h"

#define LAPS  3u /* of each ring of a search; of the first one every access is a miss */
#define SHIFT 4

struct strides {
	uint64_t from, step; /* so many rings, of `lines` lines at distances from `from` on */
	uint32_t rings, lines;
	/* Of several: after each lap `twin` lines of the level above from `moved` on, `apart` from one another, which drive all others out there.
	 * Of one ring: from `start` on, the last line moved by so much, and where twin is not 0, once more every line so much further. */
	uint64_t start, moved, twin;
	uint32_t sm;
	bool patient; /* of one ring: many laps, in which even a victim that is drawn seldom goes */
	/* Behind another level: the ring so many times, each so much further, so that all its lines share a set there, and none stays.
	 * Then not the last line alone is moved, but half of them. */
	uint32_t copies;
	uint64_t apart;
	/* Of one ring: `start` is no sum with what each line is from there, but differs from it bit by bit, as lines of a set do where a hash
	 * lays digits of their numbers on one another. */
	bool folded;
};

/* Which rings of one trace do not fit level k: share[rings] is how many of their accesses miss. */
enum chase_state strides_look(struct chase_path *c, unsigned k, const struct strides *d, float *share);
/* Whether a ring of a few lines fits: else it misses in every lap, whatever is replaced. patient: after many laps. Behind another
 * level, where `apart` is not 0, with its copies in other places than otherwise; their number and the distance between them follow
 * from that level. */
enum chase_state strides_fits_in(struct chase_path *c, unsigned k, const struct strides *asked, bool patient,
				 bool *yes);
/* The same of a ring that fits, if not at once. */
enum chase_state strides_fits(struct chase_path *c, unsigned k, const struct strides *asked, bool *yes);
/* The same wherever the copies lie: what conflicts of itself does so here and there, but lines of one copy may have come to lie where
 * others of another one do. */
enum chase_state strides_fits_anyhow(struct chase_path *c, unsigned k, const struct strides *asked, bool *yes);
/* Bytes after which the sets of the level above repeat; 1: there is none. */
uint64_t strides_repeat_above(const struct chase_path *c, unsigned k);
/* Lines of one set of the level above that drive each other out of it, whatever it replaces; 0: there is none. */
uint64_t strides_driven_out(const struct chase_path *c, unsigned k);

#endif
