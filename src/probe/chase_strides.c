/* Finds the sets of a level of which others empty about a set's worth while one lap over all of it goes by. Nothing
 * that is concluded from whole laps holds there. Lines that share a set are few, and a lap over them is over before
 * anybody comes by.
 *
 * Their distance is not known, but can be tried. At some distances far fewer lines than the level holds do not fit; its
 * sets repeat after those. Hashed sets are not found so. */
#include "probe/chase_rings.h"
#include "probe/chase_shape.h"
#include "stat/stat.h"
#include <math.h>
#include <string.h>

#define LINES	      40u /* of a ring: more than a set has */
#define LINES_LEAST   6u
#define RINGS	      160u  /* of one trace */
#define TRACES	      4u    /* at once */
#define ACCESSES      3.0e6 /* of all traces */
#define MISSED	      0.15  /* of the accesses of the last laps: does not fit */
#define RUN_MOST      8u    /* distances in a row that are too many for one that sets repeat after */
#define WAYS_LEAST    3
#define SLACK	      1.25 /* beyond what the survey says of the size */
#define BLURRED	      2	   /* and where it was misled by what others evict: what is confirmed counts */
#define TRIED	      4	   /* distances that are looked at more closely */
#define UNTOLD	      16   /* and of those that tell nothing */
#define SETS_TRIED    16u
#define SEVERAL	      8u /* conflicts looked for at a time */
#define PARTS	      3u
#define TOGETHER_MOST 7u	   /* sets that are filled in turn */
#define BESIDE	      (128u << 10) /* bytes of other lines that are read beside those at equal distances */

/* Of distances in a row that do not fit, the one that does least. Many in a row are pages, or whatever else comes with a distance by and
 * by. Returns whether there is one. */
static bool stands_out(const float *share, uint32_t rings, uint32_t *at)
{
	for (uint32_t r = *at, to; r < rings; r = to + 1) {
		uint32_t best = r;
		for (to = r; to < rings && share[to] > (float)MISSED; to++)
			best = share[to] > share[best] ? to : best;
		if (to == r || to - r > RUN_MOST)
			continue;
		*at = best;
		return true;
	}
	return false;
}

/* Distances that are tried, and of those looked at. */
struct search {
	uint64_t step, at, to;
	double accesses;
	uint64_t found[TRIED]; /* lines at these do not fit, ascending */
	unsigned count;
};

/* The next rings that are tried, as many as one trace holds. False: too few lines are so far apart. */
static bool next_rings(const struct chase_path *c, const struct search *q, struct strides *d)
{
	const uint64_t rest = (q->to - q->at) / q->step + 1;

	memset(d, 0, sizeof(*d));
	d->from = q->at;
	d->step = q->step;
	d->sm = c->sm;
	d->rings = (uint32_t)(rest < RINGS ? rest : RINGS);
	const uint64_t fit = c->limit / (q->at + d->rings * q->step);
	d->lines = fit < LINES ? (uint32_t)fit : LINES;
	return d->lines >= LINES_LEAST;
}

/* Looks on, until it finds some or has looked at all. */
static enum chase_state search(struct chase_path *c, struct search *q)
{
	q->count = 0;
	while (q->at + q->step <= q->to && q->accesses < ACCESSES && !q->count) {
		enum chase_state all = CHASE_DONE;
		for (unsigned i = 0; i < TRACES && q->at + q->step <= q->to; i++) {
			struct strides d;
			float share[RINGS];
			if (!next_rings(c, q, &d)) {
				q->to = 0;
				return all;
			}
			enum chase_state state = strides_look(c, &d, share);
			if (state == CHASE_UNDECIDED)
				return state;
			if (state == CHASE_PENDING)
				all = state;
			for (uint32_t r = 0; state == CHASE_DONE && q->count < TRIED && stands_out(share, d.rings, &r);
			     r++)
				q->found[q->count++] = q->at + r * q->step;
			q->at += d.rings * q->step;
			q->accesses += (double)d.rings * LAPS * d.lines;
		}
		if (all != CHASE_DONE)
			return all;
	}
	return CHASE_DONE;
}

/* How many lines at such a distance fit: 0, all of them do, or not even two. */
static enum chase_state fitting(struct chase_path *c, uint64_t distance, uint64_t *lines)
{
	const uint64_t room = c->limit / distance;
	uint64_t lo = 1, hi = room < LINES ? room : LINES;
	bool any = false;

