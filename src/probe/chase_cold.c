/* First touches: what a load takes that no cache holds yet. */
#include "base/arena.h"
#include "probe/chase_fit.h"
#include "probe/chase_walk.h"
#include "stat/stat.h"
#include <math.h>

#define TOP_LAPS    2 /* of the largest footprint, timed as a whole */
#define USUAL_LEAST 4 /* first touches that take as long as a miss */
#define USUAL_SHARE 0.05
#define FEWER	    0.7 /* of a class in a warm walk, against a cold one */

/* The slowest class that a first touch of every block belongs to; 0 when none. */
double chase_cold_class(struct chase_path *c, const struct chase_run *run)
{
	for (unsigned k = c->class_count; k-- > 0;) {
		struct chase_walked w = chase_walk_of(c, run, 1, k);
		/* Blocks of two latencies, of which the class is one: together they are all. */
		if (k && !(w.unit && w.coverage >= 0.5))
			w = chase_walk_slower(c, run, 1, k,
					      chase_floor(c->classes[k - 1].centre, c->classes[k].centre));
		if (w.unit && w.coverage >= 0.5)
			return c->classes[k].centre;
	}
	return 0;
}

/* On a large chip first touches differ too much among themselves to have a peak. They show as accesses slower than
 * `slowest` at regular places of the cold walk. Hardly any access of the warm walk is as slow. Returns what they fetch,
 * in bytes, and their median time; 0: there are none, or memory ran out. */
uint64_t chase_scattered_cold(struct chase_path *c, const struct chase_run *run, double slowest, double *median)
{
	double most = slowest * 1.25 + 20,
	       *slow = ARENA_ARRAY(study_arena(c->study), 2 * (size_t)run[0].kept + 2, double);
	uint64_t *at = ARENA_ARRAY(study_arena(c->study), run[0].kept + 1, uint64_t);
	unsigned cold = 0, warm = 0, regular = 0;

	if (!slow || !at)
		return 0;
	for (uint32_t i = 0; i < run[1].kept; i++)
		warm += chase_ticks(run[1].record[i]) > most;
	for (uint32_t i = 0; i < run[0].kept; i++) {
		if (chase_ticks(run[0].record[i]) <= most)
			continue;
		slow[cold] = chase_ticks(run[0].record[i]);
		at[cold++] =
		    (uint64_t)chase_at(run[0].point->p, run[0].elements, chase_index(run[0].record[i])) * c->word;
	}
	if (cold < 16 || cold < 8 * (warm + 1))
		return 0;
	uint64_t unit = stat_gcd_robust(at, cold, 0.85, UNIT_MOST);
	if (unit <= c->word || (unit & (unit - 1)))
		return 0;
	for (unsigned i = 0; i < cold; i++)
		regular += at[i] % unit == 0;
	if (regular * (double)unit < 0.5 * run[0].kept * c->word)
		return 0;
	*median = stat_median(slow, cold, slow + cold);
	return unit;
}

/* Whether what delays first touches may be a stall that keeps step with the walk for a while. Then other first touches,
 * of whole units as well, take as long as what a warm footprint misses. A slower level would answer them all, unless
 * caches were not empty. */
static bool in_step(const struct chase_path *c, const struct chase_run *cold, uint64_t unit, double slowest)
{
	unsigned usual = 0, all = 0;

	for (uint32_t i = 0; unit && i < cold->kept; i++) {
		uint64_t at =
		    (uint64_t)chase_at(cold->point->p, cold->elements, chase_index(cold->record[i])) * c->word;
		if (at % unit)
			continue;
		all++;
		usual += fabs(chase_ticks(cold->record[i]) - slowest) <= chase_reach(slowest, c->grain);
	}
	return c->level_count > 1 && usual >= USUAL_LEAST && usual >= USUAL_SHARE * all;
}

/* Whether the largest footprint misses the last level no more often than smaller ones do. */
static bool top_fits(struct chase_path *c, const struct chase_pool *pool)
{
	const struct chase_run *top = &pool->run[pool->runs - 1];
	const double bytes = c->survey[pool->runs - 1].footprint;
	double slow = 0, of = 0, weighted = 0;
	unsigned misses = 0;

	c->top_floor = chase_floor(c->classes[c->class_count - 1].centre * (1 + c->swing), c->cold);
	for (unsigned i = 0; i < pool->runs; i++) {
		const struct chase_run *r = &pool->run[i];
		unsigned n = 0;
		for (uint32_t q = 0; q < r->kept; q++)
			n += chase_ticks(r->record[q]) >= c->top_floor;
		if (r == top)
			misses = n;
		else if (2 * c->survey[i].footprint <= bytes) {
			slow += n;
			of += r->kept;
			weighted += r->kept * c->survey[i].footprint;
		}
	}
	/* Others' traffic evicts what was not used for long, so longer laps suffer more of it. */
	c->top_noise = fmin((slow * fmax(bytes * of / fmax(weighted, 1), 1) + 1) / (of + 1), 0.5);
	return misses <= stat_binomial_limit(top->kept, (slow + 1) / (of + 1), JUDGE_CHANCE);
}

