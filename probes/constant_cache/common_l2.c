/* Constant misses may go through the GPU's common L2: then that level is no constant cache. */
#include "common_l2.h"
#include "base/arena.h"
#include "stat/stat.h"
#include <math.h>

#define LINES_LEAST 8
#define LAPS	    4
#define TIMED_LEAST 256
#define USUAL	    0.1	 /* of the accesses, at either end, are not counted: noise, and what had to wait */
#define FASTER	    0.25 /* of the first touches through that L2 may be faster than the step that is looked for */
#define LATE_MOST                                                                                                      \
	0.1 /* of the constants' first touches: that L2 would make a quarter late even of lines four times as long as steps */
#define REACHES	    4 /* of a class of latency in the step; it reaches so many ticks and such a share: */
#define REACH	    3
#define REACH_SHARE 0.01
#define NEAR_MOST                                                                                                      \
	0.5 /* of the constants' first touches may have come with others, or from a level that was not emptied */

int common_l2_setup(const struct study *s, double x, const double *p, struct job *j)
{
	const struct chase_kernel k = {.template_path = "probes/global_cache/global_chase.ptx",
				       .load = chase_load_of(s, WAY_PAST_L1),
				       .in_shared = true};
	return chase_setup(s, x, p, j, &k);
}

struct common_hit common_l2_found(const struct study *s)
{
	struct common_hit out = {.state = L2_NONE};
	const struct finding *f = study_finding(s, "cache.global.l2.size");
	double latency;

	if (f && f->verdict == VERDICT_ABSENT)
		return out;
	out.state = L2_UNKNOWN;
	f = study_finding(s, "cache.global.l2.latency");
	if (!f || f->verdict != VERDICT_MEASURED || !study_number(s, "cache.global.l2.latency", &latency))
		return out;
	out = (struct common_hit){
	    .state = L2_THIS, .lo = isnan(f->lo) ? latency : f->lo, .hi = isnan(f->hi) ? latency : f->hi};
	out.nearest = out.lo;
	out.farthest = out.hi;
	f = study_finding(s, "cache.global.l2.latency_classes");
	for (unsigned i = 0; f && f->verdict == VERDICT_MEASURED && i < f->value.array_count; i++) {
		out.nearest = fmin(out.nearest, f->value.array[i]);
		out.farthest = fmax(out.farthest, f->value.array[i]);
	}
	return out;
}

enum chase_state common_l2_seen(struct study *s, unsigned experiment, uint64_t bytes, uint64_t stride, double clock,
				struct common_hit *out)
{
	struct chase_path c = {
	    .study = s, .chase = experiment, .limit = UINT64_MAX, .word = 8, .room = chase_room(study_device(s), true)};
	const double n = floor((double)bytes / (double)stride), timed = fmin(fmax(LAPS * n, TIMED_LEAST), c.room);
	double p[POINT_PARAMS] = {0};
	struct chase_run r;

	*out = (struct common_hit){.state = L2_UNKNOWN};
	if (n < LINES_LEAST || n > c.room || isnan(clock))
		return CHASE_DONE;
	p[CHASE_STRIDE] = (double)stride;
	p[CHASE_WARM] = 2 * n;
	p[CHASE_TIMED] = timed;
	enum chase_state state = chase_get(&c, &r, n * (double)stride, p);
	if (state != CHASE_DONE)
		return state == CHASE_PENDING ? state : CHASE_DONE;
	double *v = ARENA_ARRAY(study_arena(s), r.kept + 1, double),
	       *scratch = ARENA_ARRAY(study_arena(s), r.kept + 1, double);
	if (!v || !scratch || r.kept < n)
		return CHASE_DONE;
	for (uint32_t i = 0; i < r.kept; i++)
		v[i] = chase_ticks(r.record[i]);
	*out = (struct common_hit){.state = L2_THIS,
				   .lo = stat_quantile(v, r.kept, USUAL, scratch) - clock,
				   .hi = stat_quantile(v, r.kept, 1 - USUAL, scratch) - clock};
	out->nearest = out->lo;
	out->farthest = out->hi;
	return CHASE_DONE;
}

