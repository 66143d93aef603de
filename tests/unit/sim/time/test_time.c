/* Every number that the description gives must come out of a kernel's own clock reads. */
#include "base/rng.h"
#include "tiny.h"
#include <errno.h>
#include <string.h>

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

typedef uint32_t chain_fn(struct tiny *t, uint16_t dst, uint16_t a, uint16_t b);

/* Ticks from one clock read to the next with n of `op` between them, dependent or not, in `block` threads of one block. */
static uint32_t timed(struct bench *b, chain_fn *op, uint32_t n, bool dependent, uint32_t block)
{
	bench_start(b);
	tiny_imm(&b->t, 1, 1);
	tiny_add(&b->t, 2, 1, 1); /* waits for the immediate, and is waited for by the store */
	tiny_store(&b->t, PTX_GLOBAL, OUT, 8, 2);
	tiny_clock(&b->t, 10);
	for (uint32_t k = 0; k < n; k++)
		op(&b->t, dependent ? 2 : (uint16_t)(2 + k % 4), dependent ? 2 : 1, 1);
	tiny_clock(&b->t, 11);
	tiny_store(&b->t, PTX_GLOBAL, OUT, 0, 10);
	tiny_store(&b->t, PTX_GLOBAL, OUT, 4, 11);
	bench_go(b, 1, block);
	assert_int_equal(b->r.time.end, TIME_DONE);
	uint32_t ticks = b->r.out[1] - b->r.out[0];
	bench_stop(b);
	return ticks;
}

static void a_chain_costs_its_latency(void **state)
{
	(void)state;
	struct bench b;
	tiny_spec(&b.s);
	/* The first add goes out 4 cycles after the clock read, the second read 4 after the last add. */
	assert_int_equal(timed(&b, tiny_add, 16, true, 32), 4 + 15 * 10 + 4);
	assert_int_equal(timed(&b, tiny_add, 32, true, 32) - timed(&b, tiny_add, 16, true, 32), 160);
	assert_int_equal(timed(&b, tiny_mul, 32, true, 32) - timed(&b, tiny_mul, 16, true, 32), 16 * 40);
}

static void a_latency_survives_an_odd_number_of_steps(void **state)
{
	(void)state;
	struct bench b;
	tiny_spec(&b.s);
	b.s.op[1].latency = 43;
	b.s.op[1].native_ops = 3;
	assert_int_equal(timed(&b, tiny_mul, 32, true, 32) - timed(&b, tiny_mul, 16, true, 32), 16 * 43);
}

static double rate(struct bench *b, chain_fn *op, uint32_t threads)
{
	bench_start(b);
	tiny_imm(&b->t, 1, 1);
	for (uint32_t k = 0; k < 200; k++)
		op(&b->t, (uint16_t)(2 + k % 8), 1, 1);
	bench_go(b, 1, threads);
	double r = 200.0 * threads / (double)b->r.time.cycles;
	bench_stop(b);
	return r;
}

static void enough_warps_reach_the_throughput(void **state)
{
	(void)state;
	struct bench b;
	tiny_spec(&b.s);
	assert_float_equal(rate(&b, tiny_add, 512), 8, 0.15);
	assert_float_equal(rate(&b, tiny_mul, 512), 2, 0.1);
	double eight = rate(&b, tiny_add, 512);
	b.s.op[0].rate[0] = b.s.op[0].throughput = 7.9;
	assert_float_equal(rate(&b, tiny_add, 512) / eight, 7.9 / 8, 0.002);
	/* Two pipes for one operation, each with its own rate. */
	b.s.scheduler_issue = 1;
	b.s.pipe_count = 3;
	b.s.op[0].pipe_count = 2;
	b.s.op[0].pipe[1] = 2;
	b.s.op[0].rate[1] = 3.3;
	assert_float_equal(rate(&b, tiny_add, 512), 11.2, 0.3);
	/* The same rates, each pipe once in each of four schedulers. */
	b.s.schedulers = 4;
	b.s.pipe[0].per_scheduler = b.s.pipe[2].per_scheduler = true;
	assert_float_equal(rate(&b, tiny_add, 512), 11.2, 0.4);
}

