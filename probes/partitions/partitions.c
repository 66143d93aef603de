/* Partitions of the memory, where addresses find theirs by their bits alone.
 *
 * Words that are a multiple of all partitions' bytes apart lie in one partition, and come no faster than that one gives them. The smallest such
 * stride is partitions x interleave; a second place beside each of them is in another partition, and all come twice as fast, as soon as it is
 * the interleave aside. */
#include "probe/probe.h"
#include "stat/stat.h"
#include <math.h>
#include <stdio.h>

enum {
	LANES = 32,
	THREADS = 64,
	LOADS = 8,
	SHORT_TURNS = 1,
	LONG_TURNS = 3,
	TRIALS = 3,
	BLOCKS_MOST = 64,
	BLOCK_WORDS = 4,
	COARSE = 32768, /* a multiple of it by the right odd number is one of all partitions */
	ODDS = 8,	/* 1, 3 ... 15 */
	FINEST = 128,
	SECTOR = 32,
	SPREAD = 9472 /* 37 x 256: places of all partitions */
};

static uint32_t blocks_of(const struct device_info *d)
{
	return d->sm_count < BLOCKS_MOST ? d->sm_count : BLOCKS_MOST;
}

/* x: bytes from one place to the next; p[0]: bytes that every second warp's places are aside; p[1]: turns; p[2]: which of several alike. */
static int setup(const struct study *s, double x, const double *p, struct job *j)
{
	const struct device_info *d = study_device(s);
	j->template_path = "probes/partitions/camp.ptx";
	job_param(j, "LOADS", LOADS);
	job_param_text(j, "LOAD", d->cc >= 20 ? "ld.global.cg.u32" : "ld.global.u32");
	snprintf(j->launch.entry, sizeof j->launch.entry, "camp");
	j->launch.grid[0] = blocks_of(d);
	j->launch.block[0] = THREADS;
	job_output(j, BLOCK_WORDS * blocks_of(d));
	const uint32_t data = j->launch.buffer_count++;
	/* One buffer for all strides: it begins at the first partition for all of them, wherever that is. */
	j->launch.buffers[data] =
	    (struct launch_buffer){.bytes = (uint64_t)LANES * COARSE * (2 * ODDS), .align = 1u << 21, .as_is = true};
	job_arg_buffer(j, data, 0);
	job_arg_u32(j, (uint32_t)x);
	job_arg_u32(j, (uint32_t)p[0]);
	job_arg_u32(j, (uint32_t)p[1]);
	j->launch.args[j->launch.arg_count++] = (struct launch_arg){.kind = ARG_U64};
	j->launch.repeats = TRIALS;
	j->launch.warmups = 1;
	j->check.cls = NATIVE_LOAD_GLOBAL;
	j->check.region = 0;
	j->check.min = j->check.max = LOADS;
	j->check.others = 8 * LOADS;
	return 0;
}

static const struct experiment experiments[] = {
    {.name = "camp", .axis = "stride", .unit = "bytes", .params = {"aside", "turns"}, .setup = setup},
};

/* Cycles of the longest block. */
static double longest(const struct point *pt, unsigned r)
{
	const uint32_t *w = pt->y + (size_t)r * pt->words_per_repeat;
	double most = 0;
	for (unsigned i = 0; i + BLOCK_WORDS <= pt->words_per_repeat; i += BLOCK_WORDS)
		most = fmax(most, (int32_t)(w[i + 1] - w[i]));
	return most;
}

/* Words a cycle of all SMs; 0: not known (yet). */
static double rate(struct study *s, double stride, double aside)
{
	double v[2][TRIALS], scratch[TRIALS];
	for (unsigned i = 0; i < 2; i++) {
		const double p[POINT_PARAMS] = {aside, i ? LONG_TURNS : SHORT_TURNS};
		const struct point *pt = study_ask(s, 0, stride, p);
		if (!pt || pt->outcome != OUTCOME_OK || pt->repeats != TRIALS) {
			v[i][0] = NAN;
			continue;
		}
		for (unsigned r = 0; r < TRIALS; r++)
			v[i][r] = longest(pt, r);
	}
	if (isnan(v[0][0]) || isnan(v[1][0]))
		return 0;
	const double cycles = stat_median(v[1], TRIALS, scratch) - stat_median(v[0], TRIALS, scratch);
	return cycles > 0 ? (LONG_TURNS - SHORT_TURNS) * LOADS * THREADS * blocks_of(study_device(s)) / cycles : 0;
}

#define ALIKE  1.08 /* times as fast: rates that are the same */
#define CAMPED 1.7  /* times as slow: one partition of at least two */

static void inconclusive(struct study *s, const char *why)
{
	study_verdict(s, "memory.partitions", VERDICT_INCONCLUSIVE, "camp", "%s", why);
	study_verdict(s, "memory.partition_stride", VERDICT_INCONCLUSIVE, "camp", "%s", why);
}

