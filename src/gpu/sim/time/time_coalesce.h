/* How the addresses of a warp's lanes become memory transactions. Private to time/. */
#ifndef FATHOM_TIME_COALESCE_H
#define FATHOM_TIME_COALESCE_H
#include "gpu/sim/spec.h"
#include <stdint.h>

struct time_transaction {
	uint64_t address; /* a multiple of bytes */
	uint32_t bytes;
	uint32_t lanes; /* that it serves */
};
#define COALESCE_MAX 32 /* of one instruction: each serves a lane at least */

/* Returns how many; in the order in which they go out. `bytes` of each lane, `segment` of the rule lines. */
uint32_t coalesce(enum coalesce_rule rule, uint32_t segment, const uint64_t *address, uint32_t mask, uint32_t bytes,
		  struct time_transaction *out);

#endif
