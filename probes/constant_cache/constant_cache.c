/* Constant memory: every cache level on its path. Wong 2010, IV-J, with the single accesses of Mei 2014, 3.2. */
#include "common_l2.h"
#include "probe/chase.h"
#include "stat/stat.h"
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { CONSTANT_CHASE, CONSTANT_LAP, CONSTANT_PAST };
#define LEVELS	      3	 /* that keys are for */
#define ZOOM_STRIDE   16 /* bytes, as in the paper's Fig. 18 */
#define LATE	      3	 /* ticks, and a share, by which accesses of one class may differ */
#define LATE_SHARE    0.02
#define FASTER_MOST   0.01 /* of a walk's accesses: less than a class has */
#define LINE_LIKELY   256  /* bytes: no shorter than most lines */
#define MOST	      0.5  /* of the pieces that are fetched at once */
#define FEW_TAKEN     3	   /* footprints that say what others take */
#define TAKEN_MORE    1.25 /* times as much as they do is theirs still */
#define SLOWEST_LEAST 0.25 /* of the accesses of some footprint, so that they are memory where nothing else says so */
#define GROWN	      2	   /* times as large a part of the largest footprints is slow as of the smallest */

static int setup_chase(const struct study *s, double x, const double *p, struct job *j)
{
	const struct chase_kernel k = {.template_path = "probes/constant_cache/constant_chase.ptx",
				       .load = chase_load_of(s, WAY_CONSTANT),
				       .in_shared = true};
	return chase_setup(s, x, p, j, &k);
}

static int setup_lap(const struct study *s, double x, const double *p, struct job *j)
{
	const struct chase_kernel k = {.template_path = "probes/constant_cache/constant_lap.ptx",
				       .load = chase_load_of(s, WAY_CONSTANT)};
	return lap_setup(s, x, p, j, &k);
}

static const struct experiment experiments[] = {
    [CONSTANT_CHASE] =
	{.name = "chase", .axis = "footprint", .unit = "bytes", .params = CHASE_PARAM_NAMES, .setup = setup_chase},
    [CONSTANT_LAP] =
	{.name = "lap", .axis = "footprint", .unit = "bytes", .params = CHASE_PARAM_NAMES, .setup = setup_lap},
    [CONSTANT_PAST] =
	{.name = "past", .axis = "footprint", .unit = "bytes", .params = CHASE_PARAM_NAMES, .setup = common_l2_setup},
};

static const char *const claims[] = {"cache.constant.*", "memory.constant.latency", NULL};
static const char by_classes[] = "classes of latency that appear as the footprint grows";
static const char *const needs[] = {"clock", "arithmetic", "global_cache", NULL};

/* The part of the pieces fetched at once that miss level k in a sample: only the first access to what one miss fetches can. */
static double missing(const struct chase_path *c, unsigned k, const struct chase_sample *s)
{
	const struct chase_level *l = &c->level[k];
	const double pieces = l->sector.state == CHASE_DONE ? fmax((double)l->sector.value / (double)c->stride, 1) : 1;
	double beyond = 0;

	for (unsigned q = l->class_last + 1; q < c->class_count; q++)
		beyond += s->share[q];
	return beyond * pieces;
}

/* Bytes that level k holds at least. In a footprint of more lines than that, a lap misses at least as often as lines
 * are too many, whatever is replaced. */
static double holds(const struct chase_path *c, unsigned k)
{
	const struct chase_level *l = &c->level[k];
	double most = 0;

	for (unsigned i = 0; i < c->survey_count && l->sector.state == CHASE_DONE; i++)
		most = fmax(most, c->survey[i].footprint * (1 - missing(c, k, &c->survey[i])));
	return most;
}

/* Whether level k may be the GPU's common L2, by the cycles of a load that it answers. Laps tell these best. Otherwise
 * single accesses do, of all its parts or of its slowest class alone. clock: ticks that reading it adds to those. Rough
 * cycles give `hit` their slack. */
