/* The second engine: what a launch computes, without any time. %clock counts instructions. */
#ifndef FATHOM_FUNC_RUN_H
#define FATHOM_FUNC_RUN_H
#include "gpu/sim/func/func.h"
#include <stddef.h>

enum func_end { FUNC_DONE, FUNC_DEADLOCK, FUNC_LIMIT, FUNC_FAULT };
struct func_outcome {
	enum func_end end;
	enum func_fault fault; /* FUNC_FAULT: which */
	uint64_t instructions; /* of warps */
	char message[256];     /* why it did not end well */
};
struct func_how {
	uint64_t limit;			/* instructions of warps, 0 = none */
	uint32_t limit_ms;		/* wall time, 0 = none */
	uint32_t resident;		/* blocks that may have begun and not ended; 0: one */
	bool together;			/* so many begin before any has to end: they wait for each other */
	uint32_t threads;		/* of the host, at most; 0: one. Kernels whose blocks have an order take one */
	const struct func_check *check; /* NULL = none */
	const struct func_watch *watch; /* NULL = none */
};
/* Runs block after block to its end. One that goes on for long makes room for others, which it may wait for. 0 or -ENOMEM; what the kernel does is in
 * out->end. */
int func_run(const struct func_launch *l, const struct func_how *how, struct func_outcome *out);

#endif
