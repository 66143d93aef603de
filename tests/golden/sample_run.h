/* A hand-made run that has one of everything: for the tests of store, replay and report. */
#ifndef FATHOM_SAMPLE_RUN_H
#define FATHOM_SAMPLE_RUN_H
#include "data/paper_compare.h"
#include "data/run.h"

/* Fills an uninitialised run. 0 or -ENOMEM (then run_free it). */
int sample_run(struct run *r);
/* Figures of it. 0 or -ENOMEM. */
int sample_figures(struct figure_list *l);
/* A paper of two devices beside it, with one row of every result. parts: room for two. 0 or -errno. */
int sample_paper(struct paper_comparison *parts, struct arena *a, const struct run *r);

#endif
