/* Kernels on descriptions with tables of outstanding requests, atomics, partitions: the published curves come out of the
 * structure. */
#include "base/arena.h"
#include "base/embed.h"
#include "base/str.h"
#include "gpu/sim/sim.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#define HEADER ".version 6.0\n.target sm_70\n.address_size 64\n"

/* ---- a toy with some lines of its own ---- */

struct machine {
	bool flush;
	struct arena a;
	struct gpu *g;
	uint32_t kernel;
};

static bool given(const char *lines, const char *line)
{
	size_t n = strcspn(line, " =");
	for (const char *p = lines; p && *p; p = strchr(p, '\n'), p += p != NULL)
		if (strcspn(p, " =") == n && !strncmp(p, line, n))
			return true;
	return false;
}

/* The toy's text; what `lines` gives and what starts with `without` is left out of it. */
static void machine_open(struct machine *m, const char *lines, const char *without, const char *kernel)
{
	const struct embedded *toy = embed_find("gpus/toy.gpu");
	struct err e = {0};
	struct sim_spec *s;
	struct str text;
	str_init(&text);
	for (const char *p = toy->data; *p;) {
		size_t n = strcspn(p, "\n") + 1;
		if (!given(lines, p) && !(without && str_starts(p, without)))
			str_addn(&text, p, n);
		p += n;
	}
	for (const char *p = lines; *p;) {
		size_t n = strcspn(p, "\n");
		str_addf(&text, "%.*s # choice: for this test\n", (int)n, p);
		p += n + (p[n] == '\n');
	}
	m->flush = false;
	arena_init(&m->a);
	if (spec_parse(&s, &m->a, "test.gpu", str_text(&text), text.len, &e) || sim_open_spec(&m->g, s, 1, &e))
		fail_msg("%s", e.text);
	str_free(&text);
	struct kernel_source src = {.name = "test", .entry = "k", .text = kernel};
	if (m->g->ops->load(m->g, &src, 1, &m->kernel, NULL, &e))
		fail_msg("%s", e.text);
}

static void machine_close(struct machine *m)
{
	m->g->ops->close(m->g);
	arena_free(&m->a);
}

/* Word 0 of the output; x and y are the kernel's arguments after the output and a buffer of 8 MB. */
static uint32_t run(struct machine *m, uint32_t grid, uint32_t block, uint32_t x, uint32_t y)
{
	struct launch l = {
	    .entry = "k", .grid = {grid, 1, 1}, .block = {block, 1, 1}, .buffer_count = 2, .arg_count = 4};
	struct sample s;
	struct err e = {0};
	l.flush = m->flush;
	l.buffers[0] = (struct launch_buffer){.bytes = 64, .output = true, .output_words = 4};
	l.buffers[1] = (struct launch_buffer){.bytes = 8u << 20};
	l.args[0] = (struct launch_arg){.kind = ARG_BUFFER};
	l.args[1] = (struct launch_arg){.kind = ARG_BUFFER, .buffer = 1};
	l.args[2] = (struct launch_arg){.kind = ARG_U32, .bits = x};
	l.args[3] = (struct launch_arg){.kind = ARG_U32, .bits = y};
	if (m->g->ops->run(m->g, m->kernel, &l, &s, &e))
		fail_msg("%s", e.text);
	if (s.outcome != OUTCOME_OK)
		fail_msg("%s", s.message);
	uint32_t word = s.words[0];
	sample_free(&s);
	return word;
}

/* ---- Thread-Latency curves (Lashgar 2015, Listing 1) ---- */

#define THREADS                                                                                                        \
	"device.max_threads_per_block = 1024 count\ndevice.max_threads_per_sm = 1024 count\n"                          \
	"device.max_warps_per_sm = 32 count\nregfile.registers_per_sm = 65536 count\n"                                 \
	"memory.global.bandwidth = 100000 bytes/clk\nmemory.global.latency = 600 cycles\n"                             \
	"cache.global.levels = 0 count\n"

