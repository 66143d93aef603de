/* Several schedulers of one SM in one cycle: who gets a pipe that more than one of them wants. */
#include "gpu/sim/time/time_turn.h"

#define MEMBERS 16 /* schedulers of one SM, at most: the reader of .gpu files refuses more */
struct member {
	struct time_sched *s;
	struct glance c;
	int pipe, used; /* that it names now; that its first instruction took */
	bool asks, issued;
	uint64_t later;
};

/* The first behind the scheduler that had the pipe last, of those that name it. */
static uint32_t winner(const struct member *m, uint32_t n, int pipe, uint32_t schedulers)
{
	uint32_t best = 0, least = UINT32_MAX;
	for (uint32_t k = 0; k < n; k++) {
		if (!m[k].asks || m[k].pipe != pipe)
			continue;
		/* Both are less than `schedulers`: a division would show here. */
		const uint32_t index = m[k].s->index, next = m[k].s->user[pipe] + 1u,
			       behind = index < next ? index + schedulers - next : index - next;
		if (behind < least) {
			least = behind;
			best = k;
		}
	}
	return best;
}

struct glance time_look_again(struct time_run *x, struct time_sched *s, uint64_t t)
{
	uint32_t slot = s->kept;
	s->kept = UINT32_MAX;
	if (t < s->kept_until && x->c->sooner == s->kept_sooner && set_free(s, &x->p->set[s->set[slot]]) <= t)
		return (struct glance){.best = slot, .more = s->kept_more, .alike = true, .later = s->kept_until};
	return choose(x, s, t, false);
}

static __attribute__((noinline)) void name_first(struct time_run *x, struct member *m, uint64_t t)
{
	m->c = m->s->kept != UINT32_MAX ? time_look_again(x, m->s, t) : choose(x, m->s, t, false);
	m->later = m->c.later;
	m->asks = m->c.best != UINT32_MAX;
	m->pipe = m->asks ? pipe_for(m->s, &x->p->set[m->s->set[m->c.best]], t) : -1;
}

/* The pipe that it named was given to w; `sooner` is the cluster's before any of this cycle's issues. */
static void name_again(struct time_run *x, struct member *m, const struct member *w, uint64_t t, uint64_t sooner)
{
	/* Each scheduler has its own of that name, and nobody was woken: it would name the same. */
	if (m->s->pipe[m->pipe] != w->s->pipe[m->pipe] && x->c->sooner == sooner)
		return;
	const struct time_set *set = &x->p->set[m->s->set[m->c.best]];
	if (set->count > 1 || (m->c.more && !m->c.alike)) {
		name_first(x, m, t);
		return;
	}
	uint64_t free = set_free(m->s, set); /* all that is ready wants this pipe */
	if (free <= t)
		return;
	m->later = free < m->c.later ? free : m->c.later;
	m->asks = false;
	time_keep(x, m->s, &m->c, sooner);
	m->c.best = UINT32_MAX;
}

/* The turns of several schedulers of one SM in one cycle; each has named what it would take. */
static void run_together(struct time_run *x, struct member *m, uint32_t n, uint64_t t)
{
	uint32_t schedulers = x->schedulers;
	uint64_t sooner = x->c->sooner;
	for (uint32_t k = 0; k < n && !x->stop;) {
		if (!m[k].asks) {
			k++;
			continue;
		}
		uint32_t who = m[k].pipe >= 0 ? winner(m, n, m[k].pipe, schedulers) : k;
		struct member *w = &m[who];
		w->used = w->pipe;
		if (w->pipe >= 0)
			w->s->user[w->pipe] = (uint8_t)w->s->index;
		w->asks = false;
		w->issued = true;
		w->later = issue_chosen(x, w->s, &w->c, t);
		for (uint32_t o = 0; o < n; o++) /* what they named may be busy now */
			if (m[o].asks && w->used >= 0 && m[o].pipe == w->used)
				name_again(x, &m[o], w, t, sooner);
	}
	for (uint32_t k = 0; x->dual && k < n; k++) {
		m[k].pipe = m[k].issued ? second_pipe(x, m[k].s, m[k].c.best, m[k].used, t) : -1;
		m[k].asks = m[k].pipe >= 0;
	}
	for (uint32_t k = 0; x->dual && k < n && !x->stop;) {
		if (!m[k].asks) {
			k++;
			continue;
		}
		struct member *w = &m[winner(m, n, m[k].pipe, schedulers)];
		int took = w->pipe;
		w->s->user[took] = (uint8_t)w->s->index;
		w->asks = false;
		w->later = t;
		issue_second(x, w->s, w->c.best, t);
		for (uint32_t o = 0; o < n; o++)
			if (m[o].asks && m[o].pipe == took) {
				m[o].pipe = second_pipe(x, m[o].s, m[o].c.best, m[o].used, t);
				m[o].asks = m[o].pipe >= 0;
			}
	}
	for (uint32_t k = 0; x->dual && x->turn && k < n && !x->stop; k++)
		if (m[k].issued)
			time_turn_over(x, m[k].s, m[k].c.best, t);
	/* What one of them woke, another may have looked at before. */
	bool woken = x->c->sooner != sooner;
	for (uint32_t k = 0; k < n; k++)
		next_turn(x, m[k].s, t, m[k].c.best, woken ? t : m[k].later);
}

void time_contend(struct time_run *x, struct time_sched *s, struct glance c, uint64_t t)
{
	struct member m[MEMBERS];
	uint32_t n = 1;
	m[0] = (struct member){.s = s,
			       .c = c,
			       .pipe = pipe_for(s, &x->p->set[s->set[c.best]], t),
			       .used = -1,
			       .asks = true,
			       .later = c.later};
	for (uint32_t k = 1; s->index + k < x->schedulers; k++) {
		if (x->c->wheel.at[s->number + k] != t || s[k].free >> FIX > t)
			continue;
		m[n] = (struct member){.s = s + k, .used = -1};
		name_first(x, &m[n++], t);
	}
	run_together(x, m, n, t);
}

void time_turns_of_sm(struct time_run *x, const struct time_sched *s, uint64_t t)
{
	struct member m[MEMBERS];
	struct time_sched *all = x->g->sm[s->sm].sched;
	uint32_t n = 0;
	for (uint32_t k = 0; k < x->schedulers; k++) {
		uint64_t port = all[k].free >> FIX;
		/* The wheel may give s a turn ahead of its time, which it then only puts off. */
		if (x->c->wheel.at[all[k].number] != t && &all[k] != s)
			continue;
		if (port > t) {
			wheel_set(&x->c->wheel, all[k].number, port);
			continue;
		}
		m[n] = (struct member){.s = &all[k], .used = -1};
		name_first(x, &m[n++], t);
	}
	run_together(x, m, n, t);
}
