/* What `make run` ends with: the run on about one page. */
#include "base/arena.h"
#include "report/report_parts.h"
#include <stdio.h>
#include <string.h>

#define OPEN_SHOWN 6
#define NAME	   10 /* columns of the name of an operation */

/* "24 / 8" of the operation whose latency f is. */
static void operation(struct str *out, const struct finding *f, const struct run *r, const struct report_style *style)
{
	char key[128], name[96];
	snprintf(name, sizeof(name), "%.*s", (int)(strlen(f->key) - strlen("arith.") - strlen(".latency")),
		 f->key + strlen("arith."));
	snprintf(key, sizeof(key), "arith.%s.throughput", name);
	const struct finding *throughput = findings_get(&r->findings, key);
	size_t start = out->len;
	render_clean(out, name, !style->unicode);
	size_t w = out->len - start;
	do
		str_addc(out, ' ');
	while (++w < NAME);
	render_value(out, f, false, style->unicode);
	str_add(out, " / ");
	if (throughput)
		render_value(out, throughput, false, style->unicode);
	else
		str_addc(out, '-');
}

static bool is_operation(const struct finding *f)
{
	return str_starts(f->key, "arith.") && str_ends(f->key, ".latency") && finding_estimated(f);
}

/* "mad.f32   24 / 8", as many a line as the widest leaves room for. */
static void operations(struct str *out, const struct finding *const *sorted, const struct run *r,
		       const struct report_style *style)
{
	unsigned width = style->width ? style->width : 80, n = 0;
	size_t widest = 0;
	struct str entry;
	str_init(&entry);
	for (size_t i = 0; i < r->findings.count; i++) {
		if (!is_operation(sorted[i]))
			continue;
		operation(&entry, sorted[i], r, style);
		size_t w = render_width(str_text(&entry));
		widest = w > widest ? w : widest;
		out->failed |= entry.failed;
		str_clear(&entry);
	}
	if (widest)
		part_title(out, "Arithmetic (latency in cycles / results per clock and SM)", style);
	size_t gap = 0, across = widest + 4 < width ? width / (widest + 2) : 1;
	for (size_t i = 0; i < r->findings.count; i++) {
		if (!is_operation(sorted[i]))
			continue;
		operation(&entry, sorted[i], r, style);
		bool last = ++n % across == 0;
		for (; gap > 0; gap--)
			str_addc(out, ' ');
		str_addf(out, "  %s", str_text(&entry));
		gap = last ? 0 : widest - render_width(str_text(&entry));
		if (last)
			str_addc(out, '\n');
		out->failed |= entry.failed;
		str_clear(&entry);
	}
	if (n % across)
		str_addc(out, '\n');
	str_free(&entry);
}

/* Latency, throughput and issue of each kind of unit, one a line. */
static void units(struct str *out, const struct finding *const *sorted, const struct run *r,
		  const struct report_style *style)
{
	static const char *const columns[] = {"latency", "throughput", "issue"};
	struct table t;
	table_open(&t, style);
	table_column(&t, "unit", TABLE_LEFT);
	table_column(&t, "latency", TABLE_RIGHT);
	table_column(&t, "ops/clk/SM", TABLE_RIGHT);
	table_column(&t, "clocks a warp", TABLE_RIGHT);
	for (size_t i = 0; i < r->findings.count; i++) {
		const struct finding *f = sorted[i];
		if (!str_starts(f->key, "unit.") || !str_ends(f->key, ".latency") || !finding_estimated(f))
			continue;
		char name[96], key[128];
		snprintf(name, sizeof(name), "%.*s", (int)(strlen(f->key) - strlen("unit..latency")),
			 f->key + strlen("unit."));
		table_row(&t);
		table_cell(&t, name, VERDICT_MEASURED);
		for (size_t k = 0; k < sizeof(columns) / sizeof(columns[0]); k++) {
			struct str s;
			snprintf(key, sizeof(key), "unit.%s.%s", name, columns[k]);
			const struct finding *value = findings_get(&r->findings, key);
			str_init(&s);
			if (value)
				render_value(&s, value, false, style->unicode);
			else
				str_addc(&s, '-');
			t.failed |= s.failed;
			table_cell(&t, str_text(&s), value ? value->verdict : VERDICT_UNSUPPORTED);
			str_free(&s);
		}
	}
	if (t.rows)
		part_title(out, "Arithmetic units (latency in cycles)", style);
	table_print(&t, out);
}

/* Families of which a page has room for every finding; NULL-terminated. */
static void short_list(struct str *out, const struct finding *const *sorted, const struct run *r,
		       const struct report_style *style, const char *title, const char *const *shown)
{
	struct table t;
	bool any = false;
	table_open(&t, style);
	table_column(&t, "finding", TABLE_LEFT);
	table_column(&t, "value", TABLE_RIGHT);
	table_column(&t, "interval", TABLE_LEFT);
	for (size_t k = 0; shown[k]; k++)
		for (size_t i = 0; i < r->findings.count; i++) {
			const struct finding *f = sorted[i];
			if (!str_starts(f->key, shown[k]) || part_tabulated(f->key) ||
			    (!finding_estimated(f) && f->verdict != VERDICT_ABSENT))
				continue;
			struct str s;
			str_init(&s);
			any = true;
			table_row(&t);
			table_cell(&t, f->key, VERDICT_MEASURED);
			render_value(&s, f, true, style->unicode);
			t.failed |= s.failed;
			table_cell(&t, str_text(&s), f->verdict);
			str_clear(&s);
			render_interval(&s, f, true, style->unicode);
			t.failed |= s.failed;
			table_cell(&t, str_text(&s), VERDICT_MEASURED);
			str_free(&s);
		}
	if (any)
		part_title(out, title, style);
	table_print(&t, out);
}

int report_summary(struct str *out, const struct run *r, const struct report_style *style, struct err *e)
{
	const struct finding **sorted = render_sorted(r);
	if (!sorted)
		return err_nomem(e);
	part_head(out, r, style);
	units(out, sorted, r, style);
	operations(out, sorted, r, style);
	part_performance(out, r, style);
	short_list(out, sorted, r, style, "Branches and barriers", (const char *const[]){"branch.", "barrier.", NULL});
	part_levels(out, sorted, r, "cache", true, style);
	part_levels(out, sorted, r, "tlb", true, style);
	short_list(out, sorted, r, style, "Clock, registers and memory",
		   (const char *const[]){"clock.", "regfile.", "shared.", "memory.", "tlb.page_size",
					 "tlb.active_window", "topology.", NULL});
	part_open(out, sorted, r, style, OPEN_SHOWN);
	part_probes(out, r, style);
	mem_free(sorted);
	return out->failed ? err_nomem(e) : 0;
}
