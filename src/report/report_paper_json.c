/* A paper's values beside ours, for programs. */
#include "data/paper_formula.h"
#include "report/json_build.h"
#include "report/report.h"
#include <string.h>

static json_t *counts_of(const size_t *n, size_t repeated)
{
	struct json_object o = json_begin();
	json_put(&o, "agree", json_integer((json_int_t)n[PAPER_AGREES]));
	json_put(&o, "explained", json_integer((json_int_t)n[PAPER_EXPLAINED]));
	json_put(&o, "differ", json_integer((json_int_t)n[PAPER_DIFFERS]));
	json_put(&o, "not_asked", json_integer((json_int_t)n[PAPER_NOT_ASKED]));
	json_put(&o, "settings", json_integer((json_int_t)n[PAPER_IS_SETTING]));
	json_put(&o, "repeated", json_integer((json_int_t)repeated));
	return json_done(&o);
}

static json_t *row_of(const struct paper_check *c)
{
	const struct paper_row *r = c->row;
	struct json_object o = json_begin();
	bool keyed = strcmp(r->key, PAPER_NO_KEY) != 0 && c->result != PAPER_IS_SETTING;
	json_put(&o, "where", json_of_text(r->where));
	json_put(&o, "row", json_of_text(r->row));
	json_put(&o, "key", keyed ? json_of_text(r->key) : json_null());
	json_put(&o, "published", json_of_text(r->printed));
	json_put(&o, "published_unit", json_of_text(r->printed_unit));
	json_put(&o, "lo", r->is_word ? json_null() : json_of_number(r->lo));
	json_put(&o, "hi", r->is_word ? json_null() : json_of_number(r->hi));
	json_put(&o, "tolerance", *r->tolerance ? json_of_text(r->tolerance) : json_null());
	json_put(&o, "reason", json_of_text(r->reason));
	json_put(&o, "deviation", *r->deviation ? json_of_text(r->deviation) : json_null());
	json_put(&o, "note", json_of_text(r->note));
	json_put(&o, "finding", keyed && c->finding ? json_of_finding(c->finding) : json_null());
	json_put(&o, "result", json_of_text(paper_result_name(c->result)));
	json_put(&o, "repeated", r->again ? json_true() : json_false());
	return json_done(&o);
}

int report_paper_json(struct str *out, const struct paper_comparison *parts, size_t n, struct err *e)
{
	const struct paper *p = parts[0].paper;
	size_t all[PAPER_RESULTS] = {0}, repeated = 0;
	struct json_object head = json_begin();
	json_put(&head, "title", json_of_text(p->title));
	json_put(&head, "authors", json_of_text(p->authors));
	json_put(&head, "published", json_of_text(p->published));
	str_add(out, "{\"schema\":1,\"fathom\":");
	json_print(out, json_of_text(parts[0].run->fathom));
	str_add(out, ",\n\"paper\":");
	json_print(out, json_done(&head));
	str_add(out, ",\n\"parts\":[");
	for (size_t i = 0; i < n && !out->failed; i++) {
		str_add(out, i ? ",\n{\"device\":" : "\n{\"device\":");
		json_print(out, json_of_text(parts[i].part->device));
		str_add(out, ",\"gpu\":");
		json_print(out, json_of_text(parts[i].part->gpu));
		str_add(out, ",\n\"measured_on\":");
		json_print(out, json_of_device(&parts[i].run->device));
		str_add(out, ",\n\"rows\":[");
		for (size_t k = 0; k < parts[i].part->count && !out->failed; k++) {
			str_add(out, k ? ",\n" : "\n");
			json_print(out, row_of(&parts[i].checks[k]));
		}
		str_add(out, "],\n\"counts\":");
		json_print(out, counts_of(parts[i].counts, parts[i].repeated));
		str_add(out, "}");
		for (int k = 0; k < PAPER_RESULTS; k++)
			all[k] += parts[i].counts[k];
		repeated += parts[i].repeated;
	}
	str_add(out, "],\n\"counts\":");
	json_print(out, counts_of(all, repeated));
	str_add(out, "}\n");
	return out->failed ? err_nomem(e) : 0;
}
