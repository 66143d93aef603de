/* Partitions of the memory, if addresses find theirs by their bits alone.
 *
 * Words that are a multiple of all partitions' bytes apart lie in one partition, and come no faster than that one gives
 * them. The smallest such stride is partitions x interleave. A second place beside each of them is in another partition
 * once it is the interleave aside. All come twice as fast then.
 *
 * Addresses that are mixed before they choose have no such stride. Words of which each is another place show that. They
 * come about as fast at all strides, although the memory is what holds them up. */
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
	SPREAD = 9472,		 /* 37 x 256: places of all partitions */
	ROUND = THREADS * LOADS, /* words of a block's turn */
	ENOUGH = 16384,		 /* words, for which a launch takes far longer than for one */
	PAGE_STRIDE = 37 * 32,	 /* that has many places on a page */
	PART = 2		 /* of the memory that they may lie in */
};
enum { CAMP, ONCE };

static uint32_t blocks_of(const struct device_info *d)
{
	return d->sm_count < BLOCKS_MOST ? d->sm_count : BLOCKS_MOST;
}

struct camp {
	uint32_t blocks, turns;
	uint64_t bytes; /* of the buffer */
	double stride, aside;
	uint64_t ahead, apart; /* from one load's place, or block's, to the next */
};

static int set_camp(const struct study *s, struct job *j, const struct camp *c)
{
	j->template_path = "probes/partitions/camp.ptx";
	job_param(j, "LOADS", LOADS);
	job_param_text(j, "LOAD", study_device(s)->cc >= 20 ? "ld.global.cg.u32" : "ld.global.u32");
	snprintf(j->launch.entry, sizeof j->launch.entry, "camp");
	j->launch.grid[0] = c->blocks;
	j->launch.block[0] = THREADS;
	job_output(j, BLOCK_WORDS * c->blocks);
	const uint32_t data = j->launch.buffer_count++;
	j->launch.buffers[data] = (struct launch_buffer){.bytes = c->bytes, .align = 1u << 21, .as_is = true};
	job_arg_buffer(j, data, 0);
	job_arg_u32(j, (uint32_t)c->stride);
	job_arg_u32(j, (uint32_t)c->aside);
	job_arg_u32(j, c->turns);
	j->launch.args[j->launch.arg_count++] = (struct launch_arg){.kind = ARG_U64, .bits = c->ahead};
	j->launch.args[j->launch.arg_count++] = (struct launch_arg){.kind = ARG_U64, .bits = c->apart};
	j->launch.repeats = TRIALS;
	j->launch.warmups = 1;
	j->check.cls = NATIVE_LOAD_GLOBAL;
	j->check.region = 0;
	j->check.min = j->check.max = LOADS;
	j->check.others = 8 * LOADS;
	return 0;
}

/* x: bytes from one place to the next; p[0]: bytes that every second warp's places are aside; p[1]: turns; p[2]: which of several alike. */
static int setup(const struct study *s, double x, const double *p, struct job *j)
{
	const struct device_info *d = study_device(s);
	/* One buffer for all strides: it begins at the first partition for all of them, wherever that is. */
	const struct camp c = {.blocks = blocks_of(d),
			       .turns = (uint32_t)p[1],
			       .bytes = (uint64_t)LANES * COARSE * (2 * ODDS),
			       .stride = x,
			       .aside = p[0]};
	return set_camp(s, j, &c);
}

/* Turns of blocks that read each place once. They are as many as are enough, but places have to lie as far apart as
 * those of a period may. */
static uint32_t once_turns(const struct device_info *d)
{
	const double words = (double)ROUND * d->sm_count, most = (double)d->memory_bytes / PART / COARSE;
	return (uint32_t)fmax(1, floor(fmin(ENOUGH, most) / words));
}

/* Bytes from one place to the next, at most: places of an SM lie on few pages. Half a megabyte apart an H200 waited for translations. */
static double widest(const struct device_info *d)
{
	const double words = (double)ROUND * d->sm_count * once_turns(d);
	return fmin(2.0 * COARSE, floor((double)d->memory_bytes / PART / words));
}

/* Reads places that are x bytes apart once each. In p[0] is the number of blocks, in p[1] that of turns. If p[2] is not
 * 0, all loads are of the same places. */
static int setup_once(const struct study *s, double x, const double *p, struct job *j)
{
	const struct device_info *d = study_device(s);
	const struct camp c = {.blocks = (uint32_t)p[0],
			       .turns = (uint32_t)p[1],
			       .bytes = (uint64_t)(widest(d) * ROUND * once_turns(d) * d->sm_count),
			       .stride = x,
			       .aside = LANES * x,
			       .ahead = p[2] > 0 ? 0 : (uint64_t)(THREADS * x),
			       .apart = (uint64_t)((p[2] > 0 ? THREADS : ROUND * p[1]) * x)};
	j->launch.flush = true;
	return set_camp(s, j, &c);
}

