/* Whether the pipe is as full in a shorter loop as in a longer one, where a scheduler prefers some warps. */
#include "pipeline.h"
#include <math.h>

#define IDLE 1.05 /* of a link's time, by the difference of two loops: more is noticeable, and too wide an interval */

/* ns of the longer loop for each of its links, with all else that is in there. */
static double share(const struct timed *t, const struct timed_pair *k)
{
	return t->ns + (t->alone - t->ns) * k->few / k->many;
}

bool pipeline_may_have_gaps(const struct timed *t, const struct timed_pair *k)
{
	return share(t, k) > IDLE * t->ns;
}

/* Links of a full pipe take no less than the upper half says, and no more than their share of the longer loop. */
enum pipeline_gaps pipeline_gaps(struct timed *t, const struct timed *upper, const struct timed_pair *k, double fills)
{
	const double most = share(t, k);
	if (!upper->ok || upper->ns <= fills * t->ns)
		return GAPS_NONE;
	/* What warps had begun errs in the longer loop as it does in the upper half. */
	t->hi = fmax(most, upper->ns) * upper->hi / upper->ns;
	t->ns = (most + upper->ns) / 2;
	return most > IDLE * upper->ns ? GAPS_WIDE : GAPS_SOME;
}
