/* What decode says about a program: where paths join, registers, layout, slots. */
#include "func_fixture.h"
#include "gpu/sim/func/fold.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define HEAD ".version 8.0\n.target sm_90\n.address_size 64\n"

static void joins(void **state)
{
	struct func_fixture f;
	const struct func_inst *i;
	(void)state;
	fixture_open(&f);
	assert_int_equal(fixture_load(&f,
				      HEAD ".entry k { .reg .pred p; .reg .u32 a;\n" /* records: */
					   "@p bra ELSE;\n"			     /* 0 */
					   "mov.u32 a, 1;\n"			     /* 1 */
					   "bra JOIN;\n"			     /* 2 */
					   "ELSE: mov.u32 a, 2;\n"		     /* 3 */
					   "JOIN: mov.u32 a, 3;\n"		     /* 4 */
					   "@p bra JOIN;\n"			     /* 5 */
					   "@p bra OUT;\n"			     /* 6 */
					   "exit;\n"				     /* 7 */
					   "OUT: @p exit;\n"			     /* 8 */
					   "EVER: @p bra EVER; bra EVER; }\n",	     /* 9, 10; 11: the last exit */
				      90),
			 0);
	i = f.program->inst;
	assert_int_equal(f.program->inst_count, 12);
	assert_int_equal(i[0].kind, FUNC_BRANCH);
	assert_int_equal(i[0].target, 3);
	assert_int_equal(i[0].join, 4);
	assert_int_equal(i[5].target, 4);
	assert_int_equal(i[5].join, 6);
	assert_int_equal(i[6].join, FUNC_NO_JOIN);
	assert_int_equal(i[9].join, FUNC_NO_JOIN);
	assert_int_equal(i[8].kind, FUNC_EXIT);
	assert_int_equal(i[11].kind, FUNC_EXIT);
	assert_int_equal(i[11].guard, FUNC_NONE);
	fixture_close(&f);
}

static void registers(void **state)
{
	static const struct {
		const char *body;
		uint32_t most;
	} cases[] = {
	    {"ret;", 0},
	    {".reg .u32 a; mov.u32 a, 1; st.global.u32 [0], a; ret;", 1},
	    /* never used together */
	    {".reg .u32 a, b; mov.u32 a, 1; st.global.u32 [0], a; mov.u32 b, 1; st.global.u32 [0], b; ret;", 1},
	    {".reg .u32 a, b; mov.u32 a, 1; mov.u32 b, 2; st.global.u32 [0], a; st.global.u32 [0], b; ret;", 2},
	    {".reg .u64 a; .reg .u32 b; mov.u64 a, 1; mov.u32 b, 2; st.global.u64 [0], a; st.global.u32 [0], b; ret;",
	     3},
	    /* alive around a loop */
	    {".reg .u32 a, b; .reg .pred p; mov.u32 a, 1; mov.u32 b, 0; L: add.u32 b, b, 1; setp.lt.u32 p, b, 9; @p "
	     "bra L;\n"
	     "st.global.u32 [0], a; ret;",
	     2},
	    /* a result that nobody reads */
	    {".reg .u32 a, b; mov.u32 a, 1; mov.u32 b, 1; st.global.u32 [0], a; ret;", 2},
	    /* a guarded write keeps the old value */
	    {".reg .u32 a, b; .reg .pred p; mov.u32 a, 1; mov.u32 b, 3; @p mov.u32 a, b; st.global.u32 [0], a; ret;",
	     2},
	};
	(void)state;
	for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
		struct func_fixture f;
		struct str text;
		str_init(&text);
		str_addf(&text, HEAD ".entry k {\n%s\n}\n", cases[k].body);
		fixture_open(&f);
		if (fixture_load(&f, text.data, 90))
			fail_msg("%s", f.e.text);
		if (f.program->registers != cases[k].most)
			fail_msg("%u registers, not %u: %s", f.program->registers, cases[k].most, cases[k].body);
		str_free(&text);
		fixture_close(&f);
	}
}

