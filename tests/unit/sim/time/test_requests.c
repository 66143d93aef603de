/* The parts that a memory request passes, each alone: coalescing, tables of outstanding requests,
 * DRAM, atomics. Every expectation is computed another way. */
#include "base/rng.h"
#include "gpu/sim/time/time_atomic.h"
#include "gpu/sim/time/time_boost.h"
#include "gpu/sim/time/time_coalesce.h"
#include "gpu/sim/time/time_dram.h"
#include "gpu/sim/time/time_inflight.h"
#include <string.h>

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#define LANES 32
#define FULL  0xffffffffu

/* ---- coalescing ---- */

static uint32_t pieces_of(enum coalesce_rule rule, uint64_t base, uint64_t stride, uint32_t bytes, uint32_t mask,
			  struct time_transaction *out)
{
	uint64_t address[LANES];
	for (uint64_t k = 0; k < LANES; k++)
		address[k] = base + k * stride;
	uint32_t n = coalesce(rule, 32, address, mask, bytes, out), lanes = 0;
	for (uint32_t k = 0; k < n; k++) {
		lanes += out[k].lanes;
		assert_int_equal(out[k].address % out[k].bytes, 0);
	}
	assert_int_equal(lanes, __builtin_popcount(mask));
	return n;
}

static void expect(const struct time_transaction *t, uint64_t address, uint32_t bytes, uint32_t lanes)
{
	assert_int_equal(t->address, address);
	assert_int_equal(t->bytes, bytes);
	assert_int_equal(t->lanes, lanes);
}

static void lines_are_distinct_segments_of_the_warp(void **state)
{
	(void)state;
	struct time_transaction t[COALESCE_MAX];
	assert_int_equal(pieces_of(COALESCE_LINES, 4096, 4, 4, FULL, t), 4);
	expect(&t[3], 4096 + 96, 32, 8);
	assert_int_equal(pieces_of(COALESCE_LINES, 4096 + 16, 4, 4, FULL, t), 5);
	assert_int_equal(pieces_of(COALESCE_LINES, 4096, 0, 4, FULL, t), 1);
	assert_int_equal(pieces_of(COALESCE_LINES, 4096, 32, 4, 0xff, t), 8);
}

static void the_g80_wants_words_in_order(void **state)
{
	(void)state;
	struct time_transaction t[COALESCE_MAX];
	assert_int_equal(pieces_of(COALESCE_G80, 4096, 4, 4, FULL, t), 2);
	expect(&t[0], 4096, 64, 16);
	expect(&t[1], 4160, 64, 16);
	assert_int_equal(pieces_of(COALESCE_G80, 4096, 8, 8, FULL, t), 2);
	expect(&t[1], 4224, 128, 16);
	assert_int_equal(pieces_of(COALESCE_G80, 4096 + 128, 16, 16, FULL, t), 4);
	expect(&t[0], 4224, 128, 8);
	/* Lanes may be missing, also the first; nothing may be shifted, swapped or skipped. */
	assert_int_equal(pieces_of(COALESCE_G80, 4096, 4, 4, 0xfffeu, t), 1);
	expect(&t[0], 4096, 64, 15);
	assert_int_equal(pieces_of(COALESCE_G80, 4096, 4, 4, 1u << 20, t), 1);
	expect(&t[0], 4160, 64, 1);
	assert_int_equal(pieces_of(COALESCE_G80, 4096 + 4, 4, 4, FULL, t), 32);
	expect(&t[7], 4096 + 32, 32, 1);
	assert_int_equal(pieces_of(COALESCE_G80, 4096, 8, 4, FULL, t), 32);
	assert_int_equal(pieces_of(COALESCE_G80, 4096, 2, 2, FULL, t), 32);
	assert_int_equal(pieces_of(COALESCE_G80, 4096, 0, 4, FULL, t), 32);
	uint64_t swapped[LANES];
	for (uint64_t k = 0; k < LANES; k++)
		swapped[k] = 4096 + 4 * (k ^ 1);
	assert_int_equal(coalesce(COALESCE_G80, 32, swapped, 0xffff, 4, t), 16);
	assert_int_equal(coalesce(COALESCE_GT200, 32, swapped, 0xffff, 4, t), 1);
}

