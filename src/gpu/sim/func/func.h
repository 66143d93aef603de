/* What an instruction does: lanes, masks, bytes. Knows no latency.
 *
 * File decode.c turns one .entry of a PTX module into a program of fixed 32-byte records. Room time/ walks the program.
 * It decides when a record issues, calls its handler, and does pc, divergence, barriers and exits with the functions
 * below.
 *
 * Registers of a warp are rows of 32 lanes, side by side. A row is 128 bytes; row r starts at reg + 32 * r, and its
 * lane l is reg[32 * r + l]. A 64-bit register is two rows in a row, read as uint64_t[32], not as low and high halves.
 * Registers of 8 and 16 bits, and f16, use one row, with the value in the low bits and the rest zero. The sign is
 * extended by the operations that need it. An f16x2 is a 32-bit row. Predicates are 32-bit masks, one a predicate.
 * Literals live in rows of their own, the same in every warp, so that handlers know only rows. Calls of .func are
 * inlined by decode, but for functions that call themselves.
 *
 * Who writes what: func.h, func_warp.c, func_memory.c belong to the timing room; decode*.c, exec*.c to the ptx room. */
#ifndef FATHOM_FUNC_H
#define FATHOM_FUNC_H
#include "base/arena.h"
#include "base/err.h"
#include "gpu/sim/func/sfu.h"
#include "ptx/ptx.h"
#include <stdbool.h>
#include <stdint.h>

#define FUNC_LANES   32		/* of a row of registers */
#define FUNC_WIDEST  64		/* lanes of a warp, at most: two halves */
#define FUNC_NONE    0xffffu	/* no row, no guard, no slot */
#define FUNC_NO_JOIN UINT32_MAX /* paths meet only at exit */

/* Each byte of local memory that the launch has not written. On real GPUs it is what earlier launches left, and 0 would
 * hide that a kernel reads it. */
#define FUNC_LOCAL_LEFT 0xa5
/* Blocks of a cluster: CUDA C++ Programming Guide, thread block clusters, beyond the portable 8. */
#define FUNC_CLUSTER_MOST 16
/* In the window of shared memory a block's own comes first. That of the block with rank n of its cluster begins at (n + 1) * this. */
#define FUNC_RANK_BYTES 0x00080000ull
/* Shared memory of each block that is the system's from sm_80 on: CUDA C++ Programming Guide, compute capabilities. What is in use of it is
 * cooperative_groups/details/memory.h's, and what an H200 answers. */
#define FUNC_RESERVED	   1024u
#define FUNC_RESERVED_USED 288u
/* Windows of the generic address space. Global addresses are themselves; cvta adds or takes off these. */
#define FUNC_SHARED_WINDOW  0x01000000ull /* .. 16 MB */
#define FUNC_LOCAL_WINDOW   0x02000000ull
#define FUNC_CONST_WINDOW   0x03000000ull
#define FUNC_PARAM_WINDOW   0x04000000ull /* the parameters of the kernel */
#define FUNC_CODE_BASE	    0x05000000ull /* function n of the module, FUNC_CODE_STEP bytes each: no address of memory */
#define FUNC_CODE_STEP	    16
#define FUNC_WINDOW_BYTES   0x01000000ull
#define FUNC_MODULE_BASE    0x08000000ull   /* .global variables of the module, laid out by decode from here */
#define FUNC_GLOBAL_BASE    0x10000000ull   /* launch buffers from here */
#define FUNC_TEXTURE_HANDLE 0x7e00000001ull /* of the launch's first texture; the next ones follow. No address */
#define FUNC_TEXTURE_NAMED                                                                                             \
	0x7d00000000ull /* variable n of the module, which is a texture or a surface. No address, either */

