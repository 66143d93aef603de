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

#define SEVERAL_SETS "one more line makes lines of several sets miss, as others' lines in them would: %u lines"

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

/* Looks at the sets one after the other, until every line of the footprint was seen to conflict with one more line.
 * Each line has to be of one set only. Lines are dealt round the sets in some way. Those that come next therefore find
 * all sets, and as a rule begin the round anew. With `pass`, lines that would then share a set with a line whose set is
 * known are left out. No set of more lines than `most` counts. UNDECIDED: some line never conflicted. */
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
		if (known && known != found.ways)
			return CHASE_WHY(c->why, "lines of several sets miss with one more line");
		if (known)
			continue;
		size[(*count)++] = found.ways;
		seen += found.ways;
	}
	if (all != CHASE_DONE)
		return all;
	if (seen == lines)
		return CHASE_DONE;
	return CHASE_WHY(c->why, "%u sets that were seen hold %llu lines of %llu", *count, (unsigned long long)seen,
			 (unsigned long long)lines);
}

/* Whether one set is as large as several of the others, which are all alike. What missed in one look may have been
 * lines of so many sets, some of them for another reason. size: sorted. */
static bool is_lump(const uint32_t *size, uint32_t count)
{
	return count > 1 && size[0] == size[count - 2] && size[count - 1] > size[0] && size[count - 1] % size[0] == 0;
}

/* Looks at all sets, if they are few. Decides ways and sets if sets differ, and else leaves them to the caller. With
 * `whole`, sets as large as the largest seen would hold every line. A set of which a line was not seen to miss then
 * counts as no other. *largest is the lines of the largest set that was seen. *parted: sets that were seen differ, and
 * others were not seen. */
static enum chase_state few_sets(struct chase_path *c, unsigned k, uint32_t run, uint32_t least, uint32_t most,
				 bool whole, bool *differ, bool *parted, uint32_t *largest)
{
	struct chase_level *l = &c->level[k];
	/* If they differ, most are of neither size. */
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
	qsort(size, count, sizeof(*size), stat_compare_u32);
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
	return chase_undecided(&l->ways, "%s", c->why);
}

/* Hashed sets fill evenly from some addresses on only. From there on one line more fits than from elsewhere. */
static enum chase_state largest_start(struct chase_path *c, unsigned k, uint64_t bytes, uint64_t starts, bool *found)
{
	uint64_t line = c->level[k].line.value;
	enum chase_state all = CHASE_DONE;

	*found = false;
	for (uint64_t i = 0; i < starts; i++) {
		if (i * line + bytes > c->limit)
			return CHASE_WHY(c->why,
					 "sets are hashed, and a larger footprint that fits may start beyond reach");
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
		if (sets > OFFSETS_MOST)
			return CHASE_WHY(c->why, "sets are hashed and too many to try every start");
		enum chase_state state = largest_start(c, k, sets * whole, sets, &found);
		if (state != CHASE_DONE)
			return state;
		if (!found)
			break;
		l->size.value = sets * whole;
	}
	if (l->size.value % whole == 0)
		return CHASE_DONE;
	return CHASE_WHY(c->why, "sets are hashed, and no start lets whole ways of %llu lines fit",
			 (unsigned long long)ways);
}

/* What one line more than fits evicts, wherever that one lies. */
struct conflicts {
	struct conflict kept[SETS_TRIED];
	uint32_t seen, least, most, run; /* of lines that miss */
	uint64_t spacing, grid;		 /* grid: of all conflicts, 0 if they differ */
	bool regular;			 /* lines are as far apart in all of them */
	bool modulo;			 /* and none found room */
	bool spared; /* they are on a grid that would hold more of them: some policies never give up the others */
};

static enum chase_state conflicts_of(struct chase_path *c, unsigned k, struct conflicts *v)
{
	static const unsigned tried[SETS_TRIED] = {0, 1, 3, 0};
	const struct chase_level *l = &c->level[k];
	const uint64_t size = l->size.value, line = l->line.value,
		       unit =
			   l->sector.state == CHASE_DONE && l->sector.value > l->stride ? l->sector.value : l->stride;
	enum chase_state all = CHASE_DONE;
	bool apart = true;

	*v = (struct conflicts){.least = UINT32_MAX,
				.run = UINT32_MAX,
				.grid = UINT64_MAX,
				.regular = true,
				.modulo = true,
				.spared = true};
	for (unsigned i = 0; i < SETS_TRIED; i++) {
		/* The last one is where the line was looked for, too. */
		uint64_t extra = i + 1 < SETS_TRIED ? size + tried[i] * line : chase_line_extra(size, 1, unit);
		struct conflict found;
		if (extra + l->stride > c->limit)
			break;
		enum chase_state state = conflict_at(c, k, 0, extra, &found);
		if (state == CHASE_UNDECIDED)
			return state;
		if (state == CHASE_PENDING) {
			all = state;
			continue;
		}
		if (!found.ways) { /* it found room */
			v->modulo = false;
			continue;
		}
		v->least = found.ways < v->least ? found.ways : v->least;
		v->most = found.ways > v->most ? found.ways : v->most;
		v->run = found.run && found.run < v->run ? found.run : v->run;
		v->regular = v->regular && found.spacing && (!v->spacing || v->spacing == found.spacing);
		v->modulo = v->modulo && v->regular;
		v->spacing = found.spacing;
		v->spared = v->spared && found.grid > line && size / found.grid > found.ways;
		v->grid = v->grid == UINT64_MAX || v->grid == found.grid ? found.grid : 0;
		for (unsigned q = 0; q < v->seen; q++)
			apart = apart && comparable(&v->kept[q], &found);
		v->kept[v->seen++] = found;
	}
	if (all != CHASE_DONE)
		return all;
	/* If there is only one set, nothing lies between its lines. */
	v->run = v->run == UINT32_MAX ? 1 : v->run;
	if (!apart)
		return CHASE_WHY(c->why, SEVERAL_SETS, v->most);
	return v->seen ? CHASE_DONE : CHASE_UNDECIDED;
}

