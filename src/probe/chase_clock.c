/* What reading the clock costs, as SMs tell it of one another. */
#include "probe/chase_clock.h"
#include "stat/stat.h"
#include <math.h>

#define AGREED	     4 /* one SM in so many */
#define STEADY_APART 1 /* cycle that means of what a clock costs differ by, where it is steady */

/* Which cost of the clock so many SMs agree in, one in `of`, that it is the one without noise: noise of one SM is not that of another. */
static bool clock_agreed(const struct chase_latency *one, unsigned n, double reach, unsigned of, double *cost)
{
	unsigned most = 0;
	for (unsigned i = 0; i < n; i++) {
		unsigned alike = 0;
		double sum = 0;
		for (unsigned q = 0; q < n; q++)
			if (fabs(one[q].clock - one[i].clock) <= reach) {
				alike++;
				sum += one[q].clock;
			}
		if (alike > most) {
			most = alike;
			*cost = alike * of >= n ? sum / alike : *cost;
		}
	}
	return most * of >= n;
}

/* Whether a clock that seems cheaper by so much does because its chain, over accesses of `single` ticks, met a faster one. */
static bool chain_was_faster(const struct chase_path *c, double less, double single, double near)
{
	return less > near && less <= c->swing * single + near;
}

/* The same of few SMs, where single accesses of one line take as long on both and only the chains over it differ: the longer one met a faster
 * clock, which may last for all of its launches. */
static void latency_few(const struct chase_path *c, struct chase_latency *one, unsigned n, double near)
{
	unsigned most = 0;

	for (unsigned i = 1; i < n; i++)
		most = one[i].clock > one[most].clock ? i : most;
	for (unsigned i = 0; i < n && c->swing > 0; i++) {
		const double less = one[most].clock - one[i].clock;
		if (!chain_was_faster(c, less, one[most].single, near) || fabs(one[i].single - one[most].single) > near)
			continue;
		one[i].value -= less;
		one[i].clock += less;
	}
}

/* SMs whose chases were of the same lengths. */
static void same_clock(const struct chase_path *c, struct chase_latency *one, unsigned n)
{
	double cost[CHASE_PLACEMENTS], with[CHASE_PLACEMENTS], scratch[CHASE_PLACEMENTS];
	const double near = SMS_APART + c->grain / 4.0;

	for (unsigned i = 0; i < n; i++) {
		if (isnan(one[i].clock))
			return;
		with[i] = one[i].value + one[i].clock;
	}
	if (n < SMS_LEAST) {
		latency_few(c, one, n, near);
		return;
	}
	/* A clock that is faster now and then may make either of the two longer, and both together only if it was the load that met it: of
	 * the others the chain did, or neither. */
	const bool steady = c->swing <= 0;
	const double together = stat_median(with, n, scratch);
	unsigned told = 0;
	for (unsigned i = 0; i < n; i++)
		if (steady || fabs(with[i] - together) <= near)
			cost[told++] = one[i].clock;
	if (!told)
		return;
	const double most = stat_quantile(cost, told, 0.75, scratch);
	double usual = most, value[CHASE_PLACEMENTS];
	const bool agreed = steady ? clock_agreed(one, n, STEADY_APART, 2, &usual)
				   : clock_agreed(one, n, c->grain / 8.0, AGREED, &usual);
	/* Chains are too long more often than they are too short. */
	if (steady && fabs(most - usual) <= STEADY_APART)
		usual = most;
	for (unsigned i = 0; i < n; i++)
		value[i] = one[i].value;
	const double middle = stat_median(value, n, scratch);
	for (unsigned i = 0; i < n; i++) {
		const double less = usual - one[i].clock;
		/* Accesses of the nearest level that met the faster clock and are too near the others to be told from them, as those of
		 * this level are not. */
		const double nearest = c->classes[0].centre; /* with the clock's cost */
		const bool faster = agreed && !steady && less < 0 && -less <= c->swing * nearest &&
				    c->swing * one[i].value > c->swing / 3 * (one[i].value + nearest) + c->grain;
		/* The shorter of the two lengths of its chain was delayed each time, and this SM seems nearer than it is. */
		const bool delayed = agreed && steady && less < -near &&
				     fabs(one[i].value - less - middle) < fabs(one[i].value - middle);
		/* However far it is. */
		const bool shorter = agreed && !steady && chain_was_faster(c, less, one[i].single, near);
		if (!faster && !delayed && !shorter && (less <= near || (!steady && fabs(with[i] - together) > near)))
			continue;
		one[i].value -= less;
		one[i].clock += less;
	}
}

void chase_same_clock(const struct chase_path *c, struct chase_latency *one, unsigned n)
{
	struct chase_latency some[CHASE_PLACEMENTS];

	/* Turns whose accesses are not recorded are shorter than others, and more of a short chase's are such. */
	for (unsigned brief = 0; brief < 2; brief++) {
		unsigned at[CHASE_PLACEMENTS], count = 0;
		for (unsigned i = 0; i < n; i++)
			if (one[i].brief == (brief != 0)) {
				at[count] = i;
				some[count++] = one[i];
			}
		same_clock(c, some, count);
		for (unsigned i = 0; i < count; i++)
			one[at[i]] = some[i];
	}
}
