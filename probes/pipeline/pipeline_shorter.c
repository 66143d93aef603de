/* How much shorter than usual loops have to be for their instructions to be at hand. */
#include "pipeline.h"
#include <math.h>

#define SLOWER                                                                                                         \
	1.02 /* of a shorter loop's time for a link: the longer one does not fit where instructions are at hand */

/* A link of one warp with so many chains in loops so many times shorter than usual. */
static struct timed link_of(struct study *s, enum pipeline_class class, unsigned chains, unsigned shorter, double timer)
{
	const struct timed_pair pair = pipeline_pair(study_device(s), class, chains, 1, shorter, false);
	return timed_ask(s, &pair, timer);
}

/* As pipeline_shorter for code that cannot be seen, so that only times tell. A warp with as many chains as are ever
 * asked for waits for its instructions sooner than for results. In loops shorter than half the usual, the end hides
 * behind chains. */
static unsigned shorter_unseen(struct study *s, enum pipeline_class class, double timer)
{
	enum { HALF = 2, CHAINS = 4 /* the most */ };
	if (pipeline_pair(study_device(s), class, CHAINS, 1, HALF, false).few < PIPELINE_LINKS_LEAST)
		return 1;
	const struct timed whole = link_of(s, class, CHAINS, 1, timer), half = link_of(s, class, CHAINS, HALF, timer);
	if (study_pending(s))
		return 0;
	return whole.ok && half.ok && whole.ns > SLOWER * half.ns ? HALF : 1;
}

unsigned pipeline_shorter(struct study *s, enum pipeline_class class, double timer, const char **why)
{
	const double room = study_code_room(s);
	unsigned shortest = PIPELINE_SHORTEST;
	struct timed least = {.ok = true, .ns = 0};
	*why = NULL;
	while (!pipeline_pair(study_device(s), class, 1, 1, shortest, false).few)
		shortest /= 2;
	if (!(room > 0))
		least = link_of(s, class, 1, shortest, timer);
	for (unsigned shorter = 1; shorter <= shortest; shorter *= 2) {
		const struct timed t = link_of(s, class, 1, shorter, timer);
		if (study_pending(s))
			return 0;
		/* What went wrong there shows again, and is told then. */
		if (!t.ok || !least.ok)
			return 1;
		const struct native_info *n = study_native(s, class, t.point);
		if (!n || !n->layout.code_bytes)
			return shorter_unseen(s, class, timer);
		if (n->layout.code_bytes <= room || (shorter < shortest && t.ns <= SLOWER * least.ns))
			return shorter;
	}
	*why = "links take longer the longer the loop is, down to the shortest: instructions may not be at hand";
	return 0;
}
