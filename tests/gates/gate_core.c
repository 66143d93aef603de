/* What the core itself costs: reads of the clock, barriers and branches; and how many loads it lets be under way. */
#include "gate.h"
#include <stdio.h>

enum step { CLOCK_READ, BARRIER, BRANCH };

static void put_step(struct str *t, enum step kind, uint32_t n)
{
	switch (kind) {
	case CLOCK_READ:
		str_addf(t, "\t.reg .u32 %%c%u;\n\tmov.u32 %%c%u, %%clock;\n", n,
			 n); /* no read waits for another's value */
		break;
	case BARRIER:
		str_add(t, "\tbar.sync 0;\n");
		break;
	case BRANCH:
		str_addf(t, "\tbra B%u;\nB%u:\n", n, n);
		break;
	}
}

/* Cycles of the third pass over so many steps of one warp. */
static double steps(struct gate *g, const struct sim_spec *s, enum step kind, uint32_t count)
{
	struct str t;
	str_init(&t);
	gate_head(&t, s, false, 0, "");
	str_add(&t, "\tmov.u32 %r4, 3;\nPASS:\n\tmov.u32 %r0, %clock;\n");
	for (uint32_t n = 0; n < count; n++)
		put_step(&t, kind, n);
	return gate_third_pass(g, s, &t, s->warp_size);
}

static void step_costs(struct gate *g, const struct sim_spec *s, enum step kind, const char *what, double truth)
{
	double few = steps(g, s, kind, 16), many = steps(g, s, kind, 80);
	if (few >= 0 && many >= 0)
		gate_check(g, what, (many - few) / 64, truth, GATE_LATENCY);
}

/* Cycles that one thread needs to issue so many loads of lines that nobody has touched. */
static double loads_issue(struct gate *g, const struct sim_spec *s, uint32_t count)
{
	struct str t;
	uint32_t out[2] = {0};
	str_init(&t);
	gate_head(&t, s, true, 0, "");
	str_addf(&t, "\t.reg .u32 %%v<%u>;\n\tmov.u32 %%r0, %%clock;\n", count);
	for (uint32_t n = 0; n < count; n++)
		str_addf(&t, "\tld.global.u32 %%v%u, [%%q+%u];\n", n, 4096 * n);
	str_add(&t, "\tmov.u32 %r1, %clock;\n\tsub.u32 %r2, %r1, %r0;\n\tmov.u32 %r3, 0;\n");
	for (uint32_t n = 0; n < count; n++)
		str_addf(&t, "\tadd.u32 %%r3, %%r3, %%v%u;\n", n);
	str_add(&t, "\tst.global.u32 [%o], %r2;\n\tst.global.u32 [%o+4], %r3;\n\texit;\n}\n");
	struct gate_launch l = {
	    .s = s, .text = str_text(&t), .grid = 1, .block = 1, .words = 2, .bytes = 4096ull * (count + 1)};
	uint64_t ran = gate_run(g, &l, out);
	str_free(&t);
	return ran ? (double)out[0] : -1;
}

static void loads_of_a_warp(struct gate *g, const struct sim_spec *s)
{
	uint32_t limit = s->loads_in_flight, fit = limit ? limit : 24;
	double waits = s->global.memory_latency / 2 + fit * (s->global.issue + s->scheduler_issue);
	double fits = loads_issue(g, s, fit), more = loads_issue(g, s, fit + 1);
	if (fits < 0 || more < 0)
		return;
	gate_check(g, "whether as many loads as a warp may have wait for none", fits > waits, 0, 0);
	gate_check(g, "whether one load more waits", more > waits, limit != 0, 0);
}

#define ROUNDS 3 /* loads of a thread */