static enum common_l2 takes_as_long(const struct chase_path *c, const struct chase_placed *served, unsigned k,
				    double clock, struct common_hit *hit)
{
	struct chase_placed one = served[k];
	const bool rough = one.state != CHASE_DONE, class_only = rough && isnan(one.rough);

	/* The instructions in the chain are the same at every level. */
	if (rough) {
		one.mean = class_only ? c->classes[c->level[k].class_last].centre - clock : one.rough;
		one.address_ops = served[0].address_ops;
		hit->slack = c->swing;
	}
	const bool known = chase_take_off(c->study, &one);
	/* Two classes that may be one level may each be a part of that L2. */
	if (class_only || (c->doubtful && !rough))
		return common_l2_has(hit, known ? one.mean : NAN);
	const enum common_l2 is = common_l2_is(hit, known ? one.mean : NAN);
	return rough && known && (common_l2_is(hit, one.lo) != is || common_l2_is(hit, one.hi) != is) ? L2_UNKNOWN : is;
}

/* What reading the clock adds to an access, which laps do without; NAN: nobody knows. */
static double clock_cost(const struct chase_path *c, const struct chase_placed *served)
{
	for (unsigned k = 0; k < c->level_count; k++)
		if (served[k].state == CHASE_DONE && c->level[k].class_first == c->level[k].class_last)
			return c->classes[c->level[k].class_first].centre - served[k].mean;
	return NAN;
}

/* The part of level k that others take while a lap of one byte passes. Footprints tell it that are no more than a
 * quarter of `most` bytes, and more than the level above holds. 0: too few do. */
static double taken(const struct chase_path *c, unsigned k, double most)
{
	const double above = k ? 2 * (double)c->level[k - 1].size.value : 0;
	double rate[CHASE_SURVEY], scratch[CHASE_SURVEY];
	size_t n = 0;

	for (unsigned i = 0; i < c->survey_count; i++) {
		const struct chase_sample *s = &c->survey[i];
		const double part = missing(c, k, s);
		if (s->footprint > above && 4 * s->footprint <= most && part < MOST)
			rate[n++] = -log1p(-part) / s->footprint;
	}
	return n >= FEW_TAKEN ? stat_median(rate, n, scratch) : 0;
}

/* Whether most of the constant space misses level k, lap after lap. Others' lines make some of what fits miss, and more
 * of it the longer a lap takes. Only misses beyond that count. */
static bool overflows(const struct chase_path *c, unsigned k)
{
	double most = 0, part = 0;

	for (unsigned i = 0; i < c->survey_count; i++) {
		if (!(c->survey[i].footprint > most))
			continue;
		most = c->survey[i].footprint;
		part = missing(c, k, &c->survey[i]);
	}
	return part > MOST && part > -expm1(-TAKEN_MORE * taken(c, k, most) * most);
}

/* Whether level k, the last that hits, holds as much as the GPU's common L2. A cache of constants that only takes as
 * long has another size. L2_UNKNOWN: nobody knows. */
static enum chase_state same_size(struct chase_path *c, unsigned k, const struct common_hit *hit, double clock,
				  enum common_l2 *out)
{
	const struct chase_level *held = &c->level[k];
	const bool sized = held->size.state == CHASE_DONE && !held->endless;
	double size;
	const bool known = study_number(c->study, "cache.global.l2.size", &size);

	*out = L2_UNKNOWN;
	if (sized && known) {
		*out = fabs(size - (double)held->size.value) < 0.02 * size ? L2_THIS : L2_OTHER;
		return CHASE_DONE;
	}
	if (sized || overflows(c, k)) {
		/* Nobody knows how much that L2 holds, or how much this level, but that L2 may be seen to hold what this level does not. */
		struct common_hit more;
		const uint64_t stride = held->line.state == CHASE_DONE ? held->line.value : LINE_LIKELY;
		const enum chase_state state = common_l2_seen(
		    c->study, CONSTANT_PAST, sized ? 2 * held->size.value : c->limit, stride, clock, &more);
		if (state == CHASE_DONE && more.state == L2_THIS && hit->state == L2_THIS &&
		    common_l2_is(hit, more.lo) == L2_THIS && common_l2_is(hit, more.hi) == L2_THIS)
			*out = L2_OTHER;
		if (sized || *out == L2_OTHER || state == CHASE_PENDING)
			return state;
	}
	/* Others' lines in that L2 make some of its own miss, however few they are, and then no footprint is seen to fit for certain. */
	const double least = holds(c, k);
	if (!held->endless && 2 * least > (double)c->limit && !(known && size < 0.98 * least))
		*out = L2_THIS;
	return CHASE_DONE;
}

