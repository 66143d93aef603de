/* What is in front of the TLBs of textures: a cache of the SM's own answers before addresses are translated. */
#include "replacement.h"
#include <math.h>

#define LINE 64u /* bytes */

bool set_common(const struct study *s)
{
	double near_size, near_line, size, line;

	return study_number(s, "cache.texture.l1.size", &near_size) &&
	       study_number(s, "cache.texture.l1.line", &near_line) && study_number(s, "cache.global.l2.size", &size) &&
	       study_number(s, "cache.global.l2.line", &line) && near_size == size && near_line == line;
}

enum chase_state set_front(struct study *s, double *ticks)
{
	const struct policy_plan plan = {POLICY_RING, 1, 2, 0, TRACE_LEAD};
	struct set_lines one = {
	    .path = SET_TEXTURE, .mode = SET_DENSE, .line = LINE, .extra = LINE, .ways = 1, .lines = 2};
	const struct set_ask ask = {s, &one};
	struct policy_sequence q;
	uint32_t *each;
	char why[200];

	*ticks = NAN;
	if (!policy_sequence(study_arena(s), &plan, &q))
		return CHASE_UNDECIDED;
	const enum chase_state state = set_trace((void *)&ask, &plan, &q, &each, why, sizeof(why));
	/* The slowest but one: a clock that is faster now and then counts more for the same. */
	double most = 0, second = 0;
	for (uint32_t i = TRACE_LEAD / 2; state == CHASE_DONE && i < TRACE_LEAD; i++) {
		second = fmin(most, fmax(second, each[i]));
		most = fmax(most, each[i]);
	}
	if (state == CHASE_DONE)
		*ticks = second;
	return state;
}