static void the_gt200_shrinks_its_segments(void **state)
{
	(void)state;
	struct time_transaction t[COALESCE_MAX];
	assert_int_equal(pieces_of(COALESCE_GT200, 4096, 4, 4, FULL, t), 2);
	expect(&t[0], 4096, 64, 16); /* half of 128 bytes */
	expect(&t[1], 4160, 64, 16);
	assert_int_equal(pieces_of(COALESCE_GT200, 4096, 8, 8, FULL, t), 2);
	expect(&t[0], 4096, 128, 16);
	/* One word further: no half of the segment is unused; the second half-warp crosses into the next one. */
	assert_int_equal(pieces_of(COALESCE_GT200, 4096 + 4, 4, 4, FULL, t), 3);
	expect(&t[0], 4096, 128, 16);
	expect(&t[1], 4160, 64, 15);
	expect(&t[2], 4224, 32, 1);
	assert_int_equal(pieces_of(COALESCE_GT200, 4096, 0, 4, FULL, t), 2);
	expect(&t[0], 4096, 32, 16);
	assert_int_equal(pieces_of(COALESCE_GT200, 4096, 1, 1, FULL, t), 2);
	expect(&t[1], 4096, 32, 16);
	assert_int_equal(pieces_of(COALESCE_GT200, 4096, 2, 2, FULL, t), 2);
	expect(&t[1], 4128, 32, 16);
	assert_int_equal(pieces_of(COALESCE_GT200, 4096, 128, 4, FULL, t), 32);
	expect(&t[31], 4096 + 31 * 128, 32, 1);
}

/* ---- tables of outstanding requests ---- */

static uint64_t enter(struct time_inflight *f, uint64_t line, uint32_t lanes, uint64_t t, uint64_t latency)
{
	uint64_t at = 0;
	uint32_t entry = INFLIGHT_NONE;
	assert_int_equal(inflight_enter(f, line, lanes, t, &at, &entry), INFLIGHT_GO);
	inflight_leave(f, entry, at + latency);
	return at;
}

static void a_full_mshr_waits_for_the_first_that_is_free(void **state)
{
	(void)state;
	struct time_inflight f;
	uint64_t at;
	uint32_t entry;
	assert_int_equal(inflight_open(&f, OUTSTANDING_MSHR, 4, 3), 0);
	for (uint64_t k = 0; k < 4; k++)
		assert_int_equal(enter(&f, k, 1, 10 * k, 100), 10 * k); /* back at 100, 110, 120, 130 */
	assert_int_equal(enter(&f, 4, 1, 40, 100), 100);
	assert_int_equal(enter(&f, 5, 1, 41, 500), 110);
	assert_int_equal(enter(&f, 6, 1, 125, 100), 125); /* one was free at 120 */
	/* Line 5 is in flight until 610 and has room for two lanes more. */
	assert_int_equal(inflight_enter(&f, 5, 2, 130, &at, &entry), INFLIGHT_MERGED);
	assert_int_equal(at, 610);
	assert_int_equal(enter(&f, 5, 1, 131, 100), 131); /* full: an entry of its own, which was free at 130 */
	assert_int_equal(inflight_enter(&f, 5, 2, 140, &at, &entry), INFLIGHT_MERGED);
	assert_int_equal(at, 231);
	/* What is back is fetched again. */
	assert_int_equal(enter(&f, 0, 1, 700, 100), 700);
	assert_int_equal(enter(&f, 5, 1, 701, 100), 701);
	inflight_close(&f);
}

static void an_mshr_without_a_limit_merges_everything(void **state)
{
	(void)state;
	struct time_inflight f;
	uint64_t at;
	uint32_t entry;
	assert_int_equal(inflight_open(&f, OUTSTANDING_MSHR, 1, 0), 0);
	enter(&f, 9, 32, 0, 400);
	for (uint64_t t = 1; t < 400; t++) {
		assert_int_equal(inflight_enter(&f, 9, 32, t, &at, &entry), INFLIGHT_MERGED);
		assert_int_equal(at, 400);
	}
	assert_int_equal(enter(&f, 9, 32, 400, 50), 400);
	assert_int_equal(enter(&f, 8, 32, 401, 50), 450);
	inflight_close(&f);
}

