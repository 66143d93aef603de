/* What a request of a random GPU passes on its way, and what lanes that part do. Each from a stream of its own, so that what was drawn
 * before any of them existed is still drawn. */
#include "base/rng.h"
#include "base/str.h"
#include "gpu/sim/spec_random.h"
#include "gpu/sim/spec_random_draw.h"
#include <stdio.h>

struct stream {
	struct rng r;
	struct str *out;
};

/* From a stream of their own, so that what was drawn before textures had tiles is still drawn. */
void spec_random_tiles(struct str *out, uint64_t seed)
{
	struct stream d = {.out = out};
	rng_seed(&d.r, hash64("texture", 7, seed));
	if (!draw_chance(&d.r, 1.0 / 3))
		return;
	draw_put_int(d.out, "texture.tile.bytes", "bytes", 16LL << draw_between(&d.r, 0, 4));
	draw_put_int(d.out, "texture.tile.rows", "count", 1LL << draw_between(&d.r, 1, 4));
}

/* Of the tensor cores how they round; the unit that reads textures: threads a cycle, and what takes it more turns; and its filter. */
void spec_random_texture_unit(struct str *out, uint64_t seed)
{
	struct stream d = {.out = out};
	rng_seed(&d.r, hash64("matrix", 6, seed));
	if (draw_chance(&d.r, 0.5))
		draw_put_int(d.out, "matrix.sum_bits", "count", draw_between(&d.r, 20, 30));
	if (draw_chance(&d.r, 0.5))
		draw_put_int(d.out, "matrix.byte_sum_bits", "count", draw_between(&d.r, 10, 20));
	rng_seed(&d.r, hash64("texture unit", 12, seed));
	if (draw_chance(&d.r, 0.5))
		draw_put_int(d.out, "texture.filter.fraction_bits", "count", draw_between(&d.r, 5, 10));
	if (!draw_chance(&d.r, 0.5))
		return;
	draw_put_int(d.out, "texture.lanes", "ops/clk/SM", 1LL << draw_between(&d.r, 0, 3));
	draw_put_int(d.out, "texture.turn_bytes", "bytes",
		     draw_chance(&d.r, 0.3) ? 0 : 4LL << draw_between(&d.r, 0, 2));
	draw_put_int(d.out, "texture.turn_filtered", "bytes",
		     draw_chance(&d.r, 0.3) ? 0 : 8LL << draw_between(&d.r, 0, 3));
}

/* Whether there are rows. */
static bool roll_rows(struct stream *d)
{
	bool rows = draw_chance(&d->r, 1.0 / 3);
	int banks = draw_between(&d->r, 4, 16), row = 512 << draw_between(&d->r, 0, 4),
	    miss = draw_between(&d->r, 4, 40), busy = draw_between(&d->r, 0, 8);
	if (!rows)
		return false;
	draw_put_int(d->out, "dram.banks", "count", banks);
	draw_put_int(d->out, "dram.row_bytes", "bytes", row);
	draw_put_int(d->out, "dram.row_miss", "cycles", miss);
	draw_put_int(d->out, "dram.bank_busy", "cycles", busy);
	return true;
}

/* How the memory orders what waits for it: in few GPUs, from a stream of its own. */
static void roll_order(struct stream *d, bool rows)
{
	bool aside = draw_chance(&d->r, 1.0 / 40), batches = draw_chance(&d->r, 1.0 / 60);
	int wait = draw_between(&d->r, 2, 4), open = draw_between(&d->r, 1, 8), batch = draw_between(&d->r, 0, 4),
	    turn = draw_between(&d->r, 4, 40);
	if (aside && rows) {
		draw_put_int(d->out, "dram.rows", "count", wait);
		draw_put(d->out, "dram.open_interval", "cycles", "%g", open / 2.0);
	}
	if (batches) {
		draw_put_int(d->out, "dram.write_batch", "bytes", 512 << batch);
		draw_put_int(d->out, "dram.turn", "cycles", turn);
	}
}

static void roll_boost(struct stream *d)
{
	bool boost = draw_chance(&d->r, 1.0 / 3);
	double gain = 0.02 + 0.1 * rng_unit(&d->r);
	int interval = draw_between(&d->r, 100, 4000), share = draw_between(&d->r, 5, 30);
	if (!boost)
		return;
	draw_put(d->out, "noise.boost", "ratio", "%.3f", gain);
	draw_put_int(d->out, "noise.boost_interval", "cycles", interval * 1000LL);
	draw_put_int(d->out, "noise.boost_cycles", "cycles", interval * 10LL * share);
}

