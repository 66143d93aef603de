/* What one SM and all of them draw from memory, from the caches in front of it and from shared memory. What a launch
 * costs, how fast the SM's clock runs, and what a turn of a loop takes. A model of a kernel's run time has to know
 * these. */
#include "bandwidth.h"
#include "base/arena.h"
#include <math.h>
#include <stdio.h>

enum { L1_LEAST = 8 << 10, L2_LEAST = 32 << 10, DRAWN_MOST = 16 };

uint64_t bandwidth_power_below(double v)
{
	uint64_t p = 1;
	while ((double)(2 * p) <= v)
		p *= 2;
	return p;
}

/* Whether the level is there for certain; if not, says so of the keys. */
static bool is_there(struct study *s, const char *level, const char *name, const char *const *keys)
{
	static const char *const parts[] = {"size", "latency", "line"};
	bool there = false, absent = false;
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
		char key[64];
		snprintf(key, sizeof key, "cache.global.%s.%s", level, parts[i]);
		const struct finding *f = study_finding(s, key);
		there |= f && (f->verdict == VERDICT_MEASURED || f->verdict == VERDICT_BOUND);
		absent |= f && f->verdict == VERDICT_ABSENT;
	}
	double levels;
	there |= study_number(s, "cache.global.levels", &levels) && levels >= 2;
	for (; !there && *keys; keys++)
		if (absent)
			study_verdict(s, *keys, VERDICT_ABSENT, "stream", "loads from global memory have no %s", name);
		else
			study_verdict(s, *keys, VERDICT_INCONCLUSIVE, "stream", "nobody knows whether there is an %s",
				      name);
	return there;
}

/* The value or the known end of a bound. */
bool bandwidth_at_least(const struct study *s, const char *key, double *v)
{
	const struct finding *f = study_finding(s, key);
	if (study_number(s, key, v))
		return true;
	if (!f || f->verdict != VERDICT_BOUND || !isfinite(f->lo))
		return false;
	*v = f->lo;
	return true;
}

/* Bytes that a level holds for certain. A level of unknown size holds at least a few of its lines, and if it was seen
 * at all it held many of them.
 *
 * The result is no more than what the nearest TLB translates at once, if that is known. Otherwise loads would wait for
 * translations, and not for the level. If `inside`, the level is in the SM, and an estimate of it is one of what shared
 * memory takes. */
static double held(const struct study *s, const char *level, bool inside, double most, double least)
{
	char key[96];
	double size, reach = INFINITY;

	snprintf(key, sizeof(key), "%s.size", level);
	const struct finding *f = study_finding(s, key);
	study_number(s, "tlb.global.l1.reach", &reach);
	/* Of what shared memory left, an estimate begins at what was seen to fit: figures are drawn of the same footprints. */
	if (f && f->verdict == VERDICT_LIKELY && inside)
		return (double)bandwidth_power_below(fmin(fmin(f->lo / 2, most), reach));
	return (double)bandwidth_power_below(
	    fmin(study_level_held(s, level, &size) || bandwidth_at_least(s, key, &size) ? fmin(size / 2, most) : least,
		 reach));
}

/* Cycles that loads take at most, about, or 0: launches have to be so much longer, and longer does no harm. */
static double slowest(const struct study *s)
{
	static const char *const keys[] = {"memory.global.latency", "cache.global.l2.latency"};
	double latency = 0;
	for (unsigned k = 0; k < 2; k++)
		if (bandwidth_at_least(s, keys[k], &latency))
			return latency * (k + 1);
	return 0;
}

/* Bytes a cycle at least, or NAN. */
struct drawn {
	double one, all; /* SMs */
	double held;	 /* bytes that the level holds */
};

/* From the L2. */
static struct drawn study_caches(struct study *s, double latency)
{
	static const char *const l2[] = {"cache.global.l2.bandwidth", "cache.global.l2.bandwidth_total", NULL},
				 *const l1[] = {"cache.global.l1.bandwidth", NULL};
	struct drawn drawn = {.one = NAN, .all = NAN, .held = held(s, "cache.global.l2", false, 1 << 20, L2_LEAST)};
	if (is_there(s, "l2", "L2", l2)) {
		drawn.one = bandwidth_stream(s, l2[0], LEVEL_L2, 0, NAN,
					     held(s, "cache.global.l2", false, 256 << 10, L2_LEAST), latency);
		if (!study_pending(s))
			drawn.all = bandwidth_stream(s, l2[1], LEVEL_L2, drawn.one, NAN, drawn.held, latency);
	}
	if (is_there(s, "l1", "L1", l1) && !study_pending(s))
		bandwidth_stream(s, l1[0], LEVEL_L1, 0, drawn.one, held(s, "cache.global.l1", true, 32 << 10, L1_LEAST),
				 latency);
	return drawn;
}

static void study_bandwidth(struct study *s)
{
	double latency = slowest(s);
	bandwidth_shared(s);
	const struct drawn l2 = study_caches(s, latency);
	if (!study_pending(s))
		bandwidth_stream(s, "memory.global.bandwidth", LEVEL_MEMORY, l2.one, l2.all, l2.held, latency);
	bandwidth_scatter(s);
	launch_study(s);
}

