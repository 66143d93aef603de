#include "report/report_parts.h"
#include "base/units.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static unsigned width_of(const struct report_style *style)
{
	unsigned w = style->width ? style->width : 80;
	return w < 40 ? 40 : w > 160 ? 160 : w;
}

void part_title(struct str *out, const char *title, const struct report_style *style)
{
	str_addf(out, "\n%s", table_bold(style));
	render_wrap(out, title, 0, width_of(style));
	if (out->len)
		out->len--; /* the end of the line comes after its last attribute */
	str_addf(out, "%s\n", table_plain(style));
}

static void counts(struct str *out, const struct run *r)
{
	static const char *const words[] = {"measured",	    "likely",	   "bounded", "absent",
					    "inconclusive", "unsupported", "failed"};
	bool any = false;
	for (enum verdict v = VERDICT_MEASURED; v <= VERDICT_FAILED; v++) {
		size_t n = 0;
		for (size_t i = 0; i < r->findings.count; i++)
			n += r->findings.items[i].verdict == v;
		if (n)
			str_addf(out, "%s%zu %s", any ? ", " : "", n, words[v]);
		any |= n > 0;
	}
	if (!any)
		str_add(out, "none yet");
}

/* What the intervals of this run cover: numbers of one SM are not yet numbers of the card. */
static void scopes(struct str *out, const struct run *r)
{
	static const struct {
		const char *scope, *words;
	} known[] = {{"sm", "one SM"}, {"card", "the whole card"}, {"cards", "several cards"}};
	bool any = false;
	for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
		size_t n = 0;
		for (size_t i = 0; i < r->findings.count; i++) {
			const struct finding *f = &r->findings.items[i];
			n += finding_estimated(f) && f->value.kind == VALUE_NUMBER && isfinite(f->lo) &&
			     strcmp(f->scope, known[k].scope) == 0;
		}
		if (n)
			str_addf(out, "%s%zu %s", any ? ", " : "; intervals cover: ", n, known[k].words);
		any |= n > 0;
	}
}

static void foreign(struct str *out, const struct run *r, const struct report_style *style)
{
	char text[RUN_FOREIGN];
	struct str line;
	if (!*run_foreign(r, text))
		return;
	str_init(&line);
	render_clean(&line, text, !style->unicode);
	render_wrap(out, str_text(&line), 2, width_of(style));
	out->failed |= line.failed;
	str_free(&line);
}

void part_head(struct str *out, const struct run *r, const struct report_style *style)
{
	const struct device_info *d = &r->device;
	bool ascii = !style->unicode;
	struct str line;
	char text[64];
	str_init(&line);
	str_add(out, table_bold(style));
	render_clean(out, d->name, ascii);
	str_addf(out, "%s (", table_plain(style));
	render_clean(out, d->spec, ascii);
	str_add(out, ")\n");
	str_addf(&line, "%u SMs, warps of %u", d->sm_count, d->warp_size);
	if (d->clock_hz > 0)
		str_addf(&line, ", %s", units_value(text, sizeof(text), d->clock_hz, "Hz"));
	str_add(&line, ", ");
	render_clean(&line, d->target, ascii);
	str_add(&line, "; driver ");
	render_clean(&line, d->driver, ascii);
	str_add(&line, "; ");
	render_clean(&line, d->uuid, ascii);
	render_wrap(out, str_text(&line), 2, width_of(style));
	out->failed |= line.failed;
	str_clear(&line);
	str_add(&line, "measured ");
	render_clean(&line, r->started, ascii);
	str_add(&line, " by fathom ");
	render_clean(&line, r->fathom, ascii);
	str_add(&line, " in ");
	render_number(&line, r->seconds, 3);
	str_addf(&line, " s, seed %llu; findings: ", (unsigned long long)r->seed);
	counts(&line, r);
	scopes(&line, r);
	render_wrap(out, str_text(&line), 2, width_of(style));
	out->failed |= line.failed;
	str_free(&line);
	foreign(out, r, style);
	part_throttling(out, r, style);
}

