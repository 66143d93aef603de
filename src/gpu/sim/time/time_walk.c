/* Level by level: translation, tags, ports, tables of requests, and memory behind them all. */
#include "gpu/sim/time/time_walk.h"
#include "gpu/sim/time/time_answer.h"
#include "gpu/sim/time/time_trace.h"
#include <assert.h>

static uint64_t refresh(const struct time_gpu *g, uint64_t t)
{
	const struct noise_spec *n = &g->spec->noise;
	if (!(n->refresh_interval >= 1) || !(n->refresh_cycles > 0))
		return 0;
	/* Not fmod: it divides bit by bit, and every access to memory comes by here. */
	double now = (double)t, phase = now - n->refresh_interval * (double)(uint64_t)(now / n->refresh_interval);
	return phase < n->refresh_cycles ? (uint64_t)((n->refresh_cycles - phase) * FIX_ONE) : 0;
}

static inline void note_place(struct time_gpu *g, const struct cache_spec *level, const char *other)
{
	if (__builtin_expect(g->note != NULL, 0))
		time_note_place(g, level, other);
}

/* What a level that missed fills at once. */
static uint32_t filled(const struct cache_spec *c)
{
	return c->sector ? c->sector : c->line;
}

/* Lines that were replaced go back to memory, in the background. `ask`: that is a matter for the far side. */
static void write_back(struct time_gpu *g, struct time_cluster *owner, struct time_cache *c, uint64_t address,
		       uint64_t t, bool ask)
{
	uint32_t bytes = cache_written_back(c);
	if (!bytes)
		return;
	if (!ask) {
		dram_give(&g->dram, address, bytes, t);
		return;
	}
	struct far_piece *p = far_piece(owner, PIECE_WRITE, NULL, 0, 0, address, t);
	if (p)
		p->bytes = bytes;
}

/* Takes an entry of the SM's table at the latest now. Returns when what is in flight already is back, 0 when this request has
 * to fetch it itself. *queue, what ports on the way have it wait, passes while it waits for an entry. */
static __attribute__((noinline)) uint64_t take_entry(struct time_gpu *g, struct time_transit *q, uint32_t line,
						     uint64_t *queue)
{
	uint64_t at, t = q->t, wait = 0;
	if (q->entry != INFLIGHT_NONE)
		return 0;
	if (q->table->recorders) {
		t = (inflight_record(q->table, q->lanes, t << FIX, &wait) + FIX_ONE - 1) >> FIX;
		q->recorded = true;
		q->stood += (wait + FIX_ONE - 1) >> FIX;
	}
	/* Lines of the L1 and segments that skip it have different sizes and are never taken for each other. */
	uint64_t name = q->address / line * 64 + (uint64_t)__builtin_ctz(line);
	switch (inflight_enter(q->table, name, q->lanes, t, &at, &q->entry)) {
	case INFLIGHT_GO:
		q->stood += at - t;
		if (q->recorded && at > t)
			inflight_hold(q->table, (at - t) << FIX);
		*queue -= *queue < (at - q->t) << FIX ? *queue : (at - q->t) << FIX;
		q->ahead += at - q->t;
		q->t = at;
		return 0;
	case INFLIGHT_MERGED:
		q->entry = INFLIGHT_NONE;
		note_place(g, NULL, "in flight");
		return at;
	case INFLIGHT_FULL: /* every request is answered at once here */
		break;
	}
	assert(!"an entry without an answer");
	return 0;
}

void time_out_of_memory(struct time_cluster *c)
{
	c->out_of_memory = c->run.stop = true;
}

/* Looks the address up level by level; every level passed on the way keeps the line. Returns when the data is there. `ask`: what
 * is beyond the near levels becomes a piece for the far side, and PENDING comes back. */
static inline __attribute__((always_inline)) uint64_t walk(struct time_gpu *g, struct time_cluster *owner,
							   const struct time_route *r, uint32_t first, uint32_t sm,
							   struct time_transit *q, const bool ask)
{
	uint64_t *pending[TIME_LEVELS];
	uint32_t passed = 0, cluster = owner->number, bytes = q->bytes, line = q->fetch, k;
	uint32_t most = bytes;		      /* that a level on the way fills at once: memory moves them all */
	uint64_t ready = 0, queue = q->queue; /* the longest wait at a port: the others have drained by then */
	uint64_t extra = 0;		      /* for the translation */
	uint32_t late = q->late;
	uint32_t translate = !r->tlb ? UINT32_MAX : first > r->translate ? first : r->translate;
	uint32_t end = ask ? r->near : r->levels;