/* What a request passes, also from streams of their own. Each structure is in a third of the GPUs. */
void spec_random_requests(struct str *out, uint64_t seed, bool uncached)
{
	struct stream d = {.out = out};
	rng_seed(&d.r, hash64("requests", 8, seed));
	bool table = draw_chance(&d.r, 1.0 / 3), mshr = draw_chance(&d.r, 0.5), limited = draw_chance(&d.r, 0.5);
	int entries = mshr ? draw_between(&d.r, 16, 128) : draw_between(&d.r, 8, 64),
	    merge = 1 << draw_between(&d.r, 1, 5);
	if (table) {
		draw_put(d.out, "outstanding.kind", "name", mshr ? "mshr" : "prt");
		draw_put_int(d.out, "outstanding.entries", "count", entries);
		if (mshr && limited)
			draw_put_int(d.out, "outstanding.merge", "count", merge);
	}
	struct stream e = {.out = out};
	rng_seed(&e.r, hash64("recorders", 9, seed));
	bool entered = draw_chance(&e.r, 1.0 / 20);
	int recorders = draw_between(&e.r, 2, 4), record = draw_between(&e.r, 1, 4);
	if (table && entered) {
		draw_put_int(e.out, "outstanding.recorders", "count", recorders);
		draw_put(e.out, "outstanding.record", "cycles", "%g", record / 2.0);
	}
	bool apart = draw_chance(&d.r, 1.0 / 3);
	int partitions = draw_between(&d.r, 2, 8), stride = 256 << draw_between(&d.r, 0, 4);
	if (apart) {
		draw_put_int(d.out, "memory.partitions", "count", partitions);
		draw_put_int(d.out, "memory.partition_stride", "bytes", stride);
	}
	struct stream m = {.out = out};
	rng_seed(&m.r, hash64("mixed partitions", 16, seed));
	if (draw_chance(&m.r, 1.0 / 4) && apart)
		draw_put(m.out, "memory.partition_mapping", "name", "hash");
	bool halves = draw_chance(&d.r, 1.0 / 3), one = draw_chance(&d.r, 0.5);
	if (halves) {
		draw_put_int(d.out, "shared.lanes", "count", 16);
		draw_put(d.out, "shared.broadcast", "name", one ? "one" : "all");
	}
	spec_random_banks(out, seed, halves && one);
	bool atomics = draw_chance(&d.r, 1.0 / 3);
	int later = draw_between(&d.r, 0, 100), same = draw_between(&d.r, 1, 40), distinct = draw_between(&d.r, 1, 8),
	    issue = draw_between(&d.r, 0, 4);
	if (atomics) {
		draw_put_int(d.out, "atomic.latency", "cycles", 300 + later);
		draw_put_int(d.out, "atomic.same_address", "cycles", same);
		draw_put(d.out, "atomic.distinct", "cycles", "%g", distinct / 2.0);
		draw_put_int(d.out, "atomic.issue", "cycles", issue);
		draw_put_int(d.out, "atomic.{cas,exch}.latency", "cycles", 320 + later);
		draw_put_int(d.out, "atomic.shared.same_address", "cycles", same);
	}
	bool rule = draw_chance(&d.r, 1.0 / 3), g80 = draw_chance(&d.r, 0.5);
	if (rule && uncached)
		draw_put(d.out, "memory.coalesce.rule", "name", g80 ? "g80" : "gt200");
	/* Streams of their own: when these are drawn, all else stays. */
	rng_seed(&d.r, hash64("rows", 4, seed));
	bool rows = roll_rows(&d);
	rng_seed(&d.r, hash64("atomics", 7, seed));
	bool shared = draw_chance(&d.r, 0.5), own = draw_chance(&d.r, 0.5);
	int there = draw_between(&d.r, 50, 150), again = draw_between(&d.r, 1, 60), next = draw_between(&d.r, 1, 8);
	if (atomics && shared)
		draw_put_int(d.out, "atomic.shared.latency", "cycles", there);
	if (atomics && own) {
		draw_put_int(d.out, "atomic.{cas,exch}.same_address", "cycles", again);
		draw_put_int(d.out, "atomic.{cas,exch}.distinct", "cycles", next);
	}
	rng_seed(&d.r, hash64("units", 5, seed));
	bool units = draw_chance(&d.r, 0.5);
	int request = draw_between(&d.r, 1, 16), many = draw_between(&d.r, 4, 64), queue = draw_between(&d.r, 4, 24);
	if (atomics && units) {
		draw_put(d.out, "atomic.request", "cycles", "%g", request / 2.0);
		draw_put_int(d.out, "atomic.units", "count", many);
		draw_put_int(d.out, "atomic.unit_bytes", "bytes", 256 << (many & 3));
		draw_put_int(d.out, "atomic.queue", "count", queue);
	}
	rng_seed(&d.r, hash64("boost", 5, seed));
	roll_boost(&d);
	rng_seed(&d.r, hash64("dram order", 10, seed));
	roll_order(&d, rows);
}

/* What lanes that part do: from a stream of its own, like all that came later. */
void spec_random_control(struct str *out, uint64_t seed, int warp)
{
	struct stream d = {.out = out};
	rng_seed(&d.r, hash64("control", 7, seed));
	bool independent = draw_chance(&d.r, 1.0 / 3), fall = draw_chance(&d.r, 1.0 / 3);
	/* Threads of wide warps are never independent. */
	draw_put(d.out, "branch.independent_threads", "yes/no", independent && warp <= 32 ? "yes" : "no");
	if (fall)
		draw_put(d.out, "branch.first_path", "name", "fallthrough");
}
