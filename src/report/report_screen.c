#include "report/report_screen.h"
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define COUNT_OF(a) (sizeof(a) / sizeof *(a))
#define WIDE	    1.05 /* of an interval whose ends are both told */
#define GAP	    3	 /* columns between two parts of a line */

void screen_number(struct str *out, double v)
{
	if (fabs(v) >= 100)
		str_addf(out, "%.0f", v);
	else
		str_addf(out, "%.3g", v);
}

void screen_si(struct str *out, double v, const char *unit)
{
	static const char *const prefix[] = {"n", "u", "m", "", "k", "M", "G", "T", "P"};
	size_t i = 3;
	for (; fabs(v) >= 999.5 && i + 1 < COUNT_OF(prefix); i++)
		v /= 1000;
	for (; v != 0 && fabs(v) < 0.9995 && i > 0; i--)
		v *= 1000;
	screen_number(out, v);
	str_addf(out, " %s%s", prefix[i], unit);
}

void screen_bytes(struct str *out, double bytes)
{
	static const char *const names[] = {"B", "KB", "MB", "GB", "TB"};
	size_t i = 0;
	for (; bytes >= 1024 && i + 1 < COUNT_OF(names); i++)
		bytes /= 1024;
	screen_number(out, bytes);
	str_addf(out, " %s", names[i]);
}

unsigned screen_width(const struct report_style *style)
{
	const unsigned w = style->width ? style->width : 80;
	return w < 40 ? 40 : w > 160 ? 160 : w;
}

void screen_begin(struct screen_line *l, struct str *out, const struct report_style *style)
{
	*l = (struct screen_line){.out = out, .style = style};
	str_init(&l->part);
}

void screen_part(struct screen_line *l)
{
	const size_t w = render_width(str_text(&l->part)), width = screen_width(l->style);
	if (w && l->at && l->at + GAP + w <= width) {
		str_addf(l->out, "%*s%s", GAP, "", str_text(&l->part));
		l->at += GAP + w;
	} else if (w && w + TABLE_INDENT <= width) {
		str_addf(l->out, "%s%*s%s", l->at ? "\n" : "", TABLE_INDENT, "", str_text(&l->part));
		l->at = TABLE_INDENT + w;
	} else if (w) {
		str_add(l->out, l->at ? "\n" : "");
		render_wrap(l->out, str_text(&l->part), TABLE_INDENT, (unsigned)width);
		l->at = 0; /* the line was ended */
	}
	l->out->failed |= l->part.failed;
	str_clear(&l->part);
}

void screen_end(struct screen_line *l)
{
	screen_part(l);
	if (l->at)
		str_addc(l->out, '\n');
	l->at = 0;
}

void screen_free(struct screen_line *l)
{
	str_free(&l->part);
}

/* ---- memories ---- */

enum column { NAME, SIZE, PER, CYCLES, RATE, LINE, WAYS, COLUMNS };

/* One line of the table: what stands in each column, and the least certain verdict of each. */
struct row {
	struct str cell[COLUMNS];
	enum verdict verdict[COLUMNS];
	bool any;    /* some cell says something */
	bool joined; /* several levels share a cell, which has no room for both ends of an interval */
};

static void row_begin(struct row *w, const char *name)
{
	*w = (struct row){.any = false};
	for (size_t i = 0; i < COLUMNS; i++)
		str_init(&w->cell[i]);
	str_add(&w->cell[NAME], name);
}

static void row_end(struct row *w, struct table *t)
{
	if (w->any)
		table_row(t);
	for (size_t i = 0; i < COLUMNS; i++) {
		t->failed |= w->cell[i].failed;
		if (w->any)
			table_cell(t, w->cell[i].len ? str_text(&w->cell[i]) : "-",
				   w->cell[i].len ? w->verdict[i] : VERDICT_UNSUPPORTED);
		str_free(&w->cell[i]);
	}
}

static void amount(struct str *out, double v, bool bytes)
{
	if (bytes)
		screen_bytes(out, v);
	else
		screen_number(out, v);
}

