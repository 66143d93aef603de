/* Atomics where they are performed: at the memory partition, or the unit of the last cache, that owns the address. Private to
 * time/.
 *
 * A unit starts one atomic in `distinct` cycles, and two on one address `same_address` cycles apart, whoever asks. */
#ifndef FATHOM_TIME_ATOMIC_H
#define FATHOM_TIME_ATOMIC_H
#include "gpu/sim/spec.h"
#include <stdint.h>

struct time_atomics {
	uint32_t units;
	uint64_t *unit; /* per unit, 1/1024 cycle: starts the next one */
	/* Addresses that are still busy, open addressing: what is free again may be written over. */
	uint64_t *word; /* address / 4 + 1, 0 = empty */
	uint64_t *free; /* 1/1024 cycle */
	uint32_t slots, used;
	/* Of each SM until when its last instructions wait for their turn: a ring. */
	uint32_t queue, *next;
	uint64_t *until; /* cycle, queue of them an SM */
};

int atomics_open(struct time_atomics *a, const struct sim_spec *s, uint32_t partitions); /* 0 or -ENOMEM */
void atomics_close(struct time_atomics *a);
/* The unit of a line, where lines are spread over the units. */
uint32_t atomics_unit(const struct time_atomics *a, uint64_t line);
/* One lane's atomic on an address of that unit comes at cycle t; same and distinct in 1/1024 cycle. *wait gets how much
 * longer it takes than an atomic alone, in 1/1024 cycle. 0 or -ENOMEM. */
int atomics_take(struct time_atomics *a, uint32_t unit, uint64_t address, uint64_t t, uint64_t same, uint64_t distinct,
		 uint64_t *wait);
/* The cycle from which on an SM may send one more instruction, and that one waits until another. */
uint64_t atomics_room(const struct time_atomics *a, uint32_t sm);
void atomics_sent(struct time_atomics *a, uint32_t sm, uint64_t until);

#endif
