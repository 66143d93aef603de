/* A claim with its evidence. See ARCHITECTURE.md for what each verdict promises. */
#ifndef FATHOM_FINDING_H
#define FATHOM_FINDING_H
#include <stdbool.h>
#include <stddef.h>

enum verdict {
	VERDICT_MEASURED,
	VERDICT_LIKELY, /* the best estimate with its interval: not proven, right in 19 of 20 cases of the exam */
	VERDICT_BOUND,
	VERDICT_ABSENT,
	VERDICT_INCONCLUSIVE,
	VERDICT_UNSUPPORTED,
	VERDICT_FAILED
};
const char *verdict_name(enum verdict v); /* "MEASURED" ... */
int verdict_parse(const char *name, enum verdict *v);

enum value_kind { VALUE_NONE, VALUE_NUMBER, VALUE_TEXT, VALUE_ARRAY };
#define VALUE_ARRAY_MAX 32

struct value {
	enum value_kind kind;
	double number;
	char text[64];
	double array[VALUE_ARRAY_MAX];
	unsigned array_count;
};

#define FINDING_EVIDENCE 6

/* What gates and other probes look at besides a finding's numbers. Who concludes it says it; nothing is read from sentences. Not stored:
 * each conclusion says it anew. */
enum finding_note {
	NOTE_UNEVEN = 2,   /* sets: lines that conflict are not evenly spaced */
	NOTE_MIXTURE = 16, /* throughput: of several instructions that a compiler makes of one operation in turn */
	NOTE_LENT = 32,	   /* size, ways: of what shared memory has left */
};

/* What came second of a key, if one posterior of all shapes of a level concluded it. Its ring is the one that parted
 * the second most from the best. */
struct finding_rival {
	char shape
	    [96]; /* "4 sets of 8 lines of 64 bytes"; "" = the key was concluded otherwise, or nothing came second */
	double value; /* of the key */
	double nats;  /* by which it is less probable, in logs */
	/* The ring: point `point` of the probe's series `experiment`, `addresses` of them in steps of `step` over
	 * `bytes`. Of its `visits` timed accesses `misses` took `floor` ticks or more. So many have to miss at least:
	 * by the best, and by the second. */
	char experiment[32];
	unsigned point, addresses;
	double bytes, step, floor, visits, misses, best_least, least;
};

struct finding {
	char key[96];
	enum verdict verdict;
	struct value value; /* MEASURED, LIKELY, BOUND */
	/* BOUND: the known end; the open one is -INFINITY / INFINITY. NaN when it makes no sense. Of an array the first value's: each may be
	 * off by as much. */
	double lo, hi;
	char unit[24];	   /* from keys.def */
	char method[160];  /* how: "footprint bisection, misses counted per access" */
	char because[320]; /* what was seen, one sentence; always filled when not MEASURED */
	char scope[16];	   /* what lo..hi covers: "sm", "card", "cards"; "" = does not apply */
	char probe[32];
	char evidence[FINDING_EVIDENCE][64]; /* "experiment" or "experiment:x" of the same probe */
	unsigned evidence_count;
	unsigned notes; /* of enum finding_note, or'ed */
	struct finding_rival rival;
};

/* MEASURED or LIKELY: there is a value, and the whole of its interval. */
bool finding_estimated(const struct finding *f);
/* The same, or BOUND or ABSENT: something was found out. */
bool finding_answered(const struct finding *f);

struct finding_list {
	struct finding *items;
	size_t count, cap;
	size_t sorted; /* so many of the first have ascending keys */
};
void findings_free(struct finding_list *l);
int findings_add(struct finding_list *l, const struct finding *f); /* 0 or -ENOMEM; replaces the same key */
const struct finding *findings_get(const struct finding_list *l, const char *key); /* NULL when none */
void findings_forget(struct finding_list *l, const char *probe);		   /* removes those of the probe */
void findings_sort(struct finding_list *l);					   /* by key */

#endif
