#include "base/arena.h"
#include "base/embed.h"
#include "base/rng.h"
#include "kernel/kernel.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const struct device_info device = {.ptx_version = 78, .target = "sm_90", .cc = 90, .warp_size = 32};
static const struct device_info old = {.ptx_version = 14, .target = "sm_13", .cc = 13, .warp_size = 32};
#define HEADER "\n.target sm_90\n.address_size 64\n"
static const struct kernel_param params[] = {
    {"N", "4"}, {"OP", "add.s32"}, {"NEG", "-3"}, {"BIG", "9223372036854775807"}, {"EMPTY", ""}};
#define PARAMS (sizeof(params) / sizeof(params[0]))

static int expand(struct str *out, const char *text, const struct device_info *d, struct err *e)
{
	str_clear(out);
	return kernel_expand(out, "test.ptx", text, strlen(text), params, PARAMS, d, e);
}

static void expect(const char *text, const char *want)
{
	struct str out;
	struct err e = {0};

	str_init(&out);
	int rc = expand(&out, text, &device, &e);
	if (rc)
		print_error("%s\n", e.text);
	assert_int_equal(rc, 0);
	assert_true(str_starts(str_text(&out), ".version 7.8" HEADER));
	assert_string_equal(strstr(str_text(&out), HEADER) + strlen(HEADER), want);
	str_free(&out);
}

static void expect_error(const char *text, const char *words)
{
	struct str out;
	struct err e = {0};

	str_init(&out);
	assert_int_equal(expand(&out, text, &device, &e), -EINVAL);
	if (!strstr(e.text, words))
		print_error("'%s' does not say '%s'\n", e.text, words);
	assert_non_null(strstr(e.text, words));
	assert_int_equal(expand(&out, text, &device, NULL), -EINVAL); /* nobody has to listen */
	str_free(&out);
}

static void parameters(void **state)
{
	(void)state;
	expect("a $OP b ${N}x $CC$RN ${WARP}\n", "a add.s32 b 4x 90.rn 32\n");
	expect("[$(N*8+1)] $(-NEG)\n", "[33] 3\n");
	expect("no newline at the end", "no newline at the end\n");
	expect("$EMPTY;  // $unknown in a comment\n", ";\n");
	expect("", "");
}

static void expressions(void **state)
{
	(void)state;
	expect("$(2+3*4) $((2+3)*4) $(7/2) $(-7/2) $(7%4)", "14 20 3 -3 3\n");
	expect("$(1<<4|3) $(256>>4&31) $(6^3) $(!0) $(~0)", "19 16 5 1 -1\n");
	expect("$(1<2) $(2<=1) $(3>=3) $(3!=3) $(1==1) $(10-2-3)", "1 0 1 0 1 5\n");
	expect("$(1 || 1/0) $(0 && 1/0) $(0 || 2) $(0x10)", "1 0 1 16\n");
	expect("$(OP == 'add.s32') $(OP != 'add.s32') $(N == '4') $(EMPTY == '')", "1 0 1 1\n");
	expect_error("$(1/0)", "test.ptx:1: division by zero");
	expect_error("\n\n$(1%0)", "test.ptx:3: division by zero");
	expect_error("$(OP+1)", "needs numbers");
	expect_error("$(OP)", "is a text");
	expect_error("$(BIG+1)", "too large");
	expect_error("$(BIG*2)", "too large");
	expect_error("$(1<<63)", "shift by 63");
	expect_error("$(1+)", "unexpected");
	expect_error("$(1 2)", "')' is missing");
	expect_error("#if 1 2\nx\n#end", "unexpected '2' after the expression");
	expect_error("$((1)", "')' is missing");
	expect_error("$(foo)", "unknown parameter 'foo' (known: N, OP");
	expect_error("$(12x)", "not an integer");
	expect_error("$('x)", "a closing ' is missing");
	expect_error("$((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((1", "missing");
}

static void repetition(void **state)
{
	(void)state;
	expect("#repeat 3 i\nr$i r$(i+1)\n#end\nend", "r0 r1\nr1 r2\nr2 r3\nend\n");
	expect("#repeat N/2 k\n#repeat k+1 j\n$k$j\n#end\n#end", "00\n10\n11\n");
	expect("#repeat (2)\nx\n#end", "x\nx\n");
	expect("#repeat 0 i\n$i\n#end\nlast", "last\n");
	expect("#repeat 2 N\n$N\n#end\n$N", "0\n1\n4\n"); /* the variable hides the parameter, and only inside */
	expect_error("#repeat 3 i\nx", "test.ptx:1: '#repeat' has no #end");
	expect_error("#repeat 3\nx\n#else\n#end", "#else without #if");
	expect_error("x\n#end", "test.ptx:2: #end without a beginning");
	expect_error("#repeat NEG\nx\n#end", "#repeat -3");
	expect_error("#repeat 2000000\nx\n#end", "0 to 1000000");
	expect_error("#repeat 1000000\n#repeat 1000000\nmov.u32 %r0, %r1;\n#end\n#end", "larger than");
	expect_error("#repeat 2\n$nope\n#end", "test.ptx:2: unknown parameter 'nope'");
}

static void conditions(void **state)
{
	(void)state;
	expect("#if CC >= 20\nnew\n#else\nold\n#end", "new\n");
	expect("#if CC < 20\nnew\n#else\nold\n#end", "old\n");
	expect("#if OP == 'add.s32'\nyes\n#end\n#if OP == 'sub'\nno\n#end", "yes\n");
	expect("#if 0\n$unknown\n#repeat foo\n#include nothing\n#end\n#else\nx\n#end", "x\n");
	expect("#if $N == 4\nx\n#end", "x\n");
	expect_error("#if\nx\n#end", "ends too early");
	expect_error("#if 1\nx\n#else\ny", "'#if' has no #end");
	expect_error("#if 1\nx\n#else\ny\n#else\n#end", "#if");
	expect_error("#elif 1\n", "unknown directive '#elif 1'");
	expect_error("#", "unknown directive '#'");
}