/* Thread t loads the lines (t >> x) * 128 + k * 1 MB of its kernel's k-th load; the time until all threads have all. */
#define PROLOGUE                                                                                                       \
	HEADER                                                                                                         \
	".visible .entry k(.param .u64 out, .param .u64 in, .param .u32 x, .param .u32 y)\n{\n"                        \
	"	.reg .pred %p;\n	.reg .b32 %t, %x, %a, %b, %r<5>;\n	.reg .b64 %o, %i, %d;\n"                                 \
	"	ld.param.u64 %o, [out];\n	ld.param.u64 %i, [in];\n	ld.param.u32 %x, [x];\n"                                  \
	"	mov.u32 %t, %tid.x;\n	shr.u32 %r0, %t, %x;\n	mul.wide.u32 %d, %r0, 128;\n	add.u64 %i, %i, %d;\n"             \
	"	mov.u32 %r1, 0;\n	mov.u32 %r2, 0;\n	mov.u32 %r3, 0;\n	mov.u32 %r4, 0;\n"                                     \
	"	bar.sync 0;\n	mov.u32 %a, %clock;\n"
#define EPILOGUE                                                                                                       \
	"	add.u32 %r1, %r1, %r2;\n	add.u32 %r3, %r3, %r4;\n	add.u32 %r1, %r1, %r3;\n	"                                 \
	"bar.sync 0;\n"                                                                                                \
	"	mov.u32 %b, %clock;\n	sub.u32 %b, %b, %a;\n	setp.ne.u32 %p, %t, 0;\n	@%p bra E;\n"                           \
	"	st.global.u32 [%o], %b;\nE:\n	st.global.u32 [%o + 4], %r1;\n	ret;\n}\n"
#define LD1 "	ld.global.u32 %r1, [%i];\n"
#define LD2 LD1 "	ld.global.u32 %r2, [%i + 1048576];\n"
#define LD3 LD2 "	ld.global.u32 %r3, [%i + 2097152];\n"
#define LD4 LD3 "	ld.global.u32 %r4, [%i + 3145728];\n"

static const char *const loads[] = {PROLOGUE LD1 EPILOGUE, PROLOGUE LD2 EPILOGUE, PROLOGUE LD3 EPILOGUE,
				    PROLOGUE LD4 EPILOGUE};

/* Threads at which the variance of neighbouring points is largest (the paper's section 3.2), up to `most` threads. *height gets
 * by how much the curve rises there. */
static uint32_t spike(const char *lines, uint32_t n, uint32_t shift, uint32_t most, double *height)
{
	struct machine m;
	double lat[514], best = 0;
	uint32_t where = 0, count = 0;
	machine_open(&m, lines, "cache.global.l", loads[n - 1]);
	for (uint32_t t = 2; t <= most; t += 2)
		lat[count++] = run(&m, 1, t, shift, 0);
	machine_close(&m);
	for (uint32_t k = 1; k + 1 < count; k++) {
		double mean = (lat[k - 1] + lat[k] + lat[k + 1]) / 3, v = 0;
		for (uint32_t j = k - 1; j <= k + 1; j++)
			v += (lat[j] - mean) * (lat[j] - mean) / 2;
		if (v > best) {
			best = v;
			where = 2 * k + 2; /* the rise is behind this point or before it */
			*height = lat[k + 1] - lat[k - 1];
		}
	}
	return where;
}

#define FERMI                                                                                                          \
	THREADS "outstanding.loads_per_warp = 4 count\nload.global.issue = 2 cycles\noutstanding.kind = mshr name\n"   \
		"outstanding.entries = 128 count\noutstanding.merge = 8 count\n"
#define KEPLER                                                                                                         \
	THREADS "outstanding.loads_per_warp = 3 count\nload.global.issue = 0.25 cycles\noutstanding.kind = prt name\n" \
		"outstanding.entries = 44 count\n"

