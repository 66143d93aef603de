/* Known answers: measures a described GPU and lays what was concluded beside what its description says. */
#ifndef FATHOM_KNOWN_H
#define FATHOM_KNOWN_H
#include "base/str.h"
#include "data/run.h"
#include "gpu/sim/spec.h"

/* A file whole, behind what `to` holds. 0 or negative errno. */
int known_read(struct str *to, const char *path);

/* Whether descriptions say something of what the probe finds: not how fast whole programs are. */
bool known_describes(const char *probe);

/* Runs probes on the simulated GPU. r is initialised here; run_free it in any case. */
int known_measure(struct run *r, const struct sim_spec *s, uint64_t seed, struct err *e);
/* Only these probes, with commas between, and what they need; NULL: every probe that a description says something of; "quick": what `run --quick` measures. */
int known_measure_probe(struct run *r, const struct sim_spec *s, uint64_t seed, const char *probe, struct err *e);

/* What the probes of this version have to find out, in groups. */
#define SCORE_GROUPS 80
extern const char *const score_group[SCORE_GROUPS];

struct score {
	unsigned wrong;	   /* MEASURED, BOUND or ABSENT that the description contradicts, or that it knows nothing of */
	unsigned exists;   /* numbers and words that a probe of this issue has to find */
	unsigned measured; /* of those, MEASURED and right */
	unsigned absences; /* structures that are not there and were asked for */
	unsigned absent;   /* of those, ABSENT */
	unsigned findings;
	/* MEASURED of operations that the description does not list, so that core.default_op was timed instead */
	unsigned left_out;
	unsigned group_exists[SCORE_GROUPS], group_measured[SCORE_GROUPS];
};
void score_add(struct score *to, const struct score *one);

/* What an answer is, laid beside the truth. A value that is no truth's is WRONG, or UNLIKELY where it was only called LIKELY. */
enum answer {
	ANSWER_RIGHT,  /* MEASURED or ABSENT */
	ANSWER_LIKELY, /* LIKELY, and right */
	ANSWER_BOUND,  /* and the truth lies on its side */
	ANSWER_INCONCLUSIVE,
	ANSWER_SILENT, /* no finding, or none that could be tried */
	ANSWER_UNLIKELY,
	ANSWER_WRONG,
	ANSWERS
};
enum answer known_answer_of(enum verdict v, bool right);

struct known_answer {
	const char *key;
	const struct finding *finding; /* NULL: none */
	enum answer answer;
	int group;	/* of score_group; negative: nobody has to find it */
	bool absent;	/* the truth: there is no such thing */
	bool left_out;	/* a value of an operation that the description does not list */
	bool composed;	/* its truth is made of several lines of the description */
	char truth[80]; /* for readers */
};
typedef int known_each_fn(void *ctx, const struct known_answer *a); /* not 0 ends it, and is returned */
/* Every key that has to be found, with its finding or none, and every other finding, once each. 0 or negative errno. */
int known_each(const struct run *r, const struct sim_spec *s, known_each_fn *each, void *ctx);
/* What a finding says, in a word, and one line about an answer. */
void known_value(char *out, size_t n, const struct finding *f);
void known_line(struct str *to, const char *label, const struct known_answer *a);

/* Throughputs are right within 5 %, either way, and so is the time of two operations together on one pipe or on two. If
 * the two differ by less, nobody is asked which it is. */
#define UNIT_ASKED (1.05 / 0.95)
/* Repeats of one loop differ by less: what differs by more shows. */
#define UNIT_SHOWN 1.01
/* Whether the issue rate hides what does the operation of arith.<op>.<type>.unit, or the name of a unit.<name>.*. No
 * mix of two operations then takes `told` times as long on one pipe as on two. False for other keys. */
bool known_unit_hidden(const struct sim_spec *s, const char *key, double told);

/* A line for each wrong finding to `wrong`, for each missed one to `missed`, label in front. 0 or -ENOMEM. */
int known_score(struct score *out, const struct run *r, const struct sim_spec *s, const char *label, struct str *wrong,
		struct str *missed);

#endif