enum chase_state chase_top_again(struct chase_path *c)
{
	const struct chase_ring_spec ring = {.bytes = c->limit / c->stride * c->stride, .stride = c->stride};
	const double n = chase_spec_elements(&ring);
	double p[POINT_PARAMS];
	struct chase_run r;

	if (c->top != TOP_FITS || n <= c->room)
		return CHASE_DONE;
	/* All sets may be in the same state at the same place of a lap. Even if each has a line too many, the timed
	 * lines may then be those that stay; in another lap they would not be. Over a whole lap a set that is too full
	 * misses, whatever is replaced. */
	chase_fit_params(c, c->level_count - 1, &ring, TOP_LAPS * n, fmin(TOP_LAPS * n, INDEX_MOST - 1), p);
	p[CHASE_FLOOR] = c->top_floor;
	const enum chase_state state = chase_get(c, &r, (double)ring.bytes, p);
	if (state != CHASE_DONE)
		return state == CHASE_PENDING ? state : CHASE_DONE;
	if (r.slow > stat_binomial_limit(r.timed, c->top_noise, JUDGE_CHANCE))
		c->top = TOP_MISSES;
	return CHASE_DONE;
}

/* The largest part that a latency has in a warm footprint of the survey, if it is no class of it or not yet. */
static double surveyed(const struct chase_path *c, const struct chase_pool *pool, double centre)
{
	double most = 0;
	for (unsigned i = 0; i < pool->runs; i++)
		most = fmax(most, chase_share_near(&pool->run[i], centre, c->grain));
	return most;
}

enum chase_state chase_first_touches(struct chase_path *c, const struct chase_pool *pool, const struct chase_run *run,
				     bool whole)
{
	/* First touches: slower than everything that a warm footprint shows? Then that class covers the cold walk. */
	double slowest = c->classes[c->class_count - 1].centre;
	struct chase_peak peak[CHASE_CLASSES];
	uint32_t *v = ARENA_ARRAY(study_arena(c->study), run[0].kept + 1, uint32_t);
	if (!v)
		return CHASE_UNDECIDED;
	for (uint32_t i = 0; i < run[0].kept; i++)
		v[i] = chase_ticks(run[0].record[i]);
	unsigned n = chase_peaks(v, run[0].kept, c->grain, CHASE_SHARE_LEAST / 4, peak, CHASE_CLASSES);
	bool slower = false, unsure = false;
	c->cold = slowest;
	for (unsigned i = 0; i < n && c->class_count < CHASE_CLASSES; i++) {
		if (peak[i].centre <= slowest * (1 + c->swing) + 2 * chase_reach(slowest, c->grain))
			continue;
		const double warm = chase_share_near(&run[1], peak[i].centre, c->grain),
			     first_time = chase_share_near(&run[0], peak[i].centre, c->grain);
		/* Latencies of the last level that lie close to each other may be one class of it or two. */
		if (surveyed(c, pool, peak[i].centre) >= fmax(first_time, CHASE_SHARE_LEAST))
			continue;
		c->classes[c->class_count++] = (struct chase_class){.centre = peak[i].centre, .first = peak[i].first};
		struct chase_walked w = chase_walk_of(c, run, 1, c->class_count - 1);
		c->class_count--;
		/* What a warm walk shows as well is no first touch: a stall that keeps step with the walk, say. Or it is, and others
		 * evict much of a level while a lap lasts. */
		if (4 * warm > first_time) {
			unsure = unsure || (w.coverage >= 0.5 && w.unit > c->word && warm < FEWER * first_time);
			continue;
		}
		if (w.coverage < 0.5)
			continue;
		if (in_step(c, &run[0], w.unit, slowest)) {
			unsure = true;
			continue;
		}
		slower = true;
		c->cold = peak[i].centre;
		c->cold_unit = w.unit;
	}
	const uint64_t scattered = slower || unsure ? 0 : chase_scattered_cold(c, run, slowest, &c->cold);
	if (scattered)
		c->cold_unit = scattered;
	c->touch = unsure ? TOUCH_UNSURE : slower || scattered ? TOUCH_SLOWER : TOUCH_ALIKE;
	/* Of a larger space, only footprints up to where the survey ended were seen. */
	const bool top = c->touch == TOUCH_SLOWER && (whole || c->limit <= CHASE_WALKED) && top_fits(c, pool);
	c->top = top ? TOP_FITS : TOP_UNTOLD;
	return CHASE_DONE;
}
