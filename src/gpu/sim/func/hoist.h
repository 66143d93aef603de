/* What a device's compiler does between PTX and time: the order of instructions. Knows no latency. */
#ifndef FATHOM_FUNC_HOIST_H
#define FATHOM_FUNC_HOIST_H
#include "gpu/sim/func/func.h"

/* The same program with its loads as early as a compiler puts them. Within each stretch without branches a load, and the arithmetic
 * that its address needs, moves up past what it does not depend on. Loads go on doing so until they fill `registers` 32-bit registers
 * of a thread whose first use is still to come; the loads that follow stay behind that use. Clock reads, barriers, fences, atomics,
 * calls and volatile accesses are passed by nothing, and no load passes a store that may write what it reads. A constant at an address
 * that the code names is an operand, and no load. Every record keeps its line, and each thread computes the same. *out and its records live in a; everything else is shared with p. 0 or -ENOMEM. */
int func_hoist(struct func_program **out, struct arena *a, const struct func_program *p, uint32_t registers);

#endif
