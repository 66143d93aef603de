/* Whether a level holds the pages of a ring; which of them it does not: tlb_hot.c. */
#include "base/arena.h"
#include "stat/stat.h"
#include "tlb.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CLEAN_SURE	3 /* laps without a miss, where a quarter of all visits miss */
#define SURE_ROWS	4
#define FIT_ORDERS	5  /* at first, ... */
#define FIT_ORDERS_MOST 20 /* ... and where that does not tell */
#define MANY_MORE	3
#define SKIPPED_MOST	0.1
#define MANY_LOW	8
#define FEW_HOT		0.15
#define MANY_HOT	0.3

/* Judges a ring whose visits are blurred, and whose pages have whims of some cycles: most miss, or hardly any does. */
static enum chase_state fits_blurred(struct tlb_path *c, unsigned k, const struct tlb_view *w, bool *fits)
{
	double *v = ARENA_ARRAY(study_arena(c->study), w->pages, double), each, hot = 0;

	if (!v)
		return CHASE_WHY(c->why, "out of memory");
	size_t n = tlb_page_costs(c, w, v, &each, NULL);
	for (size_t i = 0; i < n; i++)
		hot += tlb_missed(c, k, (float)v[i]);
	*fits = hot <= FEW_HOT * (double)n;
	if (*fits || hot >= MANY_HOT * (double)n)
		return CHASE_DONE;
	return CHASE_WHY(c->why, "%.0f of %zu pages are slow by a little, as whims of single lines are", hot, n);
}

/* How often a visit of this ring costs as much as a miss without one. That is as often as a visit costs so much less
 * than a hit, which no miss does. Mostly the survey saw the same. A cache of data that has nearly all lines of this
 * ring, now one and then another, is an exception. It delays openers and followers much more often, and did so in no
 * ring of the survey. */
static double noise_in(const struct tlb_path *c, unsigned k, const struct tlb_view *w)
{
	const struct tlb_level *l = &c->level[k];
	unsigned low = 0, of = 0;

	for (uint32_t v = 0; v < w->visits; v++) {
		of += !isnan(w->cost[v]);
		low += tlb_is_low(c, k, w->cost[v]);
	}
	return low > stat_binomial_limit(of, fmin(0.5, l->noise), JUDGE_CHANCE_ALONE) ? (double)low / of : l->noise;
}

/* Visits that cost as much as a miss, and those that cost as much less than a hit. The latter have a follower that
 * something delayed. less: the same, or half as much less. */
struct balance {
	double high, low, less, told;
};

static struct balance balance_of(const struct tlb_path *c, unsigned k, const struct tlb_view *w)
{
	const double hit = c->step[k], half = hit - (c->level[k].floor - hit) / 2;
	struct balance b = {0};

	for (uint32_t v = 0; v < w->visits; v++) {
		b.told += !isnan(w->cost[v]);
		b.high += tlb_missed(c, k, w->cost[v]);
		b.low += tlb_is_low(c, k, w->cost[v]);
		b.less += w->cost[v] <= half && w->cost[v] < -c->gap;
	}
	return b;
}

/* How far chance makes both differ. */
static double chance_of(const struct balance *b)
{
	return sqrt(b->high + b->low + 1);
}

/* Whether no miss of each lap is among them. A miss shows as one more dear visit only if nothing else delayed that
 * visit. It shows less and less the more visits are delayed. Many more cheap visits than dear ones mean that noise does
 * not come upon both lines of a page alike. Then nobody knows how many of the dear ones it made. */
static bool no_surplus(const struct balance *b, double laps)
{
	const double more = b->high - b->low, chance = chance_of(b), alone = 1 - (b->high + b->low) / b->told;

	return more > -JUDGE_SIGMA_SURE * chance && more + JUDGE_SIGMA_SURE * chance < TLB_LAP_MOST * laps * alone;
}

/* How far from a cost that the survey saw one visit's may be. The opening of a row adds to it, as does a clock that ran
 * faster than it did then. */
static double around(const struct tlb_path *c, double cost)
{
	return c->gap + 4 * c->sigma + c->rows + (TLB_COST_ALIKE + c->swing) * cost;
}

/* As balance_of, but only of visits that cost what a miss of level k costs, as far as the survey saw. A line that some
 * cache of data has now and then costs as much more as that cache is faster. It is left out unless both costs are
 * alike. Low ones are as far below a hit, of this level or of one above, as those visits would be beyond it. */
