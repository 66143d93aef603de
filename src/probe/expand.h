/* Texts of kernels from their templates, many at a time. Internal to this room. */
#ifndef FATHOM_EXPAND_H
#define FATHOM_EXPAND_H
#include "base/str.h"
#include "probe/probe.h"

/* A template with its parameters, and what it expands to. */
struct expansion_wish {
	const char *template_path;
	const struct kernel_param *param;
	unsigned param_count;
	char entry[sizeof(((struct launch *)0)->entry)];
	uint64_t call[2]; /* expand_call's */
	/* From here on it is filled by expand_one and expand_all. */
	struct str text;
	uint64_t hash[2]; /* of the text with its entry's name, by two seeds */
	int rc;		  /* 0, -EINVAL, -ENOMEM */
};

/* Hashes of the template's name with its parameters: equal ones expand to the same text. */
void expand_call(const struct job *j, uint64_t hash[2]);
/* param: the job's, or a copy of them that outlives it. */
struct expansion_wish expand_wish(const struct job *j, const struct kernel_param *param, const uint64_t call[2]);
/* Returns w->rc; *e says why it is not 0. The text is the caller's: str_free. */
int expand_one(const struct device_info *d, struct expansion_wish *w, struct err *e);
/* The same of n of them, by as many threads as there are cores for. */
void expand_all(const struct device_info *d, struct expansion_wish *w, size_t n);

#endif
