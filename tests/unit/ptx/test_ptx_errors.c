/* Bad input: each with the line and column that the error must name, and a word that its sentence must hold. */
#include "ptx/ptx.h"
#include "ptx_generate.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define HEAD ".version 8.0\n.target sm_90\n.address_size 64\n"

static const struct {
	const char *text, *place, *says;
} modules[] = {
    {"", "1:1:", ".version"},
    {".target sm_90\n", "1:1:", ".version"},
    {".version eight\n", "1:10:", "version"},
    {".version 8.0\n.address_size 64", "2:1:", ".target"},
    {".version 8.0\n.target 90", "2:9:", "target"},
    {HEAD "hello", "4:1:", ".entry"},
    {".version 8.0\n.target sm_90\n.address_size 48", "3:15:", "32 or 64"},
    {HEAD ".entry", "4:7:", "name of a function"},
    {HEAD ".entry k", "4:9:", "'{'"},
    {HEAD ".entry k { ret;", "4:10:", "'}'"},
    {HEAD ".entry k(.param .u32) { }", "4:21:", "name of a parameter"},
    {HEAD ".entry k(.u32 x) { }", "4:10:", ".param"},
    {HEAD ".entry k(.param .u32 x .param .u32 y) { }", "4:24:", "')'"},
    {HEAD ".entry k(.param .u33 x) { }", "4:17:", "type"},
    {HEAD ".entry k(.param .pred x) { }", "4:17:", ".pred"},
    {HEAD ".entry k { }\n.entry k { }", "5:8:", "already declared in line 4"},
    {HEAD ".func f { }\n.func f { }", "5:7:", "already a body"},
    {HEAD ".func f(.reg .u32 x);\n.func f(.reg .u64 x) { }", "5:7:", "other parameters"},
    {HEAD ".global .u32 a;\n.global .u32 a;", "5:14:", "already a variable, declared in line 4"},
    {HEAD ".global .u32 a[0];", "4:16:", "at least one"},
    {HEAD ".global .u32 a[];", "4:14:", ".extern"},
    {HEAD ".shared .u32 a = 1;", "4:18:", ".const and .global"},
    {HEAD ".global .u32 a[2] = {1, 2, 3};", "4:28:", "2 elements"},
    {HEAD ".global .u8 a = 256;", "4:17:", "does not fit .u8"},
    {HEAD ".global .u32 a = 1.5;", "4:18:", "integers"},
    {HEAD ".global .align 3 .u32 a;", "4:16:", "power of two"},
    {HEAD ".global .pred a;", "4:9:", ".pred"},
    {HEAD ".global .u32 a[2] = {1, 2;", "4:26:", "'}'"},
    {HEAD ".global .u64 a[4096][4096][4096];", "4:28:", "2^34"},
    {HEAD "/* no end", "4:1:", "comment"},
    {HEAD ".pragma \"x\n\";", "4:9:", "closing"},
    {HEAD ".entry k { \x01 }", "4:12:", "0x01"},
    {HEAD ".entry k { # }", "4:12:", "'#'"},
    {HEAD ".entry k .maxntid x { }", "4:19:", "integer"},
    {HEAD ".entry k .nonsense { }", "4:10:", ".nonsense"},
    {HEAD ".visible ret;", "4:10:", ".entry"},
};

