/* Rates where a scheduler prefers some warps. Those that it prefers come to an end long before the others, which then run on alone,
 * and the time of all of them says too little of a full pipeline. So all stop when the first one has come to its end, and say how
 * many turns of the loop they had made: what two such launches of different length differ by, in time and in turns, is what turns
 * cost while all warps want to issue. Of two lengths of the loop, as always, so that its own instructions cancel. */
#include "pipeline.h"
#include <math.h>

enum {
	LOOK_ROUNDS = 16,
	SHORT_ROUNDS = 2,
	LONG_ROUNDS = 34,
	FIRST_REPEATS = 2,
	REPEATS = 25,
	TIME_WORDS = 2 /* behind the output of each repeat */
};
#define GOOD   0.01 /* half of an interval, of the value, that will do */
#define USABLE 0.05

static const struct point *ask(struct study *s, const struct timed_pair *k, unsigned links, unsigned rounds,
			       unsigned repeats)
{
	double p[POINT_PARAMS] = {
	    [P_CHAINS] = k->p[P_CHAINS], [P_LINKS] = links, [P_ROUNDS] = rounds, [P_REPEATS] = repeats};
	return study_ask(s, CLASSES + k->experiment, k->x, p);
}

/* Turns of all warps, mean of the repeats. */
static double turns(const struct point *pt)
{
	double sum = 0;
	for (uint32_t r = 0; r < pt->repeats; r++)
		for (uint32_t w = CLOCK_WORDS; w + TIME_WORDS < pt->words_per_repeat; w++)
			sum += pt->y[(size_t)r * pt->words_per_repeat + w];
	return sum / fmax(pt->repeats, 1);
}

bool pipeline_starves(struct study *s, const struct timed_pair *k)
{
	const struct point *pt = ask(s, k, k->few, LOOK_ROUNDS, 1);
	if (!pt || pt->outcome != OUTCOME_OK)
		return false;
	for (uint32_t w = CLOCK_WORDS; w + TIME_WORDS < pt->words_per_repeat; w++)
		if (pt->y[w] < LOOK_ROUNDS)
			return true;
	return false;
}

struct turn {
	double ns, half; /* of one turn of one warp, as if they came one after the other */
	double launch;
	bool there;
};

static struct turn turn_of(const struct timed_pair *k, const struct point *a, const struct point *b, double timer)
{
	struct turn t = {.there = false};
	if (!a || !b || a->outcome != OUTCOME_OK || b->outcome != OUTCOME_OK)
		return t;
	const double more = turns(b) - turns(a);
	t.there = more > 0;
	t.launch = timed_mean(k, b);
	t.ns = (t.launch - timed_mean(k, a)) / more;
	t.half = fmax(hypot(timed_spread(k, a), timed_spread(k, b)), timer) / more;
	return t;
}

struct timed pipeline_together(struct study *s, const struct timed_pair *k, double timer)
{
	const unsigned links[2] = {k->few, k->many};
	const double of = k->x / ((k->many - k->few) * k->each);
	unsigned scale = 1, repeats = FIRST_REPEATS;
	struct timed out = {.ok = false};
	for (;;) {
		struct turn t[2];
		for (unsigned i = 0; i < 2; i++) {
			const struct point *a = ask(s, k, links[i], SHORT_ROUNDS * scale, repeats),
					   *b = ask(s, k, links[i], LONG_ROUNDS * scale, repeats);
			t[i] = turn_of(k, a, b, timer);
			if (a && a->outcome != OUTCOME_OK)
				out.bad = a;
			if (b && b->outcome != OUTCOME_OK)
				out.bad = b;
			out.point = b;
		}
		if (study_pending(s) || out.bad || !t[0].there || !t[1].there)
			return out;
		const double half = hypot(t[0].half, t[1].half) * of;
		out.ns = (t[1].ns - t[0].ns) * of;
		/* What was begun when the first warp came to its end is less than a turn, of so many. */
		const double begun = out.ns / (LONG_ROUNDS - SHORT_ROUNDS);
		out.lo = out.ns - hypot(half, begun);
		out.hi = out.ns + hypot(half, begun);
		out.coarse = timed_mean(NULL, out.point) / turns(out.point) * k->x / (k->many * k->each);
		out.repeats = repeats;
		out.ok = out.ns > 0 && half <= USABLE * out.ns;
		if (out.ns > 0 && half <= GOOD * out.ns)
			return out;
		const double times = out.ns > 0 ? fmax(half / (GOOD * out.ns), 2) : 2;
		const unsigned longer = repeats == FIRST_REPEATS ? timed_longer(scale, times, t[1].launch) : scale;
		if (longer == scale && repeats == REPEATS)
			return out;
		if (longer == scale)
			repeats = REPEATS;
		scale = longer;
	}
}