static struct balance balance_at(const struct tlb_path *c, unsigned k, const struct tlb_view *w)
{
	double cost[TLB_STEPS + 1 + TLB_ODD], wide[TLB_STEPS + 1 + TLB_ODD];
	const double hit = c->step[k];
	struct balance b = {0};
	unsigned n = 0;

	for (unsigned i = k + 1; i < c->steps; i++)
		cost[n++] = c->step[i];
	for (unsigned i = 0; i < c->odd_count; i++)
		if (c->odd[i] > hit + c->gap)
			cost[n++] = c->odd[i];
	for (unsigned i = 0; i < n; i++)
		wide[i] = around(c, cost[i]);
	for (uint32_t v = 0; v < w->visits; v++) {
		const double is = w->cost[v];
		bool high = false, low = false;
		b.told += !isnan(is);
		for (unsigned i = 0; i < n; i++) {
			high = high || (tlb_missed(c, k, (float)is) && fabs(is - cost[i]) <= wide[i]);
			for (unsigned j = 0; j <= k && !low; j++)
				low = fabs(2 * c->step[j] - is - cost[i]) <= wide[i];
		}
		b.high += high;
		b.low += low && is < -c->gap;
	}
	return b;
}

/* Whether a good part of the seeming misses is delayed by something else. Many visits that are too cheap say so, if the
 * surplus of dear ones mostly costs what no miss was seen to cost. A cache of data may have openers' lines more rarely
 * than followers'. */
static bool as_others(const struct balance *all, const struct balance *at)
{
	return MANY_LOW * all->less > all->high && 2 * (at->high - at->low) < all->high - all->low;
}

/* The same of one ring, of which `all` are its visits. Asked last: it looks at each of them again. */
static bool others_in(const struct tlb_path *c, unsigned k, const struct tlb_view *w, const struct balance *all)
{
	const struct balance at = balance_at(c, k, w);

	return as_others(all, &at);
}

/* Visits of the lap from v on that are neither quite a hit nor quite a miss. */
static unsigned between(const struct tlb_path *c, unsigned k, const struct tlb_view *w, uint32_t from)
{
	const float half = (float)(c->step[k] + c->level[k].floor) / 2;
	unsigned n = 0;

	for (uint32_t v = from; v < from + w->pages; v++)
		n += w->cost[v] >= half && !tlb_missed(c, k, w->cost[v]);
	return n;
}

/* Whether a cache in front of the TLB had both lines of a page in the lap from v on. The TLB never saw that page, and
 * one page less than asked may be what fits. */
static bool skipped(const struct tlb_path *c, const struct tlb_view *w, uint32_t from)
{
	if (w->skipped)
		for (uint32_t v = from; v < from + w->pages; v++)
			if (w->ticks[2 * v] <= c->front && w->ticks[2 * v + 1] <= c->front)
				return true;
	return false;
}

/* Whether a visit of the lap from v on may have been a miss although nobody knows its cost. The opener was as slow as a
 * miss, but the clock changed then. */
static bool may_hide(const struct tlb_path *c, unsigned k, const struct tlb_view *w, uint32_t from)
{
	for (uint32_t v = from; w->moved && v < from + w->pages; v++) {
		const uint32_t other = tlb_other_role(w, v);
		if (w->moved[v] && isnan(w->cost[v]) &&
		    w->ticks[2 * v] - w->ticks[2 * other + 1] >= c->level[k].floor - c->swing * c->slowest)
			return true;
	}
	return false;
}

