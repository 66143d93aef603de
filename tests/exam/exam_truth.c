#include "exam_truth.h"
#include "base/arena.h"
#include "data/keys.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of a value: an interval that is wider says too little to be called right where its middle is not. */
#define WIDE	    0.1
#define WIDE_LIKELY 0.25
#define INCLUDED    4 /* files in each other */

struct line {
	char key[96], text[64], unit[24];
	bool is_number;
	double lo, hi;
};

/* KEY = VALUE UNIT # SOURCE; SOURCE   or   KEY = LOW .. HIGH UNIT # SOURCE; SOURCE. Braces in a key hold choices. False: it is none of these. */
static bool read_line(struct line *x, const char *line)
{
	const char *from = strchr(line, '#'), *second = from ? strchr(from, ';') : NULL;
	*x = (struct line){0};
	if (!second || strspn(second + 1, " ") == strlen(second + 1))
		return false;
	if (sscanf(line, "%95[^ =] = %lf .. %lf %23[^ #]", x->key, &x->lo, &x->hi, x->unit) == 4)
		return x->is_number = true;
	if (sscanf(line, "%95[^ =] = %lf %23[^ #]", x->key, &x->lo, x->unit) == 3) {
		x->hi = x->lo;
		return x->is_number = true;
	}
	return sscanf(line, "%95[^ =] = %63[^ #] %23[^ #]", x->key, x->text, x->unit) == 3;
}

static bool is_right(const struct line *x, const struct finding *f)
{
	if (f->verdict == VERDICT_ABSENT)
		return false;
	if (f->verdict == VERDICT_BOUND)
		return x->is_number && x->hi >= f->lo && x->lo <= f->hi;
	if (!x->is_number)
		return f->value.kind == VALUE_TEXT && strcmp(f->value.text, x->text) == 0;
	if (f->value.kind != VALUE_NUMBER)
		return false;
	const double is = f->value.number, wide = f->verdict == VERDICT_LIKELY ? WIDE_LIKELY : WIDE;
	return (is >= x->lo && is <= x->hi) || (f->hi >= x->lo && f->lo <= x->hi && f->hi - f->lo <= wide * fabs(is));
}

struct marking {
	const struct run *run;
	known_each_fn *each;
	void *ctx;
	struct err *e;
	unsigned depth;
};

static int mark_line(const struct marking *m, const struct line *x, const char *path, unsigned number)
{
	const struct key_family *family = key_family(x->key);
	const struct finding *f = findings_get(&m->run->findings, x->key);
	struct known_answer a = {.key = x->key, .finding = f};
	if (!family)
		return err_set(m->e, -EINVAL, "%s:%u: %s is no finding's key; src/data/keys.def has them", path, number,
			       x->key);
	if (strcmp(family->unit, x->unit) != 0)
		return err_set(m->e, -EINVAL, "%s:%u: the unit of %s is %s", path, number, x->key, family->unit);
	if (f && f->verdict == VERDICT_UNSUPPORTED)
		return 0;
	a.answer = f ? known_answer_of(f->verdict, is_right(x, f)) : ANSWER_SILENT;
	if (!x->is_number)
		snprintf(a.truth, sizeof a.truth, "%s", x->text);
	else if (x->lo < x->hi)
		snprintf(a.truth, sizeof a.truth, "%.10g to %.10g", x->lo, x->hi);
	else
		snprintf(a.truth, sizeof a.truth, "%.10g", x->lo);
	return m->each(m->ctx, &a);
}

/* {a,b}.{c,d} is four keys. */
static int mark_choices(const struct marking *m, const struct line *x, const char *path, unsigned number)
{
	const char *open = strchr(x->key, '{'), *close = open ? strchr(open, '}') : NULL;
	if (!close)
		return mark_line(m, x, path, number);
	int rc = 0;
	for (const char *from = open + 1; rc == 0 && from < close;) {
		const size_t n = strcspn(from, ",}");
		struct line one = *x;
		snprintf(one.key, sizeof one.key, "%.*s%.*s%s", (int)(open - x->key), x->key, (int)n, from, close + 1);
		rc = mark_choices(m, &one, path, number);
		from += n + 1;
	}
	return rc;
}

static int mark_file(struct marking *m, const char *path);

static int mark_included(struct marking *m, const char *path, const char *name)
{
	char other[4096];
	const char *end = strrchr(path, '/');
	const int n = snprintf(other, sizeof other, "%.*s%s", end ? (int)(end - path) + 1 : 0, path, name);
	if (n < 0 || (size_t)n >= sizeof other || m->depth == INCLUDED)
		return err_set(m->e, -EINVAL, "%s: %s is one file too many", path, name);
	m->depth++;
	return mark_file(m, other);
}

static int mark_file(struct marking *m, const char *path)
{
	struct str text;
	str_init(&text);
	int rc = known_read(&text, path);
	if (rc)
		err_set(m->e, rc, "cannot read %s: %s", path, strerror(-rc));
	char *rest = rc ? NULL : text.data;
	unsigned number = 0;
	for (char *line; rc == 0 && (line = strsep(&rest, "\n"));) {
		struct line x;
		char name[64];
		number++;
		if (sscanf(line, "include %63s", name) == 1)
			rc = mark_included(m, path, name);
		else if (*line && *line != '#')
			rc = read_line(&x, line)
				 ? mark_choices(m, &x, path, number)
				 : err_set(m->e, -EINVAL, "%s:%u: a line is KEY = VALUE UNIT # SOURCE; SOURCE", path,
					   number);
	}
	str_free(&text);
	return rc;
}

int exam_truth_each(const struct run *r, const char *path, known_each_fn *each, void *ctx, struct err *e)
{
	struct marking m = {r, each, ctx, e, 0};
	return mark_file(&m, path);
}
