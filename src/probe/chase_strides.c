/* A level of which others empty about as much as one set holds while one lap over all of it goes by: nothing that is concluded from
 * whole laps holds there. Lines that share a set are few, and a lap over them is over before anybody comes by. How far apart they lie
 * nobody knows, but it can be tried: of all distances, those that make far fewer lines than the level holds not fit are what its
 * sets repeat after. */
#include "base/arena.h"
#include "probe/chase_shape.h"
#include "probe/trace.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINES	    40u /* of a ring: more than a set has */
#define LINES_LEAST 6u
#define LAPS	    3u	  /* of each ring of a search; of the first one every access is a miss */
#define RINGS	    160u  /* of one trace */
#define TRACES	    4u	  /* at once */
#define ACCESSES    3.0e6 /* of all traces */
#define MISSED	    0.15  /* of the accesses of the last laps: does not fit */
#define NEAREST	    0.5	  /* of a line's accesses: so many are no chance */
#define RUN_MOST    8u	  /* distances in a row that are too many for one that sets repeat after */
#define WAYS_LEAST  3
#define SLACK	    1.25 /* beyond what the survey says of the size */
#define BLURRED	    2	 /* and where it was misled by what others evict: what is confirmed counts */
#define TRIED	    4	 /* distances that are looked at more closely */
#define UNTOLD	    16	 /* and of those that tell nothing */
#define SHIFT	    4
#define LONG	    36u	 /* laps of one ring that is looked at by itself, */
#define SETTLED	    12u	 /* of which so many bring it into the level */
#define LONGER	    288u /* the same of a patient one: strange lines leave a set when they are drawn */
#define SETTLED_AT  264u
#define SKEW	    512u /* bytes: no line is longer */
#define LINE_NEAR   1024u
#define SETS_TRIED  16u
#define SEVERAL	    8u /* conflicts looked for at a time */
#define PARTS	    3u

enum strides_param {
	STRIDES_STEP,
	STRIDES_RINGS,
	STRIDES_LINES,
	STRIDES_START,
	STRIDES_MOVED,
	STRIDES_TWIN,
	STRIDES_PLACE,
	STRIDES_PATIENT
};

struct strides {
	uint64_t from, step; /* so many rings, of `lines` lines at distances from `from` on */
	uint32_t rings, lines;
	/* Of one ring: from `start` on, the last line moved by so much, and where twin is not 0, once more every line so much further. */
	uint64_t start, moved, twin;
	uint32_t sm;
	bool patient; /* of one ring: many laps, in which even a victim that is drawn seldom goes */
};

static struct strides strides_of(double x, const double *p)
{
	return (struct strides){.from = (uint64_t)x,
				.step = (uint64_t)p[STRIDES_STEP],
				.rings = (uint32_t)p[STRIDES_RINGS],
				.lines = (uint32_t)p[STRIDES_LINES],
				.start = (uint64_t)p[STRIDES_START],
				.moved = (uint64_t)p[STRIDES_MOVED],
				.twin = (uint64_t)p[STRIDES_TWIN],
				.sm = (uint32_t)p[STRIDES_PLACE],
				.patient = p[STRIDES_PATIENT] != 0};
}

static int ascending(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return (x > y) - (x < y);
}

static uint32_t lap_of(const struct strides *d)
{
	return d->twin ? 2 * d->lines : d->lines;
}

/* Laps of one ring, and those that do not count. */
static uint32_t long_of(const struct strides *d)
{
	return d->patient ? LONGER : LONG;
}

static uint32_t settled_of(const struct strides *d)
{
	return d->patient ? SETTLED_AT : SETTLED;
}

static uint32_t count_of(const struct strides *d)
{
	return TRACE_LEAD + (d->rings > 1 ? d->rings * LAPS : 2 * long_of(d)) * lap_of(d);
}

/* Access i of a trace: the lead, to the first line of all, and then laps over each ring in turn; over one ring alone many, and then as
 * many over lines in the same pages that have nothing to do with one another. Returns its offset in bytes. */
static uint64_t offset_of(const struct strides *d, uint32_t i)
{
	if (i < TRACE_LEAD)
		return d->start;
	const uint32_t lap = lap_of(d), at = (i - TRACE_LEAD) % lap, line = at % d->lines;
	if (d->rings > 1)
		return line * (d->from + (i - TRACE_LEAD) / (LAPS * lap) * d->step);
	uint64_t offset = d->start + line * d->from + (at < d->lines ? 0 : d->twin);
	if (i - TRACE_LEAD >= long_of(d) * lap)
		return offset + (1 + line + (at < d->lines ? 0 : d->lines)) * SKEW;
	return offset + (line + 1 == d->lines ? d->moved : 0);
}

