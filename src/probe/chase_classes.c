/* Which latencies occur on a path, and which of them are levels. */
#include "base/arena.h"
#include "probe/chase_walk.h"
#include "stat/stat.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SURVEY_FIRST 1	  /* elements of the smallest footprint */
#define SURVEY_RATIO 1.19 /* fourth root of 2 */
#define SURVEY_DENSE 8192 /* elements from which steps are twice as wide */
#define SURVEY_AHEAD 12	  /* footprints that may turn out to be needless */
#define STRIDE_BLIND 256  /* steps where no fetch unit was seen */
#define KEEPS	     0.9  /* of a warm walk */
#define ALL_LEAST    0.25 /* of the accesses of a footprint */
#define ENDS	     3	  /* footprints, the smallest and the largest, ... */
#define TAKEN_FEW    0.4  /* ... and what a class that takes over is of it and the one before it in those */
#define TAKEN_MOST   0.75
#define TAKEN_NONE                                                                                                     \
	0.05 /* the same where it is next to nothing in the smallest: delays would never be half in the largest */
#define TAKEN_HALF 0.5
#define TAKEN_ALL  0.9 /* ... and of one that is alone in the largest, and next to nothing in the smallest */
#define GROWN	   3
#define WINDOWS	   64
#define VALLEY	   0.1 /* of the lower one of two peaks, that lies between them */
#define PART_LEAST 0.5 /* of a peak, a nearer one that is another part of the same level */

/* Ticks are at most CHASE_CAP, so counting them is quicker than comparing: studies sort the same runs pass after pass. */
static void sort_ticks(uint32_t *v, uint32_t n)
{
	uint32_t count[CHASE_CAP + 1] = {0}, at = 0;

	for (uint32_t i = 0; i < n; i++)
		count[v[i] < CHASE_CAP ? v[i] : CHASE_CAP]++;
	for (uint32_t t = 0; t <= CHASE_CAP; t++)
		for (uint32_t k = 0; k < count[t]; k++)
			v[at++] = t;
}

/* A window over sorted values that holds the most of all that overlap with it. */
struct window {
	uint32_t lo, hi; /* the values in it */
	double centre;
};

/* Whether two windows hold latencies of their own, though they are less than two reaches apart: hardly any value lies between. */
static bool are_apart(const struct window *a, const struct window *b, double grain)
{
	const uint32_t lower = a->hi - a->lo < b->hi - b->lo ? a->hi - a->lo : b->hi - b->lo;

	return b->centre - a->centre > chase_reach(b->centre, grain) + grain && b->lo >= a->hi &&
	       b->lo - a->hi <= VALLEY * lower;
}

/* Slides a window over n sorted values: where it holds at least so many of them. Returns the first of the next ones in *i. */
static bool next_window(const uint32_t *v, uint32_t n, uint32_t grain, double least, uint32_t *i, struct window *w)
{
	for (; *i < n; ++*i) {
		if (*i && v[*i] == v[*i - 1])
			continue;
		while (v[w->lo] + grain < v[*i])
			w->lo++;
		while (w->hi < n && v[w->hi] <= v[*i] + grain)
			w->hi++;
		if (w->hi - w->lo < least)
			continue;
		w->centre = v[w->lo + (w->hi - w->lo) / 2];
		++*i;
		return true;
	}
	return false;
}

/* Whether peaks are apart though they are less than two reaches from each other: then they are the highest of what overlaps with them. */
static unsigned peaks_apart(const uint32_t *v, uint32_t n, uint32_t grain, double least, struct window *out)
{
	struct window w = {0};
	unsigned count = 0, apart = 0;

	for (uint32_t i = 0; next_window(v, n, grain, least, &i, &w);) {
		if (!count || w.lo >= out[count - 1].hi) {
			if (count == WINDOWS)
				return 0;
			out[count++] = w;
		} else if (w.hi - w.lo > out[count - 1].hi - out[count - 1].lo) {
			out[count - 1] = w;
		}
	}
	for (unsigned k = 1; k < count; k++)
		apart += out[k].centre - out[k - 1].centre <= 2 * chase_reach(out[k].centre, grain) &&
			 are_apart(&out[k - 1], &out[k], grain);
	return apart ? count : 0;
}

