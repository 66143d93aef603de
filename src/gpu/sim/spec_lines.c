/* The lines of a .gpu file: key = value unit  # source. */
#include "base/str.h"
#include "gpu/sim/spec_file.h"
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEY_BYTES  96
#define LINES_MAX  8192 /* after brace expansion: no GPU needs more, and a hostile file must not eat the memory */
#define LINE_BYTES 4096

int spec_fail(const struct spec_file *f, unsigned line, const char *fmt, ...)
{
	char text[400];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	if (line == 0)
		return err_set(f->e, -EINVAL, "%s: %s", f->name, text);
	return err_set(f->e, -EINVAL, "%s:%u: %s", f->name, line, text);
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static char *trim(char *s)
{
	while (is_blank(*s))
		s++;
	size_t n = strlen(s);
	while (n > 0 && is_blank(s[n - 1]))
		s[--n] = '\0';
	return s;
}

static int add(struct spec_file *f, const char *key, const char *value, const char *unit, unsigned line)
{
	if (f->count >= LINES_MAX)
		return spec_fail(f, line, "more than %d keys", LINES_MAX);
	if (f->count == f->cap) {
		size_t cap = f->cap ? f->cap * 2 : 256;
		struct spec_line *grown = ARENA_ARRAY(f->a, cap, struct spec_line);
		if (!grown)
			return err_nomem(f->e);
		if (f->count)
			memcpy(grown, f->lines, f->count * sizeof *grown);
		f->lines = grown;
		f->cap = cap;
	}
	const struct spec_key *k = spec_key_find(key);
	if (!k) {
		char near[KEY_BYTES];
		spec_key_nearest(near, sizeof near, key);
		if (near[0])
			return spec_fail(f, line, "unknown key '%s'; did you mean '%s'?", key, near);
		return spec_fail(f, line, "unknown key '%s'; doc/gpu-file.md lists the keys", key);
	}
	enum spec_dim dim;
	double scale;
	if (!spec_unit(unit, &dim, &scale))
		return spec_fail(f, line, "'%s' has no unit: '%s' is none of %s", key, unit, spec_unit_list());
	if (dim != k->dim)
		return spec_fail(f, line, "'%s' is in %s, not in %s", key, spec_dim_name(k->dim), unit);
	struct spec_line *l = &f->lines[f->count];
	*l = (struct spec_line){.key = arena_strdup(f->a, key),
				.value = value,
				.unit = unit,
				.line = f->lent ? f->lent : line,
				.lent = f->lent != 0};
	if (!l->key)
		return err_nomem(f->e);
	f->count++;
	return 0;
}

/* a.{b,c}.d becomes a.b.d and a.c.d; the first brace is expanded here, the next ones by the call. */
static int expand(struct spec_file *f, const char *key, const char *value, const char *unit, unsigned line)
{
	const char *open = strchr(key, '{');
	if (!open) {
		if (strchr(key, '}'))
			return spec_fail(f, line, "'%s' has a '}' without its '{'", key);
		return add(f, key, value, unit, line);
	}
	const char *close = strchr(open, '}');
	if (!close)
		return spec_fail(f, line, "'%s' has a '{' without its '}'", key);
	for (const char *item = open + 1; item <= close;) {
		size_t n = strcspn(item, ",}");
		char one[KEY_BYTES * 4];
		int len = snprintf(one, sizeof one, "%.*s%.*s%s", (int)(open - key), key, (int)n, item, close + 1);
		if (len < 0 || (size_t)len >= sizeof one)
			return spec_fail(f, line, "the key is too long");
		if (n == 0)
			return spec_fail(f, line, "'%s' has an empty choice in its braces", key);
		int rc = expand(f, one, value, unit, line);
		if (rc)
			return rc;
		item += n + 1;
	}
	return 0;
}

/* The comment's first character, or NULL: a # inside quotes is no comment. */
static char *comment(char *s, bool *quoted)
{
	*quoted = false;
	for (; *s; s++) {
		if (*s == '"')
			*quoted = !*quoted;
		if (*s == '#' && !*quoted)
			return s;
	}
	return NULL;
}

static int read_line(struct spec_file *f, char *text, unsigned line)
{
	bool quoted;
	char *hash = comment(text, &quoted);
	if (quoted)
		return spec_fail(f, line, "a quote is opened and not closed");
	char *source = NULL;
	if (hash) {
		*hash = '\0';
		source = trim(hash + 1);
	}
	char *key = trim(text);
	if (!*key)
		return 0;
	char *equals = strchr(key, '=');
	if (!equals)
		return spec_fail(f, line, "'%.60s' is no line of the form 'key = value unit  # source'", key);
	*equals = '\0';
	key = trim(key);
	char *value = trim(equals + 1);
	if (strlen(key) >= KEY_BYTES * 2 || strpbrk(key, " \t\""))
		return spec_fail(f, line, "'%.60s' is no key", key);
	size_t end = strlen(value);
	while (end > 0 && !is_blank(value[end - 1]) && value[end - 1] != '"')
		end--;
	char *unit = value + end;
	if (!*key || !*value || end == 0 || !*unit)
		return spec_fail(f, line, "'%.60s' needs a value and a unit, in this order", key);
	if (!source || !*source)
		return spec_fail(f, line,
				 "'%.60s' has no source: say after a # where the value is from, or 'guess: why'", key);
	unit = arena_strdup(f->a, unit);
	value[end] = '\0';
	value = trim(value);
	size_t n = strlen(value);
	if (n >= 2 && value[0] == '"' && value[n - 1] == '"') {
		value[n - 1] = '\0';
		value++;
	}
	if (strchr(value, '"'))
		return spec_fail(f, line, "'%.60s' has a quote in its value that does not match", key);
	value = arena_strdup(f->a, value);
	if (!unit || !value)
		return err_nomem(f->e);
	return expand(f, key, value, unit, line);
}

static int compare(const void *a, const void *b)
{
	const struct spec_line *x = a, *y = b;
	int order = strcmp(x->key, y->key);
	if (order || x->lent != y->lent)
		return order ? order : x->lent - y->lent;
	return (x->line > y->line) - (x->line < y->line);
}

static int read_text(struct spec_file *f, const char *text, size_t size)
{
	unsigned line = 1;
	for (size_t at = 0; at < size; line++) {
		const char *end = memchr(text + at, '\n', size - at);
		size_t n = end ? (size_t)(end - (text + at)) : size - at;
		char copy[LINE_BYTES];
		if (n >= sizeof copy)
			return spec_fail(f, line, "the line is longer than %d bytes", LINE_BYTES - 1);
		memcpy(copy, text + at, n);
		copy[n] = '\0';
		if (strlen(copy) != n)
			return spec_fail(f, line, "a zero byte: this is no text file");
		int rc = read_line(f, copy, line);
		if (rc)
			return rc;
		at += n + 1;
	}
	return 0;
}

/* The lines of the built-in description that this one says it is like. */
static int borrow(struct spec_file *f, const struct embedded **base)
{
	char path[KEY_BYTES + 16], near[64];
	const struct spec_line *like = NULL;
	for (size_t i = 0; i < f->count; i++)
		if (strcmp(f->lines[i].key, "device.like") == 0)
			like = &f->lines[i];
	if (!like)
		return 0;
	snprintf(path, sizeof path, "gpus/%.*s.gpu", KEY_BYTES, like->value);
	*base = embed_find(path);
	if (!*base && embed_nearest(near, sizeof near, "gpus/", ".gpu", like->value))
		return spec_fail(f, like->line, "no built-in description is called '%.60s'; did you mean %s?",
				 like->value, near);
	if (!*base)
		return spec_fail(f, like->line,
				 "no built-in description is called '%.60s'; fathom list gpus names them", like->value);
	const unsigned line = like->line; /* the lines may move */
	const char *name = like->value;
	f->lent = line;
	int rc = read_text(f, (*base)->data, (*base)->size);
	f->lent = 0;
	for (size_t i = 0; rc == 0 && i < f->count; i++)
		if (f->lines[i].lent && strcmp(f->lines[i].key, "device.like") == 0)
			rc = spec_fail(f, line, "'%.60s' is itself like '%.60s'; name that one", name,
				       f->lines[i].value);
	return rc;
}

int spec_lines(struct spec_file *f, const char *text, size_t size, const struct embedded **base)
{
	size_t kept = 0;
	*base = NULL;
	int rc = read_text(f, text, size);
	if (rc == 0)
		rc = borrow(f, base);
	if (rc)
		return rc;
	if (f->count == 0)
		return spec_fail(f, 0, "the file describes nothing");
	qsort(f->lines, f->count, sizeof *f->lines, compare);
	for (size_t i = 0; i < f->count; i++) {
		const bool again = kept && strcmp(f->lines[kept - 1].key, f->lines[i].key) == 0;
		if (!again)
			f->lines[kept++] = f->lines[i];
		else if (!f->lines[i].lent || f->lines[kept - 1].lent)
			return spec_fail(f, f->lines[i].line, "'%s' was already given in line %u", f->lines[i].key,
					 f->lines[kept - 1].line);
	}
	f->count = kept;
	return 0;
}

const struct spec_line *spec_line(const struct spec_file *f, const char *key)
{
	size_t lo = 0, hi = f->count;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		int order = strcmp(f->lines[mid].key, key);
		if (order == 0)
			return &f->lines[mid];
		if (order < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return NULL;
}

unsigned spec_line_number(const struct spec_file *f, const char *key)
{
	const struct spec_line *l = spec_line(f, key);
	return l ? l->line : 0;
}

bool spec_item(const char **list, char *out, size_t n)
{
	const char *s = *list;
	if (!s)
		return false;
	size_t len = strcspn(s, ",");
	*list = s[len] ? s + len + 1 : NULL;
	while (len && is_blank(*s)) {
		s++;
		len--;
	}
	while (len && is_blank(s[len - 1]))
		len--;
	snprintf(out, n, "%.*s", (int)(len < n ? len : n - 1), s);
	return true;
}

int spec_number(const struct spec_file *f, const struct spec_line *l, const char *text, double *out)
{
	const struct spec_key *k = spec_key_find(l->key);
	enum spec_dim dim = DIM_COUNT;
	double scale = 1;
	spec_unit(l->unit, &dim, &scale);
	char *end = NULL;
	double v = strtod(text, &end);
	/* strtod also takes hexadecimal, infinity and NaN, which are no measured values. */
	if (!*text || *end || strspn(text, "0123456789+-.eE") != strlen(text))
		return spec_fail(f, l->line, "'%s' is '%.40s', which is no number", l->key, text);
	v *= scale;
	if (k && (v < k->min || v > k->max))
		return spec_fail(f, l->line, "'%s' is %.10g %s: it has to lie between %.10g and %.10g", l->key, v,
				 spec_dim_name(dim), k->min, k->max);
	if (!isfinite(v))
		return spec_fail(f, l->line, "'%s' is not finite", l->key);
	*out = v;
	return 0;
}

int spec_numbers(const struct spec_file *f, const struct spec_line *l, double *out, uint32_t count, const char *owner,
		 const char *what)
{
	const char *list = l->value;
	char item[48];
	uint32_t n = 0;
	while (spec_item(&list, item, sizeof item)) {
		if (n == count)
			return spec_fail(f, l->line, "'%s' has more values than %s %s, %u", l->key, owner, what, count);
		const int rc = spec_number(f, l, item, &out[n++]);
		if (rc)
			return rc;
	}
	if (n != count)
		return spec_fail(f, l->line, "'%s' has %u values for %u %s", l->key, n, count, what);
	return 0;
}
