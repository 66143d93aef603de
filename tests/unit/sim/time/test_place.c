/* Which blocks sit on an SM together: against registers dealt out one by one, and as a launch sees it. */
#include "base/rng.h"
#include "gpu/sim/time/time_place.h"
#include "tiny.h"
#include <string.h>

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

static void gt200(struct sim_spec *s)
{
	tiny_spec(s);
	s->registers_per_sm = 16384;
	s->regfile =
	    (struct regfile_spec){.register_quantum = 4, .thread_quantum = 64, .unit = 512, .max_per_thread = 128};
	s->shared_quantum = 512;
}

static uint32_t registers_of(const struct sim_spec *s, uint32_t threads, uint32_t registers)
{
	struct time_need n;
	time_need(&n, s, threads, registers, 0, 0);
	return n.registers;
}

/* Wong, IV-E and Fig. 9: the largest block for each number of registers. */
static void the_published_blocks_come_out(void **state)
{
	(void)state;
	struct sim_spec s;
	gt200(&s);
	for (uint32_t r = 1; r <= 128; r++) {
		uint32_t most = 0, banks = 64, bank = 16384 / 64, each = 0;
		for (uint32_t t = 1; t <= 512; t++)
			if (registers_of(&s, t, r) <= s.registers_per_sm)
				most = t;
		/* Sixty-four banks, each of which holds all registers of its threads, four at a time. */
		while (each < r)
			each += 4;
		uint32_t rows = 0;
		while ((rows + 1) * each <= bank && (rows + 1) * banks <= 512)
			rows++;
		assert_int_equal(most, rows * banks);
	}
	assert_true(registers_of(&s, 128, 88) == 11264 && registers_of(&s, 129, 88) > 16384);
	assert_true(registers_of(&s, 512, 32) == 16384 && registers_of(&s, 512, 33) > 16384);
}

/* Everything given out piece by piece until something is full. */
static uint32_t dealt(const struct sim_spec *s, uint32_t threads, uint32_t registers, uint32_t shared,
		      uint32_t barriers)
{
	uint64_t left = s->registers_per_sm, memory = s->shared_per_sm;
	uint32_t blocks = 0, slots = s->barrier_slots, lanes = s->max_threads_per_sm, warps = s->max_warps_per_sm;
	for (;; blocks++) {
		uint32_t each = 0, held = 0, part = 0, mine = 0, took = 0;
		while (each < registers)
			each += s->regfile.register_quantum;
		while (held < threads)
			held += s->regfile.thread_quantum;
		for (uint32_t t = 0; t < held; t++) {
			for (uint32_t k = 0; k < each; k++)
				if (++part == 1) {
					if (left < s->regfile.unit)
						return blocks;
					left -= s->regfile.unit;
					part = s->regfile.unit == 1 ? 0 : 1;
				} else if (part == s->regfile.unit) {
					part = 0;
				}
			if (s->regfile.allocation == ALLOCATE_WARP && (t + 1) % s->warp_size == 0)
				part = 0;
		}
		while (mine < shared) {
			if (memory < s->shared_quantum)
				return blocks;
			memory -= s->shared_quantum;
			mine += (uint32_t)s->shared_quantum;
		}
		for (uint32_t k = 0; s->barrier_slots && k < barriers; k++)
			if (!slots--)
				return blocks;
		for (uint32_t t = 0; t < threads; t++) {
			if (!lanes--)
				return blocks;
			if (t % s->warp_size == 0 && took++ == 0 && !warps)
				return blocks;
			if (t % s->warp_size == 0 && !warps--)
				return blocks;
		}
		if (blocks == s->max_blocks_per_sm)
			return blocks;
	}
}

