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
#include "gpu/sim/time/time_wake.h"
#include "gpu/sim/time/time_wheel.h"

/* Fractions of a cycle: pipes and ports count in 1/1024. A unit accepts at cycle c when its free time, rounded down, is
 * not later. It is then free again `interval` after the later of c and that time. So a rate of 7.9 a cycle comes out
 * exactly over many instructions, while a dependent chain still costs exactly the latency. */
#define FIX	10
#define FIX_ONE (1u << FIX)
#define NEVER	UINT64_MAX
/* A time that the far side has not said yet: not before the end of the epoch. Greater than every cycle, so that the later of
 * two times comes out right without a look at it; NEVER and CACHE_INVALID are greater still. A cache line that is being
 * filled holds PENDING plus the number of the piece that fills it. */
#define PENDING (1ull << 63)

enum time_path { PATH_NONE, PATH_SHARED, PATH_CONSTANT, PATH_GLOBAL, PATH_TEXTURE };

#define TIME_SETS 64
struct time_set { /* pipes of which one takes the instruction */
	uint8_t count, pipe[SPEC_OP_PIPES];
	bool shared; /* several schedulers have one of them */
};

struct time_inst {
	uint8_t kind;	/* enum func_kind */
	uint8_t path;	/* enum time_path; of a generic access: PATH_GLOBAL until the address is known */
	uint8_t before; /* native steps issued before the last one */
	uint8_t set;	/* of the last step */
	uint8_t set_before;
	uint8_t set_first; /* of the first step */
	uint8_t wait_count, write_count;
	bool operand; /* a load that no instruction of its own makes: it takes no turn and no pipe */
	bool checked; /* an ALU handler that may fault */
	bool
	    apart; /* issues without a touch of anything but its warp and scheduler, if its lanes are together and its pipes are the
		       * scheduler's own */
	bool plain;	/* one step of one record that only turns registers into others */
	uint8_t beside; /* further native branches, of one at which lanes might part: they mark where all meet */
	bool keeps;	/* one that changes memory of its thread: arguments of calls, frames */
	bool
	    alone; /* a load of global or constant memory: of one lane, it is one access that starts at the first level */
	uint32_t step;	  /* fixed point: cycles from one native step to the next */
	uint32_t tail;	  /* cycles from the last step's issue to the result */
	uint32_t after;	  /* cycles from the last step's issue to the next instruction of the warp, at least */
	uint32_t request; /* fixed point: how long an access occupies its pipe besides its transactions */
	uint32_t stretch; /* records from this one on that may be computed at once: func_stretches */
	uint8_t lead;	  /* operands that are computed on the way to the record that this is the time of */
	uint8_t together; /* pipe + 1 whose results a warp only knows together; 0: each of its own */
	uint32_t interval[SPEC_OP_PIPES],
	    interval_before[SPEC_OP_PIPES]; /* fixed point: how long a step occupies its pipe */
	/* wait[0] is a slot that is always ready where there is none. */
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
	bool meets;		   /* warps wait for each other somewhere: at those, or at their cluster's */
	uint64_t literals;	   /* fingerprint of the rows that hold literals, never 0 */
	uint64_t code, code_bytes; /* fingerprint of the records, size of the native code */
};

struct time_sched;
struct time_block;

/* What time_stuck.c remembers of a warp: its state at some backward branch. */
struct time_watched {
	uint64_t print[2], epoch;
	uint32_t steps,
	    power;	 /* looks since then, and how many until a newer state is remembered instead; 0: none is */
	uint32_t rounds; /* backward branches in this epoch */
	uint32_t line;	 /* of the loop, once the state has come back; 0 = it has not */
};

/* Of a warp on a GPU where some pipe's results are known only together. */
struct time_together {
	uint64_t done[SPEC_PIPES]; /* when all of a pipe's results that are on their way are there */
	uint8_t pipe[];		   /* slots: the pipe + 1 whose result each waits for, 0: none of these */
};