/* What one ring says: 1 it fits, -1 it does not, 0 noise may be either. */
static int judge(struct tlb_path *c, unsigned k, const struct tlb_view *w)
{
	const double noise = noise_in(c, k, w);
	unsigned misses = 0, hot = 0, cold = 0, warm = 0, clean = 0, laps = 0;
	double usual = 0;

	for (uint32_t from = 0; from < w->visits; from += w->pages)
		usual += (double)between(c, k, w, from) * w->pages / w->visits;
	for (uint32_t from = 0; from < w->visits; from += w->pages, laps++) {
		unsigned lap = 0, told = 0;
		for (uint32_t v = from; v < from + w->pages; v++) {
			lap += tlb_missed(c, k, w->cost[v]);
			told += !isnan(w->cost[v]);
		}
		misses += lap;
		/* A clock that changes its rate between the two accesses to a line makes all misses of a lap a little
		 * too cheap. */
		clean += !lap && told >= TLB_TOLD * w->pages && !skipped(c, w, from) && !may_hide(c, k, w, from) &&
			 between(c, k, w, from) <= usual + JUDGE_SIGMA * sqrt(usual) + 1;
	}
	/* A set that is too full misses in every lap, so one without is proof, unless what makes costs too low hid the miss. */
	double q = fmin(0.5, 1.5 * noise), again = laps >= 3 ? q * q * q : q * q;
	const bool proof = clean && clean >= 4 * q * laps;
	if (proof && (clean >= CLEAN_SURE || 4 * misses < w->visits))
		return 1;
	/* Pages that missed at three of four visits and more: noise hits another one each time. */
	double worst = fmin(0.5, 3 * noise); /* what keeps step with the laps comes upon the same pages each time */
	unsigned much = stat_binomial_limit(laps, q, JUDGE_CHANCE_ALONE / w->pages);
	for (uint32_t i = 0; i < w->pages; i++) {
		unsigned own = 0, under = 0;
		for (uint32_t v = i; v < w->visits; v += w->pages) {
			own += tlb_missed(c, k, w->cost[v]);
			under += tlb_is_low(c, k, w->cost[v]);
		}
		hot += laps >= 2 && 4 * own >= 3 * laps;
		cold += laps >= 2 && 4 * under >= 3 * laps;
		warm += own > much;
	}
	/* Noise comes upon both lines of a page alike. What keeps step with the laps makes pages too cheap as often as it makes others
	 * dear, and in another order it comes upon others. */
	const struct balance b = balance_of(c, k, w);
	const double more = b.high - b.low, chance = chance_of(&b);
	/* A first in, first out set of one page too many may have laps that miss one page alone. Among many dear visits
	 * one such miss is hidden once. */
	if (proof)
		return more > JUDGE_SIGMA * chance ? 0 : 1;
	if (((misses > stat_binomial_limit(w->visits, worst, JUDGE_CHANCE_ALONE) && more > JUDGE_SIGMA * chance) ||
	     (hot > MANY_MORE * cold && hot > stat_binomial_limit(w->pages, fmin(0.5, 4 * again), JUDGE_CHANCE_ALONE) &&
	      hot > 1 + worst * w->pages)) &&
	    !others_in(c, k, w, &b))
		return -1;
	if (w->skipped > TLB_SKIPPED * w->visits)
		return 0;
	if (laps >= 16 && !warm && q * w->pages < 0.3)
		return 1;
	/* A set that is too full misses in every lap besides noise, whatever it replaces. */
	if (laps < 16 || b.told < TLB_TOLD * w->visits)
		return 0;
	if (!warm && no_surplus(&b, laps))
		return 1;
	return warm > 1 && more > TLB_SURE_NOT * chance && more > TLB_LAP_LEAST * laps && !others_in(c, k, w, &b) ? -1
														  : 0;
}

struct orders_sum {
	struct tlb_path *c;
	unsigned k;
	struct balance sum, at; /* of all visits, and of those that cost what misses do */
	double laps, skipped;	/* skipped: visits that what translates never saw */
	struct tlb_roles *roles;
	uint32_t *landing; /* each page's visits in which a miss would show by roles */
	bool told, denied;
	bool roles_tell; /* more visits would say more by roles */
};

static void add_balance(void *ctx, unsigned order, const struct tlb_view *w)
{
	struct orders_sum *s = ctx;
	const struct balance one = balance_of(s->c, s->k, w), at = balance_at(s->c, s->k, w);

	(void)order;
	s->denied = s->denied || judge(s->c, s->k, w) < 0;
	s->told = s->told && one.told >= TLB_TOLD * w->visits;
	s->sum.high += one.high;
	s->sum.low += one.low;
	s->sum.less += one.less;
	s->sum.told += one.told;
	s->at.high += at.high;
	s->at.low += at.low;
	tlb_roles_add(s->c, w, s->roles);
	s->skipped += w->skipped;
	s->laps += w->visits / w->pages;
}

static void look_at_roles(void *ctx, unsigned order, const struct tlb_view *w)
{
	struct orders_sum *s = ctx;

	(void)order;
	tlb_roles_look(s->c, w, s->roles, s->landing);
}

