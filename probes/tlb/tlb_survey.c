/* Which costs of translation occur. */
#include "base/arena.h"
#include "stat/stat.h"
#include "tlb.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHARE_SEEN 0.25 /* of the pages of a ring have a cost that is worth remembering */
#define ROW_RINGS  4	/* whose lines are at hand, and that are read with more lines */
#define ROW_PAGES  1024
#define ROW_LINES                                                                                                      \
	6 /* of which the two of a visit are nearly half of what is read of a page apart, as those of all of them are */
#define ROW_PAGES_MOST 8000 /* whose lines are all timed as the first and as the second */
#define ROW_SEEN       0.1  /* of a ring's visits have a cost, ... */
#define ROW_GONE       0.25 /* ... and of those so many have it still, at most, where their lines are farther apart */
#define BASE_PAGES     8    /* of a ring whose pages are timed often */
#define STRIDE_MOST    (64u << 20) /* no entry covers more; windows of what can be walked at a time are larger */
#define AT_HAND	       0.8	   /* of the visits: a clock that is faster now and then makes some seem slow */
#define COSTLY	       0.4
#define MODES	       8
#define APART	       8    /* cycles, ... */
#define APART_PART     0.05 /* ... and of a load, by which another level of the caches is slower at least */
#define BLUR_MOST      1.5  /* cycles, of a page's median */
#define STEP_SIGMA     1.5  /* steps of the clock, that a deviation of one of them is as sigma */
#define BOOST_TRIES    6    /* besides the first one */

unsigned tlb_survey_least(const struct tlb_path *c)
{
	unsigned k = 1;

	while (tlb_survey_stride(c, k) > STRIDE_MOST)
		k++;
	return k;
}

uint64_t tlb_survey_stride(const struct tlb_path *c, unsigned k)
{
	return c->whole >> k;
}

uint32_t tlb_survey_pages(const struct tlb_path *c, unsigned k)
{
	uint64_t n = (c->bytes - 2 * RING_PAGE) / tlb_survey_stride(c, k) + 1;
	return n < RING_MOST ? (uint32_t)n : RING_MOST;
}

static double follower_quantile(const struct tlb_path *c, const struct tlb_view *w, double q)
{
	double *v = ARENA_ARRAY(study_arena(c->study), 2 * (size_t)w->visits, double);

	if (!v)
		return 0;
	for (uint32_t i = 0; i < w->visits; i++)
		v[i] = w->ticks[2 * i + 1];
	return stat_quantile(v, w->visits, q, v + w->visits);
}

/* The costs that many pages of one ring have. *told: pages that had one. */
static unsigned costs_of(struct tlb_path *c, const struct tlb_view *w, struct tlb_seen *out, uint32_t *told)
{
	double *v = ARENA_ARRAY(study_arena(c->study), 2 * (size_t)w->pages, double), *scratch = v + w->pages, each;
	struct stat_mode mode[MODES];
	unsigned n = 0;

	size_t mixed, m = !v || w->skipped > TLB_SKIPPED * w->visits ? 0 : tlb_page_costs(c, w, v, &each, &mixed);
	*told = (uint32_t)m;
	if (!m)
		return 0;
	const double blur = 1.25 * c->sigma / sqrt(each), middle = stat_median(v, m, scratch);
	size_t modes = stat_modes(v, m, fmax(c->gap, 4 * blur), SHARE_SEEN, mode, MODES, scratch);
	for (size_t i = 0; i < modes; i++) {
		/* What is blurred as much as this tells only steps that are much larger. */
		if (blur > BLUR_MOST ? mode[i].centre > 8 * blur : mode[i].hi - mode[i].lo <= 2 * c->gap + 10 * blur)
			out[n++] = (struct tlb_seen){.centre = mode[i].centre,
						     .share = (double)mode[i].count / (double)(m + mixed),
						     .pages = w->pages};
	}
	/* A base that knows no noise says nothing of what comes upon some visits: where most pages are alike, the others are not looked
	 * at. */
	if (!n && blur <= BLUR_MOST) {
		size_t alike = 0;
		for (size_t i = 0; i < m; i++)
			alike += fabs(v[i] - middle) <= c->gap + 5 * blur;
		if ((double)alike >= TLB_SHARE_REAL * (double)(m + mixed))
			out[n++] = (struct tlb_seen){
			    .centre = middle, .share = (double)alike / (double)(m + mixed), .pages = w->pages};
	}
	return n;
}

