/* Inside the export of a .gpu file: one line after the other, each with where it comes from. */
#ifndef FATHOM_EXPORT_GPU_H
#define FATHOM_EXPORT_GPU_H
#include "base/str.h"
#include "data/run.h"

struct twin {
	const struct run *r;
	struct str body, guessed; /* the lines; the keys that nobody measured */
};

/* The finding of such a key when it is MEASURED or LIKELY, else NULL. */
const struct finding *twin_found(const struct twin *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Its number, or the end of its BOUND that is known; false: neither. */
bool twin_number(const struct finding_list *l, const char *key, double *v);
/* "key = text unit   # source". f: the finding that says so; NULL: `why` does, and the key is listed as guessed. */
void twin_line(struct twin *t, const char *key, const char *text, const char *unit, const struct finding *f,
	       const char *why);
/* The same of a number; a whole one in units of bytes and counts. */
void twin_put(struct twin *t, const char *key, double v, const char *unit, const struct finding *f, const char *why);
/* The finding of the same key where there is one, else the value that stands for it. Returns what was written. */
double twin_take(struct twin *t, const char *key, const char *unit, double otherwise, const char *why);
/* The finding's word where it is one of `words` (separated by blanks), else `otherwise`; an empty one writes nothing. */
void twin_word(struct twin *t, const char *key, const char *words, const char *otherwise, const char *why);

/* Caches and translations of all paths (export_gpu_cache.c). */
void twin_caches(struct twin *t);
/* Schedulers, pipes and operations (export_gpu_ops.c). */
void twin_operations(struct twin *t);

#endif