/* Adds a window to the peaks, the last of which is that of `last`. False: there are too many. */
static bool add_peak(const struct window *w, uint32_t n, uint32_t grain, bool split, struct window *last,
		     struct chase_peak *out, unsigned *found, unsigned max)
{
	const double share = (double)(w->hi - w->lo) / n;
	const unsigned at = *found;

	if (!at || w->centre - out[at - 1].centre > 2 * chase_reach(w->centre, grain) ||
	    (split && are_apart(last, w, grain))) {
		if (at == max)
			return false;
		out[(*found)++] = (struct chase_peak){w->centre, share, w->centre};
		*last = *w;
	} else if (w->hi - w->lo > last->hi - last->lo) {
		const struct chase_peak *p = &out[at - 1];
		const bool is_part = p->first + 2 * grain < w->centre && p->share >= PART_LEAST * share;
		out[at - 1] = (struct chase_peak){w->centre, share, is_part ? p->first : w->centre};
		*last = *w;
	}
	return true;
}

unsigned chase_peaks(uint32_t *v, uint32_t n, uint32_t grain, double min_share, struct chase_peak *out, unsigned max)
{
	struct window apart[WINDOWS], w = {0}, last = {0};
	unsigned found = 0;

	sort_ticks(v, n);
	/* A peak is a window that holds the most within reach on both sides. */
	const unsigned count = peaks_apart(v, n, grain, min_share * n, apart);
	for (unsigned k = 0; k < count; k++)
		if (!add_peak(&apart[k], n, grain, true, &last, out, &found, max))
			break;
	for (uint32_t i = 0; !count && next_window(v, n, grain, min_share * n, &i, &w);)
		if (!add_peak(&w, n, grain, false, &last, out, &found, max))
			break;
	return found;
}

static bool pool_add(struct chase_path *c, struct chase_pool *pool, const struct chase_run *r, double min_share)
{
	uint32_t *v = ARENA_ARRAY(study_arena(c->study), r->kept + 1, uint32_t);
	if (!v)
		return false;
	for (uint32_t i = 0; i < r->kept; i++)
		v[i] = chase_ticks(r->record[i]);
	pool->peaks += chase_peaks(v, r->kept, c->grain, min_share, pool->peak + pool->peaks, CHASE_CLASSES);
	pool->run[pool->runs++] = *r;
	return true;
}

double chase_share_near(const struct chase_run *r, double centre, double grain)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < r->kept; i++)
		n += fabs(chase_ticks(r->record[i]) - centre) <= chase_reach(centre, grain);
	return r->kept ? (double)n / r->kept : 0;
}

/* The share of class k as chase_share_near has it, plus what a clock that is faster now and then makes of it. That
 * extension ends before the next class. */
static double share_of(const struct chase_path *c, const struct chase_run *r, unsigned k)
{
	const double centre = c->classes[k].centre, lo = centre - chase_reach(centre, c->grain);
	double hi = centre * (1 + c->swing) + chase_reach(centre, c->grain);
	uint32_t n = 0;

	if (k + 1 < c->class_count) {
		const double next = c->classes[k + 1].centre;
		hi = fmin(hi, fmax(next - chase_reach(next, c->grain), (centre + next) / 2));
	}
	for (uint32_t i = 0; i < r->kept; i++)
		n += chase_ticks(r->record[i]) >= lo && chase_ticks(r->record[i]) <= hi;
	return r->kept ? (double)n / r->kept : 0;
}

/* Merges peaks of all runs that lie within reach of each other. */
static void classes_from(struct chase_path *c, struct chase_pool *pool)
{
	c->class_count = 0;
	qsort(pool->peak, pool->peaks, sizeof(*pool->peak), stat_compare_double);
	for (unsigned i = 0; i < pool->peaks;) {
		unsigned k = i, best = i;
		double mass = 0, weight = 0, first = INFINITY;
		for (; k < pool->peaks && pool->peak[k].centre - pool->peak[best].centre <=
					      2 * chase_reach(pool->peak[k].centre, c->grain);
		     k++) {
			if (pool->peak[k].share > pool->peak[best].share)
				best = k;
			mass += pool->peak[k].centre * pool->peak[k].share;
			weight += pool->peak[k].share;
			first = fmin(first, pool->peak[k].first);
		}
		if (c->class_count < CHASE_CLASSES)
			c->classes[c->class_count++] = (struct chase_class){
			    .centre = mass / weight, .first = first, .share = pool->peak[best].share};
		i = k;
	}
}

