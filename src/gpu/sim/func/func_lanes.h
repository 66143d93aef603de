/* What the addresses of a warp's lanes have in common, asked of all of them at once. */
#ifndef FATHOM_FUNC_LANES_H
#define FATHOM_FUNC_LANES_H
#include "gpu/sim/func/func.h"

struct func_spread {
	uint64_t base, bytes; /* in: an address, and what one lane moves: a power of two, or 0 */
	/* out: bits, below `bytes`, in which some address differs from that of the first lane in the mask, and the
	 * highest of all differing bits */
	uint64_t apart;
	uint64_t
	    skew; /* out: 0 when every lane in the mask lies `bytes` behind the one before it, counted from that first one */
	uint64_t far; /* out: how far the one furthest from `base` lies above it */
};

/* Of the lanes in mask (never 0). */
void func_lanes(const uint64_t *address, uint32_t mask, struct func_spread *s);
/* to[l] = from[l] + add of the lanes in mask; the others count as `some`. */
void func_lanes_add(uint64_t *to, const uint64_t *from, uint32_t mask, uint64_t some, uint64_t add);
void func_lanes_add_32(uint64_t *to, const uint32_t *from, uint32_t mask, uint64_t some, uint64_t add);
/* From the least address of the lanes in mask (never 0), which *least gets, to the greatest; all lie within half of the address space. */
uint64_t func_lanes_extent(const uint64_t *address, uint32_t mask, uint64_t *least);
/* The lanes of the row that are in the mask become v. */
void func_spread_32(uint32_t *row, uint32_t mask, uint32_t v);
void func_spread_64(uint64_t *row, uint32_t mask, uint64_t v);

/* The lanes of the mask in the order in which a store's bytes land. Groups of 128 bytes go together. If several lanes
 * of a group write one place, the lowest lane's bytes stay (seen on an H200; CUDA leaves it open). Returns how many. */
unsigned func_store_order(uint32_t mask, unsigned bytes, uint8_t order[FUNC_LANES]);

#endif