	for (k = first; k < end; k++) {
		const struct time_level *l = r->level[k];
		if (__builtin_expect(q->table != NULL, 0)) {
			if (l->scope == SCOPE_SM)
				line = l->spec->sector ? l->spec->sector : l->spec->line;
			else if ((ready = take_entry(g, q, line, &queue)))
				break;
		}
		if (__builtin_expect(k == translate, 0) &&
		    !tlb_translate(r->tlb, sm, cluster, q->address, q->t, &extra)) {
			time_out_of_memory(owner);
			return q->t;
		}
		uint32_t n = l->scope == SCOPE_SM ? sm : l->scope == SCOPE_CLUSTER ? cluster : 0;
		struct time_cache *c = &l->cache[n];
		if (__builtin_expect(!c->tag, 0) && cache_reserve(c)) {
			time_out_of_memory(owner);
			return q->t;
		}
		uint64_t *fill = cache_touch(c, q->address, q->t);
		bool miss = *fill == CACHE_INVALID;
		c->hits += !miss;
		c->misses += miss;
		if (miss) {
			bytes = filled(l->spec);
			most = bytes > most ? bytes : most;
		}
		/* What is still on its way is not there: the table counts who waits for it. */
		else if (__builtin_expect(q->table && l->scope == SCOPE_SM && *fill > q->t, 0))
			take_entry(g, q, line, &queue);
		if (c->port) {
			uint64_t wait = cache_port(c, q->address, q->t, q->ahead, bytes);
			queue = wait > queue ? wait : queue;
		}
		if (miss) {
			if (c->dirty)
				write_back(g, owner, c, q->address, q->t, ask);
			/* What comes so much later to the next port finds that it has drained meanwhile, so both are one wait. */
			queue += l->vain;
			late += l->fill;
			pending[passed++] = fill;
			continue;
		}
		ready = answered(g, k < r->near ? &owner->noise : &g->noise, l, c, cluster, q->address, q->t,
				 queue + extra);
		if (ask && __builtin_expect(*fill >= PENDING, 0)) {
			struct far_piece *p = far_piece(owner, PIECE_MERGE, r, k, sm, q->address, ready);
			if (p)
				p->other = (uint32_t)(*fill - PENDING);
			ready = PENDING;
		} else if (*fill > ready) {
			ready = *fill;
		}
		note_place(g, l->spec, NULL);
		break;
	}
	if (ask && !ready) {
		struct far_piece *p = far_piece(owner, PIECE_WALK, r, k, sm, q->address, q->t);
		if (p) {
			p->queue = queue;
			p->bytes = bytes;
			p->fetch = q->fetch;
			p->late = late;
		}
		ready = PENDING;
	}
	if (k >= r->levels && q->table)
		ready = take_entry(g, q, line, &queue);
	if (!ready) {
		if (__builtin_expect(k == translate, 0) &&
		    !tlb_translate(r->tlb, sm, cluster, q->address, q->t, &extra)) {
			time_out_of_memory(owner);
			return q->t;
		}
		uint32_t moved = r->levels ? filled(r->level[r->levels - 1]->spec) : 0;
		moved = moved > most ? moved : most;
		uint64_t latency =
		    disturb(g, &g->noise, r->memory[cluster] + late, q->t) + refresh(g, q->t) + queue + extra;
		/* Memory is asked when the ports on the way have let the request pass. The two waits follow each other,
		 * and what they have in common counts once. */
		latency += dram_take(&g->dram, q->address, moved > q->fetch ? moved : q->fetch, q->t + (queue >> FIX),
				     q->ahead);
		ready = q->t + ((latency + FIX_ONE / 2) >> FIX);
		note_place(g, NULL, "memory");
	}
	for (k = 0; k < passed; k++) {
		*pending[k] = ready;
		if (ask && ready == PENDING)
			far_fill(owner, pending[k]);
	}
	if (__builtin_expect(q->entry != INFLIGHT_NONE, 0))
		inflight_leave(q->table, q->entry, ready);
	return ready;
}

uint64_t time_walk_at_once(struct time_gpu *g, struct time_cluster *c, const struct time_route *r, uint32_t first,
			   uint32_t sm, struct time_transit *q)
{
	return walk(g, c, r, first, sm, q, false);
}

static __attribute__((noinline)) uint64_t walk_near(struct time_gpu *g, struct time_cluster *c,
						    const struct time_route *r, uint32_t first, uint32_t sm,
						    struct time_transit *q)
{
	return walk(g, c, r, first, sm, q, true);
}

uint64_t time_request(struct time_run *x, const struct time_route *r, uint32_t first, uint32_t sm,
		      struct time_transit *q)
{
	return x->c->direct ? time_walk_at_once(x->g, x->c, r, first, sm, q) : walk_near(x->g, x->c, r, first, sm, q);
}

bool time_store_levels(struct time_gpu *g, struct time_cluster *owner, const struct time_route *r, uint32_t first,
		       uint32_t end, uint32_t sm, uint64_t address, uint64_t t, bool ask)
{
	for (uint32_t k = first; k < end; k++) {
		const struct time_level *l = r->level[k];
		uint32_t n = l->scope == SCOPE_SM ? sm : l->scope == SCOPE_CLUSTER ? owner->number : 0;
		struct time_cache *c = &l->cache[n];
		if (l->spec->write == WRITE_EVICT) {
			cache_drop(c, address);
			continue;
		}
		uint64_t *sector = cache_find(c, address);
		if (l->spec->write_allocate && !sector) {
			if (!c->tag && cache_reserve(c)) {
				time_out_of_memory(owner);
				return false;
			}
			sector = cache_touch(c, address, t);
			*sector = t;
			if (c->dirty)
				write_back(g, owner, c, address, t, ask);
		}
		if (l->spec->write == WRITE_BACK && sector) {
			cache_soil(c, sector);
			if (c->store_least)
				g->sm[sm].stored = cache_store_port(c, address, t, g->global.fetch);
			return false;
		}
	}
	return true;
}

bool time_one_queue(const struct time_gpu *g)
{
	return dram_is_one_queue(&g->dram) && g->spec->coalesce == COALESCE_LINES;
}

uint64_t time_walk(struct time_run *x, const struct time_route *r, uint32_t first, uint32_t sm, uint64_t address,
		   uint64_t t, uint32_t bytes)
{
	struct time_transit q = {
	    .address = address, .t = t, .bytes = bytes, .fetch = r->fetch, .lanes = 1, .entry = INFLIGHT_NONE};
	return time_request(x, r, first, sm, &q);
}
