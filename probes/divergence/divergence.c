/* How many neighbouring threads have to go one way: Lemeire's Fig. 5. */
#include "probe/launch_time.h"
#include "probe/probe.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { P_LINKS, P_ROUNDS, P_REPEATS, P_THREADS };
enum { CLOCK_WORDS = 2, WAYS = 4, FEW = 16, MANY = 48, BLOCK = 512, STEPS_MOST = 10 };

#define EQUAL 1.25 /* times of which neither way is longer */
#define TWICE 1.5  /* half as many threads together make it at least so much longer: two ways, one after the other */

static const char key[] = "branch.divergence.items";

static unsigned block_of(const struct device_info *d)
{
	return d->max_threads_per_block < BLOCK ? d->max_threads_per_block : BLOCK;
}

static int setup(const struct study *s, double x, const double *p, struct job *j)
{
	(void)s;
	j->template_path = "probes/divergence/part.ptx";
	job_param(j, "CONV", (long long)x);
	job_param(j, "LINKS", (long long)p[P_LINKS]);
	snprintf(j->launch.entry, sizeof j->launch.entry, "part");
	j->launch.block[0] = (unsigned)p[P_THREADS];
	j->launch.buffers[0] =
	    (struct launch_buffer){.space = BUFFER_GLOBAL, .bytes = 16, .output = true, .output_words = CLOCK_WORDS};
	j->launch.buffer_count = 1;
	job_arg_buffer(j, 0, 0);
	job_arg_u32(j, (uint32_t)p[P_ROUNDS]);
	job_arg_u32(j, 0);
	job_arg_u32(j, 17);
	timed_job(j, p[P_REPEATS]);
	j->check.cls = NATIVE_ALU;
	j->check.min = WAYS * (unsigned)p[P_LINKS]; /* fewer: two ways were made one */
	j->check.max = UINT32_MAX;
	j->check.others = UINT32_MAX;
	return 0;
}

static const struct experiment experiments[] = {
    {.name = "part",
     .axis = "threads that go together",
     .unit = "count",
     .params = {"links", "rounds", "repeats", "threads"},
     .setup = setup},
};

static struct timed_pair pair_of(const struct study *s, unsigned together, unsigned threads)
{
	return (struct timed_pair){.x = together,
				   .p = {[P_THREADS] = threads},
				   .links_at = P_LINKS,
				   .rounds_at = P_ROUNDS,
				   .repeats_at = P_REPEATS,
				   .few = FEW,
				   .most = 9,
				   .quiet = 0.03,
				   .many = MANY,
				   .clock_hz = study_device(s)->clock_hz};
}

static void conclude(struct study *s, const double *ns, unsigned steps)
{
	double least = INFINITY;
	unsigned first = 0, all = 0;
	for (unsigned i = 0; i < steps; i++)
		least = fmin(least, ns[i]);
	for (unsigned i = steps; i-- > 0 && ns[i] <= EQUAL * least;)
		first = i;
	/* As long as all of every warp goes all ways, all warps do the same, whichever of them goes first. */
	while (all + 1 < steps && ns[all + 1] * EQUAL >= ns[0])
		all++;
	if (ns[steps - 1] > EQUAL * least)
		study_verdict(s, key, VERDICT_INCONCLUSIVE, "part",
			      "time does not fall to the end, with %u threads together", 1u << (steps - 1));
	else if (first == 0)
		study_verdict(s, key, VERDICT_ABSENT, "part",
			      "single threads go four ways as fast as groups of them do");
	else if (ns[first - 1] < TWICE * least)
		study_verdict(s, key, VERDICT_INCONCLUSIVE, "part",
			      "%u threads together take %.3g times as long as %u: neither as long nor twice as long",
			      1u << (first - 1), ns[first - 1] / least, 1u << first);
	else if (WAYS << all != 1 << first)
		study_verdict(s, key, VERDICT_INCONCLUSIVE, "part",
			      "groups of up to %u threads take as long as single ones, as in warps of %u, but the time "
			      "falls until "
			      "%u go together",
			      1u << all, WAYS << all, 1u << first);
	else
		study_measured_number(s, key, 1u << first, 1u << first, 1u << first, "card",
				      "run time of four ways against how many neighbours go together", "part",
				      "half as many take %.3g times as long, single threads %.3g times",
				      ns[first - 1] / least, ns[0] / least);
}

