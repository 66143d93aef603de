/* Which classes of latency are parts of one level. */
#include "base/arena.h"
#include "probe/chase_walk.h"
#include "stat/stat.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define RESTLESS       0.6 /* noise draws anew at each access, 1; neighbouring peaks of real lines overlap, 0.3 on an H200 */
#define RESTLESS_LEAST 16   /* changes that are expected, from which their number says something */
#define FASTER_MOST    0.1  /* of the accesses are still answered by what is before a level that is looked at alone */
#define BOTH_LEAST     0.25 /* of the accesses, of two classes that are looked at */
#define FEW_BYTES      4096 /* smaller footprints may lie in one part of a level by chance */
/* The first footprints that a level does not hold: so many, from so large a part of accesses on that it does not
 * answer. So large a part of these is slower than the next level's. */
#define FIRST	     3
#define FIRST_SHARE  0.1
#define FIRST_BEYOND 0.2

void chase_survey_params(const struct chase_path *c, double *p, double stride, double warm, double timed)
{
	memset(p, 0, POINT_PARAMS * sizeof(*p));
	p[CHASE_STRIDE] = stride;
	p[CHASE_WARM] = warm;
	p[CHASE_TIMED] = timed;
	p[CHASE_PLACE] = 8 * c->sm + c->kind;
}

double chase_floor(double below, double above)
{
	double gap = above - below, margin = 3 + 0.02 * above;

	if (margin > gap / 2)
		margin = gap / 2;
	return ceil(above - margin);
}

/* Visits of elements that were in one of the two classes at their last visit, and are again; how many changed. */
static bool count_changes(struct chase_path *c, const struct chase_run *r, unsigned a, unsigned b, double *changes,
			  double *visits)
{
	uint8_t *last = ARENA_ARRAY(study_arena(c->study), r->elements, uint8_t);

	if (!last)
		return false;
	for (uint32_t k = 0; k < r->kept; k++) {
		uint32_t e = chase_at(r->point->p, r->elements, chase_index(r->record[k]));
		double t = chase_ticks(r->record[k]);
		double to_a = fabs(t - c->classes[a].centre), to_b = fabs(t - c->classes[b].centre);
		if (fmin(to_a, to_b) > chase_reach(t, c->grain))
			continue;
		uint8_t now = to_a < to_b ? 1 : 2;
		if (last[e]) {
			*changes += last[e] != now;
			++*visits;
		}
		last[e] = now;
	}
	return true;
}

/* Whether two neighbours among these classes are nearly all there is in a footprint. */
static bool mostly_two(const struct chase_sample *s, unsigned first, unsigned last)
{
	for (unsigned k = first; k < last; k++)
		if (s->share[k] + s->share[k + 1] >= 0.5)
			return true;
	return false;
}

/* A footprint of which a level answers nearly all. Mostly two of the level's classes answer it; else its two classes
 * and many accesses of no class. first: the first class of the level. NULL: there is none that is no larger than half
 * of what can be. */
static const struct chase_sample *all_beyond(const struct chase_path *c, unsigned first, unsigned a, unsigned b)
{
	const struct chase_sample *rough = NULL;
	for (unsigned i = 0; i < c->survey_count; i++) {
		const struct chase_sample *s = &c->survey[i];
		double faster = 0;
		if (2 * s->footprint > (double)c->limit)
			continue;
		if (mostly_two(s, first, b))
			return s;
		for (unsigned k = 0; k < first; k++)
			faster += s->share[k];
		if (!rough && faster <= FASTER_MOST && s->share[a] + s->share[b] >= BOTH_LEAST)
			rough = s;
	}
	return rough;
}

/* A ring of few elements over such a footprint: each is seen more than once. */
static enum chase_state seen_again(struct chase_path *c, unsigned first, unsigned a, unsigned b, double *changes,
				   double *expected)
{
	const struct chase_sample *s = all_beyond(c, first, a, b);
	if (!s)
		return CHASE_DONE;
	double both = s->share[a] + s->share[b], part = s->share[b] / both, p[POINT_PARAMS], visits = 0;
	double stride = (double)c->stride, n = floor(2 * s->footprint / stride);
	while (n > 0.7 * c->room) {
		n = floor(n / 2);
		stride *= 2;
	}
	struct chase_run r;
	chase_survey_params(c, p, stride, 2 * n, c->room);
	enum chase_state state = chase_get(c, &r, n * stride, p);
	if (state == CHASE_DONE && count_changes(c, &r, a, b, changes, &visits))
		*expected = visits * 2 * part * (1 - part);
	return state;
}

