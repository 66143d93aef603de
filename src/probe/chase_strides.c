/* A level of which others empty about as much as one set holds while one lap over all of it goes by: nothing that is concluded from
 * whole laps holds there. Lines that share a set are few, and a lap over them is over before anybody comes by. How far apart they lie
 * nobody knows, but it can be tried: of all distances, those that make far fewer lines than the level holds not fit are what its
 * sets repeat after. Where sets are hashed none does that everywhere; but of the hash that lays digits of a line's number on one another
 * bit by bit, lines one more than the sets apart are in one. That is the only one that is tried: others stay unknown. */
#include "probe/chase_rings.h"
#include "probe/chase_shape.h"
#include "stat/stat.h"
#include <math.h>
#include <string.h>

#define LINES	    40u /* of a ring: more than a set has */
#define LINES_LEAST 6u
#define RINGS	    160u  /* of one trace */
#define TRACES	    4u	  /* at once */
#define ACCESSES    3.0e6 /* of all traces */
#define TRACE_MOST  1.0e5 /* of one that drives lines out of the level above */
#define MISSED	    0.15  /* of the accesses of the last laps: does not fit */
#define RUN_MOST    8u	  /* distances in a row that are too many for one that sets repeat after */
#define WAYS_LEAST  3
#define SLACK	    1.25 /* beyond what the survey says of the size */
#define BLURRED	    2	 /* and where it was misled by what others evict: what is confirmed counts */
#define TRIED	    4	 /* distances that are looked at more closely */
#define UNTOLD	    16	 /* and of those that tell nothing */
#define LINE_NEAR   1024u
#define SETS_TRIED  16u
#define SEVERAL	    8u /* conflicts looked for at a time */
#define PARTS	    3u
#define UNSURE_MOST 8u
#define ELSEWHERE   3u		 /* sets in which is looked again where one of them does not tell */
#define BESIDE	    (128u << 10) /* bytes of other lines that are read beside those at equal distances */
#define NEARLY	    8		 /* distances of one trace differ by no more than such a part, where lines are few */

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
	bool anywhere;	       /* also at distances after which the sets of the level above do not repeat */
	uint64_t found[TRIED]; /* lines at these do not fit, ascending */
	unsigned count;
};

/* The next rings that are tried, as many as one trace holds. False: too few lines are so far apart. */
static bool next_rings(const struct chase_path *c, unsigned k, const struct search *q, struct strides *d)
{
	const struct chase_level *up = k ? &c->level[k - 1] : NULL;
	/* Twice what the level above holds drives all of it out. */
	const uint64_t others = q->anywhere ? 2 * up->size.value / up->line.value : 0,
		       bytes = others ? others * up->line.value : 0,
		       room = q->anywhere && c->reach && c->reach < c->limit ? c->reach : c->limit,
		       rest = (q->to - q->at) / q->step + 1, near = k ? q->at / NEARLY / q->step + 1 : RINGS;

	memset(d, 0, sizeof(*d));
	d->from = q->at;
	d->step = q->step;
	d->sm = c->sm;
	/* Where few lines are far apart, those of one trace should be as many. */
	d->rings = (uint32_t)(rest < near ? rest : near);
	d->rings = d->rings < RINGS ? d->rings : RINGS;
	if (others && d->rings > TRACE_MOST / LAPS / (double)(LINES + others))
		d->rings = (uint32_t)(TRACE_MOST / LAPS / (double)(LINES + others));
	/* One ring by itself is another trace. */
	d->rings = d->rings > 1 ? d->rings : others ? 2 : 1;
	const uint64_t fit = room > bytes ? (room - bytes) / (q->at + d->rings * q->step) : 0;
	d->lines = fit < LINES ? (uint32_t)fit : LINES;
	if (others) {
		d->twin = others;
		d->apart = up->line.value;
		d->moved = (d->lines * (q->at + d->rings * q->step) / d->apart + 1) * d->apart;
	}
	return d->lines >= LINES_LEAST;
}

