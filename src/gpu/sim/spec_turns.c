/* How long warps that take turns need for a link of each of their chains, turn by turn. A chain's latency may be no
 * whole number of turns of its pipe. A chain of one warp may then come while another warp's has the pipe, over and over
 * again. */
#include "gpu/sim/spec_file.h"
#include <math.h>

#define PARTS	   1024 /* of a cycle, as the simulator counts them */
#define WARPS	   256	/* of an SM, at most */
#define CHAINS	   4	/* of a warp, at most */
#define SCHEDULERS 16	/* of an SM, at most: the reader of .gpu files refuses more */
#define SETTLED	   64	/* links after which warps have found their order, and over which it evens out */

/* Times are cycles. */
struct warp {
	uint64_t ready[CHAINS]; /* when the last link's result is there */
	uint64_t turn;		/* from when on it may have its next */
	uint32_t chain, links;	/* whose link is next; made, of all chains */
	uint64_t half, end;	/* when half of all links, and the last one, went out */
};

struct sm {
	const struct sim_spec *s;
	const struct op_spec *op;
	uint64_t port[SCHEDULERS], pipe[SCHEDULERS][SPEC_OP_PIPES]; /* when each is free, parts of a cycle */
	uint32_t last[SCHEDULERS];				    /* which of its warps had the last turn */
	uint32_t user; /* the scheduler that had a common pipe last: those behind it come first */
	uint32_t chains, warps, enough;
	struct warp warp[WARPS];
};

static uint64_t in_parts(double cycles)
{
	return (uint64_t)(cycles * PARTS + 0.5);
}

static bool is_own(const struct sm *m, uint32_t pipe)
{
	return m->s->pipe[m->op->pipe[pipe]].per_scheduler;
}

/* Of the pipes that the scheduler may take, the one that is free first. A common one is kept with the first scheduler's. */
static uint64_t *first_free(struct sm *m, uint32_t sched, uint32_t *which)
{
	uint64_t *best = NULL;
	for (uint32_t k = 0; k < m->op->pipe_count; k++) {
		uint64_t *pipe = &m->pipe[is_own(m, k) ? sched : 0][k];
		if (best && *pipe >= *best)
			continue;
		best = pipe;
		*which = k;
	}
	return best;
}

/* The warp's next link goes out at t to a pipe, as in spec_pipeline.c. */
static void go_out(struct sm *m, uint32_t sched, struct warp *w, uint64_t t, uint64_t *pipe, uint32_t which)
{
	const struct sim_spec *s = m->s;
	const uint64_t now = t * PARTS, issue = in_parts(s->scheduler_issue);
	const uint64_t from = m->op->pipe_count == 1 ? now : now > issue ? now - issue : 0;
	const double copies = is_own(m, which) ? s->schedulers : 1;
	m->user = is_own(m, which) ? m->user : sched;
	m->port[sched] = (m->port[sched] > now ? m->port[sched] : now) + issue;
	*pipe = (*pipe > from ? *pipe : from) + in_parts(s->warp_size * copies / m->op->rate[which]);
	w->turn = t + (uint64_t)fmax(1, round(s->warp_interval));
	w->ready[w->chain] = t + (uint64_t)round(m->op->latency);
	w->chain = (w->chain + 1) % m->chains;
	w->end = t;
	if (++w->links == m->enough / 2)
		w->half = t;
}

/* A scheduler's turn at t: the first of its warps behind the one that had the last, if it is ready. Returns when the next one may be. */
static uint64_t turn(struct sm *m, uint32_t sched, uint64_t t)
{
	const uint32_t schedulers = m->s->schedulers, own = m->warps / schedulers + (sched < m->warps % schedulers);
	uint64_t soonest = UINT64_MAX;
	uint32_t which = 0;
	uint64_t *pipe = first_free(m, sched, &which);
	const uint64_t open = (m->port[sched] > *pipe ? m->port[sched] : *pipe) / PARTS;
	if (open > t)
		return own ? open : UINT64_MAX;
	for (uint32_t i = 1; i <= own; i++) {
		const uint32_t slot = (m->last[sched] + i) % own;
		struct warp *w = &m->warp[slot * schedulers + sched];
		const uint64_t ready = w->ready[w->chain], at = ready > w->turn ? ready : w->turn;
		if (w->links == m->enough)
			continue;
		if (at <= t) {
			m->last[sched] = slot;
			go_out(m, sched, w, t, pipe, which);
			return t + 1;
		}
		soonest = at < soonest ? at : soonest;
	}
	return soonest;
}

double spec_turns(const struct sim_spec *s, const struct op_spec *op, uint32_t chains, uint32_t warps, uint32_t apart)
{
	struct sm m = {.s = s, .op = op, .chains = chains, .warps = warps, .enough = 2 * SETTLED * chains};
	uint64_t next[SCHEDULERS] = {0}, most = 0;
	if (warps > WARPS || chains > CHAINS)
		return 0;
	for (uint32_t i = 0; i < warps; i++)
		m.warp[i].turn = (uint64_t)i * apart;
	for (;;) {
		uint64_t t = UINT64_MAX;
		for (uint32_t c = 0; c < s->schedulers; c++)
			t = next[c] < t ? next[c] : t;
		if (t == UINT64_MAX)
			break;
		const uint32_t first = m.user + 1;
		for (uint32_t k = 0; k < s->schedulers; k++) {
			const uint32_t c = (first + k) % s->schedulers;
			if (next[c] == t)
				next[c] = turn(&m, c, t);
		}
	}
	for (uint32_t i = 0; i < warps; i++)
		if (m.warp[i].end - m.warp[i].half > most)
			most = m.warp[i].end - m.warp[i].half;
	return (double)most / SETTLED;
}
