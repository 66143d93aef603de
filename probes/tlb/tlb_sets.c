/* Ways and sets of a TLB level: one page more than all its sets hold conflicts with the pages of one set. */
#include "base/arena.h"
#include "stat/stat.h"
#include "tlb.h"
#include <stdio.h>
#include <string.h>

#define NEARLY_ALL  0.9
#define TURNS	    0.25 /* of one set's pages miss at least, where a policy spares the others */
#define EXTRAS	    4
#define HOT_ORDERS  4  /* ways to go round a ring, ... */
#define MORE_ORDERS 16 /* ... and where pages of a set take turns in missing, which depends on them */
#define EXTRAS_MOST 40
#define APART_MOST  5 /* times as far as all entries reach, odd ones only */
#define ONE_LEAST   8 /* pages, that chance does not put into other places each */

/* The pages that conflict with one more, put `past` lines behind the reach. */
static enum chase_state conflict(struct tlb_path *c, unsigned k, uint32_t past, unsigned orders, bool *hot,
				 uint32_t *count, bool *always)
{
	const struct tlb_level *l = &c->level[k];
	uint32_t n = (uint32_t)l->entries.value;
	const struct tlb_ring ring = {.pages = n + 1, .stride = l->line.value, .extra = past ? n + past : 0};
	enum chase_state state = tlb_hot(c, k, &ring, orders, hot, always);

	*count = 0;
	for (uint32_t i = 0; state == CHASE_DONE && i < n; i++)
		*count += hot[i];
	return state;
}

/* Groups of pages that conflict: those that two extras have in common are of one set. */
struct groups {
	uint32_t *of; /* each page's group, 0: none yet */
	uint32_t n, last;
	bool merged;
};

static void join(struct groups *g, const bool *hot)
{
	uint32_t name = ++g->last;

	for (uint32_t q = 0; q < g->n; q++) {
		uint32_t old = hot[q] ? g->of[q] : 0;
		if (hot[q])
			g->of[q] = name;
		if (!old || old == name)
			continue;
		for (uint32_t r = 0; r < g->n; r++)
			if (g->of[r] == old) {
				g->merged = g->merged || !hot[r];
				g->of[r] = name;
			}
	}
}

static void count_groups(const struct groups *g, struct tlb_level *l, uint32_t *seen, bool *equal)
{
	uint32_t first = 0;

	l->set_count = *seen = 0;
	*equal = true;
	for (uint32_t name = 1; name <= g->last; name++) {
		uint32_t size = 0;
		for (uint32_t q = 0; q < g->n; q++)
			size += g->of[q] == name;
		if (!size)
			continue;
		*seen += size;
		first = first ? first : size;
		*equal = *equal && size == first;
		if (l->set_count < sizeof(l->set_size) / sizeof(l->set_size[0]))
			l->set_size[l->set_count++] = size;
	}
}

/* Whether all groups are of different sets, where pages so many apart are of one. */
static bool are_sets_apart(const struct groups *g, uint32_t apart)
{
	for (uint32_t first = 0; first < apart && first < g->n; first++) {
		uint32_t name = 0;
		for (uint32_t q = first; q < g->n; q += apart) {
			if (g->of[q] && name && g->of[q] != name)
				return false;
			name = g->of[q] ? g->of[q] : name;
		}
	}
	return true;
}

/* What the distances within groups have in common: those within most groups exactly, and multiples of it within the others, whose pages
 * took turns. 0: nothing, or two groups would be of one set. */
static uint32_t spacing(const struct groups *g)
{
	uint32_t all = 0, groups = 0, exactly = 0;

	for (unsigned pass = 0; pass < 2; pass++)
		for (uint32_t name = 1; name <= g->last; name++) {
			uint32_t apart = 0, size = 0, first = 0;
			for (uint32_t q = 0; q < g->n; q++) {
				if (g->of[q] != name)
					continue;
				first = size++ ? first : q;
				apart = (uint32_t)stat_gcd(apart, q - first);
			}
			if (!size)
				continue;
			if (size < 3)
				return 0;
			if (!pass)
				all = (uint32_t)stat_gcd(all, apart);
			groups += pass;
			exactly += pass && apart == all;
		}
	/* Groups that no extra joined are parts of one set, or sets of unequal size, which are not dealt as far apart as there are sets. */
	return all && 4 * exactly >= 3 * groups && are_sets_apart(g, all) ? all : 0;
}

