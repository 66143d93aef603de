#include "report/report_table.h"
#include "report/render.h"
#include <libsmartcols/libsmartcols.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_WRAP 24 /* columns of a text that is broken between words */

static unsigned page_width(const struct report_style *style)
{
	unsigned width = style->width ? style->width : 80;
	return width < 40 ? 40 : width > 160 ? 160 : width;
}

void table_open(struct table *t, const struct report_style *style)
{
	*t = (struct table){.tb = scols_new_table(), .style = style};
	t->failed = !t->tb || scols_table_set_termforce(t->tb, SCOLS_TERMFORCE_ALWAYS) ||
		    scols_table_set_termwidth(t->tb, page_width(style) - TABLE_INDENT) ||
		    scols_table_enable_colors(t->tb, style->colour) || scols_table_set_column_separator(t->tb, "  ");
}

void table_column(struct table *t, const char *title, enum table_column kind)
{
	if (t->failed)
		return;
	int flags = kind == TABLE_RIGHT ? SCOLS_FL_RIGHT : kind == TABLE_WRAP ? SCOLS_FL_WRAP : 0;
	struct libscols_column *c = scols_table_new_column(t->tb, title, 0, flags);
	t->failed = !c;
	if (c && kind == TABLE_WRAP) /* broken between words by wrap_column, which says where with newlines */
		t->failed = scols_column_set_wrapfunc(c, scols_wrapnl_chunksize, scols_wrapnl_nextchunk, NULL) ||
			    scols_column_set_safechars(c, "\n");
	if (c && t->style->colour)
		t->failed = scols_cell_set_color(scols_column_get_header(c), "\033[2m") != 0;
}

void table_row(struct table *t)
{
	t->column = 0;
	t->rows++;
	if (t->failed)
		return;
	t->line = scols_table_new_line(t->tb, NULL);
	t->failed = !t->line;
}

static const char *colour(enum verdict v)
{
	switch (v) {
	case VERDICT_LIKELY:
		return "\033[36m";
	case VERDICT_BOUND:
	case VERDICT_INCONCLUSIVE:
		return "\033[33m";
	case VERDICT_FAILED:
		return "\033[31m";
	case VERDICT_ABSENT:
	case VERDICT_UNSUPPORTED:
		return "\033[2m";
	default:
		return NULL;
	}
}

void table_cell(struct table *t, const char *text, enum verdict v)
{
	size_t n = t->column++;
	if (t->failed)
		return;
	struct str clean;
	str_init(&clean);
	render_clean(&clean, text, !t->style->unicode);
	t->failed = clean.failed || scols_line_set_data(t->line, n, str_text(&clean)) != 0;
	str_free(&clean);
	if (!t->failed && t->style->colour && colour(v))
		t->failed = scols_cell_set_color(scols_line_get_cell(t->line, n), colour(v)) != 0;
}

/* scols_line_get_column_data() does so, too, since util-linux 2.38; Ubuntu 22.04 has 2.37. */
static const char *text_at(struct libscols_line *line, struct libscols_column *c)
{
	return scols_cell_get_data(scols_line_get_column_cell(line, c));
}

/* Widest cell of a column, its title included. */
static size_t column_width(const struct table *t, size_t column, const char *title)
{
	size_t widest = render_width(title);
	for (size_t i = 0; i < t->rows; i++) {
		const char *text = text_at(scols_table_get_line(t->tb, i), scols_table_get_column(t->tb, column));
		size_t w = text ? render_width(text) : 0;
		widest = w > widest ? w : widest;
	}
	return widest;
}

/* Columns of all but the last, with what separates them, and of the last one's longest text or, where it wraps, its least. */
static size_t least_width(const struct table *t)
{
	size_t columns = scols_table_get_ncols(t->tb), sum = 0;
	for (size_t i = 0; i < columns; i++) {
		struct libscols_column *c = scols_table_get_column(t->tb, i);
		const size_t w = column_width(t, i, scols_cell_get_data(scols_column_get_header(c)));
		sum += scols_column_is_wrap(c) && w > LEAST_WRAP ? LEAST_WRAP : w;
		sum += i ? 2 : 0;
	}
	return sum;
}

