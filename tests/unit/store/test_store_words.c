/* Every encoding gives back the words; blobs that are not exactly right are refused. */
#include "base/arena.h"
#include "base/rng.h"
#include "store/store_words.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define N 6000

static size_t round_trip(const uint32_t *w, size_t n, size_t per_repeat)
{
	static uint32_t back[N];
	struct blob b = {0};
	assert_int_equal(words_encode(&b, w, n, per_repeat), 0);
	memset(back, 0xa5, sizeof(back));
	assert_int_equal(words_decode(back, n, b.data, b.len), 0);
	assert_memory_equal(back, w, n * sizeof(*w));
	assert_int_equal(words_decode(back, n + 1, b.data, b.len), -EINVAL);
	assert_int_equal(words_decode(back, n, b.data, b.len - 1), -EINVAL);
	if (n)
		assert_int_equal(words_decode(back, n - 1, b.data, b.len), -EINVAL);
	size_t len = b.len;
	mem_free(b.data);
	return len;
}

static void shapes(void **state)
{
	(void)state;
	static uint32_t w[N];
	struct rng r;
	rng_seed(&r, 7);
	for (size_t i = 0; i < N; i++)
		w[i] = 4294900000u + 28 * (uint32_t)i; /* a clock that runs over */
	assert_in_range(round_trip(w, N, N), N, N + 16);
	for (size_t i = 0; i < N; i++)
		w[i] = i % 2 ? 4096 * (uint32_t)i : (uint32_t)rng_below(&r, 50); /* two interleaved columns */
	assert_in_range(round_trip(w, N, N), N, 2 * N);
	for (size_t i = 0; i < N; i++)
		w[i] =
		    (uint32_t)(i % 100) * (uint32_t)(i % 100) * 31 + (uint32_t)(i / 100) * 1000000; /* equal repeats */
	assert_in_range(round_trip(w, N, 100), N, N + N / 8);
	for (size_t i = 0; i < N; i++)
		w[i] = (uint32_t)rng_next(&r);
	round_trip(w, N, 3);
	for (size_t n = 0; n < 20; n++)
		for (size_t per = 1; per < 5; per++)
			round_trip(w, n, per);
	for (size_t i = 0; i < N; i++)
		w[i] = i % 3 ? UINT32_MAX : 0;
	round_trip(w, N, 1);
}

static void refused(void **state)
{
	(void)state;
	uint32_t w[4];
	const struct {
		const char *bytes;
		size_t n;
	} bad[] = {
	    {"", 0},
	    {"\0", 1},				      /* too short */
	    {"\4\1\0\0\0\0", 6},		      /* no such prediction */
	    {"\1\0\0\0\0\0", 6},		      /* a lag of nothing */
	    {"\1\4\0\0\0\0", 6},		      /* a lag as long as the words */
	    {"\0\1\0\0\0\0", 6},		      /* a lag where there is none */
	    {"\0\0\0\0\0\0\0", 7},		      /* a byte too many */
	    {"\0\0\377\377\377\377\177\0\0\0", 10},   /* more than 32 bits */
	    {"\0\0\200\200\200\200\200\0\0\0\0", 11}, /* too long a number */
	    {"\1\377\377\377\377\377\377\377\377\377\1\0\0\0\0", 15},
	};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_int_equal(words_decode(w, 4, bad[i].bytes, bad[i].n), -EINVAL);
	assert_int_equal(words_decode(w, 4, "\0\0\0\0\0\0", 6), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(shapes), cmocka_unit_test(refused)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
