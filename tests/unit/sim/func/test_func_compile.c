/* What a compiler makes of a program: which records become operands, and what the others wait for. */
#include "func_fixture.h"
#include "gpu/sim/func/compile.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define HEAD                                                                                                           \
	".version 7.8\n.target sm_80\n.address_size 64\n.const .b32 c[4] = {1, 2, 3, 4};\n"                            \
	".entry k(.param .u64 to, .param .u64 from) { .reg .pred p, q, r; .reg .b32 a<8>; .reg .b64 d<8>; .reg .f32 "  \
	"f<5>;\n"

/* One letter a record: o for an operand, - for an instruction. */
static void shape(const char *body, const char *expected)
{
	struct func_fixture f;
	struct func_program *p = NULL;
	char got[64] = "";
	char text[2048];
	snprintf(text, sizeof text, "%s%s}", HEAD, body);
	fixture_open(&f);
	assert_int_equal(fixture_load(&f, text, 80), 0);
	assert_int_equal(func_compile(&p, &f.a, f.program, 16), 0);
	for (uint32_t k = 0; k < p->inst_count && k < sizeof got - 1; k++)
		got[k] = p->info[k].fused ? 'o' : '-';
	assert_string_equal(got, expected);
	fixture_close(&f);
}

static void names(void **state)
{
	(void)state;
	/* a parameter, a constant that the code names, a literal and another name; not a constant at a computed address */
	shape("ld.param.u64 d0, [to]; ld.const.u32 a0, [c+4]; mov.u32 a1, 7; mov.u32 a2, a1; add.u32 a3, a2, a0;"
	      "st.global.u32 [d0], a3; ret;",
	      "oooo----");
	shape("mov.u64 d1, c; ld.param.u32 a1, [from]; cvt.u64.u32 d2, a1; add.u64 d1, d1, d2; ld.const.u32 a0, [d1];"
	      "st.global.u32 [d2], a0; ret;",
	      "ooo-----");
	/* a special register is read by an instruction */
	shape("mov.u32 a0, %tid.x; st.global.u32 [0], a0; ret;", "----");
}

static void pairs(void **state)
{
	(void)state;
	/* a product and its sums; the step of an address */
	shape("ld.param.u64 d0, [to]; mul.wide.u32 d1, a0, 4; add.s64 d2, d0, d1; add.s64 d3, d2, 8;"
	      "ld.global.u32 a1, [d3]; st.global.u32 [d2], a1; ret;",
	      "oo-o----");
	/* the step goes elsewhere, too */
	shape("add.s64 d3, d2, 8; st.global.u64 [d3], d3; ret;", "----");
	/* two sums, but not three; two logical operations; a choice */
	shape("add.u32 a1, a0, a2; add.u32 a3, a1, a4; st.global.u32 [d0], a3; ret;", "o----");
	shape("add.u32 a1, a0, a2; add.u32 a3, a1, a4; add.u32 a5, a3, a6; st.global.u32 [d0], a5; ret;", "-o----");
	shape("and.b32 a1, a0, a2; xor.b32 a3, a1, a4; st.global.u32 [d0], a3; ret;", "o----");
	shape("shr.u32 a1, a0, 1; selp.b32 a3, a1, a4, p; st.global.u32 [d0], a3; ret;", "o----");
	/* comparisons: the second goes into what joins both answers */
	shape("setp.lt.u32 p, a0, 4; setp.gt.u32 q, a1, 4; and.pred r, p, q; @r st.global.u32 [d0], a3; ret;",
	      "-o----");
	/* signs */
	shape("neg.f32 f1, f0; add.f32 f2, f1, f1; st.global.f32 [d0], f2; ret;", "o----");
}

