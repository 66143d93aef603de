#include "gpu/sim/time/time_trace.h"
#include "gpu/sim/time/time_tally.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

const char *time_why_text(enum time_why why)
{
	static const char *const text[TIME_WHYS] = {
	    [WHY_START] = "start of the block", [WHY_ORDER] = "order", [WHY_BRANCH] = "branch",
	    [WHY_OPERAND] = "operand",		[WHY_PIPE] = "pipe",   [WHY_PORT] = "issue port",
	    [WHY_BARRIER] = "barrier",		[WHY_FETCH] = "fetch", [WHY_LOADS] = "loads in flight",
	    [WHY_PATH] = "path switch",
	};
	return text[why];
}

int time_note_open(struct time_run *x)
{
	struct time_gpu *g = x->g;
	struct time_note *n = mem_zero(1, sizeof *n);
	if (!n)
		return -ENOMEM;
	n->per_sm = g->spec->max_warps_per_sm;
	n->warps = g->spec->sm_count * n->per_sm;
	n->warp = mem_zero(n->warps, sizeof *n->warp);
	if (!n->warp) {
		mem_free(n);
		return -ENOMEM;
	}
	x->note = g->note = n;
	return 0;
}

/* ---- names ---- */

const char *time_level_name(const struct sim_spec *s, const struct cache_spec *c)
{
	static const char *const constant[CONST_LEVELS] = {"constant.l1", "constant.l2", "constant.l3", "constant.l4"};
	static const char *const global[CONST_LEVELS] = {"global.l1", "global.l2", "global.l3", "global.l4"};
	static const char *const texture[CONST_LEVELS] = {"texture.l1", "texture.l2", "texture.l3", "texture.l4"};
	static const char *const fetch[CONST_LEVELS] = {"instruction.l1", "instruction.l2", "instruction.l3",
							"instruction.l4"};
	for (uint32_t k = 0; k < CONST_LEVELS; k++) {
		if (c == &s->constant.level[k])
			return constant[k];
		if (c == &s->global.level[k])
			return global[k];
		if (c == &s->texture.level[k])
			return texture[k];
		if (c == &s->fetch.path.level[k])
			return fetch[k];
	}
	return "cache";
}

void time_note_place(struct time_gpu *g, const struct cache_spec *level, const char *other)
{
	struct time_note *n = g->note;
	const char *name = level ? time_level_name(g->spec, level) : other;
	uint32_t k = 0;
	if (n->fetching) {
		n->fetch_from = name;
		return;
	}
	if (!n->open)
		return;
	n->ev.transactions++;
	while (k < n->places && n->place[k].name != name)
		k++;
	if (k == NOTE_PLACES)
		return;
	if (k == n->places) {
		n->place[n->places].name = name;
		n->place[n->places++].count = 0;
	}
	n->place[k].count++;
}

void time_note_passes(struct time_gpu *g, uint32_t passes)
{
	g->note->ev.passes += passes; /* of both halves of a wide warp */
}

void time_note_stores(struct time_gpu *g, uint32_t transactions)
{
	g->note->ev.transactions += transactions;
}

void time_note_done(struct time_run *x, uint64_t ready)
{
	x->note->ev.done = ready - x->start;
}

static struct note_warp *warp_of(const struct time_note *n, const struct time_warp *w)
{
	return &n->warp[w->block->sm * n->per_sm + w->f.warp_id];
}

void time_note_fetch(struct time_gpu *g, const struct time_warp *w, bool begins)
{
	struct time_note *n = g->note;
	n->fetching = begins;
	if (begins) {
		n->fetch_from = "instruction.l1";
		return;
	}
	warp_of(n, w)->from = n->fetch_from;
}

/* ---- one event ---- */

static void flush(struct time_run *x)
{
	struct time_note *n = x->note;
	struct time_event *ev = &n->ev;
	size_t at = 0;
	if (!n->open)
		return;
	n->open = false;
	ev->where[0] = '\0';
	for (uint32_t k = 0; k < n->places && at < sizeof ev->where; k++)
		at += (size_t)snprintf(ev->where + at, sizeof ev->where - at, "%s%s x%u", k ? ", " : "",
				       n->place[k].name, n->place[k].count);
	x->q->hook->issue(x->q->hook->ctx, ev);
}

