/* The OpenCL backend on the first device that there is, a CPU too. Skipped where no driver is installed. */
#include "base/arena.h"
#include "base/embed.h"
#include "base/str.h"
#include "gpu/gpu.h"
#include "gpu/opencl/opencl_known.h"
#include "kernel/kernel.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#define SKIPPED 77
#define WORDS	64

static const char add_text[] =
    "kernel void add(global uint *out, global const uint *in, uint k)\n{\n"
    "	uint i = get_global_id(0);\n	out[i] += in[i] * k + (uint)get_local_size(0);\n}\n";
static const char ring_text[] = "kernel void ring(global uint *out, global const uint *next, uint n)\n{\n"
				"	uint at = 0;\n	for (uint i = 0; i < n; i++) {\n		out[i] = at;\n"
				"		at = next[at];\n	}\n}\n";
static const char spaces_text[] =
    "kernel void spaces(global uint *out, constant uint *table, local uint *room)\n{\n"
    "	uint l = get_local_id(0), n = get_local_size(0);\n	room[l] = table[l] + 1;\n"
    "	barrier(CLK_LOCAL_MEM_FENCE);\n	out[get_global_id(0)] = room[n - 1 - l];\n}\n";
static const char endless_text[] =
    "kernel void endless(global volatile uint *out)\n{\n	while (!out[1])\n		out[0]++;\n}\n";

static struct gpu *open_first(void)
{
	struct gpu *g;
	struct err e = {0};
	if (gpu_opencl.open(&g, "0.0", 1, &e))
		fail_msg("%s", e.text);
	return g;
}

static uint32_t load(struct gpu *g, const char *entry, const char *text)
{
	struct kernel_source src = {.name = entry, .entry = entry, .text = text};
	struct native_info n;
	struct err e = {0};
	uint32_t id;
	if (g->ops->load(g, &src, 1, &id, &n, &e))
		fail_msg("%s", e.text);
	assert_true(n.fingerprint || n.problem[0]);
	return id;
}

static struct launch launch_of(const char *entry, uint32_t grid, uint32_t block)
{
	struct launch l = {
	    .label = "test", .grid = {grid, 1, 1}, .block = {block, 1, 1}, .buffer_count = 1, .arg_count = 1};
	snprintf(l.entry, sizeof l.entry, "%s", entry);
	l.buffers[0] = (struct launch_buffer){.bytes = WORDS * 4, .output = true, .output_words = WORDS};
	l.args[0].kind = ARG_BUFFER;
	return l;
}

static struct sample run(struct gpu *g, uint32_t id, const struct launch *l)
{
	struct sample out;
	struct err e = {0};
	if (g->ops->run(g, id, l, &out, &e))
		fail_msg("%s", e.text);
	return out;
}

static void the_device_is_described(void **state)
{
	(void)state;
	struct device_list list = {0};
	struct err e = {0};
	assert_int_equal(gpu_opencl.list(&list, &e), 0);
	assert_true(list.count >= 1);
	const struct device_info *d = &list.items[0];
	assert_string_equal(d->spec, "opencl:0.0");
	assert_string_equal(d->dialect, "cl");
	assert_true(d->name[0] && d->driver[0] && d->sm_count && d->warp_size && d->max_threads_per_block &&
		    d->memory_bytes);
	mem_free(list.items);
}

