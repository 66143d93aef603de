/* The third cell of a paper's row: the key of a finding, or what follows from several: "cache.l1.size / cache.l1.ways". */
#ifndef FATHOM_PAPER_FORMULA_H
#define FATHOM_PAPER_FORMULA_H
#include "base/arena.h"
#include "base/err.h"
#include "data/finding.h"

#define PAPER_NO_KEY "-" /* no finding of ours means the same */
#define PAPER_SETTING                                                                                                  \
	"setting" /* of the paper's experiment, or of a data sheet and what follows from it: nobody measured it */
#define FORMULA_TERMS 8

struct formula_term {
	char sign; /* '+' '-' '*' or '/' before it; '+' before the first */
	bool is_number;
	double number; /* of the paper's: 2 */
	char key[96];
};
struct formula {
	struct formula_term term[FORMULA_TERMS];
	unsigned count; /* 0: the cell is "-" or "setting"; 1: a key */
};

/* Terms with a sign and blanks around it between them, taken from left to right. -EINVAL: the sentence says what is wrong. */
int formula_parse(struct formula *out, const char *cell, struct err *e);
/* What the cell says of these findings: one of them, or one made in the arena, in `unit`. *out NULL: a finding is missing.
 * What is made is MEASURED when all are; else it has the verdict of the first that is not. 0 or -ENOMEM. */
int formula_finding(const struct finding **out, struct arena *a, const char *cell, const char *unit,
		    const struct finding_list *findings);

#endif
