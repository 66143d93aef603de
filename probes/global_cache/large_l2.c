/* An L2 that is too large to be walked by one thread. */
#include "large_l2.h"
#include "base/arena.h"
#include "base/rng.h"
#include "data/native_record.h"
#include "judge/house.h"
#include "stat/stat.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { HEAD = 8, SAMPLES = 1024, GRID = 128, SEEDS = 3, PASSES = 2, STEPS_PER_OCTAVE = 8, SPARSE = 7 };
#define SMALL	(256.0 * 1024)
#define LARGEST (256.0 * 1024 * 1024)
#define FIRST	(1024.0 * 1024)
#define CLEARLY 0.05 /* of the samples miss: more than by what page happens to lie where */

int sweep_setup(const struct study *s, double x, const double *p, struct job *j, const char *load, const char *fill)
{
	const struct device_info *d = study_device(s);
	uint64_t grid = p[SWEEP_STRIDE] > GRID ? (uint64_t)p[SWEEP_STRIDE] : GRID, lines = (uint64_t)(x / (double)grid);
	uint32_t n = lines < SAMPLES ? (uint32_t)lines : SAMPLES;
	uint64_t *order = ARENA_ARRAY(j->arena, n, uint64_t);
	struct rng r;

	if (!order)
		return -ENOMEM;
	/* One line at random from each of n equal spans, in shuffled order: distinct, and no stride. */
	rng_seed(&r, (uint64_t)p[SWEEP_SEED] + 1);
	for (uint32_t i = 0; i < n; i++) {
		uint64_t from = lines * i / n, to = lines * (i + 1) / n;
		order[i] = (from + rng_below(&r, to - from)) * grid;
	}
	rng_shuffle(&r, order, n);
	j->template_path = "probes/global_cache/global_sweep.ptx";
	job_param_text(j, "LOAD", load);
	job_param_text(j, "FILL", fill);
	snprintf(j->launch.entry, sizeof(j->launch.entry), "sweep");
	j->launch.block[0] = d->max_threads_per_block;
	j->launch.block[1] = j->launch.block[2] = 1;
	j->launch.shared_bytes = 8 * n;
	job_output(j, HEAD + 2 * n);
	job_pin(j, d, (uint32_t)p[SWEEP_SM]);
	uint32_t b = job_ring(j, BUFFER_GLOBAL, NULL, (uint64_t)x, order, n, 8);
	job_arg_buffer(j, b, 0);
	struct launch *l = &j->launch;
	l->args[l->arg_count++] = (struct launch_arg){.kind = ARG_U64, .bits = (uint64_t)x};
	job_arg_u32(j, (uint32_t)p[SWEEP_STRIDE]);
	job_arg_u32(j, (uint32_t)p[SWEEP_PASSES]);
	job_arg_buffer(j, b, order[0]);
	job_arg_u32(j, n);
	j->check.cls = NATIVE_LOAD_GLOBAL;
	j->check.region = 0;
	j->check.min = j->check.max = 1;
	j->check.others = 12;
	return 0;
}

/* In the order of the visits. */
static enum chase_state sample(struct study *s, unsigned experiment, double footprint, uint64_t unit, unsigned seed,
			       struct large_sample *out, struct large_l2 *l)
{
	const double p[POINT_PARAMS] = {(double)unit, PASSES, seed, 0};
	const struct point *pt = study_ask(s, experiment, footprint, p);

	if (!pt) {
		snprintf(l->why, sizeof(l->why), "a point that is needed was not measured");
		return study_pending(s) ? CHASE_PENDING : CHASE_UNDECIDED;
	}
	if (pt->outcome != OUTCOME_OK || pt->words_per_repeat <= HEAD || pt->y[2] != 0)
		return CHASE_WHY(l->why, "a sweep over %.0f bytes %s%.100s", footprint,
				 pt->outcome == OUTCOME_OK ? "did not follow its ring" : "failed: ", pt->message);
	out->n = (pt->words_per_repeat - HEAD) / 2;
	out->ticks = ARENA_ARRAY(study_arena(s), 2 * out->n, double);
	if (!out->ticks)
		return CHASE_WHY(l->why, "out of memory");
	out->scratch = out->ticks + out->n;
	for (size_t i = 0; i < out->n; i++)
		out->ticks[i] = (uint32_t)(pt->y[HEAD + 2 * i + 1] - pt->y[HEAD + 2 * i]);
	return CHASE_DONE;
}

