/* Reads compiled kernels back: the committed images, the same texts compiled here when ptxas is on the path, and damage. */
#include "base/arena.h"
#include "base/str.h"
#include "native/native.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#ifndef DATA
#error "DATA is the folder of the committed images"
#endif

static uint8_t *read_file(const char *path, size_t *n)
{
	FILE *f = fopen(path, "rb");

	if (!f)
		fail_msg("%s cannot be opened", path);
	uint8_t *p = mem_alloc(1 << 20);
	assert_non_null(p);
	*n = fread(p, 1, 1 << 20, f);
	fclose(f);
	assert_true(*n > 0);
	return p;
}

static struct native_info read_image(const char *path, int cc)
{
	struct native_info n;
	size_t bytes;
	uint8_t *p = read_file(path, &bytes);

	native_read_cubin(&n, p, bytes, "k", cc);
	mem_free(p);
	return n;
}

static void check_chain(const struct native_info *n, int cc)
{
	char source[32];

	snprintf(source, sizeof source, "cubin sm_%d", cc);
	assert_string_equal(n->problem, "");
	assert_string_equal(n->source, source);
	assert_int_equal(n->clock_reads, 6);
	assert_int_equal(n->region_count, 5);
	assert_int_equal(n->region[0].total, 64);
	assert_int_equal(n->region[0].count[NATIVE_ALU], 64);
	assert_int_equal(n->region[0].top_count, 64);
	assert_string_equal(n->region[0].mix, "FFMA*64");
	assert_string_equal(n->region[1].mix, "IMAD*32");
	assert_int_equal(n->region[2].count[NATIVE_LOAD_GLOBAL], 8);
	assert_int_equal(n->region[3].count[NATIVE_LOAD_SHARED], 8);
	assert_int_equal(n->region[4].count[NATIVE_LOAD_CONST], 8);
	for (int i = 0; i < 5; i++)
		assert_int_equal(n->region[i].count[NATIVE_UNKNOWN], 0);
	/* 6 clocks, 64 + 32 + 3 * 8 in the chains, and some before and after; no padding. */
	assert_in_range(n->instructions, 130, 160);
	assert_in_range(n->registers, 8, 64);
	assert_true(n->fingerprint != 0);
}

static void check_folded(const struct native_info *n)
{
	assert_string_equal(n->problem, "");
	assert_int_equal(n->region_count, 3);
	assert_in_range(n->region[0].total, 1, 40); /* 64 additions are not there */
	assert_in_range(n->region[2].total, 0, 8);  /* nor are 64 exclusive ors */
	for (int i = 0; i < 3; i++)
		assert_int_equal(n->region[i].count[NATIVE_UNKNOWN], 0);
}

static void committed_chains(void **state)
{
	(void)state;
	static const int cc[] = {75, 90, 120};
	uint64_t seen[3];

	for (int i = 0; i < 3; i++) {
		char path[512];
		snprintf(path, sizeof path, DATA "/chain-sm_%d.cubin", cc[i]);
		struct native_info n = read_image(path, cc[i]);
		check_chain(&n, cc[i]);
		seen[i] = n.fingerprint;
	}
	assert_true(seen[0] != seen[1] && seen[1] != seen[2]);
}

static void committed_folded(void **state)
{
	(void)state;
	struct native_info n = read_image(DATA "/folded-sm_90.cubin", 90);

	check_folded(&n);
	assert_string_equal(n.region[0].mix, "IADD3*32");
	assert_string_equal(n.region[1].mix, "VIMNMX3*32");
	assert_string_equal(n.region[2].mix, "LOP3*1");
}

/* In an unrolled loop the reads are S2UR and CS2R by turns: both are clock reads, and only the first eight regions are kept. */
static void committed_unrolled(void **state)
{
	(void)state;
	struct native_info n = read_image(DATA "/unrolled-sm_90.cubin", 90);

	assert_string_equal(n.problem, "");
	assert_int_equal(n.clock_reads, 16);
	assert_int_equal(n.region_count, NATIVE_REGIONS);
	assert_string_equal(n.region[0].mix, "FFMA*3 NOP*1");
	assert_int_equal(n.region[0].count[NATIVE_OTHER], 1);
	assert_int_equal(n.region[1].count[NATIVE_BRANCH], 1);
	assert_int_equal(n.registers, 10);
}

