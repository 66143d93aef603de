/* What the steps of the clock cut off single accesses. */
#include "probe/chase_lag.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* What all recorded accesses took. */
static double recorded(const struct chase_run *r)
{
	double ticks = r->entered_ticks;
	for (uint32_t i = 0; i < r->kept; i++)
		ticks += chase_ticks(r->record[i]);
	return ticks;
}

/* Mean by how much accesses of the one seem longer than the same of the other, as the steps of the clock fall on them: those that nothing else
 * delayed in one of them only. NAN: there are none. */
static double by_steps(const struct chase_path *c, const struct chase_run *a, const struct chase_run *b)
{
	double sum = 0;
	uint32_t n = 0;
	for (uint32_t i = 0, k = 0; i < a->kept && k < b->kept;) {
		const uint32_t at = chase_index(a->record[i]), other = chase_index(b->record[k]);
		if (at == other) {
			const double apart = (double)chase_ticks(a->record[i]) - chase_ticks(b->record[k]);
			if (fabs(apart) <= 2.0 * c->grain) {
				sum += apart;
				n++;
			}
		}
		i += at <= other;
		k += other <= at;
	}
	return n > b->timed / 2 ? sum / n : NAN;
}

enum chase_state chase_lag(struct chase_path *c, double footprint, const double *p, const struct chase_run *r,
			   bool twice, double *lag)
{
	double fewer[POINT_PARAMS];
	struct chase_run half;
	char why[sizeof(c->why)];

	*lag = r->kept ? (double)r->ticks / (r->timed + CHASE_PRE) - recorded(r) / (r->kept + r->entered) : 0;
	if (c->grain <= 1 || !twice)
		return CHASE_DONE;
	memcpy(fewer, p, sizeof(fewer));
	memcpy(why, c->why, sizeof(why));
	fewer[CHASE_TIMED] = floor(p[CHASE_TIMED] / 2);
	const enum chase_state state = chase_get(c, &half, footprint, fewer);
	memcpy(c->why, why, sizeof(why));
	if (state != CHASE_DONE) /* undecided: the long one has to do */
		return state == CHASE_PENDING ? state : CHASE_DONE;
	const double steps = by_steps(c, r, &half), more = (double)r->timed - half.timed;
	if (isnan(steps) || r->kept + r->entered != r->timed || half.kept + half.entered != half.timed)
		return CHASE_DONE;
	/* The turns of the shorter one lag behind by as much more as its accesses seem shorter. */
	*lag = ((double)r->ticks - half.ticks - (recorded(r) - recorded(&half)) + half.timed * steps) / more;
	return CHASE_DONE;
}
