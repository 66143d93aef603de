/* The operations that are asked. Private to the probe. */
#ifndef FATHOM_ATOMICS_ROWS_H
#define FATHOM_ATOMICS_ROWS_H
#include <stdbool.h>

enum {
	ATOMICS_GLOBAL_CC = 11,
	ATOMICS_SHARED_CC = 12,
	ATOMICS_SCOPES_CC = 60
}; /* compute capability x 10 (CUDA C Programming Guide) */

struct atomic_row {
	const char *name; /* atomic.NAME.latency */
	const char *op;	  /* behind atom.global. */
	const char *word; /* of a register */
	unsigned bytes;
	int cc; /* from which on */
	bool cas, rated;
};

static const struct atomic_row atomic_rows[] = {
    {"add", "add.u32", "u32", 4, 11, false, true},	{"and", "and.b32", "b32", 4, 11, false, false},
    {"or", "or.b32", "b32", 4, 11, false, false},	{"xor", "xor.b32", "b32", 4, 11, false, false},
    {"min", "min.u32", "u32", 4, 11, false, false},	{"max", "max.u32", "u32", 4, 11, false, false},
    {"inc", "inc.u32", "u32", 4, 11, false, false},	{"dec", "dec.u32", "u32", 4, 11, false, false},
    {"exch", "exch.b32", "b32", 4, 11, false, true},	{"cas", "cas.b32", "b32", 4, 11, true, true},
    {"add_u64", "add.u64", "u64", 8, 12, false, false}, {"cas_u64", "cas.b64", "b64", 8, 12, true, false},
    {"add_f32", "add.f32", "f32", 4, 20, false, false}, {"add_f64", "add.f64", "f64", 8, 60, false, false},
};
enum { ATOMIC_ROWS = sizeof atomic_rows / sizeof *atomic_rows, ATOMIC_ADD = 0 };

#endif
