/* Predictions of kernels whose time can be told by hand, from findings made up for it. */
#include "predict/predict_impl.h"
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

struct fixture {
	struct arena a;
	struct finding_list f;
	struct device_info d;
	struct predict_request q;
	struct predict_result r;
	struct err e;
};

static void give(struct fixture *x, const char *key, double v)
{
	struct finding f = {.verdict = VERDICT_MEASURED, .lo = v, .hi = v};
	f.value = (struct value){.kind = VALUE_NUMBER, .number = v};
	snprintf(f.key, sizeof f.key, "%s", key);
	assert_int_equal(findings_add(&x->f, &f), 0);
}

static void take(struct fixture *x, const char *key)
{
	struct finding f = {.verdict = VERDICT_ABSENT, .lo = NAN, .hi = NAN};
	snprintf(f.key, sizeof f.key, "%s", key);
	assert_int_equal(findings_add(&x->f, &f), 0);
}

/* One SM of 32 lanes at 1 GHz: additions take 10 cycles and one a cycle goes in. */
static void begin(struct fixture *x, const char *body)
{
	char text[4096];
	memset(x, 0, sizeof *x);
	arena_init(&x->a);
	x->d = (struct device_info){.sm_count = 1,
				    .warp_size = 32,
				    .clock_hz = 1e9,
				    .max_threads_per_block = 1024,
				    .max_threads_per_sm = 2048,
				    .shared_per_block = 49152};
	snprintf(text, sizeof text,
		 ".version 7.8\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p, .param .u32 n)\n{\n"
		 ".reg .pred %%p<4>; .reg .u32 %%r<8>; .reg .f32 %%f<8>; .reg .u64 %%q<8>;\n%s\nret;\n}\n",
		 body);
	struct ptx_module *m;
	int rc = ptx_parse(&m, &x->a, "test", text, strlen(text), &x->e);
	if (rc)
		fail_msg("%s", x->e.text);
	x->q = (struct predict_request){.module = m, .entry = &m->funcs[0], .grid = {1, 1, 1}, .block = {32, 1, 1}};
	struct predict_arg *args = ARENA_ARRAY(&x->a, 2, struct predict_arg);
	args[0] = (struct predict_arg){.buffer = true, .bytes = 1 << 20};
	args[1] = (struct predict_arg){.bits = 20};
	x->q.args = args;
	give(x, "arith.add.u32.latency", 10);
	give(x, "arith.add.u32.issue", 1);
	give(x, "arith.add.f32.latency", 10);
	give(x, "arith.add.f32.issue", 1);
	give(x, "pipeline.sp.ilp4.completion", 1);
	give(x, "branch.turn", 25);
}

static void run(struct fixture *x)
{
	int rc = predict(&x->r, &x->a, &x->q, &x->f, &x->d, &x->e);
	if (rc)
		fail_msg("%s", x->e.text);
}

static void end(struct fixture *x)
{
	findings_free(&x->f);
	arena_free(&x->a);
}

static bool misses(const struct fixture *x, const char *key)
{
	for (const struct predict_term *t = x->r.terms; t; t = t->next)
		if (strcmp(t->key, key) == 0)
			return t->missing;
	return false;
}

static double counted(const struct fixture *x, const char *name)
{
	for (const struct predict_class *c = x->r.classes; c; c = c->next)
		if (strcmp(c->name, name) == 0)
			return c->count;
	return 0;
}

#define ADD  "add.f32 %f0, %f0, %f1;\n"
#define ADD8 ADD ADD ADD ADD ADD ADD ADD ADD

static void one_warp_waits_for_results(void **state)
{
	struct fixture x;
	(void)state;
	begin(&x, ADD8 ADD8);
	run(&x);
	assert_true(fabs(x.r.cycles - 160) < 3);
	assert_int_equal(x.r.bound, BOUND_LATENCY);
	assert_true(misses(&x, "host.launch_latency"));
	end(&x);
}

