/* What the files of the probe `workloads` share: a program with its inputs and the answers that it has to give. */
#ifndef FATHOM_WORKLOADS_H
#define FATHOM_WORKLOADS_H
#include "base/arena.h"
#include "probe/probe.h"

enum { WORKLOAD_INPUTS = 4, WORKLOAD_SCALARS = 2, WORKLOAD_PARAMS = 5 };

struct workload_input {
	const void *data;
	uint64_t bytes;
};
/* One launch. Everything lives in the arena that it was made in. */
struct workload_problem {
	uint32_t grid[2], block[2];
	struct {
		const char *name;
		long long value;
	} param[WORKLOAD_PARAMS];
	unsigned param_count;
	struct workload_input input[WORKLOAD_INPUTS]; /* buffers behind the output */
	unsigned input_count;
	struct launch_arg scalar[WORKLOAD_SCALARS]; /* behind the buffers */
	unsigned scalar_count;
	uint64_t out_words;
	uint32_t words;	       /* first ones of the output that are compared */
	const uint32_t *whole; /* what they have to be, exactly, or NULL */
	const double *real;    /* or single precision numbers near these */
	double work;	       /* in operations of its kind */
};

struct workload {
	const char *name;	   /* workload.NAME.rate */
	const char *template_path; /* of its kernel */
	const char *entry;
	const char *unit_of_work; /* "floating-point operations" */
	/* -ENOMEM, or -ENOTSUP where the device cannot have such a launch. */
	int (*prepare)(struct workload_problem *out, struct arena *a, const struct device_info *d);
};
extern const struct workload workload_table[];
extern const unsigned workload_count;

/* Each with inputs from a fixed seed and sizes that follow from the number of SMs. */
int workload_saxpy(struct workload_problem *out, struct arena *a, const struct device_info *d);
int workload_spmv(struct workload_problem *out, struct arena *a, const struct device_info *d);
int workload_spmv_cached(struct workload_problem *out, struct arena *a, const struct device_info *d);
int workload_scan(struct workload_problem *out, struct arena *a, const struct device_info *d);
int workload_reduce(struct workload_problem *out, struct arena *a, const struct device_info *d);
int workload_sort(struct workload_problem *out, struct arena *a, const struct device_info *d);
int workload_nbody_plain(struct workload_problem *out, struct arena *a, const struct device_info *d);
int workload_nbody(struct workload_problem *out, struct arena *a, const struct device_info *d);
int workload_nbody_small(struct workload_problem *out, struct arena *a, const struct device_info *d);
int workload_nbody_split(struct workload_problem *out, struct arena *a, const struct device_info *d);
int workload_sgemm(struct workload_problem *out, struct arena *a, const struct device_info *d);
int workload_fft(struct workload_problem *out, struct arena *a, const struct device_info *d);

/* For those: what is added to a problem. */
void workload_param(struct workload_problem *w, const char *name, long long value);
void workload_input(struct workload_problem *w, const void *data, uint64_t bytes);
void workload_u32(struct workload_problem *w, uint32_t v);
/* n multiples of 1/8 between -1 and 1, as inputs whose sums are exact in any order; NULL without memory. */
float *workload_numbers(struct arena *a, uint64_t n, uint64_t seed);

#endif
