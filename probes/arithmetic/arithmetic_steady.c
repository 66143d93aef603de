/* Throughput where warps do not share a pipe evenly. A scheduler that prefers some warps lets the others finish later, with
 * too few of them left to keep the pipe full, and a block's whole time tells too little of the pipe. So warps run many
 * short chains without waiting for each other, and what counts is how many of them all warps run until the first one is done
 * with its own. */
#include "arithmetic_rows.h"
#include "probe/probe.h"
#include <math.h>

enum {
	ROUNDS = 40,	 /* of chains of a few links ... */
	ROUNDS_FEW = 24, /* ... and of long ones */
	SKIPPED = 2,	 /* part of them with which all begin */
	LINKS = 64,	 /* of one instruction: so many that what is between two chains is little beside them */
	CHAINS = 2,
	HEADER_WORDS = 2,
	ROUND_WORDS = 2
};

#define AGREE	0.04
#define BETWEEN 1.03 /* instructions, with those that follow a long chain and are none of it */
#define HELD_UP 2.5  /* times what a chain of the warp that is done first takes */

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

struct chain_cycles {
	double least, most; /* 0: there are no chains */
};

/* Cycles that a chain takes as if they came one after the other, while the warp that is done first runs the later part of its own.
 * All warps have work then. Those that run abreast end in bursts, so parts of their chains count. A warp that is at one chain all
 * the time is held up and does nothing; one that is held up and begins or ends a chain meanwhile may have run all of it or nothing. */
static struct chain_cycles between_ends(const struct point *pt, unsigned warps, unsigned rounds)
{
	const size_t row = (size_t)ROUND_WORDS * warps, last = row * (rounds - 1);
	const unsigned skipped = rounds / SKIPPED;
	size_t first = 0;
	for (size_t i = 1; i < warps; i++)
		if (clock_of(pt, last + ROUND_WORDS * i + 1) < clock_of(pt, last + ROUND_WORDS * first + 1))
			first = i;
	const double begin = clock_of(pt, row * skipped + ROUND_WORDS * first),
		     end = clock_of(pt, last + ROUND_WORDS * first + 1), freely = (end - begin) / (rounds - skipped);
	double sum = 0, unsure = 0;
	for (size_t i = 0; i < (size_t)rounds * warps; i++) {
		const double from = clock_of(pt, ROUND_WORDS * i), to = clock_of(pt, ROUND_WORDS * i + 1);
		const double in = fmin(to, end) - fmax(from, begin);
		if (!(in > 0) || (from < begin && to > end))
			continue;
		if (to - from > HELD_UP * freely && (from < begin || to > end))
			unsure += fmin(1, in / freely);
		else
			sum += in / (to - from);
	}
	if (!(sum > 0))
		return (struct chain_cycles){0};
	return (struct chain_cycles){(end - begin) / (sum + unsure), (end - begin) / sum};
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
	const double links = how->links * how->chains;
	const struct chain_cycles x = between_ends(few, warps, how->rounds), y = between_ends(many, warps, how->rounds);
	if (!(y.least > x.most && x.least > 0))
		return (struct rate){0};
	const double least = y.least - x.most, most = y.most - x.least, slow = 2 * links / most;
	const double fast = 2 * links / least;
	return (struct rate){how->is_long ? fmin(3 * links / y.most, slow) : slow,
			     how->is_long ? fmin(BETWEEN * 3 * links / y.least, fast) : fast};
}

static struct arithmetic_steady steady(struct study *s, unsigned row, const struct arithmetic_rounds *how)
{
	const struct device_info *d = study_device(s);
	const unsigned full = d->max_threads_per_block / d->warp_size;
	const struct rate a = rate(s, row, full, how), b = rate(s, row, full - full / 4, how);
	struct arithmetic_steady out = {.lo = fmin(a.lo, b.lo) * d->warp_size, .hi = fmax(a.hi, b.hi) * d->warp_size};
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