static bool is_quick(const struct tlb_path *c, double ticks)
{
	/* The slowest ring may have met a clock that was faster, by which the memory seems farther. */
	return ticks < c->slowest - APART - fmax(APART_PART, c->swing) * c->slowest;
}

bool tlb_at_hand(const struct tlb_path *c, const struct tlb_view *w)
{
	return is_quick(c, follower_quantile(c, w, 0.5));
}

bool tlb_none_quick(const struct tlb_path *c)
{
	return !is_quick(c, c->quickest);
}

/* Rings whose lines were at hand: followers, which cost no translation, were faster there than in others, so that it was a cache that
 * answered. The memory did not, and none of its rows. */
static void at_hand(struct tlb_path *c, const struct tlb_view *w, unsigned rings, bool *near)
{
	c->slowest = 0;
	c->quickest = c->beyond = INFINITY;
	for (unsigned k = 0; k < rings; k++) {
		const double middle = follower_quantile(c, &w[k], 0.5);
		c->slowest = fmax(c->slowest, middle);
		c->quickest = fmin(c->quickest, middle);
		if (middle > c->front)
			c->beyond = fmin(c->beyond, middle);
	}
	for (unsigned k = 0; k < rings; k++)
		near[k] = tlb_at_hand(c, &w[k]);
}

double tlb_least_cost(const struct tlb_path *c, unsigned k)
{
	double next = c->step[k + 1];

	/* What costs more than a hit is a miss, whatever has answered it. */
	for (unsigned i = 0; i < c->odd_count; i++)
		if (c->odd[i] > c->step[k] + c->gap)
			next = fmin(next, c->odd[i]);
	return next - c->step[k];
}

/* Whether pages cost something although nearly all of their lines are at hand. Their cache is behind the TLB then, as
 * each line is an opener as often as a follower. */
static bool is_translated(const struct tlb_path *c, const struct tlb_view *w, double front)
{
	unsigned fast = 0, late = 0;

	for (uint32_t v = 0; v < w->visits; v++) {
		fast += w->ticks[2 * v + 1] <= front;
		late += w->ticks[2 * v + 1] <= front && w->ticks[2 * v] > front + c->gap;
	}
	return fast > AT_HAND * w->visits && late > COSTLY * w->visits;
}

/* Is there a cache in front of the TLB, whose hits ask for no translation? A few lines of one page stay in a cache that is there,
 * many of many pages do not. One behind the TLB answers followers, and openers as well, but those later. */
static enum chase_state find_front(struct tlb_path *c, struct tlb_view *w, unsigned rings)
{
	struct tlb_view two, many;
	enum chase_state a = tlb_get(c, &(struct tlb_ring){.pages = 1, .stride = 4096, .lines = 16}, &two);
	enum chase_state b = tlb_get(c, &(struct tlb_ring){.pages = 4096, .stride = 2 * RING_PAGE}, &many);

	if (a != CHASE_DONE || b != CHASE_DONE)
		return a == CHASE_UNDECIDED || b == CHASE_UNDECIDED ? CHASE_UNDECIDED : CHASE_PENDING;
	double near = follower_quantile(c, &two, 0.98), far = follower_quantile(c, &many, 0.1);
	if (far <= near + 8 + 0.05 * near)
		return CHASE_DONE;
	double front = near + 4 + 0.02 * near;
	for (unsigned k = 0; k < rings; k++)
		if (is_translated(c, &w[k], front))
			return CHASE_DONE;
	/* So few lines of many pages that all of them stay in it, as long as it is no smaller than most are. */
	for (uint32_t pages = 64; pages <= 256; pages *= 4) {
		const uint64_t part = c->whole / 2 / pages;
		const struct tlb_ring ring = {
		    .pages = pages, .stride = part < STRIDE_MOST ? part : STRIDE_MOST, .lines = 2};
		const enum chase_state state = part < RING_PAGE ? CHASE_UNDECIDED : tlb_get(c, &ring, &many);
		if (state == CHASE_PENDING)
			return state;
		if (state == CHASE_DONE && is_translated(c, &many, front))
			return CHASE_DONE;
	}
	c->front = front;
	for (unsigned k = 0; k < rings; k++)
		tlb_cover(c, &w[k]);
	return CHASE_DONE;
}

