/* Random GPUs for calibration, as .gpu text: what a probe's author did not think of. Structures are kept far enough apart that
 * they exist in the timings at all; whether a probe finds them is what calibration asks. */
#include "gpu/sim/spec_random.h"
#include "base/rng.h"
#include "base/str.h"
#include "gpu/sim/spec.h"
#include "gpu/sim/spec_random_draw.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CLUSTERS_MAX 24

struct dice {
	struct rng r;
	struct str *out;
	int sm_count, per_cluster, clusters;
	int schedulers, warp;
	double issue_interval;
	int block_threads;
	bool f64, f16, fma;
	const char *per; /* of the arithmetic pipes */
	struct pipes_drawn pipes;
	int offset[CLUSTERS_MAX];
	int spread; /* nearest to farthest cluster, cycles */
	bool no_global_cache;
	uint64_t seed;
	int constant_levels;
	int constant_last, constant_memory; /* latencies of the last level, and of the memory behind it */
	int shared_bytes;		    /* of an SM */
	bool lent;			    /* the L1 gives ways to shared memory */
	bool l1, l2;			    /* of the global path */
	bool modulo;			    /* the last level that was drawn finds its equal sets by a remainder */
	int l1_ways;			    /* 0: of unequal or hashed sets */
	long long l1_size;
	double nearest; /* least latency of all operations and of the nearest constants, cycles */
};

/* ---- device and core ---- */
static void roll_device(struct dice *d, uint64_t seed)
{
	static const struct {
		int cc;
		const char *ptx;
	} targets[] = {{13, "1.4"}, {20, "2.0"}, {35, "3.1"}, {52, "4.1"},
		       {60, "5.0"}, {70, "6.0"}, {80, "7.0"}, {90, "7.8"}};
	int t = draw_between(&d->r, 0, (int)(sizeof targets / sizeof targets[0]) - 1), cc = targets[t].cc;
	d->per_cluster = draw_between(&d->r, 1, 4);
	d->clusters = draw_between(&d->r, 1, 24 / d->per_cluster);
	if (d->per_cluster * d->clusters < 2)
		d->clusters = 2;
	d->sm_count = d->clusters * d->per_cluster;
	d->warp = spec_random_warp(seed);
	d->f64 = draw_chance(&d->r, 0.8);
	d->f16 = cc >= 60 && draw_chance(&d->r, 0.8);
	d->fma = cc >= 20;
	d->block_threads = draw_between(&d->r, 0, 1) ? 512 : 1024;
	draw_put(d->out, "device.name", "name", "\"Random %llu\"", (unsigned long long)seed);
	draw_put_int(d->out, "device.sm_count", "count", d->sm_count);
	draw_put_int(d->out, "topology.sm_per_cluster", "count", d->per_cluster);
	draw_put_int(d->out, "device.clock_hz", "MHz", draw_between(&d->r, 500, 2000));
	draw_put(d->out, "device.target", "name", "sm_%d", cc);
	draw_put(d->out, "device.ptx_version", "version", "%s", targets[t].ptx);
	draw_put(d->out, "device.compute_capability", "version", "%d.%d", cc / 10, cc % 10);
	draw_put_int(d->out, "device.max_threads_per_block", "count", d->block_threads);
	draw_put_int(d->out, "device.max_threads_per_sm", "count", 2 * d->block_threads);
	draw_put_int(d->out, "device.warp_size", "count", d->warp);
	draw_put_int(d->out, "device.max_warps_per_sm", "count",
		     spec_random_warps(seed, 2 * d->block_threads / d->warp));
	draw_put_int(d->out, "device.max_blocks_per_sm", "count", draw_between(&d->r, 4, 16));
	draw_put(d->out, "device.has_f64", "yes/no", "%s", d->f64 ? "yes" : "no");
	draw_put(d->out, "device.has_f16", "yes/no", "%s", d->f16 ? "yes" : "no");
	draw_put(d->out, "device.has_fma", "yes/no", "%s", d->fma ? "yes" : "no");
}

