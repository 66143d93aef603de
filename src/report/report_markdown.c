/* The run as a page of doc/results: every finding with its interval, method and reason. */
#include "base/arena.h"
#include "base/units.h"
#include "report/render.h"
#include <stdio.h>
#include <string.h>

/* Safe inside a table's cell. */
static void cell(struct str *out, const char *text)
{
	struct str clean;
	str_init(&clean);
	render_clean(&clean, text, false);
	out->failed |= clean.failed;
	for (const char *s = str_text(&clean); *s; s++) {
		if (strchr("|\\`*_<>[]", *s))
			str_addc(out, '\\');
		str_addc(out, *s);
	}
	str_free(&clean);
}

static void row(struct str *out, const struct finding *f)
{
	struct str s;
	str_init(&s);
	str_add(out, "| `");
	render_clean(out, f->key, true);
	str_add(out, "` | ");
	render_value(&s, f, true, true);
	cell(out, strcmp(str_text(&s), "?") == 0 ? "" : str_text(&s));
	str_add(out, " | ");
	out->failed |= s.failed;
	str_clear(&s);
	render_interval(&s, f, false, true);
	cell(out, str_text(&s));
	str_addf(out, " | %s | ", verdict_name(f->verdict));
	cell(out, f->scope);
	str_add(out, " | ");
	cell(out, f->verdict == VERDICT_MEASURED || !*f->because ? f->method : f->because);
	str_add(out, " |\n");
	out->failed |= s.failed;
	str_free(&s);
}

static bool same_family(const struct finding *a, const struct finding *b)
{
	size_t n = strcspn(a->key, ".");
	return strncmp(a->key, b->key, n) == 0 && b->key[n] == a->key[n];
}

int report_markdown(struct str *out, const struct run *r, struct err *e)
{
	const struct finding **sorted = render_sorted(r);
	const struct device_info *d = &r->device;
	char text[64], foreign[RUN_FOREIGN];
	if (!sorted)
		return err_nomem(e);
	str_add(out, "# ");
	cell(out, d->name);
	str_add(out, "\n\n| | |\n|---|---|\n| device | `");
	render_clean(out, d->spec, true);
	str_add(out, "`, ");
	cell(out, d->uuid);
	str_add(out, " |\n| driver | ");
	cell(out, d->driver);
	str_addf(out, " |\n| SMs | %u, warps of %u", d->sm_count, d->warp_size);
	if (d->clock_hz > 0)
		str_addf(out, ", %s", units_value(text, sizeof(text), d->clock_hz, "Hz"));
	str_add(out, ", ");
	cell(out, d->target);
	str_add(out, " |\n| measured | ");
	cell(out, r->started);
	str_add(out, " by fathom ");
	cell(out, r->fathom);
	if (*run_foreign(r, foreign)) {
		str_add(out, ", ");
		cell(out, foreign);
	}
	str_addf(out, ", seed %llu, in ", (unsigned long long)r->seed);
	render_number(out, r->seconds, 3);
	str_add(out, " s |\n");
	for (size_t i = 0; i < r->findings.count; i++) {
		if (i == 0 || !same_family(sorted[i - 1], sorted[i])) {
			str_add(out, "\n## ");
			char name[sizeof(sorted[i]->key)];
			snprintf(name, sizeof(name), "%.*s", (int)strcspn(sorted[i]->key, "."), sorted[i]->key);
			cell(out, name);
			str_add(out, "\n\n| finding | value | interval | verdict | scope | method, or reason |\n"
				     "|---|---:|---|---|---|---|\n");
		}
		row(out, sorted[i]);
	}
	mem_free(sorted);
	return out->failed ? err_nomem(e) : 0;
}
