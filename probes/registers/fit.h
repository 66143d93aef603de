/* Ways in which registers may be given out, and which of them the launches contradict. */
#ifndef FATHOM_REGISTERS_FIT_H
#define FATHOM_REGISTERS_FIT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What launches said about blocks of one size. */
struct regs_seen {
	uint32_t threads, registers; /* of the block; of each thread, as compiled */
	uint32_t fit; /* blocks that an SM had at a time; 1 where a launch was let through, 0 where it was not */
	bool full;    /* one more is too many, and only registers explain it */
	bool launch;  /* it is about one block's launch: a limit of blocks, not of SMs */
};

/* What the rules that nothing contradicts have in common. */
struct regs_fit {
	unsigned rules;			   /* how many are left */
	uint32_t register_lo, register_hi; /* a thread's registers are rounded up to a multiple */
	uint32_t thread_lo, thread_hi;	   /* a block's threads are rounded up to a multiple */
	double used_lo, used_hi; /* registers of an SM seen in use at once: by the rule that says least, most */
	double room;		 /* no rule lets an SM have more; INFINITY: no limit was seen */
	double block_lo;	 /* one block had at least so many, by every rule */
};

struct regs_limits {
	uint32_t warp, block, sm; /* threads: of a warp, most of a block, most of an SM */
	uint32_t registers;	  /* most of a thread */
};

/* Tries all rules on everything seen. */
void regs_fit(struct regs_fit *out, const struct regs_seen *seen, size_t count, const struct regs_limits *l);

struct regs_try {
	uint32_t threads, registers;
	bool launch;
	unsigned left; /* of the guesses looked at, no more than this many will be left */
};
/* What to try next: where the rules that are left say different things. Best first; returns how many, at most `most`. tried:
 * not these again. */
size_t regs_next(struct regs_try *out, size_t most, const struct regs_seen *seen, size_t count,
		 const struct regs_limits *l, const struct regs_try *tried, size_t tried_count);

#endif