struct which_common {
	unsigned levels; /* that are caches of constants */
	unsigned unsure; /* the level that may be the common L2; UINT_MAX: none */
	enum common_l2 common;
};

/* Whether the last level that hits is the GPU's common L2. more: first touches are slower still. known: what is known of that L2. */
static enum chase_state last_is_common(struct chase_path *c, const struct chase_placed *served, unsigned caches,
				       bool more, struct common_hit *known, struct which_common *out)
{
	struct study *s = c->study;
	struct common_hit hit = common_l2_found(s);
	const struct chase_level *held = caches ? &c->level[caches - 1] : NULL;
	const double clock = clock_cost(c, served);

	*out = (struct which_common){caches + more, UINT_MAX, L2_NONE};
	if (hit.state == L2_UNKNOWN && caches + more) {
		/* What other loads see of it: where few bytes are read past the L1, it is what answers. */
		const bool sized = !more && held->size.state == CHASE_DONE && !held->endless;
		const uint64_t stride = sized && held->line.state == CHASE_DONE ? held->line.value : LINE_LIKELY,
			       bytes = sized ? held->size.value / 2 : c->limit / 2;
		if (common_l2_seen(s, CONSTANT_PAST, bytes, stride, clock, &hit) == CHASE_PENDING)
			return CHASE_PENDING;
		hit.slack = c->swing;
	}
	*known = hit;
	out->common = takes_as_long(c, served, c->level_count - 1, clock, &hit);
	if (!more && out->common == L2_THIS) {
		bool passed;
		if (common_l2_passed(c, CONSTANT_PAST, LINE_LIKELY, clock, &hit, &passed) == CHASE_PENDING)
			return CHASE_PENDING;
		out->common = passed ? L2_OTHER : L2_THIS;
	}
	if (more && out->common == L2_THIS)
		out->levels = caches;
	if (more && out->common == L2_UNKNOWN)
		out->unsure = caches;
	if (more || !caches || out->common == L2_THIS || hit.state == L2_NONE)
		return CHASE_DONE;
	/* Or the one before, where that L2 is small enough to be seen to overflow, or others take lines from it. */
	enum common_l2 alike = takes_as_long(c, served, caches - 1, clock, &hit), size = L2_UNKNOWN;
	if (alike != L2_OTHER && same_size(c, caches - 1, &hit, clock, &size) == CHASE_PENDING)
		return CHASE_PENDING;
	/* A nearest level that does not serve one line alone, lap after lap, leaves much to others. Nobody saw it hold
	 * as much as it seems to. */
	if (size == L2_OTHER && caches == 1 && served[0].state != CHASE_DONE && isnan(served[0].rough))
		size = L2_UNKNOWN;
	if (alike != L2_OTHER && size != L2_THIS)
		alike = size;
	if (alike == L2_THIS) {
		out->levels = caches - 1;
		out->common = L2_THIS;
	} else if (alike == L2_UNKNOWN) {
		out->unsure = caches - 1;
	}
	return CHASE_DONE;
}

/* Whether a warm walk by words has accesses that are faster than all that footprints show. A cache smaller than any
 * footprint would answer those. DONE if it was measured. */
static enum chase_state faster_in_blocks(const struct chase_path *c, bool *is)
{
	struct chase_path again = *c;
	struct chase_run run[2];
	const double least = c->classes[0].centre * (1 - LATE_SHARE) - LATE - c->grain;
	uint32_t faster = 0;

	*is = true;
	again.class_count = 0;
	const enum chase_state state = chase_walk(&again, run);
	if (state != CHASE_DONE)
		return state;
	for (uint32_t i = 0; i < run[1].kept; i++)
		faster += chase_ticks(run[1].record[i]) < least;
	*is = faster > FASTER_MOST * run[1].kept;
	return state;
}

/* Whether level k, of pieces as long as rows, behaves as banks with one open row each. Its size is known then, and no
 * two pieces share a set. */
