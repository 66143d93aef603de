/* fathom compare: stored runs beside each other. */
#include "cmd/cmd.h"
#include "cmd/files.h"
#include "data/run_compare.h"
#include "report/report.h"
#include <string.h>

static int write_comparison(struct cmd_context *c, const struct run *const *runs, size_t n, const char *const *names)
{
	const char *format = cmd_value(c, "format");
	struct comparison all;
	struct str out;
	int rc;

	if (compare_runs(&all, &c->arena, runs, n)) {
		err_nomem(&c->error);
		return CMD_DEVICE;
	}
	str_init(&out);
	if (format && strcmp(format, "json") == 0)
		rc = report_compare_json(&out, &all, names, &c->error);
	else
		rc = report_compare(&out, &all, names, &c->style, &c->error);
	rc = rc ? CMD_DEVICE : cmd_print(c, &out);
	str_free(&out);
	size_t apart = all.counts[COMPARE_CONTRADICT] + all.counts[COMPARE_DIFFER];
	if (rc == CMD_OK && apart)
		rc = cmd_fail(c, CMD_INCOMPLETE, "the runs differ in %zu finding%s", apart, apart == 1 ? "" : "s");
	return rc;
}

int cmd_compare(struct cmd_context *c, int argc, char **argv)
{
	size_t n = (size_t)argc, loaded = 0;
	struct run *run = ARENA_ARRAY(&c->arena, n, struct run);
	const struct run **runs = ARENA_ARRAY(&c->arena, n, const struct run *);
	int rc = CMD_OK;

	if (!run || !runs) {
		err_nomem(&c->error);
		return CMD_DEVICE;
	}
	for (; rc == CMD_OK && loaded < n; loaded += rc == CMD_OK) {
		runs[loaded] = &run[loaded];
		rc = files_load_run(c, argv[loaded], &run[loaded]);
		if (rc == CMD_OK)
			files_say_foreign(c, argv[loaded], &run[loaded]);
	}
	if (rc == CMD_OK)
		rc = write_comparison(c, runs, n, (const char *const *)argv);
	for (size_t i = 0; i < loaded; i++)
		run_free(&run[i]);
	return rc;
}
