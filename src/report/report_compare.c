/* Runs beside each other, for people and for programs. */
#include "report/json_build.h"
#include "report/report_parts.h"
#include <stdio.h>
#include <string.h>

/* A run is a column by its number; which it is stands above. */
static void heads(struct str *out, const struct comparison *c, const char *const *names,
		  const struct report_style *style)
{
	struct table t;
	table_open(&t, style);
	table_column(&t, "run", TABLE_LEFT);
	table_column(&t, "device", TABLE_LEFT);
	table_column(&t, "measured", TABLE_LEFT);
	table_column(&t, "file", TABLE_WRAP);
	for (size_t i = 0; i < c->run_count; i++) {
		char number[24];
		snprintf(number, sizeof number, "%zu", i + 1);
		table_row(&t);
		table_cell(&t, number, VERDICT_MEASURED);
		table_cell(&t, c->runs[i]->device.name, VERDICT_MEASURED);
		table_cell(&t, c->runs[i]->started, VERDICT_MEASURED);
		table_cell(&t, names[i], VERDICT_MEASURED);
	}
	table_print(&t, out);
	for (size_t i = 1; i < c->run_count; i++)
		if (strcmp(c->runs[i]->device.uuid, c->runs[0]->device.uuid) != 0) {
			str_add(out, "\nNot all are of one card: cards of one model differ in places.\n");
			break;
		}
}

static void cell_of(struct table *t, const struct finding *f)
{
	struct str s;
	str_init(&s);
	if (!f)
		str_add(&s, "-");
	else if (finding_answered(f))
		render_value(&s, f, true, t->style->unicode);
	else
		str_add(&s, verdict_name(f->verdict));
	t->failed |= s.failed;
	table_cell(t, str_text(&s), f ? f->verdict : VERDICT_UNSUPPORTED);
	str_free(&s);
}

/* What keeps the first run that did not measure it from saying more. */
static const char *reason(const struct compare_row *r, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (r->of[i] && r->of[i]->verdict != VERDICT_MEASURED && *r->of[i]->because)
			return r->of[i]->because;
	return "";
}

static void rows_of(struct str *out, const struct comparison *c, enum compare_state state, const char *title,
		    const struct report_style *style)
{
	if (!c->counts[state])
		return;
	const bool why = state == COMPARE_SOME;
	struct table t;
	table_open(&t, style);
	table_column(&t, "finding", TABLE_LEFT);
	for (size_t i = 0; i < c->run_count; i++) {
		char head[32];
		snprintf(head, sizeof head, "run %zu", i + 1);
		table_column(&t, head, TABLE_LEFT);
	}
	table_column(&t, why ? "because" : "interval of run 1", TABLE_WRAP);
	for (size_t k = 0; k < c->row_count; k++) {
		const struct compare_row *r = &c->rows[k];
		if (r->state != state)
			continue;
		table_row(&t);
		table_cell(&t, r->key, VERDICT_MEASURED);
		for (size_t i = 0; i < c->run_count; i++)
			cell_of(&t, r->of[i]);
		struct str s;
		str_init(&s);
		if (why)
			str_add(&s, reason(r, c->run_count));
		else if (r->of[0])
			render_interval(&s, r->of[0], true, style->unicode);
		t.failed |= s.failed;
		table_cell(&t, str_text(&s), VERDICT_MEASURED);
		str_free(&s);
	}
	part_title(out, title, style);
	table_print(&t, out);
}

int report_compare(struct str *out, const struct comparison *c, const char *const *names,
		   const struct report_style *style, struct err *e)
{
	heads(out, c, names, style);
	rows_of(out, c, COMPARE_CONTRADICT, "Contradict each other", style);
	rows_of(out, c, COMPARE_DIFFER, "Differ, within their intervals", style);
	rows_of(out, c, COMPARE_SOME, "Decided in some runs only", style);
	str_addf(
	    out,
	    "\n%zu findings: %zu agree, %zu contradict each other, %zu differ within their intervals, %zu are decided "
	    "in some runs only, %zu in none\n",
	    c->row_count, c->counts[COMPARE_AGREE], c->counts[COMPARE_CONTRADICT], c->counts[COMPARE_DIFFER],
	    c->counts[COMPARE_SOME], c->counts[COMPARE_OPEN]);
	return out->failed ? err_nomem(e) : 0;
}

static json_t *run_of(const struct run *r, const char *name)
{
	struct json_object o = json_begin();
	json_put(&o, "file", json_of_text(name));
	json_put(&o, "fathom", json_of_text(r->fathom));
	json_put(&o, "concluded", json_of_text(run_concluded(r)));
	json_put(&o, "started", json_of_text(r->started));
	json_put(&o, "device", json_of_device(&r->device));
	return json_done(&o);
}

static json_t *row_of(const struct compare_row *r, size_t n)
{
	struct json_object o = json_begin();
	json_t *list = json_array();
	for (size_t i = 0; list && i < n; i++)
		if (json_array_append_new(list, r->of[i] ? json_of_finding(r->of[i]) : json_null())) {
			json_decref(list);
			list = NULL;
		}
	json_put(&o, "key", json_of_text(r->key));
	json_put(&o, "state", json_of_text(compare_state_name(r->state)));
	json_put(&o, "findings", list);
	return json_done(&o);
}

int report_compare_json(struct str *out, const struct comparison *c, const char *const *names, struct err *e)
{
	str_add(out, "{\"schema\":1,\"runs\":[");
	for (size_t i = 0; i < c->run_count; i++) {
		str_add(out, i ? ",\n" : "\n");
		json_print(out, run_of(c->runs[i], names[i]));
	}
	str_add(out, "],\n\"rows\":[");
	for (size_t i = 0; i < c->row_count && !out->failed; i++) {
		str_add(out, i ? ",\n" : "\n");
		json_print(out, row_of(&c->rows[i], c->run_count));
	}
	str_add(out, "],\n\"counts\":{");
	for (int i = 0; i < COMPARE_STATES; i++)
		str_addf(out, "%s\"%s\":%zu", i ? "," : "", compare_state_name((enum compare_state)i), c->counts[i]);
	str_add(out, "}}\n");
	return out->failed ? err_nomem(e) : 0;
}