/* What time/ has to do about an instruction. */
enum func_kind {
	FUNC_ALU,   /* register in, register out; also ld.param, cvta, sregs other than clocks, vote, shfl */
	FUNC_CLOCK, /* reads %clock, %clock64, %clock_hi, %globaltimer: value from w->clock / w->globaltimer */
	FUNC_LOAD, /* inst.space, inst.bytes; the handler leaves addresses in w->addr. Space PTX_TEX: a texture read; addresses
		     * are global ones of texels, and of w->texels - 1 further ones a lane in w->block->texel */
	FUNC_STORE,
	FUNC_ATOMIC, /* atom (writes dst) and red (does not) */
	FUNC_BRANCH, /* no handler runs: taken lanes = active & guard, target and join below; FUNC_INDEXED: func_warp_indexed */
	FUNC_BARRIER, /* no handler runs: bar.sync a[, b] / bar.arrive a, b (FUNC_ARRIVE); rows a = number, b = threads or NONE */
	FUNC_FENCE, /* membar, fence: nothing to compute */
	FUNC_EXIT,  /* ret of the entry, exit: lanes = active & guard */
	FUNC_KINDS
};
enum {				 /* func_inst.flags */
       FUNC_GUARD_NOT = 1 << 0,	 /* @!p */
       FUNC_ARRIVE = 1 << 1,	 /* bar.arrive */
       FUNC_OF_CLUSTER = 1 << 2, /* of a barrier: all threads of the cluster meet at it */
       FUNC_SKIP_L1 = 1 << 2,	 /* ld.cg, .cv, .volatile, relaxed and stronger: not answered by the SM's L1 */
       FUNC_PARTING =
	   1 << 2, /* of a branch: forward, and lanes might part by what it reads: a place is noted where they meet */
       FUNC_UNIFORM = 1 << 3,	/* bra.uni */
       FUNC_WARP_SYNC = 1 << 4, /* bar.warp.sync: FUNC_BARRIER within the warp; nothing to wait for with a stack */
       FUNC_INDEXED = 1 << 6,	/* brx.idx: row a picks one of the program's targets, imm = first << 32 | count */
       FUNC_READONLY = 1 << 7,	/* ld.nc: of what no thread writes while the kernel runs */
       FUNC_GATHER = 1 << 5, /* vote, shfl, match .sync: more[2] is the row that names the lanes which have to come */
};

/* Fixed 32 bytes. Which variant of an operation (type, rounding, compare, saturation ...) is in `op`. */
struct func_inst {
	uint16_t op; /* index of func_wide[] and func_one[] */
	uint8_t kind, flags;
	uint16_t guard;	       /* predicate number or FUNC_NONE */
	uint16_t dst, a, b, c; /* rows or predicate numbers, as the handler reads them; FUNC_NONE when unused */
	uint8_t space; /* memory: enum ptx_space as written (PTX_GENERIC: the handler says in w->space what it was) */
	uint8_t bytes; /* memory: bytes one lane moves, all elements of a vector together */
	uint64_t imm;  /* memory: byte offset added to row a (symbol address already in it; a may be FUNC_NONE) */
	union {
		struct {
			uint32_t target,
			    join; /* FUNC_BRANCH: record taken lanes go to; where all lanes meet again (immediate
						* post-dominator) or FUNC_NO_JOIN */
		};
		uint16_t
		    more[4]; /* other kinds: further rows (vector elements, second destination) or what decode likes */
	};
};
_Static_assert(sizeof(struct func_inst) == 32, "records are 32 bytes");

/* The cold side of a record: what time/ needs once, when it builds its own tables, and messages.
 * A slot is a scoreboard name: row r (first row of a 64-bit register) is slot r; predicate p is slot program->rows + p.
 * Literal rows are not listed. The guard is listed among the reads. */
#define FUNC_NO_NUMBER UINT32_MAX
#define FUNC_READS     8
#define FUNC_WRITES    4
struct func_info {
	uint16_t ptx_op;     /* enum ptx_op */
	uint8_t type, type2; /* enum ptx_type of the instruction; for setp/set/slct type2 as ptx_inst has it */
	uint8_t space, cache, vec;
	uint8_t read_count, write_count;
	uint16_t read[FUNC_READS], write[FUNC_WRITES];
	uint32_t mods;	 /* PTX_APPROX ... */
	uint32_t line;	 /* of the text */
	uint32_t number; /* of the instruction in the entry that it was made of, FUNC_NO_NUMBER: of none there */
	uint32_t source; /* of what .loc names, 0: none */
	bool fused;	 /* compile.h: part of a later record of its stretch, and no native instruction */
};

