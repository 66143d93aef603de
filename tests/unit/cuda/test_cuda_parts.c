/* Parts of the CUDA backend that need no driver. */
#include "base/arena.h"
#include "base/rng.h"
#include "gpu/cuda/cuda_gpu.h"
#include "gpu/cuda/cuda_known.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/* Content from its definition in launch.h: zero, then bytes, then ring. */
static void define(const struct launch_buffer *b, uint64_t base, uint8_t *out)
{
	memset(out, 0, b->bytes);
	if (b->init)
		memcpy(out, b->init, b->init_bytes);
	for (uint32_t i = 0; i < b->ring_count; i++) {
		uint64_t to = b->ring[(i + 1) % b->ring_count];
		uint64_t word = b->ring_word == 8 ? base + to : to;
		memcpy(out + b->ring[i], &word, b->ring_word);
	}
}

/* A buffer put together from pieces of any size is the buffer, also where a word lies across two pieces. */
static void pieces_make_the_whole(void **state)
{
	(void)state;
	enum { BYTES = 1000 };
	uint8_t whole[BYTES], pieced[BYTES], init[BYTES];
	uint64_t ring[64];
	struct rng r;

	rng_seed(&r, 7);
	for (int round = 0; round < 500; round++) {
		struct launch_buffer b = {.bytes = BYTES, .ring = ring, .ring_word = round % 2 ? 8 : 4};
		b.ring_count = (uint32_t)rng_below(&r, 65);
		for (uint32_t i = 0; i < b.ring_count; i++) /* apart, but at any alignment */
			ring[i] = i * 15 + rng_below(&r, 8);
		for (int i = 0; i < BYTES; i++)
			init[i] = (uint8_t)rng_next(&r);
		b.init_bytes = rng_below(&r, BYTES + 1);
		b.init = b.init_bytes ? init : NULL;
		define(&b, 0x123456789000, whole);
		uint64_t piece = 1 + rng_below(&r, 300);
		for (uint64_t from = 0; from < BYTES; from += piece)
			cuda_memory_image(&b, 0x123456789000, from, pieced + from,
					  BYTES - from < piece ? BYTES - from : piece);
		assert_memory_equal(whole, pieced, BYTES);
	}
}

static void expect_ptx(int cc, int driver, int ptx, int target)
{
	int got = 0;

	assert_int_equal(cuda_ptx_version(cc, driver, &got), ptx);
	assert_int_equal(got, target);
}

static void ptx_versions(void **state)
{
	(void)state;
	/* What NVIDIA's release notes say: the version that brought the target, never above what the driver speaks. */
	expect_ptx(90, 13000, 78, 90);
	expect_ptx(80, 12020, 70, 80);
	expect_ptx(75, 11040, 63, 75);
	expect_ptx(120, 12080, 87, 120);
	expect_ptx(50, 11000, 43, 50);
	expect_ptx(90, 11080, 78, 90);
	/* Cards that this program, or their driver's PTX, has never heard of. */
	expect_ptx(200, 13000, 88, 121);
	expect_ptx(107, 13000, 88, 103);
	expect_ptx(102, 13000, 86, 100); /* what was sm_101 is sm_110 in that PTX */
	expect_ptx(102, 12080, 86, 101);
	expect_ptx(120, 12020, 78, 90);
	for (int cc = 20; cc <= 240; cc++)
		for (int driver = 5000; driver <= 14000; driver += 10) {
			int target;
			assert_in_range(cuda_ptx_version(cc, driver, &target), 31, 90);
			assert_true(target <= cc);
		}
}

static void sticky_errors(void **state)
{
	(void)state;
	static const int dead[] = {214, 700, 702, 710, 714, 715, 716, 717, 718, 719, 999};
	static const int alive[] = {0, 1, 2, 100, 200, 218, 400, 500, 600, 701, 703, 704, 708, 711, 720, 800, 801};

	for (size_t i = 0; i < sizeof dead / sizeof *dead; i++)
		assert_true(cuda_sticky((CUresult)dead[i]));
	for (size_t i = 0; i < sizeof alive / sizeof *alive; i++)
		assert_false(cuda_sticky((CUresult)alive[i]));
}

