/* fathom reproduce: a paper's published values beside what simulated GPUs, or a stored run, say. */
#include "cmd/figures.h"
#include "cmd/files.h"
#include "cmd/interrupt.h"
#include "cmd/side.h"
#include "data/paper_compare.h"
#include "data/paper_formula.h"
#include <errno.h>
#include <string.h>

struct reproducing {
	struct cmd_context *c;
	struct measuring m;
	const char *name; /* of the paper, as it was given */
	struct paper *paper;
	struct paper_comparison *parts; /* `count` of them, each of the run beside it */
	struct run **run;
	size_t count;
	struct run *runs; /* one a part of the paper, initialised or zeros */
	uint64_t seed;
	int ended; /* CMD_OK, or how measuring ended before everything was measured */
};

/* ---- which part of the paper ---- */

static int open_paper(struct reproducing *x)
{
	int rc = paper_open(&x->paper, &x->c->arena, x->name, &x->c->error);

	return rc == 0 ? CMD_OK : rc == -ENOMEM ? CMD_DEVICE : rc == -ENOENT ? CMD_USAGE : CMD_FILE;
}

static const struct paper_part *part_of(const struct paper *p, const char *gpu)
{
	for (size_t i = 0; gpu && i < p->part_count; i++)
		if (strcmp(p->parts[i].gpu, gpu) == 0)
			return &p->parts[i];
	return NULL;
}

static const char *part_names(struct reproducing *x)
{
	const char *names = "";

	for (size_t i = 0; names && i < x->paper->part_count; i++)
		names = arena_printf(&x->c->arena, "%s%s%s", names, i ? ", " : "", x->paper->parts[i].gpu);
	return names ? names : "several";
}

/* The part that is meant, NULL: all of them. `gpu` and `device` are what is laid beside it, NULL when nothing was said. */
static int choose_part(struct reproducing *x, const char *gpu, const char *device, const struct paper_part **part)
{
	const char *given = cmd_value(x->c, "part");
	const struct paper *p = x->paper;

	*part = part_of(p, given);
	if (given && !*part)
		return cmd_fail(x->c, CMD_USAGE, "%s has no values of '%s'; its parts are %s", x->name, given,
				part_names(x));
	if (!*part)
		*part = part_of(p, gpu);
	for (size_t i = 0; !*part && device && i < p->part_count; i++)
		if (strcmp(p->parts[i].device, device) == 0)
			*part = &p->parts[i];
	if (!*part && p->part_count == 1)
		*part = &p->parts[0];
	if (!*part && (gpu || device))
		return cmd_fail(x->c, CMD_USAGE, "%s is about several GPUs; say by --part which of %s is meant",
				x->name, part_names(x));
	return CMD_OK;
}

/* ---- what has to be measured ---- */

/* Whether the probe finds one of the part's keys, or its best figure is one that the part numbers. */
static bool claims(const struct probe *p, const struct paper *paper, const struct paper_part *part)
{
	for (size_t i = 0; p->figure && i < part->figure_count; i++)
		if (strcmp(part->figures[i].name, p->figure) == 0)
			return true;
	for (size_t i = 0; i < part->count; i++) {
		struct formula f;
		struct err none = {0};
		formula_parse(&f, paper->rows[part->first + i].key, &none);
		for (unsigned t = 0; t < f.count; t++)
			for (size_t k = 0; p->claims && p->claims[k]; k++)
				if (str_glob(p->claims[k], f.term[t].key))
					return true;
	}
	return false;
}

/* CMD_OK with plan->count 0 when no probe knows any of the keys. */
static int plan_part(struct reproducing *x, const struct paper_part *part, struct engine_plan *plan)
{
	const char **names = ARENA_ARRAY(&x->c->arena, probe_count + 1, const char *);
	size_t n = 0;

	if (!names)
		return cmd_fail(x->c, CMD_DEVICE, "out of memory");
	for (size_t i = 0; i < probe_count; i++)
		if (claims(probe_table[i], x->paper, part))
			names[n++] = probe_table[i]->name;
	if (!n)
		return CMD_OK;
	const int rc = engine_plan(plan, names, n, &x->c->error) ? CMD_DEVICE : CMD_OK;
	plan->for_figures = part->figure_count > 0;
	return rc;
}

static int open_part(struct reproducing *x, struct side *s, const struct paper_part *part, const char *gpu)
{
	struct cmd_context *c = x->c;
	const char *device = arena_printf(&c->arena, "sim:%s", gpu);
	int rc = device ? plan_part(x, part, &s->plan) : cmd_fail(c, CMD_DEVICE, "out of memory");

	if (rc == CMD_OK)
		rc = measuring_open(&x->m, device, NULL, x->seed, &s->gpu);
	if (rc == CMD_OK)
		measuring_record(c, s->run, s->gpu->ops->info(s->gpu), x->seed);
	return rc;
}

