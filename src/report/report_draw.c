/* A figure in characters. A canvas of cells; every kind of mark paints its cells, later ones over earlier ones. */
#include "base/arena.h"
#include "report/render.h"
#include "report/report_scale.h"
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS	    16 /* but for figures whose rows have names */
#define COLUMNS_MAX 100
#define COLUMNS_MIN 24

/* What a cell shows: an index into the table of glyphs. */
enum glyph { EMPTY, GRID_V, GRID_H, FILL, BAR, MARK0, SHADE0 = MARK0 + FIGURE_MARKS, SHADES = 5 };
static const char *const glyphs_ascii[] = {" ", ":", "-", ".", "|", "*", "+", "o", "x",
					   "#", "%", "=", "@", ".", ":", "+", "%", "@"};
static const char *const glyphs_unicode[] = {" ", "┊", "┈", "░", "█", "●", "○", "◆", "◇",
					     "■", "□", "▲", "△", "·", "░", "▒", "▓", "█"};
_Static_assert(sizeof glyphs_ascii / sizeof *glyphs_ascii == SHADE0 + SHADES,
	       "a glyph for each set of marks, and shades");
_Static_assert(sizeof glyphs_unicode == sizeof glyphs_ascii, "one glyph a set of marks");

struct canvas {
	struct scale x, y;
	int columns, rows;
	uint8_t cell[FIGURE_ROWS][COLUMNS_MAX];
	char text[FIGURE_ROWS][COLUMNS_MAX]; /* letters over the cells, ASCII, 0 = none */
	bool failed;
};

static int column(const struct canvas *c, double x)
{
	double at = scale_at(&c->x, x);
	return at >= -1e-9 && at <= 1 + 1e-9 ? (int)lround(at * (c->columns - 1)) : -1;
}

/* Row 0 is the top. */
static int row(const struct canvas *c, double y)
{
	double at = scale_at(&c->y, y);
	return at >= -1e-9 && at <= 1 + 1e-9 ? c->rows - 1 - (int)lround(at * (c->rows - 1)) : -1;
}

static void paint(struct canvas *c, int column, int row, unsigned with)
{
	if (column >= 0 && column < c->columns && row >= 0 && row < c->rows)
		c->cell[row][column] = (uint8_t)with;
}

static void paint_column(struct canvas *c, int column, int from, int to, unsigned with)
{
	if (from < 0 || to < 0)
		return;
	for (int r = from < to ? from : to; r <= (from < to ? to : from); r++)
		paint(c, column, r, with);
}

/* From one point to the next: a straight line, or along and then up. */
static void segment(struct canvas *c, int x0, int y0, int x1, int y1, bool steps, unsigned with)
{
	int direction = x1 < x0 ? -1 : 1;
	int last = y0;
	for (int x = x0; x != x1; x += direction) {
		int y = steps ? y0 : (int)lround(y0 + (double)(y1 - y0) * (x - x0) / (x1 - x0));
		paint(c, x, y, with);
		if (abs(y - last) > 1)
			paint_column(c, x, last, y, with);
		last = y;
	}
	if (abs(y1 - last) > 1)
		paint_column(c, x1, last, y1, with);
}

static void paint_marks(struct canvas *c, const struct figure_marks *m, unsigned with)
{
	int px = -1, py = -1;
	for (size_t i = 0; i < m->count; i++) {
		int x = column(c, m->x[i]), y = row(c, m->y[i]);
		if (m->style == MARK_SPANS) {
			for (int k = x, end = column(c, m->y2[i]); k >= 0 && k <= end; k++)
				paint(c, k, y, with);
		} else if (m->style == MARK_BAND) {
			int y2 = m->y2 ? row(c, m->y2[i]) : y;
			paint_column(c, x, y, y2, with);
			for (int k = px + 1; px >= 0 && k < x; k++) /* a band has no holes */
				paint_column(c, k, y, y2, with);
		} else if (m->style == MARK_BARS) {
			paint_column(c, x, y, c->rows - 1, with);
		} else {
			if (m->style != MARK_POINTS && px >= 0 && x >= 0 && y >= 0)
				segment(c, px, py, x, y, m->style == MARK_STEPS, with);
			paint(c, x, y, with);
		}
		px = y < 0 ? -1 : x;
		py = y;
	}
}

/* The edge of a cell along an axis, as a share of it. */
static double edge_of(const struct scale *s, double v, double by)
{
	const double at = scale_at(s, s->log2 ? v * exp2(by) : v + by);
	return isfinite(at) ? fmin(fmax(at, 0), 1) : by < 0 ? 0 : 1;
}

