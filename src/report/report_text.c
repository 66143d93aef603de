/* The report for people: one page in words, tables and characters. */
#include "base/arena.h"
#include "report/report_parts.h"
#include <stdio.h>
#include <string.h>

/* Families in reading order; a family that is not listed comes last, under its own name. */
static const struct {
	const char *prefix, *title;
} families[] = {
    {"device", "Device"},
    {"topology", "Topology"},
    {"clock", "Clock"},
    {"branch", "Branches"},
    {"barrier", "Barriers"},
    {"regfile", "Registers"},
    {"shared", "Shared memory"},
    {"cache", "Caches, further"},
    {"memory", "Memory"},
    {"tlb", "Translation, further"},
    {"outstanding", "Outstanding requests"},
    {"pipeline", "Pipelines"},
    {"arith", "Arithmetic, further"},
    {"unit", "Units"},
    {"float", "Floating point"},
    {"sfu", "Special functions"},
    {"texture", "Texture unit"},
    {"atomic", "Atomics"},
    {"host", "Host"},
};
#define METHODS	 32
#define FAMILIES (sizeof families / sizeof *families)

static bool belongs(const char *key, const char *prefix)
{
	size_t n = strlen(prefix);
	return strncmp(key, prefix, n) == 0 && key[n] == '.';
}

static bool known_family(const char *key)
{
	for (size_t i = 0; i < FAMILIES; i++)
		if (belongs(key, families[i].prefix))
			return true;
	return false;
}

/* Methods repeat, so a table names each by a number and tells it once, below. */
struct methods {
	const char *text[METHODS];
	unsigned count;
};

/* The number as text; "" for none, and beyond the last that there is room for. */
static void method_number(char *out, size_t n, struct methods *m, const char *method)
{
	unsigned i = 0;
	*out = '\0';
	while (i < m->count && strcmp(m->text[i], method) != 0)
		i++;
	if (i == METHODS || !*method)
		return;
	if (i == m->count)
		m->text[m->count++] = method;
	snprintf(out, n, "(%u)", i + 1);
}

static void print_methods(struct str *out, const struct methods *m, const struct report_style *style)
{
	unsigned width = style->width ? style->width : 80;
	for (unsigned i = 0; i < m->count; i++) {
		struct str line;
		str_init(&line);
		str_addf(&line, "(%u) ", i + 1);
		render_clean(&line, m->text[i], !style->unicode);
		out->failed |= line.failed;
		render_wrap(out, str_text(&line), 2, width < 40 ? 40 : width);
		str_free(&line);
	}
}

/* What has a value and is in no table of its own. prefix NULL: findings of no known family. */
static void family(struct str *out, const struct finding *const *sorted, const struct run *r, const char *prefix,
		   const char *title, const struct report_style *style)
{
	struct table t;
	struct methods methods = {.count = 0};
	table_open(&t, style);
	table_column(&t, "finding", TABLE_LEFT);
	table_column(&t, "value", TABLE_RIGHT);
	table_column(&t, "interval", TABLE_LEFT);
	table_column(&t, "method", TABLE_LEFT);
	for (size_t i = 0; i < r->findings.count; i++) {
		const struct finding *f = sorted[i];
		if (prefix ? !belongs(f->key, prefix) : known_family(f->key))
			continue;
		if (!finding_answered(f) || part_tabulated(f->key))
			continue;
		struct str s;
		char number[24];
		str_init(&s);
		table_row(&t);
		table_cell(&t, f->key, VERDICT_MEASURED);
		render_value(&s, f, true, style->unicode);
		t.failed |= s.failed;
		table_cell(&t, str_text(&s), f->verdict);
		str_clear(&s);
		render_interval(&s, f, true, style->unicode);
		t.failed |= s.failed;
		table_cell(&t, str_text(&s), VERDICT_MEASURED);
		method_number(number, sizeof(number), &methods, f->method);
		table_cell(&t, number, VERDICT_MEASURED);
		str_free(&s);
	}
	if (t.rows)
		part_title(out, title, style);
	table_print(&t, out);
	print_methods(out, &methods, style);
}

static int figures_in_characters(struct str *out, const struct figure_list *l, const struct report_style *style,
				 struct err *e)
{
	bool any = false;
	for (size_t i = 0; l && i < l->count; i++) {
		if (!l->items[i].main)
			continue;
		if (!any)
			part_title(out, "Figures", style);
		else
			str_addc(out, '\n');
		any = true;
		int code = report_draw(out, &l->items[i], style, e);
		if (code)
			return code;
	}
	return 0;
}

int report_text(struct str *out, const struct run *r, const struct figure_list *figures,
		const struct report_style *style, struct err *e)
{
	const struct finding **sorted = render_sorted(r);
	if (!sorted)
		return err_nomem(e);
	part_head(out, r, style);
	for (size_t i = 0; i < FAMILIES; i++) {
		if (strcmp(families[i].prefix, "cache") == 0)
			part_levels(out, sorted, r, "cache", false, style);
		else if (strcmp(families[i].prefix, "tlb") == 0)
			part_levels(out, sorted, r, "tlb", false, style);
		else if (strcmp(families[i].prefix, "branch") == 0)
			part_arithmetic(out, sorted, r, style);
		else if (strcmp(families[i].prefix, "pipeline") == 0)
			part_performance(out, r, style);
		family(out, sorted, r, families[i].prefix, families[i].title, style);
	}
	family(out, sorted, r, NULL, "Other", style);
	int code = figures_in_characters(out, figures, style, e);
	part_open(out, sorted, r, style, 0);
	part_probes(out, r, style);
	mem_free(sorted);
	return code ? code : out->failed ? err_nomem(e) : 0;
}
