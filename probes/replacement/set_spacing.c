/* How a set's lines are spaced: evenly, or as tiles of neighbours. */
#include "replaced_level.h"
#include <stdio.h>

#define LAPS 16
#define FEW                                                                                                            \
	0.5 /* of the misses that a line too many makes at least: a part of what lies behind answers so many of them */

struct laps {
	enum chase_state state;
	bool conflict; /* one line more than the ways of a set misses, lap after lap */
	bool settled;  /* without that one they hit, nearly always */
	char why[200];
};

/* Laps over one line more than the ways of a set. */
static struct laps laps_over(const struct level *l, struct set_lines *set, struct trace_classes *classes,
			     uint32_t **ticks, struct policy_sequence *q)
{
	struct set_ask ask = {l->study, set};
	struct policy_plan plan = {POLICY_RING, set->ways, set->ways + 1, 0, LAPS * (set->ways + 1)};
	struct laps out = {.state = CHASE_UNDECIDED};
	uint32_t missed = 0, alone = 0;
	struct trace_level few = set->known;

	snprintf(out.why, sizeof(out.why), "%u lines in steps of %llu bytes are more than can be read", set->lines,
		 (unsigned long long)set->stride);
	if (!level_reads(l, set->lines, set->stride * set->lines))
		return out;
	snprintf(out.why, sizeof(out.why), "out of memory");
	if (!policy_sequence(study_arena(l->study), &plan, q))
		return out;
	out.state = set_trace(&ask, &plan, q, ticks, out.why, sizeof(out.why));
	if (out.state != CHASE_DONE || !*ticks)
		return out;
	policy_same_part(&set->known, set->parts, q, *ticks);
	const bool usual = policy_classify(&set->known, q, *ticks, classes);
	/* If victims are drawn, few of many lines miss in a lap, and in several ways. */
	few.few = FEW / (set->ways + 1);
	if (!usual && !policy_classify(&few, q, *ticks, classes))
		return out;
	/* If lines in between fall into the set, too, as many as fit do not fit either. Without any, strangers may have
	 * made lines miss. A drawn victim leaves theirs there for long. */
	for (uint32_t i = q->fits_from; i < q->fits_to; i++)
		alone += trace_class_of(classes, (*ticks)[i]) != TRACE_MISS;
	for (uint32_t lap = 0; lap < LAPS; lap++) {
		bool any = false;
		for (uint32_t i = 0; i <= set->ways; i++)
			any |= trace_class_of(classes, (*ticks)[q->from + lap * (set->ways + 1) + i]) == TRACE_MISS;
		missed += any;
	}
	/* Few misses may be noise, which does not wait for the line too many. */
	out.settled = usual ? 8 * alone >= 7 * (q->fits_to - q->fits_from) : alone == q->fits_to - q->fits_from;
	if (out.settled)
		out.conflict = missed >= (usual ? LAPS - LAPS / 4 : LAPS - 1);
	else
		out.conflict = usual && !set->between && missed >= LAPS - 1 && 2 * alone >= q->fits_to - q->fits_from;
	return out;
}

/* Do ways + 1 tiles, evenly apart, fall into one set? If they do, `classes` says what hits and misses take. */
static struct laps conflict_at(const struct level *l, struct set_lines *set, unsigned tile, unsigned effort,
			       struct trace_classes *classes, uint32_t **ticks, struct policy_sequence *q)
{
	set->stride = l->line * l->sets << tile;
	set->tile = 0; /* one line of each tile */
	set->lines = set->ways + 1;
	level_between(l, set, effort);
	return laps_over(l, set, classes, ticks, q);
}

enum chase_state level_alone(const struct level *l, const struct set_lines *plain, bool *conflict)
{
	struct set_lines set = *plain;
	struct policy_sequence q = {0};
	struct trace_classes c;
	uint32_t *ticks = NULL;

	*conflict = false;
	set.lines = set.ways + 1;
	set.bound = least(set.bound, (set.between + set.between * set.apart / set.stride + 3) * set.apart + l->line);
	const struct laps is = laps_over(l, &set, &c, &ticks, &q);
	*conflict = is.state == CHASE_DONE && is.conflict;
	return is.state;
}

/* Whether a ring reads more pages than the level holds: those may be what does not fit, whatever set they are in. */
static bool floods(const struct level *l, const struct set_lines *set)
{
	return set_pages(l->path) && set->between && set->bound / set->apart + set->lines > l->size / l->line;
}

/* Whether a walk without conflict reached the level at all, by what another one says of latencies. */
static bool reached(const struct trace_classes *c, const uint32_t *ticks, const struct policy_sequence *q)
{
	uint32_t here = 0, beyond = 0;

	for (uint32_t i = q->from; i < q->count; i++) {
		enum trace_class is = trace_class_of(c, ticks[i]);
		here += is == TRACE_HIT;
		beyond += is == TRACE_MISS;
	}
	return 10 * here >= 9 * (q->count - q->from) && 20 * beyond <= q->count - q->from;
}

enum chase_state level_spacing(const struct level *l, const struct set_lines *plain, struct spacing *out, char *why,
			       size_t n)
{
	uint32_t *ticks[TILE_MOST + 1] = {NULL};
	struct policy_sequence q[TILE_MOST + 1] = {{0}};

	*out = (struct spacing){.even = false};
	for (unsigned t = 0; t <= TILE_MOST; t++) {
		struct trace_classes c;
		for (unsigned effort = l->up && t; effort < (l->up && !t ? EFFORTS : 1u + (l->up != NULL)); effort++) {
			struct set_lines set = *plain;
			struct laps is = conflict_at(l, &set, t, effort, &c, &ticks[t], &q[t]);
			if (is.state == CHASE_PENDING || (is.state == CHASE_UNDECIDED && !t)) {
				snprintf(why, n, "%s", is.why);
				return is.state;
			}
			if (is.state == CHASE_UNDECIDED)
				return CHASE_DONE; /* larger tiles cannot be tried */
			if (!is.conflict || floods(l, &set))
				continue;
			*out = (struct spacing){true, !t || (ticks[t - 1] && reached(&c, ticks[t - 1], &q[t - 1])), t,
						effort, is.settled};
			return CHASE_DONE;
		}
	}
	return CHASE_DONE;
}

enum chase_state level_folded(const struct level *l, const struct set_lines *plain, bool *is)
{
	struct set_lines set = *plain, even = *plain;
	struct policy_sequence q = {0}, q_even = {0};
	struct trace_classes c, c_even;
	uint32_t *ticks = NULL, *ticks_even = NULL;

	*is = false;
	if (l->unequal || set_pages(l->path) || l->sets & (l->sets - 1) || l->sets < 2 * l->ways)
		return CHASE_DONE;
	set.stride = set_folded(l);
	set.lines = set.ways + 1;
	level_between(l, &set, 0);
	const struct laps folded = laps_over(l, &set, &c, &ticks, &q);
	if (folded.state == CHASE_PENDING || !folded.conflict)
		return folded.state == CHASE_PENDING ? folded.state : CHASE_DONE;
	const struct laps other = conflict_at(l, &even, 0, 0, &c_even, &ticks_even, &q_even);
	*is = other.state == CHASE_DONE && !other.conflict && ticks_even && reached(&c, ticks_even, &q_even);
	return other.state == CHASE_PENDING ? other.state : CHASE_DONE;
}
