/* The rates of the simulator, in warp instructions a second, beside the floors that it has to keep on one core. It says what
 * limits each, and how far it is below bare arithmetic on this machine. Kernels that fill the GPU also run with two host
 * threads. The memory that the largest GPU takes beyond its buffers is told, too.
 *
 * A benchmark: it fails only when a kernel does not run, or runs otherwise with two threads. */
#include "base/arena.h"
#include "gpu/sim/func/func_clones.h"
#include "gpu/sim/func/func_run.h"
#include "gpu/sim/sim.h"
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define HEADER ".version 6.0\n.target sm_70\n.address_size 64\n"
#define X4(a)  a a a a
#define X16(a) X4(X4(a))

static const char chase_text[] = HEADER
    ".visible .entry k(.param .u64 out, .param .u64 ring, .param .u32 n)\n{\n"
    "	.reg .pred %p;\n	.reg .b32 %i, %n;\n	.reg .b64 %a, %o;\n"
    "	ld.param.u64 %o, [out];\n	ld.param.u64 %a, [ring];\n	ld.param.u32 %n, [n];\n	mov.u32 %i, 0;\n"
    "L:\n" X16(
	"	ld.global.u64 %a, [%a];\n") "	add.u32 %i, %i, 1;\n	setp.lt.u32 %p, %i, %n;\n	@%p bra L;\n"
					    "	st.global.u64 [%o], %a;\n	ret;\n}\n";

static const char fma_text[] = HEADER
    ".visible .entry k(.param .u64 out, .param .u32 n)\n{\n"
    "	.reg .pred %p;\n	.reg .b32 %i, %n, %t;\n	.reg .f32 %x, %y;\n	.reg .b64 %o;\n"
    "	ld.param.u64 %o, [out];\n	ld.param.u32 %n, [n];\n	mov.u32 %t, %tid.x;\n	cvt.rn.f32.u32 %x, %t;\n"
    "	mul.f32 %y, %x, 0f3DCCCCCD;\n	mov.u32 %i, 0;\n"
    "L:\n" X16("	fma.rn.f32 %x, %x, %y, %y;\n") "	add.u32 %i, %i, 1;\n	setp.lt.u32 %p, %i, "
						       "%n;\n	@%p bra L;\n"
						       "	st.global.f32 [%o], %x;\n	ret;\n}\n";

static const char saxpy_text[] =
    HEADER ".visible .entry k(.param .u64 out, .param .u64 xs, .param .u64 ys)\n{\n"
	   "	.reg .b32 %t, %b, %n;\n	.reg .f32 %x, %y;\n	.reg .b64 %o, %px, %py;\n"
	   "	ld.param.u64 %px, [xs];\n	ld.param.u64 %py, [ys];\n"
	   "	mov.u32 %b, %ctaid.x;\n	mov.u32 %n, %ntid.x;\n	mov.u32 %t, %tid.x;\n	mad.lo.u32 %t, %b, %n, %t;\n"
	   "	mul.wide.u32 %o, %t, 4;\n	add.u64 %px, %px, %o;\n	add.u64 %py, %py, %o;\n"
	   "	ld.global.f32 %x, [%px];\n	ld.global.f32 %y, [%py];\n	fma.rn.f32 %y, %x, 0f40000000, %y;\n"
	   "	st.global.f32 [%py], %y;\n	ret;\n}\n";

