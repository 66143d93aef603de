/* The format of papers/, and that each shipped paper speaks of keys, units and GPUs that exist. */
#include "base/embed.h"
#include "base/str.h"
#include "data/keys.h"
#include "data/paper_compare.h"
#include "data/paper_formula.h"
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define WONG_LEAST 250 /* values with a key: a line that is lost would not be noticed otherwise */
#define HEAD	   "title = T\nauthors = A\npublished = P\ndevice = D\ngpu = toy\n"

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
	expect_range("16,384", "count", 16384, 16384);
	expect_range("1,234,567", "count", 1234567, 1234567);
	expect_range("~487", "cycles", 486.5, 487.5);
	expect_range(">=44", "count", 44, INFINITY);
	expect_range("<=2.5", "ratio", -INFINITY, 2.55);
	expect_range("17, 8, 9", "count", 8, 17);
	expect_range("69", "%", 0.685, 0.695);
	expect_range("3.5", "us", 3.45e-6, 3.55e-6);
}

static void a_row_may_say_its_tolerance(void **state)
{
	static const struct {
		const char *extra, *tolerance, *reason, *deviation, *note;
		double lo, hi;
	} rows[] = {
	    {"+- 2: the mean of three cards", "2", "the mean of three cards", "", "", 98, 102},
	    {"+- 5 %: read from a figure | deviation: shared memory's parameters | of the load alone", "5 %",
	     "read from a figure", "shared memory's parameters", "of the load alone", 99.5, 100.5},
	    {"a note | deviation: x", "", "", "x", "a note", 99.5, 100.5},
	    {"deviation: x", "", "", "x", "", 99.5, 100.5},
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		char text[512];
		struct arena a;
		snprintf(text, sizeof text, HEAD "Table I | a row | - | 100 | cycles | %s\n", rows[i].extra);
		const struct paper_row *row = parse(&a, text)->rows;
		assert_string_equal(row->tolerance, rows[i].tolerance);
		assert_string_equal(row->reason, rows[i].reason);
		assert_string_equal(row->deviation, rows[i].deviation);
		assert_string_equal(row->note, rows[i].note);
		if (fabs(row->lo - rows[i].lo) > 1e-9 || fabs(row->hi - rows[i].hi) > 1e-9)
			fail_msg("'%s' leaves %g to %g open", rows[i].extra, row->lo, row->hi);
		arena_free(&a);
	}
}

static void a_wide_tolerance_is_known_as_such(void **state)
{
	static const struct {
		const char *row;
		bool wide;
	} rows[] = {{"249 | Gop/s | +- 3: x", false},
		    {"249 | Gop/s | +- 4: x", true},
		    {".30 | cycles | +- 0.03: x", false},
		    {".30 | cycles | +- 0.04: x", true},
		    {"25.0 | GB/s | +- 1 %: x", false},
		    {"25.0 | GB/s | +- 6 %: x", true},
		    {">=44 | count | +- 3: x", false},
		    {"1, 7 | count | +- 4: x", true},
		    {"2000 | count", false}};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		char text[256];
		struct arena a;
		snprintf(text, sizeof text, HEAD "T | r | - | %s | note\n", rows[i].row);
		if (parse(&a, text)->rows[0].wide != rows[i].wide)
			fail_msg("'%s' is %s", rows[i].row, rows[i].wide ? "wide" : "not wide");
		arena_free(&a);
	}
}

static void a_paper_may_have_measured_several_devices(void **state)
{
	struct arena a;
	const struct paper *p = parse(&a, HEAD "T | r | - | 1 | count\nT | r | - | 2 | count\ndevice = E\ngpu = -\n"
					       "T | s | - | 3 | count\n");
	(void)state;
	assert_int_equal(p->part_count, 2);
	assert_string_equal(p->parts[0].gpu, "toy");
	assert_string_equal(p->parts[1].device, "E");
	assert_string_equal(p->parts[1].gpu, "-");
	assert_int_equal(p->parts[0].first, 0);
	assert_int_equal(p->parts[0].count, 2);
	assert_int_equal(p->parts[1].first, 2);
	assert_int_equal(p->parts[1].count, 1);
	assert_int_equal(p->rows[2].part, 1);
	arena_free(&a);
}

