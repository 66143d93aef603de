/* Latency of one level on one SM. */
#include "base/arena.h"
#include "data/native_record.h"
#include "probe/chase.h"
#include "stat/stat.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define ROUNDS	32
#define HEAD	8
#define PURE	0.999 /* share of one class from which an average over laps is that class */
#define SAMPLED 1500

/* Cycles for one load, from two lengths of the same chain: the fastest round of each, because noise only delays. */
static enum chase_state lap_get(struct chase_path *c, double footprint, uint32_t sm, double *cycles, double *spread,
				double *address_ops)
{
	double p[POINT_PARAMS] = {0}, a = INFINITY, b = INFINITY;
	p[CHASE_STRIDE] = (double)c->stride;
	p[CHASE_WARM] = 2 * ceil(footprint / (double)c->stride);
	p[CHASE_TIMED] = CHASE_LOADS;
	p[CHASE_PLACE] = 8.0 * sm + c->lap_kind;
	const struct point *pt = study_ask(c->study, c->lap, footprint, p);

	if (!pt)
		return CHASE_PENDING;
	if (pt->outcome != OUTCOME_OK || pt->words_per_repeat < HEAD + 4 * ROUNDS) {
		snprintf(c->why, sizeof(c->why), "a lap over %.0f bytes came back %s%s%.120s", footprint,
			 outcome_name(pt->outcome), pt->message[0] ? ": " : "", pt->message);
		return CHASE_UNDECIDED;
	}
	uint32_t n = chase_elements(footprint, p);
	uint64_t loads = (uint64_t)p[CHASE_WARM] + (ROUNDS + 2) * 3 * CHASE_LOADS;
	if (pt->y[2] != (uint32_t)(loads % n * c->stride)) {
		snprintf(c->why, sizeof(c->why), "a lap over %.0f bytes did not follow its ring", footprint);
		return CHASE_UNDECIDED;
	}
	for (unsigned i = 0; i < ROUNDS; i++) {
		const uint32_t *w = pt->y + HEAD + 4 * i;
		a = fmin(a, w[1] - w[0]);
		b = fmin(b, w[3] - w[2]);
	}
	*cycles = (b - a) / CHASE_LOADS;
	/* A clock that ticks in steps, and code that differs by an instruction, make either end uncertain by some cycles. */
	*spread = 4.0 / CHASE_LOADS;
	*address_ops = 0;
	const struct native_info *native = study_native(c->study, c->lap, pt);
	if (native && native->region_count >= 3) {
		double more = (double)native->region[2].count[NATIVE_ALU] - native->region[0].count[NATIVE_ALU];
		*address_ops = round(more / CHASE_LOADS);
	}
	return CHASE_DONE;
}

/* Mean ticks of the accesses that belong to classes first..last, and their share. */
static enum chase_state class_get(struct chase_path *c, unsigned k, double footprint, uint32_t sm, double *mean,
				  double *share)
{
	const struct chase_level *l = &c->level[k];
	double n = ceil(footprint / (double)c->stride), p[POINT_PARAMS] = {0};
	struct chase_run r;
	double lo = k ? c->level[k - 1].floor : 0, hi = l->floor > 0 ? l->floor : CHASE_CAP;

	p[CHASE_STRIDE] = (double)c->stride;
	p[CHASE_WARM] = 2 * n;
	p[CHASE_TIMED] = c->room < SAMPLED ? c->room : SAMPLED;
	p[CHASE_PLACE] = 8.0 * sm + c->kind;
	enum chase_state state = chase_get(c, &r, footprint, p);
	if (state != CHASE_DONE)
		return state;
	double *v = ARENA_ARRAY(study_arena(c->study), 3 * (size_t)r.kept + 3, double);
	if (!v) {
		snprintf(c->why, sizeof(c->why), "out of memory");
		return CHASE_UNDECIDED;
	}
	size_t m = 0;
	for (uint32_t i = 0; i < r.kept; i++) {
		double t = chase_ticks(r.record[i]);
		if (t >= lo && t < hi)
			v[m++] = t;
	}
	*share = r.kept ? (double)m / r.kept : 0;
	if (m < 32) {
		snprintf(c->why, sizeof(c->why), "only %zu of %u accesses over %.0f bytes were of this level", m,
			 r.kept, footprint);
		return CHASE_UNDECIDED;
	}
	/* Each access counts for the nearest class; inside a class, what jitter delayed does not belong to it. */
	double sum = 0, *own = v + m;
	for (unsigned q = l->class_first; q <= l->class_last; q++) {
		size_t mine = 0, used;
		for (size_t i = 0; i < m; i++) {
			double off = fabs(v[i] - c->classes[q].centre);
			bool nearest = true;
			for (unsigned o = l->class_first; o <= l->class_last; o++)
				nearest = nearest && (o == q || off < fabs(v[i] - c->classes[o].centre));
			if (nearest)
				own[mine++] = v[i];
		}
		if (mine)
			sum += (double)mine * stat_trimmed_mean(own, mine, 4, 2.5, own + mine, &used);
	}
	*mean = sum / (double)m;
	return CHASE_DONE;
}

/* A footprint that this level serves, and as few others as possible. */
static double served_by(const struct chase_path *c, unsigned k)
{
	const struct chase_level *l = &c->level[k];
	double stride = (double)c->stride, top = (double)(c->limit / c->stride) * stride;

	if (l->floor <= 0)
		return top;
	double size = l->size.state == CHASE_DONE ? (double)l->size.value : 0;
	if (!(size > 0)) {
		/* Size unknown: where the survey showed it purest. */
		double best = 0, best_share = 0;
		for (unsigned i = 0; i < c->survey_count; i++) {
			double mine = 0;
			for (unsigned q = l->class_first; q <= l->class_last; q++)
				mine += c->survey[i].share[q];
			if (mine > best_share) {
				best_share = mine;
				best = c->survey[i].footprint;
			}
		}
		return best;
	}
	if (!k)
		return floor(size / 2 / stride) * stride >= stride ? floor(size / 2 / stride) * stride : stride;
	return size > top ? top : size;
}

enum chase_state chase_latency(struct chase_path *c, unsigned k, uint32_t sm, struct chase_latency *out)
{
	double footprint = served_by(c, k), nearest = served_by(c, 0);
	double near_lap, near_spread, lap, spread, ops, near_mean, near_share, mean, share;
	enum chase_state state[4];

	*out = (struct chase_latency){0};
	state[0] = class_get(c, k, footprint, sm, &mean, &share);
	state[1] = lap_get(c, footprint, sm, &lap, &spread, &ops);
	state[2] = class_get(c, 0, nearest, sm, &near_mean, &near_share);
	state[3] = lap_get(c, nearest, sm, &near_lap, &near_spread, &ops);
	for (unsigned i = 0; i < 4; i++)
		if (state[i] == CHASE_UNDECIDED)
			return CHASE_UNDECIDED;
	for (unsigned i = 0; i < 4; i++)
		if (state[i] == CHASE_PENDING)
			return CHASE_PENDING;
	out->address_ops = ops;
	if (share >= PURE && c->level[k].class_first == c->level[k].class_last) {
		out->averaged = true;
		out->value = lap;
		out->half = spread;
		return CHASE_DONE;
	}
	if (near_share < PURE) {
		snprintf(c->why, sizeof(c->why), "not even the nearest level serves a footprint alone");
		return CHASE_UNDECIDED;
	}
	/* Single accesses carry the cost of the clock: what it is, the nearest level tells by both methods. */
	out->value = mean - (near_mean - near_lap);
	out->half = near_spread + 0.5;
	return CHASE_DONE;
}
