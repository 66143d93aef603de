/* A paper's values beside ours, for people. */
#include "data/paper_formula.h"
#include "report/render.h"
#include "report/report_parts.h"
#include <string.h>

#define INDENT 4
#define GAP    2

/* Columns that the widest key, published and measured value of all parts take. */
struct widths {
	size_t key, published, measured;
};

static void published(struct str *s, const struct paper_row *row)
{
	render_clean(s, row->printed, true);
	if (!row->is_word && strcmp(row->printed_unit, "count") != 0) {
		str_addc(s, ' ');
		render_clean(s, row->printed_unit, true);
	}
}

static void measured(struct str *s, const struct finding *f, const struct report_style *style)
{
	if (f)
		render_value(s, f, false, style->unicode);
	else
		str_addc(s, '-');
}

static bool is_formula(const struct paper_row *row)
{
	return strchr(row->key, ' ');
}

static bool is_key(const struct paper_row *row)
{
	return strcmp(row->key, PAPER_NO_KEY) != 0 && strcmp(row->key, PAPER_SETTING) != 0 && !is_formula(row);
}

/* What the row is about: our key. A formula, or the note that says why there is no key, stands below. */
static void subject(struct str *s, const struct paper_row *row)
{
	if (is_key(row))
		render_clean(s, row->key, true);
	else if (!*row->note && !is_formula(row))
		str_addc(s, '-');
}

static void widest(size_t *to, struct str *s, struct str *out)
{
	size_t w = render_width(str_text(s));
	*to = w > *to ? w : *to;
	out->failed |= s->failed;
	str_clear(s);
}

/* Columns that are too wide together give room away: values first, few of which are long, then keys. */
static void fit(struct widths *w, const struct report_style *style)
{
	const size_t page = style->width ? style->width : 80, taken = INDENT + 3 * GAP + strlen("not asked");
	const size_t values = 15, keys = 10;
	while (taken + w->key + w->published + w->measured > page) {
		size_t *most = w->published > w->measured ? &w->published : &w->measured;
		if (*most <= values)
			most = &w->key;
		if (*most <= keys)
			return;
		--*most;
	}
}

static struct widths measure(struct str *out, const struct paper_comparison *parts, size_t n,
			     const struct report_style *style)
{
	struct widths w = {.key = 20, .published = 9, .measured = 8};
	struct str s;
	str_init(&s);
	for (size_t k = 0; k < n; k++)
		for (size_t i = 0; i < parts[k].part->count; i++) {
			subject(&s, parts[k].checks[i].row);
			widest(&w.key, &s, out);
			published(&s, parts[k].checks[i].row);
			widest(&w.published, &s, out);
			measured(&s, parts[k].checks[i].finding, style);
			widest(&w.measured, &s, out);
		}
	str_free(&s);
	fit(&w, style);
	return w;
}

/* Writes the text of s into a column that begins at `at`, and empties s. Returns where the next column begins, on a new
 * line after a text that is too wide. */
static size_t column(struct str *out, struct str *s, size_t at, size_t width)
{
	const size_t is = render_width(str_text(s)), next = at + width + GAP;
	str_add(out, str_text(s));
	if (is > width)
		str_addf(out, "\n%*s", (int)next, "");
	else
		str_addf(out, "%*s", (int)(width - is + GAP), "");
	out->failed |= s->failed;
	str_clear(s);
	return next;
}

static const char *colour(enum paper_result r, const struct report_style *style)
{
	static const char *const colours[] = {"", "\033[33m", "\033[31m", "\033[2m", "\033[2m"};
	return style->colour ? colours[r] : "";
}

static void sentence(struct str *out, const char *label, const char *text, const struct report_style *style)
{
	struct str s;
	unsigned width = style->width ? style->width : 80;
	if (!*text)
		return;
	str_init(&s);
	str_add(&s, label);
	render_clean(&s, text, !style->unicode);
	out->failed |= s.failed;
	render_wrap(out, str_text(&s), INDENT + GAP, width < 40 ? 40 : width);
	str_free(&s);
}

static void line(struct str *out, const struct paper_check *c, const struct widths *w, const struct report_style *style)
{
	const struct finding *f = c->finding;
	struct str s;
	str_init(&s);
	subject(&s, c->row);
	str_addf(out, "%*s", INDENT, "");
	size_t at = column(out, &s, INDENT, w->key);
	published(&s, c->row);
	at = column(out, &s, at, w->published);
	measured(&s, f, style);
	column(out, &s, at, w->measured);
	str_free(&s);
	str_addf(out, "%s%s%s", colour(c->result, style), paper_result_name(c->result),
		 *colour(c->result, style) ? table_plain(style) : "");
	if (f && f->verdict != VERDICT_MEASURED && c->result != PAPER_IS_SETTING &&
	    strcmp(c->row->key, PAPER_NO_KEY) != 0)
		str_addf(out, " (%s)", verdict_name(f->verdict));
	str_addc(out, '\n');
	if (is_formula(c->row))
		sentence(out, "", c->row->key, style);
	if (!is_key(c->row))
		sentence(out, "", c->row->note, style);
	if (*c->row->tolerance && c->result != PAPER_NOT_ASKED) {
		str_init(&s);
		str_addf(&s, "+- %s: ", c->row->tolerance);
		sentence(out, str_text(&s), c->row->reason, style);
		out->failed |= s.failed;
		str_free(&s);
	}
	if (c->result == PAPER_EXPLAINED)
		sentence(out, "gpus/DEVIATIONS.md: ", c->row->deviation, style);
	if (c->result == PAPER_DIFFERS && f && f->verdict != VERDICT_MEASURED)
		sentence(out, "because ", f->because, style);
}

