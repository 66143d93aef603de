/* Laps over a few lines at equal distances, as a trace, and whether they fit. */
#include "probe/chase_rings.h"
#include "base/arena.h"
#include "judge/house.h"
#include "probe/trace.h"
#include "stat/stat.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NEAREST	   0.5	/* of a line's accesses: so many are no chance */
#define LONG	   36u	/* laps of one ring that is looked at by itself, */
#define SETTLED	   12u	/* of which so many bring it into the level */
#define LONGER	   288u /* the same of a patient one: strange lines leave a set when they are drawn */
#define SETTLED_AT 264u
#define CLEAN	   12u	/* laps of a patient one without a miss: one line too many would miss in each of them */
#define SKEW	   512u /* bytes: no line is longer */

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
				.patient = p[STRIDES_PATIENT] > 0};
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

/* Offset in bytes of access i of a trace. The lead goes to the first line of all, and then laps go over each ring in
 * turn. A single ring has many laps, and then as many over unrelated lines in the same pages. */
static uint64_t offset_of(const struct strides *d, uint32_t i)
{
	if (i < TRACE_LEAD)
		return d->start;
	const uint32_t lap = lap_of(d), at = (i - TRACE_LEAD) % lap, line = at % d->lines;
	if (d->rings > 1)
		return at * (d->from + (i - TRACE_LEAD) / (LAPS * lap) * d->step);
	const uint64_t offset = d->start + line * d->from + (at < d->lines ? 0 : d->twin);
	if (i - TRACE_LEAD >= long_of(d) * lap)
		return offset + (1 + line + (at < d->lines ? 0 : d->lines)) * SKEW;
	return offset + (line == d->lines - 1 ? d->moved : 0);
}

static bool trace_of(struct arena *a, const struct strides *d, struct trace_spec *t)
{
	const uint32_t count = count_of(d);
	uint32_t *at = ARENA_ARRAY(a, count, uint32_t), *place = ARENA_ARRAY(a, count, uint32_t), places = 0;

	if (!at || !place)
		return false;
	for (uint32_t i = 0; i < count; i++)
		at[i] = place[i] = (uint32_t)(offset_of(d, i) >> SHIFT);
	qsort(place, count, sizeof(*place), stat_compare_u32);
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
	/* A hash is of bits of addresses: none may carry into others. */
	while (t->align < t->bytes)
		t->align *= 2;
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
	const struct trace_kernel plain = {.load = {.symbol = NULL}};
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

/* The ticks that at least `least` of the accesses do not exceed. In a level of parts they are those of the nearest
 * part, though few lines may lie there. Nothing makes an access faster than a hit. */
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
static double gap_of(const struct chase_path *c)
{
	return c->classes[c->level[1].class_first].centre - c->classes[c->level[0].class_last].centre;
}

static double spread_of(const struct chase_path *c)
{
	return c->classes[c->level[0].class_last].centre - c->classes[c->level[0].class_first].centre;
}

static double beyond_near(const struct chase_path *c)
{
	return spread_of(c) + 0.5 * gap_of(c);
}

/* Which rings of one trace do not fit: share[rings] is how many of their accesses miss. */
enum chase_state strides_look(struct chase_path *c, const struct strides *d, float *share)
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
	const double floor = nearest(ticks + TRACE_LEAD, all, NEAREST * all / d->lines) + beyond_near(c);
	for (uint32_t r = 0; r < d->rings; r++) {
		const uint32_t lap = lap_of(d), from = TRACE_LEAD + (r * LAPS + 1) * lap, n = (LAPS - 1) * lap;
		uint32_t missed = 0;
		for (uint32_t i = 0; i < n; i++)
			missed += ticks[from + i] > floor;
		share[r] = (float)missed / (float)((LAPS - 1) * d->lines);
	}
	study_keep(c->study, "strides", &key, sizeof(key), share, d->rings * sizeof(*share));
	return CHASE_DONE;
}

/* ---- one ring by itself ---- */

/* own: misses of the ring's later laps; others: accesses of the other lines that are as slow. The remaining two leave
 * out the first lap: `last` is misses of the ring's last line alone, `clean` is laps without a miss. */
struct slow {
	uint32_t own, others, last, clean;
};

/* Laps without an access beyond the floor. */
static uint32_t clean_laps(const uint32_t *ticks, uint32_t laps, uint32_t lap, double floor)
{
	uint32_t clean = 0;

	for (uint32_t n = 0; n < laps; n++) {
		uint32_t missed = 0;
		for (uint32_t i = n * lap; i < (n + 1) * lap; i++)
			missed += ticks[i] > floor;
		clean += !missed;
	}
	return clean;
}

