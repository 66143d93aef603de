/* What an SM holds and how it issues. Inside this folder. */
#ifndef FATHOM_RESIDENCY_H
#define FATHOM_RESIDENCY_H
#include "probe/probe.h"

enum { RESIDENCY_FILL, RESIDENCY_ISSUE, RESIDENCY_EXPERIMENTS };

/* Most threads, warps and blocks that an SM has at a time: device.max_*_per_sm. */
int residency_fill_setup(const struct study *s, double x, const double *p, struct job *j);
void residency_fill(struct study *s);
/* core.schedulers, core.policy, core.dual_issue. */
int residency_issue_setup(const struct study *s, double x, const double *p, struct job *j);
void residency_issue(struct study *s);

#endif
