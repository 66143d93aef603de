/* The first screen, which `fathom run` ends with: a GPU in 24 lines of 80 columns. Everything else is one command away. */
#include "base/arena.h"
#include "report/report_overview.h"
#include "report/report_parts.h"
#include "report/report_screen.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FEW	    14 /* findings that are listed one by one, as of a run with one small probe */
#define NARROW	    66 /* columns below which the head takes a line a fact */
#define COUNT_OF(a) (sizeof(a) / sizeof *(a))

/* ---- the head: who, how fast ---- */

/* "24 Nov 2026" of an ISO date; the text itself when it is none. */
static void date(struct str *out, const char *iso)
{
	static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
	unsigned y, m, d;
	if (sscanf(iso, "%4u-%2u-%2u", &y, &m, &d) == 3 && m >= 1 && m <= 12 && d <= 31)
		str_addf(out, "%u %.3s %u", d, months + (m - 1) * 3, y);
	else
		render_clean(out, iso, true);
}

static void name_line(struct str *out, const struct run *r, const struct report_style *style)
{
	const struct device_info *d = &r->device;
	const struct finding *clusters = findings_get(&r->findings, "topology.cluster_count"),
			     *each = findings_get(&r->findings, "topology.sm_per_cluster"),
			     *clock = findings_get(&r->findings, "device.clock_hz");
	struct str what, when;
	str_init(&what);
	str_init(&when);
	str_addf(&what, "%u SMs", d->sm_count);
	if (clusters && finding_estimated(clusters) && clusters->value.number > 1) {
		str_addf(&what, " in %.0f groups", clusters->value.number);
		if (each && finding_estimated(each) && each->lo < each->hi)
			str_addf(&what, " (%.0f to %.0f each)", each->lo, each->hi);
	}
	const double hz = clock && finding_estimated(clock) ? clock->value.number : d->clock_hz;
	if (hz > 0) {
		str_add(&what, ", ");
		screen_si(&what, hz, "Hz");
	}
	if (*d->target) {
		str_add(&what, ", ");
		render_clean(&what, d->target, true);
	}
	str_add(&when, "measured ");
	date(&when, r->started);
	str_addf(&when, ", %.0f s", r->seconds);
	str_add(out, table_bold(style));
	render_clean(out, d->name, !style->unicode);
	str_add(out, table_plain(style));
	const size_t width = screen_width(style), used = render_width(d->name) + 3 + what.len;
	if (width < NARROW || used > width) {
		str_addc(out, '\n');
		render_wrap(out, str_text(&what), TABLE_INDENT, (unsigned)width);
		render_wrap(out, str_text(&when), TABLE_INDENT, (unsigned)width);
	} else if (used + 2 + when.len > width) {
		str_addf(out, "   %s\n  %s\n", str_text(&what), str_text(&when));
	} else {
		str_addf(out, "   %s%*s%s\n", str_text(&what), (int)(width - used - when.len), "", str_text(&when));
	}
	out->failed |= what.failed || when.failed;
	str_free(&what);
	str_free(&when);
}

static void rates(struct screen_line *l, const struct run *r)
{
	static const struct {
		const char *class, *title, *unit;
	} shown[] = {{"mad", "FP32 fma", "flop/s"},
		     {"dp", "FP64 add", "flop/s"},
		     {"int", "INT32", "op/s"},
		     {"sf", "special", "op/s"}};
	for (size_t i = 0; i < COUNT_OF(shown); i++) {
		const struct finding *f = overview_rate(r, shown[i].class);
		if (!f)
			continue;
		screen_part(l);
		str_addf(&l->part, "%s %s", shown[i].title, f->verdict == VERDICT_LIKELY ? "~" : "");
		screen_si(&l->part, f->value.number * 1e9, shown[i].unit);
	}
}

/* "(-6 % +5 %)": the interval as shares, where it is wider than three digits show. */
static void shares(struct str *out, const struct finding *f)
{
	const double v = f->value.number, below = (v - f->lo) / v * 100, above = (f->hi - v) / v * 100;
	if (isfinite(below) && isfinite(above) && (below >= 1 || above >= 1))
		str_addf(out, " (-%.0f %% +%.0f %%)", below, above);
}

