/* Parts of a level that are alike, near and far. Private to the chase. */
#ifndef FATHOM_CHASE_PARTS_H
#define FATHOM_CHASE_PARTS_H
#include "probe/chase.h"
#include "stat/stat.h"

#define CHASE_ALIKE   0.3 /* least share of the lines or accesses of parts that are alike */
#define CHASE_STRETCH 16  /* accesses in a row: what a clock that is faster now and then does lasts for more */

struct chase_parts {
	double mean;		  /* ticks; each part counts the same */
	size_t counted;		  /* accesses that it is of */
	size_t found;		  /* parts */
	struct stat_mode mode[3]; /* of them, ascending */
	double centre[3];	  /* ticks: the mean of each */
};

/* Mean of two or three parts of a level that are alike, each group of accesses counting the same: how often which of them was met is
 * chance, and an average that leaves out what is far from the median would leave out one part. Where delayed accesses fill the gaps
 * between the groups, an average over all would take those for the slower part: then only what is near a peak counts. False: there are
 * no such parts. scratch: n doubles, ticks: n words; v, in ticks, is reordered. */
bool chase_parts_of(double *v, size_t n, uint32_t grain, double *scratch, uint32_t *ticks, struct chase_parts *out);
/* Whether accesses to the fastest and the slowest part take turns, as places do that lie side by side. What a clock that is faster now and
 * then makes slower is slow for many accesses in a row, so that most stretches are of one kind. */
bool chase_take_turns(const struct chase_run *r, const struct chase_parts *parts);
/* Whether each part is later than the one before it would be by such a clock: by more than its swing, a ratio. */
bool chase_beyond_swing(const struct chase_parts *parts, double swing, uint32_t grain);

#endif
