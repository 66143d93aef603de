/* Banks of the shared memory alone, beside a count by brute force and published degrees. */
#include "base/rng.h"
#include "gpu/sim/time/time_banks.h"
#include <string.h>

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#define LANES 32
#define FULL  0xffffffffu

struct shape {
	uint32_t banks, width, mode, lanes;
	enum shared_broadcast broadcast;
};

static struct time_banks make(const struct shape *h)
{
	static struct sim_spec s;
	struct time_banks b;
	s = (struct sim_spec){.shared_banks = h->banks,
			      .shared_bank_width = h->width,
			      .shared_bank_mode = h->mode,
			      .shared_lanes = h->lanes,
			      .shared_broadcast = h->broadcast};
	banks_init(&b, &s, 0);
	return b;
}

/* By brute force: every pair of words is compared, passes are made one after the other. */
static uint32_t passes_of(const struct shape *h, const uint64_t *address, uint32_t from, uint32_t to, uint32_t mask,
			  uint32_t bytes)
{
	uint32_t mode = h->mode ? h->mode : h->width, words = bytes > mode ? bytes / mode : 1, n = 0;
	static uint64_t bank[LANES * 16], row[LANES * 16];
	for (uint32_t lane = from; lane < to; lane++)
		for (uint32_t k = 0; mask >> lane & 1 && k < words; k++, n++) {
			uint64_t a = address[lane] + (uint64_t)k * mode;
			bank[n] = a / mode % h->banks;
			row[n] = a / ((uint64_t)h->banks * h->width);
		}
	if (h->broadcast == BROADCAST_ALL) {
		uint32_t most = 0;
		for (uint64_t k = 0; k < h->banks; k++) {
			uint32_t rows = 0;
			for (uint32_t i = 0; i < n; i++) {
				bool fresh = bank[i] == k;
				for (uint32_t j = 0; j < i && fresh; j++)
					fresh = bank[j] != k || row[j] != row[i];
				rows += fresh;
			}
			most = rows > most ? rows : most;
		}
		return most;
	}
	uint32_t passes = 0;
	static bool done[LANES * 16];
	memset(done, 0, sizeof done);
	for (;; passes++) {
		uint32_t all = 0;
		while (all < n && done[all])
			all++;
		if (all == n)
			return passes;
		uint64_t b = bank[all], r = row[all];
		for (uint32_t i = 0; i < n; i++)
			done[i] |= bank[i] == b && row[i] == r;
		for (uint64_t k = 0; k < h->banks; k++)
			for (uint32_t i = 0; i < n && k != b; i++)
				if (!done[i] && bank[i] == k) {
					done[i] = true;
					break;
				}
	}
}

static uint32_t extra_of(const struct shape *h, const uint64_t *address, uint32_t mask, uint32_t bytes)
{
	uint32_t group = h->banks * h->width / bytes, extra = 0;
	if (h->broadcast == BROADCAST_ONE && bytes > h->width) { /* word by word */
		for (uint32_t k = 0; k < bytes; k += h->width) {
			uint64_t word[LANES];
			for (uint32_t l = 0; l < LANES; l++)
				word[l] = address[l] + k;
			extra += extra_of(h, word, mask, h->width);
		}
		return extra;
	}
	group = group > h->banks ? h->banks : group;
	group = h->lanes && group > h->lanes ? h->lanes : group;
	group = group ? group : 1;
	for (uint32_t from = 0; from < LANES; from += group) {
		uint32_t to = from + group < LANES ? from + group : LANES;
		uint32_t passes = passes_of(h, address, from, to, mask, bytes);
		extra += passes ? passes - 1 : 0;
	}
	return extra;
}

static const struct shape shapes[] = {{32, 4, 0, 0, BROADCAST_ALL},  {16, 4, 0, 16, BROADCAST_ONE},
				      {32, 8, 4, 0, BROADCAST_ALL},  {32, 8, 8, 0, BROADCAST_ALL},
				      {16, 4, 0, 0, BROADCAST_ALL},  {24, 4, 0, 0, BROADCAST_ALL},
				      {12, 4, 0, 16, BROADCAST_ONE}, {256, 4, 0, 0, BROADCAST_ALL},
				      {1, 4, 0, 0, BROADCAST_ALL},   {32, 4, 0, 16, BROADCAST_ALL}};