static void memory_and_launch(struct screen_line *l, const struct run *r)
{
	const struct finding *drawn = findings_get(&r->findings, "memory.global.bandwidth"),
			     *clock = findings_get(&r->findings, "device.clock_hz"),
			     *loads = findings_get(&r->findings, "memory.global.4.bandwidth"),
			     *launch = findings_get(&r->findings, "host.launch_latency");
	const double hz = clock && finding_estimated(clock) ? clock->value.number : r->device.clock_hz;
	if (!drawn || !finding_estimated(drawn))
		drawn = findings_get(&r->findings, "memory.global.drawn");
	const bool clocked = drawn && finding_estimated(drawn) && hz > 0;
	const struct finding *f = clocked ? drawn : loads;
	if (f && finding_estimated(f)) {
		screen_part(l);
		str_addf(&l->part, "memory %s", f->verdict == VERDICT_LIKELY ? "~" : "");
		screen_si(&l->part, f->value.number * (clocked ? hz : 1e9), "B/s");
		shares(&l->part, f);
	}
	if (launch && finding_estimated(launch) && launch->value.number > 0) {
		screen_part(l);
		str_addf(&l->part, "launch %s", launch->verdict == VERDICT_LIKELY ? "~" : "");
		screen_si(&l->part, launch->value.number, "s");
	}
	screen_end(l);
}

/* ---- what one warp sees ---- */

static void latencies(struct screen_line *l, const struct run *r)
{
	static const struct {
		const char *title, *ops[8];
	} shown[] = {{"add", {"add.f32"}},
		     {"fma", {"fma.f32", "mad.f32"}},
		     {"int", {"add.s32", "and.b32"}},
		     {"f64", {"add.f64", "mul.f64"}},
		     {"special", {"ex2.f32", "lg2.f32", "rcp.f32", "rsqrt.f32", "sqrt.f32", "sin.f32", "cos.f32"}},
		     {"div.f32", {"div.f32"}}};
	bool any = false;
	for (size_t i = 0; i < COUNT_OF(shown); i++) {
		const bool all = strcmp(shown[i].title, "special") == 0;
		double lo = INFINITY, hi = -INFINITY;
		for (size_t k = 0; k < COUNT_OF(shown[i].ops) && shown[i].ops[k]; k++) {
			char key[64];
			snprintf(key, sizeof key, "arith.%s.latency", shown[i].ops[k]);
			const struct finding *f = findings_get(&r->findings, key);
			if (!f || !finding_estimated(f) || f->value.kind != VALUE_NUMBER || (!all && lo < INFINITY))
				continue;
			lo = fmin(lo, f->value.number);
			hi = fmax(hi, f->value.number);
		}
		if (lo > hi)
			continue;
		if (!any)
			screen_part(l);
		str_addf(&l->part, any ? ", %s " : "one warp: %s ", shown[i].title);
		screen_number(&l->part, lo);
		if (hi > lo) {
			str_addc(&l->part, '-');
			screen_number(&l->part, hi);
		}
		any = true;
	}
	if (any)
		str_add(&l->part, " cycles");
	const struct finding *full = findings_get(&r->findings, "pipeline.mad.ilp1.ridge");
	if (full && finding_estimated(full) && full->value.kind == VALUE_NUMBER) {
		screen_part(l);
		str_addf(&l->part, "%.0f warps fill FP32", full->value.number);
	}
}

/* The text of a finding with blanks for its underscores; false: it has none. */
static bool words(char *out, size_t n, const struct run *r, const char *key)
{
	const struct finding *f = findings_get(&r->findings, key);
	if (!f || !finding_estimated(f) || f->value.kind != VALUE_TEXT)
		return false;
	snprintf(out, n, "%s", f->value.text);
	for (char *c = out; *c; c++)
		*c = (char)(*c == '_' ? ' ' : *c);
	return true;
}

