#include "data/figure.h"
#include "base/arena.h"
#include "base/str.h"
#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct figure *figures_new(struct figure_list *l, const char *name, const char *title)
{
	if (l->count == l->cap) {
		size_t cap = l->cap ? l->cap * 2 : 8;
		struct figure *items = mem_grow(l->items, cap * sizeof(*items));
		if (!items)
			return NULL;
		l->items = items;
		l->cap = cap;
	}
	struct figure *f = &l->items[l->count++];
	*f = (struct figure){0};
	snprintf(f->name, sizeof(f->name), "%s", name);
	snprintf(f->title, sizeof(f->title), "%s", title);
	return f;
}

static void marks_free(struct figure_marks *m)
{
	mem_free(m->x);
	mem_free(m->y);
	mem_free(m->y2);
}

static double *copy(const double *v, size_t count)
{
	if (count > PTRDIFF_MAX / sizeof(*v))
		return NULL;
	double *p = mem_alloc(count * sizeof(*v));

	if (p && count)
		memcpy(p, v, count * sizeof(*v));
	return p;
}

static bool same(const double *a, const double *b, size_t count)
{
	return (!a && !b) || (a && b && memcmp(a, b, count * sizeof(*a)) == 0);
}

/* The marks that are drawn the same, or NULL; only where there is room for one label more. */
static struct figure_marks *equal(struct figure *f, const char *label, enum mark_style style, const double *x,
				  const double *y, const double *y2, size_t count)
{
	for (unsigned i = 0; i < f->marks_count; i++) {
		struct figure_marks *m = &f->marks[i];
		if (m->style == style && m->count == count && count && same(m->x, x, count) && same(m->y, y, count) &&
		    same(m->y2, y2, count) && strlen(m->label) + strlen(label) + 3 <= sizeof(m->label))
			return m;
	}
	return NULL;
}

bool figure_style_has_y2(enum mark_style style)
{
	return style == MARK_BAND || style == MARK_SPANS || style == MARK_CELLS;
}

int figure_row(struct figure *f, const char *name)
{
	if (f->rows_count == FIGURE_ROWS)
		return 0;
	char(*rows)[FIGURE_ROW] = mem_grow(f->rows, (f->rows_count + 1) * sizeof(*rows));

	if (!rows)
		return -ENOMEM;
	f->rows = rows;
	snprintf(rows[f->rows_count++], sizeof(*rows), "%s", name);
	return 0;
}

bool figure_is_curves(const struct figure *f)
{
	for (unsigned m = 0; m < f->marks_count; m++)
		if (f->marks[m].style == MARK_SPANS || f->marks[m].style == MARK_CELLS)
			return false;
	return !f->panels && !f->rows;
}

struct figure *figures_like(struct figure_list *l, const struct figure *f)
{
	const struct figure head = *f; /* it may lie in the list, which may move */
	struct figure *to = figures_new(l, head.name, head.title);

	if (!to)
		return NULL;
	*to = head;
	memset(to->marks, 0, sizeof(to->marks));
	to->marks_count = 0;
	to->rows = NULL;
	to->rows_count = 0;
	for (unsigned i = 0; i < head.rows_count; i++)
		if (figure_row(to, head.rows[i]))
			return NULL;
	return to;
}

int figure_add(struct figure *f, const char *label, enum mark_style style, const double *x, const double *y,
	       const double *y2, size_t count)
{
	assert(figure_style_has_y2(style) == (y2 != NULL));
	struct figure_marks *twin = equal(f, label, style, x, y, y2, count);

	if (twin) {
		const size_t n = strlen(twin->label);
		snprintf(twin->label + n, sizeof(twin->label) - n, ", %s", label);
		return 0;
	}
	assert(f->marks_count < FIGURE_MARKS);
	struct figure_marks m = {.style = style, .count = count, .x = copy(x, count), .y = copy(y, count)};

	if (y2)
		m.y2 = copy(y2, count);
	if (!m.x || !m.y || (y2 && !m.y2)) {
		marks_free(&m);
		return -ENOMEM;
	}
	snprintf(m.label, sizeof(m.label), "%s", label);
	f->marks[f->marks_count++] = m;
	return 0;
}

void figure_note(struct figure *f, bool vertical, double at, const char *text)
{
	assert(f->notes_count < FIGURE_NOTES);
	struct figure_note *n = &f->notes[f->notes_count++];

	n->vertical = vertical;
	n->at = at;
	snprintf(n->text, sizeof(n->text), "%s", text);
}

void figure_key(struct figure *f, const char *glob)
{
	if (f->keys_count < FIGURE_KEYS)
		snprintf(f->keys[f->keys_count++], sizeof(f->keys[0]), "%s", glob);
}

void figure_repeats(struct figure *f, const char *paper, const char *glob)
{
	snprintf(f->paper, sizeof(f->paper), "%s", paper);
	if (glob)
		figure_key(f, glob);
}

bool figure_says(const struct figure *f)
{
	for (unsigned m = 0; m < f->marks_count; m++)
		for (size_t i = 0; i < f->marks[m].count; i++)
			if (f->marks[m].x[i] != f->marks[0].x[0])
				return true;
	return false;
}

bool figure_shows(const struct figure *f, const char *key)
{
	for (unsigned i = 0; i < f->keys_count; i++)
		if (str_glob(f->keys[i], key))
			return true;
	return false;
}

void figure_take_clock(struct figure *f, double first)
{
	const double cost = f->marks_count && f->marks[0].count ? f->marks[0].y[0] - first : NAN;

	f->clock_within = !isfinite(cost);
	snprintf(f->y.label, sizeof(f->y.label), "%s",
		 f->clock_within ? "one access, with the cost of the clock" : "latency of one access");
	for (unsigned m = 0; !f->clock_within && m < f->marks_count; m++) {
		for (size_t i = 0; i < f->marks[m].count; i++) {
			f->marks[m].y[i] -= cost;
			if (f->marks[m].y2)
				f->marks[m].y2[i] -= cost;
		}
	}
}

static void figure_free(struct figure *f)
{
	for (unsigned k = 0; k < f->marks_count; k++)
		marks_free(&f->marks[k]);
	mem_free(f->rows);
}

void figures_drop(struct figure_list *l, size_t i)
{
	figure_free(&l->items[i]);
	memmove(&l->items[i], &l->items[i + 1], (--l->count - i) * sizeof(*l->items));
}

const struct figure *figures_get(const struct figure_list *l, const char *name)
{
	for (size_t i = 0; i < l->count; i++)
		if (strcmp(l->items[i].name, name) == 0)
			return &l->items[i];
	return NULL;
}

void figures_free(struct figure_list *l)
{
	for (size_t i = 0; i < l->count; i++)
		figure_free(&l->items[i]);
	mem_free(l->items);
	*l = (struct figure_list){0};
}
