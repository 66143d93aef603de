/* Which line of a full set is replaced, by elimination. Every rule that always does the same is simulated beside what
 * one set was seen to do, and dropped when contradicted. When all are, the victim is drawn, and how often each way is
 * says how.
 *
 * The caller knows lines of one set and turns a sequence of their numbers into accesses; what they cost comes back. */
#ifndef FATHOM_POLICY_H
#define FATHOM_POLICY_H
#include "model/rule.h"
#include "probe/trace.h"

#define POLICY_SLOTS 256 /* lines of one set, at most */

/* A sequence of line numbers. It begins with TRACE_LEAD times line 0 and nothing in between, laps over as many lines as fit, laps over
 * more. */
enum policy_kind {
	POLICY_ROUNDS, /* rounds: laps over all lines, which bring the set into a known state, and random accesses */
	POLICY_RING /* one line more than fits, so that always exactly one is missing: laps, or with a seed, in any order */
};
struct policy_plan {
	enum policy_kind kind;
	unsigned ways, lines; /* lines > ways: that are known to share the set */
	uint32_t seed;	      /* of the random accesses */
	uint32_t length;      /* POLICY_RING: accesses of the ring */
};
struct policy_sequence {
	uint32_t count;
	uint16_t *line;
	uint32_t fits_from, fits_to; /* accesses that hit, whatever the rule */
	uint32_t more_from, more_to; /* accesses of which some miss */
	uint32_t from;		     /* where rounds, or the ring, begin */
	uint32_t rounds, prefix, body;
};
bool policy_sequence(struct arena *a, const struct policy_plan *p, struct policy_sequence *out);

struct policy_level {
	struct study *study;
	unsigned ways, lines;
	struct trace_level known;
	double parts; /* ticks that some lines are later than others, whatever the level does; 0: they are alike */
	bool
	    others; /* accesses may be late for what is no matter of the level: pages, whose lines are in caches or not */
	bool apart; /* hits are told by trace_classify_apart, and only rules that always do the same are */
	bool kept;  /* a level above may keep as many of these lines as fit: hits are its own unless speed tells them */
	uint32_t most;	    /* accesses of one trace of rounds */
	uint32_t most_ring; /* and of laps */
	/* Ticks of each access of the plan's sequence, in the study's arena. UNDECIDED: `why` says why. */
	enum chase_state (*ask)(void *ctx, const struct policy_plan *p, const struct policy_sequence *q,
				uint32_t **ticks, char *why, size_t why_bytes);
	void *ctx;
};
struct policy_result {
	enum chase_state state;
	const char *name; /* "lru" ... "random", "weighted" */
	unsigned ways;
	double chance[VALUE_ARRAY_MAX], half; /* of "weighted" and "schedule": each way's, give or take */
	char schedule[64];		      /* of "schedule": as schedule_text says, and what moves it on */
	const char *step;
	bool mixed;	/* the ways' chances are not known: their names got lost along the trace */
	bool hidden;	/* UNDECIDED, because the level above answers */
	char seen[200]; /* DONE: how it was told; UNDECIDED: why not, and what remains */
};
void policy_infer(const struct policy_level *l, struct policy_result *out);

/* Shared by the files of this. Classes of a trace's accesses come as NULL, with a result, when they could not be had.
 * Function policy_draws concludes once every rule is contradicted. */
bool policy_classify(const struct trace_level *known, const struct policy_sequence *q, const uint32_t *ticks,
		     struct trace_classes *c);
/* A page's lines are in the near part of a cache or in the far one. That is `spread` ticks later, whether or not the
 * page is known. Takes that out of the ticks. */
void policy_same_part(const struct trace_level *known, double spread, const struct policy_sequence *q, uint32_t *ticks);
uint8_t *policy_classes(const struct policy_level *l, const struct policy_plan *p, struct policy_sequence *q,
			struct policy_result *out);
void policy_draws(const struct policy_level *l, struct policy_result *out);
/* Lines replaced one after the other: the way of each, and how many accesses the set had had when it was. */
struct policy_victims {
	uint32_t count;
	const uint16_t *way;
	const uint32_t *turn;
};
/* Whether each follows from how many accesses, or misses, there were before it. DONE: out is filled. UNDECIDED: it is as it was, and none
 * or several schedules explain them. */
enum chase_state policy_schedule(const struct policy_victims *v, unsigned ways, struct policy_result *out);

#endif