static void put(const char *folder, const char *name, const char *text)
{
	char path[512];
	snprintf(path, sizeof path, "%s/%s", folder, name);
	for (char *at = path + 1; (at = strchr(at, '/')) != NULL; *at++ = '/') {
		*at = '\0';
		mkdir(path, 0755);
	}
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

/* What was kept comes back under the same key only, and only whole. */
static void known_devices(void **state)
{
	(void)state;
	char top[] = "/tmp/fathom-known-XXXXXX", path[600], clean[64];
	static char key[KNOWN_KEY], other[KNOWN_KEY];
	struct device_info d[2] = {
	    {.backend = "cuda", .spec = "cuda:0", .name = "One", .dialect = "ptx", .sm_count = 7},
	    {.backend = "cuda", .spec = "cuda:1", .name = "Two", .dialect = "ptx", .sm_count = 9}};
	struct device_list list = {.items = d, .count = 2}, got = {0};

	d[0].warp_size = d[1].warp_size = 32;
	d[0].max_threads_per_block = d[1].max_threads_per_block = 1024;
	assert_non_null(mkdtemp(top));
	snprintf(path, sizeof path, "%s/cache/fathom/devices", top);
	assert_false(cuda_known_key(key, top)); /* no driver */
	put(top, "proc/driver/nvidia/version", "NVRM version: 580\n");
	put(top, "proc/sys/kernel/random/boot_id", "a-b-c\n");
	put(top, "dev/nvidiactl", "");
	assert_false(cuda_known_key(key, top)); /* no GPU */
	put(top, "proc/driver/nvidia/gpus/0000:01:00.0/information", "Model: One\n");
	assert_true(cuda_known_key(key, top));
	assert_true(cuda_known_key(other, top));
	assert_memory_equal(key, other, sizeof key);
	static const char *const changes[][2] = {{"proc/driver/nvidia/gpus/0000:02:00.0/information", "Model: Two\n"},
						 {"proc/driver/nvidia/gpus/0000:01:00.0/information", "Model: Three\n"},
						 {"dev/nvidia0", ""},
						 {"proc/self/cgroup", "0::/job_7\n"},
						 {"proc/driver/nvidia/capabilities/gpu0/mig/gi1/access", ""},
						 {"proc/driver/nvidia/capabilities/gpu0/mig/gi1/ci0/access", ""}};
	for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
		put(top, changes[i][0], changes[i][1]);
		assert_true(cuda_known_key(other, top));
		if (memcmp(key, other, sizeof key) == 0)
			fail_msg("%s does not count", changes[i][0]);
		memcpy(key, other, sizeof key);
	}
	setenv("CUDA_VISIBLE_DEVICES", "1", 1);
	assert_true(cuda_known_key(other, top));
	assert_memory_not_equal(key, other, sizeof key);
	unsetenv("CUDA_VISIBLE_DEVICES");

	assert_false(known_read(&got, "cuda", path, key)); /* not there */
	put(top, "cache/x", "");
	known_write(&list, path, key);
	assert_false(known_read(&got, "cuda", path, other));
	assert_true(known_read(&got, "cuda", path, key));
	assert_int_equal(got.count, 2);
	assert_memory_equal(got.items, d, sizeof d);
	mem_free(got.items);
	got = (struct device_list){0};

	struct stat st;
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(truncate(path, st.st_size - 1), 0);
	assert_false(known_read(&got, "cuda", path, key));
	assert_int_equal(truncate(path, st.st_size + 1), 0);
	assert_false(known_read(&got, "cuda", path, key));
	/* a name without an end, and a device that cannot be */
	memset(d[1].name, 'x', sizeof d[1].name);
	known_write(&list, path, key);
	assert_false(known_read(&got, "cuda", path, key));
	d[1] = d[0];
	d[1].warp_size = 0;
	known_write(&list, path, key);
	assert_false(known_read(&got, "cuda", path, key));
	d[1] = d[0];
	memset(&d[1].has_f64, 2, 1);
	known_write(&list, path, key);
	assert_false(known_read(&got, "cuda", path, key));
	assert_null(got.items);
	snprintf(clean, sizeof clean, "rm -r %s", top);
	assert_int_equal(system(clean), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(known_devices),
	    cmocka_unit_test(pieces_make_the_whole),
	    cmocka_unit_test(ptx_versions),
	    cmocka_unit_test(sticky_errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
