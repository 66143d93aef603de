/* What happens when threads of a warp go different ways. */
#include "branch.h"
#include "base/rng.h"
#include "stat/stat.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { HEADER_WORDS = 2, LINKS = 48, PATHS = 8, ORDERS = 4, SPREADS = 9, THREAD_WORDS = 3, SPIN_MS = 200 };
enum { LANE_PATHS = 32, LANE_LINKS = 24, FLIPS = 3 };

/* ---- experiments ---- */

/* Launched again and again; whichever side stands first in the code has its own chain, and nothing of the other side. */
static void chain_between_reads(struct job *j, unsigned links)
{
	j->launch.repeats = 4;
	j->launch.warmups = 1;
	j->check.cls = NATIVE_ALU;
	j->check.region = 0;
	j->check.min = links;
	j->check.max = links + 2;
	j->check.others = 2;
}

/* x: lanes whose branch is taken, as a mask over groups of 2^p[0] threads; p[1]: threads of the block. */
static int setup_fork(const struct study *s, double x, const double *p, struct job *j)
{
	const uint32_t threads = (uint32_t)p[1];
	j->template_path = "probes/branch/fork.ptx";
	job_param(j, "N", LINKS);
	snprintf(j->launch.entry, sizeof j->launch.entry, "fork");
	j->launch.block[0] = threads;
	j->launch.block[1] = j->launch.block[2] = 1;
	job_output(j, HEADER_WORDS + THREAD_WORDS * threads);
	job_pin(j, study_device(s), 0);
	job_arg_u32(j, (uint32_t)x);
	job_arg_u32(j, (uint32_t)p[0]);
	chain_between_reads(j, LINKS);
	return 0;
}

/* Path of each group of lanes, four bits each: 0 = in turn, 1 = reversed, others drawn. */
static uint32_t permutation(const struct study *s, unsigned number)
{
	unsigned path[PATHS];
	uint32_t word = 0;
	struct rng r;
	rng_seed(&r, study_seed(s) + number);
	for (unsigned i = 0; i < PATHS; i++)
		path[i] = number == 1 ? PATHS - 1 - i : i;
	for (unsigned i = PATHS; number > 1 && i-- > 1;) {
		const unsigned k = (unsigned)rng_below(&r, i + 1), t = path[i];
		path[i] = path[k];
		path[k] = t;
	}
	for (unsigned i = 0; i < PATHS; i++)
		word |= (uint32_t)path[i] << 4 * i;
	return word;
}

/* x: number of the permutation. */
static int setup_ways(const struct study *s, double x, const double *p, struct job *j)
{
	const struct device_info *d = study_device(s);
	(void)p;
	j->template_path = "probes/branch/ways.ptx";
	job_param(j, "N", LINKS);
	job_param(j, "PATHS", PATHS);
	job_param(j, "FLIP", 0);
	snprintf(j->launch.entry, sizeof j->launch.entry, "ways");
	j->launch.block[0] = d->warp_size;
	j->launch.block[1] = j->launch.block[2] = 1;
	job_output(j, HEADER_WORDS + THREAD_WORDS * d->warp_size);
	job_pin(j, d, 0);
	job_arg_u32(j, permutation(s, (unsigned)x));
	chain_between_reads(j, LINKS);
	return 0;
}

/* x: bits of the lane's number that are flipped to give its path; p[0]: warps. */
static int setup_lanes(const struct study *s, double x, const double *p, struct job *j)
{
	const struct device_info *d = study_device(s);
	const uint32_t threads = (uint32_t)p[0] * d->warp_size;
	j->template_path = "probes/branch/ways.ptx";
	job_param(j, "N", LANE_LINKS);
	job_param(j, "PATHS", LANE_PATHS);
	job_param(j, "FLIP", 1);
	snprintf(j->launch.entry, sizeof j->launch.entry, "ways");
	j->launch.block[0] = threads;
	j->launch.block[1] = j->launch.block[2] = 1;
	job_output(j, HEADER_WORDS + THREAD_WORDS * threads);
	job_pin(j, d, 0);
	job_arg_u32(j, (uint32_t)x);
	chain_between_reads(j, LANE_LINKS);
	return 0;
}

