/* What clusters ask the far side: their queues, the order of serving, and how the answers come back. */
#include "gpu/sim/time/time_next.h"
#include <string.h>

/* Room for `want` entries of `size` bytes in place of a list, or NULL: then the launch ends as out of memory. */
static void *grown(struct time_cluster *c, void *list, uint32_t want, size_t size)
{
	void *fresh = mem_grow(list, want * size);
	if (!fresh)
		c->out_of_memory = c->run.stop = true;
	return fresh;
}

/* Two lists of the same room have twice as much, or at first a little. */
#define FIRST 64
static __attribute__((noinline)) bool more_of_two(struct time_cluster *c, void **one, size_t size, void **other,
						  size_t other_size, uint32_t *room)
{
	const uint32_t want = *room ? *room * 2 : FIRST;
	void *fresh = grown(c, *one, want, size);
	*one = fresh ? fresh : *one;
	void *more = fresh ? grown(c, *other, want, other_size) : NULL;
	*other = more ? more : *other;
	*room = more ? want : *room;
	return more;
}

static bool more_requests(struct time_cluster *c)
{
	void *list = c->request, *turn = c->turn;
	const bool fits = more_of_two(c, &list, sizeof *c->request, &turn, sizeof *c->turn, &c->request_room);
	c->request = list;
	c->turn = turn;
	return fits;
}

static bool more_pieces(struct time_cluster *c)
{
	void *list = c->piece, *seen = c->seen;
	const bool fits = more_of_two(c, &list, sizeof *c->piece, &seen, sizeof *c->seen, &c->piece_room);
	c->piece = list;
	c->seen = seen;
	return fits;
}

static bool more_fills(struct time_cluster *c)
{
	const uint32_t want = c->fill_room ? c->fill_room * 2 : FIRST;
	struct far_fill *fresh = grown(c, c->fill, want, sizeof *fresh);
	c->fill = fresh ? fresh : c->fill;
	c->fill_room = fresh ? want : c->fill_room;
	return fresh;
}

struct far_request *far_request(struct time_cluster *c, enum far_kind kind, uint64_t t, uint32_t piece)
{
	if (__builtin_expect(c->request_count == c->request_room, 0) && !more_requests(c))
		return NULL;
	c->turn[c->request_count] = (struct far_turn){.t = t, .next = NEVER};
	struct far_request *q = &c->request[c->request_count++];
	*q = (struct far_request){.t = t,
				  .piece = piece,
				  .count = c->piece_count - piece,
				  .effect = FAR_NONE,
				  .flight = FAR_NONE,
				  .kind = (uint8_t)kind};
	return q;
}

struct far_piece *far_piece(struct time_cluster *c, enum piece_kind kind, const struct time_route *r, uint32_t first,
			    uint32_t sm, uint64_t address, uint64_t t)
{
	if (__builtin_expect(c->piece_count == c->piece_room, 0) && !more_pieces(c))
		return NULL;
	c->seen[c->piece_count] = (struct far_seen){.place = CACHE_NOWHERE};
	struct far_piece *p = &c->piece[c->piece_count++];
	*p = (struct far_piece){.address = address,
				.time = t,
				.route = r,
				.sm = (uint16_t)sm,
				.first = (uint8_t)first,
				.kind = (uint8_t)kind};
	return p;
}

void far_fill(struct time_cluster *c, uint64_t *fill)
{
	*fill = CACHE_INVALID;
	if (!c->piece_count || (__builtin_expect(c->fill_count == c->fill_room, 0) && !more_fills(c)))
		return;
	*fill = PENDING + c->piece_count - 1;
	c->fill[c->fill_count++] = (struct far_fill){.fill = fill, .piece = c->piece_count - 1};
}

void time_far_clear(struct time_cluster *c)
{
	c->request_count = c->piece_count = c->fill_count = 0;
	time_effect_clear(c);
}

/* ---- serving ---- */

static void serve(struct time_gpu *g, struct time_grid *grid, struct time_cluster *c, const struct far_request *q)
{
	if (q->kind == FAR_BLOCK)
		time_dispatch(c, grid, q->piece, q->t);
	else
		time_far_pieces(g, c, q);
	if (q->effect != FAR_NONE)
		grid->changed |= time_effect_serve(c, q->effect, grid->l->memory, grid->watch);
}

/* When all pieces of a request are there. */
static uint64_t ready_of(struct time_cluster *c, const struct far_request *q)
{
	uint64_t ready = q->known;
	for (uint32_t k = q->piece; k < q->piece + q->count; k++) {
		struct far_piece *p = &c->piece[k];
		if (p->kind == PIECE_MERGE && c->piece[p->other].time > p->time)
			p->time = c->piece[p->other].time;
		ready = p->time > ready ? p->time : ready;
	}
	return ready + q->extra;
}

static void load_answer(struct time_cluster *c, const struct far_request *q)
{
	struct time_warp *w = q->warp;
	const struct time_inst *ti = &c->run.ti[q->pc];
	uint64_t ready = ready_of(c, q);
	if (ti->kind == FUNC_ATOMIC && ready > c->run.landed)
		c->run.landed = ready;
	if (__builtin_expect(w->f.upper != NULL, 0)) { /* the other half may have been answered before */
		uint64_t before = ti->write_count ? w->ready[ti->write[0]] : PENDING;
		if (before < PENDING && before > ready)
			ready = before;
	}
	for (uint32_t k = 0; k < ti->write_count; k++)
		w->ready[ti->write[k]] = ready;
	if (q->flight != FAR_NONE)
		w->flight[q->flight] = ready;
}

