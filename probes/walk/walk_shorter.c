/* Walks through a few places whose instructions may not come in time: shorter loops tell. */
#include "walk.h"

enum {
	SHORT_FEW = 2, /* links whose instructions come in time if any do */
	SHORT_MANY = 8
};

#define LATER 1.02 /* a step of a loop whose instructions come late, over one of another */

const struct walk_loops walk_short_loops = {SHORT_FEW, SHORT_MANY};

/* Whether the code of the longer loop is known to have room in the first instruction cache. */
static bool has_room(const struct study *s, unsigned experiment, const struct timed *walk)
{
	const struct native_info *n = study_native(s, experiment, walk->point);
	return n && n->layout.code_bytes && n->layout.code_bytes <= study_code_room(s);
}

/* Whether a step takes longer than one of another pair of loops, by more than both are known. */
static bool is_later(const struct timed *walk, const struct timed *than)
{
	return walk->ns > LATER * than->ns + walk->half + than->half;
}

/* Whether the instructions of the longer one of these loops come late: a step takes longer in the second half of what they differ by than in the first. */
static bool bends(struct study *s, enum walk_space space, struct walk_loops loops, const struct walk_clock *clock)
{
	const unsigned middle = (loops.few + loops.many) / 2;
	const struct timed first = walk_ask(s, space, 4, 0, (struct walk_loops){loops.few, middle}, clock),
			   last = walk_ask(s, space, 4, 0, (struct walk_loops){middle, loops.many}, clock);
	return !first.ok || !last.ok || is_later(&last, &first);
}

struct timed walk_in_time(struct study *s, enum walk_space space, struct walk_loops loops, bool late,
			  const struct walk_clock *clock, const char **why)
{
	const struct timed usual = walk_ask(s, space, 4, 0, loops, clock);
	const bool seen = study_seen(s, space, usual.point);
	*why = NULL;
	/* Of code that cannot be seen nothing is said of constants, and of private memory no more than that it takes no longer than this. */
	if (!usual.ok || has_room(s, space, &usual) || (!seen && space != SPACE_SHARED))
		return usual;
	const struct timed shorter = walk_ask(s, space, 4, 0, walk_short_loops, clock);
	if (study_pending(s))
		return usual;
	if (!shorter.ok) {
		/* An older recording has none, or its launches differ too much. */
		*why = seen && late ? "the loop may be too long for its instructions to come in time, as that of walks "
				      "through memory is"
				    : NULL;
		return usual;
	}
	if (!is_later(&usual, &shorter))
		return usual;
	if (!has_room(s, space, &shorter) && bends(s, space, walk_short_loops, clock))
		*why = "steps of longer loops take longer, down to the shortest: instructions may not come in time";
	return shorter;
}
