/* The words of one set of a cache: its tags, which of its ways is free, and which was used longest ago. Private to time_cache.c. */
#ifndef FATHOM_TIME_SET_H
#define FATHOM_TIME_SET_H
#include "gpu/sim/func/func_clones.h"
#include "gpu/sim/time/time_cache.h"
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define LINE_BITS CACHE_LINE_BITS
#define LINE_MASK CACHE_LINE_MASK

/* So many ways are looked at one after the other. Of more, 8 bits of each tag are looked at first, sixteen ways at once: a set of many
 * ways is hundreds of bytes. */
#define FEW    8
#define PRINTS 16

/* Without a branch, so that the compiler makes vectors of it. */
CLONES VECTORS static uint64_t first_other_epoch(const uint64_t *tag, uint64_t n, uint64_t epoch)
{
	uint64_t first = n;
	for (uint64_t k = 0; k < n; k++) {
		uint64_t at = tag[k] >> LINE_BITS != epoch ? k : n;
		first = at < first ? at : first;
	}
	return first;
}

static inline uint8_t print_of(uint64_t key)
{
	return (uint8_t)((key & LINE_MASK) * 0x9e3779b97f4a7c15u >> 56);
}

/* Which of the sixteen are `print`: a bit each. */
static inline uint32_t same_prints(const uint8_t *of, uint8_t print)
{
#ifdef __SSE2__
	const __m128i same =
	    _mm_cmpeq_epi8(_mm_loadu_si128((const __m128i *)(const void *)of), _mm_set1_epi8((char)print));
	return (uint32_t)_mm_movemask_epi8(same);
#else
	uint32_t all = 0;
	for (uint32_t k = 0; k < PRINTS; k++)
		all |= (uint32_t)(of[k] == print) << k;
	return all;
#endif
}

/* The way of the set whose tag is `key`, or `ways`. */
static inline uint32_t find_tag(const struct time_cache *c, uint32_t set, uint32_t ways, uint64_t key)
{
	const uint64_t *tag = c->tag + (size_t)set * c->spec->ways;
	if (!c->print) {
		uint32_t k = 0;
		while (k < ways && tag[k] != key)
			k++;
		return k;
	}
	const uint8_t *print = c->print + (size_t)set * c->print_ways, own = print_of(key);
	for (uint32_t k = 0; k < ways; k += PRINTS) {
		for (uint32_t same = same_prints(print + k, own); same; same &= same - 1) {
			uint32_t w = k + (uint32_t)__builtin_ctz(same);
			if (w < ways && tag[w] == key)
				return w;
		}
	}
	return ways;
}

/* The first of the set's ways that holds nothing, or `ways`. */
static inline uint32_t find_empty(struct time_cache *c, uint32_t set, const uint64_t *tag, uint32_t ways)
{
	struct cache_room *r = &c->room[set];
	uint32_t k = r->at == c->emptied ? r->next : 0;
	if (!k && ways > FEW)
		k = (uint32_t)first_other_epoch(tag, ways, c->epoch);
	while (k < ways && tag[k] >> LINE_BITS == c->epoch)
		k++;
	*r = (struct cache_room){.at = c->emptied, .next = k};
	return k;
}

/* Ages only grow, so whoever is left of those that were the oldest of all still comes before the others. The look begins behind the last of
 * those: lines that come one after the other lie so, too, and the oldest are found first. */
static void list_oldest(struct cache_oldest *o, const uint64_t *age, uint32_t ways)
{
	uint64_t least[CACHE_OLDEST] = {0};
	uint32_t n = 0, w = o->count ? o->way[o->count - 1] : 0;
	for (uint32_t k = 0; k < ways; k++) {
		w = w + 1 < ways ? w + 1 : 0;
		if (n == CACHE_OLDEST && age[w] >= least[n - 1])
			continue;
		uint32_t at = n < CACHE_OLDEST ? n++ : n - 1;
		for (; at && least[at - 1] > age[w]; at--) {
			least[at] = least[at - 1];
			o->way[at] = o->way[at - 1];
		}
		least[at] = age[w];
		o->way[at] = (uint16_t)w;
	}
	o->next = 0;
	o->count = (uint8_t)n;
	o->until = n ? least[n - 1] : 0;
}

static uint32_t find_oldest(const struct time_cache *c, uint32_t set, const uint64_t *age, uint32_t ways)
{
	if (!c->oldest) {
		uint32_t oldest = 0;
		for (uint32_t w = 1; w < ways; w++)
			if (age[w] < age[oldest])
				oldest = w;
		return oldest;
	}
	struct cache_oldest *o = &c->oldest[set];
	for (;;) {
		while (o->next < o->count) {
			const uint32_t w = o->way[o->next++];
			if (w < ways && age[w] <= o->until)
				return w;
		}
		list_oldest(o, age, ways);
	}
}

#endif
