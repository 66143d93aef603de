/* Kernels as the vendor's assembler makes them: do their timed regions hold what the probes claim to time?
 *
 * Usage: compiled_kernels PTXAS PROBE...: what a probe asks for before it knows anything, and some points more. */
#include "base/arena.h"
#include "base/rng.h"
#include "kernel/kernel.h"
#include "native/native.h"
#include "probe/engine.h"
#include "probe/study.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KERNELS 256

static const struct device_info device = {.backend = "none",
					  .dialect = "ptx",
					  .name = "nothing",
					  .target = "sm_90",
					  .ptx_version = 78,
					  .cc = 90,
					  .sm_count = 4,
					  .warp_size = 32,
					  .max_threads_per_block = 1024,
					  .max_threads_per_sm = 2048,
					  .shared_per_block = 49152,
					  .constant_bytes = 65536,
					  .memory_bytes = 1 << 30,
					  .has_f64 = true,
					  .has_f16 = true,
					  .has_fma = true};

/* Kernels that a probe asks for only when it has seen something. */
static const struct more {
	const char *probe;
	struct wish wish;
} more[] = {
    /* Read-only loads whose records go past the L1, and laps of them. */
    {"readonly_cache", {0, 4096, {64, 128, 128, 0, 0, 0, 0, 1}}},
    {"readonly_cache", {1, 4096, {64, 128, 32, 0, 0, 0, 0, 0}}},
    /* A warp that follows a ring of local memory whose records go past the L1. */
    {"local_cache", {0, 4096, {64, 128, 128, 0, 0, 0, 0, 1}}},
    /* A trace of read-only loads: laps over five lines of a set of four. */
    {"replacement", {0, 40, {6, 1 << 5 | 4 << 6 | 5 << 15, 4096, 64}}},
};

struct seen {
	uint64_t hash[KERNELS];
	unsigned count, wrong;
};

static unsigned checked(const struct native_check *c, const struct native_info *n, const char *name)
{
	if (n->problem[0] || !n->region_count) {
		printf("%s: %s\n", name, n->problem[0] ? n->problem : "no region");
		return 1;
	}
	if (c->cls < 0)
		return 0;
	const struct native_region *r = &n->region[n->clock_reads ? c->region : 0];
	const unsigned most = c->max ? c->max : c->min, have = r->count[c->cls];
	if (c->region < n->region_count && have >= c->min && have <= most && r->total - have <= c->others)
		return 0;
	printf("%s: %u clock reads, region %u holds %s: %u to %u %s and at most %u others are right\n", name,
	       n->clock_reads, c->region, r->mix, c->min, most, native_class_name((enum native_class)c->cls),
	       c->others);
	return 1;
}

/* 0: as it should be, or seen before. */
static unsigned compile(const char *ptxas, const struct study *s, const struct wish *w, struct seen *seen)
{
	char text[256], image[256], command[1200], name[160];
	const char *dir = getenv("TMPDIR");
	const struct experiment *x = &s->probe->experiments[w->experiment];
	static char bytes[1 << 20];
	struct job j = {.check = {.cls = -1}};
	struct arena arena;
	struct str out;
	struct err e = {0};

	arena_init(&arena);
	j.arena = &arena;
	str_init(&out);
	snprintf(name, sizeof name, "%s/%s", s->probe->name, x->name);
	if (x->setup(s, w->x, w->p, &j)) {
		printf("%s: no launch\n", name);
		arena_free(&arena);
		return 1;
	}
	const struct embedded *file = kernel_text(j.template_path, device.dialect);
	if (!file ||
	    kernel_expand(&out, j.template_path, file->data, file->size, j.param, j.param_count, &device, &e)) {
		printf("%s: %s\n", name, e.text);
		arena_free(&arena);
		return 1;
	}
	const uint64_t hash = hash64(out.data, out.len, 1);
	unsigned at = 0, wrong = 0;
	while (at < seen->count && seen->hash[at] != hash)
		at++;
	if (at == seen->count && at < KERNELS) {
		seen->hash[seen->count++] = hash;
		snprintf(text, sizeof text, "%s/fathom-compiled-%d.ptx", dir ? dir : P_tmpdir, (int)getpid());
		snprintf(image, sizeof image, "%s/fathom-compiled-%d.cubin", dir ? dir : P_tmpdir, (int)getpid());
		snprintf(command, sizeof command, "'%s' -arch=sm_%u '%s' -o '%s'", ptxas, device.cc, text, image);
		FILE *f = fopen(text, "wb");
		wrong = !f || fwrite(out.data, 1, out.len, f) != out.len;
		wrong |= f && fclose(f);
		/* NOLINTNEXTLINE(bugprone-command-processor,cert-env33-c): a test, its own file names */
		wrong = wrong || system(command);
		f = wrong ? NULL : fopen(image, "rb");
		const size_t n = f ? fread(bytes, 1, sizeof bytes, f) : 0;
		if (f)
			fclose(f);
		struct native_info native = {0};
		native_read_cubin(&native, bytes, n, j.launch.entry, (int)device.cc);
		wrong = wrong || !n ? 1 : checked(&j.check, &native, name);
		unlink(text);
		unlink(image);
	}
	str_free(&out);
	arena_free(&arena);
	return wrong;
}

int main(int argc, char **argv)
{
	struct seen seen = {.count = 0};
	struct run r;

	if (argc < 3 || run_init(&r))
		return 2;
	r.device = device;
	for (int i = 2; i < argc; i++) {
		const struct probe *p = probe_find(argv[i]);
		struct study s;
		struct err e = {0};
		if (!p || study_open(&s, &r, p, STUDY_MEASURE, &e) || study_pass(&s)) {
			printf("%s: no such probe, or %s\n", argv[i], e.text);
			return 2;
		}
		for (size_t k = 0; k < s.wish_count; k++)
			seen.wrong += compile(argv[1], &s, &s.wishes[k], &seen);
		for (size_t k = 0; k < sizeof more / sizeof more[0]; k++)
			if (strcmp(more[k].probe, p->name) == 0)
				seen.wrong += compile(argv[1], &s, &more[k].wish, &seen);
		study_close(&s);
	}
	run_free(&r);
	printf("%u kernels, %u wrong\n", seen.count, seen.wrong);
	return seen.wrong || !seen.count;
}