static void a_clock_read_costs_what_the_file_says(void **state)
{
	(void)state;
	struct bench b;
	tiny_spec(&b.s);
	b.s.clock_native_ops = 2;
	b.s.clock_op_latency = 24;
	b.s.clock_issue = 4;
	b.s.clock_granularity = 2;
	bench_start(&b);
	for (uint16_t k = 0; k < 8; k++)
		tiny_clock(&b.t, (uint16_t)(1 + k));
	for (uint16_t k = 0; k < 8; k++)
		tiny_store(&b.t, PTX_GLOBAL, OUT, 4u * k, (uint16_t)(1 + k));
	bench_go(&b, 1, 1);
	for (uint32_t k = 0; k < 7; k++) {
		assert_int_equal(b.r.out[k + 1] - b.r.out[k], 28);
		assert_int_equal(b.r.out[k] % 2, 0);
	}
	bench_stop(&b);
}

static void blocks_go_round_the_clusters(void **state)
{
	(void)state;
	struct bench b;
	tiny_spec(&b.s);
	bench_start(&b);
	tiny_smid(&b.t, 1);
	tiny_store(&b.t, PTX_GLOBAL, OUT, 0, 1);
	/* All five blocks write to one word; the trace of who sat where is in what each reads back at its own time. */
	bench_go(&b, 5, 32);
	assert_int_equal(b.r.time.end, TIME_DONE);
	assert_true(b.r.out[0] < 4);
	bench_stop(&b);
}

static void barriers_wait_and_exits_release(void **state)
{
	(void)state;
	struct bench b;
	tiny_spec(&b.s);
	bench_start(&b);
	tiny_tid(&b.t, 1);
	tiny_imm(&b.t, 2, 32);
	tiny_imm(&b.t, 3, 64);
	tiny_less(&b.t, 0, 1, 2); /* first warp */
	tiny_less(&b.t, 1, 1, 3); /* first two */
	tiny_exit(&b.t, 1, true); /* the third leaves */
	uint32_t at = tiny_branch(&b.t, 0, false, 0, 0);
	for (uint32_t k = 0; k < 10; k++)
		tiny_add(&b.t, 4, 4, 2); /* only the second warp is busy for 100 cycles */
	b.t.inst[at].target = b.t.inst[at].join = tiny_barrier(&b.t);
	tiny_clock(&b.t, 5);
	tiny_add(&b.t, 6, 1, 1);
	tiny_add(&b.t, 6, 6, 6);
	tiny_add(&b.t, 6, 6, OUT);
	tiny_store(&b.t, PTX_GLOBAL, 6, 0, 5); /* out[thread] = clock */
	bench_go(&b, 1, 96);
	assert_int_equal(b.r.time.end, TIME_DONE);
	uint32_t first = b.r.out[0], second = b.r.out[32];
	/* Both left the barrier together: one scheduler, so 4 cycles apart. */
	assert_int_equal(first > second ? first - second : second - first, 4);
	bench_stop(&b);
}

static void barriers_of_one_kind_each_deadlock(void **state)
{
	(void)state;
	struct bench b;
	tiny_spec(&b.s);
	bench_start(&b);
	/* Each warp waits at a barrier of its own number. */
	tiny_tid(&b.t, 1);
	tiny_imm(&b.t, 2, 32);
	tiny_imm(&b.t, 3, 0);
	tiny_imm(&b.t, 4, 1);
	tiny_less(&b.t, 0, 1, 2);
	for (uint16_t k = 0; k < 2; k++) {
		struct func_inst *i = &b.t.inst[tiny_barrier(&b.t)];
		i->guard = 0;
		i->flags |= k ? FUNC_GUARD_NOT : 0;
		i->a = (uint16_t)(3 + k);
	}
	tiny_barrier(&b.t);
	bench_go(&b, 1, 33);
	assert_int_equal(b.r.time.end, TIME_DEADLOCK);
	assert_non_null(strstr(b.r.time.message, "barrier"));
	bench_stop(&b);
}