/* What openers and followers of all orders so far say, line or no line. */
static int by_roles(struct orders_sum *s, const struct tlb_ring *ring, unsigned last, uint32_t turns)
{
	double least = INFINITY;

	memset(s->landing, 0, ring->pages * sizeof(*s->landing));
	/* What openers of one page say, no other page does: the one that says least counts. */
	s->roles_tell = tlb_roles_places(s->c, s->k, s->laps, s->roles);
	if (!s->roles_tell || tlb_over_orders(s->c, ring, 1, last, turns, look_at_roles, s) != CHASE_DONE)
		return 0;
	for (uint32_t i = 0; i < ring->pages; i++)
		least = fmin(least, s->landing[i]);
	return tlb_roles_say(s->roles, s->laps, least - 2 * s->skipped);
}

/* Many visits in several orders, together. UNDECIDED, and no reason: they do not tell either. */
static enum chase_state by_orders(struct tlb_path *c, unsigned k, const struct tlb_ring *ring, bool *fits)
{
	struct orders_sum s = {.c = c, .k = k, .told = true};
	const uint32_t turns = TLB_LOOK_MOST / (ring->pages * tlb_lines(c, ring));
	bool over = false, by_places = false;

	*fits = false;
	s.landing = ARENA_ARRAY(study_arena(c->study), ring->pages, uint32_t);
	s.roles = tlb_roles_new(study_arena(c->study));
	if (!s.landing || !s.roles)
		return CHASE_WHY(c->why, "out of memory");
	for (unsigned first = 1, last = FIT_ORDERS; last <= FIT_ORDERS_MOST; first = last + 1, last *= 4) {
		enum chase_state state = tlb_over_orders(c, ring, first, last, turns, add_balance, &s);
		if (state != CHASE_DONE)
			return state;
		const double more = s.sum.high - s.sum.low, chance = chance_of(&s.sum);
		*fits = !s.denied && no_surplus(&s.sum, s.laps);
		over = !as_others(&s.sum, &s.at) && more > TLB_SURE_NOT * chance && more > TLB_LAP_LEAST * s.laps;
		const int says = by_roles(&s, ring, last, turns);
		if (says) {
			*fits = says > 0;
			over = !*fits;
		}
		by_places = says != 0;
		/* What differs from order to order more visits do not tell, either. */
		if (says || ((*fits || over || s.denied || !s.told) && !s.roles_tell))
			break;
	}
	c->why[0] = '\0';
	if (!s.told && !by_places)
		*fits = over = false;
	return (*fits || over) ? CHASE_DONE : CHASE_UNDECIDED;
}

/* Asks again with as many lines of each page as there is room for. A cache of data, or one in front, may have some of a
 * ring's lines now and then; so many come from behind it. Pages that fit although more data come between two visits fit
 * without them. Pages that do not may miss because of the data, which says nothing. */
static enum chase_state fits_with_more(struct tlb_path *c, unsigned k, const struct tlb_ring *ring, bool *fits)
{
	const uint32_t lines = tlb_lines(c, ring);
	struct tlb_ring more = *ring;
	struct tlb_view w;

	for (more.lines = 2 * lines; 2 * more.lines * more.pages <= TLB_LOOK_MOST;)
		more.lines *= 2;
	more.lines = tlb_lines(c, &more);
	if (more.lines < 2 * lines || more.lines * more.pages > TLB_LOOK_MOST)
		return CHASE_UNDECIDED;
	more.turns = TLB_LOOK_MOST / (more.lines * more.pages);
	const enum chase_state state = tlb_get(c, &more, &w);
	*fits = state == CHASE_DONE && judge(c, k, &w) > 0;
	return state == CHASE_DONE && !*fits ? CHASE_UNDECIDED : state;
}

static enum chase_state look_whether(struct tlb_path *c, unsigned k, const struct tlb_ring *ring, bool *fits)
{
	struct tlb_ring again = *ring;
	struct tlb_view w = {0};
	enum chase_state state = tlb_get(c, ring, &w);

