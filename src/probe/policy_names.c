/* Ways that lost their names. A line that others put out of the set comes back as a miss that drew no way, as does a late hit that passes for a
 * miss; the reading then takes each of two lines to be where the other one is, and from there on the shares of their two ways, the last that
 * were read, are exchanged. */
#include "base/arena.h"
#include "model/rule.h"
#include "probe/policy.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BEAM   512u /* as many draws as an exchange may take to show */
#define ROUNDS 4u   /* of names by chances and chances by names */
#define UNLIKELY                                                                                                       \
	3 /* log of by how much likelier draws have to be for an exchange, beyond the best of all places by luck */
#define NO_EVENT UINT32_MAX

/* One way to name the ways, up to some draw. */
struct naming {
	double score;
	uint32_t newest; /* its last exchange, of the namings' common list */
	uint16_t name[RULE_WAYS];
};

struct exchange {
	uint32_t before, from; /* from: the first draw that is named otherwise */
	uint16_t one, other;
};

static int better(const void *a, const void *b)
{
	const double x = ((const struct naming *)a)->score, y = ((const struct naming *)b)->score;
	return (x < y) - (x > y);
}

/* The likeliest naming of all draws, the ways' chances given as logarithms. events: room for one a draw. */
static const struct naming *best_naming(struct naming *n, struct exchange *events, const struct policy_victims *v,
					unsigned ways, const double *chance)
{
	const double cost = log(v->count) + UNLIKELY;
	uint32_t count = 1, used = 0;

	n[0] = (struct naming){.newest = NO_EVENT};
	for (unsigned w = 0; w < ways; w++)
		n[0].name[w] = (uint16_t)w;
	for (uint32_t t = 0; t < v->count; t++) {
		uint32_t best = 0;
		for (uint32_t k = 0; k < count; k++) {
			n[k].score += chance[n[k].name[v->way[t]]];
			best = n[k].score > n[best].score ? k : best;
		}
		if (!t || v->way[t] == v->way[t - 1])
			continue;
		if (count == 2 * BEAM) {
			qsort(n, count, sizeof(*n), better);
			count = BEAM;
			best = 0;
		}
		struct naming *is = &n[count++];
		const uint16_t one = v->way[t - 1], other = v->way[t];
		*is = n[best];
		is->score -= cost;
		is->name[one] = n[best].name[other];
		is->name[other] = n[best].name[one];
		events[used] = (struct exchange){n[best].newest, t + 1, one, other};
		is->newest = used++;
	}
	uint32_t best = 0;
	for (uint32_t k = 1; k < count; k++)
		best = n[k].score > n[best].score ? k : best;
	return &n[best];
}

/* Names every draw so, from the last one back, and counts the ways. */
static void give_names(uint16_t *to, const struct naming *n, const struct exchange *events,
		       const struct policy_victims *v, unsigned ways, uint32_t *count)
{
	uint16_t name[RULE_WAYS];
	uint32_t at = n->newest;

	memcpy(name, n->name, sizeof(name));
	memset(count, 0, ways * sizeof(*count));
	for (uint32_t t = v->count; t-- > 0;) {
		for (; at != NO_EVENT && events[at].from > t; at = events[at].before) {
			const uint16_t was = name[events[at].one];
			name[events[at].one] = name[events[at].other];
			name[events[at].other] = was;
		}
		to[t] = name[v->way[t]];
		count[to[t]]++;
	}
}

static void chances(double *chance, const uint32_t *count, uint32_t draws, unsigned ways)
{
	for (unsigned w = 0; w < ways; w++)
		chance[w] = log((count[w] + 1.0) / (draws + ways));
}

bool policy_rename(struct arena *arena, uint16_t *victim, uint32_t draws, unsigned ways, double hold, uint32_t *count)
{
	struct naming *n = ARENA_ARRAY(arena, 2 * BEAM, struct naming);
	struct exchange *events = ARENA_ARRAY(arena, (size_t)draws + 1, struct exchange);
	uint16_t *read = ARENA_ARRAY(arena, (size_t)draws + 1, uint16_t);
	double chance[RULE_WAYS];

	if (!n || !events || !read || ways > RULE_WAYS)
		return false;
	memcpy(read, victim, draws * sizeof(*read));
	const struct policy_victims v = {.count = draws, .way = read};
	/* Shares of all draws are more even than the chances; those of some that hardly any exchange falls into are not. */
	const uint32_t some = hold < draws ? (uint32_t)hold : draws;
	memset(count, 0, ways * sizeof(*count));
	for (uint32_t t = 0; t < some; t++)
		count[read[t]]++;
	chances(chance, count, some, ways);
	for (unsigned k = 0; k < ROUNDS; k++) {
		give_names(victim, best_naming(n, events, &v, ways, chance), events, &v, ways, count);
		chances(chance, count, draws, ways);
	}
	return true;
}
