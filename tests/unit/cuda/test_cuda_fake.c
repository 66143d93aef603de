/* What the CUDA backend makes of a driver that misbehaves, each case in a child of its own through the proxy. Runs on the
 * driver of tests/fake, which plays what environment variables say; see fake_state.h. With the argument "memory" allocations
 * fail, with "old" the library path leads to a driver that lacks a symbol, with "none" to no driver. */
#include "base/arena.h"
#include "gpu/gpu.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static const char *const played[] = {"FAKE_CUDA_INIT",	  "FAKE_CUDA_DEVICES", "FAKE_CUDA_FAIL",
				     "FAKE_CUDA_HANG",	  "FAKE_CUDA_FAULT",   "FAKE_CUDA_CRASH",
				     "FAKE_CUDA_VERSION", "FAKE_CUDA_CC",      "FAKE_NVML_THROTTLE"};

/* One variable set, all others gone. */
static void play(const char *name, const char *value)
{
	for (size_t i = 0; i < sizeof played / sizeof *played; i++)
		unsetenv(played[i]);
	if (name)
		setenv(name, value, 1);
}

static int open_device(const char *spec, struct gpu **g, struct err *e)
{
	memset(e, 0, sizeof *e);
	return gpu_open_proxy(g, &gpu_cuda, spec, 1, e);
}

static void expect_no_device(int code, const char *spec, const char *words)
{
	struct gpu *g;
	struct err e;

	assert_int_equal(open_device(spec, &g, &e), code);
	assert_null(g);
	if (!strstr(e.text, words))
		fail_msg("\"%s\" does not say \"%s\"", e.text, words);
}

static void expect_list(size_t count, const char *words)
{
	struct device_list list = {0};
	struct err e = {0};

	assert_int_equal(gpu_list_isolated(&gpu_cuda, &list, &e), 0);
	assert_int_equal(list.count, count);
	if (!strstr(list.note, words))
		fail_msg("\"%s\" does not say \"%s\"", list.note, words);
	mem_free(list.items);
}

static void lists(void **state)
{
	(void)state;
	play(NULL, NULL);
	expect_list(1, "");
	play("FAKE_CUDA_DEVICES", "3");
	expect_list(3, "");
	play("FAKE_CUDA_DEVICES", "0");
	expect_list(0, "finds no GPU");
	play("FAKE_CUDA_INIT", "100");
	expect_list(0, "finds no GPU");
	play("FAKE_CUDA_INIT", "999");
	expect_list(0, "does not start: unknown error");
	play("FAKE_CUDA_FAIL", "cuDeviceGetName:1:999");
	expect_list(0, "unknown error");
	play("FAKE_CUDA_FAIL", "cuDeviceGetCount:1:3");
	expect_list(0, "initialization error");
}

static void wrong_devices(void **state)
{
	(void)state;
	play(NULL, NULL);
	expect_no_device(-ENODEV, "1", "there is no cuda:1: the NVIDIA driver has 1 GPU, cuda:0");
	expect_no_device(-EINVAL, "x", "cuda:0");
	expect_no_device(-EINVAL, "-1", "cuda:0");
	play("FAKE_CUDA_DEVICES", "0");
	expect_no_device(-ENODEV, "0", "finds no GPU");
	play("FAKE_CUDA_INIT", "100");
	expect_no_device(-ENODEV, "0", "finds no GPU");
	play("FAKE_CUDA_INIT", "999");
	expect_no_device(-ENODEV, "0", "unknown error");
	play("FAKE_CUDA_FAIL", "cuDevicePrimaryCtxRetain:1:2");
	expect_no_device(-ENOMEM, "0", "cuda:0 cannot be used: out of memory");
}

static void texts(struct gpu *g, char *text, size_t n)
{
	const struct device_info *d = g->ops->info(g);

	snprintf(
	    text, n,
	    ".version %d.%d\n.target %s\n.address_size 64\n.const .align 8 .b8 table[64];\n"
	    ".visible .entry k(.param .u64 out, .param .u64 ring)\n{\n.reg .u32 r<3>;\n.reg .u64 d<3>;\n"
	    "ld.param.u64 d1, [out];\nld.param.u64 d2, [ring];\nld.global.u64 d2, [d2];\nld.global.u64 d2, [d2];\n"
	    "mov.u32 r1, 0;\nld.const.u32 r1, [r1+8];\nst.global.u32 [d1], r1;\nst.global.u64 [d1+8], d2;\nret;\n}\n",
	    d->ptx_version / 10, d->ptx_version % 10, d->target);
}

