/* One line a finding, for spreadsheets. Quoted as RFC 4180 says; lines end in a plain newline. A text that a spreadsheet would run as a
 * formula follows an apostrophe, which makes it text. */
#include "base/arena.h"
#include "report/render.h"
#include <math.h>
#include <string.h>

static void cell(struct str *out, const char *text)
{
	struct str clean;
	str_init(&clean);
	render_clean(&clean, text, false);
	out->failed |= clean.failed;
	const char *s = str_text(&clean);
	const char *formula = strchr("=+-@", s[strspn(s, " ")]) && s[strspn(s, " ")] ? "'" : "";
	if (strpbrk(s, ",\"") || *s == ' ' || (*s && str_ends(s, " "))) {
		str_addf(out, "\"%s", formula);
		for (; *s; s++) {
			if (*s == '"')
				str_addc(out, '"');
			str_addc(out, *s);
		}
		str_addc(out, '"');
	} else {
		str_addf(out, "%s%s", formula, s);
	}
	str_free(&clean);
}

/* Empty where there is no number. */
static void number(struct str *out, double v)
{
	if (isfinite(v))
		render_number(out, v, 15);
}

static void value(struct str *out, const struct value *v)
{
	if (v->kind == VALUE_NUMBER)
		number(out, v->number);
	else if (v->kind == VALUE_TEXT)
		cell(out, v->text);
	for (unsigned i = 0; v->kind == VALUE_ARRAY && i < v->array_count && i < VALUE_ARRAY_MAX; i++) {
		str_add(out, i ? " " : "");
		number(out, v->array[i]);
	}
}

int report_csv(struct str *out, const struct run *r, struct err *e)
{
	const struct finding **sorted = render_sorted(r);
	if (!sorted)
		return err_nomem(e);
	str_add(out, "key,verdict,value,lo,hi,unit,method,because,scope,probe,evidence\n");
	for (size_t i = 0; i < r->findings.count; i++) {
		const struct finding *f = sorted[i];
		const char *const words[] = {f->unit, f->method, f->because, f->scope, f->probe};
		cell(out, f->key);
		str_addf(out, ",%s,", verdict_name(f->verdict));
		value(out, &f->value);
		str_addc(out, ',');
		number(out, f->lo);
		str_addc(out, ',');
		number(out, f->hi);
		for (size_t k = 0; k < sizeof words / sizeof *words; k++) {
			str_addc(out, ',');
			cell(out, words[k]);
		}
		str_addc(out, ',');
		char evidence[FINDING_EVIDENCE * (sizeof(f->evidence[0]) + 1)] = "";
		for (unsigned k = 0; k < f->evidence_count && k < FINDING_EVIDENCE; k++) {
			strcat(evidence, k ? " " : "");
			strcat(evidence, f->evidence[k]);
		}
		cell(out, evidence);
		str_addc(out, '\n');
	}
	mem_free(sorted);
	return out->failed ? err_nomem(e) : 0;
}
