/* Inside of predict/. */
#ifndef FATHOM_PREDICT_IMPL_H
#define FATHOM_PREDICT_IMPL_H
#include "predict/predict.h"

#define PREDICT_LANES 64
#define BUFFER_SHIFT  40 /* buffer k of the arguments begins at (k + 1) << this */

/* Which way everything goes that is not known for certain. */
#define DECIDED_APART 3

enum predict_end { END_EXPECTED, END_FAST, END_SLOW };

/* ---- values: predict_lane.c ---- */
struct lanes {
	uint64_t v[PREDICT_LANES];
	uint64_t known;	 /* lanes whose value is */
	uint32_t buffer; /* 1 + number of the buffer that a pointer leads into, as far as can be seen; 0: none */
	bool drawn;	 /* of addresses: those that are not known lie somewhere in what they belong to */
};

struct walker;
/* What the instruction writes, for the lanes of mask. Loads from memory and everything else that is not followed give
 * values that are drawn and not known. They are equal where all that decides them is equal. */
void lane_execute(struct walker *w, const struct ptx_inst *in, uint64_t mask);
struct lanes lane_operand(struct walker *w, const struct ptx_operand *o, uint8_t type);
/* What an access goes to. An address that data decide is anywhere in its buffer, or in shared memory: it is drawn. */
struct lanes lane_address(struct walker *w, const struct ptx_inst *in, uint64_t mask);

/* ---- what a compiler makes of it: predict_native.c ---- */
struct native {
	struct ptx_func run;  /* the entry in the order in which it is executed */
	struct ptx_func cost; /* the same instructions as the operations that they count as */
	bool *operand;	      /* of each: it belongs to those that read its result, and takes no time */
	bool *meets;	      /* of each: a branch behind which lanes that part would have to meet */
	uint32_t registers;   /* of a thread, alive at once */
};
/* The compiler keeps to `registers` registers; 0: the order is that of the text. Returns 0, or -ENOTSUP with a
 * sentence: the entry holds something that is not executed. Returns -ENOMEM when memory ran out. */
int native_open(struct native *n, struct arena *a, const struct predict_request *q, int cc, uint32_t registers,
		struct err *e);

/* ---- one warp: predict_walk.c ---- */
#define STEP_PIECES (2 * PREDICT_LANES)
enum sure { SURE_NOT, SURE_DRAWN, SURE_KNOWN };
struct step { /* one warp instruction */
	const struct ptx_inst *in;
	uint32_t number; /* of the instruction */
	uint64_t mask;	 /* lanes */
	bool branched;	 /* a branch that some lanes took */
	bool parted;	 /* and some did not */
	/* memory */
	uint8_t space;
	uint8_t sure; /* enum sure: how well the addresses are known */
	bool skip_l1;
	uint32_t buffer; /* as in struct lanes */
	uint32_t bytes;	 /* of one lane */
	uint64_t address[PREDICT_LANES];
};

struct walk { /* what all warps of a launch share */
	const struct predict_request *q;
	const struct ptx_func *entry; /* native.run */
	const bool *operand, *meets;  /* native's */
	uint64_t *symbol;	      /* addresses of the module's variables, in their spaces */
	uint64_t shared_static;
	uint32_t warp_size, warps_per_block, sm_count;
	enum predict_end end;
	/* what data decided, each noted once: instruction -> 1, a branch; 2, an address. Or what no finding tells:
	 * DECIDED_APART */
	uint8_t *decided;
	uint8_t *way; /* of each guarded branch and exit: enum loop_way */
	bool endless; /* a loop whose turns data decide, and nobody told how many */
};

struct walker {
	struct walk *all;
	struct lanes *reg;
	uint32_t *turn; /* times each data-decided branch kept the warp in its loop, since it last left it */
	uint32_t pc[PREDICT_LANES];
	uint64_t alive;
	uint64_t draws;		 /* of what no two atomics share */
	uint32_t block[3], warp; /* numbers */
};