enum chase_state large_sample(struct study *s, unsigned experiment, double footprint, uint64_t unit, unsigned seed,
			      struct large_sample *out, struct large_l2 *l)
{
	const enum chase_state state = sample(s, experiment, footprint, unit, seed, out, l);

	if (state == CHASE_DONE)
		qsort(out->ticks, out->n, sizeof(double), stat_compare_double);
	return state;
}

static double largest_of(const struct study *s, uint64_t limit)
{
	double quarter = (double)(study_device(s)->memory_bytes / 4);
	if ((double)limit < quarter)
		quarter = (double)limit;
	return quarter < LARGEST ? floor(quarter / GRID) * GRID : LARGEST;
}

enum chase_state large_check(struct study *s, unsigned experiment, struct large_l2 *out)
{
	struct large_sample small, big;

	out->largest = largest_of(s, out->limit);
	if (out->largest < 2 * SMALL) {
		out->overflows = false;
		return CHASE_DONE;
	}
	enum chase_state a = large_sample(s, experiment, SMALL, LARGE_UNIT, 0, &small, out),
			 b = large_sample(s, experiment, out->largest, LARGE_UNIT, 0, &big, out);
	if (a != CHASE_DONE)
		return a;
	if (b != CHASE_DONE)
		return b;
	out->near = stat_median(small.ticks, small.n, small.scratch);
	out->far = stat_median(big.ticks, big.n, big.scratch);
	out->overflows = out->far > 1.2 * out->near + 20;
	return CHASE_DONE;
}

/* Misses among the samples of all seeds at one footprint. */
static enum chase_state misses_at(struct study *s, unsigned experiment, double footprint, uint64_t unit, double limit,
				  unsigned *misses, unsigned *of, struct large_l2 *l)
{
	enum chase_state all = CHASE_DONE;

	*misses = *of = 0;
	for (unsigned seed = 0; seed < SEEDS; seed++) {
		struct large_sample w;
		enum chase_state state = sample(s, experiment, footprint, unit, seed, &w, l);
		if (state == CHASE_UNDECIDED)
			return state;
		if (state == CHASE_PENDING) {
			all = state;
			continue;
		}
		for (size_t i = 0; i < w.n; i++)
			*misses += w.ticks[i] > limit;
		*of += (unsigned)w.n;
	}
	return all;
}

enum chase_state large_misses(struct study *s, unsigned experiment, double footprint, uint64_t unit, struct large_l2 *l,
			      double *share)
{
	unsigned misses, of;
	const enum chase_state state = misses_at(s, experiment, footprint, unit, l->hit_limit, &misses, &of, l);

	*share = of ? (double)misses / of : 0;
	return state;
}

/* Whether the footprint overflows a TLB instead. Pages beyond a TLB's reach are as many however few of their lines are
 * touched. If that reach is not known, few lines of twice as much have to fit. */
static enum chase_state by_lines(struct study *s, unsigned experiment, double limit, double rate, struct large_l2 *out)
{
	double half = (double)(study_device(s)->memory_bytes / 2), footprint = fmin(2 * out->beyond, half);
	unsigned misses, of;

	if (out->limit != UINT64_MAX)
		return CHASE_DONE;
	enum chase_state state =
	    misses_at(s, experiment, floor(footprint / 4096) * 4096, SPARSE * GRID, limit, &misses, &of, out);
	if (state != CHASE_DONE || misses <= stat_binomial_limit(of, rate, JUDGE_CHANCE_ALONE))
		return state;
	out->pages = true;
	return CHASE_WHY(
	    out->why,
	    "every %uth line of %.0f bytes does not fit, and far fewer bytes did: pages beyond the reach of a TLB "
	    "would "
	    "do the same",
	    SPARSE, footprint);
}

