/* Which pages of a ring a level does not hold: those that miss in any order of visits. */
#include "base/arena.h"
#include "stat/stat.h"
#include "tlb.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define QUIET_LEAST 8	/* pages */
#define HOT_MISSES  12	/* of a page tell it from those that miss by noise */
#define HOT_CLEAR   1.5 /* times as many misses as noise may make, at least, or more of both are looked at */
#define HOT_ALIKE   4	/* times as often as another one does a page of one set miss, at most ... */
#define HOT_MANY    16	/* orders */
#define HOT_LRU	    2	/* ... and where one misses each time, all do, nearly */

/* Misses of each page, how often it was seen, and how often as much too cheap. */
struct page_misses {
	struct tlb_path *c;
	unsigned k;
	uint32_t *own, *seen, *low;
	unsigned laps;
	uint32_t longer; /* turns of a longer look; 0: none is */
};

static void add_misses(void *ctx, unsigned order, const struct tlb_view *w)
{
	struct page_misses *m = ctx;

	if (order && w->order == 1) /* it has been added */
		return;
	for (uint32_t v = 0; v < w->visits; v++) {
		const uint32_t page = ring_page(w, v);
		m->own[page] += tlb_missed(m->c, m->k, w->cost[v]);
		m->seen[page] += !isnan(w->cost[v]);
		m->low[page] += tlb_is_low(m->c, m->k, w->cost[v]);
	}
	m->laps += w->visits / w->pages;
	m->longer = 8 * w->visits <= TLB_LOOK_MOST ? 8 * w->visits / (w->pages * w->lines) : 0;
}

/* How often noise may look like a miss in this very ring: twice what it does to the quieter half of the pages. */
static double quiet_rate(struct tlb_path *c, const uint32_t *own, const uint32_t *seen, uint32_t pages)
{
	double *v = ARENA_ARRAY(study_arena(c->study), pages, double), missed = 0, visits = 0;
	const uint32_t half = pages / 2;

	if (!v || half < QUIET_LEAST)
		return 1;
	for (uint32_t i = 0; i < pages; i++) {
		v[i] = own[i];
		visits += seen[i] / 2.0;
	}
	qsort(v, pages, sizeof(*v), stat_compare_double);
	for (uint32_t i = 0; i < half; i++)
		missed += v[i];
	return visits > 0 ? 2 * (missed + 3) / visits : 1;
}

/* How many of a page's visits may look like misses and be none. A cache of data that has now this line and now another one makes them so in
 * this very ring, and as many others as much too cheap; that may be far more than in the survey, or in a ring of one page more. */
static unsigned noise_limit(struct tlb_path *c, unsigned k, const struct page_misses *m, uint32_t pages)
{
	double rate = fmin(1.5 * c->level[k].noise, quiet_rate(c, m->own, m->seen, pages)), low = 0, of = 0;

	for (uint32_t i = 0; i < pages; i++) {
		low += m->low[i];
		of += m->seen[i];
	}
	if (low > stat_binomial_limit((uint32_t)of, fmin(0.5, c->level[k].noise), TLB_CHANCE))
		rate = fmax(rate, 1.5 * low / of);
	return stat_binomial_limit(m->laps, fmin(0.5, rate), TLB_CHANCE);
}

static enum chase_state look_hot(struct tlb_path *c, unsigned k, const struct tlb_ring *ring, unsigned orders,
				 bool *hot, bool *always)
{
	uint32_t *own = ARENA_ARRAY(study_arena(c->study), 3 * (size_t)ring->pages, uint32_t),
		 *seen = own + ring->pages, *low = seen + ring->pages;
	struct page_misses m = {.c = c, .k = k, .own = own, .seen = seen, .low = low};

	*always = true;
	if (!own)
		return CHASE_WHY(c->why, "out of memory");
	for (unsigned look = 0; look < TLB_LOOKS; look++) {
		enum chase_state state = tlb_over_orders(c, ring, 0, orders - 1, m.longer, add_misses, &m);
		if (state != CHASE_DONE)
			return state;
		uint32_t few = 0;
		for (uint32_t i = 0; i + 1 < ring->pages; i++)
			few = own[i] > few ? own[i] : few;
		/* So few misses of any page that a stray one or two look like them: more of both. */
		if (!m.longer || c->level[k].blurred ||
		    (few >= HOT_MISSES && few > HOT_CLEAR * noise_limit(c, k, &m, ring->pages)))
			break;
	}
	const struct tlb_level *l = &c->level[k];
	const unsigned laps = m.laps;
	unsigned noise = noise_limit(c, k, &m, ring->pages), many = 0, most = 0;
	for (uint32_t i = 0; i + 1 < ring->pages; i++)
		most = own[i] > most ? own[i] : most;
	/* Of many orders some are hard on one page; what noise makes of each is then as rare. */
	const unsigned alike = most >= 0.9 * laps ? HOT_LRU : orders >= HOT_MANY ? 2 * HOT_ALIKE : HOT_ALIKE;
	for (uint32_t i = 0; i < ring->pages; i++) {
		/* What a cache in front hides of a page's visits says nothing of the others. */
		const uint64_t often = (uint64_t)alike * own[i] * laps;
		hot[i] = l->blurred ? 2 * own[i] > laps : own[i] > noise && often >= (uint64_t)most * seen[i];
		many += hot[i];
		*always = *always && (!hot[i] || own[i] >= 0.9 * seen[i]);
	}
	if (!l->blurred)
		return CHASE_DONE;
	/* More sets than one would leave half of the pages alone. */
	if (many < 0.8 * ring->pages)
		return CHASE_WHY(c->why, "which pages conflict could not be told from whims of single lines");
	for (uint32_t i = 0; i < ring->pages; i++)
		hot[i] = true;
	return CHASE_DONE;
}

struct hot_key {
	struct tlb_look look;
	uint64_t orders;
};

/* Many visits in many orders are counted for each look, so what was seen is kept for the passes to come. */
enum chase_state tlb_hot(struct tlb_path *c, unsigned k, const struct tlb_ring *ring, unsigned orders, bool *hot,
			 bool *always)
{
	struct hot_key key = {.orders = orders};

	tlb_look_of(c, k, ring, &key.look);
	const bool *before = study_recall(c->study, "hot pages", &key, sizeof(key));
	/* One more than there are pages: whether they missed always. */
	bool *kept = ARENA_ARRAY(study_arena(c->study), ring->pages + 1, bool);
	if (before) {
		memcpy(hot, before, ring->pages * sizeof(*hot));
		*always = before[ring->pages];
		return CHASE_DONE;
	}
	const enum chase_state state = look_hot(c, k, ring, orders, hot, always);
	if (state == CHASE_DONE && kept) {
		memcpy(kept, hot, ring->pages * sizeof(*hot));
		kept[ring->pages] = *always;
		study_keep(c->study, "hot pages", &key, sizeof(key), kept, (ring->pages + 1) * sizeof(*kept));
	}
	return state;
}
