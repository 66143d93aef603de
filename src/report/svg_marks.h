/* The marks of a figure as SVG, in a field of it. Internal to this room. */
#ifndef FATHOM_SVG_MARKS_H
#define FATHOM_SVG_MARKS_H
#include "base/str.h"
#include "report/report_scale.h"

/* The place of a plot, or of one of a figure's panels, in pixels from the left and from the top. */
struct svg_field {
	struct str *out;
	const struct figure *f;
	struct scale x, y;
	double left, top, width, height;
};
/* Pixels of a value; NAN outside the axis. */
double svg_x(const struct svg_field *d, double x);
double svg_y(const struct svg_field *d, double y);
/* Draws the marks of this index. */
void svg_mark(const struct svg_field *d, unsigned i);

#define SVG_SHADES 10
double svg_opacity(
    unsigned shade); /* shade < SVG_SHADES; of the colour of the marks, so that it shows on light and dark pages */

#endif
