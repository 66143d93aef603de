/* What the page's program needs: the reports of all runs, their figures' curves, meanings and probes. */
#include "report/html_data.h"
#include "base/arena.h"
#include "data/keys.h"
#include "report/json_build.h"
#include "report/render.h"
#include "report/report.h"
#include "report/report_svg.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

int html_figures(struct figure_list *out, const struct html_page *p)
{
	for (size_t r = 0; r < p->count; r++)
		for (size_t i = 0; i < p->figures[r].count; i++) {
			const struct figure *f = &p->figures[r].items[i];
			/* Only curves can lie over those of another run. */
			struct figure *to = figure_is_curves(f) ? (struct figure *)figures_get(out, f->name) : NULL;
			const bool first = !to;
			if (first && !(to = figures_like(out, f)))
				return -ENOMEM;
			if (!figure_is_curves(f) && p->count > 1) {
				snprintf(to->name, sizeof(to->name), "%.40s-%zu", f->name, r + 1);
				snprintf(to->title, sizeof(to->title), "%.40s: %.80s", p->names[r], f->title);
			}
			if (!first)
				to->notes_count = 0; /* sizes of one GPU, which are not those of another */
			for (unsigned m = 0; m < f->marks_count && to->marks_count < FIGURE_MARKS; m++) {
				const struct figure_marks *k = &f->marks[m];
				char label[96];
				const bool named = p->count > 1 && figure_is_curves(f);
				snprintf(label, sizeof(label), "%.40s%s%.50s", named ? p->names[r] : "",
					 named ? ": " : "", k->label);
				if (figure_add(to, label, k->style, k->x, k->y, k->y2, k->count))
					return -ENOMEM;
			}
		}
	return 0;
}

/* What no screen shows is left out. A line loses points between others that are as high, and dots are lost that lie on
 * the last one. */
struct thinned {
	const struct figure_marks *m;
	double x, y; /* of the range, so near that two are one */
	double last_x, last_y;
};

static struct thinned thinned(const struct figure_marks *m)
{
	const bool line = m->style == MARK_LINE || m->style == MARK_STEPS, dots = m->style == MARK_POINTS;
	double x[2] = {INFINITY, -INFINITY}, y[2] = {INFINITY, -INFINITY};
	for (size_t i = 0; i < m->count; i++) {
		x[0] = fmin(x[0], m->x[i]);
		x[1] = fmax(x[1], m->x[i]);
		y[0] = fmin(y[0], m->y[i]);
		y[1] = fmax(y[1], m->y[i]);
	}
	return (struct thinned){.m = m,
				.x = dots ? 2e-3 * (x[1] - x[0]) : 0,
				.y = line || dots ? 1e-3 * (y[1] - y[0]) : 0,
				.last_x = NAN,
				.last_y = NAN};
}

static bool seen(struct thinned *t, size_t i)
{
	const double *y = t->m->y;
	if (t->x > 0) {
		if (fabs(t->m->x[i] - t->last_x) < t->x && fabs(y[i] - t->last_y) < t->y)
			return false;
		t->last_x = t->m->x[i];
		t->last_y = y[i];
		return true;
	}
	return !(t->y > 0 && i && i + 1 < t->m->count && fabs(y[i] - y[i - 1]) < t->y && fabs(y[i] - y[i + 1]) < t->y);
}

/* Four digits are more than a screen shows. */
static void numbers(struct str *out, const char *name, const double *v, const struct figure_marks *m)
{
	struct thinned t = thinned(m);
	bool any = false;
	str_addf(out, ",\"%s\":[", name);
	for (size_t i = 0; i < m->count; i++) {
		if (!seen(&t, i))
			continue;
		if (any)
			str_addc(out, ',');
		any = true;
		if (isfinite(v[i]))
			str_addf(out, v[i] == trunc(v[i]) && fabs(v[i]) < 1e9 ? "%.0f" : "%.4g", v[i]);
		else
			str_add(out, "null");
	}
	str_addc(out, ']');
}

static json_t *axis(const struct figure_axis *a)
{
	struct json_object o = json_begin();
	json_put(&o, "label", json_of_text(a->label));
	json_put(&o, "unit", json_of_text(a->unit));
	json_put(&o, "log2", json_boolean(a->log2));
	return json_done(&o);
}

static void figure(struct str *out, const struct figure *f)
{
	static const char *const styles[] = {"points", "line", "steps", "band", "bars", "spans", "cells"};
	struct json_object o = json_begin();
	json_t *keys = json_array();
	for (unsigned i = 0; i < f->keys_count; i++)
		if (json_array_append_new(keys, json_of_text(f->keys[i])) != 0)
			o.failed = true;
	json_put(&o, "name", json_of_text(f->name));
	json_put(&o, "title", json_of_text(f->title));
	json_put(&o, "x", axis(&f->x));
	json_put(&o, "y", axis(&f->y));
	json_put(&o, "keys", keys);
	json_print(out, json_done(&o));
	if (out->failed)
		return;
	out->data[--out->len] = '\0'; /* the marks go inside the object */
	str_add(out, ",\"marks\":[");
	for (unsigned m = 0; m < f->marks_count && figure_is_curves(f); m++) { /* others are no plots to zoom into */
		const struct figure_marks *k = &f->marks[m];
		str_add(out, m ? ",{\"label\":" : "{\"label\":");
		json_print(out, json_of_text(k->label));
		str_addf(out, ",\"style\":\"%s\"", styles[k->style]);
		numbers(out, "x", k->x, k);
		numbers(out, "y", k->y, k);
		if (k->style == MARK_BAND)
			numbers(out, "y2", k->y2, k);
		str_addc(out, '}');
	}
	str_add(out, "]}");
}

