/* Memory: levels, sectors, partitions, what lies between, banks, bandwidth. Truths come out of a kernel's own clock reads. */
#include "gpu/sim/time/time_dram.h"
#include "tiny.h"
#include <string.h>

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

/* A ring of n words `stride` bytes apart, walked once, and once again with the clock. Cycles a load: of each round, the
 * load, the comparison that waits for it (10) and the branch back (4). */
#define ROUND 14
#define WORDS 65536
static double walk(struct bench *b, uint8_t space, uint32_t n, uint32_t stride, uint8_t flags)
{
	static uint32_t ring[WORDS];
	const bool memory = space != PTX_CONST;
	uint32_t base = memory ? TINY_OUT + 256 : 0, skip = memory ? 64 : 0;
	memset(ring, 0, sizeof ring);
	assert_true((n - 1) * stride / 4 + skip < WORDS);
	for (uint32_t k = 0; k < n; k++)
		ring[k * stride / 4 + skip] = base + (k + 1) % n * stride;
	bench_start(b);
	tiny_imm(&b->t, 1, base); /* pointer */
	tiny_imm(&b->t, 2, base);
	for (uint16_t round = 0; round < 2; round++) {
		tiny_clock(&b->t, 11);
		uint32_t loop = tiny_load(&b->t, space, 1, 1, 0);
		b->t.inst[loop].flags |= flags;
		tiny_less(&b->t, 0, 2, 1); /* until it is back at the start */
		tiny_branch(&b->t, 0, false, loop, loop + 3);
	}
	tiny_clock(&b->t, 12);
	tiny_store(&b->t, PTX_GLOBAL, OUT, 0, 11);
	tiny_store(&b->t, PTX_GLOBAL, OUT, 4, 12);
	tiny_exit(&b->t, FUNC_NONE, false);
	if (memory)
		tiny_run(&b->r, b->g, &b->s, &b->t, 1, 1, ring, sizeof ring, NULL, 0, 0);
	else
		tiny_run(&b->r, b->g, &b->s, &b->t, 1, 1, NULL, 4096, ring, 16384, 0);
	assert_int_equal(b->r.time.end, TIME_DONE);
	double ticks = (double)(b->r.out[1] - b->r.out[0]) / n;
	bench_stop(b);
	return ticks;
}

static double chase(struct bench *b, uint32_t n, uint32_t stride)
{
	return walk(b, PTX_CONST, n, stride, 0);
}

static void constants_show_their_levels(void **state)
{
	(void)state;
	struct bench b;
	tiny_spec(&b.s);
	double l1 = chase(&b, 16, 64), l2 = chase(&b, 64, 64), memory = chase(&b, 256, 64);
	assert_float_equal(l1, 12 + ROUND, 0.5);
	assert_float_equal(chase(&b, 8, 64), l1, 0.5);
	assert_float_equal(l2, 100 + ROUND, 0.5);
	assert_float_equal(memory, 400 + ROUND, 0.5);
	/* One line more than the L1 holds: LRU misses on the five lines of one set and on no other. */
	assert_float_equal(chase(&b, 17, 64), (12 * 12 + 5 * 100) / 17.0 + ROUND, 0.5);
	/* Words of one line share it. */
	assert_float_equal(chase(&b, 256, 4), l1, 0.5);
	assert_float_equal(chase(&b, 1024, 16), (3 * 12 + 400) / 4.0 + ROUND, 0.5);
}

static void missing_levels_are_flat(void **state)
{
	(void)state;
	struct bench b;
	tiny_spec(&b.s);
	b.s.constant.levels = 0;
	assert_float_equal(chase(&b, 16, 64), 400 + ROUND, 0.5);
	assert_float_equal(chase(&b, 256, 64), 400 + ROUND, 0.5);
}

