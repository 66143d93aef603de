/* Reach, line, entries, ways and sets of one TLB level.
 *
 *   reach   At a stride of 2^b bytes the level holds N pages: all its entries where each set comes up, fewer where strides pass
 *           sets by. The smallest stride at which N + 1 pages do not fit is where they begin to be as crowded as that; N times
 *           it is the reach. Dense rings confirm it.
 *   line    Of pages that do not fit, half are moved by an offset (Wong 2010, Figure 15). Below a line's length that changes
 *           nothing; from there on they meet other sets. Where there are no other sets, the stride of above is the line.
 *   ways    tlb_sets.c */
#include "base/arena.h"
#include "stat/stat.h"
#include "tlb.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define HALVINGS 8    /* sets dealt unevenly may have seemed a line of several; more of them only cost time */
#define ODD_MOST 0.05 /* of the visits are delayed by what delays followers as often */

void tlb_refuse(struct tlb_level *l, const char *why)
{
	struct chase_fact *const facts[] = {&l->reach, &l->line, &l->entries, &l->ways, &l->sets};

	for (unsigned i = 0; i < sizeof(facts) / sizeof(facts[0]); i++)
		if (facts[i]->state == CHASE_DONE)
			chase_undecided(facts[i], "%s", why);
	l->set_count = 0;
}

static enum chase_state fits(struct tlb_path *c, unsigned k, uint32_t pages, uint64_t stride, bool *yes)
{
	const struct tlb_ring ring = {.pages = pages, .stride = stride};
	return tlb_fits(c, k, &ring, yes);
}

uint32_t tlb_hidden(const struct tlb_path *c, unsigned k, uint64_t stride)
{
	uint64_t most = 0;

	for (unsigned i = 0; i < k; i++) {
		const struct tlb_level *l = &c->level[i];
		uint64_t n = l->reach.value / stride > l->entries.value ? l->reach.value / stride : l->entries.value;
		most = n > most ? n : most;
	}
	return (uint32_t)most;
}

/* The largest number of pages in [lo, hi) that fits; lo does, hi does not. */
static enum chase_state bisect(struct tlb_path *c, unsigned k, uint64_t stride, uint32_t lo, uint32_t hi,
			       uint32_t *most)
{
	while (hi - lo > 1) {
		uint32_t mid = lo + (hi - lo) / 2;
		bool yes;
		enum chase_state state = fits(c, k, mid, stride, &yes);
		/* So few pages that a cache has all their lines. What comes out is looked at again. */
		bool few = state == CHASE_UNDECIDED && c->is_covered;
		if (state != CHASE_DONE && !few)
			return state;
		if (few || yes)
			lo = mid;
		else
			hi = mid;
	}
	*most = lo;
	return CHASE_DONE;
}

/* Finds a stride below `below` at which more pages fit than the levels above hide, and not all that the buffer has. In
 * `pages` is how many fit. */
static enum chase_state crowd(struct tlb_path *c, unsigned k, uint64_t below, uint64_t *stride, uint32_t *pages)
{
	char why[sizeof(c->why)] = "no stride was found at which it shows behind the levels above it";

	for (unsigned j = tlb_survey_least(c); tlb_survey_stride(c, j) >= CHASE_PAGE; j++) {
		uint64_t s = tlb_survey_stride(c, j);
		uint32_t all = tlb_survey_pages(c, j), least = tlb_hidden(c, k, s) * 3 / 2 + 1;
		bool yes;
		enum chase_state state;
		if (s >= below || least >= all)
			continue;
		/* What noise, or a cache in front, hides at one stride need not be hidden at the next one. */
		state = fits(c, k, all, s, &yes);
		if (state == CHASE_UNDECIDED)
			snprintf(why, sizeof(why), "%s", c->why);
		if (state == CHASE_UNDECIDED || (state == CHASE_DONE && yes))
			continue;
		if (state != CHASE_DONE)
			return state;
		/* One page always fits. */
		state = least > 1 ? fits(c, k, least, s, &yes) : CHASE_DONE;
		if (state != CHASE_DONE)
			return state;
		if (least > 1 && !yes)
			continue;
		*stride = s;
		return bisect(c, k, s, least, all, pages);
	}
	return CHASE_WHY(c->why, "%s", why);
}