/* A map: what tells most of the cells that fall on one letter wins. */
static void paint_cells(struct canvas *c, const struct figure *f, const struct figure_marks *m, unsigned with)
{
	const double wide = scale_half_cell(m, false, f->x.log2), high = scale_half_cell(m, true, f->y.log2);
	struct scale_shades s;
	scale_shades(&s, f);
	for (size_t i = 0; i < m->count; i++) {
		const double x0 = edge_of(&c->x, m->x[i], -wide), x1 = edge_of(&c->x, m->x[i], wide),
			     y0 = edge_of(&c->y, m->y[i], -high), y1 = edge_of(&c->y, m->y[i], high);
		const unsigned glyph = *f->shade.label ? SHADE0 + scale_shade(&s, m->y2[i], SHADES) : with;
		const int left = (int)(x0 * c->columns), right = (int)ceil(x1 * c->columns),
			  top = (int)((1 - fmax(y0, y1)) * c->rows + 0.5),
			  low = (int)((1 - fmin(y0, y1)) * c->rows + 0.5);
		for (int k = left; k < right || k == left; k++)
			for (int r = top; r < low || r == top; r++)
				if (k < c->columns && r < c->rows && (c->cell[r][k] < SHADE0 || c->cell[r][k] < glyph))
					c->cell[r][k] = (uint8_t)glyph;
	}
}

static void letters(struct canvas *c, int column, int row, const char *text)
{
	struct str clean;
	str_init(&clean);
	render_clean(&clean, text, true);
	c->failed |= clean.failed;
	int n = (int)clean.len;
	if (column + n > c->columns)
		column = c->columns - n;
	for (int i = 0; i < n; i++)
		if (column + i >= 0 && column + i < c->columns)
			c->text[row][column + i] = clean.data[i];
	str_free(&clean);
}

static bool taken(const struct canvas *c, int row, int from, int n)
{
	for (int i = from; i < from + n; i++)
		if (i >= 0 && i < c->columns && c->text[row][i])
			return true;
	return false;
}

/* The first line of a figure is drawn with the first glyph, whatever band lies under it. */
static unsigned glyph(const struct figure *f, unsigned mark)
{
	unsigned n = 0;
	if (f->marks[mark].style == MARK_BAND)
		return FILL;
	if (f->marks[mark].style == MARK_BARS)
		return BAR;
	if (f->marks[mark].style == MARK_CELLS && *f->shade.label)
		return SHADE0 + SHADES - 1;
	for (unsigned i = 0; i < mark; i++)
		n += f->marks[i].style != MARK_BAND && f->marks[i].style != MARK_BARS;
	return MARK0 + n;
}

static void paint_notes(struct canvas *c, const struct figure *f)
{
	for (unsigned i = 0; i < f->notes_count; i++) {
		const struct figure_note *n = &f->notes[i];
		int x = n->vertical ? column(c, n->at) : -1, y = n->vertical ? -1 : row(c, n->at);
		for (int k = 0; k < (n->vertical ? c->rows : c->columns); k++)
			paint(c, n->vertical ? x : k, n->vertical ? k : y, n->vertical ? GRID_V : GRID_H);
	}
}

/* Texts of notes last: vertical ones beside the top of their line, one row lower when there is no room. */
static void paint_note_texts(struct canvas *c, const struct figure *f)
{
	for (unsigned i = 0; i < f->notes_count; i++) {
		const struct figure_note *n = &f->notes[i];
		int len = (int)strlen(n->text);
		if (n->vertical) {
			int x = column(c, n->at) + 1, y = 0;
			if (x > c->columns - len)
				x = c->columns - len;
			while (y < c->rows - 1 && taken(c, y, x - 1, len + 2))
				y++;
			if (column(c, n->at) >= 0)
				letters(c, x, y, n->text);
		} else if (row(c, n->at) >= 0) {
			letters(c, 1, row(c, n->at), n->text);
		}
	}
}

static void pad(struct str *out, int n)
{
	while (n-- > 0)
		str_addc(out, ' ');
}

static void x_axis(struct str *out, const struct canvas *c, const struct figure *f, int margin, bool unicode)
{
	char line[COLUMNS_MAX + 32], text[32];
	char marks[COLUMNS_MAX];
	memset(line, ' ', sizeof(line));
	memset(marks, 0, sizeof(marks));
	int end = 0;
	for (size_t i = 0; i < c->x.ticks; i++) {
		int x = column(c, c->x.tick[i]);
		scale_text(text, sizeof(text), &f->x, c->x.tick[i]);
		int n = (int)strlen(text), at = x - n / 2;
		if (x < 0)
			continue;
		marks[x] = 1;
		if (at + n > c->columns + 4)
			at = c->columns + 4 - n;
		if (margin + at < 0)
			at = -margin;
		if (margin + at < end + (end ? 1 : 0))
			continue;
		memcpy(line + margin + at, text, (size_t)n);
		end = margin + at + n;
	}
	pad(out, margin - 1);
	str_add(out, unicode ? "└" : "+");
	for (int i = 0; i < c->columns; i++)
		str_add(out, unicode ? marks[i] ? "┴" : "─" : marks[i] ? "+" : "-");
	str_addc(out, '\n');
	str_addn(out, line, (size_t)end);
	str_addc(out, '\n');
	char title[100];
	scale_title(title, sizeof(title), &f->x);
	pad(out, margin + (c->columns - (int)render_width(title)) / 2);
	render_clean(out, title, !unicode);
	str_addc(out, '\n');
}

