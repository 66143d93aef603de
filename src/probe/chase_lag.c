/* What the steps of the clock cut off single accesses. */
#include "base/arena.h"
#include "probe/chase_parts.h"
#include "stat/stat.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KINDS	   2
#define KIND_LEAST 0.2 /* of the accesses */
#define OF_KINDS   0.9 /* of them are within a step of the usual one of their kind */

/* What all recorded accesses took. */
static double recorded(const struct chase_run *r)
{
	double ticks = r->entered_ticks;
	for (uint32_t i = 0; i < r->kept; i++)
		ticks += chase_ticks(r->record[i]);
	return ticks;
}

/* Mean by how much accesses of a seem longer than the same ones of b, as the steps of the clock fall on them. Accesses
 * that something else delayed in one run only are left out. NAN: there are none. */
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

/* By how much accesses from number `from` on seem longer than all of their kind, as the steps of the clock fall on
 * them. A single wait, such as for a lost line, shifts how the steps fall from then on. Many kinds of accesses would
 * put their differences in; it is 0 then. */
static double later_by_steps(const struct chase_path *c, const struct chase_run *r, uint32_t from)
{
	double *t = ARENA_ARRAY(study_arena(c->study), 2 * (size_t)r->kept + 2, double), apart = 0;
	struct stat_mode kind[KINDS];
	uint32_t n = 0, behind = 0;

	if (!t || !r->kept)
		return 0;
	for (uint32_t i = 0; i < r->kept; i++)
		t[i] = chase_ticks(r->record[i]);
	const size_t kinds = stat_modes(t, r->kept, 1.5 + c->grain, KIND_LEAST, kind, KINDS, t + r->kept);
	for (size_t k = 0; k < kinds; k++) {
		double all = 0, later = 0;
		uint32_t of = 0, last = 0;
		for (uint32_t i = 0; i < r->kept; i++) {
			if (fabs(t[i] - kind[k].centre) > c->grain)
				continue;
			all += t[i];
			of++;
			if (chase_index(r->record[i]) < from)
				continue;
			later += t[i];
			last++;
		}
		if (of)
			apart += later - last * all / of;
		n += of;
		behind += last;
	}
	return behind && n >= OF_KINDS * r->kept ? apart / behind : 0;
}

enum chase_state chase_lag(struct chase_path *c, double footprint, const double *p, const struct chase_run *r,
			   bool twice, double *lag, double *apart)
{
	double fewer[POINT_PARAMS];
	struct chase_run half;
	char why[sizeof(c->why)];

	*lag = r->kept ? (double)r->ticks / (r->timed + CHASE_PRE) - recorded(r) / (r->kept + r->entered) : 0;
	const double alone = *lag;
	*apart = 0;
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
	*apart = *lag - alone;
	/* That is what those lag behind that the shorter one has not, and what accesses take is asked of all. */
	*lag += later_by_steps(c, r, half.timed);
	return CHASE_DONE;
}

double chase_unsteady(const struct chase_run *r, double least, double most, double *scratch)
{
	size_t stretches = 0;
	double sum = 0, all = 0, of = 0;
	unsigned n = 0;

	for (uint32_t i = 0; i < r->kept; i++) {
		const double t = chase_ticks(r->record[i]);
		if (t < least || t > most)
			continue;
		sum += t;
		all += t;
		of++;
		if (++n == CHASE_STRETCH) {
			scratch[stretches++] = sum / CHASE_STRETCH;
			sum = n = 0;
		}
	}
	return stretches ? fabs(all / of - stat_median(scratch, stretches, scratch + stretches)) : 0;
}
