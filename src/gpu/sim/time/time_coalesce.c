#include "gpu/sim/time/time_coalesce.h"
#include "gpu/sim/func/func_lanes.h"
#include <stdbool.h>

#define LANES 32
#define HALF  16

static uint32_t count(uint32_t mask)
{
	return (uint32_t)__builtin_popcount(mask);
}

static bool is_power(uint32_t n)
{
	return n && !(n & (n - 1));
}

/* All lanes, each `bytes` behind the one before it. */
static uint32_t run(uint32_t segment, uint64_t address, uint32_t bytes, struct time_transaction *out)
{
	int shift = __builtin_ctz(segment), step = __builtin_ctz(bytes);
	uint32_t n = 0;
	for (uint32_t lane = 0; lane < LANES;) {
		uint64_t at = address + ((uint64_t)lane << step), base = at >> shift << shift;
		uint64_t here = (base + segment - at + bytes - 1) >> step;
		uint32_t lanes = here < LANES - lane ? (uint32_t)here : LANES - lane;
		out[n++] = (struct time_transaction){base, segment, lanes};
		lane += lanes;
	}
	return n;
}

/* Distinct segments of the whole warp, in the order of the lanes. */
static uint32_t lines(uint32_t segment, const uint64_t *address, uint32_t mask, uint32_t bytes,
		      struct time_transaction *out)
{
	bool power = is_power(segment);
	int shift = __builtin_ctz(segment);
	if (power && mask) { /* mostly all lanes lie in one segment, or one behind the other */
		struct func_spread s = {.bytes = bytes};
		func_lanes(address, mask, &s);
		if (!(s.apart >> shift)) {
			out[0] = (struct time_transaction){address[__builtin_ctz(mask)] >> shift << shift, segment,
							   count(mask)};
			return 1;
		}
		if (mask == UINT32_MAX && !s.skew && is_power(bytes))
			return run(segment, address[0], bytes, out);
	}
	uint64_t piece[LANES], seen = 0; /* a bit for each piece, of which several may have the same */
	uint32_t n = 0;
	for (uint32_t rest = mask; rest; rest &= rest - 1) {
		uint64_t a = address[__builtin_ctz(rest)];
		uint64_t p = power ? a >> shift : a / segment;
		const uint64_t bit = 1ull << (p * 0x9e3779b97f4a7c15u >> 58);
		uint32_t k = seen & bit ? n : 0;
		seen |= bit;
		/* Neighbours mostly share a piece, so the latest is looked at first. */
		while (k && piece[k - 1] != p)
			k--;
		if (k) {
			out[k - 1].lanes++;
			continue;
		}
		piece[n] = p;
		out[n++] = (struct time_transaction){p * segment, segment, 1};
	}
	return n;
}

/* Compute capability 1.0 and 1.1. Lane k of a half-warp wants word k of an aligned block of 64 or 128 bytes, or of two
 * that follow each other. Lanes may be missing. Otherwise everybody goes alone. */
static uint32_t g80_half(const uint64_t *address, uint32_t mask, uint32_t bytes, struct time_transaction *out)
{
	uint32_t first = (uint32_t)__builtin_ctz(mask), block = bytes * HALF, size = block < 128 ? block : 128, n = 0;
	uint64_t base = address[first] - (uint64_t)(first % HALF) * bytes;
	bool fits = (bytes == 4 || bytes == 8 || bytes == 16) && base % size == 0;
	for (uint32_t rest = mask; fits && rest; rest &= rest - 1) {
		uint32_t lane = (uint32_t)__builtin_ctz(rest);
		fits = address[lane] == base + (uint64_t)(lane % HALF) * bytes;
	}
	if (!fits) {
		for (uint32_t rest = mask; rest; rest &= rest - 1)
			out[n++] = (struct time_transaction){address[__builtin_ctz(rest)] & ~31ull, 32, 1};
		return n;
	}
	uint32_t lanes = size / bytes;
	for (uint32_t at = 0; at < block; at += size) {
		uint32_t part = mask >> (first / HALF * HALF + at / bytes) & ((1u << lanes) - 1);
		if (part)
			out[n++] = (struct time_transaction){base + at, size, count(part)};
	}
	return n;
}

/* Compute capability 1.2 and 1.3. A transaction is the segment of the lowest lane that waits. It is shrunk to the half
 * that is used as long as the other is not. With it go all lanes whose address lies in it. */
static uint32_t gt200_half(const uint64_t *address, uint32_t mask, uint32_t bytes, struct time_transaction *out)
{
	const uint64_t segment = bytes == 1 ? 32 : bytes == 2 ? 64 : 128;
	uint32_t n = 0;
	while (mask) {
		const uint64_t base = address[__builtin_ctz(mask)] & -segment;
		uint64_t lo = segment, hi = 0; /* behind base */
		uint32_t taken = 0;
		for (uint32_t rest = mask; rest; rest &= rest - 1) {
			const uint64_t at = address[__builtin_ctz(rest)] - base;
			if (at >= segment)
				continue;
			taken |= rest & -rest;
			lo = at < lo ? at : lo;
			hi = at > hi ? at : hi;
		}
		uint64_t size = segment;
		/* Up to the last byte that is used, which is in the segment unless an access crosses its end. */
		while (size > 32 && (lo ^ (hi + bytes - 1)) < size / 2)
			size /= 2;
		out[n++] = (struct time_transaction){base + (lo & -size), (uint32_t)size, count(taken)};
		mask &= ~taken;
	}
	return n;
}

uint32_t coalesce(enum coalesce_rule rule, uint32_t segment, const uint64_t *address, uint32_t mask, uint32_t bytes,
		  struct time_transaction *out)
{
	if (rule == COALESCE_LINES)
		return lines(segment, address, mask, bytes, out);
	uint32_t n = 0, half[2] = {mask & 0xffffu, mask & 0xffff0000u};
	for (uint32_t h = 0; h < 2; h++) {
		if (half[h] && rule == COALESCE_G80)
			n += g80_half(address, half[h], bytes, out + n);
		else if (half[h])
			n += gt200_half(address, half[h], bytes, out + n);
	}
	return n;
}
