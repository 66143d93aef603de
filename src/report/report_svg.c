/* One figure as a self-contained SVG: its own background, so that it is readable on light and dark pages. */
#include "report/report_svg.h"
#include "report/render.h"
#include "report/svg_marks.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LEFT = 78, RIGHT = 24, TOP = 58, BOTTOM = 62, LEGEND_ROW = 20, NOTE_ROW = 15 };
/* In a page two figures stand beside each other, and text of 12 pixels has to stay legible there. */
enum { WIDTH = 840, WIDTH_INLINE = 600, PLOT_HEIGHT_INLINE = 280 };
enum { PLOT_HEIGHT = 330, ROW_HEIGHT = 15, PANEL_HEIGHT = 150, PANEL_COLUMNS = 3, PANEL_GAP = 30, SHADE_STEP = 16 };
/* Told apart by people who see few colours (after Okabe and Ito), dark enough for white. */
const char *const report_svg_colours[FIGURE_MARKS] = {"#0072b2", "#d55e00", "#009e73", "#b0468b",
						      "#8a6d00", "#2f8fc4", "#222222", "#7a5195"};

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

/* The letter at which a text that is too long for `width` is broken: the blank closest to its middle. It is the text's
 * length if it fits or has no blank. */
static size_t broken_at(const char *text, double width)
{
	const size_t n = strlen(text);
	size_t at = n;
	if (6.8 * (double)render_width(text) <= width)
		return n;
	for (size_t i = 0; i < n; i++)
		if (text[i] == ' ' && fabs((double)i - (double)n / 2) < fabs((double)at - (double)n / 2))
			at = i;
	return at;
}

/* Of all fields together. */
static void titles(const struct svg_field *all)
{
	char text[100];
	scale_title(text, sizeof(text), &all->f->x);
	label(all->out, all->left + all->width / 2, all->top + all->height + 42, " class=\"title\"", text);
	scale_title(text, sizeof(text), &all->f->y);
	const size_t end = broken_at(text, all->height + 40), n = strlen(text);
	str_addf(all->out, "<g transform=\"translate(20 %.1f) rotate(-90)\">", all->top + all->height / 2);
	if (end < n) {
		text[end] = '\0';
		label(all->out, 0, 8, " class=\"title\"", text + end + 1);
	}
	label(all->out, 0, end < n ? -8 : 0, " class=\"title\"", text);
	str_add(all->out, "</g>");
}

/* Draws a field's axes, with the titles of figure `of`, or none if NULL. Lines of the grid are one path, and texts of
 * an axis one group, as pages hold some fifty figures. */
static void axes(const struct svg_field *d, bool left, bool bottom, const struct svg_field *of)
{
	char text[100];
	const double low = d->top + d->height, right = d->left + d->width;
	double end = -1e9;
	str_add(d->out, "<path class=\"grid\" d=\"");
	for (size_t i = 0; i < d->y.ticks; i++)
		str_addf(d->out, "M%.0f %.1fH%.0f", d->left, svg_y(d, d->y.tick[i]), right);
	for (size_t i = 0; i < d->x.ticks; i++)
		str_addf(d->out, "M%.1f %.0fV%.0f", svg_x(d, d->x.tick[i]), d->top, low);
	str_add(d->out, "\"/>\n<g text-anchor=\"end\">\n");
	for (size_t i = 0; left && i < d->y.ticks; i++) {
		scale_text_y(text, sizeof(text), d->f, d->y.tick[i]);
		label(d->out, d->left - 8, svg_y(d, d->y.tick[i]) + 4, "", text);
	}
	str_add(d->out, "</g>\n<g text-anchor=\"middle\">\n");
	for (size_t i = 0; bottom && i < d->x.ticks; i++) {
		const double x = svg_x(d, d->x.tick[i]);
		scale_text(text, sizeof(text), &d->f->x, d->x.tick[i]);
		const double half = 3.6 * (double)strlen(text);
		if (x - half < end + 6)
			continue;
		end = x + half;
		label(d->out, x, low + 18, "", text);
	}
	if (of)
		titles(of);
	str_addf(d->out, "</g>\n<path d=\"M%.0f %.0fV%.0fH%.0f\" class=\"axis\"/>\n", d->left, d->top, low, right);
}

struct placed {
	double left, right, base; /* of a note's text, in pixels */
};

