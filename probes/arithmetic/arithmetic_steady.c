/* Throughput where warps do not share a pipe evenly. A scheduler that prefers some warps lets the others finish later, with
 * too few of them left to keep the pipe full, and a block's whole time tells too little of the pipe. So warps run many
 * short chains without waiting for each other, and what counts is how many of them all warps run until the first one is done
 * with its own. */
#include "arithmetic_rows.h"
#include "probe/probe.h"
#include <math.h>

enum {
	ROUNDS = 40,	 /* of chains of a few links ... */
	ROUNDS_FEW = 12, /* ... and of long ones */
	SKIPPED = 4,	 /* part of them with which all begin */
	LINKS = 64,	 /* of one instruction: so many that what is between two chains is little beside them */
	CHAINS = 2,
	HEADER_WORDS = 2,
	ROUND_WORDS = 2
};

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

static double clock_of(const struct point *pt, size_t word)
{
	return (int32_t)(pt->y[HEADER_WORDS + word] - pt->y[HEADER_WORDS]);
}

/* Cycles that a chain takes as if they came one after the other, 0 when there are none: while the warp that is done first runs its
 * own, behind the first of them. All warps have work then, and those that are held up are where they were before; those that run
 * abreast end in bursts, so parts of their chains count. A warp that is at one chain all the time does nothing. */
static double between_ends(const struct point *pt, unsigned warps, unsigned rounds)
{
	const size_t row = (size_t)ROUND_WORDS * warps, last = row * (rounds - 1), skipped = row * (rounds / SKIPPED);
	size_t first = 0;
	for (size_t i = 1; i < warps; i++)
		if (clock_of(pt, last + ROUND_WORDS * i + 1) < clock_of(pt, last + ROUND_WORDS * first + 1))
			first = i;
	const double begin = clock_of(pt, skipped + ROUND_WORDS * first),
		     end = clock_of(pt, last + ROUND_WORDS * first + 1);
	double sum = 0;
	for (size_t i = 0; i < (size_t)rounds * warps; i++) {
		const double from = clock_of(pt, ROUND_WORDS * i), to = clock_of(pt, ROUND_WORDS * i + 1);
		if (from < end && to > begin && (from >= begin || to <= end))
			sum += (fmin(to, end) - fmax(from, begin)) / (to - from);
	}
	return sum > 0 ? (end - begin) / sum : 0;
}

struct arithmetic_rounds {
	unsigned links, chains, rounds;
	bool is_long; /* what is between two chains may play a part */
};

struct rate {
	double lo, hi; /* operations of warps a cycle of one SM; 0: not known (yet) */
};

/* By the difference of chains three times as long and short ones. What is between two long chains may hide behind them or not:
 * lo is what the long ones reach with it. */
static struct rate rate(struct study *s, unsigned row, unsigned warps, const struct arithmetic_rounds *how)
{
	const double p[POINT_PARAMS] = {warps, how->chains, how->rounds};
	const struct point *few = study_ask(s, row, how->links, p), *many = study_ask(s, row, 3.0 * how->links, p);
	if (!few || !many || few->outcome != OUTCOME_OK || many->outcome != OUTCOME_OK)
		return (struct rate){0};
	const double links = how->links * how->chains, all = between_ends(many, warps, how->rounds),
		     cycles = all - between_ends(few, warps, how->rounds);
	if (!(cycles > 0))
		return (struct rate){0};
	return (struct rate){how->is_long ? fmin(3 * links / all, 2 * links / cycles) : 2 * links / cycles,
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
	    .links = LINKS * CHAINS / chains, .chains = chains, .rounds = ROUNDS_FEW, .is_long = true};
	return steady(s, row, &how);
}
