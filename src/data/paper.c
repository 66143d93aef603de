#include "data/paper.h"
#include "base/embed.h"
#include "base/str.h"
#include "data/paper_formula.h"
#include "data/paper_value.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_BYTES 1024
#define CELLS	   8 /* five that every row has; then a tolerance, a deviation and a note */
#define NEEDED	   5
#define FILE_BYTES (1u << 20)

struct reader {
	struct paper *p;
	struct arena *a;
	struct err *e;
	const char *file;
	unsigned line;
	size_t cap, part_cap;
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

/* An array of the arena with room for one more. NULL: out of memory. */
static void *grown(struct arena *a, void *items, size_t count, size_t *cap, size_t size)
{
	if (count < *cap)
		return items;
	size_t more = *cap ? 2 * *cap : 8;
	void *to = arena_alloc(a, more, size);
	if (to && count)
		memcpy(to, items, count * size);
	if (to)
		*cap = more;
	return to;
}

/* A `device` after rows, or after another device, begins the next part. */
static int new_part(struct reader *r)
{
	struct paper *p = r->p;
	p->parts = grown(r->a, p->parts, p->part_count, &r->part_cap, sizeof *p->parts);
	if (!p->parts)
		return err_nomem(r->e);
	p->parts[p->part_count++] = (struct paper_part){.first = p->count, .line = r->line};
	return 0;
}

static int set_head(struct reader *r, const char **to, const char *name, const char *value)
{
	if (*to)
		return err_set(r->e, -EINVAL, "%s:%u: '%s' was already given; delete one of the two", r->file, r->line,
			       name);
	if (!*value)
		return err_set(r->e, -EINVAL, "%s:%u: '%s' has no value; write %s = TEXT", r->file, r->line, name,
			       name);
	*to = arena_strdup(r->a, value);
	return *to ? 0 : err_nomem(r->e);
}

/* "13: tlb-global", or several names with commas between them. */
static int read_figures(struct reader *r, char *value)
{
	struct paper *p = r->p;
	char *colon = strchr(value, ':');
	if (!p->part_count)
		return err_set(r->e, -EINVAL, "%s:%u: 'figure' comes after the 'device' that it shows", r->file,
			       r->line);
	if (colon)
		*colon = '\0';
	const char *number = arena_strdup(r->a, trim(value));
	struct paper_part *part = &p->parts[p->part_count - 1];
	if (!number)
		return err_nomem(r->e);
	for (char *name = colon ? colon + 1 : NULL; name;) {
		char *comma = strchr(name, ',');
		if (comma)
			*comma = '\0';
		name = trim(name);
		if (!*number || !*name)
			break;
		part->figures =
		    grown(r->a, part->figures, part->figure_count, &part->figure_cap, sizeof *part->figures);
		if (!part->figures)
			return err_nomem(r->e);
		struct paper_figure *f = &part->figures[part->figure_count++];
		*f = (struct paper_figure){number, arena_strdup(r->a, name), r->line};
		if (!f->name)
			return err_nomem(r->e);
		name = comma ? comma + 1 : NULL;
		if (!name)
			return 0;
	}
	return err_set(r->e, -EINVAL, "%s:%u: write figure = NUMBER: NAME of one of our figures, or several names",
		       r->file, r->line);
}

static int read_head(struct reader *r, char *line)
{
	struct paper *p = r->p;
	const struct {
		const char *name;
		const char **to;
	} fields[] = {{"title", &p->title}, {"authors", &p->authors}, {"published", &p->published}};
	char *equals = strchr(line, '=');
	if (equals)
		*equals = '\0';
	const char *name = trim(line);
	for (size_t i = 0; equals && i < sizeof fields / sizeof fields[0]; i++)
		if (strcmp(fields[i].name, name) == 0)
			return set_head(r, fields[i].to, name, trim(equals + 1));
	if (equals && strcmp(name, "figure") == 0)
		return read_figures(r, trim(equals + 1));
	bool device = equals && strcmp(name, "device") == 0;
	if (!device && !(equals && strcmp(name, "gpu") == 0))
		return err_set(r->e, -EINVAL,
			       "%s:%u: '%.60s' is neither a row of cells with | between them nor a line of the head "
			       "(title, authors, published, device, gpu, figure)",
			       r->file, r->line, name);
	int rc = device ? new_part(r) : 0;
	if (rc == 0 && !p->part_count)
		rc =
		    err_set(r->e, -EINVAL, "%s:%u: 'gpu' comes after the 'device' that it describes", r->file, r->line);
	if (rc)
		return rc;
	struct paper_part *part = &p->parts[p->part_count - 1];
	return set_head(r, device ? &part->device : &part->gpu, name, trim(equals + 1));
}

/* What follows the unit: "+- 2: why", "deviation: entry", or a note. */
static int read_extra(struct reader *r, struct paper_row *row, const char *cell)
{
	const char **to = &row->note;
	if (str_starts(cell, "+-")) {
		const char *colon = strchr(cell, ':');
		char *number = arena_strdup(r->a, cell + 2);
		if (!number)
			return err_nomem(r->e);
		if (!colon || !colon[1 + strspn(colon + 1, " ")])
			return err_set(
			    r->e, -EINVAL,
			    "%s:%u: the tolerance '%.40s' has no reason; write '+- 2: why it is not what the "
			    "printed digits say'",
			    r->file, r->line, cell);
		number[strcspn(number, ":")] = '\0';
		if (*row->tolerance)
			return err_set(r->e, -EINVAL, "%s:%u: the row has two tolerances; keep one", r->file, r->line);
		row->tolerance = trim(number);
		if (!*row->tolerance)
			return err_set(r->e, -EINVAL, "%s:%u: no number follows '+-'; write '+- 2: why'", r->file,
				       r->line);
		row->reason = colon + 1 + strspn(colon + 1, " ");
		return 0;
	}
	if (str_starts(cell, "deviation:")) {
		to = &row->deviation;
		cell += strlen("deviation:");
		cell += strspn(cell, " ");
		if (!*cell)
			return err_set(r->e, -EINVAL,
				       "%s:%u: 'deviation:' names no entry; write the first cell of the one in "
				       "gpus/DEVIATIONS.md",
				       r->file, r->line);
	}
	if (**to)
		return err_set(r->e, -EINVAL, "%s:%u: the row has two %s; keep one", r->file, r->line,
			       to == &row->note ? "notes" : "deviations");
	*to = cell;
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
			return err_set(r->e, -EINVAL,
				       "%s:%u: more than %d cells; after the unit come at most a tolerance, a "
				       "deviation and a note",
				       r->file, r->line, CELLS);
		cell[n] = arena_strdup(r->a, trim(s));
		if (!cell[n])
			return err_nomem(r->e);
		s = bar;
	}
	for (unsigned i = 0; i < NEEDED; i++)
		if (!cell[i] || !*cell[i])
			return err_set(
			    r->e, -EINVAL,
			    "%s:%u: a row is: where | row | key | value | unit, and then | +- tolerance: why | "
			    "deviation: entry | note where there are any",
			    r->file, r->line);
	if (!p->part_count || !p->parts[p->part_count - 1].gpu)
		return err_set(r->e, -EINVAL, "%s:%u: a row comes after the lines 'device = ...' and 'gpu = ...'",
			       r->file, r->line);
	p->rows = grown(r->a, p->rows, p->count, &r->cap, sizeof *p->rows);
	if (!p->rows)
		return err_nomem(r->e);
	struct paper_row *row = &p->rows[p->count];
	*row = (struct paper_row){.where = cell[0],
				  .row = cell[1],
				  .key = cell[2],
				  .printed = cell[3],
				  .printed_unit = cell[4],
				  .note = "",
				  .tolerance = "",
				  .reason = "",
				  .deviation = "",
				  .part = (unsigned)p->part_count - 1,
				  .line = r->line};
	for (unsigned i = NEEDED; i < n; i++) {
		int rc = *cell[i] ? read_extra(r, row, cell[i]) : 0;
		if (rc)
			return rc;
	}
	struct err why = {0};
	struct formula f;
	int rc = formula_parse(&f, row->key, &why);
	if (rc == 0)
		rc = paper_value(row, r->a, &why);
	if (rc == -ENOMEM)
		return err_nomem(r->e);
	if (rc)
		return err_set(r->e, rc, "%s:%u: %s", r->file, r->line, why.text);
	p->parts[p->part_count - 1].count++;
	p->count++;
	return 0;
}

