/* fathom sim --trace: what the engine says about each instruction, as lines for people or as Chrome trace events. */
#ifndef FATHOM_SIM_TRACE_H
#define FATHOM_SIM_TRACE_H
#include "cmd/cmd.h"
#include "gpu/sim/sim.h"

struct trace_writer;
/* Lives in c's arena. path: NULL prints to c->out; a name that ends in .json makes Chrome trace events. CMD_OK, CMD_FILE or CMD_DEVICE. */
int trace_open(struct trace_writer **out, struct cmd_context *c, const char *path, const char *text,
	       const struct func_program *p, const char *gpu_name, struct time_hook *hook);
/* Writes what is left; t may be NULL. CMD_OK, or why it could not be written. */
int trace_close(struct trace_writer *t);

#endif
