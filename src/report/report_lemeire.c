/* The one-page performance report of Lemeire 2016, Table III: computations by class, then every memory by the size of a load.
 * Several values with slashes between are those of 1, 2 and 4 independent chains, or of the levels of a memory, nearest first. */
#include "base/arena.h"
#include "base/units.h"
#include "report/report_parts.h"
#include <stdio.h>
#include <string.h>

#define DIGITS 3

static const char *const classes[] = {"sp", "mad", "int", "dp", "sf", "softsf"};
static const char *const parallel[] = {"ilp1", "ilp2", "ilp4"};
static const char *const spaces[] = {"global", "shared", "constant", "private"};
static const char *const titles[] = {"Global memory", "Local memory of a block (shared)", "Constant memory",
				     "Private memory of a work item"};
static const char *const levels[] = {"l1", "l15", "l2", "l3", "l4"};

#define COUNT(a) (sizeof(a) / sizeof *(a))

/* Appends the value, with a slash before it unless it is the first. False: nobody asked. */
static bool value(struct str *out, const struct run *r, const char *key, double scale)
{
	const struct finding *f = findings_get(&r->findings, key);
	if (!f)
		return false;
	if (out->len)
		str_addc(out, '/');
	if (finding_estimated(f) && f->value.kind == VALUE_NUMBER) {
		str_add(out, f->verdict == VERDICT_LIKELY ? "~" : "");
		render_number(out, f->value.number * scale, DIGITS);
	} else {
		str_add(out, f->verdict == VERDICT_ABSENT ? "none" : f->verdict == VERDICT_UNSUPPORTED ? "-" : "?");
	}
	return true;
}

static void cell(struct table *t, struct str *s)
{
	t->failed |= s->failed;
	table_cell(t, s->len ? str_text(s) : "-", VERDICT_MEASURED);
	str_clear(s);
}

static bool computations(struct str *out, const struct run *r, const struct report_style *style)
{
	static const struct {
		const char *part, *title;
		bool items; /* warps are shown as work items */
	} columns[] = {{"performance", "Gop/s", false},
		       {"issue", "issue", false},
		       {"completion", "completion", false},
		       {"ridge", "ridge point", true}};
	struct table t;
	struct str s;
	str_init(&s);
	table_open(&t, style);
	table_column(&t, "class", TABLE_LEFT);
	for (size_t k = 0; k < COUNT(columns); k++)
		table_column(&t, columns[k].title, TABLE_RIGHT);
	for (size_t c = 0; c < COUNT(classes); c++) {
		char key[64];
		snprintf(key, sizeof key, "pipeline.%s.ilp1.issue", classes[c]);
		if (!findings_get(&r->findings, key))
			continue;
		table_row(&t);
		table_cell(&t, classes[c], VERDICT_MEASURED);
		for (size_t k = 0; k < COUNT(columns); k++) {
			for (size_t i = 0; i < COUNT(parallel); i++) {
				snprintf(key, sizeof key, "pipeline.%s.%s.%s", classes[c], parallel[i],
					 columns[k].part);
				value(&s, r, key, columns[k].items ? r->device.warp_size : 1);
			}
			cell(&t, &s);
		}
	}
	const bool any = t.rows > 0;
	if (any)
		part_title(out, "Computations (1/2/4 independent chains; cycles a warp; ridge point in work items)",
			   style);
	table_print(&t, out);
	str_free(&s);
	return any;
}

/* Sizes of the caches in front of this memory. */
static void cache_sizes(struct str *s, const struct run *r, const char *space)
{
	for (size_t i = 0; i < COUNT(levels); i++) {
		char key[64], text[32];
		snprintf(key, sizeof key, "cache.%s.%s.size", space, levels[i]);
		const struct finding *f = findings_get(&r->findings, key);
		if (f && finding_estimated(f) && f->value.kind == VALUE_NUMBER)
			str_addf(s, "%s%s%s", s->len ? "/" : "", f->verdict == VERDICT_LIKELY ? "~" : "",
				 units_value(text, sizeof text, f->value.number, "bytes"));
	}
}

/* Latencies of the levels behind the nearest one, as other probes found them. */
static void levels_beyond(struct str *s, const struct run *r, const char *space)
{
	char key[64];
	bool nearest = true;
	for (size_t i = 0; i < COUNT(levels); i++) {
		snprintf(key, sizeof key, "cache.%s.%s.latency", space, levels[i]);
		const struct finding *f = findings_get(&r->findings, key);
		if (!f || !finding_estimated(f))
			continue;
		if (!nearest)
			value(s, r, key, 1);
		nearest = false;
	}
}

/* Latencies of a load, nearest level first, memory last. False: nobody asked. */
static bool latencies(struct str *s, const struct run *r, const char *space, unsigned bytes)
{
	char key[64];
	snprintf(key, sizeof key, "memory.%s.%u.timed_hit", space, bytes);
	bool any = value(s, r, key, 1);
	if (any && bytes == 4)
		levels_beyond(s, r, space);
	snprintf(key, sizeof key, "memory.%s.%u.timed_latency", space, bytes);
	if (value(s, r, key, 1))
		return true;
	snprintf(key, sizeof key, "memory.%s.latency", space);
	const struct finding *f = findings_get(&r->findings, key);
	if (any && f && finding_estimated(f))
		value(s, r, key, 1);
	return any;
}

static bool memory(struct str *out, const struct run *r, size_t space, const struct report_style *style)
{
	enum { LATENCIES = 2 };
	static const char *const parts[] = {"bandwidth", "issue", "completion"};
	struct table t;
	struct str s;
	bool any = false;
	str_init(&s);
	table_open(&t, style);
	table_column(&t, "bytes", TABLE_LEFT);
	table_column(&t, "GB/s", TABLE_RIGHT);
	table_column(&t, "issue", TABLE_RIGHT);
	table_column(&t, "completion", TABLE_RIGHT);
	table_column(&t, "cache size", TABLE_RIGHT);
	for (unsigned bytes = 1; bytes <= 16; bytes *= 2) {
		char key[64], number[12];
		struct str cells[COUNT(parts)];
		bool here = false;
		for (size_t k = 0; k < COUNT(parts); k++) {
			str_init(&cells[k]);
			snprintf(key, sizeof key, "memory.%s.%u.%s", spaces[space], bytes, parts[k]);
			here |= k == LATENCIES ? latencies(&cells[k], r, spaces[space], bytes)
					       : value(&cells[k], r, key, 1);
		}
		if (here) {
			snprintf(number, sizeof number, "%u", bytes);
			table_row(&t);
			table_cell(&t, number, VERDICT_MEASURED);
			for (size_t k = 0; k < COUNT(parts); k++)
				cell(&t, &cells[k]);
			if (bytes == 4)
				cache_sizes(&s, r, spaces[space]);
			cell(&t, &s);
		}
		any |= here;
		for (size_t k = 0; k < COUNT(parts); k++)
			str_free(&cells[k]);
	}
	if (any)
		part_title(out, titles[space], style);
	table_print(&t, out);
	str_free(&s);
	return any;
}

void part_performance(struct str *out, const struct run *r, const struct report_style *style)
{
	computations(out, r, style);
	for (size_t i = 0; i < COUNT(spaces); i++)
		memory(out, r, i, style);
}

int report_lemeire(struct str *out, const struct run *r, const struct report_style *style, struct err *e)
{
	part_head(out, r, style);
	const size_t before = out->len;
	part_performance(out, r, style);
	if (out->len == before)
		str_add(out, "\nNothing of Lemeire's report was measured: its probes are pipeline and walk.\n");
	return out->failed ? err_nomem(e) : 0;
}
