/* Streams of instructions of two operations, and what one group of them takes. Inside this folder. */
#ifndef FATHOM_PIPES_STREAM_H
#define FATHOM_PIPES_STREAM_H
#include "pipes.h"

enum {
	STREAM_SHORT = 24, /* instructions of the shorter stream, at least */
	STREAM_LONG = 96,  /* the same where few of them do not give a steady time */
	STREAM_APART =
	    384, /* no length: what comes after STREAM_LONG is a stream whose warps do not wait for each other */
	FULLER_LOADS = 4 /* the loads with which such a stream is tried */
};

struct stream {
	bool ok, steady;
	bool loose; /* its warps begin or end one after the other */
	const struct point *bad;
	double cycles; /* of the SM, for one group of one warp */
	double native; /* instructions of one group */
};

/* Warps under a load of the two. */
unsigned stream_warps(const struct device_info *d, unsigned a, unsigned b, unsigned load);
/* Whether a compiler packs what the stream has into fewer instructions, as it will under the loads that follow, which have no fewer chains. */
bool stream_is_packed(unsigned a, unsigned b, const struct stream *m);
/* Names streams that later passes may ask for. They are of some load of so many chains, of all loads, or of warps that
 * do not wait for each other under one load. A group has `steps` native instructions. */
void stream_expect(struct study *s, unsigned a, unsigned n_a, unsigned b, unsigned n_b, unsigned steps, unsigned chains,
		   unsigned instructions);
void stream_expect_all(struct study *s, unsigned a, unsigned n_a, unsigned b, unsigned n_b, unsigned steps);
void stream_expect_apart(struct study *s, unsigned a, unsigned n_a, unsigned b, unsigned n_b, unsigned steps,
			 unsigned load);
/* A stream of so many instructions at least, whose warps begin together; its repeats have to agree, or it is not ok. Without a point
 * and 0 cycles: not measured yet. */
struct stream stream_together(struct study *s, unsigned a, unsigned n_a, unsigned b, unsigned n_b, unsigned steps,
			      unsigned load, unsigned instructions);
/* The same, and a longer one where a short one's repeats differ or its warps do not begin and end together. STREAM_APART: one whose warps
 * do not wait for each other. */
struct stream stream_of(struct study *s, unsigned a, unsigned n_a, unsigned b, unsigned n_b, unsigned steps,
			unsigned load, unsigned least);

#endif