static void expect_spike(const char *lines, uint32_t n, uint32_t shift, uint32_t most, uint32_t after)
{
	double height = 0;
	uint32_t at = spike(lines, n, shift, most, &height);
	if (at < after || at > after + 2 || height < 200)
		fail_msg("%u loads, groups of %u: a rise of %g at %u threads, not after %u", n, 1u << shift, height, at,
			 after);
}

static void an_mshr_fills_with_lines(void **state)
{
	(void)state;
	expect_spike(FERMI, 1, 0, 200, 128); /* Figure 3 */
	expect_spike(FERMI, 2, 0, 100, 64);  /* Figure 4 */
	expect_spike(FERMI, 1, 1, 300, 256); /* Figure 5: Merger2 */
	expect_spike(FERMI, 2, 2, 300, 256); /* Figure 6: Merger4 */
	expect_spike(FERMI, 4, 3, 300, 256); /* Figure 7: Merger8 */
	/* One more than an entry merges takes a second entry: 16 threads of a line take what two lines of eight do. */
	expect_spike(FERMI, 4, 4, 300, 256);
}

static void a_pending_request_table_fills_with_instructions(void **state)
{
	(void)state;
	double height = 0;
	expect_spike(KEPLER, 2, 0, 800, 22 * 32); /* Figure 9 */
	expect_spike(KEPLER, 3, 0, 600, 14 * 32); /* Figure 10: the third load of the fifteenth warp is the 45th */
	spike(KEPLER, 1, 0, 1024, &height);	  /* Figure 8: 32 warps do not fill it */
	assert_true(height < 100);
}

static void without_a_table_nothing_fills(void **state)
{
	(void)state;
	double height = 0;
	spike(THREADS "outstanding.loads_per_warp = 4 count\nload.global.issue = 2 cycles\n", 1, 0, 300, &height);
	assert_true(height < 100);
}

/* The same on a GPU that is shipped, whose memory is what its file says. Everything misses, and the rise is at the step
 * that fills the table. */
static uint32_t spike_of(const char *gpu, const char *header, uint32_t n, uint32_t most, double *height)
{
	struct machine m = {0};
	struct err e = {0};
	struct str text;
	double lat[514], best = 0;
	uint32_t where = 0, count = 0;
	str_init(&text);
	str_addf(&text, "%s%s", header, loads[n - 1] + strlen(HEADER));
	if (gpu_sim.open(&m.g, gpu, 1, &e))
		fail_msg("%s", e.text);
	struct kernel_source src = {.name = "test", .entry = "k", .text = str_text(&text)};
	if (m.g->ops->load(m.g, &src, 1, &m.kernel, NULL, &e))
		fail_msg("%s", e.text);
	arena_init(&m.a);
	m.flush = true;
	run(&m, 1, 1, 0, 0);
	for (uint32_t t = 2; t <= most; t += 2)
		lat[count++] = run(&m, 1, t, 0, 0);
	machine_close(&m);
	str_free(&text);
	for (uint32_t k = 1; k < count; k++)
		if (lat[k] - lat[k - 1] > best) {
			best = lat[k] - lat[k - 1];
			where = 2 * k;
		}
	*height = best;
	return where;
}

static void the_m2070_shows_its_table(void **state)
{
	(void)state;
	static const char fermi[] = ".version 2.0\n.target sm_20\n.address_size 64\n";
	double height;
	assert_int_equal(spike_of("m2070", fermi, 1, 200, &height), 128); /* Figure 3 */
	assert_true(height > 200);
	assert_int_equal(spike_of("m2070", fermi, 2, 128, &height), 64); /* Figure 4 */
	assert_true(height > 200);
}

