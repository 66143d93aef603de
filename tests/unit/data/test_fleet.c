/* Which card differs from its like, and what contradicts an expectation. */
#include "data/expect.h"
#include "data/fleet.h"
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { CARDS = 13 };
static const char l2[] = "cache.global.l2.latency", ways[] = "cache.constant.l1.ways",
		  policy[] = "cache.constant.l1.policy";

struct cards {
	struct run run[CARDS];
	const struct run *runs[CARDS];
	const char *names[CARDS];
	char name[CARDS][16];
	struct arena arena;
};

static void say(struct run *r, const char *key, enum verdict v, double value, double off, const char *unit)
{
	struct finding f = {
	    .verdict = v, .value = {.kind = VALUE_NUMBER, .number = value}, .lo = value - off, .hi = value + off};

	snprintf(f.key, sizeof(f.key), "%s", key);
	snprintf(f.unit, sizeof(f.unit), "%s", unit);
	assert_int_equal(findings_add(&r->findings, &f), 0);
}

static void say_word(struct run *r, const char *key, const char *word)
{
	struct finding f = {
	    .verdict = VERDICT_MEASURED, .value = {.kind = VALUE_TEXT}, .lo = NAN, .hi = NAN, .unit = "name"};

	snprintf(f.key, sizeof(f.key), "%s", key);
	snprintf(f.value.text, sizeof(f.value.text), "%s", word);
	assert_int_equal(findings_add(&r->findings, &f), 0);
}

/* Cards of one model, whose latencies scatter by a cycle or two as those of real ones do. */
static int set_up(void **state)
{
	static struct cards c;

	arena_init(&c.arena);
	for (size_t i = 0; i < CARDS; i++) {
		assert_int_equal(run_init(&c.run[i]), 0);
		snprintf(c.run[i].device.name, sizeof(c.run[i].device.name), "Toy");
		snprintf(c.name[i], sizeof(c.name[i]), "%zu.fathom", i);
		c.names[i] = c.name[i];
		c.runs[i] = &c.run[i];
		say(&c.run[i], l2, VERDICT_MEASURED, 200 + (double)(i % 5) * 0.5, 0.2, "cycles");
		say(&c.run[i], ways, VERDICT_MEASURED, 4, 0, "count");
		say_word(&c.run[i], policy, "lru");
	}
	*state = &c;
	return 0;
}

static int tear_down(void **state)
{
	struct cards *c = *state;

	for (size_t i = 0; i < CARDS; i++)
		run_free(&c->run[i]);
	arena_free(&c->arena);
	return 0;
}

static struct fleet judge(struct cards *c, size_t n)
{
	struct fleet f;

	assert_int_equal(fleet_judge(&f, &c->arena, c->runs, c->names, n), 0);
	return f;
}

static void test_like(void **state)
{
	const struct fleet f = judge(*state, CARDS);

	assert_int_equal(f.group_count, 1);
	assert_int_equal(f.row_count, 3);
	assert_int_equal(f.outlier_count, 0);
	assert_true(f.row[2].is_number && f.row[2].median == 201 && f.row[2].mad == 0.5);
}

static void test_slower(void **state)
{
	struct cards *c = *state;

	say(&c->run[7], l2, VERDICT_MEASURED, 230, 0.5, "cycles");
	const struct fleet f = judge(c, CARDS);
	assert_int_equal(f.outlier_count, 1);
	assert_int_equal(f.outlier[0].card, 7);
	assert_string_equal(f.row[f.outlier[0].row].key, l2);
	assert_int_equal(f.card[7].apart, 1);
	assert_true(f.outlier[0].spreads > 30);
}

/* A wide interval says that the card may be as its like are, and what is not MEASURED says less. */
static void test_vague(void **state)
{
	struct cards *c = *state;

	say(&c->run[7], l2, VERDICT_MEASURED, 230, 40, "cycles");
	say(&c->run[8], l2, VERDICT_LIKELY, 230, 1, "cycles");
	say(&c->run[9], l2, VERDICT_INCONCLUSIVE, 230, 1, "cycles");
	assert_int_equal(judge(c, CARDS).outlier_count, 0);
}