/* Whether two of the costs seen are as far apart as that. */
static bool are_apart(const struct tlb_path *c, double least, double most)
{
	double cost[TLB_STEPS + 1 + TLB_ODD];
	unsigned n = 0;

	for (unsigned i = 0; i < c->steps; i++)
		cost[n++] = c->step[i];
	for (unsigned i = 0; i < c->odd_count; i++)
		cost[n++] = c->odd[i];
	for (unsigned i = 0; i < n; i++)
		for (unsigned k = 0; k < n; k++)
			if (cost[k] - cost[i] > least && cost[k] - cost[i] <= most)
				return true;
	return false;
}

/* The cost of the memory's rows, if some costs are as little apart as that. Pages of a ring whose lines are at hand
 * cost more once they have so many lines that those are not. Translation sees the same pages in the same order. 0: that
 * is not seen. */
static enum chase_state find_rows(struct tlb_path *c, const struct tlb_view *w, unsigned rings,
				  const struct tlb_ring *ring, const bool *near, double *rows)
{
	enum chase_state all = CHASE_DONE;
	unsigned tried = 0;

	*rows = 0;
	/* Those with the most pages first, as their lines are the most. */
	for (uint32_t most = ROW_PAGES + 1; most && tried < ROW_RINGS; tried++) {
		struct tlb_seen few[MODES], many[MODES];
		struct tlb_view far;
		unsigned k = rings;
		uint32_t next = 0, told;
		double cost_few = 0;
		for (unsigned i = 0; i < rings; i++)
			if (near[i] && w[i].pages < most && w[i].pages > next && costs_of(c, &w[i], few, &told) == 1 &&
			    few[0].share >= TLB_SHARE_REAL) {
				k = i;
				next = w[i].pages;
				cost_few = few[0].centre;
			}
		most = next;
		if (k == rings)
			break;
		struct tlb_ring more = ring[k];
		more.lines = 2 * RING_PAGE / RING_LINE;
		const enum chase_state state = tlb_get(c, &more, &far);
		if (state == CHASE_PENDING)
			all = state;
		if (state != CHASE_DONE || tlb_at_hand(c, &far) || costs_of(c, &far, many, &told) != 1 ||
		    many[0].share < TLB_SHARE_REAL)
			continue;
		const double cost = many[0].centre - cost_few, alike = c->gap + TLB_ROWS_ALIKE * cost;
		if (cost > c->gap && cost <= ROW_COST_MOST && are_apart(c, cost - alike, cost + alike) && *rows == 0)
			*rows = cost;
	}
	return all;
}

struct survey {
	struct tlb_ring ring[TLB_SURVEY_RINGS];
	struct tlb_view view[TLB_SURVEY_RINGS];
	double centre[TLB_SURVEY_RINGS]; /* what all pages cost; NAN: not the same */
	bool near[TLB_SURVEY_RINGS];
	bool silent[TLB_SURVEY_RINGS]; /* its pages have no cost that is seen */
	unsigned rings;
};

/* Part of a ring's visits that cost so much. */
static double share_at(const struct tlb_path *c, const struct tlb_view *w, double cost)
{
	double told = 0, at = 0;

	for (uint32_t v = 0; v < w->visits; v++) {
		told += !isnan(w->cost[v]);
		at += fabs(w->cost[v] - cost) <= c->gap;
	}
	return told > 0 ? at / told : 0;
}

/* Whether visits that cost so much more than others lose that once lines of a page lie farther apart, and are more. */
static enum chase_state is_of_lines(struct tlb_path *c, const struct tlb_view *w, struct tlb_ring apart, double base,
				    double cost, bool *yes)
{
	struct tlb_view far;

	apart.lines = w->lines < ROW_LINES ? ROW_LINES : 2 * RING_PAGE / RING_LINE;
	const enum chase_state state = w->lines < apart.lines ? tlb_get(c, &apart, &far) : CHASE_UNDECIDED;
	const double was = share_at(c, w, cost);
	*yes = state == CHASE_DONE && share_at(c, &far, cost) <= ROW_GONE * was &&
	       share_at(c, &far, base) >= share_at(c, w, base) + was / 2;
	return state;
}

/* Whether no ring has one of the steps upon all of its pages. A cost that only some pages have, even most of a ring's,
 * may be no level's. */
static bool is_of_some(const struct tlb_path *c, const struct tlb_seen *seen, unsigned n)
{
	for (unsigned k = 1; k < c->steps; k++) {
		double most = 0;
		for (unsigned i = 0; i < n; i++)
			if (fabs(seen[i].centre - c->step[k]) <= c->gap)
				most = fmax(most, seen[i].share);
		if (most < TLB_SHARE_ALL)
			return true;
	}
	return false;
}