/* x: form of the kernel. */
static int setup_spin(const struct study *s, double x, const double *p, struct job *j)
{
	const struct device_info *d = study_device(s);
	(void)p;
	j->template_path = "probes/branch/spin.ptx";
	job_param(j, "FORM", (long long)x);
	snprintf(j->launch.entry, sizeof j->launch.entry, "spin");
	j->launch.block[0] = d->warp_size;
	j->launch.block[1] = j->launch.block[2] = 1;
	job_output(j, HEADER_WORDS + 1);
	job_pin(j, d, 0);
	j->launch.time_limit_ms = SPIN_MS;
	j->launch.may_hang = true;
	return 0;
}

static const struct experiment experiments[BRANCH_EXPERIMENTS] = {
    [EXPERIMENT_FORK] = {.name = "fork",
			 .axis = "groups that take the branch",
			 .unit = "mask",
			 .params = {"log2 of threads in a group", "threads"},
			 .setup = setup_fork},
    [EXPERIMENT_WAYS] = {.name = "ways", .axis = "permutation", .unit = "number", .setup = setup_ways},
    [EXPERIMENT_LANES] = {.name = "lanes",
			  .axis = "bits of the lane's number flipped",
			  .unit = "mask",
			  .params = {"warps"},
			  .setup = setup_lanes},
    [EXPERIMENT_SPIN] = {.name = "spin", .axis = "form", .unit = "number", .setup = setup_spin},
    [EXPERIMENT_PART] = {.name = "part",
			 .axis = "warps",
			 .unit = "count",
			 .params = {"lanes that skip", "operations", "turns", "lanes cannot part"},
			 .setup = branch_part_setup},
};

/* ---- reading a launch ---- */

struct span { /* of one side of a branch, cycles since its launch's first read */
	bool any;
	uint32_t from, to;
};

static const uint32_t *thread_words(const struct point *pt, unsigned repeat, unsigned thread)
{
	return pt->y + (size_t)repeat * pt->words_per_repeat + HEADER_WORDS + (size_t)THREAD_WORDS * thread;
}

/* First and last clock value of each path over the threads from first on. */
static void spans_of(const struct point *pt, unsigned repeat, unsigned first, unsigned threads, struct span *out,
		     unsigned paths)
{
	/* relative to one thread of the launch, so that a counter that runs over does no harm */
	const uint32_t base = thread_words(pt, repeat, 0)[0] - (1u << 30);
	memset(out, 0, paths * sizeof *out);
	for (unsigned t = first; t < first + threads; t++) {
		const uint32_t *w = thread_words(pt, repeat, t);
		if (w[2] >= paths)
			continue;
		struct span *o = &out[w[2]];
		const uint32_t from = w[0] - base, to = w[1] - base;
		o->from = !o->any || from < o->from ? from : o->from;
		o->to = !o->any || to > o->to ? to : o->to;
		o->any = true;
	}
}

static bool apart(const struct span *a, const struct span *b)
{
	return a->to <= b->from || b->to <= a->from;
}

/* NULL: all there and OK; else why not. */
static const char *trouble(const struct point *const *pt, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (!pt[i] || pt[i]->outcome != OUTCOME_OK)
			return point_why(pt[i]);
	return NULL;
}

/* ---- one branch of one warp ---- */

static const uint32_t masks[] = {0x0000ffff, 0xffff0000, 0x000000ff, 0xffffff00, 0xff000000,
				 0x00ffffff, 0x55555555, 0xaaaaaaaa, 0x00000001, 0xfffffffe};
enum { MASKS = sizeof masks / sizeof *masks };

enum rule { RULE_TAKEN, RULE_FALLTHROUGH, RULE_FEWER, RULE_MORE, RULE_LOWEST, RULES };
static const char *const rule_names[RULES] = {"taken", "fallthrough", "fewer_threads", "more_threads", "lowest_thread"};

/* Whether the rule lets the taken side run first: 1 yes, 0 no, -1 it does not say. */
static int rule_says(enum rule r, uint32_t taken)
{
	const int lanes = __builtin_popcount(taken);
	switch (r) {
	case RULE_TAKEN:
		return 1;
	case RULE_FALLTHROUGH:
		return 0;
	case RULE_FEWER:
		return lanes == 16 ? -1 : lanes < 16;
	case RULE_MORE:
		return lanes == 16 ? -1 : lanes > 16;
	default:
		return taken & 1;
	}
}