/* The SM's clock beside each probe: the first and the last that was seen. */
static void conditions(struct str *out, const struct run *r)
{
	const char *last = "";
	bool any = false;
	str_add(out, "{");
	for (size_t i = 0; i < r->series_count; i++) {
		const struct series *s = &r->series[i];
		size_t end = i;
		if (strcmp(last, s->probe) == 0 || s->before.sm_clock_mhz < 0)
			continue;
		last = s->probe;
		while (end + 1 < r->series_count && strcmp(r->series[end + 1].probe, s->probe) == 0)
			end++;
		str_add(out, any ? "," : "");
		any = true;
		json_print(out, json_of_text(s->probe));
		str_addf(out, ":[%.0f,%.0f]", s->before.sm_clock_mhz, fmax(r->series[end].after.sm_clock_mhz, 0));
	}
	str_add(out, "}");
}

/* What the GPU executed between two clock reads, of the longest such region: of the first kernel of each experiment. */
static void native(struct str *out, const struct run *r)
{
	bool any = false;
	str_add(out, "{");
	for (size_t i = 0; i < r->series_count; i++) {
		const struct series *s = &r->series[i];
		const struct native_region *longest = NULL;
		char name[128], code[256];
		for (uint32_t k = 0; s->native_count && k < s->native[0].region_count && k < NATIVE_REGIONS; k++)
			if (!longest || s->native[0].region[k].total > longest->total)
				longest = &s->native[0].region[k];
		if (!longest || !*longest->mix)
			continue;
		snprintf(name, sizeof(name), "%s/%s", s->probe, s->experiment);
		snprintf(code, sizeof(code), "%s: %s", s->native[0].source, longest->mix);
		str_add(out, any ? "," : "");
		any = true;
		json_print(out, json_of_text(name));
		str_addc(out, ':');
		json_print(out, json_of_text(code));
	}
	str_add(out, "}");
}

static void runs(struct str *out, const struct html_page *p)
{
	struct json_texts shared = json_texts_begin();
	for (size_t i = 0; i < p->all->row_count; i++)
		out->failed |= json_texts_row(&shared, html_row(p, i)->key) != 0;
	str_add(out, "{\"fields\":");
	report_json_fields(out);
	str_add(out, ",\"runs\":[");
	for (size_t r = 0; r < p->count; r++) {
		struct err e;
		str_add(out, r ? "," : "");
		out->failed |= report_json_rows(out, p->runs[r], &shared, &e) != 0;
		while (out->len && !out->failed && out->data[out->len - 1] != '}')
			out->data[--out->len] = '\0';
		if (out->failed)
			break;
		out->data[--out->len] = '\0';
		str_add(out, ",\"conditions\":");
		conditions(out, p->runs[r]);
		str_add(out, ",\"native\":");
		native(out, p->runs[r]);
		str_add(out, "}");
	}
	str_add(out, "],\"texts\":");
	json_texts_end(out, &shared);
	str_add(out, ",\"names\":[");
	for (size_t r = 0; r < p->count; r++) {
		str_add(out, r ? "," : "");
		json_print(out, json_of_text(p->names[r]));
	}
	str_add(out, "]");
}

static void texts(struct str *out, const struct html_page *p)
{
	struct json_object probes = json_begin();
	json_t *meanings = json_array();
	for (size_t i = 0; i < key_family_count; i++)
		if (json_array_append_new(meanings, json_of_text(key_families[i].meaning)) != 0)
			out->failed = true;
	for (size_t i = 0; i < p->probe_count; i++) {
		struct json_object o = json_begin();
		json_put(&o, "asks", json_of_text(p->probes[i].asks));
		json_put(&o, "how", json_of_text(p->probes[i].how));
		json_put(&o, "fooled", json_of_text(p->probes[i].fooled));
		json_put(&probes, p->probes[i].name, json_done(&o));
	}
	str_add(out, ",\"meanings\":");
	json_print(out, meanings);
	str_add(out, ",\"of\":["); /* the meaning of each row of the table */
	for (size_t i = 0; i < p->all->row_count; i++) {
		const struct key_family *family = key_family(html_row(p, i)->key);
		str_addf(out, "%s%td", i ? "," : "", family ? family - key_families : -1);
	}
	str_add(out, "]");
	str_add(out, ",\"probes\":");
	json_print(out, json_done(&probes));
}

void html_data(struct str *out, const struct html_page *p, const struct figure_list *drawn)
{
	struct str plain;
	str_init(&plain);
	runs(&plain, p);
	texts(&plain, p);
	str_add(&plain, ",\"colours\":[");
	for (unsigned i = 0; i < FIGURE_MARKS; i++)
		str_addf(&plain, "%s\"%s\"", i ? "," : "", report_svg_colours[i]);
	str_add(&plain, "],\"figures\":[");
	for (size_t i = 0; i < drawn->count; i++) {
		str_add(&plain, i ? ",\n" : "");
		figure(&plain, &drawn->items[i]);
	}
	str_add(&plain, "]}");
	out->failed |= plain.failed;
	/* Nothing in it can end the element: `<` is text in JSON, and may be written as an escape there. */
	for (const char *at = str_text(&plain); *at;) {
		const size_t n = strcspn(at, "<");
		str_addn(out, at, n);
		at += n;
		if (*at == '<') {
			str_add(out, "\\u003c");
			at++;
		}
	}
	str_free(&plain);
}
