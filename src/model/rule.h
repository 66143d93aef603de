/* Replacement rules of one set as rows of a table: who goes when a line comes in, and what a use leaves behind. Lines are numbers.
 * Source: Al-Zoubi et al. 2004, 2 (lru, fifo, tree, not recently used); Mei 2014, Fig. 8 (weighted, schedule). */
#ifndef FATHOM_RULE_H
#define FATHOM_RULE_H
#include "base/rng.h"
#include <stdbool.h>
#include <stdint.h>

/* The first RULES always do the same, so that one access can contradict them; the others draw, or go through a list. */
enum rule { RULE_LRU, RULE_FIFO, RULE_PLRU, RULE_NRU, RULES, RULE_RANDOM = RULES, RULE_WEIGHTED, RULE_SCHEDULE };
const char *rule_name(enum rule r); /* "lru" ... */
/* Whether the rule makes sense for so many ways, and differs there from those before it: with two ways all but fifo are lru. */
bool rule_applies(enum rule r, unsigned ways);

#define RULE_WAYS  128
#define RULE_EMPTY UINT64_MAX /* the line of a way that holds none */

struct rule_params {
	enum rule rule;
	const double *weight;	  /* weighted: the chance of each way; they sum to 1 */
	const uint16_t *schedule; /* schedule: the ways that go one after the other */
	uint32_t schedule_count;
	bool by_access; /* it moves on with each access to the set, else with each line that is replaced */
};
struct rule_way {
	uint64_t line;
	uint64_t sectors;     /* bit per sector that is there; the rules do not look at it */
	uint8_t older, newer; /* lru: ways that were used before and after it; fifo: whose lines came in so */
	bool used;	      /* nru */
};
struct rule_state {
	uint8_t oldest, newest;	       /* lru and fifo: the ends of the ways' list */
	uint64_t tree[RULE_WAYS / 64]; /* plru: which half was used longer ago; node 1 is the root */
	uint32_t turn;		       /* schedule: how far it has come */
	bool full;		       /* no way is empty; false, when nobody knows: whoever empties one says so */
};
/* What a set is before its first access: every way is empty. */
void rule_empty(struct rule_way *way, struct rule_state *state, unsigned ways);
/* A set whose memory is somebody else's. */
struct rule_view {
	const struct rule_params *params;
	unsigned ways;
	struct rule_way *way;
	struct rule_state *state;
	struct rng *rng; /* of rules that draw, else NULL */
};
/* One access. Returns the line's way; *found: whether the line was there. A line that comes in has no sector. */
unsigned rule_use(const struct rule_view *v, uint64_t line, bool *found);
/* The same of a line that is at way `at`, unless it is nowhere. RULE_WAYS or more: it was never there. */
unsigned rule_use_at(const struct rule_view *v, uint64_t line, unsigned at, bool *found);

/* A set of its own, of a rule that always does the same. */
struct rule_set {
	struct rule_params params;
	unsigned ways;
	struct rule_state state;
	struct rule_way way[RULE_WAYS];
};
/* variant 0: an empty set; others: full of strange lines, in a state drawn from the seed. */
void rule_start(struct rule_set *s, enum rule r, unsigned ways, uint64_t variant);
/* One access. Returns whether it hits. */
bool rule_access(struct rule_set *s, uint64_t line);

#endif
