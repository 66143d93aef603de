/* Global memory: L1 and L2 data caches and memory behind them. Wong 2010, IV-G and Mei 2014, 3.2 and 4.2. */
#include "data/native_record.h"
#include "large_sides.h"
#include "probe/trace.h"
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { GLOBAL_CHASE, GLOBAL_LAP, GLOBAL_SWEEP, GLOBAL_STRIDES };
/* Kinds of load: through the L1 or past it. Records go to shared memory, but for PAST_L1 and NEAR_BARE, whose launches have none. */
enum { NEAR, PAST_L1, PAST_L1_QUIET, NEAR_BARE };

#define L1_LIMIT   (1u << 20)
#define L2_LIMIT   (16u << 20)
#define BRACKET	   0.1	 /* of a size: one that is known no better is not measured */
#define SAME_LEAST 1	 /* cycles, ... */
#define SAME_PART  0.005 /* ... and of a latency, by which means over many lines differ that are of one cache */

static bool past_l1(unsigned kind)
{
	return kind == PAST_L1 || kind == PAST_L1_QUIET;
}

static const char *load_of(const struct study *s, unsigned kind)
{
	/* Before there were cache operators, volatile loads were those that no L1 answers. */
	if (study_device(s)->cc < 20)
		return past_l1(kind) ? "ld.volatile.global.u64" : "ld.global.u64";
	return past_l1(kind) ? "ld.global.cg.u64" : "ld.global.ca.u64";
}

static bool records_in_shared(unsigned kind)
{
	return kind != PAST_L1 && kind != NEAR_BARE;
}

static int setup_chase(const struct study *s, double x, const double *p, struct job *j)
{
	unsigned kind = (unsigned)p[CHASE_PLACE] % 8;
	/* A driver that shares one array out between L1 and shared memory gives a kernel that uses a little of the latter
	 * more L1 than one that uses none: on an H200, 240 KB against 217. And records in global memory would pass the L1. */
	const struct chase_kernel k = {.template_path = "probes/global_cache/global_chase.ptx",
				       .load = load_of(s, kind),
				       .space = BUFFER_GLOBAL,
				       .in_shared = records_in_shared(kind),
				       .load_class = NATIVE_LOAD_GLOBAL};
	return chase_setup(s, x, p, j, &k);
}

static int setup_lap(const struct study *s, double x, const double *p, struct job *j)
{
	const struct chase_kernel k = {.template_path = "probes/global_cache/global_lap.ptx",
				       .load = load_of(s, (unsigned)p[CHASE_PLACE] % 8),
				       .space = BUFFER_GLOBAL,
				       .load_class = NATIVE_LOAD_GLOBAL};
	return lap_setup(s, x, p, j, &k);
}

static int setup_sweep(const struct study *s, double x, const double *p, struct job *j)
{
	return sweep_setup(s, x, p, j, load_of(s, PAST_L1),
			   study_device(s)->cc < 20 ? "ld.volatile.global.u32" : "ld.global.cg.u32");
}

static int setup_strides(const struct study *s, double x, const double *p, struct job *j)
{
	const struct trace_kernel k = {.template_path = "probes/replacement/plain_trace.ptx",
				       .load = load_of(s, PAST_L1),
				       .roomy = true,
				       .load_class = NATIVE_LOAD_GLOBAL};
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
	char key[96];

	for (size_t i = 0; i < sizeof(what) / sizeof(what[0]); i++) {
		snprintf(key, sizeof(key), "%s.%s", prefix, what[i]);
		study_verdict(s, key, VERDICT_INCONCLUSIVE, "chase", "%s", why);
	}
}