static void roll_core(struct dice *d)
{
	static const char *const scopes[] = {"sm", "cluster", "gpu"};
	d->schedulers =
	    1 << draw_between(&d->r, 0, 2); /* a block's warps spread evenly over them, or no block could fill the SM */
	d->issue_interval = draw_between(&d->r, 1, 2);
	/* An SM-wide pipe behind several schedulers serves the first of them first (DEVIATIONS.md): no rate of a full pipe. */
	d->per = d->schedulers > 1 ? "scheduler" : "sm";
	draw_put_int(d->out, "core.schedulers", "count", d->schedulers);
	draw_put(d->out, "core.issue_interval", "cycles", "%g", d->issue_interval);
	draw_put(d->out, "core.default_op", "name", "add.u32");
	draw_put_int(d->out, "outstanding.loads_per_warp", "count",
		     draw_chance(&d->r, 0.5) ? 0 : draw_between(&d->r, 2, 12));
	spec_random_pipes(&d->pipes, d->seed);
	char key[64];
	snprintf(key, sizeof key, "pipe.{%s}.per", d->pipes.declared);
	draw_put(d->out, key, "name", "%s", d->per);
	draw_put(d->out, "pipe.mem.per", "name", "sm");
	spec_random_results(d->out, &d->pipes, d->seed);
	int native = draw_between(&d->r, 1, 2), op = native > 1 ? draw_between(&d->r, 4, 24) : 0;
	draw_put_int(d->out, "clock.read_latency", "cycles", (native - 1) * op + draw_between(&d->r, 2, 20));
	draw_put_int(d->out, "clock.native_ops", "count", native);
	draw_put_int(d->out, "clock.op_latency", "cycles", op);
	draw_put_int(d->out, "clock.granularity", "cycles", 1 << draw_between(&d->r, 0, 2));
	draw_put(d->out, "clock.scope", "name", "%s", scopes[draw_between(&d->r, 0, 2)]);
	draw_put_int(d->out, "barrier.latency", "cycles", draw_between(&d->r, 8, 40));
	if (d->seed % 3 == 0) {
		draw_put_int(d->out, "cluster.barrier_latency", "cycles", 100);
		draw_put_int(d->out, "cluster.shared_latency", "cycles", 200);
	}
	draw_put_int(d->out, "branch.latency", "cycles", draw_between(&d->r, 4, 30));
}

/* ---- arithmetic ---- */
/* A group of operations with one timing. op_latency: of one native instruction; rate: what the pipe can do of them. */
static void roll_group(struct dice *d, const char *ops, const char *unit, int op_latency, double rate, int native)
{
	char key[160];
	int copies = d->per[1] == 'c' ? d->schedulers : 1;
	double latency = op_latency * native + (native > 1 ? draw_between(&d->r, 0, 4 * native) : 0);
	double throughput = rate / native;
	/* What the schedulers can issue, what one warp keeps busy, and what the largest block can fill. */
	double issue = 32.0 * d->schedulers / (d->issue_interval * native);
	bool half =
	    strstr(ops, "f16") != NULL; /* a compiler pairs chains of halves, so that only warps fill the pipe */
	double fill = (native > 1 || half ? 0.4 : 0.7) * d->block_threads / latency;
	throughput = throughput < issue ? throughput : issue;
	throughput = throughput < fill ? throughput : fill;
	throughput *= 0.9 + 0.1 * rng_unit(&d->r);
	char text[32];
	snprintf(text, sizeof text, "%.3g", throughput);
	sscanf(text, "%lf", &throughput);
	if (throughput > issue || throughput > fill)
		throughput *= 0.99;
	const double busy = d->warp * copies / throughput;
	if (busy > latency)
		latency = (int)busy + 1;
	d->nearest = latency < d->nearest ? latency : d->nearest;
	snprintf(key, sizeof key, "arith.%s.latency", ops);
	draw_put(d->out, key, "cycles", "%g", latency);
	snprintf(key, sizeof key, "arith.%s.throughput", ops);
	draw_put(d->out, key, "ops/clk/SM", "%.6g", throughput);
	snprintf(key, sizeof key, "arith.%s.native_ops", ops);
	draw_put_int(d->out, key, "count", native);
	snprintf(key, sizeof key, "arith.%s.unit", ops);
	/* The special functions' pipe does a part too, unless that took it longer than the whole operation. */
	double part = d->pipes.share * throughput;
	if (strcmp(ops, "mul.f32") != 0 || d->pipes.share <= 0 || d->warp * copies / part > latency) {
		draw_put(d->out, key, "name", "%s", unit);
		return;
	}
	draw_put(d->out, key, "name", "%s, %s", unit, d->pipes.special);
	snprintf(key, sizeof key, "arith.%s.rates", ops);
	draw_put(d->out, key, "ops/clk/SM", "%.9g, %.9g", throughput - part, part);
}

