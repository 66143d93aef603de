/* What pages take from the SVG renderer. */
#ifndef FATHOM_REPORT_SVG_H
#define FATHOM_REPORT_SVG_H
#include "base/str.h"
#include "data/figure.h"

extern const char *const report_svg_colours[FIGURE_MARKS];
/* Appends text of unknown origin so that it stays text in XML and HTML, also between double quotes. */
void report_escaped(struct str *out, const char *text);
/* The figure as an svg element of a page, whose style sheet says how its classes look; without title and origin. */
void report_svg_inline(struct str *out, const struct figure *f);

#endif
