/* A hand-made run that has one of everything: for the tests of store, replay and report. */
#ifndef FATHOM_SAMPLE_RUN_H
#define FATHOM_SAMPLE_RUN_H
#include "data/run.h"

/* Fills an uninitialised run. 0 or -ENOMEM (then run_free it). */
int sample_run(struct run *r);
/* Figures of it. 0 or -ENOMEM. */
int sample_figures(struct figure_list *l);

#endif