/* ---- beside findings ---- */

static struct finding finding(enum verdict v, double number)
{
	struct finding f = {.key = "k", .verdict = v, .lo = NAN, .hi = NAN};
	f.value.kind = v == VERDICT_MEASURED ? VALUE_NUMBER : VALUE_NONE;
	f.value.number = number;
	return f;
}

static void expect_result(const char *value_and_unit, const struct finding *f, enum paper_result expected)
{
	char text[256];
	struct arena a;
	snprintf(text, sizeof text, HEAD "Table I | a row | k | %s\n", value_and_unit);
	enum paper_result is = paper_result_of(parse(&a, text)->rows, f);
	if (is != expected)
		fail_msg("'%s' %s, expected: %s", value_and_unit, paper_result_name(is), paper_result_name(expected));
	arena_free(&a);
}

static void findings_are_laid_beside_rows(void **state)
{
	struct finding f = finding(VERDICT_MEASURED, 24);
	(void)state;
	expect_result("24 | cycles", NULL, PAPER_NOT_ASKED);
	expect_result("24 | cycles", &f, PAPER_AGREES);
	expect_result("23-24 | cycles", &f, PAPER_AGREES);
	expect_result(">=20 | cycles", &f, PAPER_AGREES);
	expect_result("25 | cycles", &f, PAPER_DIFFERS);
	expect_result("25 | cycles | +- 1: x", &f, PAPER_AGREES);
	expect_result("25 | cycles | deviation: x", &f, PAPER_EXPLAINED);
	/* What a deviation explains may be limited, too. */
	expect_result("25 | cycles | +- 5 %: x | deviation: x", &f, PAPER_EXPLAINED);
	expect_result("24 | cycles | +- 5 %: x | deviation: x", &f, PAPER_AGREES);
	expect_result("26 | cycles | +- 5 %: x | deviation: x", &f, PAPER_DIFFERS);
	expect_result("24, 25 | cycles", &f, PAPER_DIFFERS);
	expect_result("24 | name", &f, PAPER_DIFFERS);
	f = finding(VERDICT_INCONCLUSIVE, 24);
	expect_result("24 | cycles", &f, PAPER_DIFFERS);
	f = finding(VERDICT_ABSENT, 0);
	expect_result("0 | count", &f, PAPER_AGREES);
	expect_result("1 | count", &f, PAPER_DIFFERS);
	f = finding(VERDICT_BOUND, 0);
	f.lo = 44;
	expect_result(">=44 | count", &f, PAPER_AGREES);
	expect_result(">=45 | count", &f, PAPER_DIFFERS);
	expect_result("50 | count", &f, PAPER_DIFFERS);
	f.lo = NAN;
	f.hi = 2;
	expect_result("<=3 | count", &f, PAPER_AGREES);
	f = finding(VERDICT_MEASURED, 0);
	f.value.kind = VALUE_TEXT;
	snprintf(f.value.text, sizeof f.value.text, "cluster");
	expect_result("cluster | name", &f, PAPER_AGREES);
	expect_result("sm | name", &f, PAPER_DIFFERS);
	expect_result("1 | count", &f, PAPER_DIFFERS);
	f.value = (struct value){.kind = VALUE_ARRAY, .array = {8, 17, 8}, .array_count = 3};
	expect_result("17, 8, 8 | count", &f, PAPER_AGREES);
	expect_result("17, 8 | count", &f, PAPER_DIFFERS);
	expect_result("17, 17, 8 | count", &f, PAPER_DIFFERS);
	expect_result("18, 8, 8 | count | +- 1: x", &f, PAPER_AGREES);
	expect_result("17 | count", &f, PAPER_AGREES);
	expect_result("9 | count", &f, PAPER_DIFFERS);
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
	expect_error(HEAD "gpu = toy\n", "x.paper:6: 'gpu' was already given; delete one");
	expect_error(HEAD "title =\n", "x.paper:6: 'title' was already given");
	expect_error("title =\n", "x.paper:1: 'title' has no value");
	expect_error("gpu = toy\n", "x.paper:1: 'gpu' comes after the 'device'");
	expect_error("title = T\nauthors = A\npublished = P\ndevice = D\nT | r | - | 1 | count\n",
		     "x.paper:5: a row comes after");
	expect_error(HEAD "T | r | - | 1 | count\ndevice = E\n", "x.paper:7: the device has no line 'gpu = NAME'");
	expect_error(HEAD "figure = 13\n", "x.paper:6: write figure = NUMBER");
	expect_error(HEAD "figure = 13: a,\n", "x.paper:6: write figure = NUMBER");
	expect_error(HEAD "colour = red\n", "x.paper:6: 'colour' is neither");
	expect_error(HEAD "nonsense\n", "x.paper:6: 'nonsense' is neither");
	expect_error(HEAD "\nTable I | row | key | 1\n", "x.paper:7: a row is");
	expect_error(HEAD "Table I | row | key | 1 | cycles | 6 | 7 | 8 | 9\n", "x.paper:6: more than 8 cells");
	expect_error(HEAD "Table I | row | key | 1 | cycles | note | more\n", "x.paper:6: the row has two notes");
	expect_error(HEAD "T | r | k | 1 | cycles | deviation: a | deviation: b\n", "the row has two deviations");
	expect_error(HEAD "T | r | k | 1 | cycles | +- 1: a | +- 2: b\n", "the row has two tolerances");
	expect_error(HEAD "T | r | k | 1 | cycles | deviation:\n", "names no entry");
	expect_error(HEAD "T | r | k | 1 | cycles | +- 2\n", "has no reason; write '+- 2: why");
	expect_error(HEAD "T | r | k | 1 | cycles | +- 2:\n", "has no reason; write '+- 2: why");
	expect_error(HEAD "T | r | k | 1 | cycles | +- : why\n", "no number follows '+-'");
	expect_error(HEAD "T | r | k | 1 | cycles | +- few: why\n", "'few' is no tolerance");
	expect_error(HEAD "T | r | k | 1 | cycles | +- 2 x: why\n", "'2 x' is no tolerance");
	expect_error(HEAD "T | r | k | sm | name | +- 2: why\n", "the word 'sm' cannot have a tolerance");
	expect_error(HEAD "T | r | k | 1,2 | count\n", "neither a number nor a range");
	expect_error(HEAD "T | r | k | 1, x | count\n", "neither a number nor a range");
	expect_error(HEAD "T | r | k | 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17 | count\n",
		     "at most 16 numbers");
	expect_error(HEAD "T | r | k | >=1-2 | count\n", "neither a number nor a range");
	expect_error(HEAD "Table I | row | key | one | cycles\n", "x.paper:6: 'one' is neither a number nor a range");
	expect_error(HEAD "Table I | row | key | 5-3 | cycles\n", "neither a number nor a range");
	expect_error(HEAD "Table I | row | key | 5- | cycles\n", "neither a number nor a range");
	expect_error(HEAD "Table I | row | key | 5 | hours\n", "the unit 'hours' is unknown; known are name");
}

