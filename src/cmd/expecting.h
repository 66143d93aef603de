/* --expect FILE: findings laid beside what somebody expects. */
#ifndef FATHOM_EXPECTING_H
#define FATHOM_EXPECTING_H
#include "cmd/cmd.h"
#include "data/run.h"

/* Says each contradiction on the log, by key, what was expected and what was found. file: a run file, or lines KEY = VALUE (data/expect.h).
 * CMD_OK; CMD_INCOMPLETE where the run contradicts it; CMD_FILE where it can not be read. */
int expecting_ask(struct cmd_context *c, const char *file, const struct run *r);

#endif
