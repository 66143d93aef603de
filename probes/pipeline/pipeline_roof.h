/* One class of instructions at one parallelism, with more and more warps: what is asked, and what of it the ridge is made of. Inside this
 * folder. */
#ifndef FATHOM_PIPELINE_ROOF_H
#define FATHOM_PIPELINE_ROOF_H
#include "pipeline.h"

enum { ROOF_LOADS = 64 };

/* An operation may take less than as it was compiled, but no less than this part of it. Its order may be better, and
 * its registers conflict less. Only the native code tells. Through OpenCL, cosines of one GPU took 1.05 times as long
 * as through CUDA, and multiply-adds among others 1.07 times. */
#define ROOF_COMPILED 0.9
#define CONTENDED     1.03 /* of the time of one warp: what is longer waits for others */

/* One class at one parallelism: the loads that were asked for, in that order. */
struct roof {
	enum pipeline_class class;
	unsigned chains, count, ridge;
	unsigned shorter; /* than usual: so many times shorter loops */
	bool spans;	  /* each block of launches of several reads the clock */
	double outside;	  /* how well the timer tells launches apart of which no thread sees all, ns */
	/* what a link takes, at least, with one chain in as many warps as fill the pipe, ns; 0: not known */
	double full;
	unsigned warps[ROOF_LOADS];
	struct timed time[ROOF_LOADS];
	bool together[ROOF_LOADS]; /* it is of warps that stop with the first one */
	struct timed sharp;	   /* the peak's, of longer launches; not ok: there is only what time says */
	unsigned sharp_at;	   /* which load that is */
	const struct point *bad;
	bool whole;	  /* the last doubling reached all warps that an SM can have */
	bool flat;	  /* more warps gained nothing */
	bool noisy;	  /* a time that is not known well enough */
	bool vague;	  /* the same of one that only the ridge depends on */
	bool slips;	  /* longer launches of some number of warps that fill the pipe do not */
	bool out_of_step; /* the difference of two loops is not that of their links under the loads that were tried */
	bool starves;	  /* warps are preferred to each other */
	bool unseen;	  /* what runs cannot be read back, and could be something better */
	bool end_shows;	  /* of one warp the upper half of the loops' difference says more than all of it */
	bool slower;	  /* longer launches are, of warps that stop together: what these do changes as they go */
	enum pipeline_gaps gaps;
	bool preferred; /* other operations' warps are preferred to each other */
	bool measured;	/* there is something to conclude from */
};

/* Asks for as many numbers of warps as tell the peak and the ridge, in loops as long as the roof says. timer: ns. */
void roof_measure(struct study *s, struct roof *r, double timer);
/* Time for a link of one warp at the peak, as if all were one after the other, in ns. In *at is the load of that. */
double roof_least(const struct roof *r, unsigned *at);
/* Of warps that stop together, a number that seems to do more than the most warps do; 0: none. */
unsigned roof_beyond_peak(const struct roof *r);
/* From and to how many warps the ridge may be, as far as rates may be off. */
void roof_ridge_between(const struct roof *r, unsigned *lo, unsigned *hi);
/* Whether that says how many fill the pipe as well as rates do: to one more or less, or a fifth of them. */
bool roof_is_known(const struct roof *r, unsigned lo, unsigned hi);
/* Whether it does where warps are preferred: to one more or less, or nearly. Else true. */
bool roof_is_told(const struct roof *r, unsigned lo, unsigned hi);
/* Fewest warps of several chains that could reach the ridge if a scheduler's preference loses turns at the pipe. The
 * ridge does not tell which number it is then. The result is 0 if it does, or if schedulers with warps of their own
 * explain the number that it seems to be. A warp that is put off has its chains late, one after the other. */
unsigned roof_lost(const struct roof *r, unsigned lo, unsigned hi);
/* From how many warps on the ridge may be, where turns that a scheduler's preference lost may have hidden one that is hardly less. */
unsigned roof_ridge_from(const struct roof *r, unsigned lo, unsigned hi);
/* Whether some of the ridge's warps, or of fewer, end before others although none is preferred. Two that take turns at
 * a part of the pipe, while others have one each, take as long as a full pipe. */
bool roof_ends_apart(const struct roof *r);

#endif
