/* Atomics where they are performed: at the memory partition that owns the address. Private to time/.
 *
 * A partition starts one atomic in `distinct` cycles, and two on one address `same_address` cycles apart, whoever asks. */
#ifndef FATHOM_TIME_ATOMIC_H
#define FATHOM_TIME_ATOMIC_H
#include "gpu/sim/spec.h"
#include <stdint.h>

struct time_atomics {
	uint32_t partitions;
	uint64_t *unit; /* per partition, 1/1024 cycle: starts the next one */
	/* Addresses that are still busy, open addressing: what is free again may be written over. */
	uint64_t *word; /* address / 4 + 1, 0 = empty */
	uint64_t *free; /* 1/1024 cycle */
	uint32_t slots, used;
};

int atomics_open(struct time_atomics *a, uint32_t partitions); /* 0 or -ENOMEM */
void atomics_close(struct time_atomics *a);
/* One lane's atomic on an address of that partition comes at cycle t; same and distinct in 1/1024 cycle. *wait gets how much
 * longer it takes than an atomic alone, in 1/1024 cycle. 0 or -ENOMEM. */
int atomics_take(struct time_atomics *a, uint32_t partition, uint64_t address, uint64_t t, uint64_t same,
		 uint64_t distinct, uint64_t *wait);

#endif