static void the_k20_shows_its_table(void **state)
{
	(void)state;
	static const char kepler[] = ".version 3.2\n.target sm_35\n.address_size 64\n";
	double height;
	/* Low, as the first answer is hardly later than the last line of 44 instructions. */
	assert_int_equal(spike_of("k20", kepler, 2, 800, &height), 22 * 32); /* Figure 9 */
	assert_true(height > 15);
	assert_int_equal(spike_of("k20", kepler, 3, 600, &height), 14 * 32); /* Figure 10 */
	assert_true(height > 15);
	spike_of("k20", kepler, 1, 1024, &height); /* Figure 8: 32 warps do not fill it */
	assert_true(height < 10);
}

/* To the cycle: request k leaves two cycles after the one before it, and not before the entry of k - 4 is free. */
static void a_full_table_holds_up_the_pipe(void **state)
{
	(void)state;
	struct machine m;
	machine_open(&m,
		     THREADS "outstanding.loads_per_warp = 4 count\nload.global.issue = 2 cycles\n"
			     "outstanding.kind = mshr name\noutstanding.entries = 4 count\n",
		     "cache.global.l", loads[0]);
	uint32_t base = run(&m, 1, 1, 0, 0) - 600;
	for (uint32_t n = 2; n <= 32; n++) {
		uint64_t go[32], last = 0;
		for (uint32_t k = 0; k < n; k++) {
			go[k] = k ? go[k - 1] + 2 : 0;
			if (k >= 4 && go[k] < go[k - 4] + 600)
				go[k] = go[k - 4] + 600;
			last = go[k] + 600;
		}
		assert_int_equal(run(&m, 1, n, 0, 0), base + last);
	}
	machine_close(&m);
}

/* A request that waits for an entry has had its turn at the L1 meanwhile, and does not wait for both one after the other. */
static void an_entry_is_waited_for_while_the_port_is(void **state)
{
	(void)state;
	struct machine m;
	machine_open(&m,
		     "memory.global.bandwidth = 100000 bytes/clk\n"
		     "memory.global.latency = 600 cycles\ncache.global.levels = 1 count\n"
		     "cache.global.l1.interval = 7 cycles\nload.global.issue = 2 cycles\n"
		     "outstanding.kind = mshr name\noutstanding.entries = 16 count\n",
		     "cache.global.l2", loads[0]);
	m.flush = true;
	run(&m, 1, 1, 0, 0);
	uint32_t base = run(&m, 1, 1, 0, 0) - 600;
	for (uint32_t n = 2; n <= 32; n++) {
		uint64_t go[32], last = 0;
		for (uint32_t k = 0; k < n; k++) {
			go[k] = 7 * (uint64_t)k;
			if (k >= 16 && go[k] < go[k - 16] + 600)
				go[k] = go[k - 16] + 600;
			last = go[k] + 600;
		}
		assert_int_equal(run(&m, 1, n, 0, 0), base + last);
	}
	machine_close(&m);
}

/* ---- atomics ---- */

/* Each thread adds at in + (t * y); cycles from the first thread's issue to its block's last result. */
static const char atomic_text[] = HEADER
    ".visible .entry k(.param .u64 out, .param .u64 in, .param .u32 x, .param .u32 y)\n{\n"
    "	.reg .pred %p;\n	.reg .b32 %t, %y, %a, %b, %r;\n	.reg .b64 %o, %i, %d;\n"
    "	ld.param.u64 %o, [out];\n	ld.param.u64 %i, [in];\n	ld.param.u32 %y, [y];\n"
    "	mov.u32 %t, %tid.x;\n	mul.wide.u32 %d, %t, %y;\n	add.u64 %i, %i, %d;\n"
    "	atom.global.add.u32 %r, [%i + 65536], 1;\n	add.u32 %r, %r, 1;\n	bar.sync 0;\n	mov.u32 %a, %clock;\n"
    "	atom.global.add.u32 %r, [%i], 1;\n	add.u32 %r, %r, 1;\n	bar.sync 0;\n	mov.u32 %b, %clock;\n"
    "	sub.u32 %b, %b, %a;\n	setp.ne.u32 %p, %t, 0;\n	@%p bra E;\n	st.global.u32 [%o], %b;\n"
    "E:\n	st.global.u32 [%o + 4], %r;\n	ret;\n}\n";

