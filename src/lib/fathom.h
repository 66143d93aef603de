/* libfathom: runs of fathom for other programs. Read a run file, its findings and figures; measure a device; predict a kernel's time.
 *
 * Functions that can fail return 0 or a negative errno and, where `why` is not NULL, put one sentence there. Whatever a pointer leads to belongs to
 * its run and stays as it is until fathom_close. Structs of the library grow at their ends only; those of the caller begin with
 * their size. One run is for one thread at a time; several runs are independent. Symbols have the version LIBFATHOM_0. */
#ifndef FATHOM_H
#define FATHOM_H
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

struct fathom_run;
struct fathom_error {
	char text[512];
};

/* "0.2.0". */
const char *fathom_version(void);

/* ---- a run ---- */

/* Reads a run file. Returns 0, or with *out NULL:
 *
 *   -ENOENT   it is not there
 *   -EINVAL   it is no run
 *   -ENOTSUP  a newer fathom wrote it
 *   -EBADMSG  it is damaged
 *   -EBUSY    a fathom is writing it
 *   -ENOMEM   memory ran out */
int fathom_open(struct fathom_run **out, const char *path, struct fathom_error *why);
void fathom_close(struct fathom_run *run); /* NULL is fine */

struct fathom_device {
	const char *name, *uuid, *driver; /* "NVIDIA H200", "GPU-...", the driver's version */
	const char *spec;		  /* what measured it: "cuda:0", "sim:toy" */
	const char *started;		  /* ISO 8601, UTC */
	uint32_t sm_count;
	double clock_hz; /* nominal; 0: unknown */
	uint64_t memory_bytes;
};
const struct fathom_device *fathom_device(const struct fathom_run *run);

/* ---- findings ---- */

enum fathom_verdict {
	FATHOM_MEASURED,     /* value in [lo, hi]; the data exclude all others */
	FATHOM_LIKELY,	     /* the best estimate, with its interval */
	FATHOM_BOUND,	     /* only lo or only hi is finite */
	FATHOM_ABSENT,	     /* there is no such thing */
	FATHOM_INCONCLUSIVE, /* the data do not decide */
	FATHOM_UNSUPPORTED,  /* this device cannot run the question */
	FATHOM_FAILED	     /* the environment failed */
};
enum fathom_kind { FATHOM_NONE, FATHOM_NUMBER, FATHOM_TEXT, FATHOM_ARRAY };
struct fathom_finding {
	const char *key; /* "cache.global.l2.latency"; `fathom list keys` explains each */
	enum fathom_verdict verdict;
	enum fathom_kind kind; /* of the value; FATHOM_NONE where the verdict has none */
	double number;	       /* FATHOM_NUMBER, in `unit`; else NaN */
	const char *text;      /* FATHOM_TEXT; else "" */
	const double *array;   /* FATHOM_ARRAY: array_count numbers in `unit`; else NULL */
	size_t array_count;
	double lo, hi;			      /* in `unit`; NaN where they make no sense */
	const char *unit;		      /* "cycles", "bytes", "bytes/clk", "count" ... */
	const char *method, *because, *probe; /* how, what was seen, and which probe says it */
};
size_t fathom_finding_count(const struct fathom_run *run);
const struct fathom_finding *fathom_finding(const struct fathom_run *run, size_t i); /* by key; NULL past the last */
const struct fathom_finding *fathom_find(const struct fathom_run *run, const char *key); /* NULL: no such finding */

/* ---- figures ---- */

struct fathom_curve {
	const char *label;
	size_t count;
	const double *x, *y; /* `count` of each, in the units of the axes */
	const double
	    *y2; /* of a band its other edge, of a bar along x its end, of a map what its cells tell; else NULL */
};
struct fathom_axis {
	const char *label, *unit;
	int log2; /* it is read best on a logarithmic axis */
};
struct fathom_figure {
	const char *name, *title, *caption; /* "global-latency" ... */
	struct fathom_axis x, y;
	const struct fathom_curve *curve;
	size_t curve_count;
};
/* Draws them all at the first call. 0 and *count, or -ENOMEM. */
int fathom_figures(struct fathom_run *run, size_t *count, struct fathom_error *why);
const struct fathom_figure *fathom_figure(const struct fathom_run *run,
					  size_t i); /* NULL past the last, and before fathom_figures */

/* ---- measuring ---- */

struct fathom_progress {
	const char *probe;
	unsigned index, total;		   /* the how-manieth probe, from 0, of how many */
	size_t points_done, points_wished; /* of this probe, so far */
};
struct fathom_measuring {
	size_t size;	    /* sizeof(struct fathom_measuring) */
	const char *device; /* as `fathom run -d` takes it; NULL: the best there is */
	const char *probes; /* "clock,global_cache"; NULL: all */
	int quick;	    /* as `fathom run --quick`; then probes has to be NULL */
	const char *path;   /* the run file to write, which must not be there; NULL: none */
	uint64_t seed;	    /* of all random choices */
	/* After every point. Not 0 ends the run, which keeps what was measured. NULL: nobody asks. */
	int (*progress)(void *ctx, const struct fathom_progress *at);
	void *ctx; /* handed back */
};
/* Measures a device and infers. Real devices are driven from a child process, so that a launch that hangs costs a
 * restart at most. Returns 0, or:
 *
 *   -EINTR    the callback ended it, and *out is what was measured
 *   -EINVAL   no such device or probe
 *   -EEXIST   the file is there
 *   -ENODEV   and others: the device or the environment failed
 *
 * *out is NULL but for 0 and -EINTR. */
int fathom_measure(struct fathom_run **out, const struct fathom_measuring *how, struct fathom_error *why);

/* ---- predicting ---- */

struct fathom_argument {
	int is_buffer;
	uint64_t value; /* of a buffer its bytes; of a number its bits, as the parameter's type has them */
};
struct fathom_kernel {
	size_t size;	   /* sizeof(struct fathom_kernel) */
	const char *ptx;   /* text with .version and .target */
	const char *entry; /* NULL: the first */
	uint32_t grid[3], block[3];
	uint32_t shared_bytes; /* dynamic shared memory */
	const struct fathom_argument *arguments;
	size_t argument_count;
	double turns; /* of loops that data decide; 0: not told */
};
struct fathom_prediction {
	size_t size;		/* sizeof(struct fathom_prediction), set by the caller */
	double seconds, lo, hi; /* of the launch; hi is INFINITY where data decide how long a loop runs */
	double cycles;
	char bound[96]; /* what holds it up: "latency: ...", "bandwidth: memory" */
	uint32_t blocks_per_sm, warps_per_sm;
	uint32_t missing; /* findings that the prediction had to do without: with any, the time may be too short */
};
/* From the run's findings alone; nothing is measured. Returns 0, or:
 *
 *   -EINVAL   the text, the arguments or the launch make no sense
 *   -ENOTSUP  it holds what is not followed
 *   -E2BIG    it runs too long to be followed
 *   -ENODATA  findings are missing without which there is no time
 *   -ENOMEM   memory ran out */
int fathom_predict(const struct fathom_run *run, const struct fathom_kernel *kernel, struct fathom_prediction *out,
		   struct fathom_error *why);

#ifdef __cplusplus
}
#endif
#endif
