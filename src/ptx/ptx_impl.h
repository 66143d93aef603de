/* What the files of src/ptx share. Nothing outside includes this. */
#ifndef FATHOM_PTX_IMPL_H
#define FATHOM_PTX_IMPL_H
#include "ptx/ptx.h"
#include <errno.h>

#define PTX_TRY(call)                                                                                                  \
	do {                                                                                                           \
		int try_rc_ = (call);                                                                                  \
		if (try_rc_)                                                                                           \
			return try_rc_;                                                                                \
	} while (0)

/* ---- tables (ptx_table.c) ---- */
enum {
	M_RND = 1 << 0,
	M_RNDI = 1 << 1,
	M_FTZ = 1 << 2,
	M_SAT = 1 << 3,
	M_CC = 1 << 4,
	M_PART = 1 << 5,
	M_WIDE = 1 << 6,
	M_APPROX = 1 << 7,
	M_FULL = 1 << 8,
	M_NAN = 1 << 9,
	M_RELU = 1 << 10,
	M_OWN = 1 << 11, /* .shiftamt, .xorsign.abs, .oob: each of other operations (ptx_mods.c) */
	M_CMP = 1 << 12,
	M_BOOL = 1 << 13,
	M_TYPE2 = 1 << 14,
	M_SPACE = 1 << 15,
	M_CACHE = 1 << 16,
	M_VOL = 1 << 17,
	M_VEC = 1 << 18,
	M_SEM = 1 << 19,
	M_SCOPE = 1 << 20,
	M_ATOM = 1 << 21,
	M_TO = 1 << 22,
	M_SYNC = 1 << 23,
	M_UNI = 1 << 24,
	M_SUB = 1 << 26,
	M_TYPE = 1 << 27,
	M_NOFTZ = 1 << 28,
	M_HINT = 1 << 29, /* .L1::evict_first and the like; of these any number */
	M_FREE = 1 << 30, /* any words, kept as they are in ptx_inst.tail: whoever executes the operation reads them */
};
struct ptx_opinfo {
	const char *name, *shape;
	uint32_t types, types2, may, must, subs;
};
struct ptx_word { /* what ".word" can mean; one word may stand in several rows */
	const char *word;
	uint32_t class; /* one M_ bit */
	uint32_t value; /* enumerator or modifier bit */
};
extern const struct ptx_opinfo ptx_ops[PTX_OPS];
extern const struct ptx_word ptx_words[];
extern const size_t ptx_word_count;
const char *ptx_class_name(uint32_t class); /* "a rounding mode" */
const char *ptx_word_of(uint32_t class, uint32_t value);
const char *ptx_sub_text(enum ptx_sub sub); /* "l.clamp"; "" for none */

/* ---- tokens (ptx_lex.c) ---- */
enum ptx_tok { TOK_EOF, TOK_IDENT, TOK_DOT, TOK_INT, TOK_F32, TOK_F64, TOK_STRING, TOK_PUNCT };
struct ptx_token {
	uint8_t kind;  /* enum ptx_tok */
	char c;	       /* PUNCT */
	bool natural;  /* INT: of .u64, because it says U or needs all bits */
	const char *s; /* IDENT, DOT (without the dot), STRING (without the quotes), literals */
	uint32_t n;
	uint64_t imm; /* literals */
	uint32_t line, column;
};

/* ---- names (ptx_names.c): nested scopes, innermost first ---- */
enum ptx_name_kind {
	NAME_REG,
	NAME_VAR,
	NAME_PARAM,
	NAME_FUNC,
	NAME_SREG,
	NAME_TARGETS,
	NAME_VECTOR2,
	NAME_VECTOR4,
	NAME_PROTOTYPE
};
struct ptx_name {
	const char *s;
	uint32_t n, hash, next, depth;
	uint32_t line;
	uint8_t kind;
	int32_t index;
};
struct ptx_names {
	struct ptx_name *entry; /* entry[0] is unused, so that 0 ends a chain */
	uint32_t count, cap;
	uint32_t *bucket, buckets;
	uint32_t depth;
};
int ptx_names_init(struct ptx_names *t);
void ptx_names_free(struct ptx_names *t);
int ptx_names_add(struct ptx_names *t, const char *s, uint32_t n, enum ptx_name_kind kind, int32_t index,
		  uint32_t line);
