#include "null_gpu.h"
#include "base/arena.h"
#include "base/str.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define LONG ((size_t)64 << 10) /* bytes of a text that takes its time */

#define PATIENT_RUNS 8	/* that wait for what goes on beside them ... */
#define PATIENCE     50 /* ... so many ms */

static void note_call(struct null_gpu *g)
{
	if (atomic_load(&g->busy))
		atomic_fetch_add(&g->meddled, 1);
}

static int null_list(struct device_list *list, struct err *e)
{
	(void)list;
	(void)e;
	return 0;
}

static int null_open(struct gpu **out, const char *spec, uint64_t seed, struct err *e)
{
	(void)out;
	(void)seed;
	return err_set(e, -ENODEV, "the null gpu is not opened by name: %s", spec);
}

static const struct device_info *null_info(struct gpu *g)
{
	return &((struct null_gpu *)g)->info;
}

static bool is_expected(const struct null_gpu *g, const char *text)
{
	const uint64_t hash = hash64(text, strlen(text), 1);
	bool yes = false;

	for (unsigned i = 0; i < g->expected && i < 64; i++)
		yes |= g->texts[i] == hash;
	return yes;
}

static int null_expect(struct gpu *gpu, const struct kernel_source *src, size_t n, bool soon, struct err *e)
{
	struct null_gpu *g = (struct null_gpu *)gpu;

	(void)e;
	note_call(g);
	for (size_t i = 0; i < n; i++) {
		if (strlen(src[i].text) >= LONG && src[i].group)
			g->long_group = src[i].group;
		if (is_expected(g, src[i].text))
			continue; /* told again, of which group it is */
		if (g->expected < 64)
			g->texts[g->expected] = hash64(src[i].text, strlen(src[i].text), 1);
		g->expected++;
		g->soon += soon;
	}
	return 0;
}

static size_t null_uncompiled(struct gpu *g, uint32_t group)
{
	struct null_gpu *n = (struct null_gpu *)g;

	note_call(n);
	n->group_asked |= group != 0;
	return group != n->long_group ? 0 : n->left;
}

static void null_brace(struct gpu *gpu, unsigned probes)
{
	struct null_gpu *g = (struct null_gpu *)gpu;

	note_call(g);
	if (g->braces < 16)
		g->braced[g->braces++] = probes;
}

static int null_load(struct gpu *gpu, const struct kernel_source *src, size_t n, uint32_t *ids,
		     struct native_info *native, struct err *e)
{
	struct null_gpu *g = (struct null_gpu *)gpu;

	note_call(g);
	g->loads++;
	for (size_t i = 0; i < n; i++) {
		if (g->refuse_entry && strstr(src[i].text, g->refuse_entry))
			return err_set(e, g->refuse_code ? g->refuse_code : -EINVAL, "%s does not compile",
				       src[i].name);
		ids[i] = g->kernels++;
		g->surprises += !is_expected(g, src[i].text);
		native[i] = g->native;
		if (native[i].fingerprint)
			native[i].fingerprint += ids[i];
	}
	return 0;
}

static int null_run(struct gpu *gpu, uint32_t id, const struct launch *l, struct sample *out, struct err *e)
{
	struct null_gpu *g = (struct null_gpu *)gpu;
	const uint32_t repeats = l->repeats ? l->repeats : 1, words = l->buffers[0].output_words - g->short_answer;

	if (id >= g->kernels)
		return err_set(e, -EINVAL, "kernel %u was never loaded", id);
	g->runs++;
	if (g->runs <= 64)
		snprintf(g->labels[g->runs - 1], sizeof(g->labels[0]), "%s", l->label);
	g->last_grid = l->grid[0];
	if (g->runs >= g->lost_from && g->runs < g->lost_to)
		return err_set(e, -EIO, "the cable fell out");
	if (g->refuses) {
		*out = (struct sample){.outcome = OUTCOME_REFUSED, .elapsed_ms = -1, .message = "not today"};
		return 0;
	}
	uint32_t *w = mem_zero((size_t)repeats * words, sizeof(*w));
	if (!w)
		return err_nomem(e);
	const bool here = g->unpinned_seen >= g->unpinned;
	g->unpinned_seen = here ? 0 : g->unpinned_seen + 1;
	for (uint32_t r = 0; r < repeats; r++) {
		uint32_t *v = w + (size_t)r * words;
		v[0] = here;
		v[1] = (uint32_t)l->args[1].bits;
		v[2] = l->args[2].bits <= 100 ? 10 : 50;
	}
	*out = (struct sample){
	    .outcome = OUTCOME_OK, .repeats = repeats, .words_per_repeat = words, .words = w, .elapsed_ms = 0.5};
	return 0;
}

