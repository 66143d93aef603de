/* Ways, line and sets of a level that nothing hides, from rings that hold one set: short laps, so noise has no time. */
#include "base/arena.h"
#include "probe/chase_fit.h"
#include "probe/chase_shape.h"
#include <stdio.h>
#include <string.h>

#define WAYS_MOST 128

/* w elements at equal distances over the size, and one more where the next would be. In one set they overflow. */
static struct chase_ring_spec one_set(uint64_t start, uint64_t size, uint64_t ways, bool more)
{
	return (struct chase_ring_spec){
	    .start = start, .bytes = size, .stride = size / ways, .extra = more ? start + size : 0};
}

/* As chase_fits, for rings that have to fit for good. Lines that an earlier launch left in a set are driven out soon or
 * late, as the policy has it. Until then even a ring that fits misses. What does not fit must therefore not fit after a
 * long time either. */
static enum chase_state fits_at_last(struct chase_path *c, unsigned k, const struct chase_ring_spec *ring, bool *fits)
{
	struct chase_level *l = &c->level[k];
	const unsigned patience = l->patience;
	enum chase_state state = chase_fits(c, k, ring, fits, NULL);

	if (state != CHASE_DONE || *fits || patience)
		return state;
	l->patience = PATIENCE;
	state = chase_fits(c, k, ring, fits, NULL);
	l->patience = patience;
	return state;
}

/* The smallest number of such elements that overflows; 0 when none does. That many fit, as part of a footprint that
 * fits. If they all lie in one set, one more does not: they are the ways. */
static enum chase_state smallest_overflow(struct chase_path *c, unsigned k, uint64_t size, uint64_t unit,
					  uint64_t *ways)
{
	enum chase_state all = CHASE_DONE;

	*ways = 0;
	for (uint64_t w = 1; w <= WAYS_MOST && w * unit <= size; w++) {
		if (size % (w * unit))
			continue;
		struct chase_ring_spec ring = one_set(0, size, w, true);
		bool fits;
		enum chase_state state = fits_at_last(c, k, &ring, &fits);
		if (state == CHASE_UNDECIDED)
			return state;
		if (state == CHASE_PENDING)
			all = state;
		else if (all == CHASE_DONE && !fits && !*ways)
			*ways = w;
	}
	return all;
}

/* Every element misses, again and again: then all are in the set that overflows. */
static enum chase_state all_conflict(struct chase_path *c, unsigned k, const struct chase_ring_spec *ring, bool *all)
{
	struct chase_blocks found;
	bool fits;
	enum chase_state state = chase_fits(c, k, ring, &fits, NULL);

	*all = false;
	if (state != CHASE_DONE || fits)
		return state;
	state = chase_hot(c, k, ring, &found);
	if (state != CHASE_DONE)
		return state;
	*all = true;
	for (uint32_t i = 0; i < found.count; i++)
		*all = *all && found.hot[i];
	return CHASE_DONE;
}

/* An element that is moved on stays in the set as long as it stays in its line. *line is how far it has to be moved to
 * fit; 0: farther than is tried. */
static enum chase_state moved_out(struct chase_path *c, unsigned k, const struct chase_ring_spec *ring, uint64_t unit,
				  uint64_t set, uint64_t *line)
{
	enum chase_state all = CHASE_DONE;

	for (uint64_t off = unit; off <= CHASE_LINE_NEAR && off < set; off += unit) {
		struct chase_ring_spec moved = *ring;
		bool fits;
		moved.extra += off;
		enum chase_state state = fits_at_last(c, k, &moved, &fits);
		if (state == CHASE_UNDECIDED)
			return state;
		if (state == CHASE_PENDING)
			all = state;
		else if (all == CHASE_DONE && fits && !*line)
			*line = off;
	}
	/* It is still in the set that it makes too full: then it goes itself, now and then. A stranger's line there, which a rule of
	 * replacement may never give up, leaves as little room for the others, wherever the element is. */
	for (uint64_t off = unit; all == CHASE_DONE && off < *line; off += unit) {
		struct chase_ring_spec moved = *ring;
		bool does;
		moved.extra += off;
		all = chase_extra_misses(c, k, &moved, &does);
		if (all == CHASE_DONE && !does)
			all = CHASE_UNDECIDED;
	}
	return all;
}

enum chase_state chase_one_set(struct chase_path *c, unsigned k)
{
	struct chase_level *l = &c->level[k];
	uint64_t size = l->size.value, unit, ways, line = 0;
	bool same;

	if (l->size.state != CHASE_DONE || l->sector.state != CHASE_DONE || l->endless)
		return CHASE_UNDECIDED;
	unit = l->sector.value;
	if (size + size / 2 + 2 * CHASE_LINE_NEAR > c->limit || size % unit)
		return CHASE_UNDECIDED;
	enum chase_state state = smallest_overflow(c, k, size, unit, &ways);
	if (state != CHASE_DONE || !ways)
		return state == CHASE_PENDING ? state : CHASE_UNDECIDED;
	struct chase_ring_spec ring = one_set(0, size, ways, true);
	state = all_conflict(c, k, &ring, &same);
	if (state != CHASE_DONE || !same)
		return state == CHASE_PENDING ? state : CHASE_UNDECIDED;

	uint64_t set = size / ways;
	state = moved_out(c, k, &ring, unit, set, &line);
	if (state != CHASE_DONE)
		return state;
	if (!line && set > CHASE_LINE_NEAR)
		return CHASE_UNDECIDED;
	line = line ? line : set; /* it never leaves the set: there is one */
	if (set % line)
		return CHASE_UNDECIDED;
	uint64_t alone = line;
	struct chase_blocks of = {ARENA_ARRAY(study_arena(c->study), size / unit, bool), (uint32_t)(size / unit), unit};
	if (!of.hot)
		return CHASE_UNDECIDED;
	for (uint32_t i = 0; i < of.count; i++)
		of.hot[i] = i * unit % set < line;
	state = chase_line_alone(c, k, size, &of, &alone);
	if (state != CHASE_DONE || alone != line)
		return state == CHASE_PENDING ? state : CHASE_UNDECIDED; /* neighbours share a set */
	/* The other sets, or of many some, and the other direction: without the last one everything fits. */
	uint64_t sets = set / line, others = sets - 1 < CHASE_SETS ? sets - 1 : CHASE_SETS;
	enum chase_state all = CHASE_DONE;
	for (uint64_t i = 1; i <= others; i++) {
		struct chase_ring_spec next = one_set(i * (sets - 1) / others * line, size, ways, true);
		state = all_conflict(c, k, &next, &same);
		if (state == CHASE_PENDING)
			all = state;
		else if (state == CHASE_UNDECIDED || !same)
			return CHASE_UNDECIDED; /* sets are hashed, or differ */
	}
	if (all != CHASE_DONE)
		return all;
	struct chase_ring_spec less = one_set(0, size, ways, false);
	bool fits;
	state = fits_at_last(c, k, &less, &fits);
	if (state != CHASE_DONE || !fits)
		return state == CHASE_PENDING ? state : CHASE_UNDECIDED;
	l->line.state = l->ways.state = l->sets.state = CHASE_DONE;
	l->line.value = line;
	l->ways.value = ways;
	l->sets.value = set / line;
	return CHASE_DONE;
}