/* Looks on, until it finds some or has looked at all. */
static enum chase_state search(struct chase_path *c, unsigned k, struct search *q)
{
	q->count = 0;
	while (q->at + q->step <= q->to && q->accesses < ACCESSES && !q->count) {
		enum chase_state all = CHASE_DONE;
		for (unsigned i = 0; i < TRACES && q->at + q->step <= q->to; i++) {
			struct strides d;
			float share[RINGS];
			if (!next_rings(c, k, q, &d)) {
				q->to = 0;
				return all;
			}
			enum chase_state state = strides_look(c, k, &d, share);
			if (state == CHASE_UNDECIDED)
				return state;
			if (state == CHASE_PENDING)
				all = state;
			for (uint32_t r = 0; state == CHASE_DONE && q->count < TRIED && stands_out(share, d.rings, &r);
			     r++)
				q->found[q->count++] = q->at + r * q->step;
			q->at += d.rings * q->step;
			q->accesses += (double)d.rings * LAPS * (d.lines + (double)d.twin);
		}
		if (all != CHASE_DONE)
			return all;
	}
	return CHASE_DONE;
}

/* How many lines at such a distance fit: 0, all of them do, or not even two. */
static enum chase_state fitting(struct chase_path *c, unsigned k, uint64_t distance, uint64_t *lines)
{
	/* Behind another level, its copies and other lines have to be in pages that are translated as well. */
	const bool paged = k && c->reach && c->reach < c->limit;
	const uint64_t each = paged ? distance + strides_driven_out(c, k) * strides_repeat_above(c, k) : distance,
		       room = (paged ? c->reach : c->limit) / each;
	uint64_t lo = 1, hi = room < LINES ? room : LINES;
	bool any = false;

