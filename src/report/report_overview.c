/* The memory ladder, the roofline and all operations, from the figures and findings of all probes. */
#include "report/report_overview.h"
#include "report/render.h"
#include "report/report_screen.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT_OF(a) (sizeof(a) / sizeof *(a))

bool overview_number(const struct run *r, const char *key, double *value)
{
	const struct finding *f = findings_get(&r->findings, key);
	if (!f || !finding_estimated(f) || f->value.kind != VALUE_NUMBER)
		return false;
	*value = f->value.number;
	return true;
}

const struct finding *overview_rate(const struct run *r, const char *class)
{
	const struct finding *best = NULL;
	for (unsigned ilp = 1; ilp <= 4; ilp *= 2) {
		char key[96];
		double v;
		snprintf(key, sizeof(key), "pipeline.%s.ilp%u.performance", class, ilp);
		if (overview_number(r, key, &v) && (!best || v > best->value.number))
			best = findings_get(&r->findings, key);
	}
	return best;
}

/* Three digits, and whole above. */
static double rounded(double v)
{
	if (!isfinite(v) || v == 0)
		return v;
	const double step = pow(10, fmin(floor(log10(fabs(v))) - 2, 0));
	return round(v / step) * step;
}

void overview_value(struct str *out, const struct finding *f)
{
	struct finding short_one = *f;
	const bool number = f->value.kind == VALUE_NUMBER && finding_estimated(f),
		   half = f->verdict == VERDICT_BOUND && isfinite(f->lo) != isfinite(f->hi);
	if (strcmp(f->unit, "bytes") == 0 && (number || half)) {
		str_add(out, number ? f->verdict == VERDICT_LIKELY ? "~" : "" : isfinite(f->lo) ? "≥ " : "≤ ");
		screen_bytes(out, number ? f->value.number : isfinite(f->lo) ? f->lo : f->hi);
	} else if (strcmp(f->unit, "GB/s") == 0 && number) {
		str_add(out, f->verdict == VERDICT_LIKELY ? "~" : "");
		screen_si(out, f->value.number * 1e9, "B/s");
	} else {
		if (number)
			short_one.value.number = rounded(f->value.number);
		short_one.lo = rounded(f->lo);
		short_one.hi = rounded(f->hi);
		render_value(out, &short_one, true, true);
	}
}

const struct finding *overview_bandwidth(const struct run *r, unsigned level, double *scale)
{
	/* Keys in the order of preference, and what their unit counts: GB/s of all, or bytes a clock of one SM or of all. */
	static const struct {
		unsigned level;
		const char *key;
		enum { GBS, CLOCK, CLOCK_SM } unit;
	} from[] = {{0, "memory.shared.4.bandwidth", GBS},	{0, "shared.bandwidth", CLOCK_SM},
		    {1, "cache.global.l1.bandwidth", CLOCK_SM}, {2, "cache.global.l2.bandwidth_total", CLOCK},
		    {3, "memory.global.bandwidth", CLOCK},	{3, "memory.global.16.bandwidth", GBS},
		    {3, "memory.global.4.bandwidth", GBS}};
	double hz = r->device.clock_hz, v;
	overview_number(r, "device.clock_hz", &hz);
	for (size_t i = 0; i < COUNT_OF(from); i++) {
		if (from[i].level != level || !overview_number(r, from[i].key, &v) || !(v > 0) ||
		    (from[i].unit != GBS && !(hz > 0)))
			continue;
		*scale = (from[i].unit == GBS ? 1 : hz * 1e-9) * (from[i].unit == CLOCK_SM ? r->device.sm_count : 1);
		return findings_get(&r->findings, from[i].key);
	}
	return NULL;
}

static void sign(struct figure *f, const struct run *r)
{
	snprintf(f->origin, sizeof(f->origin), "%s, %.10s, fathom %s", r->device.name, r->started, r->fathom);
}

/* ---- the ladder ---- */

static void name_level(struct figure *f, const struct run *r, const char *path, unsigned level)
{
	char key[96], text[96];
	const struct finding *size, *latency;
	struct str s;
	snprintf(key, sizeof(key), "cache.%s.l%u.size", path, level);
	size = findings_get(&r->findings, key);
	snprintf(key, sizeof(key), "cache.%s.l%u.latency", path, level);
	latency = findings_get(&r->findings, key);
	if (!size || !finding_estimated(size) || f->notes_count == FIGURE_NOTES)
		return;
	snprintf(key, sizeof(key), "cache.%s.l%u.shared_with", path, level);
	const struct finding *same = findings_get(&r->findings, key);
	if (same && finding_estimated(same) && strncmp(same->value.text, "global.", 7) == 0)
		return; /* the same cache, which is named already */
	str_init(&s);
	str_addf(&s, "%s%sL%u ", strcmp(path, "global") ? path : "", strcmp(path, "global") ? " " : "", level);
	overview_value(&s, size);
	if (latency && finding_estimated(latency)) {
		str_add(&s, ", ");
		overview_value(&s, latency);
	}
	snprintf(text, sizeof(text), "%s", str_text(&s));
	str_free(&s);
	figure_note(f, true, size->value.number, text);
}