/* Sets that are not in turn: their ways, and the size once more. */
static enum chase_state ways_of_hashed(struct chase_path *c, unsigned k, const struct conflicts *v)
{
	struct chase_level *l = &c->level[k];

	if (v->spared && v->most > 1)
		return CHASE_WHY(
		    c->why,
		    "%u lines miss, which lie as regularly as more lines would: its policy may never give up the "
		    "others",
		    v->most);
	/* Lines as far apart everywhere are not a hash's doing. If one more of them fits beside as many in some sets
	 * and not in others, those others hold lines of something else. */
	enum chase_state state = CHASE_UNDECIDED;
	if (v->regular && v->seen > 1 && v->most > 2 && l->size.value % (v->most * l->line.value)) {
		CHASE_WHY(c->why,
			  "%u lines conflict in steps of %llu bytes, which do not make up %llu bytes: others' lines "
			  "may be in some of its sets",
			  v->most, (unsigned long long)v->spacing, (unsigned long long)l->size.value);
	} else {
		l->spaced = SPACED_UNEVENLY;
		state = v->seen < 2 ? CHASE_WHY(c->why, "sets are hashed and only one of them could be filled")
				    : correct_hashed(c, k, v->most);
	}
	/* Then the size is in doubt, too. */
	return state == CHASE_UNDECIDED ? chase_undecided(&l->size, "%s", c->why) : state;
}

/* Sets and ways, where all that were seen are alike, or where each was looked at. UNDECIDED: c->why says why. */
static enum chase_state ways_by(struct chase_path *c, unsigned k, const struct conflicts *v)
{
	struct chase_level *l = &c->level[k];
	const uint64_t line = l->line.value;
	const uint32_t least = v->least, most = v->most;
	uint32_t full = 0, largest;
	bool differ, parted;

	for (unsigned i = 0; i < v->seen; i++)
		full += v->kept[i].ways == most;
	/* The sets are a grid of as many lines each as were seen to conflict in most of them. In the other sets a line
	 * was not seen to miss, because it seldom is the victim. */
	const bool whole =
	    v->grid > line && most * v->grid == l->size.value && 2 * full >= v->seen && 4 * least >= 3 * most;
	const enum chase_state few = few_sets(c, k, v->run, least, most, whole, &differ, &parted, &largest);
	if (few == CHASE_PENDING || differ)
		return few == CHASE_PENDING ? few : CHASE_DONE;
	/* None of them may have more, however. */
	if (least < most && whole && largest <= most) {
		chase_decided(&l->sets, v->grid / line);
		return chase_decided(&l->ways, most);
	}
	if (least == most && few == CHASE_UNDECIDED) {
		l->spaced = parted ? SPACED_UNLIKE : l->spaced;
		return few;
	}
	if (least != most) {
		l->spaced = SPACED_UNLIKE;
		return CHASE_WHY(
		    c->why,
		    "one more line conflicts with %u to %u lines: its sets differ, or some conflicts were not seen",
		    least, most);
	}
	if (!v->modulo && (uint64_t)most * line >= l->size.value)
		return CHASE_WHY(c->why, SEVERAL_SETS, most);
	const enum chase_state state =
	    v->modulo && v->spacing * most == l->size.value ? CHASE_DONE : ways_of_hashed(c, k, v);
	if (state != CHASE_DONE)
		return state;
	if (l->size.value % (most * line))
		return CHASE_WHY(c->why, "%llu bytes are not a whole number of sets of %u lines of %llu bytes",
				 (unsigned long long)l->size.value, most, (unsigned long long)line);
	chase_decided(&l->sets, l->size.value / (most * line));
	return chase_decided(&l->ways, most);
}

static enum chase_state ways_of(struct chase_path *c, unsigned k)
{
	struct chase_level *l = &c->level[k];
	struct conflicts v;
	enum chase_state state = l->line.state;

	if (state == CHASE_UNDECIDED) {
		chase_undecided(&l->sets, "its line is not known");
		return chase_undecided(&l->ways, "its line is not known");
	}
	if (state == CHASE_DONE)
		state = conflicts_of(c, k, &v);
	if (state == CHASE_DONE)
		state = ways_by(c, k, &v);
	if (state == CHASE_PENDING)
		return l->sets.state = l->ways.state = state;
	if (state == CHASE_DONE) /* unequal sets have no number of ways */
		return l->ways.state;
	chase_undecided(&l->sets, "%s", c->why);
	return chase_undecided(&l->ways, "%s", c->why);
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
		l->look = i ? LOOK_LATE : LOOK_THOROUGH;
		state = ways_of(c, k);
		l->look = LOOK_USUAL;
	}
	if (state == CHASE_UNDECIDED && l->sets.state != CHASE_DONE)
		*l = quick;
	return state;
}
