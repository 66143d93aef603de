/* The lattice of candidates. Shapes that no ring can tell apart have one name: a single set has the plain mapping. */
#include "judge/judge.h"
#include <math.h>
#include <string.h>

#define LINE_LEAST   16	 /* bytes: what one load of a warp's lane asks for at most */
#define LINE_MOST    512 /* of first levels; Table V of Wong 2010 and later papers have 32 to 256 */
#define SECTORS_MOST 8	 /* of a line */
/* bytes: larger first levels are in one piece with shared memory, and a part is lent to it, which is not in the space yet */
#define SIZE_MOST  (96 << 10)
#define SHIFT_MOST 2 /* bits that are left out between line and set index: Mei 2014 has lines side by side in one set */
#define SETS_DENSE 512

const char *judge_key_name(enum judge_key k)
{
	static const char *const names[JUDGE_KEYS] = {"size", "line", "sector", "sets", "ways", "mapping"};
	return names[k];
}

uint64_t judge_value(const struct judge_shape *q, enum judge_key k)
{
	switch (k) {
	case JUDGE_SIZE:
		return (uint64_t)q->line * q->sets * q->ways;
	case JUDGE_LINE:
		return q->line;
	case JUDGE_SECTOR:
		return q->sector;
	case JUDGE_SETS:
		return q->sets;
	case JUDGE_WAYS:
		return q->ways;
	default:
		return q->folded;
	}
}

struct model_shape judge_model(const struct judge_shape *q, enum rule rule)
{
	return (struct model_shape){.line = q->line,
				    .sector = q->sector,
				    .sets = q->sets,
				    .ways = q->ways,
				    .shift = q->shift,
				    .folded = q->folded,
				    .rule = {.rule = rule}};
}

struct judge_space judge_space_of(const struct judge_ring *ring, unsigned rings)
{
	double fits = 0, over = INFINITY;

	for (unsigned i = 0; i < rings; i++) {
		const struct judge_ring *r = &ring[i];
		const double share = r->misses / ((double)r->seen * r->laps);
		const double span = (double)(r->at[r->sorted[r->n - 1]] - r->at[r->sorted[0]]);
		/* Only of whole laps without one more line elsewhere the footprint says how much they cover. */
		if (span >= r->bytes || r->seen < r->n || r->cold)
			continue;
		if (share < JUDGE_FITS_MOST)
			fits = fmax(fits, r->n * fmin(r->step, LINE_LEAST));
		if (share > JUDGE_OVER_LEAST)
			over = fmin(over, r->bytes);
	}
	/* Nothing bounds a shape of which nothing overflows. */
	if (over > SIZE_MOST)
		return (struct judge_space){0};
	return (struct judge_space){
	    .line_most = LINE_MOST, .least = fits / 2, .most = 2 * over, .sets_dense = SETS_DENSE};
}

static bool next_sets(const struct judge_space *s, struct judge_shape *q)
{
	q->sets = q->sets < s->sets_dense && !q->folded ? q->sets + 1 : 2 * q->sets;
	return q->sets <= JUDGE_SETS_MOST && (double)q->sets * q->line <= s->most;
}

/* In the order sets, shift, folded, sector, line: each begins anew when the one before it is at its end. */
bool judge_next(const struct judge_space *s, struct judge_shape *q)
{
	if (!q->line) {
		*q = (struct judge_shape){.line = LINE_LEAST, .sector = LINE_LEAST, .sets = 1};
		return (double)q->line <= s->most;
	}
	if (next_sets(s, q))
		return true;
	q->sets = 2; /* of a single set all mappings are the same */
	if (!q->folded && q->shift < SHIFT_MOST) {
		q->shift++;
		return (double)q->sets * q->line <= s->most || judge_next(s, q);
	}
	q->shift = 0;
	if (!q->folded) {
		q->folded = true;
		return (double)q->sets * q->line <= s->most || judge_next(s, q);
	}
	*q = (struct judge_shape){.line = q->line, .sector = q->sector / 2, .sets = 1};
	if (q->sector < LINE_LEAST || q->sector * SECTORS_MOST < q->line) {
		q->line *= 2;
		q->sector = q->line;
	}
	return q->line <= s->line_most && (double)q->line <= s->most;
}