int walk_open(struct walk *w, struct arena *a, const struct predict_request *q, const struct native *n,
	      uint32_t warp_size, uint32_t sm_count, struct err *e);
/* Room for registers is the caller's: entry->reg_count of each. */
void walker_start(struct walker *w, struct walk *all, uint64_t block, uint32_t warp);
/* False: all lanes have ended. */
bool walker_next(struct walker *w, struct step *s);

/* ---- loops: predict_loops.c ---- */
enum loop_way { LOOP_NONE, LOOP_STAYS_ON, LOOP_STAYS_JUMP };
/* Of each guarded branch or exit that leaves a loop one way and not the other: which way stays. 0 or -ENOMEM. */
int loop_ways(const struct ptx_func *f, uint8_t *way, struct err *e);

/* ---- accesses: predict_pieces.c ---- */
/* Distinct aligned pieces of so many bytes that the lanes touch. Returns how many; out holds STEP_PIECES. */
uint32_t pieces_of(const struct step *s, uint32_t piece, uint64_t *out);
/* Passes beyond the first of each group of as many lanes as there are banks. A bank gives a row of `width` bytes at
 * once; the next bank follows after `mode` bytes. */
uint32_t bank_conflicts(const struct step *s, uint32_t banks, uint32_t width, uint32_t mode);

/* ---- findings: predict_terms.c ---- */
struct term {
	bool there;
	double value, fast, slow; /* fast: the end that makes the kernel faster */
};
struct terms {
	struct arena *a;
	const struct finding_list *f;
	const struct device_info *d;
	struct predict_term **list;
	bool compiled; /* as in struct predict_request */
	bool no_memory;
};
/* more_is_faster: of rates. A finding that is only bounded is used with a note. effect: what is done without. */
struct term term_get(struct terms *t, const char *key, bool more_is_faster, const char *effect);
/* The same of what the kernel needs and nothing stands in for: without it the time has no upper end. */
struct term term_need(struct terms *t, const char *key, bool more_is_faster, const char *effect);
/* The same without a word when it is not there. */
struct term term_try(struct terms *t, const char *key, bool more_is_faster);
double term_at(const struct term *t, enum predict_end end);
bool term_absent(const struct terms *t, const char *key); /* the structure was shown not to be there */

/* Of runs in which nothing was clocked inside of kernels (OpenCL devices, mostly): no operation has findings of its
 * own. */
bool outside_only(const struct terms *t);
bool outside_known(const struct terms *t, const char *stem); /* "add.f32" */
struct term outside_latency(struct terms *t, const char *stem);
struct term outside_issue(struct terms *t, const char *stem);
double outside_least_issue(const struct terms *t);			     /* infinite: not known */
struct term outside_bandwidth(struct terms *t, const struct term *clock_hz); /* of memory, bytes a clock */

