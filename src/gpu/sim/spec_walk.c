/* What loads of each size take: by the nearest cache, from memory, and one after the other. */
#include "gpu/sim/spec_file.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define TOLERANCE	0.05
#define STREAM		0.06
#define PAIRED		3.5 /* how additions find their place between loads is more than this knows */
#define ALONE		0.25
#define UNCLEAR		1e6 /* what holds the stream up is more than this knows */
#define BLOCK		128 /* threads; streams of global memory have ... */
#define BLOCKS		8   /* ... so many blocks for each SM, where its threads allow it */
#define LOADS		8   /* ... whose warps have so many loads under way */
#define PARTITIONS_EVEN 8   /* times round all partitions: what is left over of the last one is little */

#define CAPACITY      0.15 /* of what a random walk tells */
#define APART_SIZE    3	   /* levels of which the second is not so much larger may be met as one */
#define APART_LATENCY 1.2
#define WALK_LEVELS   5

struct wait {
	double cycles, tolerance;
};

/* The wait for a load of one thread by this path, answered by the nearest level or missing all of them. With `l1` it
 * asks the L1 of global memory. */
static struct wait wait_by(const struct sim_spec *s, const struct path_spec *p, bool global, bool nearest, bool l1)
{
	struct wait w = {p->memory_latency + s->dram.row_miss / 2, s->dram.row_miss / 2};
	const struct cache_spec *c = p->levels ? &p->level[0] : NULL;
	enum cache_scope scope = SCOPE_GPU;
	if (global)
		c = l1 ? &p->level[0] : s->has_l2 ? &p->level[1] : NULL;
	/* Without a cache of their own constants are in the GPU's common L2. */
	if (p == &s->constant && !c && s->constant_uses_l2)
		c = &s->global.level[1];
	if (global && l1)
		w.cycles += p->level[0].miss_cost + p->level[0].fill_cost;
	if (nearest && c) {
		const double far = c->partitions > 1 ? c->far_extra : 0;
		w = (struct wait){c->latency + far / 2, far / 2};
		scope = c->scope;
	}
	for (uint32_t k = 0; scope == SCOPE_GPU && k < s->cluster_count; k++)
		w.tolerance = fmax(w.tolerance, fabs(s->cluster_offset[k]));
	if (scope != SCOPE_SM)
		w.tolerance += s->noise.jitter_probability * s->noise.jitter_cycles;
	/* What comes at any moment waits for half of a refresh, if it meets one. */
	if (scope == SCOPE_GPU && s->noise.refresh_interval >= 1)
		w.tolerance += s->noise.refresh_cycles * s->noise.refresh_cycles / 2 / s->noise.refresh_interval;
	w.cycles += p->address_ops * p->address_latency;
	w.tolerance += 1 + TOLERANCE * w.cycles;
	return w;
}

static struct wait wait_of(const struct sim_spec *s, const struct path_spec *p, bool global, bool nearest)
{
	return wait_by(s, p, global, nearest, s->has_l1);
}

/* Cycles an SM takes for one warp load of 4 bytes that hits. It has as many warps as it has room for, and each adds
 * `others` additions. */
static double issue_of(const struct sim_spec *s, const struct path_spec *p, double latency, double others, bool alone)
{
	const double threads = fmax(s->max_threads_per_block, s->max_threads_per_sm), warps = threads / s->warp_size,
		     halves = s->warp_size > 32 ? 2 : 1;
	const double steps = 1 + p->address_ops, flight = alone ? 1 : s->loads_in_flight ? s->loads_in_flight : 12;
	const struct op_spec *add = &s->op[s->default_op];
	const int at = spec_find_op(s, "add", "u32");
	add = at >= 0 ? &s->op[at] : add;
	const double alu = (others + p->address_ops) * s->warp_size / add->throughput;
	double t = fmax(halves * p->issue + p->request, (steps + others) * s->scheduler_issue / s->schedulers);
	bool same = false;
	for (uint32_t k = 0; k < add->pipe_count; k++)
		same |= add->pipe[k] == p->pipe;
	t = same ? t + alu : fmax(t, alu);
	if (p->levels) /* the port of the cache that is hit */
		t = fmax(t, halves * p->level[0].interval);
	return fmax(t, fmax(latency / (warps * flight), p->address_ops * p->address_latency / warps));
}

