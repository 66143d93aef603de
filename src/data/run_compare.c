#include "data/run_compare.h"
#include "base/str.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *compare_state_name(enum compare_state s)
{
	static const char *const name[COMPARE_STATES] = {"contradict", "differ", "some", "agree", "open"};
	return name[s];
}

bool compare_is_whole(const struct finding *f)
{
	static const char *const whole[] = {"count", "bytes", "name", "yes/no"};
	for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
		if (strcmp(f->unit, whole[i]) == 0)
			return true;
	return false;
}

/* How far two values of this unit may be apart and still be one. */
static double allowed(const struct finding *f, double a, double b)
{
	if (compare_is_whole(f))
		return COMPARE_WHOLE;
	if (strcmp(f->unit, "cycles") == 0 && !str_ends(f->key, ".issue"))
		return COMPARE_CYCLES;
	return COMPARE_SHARE * fmax(fabs(a), fabs(b));
}

static int ascending(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

/* Whether values are no further apart than is allowed and `more`. Ways and sets have numbers of their own in each run: arrays agree in whatever
 * order. */
static bool same_array(const struct finding *a, const struct finding *b, double more)
{
	struct value x = a->value, y = b->value;
	if (x.array_count != y.array_count)
		return false;
	qsort(x.array, x.array_count, sizeof *x.array, ascending);
	qsort(y.array, y.array_count, sizeof *y.array, ascending);
	for (unsigned i = 0; i < x.array_count; i++)
		if (fabs(x.array[i] - y.array[i]) > allowed(a, x.array[i], y.array[i]) + more)
			return false;
	return true;
}

/* How far each value of a list may be off. */
static double off(const struct finding *f)
{
	return isfinite(f->lo) && isfinite(f->hi) ? (f->hi - f->lo) / 2 : 0;
}

static bool same_value(const struct finding *a, const struct finding *b)
{
	const struct value *x = &a->value, *y = &b->value;
	if (x->kind != y->kind)
		return false;
	switch (x->kind) {
	case VALUE_NUMBER:
		return fabs(x->number - y->number) <= allowed(a, x->number, y->number);
	case VALUE_TEXT:
		return strcmp(x->text, y->text) == 0;
	case VALUE_ARRAY:
		return same_array(a, b, 0);
	case VALUE_NONE:
		break;
	}
	return true;
}

/* An end that is not known leaves the value itself, of a bound nothing. */
static double end(const struct finding *f, double end, double open)
{
	if (isfinite(end))
		return end;
	return f->verdict == VERDICT_BOUND ? open : f->value.number;
}

static bool room_for_both(const struct finding *a, const struct finding *b)
{
	if (a->value.kind == VALUE_TEXT || b->value.kind == VALUE_TEXT)
		return false;
	if (a->value.kind == VALUE_ARRAY && b->value.kind == VALUE_ARRAY && same_array(a, b, off(a) + off(b)))
		return true;
	if (a->value.kind == VALUE_ARRAY || b->value.kind == VALUE_ARRAY)
		return a->verdict == VERDICT_BOUND || b->verdict == VERDICT_BOUND;
	const double slack = allowed(a, a->value.number, b->value.number);
	return end(a, a->lo, -INFINITY) <= end(b, b->hi, INFINITY) + slack &&
	       end(b, b->lo, -INFINITY) <= end(a, a->hi, INFINITY) + slack;
}

enum compare_state compare_findings(const struct finding *a, const struct finding *b)
{
	const bool is_a = finding_estimated(a), is_b = finding_estimated(b);
	const bool no_a = a->verdict == VERDICT_ABSENT, no_b = b->verdict == VERDICT_ABSENT;
	const bool some_a = is_a || a->verdict == VERDICT_BOUND, some_b = is_b || b->verdict == VERDICT_BOUND;
	if (no_a && no_b)
		return COMPARE_AGREE;
	if ((no_a && some_b) || (no_b && some_a))
		return COMPARE_CONTRADICT;
	if (is_a && is_b && same_value(a, b))
		return COMPARE_AGREE;
	if (some_a && some_b && !room_for_both(a, b))
		return COMPARE_CONTRADICT;
	if (is_a && is_b)
		return COMPARE_DIFFER;
	return is_a || is_b || no_a || no_b ? COMPARE_SOME : COMPARE_OPEN;
}

static int by_key(const void *a, const void *b)
{
	return strcmp(((const struct compare_row *)a)->key, ((const struct compare_row *)b)->key);
}

/* The worst that two of them say of each other; a run without the finding says nothing. */
static enum compare_state judge(const struct compare_row *r, size_t n)
{
	enum compare_state worst = COMPARE_OPEN;
	bool missing = false, decided = false;
	for (size_t i = 0; i < n; i++) {
		if (!r->of[i]) {
			missing = true;
			continue;
		}
		decided |= finding_estimated(r->of[i]) || r->of[i]->verdict == VERDICT_ABSENT;
		for (size_t k = i + 1; k < n; k++) {
			enum compare_state s = r->of[k] ? compare_findings(r->of[i], r->of[k]) : COMPARE_OPEN;
			worst = s < worst ? s : worst;
		}
	}
	if (worst > COMPARE_SOME && missing)
		return decided ? COMPARE_SOME : COMPARE_OPEN;
	return worst;
}

int compare_runs(struct comparison *c, struct arena *a, const struct run *const *runs, size_t n)
{
	size_t most = 0;
	*c = (struct comparison){.runs = runs, .run_count = n};
	for (size_t i = 0; i < n; i++)
		most += runs[i]->findings.count;
	c->rows = ARENA_ARRAY(a, most ? most : 1, struct compare_row);
	if (!c->rows)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < runs[i]->findings.count; k++)
			c->rows[c->row_count++].key = runs[i]->findings.items[k].key;
	qsort(c->rows, c->row_count, sizeof *c->rows, by_key);
	size_t keys = 0;
	for (size_t i = 0; i < c->row_count; i++)
		if (!keys || strcmp(c->rows[keys - 1].key, c->rows[i].key) != 0)
			c->rows[keys++] = c->rows[i];
	c->row_count = keys;
	for (size_t i = 0; i < keys; i++) {
		struct compare_row *r = &c->rows[i];
		r->of = ARENA_ARRAY(a, n, const struct finding *);
		if (!r->of)
			return -ENOMEM;
		for (size_t k = 0; k < n; k++)
			r->of[k] = findings_get(&runs[k]->findings, r->key);
		r->state = judge(r, n);
		c->counts[r->state]++;
	}
	return 0;
}
