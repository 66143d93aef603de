/* Ways and sets of one level, from lines that conflict. */
#include "base/arena.h"
#include "probe/chase_shape.h"
#include "stat/stat.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define SETS_TRIED   4
#define OFFSETS_MOST 512

struct conflict { /* lines of one set */
	uint32_t ways;
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
	uint64_t stride = k ? chase_step(c, k, line, (double)l->size.value) : line;
	struct chase_blocks found;
	enum chase_state state = chase_conflicting(c, k, start, extra, stride, &found);

	*out = (struct conflict){.blocks = found};
	if (state != CHASE_DONE || !found.hot)
		return state;
	bool even = true;
	for (uint32_t i = 0; i <= found.count; i++) {
		if (i < found.count && !found.hot[i])
			continue;
		uint64_t at = (i < found.count ? start + i * found.unit : extra) / line * line;
		if (at == last)
			continue;
		if (last != UINT64_MAX) {
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

enum chase_state chase_ways(struct chase_path *c, unsigned k)
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
	uint32_t least = UINT32_MAX, most = 0, seen = 0;
	uint64_t spacing = 0;
	bool modulo = true, apart = true, spared = true;
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
		modulo = modulo && found.spacing && (!spacing || spacing == found.spacing);
		spacing = found.spacing;
		/* On a grid that would hold more of them: some policies never give up the others. */
		spared = spared && found.grid > line && size / found.grid > found.ways;
		for (unsigned q = 0; q < seen; q++)
			apart = apart && comparable(&kept[q], &found);
		kept[seen++] = found;
	}
	if (all != CHASE_DONE)
		return l->sets.state = l->ways.state = all;
	if (!seen) {
		chase_undecided(&l->sets, c->why);
		return chase_undecided(&l->ways, c->why);
	}
	if (least != most || !least) {
		snprintf(
		    c->why, sizeof(c->why),
		    "one more line conflicts with %u to %u lines: its sets differ, or some conflicts were not seen",
		    least, most);
		chase_undecided(&l->sets, c->why);
		return chase_undecided(&l->ways, c->why);
	}
	/* Every line there is: only what line_of_one_set found can be that. */
	if (!apart || (!modulo && (uint64_t)most * line >= size)) {
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