static void compile(const char *name, int cc, int ptx, struct native_info *n)
{
	char text[256], image[256], command[1400];
	const char *dir = getenv("TMPDIR");

	if (!dir)
		dir = P_tmpdir;
	snprintf(text, sizeof text, "%s/fathom-native-%d.ptx", dir, (int)getpid());
	snprintf(image, sizeof image, "%s/fathom-native-%d.cubin", dir, (int)getpid());
	snprintf(
	    command, sizeof command,
	    "sed 's/sm_75/sm_%d/;s/^.version .*/.version %d.%d/' '%s/%s.ptx' > '%s' && ptxas -arch=sm_%d '%s' -o '%s'",
	    cc, ptx / 10, ptx % 10, DATA, name, text, cc, text, image);
	/* NOLINTNEXTLINE(bugprone-command-processor,cert-env33-c): a test, its own file names */
	int r = system(command);
	unlink(text);
	if (r)
		fail_msg("ptxas does not compile %s for sm_%d", name, cc);
	*n = read_image(image, cc);
	unlink(image);
}

static void compiled_here(void **state)
{
	(void)state;
	struct native_info n;

	/* NOLINTNEXTLINE(bugprone-command-processor,cert-env33-c) */
	if (system("ptxas --version > /dev/null 2>&1"))
		skip();
	compile("chain", 90, 78, &n);
	check_chain(&n, 90);
	compile("folded", 90, 78, &n);
	check_folded(&n);
	compile("chain", 80, 70, &n);
	check_chain(&n, 80);
	compile("unrolled", 80, 70, &n);
	assert_int_equal(n.region_count, NATIVE_REGIONS);
}

static void what_cannot_be_read_is_said(void **state)
{
	(void)state;
	struct native_info n;
	size_t bytes;
	uint8_t *p = read_file(DATA "/chain-sm_90.cubin", &bytes);

	native_read_cubin(&n, p, bytes, "other", 90);
	assert_non_null(strstr(n.problem, "other"));
	assert_int_equal(n.fingerprint, 0);
	native_read_cubin(&n, p, bytes, "k", 61);
	assert_non_null(strstr(n.problem, "6.1"));
	native_read_cubin(&n, "not an image", 12, "k", 90);
	assert_non_null(strstr(n.problem, "ELF"));
	native_read_cubin(&n, NULL, 0, "k", 90);
	assert_true(n.problem[0] != 0);
	mem_free(p);
}

/* Cut and damaged images: a problem or some counts, never a crash. Sanitizers watch. */
static void damaged_images(void **state)
{
	(void)state;
	struct native_info n;
	size_t bytes;
	uint8_t *p = read_file(DATA "/unrolled-sm_90.cubin", &bytes), *q = mem_alloc(bytes);
	uint64_t rng = 12345;

	assert_non_null(q);
	for (size_t cut = 0; cut < bytes; cut += 37) {
		memcpy(q, p, cut);
		native_read_cubin(&n, q, cut, "k", 90);
		assert_true(n.problem[0] || n.fingerprint);
	}
	for (int i = 0; i < 2000; i++) {
		memcpy(q, p, bytes);
		for (int k = 0; k < 4; k++) {
			rng = rng * 6364136223846793005u + 1442695040888963407u;
			size_t at = i % 2 ? (rng >> 33) % 64 : (rng >> 33) % bytes;
			q[at] = (uint8_t)(rng >> 20);
		}
		native_read_cubin(&n, q, bytes, "k", 90);
		assert_true(n.problem[0] || n.fingerprint);
	}
	mem_free(p);
	mem_free(q);
}

/* As NVIDIA's OpenCL compiler writes it. */
static const char handed_out[] =
    "//\n// Generated\n.version 8.0\n.target sm_90\n.address_size 64\n"
    ".entry walker(\n\t.param .u64 .ptr .global .align 4 walker_param_0\n)\n{\n\tret;\n}\n"
    ".entry walk(\n\t.param .u64 .ptr .global .align 8 walk_param_0,\n\t.param .u32 walk_param_1\n)\n{\n"
    "\t.reg .pred \t%p<3>;\n\t.loc 1 4 2 ; a line of its own\n"
    "\tld.param.u64 \t%rd1, [walk_param_0];\n"
    "\tmov.u32 \t%r1, %tid.x; // one; two\n"
    "$L__BB0_1: /* a label; */\n\tld.const.u32 %r2, [%rd2];\n\tld.const.u32 %r3, [%rd2+4];\n"
    "\tld.volatile.shared.u32 %r4, [%r2];\n\tld.global.nc.v2.u32 {%r5, %r6}, [%rd3];\n"
    "\tld.u32 %r7, [%rd3];\n\tadd.s32 %r8, %r7, 1;\n\tcos.approx.f32 %f1, %f2;\n"
    "\t{ // a call\n\t.param .b32 retval0;\n\tcall.uni (retval0), f, ();\n\t}\n"
    "\t@%p1 bra \t$L__BB0_1;\n\t@!%p2 st.global.u32 [%rd1], %r8;\n\tret;\n}\n.entry other()\n{\n\tld.const.u32 %r2, "
    "[%rd2];\n}\n";