/* One line in the body of a generated module: it is line 22. */
static const struct {
	const char *line;
	unsigned column;
	const char *says;
	bool below; /* the place is in the next line, where the sentence should have ended */
} lines[] = {
    {"adx.u32 %u0, %u1, %u2;", 1, "did you mean 'add'"},
    {"frobnicate %u0;", 1, "unknown instruction 'frobnicate'"},
    {"bar.snyc 0;", 1, "unknown instruction"},
    {"add.u32 %u0, %u1;", 17, "add takes 3 operands, not 2"},
    {"add.u32 %u0, %u1, %u2, %u3;", 22, "add takes 3 operands, not 4"},
    {"add.u32 %u0 %u1, %u2;", 13, "','"},
    {"ld.global.u32 %u0, [%ud1 - 4];", 26, "write + -4"},
    {"add.u32 %u0, %u1, %u9;", 19, "'%u9' is not declared; did you mean"},
    {"add.u32 %u0, %u1, %f2;", 19, "'%f2' is a .f32 register; add needs a .u32 register"},
    {"add.u32 %f0, %u1, %u2;", 9, "'%f0' is a .f32 register"},
    {"add.u32 %ud0, %u1, %u2;", 9, "'%ud0' is a .u64 register"},
    {"add.u32 7, %u1, %u2;", 9, "a .u32 register"},
    {"add.u32 %u0, %u1, 1.5;", 19, "does not fit .u32"},
    {"add.u32 %u0, %u1, 4294967296;", 19, "4294967296 does not fit .u32"},
    {"add.s16 %ss0, %ss1, -32769;", 21, "-32769 does not fit .s16"},
    {"add.f32 %f0, %f1, 1;", 19, "floating-point constant"},
    {"add %u0, %u1, %u2;", 1, "add needs a type"},
    {"add.b32 %r0, %r1, %r2;", 4, "add does not work on .b32"},
    {"add.u32.u32 %u0, %u1, %u2;", 8, "one type only"},
    {"and.f32 %f0, %f1, %f2;", 4, "and does not work on .f32; it takes .pred .b16 .b32 .b64"},
    {"mul.u32 %u0, %u1, %u2;", 1, "needs .lo, .hi or .wide"},
    {"mul.lo.f32 %f0, %f1, %f2;", 1, "does not take .lo"},
    {"mul.wide.u64 %ud0, %ud1, %ud2;", 1, "does not take .wide"},
    {"mul.lo.wide.u32 %ud0, %u1, %u2;", 1, "one of"},
    {"mul.wide.u32 %u0, %u1, %u2;", 14, "'%u0' is a .u32 register; mul needs a .u64"},
    {"add.lo.u32 %u0, %u1, %u2;", 4, "add does not take .lo"},
    {"add.rnd.f32 %f0, %f1, %f2;", 4, "unknown modifier '.rnd'"},
    {"add.rn.rz.f32 %f0, %f1, %f2;", 7, "once"},
    {"add.rn.u32 %u0, %u1, %u2;", 1, "does not round"},
    {"add.ftz.f64 %fd0, %fd1, %fd2;", 1, "does not take .ftz"},
    {"add.sat.u32 %u0, %u1, %u2;", 1, "does not take .sat"},
    {"div.approx.rn.f32 %f0, %f1, %f2;", 1, "not both"},
    {"setp.u32 %p0, %u1, %u2;", 1, "setp needs a comparison"},
    {"setp.ltu.u32 %p0, %u1, %u2;", 1, "cannot compare by .ltu"},
    {"setp.lo.s32 %p0, %s1, %s2;", 1, "cannot compare by .lo"},
    {"setp.lt.b32 %p0, %r1, %r2;", 1, "cannot compare by .lt"},
    {"setp.lt.u32 %u0, %u1, %u2;", 13, "a .pred register"},
    {"setp.lt.and.u32 %p0, %u1, %u2;", 1, "a predicate goes with"},
    {"setp.lt.u32 %p0, %u1, %u2, %p1;", 1, "a predicate needs"},
    {"selp.u32 %u0, %u1, %u2, %u3;", 25, "a .pred register"},
    {"@%u0 ret;", 2, "'%u0' is not"},
    {"@7 ret;", 2, "predicate"},
    {"@%p9 ret;", 2, "'%p9' is not declared"},
    {"mov.u32 %u0, !%u1;", 14, "only a predicate can be negated"},
    {"add.u32 %u0, %u1, -%u2;", 19, "use neg"},
    {"mov.u32 %u0, %clock64;", 14, "%clock64 is .u64"},
    {"add.u32 %u0, %u1, %clock;", 19, "special registers are read by mov"},
    {"mov.u32 %u0, %tid;", 14, "'%tid' has components: write %tid.x"},
    {"mov.f32 %f0, cell;", 14, "an address does not fit .f32"},
    {"mov.u64 %ud0, k;", 15, "launch it from the host"},
    {"mov.b64 %rd0, {%r0, %h1};", 15, "32 bits"},
    {"mov.u64 %ud0, {%u0, %u1};", 15, "untyped"},
    {"mov.b64 {%r0, %r1}, {%r2, %r3};", 21, "one register"},
    {"cvt.f32.u32 %f0, %u1;", 1, "needs a rounding mode"},
    {"cvt.u32.f32 %u0, %f1;", 1, "integer rounding mode"},
    {"cvt.rn.u32.u16 %u0, %us1;", 1, "does not round"},
    {"cvt.rna.f16.f32 %h0, %f1;", 1, ".rna to .tf32 only"},
    {"ex2.approx.ftz.f16 %h0, %h1;", 1, "does not take .ftz"},
    {"add.sat.bf16 %us0, %us1, %us1;", 1, "does not take .sat"},
    {"cvt.rn.f64.f32 %fd0, %f1;", 1, "from a narrower float does not round"},
    {"cvt.u32 %u0, %u1;", 1, "two types"},
    {"cvt.u64.u32 %u0, %u1;", 13, "'%u0' is a .u32 register"},
    {"ld.global.u32 %u0, %ud1;", 20, "an address in [ ]"},
    {"ld.global.u32 %u0, [%f1];", 20, "an address is an integer"},
    {"ld.global.u32 %u0, [%h1];", 20, "an address is an integer"},
    {"ld.shared.u32 %u0, [cell];", 20, "this name is in .global, ld reads .shared"},
    {"ld.u32 %u0, [table];", 13, "write ld.const"},
    {"ld.param.u32 %u0, [out+8];", 19, "outside of the parameter's 8 bytes"},
    {"ld.param.u32 %u0, [16];", 19, "by its name"},
    {"ld.global.u32 %u0, [cell;", 25, "']'"},
    {"ld.global.u32 %u0, [nowhere];", 21, "'nowhere' is not declared"},
    {"ld.global.v2.u32 %u0, [cell];", 18, "ld.v2 takes {2 registers}"},
    {"ld.global.v8.u64 {%ud0, %ud1, %ud2, %ud3, %ud0, %ud1, %ud2, %ud3}, [%ud1];", 1, "wider than 32 bytes"},
    {"ld.global.u32 {%u0, %u1}, [cell];", 15, "without .v2"},
    {"ld.global.u64 %u0, [cell];", 15, "'%u0' is a .u32 register"},
    {"ld.shared.nc.u32 %u0, [pool];", 1, ".nc"},
    {"st.const.u32 [table], %u0;", 1, "does not work on .const"},
    {"st.global.ca.u32 [cell], %u0;", 1, "st does not take .ca"},
    {"atom.global.u32 %u0, [cell], %u1;", 1, "an atomic operation"},
    {"atom.global.and.u32 %u0, [cell], %u1;", 1, "cannot do .and"},
    {"atom.global.add.u32 %u0, [cell], %u1, %u2;", 1, "one value"},
    {"atom.global.cas.b32 %r0, [cell], %r1;", 1, "two values"},
    {"atom.const.add.u32 %u0, [table], 1;", 1, "does not work on .const"},
    {"red.global.exch.b32 [cell], %r1;", 1, "red returns nothing"},
    {"bra NOWHERE;", 5, "label 'NOWHERE' is not declared"},
    {"bra 7;", 5, "a label"},
    {"FIRST: ret;", 1, "label 'FIRST' stands already"},
    {"{ INNER: ret; } bra INNER;", 21, "label 'INNER' is not declared"},
    {"{ .reg .u32 x; } mov.u32 x, 0;", 26, "'x' is not declared"},
    {".reg .u32 %u0;", 11, "'%u0' is already a register"},
    {".reg .v8 .u32 x;", 6, "expected a type"},
    {".reg .u32 %tid.x;", 15, "';'"},
    {".reg .u32 %tid; mov.u32 %u0, %tid.x;", 30, "'%tid.x' is not declared"},
    {".reg .u32 x<70000>;", 13, "at most 65536"},
    {".reg u32 x;", 6, "type"},
    {".nonsense 4;", 1, "no directive"},
    {"call nowhere;", 6, "'nowhere' is not declared"},
    {"call k, (%u0);", 1, "only a .func can be called"},
    {"call %u0;", 9, "through a register"},
    {"call cell;", 6, "is not a function"},
    {"brx.idx %u0, FIRST;", 14, "no .branchtargets list"},
    {"vote.ballot.pred %p0, %p1;", 1, "vote.ballot is .b32"},
    {"vote.sync.all.pred %p0, %p1;", 1, "the mask of lanes goes with .sync"},
    {"shfl.b32 %r0, %r1, 1, 2;", 1, "a shape"},
    {"lop3.b32 %r0, %r1, %r2, %r3, 256;", 30, "a constant from 0 to 255"},
    {"shl.b32 %r0, %r1, %ud2;", 19, "a 32-bit integer register"},
    {"bar.sync %f0;", 10, "a 32-bit integer register"},
    {"testp.finite.f32 %p0|%p1, %f0;", 21, "one destination only"},
    {"tex.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [cell, {%f0, %f1}];", 42, ".tex variable"},
    {"tex.1d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%u0, {%f0}];", 42, "a texture's handle has 64 bits"},
    {"mov.v2.u32 {%u0, %u1}, %u2;", 24, "mov.v2 takes {2 registers}"},
    {"mov.v4.b64 {%ud0, %ud1, %ud2, %ud3}, {%ud0, %ud1, %ud2, %ud3};", 1, "16 bytes at most"},
    {"mov.u32 %u0, (.s32)5;", 15, "a constant is cast to .s64 or .u64"},
    {"mov.u64 %ud0, (.u64)5.0;", 21, "only an integer is cast"},
    {"cvt.sat.s64.s32 %sd0, %s0;", 1, "nothing to saturate"},
    {"cvt.rn.f16x2.f32 %r0, %f0;", 1, "two values make a pair"},
    {"cvt.rn.relu.f32.f64 %f0, %fd0;", 1, "takes .relu only from .f32"},
    {"cvt.rm.f16x2.f32 %r0, %f0, %f1;", 1, "is made of two .f32"},
    {"atom.global.add.f16x2 %r0, [%ud0], %r1;", 1, "needs .noftz"},
    {"atom.global.add.noftz.f32 %f0, [%ud0], %f1;", 1, "does not take .noftz"},
    {"set.lt.u16.f32 %h0, %f0, %f1;", 1, "no result of 16 bits"},
    {"set.lt.f16x2.f32 %r0, %f0, %f1;", 1, "gives no .f16x2"},
    {"div.f32 %f0, %f1, %f2;", 1, "needs .approx or a rounding mode"},
    {"sqrt.f64 %fd0, %fd1;", 1, "needs a rounding mode"},
    {"sqrt.approx.f64 %fd0, %fd1;", 1, "no such approximation"},
    {"sin.f32 %f0, %f1;", 1, "needs .approx"},
    {"mad.f32 %f0, %f1, %f2, %f3;", 1, "needs a rounding mode"},
    {"fma.f32 %f0, %f1, %f2, %f3;", 1, "needs a rounding mode"},
    {"mul.rz.f16 %h0, %h1, %h2;", 1, "to nearest only"},
    {"ld.global.f16 %h0, [cell];", 10, "does not work on .f16"},
    {"vote.any.pred %p0, %p1;", 1, "needs .sync"},
    {"bar.sync 16;", 1, "0 to 15"},
    {"match.any.sync.b32 %r0|%p0, %r1, -1;", 1, "one destination only"},
    {"match.any.sync.b64 %rd0, %rd1, -1;", 20, "'%rd0' is a .b64 register"},
    {"isspacep.global %p0, 7;", 22, "a register that holds an address"},
    {"bar.sync 0, 33;", 1, "a multiple of 32"},
    {"mov.u32 %u0, 0x;", 14, "digits are missing"},
    {"mov.u32 %u0, 08;", 14, "no digit of a base 8"},
    {"mov.u32 %u0, 12ab;", 14, "cannot follow a number"},
    {"mov.f32 %f0, 0f3F80;", 14, "8 hexadecimal digits, not 4"},
    {"mov.f64 %fd0, 0d3F80;", 15, "16 hexadecimal digits, not 4"},
    {"mov.u64 %ud0, 99999999999999999999;", 15, "64 bits"},
    {"ret", 1, "';'", true},
};