	*lines = 0;
	if (hi <= lo)
		return CHASE_DONE;
	while (hi - lo > 1 || !any) {
		const uint64_t n = any ? lo + (hi - lo) / 2 : hi;
		const struct strides ring = {.from = distance, .lines = (uint32_t)n};
		bool yes = false;
		enum chase_state state = strides_fits(c, k, &ring, &yes);
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

/* The fewest lines, at equal distances over the size, that one more does not fit beside. 0: none. All numbers are tried or none: of twice as
 * many as a set holds, half as far apart, every second one is in it, and one more does not fit beside those either. anyhow: also those at
 * distances after which the sets of the level above do not repeat. */
static enum chase_state fewest(struct chase_path *c, unsigned k, uint64_t size, bool anyhow, uint64_t *ways)
{
	const uint64_t unit = c->level[k].sector.value, lines = unit ? size / unit : 0,
		       copies = 2 * strides_driven_out(c, k) * strides_repeat_above(c, k);

	*ways = 0;
	if (size + copies + BESIDE > c->limit)
		return CHASE_DONE;
	for (uint64_t w = 2; w < 2 * LINES && w <= lines && !*ways; w++) {
		const struct strides ring = {.from = size / w, .lines = (uint32_t)w + 1};
		bool yes = false;
		if (size % unit || lines % w || (!anyhow && size / w % strides_repeat_above(c, k)))
			continue;
		enum chase_state state = strides_fits(c, k, &ring, &yes);
		if (state != CHASE_DONE)
			return state;
		*ways = yes ? 0 : w;
	}
	return CHASE_DONE;
}

/* Whether a ring whose last line was moved fits in another set: from a multiple of whatever the line may be on, so that the ring's lines
 * begin where lines do. */
static enum chase_state fits_elsewhere(struct chase_path *c, const struct strides *asked, uint64_t common, bool *yes)
{
	for (unsigned i = 1; i <= ELSEWHERE; i++) {
		struct strides ring = *asked;
		ring.start = i * common;
		if (ring.start % ring.from == 0 || ring.start + (ring.lines + 1) * ring.from > c->limit)
			continue;
		const enum chase_state state = strides_fits(c, 0, &ring, yes);
		if (state != CHASE_UNDECIDED)
			return state;
	}
	return CHASE_UNDECIDED;
}

/* Of places to which moving the last line tells nothing, the first that does elsewhere, where *line is the first that did leave the set. */
static enum chase_state settle_unsure(struct chase_path *c, uint64_t period, uint64_t ways, const uint64_t *unsure,
				      unsigned n, uint64_t *line)
{
	uint64_t common = *line;

	for (unsigned i = 0; i < n && unsure[i] < *line; i++)
		if (common < c->limit)
			common *= unsure[i] / stat_gcd(common, unsure[i]);
	for (unsigned i = 0; i < n && unsure[i] < *line; i++) {
		const struct strides ring = {.from = period, .lines = (uint32_t)ways + 1, .moved = unsure[i]};
		bool yes = false;
		const enum chase_state state = fits_elsewhere(c, &ring, common, &yes);
		if (state != CHASE_DONE)
			return state;
		if (yes)
			*line = unsure[i];
	}
	return CHASE_DONE;
}

/* How far the last line has to be moved to leave the set. 0: it does not. */
static enum chase_state moved_out(struct chase_path *c, unsigned k, uint64_t period, uint64_t ways, uint64_t *line)
{
	const uint64_t unit = c->level[k].sector.value;
	uint64_t unsure[UNSURE_MOST];
	unsigned n = 0;

	*line = 0;
	for (uint64_t from = unit; from <= LINE_NEAR && from < period && !*line; from += SEVERAL * unit) {
		enum chase_state all = CHASE_DONE;
		for (uint64_t off = from; off < from + SEVERAL * unit && off <= LINE_NEAR && off < period;
		     off += unit) {
			const struct strides ring = {.from = period, .lines = (uint32_t)ways + 1, .moved = off};
			bool yes = false;
			enum chase_state state = strides_fits_anyhow(c, k, &ring, &yes);
			if (state == CHASE_UNDECIDED && (k || n == UNSURE_MOST))
				return state;
			if (state == CHASE_UNDECIDED)
				unsure[n++] = off;
			else if (state == CHASE_PENDING)
				all = state;
			else if (yes && !*line && all == CHASE_DONE)
				*line = off;
		}
		if (all != CHASE_DONE)
			return all;
	}
	return *line || !n ? settle_unsure(c, period, ways, unsure, n, line) : CHASE_UNDECIDED;
}

/* Neighbours that share a set are moved out of it together, as the parts of one line are: but of as many lines as the set holds, the
 * parts fit as well, and the neighbours do not. moved: what leaves the set. */
static enum chase_state line_in(struct chase_path *c, unsigned k, uint64_t period, uint64_t ways, uint64_t moved,
				uint64_t *line)
{
	for (*line = moved; *line % 2 == 0 && *line > c->level[k].sector.value; *line /= 2) {
		const struct strides both = {.from = period, .lines = (uint32_t)ways, .twin = *line / 2};
		bool yes = false;
		enum chase_state state = strides_fits_anyhow(c, k, &both, &yes);
		if (state != CHASE_DONE || yes)
			return state;
	}
	return CHASE_DONE;
}

/* Behind another level lines have to be as far apart as the sets of both repeat. But half of them moved by a part of that conflict
 * with the others where the sets of this one repeat after the part. */
static enum chase_state period_of(struct chase_path *c, unsigned k, uint64_t distance, uint64_t ways, uint64_t moved,
				  uint64_t *period)
{
	*period = distance;
	for (uint64_t part = 2; part <= *period / moved;) {
		const struct strides ring = {.from = distance, .lines = (uint32_t)ways + 1, .moved = *period / part};
		bool yes = true;
		if (*period / moved % part == 0) {
			const enum chase_state state = strides_fits_anyhow(c, k, &ring, &yes);
			if (state != CHASE_DONE)
				return state;
			*period = yes ? *period : *period / part;
		}
		part += yes;
	}
	return CHASE_DONE;
}

/* Whether the level is one of sets that hold `ways` lines at such a distance, and of a size between these. */
static enum chase_state confirm_sets(struct chase_path *c, unsigned k, uint64_t distance, uint64_t ways, double least,
				     double most)
{
	struct chase_level *l = &c->level[k];
	enum chase_state state, all = CHASE_DONE;
	uint64_t moved, line = 0, period = distance;
	bool yes = false, right = true;

	state = moved_out(c, k, distance, ways, &moved);
	if (state == CHASE_DONE && moved && distance % moved == 0)
		state = line_in(c, k, distance, ways, moved, &line);
	if (state == CHASE_DONE && moved && distance % moved == 0 && k)
		state = period_of(c, k, distance, ways, moved, &period);
	if (state != CHASE_DONE || !moved || period % moved || period == moved)
		return state == CHASE_PENDING ? state : CHASE_UNDECIDED;
	const uint64_t sets = period / moved, others = sets - 1 < SETS_TRIED ? sets - 1 : SETS_TRIED,
		       size = sets * ways * line;
	if ((double)size < least || (double)size > most)
		return CHASE_UNDECIDED;
	/* Lines that are several periods apart conflict as those do that are one: a part of the distance must not do. */
	for (uint64_t part = 2; part <= PARTS && all != CHASE_UNDECIDED && !k; part++) {
		if (period % (part * moved))
			continue;
		state = strides_fits(c, k, &(struct strides){.from = period / part, .lines = (uint32_t)ways + 1}, &yes);
		all = state == CHASE_DONE ? all : state;
		right = right && (state != CHASE_DONE || yes);
	}
	/* Other sets hold as many. */
	for (uint64_t i = 0; i <= others && all != CHASE_UNDECIDED; i++)
		for (unsigned more = 0; more < 2 && all != CHASE_UNDECIDED; more++) {
			const struct strides ring = {
			    .from = distance, .lines = (uint32_t)ways + more, .start = i * (sets - 1) / others * moved};
			state = k && more && !i ? strides_fits_anyhow(c, k, &ring, &yes)
				: more		? strides_fits_in(c, k, &ring, false, &yes)
						: strides_fits(c, k, &ring, &yes);
			all = state == CHASE_DONE ? all : state;
			right = right && (state != CHASE_DONE || yes == !more);
		}
	if (all != CHASE_DONE || !right)
		return all == CHASE_PENDING && right ? all : CHASE_UNDECIDED;
	chase_decided(&l->size, size);
	chase_decided(&l->line, line);
	chase_decided(&l->sets, sets);
	return chase_decided(&l->ways, ways);
}

/* Whether the level is one whose sets such a span of lines at equal distances fills, and of a size between these: the span, or, where
 * neighbours share sets, less. */
static enum chase_state confirm(struct chase_path *c, unsigned k, uint64_t span, bool anyhow, double least, double most)
{
	uint64_t ways;
	enum chase_state state = fewest(c, k, span, false, &ways);

	if (k && state == CHASE_DONE && !ways && anyhow)
		state = fewest(c, k, span, true, &ways);
	if (state != CHASE_DONE || !ways)
		return state == CHASE_PENDING ? state : CHASE_UNDECIDED;
	return confirm_sets(c, k, span / ways, ways, least, most);
}

/* A distance of whole lines, one more or one less than a power of two of them: where the digits of a line's number, each of as many bits as it
 * takes to say a set, are laid on one another, lines so far apart are all in one set, but perhaps for the first. 0: it is none. */
static uint64_t sets_folded(uint64_t distance, uint64_t *line)
{
	uint64_t odd = distance, sets = 1;

	for (*line = 1; odd && odd % 2 == 0; *line *= 2)
		odd /= 2;
	while (sets < odd - 1)
		sets *= 2;
	return odd > 2 && (sets == odd - 1 || sets == odd + 1) ? sets : 0;
}

/* Rings that have to do something: how many did tell, and whether all of those did it. */
struct asked {
	enum chase_state state; /* PENDING: some are */
	unsigned told, all;
	bool right;
};

static void ask_ring(struct asked *a, enum chase_state state, bool does, bool should)
{
	a->all++;
	a->told += state == CHASE_DONE;
	a->right = a->right && (state != CHASE_DONE || does == should);
	a->state = state == CHASE_PENDING ? state : a->state;
}

/* Whether each of the set's lines leaves it where one bit of the number within so many sets changes. */
static void bits_count(struct chase_path *c, uint64_t distance, uint64_t sets, uint64_t ways, uint64_t line,
		       struct asked *out)
{
	for (uint64_t bit = 1; bit < sets; bit *= 2) {
		const struct strides moved = {
		    .from = distance, .lines = (uint32_t)ways + 1, .moved = bit * line, .folded = true};
		/* Nor are they in one set where there are fewer of those. */
		const struct strides fewer = {.from = (bit + 1) * line, .lines = (uint32_t)ways + 1};
		bool yes = false;
		enum chase_state state = strides_fits(c, 0, &moved, &yes);
		ask_ring(out, state, yes, true);
		if (bit <= ways + 1)
			continue;
		state = strides_fits(c, 0, &fewer, &yes);
		ask_ring(out, state, yes, true);
	}
}

/* Whether other sets hold as many lines, which differ bit by bit from those of the first, and none that are as far apart. */
static void sets_alike(struct chase_path *c, uint64_t distance, uint64_t sets, uint64_t ways, uint64_t line,
		       struct asked *out)
{
	const uint64_t others = sets - 1 < SETS_TRIED ? sets - 1 : SETS_TRIED;
	bool yes = false;

	for (uint64_t back = 1; back <= ELSEWHERE; back++) {
		const struct strides plain = {
		    .from = distance, .lines = (uint32_t)ways + 1, .start = (sets - back - ways / 2) * line};
		const enum chase_state state = strides_fits(c, 0, &plain, &yes);
		ask_ring(out, state, yes, true);
	}
	for (uint64_t i = 0; i <= others; i++)
		for (unsigned more = 0; more < 2; more++) {
			/* The last of them in the next digit, too. */
			const uint64_t first = i * (sets - 1) / others;
			const struct strides ring = {.from = distance,
						     .lines = (uint32_t)ways + more,
						     .start = (i < others ? first : first + ways / 2 * sets) * line,
						     .folded = true};
			const enum chase_state state =
			    more ? strides_fits_in(c, 0, &ring, false, &yes) : strides_fits(c, 0, &ring, &yes);
			ask_ring(out, state, yes, !more);
		}
}

/* How many lines of the first set fit, and how long a line is: a distance of parts of lines, of which several share a set, was found first.
 * 0: it is no such hash. */
static enum chase_state lines_folded(struct chase_path *c, uint64_t sets, uint64_t *line, uint64_t *ways)
{
	uint64_t moved = *line;

	do {
		*line = moved;
		const uint64_t distance = (sets + 1) * *line;
		enum chase_state state = fitting(c, 0, distance, ways);
		if (state != CHASE_DONE || *ways < 2)
			return state == CHASE_PENDING ? state : CHASE_UNDECIDED;
		state = moved_out(c, 0, distance, *ways, &moved);
		if (state != CHASE_DONE)
			return state;
	} while (moved > *line && moved % *line == 0);
	if (moved != *line)
		return CHASE_UNDECIDED;
	const enum chase_state state = line_in(c, 0, (sets + 1) * *line, *ways, *line, &moved);
	return state == CHASE_DONE && moved != *line ? CHASE_UNDECIDED : state;
}

/* Whether the level is one whose sets are found by such a hash, and of a size between these. */
static enum chase_state confirm_folded(struct chase_path *c, uint64_t found, double least, double most)
{
	struct chase_level *l = &c->level[0];
	uint64_t line, ways;
	const uint64_t sets = sets_folded(found, &line);

	if (!sets || line < l->sector.value || line > LINE_NEAR || sets < 2 * LINES)
		return CHASE_UNDECIDED;
	enum chase_state state = lines_folded(c, sets, &line, &ways);
	if (state != CHASE_DONE)
		return state;
	const uint64_t size = sets * ways * line, distance = (sets + 1) * line;
	if ((double)size < least || (double)size > most)
		return CHASE_UNDECIDED;
	struct asked bits = {.state = CHASE_DONE, .right = true}, alike = bits;
	bits_count(c, distance, sets, ways, line, &bits);
	sets_alike(c, distance, sets, ways, line, &alike);
	if (!bits.right || !alike.right)
		return CHASE_UNDECIDED;
	if (bits.state == CHASE_PENDING || alike.state == CHASE_PENDING)
		return CHASE_PENDING;
	/* What does not tell is no contradiction, but most have to. */
	if (4 * bits.told < 3 * bits.all || 4 * alike.told < 3 * alike.all)
		return CHASE_UNDECIDED;
	l->hashed = true;
	chase_decided(&l->size, size);
	chase_decided(&l->line, line);
	chase_decided(&l->sets, sets);
	return chase_decided(&l->ways, ways);
}

/* Of the distances that are found, the first at which lines confirm a shape. */
static enum chase_state by_search(struct chase_path *c, unsigned k, struct search *q, double least, double most)
{
	uint64_t lines = 0;

	/* What pages make of some distances, where their number is about what is translated at once, tells nothing, and is no try. */
	for (unsigned tried = 0, untold = 0; tried < TRIED && untold < UNTOLD;) {
		enum chase_state state = search(c, k, q);
		if (state != CHASE_DONE || !q->count)
			return state == CHASE_PENDING ? state : CHASE_UNDECIDED;
		for (unsigned i = 0; i < q->count; i++) {
			state = fitting(c, k, q->found[i], &lines);
			if (state == CHASE_PENDING)
				return state;
			*(state == CHASE_DONE ? &tried : &untold) += 1;
			const double size = (double)lines * (double)q->found[i];
			if (state == CHASE_UNDECIDED || !lines || size < least / SLACK)
				continue;
			state = confirm(c, k, lines * q->found[i], q->anywhere, least / SLACK, BLURRED * most);
			if (state == CHASE_UNDECIDED && !k)
				state = confirm_folded(c, q->found[i], least / SLACK, BLURRED * most);
			if (state != CHASE_UNDECIDED)
				return state;
		}
	}
	return CHASE_UNDECIDED;
}

static enum chase_state by_strides(struct chase_path *c, unsigned k, double least, double most)
{
	/* All lines at such distances share a set of the level above. */
	const uint64_t unit = c->level[k].sector.value,
		       step = strides_repeat_above(c, k) / stat_gcd(strides_repeat_above(c, k), unit) * unit;
	/* Then sets may meet again much farther away only. */
	struct search q = {.step = step,
			   .at = ((uint64_t)(least / LINES) / step + 1) * step,
			   .to = k ? c->limit / strides_driven_out(c, k) : (uint64_t)(most / WAYS_LEAST)},
		      any = {.step = unit,
			     .at = ((uint64_t)(least / LINES) / unit + 1) * unit,
			     .to = (uint64_t)(most / WAYS_LEAST),
			     .anywhere = true};
	enum chase_state state = CHASE_UNDECIDED;

	if (c->likely)
		state = confirm(c, k, c->likely, true, (double)c->likely, (double)c->likely);
	if (c->likely && c->likely_fold && state == CHASE_UNDECIDED && !k)
		state = confirm_folded(c, c->likely_fold, (double)c->likely, (double)c->likely);
	/* Nobody else empties what is an SM's own. */
	if (state != CHASE_UNDECIDED || !(c->beyond_sm || k))
		return state;
	/* Those of a ring that is looked for are all that drives others out. */
	if (strides_driven_out(c, k) <= LINES)
		state = by_search(c, k, &q, least, most);
	return state == CHASE_UNDECIDED && k ? by_search(c, k, &any, least, most) : state;
}

/* Whether lines can be laid into one set of the level above, and not stay there. */
static bool known_above(const struct chase_path *c, unsigned k)
{
	const struct chase_level *up = k ? &c->level[k - 1] : NULL;

	return !up || (up->size.state == CHASE_DONE && up->line.state == CHASE_DONE && !up->hashed &&
		       (up->unequal || (up->ways.state == CHASE_DONE && up->sets.state == CHASE_DONE)));
}

enum chase_state chase_by_strides(struct chase_path *c, unsigned k)
{
	struct chase_level *l = &c->level[k];
	double least, most;

	if (k > 1 || (!c->beyond_sm && !c->likely && !k) || !c->strides || !known_above(c, k) || l->endless ||
	    l->blurred || k + 1 >= c->level_count || l->sector.state != CHASE_DONE || l->sector.value < 1u << SHIFT ||
	    l->sector.value % (1u << SHIFT) || c->stride > l->sector.value || l->sector.value % c->stride)
		return CHASE_UNDECIDED;
	chase_bracket(c, k, &least, &most);
	const bool hashed = l->hashed;
	l->hashed = false;
	const enum chase_state state = by_strides(c, k, least, SLACK * most);
	if (state == CHASE_UNDECIDED) {
		l->hashed = hashed;
		return state;
	}
	l->few = state == CHASE_DONE;
	l->unequal = 0;
	l->stride = c->stride;
	if (state == CHASE_PENDING)
		l->size.state = l->line.state = l->ways.state = l->sets.state = state;
	return state;
}
