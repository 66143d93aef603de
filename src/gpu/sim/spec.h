/* A simulated GPU: every number of it, from a .gpu file. Constant once loaded. doc/gpu-file.md describes the format. */
#ifndef FATHOM_SPEC_H
#define FATHOM_SPEC_H
#include "base/arena.h"
#include "base/err.h"
#include "data/schedule.h"
#include "gpu/sim/func/sfu.h"
#include <stdbool.h>
#include <stdint.h>

/* ---- caches: one description for constant, data (and later texture, instruction) caches ---- */
enum cache_policy {
	POLICY_LRU,
	POLICY_FIFO,
	POLICY_RANDOM,
	POLICY_PLRU,
	POLICY_WEIGHTED,
	POLICY_NRU,
	POLICY_SCHEDULE,
	POLICY_QLRU,
	POLICY_DUEL
};
enum schedule_step { STEP_ACCESS, STEP_MISS };
enum cache_scope { SCOPE_SM, SCOPE_CLUSTER, SCOPE_GPU };
#define QLRU_OLDEST 3 /* the age of the line that goes next */
enum cache_mapping { MAP_MODULO, MAP_HASH, MAP_SCRAMBLE };
enum cache_write { WRITE_THROUGH, WRITE_BACK, WRITE_EVICT }; /* what a store does to a line; evict drops it */
enum cache_addressed { ADDRESSED_PHYSICAL, ADDRESSED_VIRTUAL };
#define CACHE_WAYS_MAX 128
struct cache_spec {
	bool present;
	uint64_t size;	       /* bytes of data: sets * ways * line, or what set_ways sums to */
	uint32_t line, sector; /* bytes; sector == line when the whole line is filled */
	uint32_t ways, sets;
	enum cache_policy policy;
	uint16_t schedule[SCHEDULE_MOST]; /* POLICY_SCHEDULE: the ways, from 0, that go one after the other ... */
	uint32_t schedule_count;
	enum schedule_step step; /* ... by one with every access to the set, or with every line that is replaced */
	uint32_t insert_age;	 /* POLICY_QLRU: age of a new line, 0 to QLRU_OLDEST */
	uint32_t victims;	 /* lines that a buffer beside the level keeps of those that it replaces */
	double weight[CACHE_WAYS_MAX]; /* POLICY_WEIGHTED: chance of each way to be replaced; sums to 1 */
	enum cache_mapping
	    mapping; /* MAP_MODULO: (address / line) % sets. MAP_HASH: xor-folded line number, balanced on aligned spans.
		 * MAP_SCRAMBLE: the same with a product of the upper bits, which no xor of bits makes */
	enum cache_scope scope;
	double latency; /* cycles, load to use, of a hit in this level (address arithmetic of the load not included) */
	uint32_t partitions; /* 1, or 2: lines alternate by a hash over partitions; a cluster is near to one */
	double far_extra;    /* cycles more when the line's partition is not the near one */
	const uint32_t
	    *set_ways;		/* ways of each set where they differ, `sets` of them, and ways is the most; else NULL.
				   * Lines are dealt round the sets, passing by those that are full: size contiguous bytes
				   * fit exactly */
	uint32_t set_bits_from; /* the set index takes the address bits from this one on; 0: those above the line */
	enum cache_write write;
	bool write_allocate;   /* a store makes room for its line */
	uint32_t tags;	       /* lines looked up in a cycle, data in banks; 0: transactions go one by one */
	bool emptied;	       /* every launch finds it empty */
	double bandwidth;      /* bytes a cycle of one instance; 0: no limit */
	uint32_t access;       /* aligned bytes that are one access when they are asked for in a row; 0: a sector is */
	double store_interval; /* cycles between two accesses of stores that one instance keeps; 0: no limit */
	double interval;       /* cycles between two accesses of one instance; 0: no limit */
	enum cache_addressed addressed; /* virtual: looked up before the translation */
	double miss_cost; /* cycles that a look-up in vain holds a load up before the next level is asked */
	double fill_cost; /* cycles that its whole line takes longer from memory than what a load past it moves */
};
#define CONST_LEVELS 4
struct path_spec { /* levels in the order a load looks them up */
	uint32_t levels;
	struct cache_spec level[CONST_LEVELS];
	double memory_latency; /* cycles, load to use, when every level misses */
	uint32_t
	    address_ops; /* arithmetic instructions the hardware needs in front of / within one load (GT200 constants: 2) */
	double address_latency; /* cycles of each of them: latency of the arithmetic operation named in the file */
	double issue;		/* cycles the load/store unit is busy with one warp load */
	double request;		/* and with each instruction besides, whatever it asks for */
	uint32_t pipe;		/* pipe that takes the load */
};