/* What a reason says of our own model is none why a paper's number may be missed; NULL: it says nothing of it. */
static const char *of_ours(const char *reason)
{
	static const char *const words[] = {"ours", "our ", "simulat", "fathom", "guess", "description", "model"};
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strstr(reason, words[i]))
			return words[i];
	return NULL;
}

static void reasons_are_of_the_paper(void **state)
{
	(void)state;
	assert_null(of_ours("the text rounds what the plot shows"));
	assert_non_null(of_ours("a simulated operation takes whole cycles"));
	assert_non_null(of_ours("the clock is a guess"));
}

/* A theoretical number is computed from its parts: a setting, or what follows from several findings. No single finding agrees with it. */
static bool is_theoretical(const struct paper_row *row)
{
	static const char *const words[] = {"theoretical", "promise", "equation 1", "data sheet"};
	bool is = strstr(row->row, "peak") != NULL;
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		is = is || strstr(row->row, words[i]) || strstr(row->note, words[i]);
	return is;
}

static void theoretical_numbers_are_known_as_such(void **state)
{
	struct arena a;
	(void)state;
	const struct paper *p =
	    parse(&a, HEAD "T | theoretical rate | - | 1 | count | x\nT | peak | - | 2 | count | x\n"
			   "T | rate | - | 3 | count | what equation 1 promises\n"
			   "T | rate | - | 4 | count | of one SM\n");
	for (size_t i = 0; i < p->count; i++)
		assert_int_equal(is_theoretical(&p->rows[i]), i < 3);
	arena_free(&a);
}