static void roll_arithmetic(struct dice *d)
{
	static const int widths[] = {8, 16, 32, 64, 128};
	int simple = draw_between(&d->r, 4, 28), fp = draw_chance(&d->r, 0.5) ? simple : draw_between(&d->r, 4, 28),
	    slow = draw_between(&d->r, 8, 40);
	double sp = widths[draw_between(&d->r, 0, 4)], sfu = widths[draw_between(&d->r, 0, 1)] / 2.0,
	       dpu = widths[draw_between(&d->r, 0, 3)] / 8.0;
	roll_group(d, "{add,sub,max,min,sad}.{u32,s32}", d->pipes.integer, simple, sp, 1);
	roll_group(d, "{and,or,xor,shl,not}.b32", d->pipes.integer, simple, sp, 1);
	roll_group(d, "shr.{u32,s32}", d->pipes.integer, simple, sp, 1);
	roll_group(d, "mul24.{u32,s32}", d->pipes.integer, simple, sp, 1);
	roll_group(d, "mul.{u32,s32}", d->pipes.integer, simple, sp, draw_between(&d->r, 1, 5));
	roll_group(d, "mad.{u32,s32}", d->pipes.integer, simple, sp, draw_between(&d->r, 1, 6));
	roll_group(d, "mulhi.{u32,s32}", d->pipes.integer, simple, sp, draw_between(&d->r, 1, 7));
	roll_group(d, "div.u32", d->pipes.integer, simple, sp, draw_between(&d->r, 8, 30));
	roll_group(d, "div.s32", d->pipes.integer, simple, sp, draw_between(&d->r, 8, 30));
	roll_group(d, "rem.u32", d->pipes.integer, simple, sp, draw_between(&d->r, 8, 30));
	roll_group(d, "rem.s32", d->pipes.integer, simple, sp, draw_between(&d->r, 8, 30));
	roll_group(d, "{add,sub,max,min,mad}.f32", d->pipes.single, fp, sp, 1);
	roll_group(d, "mul.f32", d->pipes.single, fp, sp, 1);
	roll_group(d, "div.f32", d->pipes.single, fp, sp, draw_between(&d->r, 2, 12));
	if (d->fma)
		roll_group(d, "fma.f32", d->pipes.single, fp + draw_between(&d->r, 0, 3), sp, 1);
	roll_group(d, "{rcp,rsqrt,lg2}.f32", d->pipes.special, slow, sfu, 1);
	roll_group(d, "{sin,cos,ex2,sqrt,divapprox}.f32", d->pipes.special, slow, sfu, 2);
	if (d->f64) {
		roll_group(d, "{add,sub,max,min,mad,mul,fma}.f64", d->pipes.twice, slow + draw_between(&d->r, 0, 20),
			   dpu, 1);
		roll_group(d, "div.f64", d->pipes.twice, slow, dpu, draw_between(&d->r, 4, 15));
	}
	if (d->f16)
		roll_group(d, "{add,mul,fma}.{f16,f16x2}", d->pipes.half, fp + draw_between(&d->r, 0, 4), sp, 1);
}

/* ---- caches ---- */
struct geometry {
	int line, sector, ways;
	long long sets, size;
};

