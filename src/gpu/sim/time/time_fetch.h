/* Instruction fetch: where native instructions lie, and when a warp has the ones it issues next. Private to time/.
 *
 * A warp holds one fetch block (`held` of it). Going to an instruction outside that block is a fetch. It starts when
 * the instruction before it lets the warp go on, and the warp cannot issue before the block is there. Only that warp
 * waits; others that want a line on its way wait for the same fill. */
#ifndef FATHOM_TIME_FETCH_H
#define FATHOM_TIME_FETCH_H
#include "gpu/sim/time/time_state.h"

#define FETCH_NOTHING UINT32_MAX /* a warp that holds no block yet */

struct fetch_line { /* taken along, not yet asked for */
	uint64_t address, ready;
};
struct time_fetch {
	struct time_level level[CONST_LEVELS]; /* those with `borrowed` are another path's arrays */
	bool borrowed[CONST_LEVELS];
	struct time_route route;
	uint32_t *table;	    /* latencies of levels and of the memory, clusters each */
	uint32_t block_shift, unit; /* of a fetch block; bytes that the first level fills at once */
	uint32_t unit_shift;	    /* fetch blocks of those */
	uint32_t ahead;
	struct fetch_line *line; /* ahead entries an SM, the oldest at `turn` */
	uint32_t *turn;
	uint64_t code, last_bytes; /* fingerprint and size of the program that the addresses belong to */
};

/* Gives every record its address; blocks stay 0 where the GPU has no instruction cache, so that no warp ever leaves one. */
void time_layout(struct time_program *p, const struct sim_spec *s, struct time_inst *t);

int time_fetch_open(struct time_gpu *g, uint64_t seed); /* after time_memory_open. 0 or -ENOMEM */
void time_fetch_close(struct time_gpu *g);
void time_fetch_flush(struct time_gpu *g);
/* A launch of this program begins: what the caches hold of another one at the same addresses is gone. */
void time_fetch_program(struct time_gpu *g, const struct time_program *p);

#endif