struct time_past {	   /* of a warp's latest issue */
	uint64_t before;   /* its cycle */
	uint64_t lanes;	   /* 0: there was none yet */
	uint64_t branched; /* cycle of the latest branch */
};
struct time_warp { /* first what few issues touch, so that what all of them do lies together with that of `f` */
	struct time_watched watched;
	struct time_warp *next;			   /* in the pool */
	uint64_t literals;			   /* fingerprint of those that its rows hold */
	size_t bytes, local_bytes, together_bytes; /* what was allocated */
	void *memory;				   /* of ready, flight, predicates and registers, in this order */
	uint32_t waiting;			   /* number of the barrier + 1, 0 = none */
	uint32_t waits_at;			   /* record of that barrier */
	uint64_t released;			   /* when a barrier let it go */
	uint64_t from;	 /* while it waits for something PENDING: when it could go on if that were there */
	uint64_t *ready; /* slots: cycle at which a register can be read */
	uint64_t
	    *flight; /* loads_in_flight entries: completion of the latest loads, in turn; then that of the last constant
			   * load, where those block */
	struct time_together *together; /* NULL: no pipe's results are known only together */
	uint64_t turn, turned;		/* when it may have its next turn; when it had the latest */
	uint32_t flight_at;
	uint32_t slot;	  /* in its scheduler */
	uint32_t sub;	  /* native steps of the instruction at pc that were issued */
	uint32_t ahead;	  /* records from pc on that were computed with others, before their turns */
	uint32_t held;	  /* fetch block */
	uint64_t fetched; /* when it is there */
	uint64_t sampled; /* when the clock read at pc began */
	/* Of statistics; they lie with what each issue touches, for a line of their own would be cold. */
	struct time_past past;
	uint64_t first; /* cycle of its first issue */
	struct time_sched *sched;
	struct time_block *block;
	struct func_warp f;
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
	uint64_t parts;		    /* cycle from which on lanes of another of its warps may part */
	uint64_t branches;	    /* fixed point: when its next native branch may begin */
	uint32_t number, sm, index; /* in its cluster's wheel; index within the SM */
	struct time_cluster *cluster;
	uint32_t slots; /* slots in use lie below */
	uint32_t last;	/* slot that issued last */
	/* Slot of the warp that was ready and found its pipe given away, UINT32_MAX: none. A look at all slots would
	 * find it once the pipe is free, until cycle kept_until and while the cluster's `sooner` stays. */
	uint32_t kept;
	bool kept_more; /* others are ready, for the same pipe */
	uint64_t kept_until, kept_sooner;
	uint64_t
	    *wake; /* per slot: when its scoreboard lets it issue, NEVER for empty and waiting; changed by time_wake */
	struct time_wakes wakes;
	uint8_t *set;		  /* per slot: pipes of its next step; changed by time_want */
	uint64_t want[TIME_SETS]; /* of the slots of `wakes`, those with each set */
	struct time_warp **warp;
	uint32_t *age; /* per slot: how many warps started before it */
	uint32_t started;
	uint8_t *user;		    /* per pipe of the SM: index of the scheduler that had it last */
	uint64_t *pipe[SPEC_PIPES]; /* fixed point free times: the SM's or this scheduler's own */
};

static inline void time_wake(struct time_sched *s, uint32_t slot, uint64_t at)
{
	wakes_set(&s->wakes, s->wake, slot, at);
}

/* The slot had another set before. */
static inline void time_want_instead(struct time_sched *s, uint32_t slot, uint8_t before)
{
	if (slot >= s->wakes.slots)
		return;
	s->want[before] &= ~(1ull << slot);
	s->want[s->set[slot]] |= 1ull << slot;
}

static inline void time_want(struct time_sched *s, uint32_t slot, uint8_t set)
{
	const uint8_t before = s->set[slot];
	if (before == set)
		return;
	s->set[slot] = set;
	time_want_instead(s, slot, before);
}

