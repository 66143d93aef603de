/* What one SM remembers about requests that left it and are not back. It is a table of miss status registers, an entry
 * a line, or a pending request table, an entry a warp instruction. Private to time/.
 *
 * Entries are kept as a heap of completion times. The table is thus exactly as full as the hardware's would be, and
 * nothing is looked at while time passes. */
#ifndef FATHOM_TIME_INFLIGHT_H
#define FATHOM_TIME_INFLIGHT_H
#include "gpu/sim/spec.h"
#include <stdbool.h>
#include <stdint.h>

#define INFLIGHT_NONE	   UINT32_MAX
#define INFLIGHT_RECORDERS 32	      /* at most */
#define INFLIGHT_UNKNOWN   UINT64_MAX /* completion of a request that is not answered yet */

enum inflight_answer {
	INFLIGHT_GO, /* it leaves at *at, and holds *entry until inflight_leave */
	INFLIGHT_MERGED, /* *entry, which is in flight, serves it too: it is back at *at (INFLIGHT_UNKNOWN: not answered yet) */
	INFLIGHT_FULL /* every entry waits for an answer that is not known yet; nothing was taken: ask again after one */
};

struct time_inflight {
	enum outstanding_kind kind;
	uint32_t entries, merge; /* merge: lanes that one entry can serve, 0 = any number */
	uint64_t *done;		 /* per entry: when it is free again */
	uint64_t *line;		 /* MSHR: what it fetches ... */
	uint32_t *lanes;	 /* ... for how many lanes */
	uint64_t *latest;	 /* PRT: the last of the answers so far ... */
	uint32_t *pending;	 /* ... and how many are missing */
	uint32_t *heap, *place;	 /* entries by completion; where each is */
	uint32_t *slot;		 /* MSHR: line -> entry + 1, open addressing */
	uint32_t slots;
	uint32_t owner; /* PRT: entry of the instruction that is being taken apart */
	/* Units that enter requests, each those of one instruction: when each is free, and what a lane takes it, in fixed point. */
	uint64_t recorder_free[INFLIGHT_RECORDERS];
	uint32_t recorders, record; /* recorders: 0 = none is waited for */
	uint32_t recorder;	    /* of the instruction that is being taken apart, INFLIGHT_NONE: it has none yet */
};

/* 0 or -ENOMEM. Of kind none, or with no entries, nothing is allocated and nothing else here may be called. */
int inflight_open(struct time_inflight *f, enum outstanding_kind kind, uint32_t entries, uint32_t merge);
void inflight_close(struct time_inflight *f);

/* A warp instruction begins: what it takes from a pending request table, it takes once. */
void inflight_begin(struct time_inflight *f);
/* A request for `lanes` lanes (no more than merge) to a line wants to leave at t. Each INFLIGHT_GO is answered by one
 * inflight_leave with its completion, in whatever order. *at is t or later: when the table is full the request waits for the
 * first entry that becomes free, and the pipe with it. */
enum inflight_answer inflight_enter(struct time_inflight *f, uint64_t line, uint32_t lanes, uint64_t t, uint64_t *at,
				    uint32_t *entry);
/* With recorders, before a request is entered: its instruction's recorder takes it for so many lanes, at t or later. Returns when that
 * begins; *wait: how long the instruction waited for a recorder. All in fixed point. */
uint64_t inflight_record(struct time_inflight *f, uint32_t lanes, uint64_t t, uint64_t *wait);
/* The table is full, and the recorder waits. */
void inflight_hold(struct time_inflight *f, uint64_t wait);
void inflight_leave(struct time_inflight *f, uint32_t entry, uint64_t done);

#endif