/* Pages that one more conflicts with, and one more again: what they say so far. */
struct asked {
	struct groups g;
	struct tlb_conflicts rows;
	bool *hot, *row;
	uint32_t past[EXTRAS_MOST], seen, fewest, largest;
	bool equal, steady, none; /* none: a page conflicts with none */
	unsigned orders;	  /* in which each ring is read */
};

/* Adds what the page `past` lines behind the reach conflicts with. UNDECIDED: c->why says why. */
static enum chase_state ask_extra(struct tlb_path *c, unsigned k, uint32_t past, struct asked *a)
{
	const uint32_t n = a->g.n;
	uint32_t count = 0;
	bool always;
	enum chase_state state = conflict(c, k, past, a->orders, a->hot, &count, &always);

	if (state == CHASE_DONE && !count) {
		a->none = true;
		snprintf(c->why, sizeof(c->why), "one page more than fits conflicts with none");
		state = CHASE_UNDECIDED;
	}
	if (state != CHASE_DONE)
		return state;
	a->steady = a->steady && always;
	a->fewest = count < a->fewest ? count : a->fewest;
	a->largest = count > a->largest ? count : a->largest;
	a->past[a->rows.rows] = past;
	memcpy(a->row + (size_t)a->rows.rows++ * n, a->hot, n * sizeof(*a->hot));
	join(&a->g, a->hot);
	count_groups(&a->g, &c->level[k], &a->seen, &a->equal);
	return CHASE_DONE;
}

static bool has_room(const struct tlb_path *c, const struct tlb_level *l, uint32_t past)
{
	return (l->entries.value + past) * l->line.value + 2 * RING_PAGE <= c->bytes;
}

/* Whether two groups together are as many pages as the largest one is: parts of one set, of which each misses for other extras, would look
 * like that. */
static bool may_be_parts(const struct tlb_level *l)
{
	uint32_t largest = 0;

	for (uint32_t i = 0; i < l->set_count; i++)
		largest = l->set_size[i] > largest ? l->set_size[i] : largest;
	for (uint32_t i = 0; i < l->set_count; i++)
		for (uint32_t k = 0; k < i; k++)
			if (l->set_size[i] + l->set_size[k] == largest)
				return true;
	return false;
}

/* What rings that leave some pages out say of those whose set no row tells, because they missed in rows of several, or never: orders do not tell that where
 * every so many visits miss. UNDECIDED: they do not tell, either. */
static enum chase_state by_left_out(struct tlb_path *c, unsigned k, const struct tlb_conflicts *rows,
				    const uint32_t *past)
{
	struct tlb_level *l = &c->level[k];
	const uint32_t most = sizeof(l->set_size) / sizeof(l->set_size[0]);
	bool equal = false;
	uint32_t sets = 0;

	if (l->blurred)
		return CHASE_UNDECIDED;
	if (tlb_assign(c, k, rows, past, l->set_size, most, &sets) == CHASE_PENDING)
		return l->ways.state = CHASE_PENDING;
	if (!sets)
		return CHASE_UNDECIDED;
	for (uint32_t i = 0; !equal && i < sets && l->set_size[i] == l->set_size[0]; i++)
		equal = i + 1 == sets;
	l->set_count = equal ? 0 : sets;
	l->sets = (struct chase_fact){.state = CHASE_DONE, .value = sets};
	if (equal)
		l->ways = (struct chase_fact){.state = CHASE_DONE, .value = rows->n / sets};
	else
		chase_undecided(&l->ways, "sets are of unequal size");
	return CHASE_DONE;
}