static bool trace_of(struct arena *a, const struct strides *d, struct trace_spec *t)
{
	const uint32_t count = count_of(d);
	uint32_t *at = ARENA_ARRAY(a, count, uint32_t), *place = ARENA_ARRAY(a, count, uint32_t), places = 0;

	if (!at || !place)
		return false;
	for (uint32_t i = 0; i < count; i++)
		at[i] = place[i] = (uint32_t)(offset_of(d, i) >> SHIFT);
	qsort(place, count, sizeof(*place), ascending);
	for (uint32_t i = 0; i < count; i++)
		if (!places || place[i] != place[places - 1])
			place[places++] = place[i];
	*t = (struct trace_spec){.sm = d->sm,
				 .shift = SHIFT,
				 .bytes = ((uint64_t)place[places - 1] << SHIFT) + 64,
				 .align = 1u << 20,
				 .places = places,
				 .place = place,
				 .count = count,
				 .at = at};
	return true;
}

int strides_setup(const struct study *s, double x, const double *p, struct job *j, const struct trace_kernel *k)
{
	const struct strides d = strides_of(x, p);
	struct trace_spec t;

	return trace_of(j->arena, &d, &t) ? trace_setup(s, j, k, &t) : -ENOMEM;
}

/* Ticks of the trace's accesses, NULL: *state says why not. */
static const uint32_t *trace_ticks(struct chase_path *c, const struct strides *d, enum chase_state *state)
{
	const double p[POINT_PARAMS] = {(double)d->step,  d->rings,	   d->lines, (double)d->start,
					(double)d->moved, (double)d->twin, d->sm,    d->patient};
	const struct point *pt = study_ask(c->study, c->strides, (double)d->from, p);
	const struct trace_kernel plain = {.symbol = NULL};
	struct trace_spec t;

	if (!pt) {
		*state = chase_missing(c);
		return NULL;
	}
	*state = CHASE_UNDECIDED;
	snprintf(c->why, sizeof(c->why), "out of memory");
	if (!trace_of(study_arena(c->study), d, &t))
		return NULL;
	uint32_t *ticks = ARENA_ARRAY(study_arena(c->study), t.count, uint32_t);
	if (!ticks || !trace_read(pt, &plain, &t, ticks, c->why, sizeof(c->why)))
		return NULL;
	*state = CHASE_DONE;
	return ticks;
}

/* The ticks that at least `least` of the accesses take no more than: of a level in parts those of the nearest one, though few lines may lie
 * there. Nothing makes an access faster than a hit. */
static double nearest(const uint32_t *ticks, uint32_t n, double least)
{
	uint32_t count[CHASE_CAP + 1] = {0}, sum = 0;

	for (uint32_t i = 0; i < n; i++)
		count[ticks[i]]++;
	for (uint32_t t = 0; t <= CHASE_CAP; t++) {
		sum += count[t];
		if (sum >= least)
			return t;
	}
	return 0;
}

/* Ticks that a miss takes more than the slowest hit, and from which an access misses that takes so much more than the nearest hit. */
static double gap_of(const struct chase_path *c, unsigned k)
{
	return c->classes[c->level[k + 1].class_first].centre - c->classes[c->level[k].class_last].centre;
}

static double spread_of(const struct chase_path *c, unsigned k)
{
	return c->classes[c->level[k].class_last].centre - c->classes[c->level[k].class_first].centre;
}

static double beyond_near(const struct chase_path *c, unsigned k)
{
	return spread_of(c, k) + 0.5 * gap_of(c, k);
}

/* Which rings of one trace do not fit: share[rings] is how many of their accesses miss. */
static enum chase_state look(struct chase_path *c, unsigned k, const struct strides *d, float *share)
{
	const struct {
		struct strides d;
		unsigned experiment;
	} key = {*d, c->strides};
	const float *before = study_recall(c->study, "strides", &key, sizeof(key));
	enum chase_state state;

	if (before) {
		memcpy(share, before, d->rings * sizeof(*share));
		return CHASE_DONE;
	}
	const uint32_t *ticks = trace_ticks(c, d, &state);
	if (!ticks)
		return state;
	const uint32_t all = count_of(d) - TRACE_LEAD;
	const double floor = nearest(ticks + TRACE_LEAD, all, NEAREST * all / d->lines) + beyond_near(c, k);
	for (uint32_t r = 0; r < d->rings; r++) {
		const uint32_t from = TRACE_LEAD + r * LAPS * d->lines + d->lines, n = (LAPS - 1) * d->lines;
		uint32_t missed = 0;
		for (uint32_t i = from; i < from + n; i++)
			missed += ticks[i] > floor;
		share[r] = (float)missed / (float)n;
	}
	study_keep(c->study, "strides", &key, sizeof(key), share, d->rings * sizeof(*share));
	return CHASE_DONE;
}

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

