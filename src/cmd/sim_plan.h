/* What `fathom sim` launches: one kernel by the options, or several by a launch file, over one memory. */
#ifndef FATHOM_SIM_PLAN_H
#define FATHOM_SIM_PLAN_H
#include "cmd/cmd.h"
#include "data/launch.h"
#include "gpu/sim/sim.h"

struct sim_plan_buffer {
	const char *name; /* NULL: an argument among the options */
	const char *file; /* its words go there; NULL: they are printed */
	bool out;
	struct launch_buffer content;
};
struct sim_plan_launch {
	const char *entry; /* NULL: the first kernel that can be run */
	uint32_t grid[3], block[3], shared_bytes;
	const char *arg[LAUNCH_ARGS];
	uint32_t arg_count;
	unsigned line; /* of the launch file */
};
struct sim_plan {
	const char *path; /* of the launch file, NULL: options */
	struct sim_plan_buffer buffer[LAUNCH_BUFFERS];
	uint32_t buffer_count;
	struct sim_plan_launch *launch;
	uint32_t launch_count;
};

/* All in c's arena. CMD_OK, or an exit code with c->error set. */
int sim_plan_read(struct cmd_context *c, struct sim_plan *p);
/* c->error's sentence with the place of launch n in its file; rc. */
int sim_plan_place(struct cmd_context *c, const struct sim_plan *p, uint32_t n, int rc);
/* Launch n of the plan, by a kernel whose parameters are f's. After the first launch buffers keep what they hold. */
int sim_plan_launch(struct cmd_context *c, struct gpu *g, struct sim_plan *p, uint32_t n, const struct func_program *f,
		    struct launch *l);

#endif