#define ATOMICS                                                                                                        \
	THREADS "load.global.issue = 1 cycles\natomic.latency = 700 cycles\natomic.same_address = 50 cycles\n"         \
		"atomic.distinct = 3 cycles\natomic.issue = 2 cycles\n"

static void atomics_cost_what_the_file_says(void **state)
{
	(void)state;
	struct machine m;
	machine_open(&m, ATOMICS, "cache.global.l", atomic_text);
	uint32_t base = run(&m, 1, 1, 0, 4) - 700;
	/* One address: the last of n begins (n - 1) * 50 after the first. */
	for (uint32_t n = 2; n <= 32; n += 5)
		assert_int_equal(run(&m, 1, n, 0, 0), base + 700 + 50 * (n - 1));
	/* Addresses of their own: the unit takes one in three cycles; the pipe sends one in two. */
	for (uint32_t n = 2; n <= 32; n += 5)
		assert_int_equal(run(&m, 1, n, 0, 4), base + 700 + 3 * (n - 1));
	/* Two blocks sit on two SMs, and their one address is one: the second waits for the 32 of the first. */
	run(&m, 1, 32, 0, 0);
	uint64_t alone = sim_result(m.g)->cycles;
	run(&m, 2, 32, 0, 0);
	assert_int_equal(sim_result(m.g)->cycles - alone, 50 * 32);
	machine_close(&m);
	/* Four partitions of 128 bytes take four at once: 32 addresses 128 bytes apart, the pipe is the limit. */
	machine_open(&m, ATOMICS "memory.partitions = 4 count\nmemory.partition_stride = 128 bytes\n", "cache.global.l",
		     atomic_text);
	assert_int_equal(run(&m, 1, 32, 0, 128), base + 700 + 2 * 31);
	machine_close(&m);
	/* One operation may have its own numbers. */
	machine_open(&m, ATOMICS "atomic.add.same_address = 10 cycles\natomic.cas.same_address = 99 cycles\n",
		     "cache.global.l", atomic_text);
	assert_int_equal(run(&m, 1, 32, 0, 0), base + 700 + 10 * 31);
	machine_close(&m);
}

static void atomics_go_as_loads_where_nothing_is_said(void **state)
{
	(void)state;
	struct machine m;
	machine_open(&m, THREADS "load.global.issue = 1 cycles\n", "cache.global.l", atomic_text);
	uint32_t base = run(&m, 1, 1, 0, 4) - 600;
	assert_int_equal(run(&m, 1, 32, 0, 0), base + 600 + 31);
	machine_close(&m);
}

/* ---- partitions ---- */

/* Lines of one partition queue, lines of all go at once (partition camping). */
static void strides_that_meet_one_partition_are_slow(void **state)
{
	(void)state;
	struct machine m;
	static const char lines[] = THREADS "load.global.issue = 1 cycles\nmemory.global.bandwidth = 32 bytes/clk\n"
					    "memory.partitions = 8 count\nmemory.partition_stride = 256 bytes\n";
	/* The last of equal lines counts: the bandwidth of THREADS is replaced by dropping its line. */
	char text[sizeof lines];
	const char *cut = strstr(lines, "memory.global.bandwidth = 100000");
	snprintf(text, sizeof text, "%.*s%s", (int)(cut - lines), lines, strchr(cut, '\n') + 1);
	machine_open(&m, text, "cache.global.l", atomic_text);
	uint32_t base = run(&m, 1, 1, 0, 4) - 600;
	/* 32 bytes a piece: 8 cycles on one partition's bus; 32 pieces on one, or 4 on each of 8. */
	assert_int_equal(run(&m, 1, 32, 0, 2048), base + 600 + 31 * 8);
	assert_int_equal(run(&m, 1, 32, 0, 256), base + 600 + 31);
	machine_close(&m);
}

