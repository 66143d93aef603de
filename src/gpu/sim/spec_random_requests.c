/* What a request of a random GPU passes on its way, and what lanes that part do. Each from a stream of its own, so that what was drawn
 * before any of them existed is still drawn. */
#include "base/rng.h"
#include "base/str.h"
#include "gpu/sim/spec_random.h"
#include <stdarg.h>
#include <stdio.h>

struct stream {
	struct rng r;
	struct str *out;
};

static int between(struct stream *d, int lo, int hi)
{
	return hi <= lo ? lo : lo + (int)rng_below(&d->r, (uint64_t)(hi - lo) + 1);
}

static bool chance(struct stream *d, double p)
{
	return rng_unit(&d->r) < p;
}

static void put(struct stream *d, const char *key, const char *unit, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
static void put(struct stream *d, const char *key, const char *unit, const char *fmt, ...)
{
	char value[64];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(value, sizeof value, fmt, ap);
	va_end(ap);
	str_addf(d->out, "%s = %s %s # guess: drawn\n", key, value, unit);
}

static void put_int(struct stream *d, const char *key, const char *unit, long long v)
{
	put(d, key, unit, "%lld", v);
}

/* From a stream of their own, so that what was drawn before textures had tiles is still drawn. */
void spec_random_tiles(struct str *out, uint64_t seed)
{
	struct stream d = {.out = out};
	rng_seed(&d.r, hash64("texture", 7, seed));
	if (!chance(&d, 1.0 / 3))
		return;
	put_int(&d, "texture.tile.bytes", "bytes", 16LL << between(&d, 0, 4));
	put_int(&d, "texture.tile.rows", "count", 1LL << between(&d, 1, 4));
}

static void roll_rows(struct stream *d)
{
	bool rows = chance(d, 1.0 / 3);
	int banks = between(d, 4, 16), row = 512 << between(d, 0, 4), miss = between(d, 4, 40), busy = between(d, 0, 8);
	if (!rows)
		return;
	put_int(d, "dram.banks", "count", banks);
	put_int(d, "dram.row_bytes", "bytes", row);
	put_int(d, "dram.row_miss", "cycles", miss);
	put_int(d, "dram.bank_busy", "cycles", busy);
}

static void roll_boost(struct stream *d)
{
	bool boost = chance(d, 1.0 / 3);
	double gain = 0.02 + 0.1 * rng_unit(&d->r);
	int interval = between(d, 100, 4000), share = between(d, 5, 30);
	if (!boost)
		return;
	put(d, "noise.boost", "ratio", "%.3f", gain);
	put_int(d, "noise.boost_interval", "cycles", interval * 1000LL);
	put_int(d, "noise.boost_cycles", "cycles", interval * 10LL * share);
}

/* What a request passes, also from streams of their own. Each structure is in a third of the GPUs. */
void spec_random_requests(struct str *out, uint64_t seed, bool uncached)
{
	struct stream d = {.out = out};
	rng_seed(&d.r, hash64("requests", 8, seed));
	bool table = chance(&d, 1.0 / 3), mshr = chance(&d, 0.5), limited = chance(&d, 0.5);
	int entries = mshr ? between(&d, 16, 128) : between(&d, 8, 64), merge = 1 << between(&d, 1, 5);
	if (table) {
		put(&d, "outstanding.kind", "name", mshr ? "mshr" : "prt");
		put_int(&d, "outstanding.entries", "count", entries);
		if (mshr && limited)
			put_int(&d, "outstanding.merge", "count", merge);
	}
	bool apart = chance(&d, 1.0 / 3);
	int partitions = between(&d, 2, 8), stride = 256 << between(&d, 0, 4);
	if (apart) {
		put_int(&d, "memory.partitions", "count", partitions);
		put_int(&d, "memory.partition_stride", "bytes", stride);
	}
	bool halves = chance(&d, 1.0 / 3), one = chance(&d, 0.5);
	if (halves) {
		put_int(&d, "shared.lanes", "count", 16);
		put(&d, "shared.broadcast", "name", one ? "one" : "all");
	}
	spec_random_banks(out, seed, halves && one);
	bool atomics = chance(&d, 1.0 / 3);
	int later = between(&d, 0, 100), same = between(&d, 1, 40), distinct = between(&d, 1, 8),
	    issue = between(&d, 0, 4);
	if (atomics) {
		put_int(&d, "atomic.latency", "cycles", 300 + later);
		put_int(&d, "atomic.same_address", "cycles", same);
		put(&d, "atomic.distinct", "cycles", "%g", distinct / 2.0);
		put_int(&d, "atomic.issue", "cycles", issue);
		put_int(&d, "atomic.{cas,exch}.latency", "cycles", 320 + later);
		put_int(&d, "atomic.shared.same_address", "cycles", same);
	}
	bool rule = chance(&d, 1.0 / 3), g80 = chance(&d, 0.5);
	if (rule && uncached)
		put(&d, "memory.coalesce.rule", "name", g80 ? "g80" : "gt200");
	/* Streams of their own: when these are drawn, all else stays. */
	rng_seed(&d.r, hash64("rows", 4, seed));
	roll_rows(&d);
	rng_seed(&d.r, hash64("atomics", 7, seed));
	bool shared = chance(&d, 0.5), own = chance(&d, 0.5);
	int there = between(&d, 50, 150), again = between(&d, 1, 60), next = between(&d, 1, 8);
	if (atomics && shared)
		put_int(&d, "atomic.shared.latency", "cycles", there);
	if (atomics && own) {
		put_int(&d, "atomic.{cas,exch}.same_address", "cycles", again);
		put_int(&d, "atomic.{cas,exch}.distinct", "cycles", next);
	}
	rng_seed(&d.r, hash64("boost", 5, seed));
	roll_boost(&d);
}

/* What lanes that part do: from a stream of its own, like all that came later. */
void spec_random_control(struct str *out, uint64_t seed, int warp)
{
	struct stream d = {.out = out};
	rng_seed(&d.r, hash64("control", 7, seed));
	bool independent = chance(&d, 1.0 / 3), fall = chance(&d, 1.0 / 3);
	/* Threads of wide warps are never independent. */
	put(&d, "branch.independent_threads", "yes/no", independent && warp <= 32 ? "yes" : "no");
	if (fall)
		put(&d, "branch.first_path", "name", "fallthrough");
}