	*lines = 0;
	if (hi <= lo)
		return CHASE_DONE;
	while (hi - lo > 1 || !any) {
		const uint64_t n = any ? lo + (hi - lo) / 2 : hi;
		const struct strides ring = {.from = distance, .lines = (uint32_t)n};
		bool yes = false;
		enum chase_state state = strides_fits(c, &ring, &yes);
		if (state != CHASE_DONE)
			return state;
		if (!any && yes)
			break;
		any = true;
		*(yes ? &lo : &hi) = n;
	}
	*lines = any && lo > 1 ? lo : 0;
	return CHASE_DONE;
}

/* The fewest lines, at equal distances over the size, that one more does not fit beside. 0: none. All numbers are
 * tried, or none. A set holds every second one of twice as many lines, half as far apart, so one more does not fit
 * beside those either. */
static enum chase_state fewest(struct chase_path *c, uint64_t size, uint64_t *ways)
{
	const uint64_t unit = c->level[0].sector.value, lines = unit ? size / unit : 0;

	*ways = 0;
	if (size + BESIDE > c->limit)
		return CHASE_DONE;
	for (uint64_t w = 2; w < 2 * LINES && w <= lines && !*ways; w++) {
		const struct strides ring = {.from = size / w, .lines = (uint32_t)w + 1};
		bool yes = false;
		if (size % unit || lines % w)
			continue;
		enum chase_state state = strides_fits(c, &ring, &yes);
		if (state != CHASE_DONE)
			return state;
		*ways = yes ? 0 : w;
	}
	return CHASE_DONE;
}

/* How far the last line has to be moved to leave the set. 0: it does not. */
static enum chase_state moved_out(struct chase_path *c, uint64_t period, uint64_t ways, uint64_t *line)
{
	const uint64_t unit = c->level[0].sector.value;

	*line = 0;
	for (uint64_t from = unit; from <= CHASE_LINE_NEAR && from < period && !*line; from += SEVERAL * unit) {
		enum chase_state all = CHASE_DONE;
		for (uint64_t off = from; off < from + SEVERAL * unit && off <= CHASE_LINE_NEAR && off < period;
		     off += unit) {
			const struct strides ring = {.from = period, .lines = (uint32_t)ways + 1, .moved = off};
			bool yes = false;
			enum chase_state state = strides_fits(c, &ring, &yes);
			if (state == CHASE_UNDECIDED && !*line && all == CHASE_DONE)
				return state;
			if (state == CHASE_PENDING)
				all = state;
			else if (state == CHASE_DONE && yes && !*line && all == CHASE_DONE)
				*line = off;
		}
		if (all != CHASE_DONE)
			return all;
	}
	return CHASE_DONE;
}

/* Neighbours that share a set are moved out of it together, as the parts of one line are. Of as many lines as the set
 * holds, however, the parts fit as well, and the neighbours do not. moved: what leaves the set. */
static enum chase_state line_in(struct chase_path *c, uint64_t period, uint64_t ways, uint64_t moved, uint64_t *line)
{
	for (*line = moved; *line % 2 == 0 && *line > c->level[0].sector.value; *line /= 2) {
		const struct strides both = {.from = period, .lines = (uint32_t)ways, .twin = *line / 2};
		bool yes = false;
		enum chase_state state = strides_fits(c, &both, &yes);
		if (state != CHASE_DONE || yes)
			return state;
	}
	return CHASE_DONE;
}

/* Whether the level is one of sets that hold `ways` lines at such a distance, and of a size between these. */
static enum chase_state confirm_sets(struct chase_path *c, uint64_t distance, uint64_t ways, double least, double most)
{
	struct chase_level *l = &c->level[0];
	enum chase_state state, all = CHASE_DONE;
	uint64_t moved, line = 0;
	bool yes = false, right = true;