/* Loads that no instruction of their own makes: fold.h. */
enum func_operand {
	FUNC_OPERAND_NONE,
	FUNC_OPERAND_LOAD, /* it belongs to the instruction that uses what it loads */
	FUNC_OPERAND_USE   /* that instruction */
};

struct func_literal {
	uint16_t row;
	bool wide; /* 64 bits: two rows */
	uint64_t bits;
};
struct func_symbol { /* module variable */
	const char *name;
	uint8_t space;
	uint64_t address; /* .const, .shared, .local: offset in its space; .global: absolute */
	uint64_t size;
};
struct func_program {
	const char *name;
	const struct func_inst *inst;
	const struct func_info *info;
	uint32_t inst_count;  /* the last record is always a FUNC_EXIT without guard */
	uint32_t rows, preds; /* of a warp, literal rows included; rows + preds < FUNC_NONE */
	const bool *wide;     /* of each row: the first of two */
	const struct func_literal *literal;
	uint32_t literal_count;
	uint32_t line;		/* where the source says its name */
	uint32_t registers;	/* 32-bit registers a thread is charged for occupancy: most live at once, or declared */
	uint32_t register_line; /* where so many live */
	uint32_t block[3];	/* threads of the one block that it runs with, 0: any */
	uint64_t most_threads;	/* of a block, 0: any number */
	uint32_t cluster[3];	/* blocks of the clusters that it runs in, 0: any */
	const struct ptx_param *param; /* of the entry, in the parameter block */
	uint32_t param_count, param_bytes;
	uint64_t
	    shared_static; /* bytes of .shared variables; dynamic shared memory starts there, aligned as its variable asks, to 16 at least */
	uint32_t reserved_bytes;    /* of them the system's, which come first: of programs that ask where they are */
	uint32_t reserved;	    /* that a block of this GPU has beside its own */
	uint64_t local_bytes;	    /* of one thread; the last ones are its stack, where functions call themselves */
	uint64_t frame_bytes;	    /* of the largest frame there, without registers */
	uint64_t const_bytes;	    /* module's .const variables, laid out from 0 in order of declaration */
	const uint8_t *const_init;  /* const_bytes, or NULL = zero */
	uint64_t global_bytes;	    /* .global variables from func_target.globals */
	const uint8_t *global_init; /* global_bytes, or NULL = zero */
	const struct func_symbol *symbol;
	uint32_t symbol_count;
	int matrix_bits; /* below the largest product to which tensor cores keep sums of binary32; 0: to all of them */
	int matrix_byte_bits; /* the same of a warpgroup's 8-bit numbers, 0: no other */
	const uint16_t *many; /* rows of records that have more than a record holds */
	uint32_t many_count;
	bool prints;	     /* it may call vprintf: what it writes has an order */
	bool allocates;	     /* it may call malloc: what it gets has an order */
	bool atomics;	     /* it has some outside of shared memory */
	bool ordered;	     /* their order shows: in what they return, or in sums of rounded numbers */
	const char *borrows; /* an operation of it whose time is not modelled and is that of others, or NULL */
	bool uses_sfu;
	const struct sfu *sfu;	/* the target's, or tables of the program's own when it uses_sfu */
	const uint32_t *target; /* records that indexed branches lead to */
	uint32_t target_count;
	const uint8_t *operand; /* enum func_operand of each record; NULL: nothing is folded */
};

