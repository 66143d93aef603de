/* Local memory (ld.local): the cache that it asks first, by a trace of its own. Mei 2014, 2 and 3.2. */
#include "probe/chase.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LOCAL_CHASE };
/* Kinds of access. Records go to shared memory, but for BARE, whose launches have none; WIDE has more memory. PAST_L1 is global. */
enum { OWN, BARE, WIDE, PAST_L1 };

#define TIMES	     2u	   /* the cache a footprint may be */
#define THREAD_LEAST 1024u /* bytes of a thread */
#define THREAD_FIRST 4096u
#define THREAD_MOST  (16u << 10)
#define PART	     2u /* of the memory may be reserved: the driver does it for all threads that may be resident */
#define PAST_PART    8u
#define LEAST_CC     20
#define BEGINS	     0.7 /* of all pieces that one miss fetches: their first words are late, where nothing was read before */
static const char prefix[] = "cache.local.l1";

/* Bytes of a thread's local memory. They are enough for a warp to have some times as much as a cache of another path is
 * said to hold. Nothing else is taken from there. */
static uint64_t thread_bytes(const struct study *s, unsigned kind)
{
	const struct device_info *d = study_device(s);
	const bool wide = kind == WIDE;
	const struct finding *f = study_finding(s, wide ? "cache.global.l2.size" : "cache.global.l1.size");
	uint64_t bytes = THREAD_FIRST, most = THREAD_MOST;
	double size = INFINITY;

	if (!study_level_held(s, wide ? "cache.global.l2" : "cache.global.l1", &size) && f &&
	    f->verdict == VERDICT_BOUND && isfinite(f->lo))
		size = f->lo;
	while (most > THREAD_LEAST && most * d->sm_count * d->max_threads_per_sm > d->memory_bytes / PART)
		most /= 2;
	while (bytes < most && (double)(bytes * d->warp_size) < TIMES * size)
		bytes *= 2;
	return bytes < most ? bytes : most;
}

static int setup_chase(const struct study *s, double x, const double *p, struct job *j)
{
	const unsigned kind = (unsigned)p[CHASE_PLACE] % 8;
	const struct chase_kernel past = {.template_path = "probes/global_cache/global_chase.ptx",
					  .load = chase_load_of(s, WAY_PAST_L1),
					  .in_shared = true},
				  own = {.template_path = "probes/local_cache/local_chase.ptx",
					 .load = chase_load_of(s, WAY_LOCAL),
					 .local_bytes = thread_bytes(s, kind),
					 .in_shared = kind != BARE};
	return chase_setup(s, x, p, j, kind == PAST_L1 ? &past : &own);
}

static const struct experiment experiments[] = {
    [LOCAL_CHASE] =
	{.name = "chase", .axis = "footprint", .unit = "bytes", .params = CHASE_PARAM_NAMES, .setup = setup_chase},
};

static void say(struct study *s, enum verdict v, const char *because)
{
	chase_say_geometry(s, prefix, v, because);
}

/* Whether words of one local address lie side by side, lane after lane. If they do not, the walk in that order comes
 * back to a piece that a miss fetched. The first word of a piece is then late once, and not again. cold: a walk by
 * words. */
static bool side_by_side(const struct chase_path *c, const struct chase_run *cold)
{
	const struct chase_level *l = &c->level[0];
	uint32_t begins = 0, late = 0;

	for (uint32_t i = 0; i < cold->kept; i++) {
		const uint64_t at =
		    (uint64_t)chase_at(cold->point->p, cold->elements, chase_index(cold->record[i])) * c->word;
		if (at % l->sector.value)
			continue;
		begins++;
		late += chase_ticks(cold->record[i]) >= l->floor;
	}
	return late >= BEGINS * begins;
}

static const struct finding *of_cache(const struct study *s, const char *cache, const char *what)
{

	const struct finding *f = study_finding(s, KEY("%s.%s", cache, what));
	return f && (f->verdict == VERDICT_MEASURED || f->verdict == VERDICT_BOUND) ? f : NULL;
}

static bool alike(const struct study *s, const char *what)
{
	const struct finding *own = of_cache(s, prefix, what), *other = of_cache(s, "cache.global.l1", what);

	return own && other && own->verdict == other->verdict && own->lo == other->lo && own->hi == other->hi;
}

/* Allows for room between lanes' words that no lane can ask for: the cache would hold more than a warp can see. There
 * is none if the cache is as another path sees one. Otherwise sizes counted in bytes are the least that they may be. */
static void allow_for_gaps(struct study *s)
{
	static const char *const what[] = {"size", "line", "sector"};

	if (alike(s, "size") || (alike(s, "line") && alike(s, "sector")))
		return;
	for (size_t i = 0; i < sizeof(what) / sizeof(what[0]); i++) {
		const struct finding *f = of_cache(s, prefix, what[i]);
		if (!f || f->verdict != VERDICT_MEASURED)
			continue;
		const double least = f->value.number;
		study_bound(s, KEY("%s.%s", prefix, what[i]), least, INFINITY,
			    "of what a warp's local memory fills, if it lies without gaps", "chase",
			    "%.0f bytes if words of a warp lie without gaps, which no other path confirms", least);
	}
}

