/* What a device's compiler does between PTX and time. Knows no latency. */
#ifndef FATHOM_FUNC_COMPILE_H
#define FATHOM_FUNC_COMPILE_H
#include "gpu/sim/func/func.h"

/* The same program in a compiler's order, and with its operands. Every record keeps its line, and each thread computes
 * the same.
 *
 * Loads stand as early as a compiler puts them. Within each stretch without branches, a load moves up past what it does
 * not depend on, with the arithmetic that its address needs. It stops if more than `registers` 32-bit registers of a
 * thread would be live. A kernel that needs more by itself has as many as it needs, in steps of eight. Clock reads,
 * barriers, fences, atomics, calls and volatile accesses are passed by nothing, and no load passes a store that may
 * write what it reads. What a branch waits for comes behind the loads.
 *
 * What native instructions take as an operand is no instruction (func_info.fused). Such are parameters and constants at
 * addresses that the code names, other names of a register, steps of an address, and signs. The first half of what one
 * instruction does in two is none either: a product and a sum, two sums, or two logical operations. A comparison and a
 * logical operation on its answer are one instruction, too. Those that read such a result wait for what it was made of.
 * *out and its records live in a; everything else is shared with p. 0 or -ENOMEM. */
int func_compile(struct func_program **out, struct arena *a, const struct func_program *p, uint32_t registers);

#endif
