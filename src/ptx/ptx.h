/* PTX as data. parse(print(m)) == m for every module that parse accepts. */
#ifndef FATHOM_PTX_H
#define FATHOM_PTX_H
#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include <stdbool.h>
#include <stdint.h>

enum ptx_type {
	PTX_NONE,
	PTX_PRED,
	PTX_B8,
	PTX_B16,
	PTX_B32,
	PTX_B64,
	PTX_B128,
	PTX_U8,
	PTX_U16,
	PTX_U32,
	PTX_U64,
	PTX_S8,
	PTX_S16,
	PTX_S32,
	PTX_S64,
	PTX_F16,
	PTX_F16X2,
	PTX_F32,
	PTX_F64,
	PTX_BF16,
	PTX_BF16X2,
	PTX_E4M3X2, /* two of 8 bits, the upper one first, in a .b16 */
	PTX_E5M2X2,
	PTX_U16X2,
	PTX_S16X2,
	PTX_TF32, /* in a .b32, the low 13 bits of the fraction 0 */
	PTX_TYPES
};
enum ptx_space { PTX_GENERIC, PTX_REG, PTX_PARAM, PTX_CONST, PTX_GLOBAL, PTX_SHARED, PTX_LOCAL, PTX_TEX, PTX_SPACES };
enum ptx_cmp { /* setp, set, slct */
	       PTX_CMP_NONE,
	       PTX_EQ,
	       PTX_NE,
	       PTX_LT,
	       PTX_LE,
	       PTX_GT,
	       PTX_GE,
	       PTX_LO,
	       PTX_LS,
	       PTX_HI,
	       PTX_HS,
	       PTX_EQU,
	       PTX_NEU,
	       PTX_LTU,
	       PTX_LEU,
	       PTX_GTU,
	       PTX_GEU,
	       PTX_NUM,
	       PTX_NAN,
	       PTX_CMPS
};
enum ptx_round {
	PTX_RND_NONE,
	PTX_RN,
	PTX_RZ,
	PTX_RM,
	PTX_RP,
	PTX_RNA,
	PTX_RNI,
	PTX_RZI,
	PTX_RMI,
	PTX_RPI,
	PTX_ROUNDS
};
enum ptx_cache { PTX_CACHE_NONE, PTX_CA, PTX_CG, PTX_CS, PTX_LU, PTX_CV, PTX_WB, PTX_WT, PTX_NC, PTX_CACHES };
enum ptx_op { /* PTX_OP(ID, "spelling", ...) lines of ops.def, whose head explains the columns */
#define PTX_OP(id, ...) PTX_OP_##id,
#include "ops.def"
#undef PTX_OP
	      PTX_OPS
};
enum ptx_sreg { /* PTX_SREG(ID, "%spelling", type) lines of sregs.def */
#define PTX_SREG(id, ...) PTX_SREG_##id,
#include "sregs.def"
#undef PTX_SREG
		PTX_SREGS
};