/* What depends on the modelled GPU and not on time. */
struct func_target {
	int cc;								   /* compute capability x 10 */
	bool flushes;							   /* denormals of f32: operands and results */
	enum { FUNC_MAD_FUSED, FUNC_MAD_TRUNCATED, FUNC_MAD_ROUNDED } mad; /* what mad.f32 does to its product */
	int matrix_bits;						   /* func_program's */
	int matrix_byte_bits;
	const struct sfu_words *words; /* SFU_FUNCTIONS of them; NULL: the published ones */
	const struct sfu *sfu; /* tables that the caller builds when a program uses_sfu; NULL: it gets its own */
	uint64_t globals;      /* where the module's .global variables begin, aligned to 256; 0: FUNC_MODULE_BASE */
};

/* Everything lives in arena a and nothing of it points into m, which is gone afterwards. Returns -EINVAL with
 * "name:line:column: sentence" when the entry does not exist or holds something that is not executed. Returns -ENOMEM
 * when memory ran out. */
int func_decode(struct func_program **out, struct arena *a, const char *name, const struct ptx_module *m,
		const char *entry, const struct func_target *t, struct err *e);

uint64_t func_space_bytes(const struct ptx_module *m,
			  enum ptx_space space); /* of its .global or .const variables, wherever they begin */

/* ---- memory: bytes only ---- */
struct func_region {
	uint64_t base, size;
	uint8_t *data;
	bool written; /* by a kernel, since the host last set it up: kept by time/ */
};
#define FUNC_REGIONS 16
struct func_memory {
	struct func_region region[FUNC_REGIONS];
	uint32_t count;
	uint32_t last; /* region of the latest access: most accesses hit it again */
};

/* Adds a zeroed region [base, base + size). 0, -EINVAL when it overlaps or the table is full, -ENOMEM. */
int func_memory_add(struct func_memory *m, uint64_t base, uint64_t size, struct func_region **out);
void func_memory_free(struct func_memory *m);
/* The zeroed memory of a region of that size, or NULL; and back. */
void *func_region_memory(uint64_t size);
void func_region_free(struct func_region *r);
uint8_t *func_memory_find(struct func_memory *m, uint64_t addr, uint64_t bytes); /* slow path; NULL: outside */

/* Host memory behind [addr, addr + bytes), or NULL when any of it lies outside every region. */
static inline uint8_t *func_global(struct func_memory *m, uint64_t addr, uint64_t bytes)
{
	const struct func_region *r = &m->region[m->last];
	uint64_t at = addr - r->base;
	if (__builtin_expect(at < r->size && bytes <= r->size - at, 1))
		return r->data + at;
	return func_memory_find(m, addr, bytes);
}

/* If it lies beside the latest access, this address may be the next one: a chase asks for what it has just read. */
static inline void func_global_ahead(const struct func_memory *m, uint64_t addr)
{
	const struct func_region *r = &m->region[m->last];
	if (addr - r->base < r->size)
		__builtin_prefetch(r->data + (addr - r->base));
}

/* ---- textures ---- */
#define FUNC_TEXELS 8 /* that one lane reads at most: two in each of three dimensions */
enum func_texture_address { FUNC_TEXTURE_CLAMP, FUNC_TEXTURE_WRAP, FUNC_TEXTURE_MIRROR, FUNC_TEXTURE_BORDER };
struct func_texture {
	uint64_t base;		      /* of the first texel, in global memory */
	uint32_t dimensions, size[3]; /* of one with layers the number of them stands in size[2] */
	bool layered;
	uint8_t type; /* enum ptx_type of a channel: U8 .. S32, F16, F32 */
	uint8_t channels;
	uint8_t texel_bytes;   /* all channels */
	uint8_t fraction_bits; /* of a filter's weights; 0: 8 (CUDA C++ Programming Guide, texture fetching) */
	uint8_t address[3];    /* enum func_texture_address; WRAP and MIRROR only with normalized_coords */
	bool normalized_values, normalized_coords, linear;
	uint32_t border[4]; /* what lies outside with FUNC_TEXTURE_BORDER: bits of each channel */
	uint64_t row_pitch,
	    slice_pitch; /* bytes from row to row, slice to slice; with tiles: of a row padded to whole tiles */
	uint32_t tile_bytes,
	    tile_rows; /* 0: row by row. Else a slice is tiles of tile_rows rows of tile_bytes, one after another */
};
uint64_t func_texture_place(const struct func_texture *t, uint64_t x, uint64_t y, uint64_t z); /* from base, in bytes */

