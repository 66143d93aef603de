/* What is known of a card, from publications, vendors' documents and other methods, as a .truth file: doc/exam.md has the format. */
#ifndef FATHOM_EXAM_TRUTH_H
#define FATHOM_EXAM_TRUTH_H
#include "base/err.h"
#include "data/run.h"
#include "known.h"

/* Every key of the file, and of those that it includes, with the run's answer. What the run's backend cannot ask at all is left out. */
int exam_truth_each(const struct run *r, const char *path, known_each_fn *each, void *ctx, struct err *e);

#endif