/* Modifier bits of an instruction */
enum {
	PTX_SAT = 1 << 0,
	PTX_FTZ = 1 << 1,
	PTX_APPROX = 1 << 2,
	PTX_FULL = 1 << 3,
	PTX_LO_PART = 1 << 4,
	PTX_HI_PART = 1 << 5,
	PTX_WIDE = 1 << 6,
	PTX_UNI = 1 << 7,
	PTX_VOLATILE = 1 << 8,
	PTX_CC_OUT = 1 << 9,
	PTX_OOB = 1 << 10, /* fma: what a copy put outside of a tensor counts as 0 */
	PTX_TO = 1 << 11 /* cvta.to */,
	PTX_SYNC = 1 << 12,
	PTX_XORSIGN_ABS = 1 << 13,
	PTX_RELAXED = 1 << 14,
	PTX_ACQUIRE = 1 << 15,
	PTX_RELEASE = 1 << 16,
	PTX_ACQ_REL = 1 << 17,
	PTX_NAN_OUT = 1 << 18,
	PTX_SCOPE_CTA = 1 << 22,
	PTX_SCOPE_GPU = 1 << 23,
	PTX_SCOPE_SYS = 1 << 24,
	PTX_RELU = 1 << 25,
	PTX_SHIFTAMT = 1 << 26,
	PTX_WEAK = 1 << 27,
	PTX_SC = 1 << 28,
	PTX_NOFTZ = 1 << 29,  /* atom, red on halves */
	PTX_POLICY = 1 << 30, /* .L2::cache_hint: the last operand is a cache policy */
};
#define PTX_SATFINITE (1u << 31) /* at the largest numbers; no enumerator is as large */
enum ptx_sub {			 /* ptx_inst.sub: the shape of which an operation has exactly one */
	       PTX_SUB_NONE,
	       PTX_SUB_ALL,
	       PTX_SUB_ANY,
	       PTX_SUB_UNI,
	       PTX_SUB_BALLOT, /* vote, match */
	       PTX_SUB_UP,
	       PTX_SUB_DOWN,
	       PTX_SUB_BFLY,
	       PTX_SUB_IDX, /* shfl */
	       PTX_SUB_L_CLAMP,
	       PTX_SUB_L_WRAP,
	       PTX_SUB_R_CLAMP,
	       PTX_SUB_R_WRAP,	/* shf */
	       PTX_SUB_INDEX,	/* none is written */
	       PTX_SUB_CLUSTER, /* isspacep: shared memory of any block of the cluster */
	       PTX_SUB_F4E,
	       PTX_SUB_B4E,
	       PTX_SUB_RC8,
	       PTX_SUB_ECL,
	       PTX_SUB_ECR,
	       PTX_SUB_RC16, /* prmt; INDEX unwritten */
	       PTX_SUB_CTA,
	       PTX_SUB_GL,
	       PTX_SUB_SYS, /* membar */
	       PTX_SUB_L1,
	       PTX_SUB_L2, /* prefetch */
	       PTX_SUB_FINITE,
	       PTX_SUB_INFINITE,
	       PTX_SUB_NUMBER,
	       PTX_SUB_NOTANUMBER,
	       PTX_SUB_NORMAL,
	       PTX_SUB_SUBNORMAL, /* testp */
	       PTX_SUBS
};

enum ptx_operand_kind {
	PTX_OPND_REG,	    /* reg */
	PTX_OPND_INT,	    /* imm: integer constant */
	PTX_OPND_F32,	    /* imm: bits of 0fXXXXXXXX */
	PTX_OPND_F64,	    /* imm: bits of 0dXXXXXXXXXXXXXXXX, or a decimal literal */
	PTX_OPND_SREG,	    /* sreg (with component .x .y .z .w folded into the enumerator) */
	PTX_OPND_SYMBOL,    /* sym: address of a variable or parameter; + offset */
	PTX_OPND_ADDRESS,   /* [reg + offset] or [sym + offset] */
	PTX_OPND_LABEL,	    /* label index in the function */
	PTX_OPND_FUNC,	    /* func index in the module; as a source its address */
	PTX_OPND_PROTOTYPE, /* index in the module's prototypes: of a call through a register */
	PTX_OPND_VECTOR,    /* {a, b, ...}: the next `count` entries of the instruction's vec[] */
	PTX_OPND_SINK,	    /* _ */
};
enum { /* of several parts, .b7610 or .h30: three bits each, the lowest part last, and how many they are */
       PTX_PARTS = 1 << 15,
       PTX_PARTS_HALF = 1 << 14,
       PTX_PARTS_COUNT = 12, /* 2 bits; 4 counts as 0 */
};
struct ptx_operand {
	uint8_t kind; /* enum ptx_operand_kind */
	bool negated; /* !p for predicates, -r where allowed */
	bool has_reg; /* ADDRESS: base is a register (else a symbol, or absolute when sym is -1) */
	uint16_t
	    count; /* VECTOR: elements. REG of a video instruction: 1 + byte, or 5 + half, that it takes; 0: all; PTX_PARTS: several */
	int32_t reg; /* register index in ptx_func.regs */
	/* SYMBOL/ADDRESS: >= 0 module variable; -1 none; <= -2: parameter number -(sym+2) of the function. Numbers from
	 * param_count on are its results. Variables of a function are hoisted into module.vars with a unique name. */
	int32_t sym;
	int64_t offset;
	uint64_t imm;
	int32_t index; /* LABEL, FUNC, SREG; VECTOR: first element in vec[] */
};

