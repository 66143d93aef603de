/* Ways and sets of one level, from lines that conflict. */
#include "base/arena.h"
#include "probe/chase_shape.h"
#include "stat/stat.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SETS_TRIED   4
#define LINES_MOST   1536 /* that are looked at set by set: sets of 48, as many as are few */
#define OFFSETS_MOST 512
#define EXTRAS_MOST  (4 * CHASE_SETS) /* lines beyond, where sets are few and the smallest may come last */

#define AHEAD 8 /* looks at once, where each may spare others */

struct conflict { /* lines of one set */
	uint32_t ways;
	uint32_t run;	  /* so many lie side by side at least */
	uint64_t spacing; /* bytes between them, 0 = not even */
	uint64_t grid;	  /* what all distances between them have in common */
	struct chase_blocks blocks;
};

/* Two conflicts are about one set or two: all lines in common, or none. What some share is somebody else's line in a third set. */
static bool comparable(const struct conflict *a, const struct conflict *b)
{
	uint32_t common = 0, of_a = 0, of_b = 0;
	if (a->blocks.count != b->blocks.count || a->blocks.unit != b->blocks.unit)
		return true;
	for (uint32_t i = 0; i < a->blocks.count; i++) {
		common += a->blocks.hot[i] && b->blocks.hot[i];
		of_a += a->blocks.hot[i];
		of_b += b->blocks.hot[i];
	}
	return !common || (common == of_a && common == of_b);
}

static enum chase_state conflict_at(struct chase_path *c, unsigned k, uint64_t start, uint64_t extra,
				    struct conflict *out)
{
	struct chase_level *l = &c->level[k];
	uint64_t line = l->line.value, last = UINT64_MAX;
	/* Whole lines are enough where no level above could keep them all. */
	uint64_t stride = k ? chase_shape_step(c, k, line, (double)l->size.value) : line;
	struct chase_blocks found;
	enum chase_state state = chase_conflicting(c, k, start, extra, stride, &found);

	*out = (struct conflict){.blocks = found};
	/* Full sets have no room for one more line, wherever it lies. */
	l->has_room = l->has_room || found.settled;
	if (state != CHASE_DONE || !found.hot)
		return state;
	bool even = true;
	uint32_t run = 0;
	for (uint32_t i = 0; i <= found.count; i++) {
		if (i < found.count && !found.hot[i])
			continue;
		uint64_t at = (i < found.count ? start + i * found.unit : extra) / line * line;
		if (at == last)
			continue;
		if (last != UINT64_MAX && at != last + line) {
			out->run = out->run && out->run < run ? out->run : run;
			run = 0;
		}
		run++;
		if (last != UINT64_MAX && i == found.count && out->spacing) {
			/* The one more may lie some steps on. */
			even = even && (at - last) % out->spacing == 0;
			out->grid = stat_gcd(out->grid, at - last);
		} else if (last != UINT64_MAX) {
			even = even && (!out->spacing || at - last == out->spacing);
			out->spacing = at - last;
			out->grid = stat_gcd(out->grid, at - last);
		}
		last = at;
		out->ways += i < found.count;
	}
	if (!even)
		out->spacing = 0;
	return CHASE_DONE;
}

/* Looks at the sets one after the other, until every line of the footprint was seen to conflict with one more line, each in one
 * set only. Lines are dealt round the sets in some way, so those that come next find all of them, and as a rule begin the round anew: where
 * `pass` says so, those that would then share a set with a line whose set is known are left out. No set of more lines than `most` counts.
 * UNDECIDED: some never did. */
static enum chase_state every_set(struct chase_path *c, unsigned k, uint32_t run, uint64_t sets, bool pass,
				  uint32_t most, uint32_t *size, uint32_t *count)
{
	struct chase_level *l = &c->level[k];
	uint64_t line = l->line.value, lines = l->size.value / line, seen = 0;
	uint8_t *set_of = ARENA_ARRAY(study_arena(c->study), lines, uint8_t);
	enum chase_state all = CHASE_DONE;
	unsigned ahead = 0;

	*count = 0;
	snprintf(c->why, sizeof(c->why), "out of memory");
	for (uint64_t i = 0; set_of && seen < lines && *count < CHASE_SETS && i < sets; i++) {
		uint64_t extra = l->size.value + i * run * line;
		struct conflict found;
		if (extra + l->stride > c->limit || ahead >= AHEAD)
			break;
		if (pass && set_of[i * run % lines])
			continue;
		enum chase_state state = conflict_at(c, k, 0, extra, &found);
		if (state == CHASE_UNDECIDED)
			return state;
		if (state == CHASE_PENDING)
			all = state;
		ahead += pass && state == CHASE_PENDING;
		if (all != CHASE_DONE || !found.ways || found.ways > most)
			continue;
		uint64_t before = UINT64_MAX, known = 0;
		for (uint32_t b = 0; b < found.blocks.count; b++) {
			uint64_t at = b * found.blocks.unit / line;
			if (!found.blocks.hot[b] || at == before)
				continue;
			before = at;
			known += set_of[at] != 0;
			set_of[at] = set_of[at] ? set_of[at] : (uint8_t)(*count + 1);
		}
		if (known && known != found.ways) {
			snprintf(c->why, sizeof(c->why), "lines of several sets miss with one more line");
			return CHASE_UNDECIDED;
		}
		if (known)
			continue;
		size[(*count)++] = found.ways;
		seen += found.ways;
	}
	if (all != CHASE_DONE)
		return all;
	if (seen == lines)
		return CHASE_DONE;
	snprintf(c->why, sizeof(c->why), "%u sets that were seen hold %llu lines of %llu", *count,
		 (unsigned long long)seen, (unsigned long long)lines);
	return CHASE_UNDECIDED;
}