/* The finding's number times `scale`: "23", "~23", ">= 23", "none", "?"; of a wide interval of bytes its ends, if they are wanted. */
static void value_of(struct str *out, const struct finding *f, double scale, bool bytes, bool ends)
{
	if (f->verdict == VERDICT_ABSENT) {
		str_add(out, "none");
	} else if (f->verdict == VERDICT_BOUND) {
		str_add(out, isfinite(f->lo) ? ">=" : "<=");
		amount(out, (isfinite(f->lo) ? f->lo : f->hi) * scale, bytes);
	} else if (finding_estimated(f) && f->value.kind == VALUE_NUMBER) {
		str_add(out, f->verdict == VERDICT_LIKELY ? "~" : "");
		if (bytes && ends && f->lo * WIDE < f->hi) { /* an end alone would pass for the size */
			screen_number(out, f->lo * scale / (f->hi * scale >= 1 << 20 ? 1 << 20 : 1 << 10));
			str_addc(out, '-');
			screen_bytes(out, f->hi * scale);
		} else {
			amount(out, f->value.number * scale, bytes);
		}
	} else {
		str_addc(out, '?');
	}
}

static const struct finding *get(const struct run *r, const char *stem, const char *what)
{
	char key[96];
	snprintf(key, sizeof key, "%s.%s", stem, what);
	return findings_get(&r->findings, key);
}

static void cut_to(struct str *s, size_t n)
{
	if (n < s->len)
		s->data[s->len = n] = '\0';
}

/* Takes "KB" from what stands before the last slash, if the last value has it too. */
static void share_unit(struct str *cell, size_t slash)
{
	const char *all = str_text(cell), *last = strrchr(all, ' ');
	const size_t n = last ? strlen(last) : 0;
	if (!n || slash < n || all + slash > last || memcmp(all + slash - n, last, n) != 0)
		return;
	memmove(cell->data + slash - n, cell->data + slash, cell->len - slash + 1);
	cell->len -= n;
}

/* Adds to the column what a finding says; several levels of one line stand with slashes between. */
static void fill(struct row *w, enum column c, const struct finding *f, double scale, bool bytes)
{
	const size_t slash = w->cell[c].len;
	const bool asked = f && f->verdict != VERDICT_UNSUPPORTED;
	if (!asked && !w->joined)
		return;
	if (slash)
		str_addc(&w->cell[c], '/');
	if (asked)
		value_of(&w->cell[c], f, scale, bytes, !w->joined);
	else
		str_addc(&w->cell[c], '-'); /* each level has its place */
	if (slash && bytes && !w->cell[c].failed)
		share_unit(&w->cell[c], slash);
	if (!asked)
		return;
	w->any |= finding_answered(f);
	w->verdict[c] = f->verdict > w->verdict[c] ? f->verdict : w->verdict[c];
}

/* Of "GPU/GPU" or "?/?" the first is enough: the last word holds for the levels behind it. A cell of "-" alone says nothing. */
static void trim(struct str *cell, bool words)
{
	for (const char *slash; !cell->failed && (slash = strrchr(str_text(cell), '/'));) {
		const size_t at = (size_t)(slash - str_text(cell)), n = cell->len - at - 1;
		const bool first = at == n || (at > n && slash[-(ptrdiff_t)n - 1] == '/'),
			   again = first && memcmp(slash + 1, slash - n, n) == 0;
		if (strcmp(slash, "/-") != 0 && !(again && (words || strcmp(slash, "/?") == 0)))
			break;
		cut_to(cell, at);
	}
	if (strcmp(str_text(cell), "-") == 0)
		cut_to(cell, 0);
}

