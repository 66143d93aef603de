#include "base/arena.h"
#include "base/embed.h"
#include "base/err.h"
#include "base/rng.h"
#include "base/set.h"
#include "base/str.h"
#include "base/units.h"
#include "base/write.h"
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

static void arena_gives_aligned_zeroed_memory(void **state)
{
	(void)state;
	struct arena a;
	static const size_t sizes[] = {0, 1, 15, 16, 17, 1000, 4096, 5000, 1 << 20, 3 << 20, 24};
	unsigned char *p[11 * 20];
	size_t n = 0;

	arena_init(&a);
	for (int round = 0; round < 20; round++) {
		for (size_t i = 0; i < 11; i++) {
			unsigned char *q = arena_alloc(&a, 1, sizes[i]);
			assert_non_null(q);
			assert_int_equal((uintptr_t)q % 16, 0);
			for (size_t k = 0; k < sizes[i]; k++)
				assert_int_equal(q[k], 0);
			memset(q, (int)n, sizes[i]);
			p[n++] = q;
		}
	}
	for (size_t i = 0; i < n; i++) { /* nobody wrote into his neighbour */
		for (size_t k = 0; k < sizes[i % 11]; k += 97)
			assert_int_equal(p[i][k], (unsigned char)i);
	}
	assert_true(a.bytes >= 20 * (1 << 20));
	assert_string_equal(arena_strdup(&a, "hello"), "hello");
	assert_string_equal(arena_printf(&a, "%d-%s", 7, "x"), "7-x");
	assert_null(arena_alloc(&a, SIZE_MAX / 2, 4));
	assert_null(arena_alloc(&a, 1, SIZE_MAX));
	arena_free(&a);
	arena_free(&a);
	assert_null(a.head);
}

static void allocations_fail_on_request(void **state)
{
	(void)state;
	struct arena a;
	const long before = mem_count();

	arena_init(&a);
	mem_fail_after(2);
	void *p = mem_alloc(8);
	assert_non_null(p);
	assert_null(mem_zero(4, 4));
	void *q = mem_grow(p, 100); /* once only */
	assert_non_null(q);
	assert_int_equal(mem_count() - before, 3);
	mem_fail_from(1);
	assert_null(mem_grow(q, 200));
	assert_null(mem_alloc(1));
	assert_null(arena_alloc(&a, 1, 1));
	mem_fail_from(0);
	assert_non_null(arena_alloc(&a, 1, 1));
	assert_null(mem_zero(SIZE_MAX / 2, 3));
	mem_free(q);
	arena_free(&a);
}

static void errors_carry_one_sentence(void **state)
{
	(void)state;
	struct err e = {0};

	assert_int_equal(err_set(&e, -EINVAL, "bad %s", "thing"), -EINVAL);
	assert_string_equal(e.text, "bad thing");
	assert_int_equal(err_prefix(&e, "file %d", 3), -EINVAL);
	assert_string_equal(e.text, "file 3: bad thing");
	assert_int_equal(err_set(&e, -EIO, "again: %s", e.text), -EIO); /* its own text as an argument */
	assert_string_equal(e.text, "again: file 3: bad thing");
	char huge[2000];
	memset(huge, 'x', sizeof(huge) - 1);
	huge[sizeof(huge) - 1] = '\0';
	assert_int_equal(err_prefix(&e, "%s", huge), -EIO);
	assert_true(strlen(e.text) < sizeof(e.text));
	err_set(&e, -EIO, "%s", huge);
	assert_int_equal(strlen(e.text), sizeof(e.text) - 1);
	assert_int_equal(err_prefix(&e, "p"), -EIO);
	assert_int_equal(strlen(e.text), sizeof(e.text) - 1);
	assert_true(str_starts(e.text, "p: xxx"));
	assert_int_equal(err_set(NULL, -EIO, "nobody listens"), -EIO);
	assert_int_equal(err_nomem(&e), -ENOMEM);
}

static void strings_grow(void **state)
{
	(void)state;
	struct str s;

	str_init(&s);
	assert_string_equal(str_text(&s), "");
	assert_null(str_take(&s));
	for (int i = 0; i < 1000; i++)
		str_addf(&s, "%d,", i);
	assert_int_equal(s.len, 10 * 2 + 90 * 3 + 900 * 4);
	str_clear(&s);
	str_add(&s, "ab");
	str_addc(&s, 'c');
	str_addn(&s, "def", 2);
	assert_string_equal(str_text(&s), "abcde");
	char *taken = str_take(&s);
	assert_string_equal(taken, "abcde");
	mem_free(taken);
	mem_fail_after(1);
	str_add(&s, "lost");
	assert_true(s.failed);
	str_add(&s, "ignored");
	assert_null(str_take(&s));
	str_free(&s);
}

