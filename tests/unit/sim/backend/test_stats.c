/* Statistics are sums over the events of a trace, and the same whatever path the engine takes. */
#include "base/arena.h"
#include "gpu/sim/sim.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#define RECORDS 64
/* Loads that hit and miss, a column of shared memory, lanes that part, constants, atomics, a barrier, a loop. */
static const char kernel[] =
    ".version 6.0\n.target sm_70\n.address_size 64\n.const .align 4 .u32 step[4] = {1, 2, 3, 4};\n"
    ".visible .entry k(.param .u64 out)\n{\n\t.reg .pred %p, %q; .reg .b32 %t, %a, %b, %c, %n; .reg .b64 %o, %x, %s;\n"
    "\t.shared .align 4 .b8 room[16384];\n"
    "\tld.param.u64 %o, [out]; mov.u32 %t, %tid.x; mov.u32 %n, 0; mul.wide.u32 %x, %t, 32; add.u64 %x, %x, %o;\n"
    "\tshl.b32 %a, %t, 7; and.b32 %a, %a, 16383; mov.u64 %s, room; cvt.u64.u32 %x, %a; add.u64 %s, %s, %x;\n"
    "\tmul.wide.u32 %x, %t, 32; add.u64 %x, %x, %o;\n"
    "L:\n\tld.global.u32 %a, [%x]; st.shared.u32 [%s], %a; bar.sync 0; ld.shared.u32 %b, [%s];\n"
    "\tsetp.lt.u32 %p, %t, 7; @%p bra S;\n\tadd.u32 %b, %b, 3; mul.lo.u32 %b, %b, %b;\nS:\n"
    "\tld.const.u32 %c, [step]; add.u32 %n, %n, %c; setp.gt.u32 %q, %t, 40; @%q st.global.u32 [%x], %b;\n"
    "\tld.global.cg.u32 %c, [%x+4096]; setp.lt.u32 %p, %n, 5; @%p bra L;\n"
    "\tred.global.add.u32 [%o], 1; ret;\n}\n";

struct sums {
	struct time_count record[RECORDS];
	uint64_t waited[TIME_WHYS], l1, memory, events;
};

static uint64_t times(const char *where, const char *name)
{
	const char *at = strstr(where, name);
	return at ? strtoull(at + strlen(name) + strlen(" x"), NULL, 10) : 0;
}

static void add(void *ctx, const struct time_event *ev)
{
	struct sums *s = ctx;
	assert_true(ev->pc < RECORDS);
	struct time_count *n = &s->record[ev->pc];
	uint64_t from = ev->first ? 0 : ev->before + 1, waited = ev->cycle > from ? ev->cycle - from : 0;
	n->issues++;
	n->off += !ev->mask;
	n->lanes += (uint64_t)__builtin_popcountll(ev->mask);
	n->waited += waited;
	n->transactions += ev->transactions;
	n->passes += ev->passes;
	s->waited[ev->why] += waited;
	s->l1 += times(ev->where, "global.l1");
	s->memory += times(ev->where, "memory");
	s->events++;
}

struct counted {
	struct time_count record[RECORDS];
	struct time_stats s;
	uint64_t cycles, instructions;
};

static void go(struct counted *c, const char *gpu, const struct time_hook *hook, bool stats, uint32_t threads,
	       uint32_t grid, uint32_t block)
{
	struct arena a;
	struct sim_spec *spec;
	struct gpu *g;
	struct err e = {0};
	struct sample s;
	uint32_t id;
	arena_init(&a);
	memset(c, 0, sizeof *c);
	assert_int_equal(spec_open(&spec, &a, gpu, &e), 0);
	assert_int_equal(sim_open_spec(&g, spec, 1, &e), 0);
	struct kernel_source src = {.name = "test", .entry = "k", .text = kernel};
	if (g->ops->load(g, &src, 1, &id, NULL, &e))
		fail_msg("%s", e.text);
	assert_true(sim_program(g, id)->inst_count <= RECORDS);
	struct launch l = {
	    .entry = "k", .grid = {grid, 1, 1}, .block = {block, 1, 1}, .buffer_count = 1, .arg_count = 1};
	l.buffers[0] = (struct launch_buffer){.bytes = 1 << 20, .output = true, .output_words = 16};
	l.args[0].kind = ARG_BUFFER;
	sim_threads(g, threads);
	sim_trace(g, hook);
	c->s.record = c->record;
	sim_stats(g, stats ? &c->s : NULL);
	assert_int_equal(g->ops->run(g, id, &l, &s, &e), 0);
	if (s.outcome != OUTCOME_OK)
		fail_msg("%s", s.message);
	c->cycles = sim_result(g)->cycles;
	c->instructions = sim_result(g)->instructions;
	sample_free(&s);
	g->ops->close(g);
	arena_free(&a);
}