/* ---- local memory ----
 * A warp has room for all that its program names. A kernel mostly touches little of it. A piece gets its first content
 * when it is touched, and what is never touched costs the host nothing. */
#define FUNC_LOCAL_PIECE 4096 /* bytes, as the host's pages */
/* Most that one thread may have: CUDA C++ Programming Guide, technical specifications by compute capability. */
#define FUNC_LOCAL_MOST(cc) ((cc) < 20 ? 16ull << 10 : 512ull << 10)
static inline size_t func_local_pieces(const struct func_program *p)
{
	return ((size_t)p->local_bytes * FUNC_LANES + FUNC_LOCAL_PIECE - 1) / FUNC_LOCAL_PIECE;
}
/* Bytes behind func_warp.local, zeroed by whoever allocates them; 0 without local memory. */
static inline size_t func_local_room(const struct func_program *p)
{
	return func_local_pieces(p) * (FUNC_LOCAL_PIECE + 1);
}

/* ---- what runs ---- */
/* What kernels print: the whole launch's, in the order in which it is printed. */
#define FUNC_PRINT_MOST (1u << 20) /* as a device's own buffer; what comes later is lost */
struct func_print {
	char *text;
	uint32_t length;
	bool lost;
};
/* The source of memory for kernels' malloc, one call at a time. */
struct func_heap {
	void *ctx;
	uint64_t (*take)(void *ctx, uint64_t bytes); /* an address that is a multiple of 16; 0: there is none */
	void (*give)(void *ctx, uint64_t address);   /* what take gave, or nothing */
};
struct func_launch {
	const struct func_program *program;
	const struct func_heap *heap; /* NULL: it is full */
	uint64_t workspace;	      /* of a cooperative launch: %envreg1 and %envreg2 */
	struct func_print *print;     /* NULL: what is printed goes nowhere */
	uint32_t grid[3], block[3];
	uint32_t cluster[3];	       /* blocks of a cluster; 0 in the first: one */
	struct func_cluster *clusters; /* all of them, where they have several blocks */
	uint32_t warp_size;	       /* lanes used, at most FUNC_WIDEST; more than FUNC_LANES only with a stack */
	uint32_t sm_count;	       /* %nsmid */
	uint32_t max_warps;	       /* %nwarpid */
	uint32_t shared_bytes;	       /* static and dynamic of one block; %dynamic_smem_size = this - shared_static */
	const uint8_t *params;	       /* param_bytes */
	const uint8_t *constant;       /* constant space from address 0 */
	uint64_t constant_bytes;
	struct func_memory *memory;
	const struct func_texture *texture;
	uint32_t texture_count;
	const uint64_t
	    *named; /* by variables of the module: handles of what is bound to them, 0: nothing. May be NULL */
	uint32_t named_count;
	uint64_t host_base, host_bytes; /* of the memory: what is the host's */
	bool independent;		/* threads, instead of a reconvergence stack: func_paths.h */
	bool fallthrough_first;		/* of a branch's two paths; else the taken one */
	uint32_t yield_after;		/* independent threads: func_paths.h; 0 = never */
};
struct func_count {
	uint32_t yes, no;
};
struct func_block;
struct func_cluster {				     /* blocks that reach each other's shared memory */
	struct func_block *block[FUNC_CLUSTER_MOST]; /* NULL: has not begun, or has ended */
	uint32_t alive, arrived;		     /* threads that have not exited; that have come to the barrier */
	bool begun, odd;			     /* odd: the barrier has let an odd number of times go */
};
struct func_block {
	uint32_t rank; /* in its cluster */
	struct func_cluster *cluster, alone;
	bool shared_changed; /* by an access that time/ does not know as one to shared memory: cp.async, stmatrix */
	char said[400];	     /* of the assertion that failed */
	struct func_count count[16][3]; /* bar.red, by barrier: exec_packed.c */
	const struct func_launch *launch;
	uint32_t ctaid[3];
	uint32_t sm;				      /* %smid */
	uint8_t *shared;			      /* launch->shared_bytes */
	uint64_t addr[FUNC_WIDEST];		      /* of the latest access of any of its warps */
	uint64_t texel[FUNC_TEXELS - 1][FUNC_WIDEST]; /* of the latest texture read: further texels of each lane */
};