/* Accesses of a run that level k should have served, and those that look slower: false when it serves few of them. */
static bool served(const struct chase_path *c, const struct chase_pool *pool, unsigned i, unsigned k, double *beyond)
{
	const struct chase_level *l = &c->level[k];
	const struct chase_run *r = &pool->run[i];
	double mine = 0;

	*beyond = 0;
	for (uint32_t q = 0; q < r->kept; q++)
		*beyond += chase_ticks(r->record[q]) >= l->floor;
	for (unsigned q = l->class_first; q <= l->class_last; q++)
		mine += c->survey[i].share[q];
	return mine >= 0.4 && *beyond <= 0.4 * r->kept && r->timed >= 2 * r->elements;
}

/* How often an access that should hit looks slower. Only the smaller half of the footprints that the level serves
 * counts: near overflow, a few misses are real. */
static void estimate_noise(struct chase_path *c, const struct chase_pool *pool)
{
	for (unsigned k = 0; k + 1 < c->level_count; k++) {
		struct chase_level *l = &c->level[k];
		double slow = 0, total = 0, beyond, largest = 0, smallest = 0, weighted = 0;
		for (unsigned i = 0; i < pool->runs; i++) {
			if (!served(c, pool, i, k, &beyond))
				continue;
			if (!(smallest > 0))
				smallest = c->survey[i].footprint;
			if (beyond <= 0.05 * pool->run[i].kept)
				largest = c->survey[i].footprint;
		}
		double most = fmax(sqrt(smallest * largest), smallest * 1.01);
		for (unsigned i = 0; i < pool->runs; i++) {
			if (c->survey[i].footprint > most || !served(c, pool, i, k, &beyond))
				continue;
			slow += beyond;
			total += pool->run[i].kept;
			weighted += pool->run[i].kept * c->survey[i].footprint;
		}
		l->noise = total > 0 ? slow / total : 0;
		l->noise_seen = total;
		l->noise_at = weighted / fmax(total, 1);
	}
}

static void remove_class(struct chase_path *c, unsigned k)
{
	memmove(&c->classes[k], &c->classes[k + 1], (c->class_count - k - 1) * sizeof(c->classes[0]));
	c->class_count--;
	for (unsigned i = 0; i < c->survey_count; i++)
		memmove(&c->survey[i].share[k], &c->survey[i].share[k + 1],
			(CHASE_CLASSES - k - 1) * sizeof(c->survey[i].share[0]));
}

/* The part of a footprint's accesses that is of classes first .. end - 1. */
static double share_of_classes(const struct chase_sample *s, unsigned first, unsigned end)
{
	double share = 0;
	for (unsigned k = first; k < end; k++)
		share += s->share[k];
	return share;
}

double chase_parts_least(const struct chase_path *c, unsigned from, unsigned end)
{
	double most = 0;
	for (unsigned i = 0; i < c->survey_count; i++)
		most = fmax(most, share_of_classes(&c->survey[i], from, end));
	return fmin(ALL_LEAST, most / 2);
}

unsigned chase_parts_slower(const struct chase_path *c, unsigned from, unsigned slow, unsigned end, double least,
			    double *part)
{
	unsigned n = 0;
	for (unsigned i = 0; i < c->survey_count; i++) {
		const double slower = share_of_classes(&c->survey[i], slow, end),
			     all = share_of_classes(&c->survey[i], from, slow) + slower;
		if (all > 0 && all >= least)
			part[n++] = slower / all;
	}
	return n;
}

bool chase_parts_ends(const double *part, unsigned n, double *first, double *last)
{
	*first = *last = 0;
	for (unsigned i = 0; i < ENDS && n >= 2 * ENDS; i++) {
		*first += part[i] / ENDS;
		*last += part[n - 1 - i] / ENDS;
	}
	return n >= 2 * ENDS;
}

/* Whether class k is rare while the class before it is not, and the other way round in the largest footprints. A level
 * of large lines that overflows shows so: what it no longer holds comes from the next. Delays of the one's accesses
 * would be as large a part of them anywhere. */
