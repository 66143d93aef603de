/* Whether a ring fits a level. */
#include "probe/chase_fit.h"
#include "base/arena.h"
#include "stat/stat.h"
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define ACCESSES     1024    /* a first look times at least so many */
#define LAPS_FIRST   6	     /* and at least so many laps */
#define FIT_MOST     1000000 /* accesses of a further look */
#define ROUNDS	     4	     /* each looks four times longer than the one before */
#define PATIENT_MOST 4e6     /* accesses */
#define LAPS_SURE    12	     /* laps after which few misses in each of them are no noise */
#define FEW_MISSES   30
#define FIT_MISSES   8	  /* from which they say how many there are */
#define MOST	     0.75 /* of what can miss */
#define IN_PAGE	     4	  /* accesses of which one entered it */
#define LAPS_TOLD    64	  /* after which an overflowing set has repeated itself */
#define OWN_ORDERS   4

uint32_t chase_spec_elements(const struct chase_ring_spec *ring)
{
	return (uint32_t)((ring->bytes + ring->stride - 1) / ring->stride) + (ring->extra > 0);
}

static bool page_by_page(const struct chase_path *c, const struct chase_ring_spec *ring)
{
	return chase_beyond_reach(c, (double)ring->start, (double)ring->bytes, (double)ring->extra);
}

/* Whether translations hide what the ring does: it is in more pages than are translated, and few of its accesses stay in one. */
bool chase_untranslated(struct chase_path *c, const struct chase_ring_spec *ring)
{
	if (!page_by_page(c, ring) || ring->stride * IN_PAGE <= CHASE_PAGE)
		return false;
	snprintf(c->why, sizeof(c->why),
		 "in steps of %llu bytes %llu bytes are in more pages than are translated at once",
		 (unsigned long long)ring->stride, (unsigned long long)ring->bytes);
	return true;
}

void chase_fit_params(const struct chase_path *c, unsigned k, const struct chase_ring_spec *ring, double warm,
		      double timed, double *p)
{
	memset(p, 0, POINT_PARAMS * sizeof(*p));
	p[CHASE_STRIDE] = (double)ring->stride;
	p[CHASE_WARM] = warm;
	p[CHASE_TIMED] = timed;
	p[CHASE_FLOOR] = c->level[k].floor;
	p[CHASE_START] = (double)ring->start;
	p[CHASE_EXTRA] = (double)ring->extra;
	p[CHASE_ORDER] = ring->order + (page_by_page(c, ring) ? CHASE_PAGED : 0);
	p[CHASE_PLACE] = 8 * c->sm + c->kind;
}

/* Whether a footprint is so much larger than each level above that those answer few of its accesses. */
static bool reaches(const struct chase_path *c, unsigned k, double bytes)
{
	for (unsigned i = 0; i < k; i++)
		if (c->level[i].size.state != CHASE_DONE || bytes < 2 * (double)c->level[i].size.value)
			return false;
	return true;
}

/* Misses per access that noise may cause. Others' traffic evicts anything, so the fuller the level, the more it hits us. */
double chase_noise_most(const struct chase_path *c, unsigned k, uint64_t bytes)
{
	const struct chase_level *l = &c->level[k];
	double seen = l->noise_seen > 256 ? l->noise_seen : 256, rare = 3 / seen, p = 1.5 * l->noise;

	if ((k || c->beyond_sm) && l->noise_at > 0 && (double)bytes > l->noise_at) {
		p *= (double)bytes / l->noise_at;
		/* Of a large cache small parts alone were seen: what hits them too rarely to be seen hits all of it often. There a lap
		 * without a miss still proves that a ring fits, so misses in each lap need not be taken for conflicts. */
		if (!k)
			rare *= (double)bytes / l->noise_at;
		/* What a ring that fits was seen to suffer tells more than what small parts may have hidden. */
		if (!k && l->fit_at > 0)
			return fmin(fmin(p + rare, l->fit_noise * fmax((double)bytes / l->fit_at, 1)), 0.5);
	}
	p += rare;
	/* So it does of a level that few accesses of the survey reached, where hardly any is hidden by one above. */
	if (k && l->fit_at > 0 && reaches(c, k, l->fit_at))
		p = fmin(p, l->fit_noise * fmax((double)bytes / l->fit_at, 1));
	return p < 0.5 ? p : 0.5;
}

/* A ring in small steps fits: what made it miss is noise, of a footprint that says more than the survey's small ones. */
static void learn_noise(struct chase_level *l, const struct chase_ring_spec *ring, const struct chase_run *r)
{
	if (ring->stride > l->stride || !r->covered || (double)ring->bytes <= l->fit_at)
		return;
	l->fit_at = (double)ring->bytes;
	l->fit_noise = (1.5 * r->kept + 3) / r->covered;
	l->fit_missed = r->kept >= FIT_MISSES ? (double)r->kept / r->covered : 0;
}

