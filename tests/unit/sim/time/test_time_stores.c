/* Stores: what each level does with them, and who waits for them. Truths come out of a kernel's own clock reads. */
#include "tiny.h"

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

/* A word is loaded, written and loaded again; then, past the L1, once more. Cycles of the three loads. */
static void around_a_store(struct bench *b, bool first, uint32_t ticks[2])
{
	bench_start(b);
	tiny_imm(&b->t, 1, TINY_OUT + 1024);
	if (first) {
		tiny_load(&b->t, PTX_GLOBAL, 3, 1, 0);
		tiny_add(&b->t, 4, 3, 3);
	}
	tiny_store(&b->t, PTX_GLOBAL, 1, 0, 1);
	for (uint16_t k = 0; k < 2; k++) {
		tiny_clock(&b->t, (uint16_t)(10 + 2 * k));
		uint32_t n = tiny_load(&b->t, PTX_GLOBAL, (uint16_t)(5 + k), 1, 0);
		b->t.inst[n].flags |= k ? FUNC_SKIP_L1 : 0;
		tiny_add(&b->t, 4, (uint16_t)(5 + k), (uint16_t)(5 + k));
		tiny_clock(&b->t, (uint16_t)(11 + 2 * k));
	}
	for (uint16_t k = 0; k < 4; k++)
		tiny_store(&b->t, PTX_GLOBAL, OUT, 4u * k, (uint16_t)(10 + k));
	bench_go(b, 1, 1);
	ticks[0] = b->r.out[1] - b->r.out[0] - 8; /* issue and the addition's */
	ticks[1] = b->r.out[3] - b->r.out[2] - 8;
	assert_int_equal(b->r.out[256], TINY_OUT + 1024);
	bench_stop(b);
}

static void stores_do_what_each_level_says(void **state)
{
	(void)state;
	struct bench b;
	uint32_t ticks[2];
	static const struct {
		enum cache_write l1, l2;
		bool l1_allocates, l2_allocates, loaded;
		uint32_t first, second; /* load after the store, load past the L1 */
	} cases[] = {
	    {WRITE_THROUGH, WRITE_THROUGH, false, false, false, 400, 200},
	    {WRITE_THROUGH, WRITE_THROUGH, false, false, true, 28, 200},
	    {WRITE_THROUGH, WRITE_THROUGH, true, false, false, 28, 400},
	    {WRITE_EVICT, WRITE_THROUGH, false, false, true, 200, 200},
	    {WRITE_EVICT, WRITE_THROUGH, false, true, false, 200, 200},
	    {WRITE_EVICT, WRITE_EVICT, false, false, true, 400, 200},
	    {WRITE_THROUGH, WRITE_BACK, false, true, false, 200, 200},
	    {WRITE_THROUGH, WRITE_BACK, false, false, false, 400, 200},
	};
	for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
		tiny_levels(&b.s);
		b.s.global.level[0].write = cases[k].l1;
		b.s.global.level[1].write = cases[k].l2;
		b.s.global.level[0].write_allocate = cases[k].l1_allocates;
		b.s.global.level[1].write_allocate = cases[k].l2_allocates;
		around_a_store(&b, cases[k].loaded, ticks);
		assert_int_equal(ticks[0], cases[k].first);
		assert_int_equal(ticks[1], cases[k].second);
	}
}

/* Every thread of four blocks of 512 stores a word of its own, n times; how long until the memory is free again. */
static uint64_t store_cycles(struct bench *b, uint32_t times, uint32_t blocks)
{
	bench_start(b);
	tiny_tid(&b->t, 1);
	tiny_add(&b->t, 1, 1, 1);
	tiny_add(&b->t, 1, 1, 1);
	tiny_add(&b->t, 1, 1, OUT);
	for (uint32_t n = 0; n < times; n++)
		tiny_store(&b->t, PTX_GLOBAL, 1, 0, 1);
	tiny_load(&b->t, PTX_GLOBAL, 2, OUT, 2048); /* waits for the memory behind the stores */
	tiny_add(&b->t, 2, 2, 2);
	bench_go(b, blocks, 512);
	uint64_t cycles = b->r.time.cycles;
	bench_stop(b);
	return cycles;
}

static void what_is_written_back_stays_off_the_memory(void **state)
{
	(void)state;
	struct bench b;
	tiny_levels(&b.s);
	b.s.has_l1 = false;
	b.s.global.levels = 1;
	b.s.dram_bandwidth = 1;
	uint64_t through = store_cycles(&b, 8, 4);
	assert_float_equal((double)through, 4 * 8 * 512 * 4 * 1.0 + 500, 400);
	b.s.global.level[1].write = WRITE_BACK;
	b.s.global.level[1].write_allocate = true;
	uint64_t back = store_cycles(&b, 8, 4);
	/* What is written fits into the L2, and the rest is the SM. It has 16 warps of 8 stores of 4 pieces, 6 other
	 * instructions, 4 cycles each, and the last load. */
	assert_float_equal((double)back, 16 * (8 * 4 + 6) * 4 + 400, 100);
}

/* 16 warps of 8 stores of 4 pieces a block, and room for 8 blocks: the last ones' stores keep nobody waiting. */
static void blocks_wait_for_stores_that_a_cache_keeps(void **state)
{
	(void)state;
	struct bench b;
	tiny_levels(&b.s);
	b.s.has_l1 = false;
	b.s.global.levels = 1;
	b.s.global.level[1].write = WRITE_BACK;
	b.s.global.level[1].write_allocate = true;
	uint64_t at_once = store_cycles(&b, 8, 40);
	b.s.global.level[1].store_interval = 20;
	uint64_t each = store_cycles(&b, 8, 40);
	b.s.global.level[1].access = 64; /* two pieces in a row are one access */
	uint64_t pairs = store_cycles(&b, 8, 40);
	const double stores = (40 - 8) * 16 * 8 * 4;
	assert_true((double)at_once < stores * 10);
	assert_in_range(each, stores * 20, stores * 20 + 2.0 * at_once);
	assert_in_range(pairs, stores * 10, stores * 10 + 2.0 * at_once);
}

/* 4 blocks of 512 threads store 8 words each, which nobody waits for. */
static void a_kernel_ends_when_its_stores_have_landed(void **state)
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
		tiny_store(&b.t, PTX_GLOBAL, 1, 0, 1);
	bench_go(&b, 4, 512);
	/* The last of them at 4 bytes a cycle, after what it took to come to the first. */
	assert_in_range(b.r.time.cycles, 4 * 512 * 8, 4 * 512 * 8 + 400);
	bench_stop(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(stores_do_what_each_level_says),
	    cmocka_unit_test(what_is_written_back_stays_off_the_memory),
	    cmocka_unit_test(blocks_wait_for_stores_that_a_cache_keeps),
	    cmocka_unit_test(a_kernel_ends_when_its_stores_have_landed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
