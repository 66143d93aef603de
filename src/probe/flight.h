/* Launches of items, one after the other. On a device of its own (gpu_ops.apart) a thread waits for them, and the caller goes on with what needs no
 * device. Internal to this room. */
#ifndef FATHOM_FLIGHT_H
#define FATHOM_FLIGHT_H
#include "probe/item.h"
#include <pthread.h>
#include <stdatomic.h>

struct flight {
	struct gpu *gpu;
	bool recorded; /* the gpu plays a recording */
	struct item *items;
	size_t count;
	unsigned lost;	      /* launches in a row for which the environment failed */
	pthread_t thread;     /* if `begun` */
	bool begun;	      /* and not waited for */
	atomic_size_t done;   /* items that have answered */
	atomic_bool over;     /* nothing is launched any more */
	atomic_bool stop;     /* asked to end after the launch under way */
	double seconds, span; /* that launches took; from the first to the last, if a thread waited for them */
	size_t launches;
};

double engine_now(void); /* seconds of a clock that never goes back */
/* items[0..n), filled; they, the gpu and nothing else belong to the flight until it has ended. lost: launches in a row that failed before. */
void flight_begin(struct flight *f, struct item *items, size_t n, unsigned lost);
/* Whether flight_end would return at once. */
bool flight_over(const struct flight *f);
/* Waits for it, if there is one. */
void flight_end(struct flight *f);
/* So many launches in a row may fail. */
#define LOST_MAX 3

#endif
