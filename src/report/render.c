#include "report/render.h"
#include "base/arena.h"
#include "base/units.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void render_clean(struct str *out, const char *text, bool ascii)
{
	while (*text) {
		bool shown;
		const size_t n = str_character(text, &shown);
		if (!shown || (ascii && n > 1))
			str_addc(out, '?');
		else
			str_addn(out, text, n);
		text += n;
	}
}

void render_number(struct str *out, double v, int digits)
{
	char text[48];
	if (isnan(v) || isinf(v)) {
		str_add(out, isnan(v) ? "nan" : v < 0 ? "-inf" : "inf");
		return;
	}
	if (v == trunc(v) && fabs(v) < 1e15) {
		str_addf(out, "%.0f", v == 0 ? 0 : v); /* no "-0" */
		return;
	}
	for (int d = 1; d <= digits; d++) {
		snprintf(text, sizeof(text), "%.*g", d, v);
		if (d == digits || strtod(text, NULL) == v)
			break;
	}
	str_add(out, text);
}

size_t render_width(const char *text)
{
	size_t n = 0;
	for (; *text; text++)
		n += ((unsigned char)*text & 0xc0) != 0x80;
	return n;
}

void render_wrap(struct str *out, const char *text, unsigned indent, unsigned width)
{
	size_t at = 0;
	while (*text) {
		size_t n = strcspn(text, " ");
		char word[512];
		snprintf(word, sizeof(word), "%.*s", (int)n, text);
		size_t w = render_width(word);
		if (at && at + 1 + w > width) {
			str_addc(out, '\n');
			at = 0;
		}
		if (at == 0)
			str_addf(out, "%*s", (int)indent, "");
		str_addf(out, "%s%.*s", at ? " " : "", (int)n, text);
		at = at ? at + 1 + w : indent + w;
		text += n;
		text += strspn(text, " ");
	}
	if (at)
		str_addc(out, '\n');
}

void render_label(struct str *out, const char *name, const char *text)
{
	struct str clean;
	str_init(&clean);
	render_clean(&clean, text, false);
	out->failed |= clean.failed;
	str_addf(out, "%s=\"", name);
	for (const char *c = str_text(&clean); *c; c++) {
		if (*c == '\\' || *c == '"')
			str_addc(out, '\\');
		str_addc(out, *c);
	}
	str_addc(out, '"');
	str_free(&clean);
}

static int by_key(const void *a, const void *b)
{
	return strcmp((*(const struct finding *const *)a)->key, (*(const struct finding *const *)b)->key);
}

const struct finding **render_sorted(const struct run *r)
{
	size_t n = r->findings.count;
	const struct finding **list = mem_zero(n + 1, sizeof(*list));
	if (!list)
		return NULL;
	for (size_t i = 0; i < n; i++)
		list[i] = &r->findings.items[i];
	if (n)
		qsort(list, n, sizeof(*list), by_key);
	return list;
}

static bool has_unit(const char *unit)
{
	return *unit && strcmp(unit, "count") != 0 && strcmp(unit, "name") != 0 && strcmp(unit, "yes/no") != 0;
}

static void quantity(struct str *out, double v, const char *unit, bool with_unit)
{
	char text[64];
	if (strcmp(unit, "bytes") == 0 && v >= 0 && v < 0x1p63 && v == trunc(v)) {
		units_bytes(text, sizeof(text), (uint64_t)v);
		str_add(out, text);
		return;
	}
	if (strcmp(unit, "Hz") == 0 && with_unit) {
		str_add(out, units_value(text, sizeof(text), v, unit));
		return;
	}
	/* four figures are enough for people; JSON has the rest */
	if (fabs(v) >= 1000)
		render_number(out, round(v), 15);
	else
		render_number(out, v, 4);
	if (with_unit && has_unit(unit)) {
		str_addc(out, ' ');
		render_clean(out, v == 1 && strcmp(unit, "cycles") == 0 ? "cycle" : unit, true);
	}
}

bool render_asked(const struct finding *f)
{
	return f->verdict != VERDICT_UNSUPPORTED;
}

void render_value(struct str *out, const struct finding *f, bool unit, bool unicode)
{
	bool below = f->verdict == VERDICT_BOUND && !isfinite(f->lo) && isfinite(f->hi);
	bool above = f->verdict == VERDICT_BOUND && isfinite(f->lo) && !isfinite(f->hi);
	if (f->verdict == VERDICT_ABSENT) {
		str_add(out, "none");
	} else if (f->verdict == VERDICT_BOUND && (below || above)) {
		str_add(out, above ? unicode ? "≥ " : ">= " : unicode ? "≤ " : "<= ");
		quantity(out, above ? f->lo : f->hi, f->unit, unit);
	} else if (f->verdict == VERDICT_BOUND && isfinite(f->lo)) {
		quantity(out, f->lo, f->unit, false);
		str_add(out, " .. ");
		quantity(out, f->hi, f->unit, unit);
	} else if (!finding_answered(f)) {
		str_add(out, "?");
	} else if (f->value.kind == VALUE_NUMBER) {
		str_add(out, f->verdict == VERDICT_LIKELY ? "~" : "");
		quantity(out, f->value.number, f->unit, unit);
	} else if (f->value.kind == VALUE_TEXT) {
		str_add(out, f->verdict == VERDICT_LIKELY ? "~" : "");
		render_clean(out, f->value.text, !unicode);
	} else if (f->value.kind == VALUE_ARRAY) {
		str_add(out, f->verdict == VERDICT_LIKELY ? "~" : "");
		for (unsigned i = 0; i < f->value.array_count && i < VALUE_ARRAY_MAX; i++) {
			str_add(out, i ? ", " : "");
			quantity(out, f->value.array[i], f->unit, unit && i + 1 == f->value.array_count);
		}
	}
}

void render_interval(struct str *out, const struct finding *f, bool scope, bool unicode)
{
	if (!finding_estimated(f) || f->value.kind != VALUE_NUMBER || !isfinite(f->lo) || !isfinite(f->hi) ||
	    f->lo == f->hi)
		return;
	double below = f->value.number - f->lo, above = f->hi - f->value.number;
	if (below < 0 || above < 0 || strcmp(f->unit, "bytes") == 0) {
		quantity(out, f->lo, f->unit, false);
		str_add(out, " .. ");
		quantity(out, f->hi, f->unit, false);
	} else if (fabs(below - above) <= 1e-9 * fabs(f->value.number)) {
		str_add(out, unicode ? "± " : "+- ");
		render_number(out, above, 3);
	} else {
		str_add(out, unicode ? "−" : "-");
		render_number(out, below, 3);
		str_add(out, " +");
		render_number(out, above, 3);
	}
	if (scope && *f->scope) {
		str_add(out, " (");
		render_clean(out, f->scope, true);
		str_addc(out, ')');
	}
}
