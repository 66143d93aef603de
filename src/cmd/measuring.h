/* Measuring a device into a run file: what `run` and `reproduce` share. */
#ifndef FATHOM_MEASURING_H
#define FATHOM_MEASURING_H
#include "cmd/cmd.h"
#include "cmd/progress.h"
#include "gpu/gpu.h"
#include "probe/engine.h"
#include "store/store.h"

struct measuring {
	struct cmd_context *c;
	struct progress progress;
	struct store *store;
	const char *path; /* of the run file */
	double began;
	double limit;	  /* seconds; INFINITY: none */
	const char *then; /* what to do when an interrupted run is complete, or NULL */
	bool verbose;	  /* --verbose: say where the time went */
	bool interrupted, timed_out;
	bool gone;	  /* the device, in the middle */
	const char *lost; /* the run file that somebody took away; all of the run is in another one */
	char why[256];	  /* it is gone */
};

/* Reads --time-limit and --threads. All return CMD_OK or a code with c->error set. */
int measuring_begin(struct measuring *m, struct cmd_context *c);
/* Opens `device`; NULL: the one of the run that is resumed, or the best there is. Says on the log which it is. */
int measuring_open(struct measuring *m, const char *device, const struct run *resumed, uint64_t seed, struct gpu **gpu);
/* Fills what a new run says of itself. */
void measuring_record(const struct cmd_context *c, struct run *r, const struct device_info *d, uint64_t seed);
/* Creates the run file and writes down what is planned. given NULL: a free name made of the device and the date. */
int measuring_create(struct measuring *m, struct run *r, const struct engine_plan *plan, const char *given);
/* Measures what the plan has and the run lacks; the findings in r and in the file have passed the gates. An interruption is
 * CMD_OK here. */
int measuring_run(struct measuring *m, struct run *r, struct gpu *gpu, const struct engine_plan *plan);
/* How it ended: interrupted, out of time, without its device, or with failed probes. */
int measuring_outcome(struct measuring *m, const struct run *r);

#endif