static void legend(struct str *out, const struct figure *f, const char *const *glyphs, int margin, unsigned width,
		   bool unicode)
{
	size_t at = 0;
	for (unsigned i = 0; f->marks_count > 1 && i < f->marks_count; i++) {
		const struct figure_marks *m = &f->marks[i];
		size_t n = render_width(m->label) + 4;
		if (at && (size_t)margin + at + n > width) {
			str_addc(out, '\n');
			at = 0;
		}
		if (at == 0)
			pad(out, margin);
		str_addf(out, "%s%s ", at ? "  " : "", glyphs[glyph(f, i)]);
		render_clean(out, m->label, !unicode);
		at += n;
	}
	if (at)
		str_addc(out, '\n');
}

/* What the shades of a map mean. */
static void shade_legend(struct str *out, const struct figure *f, const char *const *glyphs, int margin, bool unicode)
{
	struct scale_shades s;
	char title[100], least[32], most[32];
	scale_shades(&s, f);
	scale_title(title, sizeof(title), &f->shade);
	snprintf(least, sizeof(least), "%.3g", s.lo);
	snprintf(most, sizeof(most), "%.3g", s.hi);
	pad(out, margin);
	render_clean(out, title, !unicode);
	str_addf(out, ": %s", least);
	str_addc(out, ' ');
	for (unsigned i = 0; i < SHADES; i++)
		str_add(out, glyphs[SHADE0 + i]);
	str_addf(out, " %s\n", most);
}

static int margin_of(const struct canvas *c, const struct figure *f)
{
	char text[100];
	size_t most = 0;
	for (size_t i = 0; i < c->y.ticks; i++) {
		scale_text_y(text, sizeof(text), f, c->y.tick[i]);
		most = strlen(text) > most ? strlen(text) : most;
	}
	return (int)most + 4; /* two of indent, a space, the axis */
}

static void rows_of(struct str *out, const struct canvas *c, const struct figure *f, const char *const *glyphs,
		    int margin, bool unicode)
{
	char text[100];
	for (int r = 0; r < c->rows; r++) {
		*text = '\0';
		for (size_t i = 0; i < c->y.ticks; i++)
			if (row(c, c->y.tick[i]) == r)
				scale_text_y(text, sizeof(text), f, c->y.tick[i]);
		str_addf(out, "%*s %s", margin - 2, text, unicode ? *text ? "┤" : "│" : *text ? "+" : "|");
		int last = c->columns;
		while (last > 0 && !c->cell[r][last - 1] && !c->text[r][last - 1])
			last--;
		for (int i = 0; i < last; i++) {
			if (c->text[r][i])
				str_addc(out, c->text[r][i]);
			else
				str_add(out, glyphs[c->cell[r][i]]);
		}
		str_addc(out, '\n');
	}
}

int report_draw(struct str *out, const struct figure *f, const struct report_style *style, struct err *e)
{
	struct canvas *c = mem_zero(1, sizeof(*c));
	if (!c)
		return err_nomem(e);
	const char *const *glyphs = style->unicode ? glyphs_unicode : glyphs_ascii;
	char text[100];
	c->rows = f->rows ? (int)f->rows_count : ROWS;
	scale_y(&c->y, f, 6);
	const int width = style->width ? (int)style->width : 80, margin = margin_of(c, f);
	c->columns = width - margin - 4;
	c->columns = c->columns > 72 ? 72 : c->columns < COLUMNS_MIN ? COLUMNS_MIN : c->columns;
	scale_x(&c->x, f, (size_t)c->columns / 8);
	paint_notes(c, f);
	for (unsigned i = 0; i < f->marks_count; i++) {
		if (f->marks[i].style == MARK_CELLS)
			paint_cells(c, f, &f->marks[i], glyph(f, i));
		else
			paint_marks(c, &f->marks[i], glyph(f, i));
	}
	paint_note_texts(c, f);

	str_add(out, style->colour ? "  \033[1m" : "  ");
	render_clean(out, f->title, !style->unicode);
	str_add(out, style->colour ? "\033[0m\n" : "\n");
	scale_title(text, sizeof(text), &f->y);
	str_add(out, "  ");
	render_clean(out, text, !style->unicode);
	str_addc(out, '\n');
	rows_of(out, c, f, glyphs, margin, style->unicode);
	x_axis(out, c, f, margin, style->unicode);
	if (*f->shade.label)
		shade_legend(out, f, glyphs, margin, style->unicode);
	else
		legend(out, f, glyphs, margin, (unsigned)width, style->unicode);
	out->failed |= c->failed;
	mem_free(c);
	return out->failed ? err_nomem(e) : 0;
}