static void paths_of_a_branch_run_taken_first(void **state)
{
	(void)state;
	struct bench b;
	tiny_spec(&b.s);
	bench_start(&b);
	tiny_tid(&b.t, 1);
	tiny_imm(&b.t, 2, 7);
	tiny_less(&b.t, 0, 1, 2);
	uint32_t at = tiny_branch(&b.t, 0, false, 0, 0);
	tiny_clock(&b.t, 5); /* 25 lanes fall through */
	uint32_t over = tiny_branch(&b.t, FUNC_NONE, false, 0, 0);
	b.t.inst[at].target = tiny_clock(&b.t, 5); /* 7 lanes */
	b.t.inst[at].join = b.t.inst[over].target = b.t.inst[over].join = tiny_add(&b.t, 6, 1, 1);
	tiny_add(&b.t, 6, 6, 6);
	tiny_add(&b.t, 6, 6, OUT);
	tiny_store(&b.t, PTX_GLOBAL, 6, 0, 5);
	bench_go(&b, 1, 32);
	for (uint32_t k = 0; k < 7; k++)
		assert_int_equal(b.r.out[k], b.r.out[0]);
	for (uint32_t k = 7; k < 32; k++)
		assert_int_equal(b.r.out[k], b.r.out[7]);
	assert_true(b.r.out[7] > b.r.out[0]);
	bench_stop(&b);
}

/* Clock before and behind a comparison and a branch that half of the warp takes, or all of it. */
static uint32_t branch_cycles(double predicate, double split, uint64_t taken)
{
	struct bench b;
	tiny_spec(&b.s);
	b.s.branch_predicate = predicate;
	b.s.branch_split = split;
	bench_start(&b);
	tiny_tid(&b.t, 1);
	tiny_imm(&b.t, 2, taken);
	tiny_clock(&b.t, 5);
	tiny_less(&b.t, 0, 1, 2);
	uint32_t at = tiny_branch(&b.t, 0, false, 0, 0);
	b.t.inst[at].target = b.t.inst[at].join = tiny_clock(&b.t, 6);
	tiny_store(&b.t, PTX_GLOBAL, OUT, 0, 5);
	tiny_store(&b.t, PTX_GLOBAL, OUT, 4, 6);
	bench_go(&b, 1, 32);
	assert_int_equal(b.r.time.end, TIME_DONE);
	const uint32_t cycles = b.r.out[1] - b.r.out[0];
	bench_stop(&b);
	return cycles;
}

static void a_branch_waits_for_its_answer_and_for_lanes_that_part(void **state)
{
	(void)state;
	const uint32_t plain = branch_cycles(0, 0, 32);
	assert_int_equal(branch_cycles(30, 0, 32), plain + 20); /* the comparison itself takes 10 */
	assert_int_equal(branch_cycles(0, 50, 32), plain);
	assert_int_equal(branch_cycles(0, 50, 16) - branch_cycles(0, 0, 16), 50);
}

/* Two sums of which the second takes the first one in, or that are two instructions. */
static uint64_t sum_cycles(bool operand, uint32_t *sum)
{
	struct bench b;
	tiny_spec(&b.s);
	bench_start(&b);
	tiny_imm(&b.t, 1, 3);
	uint32_t first = tiny_add(&b.t, 2, 1, 1);
	tiny_add(&b.t, 3, 2, 1);
	b.t.info[first].fused = operand;
	tiny_store(&b.t, PTX_GLOBAL, OUT, 0, 3);
	bench_go(&b, 1, 1);
	assert_int_equal(b.r.time.end, TIME_DONE);
	*sum = b.r.out[0];
	const uint64_t cycles = b.r.time.cycles;
	bench_stop(&b);
	return cycles;
}