static void residency_is_what_can_be_dealt_out(void **state)
{
	(void)state;
	struct rng r;
	struct sim_spec s;
	uint32_t seen[9] = {0};
	rng_seed(&r, 20261121);
	for (uint32_t n = 0; n < 1500; n++) {
		tiny_spec(&s);
		bool warp = rng_below(&r, 2);
		s.registers_per_sm = 8192u << rng_below(&r, 3);
		s.regfile = (struct regfile_spec){.allocation = warp ? ALLOCATE_WARP : ALLOCATE_BLOCK,
						  .register_quantum = 1u << rng_below(&r, 4),
						  .thread_quantum =
						      warp ? 32u << rng_below(&r, 3) : 1 + (uint32_t)rng_below(&r, 100),
						  .unit = 1u << rng_below(&r, 10)};
		if (warp && s.regfile.unit < 32)
			s.regfile.unit = 1;
		s.shared_quantum = 1u << rng_below(&r, 11);
		s.barrier_slots = rng_below(&r, 2) ? 16 + (uint32_t)rng_below(&r, 20) : 0;
		uint32_t threads = 1 + (uint32_t)rng_below(&r, 512), registers = 1 + (uint32_t)rng_below(&r, 60);
		uint32_t shared = (uint32_t)rng_below(&r, 8000), barriers = (uint32_t)rng_below(&r, 17), blocks = 0;
		struct time_need one, used = {0};
		time_need(&one, &s, threads, registers, shared, barriers);
		while (time_fits(&s, &used, &one)) {
			blocks++;
			used.blocks += one.blocks;
			used.warps += one.warps;
			used.threads += one.threads;
			used.registers += one.registers;
			used.barriers += one.barriers;
			used.shared += one.shared;
		}
		uint32_t wanted = dealt(&s, threads, registers, shared, barriers);
		if (blocks != wanted)
			fail_msg("%u: %u blocks of %u threads and %u registers, expected %u", n, blocks, threads,
				 registers, wanted);
		seen[blocks]++;
	}
	for (uint32_t k = 0; k < 9; k++)
		assert_true(seen[k] > 0);
}

/* ---- as a launch sees it ---- */

struct seen {
	uint32_t warps; /* highest slot of a warp on the first SM, + 1 */
};

static void look(void *ctx, const struct time_event *ev)
{
	struct seen *s = ctx;
	if (ev->sm == 0 && ev->warp >= s->warps)
		s->warps = ev->warp + 1;
}

static struct time_result launched(struct bench *b, uint32_t grid, uint32_t block, uint32_t shared, struct seen *seen)
{
	struct arena a;
	struct time_program *p;
	struct func_memory m = {0};
	struct time_result r;
	*seen = (struct seen){0};
	arena_init(&a);
	assert_int_equal(time_prepare(&p, &a, &b->s, &b->t.func), 0);
	struct time_hook hook = {.ctx = seen, .issue = look};
	struct func_launch l = {.grid = {grid, 1, 1}, .block = {block, 1, 1}, .shared_bytes = shared, .memory = &m};
	struct time_request q = {.program = p, .launch = &l, .limit_ms = 20000, .hook = &hook};
	assert_int_equal(time_launch(b->g, &q, &r), 0);
	arena_free(&a);
	return r;
}

static void as_many_blocks_run_as_fit(void **state)
{
	(void)state;
	struct bench b;
	struct seen seen;
	gt200(&b.s);
	bench_start(&b);
	b.t.func.registers = 17; /* 20 a thread: 64 x 20 = 1280, three pieces of 512 */
	for (uint32_t k = 0; k < 60; k++)
		tiny_add(&b.t, 1, 1, 1);
	tiny_exit(&b.t, FUNC_NONE, false);
	assert_int_equal(launched(&b, 200, 33, 0, &seen).end, TIME_DONE);
	assert_int_equal(seen.warps, 8 * 2); /* eight blocks of two warps: more is not allowed */
	assert_int_equal(launched(&b, 200, 200, 0, &seen).end, TIME_DONE);
	assert_int_equal(seen.warps, 3 * 7); /* 256 x 20 registers: three blocks */
	assert_int_equal(launched(&b, 200, 33, 4097, &seen).end, TIME_DONE);
	assert_int_equal(seen.warps, 3 * 2); /* 4608 bytes each */
	b.s.barrier_slots = 20;
	tiny_init(&b.t);
	tiny_barrier(&b.t);
	for (uint32_t k = 0; k < 60; k++)
		tiny_add(&b.t, 1, 1, 1);
	tiny_exit(&b.t, FUNC_NONE, false);
	b.t.func.registers = 4;
	assert_int_equal(launched(&b, 200, 32, 0, &seen).end, TIME_DONE);
	assert_int_equal(seen.warps, 8); /* one barrier a block */
	b.t.inst[0].a = 1;		 /* a number from a register: it could be any of sixteen */
	assert_int_equal(launched(&b, 200, 32, 0, &seen).end, TIME_DONE);
	assert_int_equal(seen.warps, 1);
	const struct func_literal three = {.row = 1, .bits = 6};
	b.t.func.literal = &three;
	b.t.func.literal_count = 1;
	assert_int_equal(launched(&b, 200, 32, 0, &seen).end, TIME_DONE);
	assert_int_equal(seen.warps, 2); /* barriers 0 to 6: seven of twenty */
	time_close(b.g);
}

