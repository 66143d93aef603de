/* What JSON outputs share. */
#include "report/json_build.h"
#include "report/render.h"
#include <math.h>

#define EXACT 9007199254740992.0 /* integers up to here are exact in a double */
/* 15 digits: 0.1 stays 0.1 */
#define FLAGS (JSON_COMPACT | JSON_REAL_PRECISION(15) | JSON_ENCODE_ANY)

json_t *json_of_number(double v)
{
	if (!isfinite(v))
		return json_null();
	return v == trunc(v) && fabs(v) < EXACT ? json_integer((json_int_t)v) : json_real(v);
}

json_t *json_of_known(double v)
{
	return v < 0 ? json_null() : json_of_number(v);
}

json_t *json_of_text(const char *s)
{
	struct str clean;
	str_init(&clean);
	render_clean(&clean, s ? s : "", false);
	json_t *j = clean.failed ? NULL : json_stringn(str_text(&clean), clean.len);
	str_free(&clean);
	return j;
}

json_t *json_of_wide(const char *fmt, uint64_t v)
{
	return json_sprintf(fmt, (unsigned long long)v);
}

struct json_object json_begin(void)
{
	struct json_object o = {.json = json_object()};
	o.failed = !o.json;
	return o;
}

void json_put(struct json_object *o, const char *key, json_t *value)
{
	if (o->failed)
		json_decref(value);
	else
		o->failed = json_object_set_new(o->json, key, value) != 0; /* also when value is NULL */
}

json_t *json_done(struct json_object *o)
{
	if (o->failed) {
		json_decref(o->json);
		return NULL;
	}
	return o->json;
}

static int add_chunk(const char *buffer, size_t size, void *out)
{
	str_addn(out, buffer, size);
	return ((struct str *)out)->failed ? -1 : 0;
}

void json_print(struct str *out, json_t *j)
{
	if (!j || json_dump_callback(j, add_chunk, out, FLAGS) != 0)
		out->failed = true;
	json_decref(j);
}

json_t *json_of_device(const struct device_info *d)
{
	struct json_object o = json_begin();
	json_put(&o, "backend", json_of_text(d->backend));
	json_put(&o, "spec", json_of_text(d->spec));
	json_put(&o, "name", json_of_text(d->name));
	json_put(&o, "uuid", json_of_text(d->uuid));
	json_put(&o, "driver", json_of_text(d->driver));
	json_put(&o, "dialect", json_of_text(d->dialect));
	json_put(&o, "target", json_of_text(d->target));
	json_put(&o, "ptx_version", json_integer(d->ptx_version));
	json_put(&o, "cc", json_integer(d->cc));
	json_put(&o, "sm_count", json_integer(d->sm_count));
	json_put(&o, "warp_size", json_integer(d->warp_size));
	json_put(&o, "max_threads_per_block", json_integer(d->max_threads_per_block));
	json_put(&o, "max_threads_per_sm", json_integer(d->max_threads_per_sm));
	json_put(&o, "registers_per_block", json_integer(d->registers_per_block));
	json_put(&o, "shared_per_block", json_of_number((double)d->shared_per_block));
	json_put(&o, "constant_bytes", json_of_number((double)d->constant_bytes));
	json_put(&o, "memory_bytes", json_of_number((double)d->memory_bytes));
	json_put(&o, "clock_hz", d->clock_hz > 0 ? json_of_number(d->clock_hz) : json_null());
	json_put(&o, "has_f64", json_boolean(d->has_f64));
	json_put(&o, "has_f16", json_boolean(d->has_f16));
	json_put(&o, "has_fma", json_boolean(d->has_fma));
	return json_done(&o);
}

static json_t *value(const struct value *v)
{
	if (v->kind == VALUE_NUMBER)
		return json_of_number(v->number);
	if (v->kind == VALUE_TEXT)
		return json_of_text(v->text);
	if (v->kind != VALUE_ARRAY)
		return json_null();
	json_t *a = json_array();
	for (unsigned i = 0; i < v->array_count && i < VALUE_ARRAY_MAX; i++)
		if (json_array_append_new(a, json_of_number(v->array[i])) != 0) {
			json_decref(a);
			return NULL;
		}
	return a;
}

static json_t *rival(const struct finding_rival *r)
{
	struct json_object o = json_begin(), ring = json_begin();
	json_put(&o, "shape", json_of_text(r->shape));
	json_put(&o, "value", json_of_number(r->value));
	json_put(&o, "nats", json_of_number(r->nats));
	json_put(&ring, "experiment", json_of_text(r->experiment));
	json_put(&ring, "point", json_integer(r->point));
	json_put(&ring, "addresses", json_integer(r->addresses));
	json_put(&ring, "bytes", json_of_number(r->bytes));
	json_put(&ring, "step", json_of_number(r->step));
	json_put(&ring, "floor", json_of_number(r->floor));
	json_put(&ring, "visits", json_of_number(r->visits));
	json_put(&ring, "misses", json_of_number(r->misses));
	json_put(&ring, "best_least", json_of_number(r->best_least));
	json_put(&ring, "least", json_of_number(r->least));
	json_put(&o, "ring", json_done(&ring));
	return json_done(&o);
}

json_t *json_of_finding(const struct finding *f)
{
	struct json_object o = json_begin();
	json_t *evidence = json_array();
	json_put(&o, "key", json_of_text(f->key));
	json_put(&o, "verdict", json_of_text(verdict_name(f->verdict)));
	json_put(&o, "value", value(&f->value));
	json_put(&o, "lo", json_of_number(f->lo));
	json_put(&o, "hi", json_of_number(f->hi));
	json_put(&o, "unit", json_of_text(f->unit));
	json_put(&o, "method", json_of_text(f->method));
	json_put(&o, "because", json_of_text(f->because));
	json_put(&o, "scope", json_of_text(f->scope));
	json_put(&o, "probe", json_of_text(f->probe));
	for (unsigned i = 0; i < f->evidence_count && i < FINDING_EVIDENCE; i++)
		if (json_array_append_new(evidence, json_of_text(f->evidence[i])) != 0)
			o.failed = true;
	json_put(&o, "evidence", evidence);
	if (*f->rival.shape)
		json_put(&o, "rival", rival(&f->rival));
	return json_done(&o);
}