static int compare_size(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return x < y ? -1 : x > y;
}

/* One set as large as several of the others, which are all alike: what missed in one look may have been lines of so many sets, some of them for
 * another reason. size: sorted. */
static bool is_lump(const uint32_t *size, uint32_t count)
{
	return count > 1 && size[0] == size[count - 2] && size[count - 1] > size[0] && size[count - 1] % size[0] == 0;
}

/* Few sets: all are looked at. Decides ways and sets where they differ, and else leaves them to the caller. whole: sets as large as
 * the largest seen would hold every line; then some of which a line was not seen to miss are no other sets. largest: lines of a set
 * that were seen. parted: sets that were seen differ, and others were not. */
static enum chase_state few_sets(struct chase_path *c, unsigned k, uint32_t run, uint32_t least, uint32_t most,
				 bool whole, bool *differ, bool *parted, uint32_t *largest)
{
	struct chase_level *l = &c->level[k];
	/* Where they differ, most are of neither size. */
	const uint32_t usual = (least + most) / 2;
	uint64_t lines = l->size.value / l->line.value, likely = (lines + usual - 1) / usual;
	uint32_t size[CHASE_SETS], count;

	*differ = *parted = false;
	*largest = 0;
	if (likely > CHASE_SETS + CHASE_SETS / 4 || lines > LINES_MOST)
		return CHASE_DONE; /* more than few, or all of them would take long to look at */
	enum chase_state state = every_set(c, k, run, likely, false, UINT32_MAX, size, &count);
	if (state == CHASE_UNDECIDED && likely < CHASE_SETS)
		state = every_set(c, k, run, lines <= EXTRAS_MOST ? EXTRAS_MOST : CHASE_SETS, false, UINT32_MAX, size,
				  &count);
	if (state == CHASE_UNDECIDED && count < CHASE_SETS)
		state = every_set(c, k, run, lines, true, UINT32_MAX, size, &count);
	qsort(size, count, sizeof(*size), compare_size);
	if (state == CHASE_DONE && is_lump(size, count))
		state = every_set(c, k, run, 4 * likely, true, size[0], size, &count);
	if (state == CHASE_PENDING)
		return state;
	*largest = count ? size[count - 1] : 0;
	*parted = state == CHASE_UNDECIDED && count > 1 && size[0] != size[count - 1];
	/* Some more than were looked at, which are alike: as of many sets, some do for all. */
	if (state == CHASE_UNDECIDED && likely > CHASE_SETS && count == CHASE_SETS &&
	    size[whole ? count / 4 : 0] == size[count - 1])
		return CHASE_DONE;
	if (state != CHASE_DONE)
		return state;
	*differ = size[0] != size[count - 1];
	if (!*differ)
		return CHASE_DONE;
	memcpy(l->set_size, size, count * sizeof(*size));
	l->unequal = count;
	chase_decided(&l->sets, count);
	snprintf(c->why, sizeof(c->why), "its sets differ: %u to %u lines", size[0], size[count - 1]);
	return chase_undecided(&l->ways, c->why);
}

/* Hashed sets fill evenly from some addresses on only. From there on one line more fits than from elsewhere. */
static enum chase_state largest_start(struct chase_path *c, unsigned k, uint64_t bytes, uint64_t starts, bool *found)
{
	uint64_t line = c->level[k].line.value;
	enum chase_state all = CHASE_DONE;

