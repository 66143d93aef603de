/* What kernels do that is wrong and that a GPU lets pass. It is accesses outside of allocations, reads of memory that
 * was never written, and races in shared memory. */
#ifndef FATHOM_SIM_CHECK_H
#define FATHOM_SIM_CHECK_H
#include "gpu/sim/time/time.h"

struct sim_check_memory { /* an allocation */
	uint64_t base, bytes;
	bool host; /* the host may write to it unseen */
};
struct sim_check_owner {
	void *ctx;
	/* Which one an address of global memory lies in. False: none. */
	bool (*memory)(void *ctx, uint64_t address, struct sim_check_memory *m);
	void *to;
	void (*say)(void *to, const char *sentence); /* one a line of a kernel and kind of fault */
};
struct sim_check;

/* All memory that is not the host's lies in [base, base + bytes), base a multiple of 8. 0 or -ENOMEM. */
int sim_check_open(struct sim_check **out, const struct sim_check_owner *owner, uint64_t base, uint64_t bytes);
void sim_check_close(struct sim_check *c); /* NULL: nothing */
/* NULL: nothing is checked. Fresh memory begins at a multiple of 8 and was written by nobody. */
void sim_check_fresh(struct sim_check *c, uint64_t address, uint64_t bytes);
void sim_check_written(struct sim_check *c, uint64_t address, uint64_t bytes); /* by the host */
/* What looks at the next launch; NULL for NULL. kernel: the same for all launches of one, and for no other. */
const struct func_check *sim_check_launch(struct sim_check *c, const void *kernel, const struct func_program *p);
/* Accesses that were wrong, and at how many places of kernels. */
void sim_check_count(const struct sim_check *c, uint32_t *accesses, uint32_t *places);

#endif