/* Nobody described this device: all its values stay not asked. */
static void no_description(const struct cmd_context *c, struct run *r)
{
	snprintf(r->device.name, sizeof(r->device.name), "nothing: no file in gpus/ describes it");
	snprintf(r->device.spec, sizeof(r->device.spec), "-");
	snprintf(r->fathom, sizeof(r->fathom), "%s", c->build);
}

static int compare(struct reproducing *x, const struct paper_part *part, struct run *r)
{
	if (paper_compare(&x->parts[x->count], &x->c->arena, x->paper, part, r))
		return cmd_fail(x->c, CMD_DEVICE, "out of memory");
	x->run[x->count++] = r;
	return CMD_OK;
}

/* Of what was measured: the tables, and how it ended. */
static int take_sides(struct reproducing *x, struct side *side, const struct paper_part *const *part, size_t count)
{
	int rc = CMD_OK;

	for (size_t i = 0; i < count; i++) {
		if (rc == CMD_OK && side[i].rc) {
			x->c->error = side[i].c.error;
			rc = side[i].rc;
		}
		if (rc == CMD_OK && side[i].ended && x->ended == CMD_OK) {
			x->c->error = side[i].c.error;
			x->ended = side[i].ended;
		}
	}
	for (size_t i = 0; i < count && rc == CMD_OK; i++)
		if (side[i].begun)
			rc = compare(x, part[i], side[i].run);
	return rc;
}

static int measure_sides(struct reproducing *x, struct side *side, const struct paper_part **part, size_t count)
{
	const char *gpu = cmd_value(x->c, "gpu");
	unsigned workers = side_workers(x->c, count);
	int rc = CMD_OK;

	for (size_t i = 0; i < count; i++)
		side_begin(&side[i], &x->m, x->c, part[i]->gpu, workers < 2);
	for (size_t i = 0; rc == CMD_OK && i < count; i++) {
		side[i].run = &x->runs[i];
		side[i].output = cmd_value(x->c, "output");
		side[i].paper = x->name;
		if (run_init(side[i].run))
			rc = cmd_fail(x->c, CMD_DEVICE, "out of memory");
		else if (gpu || strcmp(part[i]->gpu, "-") != 0)
			rc = open_part(x, &side[i], part[i], gpu ? gpu : part[i]->gpu);
		else
			no_description(x->c, side[i].run);
	}
	if (rc == CMD_OK) {
		interrupt_watch();
		side_run(side, count, workers);
	}
	if (rc == CMD_OK)
		rc = take_sides(x, side, part, count);
	for (size_t i = 0; i < count; i++)
		side_free(&side[i]);
	return rc;
}

static int measure_all(struct reproducing *x)
{
	const size_t most = x->paper->part_count;
	const struct paper_part *only, **part = ARENA_ARRAY(&x->c->arena, most, const struct paper_part *);
	struct side *side = ARENA_ARRAY(&x->c->arena, most, struct side);
	size_t count = 0;
	int rc = choose_part(x, cmd_value(x->c, "gpu"), NULL, &only);

	if (rc == CMD_OK && (!part || !side))
		rc = cmd_fail(x->c, CMD_DEVICE, "out of memory");
	if (rc == CMD_OK && !only && cmd_value(x->c, "output"))
		rc = cmd_fail(x->c, CMD_USAGE,
			      "-o names one run file, and %s is about several GPUs; choose by --part: %s", x->name,
			      part_names(x));
	if (rc == CMD_OK && cmd_value(x->c, "output") && files_exists(cmd_value(x->c, "output")))
		rc = cmd_fail(x->c, CMD_USAGE, "%s is there already; give another name to -o, or read it by --from",
			      cmd_value(x->c, "output"));
	for (size_t i = 0; rc == CMD_OK && i < most; i++)
		if (!only || only == &x->paper->parts[i])
			part[count++] = &x->paper->parts[i];
	return rc ? rc : measure_sides(x, side, part, count);
}

static int load_stored(struct reproducing *x, const char *path)
{
	struct run *r = &x->runs[0];
	const struct paper_part *part;
	const char *gpu;
	int rc = files_load_run(x->c, path, r);

	if (rc)
		return rc;
	files_say_foreign(x->c, path, r);
	gpu = str_starts(r->device.spec, "sim:") ? r->device.spec + strlen("sim:") : "";
	rc = choose_part(x, gpu, r->device.name, &part);
	return rc ? rc : compare(x, part, r);
}

/* ---- what came out ---- */

