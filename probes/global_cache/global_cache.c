/* Global memory: L1 and L2 data caches and memory behind them. Wong 2010, IV-G and Mei 2014, 3.2 and 4.2. */
#include "global_draw.h"
#include "large_sides.h"
#include "probe/trace.h"
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { GLOBAL_CHASE = DRAWN_CHASE, GLOBAL_LAP, GLOBAL_SWEEP, GLOBAL_STRIDES };
/* Kinds of load: through the L1 or past it. Records go to shared memory, but for PAST_L1 and NEAR_BARE, whose launches have none. */
enum { NEAR = DRAWN_NEAR, PAST_L1 = DRAWN_PAST_L1, PAST_L1_QUIET, NEAR_BARE };

#define BRACKET 0.1 /* of a size: one that is known no better is not measured */

static struct chase_load load_of(const struct study *s, unsigned kind)
{
	return chase_load_of(s, kind == PAST_L1 || kind == PAST_L1_QUIET ? WAY_PAST_L1 : WAY_NEAR);
}

static bool records_in_shared(unsigned kind)
{
	return kind != PAST_L1 && kind != NEAR_BARE;
}

static int setup_chase(const struct study *s, double x, const double *p, struct job *j)
{
	unsigned kind = (unsigned)p[CHASE_PLACE] % 8;
	/* Some drivers share one array out between L1 and shared memory. They give a kernel that uses a little shared
	 * memory more L1 than one that uses none: on an H200, 240 KB against 217. Records in global memory would pass
	 * the L1, too. */
	const struct chase_kernel k = {.template_path = "probes/global_cache/global_chase.ptx",
				       .load = load_of(s, kind),
				       .in_shared = records_in_shared(kind)};
	return chase_setup(s, x, p, j, &k);
}

static int setup_lap(const struct study *s, double x, const double *p, struct job *j)
{
	const struct chase_kernel k = {.template_path = "probes/global_cache/global_lap.ptx",
				       .load = load_of(s, (unsigned)p[CHASE_PLACE] % 8)};
	return lap_setup(s, x, p, j, &k);
}

static int setup_sweep(const struct study *s, double x, const double *p, struct job *j)
{
	return sweep_setup(s, x, p, j, load_of(s, PAST_L1).name,
			   study_device(s)->cc < 20 ? "ld.volatile.global.u32" : "ld.global.cg.u32");
}

static int setup_strides(const struct study *s, double x, const double *p, struct job *j)
{
	const struct trace_kernel k = {
	    .template_path = "probes/replacement/plain_trace.ptx", .load = load_of(s, PAST_L1), .roomy = true};
	return strides_setup(s, x, p, j, &k);
}

static const struct experiment experiments[] = {
    [GLOBAL_CHASE] =
	{.name = "chase", .axis = "footprint", .unit = "bytes", .params = CHASE_PARAM_NAMES, .setup = setup_chase},
    [GLOBAL_LAP] =
	{.name = "lap", .axis = "footprint", .unit = "bytes", .params = CHASE_PARAM_NAMES, .setup = setup_lap},
    [GLOBAL_SWEEP] =
	{.name = "sweep", .axis = "footprint", .unit = "bytes", .params = SWEEP_PARAM_NAMES, .setup = setup_sweep},
    [GLOBAL_STRIDES] =
	{.name = "strides", .axis = "distance", .unit = "bytes", .params = STRIDES_PARAM_NAMES, .setup = setup_strides},
};

static const char *const claims[] = {"cache.global.*", "memory.global.*", NULL};
static const char by_kinds[] = "classes of latency of loads with and without the L1";
static const char *const needs[] = {"clock", NULL}, *const helped[] = {"tlb", NULL};

static void inconclusive(struct study *s, const char *prefix, const char *why)
{
	static const char *const what[] = {"size", "line", "sector", "latency"};

	for (size_t i = 0; i < sizeof(what) / sizeof(what[0]); i++)
		study_verdict(s, KEY("%s.%s", prefix, what[i]), VERDICT_INCONCLUSIVE, "chase", "%s", why);
}

