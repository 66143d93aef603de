#include "gpu/sim/time/time_boost.h"
#include "base/rng.h"
#include "base/str.h"

void boost_init(struct time_boost *b, const struct sim_spec *s, uint64_t seed)
{
	const struct noise_spec *n = &s->noise;
	*b = (struct time_boost){.seed = seed, .nominal = s->clock_hz > 0 ? 1e9 / s->clock_hz : 1};
	if (n->boost > 0 && n->boost_cycles >= 1 && n->boost_interval > n->boost_cycles) {
		b->gain = n->boost;
		b->interval = (uint64_t)n->boost_interval;
		b->cycles = (uint64_t)n->boost_cycles;
	}
}

/* The cycle of its period at which the boost begins. */
static uint64_t begin(const struct time_boost *b, uint64_t period)
{
	return hash64(&period, sizeof period, b->seed) % (b->interval - b->cycles + 1);
}

double boost_pace(const struct time_boost *b, uint64_t t)
{
	if (!(b->gain > 0))
		return 1;
	return t % b->interval - begin(b, t / b->interval) < b->cycles ? 1 + b->gain : 1;
}

double boost_ns(const struct time_boost *b, uint64_t t)
{
	if (!(b->gain > 0))
		return (double)t * b->nominal;
	uint64_t period = t / b->interval, first = begin(b, period), within = t % b->interval,
		 boosted = period * b->cycles;
	if (within > first)
		boosted += within - first < b->cycles ? within - first : b->cycles;
	return ((double)(t - boosted) + (double)boosted / (1 + b->gain)) * b->nominal;
}
