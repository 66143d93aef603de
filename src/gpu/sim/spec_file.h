/* Inside the .gpu reader: the table of keys, the lines of one file, and the checks. Others include spec.h only. */
#ifndef FATHOM_SPEC_FILE_H
#define FATHOM_SPEC_FILE_H
#include "base/embed.h"
#include "gpu/sim/spec.h"
#include <stddef.h>

/* ---- the table of keys (spec_keys.c) ---- */
enum spec_dim {
	DIM_CYCLES,
	DIM_COUNT,
	DIM_BYTES,
	DIM_HZ,
	DIM_OPS,
	DIM_BYTES_CLK,
	DIM_RATIO,
	DIM_NAME,
	DIM_YESNO,
	DIM_VERSION,
	DIM_EVICTIONS,
	DIM_BYTES_S,
	DIM_SECONDS
};
enum spec_kind {
	KIND_U32,
	KIND_U64,
	KIND_DOUBLE,
	KIND_BOOL,
	KIND_WORD,
	KIND_TEXT,
	KIND_TENTHS,
	KIND_PIPE,
	KIND_CUSTOM
};
enum spec_home { HOME_SPEC, HOME_CACHE, HOME_PATH, HOME_PIPE, HOME_OP, HOME_TLB, HOME_WALK };

struct spec_key {
	const char *pattern; /* "cache.<p>.<l>.size"; places are <p> <l> <m> <pipe> <op> <type> */
	enum spec_dim dim;
	enum spec_kind kind;
	enum spec_home home;
	size_t offset;	      /* in the struct of its home */
	double min, max;      /* in the base unit; KIND_TEXT: max = room in bytes */
	const char *fallback; /* NULL: required. "" : optional, what its absence means is in the meaning */
	const char *words;    /* KIND_WORD: the words in the order of the enum, separated by spaces */
	const char *meaning;
};
extern const struct spec_key spec_keys[];
extern const size_t spec_key_count;

const char *spec_dim_name(enum spec_dim d); /* "cycles" */
/* A unit as written in a file: its dimension and what one of it is in the base unit. */
bool spec_unit(const char *unit, enum spec_dim *d, double *scale);
const char *spec_unit_list(void);
/* The key's row of the table, or NULL. */
const struct spec_key *spec_key_find(const char *key);
/* The nearest key that exists, written to out; "" when none is near. */
void spec_key_nearest(char *out, size_t n, const char *key);
/* Writes the pattern with its places filled in order: spec_key_fill(out, n, "cache.<p>.<l>.size", "global", "l1"). */
void spec_key_fill(char *out, size_t n, const char *pattern, const char *first, const char *second);

/* ---- the lines of one file (spec_lines.c) ---- */
struct spec_line {
	const char *key, *value, *unit;
	unsigned line; /* of one that is lent: that of device.like */
	bool lent;     /* by the description that this one is like */
};
struct spec_file {
	struct arena *a;
	struct err *e;
	const char *name;
	struct spec_line *lines; /* sorted by key once read */
	unsigned lent;		 /* line of device.like while what that description has is read */
	size_t count, cap;
};
/* Reads, expands braces, checks that each key exists once, with a unit of the right dimension and a source. What a description that this one
 * is like has, and this one not, is added; *base is then its text, else NULL. */