void part_throttling(struct str *out, const struct run *r, const struct report_style *style)
{
	char words[THROTTLE_WORDS];
	struct str line;
	size_t held = 0;
	int64_t seen = 0;
	for (size_t i = 0; i < r->series_count; i++) {
		const struct condition *c[] = {&r->series[i].before, &r->series[i].after};
		int64_t one = 0;
		for (int k = 0; k < 2; k++)
			one |= c[k]->throttle > 0 ? c[k]->throttle : 0;
		held += *throttle_words(one, words) != 0;
		seen |= one;
	}
	if (!held)
		return;
	str_init(&line);
	str_addf(&line, "throttled: clocks were held back by %s in %zu of %zu experiments", throttle_words(seen, words),
		 held, r->series_count);
	render_wrap(out, str_text(&line), 2, width_of(style));
	out->failed |= line.failed;
	str_free(&line);
}

/* ---- tables with one line for several keys ---- */

static const char *const arithmetic_columns[] = {"latency",    "throughput", "block_rate",   "issue",
						 "native_ops", "unit",	     "warps_to_fill"};
static const char *const arithmetic_titles[] = {"latency", "ops/clk", "block", "issue", "native", "unit", "warps"};
static const char *const cache_columns[] = {"size", "line", "sector", "ways", "sets", "latency"};
static const char *const tlb_columns[] = {"reach", "line", "entries", "ways", "sets", "latency"};
static const char *const load_columns[] = {"bandwidth", "issue", "timed_hit", "timed_latency"};
#define COUNT(a) (sizeof(a) / sizeof *(a))

static bool is_column(const char *const *columns, size_t n, const char *word)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(columns[i], word) == 0)
			return true;
	return false;
}

/* Bytes of the key before its last dot when it has `dots` dots in all, else 0. */
static size_t stem(const char *key, unsigned dots)
{
	unsigned n = 0;
	for (const char *c = key; *c; c++)
		n += *c == '.';
	return n == dots ? (size_t)(strrchr(key, '.') - key) : 0;
}

bool part_tabulated(const char *key)
{
	size_t n = stem(key, 3);
	if (n == 0)
		return false;
	const char *last = key + n + 1;
	return str_starts(key, "pipeline.") ||
	       (str_starts(key, "memory.") && is_column(load_columns, COUNT(load_columns), last)) ||
	       (str_starts(key, "arith.") && is_column(arithmetic_columns, COUNT(arithmetic_columns), last)) ||
	       (str_starts(key, "cache.") && is_column(cache_columns, COUNT(cache_columns), last)) ||
	       (str_starts(key, "tlb.") && is_column(tlb_columns, COUNT(tlb_columns), last));
}

static const struct finding *get(const struct run *r, const char *key, size_t n, const char *column)
{
	char full[sizeof(((struct finding *)0)->key) + 32];
	snprintf(full, sizeof(full), "%.*s.%s", (int)n, key, column);
	return findings_get(&r->findings, full);
}

/* One finding as a cell: "24", "?", "none", "n/a", "-" when nobody asked. */
static void cell_text(struct str *s, const struct finding *f, bool interval, const struct report_style *style)
{
	if (!f)
		str_add(s, "-");
	else if (f->verdict == VERDICT_UNSUPPORTED)
		str_add(s, "n/a");
	else
		render_value(s, f, false, style->unicode);
	if (f && interval) {
		struct str more;
		str_init(&more);
		render_interval(&more, f, false, style->unicode);
		if (more.len)
			str_addf(s, " %s", str_text(&more));
		s->failed |= more.failed;
		str_free(&more);
	}
}

static void cell(struct table *t, const struct finding *f, bool interval)
{
	struct str s;
	str_init(&s);
	cell_text(&s, f, interval, t->style);
	t->failed |= s.failed;
	table_cell(t, str_text(&s), f ? f->verdict : VERDICT_UNSUPPORTED);
	str_free(&s);
}

/* Which columns anybody asked for; false: no line at all. */
static bool used_columns(const struct run *r, const char *family, const char *const *columns, size_t n, bool *used)
{
	bool any = false;
	memset(used, 0, n * sizeof(*used));
	for (size_t i = 0; i < r->findings.count; i++) {
		const struct finding *f = &r->findings.items[i];
		size_t len = strlen(family);
		if (strncmp(f->key, family, len) != 0 || f->key[len] != '.' || stem(f->key, 3) == 0)
			continue;
		for (size_t k = 0; k < n; k++)
			if (strcmp(strrchr(f->key, '.') + 1, columns[k]) == 0 && f->verdict != VERDICT_UNSUPPORTED)
				any = used[k] = true;
	}
	return any;
}

/* The next finding from i on that is the first of its line in a column; the count when there is none. The findings are sorted,
 * so those of one line stand together, but some of them may be in no column. */