static int tell_stream(const struct sim_spec *s, const char *space, uint32_t bytes, double issue, double tolerance,
		       int (*each)(void *ctx, const struct truth *t), void *ctx)
{
	char key[64];
	const double rate = (double)s->warp_size * bytes * s->sm_count * s->clock_hz * 1e-9 / issue;
	snprintf(key, sizeof key, "memory.%s.%u.issue", space, bytes);
	int rc = each(ctx, &(struct truth){.key = key, .number = issue, .tolerance = tolerance * issue});
	snprintf(key, sizeof key, "memory.%s.%u.bandwidth", space, bytes);
	return rc ? rc : each(ctx, &(struct truth){.key = key, .number = rate, .tolerance = tolerance * rate});
}

/* How many times a stream may fetch what a warp's load wants. If a cache fills more than that at once, the neighbours'
 * loads find the rest there. What all warps have under way may drive it out first, however. An SM's own cache fills
 * more than a block wants side by side. The neighbours are on other SMs then, which fetch it as well. */
static double fetched_again(const struct sim_spec *s, double warp)
{
	const double block = fmax(1, (double)BLOCK / s->warp_size) * warp;
	const double warps = fmin(BLOCKS * BLOCK, s->max_threads_per_sm) / s->warp_size,
		     flight = s->loads_in_flight && s->loads_in_flight < LOADS ? s->loads_in_flight : LOADS;
	double times = 1;
	for (uint32_t k = 0; k < 2; k++) {
		const struct cache_spec *c = &s->global.level[k];
		const double asked = (c->scope == SCOPE_GPU ? s->sm_count : 1) * warps * flight * warp;
		if ((k ? s->has_l2 : s->has_l1) && asked > (double)c->size / 2)
			times = fmax(times, c->sector / warp);
		else if (!k && s->has_l1 && c->scope == SCOPE_SM)
			times = fmax(times, c->sector / block);
	}
	return times;
}

/* Cycles an SM takes for a warp's load of global memory, each byte once, where that is clear; tolerance: part of it. */
static struct wait global_stream(const struct sim_spec *s, uint32_t bytes, double flight)
{
	const double warp = (double)s->warp_size * bytes, sms = s->sm_count;
	/* The oldest rule puts nothing together that has less than 4 bytes. */
	const bool apart = s->coalesce == COALESCE_G80 && bytes < 4;
	/* The older rules put together what half of 32 threads want, 32 bytes at least: without a cache the other half asks again. */
	const bool again = s->coalesce != COALESCE_LINES && !s->has_l1 && !s->has_l2;
	const double halves = s->warp_size / 16.0, moved = apart   ? s->warp_size * 32.0
							   : again ? halves * fmax(32, warp / halves)
								   : warp;
	/* The port of the L2 may be narrower than the memory. */
	const double port = spec_l2_port(s), memory = fmax(s->dram_bandwidth > 0 ? sms * moved / s->dram_bandwidth : 0,
							   port > 0 ? sms * moved / port : 0);
	const double pieces = apart ? s->warp_size : fmax(s->warp_size / 32, warp / s->coalesce_segment);
	const struct cache_spec *l1 = s->has_l1 ? &s->global.level[0] : NULL,
				*l2 = s->has_l2 ? &s->global.level[1] : NULL;
	/* What the L1 fills at once is one access of the L2, which takes those of all SMs in turn. */
	const double fills =
	    l1 && l1->sector > s->coalesce_segment ? pieces * s->coalesce_segment / l1->sector : pieces;
	const double pipe = fmax(s->global.issue * pieces + s->global.request,
				 fmax(l1 ? spec_port_turn(l1, warp / pieces) * pieces : 0,
				      l2 ? sms * spec_port_turn(l2, warp / fills) * fills : 0));
	const double warps = 16;
	const double wait = 2 * s->global.memory_latency / (warps * flight);
	/* Each load comes with an address and a sum, which SMs of few schedulers and wide warps issue no faster. */
	const struct op_spec *add = &s->op[s->default_op];
	const double beside =
	    fmax((1 + 2.0 * add->native_ops) * (s->warp_size / 32.0) * s->scheduler_issue / s->schedulers,
		 add->throughput > 0 ? 2 * s->warp_size / add->throughput : 0);
	const bool clear = memory > 2 * fmax(fmax(pipe, wait), beside) && s->outstanding == OUTSTANDING_NONE &&
			   !s->dram.banks && memory > 8;
	/* Blocks that an SM has no place for come when others have ended, wherever that is. The last of them may have a
	 * few SMs read alone. */
	const double blocks = fmax(1, floor(fmin(BLOCKS * BLOCK, s->max_threads_per_sm) / BLOCK)),
		     late =
			 s->max_blocks_per_sm && s->max_blocks_per_sm < blocks ? 1 - s->max_blocks_per_sm / blocks : 0;
	/* And those that there is a place for may all read the same partitions of the memory. */
	const double turn = s->max_blocks_per_sm * sms * BLOCK * bytes,
		     all = (double)s->memory_partitions * (double)s->partition_stride;
	const bool even = late == 0 || s->memory_partitions < 2 || turn >= PARTITIONS_EVEN * all;
	/* Anything from once to so many times. */
	const double more = (fetched_again(s, moved) - 1) / 2;
	return (struct wait){fmax(fmax((1 + more) * memory, pipe), 1),
			     clear && even ? 3 * STREAM + late + more : UNCLEAR};
}

