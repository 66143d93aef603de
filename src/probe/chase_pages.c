/* Whether it is lines that do not fit, or pages. */
#include "probe/chase_shape.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define PAGES_FROM 32768u /* bytes: eight of the smallest pages; fewer translations nobody keeps */
#define BEYOND	   8 /* of the size is added: a single access beyond it may stay in the level above, which asks no TLB */

/* Whether hardly any access of the ring was answered before level k. Else hits above it would look like hits in it. */
static enum chase_state reaches_level(struct chase_path *c, unsigned k, const struct chase_ring_spec *ring,
				      bool *reaches)
{
	const double pages = ceil((double)ring->bytes / CHASE_PAGE), n = chase_spec_elements(ring);
	double misses = 0;
	bool fits;

	*reaches = true;
	if (!k)
		return CHASE_DONE;
	enum chase_state state = chase_fits(c, k - 1, ring, &fits, &misses);
	/* What enters a page does not count there. */
	if (state == CHASE_DONE)
		*reaches = misses >=
			   0.9 * (chase_beyond_reach(c, (double)ring->start, (double)ring->bytes, 0) ? n - pages : n);
	return state;
}

/* The tables that translations are read from may go through the level, too: the sets that hold them have less room for
 * lines. One more line then conflicts with fewer of them there. It may also find room in sets that the seeming size
 * leaves a place in, as in a level with hashed sets. */
static enum chase_state beside_tables(struct chase_level *l)
{
	char why[sizeof(l->size.why)];

	snprintf(
	    why, sizeof(why),
	    "%s, and more is read than a TLB translates: what translations are read from may take the other places",
	    l->spaced == SPACED_UNLIKE ? "its sets do not hold alike many" : CHASE_UNEVEN_SAY);
	chase_undecided(&l->size, "%s", why);
	if (l->spaced == SPACED_UNLIKE)
		return CHASE_UNDECIDED;
	chase_undecided(&l->sets, "%s", why);
	return chase_undecided(&l->ways, "%s", why);
}

/* Translations that do not fit would do what lines that do not fit do. Translations are as many, however, if only few
 * lines of a page are touched. If every second or third of the lines that did not fit does fit, it was lines. */
enum chase_state chase_by_lines(struct chase_path *c, unsigned k)
{
	static const unsigned every[] = {2, 3, 5, 7, 1, 2, 3, 4};
	struct chase_level *l = &c->level[k], *up = k ? l - 1 : NULL;
	uint64_t size = l->size.value;
	/* Steps in which all fall into one set of the level above, which then holds none of them. */
	bool one_set = up && up->line.state == CHASE_DONE && up->sets.state == CHASE_DONE &&
		       up->spaced != SPACED_UNEVENLY && !up->unequal;
	uint64_t period = one_set ? up->line.value * up->sets.value : 0;

	if (l->size.state != CHASE_DONE || l->line.state != CHASE_DONE || l->endless || size < PAGES_FROM)
		return CHASE_DONE;
	/* What entered a page was not counted, but recorded. */
	if (chase_beyond_reach(c, 0, (double)size, 0))
		return l->spaced ? beside_tables(l) : CHASE_DONE;
	for (unsigned i = 0; i < sizeof(every) / sizeof(every[0]); i++) {
		uint64_t stride = every[i] * (i < 4 ? l->line.value : period);
		struct chase_ring_spec ring = {.bytes = size + size / BEYOND, .stride = stride};
		bool fits, reaches = false;
		if (stride < 2 * l->line.value || stride > CHASE_PAGE || ring.bytes > c->limit)
			continue;
		enum chase_state state = chase_fits(c, k, &ring, &fits, NULL);
		if (state == CHASE_DONE && fits)
			state = reaches_level(c, k, &ring, &reaches);
		if (state == CHASE_PENDING)
			return l->size.state = l->line.state = l->ways.state = l->sets.state = state;
		if (state == CHASE_DONE && fits && reaches)
			return CHASE_DONE;
	}
	static const char why[] =
	    "every other line of what does not fit does not fit either: pages beyond the reach of a TLB "
	    "would do the same";
	chase_undecided(&l->size, "%s", why);
	chase_undecided(&l->line, "%s", why);
	chase_undecided(&l->ways, "%s", why);
	chase_undecided(&l->sets, "%s", why);
	l->unequal = 0;
	return CHASE_UNDECIDED;
}

uint64_t chase_translated(const struct study *s, const char *path)
{
	double line;

	const struct finding *levels = study_finding(s, KEY("tlb.%s.levels", path));
	const struct finding *f = study_finding(s, KEY("tlb.%s.l1.reach", path));
	if (!f || (f->verdict != VERDICT_MEASURED && f->verdict != VERDICT_BOUND)) {
		/* If nobody knows of this path's translations, they may be those of the other one. */
		const bool other = levels && levels->verdict == VERDICT_INCONCLUSIVE && strcmp(path, "global") != 0;
		return other ? chase_translated(s, "global") : UINT64_MAX;
	}
	double reach = f->verdict == VERDICT_MEASURED ? f->value.number : f->lo;
	if (!study_number(s, KEY("tlb.%s.l1.line", path), &line) || 4 * line > reach)
		return (uint64_t)(reach / 2);
	return (uint64_t)(reach - 2 * line);
}

bool chase_beyond_reach(const struct chase_path *c, double start, double bytes, double extra)
{
	double end = start + bytes > extra ? start + bytes : extra + CHASE_PAGE;

	return c->reach && end - start > (double)c->reach;
}
