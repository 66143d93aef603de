/* One figure as a self-contained SVG: its own background, so that it is readable on light and dark pages. */
#include "report/report_svg.h"
#include "report/render.h"
#include "report/report_scale.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { WIDTH = 840, LEFT = 78, RIGHT = 24, TOP = 58, PLOT_HEIGHT = 330, BOTTOM = 62, LEGEND_ROW = 20, NOTE_ROW = 15 };
#define PLOT_WIDTH (WIDTH - LEFT - RIGHT)
/* Told apart by people who see few colours (after Okabe and Ito), dark enough for white. */
const char *const report_svg_colours[FIGURE_MARKS] = {"#0072b2", "#d55e00", "#009e73", "#b0468b",
						      "#8a6d00", "#2f8fc4", "#222222", "#7a5195"};

struct drawing {
	struct str *out;
	const struct figure *f;
	struct scale x, y;
};

void report_escaped(struct str *out, const char *text)
{
	struct str clean;
	str_init(&clean);
	render_clean(&clean, text, false);
	out->failed |= clean.failed;
	for (const char *s = str_text(&clean); *s; s++) {
		if (*s == '<')
			str_add(out, "&lt;");
		else if (*s == '>')
			str_add(out, "&gt;");
		else if (*s == '&')
			str_add(out, "&amp;");
		else if (*s == '"')
			str_add(out, "&quot;");
		else
			str_addc(out, *s);
	}
	str_free(&clean);
}

static void label(struct str *out, double x, double y, const char *attributes, const char *text)
{
	str_addf(out, "<text x=\"%.0f\" y=\"%.0f\"%s>", x, y, attributes);
	report_escaped(out, text);
	str_add(out, "</text>\n");
}

static double px(const struct drawing *d, double x)
{
	return LEFT + PLOT_WIDTH * scale_at(&d->x, x);
}

static double py(const struct drawing *d, double y)
{
	return TOP + PLOT_HEIGHT * (1 - scale_at(&d->y, y));
}

/* Lines of the grid are one path, and texts of an axis one group: pages hold some fifty figures. */
static void axes(struct drawing *d)
{
	char text[100];
	double end = -1e9;
	str_add(d->out, "<path class=\"grid\" d=\"");
	for (size_t i = 0; i < d->y.ticks; i++)
		str_addf(d->out, "M%d %.1fH%d", LEFT, py(d, d->y.tick[i]), WIDTH - RIGHT);
	for (size_t i = 0; i < d->x.ticks; i++)
		str_addf(d->out, "M%.1f %dV%d", px(d, d->x.tick[i]), TOP, TOP + PLOT_HEIGHT);
	str_add(d->out, "\"/>\n<g text-anchor=\"end\">\n");
	for (size_t i = 0; i < d->y.ticks; i++) {
		scale_text(text, sizeof(text), &d->f->y, d->y.tick[i]);
		label(d->out, LEFT - 8, py(d, d->y.tick[i]) + 4, "", text);
	}
	str_add(d->out, "</g>\n<g text-anchor=\"middle\">\n");
	for (size_t i = 0; i < d->x.ticks; i++) {
		const double x = px(d, d->x.tick[i]);
		scale_text(text, sizeof(text), &d->f->x, d->x.tick[i]);
		const double half = 3.6 * (double)strlen(text);
		if (x - half < end + 6)
			continue;
		end = x + half;
		label(d->out, x, TOP + PLOT_HEIGHT + 18, "", text);
	}
	scale_title(text, sizeof(text), &d->f->x);
	label(d->out, LEFT + PLOT_WIDTH / 2.0, TOP + PLOT_HEIGHT + 42, " class=\"title\"", text);
	scale_title(text, sizeof(text), &d->f->y);
	str_addf(d->out, "<g transform=\"translate(20 %.1f) rotate(-90)\">", TOP + PLOT_HEIGHT / 2.0);
	label(d->out, 0, 0, " class=\"title\"", text);
	str_addf(d->out, "</g></g>\n<path d=\"M%d %dV%dH%d\" class=\"axis\"/>\n", LEFT, TOP, TOP + PLOT_HEIGHT,
		 WIDTH - RIGHT);
}

static bool plottable(const struct drawing *d, double x, double y)
{
	return isfinite(px(d, x)) && isfinite(py(d, y));
}

/* As high, as far as one can see. */
static bool level(const struct drawing *d, const struct figure_marks *m, size_t i, size_t k)
{
	return fabs(py(d, m->y[i]) - py(d, m->y[k])) < 0.05;
}

