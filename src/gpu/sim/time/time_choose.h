/* Which of its warps a scheduler takes. Compiled into the loops that ask: a call would show there. */
#ifndef FATHOM_TIME_CHOOSE_H
#define FATHOM_TIME_CHOOSE_H
#include "gpu/sim/func/func_clones.h"
#include "gpu/sim/time/time_state.h"

#define HOST_LINE 64 /* bytes of a line of the host's caches */

/* Cycle from which some pipe of the set accepts. */
static inline uint64_t set_free(const struct time_sched *s, const struct time_set *set)
{
	if (!set->count)
		return 0;
	uint64_t best = *s->pipe[set->pipe[0]];
	if (__builtin_expect(set->count > 1, 0))
		for (uint32_t k = 1; k < set->count; k++) {
			uint64_t f = *s->pipe[set->pipe[k]];
			best = f < best ? f : best;
		}
	return best >> FIX;
}

/* The pipe of the set that would take an instruction at t, the one that is free first, or -1 when none accepts yet. */
static inline int pipe_for(const struct time_sched *s, const struct time_set *set, uint64_t t)
{
	int best = -1;
	for (uint32_t k = 0; k < set->count; k++)
		if (best < 0 || *s->pipe[set->pipe[k]] < *s->pipe[best])
			best = set->pipe[k];
	return best >= 0 && *s->pipe[best] >> FIX <= t ? best : -1;
}

/* Which of up to 64 slots are ready at t, and when the first of the others will be, at `never` if there is none. Without a branch, and
 * with what a constant would be in a variable: else no compiler makes vectors of it. */
CLONES VECTORS static uint64_t ready_slots(const uint64_t *wake, uint64_t n, uint64_t t, uint64_t never,
					   uint64_t *later)
{
	uint64_t ready = 0, first = *later;
	for (uint64_t k = 0; k < n; k++) {
		uint64_t now = wake[k] <= t ? 1 : 0, then = wake[k] <= t ? never : wake[k];
		ready |= now << k;
		first = then < first ? then : first;
	}
	*later = first;
	return ready;
}

static inline void fetch_warp(const struct time_warp *w)
{
	const char *end = (const char *)&w->f.addr;
	for (const char *at = (const char *)&w->ready; at <= end; at += HOST_LINE)
		__builtin_prefetch(at);
}

static inline void fetch_row(const struct time_warp *w, uint16_t row)
{
	const char *at = (const char *)(w->f.reg + (size_t)row * FUNC_LANES);
	if (row == FUNC_NONE)
		return;
	__builtin_prefetch(at);
	__builtin_prefetch(at + HOST_LINE);
}

/* The rows that the warp's next instruction works on. */
static inline void fetch_rows(const struct time_run *x, const struct time_warp *w)
{
	const struct func_inst *i = &x->fi[w->f.pc];
	fetch_row(w, i->dst);
	fetch_row(w, i->a);
	fetch_row(w, i->b);
}

/* What a look at all warps of a scheduler found. */
struct glance {
	uint32_t best;	/* slot that issues, UINT32_MAX = none can */
	bool more;	/* others are ready too ... */
	bool alike;	/* ... and want the same pipes, all of them */
	uint64_t later; /* when the first of those that are not ready will be */
};

/* Whether the warp in slot a goes before that in slot b. */
static bool goes_before(const struct time_sched *s, enum core_policy p, uint32_t a, uint32_t b)
{
	if (p == CORE_GREEDY && (a == s->last || b == s->last))
		return a == s->last;
	return p == CORE_YOUNGEST ? s->age[a] > s->age[b] : s->age[a] < s->age[b];
}

/* By age instead of in turn. */
static __attribute__((noinline)) struct glance choose_by_age(const struct time_run *x, const struct time_sched *s,
							     uint64_t t)
{
	struct glance g = {.best = UINT32_MAX, .later = NEVER};
	enum core_policy policy = x->policy;
	for (uint32_t k = 0; k < s->slots; k++) {
		uint64_t wake = s->wake[k], pipe = wake <= t ? set_free(s, &x->p->set[s->set[k]]) : wake;
		if (wake > t || pipe > t) {
			g.more |= wake <= t;
			g.later = pipe < g.later ? pipe : g.later;
			continue;
		}
		g.more |= g.best != UINT32_MAX;
		if (g.best == UINT32_MAX || goes_before(s, policy, k, g.best))
			g.best = k;
	}
	return g;
}