enum func_fault {
	FUNC_FAULT_NONE,
	FUNC_FAULT_BOUNDS,
	FUNC_FAULT_ALIGN,
	FUNC_FAULT_TRAP,
	FUNC_FAULT_TEXTURE,
	FUNC_FAULT_ASSERT,
	FUNC_FAULT_BARRIER,
	FUNC_FAULT_STACK,
	FUNC_FAULT_TENSOR
};

struct func_path { /* a set of lanes that waits on the reconvergence stack */
	uint32_t pc, join;
	uint64_t mask;
};
#define FUNC_STACK 128 /* a split makes two sets out of one, so FUNC_WIDEST lanes never need more */

/* A warp. One of more than FUNC_LANES lanes goes through the handlers in two halves, as hardware passes a wide
 * wavefront through narrow pipes. In `upper` are the registers of lanes 32 to 63 and what their handlers leave; pc,
 * paths and clocks are only here. Votes, matches and shuffles, whose masks have 32 bits in PTX, work within a half. */
struct func_warp {
	struct func_warp *upper; /* NULL: at most FUNC_LANES lanes */
	uint32_t *reg;		 /* program->rows rows, 64-byte aligned */
	uint32_t *pred;		 /* program->preds masks */
	uint32_t pc;
	uint64_t active;	  /* lanes at pc */
	uint32_t join;		  /* pc at which they meet the others, FUNC_NO_JOIN */
	uint64_t live;		  /* lanes that have not exited */
	uint32_t depth;		  /* of stack[] */
	uint32_t odd;		  /* lanes that came to the cluster's barrier when it was odd, the latest time */
	uint8_t counted[16];	  /* bar.red, by barrier: which count is the next */
	bool diverged;		  /* independent threads, and not all of them are together: func_paths.h */
	struct func_paths *paths; /* NULL: a reconvergence stack */
	uint32_t thread;	  /* linear index in the block of lane 0; of an upper half, of its first */
	uint32_t first_lane;	  /* 0; of an upper half 32 */
	uint32_t warp_id;	  /* %warpid */
	struct func_block *block;
	uint8_t *
	    local; /* func_local_room() bytes: local_bytes of lane 0, then of lane 1, ..., then which pieces were touched */
	uint64_t clock; /* what %clock reads now: set by time/ before a FUNC_CLOCK handler */
	uint64_t globaltimer;
	/* left by a memory handler */
	/* Of the latest generic access: PTX_GLOBAL when any lane is there, else PTX_SHARED, PTX_CONST, PTX_LOCAL as the first
	 * lane; after a fault, of fault_lane. */
	uint8_t space;
	uint8_t fault; /* enum func_fault; the instruction has changed no more lanes than those before fault_lane */
	uint8_t fault_lane, fault_space; /* enum ptx_space; 0: the instruction's */
	uint8_t texels;			 /* of the latest texture read: texels a lane, and bytes of each */
	uint8_t texel_bytes;
	uint64_t fault_address;
	/* Address of each lane of the mask within its space (window taken off): the block's, until its next access. */
	uint64_t *addr;
	struct func_path *stack; /* FUNC_STACK of them; NULL: independent threads, or an upper half */
};

/* Looks at what kernels do to memory, once it is done and before the next. */
struct func_check {
	void *ctx;
	/* Lanes of mask; addresses are in w->addr. */
	void (*access)(void *ctx, const struct func_warp *w, const struct func_inst *i, const struct func_info *info,
		       uint32_t mask);
	void (*barrier)(void *ctx, const struct func_warp *w); /* of the block: w has come to it */
};