/* Content before each launch, every repeat's words, numbers as arguments, and time. */
static void a_launch_computes(void **state)
{
	(void)state;
	struct gpu *g = open_first();
	uint32_t in[WORDS], id = load(g, "add", add_text);
	struct launch l = launch_of("add", WORDS / 16, 16);
	for (uint32_t i = 0; i < WORDS; i++)
		in[i] = i;
	l.buffers[0].init = in;
	l.buffers[0].init_bytes = sizeof in / 2;
	l.buffers[1] = (struct launch_buffer){.bytes = sizeof in, .init = in, .init_bytes = sizeof in};
	l.buffer_count = 2;
	l.args[1] = (struct launch_arg){.kind = ARG_BUFFER, .buffer = 1};
	l.args[2] = (struct launch_arg){.kind = ARG_U32, .bits = 3};
	l.arg_count = 3;
	l.repeats = 3;
	l.warmups = 1;
	for (unsigned span = 0; span < 3; span++) {
		static const enum launch_span spans[] = {SPAN_KERNEL, SPAN_COPY_IN, SPAN_COPY_OUT};
		l.timed = spans[span];
		l.flush = span == 1;
		struct sample out = run(g, id, &l);
		assert_int_equal(out.outcome, OUTCOME_OK);
		assert_int_equal(out.repeats, 3);
		assert_true(out.elapsed_ms >= 0 && out.elapsed_ms < 10000);
		for (uint32_t r = 0; r < 3; r++)
			for (uint32_t i = 0; i < WORDS; i++)
				assert_int_equal(out.words[r * WORDS + i], (i < WORDS / 2 ? i : 0) + 3 * i + 16);
		sample_free(&out);
	}
	l.timed = SPAN_KERNELS;
	struct sample out = run(g, id, &l);
	assert_int_equal(out.outcome, OUTCOME_OK);
	assert_int_equal(out.words_per_repeat, WORDS + 2);
	for (uint32_t r = 0; r < 3; r++) {
		const uint32_t *w = out.words + (size_t)r * (WORDS + 2);
		assert_int_equal(w[WORDS - 1], 3 * (WORDS - 1) + 16);
		assert_true(w[WORDS] < 1000000000 && w[WORDS + 1] == 0);
	}
	sample_free(&out);
	l.buffers[0].output = false;
	l.timed = SPAN_COPIES;
	l.copy = (struct launch_copy){.in = 1 << 16, .out = 4, .beside = true};
	for (unsigned pinned = 0; pinned < 2; pinned++) {
		l.copy.pinned = pinned;
		out = run(g, id, &l);
		assert_int_equal(out.outcome, OUTCOME_OK);
		assert_int_equal(out.words_per_repeat, COPY_WORDS);
		assert_true(out.words[2] > 0);
		sample_free(&out);
	}
	g->ops->close(g);
}