uint32_t tlb_some_more(const struct tlb_path *c, uint32_t pages, uint64_t stride)
{
	const uint64_t room = (c->bytes - 2 * RING_PAGE) / stride, more = pages + (pages < 4 ? 1 : pages / 4);

	return (uint32_t)(more > room ? (room > pages ? room : pages + 1) : more);
}

/* The smallest stride at which one page more than `most` does not fit, nor clearly more; at `stride` one more does not. Hashed sets are dealt
 * unevenly by one stride and evenly by the next, so that a few more fit. */
static enum chase_state narrow(struct tlb_path *c, unsigned k, uint32_t most, uint64_t *stride)
{
	while (*stride > RING_PAGE) {
		bool yes, more;
		enum chase_state state = fits(c, k, most + 1, *stride / 2, &yes);
		if (state != CHASE_DONE)
			return state;
		/* The one page more decides alone if clearly more pages do not tell, or were not asked for in a
		 * recording. */
		if (yes) {
			state = fits(c, k, tlb_some_more(c, most, *stride / 2), *stride / 2, &more);
			if (state == CHASE_PENDING && study_pending(c->study))
				return state;
			if (state != CHASE_DONE || more)
				break;
		}
		*stride /= 2;
	}
	return CHASE_DONE;
}

/* Pages that do not fit, half of them moved: the offset from which on they do. 0: whatever the offset, they do not. */
static enum chase_state shift(struct tlb_path *c, unsigned k, uint32_t pages, uint64_t stride, uint64_t *from)
{
	enum chase_state all = CHASE_DONE;
	bool covered = false;

	*from = 0;
	for (uint64_t offset = RING_PAGE; offset < stride; offset *= 2) {
		const struct tlb_ring ring = {
		    .pages = pages, .stride = stride, .from = (pages + 1) / 2, .offset = offset};
		bool yes;
		enum chase_state state = tlb_fits(c, k, &ring, &yes);
		/* Moved by this much all lines happen to stay in a cache in front. It matters only right before where they fit, or where they may. */
		if (state == CHASE_UNDECIDED && c->is_covered) {
			covered = true;
			continue;
		}
		if (state == CHASE_UNDECIDED)
			return state;
		if (state == CHASE_PENDING) {
			all = state;
			continue;
		}
		if (yes && covered && !*from)
			return CHASE_UNDECIDED;
		covered = false;
		if (yes && !*from)
			*from = offset;
	}
	return all == CHASE_DONE && covered && !*from ? CHASE_UNDECIDED : all;
}

/* The same for clearly more pages than fit, at the stride that was found, or a longer one. If they fit without being
 * moved, noise made the one page more not fit. Pages then begin to be as crowded at a stride twice as long. few: so
 * many more. */
static enum chase_state shift_few(struct tlb_path *c, unsigned k, uint32_t pages, uint64_t *stride, uint64_t widest,
				  uint32_t *few, uint64_t *from)
{
	for (;; *stride *= 2) {
		bool fit = false;
		*few = tlb_some_more(c, pages, *stride);
		enum chase_state state = shift(c, k, *few, *stride, from);
		if (state != CHASE_DONE || *from != RING_PAGE || *stride >= widest)
			return state;
		state = fits(c, k, *few, *stride, &fit);
		if (state == CHASE_PENDING)
			return state;
		if (state != CHASE_DONE || !fit)
			return CHASE_DONE;
	}
}

/* The dense reach at a stride, looked for around a guess. */
static enum chase_state dense(struct tlb_path *c, unsigned k, uint64_t stride, uint64_t guess, uint64_t *reach)
{
	uint64_t n = guess / stride;
	uint32_t most, least = tlb_hidden(c, k, stride) + 1, hi = RING_MOST + 1;
	bool yes, more;

