#include "data/expect.h"
#include "base/err.h"
#include "base/str.h"
#include "data/keys.h"
#include "data/run_compare.h"
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *trim(char *s)
{
	s += strspn(s, " \t\r");
	for (size_t n = strlen(s); n && isspace((unsigned char)s[n - 1]);)
		s[--n] = 0;
	return s;
}

/* A finite number and nothing but blanks behind it. */
static bool number(const char *text, double *v, const char **rest)
{
	char *end;

	*v = strtod(text, &end);
	*rest = end + strspn(end, " \t");
	return end != text && isfinite(*v);
}

static bool bound(struct finding *f, const char *text)
{
	const bool least = str_starts(text, ">=");
	const char *rest;
	double v;

	if (!number(text + 2, &v, &rest) || *rest)
		return false;
	f->verdict = VERDICT_BOUND;
	f->value = (struct value){.kind = VALUE_NUMBER, .number = v};
	f->lo = least ? v : -INFINITY;
	f->hi = least ? INFINITY : v;
	return true;
}

/* "200", "200 +- 5", "200 +- 2 %". */
static bool interval(struct finding *f, const char *text)
{
	double v, off = 0;
	const char *rest;

	if (!number(text, &v, &rest))
		return false;
	if (str_starts(rest, "+-")) {
		if (!number(rest + 2, &off, &rest) || off < 0)
			return false;
		if (*rest == '%') {
			off *= fabs(v) / 100;
			rest += 1 + strspn(rest + 1, " \t");
		}
	}
	f->verdict = VERDICT_MEASURED;
	f->value = (struct value){.kind = VALUE_NUMBER, .number = v};
	f->lo = v - off;
	f->hi = v + off;
	return !*rest;
}

static bool word(struct finding *f, char *text)
{
	const size_t n = strlen(text);

	if (n >= 2 && text[0] == '"' && text[n - 1] == '"') {
		text[n - 1] = 0;
		text++;
	}
	f->verdict = VERDICT_MEASURED;
	f->value.kind = VALUE_TEXT;
	f->lo = f->hi = NAN;
	return *text && (size_t)snprintf(f->value.text, sizeof(f->value.text), "%s", text) < sizeof(f->value.text);
}

static bool value(struct finding *f, char *text)
{
	if (str_starts(text, ">=") || str_starts(text, "<="))
		return bound(f, text);
	if (strcmp(text, "absent") == 0) {
		f->verdict = VERDICT_ABSENT;
		f->lo = f->hi = NAN;
		return true;
	}
	if (isdigit((unsigned char)*text) || strchr("+-.", *text))
		return interval(f, text);
	return word(f, text);
}

static int line_of(struct expect_row *row, char *line, const char *path, struct err *e)
{
	/* "KEY >= 8" as well as "KEY = >= 8". */
	char *relation = strpbrk(line, "=<>"), *text;
	struct finding *f = &row->says;

	if (!relation)
		return err_set(e, -EINVAL, "%s:%u: a line is KEY = VALUE, and this one has no '='", path, row->line);
	text = trim(relation + (*relation == '='));
	if (!*text || !value(f, text))
		return err_set(e, -EINVAL,
			       "%s:%u: '%s' is no value; write 200, 200 +- 5, 200 +- 2 %%, >= 64, absent or a word",
			       path, row->line, text);
	*relation = 0;
	snprintf(f->key, sizeof(f->key), "%s", trim(line));
	key_rename(f->key, sizeof(f->key));
	const struct key_family *family = key_family(f->key);
	if (!family)
		return err_set(e, -EINVAL, "%s:%u: there is no key '%s'; `fathom list keys` names them", path,
			       row->line, f->key);
	snprintf(f->unit, sizeof(f->unit), "%s", family->unit);
	return 0;
}

int expect_parse(struct expect *x, struct arena *a, const char *text, const char *path, struct err *e)
{
	char *copy = arena_strdup(a, text);
	size_t lines = 1;
	unsigned number_of = 0;

	for (const char *at = text; (at = strchr(at, '\n')) != NULL; at++)
		lines++;
	*x = (struct expect){.row = ARENA_ARRAY(a, lines, struct expect_row)};
	if (!copy || !x->row)
		return err_nomem(e);
	for (char *line = copy, *next; line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = 0;
		number_of++;
		line[strcspn(line, "#")] = 0;
		if (!*trim(line))
			continue;
		x->row[x->count] = (struct expect_row){.line = number_of};
		const int rc = line_of(&x->row[x->count], line, path, e);
		if (rc)
			return rc;
		x->count++;
	}
	return x->count ? 0 : err_set(e, -EINVAL, "%s expects nothing; write lines such as KEY = 200 +- 5", path);
}

int expect_of_run(struct expect *x, struct arena *a, const struct run *r)
{
	*x = (struct expect){.row = ARENA_ARRAY(a, r->findings.count + 1, struct expect_row)};
	if (!x->row)
		return -ENOMEM;
	for (size_t i = 0; i < r->findings.count; i++)
		if (finding_answered(&r->findings.items[i]))
			x->row[x->count++] = (struct expect_row){.says = r->findings.items[i]};
	return 0;
}

bool expect_contradicted(const struct expect_row *row)
{
	return row->found && compare_findings(row->found, &row->says) == COMPARE_CONTRADICT;
}

void expect_ask(struct expect *x, const struct run *r)
{
	x->contradicted = x->undecided = 0;
	for (size_t i = 0; i < x->count; i++) {
		struct expect_row *row = &x->row[i];

		row->found = findings_get(&r->findings, row->says.key);
		x->contradicted += expect_contradicted(row);
		x->undecided += !row->found || !finding_answered(row->found);
	}
}