/* Beside findings a formula has a count of the paper's or a unit's factor. A rate or a peak would be the paper's own
 * result. */
static bool is_count(double number)
{
	return number == floor(number);
}

static void check_part(const struct embedded *m, const struct paper *p, const struct paper_part *part)
{
	char gpu[128];
	snprintf(gpu, sizeof gpu, "gpus/%s.gpu", part->gpu);
	if (strcmp(part->gpu, "-") != 0 && !embed_find(gpu))
		fail_msg("%s:%u: there is no %s", m->path, part->line, gpu);
	if (part->count == 0)
		fail_msg("%s:%u: there is no row of this device", m->path, part->line);
	for (size_t k = 0; k < part->count; k++) {
		const struct paper_row *row = &p->rows[part->first + k];
		struct formula formula;
		struct err e = {0};
		assert_int_equal(formula_parse(&formula, row->key, &e), 0);
		if (strcmp(row->key, PAPER_NO_KEY) == 0 && !*row->note)
			fail_msg("%s:%u: a note has to say why no finding means the same", m->path, row->line);
		if (of_ours(row->reason) && !*row->deviation)
			fail_msg("%s:%u: a tolerance comes from the paper, not from '%s'; name an entry of "
				 "gpus/DEVIATIONS.md instead",
				 m->path, row->line, of_ours(row->reason));
		if (formula.count > 1 && !*row->note)
			fail_msg("%s:%u: a note has to say how the paper derives the value so", m->path, row->line);
		if (row->wide && !*row->deviation)
			fail_msg("%s:%u: the tolerance is wider than three times the last printed digit; name the "
				 "entry of gpus/DEVIATIONS.md that says why",
				 m->path, row->line);
		unsigned keys = 0;
		for (unsigned i = 0; i < formula.count; i++)
			keys += !formula.term[i].is_number;
		if (is_theoretical(row) && keys == 1)
			fail_msg(
			    "%s:%u: no finding agrees with a theoretical number; compute it from several, or make it a "
			    "setting",
			    m->path, row->line);
		for (unsigned i = 0; i < formula.count; i++) {
			const struct formula_term *t = &formula.term[i];
			if (t->is_number && !is_count(t->number))
				fail_msg(
				    "%s:%u: %s is no count, and so a result of the paper's: name what it follows from",
				    m->path, row->line, t->key);
			const struct key_family *f = key_family(t->key);
			if (!t->is_number && !f)
				fail_msg("%s:%u: no finding has the key %s", m->path, row->line, t->key);
			if (formula.count == 1 && f && strcmp(f->unit, row->unit) != 0)
				fail_msg("%s:%u: %s is in %s, not in %s", m->path, row->line, t->key, f->unit,
					 row->unit);
		}
	}
}