/* Lines of one level with latencies of their own: parts of one level that answer at different distances. */
static void conclude_parts(struct study *s, const struct chase_placed *l)
{
	const struct chase_latency *one = &l->first;
	double part[CHASE_PARTS], outside = 1;

	if (l->state != CHASE_DONE || !one->parts || one->parts > CHASE_PARTS) {
		study_verdict(s, "cache.global.l2.partitions", VERDICT_INCONCLUSIVE, "chase",
			      one->parts > CHASE_PARTS ? "lines differ in more ways than parts of a cache would make"
						       : "the latency of single lines could not be told");
		return;
	}
	for (unsigned i = 0; i < one->parts; i++) {
		part[i] = round((l->mean + (one->parts > 1 ? one->part[i] : 0)) * 10) / 10;
		outside -= one->part_share[i];
	}
	study_measured_array(s, "cache.global.l2.latency_classes", part, one->parts, "sm",
			     "latency of single lines, each timed many times, on one SM", "chase",
			     "64 lines fall into %u groups of latency", one->parts);
	/* More than two, or unequal ones, may as well be the way to different slices of one part. */
	if (one->parts == 1 && outside < 0.05)
		study_measured_number(s, "cache.global.l2.partitions", 1, 1, 1, "", "latency of single lines", "chase",
				      "64 lines have one latency");
	else if (one->parts == 2 && one->part_share[0] > 0.3 && one->part_share[1] > 0.3 && outside < 0.05)
		study_measured_number(s, "cache.global.l2.partitions", 2, 2, 2, "", "latency of single lines", "chase",
				      "%.0f %% of 64 lines are %.1f cycles nearer than the others",
				      100 * one->part_share[0], one->part[1] - one->part[0]);
	else
		study_verdict(s, "cache.global.l2.partitions", VERDICT_INCONCLUSIVE, "chase",
			      "lines have %u latencies in unequal shares: slices of one part differ, too", one->parts);
}

/* The block that fills sits on one SM, so where an L2 has sides this is the part that is near to it. */
static void conclude_size(struct study *s, const struct large_l2 *l, enum chase_state sides,
			  const struct large_sides *e)
{
	static const char *const method = "a block fills the footprint, one thread samples it";
	const double times = 1 / (1 - e->far_share), most = 1 / (1 - e->far_hi), least = 1 / (1 - e->far_lo);

	if (sides != CHASE_DONE) {
		study_bound(s, "cache.global.l2.size", l->fits, INFINITY, method, "sweep",
			    "one SM's misses do not tell another side of the L2 from memory: %s", e->why);
		return;
	}
	if (!e->sides) {
		/* A size that is known no better is an estimate. */
		(l->beyond - l->fits > BRACKET * l->fits ? study_likely_number : study_measured_number)(
		    s, "cache.global.l2.size", l->fits, l->fits, l->beyond, "sm", method, "sweep",
		    "of %.0f bytes no more samples miss than noise explains, of %.0f bytes clearly more do; "
		    "misses take the same times at all footprints",
		    l->fits, l->beyond);
		return;
	}
	study_measured_number(s, "cache.global.l2.near_size", l->fits, l->fits, l->beyond, "sm", method, "sweep",
			      "of %.0f bytes no more samples miss than noise explains, of %.0f bytes clearly more do",
			      l->fits, l->beyond);
	const double sides_of = round(times);
	if (most >= sides_of + 0.5 || least < sides_of - 0.5) {
		study_verdict(s, "cache.global.l2.sides", VERDICT_INCONCLUSIVE, "sweep",
			      "%.0f %% of the misses just beyond the near part are far hits, which is between whole "
			      "numbers of sides",
			      100 * e->far_share);
		study_bound(s, "cache.global.l2.size", l->fits, INFINITY, method, "sweep",
			    "it has sides, of which one was filled");
		return;
	}
	study_measured_number(s, "cache.global.l2.sides", sides_of, sides_of, sides_of, "card",
			      "share of far hits among the misses just beyond the near part", "sweep",
			      "%.1f %% of %zu misses are far hits, %.0f cycles slower than near ones",
			      100 * e->far_share, (size_t)((double)e->far_count / e->far_share + 0.5), e->far - l->hit);
	study_likely_number(s, "cache.global.l2.size", sides_of * l->fits, sides_of * l->fits, sides_of * l->beyond,
			    "card", "near part times the number of sides", "sweep",
			    "%.0f sides, each as large as the one that was filled", sides_of);
}