static void layout(void **state)
{
	struct func_fixture f;
	(void)state;
	fixture_open(&f);
	assert_int_equal(
	    fixture_load(&f,
			 HEAD
			 ".const .u8 a = 1;\n.const .u32 b = 2;\n.global .u8 g;\n.global .align 16 .u32 h = 7;\n"
			 ".shared .u8 unused[99];\n.shared .u8 s;\n.extern .shared .b32 x[];\n"
			 ".entry j { .shared .u32 other[5]; st.shared.u32 [other], 1; }\n"
			 ".entry k(.param .u8 p, .param .u64 q) { .reg .u32 r; .local .u64 l; st.shared.u8 [s], 1;\n"
			 "mov.u32 r, x; st.local.u64 [l], 1; st.shared.u32 [x+4], r; }\n",
			 90),
	    0);
	const struct func_program *p = f.program;
	assert_int_equal(p->const_bytes, 8);
	assert_int_equal(p->const_init[0], 1);
	assert_int_equal(p->const_init[4], 2);
	assert_int_equal(p->global_bytes, 20);
	assert_int_equal(p->global_init[16], 7);
	assert_int_equal(p->shared_static, 16); /* s, and the dynamic array behind it is aligned */
	assert_int_equal(p->local_bytes, 16);
	assert_int_equal(p->param_count, 2);
	assert_int_equal(p->param_bytes, 16);
	assert_int_equal(p->param[1].offset, 8);
	bool found = false;
	for (uint32_t k = 0; k < p->symbol_count; k++)
		if (strcmp(p->symbol[k].name, "h") == 0) {
			found = true;
			assert_int_equal(p->symbol[k].address, FUNC_MODULE_BASE + 16);
			assert_int_equal(p->symbol[k].size, 4);
		}
	assert_true(found);
	fixture_close(&f);
}

static void shared_memory_of_a_launch_begins_as_it_asks(void **state)
{
	struct func_fixture f;
	(void)state;
	fixture_open(&f);
	assert_int_equal(fixture_load(&f,
				      HEAD ".shared .u8 s;\n.extern .shared .align 512 .b8 x[];\n"
					   ".entry k { .reg .u32 r; st.shared.u8 [s], 1; mov.u32 r, x; }\n",
				      90),
			 0);
	assert_int_equal(f.program->shared_static, 512);
	fixture_close(&f);
}

/* The scoreboard's view: what each record reads and writes. */
static void slots(void **state)
{
	struct func_fixture f;
	(void)state;
	fixture_open(&f);
	assert_int_equal(
	    fixture_load(&f,
			 HEAD ".entry k { .reg .u32 a, b; .reg .u64 d; .reg .pred p;\n"
			      "@p mad.wide.u32 d, a, b, d; ld.global.v2.u32 {a, b}, [d]; setp.lt.u32 p, a, 5; }\n",
			 90),
	    0);
	const struct func_info *i = f.program->info;
	assert_int_equal(i[0].read_count, 4); /* p, a, b, d */
	assert_int_equal(i[0].write_count, 1);
	assert_true(i[0].read[0] >= f.program->rows);
	assert_int_equal(i[1].read_count, 1);
	assert_int_equal(i[1].read[0], i[0].write[0]);
	assert_int_equal(i[1].write_count, 2);
	assert_int_equal(i[2].read_count, 1); /* the literal is nobody's */
	assert_int_equal(i[2].write[0], i[0].read[0]);
	assert_int_equal(i[2].line, 5);
	fixture_close(&f);
}

/* As much local memory as the generation gives a thread; more is refused before anything is allocated. */
static void local_memory_has_an_end(void **state)
{
	static const struct {
		uint32_t bytes;
		int cc, rc;
	} cases[] = {{16384, 13, 0},  {16400, 13, -EINVAL},  {16400, 20, 0},
		     {524288, 90, 0}, {524304, 90, -EINVAL}, {1u << 30, 90, -EINVAL}};
	(void)state;
	for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
		struct func_fixture f;
		char text[256];
		snprintf(text, sizeof text, HEAD ".entry k {\n.local .align 4 .b8 a[%u]; st.local.u32 [a+4], 1; }\n",
			 cases[k].bytes);
		fixture_open(&f);
		assert_int_equal(fixture_load(&f, text, cases[k].cc), cases[k].rc);
		if (cases[k].rc)
			assert_non_null(strstr(f.e.text, ":5:1: kernel 'k' has "));
		fixture_close(&f);
	}
}

/* Lane 31 reads the last word that the launch before it wrote as 1. */
static void untouched_local_memory_is_what_was_left(void **state)
{
	struct func_fixture f;
	(void)state;
	fixture_open(&f);
	f.grid[0] = 2;
	assert_int_equal(
	    fixture_load(&f,
			 HEAD ".entry k (.param .u64 o) { .local .align 8 .b8 a[500000]; .reg .u32 r; .reg .u64 q;\n"
			      "ld.param.u64 q, [o]; ld.local.u32 r, [a+499992]; st.global.u32 [q], r; "
			      "st.local.u32 [a+499992], 1; ld.local.u32 r, [a+499992]; st.global.u32 [q+4], r; }\n",
			 90),
	    0);
	fixture_run(&f);
	const uint32_t *w = (const uint32_t *)(const void *)f.out->data;
	assert_int_equal(w[0], FUNC_LOCAL_LEFT * 0x01010101u);
	assert_int_equal(w[1], 1);
	fixture_close(&f);
}

