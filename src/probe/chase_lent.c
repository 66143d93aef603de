/* Whether a first level holds more where a launch has no shared memory. */
#include "probe/chase.h"

#define LENT_LEAST 32 /* of a size whose ways are not known: no more than a way of most caches */

/* A launch without shared memory leaves a first level that is in one piece with it whole. Where that holds a line more for each set, the
 * size that was seen is only what the records have left. */
enum chase_state chase_lent(struct chase_path *c, unsigned kind, uint32_t room)
{
	struct chase_level *l = &c->level[0];
	struct chase_path bare = *c;
	bool fits = false;

	if (l->lent || l->endless || l->size.state != CHASE_DONE || l->line.state != CHASE_DONE || !l->stride)
		return CHASE_DONE;
	const bool even = l->ways.state == CHASE_DONE && !l->unequal && l->ways.value;
	const uint64_t more = even ? l->size.value / l->ways.value : l->size.value / LENT_LEAST,
		       step = more > l->stride ? more / l->stride * l->stride : l->stride;
	const struct chase_ring_spec ring = {0, l->size.value + step, l->stride, 0, 0};
	bare.kind = kind;
	bare.room = room;
	if (ring.bytes > c->limit)
		return CHASE_DONE;
	const enum chase_state state = chase_fits(&bare, 0, &ring, &fits, NULL);
	l->lent = state == CHASE_DONE && fits;
	/* What cannot be had says nothing against the size. */
	return state == CHASE_PENDING ? state : CHASE_DONE;
}
