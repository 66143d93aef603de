#include "data/paper_formula.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIGNS "+-*/"

static int read_term(struct formula_term *t, const char *word, size_t n, struct err *e)
{
	char *end = NULL;
	if (n >= sizeof t->key)
		return err_set(e, -EINVAL, "the key '%.40s...' is longer than any", word);
	memcpy(t->key, word, n);
	t->key[n] = '\0';
	t->number = strtod(t->key, &end);
	t->is_number = *end == '\0' && isfinite(t->number) && strspn(t->key, "0123456789.") == n;
	return 0;
}

int formula_parse(struct formula *out, const char *cell, struct err *e)
{
	*out = (struct formula){0};
	if (strcmp(cell, PAPER_NO_KEY) == 0 || strcmp(cell, PAPER_SETTING) == 0)
		return 0;
	for (const char *at = cell;;) {
		struct formula_term *t = &out->term[out->count];
		t->sign = '+';
		if (out->count) { /* a sign, and a blank behind it */
			if (!strchr(SIGNS, *at) || (at[1] && at[1] != ' '))
				return err_set(e, -EINVAL,
					       "in '%.80s' one of + - * / with a blank before and behind it has to "
					       "stand between two keys or numbers",
					       cell);
			t->sign = *at;
			at += 1 + strspn(at + 1, " ");
		}
		const size_t n = strcspn(at, " ");
		const int rc = read_term(t, at, n, e);
		if (rc)
			return rc;
		if (n == 0 || strchr(SIGNS, *at))
			return err_set(e, -EINVAL, "in '%.80s' a key or a number is missing", cell);
		out->count++;
		at += n + strspn(at + n, " ");
		if (!*at)
			break;
		if (out->count == FORMULA_TERMS)
			return err_set(e, -EINVAL, "'%.80s' has more than %d terms", cell, FORMULA_TERMS);
	}
	if (out->count == 1 && out->term[0].is_number)
		return err_set(e, -EINVAL, "'%.80s' is a number, and no key", cell);
	return 0;
}

static double applied(double to, const struct formula_term *t, double by)
{
	return t->sign == '+' ? to + by : t->sign == '-' ? to - by : t->sign == '*' ? to * by : to / by;
}

int formula_finding(const struct finding **out, struct arena *a, const char *cell, const char *unit,
		    const struct finding_list *findings)
{
	struct formula f;
	struct err e = {0};
	*out = NULL;
	if (formula_parse(&f, cell, &e) || f.count == 0)
		return 0;
	if (f.count == 1) {
		*out = findings_get(findings, f.term[0].key);
		return 0;
	}
	struct finding *made = ARENA_NEW(a, struct finding);
	if (!made)
		return -ENOMEM;
	double value = 0;
	made->verdict = VERDICT_MEASURED;
	for (unsigned i = 0; i < f.count; i++) {
		const struct formula_term *t = &f.term[i];
		const struct finding *is = t->is_number ? NULL : findings_get(findings, t->key);
		if (!t->is_number && !is)
			return 0;
		const bool number = !is || (finding_estimated(is) && is->value.kind == VALUE_NUMBER);
		if (is && is->verdict == VERDICT_LIKELY && made->verdict == VERDICT_MEASURED) {
			made->verdict = VERDICT_LIKELY;
			snprintf(made->because, sizeof made->because, "%.90s: %.200s", t->key, is->because);
		}
		if (!number && finding_estimated(made)) {
			made->verdict = finding_estimated(is) ? VERDICT_INCONCLUSIVE : is->verdict;
			snprintf(made->because, sizeof made->because, "%.90s: %.200s", t->key,
				 finding_estimated(is) ? "it is not one number" : is->because);
		}
		value = applied(value, t, is ? is->value.number : t->number);
	}
	if (finding_estimated(made) && !isfinite(value)) {
		made->verdict = VERDICT_INCONCLUSIVE;
		snprintf(made->because, sizeof made->because, "what is divided by is 0");
	}
	made->lo = made->hi = made->value.number = NAN;
	if (finding_estimated(made)) {
		made->value = (struct value){.kind = VALUE_NUMBER, .number = value};
		made->lo = made->hi = value;
	}
	snprintf(made->key, sizeof made->key, "%s", cell);
	snprintf(made->unit, sizeof made->unit, "%s", unit);
	snprintf(made->method, sizeof made->method, "from other findings");
	*out = made;
	return 0;
}
