/* Whether a first level holds more where a launch has no shared memory. */
#include "base/str.h"
#include "probe/chase.h"
#include "probe/gates.h"
#include "probe/study.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define LENT_LEAST 32 /* of a size whose ways are not known: no more than a way of most caches */

/* A launch without shared memory leaves a first level that is in one piece with it whole. If that holds a line more for
 * each set, the size that was seen is only what the records have left. */
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

/* The level's key in place of the one that `f` has, which ends in `what`. NULL: there is none. */
static struct finding *beside(struct finding_list *l, const struct finding *f, const char *what, const char *other)
{

	return gates_find(l, KEY("%.*s%s", (int)(strlen(f->key) - strlen(what)), f->key, other));
}

/* Of a level whose lines and sets are not known, what shared memory took is no whole number of ways. */
static void estimate(struct finding_list *l, struct finding *f, const char *what, bool ways, uint64_t taken)
{
	const struct finding *line = beside(l, f, what, "line"), *sets = beside(l, f, what, "sets");
	const bool known = line && sets && finding_estimated(line) && finding_estimated(sets);
	char why[sizeof(f->because)];

	/* Of one set shared memory may leave less than it takes: lines side by side are all of it. */
	if (known ? !(sets->value.number > 1) : ways)
		return;
	const double way = known ? line->value.number * sets->value.number : 1, more = ceil((double)taken / way),
		     part = ways ? more : more * way, whole = f->lo + part;
	/* Drivers hand out shared memory in steps, so that as much again may be gone. What is known no better is no estimate. */
	if (whole + part - f->lo > STUDY_LIKELY_WIDEST * whole)
		return;
	snprintf(why, sizeof(why), "%.0f %s were left by the %llu bytes of shared memory that a launch has; %.200s",
		 f->lo, ways ? "ways" : "bytes", (unsigned long long)taken, f->because);
	memcpy(f->because, why, sizeof(why));
	f->verdict = VERDICT_LIKELY;
	f->value.number = whole;
	f->hi = whole + part;
}

void chase_lent_estimate(struct finding_list *l, uint64_t taken, uint64_t divided)
{
	for (size_t i = 0; i < l->count; i++) {
		struct finding *f = &l->items[i];
		if (f->verdict != VERDICT_BOUND || !(f->notes & NOTE_LENT))
			continue;
		const uint64_t bytes = strstr(f->key, ".split.") ? divided : taken;
		if (str_ends(f->key, "size"))
			estimate(l, f, "size", false, bytes);
		else if (str_ends(f->key, "ways"))
			estimate(l, f, "ways", true, bytes);
	}
}
