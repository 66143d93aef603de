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
/* Asks for what SMs draw from a level, and concludes `key`. Returns what was drawn at least, in bytes a cycle, by all
 * SMs in a whole launch, or NAN.
 *
 * known: what one SM draws at least from this level or from nearer ones, or NAN if nobody knows. 0 asks for one SM
 * alone.
 *
 * other: if one SM is asked, what it draws at least from the level behind. Of memory it is what all SMs draw at least
 * from the level before. NAN: nobody knows.
 *
 * footprint: bytes that are read again and again. Memory is read once, and there it is what the level before holds, or
 * 0.
 *
 * latency: cycles that a load takes, about, at most, or 0. */
double bandwidth_stream(struct study *s, const char *key, unsigned level, double known, double other, double footprint,
			double latency);
void bandwidth_shared(struct study *s);
/* Bytes that a block of a stream reads in one round. */
uint64_t bandwidth_piece(const double *p);

/* bandwidth_clocks.c */
/* When the first block of each block's SM began, by the SM's clock. A block that had to wait for another is part of
 * what both took. NULL without blocks or memory. */
const uint32_t *bandwidth_begun(struct arena *scratch, const struct point *pt);
/* SMs that ran blocks. 0 without blocks or memory. */
double bandwidth_sms(struct study *s, const struct point *pt);
/* Cycles of the SM that took longest until its last warp had read all, of blocks whose SMs began at `first`. Warps then
 * store one after the other. That time is left out, as it is longer in a launch whose warps all end at once. NAN
 * without blocks. */
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
