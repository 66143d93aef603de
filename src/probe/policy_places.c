/* Where lines lie, taken out of what accesses to them take. What lies behind a level may be near or far, and as much farther as a miss
 * costs: then a hit there is a miss here, and only the accesses to one place say what they are, by one another. */
#include "base/arena.h"
#include "probe/policy.h"
#include <stdlib.h>
#include <string.h>

#define NEAR	   3	/* ticks, and the clock's steps */
#define OFTEN	   0.05 /* of a place's accesses take the least that it takes, and two of them do */
#define EACH_SHARE 0.1	/* of a place's accesses, and more, hit, and as many miss, where both are told */

static int ascending(const void *a, const void *b)
{
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return (x > y) - (x < y);
}

/* The least of n ticks, sorted, that comes up often: nothing is ever early but what something else has answered. 0: none does. */
static uint32_t least_often(const uint32_t *v, uint32_t n, double near)
{
	for (uint32_t i = 0; i < n; i++) {
		uint32_t k = i;
		while (k < n && v[k] - v[i] <= near)
			k++;
		if (k - i >= 2 && k - i >= OFTEN * n)
			return v[i];
	}
	return 0;
}

bool policy_same_place(const struct policy_level *l, const struct policy_sequence *q, const struct policy_places *at,
		       uint32_t *ticks)
{
	struct arena *a = study_arena(l->study);
	uint32_t *from = ARENA_ARRAY(a, at->count + 1, uint32_t), *next = ARENA_ARRAY(a, at->count + 1, uint32_t),
		 *sorted = ARENA_ARRAY(a, q->count, uint32_t), *base = ARENA_ARRAY(a, at->count, uint32_t);
	uint32_t first = UINT32_MAX;

	if (!from || !next || !sorted || !base)
		return false;
	for (uint32_t i = TRACE_LEAD; i < q->count; i++)
		if (ticks[i] >= l->known.front)
			from[at->place[i] + 1]++;
	for (uint32_t n = 0; n < at->count; n++)
		from[n + 1] += from[n];
	memcpy(next, from, (at->count + 1) * sizeof(*next));
	for (uint32_t i = TRACE_LEAD; i < q->count; i++)
		if (ticks[i] >= l->known.front)
			sorted[next[at->place[i]]++] = ticks[i];
	for (uint32_t n = 0; n < at->count; n++) {
		const uint32_t visits = from[n + 1] - from[n];
		qsort(sorted + from[n], visits, sizeof(*sorted), ascending);
		base[n] = least_often(sorted + from[n], visits, NEAR + l->known.grain);
		first = base[n] && base[n] < first ? base[n] : first;
	}
	for (uint32_t i = 0; i < q->count; i++) {
		const uint32_t is = base[at->place[i]];
		if (is && ticks[i] >= l->known.front)
			ticks[i] -= is - first < ticks[i] ? is - first : ticks[i];
	}
	return first != UINT32_MAX;
}

bool policy_told_places(struct arena *a, const struct policy_sequence *q, const struct policy_places *at, uint8_t *seen)
{
	struct told {
		uint32_t of[TRACE_UNSURE + 1];
	} *told = ARENA_ARRAY(a, at->count, struct told);

	if (!told)
		return false;
	for (uint32_t i = TRACE_LEAD; i < q->count; i++)
		told[at->place[i]].of[seen[i]]++;
	for (uint32_t i = 0; i < q->count; i++) {
		const uint32_t *n = told[at->place[i]].of, all = n[TRACE_HIT] + n[TRACE_MISS] + n[TRACE_UNSURE];
		if (seen[i] != TRACE_ABOVE && (n[TRACE_HIT] < EACH_SHARE * all || n[TRACE_MISS] < EACH_SHARE * all))
			seen[i] = TRACE_UNSURE;
	}
	return true;
}
