/* Seeded, portable random numbers (xoshiro256**). Same seed, same sequence, everywhere. */
#ifndef FATHOM_RNG_H
#define FATHOM_RNG_H
#include <stdint.h>

struct rng {
	uint64_t s[4];
};

void rng_seed(struct rng *r, uint64_t seed);

/* The next word, inline: the simulated memory draws for every piece that it serves. */
static inline uint64_t rng_next(struct rng *r)
{
	uint64_t *s = r->s, x = s[1] * 5, out = (x << 7 | x >> 57) * 9, t = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = s[3] << 45 | s[3] >> 19;
	return out;
}

static inline double rng_unit(struct rng *r) /* [0, 1) */
{
	return (double)(rng_next(r) >> 11) * 0x1p-53;
}

uint64_t rng_below(struct rng *r, uint64_t n); /* 0 .. n-1, unbiased; n > 0 */
void rng_shuffle(struct rng *r, uint64_t *v, uint32_t n);
/* Sattolo's shuffle: one cycle through all n > 0 places. next[i]: where i leads to, in units. */
void rng_cycle(uint32_t *next, uint32_t n, uint32_t unit, uint64_t seed);

#endif