const struct ptx_name *ptx_names_find(const struct ptx_names *t, const char *s, uint32_t n);
void ptx_names_push(struct ptx_names *t);
void ptx_names_pop(struct ptx_names *t);
uint32_t ptx_name_hash(const char *s, uint32_t n);
struct ptx_parser;
int ptx_add_label(struct ptx_parser *p, const struct ptx_token *t);
int ptx_resolve_labels(struct ptx_parser *p, uint32_t first_label, uint32_t outermost); /* at the end of a scope */
int ptx_finish_names(struct ptx_parser *p); /* registers, labels and variables of nested scopes get unique names */

/* ---- the parser's state ---- */
struct ptx_label_def {
	const char *s;
	uint32_t n, hash, inst, depth, line, next;
};
struct ptx_label_ref {
	const char *s;
	uint32_t n, line, column, inst, depth;
	int32_t operand, vec;
};
#define PTX_LIST(type)                                                                                                 \
	struct {                                                                                                       \
		type *v;                                                                                               \
		uint32_t n, cap;                                                                                       \
	}
struct ptx_targets {
	uint32_t first, count;
}; /* names of one .branchtargets in ptx_parser.target_names */
struct ptx_parser {
	struct arena *a;
	struct err *e;
	const char *name;
	const char *at, *end, *line_start;
	uint32_t line;
	uint32_t source; /* of the latest .loc in this body, 0: none */
	struct ptx_token tok, ahead;
	bool has_ahead;
	uint32_t refusals;			   /* functions whose body could not be read, */
	struct err refusal;			   /* and what is said of the first */
	bool nameless;				   /* the parameters of a prototype, which are all called _ */
	uint16_t word_bucket[256], word_next[256]; /* ".word" -> rows of ptx_words, 1-based */
	uint16_t op_bucket[256], op_next[PTX_OPS + 1];
	struct ptx_module *m;
	unsigned sm; /* 90 for sm_90; 0 when the target is none of those */
	struct ptx_names names;
	PTX_LIST(struct ptx_var) vars;
	PTX_LIST(struct ptx_func) funcs;
	PTX_LIST(struct ptx_prototype) prototypes;
	PTX_LIST(struct ptx_item) items;
	/* of the function being read */
	struct ptx_func *f;
	int32_t func_index;
	struct str pragmas;
	PTX_LIST(struct ptx_reg) regs;
	PTX_LIST(struct ptx_inst) insts;
	PTX_LIST(struct ptx_note) notes;
	PTX_LIST(struct ptx_label_def) labels;
	uint32_t label_bucket[1024]; /* newest first, 1-based */
	PTX_LIST(struct ptx_label_ref) refs;
	PTX_LIST(struct ptx_targets) targets;
	PTX_LIST(struct ptx_token) target_names;
};
#define PTX_REGS_MAX 65536u

/* Room for one more element of a PTX_LIST; 0 or -ENOMEM with the sentence set. */
#define PTX_PUSH(p, list) ((list).n < (list).cap ? 0 : ptx_grow((p), (void **)&(list).v, &(list).cap, sizeof *(list).v))
int ptx_grow(struct ptx_parser *p, void **v, uint32_t *cap, size_t size);
int ptx_add_item(struct ptx_parser *p, enum ptx_item_kind kind, uint32_t index);

