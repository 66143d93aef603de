/* The cost of a launch, the rate of the clock and a turn of a loop: what the probe `bandwidth` asks beside streams. */
#ifndef FATHOM_BANDWIDTH_H
#define FATHOM_BANDWIDTH_H
#include "probe/probe.h"

enum { EXPERIMENT_TURNS = 2, EXPERIMENT_EMPTY };
int turns_setup(const struct study *s, double x, const double *p, struct job *j);
int empty_setup(const struct study *s, double x, const double *p, struct job *j);
void launch_study(struct study *s);

#endif