static void global_memory_shows_its_levels(void **state)
{
	(void)state;
	struct bench b;
	tiny_levels(&b.s);
	assert_float_equal(walk(&b, PTX_GLOBAL, 64, 32, 0), 28 + ROUND, 0.5);
	assert_float_equal(walk(&b, PTX_GLOBAL, 512, 32, 0), 200 + ROUND, 0.5);
	assert_float_equal(walk(&b, PTX_GLOBAL, 512, 256, 0), 400 + ROUND, 0.5);
	assert_float_equal(walk(&b, PTX_GLOBAL, 64, 32, FUNC_SKIP_L1), 200 + ROUND, 0.5);
	/* Twice what the L1 holds, four words to a sector: one miss in four. */
	assert_float_equal(walk(&b, PTX_GLOBAL, 512, 8, 0), (3 * 28 + 200) / 4.0 + ROUND, 0.5);
	b.s.has_l1 = false;
	assert_float_equal(walk(&b, PTX_GLOBAL, 64, 32, 0), 200 + ROUND, 0.5);
	b.s.has_l2 = false;
	assert_float_equal(walk(&b, PTX_GLOBAL, 64, 32, 0), 400 + ROUND, 0.5);
}

static void textures_have_levels_of_their_own(void **state)
{
	(void)state;
	struct bench b;
	tiny_levels(&b.s);
	assert_float_equal(walk(&b, PTX_TEX, 64, 32, 0), 28 + ROUND, 0.5); /* without such levels, the global path's */
	b.s.has_texture = true;
	b.s.texture.levels = 2;
	b.s.texture.memory_latency = 500;
	b.s.texture.level[0] = tiny_level(1024, 32, 32, 8, SCOPE_SM, 90);
	b.s.texture.level[1] = tiny_level(8192, 64, 64, 8, SCOPE_GPU, 250);
	assert_float_equal(walk(&b, PTX_TEX, 32, 32, 0), 90 + ROUND, 0.5);
	assert_float_equal(walk(&b, PTX_TEX, 128, 64, 0), 250 + ROUND, 0.5);
	assert_float_equal(walk(&b, PTX_TEX, 512, 64, 0), 500 + ROUND, 0.5);
	/* One line more than the first level holds misses on the nine lines of one set, and on no other. */
	assert_float_equal(walk(&b, PTX_TEX, 33, 32, 0), (24 * 90 + 9 * 250) / 33.0 + ROUND, 0.5);
	/* Plain loads do not ask them. */
	assert_float_equal(walk(&b, PTX_GLOBAL, 64, 32, 0), 28 + ROUND, 0.5);
	/* The second level may be the global L2 itself. */
	b.s.texture_shared[1] = true;
	b.s.texture.level[1] = b.s.global.level[1];
	assert_float_equal(walk(&b, PTX_TEX, 256, 32, 0), 200 + ROUND, 0.5);
}

/* Eight words 256 bytes apart lie in the L1; a TLB of four entries of 256 bytes does not have them all. */
static void asking_an_l1_in_vain_costs_what_the_description_says(void **state)
{
	(void)state;
	struct bench b;
	tiny_levels(&b.s);
	b.s.global.level[0].miss_cost = 6;
	b.s.global.level[0].fill_cost = 9;
	assert_float_equal(walk(&b, PTX_GLOBAL, 64, 32, 0), 28 + ROUND, 0.5);
	assert_float_equal(walk(&b, PTX_GLOBAL, 512, 32, 0), 200 + 6 + ROUND, 0.5);
	assert_float_equal(walk(&b, PTX_GLOBAL, 512, 256, 0), 400 + 6 + 9 + ROUND, 0.5);
	/* Loads that skip it pay neither. */
	assert_float_equal(walk(&b, PTX_GLOBAL, 512, 32, FUNC_SKIP_L1), 200 + ROUND, 0.5);
	assert_float_equal(walk(&b, PTX_GLOBAL, 512, 256, FUNC_SKIP_L1), 400 + ROUND, 0.5);
	/* The way there is part of the wait at the L2's port, and not one more. */
	b.s.global.level[1].interval = 2;
	assert_float_equal(walk(&b, PTX_GLOBAL, 512, 32, 0), 200 + 6 + ROUND, 0.5);
}

