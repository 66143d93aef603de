/* Stores what a probe measured while the next one is measured: writing megabytes, and waiting for the disk, takes as long as a small probe. */
#ifndef FATHOM_KEEPING_H
#define FATHOM_KEEPING_H
#include "data/run.h"
#include "store/store.h"
#include <pthread.h>

/* One probe on its way to the file. All zeros: none is. */
struct keeping {
	struct store *store;
	struct run part; /* what is stored: its series, whose points do not change any more, and copies of the rest */
	char probe[sizeof(((struct probe_record *)0)->name)];
	pthread_t thread;
	bool threaded; /* else it was stored at once */
	int result;
	struct err why;
};

/* Waits for the one before, and begins to store the probe as it is now. 0, or what became of the one before, or of this one where it was stored at once:
 * negative, as store_probe says. */
int keeping_begin(struct keeping *k, struct store *s, const struct run *r, const char *probe, struct err *e);
/* Waits until what was begun is stored. 0, or negative as store_probe says. */
int keeping_end(struct keeping *k, struct err *e);

#endif
