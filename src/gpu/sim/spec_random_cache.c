/* What random GPUs have of caches beyond the plain ones: unequal sets, higher set bits, nru, ports, write policies, a texture path
 * and TLBs. Each from a stream of its own, so that what was drawn before any of them existed is still drawn. */
#include "base/rng.h"
#include "base/str.h"
#include "data/schedule.h"
#include "gpu/sim/spec_random.h"
#include "gpu/sim/spec_random_draw.h"
#include <stdio.h>
#include <string.h>

struct stream {
	struct rng r;
	struct str *out;
};

static struct stream stream_of(struct str *out, const char *piece, uint64_t seed)
{
	struct stream d = {.out = out};
	rng_seed(&d.r, hash64(piece, strlen(piece), seed));
	return d;
}

static void put(struct stream *d, const char *stem, const char *property, const char *unit, long long value)
{
	str_addf(d->out, "%s.%s = %lld %s # guess: drawn\n", stem, property, value, unit);
}

static void put_name(struct stream *d, const char *stem, const char *property, const char *value)
{
	str_addf(d->out, "%s.%s = %s name # guess: drawn\n", stem, property, value);
}

static int bits_of(long long n)
{
	int bits = 0;
	while (n > 1) {
		n >>= 1;
		bits++;
	}
	return bits;
}

/* Ways of each set, of which some give one or more to others: as many lines as before. */
static void put_unequal(struct stream *d, const char *stem, int sets, int ways)
{
	int size[32] = {0};
	for (int i = 0; i < sets; i++)
		size[i] = ways;
	for (int n = draw_between(&d->r, 1, sets); n > 0; n--) {
		int from = draw_between(&d->r, 0, sets - 1), to = draw_between(&d->r, 0, sets - 1),
		    give = draw_between(&d->r, 1, 3);
		if (from != to && size[from] - give >= 2 && size[to] + give <= 40) {
			size[from] -= give;
			size[to] += give;
		}
	}
	str_addf(d->out, "%s.set_sizes = ", stem);
	for (int i = 0; i < sets; i++)
		str_addf(d->out, "%s%d", i ? ", " : "", size[i]);
	str_addf(d->out, " count # guess: drawn\n");
}

void spec_random_twist(struct cache_twist *out, const char *stem, uint64_t seed, const struct cache_drawn *c)
{
	struct stream d = stream_of(NULL, stem, seed);
	*out = (struct cache_twist){.policy = NULL};
	int kind = draw_between(&d.r, 0, 11);
	bool plain =
	    strcmp(c->mapping, "modulo") == 0 && strcmp(c->policy, "weighted") != 0 && strcmp(c->policy, "plru") != 0;
	if (kind == 0)
		out->policy = strcmp(c->policy, "weighted") ? "nru" : NULL;
	else if (kind == 1)
		out->unequal = plain && c->sets >= 2 && c->sets <= 32;
	else if (kind == 2 && plain && c->ways % 4 == 0)
		out->set_bits_from = bits_of(c->line) + draw_between(&d.r, 1, 2);
	else if (kind == 3 && plain && c->ways >= 3 && c->ways <= 16)
		out->policy = "schedule";
}

/* Every way once, and some of them again. */
void spec_random_schedule(struct str *out, const char *stem, uint64_t seed, const struct cache_drawn *c)
{
	struct stream d = stream_of(out, stem, seed + 2);
	int way[SCHEDULE_MOST] = {0}, n = c->ways + draw_between(&d.r, 1, c->ways < 8 ? c->ways : 8);
	for (int i = 0; i < n; i++) {
		int k = draw_between(&d.r, 0, i);
		way[i] = way[k];
		way[k] = i < c->ways ? i + 1 : draw_between(&d.r, 1, c->ways);
	}
	str_addf(d.out, "%s.schedule = ", stem);
	for (int i = 0; i < n; i++)
		str_addf(d.out, "%s%d", i ? ", " : "", way[i]);
	str_addf(d.out, " count # guess: drawn\n");
	put_name(&d, stem, "schedule_step", draw_chance(&d.r, 0.5) ? "access" : "miss");
}

void spec_random_unequal(struct str *out, const char *stem, uint64_t seed, const struct cache_drawn *c)
{
	struct stream d = stream_of(out, stem, seed + 1);
	put_unequal(&d, stem, c->sets, c->ways);
}

