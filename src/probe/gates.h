/* What the gates share: finding by key, what is known of a number, and saying that findings are in conflict. gates.c applies them. */
#ifndef FATHOM_GATES_H
#define FATHOM_GATES_H
#include "data/finding.h"
#include "data/keys.h"

struct gates {
	struct finding_list *list;
	char (*conflict)[320]; /* of each finding; "" = none */
	double *before;	       /* what each said before the gates looked, at least; NAN: nothing */
};

struct finding *gates_find(struct finding_list *l, const char *key); /* NULL: none */
/* Gates look at numbers as the probes gave them; verdicts change when all gates have looked. So no gate hides another
 * one's conflict, and their order does not matter. */
bool gates_number(const struct finding *f, double *value);
/* What is known for sure: the value, or the known end of a bound. -INFINITY and INFINITY say nothing. */
double gates_at_least(const struct finding *f);
double gates_at_most(const struct finding *f);
__attribute__((format(printf, 4, 5))) void gates_fail(struct gates *g, struct finding *const *f, size_t n,
						      const char *fmt, ...);
/* The same of each of n findings of one level, "cache.global.l1." and "ways", that says something. */
void gates_fail_of(struct gates *g, const char *stem, const char *const *what, size_t n, const char *why);

/* gates_ways.c: quantities that two methods find. */
void gates_ways(struct gates *g);
/* gates_told.c: numbers of a level that nobody says is there. By verdicts as the other gates left them. */
void gates_told(struct gates *g);
/* gates_clock.c: cycles by a clock that the device tells and no kernel reads. */
void gates_clock(struct gates *g);

#endif