static void only_what_is_addressed_physically_waits_for_its_page(void **state)
{
	(void)state;
	struct bench b;
	static const enum cache_addressed virtual = ADDRESSED_VIRTUAL, physical = ADDRESSED_PHYSICAL;
	static const struct {
		enum cache_addressed l1, l2;
		double in_l1, in_l2, past_l1; /* cycles: 8 words, 32 words, 8 words past the L1 */
	} cases[] = {{virtual, virtual, 28, 200, 200},
		     {virtual, physical, 28, 200 + 75, 200 + 75},
		     {physical, physical, 28 + 75, 200 + 75, 200 + 75}};
	for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
		tiny_levels(&b.s);
		b.s.global.level[0].addressed = cases[k].l1;
		b.s.global.level[1].addressed = cases[k].l2;
		b.s.page_size = 256;
		b.s.tlb[TLB_GLOBAL] = (struct tlb_spec){.levels = 1, .miss_latency = 75};
		b.s.tlb[TLB_GLOBAL].level[0] = (struct cache_spec){.present = true,
								   .size = 1024,
								   .line = 256,
								   .sector = 256,
								   .ways = 4,
								   .sets = 1,
								   .scope = SCOPE_SM,
								   .partitions = 1};
		assert_float_equal(walk(&b, PTX_GLOBAL, 4, 256, 0), 28 + ROUND, 1); /* the clock read, over 4 */
		assert_float_equal(walk(&b, PTX_GLOBAL, 8, 256, 0), cases[k].in_l1 + ROUND, 0.5);
		assert_float_equal(walk(&b, PTX_GLOBAL, 32, 256, 0), cases[k].in_l2 + ROUND, 0.5);
		assert_float_equal(walk(&b, PTX_GLOBAL, 8, 256, FUNC_SKIP_L1), cases[k].past_l1 + ROUND, 0.5);
		/* Memory always waits: 256 words in 64 KB are more than the L2 has. */
		assert_float_equal(walk(&b, PTX_GLOBAL, 255, 256, 0), 400 + 75 + ROUND, 0.5);
	}
}

static void half_of_the_lines_are_far(void **state)
{
	(void)state;
	struct bench b;
	tiny_levels(&b.s);
	b.s.global.level[1].partitions = 2;
	b.s.global.level[1].far_extra = 40;
	assert_float_equal(walk(&b, PTX_GLOBAL, 64, 64, FUNC_SKIP_L1), 220 + ROUND, 0.5);
	/* The words of one line are all near or all far; two lines that are neighbours differ here. */
	double one = walk(&b, PTX_GLOBAL, 8, 8, FUNC_SKIP_L1), two = walk(&b, PTX_GLOBAL, 16, 8, FUNC_SKIP_L1);
	assert_float_equal(two > one ? two - one : one - two, 20, 0.5);
}

static void constants_may_go_through_the_l2(void **state)
{
	(void)state;
	struct bench b;
	tiny_levels(&b.s);
	b.s.constant_uses_l2 = true;
	b.s.constant.levels = 1;
	assert_float_equal(chase(&b, 16, 64), 12 + ROUND, 0.5);
	assert_float_equal(chase(&b, 128, 64), 200 + ROUND, 0.5);
	assert_float_equal(chase(&b, 1024, 64), 400 + ROUND, 0.5);
}

static void shared_memory_takes_ways_of_the_l1(void **state)
{
	(void)state;
	struct bench b;
	tiny_levels(&b.s);
	b.s.l1_shares_shared = true;
	b.s.global.level[0].size = 8192; /* a block here has 4 KB of shared memory: two of four ways are left */
	b.s.global.level[0].sets = 16;
	assert_float_equal(walk(&b, PTX_GLOBAL, 32, 128, 0), 28 + ROUND, 0.5);
	assert_float_equal(walk(&b, PTX_GLOBAL, 64, 128, 0), 200 + ROUND, 0.5);
	b.s.l1_shares_shared = false;
	assert_float_equal(walk(&b, PTX_GLOBAL, 64, 128, 0), 28 + ROUND, 0.5);
}