static void many_warps_fill_the_pipeline(void **state)
{
	struct fixture x;
	(void)state;
	begin(&x, ADD8 ADD8);
	x.q.block[0] = 1024;
	x.q.grid[0] = 2;
	run(&x);
	assert_int_equal(x.r.warps_per_sm, 64);
	/* 16 additions and the end of each of 64 warps */
	assert_true(fabs(x.r.cycles - 17 * 64) < 30);
	assert_int_equal(x.r.bound, BOUND_ISSUE);
	end(&x);
}

static void a_loop_goes_round_as_its_argument_says(void **state)
{
	struct fixture x;
	(void)state;
	begin(
	    &x,
	    "ld.param.u32 %r1, [n]; mov.u32 %r0, 0;\nL: add.u32 %r0, %r0, 1; setp.lt.u32 %p0, %r0, %r1; @%p0 bra L;\n");
	give(&x, "host.launch_latency", 0);
	run(&x);
	assert_true(counted(&x, "bra") == 20);
	/* a turn is 25 cycles; what stands before it takes two additions at most */
	assert_true(x.r.cycles > 19 * 25 && x.r.cycles < 21 * 25 + 30);
	assert_null(x.r.notes);
	end(&x);
}

static void data_that_decide_a_loop_are_named(void **state)
{
	struct fixture x;
	(void)state;
	begin(&x, "ld.param.u64 %q0, [p];\nL: ld.global.u32 %r0, [%q0]; setp.ne.u32 %p0, %r0, 0; @%p0 bra L;\n");
	give(&x, "memory.global.latency", 100);
	give(&x, "host.launch_latency", 0);
	take(&x, "cache.global.l1.size");
	take(&x, "cache.global.l2.size");
	x.q.turns = 1;
	run(&x);
	assert_true(isinf(x.r.hi) && isinf(x.r.kernel_hi)); /* nothing tells what memory moves */
	give(&x, "memory.global.bandwidth", 32);
	x.q.turns = 0;
	run(&x);
	assert_true(isinf(x.r.hi));
	assert_non_null(x.r.notes);
	double once = x.r.cycles;
	x.q.turns = 10;
	run(&x);
	assert_true(isfinite(x.r.hi) && x.r.cycles > 9 * once);
	/* Code whose latency could not be told comes as late as data. */
	const double turns = x.r.cycles;
	struct finding f = {.key = "memory.instruction.latency", .verdict = VERDICT_INCONCLUSIVE, .lo = NAN, .hi = NAN};
	assert_int_equal(findings_add(&x.f, &f), 0);
	run(&x);
	assert_true(x.r.cycles > turns + 90);
	assert_true(misses(&x, "memory.instruction.latency"));
	end(&x);
}

static double additions(const char *body, double turns)
{
	struct fixture x;
	char text[1024];
	snprintf(text, sizeof text,
		 "ld.param.u64 %%q0, [p];\nld.global.u32 %%r1, [%%q0];\nsetp.eq.u32 %%p1, %%r1, 0;\n%s", body);
	begin(&x, text);
	x.q.turns = turns;
	run(&x);
	double n = counted(&x, "add.f32");
	assert_true(isinf(x.r.hi)); /* nothing tells what the launch costs */
	end(&x);
	return n;
}

/* Wherever the end of a loop stands: behind it, before it, in the middle, or as a return. A loop within is run anew each time. */
static void a_loop_that_data_end_is_left(void **state)
{
	(void)state;
	assert_float_equal(additions("L: " ADD "@%p1 bra D;\nbra L;\nD:", 4), 4, 0);
	assert_float_equal(additions("L: " ADD "@%p1 bra D;\nbra L;\nD:", 0), 1, 0);
	assert_float_equal(additions("L: " ADD "@%p1 bra L;", 4), 4, 0);
	assert_float_equal(additions("L: " ADD "@%p1 ret;\nbra L;", 4), 4, 0);
	assert_float_equal(additions("bra T;\nO: ret;\nT: " ADD "@%p1 bra O;\nbra T;", 4), 4, 0);
	assert_float_equal(
	    additions("L: mov.u32 %r2, 0;\nM: " ADD "@%p1 bra N;\nbra M;\nN: @%p1 bra D;\nbra L;\nD:", 3), 9, 0);
	assert_true(additions("L:\nM: " ADD "@%p1 bra N;\nbra M;\nN: @%p1 bra D;\nbra L;\nD:", 3) >= 3);
	/* The end stands where another branch that data decide may jump over it. */
	assert_true(additions("L: " ADD "@%p1 bra S;\n@%p1 bra D;\nS: bra L;\nD:", 3) >= 3);
}