static void a_pending_request_table_counts_instructions(void **state)
{
	(void)state;
	struct time_inflight f;
	assert_int_equal(inflight_open(&f, OUTSTANDING_PRT, 2, 0), 0);
	inflight_begin(&f);
	for (uint64_t k = 0; k < 32; k++) /* the entry is held until the last: 31 + 200 */
		assert_int_equal(enter(&f, k, 1, k, 200), k);
	inflight_begin(&f);
	assert_int_equal(enter(&f, 40, 1, 32, 10), 32); /* back at 42 */
	inflight_begin(&f);
	assert_int_equal(enter(&f, 41, 1, 33, 1000), 42);
	inflight_begin(&f);
	assert_int_equal(enter(&f, 42, 1, 50, 10), 231);
	assert_int_equal(enter(&f, 43, 1, 51, 10), 51); /* of the same instruction */
	inflight_close(&f);
}

static void recorders_take_one_instruction_each(void **state)
{
	(void)state;
	struct time_inflight f;
	uint64_t wait;
	assert_int_equal(inflight_open(&f, OUTSTANDING_MSHR, 4, 0), 0);
	f.recorders = 2;
	f.record = 10;
	inflight_begin(&f); /* until 320 */
	for (uint64_t k = 0; k < 32; k++)
		assert_int_equal(inflight_record(&f, 1, k, &wait), 10 * k);
	inflight_begin(&f); /* beside it, until 325 */
	assert_int_equal(inflight_record(&f, 32, 5, &wait), 5);
	assert_int_equal(wait, 0);
	inflight_begin(&f);
	assert_int_equal(inflight_record(&f, 1, 100, &wait), 320);
	assert_int_equal(wait, 220);
	assert_int_equal(inflight_record(&f, 1, 101, &wait), 330);
	assert_int_equal(wait, 0); /* it waited already */
	inflight_hold(&f, 50);	   /* 390, behind which comes the other one's 325 */
	inflight_begin(&f);
	assert_int_equal(inflight_record(&f, 7, 340, &wait), 340);
	inflight_begin(&f);
	assert_int_equal(inflight_record(&f, 1, 340, &wait), 390);
	inflight_close(&f);
}

/* Answers may come late and in any order. */
static void entries_wait_for_answers(void **state)
{
	(void)state;
	struct time_inflight f;
	uint64_t at;
	uint32_t a, b, c;
	assert_int_equal(inflight_open(&f, OUTSTANDING_MSHR, 2, 0), 0);
	assert_int_equal(inflight_enter(&f, 1, 1, 0, &at, &a), INFLIGHT_GO);
	assert_int_equal(inflight_enter(&f, 2, 1, 1, &at, &b), INFLIGHT_GO);
	assert_int_equal(inflight_enter(&f, 3, 1, 2, &at, &c), INFLIGHT_FULL);
	assert_int_equal(inflight_enter(&f, 2, 1, 2, &at, &c), INFLIGHT_MERGED);
	assert_int_equal(c, b);
	assert_true(at == INFLIGHT_UNKNOWN);
	inflight_leave(&f, b, 70);
	assert_int_equal(inflight_enter(&f, 3, 1, 2, &at, &c), INFLIGHT_GO);
	assert_int_equal(at, 70);
	assert_int_equal(c, b);
	inflight_leave(&f, a, 60);
	inflight_leave(&f, c, 90);
	assert_int_equal(enter(&f, 4, 1, 3, 10), 60);
	inflight_close(&f);
	assert_int_equal(inflight_open(&f, OUTSTANDING_PRT, 1, 0), 0);
	inflight_begin(&f);
	assert_int_equal(inflight_enter(&f, 1, 1, 0, &at, &a), INFLIGHT_GO);
	assert_int_equal(inflight_enter(&f, 2, 1, 1, &at, &b), INFLIGHT_GO);
	assert_int_equal(a, b);
	inflight_leave(&f, a, 90);
	inflight_begin(&f);
	assert_int_equal(inflight_enter(&f, 3, 1, 2, &at, &c), INFLIGHT_FULL);
	inflight_leave(&f, a, 40);
	assert_int_equal(inflight_enter(&f, 3, 1, 2, &at, &c), INFLIGHT_GO);
	assert_int_equal(at, 90);
	inflight_close(&f);
}