/* Cycles of one warp on each SM for a load of global memory. The warp makes as many as 64 bytes a thread hold, and no
 * more than 8. They are the first one's latency, what keeps the others apart, and a few instructions behind the last.
 * Clear if each load misses all caches and waits for others less than for the memory. */
static struct wait alone_of(const struct sim_spec *s, uint32_t bytes)
{
	const uint32_t loads = bytes > 8 ? 64 / bytes : 8, flight = s->loads_in_flight ? s->loads_in_flight : loads,
		       rounds = (loads + flight - 1) / flight;
	const struct wait full = global_stream(s, bytes, 1);
	const struct op_spec *add = &s->op[s->default_op];
	/* Each load's address is the last one's and a step. */
	const double apart = fmax(fmax(full.cycles, s->warp_interval), add->latency),
		     few = 4 * add->latency + s->branch_latency;
	const double cycles = rounds * s->global.memory_latency + (loads - rounds) * apart + few;
	bool clear = s->coalesce == COALESCE_LINES && s->outstanding == OUTSTANDING_NONE && !s->dram.banks &&
		     !s->tlb[TLB_GLOBAL].levels && !s->global.address_ops && s->warp_size == 32 &&
		     2 * loads * apart < s->global.memory_latency;
	for (uint32_t k = 0; k < 2; k++) {
		const struct cache_spec *c = &s->global.level[k];
		if (k ? s->has_l2 : s->has_l1)
			clear &= (c->sector ? c->sector : c->line) <= s->warp_size * bytes && c->bandwidth == 0;
	}
	return (struct wait){cycles / loads, clear ? ALONE : UNCLEAR};
}

/* Streams: shared and constant memory by what an SM issues, global memory by what the memory gives, where that is clear. */
static int tell_streams(const struct sim_spec *s, int (*each)(void *ctx, const struct truth *t), void *ctx)
{
	const struct wait constant = wait_of(s, &s->constant, false, true);
	int rc =
	    tell_stream(s, "shared", 4, issue_of(s, &s->shared, s->shared.memory_latency, 0, false), STREAM, each, ctx);
	/* Without a cache all loads want one place of the memory, those of other SMs, too. */
	if (!rc)
		rc = tell_stream(s, "constant", 4, issue_of(s, &s->constant, constant.cycles, 1, s->constant_blocks),
				 s->constant.levels ? PAIRED : UNCLEAR, each, ctx);
	for (uint32_t bytes = 1; bytes <= 16 && !rc; bytes *= 2) {
		const struct wait t = global_stream(s, bytes, s->loads_in_flight ? s->loads_in_flight : 4);
		rc = tell_stream(s, "global", bytes, t.cycles, t.tolerance, each, ctx);
	}
	for (uint32_t bytes = 1; bytes <= 16 && !rc; bytes *= 2) {
		const struct wait t = alone_of(s, bytes);
		char key[64];
		snprintf(key, sizeof key, "memory.global.%u.one_warp", bytes);
		rc = each(ctx, &(struct truth){.key = key, .number = t.cycles, .tolerance = t.tolerance * t.cycles});
	}
	for (unsigned k = 0; k < 3 && !rc; k++) {
		static const char *const keys[] = {"memory.global.loop.dynamic", "memory.global.loop.constant",
						   "memory.global.loop.unrolled"};
		const struct wait t = global_stream(s, 4, 1);
		const double rate = (double)s->warp_size * 4 * s->sm_count * s->clock_hz * 1e-9 / t.cycles;
		rc = each(ctx, &(struct truth){.key = keys[k], .number = rate, .tolerance = t.tolerance * rate});
	}
	return rc;
}