/* The OpenCL C of the probes, once for each way in which it is used. */
static void kernels_of_probes_compile(void **state)
{
	(void)state;
	static const struct {
		const char *path, *entry;
		const char *param[8][2];
	} kernels[] = {
#define ROOF(class, reg, together)                                                                                     \
	{                                                                                                              \
		"probes/pipeline/roof.cl", "roof",                                                                     \
		{                                                                                                      \
			{"CLASS", class}, {"REG", reg}, {"CHAINS", "2"}, {"LINKS", "2"}, {"TOGETHER", together},       \
			{                                                                                              \
				"FMA", "mad"                                                                           \
			}                                                                                              \
		}                                                                                                      \
	}
	    ROOF("sp", "f32", "0"),
	    ROOF("sp", "f32", "1"),
	    ROOF("softsf", "f32", "1"),
	    ROOF("mad", "f32", "0"),
	    ROOF("int", "u32", "0"),
	    ROOF("sf", "f32", "0"),
	    ROOF("softsf", "f32", "0"),
#define WALK(space, bytes, pointer, cold, pauses)                                                                      \
	{                                                                                                              \
		"probes/walk/walk.cl", "walk",                                                                         \
		{                                                                                                      \
			{"SPACE", space}, {"BYTES", bytes}, {"POSITIONS", "4"}, {"LINKS", "2"}, {"SHIFT", "4"},        \
			    {"COLD", cold}, {"PAUSES", pauses},                                                        \
			{                                                                                              \
				"POINTER", pointer                                                                     \
			}                                                                                              \
		}                                                                                                      \
	}
	    WALK("global", "1", "0", "0", "0"),
	    WALK("global", "8", "1", "0", "0"),
	    WALK("global", "16", "1", "0", "0"),
	    WALK("global", "2", "0", "1", "3"),
	    WALK("global", "16", "0", "1", "3"),
	    WALK("shared", "4", "0", "0", "2"),
	    WALK("constant", "4", "0", "0", "0"),
	    WALK("private", "4", "0", "0", "0"),
#define STREAM(space, bytes, together)                                                                                 \
	{                                                                                                              \
		"probes/walk/stream.cl", "stream",                                                                     \
		{                                                                                                      \
			{"SPACE", space}, {"BYTES", bytes}, {"TOGETHER", together},                                    \
			{                                                                                              \
				"LOADS", "3"                                                                           \
			}                                                                                              \
		}                                                                                                      \
	}
	    STREAM("global", "2", "0"),
	    STREAM("global", "16", "0"),
	    STREAM("shared", "4", "0"),
	    STREAM("shared", "4", "1"),
	    STREAM("constant", "4", "0"),
	    STREAM("constant", "4", "1"),
#define LEVELS(space)                                                                                                  \
	{                                                                                                              \
		"probes/levels/levels.cl", "levels",                                                                   \
		{                                                                                                      \
			{"SPACE", space}, {"BYTES", "1024"},                                                           \
			{                                                                                              \
				"LINKS", "3"                                                                           \
			}                                                                                              \
		}                                                                                                      \
	}
	    LEVELS("global"),
	    LEVELS("constant"),
#define COPY(kind)                                                                                                     \
	{                                                                                                              \
		"probes/walk/copy.cl", "copy",                                                                         \
		{                                                                                                      \
			{"KIND", kind},                                                                                \
			{                                                                                              \
				"LINKS", "3"                                                                           \
			}                                                                                              \
		}                                                                                                      \
	}
	    COPY("dynamic"),
	    COPY("constant"),
	    COPY("unrolled"),
	};
	struct gpu *g = open_first();
	for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
		struct kernel_param param[8];
		struct err e = {0};
		struct str text;
		size_t n = 0;
		for (; n < 8 && kernels[i].param[n][0]; n++) {
			snprintf(param[n].name, sizeof param[n].name, "%s", kernels[i].param[n][0]);
			snprintf(param[n].text, sizeof param[n].text, "%s", kernels[i].param[n][1]);
		}
		const struct embedded *f = embed_find(kernels[i].path);
		assert_non_null(f);
		str_init(&text);
		if (kernel_expand(&text, f->path, f->data, f->size, param, n, g->ops->info(g), &e))
			fail_msg("%s", e.text);
		load(g, kernels[i].entry, str_text(&text));
		str_free(&text);
	}
	g->ops->close(g);
}

static void rings_lead_on(void **state)
{
	(void)state;
	struct gpu *g = open_first();
	const uint64_t ring[] = {0, 40, 16, 4};
	uint32_t id = load(g, "ring", ring_text);
	struct launch l = launch_of("ring", 1, 1);
	l.buffers[1] =
	    (struct launch_buffer){.bytes = 64, .ring = ring, .ring_count = 4, .ring_word = 4, .ring_unit = 4};
	l.buffer_count = 2;
	l.args[1] = (struct launch_arg){.kind = ARG_BUFFER, .buffer = 1};
	l.args[2] = (struct launch_arg){.kind = ARG_U32, .bits = 9};
	l.arg_count = 3;
	struct sample out = run(g, id, &l);
	assert_int_equal(out.outcome, OUTCOME_OK);
	for (uint32_t i = 0; i < 9; i++)
		assert_int_equal(out.words[i], ring[i % 4] / 4);
	sample_free(&out);
	l.buffers[1].ring_word = 8;
	out = run(g, id, &l);
	assert_int_equal(out.outcome, OUTCOME_REFUSED);
	assert_non_null(strstr(out.message, "addresses"));
	g->ops->close(g);
}

