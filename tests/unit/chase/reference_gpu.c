#include "reference_gpu.h"
#include "../model/shape_of.h"
#include "base/arena.h"
#include "base/rng.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define KERNELS	    64
#define PRE	    16
#define GLOBAL_BASE 0x30000000ull
#define READ_COST   9  /* what a timed access takes beside its load */
#define LOOP_COST   37 /* and what the loop takes between two of them */

/* One cache of each instance; the rules and the mapping are the model's. */
struct cache {
	const struct cache_spec *spec;
	struct model_cache lines;
	double owed; /* evictions by neighbours */
};

struct kernel {
	bool lap, constant, past_l1;
	uint32_t loads; /* of a lap's shorter region */
};

struct reference {
	struct gpu gpu;
	const struct sim_spec *spec;
	struct device_info info;
	struct kernel kernel[KERNELS];
	uint32_t kernels;
	struct rng rng;
	double now;
	struct cache *constant[CONST_LEVELS], *global[2]; /* one for each instance */
	uint64_t *next;					  /* word at byte 4 i of the ring's buffer */
};

static uint32_t instances(const struct sim_spec *s, enum cache_scope scope)
{
	return scope == SCOPE_SM ? s->sm_count : scope == SCOPE_CLUSTER ? s->cluster_count : 1;
}

static struct cache *caches_new(const struct sim_spec *s, const struct cache_spec *spec, uint64_t seed)
{
	const struct model_shape shape = shape_of(spec);
	uint32_t n = instances(s, spec->scope);
	struct cache *c = mem_zero(n, sizeof(*c));
	for (uint32_t i = 0; c && i < n; i++) {
		c[i].spec = spec;
		if (model_cache_open(&c[i].lines, &shape, seed + i))
			return NULL;
	}
	return c;
}

static void caches_free(const struct sim_spec *s, struct cache *c)
{
	for (uint32_t i = 0; c && i < instances(s, c->spec->scope); i++)
		model_cache_close(&c[i].lines);
	mem_free(c);
}

static void caches_empty(const struct sim_spec *s, struct cache *c)
{
	for (uint32_t i = 0; c && i < instances(s, c->spec->scope); i++)
		model_flush(&c[i].lines);
}

static void neighbours(struct reference *g, struct cache *c, double cycles)
{
	if (c->spec->scope != SCOPE_GPU)
		return;
	c->owed += cycles * g->spec->noise.neighbour_rate / 1000;
	for (; c->owed >= 1; c->owed--)
		model_take(&c->lines, rng_below(&g->rng, c->lines.lines));
}

static double disturbed(struct reference *g, double latency)
{
	const struct noise_spec *n = &g->spec->noise;
	latency *= 1 + n->drift * sin(g->now / 1e7);
	if (rng_unit(&g->rng) < n->jitter_probability)
		latency += rng_unit(&g->rng) * n->jitter_cycles;
	return latency;
}

static double load(struct reference *g, const struct kernel *k, uint32_t sm, uint64_t address)
{
	const struct sim_spec *s = g->spec;
	uint32_t cluster = sm / s->sm_per_cluster;
	double offset = s->cluster_offset ? s->cluster_offset[cluster] : 0, found = -1;
	const struct path_spec *path = k->constant ? &s->constant : &s->global;
	bool beyond = true;
	for (uint32_t i = 0; i < (k->constant ? path->levels : 2); i++) {
		struct cache *all = k->constant ? g->constant[i] : g->global[i];
		if (!all || (!k->constant && i == 0 && k->past_l1))
			continue;
		const struct cache_spec *c = all->spec;
		struct cache *mine = &all[c->scope == SCOPE_SM ? sm : c->scope == SCOPE_CLUSTER ? cluster : 0];
		if (model_access(&mine->lines, address)) {
			found = c->latency;
			if (c->partitions > 1 && (uint32_t)__builtin_parityll(address / c->line) != cluster % 2)
				found += c->far_extra;
			if (c->scope == SCOPE_GPU)
				found += offset;
			beyond = c->scope != SCOPE_SM;
			break;
		}
	}
	if (found < 0) {
		found = path->memory_latency + offset;
		const struct noise_spec *n = &s->noise;
		double phase = n->refresh_interval > 0 ? fmod(g->now, n->refresh_interval) : 0;
		if (n->refresh_interval > 0 && phase < n->refresh_cycles)
			found += n->refresh_cycles - phase;
	}
	if (beyond)
		found = disturbed(g, found);
	found = floor(found + 0.5) + (k->constant ? path->address_ops * path->address_latency : 0);
	for (uint32_t i = 0; i < CONST_LEVELS; i++)
		if (g->constant[i])
			neighbours(g, g->constant[i], found + LOOP_COST);
	for (uint32_t i = 0; i < 2; i++)
		if (g->global[i])
			neighbours(g, g->global[i], found + LOOP_COST);
	return found;
}