/* The same by lines of a page that lie in one row of the memory or in two. The second of two near lines finds the row
 * open that the first one opened. Two that are far apart both pay for a row of their own, so that neither costs more
 * than the other.
 *
 * Translation sees the same pages in the same order. More lines leave less room for its tables, which only makes more
 * pages cost something. 0: that is not seen. seen: n costs of rings. */
static enum chase_state find_short_rows(struct tlb_path *c, const struct survey *v, const struct tlb_seen *seen,
					unsigned n, double *rows)
{
	unsigned tried = 0;

	*rows = 0;
	for (unsigned k = 0; k < n; k++)
		for (unsigned i = 0; i < n + c->steps && tried < ROW_RINGS; i++) {
			const unsigned r = seen[k].ring;
			const double cost = seen[k].centre, base = i < n ? seen[i].centre : c->step[i - n],
				     more = cost - base;
			bool yes;
			if ((i < n && seen[i].ring != r) || v->near[r] || v->ring[r].pages > ROW_PAGES_MOST ||
			    v->ring[r].stride < 2 * RING_PAGE || base < -c->gap || more <= c->gap ||
			    more > ROW_COST_MOST || share_at(c, &v->view[r], cost) < ROW_SEEN ||
			    share_at(c, &v->view[r], base) < ROW_SEEN)
				continue;
			const enum chase_state state = is_of_lines(c, &v->view[r], v->ring[r], base, cost, &yes);
			if (state == CHASE_PENDING)
				return state;
			tried++;
			if (yes) {
				*rows = more;
				c->rows_short = true;
				return CHASE_DONE;
			}
		}
	return CHASE_DONE;
}

/* Whether one of a ring's costs is one of another ring, seen while the SM's clock was faster. */
static bool may_be_boosted(const struct tlb_path *c, const struct tlb_seen *seen, unsigned n, unsigned ring)
{
	for (unsigned i = 0; i < n; i++)
		for (unsigned k = 0; k < n && seen[i].ring == ring; k++) {
			const double near = c->gap + 0.02 * seen[i].centre, more = seen[i].centre - seen[k].centre;
			if (more > near && more <= near + c->swing * seen[k].centre)
				return true;
		}
	return false;
}

static double mean_cost(const struct tlb_seen *seen, unsigned n)
{
	double sum = 0, of = 0;

	for (unsigned i = 0; i < n; i++) {
		sum += seen[i].centre * seen[i].share;
		of += seen[i].share;
	}
	return of > 0 ? sum / of : INFINITY;
}

/* A clock that is faster now and then makes a cost seem another one. Rings that may have met it are read again at other
 * times, and the cheapest counts. */
static enum chase_state slow_clock(struct tlb_path *c, struct tlb_view *w, const struct tlb_ring *ring, unsigned rings)
{
	struct tlb_seen *seen = ARENA_ARRAY(study_arena(c->study), MODES * TLB_SURVEY_RINGS, struct tlb_seen),
			one[MODES];
	enum chase_state all = CHASE_DONE;
	unsigned n = 0;
	uint32_t told;

	for (unsigned k = 0; seen && k < rings; k++)
		for (unsigned more = costs_of(c, &w[k], seen + n, &told); more; more--)
			seen[n++].ring = k;
	for (unsigned k = 0; seen && k < rings; k++) {
		if (!may_be_boosted(c, seen, n, k))
			continue;
		const double first = mean_cost(one, costs_of(c, &w[k], one, &told));
		double least = first;
		for (uint32_t i = 1; i <= BOOST_TRIES && first - least <= c->gap + 0.02 * first; i++) {
			struct tlb_ring again = ring[k];
			struct tlb_view at;
			again.turns = tlb_turns(c, &again) + i;
			const enum chase_state state = tlb_get(c, &again, &at);
			if (state == CHASE_PENDING) {
				all = state;
				break;
			}
			if (state != CHASE_DONE)
				continue;
			const double cost = mean_cost(one, costs_of(c, &at, one, &told));
			if (cost < least) {
				least = cost;
				w[k] = at;
			}
		}
	}
	return all;
}

static enum chase_state add_ring(struct tlb_path *c, struct survey *v, uint32_t pages, uint64_t stride)
{
	v->ring[v->rings] = (struct tlb_ring){.pages = pages, .stride = stride};
	const enum chase_state state = tlb_get(c, &v->ring[v->rings], &v->view[v->rings]);
	v->rings += state != CHASE_UNDECIDED;
	return state;
}

