/* Runs the cases on a device: kernels of some cases each, seeded inputs, one answer a thread. */
#ifndef FATHOM_ISA_RUN_H
#define FATHOM_ISA_RUN_H
#include "gpu/gpu.h"
#include "isa_cases.h"

#define ISA_THREADS 2048
#define ISA_BLOCK   128
#define ISA_SEED    20261120u

/* What thread t reads: 64 bits a source, in the low bits of which lies a value of the type. About half are edges. */
uint64_t isa_input(enum ptx_type t, unsigned source, uint32_t thread);
bool isa_pred(uint32_t thread); /* p; all true or all false in some warps */

/* Answers of every case, ISA_THREADS each: answer[case * ISA_THREADS + thread], in the low bits. The first `threads` of
 * them are asked, in blocks of `block`, and the others stay 0.
 *
 * Cases that the device's compiler refuses, or that end badly, are an error if refused is NULL. Otherwise they are said
 * on standard error, marked there, and left out. Returns 0, or negative with a sentence. Both arrays: mem_free. */
int isa_run(struct gpu *g, const struct isa_cases *c, uint32_t threads, uint32_t block, uint64_t **answer,
	    bool **refused, struct err *e);
bool isa_alone(const struct isa_case *c); /* lanes of a warp do not see each other */
/* NaNs as one pattern, bits that the type does not have cleared, what is not specified for these inputs as 0. */
uint64_t isa_canonical(const struct isa_case *c, uint32_t thread, uint64_t answer);
/* The kernel for cases [from, to), which read the same types. */
struct str;
void isa_kernel(struct str *out, const struct isa_cases *c, size_t from, size_t to);
size_t isa_group(const struct isa_cases *c, size_t from, size_t to); /* one past the cases that go into one kernel */

#endif