/* Asks for one page more than fits, and one more again, until all pages were seen. UNDECIDED: l->ways says why. */
static enum chase_state ask_extras(struct tlb_path *c, unsigned k, struct asked *a)
{
	struct tlb_level *l = &c->level[k];
	const uint32_t n = a->g.n;
	/* What many pages cost, few extras have to do. */
	const unsigned most = n <= 1024 ? EXTRAS_MOST : EXTRAS;
	enum chase_state all = CHASE_DONE;

	for (unsigned i = 0; i < most && (a->seen < n || a->g.merged || !a->steady) && has_room(c, l, i); i++) {
		/* All that were not there have been asked for: those behind are looked at once they are. */
		const enum chase_state state = ask_extra(c, k, i, a);
		if (state == CHASE_UNDECIDED)
			return chase_undecided(&l->ways, "%s", c->why);
		all = state == CHASE_PENDING ? state : all;
		if (all == CHASE_PENDING && i % EXTRAS + 1 == EXTRAS)
			break;
	}
	if (all == CHASE_DONE && !l->set_count)
		return chase_undecided(&l->ways, "the buffer has no room for a page more than fits");
	return l->ways.state = all;
}

/* How many sets distances within groups say that there are, where groups do not; 0: they do not, either. */
static uint32_t sets_by_spacing(const struct asked *a, const struct tlb_level *l)
{
	const uint32_t n = a->g.n, sets = spacing(&a->g);

	/* Stray misses join groups. Where there is one set indeed, one page more conflicts with all others, or a part of them takes
	 * turns and which part depends on the order. */
	if (sets == 1 && (a->largest < NEARLY_ALL * n || a->fewest < TURNS * n))
		return 0;
	return sets && n % sets == 0 && 2 * l->set_size[0] > n / sets ? sets : 0;
}

/* The same by groups, each of which is a set. */
static enum chase_state sets_by_groups(struct tlb_level *l, const struct asked *a, bool *turns)
{
	const uint32_t n = a->g.n, ways = l->set_size[0];
	char why[sizeof(l->ways.why)] = "";

	if (!a->equal && a->seen != n) {
		snprintf(why, sizeof(why), "sets are unequal, and only %u of %u entries were seen", a->seen, n);
	} else if (!a->equal && may_be_parts(l)) {
		*turns = true;
		snprintf(why, sizeof(why), "sets are unequal, and two of them together are as large as another one");
	} else if (tlb_may_be_visits(&a->rows)) {
		snprintf(why, sizeof(why), "every so many visits of a lap miss, as they may in one set");
	} else if (a->equal && n % ways) {
		snprintf(why, sizeof(why), "%u entries are not whole sets of %u", n, ways);
	}
	if (why[0]) {
		l->set_count = 0;
		return chase_undecided(&l->ways, "%s", why);
	}
	if (!a->equal)
		chase_undecided(&l->ways, "sets are of unequal size");
	else
		l->ways = (struct chase_fact){.state = CHASE_DONE, .value = ways};
	l->sets = (struct chase_fact){.state = CHASE_DONE, .value = a->equal ? n / ways : l->set_count};
	if (a->equal)
		l->set_count = 0;
	return CHASE_DONE;
}

/* Ways and sets, of rings in so many orders. *turns: UNDECIDED, because pages take turns in missing. */
static enum chase_state sets_by(struct tlb_path *c, unsigned k, unsigned orders, bool *turns)
{
	struct tlb_level *l = &c->level[k];
	const uint32_t n = (uint32_t)l->entries.value;
	struct arena *arena = study_arena(c->study);
	struct asked asked = {.g = {.of = ARENA_ARRAY(arena, n, uint32_t), .n = n},
			      .rows = {.n = n},
			      .hot = ARENA_ARRAY(arena, n + 1, bool),
			      .row = ARENA_ARRAY(arena, (size_t)EXTRAS_MOST * n, bool),
			      .fewest = n,
			      .equal = true,
			      .steady = true,
			      .orders = orders};

