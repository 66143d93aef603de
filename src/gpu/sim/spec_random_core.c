/* Random cores: policies, quanta, instruction caches. From a stream of their own, so that what else is drawn stays the same. */
#include "base/rng.h"
#include "base/str.h"
#include "gpu/sim/spec_random.h"
#include <math.h>
#include <stdbool.h>
#include <string.h>

static unsigned long long between(struct rng *r, unsigned long long lo, unsigned long long hi)
{
	return lo + rng_below(r, hi - lo + 1);
}

/* The first cache of constants that can be the second one of instructions. That has to hold more than the first and
 * less than the largest kernels. NULL: there is none. */
static const char *in_common(const struct str *out, struct rng *r, unsigned long long line, unsigned long long size)
{
	static const char *const stems[] = {"cache.constant.l1", "cache.constant.l2", "cache.constant.l3"};
	if (rng_below(r, 3) == 0)
		return NULL;
	for (unsigned i = 0; i < 3; i++) {
		const unsigned long long theirs = (unsigned long long)spec_random_number(out, stems[i], "size");
		if (theirs >= 2 * size && theirs <= 40960 &&
		    (unsigned long long)spec_random_number(out, stems[i], "line") >= line)
			return stems[i];
	}
	return NULL;
}

static void roll_instruction(struct str *out, struct rng *r, uint64_t seed)
{
	unsigned long long line = 64ull << between(r, 0, 2), ways = between(r, 2, 8), sets = 1ull << between(r, 2, 5);
	unsigned long long far = between(r, 20, 90), most;
	struct rng own;
	while (line * sets < 1024) /* each set has room beside the loop of a small kernel */
		sets *= 2;
	/* Kernels of 64 KB have to go beyond the second level. */
	while (line * ways * sets > 10240 && line * sets > 1024)
		sets /= 2;
	most = 40960 / (line * ways * sets);
	rng_seed(&own, hash64("code and constants", 18, seed));
	const char *common = in_common(out, &own, line, line * ways * sets);
	const char *const both = common ? "l1" : "{l1,l2}";
	str_addf(out, "cache.instruction.levels = 2 count # guess: drawn\n");
	str_addf(out, "cache.instruction.%s.line = %llu bytes # guess: drawn\n", both, line);
	str_addf(out, "cache.instruction.%s.ways = %llu count # guess: drawn\n", both, ways);
	str_addf(out, "cache.instruction.%s.policy = lru name # guess: drawn\n", both);
	str_addf(out, "cache.instruction.l1.size = %llu bytes # guess: drawn\n", line * ways * sets);
	const unsigned long long second = line * ways * sets * between(r, 2, most < 8 ? most : 8);
	if (common) {
		spec_random_again(out, common, "cache.instruction.l2");
	} else {
		str_addf(out, "cache.instruction.l2.size = %llu bytes # guess: drawn\n", second);
		str_addf(out, "cache.instruction.l2.scope = cluster name # guess: drawn\n");
	}
	str_addf(out, "cache.instruction.l1.scope = sm name # guess: drawn\n");
	/* Hardware fetches the next block while it executes this one, and its latency is not seen; a simulated one would be, at
	 * every block. */
	str_addf(out, "cache.instruction.l1.latency = 0 cycles # guess: drawn\n");
	str_addf(out, "cache.instruction.l2.latency = %llu cycles # guess: drawn\n", far);
	str_addf(out, "memory.instruction.latency = %llu cycles # guess: drawn\n", far + between(r, 300, 600));
	str_addf(out, "cache.instruction.fetch_bytes = %llu bytes # guess: drawn\n", 32ull << between(r, 0, 1));
	const unsigned long long ahead = between(r, 0, 2);
	/* Nobody waits for what is taken along, so it must be near. */
	const bool near = !common || !spec_random_says(out, common, "scope", "gpu");
	str_addf(out, "cache.instruction.prefetch = %llu count # guess: drawn\n", near ? ahead : 0);
}

