/* How large a launch may be: threads and shared memory of a block, shared memory of all blocks of an SM, constant memory. */
#ifndef FATHOM_REGISTERS_LIMITS_H
#define FATHOM_REGISTERS_LIMITS_H
#include "probe/probe.h"

/* x: what is launched. */
enum limit { LIMIT_THREADS, LIMIT_SHARED, LIMIT_CONSTANT, LIMITS };
int limits_setup(const struct study *s, enum limit which, double x, struct job *j);

/* Asks for launches and concludes. The first limit's experiment is `experiment`, and the others follow. The experiment
 * `together` is of blocks that count each other. It has the threads of each in p[0], their number for each SM in p[1],
 * and bytes of shared memory of each in p[2]. */
void limits_study(struct study *s, unsigned experiment, unsigned together, unsigned split, unsigned values);
/* Concludes in which sizes of shared memory an SM comes, the largest of which is `size`. The experiment `split` is of
 * blocks that count each other: x is the percent that they ask for. It has the values of each in p[0], their number for
 * each SM in p[1], and bytes of shared memory of each in p[2]. */
void splits_study(struct study *s, unsigned split, unsigned values, double size);
/* Blocks that an SM had at a time; 0: it is not known (yet), or SMs differ. */
uint32_t limits_together(const struct study *s, const struct point *pt);

#endif
