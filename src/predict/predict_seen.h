/* Which pieces of memory were touched, and how long ago: a cache as a window over what was brought in last. */
#ifndef FATHOM_PREDICT_SEEN_H
#define FATHOM_PREDICT_SEEN_H
#include <stdbool.h>
#include <stdint.h>

struct seen {
	uint64_t *key; /* piece + 1, 0: free */
	uint64_t *when;
	uint64_t count, cap, brought;
};

/* Whether the piece is among the last `window` that were brought in; if not, it is brought in now. False also when memory runs
 * out; *failed then. */
bool seen_touch(struct seen *s, uint64_t piece, double window, bool *failed);
bool seen_has(const struct seen *s, uint64_t piece);
void seen_free(struct seen *s);

#endif
