/* Whether an approximate answer lies within its documented bound, against long double. */
#ifndef FATHOM_ISA_BOUND_H
#define FATHOM_ISA_BOUND_H
#include "isa_run.h"

/* True when the answer is right, or when nothing is promised for these inputs. truth: what would be exact, for messages. */
bool isa_within_bound(const struct isa_case *c, uint32_t thread, uint64_t answer, double *truth);

#endif
