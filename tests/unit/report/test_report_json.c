/* The JSON report against its contract, read by a parser that did not write it. */
#include "base/str.h"
#include "report/report.h"
#include "sample_run.h"
#include <jansson.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static json_t *parse(const struct run *r)
{
	struct str out;
	struct err e;
	json_error_t why;
	str_init(&out);
	assert_int_equal(report_json_series(&out, r, NULL, &e), 0);
	assert_int_equal(strlen(out.data), out.len);
	json_t *j = json_loadb(out.data, out.len, JSON_REJECT_DUPLICATES, &why);
	if (!j)
		fail_msg("line %d: %s", why.line, why.text);
	str_free(&out);
	return j;
}

static void same_number(json_t *j, double v)
{
	if (isfinite(v))
		assert_true(json_is_number(j) && fabs(json_number_value(j) - v) <= 1e-14 * fabs(v));
	else
		assert_true(json_is_null(j));
}

static void contract(void **state)
{
	(void)state;
	struct run r;
	assert_int_equal(sample_run(&r), 0);
	json_t *j = parse(&r);
	assert_int_equal(json_integer_value(json_object_get(j, "schema")), 1);
	assert_string_equal(json_string_value(json_object_get(j, "fathom")), r.fathom);
	assert_string_equal(json_string_value(json_object_get(json_object_get(j, "device"), "name")), r.device.name);
	assert_string_equal(json_string_value(json_object_get(json_object_get(j, "run"), "seed")), "42");
	json_t *findings = json_object_get(j, "findings");
	assert_int_equal(json_array_size(findings), r.findings.count);
	const char *last = "";
	for (size_t i = 0; i < json_array_size(findings); i++) {
		static const char *const keys[] = {"key",    "verdict", "value", "lo",	     "hi",   "unit",
						   "method", "because", "probe", "evidence", "scope"};
		json_t *f = json_array_get(findings, i);
		for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
			assert_non_null(json_object_get(f, keys[k]));
		const char *key = json_string_value(json_object_get(f, "key"));
		assert_true(strcmp(last, key) < 0);
		last = key;
		const struct finding *want = findings_get(&r.findings, key);
		assert_non_null(want);
		assert_string_equal(json_string_value(json_object_get(f, "verdict")), verdict_name(want->verdict));
		same_number(json_object_get(f, "lo"), want->lo);
		same_number(json_object_get(f, "hi"), want->hi);
		json_t *v = json_object_get(f, "value");
		if (want->value.kind == VALUE_NUMBER)
			same_number(v, want->value.number);
		else if (want->value.kind == VALUE_TEXT)
			assert_string_equal(json_string_value(v), want->value.text);
		else if (want->value.kind == VALUE_ARRAY)
			assert_int_equal(json_array_size(v), want->value.array_count);
		else
			assert_true(json_is_null(v));
		assert_int_equal(json_array_size(json_object_get(f, "evidence")), want->evidence_count);
	}
	json_t *series = json_object_get(j, "series");
	assert_int_equal(json_array_size(series), r.series_count);
	for (size_t i = 0; i < r.series_count; i++) {
		const struct series *s = &r.series[i];
		json_t *x = json_array_get(series, i), *points = json_object_get(x, "points");
		assert_string_equal(json_string_value(json_object_get(x, "probe")), s->probe);
		assert_string_equal(json_string_value(json_object_get(x, "experiment")), s->experiment);
		assert_string_equal(json_string_value(json_object_get(x, "axis")), s->axis);
		assert_string_equal(json_string_value(json_object_get(x, "unit")), s->unit);
		assert_true(json_is_object(json_object_get(x, "native")));
		assert_int_equal(json_array_size(points), s->count);
		for (size_t k = 0; k < s->count; k++) {
			const struct point *p = &s->points[k];
			json_t *q = json_array_get(points, k), *y = json_object_get(q, "y");
			same_number(json_object_get(q, "x"), p->x);
			same_number(json_object_get(json_object_get(q, "p"), "stride"), p->p[0]);
			assert_string_equal(json_string_value(json_object_get(q, "outcome")), outcome_name(p->outcome));
			assert_int_equal(json_integer_value(json_object_get(q, "repeats")), p->repeats);
			assert_int_equal(json_integer_value(json_object_get(q, "n")), p->words_per_repeat);
			size_t n = p->y ? (size_t)p->repeats * p->words_per_repeat : 0;
			assert_int_equal(json_array_size(y), n);
			for (size_t w = 0; w < n; w++)
				assert_int_equal(json_integer_value(json_array_get(y, w)), p->y[w]);
		}
	}
	json_decref(j);
	run_free(&r);
}

/* Words of a damaged file: still JSON, and nothing that a terminal would obey. */
static void hostile(void **state)
{
	(void)state;
	struct run r;
	struct err e;
	assert_int_equal(sample_run(&r), 0);
	snprintf(r.device.name, sizeof(r.device.name),
		 "\033[2J\"GPU\" \xff\xc0\x80 \xed\xa0\x80 \xc2\x9b"
		 "31m \xe2\x80\xae<&>,\r\n\x7f");
	r.series[0].params[0] = "str\033ide\xff";
	r.series[0].axis = "\x01";
	snprintf(r.findings.items[0].because, sizeof(r.findings.items[0].because), "\033]0;x\a, \"quoted\"");
	snprintf(r.findings.items[0].key, sizeof(r.findings.items[0].key), "arith.\033[31m.u32.latency");
	r.findings.items[1].value.number = -INFINITY;
	r.findings.items[1].lo = NAN;
	r.findings.items[2].value.number = 1e300;
	json_t *j = parse(&r);
	assert_string_equal(json_string_value(json_object_get(json_object_get(j, "device"), "name")),
			    "?[2J\"GPU\" ??? ??? ?31m ?<&>,???");
	json_decref(j);
	struct str out;
	struct report_style style = {.width = 80, .unicode = true};
	str_init(&out);
	assert_int_equal(report_text(&out, &r, NULL, &style, &e), 0);
	assert_int_equal(report_summary(&out, &r, &style, &e), 0);
	assert_int_equal(report_csv(&out, &r, &e), 0);
	assert_int_equal(report_markdown(&out, &r, &e), 0);
	for (size_t i = 0; i < out.len; i++)
		if ((unsigned char)out.data[i] < ' ' && out.data[i] != '\n')
			fail_msg("character %d at %zu after \"%.*s\"", out.data[i], i, i < 40 ? (int)i : 40,
				 out.data + (i < 40 ? 0 : i - 40));
	assert_null(strstr(out.data, "\xc2\x9b"));
	assert_null(strstr(out.data, "\xff"));
	assert_null(strstr(out.data, "\xe2\x80\xae"));
	str_free(&out);
	run_free(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(contract), cmocka_unit_test(hostile)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
