/* How large a launch may be: threads and shared memory of a block, shared memory of all blocks of an SM, constant memory. */
#ifndef FATHOM_REGISTERS_LIMITS_H
#define FATHOM_REGISTERS_LIMITS_H
#include "probe/probe.h"

/* x: what is launched. */
enum limit { LIMIT_THREADS, LIMIT_SHARED, LIMIT_CONSTANT, LIMITS };
int limits_setup(const struct study *s, enum limit which, double x, struct job *j);

/* Asks for launches and concludes. experiment: of the first limit, the others follow; together: of blocks that count each
 * other, p[0] threads of each, p[1] how many for each SM, p[2] bytes of shared memory of each. */
void limits_study(struct study *s, unsigned experiment, unsigned together, unsigned split, unsigned values);
/* In which sizes of shared memory an SM comes, the largest of which is `size`. split: of blocks that count each other, x the percent that they ask
 * for, p[0] the values of each, p[1] how many come for each SM, p[2] bytes of shared memory of each. */
void splits_study(struct study *s, unsigned split, unsigned values, double size);
/* Blocks that an SM had at a time; 0: it is not known (yet), or SMs differ. */
uint32_t limits_together(const struct study *s, const struct point *pt);

#endif