static void study_fork(struct study *s)
{
	const unsigned warp = study_device(s)->warp_size;
	const struct point *pt[MASKS];
	for (unsigned i = 0; i < MASKS; i++) {
		const double p[POINT_PARAMS] = {0, warp};
		pt[i] = study_ask(s, EXPERIMENT_FORK, masks[i], p);
	}
	if (study_pending(s))
		return;
	const char *why = trouble(pt, MASKS);
	if (why) {
		study_verdict(s, "branch.divergence.serialised", VERDICT_INCONCLUSIVE, "fork", "%s", why);
		study_verdict(s, "branch.first_path", VERDICT_INCONCLUSIVE, "fork", "%s", why);
		return;
	}
	unsigned launches = 0, disjoint = 0, wrong[RULES] = {0};
	for (unsigned i = 0; i < MASKS; i++)
		for (unsigned r = 0; r < pt[i]->repeats; r++) {
			struct span side[2];
			spans_of(pt[i], r, 0, warp, side, 2);
			if (!side[0].any || !side[1].any)
				continue;
			launches++;
			disjoint += apart(&side[0], &side[1]);
			for (unsigned k = 0; k < RULES; k++) {
				const int says = rule_says((enum rule)k, masks[i]);
				wrong[k] += says >= 0 && says != (side[1].from < side[0].from);
			}
		}
	if (launches && (disjoint == launches || !disjoint))
		study_text(s, "branch.divergence.serialised", disjoint ? "yes" : "no",
			   "clock reads at both ends of both sides of a branch", "fork",
			   "in %u launches of one warp the two sides %s", launches,
			   disjoint ? "never overlapped in time" : "always overlapped in time");
	else
		study_verdict(s, "branch.divergence.serialised", VERDICT_INCONCLUSIVE, "fork",
			      "the two sides overlapped in time in %u of %u launches", launches - disjoint, launches);
	const char *left = NULL;
	unsigned n = 0;
	for (unsigned k = 0; k < RULES; k++)
		if (!wrong[k]) {
			left = rule_names[k];
			n++;
		}
	if (launches && n == 1 && disjoint == launches)
		study_text(
		    s, "branch.first_path", left, "which side's clock reads are earlier, over ten sets of lanes",
		    "fork",
		    "every other rule was contradicted in %u launches; taken is meant as the kernel's text says it, "
		    "which a compiler may turn round",
		    launches);
	else
		study_verdict(s, "branch.first_path", VERDICT_INCONCLUSIVE, "fork",
			      n ? "more than one rule explains which side came first"
				: "no single rule explains which side came first");
}

/* ---- groups of threads that alternate ---- */