/* How often an element that was in one of the two classes is in the other one at its next visit. *ratio is relative to
 * accesses that draw their class anew each time; 0 = every line keeps its class. */
static enum chase_state restless(struct chase_path *c, const struct chase_pool *pool, unsigned first, unsigned a,
				 unsigned b, double *ratio)
{
	double changes = 0, expected = 0;

	*ratio = 1;
	for (unsigned i = 0; i < pool->runs; i++) {
		const struct chase_run *r = &pool->run[i];
		const struct chase_sample *s = &c->survey[i];
		double both = s->share[a] + s->share[b], visits = 0;
		if (both < BOTH_LEAST || s->share[b] < 0.02 || r->timed < 3 * r->elements)
			continue;
		if (!count_changes(c, r, a, b, &changes, &visits))
			return CHASE_DONE;
		double part = s->share[b] / both;
		expected += visits * 2 * part * (1 - part);
	}
	if (expected <= RESTLESS_LEAST) {
		enum chase_state state;
		changes = expected = 0;
		state = seen_again(c, first, a, b, &changes, &expected);
		if (state != CHASE_DONE)
			return state;
	}
	if (expected > RESTLESS_LEAST)
		*ratio = changes / expected;
	return CHASE_DONE;
}

/* What the places of one class have in common in the walks, in bytes; 0 = too few of them. */
static uint64_t walked_unit(struct chase_path *c, const struct chase_run *walks, unsigned k)
{
	uint64_t at[UNIT_SAMPLES];
	size_t n = 0;

	for (unsigned w = 0; w < 2; w++)
		for (uint32_t i = 0; i < walks[w].kept && n < UNIT_SAMPLES; i++) {
			double ticks = chase_ticks(walks[w].record[i]);
			if (fabs(ticks - c->classes[k].centre) <= chase_reach(ticks, c->grain))
				at[n++] = (uint64_t)chase_at(walks[w].point->p, walks[w].elements,
							     chase_index(walks[w].record[i])) *
					  c->word;
		}
	return n < 16 ? 0 : stat_gcd_robust(at, n, 0.85, UNIT_MOST);
}

/* Classes a and b are one level when b never grows at the cost of a. Their proportion is then the same at every
 * footprint. Every line keeps its class, unlike misses that noise makes: so a far part of a cache is told from those.
 * first: of a's level. */
static enum chase_state siblings(struct chase_path *c, const struct chase_pool *pool, const struct chase_run *walks,
				 unsigned first, unsigned a, unsigned b, bool *are)
{
	/* What is fetched in larger blocks comes from further away. Accesses slower than every class count with both, unless these
	 * have places of their own. */
	uint64_t unit_a = chase_walk_of(c, walks, 2, a).unit, unit_b = chase_walk_of(c, walks, 2, b).unit;
	uint64_t blocks_b = chase_walk_of(c, walks, 1, b).blocks;
	uint64_t own_a = walked_unit(c, walks, a), own_b = walked_unit(c, walks, b);
	if (own_a && b + 1 == c->class_count && (!own_b || unit_b > own_b)) {
		/* Of which the walks hardly have any: then all that is seen of the slowest is those that are slower still. They are delayed ones
		 * of it where the survey has it at the same places. */
		unit_a = own_a;
		if (own_b || chase_own_unit(c, pool, b) != unit_b)
			unit_b = own_b ? own_b : own_a;
	}
	unit_b = blocks_b > unit_b ? blocks_b : unit_b;
	*are = false;
	if (unit_b > c->word && unit_b > unit_a)
		return CHASE_DONE;

	double lo = 1, hi = 0;
	unsigned seen = 0;

	for (unsigned i = 0; i < c->survey_count; i++) {
		const struct chase_sample *s = &c->survey[i];
		double both = s->share[a] + s->share[b];
		if (s->footprint >= FEW_BYTES && s->share[a] >= 0.5 && s->share[b] < 0.02)
			return CHASE_DONE;
		if (both < BOTH_LEAST || s->footprint < 64.0 * (double)c->stride)
			continue;
		double part = s->share[b] / both;
		lo = part < lo ? part : lo;
		hi = part > hi ? part : hi;
		seen++;
	}
	if (seen < 3 || !(lo > 0) || hi >= 0.9 || hi >= 4 * lo)
		return CHASE_DONE;
	double ratio;
	enum chase_state state = restless(c, pool, first, a, b, &ratio);
	*are = state == CHASE_DONE && ratio < RESTLESS;
	return state;
}

