/* Victims that a clockwork names. A pointer goes round a list of ways, moved on by every access to the set or by every
 * miss. */
#include "data/schedule.h"
#include "probe/policy.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define WRONG 0.01 /* of the victims may be others: their accesses were misread */
#define EACH  4u   /* victims that every place of the list has to have */
#define TIMES 8u   /* and all of them on average */
#define FIRST 4u   /* victims for each way that do not count */

enum step { ACCESS, MISS, STEPS };
static const char *const steps[STEPS] = {"access", "miss"};

/* The list of so many places that most victims follow; false: some do not, or a place has none. */
static bool follows(const struct policy_victims *v, enum step step, uint32_t places, unsigned ways, uint16_t *list)
{
	static const uint16_t none[SCHEDULE_WAYS] = {0};
	uint32_t wrong = 0;

	if (v->count < TIMES * places)
		return false;
	for (uint32_t k = 0; k < places; k++) {
		uint16_t count[SCHEDULE_WAYS];
		uint32_t here = 0;
		memcpy(count, none, sizeof(count));
		for (uint32_t i = 0; i < v->count; i++)
			if ((step == ACCESS ? v->turn[i] : i) % places == k) {
				count[v->way[i]]++;
				here++;
			}
		list[k] = 0;
		for (unsigned w = 1; w < ways; w++)
			list[k] = count[w] > count[list[k]] ? (uint16_t)w : list[k];
		if (here < EACH)
			return false;
		wrong += here - count[list[k]];
		if (wrong > WRONG * v->count)
			return false;
	}
	return true;
}

/* A way that never goes is rather one whose lines were misread. */
static bool has_all(const uint16_t *list, uint32_t places, unsigned ways)
{
	bool seen[SCHEDULE_WAYS] = {false};
	unsigned n = 0;

	for (uint32_t k = 0; k < places; k++) {
		n += !seen[list[k]];
		seen[list[k]] = true;
	}
	return n == ways;
}

/* The shortest list of each step that most of the victims follow, and how many places it has; 0: none. */
static void shortest(const struct policy_victims *v, unsigned ways, uint16_t list[STEPS][SCHEDULE_MOST],
		     uint32_t places[STEPS])
{
	for (enum step s = 0; s < STEPS; s++) {
		places[s] = 0;
		for (uint32_t n = 1; n <= SCHEDULE_MOST && !places[s]; n++)
			places[s] = follows(v, s, n, ways, list[s]) ? n : 0;
	}
}

enum chase_state policy_schedule(const struct policy_victims *all, unsigned ways, struct policy_result *out)
{
	/* At first strange lines go, of which nobody knows the ways. */
	const uint32_t first = FIRST * ways < all->count / 4 ? FIRST * ways : all->count / 4;
	const struct policy_victims rest = {all->count - first, all->way + first, all->turn + first}, *v = &rest;
	uint16_t list[STEPS][SCHEDULE_MOST];
	uint32_t places[STEPS];

	if (ways > SCHEDULE_WAYS || ways > VALUE_ARRAY_MAX)
		return CHASE_UNDECIDED;
	shortest(v, ways, list, places);
	if (!places[ACCESS] == !places[MISS])
		return CHASE_UNDECIDED;
	const enum step s = places[ACCESS] ? ACCESS : MISS;
	/* All of them in turn, with every miss, are first in, first out. */
	if (!has_all(list[s], places[s], ways) || (s == MISS && places[s] == ways))
		return CHASE_UNDECIDED;
	out->state = CHASE_DONE;
	out->name = "schedule";
	out->step = steps[s];
	out->half = 0;
	memset(out->chance, 0, sizeof(out->chance));
	for (uint32_t k = 0; k < places[s]; k++)
		out->chance[list[s][k]] += 1.0 / places[s];
	for (unsigned w = 0; w < ways; w++)
		out->chance[w] = round(out->chance[w] * 1e4) / 1e4;
	schedule_text(out->schedule, sizeof(out->schedule), list[s], places[s]);
	snprintf(
	    out->seen, sizeof(out->seen),
	    "each of %u replaced lines was in the way that a list of %u says, one further with every %s; no shorter "
	    "list does, and none that goes on with every %s",
	    v->count, places[s], out->step, steps[!s]);
	return CHASE_DONE;
}
