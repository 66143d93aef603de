/* The second engine: what a launch computes, without any time. %clock counts instructions. */
#ifndef FATHOM_FUNC_RUN_H
#define FATHOM_FUNC_RUN_H
#include "gpu/sim/func/func.h"
#include <stddef.h>

enum func_end { FUNC_DONE, FUNC_DEADLOCK, FUNC_LIMIT, FUNC_FAULT };
struct func_outcome {
	enum func_end end;
	uint64_t instructions; /* of warps */
	char message[256];     /* why it did not end well */
};
/* Runs block after block to its end. limit: instructions, 0 = none. 0 or -ENOMEM; what the kernel does is in out->end. */
int func_run(const struct func_launch *l, uint64_t limit, struct func_outcome *out);

#endif
