/* The places at which the accesses of a class fall in a survey's footprints. */
#include "base/arena.h"
#include "probe/chase_walk.h"
#include "stat/stat.h"
#include <math.h>

#define OWN_LEAST      0.5 /* of the accesses to places that a class has of its own, ... */
#define ELSEWHERE_MOST 0.1 /* ... and of those elsewhere */

/* Whether a footprint of the survey says at which places accesses of a class fall. The class must have a part worth
 * looking at, and the footprint two units, as in a single one all places are its multiples. */
static bool shows_places(const struct chase_path *c, unsigned i, unsigned k)
{
	return c->survey[i].share[k] >= SHARE_REAL / 3 && c->survey[i].footprint >= 2 * UNIT_MOST;
}

/* The place at which the access of a record fell, in bytes. */
static uint64_t place_of(const struct chase_path *c, const struct chase_run *r, uint32_t record)
{
	return (uint64_t)chase_at(r->point->p, r->elements, chase_index(r->record[record])) * c->stride;
}

/* What the places have in common where single classes occur in the survey's footprints, in bytes. 0 = too few. */
static uint64_t class_unit(struct chase_path *c, const struct chase_pool *pool, unsigned k)
{
	uint64_t *at = ARENA_ARRAY(study_arena(c->study), UNIT_SAMPLES, uint64_t);
	size_t n = 0;

	/* The largest footprints in which it has a part worth looking at. */
	for (unsigned i = pool->runs; at && i-- > 0 && n < UNIT_SAMPLES;) {
		const struct chase_run *r = &pool->run[i];
		if (!shows_places(c, i, k))
			continue;
		for (uint32_t q = 0; q < r->kept && n < UNIT_SAMPLES; q++) {
			double ticks = chase_ticks(r->record[q]);
			if (fabs(ticks - c->classes[k].centre) <= chase_reach(ticks, c->grain))
				at[n++] = place_of(c, r, q);
		}
	}
	return n < 16 ? 0 : stat_gcd_robust(at, n, 0.85, UNIT_MOST);
}

uint64_t chase_own_unit(struct chase_path *c, const struct chase_pool *pool, unsigned k)
{
	const uint64_t unit = class_unit(c, pool, k), faster = unit ? class_unit(c, pool, k - 1) : 0;

	return faster && unit >= 2 * faster ? unit : 0;
}

bool chase_owns_places(struct chase_path *c, const struct chase_pool *pool, unsigned k)
{
	const double least = c->classes[k].centre - chase_reach(c->classes[k].centre, c->grain);
	const uint64_t unit = chase_own_unit(c, pool, k);
	double own[2] = {0}, of[2] = {0}; /* elsewhere, at its places */

	if (!unit)
		return false;
	for (unsigned i = 0; i < pool->runs; i++) {
		const struct chase_run *r = &pool->run[i];
		if (!shows_places(c, i, k))
			continue;
		for (uint32_t q = 0; q < r->kept; q++) {
			const bool at = place_of(c, r, q) % unit == 0;
			of[at]++;
			own[at] += chase_ticks(r->record[q]) >= least;
		}
	}
	return own[1] > OWN_LEAST * of[1] && own[0] < ELSEWHERE_MOST * of[0];
}