/* The smallest stride by which all words are of one partition; 0: not known (yet). */
static double period(struct study *s, double *one, double *all)
{
	double r[ODDS], first = 0;
	*one = INFINITY;
	*all = rate(s, SPREAD, 0);
	for (unsigned i = 0; i < ODDS; i++) {
		r[i] = rate(s, (2.0 * i + 1) * COARSE, 0);
		*one = fmin(*one, r[i]);
		*all = fmax(*all, r[i]);
	}
	if (study_pending(s) || !(*one > 0) || *all < CAMPED * *one)
		return 0;
	for (unsigned i = ODDS; i-- > 0;)
		if (r[i] < ALIKE * *one)
			first = (2.0 * i + 1) * COARSE;
	while (first / 2 >= FINEST) {
		const double next = rate(s, first / 2, 0);
		if (!(next > 0) || next >= ALIKE * *one)
			return next > 0 ? first : 0;
		first /= 2;
	}
	return 0;
}

/* The least that a second place is aside and in another partition; 0: not known (yet), or the rates have no one step. */
static double interleave(struct study *s, double whole, double one)
{
	double least = 0;
	bool steady = true;
	const unsigned places = whole >= 2 * FINEST ? 1 + (unsigned)floor(log2(whole / 2 / FINEST)) : 0;
	for (unsigned i = places; i-- > 0;)
		rate(s, whole, ldexp(FINEST, (int)i));
	for (unsigned i = 0; !study_pending(s) && i < places; i++) {
		const double aside = ldexp(FINEST, (int)i), r = rate(s, whole, aside);
		const bool other = r > CAMPED * one;
		steady &= other ? r < 2.2 * one : r < ALIKE * one && !least;
		if (other && !least)
			least = aside;
	}
	return steady ? least : 0;
}

/* Whether words within one piece come no faster than places in one partition: what slows those is not where they lie in it. A word moves a
 * transaction of its own, or one of 32 bytes all words in it. */
static bool is_dense(struct study *s, double step, double one)
{
	const double stride = fmin(step / LANES, SECTOR), r = rate(s, stride, 0) / one;
	return fabs(r - 1) < ALIKE - 1 || fabs(r * stride / SECTOR - 1) < ALIKE - 1;
}

static void study_partitions(struct study *s)
{
	static const char method[] = "strides by which all words are of one partition";
	double one, all;
	const double whole = period(s, &one, &all);
	if (study_pending(s))
		return;
	if (!(whole > 0)) {
		inconclusive(s, one > 0 && isfinite(one)
				    ? all < CAMPED * one
					  ? "words at no stride come slower: a cache has them, SMs ask for less than a "
					    "partition gives, or addresses are mixed"
					  : "words at some strides come slower, but no smallest one of them was found"
				    : "points are missing");
		return;
	}
	const double step = interleave(s, whole, one);
	if (study_pending(s))
		return;
	const double parts = step > 0 ? whole / step : 0;
	if (!(parts >= 2) || parts != floor(parts) || all > ALIKE * parts * one) {
		inconclusive(
		    s, "words at some strides come slower, but how far aside another partition begins was not seen");
		return;
	}
	const bool dense = is_dense(s, step, one);
	if (study_pending(s))
		return;
	if (!dense) {
		inconclusive(
		    s, "words at some strides come slower than those side by side: rows that are opened, or sets of a "
		       "cache, and not only a partition");
		return;
	}
	study_measured_number(s, "memory.partitions", parts, parts, parts, "card", method, "camp",
			      "words %.0f bytes apart come at %.3g a cycle, others at %.3g; with places %.0f bytes "
			      "aside at twice the former",
			      whole, one, all, step);
	study_measured_number(s, "memory.partition_stride", step, step, step, "card", method, "camp",
			      "all are of one partition %.0f bytes apart; those that are less than %.0f aside too",
			      whole, step);
}

static const char *const claims[] = {"memory.partitions", "memory.partition_stride", NULL};

const struct probe probe_partitions = {
    .name = "partitions",
    .asks = "Over how many partitions are the memory's addresses spread, and in which pieces?",
    .source = "Nickolls and Kirk, B.5; here strides find one partition, and places beside each other the piece",
    .how = "All SMs read words that are some number of bytes apart. A multiple of all partitions' pieces finds one of "
	   "them, and its "
	   "words come slowest; the smallest such stride is partitions times piece. A second place beside each word "
	   "brings twice as "
	   "many as soon as it is a piece aside.",
    .fooled = "A cache that has the words, or addresses that are mixed before they choose a partition: then no stride "
	      "is slower, and "
	      "nothing is concluded. Banks and rows that slow a stride: rates have to be one and two times that of one "
	      "partition, and "
	      "all together no more than so many times.",
    .claims = claims,
    .experiments = experiments,
    .experiment_count = sizeof experiments / sizeof *experiments,
    .study = study_partitions,
};
