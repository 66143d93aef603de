#include "probe/rule.h"
#include <string.h>

const char *rule_name(enum rule r)
{
	static const char *const names[RULES] = {"lru", "fifo", "plru", "nru"};
	return names[r];
}

bool rule_applies(enum rule r, unsigned ways)
{
	if (r == RULE_PLRU)
		return ways > 2 && !(ways & (ways - 1));
	return r == RULE_NRU ? ways > 2 : ways > 1;
}

void rule_start(struct rule_set *s, enum rule r, unsigned ways, uint64_t variant)
{
	struct rng rng;

	memset(s, 0, sizeof(*s));
	s->rule = r;
	s->ways = ways;
	rng_seed(&rng, variant);
	for (unsigned w = 0; w < ways; w++)
		s->line[w] = RULE_EMPTY;
	s->vacant = variant ? 0 : ways;
	for (unsigned w = 0; variant && w < ways; w++) {
		s->age[w] = rng_next(&rng) >> 32;
		s->bit[w] = rng_next(&rng) >> 63;
	}
	s->stamp = 1ull << 32;
	if (r == RULE_NRU)
		s->bit[0] = 0; /* all used at once does not last */
	for (unsigned w = 0; w < ways; w++)
		s->used += s->bit[w];
}

static unsigned victim(struct rule_set *s)
{
	unsigned best = 0, node = 1;

	if (s->vacant)
		return s->ways - s->vacant--;
	switch (s->rule) {
	case RULE_PLRU:
		while (node < s->ways)
			node = 2 * node + s->bit[node];
		return node - s->ways;
	case RULE_NRU:
		for (unsigned w = 0; w < s->ways; w++)
			if (!s->bit[w])
				return w;
		return 0;
	default:
		for (unsigned w = 1; w < s->ways; w++)
			if (s->age[w] < s->age[best])
				best = w;
		return best;
	}
}

static void use(struct rule_set *s, unsigned way)
{
	if (s->rule == RULE_PLRU) {
		for (unsigned node = way + s->ways; node > 1; node /= 2)
			s->bit[node / 2] = !(node & 1);
		return;
	}
	s->used += !s->bit[way];
	s->bit[way] = 1;
	if (s->used < s->ways)
		return;
	memset(s->bit, 0, s->ways);
	s->bit[way] = s->ways > 1;
	s->used = s->bit[way];
}

bool rule_access(struct rule_set *s, uint16_t line)
{
	unsigned w = s->where[line];
	bool hit = w != 0;

	if (hit) {
		w--;
	} else {
		w = victim(s);
		if (s->line[w] != RULE_EMPTY)
			s->where[s->line[w]] = 0;
		s->line[w] = line;
		s->where[line] = (uint8_t)(w + 1);
	}
	if (!hit || s->rule == RULE_LRU)
		s->age[w] = ++s->stamp;
	if (s->rule == RULE_PLRU || s->rule == RULE_NRU)
		use(s, w);
	return hit;
}