/* ---- what may be added to any cache ---- */
void spec_random_interval(struct str *out, const char *stem, uint64_t seed, int latency)
{
	struct stream d = stream_of(out, "interval", hash64(stem, strlen(stem), seed));
	if (draw_chance(&d.r, 0.1))
		str_addf(out, "%s.interval = %g cycles # guess: drawn\n", stem,
			 draw_between(&d.r, 1, latency < 16 ? 4 * latency : 64) / 4.0);
}

void spec_random_extras(struct str *out, uint64_t seed, int constant_levels, bool l1, bool l2)
{
	static const char *const levels[] = {"l1", "l2", "l3"};
	struct stream d = stream_of(out, "cache extras", seed);
	char stem[64];
	for (int i = 0; i < constant_levels && i < 3; i++) {
		snprintf(stem, sizeof stem, "cache.constant.%s", levels[i]);
		if (draw_chance(&d.r, 0.2))
			put(&d, stem, "bandwidth", "bytes/clk", draw_between(&d.r, 4, 64));
	}
	if (l1 && draw_chance(&d.r, 0.3))
		put_name(&d, "cache.global.l1", "write", "evict");
	if (l2 && draw_chance(&d.r, 0.3)) {
		put_name(&d, "cache.global.l2", "write", "back");
		str_addf(out, "cache.global.l2.write_allocate = yes yes/no # guess: drawn\n");
	}
	if (l2 && draw_chance(&d.r, 0.2))
		put(&d, "cache.global.l2", "bandwidth", "bytes/clk", draw_between(&d.r, 64, 512));
	if (l2 && draw_chance(&d.r, 0.1))
		str_addf(out, "cache.global.l2.store_interval = %g cycles # guess: drawn\n",
			 draw_between(&d.r, 1, 16) / 16.0);
}

void spec_random_ordinary(struct str *out, uint64_t seed, bool l1)
{
	struct stream d = stream_of(out, "ordinary kernels", seed);
	if (l1 && draw_chance(&d.r, 0.3))
		str_addf(out, "cache.global.l1.emptied = yes yes/no # guess: drawn\n");
	if (l1 && draw_chance(&d.r, 0.1))
		put(&d, "cache.global.l1", "tags", "count", draw_between(&d.r, 1, 4));
	if (draw_chance(&d.r, 0.2))
		put(&d, "shared", "conflict_issue", "cycles", draw_between(&d.r, 1, 4));
	if (draw_chance(&d.r, 0.2))
		put(&d, "compiler", "registers", "count", draw_between(&d.r, 8, 64));
	if (draw_chance(&d.r, 0.1))
		str_addf(out, "compiler.shared_operands = yes yes/no # guess: drawn\n");
	if (draw_chance(&d.r, 0.1))
		put(&d, "shared", "operand_issue", "cycles", draw_between(&d.r, 1, 4));
	if (draw_chance(&d.r, 0.1))
		put(&d, "branch", "predicate", "cycles", draw_between(&d.r, 4, 20));
	const bool split = draw_chance(&d.r, 0.2);
	if (split)
		put(&d, "branch", "split", "cycles", draw_between(&d.r, 4, 60));
	if (l1 && draw_chance(&d.r, 0.05))
		put(&d, "cache.global.l1", "access", "bytes", 64);
	if (split && draw_chance(&d.r, 0.7))
		put(&d, "branch", "split_issue", "cycles", draw_between(&d.r, 4, 40));
	if (draw_chance(&d.r, 0.2))
		put(&d, "branch", "issue", "cycles", draw_between(&d.r, 1, 4));
	if (draw_chance(&d.r, 0.2)) {
		put(&d, "branch", "meet", "cycles", draw_between(&d.r, 1, 30));
		put(&d, "branch", "meet_ops", "count", draw_between(&d.r, 1, 3));
	}
}

void spec_random_costs(struct str *out, uint64_t seed)
{
	struct stream d = stream_of(out, "cost of an L1", seed);
	if (!draw_chance(&d.r, 0.3))
		return;
	put(&d, "cache.global.l1", "miss_cost", "cycles", draw_between(&d.r, 1, 16));
	put(&d, "cache.global.l1", "fill_cost", "cycles", draw_between(&d.r, 0, 16));
}

