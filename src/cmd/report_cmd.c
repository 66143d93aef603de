/* fathom report: a stored run for people, programs and spreadsheets. */
#include "cmd/cmd.h"
#include "cmd/figures.h"
#include "cmd/files.h"
#include "cmd/progress.h"
#include "probe/engine.h"
#include "report/report.h"
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

int cmd_report(struct cmd_context *c, int argc, char **argv)
{
	const char *dir = cmd_value(c, "figures");
	struct figure_list figures = {0};
	struct run r;
	int rc;

	(void)argc;
	rc = files_load_run(c, argv[0], &r);
	if (rc)
		return rc;
	if (strcmp(r.fathom, c->build) != 0 && c->log_live)
		progress_say(&(struct progress){.log = c->log},
			     "%s was concluded by fathom %s, and this is %s; `%s infer %s` concludes again", argv[0],
			     r.fathom, c->build, c->program, argv[0]);
	rc = engine_draw(&r, &figures, &c->error) ? CMD_DEVICE : CMD_OK;
	if (rc == CMD_OK && dir)
		rc = figures_write(c, dir, &figures);
	if (rc == CMD_OK)
		rc = write_report(c, &r, &figures);
	figures_free(&figures);
	run_free(&r);
	return rc;
}
