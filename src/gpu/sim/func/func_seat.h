/* How the engine without time holds a launch. Private to func_run.c and func_turn.c. */
#ifndef FATHOM_FUNC_SEAT_H
#define FATHOM_FUNC_SEAT_H
#include "gpu/sim/func/func_paths.h"
#include "gpu/sim/func/func_run.h"
#include <stdatomic.h>

#define FUNC_BARRIERS 16

struct func_seat { /* room for a block that has begun; blocks take turns in one */
	struct func_block b;
	uint32_t arrived[FUNC_BARRIERS], expected[FUNC_BARRIERS]; /* in warps, or threads; expected 0: all alive */
	struct func_warp *warp;					  /* the upper halves behind them */
	uint32_t *waiting; /* per warp: barrier number + 1, 0 = none; FUNC_BARRIERS is the cluster's */
	uint8_t *reg, *local, *shared;
	uint32_t *pred;
	struct func_paths *paths;
	struct func_path *stack;
	bool taken, moved; /* moved: its latest turn was one */
};

struct func_grid { /* what all host threads of a launch have in common */
	const struct func_launch *l;
	const struct func_how *how;
	const uint32_t *stretch;   /* func_stretches */
	uint64_t blocks, deadline; /* nanoseconds; 0: none */
	atomic_uint_fast64_t next; /* block that nobody has begun */
	atomic_bool halt;
};

struct func_engine { /* one of them */
	struct func_grid *grid;
	const struct func_launch *l;
	const struct func_check *check;
	struct func_outcome out;
	struct func_seat **seat, *now; /* now: whose block has its turn */
	uint32_t seats, room, warps;   /* that are there; that there may be; of a block */
	uint64_t left, looked;	       /* instructions of the launch; what was left at the latest look around */
	bool out_of_memory;
};

/* Ends the launch. */
void func_stop(struct func_engine *x, enum func_end end, const struct func_warp *w, const char *text);
/* Its block waits for what never comes. */
void func_stopped(struct func_engine *x, struct func_seat *s);
/* The block of the seat runs for so many instructions at least, unless it ends before: then the seat is free. */
void func_turn(struct func_engine *x, struct func_seat *s, uint64_t instructions);

#endif