/* ---- the host ---- */

static double elapsed(struct machine *m, enum launch_span timed, uint64_t bytes)
{
	struct launch l = {.entry = "k", .grid = {1, 1, 1}, .block = {1, 1, 1}, .buffer_count = 2, .arg_count = 4};
	struct sample s;
	struct err e = {0};
	l.timed = timed;
	l.buffers[0] = (struct launch_buffer){.bytes = bytes, .output = true, .output_words = 1000};
	l.buffers[1] = (struct launch_buffer){.bytes = 1u << 20};
	l.args[0] = (struct launch_arg){.kind = ARG_BUFFER};
	l.args[1] = (struct launch_arg){.kind = ARG_BUFFER, .buffer = 1};
	l.args[2] = l.args[3] = (struct launch_arg){.kind = ARG_U32, .bits = 0};
	if (m->g->ops->run(m->g, m->kernel, &l, &s, &e))
		fail_msg("%s", e.text);
	assert_int_equal(s.outcome, OUTCOME_OK);
	double ms = s.elapsed_ms;
	sample_free(&s);
	return ms;
}

static void copies_and_launches_take_the_host_time(void **state)
{
	(void)state;
	struct machine m;
	machine_open(&m,
		     "host.h2d.bandwidth = 2 GB/s\nhost.d2h.bandwidth = 500 MB/s\nhost.copy_latency = 8 us\n"
		     "host.launch_latency = 3 us\n",
		     NULL, loads[0]);
	assert_float_equal(elapsed(&m, SPAN_COPY_IN, 4u << 20), 0.008 + (4u << 20) / 2e6, 1e-9);
	assert_float_equal(elapsed(&m, SPAN_COPY_OUT, 4u << 20), 0.008 + 4000 / 5e5, 1e-9);
	double kernel = elapsed(&m, SPAN_KERNEL, 4u << 20);
	assert_float_equal(kernel, 0.003 + (double)sim_result(m.g)->cycles * 1e-6, 1e-9); /* at 1 GHz */
	machine_close(&m);
	machine_open(&m, "barrier.latency = 10 cycles\n", NULL, loads[0]);
	assert_float_equal(elapsed(&m, SPAN_COPY_IN, 4u << 20), 0, 1e-12);
	assert_float_equal(elapsed(&m, SPAN_KERNEL, 4096), (double)sim_result(m.g)->cycles * 1e-6, 1e-9);
	machine_close(&m);
}

/* Milliseconds of copies, by both timers. */
static double copying(struct machine *m, struct launch_copy copy)
{
	struct launch l = {.entry = "k", .grid = {1, 1, 1}, .block = {1, 1, 1}, .buffer_count = 2, .arg_count = 4};
	struct sample s;
	struct err e = {0};
	l.timed = SPAN_COPIES;
	l.copy = copy;
	l.buffers[0] = l.buffers[1] = (struct launch_buffer){.bytes = 1u << 20};
	l.args[0] = (struct launch_arg){.kind = ARG_BUFFER};
	l.args[1] = (struct launch_arg){.kind = ARG_BUFFER, .buffer = 1};
	l.args[2] = l.args[3] = (struct launch_arg){.kind = ARG_U32, .bits = 0};
	if (m->g->ops->run(m->g, m->kernel, &l, &s, &e))
		fail_msg("%s", e.text);
	double ms = -1;
	if (s.outcome == OUTCOME_OK) {
		assert_int_equal(s.words_per_repeat, COPY_WORDS);
		assert_int_equal(s.words[0], s.words[2]);
		ms = 1e-6 * s.words[0];
	}
	sample_free(&s);
	return ms;
}