static void study_groups(struct study *s)
{
	const struct device_info *d = study_device(s);
	const struct point *pt[SPREADS];
	unsigned n = 0, threads = 8 * d->warp_size;
	threads = threads > d->max_threads_per_block ? d->max_threads_per_block : threads;
	for (; n < SPREADS && 2u << n <= threads; n++) {
		const double p[POINT_PARAMS] = {n, threads};
		pt[n] = study_ask(s, EXPERIMENT_FORK, 0xaaaaaaaa, p);
	}
	if (study_pending(s))
		return;
	const char *why = trouble(pt, n);
	if (why) {
		study_verdict(s, "branch.divergence.warps_overlap", VERDICT_INCONCLUSIVE, "fork", "%s", why);
		study_verdict(s, "branch.granularity", VERDICT_INCONCLUSIVE, "fork", "%s", why);
		return;
	}
	/* Two neighbouring groups go different ways: from the size on at which they always overlap, a branch is free. */
	unsigned first = n;
	bool clean = true, seen = false;
	for (unsigned k = 0; k < n; k++) {
		unsigned both = 0, all = 0;
		for (unsigned r = 0; r < pt[k]->repeats; r++)
			for (unsigned g = 0; g + (2u << k) <= threads; g += 2u << k) {
				struct span a[2], b[2];
				spans_of(pt[k], r, g, 1, a, 2);
				spans_of(pt[k], r, g + (1u << k), 1, b, 2);
				const struct span *x = a[0].any ? &a[0] : &a[1], *y = b[0].any ? &b[0] : &b[1];
				if (!x->any || !y->any)
					continue;
				all++;
				both += !apart(x, y);
			}
		clean = clean && all && (both == 0 || both == all) && !(seen && !both);
		if (both && !seen) {
			seen = true;
			first = k;
		}
	}
	if (!clean) {
		study_verdict(s, "branch.divergence.warps_overlap", VERDICT_INCONCLUSIVE, "fork",
			      "neighbouring groups of threads overlap in time only sometimes");
		study_verdict(s, "branch.granularity", VERDICT_INCONCLUSIVE, "fork",
			      "neighbouring groups of threads overlap in time only sometimes");
		return;
	}
	study_text(s, "branch.divergence.warps_overlap", seen ? "yes" : "no",
		   "clock reads of neighbouring groups that go different ways", "fork",
		   seen ? "groups of %u threads and more overlap in time"
			: "no two groups of up to %u threads overlap in time",
		   seen ? 1u << first : threads / 2);
	if (seen && first)
		study_measured_number(
		    s, "device.warp_size", 1u << first, 1u << first, 1u << first, "",
		    "smallest groups of threads that go different ways at the same time", "fork",
		    "groups of %u threads run one path at a time, groups of %u do not wait for each other", 1u << first,
		    1u << first);
	else
		study_verdict(s, "device.warp_size", VERDICT_INCONCLUSIVE, "fork",
			      "groups of threads that run one path at a time were not told from others");
	if (seen && first)
		study_measured_number(s, "branch.granularity", 1u << first, 1u << first, 1u << first, "",
				      "smallest groups of threads that go different ways at the same time", "fork",
				      "groups of %u threads never overlap, groups of %u always", 1u << (first - 1),
				      1u << first);
	else if (seen)
		study_measured_number(s, "branch.granularity", 1, 1, 1, "",
				      "smallest groups of threads that go different ways at the same time", "fork",
				      "even single threads that go different ways overlap in time");
	else
		study_verdict(s, "branch.granularity", VERDICT_INCONCLUSIVE, "fork",
			      "no two groups of up to %u threads overlap in time", threads / 2);
}

/* ---- many ways, lanes in another order each time ---- */

static void study_ways(struct study *s)
{
	static const char key[] = "branch.order_depends_on_tid";
	const unsigned warp = study_device(s)->warp_size;
	const struct point *pt[ORDERS];
	for (unsigned i = 0; i < ORDERS; i++)
		pt[i] = study_ask(s, EXPERIMENT_WAYS, i, NULL);
	if (study_pending(s))
		return;
	const char *why = trouble(pt, ORDERS);
	if (why) {
		study_verdict(s, key, VERDICT_INCONCLUSIVE, "ways", "%s", why);
		return;
	}
	unsigned order[PATHS], launches = 0, differ = 0;
	bool whole = true, serial = true;
	for (unsigned i = 0; i < ORDERS; i++)
		for (unsigned r = 0; r < pt[i]->repeats; r++) {
			struct span way[PATHS];
			unsigned rank[PATHS];
			spans_of(pt[i], r, 0, warp, way, PATHS);
			for (unsigned k = 0; k < PATHS; k++) {
				rank[k] = 0;
				whole = whole && way[k].any;
				for (unsigned q = 0; q < PATHS; q++) {
					rank[k] += way[q].from < way[k].from;
					serial = serial && (q == k || apart(&way[q], &way[k]));
				}
			}
			if (launches++)
				differ += memcmp(rank, order, sizeof order) != 0;
			else
				memcpy(order, rank, sizeof order);
		}
	if (!whole || !serial)
		study_verdict(s, key, VERDICT_INCONCLUSIVE, "ways",
			      whole ? "the ways overlap in time, so they have no order" : "not every way was gone");
	else if (!differ)
		study_text(s, key, "no", "order of eight ways under four permutations of the lanes", "ways",
			   "in %u launches the ways came in one order, whichever lanes went there", launches);
	else
		study_text(s, key, "yes", "order of eight ways under four permutations of the lanes", "ways",
			   "in %u of %u launches the ways came in another order than in the first", differ, launches);
}

/* ---- every lane a way of its own ---- */