static bool takes_over(const struct chase_path *c, unsigned k)
{
	double part[CHASE_SURVEY], first, last;
	const unsigned n = chase_parts_slower(c, k - 1, k, k + 1, SHARE_REAL / 2, part);

	return chase_parts_ends(part, n, &first, &last) &&
	       ((last >= TAKEN_MOST && first < TAKEN_FEW) || (last >= TAKEN_HALF && first < TAKEN_NONE));
}

/* A class that is real takes part in a walk with every block, or grows to dominate. What is left is noise that prefers
 * some latency, such as a stall that keeps step with the chase. */
static bool is_real(struct chase_path *c, const struct chase_pool *pool, const struct chase_run *run, unsigned k)
{
	const double beyond = share_of_classes(&c->survey[c->survey_count - 1], k, c->class_count),
		     least = chase_parts_least(c, k - 1, c->class_count);
	double own = 0, part[CHASE_SURVEY], first, last;
	for (unsigned i = 0; i < c->survey_count; i++)
		own = fmax(own, c->survey[i].share[k]);
	/* The cold walk alone, too: what somebody else evicts from a large line is missed again at any of its parts. */
	struct chase_walked both = chase_walk_of(c, run, 2, k), cold = chase_walk_of(c, run, 1, k);
	bool blocks = both.coverage >= 0.5 || cold.own_coverage >= 0.5 || cold.blocks;
	/* A step that is all that a miss fetches may miss of what a level does not hold, and never of what it holds. What noise delays is the same part
	 * of either. */
	const unsigned n = chase_parts_slower(c, k - 1, k, c->class_count, least, part);
	bool grows = chase_parts_ends(part, n, &first, &last) && last >= GROWN * first;
	bool every_step = both.unit <= c->stride && cold.blocks <= c->stride;
	bool all_blocks = beyond >= 0.3 || (blocks && (!every_step || grows));
	if (!all_blocks)
		return false;
	/* When a miss fetches sixteen steps, one access in sixteen is a miss; a peak in jitter is rarer. Or else it
	 * falls on places where what is faster would not go of its own. */
	if (own >= SHARE_REAL)
		return true;
	return own >= SHARE_REAL / 3 && (chase_own_unit(c, pool, k) || takes_over(c, k));
}

/* A class that only a fast clock makes: as much slower than another one as that explains. It never holds most accesses
 * while both occur. What is really slower takes over in the end, or has places of its own: a next level that is little
 * slower. */
static bool is_ghost(struct chase_path *c, const struct chase_pool *pool, unsigned of, unsigned k)
{
	const double near = c->classes[of].centre, far = c->classes[k].centre;
	double part[CHASE_SURVEY], scratch[CHASE_SURVEY];

	if (far > near * (1 + c->swing) + 2 * chase_reach(far, c->grain))
		return false;
	const size_t n = chase_parts_slower(c, of, k, k + 1, chase_parts_least(c, of, k + 1), part);
	if (!n)
		return false;
	/* A fast clock would have to last through the largest of them, however few those are, and miss the smallest. */
	double first, end;
	if (chase_parts_ends(part, (unsigned)n, &first, &end) && first < TAKEN_NONE && end >= TAKEN_ALL)
		return false;
	/* The larger footprints. */
	size_t last = n < 6 ? n : n / 2 < 6 ? 6 : n / 2;
	return stat_median(part + (n - last), last, scratch) < 0.5 && !chase_owns_places(c, pool, k);
}

/* What a fast clock makes of a dropped class is dropped with it. The dropped class may be a far part of the same level
 * as well as a ghost. */
static void drop_ghosts(struct chase_path *c, const struct chase_pool *pool)
{
	for (unsigned k = 1; k < c->class_count && c->swing > 0;) {
		bool ghost = is_ghost(c, pool, k - 1, k);
		if (!ghost)
			k++;
		while (ghost) {
			ghost = k + 1 < c->class_count && is_ghost(c, pool, k, k + 1);
			for (unsigned i = 0; i < c->survey_count; i++)
				c->survey[i].share[k - 1] += c->survey[i].share[k];
			remove_class(c, k);
		}
	}
}

static void drop_spurious(struct chase_path *c, const struct chase_pool *pool, const struct chase_run *run)
{
	for (unsigned k = 1; k < c->class_count;)
		if (is_real(c, pool, run, k))
			k++;
		else
			remove_class(c, k);
}

