/* Loads marked read-only (ld.global.nc): the cache that they ask first, by a trace of their own. Mei 2014, 2 and 3.2. */
#include "probe/chase.h"
#include "probe/trace.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { READONLY_CHASE, READONLY_LAP, READONLY_STRIDES };
/* Kinds of load. Records go to shared memory, but for BARE, whose launches have none. */
enum { MARKED, BARE, PAST_L1 };

#define LEAST_CC 35
static const char prefix[] = "cache.readonly.l1";

static struct chase_kernel kernel_of(const struct study *s, const char *path, const double *p)
{
	const unsigned kind = (unsigned)p[CHASE_PLACE] % 8;
	return (struct chase_kernel){.template_path = path,
				     .load = chase_load_of(s, kind == PAST_L1 ? WAY_PAST_L1 : WAY_READONLY),
				     .in_shared = kind != BARE};
}

static int setup_chase(const struct study *s, double x, const double *p, struct job *j)
{
	const struct chase_kernel k = kernel_of(s, "probes/readonly_cache/readonly_chase.ptx", p);
	return chase_setup(s, x, p, j, &k);
}

static int setup_lap(const struct study *s, double x, const double *p, struct job *j)
{
	const struct chase_kernel k = kernel_of(s, "probes/readonly_cache/readonly_lap.ptx", p);
	return lap_setup(s, x, p, j, &k);
}

static int setup_strides(const struct study *s, double x, const double *p, struct job *j)
{
	const struct trace_kernel k = {.template_path = "probes/replacement/plain_trace.ptx",
				       .load = chase_load_of(s, WAY_READONLY),
				       .roomy = true};
	return strides_setup(s, x, p, j, &k);
}

static const struct experiment experiments[] = {
    [READONLY_CHASE] =
	{.name = "chase", .axis = "footprint", .unit = "bytes", .params = CHASE_PARAM_NAMES, .setup = setup_chase},
    [READONLY_LAP] =
	{.name = "lap", .axis = "footprint", .unit = "bytes", .params = CHASE_PARAM_NAMES, .setup = setup_lap},
    [READONLY_STRIDES] =
	{.name = "strides", .axis = "distance", .unit = "bytes", .params = STRIDES_PARAM_NAMES, .setup = setup_strides},
};

static void say(struct study *s, enum verdict v, const char *because)
{
	chase_say_geometry(s, prefix, v, because);
}

/* Bytes whose translations cost nothing, by whichever TLB such loads ask. */
static uint64_t reach_of(const struct study *s)
{
	const uint64_t global = chase_translated(s, "global"), texture = chase_translated(s, "texture");
	return global < texture ? global : texture;
}

static void study_readonly_cache(struct study *s)
{
	const struct device_info *d = study_device(s);
	const uint64_t most = d->memory_bytes / 8, reach = reach_of(s);
	struct chase_path c = {.study = s,
			       .chase = READONLY_CHASE,
			       .lap = READONLY_LAP,
			       .limit = most && most < CHASE_NEAR_LIMIT ? most : CHASE_NEAR_LIMIT,
			       .reach = reach == UINT64_MAX ? 0 : reach,
			       .word = 8,
			       .room = chase_room(d, true),
			       .first_only = true},
			  past = c;
	struct chase_run walk[2], beyond[2];

	past.kind = past.lap_kind = PAST_L1;
	past.beyond_sm = true;
	/* What all loads have. Records in shared memory would be too few for it. */
	struct chase_path far = past;
	far.kind = far.lap_kind = BARE;
	far.room = chase_room(d, false);
	far.limit = most && most < CHASE_FAR_LIMIT ? most : CHASE_FAR_LIMIT;
	far.first_only = false;
	/* Others may empty it faster than a lap over all of it goes by. A few of its lines then tell whether it is what
	 * those found. */
	double size;
	far.strides = READONLY_STRIDES;
	far.likely = study_level_held(s, "cache.global.l2", &size) ? (uint64_t)size : 0;

	if (d->cc < LEAST_CC)
		return say(s, VERDICT_UNSUPPORTED, "this device has no loads marked read-only");
	if (reach < CHASE_LIMIT_LEAST)
		return say(s, VERDICT_INCONCLUSIVE,
			   "the first TLB reaches too little for a walk, and its misses look like a cache's");
	const enum chase_state a = chase_walk(&c, walk), b = chase_walk(&past, beyond);
	if (a == CHASE_PENDING || b == CHASE_PENDING)
		return;
	if (a == CHASE_UNDECIDED || b == CHASE_UNDECIDED)
		return say(s, VERDICT_INCONCLUSIVE, a == CHASE_UNDECIDED ? c.why : past.why);
	/* A cache of the SM is as fast as nothing that answers a load which passes by all of them. */
	const double nearest = c.classes[0].centre, first = past.classes[0].centre;
	const enum chase_side side = chase_side_of(&c, &past);
	const bool faster = side == CHASE_NEARER,
		   common = !faster && nearest <= first + 4 + (0.02 + past.swing) * first;
	if (side == CHASE_UNTOLD)
		return say(s, VERDICT_INCONCLUSIVE, chase_untold_why);
	if (common)
		c = far;
	const enum chase_state surveyed = chase_survey(&c);
	if (surveyed == CHASE_PENDING)
		return;
	if (surveyed == CHASE_UNDECIDED || c.level_count < 2)
		return say(s, VERDICT_INCONCLUSIVE, surveyed == CHASE_UNDECIDED ? c.why : "no footprint makes it miss");
	chase_geometry(&c, 0);
	if (!common && !study_pending(s))
		chase_lent(&c, BARE, chase_room(d, false));
	if (study_pending(s))
		return;
	bool sure;
	if (!faster && chase_rows_level(&c, &sure) == 0)
		return say(s, VERDICT_INCONCLUSIVE, chase_rows_why);
	if (common && !chase_common_l2(s, &c.level[0]))
		return say(s, VERDICT_INCONCLUSIVE,
			   "such loads are no faster than those past the L1, and their trace does not show an L2 of "
			   "the size that those found");
	chase_conclude_geometry(&c, 0, prefix);
}

static const char *const claims[] = {"cache.readonly.l1.size",
				     "cache.readonly.l1.line",
				     "cache.readonly.l1.sector",
				     "cache.readonly.l1.ways",
				     "cache.readonly.l1.sets",
				     "cache.readonly.l1.set_sizes",
				     NULL};
static const char *const needs[] = {"clock", "tlb", "global_cache", NULL};

const struct probe probe_readonly_cache = {
    .name = "readonly_cache",
    .asks = "What are size, line, ways and sets of the cache that loads marked read-only ask first?",
    .source = "Mei 2014, 2 and 3.2: the read-only path of its Table 1, by single accesses",
    .how = "One thread follows a ring by loads marked read-only, and the time of each is kept. Footprints grow "
	   "until lines miss, and one line more than fits shows what it evicts. Nothing is taken from what "
	   "plain loads or textures found. If the cache is one of theirs, both traces have to give the same "
	   "shape, or nothing is concluded from either.",
    .fooled = "No cache of the SM on this path: such loads are then no faster than those past the L1, and what is "
	      "traced is the L2. Of that something is said only if it overflows as loads past the L1 found. Laps "
	      "over all of it have to show that, or a few lines of one set if others empty it meanwhile. A cache "
	      "in one piece with shared memory: where a launch without any finds more, the size is BOUND.",
    .needs = needs,
    .claims = claims,
    .experiments = experiments,
    .experiment_count = sizeof(experiments) / sizeof(experiments[0]),
    .study = study_readonly_cache,
};
