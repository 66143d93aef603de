/* The contract for programs. Objects are built and printed one at a time, so that a run of millions of words needs no
 * tree of them. */
#include "report/render.h"
#include <errno.h>
#include <jansson.h>
#include <math.h>

#define EXACT 9007199254740992.0 /* integers up to here are exact in a double */
/* 15 digits: 0.1 stays 0.1 */
#define FLAGS (JSON_COMPACT | JSON_REAL_PRECISION(15) | JSON_ENCODE_ANY)

static json_t *number(double v)
{
	if (!isfinite(v))
		return json_null();
	return v == trunc(v) && fabs(v) < EXACT ? json_integer((json_int_t)v) : json_real(v);
}

/* Negative means that it could not be had. */
static json_t *known(double v)
{
	return v < 0 ? json_null() : number(v);
}

static json_t *text(const char *s)
{
	struct str clean;
	str_init(&clean);
	render_clean(&clean, s ? s : "", false);
	json_t *j = clean.failed ? NULL : json_stringn(str_text(&clean), clean.len);
	str_free(&clean);
	return j;
}

/* All 64 bits: a number would lose some of them in most readers. */
static json_t *wide(const char *fmt, uint64_t v)
{
	return json_sprintf(fmt, (unsigned long long)v);
}

/* An object under construction; one failure is remembered. */
struct object {
	json_t *json;
	bool failed;
};

static struct object object(void)
{
	struct object o = {.json = json_object()};
	o.failed = !o.json;
	return o;
}

static void set(struct object *o, const char *key, json_t *value)
{
	if (o->failed)
		json_decref(value);
	else
		o->failed = json_object_set_new(o->json, key, value) != 0; /* also when value is NULL */
}

static json_t *done(struct object *o)
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

/* Prints and frees. NULL stands for memory that was not there. */
static void print(struct str *out, json_t *j)
{
	if (!j || json_dump_callback(j, add_chunk, out, FLAGS) != 0)
		out->failed = true;
	json_decref(j);
}

static json_t *device(const struct device_info *d)
{
	struct object o = object();
	set(&o, "backend", text(d->backend));
	set(&o, "spec", text(d->spec));
	set(&o, "name", text(d->name));
	set(&o, "uuid", text(d->uuid));
	set(&o, "driver", text(d->driver));
	set(&o, "dialect", text(d->dialect));
	set(&o, "target", text(d->target));
	set(&o, "ptx_version", json_integer(d->ptx_version));
	set(&o, "cc", json_integer(d->cc));
	set(&o, "sm_count", json_integer(d->sm_count));
	set(&o, "warp_size", json_integer(d->warp_size));
	set(&o, "max_threads_per_block", json_integer(d->max_threads_per_block));
	set(&o, "max_threads_per_sm", json_integer(d->max_threads_per_sm));
	set(&o, "registers_per_block", json_integer(d->registers_per_block));
	set(&o, "shared_per_block", number((double)d->shared_per_block));
	set(&o, "constant_bytes", number((double)d->constant_bytes));
	set(&o, "memory_bytes", number((double)d->memory_bytes));
	set(&o, "clock_hz", d->clock_hz > 0 ? number(d->clock_hz) : json_null());
	set(&o, "has_f64", json_boolean(d->has_f64));
	set(&o, "has_f16", json_boolean(d->has_f16));
	set(&o, "has_fma", json_boolean(d->has_fma));
	return done(&o);
}

static json_t *run(const struct run *r)
{
	struct object o = object();
	json_t *probes = json_array();
	set(&o, "started", text(r->started));
	set(&o, "seed", wide("%llu", r->seed));
	set(&o, "seconds", known(r->seconds));
	for (size_t i = 0; i < r->probe_count; i++) {
		const struct probe_record *p = &r->probes[i];
		struct object q = object();
		set(&q, "name", text(p->name));
		set(&q, "state", text(probe_state_name(p->state)));
		set(&q, "seconds", known(p->seconds));
		set(&q, "message", text(p->message));
		if (json_array_append_new(probes, done(&q)) != 0)
			o.failed = true;
	}
	set(&o, "probes", probes);
	return done(&o);
}

static json_t *value(const struct value *v)
{
	if (v->kind == VALUE_NUMBER)
		return number(v->number);
	if (v->kind == VALUE_TEXT)
		return text(v->text);
	if (v->kind != VALUE_ARRAY)
		return json_null();
	json_t *a = json_array();
	for (unsigned i = 0; i < v->array_count && i < VALUE_ARRAY_MAX; i++)
		if (json_array_append_new(a, number(v->array[i])) != 0) {
			json_decref(a);
			return NULL;
		}
	return a;
}