static void control(struct screen_line *l, const struct run *r)
{
	const struct finding *group = findings_get(&r->findings, "branch.granularity"),
			     *barrier = findings_get(&r->findings, "barrier.latency"),
			     *drawn = findings_get(&r->findings, "cache.global.l2.bandwidth");
	char text[64];
	if (group && finding_estimated(group)) {
		screen_part(l);
		str_addf(&l->part, "branches in %.0fs", group->value.number);
		if (words(text, sizeof text, r, "branch.first_path"))
			str_addf(&l->part, ", %s first", text);
		if (words(text, sizeof text, r, "branch.independent_threads"))
			str_addf(&l->part, ", %s",
				 strcmp(text, "yes") == 0 ? "independent threads" : "one stack a warp");
	}
	if (barrier && finding_estimated(barrier)) {
		screen_part(l);
		str_add(&l->part, "barrier ");
		screen_number(&l->part, barrier->value.number);
		str_add(&l->part, " cycles");
		if (words(text, sizeof text, r, "barrier.counts"))
			str_addf(&l->part, ", counts %ss", text);
	}
	if (drawn && finding_answered(drawn) && drawn->verdict != VERDICT_ABSENT) {
		screen_part(l);
		str_addf(&l->part, "one SM draws %s", drawn->verdict == VERDICT_BOUND ? ">=" : "");
		screen_number(&l->part, drawn->verdict == VERDICT_BOUND ? drawn->lo : drawn->value.number);
		str_add(&l->part, " B/clk of L2");
	}
	screen_end(l);
}

/* ---- what is open, by cause ---- */

/* A reason without its figures and brackets: what is left is the same for all that failed for one cause. */
static void cause_of(char *out, size_t n, const char *because)
{
	size_t used = 0;
	unsigned depth = 0;
	for (; *because && used + 1 < n; because++) {
		depth += *because == '(';
		const bool figure = strchr("0123456789", *because) != NULL;
		if (depth == 0 && figure && (used == 0 || out[used - 1] != '#'))
			out[used++] = '#';
		else if (depth == 0 && !figure)
			out[used++] = *because;
		depth -= *because == ')' && depth > 0;
	}
	out[used] = '\0';
}

static bool is_open(const struct finding *f)
{
	return render_asked(f) && !finding_answered(f);
}

struct cause {
	char text[120];
	const struct finding *first;
	size_t count;
};

/* The most frequent causes first. Returns how many there are, which were all told apart where there are at most `most`. */
static size_t find_causes(struct cause *list, size_t most, const struct finding *const *sorted, const struct run *r)
{
	size_t n = 0;
	for (size_t i = 0; i < r->findings.count; i++) {
		char text[sizeof list->text];
		size_t k = 0;
		if (!is_open(sorted[i]))
			continue;
		cause_of(text, sizeof text, sorted[i]->because);
		while (k < n && strcmp(list[k].text, text) != 0)
			k++;
		if (k == most)
			continue;
		if (k == n) {
			memcpy(list[k].text, text, sizeof text);
			list[n++] = (struct cause){.first = sorted[i], .count = 0};
			memcpy(list[k].text, text, sizeof text);
		}
		for (list[k].count++; k > 0 && list[k].count > list[k - 1].count; k--) {
			struct cause swap = list[k];
			list[k] = list[k - 1];
			list[k - 1] = swap;
		}
	}
	return n;
}

/* Adds a reason with its fractions to three significant digits, as all numbers of the screen have; the line is cut at n columns. */
static void cut(struct str *out, const char *text, size_t n)
{
	struct str clean;
	str_init(&clean);
	render_clean(&clean, text, true);
	for (const char *c = str_text(&clean); *c;) {
		size_t digits = strspn(c, "0123456789.");
		const bool fraction =
		    digits > 2 && digits < 24 && memchr(c, '.', digits) && c[digits - 1] != '.' && *c != '.';
		if (fraction)
			render_number(out, strtod(c, NULL), 3);
		else
			str_addn(out, c, digits ? digits : 1);
		c += digits ? digits : 1;
	}
	out->failed |= clean.failed;
	str_free(&clean);
	if (out->failed || out->len <= n)
		return;
	out->len = n - 3;
	out->data[out->len] = '\0';
	str_add(out, "...");
}

