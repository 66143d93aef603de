/* Operands for tests: edge values and random ones, and kernels of one instruction. */
#ifndef FATHOM_FUNC_VALUES_H
#define FATHOM_FUNC_VALUES_H
#include "base/rng.h"
#include "func_fixture.h"

/* Bits for a register of the type: about half of them edges. */
uint64_t value_of(struct rng *r, enum ptx_type t);

/* Runs `line` (registers d, a, b, c; predicate p; carry q) for one pass of 32 lanes. Types NONE: register not used.
 * guarded: only lanes of `mask` execute; the other lanes keep the pattern 0xA5... */
struct one_op {
	struct func_fixture f;
	enum ptx_type d, a, b, c;
	uint32_t mask;
	uint64_t in[3][32], out[32];
	uint32_t pred; /* lanes in which p is true */
};
void one_op_open(struct one_op *o, const char *line, enum ptx_type d, enum ptx_type a, enum ptx_type b, enum ptx_type c,
		 int cc);
void one_op_fill(struct one_op *o, struct rng *r);
void one_op_run(struct one_op *o);
void one_op_close(struct one_op *o);
#define UNTOUCHED 0xA5A5A5A5A5A5A5A5ull
/* Bits that a value of the type has in memory. */
uint64_t type_mask(enum ptx_type t);

#endif
