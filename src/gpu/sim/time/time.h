/* When: issue, scoreboard, pipes, caches, network, DRAM. Knows no value.
 *
 * Time is timestamps, not ticks: a register's ready cycle, a pipe's busy-until, a cache line's fill cycle. Nothing is
 * polled; `now` jumps to the next event. Cycles count on from launch to launch, so what a cache or the memory was doing is
 * still there when the next launch begins. */
#ifndef FATHOM_TIME_H
#define FATHOM_TIME_H
#include "base/arena.h"
#include "base/err.h"
#include "gpu/sim/func/func.h"
#include "gpu/sim/spec.h"

struct time_gpu;     /* everything that changes, and lasts from launch to launch */
struct time_program; /* the timing side of one decoded program on one GPU; constant */

/* The spec must outlive the gpu. 0 or -ENOMEM. */
int time_open(struct time_gpu **out, const struct sim_spec *s, uint64_t seed);
void time_close(struct time_gpu *g);
/* Host threads that a launch may use, at most: 1 unless this says otherwise. Results do not depend on it. */
void time_threads(struct time_gpu *g, uint32_t threads);

/* Lives in arena a. 0 or -ENOMEM. */
int time_prepare(struct time_program **out, struct arena *a, const struct sim_spec *s, const struct func_program *p);
/* The operation of the file whose timing record `pc` takes, or -1: memory, control and clock reads have their own. */
int time_op(const struct time_program *p, uint32_t pc);
uint32_t time_beside(const struct time_program *p, uint32_t pc); /* native branches besides the record's own */

/* The address of the record's first native instruction, and the bytes of each of them. */
uint64_t time_address(const struct time_program *p, uint32_t pc, uint32_t *bytes);
uint64_t time_code_bytes(const struct time_program *p); /* of all of them, subroutines included */

/* Why an instruction issued no earlier: the last of what it had to wait for. */
enum time_why {
	WHY_START,   /* the block begins */
	WHY_ORDER,   /* the instruction before it */
	WHY_BRANCH,  /* a branch before it */
	WHY_OPERAND, /* a register that record why_pc writes */
	WHY_PIPE,    /* its pipe was busy: `what` names it */
	WHY_PORT,    /* the scheduler issued for other warps */
	WHY_BARRIER,
	WHY_FETCH, /* its native code was not at hand: `what` says where it came from */
	WHY_LOADS, /* as many loads in flight as a warp may have */
	WHY_PATH,  /* another path of the warp had the turn */
	TIME_WHYS
};
const char *time_why_text(enum time_why why);

/* One issue, for traces. Cycles count from the start of the launch. */
struct time_event {
	uint64_t cycle, last; /* of its first and its last native step */
	uint64_t done;	      /* when its result can be read, or the next instruction may issue */
	uint64_t before;      /* of the warp's instruction before it */
	bool first;	      /* there was none */
	uint32_t sm, scheduler, warp, pc;
	uint64_t mask;	/* lanes */
	uint64_t block; /* of the grid */
	enum time_why why;
	uint32_t why_pc;
	const char *what;
	uint32_t transactions; /* of a memory access beyond shared memory */
	uint32_t passes;       /* through the banks of shared memory, one when there is no conflict */
	char where[96];	       /* "global.l1 x2, memory x1": where the transactions found what they asked for */
};
struct time_hook {
	void *ctx;
	void (*issue)(void *ctx, const struct time_event *ev);
};

/* What a launch did, counted as it was done: sums agree with the events of a trace. */
struct time_count {	       /* of one record */
	uint64_t issues;       /* by warps, also those whose guard let no lane through */
	uint64_t off;	       /* those, of them */
	uint64_t lanes;	       /* of all of them */
	uint64_t waited;       /* cycles in which its warp could have issued it had nothing been in the way */
	uint64_t transactions; /* of accesses beyond shared memory */
	uint64_t passes;       /* through the banks of shared memory */
};
struct time_level_count { /* of all caches of a level: loads, atomics and fetches; translations of a TLB */
	const char *name;
	uint64_t hits, misses;
};
#define TIME_COUNTED 32
struct time_stats {
	struct time_count *record; /* the caller's: one for each record of the program */
	uint64_t waited[TIME_WHYS];
	struct time_level_count level[TIME_COUNTED];
	uint32_t levels;
	uint64_t dram_bytes;
	uint64_t resident; /* warps, summed over cycles, each from its first issue to its last */
};

struct time_request {
	const struct time_program *program;
	struct func_launch
	    *launch;	       /* program, grid, block, shared_bytes, params, constant, memory; the rest is filled in */
	uint32_t limit_ms;     /* wall time; 0 = none */
	uint64_t limit_cycles; /* 0 = none; looked at every thousand issues of a cluster */
	uint64_t limit_instructions; /* of warps, 0 = none; looked at between the epochs of the clusters */
	double host_ns; /* simulated time that the host takes before it: the gap between launches comes on top */
	bool no_solo;	/* take the general loop even when one warp is alive: for the differential test */
	bool apart;	/* a cluster that is alone queues what it wants too: what asking at once has to agree with */
	bool poll; /* general loop that looks at every scheduler in every cycle: what the skipping has to agree with */
	const struct time_hook *hook;	/* NULL = none; with a hook the general loop runs */
	const struct func_check *check; /* NULL = none; clusters take turns with one */
	struct time_stats *stats;	/* NULL = none; the launch is added to what is there */
	const struct func_watch *watch; /* NULL = none */
	bool untimed;			/* no cycle passes, and nothing that has to do with time is looked at */
};
enum time_end { TIME_DONE, TIME_REFUSED, TIME_DEADLOCK, TIME_LIMIT, TIME_FAULT };
struct time_result {
	enum time_end end;
	uint64_t cycles;       /* from the start of the launch to its last event */
	double ns;	       /* the same in nanoseconds, of a clock that may be boosted */
	uint64_t instructions; /* warp instructions issued, the native steps of one instruction counted as one */
	uint64_t solo;	       /* of those, issued while one warp was alive, without a scheduler scan */
	char message[256];     /* why it did not end well */
	enum func_fault fault; /* TIME_FAULT: which */
};
/* 0, or -ENOMEM. Whatever the kernel does is a time_end, never an error. */
int time_launch(struct time_gpu *g, const struct time_request *q, struct time_result *r);

/* ---- what the host does between launches ---- */
/* Banks of the shared memory follow each other every so many bytes, where their width allows it; 0: as described. */
void time_arrange_banks(struct time_gpu *g, uint32_t bytes);
/* Launches from now on ask for so much of the shared memory that an SM can have; 0: for nothing. */
void time_divide_shared(struct time_gpu *g, uint32_t percent);
void time_flush(struct time_gpu *g); /* every cache is empty, and no row of the memory is open that anybody knows */
enum time_area { TIME_GLOBAL, TIME_CONSTANT };
void time_forget(struct time_gpu *g, enum time_area a, uint64_t base, uint64_t bytes); /* the host wrote there */

#endif
