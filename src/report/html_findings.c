/* The page's table of all findings. It leaves out ends of cells and rows, which HTML does not need, and links to
 * themselves, which the page's program adds. They would be a tenth of the page. */
#include "report/html_data.h"
#include "report/render.h"
#include "report/report_svg.h"
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

const char *html_class(enum verdict v)
{
	static const char *const names[] = {"measured",	    "likely",	   "bound", "absent",
					    "inconclusive", "unsupported", "failed"};
	return names[v];
}

static bool a_number(const struct finding *f)
{
	return f && f->value.kind == VALUE_NUMBER && finding_estimated(f);
}

static void escaped_str(struct str *out, struct str *text)
{
	out->failed |= text->failed;
	report_escaped(out, str_text(text));
	str_clear(text);
}

static void cell(struct str *out, const struct finding *f)
{
	struct str s;
	str_init(&s);
	str_add(out, "<td>");
	if (f && finding_answered(f)) {
		render_value(&s, f, true, true);
		escaped_str(out, &s);
	} else {
		str_add(out, "&ndash;");
	}
	str_free(&s);
}

/* The last value by the first. */
static void ratio(struct str *out, const struct compare_row *row, size_t n)
{
	const struct finding *a = row->of[0], *b = row->of[n - 1];
	if (a_number(a) && a_number(b) && a->value.number != 0)
		str_addf(out, "<td>%.3g", b->value.number / a->value.number);
	else
		str_add(out, "<td>");
}

static void row(struct str *out, const struct html_page *p, const struct compare_row *row)
{
	const struct finding *f = NULL;
	for (size_t i = 0; i < p->count && !f; i++)
		f = row->of[i];
	assert(f); /* a row is of some run's finding */
	struct str s;
	str_init(&s);
	str_add(out, "<tr id=\"");
	report_escaped(out, row->key);
	str_addc(out, '"');
	if (f->verdict != VERDICT_MEASURED || row->state == COMPARE_CONTRADICT) /* most are measured, and say so */
		str_addf(out, " class=\"v-%s%s\"", html_class(f->verdict),
			 row->state == COMPARE_CONTRADICT ? " apart" : "");
	str_add(out, "><td><a>");
	report_escaped(out, row->key);
	str_add(out, "</a>");
	if (p->count == 1 && f->verdict != VERDICT_MEASURED && *f->because) {
		str_add(out, "<p class=\"why\">");
		report_escaped(out, f->because);
		str_add(out, "</p>");
	}
	for (size_t i = 0; i < p->count; i++) {
		cell(out, row->of[i]);
	}
	if (p->count > 1) {
		ratio(out, row, p->count);
		str_addf(out, "<td>%s\n", compare_state_name(row->state));
	} else {
		str_add(out, "<td>");
		if (finding_estimated(f))
			render_interval(&s, f, false, true);
		escaped_str(out, &s);
		str_addf(out, "<td><b>%s</b>\n", verdict_name(f->verdict));
	}
	str_free(&s);
}

static void chips(struct str *out, const struct html_page *p)
{
	size_t count[VERDICT_FAILED + 1] = {0};
	for (size_t i = 0; i < p->all->row_count; i++)
		for (size_t r = 0; r < p->count; r++)
			if (p->all->rows[i].of[r]) {
				count[p->all->rows[i].of[r]->verdict]++;
				break;
			}
	str_add(out,
		"<div class=\"js\"><label>filter <input id=\"filter\" type=\"search\" autocomplete=\"off\"></label>\n");
	for (int v = 0; v <= VERDICT_FAILED; v++)
		if (count[v])
			str_addf(
			    out,
			    "<button type=\"button\" class=\"chip v-%s\" data-chip=\"%s\" aria-pressed=\"false\">%s "
			    "%zu</button>\n",
			    html_class((enum verdict)v), html_class((enum verdict)v), verdict_name((enum verdict)v),
			    count[v]);
	str_add(out, "<span id=\"shown\" class=\"soft\" role=\"status\"></span></div>\n");
}

const struct compare_row *html_row(const struct html_page *p, size_t i)
{
	const bool several = p->count > 1;
	const size_t apart = several ? p->all->counts[COMPARE_CONTRADICT] : 0;
	size_t left = i < apart ? i : i - apart;
	for (size_t k = 0; k < p->all->row_count; k++)
		if ((several && p->all->rows[k].state == COMPARE_CONTRADICT) == (i < apart) && left-- == 0)
			return &p->all->rows[k];
	return NULL;
}

void html_findings(struct str *out, const struct html_page *p)
{
	chips(out, p);
	str_addf(out, "<table id=\"findings\"%s><thead><tr><th scope=\"col\">finding</th>",
		 p->count > 1 ? " class=\"many\"" : "");
	for (size_t i = 0; i < p->count; i++) {
		str_add(out, "<th scope=\"col\">");
		report_escaped(out, p->count > 1 ? p->names[i] : "value");
		str_add(out, "</th>");
	}
	str_add(out, p->count > 1
			 ? "<th scope=\"col\">ratio</th><th scope=\"col\">runs</th></tr></thead><tbody>\n"
			 : "<th scope=\"col\">interval</th><th scope=\"col\">verdict</th></tr></thead><tbody>\n");
	for (size_t i = 0; i < p->all->row_count; i++)
		row(out, p, html_row(p, i));
	str_add(out, "</tbody></table>\n");
}
