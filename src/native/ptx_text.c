/* PTX that a compiler hands out, into classes. It is not what runs, but comes from the compiler that could have changed
 * most. It says whether loads still go to the memory they were meant for, and how many operations are left. */
#include "base/arena.h"
#include "base/str.h"
#include "native/native.h"
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define NAME 40 /* letters of an operation that are kept */

struct statement {
	const char *at;
	size_t n;
};

/* Whether one of the words between the dots of an operation is this one. */
static bool has_word(const char *op, const char *word)
{
	const size_t n = strlen(word);
	for (const char *p = op; p; p = strchr(p, '.')) {
		p += *p == '.';
		if (!strncmp(p, word, n) && (p[n] == '.' || !p[n] || isdigit((unsigned char)p[n]) || p[n] == ':'))
			return true;
	}
	return false;
}

static bool is(const char *op, const char *first)
{
	const size_t n = strlen(first);
	return !strncmp(op, first, n) && (op[n] == '.' || !op[n]);
}

/* Of a load: that of the memory it names; parameters come as constants do, and what names none may go anywhere. */
static enum native_class load_class(const char *op)
{
	static const struct {
		const char *word;
		enum native_class cls;
	} spaces[] = {
	    {"global", NATIVE_LOAD_GLOBAL}, {"shared", NATIVE_LOAD_SHARED}, {"const", NATIVE_LOAD_CONST},
	    {"local", NATIVE_LOAD_LOCAL},   {"param", NATIVE_OTHER},
	};
	for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++)
		if (has_word(op, spaces[i].word))
			return spaces[i].cls;
	return NATIVE_UNKNOWN;
}

static enum native_class class_of(const char *op, const struct statement *s)
{
	static const struct {
		const char *first;
		enum native_class cls;
	} firsts[] = {
	    {"st", NATIVE_STORE},
	    {"atom", NATIVE_ATOMIC},
	    {"red", NATIVE_ATOMIC},
	    {"tex", NATIVE_TEXTURE},
	    {"tld4", NATIVE_TEXTURE},
	    {"bra", NATIVE_BRANCH},
	    {"brx", NATIVE_BRANCH},
	    {"call", NATIVE_BRANCH},
	    {"ret", NATIVE_BRANCH},
	    {"exit", NATIVE_BRANCH},
	    {"bar", NATIVE_BARRIER},
	    {"barrier", NATIVE_BARRIER},
	    {"membar", NATIVE_BARRIER},
	    {"fence", NATIVE_BARRIER},
	    {"cp", NATIVE_OTHER},
	    {"prefetch", NATIVE_OTHER},
	    {"discard", NATIVE_OTHER},
	    {"nanosleep", NATIVE_OTHER},
	    {"griddepcontrol", NATIVE_OTHER},
	};
	if (is(op, "ld") || is(op, "ldu"))
		return load_class(op);
	for (size_t i = 0; i < sizeof firsts / sizeof *firsts; i++)
		if (is(op, firsts[i].first))
			return firsts[i].cls;
	if (is(op, "mov"))
		for (size_t i = 0; i + 6 <= s->n; i++)
			if (!strncmp(s->at + i, "%clock", 6))
				return NATIVE_CLOCK;
	return NATIVE_ALU;
}

/* The next character that is neither blank nor of a comment. */
static const char *skip(const char *p, const char *end)
{
	for (;;) {
		while (p < end && isspace((unsigned char)*p))
			p++;
		if (end - p < 2 || p[0] != '/' || (p[1] != '/' && p[1] != '*'))
			return p;
		const bool line = p[1] == '/';
		for (p += 2; p < end && (line ? *p != '\n' : end - p < 2 || p[0] != '*' || p[1] != '/'); p++)
			;
		p += line ? 0 : 2;
		p = p < end ? p : end;
	}
}

/* Behind the name of the entry: its body, from behind the bracket on. NULL: it is not there. */
static const char *body_of(const char *text, const char *end, const char *entry)
{
	const size_t n = strlen(entry);
	for (const char *p = text; end - p > 6; p++) {
		if (strncmp(p, ".entry", 6))
			continue;
		const char *name = skip(p + 6, end);
		if ((size_t)(end - name) <= n || strncmp(name, entry, n) || isalnum((unsigned char)name[n]) ||
		    name[n] == '_')
			continue;
		const char *open = memchr(name, '{', (size_t)(end - name));
		return open ? open + 1 : NULL;
	}
	return NULL;
}

/* *p: behind the end of the statement. false: the body ends before one begins. */
static bool next_statement(const char **p, const char *end, int *depth, struct statement *s)
{
	for (;;) {
		const char *at = skip(*p, end), *q = at;
		if (at >= end)
			return false;
		if (*at == '{' || *at == '}') { /* a block within the body; "{%r1, %r2}" begins no statement */
			*depth += *at == '{' ? 1 : -1;
			*p = at + 1;
			if (!*depth)
				return false;
			continue;
		}
		while (q < end && (isalnum((unsigned char)*q) || *q == '_' || *q == '$' || *q == '%'))
			q++;
		if (q > at && q < end && *q == ':') { /* a label */
			*p = q + 1;
			continue;
		}
		if (*at == '.' &&
		    !strncmp(at, ".loc", end - at < 4 ? (size_t)(end - at) : 4)) { /* ends with its line */
			const char *line = memchr(at, '\n', (size_t)(end - at));
			*p = line ? line : end;
			continue;
		}
		const char *stop = memchr(at, ';', (size_t)(end - at));
		if (!stop)
			return false;
		*p = stop + 1;
		if (*at == '.') /* a declaration */
			continue;
		*s = (struct statement){at, (size_t)(stop - at)};
		return true;
	}
}

/* out: the operation without its guard. false: there is none. */
static bool operation_of(const struct statement *s, char out[NAME])
{
	const char *p = s->at, *end = s->at + s->n;
	size_t n = 0;
	if (*p == '@') {
		while (p < end && !isspace((unsigned char)*p))
			p++;
		p = skip(p, end);
	}
	while (p < end && n + 1 < NAME && (isalnum((unsigned char)*p) || strchr("._:", *p)))
		out[n++] = *p++;
	out[n] = 0;
	return n > 0;
}

void native_read_ptx(struct native_info *out, const char *text, size_t bytes, const char *entry, const char *source)
{
	const char *end = text + bytes, *body = body_of(text, end, entry), *p = body;
	struct statement s;
	struct arena a;
	size_t n = 0;
	int depth = 1;
	char name[NAME] = "";

	memset(out, 0, sizeof *out);
	snprintf(out->source, sizeof out->source, "%s", source);
	if (!body) {
		snprintf(out->problem, sizeof out->problem, "the PTX that was handed out has no entry %.60s", entry);
		return;
	}
	while (next_statement(&p, end, &depth, &s))
		n++;
	arena_init(&a);
	struct native_op *ops = arena_alloc(&a, n + 1, sizeof *ops);
	n = 0;
	depth = 1;
	for (p = body; ops && next_statement(&p, end, &depth, &s);) {
		if (!operation_of(&s, name))
			continue;
		ops[n].name = arena_strdup(&a, name);
		ops[n].cls = class_of(name, &s);
		if (!ops[n].name)
			ops = NULL;
		else
			n++;
	}
	if (ops)
		native_count(out, ops, n, source);
	else
		snprintf(out->problem, sizeof out->problem, "out of memory while reading the PTX that was handed out");
	memset(&out->layout, 0, sizeof out->layout); /* PTX lies nowhere */
	arena_free(&a);
}
