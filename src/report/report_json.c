/* The contract for programs. Objects are built and printed one at a time, as a run may hold millions of words. With a
 * sink no more than some points of a series stand in memory. */
#include "report/json_build.h"
#include "report/render.h"
#include <math.h>
#include <string.h>

#define PIECE ((size_t)1 << 16) /* bytes that are handed on together */

static json_t *run(const struct run *r)
{
	struct json_object o = json_begin();
	json_t *probes = json_array();
	json_put(&o, "started", json_of_text(r->started));
	json_put(&o, "seed", json_of_wide("%llu", r->seed));
	json_put(&o, "seconds", json_of_known(r->seconds));
	for (size_t i = 0; i < r->probe_count; i++) {
		const struct probe_record *p = &r->probes[i];
		struct json_object q = json_begin();
		json_put(&q, "name", json_of_text(p->name));
		json_put(&q, "state", json_of_text(probe_state_name(p->state)));
		json_put(&q, "seconds", json_of_known(p->seconds));
		json_put(&q, "message", json_of_text(p->message));
		if (json_array_append_new(probes, json_done(&q)) != 0)
			o.failed = true;
	}
	json_put(&o, "probes", probes);
	return json_done(&o);
}

static json_t *condition(const struct condition *c)
{
	struct json_object o = json_begin();
	json_put(&o, "sm_clock_mhz", json_of_known(c->sm_clock_mhz));
	json_put(&o, "memory_clock_mhz", json_of_known(c->memory_clock_mhz));
	json_put(&o, "temperature_c", json_of_known(c->temperature_c));
	json_put(&o, "power_w", json_of_known(c->power_w));
	json_put(&o, "throttle", c->throttle < 0 ? json_null() : json_integer(c->throttle));
	return json_done(&o);
}

static json_t *native(const struct native_info *n)
{
	struct json_object o = json_begin();
	json_t *regions = json_array();
	json_put(&o, "fingerprint", json_of_wide("%016llx", n->fingerprint));
	json_put(&o, "instructions", json_integer(n->instructions));
	json_put(&o, "registers", json_integer(n->registers));
	json_put(&o, "clock_reads", json_integer(n->clock_reads));
	json_put(&o, "source", json_of_text(n->source));
	json_put(&o, "problem", json_of_text(n->problem));
	if (n->layout.code_bytes) {
		struct json_object l = json_begin();
		json_put(&l, "code_bytes", json_integer(n->layout.code_bytes));
		json_put(&l, "first", json_integer(n->layout.first));
		json_put(&l, "step", json_integer(n->layout.step));
		json_put(&l, "reads", json_integer(n->layout.reads));
		json_put(&o, "layout", json_done(&l));
	}
	for (uint32_t i = 0; i < n->region_count && i < NATIVE_REGIONS; i++) {
		const struct native_region *g = &n->region[i];
		struct json_object q = json_begin(), counts = json_begin();
		for (int c = 0; c < NATIVE_CLASSES; c++)
			if (g->count[c])
				json_put(&counts, native_class_name((enum native_class)c), json_integer(g->count[c]));
		json_put(&q, "total", json_integer(g->total));
		json_put(&q, "count", json_done(&counts));
		json_put(&q, "top", json_integer(g->top_count));
		json_put(&q, "mix", json_of_text(g->mix));
		if (json_array_append_new(regions, json_done(&q)) != 0)
			o.failed = true;
	}
	json_put(&o, "regions", regions);
	return json_done(&o);
}

static void point(struct str *out, const struct series *s, const struct point *p)
{
	struct json_object o = json_begin(), coordinates = json_begin();
	for (unsigned i = 0; i < POINT_PARAMS; i++) {
		json_t *name = s->params[i] ? json_of_text(s->params[i]) : NULL;
		if (name)
			json_put(&coordinates, json_string_value(name), json_of_number(p->p[i]));
		else if (s->params[i])
			o.failed = true;
		json_decref(name);
	}
	json_put(&o, "x", json_of_number(p->x));
	json_put(&o, "p", json_done(&coordinates));
	json_put(&o, "outcome", json_of_text(outcome_name(p->outcome)));
	json_put(&o, "repeats", json_integer(p->repeats));
	json_put(&o, "n", json_integer(p->words_per_repeat));
	json_put(&o, "elapsed_ms", json_of_known(p->elapsed_ms));
	json_put(&o, "native", p->native < s->native_count ? json_integer(p->native) : json_null());
	if (*p->message)
		json_put(&o, "message", json_of_text(p->message));
	json_print(out, json_done(&o));
	if (out->failed)
		return;
	out->data[--out->len] = '\0'; /* the words go inside the object */
	str_add(out, ",\"y\":[");
	size_t n = p->y ? (size_t)p->repeats * p->words_per_repeat : 0;
	for (size_t i = 0; i < n; i++) {
		char digits[12];
		size_t at = sizeof(digits);
		uint32_t v = p->y[i];
		do
			digits[--at] = (char)('0' + v % 10);
		while (v /= 10);
		if (i)
			digits[--at] = ',';
		str_addn(out, digits + at, sizeof(digits) - at);
	}
	str_add(out, "]}");
}

/* Hands on what there is when that is much. 0, or what the sink said. */
static int hand_on(struct str *out, const struct report_sink *to)
{
	if (!to || out->len < PIECE || out->failed)
		return 0;
	int rc = to->take(to->ctx, out);
	str_clear(out);
	return rc;
}