/* line: bytes, 0: not known.
 *
 * A known line means that steps of several lines use as many sets as single lines do. Addresses do not show which lines
 * share a set then, and ways and sets are not asked.
 *
 * The hash is no more than LIKELY. Suppose modulo chooses among 2^k times an odd number of sets. Steps of 2^k lines
 * then leave as few sets as a line 2^k times as long would, and larger steps have room as well. */
static void conclude_large(struct study *s, enum chase_state sized, bool sector, const struct large_l2 *l,
			   enum chase_state sides, const struct large_sides *e, uint64_t line)
{
	static const char *const rest[] = {"line", "ways", "sets", "sector"};

	if (line)
		study_likely_text(s, "cache.global.l2.mapping", "hash", "steps in which more than fits has room",
				  "sweep", "lines %u and %u bytes apart share sets as evenly as all lines do",
				  (unsigned)line * 2, (unsigned)line * 4);
	if (line)
		study_likely_number(
		    s, "cache.global.l2.line", (double)line, (double)line, (double)line, "card",
		    "steps in which more than fits has room", "sweep",
		    "in steps of up to %u bytes it overflows, in steps of twice as many it has room. A few "
		    "times as many sets of shorter lines, without a hash, would look alike",
		    (unsigned)line);
	const size_t asked = sector ? 3 : 4; /* a sector that is told is not open */

	for (size_t i = line ? 3 : 0; i < asked; i++) {
		study_verdict(s, KEY("cache.global.l2.%s", rest[i]), VERDICT_INCONCLUSIVE, "sweep", "%s",
			      sized == CHASE_DONE && !strcmp(rest[i], "line")
				  ? l->why
				  : "it is too large to be walked by one thread, which conflicts of lines need");
	}
	if (sized == CHASE_DONE)
		conclude_size(s, l, sides, e);
	else
		study_verdict(s, "cache.global.l2.size", VERDICT_INCONCLUSIVE, "sweep", "%s", l->why);
}

/* Ticks of the sweep hold the clock's own cost, as those of its hits do. */
static void conclude_large_memory(struct study *s, const struct large_l2 *l, double hit, enum chase_state sides,
				  const struct large_sides *e)
{
	static const char *const method = "sampled misses of a footprint beyond the L2, against hits";
	const double cost = l->hit - hit;

	if (sides != CHASE_DONE)
		study_bound(s, "memory.global.latency", hit, INFINITY, "slower than the last level", "sweep", "%s",
			    e->why);
	else
		study_measured_number(
		    s, "memory.global.latency", e->memory - cost, e->memory_lo - cost, e->memory_hi - cost, "sm",
		    method, "sweep", "mean of %zu random lines of %.0f bytes that the L2 did not hold%s",
		    e->memory_count, l->largest, e->sides ? "; hits of another side are not counted" : "");
}

static void absent(struct study *s, const char *level, const char *fmt, double a, double b)
{
	char why[200];

	snprintf(why, sizeof(why), fmt, a, b);
	study_verdict(s, KEY("cache.global.%s.size", level), VERDICT_ABSENT, "chase", "%s", why);
}

/* Of a level that no footprint of one thread overflows only first touches miss. */
static void first_misses(struct chase_path *far)
{
	struct chase_path again = *far;
	struct chase_run walk[2];
	struct chase_fact *sector = &far->level[0].sector;

	if (sector->state == CHASE_DONE || chase_walk(&again, walk) != CHASE_DONE)
		return;
	sector->value = chase_first_fetch(&again, walk);
	if (sector->value)
		sector->state = CHASE_DONE;
}

/* Whether an L1 is no faster on the whole than the next cache, which answers past it. The first classes of latency that
 * two walks saw may be of unlike parts of one cache. */
