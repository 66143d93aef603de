#include "data/launch.h"
#include "base/arena.h"
#include <errno.h>
#include <string.h>

static const char *const names[] = {
    [OUTCOME_OK] = "OK",	   [OUTCOME_REFUSED] = "REFUSED",
    [OUTCOME_TIMEOUT] = "TIMEOUT", [OUTCOME_DEADLOCK] = "DEADLOCK",
    [OUTCOME_INVALID] = "INVALID", [OUTCOME_CRASH] = "CRASH",
};
#define COUNT (sizeof(names) / sizeof(names[0]))

const char *outcome_name(enum outcome o)
{
	return (size_t)o < COUNT ? names[o] : "?";
}

int outcome_parse(const char *name, enum outcome *o)
{
	for (size_t i = 0; i < COUNT; i++) {
		if (strcmp(name, names[i]) == 0) {
			*o = (enum outcome)i;
			return 0;
		}
	}
	return -EINVAL;
}

void sample_free(struct sample *s)
{
	mem_free(s->words);
	*s = (struct sample){0};
}
