/* How many instructions the modelled compiler makes of an operation, beside what a card's does. */
#include "gpu/sim/func/compile.h"
#include "gpu/sim/spec.h"
#include "gpu/sim/time/time.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define COUNT_OF(a) (sizeof(a) / sizeof *(a))
#define HEAD                                                                                                           \
	".version 7.8\n.target sm_90\n.address_size 64\n.entry k(.param .u64 to) { .reg .pred p; .reg .b32 a<5>; "     \
	".reg .b64 d<6>; .reg .f32 f<4>;\nld.param.u64 d0, [to]; ld.global.u64 d2, [d0]; ld.global.u64 d3, [d0+8];\n"

/* What ptxas 13.0 makes of the operations for sm_90, on the path of usual operands. Constants that it puts into
 * registers do not count, as a loop has them before it. */
static const struct {
	const char *name, *text;
	unsigned native;
} operations[] = {
    {"add.s64", "add.s64 d1, d2, d3; st.global.u64 [d0], d1;", 2},
    {"sub.s64", "sub.s64 d1, d2, d3; st.global.u64 [d0], d1;", 2},
    {"mul.lo.s64", "mul.lo.s64 d1, d2, d3; st.global.u64 [d0], d1;", 4},
    {"shl.b64", "shl.b64 d1, d2, 2; st.global.u64 [d0], d1;", 2},
    {"shl.b64 and add.s64", "shl.b64 d4, d2, 2; add.s64 d1, d4, d3; st.global.u64 [d0], d1;", 2},
    {"shr.u64", "shr.u64 d1, d2, a1; st.global.u64 [d0], d1;", 2},
    {"shr.s64", "shr.s64 d1, d2, a1; st.global.u64 [d0], d1;", 2},
    {"and.b64", "and.b64 d1, d2, d3; st.global.u64 [d0], d1;", 2},
    {"and.b64 of a word", "cvt.u64.u32 d4, a1; and.b64 d1, d4, d3; st.global.u64 [d0], d1;", 1},
    {"setp.lt.u64 and selp.b64", "setp.lt.u64 p, d2, d3; selp.b64 d1, d2, d3, p; st.global.u64 [d0], d1;", 4},
    {"min.u64", "min.u64 d1, d2, d3; st.global.u64 [d0], d1;", 4},
    {"max.s64", "max.s64 d1, d2, d3; st.global.u64 [d0], d1;", 4},
    {"neg.s64", "neg.s64 d1, d2; st.global.u64 [d0], d1;", 2},
    {"mul.wide.u32", "mul.wide.u32 d1, a1, a2; st.global.u64 [d0], d1;", 1},
    {"mul.wide.u32 and add.s64", "mul.wide.u32 d4, a1, 4; add.s64 d1, d4, d2; st.global.u64 [d0], d1;", 1},
    {"popc.b64", "popc.b64 a1, d2; st.global.u32 [d0], a1;", 3},
    {"bfe.u32", "bfe.u32 a1, a2, 5, 8; st.global.u32 [d0], a1;", 2},
    {"clz.b32", "clz.b32 a1, a2; st.global.u32 [d0], a1;", 2},
    {"mul.hi.u32", "mul.hi.u32 a1, a2, a3; st.global.u32 [d0], a1;", 1},
    {"div.u32", "div.u32 a1, a2, a3; st.global.u32 [d0], a1;", 18},
    {"rem.u32", "rem.u32 a1, a2, a3; st.global.u32 [d0], a1;", 17},
    {"ex2.approx", "ex2.approx.f32 f1, f2; st.global.f32 [d0], f1;", 4},
    {"ex2.approx.ftz", "ex2.approx.ftz.f32 f1, f2; st.global.f32 [d0], f1;", 1},
    {"lg2.approx", "lg2.approx.f32 f1, f2; st.global.f32 [d0], f1;", 4},
    {"lg2.approx.ftz", "lg2.approx.ftz.f32 f1, f2; st.global.f32 [d0], f1;", 1},
    {"rsqrt.approx", "rsqrt.approx.f32 f1, f2; st.global.f32 [d0], f1;", 4},
    {"sqrt.approx", "sqrt.approx.f32 f1, f2; st.global.f32 [d0], f1;", 4},
    {"rcp.approx", "rcp.approx.f32 f1, f2; st.global.f32 [d0], f1;", 7},
    {"rcp.approx.ftz", "rcp.approx.ftz.f32 f1, f2; st.global.f32 [d0], f1;", 1},
    {"sin.approx", "sin.approx.f32 f1, f2; st.global.f32 [d0], f1;", 2},
    {"tanh.approx", "tanh.approx.f32 f1, f2; st.global.f32 [d0], f1;", 1},
    {"div.approx", "div.approx.f32 f1, f2, f3; st.global.f32 [d0], f1;", 5},
    {"div.approx.ftz", "div.approx.ftz.f32 f1, f2, f3; st.global.f32 [d0], f1;", 2},
    {"div.full", "div.full.f32 f1, f2, f3; st.global.f32 [d0], f1;", 8},
};

static unsigned counted(const struct sim_spec *s, struct arena *a, const char *body)
{
	const struct func_target target = {.cc = s->cc};
	char text[1024];
	struct ptx_module *m;
	struct func_program *written, *compiled;
	struct time_program *t;
	struct err e;
	unsigned n = 0;
	snprintf(text, sizeof text, "%s%s ret; }", HEAD, body);
	assert_int_equal(ptx_parse(&m, a, "counts", text, strlen(text), &e), 0);
	assert_int_equal(func_decode(&written, a, "k", m, "k", &target, &e), 0);
	assert_int_equal(func_compile(&compiled, a, written, s->compiler_registers), 0);
	assert_int_equal(time_prepare(&t, a, s, compiled), 0);
	for (uint32_t k = 0; k < compiled->inst_count; k++) {
		const int op = time_op(t, k);
		if (compiled->inst[k].kind == FUNC_ALU && !compiled->info[k].fused && op >= 0)
			n += s->op[op].native_ops > 1 ? s->op[op].native_ops : 1;
	}
	return n;
}

static void as_a_card_has_them(void **state)
{
	struct sim_spec *s;
	struct arena a;
	struct err e = {0};
	(void)state;
	arena_init(&a);
	if (spec_open(&s, &a, "h200", &e))
		fail_msg("%s", e.text);
	for (size_t k = 0; k < COUNT_OF(operations); k++) {
		const unsigned n = counted(s, &a, operations[k].text);
		if (n != operations[k].native)
			fail_msg("%s: %u instructions, natively %u", operations[k].name, n, operations[k].native);
	}
	arena_free(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(as_a_card_has_them)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