static bool is_no_faster(const struct chase_path *near, const struct chase_path *far, const struct chase_placed *l1,
			 const struct chase_placed *l2)
{
	return l1->state == CHASE_DONE && l2->state == CHASE_DONE &&
	       l1->mean >= l2->mean / (1 + fmax(near->swing, far->swing)) - 4 - 0.02 * l2->mean;
}

/* What answers loads that may use an L1, by the kind of load that may not. */
enum l1_seen { L1_UNTOLD, L1_NONE, L1_THERE };
/* What answers loads past it: each is one of those before, too. ENDLESS: no footprint of one thread overflows it; HUGE: one of a block does. */
enum l2_seen { L2_NONE, L2_THERE, L2_ENDLESS, L2_HUGE };
/* What is behind the L2: memory. Open rows may be the L2, or be behind it, for certain or not. */
enum behind { ONLY_MEMORY, MORE_LEVELS, ROWS_NO_L2, MAYBE_ROWS, OPEN_ROWS };

struct global {
	struct study *s;
	struct chase_path near, far;
	enum l1_seen l1;
	enum l2_seen l2;
	enum behind behind;
	struct large_l2 large;
	struct large_sides sides;
	enum chase_state swept, sized, sided;
	uint64_t line;	       /* of what a block overflows; 0: not known */
	double nearest, first; /* ticks of the fastest loads that may use an L1, and of those that may not */
	struct chase_placed l1_served, l2_served, memory;
	char others[200]; /* why levels are not told */
};

static void paths_of(struct global *g)
{
	const struct device_info *d = study_device(g->s);
	/* What translation costs looks like a miss of a cache. */
	const uint64_t most = d->memory_bytes / 8, reach = chase_translated(g->s, "global");

	g->far = (struct chase_path){.study = g->s,
				     .chase = GLOBAL_CHASE,
				     .lap = GLOBAL_LAP,
				     .strides = GLOBAL_STRIDES,
				     .kind = PAST_L1,
				     .lap_kind = PAST_L1,
				     .limit = most && most < CHASE_FAR_LIMIT ? most : CHASE_FAR_LIMIT,
				     .reach = reach == UINT64_MAX ? 0 : reach,
				     .word = 8,
				     .room = chase_room(d, records_in_shared(PAST_L1)),
				     /* Records on their way to memory would close the rows that are timed. */
				     .quiet_kind = PAST_L1_QUIET,
				     .quiet_room = chase_room(d, records_in_shared(PAST_L1_QUIET)),
				     .beyond_sm = true};
	g->near = g->far;
	g->near.kind = g->near.quiet_kind = g->near.lap_kind = NEAR;
	g->near.room = g->near.quiet_room = chase_room(d, records_in_shared(NEAR));
	g->near.limit = most && most < CHASE_NEAR_LIMIT ? most : CHASE_NEAR_LIMIT;
	g->near.beyond_sm = false;
	g->near.strides = 0;
	g->near.first_only = true;
	g->large.limit = reach;
}

static void all_inconclusive(struct study *s, const char *why)
{
	inconclusive(s, "cache.global.l1", why);
	inconclusive(s, "cache.global.l2", why);
	study_verdict(s, "cache.global.levels", VERDICT_INCONCLUSIVE, "chase", "%s", why);
	study_verdict(s, "memory.global.latency", VERDICT_INCONCLUSIVE, "chase", "%s", why);
}

/* Nothing overflowed so far; but a cache may be larger than what one thread can walk. */
static enum chase_state look_farther(struct global *g)
{
	const uint64_t unit = g->far.cold_unit > 0 ? (uint64_t)g->far.cold_unit : 32;
	enum chase_state lined = CHASE_DONE;