static void study_local_cache(struct study *s)
{
	const struct device_info *d = study_device(s);
	const uint64_t reach = chase_translated(s, "global"), most = d->memory_bytes / PAST_PART;
	struct chase_path c = {.study = s,
			       .chase = LOCAL_CHASE,
			       .lap = LOCAL_CHASE,
			       .limit = thread_bytes(s, OWN) * d->warp_size,
			       .reach = reach == UINT64_MAX ? 0 : reach,
			       .word = 4,
			       .room = chase_room(d, true),
			       .first_only = true},
			  past = c, wide = c;
	struct chase_run walk[2], beyond[2];
	double l2;

	past.kind = past.lap_kind = PAST_L1;
	past.limit = most && most < CHASE_NEAR_LIMIT ? most : CHASE_NEAR_LIMIT;
	past.word = 8;
	past.beyond_sm = true;
	wide.kind = wide.lap_kind = WIDE;
	wide.limit = thread_bytes(s, WIDE) * d->warp_size;
	wide.beyond_sm = true;
	wide.first_only = false;

	if (d->cc < LEAST_CC)
		return say(s, VERDICT_UNSUPPORTED, "loads of this device cannot pass by a cache");
	if (reach < CHASE_LIMIT_LEAST)
		return say(s, VERDICT_INCONCLUSIVE,
			   "the first TLB reaches too little for a walk, and its misses look like a cache's");
	const enum chase_state a = chase_walk(&c, walk), b = chase_walk(&past, beyond);
	if (a == CHASE_PENDING || b == CHASE_PENDING)
		return;
	if (a == CHASE_UNDECIDED || b == CHASE_UNDECIDED)
		return say(s, VERDICT_INCONCLUSIVE, a == CHASE_UNDECIDED ? c.why : past.why);
	/* A cache of the SM is as fast as nothing that answers a load which passes by all of them. What is as slow is one of those behind, a
	 * few cycles more are those of the lanes that wait. */
	const enum chase_side side = chase_side_of(&c, &past);
	const bool common = side == CHASE_AS_FAR;
	if (side == CHASE_UNTOLD)
		return say(s, VERDICT_INCONCLUSIVE, chase_untold_why);
	if (common && !study_number(s, "cache.global.l2.size", &l2))
		return say(s, VERDICT_INCONCLUSIVE,
			   "local memory is no faster than loads past the L1, and the size of what those ask is not "
			   "known");
	if (common && TIMES * l2 > (double)wide.limit)
		return say(s, VERDICT_INCONCLUSIVE,
			   "local memory is no faster than loads past the L1; what those ask is larger than any local "
			   "memory of a warp that overflows for sure");
	if (common) {
		c = wide;
		if (chase_walk(&c, walk) == CHASE_PENDING)
			return;
	}
	const enum chase_state surveyed = chase_survey(&c);
	if (surveyed == CHASE_PENDING)
		return;
	if (surveyed == CHASE_UNDECIDED || c.level_count < 2)
		return say(s, VERDICT_INCONCLUSIVE, surveyed == CHASE_UNDECIDED ? c.why : "no footprint makes it miss");
	if (c.level[0].sector.state == CHASE_DONE && !side_by_side(&c, &walk[0]))
		return say(
		    s, VERDICT_INCONCLUSIVE,
		    "in the order of local addresses and, at one of them, of lanes, words do not lie side by side");
	chase_geometry(&c, 0);
	if (!common && !study_pending(s))
		chase_lent(&c, BARE, chase_room(d, false));
	if (study_pending(s))
		return;
	bool sure;
	if (common && chase_rows_level(&c, &sure) == 0)
		return say(s, VERDICT_INCONCLUSIVE, chase_rows_why);
	if (common && !chase_common_l2(s, &c.level[0]))
		return say(s, VERDICT_INCONCLUSIVE,
			   "local memory is no faster than loads past the L1, and its trace does not show an L2 of "
			   "the size that those found");
	chase_conclude_geometry(&c, 0, prefix);
	if (!common)
		allow_for_gaps(s);
}

static const char *const claims[] = {"cache.local.l1.size",
				     "cache.local.l1.line",
				     "cache.local.l1.sector",
				     "cache.local.l1.ways",
				     "cache.local.l1.sets",
				     "cache.local.l1.set_sizes",
				     NULL};
static const char *const needs[] = {"clock", "tlb", "global_cache", NULL};

const struct probe probe_local_cache = {
    .name = "local_cache",
    .asks = "What are size, line, ways and sets of the cache that local memory asks first?",
    .source = "Mei 2014, 2 and 3.2: the local path of its Table 1, by single accesses. That a warp follows the "
	      "ring, so that no word between those of one thread is left out, is ours",
    .how = "A warp's local memory holds a ring. The lane that has the word makes each access, timed, while the "
	   "others wait to be told where the ring goes on. Words of one local address are taken to lie side by "
	   "side, lane after lane. If they do not, misses lie on no grid, and nothing is concluded. Footprints "
	   "grow until lines miss, and one line more than fits shows what it evicts.",
    .fooled = "No cache of the SM on this path: local memory is then no faster than loads past the L1, and what is "
	      "traced is the L2. Of that something is said only if a warp's local memory is larger. It then has to "
	      "overflow as loads past the L1 found. A cache in one piece with shared memory: where a launch "
	      "without any finds more, the size is BOUND. Room between the words of a warp that none of its lanes "
	      "can ask for: size, line and sector are BOUND, unless they are those of plain loads.",
    .needs = needs,
    .claims = claims,
    .experiments = experiments,
    .experiment_count = sizeof(experiments) / sizeof(experiments[0]),
    .study = study_local_cache,
};
