/* Far hits and memory, told apart by how their shares change with the footprint. */
#include "large_sides.h"
#include "base/arena.h"
#include "judge/house.h"
#include "stat/stat.h"
#include "stat/unlike_shares.h"
#include <math.h>
#include <stdio.h>

/* INFERENCE: what parts two answers has to be worth 20 nats, which chance reaches once in 10^8. */
#define DELAYED_FROM  4	   /* median deviations above the median, as chases leave out what jitter delayed, */
#define DELAYED_MOST  0.05 /* and no more of the samples: a refresh takes 350 ns of 7.8 us (JEDEC DDR4, 8 Gb) */
#define SAMPLES_LEAST 64   /* two standard errors of a mean are a quarter of the spread then */

struct misses {
	const double *ticks; /* ascending */
	size_t n;
};

/* Misses of a footprint: the slow end of its sample. */
static enum chase_state misses_of(struct study *s, unsigned experiment, double footprint, uint64_t unit, double limit,
				  struct misses *out, char *why, size_t why_bytes)
{
	struct large_l2 said = {0};
	struct large_sample w;
	const enum chase_state state = large_sample(s, experiment, footprint, unit, 0, &w, &said);
	size_t hits = 0;

	if (state != CHASE_DONE) {
		snprintf(why, why_bytes, "%s", said.why);
		return state;
	}
	while (hits < w.n && w.ticks[hits] <= limit)
		hits++;
	*out = (struct misses){.ticks = w.ticks + hits, .n = w.n - hits};
	return CHASE_DONE;
}

static double mean_of(const double *v, size_t n, double *error)
{
	double sum = 0, square = 0;

	for (size_t i = 0; i < n; i++)
		sum += v[i];
	const double mean = sum / (double)n;
	for (size_t i = 0; i < n; i++)
		square += (v[i] - mean) * (v[i] - mean);
	*error = n > 1 ? sqrt(square / (double)(n - 1) / (double)n) : INFINITY;
	return mean;
}

/* How many are not far above the others. */
static size_t in_time(const double *ticks, size_t n, double *scratch)
{
	const double most = stat_median(ticks, n, scratch) + fmax(1.5, DELAYED_FROM * stat_mad(ticks, n, scratch));
	size_t kept = n;

	while (kept && ticks[kept - 1] > most)
		kept--;
	return kept;
}

size_t large_undelayed(const double *ticks, size_t n, double *scratch)
{
	const size_t kept = in_time(ticks, n, scratch);

	return (double)(n - kept) <= DELAYED_MOST * (double)n ? kept : n;
}

/* Two standard errors on either side, and the tick in which a clock read falls. */
void large_memory(const double *ticks, size_t n, double *scratch, struct large_sides *out)
{
	const size_t early = in_time(ticks, n, scratch);
	double error;

	out->memory_count = large_undelayed(ticks, n, scratch);
	out->memory = mean_of(ticks, out->memory_count, &error);
	out->memory_lo = fmin(out->memory, mean_of(ticks, early, &error)) - 2 * error - 1;
	out->memory_hi = mean_of(ticks, n, &error) + 2 * error + 1;
}

enum chase_state large_sides(struct study *s, unsigned experiment, uint64_t unit, const struct large_l2 *l,
			     struct large_sides *out)
{
	struct misses little, all;
	double error;

	*out = (struct large_sides){0};
	const enum chase_state a = misses_of(s, experiment, large_half_more(l), unit, l->hit_limit, &little, out->why,
					     sizeof(out->why)),
			       b = misses_of(s, experiment, l->largest, LARGE_UNIT, l->hit_limit, &all, out->why,
					     sizeof(out->why));
	if (a != CHASE_DONE)
		return a;
	if (b != CHASE_DONE)
		return b;
	if (all.n < SAMPLES_LEAST || little.n < SAMPLES_LEAST)
		return CHASE_WHY(out->why, "of %.0f bytes %zu samples miss, of %.0f bytes %zu: at least %d are needed",
				 large_half_more(l), little.n, l->largest, all.n, SAMPLES_LEAST);
	double *scratch = ARENA_ARRAY(study_arena(s), STAT_SHARE_SCRATCH(little.n + all.n), double);
	if (!scratch)
		return CHASE_WHY(out->why, "out of memory");
	struct stat_share_group first;
	const size_t groups =
	    stat_share_groups(little.ticks, little.n, all.ticks, all.n, JUDGE_NATS, &first, 1, scratch);
	/* Far hits are the fastest misses, and rarer where no side holds all. */
	out->sides = groups > 1 && (double)first.count[0] / (double)little.n > (double)first.count[1] / (double)all.n;
	const size_t not_memory = out->sides ? first.count[1] : 0;
	out->memory_count = all.n - not_memory;
	if (out->memory_count < SAMPLES_LEAST)
		return CHASE_WHY(out->why, "memory answers only %zu samples of %.0f bytes", out->memory_count,
				 l->largest);
	large_memory(all.ticks + not_memory, out->memory_count, scratch, out);
	if (out->sides) {
		out->far_count = first.count[0];
		out->far = mean_of(little.ticks, out->far_count, &error);
		const double p = (double)out->far_count / (double)little.n;
		const double sigma = sqrt(p * (1 - p) / (double)little.n);
		out->far_share = p;
		out->far_lo = p - 2 * sigma;
		out->far_hi = p + 2 * sigma;
	}
	return CHASE_DONE;
}
