#include "replaced_level.h"
#include "stat/stat.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define BETWEEN_MOST 160u
#define FLUSHES	     2
#define WIDE_MOST    6u
#define FLIP_BYTES   16
#define SPARE	     2 /* entries: of what the kernel reads and writes besides */

bool level_number(const struct level *l, const char *prefix, const char *what, uint64_t *v)
{
	double is;

	if (!study_number(l->study, KEY("%s.%s", prefix, what), &is) || !(is >= 1))
		return false;
	*v = (uint64_t)is;
	return true;
}

/* Ways and sets of a level above: of the largest of unequal sets, where lines one size further share the set. */
static bool sets_of(const struct level *l, const char *prefix, uint64_t *ways, uint64_t *sets)
{
	uint64_t size, line;

	if (level_number(l, prefix, "ways", ways) && level_number(l, prefix, "sets", sets))
		return true;
	const struct finding *f = study_finding(l->study, KEY("%s.set_sizes", prefix));
	if (!f || f->verdict != VERDICT_MEASURED || f->value.kind != VALUE_ARRAY ||
	    !level_number(l, prefix, "line", &line) ||
	    !level_number(l, prefix, set_pages(l->path) ? "reach" : "size", &size))
		return false;
	*ways = 1;
	for (unsigned i = 0; i < f->value.array_count; i++)
		*ways = f->value.array[i] > (double)*ways ? (uint64_t)f->value.array[i] : *ways;
	*sets = size / line;
	return true;
}

bool level_reads(const struct level *l, uint64_t lines, uint64_t bytes)
{
	if (l->spread && bytes <= l->apart && lines + SPARE <= l->entries / 2)
		return true;
	return bytes <= l->limit || (!l->up && bytes <= l->apart && lines + SPARE <= l->entries);
}

/* Over how many of so many sets of a level above, in tiles of its lines, the set's lines are spread. */
static unsigned sets_met(const struct set_lines *set, uint64_t line, uint64_t sets, unsigned tile)
{
	uint64_t seen[POLICY_SLOTS];
	unsigned met = 0;

	for (unsigned n = 0; n < set->ways && n < POLICY_SLOTS; n++) {
		uint64_t is = (set_address(set, n) / line >> tile) % sets;
		unsigned k = 0;
		while (k < met && seen[k] != is)
			k++;
		if (k == met)
			seen[met++] = is;
	}
	return met;
}

/* So that the level `up` above forgets. False: the set's own lines see to that, and no effort is made. */
static bool drive_out(const struct level *l, const char *up, const struct set_lines *list, struct set_lines *set,
		      unsigned effort)
{
	uint64_t line, ways, sets;

	set->between = set->flips = set->flipped = set->wide = 0;
	set->apart = 0;
	if (!level_number(l, up, "line", &line))
		return true;
	const unsigned tile = list && list->mode == SET_STRIDED ? list->tile : 0;
	if (!sets_of(l, up, &ways, &sets)) {
		/* Whatever its sets are, twice as much as it holds drives out all of it. */
		uint64_t size;
		if (!level_number(l, up, set_pages(l->path) ? "reach" : "size", &size) ||
		    FLUSHES * size > BETWEEN_MOST * line)
			return true;
		ways = FLUSHES * size / line;
		sets = 1;
	}
	const unsigned distinct = sets_met(set, line, sets, tile);
	/* As many as fit drive each other out there. */
	if (!effort && set->ways >= 2 * ways * distinct)
		return false;
	set->apart = line * sets << tile;
	for (unsigned i = 0; i < tile && line % FLIP_BYTES == 0 && set->mode == SET_STRIDED; i++)
		set->flip[set->flips++] = (uint32_t)((line << i) / FLIP_BYTES);
	/* Nothing is in the same set there and in another one here. */
	if (!set->flips && set->mode == SET_STRIDED && set->apart % set->stride == 0)
		return true;
	set->bound = set->mode == SET_STRIDED ? l->limit : set->total * set->line;
	if (l->spread)
		set->bound = least(set->bound, l->limit / 2);
	const uint64_t between = least((ways + ways / 4 + 2) << effort, BETWEEN_MOST);
	/* Within its own size are too few. */
	while (effort && set->mode == SET_DEALT && !set_pages(l->path) && set->wide < WIDE_MOST &&
	       set->bound / set->apart < 2 * between && 2 * set->bound <= l->limit) {
		set->wide++;
		set->bound *= 2;
	}
	/* The same few pages after each line: the caches behind the TLB should keep what lies there, or their misses are taken for its. Of
	 * pages so far apart every `turn`-th one is in the set itself. */
	if (set_pages(l->path) && set->mode == SET_STRIDED) {
		const uint64_t turn = set->stride / stat_gcd(set->stride, set->apart);
		set->bound = least(set->bound, (between + between / (turn - 1) + 3) * set->apart + l->line);
	}
	set->between = (unsigned)between;
	return true;
}