static void apart(void **state)
{
	(void)state;
	/* a guard, a use behind a branch, and a value that only comes back from beyond the SM */
	shape("@p mov.u32 a1, 7; st.global.u32 [d0], a1; ret;", "----");
	shape(
	    "add.u32 a1, a0, a2; @p bra L; add.u32 a3, a1, a4; st.global.u32 [d0], a3; L: st.global.u32 [d0], a1; ret;",
	    "-------");
	shape("atom.global.add.u32 a0, [d0], 1; mov.u32 a1, a0; st.global.u32 [d0], a1; ret;", "-----");
	/* no time of its own, but the same waits */
	struct func_fixture f;
	struct func_program *p = NULL;
	fixture_open(&f);
	assert_int_equal(
	    fixture_load(
		&f, HEAD "ld.global.u32 a0, [d0]; mov.u32 a1, a0; add.u32 a2, a1, 1; st.global.u32 [d1], a2; ret;}",
		80),
	    0);
	assert_int_equal(func_compile(&p, &f.a, f.program, 16), 0);
	bool waits = false;
	for (uint32_t k = 0; k < p->info[2].read_count; k++)
		waits |= p->info[2].read[k] == p->info[0].write[0];
	assert_true(p->info[1].fused && waits);
	fixture_close(&f);
}

/* The order of records of these operations after it, one letter each: l load, f fma, s setp, c clock. */
static void order(const char *body, uint32_t registers, const char *expected)
{
	struct func_fixture f;
	struct func_program *p = NULL;
	char got[64] = "", text[2048];
	size_t n = 0;
	snprintf(text, sizeof text, "%s%s}", HEAD, body);
	fixture_open(&f);
	assert_int_equal(fixture_load(&f, text, 80), 0);
	assert_int_equal(func_compile(&p, &f.a, f.program, registers), 0);
	for (uint32_t k = 0; k < p->inst_count && n < sizeof got - 1; k++) {
		const unsigned op = p->info[k].ptx_op;
		if (p->inst[k].kind == FUNC_LOAD || op == PTX_OP_FMA || op == PTX_OP_SETP ||
		    p->inst[k].kind == FUNC_CLOCK)
			got[n++] = p->inst[k].kind == FUNC_LOAD	   ? 'l'
				   : p->inst[k].kind == FUNC_CLOCK ? 'c'
				   : op == PTX_OP_FMA		   ? 'f'
								   : 's';
	}
	assert_string_equal(got, expected);
	fixture_close(&f);
}

static void early(void **state)
{
	(void)state;
	static const char loop[] = "L: ld.global.f32 f0, [d0]; fma.rn.f32 f1, f0, f0, f1; ld.global.f32 f2, [d0+4];"
				   "fma.rn.f32 f1, f2, f2, f1; add.u32 a0, a0, 1; setp.lt.u32 p, a0, 9; @p bra L;"
				   "st.global.f32 [d0], f1; ret;";
	/* loads first, then what the branch waits for */
	order(loop, 32, "llsff");
	/* registers for as many as the kernel needs by itself: steps of eight give it room */
	order(loop, 1, "llsff");
	/* nothing passes a clock */
	order("ld.global.f32 f0, [d0]; fma.rn.f32 f1, f0, f0, f1; mov.u32 a1, %clock; ld.global.f32 f2, [d0+4];"
	      "fma.rn.f32 f1, f2, f2, f1; st.global.f32 [d0], f1; ret;",
	      32, "lfclf");
	/* two registers are left: each further load goes ahead when another's value has been used */
	static const char four[] =
	    "ld.global.f32 f0, [d0]; fma.rn.f32 f1, f0, f0, f1; ld.global.f32 f2, [d0+4]; fma.rn.f32 f1, f2, f2, f1;"
	    "ld.global.f32 f3, [d0+8]; fma.rn.f32 f1, f3, f3, f1; ld.global.f32 f4, [d0+12]; fma.rn.f32 f1, f4, f4, f1;"
	    "st.global.f32 [d0], f1; ret;";
	order(four, 32, "llllffff");
	order(four, 8, "llflflff");
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(names), cmocka_unit_test(pairs), cmocka_unit_test(apart),
					   cmocka_unit_test(early)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
