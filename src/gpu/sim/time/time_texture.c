/* The texture path: levels of its own, of which the last may be the global L2; and which TLBs each path asks. */
#include "gpu/sim/time/time_state.h"
#include <errno.h>
#include <math.h>

static int open_levels(struct time_gpu *g, uint64_t seed)
{
	const struct sim_spec *s = g->spec;
	const struct path_spec *p = &s->texture;
	struct time_texture *x = g->texture;
	uint32_t clusters = s->cluster_count, *table;
	x->table = mem_zero((size_t)(CONST_LEVELS + 1) * clusters, sizeof *x->table);
	if (!x->table)
		return -ENOMEM;
	table = x->table;
	for (uint32_t k = 0; k < p->levels; k++, table += clusters) {
		const struct time_level *of = NULL;
		if (s->texture_shared[k] && g->global.levels) /* the global L2 is the last of its path */
			of = g->global.level[g->global.levels - 1];
		x->borrowed[k] = of != NULL;
		if (time_level_open(g, &x->level[k], &p->level[k], table, seed + k, of))
			return -ENOMEM;
		x->level[k].beyond = of && of->beyond;
		x->route.level[x->route.levels++] = &x->level[k];
	}
	x->route.memory = time_memory_table(g, p, table);
	x->route.fetch = p->levels ? p->level[0].sector : s->coalesce_segment;
	if (!x->route.fetch)
		x->route.fetch = 32;
	time_split(g, &x->route);
	x->issue = p->issue > 0 ? (uint32_t)llround(p->issue * FIX_ONE) : 0;
	return 0;
}

/* Levels that are looked up before the translation, as long as they are virtual without a gap. */
static void translate(struct time_route *r, struct time_tlb *t)
{
	if (!t->levels)
		return;
	r->tlb = t;
	while (r->translate < r->levels && r->level[r->translate]->spec->addressed == ADDRESSED_VIRTUAL)
		r->translate++;
}

int time_texture_open(struct time_gpu *g, uint64_t seed)
{
	const struct sim_spec *s = g->spec;
	const struct time_level *l2 = s->has_l2 ? g->global.level[g->global.levels - 1] : NULL;
	for (uint32_t k = 0; k < TLB_PATHS; k++)
		if (tlb_open(&g->tlb[k], s, (enum tlb_path)k, l2, &g->tlb_window, seed + 10 * k))
			return -ENOMEM;
	translate(&g->global, &g->tlb[TLB_GLOBAL]);
	if (!s->has_texture)
		return 0;
	g->texture = mem_zero(1, sizeof *g->texture);
	if (!g->texture || open_levels(g, seed + 100))
		return -ENOMEM;
	translate(&g->texture->route, &g->tlb[s->tlb_shared ? TLB_GLOBAL : TLB_TEXTURE]);
	return 0;
}

void time_texture_close(struct time_gpu *g)
{
	for (uint32_t k = 0; k < TLB_PATHS; k++)
		tlb_close(&g->tlb[k]);
	struct time_texture *x = g->texture;
	for (uint32_t k = 0; x && k < x->route.levels; k++)
		if (!x->borrowed[k])
			time_level_close(&x->level[k]);
	if (x)
		mem_free(x->table);
	mem_free(x);
	g->texture = NULL;
}

void time_texture_flush(struct time_gpu *g)
{
	struct time_texture *x = g->texture;
	for (uint32_t k = 0; x && k < x->route.levels; k++)
		for (uint32_t n = 0; n < x->level[k].count; n++)
			cache_flush(&x->level[k].cache[n]);
}

void time_texture_forget(struct time_gpu *g, uint64_t base, uint64_t bytes)
{
	struct time_texture *x = g->texture;
	for (uint32_t k = 0; x && k < x->route.levels; k++)
		for (uint32_t n = 0; n < x->level[k].count; n++)
			cache_forget(&x->level[k].cache[n], base, bytes);
}
