#include "cmd/predict_text.h"
#include "report/json_build.h"
#include <math.h>

static void seconds(struct str *out, double s)
{
	if (!isfinite(s))
		str_add(out, "no end known");
	else if (s >= 1)
		str_addf(out, "%.4g s", s);
	else if (s >= 1e-3)
		str_addf(out, "%.4g ms", s * 1e3);
	else
		str_addf(out, "%.4g us", s * 1e6);
}

static void line(struct str *out, const char *what, double s)
{
	str_addf(out, "  %-12s ", what);
	seconds(out, s);
	str_add(out, "\n");
}

static void classes(struct str *out, const struct predict_result *r)
{
	str_addf(out, "\nInstructions of the SM's blocks that were followed\n  %-22s %12s %9s %9s   %s\n", "class",
		 "count", "issue", "latency", "from");
	for (const struct predict_class *c = r->classes; c; c = c->next) {
		if (!(c->count > 0))
			continue;
		if (c->issue > 0 || c->latency > 0)
			str_addf(out, "  %-22s %12.0f %9.3g %9.3g   %s\n", c->name, c->count, c->issue, c->latency,
				 c->key);
		else
			str_addf(out, "  %-22s %12.0f %9s %9s   %s\n", c->name, c->count, "", "", c->key);
	}
}

static void memory(struct str *out, const struct predict_result *r)
{
	bool any = false;
	for (unsigned k = 0; k < PREDICT_LEVELS; k++)
		any = any || r->requests[k] > 0;
	if (!any)
		return;
	str_addf(out, "\nMemory, of the whole launch\n  %-22s %12s %14s\n", "level", "requests", "bytes");
	for (unsigned k = 0; k < PREDICT_LEVELS; k++)
		if (r->requests[k] > 0)
			str_addf(out, "  %-22s %12.0f %14.0f\n", predict_level_names[k], r->requests[k], r->bytes[k]);
}

static void terms(struct str *out, const struct predict_result *r, bool missing)
{
	bool any = false;
	for (const struct predict_term *t = r->terms; t; t = t->next) {
		if (t->missing != missing)
			continue;
		if (!any)
			str_add(out, missing ? "\nMissing in the run file\n" : "\nFindings used\n");
		any = true;
		if (missing)
			str_addf(out, "  %-34s %s\n", t->key, t->effect);
		else
			str_addf(out, "  %-34s %.6g %s%s%s\n", t->key, t->value, t->unit, *t->effect ? "; " : "",
				 t->effect);
	}
}

void predict_text(struct str *out, const struct predict_page *p)
{
	const struct predict_result *r = p->result;
	const uint32_t *g = p->request->grid, *b = p->request->block;
	str_addf(out, "%s of %s: grid %u,%u,%u, block %u,%u,%u, on %s by %s\n\n", p->entry, p->kernel, g[0], g[1], g[2],
		 b[0], b[1], b[2], p->run->device.name, p->from);
	str_add(out, "expected      ");
	seconds(out, r->seconds);
	str_add(out, ", between ");
	seconds(out, r->lo);
	str_add(out, " and ");
	seconds(out, r->hi);
	str_addf(out, "\nbound         %s: %s\n", predict_bound_names[r->bound], r->bound_what);
	if (p->checked_on) {
		str_add(out, "measured      ");
		seconds(out, p->measured);
		str_addf(out, " on %s; the prediction is off by %+.1f %%\n", p->checked_on,
			 100 * (r->seconds - p->measured) / p->measured);
	}
	str_addf(out, "occupancy     %u warps on an SM: %u blocks of %u, limited by %s; about %u registers a thread\n",
		 r->warps_per_sm, r->blocks_per_sm, r->warps_per_block, r->occupancy_limit, r->registers);
	str_add(out, "\nWhat each alone would take\n");
	line(out, "issue", r->issue);
	line(out, "latency", r->latency);
	line(out, "bandwidth", r->bandwidth);
	line(out, "launch", r->launch);
	classes(out, r);
	memory(out, r);
	terms(out, r, false);
	terms(out, r, true);
	if (r->notes)
		str_add(out, "\nWhat the model cannot know\n");
	for (const struct predict_note *n = r->notes; n; n = n->next)
		str_addf(out, "  %s\n", n->text);
}

static json_t *triple(const uint32_t v[3])
{
	return json_pack("[iii]", (int)v[0], (int)v[1], (int)v[2]);
}