static const struct experiment experiments[] = {
    [EXPERIMENT_STREAM] = {.name = "stream",
			   .axis = "rounds",
			   .unit = "count",
			   .params = {"blocks", "threads", "footprint", "level", "place", "more", "twice", "beside"},
			   .setup = bandwidth_stream_setup},
    [EXPERIMENT_SHARED] = {.name = "shared",
			   .axis = "rounds",
			   .unit = "count",
			   .params = {"blocks", "threads", "long"},
			   .setup = bandwidth_shared_setup},
    [EXPERIMENT_TURNS] = {.name = "turns", .axis = "turns", .unit = "count", .params = {"trial"}, .setup = turns_setup},
    [EXPERIMENT_SCATTER] = {.name = "scatter",
			    .axis = "rounds",
			    .unit = "count",
			    .params = {"blocks", "threads", "footprint", "level", "trial"},
			    .setup = bandwidth_scatter_setup,
			    .thorough = true},
    [EXPERIMENT_EMPTY] =
	{.name = "empty", .axis = "trial", .unit = "number", .params = {"again"}, .setup = empty_setup},
    [EXPERIMENT_BLOCKS] = {.name = "blocks",
			   .axis = "blocks of an SM",
			   .unit = "count",
			   .params = {"trial"},
			   .setup = blocks_setup,
			   .thorough = true},
};

static const char *const needs[] = {"global_cache", "shared_memory", NULL};
static const char *const claims[] = {"memory.global.bandwidth",
				     "memory.global.drawn",
				     "memory.global.fetch",
				     "memory.global.scattered_loads",
				     "cache.global.*.bandwidth",
				     "cache.global.l2.bandwidth_total",
				     "shared.bandwidth",
				     "host.launch_latency",
				     "host.block_interval",
				     "device.clock_hz",
				     "branch.turn",
				     NULL};

/* Adds a point, or lifts the one that is there for as many threads. */
static size_t highest(double *x, double *y, size_t n, double at, double value)
{
	size_t i = 0;
	while (i < n && x[i] != at)
		i++;
	if (i == DRAWN_MOST)
		return n;
	y[i] = i == n ? value : fmax(y[i], value);
	x[i] = at;
	return i == n ? n + 1 : n;
}

static int draw_bandwidth(const struct study *s, struct figure_list *out)
{
	const struct series *series = study_series(s, EXPERIMENT_STREAM);
	static const char *const names[] = {"memory", "L2", "L1"};
	double x[DRAWN_MOST], y[DRAWN_MOST];
	struct figure *f = NULL;
	for (unsigned level = 0; series && level < 3; level++) {
		size_t n = 0;
		for (size_t i = 0; i < series->count; i++) {
			const struct point *pt = &series->points[i];
			struct arena scratch = {0};
			const double took = bandwidth_cycles(&scratch, pt);
			arena_free(&scratch);
			if (pt->p[STREAM_LEVEL] == level && !isnan(took))
				n = highest(x, y, n, pt->p[STREAM_BLOCKS] * pt->p[STREAM_THREADS],
					    pt->x * (double)bandwidth_piece(pt->p) * pt->p[STREAM_BLOCKS] / took);
		}
		if (!n)
			continue;
		if (!f)
			f = figures_new(out, "bandwidth-threads", "Reads: bytes a cycle against threads");
		if (!f)
			return -1;
		f->x = (struct figure_axis){.label = "threads that read", .unit = "count", .log2 = true};
		f->y = (struct figure_axis){.label = "all together, at most", .unit = "bytes/clk", .log2 = level > 0};
		if (figure_add(f, names[level], MARK_POINTS, x, y, NULL, n))
			return -1;
	}
	return 0;
}

const struct probe probe_bandwidth = {
    .name = "bandwidth",
    .quick = true,
    .asks = "How many bytes a cycle can be read from memory, caches and shared memory, and what does a launch cost?",
    .source = "Lemeire 2016, VI-A, the copy kernel; reads only, with the clock read between stretches",
    .how =
	"Blocks read pieces of memory one after the other, as many threads as an SM takes, on one SM or on all. "
	"Launches of "
	"two lengths are subtracted, so that their beginnings and ends cancel. What is read from memory is read once; "
	"what is read from a cache goes round a footprint that it holds. "
	"A launch of an empty kernel and a loop of known length give the cost of a launch and the rate of the clock.",
    .fooled =
	"Too few threads: half of them must reach the same rate, else the value is a bound. An SM that cannot "
	"issue as fast: "
	"with more instructions beside the loads the rate has to be the same. So many threads that they get into each "
	"other's way: where half of them draw more, fewer are asked. Caches that keep what an earlier launch read: "
	"they are "
	"emptied before each one. Translations that a launch has to wait for, a fifth of its time on a real GPU: the "
	"same one runs "
	"before it. SMs or caches that let less through than memory gives: each of fewer SMs has to draw "
	"much more, and all as much beside loads that the L2 answers.",
    .figure = "bandwidth-threads",
    .needs = needs,
    .claims = claims,
    .experiments = experiments,
    .experiment_count = sizeof experiments / sizeof *experiments,
    .study = study_bandwidth,
    .draw = draw_bandwidth,
};
