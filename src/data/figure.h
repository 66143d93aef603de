/* A figure as data: several renderers draw it. */
#ifndef FATHOM_FIGURE_H
#define FATHOM_FIGURE_H
#include <stdbool.h>
#include <stddef.h>

enum mark_style { MARK_POINTS, MARK_LINE, MARK_STEPS, MARK_BAND, MARK_BARS };
struct figure_axis {
	char label[64], unit[24];
	bool log2;
};
struct figure_marks {
	char label[64];
	enum mark_style style;
	size_t count;
	double *x, *y, *y2; /* y2 only for MARK_BAND */
};
struct figure_note {
	char text[96];
	bool vertical; /* a line at x = at; else at y = at */
	double at;
};
#define FIGURE_MARKS 8
#define FIGURE_NOTES 16
struct figure {
	char name[64]; /* file name without suffix: "constant-latency" */
	char title[128], caption[256];
	bool main; /* the text report draws it too */
	struct figure_axis x, y;
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
int figure_add(struct figure *f, const char *label, enum mark_style style, const double *x, const double *y,
	       const double *y2, size_t count); /* copies */
void figure_note(struct figure *f, bool vertical, double at, const char *text);
void figures_free(struct figure_list *l);

#endif
