/* Levels, ports and routes of memory: how they are built, and what becomes of them between launches. */
#include "gpu/sim/time/time_fetch.h"
#include "gpu/sim/time/time_units.h"
#include "gpu/sim/time/time_walk.h"
#include <errno.h>
#include <math.h>
#include <string.h>

int time_level_open(struct time_gpu *g, struct time_level *l, const struct cache_spec *c, uint32_t *table,
		    uint64_t seed, const struct time_level *of)
{
	const struct sim_spec *s = g->spec;
	l->spec = c;
	l->scope = c->scope;
	l->count = time_instances(s, c->scope);
	l->latency = table;
	l->far = time_fixed(c->far_extra);
	l->vain = time_fixed(c->miss_cost);
	l->fill = time_fixed(c->fill_cost);
	for (uint32_t k = 0; k < s->cluster_count; k++)
		table[k] =
		    time_fixed(c->latency + (c->scope == SCOPE_GPU && s->cluster_offset ? s->cluster_offset[k] : 0));
	l->cache = of ? of->cache : mem_zero(l->count, sizeof *l->cache);
	if (!l->cache)
		return -ENOMEM;
	if (of)
		return 0;
	double evict = c->scope == SCOPE_GPU ? s->noise.neighbour_rate / 1000 : 0;
	for (uint32_t k = 0; k < l->count; k++)
		cache_init(&l->cache[k], c, seed * 1000003u + k, evict);
	for (uint32_t k = 0; k < l->count; k++)
		l->cache[k].insert_share = s->noise.neighbour_insert;
	return 0;
}

void time_level_close(struct time_level *l)
{
	for (uint32_t n = 0; n < l->count; n++)
		if (l->cache)
			cache_free(&l->cache[n]);
	mem_free(l->cache);
}

uint32_t *time_memory_table(struct time_gpu *g, const struct path_spec *p, uint32_t *table)
{
	const struct sim_spec *s = g->spec;
	for (uint32_t k = 0; k < s->cluster_count; k++)
		table[k] = time_fixed(p->memory_latency + (s->cluster_offset ? s->cluster_offset[k] : 0));
	return table;
}

/* The first levels of a route are near while they belong to a cluster. The L2 of the global path is where atomics and
 * volatile accesses meet, so it is far whatever its scope. */
void time_split(struct time_gpu *g, struct time_route *r)
{
	for (r->near = 0; r->near < r->levels; r->near++)
		if (r->level[r->near]->scope == SCOPE_GPU || r->level[r->near]->beyond)
			break;
	for (uint32_t k = r->near; k < r->levels; k++)
		r->level[k]->beyond = true;
	uint64_t least = g->epoch;
	for (uint32_t k = r->near; k <= r->levels; k++)
		for (uint32_t n = 0; n < g->spec->cluster_count; n++) {
			const uint32_t *latency = k < r->levels ? r->level[k]->latency : r->memory;
			double cycles = latency[n] * (1 - fabs(g->spec->noise.drift)) / FIX_ONE;
			if (cycles < (double)least)
				least = cycles > 1 ? (uint64_t)cycles : 1;
		}
	g->epoch = least;
}

static bool is_prompt(const struct time_route *r)
{
	const struct time_level *l = r->level[0];
	return r->near && l->scope == SCOPE_SM && !l->cache[0].port && !(r->tlb && !r->translate);
}

/* What stands between an SM and the memory besides caches. */
static int requests_open(struct time_gpu *g)
{
	const struct sim_spec *s = g->spec;
	banks_init(&g->banks, s, 0);
	g->plain = s->coalesce == COALESCE_LINES && s->outstanding == OUTSTANDING_NONE;
	g->atomic_issue = time_fixed(s->atomic_issue);
	g->timed_atomics = spec_times_atomics(s);
	if (dram_open(&g->dram, s) || (g->timed_atomics && atomics_open(&g->atomics, s, g->dram.partitions)))
		return -ENOMEM;
	if (s->outstanding == OUTSTANDING_NONE)
		return 0;
	g->inflight = mem_zero(s->sm_count, sizeof *g->inflight);
	for (uint32_t k = 0; g->inflight && k < s->sm_count; k++) {
		struct time_inflight *f = &g->inflight[k];
		if (inflight_open(f, s->outstanding, s->outstanding_entries, s->outstanding_merge))
			return -ENOMEM;
		f->recorders = s->recorders;
		f->record = time_fixed(s->record);
	}
	return g->inflight ? 0 : -ENOMEM;
}