/* Looks at a launch now and then, by the thread that launched. */
struct func_watch {
	void *ctx;
	/* So many blocks of all have begun. True: end the launch. */
	bool (*look)(void *ctx, uint64_t begun, uint64_t blocks);
};

/* Handlers. wide: lanes in mask (never 0). one: the same for a single lane; every op has both (a handler may forward).
 * Only lanes in the mask may change, registers and memory. Lanes of a store or atomic act in ascending order.
 * Memory handlers fill w->addr for each lane of the mask and set w->fault instead of touching memory outside. */
typedef void func_wide_fn(struct func_warp *w, const struct func_inst *i, uint32_t mask);
typedef void func_one_fn(struct func_warp *w, const struct func_inst *i, unsigned lane);
/* Host memory that each lane of a store or atomic in the mask will write. Returns which lanes have any. Asked before
 * the handler runs, by those who want to know whether it changes something. Leaves no fault. */
uint32_t func_targets(struct func_warp *w, const struct func_inst *i, uint32_t mask, uint8_t *target[FUNC_LANES]);
extern func_wide_fn *const func_wide[];
extern func_one_fn *const func_one[];
/* Whether a record only turns registers and predicates of its thread into others: no fault, no memory, no other lane, no clock. */
bool func_is_private(const struct func_inst *i);
/* How many records from each one on are private and without a guard. Such a stretch may be computed at once, whenever its instructions
 * issue. */
void func_stretches(const struct func_program *p, uint32_t *stretch);

/* ---- the parts of a handler that touches global memory, for time/ to do them at different moments ---- */
#define FUNC_ACCESS 16 /* bytes that one lane moves, at most */
/* Fills w->addr and w->space, or sets w->fault, as the handler would, and touches no memory. Returns the lanes of mask whose
 * access is to global memory: only for those the functions below may be called. */
uint32_t func_access(struct func_warp *w, const struct func_inst *i, uint32_t mask);
uint32_t func_access_bytes(const struct func_inst *i);
/* What the lanes of mask store: func_access_bytes bytes each, one after the other. */
void func_store_data(const struct func_warp *w, const struct func_inst *i, uint32_t mask, uint8_t *data);
/* Into the registers of a load, what it read. */
void func_load_data(struct func_warp *w, const struct func_inst *i, uint32_t lane, const uint8_t *data);
/* Operands of an atomic, and doing it with them: its result, if any, goes to the lane's register. */
#define FUNC_ATOMIC_WORDS 4 /* of 64 bits that one lane brings: two values, of 16 bytes at most */
void func_atomic_data(const struct func_warp *w, const struct func_inst *i, uint32_t lane,
		      uint64_t operand[FUNC_ATOMIC_WORDS]);
void func_atomic_do(struct func_warp *w, const struct func_inst *i, uint32_t lane, uint8_t *p,
		    const uint64_t operand[FUNC_ATOMIC_WORDS]);

/* Block n of the grid begins, in which clusters follow each other: its place, and what it is to its cluster. */
void func_block_begin(struct func_block *b, const struct func_launch *l, uint64_t n);
void func_block_end(struct func_block *b);
int func_clusters_open(struct func_launch *l); /* 0 or -ENOMEM */
void func_clusters_close(struct func_launch *l);
static inline uint32_t func_cluster_size(const struct func_launch *l)
{
	return l->cluster[0] ? l->cluster[0] * l->cluster[1] * l->cluster[2] : 1;
}
/* Lanes of mask come to the barrier of their cluster. */
void func_cluster_arrive(struct func_warp *w, uint32_t mask);
/* True: all have come, who may go now. To be asked when some have come or exited. */
bool func_cluster_meets(struct func_cluster *c);
/* Lanes that may pass: the barrier let go since they came. */
static inline uint32_t func_cluster_passes(const struct func_warp *w)
{
	return w->block->cluster->odd ? ~w->odd : w->odd;
}