/* In order, in reverse, and neither: Wong's array c. */
static const uint32_t flips[FLIPS] = {0, 31, 10};

/* Wong, Fig. 7: two warps whose lanes all go different ways. */
static void study_lanes(struct study *s)
{
	static const char key[] = "branch.divergence.serialised";
	const double two[POINT_PARAMS] = {2}, one[POINT_PARAMS] = {1};
	const struct point *pt[FLIPS + 1] = {study_ask(s, EXPERIMENT_LANES, 0, two)};
	for (unsigned i = 0; i < FLIPS; i++)
		pt[i + 1] = study_ask(s, EXPERIMENT_LANES, flips[i], one);
	const struct finding *f = study_finding(s, key);
	if (study_pending(s) || !f || f->verdict != VERDICT_MEASURED || strcmp(f->value.text, "yes") != 0)
		return;
	unsigned pairs = 0, together = 0;
	for (unsigned i = 0; i <= FLIPS; i++)
		for (unsigned r = 0; pt[i] && pt[i]->outcome == OUTCOME_OK && r < pt[i]->repeats; r++) {
			struct span way[LANE_PATHS];
			spans_of(pt[i], r, 0, study_device(s)->warp_size, way, LANE_PATHS);
			for (unsigned a = 0; a < LANE_PATHS; a++)
				for (unsigned b = 0; b < a; b++)
					if (way[a].any && way[b].any) {
						pairs++;
						together += !apart(&way[a], &way[b]);
					}
		}
	if (together)
		study_verdict(s, key, VERDICT_INCONCLUSIVE, "fork, lanes",
			      "two sides of a branch never overlapped in time, but %u of %u pairs of 32 ways did",
			      together, pairs);
}

/* ---- lanes that wait for each other ---- */

static void study_spin(struct study *s)
{
	static const char key[] = "branch.independent_threads";
	const struct point *pt[3];
	for (unsigned i = 0; i < 3; i++)
		pt[i] = study_ask(s, EXPERIMENT_SPIN, i, NULL);
	if (study_pending(s))
		return;
	for (unsigned i = 0; i < 2; i++)
		if (!pt[i] || (pt[i]->outcome != OUTCOME_OK && !outcome_hangs(pt[i]->outcome))) {
			study_verdict(s, key, VERDICT_INCONCLUSIVE, "spin", "%s",
				      pt[i] && pt[i]->message[0] ? pt[i]->message : "points are missing");
			return;
		}
	const char *turns = !pt[2]			    ? "was not tried"
			    : pt[2]->outcome == OUTCOME_OK  ? "ends"
			    : outcome_hangs(pt[2]->outcome) ? "never ends"
							    : "could not be run";
	const unsigned stuck = outcome_hangs(pt[0]->outcome) + outcome_hangs(pt[1]->outcome);
	if (stuck == 2)
		study_verdict(s, key, VERDICT_INCONCLUSIVE, "spin",
			      "lanes that spin never see what another lane of their warp writes, on either side; a "
			      "spin with turns for every lane %s",
			      turns);
	else
		study_text(
		    s, key, stuck ? "no" : "yes", "lanes that spin on one side of a branch, waiting for the other side",
		    "spin",
		    stuck ? "the spin never ends when the side that falls through has to %s; one in which every lane "
			    "waits for its turn %s"
			  : "the spin ends on whichever side it %s; one in which every lane waits for its turn %s",
		    stuck ? (outcome_hangs(pt[0]->outcome) ? "end it" : "wait") : "is", turns);
}

static void study_branch(struct study *s)
{
	study_fork(s);
	study_groups(s);
	study_ways(s);
	study_lanes(s);
	branch_part(s);
	study_spin(s);
}

static const struct point *lanes_of(const struct study *s, uint32_t flip, unsigned warps)
{
	const struct series *series = study_series(s, EXPERIMENT_LANES);
	for (size_t i = 0; series && i < series->count; i++) {
		const struct point *pt = &series->points[i];
		if (pt->x == flip && pt->p[0] == warps && pt->outcome == OUTCOME_OK)
			return pt;
	}
	return NULL;
}

