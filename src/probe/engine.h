/* Runs probes: plan (order by needs), measure (asks -> launches -> points), infer (no device), gates over all findings. */
#ifndef FATHOM_ENGINE_H
#define FATHOM_ENGINE_H
#include "data/run.h"
#include "gpu/gpu.h"
#include "probe/probe.h"

/* A probe that is being measured. Several may be under way: where kernels are compiled in the background, one that waits for them lets others go on. */
struct engine_at {
	const struct probe *probe;
	unsigned index, total; /* it began as the how-manieth, from 0, of how many */
	size_t points_done;    /* in this run */
	size_t points_wished;  /* done and wished for so far; a study may wish for more when these are there */
	double seconds;	       /* that it took so far */
};
struct engine_events { /* all optional; ctx is handed back */
	void *ctx;
	void (*probe_begin)(void *ctx, const struct engine_at *at);
	/* After every point. */
	void (*progress)(void *ctx, const struct engine_at *at);
	/* After commit. */
	void (*probe_end)(void *ctx, const struct engine_at *at, const struct probe_record *r);
	/* After each probe: store it. Negative stops the run. */
	int (*commit)(void *ctx, struct run *r, const char *probe, struct err *e);
	bool (*stop)(void *ctx); /* Ctrl-C or the time limit: finish the point in hand, keep what was measured */
};
struct engine_plan {
	const struct probe **probes; /* sorted by needs; includes needed ones */
	size_t count;
	bool quick;	  /* points of thorough experiments are left out */
	bool for_figures; /* of a paper: points are asked for that no finding hangs on. The caller sets it */
};
/* names: NULL or count 0 = all. Unknown name or a cycle: -EINVAL. plan->probes: mem_free. */
int engine_plan(struct engine_plan *plan, const char *const *names, size_t count, struct err *e);
/* The quick probes and what they need, without what only helps them; `quick` is set. Errors and memory as above. */
int engine_plan_quick(struct engine_plan *plan, struct err *e);
/* Measures into r; probes already PROBE_DONE in r are skipped (resume). Returns 0, -EINTR when stopped, -ENODEV when
 * the device is gone, or another negative. The findings in r have passed the gates when this returns one of the first
 * three. Those that commit saw have not: store them again. Run r must be of the same device as g, or new. A replayed
 * run's seed is taken over. */
int engine_measure(struct run *r, struct gpu *g, const struct engine_plan *plan, const struct engine_events *ev,
		   struct err *e);
/* Replaces r->findings by what the stored series say now, then applies the gates. */
int engine_infer(struct run *r, struct err *e);
/* As engine_infer without the gates: what a run that goes on starts from. */
int engine_conclude(struct run *r, struct err *e);
/* Figures of all probes. */
int engine_draw(struct run *r, struct figure_list *out, struct err *e);
/* How often each address of the ring missed that parted a finding's value from the second. One figure of this name, or
 * none if nothing came second. Returns 0 or -ENOMEM. */
#define ENGINE_PARTED "parted"
int engine_draw_parted(struct run *r, const struct finding *f, struct figure_list *out);

#endif
