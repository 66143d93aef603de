/* Runs and figures that are empty, tiny, huge or senseless: printed all the same, within the page. */
#include "base/str.h"
#include "report/report.h"
#include "report/report_screen.h"
#include "sample_run.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct err e;

/* Longest line in characters. */
static size_t widest(const struct str *s)
{
	size_t most = 0, n = 0;
	for (size_t i = 0; i < s->len; i++) {
		if (s->data[i] == '\n')
			n = 0;
		else
			n += ((unsigned char)s->data[i] & 0xc0) != 0x80;
		most = n > most ? n : most;
	}
	return most;
}

static void empty_run(void **state)
{
	(void)state;
	struct run r;
	struct str out;
	struct report_style style = {0};
	str_init(&out);
	assert_int_equal(run_init(&r), 0);
	assert_int_equal(report_text(&out, &r, NULL, &style, &e), 0);
	assert_non_null(strstr(out.data, "findings: none yet"));
	assert_int_equal(report_summary(&out, &r, &style, &e), 0);
	assert_int_equal(report_markdown(&out, &r, &e), 0);
	str_clear(&out);
	assert_int_equal(report_csv(&out, &r, &e), 0);
	assert_string_equal(out.data, "key,verdict,value,lo,hi,unit,method,because,scope,probe,evidence\n");
	str_clear(&out);
	assert_int_equal(report_json(&out, &r, &e), 0);
	assert_non_null(strstr(out.data, "\"findings\":[]}"));
	str_free(&out);
	run_free(&r);
}

static void formulas_in_csv(void **state)
{
	(void)state;
	static const char *const texts[] = {"=A1", "+1+1", "-2+3", "@SUM(A1)", "  =A1", "=HYPERLINK(\"u\",A1)"};
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		struct run r;
		struct str out;
		str_init(&out);
		assert_int_equal(run_init(&r), 0);
		struct finding f = {.verdict = VERDICT_MEASURED, .value.kind = VALUE_TEXT, .lo = -5, .hi = NAN};
		snprintf(f.key, sizeof(f.key), "%s", texts[i]);
		snprintf(f.value.text, sizeof(f.value.text), "%s", texts[i]);
		snprintf(f.because, sizeof(f.because), "%s", texts[i]);
		snprintf(f.evidence[f.evidence_count++], sizeof(f.evidence[0]), "%s", texts[i]);
		assert_int_equal(findings_add(&r.findings, &f), 0);
		assert_int_equal(report_csv(&out, &r, &e), 0);
		/* A cell begins behind a comma, a line or its own quote; numbers stay numbers. */
		for (const char *c = out.data; *c; c++)
			if ((*c == ',' || *c == '\n') && c[1] != '-') {
				const char *first = c + 1 + (c[1] == '"');
				assert_null(first[strspn(first, " ")] ? strchr("=+-@", first[strspn(first, " ")])
								      : NULL);
			}
		assert_non_null(strstr(out.data, ",-5,"));
		str_free(&out);
		run_free(&r);
	}
}

/* Curves that lie on each other are one, under both names; what the clock costs goes off all of them. */
static void curves(void **state)
{
	(void)state;
	struct figure_list l = {0};
	const double x[] = {1, 2, 3}, y[] = {130, 130, 200}, worst[] = {131, 131, 300};
	struct figure *f = figures_new(&l, "curves", "Curves");
	assert_non_null(f);
	assert_false(figure_says(f));
	assert_int_equal(figure_add(f, "near", MARK_LINE, x, y, NULL, 3), 0);
	assert_int_equal(figure_add(f, "far", MARK_LINE, x, y, NULL, 3), 0);
	assert_int_equal(figure_add(f, "slowest", MARK_POINTS, x, worst, NULL, 3), 0);
	assert_int_equal(f->marks_count, 2);
	assert_string_equal(f->marks[0].label, "near, far");
	assert_true(figure_says(f));
	figure_take_clock(f, 8);
	assert_false(f->clock_within);
	assert_true(f->marks[0].y[0] == 8 && f->marks[0].y[2] == 78 && f->marks[1].y[2] == 178);
	figure_take_clock(f, NAN);
	assert_true(f->clock_within && f->marks[0].y[2] == 78);
	figure_repeats(f, "Wong 2010, Fig. 5", "clock.*");
	assert_true(figure_shows(f, "clock.scope") && !figure_shows(f, "shared.size"));
	figures_free(&l);
}