/* Levels that a random walk through a growing array meets on this path. Those of nearly one size or one latency are met
 * as one. The number of all that follow is then not clear. It is not clear either if misses of a translation cost as
 * much as a level. */
static int tell_levels(const struct sim_spec *s, const struct path_spec *p, bool global,
		       int (*each)(void *ctx, const struct truth *t), void *ctx)
{
	double size[CONST_LEVELS + 1] = {0}, latency[CONST_LEVELS + 1] = {0};
	bool clear = !global || !s->tlb[TLB_GLOBAL].levels;
	uint32_t n = 0, levels = global ? 2 : p->levels;
	const double vain = global && s->has_l1 ? p->level[0].miss_cost : 0,
		     fill = global && s->has_l1 ? p->level[0].fill_cost : 0;
	for (uint32_t k = 0; k < levels; k++) {
		const struct cache_spec *c = &p->level[k];
		if (!global || (k ? s->has_l2 : s->has_l1)) {
			size[n] = (double)c->size;
			latency[n++] =
			    c->latency + (c->partitions > 1 ? c->far_extra / 2 : 0) + (global && k ? vain : 0);
		}
	}
	size[n] = (double)(global ? s->memory_bytes : s->constant_bytes);
	/* Constants may come from the GPU's common L2, of which some belongs to others. */
	const bool common = !global && s->constant_uses_l2;
	latency[n++] = common ? s->global.level[1].latency : p->memory_latency + s->dram.row_miss / 2 + vain + fill;
	for (uint32_t k = 0; k < WALK_LEVELS; k++) {
		char key[64];
		clear = clear && k < (common ? n - 1 : n) &&
			(k + 1 == n || latency[k + 1] > APART_LATENCY * latency[k]) &&
			(k == 0 || size[k] > APART_SIZE * size[k - 1]);
		/* The last one's end is not looked for. */
		const double bytes = clear && k + 1 < n ? size[k] : INFINITY, cycles = clear ? latency[k] : INFINITY,
			     more = wait_of(s, p, global, false).tolerance + p->address_ops * p->address_latency;
		snprintf(key, sizeof key, "walk.%s.%u.capacity", global ? "global" : "constant", k + 1);
		int rc =
		    global ? 0 : each(ctx, &(struct truth){.key = key, .number = bytes, .tolerance = CAPACITY * bytes});
		snprintf(key, sizeof key, "walk.%s.%u.latency", global ? "global" : "constant", k + 1);
		if (!rc && (!global || !k))
			rc = each(
			    ctx, &(struct truth){.key = key, .number = cycles, .tolerance = TOLERANCE * cycles + more});
		if (rc)
			return rc;
	}
	return 0;
}

int spec_truth_walk(const struct sim_spec *s, int (*each)(void *ctx, const struct truth *t), void *ctx)
{
	const struct {
		const char *space, *part;
		const struct path_spec *path;
		uint32_t least, most;
		bool l1;
	} rows[] = {{"global", "timed_hit", &s->global, 1, 16, s->has_l1},
		    {"global", "timed_latency", &s->global, 1, 16, s->has_l1},
		    {"shared", "timed_latency", &s->shared, 4, 4, false},
		    {"constant", "timed_hit", &s->constant, 4, 4, false},
		    {"private", "timed_hit", &s->global, 4, 4, s->has_l1 && !s->local_past_l1}};
	int rc = 0;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		for (uint32_t bytes = rows[i].least; bytes <= rows[i].most && !rc; bytes *= 2) {
			char key[64];
			const struct wait w = wait_by(s, rows[i].path, rows[i].path == &s->global,
						      strcmp(rows[i].part, "timed_hit") == 0, rows[i].l1);
			snprintf(key, sizeof key, "memory.%s.%u.%s", rows[i].space, bytes, rows[i].part);
			rc = each(ctx, &(struct truth){.key = key, .number = w.cycles, .tolerance = w.tolerance});
		}
	if (!rc)
		rc = tell_levels(s, &s->global, true, each, ctx);
	if (!rc)
		rc = tell_levels(s, &s->constant, false, each, ctx);
	return rc ? rc : tell_streams(s, each, ctx);
}