/* Steps of the clock: what nearly all times are multiples of. */
static uint32_t grain_of(const struct chase_run *run, unsigned runs)
{
	for (uint32_t grain = 32; grain > 1; grain /= 2) {
		uint32_t whole = 0, all = 0;
		for (unsigned i = 0; i < runs; i++) {
			for (uint32_t k = 0; k < run[i].kept; k++, all++)
				whole += chase_ticks(run[i].record[k]) % grain == 0;
		}
		/* Times cut off at the largest that a record holds are no multiples. */
		if (whole >= 0.98 * all)
			return grain;
	}
	return 1;
}

enum chase_state chase_walk(struct chase_path *c, struct chase_run *run)
{
	struct chase_pool *pool = ARENA_NEW(study_arena(c->study), struct chase_pool);
	double p[POINT_PARAMS], small = c->limit < CHASE_WALKED ? (double)c->limit : CHASE_WALKED;
	enum chase_state all = CHASE_DONE;

	c->survey_count = c->class_count = c->level_count = c->doubtful = 0;
	c->doubt[0] = '\0';
	c->swing = study_swing(c->study);
	if (!pool)
		return CHASE_WHY(c->why, "out of memory");
	for (unsigned warm = 0; warm < 2; warm++) {
		/* At most one lap: a second one would not be cold. */
		double n = floor(small / c->word);
		chase_survey_params(c, p, c->word, warm ? n : 0, n < c->room ? n : c->room);
		enum chase_state state = chase_get(c, &run[warm], small, p);
		if (state == CHASE_UNDECIDED)
			return state;
		if (state == CHASE_PENDING)
			all = state;
	}
	if (all != CHASE_DONE)
		return all;
	/* What the clock itself was found to do: a few latencies that have a large factor in common would look like coarser steps. */
	double step;
	c->grain = study_number(c->study, "clock.granularity", &step) ? (uint32_t)step : grain_of(run, 2);
	for (unsigned warm = 0; warm < 2; warm++) {
		if (!pool_add(c, pool, &run[warm], CHASE_SHARE_LEAST / 4))
			return CHASE_UNDECIDED;
	}
	classes_from(c, pool);
	if (!c->class_count)
		return CHASE_WHY(c->why, "no latency occurs often enough to be a class");
	c->fill_unit = 0;
	for (unsigned k = 1; k < c->class_count && !(c->fill_unit > 0); k++) {
		struct chase_walked w = chase_walk_of(c, run, 2, k);
		/* Every word alike: lines of a slower part, not misses. */
		if (w.unit > c->word && w.coverage >= 0.5)
			c->fill_unit = (double)w.unit;
	}
	/* When the nearest keeps the whole walk, what is behind it may have too many latencies to form a class of most
	 * blocks. */
	if (!(c->fill_unit > 0) && chase_share_near(&run[1], c->classes[0].centre, c->grain) > KEEPS) {
		double median;
		c->fill_unit = (double)chase_scattered_cold(c, run, c->classes[0].centre, &median);
	}
	if (!c->stride)
		c->stride = c->fill_unit > 0 ? (uint64_t)c->fill_unit : STRIDE_BLIND;
	return CHASE_DONE;
}

