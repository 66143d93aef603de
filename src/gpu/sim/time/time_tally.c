#include "gpu/sim/time/time_tally.h"
#include "gpu/sim/time/time_choose.h"
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

static struct time_tally *tally_new(const struct time_program *p)
{
	struct time_tally *y = mem_zero(1, sizeof *y);
	if (!y)
		return NULL;
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
	add_caches(g, s, -1);
	for (uint32_t n = 0; n < g->spec->cluster_count; n++) {
		g->cluster[n].run.tally = tally_new(grid->q->program);
		if (!g->cluster[n].run.tally)
			return -ENOMEM; /* time_tally_close frees the others */
	}
	return 0;
}

static void other_lanes(struct tally_record *r, uint64_t mask)
{
	r->n.issues += r->issues;
	r->n.off += r->mask ? 0 : r->issues;
	r->n.lanes += r->issues * (uint64_t)__builtin_popcountll(r->mask);
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
			struct tally_record *r = &y->record[pc];
			other_lanes(r, 0);
			const struct time_count *from = &r->n;
			struct time_count *to = &s->record[pc];
			to->issues += from->issues;
			to->off += from->off;
			to->lanes += from->lanes;
			to->waited += from->waited + r->operand;
			s->waited[WHY_OPERAND] += r->operand;
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
}

/* ---- one warp ---- */

static void add_waited(struct time_run *x, struct time_warp *w, uint64_t t)
{
	const uint64_t waited = t - w->past.before - 1;
	x->tally->record[w->f.pc].n.waited += waited;
	/* A warp among many mostly waits for a pipe, which is what time_reason would say first. */
	if (t > w->sched->wake[w->slot] && set_free(w->sched, &x->p->set[w->sched->set[w->slot]]) == t) {
		x->tally->waited[WHY_PIPE] += waited;
		return;
	}
	struct note_warp nw = {.before = w->past.before,
			       .lanes = w->past.lanes,
			       .latest = w->past.latest,
			       .from = x->g->fetch ? "" : NULL};
	time_reason(x, w, &nw, t);
	x->tally->waited[nw.why] += waited;
}

void time_tally_any(struct time_run *x, struct time_warp *w, uint64_t mask, uint64_t t)
{
	struct tally_record *r = &x->tally->record[w->f.pc];
	const uint32_t before = x->ti[w->f.pc].before;
	if (!w->sub) {
		if (!w->past.lanes)
			w->past.first = t;
		if (t - w->past.before > 1)
			add_waited(x, w, t);
	}
	if (w->sub < before && mask)
		return;
	if (mask != r->mask)
		other_lanes(r, mask);
	r->issues++;
	w->past.latest = w->f.pc;
	w->past.lanes = w->f.active;
	w->past.before = t;
}
