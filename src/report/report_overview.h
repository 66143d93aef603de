/* Figures of the whole GPU, made of what all probes found. */
#ifndef FATHOM_REPORT_OVERVIEW_H
#define FATHOM_REPORT_OVERVIEW_H
#include "base/str.h"
#include "data/figure.h"
#include "data/run.h"

/* A value that the run has, MEASURED or LIKELY. */
bool overview_number(const struct run *r, const char *key, double *value);
/* The best of what the probes of pipelines reached with one class of operations, "mad", in Gop/s; NULL: none. */
const struct finding *overview_rate(const struct run *r, const char *class);
/* What all SMs together get from one place: 0 shared memory, 1 L1, 2 L2, 3 memory. scale: from the finding's unit to GB/s. NULL: not known. */
const struct finding *overview_bandwidth(const struct run *r, unsigned level, double *scale);
/* The value for a drawing: bytes and what lies beyond three digits short, bounds with their sign. */
void overview_value(struct str *out, const struct finding *f);
/* Adds the ladder of memories and the roofline to the figures of all probes, as far as the run has what they need.
 * Returns 0 or -ENOMEM. */
int report_overview(struct figure_list *l, const struct run *r);
/* The GPU as it was found, as elements of a page: groups of SMs, what an SM has, the L2, memory; colours say the verdicts. */
void report_gpu(struct str *out, const struct run *r);

#endif