static void constant_and_local_memory_follow_the_arguments(void **state)
{
	(void)state;
	struct gpu *g = open_first();
	uint32_t table[16], id = load(g, "spaces", spaces_text);
	struct launch l = launch_of("spaces", 2, 16);
	for (uint32_t i = 0; i < 16; i++)
		table[i] = 100 + i;
	l.buffers[1] = (struct launch_buffer){.space = BUFFER_CONSTANT,
					      .symbol = "table",
					      .bytes = sizeof table,
					      .init = table,
					      .init_bytes = sizeof table};
	l.buffer_count = 2;
	l.shared_bytes = 64;
	struct sample out = run(g, id, &l);
	assert_int_equal(out.outcome, OUTCOME_OK);
	for (uint32_t i = 0; i < 32; i++)
		assert_int_equal(out.words[i], 101 + 15 - i % 16);
	sample_free(&out);
	g->ops->close(g);
}

static void errors_name_kernel_and_line(void **state)
{
	(void)state;
	struct gpu *g = open_first();
	struct kernel_source src = {
	    .name = "bad/kernel", .entry = "k", .text = "kernel void k(global uint *o)\n{\n	o[0] = nothing;\n}\n"};
	struct err e = {0};
	uint32_t id;
	assert_int_equal(g->ops->load(g, &src, 1, &id, NULL, &e), -EINVAL);
	assert_non_null(strstr(e.text, "bad/kernel does not compile: line 3"));
	src.text = "kernel void other(global uint *o)\n{\n	o[0] = 1;\n}\n";
	assert_int_equal(g->ops->load(g, &src, 1, &id, NULL, &e), -EINVAL);
	assert_non_null(strstr(e.text, "has no entry k"));
	/* The device goes on, and a launch that cannot be is no error. */
	id = load(g, "ring", ring_text);
	struct launch l = launch_of("ring", 1, 1u << 30);
	struct sample out = {0};
	assert_int_equal(g->ops->run(g, id, &l, &out, &e), -EINVAL); /* too few arguments: ours to mend */
	l.arg_count = 3;
	l.args[1].kind = ARG_BUFFER;
	l.args[2].kind = ARG_U32;
	out = run(g, id, &l);
	assert_int_equal(out.outcome, OUTCOME_REFUSED);
	g->ops->close(g);
}

/* More memory than there is: refused, and the device goes on. */
static void too_much_memory_is_refused(void **state)
{
	(void)state;
	struct gpu *g = open_first();
	const struct device_info *d = g->ops->info(g);
	uint32_t ring = load(g, "ring", ring_text);
	struct launch l = launch_of("ring", 1, 1);
	l.args[1].kind = ARG_BUFFER;
	l.args[2] = (struct launch_arg){.kind = ARG_U32, .bits = 2};
	l.arg_count = 3;
	l.buffers[1] = (struct launch_buffer){.bytes = 4 * d->memory_bytes, .as_is = true};
	l.buffer_count = 2;
	struct sample out = run(g, ring, &l);
	assert_int_equal(out.outcome, OUTCOME_REFUSED);
	assert_non_null(strstr(out.message, "CL_"));
	sample_free(&out);
	l.buffer_count = 1;
	out = run(g, ring, &l);
	assert_int_equal(out.outcome, OUTCOME_OK);
	sample_free(&out);
	g->ops->close(g);
}