/* Ticks of first touches, `stride` apart, behind emptied caches: *v of *n. out: NULL where they could not be had. */
static enum chase_state first_touches(struct study *s, unsigned experiment, uint64_t bytes, uint64_t stride, double **v,
				      uint32_t *n)
{
	struct chase_path c = {
	    .study = s, .chase = experiment, .limit = UINT64_MAX, .word = 4, .room = chase_room(study_device(s), true)};
	const double lines = fmin((double)bytes / (double)stride, c.room);
	double p[POINT_PARAMS] = {0};
	struct chase_run r;

	*v = NULL;
	if (lines < CHASE_PRE + LINES_LEAST)
		return CHASE_DONE;
	p[CHASE_STRIDE] = (double)stride;
	p[CHASE_TIMED] = floor(lines) - CHASE_PRE;
	const enum chase_state state = chase_get(&c, &r, floor(lines) * (double)stride, p);
	if (state != CHASE_DONE || r.kept < LINES_LEAST)
		return state == CHASE_PENDING ? state : CHASE_DONE;
	*n = r.kept;
	*v = ARENA_ARRAY(study_arena(s), r.kept, double);
	for (uint32_t i = 0; *v && i < r.kept; i++)
		(*v)[i] = chase_ticks(r.record[i]);
	return CHASE_DONE;
}

enum chase_state common_l2_passed(const struct chase_path *c, unsigned experiment, uint64_t stride, double clock,
				  const struct common_hit *hit, bool *is)
{
	const double slowest = c->classes[c->class_count - 1].centre;
	double *constant, *past, *scratch, late = 0, fast = 0;
	uint32_t constants, others;
	const enum chase_state a = first_touches(c->study, c->chase, c->limit, stride, &constant, &constants),
			       b = first_touches(c->study, experiment, c->limit, stride, &past, &others);

	*is = false;
	if (a == CHASE_PENDING || b == CHASE_PENDING)
		return CHASE_PENDING;
	if (!constant || !past || hit->state != L2_THIS || isnan(clock))
		return CHASE_DONE;
	scratch = ARENA_ARRAY(study_arena(c->study), others, double);
	if (!scratch)
		return CHASE_DONE;
	/* What a line that this L2 does not hold takes longer than one that it holds: other loads see it, so the caches were emptied. */
	const double step = stat_quantile(past, others, FASTER, scratch) - (hit->farthest + clock) * (1 + hit->slack),
		     reach = c->grain + slowest * (REACH_SHARE + c->swing) + REACH;
	if (step < REACHES * reach)
		return CHASE_DONE;
	for (uint32_t i = 0; i < constants; i++) {
		late += constant[i] > slowest + step / 2;
		fast += constant[i] < slowest - reach;
	}
	*is = late <= LATE_MOST * constants && fast <= NEAR_MOST * constants;
	return CHASE_DONE;
}

/* On real chips the two paths to one L2 differ by some cycles. */
static bool between(double cycles, double lo, double hi, double slack)
{
	return cycles > lo * 0.95 / (1 + slack) - 3 && cycles < hi * 1.05 * (1 + slack) + 3;
}

enum common_l2 common_l2_is(const struct common_hit *hit, double cycles)
{
	if (hit->state != L2_THIS)
		return hit->state;
	if (isnan(cycles))
		return L2_UNKNOWN;
	return between(cycles, hit->lo, hit->hi, hit->slack) ? L2_THIS : L2_OTHER;
}

enum common_l2 common_l2_has(const struct common_hit *hit, double cycles)
{
	const enum common_l2 is = common_l2_is(hit, cycles);

	return is == L2_OTHER && between(cycles, hit->nearest, hit->farthest, hit->slack) ? L2_UNKNOWN : is;
}