/* What one miss of the level fetches, as far as the ring can show it: only its first element can miss. */
uint64_t chase_fit_unit(const struct chase_level *l, uint64_t stride)
{
	return l->sector.state == CHASE_DONE && l->sector.value > stride ? l->sector.value : stride;
}

/* Adds the recorded misses to the blocks they fall in; those of the extra element to *extra. -1: out of memory. */
int chase_count_blocks(struct chase_path *c, const struct chase_ring_spec *ring, const struct chase_run *r,
		       uint64_t unit, uint32_t *count, uint32_t *extra)
{
	assert(r->point);
	const double *p = r->point->p;
	const uint64_t *at = p[CHASE_ORDER] > 0 ? chase_ring(study_arena(c->study), (double)ring->bytes, p) : NULL;

	if (p[CHASE_ORDER] > 0 && !at)
		return -1;
	for (uint32_t i = 0; i < r->kept; i++) {
		uint32_t e = chase_at(p, r->elements, chase_index(r->record[i]));
		if (ring->extra && (at ? at[e] == ring->extra : e == r->elements - 1))
			++*extra;
		else
			count[(at ? at[e] - ring->start : e * ring->stride) / unit]++;
	}
	return 0;
}

/* Misses of the same blocks again and again, more often than misses that fall anywhere would. */
static bool concentrated(struct chase_path *c, const struct chase_level *l, const struct chase_ring_spec *ring,
			 const struct chase_run *run, unsigned runs)
{
	uint64_t unit = chase_fit_unit(l, ring->stride);
	uint32_t blocks = (uint32_t)((ring->bytes + unit - 1) / unit), most = 0, extra = 0;
	uint32_t *count = ARENA_ARRAY(study_arena(c->study), blocks, uint32_t);
	double laps = 0, mean = 0;

	for (unsigned i = 0; i < runs; i++) {
		laps += (double)run[i].covered / run[i].elements;
		mean += (double)run[i].kept / blocks;
	}
	if (!count || blocks < 4 || laps < 2)
		return false;
	for (unsigned i = 0; i < runs; i++)
		if (chase_count_blocks(c, ring, &run[i], unit, count, &extra))
			return false;
	const double p = mean / laps;
	for (uint32_t i = 0; i < blocks; i++)
		most = count[i] > most ? count[i] : most;
	if (p < 0.95 && most > stat_binomial_limit((unsigned)ceil(laps), p, JUDGE_CHANCE / blocks))
		return true;
	/* Many a little above the mean, as where the victim is random. */
	double sum = 0;
	for (uint32_t i = 0; i < blocks; i++)
		sum += (count[i] - mean) * (count[i] - mean);
	return sum > (blocks - 1) * mean * (1 + 6 * sqrt(2.0 / blocks)) + 8;
}

/* Whether most of what can miss does, lap after lap. No set repeats itself there that others do not: it says nothing of what fits. */
static bool mostly_misses(const struct chase_level *l, const struct chase_ring_spec *ring, const struct chase_run *r)
{
	const uint64_t unit = chase_fit_unit(l, ring->stride);
	const double blocks = ceil((double)ring->bytes / (double)unit);

	return r->covered && r->kept > MOST * blocks * r->covered / r->elements;
}

/* Laps of the first look at a ring of n elements. */
static double first_laps(double n)
{
	/* Large rings: one lap that overflows misses at least once. */
	const double laps = ceil(ACCESSES / n), least = n > 16384 ? 2 : n > 4096 ? 3 : LAPS_FIRST;

	return laps < least ? least : laps;
}