static struct geometry roll_geometry(struct dice *d, long long least, long long most, int min_line, int max_line)
{
	for (;;) {
		struct geometry g = {.line = min_line};
		while (g.line < max_line && draw_chance(&d->r, 0.5))
			g.line *= 2;
		g.sector = g.line;
		g.ways = draw_between(&d->r, 3, 24);
		long long way = (long long)g.line * g.ways, lo = (least + way - 1) / way, hi = most / way;
		if (hi < lo || hi < 1)
			continue;
		lo = lo < 1 ? 1 : lo;
		g.sets = lo + (long long)rng_below(&d->r, (uint64_t)(hi - lo) + 1);
		if (draw_chance(&d->r, 0.5)) { /* as most hardware has it */
			long long power = 1;
			while (power * 2 <= g.sets)
				power *= 2;
			if (power >= lo)
				g.sets = power;
		}
		g.size = way * g.sets;
		return g;
	}
}

static void put_level(struct dice *d, const char *path, const char *level, const char *property, const char *unit,
		      const char *value)
{
	char key[96];
	snprintf(key, sizeof key, "cache.%s.%s.%s", path, level, property);
	draw_put(d->out, key, unit, "%s", value);
}

static const char *roll_policy(struct dice *d, const struct geometry *g)
{
	static const char *const policies[] = {"fifo", "random", "plru", "weighted"};
	const char *policy = draw_chance(&d->r, 0.5) ? "lru" : policies[draw_between(&d->r, 0, 3)];
	if (policy[0] == 'p' && (g->ways & (g->ways - 1)))
		policy = "lru";
	return policy;
}

#define WAYS_MOST 32 /* that chances are drawn for */

/* Chances that are nearly alike would be those of another policy: then the first way has some of the last one's. */
static void roll_chances(struct dice *d, const char *path, const char *level, const struct geometry *g)
{
	char list[512] = "";
	int left = 1000, chance_of[WAYS_MOST] = {0}, unlike = 0;
	for (int i = 0; i < g->ways && i < WAYS_MOST; i++) {
		int later = g->ways - i - 1, fair = left / (later + 1);
		chance_of[i] = later ? draw_between(&d->r, fair / 2 + 1, fair + fair / 2) : left;
		left -= chance_of[i];
		const int off = abs(chance_of[i] * g->ways - 1000);
		unlike = off > unlike ? off : unlike;
	}
	if (unlike < 200) {
		chance_of[0] += 300 / g->ways;
		chance_of[g->ways - 1] -= 300 / g->ways;
	}
	for (int i = 0; i < g->ways; i++) {
		const size_t len = strlen(list);
		snprintf(list + len, sizeof list - len, "%s%.3f", i ? ", " : "", chance_of[i] / 1000.0);
	}
	put_level(d, path, level, "replacement_probability", "ratio", list);
}

/* What the level's lines are chosen by; NULL: its sets are unequal. */
static const char *roll_level(struct dice *d, const char *path, const char *level, const struct geometry *g,
			      const char *scope, int latency)
{
	char value[32];
	const struct {
		const char *property, *unit;
		long long v;
	} numbers[] = {{"size", "bytes", g->size}, {"line", "bytes", g->line}, {"sector", "bytes", g->sector},
		       {"ways", "count", g->ways}, {"sets", "count", g->sets}, {"latency", "cycles", latency}};
	bool power = (g->sets & (g->sets - 1)) == 0;
	const char *mapping = power && g->sets > 1 && draw_chance(&d->r, 0.25) ? "hash" : "modulo",
		   *policy = roll_policy(d, g);
	struct cache_drawn drawn = {g->line, g->ways, (int)g->sets, policy, mapping};
	struct cache_twist twist;
	char stem[64];
	snprintf(stem, sizeof stem, "cache.%s.%s", path, level);
	spec_random_twist(&twist, stem, d->seed, &drawn);
	for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
		if (twist.unequal && numbers[i].unit[0] == 'c' && numbers[i].unit[1] == 'o') /* ways and sets */
			continue;
		snprintf(value, sizeof value, "%lld", numbers[i].v);
		put_level(d, path, level, numbers[i].property, numbers[i].unit, value);
	}
	if (twist.unequal)
		spec_random_unequal(d->out, stem, d->seed, &drawn);
	if (twist.set_bits_from) {
		snprintf(value, sizeof value, "%d", twist.set_bits_from);
		put_level(d, path, level, "set_bits_from", "count", value);
	}
	put_level(d, path, level, "mapping", "name", mapping);
	put_level(d, path, level, "scope", "name", scope);
	put_level(d, path, level, "policy", "name", twist.policy ? twist.policy : policy);
	if (twist.policy && strcmp(twist.policy, "schedule") == 0)
		spec_random_schedule(d->out, stem, d->seed, &drawn);
	if (policy[0] == 'w')
		roll_chances(d, path, level, g);
	spec_random_interval(d->out, stem, d->seed, latency);
	d->modulo = !twist.unequal && mapping[0] == 'm';
	return twist.unequal ? NULL : twist.policy ? twist.policy : policy;
}

