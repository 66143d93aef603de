/* What somebody expects of a GPU, and whether a run contradicts it. */
#ifndef FATHOM_EXPECT_H
#define FATHOM_EXPECT_H
#include "data/run.h"

struct expect_row {
	struct finding says;	     /* a number with its interval, a word, BOUND or ABSENT */
	const struct finding *found; /* of the run that was asked; NULL: it has no such finding */
	unsigned line;		     /* of the file; 0: from a run */
};
struct expect {
	struct expect_row *row;
	size_t count;
	size_t contradicted, undecided; /* of the run that was asked last */
};

/* Reads lines of the form `KEY = 200`, in the key's own unit; '#' begins a comment. A value is as in `200 +- 5`, `200
 * +- 2 %`, `>= 64`, `<= 8`, `absent`, `"lru"` or `lru`. Messages name `path`. Returns 0, -EINVAL with one sentence that
 * names file and line, or -ENOMEM. Memory is of `a`. */
int expect_parse(struct expect *x, struct arena *a, const char *text, const char *path, struct err *e);
/* What a former run answered, whose memory has to stay. 0 or -ENOMEM. */
int expect_of_run(struct expect *x, struct arena *a, const struct run *r);
/* Lays a run beside it: fills found of each row, and the counts. */
void expect_ask(struct expect *x, const struct run *r);
/* Whether what was found excludes what was expected, by more than two runs of one card may differ (run_compare.h). */
bool expect_contradicted(const struct expect_row *row);

#endif
