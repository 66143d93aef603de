/* Several devices at once, a process each: what `run -d cuda:all` does. */
#ifndef FATHOM_MANY_H
#define FATHOM_MANY_H
#include "cmd/cmd.h"

struct many {
	const char **device; /* `count` of them, as -d takes each alone */
	size_t count;
};
/* Whether `given` names more devices than one: "cuda:all", or several with commas between, "sim:toy,sim:v100". NULL does not. */
bool many_meant(const char *given);
/* What it names. CMD_OK, or a code and c->error: CMD_USAGE for a backend that is none, CMD_DEVICE where it has no devices. */
int many_list(struct cmd_context *c, const char *given, struct many *all);

/* Measures one device in a process of its own, which ends with what is returned; *path: the run file that was written, if one was. */
typedef int many_measure_fn(void *ctx, const char *device, const char **path);
/* All of them side by side, as many as this process may use threads. A device that fails stops no other; an interruption reaches all, and
 * none is begun after it. Prints a line each. Returns the worst exit code, with c->error when it is not CMD_OK. */
int many_run(struct cmd_context *c, const struct many *all, many_measure_fn *measure, void *ctx);

#endif
