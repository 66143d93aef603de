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

static struct time_tally *tally_new(const struct time_program *p, struct note_warp *past)
{
	struct time_tally *y = mem_zero(1, sizeof *y);
	if (!y)
		return NULL;
	y->past = past;
	y->record = mem_zero(p->func->inst_count, sizeof *y->record);
	if (!y->record) {
		mem_free(y);
		return NULL;
	}
	return y;
}

int time_tally_open(struct time_gpu *g, struct time_grid *grid)
{
	struct time_stats *s = grid->q->stats;
	if (!s)
		return 0;
	grid->past = mem_zero((size_t)g->spec->sm_count * g->spec->max_warps_per_sm, sizeof *grid->past);
	if (!grid->past)
		return -ENOMEM;
	add_caches(g, s, -1);
	for (uint32_t n = 0; n < g->spec->cluster_count; n++) {
		g->cluster[n].run.tally = tally_new(grid->q->program, grid->past);
		if (!g->cluster[n].run.tally)
			return -ENOMEM; /* time_tally_close frees the others */
	}
	return 0;
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
			const struct time_count *from = &y->record[pc];
			struct time_count *to = &s->record[pc];
			to->issues += from->issues + from->whole;
			to->off += from->off;
			to->lanes += from->lanes + from->whole * g->spec->warp_size;
			to->whole += from->whole;
			to->waited += from->waited;
			to->transactions += from->transactions;
			to->passes += from->passes;
		}
		for (uint32_t k = 0; k < TIME_WHYS; k++)
			s->waited[k] += y->waited[k];
		s->resident += y->resident;
		mem_free(y->record);
		mem_free(y);
		g->cluster[n].run.tally = NULL;
	}
	add_caches(g, s, 1);
	mem_free(grid->past);
	grid->past = NULL;
}

/* ---- one warp ---- */

void time_tally_warp(struct time_run *x, struct time_warp *w)
{
	struct note_warp *nw = &x->tally->past[w->block->sm * x->g->spec->max_warps_per_sm + w->f.warp_id];
	nw->lanes = nw->block = 0;
	nw->before = x->start - 1;
	w->past = nw;
}

void time_tally_waited(struct time_run *x, struct time_warp *w, uint64_t t)
{
	struct note_warp *nw = w->past;
	const uint64_t waited = t - nw->before - 1, wake = w->sched->wake[w->slot];
	const struct time_inst *ti = &x->ti[w->f.pc];
	uint32_t k = 0;
	/* Mostly an operand, which is what time_reason looks for first. */
	while (k < ti->wait_count && w->ready[ti->wait[k]] != wake)
		k++;
	if (t == wake && k < ti->wait_count)
		nw->why = WHY_OPERAND;
	else
		time_reason(x, w, nw, t);
	x->tally->record[w->f.pc].waited += waited;
	x->tally->waited[nw->why] += waited;
}
