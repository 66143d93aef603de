/* The line of an L2 that is too large to be walked by one thread.
 *
 * The model. A line takes its place however little of it is read. So a footprint half as large again as what fits
 * overflows as long as each of its lines is touched. Read in steps of two lines it is three quarters of what fits, and
 * has room. Twice the footprint has to overflow again in steps of two lines, and to have room in steps of four.
 *
 * If addresses choose the sets plainly, steps of two lines use half of the sets, and no step ever has room. Nothing is
 * told then. */
#include "large_l2.h"
#include <math.h>
#include <stdio.h>

#define LONGEST 2048 /* bytes of a step */
#define MANY	0.2  /* of the samples miss at the least where all lines are touched */
#define AS_MANY 0.6  /* of as many is still too large */
#define FEW	0.3  /* and so few has room, but for sets that are fuller than others */

enum room { ROOM_PENDING, ROOM_UNKNOWN, ROOM_NONE, ROOM_LEFT };

/* Whether a footprint has room in steps of so many bytes. full: share of the samples that miss where all lines are touched. */
static enum room room_at(struct study *s, unsigned experiment, double footprint, uint64_t step, double full,
			 struct large_l2 *l)
{
	double share;
	const enum chase_state state = large_misses(s, experiment, footprint, step, l, &share);

	if (state != CHASE_DONE)
		return state == CHASE_PENDING ? ROOM_PENDING : ROOM_UNKNOWN;
	return share >= AS_MANY * full ? ROOM_NONE : share <= FEW * full ? ROOM_LEFT : ROOM_UNKNOWN;
}

/* The first step that has room, behind steps none of which has. 0: there is none. */
static enum chase_state first_room(struct study *s, unsigned experiment, double footprint, uint64_t unit, double full,
				   struct large_l2 *l, uint64_t *step)
{
	*step = 0;
	for (uint64_t d = 2 * unit; d <= LONGEST; d *= 2) {
		const enum room room = room_at(s, experiment, footprint, d, full, l);
		if (room == ROOM_PENDING)
			return CHASE_PENDING;
		if (room == ROOM_LEFT)
			*step = d;
		if (room != ROOM_NONE)
			break;
	}
	return CHASE_DONE;
}

enum chase_state large_line(struct study *s, unsigned experiment, uint64_t unit, struct large_l2 *l, uint64_t *line)
{
	const double footprint = large_half_more(l);
	double full;
	uint64_t step;
	enum chase_state state = large_misses(s, experiment, footprint, unit, l, &full);

	*line = 0;
	if (state != CHASE_DONE)
		return state;
	snprintf(l->why, sizeof(l->why), "too few samples miss half as much again as fits");
	if (footprint < 1.4 * l->beyond || 2 * footprint > l->largest || full < MANY)
		return CHASE_UNDECIDED;
	state = first_room(s, experiment, footprint, unit, full, l, &step);
	if (state != CHASE_DONE)
		return state;
	snprintf(l->why, sizeof(l->why),
		 "no step from line to line has clearly more room than those shorter: steps may use fewer sets");
	if (!step)
		return CHASE_UNDECIDED;
	const enum room same = room_at(s, experiment, 2 * footprint, step, full, l),
			more = room_at(s, experiment, 2 * footprint, 2 * step, full, l);
	if (same == ROOM_PENDING || more == ROOM_PENDING)
		return CHASE_PENDING;
	snprintf(l->why, sizeof(l->why),
		 "half as much again as fits has room in steps of %u bytes, but twice that does not do as foretold",
		 (unsigned)step);
	if (same != ROOM_NONE || more != ROOM_LEFT)
		return CHASE_UNDECIDED;
	*line = step / 2;
	return CHASE_DONE;
}