/* Each level of global memory at its latency, as far as it reaches, and memory behind the last: the ladder as it was found. */
static int steps(struct figure *f, const struct run *r)
{
	enum { MOST = 4 };
	double x[2 * MOST + 2], y[2 * MOST + 2], from = 64, size, latency;
	size_t n = 0;
	for (unsigned level = 1; level <= MOST; level++) {
		char key[96];
		snprintf(key, sizeof(key), "cache.global.l%u.size", level);
		const bool sized = overview_number(r, key, &size) && size > from;
		snprintf(key, sizeof(key), "cache.global.l%u.latency", level);
		if (!sized || !overview_number(r, key, &latency))
			continue;
		x[n] = from;
		x[n + 1] = from = size;
		y[n] = y[n + 1] = latency;
		n += 2;
	}
	if (overview_number(r, "memory.global.latency", &latency) && (double)r->device.memory_bytes > from) {
		x[n] = from;
		x[n + 1] = (double)r->device.memory_bytes;
		y[n] = y[n + 1] = latency;
		n += 2;
	}
	return n > 2 ? figure_add(f, "levels as found", MARK_LINE, x, y, NULL, n) : 0;
}

static int ladder(struct figure_list *l, const struct run *r)
{
	static const struct {
		const char *figure, *label;
	} from[] = {{"shared-latency", "shared memory"},       {"constant-latency", "constants"},
		    {"texture-latency", "textures"},	       {"global-latency", "global memory"},
		    {"global-latency-past-l1", "past the L1"}, {"walk-sizes", "random walk"}};
	static const char *const paths[] = {"global", "texture", "constant"};
	struct figure *f = figures_new(l, "memory-ladder", "Every memory: latency of a load against footprint");
	if (!f)
		return -ENOMEM;
	f->x = (struct figure_axis){.label = "footprint", .unit = "bytes", .log2 = true};
	f->y = (struct figure_axis){.label = "latency", .unit = "cycles", .log2 = true};
	for (size_t i = 0; i < COUNT_OF(from); i++) {
		const struct figure *g = figures_get(l, from[i].figure);
		if (!g || g->clock_within || !g->marks_count || strcmp(g->y.unit, "cycles") != 0)
			continue;
		const struct figure_marks *m = &g->marks[0];
		if (figure_add(f, from[i].label, MARK_LINE, m->x, m->y, NULL, m->count))
			return -ENOMEM;
	}
	if (f->marks_count && steps(f, r))
		return -ENOMEM;
	for (size_t p = 0; p < COUNT_OF(paths); p++)
		for (unsigned level = 1; level <= 4; level++)
			name_level(f, r, paths[p], level);
	double memory;
	if (overview_number(r, "memory.global.latency", &memory) && f->notes_count < FIGURE_NOTES) {
		char text[64];
		snprintf(text, sizeof(text), "memory %.3g cycles", memory);
		figure_note(f, false, memory, text);
	}
	figure_key(f, "cache.*.size");
	figure_key(f, "cache.*.latency");
	figure_key(f, "memory.*.latency");
	sign(f, r);
	if (!figure_says(f))
		figures_drop(l, l->count - 1);
	return 0;
}

/* ---- the roofline ---- */

enum { INTENSITY_LEAST = -5, INTENSITY_MOST = 10, STEPS = 4 * (INTENSITY_MOST - INTENSITY_LEAST) + 1 };