/* The part's figures by the paper's numbers: "fig-13.svg", and with our name behind it where several are one figure of the paper. */
static int write_numbered(struct reproducing *x, const char *dir, const struct paper_part *part,
			  const struct figure_list *figures)
{
	int rc = files_make_dir(x->c, dir);

	for (size_t k = 0; rc == CMD_OK && k < part->figure_count; k++) {
		const struct paper_figure *p = &part->figures[k];
		const struct figure *f = NULL;
		unsigned alike = 0;
		for (size_t i = 0; i < part->figure_count; i++)
			alike += strcmp(part->figures[i].number, p->number) == 0;
		for (size_t i = 0; i < figures->count; i++)
			f = strcmp(figures->items[i].name, p->name) == 0 ? &figures->items[i] : f;
		if (!f) {
			fprintf(x->c->log, "figure %s of the paper was not drawn: %s\n", p->number, p->name);
			continue;
		}
		const char *stem = alike > 1 ? arena_printf(&x->c->arena, "fig-%s-%s", p->number, p->name)
					     : arena_printf(&x->c->arena, "fig-%s", p->number);
		rc = stem ? figures_write_one(x->c, dir, stem, f) : cmd_fail(x->c, CMD_DEVICE, "out of memory");
	}
	return rc;
}

static int write_all_figures(struct reproducing *x, const char *dir)
{
	int rc = CMD_OK;

	for (size_t i = 0; rc == CMD_OK && i < x->count; i++) {
		struct figure_list figures = {0};
		const char *to = x->count > 1 ? arena_printf(&x->c->arena, "%s/%s", dir, x->parts[i].part->gpu) : dir;

		rc = engine_draw(x->run[i], &figures, &x->c->error) ? CMD_DEVICE : CMD_OK;
		if (rc == CMD_OK)
			rc = to ? figures_write(x->c, to, &figures) : cmd_fail(x->c, CMD_DEVICE, "out of memory");
		if (rc == CMD_OK)
			rc = write_numbered(x, to, x->parts[i].part, &figures);
		figures_free(&figures);
	}
	return rc;
}

static int print(struct reproducing *x)
{
	const char *format = cmd_value(x->c, "format");
	struct cmd_context *c = x->c;
	struct str out;
	int rc;

	str_init(&out);
	if (format && strcmp(format, "json") == 0)
		rc = report_paper_json(&out, x->parts, x->count, &c->error);
	else
		rc = report_paper(&out, x->parts, x->count, &c->style, &c->error);
	rc = rc ? CMD_DEVICE : cmd_print(c, &out);
	str_free(&out);
	return rc;
}

static int outcome(struct reproducing *x)
{
	size_t differ = 0, all = 0;

	if (x->ended)
		return x->ended; /* the sentence stands in c->error already */
	for (size_t i = 0; i < x->count; i++) {
		differ += x->parts[i].counts[PAPER_DIFFERS];
		for (int k = 0; k < PAPER_RESULTS; k++)
			all += k == PAPER_IS_SETTING ? 0 : x->parts[i].counts[k];
	}
	if (differ)
		return cmd_fail(
		    x->c, CMD_INCOMPLETE,
		    "%zu of %zu published values differ from what was measured, and no deviation explains them", differ,
		    all);
	return CMD_OK;
}

int cmd_reproduce(struct cmd_context *c, int argc, char **argv)
{
	struct reproducing x = {.c = c, .name = argv[0], .seed = 1};
	const char *from = cmd_value(c, "from"), *dir = cmd_value(c, "figures");
	static const char *const measuring[] = {"gpu", "output", "seed", "time-limit", "threads"};
	int rc = open_paper(&x);

	(void)argc;
	for (size_t i = 0; rc == CMD_OK && from && i < sizeof(measuring) / sizeof(measuring[0]); i++)
		if (cmd_value(c, measuring[i]))
			rc = cmd_fail(c, CMD_USAGE, "--from measures nothing, so --%s makes no sense beside it",
				      measuring[i]);
	if (rc == CMD_OK)
		rc = cmd_integer(c, "seed", &x.seed);
	if (rc == CMD_OK)
		rc = measuring_begin(&x.m, c);
	if (rc)
		return rc;
	x.parts = ARENA_ARRAY(&c->arena, x.paper->part_count, struct paper_comparison);
	x.runs = ARENA_ARRAY(&c->arena, x.paper->part_count, struct run);
	x.run = ARENA_ARRAY(&c->arena, x.paper->part_count, struct run *);
	if (!x.parts || !x.runs || !x.run)
		return cmd_fail(c, CMD_DEVICE, "out of memory");
	rc = from ? load_stored(&x, from) : measure_all(&x);
	if (rc == CMD_OK && dir)
		rc = write_all_figures(&x, dir);
	if (rc == CMD_OK)
		rc = print(&x);
	if (rc == CMD_OK)
		rc = outcome(&x);
	for (size_t i = 0; i < x.paper->part_count; i++)
		run_free(&x.runs[i]);
	return rc;
}