enum ptx_atom {
	PTX_ATOM_NONE,
	PTX_ATOM_AND,
	PTX_ATOM_OR,
	PTX_ATOM_XOR,
	PTX_ATOM_ADD,
	PTX_ATOM_INC,
	PTX_ATOM_DEC,
	PTX_ATOM_MIN,
	PTX_ATOM_MAX,
	PTX_ATOM_EXCH,
	PTX_ATOM_CAS,
	PTX_ATOMS
};
enum ptx_boolop { PTX_BOOL_NONE, PTX_BOOL_AND, PTX_BOOL_OR, PTX_BOOL_XOR };

/* Operands stand at fixed places, as ops.def lists them. An optional operand that is not written is not counted.
 *
 *   setp, shfl, match, testp  two destinations, the second a SINK when it is not written
 *   call       VECTOR of results, FUNC, VECTOR of arguments; or a REG second, and the PROTOTYPE fourth
 *   brx.idx    REG, VECTOR of LABELs
 *   tex        destination, SYMBOL or REG (a handle), VECTOR of coordinates or one
 *   mov        packs and unpacks with a VECTOR on one side
 *   cvt.f16x2  two sources, the upper half first
 *
 * The checks of ptx_parse guarantee that operand kinds and register types fit the operation, and that labels and
 * symbols exist. Addresses fit the space if that is known. */
#define PTX_OPERANDS 10
struct ptx_inst {
	uint16_t op; /* enum ptx_op */
	/* Instruction type; second type (cvt source; set destination; slct condition; tex coordinate). For
	 * set.lt.u32.f32 they are F32 (what is compared) and U32, for cvt.f32.s32 F32 and S32. */
	uint8_t type, type2;
	uint8_t space, cmp, round, cache, atom, boolop;
	uint8_t vec_width; /* 1, 2, 4 */
	uint8_t sub;	   /* enum ptx_sub */
	uint32_t mods;
	int32_t guard; /* predicate register, -1 none */
	bool guard_negated;
	uint8_t operand_count;
	struct ptx_operand operand[PTX_OPERANDS]; /* destination(s) first, as written */
	struct ptx_operand *vec;		  /* elements of vector operands */
	const char
	    *tail; /* ".sync.aligned.m16n8k16": the modifiers of operations that ops.def gives M_FREE, else NULL */
	uint32_t line, column; /* 1-based, of the source text */
	uint32_t source;       /* the line that .loc names, of what the text was compiled from; 0: none */
};