static const char gather_text[] = HEADER
    ".visible .entry k(.param .u64 out, .param .u64 xs, .param .u32 n)\n{\n"
    "	.reg .pred %p;\n	.reg .b32 %t, %b, %i, %n, %s;\n	.reg .b64 %o, %px, %q;\n"
    "	ld.param.u64 %px, [xs];\n	ld.param.u32 %n, [n];\n"
    "	mov.u32 %b, %ctaid.x;\n	mov.u32 %s, %ntid.x;\n	mov.u32 %t, %tid.x;\n	mad.lo.u32 %t, %b, %s, %t;\n	"
    "mov.u32 %i, 0;\n"
    "L:\n	mad.lo.u32 %t, %t, 1664525, 1013904223;\n	shr.u32 %s, %t, 10;\n	and.b32 %s, %s, 4194300;\n"
    "	cvt.u64.u32 %o, %s;\n	add.u64 %q, %px, %o;\n	ld.global.u32 %s, [%q];\n	add.u32 %t, %t, %s;\n"
    "	add.u32 %i, %i, 1;\n	setp.lt.u32 %p, %i, %n;\n	@%p bra L;\n	ret;\n}\n";

/* Every thread writes and reads n words all over 64 MB, the first at its own place, so that no page stays untouched. */
static const char spread_text[] =
    HEADER ".visible .entry k(.param .u64 out, .param .u64 xs, .param .u32 n)\n{\n"
	   "	.reg .pred %p;\n	.reg .b32 %t, %b, %i, %n, %s;\n	.reg .b64 %o, %px, %q;\n"
	   "	ld.param.u64 %px, [xs];\n	ld.param.u32 %n, [n];\n"
	   "	mov.u32 %b, %ctaid.x;\n	mov.u32 %s, %ntid.x;\n	mov.u32 %t, %tid.x;\n	mad.lo.u32 %t, %b, %s, %t;\n"
	   "	mov.u32 %i, 0;\n	shl.b32 %s, %t, 8;\n"
	   "L:\n	and.b32 %s, %s, 67108860;\n	cvt.u64.u32 %o, %s;\n	add.u64 %q, %px, %o;\n"
	   "	st.global.u32 [%q], %i;\n	ld.global.u32 %s, [%q + 4];\n	add.u32 %t, %t, %s;\n"
	   "	mad.lo.u32 %t, %t, 1664525, 1013904223;\n	shr.u32 %s, %t, 4;\n"
	   "	add.u32 %i, %i, 1;\n	setp.lt.u32 %p, %i, %n;\n	@%p bra L;\n	ret;\n}\n";

