#include "model/rule.h"
#include <stddef.h>

/* ---- what a victim is ---- */

static unsigned oldest(const struct rule_view *v)
{
	return v->state->oldest;
}

/* The tree stands over the next power of two; beyond the ways it has only lower halves. */
static unsigned half_of_tree(unsigned ways)
{
	unsigned span = 1;

	while (span < ways)
		span <<= 1;
	return span / 2;
}

static unsigned tree_victim(const struct rule_view *v)
{
	unsigned node = 1, way = 0;

	for (unsigned half = half_of_tree(v->ways); half; half /= 2) {
		const bool upper = v->state->tree[node / 64] >> node % 64 & 1 && (way | half) < v->ways;
		way |= upper ? half : 0;
		node = 2 * node + upper;
	}
	return way;
}

static unsigned first_unused(const struct rule_view *v)
{
	for (unsigned w = 0; w < v->ways; w++)
		if (!v->way[w].used)
			return w;
	return 0;
}

static unsigned drawn_evenly(const struct rule_view *v)
{
	return (unsigned)rng_below(v->rng, v->ways);
}

static unsigned drawn_by_weight(const struct rule_view *v)
{
	double u = rng_unit(v->rng);

	for (unsigned w = 0; w + 1 < v->ways; w++) {
		u -= v->params->weight[w];
		if (u < 0)
			return w;
	}
	return v->ways - 1;
}

/* A listed way that the set does not have, as where shared memory took it, is passed by. */
static unsigned next_listed(const struct rule_view *v)
{
	const struct rule_params *p = v->params;
	uint32_t at = v->state->turn;

	while (p->schedule[at % p->schedule_count] >= v->ways)
		at++;
	if (!p->by_access)
		v->state->turn = (v->state->turn + 1) % p->schedule_count;
	return p->schedule[at % p->schedule_count];
}

/* ---- what a use leaves behind ---- */

static void renew(const struct rule_view *v, unsigned way)
{
	struct rule_state *s = v->state;
	struct rule_way *w = &v->way[way];

	if (way == s->newest)
		return;
	v->way[w->newer].older = w->older;
	if (way == s->oldest)
		s->oldest = w->newer;
	else
		v->way[w->older].newer = w->newer;
	v->way[s->newest].newer = (uint8_t)way;
	w->older = s->newest;
	s->newest = (uint8_t)way;
}

static void turn_tree(const struct rule_view *v, unsigned way)
{
	unsigned node = 1;

	for (unsigned half = half_of_tree(v->ways); half; half /= 2) {
		const bool upper = way & half;
		const uint64_t bit = 1ull << node % 64;
		if (upper)
			v->state->tree[node / 64] &= ~bit;
		else
			v->state->tree[node / 64] |= bit;
		node = 2 * node + upper;
	}
}

/* When all were used, all but the last one count as unused again. */
static void mark(const struct rule_view *v, unsigned way)
{
	v->way[way].used = true;
	for (unsigned w = 0; w < v->ways; w++)
		if (!v->way[w].used)
			return;
	for (unsigned w = 0; w < v->ways; w++)
		v->way[w].used = w == way && v->ways > 1;
}

static const struct row {
	const char *name;
	unsigned least; /* ways */
	bool tree;	/* of a power of two of ways only */
	unsigned (*victim)(const struct rule_view *v);
	void (*filled)(const struct rule_view *v, unsigned way); /* NULL: nothing changes */
	void (*used)(const struct rule_view *v, unsigned way);	 /* of a line that is there */
} row[] = {
    [RULE_LRU] = {"lru", 2, false, oldest, renew, renew},
    [RULE_FIFO] = {"fifo", 2, false, oldest, renew, NULL},
    [RULE_PLRU] = {"plru", 3, true, tree_victim, turn_tree, turn_tree},
    [RULE_NRU] = {"nru", 3, false, first_unused, mark, mark},
    [RULE_RANDOM] = {"random", 2, false, drawn_evenly, NULL, NULL},
    [RULE_WEIGHTED] = {"weighted", 2, false, drawn_by_weight, NULL, NULL},
    [RULE_SCHEDULE] = {"schedule", 2, false, next_listed, NULL, NULL},
};

const char *rule_name(enum rule r)
{
	return row[r].name;
}

bool rule_applies(enum rule r, unsigned ways)
{
	return ways >= row[r].least && (!row[r].tree || !(ways & (ways - 1)));
}

static unsigned way_of(const struct rule_view *v, uint64_t line)
{
	unsigned way = 0;

	while (way < v->ways && v->way[way].line != line)
		way++;
	return way;
}

static unsigned room_for(const struct rule_view *v)
{
	const unsigned empty = v->state->full ? v->ways : way_of(v, RULE_EMPTY);

	v->state->full = empty == v->ways;
	return empty < v->ways ? empty : row[v->params->rule].victim(v);
}

unsigned rule_use_at(const struct rule_view *v, uint64_t line, unsigned at, bool *found)
{
	const struct row *rule = &row[v->params->rule];

	if (v->params->by_access)
		v->state->turn = (v->state->turn + 1) % v->params->schedule_count;
	*found = at < v->ways && v->way[at].line == line;
	if (*found) {
		if (rule->used)
			rule->used(v, at);
		return at;
	}
	at = room_for(v);
	v->way[at].line = line;
	v->way[at].sectors = 0;
	if (rule->filled)
		rule->filled(v, at);
	return at;
}

unsigned rule_use(const struct rule_view *v, uint64_t line, bool *found)
{
	return rule_use_at(v, line, way_of(v, line), found);
}

void rule_empty(struct rule_way *way, struct rule_state *state, unsigned ways)
{
	*state = (struct rule_state){.newest = (uint8_t)(ways - 1)};
	for (unsigned w = 0; w < ways; w++)
		way[w] = (struct rule_way){.line = RULE_EMPTY, .older = (uint8_t)(w - 1), .newer = (uint8_t)(w + 1)};
}

void rule_start(struct rule_set *s, enum rule r, unsigned ways, uint64_t variant)
{
	uint64_t age[RULE_WAYS];
	struct rng rng;

	*s = (struct rule_set){.params.rule = r, .ways = ways};
	rule_empty(s->way, &s->state, ways);
	if (!variant)
		return;
	rng_seed(&rng, variant);
	for (unsigned w = 0; w < ways; w++) {
		age[w] = rng_next(&rng) >> 32;
		const uint64_t bit = rng_next(&rng) >> 63;
		/* Strange lines have numbers from the top, which nobody asks for. */
		s->way[w].line = RULE_EMPTY - 1 - w;
		s->way[w].used = r == RULE_NRU && w && bit; /* all used at once does not last */
		if (r == RULE_PLRU)
			s->state.tree[w / 64] |= bit << w % 64;
	}
	const struct rule_view v = {&s->params, ways, s->way, &s->state, NULL};
	for (unsigned n = 0; n < ways && row[r].victim == oldest; n++) {
		unsigned next = 0;
		for (unsigned w = 1; w < ways; w++)
			next = age[w] < age[next] ? w : next;
		renew(&v, next);
		age[next] = UINT64_MAX;
	}
}

bool rule_access(struct rule_set *s, uint64_t line)
{
	const struct rule_view v = {&s->params, s->ways, s->way, &s->state, NULL};
	bool found;

	rule_use(&v, line, &found);
	return found;
}
