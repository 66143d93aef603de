/* State of a simulated GPU in flight. Private to time/. */
#ifndef FATHOM_TIME_STATE_H
#define FATHOM_TIME_STATE_H
#include "gpu/sim/func/func_paths.h"
#include "gpu/sim/time/time.h"
#include "gpu/sim/time/time_atomic.h"
#include "gpu/sim/time/time_banks.h"
#include "gpu/sim/time/time_boost.h"
#include "gpu/sim/time/time_cache.h"
#include "gpu/sim/time/time_dram.h"
#include "gpu/sim/time/time_inflight.h"
#include "gpu/sim/time/time_place.h"
#include "gpu/sim/time/time_tlb.h"
#include "gpu/sim/time/time_wheel.h"

/* Fractions of a cycle: pipes and ports count in 1/1024. A unit accepts at cycle c when its free time, rounded down, is not
 * later; then it is free again `interval` after the later of c and that time. So a rate of 7.9 a cycle comes out exactly over
 * many instructions, while a dependent chain still costs exactly the latency. */
#define FIX	10
#define FIX_ONE (1u << FIX)
#define NEVER	UINT64_MAX

enum time_path { PATH_NONE, PATH_SHARED, PATH_CONSTANT, PATH_GLOBAL, PATH_TEXTURE };

#define TIME_SETS 64
struct time_set { /* pipes of which one takes the instruction */
	uint8_t count, pipe[SPEC_OP_PIPES];
};

struct time_inst {
	uint8_t kind;	/* enum func_kind */
	uint8_t path;	/* enum time_path; of a generic access: PATH_GLOBAL until the address is known */
	uint8_t before; /* native steps issued before the last one */
	uint8_t set;	/* of the last step */
	uint8_t set_before;
	uint8_t wait_count, write_count;
	bool checked;	/* an ALU handler that may fault */
	uint32_t step;	/* fixed point: cycles from one native step to the next */
	uint32_t tail;	/* cycles from the last step's issue to the result */
	uint32_t after; /* cycles from the last step's issue to the next instruction of the warp, at least */
	uint32_t interval[SPEC_OP_PIPES],
	    interval_before[SPEC_OP_PIPES]; /* fixed point: how long a step occupies its pipe */
	uint16_t wait[FUNC_READS + FUNC_WRITES], write[FUNC_WRITES];
	int32_t op;	/* of the spec, -1 */
	uint32_t block; /* fetch block of the first native instruction; 0 where every fetch hits */
	bool spans;	/* the last one lies in another block */
	uint16_t bytes; /* of one native instruction */
	uint64_t address;
};

struct time_program {
	const struct func_program *func;
	const struct time_inst *inst;
	struct time_set set[TIME_SETS]; /* set 0 is empty: needs no pipe */
	uint32_t set_count;
	uint32_t slots;		   /* of the scoreboard */
	uint32_t barriers;	   /* that its blocks take of those of an SM */
	uint64_t literals;	   /* fingerprint of the rows that hold literals, never 0 */
	uint64_t code, code_bytes; /* fingerprint of the records, size of the native code */
};

struct time_sched;
struct time_block;

/* What time_stuck.c remembers of a warp: its state at some backward branch. */
struct time_watched {
	uint64_t print[2], epoch;
	uint32_t steps,
	    power;     /* backward branches since then, and how many until a newer state is remembered instead */
	uint32_t line; /* of the loop, once the state has come back; 0 = it has not */
};

struct time_warp {
	uint64_t *ready;  /* slots: cycle at which a register can be read */
	uint64_t *flight; /* loads_in_flight entries: completion of the latest loads, in turn */
	uint32_t flight_at;
	uint32_t slot;	   /* in its scheduler */
	uint32_t sub;	   /* native steps of the instruction at pc that were issued */
	uint32_t waiting;  /* number of the barrier + 1, 0 = none */
	uint32_t held;	   /* fetch block */
	uint64_t fetched;  /* when it is there */
	uint32_t waits_at; /* record of that barrier */
	uint64_t released; /* when a barrier let it go */
	uint64_t sampled;  /* when the clock read at pc began */
	struct time_sched *sched;
	struct time_block *block;
	uint64_t literals;				       /* fingerprint of those that its rows hold */
	size_t reg_bytes, pred_count, slot_count, local_bytes; /* what was allocated */
	void *reg_memory;
	struct time_watched watched;
	struct time_warp *next; /* in the pool */
	struct func_warp f;	/* last: what an issue reads of both then lies together */
};

#define TIME_SLOTS    256 /* warps of one SM, at most: the reader of .gpu files refuses more */
#define TIME_BARRIERS 16
struct time_block {
	struct func_block f;
	uint32_t sm, warps, alive;
	uint32_t threads; /* that have not exited */
	struct {
		uint32_t arrived, expected;
	} barrier[TIME_BARRIERS]; /* in warps, or threads; expected 0: all that are alive */
	size_t shared_bytes;	  /* allocated */
	bool shared_written;
	struct time_warp **warp;
	uint32_t warp_room;
	struct time_block *next; /* in the pool */
};