static bool one_row_each(const struct chase_path *c, unsigned k)
{
	const struct chase_level *l = &c->level[k];

	return k + 1 < c->level_count && c->touch == TOUCH_ALIKE && l->size.state == CHASE_DONE &&
	       l->ways.state == CHASE_DONE && l->ways.value == 1;
}

/* Open rows, from level *rows on, and what is behind them are the memory. */
static void rows_are_memory(struct chase_path *c, unsigned *caches, unsigned *rows, struct chase_placed *served)
{
	struct chase_level *l = &c->level[*rows];

	/* The latency is that of a row that has to be opened, down to that of one that is open. */
	struct chase_placed memory = served[c->level_count - 1];
	if (served[*rows].state == CHASE_DONE)
		memory.lo = fmin(memory.lo, served[*rows].lo);
	served[*rows] = memory;
	l->class_first = l->class_last = c->level[c->level_count - 1].class_last;
	l->floor = 0;
	c->doubtful = c->doubtful < *rows ? c->doubtful : 0;
	c->level_count = *rows + 1;
	*caches = *rows;
	*rows = UINT_MAX;
}

/* Finds the levels that are the GPU's common L2: the last one that hits, or none. Each level before it may be one of
 * its nearer parts as long as its size is unknown. */
static enum chase_state which_is_common(struct chase_path *c, const struct chase_placed *served, unsigned caches,
					bool more, struct which_common *out)
{
	struct common_hit hit = {.state = L2_NONE};
	const enum chase_state state = last_is_common(c, served, caches, more, &hit, out);
	unsigned from = out->unsure != UINT_MAX ? out->unsure : out->levels;

	if (state != CHASE_DONE || (out->unsure == UINT_MAX && out->common != L2_THIS) || hit.state == L2_NONE ||
	    hit.state == L2_UNKNOWN || hit.nearest >= hit.farthest)
		return state;
	for (; from && served[from - 1].state == CHASE_DONE && c->level[from - 1].size.state != CHASE_DONE; from--) {
		struct chase_placed one = served[from - 1];
		if (!chase_take_off(c->study, &one) || common_l2_has(&hit, one.mean) == L2_OTHER)
			break;
		out->unsure = from - 1;
	}
	return CHASE_DONE;
}

/* Whether the slowest class may be the level before it, delayed now and then, as by refreshes of the memory. Nobody saw
 * that level overflow then, and no footprint is mostly slow. As large a part of its accesses is slow in small
 * footprints as in large ones, of which a cache would hold less and less. */
static bool may_be_delayed(const struct chase_path *c, unsigned caches)
{
	double part[CHASE_SURVEY], most = 0, first, last;

	if (!caches || c->touch == TOUCH_SLOWER || c->level[caches - 1].size.state == CHASE_DONE)
		return false;
	const unsigned from = c->level[caches - 1].class_first, slow = c->level[caches].class_first;
	for (unsigned i = 0; i < c->survey_count; i++) {
		double slower = 0;
		for (unsigned q = slow; q < c->class_count; q++)
			slower += c->survey[i].share[q];
		most = fmax(most, slower);
	}
	const double least = chase_parts_least(c, from, c->class_count);
	const unsigned n = chase_parts_slower(c, from, slow, c->class_count, least, part);
	const bool grown = chase_parts_ends(part, n, &first, &last) && last > GROWN * first;
	return most < SLOWEST_LEAST && !grown;
}

/* A level that everything fits in shows what a miss fetches by first touches alone: a line, unless it has parts. */
static void conclude_first_fetch(const struct chase_path *c, const char *prefix)
{
	static const char *const what[] = {"line", "sector"};
	const double unit = (double)c->cold_unit;

	for (size_t i = 0; c->touch == TOUCH_SLOWER && unit > 0 && i < sizeof(what) / sizeof(what[0]); i++) {
		study_likely_number(
		    c->study, KEY("%s.%s", prefix, what[i]), unit, unit, unit, "",
		    "distance of first touches that are slow", "chase",
		    "each first touch of %.0f bytes is slow, and none of the rest; no line was seen to be "
		    "replaced",
		    unit);
	}
}

static const char touches_differ[] = "some first touches took longer than misses in a warm footprint, and some did not";