static void globs_match(void **state)
{
	(void)state;
	assert_true(str_glob("cache.constant.*", "cache.constant.l1.size"));
	assert_false(str_glob("cache.constant.*", "cache.constant"));
	assert_true(str_glob("*", ""));
	assert_true(str_glob("a*b*c", "a__b_b_c"));
	assert_false(str_glob("a*b*c", "a__b_b_d"));
	assert_true(str_glob("?rith.*.f32.latency", "arith.add.f32.latency"));
	assert_false(str_glob("abc", "abcd"));
	assert_false(str_glob("abcd", "abc"));
	assert_false(str_glob("", "x"));
	assert_true(str_ends("x.gpu", ".gpu"));
	assert_false(str_ends("gpu", ".gpu"));
}

static void nearest_words(void **state)
{
	(void)state;
	const char *const names[] = {"run", "infer", "report", "list", "sim"};

	assert_string_equal(str_nearest("reprot", names, 5), "report");
	assert_string_equal(str_nearest("lst", names, 5), "list");
	assert_string_equal(str_nearest("INFER", names, 5), "infer");
	assert_null(str_nearest("benchmark", names, 5));
	assert_null(str_nearest("x", names, 5));
	assert_null(str_nearest("report", names, 0));
}

static void hashes_are_stable(void **state)
{
	(void)state;
	/* run files and seeds depend on these values: they never change */
	assert_int_equal(hash64("", 0, 0), hash64(NULL, 0, 0));
	assert_true(hash64("a", 1, 0) != hash64("b", 1, 0));
	assert_true(hash64("a", 1, 0) != hash64("a", 1, 1));
	assert_true(hash64("abc", 3, 0) == 0x1854fea2ce0015b6u);
	assert_true(hash64("0123456789", 10, 5) == 0xa90ce19bda4966f2u);
	assert_true(hash64("a", 2, 0) != hash64("a", 1, 0)); /* a zero at the end counts */
}

static void sets_know_what_they_have(void **state)
{
	(void)state;
	struct hash_set s = {0};

	for (unsigned round = 0; round < 2; round++)
		for (uint64_t i = 0; i < 3000;
		     i++) /* each fourth falls on the place of others; 0 as well as 1 is a hash */
			assert_int_equal(hash_set_add(&s, i % 4 ? i : i << 32), !round && i != 1);
	assert_int_equal(s.count, 2999);
	hash_set_free(&s);
	assert_true(hash_set_add(&s, 7));
	assert_false(hash_set_add(&s, 7));
	mem_fail_from(1);
	for (uint64_t i = 0; i < 300; i++)
		hash_set_add(&s, i);
	assert_false(hash_set_add(&s, 299)); /* there was no room for it */
	mem_fail_from(0);
	assert_true(hash_set_add(&s, 299));
	assert_false(hash_set_add(&s, 7));
	hash_set_free(&s);
}

static void random_numbers(void **state)
{
	(void)state;
	struct rng a, b;
	unsigned count[7] = {0};
	double mean = 0;

	rng_seed(&a, 42);
	rng_seed(&b, 42);
	for (int i = 0; i < 1000; i++)
		assert_true(rng_next(&a) == rng_next(&b));
	rng_seed(&b, 43);
	assert_true(rng_next(&a) != rng_next(&b));
	for (int i = 0; i < 70000; i++)
		count[rng_below(&a, 7)]++;
	for (int i = 0; i < 7; i++)
		assert_in_range(count[i], 9500, 10500);
	for (int i = 0; i < 100000; i++) {
		double u = rng_unit(&a);
		assert_true(u >= 0 && u < 1);
		mean += u / 100000;
	}
	assert_true(mean > 0.49 && mean < 0.51);
	assert_int_equal(rng_below(&a, 1), 0);
	rng_seed(&a, 0); /* the first output of the all-zero seed is not zero */
	assert_true(rng_next(&a) != 0);
}

static void orders_are_whole(void **state)
{
	(void)state;
	enum { N = 97, UNIT = 4 };
	uint32_t next[N], at = 0;
	uint64_t v[N];
	bool seen[N] = {false};
	struct rng r;

	rng_cycle(next, N, UNIT, 7);
	for (int i = 0; i < N; i++) {
		assert_false(seen[at]);
		seen[at] = true;
		assert_int_equal(next[at] % UNIT, 0);
		at = next[at] / UNIT;
	}
	assert_int_equal(at, 0);
	for (uint32_t i = 0; i < N; i++)
		v[i] = i;
	rng_seed(&r, 7);
	rng_shuffle(&r, v, N);
	unsigned moved = 0;
	for (uint32_t i = 0; i < N; i++) {
		assert_true(v[i] < N && seen[v[i]]);
		seen[v[i]] = false;
		moved += v[i] != i;
	}
	assert_true(moved > N / 2);
}

