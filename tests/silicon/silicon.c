/* How long ordinary kernels take, on any device:
 *
 *   silicon cuda:0 DIR [--repeats N] [NAME]... >h100.tsv
 *
 * DIR holds kernels.txt and kernels/. The table has the span of every launch in cycles, and its time by the device's timer
 * around it. The span is from the first block's begin to the last one's end, as the kernel's own blocks saw it. The clock
 * is the cycles of all blocks by their nanoseconds: a timer that counts in steps is early as often as it is late. */
#include "base/str.h"
#include "gpu/gpu.h"
#include "silicon_list.h"
#include "stat/stat.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct span {
	double ns, mhz, event_ns;
};

static uint64_t wide(const uint32_t *w)
{
	return w[0] | (uint64_t)w[1] << 32;
}

static struct span span_of(const uint32_t *w, uint32_t blocks)
{
	uint64_t first = UINT64_MAX, last = 0;
	double ns = 0, cycles = 0;
	struct span s = {.event_ns = (double)wide(w + (size_t)blocks * SILICON_TIMES_WORDS)};
	for (uint32_t b = 0; b < blocks; b++, w += SILICON_TIMES_WORDS) {
		uint64_t begin = wide(w), end = wide(w + 2);
		first = begin < first ? begin : first;
		last = end > last ? end : last;
		ns += (double)(end - begin);
		cycles += (double)(wide(w + 6) - wide(w + 4));
	}
	s.ns = (double)(last - first);
	s.mhz = ns > 0 ? 1e3 * cycles / ns : 0;
	return s;
}

static void print_case(const struct silicon_case *c, const struct sample *s, const struct native_info *native)
{
	double ns[LAUNCH_TIMED], mhz[LAUNCH_TIMED], event[LAUNCH_TIMED], scratch[LAUNCH_TIMED];
	for (uint32_t r = 0; r < s->repeats; r++) {
		struct span x = span_of(s->words + (size_t)r * s->words_per_repeat, silicon_blocks(c));
		ns[r] = x.ns;
		mhz[r] = x.mhz;
		event[r] = x.event_ns;
	}
	double clock = stat_median(mhz, s->repeats, scratch), span = stat_median(ns, s->repeats, scratch);
	printf("%s\t%s\t%.0f\t%.0f\t%.0f\t%.1f\t%.0f\t%u\t%u\n", c->name, c->kernel, span * clock / 1e3,
	       stat_quantile(ns, s->repeats, 0, scratch) * clock / 1e3,
	       stat_quantile(ns, s->repeats, 1, scratch) * clock / 1e3, clock, stat_median(event, s->repeats, scratch),
	       native->instructions, native->registers);
	fflush(stdout);
}

static int run_case(struct gpu *g, const char *dir, struct silicon_case *c, struct err *e)
{
	struct native_info native = {0};
	struct sample s = {0};
	uint32_t id = 0;
	char *text = silicon_text(dir, c->kernel, e);
	if (!text)
		return -ENOENT;
	struct kernel_source src = {.name = c->name, .entry = c->kernel, .text = text};
	int r = g->ops->load(g, &src, 1, &id, &native, e);
	mem_free(text);
	if (r)
		return r;
	c->launch.warmups = 1;
	c->launch.timed = SPAN_KERNELS;
	c->launch.compiled = true;
	c->launch.time_limit_ms = 600000;
	r = g->ops->run(g, id, &c->launch, &s, e);
	if (!r && s.outcome != OUTCOME_OK)
		r = err_set(e, -EIO, "%s: %s: %s", c->name, outcome_name(s.outcome), s.message);
	if (!r)
		print_case(c, &s, &native);
	sample_free(&s);
	return r;
}

static void print_head(const struct device_info *d)
{
	printf("# %s, driver %s, %s\n", d->name, d->driver, d->uuid);
	printf("# name\tkernel\tcycles\tleast\tmost\tMHz\tns around\tnative instructions\tregisters\n");
}

int main(int argc, char **argv)
{
	uint32_t repeats = 1;
	int at = 3;
	if (argc > 4 && !strcmp(argv[3], "--repeats")) {
		repeats = (uint32_t)atoi(argv[4]);
		at = 5;
	}
	if (argc < 3 || repeats < 1 || repeats > LAUNCH_TIMED) {
		fprintf(stderr, "usage: silicon DEVICE DIR [--repeats 1..%d] [NAME]...\n", LAUNCH_TIMED);
		return 2;
	}
	return silicon_each(argv[1], argv[2], argv + at, argc - at, repeats, print_head, run_case);
}