static const struct time_level_count *level(const struct counted *c, const char *name)
{
	for (uint32_t k = 0; k < c->s.levels; k++)
		if (!strcmp(c->s.level[k].name, name))
			return &c->s.level[k];
	fail_msg("no level %s", name);
	return NULL;
}

static void sums_of_events(void **state)
{
	static const char *const gpus[] = {"toy", "h200"};
	(void)state;
	for (size_t k = 0; k < sizeof gpus / sizeof *gpus; k++) {
		static struct sums sums;
		static struct counted c;
		struct time_hook hook = {.ctx = &sums, .issue = add};
		uint64_t issues = 0;
		memset(&sums, 0, sizeof sums);
		go(&c, gpus[k], &hook, true, 1, 5, 96);
		assert_int_equal(sums.events, c.instructions);
		for (uint32_t pc = 0; pc < RECORDS; pc++) {
			const struct time_count *a = &sums.record[pc], *b = &c.record[pc];
			if (memcmp(a, b, sizeof *a) != 0)
				fail_msg("%s, record %u: issues %llu %llu lanes %llu %llu waited %llu %llu "
					 "transactions %llu %llu "
					 "passes %llu %llu",
					 gpus[k], pc, (unsigned long long)a->issues, (unsigned long long)b->issues,
					 (unsigned long long)a->lanes, (unsigned long long)b->lanes,
					 (unsigned long long)a->waited, (unsigned long long)b->waited,
					 (unsigned long long)a->transactions, (unsigned long long)b->transactions,
					 (unsigned long long)a->passes, (unsigned long long)b->passes);
			issues += b->issues;
		}
		assert_int_equal(issues, c.instructions);
		for (int why = 0; why < TIME_WHYS; why++)
			if (sums.waited[why] != c.s.waited[why])
				fail_msg("%s: %s %llu, not %llu", gpus[k], time_why_text((enum time_why)why),
					 (unsigned long long)c.s.waited[why], (unsigned long long)sums.waited[why]);
		assert_int_equal(level(&c, "global.l1")->hits, sums.l1);
		assert_true(sums.l1 > 0 && sums.memory > 0 && c.s.resident > 0 && c.s.resident <= c.cycles * 15);
		assert_true(c.s.dram_bytes > 0);
	}
}

static void alike(const struct counted *a, const struct counted *b, const char *what)
{
	assert_int_equal(a->cycles, b->cycles);
	if (memcmp(a->record, b->record, sizeof a->record) != 0 ||
	    memcmp(a->s.waited, b->s.waited, sizeof a->s.waited) != 0 || a->s.resident != b->s.resident ||
	    a->s.dram_bytes != b->s.dram_bytes)
		fail_msg("%s: other statistics", what);
	for (uint32_t k = 0; k < a->s.levels; k++)
		if (a->s.level[k].hits != b->s.level[k].hits || a->s.level[k].misses != b->s.level[k].misses)
			fail_msg("%s: %s hit %llu and %llu times", what, a->s.level[k].name,
				 (unsigned long long)a->s.level[k].hits, (unsigned long long)b->s.level[k].hits);
}

/* Side by side, and of one warp alone: counting changes no cycle and what is counted does not depend on the path. */
static void any_path(void **state)
{
	static struct counted traced, counted, many, none;
	static struct sums sums;
	struct time_hook hook = {.ctx = &sums, .issue = add};
	(void)state;
	go(&traced, "toy", &hook, true, 1, 40, 128);
	go(&counted, "toy", NULL, true, 1, 40, 128);
	go(&many, "toy", NULL, true, 4, 40, 128);
	go(&none, "toy", NULL, false, 4, 40, 128);
	alike(&traced, &counted, "no trace");
	alike(&counted, &many, "four threads");
	assert_int_equal(none.cycles, many.cycles);
	assert_int_equal(none.s.resident, 0);
	go(&traced, "toy", &hook, true, 1, 1, 32);
	go(&counted, "toy", NULL, true, 1, 1, 32);
	alike(&traced, &counted, "one warp");
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(sums_of_events), cmocka_unit_test(any_path)};
	return cmocka_run_group_tests_name("statistics", tests, NULL, NULL);
}
