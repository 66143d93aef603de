/* What a probe should find on a simulated GPU: one truth for each key that the description decides. */
#include "gpu/sim/spec_tell.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEY_BYTES 128

#define COPY_TOLERANCE	   0.35 /* an estimate by times of whole copies */
#define CHANCE_TOLERANCE   0.05
#define INTERVAL_TOLERANCE 0.12 /* of what is counted in some thousand draws */
#define SET_SIZES_MAX	   1024 /* more than a line of a file can list */

static const char *scope_name(enum cache_scope s)
{
	return s == SCOPE_SM ? "sm" : s == SCOPE_CLUSTER ? "cluster" : "gpu";
}

/* What no test can tell from one SM or from all of them is called that. */
static const char *seen_scope(const struct sim_spec *s, enum cache_scope scope)
{
	if (scope == SCOPE_CLUSTER && s->cluster_count == 1)
		scope = SCOPE_GPU;
	return scope_name(scope == SCOPE_CLUSTER && s->sm_per_cluster == 1 ? SCOPE_SM : scope);
}

static const char *policy_name(enum cache_policy p)
{
	static const char *const names[] = {"lru", "fifo",     "random", "plru", "weighted",
					    "nru", "schedule", "qlru",	 "duel"};
	return names[p];
}

/* A set of one line leaves nothing to choose. With two, all that plru and nru know is which line was not used last. */
static void tell_policy(struct teller *t, const struct cache_spec *c, const char *stem)
{
	char key[KEY_BYTES];
	uint32_t most = c->ways;
	for (uint32_t k = 0; c->set_ways && k < c->sets; k++)
		most = c->set_ways[k] > most ? c->set_ways[k] : most;
	snprintf(key, sizeof key, "%s.policy", stem);
	bool pair = most == 2 && (c->policy == POLICY_PLRU || c->policy == POLICY_NRU);
	if (most > 1)
		tell_text(t, key, policy_name(pair ? POLICY_LRU : c->policy));
	else
		tell_absent(t, key);
	snprintf(key, sizeof key, "%s.lru", stem);
	if (most > 1)
		tell_text(t, key, pair || c->policy == POLICY_LRU ? "yes" : "no");
	else
		tell_absent(t, key);
}

