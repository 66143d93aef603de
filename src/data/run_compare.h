/* Several runs beside each other: do they say the same of one GPU? */
#ifndef FATHOM_RUN_COMPARE_H
#define FATHOM_RUN_COMPARE_H
#include "data/run.h"

#define COMPARE_CYCLES 1.0  /* two latencies that are no farther apart agree */
#define COMPARE_WHOLE  0.5  /* nor two fits of what is a whole number */
#define COMPARE_SHARE  0.01 /* the same of rates, as a share of the larger one */

enum compare_state {
	COMPARE_CONTRADICT, /* what one excludes another says: intervals apart, a structure there and ABSENT, another name */
	COMPARE_DIFFER, /* values are farther apart than two runs may be, and each interval has room for both */
	COMPARE_SOME,	/* MEASURED or ABSENT in some runs only; the others say nothing against it */
	COMPARE_AGREE,	/* MEASURED or ABSENT in all runs, and the same */
	COMPARE_OPEN	/* decided in no run */
};
#define COMPARE_STATES 5
const char *compare_state_name(enum compare_state s); /* "contradict" ... */

struct compare_row {
	const char *key;
	enum compare_state state;
	const struct finding **of; /* a run each, in their order; NULL: it has no such finding */
};

struct comparison {
	const struct run *const *runs;
	size_t run_count;
	struct compare_row *rows; /* by key */
	size_t row_count;
	size_t counts[COMPARE_STATES];
};

/* What two findings of one key say of each other. Counts, bytes, names and lists have to be equal, and latencies and
 * other times within COMPARE_CYCLES. Rates, and cycles between two instructions as a rate's inverse, have to be within
 * COMPARE_SHARE. */
/* Is its value a whole number or a name, of which two are the same or not? */
bool compare_is_whole(const struct finding *f);
enum compare_state compare_findings(const struct finding *a, const struct finding *b);
/* Every key that a run has, each pair of its findings laid beside each other. All memory is of `a`; the runs have to stay.
 * 0 or -ENOMEM. */
int compare_runs(struct comparison *c, struct arena *a, const struct run *const *runs, size_t n);

#endif