/* SM numbers say nothing of clusters: sometimes neighbours lie one cluster apart, sometimes anywhere. */
static void roll_numbers(struct str *out, uint64_t seed, unsigned clusters, unsigned per_cluster)
{
	unsigned number[64], sms = clusters * per_cluster;
	struct rng r;
	rng_seed(&r, hash64("numbers", 7, seed));
	unsigned kind = (unsigned)rng_below(&r, 3);
	if (kind == 0 || sms > sizeof number / sizeof *number)
		return;
	for (unsigned i = 0; i < sms; i++)
		number[i] = i % per_cluster * clusters + i / per_cluster;
	for (unsigned i = sms; kind == 2 && i > 1; i--) {
		unsigned k = (unsigned)rng_below(&r, i), other = number[i - 1];
		number[i - 1] = number[k];
		number[k] = other;
	}
	str_addf(out, "topology.sm_numbers = ");
	for (unsigned i = 0; i < sms; i++)
		str_addf(out, "%s%u", i ? ", " : "", number[i]);
	str_addf(out, " count # guess: drawn\n");
}

int spec_random_warp(uint64_t seed)
{
	struct rng r;
	rng_seed(&r, hash64("warp size", 9, seed));
	return rng_below(&r, 10) ? 32 : 64;
}

int spec_random_segment(uint64_t seed, bool uncached)
{
	struct rng r;
	rng_seed(&r, hash64("segment", 7, seed));
	return uncached && rng_below(&r, 2) ? 64 << rng_below(&r, 2) : 32;
}

int spec_random_warps(uint64_t seed, int warps)
{
	struct rng r;
	rng_seed(&r, hash64("max_warps", 9, seed));
	return rng_below(&r, 5) ? warps : warps + warps / 4;
}

void spec_random_core(struct str *out, uint64_t seed, unsigned clusters, unsigned per_cluster, int threads)
{
	roll_numbers(out, seed, clusters, per_cluster);
	static const char *const policies[] = {"oldest", "youngest", "greedy"};
	struct rng r;
	rng_seed(&r, hash64("policies", 8, seed));
	if (rng_below(&r, 3) == 0)
		str_addf(out, "core.policy = %s name # guess: drawn\n", policies[rng_below(&r, 3)]);
	rng_seed(&r, hash64("core", 4, seed));
	if (rng_below(&r, 3) == 0) {
		bool warp = rng_below(&r, 2);
		str_addf(out, "regfile.register_quantum = %llu count # guess: drawn\n", 1ull << between(&r, 0, 3));
		str_addf(out, "regfile.thread_quantum = %llu count # guess: drawn\n",
			 (unsigned long long)threads << between(&r, 0, 2));
		str_addf(out, "regfile.unit = %llu count # guess: drawn\n",
			 (unsigned long long)threads << between(&r, 0, 4));
		str_addf(out, "regfile.allocation = %s name # guess: drawn\n", warp ? "warp" : "block");
		str_addf(out, "shared.quantum = %llu bytes # guess: drawn\n", 64ull << between(&r, 0, 3));
	}
	if (rng_below(&r, 3) == 0)
		roll_instruction(out, &r, seed);
	rng_seed(&r, hash64("launch", 6, seed));
	if (rng_below(&r, 8) == 0)
		str_addf(out, "core.block_launch = %llu cycles # guess: drawn\n", between(&r, 1, 400));
	if (rng_below(&r, 8) == 0)
		str_addf(out, "core.warp_launch = %llu cycles # guess: drawn\n", between(&r, 1, 16));
	rng_seed(&r, hash64("block_interval", 14, seed));
	if (rng_below(&r, 8) == 0)
		str_addf(out, "core.block_interval = %g cycles # guess: drawn\n", (double)between(&r, 1, 8) / 4);
}

void spec_random_places(struct str *out, uint64_t seed, unsigned threads)
{
	static const unsigned each[] = {32, 40, 48, 64, 64, 96}, most[] = {0, 63, 124, 127, 128, 255, 255};
	static const char *const orders[] = {"cluster", "cluster", "sm", "fill"};
	struct rng r;
	rng_seed(&r, hash64("places", 6, seed));
	const unsigned share = each[rng_below(&r, sizeof each / sizeof *each)];
	unsigned limit = most[rng_below(&r, sizeof most / sizeof *most)];
	if (limit && limit <= share) /* or nothing could ever use all registers */
		limit = 128;
	str_addf(out, "regfile.registers_per_sm = %u count # guess: drawn\n", threads * share);
	str_addf(out, "regfile.max_per_thread = %u count # guess: drawn\n", limit);
	str_addf(out, "topology.block_order = %s name # guess: drawn\n", orders[rng_below(&r, 4)]);
}