	state = moved_out(c, distance, ways, &moved);
	if (state == CHASE_DONE && moved && distance % moved == 0)
		state = line_in(c, distance, ways, moved, &line);
	if (state != CHASE_DONE || !moved || distance % moved || distance == moved)
		return state == CHASE_PENDING ? state : CHASE_UNDECIDED;
	const uint64_t sets = distance / moved, others = sets - 1 < SETS_TRIED ? sets - 1 : SETS_TRIED,
		       size = sets * ways * line;
	if ((double)size < least || (double)size > most)
		return CHASE_UNDECIDED;
	/* Lines that are several periods apart conflict as those do that are one: a part of the distance must not do. */
	for (uint64_t part = 2; part <= PARTS && all != CHASE_UNDECIDED; part++) {
		if (distance % (part * moved))
			continue;
		state = strides_fits(c, &(struct strides){.from = distance / part, .lines = (uint32_t)ways + 1}, &yes);
		all = state == CHASE_DONE ? all : state;
		right = right && (state != CHASE_DONE || yes);
	}
	/* Other sets hold as many. */
	for (uint64_t i = 0; i <= others && all != CHASE_UNDECIDED; i++)
		for (unsigned more = 0; more < 2 && all != CHASE_UNDECIDED; more++) {
			const struct strides ring = {
			    .from = distance, .lines = (uint32_t)ways + more, .start = i * (sets - 1) / others * moved};
			state = more ? strides_fits_in(c, &ring, false, &yes) : strides_fits(c, &ring, &yes);
			all = state == CHASE_DONE ? all : state;
			right = right && (state != CHASE_DONE || yes == !more);
		}
	/* Several sets at once, in turn, have to hold their lines as well. A buffer of victims may keep lines beside a
	 * set's own, but for one set only.
	 */
	uint64_t several = 2;
	while (several <= TOGETHER_MOST && sets % several)
		several++;
	if (all != CHASE_UNDECIDED && several <= TOGETHER_MOST) {
		const struct strides ring = {.from = distance / several, .lines = (uint32_t)(several * ways)};
		state = strides_fits(c, &ring, &yes);
		all = state == CHASE_DONE ? all : state;
		right = right && (state != CHASE_DONE || yes);
	}
	if (all != CHASE_DONE || !right)
		return all == CHASE_PENDING && right ? all : CHASE_UNDECIDED;
	chase_decided(&l->size, size);
	chase_decided(&l->line, line);
	chase_decided(&l->sets, sets);
	return chase_decided(&l->ways, ways);
}

/* Whether the level's sets are filled by such a span of lines at equal distances, and its size is between these. The
 * sets repeat after the span, or after less if neighbours share sets. */
static enum chase_state confirm(struct chase_path *c, uint64_t span, double least, double most)
{
	uint64_t ways;
	const enum chase_state state = fewest(c, span, &ways);

	if (state != CHASE_DONE || !ways)
		return state == CHASE_PENDING ? state : CHASE_UNDECIDED;
	return confirm_sets(c, span / ways, ways, least, most);
}

/* Of the distances that are found, the first at which lines confirm a shape. */
static enum chase_state by_search(struct chase_path *c, struct search *q, double least, double most)
{
	uint64_t lines = 0;

	/* What pages make of some distances, where their number is about what is translated at once, tells nothing, and is no try. */
	for (unsigned tried = 0, untold = 0; tried < TRIED && untold < UNTOLD;) {
		enum chase_state state = search(c, q);
		if (state != CHASE_DONE || !q->count)
			return state == CHASE_PENDING ? state : CHASE_UNDECIDED;
		for (unsigned i = 0; i < q->count; i++) {
			state = fitting(c, q->found[i], &lines);
			if (state == CHASE_PENDING)
				return state;
			*(state == CHASE_DONE ? &tried : &untold) += 1;
			const double size = (double)lines * (double)q->found[i];
			if (state == CHASE_UNDECIDED || !lines || size < least / SLACK)
				continue;
			state = confirm(c, lines * q->found[i], least / SLACK, BLURRED * most);
			if (state != CHASE_UNDECIDED)
				return state;
		}
	}
	return CHASE_UNDECIDED;
}

static enum chase_state by_strides(struct chase_path *c, double least, double most)
{
	const uint64_t step = c->level[0].sector.value;
	struct search q = {
	    .step = step, .at = ((uint64_t)(least / LINES) / step + 1) * step, .to = (uint64_t)(most / WAYS_LEAST)};
	enum chase_state state = CHASE_UNDECIDED;

	if (c->likely)
		state = confirm(c, c->likely, (double)c->likely, (double)c->likely);
	/* Nobody else empties what is an SM's own. */
	return state != CHASE_UNDECIDED || !c->beyond_sm ? state : by_search(c, &q, least, most);
}

enum chase_state chase_by_strides(struct chase_path *c)
{
	struct chase_level *l = &c->level[0];
	double least, most;

	if ((!c->beyond_sm && !c->likely) || !c->strides || l->endless || l->clarity == BLURRED || c->level_count < 2 ||
	    l->sector.state != CHASE_DONE || l->sector.value < 1u << SHIFT || l->sector.value % (1u << SHIFT) ||
	    c->stride > l->sector.value || l->sector.value % c->stride)
		return CHASE_UNDECIDED;
	chase_bracket(c, 0, &least, &most);
	const enum chase_state state = by_strides(c, least, SLACK * most);
	if (state == CHASE_UNDECIDED)
		return state;
	l->spaced = SPACED_EVENLY;
	l->shape_by = state == CHASE_DONE ? SHAPE_BY_FEW : SHAPE_BY_LAPS;
	l->unequal = 0;
	l->stride = c->stride;
	if (state == CHASE_PENDING)
		l->size.state = l->line.state = l->ways.state = l->sets.state = state;
	return state;
}