	*found = false;
	for (uint64_t i = 0; i < starts; i++) {
		if (i * line + bytes > c->limit) {
			snprintf(c->why, sizeof(c->why),
				 "sets are hashed, and a larger footprint that fits may start beyond reach");
			return CHASE_UNDECIDED;
		}
		bool fits;
		enum chase_state state = chase_fits(
		    c, k, &(struct chase_ring_spec){.start = i * line, .bytes = bytes, .stride = c->level[k].stride},
		    &fits, NULL);
		if (state == CHASE_UNDECIDED)
			return state;
		if (state == CHASE_PENDING)
			all = state;
		else if (fits)
			*found = true;
	}
	return all;
}

/* The size was found from address 0 on; with hashed sets it can be a few lines short. Tries the next sizes that whole
 * ways would make. */
static enum chase_state correct_hashed(struct chase_path *c, unsigned k, uint64_t ways)
{
	struct chase_level *l = &c->level[k];
	uint64_t whole = ways * l->line.value, sets = (l->size.value + whole - 1) / whole;

	if (l->size.value % whole == 0) {
		/* A power of two sets: address 0 is where they begin. Else one more set must not fit anywhere. */
		if (!(sets & (sets - 1)))
			return CHASE_DONE;
		sets++;
	}
	for (;; sets++) {
		bool found;
		if (sets > OFFSETS_MOST) {
			snprintf(c->why, sizeof(c->why), "sets are hashed and too many to try every start");
			return CHASE_UNDECIDED;
		}
		enum chase_state state = largest_start(c, k, sets * whole, sets, &found);
		if (state != CHASE_DONE)
			return state;
		if (!found)
			break;
		l->size.value = sets * whole;
	}
	if (l->size.value % whole == 0)
		return CHASE_DONE;
	snprintf(c->why, sizeof(c->why), "sets are hashed, and no start lets whole ways of %llu lines fit",
		 (unsigned long long)ways);
	return CHASE_UNDECIDED;
}

static enum chase_state ways_of(struct chase_path *c, unsigned k)
{
	struct chase_level *l = &c->level[k];
	uint64_t size = l->size.value, line = l->line.value;
	uint64_t unit = l->sector.state == CHASE_DONE && l->sector.value > l->stride ? l->sector.value : l->stride;

