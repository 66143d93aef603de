/* Plateaus: global memory with the whole GPU, shared memory with one SM. */
#include "gate.h"
#include <math.h>
#include <stdio.h>

static double minimum(double a, double b)
{
	return a < b ? a : b;
}

/* Cycles of a launch in which every thread of the whole GPU reads `loads` times 16 bytes, nothing twice. */
static double stream(struct gate *g, const struct sim_spec *s, uint32_t blocks, uint32_t threads, uint32_t loads)
{
	struct str t;
	uint32_t out[1] = {0};
	str_init(&t);
	gate_head(&t, s, true, 0, "");
	str_add(&t, "\t.reg .u64 %a;\n\tmov.u32 %r0, %ctaid.x;\n\tmov.u32 %r1, %ntid.x;\n\tmov.u32 %r2, %tid.x;\n"
		    "\tmad.lo.u32 %r3, %r0, %r1, %r2;\n\tmul.wide.u32 %a, %r3, 16;\n\tadd.u64 %q, %q, %a;\n"
		    "\tmov.u32 %r8, 0;\n");
	/* Four loads in flight, then their use. */
	for (uint32_t i = 0; i < loads; i += 4) {
		for (uint32_t k = 0; k < 4; k++)
			str_addf(&t,
				 "\t.reg .u32 %%v%u_<4>;\n\tld.global.v4.u32 {%%v%u_0, %%v%u_1, %%v%u_2, %%v%u_3}, "
				 "[%%q+%llu];\n",
				 i + k, i + k, i + k, i + k, i + k, 16ull * blocks * threads * (i + k));
		for (uint32_t k = 0; k < 4; k++)
			str_addf(&t, "\tadd.u32 %%r8, %%r8, %%v%u_0;\n", i + k);
	}
	/* Never true, so that nothing is written and nothing can be left out. */
	str_add(&t, "\tsetp.eq.u32 %p0, %r8, 12345;\n\t@%p0 st.global.u32 [%o], %r8;\n\texit;\n}\n");
	struct gate_launch l = {.s = s,
				.text = str_text(&t),
				.grid = blocks,
				.block = threads,
				.words = 1,
				.bytes = 16ull * blocks * threads * loads};
	uint64_t cycles = gate_run(g, &l, out);
	str_free(&t);
	return (double)cycles;
}

static void global(struct gate *g)
{
	struct sim_spec s = *g->s;
	uint32_t threads = s.max_threads_per_block < 256 ? s.max_threads_per_block : 256;
	uint32_t each = s.max_threads_per_sm / threads;
	s.fetch.path.levels = 0;
	s.tlb[TLB_GLOBAL].levels = 0; /* pages are another gate's */
	if (each > s.max_blocks_per_sm)
		each = s.max_blocks_per_sm;
	uint32_t blocks = s.sm_count * each;
	double few = stream(g, &s, blocks, threads, 8), many = stream(g, &s, blocks, threads, 24);
	if (!few || !many)
		return;
	/* The load/store pipes may be the narrower place. */
	double segment = s.coalesce == COALESCE_LINES ? s.coalesce_segment : 128;
	double pipes = s.sm_count * segment / s.global.issue, truth = minimum(s.dram_bandwidth, pipes);
	gate_check(g, "bytes a cycle from global memory", 16.0 * 16 * blocks * threads / (many - few), truth,
		   GATE_BANDWIDTH * truth);
}

static double shared_pass(struct gate *g, uint32_t warps, uint32_t loads)
{
	const struct sim_spec *s = g->s;
	struct str t;
	str_init(&t);
	gate_head(&t, s, false, 0, ".shared .align 256 .b8 room[4096];\n");
	str_add(&t, "\t.reg .u32 %w<16>;\n\tmov.u32 %r5, 0;\n\tmov.u32 %r3, %tid.x;\n\tand.b32 %r3, %r3, "
		    "31;\n\tshl.b32 %r3, %r3, 2;\n\tmov.u32 %r9, room;\n\tadd.u32 %r3, %r3, %r9;\n\tmov.u32 %r4, 3;\n"
		    "PASS:\n\tbar.sync 0;\n\tmov.u32 %r0, %clock;\n");
	for (uint32_t i = 0; i < loads; i++)
		str_addf(&t, "\tld.shared.u32 %%w%u, [%%r3];\n", i % 16);
	for (uint32_t i = 0; i < 16; i++)
		str_addf(&t, "\tadd.u32 %%r5, %%r5, %%w%u;\n", i);
	str_add(&t, "\tbar.sync 0;\n");
	return gate_third_pass(g, s, &t, warps * s->warp_size);
}

static void shared(struct gate *g)
{
	const struct sim_spec *s = g->s;
	/* As many warps as a block may have, and as registers allow. */
	uint32_t threads = minimum(s->max_threads_per_block, s->registers_per_sm / 32), warps = threads / s->warp_size;
	double few = shared_pass(g, warps, 16), many = shared_pass(g, warps, 48);
	if (few < 0 || many < 0)
		return;
	/* One pipe an SM, or one a scheduler; a scheduler issues no faster than it can. */
	double copies = s->pipe[s->shared.pipe].per_scheduler ? s->schedulers : 1;
	double halves = s->warp_size > 32 ? 2 : 1; /* a wide warp's go one after the other */
	double truth = minimum(4.0 * s->warp_size * copies / (s->shared.issue * halves),
			       4.0 * s->warp_size * s->schedulers / s->scheduler_issue);
	gate_check(g, "bytes a cycle from shared memory", 32.0 * 4 * s->warp_size * warps / (many - few), truth,
		   GATE_BANDWIDTH * truth);
}

void gates_bandwidth(struct gate *g)
{
	global(g);
	shared(g);
}