static void deep_calls_are_refused(void **state)
{
	(void)state;
	for (unsigned n = 100; n <= 3000; n += 2900) {
		struct func_fixture f;
		struct str text;
		str_init(&text);
		str_add(&text, HEAD ".func f0 () { ret; }\n");
		for (unsigned k = 1; k <= n; k++)
			str_addf(&text, ".func f%u () { call f%u, (); ret; }\n", k, k - 1);
		str_addf(&text, ".entry k { call f%u, (); }\n", n);
		fixture_open(&f);
		assert_int_equal(fixture_load(&f, str_text(&text), 90), n == 100 ? 0 : -EINVAL);
		if (n > 100)
			assert_non_null(strstr(f.e.text, "calls are nested deeper"));
		fixture_close(&f);
		str_free(&text);
	}
}

/* As an H200 answers, whose kernel has 16 bytes of its own here. Before sm_80 there is none. */
static void shared_memory_of_the_system(void **state)
{
	(void)state;
	static const uint32_t card[] = {0, 0x120, 0x400, 0, 0x410, 16, 0x400, 7};
	for (int cc = 70; cc <= 90; cc += 20) {
		struct func_fixture f;
		fixture_open(&f);
		assert_int_equal(
		    fixture_load(
			&f,
			".version 8.0\n.target sm_70\n.address_size 64\n"
			".entry k(.param .u64 out) { .shared .align 4 .b8 own[16]; .reg .u64 o; .reg .u32 r<8>;\n"
			"ld.param.u64 o, [out]; mov.u32 r0, %reserved_smem_offset_begin;\n"
			"mov.u32 r1, %reserved_smem_offset_end; mov.u32 r2, %reserved_smem_offset_cap;\n"
			"mov.u32 r3, %reserved_smem_offset_1; mov.u32 r4, %aggr_smem_size;\n"
			"mov.u32 r5, %total_smem_size; mov.u32 r6, own; st.shared.u32 [own], 5; st.shared.u32 [r3], "
			"7;\n"
			"ld.shared.u32 r7, [r3]; st.global.v4.u32 [o], {r0, r1, r2, r3};\n"
			"st.global.v4.u32 [o+16], {r4, r5, r6, r7}; }\n",
			cc),
		    0);
		f.block[0] = 1;
		fixture_run(&f);
		const uint32_t *w = (const uint32_t *)f.out->data;
		for (unsigned k = 0; k < 8; k++)
			assert_int_equal(w[k], cc == 90 ? card[k] : k == 7 ? 7 : k == 4 || k == 5 ? 16 : 0);
		fixture_close(&f);
	}
}

/* A loop of so many registers that they have to share rows: those of a stretch, of a callee, and of a loop within
 * it. */
static void more_registers_than_rows(void **state)
{
	(void)state;
	enum { EACH = 12000 };
	struct func_fixture f;
	struct str text;
	str_init(&text);
	str_addf(&text,
		 HEAD ".func (.reg .u32 y) twice(.reg .u32 x) { .reg .u32 n, s, a<%d>; .reg .pred p; mov.u32 s, 0; "
		      "mov.u32 n, 2;\n"
		      "L: add.u32 a0, x, s;\n",
		 EACH + 1);
	for (int k = 0; k < EACH; k++)
		str_addf(&text, "add.u32 a%d, a%d, n;\n", k + 1, k);
	str_addf(&text,
		 "mov.u32 s, a%d; sub.u32 n, n, 1; setp.ne.u32 p, n, 0; @p bra L; mov.u32 y, s; }\n"
		 ".entry k(.param .u64 out) { .reg .u32 i, n, s, t, a<%d>; .reg .u64 o; .reg .pred p; mov.u32 n, 2;\n"
		 "mov.u32 s, %%tid.x; ld.param.u64 o, [out]; mad.wide.u32 o, s, 4, o;\n"
		 "M: call (i), twice, (s); call (t), twice, (n); add.u32 a0, i, t;\n",
		 EACH, EACH + 1);
	for (int k = 0; k < EACH; k++)
		str_addf(&text, "mad.lo.u32 a%d, a%d, 3, n;\n", k + 1, k);
	str_addf(&text, "xor.b32 s, a%d, i; sub.u32 n, n, 1; setp.ne.u32 p, n, 0; @p bra M; st.global.u32 [o], s; }\n",
		 EACH);
	fixture_open(&f);
	assert_int_equal(fixture_load(&f, str_text(&text), 90), 0);
	assert_true(f.program->rows < EACH);
	fixture_run(&f);
	for (uint32_t lane = 0; lane < 32; lane++) {
		uint32_t s = lane;
		for (uint32_t n = 2; n; n--) {
			const uint32_t given[2] = {s, n};
			uint32_t twice[2], a;
			for (unsigned x = 0; x < 2; x++) {
				twice[x] = given[x] + 2 * EACH;
				twice[x] = given[x] + twice[x] + EACH;
			}
			a = twice[0] + twice[1];
			for (int k = 0; k < EACH; k++)
				a = a * 3 + n;
			s = a ^ twice[0];
		}
		assert_int_equal(((const uint32_t *)f.out->data)[lane], s);
	}
	str_free(&text);
	fixture_close(&f);
}

