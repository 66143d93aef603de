/* What the files of the probe `bandwidth` share: streams, words that stand alone, the cost of a launch and of a turn. */
#ifndef FATHOM_BANDWIDTH_H
#define FATHOM_BANDWIDTH_H
#include "probe/probe.h"

enum {
	EXPERIMENT_STREAM,
	EXPERIMENT_SHARED,
	EXPERIMENT_TURNS,
	EXPERIMENT_EMPTY,
	EXPERIMENT_SCATTER,
	EXPERIMENT_BLOCKS
};
enum {
	STREAM_BLOCKS,
	STREAM_THREADS,
	STREAM_FOOTPRINT,
	STREAM_LEVEL,
	STREAM_PLACE,
	STREAM_MORE,
	STREAM_TWICE,
	STREAM_BESIDE
};
enum { LEVEL_MEMORY, LEVEL_L2, LEVEL_L1 };
enum { BANDWIDTH_WORDS = 4 }; /* of each block: clock before, clock after, a sum, the SM */

/* The value of a finding or the known end of its bound. */
bool bandwidth_at_least(const struct study *s, const char *key, double *v);
uint64_t bandwidth_power_below(double v);

/* bandwidth_stream.c: x is rounds. */
int bandwidth_stream_setup(const struct study *s, double x, const double *p, struct job *j);
int bandwidth_shared_setup(const struct study *s, double x, const double *p, struct job *j);
/* known: what one SM draws at least from there or from nearer, NAN where nobody knows; 0: it is one SM that is asked, which
 * draws `other` at least from the level behind. Of memory all SMs draw `other` at least from the level before. NAN where nobody knows. footprint:
 * bytes that are read again and again; of memory, which is read once, what the level before it holds, or 0. latency: cycles that a load takes at most, about, or 0. Returns what was
 * drawn at least, bytes a cycle, or NAN; by all SMs in a whole launch. */
double bandwidth_stream(struct study *s, const char *key, unsigned level, double known, double other, double footprint,
			double latency);
void bandwidth_shared(struct study *s);
/* Bytes that a block of a stream reads in one round. */
uint64_t bandwidth_piece(const double *p);

/* bandwidth_clocks.c */
/* When the first block of each block's SM began, by the SM's clock: one that had to wait for another is part of what both took. NULL
 * without blocks or memory. */
const uint32_t *bandwidth_begun(struct arena *scratch, const struct point *pt);
/* SMs that ran blocks. 0 without blocks or memory. */
double bandwidth_sms(struct study *s, const struct point *pt);
/* Cycles of the SM that took longest, of blocks whose SMs began at `first`, until its last warp had read all. What warps store then, one after
 * the other, is not theirs: at the end of a launch in which all come to their end at once it takes longer. NAN without blocks. */
double bandwidth_longest(const struct point *pt, const uint32_t *first);
/* Cycles after which half of all warps had come to their end. NAN without. */
double bandwidth_half_ended(struct study *s, const struct point *pt, const uint32_t *first);
/* Cycles of the SM that took longest. NAN without. */
double bandwidth_cycles(struct arena *scratch, const struct point *pt);

/* bandwidth_scatter.c: x is rounds of four loads; one block on each SM's share of the threads, as a stream has them. */
int bandwidth_scatter_setup(const struct study *s, double x, const double *p, struct job *j);
void bandwidth_scatter(struct study *s);

/* launch_cost.c */
int turns_setup(const struct study *s, double x, const double *p, struct job *j);
int empty_setup(const struct study *s, double x, const double *p, struct job *j);
int blocks_setup(const struct study *s, double x, const double *p, struct job *j);
void launch_study(struct study *s);

#endif