static void copies_share_the_link_and_wait_for_kernels(void **state)
{
	static const char host[] =
	    "host.h2d.bandwidth = 2 GB/s\nhost.d2h.bandwidth = 1 GB/s\nhost.copy_latency = 8 us\n"
	    "host.h2d.pageable_bandwidth = 500 MB/s\nhost.both.bandwidth = 1.6 GB/s\n"
	    "host.launch_latency = 900 us\n";
	const uint64_t mb = 1000000;
	char waits[512];
	struct machine m;
	(void)state;
	machine_open(&m, host, NULL, loads[0]);
	assert_float_equal(copying(&m, (struct launch_copy){.in = mb, .pinned = true}), 0.508, 1e-5);
	assert_float_equal(copying(&m, (struct launch_copy){.in = mb}), 2.008, 1e-5);
	assert_float_equal(copying(&m, (struct launch_copy){.out = mb}), 1.008, 1e-5);
	assert_float_equal(copying(&m, (struct launch_copy){.in = mb, .out = mb, .pinned = true}), 1.258, 1e-5);
	const double beside = copying(&m, (struct launch_copy){.out = mb, .pinned = true, .beside = true});
	assert_float_equal(beside, 1.008, 1e-5);
	/* no more than there is memory for */
	assert_true(copying(&m, (struct launch_copy){.in = 1ull << 40, .pinned = true}) < 0);
	machine_close(&m);
	snprintf(waits, sizeof waits, "%shost.overlap = no yes/no\n", host);
	machine_open(&m, waits, NULL, loads[0]);
	assert_true(copying(&m, (struct launch_copy){.out = mb, .pinned = true, .beside = true}) > 1.9);
	machine_close(&m);
}

static void launches_wait_for_each_other(void **state)
{
	struct launch l = {.entry = "k", .grid = {1, 1, 1}, .block = {1, 1, 1}, .buffer_count = 2, .arg_count = 4};
	struct machine m;
	struct sample s;
	struct err e = {0};
	(void)state;
	machine_open(&m, "host.launch_latency = 300 us\nhost.launch_interval = 200 us\n", NULL, loads[0]);
	l.timed = SPAN_LAUNCHES;
	l.buffers[0] = l.buffers[1] = (struct launch_buffer){.bytes = 1u << 20};
	l.args[0] = (struct launch_arg){.kind = ARG_BUFFER};
	l.args[1] = (struct launch_arg){.kind = ARG_BUFFER, .buffer = 1};
	l.args[2] = l.args[3] = (struct launch_arg){.kind = ARG_U32, .bits = 0};
	for (l.repeats = 1; l.repeats <= 9; l.repeats += 8) {
		if (m.g->ops->run(m.g, m.kernel, &l, &s, &e))
			fail_msg("%s", e.text);
		const double ms = 0.3 + 0.2 * (l.repeats - 1) + (double)sim_result(m.g)->cycles * 1e-6;
		assert_float_equal(s.elapsed_ms, ms, 1e-9);
		sample_free(&s);
	}
	l.timed = SPAN_COPIES; /* and there is no copy */
	assert_int_equal(m.g->ops->run(m.g, m.kernel, &l, &s, &e), -EINVAL);
	machine_close(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(an_mshr_fills_with_lines),
	    cmocka_unit_test(a_pending_request_table_fills_with_instructions),
	    cmocka_unit_test(without_a_table_nothing_fills),
	    cmocka_unit_test(the_m2070_shows_its_table),
	    cmocka_unit_test(the_k20_shows_its_table),
	    cmocka_unit_test(a_full_table_holds_up_the_pipe),
	    cmocka_unit_test(an_entry_is_waited_for_while_the_port_is),
	    cmocka_unit_test(atomics_cost_what_the_file_says),
	    cmocka_unit_test(atomics_go_as_loads_where_nothing_is_said),
	    cmocka_unit_test(copies_and_launches_take_the_host_time),
	    cmocka_unit_test(copies_share_the_link_and_wait_for_kernels),
	    cmocka_unit_test(launches_wait_for_each_other),
	    cmocka_unit_test(strides_that_meet_one_partition_are_slow),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
