/* How much longer fetches take that a farther level answers. */
#include "base/arena.h"
#include "code_ring.h"
#include "probe/chase.h"
#include "stat/stat.h"
#include <math.h>
#include <stdio.h>

#define LEAST  24   /* jumps that a level has to answer before they say how long it takes */
#define SPREAD 0.1  /* of a level's jumps may be faster, and as many slower, than its ends say */
#define NARROW 0.08 /* of a value, either end from it: one number says it */
#define PLACE  0.03 /* of a value: other SMs of the card and other cards are nearer or farther */

struct span {
	size_t count;
	double middle, lo, hi;
};

/* The jumps of all rings that take from `low` to below `high` ticks. */
static struct span jumps_between(struct study *s, const struct code_survey *v, double low, double high)
{
	struct span x = {0};
	size_t most = 0;
	for (unsigned i = 0; i < v->count; i++)
		most += v->run[i].visits;
	double *t = ARENA_ARRAY(study_arena(s), 2 * most, double);
	for (unsigned i = 0; t && i < v->count; i++)
		for (unsigned n = 0; n < v->run[i].visits; n++) {
			const double ticks = code_ticks(&v->run[i], n);
			if (ticks >= low && ticks < high)
				t[x.count++] = ticks;
		}
	if (!x.count)
		return x;
	x.middle = stat_median(t, x.count, t + most);
	x.lo = stat_quantile(t, x.count, SPREAD, t + most);
	x.hi = stat_quantile(t, x.count, 1 - SPREAD, t + most);
	return x;
}

/* Those that level k answers, and none before it. */
static struct span answered(struct study *s, const struct code_survey *v, unsigned k)
{
	const struct code_level *l = &v->level[k];
	const double low = k ? v->level[k - 1].miss : 0;
	return jumps_between(s, v, low, l->endless ? INFINITY : l->miss);
}

bool code_later(struct study *s, const struct code_survey *near, const struct code_survey *v, unsigned k,
		struct code_wait *out)
{
	const struct span base = answered(s, v, 0), own = answered(s, near, 0), far = answered(s, v, k);
	double step = 1;
	if (k == 0 || base.count < LEAST || far.count < LEAST)
		return false;
	/* Nothing of a kernel with long pieces may fit in the nearest level: what it takes for that is another one. */
	if (fabs(base.middle - own.middle) > 0.5 * (far.middle - base.middle))
		return false;
	study_number(s, "clock.granularity", &step);
	*out = (struct code_wait){.near = base.middle,
				  .far = far.middle,
				  .value = far.middle - base.middle,
				  .lo = fmin(far.lo - base.hi, far.lo - own.hi) - (step - 1),
				  .hi = fmax(far.hi - base.lo, far.hi - own.lo) + (step - 1)};
	stat_widen(out->value, PLACE, &out->lo, &out->hi);
	out->exact = step <= 1 && out->hi - out->value <= fmax(NARROW * out->value, 1) &&
		     out->value - out->lo <= fmax(NARROW * out->value, 1);
	return out->value > 0;
}