static void an_operand_is_computed_in_no_time(void **state)
{
	(void)state;
	uint32_t one, two;
	const uint64_t with = sum_cycles(true, &one), without = sum_cycles(false, &two);
	assert_int_equal(one, 9);
	assert_int_equal(two, 9);
	assert_int_equal(without - with, 10);
}

static void an_access_outside_is_a_fault(void **state)
{
	(void)state;
	struct bench b;
	tiny_spec(&b.s);
	bench_start(&b);
	tiny_load(&b.t, PTX_GLOBAL, 1, OUT, 4096);
	bench_go(&b, 1, 1);
	assert_int_equal(b.r.time.end, TIME_FAULT);
	assert_non_null(strstr(b.r.time.message, "0x10001000"));
	bench_stop(&b);
}

static void an_endless_loop_meets_its_limit(void **state)
{
	(void)state;
	struct bench b;
	struct arena a;
	struct time_program *p;
	tiny_spec(&b.s);
	bench_start(&b);
	tiny_imm(&b.t, 2, 1);
	uint32_t at = tiny_add(&b.t, 1, 1, 2); /* no state comes back for long: else it were a deadlock */
	tiny_branch(&b.t, FUNC_NONE, false, at, FUNC_NO_JOIN);
	tiny_exit(&b.t, FUNC_NONE, false);
	arena_init(&a);
	assert_int_equal(time_prepare(&p, &a, &b.s, &b.t.func), 0);
	struct func_memory m = {0};
	struct func_launch l = {.grid = {2, 1, 1}, .block = {32, 1, 1}, .memory = &m};
	struct time_request q = {.program = p, .launch = &l, .limit_ms = 20};
	struct time_result r;
	assert_int_equal(time_launch(b.g, &q, &r), 0);
	assert_int_equal(r.end, TIME_LIMIT);
	/* The GPU is usable afterwards. */
	l.block[0] = 1024;
	assert_int_equal(time_launch(b.g, &q, &r), 0);
	assert_int_equal(r.end, TIME_REFUSED);
	arena_free(&a);
	time_close(b.g);
}

/* Random programs of every kind of record, on one warp: the solo path and the general loop must agree in every cycle. */
static void random_program(struct tiny *t, struct rng *r)
{
	tiny_init(t);
	tiny_imm(t, OUT, TINY_OUT);
	tiny_imm(t, 7, 1);
	tiny_imm(t, 8, 0);
	tiny_imm(t, 9, 20);
	tiny_tid(t, 6);
	uint32_t loop = t->func.inst_count, n = 4 + (uint32_t)rng_below(r, 30);
	for (uint32_t k = 0; k < n; k++) {
		uint16_t d = (uint16_t)(1 + rng_below(r, 5));
		switch (rng_below(r, 8)) {
		case 0:
			tiny_add(t, d, (uint16_t)(1 + rng_below(r, 6)), (uint16_t)(1 + rng_below(r, 6)));
			break;
		case 1:
			tiny_mul(t, d, (uint16_t)(1 + rng_below(r, 6)), 7);
			break;
		case 2:
			tiny_clock(t, d);
			break;
		case 3:
			tiny_load(t, PTX_GLOBAL, d, OUT, 4 * rng_below(r, 512));
			break;
		case 4:
			tiny_load(t, PTX_SHARED, d, 8, 4 * rng_below(r, 256));
			break;
		case 6:
			tiny_barrier(t);
			break;
		case 5:
			tiny_store(t, PTX_GLOBAL, OUT, 4 * rng_below(r, 512), d);
			break;
		default: {
			tiny_less(t, 1, 6, (uint16_t)(1 + rng_below(r, 5)));
			uint32_t at = tiny_branch(t, 1, false, 0, 0);
			tiny_add(t, d, d, 7);
			t->inst[at].target = t->inst[at].join = tiny_add(t, 10, d, 7);
			break;
		}
		}
	}
	tiny_add(t, 8, 8, 7);
	tiny_less(t, 0, 8, 9);
	tiny_branch(t, 0, false, loop, t->func.inst_count + 1);
	tiny_exit(t, FUNC_NONE, false);
}

