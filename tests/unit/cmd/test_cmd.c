/* The table of options and everything made from it: parser, help, man page, completion; progress lines; file names. */
#include "cmd/cmd.h"
#include "cmd/files.h"
#include "cmd/progress.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static int parse(struct cmd_context *c, const char *line, int *argc, char ***argv)
{
	static char text[512];
	static char *words[32];
	char *save = NULL;

	memset(c, 0, sizeof(*c));
	arena_init(&c->arena);
	snprintf(text, sizeof(text), "%s", line);
	*argc = 0;
	for (char *w = strtok_r(text, " ", &save); w; w = strtok_r(NULL, " ", &save))
		words[(*argc)++] = w;
	*argv = words + 1;
	(*argc)--;
	return cmd_parse(c, cmd_find(words[0]), argc, argv);
}

static void expect_usage(const char *line, const char *part)
{
	struct cmd_context c;
	char **argv;
	int argc;

	assert_int_equal(parse(&c, line, &argc, &argv), CMD_USAGE);
	if (!strstr(c.error.text, part))
		fail_msg("'%s': expected '%s' in '%s'", line, part, c.error.text);
	assert_null(strchr(c.error.text, '\n'));
	arena_free(&c.arena);
}

static void test_parse(void **state)
{
	struct cmd_context c;
	double limit = -1;
	uint64_t seed = 9;
	char **argv;
	int argc;

	(void)state;
	assert_int_equal(
	    parse(&c, "run -d sim:toy -pclock --output=x.fathom --seed 0x10 --time-limit 2.5", &argc, &argv), CMD_OK);
	assert_int_equal(argc, 0);
	assert_string_equal(cmd_value(&c, "device"), "sim:toy");
	assert_string_equal(cmd_value(&c, "probes"), "clock");
	assert_string_equal(cmd_value(&c, "output"), "x.fathom");
	assert_false(cmd_flag(&c, "resume"));
	assert_int_equal(cmd_integer(&c, "seed", &seed), CMD_OK);
	assert_int_equal(seed, 16);
	assert_int_equal(cmd_number(&c, "time-limit", 0, 10, &limit), CMD_OK);
	assert_true(limit == 2.5);
	arena_free(&c.arena);

	assert_int_equal(parse(&c, "report a.fathom --format json --figures d", &argc, &argv), CMD_OK);
	assert_int_equal(argc, 1);
	assert_string_equal(argv[0], "a.fathom");
	arena_free(&c.arena);

	/* Operands that look like options, after --. */
	assert_int_equal(parse(&c, "report -- -a.fathom", &argc, &argv), CMD_OK);
	assert_string_equal(argv[0], "-a.fathom");
	arena_free(&c.arena);

	assert_int_equal(parse(&c, "sim k.ptx --gpu toy --grid 1 --block 32 --arg out:4 --arg 7", &argc, &argv),
			 CMD_OK);
	assert_string_equal(cmd_value_at(&c, "arg", 0), "out:4");
	assert_string_equal(cmd_value_at(&c, "arg", 1), "7");
	assert_null(cmd_value_at(&c, "arg", 2));
	arena_free(&c.arena);

	/* A value that may be missing is the next word only when it ends like one. */
	static const char *const traces[][2] = {{"sim --gpu toy --grid 1 --block 1 --trace k.ptx", NULL},
						{"sim --gpu toy --grid 1 --block 1 --trace a.json k.ptx", "a.json"},
						{"sim k.ptx --gpu toy --grid 1 --block 1 --trace=b", "b"}};
	for (size_t k = 0; k < 3; k++) {
		assert_int_equal(parse(&c, traces[k][0], &argc, &argv), CMD_OK);
		assert_int_equal(argc, 1);
		assert_string_equal(argv[0], "k.ptx");
		assert_true(cmd_flag(&c, "trace"));
		if (traces[k][1])
			assert_string_equal(cmd_value(&c, "trace"), traces[k][1]);
		else
			assert_null(cmd_value(&c, "trace"));
		arena_free(&c.arena);
	}
}