static int roofline(struct figure_list *l, const struct run *r)
{
	static const char *const names[] = {"shared memory", "L1", "L2", "memory"};
	const struct finding *single = overview_rate(r, "mad"), *twice = overview_rate(r, "dp");
	if (!single)
		return 0;
	struct figure *f = figures_new(l, "roofline", "Roofline: what a kernel can reach, a roof for each level");
	if (!f)
		return -ENOMEM;
	f->x = (struct figure_axis){.label = "operations for each byte", .log2 = true};
	const bool tera = single->value.number >= 4096;
	const double unit = tera ? 1e-3 : 1; /* of Gop/s */
	f->y = (struct figure_axis){.label = "performance", .log2 = true};
	snprintf(f->y.unit, sizeof(f->y.unit), "%s", tera ? "Top/s" : "Gop/s");
	for (unsigned level = 0; level < COUNT_OF(names); level++) {
		double x[STEPS], y[STEPS], scale;
		char label[96];
		const struct finding *bandwidth = overview_bandwidth(r, level, &scale);
		if (!bandwidth)
			continue;
		const double gbs = bandwidth->value.number * scale;
		for (unsigned i = 0; i < STEPS; i++) {
			x[i] = exp2(INTENSITY_LEAST + i / 4.0);
			y[i] = unit * fmin(gbs * x[i], single->value.number);
		}
		snprintf(label, sizeof(label), "%s %.3g %s", names[level], gbs < 1000 ? gbs : gbs / 1000,
			 gbs < 1000 ? "GB/s" : "TB/s");
		if (figure_add(f, label, MARK_LINE, x, y, NULL, STEPS))
			return -ENOMEM;
		figure_key(f, bandwidth->key);
	}
	figure_note(f, false, unit * single->value.number, "FP32, multiply and add");
	figure_key(f, single->key);
	if (twice) {
		figure_note(f, false, unit * twice->value.number, "FP64, additions");
		figure_key(f, twice->key);
	}
	sign(f, r);
	if (!figure_says(f))
		figures_drop(l, l->count - 1);
	return 0;
}

/* ---- all operations ---- */

struct operation {
	char name[FIGURE_ROW];
	double latency, throughput; /* NAN: not known */
};

static int by_latency(const void *a, const void *b)
{
	const struct operation *p = a, *q = b;
	const double x = isnan(p->latency) ? INFINITY : p->latency, y = isnan(q->latency) ? INFINITY : q->latency;
	return x < y ? -1 : x > y ? 1 : strcmp(p->name, q->name);
}

/* Those of arith.* of which either is known, the fastest first. Returns how many. */
static unsigned operations(const struct run *r, struct operation *op, unsigned most)
{
	static const char begin[] = "arith.", end[] = ".latency";
	const size_t skip = sizeof(begin) - 1, tail = sizeof(end) - 1;
	unsigned n = 0;
	for (size_t i = 0; i < r->findings.count && n < most; i++) {
		const char *key = r->findings.items[i].key;
		const size_t len = strlen(key);
		if (strncmp(key, begin, skip) != 0 || len < skip + tail || strcmp(key + len - tail, end) != 0)
			continue;
		struct operation *o = &op[n];
		char other[128];
		const int size = (int)(len - tail);
		*o = (struct operation){.latency = NAN, .throughput = NAN};
		snprintf(o->name, sizeof(o->name), "%.*s", size - (int)skip, key + skip);
		overview_number(r, key, &o->latency);
		snprintf(other, sizeof(other), "%.*s.throughput", size, key);
		overview_number(r, other, &o->throughput);
		n += !isnan(o->latency) || !isnan(o->throughput);
	}
	qsort(op, n, sizeof(*op), by_latency);
	return n;
}

static int dots(struct figure_list *l, const struct run *r)
{
	struct operation op[FIGURE_ROWS];
	double latency[FIGURE_ROWS], throughput[FIGURE_ROWS], row[FIGURE_ROWS];
	const unsigned n = operations(r, op, FIGURE_ROWS);
	if (n < 2)
		return 0;
	struct figure *f = figures_new(l, "operations", "Every operation: latency and throughput");
	if (!f)
		return -ENOMEM;
	f->x = (struct figure_axis){.label = "cycles; results a clock on one SM", .log2 = true};
	for (unsigned i = 0; i < n; i++) {
		latency[i] = op[i].latency;
		throughput[i] = op[i].throughput;
		row[i] = i;
		if (figure_row(f, op[i].name))
			return -ENOMEM;
	}
	if (figure_add(f, "latency, cycles", MARK_POINTS, latency, row, NULL, n) ||
	    figure_add(f, "throughput, results a clock on one SM", MARK_POINTS, throughput, row, NULL, n))
		return -ENOMEM;
	figure_key(f, "arith.*.latency");
	figure_key(f, "arith.*.throughput");
	sign(f, r);
	return 0;
}

int report_overview(struct figure_list *l, const struct run *r)
{
	int rc = ladder(l, r);
	rc = rc ? rc : roofline(l, r);
	return rc ? rc : dots(l, r);
}
