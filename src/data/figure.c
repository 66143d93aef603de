#include "data/figure.h"
#include "base/arena.h"
#include <assert.h>
#include <errno.h>
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

int figure_add(struct figure *f, const char *label, enum mark_style style, const double *x, const double *y,
	       const double *y2, size_t count)
{
	assert(f->marks_count < FIGURE_MARKS);
	assert((style == MARK_BAND) == (y2 != NULL));
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

void figures_free(struct figure_list *l)
{
	for (size_t i = 0; i < l->count; i++) {
		for (unsigned k = 0; k < l->items[i].marks_count; k++)
			marks_free(&l->items[i].marks[k]);
	}
	mem_free(l->items);
	*l = (struct figure_list){0};
}