	if (l->line.state != CHASE_DONE) {
		l->sets.state = l->ways.state = l->line.state;
		if (l->line.state == CHASE_UNDECIDED) {
			chase_undecided(&l->sets, "its line is not known");
			chase_undecided(&l->ways, "its line is not known");
		}
		return l->ways.state;
	}
	static const unsigned tried[SETS_TRIED] = {0, 1, 3, 0};
	enum chase_state all = CHASE_DONE;
	uint32_t least = UINT32_MAX, most = 0, seen = 0, run = UINT32_MAX;
	uint64_t spacing = 0, grid = UINT64_MAX; /* grid: of all conflicts, 0 if they differ */
	bool modulo = true, apart = true, spared = true, regular = true;
	struct conflict kept[SETS_TRIED];
	for (unsigned i = 0; i < SETS_TRIED; i++) {
		/* The last one is where the line was looked for, too. */
		uint64_t extra = i + 1 < SETS_TRIED ? size + tried[i] * line : chase_line_extra(size, 1, unit);
		struct conflict found;
		if (extra + l->stride > c->limit)
			break;
		enum chase_state state = conflict_at(c, k, 0, extra, &found);
		if (state == CHASE_PENDING) {
			all = state;
			continue;
		}
		if (state == CHASE_UNDECIDED) {
			chase_undecided(&l->sets, c->why);
			return chase_undecided(&l->ways, c->why);
		}
		if (!found.ways) { /* it found room */
			modulo = false;
			continue;
		}
		least = found.ways < least ? found.ways : least;
		most = found.ways > most ? found.ways : most;
		run = found.run && found.run < run ? found.run : run;
		regular = regular && found.spacing && (!spacing || spacing == found.spacing);
		modulo = modulo && regular;
		spacing = found.spacing;
		/* On a grid that would hold more of them: some policies never give up the others. */
		spared = spared && found.grid > line && size / found.grid > found.ways;
		grid = grid == UINT64_MAX || grid == found.grid ? found.grid : 0;
		for (unsigned q = 0; q < seen; q++)
			apart = apart && comparable(&kept[q], &found);
		kept[seen++] = found;
	}
	if (all != CHASE_DONE)
		return l->sets.state = l->ways.state = all;
	uint32_t full = 0;
	for (unsigned i = 0; i < seen; i++)
		full += kept[i].ways == most;
	if (!seen) {
		chase_undecided(&l->sets, c->why);
		return chase_undecided(&l->ways, c->why);
	}
	if (!apart) {
		snprintf(c->why, sizeof(c->why),
			 "one more line makes lines of several sets miss, as others' lines in "
			 "them would: %u lines",
			 most);
		chase_undecided(&l->sets, c->why);
		return chase_undecided(&l->ways, c->why);
	}
	/* Sets that are a grid of as many lines each as were seen to conflict in most of them; in others a line was not seen to miss,
	 * because it seldom is what goes. */
	const bool whole = grid > line && most * grid == size && 2 * full >= seen && 4 * least >= 3 * most;
	bool differ, parted = false;
	uint32_t largest = UINT32_MAX;
	/* Where one set is all there is, nothing lies between its lines. */
	run = run == UINT32_MAX ? 1 : run;
	enum chase_state few = CHASE_DONE;
	if (least)
		few = few_sets(c, k, run, least, most, whole, &differ, &parted, &largest);
	if (few == CHASE_PENDING)
		return l->sets.state = l->ways.state = few;
	if (least && differ)
		return l->ways.state;
	/* But none of them may have more. */
	if (least < most && whole && largest <= most) {
		chase_decided(&l->sets, grid / line);
		return chase_decided(&l->ways, most);
	}
	if (least == most && few == CHASE_UNDECIDED) {
		l->uneven = parted;
		chase_undecided(&l->sets, c->why);
		return chase_undecided(&l->ways, c->why);
	}
	if (least != most || !least) {
		l->uneven = least && least < most;
		snprintf(
		    c->why, sizeof(c->why),
		    "one more line conflicts with %u to %u lines: its sets differ, or some conflicts were not seen",
		    least, most);
		chase_undecided(&l->sets, c->why);
		return chase_undecided(&l->ways, c->why);
	}
	if (!modulo && (uint64_t)most * line >= size) {
		snprintf(c->why, sizeof(c->why),
			 "one more line makes lines of several sets miss, as others' lines in them would: %u lines",
			 most);
		chase_undecided(&l->sets, c->why);
		return chase_undecided(&l->ways, c->why);
	}
	modulo = modulo && spacing * most == size;
	if (!modulo && spared && most > 1) {
		snprintf(c->why, sizeof(c->why),
			 "%u lines miss, which lie as regularly as more lines would: its policy may never give up the "
			 "others",
			 most);
		chase_undecided(&l->sets, c->why);
		return chase_undecided(&l->ways, c->why);
	}
	/* Lines as far apart everywhere are no hash's doing, and where one more of them fits beside as many in some sets and not in others,
	 * lines of something else are in these. */
	if (!modulo && regular && seen > 1 && most > 2 && size % (most * line)) {
		snprintf(c->why, sizeof(c->why),
			 "%u lines conflict in steps of %llu bytes, which do not make up %llu bytes: others' lines may "
			 "be in "
			 "some of its sets",
			 most, (unsigned long long)spacing, (unsigned long long)size);
		chase_undecided(&l->size, c->why);
		chase_undecided(&l->sets, c->why);
		return chase_undecided(&l->ways, c->why);
	}
	if (!modulo) {
		l->hashed = true;
		enum chase_state state = seen < 2 ? CHASE_UNDECIDED : correct_hashed(c, k, most);
		if (seen < 2)
			snprintf(c->why, sizeof(c->why), "sets are hashed and only one of them could be filled");
		if (state == CHASE_PENDING)
			return l->sets.state = l->ways.state = state;
		if (state == CHASE_UNDECIDED) {
			/* Then the size is in doubt, too. */
			chase_undecided(&l->size, c->why);
			chase_undecided(&l->sets, c->why);
			return chase_undecided(&l->ways, c->why);
		}
		size = l->size.value;
	}
	if (size % (most * line)) {
		snprintf(c->why, sizeof(c->why), "%llu bytes are not a whole number of sets of %u lines of %llu bytes",
			 (unsigned long long)size, most, (unsigned long long)line);
		chase_undecided(&l->sets, c->why);
		return chase_undecided(&l->ways, c->why);
	}
	chase_decided(&l->sets, size / (most * line));
	return chase_decided(&l->ways, most);
}

enum chase_state chase_ways(struct chase_path *c, unsigned k)
{
	struct chase_level *l = &c->level[k];
	const struct chase_level before = *l;
	enum chase_state state = ways_of(c, k);

	if (state != CHASE_UNDECIDED || l->line.state != CHASE_DONE || l->sets.state == CHASE_DONE)
		return state;
	/* Some rules never give up some lines of a set, and which ones that are depends on the order. Others give up a stranger's line late. */
	const struct chase_level quick = *l;
	for (unsigned i = 0; i < 2 && state == CHASE_UNDECIDED && l->sets.state != CHASE_DONE; i++) {
		*l = before;
		l->thorough = !i;
		l->late = i;
		state = ways_of(c, k);
		l->thorough = l->late = false;
	}
	if (state == CHASE_UNDECIDED && l->sets.state != CHASE_DONE)
		*l = quick;
	return state;
}
