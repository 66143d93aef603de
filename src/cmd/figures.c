#include "cmd/figures.h"
#include "cmd/files.h"

int figures_write_one(struct cmd_context *c, const char *dir, const char *stem, const struct figure *f)
{
	char *path = arena_printf(&c->arena, "%s/%s.svg", dir, stem);
	struct str svg;

	if (!path)
		return cmd_fail(c, CMD_DEVICE, "out of memory");
	str_init(&svg);
	const int rc = report_svg(&svg, f, &c->error) ? CMD_DEVICE : files_replace(c, path, &svg);
	str_free(&svg);
	return rc;
}

int figures_write(struct cmd_context *c, const char *dir, const struct figure_list *figures)
{
	int rc = files_make_dir(c, dir);

	for (size_t i = 0; rc == CMD_OK && i < figures->count; i++)
		rc = figures_write_one(c, dir, figures->items[i].name, &figures->items[i]);
	if (rc == CMD_OK)
		fprintf(c->log, "wrote %zu figure%s to %s\n", figures->count, figures->count == 1 ? "" : "s", dir);
	return rc;
}
