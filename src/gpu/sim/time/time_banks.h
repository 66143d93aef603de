/* Bank conflicts of the shared memory. Private to time/. */
#ifndef FATHOM_TIME_BANKS_H
#define FATHOM_TIME_BANKS_H
#include "gpu/sim/spec.h"
#include <stdbool.h>
#include <stdint.h>

#define BANKS_MAX 256 /* the reader of .gpu files refuses more */

struct time_banks {
	uint32_t banks;
	uint32_t lanes; /* that one access serves at most */
	uint32_t bytes; /* that all banks give at once */
	uint32_t mode;	/* bytes after which the next bank follows */
	bool one_word;	/* one word is given to many lanes in a pass, every other bank serves one lane */
	bool shifts;	/* banks and mode are powers of two */
	uint8_t mode_shift, row_shift;
};

/* mode: bytes after which the next bank follows, where they divide a bank's width; else as described. */
void banks_init(struct time_banks *b, const struct sim_spec *s, uint32_t mode);
/* Passes that an access of `bytes` bytes a lane needs beyond one for each group of lanes that is served at a time. A
 * group has as many lanes as the banks can feed, `lanes` at most. Exact; about linear in the lanes. Lanes may not
 * straddle. */
uint32_t banks_extra(const struct time_banks *b, const uint64_t *address, uint32_t mask, uint32_t bytes);

#endif
