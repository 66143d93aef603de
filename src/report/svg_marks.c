/* The marks of a figure as SVG. */
#include "report/svg_marks.h"
#include "report/report_svg.h"
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#define SPAN_HEIGHT_MOST 12.0
#define CROWDED		 200
#define UNSEEN		 0.7 /* pixels */

double svg_x(const struct svg_field *d, double x)
{
	return d->left + d->width * scale_at(&d->x, x);
}

double svg_y(const struct svg_field *d, double y)
{
	return d->top + d->height * (1 - scale_at(&d->y, y));
}

static bool plottable(const struct svg_field *d, double x, double y)
{
	return isfinite(svg_x(d, x)) && isfinite(svg_y(d, y));
}

/* The place of a path's pen, in tenths of a pixel. Paths are written in steps from there: half of the text that places
 * would be. */
struct pen {
	struct str *out;
	long x, y;
	char last; /* command that the next numbers may do without; 0: none */
};

static void tenths(struct pen *p, long v, bool first)
{
	const long whole = labs(v) / 10, part = labs(v) % 10;
	str_add(p->out, v < 0 ? "-" : first ? "" : " ");
	if (whole || !part)
		str_addf(p->out, "%ld", whole);
	if (part)
		str_addf(p->out, ".%ld", part);
}

static void pen_command(struct pen *p, char command, long dx, long dy)
{
	if (p->last != command)
		str_addc(p->out, command);
	if (command != 'v')
		tenths(p, dx, p->last != command);
	if (command != 'h')
		tenths(p, dy, command == 'v' && p->last != command);
	p->last = command == 'm' ? 'l' : command; /* pairs that follow a move are lines */
	p->x += dx;
	p->y += dy;
}

static void pen_move(struct pen *p, double x, double y)
{
	p->last = 0;
	pen_command(p, 'm', lround(10 * x) - p->x, lround(10 * y) - p->y);
}

static void pen_line(struct pen *p, double x, double y)
{
	pen_command(p, 'l', lround(10 * x) - p->x, lround(10 * y) - p->y);
}

static void pen_across(struct pen *p, double x)
{
	pen_command(p, 'h', lround(10 * x) - p->x, 0);
}

/* A rectangle; the pen is at its corner (x, y) afterwards. */
static void pen_box(struct pen *p, double x, double y, double width, double height)
{
	pen_move(p, x, y);
	str_addc(p->out, 'h');
	tenths(p, lround(10 * width), true);
	str_addc(p->out, 'v');
	tenths(p, lround(10 * height), true);
	str_addc(p->out, 'h');
	tenths(p, -lround(10 * width), true);
	str_addc(p->out, 'z');
	p->last = 0;
}

/* As high, as far as one can see. */
static bool level(const struct svg_field *d, const struct figure_marks *m, size_t i, size_t k)
{
	return fabs(svg_y(d, m->y[i]) - svg_y(d, m->y[k])) < 0.05;
}

static void path(const struct svg_field *d, const struct figure_marks *m, const char *colour)
{
	struct pen p = {.out = d->out};
	double x = NAN, y = NAN; /* where the last point was */
	bool open = false;
	str_addf(d->out, "<path class=\"line\" stroke=\"%s\" d=\"", colour);
	for (size_t i = 0; i < m->count; i++) {
		if (!plottable(d, m->x[i], m->y[i])) {
			open = false; /* a gap, not a line across it */
			continue;
		}
		if (open && i + 1 < m->count && level(d, m, i - 1, i) && level(d, m, i, i + 1))
			continue; /* it lies on the line from the one before to the next */
		if (m->count > CROWDED && open && i + 1 < m->count && fabs(svg_x(d, m->x[i]) - x) < UNSEEN &&
		    fabs(svg_y(d, m->y[i]) - y) < UNSEEN)
			continue;
		x = svg_x(d, m->x[i]);
		y = svg_y(d, m->y[i]);
		if (open && m->style == MARK_STEPS)
			pen_across(&p, x);
		if (open)
			pen_line(&p, x, y);
		else
			pen_move(&p, x, y);
		open = true;
	}
	str_add(d->out, "\"/>\n");
}

