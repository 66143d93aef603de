/* Latency, capacity, line, ways and sector of each cache on the constant and the global path, and the memory behind
 * them. Curves are flat if there is none. */
#include "gate.h"
#include <math.h>
#include <stdio.h>

struct path {
	const struct sim_spec *s; /* code at hand */
	const struct path_spec *p;
	const char *name;
	bool constant, texture;
	uint64_t most; /* bytes that a ring may have */
};

static double here(const struct sim_spec *s, enum cache_scope scope)
{
	return scope == SCOPE_GPU ? s->cluster_offset[0] : 0;
}

static double address_cycles(const struct path *x)
{
	return x->p->address_ops * x->p->address_latency;
}

/* Mean over the level's lines as the first SM sees them, load to use. */
static double latency_of(const struct path *x, uint32_t k)
{
	const struct cache_spec *c = &x->p->level[k];
	return c->latency + (c->partitions > 1 ? c->far_extra / 2 : 0) + here(x->s, c->scope);
}

static const struct cache_spec *below(const struct path *x, uint32_t k)
{
	for (uint32_t n = k + 1; n < CONST_LEVELS; n++)
		if (x->p->level[n].present)
			return &x->p->level[n];
	return x->constant && x->s->constant_uses_l2 ? &x->s->global.level[1] : NULL;
}

/* Half way from a hit in the level, the far half included, to what a miss takes at least. */
static double limit_of(const struct path *x, uint32_t k)
{
	const struct cache_spec *c = &x->p->level[k], *next = below(x, k);
	double hit = c->latency + c->far_extra + here(x->s, c->scope);
	double miss = next ? next->latency + here(x->s, next->scope) : x->p->memory_latency + here(x->s, SCOPE_GPU);
	return (hit + miss) / 2 + address_cycles(x);
}

static enum gate_path route(const struct path *x, uint32_t k)
{
	return x->constant ? GATE_CONSTANT : x->texture ? GATE_TEXTURE : k == 0 ? GATE_GLOBAL : GATE_GLOBAL_L2;
}

static void level(struct gate *g, const struct path *x, uint32_t k)
{
	const struct cache_spec *c = &x->p->level[k];
	bool orderly = (c->policy == POLICY_LRU || c->policy == POLICY_FIFO) && !c->set_ways;
	uint64_t lines = c->size / c->line;
	char what[96];
	struct gate_ring r = {route(x, k), lines / 32 * 32, c->line, 0, 2};
	if (r.n) {
		snprintf(what, sizeof what, "latency of %s l%u", x->name, k + 1);
		gate_check(g, what, gate_chase(g, x->s, &r), latency_of(x, k) + address_cycles(x), GATE_LATENCY);
	}
	r.n = lines;
	snprintf(what, sizeof what, "misses of %s l%u when it is just full", x->name, k + 1);
	gate_check(g, what, gate_slow(g, x->s, &r, limit_of(x, k)), 0, 0);
	if (c->size + c->line <= x->most) {
		r.n = lines + 1;
		double slow = gate_slow(g, x->s, &r, limit_of(x, k));
		snprintf(what, sizeof what, "misses of %s l%u with one line more than it has", x->name, k + 1);
		/* All lines of one set and no other, when lines leave in the order in which they come. */
		if (orderly)
			gate_check(g, what, slow, c->ways + 1, 0);
		else
			gate_check(g, what, slow > 0 && slow <= c->ways + 1, 1, 0);
	}
	/* One set alone: with lines so far apart, `ways` of them stay and one more does not. They must not stay in the level above. */
	uint64_t turn = (uint64_t)c->line * c->sets;
	const struct cache_spec *up = k && route(x, k) != GATE_GLOBAL_L2 ? &x->p->level[k - 1] : NULL;
	bool seen = !up || (up->ways < c->ways && !up->set_bits_from && turn % ((uint64_t)up->line * up->sets) == 0);
	if (seen && c->mapping == MAP_MODULO && !c->set_bits_from && !c->set_ways && c->partitions == 1 &&
	    turn * (c->ways + 1) <= x->most) {
		r = (struct gate_ring){route(x, k), c->ways, turn, 0, 2};
		snprintf(what, sizeof what, "misses of one set of %s l%u when it is just full", x->name, k + 1);
		gate_check(g, what, gate_slow(g, x->s, &r, limit_of(x, k)), 0, 0);
		r.n++;
		double slow = gate_slow(g, x->s, &r, limit_of(x, k));
		snprintf(what, sizeof what, "misses of one set of %s l%u with a line more", x->name, k + 1);
		gate_check(g, what, slow > 0 && slow <= c->ways + 1, 1, 0);
	}
	/* Cold, word by word: one miss for each sector, or for what the level above or a transaction asks for at once. */
	uint32_t word = x->constant || x->texture ? 4 : 8, fill = c->sector;
	if ((x->constant || x->texture) && k && x->p->level[k - 1].sector > fill)
		fill = x->p->level[k - 1].sector;
	if (!x->constant && k && x->s->coalesce_segment > fill)
		fill = x->s->coalesce_segment;
	r = (struct gate_ring){route(x, k), 4ull * c->line / word, word, 0, 0};
	snprintf(what, sizeof what, "first touches of %s l%u that miss", x->name, k + 1);
	gate_check(g, what, gate_slow(g, x->s, &r, limit_of(x, k)), 4.0 * c->line / fill, 0);
}