/* What a request passes, drawn anew for each GPU; a third has none of it. */
static void random_requests(struct sim_spec *s, struct rng *r)
{
	s->outstanding = (enum outstanding_kind)rng_below(r, 3);
	s->outstanding_entries = 3 + (uint32_t)rng_below(r, 60);
	s->outstanding_merge = s->outstanding == OUTSTANDING_MSHR ? (uint32_t)rng_below(r, 9) : 0;
	s->coalesce = (enum coalesce_rule)rng_below(r, 3);
	s->memory_partitions = 1 + (uint32_t)rng_below(r, 4);
	s->partition_stride = 128ull << rng_below(r, 3);
	if (rng_below(r, 2))
		s->dram = (struct dram_spec){
		    .banks = 1 + (uint32_t)rng_below(r, 4), .row_bytes = 512, .row_miss = 13, .bank_busy = 7};
	s->shared_lanes = rng_below(r, 2) ? 16 : 0;
	s->shared_broadcast = rng_below(r, 2) ? BROADCAST_ONE : BROADCAST_ALL;
	if (!rng_below(r, 3))
		s->noise.boost = 0.1, s->noise.boost_interval = 3000, s->noise.boost_cycles = 800;
}

static void solo_and_general_agree(void **state)
{
	(void)state;
	struct sim_spec s;
	struct rng r;
	uint64_t solo = 0;
	rng_seed(&r, 20260101);
	for (uint32_t n = 0; n < 60; n++) {
		tiny_spec(&s);
		s.independent_threads = n % 3 == 1;
		s.schedulers = 1 + (uint32_t)rng_below(&r, 4);
		s.policy = (enum core_policy)(n / 3 % 4);
		s.dual_issue = n / 2 % 2;
		s.warp_interval = n % 5 == 1 ? 7 : 0;
		s.pipe[0].together = n % 7 > 3;
		s.global.request = n % 6 == 1 ? 2.5 : 0;
		s.scheduler_issue = (double)(1 + rng_below(&r, 8)) / 2;
		s.op[1].native_ops = 1 + (uint32_t)rng_below(&r, 5);
		s.clock_native_ops = 1 + (uint32_t)rng_below(&r, 3);
		s.loads_in_flight = (uint32_t)rng_below(&r, 4);
		s.dram_bandwidth = n % 2 ? 0.37 : 0;
		s.global.address_ops = n % 3;
		s.global.address_latency = 11;
		s.noise = (struct noise_spec){.jitter_probability = 0.2,
					      .jitter_cycles = 30,
					      .refresh_interval = 900,
					      .refresh_cycles = 70,
					      .neighbour_rate = 3,
					      .drift = 0.001};
		if (n % 3)
			random_requests(&s, &r);
		struct tiny t;
		random_program(&t, &r);
		uint32_t threads = 1 + (uint32_t)rng_below(&r, 32);
		struct tiny_result a, b;
		struct time_gpu *g;
		assert_int_equal(time_open(&g, &s, n), 0);
		tiny_run(&a, g, &s, &t, 1, threads, NULL, 4096, NULL, 0, 0);
		time_close(g);
		assert_int_equal(time_open(&g, &s, n), 0);
		tiny_run(&b, g, &s, &t, 1, threads, NULL, 4096, NULL, 0, TINY_GENERAL);
		time_close(g);
		assert_int_equal(a.time.end, TIME_DONE);
		assert_int_equal(b.time.solo, 0);
		solo += a.time.solo;
		assert_int_equal(a.time.cycles, b.time.cycles);
		assert_int_equal(a.time.instructions, b.time.instructions);
		assert_memory_equal(a.out, b.out, 4096);
		tiny_free(&a);
		tiny_free(&b);
	}
	assert_true(solo > 10000);
}