static void study(struct study *s)
{
	const unsigned block = block_of(study_device(s));
	const struct timed_pair one = pair_of(s, 1, WAYS);
	double ns[STEPS_MOST], timer;
	unsigned steps = 0;
	const char *why;
	const struct point *bad = NULL;
	bool all = true;
	if (!timed_timer(s, &one, &timer, &why)) {
		if (why)
			study_verdict(s, key, VERDICT_INCONCLUSIVE, "part", "%s", why);
		if (why || !study_ahead(s))
			return;
		timer = 0;
	}
	for (; 1u << steps <= block / WAYS && steps < STEPS_MOST; steps++) { /* as many threads on each way */
		const struct timed_pair k = pair_of(s, 1u << steps, block);
		const struct timed t = timed_ask(s, &k, timer);
		ns[steps] = t.ns;
		bad = t.bad ? t.bad : bad;
		all &= t.ok;
	}
	if (study_pending(s))
		return;
	if (bad)
		study_verdict(s, key, bad->outcome == OUTCOME_INVALID ? VERDICT_INCONCLUSIVE : VERDICT_UNSUPPORTED,
			      "part", "%s", point_why(bad));
	else if (!all || !steps)
		study_verdict(s, key, VERDICT_INCONCLUSIVE, "part", "run times of equal launches differ too much");
	else
		conclude(s, ns, steps);
}

static int draw(const struct study *s, struct figure_list *out)
{
	const struct series *series = study_series(s, 0);
	double x[STEPS_MOST], y[STEPS_MOST];
	size_t n = 0;
	struct figure *f =
	    figures_new(out, "divergence-items", "Run time of four ways against how many neighbours go together");
	if (!f)
		return -1;
	figure_key(f, "branch.divergence.items");
	f->x = (struct figure_axis){.label = "threads that go together", .unit = "count", .log2 = true};
	f->y = (struct figure_axis){.label = "run time", .unit = "us"};
	for (unsigned i = 0; series && i < STEPS_MOST; i++)
		for (size_t k = series->count; k-- > 0;) {
			const struct point *pt = &series->points[k];
			if (pt->outcome != OUTCOME_OK || pt->x != 1u << i || pt->p[P_LINKS] != MANY ||
			    pt->p[P_THREADS] <= WAYS)
				continue;
			x[n] = pt->x;
			y[n++] = timed_mean(NULL, pt) * 1e-3 / pt->p[P_ROUNDS];
			break;
		}
	return n && figure_add(f, "one round", MARK_LINE, x, y, NULL, n) ? -1 : 0;
}

static const char *const claims[] = {"branch.divergence.items", NULL};

const struct probe probe_divergence = {
    .name = "divergence",
    .asks = "How many neighbouring threads have to go the same way for a branch to cost nothing, seen from outside?",
    .source = "Lemeire 2016, V-D and Fig. 5; here powers of two, and the difference of two lengths instead of one "
	      "whole run time",
    .how = "Threads go one of four ways, in groups of 1, 2, 4 and so on neighbours. As long as a group is "
	   "smaller than what issues together, some have to wait for others. The least group from which on the "
	   "run time stays the same is what issues together.",
    .fooled = "A compiler that makes one way of two: each does another kind of operation, and those of the compiled "
	      "kernel are counted. "
	      "A device that runs work items one by one: nothing gets faster, and there is no such number.",
    .figure = "divergence-items",
    .claims = claims,
    .experiments = experiments,
    .experiment_count = 1,
    .study = study,
    .draw = draw,
};
