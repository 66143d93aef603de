/* Rules of replacement over what a set keeps of its lines. Compiled into time_cache.c: a call would show there. */
#ifndef FATHOM_TIME_REPLACE_H
#define FATHOM_TIME_REPLACE_H
#include "gpu/sim/spec.h"
#include <string.h>

/* Tree over the next power of two of ways; bit = which half was used longer ago. Node 1 is the root. */
static inline bool tree_bit(const uint64_t *t, uint32_t node)
{
	return t[node >> 6] >> (node & 63) & 1;
}

static inline void tree_use(uint64_t *t, uint32_t ways, uint32_t way)
{
	uint32_t node = 1, span = 1;
	while (span < ways)
		span <<= 1;
	for (uint32_t half = span / 2; half; half /= 2) {
		bool upper = way & half;
		uint64_t bit = 1ull << (node & 63);
		if (upper)
			t[node >> 6] &= ~bit;
		else
			t[node >> 6] |= bit;
		node = node * 2 + upper;
	}
}

static inline uint32_t tree_victim(const uint64_t *t, uint32_t ways)
{
	uint32_t node = 1, span = 1, way = 0;
	while (span < ways)
		span <<= 1;
	for (uint32_t half = span / 2; half; half /= 2) {
		/* If the tree is wider than the set, only the lower half holds ways. */
		bool upper = tree_bit(t, node) && (way | half) < ways;
		if (upper)
			way |= half;
		node = node * 2 + upper;
	}
	return way;
}

/* The line was used; when every line of the set was, only this one was lately. */
static inline void nru_use(uint64_t *age, uint32_t ways, uint32_t way)
{
	age[way] = 1;
	for (uint32_t w = 0; w < ways; w++)
		if (!age[w])
			return;
	memset(age, 0, ways * sizeof *age);
	age[way] = ways > 1;
}

/* The first line of the greatest age; all get older until there is one. */
static inline uint32_t qlru_victim(uint64_t *age, uint32_t ways)
{
	uint64_t most = 0;
	uint32_t first = 0;
	for (uint32_t w = 0; w < ways; w++)
		if (age[w] > most || !w) {
			most = age[w];
			first = w;
		}
	for (uint32_t w = 0; w < ways; w++)
		age[w] += QLRU_OLDEST - most;
	return first;
}

#endif
