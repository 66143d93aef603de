/* The memory behind all caches: partitions with a data bus each, banks, open rows. Private to time/.
 *
 * An access that finds its partition's bus and its bank free and its row open costs no more than the latency of the
 * memory. What these functions return comes on top. Requests are served in the order in which they are asked. */
#ifndef FATHOM_TIME_DRAM_H
#define FATHOM_TIME_DRAM_H
#include "gpu/sim/spec.h"
#include <stdbool.h>
#include <stdint.h>

struct dram_part {	 /* a partition; times in 1/1024 cycle */
	uint64_t bus;	 /* free again */
	uint64_t opened; /* when it may open another row */
	uint64_t held;	 /* bytes that wait to be written */
	uint32_t left;	 /* what its transfers took beyond 1/1024 cycle, in 1/2^20 */
};
struct time_dram {
	uint32_t partitions, banks; /* banks of a partition, 0 = none are told apart */
	uint32_t rows;		    /* of a bank that wait side by side */
	uint64_t stride, row_bytes;
	bool mixed;	  /* each round of partitions, and of banks, has an order of its own */
	uint64_t batch;	  /* bytes that a partition writes in one go, 0: as they come */
	uint64_t byte;	  /* 1/2^20 cycle: that a byte keeps its partition's bus busy; 0 = for ever wide */
	uint64_t miss;	  /* 1/1024 cycle: more when another row is open */
	uint64_t busy;	  /* 1/1024 cycle: that an access keeps its bank */
	uint64_t opening; /* 1/1024 cycle: from one opening of a row to the next */
	uint64_t turn;	  /* 1/1024 cycle: that a batch keeps the bus besides its bytes */
	struct dram_part *part;
	uint64_t *bank; /* per bank of all partitions, 1/1024 cycle: free again */
	uint64_t *row;	/* per bank: open rows + 1 */
	uint64_t bytes; /* moved so far */
};

int dram_open(struct time_dram *d, const struct sim_spec *s); /* 0 or -ENOMEM */
void dram_close(struct time_dram *d);
/* Caches are emptied by what lies elsewhere in the memory, which leaves other rows open. */
void dram_flush(struct time_dram *d);
static inline bool dram_is_one_queue(const struct time_dram *d)
{
	return d->partitions == 1 && !d->banks && !d->batch;
}
uint32_t dram_partition(const struct time_dram *d, uint64_t address);
uint64_t dram_free(const struct time_dram *d); /* the cycle at which no bus moves anything any more */
/* An access of so many bytes, all in one partition and row, that comes at cycle t. Returns how much longer it takes, in
 * 1/1024 cycle. It was asked for `ahead` cycles before t, because a full table holds it back. Others that ask meanwhile
 * come before it. They find as much of the bus taken as if it had come at once, not the time until t. */
uint64_t dram_take(struct time_dram *d, uint64_t address, uint32_t bytes, uint64_t t, uint64_t ahead);
/* Such an access that writes, which nobody waits for. */
void dram_give(struct time_dram *d, uint64_t address, uint32_t bytes, uint64_t t);

#endif