static const uint64_t ring[] = {0, 64, 128}, offsets[] = {8, 16};

static struct launch whole_launch(void)
{
	struct launch l = {
	    .label = "launch", .entry = "k", .grid = {1, 1, 1}, .block = {1, 1, 1}, .buffer_count = 3, .arg_count = 2};

	l.buffers[0] = (struct launch_buffer){.bytes = 16, .output = true, .output_words = 4};
	l.buffers[1] = (struct launch_buffer){.bytes = 256, .ring = ring, .ring_count = 3, .ring_word = 8};
	l.buffers[2] = (struct launch_buffer){
	    .space = BUFFER_CONSTANT, .symbol = "table", .bytes = 64, .ring = offsets, .ring_count = 2, .ring_word = 4};
	l.args[0] = (struct launch_arg){.kind = ARG_BUFFER, .buffer = 0};
	l.args[1] = (struct launch_arg){.kind = ARG_BUFFER, .buffer = 1};
	l.repeats = 2;
	l.flush = true;
	l.time_limit_ms = 300;
	return l;
}

/* Open, load, run once, and say before what is going to be loaded, or not. The first error's code, or 0 with *out filled. */
static int round_trip(bool expect, struct sample *out, struct err *e)
{
	static char text[4096];
	struct kernel_source src = {.name = "round", .entry = "k", .text = text};
	struct native_info native;
	struct launch l = whole_launch();
	struct condition c;
	struct gpu *g;
	uint32_t id;

	memset(out, 0, sizeof *out);
	int r = open_device("0", &g, e);
	if (r)
		return r;
	texts(g, text, sizeof text);
	if (expect)
		r = g->ops->expect(g, &src, 1, true, e);
	if (r == 0)
		r = g->ops->load(g, &src, 1, &id, &native, e);
	if (r == 0)
		r = g->ops->run(g, id, &l, out, e);
	if (r == 0)
		r = g->ops->sense(g, &c, e);
	g->ops->close(g);
	return r;
}

static void round_trip_works(void **state)
{
	(void)state;
	struct sample out;
	struct err e;

	play(NULL, NULL);
	if (round_trip(false, &out, &e))
		fail_msg("%s", e.text);
	assert_int_equal(out.outcome, OUTCOME_OK);
	assert_int_equal(out.words_per_repeat, 4);
	assert_non_null(out.words);
	for (int i = 0; i < 2 && out.words; i++) {
		assert_int_equal(out.words[4 * i], 16);
		/* two steps along the ring from its start, 128 bytes in, as an absolute address: 256-byte aligned base */
		assert_int_equal(out.words[4 * i + 2] % 256, 128);
	}
	sample_free(&out);
}

static const char *const symbols[] = {
#define CUDA_SYMBOL(needed, member, symbol, type) symbol,
#include "gpu/cuda/cuda_symbols.def"
#undef CUDA_SYMBOL
};

/* Whichever call fails, at whichever time: one sentence or one outcome, and no crash of the worker. */
static void every_call_fails_once(void **state)
{
	(void)state;
	static const int codes[] = {2, 719};
	unsigned failed = 0;

	for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++)
		for (int n = 1; n <= 4; n++)
			for (int c = 0; c < 2; c++) {
				char plan[96];
				struct sample out;
				struct err e;
				snprintf(plan, sizeof plan, "%s:%d:%d", symbols[i], n, codes[c]);
				play("FAKE_CUDA_FAIL", plan);
				int r = round_trip(c == 0, &out, &e);
				if (r) {
					failed++;
					if (!e.text[0] || strstr(e.text, "signal"))
						fail_msg("%s: \"%s\"", plan, e.text);
				} else if (out.outcome != OUTCOME_OK) {
					failed++;
					if (!out.message[0] || strstr(out.message, "signal"))
						fail_msg("%s: \"%s\"", plan, out.message);
				} else if (!out.words) {
					fail_msg("%s: no words", plan);
				} else {
					assert_int_equal(out.words[0], 16);
					assert_int_equal(out.words[4], 16);
				}
				sample_free(&out);
			}
	print_message("%u failures of the driver came back as a sentence\n", failed);
	assert_true(failed > 40);
}

/* Expected kernels are compiled by themselves, and no second time. In one plan the first link that the driver is asked
 * for fails, which is the background's. Load then compiles the kernel as if nothing had been expected. In the other the
 * second one fails. Load does not ask for it, as it has the background's image. */
