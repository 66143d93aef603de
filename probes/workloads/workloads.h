/* What the files of the probe `workloads` share: a program with its inputs and the answers that it has to give. */
#ifndef FATHOM_WORKLOADS_H
#define FATHOM_WORKLOADS_H
#include "base/arena.h"
#include "probe/probe.h"

enum { BODIES_SMALL = 1024, FFT_POINTS = 256 }; /* sizes that do not follow from the device */
enum { WORKLOAD_TIME_WORDS = 2, WORKLOAD_INPUTS = 4, WORKLOAD_SCALARS = 2, WORKLOAD_PARAMS = 5 };

struct workload_input {
	const void *data;
	uint64_t bytes;
};
/* One launch. Everything lives in the arena that it was made in. */
struct workload_problem {
	uint32_t size; /* asked for, where one is: bodies, rows, points of a transform; 0: as fits the device */
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
	/* -ENOMEM, or -ENOTSUP where the device cannot have such a launch. Of *out only the size is read. */
	int (*prepare)(struct workload_problem *out, struct arena *a, const struct device_info *d);
};
extern const struct workload workload_table[];
extern const unsigned workload_count;

/* One of the table, its inputs somewhat further on by `where`, of that size or, 0, as fits the device. 0 or negative. */
int workload_setup(const struct study *s, uint32_t which, uint32_t where, uint32_t size, struct job *j);
bool workload_ran(const struct point *pt, const struct workload_problem *w);
/* Every launch's answers. False: `why` says which is wrong. */
bool workload_right(const struct workload_problem *w, const struct point *pt, char *why, size_t n);

/* ---- sizes.c: rates against sizes ---- */
/* x: the size; p[0]: which of the table. */
int workload_sizes_setup(const struct study *s, double x, const double *p, struct job *j);
/* Asks for the points of the experiment: large sizes only for a paper's figures, and none that a workload has by itself. */
void workload_sizes_study(struct study *s, unsigned experiment);
/* run: the experiment of the workloads themselves. */
int workload_sizes_draw(const struct study *s, unsigned run, unsigned sizes, struct figure_list *out);

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