static void test_refuse(void **state)
{
	(void)state;
	expect_usage("run --devcie x", "did you mean --device");
	expect_usage("run --zzzzzzzzz", "fathom run --help");
	expect_usage("run -x", "-x");
	expect_usage("run -d", "needs a value");
	expect_usage("run --resume=yes", "takes no value");
	expect_usage("run --output=", "empty");
	expect_usage("run -d a -d b", "twice");
	expect_usage("run surprise", "surprise");
	expect_usage("infer", "FILE.fathom");
	expect_usage("infer a b", "'b'");
	expect_usage("report a --format yaml", "text|summary|lemeire|json|csv");
	expect_usage("reproduce", "PAPER");
	expect_usage("reproduce wong2010 --format csv", "text|json");
	expect_usage("sim k.ptx --grid 1 --block 1", "--gpu");
	assert_string_equal(cmd_nearest_verb("reprot"), "report");
	assert_null(cmd_nearest_verb("zzzzzzzz"));
}

static void test_numbers(void **state)
{
	static const char *const bad[] = {"-1", "1x", "abc", "99999999999999999999999", "+1"};
	struct cmd_context c;
	uint64_t seed;
	double v = 0;
	char **argv;
	int argc;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		char line[64];

		snprintf(line, sizeof(line), "run --seed=%s", bad[i]);
		assert_int_equal(parse(&c, line, &argc, &argv), CMD_OK);
		assert_int_equal(cmd_integer(&c, "seed", &seed), CMD_USAGE);
		arena_free(&c.arena);
	}
	assert_int_equal(parse(&c, "run --time-limit nan", &argc, &argv), CMD_OK);
	assert_int_equal(cmd_number(&c, "time-limit", 0, 10, &v), CMD_USAGE);
	arena_free(&c.arena);
	assert_int_equal(parse(&c, "run --time-limit 11", &argc, &argv), CMD_OK);
	assert_int_equal(cmd_number(&c, "time-limit", 0, 10, &v), CMD_USAGE);
	assert_non_null(strstr(c.error.text, "from 0 to 10"));
	arena_free(&c.arena);
}

/* Every option of the table is in the command's help, in the man page and in the completion. */
static void test_one_table(void **state)
{
	struct str help, man, completion;

	(void)state;
	str_init(&man);
	str_init(&completion);
	help_man(&man, "9.8.7");
	assert_true(help_completion(&completion, "bash"));
	assert_false(help_completion(&completion, "sh"));
	assert_non_null(strstr(str_text(&man), "9.8.7"));
	for (size_t i = 0; i < cmd_verb_count; i++) {
		const struct cmd_verb *v = &cmd_verbs[i];

		str_init(&help);
		help_verb(&help, v, 0);
		for (const struct cmd_option *o = v->options; o->name; o++) {
			char word[64], roff[64] = "";

			snprintf(word, sizeof(word), "--%s", o->name);
			assert_non_null(strstr(str_text(&help), word));
			assert_non_null(strstr(str_text(&completion), word));
			/* roff spells a dash \- */
			for (const char *p = word; *p; p++)
				snprintf(roff + strlen(roff), sizeof(roff) - strlen(roff), *p == '-' ? "\\-" : "%c",
					 *p);
			assert_non_null(strstr(str_text(&man), v->name));
			if (!strstr(str_text(&man), strrchr(roff, '-') + 1))
				fail_msg("%s is not in the man page", word);
		}
		assert_true(v->examples[0].line != NULL);
		for (const struct cmd_example *e = v->examples; e->line; e++)
			assert_non_null(strstr(str_text(&help), e->line));
		assert_false(help.failed);
		str_free(&help);
	}
	str_free(&man);
	str_free(&completion);
}

/* The examples in the help are command lines that the parser takes. */
static void test_examples(void **state)
{
	(void)state;
	for (size_t i = 0; i < cmd_verb_count; i++) {
		for (const struct cmd_example *e = cmd_verbs[i].examples; e->line; e++) {
			struct cmd_context c;
			char line[256], *redirect;
			char **argv;
			int argc;

			snprintf(line, sizeof(line), "%s", e->line + strlen("fathom "));
			redirect = strstr(line, " >");
			if (redirect)
				*redirect = 0;
			if (parse(&c, line, &argc, &argv) != CMD_OK)
				fail_msg("%s: %s", e->line, c.error.text);
			arena_free(&c.arena);
		}
	}
}

static void test_left(void **state)
{
	char text[40];

	(void)state;
	progress_left(text, sizeof(text), 1, 100, 1.0);
	assert_string_equal(text, "");
	progress_left(text, sizeof(text), 10, 30, 5.0);
	assert_string_equal(text, "about 10 s left");
	progress_left(text, sizeof(text), 10, 410, 10.0);
	assert_string_equal(text, "about 7 min left");
	progress_left(text, sizeof(text), 30, 30, 5.0);
	assert_string_equal(text, "");
}