/* Of a vertical note: in rows under the top edge; one that would lie on another goes a row lower. */
static void place(const struct svg_field *d, struct placed *p, unsigned i)
{
	const struct figure_note *n = &d->f->notes[i];
	const double at = n->vertical ? svg_x(d, n->at) : svg_y(d, n->at), width = 7.0 * (double)render_width(n->text);
	const bool left = n->vertical && at + width + 8 > d->left + d->width;
	const double from = !n->vertical ? d->left + 6 : left ? at - 5 - width : at + 5;
	p[i] = (struct placed){from, from + width, n->vertical ? d->top + 13 : at - 4};
	for (unsigned k = 0; n->vertical && k < d->f->notes_count; k++)
		if ((k < i || !d->f->notes[k].vertical) && p[k].left < p[i].right && p[i].left < p[k].right &&
		    fabs(p[k].base - p[i].base) < NOTE_ROW - 1) {
			p[i].base += NOTE_ROW;
			k = (unsigned)-1; /* look again at all in the new row */
		}
}

/* Lines first: none goes through a text. */
static void notes(const struct svg_field *d)
{
	struct placed p[FIGURE_NOTES];
	for (int vertical = 0; vertical < 2; vertical++)
		for (unsigned i = 0; i < d->f->notes_count; i++) {
			const struct figure_note *n = &d->f->notes[i];
			const double at = n->vertical ? svg_x(d, n->at) : svg_y(d, n->at);
			if (n->vertical != vertical)
				continue;
			p[i] = (struct placed){NAN, NAN, NAN};
			if (!isfinite(at))
				continue;
			place(d, p, i);
			if (n->vertical)
				str_addf(d->out, "<path d=\"M%.1f %.0fv%.0f\" class=\"note\"/>\n", at, d->top,
					 d->height);
			else
				str_addf(d->out, "<path d=\"M%.0f %.1fh%.0f\" class=\"note\"/>\n", d->left, at,
					 d->width);
		}
	for (unsigned i = 0; i < d->f->notes_count; i++)
		if (isfinite(p[i].base)) {
			const bool left = d->f->notes[i].vertical && p[i].left < svg_x(d, d->f->notes[i].at);
			label(d->out, left ? p[i].right : p[i].left, p[i].base,
			      left ? " class=\"halo\" text-anchor=\"end\"" : " class=\"halo\"", d->f->notes[i].text);
		}
}

static void key(struct str *out, const struct figure_marks *m, const char *colour, double x, double y)
{
	if (m->style == MARK_POINTS)
		str_addf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3.2\" fill=\"%s\"/>\n", x + 11, y - 4, colour);
	else if (m->style >= MARK_BAND)
		str_addf(out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"22\" height=\"11\" fill=\"%s\"%s/>\n", x, y - 9.5,
			 colour, m->style == MARK_BAND ? " fill-opacity=\"0.25\"" : "");
	else
		str_addf(out, "<path d=\"M%.1f %.1fh22\" stroke=\"%s\" stroke-width=\"2\"/>\n", x, y - 4, colour);
	label(out, x + 28, y, "", m->label);
}

/* What shades mean, from the least to the most, in one row or two. Draws them when out is given. Number of rows. */
static int shades(struct str *out, const struct figure *f, double right, double y)
{
	char least[64], most[64], text[180];
	struct scale_shades s;
	double x = LEFT;
	scale_shades(&s, f);
	snprintf(least, sizeof(least), "%.3g", s.lo);
	snprintf(most, sizeof(most), "%.3g", s.hi);
	for (unsigned i = s.lo < s.hi ? 0 : SVG_SHADES - 1; i < SVG_SHADES; i++, x += SHADE_STEP)
		if (out)
			str_addf(out, "<path fill=\"%s\" fill-opacity=\"%.2f\" d=\"M%.0f %.0fh%dv12h-%dz\"/>\n",
				 report_svg_colours[0], svg_opacity(i), x, y - 10, SHADE_STEP, SHADE_STEP);
	scale_title(text, sizeof(text), &f->shade);
	const size_t end = strlen(text);
	if (s.lo < s.hi)
		snprintf(text + end, sizeof(text) - end, ", from %s to %s", least, most);
	else
		snprintf(text + end, sizeof(text) - end, ": %s", most);
	const bool two = s.lo < s.hi && x + 8 + 6.6 * (double)render_width(text) > right;
	if (out && two)
		label(out, x + 8, y + LEGEND_ROW, "", text + end + 2);
	if (two)
		text[end] = '\0';
	if (out)
		label(out, x + 8, y, "", text);
	return two ? 2 : 1;
}

