/* What the judge makes of a run, beside its findings: text of `fathom infer --explain`. */
#ifndef FATHOM_WITNESS_TEXT_H
#define FATHOM_WITNESS_TEXT_H
#include "base/str.h"
#include "data/run.h"

/* 0 or -ENOMEM. The run's findings are those of now. */
int witness_text(struct str *out, struct run *r);

#endif
