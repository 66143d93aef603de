/* Whether a ring fits a level, and which of its elements miss. */
#include "base/arena.h"
#include "probe/chase.h"
#include "stat/stat.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define ACCESSES   1024 /* a first look times at least so many */
#define LAPS_FIRST 6	/* and at least so many laps */
#define LAPS_MOST  4096
#define INDEX_MOST (1u << 20) /* a record's index has 20 bits */
#define ROUNDS	   4	      /* each looks four times longer than the one before */
#define CHANCE	   1e-4	      /* what noise may be blamed for */
#define HOT_ORDERS 10
#define HOT_COUNT  5 /* misses of the quietest element of a set that counts as seen */

uint32_t chase_spec_elements(const struct chase_ring_spec *ring)
{
	return (uint32_t)((ring->bytes + ring->stride - 1) / ring->stride) + (ring->extra > 0);
}

static void params_of(const struct chase_path *c, unsigned k, const struct chase_ring_spec *ring, double warm,
		      double timed, double *p)
{
	memset(p, 0, POINT_PARAMS * sizeof(*p));
	p[CHASE_STRIDE] = (double)ring->stride;
	p[CHASE_WARM] = warm;
	p[CHASE_TIMED] = timed;
	p[CHASE_FLOOR] = c->level[k].floor;
	p[CHASE_START] = (double)ring->start;
	p[CHASE_EXTRA] = (double)ring->extra;
	p[CHASE_ORDER] = ring->order;
	p[CHASE_PLACE] = 8 * c->sm + c->kind;
}

/* Misses per access that noise may cause. Near capacity every line counts, so twice what smaller footprints showed. */
static double noise_most(const struct chase_level *l)
{
	double seen = l->noise_seen > 256 ? l->noise_seen : 256;
	double p = 2.5 * l->noise + 3 / seen;
	return p < 0.5 ? p : 0.5;
}

/* Misses of the same places again and again, more often than misses that fall anywhere would. Counted by what one miss
 * fetches, because only its first element can miss. */
static bool concentrated(struct chase_path *c, const struct chase_level *l, const struct chase_ring_spec *ring,
			 const struct chase_run *r)
{
	uint64_t unit =
	    l->sector.state == CHASE_DONE && l->sector.value > ring->stride ? l->sector.value : ring->stride;
	uint32_t places = (uint32_t)((ring->bytes + unit - 1) / unit) + (ring->extra > 0);
	uint32_t *count = ARENA_ARRAY(study_arena(c->study), places, uint32_t), most = 0;
	const uint64_t *at = ring->order ? chase_ring(study_arena(c->study), (double)ring->bytes, r->point->p) : NULL;

	if (!count || (ring->order && !at) || places < 4)
		return false;
	for (uint32_t i = 0; i < r->kept; i++) {
		uint32_t e = chase_at(r->point->p, r->elements, chase_index(r->record[i]));
		bool extra = ring->extra && (at ? at[e] == ring->extra : e == r->elements - 1);
		uint64_t offset = at ? at[e] - ring->start : e * ring->stride;
		uint32_t place = extra ? places - 1 : (uint32_t)(offset / unit);
		if (++count[place] > most)
			most = count[place];
	}
	double laps = (double)r->covered / r->elements, mean = (double)r->kept / places, p = mean / laps;
	if (laps < 2)
		return false;
	if (p < 0.95 && most > stat_binomial_limit((unsigned)ceil(laps), p, CHANCE / places))
		return true;
	/* Many a little above the mean, as where the victim is random. */
	double sum = 0;
	for (uint32_t i = 0; i < places; i++)
		sum += (count[i] - mean) * (count[i] - mean);
	double expected = (places - 1) * mean * (p < 1 ? 1 - p / 2 : 0.5);
	return sum > expected * (1 + 6 * sqrt(2.0 / places)) + 8;
}

enum chase_state chase_fits(struct chase_path *c, unsigned k, const struct chase_ring_spec *ring, bool *fits)
{
	const struct chase_level *l = &c->level[k];
	double n = chase_spec_elements(ring), laps = ceil(ACCESSES / n), p[POINT_PARAMS];
	/* A level above may hide some misses of lower levels, where it hits by chance. */
	double sure = k ? 0.25 : 1;

