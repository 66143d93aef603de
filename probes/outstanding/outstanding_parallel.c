/* How many lines leave an SM at once. Lines of one warp go out one behind the other, and those of several side by side
 * (Lashgar 2015, 3.2). */
#include "outstanding.h"
#include <math.h>
#include <stdio.h>

enum { LEAST = 3, WARPS_MOST = 8 }; /* warps */

#define SEEN 8	 /* cycles that the lines of a warp take at least, and times the spread of a line's latency */
#define HALF 0.5 /* of what the lines of one warp take: so much longer, and one more warp has waited for them */

struct steps {
	double alone;		 /* cycles of one line, without what it takes in any case */
	double warp[WARPS_MOST]; /* of whole warps, from one on */
	unsigned count;
};

/* Whose lines the L2 has: memory gives them one behind the other, whoever asks. */
static double time_of(struct study *s, unsigned threads)
{
	const struct pattern m = {.loads = 1, .group = 1, .threads = threads, .stride = LATENCY_STRIDE_BYTES};
	return latency_least(latency_ask(s, LATENCY_L2, &m));
}

/* Warps that go at once; 0: each goes behind the one before it. *more: no other warp waited. */
static unsigned beside(const struct steps *t, bool *more)
{
	const double own = t->warp[0] - t->alone;

	*more = false;
	if (!(t->warp[1] - t->warp[0] < HALF * own))
		return 0;
	for (unsigned k = 2; k < t->count; k++)
		if (!(t->warp[k] - t->warp[k - 1] < HALF * own))
			return k;
	*more = true;
	return t->count;
}

/* What each thread's line adds to the first one's. */
static void conclude_record(struct study *s, double own, unsigned warp)
{
	double step = 1;

	study_number(s, "clock.granularity", &step);
	const double each = own / (warp - 1), off = 2 * step / (warp - 1);
	study_measured_number(s, "outstanding.record", each, each - off, each + off, "sm",
			      "latency of a warp's lines less that of one line, over the others", "l2",
			      "%u lines of one warp are back %.0f cycles after one line would be", warp, own);
}

void parallel_conclude(struct study *s, const struct way *l2, unsigned entries)
{
	static const char key[] = "outstanding.parallel",
			  method[] = "latency of whole warps, each thread with a line of its own";
	const unsigned warp = study_device(s)->warp_size, room = study_device(s)->max_threads_per_block / warp;
	unsigned most = entries ? entries / warp : room;
	struct steps t = {0};
	bool more = false;

	if (l2->state != CHASE_DONE) {
		study_verdict(s, key, VERDICT_INCONCLUSIVE, "l2", "%s", l2->why);
		return;
	}
	most = most < room ? most : room;
	most = most < WARPS_MOST ? most : WARPS_MOST;
	t.alone = time_of(s, 1);
	for (; t.count < most; t.count++)
		t.warp[t.count] = time_of(s, (t.count + 1) * warp);
	const double own = t.warp[0] - t.alone, last = most ? t.warp[most - 1] : NAN;
	if (study_pending(s))
		return;
	if (most < LEAST || !isfinite(own + last) || (own >= SEEN && own < SEEN * l2->spread)) {
		study_verdict(s, key, VERDICT_INCONCLUSIVE, "l2",
			      "%u warps fill the table, and the latency of a line spreads by %.0f cycles", most,
			      l2->spread);
		return;
	}
	const unsigned found = own >= SEEN ? beside(&t, &more) : 0, lines = found * warp;
	if (!found) {
		study_verdict(
		    s, key, VERDICT_ABSENT, "l2",
		    "the lines of one warp take %.0f cycles longer than one line, and those of two %.0f longer again",
		    own, t.warp[1] - t.warp[0]);
		return;
	}
	conclude_record(s, own, warp);
	if (more)
		study_bound(s, key, lines, INFINITY, method, "l2",
			    "a warp's lines take %.0f cycles longer than one, and those of %u warps as long", own,
			    found);
	else
		study_measured_number(s, key, lines, lines, lines, "sm", method, "l2",
				      "a warp's lines take %.0f cycles longer than one, those of %u warps as long, and "
				      "those of one more %.0f longer",
				      own, found, t.warp[found] - t.warp[found - 1]);
}
