/* One access on its way through the levels of a route. Private to time/. */
#ifndef FATHOM_TIME_WALK_H
#define FATHOM_TIME_WALK_H
#include "gpu/sim/time/time_state.h"

/* One transaction on its way. */
struct time_transit {
	struct time_inflight *table; /* NULL: nothing that could be full */
	uint64_t address, t;	     /* t: when it leaves the pipe; later when the table is full */
	uint64_t ahead;		     /* cycles of t that a full table holds it back */
	uint64_t stood;		     /* cycles that the pipe stands still for it */
	bool recorded;		     /* a recorder has taken it over from the pipe */
	uint32_t bytes;		     /* what the first level gives to the SM */
	uint32_t fetch;		     /* what a miss of every level moves at least */
	uint32_t lanes;
	uint32_t entry; /* of the table, INFLIGHT_NONE */
	uint64_t queue; /* fixed point: the longest wait at a port so far, and look-ups in vain */
	uint32_t late;	/* fixed point: what memory takes longer for the lines of levels that missed so far */
};

/* Sends it on its way from level `first` on: when it is back, or PENDING as time_walk says. */
uint64_t time_request(struct time_run *x, const struct time_route *r, uint32_t first, uint32_t sm,
		      struct time_transit *q);
/* The same where everything answers at once: in the serving, and for a cluster that is alone. */
uint64_t time_walk_at_once(struct time_gpu *g, struct time_cluster *c, const struct time_route *r, uint32_t first,
			   uint32_t sm, struct time_transit *q);
/* A store passes the levels from `first` on and before `end`; each does with the line what its write policy says. A sector
 * that a store made room for counts as there. Returns whether it goes on. `ask`: what goes back to memory is a matter for the
 * far side. */
bool time_store_levels(struct time_gpu *g, struct time_cluster *owner, const struct time_route *r, uint32_t first,
		       uint32_t end, uint32_t sm, uint64_t address, uint64_t t, bool ask);
/* Whether all memory is one queue that takes everything in turn: then the stores of an instruction need not be told apart. */
bool time_one_queue(const struct time_gpu *g);
void time_out_of_memory(struct time_cluster *c);

#endif