/* Against a list that is looked through. */
static void random_requests_agree_with_a_list(void **state)
{
	(void)state;
	enum { ENTRIES = 7 };
	struct {
		uint64_t line, done, age;
		uint32_t lanes;
	} e[ENTRIES] = {{0}};
	struct time_inflight f;
	struct rng r;
	uint64_t t = 1, age = 0, merged = 0, waited = 0, leads[23] = {0}; /* age of the line's latest entry */
	rng_seed(&r, 3);
	assert_int_equal(inflight_open(&f, OUTSTANDING_MSHR, ENTRIES, 5), 0);
	for (uint32_t n = 0; n < 50000; n++) {
		uint64_t line = rng_below(&r, 23), latency = 20 + rng_below(&r, 200), at, want;
		uint32_t lanes = 1 + (uint32_t)rng_below(&r, 3), newest = ENTRIES, first = 0, entry;
		t += rng_below(&r, 30);
		for (uint32_t k = 0; k < ENTRIES; k++) {
			if (e[k].age && e[k].line == line && e[k].age == leads[line])
				newest = k;
			if (e[k].done < e[first].done)
				first = k;
		}
		if (newest < ENTRIES && e[newest].done > t && e[newest].lanes + lanes <= 5) {
			e[newest].lanes += lanes;
			assert_int_equal(inflight_enter(&f, line, lanes, t, &at, &entry), INFLIGHT_MERGED);
			assert_int_equal(at, e[newest].done);
			merged++;
			continue;
		}
		want = e[first].done > t ? e[first].done : t;
		waited += want > t;
		/* Distinct completions, so that it does not matter which of two equal ones goes. */
		uint64_t done = want + latency;
		for (uint32_t k = 0; k < ENTRIES; k++)
			if (k != first && e[k].done == done) {
				done++;
				k = UINT32_MAX;
			}
		assert_int_equal(inflight_enter(&f, line, lanes, t, &at, &entry), INFLIGHT_GO);
		assert_int_equal(at, want);
		inflight_leave(&f, entry, done);
		e[first].line = line;
		e[first].done = done;
		e[first].lanes = lanes;
		e[first].age = leads[line] = ++age;
	}
	assert_true(merged > 1000 && waited > 1000);
	inflight_close(&f);
}

/* ---- DRAM ---- */

static double take(struct time_dram *d, uint64_t address, uint32_t bytes, uint64_t t)
{
	return (double)dram_take(d, address, bytes, t, 0) / 1024;
}

static void one_queue_is_a_bandwidth(void **state)
{
	(void)state;
	static struct sim_spec s;
	struct time_dram d;
	s = (struct sim_spec){.dram_bandwidth = 8};
	assert_int_equal(dram_open(&d, &s), 0);
	assert_float_equal(take(&d, 0, 32, 100), 0, 1e-3);
	assert_float_equal(take(&d, 4096, 32, 100), 4, 1e-3);
	assert_float_equal(take(&d, 0, 64, 101), 7, 1e-3);
	assert_float_equal(take(&d, 0, 32, 130), 0, 1e-3);
	dram_close(&d);
}

static void partitions_have_a_bus_each(void **state)
{
	(void)state;
	static struct sim_spec s;
	struct time_dram d;
	s = (struct sim_spec){.dram_bandwidth = 24, .memory_partitions = 3, .partition_stride = 256};
	assert_int_equal(dram_open(&d, &s), 0);
	for (uint64_t k = 0; k < 9; k++) /* each partition's third of the bandwidth: 4 cycles for 32 bytes */
		assert_float_equal(take(&d, k * 256, 32, 50), 4.0 * (double)(k / 3), 1e-3);
	assert_float_equal(take(&d, 255, 32, 50), 12, 1e-3);
	assert_int_equal(dram_partition(&d, 256 * 5 + 7), 2);
	dram_close(&d);
}