static size_t next_line(const struct finding *const *sorted, const struct run *r, const char *family, size_t i,
			size_t *len)
{
	size_t family_len = strlen(family);
	for (; i < r->findings.count; i++) {
		const char *key = sorted[i]->key;
		size_t n = stem(key, 3);
		bool first = true;
		if (!part_tabulated(key) || strncmp(key, family, family_len) != 0 || key[family_len] != '.')
			continue;
		for (size_t k = i; first && k-- > 0 && strncmp(sorted[k]->key, key, n + 1) == 0;)
			first = !part_tabulated(sorted[k]->key);
		if (!first)
			continue;
		*len = n;
		return i;
	}
	return i;
}

void part_arithmetic(struct str *out, const struct finding *const *sorted, const struct run *r,
		     const struct report_style *style)
{
	bool used[COUNT(arithmetic_columns)];
	if (!used_columns(r, "arith", arithmetic_columns, COUNT(arithmetic_columns), used))
		return;
	struct table t;
	size_t n;
	table_open(&t, style);
	table_column(&t, "operation", TABLE_LEFT);
	table_column(&t, "type", TABLE_LEFT);
	for (size_t k = 0; k < COUNT(arithmetic_columns); k++)
		if (used[k])
			table_column(&t, arithmetic_titles[k], TABLE_RIGHT);
	for (size_t i = 0; (i = next_line(sorted, r, "arith", i, &n)) < r->findings.count; i++) {
		const char *op = sorted[i]->key + strlen("arith.");
		size_t op_len = strcspn(op, ".");
		bool supported = false;
		for (size_t k = 0; k < COUNT(arithmetic_columns); k++) {
			const struct finding *f = get(r, sorted[i]->key, n, arithmetic_columns[k]);
			supported |= f && f->verdict != VERDICT_UNSUPPORTED;
		}
		if (!supported)
			continue;
		char word[96];
		table_row(&t);
		snprintf(word, sizeof(word), "%.*s", (int)op_len, op);
		table_cell(&t, word, VERDICT_MEASURED);
		snprintf(word, sizeof(word), "%.*s", (int)(n - strlen("arith.") - op_len - 1), op + op_len + 1);
		table_cell(&t, word, VERDICT_MEASURED);
		for (size_t k = 0; k < COUNT(arithmetic_columns); k++)
			if (used[k])
				cell(&t, get(r, sorted[i]->key, n, arithmetic_columns[k]), k == 0);
	}
	part_title(out, "Arithmetic (latency and issue in cycles, rates of one SM)", style);
	table_print(&t, out);
}

/* "64 bytes"; "128 / 32 bytes" where a miss fills less than the line. */
static void line_cell(struct table *t, const struct run *r, const char *key, size_t n)
{
	const struct finding *line = get(r, key, n, "line"), *sector = get(r, key, n, "sector");
	struct str s;
	str_init(&s);
	bool numbers = line && sector && finding_estimated(line) && finding_estimated(sector) &&
		       line->value.kind == VALUE_NUMBER && sector->value.kind == VALUE_NUMBER;
	bool told =
	    numbers ? line->value.number != sector->value.number
		    : sector && sector->verdict != VERDICT_UNSUPPORTED && (!line || line->verdict != sector->verdict);
	if (numbers && told)
		render_number(&s, line->value.number, 15);
	else
		cell_text(&s, line, false, t->style);
	if (told) {
		str_add(&s, " / ");
		cell_text(&s, sector, false, t->style);
	}
	t->failed |= s.failed;
	table_cell(t, str_text(&s), !line ? VERDICT_UNSUPPORTED : line->verdict);
	str_free(&s);
}

/* "4 x 8", "- x 8" */
static void geometry_cell(struct table *t, const struct run *r, const char *key, size_t n)
{
	const struct finding *ways = get(r, key, n, "ways"), *sets = get(r, key, n, "sets");
	struct str s;
	str_init(&s);
	if (ways || sets) {
		cell_text(&s, ways, false, t->style);
		str_add(&s, t->style->unicode ? " × " : " x ");
		cell_text(&s, sets, false, t->style);
	} else {
		str_add(&s, "-");
	}
	enum verdict v = !ways && !sets				     ? VERDICT_UNSUPPORTED
			 : ways && ways->verdict != VERDICT_MEASURED ? ways->verdict
			 : sets					     ? sets->verdict
								     : VERDICT_MEASURED;
	t->failed |= s.failed;
	if (ways && sets && ways->verdict == VERDICT_ABSENT && sets->verdict == VERDICT_ABSENT)
		table_cell(t, "none", VERDICT_ABSENT);
	else
		table_cell(t, str_text(&s), v);
	str_free(&s);
}

