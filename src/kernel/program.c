/* A #repeat of thousands of lines evaluates the same few expressions for each of them. Reading their text would take
 * most of the time of expanding a kernel. So an expression of numbers is read once. What is rare is left to scope_eval,
 * which also words all errors. */
#include "kernel/program.h"
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 16, NUMBER_BYTES = 20 };

struct reader {
	const struct scope *sc;
	struct program *p;
	const char *at, *end;
	unsigned depth;
};

static bool add(struct reader *r, enum program_do what, int64_t number)
{
	if (r->p->count == PROGRAM_STEPS)
		return false;
	r->p->step[r->p->count++] = (struct program_step){what, number};
	return true;
}

static char blank(struct reader *r)
{
	while (r->at < r->end && isspace((unsigned char)*r->at))
		r->at++;
	return r->at < r->end ? *r->at : 0;
}

static bool level(struct reader *r, unsigned lowest);

static bool decimal(const char *text, int64_t *value)
{
	char *stop;

	if (!*text || isspace((unsigned char)*text))
		return false;
	errno = 0;
	*value = strtoll(text, &stop, 0);
	return !*stop && !errno;
}

static bool literal(struct reader *r)
{
	char text[NUMBER_BYTES];
	size_t n = 0;
	int64_t value;

	while (r->at + n < r->end && n + 1 < sizeof text && isalnum((unsigned char)r->at[n]))
		n++;
	memcpy(text, r->at, n);
	text[n] = '\0';
	r->at += n;
	return n + 1 < sizeof text && decimal(text, &value) && add(r, PROGRAM_NUMBER, value);
}

static bool name(struct reader *r)
{
	const size_t n = scope_name(r->at, r->end);
	const char *s = r->at;
	char own[24];
	int64_t value;

	if (!n)
		return false;
	r->at += n;
	for (size_t i = r->sc->var_count; i-- > 0;)
		if (strlen(r->sc->var[i].name) == n && memcmp(r->sc->var[i].name, s, n) == 0)
			return add(r, PROGRAM_VARIABLE, (int64_t)i);
	const char *text = scope_text(r->sc, s, n, own);
	return text && decimal(text, &value) && add(r, PROGRAM_NUMBER, value);
}

static bool primary(struct reader *r)
{
	const char c = blank(r);
	bool ok;

	if (++r->depth > DEPTH_MAX)
		return false;
	if (c == '(') {
		r->at++;
		ok = level(r, 0) && blank(r) == ')';
		r->at += ok;
	} else if (c == '-' || c == '!') {
		r->at++;
		ok = primary(r) && add(r, c == '-' ? PROGRAM_NEGATE : PROGRAM_NOT, 0);
	} else {
		ok = isdigit((unsigned char)c) ? literal(r) : name(r);
	}
	r->depth--;
	return ok;
}

/* Loosest first, as in scope_eval; the operators of bits are not here. */
static bool binary_at(struct reader *r, enum program_do *what, unsigned *at_level, unsigned *length)
{
	static const struct {
		char text[3];
		unsigned char level, what;
	} binaries[] = {{"||", 0, PROGRAM_OR},	  {"&&", 1, PROGRAM_AND},  {"==", 2, PROGRAM_EQUAL},
			{"!=", 2, PROGRAM_OTHER}, {"<=", 3, PROGRAM_MOST}, {">=", 3, PROGRAM_LEAST},
			{"<", 3, PROGRAM_LESS},	  {">", 3, PROGRAM_MORE},  {"+", 4, PROGRAM_PLUS},
			{"-", 4, PROGRAM_MINUS},  {"*", 5, PROGRAM_TIMES}, {"/", 5, PROGRAM_OVER},
			{"%", 5, PROGRAM_REST}};

	for (size_t i = 0; i < sizeof binaries / sizeof *binaries; i++) {
		const size_t n = strlen(binaries[i].text);
		if ((size_t)(r->end - r->at) < n || memcmp(r->at, binaries[i].text, n) != 0)
			continue;
		*what = (enum program_do)binaries[i].what;
		*at_level = binaries[i].level;
		*length = (unsigned)n;
		/* a shift is two of the same */
		return n == 2 || r->at + 1 == r->end || r->at[1] != r->at[0] ||
		       (*what != PROGRAM_LESS && *what != PROGRAM_MORE);
	}
	return false;
}

static bool level(struct reader *r, unsigned lowest)
{
	enum program_do what;
	unsigned at_level, length;

	if (!primary(r))
		return false;
	for (;;) {
		const char c = blank(r);
		if (!c || c == ')')
			return true;
		if (!binary_at(r, &what, &at_level, &length))
			return false;
		if (at_level < lowest)
			return true;
		r->at += length;
		if (!level(r, at_level + 1) || !add(r, what, 0))
			return false;
	}
}

bool program_make(struct program *p, const struct scope *sc, const char *s, const char *end)
{
	struct reader r = {.sc = sc, .p = p, .at = s, .end = end};

	p->count = 0;
	return level(&r, 0) && !blank(&r);
}

static bool apply(enum program_do what, int64_t x, int64_t y, int64_t *out)
{
	switch (what) {
	case PROGRAM_OR:
		*out = x || y;
		return true;
	case PROGRAM_AND:
		*out = x && y;
		return true;
	case PROGRAM_EQUAL:
		*out = x == y;
		return true;
	case PROGRAM_OTHER:
		*out = x != y;
		return true;
	case PROGRAM_LESS:
		*out = x < y;
		return true;
	case PROGRAM_MORE:
		*out = x > y;
		return true;
	case PROGRAM_MOST:
		*out = x <= y;
		return true;
	case PROGRAM_LEAST:
		*out = x >= y;
		return true;
	case PROGRAM_PLUS:
		return !__builtin_add_overflow(x, y, out);
	case PROGRAM_MINUS:
		return !__builtin_sub_overflow(x, y, out);
	case PROGRAM_TIMES:
		return !__builtin_mul_overflow(x, y, out);
	default: /* PROGRAM_OVER, PROGRAM_REST */
		if (y == 0 || y == -1)
			return false;
		*out = what == PROGRAM_OVER ? x / y : x % y;
		return true;
	}
}

/* Both sides of && and || are evaluated: where the one that does not matter fails, scope_eval knows that it does not matter. */
bool program_run(const struct program *p, const struct scope *sc, int64_t *value)
{
	int64_t stack[PROGRAM_STEPS] = {0};
	unsigned n = 0;

	for (const struct program_step *s = p->step; s < p->step + p->count; s++) {
		if (s->what == PROGRAM_NUMBER) {
			stack[n++] = s->number;
		} else if (s->what == PROGRAM_VARIABLE) {
			stack[n++] = sc->var[s->number].value;
		} else if (n == 0) {
			return false; /* no expression is made so */
		} else if (s->what == PROGRAM_NOT) {
			stack[n - 1] = !stack[n - 1];
		} else if (s->what == PROGRAM_NEGATE) {
			stack[n - 1] = (int64_t)(0 - (uint64_t)stack[n - 1]); /* the smallest number stays defined */
		} else if (n == 1) {
			return false;
		} else {
			n--;
			if (!apply(s->what, stack[n - 1], stack[n], &stack[n - 1]))
				return false;
		}
	}
	*value = stack[0];
	return true;
}
