/* The judge on sets when a level's entries are known. It asks which partition of n pages that fit explains what one
 * page more makes miss. The partition has to explain, too, what goes on missing when some pages are left out. Two
 * shapes are weighed: sets in turn, n / S pages of S sets, and any partition. Either has to win from its rivals, sets
 * that are two of these and pages of another set, by the nats of the house. */
#ifndef FATHOM_PARTS_H
#define FATHOM_PARTS_H
#include "judge/judge.h"

#define PARTS_ROWS 64 /* pages more that are asked for, one by one */

enum parts_state { PARTS_PENDING, PARTS_OPEN, PARTS_DONE };
struct parts_asks {
	void *ctx;
	/* One page more, as far behind the n pages as page `past` is behind the first. Tells by how many nats each
	 * page's misses are beyond noise. */
	enum parts_state (*row)(void *ctx, uint32_t past, double *nats);
	/* The same ring without `count` pages from `first` on: by how many nats it is more probable that a set overflows than that all fit. */
	enum parts_state (*room)(void *ctx, uint32_t past, uint32_t first, uint32_t count, double *nats);
};
struct parts {
	uint32_t sets;	/* 0: open */
	uint32_t *size; /* of each; NULL: all of n / sets */
	bool shown;	/* that there are several, which need not all be known */
	const char *why;
};
/* rows: how many pages more are asked for at most. PENDING, or what could be decided; out of memory is OPEN. */
enum parts_state judge_parts(struct arena *a, uint32_t n, unsigned rows, const struct parts_asks *asks,
			     struct parts *out);

#endif
