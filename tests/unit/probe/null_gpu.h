/* A gpu that computes its words from the launch by a small formula, and misbehaves on request. */
#ifndef FATHOM_TEST_NULL_GPU_H
#define FATHOM_TEST_NULL_GPU_H
#include "gpu/gpu.h"
#include <stdatomic.h>

/* A launch answers `words` words: [0] = 1 (claimed), [1] = its second argument, [2] = steps(a third argument), [3...] = 0.
 * The formula: 10 cycles up to 100, 50 cycles above. */
struct null_gpu {
	struct gpu gpu;
	struct device_info info;
	struct native_info native;   /* what every kernel is said to be compiled to */
	unsigned loads, kernels;     /* load calls, kernels in them */
	unsigned expected, soon;     /* kernels that were expected, and those of them that are wanted soon */
	size_t left;		     /* bytes that it says are not compiled so far, where there are long texts */
	uint32_t long_group;	     /* the group that had the last long text */
	bool group_asked;	     /* it was asked about a group */
	unsigned braced[16], braces; /* probes that may hang, each time that it was told */
	unsigned surprises;	     /* kernels that were loaded without having been expected */
	uint64_t texts[64];	     /* hashes of what was expected */
	unsigned runs;
	unsigned lost_from, lost_to; /* runs lost_from .. lost_to - 1 fail with -EIO (1-based) */
	unsigned unpinned;	     /* so many launches of each point find no block on the SM */
	unsigned unpinned_seen;
	uint32_t last_grid;
	const char *refuse_entry;   /* loading a text that contains this fails */
	int refuse_code;	    /* with this error; 0: -EINVAL */
	bool refuses;		    /* every launch */
	int64_t throttle;	    /* what sense says of it, once and then no more */
	bool short_answer;	    /* one word too few comes back */
	const struct run *recorded; /* plays this run */
	char labels[64][256];	    /* of the runs */
	atomic_bool busy;	    /* a run is under way */
	unsigned thoughts;	    /* null_thoughts when it was last asked how it is, which is before a batch */
	atomic_uint meddled;	    /* calls meanwhile */
	unsigned beside;	    /* runs beside which something else went on, of the first few where it runs apart */
};
void null_gpu_init(struct null_gpu *g);
void null_gpu_foresees(struct null_gpu *g);   /* from now on it wants to know what to expect */
void null_gpu_runs_apart(struct null_gpu *g); /* as it foresees, and other threads may wait for its runs */
/* The test's probes count how often they are asked. */
extern atomic_uint null_thoughts;

#endif
