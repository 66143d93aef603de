/* Which probe comes next, and what its kernels will be. If the device compiles in the background, it knows the kernels
 * of every probe that could come next beforehand. Probes with much text begin first: while it is compiled, the others
 * are measured. Internal to this room. */
#ifndef FATHOM_ORDER_H
#define FATHOM_ORDER_H
#include "base/set.h"
#include "probe/batch.h"
#include "probe/engine.h"
#include "probe/study.h"

struct order_probe {
	enum { ORDER_WAITS, ORDER_BEGUN, ORDER_ENDED } state;
	bool seen;    /* its first wishes were looked at */
	bool awaited; /* others need it, or are helped by it */
	size_t bytes; /* of text that its first pass brings */
	bool hangs;   /* one of its launches may never end */
};

/* Texts that were not expected before, of one probe, or of several (then `probe` is NULL). */
struct order_texts {
	struct arena arena;
	struct kernel_source *src;
	size_t count, cap;
	struct order_probe *probe;
};

struct order {
	struct run *run;
	struct gpu *gpu;
	struct kernel_cache *kernels;
	const struct engine_plan *plan;
	struct order_probe *probes;
	struct order_texts untold;    /* foreseen, and not told to the device so far */
	struct hash_set calls, texts; /* templates with their parameters that were expanded; texts that were expected */
	size_t ended;
	bool unbraced; /* one whose launches may hang has ended, and the device was not told */
};

/* Probes that r has measured are ended already. 0 or -ENOMEM. */
int order_open(struct order *o, struct run *r, struct gpu *g, struct kernel_cache *kernels,
	       const struct engine_plan *plan);
void order_close(struct order *o);
/* The index in the plan of the probe to begin now, needs first. It is plan->count when all have begun, or wait for one
 * that has not ended. With `eager` it is only a probe that should begin although others could go on. That is one with
 * much text, which has to be compiled before it costs the device any time. */
size_t order_next(struct order *o, bool eager);
void order_begin(struct order *o, size_t index);
void order_end(struct order *o, size_t index);
/* Remembers the kernels of what the last pass of s takes for likely, and order_tell tells the device of them. Nothing that fails here is missed but for
 * the time it costs. */
void order_foresee(struct order *o, const struct study *s);
void order_tell(struct order *o);

#endif
