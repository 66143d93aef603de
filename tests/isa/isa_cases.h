/* The instruction set as a list of cases. A case is a line or a few of PTX, the types of what it reads and writes, and
 * how exactly its answer is specified. The same list runs on the simulator and on real GPUs. */
#ifndef FATHOM_ISA_CASES_H
#define FATHOM_ISA_CASES_H
#include "base/arena.h"
#include "ptx/ptx.h"

/* Lines may use these registers and addresses:
 *
 *   d           result
 *   a b c       sources
 *   p           predicate source
 *   x y, w, h   as they like: 32, 64 and 16 bits
 *   q r         predicates
 *   f, g        f32, f64
 *   cell, spot  16 bytes of one's own in global and shared memory */
struct isa_case {
	const char *line;
	uint8_t d, a, b, c; /* enum ptx_type, NONE when the line does not use it */
	uint8_t rule;	    /* enum isa_rule */
	bool p;		    /* the line reads p */
};

/* What of the answer is specified. The bounds are those that the PTX manual gives for approximate functions. */
enum isa_rule {
	ISA_EXACT,
	ISA_DIVIDES,	 /* exact where b is not 0 */
	ISA_RELATIVE_22, /* relative error 2^-22 */
	ISA_RELATIVE_11,
	ISA_RELATIVE_10,   /* f16: a unit of the last place more */
	ISA_TRIGONOMETRIC, /* absolute error 2^-20.5 from -pi to pi */
	ISA_LOGARITHM,	   /* absolute error 2^-22 from 1/2 to 2, relative elsewhere */
	ISA_DIVISION,	   /* 2 units of the last place, for divisors from 2^-126 to 2^126 */
	ISA_QUOTIENT,	   /* 2 units of the last place */
	ISA_DOUBLE_19,	   /* f64: relative error 2^-19, 20 bits in and out */
	ISA_RULES
};

struct isa_cases {
	struct arena a;
	struct isa_case *list;
	size_t count, cap;
};
int isa_cases_open(struct isa_cases *c); /* 0 or -ENOMEM */
void isa_cases_close(struct isa_cases *c);
bool isa_approximate(enum isa_rule r);

#endif