/* What of copies and launches follows from nothing else. From a stream of its own, so that what was drawn before is still drawn. */
static void random_copies(struct str *out, uint64_t seed)
{
	struct rng r;
	rng_seed(&r, hash64("copies", 6, seed));
	if (rng_below(&r, 2))
		str_addf(out, "host.both.bandwidth = %llu MB/s # guess: drawn\n", between(&r, 1000, 60000));
	if (rng_below(&r, 3)) {
		str_addf(out, "host.h2d.pageable_bandwidth = %llu MB/s # guess: drawn\n", between(&r, 500, 15000));
		str_addf(out, "host.d2h.pageable_bandwidth = %llu MB/s # guess: drawn\n", between(&r, 500, 15000));
	}
	str_addf(out, "host.launch_interval = %llu ns # guess: drawn\n", between(&r, 1000, 10000));
	str_addf(out, "host.mapped.latency = %llu ns # guess: drawn\n", between(&r, 500, 3000));
	if (rng_below(&r, 3) == 0)
		str_addf(out, "host.overlap = no yes/no # guess: drawn\n");
}

/* The host's side, and what decides little elsewhere. Each in some of the GPUs. */
void spec_random_host(struct str *out, uint64_t seed)
{
	struct rng r;
	rng_seed(&r, hash64("host", 4, seed));
	const bool timed = rng_below(&r, 3) == 0;
	if (timed) {
		str_addf(out, "host.h2d.bandwidth = %llu MB/s # guess: drawn\n", between(&r, 1000, 30000));
		str_addf(out, "host.d2h.bandwidth = %llu MB/s # guess: drawn\n", between(&r, 1000, 30000));
		str_addf(out, "host.copy_latency = %llu ns # guess: drawn\n", between(&r, 500, 20000));
		str_addf(out, "host.launch_latency = %llu ns # guess: drawn\n", between(&r, 1000, 20000));
	}
	if (timed)
		random_copies(out, seed);
	if (rng_below(&r, 3) == 0)
		str_addf(out, "native.base = %llu bytes # guess: drawn\n", between(&r, 0, 64) * 256);
	if (rng_below(&r, 3) == 0)
		str_addf(out, "native.bytes = %llu bytes # guess: drawn\n", 4ull << between(&r, 0, 2));
	if (rng_below(&r, 3) == 0)
		str_addf(out, "branch.yield_after = %llu count # guess: drawn\n", between(&r, 1024, 1 << 20));
	if (rng_below(&r, 3) == 0) /* at least what one block may use */
		str_addf(out, "core.barrier_slots = %llu count # guess: drawn\n", between(&r, 16, 64));
	if (rng_below(&r, 3) == 0)
		str_addf(out, "arith.div.{u32,s32}.routine = yes yes/no # guess: drawn\n");
	if (rng_below(&r, 3) == 0)
		str_addf(out, "arith.mul24.{u32,s32}.bytes = 8 bytes # guess: drawn\n");
	if (rng_below(&r, 3) == 0)
		str_addf(out, "barrier.interval = %llu cycles # guess: drawn\n", between(&r, 1, 4));
}

void spec_random_pipes(struct pipes_drawn *out, uint64_t seed)
{
	static const struct pipes_drawn layouts[] = {
	    {"sp,sfu,dpu", "sp", "sp", "sfu", "dpu", "sp", 0},
	    {"int,fp,sfu,dpu,half", "int", "fp", "sfu", "dpu", "half", 0},
	    {"sp,sfu", "sp", "sp", "sfu", "sfu", "sp", 0},
	    {"int,fp,sfu", "int", "fp", "sfu", "fp", "fp", 0},
	    {"simd", "simd", "simd", "simd", "simd", "simd", 0},
	};
	struct rng r;
	rng_seed(&r, hash64("pipes", 5, seed));
	*out = layouts[rng_below(&r, 2) ? 0 : rng_below(&r, sizeof layouts / sizeof *layouts)];
	if (out->special[1] == 'f' && rng_below(&r, 3) == 0) /* sfu */
		out->share = 0.25 + 0.25 * rng_unit(&r);
}

