#include "gpu/sim/time/time_tally.h"
#include "gpu/sim/time/time_fetch.h"
#include "gpu/sim/time/time_next.h"
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
		g->cluster[n].run.counted = g->cluster[n].run.tally->record;
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
		g->cluster[n].run.counted = NULL;
	}
	add_caches(g, s, 1);
}

/* ---- one warp ---- */

/* What is looked at is what time_next looked at. */
static inline __attribute__((always_inline)) enum time_why
why_of(const struct time_run *x, const struct time_warp *w, const struct time_past *past, bool fetches, uint64_t t)
{
	const struct time_sched *s = w->sched;
	const struct time_inst *ti = &x->ti[w->f.pc];
	const uint64_t wake = s->wake[w->slot];
	if (t > wake) {
		/* A port that this warp itself used last holds nobody up: instructions follow each other. */
		const bool own = s->last == w->slot && past->lanes;
		if (set_free(s, &x->p->set[s->set[w->slot]]) == t)
			return WHY_PIPE;
		return !own ? WHY_PORT : past->lanes & w->f.active ? WHY_ORDER : WHY_PATH;
	}
	if (wake > past->before) {
		for (uint32_t k = 0; k < ti->wait_count; k++)
			if (w->ready[ti->wait[k]] == wake)
				return WHY_OPERAND;
		if (w->together && time_all_back(w, ti, past->before) == wake)
			return WHY_OPERAND;
		if (ti->kind == FUNC_LOAD && w->flight && w->flight[w->flight_at] == wake)
			return WHY_LOADS;
	}
	if (w->fetched == wake && fetches)
		return WHY_FETCH;
	if (w->released == wake)
		return WHY_BARRIER;
	if (!past->lanes)
		return WHY_START;
	if (!(past->lanes & w->f.active))
		return WHY_PATH;
	return past->branched == past->before ? WHY_BRANCH : WHY_ORDER;
}

enum time_why time_why(const struct time_run *x, const struct time_warp *w, const struct time_past *past, bool fetches,
		       uint64_t t)
{
	return why_of(x, w, past, fetches, t);
}

void time_tally_waited(struct time_run *x, struct time_warp *w, uint64_t t)
{
	const uint64_t waited = t - w->past.before - 1;
	const enum time_why why = why_of(x, w, &w->past, x->g->fetch != NULL, t);
	x->tally->count[w->f.pc].waited += waited;
	x->tally->waited[why] += waited;
	if (!w->past.lanes)
		w->first = t;
}