/* Why, with what it is: a pipe, whoever wrote the operand, a level. */
static void reason(const struct time_run *x, const struct time_warp *w, struct note_warp *nw, uint64_t t)
{
	const struct time_inst *ti = &x->ti[w->f.pc];
	const struct time_set *set = &x->p->set[w->sched->set[w->slot]];
	uint64_t operand = 0, pipe = NEVER;
	nw->why = time_why(x, w, &nw->past, nw->from != NULL, t);
	nw->what = nw->why == WHY_FETCH ? nw->from : "";
	for (uint32_t k = 0; nw->why == WHY_PIPE && k < set->count; k++)
		if (*w->sched->pipe[set->pipe[k]] >> FIX < pipe) {
			pipe = *w->sched->pipe[set->pipe[k]] >> FIX;
			nw->what = x->g->spec->pipe[set->pipe[k]].name;
		}
	if (nw->why != WHY_OPERAND)
		return;
	nw->why_pc = w->f.pc;
	for (uint32_t k = 0; k < ti->wait_count; k++)
		if (w->ready[ti->wait[k]] >= operand) {
			operand = w->ready[ti->wait[k]];
			nw->why_pc = nw->writer && ti->wait[k] < nw->slots ? nw->writer[ti->wait[k]] : w->f.pc;
		}
}

static void another_warp(struct time_run *x, struct note_warp *nw, uint64_t block)
{
	uint32_t slots = x->p->slots + 1;
	if (nw->slots < slots) {
		uint32_t *more = mem_zero(slots, sizeof *more);
		mem_free(nw->writer);
		nw->writer = more;
		nw->slots = more ? slots : 0;
	}
	nw->block = block;
	nw->past = (struct time_past){.before = x->start, .branched = x->start - 1};
}

void time_note_step(struct time_run *x, struct time_warp *w, uint64_t mask, uint64_t t)
{
	struct time_note *n = x->note;
	struct note_warp *nw = warp_of(n, w);
	const struct time_inst *ti = &x->ti[w->f.pc];
	const uint32_t *at = w->block->f.ctaid, *grid = x->l->grid;
	uint64_t block = at[0] + (uint64_t)grid[0] * (at[1] + (uint64_t)grid[1] * at[2]);
	if (nw->block != block + 1)
		another_warp(x, nw, block + 1);
	if (!w->sub) {
		nw->first = t;
		reason(x, w, nw, t);
	}
	if (w->sub < ti->before && mask)
		return;
	flush(x);
	bool result = ti->write_count && mask;
	uint64_t done = t + (result ? ti->tail : ti->after);
	n->ev = (struct time_event){.cycle = nw->first - x->start,
				    .last = t - x->start,
				    .done = (done > t ? done : t + 1) - x->start,
				    .before = nw->past.before - x->start,
				    .first = !nw->past.lanes,
				    .sm = w->block->f.sm,
				    .scheduler = w->sched->index,
				    .warp = w->f.warp_id,
				    .block = block,
				    .pc = w->f.pc,
				    .mask = mask,
				    .why = nw->why,
				    .why_pc = nw->why_pc,
				    .what = nw->what};
	n->open = true;
	n->places = 0;
	for (uint32_t k = 0; result && nw->writer && k < ti->write_count; k++)
		nw->writer[ti->write[k]] = w->f.pc;
	nw->past.branched = ti->kind == FUNC_BRANCH ? t : nw->past.branched;
	nw->past.lanes = w->f.active;
	nw->past.before = t;
}

void time_note_close(struct time_run *x)
{
	struct time_note *n = x->note;
	if (!n)
		return;
	flush(x);
	for (uint32_t k = 0; k < n->warps; k++)
		mem_free(n->warp[k].writer);
	mem_free(n->warp);
	mem_free(n);
	x->note = x->g->note = NULL;
}