static void roll_offsets(struct dice *d)
{
	int sum = 0;
	if (d->clusters < 2 || draw_chance(&d->r, 0.3))
		return;
	int most = draw_between(&d->r, 1, 6);
	for (int i = 0; i < d->clusters - 1; i++) {
		/* Steers the sum back to 0, so that the last one stays small too. */
		int lo = sum > most ? -most : sum < -most ? 0 : -most, hi = sum > most ? 0 : most;
		d->offset[i] = draw_between(&d->r, lo, hi);
		sum += d->offset[i];
	}
	d->offset[d->clusters - 1] = -sum;
	int least = 0, greatest = 0;
	char list[256] = "";
	size_t len = 0;
	for (int i = 0; i < d->clusters; i++) {
		least = d->offset[i] < least ? d->offset[i] : least;
		greatest = d->offset[i] > greatest ? d->offset[i] : greatest;
		len += (size_t)snprintf(list + len, sizeof list - len, "%s%d", i ? ", " : "", d->offset[i]);
	}
	d->spread = greatest - least;
	draw_put(d->out, "network.cluster_offset", "cycles", "%s", list);
}

/* Cycles from one level to the next: apart in every cluster. */
static int step(struct dice *d)
{
	return 16 + d->spread + draw_between(&d->r, 4, 120);
}

static void roll_constant(struct dice *d)
{
	static const char *const names[] = {"l1", "l2", "l3"};
	static const char *const scopes[] = {"sm", "cluster", "gpu"};
	int levels = draw_between(&d->r, 0, 3), latency = draw_between(&d->r, 6, 40), scope = 0, line = 16;
	long long least = 384, most = 3072;
	draw_put_int(d->out, "cache.constant.levels", "count", levels);
	d->constant_levels = levels;
	d->nearest = latency < d->nearest ? latency : d->nearest;
	for (int i = 0; i < levels && i < 3; i++) {
		struct geometry g = roll_geometry(d, least, most, line, i ? 256 : 128);
		if (i)
			scope = draw_between(&d->r, scope, i == 2 ? 2 : scope + 1);
		roll_level(d, "constant", names[i], &g, scopes[scope], latency);
		d->constant_last = latency;
		latency += step(d);
		line = g.line;
		least = 2 * g.size;
		most = i == 0 ? 10240 : 32768;
	}
	d->constant_memory = latency + d->spread + draw_between(&d->r, 50, 200);
	draw_put_int(d->out, "memory.constant.size", "KB", 64);
	draw_put(d->out, "load.constant.unit", "name", "mem");
	draw_put_int(d->out, "load.constant.issue", "cycles", draw_between(&d->r, 1, 4));
	int address = draw_chance(&d->r, 0.3) ? draw_between(&d->r, 1, 2) : 0;
	draw_put_int(d->out, "load.constant.address_ops", "count", address);
	if (address)
		draw_put(d->out, "load.constant.address_op", "name", "add.u32");
}

/* What misses every constant level goes to the memory, or to the L2 where that is slower than all of them. Also what warps do while they
 * wait for constants. l2, memory: latencies of global memory. */