/* Lines of one level with latencies of their own: parts of one level that answer at different distances. */
static void conclude_parts(struct study *s, const struct chase_placed *l)
{
	const struct chase_latency *one = &l->first;
	struct finding f = study_measured("cache.global.l2.latency_classes", 0, NAN, NAN,
					  "latency of single lines, each timed many times, on one SM");

	if (l->state != CHASE_DONE || !one->parts || one->parts > CHASE_PARTS) {
		study_verdict(s, "cache.global.l2.partitions", VERDICT_INCONCLUSIVE, "chase",
			      one->parts > CHASE_PARTS ? "lines differ in more ways than parts of a cache would make"
						       : "the latency of single lines could not be told");
		return;
	}
	f.value.kind = VALUE_ARRAY;
	f.value.array_count = one->parts;
	double outside = 1;
	for (unsigned i = 0; i < one->parts; i++) {
		f.value.array[i] = round((l->mean + (one->parts > 1 ? one->part[i] : 0)) * 10) / 10;
		outside -= one->part_share[i];
	}
	snprintf(f.unit, sizeof(f.unit), "cycles");
	snprintf(f.scope, sizeof(f.scope), "sm");
	snprintf(f.because, sizeof(f.because), "64 lines fall into %u groups of latency", one->parts);
	snprintf(f.evidence[0], sizeof(f.evidence[0]), "chase");
	f.evidence_count = 1;
	study_conclude(s, &f);
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

/* line: bytes, 0: not known. Where it is known, steps of several lines use as many sets as single lines do: which lines are of one set the addresses
 * do not show, and ways and sets are not asked. */
static void conclude_large(struct study *s, enum chase_state sized, bool sector, const struct large_l2 *l,
			   enum chase_state sides, const struct large_sides *e, uint64_t line)
{
	static const char *const rest[] = {"line", "ways", "sets", "sector"};

	if (line)
		study_likely_text(s, "cache.global.l2.mapping", "hash", "steps in which more than fits has room",
				  "sweep", "lines %u and %u bytes apart share sets as evenly as all lines do",
				  (unsigned)line * 2, (unsigned)line * 4);
	if (line)
		study_measured_number(s, "cache.global.l2.line", (double)line, (double)line, (double)line, "card",
				      "steps in which more than fits has room", "sweep",
				      "in steps of up to %u bytes it overflows, in steps of twice as many it has room",
				      (unsigned)line);
	const size_t asked = sector ? 3 : 4; /* a sector that is told is not open */

	for (size_t i = line ? 3 : 0; i < asked; i++) {
		char key[64];
		snprintf(key, sizeof(key), "cache.global.l2.%s", rest[i]);
		study_verdict(s, key, VERDICT_INCONCLUSIVE, "sweep", "%s",
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
	char key[96], why[200];

	snprintf(key, sizeof(key), "cache.global.%s.size", level);
	snprintf(why, sizeof(why), fmt, a, b);
	study_verdict(s, key, VERDICT_ABSENT, "chase", "%s", why);
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

/* The first classes of latency that two walks saw may be of unlike parts of one cache: what an L1 answers is faster on the whole than
 * what the next cache answers past it. */
static bool is_no_faster(const struct chase_path *near, const struct chase_path *far, const struct chase_placed *l1,
			 const struct chase_placed *l2)
{
	return l1->state == CHASE_DONE && l2->state == CHASE_DONE &&
	       l1->mean >= l2->mean / (1 + fmax(near->swing, far->swing)) - 4 - 0.02 * l2->mean;
}

static void study_global(struct study *s)
{
	const struct device_info *d = study_device(s);
	/* What translation costs looks like a miss of a cache. */
	const uint64_t most = d->memory_bytes / 8, reach = chase_translated(s, "global");
	struct chase_path far = {.study = s,
				 .chase = GLOBAL_CHASE,
				 .lap = GLOBAL_LAP,
				 .strides = GLOBAL_STRIDES,
				 .kind = PAST_L1,
				 .lap_kind = PAST_L1,
				 .limit = most && most < L2_LIMIT ? most : L2_LIMIT,
				 .reach = reach == UINT64_MAX ? 0 : reach,
				 .word = 8,
				 .room = chase_room(d, records_in_shared(PAST_L1)),
				 /* Records on their way to memory would close the rows that are timed. */
				 .quiet_kind = PAST_L1_QUIET,
				 .quiet_room = chase_room(d, records_in_shared(PAST_L1_QUIET)),
				 .beyond_sm = true};
	struct chase_path near = far;
	near.kind = near.quiet_kind = near.lap_kind = NEAR;
	near.room = near.quiet_room = chase_room(d, records_in_shared(NEAR));
	near.limit = most && most < L1_LIMIT ? most : L1_LIMIT;
	near.beyond_sm = false;
	near.strides = 0;
	near.first_only = true;

	struct chase_run walk[2];
	enum chase_state a = chase_survey(&far), b = chase_walk(&near, walk);
	if (a == CHASE_PENDING || b == CHASE_PENDING)
		return;
	if (a == CHASE_UNDECIDED || b == CHASE_UNDECIDED) {
		const char *why = a == CHASE_UNDECIDED ? far.why : near.why;
		inconclusive(s, "cache.global.l1", why);
		inconclusive(s, "cache.global.l2", why);
		study_verdict(s, "cache.global.levels", VERDICT_INCONCLUSIVE, "chase", "%s", why);
		study_verdict(s, "memory.global.latency", VERDICT_INCONCLUSIVE, "chase", "%s", why);
		return;
	}
	/* An L1 is what answers the one kind of load faster than anything answers the other. */
	double first = far.classes[0].centre, nearest = near.classes[0].centre;
	const enum chase_side side = chase_side_of(&near, &far);
	bool l1 = side == CHASE_NEARER && near.class_count > 1;
	if (l1) {
		b = chase_survey(&near);
		if (b == CHASE_PENDING)
			return;
		if (b == CHASE_UNDECIDED || near.level_count < 2) {
			inconclusive(s, "cache.global.l1",
				     b == CHASE_UNDECIDED ? near.why : "no footprint makes it miss");
			study_verdict(s, "cache.global.levels", VERDICT_INCONCLUSIVE, "chase",
				      "an L1 answers, but its survey failed");
			return;
		}
	}
	bool same = side == CHASE_AS_FAR && nearest - first <= 4 + (0.02 + far.swing) * first;
	/* Nothing overflowed so far; but a cache may be larger than what one thread can walk. */
	struct large_l2 large = {.limit = reach};
	const uint64_t unit = far.cold_unit > 0 ? (uint64_t)far.cold_unit : 32;
	struct large_sides sides = {0};
	uint64_t line = 0;
	enum chase_state swept = CHASE_DONE, sized = CHASE_DONE, sided = CHASE_DONE, lined = CHASE_UNDECIDED;
	if (far.level_count == 1)
		swept = large_check(s, GLOBAL_SWEEP, &large);
	if (swept == CHASE_DONE && large.overflows)
		sized = large_size(s, GLOBAL_SWEEP, unit, &large);
	if (swept == CHASE_DONE && large.overflows && sized == CHASE_DONE)
		sided = large_sides(s, GLOBAL_SWEEP, unit, &large, &sides);
	if (swept == CHASE_DONE && large.overflows && sized == CHASE_DONE)
		lined = large_line(s, GLOBAL_SWEEP, unit, &large, &line);
	if (swept == CHASE_PENDING || sized == CHASE_PENDING || sided == CHASE_PENDING || lined == CHASE_PENDING)
		return;
	/* What overflowed may be a TLB: then nothing is known beyond what one thread walked. */
	if (large.pages)
		swept = CHASE_UNDECIDED;
	bool huge = swept == CHASE_DONE && large.overflows;
	if (huge)
		far.cold_slower = true;
	bool l2 = far.level_count > 1 || far.cold_slower;
	bool endless = far.level_count == 1 && far.cold_slower;

	if (!l1)
		near.beyond_sm = true;
	if (l1)
		chase_geometry(&near, 0);
	if (l2 && !endless)
		chase_geometry(&far, 0);
	if (study_pending(s))
		return;
	if (l1)
		chase_lent(&near, NEAR_BARE, chase_room(d, records_in_shared(NEAR_BARE)));
	if (study_pending(s))
		return;
	if (endless) {
		far.level[0].endless = true;
		first_misses(&far);
	}
	struct chase_placed l1_served = {0}, l2_served = {0}, memory = {0}, open = {0};
	if (l1)
		chase_latency_over(&near, 0, 16, &l1_served);
	if (l2)
		chase_latency_over(&far, 0, CHASE_PLACEMENTS, &l2_served);
	if (!endless)
		chase_latency_over(&far, far.level_count - 1, CHASE_PLACEMENTS, &memory);
	if (study_pending(s))
		return;
	bool are_rows = false;
	const unsigned rows_from = huge ? UINT_MAX : chase_rows_level(&far, &are_rows);
	if (are_rows && rows_from && rows_from + 1 < far.level_count && memory.state != CHASE_DONE) {
		chase_latency_over(&far, rows_from, CHASE_PLACEMENTS, &open);
		if (study_pending(s))
			return;
		chase_rows_served(&far, rows_from, &open, &memory);
	}

	if (l1 && l2 && is_no_faster(&near, &far, &l1_served, &l2_served)) {
		same = fabs(l1_served.mean - l2_served.mean) <= SAME_LEAST + SAME_PART * l2_served.mean;
		l1 = false;
		nearest = l1_served.mean;
		first = l2_served.mean;
	}
	bool rows = rows_from == 0;
	/* Lines that conflict, set by set, are no row's doing: what may be rows behind them leaves the L2 what it is. */
	bool rows_behind =
	    rows_from == 1 && !far.doubtful && far.level_count == 3 &&
	    ((far.level[0].ways.state == CHASE_DONE && far.level[0].ways.value > 1) || far.level[0].unequal);
	bool more = (far.level_count > 2 && !rows_behind) || far.doubtful;
	char others[200] = "more groups of latency past the L1 than one cache and memory would make";
	if (far.doubt[0])
		snprintf(others, sizeof(others), "past the L1, %s", far.doubt);
	if (l1) {
		chase_conclude_geometry(&near, 0, "cache.global.l1");
		chase_conclude_latency(s, "cache.global.l1.latency", &l1_served);
	} else if (same) {
		absent(s, "l1", "loads that may use an L1 take %.0f ticks at their fastest, loads that may not %.0f",
		       nearest, first);
	} else {
		inconclusive(s, "cache.global.l1", "loads that may use an L1 are not faster, and not the same either");
	}
	if (l2 && more) {
		inconclusive(s, "cache.global.l2", others);
	} else if (l2 && rows) {
		inconclusive(s, "cache.global.l2", chase_rows_why);
	} else if (l2) {
		far.level[0].no_sets = line > 0;
		chase_conclude_geometry(&far, 0, "cache.global.l2");
		chase_conclude_latency(s, "cache.global.l2.latency", &l2_served);
		conclude_parts(s, &l2_served);
		if (huge)
			conclude_large(s, sized, far.level[0].sector.state == CHASE_DONE, &large, sided, &sides, line);
	} else if (far.fill_unit > 0) {
		inconclusive(s, "cache.global.l2", "a walk by words is faster inside of blocks, but no footprint hits");
	} else if (swept != CHASE_DONE) {
		inconclusive(s, "cache.global.l2", large.why);
	} else {
		absent(s, "l2", "loads past the L1 take %.0f ticks at every footprint, and at the first touch %.0f",
		       first, far.cold);
	}
	if (!l2 && (far.fill_unit > 0 || swept != CHASE_DONE))
		study_at_least(s, "cache.global.levels", l1, by_kinds, "chase",
			       "whether there is an L2 could not be told");
	else if (more)
		study_at_least(s, "cache.global.levels", l1, by_kinds, "chase", "%s", others);
	else if (l2 && (rows || (rows_behind && !are_rows)))
		study_at_least(s, "cache.global.levels", l1 + rows_behind, by_kinds, "chase", "past the L%u: %s",
			       rows_behind ? 2 : 1, chase_rows_why);
	else if (!l1 && !same)
		study_at_least(s, "cache.global.levels", l2, by_kinds, "chase",
			       "whether there is an L1 could not be told");
	else if (!l1 && !l2)
		study_verdict(s, "cache.global.levels", VERDICT_ABSENT, "chase",
			      "a load takes the same time at every footprint and at the first touch");
	else
		study_measured_number(s, "cache.global.levels", l1 + l2, l1 + l2, l1 + l2, "", by_kinds, "chase",
				      "%s an L1, %s an L2", l1 ? "there is" : "there is not",
				      l2 ? "there is" : "there is not");
	if (huge && sized == CHASE_DONE && l2_served.state == CHASE_DONE)
		conclude_large_memory(s, &large, l2_served.mean, sided, &sides);
	else if (endless && l2_served.state != CHASE_DONE)
		study_verdict(s, "memory.global.latency", VERDICT_INCONCLUSIVE, "chase", "the L2 hides it: %s",
			      l2_served.why);
	else if (endless)
		study_bound(s, "memory.global.latency", l2_served.mean, INFINITY, "slower than the last level", "chase",
			    "even the largest footprint of %llu bytes hits the L2", (unsigned long long)far.limit);
	else if (!l2 && far.fill_unit > 0)
		study_verdict(s, "memory.global.latency", VERDICT_INCONCLUSIVE, "chase",
			      "what answers may be a cache: whether there is an L2 could not be told");
	else
		chase_conclude_latency(s, "memory.global.latency", &memory);
}

/* The key of the latency of the smallest footprint, through the L1 or past it. */
static const char *nearest(const struct study *s, unsigned kind)
{
	static const char *const sizes[] = {"cache.global.l1.size", "cache.global.l2.size"},
				 *const latencies[] = {"cache.global.l1.latency", "cache.global.l2.latency"};

	for (; kind < 2; kind++) {
		const struct finding *f = study_finding(s, sizes[kind]);
		if (!f || f->verdict != VERDICT_ABSENT)
			return latencies[kind];
	}
	return "memory.global.latency";
}

static int draw_global(const struct study *s, struct figure_list *out)
{
	static const char *const names[] = {"global-latency", "global-latency-past-l1"};
	static const char *const titles[] = {"Global memory: latency against footprint",
					     "Global memory past the L1: latency against footprint"};

	for (unsigned kind = 0; kind < 2; kind++) {
		struct figure *f;
		double size;
		int rc = chase_draw(s, study_series(s, GLOBAL_CHASE), nearest(s, kind), kind, names[kind], titles[kind],
				    out, &f);
		if (rc)
			return rc;
		if (f && kind == NEAR && study_number(s, "cache.global.l1.size", &size))
			figure_note(f, true, size, "L1");
		if (f && study_level_held(s, "cache.global.l2", &size))
			figure_note(f, true, size, "L2");
	}
	return 0;
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
    .draw = draw_global,
};