	if (n < 1 || n > RING_MOST)
		return CHASE_WHY(c->why, "%llu pages are too many to be visited", (unsigned long long)n);
	enum chase_state a = fits(c, k, (uint32_t)n, stride, &yes), b = fits(c, k, (uint32_t)n + 1, stride, &more);
	if (a != CHASE_DONE || b != CHASE_DONE)
		return a == CHASE_UNDECIDED || b == CHASE_UNDECIDED ? CHASE_UNDECIDED : CHASE_PENDING;
	if (yes && !more) {
		*reach = n * stride;
		return CHASE_DONE;
	}
	if (!yes)
		hi = (uint32_t)n;
	else
		least = (uint32_t)n + 1;
	/* Not as guessed: sets are not all alike. Doubling finds a bracket. */
	for (uint32_t m = yes ? 2 * least : 0; m && m < hi; m *= 2) {
		a = fits(c, k, m, stride, &more);
		if (a != CHASE_DONE)
			return a;
		if (!more) {
			hi = m;
			break;
		}
		least = m;
	}
	if (hi > RING_MOST || least >= hi)
		return CHASE_WHY(c->why, "%s pages in steps of %llu bytes conflict",
				 least >= hi ? "few" : "not even many", (unsigned long long)stride);
	a = bisect(c, k, stride, least, hi, &most);
	if (a == CHASE_DONE)
		*reach = most * stride;
	return a;
}

/* What a page costs, mostly, of those that do not fit, as far as a row of the memory may. NAN: there are none. */
static double cost_of_unfit(const struct tlb_path *c, unsigned k, const struct tlb_view *w)
{
	double *v = ARENA_ARRAY(study_arena(c->study), 2 * (size_t)w->visits + 1, double);
	size_t n = 0;

	for (uint32_t i = 0; v && i < w->visits; i++)
		if (tlb_missed(c, k, w->cost[i]) && w->cost[i] - c->step[k] <= ROW_COST_MOST)
			v[n++] = w->cost[i];
	return n ? stat_median(v, n, v + w->visits) : NAN;
}

/* Whether visits that miss cost as much again when the whole ring has come round. Visits do whose row another one
 * closes each time. Other delays come by many different times, however often. If one of those keeps step with the laps,
 * it delays openers alone, as misses would, but not one visit by one time. A ring that comes round once counts as
 * steady, and told is false. */
static bool is_steady(const struct tlb_path *c, unsigned k, const struct tlb_view *w, bool *told)
{
	const uint32_t turn = w->pages * w->lines;
	const float alike = (float)(c->gap + 2 * (c->grain - 1) + JUDGE_SIGMA * c->sigma);
	uint32_t all = 0, same = 0;

	for (uint32_t i = 0; i + turn < w->visits; i++) {
		const float one = w->cost[i], next = w->cost[i + turn];
		if (isnan(one) || isnan(next) || (!tlb_missed(c, k, one) && !tlb_missed(c, k, next)))
			continue;
		all++;
		same += fabsf(next - one) <= alike;
	}
	*told = all > 0;
	return same >= TLB_SHARE_REAL * all;
}

/* Whether pieces smaller than pages conflict indeed, as rows of the memory do. As many as were moved do not fit unmoved
 * then, and cost no more than the opening of a row. Their cost is such a row's, which need not be the level's. noise:
 * something else delayed what seemed not to fit. */
static enum chase_state are_pieces(struct tlb_path *c, unsigned k, uint32_t pages, uint64_t stride, bool *noise)
{
	struct tlb_level *l = &c->level[k];
	bool fit = true;
	enum chase_state state = fits(c, k, pages, stride, &fit);
	struct tlb_view w;

	*noise = false;
	bool yes = state == CHASE_DONE && !fit && tlb_least_cost(c, k) < ROW_COST_MOST;
	if (yes && tlb_get(c, &(struct tlb_ring){.pages = pages, .stride = stride}, &w) == CHASE_DONE) {
		bool told;
		*noise = !is_steady(c, k, &w, &told);
		yes = !*noise && told;
		l->piece = cost_of_unfit(c, k, &w) - c->step[k];
	}
	l->is = yes ? TLB_IS_ROWS : TLB_IS_LEVEL;
	return state;
}

/* Finds the stride, below `below`, from which on pages are as crowded. It also finds how many fit there, clearly more,
 * and the offset that moves those to other entries. If `noise` is set, no level delayed what did not fit at *widest,
 * and shorter strides may say more. */