/* Each round of pieces has every partition once, and those of any stride find all of them about as often. */
static void mixed_partitions_have_no_stride(void **state)
{
	enum { PARTITIONS = 6, STRIDE = 256, TIMES = 600 };
	(void)state;
	static struct sim_spec s;
	struct time_dram d;
	s = (struct sim_spec){.dram_bandwidth = 24,
			      .memory_partitions = PARTITIONS,
			      .partition_stride = STRIDE,
			      .partition_mapping = MAP_HASH};
	assert_int_equal(dram_open(&d, &s), 0);
	for (uint64_t round = 0; round < 100; round++) {
		uint32_t seen = 0;
		for (uint64_t k = 0; k < PARTITIONS; k++)
			seen |= 1u << dram_partition(&d, (round * PARTITIONS + k) * STRIDE + STRIDE - 1);
		assert_int_equal(seen, (1u << PARTITIONS) - 1);
	}
	for (uint64_t stride = PARTITIONS * STRIDE; stride < 1ull << 24; stride *= 2) {
		uint32_t n[PARTITIONS] = {0};
		for (uint64_t k = 0; k < TIMES; k++)
			n[dram_partition(&d, k * stride)]++;
		for (unsigned k = 0; k < PARTITIONS; k++)
			assert_in_range(n[k], TIMES / PARTITIONS / 2, 2 * TIMES / PARTITIONS);
	}
	dram_close(&d);
}

static void rows_open_and_banks_are_busy(void **state)
{
	(void)state;
	static struct sim_spec s;
	struct time_dram d;
	s = (struct sim_spec){.memory_partitions = 2,
			      .partition_stride = 128,
			      .dram = {.banks = 4, .row_bytes = 1024, .row_miss = 30, .bank_busy = 6}};
	assert_int_equal(dram_open(&d, &s), 0);
	assert_float_equal(take(&d, 0, 32, 1000), 30, 1e-3);	/* no row is open; the bank is busy until 1036 */
	assert_float_equal(take(&d, 32, 32, 1010), 26, 1e-3);	/* the open row; until 1042 */
	assert_float_equal(take(&d, 128, 32, 1010), 30, 1e-3);	/* the other partition */
	assert_float_equal(take(&d, 256, 32, 2000), 0, 1e-3);	/* partition 0, its bytes 128 and up: the open row */
	assert_float_equal(take(&d, 2048, 32, 2001), 30, 1e-3); /* its row 1, the next bank */
	assert_float_equal(take(&d, 8192, 32, 2001), 35, 1e-3); /* its row 4, bank 0 again: from 2006 on */
	assert_float_equal(take(&d, 0, 32, 3000), 30, 1e-3);	/* row 0 was closed for it */
	dram_close(&d);
}

/* Two streams that take turns in a bank: each waits for its own row unless the bank's queue puts them together. */
static void rows_that_wait_side_by_side_are_put_together(void **state)
{
	(void)state;
	static struct sim_spec s;
	struct time_dram d;
	for (uint32_t rows = 1; rows <= 2; rows++) {
		s = (struct sim_spec){.dram = {.banks = 4, .row_bytes = 1024, .row_miss = 30, .rows = rows}};
		assert_int_equal(dram_open(&d, &s), 0);
		for (uint32_t k = 0; k < 8; k++)
			assert_float_equal(take(&d, k % 2 * 8192 + k * 32, 32, 1000 + 100 * k),
					   k < 2 || rows == 1 ? 30 : 0, 1e-3);
		assert_float_equal(take(&d, 16384, 32, 3000), 30, 1e-3); /* a third row: the least recent one goes */
		assert_float_equal(take(&d, 0, 32, 3100), 30, 1e-3);
		dram_close(&d);
	}
}