/* Looks on, until it finds some or has looked at all. */
static enum chase_state search(struct chase_path *c, unsigned k, struct search *q)
{
	q->count = 0;
	while (q->at + q->step <= q->to && q->accesses < ACCESSES && !q->count) {
		enum chase_state all = CHASE_DONE;
		for (unsigned i = 0; i < TRACES && q->at + q->step <= q->to; i++) {
			struct strides d;
			float share[RINGS];
			memset(&d, 0, sizeof(d));
			d.from = q->at;
			d.step = q->step;
			d.sm = c->sm;
			d.rings =
			    (uint32_t)((q->to - q->at) / q->step + 1 < RINGS ? (q->to - q->at) / q->step + 1 : RINGS);
			const uint64_t fit = c->limit / (q->at + d.rings * q->step);
			d.lines = fit < LINES ? (uint32_t)fit : LINES;
			if (d.lines < LINES_LEAST) {
				q->to = 0;
				return all;
			}
			enum chase_state state = look(c, k, &d, share);
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

/* ---- one ring by itself ---- */

/* Misses of the ring's later laps, and accesses of the other lines that are as slow. Where they are in more pages than are translated at
 * once an access of the one is as dear as the same one of the other, but for the part of the level that each is in. False: a hit in the
 * farthest part cannot be told from a miss. */
static bool count_slow(const struct chase_path *c, unsigned k, const struct strides *d, const uint32_t *ticks,
		       uint32_t *own, uint32_t *others)
{
	const uint32_t lap = lap_of(d), laps = long_of(d) - settled_of(d), n = laps * lap,
		       *test = ticks + TRACE_LEAD + settled_of(d) * lap, *control = test + long_of(d) * lap;
	const bool pages = c->reach && d->start + d->lines * d->from + d->moved > c->reach;
	const double gap = gap_of(c, k), spread = spread_of(c, k), apart = 0.5 * (gap + spread),
		     near = fmin(nearest(test, n, NEAREST * laps), nearest(control, n, NEAREST * laps)),
		     floor = near + beyond_near(c, k);

	*own = *others = 0;
	/* Where even the nearest of so few lines are in a far part, a miss is not beyond what hits there may take. */
	if (pages ? spread >= gap : 2 * spread >= gap && near > c->classes[c->level[k].class_first].centre + spread / 2)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		*own += pages ? test[i] >= control[i] + apart : test[i] > floor;
		*others += pages ? control[i] >= test[i] + apart : control[i] > floor;
	}
	return true;
}

/* Whether a ring of a few lines fits: else it misses in every lap, whatever is replaced. */
static enum chase_state fits_in(struct chase_path *c, unsigned k, const struct strides *asked, bool patient, bool *yes)
{
	struct {
		struct strides d;
		unsigned experiment;
	} key;
	uint32_t own, others;
	enum chase_state state;

	memset(&key, 0, sizeof(key));
	key.experiment = c->strides;
	key.d.from = asked->from;
	key.d.rings = 1;
	key.d.lines = asked->lines;
	key.d.start = asked->start;
	key.d.moved = asked->moved;
	key.d.twin = asked->twin;
	key.d.sm = c->sm;
	key.d.patient = patient;
	const bool *before = study_recall(c->study, "few lines", &key, sizeof(key));
	if (before) {
		*yes = *before;
		return CHASE_DONE;
	}
	/* Misses that each lap would have at least: one line more than there is room for, or, of as many as a set holds, all the twins. */
	const uint32_t *ticks = trace_ticks(c, &key.d, &state), laps = long_of(&key.d) - settled_of(&key.d),
		       least = laps * (key.d.twin ? key.d.lines : 1);
	if (!ticks)
		return state;
	if (!count_slow(c, k, &key.d, ticks, &own, &others)) {
		snprintf(c->why, sizeof(c->why),
			 "hits in the farthest part of the level may be as slow as misses in the nearest");
		return CHASE_UNDECIDED;
	}
	*yes = 4 * own <= least + 4 * others;
	snprintf(c->why, sizeof(c->why), "of %u laps over %u lines %u accesses are slow, and %u of as many others",
		 laps, key.d.lines, own, others);
	if (2 * others > least || (!*yes && 4 * own < 3 * least + 4 * others))
		return CHASE_UNDECIDED;
	study_keep(c->study, "few lines", &key, sizeof(key), yes, sizeof(*yes));
	return CHASE_DONE;
}

/* The same of a ring that fits, if not at once: a stranger in its set makes it miss in every lap until the stranger is replaced. */
static enum chase_state fits(struct chase_path *c, unsigned k, const struct strides *asked, bool *yes)
{
	const enum chase_state soon = fits_in(c, k, asked, false, yes);
	bool at_last = false;

	if (soon == CHASE_PENDING || (soon == CHASE_DONE && *yes))
		return soon;
	const enum chase_state late = fits_in(c, k, asked, true, &at_last);
	if (late == CHASE_PENDING || late == CHASE_DONE)
		*yes = at_last;
	return late == CHASE_UNDECIDED ? soon : late;
}

/* How many lines at such a distance fit: 0, all of them do, or not even two. */
static enum chase_state fitting(struct chase_path *c, unsigned k, uint64_t distance, uint64_t *lines)
{
	uint64_t lo = 1, hi = c->limit / distance < LINES ? c->limit / distance : LINES;
	bool any = false;

	while (hi - lo > 1 || !any) {
		const uint64_t n = any ? lo + (hi - lo) / 2 : hi;
		const struct strides ring = {.from = distance, .lines = (uint32_t)n};
		bool yes = false;
		enum chase_state state = fits(c, k, &ring, &yes);
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

/* The fewest lines, at equal distances over the size, that one more does not fit beside. 0: none. */
static enum chase_state fewest(struct chase_path *c, unsigned k, uint64_t size, uint64_t *ways)
{
	const uint64_t unit = c->level[k].sector.value, lines = unit ? size / unit : 0;

	*ways = 0;
	for (uint64_t w = 2; w < 2 * LINES && w <= lines && !*ways; w++) {
		const struct strides ring = {.from = size / w, .lines = (uint32_t)w + 1};
		bool yes = false;
		if (size % unit || lines % w || size + size / w > c->limit)
			continue;
		enum chase_state state = fits(c, k, &ring, &yes);
		if (state != CHASE_DONE)
			return state;
		*ways = yes ? 0 : w;
	}
	return CHASE_DONE;
}

/* How far the last line has to be moved to leave the set. 0: it does not. */
static enum chase_state moved_out(struct chase_path *c, unsigned k, uint64_t period, uint64_t ways, uint64_t *line)
{
	const uint64_t unit = c->level[k].sector.value;

	*line = 0;
	for (uint64_t from = unit; from <= LINE_NEAR && from < period && !*line; from += SEVERAL * unit) {
		enum chase_state all = CHASE_DONE;
		for (uint64_t off = from; off < from + SEVERAL * unit && off <= LINE_NEAR && off < period;
		     off += unit) {
			const struct strides ring = {.from = period, .lines = (uint32_t)ways + 1, .moved = off};
			bool yes = false;
			enum chase_state state = fits(c, k, &ring, &yes);
			if (state == CHASE_UNDECIDED)
				return state;
			if (state == CHASE_PENDING)
				all = state;
			else if (yes && !*line && all == CHASE_DONE)
				*line = off;
		}
		if (all != CHASE_DONE)
			return all;
	}
	return CHASE_DONE;
}

/* Neighbours that share a set are moved out of it together, as the parts of one line are: but of as many lines as the set holds, the parts fit as
 * well, and the neighbours do not. moved: what leaves the set. */
static enum chase_state line_in(struct chase_path *c, unsigned k, uint64_t period, uint64_t ways, uint64_t moved,
				uint64_t *line)
{
	for (*line = moved; *line % 2 == 0 && *line > c->level[k].sector.value; *line /= 2) {
		const struct strides both = {.from = period, .lines = (uint32_t)ways, .twin = *line / 2};
		bool yes = false;
		enum chase_state state = fits(c, k, &both, &yes);
		if (state != CHASE_DONE || yes)
			return state;
	}
	return CHASE_DONE;
}

/* Whether the level is one of sets that hold `ways` lines at such a distance, and of a size between these. */
static enum chase_state confirm_sets(struct chase_path *c, unsigned k, uint64_t period, uint64_t ways, double least,
				     double most)
{
	struct chase_level *l = &c->level[k];
	enum chase_state state, all = CHASE_DONE;
	uint64_t moved, line;
	bool yes = false, right = true;

	state = moved_out(c, k, period, ways, &moved);
	if (state != CHASE_DONE || !moved || period % moved || period == moved)
		return state == CHASE_PENDING ? state : CHASE_UNDECIDED;
	state = line_in(c, k, period, ways, moved, &line);
	const uint64_t sets = period / moved, others = sets - 1 < SETS_TRIED ? sets - 1 : SETS_TRIED,
		       size = sets * ways * line;
	if (state != CHASE_DONE || (double)size < least || (double)size > most)
		return state == CHASE_PENDING ? state : CHASE_UNDECIDED;
	/* Lines that are several periods apart conflict as those do that are one: a part of the distance must not do. */
	for (uint64_t part = 2; part <= PARTS && all != CHASE_UNDECIDED; part++) {
		if (period % (part * moved))
			continue;
		state = fits(c, k, &(struct strides){.from = period / part, .lines = (uint32_t)ways + 1}, &yes);
		all = state == CHASE_DONE ? all : state;
		right = right && (state != CHASE_DONE || yes);
	}
	/* Other sets hold as many. */
	for (uint64_t i = 0; i <= others && all != CHASE_UNDECIDED; i++)
		for (unsigned more = 0; more < 2 && all != CHASE_UNDECIDED; more++) {
			const struct strides ring = {
			    .from = period, .lines = (uint32_t)ways + more, .start = i * (sets - 1) / others * moved};
			state = more ? fits_in(c, k, &ring, false, &yes) : fits(c, k, &ring, &yes);
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

/* Whether the level is one whose sets such a span of lines at equal distances fills, and of a size between these: the span, or, where neighbours
 * share sets, less. */
static enum chase_state confirm(struct chase_path *c, unsigned k, uint64_t span, double least, double most)
{
	uint64_t ways;
	enum chase_state state = fewest(c, k, span, &ways);

	if (state != CHASE_DONE || !ways)
		return state == CHASE_PENDING ? state : CHASE_UNDECIDED;
	return confirm_sets(c, k, span / ways, ways, least, most);
}

static enum chase_state by_strides(struct chase_path *c, unsigned k, double least, double most)
{
	const uint64_t step = c->level[k].sector.value;
	struct search q = {
	    .step = step, .at = ((uint64_t)(least / LINES) / step + 1) * step, .to = (uint64_t)(most / WAYS_LEAST)};
	uint64_t lines = 0;

	if (c->likely) {
		enum chase_state state = confirm(c, k, c->likely, (double)c->likely, (double)c->likely);
		if (state != CHASE_UNDECIDED)
			return state;
	}
	/* Nobody else empties what is an SM's own. What pages make of some distances, where their number is about what is translated at once, tells
	 * nothing, and is no try. */
	for (unsigned tried = 0, untold = 0; tried < TRIED && untold < UNTOLD && c->beyond_sm;) {
		enum chase_state state = search(c, k, &q);
		if (state != CHASE_DONE || !q.count)
			return state == CHASE_PENDING ? state : CHASE_UNDECIDED;
		for (unsigned i = 0; i < q.count; i++) {
			state = fitting(c, k, q.found[i], &lines);
			if (state == CHASE_PENDING)
				return state;
			*(state == CHASE_DONE ? &tried : &untold) += 1;
			const double size = (double)lines * (double)q.found[i];
			if (state == CHASE_UNDECIDED || !lines || size < least / SLACK)
				continue;
			state = confirm(c, k, lines * q.found[i], least / SLACK, BLURRED * most);
			if (state != CHASE_UNDECIDED)
				return state;
		}
	}
	return CHASE_UNDECIDED;
}

enum chase_state chase_by_strides(struct chase_path *c, unsigned k)
{
	struct chase_level *l = &c->level[k];
	double least, most;

	if (k || (!c->beyond_sm && !c->likely) || !c->strides || l->endless || l->blurred || k + 1 >= c->level_count ||
	    l->sector.state != CHASE_DONE || l->sector.value < 1u << SHIFT || l->sector.value % (1u << SHIFT) ||
	    c->stride > l->sector.value || l->sector.value % c->stride)
		return CHASE_UNDECIDED;
	chase_bracket(c, k, &least, &most);
	const enum chase_state state = by_strides(c, k, least, SLACK * most);
	if (state == CHASE_UNDECIDED)
		return state;
	l->few = state == CHASE_DONE;
	l->unequal = 0;
	l->hashed = false;
	l->stride = c->stride;
	if (state == CHASE_PENDING)
		l->size.state = l->line.state = l->ways.state = l->sets.state = state;
	return state;
}