/* The first ready slot after the one that issued last whose pipes are free, of more than 64. */
static __attribute__((noinline)) struct glance choose_of_many(const struct time_run *x, const struct time_sched *s,
							      uint64_t t)
{
	struct glance g = {.best = UINT32_MAX, .later = NEVER};
	uint64_t ready[TIME_SLOTS / 64];
	uint32_t busy = TIME_SETS; /* the pipes that were just found busy: mostly those of the other warps too */
	uint32_t words = (s->slots + 63) / 64, from = s->last + 1 < s->slots ? s->last + 1 : 0;
	for (uint32_t n = 0; n < words; n++) {
		uint32_t here = s->slots - n * 64 < 64 ? s->slots - n * 64 : 64;
		ready[n] = ready_slots(s->wake + (size_t)n * 64, here, t, g.later, &g.later);
	}
	/* The word of `from` is visited twice: first what lies behind, at the end what lies before. */
	for (uint32_t n = 0; n <= words && words; n++) {
		uint32_t at = (from / 64 + n) % words;
		uint64_t below = (1ull << from % 64) - 1;
		uint64_t rest = n == 0 ? ready[at] & ~below : n == words ? ready[at] & below : ready[at];
		for (; rest; rest &= rest - 1) {
			uint32_t k = at * 64 + (uint32_t)__builtin_ctzll(rest);
			if (s->set[k] == busy)
				continue;
			uint64_t pipe = set_free(s, &x->p->set[s->set[k]]);
			if (pipe <= t) {
				g.best = k;
				g.more = true;
				return g;
			}
			busy = s->set[k];
			g.later = pipe < g.later ? pipe : g.later;
		}
	}
	return g;
}

/* The first ready slot after the one that issued last whose pipes are free. With `hot`, the state of the scheduler's
 * warps is in the host's first cache. */
static inline __attribute__((always_inline)) struct glance choose(const struct time_run *x, struct time_sched *s,
								  uint64_t t, const bool hot)
{
	struct glance g = {.best = UINT32_MAX, .later = NEVER};
	if (__builtin_expect(x->policy != CORE_ROUND_ROBIN, 0))
		return choose_by_age(x, s, t);
	if (__builtin_expect(s->slots > 64, 0))
		return choose_of_many(x, s, t);
	uint64_t ready = wakes_ready(&s->wakes, s->wake, s->slots, t);
	g.later = wakes_later(&s->wakes);
	uint32_t from = s->last + 1 < s->slots ? s->last + 1 : 0;
	/* In turn: bit k is slot (from + k) % 64. */
	uint64_t rest = ready >> from | ready << (-from & 63);
	while (rest) {
		uint32_t k = ((uint32_t)__builtin_ctzll(rest) + from) & 63;
		uint8_t set = s->set[k];
		uint64_t pipe = set_free(s, &x->p->set[set]);
		rest &= rest - 1;
		if (pipe <= t) {
			uint64_t others = ready & ~(1ull << k);
			g.best = k;
			g.more = others;
			g.alike = !others || !(others & ~s->want[set]);
			/* By their turns, hundreds of other schedulers will have had theirs. */
			if (!hot && rest)
				fetch_rows(x, s->warp[((uint32_t)__builtin_ctzll(rest) + from) & 63]);
			if (!hot && rest & (rest - 1))
				fetch_warp(s->warp[((uint32_t)__builtin_ctzll(rest & (rest - 1)) + from) & 63]);
			return g;
		}
		g.later = pipe < g.later ? pipe : g.later;
		if (rest) { /* those that want the same are mostly all of them */
			uint64_t same = s->want[set];
			rest &= ~(same >> from | same << (-from & 63));
		}
	}
	return g;
}

#endif