/* From when to when each of n threads from `first` on ran, against its number. */
static int draw_threads(struct figure *f, const struct point *pt, unsigned first, unsigned n, const char *name)
{
	double from[64], to[64], thread[64];
	uint32_t base = thread_words(pt, 0, 0)[0];
	const unsigned all = (pt->words_per_repeat - HEADER_WORDS) / THREAD_WORDS;
	n = n < 64 ? n : 64;
	for (unsigned t = 0; t < all; t++) {
		const uint32_t at = thread_words(pt, 0, t)[0];
		base = (int32_t)(at - base) < 0 ? at : base;
	}
	for (unsigned t = 0; t < n; t++) {
		from[t] = thread_words(pt, 0, first + t)[0] - base;
		to[t] = thread_words(pt, 0, first + t)[1] - base;
		thread[t] = first + t;
	}
	return figure_add(f, name, MARK_SPANS, from, thread, to, n);
}

static struct figure *timeline(struct figure_list *out, const char *name, const char *title)
{
	struct figure *f = figures_new(out, name, title);
	if (f) {
		f->x = (struct figure_axis){.label = "time", .unit = "cycles"};
		f->y = (struct figure_axis){.label = "thread"};
	}
	return f;
}

static int draw_branch(const struct study *s, struct figure_list *out)
{
	static const char *const orders[FLIPS] = {"in order", "in reverse", "bits 1 and 3 flipped"};
	const struct series *series = study_series(s, EXPERIMENT_WAYS);
	const unsigned warp = study_device(s)->warp_size;
	struct figure *f = NULL;
	if (series && series->count && series->points[0].outcome == OUTCOME_OK) {
		f = timeline(out, "branch-timeline", "Eight ways through a branch: when each lane runs");
		if (!f || draw_threads(f, &series->points[0], 0, warp, "a lane on its way"))
			return -1;
	}
	const struct point *two = lanes_of(s, 0, 2);
	if (two) {
		f = timeline(out, "branch-two-warps", "Two warps whose lanes all go different ways");
		if (f)
			figure_key(f, "branch.divergence.*");
		if (!f || draw_threads(f, two, 0, warp, "warp 0") || draw_threads(f, two, warp, warp, "warp 1"))
			return -1;
	}
	f = NULL;
	for (unsigned i = 0; i < FLIPS; i++) {
		const struct point *pt = lanes_of(s, flips[i], 1);
		if (!pt)
			continue;
		if (!f && (f = timeline(out, "branch-order",
					"A chain of branches: whose turn it is, for three permutations")))
			f->panels = true;
		if (!f || draw_threads(f, pt, 0, warp, orders[i]))
			return -1;
	}
	return 0;
}

static const char *const claims[] = {"branch.*", "device.warp_size", NULL};
static const char *const helped[] = {"residency", NULL};

const struct probe probe_branch = {
    .name = "branch",
    .asks = "What happens when threads of a warp go different ways?",
    .source = "Wong 2010, IV-C; here rules are dropped one by one, and a spin waits on either side of a branch",
    .how = "Lanes of one warp go two or eight ways, each with a chain of its own. Every lane leaves the times "
	   "when it entered and left its way. Whether the ways overlap, and in which order they run, is read "
	   "from these times over many masks and permutations. Each rule that a mask contradicts is dropped. "
	   "Kernels in which one lane spins until another lane has written tell whether lanes make progress "
	   "independently. A loop of branches at which all lanes stay, or every second one skips, tells what parting "
	   "costs "
	   "one warp. As many warps as a block holds tell what it costs a scheduler.",
    .fooled =
	"A compiler that turns the sides round: taken is meant as the kernel's text says it, which the "
	"finding adds. The chain of the side that stands first is counted in the native code. Rules that say "
	"the same: over ten sets of lanes every two of them differ somewhere. When more than one is left, "
	"none is named. An order or an overlap that only happens to be so: it has to be the same in every "
	"launch, else the finding is INCONCLUSIVE. A compiler that predicates what a branch skips: its branches are "
	"counted. Warps that wait for something else than each other's parting: times have to be those of a queue, and "
	"longer operations have to hide it.",
    .figure = "branch-timeline",
    .helped = helped,
    .claims = claims,
    .experiments = experiments,
    .experiment_count = BRANCH_EXPERIMENTS,
    .study = study_branch,
    .draw = draw_branch,
};