static json_t *json_classes(const struct predict_result *r)
{
	json_t *list = json_array();
	for (const struct predict_class *c = r->classes; c; c = c->next) {
		struct json_object o = json_begin();
		json_put(&o, "class", json_of_text(c->name));
		json_put(&o, "from", json_of_text(c->key));
		json_put(&o, "count", json_of_number(c->count));
		json_put(&o, "issue_cycles", json_of_number(c->issue));
		json_put(&o, "latency_cycles", json_of_number(c->latency));
		json_array_append_new(list, json_done(&o));
	}
	return list;
}

static json_t *json_memory(const struct predict_result *r)
{
	json_t *list = json_array();
	for (unsigned k = 0; k < PREDICT_LEVELS; k++) {
		struct json_object o = json_begin();
		json_put(&o, "level", json_of_text(predict_level_names[k]));
		json_put(&o, "requests", json_of_number(r->requests[k]));
		json_put(&o, "bytes", json_of_number(r->bytes[k]));
		json_array_append_new(list, json_done(&o));
	}
	return list;
}

static json_t *json_terms(const struct predict_result *r, bool missing)
{
	json_t *list = json_array();
	for (const struct predict_term *t = r->terms; t; t = t->next) {
		struct json_object o = json_begin();
		if (t->missing != missing)
			goto next;
		json_put(&o, "key", json_of_text(t->key));
		if (!missing) {
			json_put(&o, "value", json_of_number(t->value));
			json_put(&o, "lo", json_of_number(t->lo));
			json_put(&o, "hi", json_of_number(t->hi));
			json_put(&o, "unit", json_of_text(t->unit));
		}
		json_put(&o, "effect", json_of_text(t->effect));
		json_array_append_new(list, json_done(&o));
		continue;
	next:
		json_decref(o.json);
	}
	return list;
}

static json_t *json_notes(const struct predict_result *r)
{
	json_t *list = json_array();
	for (const struct predict_note *n = r->notes; n; n = n->next)
		json_array_append_new(list, json_of_text(n->text));
	return list;
}

void predict_json(struct str *out, const struct predict_page *p)
{
	const struct predict_result *r = p->result;
	struct json_object o = json_begin();
	json_put(&o, "schema", json_integer(1));
	json_put(&o, "kernel", json_of_text(p->kernel));
	json_put(&o, "entry", json_of_text(p->entry));
	json_put(&o, "from", json_of_text(p->from));
	json_put(&o, "device", json_of_text(p->run->device.name));
	json_put(&o, "grid", triple(p->request->grid));
	json_put(&o, "block", triple(p->request->block));
	json_put(&o, "seconds", json_of_number(r->seconds));
	json_put(&o, "lo", json_of_number(r->lo));
	json_put(&o, "hi", json_of_number(r->hi));
	json_put(&o, "bound", json_of_text(predict_bound_names[r->bound]));
	json_put(&o, "bound_by", json_of_text(r->bound_what));
	json_put(&o, "issue_seconds", json_of_number(r->issue));
	json_put(&o, "latency_seconds", json_of_number(r->latency));
	json_put(&o, "bandwidth_seconds", json_of_number(r->bandwidth));
	json_put(&o, "launch_seconds", json_of_number(r->launch));
	json_put(&o, "kernel_seconds", json_of_number(r->kernel));
	json_put(&o, "kernel_lo", json_of_number(r->kernel_lo));
	json_put(&o, "kernel_hi", json_of_number(r->kernel_hi));
	json_put(&o, "model_factor", json_of_number(PREDICT_FACTOR));
	json_put(&o, "measured_on", p->checked_on ? json_of_text(p->checked_on) : json_null());
	json_put(&o, "measured_seconds", json_of_number(p->checked_on ? p->measured : NAN));
	json_put(&o, "warps_per_sm", json_integer(r->warps_per_sm));
	json_put(&o, "blocks_per_sm", json_integer(r->blocks_per_sm));
	json_put(&o, "occupancy_limit", json_of_text(r->occupancy_limit));
	json_put(&o, "registers", json_integer(r->registers));
	json_put(&o, "classes", json_classes(r));
	json_put(&o, "memory", json_memory(r));
	json_put(&o, "findings", json_terms(r, false));
	json_put(&o, "missing", json_terms(r, true));
	json_put(&o, "unknown", json_notes(r));
	json_t *done = json_done(&o);
	if (!done)
		out->failed = true;
	else
		json_print(out, done);
}