	g->swept = g->sized = g->sided = CHASE_DONE;
	if (g->far.level_count == 1)
		g->swept = large_check(g->s, GLOBAL_SWEEP, &g->large);
	if (g->swept == CHASE_DONE && g->large.overflows) {
		g->sized = large_size(g->s, GLOBAL_SWEEP, unit, &g->large);
		if (g->sized == CHASE_DONE) {
			g->sided = large_sides(g->s, GLOBAL_SWEEP, unit, &g->large, &g->sides);
			lined = large_line(g->s, GLOBAL_SWEEP, unit, &g->large, &g->line);
		}
	}
	if (g->swept == CHASE_PENDING || g->sized == CHASE_PENDING || g->sided == CHASE_PENDING ||
	    lined == CHASE_PENDING)
		return CHASE_PENDING;
	/* What overflowed may be a TLB: then nothing is known beyond what one thread walked. */
	if (g->large.pages)
		g->swept = CHASE_UNDECIDED;
	return CHASE_DONE;
}

/* Which caches there are. UNDECIDED: nothing is told, and why has been said. */
static enum chase_state find_caches(struct global *g)
{
	struct chase_path *near = &g->near, *far = &g->far;
	struct chase_run walk[2];
	enum chase_state a = chase_survey(far), b = chase_walk(near, walk);

	if (a == CHASE_PENDING || b == CHASE_PENDING)
		return CHASE_PENDING;
	if (a == CHASE_UNDECIDED || b == CHASE_UNDECIDED) {
		all_inconclusive(g->s, a == CHASE_UNDECIDED ? far->why : near->why);
		return CHASE_UNDECIDED;
	}
	/* An L1 is what answers the one kind of load faster than anything answers the other. */
	g->first = far->classes[0].centre;
	g->nearest = near->classes[0].centre;
	const enum chase_side side = chase_side_of(near, far);
	if (side == CHASE_NEARER && near->class_count > 1) {
		g->l1 = L1_THERE;
		b = chase_survey(near);
		if (b == CHASE_PENDING)
			return b;
		if (b == CHASE_UNDECIDED || near->level_count < 2) {
			inconclusive(g->s, "cache.global.l1",
				     b == CHASE_UNDECIDED ? near->why : "no footprint makes it miss");
			study_verdict(g->s, "cache.global.levels", VERDICT_INCONCLUSIVE, "chase",
				      "an L1 answers, but its survey failed");
			return CHASE_UNDECIDED;
		}
	} else if (side == CHASE_AS_FAR && g->nearest - g->first <= 4 + (0.02 + far->swing) * g->first) {
		g->l1 = L1_NONE;
	}
	if (look_farther(g) == CHASE_PENDING)
		return CHASE_PENDING;
	const bool huge = g->swept == CHASE_DONE && g->large.overflows;
	if (huge)
		far->touch = TOUCH_SLOWER;
	if (far->level_count > 1)
		g->l2 = L2_THERE;
	else if (far->touch == TOUCH_SLOWER)
		g->l2 = huge ? L2_HUGE : L2_ENDLESS;
	return CHASE_DONE;
}

/* Their shapes, and how far they and memory are. */
static enum chase_state measure_caches(struct global *g)
{
	struct chase_path *near = &g->near, *far = &g->far;
	struct study *s = g->s;

	if (g->l1 == L1_THERE)
		chase_geometry(near, 0);
	else
		near->beyond_sm = true;
	if (g->l2 == L2_THERE)
		chase_geometry(far, 0);
	if (g->l1 == L1_THERE && !study_pending(s))
		chase_lent(near, NEAR_BARE, chase_room(study_device(s), records_in_shared(NEAR_BARE)));
	if (study_pending(s))
		return CHASE_PENDING;
	if (g->l2 >= L2_ENDLESS) {
		far->level[0].endless = true;
		first_misses(far);
	}
	if (g->l1 == L1_THERE)
		chase_latency_over(near, 0, 16, &g->l1_served);
	if (g->l2)
		chase_latency_over(far, 0, CHASE_PLACEMENTS, &g->l2_served);
	if (g->l2 < L2_ENDLESS)
		chase_latency_over(far, far->level_count - 1, CHASE_PLACEMENTS, &g->memory);
	return study_pending(s) ? CHASE_PENDING : CHASE_DONE;
}

/* Whether levels past the L1 are rows of the memory, and which are told. */
static enum chase_state find_rows(struct global *g)
{
	struct chase_path *far = &g->far;
	const struct chase_level *l2 = &far->level[0];
	struct chase_placed open = {0};
	bool sure = false;
	const unsigned from = g->l2 == L2_HUGE ? UINT_MAX : chase_rows_level(far, &sure);