enum ptx_linkage { PTX_LINK_NONE, PTX_VISIBLE, PTX_WEAK_LINK, PTX_EXTERN };
struct ptx_reg {
	const char *name;
	uint8_t type;
};
struct ptx_label {
	const char *name;
	uint32_t inst; /* index of the instruction it stands before; may be inst_count */
};
struct ptx_note {
	uint32_t inst;
	const char *text; /* .pragma inside a body, before that instruction */
};
enum ptx_opaque { PTX_OPAQUE_NONE, PTX_TEXREF, PTX_SAMPLERREF, PTX_SURFREF };
struct ptx_address {  /* in an initial value */
	uint64_t at;  /* bytes from the variable's begin */
	int32_t sym;  /* variable, or -1 */
	int32_t func; /* function, or -1 */
	bool generic;
	int64_t offset;
};
struct ptx_var { /* .const .global .shared .local .param .tex, module or function scope */
	const char *name;
	uint8_t space, type, vec;
	uint8_t linkage;	       /* enum ptx_linkage */
	uint8_t opaque;		       /* space PTX_TEX: enum ptx_opaque */
	bool managed;		       /* .attribute(.managed) */
	bool is_array, external;       /* extern .shared x[]: dynamic shared memory, size 0 */
	uint64_t count;		       /* elements */
	uint32_t align;		       /* bytes, 0 = natural */
	uint64_t size;		       /* bytes */
	const uint8_t *init;	       /* size bytes, or NULL = zero */
	struct ptx_address *addresses; /* whose bytes in init are 0 */
	uint32_t address_count;
	int32_t func; /* function it was declared in, -1 = module scope */
	uint32_t line;
};
struct ptx_param {
	const char *name;
	uint8_t type;
	uint32_t align;	       /* bytes, 0 = natural */
	uint32_t offset, size; /* in the parameter block */
	bool is_array;
	int32_t reg; /* .func f (.reg .u32 x): its register; -1 for .param */
};
struct ptx_func {
	const char *name;
	bool entry, defined; /* defined: has a body */
	uint8_t linkage;
	struct ptx_param *params;
	uint32_t param_count, param_bytes;
	struct ptx_param *rets;
	uint32_t ret_count; /* .func (.reg .u32 r) or (.param .b32 r) */
	struct ptx_reg *regs;
	uint32_t reg_count; /* reg<N> ranges are expanded; nested scopes are flattened, names unique */
	struct ptx_label *labels;
	uint32_t label_count;
	struct ptx_inst *insts;
	uint32_t inst_count;
	struct ptx_note *notes;
	uint32_t note_count;
	const char *pragmas; /* performance directives kept for printing; "" */
	const char *
	    refused; /* why its body could not be read, "name:line:column: sentence"; NULL. It has no instructions then */
	const char *text;      /* of such a body, from { to } */
	uint32_t block[3];     /* .reqntid: the one block that it runs with; 0: any */
	uint64_t most_threads; /* .maxntid: of a block, 0: any number */
	uint32_t cluster[3];   /* .reqnctapercluster: blocks of a cluster, 0: none are asked for */
	uint32_t line;
};
struct ptx_prototype { /* .callprototype */
	struct ptx_param *params, *rets;
	uint32_t param_count, ret_count;
};
/* What the text holds, in its order: a body that cannot be read says why by what stood above it. */
enum ptx_item_kind { PTX_ITEM_VAR, PTX_ITEM_HEAD, PTX_ITEM_BODY };
struct ptx_item {
	uint8_t kind;	/* enum ptx_item_kind; HEAD: a function is announced, BODY: it has its body */
	uint32_t index; /* in vars or funcs */
};
struct ptx_module {
	int version; /* x 10 */
	char target[32];
	int address_size; /* 32 or 64 */
	struct ptx_var *vars;
	uint32_t var_count;
	struct ptx_func *funcs;
	uint32_t func_count;
	struct ptx_prototype *prototypes;
	uint32_t prototype_count;
	struct ptx_item *items; /* variables of functions are not among them */
	uint32_t item_count;
};

/* Everything lives in arena a. On error -EINVAL and "line:column: sentence" with name in front. */
int ptx_parse(struct ptx_module **out, struct arena *a, const char *name, const char *text, size_t size, struct err *e);
/* One module of at least one part, whose instructions it takes. Lives in arena a, as the parts have to as long as it does. */
int ptx_link(struct ptx_module **out, struct arena *a, struct ptx_module *const *part, size_t parts, struct err *e);
int ptx_print(struct str *out, const struct ptx_module *m);		/* -ENOMEM when out of memory */
bool ptx_equal(const struct ptx_module *a, const struct ptx_module *b); /* line numbers do not count */

/* Operand that is the coordinates, behind a texture's or surface's handle and perhaps a sampler. */
unsigned ptx_coordinates_at(const struct ptx_inst *in, const struct ptx_reg *regs, unsigned handle);
bool ptx_cvt_pairs(const struct ptx_inst *in); /* cvt packs two sources, the upper one first */
unsigned ptx_type_bytes(enum ptx_type t);      /* 0 for PRED */
const char *ptx_type_name(enum ptx_type t);    /* "u32" */
const char *ptx_op_name(enum ptx_op o);	       /* "add" */
bool ptx_writes_first(enum ptx_op o);	       /* its first operand is a destination; false: ops.def does not say */
const char *ptx_sreg_name(enum ptx_sreg r);    /* "%tid.x" */
enum ptx_type ptx_sreg_type(enum ptx_sreg r);
/* 'i' integer (signed or not), 'f' float, 'b' bits, 'p' predicate, 0 none */
char ptx_type_class(enum ptx_type t);
bool ptx_type_signed(enum ptx_type t);

#endif