/* What was found. The last level holds the whole constant space if first touches are slower than all levels. */
struct constants {
	struct chase_path c;
	struct chase_placed served[CHASE_LEVELS];
	struct which_common is;
	unsigned caches; /* groups of classes before the last one, which is memory but for such first touches */
	unsigned rows;	 /* the level from which on they may be open rows of the memory; UINT_MAX: none */
	bool are_rows;	 /* for sure */
	bool blocks;	 /* there may be a cache smaller than any footprint */
};

/* Levels, their shapes and latencies. UNDECIDED: why has been said. */
static enum chase_state find_levels(struct constants *m)
{
	struct chase_path *c = &m->c;
	struct study *s = c->study;
	const enum chase_state state = chase_survey(c);

	if (state == CHASE_UNDECIDED)
		chase_say_nothing(s, "constant", c->why);
	if (state != CHASE_DONE)
		return state;
	for (unsigned k = 0; k + 1 < c->level_count; k++)
		chase_geometry(c, k);
	if (study_pending(s))
		return CHASE_PENDING;
	chase_merge(c);
	m->caches = c->level_count - 1;
	m->rows = chase_rows_level(c, &m->are_rows);
	m->are_rows = m->are_rows && one_row_each(c, m->rows);
	if (c->touch == TOUCH_UNSURE && !c->doubtful)
		c->doubtful = m->caches;
	if (may_be_delayed(c, m->caches)) {
		static const char why[] = "what is slowest may be what is before it, delayed now and then";
		if (m->caches < 2) {
			chase_say_nothing(s, "constant", why);
			return CHASE_UNDECIDED;
		}
		if (!c->doubtful || c->doubtful >= m->caches)
			c->doubtful = m->caches - 1;
		if (!c->doubt[0])
			snprintf(c->doubt, sizeof(c->doubt), "%s", why);
	}
	if (c->touch == TOUCH_SLOWER && chase_top_again(c) == CHASE_PENDING)
		return CHASE_PENDING;
	if (c->touch == TOUCH_SLOWER)
		c->level[m->caches].endless = true;
	chase_spread_ask(c, m->caches);
	if (m->caches)
		chase_zoom_ask(c, 0, ZOOM_STRIDE, false);
	for (unsigned k = 0; k < c->level_count; k++)
		chase_latency_over(c, k, k || m->caches == 0 ? CHASE_PLACEMENTS : 16, &m->served[k]);
	if (study_pending(s))
		return CHASE_PENDING;
	if (m->are_rows)
		rows_are_memory(c, &m->caches, &m->rows, m->served);
	return CHASE_DONE;
}

/* Which of them are caches of constants. */
static enum chase_state tell_common(struct constants *m)
{
	struct chase_path *c = &m->c;
	struct which_common *is = &m->is;

	if (which_is_common(c, m->served, m->caches, c->touch == TOUCH_SLOWER, is) == CHASE_PENDING)
		return CHASE_PENDING;
	/* If some levels may be open rows, the level before them is the last that hits. It may be the common L2 as well
	 * if first touches were slower than all. Behind that L2 is memory then. A delay of others' misses, or of first
	 * touches alone, makes the memory look like a cache. */
	const unsigned hits = m->rows < m->caches ? m->rows : m->caches;
	if (hits < is->levels && is->common != L2_THIS && (is->unsure == UINT_MAX || is->unsure >= m->rows)) {
		struct which_common before;
		if (which_is_common(c, m->served, hits, false, &before) == CHASE_PENDING)
			return CHASE_PENDING;
		if (before.levels < hits || before.unsure != UINT_MAX)
			*is = before;
	}
	if (m->rows < is->levels)
		is->levels = m->rows;
	else
		m->rows = UINT_MAX;
	/* What is faster inside of blocks than at their first word may be a cache that is smaller than any footprint. */
	m->blocks = !is->levels && c->fill_unit > 0 && !m->are_rows;
	if (!m->blocks || m->rows != UINT_MAX || c->touch != TOUCH_SLOWER || is->common != L2_THIS)
		return CHASE_DONE;
	return faster_in_blocks(c, &m->blocks) == CHASE_PENDING ? CHASE_PENDING : CHASE_DONE;
}

