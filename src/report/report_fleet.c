#include "report/report_fleet.h"
#include "report/json_build.h"
#include "report/render.h"
#include "report/report_table.h"
#include <math.h>
#include <stdio.h>

static void cell(struct table *t, struct str *s, enum verdict v)
{
	t->failed |= s->failed;
	table_cell(t, str_text(s), v);
	str_clear(s);
}

/* What its like say: the median of numbers, else what most of them say. */
static void typical(struct str *out, const struct fleet_row *r, bool unicode)
{
	struct finding f = *r->like;

	if (r->is_number)
		f.value.number = r->median;
	render_value(out, &f, true, unicode);
}

/* "+12 %": how far a number lies from the median. */
static void share(struct str *out, const struct fleet_row *r, const struct finding *f)
{
	if (r->is_number && f->value.kind == VALUE_NUMBER && r->median != 0)
		str_addf(out, "%+.3g %%", 100 * (f->value.number - r->median) / r->median);
	else
		str_addc(out, '-');
}

static void outliers(struct str *out, const struct fleet *f, size_t card, const struct report_style *style)
{
	struct table t;
	struct str s;

	str_init(&s);
	table_open(&t, style);
	table_column(&t, "finding", TABLE_LEFT);
	table_column(&t, "this card", TABLE_LEFT);
	table_column(&t, "its like", TABLE_LEFT);
	table_column(&t, "off by", TABLE_RIGHT);
	table_column(&t, "spreads", TABLE_RIGHT);
	for (size_t i = 0; i < f->outlier_count; i++) {
		const struct fleet_outlier *o = &f->outlier[i];
		const struct fleet_row *r = &f->row[o->row];

		if (o->card != card)
			continue;
		table_row(&t);
		table_cell(&t, r->key, VERDICT_MEASURED);
		render_value(&s, o->finding, true, style->unicode);
		cell(&t, &s, o->finding->verdict);
		typical(&s, r, style->unicode);
		cell(&t, &s, VERDICT_MEASURED);
		share(&s, r, o->finding);
		cell(&t, &s, VERDICT_MEASURED);
		if (isfinite(o->spreads))
			str_addf(&s, "%.0f", o->spreads);
		else
			str_add(&s, "others alike");
		cell(&t, &s, VERDICT_MEASURED);
	}
	str_free(&s);
	table_print(&t, out);
}

static void group_of(struct str *out, const struct fleet *f, size_t g, const struct report_style *style)
{
	const struct fleet_group *group = &f->group[g];

	str_addf(out, "%s", table_bold(style));
	render_clean(out, group->gpu, !style->unicode);
	str_addf(out, "%s: %zu card%s", table_plain(style), group->cards, group->cards == 1 ? "" : "s");
	if (group->cards < FLEET_LEAST)
		str_addf(out, "; it takes %d of a model to say which one differs\n", FLEET_LEAST);
	else
		str_addf(out, ", %zu findings that %d or more decide, %zu of a card apart from its like\n", group->rows,
			 FLEET_LEAST, group->outliers);
	for (size_t i = 0; i < f->card_count; i++) {
		if (f->card[i].group != g || !f->card[i].apart)
			continue;
		str_add(out, "\n  ");
		render_clean(out, f->card[i].name, !style->unicode);
		str_add(out, ", ");
		render_clean(out, f->card[i].run->device.uuid, !style->unicode);
		str_addf(out, ": %zu apart\n", f->card[i].apart);
		outliers(out, f, i, style);
	}
}

int report_fleet(struct str *out, const struct fleet *f, const struct report_style *style, struct err *e)
{
	for (size_t g = 0; g < f->group_count; g++) {
		str_add(out, g ? "\n" : "");
		group_of(out, f, g, style);
	}
	return out->failed ? err_nomem(e) : 0;
}

static json_t *card_of(const struct fleet_card *c)
{
	struct json_object o = json_begin();

	json_put(&o, "file", json_of_text(c->name));
	json_put(&o, "gpu", json_of_text(c->run->device.name));
	json_put(&o, "uuid", json_of_text(c->run->device.uuid));
	json_put(&o, "started", json_of_text(c->run->started));
	json_put(&o, "apart", json_integer((json_int_t)c->apart));
	return json_done(&o);
}

static json_t *row_of(const struct fleet *f, const struct fleet_row *r)
{
	struct json_object o = json_begin();

	json_put(&o, "gpu", json_of_text(f->group[r->group].gpu));
	json_put(&o, "key", json_of_text(r->key));
	json_put(&o, "unit", json_of_text(r->like->unit));
	json_put(&o, "decided", json_integer((json_int_t)r->decided));
	json_put(&o, "median", json_of_number(r->is_number ? r->median : NAN));
	json_put(&o, "mad", json_of_number(r->is_number ? r->mad : NAN));
	json_put(&o, "like", json_of_finding(r->like));
	return json_done(&o);
}

static json_t *outlier_of(const struct fleet *f, const struct fleet_outlier *x)
{
	struct json_object o = json_begin();

	json_put(&o, "key", json_of_text(f->row[x->row].key));
	json_put(&o, "file", json_of_text(f->card[x->card].name));
	json_put(&o, "spreads", json_of_number(x->spreads));
	json_put(&o, "finding", json_of_finding(x->finding));
	return json_done(&o);
}

int report_fleet_json(struct str *out, const struct fleet *f, struct err *e)
{
	str_add(out, "{\"schema\":1,\"cards\":[");
	for (size_t i = 0; i < f->card_count; i++) {
		str_add(out, i ? ",\n" : "\n");
		json_print(out, card_of(&f->card[i]));
	}
	str_add(out, "],\n\"keys\":[");
	for (size_t i = 0; i < f->row_count && !out->failed; i++) {
		str_add(out, i ? ",\n" : "\n");
		json_print(out, row_of(f, &f->row[i]));
	}
	str_add(out, "],\n\"outliers\":[");
	for (size_t i = 0; i < f->outlier_count && !out->failed; i++) {
		str_add(out, i ? ",\n" : "\n");
		json_print(out, outlier_of(f, &f->outlier[i]));
	}
	str_add(out, "]}\n");
	return out->failed ? err_nomem(e) : 0;
}