static void part(struct str *out, const struct paper_comparison *c, const struct widths *w,
		 const struct report_style *style)
{
	const struct paper_row *last = NULL;
	for (size_t i = 0; i < c->part->count; i++) {
		const struct paper_row *row = c->checks[i].row;
		bool same = last && strcmp(last->where, row->where) == 0;
		if (!same) {
			struct str s;
			str_init(&s);
			render_clean(&s, row->where, !style->unicode);
			out->failed |= s.failed;
			part_title(out, str_text(&s), style);
			str_free(&s);
		}
		if (!same || strcmp(last->row, row->row) != 0) {
			str_add(out, "  ");
			render_clean(out, row->row, !style->unicode);
			str_addc(out, '\n');
		}
		line(out, &c->checks[i], w, style);
		last = row;
	}
}

/* Of those that agree, how many do so within what the row allows, with its reason, beyond what the printed digits leave open. */
static size_t allowed(const struct paper_comparison *c)
{
	size_t n = 0;
	for (size_t i = 0; i < c->part->count; i++)
		n += c->checks[i].result == PAPER_AGREES && *c->checks[i].row->tolerance &&
		     !*c->checks[i].row->deviation && !c->checks[i].row->again;
	return n;
}

static void counts(struct str *page, const size_t *n, size_t within, size_t repeated, const struct report_style *style)
{
	struct str line, *out = &line;
	size_t all = 0;
	str_init(out);
	for (int i = 0; i < PAPER_RESULTS; i++)
		all += n[i];
	all -= n[PAPER_IS_SETTING];
	str_addf(out, "%zu published values: %zu agree", all, n[PAPER_AGREES]);
	if (within)
		str_addf(out, " (%zu of them within a tolerance that their row gives a reason for)", within);
	str_addf(out, ", %zu explained, %zu differ, %zu not asked", n[PAPER_EXPLAINED], n[PAPER_DIFFERS],
		 n[PAPER_NOT_ASKED]);
	if (repeated)
		str_addf(out, "; repeated: %zu", repeated);
	if (n[PAPER_IS_SETTING])
		str_addf(out, "; %zu more are settings of its experiments", n[PAPER_IS_SETTING]);
	render_wrap(page, str_text(out), 0, style->width ? style->width : 80);
	page->failed |= out->failed;
	str_free(out);
}

int report_paper(struct str *out, const struct paper_comparison *parts, size_t n, const struct report_style *style,
		 struct err *e)
{
	const struct paper *p = parts[0].paper;
	struct widths w = measure(out, parts, n, style);
	size_t all[PAPER_RESULTS] = {0}, within = 0, repeated = 0;
	str_add(out, table_bold(style));
	render_clean(out, p->title, !style->unicode);
	str_addf(out, "%s\n", table_plain(style));
	struct str s;
	str_init(&s);
	render_clean(&s, p->authors, !style->unicode);
	str_add(&s, "; ");
	render_clean(&s, p->published, !style->unicode);
	out->failed |= s.failed;
	render_wrap(out, str_text(&s), 2, style->width ? style->width : 80);
	str_free(&s);
	for (size_t i = 0; i < n; i++) {
		const struct device_info *d = &parts[i].run->device;
		str_addf(out, "\n%s", table_bold(style));
		render_clean(out, parts[i].part->device, !style->unicode);
		str_addf(out, "%s beside ", table_plain(style));
		render_clean(out, d->name, !style->unicode);
		str_add(out, " (");
		render_clean(out, d->spec, !style->unicode);
		str_add(out, "), seed ");
		str_addf(out, "%llu\n", (unsigned long long)parts[i].run->seed);
		part(out, &parts[i], &w, style);
		part_probes(out, parts[i].run, style);
		str_addc(out, '\n');
		if (n > 1) {
			render_clean(out, parts[i].part->device, !style->unicode);
			str_add(out, ": ");
			counts(out, parts[i].counts, allowed(&parts[i]), parts[i].repeated, style);
		}
		for (int k = 0; k < PAPER_RESULTS; k++)
			all[k] += parts[i].counts[k];
		within += allowed(&parts[i]);
		repeated += parts[i].repeated;
	}
	if (n > 1)
		str_addc(out, '\n');
	counts(out, all, within, repeated, style);
	return out->failed ? err_nomem(e) : 0;
}
