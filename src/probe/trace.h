/* A trace: any sequence of accesses, the latency of each one, and what each one loaded. Mei 2014, 3.2. Every path uses the
 * same kernel; a trace may be longer than the memory that its records wait in. */
#ifndef FATHOM_TRACE_H
#define FATHOM_TRACE_H
#include "probe/chase.h"

#define TRACE_HEAD 8  /* output words before the records */
#define TRACE_LEAD 16 /* accesses at the start that bring the code in: sequences begin with so many that do not count */

struct trace_kernel {
	const char *template_path;
	struct chase_load load;
	bool roomy; /* records may take all of a block's shared memory; else no more than a chase takes */
};
/* What one launch accesses. Places are counted in units of 1 << shift bytes from the start of the buffer. */
struct trace_spec {
	uint32_t sm;
	unsigned shift;
	uint64_t bytes;	 /* of the buffer; the constant space has its own */
	uint64_t align;	 /* of the buffer */
	uint32_t places; /* that occur, each once, ascending */
	const uint32_t *place;
	uint32_t count;
	const uint32_t *at; /* the sequence */
	bool far; /* the places are written by a launch before, and caches flushed behind it; not in constant space */
};
/* -ENOTSUP: more than this device has. */
int trace_setup(const struct study *s, struct job *j, const struct trace_kernel *k, const struct trace_spec *t);
/* Whether every access of the point loaded what lies at its place; ticks[count] is filled. why: of false. */
bool trace_read(const struct point *pt, const struct trace_kernel *k, const struct trace_spec *t, uint32_t *ticks,
		char *why, size_t why_bytes);

/* An experiment of laps over a few lines, at one distance or at many, for chase_path.strides: x is the first distance. */
#define STRIDES_PARAM_NAMES                                                                                            \
	{                                                                                                              \
		"step", "rings", "lines", "start", "moved", "twin", "sm", "patient"                                    \
	}
int strides_setup(const struct study *s, double x, const double *p, struct job *j, const struct trace_kernel *k);

/* ---- classes of latency, from what is in the trace itself ---- */
enum trace_class { TRACE_ABOVE, TRACE_HIT, TRACE_MISS, TRACE_UNSURE };
#define TRACE_PEAKS 24
struct trace_classes {
	double above; /* ticks below which a level nearer than the one in question answered */
	double floor; /* ticks from which it missed */
	bool first;   /* nothing nearer answers: what is faster than its usual hit is one of a nearer part */
	double hit, miss;
	double faster; /* ticks up to which a miss takes while the clock is faster */
	double grain, narrow;
	enum trace_class late; /* of what is slower than every class */
	unsigned peaks;
	struct chase_peak peak[TRACE_PEAKS];
	unsigned hits; /* trace_classify_apart: ticks of accesses that hit; 0: hit and floor say it */
	double hit_at[TRACE_PEAKS];
};
/* What is known of the level already; NAN: nothing. */
struct trace_level {
	double grain;
	double above, below; /* ticks that it is slower than the level above, and the next one slower than it */
	double deep;	     /* ticks that it is slower than the nearest one */
	double spread;	     /* ticks from its nearest part to its farthest; 0: one part */
	double
	    swing; /* as a ratio: so much longer may what leaves the SM take while its clock is faster; 0: it never is */
	bool first; /* nothing nearer answers */
	double few; /* so small a share of what does not fit may miss; 0: as usual */
};
struct trace_part {
	const uint32_t *ticks;
	uint32_t count;
};
/* Parts of the trace: `nearest` is the same place again and again. Accesses in `fits` mostly hit the level or one
 * above. Some in `more` are of lines that do not fit. Everything that counts is in `all`. False: no two classes are a
 * hit and a miss. */
bool trace_classify(struct trace_classes *c, const struct trace_level *l, struct trace_part nearest,
		    struct trace_part fits, struct trace_part more, struct trace_part all);
/* The same of lines that are not alike, whatever the level does. They lie in caches or not, and rows of a memory are
 * open or not. What occurs while all lines fit is a hit. What is later than one of those by the ticks of a miss is a
 * miss. What may be both, or neither, says nothing. */
bool trace_classify_apart(struct trace_classes *c, const struct trace_level *l, struct trace_part fits,
			  struct trace_part more, struct trace_part all);
enum trace_class trace_class_of(const struct trace_classes *c, uint32_t ticks);

#endif