static const struct experiment experiments[] = {
    [CAMP] = {.name = "camp", .axis = "stride", .unit = "bytes", .params = {"aside", "turns"}, .setup = setup},
    [ONCE] = {.name = "once",
	      .axis = "stride",
	      .unit = "bytes",
	      .params = {"blocks", "turns", "again"},
	      .setup = setup_once},
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
		const struct point *pt = study_ask(s, CAMP, stride, p);
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
#define SLOWER 1.3  /* times as many cycles: more than those that any order of partitions makes */
/* Of the cycles that all SMs need, and half of them less: what they wait for is not their own. One of two partitions then takes 1.6 times as many. */
#define HALVED 0.7

/* ---- places that are read once ---- */

/* Cycles of so many blocks in so many turns, of other places each or of the same again; NAN: not known (yet). */
static double once(struct study *s, double stride, uint32_t blocks, uint32_t turns, bool again)
{
	const double p[POINT_PARAMS] = {blocks, turns, again};
	const struct point *pt = study_ask(s, ONCE, stride, p);
	double v[TRIALS], scratch[TRIALS];
	if (!pt || pt->outcome != OUTCOME_OK || pt->repeats != TRIALS)
		return NAN;
	for (unsigned r = 0; r < TRIALS; r++)
		v[r] = longest(pt, r);
	return stat_median(v, TRIALS, scratch);
}

/* Whether the memory is what holds up words far apart, of which all SMs need so many cycles. Half of the SMs would need nearly as many for theirs
 * if the SMs were. Translations may take as many: on few pages, where they do not, one of two partitions would still need clearly more. A cache
 * gives words faster that pass all the same on their way to the SMs. */
static bool is_held_by_memory(struct study *s, double stride, double cycles)
{
	const struct device_info *d = study_device(s);
	const uint32_t all = d->sm_count, turns = once_turns(d);
	const double half = once(s, stride, all / 2, turns, false), close = once(s, PAGE_STRIDE, all, turns, false),
		     few = once(s, FINEST, all, SHORT_TURNS, true), many = once(s, FINEST, all, LONG_TURNS, true),
		     cached = turns * (many - few) / (LONG_TURNS - SHORT_TURNS),
		     steady = (cycles - half) * all / (all - all / 2), ends = cycles - steady; /* of a launch */
	return half < HALVED * cycles && ends + 2 * (close - ends) > SLOWER * cycles && SLOWER * cached < steady;
}

/* Whether words at no stride come slower than at one beside it, although the memory holds those up. One of two
 * partitions alone gives half. The first stride, if it tells, saves the others. */
static bool is_mixed(struct study *s, double *beside, double *least)
{
	const struct device_info *d = study_device(s);
	const double most = widest(d);
	const uint32_t all = d->sm_count, turns = once_turns(d);
	double slowest = 0, cycles = NAN;
	if (all < 2 || most < COARSE)
		return false;
	for (unsigned odd = 1; odd < 2 * ODDS; odd += 2) {
		double stride = odd * FINEST;
		while (2 * stride <= most)
			stride *= 2;
		if (odd == 1)
			cycles = once(s, stride - SPREAD / 2, all, turns, false);
		const double here = once(s, stride, all, turns, false);
		slowest = fmax(slowest, here);
		if (study_pending(s) || !(here < SLOWER * cycles) ||
		    (odd == 1 && !is_held_by_memory(s, stride - SPREAD / 2, cycles)))
			return false;
	}
	*beside = (double)all * turns * ROUND / cycles;
	*least = (double)all * turns * ROUND / slowest;
	return true;
}

/* No partition was found by those words that are read again and again, and why. */
static void study_none(struct study *s, const char *why)
{
	static const char *const keys[] = {"memory.partitions", "memory.partition_stride"};
	double beside, least;
	const bool mixed = is_mixed(s, &beside, &least);
	if (study_pending(s))
		return;
	for (unsigned k = 0; k < 2; k++)
		if (mixed)
			study_verdict(s, keys[k], VERDICT_ABSENT, "once",
				      "words come at %.3g a cycle at a stride that is no round number; at odd numbers "
				      "below %d, times powers of two up to %.0f bytes, at least at %.3g",
				      beside, 2 * ODDS, widest(study_device(s)), least);
		else
			study_verdict(s, keys[k], VERDICT_INCONCLUSIVE, "camp", "%s", why);
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
		study_none(s, one > 0 && isfinite(one)
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
		study_none(
		    s, "words at some strides come slower, but how far aside another partition begins was not seen");
		return;
	}
	const bool dense = is_dense(s, step, one);
	if (study_pending(s))
		return;
	if (!dense) {
		study_none(
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
	   "them, and its words come slowest; the smallest such stride is partitions times piece. A second place "
	   "beside each word brings twice as many as soon as it is a piece aside. If no stride does so, words of which "
	   "each is another place are read: where they come as fast at all strides, addresses are mixed.",
    .fooled = "A cache that has the words: each of the others is read once, with caches emptied before. What SMs, "
	      "translations or the way to a cache let through: half of the SMs, words on fewer pages, and words that a "
	      "cache has say whether the memory is slower. Without a cache nothing is concluded of mixed addresses. "
	      "Banks and rows that slow a stride: rates have to be one and two times that of one partition, and all "
	      "together no more than so many times.",
    .claims = claims,
    .experiments = experiments,
    .experiment_count = sizeof experiments / sizeof *experiments,
    .study = study_partitions,
};
