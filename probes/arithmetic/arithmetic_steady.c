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

enum { ROUNDS = 40, CHAINS = 2, HEADER_WORDS = 2, ROUND_WORDS = 2 };

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
static double between_ends(struct study *s, const struct point *pt, unsigned warps)
{
	const size_t n = (size_t)ROUNDS * warps;
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

/* Warp instructions a cycle of one SM; 0: not known (yet). */
static double rate(struct study *s, unsigned row, unsigned warps, unsigned links)
{
	const double p[POINT_PARAMS] = {warps, CHAINS, ROUNDS};
	const struct point *few = study_ask(s, row, links, p), *many = study_ask(s, row, 3.0 * links, p);
	if (!few || !many || few->outcome != OUTCOME_OK || many->outcome != OUTCOME_OK)
		return 0;
	const double cycles = between_ends(s, many, warps) - between_ends(s, few, warps);
	return cycles > 0 ? CHAINS * 2.0 * links / cycles : 0;
}

struct arithmetic_steady arithmetic_steady(struct study *s, unsigned row, unsigned links)
{
	const struct device_info *d = study_device(s);
	const unsigned full = d->max_threads_per_block / d->warp_size;
	const double a = rate(s, row, full, links), b = rate(s, row, full - full / 4, links);
	struct arithmetic_steady out = {.lo = fmin(a, b) * d->warp_size, .hi = fmax(a, b) * d->warp_size};
	out.agree = out.lo > 0 && out.hi - out.lo <= AGREE * out.hi;
	return out;
}
