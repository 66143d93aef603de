/* What happens when lanes of a warp part. Inside this folder. */
#ifndef FATHOM_BRANCH_H
#define FATHOM_BRANCH_H
#include "probe/probe.h"

enum { EXPERIMENT_FORK, EXPERIMENT_WAYS, EXPERIMENT_SPIN, EXPERIMENT_LANES, EXPERIMENT_PART, BRANCH_EXPERIMENTS };

/* branch.split, branch.split_issue, branch.issue, branch.meet and branch.meet_ops: what branches cost, and that lanes part. */
int branch_part_setup(const struct study *s, double x, const double *p, struct job *j);
void branch_part(struct study *s);

#endif