/* The whole line in a word: a level that is not there, one that is known, one with open columns. */
static void verdict_cell(struct table *t, const struct run *r, const char *key, size_t n, const char *const *columns,
			 size_t count)
{
	bool measured = true, absent = false;
	for (size_t k = 0; k < count; k++) {
		const struct finding *f = get(r, key, n, columns[k]);
		if (f && f->verdict != VERDICT_MEASURED)
			measured = false;
		absent |= k == 0 && f && f->verdict == VERDICT_ABSENT;
	}
	table_cell(t,
		   absent     ? "shown absent"
		   : measured ? "measured"
			      : "partly",
		   absent ? VERDICT_ABSENT : VERDICT_MEASURED);
}

/* Who shares the level, and with which other paths: "cluster, instruction". */
static void scope_cell(struct table *t, const struct run *r, const char *key, size_t n)
{
	const struct finding *scope = get(r, key, n, "scope"), *with = get(r, key, n, "shared_with");
	bool shared =
	    with && finding_estimated(with) && with->value.kind == VALUE_TEXT && strcmp(with->value.text, "none") != 0;
	struct str s;
	str_init(&s);
	cell_text(&s, scope, false, t->style);
	if (shared) {
		str_add(&s, ", ");
		cell_text(&s, with, false, t->style);
	}
	t->failed |= s.failed;
	table_cell(t, str_text(&s), scope ? scope->verdict : VERDICT_UNSUPPORTED);
	str_free(&s);
}

void part_levels(struct str *out, const struct finding *const *sorted, const struct run *r, const char *family,
		 bool brief, const struct report_style *style)
{
	bool tlb = strcmp(family, "tlb") == 0;
	const char *const *columns = tlb ? tlb_columns : cache_columns;
	size_t count = tlb ? COUNT(tlb_columns) : COUNT(cache_columns), n;
	static const char *const sharing[] = {"scope"};
	bool used[COUNT(cache_columns)], shared;
	if (!used_columns(r, family, columns, count, used))
		return;
	brief = used_columns(r, family, sharing, 1, &shared) && brief;
	struct table t;
	table_open(&t, style);
	table_column(&t, tlb ? "TLB" : "cache", TABLE_LEFT);
	for (size_t k = 0; k < count; k++) {
		bool ways = strcmp(columns[k], "ways") == 0;
		bool second = strcmp(columns[k], "sets") == 0 || strcmp(columns[k], "sector") == 0;
		const char *title = columns[k];
		if (ways)
			title = style->unicode ? "ways × sets" : "ways x sets";
		if (strcmp(columns[k], "line") == 0 && !tlb && used[k + 1])
			title = "line / sector";
		if (ways ? used[k] || used[k + 1] : used[k] && !second)
			table_column(&t, title, TABLE_RIGHT);
	}
	if (brief)
		table_column(&t, "shared by", TABLE_LEFT);
	else
		table_column(&t, "verdict", TABLE_LEFT);
	for (size_t i = 0; (i = next_line(sorted, r, family, i, &n)) < r->findings.count; i++) {
		const char *key = sorted[i]->key, *path = key + strlen(family) + 1;
		size_t path_len = strcspn(path, ".");
		char word[96];
		snprintf(word, sizeof(word), "%.*s", (int)(n - strlen(family) - 1), path);
		for (char *c = word + path_len; *c; c++)
			*c = (char)(*c == '.' ? ' ' : *c >= 'a' && *c <= 'z' ? *c - 'a' + 'A' : *c);
		table_row(&t);
		table_cell(&t, word, VERDICT_MEASURED);
		for (size_t k = 0; k < count; k++) {
			if (strcmp(columns[k], "ways") == 0) {
				if (used[k] || used[k + 1])
					geometry_cell(&t, r, key, n);
			} else if (used[k] && !tlb && strcmp(columns[k], "line") == 0) {
				line_cell(&t, r, key, n);
			} else if (used[k] && strcmp(columns[k], "sets") != 0 && strcmp(columns[k], "sector") != 0) {
				cell(&t, get(r, key, n, columns[k]), strcmp(columns[k], "latency") == 0 && !brief);
			}
		}
		if (brief)
			scope_cell(&t, r, key, n);
		else
			verdict_cell(&t, r, key, n, columns, count);
	}
	part_title(out, tlb ? "Translation (latency in cycles)" : "Caches (latency in cycles)", style);
	table_print(&t, out);
}