/* ---- translation: a TLB level is a cache whose lines are entries. One entry covers `line` bytes, `size` is the reach,
 * `latency` the cycles more than a hit in the level above. ---- */
#define TLB_LEVELS CONST_LEVELS
enum tlb_walk { WALK_FIXED, WALK_L2 };
enum tlb_path { TLB_GLOBAL, TLB_TEXTURE, TLB_PATHS };
struct tlb_spec {
	uint32_t levels; /* 0: every access is translated at once */
	struct cache_spec level[TLB_LEVELS];
	double miss_latency; /* cycles more than a hit in the last level: the page walk */
	enum tlb_walk walk;  /* of WALK_L2, page table entries lie in memory and are looked up in the global L2 */
	double walk_memory;  /* cycles more when the entry is not in that L2 */
};

/* ---- instruction fetch: levels as a fetch looks them up, latencies are cycles added to a fetch that misses the level above
 * and hits here. No levels: every instruction is there. ---- */
enum fetch_share {
	SHARE_NONE,
	SHARE_CONSTANT_L1,
	SHARE_CONSTANT_L2,
	SHARE_CONSTANT_L3,
	SHARE_CONSTANT_L4,
	SHARE_GLOBAL_L2
};
struct fetch_spec {
	struct path_spec path;
	enum fetch_share share[CONST_LEVELS]; /* the very same cache as that level of another path */
	uint32_t block;			      /* bytes that one fetch takes from the first level, a power of two */
	uint32_t ahead; /* lines behind the one a warp enters that are taken from the second level if it has them */
	uint64_t base;	/* address of a program's first instruction */
	uint32_t bytes; /* of a native instruction whose operation says nothing else */
};

/* ---- how an SM's resources are given out to blocks ---- */
/* CLUSTER: one to each cluster in turn, then to the next SM of each. SM: one to each SM, cluster after cluster. FILL:
 * as many to each as it takes. */
enum block_order { ORDER_CLUSTER, ORDER_SM, ORDER_FILL };
enum regfile_allocation { ALLOCATE_BLOCK, ALLOCATE_WARP };
struct regfile_spec {
	enum regfile_allocation allocation;		 /* what `unit` is counted for: the block or each warp */
	uint32_t register_quantum, thread_quantum, unit; /* of one thread; threads of a block; registers. 0 is 1 */
	uint32_t max_per_thread;			 /* 0: no limit */
};

/* ROUND_ROBIN: the next behind the one that issued last. OLDEST, YOUNGEST: by when they started. GREEDY: the one that issued
 * last as long as it is ready, else the oldest. */
enum core_policy { CORE_ROUND_ROBIN, CORE_OLDEST, CORE_YOUNGEST, CORE_GREEDY };

/* ---- arithmetic ---- */
#define SPEC_PIPES 16
struct pipe_spec {
	char name[16];	    /* "sp" "sfu" "dpu" "fp32" ... */
	bool per_scheduler; /* one such pipe in each scheduler's partition, else one an SM */
	bool together;	    /* a warp that waits for one of its results waits for all that are on their way */
};
#define SPEC_OP_PIPES 3
struct op_spec {	      /* one operation on one type: arith.<op>.<type> */
	char op[16], type[8]; /* "mad", "u32" */
	bool present;
	double latency;	     /* cycles, whole PTX operation, dependent to dependent */
	double throughput;   /* ops/clk/SM, all pipes together */
	uint32_t native_ops; /* native instructions it expands to, executed one after another by its warp */
	uint32_t bytes;	     /* of each of them; 0: native.bytes */
	bool routine;	     /* they stand once behind the program, each use is a call */
	uint32_t pipe_count;
	uint32_t pipe[SPEC_OP_PIPES]; /* pipes that can take it */
	double rate[SPEC_OP_PIPES];   /* ops/clk/SM of each; sums to throughput */
};
#define SPEC_OPS    192
#define SPEC_SPLITS 16

