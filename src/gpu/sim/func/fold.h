/* Which loads a device's compiler makes operands of the instructions that use them. Knows no latency. */
#ifndef FATHOM_FUNC_FOLD_H
#define FATHOM_FUNC_FOLD_H
#include "gpu/sim/func/func.h"

/* The same program with program->operand filled in. A load of one word of shared memory becomes an operand of the one
 * instruction that reads it. That has to be arithmetic, behind the load in the same stretch without branches. Nothing
 * between them may write shared memory or let other warps do so. An instruction takes one such operand. *out and its
 * table live in a; everything else is shared with p. 0 or -ENOMEM. */
int func_fold(struct func_program **out, struct arena *a, const struct func_program *p);

/* Marks the records that begin a stretch without branches; inst_count + 1 of them, to be freed by mem_free. NULL: no memory. */
bool *func_leaders(const struct func_program *p);

#endif
