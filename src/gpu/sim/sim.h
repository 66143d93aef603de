/* The simulated GPU as a backend, and what `fathom sim` and the benchmarks want beyond the seam. */
#ifndef FATHOM_SIM_H
#define FATHOM_SIM_H
#include "gpu/gpu.h"
#include "gpu/sim/spec.h"
#include "gpu/sim/time/time.h"

/* Takes ownership of nothing: the spec must outlive the gpu. gpu_sim.open does this after spec_open. */
int sim_open_spec(struct gpu **out, const struct sim_spec *s, uint64_t seed, struct err *e);
void sim_describe(struct device_info *d, const struct sim_spec *s, const char *name);

/* What the modelled GPU cannot do is refused when the kernel is loaded, as a driver would: -EINVAL and a sentence. target: the module's. */
int sim_check_features(const struct sim_spec *s, const char *name, const struct func_program *p, const char *target,
		       struct err *e);

/* *p with its times, in the order that the modelled device's compiler gives it, if the description says one. All is in
 * a. Returns 0, or -ENOMEM with *p as it was. */
int sim_compile(const struct sim_spec *s, struct func_program **p, struct time_program **out, struct arena *a);

/* How many native instructions the modelled hardware executes for record pc: arithmetic of its address, then branches beside it, then its own. */
struct sim_steps {
	uint32_t address, beside, own;
};
struct sim_steps sim_steps(const struct sim_spec *s, const struct func_program *f, const struct time_program *t,
			   uint32_t pc);

/* g must be a simulated GPU. */
void sim_trace(struct gpu *g, const struct time_hook *hook); /* NULL = none; called for every issue of later launches */
/* Looks at what later launches do wrong: sim_check.h. say is called once a place. 0 or -ENOMEM. */
int sim_watch_faults(struct gpu *g, void (*say)(void *to, const char *sentence), void *to);
/* How many accesses were wrong, at how many places. */
void sim_faults(const struct gpu *g, uint32_t *accesses, uint32_t *places);
/* Counts later launches into s, whose records are the caller's, as many as the kernel has. NULL: no more. */
void sim_stats(struct gpu *g, struct time_stats *s);
/* Later launches end after so many cycles or instructions of warps, 0: only with the kernel. What they have computed by then is in the sample. */
void sim_limit(struct gpu *g, uint64_t cycles, uint64_t instructions);
void sim_untimed(struct gpu *g, bool on); /* later launches take no time and are computed faster */
void sim_watch(struct gpu *g,
	       const struct func_watch *w); /* looks at later launches, and may end them as a limit does; NULL: none */
/* Buffer n of the latest launch as that left it, `bytes` long; NULL: there is none. */
const uint8_t *sim_buffer(const struct gpu *g, uint32_t n, uint64_t *bytes);
void sim_general(struct gpu *g, bool on); /* never take the solo path */
/* Host threads that a launch may use, instead of what FATHOM_THREADS or the number of processors says. The same results. */
void sim_threads(struct gpu *g, uint32_t threads);
void sim_apart(struct gpu *g, bool on); /* clusters never ask the far side at once */
const struct sim_spec *sim_described(const struct gpu *g);
const struct time_result *sim_result(const struct gpu *g); /* of the latest launch */
/* Parameter n < LAUNCH_ARGS of later launches, as many bytes as it has, instead of the launch's own argument, which can have 8 at most. NULL: none.
 * The bytes are the caller's. */
void sim_argument(struct gpu *g, uint32_t n, const uint8_t *bytes);
const struct func_print *sim_printed(const struct gpu *g);	    /* by vprintf, in the latest launch */
const struct func_program *sim_program(struct gpu *g, uint32_t id); /* NULL: no such kernel, or out of memory */

#endif