/* A float that no load brings is known: rounded, compared where it is none, and back as an integer. */
static void a_loop_that_floats_end_is_run(void **state)
{
	(void)state;
	assert_float_equal(additions("mov.f32 %f1, 0f00000000;\nL: " ADD "add.f32 %f1, %f1, 0f3F800000;\n"
				     "setp.lt.f32 %p0, %f1, 0f40A00000;\n@%p0 bra L;",
				     0),
			   10, 0);
	assert_float_equal(additions("mov.f32 %f1, 0f3F800000;\nL: " ADD "mul.f32 %f1, %f1, 0f40000000;\n"
				     "cvt.rzi.s32.f32 %r2, %f1;\nsetp.lt.s32 %p0, %r2, 8;\n@%p0 bra L;",
				     0),
			   3, 0);
	assert_float_equal(
	    additions("mov.f32 %f1, 0f7FC00000;\nL: " ADD "setp.lt.f32 %p0, %f1, 0f40A00000;\n@%p0 bra L;", 0), 1, 0);
	assert_float_equal(
	    additions("mov.u32 %r2, 3;\ncvt.rn.f32.u32 %f1, %r2;\nneg.f32 %f1, %f1;\nL: " ADD
		      "fma.rn.f32 %f1, %f1, 0f3F800000, 0f3F800000;\nsetp.ltu.f32 %p0, %f1, 0f00000000;\n"
		      "@%p0 bra L;",
		      0),
	    3, 0);
}

static void both_sides_of_a_divergent_branch_run(void **state)
{
	struct fixture x;
	(void)state;
	begin(&x, "mov.u32 %r0, %tid.x; and.b32 %r0, %r0, 1; setp.eq.u32 %p0, %r0, 0; @%p0 bra A;\n" ADD8
		  "bra J;\nA:\n" ADD8 "J:\n");
	run(&x);
	assert_true(counted(&x, "add.f32") == 16);
	end(&x);
	/* whole warps differ: each takes one side */
	begin(&x, "mov.u32 %r0, %tid.x; and.b32 %r0, %r0, 32; setp.eq.u32 %p0, %r0, 0; @%p0 bra A;\n" ADD8
		  "bra J;\nA:\n" ADD8 "J:\n");
	x.q.block[0] = 64;
	run(&x);
	assert_true(counted(&x, "add.f32") == 16);
	end(&x);
}

static void accesses(void **state)
{
	struct step s = {.mask = UINT32_MAX, .bytes = 4};
	uint64_t out[STEP_PIECES];
	(void)state;
	for (unsigned k = 0; k < 32; k++)
		s.address[k] = 4 * k;
	assert_int_equal(pieces_of(&s, 32, out), 4);
	assert_int_equal(bank_conflicts(&s, 32, 4, 4), 0);
	for (unsigned k = 0; k < 32; k++)
		s.address[k] = 128 * k + 4;
	assert_int_equal(pieces_of(&s, 32, out), 32);
	assert_int_equal(bank_conflicts(&s, 32, 4, 4), 31);
	assert_int_equal(bank_conflicts(&s, 16, 4, 4), 30); /* two halves of the warp, one after the other */
	for (unsigned k = 0; k < 32; k++)
		s.address[k] = 8 * k;
	assert_int_equal(bank_conflicts(&s, 32, 4, 4), 1);
	assert_int_equal(bank_conflicts(&s, 32, 8, 8), 0);
	assert_int_equal(bank_conflicts(&s, 32, 8, 4), 0); /* the words i and i + 32 are one row of a bank */
	for (unsigned k = 0; k < 32; k++)
		s.address[k] = 68 * (k % 16) + 4 * (k / 16); /* a column of a tile that is padded by a word */
	assert_int_equal(bank_conflicts(&s, 32, 8, 4), 1);   /* the last word of all comes round to the first bank */
	for (unsigned k = 0; k < 32; k++)
		s.address[k] = 64;
	assert_int_equal(bank_conflicts(&s, 32, 4, 4), 0);
	s.bytes = 16;
	s.address[0] = 24; /* across two pieces */
	assert_int_equal(pieces_of(&s, 32, out), 3);
}

