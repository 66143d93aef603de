/* Reach and latency of TLBs, page walks and the active window; without TLBs, pages make no difference. */
#include "gate.h"
#include <stdio.h>

#define APART 128 /* bytes that elements are apart beside whole pages, so that they do not meet in one set of the L2 */

/* One of the two ways to memory, with the TLBs that it asks. */
struct way {
	const struct tlb_spec *t;
	enum gate_path path;
	const char *name; /* in front of a level's */
	double base;	  /* cycles of a load that asks no TLB */
};

static double behind_l1(const struct sim_spec *s)
{
	const struct cache_spec *l2 = &s->global.level[1];
	return (s->has_l2 ? l2->latency + (l2->partitions > 1 ? l2->far_extra / 2 : 0) : s->global.memory_latency) +
	       s->cluster_offset[0] + s->global.address_ops * s->global.address_latency;
}

static uint32_t entries_of(const struct cache_spec *c)
{
	return (uint32_t)(c->size / c->line);
}

static void reach(struct gate *g, const struct sim_spec *s, const struct way *w, uint32_t k, double cost, double next)
{
	const struct cache_spec *c = &w->t->level[k];
	uint32_t entries = entries_of(c);
	char what[96];
	/* Of many entries, elements that drift within their pages would end up in others. */
	uint64_t apart = 2ull * entries * APART < c->line ? APART : 0;
	/* Two elements a page, so that a whole number of rounds fits. */
	struct gate_ring r = {w->path, 2ull * entries / 32 * 32, c->line / 2, apart, 2};
	snprintf(what, sizeof what, "latency with a hit in %sTLB l%u", w->name, k + 1);
	/* Every second load finds the translation of the one before it in the first level. */
	gate_check(g, what, gate_chase(g, s, &r), w->base + (k ? (cost - w->base) / 2 : cost - w->base), GATE_LATENCY);
	r = (struct gate_ring){w->path, entries, c->line, apart, 2};
	snprintf(what, sizeof what, "misses of %sTLB l%u within its reach", w->name, k + 1);
	gate_check(g, what, gate_slow(g, s, &r, (cost + next) / 2), 0, 0);
	r.n++;
	snprintf(what, sizeof what, "misses of %sTLB l%u one entry beyond its reach", w->name, k + 1);
	double slow = gate_slow(g, s, &r, (cost + next) / 2);
	if (c->policy == POLICY_LRU && !c->set_ways)
		gate_check(g, what, slow, c->ways + 1, 0);
	else if (c->policy == POLICY_LRU)
		gate_check(g, what, slow, c->set_ways[0] + 1, 0); /* the first set is the one that goes on filling */
	else
		gate_check(g, what, slow > 0, 1, 0);
}

/* Reach and latency of each level. Returns the latency of a load that misses them all. */
static double levels(struct gate *g, const struct sim_spec *s, const struct way *w, double *all)
{
	const struct tlb_spec *t = w->t;
	const struct cache_spec *last = &t->level[t->levels - 1];
	double cost[CONST_LEVELS + 1], sum = w->base;
	char what[96];
	for (uint32_t k = 0; k < t->levels; k++)
		cost[k] = sum += t->level[k].latency;
	cost[t->levels] = sum + t->miss_latency;
	for (uint32_t k = 0; k < t->levels; k++)
		reach(g, s, w, k, cost[k], cost[k + 1]);
	struct gate_ring r = {w->path, (2ull * entries_of(last) + 63) / 32 * 32, last->line, APART, 2};
	*all = gate_chase(g, s, &r);
	snprintf(what, sizeof what, "latency with a miss in every %sTLB", w->name);
	gate_check(g, what, *all, cost[t->levels], GATE_LATENCY);
	return cost[t->levels];
}

/* Texture caches would hide the TLBs behind them: they are another gate's. */
static void texture(struct gate *g)
{
	struct sim_spec s = *g->s;
	struct way w = {&s.tlb[TLB_TEXTURE], GATE_TEXTURE, "texture ",
			s.texture.memory_latency + s.cluster_offset[0] +
			    s.texture.address_ops * s.texture.address_latency};
	double all;
	if (!s.has_texture || s.tlb_shared || !w.t->levels)
		return;
	s.fetch.path.levels = s.texture.levels = 0;
	for (uint32_t k = 0; k < CONST_LEVELS; k++) {
		s.texture.level[k].present = false;
		s.texture_shared[k] = false;
	}
	levels(g, &s, &w, &all);
}

void gates_translation(struct gate *g)
{
	struct sim_spec s = *g->s;
	const struct way w = {&s.tlb[TLB_GLOBAL], GATE_GLOBAL_L2, "", behind_l1(&s)};
	const struct tlb_spec *t = w.t;
	double all;
	texture(g);
	s.fetch.path.levels = 0;
	if (!t->levels) {
		/* Pages of any usual size, more of them than a TLB would hold. */
		for (uint64_t page = 4096; page <= 1 << 20 && 512 * page <= s.memory_bytes; page *= 16) {
			struct gate_ring r = {GATE_GLOBAL_L2, 256, page, APART, 2};
			bool parts = s.has_l2 && s.global.level[1].partitions > 1;
			gate_check(g, "latency over 256 pages without a TLB", gate_chase(g, &s, &r), w.base,
				   (parts ? s.global.level[1].far_extra / 2 : 0) + GATE_LATENCY);
		}
		return;
	}
	uint64_t window = s.tlb_window;
	s.tlb_window = 0;
	const struct cache_spec *last = &t->level[t->levels - 1];
	struct gate_ring r = {GATE_GLOBAL_L2, (2ull * entries_of(last) + 63) / 32 * 32, last->line, APART, 2};
	double missed = levels(g, &s, &w, &all);
	if (t->walk == WALK_L2) {
		/* First touches: the entry of the page table and the data are in memory. */
		double cold =
		    s.global.memory_latency - (s.has_l2 ? s.global.level[1].latency : 0) + missed + t->walk_memory;
		r.laps = 0;
		gate_check(g, "first touches as slow as a walk in memory", gate_slow(g, &s, &r, cold - 3), (double)r.n,
			   0);
		gate_check(g, "first touches slower than that", gate_slow(g, &s, &r, cold + 3), 0, 0);
		r.laps = 2;
	}
	if (window) {
		/* A lap that crosses one border of windows goes there and back. */
		uint64_t first = FUNC_GLOBAL_BASE + (2u << 20), past = first + r.n * (r.stride + r.skew) - 1;
		s.tlb_window = window;
		gate_check(g, "windows that a lap crosses", (double)(past / window - first / window), 1, 0);
		gate_check(g, "cost of changing the active window", (gate_chase(g, &s, &r) - all) * (double)r.n / 2,
			   s.tlb_window_switch, (double)r.n / 64);
	}
}
