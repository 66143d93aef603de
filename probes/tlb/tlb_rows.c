/* Whether what seems a level is a TLB, or the open rows of a memory, which do the same. */
#include "base/arena.h"
#include "stat/stat.h"
#include "tlb.h"
#include <math.h>

#define EXTRAS	     4
#define ROW_TURNS    16u
#define BANKS_MOST   8		/* that 4 KB of a page fall in */
#define ROWS_MOST    (1u << 20) /* bytes: no memory has rows so long, those of all its channels together */
#define ALONE_VISITS 16		/* to one page, that say what it costs */
#define ALONE_ALIKE  0.05	/* of a cost, by which it may differ from what is expected */

/* The open rows of a memory do what a TLB does: a page whose row is open is fast, and another page takes its place. Yet
 * a bank has one row open, so that one page too many makes at most two misses a lap. Those are its own, and that of the
 * page whose row it closed.
 *
 * A set of two entries or more makes three and more. A FIFO is an exception: it settles down to one if pages came in
 * another order than they are visited in. A row is shorter than what many an entry covers, and takes less time to open
 * than a walk. */
static enum chase_state may_be_rows(struct tlb_path *c, unsigned k, bool *yes)
{
	const struct tlb_level *l = &c->level[k];
	uint32_t n = (uint32_t)l->entries.value;
	struct tlb_view full, over;
	enum chase_state state, all = CHASE_DONE;

	*yes = l->sets.state != CHASE_DONE || l->line.value < ROWS_MOST;
	/* The lines of a page that are read lie in a few banks at most, and each of them has one other page's row. */
	if ((l->ways.state == CHASE_DONE && l->ways.value > BANKS_MOST) || tlb_least_cost(c, k) > ROW_COST_MOST)
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
			more_than_rows = more_than_rows || more.each - less.each > TLB_ROW_MISSES;
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
		chase_undecided(
		    facts[i],
		    "%llu pages in steps of %llu bytes are fast, but no sets of two and more show. Open rows "
		    "of the memory would look the same",
		    pages, line);
	l->set_count = 0;
}

/* Medians of what the first page costs, and of what all others do. NAN: not told. */
static void costs_of_first(struct tlb_path *c, const struct tlb_view *w, double *first, double *others)
{
	double *v = ARENA_ARRAY(study_arena(c->study), 3 * (size_t)w->visits, double), *one = v + w->visits;
	size_t n = 0, m = 0;

	*first = *others = NAN;
	if (!v)
		return;
	for (uint32_t i = 0; i < w->visits; i++) {
		if (isnan(w->cost[i]))
			continue;
		if (ring_page(w, i))
			v[n++] = w->cost[i];
		else
			one[m++] = w->cost[i];
	}
	if (m < ALONE_VISITS || n < ALONE_VISITS)
		return;
	*first = stat_median(one, m, one + w->visits);
	*others = stat_median(v, n, one + w->visits);
}

/* Whether two costs are one. */
static bool alike(const struct tlb_path *c, double one, double other)
{
	return fabs(one - other) <= c->gap + ALONE_ALIKE * fabs(other);
}

/* Looks at a page that shares its row's bank with no other, if there is a level behind this one. All pages miss that
 * level behind. An entry of this level would spare the page the whole cost of such a miss, or be lost with it. An open
 * row spares what a row costs, on top of what all pages cost. The other pages lie so far apart that they are all of one
 * set, or of one bank. The first page lies one line before that. */
static enum chase_state are_rows(struct tlb_path *c, unsigned k, bool *yes)
{
	const struct tlb_level *l = &c->level[k];
	const uint64_t round = l->entries.value * l->line.value;
	enum chase_state all = CHASE_DONE;

	*yes = false;
	if (c->rows > 0 || k + 1 >= c->level_count || l->line.state != CHASE_DONE || !round)
		return CHASE_DONE;
	const double more = c->step[k + 1] - c->step[k];
	for (uint32_t pages = 64; pages <= 1024 && !*yes && all == CHASE_DONE; pages *= 4) {
		const uint64_t apart = (c->bytes - 2 * RING_PAGE - l->line.value) / pages / round * round;
		struct tlb_ring ring = {.pages = pages, .stride = apart, .turns = ROW_TURNS};
		struct tlb_view with, alone;
		double usual, others, first, rest;
		if (!apart)
			break;
		/* Among them it costs what they do; alone it costs less by a row, which is no level's cost. */
		const enum chase_state a = tlb_get(c, &ring, &with);
		ring.from = 1;
		ring.offset = l->line.value;
		const enum chase_state b = tlb_get(c, &ring, &alone);
		if (a == CHASE_PENDING || b == CHASE_PENDING)
			all = CHASE_PENDING;
		if (a != CHASE_DONE || b != CHASE_DONE)
			continue;
		costs_of_first(c, &with, &usual, &others);
		costs_of_first(c, &alone, &first, &rest);
		*yes = alike(c, usual, others) && alike(c, rest, others) && alike(c, others - first, more);
		for (unsigned i = 0; i < c->steps && *yes; i++)
			*yes = !alike(c, first, c->step[i]);
	}
	return all;
}

bool tlb_are_as_rows(const struct tlb_path *c, unsigned k, const struct pages_shape *q)
{
	return q->ways == 1 && q->line < ROWS_MOST && tlb_least_cost(c, k) <= ROW_COST_MOST;
}

enum chase_state tlb_or_rows(struct tlb_path *c, unsigned k)
{
	struct tlb_level *l = &c->level[k];
	bool rows = true, sure;

	if (may_be_rows(c, k, &rows) == CHASE_PENDING)
		return CHASE_PENDING;
	if (!rows)
		return CHASE_DONE;
	if (are_rows(c, k, &sure) == CHASE_PENDING)
		return CHASE_PENDING;
	l->is = sure ? TLB_IS_ROWS : TLB_IS_LEVEL;
	if (!sure)
		c->maybe_rows = fmax(c->maybe_rows, tlb_least_cost(c, k));
	refuse_rows(l);
	return CHASE_DONE;
}
