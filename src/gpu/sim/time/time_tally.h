/* What a launch did, counted while it runs: by each cluster what is its own, put together when the launch has ended. Without statistics
 * each place that would count costs one branch; caches and memory count always. Private to time/. */
#ifndef FATHOM_TIME_TALLY_H
#define FATHOM_TIME_TALLY_H
#include "gpu/sim/time/time_trace.h"

struct time_tally { /* of a cluster */
	struct time_count *record;
	struct note_warp *past; /* of the whole GPU: by SM and warp */
	uint64_t waited[TIME_WHYS], resident;
};

/* Before and after the clusters run. 0 or -ENOMEM. */
int time_tally_open(struct time_gpu *g, struct time_grid *grid);
void time_tally_close(struct time_gpu *g, struct time_grid *grid);
void time_tally_warp(struct time_run *x, struct time_warp *w); /* w begins */
void time_tally_waited(struct time_run *x, struct time_warp *w, uint64_t t);

/* A native step of w is about to issue at t, before anything has changed. */
static inline void time_tally_step(struct time_run *x, struct time_warp *w, uint64_t mask, uint64_t t)
{
	struct time_tally *y = x->tally;
	struct note_warp *nw = w->past;
	const struct time_inst *ti = &x->ti[w->f.pc];
	struct time_count *n = &y->record[w->f.pc];
	if (!w->sub) {
		if (!nw->block) {
			nw->block = 1;
			nw->first = t;
		}
		if (t - nw->before > 1)
			time_tally_waited(x, w, t);
	}
	if (w->sub < ti->before && mask)
		return;
	if (mask == x->whole) {
		n->whole++; /* counting lanes would cost more than all the rest */
	} else {
		n->issues++;
		n->off += !mask;
		n->lanes += (uint64_t)__builtin_popcountll(mask);
	}
	nw->latest = w->f.pc;
	nw->lanes = w->f.active;
	nw->before = t;
	if (__builtin_expect(ti->kind == FUNC_EXIT, 0) && mask == w->f.live)
		y->resident += t + 1 - nw->first;
}

static inline struct time_count *time_counted(const struct time_run *x, const struct time_warp *w)
{
	return &x->tally->record[w->f.pc];
}
static inline void time_tally_transactions(const struct time_run *x, const struct time_warp *w, uint32_t n)
{
	if (__builtin_expect(x->tally != NULL, 0))
		time_counted(x, w)->transactions += n;
}

#endif
