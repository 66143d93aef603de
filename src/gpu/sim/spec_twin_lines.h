/* Inside the twin: its lines, and what else may stand in those that nobody measured. */
#ifndef FATHOM_SPEC_TWIN_LINES_H
#define FATHOM_SPEC_TWIN_LINES_H
#include "base/str.h"
#include "data/run.h"
#include "gpu/sim/spec_file.h"

#define TWIN_CHOICES 6

struct twin_choice {
	const char *text, *unit, *source; /* text NULL: the line is left out */
};
/* A finding has one choice; of a guess the first one stands there, unless the fit finds a better one. */
struct twin_line {
	const char *key;
	struct twin_choice choice[TWIN_CHOICES];
	unsigned count, chosen;
	bool guess, derived; /* derived: other findings say so, which is better than another GPU */
};
struct twin {
	const struct run *r;
	struct arena a; /* of all that it holds */
	struct twin_line *lines;
	size_t count, cap;
	const struct spec_file *base; /* the shipped GPU that lends lines */
	const char *base_name;	      /* as fathom list gpus names it */
	uint64_t weighed; /* the fit: the lines of operations and pipes that were weighed last, and how well they fit */
	unsigned core_wrong, core_right;
	bool failed; /* an allocation did */
};

/* The finding of such a key when it is MEASURED or LIKELY, else NULL. */
const struct finding *twin_found(const struct twin *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Its number, or the end of its BOUND that is known; false: neither. */
bool twin_number(const struct finding_list *l, const char *key, double *v);
bool twin_absent(const struct twin *t, const char *key);
struct twin_line *twin_has(const struct twin *t, const char *key); /* NULL: no such line yet */
/* "key = text unit   # source". f: the finding that says so; NULL: `why` does, and the key is listed as guessed. */
void twin_line(struct twin *t, const char *key, const char *text, const char *unit, const struct finding *f,
	       const char *why);
/* The same of a number; a whole one in units of bytes and counts. */
void twin_put(struct twin *t, const char *key, double v, const char *unit, const struct finding *f, const char *why);
/* A guess that other findings say. */
void twin_derive(struct twin *t, const char *key, double v, const char *unit, const char *why);
/* Another choice of a line that is a guess, before the others or behind them. text NULL: none at all. */
void twin_choose(struct twin *t, const char *key, const char *text, const char *unit, const char *why, bool first);
/* The finding of the same key where there is one, else the value that stands for it. Returns what was written. */
double twin_take(struct twin *t, const char *key, const char *unit, double otherwise, const char *why);
/* The finding's word where it is one of `words` (separated by blanks), else `otherwise`; an empty one writes nothing. */
void twin_word(struct twin *t, const char *key, const char *words, const char *otherwise, const char *why);

/* Caches and translations of all paths (spec_twin_cache.c). */
void twin_caches(struct twin *t);
double twin_far_extra(const struct twin *t);
/* Schedulers, pipes and operations (spec_twin_ops.c). */
void twin_operations(struct twin *t);
/* The lines, in their order, with their sources; guesses are listed in `guessed` (NULL: nowhere). */
void twin_print(const struct twin *t, struct str *out, struct str *guessed);

/* ---- spec_twin_fit.c ---- */
/* Opens the shipped GPU that lends lines: `like`, or the nearest to the run's device. 0, or negative and a sentence. */
int twin_base(struct twin *t, const char *like, struct err *e);
/* Adds the lines that the base has and the twin has not, and chooses among guesses. It takes those that contradict the
 * fewest of the run's findings by what a probe should find on the twin. Returns 0, or negative and a sentence: the
 * lines do not make a GPU. */
int twin_fit(struct twin *t, struct err *e);

#endif