static void a_line_on_its_way_is_waited_for(void **state)
{
	(void)state;
	struct bench b;
	tiny_levels(&b.s);
	bench_start(&b);
	tiny_imm(&b.t, 1, TINY_OUT + 1024);
	tiny_add(&b.t, 2, 1, 1);
	tiny_store(&b.t, PTX_GLOBAL, OUT, 64, 2);
	tiny_clock(&b.t, 10);
	tiny_load(&b.t, PTX_GLOBAL, 3, 1, 0);
	tiny_load(&b.t, PTX_GLOBAL, 4, 1, 4); /* the same sector: no second trip, and no shorter one */
	tiny_add(&b.t, 5, 4, 4);
	tiny_clock(&b.t, 11);
	tiny_load(&b.t, PTX_GLOBAL, 4, 1, 8);
	tiny_add(&b.t, 5, 4, 4);
	tiny_clock(&b.t, 12);
	for (uint16_t k = 0; k < 3; k++)
		tiny_store(&b.t, PTX_GLOBAL, OUT, 4u * k, (uint16_t)(10 + k));
	bench_go(&b, 1, 1);
	assert_int_equal(b.r.out[1] - b.r.out[0], 4 + 400 + 4);
	assert_int_equal(b.r.out[2] - b.r.out[1], 4 + 28 + 4);
	bench_stop(&b);
}

static void a_cache_has_a_bandwidth(void **state)
{
	(void)state;
	struct bench b;
	for (unsigned fills = 0; fills < 2; fills++) {
		tiny_levels(&b.s);
		b.s.global.level[0].sector = 128;
		b.s.global.level[1].bandwidth = fills ? 1 : 8;
		b.s.global.level[1].line = b.s.global.level[1].sector = 128;
		b.s.global.level[1].ways = 8;
		bench_start(&b);
		tiny_tid(&b.t, 1);
		tiny_add(&b.t, 1, 1, 1);
		tiny_add(&b.t, 1, 1, 1);
		tiny_add(&b.t, 1, 1, OUT);
		for (uint16_t k = 0; k < 8; k++) {
			uint32_t n = tiny_load(&b.t, PTX_GLOBAL, (uint16_t)(2 + k), 1, 0);
			b.t.inst[n].flags |= fills ? 0 : FUNC_SKIP_L1;
		}
		for (uint16_t k = 0; k < 8; k++)
			tiny_add(&b.t, 12, (uint16_t)(2 + k), (uint16_t)(2 + k));
		bench_go(&b, 4, 512);
		/* Past the L1, all bytes come out of the L2 at 8 a cycle. Through it, each SM asks for its 2 KB once. */
		double bytes = fills ? 4 * 512 * 4 : 4 * 512 * 8 * 4;
		assert_float_equal((double)b.r.time.cycles, bytes / b.s.global.level[1].bandwidth + 600, 200);
		bench_stop(&b);
	}
	/* A chase finds the port free. */
	assert_float_equal(walk(&b, PTX_GLOBAL, 128, 128, 0), 200 + ROUND, 0.5);
}

/* Cycles of 4 blocks of 512 threads, each of which loads a word `times` times past the L1, all warps the same 2 KB. */
static double many_loads(double bandwidth, uint16_t times)
{
	struct bench b;
	tiny_levels(&b.s);
	b.s.global.level[1].bandwidth = bandwidth;
	bench_start(&b);
	tiny_tid(&b.t, 1);
	tiny_add(&b.t, 1, 1, 1);
	tiny_add(&b.t, 1, 1, 1);
	tiny_add(&b.t, 1, 1, OUT);
	for (uint16_t k = 0; k < times; k++) {
		uint32_t n = tiny_load(&b.t, PTX_GLOBAL, (uint16_t)(2 + k % 4), 1, 0);
		b.t.inst[n].flags |= FUNC_SKIP_L1;
	}
	bench_go(&b, 4, 512);
	double cycles = (double)b.r.time.cycles;
	bench_stop(&b);
	return cycles;
}