/* Footprints that grow until the caches of interest are left behind. run: two walks by words. last: the largest was among them. */
static enum chase_state footprints(struct chase_path *c, struct chase_pool *pool, const struct chase_run *run,
				   bool *last)
{
	const double first = c->classes[0].centre, cold = c->fill_unit > 0 ? chase_cold_class(c, run) : 0,
		     most = floor((double)c->limit / (double)c->stride);
	double p[POINT_PARAMS], elements = SURVEY_FIRST;
	enum chase_state state = CHASE_DONE;
	unsigned beyond = 0, ahead = 0;

	pool->runs = pool->peaks = 0;
	*last = false;
	while (!*last && c->survey_count < CHASE_SURVEY) {
		double n = floor(elements);
		if (n >= most) {
			n = most;
			*last = true;
		}
		double timed = 4 * n < 512 ? 512 : 4 * n > c->room ? c->room : 4 * n;
		chase_survey_params(c, p, (double)c->stride, 2 * n, timed);
		struct chase_run r;
		enum chase_state got = chase_get(c, &r, n * (double)c->stride, p);
		if (got == CHASE_UNDECIDED)
			return got;
		if (got == CHASE_PENDING) {
			state = got;
			if (++ahead >= SURVEY_AHEAD)
				return state;
		} else if (state == CHASE_DONE) {
			if (!pool_add(c, pool, &r, CHASE_SHARE_LEAST))
				return CHASE_UNDECIDED;
			c->survey[c->survey_count] =
			    (struct chase_sample){.footprint = n * (double)c->stride, .n = r.kept};
			c->survey_count++;
			/* Nothing new is to be expected once the cache of interest, or every cache, is left behind. */
			bool left =
			    (c->first_only && c->fill_unit > 0 && chase_share_near(&r, first, c->grain) < 0.03) ||
			    (cold > first && chase_share_near(&r, cold, c->grain) > 0.9);
			beyond = left ? beyond + 1 : 0;
			if (beyond >= 4)
				break;
		}
		double ratio = n < SURVEY_DENSE ? SURVEY_RATIO : SURVEY_RATIO * SURVEY_RATIO;
		elements = elements * ratio > n + 1 ? elements * ratio : n + 1;
	}
	return state;
}

static enum chase_state survey(struct chase_path *c)
{
	struct chase_pool *pool = ARENA_NEW(study_arena(c->study), struct chase_pool);
	struct chase_run run[2];
	enum chase_state state = chase_walk(c, run);
	bool last;

	if (state != CHASE_DONE)
		return state;
	if (!pool)
		return CHASE_WHY(c->why, "out of memory");
	state = footprints(c, pool, run, &last);
	if (state != CHASE_DONE)
		return state;
	classes_from(c, pool);
	for (unsigned i = 0; i < c->survey_count; i++)
		for (unsigned k = 0; k < c->class_count; k++)
			c->survey[i].share[k] = chase_share_near(&pool->run[i], c->classes[k].centre, c->grain);
	drop_ghosts(c, pool);
	for (unsigned i = 0; i < c->survey_count && c->swing > 0; i++)
		for (unsigned k = 0; k < c->class_count; k++)
			c->survey[i].share[k] = fmax(c->survey[i].share[k], share_of(c, &pool->run[i], k));
	drop_spurious(c, pool, run);
	state = chase_group(c, pool, run);
	if (state != CHASE_DONE)
		return state;
	if (!c->level_count)
		return CHASE_WHY(c->why, "no latency occurs often enough to be a class");
	estimate_noise(c, pool);
	state = chase_one_latency(c, pool);
	if (state != CHASE_DONE)
		return state;
	chase_unseen(c, pool, run);

	for (unsigned k = 0; k + 1 < c->level_count; k++) {
		struct chase_fact *f = &c->level[k].sector;
		struct chase_walked w = chase_walk_beyond(c, run, 2, k);
		/* Every word alike would be a slower part, not misses; misses in few blocks only are no first touches. */
		f->value = w.coverage >= 0.5 && w.unit > c->word && !w.lopsided ? w.unit : 0;
		f->state = f->value ? CHASE_DONE : CHASE_UNDECIDED;
		c->level[k].blocks = f->value ? 0 : w.blocks;
		if (w.lopsided)
			snprintf(f->why, sizeof(f->why),
				 "in a walk in steps of %u bytes, every second piece of %llu bytes missed more rarely "
				 "than the others",
				 c->word, (unsigned long long)w.unit);
		else if (!f->value)
			snprintf(f->why, sizeof(f->why), "a walk in steps of %u bytes showed no regular misses",
				 c->word);
	}

	return chase_first_touches(c, pool, run, last);
}

enum chase_state chase_survey(struct chase_path *c)
{
	const double given[] = {c->chase,      c->lap,		 c->kind,	    c->lap_kind,     c->quiet_kind,
				c->sm,	       (double)c->limit, c->word,	    c->room,	     c->quiet_room,
				c->first_only, c->beyond_sm,	 (double)c->stride, (double)c->reach};
	const struct chase_path *before = study_recall(c->study, "survey", given, sizeof(given));

	if (before) {
		*c = *before;
		return CHASE_DONE;
	}
	enum chase_state state = survey(c);
	if (state == CHASE_DONE)
		study_keep(c->study, "survey", given, sizeof(given), c, sizeof(*c));
	return state;
}