/* Parts of the buffer: so many pages at strides that are `apart` times as short each. */
static enum chase_state add_parts(struct tlb_path *c, struct survey *v, uint32_t pages, unsigned apart)
{
	enum chase_state all = CHASE_DONE;

	for (uint64_t part = c->whole / 2; part / pages >= RING_PAGE && v->rings < TLB_SURVEY_RINGS; part /= apart) {
		const enum chase_state state =
		    part / pages > STRIDE_MOST ? CHASE_DONE : add_ring(c, v, pages, part / pages);
		if (state == CHASE_UNDECIDED)
			return state;
		all = state == CHASE_PENDING ? state : all;
	}
	return all;
}

static enum chase_state add_all(struct tlb_path *c, struct survey *v)
{
	enum chase_state all = CHASE_DONE;

	for (unsigned k = tlb_survey_least(c); k <= TLB_SURVEY_MOST && tlb_survey_stride(c, k) >= RING_PAGE; k++) {
		const enum chase_state state = add_ring(c, v, tlb_survey_pages(c, k), tlb_survey_stride(c, k));
		if (state == CHASE_UNDECIDED)
			return state;
		all = state == CHASE_PENDING ? state : all;
	}
	/* Smaller parts of the buffer, in which not every level is missed. */
	const enum chase_state few = add_parts(c, v, 64, 2),
			       more = few == CHASE_UNDECIDED ? few : add_parts(c, v, 512, 4),
			       many = more == CHASE_UNDECIDED ? more : add_parts(c, v, 4096, 4);
	return many == CHASE_UNDECIDED							? many
	       : few == CHASE_PENDING || more == CHASE_PENDING || many == CHASE_PENDING ? CHASE_PENDING
											: all;
}

/* A level may hold few pages more than the one before, or lose some now and then. Most pages then have its cost only at
 * some numbers of pages. */
static enum chase_state add_between(struct tlb_path *c, struct survey *v)
{
	static const uint32_t pages[] = {24, 16, 32, 48, 128, 192};
	enum chase_state all = CHASE_DONE;

	for (unsigned i = 0; i < sizeof(pages) / sizeof(pages[0]); i++)
		for (uint64_t stride = c->whole / 256; stride >= RING_PAGE && v->rings < TLB_SURVEY_RINGS;
		     stride /= 8) {
			const enum chase_state state = add_ring(c, v, pages[i], stride);
			if (state == CHASE_UNDECIDED)
				return state;
			all = state == CHASE_PENDING ? state : all;
		}
	return all;
}

/* The steps, from the rings of the survey so far. */
static enum chase_state steps_of(struct tlb_path *c, struct survey *v)
{
	struct tlb_seen seen[MODES * TLB_SURVEY_RINGS];
	enum chase_state all = c->swing > 0 ? slow_clock(c, v->view, v->ring, v->rings) : CHASE_DONE;
	unsigned n = 0;

	if (all != CHASE_DONE)
		return all;
	c->most_pages = 0;
	for (unsigned k = 0; k < v->rings; k++) {
		uint32_t told;
		unsigned more = tlb_without_whims(c, seen + n, costs_of(c, &v->view[k], seen + n, &told));
		c->most_pages = told > c->most_pages ? told : c->most_pages;
		v->silent[k] = !more && v->view[k].pages >= 16;
		v->centre[k] = more == 1 && seen[n].share >= TLB_SHARE_REAL ? seen[n].centre : NAN;
		for (; more; more--)
			seen[n++].ring = k;
	}
	at_hand(c, v->view, v->rings, v->near);
	tlb_steps_from(c, seen, n, v->near);
	if (!(c->rows > 0) && are_apart(c, c->gap, ROW_COST_MOST)) {
		double rows;
		all = find_rows(c, v->view, v->rings, v->ring, v->near, &rows);
		if (all == CHASE_DONE && rows == 0 && (c->clarity == TLB_UNCLEAR || is_of_some(c, seen, n)))
			all = find_short_rows(c, v, seen, n, &rows);
		if (all != CHASE_DONE)
			return all;
		if (rows > 0) {
			c->rows = rows;
			tlb_steps_from(c, seen, n, v->near);
		}
	}
	tlb_near_steps(c, seen, n, v->near);
	for (unsigned k = 0; k < v->rings && c->clarity == TLB_CLEAR; k++)
		if (v->silent[k] && !tlb_is_even(c, &v->view[k]))
			c->clarity = TLB_DROPPED;
	return CHASE_DONE;
}

