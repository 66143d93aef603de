/* Whole programs, whose answers are checked: how much work a second they do. */
#include "workloads.h"
#include "stat/stat.h"
#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PLACES = 3, REPEATS = 3, LIMIT_MS = 20000 };
#define STEP_QUORUM 0.9	   /* times are rounded to whole nanoseconds */
enum { STEP_MOST = 4096 }; /* ns: what launches of some microseconds are timed by is no coarser */
enum { RUN, SIZES };
enum { PLACE = 100 };  /* from a workload's point to its next: the same program whose inputs lie elsewhere */
enum { APART = 2304 }; /* nine lines of 256 bytes: inputs that lay in the same sets lie in others at another place */

/* How many times the range of three values is the most that their mean is off, in 19 of 20 cases. Source: Lord, The use
 * of range in place of standard deviation in the t-test, Biometrika 34, 1947. */
static const double RANGES_OF_THREE = 1.304;
static const char WORK_OVER_TIME[] = "work over the time of a launch";

#define NEAR 1e-4 /* of the largest answer: what rounding and approximate roots may do to sums of hundreds */

const struct workload workload_table[] = {
    {"saxpy", "probes/workloads/saxpy.ptx", "saxpy", "floating-point operations", workload_saxpy},
    {"spmv", "probes/workloads/spmv.ptx", "spmv", "nonzeros", workload_spmv},
    {"spmv_cached", "probes/workloads/spmv.ptx", "spmv", "nonzeros", workload_spmv_cached},
    {"scan", "probes/workloads/scan.ptx", "scan", "elements", workload_scan},
    {"reduce", "probes/workloads/reduce.ptx", "reduce", "elements", workload_reduce},
    {"sort", "probes/workloads/sort.ptx", "sort", "elements", workload_sort},
    {"nbody_plain", "probes/workloads/nbody.ptx", "nbody", "floating-point operations", workload_nbody_plain},
    {"nbody", "probes/workloads/nbody.ptx", "nbody", "floating-point operations", workload_nbody},
    {"nbody_small", "probes/workloads/nbody.ptx", "nbody", "floating-point operations", workload_nbody_small},
    {"nbody_split", "probes/workloads/nbody.ptx", "nbody", "floating-point operations", workload_nbody_split},
    {"sgemm", "probes/workloads/sgemm.ptx", "sgemm", "floating-point operations", workload_sgemm},
    {"fft", "probes/workloads/fft.ptx", "fft", "floating-point operations", workload_fft},
};
enum { WORKLOADS = sizeof workload_table / sizeof *workload_table };
const unsigned workload_count = WORKLOADS;

/* The input, so many bytes from its buffer's begin on. */
static int place(struct job *j, const struct workload_input *in, uint32_t offset)
{
	uint8_t *data = offset ? ARENA_ARRAY(j->arena, in->bytes + offset, uint8_t) : NULL;
	if (offset && !data)
		return -ENOMEM;
	if (offset) {
		memset(data, 0, offset);
		memcpy(data + offset, in->data, in->bytes);
	}
	job_arg_buffer(j, j->launch.buffer_count, offset);
	j->launch.buffers[j->launch.buffer_count++] = (struct launch_buffer){
	    .bytes = in->bytes + offset, .init = offset ? data : in->data, .init_bytes = in->bytes + offset};
	return 0;
}

int workload_setup(const struct study *s, uint32_t which, uint32_t where, uint32_t size, struct job *j)
{
	const struct device_info *d = study_device(s);
	const struct workload *k = &workload_table[which];
	struct workload_problem w = {.size = size};
	int rc = k->prepare(&w, j->arena, d);
	if (rc)
		return rc;
	j->template_path = k->template_path;
	snprintf(j->launch.entry, sizeof j->launch.entry, "%s", k->entry);
	for (unsigned i = 0; i < w.param_count; i++)
		job_param(j, w.param[i].name, w.param[i].value);
	job_param_text(j, "FTZ", d->cc >= 20 ? ".ftz" : "");
	memcpy(j->launch.grid, w.grid, sizeof w.grid);
	memcpy(j->launch.block, w.block, sizeof w.block);
	job_output(j, w.words);
	j->launch.buffers[0].bytes = 4 * w.out_words;
	for (unsigned i = 0; rc == 0 && i < w.input_count; i++)
		rc = place(j, &w.input[i], where * (i + 1) * APART);
	for (unsigned i = 0; i < w.scalar_count; i++)
		j->launch.args[j->launch.arg_count++] = w.scalar[i];
	j->launch.compiled = true;
	j->launch.warmups = !size;
	j->launch.repeats = 1;
	j->launch.timed = SPAN_KERNELS;
	j->launch.time_limit_ms = LIMIT_MS;
	return rc;
}

/* x: which of the table, and PLACE times where its inputs lie. */
static int setup(const struct study *s, double x, const double *p, struct job *j)
{
	(void)p;
	return workload_setup(s, (uint32_t)x % PLACE, (uint32_t)x / PLACE, 0, j);
}