/* Puts the warp at record 0 with its lanes of the block, local memory left as FUNC_LOCAL_LEFT and predicates zeroed. Registers and literals are not
 * touched: func_warp_literals fills those once for each set of rows. */
void func_warp_start(struct func_warp *w, struct func_block *b, uint32_t first_thread);
void func_warp_literals(struct func_warp *w, const struct func_program *p);
#define FUNC_LINE_TEXT 48
const char *func_line_text(char out[FUNC_LINE_TEXT],
			   const struct func_info *i); /* "line 7", of the PTX and of its source */
const char *func_fault_text(char *out, size_t n, const struct func_warp *w, const struct func_inst *i,
			    const struct func_info *info);

/* Lanes that the guard lets through. */
static inline uint64_t func_mask(const struct func_warp *w, const struct func_inst *i)
{
	if (i->guard == FUNC_NONE)
		return w->active;
	uint64_t p = w->pred[i->guard];
	if (__builtin_expect(w->upper != NULL, 0))
		p |= (uint64_t)w->upper->pred[i->guard] << FUNC_LANES;
	return w->active & (i->flags & FUNC_GUARD_NOT ? ~p : p);
}

/* The handler, for lanes of one half (never 0) ... */
static inline void func_do_half(struct func_warp *w, const struct func_inst *i, uint32_t mask)
{
	if (mask & (mask - 1))
		func_wide[i->op](w, i, mask);
	else
		func_one[i->op](w, i, (unsigned)__builtin_ctz(mask));
}
/* ... and for those of the warp: a fault of the upper half becomes the warp's. */
void func_do_upper(struct func_warp *w, const struct func_inst *i, uint64_t mask);
static inline void func_do(struct func_warp *w, const struct func_inst *i, uint64_t mask)
{
	if (__builtin_expect(mask >> FUNC_LANES != 0, 0))
		func_do_upper(w, i, mask);
	else
		func_do_half(w, i, (uint32_t)mask);
}
/* A stretch of n records. */
static inline void func_do_stretch(struct func_warp *w, const struct func_inst *i, uint32_t n, uint64_t mask)
{
	for (const struct func_inst *end = i + n; i < end; i++)
		func_do(w, i, mask);
}
/* What the upper half's handler left in it, for those who ran it themselves. */
void func_upper_fault(struct func_warp *w);
/* Value of a row in a lane of the whole warp. */
static inline uint32_t func_lane_value(const struct func_warp *w, uint16_t row, uint32_t lane)
{
	const struct func_warp *half = lane < FUNC_LANES ? w : w->upper;
	return half->reg[(size_t)row * FUNC_LANES + lane % FUNC_LANES];
}

void func_warp_pop(struct func_warp *w);					      /* the next waiting path */
void func_warp_split(struct func_warp *w, const struct func_inst *i, uint64_t taken); /* taken path first */
void func_warp_exit(struct func_warp *w, uint64_t lanes); /* pc of those that stay: the next record */
void func_paths_turn(struct func_warp *w);		  /* after a backward branch of a diverged warp */

/* Of an indexed branch: the branch of those lanes that go where the first one goes, in *one, and these lanes. The others fall
 * through to the record behind it, which leads them back. */
const struct func_inst *func_warp_indexed(const struct func_warp *w, const struct func_inst *i, uint64_t *mask,
					  struct func_inst *one);

/* To the next record; where paths meet, the waiting path goes on. */
static inline void func_warp_next(struct func_warp *w)
{
	w->pc++;
	while (__builtin_expect(w->pc == w->join, 0))
		func_warp_pop(w);
}
static inline void func_warp_branch(struct func_warp *w, const struct func_inst *i, uint64_t taken)
{
	if (taken == 0) {
		func_warp_next(w);
	} else if (taken == w->active) {
		bool back = i->target <= w->pc;
		w->pc = i->target;
		while (__builtin_expect(w->pc == w->join, 0))
			func_warp_pop(w);
		if (__builtin_expect(w->diverged, 0) && back)
			func_paths_turn(w);
	} else {
		func_warp_split(w, i, taken);
	}
}

#endif
