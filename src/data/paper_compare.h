/* Published values laid beside the findings of a run. */
#ifndef FATHOM_PAPER_COMPARE_H
#define FATHOM_PAPER_COMPARE_H
#include "data/paper.h"
#include "data/run.h"

enum paper_result {
	PAPER_AGREES,	 /* what was found lies in what the paper leaves open */
	PAPER_EXPLAINED, /* it does not, and gpus/DEVIATIONS.md says why */
	PAPER_DIFFERS,
	PAPER_NOT_ASKED, /* no finding of the run has this key, or the row has none */
	PAPER_IS_SETTING /* a number of the paper's experiment, and none of a GPU */
};
#define PAPER_RESULTS 5
const char *paper_result_name(enum paper_result r); /* "agrees" "explained" "differs" "not asked" "setting" */

struct paper_check {
	const struct paper_row *row;
	const struct finding
	    *finding; /* NULL: there is none. One that a formula made is in the arena, not in the run */
	enum paper_result result;
};
/* One part of a paper against one run. */
struct paper_comparison {
	const struct paper *paper;
	const struct paper_part *part;
	const struct run *run;
	struct paper_check *checks;   /* part->count of them, in the order of the file */
	size_t counts[PAPER_RESULTS]; /* of values; one that the paper repeats is counted once */
	size_t repeated;
};

/* f may be NULL. A finding that is only bounded agrees where the paper bounds it, too. A row with one number agrees
 * with a finding that is a list when it is one of the list. A row with a list agrees when both have the same
 * numbers. */
enum paper_result paper_result_of(const struct paper_row *row, const struct finding *f);
/* checks live in arena a; paper and run must outlive the result. 0 or -ENOMEM. */
int paper_compare(struct paper_comparison *out, struct arena *a, const struct paper *p, const struct paper_part *part,
		  const struct run *r);

#endif