static void put(const char *folder, const char *name, const char *text)
{
	char path[512];
	snprintf(path, sizeof path, "%s/%s", folder, name);
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

/* What was told of the devices is not taken for true when a driver came, went or changed. */
static void drivers_are_told_apart(void **state)
{
	(void)state;
	char vendors[] = "/tmp/fathom-vendors-XXXXXX", clean[64];
	static char key[KNOWN_KEY], other[KNOWN_KEY];
	assert_non_null(mkdtemp(vendors));
	assert_false(opencl_known_key(key, "", vendors)); /* no driver */
	put(vendors, "one.icd", "libone.so.1\n");
	assert_true(opencl_known_key(key, "", vendors));
	assert_true(opencl_known_key(other, "", vendors));
	assert_memory_equal(key, other, sizeof key);
	put(vendors, "two.icd", "/nowhere/libtwo.so\n");
	assert_true(opencl_known_key(other, "", vendors));
	assert_memory_not_equal(key, other, sizeof key);
	put(vendors, "two.icd", "");
	assert_false(opencl_known_key(other, "", vendors));
	snprintf(clean, sizeof clean, "rm -r %s", vendors);
	assert_int_equal(system(clean), 0);
	setenv("OCL_ICD_VENDORS", vendors, 1);
	assert_false(opencl_known_key(key, "", "/etc/OpenCL/vendors"));
	unsetenv("OCL_ICD_VENDORS");
}

/* In a child process, as every run drives it. */
static void what_never_ends_is_stopped(void **state)
{
	(void)state;
	struct gpu *g;
	struct err e = {0};
	if (gpu_open(&g, "opencl:0.0", 1, true, &e))
		fail_msg("%s", e.text);
	uint32_t endless = load(g, "endless", endless_text), ring = load(g, "ring", ring_text);
	struct launch l = launch_of("endless", 1, 1);
	l.time_limit_ms = 200;
	struct sample out = run(g, endless, &l);
	assert_int_equal(out.outcome, OUTCOME_TIMEOUT);
	sample_free(&out);
	l = launch_of("ring", 1, 1);
	l.args[1].kind = ARG_BUFFER;
	l.args[2] = (struct launch_arg){.kind = ARG_U32, .bits = 2};
	l.arg_count = 3;
	out = run(g, ring, &l);
	assert_int_equal(out.outcome, OUTCOME_OK);
	sample_free(&out);
	g->ops->close(g);
}

static void wrong_names_are_refused(void **state)
{
	(void)state;
	static const struct {
		const char *spec, *words;
		int rc;
	} bad[] = {{"x", "opencl:0.0", -EINVAL},
		   {"0", "opencl:0.0", -EINVAL},
		   {"0.", "opencl:0.0", -EINVAL},
		   {"0.0x", "opencl:0.0", -EINVAL},
		   {"-1.0", "opencl:0.0", -EINVAL},
		   {"0.63", "there is no opencl:0.63", -ENODEV},
		   {"31.0", "there is no opencl:31.0", -ENODEV}};
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		struct gpu *g;
		struct err e = {0};
		assert_int_equal(gpu_opencl.open(&g, bad[i].spec, 1, &e), bad[i].rc);
		if (!strstr(e.text, bad[i].words))
			fail_msg("%s: %s", bad[i].spec, e.text);
	}
}

int main(void)
{
	struct gpu *g;
	struct err e = {0};
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_device_is_described),
	    cmocka_unit_test(a_launch_computes),
	    cmocka_unit_test(kernels_of_probes_compile),
	    cmocka_unit_test(rings_lead_on),
	    cmocka_unit_test(constant_and_local_memory_follow_the_arguments),
	    cmocka_unit_test(errors_name_kernel_and_line),
	    cmocka_unit_test(wrong_names_are_refused),
	    cmocka_unit_test(too_much_memory_is_refused),
	    cmocka_unit_test(drivers_are_told_apart),
	    cmocka_unit_test(what_never_ends_is_stopped),
	};
	/* A child, as the proxy, forks from a process in which no driver has run yet: that test has its own. */
	const bool apart = getenv("OPENCL_APART") != NULL;
	if (apart) {
		struct device_list list = {0};
		if (gpu_list_isolated(&gpu_opencl, &list, &e) || !list.count) {
			printf("skipped: %s\n", e.text[0] ? e.text : list.note);
			return SKIPPED;
		}
		mem_free(list.items);
	} else {
		if (gpu_opencl.open(&g, "0.0", 1, &e)) {
			printf("skipped: %s\n", e.text);
			return SKIPPED;
		}
		g->ops->close(g);
	}
	size_t all = sizeof tests / sizeof tests[0];
	return apart ? _cmocka_run_group_tests("apart", tests + all - 1, 1, NULL, NULL)
		     : _cmocka_run_group_tests("opencl", tests, all - 1, NULL, NULL);
}
