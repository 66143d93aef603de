/* What a question is, and what a question may do. Probes include this, stat and data; never gpu.h.
 *
 * A probe's study is ONE pure function that runs again and again. It asks for points; a point that is not there yet
 * comes back as NULL and is wished for. The study goes on as far as it can without it and returns, so that independent
 * wishes are measured in one batch, compiled together. The engine measures the wishes and calls the study again, until
 * it wishes nothing more. So next-point choice, inference and replay are the same code, and a stored run replays
 * exactly. In infer mode nothing can be measured: a missing point stays NULL and the study concludes without it. */
#ifndef FATHOM_PROBE_H
#define FATHOM_PROBE_H
#include "data/figure.h"
#include "data/finding.h"
#include "data/keys.h"
#include "data/series.h"
#include "kernel/kernel.h"

struct study; /* one probe being pursued on one device; opaque */

/* What to run for one point. Zeroed before setup is called (but check.cls is -1, and a grid or block of 0 means 1). */
struct job {
	const char *template_path; /* "probes/constant/chase.ptx": an embedded file */
	struct kernel_param param[20];
	unsigned param_count;
	struct launch launch; /* launch.label is filled by the engine */
	/* Native check of the named region. It must hold at least `min` instructions of class `cls`, at most `max` (0 =
	 * min). All other classes together may have at most `others` instructions. Otherwise the point's outcome is
	 * INVALID. cls < 0: no check. A backend without native code is not checked, and findings say so. */
	struct native_check {
		int cls;
		unsigned region, min, max, others;
	} check;
	/* The kernel starts with `#include pin`: words[0] counts claims, words[1] is the SM. The engine repeats the launch when
	 * no block landed there. */
	bool pinned;
	struct arena *arena; /* for init bytes and rings; lives until the point is stored */
};
void job_param(struct job *j, const char *name, long long value);
void job_param_text(struct job *j, const char *name, const char *text);
void job_arg_u32(struct job *j, uint32_t v);
void job_arg_buffer(struct job *j, uint32_t buffer, uint64_t offset);
/* Adds the output buffer of `words` u32 words as buffer 0 and first argument. */
void job_output(struct job *j, uint32_t words);
/* Pins to SM `sm`: grid = enough blocks that one lands on every SM, next argument = sm. */
void job_pin(struct job *j, const struct device_info *d, uint32_t sm);
/* Warps of a block whose threads may have so many registers each. As many as a block can hold, at least 1 and at most
 * `most`. */
unsigned job_warps(const struct device_info *d, unsigned registers, unsigned most);
/* Ring over a buffer: order[i] are byte offsets. order is not copied: take it from job->arena. Returns the buffer's index. */
uint32_t job_ring(struct job *j, enum buffer_space space, const char *symbol, uint64_t bytes, const uint64_t *order,
		  uint32_t n, uint8_t word);
/* A one-dimensional texture of 32-bit texels on a buffer as it lies, from its first byte on. Returns the texture's index. */
uint32_t job_texture(struct job *j, uint32_t buffer, uint64_t texels);
/* The texture's handle, a .u64 parameter. */
void job_arg_texture(struct job *j, uint32_t texture);

struct experiment {
	const char *name;
	const char *axis, *unit;	  /* of x */
	const char *params[POINT_PARAMS]; /* names of p[] */
	/* Fills j for the point. 0, or -ENOTSUP when this device cannot (the point then is REFUSED with that reason). */
	int (*setup)(const struct study *s, double x, const double *p, struct job *j);
	bool
	    thorough; /* no plain question hangs on it: a quick run leaves its points out, and the study does without them */
};

struct probe {
	const char *name;
	const char *asks;	  /* one sentence, a question */
	const char *source;	  /* which paper and section, and what differs here */
	const char *how;	  /* how it works, in about three sentences */
	const char *fooled;	  /* what can fool it, and how that is caught */
	const char *figure;	  /* name of the figure that shows it best; NULL when it draws none */
	const char *const *needs; /* names of probes that come first; NULL-terminated, or NULL */
	const char *const
	    *helped; /* by these, which come first as well, but it does without those that a device cannot run */
	bool
	    quick; /* it answers a plain question: the clock, a peak, a bandwidth, or size and latency of a cache. A quick run has only such
		     * probes and those that they need */
	const char *const *claims; /* key globs that it may conclude: "cache.constant.*"; NULL-terminated */
	const struct experiment *experiments;
	unsigned experiment_count;
	void (*study)(struct study *s);
	/* Optional. Adds figures from series and findings. Pure. */
	int (*draw)(const struct study *s, struct figure_list *out);
};

/* ---- for studies ---- */
const struct device_info *study_device(const struct study *s);
struct arena *study_arena(struct study *s); /* scratch, gone after this pass of the study */
uint64_t study_seed(const struct study *s);
/* The point, or NULL: not there yet (wished for), or it can no longer be had. p: POINT_PARAMS values or NULL = zeros.
 * A point whose outcome is not OK is returned too: look at ->outcome. */
const struct point *study_ask(struct study *s, unsigned experiment, double x, const double *p);
/* A point that later passes will probably ask for: where the device can, its kernel is compiled meanwhile. Nothing is measured by it, and a
 * point that nobody asks for in the end costs a little of the background's time. */
