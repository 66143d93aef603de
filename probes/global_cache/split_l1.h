/* The L1 beside the least shared memory. Inside this folder. */
#ifndef FATHOM_SPLIT_L1_H
#define FATHOM_SPLIT_L1_H
#include "probe/chase.h"

/* Where launches choose how an SM's memory is divided. c: loads that may use the L1, of launches that ask for next to no shared memory; nothing is
 * learned of it yet. False: wait for points. */
bool split_l1(struct chase_path *c);

#endif