static int by_chance(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

/* The way that goes most often, beside the usual one. */
static void tell_victim(struct teller *t, const struct cache_spec *c, const char *path, const char *level)
{
	char key[KEY_BYTES];
	double sorted[CACHE_WAYS_MAX];
	const uint32_t n = c->ways;
	memcpy(sorted, c->weight, n * sizeof *sorted);
	qsort(sorted, n, sizeof *sorted, by_chance);
	const double most = sorted[n - 1], usual = sorted[(n - 1) / 2];
	snprintf(key, sizeof key, "cache.%s.%s.victim_interval", path, level);
	tell_number(t, key, 1 / most, INTERVAL_TOLERANCE / most);
	snprintf(key, sizeof key, "cache.%s.%s.victim_odds", path, level);
	tell_number(t, key, most / usual, 2 * INTERVAL_TOLERANCE * most / usual);
}

static void tell_array(struct teller *t, const char *key, const double *array, uint32_t count, double tolerance)
{
	tell(t, &(struct truth){.key = key, .array = array, .count = count, .tolerance = tolerance});
}

/* Ways of one set; where sets are unequal, those of each. */
static void tell_ways(struct teller *t, const struct cache_spec *c, const char *stem)
{
	char key[KEY_BYTES];
	double size[SET_SIZES_MAX];
	bool differ = false;
	for (uint32_t k = 1; c->set_ways && k < c->sets; k++)
		differ = differ || c->set_ways[k] != c->set_ways[0];
	if (!differ) { /* also where they are listed one by one */
		snprintf(key, sizeof key, "%s.ways", stem);
		tell_number(t, key, c->ways + c->victims / 2.0, c->victims / 2.0);
		return;
	}
	uint32_t n = c->sets < SET_SIZES_MAX ? c->sets : SET_SIZES_MAX;
	for (uint32_t k = 0; k < n; k++)
		size[k] = c->set_ways[k];
	snprintf(key, sizeof key, "%s.set_sizes", stem);
	tell_array(t, key, size, n, 0);
}

static const char *mapping_name(const struct cache_spec *c)
{
	/* Higher than the line needs: neighbours share a set. */
	if (c->set_bits_from && 1ull << c->set_bits_from > c->line)
		return "tiled2d";
	return c->mapping == MAP_MODULO ? "modulo" : "hash";
}

static void tell_mapping(struct teller *t, const struct cache_spec *c, const char *stem)
{
	char key[KEY_BYTES];
	snprintf(key, sizeof key, "%s.mapping", stem);
	if (c->sets > 1)
		tell_text(t, key, mapping_name(c));
	else
		tell_absent(t, key);
}

/* Of a policy that draws, or goes round: how often which way goes. */
static void tell_drawn(struct teller *t, const struct cache_spec *c, const char *path, const char *level)
{
	char key[KEY_BYTES];
	if (c->policy == POLICY_SCHEDULE && c->ways > 1) {
		struct cache_spec even = *c;
		char text[96];
		memset(even.weight, 0, sizeof even.weight);
		for (uint32_t i = 0; i < c->schedule_count; i++)
			even.weight[c->schedule[i]] += 1.0 / c->schedule_count;
		schedule_text(text, sizeof text, c->schedule, c->schedule_count);
		snprintf(key, sizeof key, "cache.%s.%s.schedule", path, level);
		tell_text(t, key, text);
		snprintf(key, sizeof key, "cache.%s.%s.schedule_step", path, level);
		tell_text(t, key, c->step == STEP_MISS ? "miss" : "access");
		snprintf(key, sizeof key, "cache.%s.%s.replacement_probability", path, level);
		tell_array(t, key, even.weight, c->ways, CHANCE_TOLERANCE);
		tell_victim(t, &even, path, level);
	}
	if (c->policy == POLICY_WEIGHTED && c->ways > 1) {
		snprintf(key, sizeof key, "cache.%s.%s.replacement_probability", path, level);
		tell_array(t, key, c->weight, c->ways, CHANCE_TOLERANCE);
		tell_victim(t, c, path, level);
	}
}

struct told {
	const char *property;
	double number, tolerance;
};

static void tell_numbers(struct teller *t, const char *stem, const struct told *told, size_t count)
{
	char key[2 * KEY_BYTES];
	for (size_t i = 0; i < count; i++) {
		snprintf(key, sizeof key, "%s.%s", stem, told[i].property);
		tell_number(t, key, told[i].number, told[i].tolerance);
	}
}

/* Half of what a buffer beside the level keeps, in bytes: it may count as the level's own or not. */
static double spare_of(const struct cache_spec *c)
{
	return (double)c->victims * c->line / 2;
}

/* What misses tell of a level. */
static void tell_geometry(struct teller *t, const struct cache_spec *c, const char *stem)
{
	const double spare = spare_of(c);
	const struct told numbers[] = {
	    /* What a buffer beside the level keeps may count as its own. */
	    {"size", (double)c->size + spare, spare},
	    {"line", c->line, 0},
	    {"sector", c->sector, 0},
	    {"sets", c->sets, 0},
	};
	tell_numbers(t, stem, numbers, sizeof numbers / sizeof numbers[0]);
	tell_ways(t, c, stem);
}

static void tell_cache(struct teller *t, const struct sim_spec *s, const struct cache_spec *c, const char *path,
		       const char *level)
{
	char key[KEY_BYTES];
	const struct told numbers[] = {
	    {"copy_size", (double)c->size, COPY_TOLERANCE * (double)c->size + 2 * spare_of(c)},
	    {"partitions", c->partitions, 0},
	    /* The mean over the lines' partitions: half of them are far. */
	    {"latency", c->latency + (c->partitions > 1 ? c->far_extra / 2 : 0), LATENCY_TOLERANCE},
	};
	snprintf(key, sizeof key, "cache.%s.%s.scope", path, level);
	tell_text(t, key, seen_scope(s, c->scope));
	tell_drawn(t, c, path, level);
	snprintf(key, sizeof key, "cache.%s.%s", path, level);
	tell_numbers(t, key, numbers, sizeof numbers / sizeof numbers[0]);
	tell_mapping(t, c, key);
	tell_policy(t, c, key);
	tell_geometry(t, c, key);
}

static void tell_no_cache(struct teller *t, const char *path, const char *level)
{
	static const char *const properties[] = {"size",       "copy_size", "line",  "sector", "ways",	  "sets",
						 "partitions", "latency",   "scope", "policy", "mapping", "lru"};
	char key[KEY_BYTES];
	for (size_t i = 0; i < sizeof properties / sizeof properties[0]; i++) {
		snprintf(key, sizeof key, "cache.%s.%s.%s", path, level, properties[i]);
		tell_absent(t, key);
	}
}

/* What the port of a level that all SMs share lets through, when every access brings what a miss of the level above fills. */
static void tell_total(struct teller *t, const struct sim_spec *s, const struct path_spec *p, uint32_t level,
		       const char *path)
{
	const struct cache_spec *c = &p->level[level], *up = c - 1;
	char key[KEY_BYTES];
	double fill = up->sector ? up->sector : up->line,
	       rate = c->interval > 0 ? fill / spec_port_turn(c, fill) : INFINITY;
	if (c->bandwidth > 0 && c->bandwidth < rate)
		rate = c->bandwidth;
	if (isinf(rate) || strcmp(seen_scope(s, c->scope), "gpu") != 0)
		return;
	snprintf(key, sizeof key, "cache.%s.%s.bandwidth_total", path, spec_level_names[level]);
	tell_number(t, key, rate, THROUGHPUT_TOLERANCE * rate);
}

static void tell_constant(struct teller *t, const struct sim_spec *s)
{
	const struct path_spec *p = &s->constant;
	for (uint32_t i = 0; i < CONST_LEVELS; i++)
		if (i < p->levels)
			tell_cache(t, s, &p->level[i], "constant", spec_level_names[i]);
		else
			tell_no_cache(t, "constant", spec_level_names[i]);
	for (uint32_t i = 1; i < p->levels; i++)
		tell_total(t, s, p, i, "constant");
	if (p->levels)
		tell_number(t, "cache.constant.levels", p->levels, 0);
	else
		tell_absent(t, "cache.constant.levels");
	/* Also where constants end in the common L2: what that does not hold comes from there. */
	tell_number(t, "memory.constant.latency", p->memory_latency + s->dram.row_miss / 2,
		    LATENCY_TOLERANCE + s->dram.row_miss / 2);
}

/* Which path has the very same cache; "none" where no other has. */
static void tell_shared(struct teller *t, const struct sim_spec *s)
{
	char key[KEY_BYTES];
	for (uint32_t i = 0; i < s->fetch.path.levels; i++) {
		snprintf(key, sizeof key, "cache.instruction.%s.shared_with", spec_level_names[i]);
		tell_text(t, key, spec_share_names[s->fetch.share[i]]);
	}
	for (uint32_t i = 0; i < s->constant.levels; i++) {
		char other[32] = "none";
		for (uint32_t k = 0; k < CONST_LEVELS; k++)
			if (s->fetch.share[k] == (enum fetch_share)(SHARE_CONSTANT_L1 + i))
				snprintf(other, sizeof other, "instruction.%s", spec_level_names[k]);
		snprintf(key, sizeof key, "cache.constant.%s.shared_with", spec_level_names[i]);
		tell_text(t, key, other);
	}
}

static void tell_instruction(struct teller *t, const struct sim_spec *s)
{
	const struct path_spec *p = &s->fetch.path;
	for (uint32_t i = 0; i < CONST_LEVELS; i++) {
		struct cache_spec c = p->level[i];
		/* What the nearest level takes is part of every jump. */
		c.latency -= p->level[0].latency;
		if (i < p->levels)
			tell_cache(t, s, &c, "instruction", spec_level_names[i]);
		else
			tell_no_cache(t, "instruction", spec_level_names[i]);
	}
	if (!p->levels) {
		tell_absent(t, "cache.instruction.levels");
		tell_absent(t, "cache.instruction.fetch_bytes");
		tell_absent(t, "memory.instruction.latency");
		return;
	}
	tell_number(t, "cache.instruction.levels", p->levels, 0);
	tell_number(t, "cache.instruction.fetch_bytes", s->fetch.block, 0);
	tell_number(t, "memory.instruction.latency", p->memory_latency - p->level[0].latency + s->dram.row_miss / 2,
		    LATENCY_TOLERANCE + s->dram.row_miss / 2);
}

static void tell_global(struct teller *t, const struct sim_spec *s)
{
	const struct path_spec *p = &s->global;
	if (s->has_l1) {
		tell_cache(t, s, &p->level[0], "global", "l1");
		if (s->shared_splits)
			tell_geometry(t, s->l1_split.present ? &s->l1_split : &p->level[0], "cache.global.l1.split");
		if (s->has_l2) { /* alone, the two are one */
			tell_number(t, "cache.global.l1.miss_cost", p->level[0].miss_cost, LATENCY_TOLERANCE);
			tell_number(t, "cache.global.l1.fill_cost", p->level[0].fill_cost, 1.5 * LATENCY_TOLERANCE);
		}
	} else {
		tell_no_cache(t, "global", "l1");
		tell_absent(t, "cache.global.l1.miss_cost");
		tell_absent(t, "cache.global.l1.fill_cost");
	}
	if (s->has_l2)
		tell_cache(t, s, &p->level[1], "global", "l2");
	else
		tell_no_cache(t, "global", "l2");
	if (p->levels)
		tell_number(t, "cache.global.levels", p->levels, 0);
	else
		tell_absent(t, "cache.global.levels");
	/* With an open row or without: both are the memory's. */
	tell_number(t, "memory.global.latency", p->memory_latency + s->dram.row_miss / 2,
		    LATENCY_TOLERANCE + s->dram.row_miss / 2);
}

/* Of eight blocks, each of which gets whole pieces. */
static void tell_splits(struct teller *t, const struct sim_spec *s)
{
	enum { BLOCKS = 8, STEP = 16 };
	const uint64_t piece = s->shared_quantum > STEP ? s->shared_quantum : STEP;
	double size[SPEC_SPLITS];
	if (!s->shared_splits) {
		tell_absent(t, "shared.splits");
		return;
	}
	for (uint32_t k = 0; k < s->shared_splits; k++)
		size[k] = (double)(s->shared_split[k] / BLOCKS / piece * piece * BLOCKS);
	tell_array(t, "shared.splits", size, s->shared_splits, BLOCKS * STEP);
}

/* Registers of the largest block, at the worst number for a thread. register_quantum, thread_quantum: as a launch sees them. */
static void tell_worst_fit(struct teller *t, const struct sim_spec *s, uint32_t register_quantum,
			   uint32_t thread_quantum)
{
	static const char *const key[] = {"regfile.least_used", "regfile.least_used_registers",
					  "regfile.least_used_threads"};
	uint32_t worst = UINT32_MAX, at[2] = {0},
		 limit = s->regfile.max_per_thread ? s->regfile.max_per_thread : s->registers_per_sm;
	for (uint32_t r = 1; r <= limit; r++) {
		uint32_t each = (r + register_quantum - 1) / register_quantum * register_quantum;
		uint32_t threads = s->registers_per_sm / each / thread_quantum * thread_quantum;
		if (threads && threads < s->max_threads_per_block && threads * each < worst) {
			worst = threads * each;
			at[0] = each;
			at[1] = threads;
		}
	}
	for (unsigned i = 0; i < 3; i++)
		if (worst < UINT32_MAX)
			tell_number(t, key[i], i ? at[i - 1] : worst, 0);
		else
			tell_absent(t, key[i]);
}

/* As a launch sees it: with registers given to warps, a thread's share of a piece is what its count is rounded to. */
static void tell_registers(struct teller *t, const struct sim_spec *s)
{
	const struct regfile_spec *f = &s->regfile;
	bool warp = f->allocation == ALLOCATE_WARP;
	uint32_t share = warp ? f->unit / s->warp_size : 1, threads = warp ? s->warp_size : 1;
	tell_number(t, "regfile.registers_per_sm", s->registers_per_sm, 0);
	/* Without a limit of its own, all that there are. */
	tell_number(t, "regfile.max_per_thread", f->max_per_thread ? f->max_per_thread : s->registers_per_sm, 0);
	share = share > f->register_quantum ? share : f->register_quantum;
	threads = threads > f->thread_quantum ? threads : f->thread_quantum;
	tell_number(t, "regfile.register_quantum", share, 0);
	tell_number(t, "regfile.thread_quantum", threads, 0);
	tell_worst_fit(t, s, share, threads);
	tell_number(t, "device.max_threads_per_block", s->max_threads_per_block, 0);
	tell_number(t, "shared.per_block", (double)spec_shared_most(s), 15);
	tell_number(t, "shared.size", (double)s->shared_per_sm, 0);
	tell_splits(t, s);
	tell_number(t, "memory.constant.size", (double)s->constant_bytes, 3);
}

/* Without a path of their own, textures are read through the levels behind the L1. */
static void tell_texture(struct teller *t, const struct sim_spec *s)
{
	const struct path_spec *p = &s->texture;
	uint32_t levels = s->has_texture ? p->levels : s->has_l2;
	char key[KEY_BYTES];
	for (uint32_t i = 0; i < CONST_LEVELS; i++) {
		if (i >= levels) {
			tell_no_cache(t, "texture", spec_level_names[i]);
			continue;
		}
		bool shared = !s->has_texture || s->texture_shared[i];
		tell_cache(t, s, s->has_texture ? &p->level[i] : &s->global.level[1], "texture", spec_level_names[i]);
		snprintf(key, sizeof key, "cache.texture.%s.shared_with", spec_level_names[i]);
		tell_text(t, key, shared ? "global.l2" : "none");
	}
	if (levels)
		tell_number(t, "cache.texture.levels", levels, 0);
	else
		tell_absent(t, "cache.texture.levels");
	double memory = s->has_texture ? p->memory_latency : s->global.memory_latency, row = s->dram.row_miss;
	tell_number(t, "memory.texture.latency", memory + row / 2, LATENCY_TOLERANCE + row / 2);
}

static void tell_readonly(struct teller *t, const struct cache_spec *c)
{
	static const char stem[] = "cache.readonly.l1";
	/* Whichever path has the cache that such accesses ask first, they see the same one. */
	tell_geometry(t, c, stem);
	tell_policy(t, c, stem);
	tell_mapping(t, c, stem);
	tell_drawn(t, c, "readonly", "l1");
}

/* Loads marked read-only, and those of local memory: the first level that they ask. */
static void tell_paths(struct teller *t, const struct sim_spec *s)
{
	static const char readonly[] = "cache.readonly.l1.shared_with", local[] = "cache.local.l1.shared_with",
			  latency[] = "cache.readonly.l1.latency";
	const struct path_spec *p = &s->global;
	const bool texture = s->readonly_by_texture;
	if (s->cc >= 20 && (s->has_l1 || s->has_l2)) {
		const bool near = s->has_l1 && !s->local_past_l1;
		tell_text(t, local, near ? "global.l1" : "global.l2");
		tell_geometry(t, &p->level[near ? 0 : 1], "cache.local.l1");
	}
	if (s->cc < 35 || !(texture || s->has_l1 || s->has_l2))
		return;
	const struct cache_spec *c = texture ? &s->texture.level[0] : s->has_l1 ? &p->level[0] : &p->level[1];
	tell_text(t, readonly,
		  texture && !s->texture_shared[0] ? "texture.l1"
		  : !texture && s->has_l1	   ? "global.l1"
						   : "global.l2");
	/* Single accesses on two ways are laid beside each other: of each a clock that counts in steps may hide nearly one. */
	const double steps = texture && s->texture_shared[0] ? 2 * (s->clock_granularity - 1) : 0;
	tell_number(t, latency, c->latency, LATENCY_TOLERANCE + c->far_extra / 2 + steps);
	tell_readonly(t, c);
}

static void tell_tlb(struct teller *t, const struct tlb_spec *p, const char *path)
{
	static const char *const properties[] = {"reach", "line",   "entries", "ways",
						 "sets",  "policy", "lru",     "latency"};
	char key[KEY_BYTES], stem[KEY_BYTES / 2];
	for (uint32_t i = 0; i < TLB_LEVELS; i++) {
		const struct cache_spec *c = &p->level[i];
		snprintf(stem, sizeof stem, "tlb.%s.%s", path, spec_level_names[i]);
		for (size_t k = 0; i >= p->levels && k < sizeof properties / sizeof properties[0]; k++) {
			snprintf(key, sizeof key, "%s.%s", stem, properties[k]);
			tell_absent(t, key);
		}
		if (i >= p->levels)
			continue;
		const struct {
			const char *property;
			double number, tolerance;
		} numbers[] = {{"reach", (double)c->size, 0},
			       {"line", c->line, 0},
			       {"entries", (double)(c->size / c->line), 0},
			       {"sets", c->sets, 0},
			       {"latency", c->latency, LATENCY_TOLERANCE}};
		for (size_t k = 0; k < sizeof numbers / sizeof numbers[0]; k++) {
			snprintf(key, sizeof key, "%s.%s", stem, numbers[k].property);
			tell_number(t, key, numbers[k].number, numbers[k].tolerance);
		}
		tell_ways(t, c, stem);
		tell_policy(t, c, stem);
	}
	snprintf(key, sizeof key, "tlb.%s.miss_latency", path);
	if (p->levels)
		tell_number(t, key, p->miss_latency, LATENCY_TOLERANCE);
	else
		tell_absent(t, key);
	snprintf(key, sizeof key, "tlb.%s.levels", path);
	if (p->levels)
		tell_number(t, key, p->levels, 0);
	else
		tell_absent(t, key);
}

static void tell_translation(struct teller *t, const struct sim_spec *s)
{
	bool own = s->has_texture && !s->tlb_shared;
	const struct tlb_spec *texture = &s->tlb[own ? TLB_TEXTURE : TLB_GLOBAL];
	tell_tlb(t, &s->tlb[TLB_GLOBAL], "global");
	tell_tlb(t, texture, "texture");
	if (s->tlb[TLB_GLOBAL].levels || texture->levels)
		tell_number(t, "tlb.page_size", (double)s->page_size, 0);
	else
		tell_absent(t, "tlb.page_size");
	/* One that is as large as the memory is never left. */
	if (s->tlb_window && s->tlb_window < s->memory_bytes && s->tlb[TLB_GLOBAL].levels)
		tell_number(t, "tlb.active_window", (double)s->tlb_window, 0);
	else
		tell_absent(t, "tlb.active_window");
}

int spec_truth_rest(const struct sim_spec *s, int (*each)(void *ctx, const struct truth *t), void *ctx)
{
	struct teller t = {each, ctx, 0};
	tell_number(&t, "device.sm_count", s->sm_count, 0);
	tell_number(&t, "device.warp_size", s->warp_size, 0);
	/* A clock that boosts now and then runs at a rate between the two. */
	tell_number(&t, "device.clock_hz", s->clock_hz * (1 + s->noise.boost / 2),
		    (0.01 + s->noise.boost / 2) * s->clock_hz);
	tell_number(&t, "topology.sm_per_cluster", s->sm_per_cluster, 0);
	tell_number(&t, "topology.cluster_count", s->cluster_count, 0);
	static const char *const orders[] = {"cluster", "sm", "fill"};
	tell_text(&t, "topology.block_order", orders[s->block_order]);
	/* What a warp does next waits for its next turn, too. */
	const double turn = round(s->warp_interval);
	tell_number(&t, "clock.read_latency",
		    fmax((s->clock_native_ops - 1) * s->clock_op_latency + s->clock_issue, turn), LATENCY_TOLERANCE);
	tell_number(&t, "clock.granularity", s->clock_granularity, 0);
	tell_number(&t, "clock.boost", s->noise.boost, 0.01);
	tell_text(&t, "clock.scope", seen_scope(s, s->clock_scope));
	tell_registers(&t, s);
	tell_number(&t, "barrier.latency", fmax(s->barrier_latency, turn), LATENCY_TOLERANCE);
	tell_text(&t, "branch.independent_threads", s->independent_threads ? "yes" : "no");
	tell_text(&t, "branch.first_path", s->first_path == FIRST_TAKEN ? "taken" : "fallthrough");
	tell_text(&t, "barrier.counts", s->independent_threads ? "thread" : "warp");
	tell_text(&t, "branch.divergence.serialised", "yes");
	tell_text(&t, "branch.divergence.warps_overlap", "yes");
	tell_text(&t, "branch.order_depends_on_tid", "no");
	tell_number(&t, "branch.granularity", s->warp_size, 0);
	tell_number(&t, "branch.divergence.items", s->warp_size, 0);
	tell_text(&t, "barrier.releases_on_exit", "yes");
	tell_text(&t, "barrier.timeout", "no");
	tell_text(&t, "barrier.divergent_pairing", s->independent_threads ? "no" : "yes");
	tell_number(&t, "shared.latency", s->shared.memory_latency, LATENCY_TOLERANCE);
	tell_text(&t, "shared.cached", "no");
	tell_constant(&t, s);
	tell_global(&t, s);
	tell_instruction(&t, s);
	tell_shared(&t, s);
	tell_texture(&t, s);
	tell_paths(&t, s);
	tell_translation(&t, s);
	if (!t.rc)
		t.rc = spec_truth_residency(s, each, ctx);
	if (!t.rc)
		t.rc = spec_truth_rates(s, each, ctx);
	if (!t.rc)
		t.rc = spec_truth_walk(s, each, ctx);
	if (!t.rc)
		t.rc = spec_truth_float(s, each, ctx);
	if (!t.rc)
		t.rc = spec_truth_atomics(s, each, ctx);
	if (!t.rc)
		t.rc = spec_truth_texture(s, each, ctx);
	return t.rc ? t.rc : spec_truth_requests(s, each, ctx);
}

int spec_truth(const struct sim_spec *s, int (*each)(void *ctx, const struct truth *t), void *ctx)
{
	const int rc = spec_truth_core(s, each, ctx);
	return rc ? rc : spec_truth_rest(s, each, ctx);
}