static void per(struct row *w, const struct finding *scope)
{
	static const struct {
		const char *scope, *shown;
	} names[] = {{"partition", "SMSP"}, {"sm", "SM"}, {"cluster", "group"}, {"gpu", "GPU"}};
	if (!scope || scope->verdict == VERDICT_UNSUPPORTED)
		return;
	const bool known = finding_estimated(scope) && scope->value.kind == VALUE_TEXT;
	const char *text = known ? scope->value.text : "?";
	for (size_t i = 0; known && i < COUNT_OF(names); i++)
		text = strcmp(text, names[i].scope) == 0 ? names[i].shown : text;
	str_addf(&w->cell[PER], "%s%s%s", w->cell[PER].len ? "/" : "", scope->verdict == VERDICT_LIKELY ? "~" : "",
		 text);
	w->verdict[PER] = scope->verdict > w->verdict[PER] ? scope->verdict : w->verdict[PER];
}

/* "128/32": the line, and what a miss fills of it where that is less. */
static void lines(struct row *w, const struct finding *line, const struct finding *sector)
{
	fill(w, LINE, line, 1, false);
	if (sector && finding_estimated(sector) &&
	    (!line || !finding_estimated(line) || line->value.number != sector->value.number)) {
		str_addc(&w->cell[LINE], '/');
		value_of(&w->cell[LINE], sector, 1, false, false);
		w->any = true;
	}
}

/* "4x8": ways and sets. */
static void geometry(struct row *w, const struct finding *ways, const struct finding *sets)
{
	if (ways)
		fill(w, WAYS, ways, 1, false);
	else
		str_addc(&w->cell[WAYS], '?'); /* a cache has some */
	if (!ways || !sets || !finding_answered(ways) || !finding_answered(sets) || ways->verdict == VERDICT_ABSENT)
		return;
	str_add(&w->cell[WAYS], "x");
	value_of(&w->cell[WAYS], sets, 1, false, false);
}

static const char *const levels[] = {"l1", "l15", "l2", "l3", "l4"};
static const char *const level_names[] = {"L1", "L1.5", "L2", "L3", "L4"};

/* A level of a path that says anything at all, or whose size was looked for and is open. */
static bool level(const struct run *r, char *stem, size_t n, const char *family, const char *path, const char *name)
{
	static const char *const what[] = {"size", "reach", "latency", "line"};
	bool any = false;
	snprintf(stem, n, "%s.%s.%s", family, path, name);
	for (size_t i = 0; i < COUNT_OF(what); i++) {
		const struct finding *f = get(r, stem, what[i]);
		any |= f && (finding_answered(f) || (i < 2 && f->verdict == VERDICT_INCONCLUSIVE));
	}
	return any;
}

static void global_levels(struct table *t, const struct run *r)
{
	for (size_t i = 0; i < COUNT_OF(levels); i++) {
		char stem[64];
		struct row w;
		if (!level(r, stem, sizeof stem, "cache", "global", levels[i]))
			continue;
		row_begin(&w, level_names[i]);
		const struct finding *size = get(r, stem, "size"), *all = get(r, stem, "bandwidth_total"),
				     *scope = get(r, stem, "scope"), *one = get(r, stem, "bandwidth");
		fill(&w, SIZE, size, 1, true);
		if (!size || size->verdict != VERDICT_ABSENT) {
			if (!scope && all) /* only what all SMs share has a bandwidth of all */
				str_add(&w.cell[PER], "GPU");
			else if (!scope && one)
				str_add(&w.cell[PER], "SM");
			per(&w, scope);
			fill(&w, CYCLES, get(r, stem, "latency"), 1, false);
			fill(&w, RATE, all ? all : one, 1, false);
			lines(&w, get(r, stem, "line"), get(r, stem, "sector"));
			geometry(&w, get(r, stem, "ways"), get(r, stem, "sets"));
		}
		row_end(&w, t);
	}
}

/* "L2" in place of a size when the path's level is found to be that cache; else its size. */
static void size_or_name(struct row *w, const struct run *r, const char *stem, const struct finding *size)
{
	const struct finding *same = get(r, stem, "shared_with");
	char global[24];
	for (size_t i = 0; same && finding_estimated(same) && same->value.kind == VALUE_TEXT && i < COUNT_OF(levels);
	     i++) {
		snprintf(global, sizeof global, "global.%s", levels[i]);
		if (strcmp(same->value.text, global) != 0)
			continue;
		str_addf(&w->cell[SIZE], "%s%s%s", w->cell[SIZE].len ? "/" : "",
			 same->verdict == VERDICT_LIKELY ? "~" : "", level_names[i]);
		w->any = true;
		return;
	}
	fill(w, SIZE, size, 1, true);
}