/* ---- textures ---- */
static void texture_level(struct stream *d, uint64_t seed, const char *stem, long long least, long long most, int line,
			  int latency, const char *scope, long long *size)
{
	static const char *const policies[] = {"lru", "lru", "nru", "fifo", "random"};
	int ways = draw_between(&d->r, 4, 24), kind = draw_between(&d->r, 0, 5);
	long long sets = least / ((long long)line * ways) + 1 +
			 (long long)rng_below(&d->r, (uint64_t)((most - least) / ((long long)line * ways) + 1));
	if (kind == 0) { /* neighbours share a set */
		ways = ways / 4 * 4;
		put(d, stem, "set_bits_from", "count", bits_of(line) + draw_between(&d->r, 1, 2));
	}
	if (kind == 1 && sets >= 2 && sets <= 32) {
		put_unequal(d, stem, (int)sets, ways);
	} else {
		put(d, stem, "ways", "count", ways);
		put(d, stem, "sets", "count", sets);
	}
	*size = sets * ways * line;
	put(d, stem, "size", "bytes", *size);
	put(d, stem, "line", "bytes", line);
	put(d, stem, "latency", "cycles", latency);
	put_name(d, stem, "policy", policies[draw_between(&d->r, 0, 4)]);
	put_name(d, stem, "scope", scope);
	spec_random_interval(d->out, stem, seed, latency);
}

/* Whether the last level of textures is the global path's L2, which each level above it has to fit into. The level
 * above has `size` and `line`, 0 if there is none. */
static bool roll_common(struct str *out, uint64_t seed, const char *stem, long long size, int line, int latency)
{
	struct stream d = stream_of(out, "texture in the L2", seed);
	if (!draw_chance(&d.r, 0.5) || spec_random_number(out, "cache.global.l2", "size") < 4 * size ||
	    spec_random_number(out, "cache.global.l2", "line") < (line > 32 ? line : 32))
		return false;
	spec_random_again(out, "cache.global.l2", stem);
	put(&d, stem, "latency", "cycles", latency);
	return true;
}

static bool roll_texture(struct str *out, uint64_t seed, int spread)
{
	static const char *const scopes[] = {"sm", "cluster"};
	struct stream d = stream_of(out, "texture path", seed);
	if (!draw_chance(&d.r, 1.0 / 3))
		return false;
	int levels = draw_between(&d.r, 0, 2), latency = draw_between(&d.r, 80, 260),
	    line = 32 << draw_between(&d.r, 0, 1);
	long long size = 0;
	put(&d, "cache.texture", "levels", "count", levels);
	const bool only = levels == 1 && roll_common(out, seed, "cache.texture.l1", 0, 0, latency);
	if (levels > 0 && !only)
		texture_level(&d, seed, "cache.texture.l1", 2048, 16384, line, latency,
			      scopes[draw_between(&d.r, 0, 1)], &size);
	if (levels > 0 && !only)
		put_name(&d, "cache.texture.l1", "addressed", "virtual");
	latency += 20 + spread + draw_between(&d.r, 30, 120);
	const int fills = line;
	line *= 1 << draw_between(&d.r, 0, 2);
	const bool last = levels > 1 && roll_common(out, seed, "cache.texture.l2", size, fills, latency);
	if (levels > 1 && !last)
		texture_level(&d, seed, "cache.texture.l2", 4 * size, 262144, line, latency, "gpu", &size);
	if (only || last)
		latency += (int)spec_random_number(out, "cache.global.l2", "far_extra");
	latency += 20 + spread + draw_between(&d.r, 50, 200);
	put(&d, "memory.texture", "latency", "cycles", latency);
	put(&d, "load.texture", "issue", "cycles", draw_between(&d.r, 1, 4));
	put_name(&d, "load.texture", "unit", "mem");
	return true;
}

