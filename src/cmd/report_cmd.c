/* fathom report: a stored run for people, programs and spreadsheets. */
#include "cmd/cmd.h"
#include "cmd/expecting.h"
#include "cmd/figures.h"
#include "cmd/files.h"
#include "probe/engine.h"
#include "report/report.h"
#include "report/report_html.h"
#include "report/report_overview.h"
#include "store/store.h"
#include <errno.h>
#include <string.h>

static int print_piece(void *ctx, struct str *part)
{
	return cmd_print(ctx, part) == CMD_OK ? 0 : -EIO;
}

static int write_report(struct cmd_context *c, const struct run *r, const struct figure_list *figures)
{
	const char *format = cmd_value(c, "format");
	struct str out;
	int rc;

	str_init(&out);
	if (!format || strcmp(format, "text") == 0)
		rc = report_text(&out, r, figures, &c->style, &c->error);
	else if (strcmp(format, "summary") == 0)
		rc = report_summary(&out, r, &c->style, &c->error);
	else if (strcmp(format, "lemeire") == 0)
		rc = report_lemeire(&out, r, &c->style, &c->error);
	else if (strcmp(format, "json") == 0)
		rc = cmd_flag(c, "series")
			 ? report_json_series(&out, r, &(struct report_sink){print_piece, c}, &c->error)
			 : report_json(&out, r, &c->error);
	else if (strcmp(format, "csv") == 0)
		rc = report_csv(&out, r, &c->error);
	else
		rc = report_markdown(&out, r, &c->error);
	rc = rc ? CMD_DEVICE : cmd_print(c, &out);
	str_free(&out);
	return rc;
}

/* One page of all runs beside each other. */
static int write_html(struct cmd_context *c, const char *path, const struct run *run, const struct figure_list *figures,
		      size_t n, char **names)
{
	const struct run **runs = ARENA_ARRAY(&c->arena, n, const struct run *);
	struct html_probe *about = ARENA_ARRAY(&c->arena, probe_count, struct html_probe);
	struct comparison all;
	struct str out;

	for (size_t i = 0; runs && i < n; i++)
		runs[i] = &run[i];
	if (!runs || !about || compare_runs(&all, &c->arena, runs, n))
		return cmd_fail(c, CMD_DEVICE, "out of memory");
	for (size_t i = 0; i < probe_count; i++)
		about[i] = (struct html_probe){probe_table[i]->name, probe_table[i]->asks, probe_table[i]->how,
					       probe_table[i]->fooled};
	const struct html_page page = {.runs = runs,
				       .figures = figures,
				       .names = (const char *const *)names,
				       .count = n,
				       .all = &all,
				       .probes = about,
				       .probe_count = probe_count};
	str_init(&out);
	int rc = report_html(&out, &page, &c->error) ? CMD_DEVICE : files_replace(c, path, &out);
	if (rc == CMD_OK)
		fprintf(c->log, "wrote %s\n", path);
	str_free(&out);
	return rc;
}

static int load(struct cmd_context *c, const char *path, struct run *r, struct figure_list *figures)
{
	int rc = files_load_run(c, path, r);
	if (rc)
		return rc;
	const char *format = cmd_value(c, "format");
	if (format && (strcmp(format, "csv") == 0 || strcmp(format, "summary") == 0))
		files_say_foreign(c, path, r);
	/* Drawing concludes all of the run again. */
	if (format && strcmp(format, "text") != 0 && !cmd_value(c, "figures") && !cmd_value(c, "html"))
		return CMD_OK;
	if (engine_draw(r, figures, &c->error))
		return CMD_DEVICE;
	return report_overview(figures, r) ? cmd_fail(c, CMD_DEVICE, "out of memory") : CMD_OK;
}

int cmd_report(struct cmd_context *c, int argc, char **argv)
{
	const char *dir = cmd_value(c, "figures"), *html = cmd_value(c, "html"), *expected = cmd_value(c, "expect");
	const size_t n = (size_t)argc;
	struct figure_list *figures = ARENA_ARRAY(&c->arena, n, struct figure_list);
	struct run *runs = ARENA_ARRAY(&c->arena, n, struct run);
	size_t loaded = 0;
	int rc = CMD_OK;

	if (n > 1 && !html)
		return cmd_fail(c, CMD_USAGE,
				"several runs make one page, with --html OUT.html; `%s compare` lays them beside each "
				"other as text",
				c->program);
	if (!figures || !runs)
		return cmd_fail(c, CMD_DEVICE, "out of memory");
	memset(figures, 0, n * sizeof(*figures));
	for (; rc == CMD_OK && loaded < n; loaded++)
		rc = load(c, argv[loaded], &runs[loaded], &figures[loaded]);
	if (rc == CMD_OK && dir)
		rc = figures_write(c, dir, &figures[0]);
	if (rc == CMD_OK && html)
		rc = write_html(c, html, runs, figures, n, argv);
	else if (rc == CMD_OK)
		rc = write_report(c, &runs[0], &figures[0]);
	for (size_t i = 0; rc == CMD_OK && expected && i < n; i++)
		rc = expecting_ask(c, expected, &runs[i]);
	for (size_t i = 0; i < loaded; i++) {
		figures_free(&figures[i]);
		run_free(&runs[i]);
	}
	return rc;
}