	if (laps < LAPS_FIRST)
		laps = LAPS_FIRST;
	for (unsigned round = 0; round < ROUNDS; round++, laps *= 4) {
		if (n * laps >= INDEX_MOST || laps > LAPS_MOST)
			break;
		struct chase_run r;
		params_of(c, k, ring, 2 * n, n * laps, p);
		enum chase_state state = chase_get(c, &r, (double)ring->bytes, p);
		if (state != CHASE_DONE)
			return state;
		double seen = r.covered / n;
		if (r.slow <= r.kept && r.slow < sure * laps) {
			*fits = true;
			return CHASE_DONE;
		}
		if (r.covered && r.kept > stat_binomial_limit(r.covered, noise_most(l), CHANCE)) {
			*fits = false;
			return CHASE_DONE;
		}
		if (concentrated(c, l, ring, &r)) {
			*fits = false;
			return CHASE_DONE;
		}
		/* An overflowing set would have repeated itself by now. */
		if (seen >= 64 && n > 64) {
			*fits = true;
			return CHASE_DONE;
		}
	}
	snprintf(c->why, sizeof(c->why),
		 "noise makes as many slow accesses as a conflict would, over %llu bytes in steps of %llu",
		 (unsigned long long)ring->bytes, (unsigned long long)ring->stride);
	return CHASE_UNDECIDED;
}

enum chase_state chase_hot(struct chase_path *c, unsigned k, const struct chase_ring_spec *ring, bool **hot,
			   uint32_t *out_n)
{
	const struct chase_level *l = &c->level[k];
	uint32_t n = chase_spec_elements(ring);
	uint32_t *count = ARENA_ARRAY(study_arena(c->study), n, uint32_t);
	bool *mark = ARENA_ARRAY(study_arena(c->study), n, bool);
	double p[POINT_PARAMS], total = 0, laps = floor(262144.0 / n);

	if (!count || !mark) {
		snprintf(c->why, sizeof(c->why), "out of memory");
		return CHASE_UNDECIDED;
	}
	laps = laps > 512 ? 512 : laps < 8 ? 8 : laps;
	struct chase_ring_spec again = *ring;
	/* Other orders fill the ways differently, so that a line that a policy never gives up is another one each time. */
	for (unsigned order = 0; order < HOT_ORDERS; order++) {
		struct chase_run r;
		again.order = order;
		params_of(c, k, &again, 2.0 * n, n * laps, p);
		enum chase_state state = chase_get(c, &r, (double)ring->bytes, p);
		if (state != CHASE_DONE)
			return state;
		const uint64_t *at = order ? chase_ring(study_arena(c->study), (double)ring->bytes, p) : NULL;
		if (order && !at) {
			snprintf(c->why, sizeof(c->why), "out of memory");
			return CHASE_UNDECIDED;
		}
		for (uint32_t i = 0; i < r.kept; i++) {
			uint32_t e = chase_at(p, n, chase_index(r.record[i]));
			if (at)
				e = ring->extra && at[e] == ring->extra
					? n - 1
					: (uint32_t)((at[e] - ring->start) / ring->stride);
			count[e]++;
		}
		total += (double)r.covered / n;
		if (order < 2)
			continue;
		unsigned limit = stat_binomial_limit((unsigned)ceil(total), noise_most(l), 1e-3 / n),
			 least = UINT32_MAX;
		uint32_t marked = 0;
		for (uint32_t i = 0; i < n; i++) {
			mark[i] = count[i] > limit;
			marked += mark[i];
			if (mark[i] && count[i] < least)
				least = count[i];
		}
		if (marked && least >= HOT_COUNT && least > limit + 2 + limit / 2) {
			*hot = mark;
			*out_n = n;
			return CHASE_DONE;
		}
	}
	snprintf(c->why, sizeof(c->why),
		 "which lines conflict with one more than %llu bytes could not be told from noise",
		 (unsigned long long)ring->bytes);
	return CHASE_UNDECIDED;
}
