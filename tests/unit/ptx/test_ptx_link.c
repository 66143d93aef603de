/* Modules that were compiled apart: who means whom, behind a link. */
#include "ptx/ptx.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define HEAD ".version 8.0\n.target sm_70\n.address_size 64\n"

static const char user[] =
    HEAD ".extern .global .u32 shared_one;\n.global .u32 own = 1;\n.extern .func (.param .b32 r) late(.param .b32 x);\n"
	 ".global .u64 table[2] = {own, late};\n.weak .func common() { ret; }\n.extern .func vprintf;\n"
	 ".visible .entry k() { .reg .u32 a; .reg .u64 f; ld.global.u32 a, [shared_one]; ld.global.u32 a, [own];\n"
	 "mov.u64 f, late; call common; call vprintf; ret; }\n";
static const char maker[] =
    HEAD ".global .u32 own = 2;\n.weak .func common() { .reg .u32 z; mov.u32 z, 9; ret; }\n"
	 ".visible .global .u32 shared_one = 7;\n"
	 ".visible .func (.param .b32 r) late(.param .b32 x) { .reg .u32 a; .local .u32 kept; ld.global.u32 a, [own];\n"
	 "st.local.u32 [kept], a; call common; ret; }\n";

struct bench {
	struct arena a;
	struct err e;
	struct ptx_module *m;
};

static int link_of(struct bench *b, const char *const *text, size_t n)
{
	struct ptx_module *part[4];
	arena_init(&b->a);
	b->e = (struct err){0};
	for (size_t k = 0; k < n; k++)
		assert_int_equal(ptx_parse(&part[k], &b->a, "part", text[k], strlen(text[k]), &b->e), 0);
	return ptx_link(&b->m, &b->a, part, n, &b->e);
}

static const struct ptx_func *func(const struct bench *b, const char *name)
{
	const struct ptx_func *found = NULL;
	for (uint32_t k = 0; k < b->m->func_count; k++)
		if (!strcmp(b->m->funcs[k].name, name)) {
			assert_null(found);
			found = &b->m->funcs[k];
		}
	assert_non_null(found);
	return found;
}

static uint32_t value(const struct bench *b, const struct ptx_operand *o)
{
	uint32_t v = 0;
	assert_in_range(o->sym, 0, b->m->var_count - 1);
	memcpy(&v, b->m->vars[o->sym].init, sizeof v);
	return v;
}

static void what_one_announces_another_defines(void **state)
{
	for (int turned = 0; turned < 2; turned++) {
		const char *const text[] = {turned ? maker : user, turned ? user : maker};
		struct bench b;
		(void)state;
		assert_int_equal(link_of(&b, text, 2), 0);
		const struct ptx_func *k = func(&b, "k"), *late = func(&b, "late"), *common = func(&b, "common");
		assert_int_equal(value(&b, &k->insts[0].operand[1]), 7);
		assert_int_equal(value(&b, &k->insts[1].operand[1]), 1);
		assert_ptr_equal(&b.m->funcs[k->insts[2].operand[1].index], late);
		assert_ptr_equal(&b.m->funcs[k->insts[3].operand[1].index], common);
		assert_ptr_equal(&b.m->funcs[k->insts[4].operand[1].index], func(&b, "vprintf"));
		assert_false(func(&b, "vprintf")->defined);
		assert_int_equal(value(&b, &late->insts[0].operand[1]), 2);
		assert_string_equal(b.m->vars[late->insts[1].operand[0].sym].name, "kept");
		assert_ptr_equal(&b.m->funcs[b.m->vars[late->insts[1].operand[0].sym].func], late);
		assert_ptr_equal(&b.m->funcs[late->insts[2].operand[1].index], common);
		assert_int_equal(common->inst_count, turned ? 2 : 1); /* the first one */
		for (uint32_t v = 0; v < b.m->var_count; v++)
			if (!strcmp(b.m->vars[v].name, "table")) {
				const struct ptx_address *at = b.m->vars[v].addresses;
				assert_int_equal(*b.m->vars[at[0].sym].init, 1);
				assert_ptr_equal(&b.m->funcs[at[1].func], late);
			}
		arena_free(&b.a);
	}
}

static void what_cannot_be_linked(void **state)
{
	static const struct {
		const char *text[2], *says;
	} cases[] = {
	    {{HEAD ".visible .func f() { ret; }", HEAD ".visible .func f() { ret; }"},
	     "two parts of the program define 'f'"},
	    {{HEAD ".visible .const .u32 c;", HEAD ".visible .const .u32 c;"}, "two parts of the program define 'c'"},
	    {{HEAD ".extern .global .u32 g;", HEAD ".global .u32 g;"}, "no part of the program defines 'g'"},
	    {{HEAD, ".version 8.0\n.target sm_70\n.address_size 32\n"}, "of 32 and of 64 bits"},
	};
	(void)state;
	for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
		struct bench b;
		assert_int_not_equal(link_of(&b, cases[k].text, 2), 0);
		if (!strstr(b.e.text, cases[k].says))
			fail_msg("'%s' does not say '%s'", b.e.text, cases[k].says);
		arena_free(&b.a);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_one_announces_another_defines),
	    cmocka_unit_test(what_cannot_be_linked),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
