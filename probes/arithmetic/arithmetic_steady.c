/* Throughput where warps do not share a pipe evenly. A scheduler that prefers some warps lets the others finish later, with
 * too few of them left to keep the pipe full, and a block's whole time tells too little of the pipe. So warps run many
 * short chains without waiting for each other, and what counts is how often one of them comes to an end while most of the
 * work is still to be done. */
#include "arithmetic_rows.h"
#include "base/arena.h"
#include "probe/probe.h"
#include "stat/stat.h"
#include <math.h>
#include <stdlib.h>

enum {
	ROUNDS = 40,	 /* of chains of a few links ... */
	ROUNDS_FEW = 12, /* ... and of long ones */
	LINKS = 64,	 /* of one instruction: so many that what is between two chains is little beside them */
	CHAINS = 2,
	HEADER_WORDS = 2,
	ROUND_WORDS = 2
};

#define FROM  0.15 /* of all ends: behind the beginning */
#define TO    0.55 /* before the first warps are done for good and a few remain */
#define AGREE 0.04

double arithmetic_evenness(const struct point *pt, unsigned warps, unsigned rounds)
{
	const uint32_t *w = pt->y + HEADER_WORDS + (size_t)ROUND_WORDS * warps * (rounds - 1);
	int32_t first = INT32_MAX, last = INT32_MIN, start = INT32_MAX;
	for (unsigned i = 0; i < warps; i++) {
		const int32_t from = (int32_t)(w[ROUND_WORDS * i] - w[0]),
			      to = (int32_t)(w[ROUND_WORDS * i + 1] - w[0]);
		start = from < start ? from : start;
		first = to < first ? to : first;
		last = to > last ? to : last;
	}
	return ((double)first - start) / fmax(1, (double)last - start);
}

/* Cycles from one end to the next, 0 when there are none. */
static double between_ends(struct study *s, const struct point *pt, unsigned warps, unsigned rounds)
{
	const size_t n = (size_t)rounds * warps;
	double *at = ARENA_ARRAY(study_arena(s), n, double), *number = ARENA_ARRAY(study_arena(s), n, double);
	double slope, intercept;
	if (!at || !number)
		return 0;
	for (size_t i = 0; i < n; i++) {
		at[i] = (int32_t)(pt->y[HEADER_WORDS + ROUND_WORDS * i + 1] - pt->y[HEADER_WORDS]);
		number[i] = (double)i;
	}
	qsort(at, n, sizeof *at, stat_compare_double);
	const size_t from = (size_t)(FROM * (double)n), to = (size_t)(TO * (double)n);
	return stat_line(number + from, at + from, to - from, &slope, &intercept) ? slope : 0;
}

struct arithmetic_rounds {
	unsigned links, chains, rounds;
	bool with_ends; /* what is between two chains may play a part */
};

struct rate {
	double lo, hi; /* operations of warps a cycle of one SM; 0: not known (yet) */
};

/* By the difference of chains three times as long and short ones. Where with_ends, what is between two chains may hide behind them or not,
 * lo is what the long ones reach with it. */
static struct rate rate(struct study *s, unsigned row, unsigned warps, const struct arithmetic_rounds *how)
{
	const double p[POINT_PARAMS] = {warps, how->chains, how->rounds};
	const struct point *few = study_ask(s, row, how->links, p), *many = study_ask(s, row, 3.0 * how->links, p);
	if (!few || !many || few->outcome != OUTCOME_OK || many->outcome != OUTCOME_OK)
		return (struct rate){0};
	const double at_all = between_ends(s, many, warps, how->rounds),
		     cycles = at_all - between_ends(s, few, warps, how->rounds), links = how->links * how->chains;
	if (!(cycles > 0))
		return (struct rate){0};
	return (struct rate){how->with_ends ? fmin(3 * links / at_all, 2 * links / cycles) : 2 * links / cycles,
			     2 * links / cycles};
}

static struct arithmetic_steady steady(struct study *s, unsigned row, const struct arithmetic_rounds *how)
{
	const struct device_info *d = study_device(s);
	const unsigned full = d->max_threads_per_block / d->warp_size;
	const struct rate a = rate(s, row, full, how), b = rate(s, row, full - full / 4, how);
	struct arithmetic_steady out = {.lo = fmin(a.lo, b.lo) * d->warp_size, .hi = fmax(a.hi, b.hi) * d->warp_size};
	out.agree = out.lo > 0 && out.hi - out.lo <= AGREE * out.hi;
	return out;
}

struct arithmetic_steady arithmetic_steady(struct study *s, unsigned row, unsigned links)
{
	const struct arithmetic_rounds how = {.links = links, .chains = CHAINS, .rounds = ROUNDS};
	return steady(s, row, &how);
}

struct arithmetic_steady arithmetic_steady_one(struct study *s, unsigned row, unsigned chains)
{
	const struct arithmetic_rounds how = {
	    .links = LINKS * CHAINS / chains, .chains = chains, .rounds = ROUNDS_FEW, .with_ends = true};
	return steady(s, row, &how);
}