static void memory_bounds_a_copy(void **state)
{
	struct fixture x;
	(void)state;
	begin(&x, "ld.param.u64 %q0, [p]; mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x;\n"
		  "mad.lo.u32 %r0, %r1, %r2, %r0; mul.wide.u32 %q1, %r0, 4; add.u64 %q0, %q0, %q1; ld.global.u32 %r3, "
		  "[%q0];\n");
	x.q.block[0] = 256;
	x.q.grid[0] = 100;
	give(&x, "memory.global.latency", 100);
	give(&x, "memory.global.bandwidth", 2);
	give(&x, "memory.global.fetch", 32);
	take(&x, "cache.global.l1.size");
	take(&x, "cache.global.l2.size");
	run(&x);
	assert_int_equal(x.r.bound, BOUND_BANDWIDTH);
	assert_true(fabs(x.r.bytes[PREDICT_MEMORY] - 102400) < 1);
	assert_true(fabs(x.r.cycles - 51200) < 1000);
	end(&x);
}

/* Lanes 128 bytes apart: each asks for one sector of a line, though a transaction may span all of it. */
static void scattered_lanes_move_sectors(void **state)
{
	struct fixture x;
	(void)state;
	begin(&x, "ld.param.u64 %q0, [p]; mov.u32 %r0, %tid.x; mul.wide.u32 %q1, %r0, 128; add.u64 %q0, %q0, %q1;\n"
		  "ld.global.u32 %r3, [%q0];\n");
	x.q.block[0] = 256;
	give(&x, "memory.global.latency", 100);
	give(&x, "memory.global.bandwidth", 2);
	give(&x, "memory.coalesce.segment", 128);
	give(&x, "cache.global.l2.size", 65536);
	give(&x, "cache.global.l2.latency", 50);
	give(&x, "cache.global.l2.bandwidth_total", 100);
	give(&x, "cache.global.l2.sector", 32);
	take(&x, "cache.global.l1.size");
	run(&x);
	assert_true(fabs(x.r.bytes[PREDICT_MEMORY] - 256 * 32) < 1);
	end(&x);
}

static void registers_limit_the_blocks(void **state)
{
	struct fixture x;
	(void)state;
	begin(&x, ADD8);
	give(&x, "regfile.registers_per_sm", 1024);
	x.q.grid[0] = 100;
	x.q.block[0] = 128;
	run(&x);
	assert_int_equal(x.r.registers, 2);
	assert_int_equal(x.r.blocks_per_sm, 4);
	assert_string_equal(x.r.occupancy_limit, "registers");
	end(&x);
}

/* A block that ends is told beyond the SM, and the next one comes from there. */
static void the_next_block_comes_from_afar(void **state)
{
	struct fixture x;
	(void)state;
	begin(&x, ADD8);
	give(&x, "regfile.registers_per_sm", 256);
	x.q.grid[0] = 100;
	x.q.block[0] = 32;
	run(&x);
	const double at_once = x.r.cycles;
	give(&x, "cache.global.l2.latency", 100);
	run(&x);
	assert_int_equal(x.r.blocks_per_sm, 4);
	assert_float_equal(x.r.cycles - at_once, 100 * (x.r.blocks_of_sm / 4 - 1), 1);
	end(&x);
}