static void fetch_answer(struct time_cluster *c, const struct far_request *q)
{
	uint64_t ready = ready_of(c, q);
	if (q->warp && q->warp->held == q->pc)
		q->warp->fetched = ready;
}

static void wake(struct time_run *x, struct time_warp *w)
{
	if (!w || w->sched->warp[w->slot] != w)
		return;
	const uint64_t *at = &w->sched->wake[w->slot];
	if (*at < PENDING || *at == NEVER)
		return;
	uint64_t from = w->fetched > w->from ? w->fetched : w->from;
	if (w->sub) { /* in the middle of an instruction, where only a fetch or the load before it can be waited for */
		const struct time_inst *ti = &x->ti[w->f.pc];
		uint64_t free = w->sub == ti->before && ti->kind == FUNC_LOAD && w->flight ? time_blocked(x, w, ti) : 0;
		time_wake(w->sched, w->slot, free > from ? free : from);
	} else {
		time_next_together(x, w, from);
	}
	time_turn(w->sched, *at);
}

void time_far_answer(struct time_cluster *c)
{
	uint32_t count = c->request_count; /* waking fetches nothing: a warp that waits holds its block */
	for (uint32_t n = 0; n < count; n++) {
		const struct far_request *q = &c->request[n];
		if (n + 6 < count && q[6].warp)
			__builtin_prefetch(&q[6].warp->ready);
		if (n + 2 < count && q[2].warp)
			__builtin_prefetch(q[2].warp->ready);
		if (q->kind == FAR_LOAD)
			load_answer(c, q);
		else if (q->kind == FAR_FETCH)
			fetch_answer(c, q);
	}
	for (uint32_t n = 0; n < c->fill_count; n++) { /* unless the line has gone meanwhile */
		const struct far_fill *f = &c->fill[n];
		if (*f->fill == PENDING + f->piece)
			*f->fill = c->piece[f->piece].time;
	}
	for (uint32_t n = 0; n < count; n++)
		wake(&c->run, c->request[n].warp);
	time_far_clear(c);
	time_left(c);
}

/* ---- the order ---- */

/* Clusters are appended in their order, and a cluster's requests lie in order, so every cycle's list is in order too. */
static void append(struct far_order *o, struct time_cluster *clusters, uint32_t n, uint64_t from)
{
	struct time_cluster *c = &clusters[n];
	for (uint32_t k = 0; k < c->request_count; k++) {
		uint64_t slot = c->turn[k].t - from, name = (uint64_t)n << 32 | k;
		uint64_t bit = 1ull << slot % 64;
		if (o->used[slot / 64] & bit) {
			uint64_t last = o->last[slot];
			clusters[last >> 32].turn[(uint32_t)last].next = name;
		} else {
			o->used[slot / 64] |= bit;
			o->first[slot] = name;
		}
		o->last[slot] = name;
	}
}

/* The next request in the order, NEVER when there is none. */
static uint64_t following(struct far_order *o, const struct time_cluster *clusters)
{
	uint64_t name = o->at;
	if (name == NEVER) {
		while (o->word < EPOCH_MAX / 64 && !o->used[o->word])
			o->word++;
		if (o->word == EPOCH_MAX / 64)
			return NEVER;
		name = o->first[o->word * 64 + (uint32_t)__builtin_ctzll(o->used[o->word])];
		o->used[o->word] &= o->used[o->word] - 1;
	}
	o->at = clusters[name >> 32].turn[(uint32_t)name].next;
	return name;
}

/* Clusters may have run on other cores, so what the serving reads of them is fetched a while before its turn. The
 * request comes first, then what it leads to, then what that leads to. */
enum { NOW, AHEAD, SOON, LATER, STAGES };

void time_far_serve(struct time_gpu *g, struct time_grid *grid, uint64_t from)
{
	struct far_order *o = g->order;
	uint64_t name[STAGES] = {NEVER, NEVER, NEVER, NEVER};
	memset(o->used, 0, sizeof o->used);
	o->lost = g->common ? g->common->lost : 0;
	o->at = NEVER;
	o->word = 0;
	for (uint32_t n = 0; n < g->spec->cluster_count; n++)
		append(o, g->cluster, n, from);
	for (uint32_t n = 0; n < STAGES || name[AHEAD] != NEVER; n++) {
		for (uint32_t k = NOW; k < LATER; k++)
			name[k] = name[k + 1];
		name[LATER] = following(o, g->cluster);
		struct time_cluster *of[STAGES];
		const struct far_request *q[STAGES];
		for (uint32_t k = NOW; k < STAGES; k++) {
			of[k] = &g->cluster[name[k] == NEVER ? 0 : name[k] >> 32];
			q[k] = name[k] == NEVER ? NULL : &of[k]->request[(uint32_t)name[k]];
		}
		__builtin_prefetch(q[LATER]);
		__builtin_prefetch((const char *)q[LATER] + sizeof *q[LATER] -
				   1); /* of two lines of the host's, it may be */
		if (q[SOON])
			time_far_soon(of[SOON], q[SOON]);
		if (q[AHEAD])
			time_far_ahead(g, of[AHEAD], q[AHEAD]);
		if (q[NOW])
			serve(g, grid, of[NOW], q[NOW]);
	}
}