enum chase_state chase_group(struct chase_path *c, const struct chase_pool *pool, const struct chase_run *walks)
{
	c->level_count = 0;
	for (unsigned k = 0; k < c->class_count; k++) {
		bool are = false;
		enum chase_state state =
		    k ? siblings(c, pool, walks, c->level[c->level_count - 1].class_first, k - 1, k, &are) : CHASE_DONE;
		if (state != CHASE_DONE)
			return state;
		if (are) {
			c->level[c->level_count - 1].class_last = k;
			continue;
		}
		if (c->level_count == CHASE_LEVELS)
			break;
		c->level[c->level_count] = (struct chase_level){.class_first = k, .class_last = k};
		if (c->level_count) {
			struct chase_level *up = &c->level[c->level_count - 1];
			double hit = c->classes[up->class_last].centre, miss = c->classes[k].centre;
			if (c->level_count > 1 || c->beyond_sm)
				hit *= 1 + c->swing;
			if (c->swing > 0 && hit + chase_reach(hit, c->grain) >= miss) {
				up->clarity = BLURRED;
				hit = c->classes[up->class_last].centre;
			}
			up->floor = chase_floor(hit, miss);
			/* Parts of a level that lie too near to be two classes are both beyond. */
			if (c->classes[k].first < up->floor && c->classes[k].first > hit)
				up->floor = chase_floor(hit, c->classes[k].first);
		}
		c->level_count++;
	}
	return CHASE_DONE;
}

/* Whether what is beyond level k answers a good part of what level k - 1 does not hold, as soon as that overflows. If
 * level k held more than the one before, it would at first answer all of it. */
static bool from_the_first(const struct chase_path *c, unsigned k)
{
	unsigned seen = 0;
	for (unsigned i = 0; i < c->survey_count && seen < FIRST; i++) {
		double mine = 0, beyond = 0;
		for (unsigned q = c->level[k].class_first; q < c->class_count; q++)
			*(q <= c->level[k].class_last ? &mine : &beyond) += c->survey[i].share[q];
		if (mine + beyond < FIRST_SHARE)
			continue;
		if (beyond < FIRST_BEYOND * (mine + beyond))
			return false;
		seen++;
	}
	return seen == FIRST;
}

/* Whether level k answers less than the one before it at every footprint. A level that holds what that one does not
 * would answer more as soon as that one overflows. Accesses that noise delays would not. */
static bool never_more(const struct chase_path *c, unsigned k)
{
	for (unsigned i = 0; i < c->survey_count; i++) {
		double mine = 0, before = 0;
		for (unsigned q = c->level[k - 1].class_first; q <= c->level[k].class_last; q++)
			*(q < c->level[k].class_first ? &before : &mine) += c->survey[i].share[q];
		if (mine > before)
			return false;
	}
	return c->survey_count > 0;
}

void chase_merge(struct chase_path *c)
{
	for (unsigned k = 1; k + 1 < c->level_count;) {
		struct chase_level *up = &c->level[k - 1], *l = &c->level[k];
		if (l->size.state != CHASE_DONE && !l->endless && from_the_first(c, k) &&
		    !(c->doubtful && c->doubtful <= k)) {
			c->doubtful = k;
			snprintf(c->doubt, sizeof(c->doubt),
				 "some accesses take %.0f ticks and others longer from the first footprint on that "
				 "does not fit before. Near and far parts of one level would look like that",
				 c->classes[l->class_first].centre);
		}
		/* Then what it seems to hold may be what the one before it does, of which the size was not found. */
		if (up->size.state == CHASE_UNDECIDED && l->size.state == CHASE_DONE && never_more(c, k) &&
		    !(c->doubtful && c->doubtful <= k)) {
			c->doubtful = k;
			snprintf(c->doubt, sizeof(c->doubt),
				 "accesses of %.0f ticks are at every footprint fewer than those of the level before, "
				 "whose size is not known. Noise that delays some of them would look like that",
				 c->classes[l->class_first].centre);
		}
		if (up->size.state != CHASE_DONE || l->size.state != CHASE_DONE || l->endless ||
		    (double)l->size.value > 1.03 * (double)up->size.value) {
			k++;
			continue;
		}
		/* Noise can hide how much a level holds: nobody knows. */
		c->doubtful = c->doubtful && c->doubtful < k ? c->doubtful : k;
		k++;
	}
}

unsigned chase_sure(const struct chase_path *c, unsigned levels)
{
	const unsigned most = c->doubtful && c->doubtful < levels ? c->doubtful : levels;
	unsigned n = 0;

	while (n < most && c->level[n].size.state == CHASE_DONE)
		n++;
	return n;
}
