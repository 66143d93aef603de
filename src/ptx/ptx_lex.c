/* Text to tokens. */
#include "ptx/ptx_impl.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int ptx_fail(struct ptx_parser *p, uint32_t line, uint32_t column, const char *fmt, ...)
{
	char text[400];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	return err_set(p->e, -EINVAL, "%s:%u:%u: %s", p->name, line, column, text);
}

static bool is_alpha(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || c == '%';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* % is only a first character: "%r1%r2" are two names. */
static bool is_word(char c)
{
	return (is_alpha(c) && c != '%') || is_digit(c);
}

static int hex_value(char c)
{
	if (is_digit(c))
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

static char at(const struct ptx_parser *p, size_t i)
{
	return (size_t)(p->end - p->at) > i ? p->at[i] : '\0';
}

static void newline(struct ptx_parser *p)
{
	p->line++;
	p->line_start = p->at;
}

static int skip_blanks(struct ptx_parser *p)
{
	for (;;) {
		char c = at(p, 0);
		if (p->at == p->end)
			return 0;
		if (c == '\n') {
			p->at++;
			newline(p);
		} else if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
			p->at++;
		} else if (c == '/' && at(p, 1) == '/') {
			while (p->at < p->end && *p->at != '\n')
				p->at++;
		} else if (c == '/' && at(p, 1) == '*') {
			uint32_t line = p->line, column = (uint32_t)(p->at - p->line_start) + 1;
			p->at += 2;
			while (p->at < p->end && !(*p->at == '*' && at(p, 1) == '/')) {
				bool nl = *p->at == '\n';
				p->at++;
				if (nl)
					newline(p);
			}
			if (p->at == p->end)
				return ptx_fail(p, line, column,
						"the comment that starts here has no end: \"*/\" is missing");
			p->at += 2;
		} else {
			return 0;
		}
	}
}

/* 0fXXXXXXXX and 0dXXXXXXXXXXXXXXXX: the bits of the value, exactly that many digits */
static int lex_bits(struct ptx_parser *p, struct ptx_token *t)
{
	size_t digits = at(p, 1) == 'f' || at(p, 1) == 'F' ? 8 : 16;
	uint64_t v = 0;
	size_t i = 2;
	for (; hex_value(at(p, i)) >= 0; i++)
		v = v << 4 | (uint64_t)hex_value(at(p, i));
	if (i - 2 != digits)
		return ptx_fail(p, t->line, t->column, "a 0%c constant has %zu hexadecimal digits, not %zu", at(p, 1),
				digits, i - 2);
	t->kind = digits == 8 ? TOK_F32 : TOK_F64;
	t->imm = v;
	p->at += i;
	return 0;
}

static bool is_decimal_float(const struct ptx_parser *p)
{
	size_t i = 0;
	while (is_digit(at(p, i)))
		i++;
	if (at(p, i) == '.' && is_digit(at(p, i + 1)))
		return true;
	if (at(p, i) == '.' && !is_word(at(p, i + 1)))
		return true;
	return (at(p, i) == 'e' || at(p, i) == 'E') &&
	       (is_digit(at(p, i + 1)) || ((at(p, i + 1) == '-' || at(p, i + 1) == '+') && is_digit(at(p, i + 2))));
}

static int lex_decimal_float(struct ptx_parser *p, struct ptx_token *t)
{
	char buf[64];
	size_t n = 0;
	while (is_digit(at(p, n)))
		n++;
	if (at(p, n) == '.')
		n++;
	while (is_digit(at(p, n)))
		n++;
	if (at(p, n) == 'e' || at(p, n) == 'E') {
		n++;
		if (at(p, n) == '-' || at(p, n) == '+')
			n++;
		while (is_digit(at(p, n)))
			n++;
	}
	if (n >= sizeof buf)
		return ptx_fail(p, t->line, t->column, "this number has more than %zu characters", sizeof buf - 1);
	memcpy(buf, p->at, n);
	buf[n] = '\0';
	double d = strtod(buf, NULL);
	memcpy(&t->imm, &d, sizeof d);
	t->kind = TOK_F64;
	p->at += n;
	return 0;
}

static int lex_number(struct ptx_parser *p, struct ptx_token *t)
{
	char c1 = at(p, 1);
	if (at(p, 0) == '0' && (c1 == 'f' || c1 == 'F' || c1 == 'd' || c1 == 'D') && hex_value(at(p, 2)) >= 0)
		return lex_bits(p, t);
	if (is_decimal_float(p))
		return lex_decimal_float(p, t);
	unsigned base = 10;
	if (at(p, 0) == '0') {
		if (c1 == 'x' || c1 == 'X') {
			base = 16;
			p->at += 2;
		} else if (c1 == 'b' || c1 == 'B') {
			base = 2;
			p->at += 2;
		} else {
			base = 8;
		}
	}
	uint64_t v = 0;
	size_t digits = 0;
	for (; hex_value(at(p, 0)) >= 0 && (base == 16 || is_digit(at(p, 0))); p->at++, digits++) {
		unsigned d = (unsigned)hex_value(at(p, 0));
		if (d >= base)
			return ptx_fail(p, t->line, t->column, "%c is no digit of a base %u number", at(p, 0), base);
		if (__builtin_mul_overflow(v, base, &v) || __builtin_add_overflow(v, d, &v))
			return ptx_fail(p, t->line, t->column, "this number does not fit 64 bits");
	}
	if (digits == 0)
		return ptx_fail(p, t->line, t->column, "digits are missing after the base of the number");
	t->natural = at(p, 0) == 'U' || v >> 63;
	if (at(p, 0) == 'U')
		p->at++;
	if (is_word(at(p, 0)))
		return ptx_fail(p, t->line, t->column, "%c cannot follow a number", at(p, 0));
	t->kind = TOK_INT;
	t->imm = v;
	return 0;
}

static int lex(struct ptx_parser *p, struct ptx_token *t)
{
	PTX_TRY(skip_blanks(p));
	*t = (struct ptx_token){.line = p->line, .column = (uint32_t)(p->at - p->line_start) + 1, .s = p->at};
	char c = at(p, 0);
	if (p->at == p->end) {
		t->kind = TOK_EOF;
		return 0;
	}
	if (is_alpha(c)) {
		do
			p->at++;
		while (is_word(at(p, 0)));
		t->kind = TOK_IDENT;
	} else if (is_digit(c)) {
		PTX_TRY(lex_number(p, t));
	} else if (c == '.' && is_word(at(p, 1))) {
		p->at++;
		t->s = p->at;
		while (is_word(at(p, 0)) || (at(p, 0) == ':' && at(p, 1) == ':' && is_word(at(p, 2))))
			p->at += at(p, 0) == ':' ? 2 : 1;
		t->kind = TOK_DOT;
	} else if (c == '"') {
		t->s = ++p->at;
		while (p->at < p->end && *p->at != '"' && *p->at != '\n')
			p->at++;
		if (at(p, 0) != '"')
			return ptx_fail(p, t->line, t->column, "the string that starts here has no closing \"");
		t->kind = TOK_STRING;
		t->n = (uint32_t)(p->at - t->s);
		p->at++;
		return 0;
	} else if (strchr("@!{}[]()<>,;:+-|=~*/^&?", c) && c != '\0') {
		p->at++;
		t->kind = TOK_PUNCT;
		t->c = c;
	} else if (c >= ' ' && c < 0x7f) {
		return ptx_fail(p, t->line, t->column, "'%c' has no meaning here", c);
	} else {
		return ptx_fail(p, t->line, t->column, "byte 0x%02x has no meaning in PTX", (unsigned)(unsigned char)c);
	}
	t->n = (uint32_t)(p->at - t->s);
	return 0;
}

int ptx_advance(struct ptx_parser *p)
{
	if (p->has_ahead) {
		p->tok = p->ahead;
		p->has_ahead = false;
		return 0;
	}
	return lex(p, &p->tok);
}

int ptx_peek(struct ptx_parser *p)
{
	if (p->has_ahead)
		return 0;
	PTX_TRY(lex(p, &p->ahead));
	p->has_ahead = true;
	return 0;
}

void ptx_skip_line(struct ptx_parser *p)
{
	while (p->at < p->end && *p->at != '\n')
		p->at++;
}

bool ptx_token_is(const struct ptx_token *t, const char *s)
{
	return (t->kind == TOK_IDENT || t->kind == TOK_DOT) && strlen(s) == t->n && memcmp(s, t->s, t->n) == 0;
}

const char *ptx_token_text(const struct ptx_token *t, char buf[64])
{
	switch (t->kind) {
	case TOK_EOF:
		snprintf(buf, 64, "the end of the text");
		break;
	case TOK_PUNCT:
		snprintf(buf, 64, "'%c'", t->c);
		break;
	case TOK_STRING:
		snprintf(buf, 64, "a string");
		break;
	default:
		snprintf(buf, 64, "'%s%.*s%s'", t->kind == TOK_DOT ? "." : "", t->n > 48 ? 48 : (int)t->n, t->s,
			 t->n > 48 ? "..." : "");
	}
	return buf;
}

int ptx_expect(struct ptx_parser *p, char c, const char *why)
{
	char buf[64];
	if (!ptx_is(p, c))
		return PTX_FAIL_AT(p, &p->tok, "expected '%c' %s, not %s", c, why, ptx_token_text(&p->tok, buf));
	return ptx_advance(p);
}

int ptx_accept(struct ptx_parser *p, char c, bool *yes)
{
	*yes = ptx_is(p, c);
	return *yes ? ptx_advance(p) : 0;
}