static double seconds(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

#define LANES	32
#define RECORDS 128 /* more than any of these kernels has */
#define ROWS	64  /* registers of a warp, in memory */

/* A multiplication and an addition of 32 lanes: no simulated instruction can take less. */
CLONES VECTORS static void bare(float *x, const float *y, const float *z)
{
	for (unsigned l = 0; l < LANES; l++)
		x[l] = y[l] * z[l] + x[l];
}

/* M of them a second: the ceiling of whatever computes on every lane. */
static double ceiling(void)
{
	static _Alignas(64) float row[ROWS][LANES];
	const unsigned turns = 40000000;
	for (unsigned k = 0; k < ROWS * LANES; k++)
		row[k / LANES][k % LANES] = 1.0f / (float)(k + 1);
	double start = seconds(CLOCK_PROCESS_CPUTIME_ID);
	for (unsigned n = 0; n < turns; n++)
		bare(row[n % ROWS], row[(n + 17) % ROWS], row[(n + 41) % ROWS]);
	return turns / (seconds(CLOCK_PROCESS_CPUTIME_ID) - start) / 1e6;
}

/* limit: what a profile says that most of the time goes to. */
static void print(const char *what, double instructions, double s, double floor, const char *limit)
{
	static double top; /* measured once, when the first rate is printed */
	double rate = instructions / s / 1e6;
	if (top == 0)
		printf("%-44s %8.2f M a second\n", "bare arithmetic of 32 lanes", top = ceiling());
	printf("%-44s %8.2f M warp instructions/s  floor %5.1f M  %-6s  %.3g times below bare arithmetic: %s\n", what,
	       rate, floor, rate >= floor ? "kept" : "MISSED", top / rate, limit);
}

struct timing {
	double seconds; /* of the processor with one thread, of the wall with more */
	double instructions;
	uint64_t cycles;
};

static int run_with(const char *what, const char *gpu, const char *text, struct launch *l, bool general,
		    uint32_t threads, struct time_stats *counts, struct timing *t)
{
	struct err e = {0};
	struct gpu *g;
	struct sample s = {0};
	struct kernel_source src = {.name = what, .entry = "k", .text = text};
	clockid_t clock = threads > 1 ? CLOCK_MONOTONIC : CLOCK_PROCESS_CPUTIME_ID;
	uint32_t id;
	int r = gpu_sim.open(&g, gpu, 1, &e);
	if (r) {
		printf("%s: %s\n", what, e.text);
		return 1;
	}
	l->time_limit_ms = 120000;
	sim_general(g, general);
	sim_threads(g, threads);
	sim_stats(g, counts);
	r = g->ops->load(g, &src, 1, &id, NULL, &e);
	double start = seconds(clock);
	if (!r)
		r = g->ops->run(g, id, l, &s, &e);
	t->seconds = seconds(clock) - start;
	if (r || s.outcome != OUTCOME_OK) {
		printf("%s: %s\n", what, r ? e.text : s.message);
		r = 1;
	}
	t->instructions = (double)sim_result(g)->instructions * (l->repeats ? l->repeats : 1);
	t->cycles = sim_result(g)->cycles;
	sample_free(&s);
	g->ops->close(g);
	return r;
}

static int run(const char *what, const char *gpu, const char *text, struct launch *l, bool general, uint32_t threads,
	       struct timing *t)
{
	return run_with(what, gpu, text, l, general, threads, NULL, t);
}

/* What counting adds to the time of one thread; both take turns, and the best of each counts. */
static int report_counting(const char *what, const char *text, struct launch *l)
{
	double plain = 1e9, counted = 1e9;
	for (int k = 0; k < 5; k++) {
		struct time_count record[RECORDS] = {0};
		struct time_stats counts = {.record = record};
		struct timing t;
		if (run_with(what, "v100", text, l, false, 1, NULL, &t))
			return 1;
		plain = t.seconds < plain ? t.seconds : plain;
		if (run_with(what, "v100", text, l, false, 1, &counts, &t))
			return 1;
		counted = t.seconds < counted ? t.seconds : counted;
	}
	printf("%-44s %8.1f %% more time with statistics  limit 10 %%  %s\n", what, 100 * (counted / plain - 1),
	       counted / plain <= 1.1 ? "kept" : "MISSED");
	return 0;
}

static int report(const char *what, const char *text, struct launch *l, double floor, bool general, const char *limit)
{
	struct timing t;
	if (run(what, "v100", text, l, general, 1, &t))
		return 1;
	print(what, t.instructions, t.seconds, floor, limit);
	return 0;
}

/* One thread and two take turns, and the best of each counts: whatever else the machine does falls on both. */
static int report_pair(const char *what, const char *text, struct launch *l, double floor, const char *limit)
{
	struct timing one = {.seconds = 1e9}, two = {.seconds = 1e9}, t;
	for (int k = 0; k < 3; k++) {
		if (run(what, "v100", text, l, false, 1, &t))
			return 1;
		one = t.seconds < one.seconds ? t : one;
		if (run(what, "v100", text, l, false, 2, &t))
			return 1;
		two = t.seconds < two.seconds ? t : two;
	}
	print(what, one.instructions, one.seconds, floor, limit);
	printf("%-44s %8.2f M warp instructions/s  ratio %5.2f    %s\n", "  with two host threads",
	       two.instructions / two.seconds / 1e6, one.seconds / two.seconds,
	       one.seconds / two.seconds >= 1.6 ? "kept" : "MISSED");
	if (one.cycles == two.cycles)
		return 0;
	printf("%s: %llu cycles with one thread, %llu with two\n", what, (unsigned long long)one.cycles,
	       (unsigned long long)two.cycles);
	return 1;
}

static void out_buffer(struct launch *l)
{
	l->buffers[l->buffer_count] = (struct launch_buffer){.bytes = 256, .output = true, .output_words = 2};
	l->args[l->arg_count++] = (struct launch_arg){.kind = ARG_BUFFER, .buffer = l->buffer_count++};
}

static void buffer(struct launch *l, uint64_t bytes)
{
	l->buffers[l->buffer_count] = (struct launch_buffer){.bytes = bytes};
	l->args[l->arg_count++] = (struct launch_arg){.kind = ARG_BUFFER, .buffer = l->buffer_count++};
}

static void count(struct launch *l, uint32_t n)
{
	l->args[l->arg_count++] = (struct launch_arg){.kind = ARG_U32, .bits = n};
}

static struct launch shape(uint32_t grid, uint32_t block)
{
	struct launch l = {.entry = "k", .grid = {grid, 1, 1}, .block = {block, 1, 1}};
	out_buffer(&l);
	return l;
}

static int chase(double floor, bool general)
{
	uint64_t ring[256];
	struct launch l = shape(1, 1);
	for (uint64_t k = 0; k < 256; k++)
		ring[k] = k * 97 % 256 * 64;
	buffer(&l, 16384);
	l.buffers[1].ring = ring;
	l.buffers[1].ring_count = 256;
	l.buffers[1].ring_word = 8;
	count(&l, 1000000);
	return report(
	    general ? "pointer chase, one thread, general loop" : "pointer chase, one thread, cache hits", chase_text,
	    &l, floor, general,
	    general ? "finding the one warp that can issue, besides"
		    : "one step after another: record, scoreboard, the tag where the line was last, one lane's load");
}

static int functional(double floor)
{
	struct arena a;
	struct ptx_module *m;
	struct func_program *p;
	struct func_outcome o = {0};
	struct err e = {0};
	struct func_memory memory = {0};
	struct func_target t = {.cc = 70};
	struct {
		uint64_t out;
		uint32_t n;
	} params = {FUNC_GLOBAL_BASE, 50000};
	arena_init(&a);
	int r = ptx_parse(&m, &a, "functional", fma_text, strlen(fma_text), &e);
	if (!r)
		r = func_decode(&p, &a, "functional", m, "k", &t, &e);
	if (!r)
		r = func_memory_add(&memory, FUNC_GLOBAL_BASE, 256, NULL);
	double start = seconds(CLOCK_PROCESS_CPUTIME_ID);
	if (!r) {
		struct func_launch l = {.program = p,
					.grid = {1, 1, 1},
					.block = {512, 1, 1},
					.warp_size = 32,
					.sm_count = 1,
					.params = (const uint8_t *)&params,
					.memory = &memory};
		r = func_run(&l, &(struct func_how){.limit = 0}, &o);
	}
	if (r || o.end != FUNC_DONE)
		printf("functional: %s\n", r ? e.text : o.message);
	else
		print("functional only, FMA, 16 warps", (double)o.instructions,
		      seconds(CLOCK_PROCESS_CPUTIME_ID) - start, floor,
		      "the arithmetic, and one call for each instruction");
	func_memory_free(&memory);
	arena_free(&a);
	return r || o.end != FUNC_DONE;
}

static int statistics(void)
{
	uint64_t ring[256];
	struct launch chain = shape(1, 32), blocks = shape(160, 512), near = shape(1024, 256), far = shape(160, 256),
		      one = shape(1, 1);
	for (uint64_t k = 0; k < 256; k++)
		ring[k] = k * 97 % 256 * 64;
	buffer(&one, 16384);
	one.buffers[1].ring = ring;
	one.buffers[1].ring_count = 256;
	one.buffers[1].ring_word = 8;
	count(&one, 300000);
	count(&chain, 300000);
	count(&blocks, 30);
	buffer(&near, 1u << 20);
	buffer(&near, 1u << 20);
	near.repeats = 4;
	buffer(&far, 4u << 20);
	count(&far, 20);
	return report_counting("pointer chase, one thread", chase_text, &one) |
	       report_counting("FMA chain, one warp", fma_text, &chain) |
	       report_counting("FMA, 160 blocks of 512 threads", fma_text, &blocks) |
	       report_counting("saxpy, 262,144 threads", saxpy_text, &near) |
	       report_counting("divergent gather, 40,960 threads", gather_text, &far);
}

/* Peak resident bytes of this process. */
static double peak(void)
{
	struct rusage u;
	getrusage(RUSAGE_SELF, &u);
	return (double)u.ru_maxrss * 1024;
}

/* Runs in a process of its own, as a peak never falls. Every SM of the shipped GPU with the most of them is full of
 * warps. Their loads go all over a buffer, so that every cache is in use. */
static void memory_child(const char *name, uint32_t sms)
{
	const uint64_t bytes = 64u << 20;
	struct launch l = shape(sms * 8, 256);
	struct timing t;
	double before = peak();
	buffer(&l, bytes + 4096);
	count(&l, 4);
	if (!run("memory", name, spread_text, &l, false, 2, &t))
		printf("%-44s %8.1f MB beyond the simulated buffers, limit 100 MB  %s\n", name,
		       (peak() - before - (double)bytes) / 1e6,
		       peak() - before - (double)bytes < 100e6 ? "kept" : "MISSED");
	fflush(stdout);
}

static int memory(void)
{
	struct device_list list = {0};
	struct err e = {0};
	const struct device_info *most = NULL;
	if (gpu_sim.list(&list, &e))
		return 1;
	for (size_t k = 0; k < list.count; k++)
		if (!most || list.items[k].sm_count > most->sm_count)
			most = &list.items[k];
	fflush(stdout);
	pid_t child = most ? fork() : -1;
	if (!child) {
		memory_child(strchr(most->spec, ':') + 1, most->sm_count);
		_exit(0);
	}
	int status = 1;
	if (child > 0)
		waitpid(child, &status, 0);
	mem_free(list.items);
	return status != 0;
}

/* With a word, only the rates whose name holds it. */
int main(int argc, char **argv)
{
	const char *only = argc > 1 ? argv[1] : "";
	int bad = 0;
	if (strstr("memory", only)) /* first: what others have left free would not be counted */
		bad |= memory();
	if (strstr("chase solo", only))
		bad |= chase(20, false);
	if (strstr("chase general", only))
		bad |= chase(5, true);
	if (strstr("fma chain", only)) {
		struct launch l = shape(1, 32);
		count(&l, 500000);
		bad |= report("FMA chain, one warp", fma_text, &l, 5, false, "decoding the record, and the scoreboard");
	}
	if (strstr("fma blocks", only)) {
		struct launch l = shape(160, 512);
		count(&l, 100);
		bad |= report_pair("FMA, 160 blocks of 512 threads", fma_text, &l, 5,
				   "the scheduler's look and the scoreboard; a scheduler runs ahead until a warp "
				   "fetches its next block");
	}
	if (strstr("saxpy", only)) {
		struct launch l = shape(1024, 256);
		buffer(&l, 1u << 20);
		buffer(&l, 1u << 20);
		l.repeats = 8; /* one launch is too short to time */
		bad |= report_pair(
		    "saxpy, 262,144 threads", saxpy_text, &l, 2,
		    "the state of 5120 warps, which the host's second cache does not hold; then 8 sectors a load");
	}
	if (strstr("gather", only)) {
		struct launch l = shape(160, 256);
		buffer(&l, 4u << 20);
		count(&l, 40);
		bad |= report_pair("divergent gather, 40,960 threads", gather_text, &l, 0.3,
				   "32 walks an instruction, through tags that the host has to fetch");
	}
	if (strstr("statistics", only))
		bad |= statistics();
	if (strstr("functional", only))
		bad |= functional(30);
	return bad;
}