	c->is_covered = state == CHASE_DONE && w.skipped > TLB_SKIPPED * w.visits;
	/* Laps in which none was skipped tell all the same, unless there are few. */
	const bool few = w.skipped <= SKIPPED_MOST * w.visits && !c->level[k].blurred;
	int says = state == CHASE_DONE && c->is_covered && few ? judge(c, k, &w) : 0;
	if (c->is_covered && !says)
		return CHASE_WHY(c->why, "of %u visits to %u pages a cache in front of the TLB had both lines in %u",
				 w.visits, w.pages, w.skipped);
	for (unsigned look = 0; state == CHASE_DONE && c->level[k].blurred; look++) {
		/* Whims of chance are fewer among more visits. */
		const enum chase_state told = fits_blurred(c, k, &w, fits);
		again.turns = 8 * w.visits / (w.pages * w.lines);
		if (told == CHASE_DONE || look >= TLB_LOOKS || 8 * w.visits > TLB_LOOK_MOST)
			return told;
		state = tlb_get(c, &again, &w);
	}
	for (unsigned look = 0; state == CHASE_DONE; look++) {
		says = says ? says : judge(c, k, &w);
		*fits = says > 0;
		if (says) {
			c->is_covered = false;
			return CHASE_DONE;
		}
		again.turns = 8 * w.visits / (w.pages * w.lines);
		if (look >= TLB_LOOKS || 8 * w.visits > TLB_LOOK_MOST)
			break;
		state = tlb_get(c, &again, &w);
	}
	if (state == CHASE_DONE) {
		state = by_orders(c, k, ring, fits);
		if (state == CHASE_UNDECIDED && !c->why[0])
			state = fits_with_more(c, k, ring, fits);
	}
	if (state == CHASE_UNDECIDED && !c->why[0]) {
		snprintf(c->why, sizeof(c->why),
			 "some of %u visits to %u pages in steps of %llu bytes were slow, as noise may be", w.visits,
			 w.pages, (unsigned long long)ring->stride);
	}
	return state;
}

void tlb_look_of(const struct tlb_path *c, unsigned k, const struct tlb_ring *ring, struct tlb_look *key)
{
	memset(key, 0, sizeof(*key)); /* what lies between its members counts as well */
	key->ring = *ring;
	key->bytes = c->bytes;
	memcpy(key->step, c->step, sizeof(key->step));
	memcpy(key->odd, c->odd, sizeof(key->odd));
	key->odd_count = c->odd_count;
	key->rows = c->rows;
	key->grain = c->grain;
	key->gap = c->gap;
	key->sigma = c->sigma;
	key->front = c->front;
	key->floor = c->level[k].floor;
	key->noise = c->level[k].noise;
	key->experiment = c->experiment;
	key->k = k;
	key->steps = c->steps;
	key->lines = c->lines;
	key->blurred = c->level[k].blurred;
}

/* What a look said. */
struct fits_said {
	enum chase_state state;
	bool fits, is_covered;
	char why[sizeof(((struct tlb_path *)0)->why)];
};

enum chase_state tlb_fits(struct tlb_path *c, unsigned k, const struct tlb_ring *ring, bool *fits)
{
	struct fits_said said = {.fits = false};
	struct tlb_look key;

	tlb_look_of(c, k, ring, &key);
	const struct fits_said *before = study_recall(c->study, "fits", &key, sizeof(key));
	if (before) {
		*fits = before->fits;
		c->is_covered = before->is_covered;
		/* What was decided gives no reason, and leaves that of another ring. */
		if (before->state == CHASE_UNDECIDED)
			memcpy(c->why, before->why, sizeof(c->why));
		return before->state;
	}
	char why[sizeof(c->why)];
	memcpy(why, c->why, sizeof(why));
	said.state = look_whether(c, k, ring, &said.fits);
	if (said.state == CHASE_PENDING)
		return said.state;
	if (said.state == CHASE_DONE)
		memcpy(c->why, why, sizeof(why));
	*fits = said.fits;
	said.is_covered = c->is_covered;
	memcpy(said.why, c->why, sizeof(said.why));
	study_keep(c->study, "fits", &key, sizeof(key), &said, sizeof(said));
	return said.state;
}

struct tlb_surplus tlb_surplus_of(const struct tlb_path *c, unsigned k, const struct tlb_view *w)
{
	const struct balance b = balance_at(c, k, w);
	const double laps = w->visits / w->pages;

	/* Misses of pages that are too many come in every lap; only what noise adds is left to chance, and is as often too low. */
	return (struct tlb_surplus){.each = (b.high - b.low) / laps, .chance = sqrt(2 * b.low + 1) / laps};
}

bool tlb_as_rows(const struct tlb_surplus *less, const struct tlb_surplus *more)
{
	return more->each - less->each < TLB_ROW_MISSES + SURE_ROWS * hypot(less->chance, more->chance);
}

enum chase_state tlb_balance(struct tlb_path *c, unsigned k, const struct tlb_ring *ring, double *high, double *low,
			     double *visits)
{
	struct tlb_view w;
	enum chase_state state = tlb_get(c, ring, &w);
	struct balance b = {0};

	if (state == CHASE_DONE)
		b = balance_of(c, k, &w);
	*high = b.high;
	*low = b.low;
	*visits = b.told;
	return state;
}
