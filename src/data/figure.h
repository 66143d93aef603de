/* A figure as data: several renderers draw it. */
#ifndef FATHOM_FIGURE_H
#define FATHOM_FIGURE_H
#include <stdbool.h>
#include <stddef.h>

/* MARK_SPANS: bars from x to y2 at height y. MARK_CELLS: fields of a map at (x, y), whose shade says y2. */
enum mark_style { MARK_POINTS, MARK_LINE, MARK_STEPS, MARK_BAND, MARK_BARS, MARK_SPANS, MARK_CELLS };
struct figure_axis {
	char label[64], unit[24];
	bool log2;
};
struct figure_marks {
	char label[96];
	enum mark_style style;
	size_t count;
	double *x, *y, *y2; /* y2 only of styles that need it: figure_style_has_y2 */
};
struct figure_note {
	char text[96];
	bool vertical; /* a line at x = at; else at y = at */
	double at;
};
#define FIGURE_MARKS 8
#define FIGURE_NOTES 16
#define FIGURE_KEYS  8
#define FIGURE_ROWS  96
#define FIGURE_ROW   48 /* characters of a row's name, its end included */
struct figure {
	char name[64]; /* file name without suffix: "constant-latency" */
	char title[128], caption[256];
	char origin[224];	    /* GPU, date and program */
	char paper[64];		    /* the figure that it repeats: "Wong 2010, Fig. 5"; "" = none */
	char keys[FIGURE_KEYS][64]; /* globs of the findings that it is the evidence of */
	unsigned keys_count;
	bool main;			/* the text report draws it too */
	bool clock_within;		/* what reading the clock costs is not known, and is still in y */
	bool panels;			/* each set of marks in a field of its own, all with the same axes */
	struct figure_axis x, y, shade; /* shade: what cells tell */
	char (*rows)[FIGURE_ROW];	/* names of y = 0, 1, ... from the top; NULL: y is a number */
	unsigned rows_count;
	struct figure_marks marks[FIGURE_MARKS];
	unsigned marks_count;
	struct figure_note notes[FIGURE_NOTES];
	unsigned notes_count;
};
struct figure_list {
	struct figure *items;
	size_t count, cap;
};
/* The figure's arrays belong to the list. Return NULL / -ENOMEM when memory is out. */
struct figure *figures_new(struct figure_list *l, const char *name, const char *title);
/* Marks that are equal to some that the figure has become one with those, under both labels. */
int figure_add(struct figure *f, const char *label, enum mark_style style, const double *x, const double *y,
	       const double *y2, size_t count); /* copies */
bool figure_style_has_y2(enum mark_style style);
/* Gives y = rows_count a name; one more than FIGURE_ROWS is left out. 0 or -ENOMEM. */
int figure_row(struct figure *f, const char *name);
/* Are its marks curves that a plot can show with axes of numbers alone? Not maps, bars along x, panels or named rows. */
bool figure_is_curves(const struct figure *f);
/* A figure of the same words, axes and rows, without marks. NULL: out of memory. */
struct figure *figures_like(struct figure_list *l, const struct figure *f);
void figure_note(struct figure *f, bool vertical, double at, const char *text);
void figure_key(struct figure *f, const char *glob); /* one more than FIGURE_KEYS is left out */
/* The figure of a paper that it repeats, and the findings that it is the evidence of: a glob, or NULL. */
void figure_repeats(struct figure *f, const char *paper, const char *glob);
/* Is the finding one of those that the figure is the evidence of? */
bool figure_shows(const struct figure *f, const char *key);
/* Takes what reading the clock costs off y, as told by the first mark, which shows so many cycles. NAN: nobody knows them. */
void figure_take_clock(struct figure *f, double first);
/* Has it marks at two places at least? Else there is nothing to see in it. */
bool figure_says(const struct figure *f);
void figures_drop(struct figure_list *l, size_t i);
const struct figure *figures_get(const struct figure_list *l, const char *name); /* NULL when there is none */
void figures_free(struct figure_list *l);

#endif