static void operands_from_shared_memory(void **state)
{
#define DECLARED ".reg .pred p; .reg .u32 i, j; .reg .f32 a, b, c; .shared .f32 s[64];\n"
	static const struct {
		const char *body, *marks;
	} cases[] = {
	    {"ld.shared.f32 a, [s]; mul.f32 c, a, b; st.global.f32 [0], c; ret;", "LU--"},
	    {"ld.shared.f32 a, [s]; mov.u32 i, 1; mul.f32 c, a, b; st.global.f32 [0], c; ret;", "L-U--"},
	    /* one register for several words in turn */
	    {"ld.shared.f32 a, [s]; add.f32 b, a, b; ld.shared.f32 a, [s + 4]; add.f32 b, a, b; ret;", "LULU-"},
	    /* an instruction takes one */
	    {"ld.shared.f32 a, [s]; ld.shared.f32 b, [s + 4]; mul.f32 c, a, b; ret;", "L-U-"},
	    /* two use it; none of arithmetic does; it is needed in another stretch, or in the next turn */
	    {"ld.shared.f32 a, [s]; mul.f32 c, a, b; mul.f32 b, a, c; ret;", "----"},
	    {"ld.shared.f32 a, [s]; st.global.f32 [0], a; ret;", "---"},
	    {"ld.shared.f32 a, [s]; @p bra L; mul.f32 c, a, b; L: ret;", "----"},
	    {"L: mul.f32 c, a, b; ld.shared.f32 a, [s]; mul.f32 c, a, b; @p bra L; ret;", "-----"},
	    /* what it loads may be another when it is used */
	    {"ld.shared.f32 a, [s]; st.shared.f32 [s], b; mul.f32 c, a, b; ret;", "----"},
	    {"ld.shared.f32 a, [s]; bar.sync 0; mul.f32 c, a, b; ret;", "----"},
	    {"ld.shared.f32 a, [s]; st.f32 [16777216], b; mul.f32 c, a, b; ret;", "----"},
	    /* some threads only; two words; another space */
	    {"@p ld.shared.f32 a, [s]; mul.f32 c, a, b; ret;", "---"},
	    {"ld.shared.f32 a, [s]; @p mul.f32 c, a, b; ret;", "---"},
	    {"ld.shared.v2.f32 {a, b}, [s]; mul.f32 c, a, b; ret;", "---"},
	    {"ld.global.f32 a, [0]; mul.f32 c, a, b; ret;", "---"},
	    {"ld.volatile.shared.f32 a, [s]; mul.f32 c, a, b; ret;", "---"},
	};
	(void)state;
	for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
		struct func_fixture f;
		struct func_program *q;
		struct arena a;
		char text[512];
		arena_init(&a);
		fixture_open(&f);
		snprintf(text, sizeof text, HEAD ".entry k {" DECLARED "%s }\n", cases[n].body);
		assert_int_equal(fixture_load(&f, text, 90), 0);
		assert_int_equal(func_fold(&q, &a, f.program), 0);
		for (uint32_t k = 0; cases[n].marks[k]; k++)
			if (q->operand[k] != (cases[n].marks[k] == 'L'	 ? FUNC_OPERAND_LOAD
					      : cases[n].marks[k] == 'U' ? FUNC_OPERAND_USE
									 : FUNC_OPERAND_NONE))
				fail_msg("%s: record %u is %u", cases[n].body, k, q->operand[k]);
		fixture_close(&f);
		arena_free(&a);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(joins),
	    cmocka_unit_test(operands_from_shared_memory),
	    cmocka_unit_test(layout),
	    cmocka_unit_test(shared_memory_of_a_launch_begins_as_it_asks),
	    cmocka_unit_test(registers),
	    cmocka_unit_test(slots),
	    cmocka_unit_test(local_memory_has_an_end),
	    cmocka_unit_test(untouched_local_memory_is_what_was_left),
	    cmocka_unit_test(deep_calls_are_refused),
	    cmocka_unit_test(more_registers_than_rows),
	    cmocka_unit_test(shared_memory_of_the_system),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
