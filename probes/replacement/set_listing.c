/* Lines of one set that are listed because they conflict, and whether a plain set index would put them together. */
#include "replaced_level.h"
#include <math.h>
#include <stdio.h>

#define EXTRAS 6 /* lines that are tried as the one more of a set */

/* More lines of a listed set than were seen to conflict follow from how sets are made. */
static void name_more(const struct level *l, struct set_lines *set)
{
	set->lines = 2 * set->ways;
	for (unsigned k = set->ways + 1; k < 2 * set->ways; k++)
		if ((set_address(set, k) + l->line) > l->limit || (!l->unequal && set_address(set, k) < l->size)) {
			set->lines = set->ways + 1;
			break;
		}
}

enum chase_state level_list(const struct level *l, struct set_lines *set, char *why, size_t n)
{
	uint32_t total = (uint32_t)(l->line ? l->size / l->line : 0);
	unsigned best = 0;

	set->total = set->held = total;
	set->mode = l->unequal ? SET_DEALT : SET_HASHED;
	if (total >= 1u << 17 || (set_pages(l->path) && total >= SET_PAGES_MOST))
		return chase_why(why, n, "%u lines are too many to look for those of one set", total);
	set->bound = l->limit;
	struct set_lines found = *set;
	for (unsigned i = 0; i < EXTRAS && !best; i++) {
		struct set_lines one = *set;
		uint32_t extra = total + 5 * i;
		if ((extra + 1) * l->line > l->limit)
			break;
		enum chase_state state = set_conflicts(l->study, &one, total, extra, why, n);
		if (state == CHASE_PENDING)
			return state;
		if (state != CHASE_DONE)
			continue;
		/* Two ways do not tell many rules apart. */
		if (l->unequal ? one.ways < (l->largest > 2 ? 3 : 2) : one.ways != l->ways) {
			snprintf(why, n, "one more line conflicts with %u lines", one.ways);
			continue;
		}
		found = one;
		best = one.ways;
	}
	if (!best)
		return CHASE_UNDECIDED;
	*set = found;
	name_more(l, set);
	const uint32_t far = set_beyond(total);
	if (set->lines > set->ways + 1 || l->unequal || l->up || (far + 1) * l->line > l->limit ||
	    l->ways >= set_listed(far))
		return CHASE_DONE;
	/* Those that follow lie within the size again, unless the one more differs by more than any of its lines does. */
	found.ways = (unsigned)l->ways;
	enum chase_state state = set_conflicts(l->study, &found, total, far, why, n);
	if (state != CHASE_DONE || found.ways != l->ways)
		return state == CHASE_PENDING ? state : CHASE_DONE;
	found.total = far;
	name_more(l, &found);
	*set = found.lines > set->lines ? found : *set;
	return CHASE_DONE;
}

int level_tile(const struct level *l, const struct set_lines *set)
{
	const uint64_t total = l->line ? l->size / l->line : 0;

	for (unsigned t = 0; t <= TILE_MOST && l->sets; t++) {
		const uint64_t is = (set->listed[0] >> t) % l->sets;
		uint64_t same = 0;
		for (uint64_t n = 0; n < total; n++)
			same += (n >> t) % l->sets == is;
		bool all = same == set->ways;
		for (unsigned i = 1; i <= set->ways; i++)
			all = all && (set->listed[i] >> t) % l->sets == is;
		if (all)
			return (int)t;
	}
	return -1;
}
