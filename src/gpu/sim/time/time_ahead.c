/* A scheduler that runs ahead of the others of its cluster. */
#include "gpu/sim/time/time_turn.h"

/* Whether something that the far side has not answered is an operand of the record, or will be written where it writes. */
static bool has_pending(const struct time_warp *w, const struct time_inst *ti)
{
	for (uint32_t k = 0; k < ti->wait_count; k++)
		if (w->ready[ti->wait[k]] >= PENDING)
			return true;
	return false;
}

void time_compute(const struct time_run *x, struct time_warp *w, const struct func_inst *fi, uint64_t mask)
{
	const struct time_inst *ti = &x->ti[w->f.pc];
	uint32_t n = ti->stretch, some = 1;
	if (n < 2 || w->f.diverged) {
		func_do(&w->f, fi, mask);
		return;
	}
	n = w->f.join - w->f.pc < n ? w->f.join - w->f.pc : n;
	while (some < n && !has_pending(w, ti + some))
		some++;
	w->ahead = some - 1;
	func_do_stretch(&w->f, fi, some, mask);
}

/* Until when nobody else gives a warp of this scheduler another turn, or it another warp: others have theirs from now on. A barrier at which one
 * of them is the last to come lets warps go so much later. A cluster that asks at once may have the next block after an epoch (time_dispatch). */
static uint64_t own_until(const struct time_run *x, uint64_t until)
{
	const uint64_t go = x->c->now + (uint64_t)(x->g->spec->barrier_latency + 0.5), block = x->c->now + x->g->epoch;
	until = x->p->meets && go < until ? go : until;
	return x->c->direct && block < until ? block : until;
}

uint64_t time_ahead(struct time_run *x, struct time_sched *s, uint64_t t, uint64_t until)
{
	until = own_until(x, until);
	while (t < until && !x->stop) {
		struct glance c = choose(x, s, t, true);
		if (c.best == UINT32_MAX) {
			t = c.later;
			continue;
		}
		const struct time_warp *w = s->warp[c.best];
		if (!x->ti[w->f.pc].apart || w->f.diverged || w->f.join != FUNC_NO_JOIN ||
		    x->p->set[s->set[c.best]].shared) {
			if (!c.more || c.alike)
				time_keep(x, s, &c, x->c->sooner);
			break;
		}
		x->patience -= x->patience > 1;
		const struct time_set *set = &x->p->set[s->set[c.best]];
		if (!issue_plain(x, s->warp[c.best], t))
			time_issue(x, s->warp[c.best], t);
		const uint64_t others = !c.more	  ? NEVER
					: c.alike ? set_free(s, set)
						  : t,
			       own = s->wake[c.best], port = s->free >> FIX;
		t = c.later < others ? c.later : others;
		t = own < t ? own : t;
		t = port > t ? port : t;
	}
	return t;
}
