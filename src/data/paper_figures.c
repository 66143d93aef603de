/* Figures of ours that repeat a numbered one of a built-in paper say so. */
#include "base/embed.h"
#include "base/str.h"
#include "data/paper.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* "Wong 2010": the first author's last name and the year, which ends `published`. */
static void cited(char *out, size_t n, const struct paper *p)
{
	const size_t author = strcspn(p->authors, ",");
	size_t from = author;
	const char *year = strrchr(p->published, ' ');

	while (from && p->authors[from - 1] != ' ')
		from--;
	snprintf(out, n, "%.*s %s", (int)(author - from), p->authors + from, year ? year + 1 : p->published);
}

/* Is it one of the numbers behind "Fig."? Two devices of a paper may be in one figure. */
static bool says(const char *text, const char *number)
{
	const char *at = strstr(text, "Fig. ");
	const size_t n = strlen(number);

	for (at = at ? at + strlen("Fig. ") : NULL; at; at = strchr(at, ' ') ? strchr(at, ' ') + 1 : NULL)
		if (strncmp(at, number, n) == 0 && (at[n] == ',' || !at[n]))
			return true;
	return false;
}

/* "Wong 2010, Fig. 6", and further numbers behind it. */
static void name_part(struct figure_list *l, const struct paper *p, const struct paper_part *part)
{
	char by[sizeof(l->items->paper) / 2];

	cited(by, sizeof(by), p);
	for (size_t i = 0; i < l->count; i++)
		for (size_t k = 0; k < part->figure_count; k++) {
			char *to = l->items[i].paper;
			const size_t room = sizeof(l->items[i].paper), n = strlen(to);
			if (strcmp(l->items[i].name, part->figures[k].name) != 0)
				continue;
			if (!n)
				snprintf(to, room, "%s, Fig. %s", by, part->figures[k].number);
			else if (strncmp(to, by, strlen(by)) == 0 && !says(to, part->figures[k].number))
				snprintf(to + n, room - n, ", %s", part->figures[k].number);
		}
}

/* Most papers number none of the figures, and to read one takes longer than to look for their names in it. */
static bool names_any(const struct embedded *f, const struct figure_list *l)
{
	for (size_t i = 0; i < l->count; i++)
		if (strstr(f->data, l->items[i].name))
			return true;
	return false;
}

int paper_name_figures(struct figure_list *l, struct err *e)
{
	struct arena a;
	int rc = 0;

	arena_init(&a);
	for (size_t i = 0; rc == 0 && i < embedded_count; i++) {
		const struct embedded *f = &embedded_files[i];
		struct paper *p;
		if (strncmp(f->path, "papers/", 7) != 0 || !str_ends(f->path, ".paper") || !names_any(f, l))
			continue;
		rc = paper_parse(&p, &a, f->path, f->data, f->size, e);
		for (size_t k = 0; rc == 0 && k < p->part_count; k++)
			name_part(l, p, &p->parts[k]);
	}
	arena_free(&a);
	return rc;
}