int time_memory_open(struct time_gpu *g, uint64_t seed)
{
	const struct sim_spec *s = g->spec;
	uint32_t most = CONST_LEVELS + 2, clusters = s->cluster_count;
	g->levels = mem_zero(most, sizeof *g->levels);
	g->cluster_table = mem_zero((size_t)(most + 2) * clusters, sizeof *g->cluster_table);
	if (!g->levels || !g->cluster_table)
		return -ENOMEM;
	uint32_t *table = g->cluster_table;
	for (uint32_t k = 0; k < s->constant.levels; k++) {
		struct time_level *l = &g->levels[g->level_count];
		if (!s->constant.level[k].present)
			continue;
		if (time_level_open(g, l, &s->constant.level[k], table, seed + g->level_count, NULL))
			return -ENOMEM;
		g->constant.level[g->constant.levels++] = l;
		g->level_count++;
		table += clusters;
	}
	for (uint32_t k = 0; k < 2; k++) {
		struct time_level *l = &g->levels[g->level_count];
		if (!(k == 0 ? s->has_l1 : s->has_l2))
			continue;
		if (time_level_open(g, l, &s->global.level[k], table, seed + g->level_count, NULL))
			return -ENOMEM;
		g->global.level[g->global.levels++] = l;
		g->level_count++;
		table += clusters;
		if (k == 0)
			g->global_l1 = l;
		else
			l->beyond = true;
		if (k && s->constant_uses_l2)
			g->constant.level[g->constant.levels++] = l;
	}
	g->constant.memory = time_memory_table(g, &s->constant, table);
	g->global.memory = time_memory_table(g, &s->global, table + clusters);
	g->epoch = EPOCH_MAX;
	time_split(g, &g->constant);
	time_split(g, &g->global);
	if (g->global.near < g->global.levels && g->global.level[g->global.near]->scope == SCOPE_GPU &&
	    cache_uses_places(g->global.level[g->global.near]->cache))
		g->common = g->global.level[g->global.near]->cache;
	g->global.fetch = s->coalesce_segment ? s->coalesce_segment : 32;
	for (uint32_t k = 0; k < g->global.levels; k++)
		g->global.stores |=
		    g->global.level[k]->spec->write != WRITE_THROUGH || g->global.level[k]->spec->write_allocate;
	g->constant.fetch = 32;
	g->shared_issue = time_fixed(s->shared.issue);
	g->constant_issue = time_fixed(s->constant.issue);
	g->global_issue = time_fixed(s->global.issue);
	g->host_latency = (uint64_t)llround(s->host.mapped_latency * s->clock_hz);
	g->shared_latency = (uint64_t)llround(s->shared.memory_latency);
	if (time_texture_open(g, seed + 1000))
		return -ENOMEM;
	g->global.prompt = is_prompt(&g->global);
	g->constant.prompt = is_prompt(&g->constant);
	return requests_open(g);
}

void time_memory_close(struct time_gpu *g)
{
	for (uint32_t k = 0; k < g->level_count; k++)
		time_level_close(&g->levels[k]);
	time_texture_close(g);
	/* A level whose instances could not be allocated is not counted yet. */
	mem_free(g->levels);
	mem_free(g->cluster_table);
	dram_close(&g->dram);
	atomics_close(&g->atomics);
	for (uint32_t k = 0; g->inflight && k < g->spec->sm_count; k++)
		inflight_close(&g->inflight[k]);
	mem_free(g->inflight);
}

/* ---- between launches ---- */

void time_memory_begin(struct time_gpu *g)
{
	struct time_level *l = g->global_l1;
	for (uint32_t n = 0; l && l->spec->emptied && n < l->count; n++)
		cache_flush(&l->cache[n]);
}

void time_arrange_banks(struct time_gpu *g, uint32_t bytes)
{
	banks_init(&g->banks, g->spec, bytes);
}

void time_divide_shared(struct time_gpu *g, uint32_t percent)
{
	g->shared_percent = percent;
}

void time_choose_l1(struct time_gpu *g, uint64_t room)
{
	const struct sim_spec *s = g->spec;
	struct time_level *l = g->global_l1;
	if (!l || !s->l1_split.present)
		return;
	const struct cache_spec *c = room == s->shared_split[0] ? &s->l1_split : &s->global.level[0];
	for (uint32_t n = 0; l->spec != c && n < l->count; n++) {
		struct time_cache *old = &l->cache[n];
		const struct rng rng = old->rng;
		cache_free(old);
		cache_init(old, c, 0, 0);
		old->rng = rng;
	}
	l->spec = c;
}

void time_flush(struct time_gpu *g)
{
	for (uint32_t k = 0; k < g->level_count; k++)
		for (uint32_t n = 0; n < g->levels[k].count; n++)
			cache_flush(&g->levels[k].cache[n]);
	time_fetch_flush(g);
	time_texture_flush(g);
	dram_flush(&g->dram);
}

static void forget(const struct time_route *r, uint64_t base, uint64_t bytes)
{
	for (uint32_t k = 0; k < r->levels; k++)
		for (uint32_t n = 0; n < r->level[k]->count; n++)
			cache_forget(&r->level[k]->cache[n], base, bytes);
}

void time_forget(struct time_gpu *g, enum time_area a, uint64_t base, uint64_t bytes)
{
	if (a == TIME_CONSTANT) {
		forget(&g->constant, CONSTANT_HOME | base, bytes);
	} else {
		forget(&g->global, base, bytes);
		time_texture_forget(g, base, bytes);
	}
}
