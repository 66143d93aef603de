#include "replaced_level.h"
#include "stat/stat.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define BETWEEN_MOST 160u
#define FLUSHES	     2
#define WIDE_MOST    6u
#define OVER	     2 /* times what levels above hold: a lap over whole lines of one set */
#define NEAR	     3 /* ticks, and the clock's steps: hits of a level above that are faster by twice that are told */
#define FLIP_BYTES   16
#define FLIP_MOST    (1u << 25)
#define SETS_LED     4
#define PAGE_LEAST   4096u /* bytes: no page is smaller */
#define SPARE	     2	   /* entries: of what the kernel reads and writes besides */

bool level_number(const struct level *l, const char *prefix, const char *what, uint64_t *v)
{
	char key[96];
	double is;

	snprintf(key, sizeof(key), "%s.%s", prefix, what);
	if (!study_number(l->study, key, &is) || !(is >= 1))
		return false;
	*v = (uint64_t)is;
	return true;
}

/* Ways and sets of a level above: of the largest of unequal sets, where lines one size further share the set. */
static bool sets_of(const struct level *l, const char *prefix, uint64_t *ways, uint64_t *sets)
{
	char key[96];
	uint64_t size, line;

	if (level_number(l, prefix, "ways", ways) && level_number(l, prefix, "sets", sets))
		return true;
	snprintf(key, sizeof(key), "%s.set_sizes", prefix);
	const struct finding *f = study_finding(l->study, key);
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
	return bytes <= l->limit || (!l->up && bytes <= l->apart && (l->led || lines + SPARE <= l->entries));
}

bool level_can_lead(const struct level *l)
{
	const uint64_t need = (l->ways + 1) * l->line * l->sets;

	return !l->up && !l->unequal && !l->lent &&
	       (l->path == SET_PAST_L1 || l->path == SET_TEXTURE || l->path == SET_READONLY) && l->sets >= SETS_LED &&
	       !(l->line & (l->line - 1)) && l->line >= FLIP_BYTES && 2 * l->line <= PAGE_LEAST && need <= l->apart &&
	       !level_reads(l, l->ways + 1, need);
}

/* Before each line one that differs from it in the last bit of its number: in the same page, and in a set beside. */
static void lead(const struct level *l, struct set_lines *set)
{
	set->led = true;
	set->between = set->flips = set->flipped = 1;
	set->flip[0] = (uint32_t)(l->line / FLIP_BYTES);
	set->apart = 0;
	set->bound = (2ull * set->ways + 1) * set->stride;
}

/* One more of the flips, unless it follows from those before. */
static void add_flip(struct set_lines *set, uint64_t *reduced, uint64_t flip)
{
	uint64_t rest = flip;

	for (unsigned k = 0; k < set->flips; k++)
		rest = (rest ^ reduced[k]) < rest ? rest ^ reduced[k] : rest;
	if (!rest || flip >= FLIP_MOST)
		return;
	reduced[set->flips] = rest;
	set->flip[set->flips++] = (uint32_t)flip;
}

/* Lines that share a set with each line in a level above whose sets are hashed: those differ as lines of one set there do. */
static void by_flips(const struct level *l, const struct set_lines *list, struct set_lines *set, unsigned effort)
{
	const uint64_t need = least((list->ways + list->ways / 4 + 2) << effort, BETWEEN_MOST);
	uint64_t reduced[SET_FLIPS];
	char why[240];

	set->bound = l->limit;
	for (unsigned i = 1; i <= list->ways && set->flips < SET_FLIPS && 1u << set->flips <= 2 * need; i++)
		add_flip(set, reduced, (list->listed[i] ^ list->listed[0]) * list->line / FLIP_BYTES);
	/* Lines beyond all that it holds, where those are too few. */
	for (uint32_t far = set_beyond(list->held);
	     effort && set->flips < SET_FLIPS && 1u << set->flips <= 2 * need && (far + 1) * list->line <= l->limit;
	     far *= 2) {
		struct set_lines one = *list;
		if (set_conflicts(l->study, &one, list->held, far, why, sizeof(why)) == CHASE_DONE &&
		    one.ways == list->ways)
			add_flip(set, reduced, (far ^ one.listed[0]) * list->line / FLIP_BYTES);
	}
	set->flipped = (unsigned)least(need, set_flipped(set));
	if (set->flipped < list->ways || set->between + set->flipped > BETWEEN_MOST)
		set->flips = set->flipped = 0;
	set->between += set->flipped;
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
	set->within = false;
	set->apart = 0;
	if (!level_number(l, up, "line", &line))
		return true;
	const unsigned tile = list && list->mode == SET_STRIDED ? list->tile : 0;
	if (list && list->ways && list->mode == SET_HASHED && set->mode == SET_STRIDED && !set_pages(l->path)) {
		by_flips(l, list, set, effort);
		if (set->between)
			return true;
	}
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
	if (l->led && set->mode == SET_STRIDED)
		lead(l, set);
	if (!l->up)
		return;
	/* Where lines of the set drive each other out of the level above, it is the first one that keeps them. */
	if (effort && l->top && !drive_out(l, l->up, lists ? &lists[l->depth - 1] : NULL, set, 0)) {
		drive_out(l, l->top, lists, set, effort);
		if (set->between)
			return;
	}
	drive_out(l, l->up, lists ? &lists[l->depth - 1] : NULL, set, effort);
	if (effort && l->top && lists && lists[0].ways && lists[0].mode == SET_HASHED && !set->flips &&
	    set->mode == SET_STRIDED)
		by_flips(l, lists, set, effort - 1);
}