void spec_random_results(struct str *out, const struct pipes_drawn *p, uint64_t seed)
{
	struct rng r;
	rng_seed(&r, hash64("results", 7, seed));
	if (strcmp(p->special, "sfu") == 0 && rng_below(&r, 4) == 0)
		str_addf(out, "pipe.sfu.results = together name # guess: drawn\n");
}

void spec_random_dual(struct str *out, uint64_t seed)
{
	struct rng r;
	rng_seed(&r, hash64("dual_issue", 10, seed));
	if (rng_below(&r, 5) == 0)
		str_addf(out, "core.dual_issue = yes yes/no # guess: drawn\n");
}

/* A turn is no longer than what the warp may wait for anyway. */
void spec_random_turns(struct str *out, uint64_t seed, double nearest)
{
	struct rng r;
	rng_seed(&r, hash64("warp_interval", 13, seed));
	const unsigned long long most = nearest < 16 ? (unsigned long long)nearest : 16;
	if (rng_below(&r, 5) == 0)
		str_addf(out, "core.warp_interval = %llu cycles # guess: drawn\n", between(&r, 2, most));
}

/* What the load/store pipe takes for each instruction: of some kinds of memory, in quarters of a cycle. A transaction
 * takes no more than four cycles. With that the pipe is free before the nearest answer is there, as otherwise the time
 * is never seen. */
void spec_random_loads(struct str *out, uint64_t seed, double nearest)
{
	static const char *const memories[] = {"global", "shared", "constant"};
	struct rng r;
	rng_seed(&r, hash64("request", 7, seed));
	if (rng_below(&r, 5))
		return;
	const unsigned long long some = between(&r, 1, 7);
	for (unsigned k = 0; k < 3; k++) {
		const double drawn = (double)between(&r, 1, 16) / 4, cycles = fmin(drawn, nearest - 4);
		if (some >> k & 1 && cycles > 0)
			str_addf(out, "load.%s.request = %g cycles # guess: drawn\n", memories[k], cycles);
	}
}

/* Banks of one word; or of two, which follow each other after one or both, and then serve all who want them. */
void spec_random_banks(struct str *out, uint64_t seed, bool one_word)
{
	struct rng r;
	rng_seed(&r, hash64("bank_mode", 9, seed));
	const bool wide = rng_below(&r, 4) == 0 && !one_word;
	str_addf(out, "shared.bank_width = %d bytes # guess: drawn\n", wide ? 8 : 4);
	if (wide)
		str_addf(out, "shared.bank_mode = %d bytes # guess: drawn\n", rng_below(&r, 4) ? 4 : 8);
}

/* What arithmetic gives: flags against the capability, and words of the special function unit. */
void spec_random_values(struct str *out, uint64_t seed)
{
	struct rng r;
	rng_seed(&r, hash64("values", 6, seed));
	if (rng_below(&r, 3) == 0)
		str_addf(out, "float.denormals = %s yes/no # guess: drawn\n", rng_below(&r, 2) ? "yes" : "no");
	if (rng_below(&r, 3) == 0)
		str_addf(out, "float.mad.fused = %s yes/no # guess: drawn\n", rng_below(&r, 2) ? "yes" : "no");
	if (rng_below(&r, 3) == 0)
		str_addf(out, "float.mad.rounding = %s name # guess: drawn\n",
			 rng_below(&r, 2) ? "nearest" : "truncated");
	if (rng_below(&r, 3))
		return;
	static const char *const functions[] = {"rcp", "rsqrt", "ex2", "lg2", "sin"};
	for (unsigned k = 0; k < sizeof functions / sizeof *functions; k++) {
		const char *f = functions[k];
		str_addf(out, "sfu.%s.index_bits = %llu count # guess: drawn\n", f, between(&r, 6, 7));
		str_addf(out, "sfu.%s.c0_bits = %llu count # guess: drawn\n", f, between(&r, 25, 26));
		str_addf(out, "sfu.%s.c1_bits = %llu count # guess: drawn\n", f, between(&r, 14, 17));
		str_addf(out, "sfu.%s.c2_bits = %llu count # guess: drawn\n", f, between(&r, 9, 12));
		str_addf(out, "sfu.%s.square_bits = %llu count # guess: drawn\n", f, between(&r, 14, 20));
	}
}
