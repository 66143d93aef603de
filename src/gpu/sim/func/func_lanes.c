/* Loops without a branch, so that the compiler makes vectors of them. */
#include "gpu/sim/func/func_lanes.h"
#include "gpu/sim/func/func_clones.h"

/* A power of two is shifted: hosts have no product of such vectors. */
CLONES VECTORS static uint64_t skew_of_all(const uint64_t *address, uint64_t bytes)
{
	const uint64_t start = address[0], some = bytes ? UINT64_MAX : 0, shift = bytes ? __builtin_ctzll(bytes) : 0;
	uint64_t skew = 0;
	for (uint64_t l = 0; l < FUNC_LANES; l++)
		skew |= address[l] ^ (start + (l << shift & some));
	return skew;
}

CLONES VECTORS static void spread_of(const uint64_t *address, uint32_t mask, struct func_spread *s)
{
	const uint64_t lane = (uint64_t)__builtin_ctz(mask), first = address[lane], base = s->base, bytes = s->bytes;
	const uint64_t start = first - lane * bytes, some = bytes ? UINT64_MAX : 0,
		       shift = bytes ? __builtin_ctzll(bytes) : 0;
	uint64_t apart = 0, skew = 0, far = 0;
	for (uint64_t l = 0; l < FUNC_LANES; l++) {
		uint64_t in = mask >> l & 1 ? UINT64_MAX : 0, a = address[l], at = (a - base) & in;
		apart |= (a ^ first) & in;
		skew |= (a ^ (start + (l << shift & some))) & in;
		far = at > far ? at : far;
	}
	s->apart = apart;
	s->skew = skew;
	s->far = far;
}

void func_lanes(const uint64_t *address, uint32_t mask, struct func_spread *s)
{
	const uint64_t first = address[0], last = first + (FUNC_LANES - 1) * s->bytes;
	/* Mostly each lies behind the one before it, and the ends say all. */
	if (mask != UINT32_MAX || last < first || first < s->base || skew_of_all(address, s->bytes)) {
		spread_of(address, mask, s);
		return;
	}
	s->apart = first ^ last;
	s->skew = 0;
	s->far = last - s->base;
}

CLONES VECTORS void func_lanes_add(uint64_t *to, const uint64_t *from, uint32_t mask, uint64_t some, uint64_t add)
{
	for (uint64_t l = 0; l < FUNC_LANES; l++)
		to[l] = mask >> l & 1 ? from[l] + add : some;
}

CLONES VECTORS void func_lanes_add_32(uint64_t *to, const uint32_t *from, uint32_t mask, uint64_t some, uint64_t add)
{
	for (uint64_t l = 0; l < FUNC_LANES; l++)
		to[l] = mask >> l & 1 ? from[l] + add : some;
}

/* Differences to the first lane, with signs, because hosts compare such. */
CLONES VECTORS uint64_t func_lanes_extent(const uint64_t *address, uint32_t mask, uint64_t *least)
{
	const uint64_t first = address[__builtin_ctz(mask)];
	int64_t lo = 0, hi = 0;
	for (uint64_t l = 0; l < FUNC_LANES; l++) {
		int64_t at = (int64_t)(address[l] - first) & (mask >> l & 1 ? -1 : 0);
		lo = at < lo ? at : lo;
		hi = at > hi ? at : hi;
	}
	*least = first + (uint64_t)lo;
	return (uint64_t)(hi - lo);
}

CLONES VECTORS void func_spread_32(uint32_t *row, uint32_t mask, uint32_t v)
{
	for (uint32_t l = 0; l < FUNC_LANES; l++)
		row[l] = mask >> l & 1 ? v : row[l];
}

CLONES VECTORS void func_spread_64(uint64_t *row, uint32_t mask, uint64_t v)
{
	for (uint64_t l = 0; l < FUNC_LANES; l++)
		row[l] = mask >> l & 1 ? v : row[l];
}

unsigned func_store_order(uint32_t mask, unsigned bytes, uint8_t order[FUNC_LANES])
{
	const unsigned together = 128 / (bytes < 4 ? 4 : bytes);
	unsigned n = 0;
	for (unsigned first = 0; first < FUNC_LANES; first += together)
		for (unsigned l = first + together; l-- > first;)
			if (mask >> l & 1)
				order[n++] = (uint8_t)l;
	return n;
}