static enum chase_state begin_to_crowd(struct tlb_path *c, unsigned k, uint64_t below, uint64_t *widest,
				       uint32_t *pages, uint64_t *stride, uint32_t *few, uint64_t *offset, bool *noise)
{
	enum chase_state state = crowd(c, k, below, stride, pages);

	*widest = *stride; /* at which as many pages were seen to fit */
	*noise = false;
	if (state == CHASE_DONE)
		state = narrow(c, k, *pages, stride);
	*few = *stride ? tlb_some_more(c, *pages, *stride) : 0;
	if (state != CHASE_DONE)
		return state;
	if (*stride < CHASE_PAGE) {
		if (are_pieces(c, k, *few, *stride, noise) == CHASE_PENDING)
			return CHASE_PENDING;
		return CHASE_WHY(c->why, "pieces of %llu bytes conflict: pages are larger, rows of a memory are not",
				 (unsigned long long)*stride);
	}
	return shift_few(c, k, *pages, stride, *widest, few, offset);
}

static enum chase_state reach_and_line(struct tlb_path *c, unsigned k)
{
	struct tlb_level *l = &c->level[k];
	uint64_t stride = 0, widest = UINT64_MAX, offset = 0, line, reach = 0, half = 0;
	uint32_t pages = 0, few = 0;
	enum chase_state state;
	bool noise;

	do {
		stride = 0;
		state = begin_to_crowd(c, k, widest, &widest, &pages, &stride, &few, &offset, &noise);
	} while (state == CHASE_UNDECIDED && noise);
	if (state == CHASE_PENDING)
		return l->reach.state = state;
	if (state != CHASE_DONE) {
		if (state == CHASE_UNDECIDED)
			chase_undecided(&l->reach, "%s", c->why);
		return l->reach.state = state;
	}
	line = offset ? offset : stride;
	if (line < CHASE_PAGE && are_pieces(c, k, few, stride, &noise) == CHASE_PENDING)
		return l->reach.state = CHASE_PENDING;
	if (line < CHASE_PAGE)
		return chase_undecided(&l->reach, "pages moved by %llu bytes no longer conflict: less than any page",
				       (unsigned long long)line);
	/* Strides up to the line give one reach; those that pass sets by may give more. */
	bool same = false;
	uint64_t first = line;
	for (; line >= CHASE_PAGE && !same && line * HALVINGS >= first; line /= 2) {
		state = dense(c, k, line, pages * stride, &reach);
		if (state != CHASE_DONE)
			break;
		/* There are no shorter pages to compare it with. A reach guessed from other strides does as well. If
		 * the two differ, sets are not alike, and halves of pages fit as pages do. */
		const bool guessed = reach >= pages * stride && reach < few * stride;
		if ((line == CHASE_PAGE && guessed) || reach / (line / 2) > RING_MOST) {
			same = line == first && guessed;
			break;
		}
		state = dense(c, k, line / 2, reach, &half);
		if (state != CHASE_DONE)
			break;
		same = half / line * line == reach;
		if (same)
			break;
	}
	if (state == CHASE_DONE && !same) {
		/* Of pieces smaller than any page fewer conflict than lie in as many pages as fit: those are no pages. */
		const uint32_t pieces = tlb_some_more(c, (uint32_t)(half / line), line);
		if (line < CHASE_PAGE && pieces * line < reach &&
		    are_pieces(c, k, pieces, line, &noise) == CHASE_PENDING)
			return l->reach.state = CHASE_PENDING;
		snprintf(c->why, sizeof(c->why), "%llu bytes fit in steps of %llu and %llu in steps of half that",
			 (unsigned long long)reach, (unsigned long long)(2 * line), (unsigned long long)half);
		state = CHASE_UNDECIDED;
	}
	/* The judge looks near it for a hash, even if the rules cannot be sure. */
	l->line.value = first;
	if (state != CHASE_DONE) {
		if (state == CHASE_UNDECIDED)
			chase_undecided(&l->reach, "%s", c->why);
		return l->reach.state = state;
	}
	l->reach = (struct chase_fact){.state = CHASE_DONE, .value = reach};
	l->line = (struct chase_fact){.state = CHASE_DONE, .value = line};
	l->entries = (struct chase_fact){.state = CHASE_DONE, .value = reach / line};
	return CHASE_DONE;
}