static int answered(struct str *out, const struct finding *const *sorted, const struct run *r,
		    const struct report_style *style, struct err *e)
{
	enum { MOST = 256 };
	const size_t all = r->findings.count, width = screen_width(style);
	size_t asked = 0, known = 0, likely = 0, bounds = 0;
	for (size_t i = 0; i < all; i++) {
		asked += render_asked(sorted[i]);
		known += finding_answered(sorted[i]);
		likely += sorted[i]->verdict == VERDICT_LIKELY;
		bounds += sorted[i]->verdict == VERDICT_BOUND;
	}
	struct str text;
	str_init(&text);
	str_addf(&text, "answered: %zu of %zu", known, asked);
	if (bounds)
		str_addf(&text, ", %zu bound%s (>=)", bounds, bounds > 1 ? "s" : "");
	if (likely)
		str_addf(&text, ", %zu estimate%s (~)", likely, likely > 1 ? "s" : "");
	if (known < asked)
		str_addf(&text, "; %zu open (?)", asked - known);
	render_wrap(out, str_text(&text), TABLE_INDENT, (unsigned)width);
	out->failed |= text.failed;
	struct cause *causes = mem_zero(MOST, sizeof *causes);
	if (!causes) {
		str_free(&text);
		return err_nomem(e);
	}
	if (find_causes(causes, MOST, sorted, r)) {
		str_clear(&text);
		static const char skipped[] = "skipped: ";
		const char *why = causes[0].first->because;
		why += strncmp(why, skipped, sizeof skipped - 1) == 0 ? sizeof skipped - 1 : 0;
		str_addf(&text, "open most often (%zu): ", causes[0].count);
		cut(&text, why, width - TABLE_INDENT);
		render_wrap(out, str_text(&text), TABLE_INDENT, (unsigned)width);
		out->failed |= text.failed;
	}
	str_free(&text);
	mem_free(causes);
	return 0;
}

/* ---- the screen ---- */

static void listed(struct str *out, const struct finding *const *sorted, const struct run *r,
		   const struct report_style *style)
{
	struct table t;
	table_open(&t, style);
	table_column(&t, "finding", TABLE_LEFT);
	table_column(&t, "value", TABLE_RIGHT);
	table_column(&t, "interval", TABLE_LEFT);
	for (size_t i = 0; i < r->findings.count; i++) {
		if (!finding_answered(sorted[i]))
			continue;
		struct str s;
		str_init(&s);
		table_row(&t);
		table_cell(&t, sorted[i]->key, VERDICT_MEASURED);
		render_value(&s, sorted[i], true, style->unicode);
		table_cell(&t, str_text(&s), sorted[i]->verdict);
		t.failed |= s.failed;
		str_clear(&s);
		render_interval(&s, sorted[i], true, style->unicode);
		t.failed |= s.failed;
		table_cell(&t, str_text(&s), VERDICT_MEASURED);
		str_free(&s);
	}
	table_print(&t, out);
}

int report_summary(struct str *out, const struct run *r, const struct report_style *style, struct err *e)
{
	const struct finding **sorted = render_sorted(r);
	struct screen_line line;
	if (!sorted)
		return err_nomem(e);
	screen_begin(&line, out, style);
	name_line(out, r, style);
	rates(&line, r);
	memory_and_launch(&line, r);
	part_throttling(out, r, style);
	str_addc(out, '\n');
	if (r->findings.count <= FEW) {
		listed(out, sorted, r, style);
	} else {
		screen_memories(out, r, style);
		str_addc(out, '\n');
		latencies(&line, r);
		control(&line, r);
	}
	int code = answered(out, sorted, r, style, e);
	part_probes(out, r, style);
	screen_free(&line);
	mem_free(sorted);
	return code ? code : out->failed ? err_nomem(e) : 0;
}
