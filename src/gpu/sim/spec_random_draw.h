/* What the pieces of random GPUs draw with. Private to the reader of .gpu files. */
#ifndef FATHOM_SPEC_RANDOM_DRAW_H
#define FATHOM_SPEC_RANDOM_DRAW_H
#include "base/rng.h"
#include <stdbool.h>

struct str;
/* From lo to hi, both included; lo, and nothing is drawn, where hi is no more. */
int draw_between(struct rng *r, int lo, int hi);
bool draw_chance(struct rng *r, double p);
/* One line of a .gpu file, marked as drawn. */
void draw_put(struct str *out, const char *key, const char *unit, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
void draw_put_int(struct str *out, const char *key, const char *unit, long long v);

#endif
