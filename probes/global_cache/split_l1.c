/* The L1 of launches that ask for next to no shared memory, where that is another part of one array. Mei 2014, 4.2. */
#include "split_l1.h"

bool split_l1(struct chase_path *c)
{
	static const char stem[] = "cache.global.l1.split";
	struct study *s = c->study;
	const struct finding *f = study_finding(s, "shared.splits");
	struct chase_run walk[2];

	if (!f || f->verdict != VERDICT_MEASURED)
		return true;
	const enum chase_state walked = chase_walk(c, walk), state = walked == CHASE_DONE ? chase_survey(c) : walked;
	if (state == CHASE_DONE && c->level_count > 1)
		chase_geometry(c, 0);
	if (study_pending(s))
		return false;
	if (state == CHASE_DONE && c->level_count > 1)
		chase_conclude_geometry(c, 0, stem);
	else
		chase_say_geometry(s, stem, VERDICT_INCONCLUSIVE,
				   state == CHASE_DONE ? "no footprint makes it miss" : c->why);
	return true;
}