/* Reports every input that is wrong, not only the first. */
static bool check(const char *text, const char *place, const char *says)
{
	bool good = true;
	struct arena a;
	struct err e = {0};
	struct ptx_module *m;
	char want[64];
	arena_init(&a);
	snprintf(want, sizeof want, "bad.ptx:%s", place);
	if (ptx_parse(&m, &a, "bad.ptx", text, strlen(text), &e) != -EINVAL) {
		print_message("accepted, but it should say '%s' at %s\n", says, want);
		good = false;
	} else if (strncmp(e.text, want, strlen(want)) != 0 || !strstr(e.text, says)) {
		print_message("'%s'\n\tis not at %s or does not say '%s'\n", e.text, want, says);
		good = false;
	}
	arena_free(&a);
	return good;
}

static void modules_name_their_place(void **state)
{
	unsigned bad = 0;
	(void)state;
	for (size_t i = 0; i < sizeof modules / sizeof *modules; i++)
		bad += !check(modules[i].text, modules[i].place, modules[i].says);
	assert_int_equal(bad, 0);
}

static void lines_name_their_place(void **state)
{
	unsigned bad = 0;
	(void)state;
	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
		struct str text;
		char place[32], body[256];
		str_init(&text);
		snprintf(body, sizeof body, "%s\n", lines[i].line);
		generate_module(&text, body);
		snprintf(place, sizeof place, "%u:%u:", lines[i].below ? 23u : 22u, lines[i].column);
		bad += !check(text.data, place, lines[i].says);
		str_free(&text);
	}
	assert_int_equal(bad, 0);
}

/* A sentence about a very long word still ends, and names no memory behind the text. */
static void long_words(void **state)
{
	struct str text;
	(void)state;
	str_init(&text);
	str_add(&text, HEAD ".entry k { ");
	for (int i = 0; i < 5000; i++)
		str_addc(&text, 'a');
	str_add(&text, " %r0; }");
	assert_true(check(text.data, "4:12:", "unknown instruction"));
	str_clear(&text);
	str_add(&text, HEAD ".entry k { ");
	for (int i = 0; i < 100000; i++)
		str_addc(&text, '{');
	assert_true(check(text.data, "4:76:", "nested deeper"));
	str_free(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(modules_name_their_place),
	    cmocka_unit_test(lines_name_their_place),
	    cmocka_unit_test(long_words),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