/* Many warps: turns that are skipped because nothing can issue must change nothing. The reference looks in every cycle. */
static void skipping_agrees_with_looking_every_cycle(void **state)
{
	(void)state;
	struct sim_spec s;
	struct rng r;
	rng_seed(&r, 20260202);
	for (uint32_t n = 0; n < 40; n++) {
		tiny_spec(&s);
		s.independent_threads = n % 3 == 1;
		s.schedulers = 1 + (uint32_t)rng_below(&r, 4);
		s.policy = (enum core_policy)(n / 3 % 4);
		s.dual_issue = n / 2 % 2;
		s.warp_interval = n % 5 == 1 ? 7 : 0;
		s.pipe[0].together = n % 7 > 3;
		s.global.request = n % 6 == 1 ? 2.5 : 0;
		s.scheduler_issue = (double)(1 + rng_below(&r, 8)) / 2;
		s.pipe_count = 3;
		s.pipe[0].per_scheduler = n & 1;
		s.op[0].pipe_count = 1 + (n & 1);
		s.op[0].pipe[1] = 2;
		s.op[0].rate[1] = 3.3;
		s.op[1].native_ops = 1 + (uint32_t)rng_below(&r, 5);
		s.loads_in_flight = (uint32_t)rng_below(&r, 4);
		s.dram_bandwidth = n % 3 ? 2.7 : 0;
		s.max_blocks_per_sm = 1 + (uint32_t)rng_below(&r, 3);
		s.noise.jitter_probability = 0.2;
		s.noise.jitter_cycles = 30;
		if (n % 4 == 1) /* they take their time, and every cycle of it is looked at */
			random_requests(&s, &r);
		struct tiny t;
		random_program(&t, &r);
		struct tiny_result a, b;
		struct time_gpu *g;
		assert_int_equal(time_open(&g, &s, n), 0);
		tiny_run(&a, g, &s, &t, 9, 100, NULL, 4096, NULL, 0, 0);
		time_close(g);
		assert_int_equal(time_open(&g, &s, n), 0);
		tiny_run(&b, g, &s, &t, 9, 100, NULL, 4096, NULL, 0, TINY_POLL);
		time_close(g);
		assert_int_equal(a.time.end, TIME_DONE);
		assert_int_equal(a.time.cycles, b.time.cycles);
		assert_int_equal(a.time.instructions, b.time.instructions);
		assert_memory_equal(a.out, b.out, 4096);
		tiny_free(&a);
		tiny_free(&b);
	}
}

static void the_same_seed_gives_the_same_run(void **state)
{
	(void)state;
	struct sim_spec s;
	struct rng r;
	struct tiny t;
	tiny_spec(&s);
	s.noise.jitter_probability = 0.5;
	s.noise.jitter_cycles = 40;
	rng_seed(&r, 5);
	random_program(&t, &r);
	uint64_t cycles[3];
	for (uint64_t k = 0; k < 3; k++) {
		struct time_gpu *g;
		struct tiny_result a;
		assert_int_equal(time_open(&g, &s, k == 2 ? 9 : 8), 0);
		tiny_run(&a, g, &s, &t, 12, 96, NULL, 4096, NULL, 0, 0);
		cycles[k] = a.time.cycles;
		tiny_free(&a);
		time_close(g);
	}
	assert_int_equal(cycles[0], cycles[1]);
	assert_int_not_equal(cycles[0], cycles[2]);
}

/* A counter that two launches of one kernel read. The host is never back after the same time. So the gaps are all
 * within the stated range, neither parity is missing, and the seed decides them. */
