/* Whether what seems a level is a TLB, or page table entries in a cache of data. By every timing those are one more
 * level until data drive them out. */
#include "tlb.h"
#include <math.h>

#define STAY_LEAST  0.1 /* of the visits miss, ... */
#define STAY_MOST   0.2 /* ... and for each of them so few followers ask the memory, at most */
#define FLOOD	    16u /* times as many lines of data for each entry */
#define FLOOD_LEAST 4
#define FLOOD_TIMED 8192u
#define MORE_LEAST  8  /* entries beyond those that the levels above have, which ask this one */
#define FLOOD_SURE  4  /* standard deviations */
#define TABLE_SHARE 32 /* entries of 8 bytes have a line of a cache in common, at most */
/* Levels of a path, as publications tell: Wong 2010, IV-I; Mei 2014, 4.2. */
#define LEVELS_USUAL 2
/* A load goes to a cache beyond the SM, is looked up there, and comes back. A walk reads a table, too, and saves the way at most. */
#define WALK_PART 3

bool tlb_is_walk(const struct tlb_path *c)
{
	return c->step[c->level_count] >= c->beyond / WALK_PART;
}

bool tlb_is_behind(const struct tlb_path *c)
{
	return c->level_count < LEVELS_USUAL && !tlb_is_walk(c);
}

/* Whether lines of data stay while pages that do not fit miss. Each lap asks for page table entries as often as for
 * those lines. A cache of data that loses the entries loses the lines as well. */
static enum chase_state data_stays(struct tlb_path *c, unsigned k, bool *yes)
{
	const struct tlb_level *l = &c->level[k];
	const struct tlb_ring ring = {.pages = tlb_some_more(c, (uint32_t)l->entries.value, l->line.value),
				      .stride = l->line.value};
	const double far = (c->slowest + c->quickest) / 2;
	double missed = 0, late = 0;
	struct tlb_view w;
	const enum chase_state state = tlb_get(c, &ring, &w);

	*yes = false;
	if (state != CHASE_DONE)
		return state;
	for (uint32_t v = 0; v < w.visits; v++) {
		missed += tlb_missed(c, k, w.cost[v]);
		late += w.ticks[2 * v + 1] >= far;
	}
	*yes = missed >= STAY_LEAST * w.visits && late <= STAY_MOST * missed;
	return state;
}

/* Whether it costs as much as the way from a cache of data to the memory. */
static bool costs_like_tables(const struct tlb_path *c, unsigned k)
{
	return !(tlb_least_cost(c, k) < TABLE_LEAST * (c->slowest - c->quickest));
}

/* Whether a level that shows no sets looks like page table entries that a cache of data has lost. Those seem one more
 * level, which costs as much as the way from that cache to the memory. More lines of each page need not drive them out:
 * entries of pages that are visited in turn are the last to go. */
static bool look_like_tables(const struct tlb_path *c, unsigned k)
{
	/* One set is none that shows: all that are too many conflict, whatever has them. */
	return !c->level[k].shown && (c->level[k].sets.state != CHASE_DONE || c->level[k].sets.value == 1) &&
	       costs_like_tables(c, k);
}

static uint64_t umax(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Fewer entries than fit, so that the kernel's own pages have room beside them, and more than the levels above have.
 * *more: how many more than those. 0: those are too few to say anything. */
static uint32_t some_entries(const struct tlb_path *c, unsigned k, uint32_t *more)
{
	const uint64_t n = c->level[k].entries.value, stride = c->level[k].line.value;
	const uint64_t above = tlb_hidden(c, k, stride);
	const uint64_t some = umax(n / 2, (above + n + 1) / 2);
	if (some < above + MORE_LEAST)
		return 0;
	*more = (uint32_t)(some - above);
	return (uint32_t)some;
}

/* Asks for entries that fit, each once a lap, but with several times the data in between. Many pieces of what one entry
 * covers are visited one right after the other. Levels above have the translation for all but the first. Entries of a
 * TLB do not make room for data. *told: the answer is clear. */
static enum chase_state are_flooded(struct tlb_path *c, unsigned k, bool *told, bool *yes)
{
	const uint64_t line = c->level[k].line.value;
	uint32_t pieces = FLOOD, more = 0;
	const uint32_t n = some_entries(c, k, &more);
	struct tlb_view w;

	*told = *yes = false;
	while (pieces > 1 && (n * pieces > RING_MOST || line / pieces < RING_PAGE))
		pieces /= 2;
	if (!n || pieces < FLOOD_LEAST)
		return CHASE_DONE;
	struct tlb_ring ring = {.pages = n * pieces, .stride = line / pieces, .order = 1};
	ring.turns = FLOOD_TIMED / (ring.pages * tlb_lines(c, &ring)) + 1;
	const enum chase_state state = tlb_get(c, &ring, &w);
	if (state != CHASE_DONE)
		return state == CHASE_PENDING ? state : CHASE_DONE;
	/* Half of the lines that hold the entries of these pages, of those at least that the levels above do not have.
	 * A cache of data would lose each in every lap. */
	const double lines = (double)more / TABLE_SHARE / 2;
	const struct tlb_surplus s = tlb_surplus_of(c, k, &w);
	*yes = s.each - FLOOD_SURE * s.chance > fmax(TLB_LAP_LEAST, lines);
	/* What makes many more too cheap than too dear may hide any number of misses. */
	*told = *yes || (s.each + FLOOD_SURE * s.chance < fmax(TLB_LAP_MOST, lines) && s.each > -FLOOD_SURE * s.chance);
	return CHASE_DONE;
}

enum chase_state tlb_or_tables(struct tlb_path *c, unsigned k)
{
	bool stays, told, flooded;

	if (!k)
		return CHASE_DONE;
	enum chase_state state = data_stays(c, k, &stays);
	if (state == CHASE_PENDING || stays)
		return state == CHASE_PENDING ? state : CHASE_DONE;
	state = are_flooded(c, k, &told, &flooded);
	if (state == CHASE_PENDING)
		return state;
	if (flooded || (!told && look_like_tables(c, k)))
		c->level[k].is = TLB_IS_TABLES;
	if (flooded)
		tlb_refuse(&c->level[k], "more data between visits to pages that fit makes them miss: page table "
					 "entries in a cache of data do that");
	else if (c->level[k].is == TLB_IS_TABLES)
		tlb_refuse(&c->level[k], "no sets show, and page table entries in a cache of data would look the same");
	return CHASE_DONE;
}