void level_between(const struct level *l, struct set_lines *set, unsigned effort)
{
	const struct set_lines *lists = l->lists;

	set->between = set->flips = set->flipped = 0;
	if (!l->up)
		return;
	/* If lines of the set drive each other out of the level above, the first level is what keeps them. */
	if (effort && l->top && !drive_out(l, l->up, lists ? &lists[l->depth - 1] : NULL, set, 0)) {
		drive_out(l, l->top, lists, set, effort);
		if (set->between)
			return;
	}
	drive_out(l, l->up, lists ? &lists[l->depth - 1] : NULL, set, effort);
}

bool level_kept(const struct level *l, const struct set_lines *set)
{
	uint64_t line, ways, sets, size;

	if (!l->up || set->between)
		return false;
	if (!level_number(l, l->up, "line", &line))
		return true;
	if (sets_of(l, l->up, &ways, &sets)) {
		const struct set_lines *above = l->lists ? &l->lists[l->depth - 1] : NULL;
		const unsigned tile = above && above->mode == SET_STRIDED ? above->tile : 0;
		return ways * sets_met(set, line, sets, tile) >= set->ways;
	}
	return !level_number(l, l->up, set_pages(l->path) ? "reach" : "size", &size) || size / line >= set->ways;
}

enum chase_state level_gap_behind(const struct level *l, struct set_lines *set, double *gap)
{
	char prefix[48], why[200];
	uint64_t size;
	double here, beyond;

	*gap = NAN;
	const char *dot = strrchr(l->next, '.');
	snprintf(prefix, sizeof(prefix), "%.*s", dot ? (int)(dot - l->next) : 0, l->next);
	const bool memory = !dot || strncmp(prefix, "memory", 6) == 0;
	/* Of a level between it and the memory nothing is known: what is far behind is not what is next. */
	if (!memory && !level_number(l, prefix, "size", &size))
		return CHASE_UNDECIDED;
	if (memory)
		size = 4 * l->size < l->limit ? 4 * l->size : l->limit;
	if (set_pages(l->path) || size < 2 * l->size || size > l->limit)
		return CHASE_UNDECIDED;
	set->bound = l->limit;
	const enum chase_state a = set_usual(l->study, set, l->size, l->line, &here, why, sizeof(why)),
			       b = set_usual(l->study, set, size, l->line, &beyond, why, sizeof(why));
	if (a == CHASE_PENDING || b == CHASE_PENDING)
		return CHASE_PENDING;
	if (a == CHASE_DONE && b == CHASE_DONE && beyond > here)
		*gap = beyond - here;
	return CHASE_DONE;
}

double level_spread(const struct level *l)
{
	const struct finding *f = study_finding(l->study, "cache.global.l2.latency_classes");
	double size;

	if (l->path != SET_PAST_L1 && l->path != SET_PAGES && !(l->path == SET_TEXTURE_PAGES && set_common(l->study)) &&
	    ((l->path != SET_TEXTURE && l->path != SET_READONLY) ||
	     !study_number(l->study, "cache.global.l2.size", &size) || size != (double)l->size))
		return 0;
	return f && f->verdict == VERDICT_MEASURED && f->value.array_count == 2 ? f->value.array[1] - f->value.array[0]
										: 0;
}
