/* Arguments of `fathom sim`. */
#ifndef FATHOM_SIM_ARGS_H
#define FATHOM_SIM_ARGS_H
#include "cmd/cmd.h"
#include "data/launch.h"
#include "gpu/sim/sim.h"

/* Every --arg into the launch; contents of buffers live in c's arena. CMD_OK, or an exit code with c->error set. */
int sim_args(struct cmd_context *c, struct gpu *g, const struct func_program *p, struct launch *l);

#endif
