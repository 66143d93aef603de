/* Levels from a survey of rings of code that grow. */
#include "base/arena.h"
#include "code_ring.h"
#include "probe/chase.h"
#include "stat/stat.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define PEAKS  CODE_CLASSES
#define PEAK   0.025 /* of a ring's jumps make a class */
#define RARE   0.02  /* share of slow jumps below which they may be noise */
#define WAY    0.1   /* of the jumps that miss make a way in which what lies behind answers */
#define FAST   0.05  /* of them are faster than what is taken for the fastest way */
#define BESIDE 0.25  /* of as many in large rings, those in rings that fit that show it to be no way of missing */
#define ALIKE  0.5 /* two ways to be answered by one level: the nearer takes that part of the other's time, at least */

static double reach(double ticks)
{
	return 3.5 + 0.04 * ticks;
}

static unsigned laps_of(unsigned count)
{
	unsigned laps = 768 / count;
	return laps < 3 ? 3 : laps > 24 ? 24 : laps;
}

/* Jumps that take as long may be read a step of the clock apart. What else a turn does decides in which rings they
 * are. */
static double nearness(const struct code_classes *c, double centre)
{
	return fmax(reach(centre), 1.1 * c->granule);
}

static void add_class(struct code_classes *c, double centre)
{
	const double near = nearness(c, centre);
	unsigned k = 0;
	while (k < c->count && c->centre[k] < centre - near)
		k++;
	if (k < c->count && c->centre[k] < centre + near) {
		c->centre[k] = (c->centre[k] * c->points[k] + centre) / (c->points[k] + 1);
		c->points[k]++;
		return;
	}
	if (c->count == PEAKS)
		return;
	memmove(&c->centre[k + 1], &c->centre[k], (c->count - k) * sizeof *c->centre);
	memmove(&c->points[k + 1], &c->points[k], (c->count - k) * sizeof *c->points);
	c->centre[k] = centre;
	c->points[k] = 1;
	c->count++;
}

static void take_out(struct code_classes *c, unsigned k)
{
	c->count--;
	memmove(&c->centre[k], &c->centre[k + 1], (c->count - k) * sizeof *c->centre);
	memmove(&c->points[k], &c->points[k + 1], (c->count - k) * sizeof *c->points);
}

/* Joins classes that are near to each other. A centre moves with each ring, and may come near another class of the same
 * jumps. */
static void join_near(struct code_classes *c)
{
	for (unsigned k = 1; k < c->count;) {
		const unsigned points = c->points[k - 1] + c->points[k];
		if (c->centre[k] - c->centre[k - 1] > nearness(c, c->centre[k])) {
			k++;
			continue;
		}
		c->centre[k - 1] = (c->centre[k - 1] * c->points[k - 1] + c->centre[k] * c->points[k]) / points;
		c->points[k - 1] = points;
		take_out(c, k);
	}
}

static bool find_classes(const struct code *c, const struct code_survey *v, struct code_classes *out)
{
	*out = (struct code_classes){0};
	study_number(c->study, "clock.granularity", &out->granule);
	for (unsigned i = 0; i < v->count; i++) {
		const struct code_run *r = &v->run[i];
		struct chase_peak peak[PEAKS];
		uint32_t *t = ARENA_ARRAY(study_arena(c->study), r->visits, uint32_t);
		if (!t)
			return false;
		for (unsigned n = 0; n < r->visits; n++)
			t[n] = code_ticks(r, n);
		unsigned n = chase_peaks(t, r->visits, 1, PEAK, peak, PEAKS);
		for (unsigned k = 0; k < n; k++)
			add_class(out, peak[k].centre);
	}
	join_near(out);
	return true;
}

static double share_near(const struct code_run *r, double centre)
{
	unsigned n = 0;
	for (unsigned i = 0; i < r->visits; i++)
		n += fabs(code_ticks(r, i) - centre) <= reach(centre);
	return (double)n / r->visits;
}

/* Of all jumps, those that take no less than this class does: what is nearer does not answer them. */
static double share_beyond(const struct code_run *r, double centre)
{
	return (double)code_slow(r, centre - reach(centre)) / r->visits;
}