static void test_words(void **state)
{
	struct cards *c = *state;

	say_word(&c->run[2], policy, "fifo");
	say(&c->run[3], ways, VERDICT_MEASURED, 5, 0, "count");
	say(&c->run[4], ways, VERDICT_ABSENT, NAN, NAN, "count");
	const struct fleet f = judge(c, CARDS);
	assert_int_equal(f.outlier_count, 3);
	assert_int_equal(f.card[2].apart + f.card[3].apart + f.card[4].apart, 3);
}

/* Of two nobody knows which one is odd, and other models are not its like. */
static void test_few(void **state)
{
	struct cards *c = *state;

	say(&c->run[1], l2, VERDICT_MEASURED, 230, 0.5, "cycles");
	assert_int_equal(judge(c, 2).outlier_count, 0);
	assert_int_equal(judge(c, 3).outlier_count, 1);
	snprintf(c->run[1].device.name, sizeof(c->run[1].device.name), "Other");
	const struct fleet f = judge(c, CARDS);
	assert_int_equal(f.group_count, 2);
	assert_int_equal(f.outlier_count, 0);
}

static void test_memory(void **state)
{
	struct cards *c = *state;
	int rc = -ENOMEM;

	for (long n = 1; rc; n++) {
		struct arena a;
		struct fleet f;

		arena_init(&a);
		mem_fail_after(n);
		rc = fleet_judge(&f, &a, c->runs, c->names, CARDS);
		mem_fail_after(0);
		arena_free(&a);
		assert_true(rc == 0 || rc == -ENOMEM);
		assert_true(rc == -ENOMEM || n > 1);
	}
}

/* ---- expectations ---- */

static struct expect expect(struct cards *c, const char *text)
{
	struct err e = {0};
	struct expect x;

	if (expect_parse(&x, &c->arena, text, "e.txt", &e))
		fail_msg("%s", e.text);
	expect_ask(&x, &c->run[0]);
	return x;
}

static void test_expected(void **state)
{
	const struct expect x = expect(*state, "# what the vendor says\n"
					       "cache.global.l2.latency = 205 +- 6\n\n"
					       "cache.constant.l1.ways = 4   # exact\n"
					       "cache.constant.l1.ways >= 4\n"
					       "cache.constant.l1.policy = lru\n"
					       "cache.texture.l1.size = 12288\n");

	assert_int_equal(x.count, 5);
	assert_int_equal(x.contradicted, 0);
	assert_int_equal(x.undecided, 1);
}

static void test_contradicted(void **state)
{
	const struct expect x = expect(*state, "cache.global.l2.latency = 210 +- 2 %\n"
					       "cache.constant.l1.ways = <= 3\n"
					       "cache.constant.l1.ways = absent\n"
					       "cache.constant.l1.policy = \"fifo\"\n");

	assert_int_equal(x.contradicted, 4);
	assert_int_equal(x.row[3].line, 4);
}

static void test_former(void **state)
{
	struct cards *c = *state;
	struct expect x;

	assert_int_equal(expect_of_run(&x, &c->arena, &c->run[0]), 0);
	assert_int_equal(x.count, 3);
	say(&c->run[1], ways, VERDICT_MEASURED, 8, 0, "count");
	expect_ask(&x, &c->run[1]);
	assert_int_equal(x.contradicted, 1);
	say(&c->run[1], ways, VERDICT_INCONCLUSIVE, 8, 0, "count");
	expect_ask(&x, &c->run[1]);
	assert_int_equal(x.contradicted, 0);
	assert_int_equal(x.undecided, 1);
}

static void test_bad_lines(void **state)
{
	static const char *const bad[] = {"no.such.key = 1",
					  "cache.constant.l1.ways 4",
					  "cache.constant.l1.ways = ",
					  "cache.constant.l1.ways = 4 +- x",
					  "cache.constant.l1.ways = 4 +- 1 cycles",
					  "cache.constant.l1.ways = >= many",
					  "cache.constant.l1.ways = 1e999",
					  "# nothing"};
	struct cards *c = *state;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct err e = {0};
		struct expect x;

		if (expect_parse(&x, &c->arena, bad[i], "e.txt", &e) != -EINVAL || !strstr(e.text, "e.txt"))
			fail_msg("%s: %s", bad[i], e.text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_like, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_slower, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_vague, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_words, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_few, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_memory, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_expected, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_contradicted, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_former, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_bad_lines, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