/* ---- nuisance ---- */
struct noise_spec {
	double jitter_probability, jitter_cycles; /* a memory access beyond the SM takes up to jitter_cycles more */
	double refresh_interval, refresh_cycles;  /* memory stalls for refresh_cycles every refresh_interval cycles */
	double neighbour_insert;		  /* share of those that leave a stranger's line behind */
	double neighbour_rate; /* evictions per 1000 cycles, in caches of gpu scope, by somebody else's traffic */
	double boost, boost_interval,
	    boost_cycles; /* once an interval the SM's clock is 1 + boost times as fast for so long */
	double drift;	  /* relative slow change of the core clock against the memory, 0 = none */
};

enum spec_first_path { FIRST_TAKEN, FIRST_FALLTHROUGH }; /* of the two paths of a divergent branch */

/* ---- requests on their way ---- */
enum outstanding_kind { OUTSTANDING_NONE, OUTSTANDING_MSHR, OUTSTANDING_PRT };
enum coalesce_rule { COALESCE_LINES, COALESCE_G80, COALESCE_GT200 };
enum shared_broadcast { BROADCAST_ALL, BROADCAST_ONE };
struct dram_spec {	/* of one partition */
	uint32_t banks; /* 0: none are told apart */
	uint64_t row_bytes;
	uint32_t rows;		    /* of a bank whose accesses its queue puts together */
	double row_miss, bank_busy; /* cycles */
	double open_interval;	    /* cycles from one opening of a row to the next */
	uint64_t write_batch;	    /* bytes that are written in one go; 0: each as it comes */
	double turn;		    /* cycles that the bus is lost for a batch */
};
struct atomic_spec {	/* cycles; 0 = as a load would do it */
	double latency; /* of one alone, where the level that performs it has the line */
	double same_address, distinct;
};

#define SPEC_ATOMICS 10
extern const char *const spec_atomics[SPEC_ATOMICS]; /* as enum ptx_atom has them, from PTX_ATOM_AND on */

/* ---- the host's side; 0 = takes no time ---- */
struct host_spec {
	double h2d, d2h, both, h2d_pageable, d2h_pageable;    /* bytes a second; pageable: 0 = as of pinned memory */
	double copy_latency, launch_latency, launch_interval; /* seconds */
	double mapped_latency; /* seconds of a load of the host's memory; 0 = as of the device's */
	bool overlap;	       /* copies go on beside a kernel */
};

/* Answers that the compute capability gives where the file does not. */
enum told_answer { ANSWER_UNTOLD, ANSWER_NO, ANSWER_YES };
enum mad_product { PRODUCT_TRUNCATED, PRODUCT_NEAREST }; /* of an f32 mad that is not fused */

