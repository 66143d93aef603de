/* Findings for the tests of gates. */
#ifndef FATHOM_TESTS_GATES_FINDINGS_H
#define FATHOM_TESTS_GATES_FINDINGS_H
#include "probe/gates.h"
#include "probe/study.h"
#include <math.h>
#include <stdio.h>

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */

static inline void add(struct finding_list *l, const char *key, double v)
{
	struct finding f = study_measured(key, v, v, v, "test");

	assert_int_equal(findings_add(l, &f), 0);
}

static inline enum verdict verdict(const struct finding_list *l, const char *key)
{
	const struct finding *f = findings_get(l, key);

	assert_non_null(f);
	return f->verdict;
}

static inline void add_verdict(struct finding_list *l, const char *key, enum verdict v, const char *because)
{
	struct finding f = study_measured(key, 0, NAN, NAN, "");

	f.verdict = v;
	f.value.kind = VALUE_NONE;
	snprintf(f.because, sizeof(f.because), "%s", because);
	assert_int_equal(findings_add(l, &f), 0);
}

#endif
