/* Walks through a few places whose instructions may not come in time: shorter loops tell. */
#include "walk.h"

enum {
	SHORT_FEW = 2, /* links whose instructions come in time if any do */
	SHORT_MANY = 8
};

#define LATER 1.02 /* a step of a loop whose instructions come late, over one of another */

const struct walk_loops walk_short_loops = {SHORT_FEW, SHORT_MANY};
const char walk_late_too[] =
    "the loop may be too long for its instructions to come in time, as that of walks through memory is";
const char walk_always_late[] =
    "steps of longer loops take longer, down to the shortest: instructions may not come in time";

bool walk_has_room(const struct study *s, unsigned experiment, const struct timed *walk)
{
	const struct native_info *n = study_native(s, experiment, walk->point);
	return n && n->layout.code_bytes && n->layout.code_bytes <= study_code_room(s);
}

bool walk_is_later(const struct timed *walk, const struct timed *than)
{
	return walk->ns > LATER * than->ns + walk->half + than->half;
}

bool walk_bends(struct study *s, enum walk_space space, struct walk_loops loops, const struct walk_clock *clock)
{
	const unsigned middle = (loops.few + loops.many) / 2;
	const struct timed first = walk_ask(s, space, 4, 0, (struct walk_loops){loops.few, middle}, clock),
			   last = walk_ask(s, space, 4, 0, (struct walk_loops){middle, loops.many}, clock);
	return !first.ok || !last.ok || walk_is_later(&last, &first);
}

struct timed walk_in_time(struct study *s, enum walk_space space, struct walk_loops loops, bool late,
			  const struct walk_clock *clock, const char **why)
{
	const struct timed usual = walk_ask(s, space, 4, 0, loops, clock);
	const bool seen = study_seen(s, space, usual.point);
	*why = NULL;
	/* Of code that cannot be seen nothing is said of constants, and of private memory no more than that it takes no longer than this. */
	if (!usual.ok || walk_has_room(s, space, &usual) || (!seen && space != SPACE_SHARED))
		return usual;
	const struct timed shorter = walk_ask(s, space, 4, 0, walk_short_loops, clock);
	if (study_pending(s))
		return usual;
	if (!shorter.ok) {
		/* An older recording has none, or its launches differ too much. */
		*why = seen && late ? walk_late_too : NULL;
		return usual;
	}
	if (!walk_is_later(&usual, &shorter))
		return usual;
	if (!walk_has_room(s, space, &shorter) && walk_bends(s, space, walk_short_loops, clock))
		*why = walk_always_late;
	return shorter;
}
