/* From data to positions on an axis: range, ticks and their texts. Shared by the SVG and the character renderer. */
#ifndef FATHOM_REPORT_SCALE_H
#define FATHOM_REPORT_SCALE_H
#include "data/figure.h"
#include <stdbool.h>
#include <stddef.h>

#define SCALE_TICKS FIGURE_ROWS
struct scale {
	bool log2;
	double lo, hi; /* of the axis; already rounded to ticks on a linear one. lo < hi */
	double tick[SCALE_TICKS];
	size_t ticks;
};

/* Range of the finite values of all marks (and of notes on this axis); at most max_ticks ticks. */
void scale_x(struct scale *s, const struct figure *f, size_t max_ticks);
/* Of panel i. The axis of all panels, s, becomes that of this one if its marks would fill only a small part of it. */
void scale_x_panel(struct scale *s, const struct figure *f, unsigned i, size_t max_ticks);
void scale_y(struct scale *s, const struct figure *f, size_t max_ticks);
/* Half of the distance from one cell of a map to the next, along x or y: of logarithms on a logarithmic axis. */
double scale_half_cell(const struct figure_marks *m, bool vertical, bool log2);
/* The range of what the cells of a map tell. */
struct scale_shades {
	double lo, hi;
	bool log2;
};
void scale_shades(struct scale_shades *s, const struct figure *f);
/* One of `of` shades, 0 for the least. */
unsigned scale_shade(const struct scale_shades *s, double v, unsigned of);
/* Position in 0..1, or NaN when the value has none (not finite, not on the axis). */
double scale_at(const struct scale *s, double v);
/* "2 KB", "1.5", "10^9" free of the unit unless it is bytes. */
/* The same for a height of the figure: the name of its row, if rows have names. */
void scale_text_y(char *out, size_t n, const struct figure *f, double v);
void scale_text(char *out, size_t n, const struct figure_axis *a, double v);
/* "footprint (bytes)" */
void scale_title(char *out, size_t n, const struct figure_axis *a);

#endif