static void texts_in_texts(void **state)
{
	(void)state;
	struct str out;
	struct err e = {0};

	str_init(&out);
	assert_int_equal(expand(&out, "#include pin\n", &old, &e), 0);
	assert_true(str_starts(str_text(&out), ".version 1.4\n.target sm_13\n.address_size 64\n"));
	assert_non_null(strstr(str_text(&out), "%smid"));
	assert_null(strchr(str_text(&out), '#'));
	assert_int_equal(expand(&out, "$RN|", &old, &e), 0);
	assert_non_null(strstr(str_text(&out), "64\n|\n"));
	str_free(&out);
	expect_error("#include nothing", "#include nothing: there is no such text");
	expect_error("#include ../x", "there is no such text");
}

static void one_text_in_several_places(void **state)
{
	(void)state;
	expect("#macro step\n#if N == 4\nload $N\n#end\n#end\n#put step\nloop\n#put step", "load 4\nloop\nload 4\n");
	expect("#macro step\nat $i\n#end\n#repeat 2 i\n#put step\n#end", "at 0\nat 1\n");
	expect("#macro in\nx\n#end\n#macro out\n#put in\ny\n#end\n#put out", "x\ny\n");
	expect("#if 0\n#macro a\nx\n#end\n#put b\n#end\ny", "y\n");
	expect_error("#macro a\n$nope\n#end\n#put a", "test.ptx:2: unknown parameter 'nope'");
	expect_error("#put a", "test.ptx:1: #put a: there is no such macro");
	expect_error("#macro a\nx", "'#macro' has no #end");
	expect_error("#macro a\nx\n#else\n#end", "#else without #if");
	expect_error("#macro\nx\n#end", "#macro needs a name");
	expect_error("#macro a\n#end\n#macro a\n#end", "test.ptx:3: there are two macros a");
	expect_error("#macro a\n#put a\n#end\n#put a", "nested too deeply");
	expect_error("#repeat 9 i\n#macro m$i\n#end\n#end", "#macro needs a name");
}

static void runs_out_of_memory(void **state)
{
	(void)state;
	struct str out;
	struct err e = {0};

	for (long n = 1; n <= 2; n++) {
		str_init(&out);
		mem_fail_after(n);
		assert_int_equal(expand(&out, "#repeat 100\nsome text that fills the buffer\n#end", &device, &e),
				 -ENOMEM);
		mem_fail_after(0);
		str_free(&out);
	}
}

/* Damaged templates: an error with a place, or an expansion; nothing else (the sanitizers look). */
static void damaged_texts(void **state)
{
	(void)state;
	static const char bits[] = "$({})#'\n i0 -/*%<>=|&repeat if end else include macro put";
	const struct kernel_param some[] = {{"N", "3"}, {"READS", "2"}, {"GAP", "1"}, {"KIND", "f32"}, {"REG", "f32"}};
	struct rng r;
	unsigned refused = 0, expanded = 0;

	rng_seed(&r, 11);
	for (size_t i = 0; i < embedded_count; i++) {
		const struct embedded *f = &embedded_files[i];
		if (!str_ends(f->path, ".ptx"))
			continue;
		for (int round = 0; round < 300; round++) {
			char *text = mem_alloc(f->size + 1);
			size_t size = f->size;
			struct str out;
			struct err e = {0};
			assert_non_null(text);
			memcpy(text, f->data, size + 1);
			for (uint64_t k = rng_below(&r, 4); k > 0; k--)
				text[rng_below(&r, size)] = bits[rng_below(&r, sizeof(bits) - 1)];
			if (rng_below(&r, 4) == 0)
				size = rng_below(&r, size);
			str_init(&out);
			int rc = kernel_expand(&out, "damaged", text, size, some, 5, &device, &e);
			if (rc) {
				assert_int_equal(rc, -EINVAL);
				assert_true(e.text[0] != '\0' && strchr(e.text, ':'));
			}
			refused += rc != 0;
			expanded += rc == 0;
			str_free(&out);
			mem_free(text);
		}
	}
	assert_true(refused > 100 && expanded > 100);
}

/* The prologue is PTX that the vendor's compiler takes, where there is one. Writes a kernel for the shell test. */
static int write_pinned(const char *path)
{
	static const char text[] =
	    ".visible .entry pinned(.param .u64 out, .param .u32 pin_sm)\n{\n#include pin\n\tret;\n}\n";
	struct str out;
	struct err e = {0};

	str_init(&out);
	int rc = kernel_expand(&out, "pinned", text, strlen(text), NULL, 0, &device, &e);
	FILE *f = rc ? NULL : fopen(path, "w");
	if (f) {
		fputs(str_text(&out), f);
		rc = fclose(f);
	}
	str_free(&out);
	return rc || !f;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(parameters),	  cmocka_unit_test(expressions),
	    cmocka_unit_test(repetition),	  cmocka_unit_test(conditions),
	    cmocka_unit_test(texts_in_texts),	  cmocka_unit_test(one_text_in_several_places),
	    cmocka_unit_test(runs_out_of_memory), cmocka_unit_test(damaged_texts),
	};

	if (argc == 3 && strcmp(argv[1], "--pinned") == 0)
		return write_pinned(argv[2]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
