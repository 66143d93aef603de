/* parse(print(m)) == m, for the files given on the command line and for generated modules. */
#include "ptx/ptx.h"
#include "ptx_generate.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

static int arg_count;
static char **args;

static char *read_file(const char *path)
{
	FILE *f = fopen(path, "rb");
	assert_non_null(f);
	char *text = mem_alloc(1 << 20);
	assert_non_null(text);
	size_t n = fread(text, 1, (1 << 20) - 1, f);
	text[n] = '\0';
	fclose(f);
	return text;
}

/* Also says that printing twice gives the same text. */
static void check_round(const char *name, const char *text)
{
	struct arena a;
	struct err e = {0};
	struct ptx_module *m, *again;
	struct str once, twice;
	arena_init(&a);
	str_init(&once);
	str_init(&twice);
	if (ptx_parse(&m, &a, name, text, strlen(text), &e))
		fail_msg("%s", e.text);
	assert_int_equal(ptx_print(&once, m), 0);
	if (ptx_parse(&again, &a, "printed", once.data, once.len, &e))
		fail_msg("%s: %s\n%s", name, e.text, once.data);
	if (!ptx_equal(m, again))
		fail_msg("%s reads back differently:\n%s", name, once.data);
	assert_int_equal(ptx_print(&twice, again), 0);
	assert_string_equal(once.data, twice.data);
	str_free(&once);
	str_free(&twice);
	arena_free(&a);
}

static void corpus_reads_back(void **state)
{
	(void)state;
	assert_true(arg_count > 0);
	for (int i = 0; i < arg_count; i++) {
		char *text = read_file(args[i]);
		check_round(args[i], text);
		mem_free(text);
	}
}

static bool accepted(const char *line)
{
	struct arena a;
	struct err e;
	struct ptx_module *m;
	struct str text;
	arena_init(&a);
	str_init(&text);
	generate_module(&text, line);
	bool yes = ptx_parse(&m, &a, "line", text.data, text.len, &e) == 0;
	str_free(&text);
	arena_free(&a);
	return yes;
}

static void generated_modules_read_back(void **state)
{
	struct rng r;
	unsigned tried = 0, kept = 0;
	(void)state;
	rng_seed(&r, 20240229);
	for (int module = 0; module < 60; module++) {
		struct str lines, text, line;
		str_init(&lines);
		str_init(&text);
		str_init(&line);
		for (int k = 0; k < 300; k++) {
			str_clear(&line);
			generate_line(&line, &r);
			tried++;
			if (!accepted(line.data))
				continue;
			kept++;
			str_add(&lines, line.data);
		}
		generate_module(&text, str_text(&lines));
		check_round("generated", text.data);
		str_free(&lines);
		str_free(&text);
		str_free(&line);
	}
	/* A generator that makes nothing right would prove nothing. */
	print_message("%u of %u generated instructions are right\n", kept, tried);
	assert_true(kept > tried / 20);
}

/* A change of anything that counts makes modules unequal. */
static void equality_sees_differences(void **state)
{
	static const char *const variants[] = {
	    "add.u32 %u0, %u1, %u2;\n",
	    "add.u32 %u0, %u1, %u3;\n",
	    "add.u32 %u0, %u1, 3;\n",
	    "add.s32 %u0, %u1, %u2;\n",
	    "sub.u32 %u0, %u1, %u2;\n",
	    "@%p1 add.u32 %u0, %u1, %u2;\n",
	    "@!%p1 add.u32 %u0, %u1, %u2;\n",
	    "@%p2 add.u32 %u0, %u1, %u2;\n",
	    "add.cc.u32 %u0, %u1, %u2;\n",
	    "ld.global.u32 %u0, [cell];\n",
	    "ld.global.u32 %u0, [cell+4];\n",
	    "ld.global.cg.u32 %u0, [cell];\n",
	    "ld.shared.u32 %u0, [pool];\n",
	    "mov.u32 %u0, %tid.x;\n",
	    "mov.u32 %u0, %tid.y;\n",
	    "bra FIRST;\n",
	    "bra LAST;\n",
	    "bra.uni LAST;\n",
	    "{ .reg .u32 a; }\n",
	    "X: ret;\n",
	    ".pragma \"nounroll\"; ret;\n",
	    "ret;\n",
	    ".local .u32 v; ret;\n",
	    ".local .u32 v[2]; ret;\n",
	};
	enum { N = sizeof variants / sizeof *variants };
	struct ptx_module *m[N];
	struct arena a;
	struct err e;
	(void)state;
	arena_init(&a);
	for (int i = 0; i < N; i++) {
		struct str text;
		str_init(&text);
		generate_module(&text, variants[i]);
		if (ptx_parse(&m[i], &a, variants[i], text.data, text.len, &e))
			fail_msg("%s", e.text);
		str_free(&text);
		for (int k = 0; k <= i; k++)
			if (ptx_equal(m[i], m[k]) != (i == k))
				fail_msg("%s against %s", variants[i], variants[k]);
	}
	arena_free(&a);
}

static void every_allocation_may_fail(void **state)
{
	(void)state;
	for (int i = 0; i < arg_count; i++) {
		char *text = read_file(args[i]);
		bool done = false;
		for (long n = 1; !done; n++) {
			struct arena a;
			struct err e = {0};
			struct ptx_module *m;
			struct str out;
			arena_init(&a);
			str_init(&out);
			mem_fail_after(n);
			long before = mem_count();
			int rc = ptx_parse(&m, &a, "x", text, strlen(text), &e);
			if (rc == 0)
				rc = ptx_print(&out, m);
			mem_fail_after(0);
			done = mem_count() - before < n;
			assert_int_equal(rc, done ? 0 : -ENOMEM);
			str_free(&out);
			arena_free(&a);
		}
		mem_free(text);
	}
}

/* A kernel of 5,000 instructions in a few milliseconds: the bound is loose, for slow machines and sanitizers. */
static void reading_is_fast(void **state)
{
	struct str lines, text;
	struct timespec from, to;
	struct arena a;
	struct err e;
	struct ptx_module *m;
	(void)state;
	str_init(&lines);
	str_init(&text);
	for (int i = 0; i < 5000; i++)
		if (i % 10)
			str_addf(&lines, "\tmad.lo.u32 %%u%d, %%u1, %%u2, %d;\n", i % 4, i);
		else
			str_addf(&lines, "L%d: @%%p1 bra L%d;\n", i, i / 2 / 10 * 10);
	generate_module(&text, lines.data);
	arena_init(&a);
	clock_gettime(CLOCK_MONOTONIC, &from);
	int rc = ptx_parse(&m, &a, "long", text.data, text.len, &e);
	clock_gettime(CLOCK_MONOTONIC, &to);
	if (rc)
		print_message("%s\n", e.text);
	double ms = (double)(to.tv_sec - from.tv_sec) * 1e3 + (double)(to.tv_nsec - from.tv_nsec) / 1e6;
	print_message("5,000 instructions in %.1f ms\n", ms);
	assert_int_equal(rc, 0);
	assert_int_equal(m->funcs[0].inst_count, 5001);
	assert_true(ms < 500);
	arena_free(&a);
	str_free(&lines);
	str_free(&text);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(corpus_reads_back),	 cmocka_unit_test(generated_modules_read_back),
	    cmocka_unit_test(equality_sees_differences), cmocka_unit_test(every_allocation_may_fail),
	    cmocka_unit_test(reading_is_fast),
	};
	arg_count = argc - 1;
	args = argv + 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