/* A number stands once for each of its places. */
static void check_twice(const struct embedded *m, const struct paper *p)
{
	for (size_t i = 0; i < p->count; i++)
		for (size_t k = 0; k < i; k++) {
			const struct paper_row *x = &p->rows[i], *y = &p->rows[k];
			if (strcmp(x->key, PAPER_NO_KEY) != 0 && x->part == y->part && strcmp(x->key, y->key) == 0 &&
			    strcmp(x->where, y->where) == 0 && strcmp(x->row, y->row) == 0 &&
			    strcmp(x->printed, y->printed) == 0)
				fail_msg("%s:%u: says the same as line %u", m->path, x->line, y->line);
		}
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
		const struct paper *p = parse(&a, m->data);
		papers++;
		for (size_t k = 0; k < p->part_count; k++)
			check_part(m, p, &p->parts[k]);
		check_twice(m, p);
		size_t keyed = 0;
		for (size_t k = 0; k < p->count; k++)
			keyed += strcmp(p->rows[k].key, PAPER_NO_KEY) != 0 &&
				 strcmp(p->rows[k].key, PAPER_SETTING) != 0 && !p->rows[k].again;
		assert_true(keyed >= (strstr(m->path, "wong") ? WONG_LEAST : 1));
		arena_free(&a);
	}
	assert_true(papers >= 1);
}

static void expect_formula(const char *cell, const struct finding_list *l, enum verdict v, double number)
{
	struct arena a;
	const struct finding *f = NULL;
	arena_init(&a);
	assert_int_equal(formula_finding(&f, &a, cell, "bytes", l), 0);
	if (!f)
		fail_msg("%s has no finding", cell);
	else if (f->verdict != v || (v == VERDICT_MEASURED && fabs(f->value.number - number) > 1e-9))
		fail_msg("%s is %s %g", cell, verdict_name(f->verdict), f->value.number);
	arena_free(&a);
}

static void what_follows_from_several_findings(void **state)
{
	struct finding_list l = {0};
	struct finding f = finding(VERDICT_MEASURED, 24);
	struct arena a;
	const struct finding *none = &f;
	(void)state;
	assert_int_equal(findings_add(&l, &f), 0);
	f = finding(VERDICT_MEASURED, 4);
	snprintf(f.key, sizeof f.key, "ways");
	assert_int_equal(findings_add(&l, &f), 0);
	f = finding(VERDICT_INCONCLUSIVE, 0);
	snprintf(f.key, sizeof f.key, "open");
	snprintf(f.because, sizeof f.because, "it is not known");
	assert_int_equal(findings_add(&l, &f), 0);
	expect_formula("k", &l, VERDICT_MEASURED, 24);
	expect_formula("k / ways", &l, VERDICT_MEASURED, 6);
	expect_formula("k + ways / 2", &l, VERDICT_MEASURED, 14); /* from left to right */
	expect_formula("2 * k - ways", &l, VERDICT_MEASURED, 44);
	expect_formula("k + open", &l, VERDICT_INCONCLUSIVE, 0);
	expect_formula("k / 0", &l, VERDICT_INCONCLUSIVE, 0);
	arena_init(&a);
	assert_int_equal(formula_finding(&none, &a, "k + missing", "bytes", &l), 0);
	assert_null(none);
	arena_free(&a);
	findings_free(&l);
	expect_error(HEAD "T | r | k + | 5 | count\n", "a key or a number is missing");
	expect_error(HEAD "T | r | k x | 5 | count\n", "one of + - * /");
	expect_error(HEAD "T | r | 5 | 5 | count\n", "is a number, and no key");
}