enum timing_kind { KIND_OTHER, KIND_SINGLE, KIND_INTEGER, TIMING_KINDS };
struct timing { /* of a PTX instruction */
	enum timing_kind kind;
	struct term issue, latency; /* cycles of one warp instruction */
	double spread;		    /* of the issue, as far as other units may do the rest */
	double turns;		    /* of the SM's issue that it takes: native instructions, as far as they are known */
	uint32_t unit;		    /* number, 0: not known which */
	double
	    part; /* cycles of the unit that it takes at least: slower than others there, it may use a part of the unit only */
	struct predict_class *cls;
};
#define TIMING_UNITS	 16
#define MODEL_SCHEDULERS 8
struct model {		       /* findings, ready for use */
	struct timing *timing; /* of each instruction of the entry */
	char unit[TIMING_UNITS][64];
	uint32_t units;
	double issue_least;		    /* cycles between any two instructions of the SM */
	struct term warp_gap;		    /* between two of one warp */
	struct term kind_gap[TIMING_KINDS]; /* the same of two of a kind, not there: no more than that */
	struct term turn; /* of the SM for one instruction, or two independent ones of a warp; not there: one each */
	struct term turn_extra; /* cycles after a branch that was taken */
	struct term split,
	    split_turn;	     /* cycles more where lanes part; from one warp of a scheduler that parts to the next */
	struct term branch;  /* of a scheduler, from one native branch to the next */
	struct term meet;    /* cycles more of a branch at which lanes might part */
	double meet_ops;     /* native branches that this takes besides the branch's own */
	uint32_t schedulers; /* 1 where their number is not known, and then none has turns of its own */
	bool schedulers_known;
	struct term barrier, clock_hz, launch, sm_count, warp_size;
	struct term l1_latency, l2_latency, memory_latency, shared_latency, constant_latency;
	struct term l1_rate, l2_rate, l2_total, memory_total, shared_rate, load_issue;
	struct term scattered; /* pieces a cycle that memory gives where no neighbours are read */
	struct term l1_size, l2_size;
	uint32_t piece, fill;	     /* bytes of a request; that memory moves for one */
	double sides;		     /* of the L2: what is stored goes to each */
	uint32_t far;		     /* bytes that the L2 gives at once: fewer keep it busy as long */
	uint32_t l1_banks, l1_width; /* 0: the cache gives its pieces one after the other */
	struct term l1_pass;
	uint32_t banks, bank_width, bank_mode;
	struct term conflict,
	    pass; /* of one more pass over the banks: until its data are there; of the load/store unit */
	uint32_t entries,
	    entry_bytes; /* requests that an SM can have waiting, 0: any number; bytes of a line of them, 0: of whole loads */
	uint32_t warp_loads; /* loads that a warp can have waiting, 0: any number */
	struct term atomic_same, atomic_latency;
	struct term atomic_sector;	  /* cycles that a warp's atomics on one sector keep what does them */
	double atomic_units, atomic_line; /* how many of these the L2 has; bytes that one of them is home of */
	struct term blocks;		  /* seconds from one block of the launch to the next, at least */
	struct term refill;		  /* cycles from the end of a block to the next one in its place, at least */
	struct term cold;		  /* cycles until the first instruction is there */
	struct term parameters;		  /* cycles until an SM that runs its first blocks has the parameters */
	bool has_l1, has_l2;
};
/* predict_terms_memory.c: global memory and its caches; what holds waiting requests; code that was never run; shared
 * memory. */
void terms_memory(struct model *m, struct terms *t);
void terms_waiting(struct model *m, struct terms *t);
void terms_cold(struct model *m, struct terms *t);
void terms_shared(struct model *m, struct terms *t);
void terms_atomics(struct model *m, struct terms *t);
void terms_parameters(struct model *m, struct terms *t, const struct ptx_func *entry);
int model_open(struct model *m, struct terms *t, const struct ptx_func *entry, struct predict_class **classes);

/* ---- one SM: predict_pipe.c ---- */
struct pipe_result {
	double cycles;
	double issue, bandwidth,
	    latency;   /* busy cycles of the fullest unit and of the fullest memory; of one block alone, times rounds */
	double handed; /* cycles of handing all blocks out */
	char issue_what[64], bandwidth_what[64];
	double bytes[PREDICT_LEVELS], requests[PREDICT_LEVELS]; /* of this SM */
	double steps;
	bool endless;
};
struct pipe_request {
	struct walk *walk;
	struct model *model;
	uint64_t blocks, first, stride; /* of this SM: how many, their numbers */
	uint32_t resident;		/* blocks at a time */
	double share;			/* SMs that share the memory */
	bool apart;			/* units that are not known count as different ones */
	enum predict_end end;
	bool count; /* instructions into the model's classes */
};
int pipe_run(struct pipe_result *r, const struct pipe_request *q, struct err *e);

#endif