static void conclude_each(struct constants *m)
{
	struct chase_path *c = &m->c;

	for (unsigned k = 0; k < m->is.levels && !(c->doubtful && k >= c->doubtful); k++) {
		const struct key_text latency = key_text("cache.constant.l%u.latency", k + 1),
				      level = key_text("cache.constant.l%u", k + 1);
		if (k >= m->is.unsure) {
			study_verdict(
			    c->study, latency.of, VERDICT_INCONCLUSIVE, "chase",
			    "whether this level is a constant cache or the GPU's common L2 could not be told");
			continue;
		}
		if (k == m->caches)
			chase_leave_endless(c, k, "the whole constant space fits");
		chase_conclude_geometry(c, k, level.of);
		if (k == m->caches)
			conclude_first_fetch(c, level.of);
		chase_conclude_latency(c->study, latency.of, &m->served[k]);
	}
}

static void conclude_levels(const struct constants *m)
{
	static const char key[] = "cache.constant.levels";
	const struct chase_path *c = &m->c;
	struct study *s = c->study;
	const unsigned levels = m->is.levels, unsure = m->is.unsure,
		       sure = chase_sure(c, levels < unsure ? levels : unsure);
	/* Of levels behind the last that is seen the number of levels says enough. */
	const bool whole = c->touch == TOUCH_SLOWER && levels > m->caches, hidden = whole && m->is.common != L2_UNKNOWN;

	if (m->rows != UINT_MAX)
		study_at_least(s, key, sure, by_classes, "chase", "level %u: %s", m->rows + 1, chase_rows_why);
	else if (c->doubtful || m->blocks)
		study_at_least(s, key, sure, by_classes, "chase", "%s",
			       c->touch == TOUCH_UNSURE ? touches_differ
			       : c->doubt[0]		? c->doubt
			       : c->doubtful
				   ? "two classes of latency may be one level: noise hides how much each of them holds"
				   : "a walk by words is faster inside of blocks, but no footprint hits");
	else if (unsure != UINT_MAX)
		study_at_least(s, key, unsure, by_classes, "chase",
			       unsure
				   ? "whether the slowest of %u classes that hit is a constant cache or the GPU's "
				     "common L2 could not be told"
				   : "whether what hits is a constant cache or the GPU's common L2 could not be told",
			       levels > unsure ? levels : unsure + 1);
	else if (!levels)
		study_verdict(s, key, VERDICT_ABSENT, "chase",
			      m->are_rows
				  ? "what is fetched at once is as long as a row of the memory, and one of them "
				    "is kept in each bank"
				  : "a load takes %.1f cycles at every footprint up to %llu bytes%s%s",
			      m->served[0].mean, (unsigned long long)c->limit,
			      c->touch == TOUCH_SLOWER ? "" : " and at the first touch",
			      m->is.common == L2_THIS ? ": that of the GPU's common L2" : "");
	else if (whole)
		study_bound(s, key, levels, INFINITY, by_classes, "chase",
			    "level %u holds %s, so what lies behind it is never seen", levels,
			    c->top == TOP_MISSES ? "what the survey timed" : "the whole constant space");
	else
		study_measured_number(s, key, levels, levels, levels, "", by_classes, "chase",
				      "%u classes of latency, the slowest is %s",
				      c->level_count + (c->touch == TOUCH_SLOWER),
				      m->are_rows		? "memory, of which some rows are open"
				      : m->is.common == L2_THIS ? "beyond the GPU's common L2 or that"
								: "memory");
	if (m->rows == UINT_MAX && !hidden && unsure == UINT_MAX && !c->doubtful && !m->blocks)
		chase_say_absent(s, "constant", levels, LEVELS);
}