static int series(struct str *out, const struct series *s, const struct report_sink *to)
{
	struct json_object o = json_begin();
	json_put(&o, "probe", json_of_text(s->probe));
	json_put(&o, "experiment", json_of_text(s->experiment));
	json_put(&o, "axis", json_of_text(s->axis));
	json_put(&o, "unit", json_of_text(s->unit));
	json_put(&o, "seed", json_of_wide("%llu", s->seed));
	json_put(&o, "before", condition(&s->before));
	json_put(&o, "after", condition(&s->after));
	json_print(out, json_done(&o));
	if (out->failed)
		return 0;
	out->data[--out->len] = '\0';
	str_add(out, ",\"points\":[");
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < s->count && !out->failed; i++) {
		str_add(out, i ? ",\n" : "\n");
		point(out, s, &s->points[i]);
		rc = hand_on(out, to);
	}
	str_add(out, "],\"native\":{\"kernels\":[");
	for (size_t i = 0; rc == 0 && i < s->native_count && !out->failed; i++) {
		str_add(out, i ? ",\n" : "\n");
		json_print(out, native(&s->native[i]));
		rc = hand_on(out, to);
	}
	str_add(out, "]}}");
	return rc;
}

static bool is_key(const char *name)
{
	return strcmp(name, "key") == 0;
}

/* Does the field hold a text that findings share? */
static bool shared(const char *name, const json_t *value)
{
	return json_is_string(value) && !is_key(name) && strcmp(name, "value") != 0;
}

struct json_texts json_texts_begin(void)
{
	return (struct json_texts){json_object(), json_array(), json_object()};
}

int json_texts_row(struct json_texts *t, const char *key)
{
	return json_object_set_new(t->row, key, json_integer((json_int_t)json_object_size(t->row)));
}

/* The place of the text in the list. NULL: out of memory. */
static json_t *place_of(struct json_texts *t, json_t *text)
{
	json_t *place = json_object_get(t->place, json_string_value(text));
	if (place)
		return json_incref(place);
	place = json_integer((json_int_t)json_array_size(t->list));
	if (!place || json_array_append(t->list, text) != 0 ||
	    json_object_set(t->place, json_string_value(text), place) != 0) {
		json_decref(place);
		return NULL;
	}
	return place;
}

void json_texts_end(struct str *out, struct json_texts *texts)
{
	json_decref(texts->place);
	json_decref(texts->row);
	json_print(out, texts->list);
}

/* The values of a finding's object, in the order of report_json_fields. */
static json_t *values_of(json_t *finding, struct json_texts *texts)
{
	const char *name;
	json_t *value, *values = finding ? json_array() : NULL;
	json_object_foreach(finding, name, value)
	{
		json_t *shown = shared(name, value) ? place_of(texts, value)
				: is_key(name)	    ? json_incref(json_object_get(texts->row, json_string_value(value)))
						    : json_incref(value);
		if (!values || json_array_append_new(values, shown) != 0) {
			json_decref(values);
			values = NULL;
			break;
		}
	}
	json_decref(finding);
	return values;
}

void report_json_fields(struct str *out)
{
	const struct finding none = {.lo = NAN, .hi = NAN};
	json_t *finding = json_of_finding(&none), *value, *names = json_array();
	const char *name;
	out->failed |= !finding;
	json_object_foreach(finding, name, value) out->failed |=
	    json_array_append_new(names, json_sprintf("%s%s", name,
						      shared(name, value) ? "#"
						      : is_key(name)	  ? "@"
									  : "")) != 0;
	json_decref(finding);
	json_print(out, names);
}

/* All but what closes the object. rows: findings are arrays of values, with texts in this list; NULL: objects. */
static int head(struct str *out, const struct run *r, struct json_texts *rows, struct err *e)
{
	const struct finding **sorted = render_sorted(r);
	if (!sorted)
		return err_nomem(e);
	str_add(out, "{\"schema\":1,\"fathom\":");
	json_print(out, json_of_text(r->fathom));
	str_add(out, ",\"concluded\":");
	json_print(out, json_of_text(run_concluded(r)));
	if (*r->shown_by) {
		str_add(out, ",\"shown_by\":");
		json_print(out, json_of_text(r->shown_by));
	}
	str_add(out, ",\n\"device\":");
	json_print(out, json_of_device(&r->device));
	str_add(out, ",\n\"run\":");
	json_print(out, run(r));
	str_add(out, ",\n\"findings\":[");
	for (size_t i = 0; i < r->findings.count && !out->failed; i++) {
		str_add(out, i ? ",\n" : "\n");
		json_t *finding = json_of_finding(sorted[i]);
		json_print(out, rows ? values_of(finding, rows) : finding);
	}
	str_add(out, "]");
	mem_free(sorted);
	return out->failed ? err_nomem(e) : 0;
}

static int whole(struct str *out, const struct run *r, struct json_texts *rows, struct err *e)
{
	int rc = head(out, r, rows, e);
	str_add(out, "}\n");
	return rc == 0 && out->failed ? err_nomem(e) : rc;
}

int report_json(struct str *out, const struct run *r, struct err *e)
{
	return whole(out, r, NULL, e);
}

int report_json_rows(struct str *out, const struct run *r, struct json_texts *texts, struct err *e)
{
	return whole(out, r, texts, e);
}

int report_json_series(struct str *out, const struct run *r, const struct report_sink *to, struct err *e)
{
	int rc = head(out, r, NULL, e);
	str_add(out, ",\n\"series\":[");
	for (size_t i = 0; rc == 0 && i < r->series_count && !out->failed; i++) {
		str_add(out, i ? ",\n" : "\n");
		rc = series(out, &r->series[i], to);
	}
	str_add(out, "]}\n");
	return rc == 0 && out->failed ? err_nomem(e) : rc;
}
