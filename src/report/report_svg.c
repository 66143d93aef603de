/* One figure as a self-contained SVG: its own background, so that it is readable on light and dark pages. */
#include "report/render.h"
#include "report/report_scale.h"
#include <math.h>
#include <string.h>

enum { WIDTH = 840, LEFT = 78, RIGHT = 24, TOP = 58, PLOT_HEIGHT = 330, BOTTOM = 62, LEGEND_ROW = 20, NOTE_ROW = 15 };
#define PLOT_WIDTH (WIDTH - LEFT - RIGHT)
/* Told apart by people who see few colours (after Okabe and Ito), dark enough for white. */
static const char *const colours[FIGURE_MARKS] = {"#0072b2", "#d55e00", "#009e73", "#b0468b",
						  "#8a6d00", "#2f8fc4", "#222222", "#7a5195"};

struct drawing {
	struct str *out;
	const struct figure *f;
	struct scale x, y;
};

static void escaped(struct str *out, const char *text)
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
	str_addf(out, "<text x=\"%.1f\" y=\"%.1f\" %s>", x, y, attributes);
	escaped(out, text);
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

static void axes(struct drawing *d)
{
	char text[100];
	double end = -1e9;
	for (size_t i = 0; i < d->y.ticks; i++) {
		double y = py(d, d->y.tick[i]);
		str_addf(d->out, "<line x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\" class=\"grid\"/>\n", LEFT, y,
			 WIDTH - RIGHT, y);
		scale_text(text, sizeof(text), &d->f->y, d->y.tick[i]);
		label(d->out, LEFT - 8, y + 4, "text-anchor=\"end\"", text);
	}
	for (size_t i = 0; i < d->x.ticks; i++) {
		double x = px(d, d->x.tick[i]);
		str_addf(d->out, "<line x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\" class=\"grid\"/>\n", x, TOP, x,
			 TOP + PLOT_HEIGHT);
		scale_text(text, sizeof(text), &d->f->x, d->x.tick[i]);
		double half = 3.6 * (double)strlen(text);
		if (x - half < end + 6)
			continue;
		end = x + half;
		label(d->out, x, TOP + PLOT_HEIGHT + 18, "text-anchor=\"middle\"", text);
	}
	str_addf(d->out, "<path d=\"M%d %dV%dH%d\" class=\"axis\"/>\n", LEFT, TOP, TOP + PLOT_HEIGHT, WIDTH - RIGHT);
	scale_title(text, sizeof(text), &d->f->x);
	label(d->out, LEFT + PLOT_WIDTH / 2.0, TOP + PLOT_HEIGHT + 42, "text-anchor=\"middle\" class=\"title\"", text);
	scale_title(text, sizeof(text), &d->f->y);
	str_addf(d->out, "<g transform=\"translate(20 %.1f) rotate(-90)\">", TOP + PLOT_HEIGHT / 2.0);
	label(d->out, 0, 0, "text-anchor=\"middle\" class=\"title\"", text);
	str_add(d->out, "</g>\n");
}

static bool plottable(const struct drawing *d, double x, double y)
{
	return isfinite(px(d, x)) && isfinite(py(d, y));
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

static void points(struct drawing *d, const struct figure_marks *m, const char *colour)
{
	str_addf(d->out, "<g fill=\"%s\">\n", colour);
	for (size_t i = 0; i < m->count; i++)
		if (plottable(d, m->x[i], m->y[i]))
			str_addf(d->out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%s\"/>\n", px(d, m->x[i]), py(d, m->y[i]),
				 m->count > 400 ? "1.6" : "2.6");
	str_add(d->out, "</g>\n");
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
			points(d, m, colours[i]);
		else if (m->style == MARK_BAND)
			band(d, m, colours[i]);
		else if (m->style == MARK_BARS)
			bars(d, m, colours[i], set++, sets);
		else
			path(d, m, colours[i]);
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
			label(d->out, LEFT + 6, at - 4, "class=\"halo\"", n->text);
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
		      left ? "class=\"halo\" text-anchor=\"end\"" : "class=\"halo\"", n->text);
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
			key(out, &f->marks[i], colours[i], x, TOP + PLOT_HEIGHT + BOTTOM + LEGEND_ROW * row + 8);
		x += width;
	}
	return f->marks_count ? row + 1 : 0;
}

int report_svg(struct str *out, const struct figure *f, struct err *e)
{
	struct drawing d = {.out = out, .f = f};
	scale_x(&d.x, f, 12);
	scale_y(&d.y, f, 8);
	int rows = legend(NULL, f);
	int height = TOP + PLOT_HEIGHT + BOTTOM + LEGEND_ROW * rows + (*f->caption ? 22 : 0) + 4;
	str_addf(out,
		 "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		 "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" "
		 "role=\"img\" font-family=\"system-ui, 'DejaVu Sans', Verdana, sans-serif\" font-size=\"12\" "
		 "fill=\"#222\">\n"
		 "<title>",
		 WIDTH, height, WIDTH, height);
	escaped(out, f->title);
	str_add(out,
		"</title>\n<style>.grid{stroke:#e3e3e3;stroke-width:1}.axis{fill:none;stroke:#444;stroke-width:1.2}"
		".note{stroke:#777;stroke-width:1;stroke-dasharray:4 3}.title{font-size:13px}"
		".halo{paint-order:stroke;stroke:#fff;stroke-width:3px;stroke-linejoin:round;fill:#333}</style>\n"
		"<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n");
	label(out, LEFT, 30, "font-size=\"16\" font-weight=\"600\"", f->title);
	axes(&d);
	marks(&d);
	notes(&d);
	legend(out, f);
	if (*f->caption)
		label(out, LEFT, height - 12, "fill=\"#555\"", f->caption);
	str_add(out, "</svg>\n");
	return out->failed ? err_nomem(e) : 0;
}
