/* The decoder's state. Nothing outside src/gpu/sim/func includes this. */
#ifndef FATHOM_DECODE_H
#define FATHOM_DECODE_H
#include "exec.h"
#include <errno.h>

#define DECODE_TRY(call)                                                                                               \
	do {                                                                                                           \
		int try_rc_ = (call);                                                                                  \
		if (try_rc_)                                                                                           \
			return try_rc_;                                                                                \
	} while (0)

/* A function as it stands at one place: the entry, or a callee put in for a call. */
struct decode_frame {
	const struct decode_frame *caller;
	const struct ptx_func *f;
	int32_t index;
	int32_t region;	    /* whose body it is, or is put in; -1: the entry's */
	uint16_t *row;	    /* of each register, FUNC_NONE until it is used; predicates: predicate numbers */
	uint64_t *slot;	    /* callee: place of each parameter and result in local memory */
	uint32_t first_fix; /* branches of this frame in decoder.fix */
	uint32_t *inst_at;  /* record of each instruction, one more than there are */
	struct decode_life
	    *life; /* of each register, and the first that ends in each instruction; where rows are shared */
	uint32_t *ends;
};
struct decode_fix { /* a branch, or an entry of the table of targets, whose target is known when its frame ends */
	uint32_t record, inst;
	bool in_table;
};
struct decode_row { /* hash of literals */
	uint64_t bits;
	uint16_t row;
	bool wide, used;
};

/* decode_frames.c */
#define DECODE_AGAIN  1		   /* a function calls itself, or rows have to be shared, as was not known: once more */
#define DECODE_FRAMED (1ull << 62) /* of a place in local memory: it counts from the stack pointer */
struct decode_region {		   /* the body of a function that calls itself */
	int32_t func;
	uint32_t entry, back; /* records: the first, and the branch back */
	uint32_t row, row_end, pred, pred_end;
	uint64_t box;	/* place in local memory where arguments and results are handed over */
	uint64_t bytes; /* of its frame, without registers */
	uint32_t sites; /* calls of it */
	bool all;	/* which of its registers are needed is not known */
};
struct decode_site {	       /* a call of such a function */
	uint32_t callee, jump; /* region, record */
	int32_t caller;	       /* region, -1: the entry */
};
struct decode_spare { /* rows of one width, or predicates: of registers that are needed no more */
	uint16_t *row;
	size_t given, taken, cap;
};
struct decoder {
	struct arena *a;
	struct err *e;
	const char *name;
	const struct ptx_module *m;
	const struct func_target *target;
	struct func_program *p;
	struct func_inst *inst;
	struct func_info *info;
	uint32_t n, cap;
	struct decode_fix *fix;
	size_t fixes, fix_cap;
	uint32_t *table; /* targets of indexed branches */
	uint32_t tables;
	size_t table_cap;
	uint16_t *many; /* rows of records that have more than a record holds */
	uint32_t manies;
	size_t many_cap;
	bool *recursive; /* functions that call themselves, as far as known */
	bool *scarce;	 /* set where registers would do if they shared rows */
	bool shares;
	struct decode_spare spare[3];
	struct decode_region *region;
	uint32_t regions;
	struct decode_site *site;
	size_t sites, site_cap;
	uint16_t stack, back; /* rows: the stack pointer, and which call a region goes back to */
	bool *taken;	      /* functions whose address is; NULL until asked */
	uint16_t top;	      /* row: where alloca's memory is free, and beyond it; FUNC_NONE: none is taken */
	uint64_t top_most;
	uint16_t copies; /* row that stands for what cp.async brings, FUNC_NONE until used */
	struct func_literal *literal;
	uint32_t literals, literal_cap;
	struct decode_row *pool;
	uint32_t pool_cap;
	bool *wide;		     /* of each row: the first of two */
	uint32_t rows, preds, carry; /* carry: predicate that stands for the condition code, FUNC_NONE until used */
	uint64_t *address;	     /* of each module variable in its space */
	uint64_t local_bytes;
	const struct ptx_inst *at; /* being decoded: the line of errors */
	const struct ptx_func *entry;
};
/* A record being built. */
struct decode_record {
	struct func_inst i;
	struct func_info info;
};