double large_half_more(const struct large_l2 *l)
{
	return fmin(floor(1.5 * l->beyond / 4096) * 4096, l->largest);
}

static double footprint_of(unsigned step)
{
	return floor(FIRST * exp2(step / (double)STEPS_PER_OCTAVE) / 4096) * 4096;
}

/* Finds a footprint that fits for certain, *lo, and one that does not, *hi. At the size at which it begins to overflow,
 * some samples miss or none, by how the pages of this run lie. One step further some clearly do. *lo is two steps below
 * that, whether samples of the step between missed this time or not. */
static enum chase_state widen(struct study *s, unsigned experiment, uint64_t unit, double limit, double rate,
			      unsigned *lo, unsigned *hi, struct large_l2 *out)
{
	unsigned misses, of;
	enum chase_state state = misses_at(s, experiment, footprint_of(*hi), unit, limit, &misses, &of, out);

	if (state != CHASE_DONE)
		return state;
	if (misses < CLEARLY * of && footprint_of(*hi + 1) <= out->largest) {
		++*hi;
		return CHASE_DONE;
	}
	for (unsigned step = 0; step < 2 && *lo; step++) {
		--*lo;
		state = misses_at(s, experiment, footprint_of(*lo), unit, limit, &misses, &of, out);
		if (state != CHASE_DONE || misses <= stat_binomial_limit(of, rate, JUDGE_CHANCE_ALONE))
			return state;
	}
	return CHASE_DONE;
}

enum chase_state large_size(struct study *s, unsigned experiment, uint64_t unit, struct large_l2 *out)
{
	struct large_sample small;
	unsigned noise, of, misses;
	enum chase_state state = large_sample(s, experiment, SMALL, unit, 0, &small, out);

	if (state != CHASE_DONE)
		return state;
	double high = stat_quantile(small.ticks, small.n, 0.99, small.scratch),
	       limit = high + fmax(20, 0.1 * out->near);
	out->hit_limit = limit;
	out->hit = 0;
	for (size_t i = 0; i < small.n; i++)
		out->hit += small.ticks[i] / (double)small.n;
	state = misses_at(s, experiment, SMALL, unit, limit, &noise, &of, out);
	if (state != CHASE_DONE)
		return state;
	double rate = (noise + 1.0) / of;
	/* The largest footprint overflows by its median; so it has to by this measure, or the small one has misses of its own. */
	struct large_sample big;
	state = large_sample(s, experiment, out->largest, LARGE_UNIT, 0, &big, out);
	if (state != CHASE_DONE)
		return state;
	misses = 0;
	for (size_t i = 0; i < big.n; i++)
		misses += big.ticks[i] > limit;
	if (misses <= stat_binomial_limit((unsigned)big.n, rate, JUDGE_CHANCE_ALONE)) {
		out->pages = true;
		return CHASE_WHY(
		    out->why,
		    "%.0f bytes take longer than %.0f, but no access takes longer than the slowest there: both miss "
		    "something, as a TLB that reaches less",
		    out->largest, SMALL);
	}
	/* Steps of an eighth of an octave: the last one that holds, by bisection. */
	unsigned lo = 0, hi = (unsigned)floor(STEPS_PER_OCTAVE * log2(out->largest / FIRST));
	while (hi - lo > 1) {
		unsigned mid = (lo + hi) / 2;
		state = misses_at(s, experiment, footprint_of(mid), unit, limit, &misses, &of, out);
		if (state != CHASE_DONE)
			return state;
		if (misses > stat_binomial_limit(of, rate, JUDGE_CHANCE_ALONE))
			hi = mid;
		else
			lo = mid;
	}
	state = widen(s, experiment, unit, limit, rate, &lo, &hi, out);
	if (state != CHASE_DONE)
		return state;
	out->fits = footprint_of(lo);
	out->beyond = footprint_of(hi);
	state = by_lines(s, experiment, limit, rate, out);
	if (state != CHASE_DONE)
		return state;
	return CHASE_DONE;
}
