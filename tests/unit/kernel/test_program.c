/* Expressions that are read once give what evaluating their text gives, whatever they are. */
#include "base/rng.h"
#include "kernel/program.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
/* after what it needs */
#include <cmocka.h>

static const struct kernel_param params[] = {
    {"N", "7"}, {"CHAINS", "4"}, {"BIG", "9223372036854775807"}, {"HEX", "0x10"}, {"WORD", "int"}};

struct text {
	char at[400];
	size_t n;
};

static void say(struct text *t, const char *word)
{
	const size_t n = strlen(word);
	if (t->n + n < sizeof t->at) {
		memcpy(t->at + t->n, word, n);
		t->n += n;
	}
	t->at[t->n] = '\0';
}

static void expression(struct text *t, struct rng *r, unsigned depth)
{
	static const char *const atoms[] = {"0", "1", "2", "13", "N", "CHAINS", "BIG", "HEX", "k", "k", "j", "0x1f"};
	static const char *const joins[] = {"||", "&&", "==", "!=", "<=",  ">=",  "<", ">", "+",
					    "-",  "*",	"/",  "%",  " + ", " / ", "|", "<<"};
	const uint64_t what = rng_below(r, 8);
	if (depth == 0 || what < 2) {
		say(t, atoms[rng_below(r, sizeof atoms / sizeof *atoms)]);
	} else if (what == 2) {
		say(t, rng_below(r, 2) ? "-" : "!");
		expression(t, r, depth - 1);
	} else if (what == 3) {
		say(t, "(");
		expression(t, r, depth - 1);
		say(t, ")");
	} else {
		expression(t, r, depth - 1);
		say(t, joins[rng_below(r, sizeof joins / sizeof *joins)]);
		expression(t, r, depth - 1);
	}
}

static void as_text_says(void **state)
{
	(void)state;
	struct scope sc = {.params = params, .param_count = sizeof params / sizeof *params, .var_count = 2};
	struct program p;
	struct rng r;
	unsigned made = 0, ran = 0, refused = 0;
	snprintf(sc.var[0].name, sizeof sc.var[0].name, "k");
	snprintf(sc.var[1].name, sizeof sc.var[1].name, "j");
	rng_seed(&r, 20261122);
	for (unsigned i = 0; i < 20000; i++) {
		struct text t = {.n = 0};
		expression(&t, &r, 4);
		const char *end = t.at + t.n;
		if (!program_make(&p, &sc, t.at, end))
			continue;
		made++;
		for (unsigned k = 0; k < 4; k++) {
			struct err e = {0};
			int64_t want = 0, got = 0;
			sc.var[0].value = (int64_t)rng_below(&r, 40);
			sc.var[1].value = k ? (int64_t)rng_below(&r, 3) : INT64_MIN;
			const int rc = scope_eval(&sc, t.at, end, &want, &e);
			if (!program_run(&p, &sc, &got)) {
				refused++;
				continue;
			}
			ran++;
			if (rc || got != want)
				fail_msg("%s with k = %lld: %lld, not %lld (%s)", t.at, (long long)sc.var[0].value,
					 (long long)got, (long long)want, e.text);
		}
	}
	assert_true(made > 5000);
	assert_true(ran > 5 * refused);
}

static void what_is_left_to_the_text(void **state)
{
	(void)state;
	static const char *const left[] = {"WORD == 'int'", "k & 1",	   "1 << 2", "~k",  "k +", "(k",  "k)",
					   "k = 1",	    "UNKNOWN + 1", "",	     "1 2", "9z",  "WORD"};
	struct scope sc = {.params = params, .param_count = sizeof params / sizeof *params, .var_count = 1};
	struct program p;
	char many[400] = "k";
	snprintf(sc.var[0].name, sizeof sc.var[0].name, "k");
	for (size_t i = 0; i < sizeof left / sizeof *left; i++)
		if (program_make(&p, &sc, left[i], left[i] + strlen(left[i])))
			fail_msg("'%s' was read", left[i]);
	while (strlen(many) < 2 * PROGRAM_STEPS)
		strcat(many, "+1");
	assert_false(program_make(&p, &sc, many, many + strlen(many)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(as_text_says), cmocka_unit_test(what_is_left_to_the_text)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
