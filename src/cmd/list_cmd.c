/* fathom list: what can be measured, and what can be asked. Opens no device. */
#include "base/arena.h"
#include "base/embed.h"
#include "base/units.h"
#include "cmd/cmd.h"
#include "cmd/probe_page.h"
#include "data/keys.h"
#include "data/paper.h"
#include "gpu/gpu.h"
#include "probe/probe.h"
#include "report/render.h"
#include <string.h>

/* The columns are padded to their widest words; the last is free text. */
struct row {
	const char *cell[4];
};

/* Narrower than this, free text stands in lines of its own. */
enum { LEAST_TEXT = 24, TEXT_INDENT = 4 };

/* page: columns of the terminal, where the last cell is broken between words; 0: a row stays a line, for other programs. */
static void rows_print(struct str *out, const struct row *rows, size_t n, size_t columns, unsigned page)
{
	size_t width[4] = {0}, left = 0;

	for (size_t k = 0; k + 1 < columns; k++) {
		for (size_t i = 0; i < n; i++)
			if (strlen(rows[i].cell[k]) > width[k])
				width[k] = strlen(rows[i].cell[k]);
		left += width[k] + 2;
	}
	for (size_t i = 0; i < n; i++) {
		const char *text = rows[i].cell[columns - 1];
		const bool fits = !page || left + strlen(text) <= page, beside = fits || left + LEAST_TEXT <= page;
		const unsigned indent = beside ? (unsigned)left : TEXT_INDENT;
		struct str broken;

		for (size_t k = 0; k + 1 < columns; k++)
			str_addf(out, "%-*s%s", k + 2 < columns || beside ? (int)width[k] : 0, rows[i].cell[k],
				 k + 2 < columns || beside ? "  " : "\n");
		if (fits) {
			str_addf(out, "%s\n", text);
			continue;
		}
		str_init(&broken);
		render_wrap(&broken, text, indent, page);
		if (!broken.failed)
			str_add(out, str_text(&broken) + (beside ? indent : 0));
		out->failed |= broken.failed;
		str_free(&broken);
	}
}

static void sentence_print(struct str *out, const char *text, unsigned indent, unsigned page)
{
	if (page)
		render_wrap(out, text, indent, page);
	else
		str_addf(out, "%*s%s\n", (int)indent, "", text);
}

static struct row device_row(struct arena *a, const struct device_info *d)
{
	char name[sizeof(d->name)];

	str_clean(name, sizeof(name), d->name);
	char clock[32] = "clock unknown";

	if (d->clock_hz > 0)
		snprintf(clock, sizeof(clock), "%.4g GHz", d->clock_hz / 1e9);
	return (struct row){{arena_strdup(a, d->spec), arena_strdup(a, name), arena_printf(a, "%u SMs", d->sm_count),
			     arena_strdup(a, clock)}};
}

/* Of a page too narrow for the columns, all that is said of a device becomes free text. Returns the columns; 0: out of memory. */
static size_t device_columns(struct arena *a, struct row *rows, size_t n, unsigned page)
{
	size_t width[3] = {0}, left = 0;

	for (size_t k = 0; k < 3; k++) {
		for (size_t i = 0; i < n; i++)
			if (strlen(rows[i].cell[k]) > width[k])
				width[k] = strlen(rows[i].cell[k]);
		left += width[k] + 2;
	}
	if (!page || left <= page)
		return 4;
	for (size_t i = 0; i < n; i++) {
		const char *const *cell = rows[i].cell;
		rows[i].cell[1] = arena_printf(a, "%s  %s  %s", cell[1], cell[2], cell[3]);
		if (!rows[i].cell[1])
			return 0;
	}
	return 2;
}

/* Devices of the backends that are, or are not, simulated. */
static int list_backends(struct cmd_context *c, struct str *out, bool only_simulated)
{
	size_t n;
	const struct gpu_ops *const *backends = gpu_backends(&n);

	for (size_t b = 0; b < n; b++) {
		struct device_list list = {0};
		struct row *rows;
		int rc;

		if (only_simulated && strcmp(backends[b]->name, "sim") != 0)
			continue;
		rc = gpu_list(backends[b], &list, &c->error);
		if (rc) {
			mem_free(list.items);
			return CMD_DEVICE;
		}
		rows = ARENA_ARRAY(&c->arena, list.count + 1, struct row);
		for (size_t i = 0; rows && i < list.count; i++) {
			rows[i] = device_row(&c->arena, &list.items[i]);
			for (size_t k = 0; k < 4; k++)
				if (!rows[i].cell[k])
					rows = NULL, k = 4;
		}
		mem_free(list.items);
		if (!rows)
			return cmd_fail(c, CMD_DEVICE, "out of memory");
		const size_t columns = device_columns(&c->arena, rows, list.count, c->style.width);
		if (!columns)
			return cmd_fail(c, CMD_DEVICE, "out of memory");
		rows_print(out, rows, list.count, columns, c->style.width);
		if (*list.note) {
			char note[sizeof(list.note)], text[sizeof(list.note) + 64];
			str_clean(note, sizeof(note), list.note);
			snprintf(text, sizeof(text), "(%s: %s)", backends[b]->name, note);
			sentence_print(out, text, 0, c->style.width);
		}
	}
	return CMD_OK;
}