#define SHAPES (sizeof shapes / sizeof shapes[0])

static void check(size_t h, const uint64_t *address, uint32_t mask, uint32_t bytes)
{
	struct time_banks b = make(&shapes[h]);
	uint32_t want = extra_of(&shapes[h], address, mask, bytes), got = banks_extra(&b, address, mask, bytes);
	if (want != got)
		fail_msg("shape %zu, %u bytes, mask %x: %u instead of %u", h, bytes, mask, got, want);
}

static void banks_agree_with_brute_force_over_strides(void **state)
{
	(void)state;
	for (size_t h = 0; h < SHAPES; h++)
		for (uint32_t bytes = 1; bytes <= 16; bytes *= 2)
			for (uint64_t stride = 0; stride <= 64; stride++) {
				uint64_t up[LANES], down[LANES];
				for (uint64_t k = 0; k < LANES; k++) {
					up[k] = 4096 + k * stride * bytes;
					down[k] = 65536 - k * stride * bytes;
				}
				check(h, up, FULL, bytes);
				check(h, up, 0xffff, bytes);
				check(h, down, FULL, bytes);
				check(h, down, 0x5a5aff01, bytes);
			}
}

static void banks_agree_with_brute_force_at_random(void **state)
{
	(void)state;
	struct rng r;
	rng_seed(&r, 77);
	for (uint32_t n = 0; n < 4000; n++) {
		uint64_t address[LANES], range = 1u << (2 + rng_below(&r, 8));
		uint32_t bytes = 1u << rng_below(&r, 5), mask = (uint32_t)rng_next(&r) | 1;
		for (uint32_t k = 0; k < LANES; k++)
			address[k] = rng_below(&r, range) * bytes;
		check(n % SHAPES, address, n % 3 ? mask : FULL, bytes);
	}
}

static uint32_t degree(size_t h, uint64_t stride)
{
	struct time_banks b = make(&shapes[h]);
	uint64_t address[LANES];
	for (uint64_t k = 0; k < LANES; k++)
		address[k] = k * stride * 4;
	return banks_extra(&b, address, FULL, 4) + 1;
}

static uint32_t divisor(uint32_t a, uint32_t b)
{
	return b ? divisor(b, a % b) : a;
}

/* Mei 2014, Figures 4 to 7. Fermi's degree is the greatest common divisor with 32. On Kepler a stride of 2 has no
 * conflict in either mode, and one of 4 has two ways in both. A stride of 6 has two ways in the 4-byte mode and none in
 * the other. */
static void published_degrees_come_out(void **state)
{
	(void)state;
	assert_int_equal(degree(0, 0), 1);
	for (uint32_t stride = 1; stride <= 64; stride++)
		assert_int_equal(degree(0, stride), divisor(stride, 32));
	const struct {
		uint32_t stride, mode4, mode8;
	} kepler[] = {{0, 1, 1}, {1, 1, 1},  {2, 1, 1},	   {4, 2, 2},	{6, 2, 1},
		      {8, 4, 4}, {10, 2, 1}, {32, 16, 16}, {64, 32, 32}};
	for (size_t k = 0; k < sizeof kepler / sizeof kepler[0]; k++) {
		assert_int_equal(degree(2, kepler[k].stride), kepler[k].mode4);
		assert_int_equal(degree(3, kepler[k].stride), kepler[k].mode8);
	}
}

/* The old parts give one word to many lanes in a pass; two words of eight lanes each take one pass more in each half. */
static void one_word_is_broadcast_where_the_file_says_so(void **state)
{
	(void)state;
	uint64_t same[LANES], two[LANES];
	for (uint64_t k = 0; k < LANES; k++) {
		same[k] = 64;
		two[k] = k % 16 < 8 ? 0 : 4;
	}
	struct time_banks old = make(&shapes[1]), fresh = make(&shapes[4]);
	assert_int_equal(banks_extra(&old, same, FULL, 4), 0);
	assert_int_equal(banks_extra(&old, two, FULL, 4), 2);
	assert_int_equal(banks_extra(&fresh, two, FULL, 4), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(banks_agree_with_brute_force_over_strides),
	    cmocka_unit_test(banks_agree_with_brute_force_at_random),
	    cmocka_unit_test(published_degrees_come_out),
	    cmocka_unit_test(one_word_is_broadcast_where_the_file_says_so),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
