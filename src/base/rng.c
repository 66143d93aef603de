#include "base/rng.h"
#include <assert.h>

/* One step of a Weyl sequence with a mixing function: spreads any seed, also 0, over the whole state. */
static uint64_t spread(uint64_t *x)
{
	uint64_t z = *x += 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

void rng_seed(struct rng *r, uint64_t seed)
{
	for (int i = 0; i < 4; i++)
		r->s[i] = spread(&seed);
}

uint64_t rng_below(struct rng *r, uint64_t n)
{
	assert(n > 0);
	uint64_t skip = -n % n, x; /* 2^64 mod n: values below it would make small results likelier */

	do
		x = rng_next(r);
	while (x < skip);
	return x % n;
}

void rng_shuffle(struct rng *r, uint64_t *v, uint32_t n)
{
	for (uint32_t i = n; i > 1; i--) {
		const uint32_t k = (uint32_t)rng_below(r, i);
		const uint64_t keep = v[i - 1];
		v[i - 1] = v[k];
		v[k] = keep;
	}
}

void rng_cycle(uint32_t *next, uint32_t n, uint32_t unit, uint64_t seed)
{
	struct rng r;
	rng_seed(&r, seed);
	for (uint32_t i = 0; i < n; i++)
		next[i] = i;
	for (uint32_t i = n - 1; i > 0; i--) {
		const uint32_t k = (uint32_t)rng_below(&r, i), keep = next[i];
		next[i] = next[k];
		next[k] = keep;
	}
	for (uint32_t i = 0; i < n; i++)
		next[i] *= unit;
}