/* Words that lie apart come no faster than rows open, in however many banks; those of open rows do. */
static void rows_open_one_after_the_other(void **state)
{
	(void)state;
	static struct sim_spec s;
	struct time_dram d;
	s = (struct sim_spec){.dram = {.banks = 8, .row_bytes = 1024, .row_miss = 30, .open_interval = 4}};
	assert_int_equal(dram_open(&d, &s), 0);
	for (uint32_t k = 0; k < 8; k++)
		assert_float_equal(take(&d, k * 1024, 32, 1000), 30 + 4.0 * k, 1e-3);
	for (uint32_t k = 0; k < 8; k++)
		assert_float_equal(take(&d, k * 1024 + 32, 32, 2000), 0, 1e-3);
	assert_float_equal(take(&d, 8 * 1024, 32, 3000), 30, 1e-3);
	dram_close(&d);
}

/* 8 bytes a cycle. A batch of 256 bytes takes 32 cycles and the turn 10, in which a read waits. Until then writes cost
 * nothing. */
static void writes_go_in_batches(void **state)
{
	(void)state;
	static struct sim_spec s;
	struct time_dram d;
	s = (struct sim_spec){.dram_bandwidth = 8, .dram = {.write_batch = 256, .turn = 10}};
	assert_int_equal(dram_open(&d, &s), 0);
	assert_false(dram_is_one_queue(&d));
	for (uint32_t k = 0; k < 7; k++)
		dram_give(&d, k * 32, 32, 1000);
	assert_float_equal(take(&d, 0, 32, 1000), 0, 1e-3);
	dram_give(&d, 7 * 32, 32, 1100);
	assert_float_equal(take(&d, 0, 32, 1100), 42, 1e-3);
	assert_int_equal(d.bytes, 10 * 32);
	dram_close(&d);
}

/* ---- atomics ---- */

static const struct sim_spec one = {.sm_count = 1}; /* SM */

static double wait_for(struct time_atomics *a, uint32_t partition, uint64_t address, uint64_t t, double same,
		       double distinct)
{
	uint64_t w;
	assert_int_equal(
	    atomics_take(a, partition, address, t, (uint64_t)(same * 1024), (uint64_t)(distinct * 1024), &w), 0);
	return (double)w / 1024;
}

static void atomics_on_one_address_follow_each_other(void **state)
{
	(void)state;
	struct time_atomics a;
	assert_int_equal(atomics_open(&a, &one, 2), 0);
	for (uint32_t k = 0; k < 40; k++)
		assert_float_equal(wait_for(&a, 0, 64, 500, 9.5, 0), 9.5 * k, 1e-3);
	assert_float_equal(wait_for(&a, 0, 68, 500, 9.5, 0), 0, 1e-3);
	assert_float_equal(wait_for(&a, 0, 64, 500 + 380, 9.5, 0), 0, 1e-3);
	/* Those on other addresses only take the unit's turns, and the other partition has a unit of its own. */
	for (uint32_t k = 0; k < 10; k++)
		assert_float_equal(wait_for(&a, 0, 4096 + 4 * k, 2000, 9.5, 1.5), 1.5 * k, 1e-3);
	assert_float_equal(wait_for(&a, 1, 8192, 2000, 9.5, 1.5), 0, 1e-3);
	atomics_close(&a);
}

/* An SM with room for two instructions waits for the first of them, another one for none; lines are spread over the units. */
static void a_full_queue_of_atomics_waits(void **state)
{
	(void)state;
	const struct sim_spec s = {.sm_count = 2, .atomic_queue = 2, .atomic_units = 8};
	struct time_atomics a;
	uint32_t seen[8] = {0};
	assert_int_equal(atomics_open(&a, &s, 1), 0);
	atomics_sent(&a, 1, 700);
	assert_int_equal(atomics_room(&a, 1), 0);
	atomics_sent(&a, 1, 900);
	assert_int_equal(atomics_room(&a, 1), 700);
	assert_int_equal(atomics_room(&a, 0), 0);
	atomics_sent(&a, 1, 950);
	assert_int_equal(atomics_room(&a, 1), 900);
	for (uint64_t line = 0; line < 800; line++)
		seen[atomics_unit(&a, line)]++;
	for (uint32_t k = 0; k < 8; k++)
		assert_in_range(seen[k], 80, 120);
	atomics_close(&a);
}