static void units_read_well(void **state)
{
	(void)state;
	static const struct {
		uint64_t bytes;
		const char *text;
	} sizes[] = {{0, "0 bytes"},
		     {1, "1 byte"},
		     {48, "48 bytes"},
		     {2048, "2 KB"},
		     {5000, "5000 bytes"},
		     {1536, "1.5 KB"},
		     {1572864, "1.5 MB"},
		     {1280 << 10, "1.25 MB"},
		     {12 << 10, "12 KB"},
		     {50 << 20, "50 MB"},
		     {(uint64_t)3 << 30, "3 GB"},
		     {1025, "1025 bytes"},
		     {25165824, "24 MB"},
		     {1023, "1023 bytes"},
		     {1101004, "1101004 bytes"}};
	char out[64];
	uint64_t back;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		assert_string_equal(units_bytes(out, sizeof(out), sizes[i].bytes), sizes[i].text);
		assert_int_equal(units_parse_bytes(out, &back), 0);
		assert_true(back == sizes[i].bytes);
	}
	assert_string_equal(units_value(out, sizeof(out), 2048, "bytes"), "2 KB");
	assert_string_equal(units_value(out, sizeof(out), 24, "cycles"), "24 cycles");
	assert_string_equal(units_value(out, sizeof(out), 1, "cycles"), "1 cycle");
	assert_string_equal(units_value(out, sizeof(out), 7.9, "ops/clk/SM"), "7.9 ops/clk/SM");
	assert_string_equal(units_value(out, sizeof(out), 1.35e9, "Hz"), "1.35 GHz");
	assert_string_equal(units_value(out, sizeof(out), 30, "count"), "30");
	assert_string_equal(units_value(out, sizeof(out), 1, "yes/no"), "yes");
	assert_int_equal(units_parse_bytes("64K", &back), 0);
	assert_true(back == 65536);
	assert_int_equal(units_parse_bytes(" 2 KiB ", &back), 0);
	assert_true(back == 2048);
	static const char *const bad[] = {"",	 "K",	   "-1",   "2 QB",  "1.0001",  "inf",
					  "nan", "64 KBB", "1e30", "bytes", "4 Kbytes"};
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(units_parse_bytes(bad[i], &back), -EINVAL);
}

static void files_are_embedded(void **state)
{
	(void)state;
	const struct embedded *f = embed_find("src/kernel/pin.ptx");

	assert_non_null(f);
	assert_int_equal(strlen(f->data), f->size);
	assert_null(embed_find("src/kernel/pin.pt"));
	assert_null(embed_find(""));
	for (size_t i = 1; i < embedded_count; i++)
		assert_true(strcmp(embedded_files[i - 1].path, embedded_files[i].path) < 0);
	for (size_t i = 0; i < embedded_count; i++)
		assert_ptr_equal(embed_find(embedded_files[i].path), &embedded_files[i]);
}

static void what_a_terminal_obeys_is_not_shown(void **state)
{
	(void)state;
	static const char *const cases[][2] = {{"plain, \303\251, \342\202\254", "plain, \303\251, \342\202\254"},
					       {"\033]0;pwn\007Toy", "?]0;pwn?Toy"},
					       {"a\nb\tc\177", "a?b?c?"},
					       {"\302\2332J", "?2J"},	   /* CSI as one character */
					       {"\233\303", "??"},	   /* and as no UTF-8 at all */
					       {"x\342\200\256y", "x?y"}}; /* the line from right to left */
	char out[64], small[4];

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		str_clean(out, sizeof out, cases[i][0]);
		assert_string_equal(out, cases[i][1]);
	}
	str_clean(small, sizeof small, "ab\342\202\254"); /* no half of a character */
	assert_string_equal(small, "ab");
}

/* The system takes a part, and refuses the rest the second time. */
static void what_was_not_written_is_told(void **state)
{
	(void)state;
	static const char text[] = "sixteen letters.";
	struct rlimit was, ten;
	char name[] = "/tmp/fathom-write-XXXXXX", back[sizeof text] = "";
	int fd = mkstemp(name), full = open("/dev/full", O_WRONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	unlink(name);
	assert_int_equal(write_all(fd, text, 16), 0);
	assert_int_equal(pread(fd, back, sizeof back, 0), 16);
	assert_string_equal(back, text);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &was), 0);
	ten = (struct rlimit){26, was.rlim_max};
	void (*before)(int) = signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &ten), 0);
	int code = write_all(fd, text, 16);
	setrlimit(RLIMIT_FSIZE, &was);
	signal(SIGXFSZ, before);
	assert_int_equal(code, -EFBIG);
	assert_int_equal(lseek(fd, 0, SEEK_END), 26);
	close(fd);
	if (full >= 0)
		assert_int_equal(write_all(full, text, 16), -ENOSPC);
	close(full);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_a_terminal_obeys_is_not_shown),
	    cmocka_unit_test(arena_gives_aligned_zeroed_memory),
	    cmocka_unit_test(allocations_fail_on_request),
	    cmocka_unit_test(errors_carry_one_sentence),
	    cmocka_unit_test(strings_grow),
	    cmocka_unit_test(globs_match),
	    cmocka_unit_test(nearest_words),
	    cmocka_unit_test(hashes_are_stable),
	    cmocka_unit_test(sets_know_what_they_have),
	    cmocka_unit_test(random_numbers),
	    cmocka_unit_test(orders_are_whole),
	    cmocka_unit_test(units_read_well),
	    cmocka_unit_test(files_are_embedded),
	    cmocka_unit_test(what_was_not_written_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
