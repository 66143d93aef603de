/* Statistics of a kernel's launches, for people and for programs: what time/ counts, by class of instruction and by line. */
#ifndef FATHOM_SIM_STATS_H
#define FATHOM_SIM_STATS_H
#include "base/str.h"
#include "gpu/sim/spec.h"
#include "gpu/sim/time/time.h"

struct sim_kernel_stats { /* of all launches of one kernel, the latest of which had this shape */
	const struct sim_spec *spec;
	const struct func_program *program;
	const struct time_stats *counts;
	uint32_t grid[3], block[3];
	uint64_t shared_bytes; /* of a block */
	uint64_t launches, cycles;
	double ns;
};

/* Blocks of so many threads that one SM takes, and of what it has no more: "blocks", "warps", "threads", "registers", "shared memory",
 * "barriers". */
uint32_t sim_blocks_per_sm(const struct sim_spec *s, const struct func_program *p, uint64_t threads, uint64_t shared,
			   const char **limit);
/* One JSON object; doc/simulator.md describes its members. */
void sim_stats_json(struct str *out, const struct sim_kernel_stats *k);
void sim_stats_table(struct str *out, const struct sim_kernel_stats *k);

#endif