/* Two loads, each used at once. One waits for the other unless a compiler puts both first. Their parameter costs an
 * instruction unless it is an operand. */
static void a_compiler_puts_loads_first(void **state)
{
	double cycles[2];
	(void)state;
	for (unsigned k = 0; k < 2; k++) {
		struct fixture x;
		begin(&x, "ld.param.u64 %q0, [p];\nld.global.f32 %f0, [%q0];\nadd.f32 %f1, %f0, %f0;\n"
			  "ld.global.f32 %f2, [%q0+4096];\nadd.f32 %f3, %f2, %f1;\nst.global.f32 [%q0], %f3;\n");
		give(&x, "memory.global.latency", 1000);
		give(&x, "regfile.registers_per_sm", 65536);
		take(&x, "cache.global.l1.size");
		take(&x, "cache.global.l2.size");
		x.q.compiled = k;
		run(&x);
		cycles[k] = x.r.cycles;
		assert_true(counted(&x, "ld.param.u64") == (k ? 0 : 1));
		end(&x);
	}
	assert_true(cycles[0] > 2000);
	assert_true(cycles[1] > 1000 && cycles[1] < 1100);
}

/* 64 KB that the L2 holds come from it when the launch before was the same. Of four times what it holds, few do. */
static void what_a_launch_leaves_is_there_for_the_next(void **state)
{
	static const double size[] = {1 << 20, 1 << 18};
	double cycles[2][2];
	(void)state;
	for (unsigned n = 0; n < 4; n++) {
		struct fixture x;
		begin(&x, "mov.u32 %r0, %ctaid.x;\nmad.lo.u32 %r1, %r0, 256, 0;\nmov.u32 %r2, %tid.x;\n"
			  "add.u32 %r1, %r1, %r2;\nmul.wide.u32 %q1, %r1, 4;\nld.param.u64 %q0, [p];\n"
			  "add.u64 %q0, %q0, %q1;\nld.global.f32 %f0, [%q0];\nadd.f32 %f0, %f0, %f0;\n");
		x.q.block[0] = 256;
		x.q.grid[0] = 64;
		x.q.warm = n & 1;
		give(&x, "memory.global.latency", 1000);
		give(&x, "memory.global.bandwidth", 1);
		give(&x, "memory.global.fetch", 32);
		give(&x, "cache.global.l2.latency", 100);
		give(&x, "cache.global.l2.size", size[n / 2]);
		take(&x, "cache.global.l1.size");
		run(&x);
		cycles[n / 2][n & 1] = x.r.cycles;
		end(&x);
	}
	assert_true(cycles[0][1] < 0.2 * cycles[0][0]);
	assert_true(fabs(cycles[1][1] - cycles[1][0]) < 1);
}

/* Two warps that read two words one after the other: neither gets ahead on what the other one waits for. */
static void what_is_on_its_way_is_waited_for(void **state)
{
	struct fixture x;
	(void)state;
	begin(&x, "ld.param.u64 %q0, [p];\nld.global.f32 %f0, [%q0];\nadd.f32 %f0, %f0, %f0;\n"
		  "ld.global.f32 %f1, [%q0+4096];\nadd.f32 %f1, %f1, %f1;\n");
	x.q.block[0] = 64;
	give(&x, "memory.global.latency", 1000);
	give(&x, "cache.global.l1.latency", 10);
	give(&x, "cache.global.l1.size", 4096);
	take(&x, "cache.global.l2.size");
	run(&x);
	assert_true(x.r.cycles > 2000 && x.r.cycles < 2100);
	end(&x);
}