/* A map, bars along x, panels and named rows: drawn by both renderers, copied without marks, no plot to zoom into. */
static void maps(void **state)
{
	(void)state;
	struct figure_list l = {0};
	const double x[] = {0, 1, 2, 0, 1, 2}, y[] = {0, 0, 0, 1, 1, 1}, v[] = {1, 1, 9, NAN, 5, 1},
		     end[] = {4, 5, 6, 7, 8, 9};
	const struct report_style style = {.width = 60};
	struct str out;
	struct figure *f = figures_new(&l, "map", "Map");
	assert_non_null(f);
	f->shade = (struct figure_axis){.label = "cost", .unit = "cycles"};
	assert_int_equal(figure_row(f, "first <row>") || figure_row(f, "second"), 0);
	assert_int_equal(figure_add(f, "cells", MARK_CELLS, x, y, v, 6), 0);
	assert_true(figure_says(f) && !figure_is_curves(f));
	str_init(&out);
	assert_int_equal(report_svg(&out, f, &e), 0);
	/* The lightest shade is one stroke a row, the darkest one cell. */
	assert_non_null(strstr(out.data, "first &lt;row&gt;"));
	assert_non_null(strstr(out.data, "cost (cycles), from 1 to 9"));
	str_clear(&out);
	assert_int_equal(report_draw(&out, f, &style, &e), 0);
	const char *dark = strstr(out.data, "first <row> +");
	assert_non_null(dark);
	assert_true(dark[13] == '.' && strchr(dark, '@') < strchr(dark, '\n'));
	str_clear(&out);
	const struct figure *copy = figures_like(&l, f);
	assert_non_null(copy);
	assert_true(copy->marks_count == 0 && copy->rows_count == 2 && strcmp(copy->rows[1], "second") == 0);
	f = figures_new(&l, "spans", "Spans");
	assert_non_null(f);
	assert_int_equal(
	    figure_add(f, "one", MARK_SPANS, x, y, end, 3) || figure_add(f, "other", MARK_SPANS, y, x, end, 6), 0);
	assert_false(figure_is_curves(f));
	for (int panels = 0; panels < 2; panels++) {
		f->panels = panels;
		assert_int_equal(report_svg(&out, f, &e) || report_draw(&out, f, &style, &e), 0);
		assert_null(strstr(out.data, "nan"));
		str_clear(&out);
	}
	str_free(&out);
	figures_free(&l);
}

static void widths(void **state)
{
	(void)state;
	struct run r;
	struct figure_list figures = {0};
	assert_int_equal(sample_run(&r) || sample_figures(&figures), 0);
	for (unsigned width = 40; width <= 200; width += 8) {
		struct str out;
		struct report_style style = {.width = width};
		str_init(&out);
		assert_int_equal(report_text(&out, &r, width < 66 ? NULL : &figures, &style, &e), 0);
		assert_int_equal(report_summary(&out, &r, &style, &e), 0);
		if (widest(&out) > width)
			fail_msg("%zu columns of %u:\n%s", widest(&out), width, out.data);
		for (size_t i = 0; i < out.len; i++)
			assert_true((unsigned char)out.data[i] < 0x80 && out.data[i] != '\033');
		str_free(&out);
	}
	figures_free(&figures);
	run_free(&r);
}

static void draw(const double *x, const double *y, const double *y2, size_t n, enum mark_style mark, bool log2)
{
	struct figure_list l = {0};
	struct figure *f = figures_new(&l, "f", "title <&\"> \033[0m");
	assert_non_null(f);
	f->x.log2 = f->y.log2 = log2;
	snprintf(f->x.unit, sizeof(f->x.unit), "bytes");
	assert_int_equal(figure_add(f, "a & b", mark, x, y, y2, n), 0);
	for (int i = 0; i < 9; i++)
		figure_note(f, i % 2,
			    i == 0   ? NAN
			    : i == 1 ? -1
				     : 1 << i,
			    "a note that is as long as a note may be, and then <some> more");
	for (int unicode = 0; unicode < 2; unicode++)
		for (unsigned width = 1; width < 300; width += 37) {
			struct str out;
			struct report_style style = {.width = width, .unicode = unicode};
			str_init(&out);
			assert_int_equal(report_draw(&out, f, &style, &e), 0);
			assert_null(strchr(out.data, '\033'));
			str_free(&out);
		}
	struct str svg;
	str_init(&svg);
	assert_int_equal(report_svg(&svg, f, &e), 0);
	assert_null(strstr(svg.data, "nan"));
	assert_null(strstr(svg.data, "inf"));
	assert_null(strstr(svg.data, "<some>"));
	assert_null(strchr(svg.data, '\033'));
	assert_non_null(strstr(svg.data, "a &amp; b"));
	assert_non_null(strstr(svg.data, "</svg>"));
	str_free(&svg);
	figures_free(&l);
}

