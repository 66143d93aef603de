/* Accesses in an order in which each kind of them occurs many times. */
#ifndef FATHOM_SPECTRUM_H
#define FATHOM_SPECTRUM_H
#include "probe/trace.h"

enum { SPECTRUM, WINDOW, L1_COST }; /* experiments */
enum { PAST, NEAR };		    /* loads that skip the L1, or ask it */

#define SHIFT	    6
#define SPACING	    512u /* bytes between places of one page: no two are fetched together */
#define SEGMENTS    12
#define WINDOW_LAPS 3u
#define APART	    1.6 /* cycles between two latencies */

/* A part of the sequence whose accesses all do the same. */
struct segment {
	const char *what;
	uint32_t from, to, step; /* accesses that count: each step-th */
};
struct sequence {
	uint32_t *at, count, segments; /* at: addresses >> SHIFT */
	struct segment segment[SEGMENTS];
};

/* What is read, for a trace; in arena a. 0 or -ENOMEM. */
int spectrum_spec(struct arena *a, const struct sequence *q, struct trace_spec *t);
struct trace_kernel spectrum_kernel(const struct study *s, bool past);
/* The latency in ticks that most of a segment has. NAN: none has. */
double spectrum_latency(const uint32_t *ticks, const struct segment *g);
/* Mean of those that are about as slow: a clock that counts in steps of `grain` tells more by many accesses than by one. */
double spectrum_mean(const uint32_t *ticks, const struct segment *g, double grain);
/* The same of the segment called that. NAN: there is none. */
double spectrum_where(const uint32_t *ticks, const struct sequence *q, const char *what, double grain);
/* Concludes `key`, distinct latencies of n kinds of access: v, cycles, sorted here. series: the experiment that shows them. */
void spectrum_conclude(struct study *s, const char *key, double *v, unsigned n, const char *series);
/* Whether the mean says no more than one step of a coarse clock: all accesses began at the same place between two steps. */
bool spectrum_locked(double mean, double grain);

/* window.c: concludes `key` from laps over all pages of the memory, the ticks of each access of WINDOW_LAPS of them. */
void spectrum_window(struct study *s, const char *key, const uint32_t *ticks, uint32_t pages, uint64_t page);

/* l1_cost.c: what the same loads take with the L1 asked first and without.
 *
 * All TLBs hold fewer than `pages` pages of `page` bytes; 0: nothing is translated. The last TLB holds `middle` pages
 * and those before it do not, or it is 0. A `why` that is not NULL keeps the latencies from being told at all. */
struct l1_cost_ask {
	uint64_t page;
	uint32_t pages, middle;
	bool has_l2;
	const char *why;
};
int l1_cost_setup(const struct study *s, double x, const double *p, struct job *j);
void l1_cost_study(struct study *s, const struct l1_cost_ask *ask);

#endif