/* Cycles of a launch of one block that makes so many requests, of a thread or of a warp each, for lines of their own. */
static double requests(struct gate *g, const struct sim_spec *s, uint32_t count)
{
	bool each_warp = s->outstanding == OUTSTANDING_PRT;
	uint32_t threads = s->max_threads_per_block < 1024 ? s->max_threads_per_block : 1024;
	uint32_t units = each_warp ? threads / s->warp_size : threads;
	struct str t;
	uint32_t out[1] = {0};
	str_init(&t);
	gate_head(&t, s, true, 1, "");
	str_addf(&t,
		 "\t.reg .u32 %%v<%u>;\n\t.reg .u64 %%a;\n\tmov.u32 %%r0, %%tid.x;\n\tshr.u32 %%r0, %%r0, %u;\n"
		 "\tmul.wide.u32 %%a, %%r0, 256;\n\tadd.u64 %%q, %%q, %%a;\n",
		 ROUNDS, each_warp ? (uint32_t)__builtin_ctz(s->warp_size) : 0);
	for (uint32_t n = 0; n < ROUNDS; n++)
		str_addf(&t,
			 "\tmov.u32 %%v%u, 0;\n\tadd.u32 %%r1, %%r0, %u;\n\tsetp.lt.u32 %%p%u, %%r1, %%r10;\n"
			 "\t@%%p%u ld.global.u32 %%v%u, [%%q+%u];\n",
			 n, n * units, n, n, n, 256 * n * units);
	str_add(&t, "\tadd.u32 %r2, %v0, %v1;\n\tadd.u32 %r2, %r2, %v2;\n\tsetp.eq.u32 %p3, %r2, 12345;\n"
		    "\t@%p3 st.global.u32 [%o], %r2;\n\texit;\n}\n");
	struct gate_launch l = {.s = s,
				.text = str_text(&t),
				.grid = 1,
				.block = threads,
				.words = 1,
				.bytes = 256ull * ROUNDS * units,
				.arg = {count},
				.args = 1};
	uint64_t cycles = gate_run(g, &l, out);
	str_free(&t);
	return (double)cycles;
}

static void table_of_requests(struct gate *g, const struct sim_spec *s)
{
	uint32_t entries = s->outstanding_entries;
	if (s->outstanding == OUTSTANDING_NONE)
		return;
	double less = requests(g, s, entries - 1), full = requests(g, s, entries), more = requests(g, s, entries + 1);
	double waits = s->global.memory_latency / 2;
	if (!less || !full || !more)
		return;
	gate_check(g, "whether the last entry for a request in flight is there", full - less < waits, 1, 0);
	gate_check(g, "whether one request more than entries waits", more - full > waits, 1, 0);
}

/* Lines of one warp leave one behind the other, and those of as many warps as there are recorders beside them. A full
 * table and the memory's pins would have them wait, too, and are taken away. Recorders take far longer than warps begin
 * one behind the other. */
static void recorders_of_requests(struct gate *g, const struct sim_spec *s)
{
	struct sim_spec wide = *s;
	const uint32_t warp = s->warp_size, at_once = s->recorders * warp;
	if (!s->recorders || s->outstanding != OUTSTANDING_MSHR || at_once + warp > s->max_threads_per_block)
		return;
	wide.outstanding_entries = 2 * (at_once + warp);
	wide.dram_bandwidth = 1e6;
	wide.dram.banks = 0;
	double one = requests(g, &wide, 1), all = requests(g, &wide, warp);
	wide.record = s->global.memory_latency;
	double own = warp * wide.record, first = requests(g, &wide, warp), beside = requests(g, &wide, at_once),
	       more = requests(g, &wide, at_once + warp);
	if (!one || !all || !first || !beside || !more)
		return;
	gate_check(g, "cycles that a recorder needs for a warp", all - one, (warp - 1) * s->record, 1);
	gate_check(g, "whether as many warps as recorders wait for none", beside - first < own / 2, 1, 0);
	gate_check(g, "whether one warp more waits for a recorder", more - beside > own / 2, 1, 0);
}

void gates_core(struct gate *g)
{
	struct sim_spec s = *g->s;
	s.fetch.path.levels = 0;
	step_costs(g, &s, CLOCK_READ, "a read of the clock",
		   (s.clock_native_ops - 1) * s.clock_op_latency + s.clock_issue);
	step_costs(g, &s, BARRIER, "a barrier of one warp", s.barrier_latency);
	step_costs(g, &s, BRANCH, "a branch", s.branch_latency);
	loads_of_a_warp(g, &s);
	table_of_requests(g, &s);
	recorders_of_requests(g, &s);
}
