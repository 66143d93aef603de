#include "kernel/expr.h"
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

size_t scope_name(const char *s, const char *end)
{
	size_t n = 0;

	while (s + n < end && (isalpha((unsigned char)s[n]) || s[n] == '_' || (n && isdigit((unsigned char)s[n]))))
		n++;
	return n;
}

static bool is(const char *name, const char *s, size_t len)
{
	return *name == *s && strncmp(name, s, len) == 0 && !name[len];
}

const char *scope_text(const struct scope *sc, const char *name, size_t len, char out[24])
{
	for (size_t i = sc->var_count; i-- > 0;) {
		if (is(sc->var[i].name, name, len)) {
			snprintf(out, 24, "%lld", (long long)sc->var[i].value);
			return out;
		}
	}
	for (size_t i = 0; i < sc->param_count; i++) {
		if (is(sc->params[i].name, name, len))
			return sc->params[i].text;
	}
	for (size_t i = 0; i < sc->own_count; i++) {
		if (is(sc->own[i].name, name, len))
			return sc->own[i].text;
	}
	return NULL;
}

void scope_names(const struct scope *sc, char *out, size_t n)
{
	size_t at = 0;

	out[0] = '\0';
	for (size_t i = 0; i < sc->param_count + sc->own_count && at < n; i++) {
		const char *name = i < sc->param_count ? sc->params[i].name : sc->own[i - sc->param_count].name;
		int add = snprintf(out + at, n - at, "%s%s", i ? ", " : "", name);
		at += add > 0 ? (size_t)add : 0;
	}
}

/* A text is what stands in quotes, or a parameter that is no integer; a number remembers its spelling too. */
struct term {
	bool text;
	int64_t number;
	const char *s;
	size_t len;
	char own[24]; /* spelling of a #repeat variable */
};

struct parser {
	const struct scope *sc;
	const char *at, *end;
	struct err *e;
	unsigned depth;
	int skip; /* > 0 while the value cannot matter (right of a decided && or ||) */
};

static int level(struct parser *p, unsigned lowest, struct term *out);

static void blank(struct parser *p)
{
	while (p->at < p->end && isspace((unsigned char)*p->at))
		p->at++;
}

static bool take(struct parser *p, char c)
{
	blank(p);
	if (p->at < p->end && *p->at == c) {
		p->at++;
		return true;
	}
	return false;
}

static int number(struct parser *p, struct term *out)
{
	char buffer[32], *stop;
	size_t n = 0;

	while (p->at + n < p->end && n + 1 < sizeof(buffer) && isalnum((unsigned char)p->at[n]))
		n++;
	memcpy(buffer, p->at, n);
	buffer[n] = '\0';
	errno = 0;
	out->number = strtoll(buffer, &stop, 0);
	if (*stop || errno)
		return err_set(p->e, -EINVAL, "'%s' is not an integer", buffer);
	p->at += n;
	return 0;
}

static int name(struct parser *p, struct term *out)
{
	size_t n = scope_name(p->at, p->end);
	char out_text[24], *stop;
	const char *text = scope_text(p->sc, p->at, n, out_text);

	if (!text) {
		char known[256];
		scope_names(p->sc, known, sizeof(known));
		return err_set(p->e, -EINVAL, "unknown parameter '%.*s' (known: %s)", (int)n, p->at, known);
	}
	p->at += n;
	errno = 0;
	out->number = strtoll(text, &stop, 0);
	out->text = !*text || *stop || errno;
	if (text == out_text) {
		memcpy(out->own, out_text, sizeof(out->own));
		text = NULL;
	}
	out->s = text;
	out->len = strlen(text ? text : out->own);
	return 0;
}

static int primary(struct parser *p, struct term *out)
{
	*out = (struct term){0};
	blank(p);
	if (p->at == p->end)
		return err_set(p->e, -EINVAL, "expression ends too early");
	if (++p->depth > 64)
		return err_set(p->e, -EINVAL, "expression is nested too deeply");
	int rc = 0;
	char c = *p->at;

	if (take(p, '(')) {
		rc = level(p, 0, out);
		if (!rc && !take(p, ')'))
			rc = err_set(p->e, -EINVAL, "')' is missing");
	} else if (c == '-' || c == '!' || c == '~') {
		p->at++;
		rc = primary(p, out);
		if (!rc && out->text)
			rc = err_set(p->e, -EINVAL, "'%c' needs a number, not a text", c);
		/* through unsigned, so that the smallest number stays defined */
		if (!rc)
			out->number = c == '-'	 ? (int64_t) - (uint64_t)out->number
				      : c == '!' ? !out->number
						 : ~out->number;
		out->len = 0;
	} else if (c == '\'') {
		const char *close = memchr(p->at + 1, '\'', (size_t)(p->end - p->at - 1));
		if (!close)
			return err_set(p->e, -EINVAL, "a closing ' is missing");
		out->text = true;
		out->s = p->at + 1;
		out->len = (size_t)(close - p->at - 1);
		p->at = close + 1;
	} else if (isdigit((unsigned char)c)) {
		rc = number(p, out);
	} else {
		p->at += c == '$'; /* tolerated: the same spelling as outside of expressions */
		if (!scope_name(p->at, p->end))
			return err_set(p->e, -EINVAL, "unexpected '%c' in an expression", c);
		rc = name(p, out);
	}
	p->depth--;
	return rc;
}

