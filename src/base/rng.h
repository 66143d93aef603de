/* Seeded, portable random numbers (xoshiro256**). Same seed, same sequence, everywhere. */
#ifndef FATHOM_RNG_H
#define FATHOM_RNG_H
#include <stdint.h>

struct rng {
	uint64_t s[4];
};

void rng_seed(struct rng *r, uint64_t seed);
uint64_t rng_next(struct rng *r);
uint64_t rng_below(struct rng *r, uint64_t n); /* 0 .. n-1, unbiased; n > 0 */
double rng_unit(struct rng *r);		       /* [0, 1) */
void rng_shuffle(struct rng *r, uint64_t *v, uint32_t n);
/* Sattolo's shuffle: one cycle through all n > 0 places. next[i]: where i leads to, in units. */
void rng_cycle(uint32_t *next, uint32_t n, uint32_t unit, uint64_t seed);

#endif