/* What is left when the start and the end of two runs cancel is the port alone, whatever its rate. */
static void a_port_gives_what_the_description_says(void **state)
{
	(void)state;
	static const double rates[] = {1, 3.3, 9.75, 16, 20};
	for (size_t k = 0; k < sizeof rates / sizeof rates[0]; k++) {
		double cycles = many_loads(rates[k], 40) - many_loads(rates[k], 20), bytes = 4.0 * 512 * 20 * 4;
		assert_float_equal(bytes / cycles / rates[k], 1, 0.01);
	}
	/* 4 SMs of one piece of 32 bytes in 4 cycles each: faster than this they do not ask. */
	double cycles = many_loads(1000, 40) - many_loads(1000, 20);
	assert_float_equal(4.0 * 512 * 20 * 4 / cycles, 32, 0.5);
}

static void memory_has_a_bandwidth(void **state)
{
	(void)state;
	struct bench b;
	tiny_spec(&b.s);
	b.s.dram_bandwidth = 4;
	bench_start(&b);
	tiny_tid(&b.t, 1);
	tiny_add(&b.t, 1, 1, 1);
	tiny_add(&b.t, 1, 1, 1);
	tiny_add(&b.t, 1, 1, OUT);
	for (uint16_t k = 0; k < 8; k++)
		tiny_load(&b.t, PTX_GLOBAL, (uint16_t)(2 + k), 1, 0);
	for (uint16_t k = 0; k < 8; k++)
		tiny_add(&b.t, 12, (uint16_t)(2 + k), (uint16_t)(2 + k));
	bench_go(&b, 4, 512);
	/* 4 blocks x 512 threads x 8 loads x 4 bytes, no cache, at 4 bytes a cycle; then one latency and a few more. */
	assert_float_equal((double)b.r.time.cycles, 4 * 512 * 8 + 700, 100);
	bench_stop(&b);
}

/* A transfer of 32 bytes at 1103 a cycle takes 29.7/1024 of one: what is cut off has to come back. */
static void a_bus_keeps_its_rate(void **state)
{
	(void)state;
	struct sim_spec s;
	struct time_dram d;
	tiny_spec(&s);
	s.dram_bandwidth = 1103;
	s.memory_partitions = 1;
	assert_int_equal(dram_open(&d, &s), 0);
	for (uint32_t k = 0; k < 1103000 / 32; k++)
		dram_take(&d, k * 32ull, 32, 0, 0);
	assert_in_range(dram_free(&d), 999, 1001);
	dram_close(&d);
}

static void the_network_adds_what_lies_between(void **state)
{
	(void)state;
	struct bench b;
	double offset[2] = {3, -3};
	tiny_spec(&b.s);
	b.s.cluster_offset = offset;
	assert_float_equal(chase(&b, 256, 64), 403 + ROUND, 0.5);
	assert_float_equal(chase(&b, 64, 64), 100 + ROUND, 0.5); /* within the cluster */
}

static void what_disturbs_memory_does_so_as_described(void **state)
{
	(void)state;
	struct bench b;
	tiny_spec(&b.s);
	double quiet = walk(&b, PTX_GLOBAL, 512, 64, 0);
	b.s.noise = (struct noise_spec){.refresh_interval = 1000, .refresh_cycles = 200};
	/* One that waited goes at 200 of an interval, the next some 414 later, and then it is the next refresh: two an interval. */
	assert_float_equal(walk(&b, PTX_GLOBAL, 512, 64, 0), 500, 0.5);
	b.s.noise = (struct noise_spec){.jitter_probability = 0.5, .jitter_cycles = 40};
	assert_float_equal(walk(&b, PTX_GLOBAL, 512, 64, 0), quiet + 10, 2);
	b.s.noise = (struct noise_spec){.jitter_probability = 1, .jitter_cycles = 40};
	assert_float_equal(walk(&b, PTX_GLOBAL, 512, 64, 0), quiet + 20, 2);
	/* Slowly, and no further than it may: the latency alone, not the instructions beside it. */
	b.s.noise = (struct noise_spec){.drift = 0.02};
	double drifted = walk(&b, PTX_GLOBAL, 512, 64, 0);
	assert_true(drifted != quiet);
	assert_float_equal(drifted, quiet, 0.02 * (quiet - ROUND) + 0.5);
	/* Constants within the SM are not disturbed. */
	b.s.noise = (struct noise_spec){
	    .jitter_probability = 1, .jitter_cycles = 40, .refresh_interval = 1000, .refresh_cycles = 200};
	assert_float_equal(chase(&b, 16, 64), 12 + ROUND, 0.5);
}

