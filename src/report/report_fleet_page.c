/* Many cards as a page with a map, and as metrics. */
#include "base/arena.h"
#include "base/embed.h"
#include "report/render.h"
#include "report/report_fleet.h"
#include "report/report_svg.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAP_ROWS  40 /* keys that a map shows: those in which cards differ most */
#define MAP_CARDS 400

/* ---- the map ---- */

/* How far the card's number lies from the median, as a share of it; NAN: it has none. */
static double deviation(const struct fleet_row *r, const struct fleet_card *c)
{
	const struct finding *f = findings_get(&c->run->findings, r->key);
	if (!r->is_number || r->median == 0 || !f || !finding_estimated(f) || f->value.kind != VALUE_NUMBER)
		return NAN;
	return fabs(f->value.number / r->median - 1);
}

struct shown {
	const struct fleet_row *row;
	double most; /* deviation of any card */
};

static int by_deviation(const void *a, const void *b)
{
	const double x = ((const struct shown *)a)->most, y = ((const struct shown *)b)->most;
	return x > y   ? -1
	       : x < y ? 1
		       : strcmp(((const struct shown *)a)->row->key, ((const struct shown *)b)->row->key);
}

/* Rows of a model in which any card differs, those that differ most first. */
static size_t rows_of(const struct fleet *f, size_t group, struct shown *out)
{
	size_t n = 0;
	for (size_t i = 0; i < f->row_count; i++) {
		struct shown s = {.row = &f->row[i]};
		for (size_t k = 0; k < f->card_count; k++)
			if (f->card[k].group == group)
				s.most = fmax(s.most, deviation(s.row, &f->card[k]));
		if (s.row->group == group && s.most > 0)
			out[n++] = s;
	}
	if (n)
		qsort(out, n, sizeof(*out), by_deviation);
	return n < MAP_ROWS ? n : MAP_ROWS;
}

static int map_of(struct figure_list *l, const struct fleet *f, size_t group, struct shown *rows, double *xyz)
{
	const size_t n = rows_of(f, group, rows);
	double *x = xyz, *y = x + MAP_ROWS * MAP_CARDS, *off = y + MAP_ROWS * MAP_CARDS;
	size_t cells = 0;
	if (!n)
		return 0;
	struct figure *map = figures_new(l, "fleet", "How far each card is from its like");
	if (!map)
		return -ENOMEM;
	map->x = (struct figure_axis){.label = "card, in the order of the table"};
	map->shade = (struct figure_axis){.label = "off the median", .unit = "%"};
	for (size_t i = 0; i < n; i++) {
		size_t column = 0;
		if (figure_row(map, rows[i].row->key))
			return -ENOMEM;
		for (size_t k = 0; k < f->card_count && column < MAP_CARDS; k++) {
			if (f->card[k].group != group)
				continue;
			x[cells] = (double)++column;
			y[cells] = (double)i;
			off[cells++] = 100 * deviation(rows[i].row, &f->card[k]);
		}
	}
	return figure_add(map, "cards", MARK_CELLS, x, y, off, cells);
}

/* ---- the page ---- */

static void cell(struct str *out, const char *text)
{
	str_add(out, "<td>");
	report_escaped(out, text);
}

static void cards(struct str *out, const struct fleet *f, size_t group)
{
	size_t n = 0;
	str_add(out, "<h3>Cards</h3>\n");
	str_add(out, "<table class=\"many\"><thead><tr><th scope=\"col\">card</th><th scope=\"col\">file</th><th "
		     "scope=\"col\">UUID</th>"
		     "<th scope=\"col\">apart</th></tr></thead><tbody>\n");
	for (size_t i = 0; i < f->card_count; i++) {
		const struct fleet_card *c = &f->card[i];
		if (c->group != group)
			continue;
		str_addf(out, "<tr%s><td>%zu", c->apart ? " class=\"apart\"" : "", ++n);
		cell(out, c->name);
		cell(out, c->run->device.uuid);
		str_addf(out, "<td>%zu\n", c->apart);
	}
	str_add(out, "</tbody></table>\n");
}

static void outliers(struct str *out, const struct fleet *f, size_t group)
{
	struct str s;
	str_init(&s);
	str_add(out, "<h3>What lies apart</h3>\n<table class=\"many\"><thead><tr><th scope=\"col\">finding</th>"
		     "<th scope=\"col\">card</th><th scope=\"col\">says</th><th scope=\"col\">its like</th>"
		     "<th scope=\"col\">off by</th></tr></thead><tbody>\n");
	for (size_t i = 0; i < f->outlier_count; i++) {
		const struct fleet_outlier *o = &f->outlier[i];
		const struct fleet_row *r = &f->row[o->row];
		struct finding like = *r->like;
		if (r->group != group)
			continue;
		if (r->is_number)
			like.value.number = r->median;
		str_add(out, "<tr>");
		cell(out, r->key);
		cell(out, f->card[o->card].name);
		render_value(&s, o->finding, true, true);
		cell(out, str_text(&s));
		out->failed |= s.failed;
		str_clear(&s);
		render_value(&s, &like, true, true);
		cell(out, str_text(&s));
		out->failed |= s.failed;
		str_clear(&s);
		if (r->is_number && r->median != 0 && o->finding->value.kind == VALUE_NUMBER)
			str_addf(out, "<td>%+.3g %%\n", 100 * (o->finding->value.number / r->median - 1));
		else
			str_add(out, "<td>\n");
	}
	str_free(&s);
	str_add(out, "</tbody></table>\n");
}