/* Whether class k is the one before it while the SM's clock ran faster. It is no slower then than that makes it. In the
 * larger rings it has never most of the jumps that are of either. A class that is really slower has most of them in the
 * end. Only the first jump of a long line is of a class. So only rings tell in which either class answers some of what
 * nearer ones do not. */
static bool is_ghost(const struct code_survey *v, const struct code_classes *c, unsigned k, double boost)
{
	double part[CODE_SURVEY], scratch[CODE_SURVEY];
	size_t n = 0;
	if (c->centre[k] > c->centre[k - 1] * (1 + boost) + reach(c->centre[k]))
		return false;
	for (unsigned i = 0; i < v->count; i++) {
		const double near = share_near(&v->run[i], c->centre[k - 1]),
			     far = share_near(&v->run[i], c->centre[k]),
			     beyond = share_beyond(&v->run[i], c->centre[k - 1]);
		if (near + far >= PEAK && near + far >= 0.25 * beyond)
			part[n++] = far / (near + far);
	}
	const size_t last = n < 6 ? n : n / 2 < 6 ? 6 : n / 2;
	return n && stat_median(part + (n - last), last, scratch) < 0.5;
}

/* The first class is the SM's own, which keeps its cycles. */
static void drop_ghosts(const struct code *c, const struct code_survey *v, struct code_classes *all)
{
	const double swing = study_swing(c->study);
	if (!(swing > 0))
		return;
	for (unsigned k = 2; k < all->count;) {
		if (!is_ghost(v, all, k, swing)) {
			k++;
			continue;
		}
		take_out(all, k);
	}
}

bool code_overflows(const struct code_run *r, double floor, double noise)
{
	unsigned slow = code_slow(r, floor);
	double chance = noise * r->visits;
	return slow >= r->laps && slow > 2 * chance + 4 * sqrt(chance);
}

double code_noise_below(const struct code_survey *v, double floor, unsigned pieces)
{
	double slow = 0, all = 0;
	for (unsigned i = 0; i < v->count; i++)
		if (v->ring[i].count <= pieces) {
			slow += code_slow(&v->run[i], floor);
			all += v->run[i].visits;
		}
	return all > 0 ? slow / all : 0;
}

/* Whether class k and the next one may be the same level's: halves of a cache, rows of a memory. A near cache that others keep emptying
 * shows together with what lies behind it, too, but takes far less time. */
static bool alike(const struct code_classes *c, unsigned k)
{
	return k + 1 == c->count || c->centre[k] - c->centre[0] >= ALIKE * (c->centre[k + 1] - c->centre[0]);
}

/* Between which two rings a level is left, by its floor. */
static void outgrow(const struct code_survey *v, struct code_level *l)
{
	double noise = 0;
	l->fits = 0;
	l->endless = true;
	for (unsigned i = 0; i < v->count; i++) {
		if (code_overflows(&v->run[i], l->floor, noise < RARE ? noise : RARE)) {
			l->over = v->ring[i].count;
			l->endless = false;
			break;
		}
		l->fits = v->ring[i].count;
		noise = code_noise_below(v, l->floor, l->fits);
	}
}

/* Each floor that makes no level of its own is dropped. */
void code_find_levels(struct code_survey *v, const struct code_classes *c)
{
	unsigned last = 0;
	v->levels = 0;
	for (unsigned k = 0; k < c->count && v->levels <= CODE_LEVELS; k++) {
		struct code_level l = {.ticks = c->centre[k]};
		l.floor = k + 1 < c->count ? chase_floor(c->centre[k], c->centre[k + 1]) : INFINITY;
		l.miss = l.floor;
		outgrow(v, &l);
		/* Not even the smallest ring is without what is slower: the steps of a coarse clock, no level. */
		if (!l.endless && !l.fits)
			continue;
		/* What is slower but holds no more is one level with the next class: rows of a memory, neighbours of different distance. Either is a
		 * miss of the level before. */
		if (v->levels && !l.endless && l.fits <= last + last / 4 && alike(c, k))
			continue;
		last = l.fits;
		v->level[v->levels++] = l;
		if (l.endless)
			break;
	}
}

unsigned code_large_ring(const struct code_survey *v, const struct code_level *l)
{
	unsigned at = 0;
	while (at + 1 < v->count && v->ring[at].count < l->over * 2)
		at++;
	return at;
}