static uint32_t clock_now(const struct reference *g)
{
	uint32_t step = g->spec->clock_granularity ? g->spec->clock_granularity : 1;
	return (uint32_t)((uint64_t)g->now / step * step);
}

/* ---- the backend ---- */

static const struct device_info *reference_info(struct gpu *gpu)
{
	return &((struct reference *)gpu)->info;
}

static int reference_load(struct gpu *gpu, const struct kernel_source *src, size_t n, uint32_t *ids,
			  struct native_info *native, struct err *e)
{
	struct reference *g = (struct reference *)gpu;
	for (size_t i = 0; i < n; i++) {
		if (g->kernels == KERNELS)
			return err_set(e, -ENOMEM, "too many kernels");
		struct kernel *k = &g->kernel[g->kernels];
		k->lap = strcmp(src[i].entry, "lap") == 0;
		k->constant = strstr(src[i].text, "ld.const") != NULL;
		k->past_l1 = strstr(src[i].text, "ld.global.cg") || strstr(src[i].text, "ld.volatile.global");
		/* A lap: one load in its warming loop, then N and 2 N. */
		uint32_t all = 0;
		for (const char *at = src[i].text;
		     (at = strstr(at, k->constant						? "ld.const"
				      : k->past_l1 && strstr(src[i].text, "ld.volatile.global") ? "ld.volatile.global"
												: "ld.global."));
		     at++)
			all++;
		k->loads = (all - 1) / 3;
		ids[i] = g->kernels++;
		memset(&native[i], 0, sizeof(native[i]));
		snprintf(native[i].source, sizeof(native[i].source), "reference");
		/* What the checks of the probes look at. */
		enum native_class cls = k->constant ? NATIVE_LOAD_CONST : NATIVE_LOAD_GLOBAL;
		uint32_t ops = k->constant ? g->spec->constant.address_ops : 0;
		uint32_t loads[3] = {k->lap ? k->loads : 0, k->lap ? 0 : 1, k->lap ? 2 * k->loads : 0};
		native[i].region_count = 3;
		native[i].clock_reads = 4;
		native[i].fingerprint = g->kernels;
		for (unsigned q = 0; q < 3; q++) {
			native[i].region[q].count[cls] = loads[q];
			native[i].region[q].count[NATIVE_ALU] = 1 + ops * loads[q];
			native[i].region[q].total = loads[q] * (1 + ops) + 1;
		}
	}
	return 0;
}

