/* From data to positions on an axis: range, ticks and their texts. Shared by the SVG and the character renderer. */
#ifndef FATHOM_REPORT_SCALE_H
#define FATHOM_REPORT_SCALE_H
#include "data/figure.h"
#include <stdbool.h>
#include <stddef.h>

#define SCALE_TICKS 16
struct scale {
	bool log2;
	double lo, hi; /* of the axis; already rounded to ticks on a linear one. lo < hi */
	double tick[SCALE_TICKS];
	size_t ticks;
};

/* Range of the finite values of all marks (and of notes on this axis); at most max_ticks ticks. */
void scale_x(struct scale *s, const struct figure *f, size_t max_ticks);
void scale_y(struct scale *s, const struct figure *f, size_t max_ticks);
/* Position in 0..1, or NaN when the value has none (not finite, not on the axis). */
double scale_at(const struct scale *s, double v);
/* "2 KB", "1.5", "10^9" free of the unit unless it is bytes. */
void scale_text(char *out, size_t n, const struct figure_axis *a, double v);
/* "footprint (bytes)" */
void scale_title(char *out, size_t n, const struct figure_axis *a);

#endif
