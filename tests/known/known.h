/* Known answers: measures a described GPU and lays what was concluded beside what its description says. */
#ifndef FATHOM_KNOWN_H
#define FATHOM_KNOWN_H
#include "base/str.h"
#include "data/run.h"
#include "gpu/sim/spec.h"

/* Runs probes on the simulated GPU. r is initialised here; run_free it in any case. */
int known_measure(struct run *r, const struct sim_spec *s, uint64_t seed, struct err *e);
/* Only these probes, with commas between, and what they need; NULL: every probe. */
int known_measure_probe(struct run *r, const struct sim_spec *s, uint64_t seed, const char *probe, struct err *e);

/* What the probes of this version have to find out, in groups. */
#define SCORE_GROUPS 67
extern const char *const score_group[SCORE_GROUPS];

struct score {
	unsigned wrong;	   /* MEASURED, BOUND or ABSENT that the description contradicts, or that it knows nothing of */
	unsigned exists;   /* numbers and words that a probe of this issue has to find */
	unsigned measured; /* of those, MEASURED and right */
	unsigned absences; /* structures that are not there and were asked for */
	unsigned absent;   /* of those, ABSENT */
	unsigned findings;
	unsigned group_exists[SCORE_GROUPS], group_measured[SCORE_GROUPS];
};
void score_add(struct score *to, const struct score *one);

/* Whether the issue rate hides from every kernel what does the operation of arith.<op>.<type>.unit, or the name of a unit.<name>.*;
 * false for other keys. */
bool known_unit_hidden(const struct sim_spec *s, const char *key);

/* A line for each wrong finding to `wrong`, for each missed one to `missed`, label in front. 0 or -ENOMEM. */
int known_score(struct score *out, const struct run *r, const struct sim_spec *s, const char *label, struct str *wrong,
		struct str *missed);

#endif
