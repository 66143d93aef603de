/* The format of papers/, and that each shipped paper speaks of keys, units and GPUs that exist. */
#include "base/embed.h"
#include "base/str.h"
#include "data/keys.h"
#include "data/paper.h"
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define HEAD "title = T\nauthors = A\npublished = P\ndevice = D\ngpu = toy\n"

static struct paper *parse(struct arena *a, const char *text)
{
	struct err e = {0};
	struct paper *p = NULL;
	arena_init(a);
	if (paper_parse(&p, a, "x.paper", text, strlen(text), &e))
		fail_msg("%s", e.text);
	return p;
}

static void expect_range(const char *value, const char *unit, double lo, double hi)
{
	char text[256];
	struct arena a;
	snprintf(text, sizeof text, HEAD "Table I | a row | - | %s | %s | a note\n", value, unit);
	const struct paper *p = parse(&a, text);
	assert_int_equal(p->count, 1);
	if (fabs(p->rows[0].lo - lo) > 1e-9 * (1 + lo) || fabs(p->rows[0].hi - hi) > 1e-9 * (1 + hi))
		fail_msg("%s %s is %.10g to %.10g", value, unit, p->rows[0].lo, p->rows[0].hi);
	arena_free(&a);
}

static void digits_are_the_precision(void **state)
{
	(void)state;
	expect_range("7.9", "ops/clk/SM", 7.85, 7.95);
	expect_range("0.063", "ops/clk/SM", 0.0625, 0.0635);
	expect_range("0.20", "ops/clk/SM", 0.195, 0.205);
	expect_range("120", "cycles", 119.5, 120.5);
	expect_range("436-443", "cycles", 435.5, 443.5);
	expect_range("4", "count", 4, 4);
	expect_range("2", "KB", 2048, 2048);
	expect_range("1.35", "GHz", 1.345e9, 1.355e9);
}

static void expect_error(const char *text, const char *words)
{
	struct arena a;
	struct err e = {0};
	struct paper *p;
	arena_init(&a);
	assert_int_equal(paper_parse(&p, &a, "x.paper", text, strlen(text), &e), -EINVAL);
	if (!strstr(e.text, words))
		fail_msg("expected '%s', got '%s'", words, e.text);
	arena_free(&a);
}

static void mistakes_name_their_line(void **state)
{
	(void)state;
	expect_error("title = T\n", "the head needs");
	expect_error(HEAD "gpu = toy\n", "x.paper:6: 'gpu' was already given");
	expect_error(HEAD "colour = red\n", "x.paper:6: 'colour' is neither");
	expect_error(HEAD "nonsense\n", "x.paper:6: 'nonsense' is neither");
	expect_error(HEAD "\nTable I | row | key | 1\n", "x.paper:7: a row is");
	expect_error(HEAD "Table I | row | key | 1 | cycles | note | more\n", "x.paper:6: more than 6 cells");
	expect_error(HEAD "Table I | row | key | one | cycles\n", "x.paper:6: 'one' is neither a number nor a range");
	expect_error(HEAD "Table I | row | key | 5-3 | cycles\n", "neither a number nor a range");
	expect_error(HEAD "Table I | row | key | 5- | cycles\n", "neither a number nor a range");
	expect_error(HEAD "Table I | row | key | 5 | hours\n", "the unit 'hours' is unknown");
}

static void shipped_papers_speak_of_what_exists(void **state)
{
	(void)state;
	unsigned papers = 0;
	for (size_t i = 0; i < embedded_count; i++) {
		const struct embedded *m = &embedded_files[i];
		if (!str_starts(m->path, "papers/") || !str_ends(m->path, ".paper"))
			continue;
		struct arena a;
		char gpu[128];
		const struct paper *p = parse(&a, m->data);
		papers++;
		assert_true(p->count > 100);
		snprintf(gpu, sizeof gpu, "gpus/%s.gpu", p->gpu);
		assert_non_null(embed_find(gpu));
		for (size_t k = 0; k < p->count; k++) {
			const struct paper_row *row = &p->rows[k];
			if (strcmp(row->key, "-") == 0)
				continue;
			const struct key_family *f = key_family(row->key);
			if (!f)
				fail_msg("%s:%u: no finding has the key %s", m->path, row->line, row->key);
			else if (strcmp(f->unit, row->unit) != 0)
				fail_msg("%s:%u: %s is in %s, not in %s", m->path, row->line, row->key, f->unit,
					 row->unit);
		}
		arena_free(&a);
	}
	assert_true(papers >= 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(digits_are_the_precision),
	    cmocka_unit_test(mistakes_name_their_line),
	    cmocka_unit_test(shipped_papers_speak_of_what_exists),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
