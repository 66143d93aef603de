/* One turn of a scheduler: what time_loop.c and time_together.c have in common. Compiled into both, for a call would show. */
#ifndef FATHOM_TIME_TURN_H
#define FATHOM_TIME_TURN_H
#include "gpu/sim/time/time_choose.h"
#include "gpu/sim/time/time_next.h"
#include "gpu/sim/time/time_tally.h"
#include <assert.h>

/* The warp's next native step goes out at cycle t; its operands, a pipe and the port are known to be free. */
void time_issue(struct time_run *x, struct time_warp *w, uint64_t t);

/* Pipes that share one kind of instruction have one issue port in front of them. When both are free at once, the second
 * is fed a turn later. What waits in front of it makes up for that turn, as a short queue would. Without it two pipes
 * would never reach the sum of their rates. */
static inline void take(struct time_sched *s, const struct time_set *set, const uint32_t *interval, uint64_t t,
			uint32_t turn)
{
	if (!set->count)
		return;
	uint32_t chosen = 0;
	for (uint32_t k = 1; k < set->count; k++)
		if (*s->pipe[set->pipe[k]] < *s->pipe[set->pipe[chosen]])
			chosen = k;
	uint64_t *free = s->pipe[set->pipe[chosen]];
	uint64_t at = t << FIX;
	if (set->count > 1)
		at = at > turn ? at - turn : 0;
	*free = (*free > at ? *free : at) + interval[chosen];
}

/* Computes the record at pc, with all that may be computed with it: the warp's registers come to the host's caches once for many issues. */
void time_compute(const struct time_run *x, struct time_warp *w, const struct func_inst *fi, uint64_t mask);

/* The same. Registers of a warp that runs alone stay there. One step of its chain is computed while the host looks for
 * the next one's turn. */
static inline __attribute__((always_inline)) void compute(const struct time_run *x, struct time_warp *w,
							  const struct func_inst *fi, uint64_t mask)
{
	if (w->ahead)
		w->ahead--;
	else if (x->alive == 1)
		func_do(&w->f, fi, mask);
	else
		time_compute(x, w, fi, mask);
}

/* time_issue of what most issues are. False: it is none of these, and nothing was done. Inlined, because the call itself would show. */
static inline __attribute__((always_inline)) bool issue_plain(struct time_run *x, struct time_warp *w, uint64_t t)
{
	const struct time_inst *ti = &x->ti[w->f.pc];
	if (!ti->plain || __builtin_expect(!x->plain || w->f.diverged, 0))
		return false;
	const struct func_inst *fi = &x->fi[w->f.pc];
	struct time_sched *s = w->sched;
	const uint64_t mask = func_mask(&w->f, fi), port = t << FIX;
	uint64_t next = t;
	if (__builtin_expect(x->counted != NULL, 0))
		time_tally_step(x, w, ti, true, mask, t);
	s->free = (s->free > port ? s->free : port) + x->g->issue;
	s->last = w->slot;
	x->last = t > x->last ? t : x->last;
	x->r->instructions++;
	if (__builtin_expect(mask != 0, 1)) {
		compute(x, w, fi, mask);
		for (uint32_t k = 0; k < ti->write_count; k++)
			w->ready[ti->write[k]] = t + ti->tail;
		if (__builtin_expect(w->together != NULL, 0))
			time_note_together(w, ti, t + ti->tail);
		take(s, &x->p->set[ti->set], ti->interval, t, x->g->issue);
		next += ti->after;
	}
	func_warp_next(&w->f);
	time_next_plain(x, w, next);
	return true;
}

/* With dual issue: the turn that the slot's warp had at t is over, whether a second instruction went out in it or not. */
void time_turn_over(const struct time_run *x, struct time_sched *s, uint32_t slot, uint64_t t);

/* The scheduler's turns from `t` on and before `until`, as long as what issues is apart. Nobody then sees whether
 * others have had theirs, and the state of its warps stays in the host's first cache. Returns when its turn is that has
 * to wait for those. */
uint64_t time_ahead(struct time_run *x, struct time_sched *s, uint64_t t, uint64_t until);
/* The scheduler would take a pipe that others have too, some of which have their turn in this cycle. Those with a lower
 * number have had theirs, and named no such pipe. */
void time_contend(struct time_run *x, struct time_sched *s, struct glance c, uint64_t t);
/* All turns of an SM in this cycle, where schedulers issue twice: all of them issue once before any of them issues again. */
void time_turns_of_sm(struct time_run *x, const struct time_sched *s, uint64_t t);
/* What a look at t found is kept for the turn that it is put off to. */
static inline void time_keep(const struct time_run *x, struct time_sched *s, const struct glance *c, uint64_t sooner)
{
	if (x->q->poll)
		return;
	s->kept = c->best;
	s->kept_more = c->more;
	s->kept_until = c->later;
	s->kept_sooner = sooner;
}
/* What a scheduler that was put off would take at t. */
struct glance time_look_again(struct time_run *x, struct time_sched *s, uint64_t t);

/* A second instruction of the warp that has just issued to pipe `first`: the pipe that it would take, or -1. */
static inline int second_pipe(const struct time_run *x, const struct time_sched *s, uint32_t slot, int first,
			      uint64_t t)
{
	if (x->stop || first < 0 || slot >= s->slots || s->wake[slot] > t)
		return -1;
	int pipe = pipe_for(s, &x->p->set[s->set[slot]], t);
	return pipe == first ? -1 : pipe;
}

/* It takes no turn of the issue port. */
static inline void issue_second(struct time_run *x, struct time_sched *s, uint32_t slot, uint64_t t)
{
	uint64_t port = s->free;
	time_issue(x, s->warp[slot], t);
	s->free = port;
}

/* The instruction of the warp in this slot issues; when the scheduler looks again. */
static inline __attribute__((always_inline)) uint64_t issue_chosen(struct time_run *x, struct time_sched *s,
								   struct glance *c, uint64_t t)
{
	struct time_cluster *g = x->c;
	const struct time_set *set = &x->p->set[s->set[c->best]];
	uint64_t sooner = g->sooner;
	time_issue(x, s->warp[c->best], t);
	/* Those that are ready wait for the pipes or, if they want different ones, look again at once. All look again
	 * when this issue woke others after they had been looked at. */
	if (g->sooner != sooner)
		return t;
	uint64_t later = c->later;
	if (c->more) {
		uint64_t pipe = c->alike ? set_free(s, set) : 0;
		later = pipe < later ? pipe : later;
	}
	later = s->wake[c->best] < later ? s->wake[c->best] : later;
	/* An operand takes neither port nor pipe, and what is free now has been so for long. */
	return later > t ? later : t;
}

static inline __attribute__((always_inline)) void next_turn(struct time_run *x, struct time_sched *s, uint64_t t,
							    uint32_t slot, uint64_t later)
{
	uint64_t port = s->free >> FIX;
	if (slot != UINT32_MAX) {
		later = port > later ? port : later;
		if (!s->slots)
			later = NEVER;
	}
	if (later >= PENDING) /* the serving will give it a turn */
		later = NEVER;
	if (x->q->poll && later != NEVER) {
		uint64_t next = slot == UINT32_MAX ? t + 1 : port > t ? port : t;
		later = next < later ? next : later;
	}
	assert(later >= t);
	wheel_set(&x->c->wheel, s->number, later);
}

#endif