struct time_sched {
	uint64_t free;		    /* fixed point: issue port */
	uint32_t number, sm, index; /* of all; index within the SM */
	uint32_t slots;		    /* slots in use lie below */
	uint32_t last;		    /* slot that issued last */
	uint64_t *wake;		    /* per slot: when its scoreboard lets it issue, NEVER for empty and waiting */
	uint8_t *set;		    /* per slot: pipes of its next step */
	struct time_warp **warp;
	uint64_t *pipe[SPEC_PIPES]; /* fixed point free times: the SM's or this scheduler's own */
};

struct time_sm {
	struct time_sched *sched; /* spec->schedulers of them */
	uint32_t cluster;
	struct time_need used; /* by its resident blocks */
};

struct time_level {
	struct time_cache *cache; /* one per instance */
	enum cache_scope scope;
	const struct cache_spec *spec;
	uint32_t *latency; /* fixed point, per cluster: hit, load to use */
	uint32_t far;	   /* fixed point: more when the line's partition is not the cluster's */
	uint32_t count;	   /* instances */
};
#define TIME_LEVELS (CONST_LEVELS + 1)
struct time_route {
	uint32_t levels;
	struct time_level *level[TIME_LEVELS];
	uint32_t *memory;     /* fixed point, per cluster */
	uint32_t fetch;	      /* bytes that a miss of every level moves, at least */
	bool stores;	      /* some level does more about a store than to let it through */
	struct time_tlb *tlb; /* NULL: nothing is translated */
	uint32_t translate;   /* levels before the translation */
};

struct time_texture {
	struct time_route route;
	struct time_level level[CONST_LEVELS];
	bool borrowed[CONST_LEVELS]; /* the caches are another level's */
	uint32_t *table;
	uint32_t issue; /* fixed point: path.issue */
};

struct time_fetch;
struct time_note;
struct time_gpu {
	const struct sim_spec *spec;
	struct time_note *note;	  /* NULL: no trace is asked for */
	struct time_fetch *fetch; /* NULL: every fetch hits */
	uint64_t now;		  /* end of the latest launch */
	struct time_sm *sm;
	struct time_sched *sched; /* sm_count * schedulers */
	uint32_t sched_count;
	uint64_t *pipe_free;
	uint64_t *wake; /* of all schedulers' slots */
	uint8_t *set;
	struct time_warp **warp;
	struct time_wheel wheel; /* turns of the schedulers */
	uint64_t sooner;	 /* how often some scheduler's turn came nearer */
	struct time_boost boost; /* how long a cycle is */
	uint64_t *clock_offset;	 /* per instance of spec->clock_scope */
	struct time_level *levels;
	uint32_t level_count;
	struct time_level *global_l1;
	struct time_route constant, global;
	struct time_texture *texture; /* NULL: texture loads take the global route */
	struct time_tlb tlb[TLB_PATHS];
	uint64_t tlb_window;	 /* the active one + 1, 0: none yet */
	uint32_t *cluster_table; /* backing of latency and memory tables */
	struct time_dram dram;
	struct time_banks banks;
	struct time_inflight *inflight; /* one an SM, NULL when the table cannot be full */
	struct time_atomics atomics;
	bool plain;	       /* a lane alone is one transaction of one segment, and nothing counts it */
	bool timed_atomics;    /* the description says how atomics are performed */
	uint32_t atomic_issue; /* fixed point */
	uint32_t issue;	       /* fixed point: scheduler_issue */
	uint32_t shared_issue, constant_issue, global_issue; /* fixed point: path.issue */
	struct rng noise;
	struct rng host; /* what the host's timing decides: how long it takes from one launch to the next */
	struct time_warp *warp_pool;
	struct time_block *block_pool;
	bool out_of_memory;
};

/* One launch being run. */
struct time_run {
	struct time_gpu *g;
	const struct time_program *p;
	const struct func_inst *fi;
	const struct time_inst *ti;
	struct func_launch *l;
	const struct time_request *q;
	struct time_result *r;
	uint64_t start, last;	     /* first and latest cycle */
	uint64_t blocks, next_block; /* of the grid */
	uint32_t warps_per_block;
	struct time_need need;		    /* of each block */
	uint32_t block_launch, warp_launch; /* cycles until a block's first warp starts, from each warp to the next */
	uint32_t alive;			    /* warps */
	bool stop;			    /* r->end is set */
	uint64_t limit;			    /* CLOCK_MONOTONIC in ns, 0 = none */
	uint32_t patience;		    /* issues until the clock on the wall is read again */
	struct time_note *note;		    /* the gpu's */
	/* time_stuck.c */
	bool watch;	  /* backward branches and what changes memory are looked at now */
	uint64_t epoch;	  /* counts the changes seen */
	uint64_t windows; /* how often patience has run out */
};

