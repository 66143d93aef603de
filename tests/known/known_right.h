/* Whether a finding is right, laid beside what a description tells. */
#ifndef FATHOM_KNOWN_RIGHT_H
#define FATHOM_KNOWN_RIGHT_H
#include "known.h"

struct fact { /* a truth that outlives its telling */
	char key[96], text[64];
	bool absent;
	double number, tolerance;
	double *array; /* count values, ascending */
	uint32_t count;
};

int known_ascending(const void *a, const void *b); /* numbers, for qsort */
/* Whether the finding says nothing that the truth contradicts. */
bool known_right(const struct finding *f, const struct fact *t, const struct sim_spec *s);
/* Findings whose truth is no single line of what a description tells; false: the key is not one of them. */
bool known_composed(const struct sim_spec *s, const struct finding *f, bool *right);

#endif