static void the_gap_between_launches_is_drawn(void **state)
{
	(void)state;
	enum { LAUNCHES = 24 };
	uint32_t at[3][LAUNCHES];
	for (uint32_t n = 0; n < 3; n++) {
		struct bench b;
		tiny_spec(&b.s);
		assert_int_equal(time_open(&b.g, &b.s, n == 2 ? 4 : 3), 0);
		tiny_init(&b.t);
		tiny_imm(&b.t, OUT, TINY_OUT);
		tiny_clock(&b.t, 1);
		tiny_store(&b.t, PTX_GLOBAL, OUT, 0, 1);
		tiny_exit(&b.t, FUNC_NONE, false);
		for (uint32_t k = 0; k < LAUNCHES; k++) {
			tiny_run(&b.r, b.g, &b.s, &b.t, 1, 1, NULL, 4096, NULL, 0, 0);
			at[n][k] = b.r.out[0];
			tiny_free(&b.r);
		}
		time_close(b.g);
	}
	assert_memory_equal(at[0], at[1], sizeof at[0]);
	uint32_t odd = 0, same = 0;
	for (uint32_t k = 1; k < LAUNCHES; k++) {
		uint32_t gap = at[0][k] - at[0][k - 1];
		assert_in_range(gap, 1000, 100000 + 100);
		odd += gap & 1;
		same += gap == at[2][k] - at[2][k - 1];
	}
	assert_in_range(odd, 1, LAUNCHES - 2);
	assert_true(same < 3);
}

/* Every allocation of a GPU with all of it fails once; what was there already is given back (the sanitizers look). */
static void opening_survives_failing_allocations(void **state)
{
	(void)state;
	struct sim_spec s;
	struct time_gpu *g = NULL;
	tiny_spec(&s);
	s.outstanding = OUTSTANDING_MSHR;
	s.outstanding_entries = 4;
	s.memory_partitions = 2;
	s.partition_stride = 256;
	s.dram = (struct dram_spec){.banks = 2, .row_bytes = 512};
	s.atomic[0].same_address = 5;
	for (int kind = OUTSTANDING_MSHR; kind <= OUTSTANDING_PRT; kind++) {
		s.outstanding = (enum outstanding_kind)kind;
		long before = mem_count(), failed = 0;
		assert_int_equal(time_open(&g, &s, 1), 0);
		long all = mem_count() - before;
		time_close(g);
		for (long n = 1; n <= all; n++) {
			mem_fail_after(n);
			int rc = time_open(&g, &s, 1);
			mem_fail_after(0);
			assert_int_equal(rc, -ENOMEM);
			failed++;
		}
		assert_true(failed > 20);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_chain_costs_its_latency),
	    cmocka_unit_test(a_latency_survives_an_odd_number_of_steps),
	    cmocka_unit_test(enough_warps_reach_the_throughput),
	    cmocka_unit_test(a_clock_read_costs_what_the_file_says),
	    cmocka_unit_test(blocks_go_round_the_clusters),
	    cmocka_unit_test(barriers_wait_and_exits_release),
	    cmocka_unit_test(barriers_of_one_kind_each_deadlock),
	    cmocka_unit_test(paths_of_a_branch_run_taken_first),
	    cmocka_unit_test(a_branch_waits_for_its_answer_and_for_lanes_that_part),
	    cmocka_unit_test(an_operand_is_computed_in_no_time),
	    cmocka_unit_test(an_access_outside_is_a_fault),
	    cmocka_unit_test(an_endless_loop_meets_its_limit),
	    cmocka_unit_test(solo_and_general_agree),
	    cmocka_unit_test(skipping_agrees_with_looking_every_cycle),
	    cmocka_unit_test(the_same_seed_gives_the_same_run),
	    cmocka_unit_test(the_gap_between_launches_is_drawn),
	    cmocka_unit_test(opening_survives_failing_allocations),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