static void odd_figures(void **state)
{
	(void)state;
	const double plain[] = {1, 2, 3, 4, 5}, same[] = {7, 7, 7, 7, 7}, zero[] = {0, 0, 0, 0, 0};
	const double wild[] = {NAN, -INFINITY, 1e308, -1e308, INFINITY}, tiny[] = {1e-300, 2e-300, 0, -1, 1e-308};
	const double near[] = {1e9, 1e9 + 1e-6, 1e9, 1e9, 1e9};
	const double *const data[] = {plain, same, zero, wild, tiny, near};
	for (size_t i = 0; i < sizeof data / sizeof *data; i++)
		for (size_t k = 0; k < sizeof data / sizeof *data; k++)
			for (int mark = MARK_POINTS; mark <= MARK_BARS; mark++)
				for (size_t n = 0; n <= 5; n += n ? 4 : 1)
					for (int log2 = 0; log2 < 2; log2++)
						draw(data[i], data[k], mark == MARK_BAND ? plain : NULL, n,
						     (enum mark_style)mark, log2);
}

static void put(struct run *r, const char *key, enum verdict verdict, double number, const char *text)
{
	struct finding f = {.verdict = verdict, .lo = number, .hi = verdict == VERDICT_BOUND ? INFINITY : number};
	snprintf(f.key, sizeof f.key, "%s", key);
	snprintf(f.value.text, sizeof f.value.text, "%s", text ? text : "");
	f.value.number = number;
	f.value.kind = text ? VALUE_TEXT : VALUE_NUMBER;
	assert_int_equal(findings_add(&r->findings, &f), 0);
}

/* Levels that share a line of the first screen: one unit, one place each, a cache of another path by its name. */
static void levels_of_a_line(void **state)
{
	(void)state;
	struct run r;
	struct str out;
	str_init(&out);
	assert_int_equal(run_init(&r), 0);
	put(&r, "cache.global.l1.size", VERDICT_MEASURED, 4096, NULL);
	put(&r, "cache.instruction.l1.size", VERDICT_LIKELY, 5120, NULL);
	put(&r, "cache.instruction.l1.scope", VERDICT_MEASURED, 0, "partition");
	put(&r, "cache.instruction.l2.size", VERDICT_MEASURED, 32768, NULL);
	put(&r, "cache.instruction.l2.scope", VERDICT_MEASURED, 0, "cluster");
	put(&r, "cache.instruction.l3.size", VERDICT_BOUND, 92160, NULL);
	put(&r, "cache.instruction.l3.scope", VERDICT_MEASURED, 0, "cluster");
	put(&r, "cache.texture.l1.size", VERDICT_MEASURED, 2048, NULL);
	put(&r, "cache.texture.l1.shared_with", VERDICT_MEASURED, 0, "global.l1");
	put(&r, "cache.texture.l2.size", VERDICT_MEASURED, 65536, NULL);
	put(&r, "tlb.global.l1.reach", VERDICT_MEASURED, 1 << 28, NULL);
	put(&r, "tlb.global.l2.reach", VERDICT_INCONCLUSIVE, NAN, NULL);
	put(&r, "tlb.global.l2.latency", VERDICT_MEASURED, 10, NULL);
	screen_memories(&out, &r, &(struct report_style){.width = 80});
	for (const char *const *want =
		 (const char *const[]){"~5/32/>=90 KB  SMSP/group  -", "L1/64 KB", "256 MB/?", "-/10 ",
				       "L1       4 KB           -           -       -      -     ?", NULL};
	     *want; want++)
		if (!strstr(out.data, *want))
			fail_msg("%s is not in\n%s", *want, out.data);
	str_free(&out);
	run_free(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(empty_run),	      cmocka_unit_test(formulas_in_csv),
					   cmocka_unit_test(curves),	      cmocka_unit_test(maps),
					   cmocka_unit_test(widths),	      cmocka_unit_test(odd_figures),
					   cmocka_unit_test(levels_of_a_line)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
