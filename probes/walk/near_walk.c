/* Walks round a few places of global memory: what making an address of a number takes, and whether their instructions come in time. */
#include "walk.h"
#include <math.h>

enum { REPEATS_QUIET = 2 };

#define SAME 0.003 /* of a walk: what another of the same instructions may be apart */

bool near_alike(const struct timed *a, const struct timed *b)
{
	return a->ok && b->ok && a->repeats <= REPEATS_QUIET && b->repeats <= REPEATS_QUIET &&
	       fabs(a->ns - b->ns) <= SAME * b->ns;
}

/* all: with all repeats, where there are such; older recordings lack them. */
static struct timed ask_one(struct study *s, unsigned bytes, unsigned pointer, struct walk_loops loops, bool all,
			    const struct walk_clock *clock)
{
	const struct timed all_of_it =
	    all ? walk_ask_all(s, SPACE_GLOBAL, bytes, pointer, loops, true, clock) : (struct timed){.ok = false};
	return all && (study_pending(s) || all_of_it.point) ? all_of_it
							    : walk_ask(s, SPACE_GLOBAL, bytes, pointer, loops, clock);
}

static void ask_near_by(struct study *s, struct walk_loops loops, bool all, const struct walk_clock *clock,
			struct near *n)
{
	n->why = NULL;
	/* Words of 8 bytes hold numbers of places as well as addresses: the difference is what making an address takes. */
	const struct timed number = n->number = ask_one(s, 8, false, loops, all, clock),
			   pointer = n->pointer = ask_one(s, 8, true, loops, all, clock);
	n->more = (struct more){.ns = number.ns > pointer.ns ? number.ns - pointer.ns : 0,
				.unsure = hypot(number.hi - number.ns, pointer.hi - pointer.ns),
				.told = number.ok && pointer.ok};
	for (unsigned i = 0; i < WALK_SIZES; i++)
		n->walk[i] = i == 3 ? pointer : ask_one(s, 1u << i, i > 3, loops, all, clock);
}

/* Asks again for walks with unlike launches. If some walk has two, something comes now and then. Two launches of
 * another walk may have met it both times. */
void near_ask(struct study *s, struct walk_loops loops, const struct walk_clock *clock, struct near *n)
{
	ask_near_by(s, loops, false, clock, n);
	bool disturbed = n->number.repeats > REPEATS_QUIET, quiet = n->number.repeats <= REPEATS_QUIET;
	for (unsigned i = 0; i < WALK_SIZES; i++) {
		disturbed |= n->walk[i].repeats > REPEATS_QUIET;
		quiet |= n->walk[i].repeats <= REPEATS_QUIET;
	}
	if (disturbed && quiet && !study_pending(s))
		ask_near_by(s, loops, true, clock, n);
}

/* Whether walks of all sizes have room for their instructions, or all those of addresses. */
static bool has_room(const struct study *s, const struct near *n, bool numbers)
{
	bool room = !numbers || walk_has_room(s, SPACE_GLOBAL, &n->number);
	for (unsigned i = numbers ? 0 : 3; i < WALK_SIZES; i++)
		room &= walk_has_room(s, SPACE_GLOBAL, &n->walk[i]);
	return room;
}

/* Whether walks of numbers take as long: what is late of all goes away with what is taken off. */
static bool all_alike(const struct near *n)
{
	bool alike = true;
	for (unsigned i = 0; i < 3; i++)
		alike &= near_alike(&n->walk[i], &n->number);
	return alike;
}

static bool is_later(const struct near *n, const struct near *than)
{
	bool later = walk_is_later(&n->number, &than->number);
	for (unsigned i = 0; i < WALK_SIZES; i++)
		later |= walk_is_later(&n->walk[i], &than->walk[i]);
	return later;
}

static bool is_told(const struct near *n)
{
	bool told = n->more.told;
	for (unsigned i = 0; i < WALK_SIZES; i++)
		told &= n->walk[i].ok;
	return told;
}

void near_in_time(struct study *s, bool late, bool cold_shorter, const struct walk_clock *clock, struct near *n)
{
	struct near shorter;
	if (has_room(s, n, true) || (!cold_shorter && has_room(s, n, false) && all_alike(n)))
		return;
	near_ask(s, walk_short_loops, clock, &shorter);
	if (study_pending(s))
		return;
	/* Those through memory have more instructions, and were found to have them in time. What is taken off of them is to be of such loops, too. */
	if (cold_shorter && shorter.number.repeats && shorter.pointer.repeats) {
		*n = shorter;
		return;
	}
	if (!is_told(&shorter)) {
		/* An older recording has none, or their launches differ too much. */
		n->why = late ? walk_late_too : NULL;
		return;
	}
	if (!is_later(n, &shorter))
		return;
	*n = shorter;
	if (!walk_has_room(s, SPACE_GLOBAL, &n->number) && walk_bends(s, SPACE_GLOBAL, walk_short_loops, clock))
		n->why = walk_always_late;
}