static void a_value_is_counted_once(void **state)
{
	struct arena a;
	const struct paper *p = parse(
	    &a, HEAD "T | r | k | 2 | KB\nU | s | k | 2048 | bytes\nT | r | k | 3 | KB\nT | r | - | 5 | count | x\n"
		     "U | r | - | 5 | count | x\nU | s | - | 5 | count | x\nT | r | setting | 5 | count\nU | r | "
		     "setting | 5 | count\n"
		     "U | r | w | sm | name\nV | r | w | sm | name\nV | r | l | 1, 2 | count\n"
		     "device = E\ngpu = -\nT | r | k | 2 | KB\n");
	static const bool again[] = {false, true, false, false, true, false, false, false, false, true, false, false};
	(void)state;
	assert_int_equal(p->count, sizeof again / sizeof again[0]);
	for (size_t i = 0; i < p->count; i++)
		assert_int_equal(p->rows[i].again, again[i]);
	assert_int_equal(p->values, 7);
	arena_free(&a);
}

static void a_setting_is_no_published_value(void **state)
{
	struct arena a;
	const struct paper *p = parse(&a, HEAD "T | r | setting | 5 | count\n");
	(void)state;
	assert_int_equal(paper_result_of(p->rows, NULL), PAPER_IS_SETTING);
	arena_free(&a);
}

static void unknown_papers_name_the_known(void **state)
{
	struct arena a;
	struct err e = {0};
	struct paper *p = NULL;
	(void)state;
	arena_init(&a);
	assert_int_equal(paper_open(&p, &a, "wong2010", &e), 0);
	assert_int_equal(paper_open(&p, &a, "wong2011", &e), -ENOENT);
	assert_non_null(strstr(e.text, "wong2010"));
	assert_int_equal(paper_open(&p, &a, "./none.paper", &e), -EIO);
	assert_non_null(strstr(e.text, "./none.paper"));
	arena_free(&a);
}

static void figures_have_the_papers_numbers(void **state)
{
	struct arena a;
	(void)state;
	const struct paper *p =
	    parse(&a, HEAD "figure = 13: tlb-global\nfigure = 6: warps-latency, warps-throughput\n");
	const struct paper_part *part = &p->parts[0];
	assert_int_equal(part->figure_count, 3);
	assert_string_equal(part->figures[0].number, "13");
	assert_string_equal(part->figures[0].name, "tlb-global");
	assert_string_equal(part->figures[2].number, "6");
	assert_string_equal(part->figures[2].name, "warps-throughput");
	arena_free(&a);
}

static void figures_say_whose_they_repeat(void **state)
{
	static const char *const names[][2] = {{"tlb-global", "Wong 2010, Fig. 13"},
					       {"miss-rate-l1", "Mei 2014, Fig. 9"},
					       {"l2-copy", "Lashgar 2015, Fig. 2"},
					       {"of-nobody", ""}};
	struct figure_list l = {0};
	struct err e;
	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		assert_non_null(figures_new(&l, names[i][0], "T"));
	assert_int_equal(paper_name_figures(&l, &e), 0);
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		assert_string_equal(l.items[i].paper, names[i][1]);
	figures_free(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(digits_are_the_precision),
	    cmocka_unit_test(mistakes_name_their_line),
	    cmocka_unit_test(a_row_may_say_its_tolerance),
	    cmocka_unit_test(a_wide_tolerance_is_known_as_such),
	    cmocka_unit_test(a_paper_may_have_measured_several_devices),
	    cmocka_unit_test(findings_are_laid_beside_rows),
	    cmocka_unit_test(what_follows_from_several_findings),
	    cmocka_unit_test(a_value_is_counted_once),
	    cmocka_unit_test(a_setting_is_no_published_value),
	    cmocka_unit_test(figures_have_the_papers_numbers),
	    cmocka_unit_test(figures_say_whose_they_repeat),
	    cmocka_unit_test(reasons_are_of_the_paper),
	    cmocka_unit_test(theoretical_numbers_are_known_as_such),
	    cmocka_unit_test(shipped_papers_speak_of_what_exists),
	    cmocka_unit_test(unknown_papers_name_the_known),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