static int reference_run(struct gpu *gpu, uint32_t id, const struct launch *l, struct sample *out, struct err *e)
{
	struct reference *g = (struct reference *)gpu;
	const struct kernel *k = &g->kernel[id];
	uint32_t sm = (uint32_t)l->args[1].bits, words = 0;
	const struct launch_buffer *ring = NULL;

	memset(out, 0, sizeof(*out));
	for (uint32_t i = 0; i < l->buffer_count; i++) {
		if (l->buffers[i].output)
			words = l->buffers[i].output_words;
		if (l->buffers[i].ring)
			ring = &l->buffers[i];
	}
	if (!ring || !words)
		return err_set(e, -EINVAL, "not a chase");
	uint64_t *next = mem_zero(ring->bytes / 4 + 1, sizeof(*next));
	out->words = mem_zero(words, sizeof(*out->words));
	if (!next || !out->words) {
		mem_free(next);
		return err_nomem(e);
	}
	out->repeats = 1;
	out->words_per_repeat = words;
	for (uint32_t i = 0; i < ring->ring_count; i++)
		next[ring->ring[i] / 4] = ring->ring[(i + 1) % ring->ring_count];
	if (l->flush) {
		for (uint32_t i = 0; i < CONST_LEVELS; i++)
			caches_empty(g->spec, g->constant[i]);
		caches_empty(g->spec, g->global[0]);
		caches_empty(g->spec, g->global[1]);
	}
	uint64_t base = k->constant ? 0 : GLOBAL_BASE, start = l->args[2].bits, p = start;
	g->now += 1000 + rng_below(&g->rng, 1000);
	for (uint32_t i = 0; i < l->args[3].bits; i++) {
		g->now += load(g, k, sm, base + p) + 10;
		p = next[p / 4];
	}
	uint32_t *w = out->words;
	w[0] = 1;
	w[1] = sm;
	if (k->lap) {
		for (int round = -2; round < 32; round++) {
			for (int half = 0; half < 2; half++) {
				g->now += LOOP_COST;
				uint32_t before = clock_now(g);
				for (uint32_t i = 0; i < k->loads * (half ? 2 : 1); i++) {
					g->now += load(g, k, sm, base + p);
					p = next[p / 4];
				}
				g->now += READ_COST;
				if (round >= 0) {
					w[8 + round * 4 + half * 2] = before;
					w[9 + round * 4 + half * 2] = clock_now(g);
				}
			}
		}
	} else {
		int64_t timed = (int64_t)l->args[4].bits;
		uint32_t first = clock_now(g);
		uint64_t lowest = l->args[5].bits, room = l->args[6].bits, slow = 0;
		for (int64_t i = -PRE; i < timed; i++) {
			uint32_t before = clock_now(g);
			g->now += load(g, k, sm, base + p) + READ_COST;
			p = next[p / 4];
			uint32_t dt = clock_now(g) - before;
			g->now += LOOP_COST;
			if (i < 0 || dt < lowest)
				continue;
			if (slow < room)
				w[8 + slow] = (uint32_t)i << 12 | (dt > 4095 ? 4095 : dt);
			slow++;
		}
		w[3] = (uint32_t)slow;
		w[4] = clock_now(g) - first;
	}
	w[2] = (uint32_t)(p - start);
	mem_free(next);
	return 0;
}

static void reference_close(struct gpu *gpu)
{
	struct reference *g = (struct reference *)gpu;
	for (uint32_t i = 0; i < CONST_LEVELS; i++)
		caches_free(g->spec, g->constant[i]);
	caches_free(g->spec, g->global[0]);
	caches_free(g->spec, g->global[1]);
	mem_free(g);
}

static const struct gpu_ops reference_ops = {
    .name = "reference",
    .help = "a reference model of caches, for tests",
    .info = reference_info,
    .load = reference_load,
    .run = reference_run,
    .close = reference_close,
};

int reference_gpu_open(struct gpu **out, const struct sim_spec *s, uint64_t seed)
{
	struct reference *g = mem_zero(1, sizeof(*g));
	if (!g)
		return -ENOMEM;
	g->gpu.ops = &reference_ops;
	g->spec = s;
	rng_seed(&g->rng, seed);
	struct device_info *d = &g->info;
	snprintf(d->backend, sizeof(d->backend), "reference");
	snprintf(d->name, sizeof(d->name), "%.100s", s->name);
	snprintf(d->dialect, sizeof(d->dialect), "ptx");
	snprintf(d->target, sizeof(d->target), "%s", s->target);
	d->ptx_version = s->ptx_version;
	d->cc = s->cc;
	d->sm_count = s->sm_count;
	d->warp_size = s->warp_size;
	d->max_threads_per_block = s->max_threads_per_block;
	d->max_threads_per_sm = s->max_threads_per_sm;
	d->shared_per_block = s->shared_per_block;
	d->constant_bytes = s->constant_bytes;
	d->memory_bytes = s->memory_bytes;
	d->clock_hz = s->clock_hz;
	bool failed = false;
	for (uint32_t i = 0; i < s->constant.levels; i++)
		failed |= !(g->constant[i] = caches_new(s, &s->constant.level[i], seed));
	if (s->has_l1)
		failed |= !(g->global[0] = caches_new(s, &s->global.level[0], seed));
	if (s->has_l2)
		failed |= !(g->global[1] = caches_new(s, &s->global.level[1], seed));
	if (failed) {
		reference_close(&g->gpu);
		return -ENOMEM;
	}
	*out = &g->gpu;
	return 0;
}
