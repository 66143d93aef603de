/* How long the chains are that say what a load takes on average. Inside this folder. */
#ifndef FATHOM_CHASE_CHAIN_H
#define FATHOM_CHASE_CHAIN_H
#include "probe/chase.h"

/* Two lengths of one chain. */
struct chase_lap {
	double cycles;	    /* of one load */
	double spread;	    /* of that */
	double least, most; /* cycles of the shorter chain, and of the one twice as long */
	double ops;	    /* arithmetic instructions that each load needs for its address */
};
/* Cycles for one load, from two lengths of the same chain: the fastest round of each, because noise only delays. */
enum chase_state chase_lap(struct chase_path *c, double start, double footprint, uint64_t stride, bool cold,
			   unsigned loads, uint32_t sm, struct chase_lap *out);
/* Loads of the shorter chain over one line, where the nearest level answers: the code of all of them has to stay in the nearest instruction cache,
 * else the rest is fetched anew in each round. more: cycles of a load that may be such waits. */
enum chase_state chase_chain_near(struct chase_path *c, unsigned *loads, double *more);
/* The same of what lies outside the SM: of *loads, which is long for the sake of the clock's steps, refreshes of the memory may delay each, and those
 * of twice as many loads more. Returns *loads of a chain that does not meet them. */
enum chase_state chase_chain_far(struct chase_path *c, uint32_t sm, unsigned *loads, double *more);

#endif
