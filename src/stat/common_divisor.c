#include "stat/stat.h"
#include <string.h>

uint64_t stat_gcd(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;
		a = b;
		b = rest;
	}
	return a;
}

/* When nearly all values are multiples of g, as many are of each of g's divisors. So only primes are tried first, then
 * products of those that passed: a few hundred divisors instead of all numbers up to max. */

#define SIEVE_MAX  65536
#define PRIMES_MAX 64

struct search {
	const uint64_t *v;
	size_t n, allowed; /* values that may be no multiples */
	uint64_t max;
	uint32_t prime[PRIMES_MAX]; /* that passed, ascending */
	size_t primes;
};

static bool divides(const struct search *s, uint64_t g)
{
	size_t misses = 0;

	/* narrow division is several times faster, and positions in a buffer are nearly always narrow */
	for (size_t i = 0; i < s->n && misses <= s->allowed; i++)
		misses += (s->v[i] >> 32 ? s->v[i] % g : (uint32_t)s->v[i] % (uint32_t)g) != 0;
	return misses <= s->allowed;
}

/* Largest passing product of g and primes from `from` on. */
static uint64_t largest(const struct search *s, uint64_t g, size_t from)
{
	uint64_t best = g;

	for (size_t i = from; i < s->primes && g * s->prime[i] <= s->max; i++) {
		if (!divides(s, g * s->prime[i]))
			continue;
		uint64_t found = largest(s, g * s->prime[i], i);
		if (found > best)
			best = found;
	}
	return best;
}

static uint64_t try_all(const struct search *s)
{
	uint64_t g = s->max;

	while (g > 1 && !divides(s, g))
		g--;
	return g;
}

uint64_t stat_gcd_robust(const uint64_t *v, size_t n, double quorum, uint64_t max)
{
	struct search s = {.v = v, .n = n, .max = max < UINT32_MAX ? max : UINT32_MAX};
	uint8_t composite[SIEVE_MAX / 8];

	if (n == 0)
		return 0;
	if (s.max < 1)
		return 1;
	while (s.allowed < n && (double)(n - s.allowed - 1) >= quorum * (double)n)
		s.allowed++;
	if (divides(&s, s.max))
		return s.max;
	if (s.max >= SIEVE_MAX)
		return try_all(&s);
	memset(composite, 0, s.max / 8 + 1);
	for (uint32_t p = 2; p <= s.max; p++) {
		if (composite[p / 8] & 1u << p % 8)
			continue;
		for (uint32_t m = 2 * p; m <= s.max; m += p)
			composite[m / 8] |= (uint8_t)(1u << m % 8);
		if (!divides(&s, p))
			continue;
		if (s.primes == PRIMES_MAX) /* only where nearly all values are zero */
			return try_all(&s);
		s.prime[s.primes++] = p;
	}
	return largest(&s, 1, 0);
}
