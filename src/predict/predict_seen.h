/* Which pieces of memory were touched, and how long ago: a cache as a window over what was brought in last. */
#ifndef FATHOM_PREDICT_SEEN_H
#define FATHOM_PREDICT_SEEN_H
#include <stdbool.h>
#include <stdint.h>

struct seen {
	uint64_t *key; /* piece + 1, 0: free */
	uint64_t *when;
	double *there; /* from when on */
	uint64_t count, cap, brought;
};

/* Whether the piece is among the last `window` that were brought in; if not, it is brought in now. False also when memory runs
 * out; *failed then. */
bool seen_touch(struct seen *s, uint64_t piece, double window, bool *failed);
/* Of a piece that was touched, for whoever brings it in to write and for others to wait for. NULL: it was not. */
double *seen_there(struct seen *s, uint64_t piece);
bool seen_has(const struct seen *s, uint64_t piece);
void seen_free(struct seen *s);

#endif
