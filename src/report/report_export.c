#include "report/report_export.h"
#include "base/arena.h"
#include "report/json_build.h"
#include "report/render.h"
#include "report/report_overview.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define COUNT_OF(a) (sizeof(a) / sizeof *(a))

static bool a_number(const struct finding *f)
{
	return f && finding_estimated(f) && f->value.kind == VALUE_NUMBER;
}

/* ---- ceilings ---- */

/* scale: from the finding's unit to that of the ceiling, linear, so that it holds for the interval as well. */
static json_t *ceiling(const char *name, const struct finding *f, double scale, const char *unit)
{
	struct json_object o = json_begin();
	json_put(&o, "name", json_of_text(name));
	json_put(&o, "value", json_of_number(f->value.number * scale));
	json_put(&o, "lo", json_of_number(f->lo * scale));
	json_put(&o, "hi", json_of_number(f->hi * scale));
	json_put(&o, "unit", json_of_text(unit));
	json_put(&o, "verdict", json_of_text(verdict_name(f->verdict)));
	json_put(&o, "key", json_of_text(f->key));
	return json_done(&o);
}

static json_t *peaks(const struct run *r)
{
	static const struct {
		const char *class, *name;
	} of[] = {{"mad", "fp32_fma"}, {"sp", "fp32_add"}, {"dp", "fp64_add"}, {"int", "int32"}, {"sf", "special"}};
	json_t *list = json_array();
	for (size_t i = 0; list && i < COUNT_OF(of); i++) {
		const struct finding *f = overview_rate(r, of[i].class);
		if (f && json_array_append_new(list, ceiling(of[i].name, f, 1, "Gop/s")) != 0) {
			json_decref(list);
			return NULL;
		}
	}
	return list;
}

static json_t *bandwidths(const struct run *r)
{
	static const char *const names[] = {"shared", "l1", "l2", "memory"};
	json_t *list = json_array();
	for (unsigned i = 0; list && i < COUNT_OF(names); i++) {
		double scale;
		const struct finding *f = overview_bandwidth(r, i, &scale);
		if (f && json_array_append_new(list, ceiling(names[i], f, scale, "GB/s")) != 0) {
			json_decref(list);
			return NULL;
		}
	}
	return list;
}

int export_ceilings(struct str *out, const struct run *r, struct err *e)
{
	struct json_object o = json_begin();
	json_put(&o, "schema", json_integer(1));
	json_put(&o, "fathom", json_of_text(r->fathom));
	json_put(&o, "concluded", json_of_text(run_concluded(r)));
	json_put(&o, "started", json_of_text(r->started));
	json_put(&o, "device", json_of_device(&r->device));
	json_put(&o, "peaks", peaks(r));
	json_put(&o, "bandwidths", bandwidths(r));
	json_print(out, json_done(&o));
	str_addc(out, '\n');
	return out->failed ? err_nomem(e) : 0;
}

/* ---- latencies ---- */

static void cells(struct str *out, const struct run *r, const char *stem, const char *what)
{
	char key[128];
	snprintf(key, sizeof(key), "%s.%s", stem, what);
	const struct finding *f = findings_get(&r->findings, key);
	const double v[] = {a_number(f) ? f->value.number : NAN, a_number(f) ? f->lo : NAN, a_number(f) ? f->hi : NAN};
	for (size_t i = 0; i < COUNT_OF(v); i++) {
		str_addc(out, '\t');
		if (isfinite(v[i]))
			render_number(out, v[i], 6);
	}
	str_addc(out, '\t');
	if (a_number(f))
		str_add(out, verdict_name(f->verdict));
}

int export_latencies(struct str *out, const struct run *r, struct err *e)
{
	static const char *const what[] = {"latency", "issue", "throughput", "native_ops"};
	const struct finding **sorted = render_sorted(r);
	if (!sorted)
		return err_nomem(e);
	str_add(out, "operation\ttype");
	for (size_t i = 0; i < COUNT_OF(what); i++)
		str_addf(out, "\t%s\t%s_lo\t%s_hi\t%s_verdict", what[i], what[i], what[i], what[i]);
	str_addc(out, '\n');
	for (size_t i = 0; i < r->findings.count; i++) {
		char stem[96], op[48], type[16];
		/* Each operation has a latency among its findings, whatever came out. */
		if (sscanf(sorted[i]->key, "arith.%47[^.].%15[^.].latency", op, type) != 2 ||
		    snprintf(stem, sizeof(stem), "arith.%s.%s", op, type) < 0 ||
		    strcmp(sorted[i]->key + strlen(stem), ".latency") != 0)
			continue;
		render_clean(out, op, true);
		str_addc(out, '\t');
		render_clean(out, type, true);
		for (size_t k = 0; k < COUNT_OF(what); k++)
			cells(out, r, stem, what[k]);
		str_addc(out, '\n');
	}
	mem_free(sorted);
	return out->failed ? err_nomem(e) : 0;
}

/* ---- OpenMetrics ---- */

static void sample(struct str *out, const char *metric, const struct run *r, const struct finding *f, double v)
{
	str_addf(out, "%s{", metric);
	render_label(out, "key", f->key);
	str_addc(out, ',');
	render_label(out, "unit", f->unit);
	str_addc(out, ',');
	render_label(out, "verdict", verdict_name(f->verdict));
	str_addc(out, ',');
	render_label(out, "gpu", r->device.name);
	str_addc(out, ',');
	render_label(out, "uuid", r->device.uuid);
	str_add(out, "} ");
	render_number(out, v, 15);
	str_addc(out, '\n');
}

int export_openmetrics(struct str *out, const struct run *r, struct err *e)
{
	static const struct {
		const char *name, *help;
	} metrics[] = {{"fathom_finding", "Value of a finding, in the unit that its label names."},
		       {"fathom_finding_low", "Least value that the data leave open."},
		       {"fathom_finding_high", "Greatest value that the data leave open."}};
	const struct finding **sorted = render_sorted(r);
	if (!sorted)
		return err_nomem(e);
	for (size_t m = 0; m < COUNT_OF(metrics); m++) {
		str_addf(out, "# TYPE %s gauge\n# HELP %s %s\n", metrics[m].name, metrics[m].name, metrics[m].help);
		for (size_t i = 0; i < r->findings.count; i++) {
			const struct finding *f = sorted[i];
			const double v = m == 0 ? f->value.number : m == 1 ? f->lo : f->hi;
			if (a_number(f) && isfinite(v))
				sample(out, metrics[m].name, r, f, v);
		}
	}
	str_add(
	    out,
	    "# TYPE fathom_run_seconds gauge\n# HELP fathom_run_seconds Time that the run took.\nfathom_run_seconds{");
	render_label(out, "gpu", r->device.name);
	str_addc(out, ',');
	render_label(out, "uuid", r->device.uuid);
	str_add(out, "} ");
	render_number(out, r->seconds, 6);
	str_add(out, "\n# EOF\n");
	mem_free(sorted);
	return out->failed ? err_nomem(e) : 0;
}
