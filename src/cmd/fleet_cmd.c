/* fathom fleet: which card of many differs from its like. */
#include "cmd/cmd.h"
#include "cmd/files.h"
#include "data/fleet.h"
#include "report/report_fleet.h"
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct paths {
	const char **name;
	size_t count, cap;
};

static int add_path(struct cmd_context *c, struct paths *p, const char *name)
{
	if (p->count == p->cap) {
		const size_t cap = p->cap ? 2 * p->cap : 16;
		const char **more = ARENA_ARRAY(&c->arena, cap, const char *);

		if (!more)
			return cmd_fail(c, CMD_DEVICE, "out of memory");
		if (p->count)
			memcpy(more, p->name, p->count * sizeof(*more));
		p->name = more;
		p->cap = cap;
	}
	p->name[p->count++] = name;
	return name ? CMD_OK : cmd_fail(c, CMD_DEVICE, "out of memory");
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* A folder stands for the run files in it, in the order of their names. */
static int add_operand(struct cmd_context *c, struct paths *p, const char *operand)
{
	const size_t before = p->count, n = strlen(operand);
	DIR *dir = opendir(operand);
	struct dirent *d;
	int rc = CMD_OK;

	if (!dir)
		return add_path(c, p, operand);
	while (rc == CMD_OK && (d = readdir(dir)) != NULL)
		if (str_ends(d->d_name, ".fathom"))
			rc = add_path(
			    c, p,
			    arena_printf(&c->arena, "%s%s%s", operand, operand[n - 1] == '/' ? "" : "/", d->d_name));
	closedir(dir);
	if (rc == CMD_OK && p->count == before)
		return cmd_fail(c, CMD_FILE, "there is no run file, *.fathom, in the folder %s", operand);
	if (rc == CMD_OK)
		qsort(p->name + before, p->count - before, sizeof(*p->name), by_name);
	return rc;
}

static int write_fleet(struct cmd_context *c, const struct fleet *f)
{
	const char *format = cmd_value(c, "format"), *html = cmd_value(c, "html");
	const struct fleet_card *worst = &f->card[0];
	size_t apart = 0;
	struct str out;
	int rc;

	str_init(&out);
	if (html) {
		rc = report_fleet_html(&out, f, &c->error) ? CMD_DEVICE : files_replace(c, html, &out);
		if (rc == CMD_OK)
			fprintf(c->log, "wrote %s\n", html);
		str_clear(&out);
	}
	if (html && rc) {
		str_free(&out);
		return rc;
	}
	if (cmd_value(c, "to"))
		rc = report_fleet_openmetrics(&out, f, &c->error);
	else if (format && strcmp(format, "json") == 0)
		rc = report_fleet_json(&out, f, &c->error);
	else
		rc = report_fleet(&out, f, &c->style, &c->error);
	rc = rc ? CMD_DEVICE : cmd_print(c, &out);
	str_free(&out);
	for (size_t i = 0; i < f->card_count; i++) {
		apart += f->card[i].apart > 0;
		worst = f->card[i].apart > worst->apart ? &f->card[i] : worst;
	}
	if (rc == CMD_OK && apart)
		rc = cmd_fail(c, CMD_INCOMPLETE, "%zu of %zu cards differ%s from %s like, %s %s", apart, f->card_count,
			      apart == 1 ? "s" : "", apart == 1 ? "its" : "their", apart == 1 ? "it is" : "most of all",
			      worst->name);
	return rc;
}

int cmd_fleet(struct cmd_context *c, int argc, char **argv)
{
	struct paths paths = {0};
	struct fleet fleet;
	size_t loaded = 0;
	int rc = CMD_OK;

	for (int i = 0; rc == CMD_OK && i < argc; i++)
		rc = add_operand(c, &paths, argv[i]);
	if (rc)
		return rc;
	struct run *run = ARENA_ARRAY(&c->arena, paths.count, struct run);
	const struct run **runs = ARENA_ARRAY(&c->arena, paths.count, const struct run *);
	if (!run || !runs)
		return cmd_fail(c, CMD_DEVICE, "out of memory");
	for (; rc == CMD_OK && loaded < paths.count; loaded += rc == CMD_OK) {
		runs[loaded] = &run[loaded];
		rc = files_load_run(c, paths.name[loaded], &run[loaded]);
	}
	if (rc == CMD_OK && fleet_judge(&fleet, &c->arena, runs, paths.name, paths.count))
		rc = cmd_fail(c, CMD_DEVICE, "out of memory");
	if (rc == CMD_OK)
		rc = write_fleet(c, &fleet);
	for (size_t i = 0; i < loaded; i++)
		run_free(&run[i]);
	return rc;
}