int decode_fail(struct decoder *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* decode_rows.c */
int decode_new_row(struct decoder *d, bool wide, uint16_t *row);
int decode_new_pred(struct decoder *d, uint16_t *pred);
int decode_literal(struct decoder *d, uint64_t bits, bool wide, uint16_t *row);
int decode_reg(struct decoder *d, struct decode_frame *f, int32_t reg, uint16_t *row);
bool decode_reg_wide(const struct decode_frame *f, int32_t reg);
enum { /* ptx_operand.count of an operand that is half of a register of 128 bits, and how far the halves' rows are apart */
       DECODE_LOWER = 1,
       DECODE_UPPER = 2,
       DECODE_HALF_ROWS = 2
};
void decode_halves(const struct ptx_operand *o, struct ptx_operand half[2]);
/* Row of a source of a type: register (listed among the reads) or literal. */
int decode_source(struct decoder *d, struct decode_frame *f, struct decode_record *r, const struct ptx_operand *o,
		  enum ptx_type type, uint16_t *row);
int decode_dest(struct decoder *d, struct decode_frame *f, struct decode_record *r, const struct ptx_operand *o,
		uint16_t *row);
/* Address of a variable in its space. A kernel's parameters lie in a space of their own, a function's in local memory. */
uint64_t decode_symbol(const struct decoder *d, const struct decode_frame *f, int32_t sym);
int decode_pred_source(struct decoder *d, struct decode_frame *f, struct decode_record *r, const struct ptx_operand *o,
		       uint16_t *pred);
/* A predicate of its own that is a constant. */
int decode_constant_pred(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in, uint64_t value,
			 uint16_t *pred);
void decode_reads(struct decoder *d, struct decode_record *r, uint32_t slot);
void decode_writes(struct decode_record *r, uint32_t slot);
#define DECODE_PRED_SLOT 0x8000u /* predicates while rows are still being counted; turned into rows + p at the end */
#define DECODE_CALLS_MOST                                                                                              \
	128u /* calls within calls: the decoder follows them on the stack of the host, about 500 bytes each */
/* Room below FUNC_NONE, and slots of predicates that do not run into rows while both are still growing. */
#define DECODE_ROWS_MAX 0x7f00u
/* decode_layout.c: places of variables, and what fills them */
int decode_layout(struct decoder *d, const struct ptx_func *entry);
int decode_initial(struct decoder *d);
/* decode_inst.c */
int decode_begin(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in, struct decode_record *r);
int decode_emit(struct decoder *d, const struct decode_record *r);
int decode_inst(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in); /* everything but control flow */
bool decode_flushes(const struct decoder *d, enum ptx_type type);
int decode_logic_pred(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in);
/* decode_move.c */
int decode_mov(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in);
int decode_cvt(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in);
int decode_cvta(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in);
/* decode_memory.c */
int decode_memory(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in);
int decode_slot_copy(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in, const struct ptx_operand *o,
		     enum ptx_type type, uint64_t slot, bool store);
int decode_address(
    struct decoder *d, struct decode_frame *f, struct decode_record *r, const struct ptx_operand *o,
    unsigned *code); /* row a and imm of an access; MEM_ADDRESS_64 is added to the code where the row is wide */
void decode_orders(struct decoder *d, const struct func_inst *i, enum ptx_atom atom,
		   enum ptx_type type); /* of an atomic */
/* Registers of an access of in->type elements, and what they are, in the code. */
int decode_elements(struct decoder *d, struct decode_frame *f, struct decode_record *r, const struct ptx_inst *in,
		    const struct ptx_operand *o, bool dest, unsigned *code);
/* decode_extra.c, decode_copy.c, decode_matrix.c: operations whose words the parser has kept as they are */
int decode_extra(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in);
int decode_matrix(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in);
int decode_copy(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in);
/* Copies: the row whose arrival stands for that of all so far, and a record of a barrier in memory. */
int decode_copies(struct decoder *d, uint16_t *row);
void decode_barrier(struct decoder *d, struct decode_record *r, enum exec_barrier_op op, enum ptx_space space,
		    unsigned code);
/* decode_bulk.c */
int decode_bulk(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in);
/* A record for the lanes of a predicate alone, FUNC_NONE: for all, whatever the instruction's guard. */
int decode_begin_on(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in, struct decode_record *r,
		    uint16_t pred);
struct decode_place { /* an address in a row of its own */
	uint16_t row;
	bool wide;
};
int decode_place(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in, const struct ptx_operand *o,
		 struct decode_place *p);
/* row = op(a, b) for the lanes of a predicate */
int decode_step(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in, uint16_t pred, uint16_t op,
		const struct decode_place *to, uint16_t a, uint16_t b);
int decode_add(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in, uint16_t pred,
	       const struct decode_place *p, uint64_t n);
int decode_test(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in, enum ptx_cmp cmp, uint16_t row,
		uint32_t with, uint16_t pred); /* of all lanes: row cmp with */
/* Some bytes between memory and rows: up to 8 in one, 16 in two. */
int decode_move_bytes(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in, uint16_t pred,
		      enum ptx_space space, const struct decode_place *p, unsigned bytes, const uint16_t row[2],
		      bool store);
int decode_reduce(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in, uint16_t pred,
		  enum ptx_space space, const struct decode_place *p, enum ptx_atom atom, enum ptx_type type,
		  uint16_t row);
enum ptx_atom decode_atom(const struct ptx_inst *in); /* the operation among the words, or PTX_ATOM_NONE */
int decode_jump(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in, uint16_t pred, uint32_t to);
/* decode_tensor.c: the copy of one box; what its barrier hears is put into a row */
int decode_tensor(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in,
		  const struct decode_place *shared, uint16_t on, bool load, uint16_t *bytes);
int decode_keep_row(struct decoder *d, uint16_t row); /* in program->many */
/* A record reads at most FUNC_READS rows: those of a large operation are waited for by records before it. */
int decode_wait_for(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in, const uint16_t *row,
		    unsigned n);
int decode_result(struct decoder *d, struct decode_frame *f, struct decode_record *r, const struct ptx_inst *in,
		  unsigned bytes); /* dst, or a sink */
bool decode_is_pred(const struct decode_frame *f, const struct ptx_operand *o);
bool decode_word(const struct ptx_inst *in, const char *word); /* is it among them? */
enum ptx_type decode_word_type(const struct ptx_inst *in, unsigned k);
int decode_not(struct decoder *d, const struct ptx_inst *in); /* fails: not executed */
int decode_value(struct decoder *d, struct decode_frame *f, struct decode_record *r, const struct ptx_inst *in,
		 unsigned k, unsigned bytes, uint16_t *row);
/* Bytes of local memory that calls pass, to a row or from one. */
int decode_slot_row(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in, uint16_t row, unsigned bytes,
		    uint64_t slot, bool store);
/* decode_call.c: calls of what no module has, and calls through registers */
int decode_builtin(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in);
int decode_indirect(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in);
/* decode.c */
int decode_call_of(struct decoder *d, struct decode_frame *caller, const struct ptx_inst *in, int32_t index);
int decode_frame_init(struct decoder *d, struct decode_frame *f, const struct decode_frame *caller,
		      const struct ptx_func *func, int32_t index);
void decode_frame_free(struct decode_frame *f);
int decode_body(struct decoder *d, struct decode_frame *f);
/* The place of a callee's .param: the caller's variable, or a place of its own for a register. */
int decode_param_place(struct decoder *d, struct decode_frame *caller, const struct ptx_operand *o,
		       const struct ptx_param *q, uint64_t *slot);
/* decode_frames.c: functions that call themselves */
bool decode_any_recursive(const struct decoder *d);
int decode_again(struct decoder *d, const struct decode_frame *caller, int32_t index); /* DECODE_AGAIN */
bool decode_is_framed(const struct decoder *d, int32_t sym); /* a variable of such a function */
/* A row with the address of a framed place. */
int decode_framed_address(struct decoder *d, struct decode_frame *f, uint64_t place, bool wide, uint16_t *row);
int decode_call_apart(struct decoder *d, struct decode_frame *caller, const struct ptx_inst *in, int32_t index);
int decode_frames_begin(struct decoder *d, struct decode_frame *entry); /* before the entry's body */
int decode_frames(struct decoder *d);					/* behind it: their bodies */
int decode_frames_place(struct decoder *d);				/* where calls lead, and the stack */
int decode_frames_save(struct decoder *d, const struct decode_site *s, const uint64_t *live);
/* decode_spare.c: registers that share rows, in decoders that do */
int decode_spare_begin(struct decoder *d, struct decode_frame *f);
bool decode_spare_take(struct decoder *d, const struct decode_frame *f, int32_t reg, uint16_t *row);
int decode_spare_behind(struct decoder *d, struct decode_frame *f, uint32_t inst); /* an instruction of the frame */
int decode_spare_end(struct decoder *d, struct decode_frame *f);
/* decode_stack.c: alloca; what a function took is given back behind its call */
int decode_stack_begin(struct decoder *d, struct decode_frame *entry);
int decode_stack_keep(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in, uint16_t *kept);
int decode_stack_back(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in, uint16_t kept);
int decode_stack(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in);
/* decode_query.c */
int decode_query(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in);
int decode_kind(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in);
int decode_tensormap(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in);
int decode_multimem(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in);
/* decode_texture.c */
int decode_texture(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in);
int decode_surface(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in);
/* decode_map.c: handler of a plain operation, or -1 */
int decode_plain(enum ptx_op op, enum ptx_type type, uint32_t mods);
int decode_compare(enum ptx_cmp cmp, enum ptx_type type);
/* decode_flow.c: joins of branches, registers live at once */
int decode_joins(struct decoder *d);
int decode_meets(struct decoder *d); /* behind that: FUNC_PARTING. 0, or -ENOMEM and a sentence */
int decode_live(struct decoder *d, uint32_t *registers, uint32_t *line);
/* How many registers are live before each of the program's records; rows that are `none` take none. 0 or -ENOMEM. */
int func_pressure(const struct func_program *p, const bool *none, uint16_t *live);

#endif
