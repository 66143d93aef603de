/* Random PTX for tests. */
#ifndef FATHOM_PTX_GENERATE_H
#define FATHOM_PTX_GENERATE_H
#include "base/arena.h"
#include "base/rng.h"
#include "base/str.h"

/* Adds one line that looks like an instruction on the registers below; about one in three is right. */
void generate_line(struct str *out, struct rng *r);
/* A module whose body is `lines` (each a whole line). */
void generate_module(struct str *out, const char *lines);

#endif