static void what_no_sm_can_take_is_refused(void **state)
{
	(void)state;
	struct bench b;
	struct seen seen;
	gt200(&b.s);
	bench_start(&b);
	tiny_exit(&b.t, FUNC_NONE, false);
	b.t.func.registers = 88;
	assert_int_equal(launched(&b, 1, 128, 0, &seen).end, TIME_DONE);
	struct time_result r = launched(&b, 1, 129, 0, &seen);
	assert_int_equal(r.end, TIME_REFUSED);
	assert_non_null(strstr(r.message,
			       "a block of 129 threads with 88 registers each needs 16896 registers, more than "
			       "the 16384 of one SM"));
	b.t.func.registers = 129;
	r = launched(&b, 1, 1, 0, &seen);
	assert_int_equal(r.end, TIME_REFUSED);
	assert_non_null(strstr(r.message, "a thread needs 129 registers, more than the 128 that this GPU allows"));
	time_close(b.g);
}

/* Blocks and warps start when they are made. */
static void starting_takes_its_time(void **state)
{
	(void)state;
	struct bench b;
	tiny_spec(&b.s);
	b.s.block_launch = 100;
	b.s.warp_launch = 101;
	bench_start(&b);
	tiny_init(&b.t); /* the first thing that a warp does is to read the clock */
	tiny_clock(&b.t, 1);
	tiny_imm(&b.t, OUT, TINY_OUT);
	tiny_tid(&b.t, 2);
	tiny_add(&b.t, 3, 2, 2);
	tiny_add(&b.t, 3, 3, 3);
	tiny_add(&b.t, 3, 3, OUT);
	tiny_store(&b.t, PTX_GLOBAL, 3, 0, 1);
	bench_go(&b, 1, 96);
	assert_int_equal(b.r.out[32] - b.r.out[0], 101); /* the others wait for their operands by then */
	assert_int_equal(b.r.out[64] - b.r.out[0], 202);
	uint64_t with = b.r.time.cycles;
	bench_stop(&b);
	b.s.block_launch = 0;
	assert_int_equal(time_open(&b.g, &b.s, 7), 0);
	tiny_run(&b.r, b.g, &b.s, &b.t, 1, 96, NULL, 4096, NULL, 0, 0);
	assert_int_equal(with - b.r.time.cycles, 100);
	bench_stop(&b);
}

/* One block after the other, whichever SMs have room: four on as many SMs, and more than there is room for. */
static void handing_out_takes_its_time(void **state)
{
	(void)state;
	struct bench b;
	tiny_spec(&b.s);
	b.s.block_interval = 50;
	bench_start(&b);
	tiny_init(&b.t);
	tiny_clock(&b.t, 1);
	tiny_imm(&b.t, OUT, TINY_OUT);
	tiny_smid(&b.t, 2);
	tiny_add(&b.t, 3, 2, 2);
	tiny_add(&b.t, 3, 3, 3);
	tiny_add(&b.t, 3, 3, OUT);
	tiny_store(&b.t, PTX_GLOBAL, 3, 0, 1);
	bench_go(&b, 4, 1);
	uint32_t least = UINT32_MAX, most = 0;
	for (uint32_t k = 0; k < 4; k++) {
		least = b.r.out[k] < least ? b.r.out[k] : least;
		most = b.r.out[k] > most ? b.r.out[k] : most;
	}
	assert_int_equal(most - least, 150);
	bench_stop(&b);
	assert_int_equal(time_open(&b.g, &b.s, 7), 0);
	tiny_run(&b.r, b.g, &b.s, &b.t, 200, 1, NULL, 4096, NULL, 0, 0);
	assert_in_range(b.r.time.cycles, 199 * 50, 199 * 50 + 1000);
	bench_stop(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_published_blocks_come_out), cmocka_unit_test(residency_is_what_can_be_dealt_out),
	    cmocka_unit_test(as_many_blocks_run_as_fit),     cmocka_unit_test(what_no_sm_can_take_is_refused),
	    cmocka_unit_test(starting_takes_its_time),	     cmocka_unit_test(handing_out_takes_its_time),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