struct sim_spec {
	char name[128], like[96], file[512]; /* like: the description that lent what this one does not say, or "" */
	uint64_t hash;			     /* of the file's text */
	/* device */
	uint32_t sm_count, sm_per_cluster, cluster_count, warp_size;
	const uint32_t *sm_number;    /* what %smid says on each SM, cluster by cluster; NULL: 0, 1, 2 ... */
	enum block_order block_order; /* of the first blocks of a launch */
	double clock_hz;
	char target[16];
	int ptx_version, cc;
	uint32_t max_threads_per_block, max_threads_per_sm, max_warps_per_sm, max_blocks_per_sm, registers_per_sm;
	struct regfile_spec regfile;
	uint64_t shared_quantum; /* shared memory is given out in pieces of this; 0 is 1 */
	double block_interval;	 /* cycles from one block that is handed out to the next, of the whole GPU */
	double block_launch,
	    warp_launch;	/* cycles until a block's first warp starts, and from each of its warps to the next */
	uint32_t barrier_slots; /* barriers of an SM, at most; 0: as many as its blocks want */
	uint64_t shared_per_sm, shared_per_block, shared_opt_in, constant_bytes, memory_bytes;
	uint64_t shared_split[SPEC_SPLITS]; /* sizes that a launch can choose, ascending */
	uint32_t shared_splits;
	bool has_f64, has_f16, has_fma;
	/* core */
	uint32_t schedulers;	  /* warp w belongs to scheduler w % schedulers */
	double scheduler_issue;	  /* cycles between two issues of one scheduler */
	enum core_policy policy;  /* which of its ready warps a scheduler takes */
	bool dual_issue;	  /* a second instruction of the same warp in the same cycle, to another pipe */
	double warp_interval;	  /* cycles from one turn of a warp to its next, at least; 0: the next cycle */
	uint32_t loads_in_flight; /* per warp, scoreboard depth; 0 = unlimited */
	uint32_t pipe_count;
	struct pipe_spec pipe[SPEC_PIPES];
	uint32_t op_count;
	struct op_spec op[SPEC_OPS];
	int32_t default_op; /* op whose timing an operation takes that the file does not list (moves, compares,
	                                     * conversions, predicates): index into op[], required */
	/* clock */
	uint32_t clock_native_ops;    /* native instructions of one read */
	double clock_op_latency;      /* cycles of each of those before the next of them may issue */
	double clock_issue;	      /* cycles until an independent instruction may issue after the last of them */
	uint32_t clock_granularity;   /* values are multiples of this many cycles */
	enum cache_scope clock_scope; /* who shares one counter */
	/* barrier and branches */
	double cluster_barrier, cluster_shared; /* of a cluster's blocks; 0: as within a block */
	double barrier_latency, barrier_interval, branch_latency, branch_predicate, branch_split, branch_split_issue;
	double branch_issue, branch_meet;
	uint32_t branch_meet_ops;
	bool independent_threads; /* else a reconvergence stack */
	enum spec_first_path first_path;
	uint32_t yield_after; /* backward branches; independent threads only */
	/* memories */
	struct path_spec shared; /* levels = 0; memory_latency is the shared-memory latency */
	uint32_t shared_banks, shared_bank_width;
	bool shared_operands;	      /* a compiler makes loads of shared memory operands of arithmetic */
	double shared_operand_issue;  /* cycles that such an instruction keeps its pipe longer */
	uint32_t compiler_registers;  /* of a thread, that a compiler keeps to; 0: it changes nothing */
	double shared_conflict_cost;  /* cycles for each further access to a bank */
	double shared_conflict_issue; /* that it keeps the pipe busy; 0: shared_conflict_cost */
	uint32_t shared_lanes;	      /* that one access serves, 0 = as many as the banks feed */
	uint32_t shared_bank_mode;    /* bytes after which the next bank follows, 0 = bank width */
	enum shared_broadcast shared_broadcast;
	struct path_spec constant, global; /* global.level[0] is the SM's L1 when has_l1 */
	struct cache_spec l1_split;	   /* the L1 beside the smallest shared_split; not present: as it always is */
	bool has_l1, has_l2; /* of global: which levels exist; .cg skips the L1. The L1 is global.level[0] and the L2
	                                     * global.level[1], whichever of them exists; global.levels counts them */
	struct path_spec texture; /* when has_texture; else texture loads take the global path */
	bool has_texture;
	bool texture_shared[CONST_LEVELS]; /* the level is the global L2 */
	struct tlb_spec tlb[TLB_PATHS];
	bool tlb_shared;	  /* the texture path uses the TLBs of the global one */
	uint64_t page_size;	  /* bytes; 0: nothing is translated */
	uint64_t tlb_window;	  /* bytes that page tables serve at a time, 0: everything */
	double tlb_window_switch; /* cycles that a walk outside takes more */
	bool l1_shares_shared; /* L1 capacity shrinks by the shared memory of resident blocks: size is that with none */
	struct fetch_spec fetch;
	bool constant_blocks;	   /* a warp has one constant load in flight */
	bool readonly_by_texture;  /* loads marked read-only (ld.global.nc) ask the caches of textures */
	bool local_past_l1;	   /* accesses to local memory pass by the L1 */
	bool constant_uses_l2;	   /* constant misses go through the global L2 instead of straight to memory */
	uint32_t coalesce_segment; /* bytes of one memory transaction */
	double dram_bandwidth;	   /* bytes a cycle, whole GPU */
	uint32_t texture_tile_bytes, texture_tile_rows; /* of arrays that textures read; 0: row by row */
	double texture_lanes; /* threads of a read that the unit serves a cycle; 0: any number */
	uint32_t texture_turn_bytes, texture_turn_filtered; /* of a thread, in one turn of the unit; 0: any number */
	uint32_t matrix_byte_bits; /* of sums that wgmma makes of 8-bit numbers; 0: as matrix_sum_bits */
	uint32_t matrix_sum_bits; /* below the largest product to which tensor cores keep sums of binary32; 0: to all */
	uint32_t texture_fraction_bits; /* of a filter's weights */
	enum coalesce_rule coalesce;
	enum outstanding_kind outstanding;
	uint32_t outstanding_entries, outstanding_merge; /* merge: lanes an entry serves, 0 = any number */
	uint32_t recorders;		      /* units that enter requests into that table; 0 = it takes no time */
	double record;			      /* cycles a thread that one of them needs */
	uint32_t memory_partitions;	      /* 0 is one */
	uint64_t partition_stride;	      /* bytes until the next partition follows */
	enum cache_mapping partition_mapping; /* MAP_HASH: the upper bits turn the order of partitions and banks */
	struct dram_spec dram;
	struct atomic_spec atomic_any, atomic[SPEC_ATOMICS]; /* of global memory: unless given, and by spec_atomics */
	double atomic_request;	    /* cycles that a transaction keeps a unit besides its lanes */
	uint32_t atomic_units;	    /* 0 = one a memory partition */
	uint32_t atomic_unit_bytes; /* 0 = a line */
	uint32_t atomic_queue;	    /* instructions of an SM under way at most, 0 = any number */
	double atomic_issue;	    /* cycles that a lane's atomic keeps the load/store pipe, 0 = as loads do */
	enum told_answer denormals, mad_fused; /* of f32; spec_keeps_denormals, spec_mad_fuses */
	enum mad_product mad_product;
	struct sfu_words sfu[SFU_FUNCTIONS];
	double shared_atomic_latency, shared_atomic_same; /* 0 = as a load; a conflict */
	double
	    *cluster_offset; /* cluster_count entries: cycles added beyond the SM by where the cluster sits; mean 0 */
	struct noise_spec noise;
	struct host_spec host;
};

