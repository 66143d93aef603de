/* Translation: TLB levels, the page walk behind them, the active window. Private to time/.
 *
 * A level is a cache whose lines are entries; an entry on its way is waited for, as a cache line is. Each path has its levels,
 * all paths share the page tables and the window. */
#ifndef FATHOM_TIME_TLB_H
#define FATHOM_TIME_TLB_H
#include "gpu/sim/time/time_cache.h"

struct time_level;
struct time_tlb_level {
	struct time_cache *cache; /* one per instance */
	enum cache_scope scope;
	uint32_t count;
	uint64_t latency; /* 1/1024 cycle, more than a hit in the level above */
};
struct time_tlb {
	uint32_t levels, near; /* of them: those that belong to a cluster */
	struct time_tlb_level level[TLB_LEVELS];
	uint64_t miss, walk_memory;	/* 1/1024 cycle */
	const struct time_level *table; /* where page table entries are looked up, or NULL */
	uint32_t page_shift;
	uint32_t window_shift; /* 0: no window */
	uint64_t window_switch;
	uint64_t *window; /* the active one + 1, 0: none yet; of the whole GPU */
};

/* What became of one translation. */
struct tlb_look {
	uint64_t extra; /* 1/1024 cycle beyond an access whose translation is at hand */
	bool found;	/* in some level */
	uint32_t passed;
	uint64_t *pending[TLB_LEVELS]; /* entries that the answer fills: tlb_fill */
};

/* 0 or -ENOMEM. table: the level that walks look up, or NULL. window outlives the TLB. */
int tlb_open(struct time_tlb *t, const struct sim_spec *s, enum tlb_path path, const struct time_level *table,
	     uint64_t *window, uint64_t seed);
void tlb_close(struct time_tlb *t);

/* Looks up levels [from, to) for an access at cycle now that has not been found yet. False: out of memory. */
bool tlb_levels(struct time_tlb *t, uint32_t from, uint32_t to, uint32_t sm, uint32_t cluster, uint64_t address,
		uint64_t now, struct tlb_look *look);
/* The page walk of what no level had. False: out of memory. */
bool tlb_walk(struct time_tlb *t, uint64_t address, uint64_t now, struct tlb_look *look);
/* Whatever was passed on the way has the translation `look->extra` after now. */
void tlb_fill(const struct tlb_look *look, uint64_t now);
/* All three: 1/1024 cycles that the access at cycle now waits for its translation. False: out of memory. */
bool tlb_translate(struct time_tlb *t, uint32_t sm, uint32_t cluster, uint64_t address, uint64_t now, uint64_t *extra);

#endif