int spec_lines(struct spec_file *f, const char *text, size_t size, const struct embedded **base);
const struct spec_line *spec_line(const struct spec_file *f, const char *key); /* NULL when it is not there */
unsigned spec_line_number(const struct spec_file *f, const char *key);	       /* 0 when it is not there */
/* "file:line: sentence". line 0 leaves the number out. Returns -EINVAL. */
int spec_fail(const struct spec_file *f, unsigned line, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* The next item of a comma-separated list, trimmed, in out; false at the end. An item too long for out comes back cut. */
bool spec_item(const char **list, char *out, size_t n);
/* A number in the base unit of the line's dimension, within the key's limits. */
int spec_number(const struct spec_file *f, const struct spec_line *l, const char *text, double *out);
/* A list of exactly `count` numbers, one for each of what there is: "ways", which "the cache has". 0 or an error of the line. */
int spec_numbers(const struct spec_file *f, const struct spec_line *l, double *out, uint32_t count, const char *owner,
		 const char *what);

/* ---- spec_ops.c: pipes and operations ---- */
int spec_read_pipes(const struct spec_file *f, struct sim_spec *s);
int spec_read_ops(const struct spec_file *f, struct sim_spec *s);
/* The pipe of that name for the key on this line, or an error that names the pipes there are. */
int spec_pipe(const struct spec_file *f, const struct sim_spec *s, const struct spec_line *l, const char *name,
	      uint32_t *out);
/* ---- spec_units.c: what follows from pipes and rates ---- */
/* The units that do the operation, by the names that src/data/keys.def defines, with commas between them. */
void spec_unit_of(const struct sim_spec *s, const struct op_spec *o, char *out, size_t n);
/* The operation that names the number-th kind of unit, and the unit's name; NULL where no unit is named by it. */
const struct op_spec *spec_unit_op(const struct sim_spec *s, unsigned number, const char **name);
#define SPEC_UNIT_KINDS 5
/* Warps of one block that first reach 95 % of the operation's throughput with one chain each. One more than a block has
 * when none do. *tolerance: by how many a rate that is 2 % off moves it. */
uint32_t spec_warps_to_fill(const struct sim_spec *s, const struct op_spec *o, double *tolerance);
/* One key into the struct of its home, its fallback where the file has none. (spec.c) */
int spec_take(const struct spec_file *f, const struct sim_spec *s, const struct spec_key *k, const char *key,
	      void *home);

/* What the file says in `key` against the levels that it describes. (spec.c) */
int spec_level_count(const struct spec_file *f, const char *key, uint32_t described);
/* The levels of a cached path, described without a gap. (spec.c) */
int spec_read_levels(const struct spec_file *f, struct sim_spec *s, struct path_spec *p, const char *path);
/* The index of a word in a list of them. (spec.c) */
int spec_word(const struct spec_file *f, const struct spec_line *l, const char *words, const char *word,
	      const char *key, unsigned *out);

/* ---- spec_fetch.c: instruction caches ---- */
int spec_read_fetch(const struct spec_file *f, struct sim_spec *s);
int spec_check_fetch(const struct spec_file *f, const struct sim_spec *s);
extern const char *const spec_share_names[]; /* in the order of enum fetch_share */

/* ---- spec_cache.c: what a cache's description says beyond single numbers ---- */
/* set_sizes: fills in ways, sets and size, which may be given too and then have to agree. */
int spec_set_sizes(const struct spec_file *f, struct cache_spec *c, const char *key);
int spec_schedule(const struct spec_file *f, struct cache_spec *c, const char *key); /* when the ways are known */
/* The L1 beside the smallest shared memory, from that beside the largest; when the sizes that launches choose are known. */
int spec_split_l1(const struct spec_file *f, struct sim_spec *s);
/* stem: "cache.global.l1", where its keys stand. */
int spec_check_cache(const struct spec_file *f, const struct cache_spec *c, const char *stem);

/* ---- spec_tlb.c: translation, and the texture path ---- */
int spec_read_tlbs(const struct spec_file *f, struct sim_spec *s);
int spec_check_tlbs(const struct spec_file *f, const struct sim_spec *s);
bool spec_has_texture(const struct spec_file *f);
int spec_read_texture(const struct spec_file *f, struct sim_spec *s);
int spec_check_texture(const struct spec_file *f, const struct sim_spec *s);
extern const char *const spec_tlb_paths[TLB_PATHS];

/* ---- spec_check.c: what no single line can tell ---- */
int spec_check(const struct spec_file *f, const struct sim_spec *s);

/* ---- spec_requests.c: how requests travel ---- */
int spec_check_requests(const struct spec_file *f, const struct sim_spec *s);
int spec_truth_requests(const struct sim_spec *s, int (*each)(void *ctx, const struct truth *t), void *ctx);
/* ---- spec_atomics.c ---- */
int spec_read_atomics(const struct spec_file *f, struct sim_spec *s);
int spec_truth_atomics(const struct sim_spec *s, int (*each)(void *ctx, const struct truth *t), void *ctx);
/* ---- spec_texture.c: the texture unit ---- */
int spec_truth_texture(const struct sim_spec *s, int (*each)(void *ctx, const struct truth *t), void *ctx);
/* ---- spec_float.c: what arithmetic gives ---- */
int spec_read_float(const struct spec_file *f, struct sim_spec *s);
int spec_truth_float(const struct sim_spec *s, int (*each)(void *ctx, const struct truth *t), void *ctx);
/* spec_walk.c: completion of loads. */
int spec_truth_walk(const struct sim_spec *s, int (*each)(void *ctx, const struct truth *t), void *ctx);
/* spec_residency.c: places of an SM, and schedulers. */
int spec_truth_residency(const struct sim_spec *s, int (*each)(void *ctx, const struct truth *t), void *ctx);
/* spec_rates.c: what is read in a cycle. */
int spec_truth_rates(const struct sim_spec *s, int (*each)(void *ctx, const struct truth *t), void *ctx);
/* Bytes a cycle of what memory holds that come through the L2's port; 0: no limit. */
double spec_l2_port(const struct sim_spec *s);
/* Cycles of a port for one sector of so many bytes, of those that are asked for in a row. */
double spec_port_turn(const struct cache_spec *c, double bytes);
/* spec_turns.c: cycles that so many warps of an SM need for a link of each of their chains once they have found their
 * order. None is preferred, and a link is one instruction. The first turns of one warp and the next are `apart` cycles
 * apart. 0: too many to say. */
double spec_turns(const struct sim_spec *s, const struct op_spec *op, uint32_t chains, uint32_t warps, uint32_t apart);
/* spec_pipeline.c: issue, completion, peak, performance and ridge of every class. */
int spec_truth_core(const struct sim_spec *s, int (*each)(void *ctx, const struct truth *t), void *ctx);
int spec_truth_rest(const struct sim_spec *s, int (*each)(void *ctx, const struct truth *t), void *ctx);
int spec_truth_pipeline(const struct sim_spec *s, int (*each)(void *ctx, const struct truth *t), void *ctx);

/* Names of the levels and of the two cached paths, in the order of their structs. */
extern const char *const spec_level_names[CONST_LEVELS];

#endif