static int null_run_apart(struct gpu *gpu, uint32_t id, const struct launch *l, struct sample *out, struct err *e)
{
	struct null_gpu *g = (struct null_gpu *)gpu;
	bool moved = false;

	note_call(g);
	atomic_store(&g->busy, true);
	for (unsigned ms = 0; g->runs < PATIENT_RUNS && ms < PATIENCE && !moved; ms++) {
		const struct timespec t = {.tv_nsec = 1000000};
		nanosleep(&t, NULL);
		moved = atomic_load(&null_thoughts) != g->thoughts;
	}
	g->beside += moved;
	const int rc = null_run(gpu, id, l, out, e);
	atomic_store(&g->busy, false);
	return rc;
}

static int null_sense(struct gpu *g, struct condition *c, struct err *e)
{
	struct null_gpu *n = (struct null_gpu *)g;

	(void)e;
	note_call(n);
	n->thoughts = atomic_load(&null_thoughts);
	*c = (struct condition){1000, 2000, 30, 50, n->runs ? n->throttle : 0};
	if (n->runs)
		n->throttle = 0;
	return 0;
}

static const struct run *null_recording(struct gpu *g)
{
	return ((struct null_gpu *)g)->recorded;
}

static void null_close(struct gpu *g)
{
	(void)g;
}

#define NULL_OPS                                                                                                       \
	.name = "null", .help = "a test's gpu", .list = null_list, .open = null_open, .info = null_info,               \
	.load = null_load, .sense = null_sense, .recording = null_recording, .close = null_close
static const struct gpu_ops null_ops = {NULL_OPS, .run = null_run};
#define FORESEEING NULL_OPS, .expect = null_expect, .uncompiled = null_uncompiled, .brace = null_brace
static const struct gpu_ops foreseeing_ops = {FORESEEING, .run = null_run};
static const struct gpu_ops apart_ops = {FORESEEING, .run = null_run_apart, .apart = true};

void null_gpu_runs_apart(struct null_gpu *g)
{
	g->gpu.ops = &apart_ops;
}

void null_gpu_foresees(struct null_gpu *g)
{
	g->gpu.ops = &foreseeing_ops;
}

void null_gpu_init(struct null_gpu *g)
{
	*g = (struct null_gpu){.gpu = {&null_ops}};
	g->info = (struct device_info){.backend = "null",
				       .spec = "null:0",
				       .name = "Null",
				       .uuid = "null-1",
				       .dialect = "ptx",
				       .target = "sm_90",
				       .ptx_version = 78,
				       .cc = 90,
				       .sm_count = 4,
				       .warp_size = 32,
				       .max_threads_per_block = 1024,
				       .memory_bytes = (uint64_t)1 << 30};
	g->native = (struct native_info){
	    .fingerprint = 100, .instructions = 20, .clock_reads = 2, .region_count = 1, .source = "null"};
	g->native.region[0].total = 8;
	g->native.region[0].count[NATIVE_ALU] = 8;
	snprintf(g->native.region[0].mix, sizeof(g->native.region[0].mix), "ADD*8");
}