/* The first answer that is not what the host finds, or words. */
static uint32_t first_wrong(const struct workload_problem *w, const uint32_t *y)
{
	double largest = 0;
	assert(w->whole || w->real);
	for (uint32_t i = 0; w->real && i < w->words; i++)
		largest = fmax(largest, fabs(w->real[i]));
	for (uint32_t i = 0; i < w->words; i++) {
		float is;
		memcpy(&is, &y[i], sizeof is);
		if (w->whole ? y[i] != w->whole[i] : !(fabs((double)is - w->real[i]) <= NEAR * largest))
			return i;
	}
	return w->words;
}

/* What one program showed, at all places. */
struct shown {
	double rate[PLACES * REPEATS], lo, hi;
	size_t count;
	uint32_t launches, places;
};

bool workload_right(const struct workload_problem *w, const struct point *pt, char *why, size_t n)
{
	for (uint32_t r = 0; r < pt->repeats; r++) {
		const uint32_t *y = pt->y + (size_t)r * pt->words_per_repeat, i = first_wrong(w, y);
		float is;
		if (i == w->words)
			continue;
		memcpy(&is, &y[i], sizeof is);
		if (w->whole)
			snprintf(why, n, "word %u is %u and has to be %u", i, y[i], w->whole[i]);
		else
			snprintf(why, n, "word %u is %.7g and has to be %.7g", i, (double)is, w->real[i]);
		return false;
	}
	return true;
}

bool workload_ran(const struct point *pt, const struct workload_problem *w)
{
	return pt && pt->outcome == OUTCOME_OK && pt->repeats && pt->words_per_repeat == w->words + WORKLOAD_TIME_WORDS;
}

/* How long a repeat took. */
static uint64_t time_of(const struct point *pt, uint32_t repeat)
{
	const uint32_t *time = pt->y + (size_t)(repeat + 1) * pt->words_per_repeat - WORKLOAD_TIME_WORDS;
	return time[0] + ((uint64_t)time[1] << 32);
}

/* What all programs say of the launches' times. */
struct usual {
	double step; /* that the timer counts in, ns: nearly all times are multiples of it */
	/* of the times of one program's launches, as a part of the longest: that of half of the programs */
	double range;
};

static struct usual usual_of(const struct study *s)
{
	const struct series *v = study_series(s, RUN);
	uint64_t times[PLACES * REPEATS * WORKLOADS], least[WORKLOADS] = {0}, most[WORKLOADS] = {0};
	double range[WORKLOADS], scratch[WORKLOADS];
	size_t n = 0, programs = 0;
	for (size_t i = 0; v && i < v->count; i++) {
		const struct point *pt = &v->points[i];
		const unsigned of = (unsigned)pt->x % PLACE;
		if (pt->outcome != OUTCOME_OK || pt->words_per_repeat <= WORKLOAD_TIME_WORDS || of >= WORKLOADS)
			continue;
		for (uint32_t r = 0; r < pt->repeats && n < sizeof times / sizeof *times; r++) {
			const uint64_t time = times[n++] = time_of(pt, r);
			least[of] = !least[of] || time < least[of] ? time : least[of];
			most[of] = time > most[of] ? time : most[of];
		}
	}
	for (unsigned i = 0; i < WORKLOADS; i++)
		if (most[i])
			range[programs++] = (double)(most[i] - least[i]) / (double)most[i];
	return (struct usual){.step = (double)stat_gcd_robust(times, n, STEP_QUORUM, STEP_MOST),
			      .range = programs ? stat_median(range, programs, scratch) : 0};
}

static void add_rates(struct shown *v, const struct workload_problem *w, const struct point *pt)
{
	v->places++;
	v->launches += pt->repeats;
	for (uint32_t r = 0; r < pt->repeats && v->count < PLACES * REPEATS; r++) {
		const double ns = (double)time_of(pt, r);
		if (!(ns > 0))
			continue;
		v->rate[v->count++] = w->work / ns;
		v->lo = fmin(v->lo, w->work / ns);
		v->hi = fmax(v->hi, w->work / ns);
	}
}

/* Launches of one place find the caches as their like left them, and may take the same time for that alone. Of few launches that differ the range is
 * by chance less than what such launches differ by. A timer that counts in steps calls different times the same. */