/* The shortest line of the level and of those above it, and the size of the largest of those. False: not all are known. */
static bool shape_above(const struct level *l, uint64_t *finest, uint64_t *most)
{
	const char *above[] = {l->up, l->top};

	*finest = l->line;
	*most = 0;
	for (size_t i = 0; i < sizeof(above) / sizeof(above[0]); i++) {
		uint64_t line, size;
		if (!above[i])
			continue;
		if (!level_number(l, above[i], "line", &line) || !level_number(l, above[i], "size", &size))
			return false;
		*finest = least(*finest, line);
		*most = size > *most ? size : *most;
	}
	return true;
}

bool level_sweep(const struct level *l, struct set_lines *set)
{
	uint64_t finest, most;

	if (!shape_above(l, &finest, &most) || 2 * l->size < 3 * most || !l->up || set_pages(l->path) ||
	    set->mode != SET_HASHED || finest % FLIP_BYTES)
		return false;
	const uint64_t between = l->size / finest / set->ways;
	set->flips = set->flipped = 0;
	set->apart = finest;
	set->bound = set->total * set->line;
	set->between = (unsigned)least(between + between / 4 + 2, BETWEEN_MOST);
	return true;
}

bool level_within(const struct level *l, struct set_lines *set)
{
	uint64_t finest, most;

	if (!shape_above(l, &finest, &most) || set->ways * l->line < OVER * most || !l->up || set_pages(l->path) ||
	    l->led || finest >= l->line || l->line % finest || l->line / finest > BETWEEN_MOST ||
	    !(set->known.above > 2 * (NEAR + set->known.grain)))
		return false;
	set->flips = set->flipped = set->wide = 0;
	set->within = true;
	set->apart = finest;
	set->between = (unsigned)(l->line / finest - 1);
	return true;
}

uint64_t level_step(const struct level *l)
{
	const char *above[] = {l->up, l->top};
	uint64_t lines = 0, step = l->line, finest = 1;

	for (size_t i = 0; i < sizeof(above) / sizeof(above[0]); i++) {
		uint64_t line, size;
		if (!above[i])
			continue;
		if (!level_number(l, above[i], "line", &line) || !level_number(l, above[i], "size", &size))
			return 0;
		lines = size / line > lines ? size / line : lines;
		finest = line > finest ? line : finest;
	}
	/* Of steps within a line of a level above most would hit there. */
	while (l->size / step < 2 * lines && step % 2 == 0 && step / 2 >= finest)
		step /= 2;
	return step < l->line && l->size / step >= 2 * lines ? step : 0;
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

enum chase_state level_depth(const struct level *l, struct set_lines *set, char *why, size_t n)
{
	char nearest[48];
	uint64_t size = 0, line = 0, near_size = 0, near_line = 0;
	double here, up, near;

	snprintf(why, n, "its latency has to be known, so that hits are not taken for those above it");
	const char *dot = l->nearest ? strrchr(l->nearest, '.') : NULL;
	if (!dot || set_pages(l->path))
		return CHASE_UNDECIDED;
	snprintf(nearest, sizeof(nearest), "%.*s", (int)(dot - l->nearest), l->nearest);
	if (!level_number(l, l->up, "size", &size) || !level_number(l, l->up, "line", &line) ||
	    !level_number(l, nearest, "size", &near_size) || !level_number(l, nearest, "line", &near_line) ||
	    l->size < 2 * size || l->size > l->limit)
		return CHASE_UNDECIDED;
	set->bound = l->limit;
	const enum chase_state a = set_usual(l->study, set, l->size, line, &here, why, n),
			       b = set_usual(l->study, set, size, line, &up, why, n),
			       c = set_usual(l->study, set, near_size / 2, near_line, &near, why, n);
	if (a == CHASE_UNDECIDED || b == CHASE_UNDECIDED || c == CHASE_UNDECIDED)
		return CHASE_UNDECIDED;
	if (a == CHASE_PENDING || b == CHASE_PENDING || c == CHASE_PENDING)
		return CHASE_PENDING;
	/* Of one level, two walks may say what is a hair apart. */
	if (strcmp(nearest, l->up) == 0)
		near = up;
	snprintf(why, n, "walks over what it holds are not slower than over what the level above holds");
	if (!(here > up) || !(up >= near))
		return CHASE_UNDECIDED;
	set->known.above = here - up;
	set->known.deep = here - near;
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
