/* Levels that a survey does not show. One is so near to the first that both are one class of latency. Another escapes
 * small steps: if a miss fetches many steps at once, few accesses of a lap go so far. A level that others empty as fast
 * as one lap fills it answers a few of those only, too few for a class of latency. */
#include "base/arena.h"
#include "judge/house.h"
#include "probe/chase_walk.h"
#include <math.h>
#include <stdio.h>

#define FEW   8	   /* steps of the survey in one fetch, from which such a level may escape it */
#define OTHER 0.1  /* of that, at most, where level k + 1 is not asked */
#define FROM  0.02 /* of the steps that could miss */
/* Accesses that can go beyond, in all footprints in which some do: how many, and which part of them, have one latency
 * at least ... */
#define RARE_LEAST 16
#define RARE	   0.01
#define MOST	   0.5	      /* ... and of those between the two levels so large a part, for delays would scatter */
#define FITS	   0.98	      /* of a ring's accesses that hit the nearest level, if it fits there but for noise */
#define CYCLE	   1.0	      /* by which levels differ at least: latencies are whole cycles */
#define ROUNDING   (1.0 / 12) /* variance of what is rounded to a step, in steps squared */
#define RINGS	   3	      /* on either side: one or two may lie in a near part of the level */

/* Whether a latency is none of the classes, and lies between the levels k and k + 1. */
static bool is_new(const struct chase_path *c, unsigned k, double centre)
{
	const double reach = 2 * chase_reach(centre, c->grain), swing = 1 + c->swing;

	if (centre < c->classes[c->level[k].class_last].centre * swing + reach ||
	    centre > c->classes[c->level[k + 1].class_first].centre / swing - reach)
		return false;
	for (unsigned q = 0; q < c->class_count; q++)
		if (fabs(c->classes[q].centre - centre) <= reach + c->swing * centre)
			return false;
	return true;
}

/* What has been seen of the accesses that can go beyond a level, one in each fetch, and of all others. */
struct both {
	uint32_t asked[CHASE_CAP + 1], others[CHASE_CAP + 1];
	double all_asked, all_others;
};

static void add_run(const struct chase_path *c, const struct chase_run *r, uint64_t unit, struct both *b)
{
	for (uint32_t q = 0; q < r->kept; q++) {
		const uint64_t at = (uint64_t)chase_at(r->point->p, r->elements, chase_index(r->record[q])) * c->stride;
		const uint32_t ticks = chase_ticks(r->record[q]);
		const bool other = at % unit;
		++(other ? b->others : b->asked)[ticks < CHASE_CAP ? ticks : CHASE_CAP];
		++*(other ? &b->all_others : &b->all_asked);
	}
}

/* Looks at all footprints together, as hardly anything stays in that level for a lap. A level shows as a latency that
 * is rare in each of them, but always the same. Accesses inside a fetch lack it, which a delay would meet as often. */
static bool look_at_all(const struct chase_path *c, const struct chase_pool *pool, unsigned k, uint64_t unit,
			double *ticks)
{
	const double could = (double)c->stride / (double)unit;
	struct both *b = ARENA_NEW(study_arena(c->study), struct both);
	double between = 0, most = 0, others = 0;

	for (unsigned i = 0; b && i < pool->runs; i++) {
		double beyond = 0;
		for (unsigned q = c->level[k + 1].class_first; q < c->class_count; q++)
			beyond += c->survey[i].share[q];
		if (beyond >= FROM * could)
			add_run(c, &pool->run[i], unit, b);
	}
	for (uint32_t t = 0; b && t <= CHASE_CAP; t++) {
		const double reach = chase_reach(t, c->grain);
		double near = 0, far = 0;
		if (!b->asked[t] || !is_new(c, k, t))
			continue;
		between += b->asked[t];
		for (uint32_t o = 0; o <= CHASE_CAP; o++) {
			near += fabs((double)o - t) <= reach ? b->asked[o] : 0;
			far += fabs((double)o - t) <= reach ? b->others[o] : 0;
		}
		if (near <= most)
			continue;
		most = near;
		others = far;
		*ticks = t;
	}
	return most >= RARE_LEAST && most >= RARE * b->all_asked && most > MOST * between &&
	       others * b->all_asked <= OTHER * most * b->all_others;
}

