/* The L1 of launches that ask for next to no shared memory, where that is another part of one array. Mei 2014, 4.2. */
#include "probe/chase.h"

enum { SPLIT_CHASE, SPLIT_LAP };
enum { PERCENT = 1, PART = 8 /* of the memory that may be walked */ };

/* Loads that may use the L1, of launches that ask for the least shared memory. */
static int divided(struct job *j, int rc)
{
	j->launch.shared_percent = PERCENT;
	return rc;
}

static uint32_t records(const struct study *s)
{
	return chase_split_room(study_device(s), study_finding(s, "shared.splits"));
}

/* Blocks have more shared memory than is asked for, so that a driver makes room for one of them. For blocks without
 * any, an H200's driver makes room for all 32 that an SM may have, and each takes 1 KB. */
static int setup_chase(const struct study *s, double x, const double *p, struct job *j)
{
	const struct chase_kernel k = {.template_path = "probes/global_cache/global_chase.ptx",
				       .load = chase_load_of(s, WAY_NEAR),
				       .in_shared = true,
				       .records = records(s)};
	return divided(j, chase_setup(s, x, p, j, &k));
}

static int setup_lap(const struct study *s, double x, const double *p, struct job *j)
{
	const struct chase_kernel k = {.template_path = "probes/global_cache/global_lap.ptx",
				       .load = chase_load_of(s, WAY_NEAR)};
	return divided(j, lap_setup(s, x, p, j, &k));
}

static const struct experiment experiments[] = {
    [SPLIT_CHASE] =
	{.name = "chase", .axis = "footprint", .unit = "bytes", .params = CHASE_PARAM_NAMES, .setup = setup_chase},
    [SPLIT_LAP] =
	{.name = "lap", .axis = "footprint", .unit = "bytes", .params = CHASE_PARAM_NAMES, .setup = setup_lap},
};

static void study_split(struct study *s)
{
	static const char stem[] = "cache.global.l1.split";
	const struct device_info *d = study_device(s);
	const uint64_t most = d->memory_bytes / PART, reach = chase_translated(s, "global");
	const struct finding *divisions = study_finding(s, "shared.splits"),
			     *l1 = study_finding(s, "cache.global.l1.size");
	struct chase_path c = {.study = s,
			       .chase = SPLIT_CHASE,
			       .lap = SPLIT_LAP,
			       .limit = most && most < CHASE_NEAR_LIMIT ? most : CHASE_NEAR_LIMIT,
			       .reach = reach == UINT64_MAX ? 0 : reach,
			       .word = 8,
			       .room = records(s),
			       .quiet_room = records(s),
			       .first_only = true};
	struct chase_run walk[2];

	if (!divisions || divisions->verdict != VERDICT_MEASURED || !l1 || l1->verdict == VERDICT_ABSENT) {
		const bool no_l1 = l1 && l1->verdict == VERDICT_ABSENT,
			   open = !no_l1 && divisions && divisions->verdict == VERDICT_INCONCLUSIVE;
		study_verdict(s, KEY("%s.size", stem), open ? VERDICT_INCONCLUSIVE : VERDICT_UNSUPPORTED, "chase", "%s",
			      no_l1  ? "there is no L1"
			      : open ? "whether launches divide an SM's memory in several ways is not known"
				     : "launches are not seen to divide an SM's memory in several ways");
		return;
	}
	const enum chase_state walked = chase_walk(&c, walk), state = walked == CHASE_DONE ? chase_survey(&c) : walked;
	if (state == CHASE_DONE && c.level_count > 1)
		chase_geometry(&c, 0);
	if (study_pending(s))
		return;
	if (state == CHASE_DONE && c.level_count > 1)
		chase_conclude_geometry(&c, 0, stem);
	else
		chase_say_geometry(s, stem, VERDICT_INCONCLUSIVE,
				   state == CHASE_DONE ? "no footprint makes it miss" : c.why);
}

static const char *const claims[] = {"cache.global.l1.split.*", NULL};
static const char *const needs[] = {"clock", "tlb", "global_cache", "registers", NULL};

const struct probe probe_split_cache = {
    .name = "split_cache",
    .asks = "What are size, line, ways and sets of the L1 where a launch asks for the least shared memory?",
    .source = "Mei 2014, 4.2: the other splits of an L1 that is one array with shared memory",
    .how = "The same chase as in global memory, by launches that ask for next to no shared memory. "
	   "Their blocks have no more than the least division has. It is asked where launches were seen to divide an "
	   "SM's memory in several "
	   "ways.",
    .fooled = "A driver that keeps an earlier division: what launches get was counted by blocks that are on an SM at "
	      "a time. Nothing is asked where that does not follow from what they ask for.",
    .needs = needs,
    .claims = claims,
    .experiments = experiments,
    .experiment_count = sizeof(experiments) / sizeof(experiments[0]),
    .study = study_split,
};