/* A run through OpenCL: no operation was clocked, pipelines were, and nothing says how many threads an SM holds. */
static void pipelines_stand_for_operations_without_a_clock(void **state)
{
	struct fixture x;
	(void)state;
	for (unsigned warps = 1; warps <= 32; warps += 31) {
		begin(&x, ADD8 ADD8);
		findings_free(&x.f);
		x.d.max_threads_per_sm = 0;
		x.q.grid[0] = warps;
		give(&x, "pipeline.sp.ilp1.completion", 10);
		give(&x, "pipeline.sp.ilp4.issue", 2);
		give(&x, "pipeline.sp.ilp4.completion", 2.5);
		run(&x);
		assert_int_equal(x.r.warps_per_sm, warps);
		assert_true(fabs(x.r.cycles - (warps == 1 ? 160 : 16 * 32 * 2)) < 70);
		assert_int_equal(x.r.bound, warps == 1 ? BOUND_LATENCY : BOUND_ISSUE);
		assert_false(misses(&x, "arith.add.f32.latency"));
		end(&x);
	}
	/* With one operation clocked, pipelines stand for nothing: its findings are the better ones. */
	begin(&x, ADD8 ADD8);
	give(&x, "pipeline.sp.ilp1.completion", 40);
	give(&x, "pipeline.sp.ilp4.issue", 8);
	run(&x);
	assert_true(fabs(x.r.cycles - 160) < 3);
	end(&x);
}

static void what_is_not_followed_is_refused(void **state)
{
	struct fixture x;
	(void)state;
	begin(&x, ADD);
	x.q.block[0] = 2048;
	assert_int_equal(predict(&x.r, &x.a, &x.q, &x.f, &x.d, &x.e), -EINVAL);
	end(&x);
	begin(&x, ADD);
	x.d.clock_hz = 0;
	assert_int_equal(predict(&x.r, &x.a, &x.q, &x.f, &x.d, &x.e), -ENODATA);
	end(&x);
}

/* Cycles of blocks of one warp at whose branch so many lanes stay. */
static double parting(unsigned stay, unsigned warps, double split, double apart)
{
	struct fixture x;
	char text[256];
	snprintf(text, sizeof text, "mov.u32 %%r0, %%tid.x;\nsetp.ge.u32 %%p0, %%r0, %u;\n@%%p0 bra L;\n%sL:\n", stay,
		 ADD);
	begin(&x, text);
	give(&x, "host.launch_latency", 0);
	give(&x, "core.schedulers", 4);
	give(&x, "branch.split", split);
	give(&x, "branch.split_issue", apart);
	x.q.grid[0] = warps;
	run(&x);
	const double cycles = x.r.cycles;
	end(&x);
	return cycles;
}

static void lanes_that_part_wait_and_so_do_other_warps(void **state)
{
	(void)state;
	assert_true(fabs(parting(16, 1, 50, 0) - parting(16, 1, 0, 0) - 50) < 1);
	assert_true(fabs(parting(32, 1, 50, 0) - parting(32, 1, 0, 0)) < 1);
	assert_true(fabs(parting(16, 16, 50, 400) - parting(16, 16, 50, 200) - 3 * 200) < 1);
}

/* Cycles when lanes load what decides their way, from words `apart` bytes apart. */
static double decided(unsigned apart, double split)
{
	struct fixture x;
	char text[512];
	snprintf(
	    text, sizeof text,
	    "ld.param.u64 %%q0, [p];\nmov.u32 %%r0, %%tid.x;\nmul.wide.u32 %%q1, %%r0, %u;\nadd.u64 %%q0, %%q0, %%q1;\n"
	    "ld.global.u32 %%r1, [%%q0];\nsetp.gt.u32 %%p0, %%r1, 5;\n@%%p0 bra L;\n%sL:\n",
	    apart, ADD8);
	begin(&x, text);
	give(&x, "memory.global.latency", 100);
	give(&x, "branch.split", split);
	take(&x, "cache.global.l1.size");
	take(&x, "cache.global.l2.size");
	run(&x);
	const double cycles = x.r.cycles;
	end(&x);
	return cycles;
}

static void lanes_that_read_one_word_go_one_way(void **state)
{
	(void)state;
	assert_true(fabs(decided(0, 500) - decided(0, 0)) < 1);
	assert_true(fabs(decided(4, 500) - decided(4, 0) - 500) < 1);
}

