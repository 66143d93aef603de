/* Rates of a pipeline whose scheduler prefers some warps. Those that it prefers come to an end long before the others,
 * which then run on alone. The time of all of them says too little of a full pipeline. All warps therefore stop when
 * the first one has come to its end, and say how many turns of the loop they made. Two such launches of different
 * length differ in time and in turns. The quotient is what a turn costs while all warps want to issue. The loop has two
 * lengths, as always, so that its own instructions cancel. */
#include "probe/launch_time.h"
#include <math.h>

enum {
	LOOK_ROUNDS = 16,
	SHORT_ROUNDS = 2,
	HALF_ROUNDS = 18,
	LONG_ROUNDS = 34,
	FIRST_REPEATS = 2,
	REPEATS = 25,
	CLOCK_WORDS = 2,
	TIME_WORDS = 2 /* behind the output of each repeat */
};
#define UNUSUAL 4     /* times as long as others a launch may be, if it says nothing else */
#define BEGUN	0.035 /* part of the turns that count which may have been begun only, where more are of use */
#define BENT                                                                                                           \
	0.04 /* of a turn: what those of the first half of the rounds may take less or more than those of the second */

/* Turns of all warps, mean of the repeats that the mean of run times is made of. Which warps are preferred may differ
 * from repeat to repeat, and with it the number of all turns and their time. The turns of a repeat belong to its own
 * time only. */
static double turns(const struct timed_pair *k, const struct point *pt)
{
	const uint32_t counted = timed_counted(k, pt);
	double sum = 0, n = 0;
	for (uint32_t r = 0; r < pt->repeats && r < LAUNCH_TIMED; r++) {
		if (!(counted >> r & 1))
			continue;
		n++;
		for (uint32_t w = CLOCK_WORDS; w + TIME_WORDS < pt->words_per_repeat; w++)
			sum += pt->y[(size_t)r * pt->words_per_repeat + w];
	}
	return sum / fmax(n, 1);
}

bool timed_starves(struct study *s, const struct timed_pair *k)
{
	const struct point *pt = timed_point(s, k, k->together, k->few, LOOK_ROUNDS, 1);
	if (!pt || pt->outcome != OUTCOME_OK)
		return false;
	for (uint32_t w = CLOCK_WORDS; w + TIME_WORDS < pt->words_per_repeat; w++)
		if (pt->y[w] < LOOK_ROUNDS)
			return true;
	return false;
}

/* Warps that had made some of their turns and may have been in the middle of another: those behind them had only looked. */
static double at_work(const struct point *pt)
{
	double n = 0;
	for (uint32_t w = CLOCK_WORDS; w + TIME_WORDS < pt->words_per_repeat; w++)
		n += pt->y[w] > 1;
	return n;
}

struct turn {
	double begun;	 /* turns that were begun when the first warp came to its end, at most, of those that count */
	double ns, half; /* of one turn of one warp, as if they came one after the other */
	double gap;	 /* of that, by run times and by cycles */
	double launch;
	bool there;
};

/* What two launches say does not change, and many passes of a study look at the same ones. */
static struct turn turn_of(struct study *s, const struct timed_pair *k, const struct point *a, const struct point *b,
			   double timer)
{
	struct turn t = {.there = false};
	if (!a || !b || a->outcome != OUTCOME_OK || b->outcome != OUTCOME_OK)
		return t;
	const struct point *first = study_series(s, k->together)->points;
	const struct {
		double clock_hz, both_hz, timer;
		uint64_t experiment, kind, at[2];
	} key = {k->clock_hz, k->both_hz, timer, k->together, k->words, {(uint64_t)(a - first), (uint64_t)(b - first)}};
	const struct turn *before = study_recall(s, "turn", &key, sizeof(key));
	if (before)
		return *before;
	const double more = turns(k, b) - turns(k, a);
	t.there = more > 0;
	t.begun = at_work(b) / more;
	t.launch = timed_mean(k, b);
	t.ns = (t.launch - timed_mean(k, a)) / more;
	t.gap = timed_gap(k, a, b, timer) / more;
	t.half = fmax(hypot(timed_spread(k, a), timed_spread(k, b)), timer) / more;
	study_keep(s, "turn", &key, sizeof(key), &t, sizeof(t));
	return t;
}