static void expected_kernels_are_compiled_ahead(void **state)
{
	(void)state;
	static const char *const plans[] = {"cuLinkCreate_v2:1:999", "cuLinkCreate_v2:2:999"};

	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		skip(); /* nobody compiles in the background there */
	for (size_t i = 0; i < 2; i++) {
		bool right = false;
		for (long ms = 5; !right && ms < 10000; ms *= 2) {
			static char text[4096], bad[] = "nonsense";
			struct kernel_source src[] = {{.name = "bad", .entry = "k", .text = bad},
						      {.name = "round", .entry = "k", .text = text}};
			struct native_info native;
			struct launch l = whole_launch();
			struct sample out = {0};
			struct gpu *g;
			struct err e = {0};
			uint32_t id;
			l.flush = false; /* which compiles as well */
			play("FAKE_CUDA_FAIL", plans[i]);
			assert_int_equal(open_device("0", &g, &e), 0);
			texts(g, text, sizeof text);
			assert_int_equal(g->ops->expect(g, &src[1], 1, false, &e), 0);
			nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
			const int r = g->ops->load(g, &src[1], 1, &id, &native, &e);
			if (r == 0) {
				assert_int_equal(g->ops->run(g, id, &l, &out, &e), 0);
				assert_int_equal(out.outcome, OUTCOME_OK);
				assert_int_equal(out.words[0], 16);
				sample_free(&out);
				/* one that does not compile is told of when it is loaded, and not before */
				assert_int_equal(g->ops->expect(g, &src[0], 1, true, &e), 0);
				if (i == 0)
					assert_int_equal(g->ops->load(g, &src[0], 1, &id, &native, &e), -EINVAL);
				right = true;
			} else {
				assert_int_equal(i, 0); /* load came first, which a longer pause prevents */
			}
			g->ops->close(g);
		}
		assert_true(right);
	}
}

/* Three launches, of which each process spoils one, the how-manieth it is: what became of them. message: of the last that went wrong. */
static void launch_thrice(const char *variable, const char *spoils, enum outcome outcome[3], char message[256])
{
	static char text[4096];
	struct kernel_source src = {.name = "round", .entry = "k", .text = text};
	struct native_info native;
	struct launch l = whole_launch();
	struct gpu *g;
	struct sample out;
	struct err e;
	uint32_t id;

	play(variable, spoils);
	if (open_device("0", &g, &e))
		fail_msg("%s", e.text);
	texts(g, text, sizeof text);
	l.repeats = 1;
	l.flush = false; /* which launches as well */
	if (g->ops->load(g, &src, 1, &id, &native, &e))
		fail_msg("%s", e.text);
	for (int i = 0; i < 3; i++) {
		if (g->ops->run(g, id, &l, &out, &e))
			fail_msg("%s", e.text);
		outcome[i] = out.outcome;
		if (out.outcome == OUTCOME_OK)
			assert_int_equal(out.words[0], 16);
		else
			memcpy(message, out.message, sizeof out.message);
		sample_free(&out);
	}
	g->ops->close(g);
}

/* What kills the process or its context is tried once more in a fresh one. */
static void process_is_lost(const char *variable, const char *words)
{
	enum outcome o[3];
	char message[256] = "";

	launch_thrice(variable, "2", o, message); /* the first of the fresh process is the one that the last spoilt */
	assert_true(o[0] == OUTCOME_OK && o[1] == OUTCOME_OK && o[2] == OUTCOME_OK);
	launch_thrice(variable, "1", o, message);
	assert_true(o[0] == OUTCOME_CRASH && o[1] == OUTCOME_CRASH && o[2] == OUTCOME_CRASH);
	if (!strstr(message, words))
		fail_msg("\"%s\" does not say \"%s\"", message, words);
}

static void hang(void **state)
{
	(void)state;
	enum outcome o[3];
	char message[256] = "";

	launch_thrice("FAKE_CUDA_HANG", "2", o, message);
	assert_true(o[0] == OUTCOME_OK && o[1] == OUTCOME_TIMEOUT && o[2] == OUTCOME_OK);
	assert_non_null(strstr(message, "did not end within 300 ms"));
}

static void fault(void **state)
{
	(void)state;
	process_is_lost("FAKE_CUDA_FAULT", "illegal memory access");
}

static void crash(void **state)
{
	(void)state;
	process_is_lost("FAKE_CUDA_CRASH", "signal 11");
}

static void condition_is_read(void **state)
{
	(void)state;
	struct condition c;
	struct gpu *g;
	struct err e;

	play("FAKE_NVML_THROTTLE", "4");
	if (open_device("0", &g, &e))
		fail_msg("%s", e.text);
	assert_int_equal(g->ops->sense(g, &c, &e), 0);
	assert_true(c.sm_clock_mhz == 1500 && c.memory_clock_mhz == 2600 && c.temperature_c == 41 &&
		    c.power_w == 123.5);
	assert_int_equal(c.throttle, 4);
	g->ops->close(g);
}

