/* Every format of one hand-made run, letter by letter. */
#include "base/str.h"
#include "report/report.h"
#include "sample_run.h"
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *folder;
static struct run run;
static struct figure_list figures;
static struct err e;

static void compare(const char *file, const struct str *got)
{
	char path[512];
	snprintf(path, sizeof(path), "%s/%s", folder, file);
	const char *mode = getenv("FATHOM_GOLDEN");
	if (mode && strcmp(mode, "write") == 0) {
		FILE *f = fopen(path, "w");
		assert_non_null(f);
		assert_int_equal(fwrite(got->data, 1, got->len, f), got->len);
		assert_int_equal(fclose(f), 0);
		return;
	}
	FILE *f = fopen(path, "r");
	if (!f)
		fail_msg("%s is missing", path);
	char *want = calloc(1, got->len + 2);
	assert_non_null(want);
	size_t n = fread(want, 1, got->len + 1, f);
	fclose(f);
	size_t at = 0, line = 1;
	while (at < n && at < got->len && want[at] == got->data[at])
		line += want[at++] == '\n';
	if (n != got->len || at < n)
		fail_msg("%s differs in line %zu. Got:\n%s", file, line, got->data);
	free(want);
}

static void text(const char *file, bool summary, struct report_style style)
{
	struct str out;
	str_init(&out);
	int rc = summary ? report_summary(&out, &run, &style, &e) : report_text(&out, &run, &figures, &style, &e);
	assert_int_equal(rc, 0);
	compare(file, &out);
	str_free(&out);
}

static void texts(void **state)
{
	(void)state;
	text("sample.txt", false, (struct report_style){.width = 80});
	text("sample-summary.txt", true, (struct report_style){.width = 80});
	text("sample-narrow.txt", false, (struct report_style){.width = 50});
}

static void terminal(void **state)
{
	(void)state;
	if (!setlocale(LC_CTYPE, "C.UTF-8"))
		skip(); /* this system cannot show it either */
	text("sample-terminal.txt", false, (struct report_style){.width = 100, .unicode = true, .colour = true});
	setlocale(LC_CTYPE, "C");
}

static void programs(void **state)
{
	(void)state;
	struct str out;
	str_init(&out);
	assert_int_equal(report_json_series(&out, &run, NULL, &e), 0);
	compare("sample.json", &out);
	str_clear(&out);
	assert_int_equal(report_csv(&out, &run, &e), 0);
	compare("sample.csv", &out);
	str_clear(&out);
	assert_int_equal(report_markdown(&out, &run, &e), 0);
	compare("sample.md", &out);
	for (size_t i = 0; i < figures.count; i++) {
		char name[128];
		snprintf(name, sizeof(name), "%s.svg", figures.items[i].name);
		str_clear(&out);
		assert_int_equal(report_svg(&out, &figures.items[i], &e), 0);
		compare(name, &out);
	}
	str_free(&out);
}

static void papers(void **state)
{
	(void)state;
	struct paper_comparison parts[2];
	struct arena a;
	struct str out;
	arena_init(&a);
	str_init(&out);
	assert_int_equal(sample_paper(parts, &a, &run), 0);
	assert_int_equal(report_paper(&out, parts, 2, &(struct report_style){.width = 80}, &e), 0);
	compare("sample-paper.txt", &out);
	str_clear(&out);
	assert_int_equal(report_paper(&out, parts, 1, &(struct report_style){.width = 60, .colour = true}, &e), 0);
	compare("sample-paper-colour.txt", &out);
	str_clear(&out);
	assert_int_equal(report_paper_json(&out, parts, 2, &e), 0);
	compare("sample-paper.json", &out);
	str_free(&out);
	arena_free(&a);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(texts), cmocka_unit_test(terminal),
					   cmocka_unit_test(programs), cmocka_unit_test(papers)};
	if (argc < 2 || sample_run(&run) || sample_figures(&figures))
		return 2;
	folder = argv[1];
	int rc = cmocka_run_group_tests(tests, NULL, NULL);
	figures_free(&figures);
	run_free(&run);
	return rc;
}