static void address_arithmetic_comes_before_a_load(void **state)
{
	(void)state;
	struct bench b;
	tiny_spec(&b.s);
	double without = chase(&b, 256, 64);
	b.s.constant.address_ops = 2;
	b.s.constant.address_latency = 24;
	assert_float_equal(chase(&b, 256, 64) - without, 48, 0.5);
}

static uint32_t shared_ticks(struct bench *b, uint32_t stride)
{
	bench_start(b);
	tiny_tid(&b->t, 1);
	for (uint32_t k = 1; k < stride * 4; k *= 2)
		tiny_add(&b->t, 1, 1, 1); /* address = thread * stride * 4, stride a power of two */
	tiny_imm(&b->t, 9, 0);
	tiny_load(&b->t, PTX_SHARED, 2, 1, 0);
	tiny_add(&b->t, 9, 2, 2);
	tiny_clock(&b->t, 10);
	tiny_load(&b->t, PTX_SHARED, 2, 1, 0);
	tiny_add(&b->t, 2, 2, 2);
	tiny_clock(&b->t, 11);
	tiny_store(&b->t, PTX_GLOBAL, OUT, 0, 10);
	tiny_store(&b->t, PTX_GLOBAL, OUT, 4, 11);
	bench_go(b, 1, 32);
	assert_int_equal(b->r.time.end, TIME_DONE);
	uint32_t ticks = b->r.out[1] - b->r.out[0];
	bench_stop(b);
	return ticks;
}

static void bank_conflicts_cost_by_degree(void **state)
{
	(void)state;
	struct bench b;
	tiny_spec(&b.s);
	uint32_t free = shared_ticks(&b, 1);
	assert_int_equal(free, 4 + 30 + 4);
	/* Two groups of 16 lanes, each n-fold: n - 1 further passes for each, 2 cycles a pass. */
	assert_int_equal(shared_ticks(&b, 2) - free, 2 * 1 * 2);
	assert_int_equal(shared_ticks(&b, 8) - free, 2 * 7 * 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(constants_show_their_levels),
	    cmocka_unit_test(missing_levels_are_flat),
	    cmocka_unit_test(global_memory_shows_its_levels),
	    cmocka_unit_test(textures_have_levels_of_their_own),
	    cmocka_unit_test(asking_an_l1_in_vain_costs_what_the_description_says),
	    cmocka_unit_test(only_what_is_addressed_physically_waits_for_its_page),
	    cmocka_unit_test(half_of_the_lines_are_far),
	    cmocka_unit_test(constants_may_go_through_the_l2),
	    cmocka_unit_test(shared_memory_takes_ways_of_the_l1),
	    cmocka_unit_test(a_line_on_its_way_is_waited_for),
	    cmocka_unit_test(a_cache_has_a_bandwidth),
	    cmocka_unit_test(a_port_gives_what_the_description_says),
	    cmocka_unit_test(memory_has_a_bandwidth),
	    cmocka_unit_test(a_bus_keeps_its_rate),
	    cmocka_unit_test(the_network_adds_what_lies_between),
	    cmocka_unit_test(what_disturbs_memory_does_so_as_described),
	    cmocka_unit_test(address_arithmetic_comes_before_a_load),
	    cmocka_unit_test(bank_conflicts_cost_by_degree),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
