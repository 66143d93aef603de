/* How long a level that has the line takes to answer, and memory. Private to time/; inline, for every access comes by here. */
#ifndef FATHOM_TIME_ANSWER_H
#define FATHOM_TIME_ANSWER_H
#include "gpu/sim/time/time_state.h"
#include <math.h>

#define DRIFT_PERIOD (1ull << 26) /* cycles of one slow swing of the clocks against each other */

/* What happens to an access beyond the SM besides its latency. Fixed point in and out. First what follows from the cycle alone. */
static inline uint64_t steady(const struct time_gpu *g, uint64_t latency, uint64_t t)
{
	const struct noise_spec *n = &g->spec->noise;
	if (n->drift != 0) {
		double phase = (double)(t % DRIFT_PERIOD) / DRIFT_PERIOD;
		latency = (uint64_t)((double)latency * (1 + n->drift * (4 * fabs(phase - 0.5) - 1)));
	}
	if (g->boost.gain > 0)
		latency = (uint64_t)((double)latency * boost_pace(&g->boost, t));
	return latency;
}

/* Then chance, access by access. The random numbers of a near level are its cluster's: those of the far side are drawn in its
 * order. */
static inline uint64_t jitter_cycles(const struct noise_spec *n, struct rng *noise)
{
	return (uint64_t)(rng_unit(noise) * n->jitter_cycles * FIX_ONE);
}

static inline uint64_t jitter(const struct noise_spec *n, struct rng *noise)
{
	return n->jitter_probability > 0 && rng_unit(noise) < n->jitter_probability ? jitter_cycles(n, noise) : 0;
}

static inline uint64_t disturb(const struct time_gpu *g, struct rng *noise, uint64_t latency, uint64_t t)
{
	return steady(g, latency, t) + jitter(&g->spec->noise, noise);
}

static inline bool is_far(const struct time_cache *c, uint64_t address, uint32_t cluster)
{
	uint64_t line = c->line_shift >= 0 ? address >> c->line_shift : address / c->spec->line;
	return (uint32_t)__builtin_parityll(line) != cluster % 2;
}

/* `wait` (fixed point): before the level answers, at ports and for a translation. */
static inline uint64_t undisturbed(const struct time_level *l, const struct time_cache *c, uint32_t cluster,
				   uint64_t address, uint64_t wait)
{
	uint64_t latency = l->latency[cluster] + wait;
	if (l->spec->partitions > 1 && is_far(c, address, cluster))
		latency += l->far;
	return latency;
}

static inline uint64_t after(uint64_t t, uint64_t latency)
{
	return t + ((latency + FIX_ONE / 2) >> FIX);
}

static inline uint64_t answered(const struct time_gpu *g, struct rng *noise, const struct time_level *l,
				const struct time_cache *c, uint32_t cluster, uint64_t address, uint64_t t,
				uint64_t wait)
{
	uint64_t latency = undisturbed(l, c, cluster, address, wait);
	if (l->scope != SCOPE_SM)
		latency = disturb(g, noise, latency, t);
	return after(t, latency);
}

#endif
