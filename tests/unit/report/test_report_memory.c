/* The n-th allocation fails, for all n: every report says -ENOMEM instead of printing half of itself. */
#include "base/arena.h"
#include "base/str.h"
#include "report/report.h"
#include "report/report_export.h"
#include "report/report_html.h"
#include "report/report_overview.h"
#include "sample_run.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct run run;
static struct figure_list figures;
static struct paper_comparison parts[2];
static struct comparison all;
static const struct run *const runs[] = {&run, &run};
static const char *const names[] = {"one.fathom", "two.fathom"};
static const struct html_probe about = {"clock", "How?", "So.", "No."};
static struct figure_list twice[2];
static const struct html_page page = {runs, twice, names, 2, &all, &about, 1};
static const struct report_style style = {.width = 80};

static int print(int which, struct str *out, struct err *e)
{
	switch (which) {
	case 0:
		return report_text(out, &run, &figures, &style, e);
	case 1:
		return report_summary(out, &run, &style, e);
	case 2:
		return report_json_series(out, &run, NULL, e);
	case 3:
		return report_csv(out, &run, e);
	case 4:
		return report_markdown(out, &run, e);
	case 5:
		return report_paper(out, parts, 2, &style, e);
	case 6:
		return report_paper_json(out, parts, 2, e);
	case 7:
		return report_svg(out, &figures.items[0], e);
	case 8:
		return export_ceilings(out, &run, e);
	case 9:
		return export_latencies(out, &run, e);
	case 10:
		return export_openmetrics(out, &run, e);
	case 11:
		return export_hwloc(out, &run, e);
	default:
		return report_html(out, &page, e);
	}
}

static void memory(void **state)
{
	(void)state;
	for (int which = 0; which < 13; which++) {
		struct str whole, out;
		struct err e = {0};
		str_init(&whole);
		assert_int_equal(print(which, &whole, &e), 0);
		long n = 1;
		for (int rc = -ENOMEM; rc; n++) {
			str_init(&out);
			mem_fail_after(n);
			rc = print(which, &out, &e);
			mem_fail_after(0);
			if (rc == 0)
				assert_string_equal(str_text(&out), str_text(&whole));
			else
				assert_int_equal(rc, -ENOMEM);
			str_free(&out);
		}
		assert_true(n > 3);
		str_free(&whole);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(memory)};
	struct arena a;
	arena_init(&a);
	if (sample_run(&run) || sample_figures(&figures) || sample_paper(parts, &a, &run) ||
	    compare_runs(&all, &a, runs, 2) || report_overview(&figures, &run))
		return 2;
	twice[0] = twice[1] = figures;
	int rc = cmocka_run_group_tests(tests, NULL, NULL);
	figures_free(&figures);
	run_free(&run);
	arena_free(&a);
	return rc;
}