static void ptx_that_is_handed_out(void **state)
{
	(void)state;
	struct native_info n;
	native_read_ptx(&n, handed_out, sizeof handed_out - 1, "walk", "test");
	assert_string_equal(n.problem, "");
	assert_string_equal(n.source, "test");
	assert_int_equal(n.clock_reads, 0);
	assert_int_equal(n.region_count, 1);
	const uint32_t *c = n.region[0].count;
	assert_int_equal(c[NATIVE_LOAD_CONST], 2);
	assert_int_equal(c[NATIVE_LOAD_SHARED], 1);
	assert_int_equal(c[NATIVE_LOAD_GLOBAL], 1);
	assert_int_equal(c[NATIVE_UNKNOWN], 1); /* may go anywhere */
	assert_int_equal(c[NATIVE_OTHER], 1);
	assert_int_equal(c[NATIVE_ALU], 3);
	assert_int_equal(c[NATIVE_STORE], 1);
	assert_int_equal(c[NATIVE_BRANCH], 3);
	assert_int_equal(n.region[0].total, 13);
	native_read_ptx(&n, handed_out, sizeof handed_out - 1, "walke", "test");
	assert_non_null(strstr(n.problem, "no entry walke"));
}

/* Cut anywhere, and with any one letter changed, it is read without harm: from memory that ends where the text does. */
static void damaged_ptx(void **state)
{
	(void)state;
	static const char letters[] = "{};/*@.:\n";
	const size_t all = sizeof handed_out - 1;
	struct native_info n;
	for (size_t size = 0; size <= all; size++) {
		char *text = mem_alloc(size + !size);
		assert_non_null(text);
		memcpy(text, handed_out, size);
		native_read_ptx(&n, text, size, "walk", "test");
		for (size_t k = 0; size == all && k < all; k++)
			for (const char *l = letters; *l; l++) {
				const char kept = text[k];
				text[k] = *l;
				native_read_ptx(&n, text, size, "walk", "test");
				assert_true(n.instructions < all);
				text[k] = kept;
			}
		mem_free(text);
	}
}

static void no_memory(void **state)
{
	(void)state;
	struct native_info n;
	size_t bytes;
	uint8_t *p = read_file(DATA "/chain-sm_90.cubin", &bytes);

	mem_fail_after(1);
	native_read_cubin(&n, p, bytes, "k", 90);
	mem_fail_after(0);
	assert_non_null(strstr(n.problem, "out of memory"));
	mem_free(p);
}

static void counted_lists(void **state)
{
	(void)state;
	static char names[150][8];
	struct native_op ops[200];
	struct native_info n;
	size_t k = 0;

	ops[k++] = (struct native_op){"mov", NATIVE_ALU};
	ops[k++] = (struct native_op){"clock", NATIVE_CLOCK};
	ops[k++] = (struct native_op){"add", NATIVE_ALU};
	ops[k++] = (struct native_op){"ld", NATIVE_LOAD_CONST};
	ops[k++] = (struct native_op){"ld", NATIVE_LOAD_CONST};
	ops[k++] = (struct native_op){"clock", NATIVE_CLOCK};
	ops[k++] = (struct native_op){"clock", NATIVE_CLOCK};
	for (int i = 0; i < 150; i++) { /* more names than a region remembers */
		snprintf(names[i], sizeof names[i], "op%d", i);
		ops[k++] = (struct native_op){names[i], NATIVE_ALU};
	}
	ops[k++] = (struct native_op){"clock", NATIVE_CLOCK};
	native_count(&n, ops, k, "sim");
	assert_string_equal(n.source, "sim");
	assert_int_equal(n.instructions, k);
	assert_int_equal(n.clock_reads, 4);
	assert_int_equal(n.region_count, 3);
	assert_string_equal(n.region[0].mix, "ld*2 add*1");
	assert_int_equal(n.region[0].top_count, 2);
	assert_int_equal(n.region[0].count[NATIVE_LOAD_CONST], 2);
	assert_int_equal(n.region[1].total, 0);
	assert_string_equal(n.region[1].mix, "");
	assert_int_equal(n.region[2].total, 150);
	assert_true(str_ends(n.region[2].mix, " ..."));
	uint64_t before = n.fingerprint;
	ops[2].name = "sub";
	native_count(&n, ops, k, "sim");
	assert_true(n.fingerprint != before);
	native_count(&n, ops, 0, "sim");
	assert_int_equal(n.fingerprint, 0);
	assert_int_equal(n.region_count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(committed_chains),
	    cmocka_unit_test(committed_folded),
	    cmocka_unit_test(committed_unrolled),
	    cmocka_unit_test(compiled_here),
	    cmocka_unit_test(what_cannot_be_read_is_said),
	    cmocka_unit_test(damaged_images),
	    cmocka_unit_test(ptx_that_is_handed_out),
	    cmocka_unit_test(damaged_ptx),
	    cmocka_unit_test(no_memory),
	    cmocka_unit_test(counted_lists),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
