#include "data/paper_compare.h"
#include "data/paper_formula.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *paper_result_name(enum paper_result r)
{
	static const char *const names[] = {"agrees", "explained", "differs", "not asked", "setting"};
	return names[r];
}

/* What a row leaves open, or what its deviation explains. */
struct open {
	double lo, hi, each; /* each: of a list */
};

static bool within(const struct open *o, double v)
{
	double slack = 1e-9 * (1 + fabs(v));
	return v >= o->lo - slack && v <= o->hi + slack;
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static bool list_agrees(const struct paper_row *row, const struct open *o, const struct value *v)
{
	double sorted[VALUE_ARRAY_MAX];
	if (v->array_count > VALUE_ARRAY_MAX)
		return false;
	memcpy(sorted, v->array, v->array_count * sizeof *sorted);
	qsort(sorted, v->array_count, sizeof *sorted, ascending);
	if (!row->list) { /* one of the list */
		for (unsigned i = 0; i < v->array_count; i++)
			if (within(o, sorted[i]))
				return true;
		return false;
	}
	bool same = row->list_count == v->array_count;
	for (unsigned i = 0; same && i < v->array_count; i++)
		same = fabs(sorted[i] - row->list[i]) <= o->each + 1e-9 * (1 + fabs(sorted[i]));
	return same;
}

static bool agrees(const struct paper_row *row, const struct open *o, const struct finding *f)
{
	const struct value *v = &f->value;
	if (row->is_word)
		return finding_estimated(f) && v->kind == VALUE_TEXT && strcmp(v->text, row->printed) == 0;
	if (f->verdict == VERDICT_ABSENT) /* "no levels" */
		return o->lo == 0 && o->hi == 0;
	if (f->verdict == VERDICT_BOUND)
		return (isinf(o->hi) && isfinite(f->lo) && f->lo >= o->lo) ||
		       (isinf(o->lo) && isfinite(f->hi) && f->hi <= o->hi);
	if (!finding_estimated(f))
		return false;
	if (v->kind == VALUE_ARRAY)
		return list_agrees(row, o, v);
	return v->kind == VALUE_NUMBER && !row->list && within(o, v->number);
}

enum paper_result paper_result_of(const struct paper_row *row, const struct finding *f)
{
	if (strcmp(row->key, PAPER_SETTING) == 0)
		return PAPER_IS_SETTING;
	if (!f || strcmp(row->key, PAPER_NO_KEY) == 0)
		return PAPER_NOT_ASKED;
	const struct open near = {row->lo, row->hi, row->open}, far = {row->far_lo, row->far_hi, row->far_open};
	if (agrees(row, &near, f))
		return PAPER_AGREES;
	return *row->deviation && (!*row->tolerance || agrees(row, &far, f)) ? PAPER_EXPLAINED : PAPER_DIFFERS;
}

int paper_compare(struct paper_comparison *out, struct arena *a, const struct paper *p, const struct paper_part *part,
		  const struct run *r)
{
	*out = (struct paper_comparison){
	    .paper = p, .part = part, .run = r, .checks = ARENA_ARRAY(a, part->count + 1, struct paper_check)};
	if (!out->checks)
		return -ENOMEM;
	for (size_t i = 0; i < part->count; i++) {
		const struct paper_row *row = &p->rows[part->first + i];
		struct paper_check *c = &out->checks[i];
		c->row = row;
		if (formula_finding(&c->finding, a, row->key, row->unit, &r->findings))
			return -ENOMEM;
		c->result = paper_result_of(row, c->finding);
		out->repeated += row->again;
		out->counts[c->result] += !row->again;
	}
	return 0;
}