/* Whether as many pages as fit do with so many lines of each. */
static enum chase_state fit_with_lines(struct tlb_path *c, unsigned k, uint32_t lines, bool *sure)
{
	const struct tlb_level *l = &c->level[k];
	const struct tlb_ring ring = {.pages = (uint32_t)l->entries.value, .stride = l->line.value, .lines = lines};
	enum chase_state state = tlb_fits(c, k, &ring, sure);

	if (state == CHASE_PENDING || (state == CHASE_DONE && *sure))
		return state;
	/* More lines meet more of what delays a line for other reasons, which comes upon openers and followers alike. */
	double high, low, visits;
	if (tlb_balance(c, k, &ring, &high, &low, &visits) != CHASE_DONE)
		return state;
	*sure = high <= ODD_MOST * visits && high <= low + 4 * sqrt(high + low);
	return *sure ? CHASE_DONE : state;
}

/* A cache of page table entries, or of the data, holds less when each page has more lines. A TLB does not. So many
 * lines may be too many for the cache of the data, and noise may hide what pages cost. Then twice as many as usual and
 * more will do. */
static enum chase_state no_cache(struct tlb_path *c, unsigned k, bool *sure)
{
	const uint32_t n = (uint32_t)c->level[k].entries.value;
	const struct tlb_ring usual = {.pages = n, .stride = c->level[k].line.value};
	uint32_t lines = 16;

	while (lines > 2 && n * lines > 131072)
		lines /= 2;
	if (lines <= c->lines / n)
		lines = 2 * RING_PAGE / RING_LINE;
	enum chase_state state = fit_with_lines(c, k, lines, sure);
	while (state == CHASE_UNDECIDED && lines / 2 > tlb_lines(c, &usual)) {
		lines /= 2;
		state = fit_with_lines(c, k, lines, sure);
	}
	return state;
}

/* Whether one shape explains all rings, those with many lines of each page among them. Then it is a level of pages, and
 * that shape. Behind a level that is not wholly known it may be that level, by another cost. */
static bool is_judged(struct tlb_path *c, unsigned k)
{
	struct tlb_level *l = &c->level[k];
	struct pages_result j;

	l->judged = (!k || c->level[k - 1].sets.state == CHASE_DONE) && tlb_judge(c, k, &j) &&
		    tlb_judge_verdict(c, k, &j) == JUDGE_MEASURED;
	if (l->judged)
		tlb_know(l, &j.best);
	return l->judged;
}

/* Ways and sets, unless what seemed a level is a cache's doing. */
static enum chase_state sets_or_cache(struct tlb_path *c, unsigned k)
{
	struct tlb_level *l = &c->level[k];
	bool sure;
	const enum chase_state state = no_cache(c, k, &sure);

	if (state == CHASE_PENDING)
		return state;
	if (state == CHASE_DONE && is_judged(c, k))
		return CHASE_DONE;
	if (state == CHASE_DONE && sure)
		return tlb_sets(c, k);
	l->is = state == CHASE_DONE ? TLB_IS_TABLES : TLB_IS_LEVEL;
	if (l->is == TLB_IS_TABLES)
		snprintf(c->why, sizeof(c->why), "the same pages with more lines of each do not fit: a cache's doing");
	l->reach.state = l->line.state = l->entries.state = CHASE_UNDECIDED;
	return chase_undecided(&l->reach, "%s", c->why);
}

enum chase_state tlb_geometry(struct tlb_path *c, unsigned k)
{
	struct tlb_level *l = &c->level[k];

	l->reach.state = l->line.state = l->entries.state = l->ways.state = l->sets.state = CHASE_UNDECIDED;
	l->is = TLB_IS_LEVEL;
	l->piece = NAN;
	l->shown = l->judged = false;
	for (unsigned i = 0; i < k; i++)
		if (c->level[i].entries.state != CHASE_DONE)
			return chase_undecided(&l->reach, "the level above is not known, and hides what this one does");
	enum chase_state state = reach_and_line(c, k);
	if (state == CHASE_DONE)
		state = sets_or_cache(c, k);
	if (state != CHASE_PENDING && l->reach.state == CHASE_DONE && tlb_or_tables(c, k) == CHASE_PENDING)
		return CHASE_PENDING;
	if (state != CHASE_PENDING && l->reach.state == CHASE_DONE && tlb_or_rows(c, k) == CHASE_PENDING)
		return CHASE_PENDING;
	return state;
}