/* If the lines are in more pages than are translated at once, accesses of one ring are as dear as those of the other.
 * They differ by the part of the level that each is in. False: a hit in the farthest part cannot be told from a
 * miss. */
static bool count_slow(const struct chase_path *c, const struct strides *d, const uint32_t *ticks, struct slow *slow)
{
	const uint32_t lap = lap_of(d), laps = long_of(d) - settled_of(d), n = laps * lap,
		       *test = ticks + TRACE_LEAD + settled_of(d) * lap, *control = test + long_of(d) * lap;
	const bool pages = c->reach && d->start + d->lines * d->from + d->moved > c->reach;
	const double gap = gap_of(c), spread = spread_of(c), apart = 0.5 * (gap + spread),
		     near = fmin(nearest(test, n, NEAREST * laps), nearest(control, n, NEAREST * laps)),
		     floor = near + beyond_near(c);

	/* When even the nearest of so few lines are in a far part, a miss is not beyond what hits there may take. */
	if (pages ? spread >= gap : 2 * spread >= gap && near > c->classes[c->level[0].class_first].centre + spread / 2)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		slow->own += pages ? test[i] >= control[i] + apart : test[i] > floor;
		slow->others += pages ? control[i] >= test[i] + apart : control[i] > floor;
	}
	test = ticks + TRACE_LEAD;
	control = test + long_of(d) * lap;
	for (uint32_t i = lap + d->lines - 1; i < long_of(d) * lap; i += lap)
		slow->last += pages ? test[i] >= control[i] + apart : test[i] > floor;
	slow->clean = pages ? 0 : clean_laps(test + lap, long_of(d) - 1, lap, floor);
	return true;
}

/* Whether a ring of a few lines fits: else it misses in every lap, whatever is replaced. */
enum chase_state strides_fits_in(struct chase_path *c, const struct strides *asked, bool patient, bool *yes)
{
	struct {
		struct strides d;
		unsigned experiment;
	} key;
	struct slow slow = {0};
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
	/* Misses that each lap would have at least: one line more than there is room for. If a ring has twins and as
	 * many lines as a set holds, all the twins miss. */
	const uint32_t *ticks = trace_ticks(c, &key.d, &state), laps = long_of(&key.d) - settled_of(&key.d),
		       least = laps * (key.d.twin ? key.d.lines : 1);
	if (!ticks)
		return state;
	if (!count_slow(c, &key.d, ticks, &slow))
		return CHASE_WHY(c->why,
				 "hits in the farthest part of the level may be as slow as misses in the nearest");
	/* If victims are drawn at random, strangers' lines that come again and again leave a set for a part of the time
	 * only. If the oldest line goes, a stranger's line drives all others out of a full set, one by one. Nothing,
	 * however, makes a lap without a miss of lines that do not fit. */
	*yes = 4 * slow.own <= least + 4 * slow.others || (patient && slow.clean >= CLEAN);
	snprintf(c->why, sizeof(c->why), "of %u laps over %u lines %u accesses are slow, and %u of as many others",
		 laps, key.d.lines, slow.own, slow.others);
	/* If nearly all of them miss, it is not what others evict, however many lines each of those costs. */
	const bool all = 4.0 * slow.own >= 3.0 * laps * lap_of(&key.d) && slow.own >= 4 * slow.others;
	if ((2 * slow.others > least && !all) || (!*yes && 4 * slow.own < 3 * least + 4 * slow.others))
		return CHASE_UNDECIDED;
	/* A line that was moved and is still in a set that is too full goes itself, now and then. Else somebody else's may be in the way
	 * of the others, and never given up. */
	if (!*yes && key.d.moved &&
	    slow.last <=
		stat_binomial_limit(long_of(&key.d) - 1, (slow.others + 1.0) / (laps * lap_of(&key.d)), JUDGE_CHANCE)) {
		return CHASE_WHY(c->why, "of %u lines that do not fit the one that was moved never misses",
				 key.d.lines);
	}
	study_keep(c->study, "few lines", &key, sizeof(key), yes, sizeof(*yes));
	return CHASE_DONE;
}

/* The same of a ring that fits, though perhaps not at once. A stranger in its set makes it miss in every lap until the
 * stranger is replaced. */
enum chase_state strides_fits(struct chase_path *c, const struct strides *asked, bool *yes)
{
	const enum chase_state soon = strides_fits_in(c, asked, false, yes);
	bool at_last = false;

	if (soon == CHASE_PENDING || (soon == CHASE_DONE && *yes))
		return soon;
	const enum chase_state late = strides_fits_in(c, asked, true, &at_last);
	if (late == CHASE_PENDING || late == CHASE_DONE)
		*yes = at_last;
	return late == CHASE_UNDECIDED ? soon : late;
}
