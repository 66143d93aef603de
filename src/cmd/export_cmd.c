/* fathom export: a stored run for another program. */
#include "cmd/cmd.h"
#include "cmd/files.h"
#include "gpu/sim/spec_twin.h"
#include "report/report_export.h"
#include <string.h>

int cmd_export(struct cmd_context *c, int argc, char **argv)
{
	static const struct {
		const char *to;
		int (*write)(struct str *out, const struct run *r, struct err *e);
	} formats[] = {{"accel-sim", export_accel_sim},
		       {"ceilings", export_ceilings},
		       {"hwloc", export_hwloc},
		       {"latencies", export_latencies},
		       {"openmetrics", export_openmetrics}};
	const char *to = cmd_value(c, "to");
	struct run r;
	struct str out;
	(void)argc;
	int rc = files_load_run(c, argv[0], &r);
	if (rc)
		return rc;
	files_say_foreign(c, argv[0], &r);
	str_init(&out);
	if (strcmp(to, "gpu") == 0)
		rc = spec_twin(&out, &r, cmd_value(c, "like"), &c->error) ? CMD_DEVICE : cmd_print(c, &out);
	for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
		if (strcmp(to, formats[i].to) == 0)
			rc = formats[i].write(&out, &r, &c->error) ? CMD_DEVICE : cmd_print(c, &out);
	str_free(&out);
	run_free(&r);
	return rc;
}
