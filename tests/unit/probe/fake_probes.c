/* Probes that the tests of the engine pursue instead of the real ones:
 *
 *   step     bisects for the edge of the null gpu's formula (100), concludes cache.global.l1.size and shared.latency
 *   child    needs step and reads its finding
 *   idle     concludes nothing
 *   endless  always asks for more
 *   picky    its setup refuses x = 1
 *   seer     takes two kernels for likely and asks for one of them later
 *   wordy    one long kernel that may hang
 *   heir     needs wordy and picky */
#include "null_gpu.h"
#include "probe/probe.h"
#include <errno.h>
#include <stdio.h>

atomic_uint null_thoughts;

static int setup_step(const struct study *s, double x, const double *p, struct job *j)
{
	j->template_path = "probes/clock/reads.ptx"; /* any text that expands */
	job_param(j, "READS", 2);
	job_param(j, "GAP", (long long)p[1]);
	snprintf(j->launch.entry, sizeof(j->launch.entry), "reads");
	j->launch.block[0] = 32;
	job_output(j, 4);
	job_pin(j, study_device(s), (uint32_t)p[0]);
	job_arg_u32(j, (uint32_t)x);
	j->launch.repeats = 3;
	j->check.cls = NATIVE_ALU;
	j->check.min = 8;
	return 0;
}

static const struct experiment step_experiments[] = {
    {.name = "step", .axis = "size", .unit = "bytes", .params = {"sm", "gap"}, .setup = setup_step},
};

static void study_step(struct study *s)
{
	double lo = 1, hi = 1000;
	atomic_fetch_add(&null_thoughts, 1);
	const double p[POINT_PARAMS] = {1, 2};
	const struct point *first = study_ask(s, 0, lo, p), *last = study_ask(s, 0, hi, p);

	if (!first || !last)
		return;
	if (first->outcome != OUTCOME_OK || last->outcome != OUTCOME_OK) {
		study_verdict(s, "cache.global.l1.size", VERDICT_INCONCLUSIVE, "step", "%s: %s",
			      outcome_name(first->outcome), first->message);
		return;
	}
	const uint32_t fast = first->y[2];
	while (hi - lo > 1) {
		double mid = (double)(int)((lo + hi) / 2);
		const struct point *pt = study_ask(s, 0, mid, p);
		if (!pt || pt->outcome != OUTCOME_OK)
			return;
		if (pt->y[2] == fast)
			lo = mid;
		else
			hi = mid;
	}
	study_measured_number(s, "cache.global.l1.size", lo, lo, lo, "sm", "bisection", "step:1,step", "edge at %g",
			      lo);
	study_measured_number(s, "cache.global.l1.bandwidth", 4, 4, 4, "sm", "one look", "step", "seen");
	study_measured_number(s, "shared.latency", fast, fast, fast, "sm", "one look", "step", "seen");
}

static int draw_step(const struct study *s, struct figure_list *out)
{
	const struct series *series = study_series(s, 0);
	double size;
	struct figure *f = figures_new(out, "step", "A step");
	double x[64], y[64];
	size_t n = 0;

	if (!f)
		return -ENOMEM;
	for (; series && n < series->count && n < 64; n++) {
		x[n] = series->points[n].x;
		y[n] = series->points[n].y ? series->points[n].y[2] : 0;
	}
	if (study_number(s, "cache.global.l1.size", &size))
		figure_note(f, true, size, "size");
	return figure_add(f, "cycles", MARK_POINTS, x, y, NULL, n);
}

static void study_child(struct study *s)
{
	double latency;

	if (study_number(s, "shared.latency", &latency))
		study_measured_number(s, "barrier.latency", latency + 1, latency, latency + 2, "sm", "sum", "",
				      "one more");
	else
		study_verdict(s, "barrier.latency", VERDICT_INCONCLUSIVE, "", "no latency of shared memory");
	study_bound(s, "branch.granularity", 8, __builtin_inf(), "none", "", "no smaller one was tried");
}

static void study_idle(struct study *s)
{
	(void)s;
}

static void study_endless(struct study *s)
{
	const double p[POINT_PARAMS] = {0, 2};

	for (long x = 0; x < 1000000000; x++) {
		if (!study_ask(s, 0, (double)x, p))
			return;
	}
}

static int setup_picky(const struct study *s, double x, const double *p, struct job *j)
{
	return x == 1 ? -ENOTSUP : setup_step(s, x, p, j);
}

static const struct experiment picky_experiments[] = {
    {.name = "pick", .axis = "size", .unit = "bytes", .params = {"sm", "gap"}, .setup = setup_picky},
};

static void study_picky(struct study *s)
{
	const double p[POINT_PARAMS] = {0, 3};
	const struct point *a = study_ask(s, 0, 1, p), *b = study_ask(s, 0, 2, p);

	if (study_pending(s) || !a || !b)
		return;
	study_verdict(s, "clock.scope", VERDICT_UNSUPPORTED, "pick:1", "%s; %s: %s", outcome_name(a->outcome),
		      outcome_name(b->outcome), a->message);
}