static json_t *finding(const struct finding *f)
{
	struct object o = object();
	json_t *evidence = json_array();
	set(&o, "key", text(f->key));
	set(&o, "verdict", text(verdict_name(f->verdict)));
	set(&o, "value", value(&f->value));
	set(&o, "lo", number(f->lo));
	set(&o, "hi", number(f->hi));
	set(&o, "unit", text(f->unit));
	set(&o, "method", text(f->method));
	set(&o, "because", text(f->because));
	set(&o, "scope", text(f->scope));
	set(&o, "probe", text(f->probe));
	for (unsigned i = 0; i < f->evidence_count && i < FINDING_EVIDENCE; i++)
		if (json_array_append_new(evidence, text(f->evidence[i])) != 0)
			o.failed = true;
	set(&o, "evidence", evidence);
	return done(&o);
}

static json_t *condition(const struct condition *c)
{
	struct object o = object();
	set(&o, "sm_clock_mhz", known(c->sm_clock_mhz));
	set(&o, "memory_clock_mhz", known(c->memory_clock_mhz));
	set(&o, "temperature_c", known(c->temperature_c));
	set(&o, "power_w", known(c->power_w));
	set(&o, "throttle", c->throttle < 0 ? json_null() : json_integer(c->throttle));
	return done(&o);
}

static json_t *native(const struct native_info *n)
{
	struct object o = object();
	json_t *regions = json_array();
	set(&o, "fingerprint", wide("%016llx", n->fingerprint));
	set(&o, "instructions", json_integer(n->instructions));
	set(&o, "registers", json_integer(n->registers));
	set(&o, "clock_reads", json_integer(n->clock_reads));
	set(&o, "source", text(n->source));
	set(&o, "problem", text(n->problem));
	for (uint32_t i = 0; i < n->region_count && i < NATIVE_REGIONS; i++) {
		const struct native_region *g = &n->region[i];
		struct object q = object(), counts = object();
		for (int c = 0; c < NATIVE_CLASSES; c++)
			if (g->count[c])
				set(&counts, native_class_name((enum native_class)c), json_integer(g->count[c]));
		set(&q, "total", json_integer(g->total));
		set(&q, "count", done(&counts));
		set(&q, "top", json_integer(g->top_count));
		set(&q, "mix", text(g->mix));
		if (json_array_append_new(regions, done(&q)) != 0)
			o.failed = true;
	}
	set(&o, "regions", regions);
	return done(&o);
}

static void point(struct str *out, const struct series *s, const struct point *p)
{
	struct object o = object(), coordinates = object();
	for (unsigned i = 0; i < POINT_PARAMS; i++) {
		json_t *name = s->params[i] ? text(s->params[i]) : NULL;
		if (name)
			set(&coordinates, json_string_value(name), number(p->p[i]));
		else if (s->params[i])
			o.failed = true;
		json_decref(name);
	}
	set(&o, "x", number(p->x));
	set(&o, "p", done(&coordinates));
	set(&o, "outcome", text(outcome_name(p->outcome)));
	set(&o, "repeats", json_integer(p->repeats));
	set(&o, "n", json_integer(p->words_per_repeat));
	set(&o, "elapsed_ms", known(p->elapsed_ms));
	set(&o, "native", p->native < s->native_count ? json_integer(p->native) : json_null());
	if (*p->message)
		set(&o, "message", text(p->message));
	print(out, done(&o));
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

static void series(struct str *out, const struct series *s)
{
	struct object o = object();
	set(&o, "probe", text(s->probe));
	set(&o, "experiment", text(s->experiment));
	set(&o, "axis", text(s->axis));
	set(&o, "unit", text(s->unit));
	set(&o, "seed", wide("%llu", s->seed));
	set(&o, "before", condition(&s->before));
	set(&o, "after", condition(&s->after));
	print(out, done(&o));
	if (out->failed)
		return;
	out->data[--out->len] = '\0';
	str_add(out, ",\"points\":[");
	for (size_t i = 0; i < s->count && !out->failed; i++) {
		str_add(out, i ? ",\n" : "\n");
		point(out, s, &s->points[i]);
	}
	str_add(out, "],\"native\":{\"kernels\":[");
	for (size_t i = 0; i < s->native_count && !out->failed; i++) {
		str_add(out, i ? ",\n" : "\n");
		print(out, native(&s->native[i]));
	}
	str_add(out, "]}}");
}

int report_json(struct str *out, const struct run *r, struct err *e)
{
	const struct finding **sorted = render_sorted(r);
	if (!sorted)
		return err_nomem(e);
	str_add(out, "{\"schema\":1,\"fathom\":");
	print(out, text(r->fathom));
	str_add(out, ",\n\"device\":");
	print(out, device(&r->device));
	str_add(out, ",\n\"run\":");
	print(out, run(r));
	str_add(out, ",\n\"findings\":[");
	for (size_t i = 0; i < r->findings.count && !out->failed; i++) {
		str_add(out, i ? ",\n" : "\n");
		print(out, finding(sorted[i]));
	}
	str_add(out, "],\n\"series\":[");
	for (size_t i = 0; i < r->series_count && !out->failed; i++) {
		str_add(out, i ? ",\n" : "\n");
		series(out, &r->series[i]);
	}
	str_add(out, "]}\n");
	mem_free(sorted);
	return out->failed ? err_nomem(e) : 0;
}