	if (sure && from && from + 1 < far->level_count && g->memory.state != CHASE_DONE) {
		chase_latency_over(far, from, CHASE_PLACEMENTS, &open);
		if (study_pending(g->s))
			return CHASE_PENDING;
		chase_rows_served(far, from, &open, &g->memory);
	}
	snprintf(g->others, sizeof(g->others), "%s%s", far->doubt[0] ? "past the L1, " : "",
		 far->doubt[0] ? far->doubt
			       : "more groups of latency past the L1 than one cache and memory would make");
	/* Lines that conflict, set by set, are no row's doing: what may be rows behind them leaves the L2 what it is. */
	const bool behind = from == 1 && !far->doubtful && far->level_count == 3 &&
			    ((l2->ways.state == CHASE_DONE && l2->ways.value > 1) || l2->unequal);
	if ((far->level_count > 2 && !behind) || far->doubtful)
		g->behind = MORE_LEVELS;
	else if (from == 0)
		g->behind = ROWS_NO_L2;
	else if (behind)
		g->behind = sure ? OPEN_ROWS : MAYBE_ROWS;
	return CHASE_DONE;
}

static void conclude_l1(struct global *g)
{
	if (g->l1 == L1_THERE) {
		chase_conclude_geometry(&g->near, 0, "cache.global.l1");
		chase_conclude_latency(g->s, "cache.global.l1.latency", &g->l1_served);
	} else if (g->l1 == L1_NONE) {
		absent(g->s, "l1", "loads that may use an L1 take %.0f ticks at their fastest, loads that may not %.0f",
		       g->nearest, g->first);
	} else {
		inconclusive(g->s, "cache.global.l1",
			     "loads that may use an L1 are not faster, and not the same either");
	}
}

static void conclude_l2(struct global *g)
{
	struct chase_path *far = &g->far;

	if (g->l2 && g->behind == MORE_LEVELS) {
		inconclusive(g->s, "cache.global.l2", g->others);
	} else if (g->l2 && g->behind == ROWS_NO_L2) {
		inconclusive(g->s, "cache.global.l2", chase_rows_why);
	} else if (g->l2) {
		if (g->line)
			far->level[0].spaced = SPACED_UNSEEN;
		chase_conclude_geometry(far, 0, "cache.global.l2");
		chase_conclude_latency(g->s, "cache.global.l2.latency", &g->l2_served);
		conclude_parts(g->s, &g->l2_served);
		if (g->l2 == L2_HUGE)
			conclude_large(g->s, g->sized, far->level[0].sector.state == CHASE_DONE, &g->large, g->sided,
				       &g->sides, g->line);
	} else if (far->fill_unit > 0) {
		inconclusive(g->s, "cache.global.l2",
			     "a walk by words is faster inside of blocks, but no footprint hits");
	} else if (g->swept != CHASE_DONE) {
		inconclusive(g->s, "cache.global.l2", g->large.why);
	} else {
		absent(g->s, "l2", "loads past the L1 take %.0f ticks at every footprint, and at the first touch %.0f",
		       g->first, far->cold);
	}
}

static void conclude_levels(const struct global *g)
{
	const bool l1 = g->l1 == L1_THERE, l2 = g->l2 > L2_NONE;
	const char *why = NULL;
	unsigned least = l1;

	if (!l2 && (g->far.fill_unit > 0 || g->swept != CHASE_DONE)) {
		why = "whether there is an L2 could not be told";
	} else if (g->behind == MORE_LEVELS) {
		why = g->others;
	} else if (l2 && (g->behind == ROWS_NO_L2 || g->behind == MAYBE_ROWS)) {
		study_at_least(g->s, "cache.global.levels", l1 + (g->behind == MAYBE_ROWS), by_kinds, "chase",
			       "past the L%u: %s", g->behind == MAYBE_ROWS ? 2 : 1, chase_rows_why);
		return;
	} else if (g->l1 == L1_UNTOLD) {
		why = "whether there is an L1 could not be told";
		least = l2;
	}
	if (why)
		study_at_least(g->s, "cache.global.levels", least, by_kinds, "chase", "%s", why);
	else if (!l1 && !l2)
		study_verdict(g->s, "cache.global.levels", VERDICT_ABSENT, "chase",
			      "a load takes the same time at every footprint and at the first touch");
	else
		study_measured_number(g->s, "cache.global.levels", l1 + l2, l1 + l2, l1 + l2, "", by_kinds, "chase",
				      "%s an L1, %s an L2", l1 ? "there is" : "there is not",
				      l2 ? "there is" : "there is not");
}