static void path(struct drawing *d, const struct figure_marks *m, const char *colour)
{
	bool open = false;
	str_addf(d->out, "<path fill=\"none\" stroke=\"%s\" stroke-width=\"1.8\" stroke-linejoin=\"round\" d=\"",
		 colour);
	for (size_t i = 0; i < m->count; i++) {
		if (!plottable(d, m->x[i], m->y[i])) {
			open = false; /* a gap, not a line across it */
			continue;
		}
		if (open && i + 1 < m->count && level(d, m, i - 1, i) && level(d, m, i, i + 1))
			continue; /* it lies on the line from the one before to the next */
		if (open && m->style == MARK_STEPS)
			str_addf(d->out, "H%.1f", px(d, m->x[i]));
		str_addf(d->out, "%c%.1f %.1f", open ? 'L' : 'M', px(d, m->x[i]), py(d, m->y[i]));
		open = true;
	}
	str_add(d->out, "\"/>\n");
}

static void band(struct drawing *d, const struct figure_marks *m, const char *colour)
{
	char next = 'M';
	str_addf(d->out, "<path fill=\"%s\" fill-opacity=\"0.18\" stroke=\"none\" d=\"", colour);
	for (size_t i = 0; i < m->count; i++)
		if (plottable(d, m->x[i], m->y[i]) && plottable(d, m->x[i], m->y2[i])) {
			str_addf(d->out, "%c%.1f %.1f", next, px(d, m->x[i]), py(d, m->y[i]));
			next = 'L';
		}
	for (size_t i = m->count; i-- > 0;)
		if (plottable(d, m->x[i], m->y[i]) && plottable(d, m->x[i], m->y2[i]))
			str_addf(d->out, "L%.1f %.1f", px(d, m->x[i]), py(d, m->y2[i]));
	str_addf(d->out, "%s\"/>\n", next == 'L' ? "Z" : "");
}

/* Dots are strokes without length and with round ends: a tenth of the text of circles. */
static void points(struct drawing *d, const struct figure_marks *m, const char *colour)
{
	str_addf(d->out, "<path stroke=\"%s\" stroke-width=\"%s\" stroke-linecap=\"round\" d=\"", colour,
		 m->count > 400 ? "3.2" : "5.2");
	for (size_t i = 0; i < m->count; i++)
		if (plottable(d, m->x[i], m->y[i]))
			str_addf(d->out, "M%.1f %.1fh0", px(d, m->x[i]), py(d, m->y[i]));
	str_add(d->out, "\"/>\n");
}

/* `which` of `sets` sets of bars stand beside each other. */
static void bars(struct drawing *d, const struct figure_marks *m, const char *colour, unsigned which, unsigned sets)
{
	double room = PLOT_WIDTH;
	for (size_t i = 1; i < m->count; i++) {
		double gap = fabs(px(d, m->x[i]) - px(d, m->x[i - 1]));
		if (gap > 0 && gap < room)
			room = gap;
	}
	if (m->count < 2)
		room = PLOT_WIDTH / 4.0;
	double width = fmax(1, 0.8 * room / sets);
	str_addf(d->out, "<g fill=\"%s\">\n", colour);
	for (size_t i = 0; i < m->count; i++) {
		if (!plottable(d, m->x[i], m->y[i]))
			continue;
		double top = py(d, m->y[i]), base = TOP + PLOT_HEIGHT;
		str_addf(d->out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>\n",
			 px(d, m->x[i]) + width * (which - sets / 2.0), fmin(top, base), width, fabs(base - top));
	}
	str_add(d->out, "</g>\n");
}

static void marks(struct drawing *d)
{
	unsigned sets = 0, set = 0;
	for (unsigned i = 0; i < d->f->marks_count; i++)
		sets += d->f->marks[i].style == MARK_BARS;
	for (unsigned i = 0; i < d->f->marks_count; i++) {
		const struct figure_marks *m = &d->f->marks[i];
		if (m->style == MARK_POINTS)
			points(d, m, report_svg_colours[i]);
		else if (m->style == MARK_BAND)
			band(d, m, report_svg_colours[i]);
		else if (m->style == MARK_BARS)
			bars(d, m, report_svg_colours[i], set++, sets);
		else
			path(d, m, report_svg_colours[i]);
	}
}

/* Texts of vertical notes stand in rows under the top edge; one that would lie on another goes a row lower. */
static void notes(struct drawing *d)
{
	double from[FIGURE_NOTES], to[FIGURE_NOTES];
	int row[FIGURE_NOTES];
	for (unsigned i = 0; i < d->f->notes_count; i++) {
		const struct figure_note *n = &d->f->notes[i];
		double at = n->vertical ? px(d, n->at) : py(d, n->at);
		double width = 7.0 * (double)render_width(n->text) + 8;
		from[i] = to[i] = 0;
		row[i] = -1;
		if (!isfinite(at))
			continue;
		if (!n->vertical) {
			str_addf(d->out, "<line x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\" class=\"note\"/>\n", LEFT,
				 at, WIDTH - RIGHT, at);
			label(d->out, LEFT + 6, at - 4, " class=\"halo\"", n->text);
			continue;
		}
		bool left = at + width > WIDTH - RIGHT;
		from[i] = left ? at - width : at;
		to[i] = left ? at : at + width;
		row[i] = 0;
		for (unsigned k = 0; k < i; k++)
			if (row[k] == row[i] && from[k] < to[i] && from[i] < to[k]) {
				row[i]++;
				k = (unsigned)-1; /* look again at all in the new row */
			}
		str_addf(d->out, "<line x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\" class=\"note\"/>\n", at, TOP, at,
			 TOP + PLOT_HEIGHT);
		label(d->out, left ? at - 5 : at + 5, TOP + 13 + NOTE_ROW * row[i],
		      left ? " class=\"halo\" text-anchor=\"end\"" : " class=\"halo\"", n->text);
	}
}