struct time_sm {
	struct time_sched *sched; /* spec->schedulers of them */
	uint32_t cluster;
	struct time_need used; /* by its resident blocks */
	uint64_t meets;	       /* fixed point: when its barriers take one warp more */
	uint64_t stored; /* when its stores so far have been taken: the far side's, where a cache there has a limit */
};

struct time_level {
	struct time_cache *cache; /* one per instance */
	enum cache_scope scope;
	const struct cache_spec *spec;
	uint32_t *latency; /* fixed point, per cluster: hit, load to use */
	uint32_t far;	   /* fixed point: more when the line's partition is not the cluster's */
	uint32_t vain;	   /* fixed point: what a look-up without a hit takes */
	uint32_t fill;	   /* fixed point: what the line takes longer from memory than what skips the level */
	uint32_t count;	   /* instances */
	bool beyond;	   /* on the far side */
};
#define TIME_LEVELS (CONST_LEVELS + 1)
struct time_route {
	uint32_t levels;
	uint32_t near; /* levels before the first far one */
	struct time_level *level[TIME_LEVELS];
	uint32_t *memory; /* fixed point, per cluster */
	uint32_t fetch;	  /* bytes that a miss of every level moves, at least */
	bool stores;	  /* some level does more about a store than to let it through */
	bool prompt;	  /* the first level belongs to the SM and answers at once: no port, no translation before it */
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
struct note_warp;
struct time_tally;
struct time_gpu {
	const struct sim_spec *spec;
	struct time_note *note;	  /* NULL: no trace is asked for */
	struct time_fetch *fetch; /* NULL: every fetch hits */
	uint64_t now;		  /* end of the latest launch */
	struct time_sm *sm;
	struct time_sched *sched; /* sm_count * schedulers */
	uint32_t sched_count;
	uint64_t *pipe_free;
	uint8_t *pipe_user; /* of all SMs' pipes */
	uint32_t *age;
	uint64_t *wake; /* of all schedulers' slots */
	uint8_t *set;
	struct time_warp **warp;
	struct time_cluster *cluster; /* spec->cluster_count of them */
	uint64_t epoch;		      /* cycles that no answer of the far side is faster than */
	bool serial; /* something in it cannot wait for an answer: clusters take turns in the order of cycles */
	struct time_boost boost; /* how long a cycle is */
	uint64_t *clock_offset;	 /* per instance of spec->clock_scope */
	struct time_level *levels;
	uint32_t level_count;
	struct time_level *global_l1;
	uint32_t shared_percent;   /* that launches ask for */
	struct time_cache *common; /* that most pieces ask, if lines of it can be settled, else NULL */
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
	uint32_t part_issue;   /* cycles */
	uint32_t shared_issue, constant_issue, global_issue; /* fixed point: path.issue */
	uint64_t host_latency;	 /* cycles of a load of the host's memory; 0: as of the GPU's */
	uint64_t shared_latency; /* of a load without conflicts */
	struct rng noise;	 /* of the far side */
	struct rng host;	 /* what the host's timing decides: how long it takes from one launch to the next */
	struct far_order *order; /* of the epoch that is being served */
	uint32_t threads;	 /* of the host, at most */
	struct time_threads *pool;
	struct time_cluster **busy; /* those that run in this epoch */
	uint64_t *soonest;	    /* turn of each cluster, where they take turns */
};

#define TIME_PATIENCE 65536

/* One launch, what its clusters share: it changes only while they stand still. */
struct time_grid {
	const struct time_request *q;
	struct func_launch *l;
	uint64_t start, blocks, next_block, blocks_each;
	double handed;	/* cycles from the start until the next block can be handed out */
	uint64_t limit; /* CLOCK_MONOTONIC in ns, 0 = none */
	bool large;	/* other host threads are worth calling from the beginning */
	/* time_stuck.c: a window in which changes of memory are looked for, for all clusters */
	bool watch, changed;
	bool woken;			/* a cluster's turn has become earlier by what another did */
	uint64_t window_at, window_end; /* instructions issued by all */
};

/* One launch being run, as one cluster sees it. */
struct time_run {
	struct time_gpu *g;
	struct time_cluster *c;
	struct time_grid *grid;
	const struct time_program *p;
	const struct func_inst *fi;
	const struct time_inst *ti;
	struct func_launch *l; /* the cluster's own copy, and of the memory's table too */
	const struct time_request *q;
	struct time_result *r;
	uint64_t start, last; /* first and latest cycle */
	uint64_t landed;      /* when the latest of its atomics is done, whether or not a warp waits for it */
	uint32_t warps_per_block;
	struct time_need need;		    /* of each block */
	uint32_t block_launch, warp_launch; /* cycles until a block's first warp starts, from each warp to the next */
	uint32_t alive;			    /* warps */
	bool stop;			    /* r->end is set */
	uint32_t patience;		    /* issues until the clock on the wall is read again */
	struct time_note *note;		    /* the gpu's */
	struct time_tally *tally;	    /* NULL: no statistics are asked for */
	struct tally_record *counted;	    /* the tally's, or NULL */
	uint64_t whole;			    /* lanes of a whole warp */
	bool dual;			    /* spec->dual_issue */
	bool plain;			    /* nobody watches issues, and warps have no turns of their own */
	bool apart;			    /* schedulers may run ahead of each other with what is `apart` */
	bool together;			    /* some pipe's results are known only together */
	uint32_t turn;			    /* cycles from one turn of a warp to its next; 0: the next cycle */
	enum core_policy policy;
	uint32_t schedulers;
	/* time_stuck.c */
	bool watch;	  /* backward branches and what changes memory are looked at now */
	uint64_t epoch;	  /* counts the changes seen */
	uint64_t windows; /* how often patience has run out */
};

/* ---- what runs side by side ----
 *
 * The SMs of a cluster and everything of SM or cluster scope are its near side. It runs ahead alone, in cycles of its
 * own, for one epoch. What it wants from the far side it queues: caches of GPU scope, memory, atomics, the next block.
 * When all clusters have come to the end of the epoch, the far side serves what they queued in the order (cycle,
 * cluster, sequence). One wheel over all schedulers would have met the requests in that order. No answer is earlier
 * than the end of the epoch, so nobody misses one. Epochs lie on a grid of g->epoch cycles from the launch's start.
 *
 * A cluster that is alone left (c->direct) asks the far side at once: the order is the same.
 *
 * In the near phase a function may touch its own SM, cluster and warps, and read what is constant. It must not touch
 * the far side, another cluster, or write global memory. In the serving it may touch everything. */
enum far_kind { FAR_LOAD, FAR_STORE, FAR_FETCH, FAR_BLOCK };
#define FAR_NONE UINT32_MAX
struct far_request {
	uint64_t t;	/* when it was issued */
	uint64_t known; /* FAR_LOAD, FAR_FETCH: when that part of it is there that the near side answered */
	uint64_t
	    extra; /* FAR_LOAD: cycles from the last piece to the result. FAR_STORE: accesses to memory without a piece */
	struct time_warp *warp;
	uint32_t piece, count; /* of c->piece. FAR_BLOCK: piece is the SM that has room */
	uint32_t effect;       /* offset in c->effect of what it does to memory and registers, FAR_NONE */
	uint32_t pc;	       /* FAR_FETCH: block */
	uint32_t flight;       /* place in warp->flight, FAR_NONE */
	uint8_t kind;
};
/* Its place in the order of the epoch: apart, so that putting all in order reads little. */
struct far_turn {
	uint64_t t;
	uint64_t next; /* cluster << 32 | number, NEVER */
};
enum piece_kind {
	PIECE_WALK,  /* goes on from level `first` of the route */
	PIECE_MERGE, /* waits for the piece whose number is `other` */
	PIECE_STORE, /* a store of `bytes`, from level `first` on; has no answer */
	PIECE_WRITE  /* `bytes` that a near level gives back to memory; has no answer */
};
struct far_piece {
	uint64_t address;
	uint64_t
	    time; /* when it leaves the near side, once served: when it is there. Without an answer: 0 once served */
	uint64_t queue; /* fixed point: what it waited at near ports */
	const struct time_route *route;
	union {
		uint32_t bytes;
		uint32_t other;
	};
	uint32_t fetch; /* what a miss of every level moves at least */
	uint32_t late;	/* fixed point: what memory takes longer for a near level's line */
	uint16_t sm;
	uint8_t first, kind;
};
/* What the cluster saw of the far side at its epoch's end, by piece: apart, to give the serving little to read. */
struct far_seen {
	uint32_t place; /* where the line lies in the first cache that is asked, CACHE_NOWHERE */
	/* Not 0: settled. The sector is in g->common, and while that loses no line, only chance is added to the answer.
	 * The piece's time is then, without chance, so many cycles after it leaves the near side. */
	uint32_t wait;
};
#define EPOCH_MAX 512
struct far_order { /* the requests of each cycle of an epoch, in a list */
	uint64_t first[EPOCH_MAX], last[EPOCH_MAX], used[EPOCH_MAX / 64];
	uint64_t at;   /* the request that comes next, NEVER: the first of another cycle */
	uint32_t word; /* of used */
	uint64_t lost; /* of g->common, when the serving began */
};
struct far_fill { /* a cache line that waits for a piece */
	uint64_t *fill;
	uint32_t piece;
};
struct time_start { /* a block on its way to an SM */
	uint64_t at, block;
	uint32_t sm;
};

struct overlay_word {
	uint64_t word, data; /* address / 8; bytes of which mask says which were stored */
	uint32_t stamp;	     /* valid when it is the overlay's */
	uint8_t mask;
	uint8_t locked; /* bytes on which an atomic waits */
};
/* The cluster's stores of this epoch, as its own loads have to see them. */
struct time_overlay {
	uint64_t bloom[64]; /* granules of 128 bytes that were stored to */
	bool any;
	struct overlay_word *word; /* built when a load first meets the filter */
	uint32_t size, used, stamp;
	uint32_t indexed; /* offset in c->effect up to which stores are in word[] */
};

struct time_cluster {
	struct time_wheel wheel; /* turns of its schedulers */
	uint64_t sooner;	 /* how often some scheduler's turn came nearer */
	uint64_t now;		 /* cycle of the event that is being handled */
	uint64_t next;		 /* no event before it, when it stopped at the end of an epoch */
	bool alone;		 /* the only one with warps */
	bool direct;		 /* the far side answers at once */
	bool out_of_memory;
	uint32_t number, sched_first, sched_count;
	struct rng noise; /* of its near side */
	struct time_warp *warp_pool;
	struct time_warp *warp_left, *warp_left_last; /* gone in this epoch */
	struct time_block *block_pool;
	struct time_run run;
	struct time_result result;
	struct func_launch launch;
	struct func_memory memory; /* same bytes, own notes about them */
	struct time_start *start;  /* in the order of their cycles */
	uint32_t start_first, start_count, start_room;
	uint64_t start_next; /* cycle of the first of them, NEVER */
	struct far_request *request;
	struct far_turn *turn; /* of each request */
	uint32_t request_count, request_room;
	struct far_piece *piece;
	struct far_seen *seen; /* of each piece */
	uint32_t piece_count, piece_room;
	struct far_fill *fill;
	uint32_t fill_count, fill_room;
	uint8_t *effect;
	size_t effect_bytes, effect_room;
	struct time_overlay overlay;
};

/* ---- time_memory.c ---- */
int time_memory_open(struct time_gpu *g, uint64_t seed);
void time_memory_close(struct time_gpu *g);
void time_memory_begin(struct time_gpu *g); /* what a launch does to the caches before its first block starts */
/* A load or atomic of the lanes in mask, whose addresses are in w->f.addr, issued at t. Returns when its result is
 * there, or PENDING; then the last request is its own. *busy is how long (fixed point) the load/store pipe is taken. */
uint64_t time_load(struct time_run *x, struct time_warp *w, struct func_warp *f, const struct func_inst *i,
		   uint32_t path, uint32_t mask, uint64_t t, uint32_t *busy);
/* The same of one lane, of an instruction that is `alone`, in a cluster that asks at once. */
uint64_t time_load_one(struct time_run *x, struct time_warp *w, struct func_warp *f, const struct func_inst *i,
		       uint32_t path, uint32_t lane, uint64_t t, uint32_t *busy);
void time_store(struct time_run *x, struct time_warp *w, struct func_warp *f, const struct func_inst *i, uint32_t path,
		uint32_t mask, uint64_t t, uint32_t *busy, uint32_t effect);

/* ---- time_pieces.c ---- */
/* The pieces of a request and what else it wants of the far side, in order. */
void time_far_pieces(struct time_gpu *g, struct time_cluster *c, const struct far_request *q);
/* The host will soon serve this request; and next. */
void time_far_soon(const struct time_cluster *c, const struct far_request *q);
void time_far_ahead(const struct time_gpu *g, const struct time_cluster *c, const struct far_request *q);
/* Looks where the far side has the lines that the cluster's pieces want, and what it would answer. Changes nothing there, so all clusters
 * may look at once; the serving, which one thread does, then need neither search nor reckon. */
void time_far_look(struct time_cluster *c);
/* Says which levels of a route are on the far side. */
void time_split(struct time_gpu *g, struct time_route *r);
/* The L1 that stands beside so much shared memory of an SM; empty where another stood there. */
void time_choose_l1(struct time_gpu *g, uint64_t room);

/* ---- time_far.c: the queue of a cluster, and its serving ---- */
/* With the pieces from `piece` on. NULL: out of memory. */
struct far_request *far_request(struct time_cluster *c, enum far_kind kind, uint64_t t, uint32_t piece);
struct far_piece *far_piece(struct time_cluster *c, enum piece_kind kind, const struct time_route *r, uint32_t first,
			    uint32_t sm, uint64_t address, uint64_t t);
void far_fill(struct time_cluster *c, uint64_t *fill); /* a time that the latest piece will tell */
void time_far_serve(struct time_gpu *g, struct time_grid *grid, uint64_t from); /* of the epoch that began at `from` */
/* The answers go to the lines, registers and warps that wait for them, and the queue is empty. Touches only what is the
 * cluster's, so clusters do that side by side again. */
void time_far_answer(struct time_cluster *c);
void time_far_clear(struct time_cluster *c);

/* ---- time_effect.c: what waits for the serving besides time ---- */
/* Runs a memory instruction's handler, but what it does to global memory is only noted: then *effect is the note. */
void time_effect(struct time_run *x, struct time_warp *w, struct func_warp *f, const struct func_inst *fi,
		 uint32_t mask, uint32_t *effect);
/* `look`: returns whether a byte of memory has changed; else false. */
bool time_effect_serve(struct time_cluster *c, uint32_t effect, struct func_memory *m, bool look);
void time_effect_soon(const struct time_cluster *c, uint32_t effect); /* the host will soon serve it */
void time_effect_clear(struct time_cluster *c);

/* A cache level; with `of`, a second way to look up the caches of that one. 0 or -ENOMEM. */
int time_level_open(struct time_gpu *g, struct time_level *l, const struct cache_spec *c, uint32_t *table,
		    uint64_t seed, const struct time_level *of);
void time_level_close(struct time_level *l);
uint32_t *time_memory_table(struct time_gpu *g, const struct path_spec *p, uint32_t *table);
/* Looks the address up level by level from `first` on; bytes: what that level gives to the one above. Returns when the
 * data is there, or PENDING. The latest piece of the cluster then says when, once it is served. The caller makes a
 * request of it and of those before it that it has caused. */
uint64_t time_walk(struct time_run *x, const struct time_route *r, uint32_t first, uint32_t sm, uint64_t address,
		   uint64_t t, uint32_t bytes);

/* Whether a level within the cluster is looked up with a translated address. */
static inline bool time_translates_near(const struct time_route *r)
{
	return r->tlb && r->translate < r->near;
}

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
void time_blocks_count(struct time_gpu *g,
		       struct time_grid *grid); /* grid->next_block: behind those that start at once */
/* Of blocks [first, end), first a multiple of the clusters' number, those of this cluster sit down. False: out of memory. */
bool time_blocks_start(struct time_run *x, uint64_t first, uint64_t end);
void time_dispatch(struct time_cluster *c, struct time_grid *grid, uint32_t sm, uint64_t t); /* to room left at t */
void time_arrive(struct time_run *x); /* the next of c->start[] sits down */
void time_warp_done(struct time_run *x, struct time_warp *w, uint64_t t);
void time_blocks_stop(struct time_run *x); /* takes everything off the cluster's SMs, whatever it was doing */
void time_left(struct time_cluster *c);	   /* nobody refers any more to the warps that have gone */
void time_pool_free(struct time_cluster *c);

/* ---- time_epoch.c ---- */
int time_run_all(struct time_gpu *g, struct time_grid *grid, struct time_result *r);
int time_untimed(struct time_gpu *g, const struct time_run *x); /* time_untimed.c */
int time_clusters_open(struct time_gpu *g, uint64_t seed);
void time_clusters_close(struct time_gpu *g);

/* ---- time_barrier.c ---- */
void time_cluster_try(struct time_run *x, struct time_block *b, uint64_t t); /* the same of its cluster */
void time_barrier(struct time_run *x, struct time_warp *w, const struct func_inst *i, uint64_t mask, uint64_t t);
void time_barriers_try(struct time_run *x, struct time_block *b,
		       uint64_t t); /* some threads of the block have exited */
void time_next_path(struct time_run *x, struct time_warp *w, uint64_t earliest); /* time_next of a diverged warp */

/* ---- time_stuck.c ---- */
void time_deadlock(struct time_run *x);				/* ends the launch and says who waits where */
void time_watch_window(struct time_run *x, uint32_t *patience); /* of a cluster that is alone */
/* The same for all clusters, between two epochs. True: nothing can ever happen again. */
bool time_watch_epoch(struct time_gpu *g, struct time_grid *grid);
void time_watch_branch(struct time_run *x, struct time_warp *w, const struct func_inst *i, uint32_t from);
void time_watch_handler(struct time_run *x, struct func_warp *w, const struct func_inst *i, uint32_t mask);
void time_watch_own(struct time_run *x, struct func_warp *w, const struct func_inst *i, uint64_t mask);

/* ---- time_loop.c ---- */
/* Whether somebody asked for the launch's end: then x, the cluster that is said to run, has ended it. */
bool time_ended(struct time_gpu *g, struct time_run *x);
static inline bool time_is_limited(const struct time_request *q)
{
	return q->limit_cycles || q->limit_instructions || q->watch;
}
void time_fault(struct time_run *x, const struct time_warp *w, uint32_t pc); /* ends the launch; w->f says why */
/* Scheduler s may issue as early as `at`: its turn comes no later. */
void time_turn(const struct time_sched *s, uint64_t at);
void time_run_cluster(struct time_run *x, uint64_t end); /* what happens before cycle `end` */
bool time_step(struct time_run *x, uint64_t end);	 /* its next event, if there is one before `end` */
void time_run_direct(struct time_run *x);		 /* to the end of the launch */
uint64_t time_soonest(const struct time_cluster *c);	 /* no event comes before it */

#endif