enum chase_state chase_fits(struct chase_path *c, unsigned k, const struct chase_ring_spec *ring, bool *fits,
			    double *misses)
{
	struct chase_level *l = &c->level[k];
	double n = chase_spec_elements(ring), laps = first_laps(n), p[POINT_PARAMS];
	/* A level above may hide some misses of lower levels, where it hits by chance, and so does what enters a page. */
	bool hides = k || page_by_page(c, ring);
	double sure = hides ? 0.25 : 1;

	if (chase_untranslated(c, ring))
		return CHASE_UNDECIDED;
	double warm = l->patience ? l->patience : 2;
	if (l->patience && warm * n > PATIENT_MOST) {
		/* Too long: whole sets have to confirm what is found without. */
		warm = 2;
		l->clarity = l->clarity ? l->clarity : NOISY;
	}
	for (unsigned round = 0; round < ROUNDS; round++, laps *= 4) {
		if (n * laps >= (round ? FIT_MOST : INDEX_MOST) || laps > LAPS_MOST)
			break;
		struct chase_run r;
		chase_fit_params(c, k, ring, warm * n, n * laps, p);
		enum chase_state state = chase_get(c, &r, (double)ring->bytes, p);
		if (state != CHASE_DONE)
			return state;
		double seen = r.covered / n;
		if (misses)
			*misses = r.covered ? r.kept / seen : n;
		unsigned clean = laps_clean(&r);
		if (clean && r.kept && !l->patience)
			l->clarity = l->clarity ? l->clarity : NOISY;
		/* Nothing hides misses of the first level, so one lap without is proof. */
		if ((!hides && clean) || (r.slow <= r.kept && r.slow < sure * laps)) {
			*fits = true;
			learn_noise(l, ring, &r);
			return CHASE_DONE;
		}
		uint32_t calm;
		if (hides && laps_calm_down(&r, sure, &calm)) {
			if (calm >= LAPS_FIRST) {
				*fits = true;
				learn_noise(l, ring, &r);
				return CHASE_DONE;
			}
			/* A few laps may have been hidden. */
			if (4 * n * laps < FIT_MOST && 4 * laps <= LAPS_MOST && round + 1 < ROUNDS)
				continue;
		}
		/* Few misses a lap: longer looks find a lap without, where it is noise. */
		if (!k && c->beyond_sm && seen < LAPS_SURE && r.kept < FEW_MISSES * seen && 4 * n * laps < FIT_MOST)
			continue;
		if (r.covered &&
		    r.kept > stat_binomial_limit(r.covered, chase_noise_most(c, k, ring->bytes), JUDGE_CHANCE)) {
			*fits = false;
			return CHASE_DONE;
		}
		if (concentrated(c, l, ring, &r, 1)) {
			*fits = false;
			return CHASE_DONE;
		}
		l->clarity = l->clarity ? l->clarity : NOISY;
		if (mostly_misses(l, ring, &r))
			break;
		/* An overflowing set would have repeated itself by now. */
		if (seen >= LAPS_TOLD && n > LAPS_TOLD) {
			*fits = true;
			learn_noise(l, ring, &r);
			return CHASE_DONE;
		}
	}
	return CHASE_WHY(c->why,
			 "noise makes as many slow accesses as a conflict would, over %llu bytes in steps of %llu",
			 (unsigned long long)ring->bytes, (unsigned long long)ring->stride);
}

enum chase_state chase_misses_in(struct chase_path *c, unsigned k, const struct chase_ring_spec *ring,
				 const struct chase_blocks *of, bool *are)
{
	const double n = chase_spec_elements(ring);
	uint32_t *count = ARENA_ARRAY(study_arena(c->study), of->count, uint32_t), extra = 0;
	double p[POINT_PARAMS], missed = 0, all = 0, places = 0;
	struct chase_run r;

	*are = false;
	chase_fit_params(c, k, ring, 2 * n, first_laps(n) * n, p);
	const enum chase_state state = chase_get(c, &r, (double)ring->bytes, p);
	if (state != CHASE_DONE)
		return state;
	if (!count || chase_count_blocks(c, ring, &r, of->unit, count, &extra))
		return CHASE_WHY(c->why, "out of memory");
	for (uint32_t i = 0; i < of->count; i++) {
		const bool touched = i * of->unit % ring->stride < of->unit;
		places += touched && of->hot[i];
		missed += of->hot[i] ? count[i] : 0;
		all += count[i];
	}
	*are = missed > stat_binomial_limit((unsigned)all, places / (n - (ring->extra > 0)), JUDGE_CHANCE);
	return CHASE_DONE;
}

/* As many orders are tried: in one of them a rule of replacement may never give up the line that is looked for. */
enum chase_state chase_extra_misses(struct chase_path *c, unsigned k, const struct chase_ring_spec *ring, bool *does)
{
	const double n = chase_spec_elements(ring), laps = fmax(ceil(ACCESSES / n), LAPS_FIRST);
	const uint64_t unit = chase_fit_unit(&c->level[k], ring->stride);
	const uint32_t blocks = (uint32_t)((ring->bytes + unit - 1) / unit);
	uint32_t *count = ARENA_ARRAY(study_arena(c->study), blocks, uint32_t), missed = 0;
	struct chase_ring_spec again = *ring;
	double seen = 0, p[POINT_PARAMS];

	*does = false;
	snprintf(c->why, sizeof(c->why), "out of memory");
	for (unsigned i = 0; i < OWN_ORDERS && !*does; i++) {
		struct chase_run r;
		again.order = ring->order + i;
		chase_fit_params(c, k, &again, 2 * n, n * laps, p);
		const enum chase_state state = chase_get(c, &r, (double)ring->bytes, p);
		if (state != CHASE_DONE)
			return state;
		if (!count || chase_count_blocks(c, &again, &r, unit, count, &missed))
			return CHASE_UNDECIDED;
		seen += r.covered / n;
		*does = missed >
			stat_binomial_limit((unsigned)ceil(seen), chase_noise_most(c, k, ring->bytes), JUDGE_CHANCE);
	}
	return CHASE_DONE;
}