static void conclude_rate(struct study *s, const char *key, const struct workload *k, double work,
			  const struct usual *u, const struct shown *v)
{
	double scratch[PLACES * REPEATS];
	const double rate = stat_median(v->rate, v->count, scratch), range = fmax(v->hi - v->lo, u->range * rate),
		     beside = RANGES_OF_THREE * range + u->step * rate * rate / work;
	if (v->count < v->launches || v->count < REPEATS)
		study_verdict(s, key, VERDICT_INCONCLUSIVE, "run", "%zu of %u launches have a time", v->count,
			      v->launches);
	else if (v->hi > v->lo || u->step > 1 || v->places < PLACES)
		study_likely_number(s, key, rate, fmax(rate - beside, 0), rate + beside, "card", WORK_OVER_TIME, "run",
				    "%.4g %s; the rates of %u launches, inputs at %u places, differ by %.2g %%", work,
				    k->unit_of_work, v->launches, v->places, 100 * (v->hi - v->lo) / rate);
	else
		study_measured_number(s, key, rate, v->lo, v->hi, "card", WORK_OVER_TIME, "run",
				      "%.4g %s, %u launches that take the same time, inputs at %u places", work,
				      k->unit_of_work, v->launches, v->places);
}

/* pt: PLACES of them; NULL: a record of an older program has not that place. */
static void conclude(struct study *s, const struct workload *k, const struct workload_problem *w, const struct usual *u,
		     const struct point *const *pt)
{
	struct shown v = {.lo = INFINITY};
	char rate[96], correct[96], why[160];
	bool right = true;
	snprintf(rate, sizeof rate, "workload.%s.rate", k->name);
	snprintf(correct, sizeof correct, "workload.%s.correct", k->name);
	for (unsigned i = 0; i < PLACES && right; i++)
		if (workload_ran(pt[i], w)) {
			right = workload_right(w, pt[i], why, sizeof why);
			add_rates(&v, w, pt[i]);
		}
	if (right)
		snprintf(why, sizeof why, "%u words of each of %u launches are what the host computes", w->words,
			 v.launches);
	study_text(s, correct, right ? "yes" : "no", "answers beside the host's", "run", "%s", why);
	if (right)
		conclude_rate(s, rate, k, w->work, u, &v);
	else
		study_verdict(s, rate, VERDICT_INCONCLUSIVE, "run", "the answers are wrong: %s", why);
}

static void study_workloads(struct study *s)
{
	const struct usual u = usual_of(s); /* of all of them, once all are there */
	workload_sizes_study(s, SIZES);
	for (unsigned i = 0; i < workload_count; i++) {
		const struct workload *k = &workload_table[i];
		const struct point *pt[PLACES];
		struct workload_problem w = {0};
		char key[96];
		for (unsigned n = 0; n < PLACES; n++)
			pt[n] = study_ask(s, RUN, n * PLACE + i, NULL);
		if (study_pending(s))
			continue;
		if (pt[0] && k->prepare(&w, study_arena(s), study_device(s)) == 0 && workload_ran(pt[0], &w)) {
			conclude(s, k, &w, &u, pt);
			continue;
		}
		const bool other = pt[0] && pt[0]->outcome == OUTCOME_OK && pt[0]->repeats;
		const enum verdict v =
		    pt[0] && pt[0]->outcome == OUTCOME_REFUSED ? VERDICT_UNSUPPORTED : VERDICT_INCONCLUSIVE;
		for (unsigned c = 0; c < 2; c++) {
			snprintf(key, sizeof key, "workload.%s.%s", k->name, c ? "correct" : "rate");
			study_verdict(s, key, v, "run", "%s",
				      other ? "the answers are of another size" : point_why(pt[0]));
		}
	}
}

static int draw_workloads(const struct study *s, struct figure_list *out)
{
	return workload_sizes_draw(s, RUN, SIZES, out);
}

static const struct experiment experiments[] = {
    [RUN] = {.name = "run", .axis = "workload", .unit = "number", .setup = setup, .thorough = true},
    [SIZES] = {.name = "sizes",
	       .axis = "size",
	       .unit = "count",
	       .params = {"workload"},
	       .setup = workload_sizes_setup,
	       .thorough = true},
};

static const char *const claims[] = {"workload.*", NULL};

const struct probe probe_workloads = {
    .name = "workloads",
    .asks = "How much work a second do whole programs do, and are their answers right?",
    .source =
	"Nickolls and Kirk, Graphics and Computing GPUs, B.3, B.7 and B.8; kernels of our own after its descriptions",
    .how = "Scaled vectors are added, sparse and dense matrices multiplied, bodies pulled by each other. Prefix "
	   "sums, a sum, sorted blocks and Fourier transforms are made. Inputs come from a fixed seed, and "
	   "their sizes from the number of SMs. The first answers of every launch are laid beside what the host "
	   "computes, and the work is divided by the launch's time. All is done "
	   "again with the inputs at two other places. Bodies, matrices and transforms of many sizes are "
	   "drawn.",
    .fooled = "Wrong answers: then there is no rate. A launch that is short beside what launching costs: its rate has "
	      "that in it. "
	      "Blocks that were left out further on: only the first answers are looked at.",
    .claims = claims,
    .experiments = experiments,
    .experiment_count = SIZES + 1,
    .figure = "nbody-bodies",
    .study = study_workloads,
    .draw = draw_workloads,
};