static int group_of(struct str *out, const struct fleet *f, size_t group, struct shown *rows, double *xyz)
{
	const struct fleet_group *g = &f->group[group];
	struct figure_list l = {0};
	const int rc = map_of(&l, f, group, rows, xyz);
	str_add(out, "<h2>");
	report_escaped(out, g->gpu);
	str_addf(out,
		 "</h2>\n<p>%zu cards, %zu findings that %d or more decide, %zu of a card apart from its like.</p>\n",
		 g->cards, g->rows, FLEET_LEAST, g->outliers);
	if (rc == 0 && l.count) {
		str_add(out, "<figure class=\"map\"><h3>How far each card is from the median of its like</h3><div "
			     "class=\"drawing\" tabindex=\"0\">");
		report_svg_inline(out, &l.items[0]);
		str_add(out, "</div></figure>\n");
	}
	if (g->outliers)
		outliers(out, f, group);
	cards(out, f, group);
	figures_free(&l);
	return rc;
}

int report_fleet_html(struct str *out, const struct fleet *f, struct err *e)
{
	const struct embedded *css = embed_find("src/report/page.css");
	double *xyz = mem_alloc(sizeof(*xyz) * 3 * MAP_ROWS * MAP_CARDS);
	struct shown *rows = mem_zero(f->row_count + 1, sizeof(*rows));
	int rc = xyz && rows ? 0 : -ENOMEM;
	size_t differ = 0;
	for (size_t i = 0; i < f->card_count; i++)
		differ += f->card[i].apart > 0;
	str_addf(out,
		 "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n<meta "
		 "http-equiv=\"Content-Security-Policy\" "
		 "content=\"default-src 'none'; style-src 'sha256-%s'; base-uri 'none'; form-action 'none'\">\n"
		 "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>%zu cards - "
		 "fathom</title>\n<style>",
		 css->sha256, f->card_count);
	str_addn(out, css->data, css->size);
	str_addf(out, "</style>\n</head><body><main>\n<h1>%zu cards, %zu differ%s</h1>\n", f->card_count, differ,
		 differ == 1 ? "s" : "");
	str_addf(
	    out,
	    "<p class=\"soft\">A card lies apart in a number that is more than %.0f spreads and %.0f %% off the median "
	    "of its model, and whose interval excludes that median.</p>\n",
	    FLEET_SPREADS, 100 * FLEET_SHARE);
	for (size_t g = 0; rc == 0 && g < f->group_count; g++)
		rc = group_of(out, f, g, rows, xyz);
	str_add(out, "</main></body></html>\n");
	mem_free(xyz);
	mem_free(rows);
	return rc || out->failed ? err_nomem(e) : 0;
}

/* ---- OpenMetrics ---- */

static void labels(struct str *out, const struct fleet_card *c)
{
	render_label(out, "file", c->name);
	str_addc(out, ',');
	render_label(out, "gpu", c->run->device.name);
	str_addc(out, ',');
	render_label(out, "uuid", c->run->device.uuid);
}

int report_fleet_openmetrics(struct str *out, const struct fleet *f, struct err *e)
{
	str_add(out, "# TYPE fathom_fleet_apart gauge\n# HELP fathom_fleet_apart Findings in which the card lies apart "
		     "from its like.\n");
	for (size_t i = 0; i < f->card_count; i++) {
		str_add(out, "fathom_fleet_apart{");
		labels(out, &f->card[i]);
		str_addf(out, "} %zu\n", f->card[i].apart);
	}
	str_add(out, "# TYPE fathom_fleet_ratio gauge\n# HELP fathom_fleet_ratio A number that lies apart, over the "
		     "median of its like.\n");
	for (size_t i = 0; i < f->outlier_count; i++) {
		const struct fleet_outlier *o = &f->outlier[i];
		const struct fleet_row *r = &f->row[o->row];
		if (!r->is_number || r->median == 0 || o->finding->value.kind != VALUE_NUMBER)
			continue;
		str_add(out, "fathom_fleet_ratio{");
		render_label(out, "key", r->key);
		str_addc(out, ',');
		labels(out, &f->card[o->card]);
		str_add(out, "} ");
		render_number(out, o->finding->value.number / r->median, 6);
		str_addc(out, '\n');
	}
	str_add(out, "# EOF\n");
	return out->failed ? err_nomem(e) : 0;
}
