/* What a block takes of an SM, and whether there is room for it. Private to time/. */
#ifndef FATHOM_TIME_PLACE_H
#define FATHOM_TIME_PLACE_H
#include "gpu/sim/func/func.h"
#include "gpu/sim/spec.h"

struct time_program;

/* One block's, or all that the resident blocks of an SM have together. */
struct time_need {
	uint32_t blocks, warps, threads, registers, barriers;
	uint64_t shared, room; /* of a block; of an SM, as the launch divides it */
};

/* Registers are given out for whole `regfile.thread_quantum` threads or for whole warps, shared memory in pieces. Barriers:
 * how many of a block's sixteen the program names, all of them when it computes a number. */
void time_need(struct time_need *n, const struct sim_spec *s, uint64_t threads, uint32_t registers, uint64_t shared,
	       uint32_t barriers);
/* The shared memory of an SM under a launch that asks for so many percent of the most, and whose blocks need so much.
 * With 0 percent, it asks for nothing. */
uint64_t time_shared_room(const struct sim_spec *s, uint32_t percent, uint64_t block);
bool time_fits(const struct sim_spec *s, const struct time_need *used, const struct time_need *n);
/* So many blocks an SM takes, at most `upto`; in *used what they have together. */
uint32_t time_most(const struct sim_spec *s, const struct time_need *one, struct time_need *used, uint64_t upto);
/* Why no SM can ever take the block, in the words of a driver: 0, or -EINVAL with a sentence. */
int time_need_check(const struct sim_spec *s, const struct time_need *n, const struct func_launch *l,
		    const struct func_program *p, char *why, size_t room);
uint32_t time_barriers_named(const struct func_program *p);

#endif
