/* Plateaus: global memory with the whole GPU, shared memory with one SM, and caches that let through less than the pipes ask for. */
#include "gate.h"
#include <math.h>
#include <stdio.h>

static double minimum(double a, double b)
{
	return a < b ? a : b;
}

/* Loads of 16 bytes by every thread of a launch. */
struct stream {
	uint32_t blocks, threads;
	bool again;	  /* always the same 16 bytes of a thread; else nothing is read twice */
	const char *load; /* how */
};

/* Bytes that one load of all threads brings. */
static uint64_t round_of(const struct stream *w)
{
	return 16ull * w->blocks * w->threads;
}

/* Cycles of a launch with so many loads a thread. */
static double stream(struct gate *g, const struct sim_spec *s, const struct stream *w, uint32_t loads)
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
				 "\t.reg .u32 %%v%u_<4>;\n\t%s.v4.u32 {%%v%u_0, %%v%u_1, %%v%u_2, %%v%u_3}, "
				 "[%%q+%llu];\n",
				 i + k, w->load, i + k, i + k, i + k, i + k,
				 (unsigned long long)(w->again ? 0 : round_of(w) * (i + k)));
		for (uint32_t k = 0; k < 4; k++)
			str_addf(&t, "\tadd.u32 %%r8, %%r8, %%v%u_0;\n", i + k);
	}
	/* Never true, so that nothing is written and nothing can be left out. */
	str_add(&t, "\tsetp.eq.u32 %p0, %r8, 12345;\n\t@%p0 st.global.u32 [%o], %r8;\n\texit;\n}\n");
	struct gate_launch l = {.s = s,
				.text = str_text(&t),
				.grid = w->blocks,
				.block = w->threads,
				.words = 1,
				.bytes = round_of(w) * (w->again ? 1 : loads)};
	uint64_t cycles = gate_run(g, &l, out);
	str_free(&t);
	return (double)cycles;
}

/* Bytes a cycle of the steady state; 0: did not run. */
static double rate(struct gate *g, const struct sim_spec *s, const struct stream *w)
{
	double few = stream(g, s, w, 8), many = stream(g, s, w, 24);
	return few && many ? 16.0 * (double)round_of(w) / (many - few) : 0;
}

/* The description without what is another gate's, and as many threads as an SM takes. */
static struct sim_spec alone(const struct gate *g, struct stream *w)
{
	struct sim_spec s = *g->s;
	s.fetch.path.levels = 0;
	s.tlb[TLB_GLOBAL].levels = 0;
	w->threads = s.max_threads_per_block < 256 ? s.max_threads_per_block : 256;
	w->blocks = s.max_threads_per_sm / w->threads;
	if (w->blocks > s.max_blocks_per_sm)
		w->blocks = s.max_blocks_per_sm;
	return s;
}

/* Bytes a cycle that an SM's load/store pipe asks for. */
static double pipe_of(const struct sim_spec *s)
{
	return (s->coalesce == COALESCE_LINES ? s->coalesce_segment : 128) / s->global.issue;
}

static void global(struct gate *g)
{
	struct stream w = {.load = "ld.global"};
	struct sim_spec s = alone(g, &w);
	w.blocks *= s.sm_count;
	double got = rate(g, &s, &w);
	if (!got)
		return;
	/* The load/store pipes may be the narrower place. */
	double truth = minimum(s.dram_bandwidth, s.sm_count * pipe_of(&s));
	gate_check(g, "bytes a cycle from global memory", got, truth, GATE_BANDWIDTH * truth);
}

/* A level whose port is half as wide as what asks it: as many bytes as that come from it. No shipped GPU has a width of its own there,
 * so the gate gives it one. */
static void caches(struct gate *g)
{
	for (uint32_t k = 0; k < 2; k++) {
		struct stream w = {.again = true, .load = "ld.global"};
		struct sim_spec s = alone(g, &w);
		struct cache_spec *c = &s.global.level[k];
		char what[64];
		if (!(k ? s.has_l2 : s.has_l1))
			continue;
		if (k && s.cc >= 20)
			w.load = "ld.global.cg";
		/* One block for the L1 of one SM; more than the cache holds is not asked of it. */
		w.blocks = k ? w.blocks * s.sm_count : 1;
		if (round_of(&w) > c->size)
			w.blocks = (uint32_t)(c->size / 16 / w.threads);
		double truth = pipe_of(&s) * minimum(w.blocks, k ? s.sm_count : 1) / 2;
		s.outstanding = OUTSTANDING_NONE;
		c->bandwidth = g->off ? truth * 0.9 : truth;
		double got = rate(g, &s, &w);
		snprintf(what, sizeof what, "bytes a cycle from global l%u", k + 1);
		if (got)
			gate_check(g, what, got, truth, GATE_BANDWIDTH * truth);
	}
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
	caches(g);
	shared(g);
}