/* What comes from that level has left level k: its floor, which is half way to the next class, may be above. */
static void lower_floor(struct chase_path *c, unsigned k, double ticks)
{
	struct chase_level *l = &c->level[k];
	const double hit = c->classes[l->class_last].centre * (k || c->beyond_sm ? 1 + c->swing : 1);

	l->floor = fmin(l->floor, chase_floor(hit, ticks));
}

void chase_unseen(struct chase_path *c, const struct chase_pool *pool, const struct chase_run *walks)
{
	for (unsigned k = 0; k + 1 < c->level_count; k++) {
		const uint64_t unit = chase_walk_of(c, walks, 2, c->level[k + 1].class_first).unit;
		double ticks = 0;
		if (unit < FEW * c->stride || !look_at_all(c, pool, k, unit, &ticks))
			continue;
		lower_floor(c, k, ticks);
		if (c->doubtful && c->doubtful <= k + 1)
			continue;
		c->doubtful = k + 1;
		snprintf(c->doubt, sizeof(c->doubt),
			 "in steps of %llu bytes accesses of %.0f ticks come up, rarely but always as long: one more "
			 "level, which others empty",
			 (unsigned long long)unit, ticks);
	}
}

/* Number, sum and sum of squares. */
struct sums {
	double n, x, xx;
};

static void add(struct sums *s, double x)
{
	s->n++;
	s->x += x;
	s->xx += x * x;
}

/* What an access of a ring takes in the mean that fits into the nearest level; NAN: it does not fit. */
static double mean_hit(const struct chase_run *r, double floor)
{
	struct sums hit = {0};

	for (uint32_t q = 0; q < r->kept; q++)
		if (chase_ticks(r->record[q]) < floor)
			add(&hit, chase_ticks(r->record[q]));
	return hit.n > 0 && hit.n >= FITS * r->kept ? hit.x / hit.n : NAN;
}

/* Nats by which two means explain the rings better than one. The variance is that of rings inside of a or b, and no less than `least`. */
static double parted(struct sums a, struct sums b, double least)
{
	const double between = b.x / b.n - a.x / a.n;
	const double inside = (a.xx - a.x * a.x / a.n + b.xx - b.x * b.x / b.n) / (a.n + b.n);

	return between * between / (2 * fmax(inside, least) * (1 / a.n + 1 / b.n));
}

/* The phase of a clock that counts in steps may be the same in all accesses of a ring. A ring therefore counts once,
 * and its mean is known to a step. */
enum chase_state chase_one_latency(struct chase_path *c, const struct chase_pool *pool)
{
	const double step = fmax(c->grain, 1), rounding = step * step * ROUNDING;
	double mean[CHASE_SURVEY], most = 0, between = 0, at = 0;
	struct sums all = {0}, a = {0};

	/* The memory answers sooner or later, and what is beyond the SM or has parts is nearer or farther. */
	if (c->level_count < 2 || c->beyond_sm || c->level[0].class_last > c->level[0].class_first)
		return CHASE_DONE;
	for (unsigned i = 0; i < c->survey_count; i++) {
		mean[i] = mean_hit(&pool->run[i], c->level[0].floor);
		if (!isnan(mean[i]))
			add(&all, mean[i]);
	}
	for (unsigned i = 0; i < c->survey_count; i++) {
		if (isnan(mean[i]))
			continue;
		add(&a, mean[i]);
		const struct sums b = {all.n - a.n, all.x - a.x, all.xx - a.xx};
		if (a.n < RINGS || b.n < RINGS || parted(a, b, rounding) <= most)
			continue;
		most = parted(a, b, rounding);
		between = b.x / b.n - a.x / a.n;
		at = c->survey[i].footprint;
	}
	if (most < JUDGE_NATS + log(CHASE_SURVEY) || between < CYCLE + step + c->swing * all.x / all.n)
		return CHASE_DONE;
	return CHASE_WHY(c->why,
			 "its hits take %.1f cycles longer in rings of more than %.0f bytes: two levels that are too "
			 "near to be told apart",
			 between, at);
}
