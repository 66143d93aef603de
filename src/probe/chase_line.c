/* The line of one level. */
#include "base/arena.h"
#include "probe/chase_fit.h"
#include "probe/chase_shape.h"
#include "stat/stat.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define STRANGERS_MOST 64 /* units more than seemed to fit */
#define RAISES	       4
/* The blocks that miss with one more element at extra; hot is NULL when that one finds room, as it may where sets are
 * hashed. */
enum chase_state chase_conflicting(struct chase_path *c, unsigned k, uint64_t start, uint64_t extra, uint64_t stride,
				   struct chase_blocks *out)
{
	const struct chase_level *l = &c->level[k];
	struct chase_ring_spec ring = {.start = start, .bytes = l->size.value, .stride = stride, .extra = extra};
	bool fits;
	enum chase_state state = chase_fits(c, k, &ring, &fits, NULL);

	*out = (struct chase_blocks){0};
	if (state != CHASE_DONE || fits)
		return state;
	return chase_hot(c, k, &ring, out);
}

/* When others take lines, even a ring that leaves room misses as if it were too large: all that the levels above do not
 * keep. The blocks that were in conflict are again, if they are lines. UNDECIDED: they are not. */
static enum chase_state one_in_conflict(struct chase_path *c, unsigned k, const struct chase_ring_spec *ring,
					const struct chase_blocks *of)
{
	bool again;

	if (c->level[k].clarity != NOISY || c->level[k].patience)
		return CHASE_DONE;
	const enum chase_state state = chase_misses_in(c, k, ring, of, &again);
	if (state != CHASE_DONE || again)
		return state;
	return CHASE_WHY(c->why, "others make as much miss as a conflict would, of one place in every %llu bytes",
			 (unsigned long long)ring->stride);
}

/* Lines that share a set with their neighbours miss together, as the parts of one line would. Parts of one line need
 * only one of them: as many lines, each touched in one place, overflow as before. Of several lines, every other one
 * leaves room. */
enum chase_state chase_line_alone(struct chase_path *c, unsigned k, uint64_t extra, const struct chase_blocks *of,
				  uint64_t *line)
{
	struct chase_level *l = &c->level[k];

	while (*line > l->sector.value) {
		struct chase_ring_spec ring = {.stride = *line, .bytes = l->size.value, .extra = extra};
		bool fits;
		enum chase_state state = chase_fits(c, k, &ring, &fits, NULL);
		if (state != CHASE_DONE)
			return state;
		if (!fits)
			return one_in_conflict(c, k, &ring, of);
		if (l->clarity == NOISY || chase_hidden(c, k, chase_spec_elements(&ring)))
			return CHASE_WHY(
			    c->why,
			    "of those that tell lines of %llu bytes from neighbours that share a set, others may take "
			    "some, or the level above keep them",
			    (unsigned long long)*line);
		*line /= 2;
	}
	return CHASE_DONE;
}

/* The footprints at which a line is looked for: the size, and some way behind. */
uint64_t chase_line_extra(uint64_t size, unsigned j, uint64_t unit)
{
	return size + j * (size / 16 / unit) * unit;
}

/* settled: a unit more than the size fits after a while. */
static enum chase_state line_at_size(struct chase_path *c, unsigned k, bool *settled)
{
	struct chase_level *l = &c->level[k];
	uint64_t size = l->size.value, unit = l->stride, line = 0;