/* A kernel of ours compiles and runs on any card with any driver, of those that a table knows and of those that come
 * later. */
static void every_generation_is_measured(void **state)
{
	(void)state;
	static const char *const cards[] = {"50", "75", "88", "90", "101", "102", "107", "110", "121", "130", "200"},
				 *const versions[] = {"13050", "13000", "12090", "12080", "12000", "11000"};

	for (size_t i = 0; i < sizeof versions / sizeof *versions; i++)
		for (size_t k = 0; k < sizeof cards / sizeof *cards; k++) {
			struct sample out;
			struct err e;
			play("FAKE_CUDA_VERSION", versions[i]);
			setenv("FAKE_CUDA_CC", cards[k], 1);
			if (round_trip(false, &out, &e))
				fail_msg("compute capability %s, CUDA %s: %s", cards[k], versions[i], e.text);
			assert_int_equal(out.outcome, OUTCOME_OK);
			sample_free(&out);
		}
}

/* The n-th allocation fails, for all n, in this process: one sentence each time, until a whole round trip is through. */
static void no_memory(void **state)
{
	(void)state;
	static char text[4096];
	struct kernel_source src = {.name = "round", .entry = "k", .text = text};
	struct launch l = whole_launch();
	long failed = 0;

	play(NULL, NULL);
	for (long n = 1; n < 1000; n++) {
		struct native_info native;
		struct sample out = {0};
		struct gpu *g = NULL;
		struct err e = {0};
		uint32_t id = 0;
		mem_fail_after(n);
		int r = gpu_cuda.open(&g, "0", 1, &e);
		if (r == 0) {
			texts(g, text, sizeof text);
			r = g->ops->expect(g, &src, 1, false, &e);
		}
		if (r == 0)
			r = g->ops->load(g, &src, 1, &id, &native, &e);
		if (r == 0)
			r = g->ops->run(g, id, &l, &out, &e);
		mem_fail_after(0);
		if (g)
			g->ops->close(g);
		if (r) {
			failed++;
			assert_int_equal(r, -ENOMEM);
			assert_non_null(strstr(e.text, "memory"));
		} else {
			assert_int_equal(out.outcome, OUTCOME_OK);
			bool whole = !native.problem[0]; /* without memory it says why the code was not read back */
			sample_free(&out);
			if (whole) {
				print_message("%ld allocations failed\n", failed);
				assert_true(failed > 4);
				return;
			}
		}
	}
	fail_msg("a round trip never succeeded");
}

static void old_driver(void **state)
{
	(void)state;
	play("FAKE_CUDA_VERSION", "5000");
	expect_no_device(-ENOTSUP, "0", "the NVIDIA driver (CUDA 5.0) lacks cuLinkCreate_v2");
	expect_list(0, "cuLinkCreate_v2");
}

static void no_driver(void **state)
{
	(void)state;
	struct gpu *g;
	struct err e;

	if (open_device("0", &g, &e) == 0) { /* this machine has a real one */
		g->ops->close(g);
		skip();
	}
	expect_no_device(-ENODEV, "0", "no NVIDIA driver: libcuda.so.1 was not found");
	expect_list(0, "no NVIDIA driver: libcuda.so.1 was not found");
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(lists),
	    cmocka_unit_test(wrong_devices),
	    cmocka_unit_test(round_trip_works),
	    cmocka_unit_test(every_call_fails_once),
	    cmocka_unit_test(expected_kernels_are_compiled_ahead),
	    cmocka_unit_test(hang),
	    cmocka_unit_test(fault),
	    cmocka_unit_test(crash),
	    cmocka_unit_test(condition_is_read),
	    cmocka_unit_test(every_generation_is_measured),
	};
	const struct CMUnitTest old[] = {cmocka_unit_test(old_driver)};
	const struct CMUnitTest memory[] = {cmocka_unit_test(no_memory)};
	const struct CMUnitTest none[] = {cmocka_unit_test(no_driver)};

	if (argc > 1 && !strcmp(argv[1], "old"))
		return cmocka_run_group_tests(old, NULL, NULL);
	if (argc > 1 && !strcmp(argv[1], "memory"))
		return cmocka_run_group_tests(memory, NULL, NULL);
	if (argc > 1 && !strcmp(argv[1], "none"))
		return cmocka_run_group_tests(none, NULL, NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