/* Share of all jumps from `low` to below `high`. */
static double share_between(const struct code_run *r, double low, double high)
{
	return ((double)code_slow(r, low) - code_slow(r, high)) / r->visits;
}

/* The ticks around which the fastest jumps lie that are clearly slower than `edge`. As many have to be there as make a
 * way to be answered. 0: there are none. */
static double fastest_beyond(struct arena *a, const struct code_run *r, double edge)
{
	struct chase_peak peak[PEAKS];
	uint32_t *t = ARENA_ARRAY(a, r->visits, uint32_t), n = 0;
	double *v = ARENA_ARRAY(a, 2 * (size_t)r->visits, double);
	for (unsigned i = 0; t && v && i < r->visits; i++)
		if (code_ticks(r, i) > edge) {
			v[n] = code_ticks(r, i);
			t[n++] = code_ticks(r, i);
		}
	if (!n)
		return 0;
	/* Places of a common cache lie so far apart that hardly two answer alike fast. */
	const double nearest = stat_quantile(v, n, FAST, v + r->visits);
	return chase_peaks(t, n, 1, WAY, peak, PEAKS) ? fmin(peak[0].centre, nearest) : nearest;
}

/* Lowers a level's miss if the level behind answers in several ways, as by open and other rows of a memory. Few jumps
 * miss if lines are long, and so few by the faster way that it may be no class. Jumps that miss by it then seemed to
 * hit. They are no small part of those that miss alone. A share that rings that fit show nearly as often is no miss. */
void code_find_misses(struct arena *a, struct code_survey *v, const struct code_classes *c, double boost)
{
	for (unsigned k = 0; k < v->levels; k++) {
		struct code_level *l = &v->level[k], lower;
		if (l->endless)
			continue;
		const unsigned above = k ? v->level[k - 1].fits : 0;
		const struct code_run *large = &v->run[code_large_ring(v, l)];
		const double edge = l->ticks * (1 + boost) + nearness(c, l->ticks),
			     fastest = fastest_beyond(a, large, edge), miss = chase_floor(l->ticks, fastest);
		double most = 0;
		if (!(fastest > 0) || miss <= edge || miss >= l->miss)
			continue;
		for (unsigned i = 0; i < v->count; i++)
			if (v->ring[i].count > above && v->ring[i].count <= l->fits)
				most = fmax(most, share_between(&v->run[i], miss, l->miss));
		if (most >= BESIDE * share_between(large, miss, l->miss))
			continue;
		lower = *l;
		lower.floor = miss;
		outgrow(v, &lower);
		if (l->floor == l->miss && !lower.endless && lower.fits == l->fits)
			l->floor = miss;
		l->miss = miss;
	}
}

enum code_state code_measure_survey(struct code *c, struct code_survey *v)
{
	struct code_classes classes;
	enum code_state all = CODE_HERE;
	*v = (struct code_survey){0};
	for (double n = 4; v->count < CODE_SURVEY && n <= c->pieces - c->low; n *= n < 64 ? 1.42 : 1.26) {
		struct code_ring *r = &v->ring[v->count];
		*r = (struct code_ring){.first = c->low, .stride = 1, .count = (unsigned)n, .warm = 2};
		r->laps = laps_of(r->count);
		enum code_state st = code_get(c, r, &v->run[v->count]);
		if (st == CODE_MISSING) {
			snprintf(v->why, sizeof v->why, "%s", point_why(v->run[v->count].point));
			return st;
		}
		all = st == CODE_PENDING ? st : all;
		v->count++;
	}
	if (all != CODE_HERE)
		return all;
	if (!code_lies(c, v->run[0].point)) {
		snprintf(v->why, sizeof v->why, "the pieces of code do not lie as they were meant to");
		return CODE_MISSING;
	}
	if (!find_classes(c, v, &classes) || !classes.count) {
		snprintf(v->why, sizeof v->why, "the times of jumps form no classes");
		return CODE_MISSING;
	}
	drop_ghosts(c, v, &classes);
	code_find_levels(v, &classes);
	code_find_misses(study_arena(c->study), v, &classes, study_swing(c->study));
	return CODE_HERE;
}