/* Cycles of many atomics at addresses that data decide, in a buffer of so many bytes. */
static double scattered_atomics(double bytes)
{
	struct fixture x;
	begin(&x, "ld.param.u64 %q0, [p];\nmov.u32 %r0, %tid.x;\nmul.wide.u32 %q1, %r0, 4;\nadd.u64 %q1, %q0, %q1;\n"
		  "ld.global.u32 %r1, [%q1];\nmul.wide.u32 %q2, %r1, 4;\nadd.u64 %q0, %q0, %q2;\n"
		  "red.global.add.u32 [%q0], 1;\n");
	struct predict_arg args[] = {{.buffer = true, .bytes = (uint64_t)bytes}, {.bits = 20}};
	x.q.args = args;
	x.q.block[0] = 1024;
	give(&x, "memory.global.latency", 100);
	give(&x, "cache.global.l2.latency", 50);
	give(&x, "cache.global.l2.bandwidth_total", 512);
	give(&x, "cache.global.l2.sector", 32);
	give(&x, "cache.global.l2.line", 128);
	give(&x, "atomic.add.latency", 60);
	give(&x, "atomic.add.same_address", 10);
	give(&x, "atomic.add.line", 10);
	take(&x, "cache.global.l1.size");
	run(&x);
	const double cycles = x.r.cycles;
	end(&x);
	return cycles;
}

/* 16 parts of the L2 do the atomics on 32 warps' 32 sectors, 80 cycles each; a line has one of them. */
static void a_small_buffer_keeps_few_atomics_units(void **state)
{
	(void)state;
	const double many = scattered_atomics(1 << 24), one = scattered_atomics(128);
	assert_true(many > 32 * 31 * 80.0 / 16 && many < 32 * 32 * 80.0 / 16 + 400);
	assert_true(one > 32 * 4 * 80.0 - 1 && one < 32 * 4 * 80.0 + 400);
}

static void every_allocation_may_fail(void **state)
{
	struct fixture x;
	(void)state;
	for (long n = 1; n < 200; n++) {
		begin(&x, ADD8);
		mem_fail_after(n);
		int rc = predict(&x.r, &x.a, &x.q, &x.f, &x.d, &x.e);
		mem_fail_after(0);
		end(&x);
		if (rc == 0)
			return;
		assert_int_equal(rc, -ENOMEM);
	}
	fail_msg("it never went well");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(one_warp_waits_for_results),
	    cmocka_unit_test(many_warps_fill_the_pipeline),
	    cmocka_unit_test(a_loop_goes_round_as_its_argument_says),
	    cmocka_unit_test(data_that_decide_a_loop_are_named),
	    cmocka_unit_test(a_loop_that_data_end_is_left),
	    cmocka_unit_test(a_loop_that_floats_end_is_run),
	    cmocka_unit_test(both_sides_of_a_divergent_branch_run),
	    cmocka_unit_test(lanes_that_part_wait_and_so_do_other_warps),
	    cmocka_unit_test(lanes_that_read_one_word_go_one_way),
	    cmocka_unit_test(a_small_buffer_keeps_few_atomics_units),
	    cmocka_unit_test(accesses),
	    cmocka_unit_test(memory_bounds_a_copy),
	    cmocka_unit_test(scattered_lanes_move_sectors),
	    cmocka_unit_test(registers_limit_the_blocks),
	    cmocka_unit_test(the_next_block_comes_from_afar),
	    cmocka_unit_test(a_compiler_puts_loads_first),
	    cmocka_unit_test(what_a_launch_leaves_is_there_for_the_next),
	    cmocka_unit_test(what_is_on_its_way_is_waited_for),
	    cmocka_unit_test(pipelines_stand_for_operations_without_a_clock),
	    cmocka_unit_test(what_is_not_followed_is_refused),
	    cmocka_unit_test(every_allocation_may_fail),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
