/* One SM as it is followed: between predict_pipe.c, which issues, and predict_memory.c. Private to predict/. */
#ifndef FATHOM_PREDICT_PIPE_H
#define FATHOM_PREDICT_PIPE_H
#include "predict/predict_impl.h"
#include "predict/predict_seen.h"

#define STEPS_MAX  60000000.0 /* warp instructions that are followed, at most */
#define STEPS_WISH 2000000.0  /* after so many, blocks that are all alike are no longer followed one by one */
#define SLOTS	   (TIMING_UNITS + 64)

#define WARP_LOADS 16 /* a warp that can have more waiting is not held up by that */

struct unit {
	double free, busy;
};

struct scheduler { /* what some of the warps share */
	struct unit issue, branch, parting, unit[SLOTS];
};

struct warp {
	struct walker w;
	struct scheduler *scheduler;
	struct step s;
	bool live, waits, second;    /* second: its latest instruction went out with the one before it */
	double at, alone;	     /* when it may issue again; the same if it were alone on an SM without limits */
	double *ready, *ready_alone; /* of its registers */
	double kind[TIMING_KINDS];   /* when it may issue another of each kind */
	double last, last_alone;     /* its latest result */
	double load[WARP_LOADS];     /* when its latest loads are there, as many as it can have waiting */
	uint32_t block;
};

struct place { /* of a resident block */
	uint32_t alive, arrived;
	double begin;
	bool used;
};

struct pipe {
	const struct pipe_request *q;
	struct pipe_result *r;
	struct model *m;
	struct warp *warp;
	struct place *place;
	uint32_t warps;
	struct scheduler scheduler[MODEL_SCHEDULERS];
	struct unit load, link, l2, l2_in, memory, atomics;
	struct seen l1_seen, l2_seen, stored;
	double *entry;	   /* of what holds waiting requests: until when each is taken */
	double common[64]; /* of each buffer, share of what this SM touches first that another one has touched */
	double lone[64];   /* share of what memory brings of it of which neither neighbour is read */
	uint64_t started, ended;
	bool kept;	     /* the launch before left all that is touched in the L2 */
	double *end;	     /* of each block */
	double alone, clock; /* sum over blocks of what each takes alone; the latest end */
	bool failed;
};

static inline double pipe_pick(const struct pipe *p, const struct term *t)
{
	return t->there ? term_at(t, p->q->end) : 0;
}

/* From when on the unit works on something that was ready at t and takes so long. */
static inline double pipe_take(struct unit *u, double t, double cycles)
{
	double start = u->free > t ? u->free : t;
	u->free = start + cycles;
	u->busy += cycles;
	return start;
}

/* An access to whatever space, from t on: when its data are there. *alone: the same of a warp that is alone. */
double memory_access(struct pipe *p, struct warp *w, double t, double *alone);
/* When a warp may send one load more. */
double memory_free(const struct pipe *p, const struct warp *w);
/* Its load is there at t. */
void memory_sent(const struct pipe *p, struct warp *w, double t);
bool memory_kept(const struct pipe *p);
/* Common and lone shares of the buffers. */
void memory_compare(struct pipe *p);

#endif
