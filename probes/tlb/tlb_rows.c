/* Whether what seems a level is a TLB, or the open rows of a memory, which do the same. */
#include "tlb.h"
#include <math.h>

#define EXTRAS	   4
#define ROW_TURNS  16u
#define ROW_LAP	   2.5	      /* misses of a lap, of which one more row makes two */
#define BANKS_MOST 8	      /* that 4 KB of a page fall in */
#define ROWS_MOST  (1u << 20) /* bytes: no memory has rows so long, those of all its channels together */

/* Whether most of the sets that were told apart, page by page, have more pages than that. */
static bool mostly_larger(const struct tlb_level *l, uint32_t pages)
{
	unsigned larger = 0;

	for (unsigned i = 0; i < l->set_count; i++)
		larger += l->set_size[i] > pages;
	return 2 * larger > l->set_count;
}

/* The open rows of a memory do what a TLB does: a page whose row is open is fast, and another page takes its place. But a bank
 * has one row open, so that one page more than fits makes at most two misses a lap: its own, and that of the one whose row it
 * closed. In sets of two entries and more it makes three and more, but for a FIFO, which settles down to one where pages came in another order than
 * they are visited in. Nor is a row as long as what many an entry covers, nor does it take as long to open as a walk. */
static enum chase_state may_be_rows(struct tlb_path *c, unsigned k, bool *yes)
{
	const struct tlb_level *l = &c->level[k];
	uint32_t n = (uint32_t)l->entries.value;
	struct tlb_view full, over;
	enum chase_state state, all = CHASE_DONE;

	*yes = l->sets.state != CHASE_DONE || l->line.value < ROWS_MOST;
	/* The lines of a page that are read lie in a few banks at most, and each of them has one other page's row. */
	if ((l->ways.state == CHASE_DONE && l->ways.value > BANKS_MOST) || mostly_larger(l, BANKS_MOST) ||
	    tlb_least_cost(c, k) > ROW_COST_MOST)
		*yes = false;
	/* A bank has one row open: sets of one entry are what it looks like, whatever chance adds to their misses. */
	if (!*yes || l->blurred || (l->ways.state == CHASE_DONE && l->ways.value == 1))
		return CHASE_DONE;
	/* Few laps leave much to chance: more of them where that is all that speaks for rows. */
	for (uint32_t turns = 0; *yes && turns <= ROW_TURNS; turns += ROW_TURNS) {
		bool more_than_rows = false;
		state = tlb_get(c, &(struct tlb_ring){.pages = n, .stride = l->line.value, .turns = turns}, &full);
		if (state != CHASE_DONE)
			return turns && state == CHASE_UNDECIDED ? CHASE_DONE : state;
		const struct tlb_surplus less = tlb_surplus_of(c, k, &full);
		for (uint32_t i = 0; i < EXTRAS && *yes; i++) {
			const struct tlb_ring ring = {
			    .pages = n + 1, .stride = l->line.value, .extra = i ? n + i : 0, .turns = turns};
			state = tlb_get(c, &ring, &over);
			if (state == CHASE_PENDING)
				all = state;
			if (state != CHASE_DONE)
				continue;
			const struct tlb_surplus more = tlb_surplus_of(c, k, &over);
			*yes = tlb_as_rows(&less, &more);
			more_than_rows = more_than_rows || more.each - less.each > ROW_LAP;
		}
		if (!more_than_rows || all == CHASE_PENDING)
			break;
	}
	return *yes ? all : CHASE_DONE;
}

static void refuse_rows(struct tlb_level *l)
{
	struct chase_fact *const facts[] = {&l->reach, &l->line, &l->entries, &l->ways, &l->sets};
	unsigned long long pages = l->entries.value, line = l->line.value;

	for (unsigned i = 0; i < sizeof(facts) / sizeof(facts[0]); i++)
		tlb_undecided(
		    facts[i],
		    "%llu pages in steps of %llu bytes are fast, but no sets of two and more show: open rows of the "
		    "memory would look the same",
		    pages, line);
	l->set_count = 0;
}

enum chase_state tlb_or_rows(struct tlb_path *c, unsigned k)
{
	struct tlb_level *l = &c->level[k];
	bool rows = true;

	if (may_be_rows(c, k, &rows) == CHASE_PENDING)
		return CHASE_PENDING;
	if (!rows)
		return CHASE_DONE;
	c->maybe_rows = fmax(c->maybe_rows, tlb_least_cost(c, k));
	refuse_rows(l);
	return CHASE_DONE;
}