/* Finds short rows that the costs of whole pages do not show, as pages of a ring cost now this and now that. Single
 * visits that cost more than a miss of the last level seen tell them. */
static enum chase_state rows_of_visits(struct tlb_path *c, const struct survey *v, unsigned k, double *rows)
{
	const struct tlb_view *w = &v->view[k];
	const double last = c->step[c->steps - 1];
	double *more = ARENA_ARRAY(study_arena(c->study), 2 * (size_t)w->visits, double);
	uint32_t n = 0;
	bool yes;

	*rows = 0;
	if (!more || v->near[k] || w->pages > ROW_PAGES_MOST || v->ring[k].stride < 2 * RING_PAGE)
		return CHASE_DONE;
	for (uint32_t i = 0; i < w->visits; i++)
		if (w->cost[i] > (float)(last + c->gap) && w->cost[i] <= (float)(last + ROW_COST_MOST))
			more[n++] = w->cost[i];
	const double cost = n ? stat_median(more, n, more + w->visits) : last;
	if (share_at(c, w, cost) < ROW_SEEN || share_at(c, w, last) < ROW_SEEN || cost <= last + c->gap)
		return CHASE_DONE;
	const enum chase_state state = is_of_lines(c, w, v->ring[k], last, cost, &yes);
	if (yes)
		*rows = cost - last;
	return state == CHASE_PENDING ? state : CHASE_DONE;
}

/* Whether short rows explain all costs, if no level is seen and pages of some rings cost now this and now that. */
static enum chase_state rows_alone(struct tlb_path *c, struct survey *v)
{
	for (unsigned k = 0; k < v->rings && c->clarity == TLB_DROPPED && !c->level_count && !(c->rows > 0); k++) {
		double rows = 0;
		const enum chase_state state = v->silent[k] ? rows_of_visits(c, v, k, &rows) : CHASE_DONE;
		if (state == CHASE_PENDING)
			return state;
		if (rows > 0) {
			c->rows = rows;
			c->rows_short = true;
			return steps_of(c, v);
		}
	}
	return CHASE_DONE;
}

/* Whether some pages cost less than the last level seen does, and what no ring's pages do, mostly. */
static bool is_between(const struct tlb_path *c)
{
	return c->clarity == TLB_UNCLEAR && c->odd_count && c->odd[0] < c->step[c->steps - 1] - c->gap;
}

enum chase_state tlb_survey(struct tlb_path *c)
{
	struct survey *v = ARENA_ARRAY(study_arena(c->study), 1, struct survey);
	struct tlb_view base;
	double step, grain = study_number(c->study, "clock.granularity", &step) ? step : 1;
	enum chase_state all;

	c->sigma = c->front = 0;
	all = tlb_get(c, &(struct tlb_ring){.pages = BASE_PAGES, .stride = 4096}, &base);
	if (all != CHASE_DONE)
		return all;
	if (!v)
		return CHASE_WHY(c->why, "out of memory");
	c->sigma = tlb_sigma(c, &base);
	c->grain = grain;
	c->gap = fmax(GAP_LEAST, 1.5 * grain);
	all = add_all(c, v);
	if (all != CHASE_DONE)
		return all;
	if (c->lines) {
		all = find_front(c, v->view, v->rings);
		if (all != CHASE_DONE)
			return all;
		/* What such a cache had now and then was no blur of what pages cost. */
		tlb_cover(c, &base);
		c->sigma = tlb_sigma(c, &base);
	}
	all = steps_of(c, v);
	if (all == CHASE_DONE && is_between(c))
		all = add_between(c, v) == CHASE_PENDING ? CHASE_PENDING : steps_of(c, v);
	if (all == CHASE_DONE)
		all = rows_alone(c, v);
	if (all != CHASE_DONE)
		return all;
	/* What differs by a step of the clock is off by less than two. */
	const bool by_steps = grain > 1 && c->sigma <= STEP_SIGMA * grain;
	for (unsigned k = 0; k < c->level_count; k++) {
		/* A hit may cost as much as a row does, a miss costs the next step at least. */
		double next = tlb_least_cost(c, k), rise = (next > c->rows ? next + c->rows : next) / 2;
		c->level[k] = (struct tlb_level){.floor = c->step[k] + rise,
						 .noise = tlb_noise(v->view, v->rings, v->centre, rise),
						 .blurred = rise < JUDGE_SIGMA_SURE * c->sigma &&
							    !(by_steps && rise > 2 * c->grain)};
	}
	return CHASE_DONE;
}