/* The first column alone does not tell the rows apart. */
static bool repeats(const struct table *t)
{
	struct libscols_column *c = scols_table_get_column(t->tb, 0);
	for (size_t i = 1; i < t->rows; i++) {
		const char *before = text_at(scols_table_get_line(t->tb, i - 1), c),
			   *text = text_at(scols_table_get_line(t->tb, i), c);
		if (before && text && strcmp(before, text) == 0)
			return true;
	}
	return false;
}

/* Makes each row a paragraph. Its name is the heading. Each other cell that says something follows as "title: text",
 * and then the titles of the open ones. */
static void stack(const struct table *t, struct str *out)
{
	const size_t columns = scols_table_get_ncols(t->tb), heads = repeats(t) ? 2 : 1;
	for (size_t i = 0; i < t->rows; i++) {
		struct libscols_line *line = scols_table_get_line(t->tb, i);
		struct str head, rest, open;
		str_init(&head);
		str_init(&rest);
		str_init(&open);
		for (size_t k = 0; k < columns; k++) {
			struct libscols_column *c = scols_table_get_column(t->tb, k);
			const char *title = scols_cell_get_data(scols_column_get_header(c)), *text = text_at(line, c);
			if (text && k < heads)
				str_addf(&head, "%s%s", k ? " " : "", text);
			else if (text && strcmp(text, "?") == 0)
				str_addf(&open, "%s%s", open.len ? ", " : "", title ? title : "");
			else if (text && *text && strcmp(text, "-") != 0)
				str_addf(&rest, "%s%s: %s", rest.len ? ", " : "", title ? title : "", text);
		}
		if (open.len)
			str_addf(&rest, "%sopen: %s", rest.len ? "; " : "", str_text(&open));
		str_addf(out, "%*s%s%s%s\n", TABLE_INDENT, "", table_bold(t->style), str_text(&head),
			 table_plain(t->style));
		render_wrap(out, str_text(&rest), 2 * TABLE_INDENT, page_width(t->style));
		out->failed |= head.failed || rest.failed || open.failed;
		str_free(&head);
		str_free(&rest);
		str_free(&open);
	}
}

/* The last column takes what the others leave: its texts are broken between words to that width. */
static void wrap_column(struct table *t)
{
	size_t columns = scols_table_get_ncols(t->tb), others = 0;
	struct libscols_column *last = columns ? scols_table_get_column(t->tb, columns - 1) : NULL;
	if (!last || !scols_column_is_wrap(last))
		return;
	for (size_t i = 0; i + 1 < columns; i++) {
		struct libscols_column *c = scols_table_get_column(t->tb, i);
		others += column_width(t, i, scols_cell_get_data(scols_column_get_header(c))) + 2;
	}
	unsigned room = page_width(t->style) - TABLE_INDENT;
	unsigned width = room > others + 12 ? room - (unsigned)others : 12;
	for (size_t i = 0; i < t->rows && !t->failed; i++) {
		struct libscols_line *line = scols_table_get_line(t->tb, i);
		const char *text = text_at(line, last);
		struct str s;
		str_init(&s);
		if (text)
			render_wrap(&s, text, 0, width);
		if (s.len)
			s.data[s.len - 1] = '\0'; /* no newline at the end */
		t->failed = s.failed || scols_line_set_column_data(line, last, str_text(&s)) != 0;
		str_free(&s);
	}
}

/* Indented, without the blanks with which the layout fills its lines. */
static void put_lines(struct str *out, const char *text)
{
	while (*text) {
		size_t n = strcspn(text, "\n"), used = n;
		while (used && text[used - 1] == ' ')
			used--;
		str_addf(out, "%*s", TABLE_INDENT, "");
		str_addn(out, text, used);
		str_addc(out, '\n');
		text += n + (text[n] == '\n');
	}
}

void table_print(struct table *t, struct str *out)
{
	char *text = NULL;
	const bool fits = t->failed || !t->rows || least_width(t) + TABLE_INDENT <= page_width(t->style);
	if (!fits)
		stack(t, out);
	if (!t->failed && t->rows && fits)
		wrap_column(t);
	if (!t->failed && t->rows && fits)
		t->failed = scols_print_table_to_string(t->tb, &text) != 0 || !text;
	if (t->failed)
		out->failed = true;
	else if (text)
		put_lines(out, text);
	free(text); /* libsmartcols allocated it */
	scols_unref_table(t->tb);
}

const char *table_bold(const struct report_style *style)
{
	return style->colour ? "\033[1m" : "";
}

const char *table_plain(const struct report_style *style)
{
	return style->colour ? "\033[0m" : "";
}