static void key(struct str *out, const struct figure_marks *m, const char *colour, double x, double y)
{
	if (m->style == MARK_POINTS)
		str_addf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3.2\" fill=\"%s\"/>\n", x + 11, y - 4, colour);
	else if (m->style == MARK_BAND || m->style == MARK_BARS)
		str_addf(out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"22\" height=\"11\" fill=\"%s\"%s/>\n", x, y - 9.5,
			 colour, m->style == MARK_BAND ? " fill-opacity=\"0.25\"" : "");
	else
		str_addf(out, "<path d=\"M%.1f %.1fh22\" stroke=\"%s\" stroke-width=\"2\"/>\n", x, y - 4, colour);
	label(out, x + 28, y, "", m->label);
}

/* Places the legend's entries; draws them when out is given. Number of rows. */
static int legend(struct str *out, const struct figure *f)
{
	double x = LEFT;
	int row = 0;
	for (unsigned i = 0; i < f->marks_count; i++) {
		double width = 28 + 7.0 * (double)render_width(f->marks[i].label) + 22;
		if (x > LEFT && x + width > WIDTH - RIGHT) {
			x = LEFT;
			row++;
		}
		if (out)
			key(out, &f->marks[i], report_svg_colours[i], x,
			    TOP + PLOT_HEIGHT + BOTTOM + LEGEND_ROW * row + 8);
		x += width;
	}
	return f->marks_count ? row + 1 : 0;
}

/* In a file of its own it brings its looks along; in a page it takes those of the page, light or dark. */
static const char looks[] =
    "<style>.grid{stroke:#e3e3e3;stroke-width:1}.axis{fill:none;stroke:#444;stroke-width:1.2}"
    ".note{stroke:#777;stroke-width:1;stroke-dasharray:4 3}.title{font-size:13px}.small{fill:#555;font-size:11px}"
    ".halo{paint-order:stroke;stroke:#fff;stroke-width:3px;stroke-linejoin:round;fill:#333}</style>\n"
    "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n";

static void draw(struct str *out, const struct figure *f, bool alone)
{
	struct drawing d = {.out = out, .f = f};
	scale_x(&d.x, f, 12);
	scale_y(&d.y, f, 8);
	int rows = legend(NULL, f);
	int lines = (*f->caption ? 1 : 0) + (alone && (*f->origin || *f->paper) ? 1 : 0);
	int height = TOP + PLOT_HEIGHT + BOTTOM + LEGEND_ROW * rows + 18 * lines + 8;
	if (alone)
		str_add(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
	const int top = alone ? 0 : TOP - 20; /* in a page the title stands above it */
	str_addf(out, "<svg %swidth=\"%d\" height=\"%d\" viewBox=\"0 %d %d %d\" role=\"img\" ",
		 alone ? "xmlns=\"http://www.w3.org/2000/svg\" " : "class=\"plot\" ", WIDTH, height - top, top, WIDTH,
		 height - top);
	if (alone)
		str_add(out,
			"font-family=\"system-ui, 'DejaVu Sans', Verdana, sans-serif\" font-size=\"12\" fill=\"#222\"");
	else {
		str_add(out, "aria-label=\"");
		report_escaped(out, f->title);
		str_addc(out, '"');
	}
	str_add(out, ">\n");
	if (alone) {
		str_add(out, "<title>");
		report_escaped(out, f->title);
		str_addf(out, "</title>\n%s", looks);
		label(out, LEFT, 30, " font-size=\"16\" font-weight=\"600\"", f->title);
	}
	axes(&d);
	marks(&d);
	notes(&d);
	legend(out, f);
	if (*f->caption)
		label(out, LEFT, height - 12 - 18 * (lines - 1), " class=\"small\"", f->caption);
	if (lines > (*f->caption ? 1 : 0)) {
		char text[320];
		snprintf(text, sizeof(text), "%s%s%s%s", f->origin, *f->origin && *f->paper ? "; " : "",
			 *f->paper ? "after " : "", f->paper);
		label(out, LEFT, height - 12, " class=\"small\"", text);
	}
	str_add(out, "</svg>\n");
}

int report_svg(struct str *out, const struct figure *f, struct err *e)
{
	draw(out, f, true);
	return out->failed ? err_nomem(e) : 0;
}

void report_svg_inline(struct str *out, const struct figure *f)
{
	draw(out, f, false);
}