	l->set_count = 0;
	*turns = false;
	if (!asked.g.of || !asked.hot || !asked.row)
		return chase_undecided(&l->ways, "out of memory");
	const enum chase_state state = ask_extras(c, k, &asked);
	/* Those of a fifo miss once a lap, all of them together, and show in more orders. */
	*turns = asked.none;
	if (state != CHASE_DONE)
		return state;
	asked.rows.hot = asked.row;
	l->shown = l->shown || (!l->blurred && tlb_sets_show(arena, &asked.rows, asked.past));
	if (!asked.g.merged && (asked.steady || tlb_is_partition(&asked.rows)))
		return sets_by_groups(l, &asked, turns);
	/* Pages of a set that take turns in missing do not all show themselves, but all are as many pages apart as there are sets. */
	const uint32_t sets = sets_by_spacing(&asked, l);
	l->set_count = 0;
	if (sets) {
		l->ways = (struct chase_fact){.state = CHASE_DONE, .value = n / sets};
		l->sets = (struct chase_fact){.state = CHASE_DONE, .value = sets};
		return CHASE_DONE;
	}
	const enum chase_state left =
	    orders >= MORE_ORDERS ? by_left_out(c, k, &asked.rows, asked.past) : CHASE_UNDECIDED;
	if (left != CHASE_UNDECIDED)
		return left;
	*turns = true;
	return chase_undecided(&l->ways, "a page more than fits makes others miss now and then; %u of %u were seen to",
			       asked.seen, n);
}

/* Whether all entries are one set, which pages that take turns in missing do not show: as many pages as it holds, as many pages apart or a multiple
 * of that, are of one set, whichever that is, as sets come up again after as many at the latest; and places that a hash chooses are not taken
 * so evenly at several distances. Then they fit only where there is no other set. */
static enum chase_state one_set(struct tlb_path *c, unsigned k, bool *yes)
{
	const struct tlb_level *l = &c->level[k];
	const uint32_t n = (uint32_t)l->entries.value;
	enum chase_state all = CHASE_DONE;
	unsigned times = 0;

	*yes = !l->blurred && n > 1;
	for (uint32_t far = 1; far <= APART_MOST && *yes; far += 2) {
		const uint64_t stride = far * n * l->line.value;
		bool fit, over;
		if (n > 1024 || (n + 1) * stride > c->bytes)
			break;
		enum chase_state a = tlb_fits(c, k, &(struct tlb_ring){.pages = n, .stride = stride}, &fit),
				 b = tlb_fits(c, k, &(struct tlb_ring){.pages = n + 1, .stride = stride}, &over);
		if (a == CHASE_PENDING || b == CHASE_PENDING)
			all = CHASE_PENDING;
		*yes = a != CHASE_UNDECIDED && b != CHASE_UNDECIDED && (a == CHASE_PENDING || fit) &&
		       (b == CHASE_PENDING || !over);
		times++;
	}
	/* A hash chooses among an even number of sets, and may deal out one such distance evenly. */
	*yes = *yes && times >= (n % 2 && n >= ONE_LEAST ? 1 : 2);
	return *yes ? all : CHASE_DONE;
}

enum chase_state tlb_sets(struct tlb_path *c, unsigned k)
{
	struct tlb_level *l = &c->level[k];
	char why[sizeof(c->why)];
	bool turns, one;
	enum chase_state state = sets_by(c, k, HOT_ORDERS, &turns);

	state = turns ? sets_by(c, k, MORE_ORDERS, &turns) : state;
	if (state != CHASE_UNDECIDED)
		return state;
	memcpy(why, c->why, sizeof(why));
	const enum chase_state again = one_set(c, k, &one);
	memcpy(c->why, why, sizeof(why));
	if (again == CHASE_PENDING)
		return l->ways.state = again;
	if (!one)
		return state;
	l->ways = (struct chase_fact){.state = CHASE_DONE, .value = l->entries.value};
	l->sets = (struct chase_fact){.state = CHASE_DONE, .value = 1};
	l->set_count = 0;
	return CHASE_DONE;
}