static void test_progress(void **state)
{
	static const struct probe probe = {.name = "clock", .asks = "What does it cost to read the clock?"};
	struct probe_record record = {.name = "clock", .state = PROBE_DONE, .seconds = 1.5};
	char *text = NULL;
	size_t size = 0;

	(void)state;
	for (int live = 0; live < 2; live++) {
		FILE *log = open_memstream(&text, &size);
		struct progress p = {.log = log, .live = live, .width = 40};

		struct engine_at at = {.probe = &probe, .total = 3, .points_wished = 10, .seconds = 1.0};

		progress_begin(&p, &at);
		at.points_done = 5;
		progress_step(&p, &at, 100.0);
		at.points_done = 6;
		progress_step(&p, &at, 120.0);
		progress_end(&p, &at, &record);
		fclose(log);
		assert_non_null(strstr(text, "[1/3] clock"));
		assert_non_null(strstr(text, "6 of 10 points"));
		assert_non_null(strstr(text, "done, 6 points in 1.5 s\n"));
		/* Only a terminal gets control sequences. */
		assert_int_equal(strchr(text, '\033') != NULL, live);
		assert_int_equal(strchr(text, '\r') != NULL, live);
		free(text);
	}
}

static void test_run_name(void **state)
{
	struct device_info sim = {.backend = "sim", .spec = "sim:some/dir/Mine.gpu", .name = "whatever"};
	struct device_info cuda = {.backend = "cuda", .spec = "cuda:0", .name = "NVIDIA H200 (SXM)"};
	struct device_info odd = {.backend = "cuda", .spec = "cuda:0", .name = "../\033[31m\xc3\xa9"};
	struct arena a;

	(void)state;
	arena_init(&a);
	assert_string_equal(files_run_name(&a, &sim, "2026-11-20", 1), "fathom-mine-2026-11-20.fathom");
	assert_string_equal(files_run_name(&a, &cuda, "2026-11-20", 3), "fathom-nvidia-h200-sxm-2026-11-20-3.fathom");
	assert_string_equal(files_run_name(&a, &odd, "2026-11-20", 1), "fathom-31m-2026-11-20.fathom");
	arena_free(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_parse),     cmocka_unit_test(test_refuse),   cmocka_unit_test(test_numbers),
	    cmocka_unit_test(test_one_table), cmocka_unit_test(test_examples), cmocka_unit_test(test_left),
	    cmocka_unit_test(test_progress),  cmocka_unit_test(test_run_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The table points at the commands; this test calls none. */
int cmd_list(struct cmd_context *c, int argc, char **argv)
{
	(void)argv;
	return c && argc ? CMD_OK : CMD_OK;
}

int cmd_run(struct cmd_context *c, int argc, char **argv)
{
	return cmd_list(c, argc, argv);
}

int cmd_explain(struct cmd_context *c, int argc, char **argv)
{
	return cmd_list(c, argc, argv);
}

int cmd_infer(struct cmd_context *c, int argc, char **argv)
{
	return cmd_list(c, argc, argv);
}

int cmd_report(struct cmd_context *c, int argc, char **argv)
{
	return cmd_list(c, argc, argv);
}

int cmd_compare(struct cmd_context *c, int argc, char **argv)
{
	return cmd_list(c, argc, argv);
}

int cmd_fleet(struct cmd_context *c, int argc, char **argv)
{
	return cmd_list(c, argc, argv);
}

int cmd_export(struct cmd_context *c, int argc, char **argv)
{
	return cmd_list(c, argc, argv);
}

int cmd_reproduce(struct cmd_context *c, int argc, char **argv)
{
	return cmd_list(c, argc, argv);
}

int cmd_sim(struct cmd_context *c, int argc, char **argv)
{
	return cmd_list(c, argc, argv);
}

int cmd_predict(struct cmd_context *c, int argc, char **argv)
{
	return cmd_list(c, argc, argv);
}

int store_load(struct run *r, const char *path, struct err *e)
{
	return r && path && e ? -1 : -1;
}

int store_resume(struct store **out, const char *path, struct err *e)
{
	return out && path && e ? -1 : -1;
}

int store_read(struct store *s, struct run *r, struct err *e)
{
	return s && r && e ? -1 : -1;
}

void store_close(struct store *s)
{
	(void)s;
}
