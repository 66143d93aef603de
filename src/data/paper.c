#include "data/paper.h"
#include "base/str.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_BYTES 1024
#define CELLS	   6

struct reader {
	struct paper *p;
	struct arena *a;
	struct err *e;
	const char *file;
	unsigned line;
	size_t cap;
};

static char *trim(char *s)
{
	while (*s == ' ' || *s == '\t')
		s++;
	size_t n = strlen(s);
	while (n > 0 && (s[n - 1] == ' ' || s[n - 1] == '\t' || s[n - 1] == '\r'))
		s[--n] = '\0';
	return s;
}

static int read_head(struct reader *r, char *line)
{
	struct paper *p = r->p;
	const struct {
		const char *name;
		const char **to;
	} fields[] = {{"title", &p->title},
		      {"authors", &p->authors},
		      {"published", &p->published},
		      {"device", &p->device},
		      {"gpu", &p->gpu}};
	char *equals = strchr(line, '=');
	if (equals)
		*equals = '\0';
	const char *name = trim(line);
	for (size_t i = 0; equals && i < sizeof fields / sizeof fields[0]; i++) {
		if (strcmp(fields[i].name, name) != 0)
			continue;
		if (*fields[i].to)
			return err_set(r->e, -EINVAL, "%s:%u: '%s' was already given", r->file, r->line, name);
		*fields[i].to = arena_strdup(r->a, trim(equals + 1));
		return *fields[i].to ? 0 : err_nomem(r->e);
	}
	return err_set(r->e, -EINVAL, "%s:%u: '%.60s' is neither a row of cells nor a line of the head", r->file,
		       r->line, name);
}

/* One unit of the last printed digit: "7.9" -> 0.1. */
static double last_digit(const char *printed, size_t n)
{
	const char *point = memchr(printed, '.', n);
	return point ? pow(10, -(double)(printed + n - point - 1)) : 1;
}

static int read_value(struct reader *r, struct paper_row *row)
{
	static const struct {
		const char *unit, *ours;
		double scale;
	} scaled[] = {{"KB", "bytes", 1024},
		      {"MB", "bytes", 1024 * 1024},
		      {"GB", "bytes", 1024.0 * 1024 * 1024},
		      {"MHz", "Hz", 1e6},
		      {"GHz", "Hz", 1e9}};
	static const char *const units[] = {"cycles",	 "count", "bytes", "ops/clk/SM",
					    "bytes/clk", "GB/s",  "ratio", "Hz"};
	row->is_word = strcmp(row->unit, "name") == 0 || strcmp(row->unit, "yes/no") == 0;
	if (row->is_word)
		return 0;
	double scale = 0;
	for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
		if (strcmp(units[i], row->unit) == 0)
			scale = 1;
	for (size_t i = 0; i < sizeof scaled / sizeof scaled[0]; i++)
		if (strcmp(scaled[i].unit, row->unit) == 0) {
			scale = scaled[i].scale;
			row->unit = scaled[i].ours;
		}
	if (scale == 0)
		return err_set(r->e, -EINVAL, "%s:%u: the unit '%.20s' is unknown", r->file, r->line, row->unit);
	const char *s = row->printed;
	size_t n = strspn(s, "0123456789.");
	char *end = NULL;
	double lo = strtod(s, &end), hi = lo, digit = last_digit(s, n);
	bool range = n && s[n] == '-' && s[n + 1];
	if (range) {
		hi = strtod(s + n + 1, &end);
		digit = last_digit(s + n + 1, strlen(s + n + 1));
	}
	if (n == 0 || *end || strspn(s, "0123456789.-") != strlen(s) || hi < lo)
		return err_set(r->e, -EINVAL, "%s:%u: '%.40s' is neither a number nor a range", r->file, r->line, s);
	/* A count is exact; the digits of everything else leave half of the last one open. Sizes are printed whole. */
	bool exact = strcmp(row->unit, "count") == 0 || strcmp(row->unit, "bytes") == 0;
	double open = exact ? 0 : digit / 2;
	row->lo = (lo - open) * scale;
	row->hi = (hi + open) * scale;
	return 0;
}

static int read_row(struct reader *r, char *line)
{
	struct paper *p = r->p;
	const char *cell[CELLS] = {0};
	unsigned n = 0;
	for (char *s = line; s; n++) {
		char *bar = strchr(s, '|');
		if (bar)
			*bar++ = '\0';
		if (n == CELLS)
			return err_set(r->e, -EINVAL, "%s:%u: more than %d cells", r->file, r->line, CELLS);
		cell[n] = arena_strdup(r->a, trim(s));
		if (!cell[n])
			return err_nomem(r->e);
		s = bar;
	}
	for (unsigned i = 0; i < CELLS - 1; i++)
		if (!cell[i] || !*cell[i])
			return err_set(r->e, -EINVAL, "%s:%u: a row is: where | row | key | value | unit | note",
				       r->file, r->line);
	if (p->count == r->cap) {
		size_t cap = r->cap ? 2 * r->cap : 256;
		struct paper_row *grown = ARENA_ARRAY(r->a, cap, struct paper_row);
		if (!grown)
			return err_nomem(r->e);
		if (p->count)
			memcpy(grown, p->rows, p->count * sizeof *grown);
		p->rows = grown;
		r->cap = cap;
	}
	struct paper_row *row = &p->rows[p->count];
	*row = (struct paper_row){.where = cell[0],
				  .row = cell[1],
				  .key = cell[2],
				  .printed = cell[3],
				  .unit = cell[4],
				  .note = cell[5] ? cell[5] : "",
				  .line = r->line};
	int rc = read_value(r, row);
	if (rc == 0)
		p->count++;
	return rc;
}

int paper_parse(struct paper **out, struct arena *a, const char *file, const char *text, size_t size, struct err *e)
{
	struct reader r = {.p = ARENA_NEW(a, struct paper), .a = a, .e = e, .file = file};
	if (!r.p)
		return err_nomem(e);
	for (size_t at = 0; at < size;) {
		const char *end = memchr(text + at, '\n', size - at);
		size_t n = end ? (size_t)(end - (text + at)) : size - at;
		char copy[LINE_BYTES];
		r.line++;
		if (n >= sizeof copy)
			return err_set(e, -EINVAL, "%s:%u: the line is longer than %d bytes", file, r.line,
				       LINE_BYTES - 1);
		memcpy(copy, text + at, n);
		copy[n] = '\0';
		at += n + 1;
		char *line = trim(copy);
		if (!*line || *line == '#')
			continue;
		int rc = strchr(line, '|') ? read_row(&r, line) : read_head(&r, line);
		if (rc)
			return rc;
	}
	const struct paper *p = r.p;
	if (!p->title || !p->authors || !p->published || !p->device || !p->gpu)
		return err_set(e, -EINVAL, "%s: the head needs title, authors, published, device and gpu", file);
	*out = r.p;
	return 0;
}