/* Places the legend's entries up to `right`; draws them when out is given, from y on. Number of rows. */
static int legend(struct str *out, const struct figure *f, double right, double y)
{
	double x = LEFT;
	int row = 0;
	if (f->panels || !f->marks_count)
		return 0;
	if (*f->shade.label)
		return shades(out, f, right, y);
	for (unsigned i = 0; i < f->marks_count; i++) {
		double width = 28 + 7.0 * (double)render_width(f->marks[i].label) + 22;
		if (x > LEFT && x + width > right) {
			x = LEFT;
			row++;
		}
		if (out)
			key(out, &f->marks[i], report_svg_colours[i], x, y + LEGEND_ROW * row);
		x += width;
	}
	return row + 1;
}

/* The field of the plot, or of all panels of it together. */
static struct svg_field whole(struct str *out, const struct figure *f, bool alone)
{
	struct svg_field d = {.out = out, .f = f, .left = LEFT, .top = TOP};
	d.height = alone ? PLOT_HEIGHT : PLOT_HEIGHT_INLINE;
	if (f->rows)
		d.height = ROW_HEIGHT * fmax(f->rows_count, 8);
	if (f->panels)
		d.height = PANEL_HEIGHT * ceil(f->marks_count / (double)PANEL_COLUMNS);
	scale_x(&d.x, f, f->panels ? (alone ? 5 : 3) : alone ? 12 : 9);
	scale_y(&d.y, f, f->panels ? 5 : 8);
	for (size_t i = 0; i < d.y.ticks; i++) { /* room for the texts of ticks beside the axis' title */
		char text[100];
		scale_text_y(text, sizeof(text), f, d.y.tick[i]);
		d.left = fmax(d.left, 34 + 6.6 * (double)render_width(text));
	}
	d.width = (alone ? WIDTH : WIDTH_INLINE) - RIGHT - d.left;
	return d;
}

static void panels(const struct svg_field *all)
{
	const double wide = (all->width + PANEL_GAP) / PANEL_COLUMNS;
	for (unsigned i = 0; i < all->f->marks_count; i++) {
		struct svg_field d = *all;
		d.left += wide * (i % PANEL_COLUMNS);
		d.top += PANEL_HEIGHT * (i / PANEL_COLUMNS) + 20;
		d.width = wide - PANEL_GAP;
		d.height = PANEL_HEIGHT - 24;
		scale_x_panel(&d.x, all->f, i, all->x.ticks);
		axes(&d, i % PANEL_COLUMNS == 0, true, i ? NULL : all);
		svg_mark(&d, i);
		label(d.out, d.left + 4, d.top - 5, " class=\"title\"", all->f->marks[i].label);
	}
}

static void field(const struct svg_field *d)
{
	axes(d, true, true, d);
	for (unsigned i = 0; i < d->f->marks_count; i++)
		svg_mark(d, i);
	notes(d);
}

/* In a file of its own it brings its looks along; in a page it takes those of the page, light or dark. */
static const char looks[] =
    "<style>.grid{stroke:#e3e3e3;stroke-width:1}.axis{fill:none;stroke:#444;stroke-width:1.2}"
    ".line{fill:none;stroke-width:1.8;stroke-linejoin:round}.dots{stroke-linecap:round;stroke-width:5.2}.many{stroke-"
    "width:3.2}"
    ".note{stroke:#777;stroke-width:1;stroke-dasharray:4 3}.title{font-size:13px}.small{fill:#555;font-size:11px}"
    ".halo{paint-order:stroke;stroke:#fff;stroke-width:6px;stroke-linejoin:round;fill:#333}</style>\n"
    "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n";

static void draw(struct str *out, const struct figure *f, bool alone)
{
	const struct svg_field d = whole(out, f, alone);
	const int wide = alone ? WIDTH : WIDTH_INLINE;
	const int low = TOP + (int)d.height + BOTTOM;
	int rows = legend(NULL, f, wide - RIGHT, 0);
	const bool caption = alone && *f->caption,
		   source = alone && (*f->origin || *f->paper); /* a page has them as text */
	int lines = caption + source;
	int height = low + LEGEND_ROW * rows + 18 * lines + 8;
	if (alone)
		str_add(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
	const int top = alone ? 0 : TOP - 20; /* in a page the title stands above it */
	str_addf(out, "<svg %swidth=\"%d\" height=\"%d\" viewBox=\"0 %d %d %d\" role=\"img\" ",
		 alone ? "xmlns=\"http://www.w3.org/2000/svg\" " : "class=\"plot\" ", wide, height - top, top, wide,
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
	if (f->panels)
		panels(&d);
	else
		field(&d);
	legend(out, f, wide - RIGHT, low + 8);
	if (caption)
		label(out, LEFT, height - 12 - 18 * (lines - 1), " class=\"small\"", f->caption);
	if (source) {
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