static void roll_backing(struct dice *d, int l2, int memory)
{
	struct dice o = {.out = d->out};
	rng_seed(&o.r, hash64("constant backing", 16, d->seed));
	const bool common = draw_chance(&o.r, 0.25);
	if (d->l2 && common && l2 >= d->constant_last + d->spread + 20) {
		draw_put(d->out, "cache.constant.backing", "name", "global.l2");
		d->constant_memory = memory;
	}
	draw_put_int(d->out, "memory.constant.latency", "cycles", d->constant_memory);
	rng_seed(&o.r, hash64("constant blocking", 17, d->seed));
	if (draw_chance(&o.r, 0.2))
		draw_put(d->out, "load.constant.blocking", "yes/no", "yes");
}

/* Whether the L1 is in one piece with shared memory, and gives ways to it. The chances of ways, trees and schedules are of all ways. */
static void roll_lending(struct dice *d, long long size, const char *policy)
{
	struct dice o = {.out = d->out};
	rng_seed(&o.r, hash64("l1 and shared", 13, d->seed));
	d->lent = draw_chance(&o.r, 0.4) && size > d->shared_bytes && policy && policy[0] != 'w' && policy[0] != 'p' &&
		  policy[0] != 's';
	if (d->lent)
		draw_put(d->out, "cache.global.l1.shared_with", "name", "shared");
}

static void roll_global(struct dice *d)
{
	int kind = draw_between(&d->r, 0, 9), latency = draw_between(&d->r, 20, 60), line = 32, l2_latency = 0;
	bool l1 = kind >= 4, l2 = kind == 2 || kind == 3 || kind >= 5; /* 0, 1: none; 4: the L1 alone */
	long long least = 65536;
	draw_put_int(d->out, "cache.global.levels", "count", l1 + l2);
	d->no_global_cache = !l1 && !l2;
	d->l1 = l1;
	d->l2 = l2;
	if (l1) {
		struct geometry g = roll_geometry(d, 2048, 49152, 32, 256);
		while (g.sector > 32 && draw_chance(&d->r, 0.5))
			g.sector /= 2;
		roll_lending(d, g.size, roll_level(d, "global", "l1", &g, "sm", latency));
		d->l1_ways = d->modulo ? g.ways : 0;
		d->l1_size = g.size;
		line = g.sector;
		least = 2 * g.size > least ? 2 * g.size : least;
		latency += step(d);
	}
	if (l2) {
		long long most = (long long)131072 << draw_between(&d->r, 0, 5);
		struct geometry g = roll_geometry(d, least, most > 2 * least ? most : 2 * least, line, 256);
		while (g.sector > 32 && draw_chance(&d->r, 0.5))
			g.sector /= 2;
		latency += step(d);
		l2_latency = latency;
		roll_level(d, "global", "l2", &g, "gpu", latency);
		int far = draw_chance(&d->r, 0.3) ? draw_between(&d->r, 8, 80) : 0;
		draw_put_int(d->out, "cache.global.l2.partitions", "count", far ? 2 : 1);
		draw_put_int(d->out, "cache.global.l2.far_extra", "cycles", far);
		latency += far;
	}
	latency += step(d); /* two statements: the order of two draws in one expression would be the compiler's */
	latency += draw_between(&d->r, 40, 200);
	draw_put_int(d->out, "memory.global.latency", "cycles", latency);
	roll_backing(d, l2_latency, latency);
	draw_put_int(d->out, "memory.global.size", "MB", 256);
	draw_put_int(d->out, "memory.global.bandwidth", "bytes/clk", draw_between(&d->r, 32, 256));
	draw_put_int(d->out, "memory.coalesce.segment", "bytes", spec_random_segment(d->seed, d->no_global_cache));
	draw_put(d->out, "load.global.unit", "name", "mem");
	draw_put_int(d->out, "load.global.issue", "cycles", draw_between(&d->r, 1, 4));
}