	if (l->size.state != CHASE_DONE)
		return l->size.state == CHASE_PENDING ? (l->line.state = CHASE_PENDING)
						      : chase_undecided(&l->line, "its size is not known");
	/* A coarser walk would take several lines for one. */
	if (l->sector.state != CHASE_DONE)
		return chase_undecided(&l->line, "what one miss fetches is not known");
	if (l->stride > l->sector.value || l->sector.value % l->stride)
		return chase_undecided(
		    &l->line, "what one miss fetches is smaller than the steps in which this level was walked");
	if (l->endless || size + l->stride > c->limit)
		return chase_undecided(&l->line, "no footprint is large enough to make a conflict");
	if (l->sector.state == CHASE_DONE && l->sector.value > unit)
		unit = l->sector.value;
	if (size % unit)
		return chase_undecided(&l->line, "the size is no multiple of what one miss fetches");
	enum chase_state all = CHASE_DONE;
	bool whole = true;
	struct chase_blocks both[2] = {0};
	uint64_t beyond = 0;		 /* one of the places that conflict, ... */
	struct chase_blocks *hit = NULL; /* ... and what it conflicts with */
	for (unsigned j = 0; j < 2; j++) {
		uint64_t extra = chase_line_extra(size, j, unit);
		if (extra + l->stride > c->limit)
			break;
		struct chase_blocks found;
		enum chase_state state = chase_conflicting(c, k, 0, extra, l->stride, &found);
		*settled = !j && found.settled;
		if (j && found.settled) /* it finds room there, as where sets are hashed */
			continue;
		if (state == CHASE_UNDECIDED)
			return chase_undecided(&l->line, "%s", c->why);
		if (state == CHASE_PENDING)
			all = state;
		if (state == CHASE_PENDING || !found.hot)
			continue;
		both[j] = found;
		hit = &both[j];
		beyond = extra;
		for (uint32_t i = 1; i < found.count; i++)
			if (found.hot[i] != found.hot[i - 1])
				line = stat_gcd(line, i * unit);
		for (uint32_t i = 0; i < found.count; i++)
			whole = whole && found.hot[i];
	}
	if (all != CHASE_DONE)
		return l->line.state = all;
	if (whole)
		return chase_undecided(&l->line, "one more line makes every line miss: all seem to be in one set");
	if (!line || line > LINE_MOST || size % line)
		return chase_undecided(&l->line, "the lines that one more line evicts do not lie on a regular grid");
	/* A line begins and ends where its neighbours do not conflict, so half of these places are odd multiples of it. */
	unsigned ends = 0, even = 0;
	for (unsigned j = 0; j < 2; j++)
		for (uint32_t i = 1; i < both[j].count; i++)
			if (both[j].hot[i] != both[j].hot[i - 1]) {
				ends++;
				even += i * unit / line % 2 == 0;
			}
	if (2 * line <= LINE_MOST && ends >= 4 && even > 0.75 * ends)
		return chase_undecided(
		    &l->line, "most lines that one more line evicts lie on a grid twice as wide as all of them");
	all = chase_line_alone(c, k, beyond, hit, &line);
	if (all != CHASE_DONE)
		return all == CHASE_PENDING ? (l->line.state = all) : chase_undecided(&l->line, "%s", c->why);
	return chase_decided(&l->line, line);
}

/* How many units more than the size settle down; 1 did. One step after the other: of large rings each takes long, and behind the first that
 * does not settle down none is of use. */
static enum chase_state settling(struct chase_path *c, struct chase_level *l, uint64_t unit, uint64_t *more)
{
	const uint64_t size = l->size.value;
	enum chase_state all = CHASE_DONE;
	uint64_t over = 0; /* that does not, as far as is known */

	*more = 1;
	for (uint64_t i = 2; !over && i <= STRANGERS_MOST && size + i * unit <= c->limit; i *= 2) {
		const struct chase_ring_spec ring = {.bytes = size + i * unit, .stride = l->stride};
		bool does;
		const enum chase_state state = chase_settles(c, &ring, &does);
		if (state != CHASE_DONE)
			return state;
		*(does ? more : &over) = i;
	}
	while (all == CHASE_DONE && over > *more + 1) {
		const uint64_t at = *more + (over - *more) / 2;
		const struct chase_ring_spec ring = {.bytes = size + at * unit, .stride = l->stride};
		bool does;
		all = chase_settles(c, &ring, &does);
		*(does ? more : &over) = at;
	}
	return all;
}

enum chase_state chase_line(struct chase_path *c, unsigned k)
{
	struct chase_level *l = &c->level[k];
	const uint64_t unit =
			   l->sector.state == CHASE_DONE && l->sector.value > l->stride ? l->sector.value : l->stride,
		       first = l->size.value;
	bool settled = false;
	enum chase_state state = line_at_size(c, k, &settled);

	/* Some policies never give up a stranger's line while lines are asked for in one order, and do in another. If
	 * one line more than seemed to fit settles down, it does fit. */
	for (unsigned i = 0; i < RAISES && state == CHASE_UNDECIDED && settled; i++) {
		uint64_t more;
		state = settling(c, l, unit, &more);
		if (state == CHASE_UNDECIDED)
			return chase_undecided(&l->line, "%s", c->why);
		if (state == CHASE_PENDING)
			return l->line.state = state;
		l->settled = first;
		l->size.value += more * unit;
		settled = false;
		state = line_at_size(c, k, &settled);
	}
	if (settled) { /* and nobody knows how much more does */
		l->size.value = first;
		l->settled = 0;
	}
	return state;
}