/* Cycles that a load of a ring waits for rows to open: each row once a lap, for its first load. Partitions that take turns change nothing. */
static double opening(const struct sim_spec *s, uint64_t step)
{
	return s->dram.banks ? s->dram.row_miss * fmin(1, (double)step / (double)s->dram.row_bytes) : 0;
}

/* Twice what the last level has, so that every load goes on to memory. */
static void memory(struct gate *g, const struct path *x)
{
	uint64_t size = 16384, step = 64;
	for (uint32_t k = 0; k < CONST_LEVELS; k++)
		if (x->p->level[k].present) {
			size = 2 * x->p->level[k].size;
			step = x->p->level[k].line;
		}
	if ((x->constant && x->s->constant_uses_l2) || size > x->most)
		return;
	struct gate_ring r = {route(x, 1), size / step / 32 * 32, step, 0, 1};
	char what[64];
	snprintf(what, sizeof what, "latency of %s memory", x->name);
	gate_check(g, what, gate_chase(g, x->s, &r),
		   x->p->memory_latency + here(x->s, SCOPE_GPU) + opening(x->s, step) + address_cycles(x),
		   GATE_LATENCY);
}

/* Loads that ask the L1 in vain. They are of so many more lines than it has that nothing is left when their turn comes,
 * whatever the policy. */
static void in_vain(struct gate *g, const struct path *x)
{
	const struct cache_spec *l1 = &x->p->level[0], *l2 = &x->p->level[1];
	uint64_t size = 16 * l1->size, step = l1->line > l2->line ? l1->line : l2->line;
	if (!l1->present || !l2->present || 2 * size > l2->size)
		return;
	struct gate_ring r = {GATE_GLOBAL, size / step / 32 * 32, step, 0, 2};
	gate_check(g, "latency of the L2 behind an L1 that misses", gate_chase(g, x->s, &r),
		   latency_of(x, 1) + l1->miss_cost + address_cycles(x), GATE_LATENCY);
	if (2 * l2->size > x->most)
		return;
	r = (struct gate_ring){GATE_GLOBAL, 2 * l2->size / step / 32 * 32, step, 0, 1};
	gate_check(g, "latency of memory behind an L1 that misses", gate_chase(g, x->s, &r),
		   x->p->memory_latency + here(x->s, SCOPE_GPU) + opening(x->s, step) + l1->miss_cost + l1->fill_cost +
		       address_cycles(x),
		   GATE_LATENCY);
}

/* A level that is not there makes no step: the same latency from a few lines to many. */
static void flat(struct gate *g, const struct path *x)
{
	bool l1 = x->p->level[0].present, l2 = x->p->level[1].present;
	if (l1)
		return;
	uint64_t most = l2 ? x->p->level[1].size : 4u << 20;
	for (uint64_t size = 4096; size <= most; size *= 4) {
		struct gate_ring r = {GATE_GLOBAL, 32, size / 32, 0, 2};
		double want = l2 ? x->p->level[1].latency : x->p->memory_latency + here(x->s, SCOPE_GPU);
		double far = l2 && x->p->level[1].partitions > 1 ? x->p->level[1].far_extra : 0;
		char what[64];
		snprintf(what, sizeof what, "latency of %llu bytes without an L1", (unsigned long long)size);
		gate_check(g, what, gate_chase(g, x->s, &r) - (l2 ? here(x->s, SCOPE_GPU) : 0),
			   want + far / 2 + address_cycles(x), far / 2 + GATE_LATENCY);
	}
}

void gates_caches(struct gate *g)
{
	struct sim_spec s = *g->s;
	s.fetch.path.levels = 0;
	struct path x = {&s, &s.constant, "constant", true, false, s.constant_bytes};
	for (uint32_t k = 0; k < CONST_LEVELS; k++)
		if (s.constant.level[k].present)
			level(g, &x, k);
	memory(g, &x);
	x = (struct path){&s, &s.global, "global", false, false, s.memory_bytes / 2};
	for (uint32_t k = 0; k < 2; k++)
		if (s.global.level[k].present)
			level(g, &x, k);
	memory(g, &x);
	in_vain(g, &x);
	flat(g, &x);
	if (!s.has_texture)
		return;
	x = (struct path){&s, &s.texture, "texture", false, true, s.memory_bytes / 2};
	for (uint32_t k = 0; k < CONST_LEVELS; k++)
		if (s.texture.level[k].present)
			level(g, &x, k);
	memory(g, &x);
}
