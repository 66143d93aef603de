/* How the files of the truth tell it: one key after the other, until somebody refuses one. */
#ifndef FATHOM_SPEC_TELL_H
#define FATHOM_SPEC_TELL_H
#include "gpu/sim/spec_file.h"

struct teller {
	int (*each)(void *ctx, const struct truth *t);
	void *ctx;
	int rc; /* the first refusal ends the telling */
};

static inline void tell(struct teller *t, const struct truth *one)
{
	if (t->rc == 0)
		t->rc = t->each(t->ctx, one);
}

static inline void tell_number(struct teller *t, const char *key, double number, double tolerance)
{
	tell(t, &(struct truth){.key = key, .number = number, .tolerance = tolerance});
}

static inline void tell_text(struct teller *t, const char *key, const char *text)
{
	tell(t, &(struct truth){.key = key, .text = text});
}

static inline void tell_absent(struct teller *t, const char *key)
{
	tell(t, &(struct truth){.key = key, .absent = true});
}
/* Latencies are recovered within a cycle; 1e-9 absorbs the rounding of decimal fractions. */
#define LATENCY_TOLERANCE    (1 + 1e-9)
#define THROUGHPUT_TOLERANCE 0.05
#define ISSUE_TOLERANCE	     (THROUGHPUT_TOLERANCE / (1 - THROUGHPUT_TOLERANCE)) /* the same promise, of its inverse */

#endif