static int check_whole(const struct reader *r)
{
	const struct paper *p = r->p;
	for (size_t i = 0; i < p->part_count; i++)
		if (!p->parts[i].gpu && p->part_count > 1)
			return err_set(r->e, -EINVAL,
				       "%s:%u: the device has no line 'gpu = NAME'; '-' says that no file in gpus/ "
				       "describes it",
				       r->file, p->parts[i].line);
	if (!p->title || !p->authors || !p->published || !p->part_count || !p->parts[0].gpu)
		return err_set(r->e, -EINVAL, "%s: the head needs title, authors, published, device and gpu", r->file);
	return 0;
}

static bool is_setting(const struct paper_row *r)
{
	return strcmp(r->key, PAPER_SETTING) == 0;
}

/* The same of the same key; of what has none, under the same name. */
static bool same_fact(const struct paper_row *a, const struct paper_row *b)
{
	/* Numbers first: each row is laid beside all before it, and most have another one. */
	const bool number = !a->is_word && !a->list, same = a->lo == b->lo && a->hi == b->hi;
	if (a->part != b->part || (number && !same) || strcmp(a->key, b->key) != 0 || strcmp(a->unit, b->unit) != 0)
		return false;
	return (strcmp(a->key, PAPER_NO_KEY) != 0 || strcmp(a->row, b->row) == 0) &&
	       (number || strcmp(a->printed, b->printed) == 0);
}

/* A paper repeats what it found in its text, its figures and its summary: that is one value. */
static void find_repeated(struct paper *p)
{
	for (size_t i = 0; i < p->count; i++) {
		struct paper_row *row = &p->rows[i];
		if (is_setting(row))
			continue;
		for (size_t k = 0; k < i && !row->again; k++)
			row->again = same_fact(row, &p->rows[k]);
		p->values += !row->again;
	}
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
		if (memchr(text + at, '\0', n))
			return err_set(e, -EINVAL, "%s:%u: the line has a zero byte: this is no text", file, r.line);
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
	int rc = check_whole(&r);
	if (rc)
		return rc;
	find_repeated(r.p);
	*out = r.p;
	return 0;
}

int paper_open(struct paper **out, struct arena *a, const char *name_or_path, struct err *e)
{
	static const struct embed_kind kind = {"papers/", ".paper", "paper", "paper", FILE_BYTES};
	struct embed_text t;
	int rc = embed_open(&t, &kind, a, name_or_path, e);
	if (rc && rc != -ENOMEM && rc != -EFBIG && t.path)
		return -EIO; /* a file that cannot be read; -ENOENT says that a name is unknown */
	return rc ? rc : paper_parse(out, a, t.path, t.data, t.size, e);
}
