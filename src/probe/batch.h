/* Measures the wishes of one pass: one load for all their kernels, then one launch after the other. Internal to this room. */
#ifndef FATHOM_BATCH_H
#define FATHOM_BATCH_H
#include "probe/engine.h"
#include "probe/flight.h"
#include "probe/kernels.h"
#include "probe/study.h"

struct batch {
	struct run *run;
	struct gpu *gpu;
	const struct engine_events *events;
	struct study *study;
	struct kernel_cache *kernels;
	const struct run *recording;		/* NULL on a real device */
	struct engine_at at;			/* its probe, and how far it is; seconds: before it took its turn, */
	double since;				/* ... which was at this time of engine_now() */
	double compile_seconds, launch_seconds; /* that the backend took */
	size_t compiled, launches;
	unsigned lost; /* launches in a row for which the environment failed */
	int lost_code; /* of the last of them */
	char lost_message[256];
	struct item *items;   /* from batch_begin to batch_end: the wishes on their way to points */
	size_t count, landed; /* landed: so many of them are points */
	struct flight flight; /* of those behind them */
	bool *had_points;     /* of each experiment, before this batch */
	uint64_t largest;     /* bytes of memory that one of its launches needs, of this and of earlier batches */
};

/* What has to be there before b->study's wishes can be measured: their launches, and the texts of their kernels. Errors as batch_measure's. batch_end
 * is called after it in any case. */
int batch_begin(struct batch *b, struct err *e);
/* Tells the device to compile, as this group (not 0), what batch_begin found wanting, if it does that in the
 * background. With `soon`, that comes before all else. Returns false when the device has all of it. */
bool batch_expect(struct batch *b, uint32_t group, bool soon);
/* Sends the launches of what batch_begin prepared on their way. Until batch_land says that all have landed nobody else uses the gpu. Errors as batch_land's. */
int batch_launch(struct batch *b, struct err *e);
/* Whether batch_land has nothing to wait for. */
bool batch_landed(const struct batch *b);
/* Takes over what has come back, and waits for it. *all: nothing is left; else more is on its way. Returns 0, or -EINTR
 * when stopped; what was measured is kept. Returns -ECANCELED when the device does not work any more or a kernel of
 * ours is wrong: the probe has failed, and e says why. Returns -ENODEV when the device is gone, and a fresh one cannot
 * be had. Other negatives end the run. */
int batch_land(struct batch *b, bool *all, struct err *e);
void batch_end(struct batch *b);

#endif