static void band(const struct svg_field *d, const struct figure_marks *m, const char *colour)
{
	struct pen p = {.out = d->out};
	bool open = false;
	str_addf(d->out, "<path fill=\"%s\" fill-opacity=\"0.18\" d=\"", colour);
	for (size_t i = 0; i < 2 * m->count; i++) { /* there along y, and back along y2 */
		const size_t k = i < m->count ? i : 2 * m->count - 1 - i;
		if (!plottable(d, m->x[k], m->y[k]) || !plottable(d, m->x[k], m->y2[k]))
			continue;
		(open ? pen_line : pen_move)(&p, svg_x(d, m->x[k]), svg_y(d, i < m->count ? m->y[k] : m->y2[k]));
		open = true;
	}
	str_addf(d->out, "%s\"/>\n", open ? "z" : "");
}

/* Dots are strokes without length and with round ends: a tenth of the text of circles. One that lies on the last one is not seen. */
static void points(const struct svg_field *d, const struct figure_marks *m, const char *colour)
{
	struct pen p = {.out = d->out};
	double x = NAN, y = NAN;
	str_addf(d->out, "<path class=\"%s\" stroke=\"%s\" d=\"", m->count > 400 ? "dots many" : "dots", colour);
	for (size_t i = 0; i < m->count; i++) {
		if (!plottable(d, m->x[i], m->y[i]) ||
		    (fabs(svg_x(d, m->x[i]) - x) < UNSEEN && fabs(svg_y(d, m->y[i]) - y) < UNSEEN))
			continue;
		x = svg_x(d, m->x[i]);
		y = svg_y(d, m->y[i]);
		pen_move(&p, x, y);
		str_add(d->out, "h0");
	}
	str_add(d->out, "\"/>\n");
}

/* `which` of `sets` sets of bars stand beside each other. */
static void bars(const struct svg_field *d, const struct figure_marks *m, const char *colour, unsigned which,
		 unsigned sets)
{
	struct pen p = {.out = d->out};
	double room = d->width;
	for (size_t i = 1; i < m->count; i++) {
		double gap = fabs(svg_x(d, m->x[i]) - svg_x(d, m->x[i - 1]));
		if (gap > 0 && gap < room)
			room = gap;
	}
	if (m->count < 2)
		room = d->width / 4;
	double width = fmax(1, 0.8 * room / sets);
	str_addf(d->out, "<path fill=\"%s\" d=\"", colour);
	for (size_t i = 0; i < m->count; i++) {
		if (!plottable(d, m->x[i], m->y[i]))
			continue;
		double top = svg_y(d, m->y[i]), base = d->top + d->height;
		pen_box(&p, svg_x(d, m->x[i]) + width * (which - sets / 2.0), fmin(top, base), width, fabs(base - top));
	}
	str_add(d->out, "\"/>\n");
}

/* Bars along x, on integer heights. */
static void spans(const struct svg_field *d, const struct figure_marks *m, const char *colour)
{
	struct pen p = {.out = d->out};
	const double row = fabs(svg_y(d, 1) - svg_y(d, 0)),
		     height = fmin(SPAN_HEIGHT_MOST, isfinite(row) && row > 1 ? 0.8 * row : 2);
	str_addf(d->out, "<path fill=\"%s\" d=\"", colour);
	for (size_t i = 0; i < m->count; i++)
		if (plottable(d, m->x[i], m->y[i]) && plottable(d, m->y2[i], m->y[i]))
			pen_box(&p, svg_x(d, m->x[i]), svg_y(d, m->y[i]) - height / 2,
				fmax(svg_x(d, m->y2[i]) - svg_x(d, m->x[i]), 1), height);
	str_add(d->out, "\"/>\n");
}