/* The table forgets only what is free; what is busy is found again however many there are. */
static void many_addresses_are_kept_apart(void **state)
{
	(void)state;
	enum { ADDRESSES = 5000 };
	struct time_atomics a;
	assert_int_equal(atomics_open(&a, &one, 1), 0);
	for (uint64_t round = 0; round < 3; round++)
		for (uint64_t k = 0; k < ADDRESSES; k++)
			assert_float_equal(wait_for(&a, 0, k * 4, 100, 50, 0), 50.0 * (double)round, 1e-3);
	uint32_t large = a.slots;
	for (uint64_t k = 0; k < 4 * ADDRESSES; k++)
		assert_float_equal(wait_for(&a, 0, k * 4, 1000000 + k * 20, 50, 0), 0, 1e-3);
	assert_true(a.slots <= large);
	atomics_close(&a);
}

/* ---- the clock ---- */

/* Cycle by cycle: one boost of the stated length an interval, not always at the same place, and the wall clock is the sum. */
static void a_boost_makes_cycles_shorter(void **state)
{
	(void)state;
	static struct sim_spec s;
	struct time_boost b;
	s = (struct sim_spec){.clock_hz = 500e6, .noise = {.boost = 0.25, .boost_interval = 1000, .boost_cycles = 300}};
	boost_init(&b, &s, 11);
	double ns = 0;
	uint64_t starts = 0, last = 0;
	for (uint64_t period = 0; period < 50; period++) {
		uint64_t boosted = 0, edges = 0, first = 0;
		bool was = false;
		for (uint64_t t = period * 1000; t < (period + 1) * 1000; t++) {
			double pace = boost_pace(&b, t);
			assert_float_equal(boost_ns(&b, t), ns, 1e-6);
			assert_true(pace == 1 || pace == 1.25);
			ns += 2 / pace;
			boosted += pace > 1;
			if (pace > 1 && !was) {
				edges++;
				first = t % 1000;
			}
			was = pace > 1;
		}
		assert_int_equal(boosted, 300);
		assert_int_equal(edges, 1);
		starts += first != last;
		last = first;
	}
	assert_true(starts > 40);
	s.noise.boost = 0;
	boost_init(&b, &s, 11);
	assert_true(boost_pace(&b, 12345) == 1);
	assert_float_equal(boost_ns(&b, 12345), 24690, 1e-9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(lines_are_distinct_segments_of_the_warp),
	    cmocka_unit_test(the_g80_wants_words_in_order),
	    cmocka_unit_test(the_gt200_shrinks_its_segments),
	    cmocka_unit_test(a_full_mshr_waits_for_the_first_that_is_free),
	    cmocka_unit_test(an_mshr_without_a_limit_merges_everything),
	    cmocka_unit_test(a_pending_request_table_counts_instructions),
	    cmocka_unit_test(recorders_take_one_instruction_each),
	    cmocka_unit_test(entries_wait_for_answers),
	    cmocka_unit_test(random_requests_agree_with_a_list),
	    cmocka_unit_test(one_queue_is_a_bandwidth),
	    cmocka_unit_test(partitions_have_a_bus_each),
	    cmocka_unit_test(mixed_partitions_have_no_stride),
	    cmocka_unit_test(rows_open_and_banks_are_busy),
	    cmocka_unit_test(rows_that_wait_side_by_side_are_put_together),
	    cmocka_unit_test(rows_open_one_after_the_other),
	    cmocka_unit_test(writes_go_in_batches),
	    cmocka_unit_test(atomics_on_one_address_follow_each_other),
	    cmocka_unit_test(a_full_queue_of_atomics_waits),
	    cmocka_unit_test(many_addresses_are_kept_apart),
	    cmocka_unit_test(a_boost_makes_cycles_shorter),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
