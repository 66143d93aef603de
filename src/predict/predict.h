/* The run time that the two-pipeline model expects of a kernel, from a run file's findings alone (Lemeire 2016, IV).
 *
 * Each warp of one SM is followed through the kernel, lane by lane. Values are known, such as constants, thread and
 * block numbers and arguments, or not known, such as whatever is loaded. Its instructions enter one of two pipelines,
 * that of computations or that of memory. They do so after the issue latency of the one before, when what they depend
 * on has completed. Latencies, rates and sizes are findings: what is missing is named, never made up.
 *
 * All three times come from the same walk. The first has the values of the findings. The second has the ends of
 * findings that make it fast, and what the data decide goes the short way. The third has the slow ends and the long
 * way. */
#ifndef FATHOM_PREDICT_H
#define FATHOM_PREDICT_H
#include "base/arena.h"
#include "base/err.h"
#include "data/device.h"
#include "data/finding.h"
#include "ptx/ptx.h"

/* How far off the model itself may be, besides what findings and data leave open: so many times. At least the 95th percentile over the kernels of
 * tests/silicon that are seen while tuning, on an H200; tests/silicon/silicon_predict.py says it. */
#define PREDICT_FACTOR 1.41

struct predict_arg {
	bool buffer;
	uint64_t bits;	/* of a number */
	uint64_t bytes; /* of a buffer */
};

struct predict_request {
	const struct ptx_module *module;
	const struct ptx_func *entry;
	uint32_t grid[3], block[3];
	uint32_t shared_bytes;		/* dynamic shared memory */
	const struct predict_arg *args; /* entry->param_count of them */
	double turns;			/* of loops that data decide; 0: not told */
	bool compiled; /* a compiler stands between the text and the device, as it does for every real one */
	bool warm;     /* the launch before was the same: what fits the L2 is there, and the code */
};

enum predict_bound { BOUND_ISSUE, BOUND_LATENCY, BOUND_BANDWIDTH, BOUND_LAUNCH };
extern const char *const predict_bound_names[];

/* A finding that was used, or one that is not there. */
struct predict_term {
	char key[96];
	char unit[24];
	bool missing;
	bool open; /* missing, and nothing stands in for it: what it would cost counts as nothing */
	double value, lo, hi;
	char effect[160]; /* missing, or only bounded: what the prediction does without it */
	struct predict_term *next;
};

struct predict_class { /* instructions of one kind */
	char name[32];
	char key[64];	       /* stem of its findings */
	double count;	       /* of warp instructions, of one block */
	double issue, latency; /* cycles */
	struct predict_class *next;
};

enum { PREDICT_L1, PREDICT_L2, PREDICT_MEMORY, PREDICT_SHARED, PREDICT_CONSTANT, PREDICT_LEVELS };
extern const char *const predict_level_names[];

struct predict_note {
	char text[200];
	struct predict_note *next;
};

struct predict_result {
	double seconds, lo,
	    hi;	       /* hi INFINITY: data decide how long a loop runs, or nothing tells what a launch costs */
	double launch; /* of the seconds, what the launch of an empty kernel takes */
	double kernel, kernel_lo,
	    kernel_hi; /* seconds without it: from the first block's begin to the last one's end */
	double cycles, clock_hz;
	enum predict_bound bound;
	char bound_what[96]; /* the unit or level that is busy, or what is waited for */
	/* seconds that each of these alone would take */
	double issue, latency, bandwidth;
	uint32_t warps_per_block, blocks_per_sm, warps_per_sm, registers;
	char occupancy_limit[64];
	double blocks_of_sm; /* blocks that the busiest SM runs in all */
	struct predict_class *classes;
	double bytes[PREDICT_LEVELS], requests[PREDICT_LEVELS]; /* of the whole launch; requests: warp instructions */
	struct predict_term *terms;
	struct predict_note *notes; /* what cannot be known */
	double steps;		    /* warp instructions that were followed */
};

/* Everything of *r lives in arena a. Returns 0, or:
 *
 *   -ENOTSUP  the kernel holds something that is not followed (calls, indexed branches)
 *   -E2BIG    it runs longer than is followed
 *   -ENODATA  findings without which there is no time at all
 *   -EINVAL   a launch that no GPU takes
 *   -ENOMEM   memory ran out */
int predict(struct predict_result *r, struct arena *a, const struct predict_request *q, const struct finding_list *f,
	    const struct device_info *d, struct err *e);

#endif