static int list_devices(struct cmd_context *c, struct str *out)
{
	size_t n;
	const struct gpu_ops *const *backends = gpu_backends(&n);
	int rc = list_backends(c, out, false);

	if (rc)
		return rc;
	str_add(out, "\nWhat -d takes:\n");
	for (size_t b = 0; b < n; b++)
		sentence_print(out, backends[b]->help, 2, c->style.width);
	return CMD_OK;
}

static int list_probes(struct cmd_context *c, struct str *out)
{
	struct row *rows = ARENA_ARRAY(&c->arena, probe_count + 1, struct row);

	if (!rows)
		return cmd_fail(c, CMD_DEVICE, "out of memory");
	for (size_t i = 0; i < probe_count; i++)
		rows[i] = (struct row){{probe_table[i]->name, probe_table[i]->asks}};
	rows_print(out, rows, probe_count, 2, c->style.width);
	return CMD_OK;
}

static bool is_asked(const struct key_family *f)
{
	for (size_t i = 0; i < probe_count; i++)
		for (size_t k = 0; probe_table[i]->claims[k]; k++)
			if (key_pattern_meets(f->pattern, probe_table[i]->claims[k]))
				return true;
	return false;
}

static int list_keys(struct cmd_context *c, struct str *out)
{
	struct row *rows = ARENA_ARRAY(&c->arena, key_family_count + 1, struct row);

	if (!rows)
		return cmd_fail(c, CMD_DEVICE, "out of memory");
	for (int asked = 1; asked >= 0; asked--) { /* those that some probe asks first */
		size_t n = 0;

		for (size_t i = 0; i < key_family_count; i++)
			if (is_asked(&key_families[i]) == (asked == 1))
				rows[n++] = (struct row){
				    {key_families[i].pattern, key_families[i].unit, key_families[i].meaning}};
		if (n && !asked)
			str_addf(out, "\nNo probe concludes these %zu yet; descriptions and papers use them:\n", n);
		rows_print(out, rows, n, 3, c->style.width);
	}
	return CMD_OK;
}

static int list_gpus(struct cmd_context *c, struct str *out)
{
	return list_backends(c, out, true);
}

static int list_papers(struct cmd_context *c, struct str *out)
{
	struct row *rows = ARENA_ARRAY(&c->arena, embedded_count + 1, struct row);
	size_t n = 0;

	for (size_t i = 0; rows && i < embedded_count; i++) {
		const struct embedded *m = &embedded_files[i];
		struct paper *p;
		size_t bare = strlen(m->path);

		if (!str_starts(m->path, "papers/") || !str_ends(m->path, ".paper"))
			continue;
		if (paper_parse(&p, &c->arena, m->path, m->data, m->size, &c->error))
			return CMD_DEVICE;
		bare -= strlen("papers/.paper");
		rows[n] = (struct row){{arena_printf(&c->arena, "%.*s", (int)bare, m->path + strlen("papers/")),
					arena_printf(&c->arena, "%zu values", p->values), p->published, p->title}};
		if (!rows[n].cell[0] || !rows[n].cell[1])
			rows = NULL;
		n++;
	}
	if (!rows)
		return cmd_fail(c, CMD_DEVICE, "out of memory");
	rows_print(out, rows, n, 4, c->style.width);
	return CMD_OK;
}

static const struct {
	const char *name;
	int (*list)(struct cmd_context *c, struct str *out);
	const char *title; /* in the list of everything; NULL: too long for it */
} lists[] = {
    {"devices", list_devices, "Devices"},
    {"probes", list_probes, "Probes"},
    {"keys", list_keys, NULL},
    {"gpus", list_gpus, NULL},
    {"papers", list_papers, NULL},
};

#define LISTS (sizeof(lists) / sizeof(lists[0]))

static int list_all(struct cmd_context *c, struct str *out)
{
	for (size_t i = 0; i < LISTS; i++) {
		int rc;

		if (!lists[i].title)
			continue;
		str_addf(out, "%s%s:\n", out->len ? "\n" : "", lists[i].title);
		rc = lists[i].list(c, out);
		if (rc)
			return rc;
	}
	str_addc(out, '\n');
	sentence_print(out, "More: `fathom list keys`, `fathom list papers`. Measure: `fathom run`.", 0,
		       c->style.width);
	return CMD_OK;
}

static int list_named(struct cmd_context *c, struct str *out, const char *word)
{
	const char *names[LISTS], *near;

	for (size_t i = 0; i < LISTS; i++) {
		names[i] = lists[i].name;
		if (strcmp(word, lists[i].name) == 0)
			return lists[i].list(c, out);
	}
	near = str_nearest(word, names, LISTS);
	if (near)
		return cmd_fail(c, CMD_USAGE,
				"list knows devices, probes, keys, gpus and papers, not '%s'; did you mean %s?", word,
				near);
	return cmd_fail(c, CMD_USAGE, "list knows devices, probes, keys, gpus and papers, not '%s'", word);
}

int cmd_list(struct cmd_context *c, int argc, char **argv)
{
	const char *format = cmd_value(c, "format");
	bool page = format && strcmp(format, "markdown") == 0;
	struct str out;
	int rc;

	if (page && (!argc || strcmp(argv[0], "probes") != 0))
		return cmd_fail(c, CMD_USAGE, "only the list of probes can be had as markdown: fathom list probes");
	str_init(&out);
	if (page) {
		probe_page(&out);
		rc = cmd_print(c, &out);
		str_free(&out);
		return rc;
	}
	rc = argc ? list_named(c, &out, argv[0]) : list_all(c, &out);
	if (rc == CMD_OK)
		rc = cmd_print(c, &out);
	str_free(&out);
	return rc;
}
