/* The whole CUDA backend on cuda:0, whatever libcuda.so.1 is found: a real driver, or the one of tests/fake.
 * Skipped where there is none. */
#include "../gpu/texture_cases.h"
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

#include <cmocka.h>

struct state {
	struct gpu *g;
	char head[96];
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static uint32_t load(struct state *s, const char *body, struct native_info *native)
{
	static char text[1 << 16];
	struct native_info n;
	struct err e = {0};
	uint32_t id = UINT32_MAX;

	snprintf(text, sizeof text, "%s%s", s->head, body);
	struct kernel_source src = {.name = "test", .entry = "k", .text = text};
	if (s->g->ops->load(s->g, &src, 1, &id, native ? native : &n, &e))
		fail_msg("%s", e.text);
	return id;
}

static struct launch simple(uint32_t words)
{
	struct launch l = {
	    .label = "test", .entry = "k", .grid = {1, 1, 1}, .block = {32, 1, 1}, .buffer_count = 1, .arg_count = 1};

	l.buffers[0] = (struct launch_buffer){.bytes = words * 4ull, .output = true, .output_words = words};
	l.args[0] = (struct launch_arg){.kind = ARG_BUFFER, .buffer = 0};
	return l;
}

static void run(struct state *s, uint32_t id, const struct launch *l, struct sample *out)
{
	struct err e = {0};

	if (s->g->ops->run(s->g, id, l, out, &e))
		fail_msg("%s", e.text);
}

static void says_what_it_is(void **state)
{
	struct state *s = *state;
	const struct device_info *d = s->g->ops->info(s->g);

	assert_string_equal(d->backend, "cuda");
	assert_string_equal(d->spec, "cuda:0");
	assert_string_equal(d->dialect, "ptx");
	assert_true(strlen(d->name) > 0);
	assert_true(d->sm_count > 0 && d->warp_size == 32 && d->memory_bytes > 0);
	print_message("%s, %s, %s, driver %s, %u SMs, PTX %d\n", d->name, d->uuid, d->target, d->driver, d->sm_count,
		      d->ptx_version);
}

static void same_arguments_and_threads(void **state)
{
	struct state *s = *state;
	struct launch l = simple(32);
	struct sample out;
	uint32_t id = load(s,
			   ".visible .entry k(.param .u64 out, .param .u32 a, .param .u64 b)\n{\n"
			   ".reg .u32 r<5>;\n.reg .u64 d<5>;\n"
			   "ld.param.u64 d1, [out];\nld.param.u32 r1, [a];\nld.param.u64 d2, [b];\n"
			   "cvt.u32.u64 r2, d2;\nmov.u32 r3, %tid.x;\nmul.wide.u32 d3, r3, 4;\nadd.u64 d1, d1, d3;\n"
			   "mad.lo.u32 r4, r3, r1, r2;\nst.global.u32 [d1], r4;\nret;\n}\n",
			   NULL);

	l.arg_count = 3;
	l.args[1] = (struct launch_arg){.kind = ARG_U32, .bits = 7};
	l.args[2] = (struct launch_arg){.kind = ARG_U64, .bits = 1000};
	l.repeats = 3;
	l.warmups = 2;
	run(s, id, &l, &out);
	assert_int_equal(out.outcome, OUTCOME_OK);
	assert_int_equal(out.repeats, 3);
	assert_int_equal(out.words_per_repeat, 32);
	assert_true(out.elapsed_ms >= 0);
	for (uint32_t i = 0; i < 96; i++)
		assert_int_equal(out.words[i], i % 32 * 7 + 1000);
	sample_free(&out);
	/* What is timed changes nothing else. */
	for (int span = SPAN_COPY_IN; span <= SPAN_COPY_OUT; span++) {
		l.timed = (enum launch_span)span;
		l.buffers[0].bytes = 8u << 20;
		run(s, id, &l, &out);
		assert_int_equal(out.outcome, OUTCOME_OK);
		assert_true(out.elapsed_ms >= 0);
		print_message("%s: %g ms\n", span == SPAN_COPY_IN ? "8 MB to the device" : "128 bytes back",
			      out.elapsed_ms);
		for (uint32_t i = 0; i < 96; i++)
			assert_int_equal(out.words[i], i % 32 * 7 + 1000);
		sample_free(&out);
	}
}

/* Either way, both, and beside a kernel; of both kinds of memory. No output, and both times. */
static void copies_are_timed(void **state)
{
	static const struct launch_copy copies[] = {{.in = 4, .pinned = true},
						    {.out = 1 << 20},
						    {.in = 1 << 20, .out = 1 << 16, .pinned = true},
						    {.in = 1 << 16, .beside = true}};
	struct state *s = *state;
	uint32_t id = load(s, ".visible .entry k()\n{\nret;\n}\n", NULL);
	for (size_t k = 0; k < sizeof copies / sizeof *copies; k++) {
		struct launch l = {.entry = "k", .grid = {1, 1, 1}, .block = {1, 1, 1}, .repeats = 2, .warmups = 1};
		struct sample out;
		l.timed = SPAN_COPIES;
		l.copy = copies[k];
		run(s, id, &l, &out);
		if (out.outcome == OUTCOME_REFUSED)
			skip();
		assert_int_equal(out.outcome, OUTCOME_OK);
		assert_int_equal(out.words_per_repeat, COPY_WORDS);
		for (unsigned r = 0; r < 2; r++)
			assert_true(out.words[r * COPY_WORDS + 2] > 0);
		sample_free(&out);
	}
}

static const char adder[] = ".visible .entry k(.param .u64 out)\n{\n.reg .u32 r<3>;\n.reg .u64 d<2>;\n.reg .pred p;\n"
			    "ld.param.u64 d1, [out];\nmov.u32 r2, %tid.x;\nsetp.ne.u32 p, r2, 0;\n@p ret;\n"
			    "ld.global.u32 r1, [d1];\nadd.u32 r1, r1, 1;\nst.global.u32 [d1], r1;\nret;\n}\n";

static void output_starts_anew_each_repeat(void **state)
{
	struct state *s = *state;
	uint32_t id = load(s, adder, NULL), first = 41;
	struct launch l = simple(1);
	struct sample out;

	l.repeats = 4;
	l.warmups = 1;
	run(s, id, &l, &out);
	for (int i = 0; i < 4; i++)
		assert_int_equal(out.words[i], 1);
	sample_free(&out);
	l.buffers[0].init = &first;
	l.buffers[0].init_bytes = sizeof first;
	run(s, id, &l, &out);
	for (int i = 0; i < 4; i++)
		assert_int_equal(out.words[i], 42);
	sample_free(&out);
	l.buffers[0].bytes = 4 << 20; /* too large for one pinned image */
	l.flush = true;
	run(s, id, &l, &out);
	for (int i = 0; i < 4; i++)
		assert_int_equal(out.words[i], 42);
	sample_free(&out);
}

static const char chase[] =
    ".visible .entry k(.param .u64 out, .param .u64 ring, .param .u32 n)\n{\n.reg .u32 r<5>;\n.reg .u64 d<4>;\n.reg "
    ".pred p;\n"
    "ld.param.u64 d1, [out];\nld.param.u64 d2, [ring];\nld.param.u32 r1, [n];\nmov.u64 d3, d2;\nmov.u32 r2, %clock;\n"
    "L:\nld.global.u64 d3, [d3];\nsub.u32 r1, r1, 1;\nsetp.ne.u32 p, r1, 0;\n@p bra L;\n"
    "sub.u64 d3, d3, d2;\nst.global.u64 [d1], d3;\nst.global.u32 [d1+8], r2;\nret;\n}\n";

static void chase_ends_where_it_should(struct state *s, uint64_t bytes, uint32_t count, uint64_t align)
{
	uint32_t id = load(s, chase, NULL);
	struct launch l = simple(4);
	struct sample out;
	uint64_t *ring = mem_alloc(count * sizeof *ring);

	assert_non_null(ring);
	for (uint32_t i = 0; i < count; i++) /* an odd step visits all slots once */
		ring[i] = (uint64_t)i * 7919 % count * (bytes / count);
	l.block[0] = 1;
	l.buffer_count = 2;
	l.buffers[1] =
	    (struct launch_buffer){.bytes = bytes, .align = align, .ring = ring, .ring_count = count, .ring_word = 8};
	l.arg_count = 3;
	l.args[1] = (struct launch_arg){.kind = ARG_BUFFER, .buffer = 1, .bits = ring[0]};
	for (uint32_t n = 1; n <= 3; n++) {
		l.args[2] = (struct launch_arg){.kind = ARG_U32, .bits = n};
		double t = now();
		run(s, id, &l, &out);
		t = now() - t;
		assert_int_equal(out.outcome, OUTCOME_OK);
		assert_int_equal(out.words[0], (uint32_t)ring[n % count]);
		sample_free(&out);
		if (n == 1)
			print_message("ring of %u words in %llu KB: first launch %.2f ms\n", count,
				      (unsigned long long)bytes >> 10, t * 1e3);
		else
			print_message("  again %.3f ms\n", t * 1e3);
	}
	mem_free(ring);
}

static void rings_lead_around(void **state)
{
	chase_ends_where_it_should(*state, 4096, 32, 0);
	chase_ends_where_it_should(*state, 4096, 512, 65536);
	struct state *s = *state;
	uint64_t large = s->g->ops->info(s->g)->memory_bytes >= 256 << 20 ? 64 << 20 : 4 << 20;
	chase_ends_where_it_should(s, large, 1 << 16, 0);
}

/* Words of a large buffer, each where its thread is told to look. */
static const char *const look =
    ".visible .entry k(.param .u64 out, .param .u64 in, .param .u64 at)\n{\n.reg .u32 r<4>;\n.reg .u64 d<6>;\n"
    "ld.param.u64 d1, [out];\nld.param.u64 d2, [in];\nld.param.u64 d3, [at];\nmov.u32 r1, %tid.x;\n"
    "mul.wide.u32 d4, r1, 4;\nadd.u64 d3, d3, d4;\nld.global.u32 r2, [d3];\ncvt.u64.u32 d5, r2;\n"
    "add.u64 d5, d2, d5;\nld.global.u32 r3, [d5];\nadd.u64 d1, d1, d4;\nst.global.u32 [d1], r3;\nret;\n}\n";

/* A ring in a buffer so large that its words are written on the device. It has zeros, then bytes, then ring, whatever
 * an earlier ring left there. */
static void large_rings_leave_zeros(void **state)
{
	enum { RING = 40, LOOKS = 2 * RING + 2, BYTES = 2 << 20 };
	struct state *s = *state;
	uint32_t id = load(s, look, NULL), at[LOOKS];
	uint64_t ring[2][RING];
	const uint8_t init[] = {1, 2, 3, 4, 5, 6, 7, 8};

	for (unsigned i = 0; i < RING; i++)
		for (unsigned which = 0; which < 2; which++) {
			ring[which][i] = 64 + 51200ull * (i * 7 % RING) + 8 * which;
			at[which * RING + i] = (uint32_t)ring[which][i];
		}
	at[LOOKS - 2] = 4;
	at[LOOKS - 1] = BYTES - 4;
	for (unsigned round = 0; round < 4; round++) {
		const uint64_t *of = ring[round % 2];
		const unsigned word = round < 2 ? 4 : 8, unit = round == 1 ? 4 : 0;
		struct launch l = simple(LOOKS);
		struct sample out;
		l.block[0] = LOOKS;
		l.buffer_count = 3;
		l.buffers[1] = (struct launch_buffer){.bytes = BYTES,
						      .ring = of,
						      .ring_count = RING,
						      .ring_word = (uint8_t)word,
						      .ring_unit = unit,
						      .init = init,
						      .init_bytes = sizeof init};
		l.buffers[2] = (struct launch_buffer){.bytes = sizeof at, .init = at, .init_bytes = sizeof at};
		l.arg_count = 3;
		l.args[1] = (struct launch_arg){.kind = ARG_BUFFER, .buffer = 1};
		l.args[2] = (struct launch_arg){.kind = ARG_BUFFER, .buffer = 2};
		run(s, id, &l, &out);
		assert_int_equal(out.outcome, OUTCOME_OK);
		const uint32_t *in = out.words + (round % 2) * RING, *others = out.words + (1 - round % 2) * RING;
		const uint64_t base = word == 8 ? in[0] - of[1] : 0;
		for (unsigned i = 0; i < RING; i++) {
			assert_int_equal(in[i], (uint32_t)(base + of[(i + 1) % RING] / (unit ? unit : 1)));
			if (word == 4)
				assert_int_equal(others[i], 0);
		}
		assert_int_equal(out.words[LOOKS - 2], 0x08070605);
		assert_int_equal(out.words[LOOKS - 1], 0);
		sample_free(&out);
	}
}

static void constants_arrive(void **state)
{
	struct state *s = *state;
	uint32_t id = load(s,
			   ".const .align 8 .b8 table[1024];\n.visible .entry k(.param .u64 out)\n{\n.reg .u32 r<4>;\n"
			   ".reg .u64 d<2>;\nld.param.u64 d1, [out];\nmov.u32 r1, %tid.x;\nshr.u32 r1, r1, 5;\n"
			   "ld.const.u32 r1, [r1+16];\nld.const.u32 r2, [r1];\nst.global.u32 [d1], r1;\n"
			   "st.global.u32 [d1+4], r2;\nret;\n}\n",
			   NULL);
	uint64_t ring[] = {16, 512, 128};
	struct launch l = simple(2);
	struct sample out;

	l.buffer_count = 2;
	l.buffers[1] = (struct launch_buffer){
	    .space = BUFFER_CONSTANT, .symbol = "table", .bytes = 1024, .ring = ring, .ring_count = 3, .ring_word = 4};
	for (int i = 0; i < 2; i++) {
		run(s, id, &l, &out);
		assert_int_equal(out.outcome, OUTCOME_OK);
		assert_int_equal(out.words[0], 512);
		assert_int_equal(out.words[1], 128);
		sample_free(&out);
	}
	ring[1] = 256;
	run(s, id, &l, &out);
	assert_int_equal(out.words[0], 256);
	assert_int_equal(out.words[1], 128);
	sample_free(&out);

	struct err e = {0};
	memcpy(l.buffers[1].symbol, "other", 6);
	assert_true(s->g->ops->run(s->g, id, &l, &out, &e) < 0);
	assert_non_null(strstr(e.text, "other"));
}

static void refusal_is_an_outcome(void **state)
{
	struct state *s = *state;
	uint32_t id = load(s, adder, NULL);
	struct launch l = simple(1);
	struct sample out;

	l.block[0] = 4096;
	run(s, id, &l, &out);
	assert_int_equal(out.outcome, OUTCOME_REFUSED);
	print_message("refused: %s\n", out.message);
	assert_true(strlen(out.message) > 0);
	sample_free(&out);
	l = simple(1);
	run(s, id, &l, &out);
	assert_int_equal(out.outcome, OUTCOME_OK); /* the device lives on */
	sample_free(&out);
}

static void compile_error_names_kernel_and_line(void **state)
{
	struct state *s = *state;
	char text[512];
	struct native_info n;
	struct err e = {0};
	uint32_t id;

	snprintf(text, sizeof text, "%s.visible .entry k()\n{\nfrobnicate.u32 a, b;\nret;\n}\n", s->head);
	struct kernel_source src = {.name = "probe/broken", .entry = "k", .text = text};
	assert_true(s->g->ops->load(s->g, &src, 1, &id, &n, &e) < 0);
	print_message("%s\n", e.text);
	assert_non_null(strstr(e.text, "probe/broken"));
	assert_non_null(strstr(e.text, "line"));
}

/* Eight kernels that differ, one of them twice: compiled together, ids by text. */
static void many_kernels_at_once(void **state)
{
	struct state *s = *state;
	static char text[9][2048];
	struct kernel_source src[9];
	struct native_info n[9];
	uint32_t ids[9];
	struct err e = {0};

	for (int i = 0; i < 9; i++) {
		snprintf(text[i], sizeof text[i],
			 "%s.visible .entry k(.param .u64 out)\n{\n.reg .u32 r<3>;\n.reg .u64 d<2>;\nld.param.u64 d1, "
			 "[out];\n"
			 "mov.u32 r1, %d;\nst.global.u32 [d1], r1;\nret;\n}\n",
			 s->head, i % 8);
		src[i] = (struct kernel_source){.name = "test", .entry = "k", .text = text[i]};
	}
	double t = now();
	if (s->g->ops->load(s->g, src, 9, ids, n, &e))
		fail_msg("%s", e.text);
	print_message("8 kernels compiled in %.1f ms\n", (now() - t) * 1e3);
	assert_int_equal(ids[8], ids[0]);
	for (uint32_t i = 0; i < 8; i++) {
		struct launch l = simple(1);
		struct sample out;
		run(s, ids[i], &l, &out);
		assert_int_equal(out.words[0], i);
		sample_free(&out);
	}
}

static void native_code_is_counted(void **state)
{
	struct state *s = *state;
	struct native_info n;

	load(s,
	     ".visible .entry k(.param .u64 out)\n{\n.reg .u32 r<5>;\n.reg .u64 d<2>;\n.reg .f32 f<3>;\nld.param.u64 "
	     "d1, [out];\n"
	     "mov.u32 r3, %tid.x;\ncvt.rn.f32.u32 f1, r3;\nmov.u32 r1, %clock;\n"
	     "fma.rn.f32 f1, f1, f1, f1;\nfma.rn.f32 f1, f1, f1, f1;\nfma.rn.f32 f1, f1, f1, f1;\nfma.rn.f32 f1, f1, "
	     "f1, f1;\n"
	     "mov.u32 r2, %clock;\nst.global.u32 [d1], r1;\nst.global.u32 [d1+4], r2;\nst.global.f32 [d1+8], "
	     "f1;\nret;\n}\n",
	     &n);
	if (n.problem[0]) {
		print_message("native code: %s\n", n.problem);
		return;
	}
	print_message("native: %s, %u registers, region: %s\n", n.source, n.registers, n.region[0].mix);
	assert_int_equal(n.clock_reads, 2);
	assert_int_equal(n.region_count, 1);
	assert_true(n.region[0].count[NATIVE_ALU] >= 4);
}

static void shared_memory_opt_in_and_carveout(void **state)
{
	struct state *s = *state;
	const struct device_info *d = s->g->ops->info(s->g);
	uint32_t id =
	    load(s,
		 ".extern .shared .align 4 .b8 buf[];\n.visible .entry k(.param .u64 out, .param .u32 at)\n{\n"
		 ".reg .u32 r<6>;\n.reg .u64 d<2>;\nld.param.u64 d1, [out];\nld.param.u32 r1, [at];\nmov.u32 r2, buf;\n"
		 "add.u32 r2, r2, r1;\nmov.u32 r3, 77;\nst.shared.u32 [r2], r3;\nbar.sync 0;\n"
		 "ld.shared.u32 r4, [r2];\nst.global.u32 [d1], r4;\nret;\n}\n",
		 NULL);
	struct launch l = simple(1);
	struct sample out;

	l.arg_count = 2;
	l.args[1] = (struct launch_arg){.kind = ARG_U32, .bits = 8188};
	l.shared_bytes = 8192;
	l.carveout = CARVEOUT_MAX_SHARED;
	run(s, id, &l, &out);
	assert_int_equal(out.words[0], 77);
	sample_free(&out);
	l.carveout = CARVEOUT_MAX_L1;
	l.shared_bytes = (uint32_t)d->shared_per_block + 4096;
	l.args[1].bits = d->shared_per_block + 4092;
	run(s, id, &l, &out);
	print_message("opt-in shared memory: %s %s\n", outcome_name(out.outcome), out.message);
	assert_true(out.outcome == OUTCOME_OK ? out.words[0] == 77 : out.outcome == OUTCOME_REFUSED);
	sample_free(&out);
	l.shared_bytes = 64 << 20;
	run(s, id, &l, &out);
	assert_int_equal(out.outcome, OUTCOME_REFUSED);
	sample_free(&out);
}

static void condition_is_quick(void **state)
{
	struct state *s = *state;
	struct condition c;
	struct err e = {0};

	assert_int_equal(s->g->ops->sense(s->g, &c, &e), 0);
	double t = now();
	assert_int_equal(s->g->ops->sense(s->g, &c, &e), 0);
	print_message("SM %.0f MHz, memory %.0f MHz, %.0f C, %.0f W, throttle %lld, read in %.3f ms\n", c.sm_clock_mhz,
		      c.memory_clock_mhz, c.temperature_c, c.power_w, (long long)c.throttle, (now() - t) * 1e3);
}

static void hang_is_a_timeout(void **state)
{
	struct state *s = *state;
	uint32_t id =
	    load(s,
		 ".visible .entry k(.param .u64 out)\n{\n.reg .u32 r<3>;\n.reg .u64 d<2>;\n.reg .pred p;\n"
		 "ld.param.u64 d1, [out];\nL:\nld.volatile.global.u32 r1, [d1];\nsetp.ne.u32 p, r1, 5;\n@p bra L;\n"
		 "ret;\n}\n",
		 NULL);
	struct launch l = simple(1);
	struct sample out;
	struct err e = {0};

	l.time_limit_ms = 300;
	run(s, id, &l, &out);
	assert_int_equal(out.outcome, OUTCOME_TIMEOUT);
	print_message("%s\n", out.message);
	sample_free(&out);
	assert_int_equal(s->g->ops->run(s->g, id, &l, &out, &e), -ENODEV);
	print_message("%s\n", e.text);
	assert_int_equal(s->g->ops->load(s->g, &(struct kernel_source){"x", "k", "x"}, 1, &id, NULL, &e), -ENODEV);
}

static void textures_are_read(void **state)
{
	struct state *s = *state;

	texture_cases(s->g);
}

static int start(void **state)
{
	static struct state s;
	struct err e = {0};
	double t = now();

	if (gpu_cuda.open(&s.g, "0", 1, &e)) {
		print_message("%s\n", e.text);
		exit(77);
	}
	print_message("opened in %.0f ms\n", (now() - t) * 1e3);
	const struct device_info *d = s.g->ops->info(s.g);
	snprintf(s.head, sizeof s.head, ".version %d.%d\n.target %s\n.address_size 64\n", d->ptx_version / 10,
		 d->ptx_version % 10, d->target);
	*state = &s;
	return 0;
}

static int stop(void **state)
{
	struct state *s = *state;

	s->g->ops->close(s->g);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(says_what_it_is),
	    cmocka_unit_test(same_arguments_and_threads),
	    cmocka_unit_test(copies_are_timed),
	    cmocka_unit_test(output_starts_anew_each_repeat),
	    cmocka_unit_test(rings_lead_around),
	    cmocka_unit_test(large_rings_leave_zeros),
	    cmocka_unit_test(constants_arrive),
	    cmocka_unit_test(refusal_is_an_outcome),
	    cmocka_unit_test(compile_error_names_kernel_and_line),
	    cmocka_unit_test(many_kernels_at_once),
	    cmocka_unit_test(native_code_is_counted),
	    cmocka_unit_test(shared_memory_opt_in_and_carveout),
	    cmocka_unit_test(textures_are_read),
	    cmocka_unit_test(condition_is_quick),
	    cmocka_unit_test(hang_is_a_timeout), /* last: the device is lost afterwards */
	};

	return cmocka_run_group_tests(tests, start, stop);
}