static void study_seer(struct study *s)
{
	const double now[POINT_PARAMS] = {0, 4}, next[POINT_PARAMS] = {0, 5}, never[POINT_PARAMS] = {0, 6};

	atomic_fetch_add(&null_thoughts, 1);
	study_expect(s, 0, 1, next);
	study_expect(s, 0, 1, never);
	const struct point *a = study_ask(s, 0, 1, now);
	if (!a)
		return;
	const struct point *b = study_ask(s, 0, 1, next);
	if (b)
		study_verdict(s, "clock.granularity", VERDICT_ABSENT, "step", "seen");
}

/* Nothing is asked of the last places before the first one is known, but where the device compiles they are expected meanwhile. */
static void study_scout(struct study *s)
{
	enum { PLACES = 12 }; /* more than are expanded by one thread */
	const double first[POINT_PARAMS] = {0, 7};
	const struct point *a = study_ask(s, 0, 1, first);
	bool all = true;

	if (!a && !study_ahead(s))
		return;
	for (unsigned i = 0; i < PLACES; i++) {
		const double p[POINT_PARAMS] = {0, 8 + i};
		all = study_ask(s, 0, 1, p) && all;
	}
	if (a && all)
		study_verdict(s, "clock.read_latency", VERDICT_ABSENT, "step", "seen");
}

static int setup_wordy(const struct study *s, double x, const double *p, struct job *j)
{
	j->launch.may_hang = true;
	return setup_step(s, x, p, j);
}

static const struct experiment wordy_experiments[] = {
    {.name = "word", .axis = "size", .unit = "bytes", .params = {"sm", "gap"}, .setup = setup_wordy},
};

static void study_wordy(struct study *s)
{
	const double p[POINT_PARAMS] = {0, 20000};

	if (study_ask(s, 0, 1, p))
		study_verdict(s, "shared.banks", VERDICT_ABSENT, "word", "seen");
}

static void study_heir(struct study *s)
{
	study_verdict(s, "shared.broadcast", VERDICT_ABSENT, "none", "nothing was left");
}

#define NAMES(...) ((const char *const[]){__VA_ARGS__, NULL})

static const struct probe step = {.name = "step",
				  .asks = "Where is the edge?",
				  .source = "none",
				  .claims = NAMES("cache.global.*", "shared.latency"),
				  .experiments = step_experiments,
				  .experiment_count = 1,
				  .study = study_step,
				  .draw = draw_step};
static const struct probe child = {.name = "child",
				   .asks = "What comes after?",
				   .source = "none",
				   .needs = NAMES("step"),
				   .claims = NAMES("barrier.latency", "branch.*"),
				   .study = study_child};
static const struct probe idle = {.name = "idle",
				  .asks = "Nothing?",
				  .source = "none",
				  .claims = NAMES("barrier.counts", "barrier.timeout"),
				  .study = study_idle};
static const struct probe endless = {.name = "endless",
				     .asks = "When?",
				     .source = "none",
				     .claims = NAMES("tlb.page_size"),
				     .experiments = step_experiments,
				     .experiment_count = 1,
				     .study = study_endless};
static const struct probe picky = {.name = "picky",
				   .asks = "Which?",
				   .source = "none",
				   .claims = NAMES("clock.scope"),
				   .experiments = picky_experiments,
				   .experiment_count = 1,
				   .study = study_picky};
static const struct probe seer = {.name = "seer",
				  .asks = "What will it be?",
				  .source = "none",
				  .claims = NAMES("clock.granularity"),
				  .experiments = step_experiments,
				  .experiment_count = 1,
				  .study = study_seer};
static const struct probe wordy = {.name = "wordy",
				   .asks = "How long?",
				   .source = "none",
				   .claims = NAMES("shared.banks"),
				   .experiments = wordy_experiments,
				   .experiment_count = 1,
				   .study = study_wordy};
static const struct probe heir = {.name = "heir",
				  .asks = "What is left?",
				  .source = "none",
				  .needs = NAMES("picky", "wordy"),
				  .claims = NAMES("shared.broadcast"),
				  .study = study_heir};
static const struct probe scout = {.name = "scout",
				   .asks = "What lies ahead?",
				   .source = "none",
				   .claims = NAMES("clock.read_latency"),
				   .experiments = step_experiments,
				   .experiment_count = 1,
				   .study = study_scout};
/* child stands before the probe that it needs, so that the plan has something to do */
const struct probe *const probe_table[] = {&child, &step, &idle, &endless, &picky, &seer, &wordy, &heir, &scout};
const size_t probe_count = sizeof(probe_table) / sizeof(probe_table[0]);