static void roll_shared(struct dice *d)
{
	int size = draw_between(&d->r, 1, 3) * 16;
	d->shared_bytes = size * 1024;
	draw_put_int(d->out, "shared.size", "KB", size);
	draw_put_int(d->out, "shared.per_block", "KB", size);
	if (d->seed % 2)
		draw_put_int(d->out, "shared.opt_in", "KB", size);
	draw_put_int(d->out, "shared.latency", "cycles", draw_between(&d->r, 16, 48));
	draw_put_int(d->out, "shared.banks", "count", draw_between(&d->r, 0, 1) ? 16 : 32);
	draw_put_int(d->out, "shared.conflict_cost", "cycles", draw_between(&d->r, 1, 4));
	draw_put(d->out, "load.shared.unit", "name", "mem");
	draw_put_int(d->out, "load.shared.issue", "cycles", draw_between(&d->r, 1, 4));
}

/* Launches of one GPU in four choose among two or three sizes. */
static void roll_splits(struct dice *d)
{
	struct dice o = {.out = d->out};
	const int kb = d->shared_bytes / 1024;
	rng_seed(&o.r, hash64("shared splits", 13, d->seed));
	if (d->lent || !draw_chance(&o.r, 0.25))
		return;
	if (draw_chance(&o.r, 0.5))
		draw_put(d->out, "shared.splits", "KB", "%d, %d", kb / 4, kb);
	else
		draw_put(d->out, "shared.splits", "KB", "%d, %d, %d", kb / 4, kb / 2, kb);
	if (!d->l1_ways || 2 * d->l1_ways > WAYS_MOST || !draw_chance(&o.r, 0.5))
		return;
	draw_put(d->out, "cache.global.l1.split.size", "bytes", "%lld", 2 * d->l1_size);
	draw_put_int(d->out, "cache.global.l1.split.ways", "count", 2 * d->l1_ways);
}

/* A third of the GPUs is quiet. */
static void roll_noise(struct dice *d)
{
	if (draw_chance(&d->r, 1.0 / 3))
		return;
	unsigned kinds = (unsigned)draw_between(&d->r, 1, 15);
	if (kinds & 1) {
		draw_put(d->out, "noise.jitter_probability", "ratio", "%.4f", 0.005 + 0.045 * rng_unit(&d->r));
		draw_put_int(d->out, "noise.jitter_cycles", "cycles", draw_between(&d->r, 4, 60));
	}
	if (kinds & 2) {
		draw_put_int(d->out, "noise.refresh_interval", "cycles", draw_between(&d->r, 4000, 20000));
		draw_put_int(d->out, "noise.refresh_cycles", "cycles", draw_between(&d->r, 40, 300));
	}
	if (kinds & 4)
		draw_put(d->out, "noise.neighbour_rate", "evictions/kcycle", "%.3f", 0.02 + 0.5 * rng_unit(&d->r));
	if (kinds & 8)
		draw_put(d->out, "noise.drift", "ratio", "%.5f", 0.0002 + 0.001 * rng_unit(&d->r));
}

int spec_random(struct str *out, uint64_t seed)
{
	struct dice d = {.out = out, .seed = seed, .nearest = HUGE_VAL};
	rng_seed(&d.r, seed);
	str_addf(out, "# Drawn with seed %llu\n", (unsigned long long)seed);
	roll_device(&d, seed);
	roll_core(&d);
	roll_arithmetic(&d);
	roll_shared(&d);
	roll_offsets(&d);
	roll_constant(&d);
	roll_global(&d);
	roll_splits(&d);
	roll_noise(&d);
	spec_random_tiles(out, seed);
	spec_random_texture_unit(out, seed);
	spec_random_requests(out, seed, d.no_global_cache);
	spec_random_extras(out, seed, d.constant_levels, d.l1, d.l2);
	if (d.l1)
		spec_random_costs(out, seed);
	spec_random_paths(out, seed, d.spread, d.l1, d.l2);
	spec_random_control(out, seed, d.warp);
	spec_random_core(out, seed, (unsigned)d.clusters, (unsigned)d.per_cluster, d.warp);
	spec_random_places(out, seed, 2 * (unsigned)d.block_threads);
	spec_random_host(out, seed);
	spec_random_dual(out, seed);
	spec_random_turns(out, seed, d.nearest);
	spec_random_loads(out, seed, d.nearest);
	spec_random_ordinary(out, seed, d.l1);
	spec_random_values(out, seed);
	return out->failed ? -ENOMEM : 0;
}