static void conclude_memory(struct global *g)
{
	static const char key[] = "memory.global.latency";
	const struct chase_placed *l2 = &g->l2_served;

	if (g->l2 == L2_HUGE && g->sized == CHASE_DONE && l2->state == CHASE_DONE)
		conclude_large_memory(g->s, &g->large, l2->mean, g->sided, &g->sides);
	else if (g->l2 >= L2_ENDLESS && l2->state != CHASE_DONE)
		study_verdict(g->s, key, VERDICT_INCONCLUSIVE, "chase", "the L2 hides it: %s", l2->why);
	else if (g->l2 >= L2_ENDLESS)
		study_bound(g->s, key, l2->mean, INFINITY, "slower than the last level", "chase",
			    "even the largest footprint of %llu bytes hits the L2", (unsigned long long)g->far.limit);
	else if (!g->l2 && g->far.fill_unit > 0)
		study_verdict(g->s, key, VERDICT_INCONCLUSIVE, "chase",
			      "what answers may be a cache: whether there is an L2 could not be told");
	else
		chase_conclude_latency(g->s, key, &g->memory);
}

static void study_global(struct study *s)
{
	struct global g = {.s = s};

	paths_of(&g);
	if (find_caches(&g) != CHASE_DONE || measure_caches(&g) != CHASE_DONE || find_rows(&g) != CHASE_DONE)
		return;
	if (g.l1 == L1_THERE && g.l2 && is_no_faster(&g.near, &g.far, &g.l1_served, &g.l2_served)) {
		const double apart = fabs(g.l1_served.mean - g.l2_served.mean);
		g.l1 = apart <= CHASE_MEANS_LEAST + CHASE_MEANS_PART * g.l2_served.mean ? L1_NONE : L1_UNTOLD;
		g.nearest = g.l1_served.mean;
		g.first = g.l2_served.mean;
	}
	conclude_l1(&g);
	conclude_l2(&g);
	conclude_levels(&g);
	conclude_memory(&g);
}

const struct probe probe_global_cache = {
    .name = "global_cache",
    .quick = true,
    .asks = "Which caches serve global memory, what are their size, line, sector and latency, and how far is memory?",
    .source =
	"Wong 2010, IV-G and Mei 2014, 3.2; loads with and without the L1 are told apart, so each level is seen alone",
    .how = "The same chase as in constant memory runs twice over global memory. Its loads may use the L1, or "
	   "they pass it by, so that each level is seen alone. Latencies of single accesses tell the levels "
	   "apart, footprints give their sizes, neighbours the line and the sector. An L2 that is too large for "
	   "one thread is filled by a whole block, and one thread then asks a sample of lines.",
    .fooled = "Open rows of memory, which look like one level more: a level whose steps are rows and not lines is "
	      "left out of the count. An L1 that the driver makes smaller for shared memory: kernels that ask for "
	      "the L1 keep their records in shared memory, a little of it, which leaves the most. When a kernel "
	      "without any finds more, the size is BOUND. An L2 of parts at different distances: the classes of "
	      "latency inside one level are findings of their own, and the size is what one SM can use. No L1 at "
	      "all: loads that may use one are then no faster than those that pass it by, and the level is ABSENT.",
    .figure = "global-latency-past-l1",
    .needs = needs,
    .helped = helped,
    .claims = claims,
    .experiments = experiments,
    .experiment_count = sizeof(experiments) / sizeof(experiments[0]),
    .study = study_global,
    .draw = global_draw,
};