/* All levels of a path on one line. */
static void joined(struct table *t, const struct run *r, const char *family, const char *path, const char *name)
{
	const bool tlb = strcmp(family, "tlb") == 0;
	struct row w;
	row_begin(&w, name);
	w.joined = true;
	for (size_t i = 0; i < COUNT_OF(levels); i++) {
		char stem[64];
		if (!level(r, stem, sizeof stem, family, path, levels[i]))
			continue;
		const struct finding *size = get(r, stem, tlb ? "reach" : "size"), *entries = get(r, stem, "entries");
		const bool none = size && size->verdict == VERDICT_ABSENT;
		if (none && i > 0)
			continue;
		size_or_name(&w, r, stem, size);
		if (none)
			continue;
		per(&w, get(r, stem, "scope"));
		fill(&w, CYCLES, get(r, stem, "latency"), 1, false);
		if (i > 0)
			continue;
		fill(&w, LINE, get(r, stem, "line"), 1, tlb);
		if (!tlb)
			geometry(&w, get(r, stem, "ways"), get(r, stem, "sets"));
		else if (entries && finding_answered(entries)) {
			fill(&w, WAYS, entries, 1, false);
			str_add(&w.cell[WAYS], " entries");
		}
	}
	trim(&w.cell[SIZE], false);
	trim(&w.cell[PER], true);
	trim(&w.cell[CYCLES], false);
	row_end(&w, t);
}

static void on_chip(struct table *t, const struct run *r)
{
	const struct finding *banks = findings_get(&r->findings, "shared.banks");
	struct row w;
	row_begin(&w, "registers");
	fill(&w, SIZE, findings_get(&r->findings, "regfile.registers_per_sm"), 4, true);
	str_add(&w.cell[PER], "SM");
	row_end(&w, t);
	row_begin(&w, "shared");
	fill(&w, SIZE, get(r, "shared", "size"), 1, true);
	str_add(&w.cell[PER], "SM");
	fill(&w, CYCLES, get(r, "shared", "latency"), 1, false);
	fill(&w, RATE, get(r, "shared", "bandwidth"), 1, false);
	if (banks && finding_estimated(banks)) {
		fill(&w, WAYS, banks, 1, false);
		str_add(&w.cell[WAYS], " banks");
	}
	row_end(&w, t);
}

static void memory(struct table *t, const struct run *r)
{
	const struct finding *clocked = get(r, "memory.global", "latency"),
			     *timed = get(r, "memory.global", "4.timed_latency"),
			     *fetch = get(r, "memory.global", "fetch");
	struct row w;
	row_begin(&w, "memory");
	str_add(&w.cell[PER], "GPU");
	/* By a clock in the kernel, or, where that gave an end only, by run times. */
	fill(&w, CYCLES, clocked && finding_estimated(clocked) ? clocked : timed ? timed : clocked, 1, false);
	fill(&w, RATE, get(r, "memory.global", "bandwidth"), 1, false);
	if (fetch && finding_answered(fetch))
		fill(&w, LINE, fetch, 1, false);
	row_end(&w, t);
}

void screen_memories(struct str *out, const struct run *r, const struct report_style *style)
{
	static const char *const titles[] = {"", "size", "per", "cycles", "B/clk", "line", "ways"};
	struct table t;
	table_open(&t, style);
	for (size_t i = 0; i < COLUMNS; i++)
		table_column(&t, titles[i], TABLE_LEFT);
	on_chip(&t, r);
	global_levels(&t, r);
	memory(&t, r);
	joined(&t, r, "cache", "constant", "constant");
	joined(&t, r, "cache", "texture", "texture");
	joined(&t, r, "cache", "instruction", "code");
	joined(&t, r, "tlb", "global", "TLB");
	table_print(&t, out);
}
