/* Replacement rules of one set, as plain C: what a set would do, so that what it did can contradict it. */
#ifndef FATHOM_RULE_H
#define FATHOM_RULE_H
#include "base/rng.h"
#include <stdbool.h>
#include <stdint.h>

enum rule { RULE_LRU, RULE_FIFO, RULE_PLRU, RULE_NRU, RULES };
const char *rule_name(enum rule r); /* "lru" ... */
/* Whether the rule makes sense for so many ways, and differs there from those before it: with two ways all but fifo are lru. */
bool rule_applies(enum rule r, unsigned ways);

#define RULE_WAYS  128
#define RULE_LINES 1024 /* numbers of lines are less */
#define RULE_EMPTY 0xffffu

struct rule_set {
	enum rule rule;
	unsigned ways;
	uint64_t stamp;
	uint16_t line[RULE_WAYS]; /* RULE_EMPTY: nothing that is asked for */
	uint64_t age[RULE_WAYS];
	uint8_t bit[2 * RULE_WAYS]; /* plru: which half was used longer ago, node 1 is the root; nru: used */
	unsigned vacant;	    /* ways that hold nothing: the last ones */
	unsigned used;		    /* nru: how many ways are */
	uint8_t where[RULE_LINES];  /* 1 + way of each line */
};
/* variant 0: an empty set; others: full of strange lines, in a state drawn from the seed. */
void rule_start(struct rule_set *s, enum rule r, unsigned ways, uint64_t variant);
/* One access. Returns whether it hits. */
bool rule_access(struct rule_set *s, uint16_t line);

#endif
