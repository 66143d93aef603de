/* What a launch did, counted while it runs: by each cluster what is its own, put together when the launch has ended. Without statistics
 * each place that would count costs one branch; caches and memory count always. Private to time/. */
#ifndef FATHOM_TIME_TALLY_H
#define FATHOM_TIME_TALLY_H
#include "gpu/sim/time/time_trace.h"

struct tally_record {
	struct time_count n;
	/* Of the latest lanes, and not in n yet: lanes are counted when others come. */
	uint64_t mask, issues;
	uint64_t operand; /* cycles waited for the first operand, not in n */
};
struct time_tally { /* of a cluster */
	struct tally_record *record;
	uint64_t waited[TIME_WHYS], resident;
};

/* Before and after the clusters run. 0 or -ENOMEM. */
int time_tally_open(struct time_gpu *g, struct time_grid *grid);
void time_tally_close(struct time_gpu *g, struct time_grid *grid);
void time_tally_any(struct time_run *x, struct time_warp *w, uint64_t mask, uint64_t t); /* whatever step it is */

/* Warp w begins. */
static inline void time_tally_warp(const struct time_run *x, struct time_warp *w)
{
	w->past.lanes = w->past.latest = 0;
	w->past.first = x->start;
	w->past.before = x->start - 1;
}

/* A native step of w is about to issue at t, before anything has changed. Most have the lanes that the record had before and waited for nothing or for their first operand: these cost no call. */
static inline void time_tally_step(struct time_run *x, struct time_warp *w, uint64_t mask, uint64_t t)
{
	const struct time_inst *ti = &x->ti[w->f.pc];
	struct tally_record *r = &x->tally->record[w->f.pc];
	const uint64_t waited = w->sub ? 0 : t - w->past.before - 1;
	if (__builtin_expect(
		mask != r->mask || !w->past.lanes || (waited && !(ti->wait_count && w->ready[ti->wait[0]] == t)), 0)) {
		time_tally_any(x, w, mask, t);
		return;
	}
	r->operand += waited;
	if (w->sub < ti->before)
		return;
	r->issues++;
	w->past.latest = w->f.pc;
	w->past.lanes = w->f.active;
	w->past.before = t;
}

/* The last lanes of w exit at t. */
static inline void time_tally_done(const struct time_run *x, const struct time_warp *w, uint64_t t)
{
	x->tally->resident += t + 1 - w->past.first;
}

static inline struct time_count *time_counted(const struct time_run *x, const struct time_warp *w)
{
	return &x->tally->record[w->f.pc].n;
}
static inline void time_tally_transactions(const struct time_run *x, const struct time_warp *w, uint32_t n)
{
	if (__builtin_expect(x->tally != NULL, 0))
		time_counted(x, w)->transactions += n;
}

#endif