/* What a block may have at most, when its kernel opts in. */
static inline uint64_t spec_shared_most(const struct sim_spec *s)
{
	return s->shared_opt_in > s->shared_per_block ? s->shared_opt_in : s->shared_per_block;
}

static inline uint32_t spec_atomic_unit(const struct sim_spec *s)
{
	if (s->atomic_unit_bytes)
		return s->atomic_unit_bytes;
	return s->has_l2 ? s->global.level[1].line : s->coalesce_segment;
}

/* Turns of the texture unit for a thread that reads so many texels. */
static inline uint32_t spec_texture_turns(const struct sim_spec *s, uint32_t texel_bytes, uint32_t texels)
{
	const uint32_t one = s->texture_turn_bytes, all = s->texture_turn_filtered;
	const uint32_t reads = one ? (texel_bytes + one - 1) / one : 1,
		       filters = all && texels > 1 ? (texels * texel_bytes + all - 1) / all : 1;
	return reads > filters ? reads : filters;
}

/* Whether it says what atomics on global memory cost. */
static inline bool spec_times_atomics(const struct sim_spec *s)
{
	bool timed = s->atomic_issue > 0 || s->atomic_request > 0;
	for (uint32_t k = 0; k < SPEC_ATOMICS; k++)
		timed |= s->atomic[k].latency > 0 || s->atomic[k].same_address > 0 || s->atomic[k].distinct > 0;
	return timed;
}

/* Names: a built-in GPU ("gtx280") or a path with a '/' or ending in ".gpu". Everything lives in arena a. */
int spec_open(struct sim_spec **out, struct arena *a, const char *name_or_path, struct err *e);
/* Errors name the file and the line and say what would be right. */
int spec_parse(struct sim_spec **out, struct arena *a, const char *file, const char *text, size_t size, struct err *e);
bool spec_keeps_denormals(const struct sim_spec *s); /* of f32; else operands and results are flushed */
bool spec_mad_fuses(const struct sim_spec *s);	     /* mad.f32 */
struct func_target;
void spec_target(const struct sim_spec *s, struct func_target *t); /* what the description says of values */
/* Index of the operation, or -1. "add","u32". b32 operations fall back from u32/s32 as the file format describes. */
int spec_find_op(const struct sim_spec *s, const char *op, const char *type);
/* The truth that a probe should find: calls each(key, kind...) for every key of COVERAGE that the description decides.
 * Numbers: text == NULL and array == NULL; an array's order is not known to anybody. A structure that does not exist: absent = true. tolerance: how far a right MEASURED value may be. */
struct truth {
	const char *key;
	double number;
	const char *text;
	bool absent;
	double tolerance;
	const double *array; /* count values, valid during the call */
	uint32_t count;
};
int spec_truth(const struct sim_spec *s, int (*each)(void *ctx, const struct truth *t), void *ctx);
/* A random GPU for calibration: writes .gpu text. Same seed, same text. */
struct str;
int spec_random(struct str *out, uint64_t seed);

#endif