/* ---- time_memory.c ---- */
int time_memory_open(struct time_gpu *g, uint64_t seed);
void time_memory_close(struct time_gpu *g);
/* A load or atomic of the lanes in mask, whose addresses are in w->f.addr, issued at t. Returns when its result is there;
 * *busy gets how long (fixed point) the load/store pipe is occupied. */
uint64_t time_load(struct time_run *x, struct time_warp *w, const struct func_inst *i, uint32_t path, uint32_t mask,
		   uint64_t t, uint32_t *busy);
void time_store(struct time_run *x, struct time_warp *w, const struct func_inst *i, uint32_t path, uint32_t mask,
		uint64_t t, uint32_t *busy);

/* A cache level; with `of`, a second way to look up the caches of that one. 0 or -ENOMEM. */
int time_level_open(struct time_gpu *g, struct time_level *l, const struct cache_spec *c, uint32_t *table,
		    uint64_t seed, const struct time_level *of);
void time_level_close(struct time_level *l);
uint32_t *time_memory_table(struct time_gpu *g, const struct path_spec *p, uint32_t *table);
/* Looks the address up level by level from `first` on; bytes: what that level gives to the one above. Returns when the data
 * is there. */
uint64_t time_walk(struct time_gpu *g, const struct time_route *r, uint32_t first, uint32_t sm, uint64_t address,
		   uint64_t t, uint32_t bytes);

/* ---- time_texture.c ---- */
/* The texture path and the translation of both paths, once the other levels are open. 0 or -ENOMEM. */
int time_texture_open(struct time_gpu *g, uint64_t seed);
void time_texture_close(struct time_gpu *g);
void time_texture_flush(struct time_gpu *g); /* its caches; translations stay */
void time_texture_forget(struct time_gpu *g, uint64_t base, uint64_t bytes);

/* ---- time_fetch.c ---- */
/* The warp goes to another fetch block at t; returns when it has it. */
uint64_t time_fetch_block(struct time_run *x, struct time_warp *w, uint32_t block, uint64_t t);
/* The same for native instruction w->sub of a record that lies in several blocks. */
uint64_t time_fetch_step(struct time_run *x, struct time_warp *w, const struct time_inst *ti, uint64_t t);

/* ---- time_block.c ---- */
int time_blocks_check(struct time_run *x); /* negative: refused, r says why */
bool time_blocks_start(struct time_run *x);
void time_warp_done(struct time_run *x, struct time_warp *w, uint64_t t);
void time_blocks_stop(struct time_run *x); /* takes everything off the SMs, whatever it was doing */
void time_pool_free(struct time_gpu *g);

/* ---- time_barrier.c ---- */
void time_barrier(struct time_run *x, struct time_warp *w, const struct func_inst *i, uint32_t mask, uint64_t t);
void time_barriers_try(struct time_run *x, struct time_block *b,
		       uint64_t t); /* some threads of the block have exited */
void time_next_path(struct time_run *x, struct time_warp *w, uint64_t earliest); /* time_next of a diverged warp */

/* ---- time_stuck.c ---- */
void time_deadlock(struct time_run *x); /* ends the launch and says who waits where */
void time_watch_window(struct time_run *x, uint32_t *patience);
void time_watch_branch(struct time_run *x, struct time_warp *w, const struct func_inst *i, uint32_t from);
void time_watch_handler(struct time_run *x, struct time_warp *w, const struct func_inst *i, uint32_t mask);

/* ---- time_loop.c ---- */
void time_fault(struct time_run *x, const struct time_warp *w, uint32_t pc); /* ends the launch; w->f says why */
/* Scheduler s may issue as early as `at`: its turn comes no later. */
void time_turn(struct time_gpu *g, const struct time_sched *s, uint64_t at);

static inline void time_next_together(struct time_run *x, struct time_warp *w, uint64_t earliest)
{
	const struct time_inst *ti = &x->ti[w->f.pc];
	if (__builtin_expect(ti->block != w->held, 0))
		earliest = time_fetch_block(x, w, ti->block, earliest);
	for (uint32_t k = 0; k < ti->wait_count; k++) {
		uint64_t r = w->ready[ti->wait[k]];
		earliest = r > earliest ? r : earliest;
	}
	if (ti->kind == FUNC_LOAD && w->flight) {
		uint64_t r = w->flight[w->flight_at];
		earliest = r > earliest ? r : earliest;
	}
	w->sched->wake[w->slot] = earliest;
	w->sched->set[w->slot] = ti->before ? ti->set_before : ti->set;
}

/* When the instruction at pc may issue as far as its operands say; the pipes are looked at when its turn comes. */
static inline void time_next(struct time_run *x, struct time_warp *w, uint64_t earliest)
{
	if (__builtin_expect(w->f.diverged, 0))
		time_next_path(x, w, earliest);
	else
		time_next_together(x, w, earliest);
}

#endif