double svg_opacity(unsigned shade)
{
	return 0.06 + 0.94 * shade / (SVG_SHADES - 1);
}

/* The edge of a cell, which may lie where the axis ends. */
static double edge(const struct scale *s, double v, double by)
{
	const double at = scale_at(s, s->log2 ? v * exp2(by) : v + by);
	return fmin(fmax(isfinite(at) ? at : by < 0 ? 0 : 1, 0), 1);
}

/* Is the next cell right beside this one, in a shade of at least `least` and at most `most`? */
static bool goes_on(const struct svg_field *d, const struct figure_marks *m, const struct scale_shades *s, size_t i,
		    double wide, unsigned least, unsigned most)
{
	if (i + 1 >= m->count || m->y[i + 1] != m->y[i] || !isfinite(m->y2[i + 1]))
		return false;
	const double step = d->x.log2 ? log2(m->x[i + 1]) - log2(m->x[i]) : m->x[i + 1] - m->x[i];
	const unsigned shade = scale_shade(s, m->y2[i + 1], SVG_SHADES);
	return step > 0 && step < 2.5 * wide && shade >= least && shade <= most;
}

/* One path a shade; neighbours of one shade in a row are one stroke, and the lightest one lies under all others. */
static void cells(const struct svg_field *d, const struct figure_marks *m, const char *colour)
{
	const double wide = scale_half_cell(m, false, d->x.log2), high = scale_half_cell(m, true, d->y.log2);
	struct scale_shades s;
	scale_shades(&s, d->f);
	for (unsigned k = s.lo < s.hi ? 0 : SVG_SHADES - 1; m->count && k < SVG_SHADES; k++) {
		const unsigned most = k ? k : SVG_SHADES;
		const double top = edge(&d->y, m->y[0], high), low = edge(&d->y, m->y[0], -high);
		size_t begun = SIZE_MAX;
		struct pen p = {.out = d->out};
		str_addf(d->out, "<path stroke=\"%s\" stroke-opacity=\"%.2f\" stroke-width=\"%.1f\" d=\"", colour,
			 svg_opacity(k), d->height * fabs(top - low));
		for (size_t i = 0; i < m->count; i++) {
			const unsigned shade = scale_shade(&s, m->y2[i], SVG_SHADES);
			if (!isfinite(m->y2[i]) || shade < k || shade > most || !plottable(d, m->x[i], m->y[i]))
				continue;
			begun = begun == SIZE_MAX ? i : begun;
			if (goes_on(d, m, &s, i, wide, k, most))
				continue;
			pen_move(&p, d->left + d->width * edge(&d->x, m->x[begun], -wide), svg_y(d, m->y[i]));
			pen_across(&p, d->left + d->width * edge(&d->x, m->x[i], wide));
			begun = SIZE_MAX;
		}
		str_add(d->out, "\"/>\n");
	}
}

/* Sets of bars in the figure, and how many of them come before this one. */
static unsigned sets_of_bars(const struct figure *f, unsigned before)
{
	unsigned n = 0;
	for (unsigned i = 0; i < before; i++)
		n += f->marks[i].style == MARK_BARS;
	return n;
}

void svg_mark(const struct svg_field *d, unsigned i)
{
	const struct figure_marks *m = &d->f->marks[i];
	const char *colour = report_svg_colours[i];
	switch (m->style) {
	case MARK_POINTS:
		points(d, m, colour);
		break;
	case MARK_BAND:
		band(d, m, colour);
		break;
	case MARK_BARS:
		bars(d, m, colour, sets_of_bars(d->f, i), sets_of_bars(d->f, d->f->marks_count));
		break;
	case MARK_SPANS:
		spans(d, m, colour);
		break;
	case MARK_CELLS:
		cells(d, m, colour);
		break;
	default:
		path(d, m, colour);
	}
}
