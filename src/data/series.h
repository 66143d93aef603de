/* What was measured. Immutable once stored. */
#ifndef FATHOM_SERIES_H
#define FATHOM_SERIES_H
#include "data/device.h"
#include "data/launch.h"
#include "data/native_record.h"
#include <stddef.h>
#include <stdint.h>

#define POINT_PARAMS 8

/* One point: its coordinates, and the raw words of every repeat. Inference does all arithmetic. */
struct point {
	double x;		/* on the experiment's axis */
	double p[POINT_PARAMS]; /* the experiment's other coordinates, in the order of its param names */
	enum outcome outcome;
	uint32_t repeats, words_per_repeat;
	const uint32_t *y; /* repeats * words_per_repeat raw words, NULL when not OK */
	double elapsed_ms;
	uint32_t native; /* index into series.native; UINT32_MAX when unknown */
	char message[256];
};

struct series {
	const char *probe, *experiment;
	const char *axis, *unit;	  /* of x */
	const char *params[POINT_PARAMS]; /* names of p[], NULL past the last */
	struct point *points;
	size_t count, cap;
	struct native_info *native; /* one per distinct kernel of the series */
	size_t native_count, native_cap;
	uint64_t seed;
	struct condition before, after; /* after.throttle: all reasons that were seen since before */
};

/* The point's launch.label, by which a recording finds it again: "constant.chase x=4096 stride=16". Equal coordinates
 * give equal labels and different ones different labels (too long ones end in a hash). n >= 64. Returns out. */
char *series_label(char *out, size_t n, const struct series *s, double x, const double *p);

/* Why the point has no values: NULL stands for one that could not be had. */
const char *point_why(const struct point *pt);

#endif