/* "name:line:column: sentence"; returns -EINVAL */
int ptx_fail(struct ptx_parser *p, uint32_t line, uint32_t column, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
#define PTX_FAIL_AT(p, t, ...) ptx_fail((p), (t)->line, (t)->column, __VA_ARGS__)
static inline int ptx_nomem(const struct ptx_parser *p)
{
	err_nomem(p->e);
	return -ENOMEM;
}
int ptx_advance(struct ptx_parser *p);				     /* reads the next token into p->tok */
int ptx_peek(struct ptx_parser *p);				     /* reads the one after into p->ahead */
void ptx_skip_line(struct ptx_parser *p);			     /* the rest of the line after p->tok is not read */
const char *ptx_token_text(const struct ptx_token *t, char buf[64]); /* for messages */
static inline bool ptx_is(const struct ptx_parser *p, char c)
{
	return p->tok.kind == TOK_PUNCT && p->tok.c == c;
}
bool ptx_token_is(const struct ptx_token *t, const char *s);
int ptx_expect(struct ptx_parser *p, char c, const char *why);
int ptx_accept(struct ptx_parser *p, char c, bool *yes);

#define PTX_KEEP(p, list, out)                                                                                         \
	do {                                                                                                           \
		if ((list).n && !((out) = arena_copy((p)->a, (list).v, (list).n * sizeof *(list).v)))                  \
			return err_nomem((p)->e);                                                                      \
	} while (0)

/* functions and what stands between them (ptx_parse.c) */
int ptx_parse_func(struct ptx_parser *p, bool entry, enum ptx_linkage linkage); /* behind .entry or .func */
int ptx_pragma(struct ptx_parser *p, struct ptx_token *text);
bool ptx_is_line_directive(const struct ptx_token *t); /* .loc, .file: for debuggers */
int ptx_skip_line_directive(struct ptx_parser *p);
bool ptx_var_space(const struct ptx_token *t, bool body, enum ptx_space *space);

/* declarations (ptx_decl.c) */
int ptx_type_of_word(struct ptx_parser *p, const struct ptx_token *t, enum ptx_type *type); /* error when no type */
int ptx_decl_reg(struct ptx_parser *p);
int ptx_decl_var(struct ptx_parser *p, enum ptx_space space, enum ptx_linkage linkage);
int ptx_decl_param_list(struct ptx_parser *p, struct ptx_param **out, uint32_t *count, bool entry, bool results);
int ptx_declare(struct ptx_parser *p, const struct ptx_token *t, enum ptx_name_kind kind, int32_t index);
int ptx_literal(struct ptx_parser *p,
		struct ptx_token *out); /* ptx_constant.c: a number, or an expression of numbers */
int ptx_uint(struct ptx_parser *p, uint64_t max, const char *what, uint64_t *v);
int ptx_add_reg(struct ptx_parser *p, const char *name, enum ptx_type type, int32_t *index);

/* instructions (ptx_inst.c, ptx_operand.c, ptx_check.c) */
int ptx_parse_inst(struct ptx_parser *p);
int ptx_parse_operands(struct ptx_parser *p, struct ptx_inst *in);
int ptx_handle_at(
    const struct ptx_inst *in); /* operand that is a texture's or surface's handle, coordinates behind it; -1: none */
struct ptx_place {
	uint32_t line, column;
};
int ptx_parse_operand(struct ptx_parser *p, struct ptx_inst *in, struct ptx_operand *o, struct ptx_place *at);
int ptx_check_mods(struct ptx_parser *p, const struct ptx_inst *in);
const char *ptx_space_name(enum ptx_space s);
static inline bool ptx_is_float(enum ptx_type t)
{
	return ptx_type_class(t) == 'f';
}
int ptx_check_operand(struct ptx_parser *p, const struct ptx_inst *in, char letter, const struct ptx_operand *o,
		      const struct ptx_place *at);
int ptx_check_inst(struct ptx_parser *p, const struct ptx_inst *in);
enum ptx_type ptx_widen(enum ptx_type t);

#endif