void study_expect(struct study *s, unsigned experiment, double x, const double *p);
/* While a pass waits for points and the device compiles in the background, the rest of the pass may go on. What it asks
 * for is only expected. False: it may not. */
bool study_ahead(struct study *s);
/* Whether points are worth while that no finding hangs on: where a paper's figures are drawn, and always where nothing is measured. */
bool study_for_figures(const struct study *s);
/* Some ask of this pass came back NULL and will be measured: return now or ask on, do not conclude. In infer mode always false. */
bool study_pending(const struct study *s);
/* How many asks of this pass came back so. A study of many things in turn compares it with its value when the thing at
 * hand began. What one thing lacks need not hold up the others, and what all lack is compiled and measured together. In
 * infer mode always 0. */
size_t study_missing(const struct study *s);
/* The point's native record, or NULL. pt: may be NULL. */
const struct native_info *study_native(const struct study *s, unsigned experiment, const struct point *pt);
/* Bytes of code that the first instruction cache holds, at least. INFINITY: all. 0: nobody knows. */
double study_code_room(const struct study *s);
/* Whether the point's kernel was read back as what really runs. pt: may be NULL. */
bool study_seen(const struct study *s, unsigned experiment, const struct point *pt);
/* For figures. NULL when nothing was measured. */
const struct series *study_series(const struct study *s, unsigned experiment);
/* A finding of a needed probe or of this one so far: NULL when there is none. */
const struct finding *study_finding(const struct study *s, const char *key);
bool study_number(const struct study *s, const char *key, double *value); /* MEASURED numbers only */
/* Takes what reading the clock costs off the latencies of a figure whose first mark shows the latency under this key. */
void study_take_clock(const struct study *s, struct figure *f, const char *key);
/* Bytes of a level ("cache.global.l2") that one SM uses: of a level with sides its near part, else its size. MEASURED numbers only. */
bool study_level_held(const struct study *s, const char *level, double *bytes);
/* How much faster, at most, the SM's clock was found to be at times (clock.boost), as a share. All that lies beyond the
 * SM takes so much longer then. 0: it was not found. */
double study_swing(const struct study *s);
double study_swing_from(const struct study *s, double *least); /* and how much, at least */
void study_conclude(struct study *s, const struct finding *f);
/* Keeps for later passes what was computed from points and took long. Equal keys have to mean the same computation, and
 * none of its points may have been missing. NULL: it was not kept. */
const void *study_recall(const struct study *s, const char *what, const void *key, size_t key_bytes);
void study_keep(struct study *s, const char *what, const void *key, size_t key_bytes, const void *value, size_t bytes);
/* Shorthands; all concludes of a pass that is still pending are dropped. fmt fills because. */
struct finding study_measured(const char *key, double value, double lo, double hi, const char *method);
void study_measured_number(struct study *s, const char *key, double value, double lo, double hi, const char *scope,
			   const char *method, const char *evidence, const char *fmt, ...)
    __attribute__((format(printf, 9, 10)));
/* The same of n values. */
void study_measured_array(struct study *s, const char *key, const double *v, unsigned n, const char *scope,
			  const char *method, const char *evidence, const char *fmt, ...)
    __attribute__((format(printf, 8, 9)));
/* A best estimate: value and interval as of a measured number, and a reason that says what is not proven. */
void study_likely_number(struct study *s, const char *key, double value, double lo, double hi, const char *scope,
			 const char *method, const char *evidence, const char *fmt, ...)
    __attribute__((format(printf, 9, 10)));
/* What lies somewhere between two ends, as repeats or two methods have it: an estimate; or nothing, if they are too far apart for one. */
void study_between(struct study *s, const char *key, double value, double lo, double hi, const char *scope,
		   const char *method, const char *evidence, const char *fmt, ...)
    __attribute__((format(printf, 9, 10)));
#define STUDY_LIKELY_WIDEST 0.25 /* of a value: doc/exam.md takes no wider estimate for right */
void study_verdict(struct study *s, const char *key, enum verdict v, const char *evidence, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));
void study_bound(struct study *s, const char *key, double lo, double hi, const char *method, const char *evidence,
		 const char *fmt, ...) __attribute__((format(printf, 7, 8)));
/* Of a count: that there are at least so many. With 0, fmt says why nothing is known. */
void study_at_least(struct study *s, const char *key, unsigned least, const char *method, const char *evidence,
		    const char *fmt, ...) __attribute__((format(printf, 6, 7)));
/* Adds notes, of enum finding_note, to what this pass has concluded under the key, if anything. */
void study_note(struct study *s, const char *key, unsigned notes);
/* Says what came second to such a key. */
void study_second(struct study *s, const char *key, const struct finding_rival *rival);
void study_text(struct study *s, const char *key, const char *text, const char *method, const char *evidence,
		const char *fmt, ...) __attribute__((format(printf, 6, 7)));
void study_likely_text(struct study *s, const char *key, const char *text, const char *method, const char *evidence,
		       const char *fmt, ...) __attribute__((format(printf, 6, 7)));

/* The table of probes, generated from the folders of probes/. */
extern const struct probe *const probe_table[];
extern const size_t probe_count;
const struct probe *probe_find(const char *name);

#endif
