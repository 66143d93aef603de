#include "gpu/sim/time/time_tally.h"
#include "gpu/sim/time/time_fetch.h"
#include <errno.h>
#include <string.h>

/* ---- caches ---- */

static void add_level(struct time_stats *s, const char *name, const struct time_cache *c, uint32_t count, int sign)
{
	uint32_t k = 0;
	while (k < s->levels && strcmp(s->level[k].name, name) != 0)
		k++;
	if (k == TIME_COUNTED)
		return;
	if (k == s->levels)
		s->level[s->levels++] = (struct time_level_count){.name = name};
	for (uint32_t n = 0; n < count; n++) {
		s->level[k].hits += (uint64_t)sign * c[n].hits;
		s->level[k].misses += (uint64_t)sign * c[n].misses;
	}
}

/* Counts go on from launch to launch: those of before are taken off. A level that paths share counts under its first name. */
static void add_caches(struct time_gpu *g, struct time_stats *s, int sign)
{
	static const char *const tlb[TLB_PATHS][TLB_LEVELS] = {
	    [TLB_GLOBAL] = {"tlb.global.l1", "tlb.global.l2", "tlb.global.l3", "tlb.global.l4"},
	    [TLB_TEXTURE] = {"tlb.texture.l1", "tlb.texture.l2", "tlb.texture.l3", "tlb.texture.l4"}};
	for (uint32_t k = 0; k < g->level_count; k++)
		add_level(s, time_level_name(g->spec, g->levels[k].spec), g->levels[k].cache, g->levels[k].count, sign);
	for (uint32_t k = 0; g->texture && k < g->texture->route.levels; k++)
		if (!g->texture->borrowed[k])
			add_level(s, time_level_name(g->spec, g->texture->level[k].spec), g->texture->level[k].cache,
				  g->texture->level[k].count, sign);
	for (uint32_t k = 0; g->fetch && k < g->fetch->route.levels; k++)
		if (!g->fetch->borrowed[k])
			add_level(s, time_level_name(g->spec, g->fetch->level[k].spec), g->fetch->level[k].cache,
				  g->fetch->level[k].count, sign);
	for (uint32_t p = 0; p < TLB_PATHS; p++)
		for (uint32_t k = 0; k < g->tlb[p].levels; k++)
			add_level(s, tlb[p][k], g->tlb[p].level[k].cache, g->tlb[p].level[k].count, sign);
	s->dram_bytes += (uint64_t)sign * g->dram.bytes;
}

/* ---- a launch ---- */

static void tally_free(struct time_tally *y)
{
	mem_free(y->record);
	mem_free(y->count);
	mem_free(y);
}

static struct time_tally *tally_new(const struct time_program *p)
{
	struct time_tally *y = mem_zero(1, sizeof *y);
	if (!y)
		return NULL;
	y->record = mem_zero(p->func->inst_count, sizeof *y->record);
	y->count = mem_zero(p->func->inst_count, sizeof *y->count);
	if (y->record && y->count)
		return y;
	tally_free(y);
	return NULL;
}

int time_tally_open(struct time_gpu *g, struct time_grid *grid)
{
	struct time_stats *s = grid->q->stats;
	if (!s)
		return 0;
	add_caches(g, s, -1);
	for (uint32_t n = 0; n < g->spec->cluster_count; n++) {
		g->cluster[n].run.tally = tally_new(grid->q->program);
		if (!g->cluster[n].run.tally)
			return -ENOMEM; /* time_tally_close frees the others */
	}
	return 0;
}

void time_tally_lanes(struct time_tally *y, uint32_t pc, uint64_t mask)
{
	struct tally_record *r = &y->record[pc];
	struct time_count *n = &y->count[pc];
	n->issues += r->issues;
	n->off += r->mask ? 0 : r->issues;
	n->lanes += r->issues * (uint64_t)__builtin_popcountll(r->mask);
	r->issues = 0;
	r->mask = mask;
}

void time_tally_close(struct time_gpu *g, struct time_grid *grid)
{
	struct time_stats *s = grid->q->stats;
	if (!s)
		return;
	for (uint32_t n = 0; n < g->spec->cluster_count; n++) {
		struct time_tally *y = g->cluster[n].run.tally;
		if (!y)
			continue;
		for (uint32_t pc = 0; pc < grid->q->program->func->inst_count; pc++) {
			const struct tally_record *r = &y->record[pc];
			time_tally_lanes(y, pc, 0);
			const struct time_count *from = &y->count[pc];
			struct time_count *to = &s->record[pc];
			to->issues += from->issues;
			to->off += from->off;
			to->lanes += from->lanes;
			to->waited += from->waited + r->operand + r->pipe;
			s->waited[WHY_OPERAND] += r->operand;
			s->waited[WHY_PIPE] += r->pipe;
			to->transactions += from->transactions;
			to->passes += from->passes;
		}
		for (uint32_t k = 0; k < TIME_WHYS; k++)
			s->waited[k] += y->waited[k];
		s->resident += y->resident;
		tally_free(y);
		g->cluster[n].run.tally = NULL;
	}
	add_caches(g, s, 1);
}

/* ---- one warp ---- */

void time_tally_waited(struct time_run *x, struct time_warp *w, uint64_t t)
{
	const uint64_t waited = t - w->past.before - 1;
	struct note_warp nw = {.before = w->past.before,
			       .lanes = w->past.lanes,
			       .latest = w->past.latest,
			       .from = x->g->fetch ? "" : NULL};
	time_reason(x, w, &nw, t);
	x->tally->count[w->f.pc].waited += waited;
	x->tally->waited[nw.why] += waited;
	if (!w->past.lanes)
		w->past.first = t;
}
