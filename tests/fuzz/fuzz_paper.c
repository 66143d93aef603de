/* Any bytes as a .paper file: it reads, or there is one sentence with the file's name; what reads holds together. */
#include "data/paper_compare.h"
#include "data/paper_formula.h"
#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_row(const struct paper_row *row)
{
	struct finding f = {.verdict = VERDICT_MEASURED, .value = {.kind = VALUE_NUMBER, .number = row->lo}};
	enum paper_result result = paper_result_of(row, &f);
	if (!*row->where || !*row->row || !*row->key || !*row->printed || !*row->unit)
		abort();
	if (!row->is_word && (isnan(row->lo) || isnan(row->hi) || row->lo > row->hi))
		abort();
	if ((*row->tolerance == '\0') != (*row->reason == '\0'))
		abort();
	struct formula formula;
	struct err e = {0};
	if (formula_parse(&formula, row->key, &e))
		abort();
	if (result == PAPER_NOT_ASKED && strcmp(row->key, PAPER_NO_KEY) != 0)
		abort();
	if (paper_result_of(row, NULL) != (result == PAPER_IS_SETTING ? PAPER_IS_SETTING : PAPER_NOT_ASKED))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena a;
	struct err e = {0};
	struct paper *p = NULL;
	arena_init(&a);
	int rc = paper_parse(&p, &a, "input", (const char *)data, size, &e);
	if (rc && (e.code != rc || strncmp(e.text, "input:", 6) != 0))
		abort();
	if (rc == 0) {
		size_t rows = 0;
		for (size_t i = 0; i < p->part_count; i++) {
			if (!p->parts[i].device || !p->parts[i].gpu || p->parts[i].first != rows)
				abort();
			rows += p->parts[i].count;
		}
		if (rows != p->count || !p->title)
			abort();
		for (size_t i = 0; i < p->count; i++)
			check_row(&p->rows[i]);
	}
	arena_free(&a);
	return 0;
}
