/* What a description says of values, flipped line by line: the finding flips with it. And the GeForce 8800's special functions as published. */
#include "base/arena.h"
#include "base/embed.h"
#include "known.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* The built-in GPU with lines added, measured by one probe. */
static void measure(struct run *r, struct arena *a, const char *gpu, const char *lines, const char *probe)
{
	char path[64];
	struct str text;
	struct err e = {0};
	struct sim_spec *s;
	snprintf(path, sizeof path, "gpus/%s.gpu", gpu);
	const struct embedded *m = embed_find(path);
	assert_non_null(m);
	str_init(&text);
	str_addf(&text, "%.*s\n%s", (int)m->size, (const char *)m->data, lines);
	if (spec_parse(&s, a, path, str_text(&text), text.len, &e) || known_measure_probe(r, s, 1, probe, &e))
		fail_msg("%s", e.text);
	str_free(&text);
}

static void says(const struct run *r, const char *key, const char *text)
{
	const struct finding *f = findings_get(&r->findings, key);
	if (!f || f->verdict != VERDICT_MEASURED || strcmp(f->value.text, text) != 0)
		fail_msg("%s is not MEASURED %s but %s %s", key, text, f ? verdict_name(f->verdict) : "silent",
			 f ? f->value.text : "");
}

static void a_flag_flips_its_finding(void **state)
{
	static const struct {
		const char *gpu, *lines, *fused, *mad, *denormals;
	} cases[] = {
	    {"g8800gtx", "", "no", "truncated", "no"},
	    {"gtx280", "", "no", "truncated", "no"},
	    {"h200", "", "yes", "nearest", "yes"},
	    {"g8800gtx", "float.denormals = yes yes/no # flipped\n", "no", "truncated", "yes"},
	    {"g8800gtx", "float.mad.fused = yes yes/no # flipped\n", "yes", "nearest", "no"},
	    {"gtx280", "float.mad.rounding = nearest name # flipped\n", "no", "nearest", "no"},
	    {"h200", "float.denormals = no yes/no # flipped\n", "yes", "nearest", "no"},
	    {"h200", "float.mad.fused = no yes/no # flipped\n", "no", "truncated", "yes"},
	};
	(void)state;
	for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
		struct arena a;
		struct run r;
		arena_init(&a);
		measure(&r, &a, cases[k].gpu, cases[k].lines, "float");
		says(&r, "float.mad.fused", cases[k].fused);
		says(&r, "float.mad.rounding", cases[k].mad);
		says(&r, "float.denormals", cases[k].denormals);
		says(&r, "float.add.rounding", "nearest");
		says(&r, "float.specials", "yes");
		run_free(&r);
		arena_free(&a);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_flag_flips_its_finding),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