/* Binary operators, loosest first. Longer spellings stand before their prefixes. */
static const struct binary {
	const char *text;
	unsigned level;
} binaries[] = {
    {"||", 0}, {"&&", 1}, {"|", 2}, {"^", 3}, {"&", 4}, {"==", 5}, {"!=", 5}, {"<=", 6}, {">=", 6},
    {"<<", 7}, {">>", 7}, {"<", 6}, {">", 6}, {"+", 8}, {"-", 8},  {"*", 9},  {"/", 9},	 {"%", 9},
};

static const struct binary *binary_at(struct parser *p)
{
	blank(p);
	if (p->at == p->end || *p->at == ')')
		return NULL;
	for (size_t i = 0; i < sizeof(binaries) / sizeof(binaries[0]); i++) {
		const char *text = binaries[i].text;
		if (*p->at == text[0] && (!text[1] || (p->at + 1 < p->end && p->at[1] == text[1])))
			return &binaries[i];
	}
	return NULL;
}

static bool same_text(const struct term *a, const struct term *b)
{
	const char *s = a->s ? a->s : a->own, *t = b->s ? b->s : b->own;

	return a->len == b->len && memcmp(s, t, a->len) == 0;
}

static int apply(struct parser *p, const char *op, struct term *a, const struct term *b)
{
	int64_t x = a->number, y = b->number, r = 0;
	bool over = false;

	if (a->text || b->text) {
		if (strcmp(op, "==") != 0 && strcmp(op, "!=") != 0)
			return err_set(p->e, -EINVAL, "'%s' needs numbers; a text only compares with == and !=", op);
		bool same = same_text(a, b);
		*a = (struct term){.number = same == (op[0] == '=')};
		return 0;
	}
	switch (op[0]) {
	case '|':
		r = op[1] ? x || y : x | y;
		break;
	case '&':
		r = op[1] ? x && y : x & y;
		break;
	case '^':
		r = x ^ y;
		break;
	case '=':
		r = x == y;
		break;
	case '!':
		r = x != y;
		break;
	case '<':
	case '>':
		if (op[1] == op[0]) {
			if (y < 0 || y > 62)
				return p->skip ? 0 : err_set(p->e, -EINVAL, "shift by %lld", (long long)y);
			if (op[0] == '<')
				over = __builtin_mul_overflow(x, (int64_t)1 << y, &r);
			else
				r = x >> y;
		} else {
			r = op[0] == '<' ? (op[1] ? x <= y : x < y) : (op[1] ? x >= y : x > y);
		}
		break;
	case '+':
		over = __builtin_add_overflow(x, y, &r);
		break;
	case '-':
		over = __builtin_sub_overflow(x, y, &r);
		break;
	case '*':
		over = __builtin_mul_overflow(x, y, &r);
		break;
	default: /* '/' and '%' */
		if (y == 0)
			return p->skip ? 0 : err_set(p->e, -EINVAL, "division by zero");
		over = y == -1 && x == INT64_MIN;
		if (!over)
			r = op[0] == '/' ? x / y : x % y;
	}
	if (over && !p->skip)
		return err_set(p->e, -EINVAL, "%lld %s %lld is too large", (long long)x, op, (long long)y);
	*a = (struct term){.number = r};
	return 0;
}

static int level(struct parser *p, unsigned lowest, struct term *out)
{
	int rc = primary(p, out);
	const struct binary *op;

	while (!rc && (op = binary_at(p)) && op->level >= lowest) {
		struct term right;
		bool decided = (op->level == 0 && out->number) || (op->level == 1 && !out->number);
		p->at += strlen(op->text);
		p->skip += decided;
		rc = level(p, op->level + 1, &right);
		if (!rc)
			rc = apply(p, op->text, out, &right);
		p->skip -= decided;
	}
	return rc;
}

int scope_eval(const struct scope *sc, const char *s, const char *end, int64_t *value, struct err *e)
{
	struct parser p = {.sc = sc, .at = s, .end = end, .e = e};
	struct term t;
	int rc = level(&p, 0, &t);

	if (rc)
		return rc;
	blank(&p);
	if (p.at != p.end)
		return err_set(e, -EINVAL, "unexpected '%.*s' after the expression", (int)(p.end - p.at), p.at);
	if (t.text)
		return err_set(e, -EINVAL, "'%.*s' is a text, a number is needed", (int)t.len, t.s);
	*value = t.number;
	return 0;
}