/* Whether turns of the first rounds take less or more than those of the last ones, beyond what is begun of them tells. Warps begin one after the other, and
 * where that takes longer than the shorter launch's rounds, those are hidden in it. False as well where an older recording has no launch in
 * between. */
static bool is_bent(struct study *s, const struct timed_pair *k, unsigned links, unsigned scale, unsigned repeats,
		    double timer)
{
	const struct point *const a = timed_point(s, k, k->together, links, SHORT_ROUNDS * scale, repeats),
				  *const m = timed_point(s, k, k->together, links, HALF_ROUNDS * scale, repeats),
				  *const b = timed_point(s, k, k->together, links, LONG_ROUNDS * scale, repeats);
	const struct turn first = turn_of(s, k, a, m, timer), last = turn_of(s, k, m, b, timer);
	return first.there && last.there &&
	       fabs(last.ns - first.ns) >
		   (BENT + (first.begun + last.begun) / 2) * last.ns + hypot(first.half, last.half);
}

struct timed timed_together(struct study *s, const struct timed_pair *k, double warps, double timer)
{
	const unsigned links[2] = {k->few, k->many};
	const double each = k->each > 0 ? k->each : 1, of = warps / ((k->many - k->few) * each);
	unsigned scale = k->longer ? k->longer : 1, repeats = FIRST_REPEATS;
	struct timed out = {.ok = false};
	for (;;) {
		struct turn t[2];
		bool bent = false;
		for (unsigned i = 0; i < 2; i++) {
			const struct point *a = timed_point(s, k, k->together, links[i], SHORT_ROUNDS * scale, repeats),
					   *b = timed_point(s, k, k->together, links[i], LONG_ROUNDS * scale, repeats);
			t[i] = turn_of(s, k, a, b, timer);
			if (a && a->outcome != OUTCOME_OK)
				out.bad = a;
			if (b && b->outcome != OUTCOME_OK)
				out.bad = b;
			out.point = b;
			bent |= is_bent(s, k, links[i], scale, repeats, timer);
		}
		if (study_pending(s) || out.bad || !t[0].there || !t[1].there)
			return out;
		const double half = hypot(t[0].half, t[1].half) * of;
		out.ns = (t[1].ns - t[0].ns) * of;
		const double part = fmax(t[0].begun, t[1].begun), begun = out.ns * part,
			     gap = (t[0].gap + t[1].gap) * of;
		out.unsteady = gap > LAUNCH_DIFFER * out.ns;
		out.lo = out.ns - hypot(half, begun) - gap;
		out.hi = out.ns + hypot(half, begun) + gap;
		out.coarse = timed_mean(NULL, out.point) / turns(NULL, out.point) * warps / (k->many * each);
		out.alone = t[0].ns * warps / (k->few * each);
		out.repeats = repeats;
		out.ok =
		    out.ns > 0 && !out.unsteady && half <= LAUNCH_USABLE * out.ns && part <= LAUNCH_USABLE && !bent;
		const bool known = out.ns > 0 && half <= LAUNCH_GOOD * out.ns && part <= BEGUN && !bent;
		if (known && !out.unsteady)
			return out;
		const double times = out.ns > 0 ? fmax(fmax(half / (LAUNCH_GOOD * out.ns), 2 * part / BEGUN), 2) : 2;
		/* Few warps at work make few turns of long launches, whatever their repeats say. A clock that is not steady is told by
		 * repeats. */
		const bool stretch = (repeats == FIRST_REPEATS && !known) || part > BEGUN || bent;
		unsigned longer = stretch ? timed_longer(scale, times, t[1].launch) : scale;
		/* If nothing else can be said, launches may be longer than is usual; more repeats would begin as many
		 * turns. */
		if (longer == scale && (part > LAUNCH_USABLE || bent))
			longer = timed_longer(scale, times, t[1].launch / UNUSUAL);
		if (longer == scale && repeats == REPEATS)
			return out;
		if (longer == scale)
			repeats = REPEATS;
		scale = longer;
	}
}
