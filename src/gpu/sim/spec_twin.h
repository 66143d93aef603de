/* The twin: a .gpu file of what one run found, for the simulator to measure again. */
#ifndef FATHOM_SPEC_TWIN_H
#define FATHOM_SPEC_TWIN_H
#include "base/err.h"
#include "base/str.h"
#include "data/run.h"

/* Appends the description (doc/gpu-file.md). MEASURED and LIKELY findings are lines with their interval. What nobody
 * measured is derived from other findings, or taken from a shipped GPU, as far as that changes no finding. The file's
 * head lists it. The shipped GPU is `like`, or the nearest if NULL. Returns 0, or negative and a sentence. */
int spec_twin(struct str *out, const struct run *r, const char *like, struct err *e);

#endif
