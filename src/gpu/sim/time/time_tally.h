/* What a launch did, counted while it runs: by each cluster what is its own, put together when the launch has ended. Without statistics
 * each place that would count costs one branch; caches and memory count always. Private to time/. */
#ifndef FATHOM_TIME_TALLY_H
#define FATHOM_TIME_TALLY_H
#include "gpu/sim/time/time_choose.h"
#include "gpu/sim/time/time_trace.h"

/* What each issue counts, apart from the rest so that it lies together. */
struct tally_record {
	uint64_t mask, issues;	/* of the latest lanes, and not counted yet: lanes are when others come */
	uint64_t operand, pipe; /* cycles waited for the first operand, and for pipes */
};
struct time_tally {		  /* of a cluster */
	struct time_count *count; /* of each record, but for what is in record[] */
	struct tally_record *record;
	uint64_t waited[TIME_WHYS], resident;
};

/* Before and after the clusters run. 0 or -ENOMEM. */
int time_tally_open(struct time_gpu *g, struct time_grid *grid);
void time_tally_close(struct time_gpu *g, struct time_grid *grid);
void time_tally_waited(struct time_run *x, struct time_warp *w, uint64_t t); /* for whatever it was */
void time_tally_lanes(struct time_tally *y, uint32_t pc, uint64_t mask);     /* the record's are others now */

/* Why the first native step of w goes out at t and no earlier. fetches: whoever asks tells waiting for a fetch from others. */
enum time_why time_why(const struct time_run *x, const struct time_warp *w, const struct time_past *past, bool fetches,
		       uint64_t t);

/* Warp w begins. */
static inline void time_tally_warp(const struct time_run *x, struct time_warp *w)
{
	w->first = x->start;
	w->past = (struct time_past){.before = x->start - 1, .branched = x->start - 2};
}

/* A native step of w is about to issue at t, before anything has changed. Most steps have the lanes that the record had
 * before, and waited for nothing, for their first operand or for a pipe. These cost no call. With `plain`, the record
 * is one step, and no branch, of a warp whose lanes are together. */
static inline __attribute__((always_inline)) void time_tally_step(struct time_run *x, struct time_warp *w,
								  const struct time_inst *ti, const bool plain,
								  uint64_t mask, uint64_t t)
{
	struct tally_record *r = &x->counted[w->f.pc];
	const struct time_sched *s = w->sched;
	const uint64_t since = !plain && w->sub ? 0 : t - w->past.before, waited = since - 1;
	if (since > 1) { /* 0: the second of two that go out together */
		/* Registers of a warp that begins were ready before it. */
		if (w->ready[ti->wait[0]] == t)
			r->operand += waited;
		else if (w->past.lanes && t > s->wake[w->slot] && set_free(s, &x->p->set[s->set[w->slot]]) == t)
			r->pipe += waited; /* as warps among many do */
		else
			time_tally_waited(x, w, t);
	}
	if (!plain && w->sub < ti->before && mask)
		return;
	if (__builtin_expect(mask != r->mask, 0))
		time_tally_lanes(x->tally, w->f.pc, mask);
	r->issues++;
	if (!plain && ti->kind == FUNC_BRANCH)
		w->past.branched = t;
	w->past.lanes = plain ? ~0ull : w->f.active;
	w->past.before = t;
}

/* The last lanes of w exit at t. */
static inline void time_tally_done(const struct time_run *x, const struct time_warp *w, uint64_t t)
{
	x->tally->resident += t + 1 - w->first;
}

static inline struct time_count *time_counted(const struct time_run *x, const struct time_warp *w)
{
	return &x->tally->count[w->f.pc];
}
static inline void time_tally_transactions(const struct time_run *x, const struct time_warp *w, uint32_t n)
{
	if (__builtin_expect(x->tally != NULL, 0))
		time_counted(x, w)->transactions += n;
}

#endif