/* ---- what is open ---- */

static bool same_reason(const struct finding *a, const struct finding *b)
{
	return a->verdict == b->verdict && strcmp(a->because, b->because) == 0;
}

/* How many findings the entry of finding i tells; 0 when an earlier entry told it. What a device cannot do is one entry
 * for all keys. What is undecided is drawn together only if the keys are neighbours. Bounds have values of their
 * own. */
static size_t entry_size(const struct finding *const *list, size_t i, size_t count)
{
	size_t n = 1;
	if (list[i]->verdict == VERDICT_BOUND || list[i]->verdict == VERDICT_LIKELY)
		return n;
	bool anywhere = list[i]->verdict == VERDICT_UNSUPPORTED;
	if (i && same_reason(list[i - 1], list[i]))
		return 0;
	for (size_t k = 0; anywhere && k < i; k++)
		if (same_reason(list[k], list[i]))
			return 0;
	for (size_t k = i + 1; k < count && (anywhere || same_reason(list[k], list[i])); k++)
		n += same_reason(list[k], list[i]);
	return n;
}

void part_open(struct str *out, const struct finding *const *sorted, const struct run *r,
	       const struct report_style *style, size_t most)
{
	static const enum verdict order[] = {VERDICT_FAILED, VERDICT_INCONCLUSIVE, VERDICT_BOUND, VERDICT_LIKELY,
					     VERDICT_UNSUPPORTED};
	struct table t;
	size_t hidden = 0, shown = 0;
	table_open(&t, style);
	table_column(&t, "finding", TABLE_LEFT);
	table_column(&t, "verdict", TABLE_LEFT);
	table_column(&t, "because", TABLE_WRAP);
	for (size_t k = 0; k < COUNT(order); k++)
		for (size_t i = 0; i < r->findings.count; i++) {
			const struct finding *f = sorted[i];
			size_t n = f->verdict == order[k] ? entry_size(sorted, i, r->findings.count) : 0;
			if (n == 0)
				continue;
			if (most && shown == most) {
				hidden += n;
				continue;
			}
			char key[160];
			if (n > 1)
				snprintf(key, sizeof(key), "%s and %zu more", f->key, n - 1);
			else
				snprintf(key, sizeof(key), "%s", f->key);
			shown++;
			table_row(&t);
			table_cell(&t, key, VERDICT_MEASURED);
			struct str verdict;
			str_init(&verdict);
			str_add(&verdict, verdict_name(f->verdict));
			if (f->verdict == VERDICT_BOUND || f->verdict == VERDICT_LIKELY) {
				str_addc(&verdict, ' ');
				render_value(&verdict, f, false, style->unicode);
			}
			t.failed |= verdict.failed;
			table_cell(&t, str_text(&verdict), f->verdict);
			str_free(&verdict);
			table_cell(&t, f->because, VERDICT_MEASURED);
		}
	if (shown)
		part_title(out, "Not decided", style);
	table_print(&t, out);
	if (hidden)
		str_addf(out, "  ... and %zu more\n", hidden);
}

void part_probes(struct str *out, const struct run *r, const struct report_style *style)
{
	struct table t;
	bool any = false;
	table_open(&t, style);
	table_column(&t, "probe", TABLE_LEFT);
	table_column(&t, "state", TABLE_LEFT);
	table_column(&t, "because", TABLE_WRAP);
	for (size_t i = 0; i < r->probe_count; i++) {
		const struct probe_record *p = &r->probes[i];
		size_t same = 0, before = 0;
		for (size_t k = 0; k < r->probe_count; k++) {
			const bool one =
			    r->probes[k].state == p->state && strcmp(r->probes[k].message, p->message) == 0;
			same += one;
			before += one && k < i;
		}
		if (p->state == PROBE_DONE || before)
			continue;
		char name[80];
		snprintf(name, sizeof name, same > 1 ? "%s and %zu more" : "%s", p->name, same - 1);
		any = true;
		table_row(&t);
		table_cell(&t, name, VERDICT_MEASURED);
		table_cell(&t, probe_state_name(p->state), VERDICT_FAILED);
		table_cell(&t, p->message, VERDICT_MEASURED);
	}
	if (any)
		part_title(out, "Probes that did not end", style);
	table_print(&t, out);
}