static void conclude_memory(struct constants *m)
{
	static const char key[] = "memory.constant.latency",
			  first_only[] = "only first touches went to memory, because the last level holds the whole "
					 "constant space";
	const struct chase_path *c = &m->c;
	struct chase_placed *served = &m->served[c->level_count - 1], last = *served;
	const bool known = last.state == CHASE_DONE && chase_take_off(c->study, &last), more = c->touch == TOUCH_SLOWER;
	const char *why = NULL;

	if (m->is.common == L2_THIS && (more || m->is.levels < m->caches))
		why = "misses of the constant caches are served by the GPU's common L2";
	else if (m->is.unsure != UINT_MAX && (!more || m->is.unsure < m->caches))
		why = "misses of the constant caches may be served by the GPU's common L2";
	else if (c->touch == TOUCH_UNSURE)
		why = touches_differ;
	else if (more && known)
		return study_bound(c->study, key, last.mean, INFINITY, "slower than the last level", "chase",
				   first_only);
	else if (more)
		why = first_only;
	else if (m->is.common == L2_THIS || (m->is.common == L2_UNKNOWN && c->doubtful))
		return study_verdict(c->study, key, VERDICT_INCONCLUSIVE, "chase",
				     "the slowest loads take %.0f cycles, as %s", last.mean,
				     m->is.common == L2_THIS ? "long as a hit in the GPU's common L2"
							     : "a hit in the GPU's common L2 may: which classes are "
							       "one level is not known");
	else if (m->blocks)
		why = "what answers may be a cache: a walk by words is faster inside of blocks";
	else if (c->level_count > 1 && c->level[c->level_count - 2].clarity == BLURRED)
		why = "while the clock is faster, loads of the class before it take as long as those that are slowest";
	if (why)
		study_verdict(c->study, key, VERDICT_INCONCLUSIVE, "chase", "%s", why);
	else
		chase_conclude_latency(c->study, key, served);
}

static void study_constant(struct study *s)
{
	const struct device_info *d = study_device(s);
	struct constants m = {.c = {.study = s,
				    .chase = CONSTANT_CHASE,
				    .lap = CONSTANT_LAP,
				    .limit = d->constant_bytes,
				    .word = 4,
				    .room = chase_room(d, true)}};

	if (d->constant_bytes < 1024 || m.c.room < 64) {
		study_verdict(s, "cache.constant.levels", VERDICT_UNSUPPORTED, "",
			      "this device has no constant space to speak of");
		return;
	}
	if (find_levels(&m) != CHASE_DONE || tell_common(&m) != CHASE_DONE)
		return;
	conclude_each(&m);
	conclude_levels(&m);
	conclude_memory(&m);
}

static int draw_constant(const struct study *s, struct figure_list *out)
{
	struct figure *f;
	int rc = chase_draw(s, study_series(s, CONSTANT_CHASE), "cache.constant.l1.latency", 0, "constant-latency",
			    "Constant memory: latency against footprint", out, &f);

	if (f)
		chase_note_sizes(s, f, "constant", LEVELS);
	if (rc == 0)
		rc = chase_spread_draw(s, study_series(s, CONSTANT_CHASE), "cache.constant", "constant-placements",
				       "Constant memory: latency against footprint, over SMs", out);
	if (rc == 0)
		rc = chase_zoom_draw(s, study_series(s, CONSTANT_CHASE), "cache.constant.l1", ZOOM_STRIDE,
				     "constant-l1", "Constant L1: latency around its size", out);
	return rc;
}

const struct probe probe_constant_cache = {
    .name = "constant_cache",
    .quick = true,
    .asks = "How many caches does constant memory have, and what are their size, line, ways, sets and latency?",
    .source = "Wong 2010, IV-J and Mei 2014, 3.2. Here every conclusion is from misses of single accesses, so that "
	      "neither LRU replacement nor modulo mapping is assumed",
    .how = "One thread follows a ring of addresses through constant memory and records every access that is "
	   "slower than a hit. The latencies fall into classes, one for each level; the size of a level is the "
	   "largest ring none of whose laps has to miss. Then one line more than fits shows which lines share "
	   "its set, which gives ways and sets, and pairs of neighbours give the line.",
    .fooled = "A replacement policy or a mapping that is not the usual one: no conclusion assumes either. A set "
	      "that is one line too full has at least one miss in every lap, whatever is replaced. Noise: misses "
	      "count only above what a ring that surely fits shows, and sizes are asked again with other seeds. A "
	      "level that holds all of constant memory: it has a latency and a line, and its size is a bound. A "
	      "level as fast as the one above it stays unseen, and the count of levels says what was told apart.",
    .figure = "constant-latency",
    .needs = needs,
    .claims = claims,
    .experiments = experiments,
    .experiment_count = sizeof(experiments) / sizeof(experiments[0]),
    .study = study_constant,
    .draw = draw_constant,
};