/* ---- translation ---- */
#define REACH_MOST (128ll << 20) /* half of the memory */
/* One of so many levels finds the set of an entry by a hash, which wants a power of two of sets. */
#define HASHED 3
static void roll_path(struct stream *d, const char *path, int page, uint64_t seed)
{
	static const char *const scopes[] = {"sm", "cluster", "gpu"}, *const policies[] = {"lru", "lru", "nru", "fifo"};
	int levels = draw_between(&d->r, 1, 2), scope = draw_between(&d->r, 0, 2);
	long long line = (long long)page << draw_between(&d->r, 0, 3), entries = draw_between(&d->r, 8, 32);
	char stem[64];
	struct stream m = stream_of(d->out, "tlb mapping", seed + (uint64_t)path[0]);
	/* What reaches further than the memory is never missed. */
	while (line > page && entries * line > REACH_MOST / 4)
		line /= 2;
	snprintf(stem, sizeof stem, "tlb.%s", path);
	put(d, stem, "levels", "count", levels);
	put(d, stem, "miss_latency", "cycles", draw_between(&d->r, 100, 400));
	for (int i = 0; i < levels; i++) {
		snprintf(stem, sizeof stem, "tlb.%s.l%d", path, i + 1);
		put(d, stem, "line", "bytes", line);
		put_name(d, stem, "scope", scopes[scope]);
		put_name(d, stem, "policy", policies[draw_between(&d->r, 0, 3)]);
		if (i == 0) {
			put(d, stem, "entries", "count", entries);
			long long reach = entries * line;
			bool pages = draw_chance(&d->r, 0.5) && line > page;
			line = pages ? page : line;
			if (pages && levels > 1) /* what fills an entry knows one page */
				put(d, stem, "sector", "bytes", page);
			entries = 2 * reach / line;
			scope = draw_between(&d->r, scope, 2);
			continue;
		}
		int ways = draw_between(&d->r, 4, 16), sets = (int)(entries / ways) + draw_between(&d->r, 1, 24);
		while (sets > 1 && sets * ways * line > REACH_MOST)
			sets--;
		put(d, stem, "latency", "cycles", draw_between(&d->r, 30, 80));
		const bool unequal = sets >= 2 && sets <= 32 && draw_chance(&d->r, 0.3);
		int power = 1;
		while (power < sets)
			power *= 2;
		if (!unequal && power * ways * line <= REACH_MOST && draw_chance(&m.r, 1.0 / HASHED)) {
			put_name(d, stem, "mapping", "hash");
			sets = power;
		}
		if (unequal) {
			put_unequal(d, stem, sets, ways);
		} else {
			put(d, stem, "entries", "count", (long long)sets * ways);
			put(d, stem, "ways", "count", ways);
		}
	}
}

/* A walk may go through the L2, as all data of the path then do. Page table entries that nothing displaces would be one
 * more level of the TLB by every timing. */
static void roll_walk(struct str *out, uint64_t seed, const char *stem)
{
	struct stream d = stream_of(out, "tlb walk", seed);
	bool through = draw_chance(&d.r, 0.25);
	int memory = draw_between(&d.r, 50, 500);
	if (!through)
		return;
	put_name(&d, stem, "walk", "global.l2");
	put(&d, stem, "walk_memory", "cycles", memory);
}

void spec_random_paths(struct str *out, uint64_t seed, int spread, bool l1, bool l2)
{
	bool texture = roll_texture(out, seed, spread);
	struct stream ways = stream_of(out, "paths", seed);
	if (draw_chance(&ways.r, 0.5) && texture && spec_random_number(out, "cache.texture", "levels") > 0)
		put_name(&ways, "cache.readonly.l1", "shared_with", "texture.l1");
	if (draw_chance(&ways.r, 0.15) && l1 && l2)
		put_name(&ways, "cache.local.l1", "shared_with", "global.l2");
	struct stream d = stream_of(out, "tlb", seed);
	bool on_texture = draw_chance(&d.r, 0.5) && texture, on_global = draw_chance(&d.r, 1.0 / 3);
	int page = 4096 << 4 * draw_between(&d.r, 0, 2);
	if (!on_texture && !on_global)
		return;
	put(&d, "tlb", "page_size", "bytes", page);
	if (on_global) {
		roll_path(&d, "global", page, seed);
		if (l1)
			put_name(&d, "cache.global.l1", "addressed", "virtual");
	}
	const bool shared = on_texture && on_global && draw_chance(&d.r, 0.5);
	if (shared)
		put_name(&d, "tlb.texture", "shared_with", "global");
	else if (on_texture)
		roll_path(&d, "texture", page, seed);
	if (on_global && l2 && !shared)
		roll_walk(out, seed, "tlb.global");
	if (draw_chance(&d.r, 0.2)) {
		put(&d, "tlb", "active_window", "MB", 512);
		put(&d, "tlb", "window_switch", "cycles", draw_between(&d.r, 100, 400));
	}
}
