/* The pieces of what clusters ask: looked at by each cluster when its epoch ends, and served in the order of all.
 *
 * The serving is the one part of an epoch that a single thread does, so it is left only what the order decides. That is
 * which line is replaced, which access had which random number, and who came first at a port or in memory. Most pieces
 * ask a cache for a line that it has, and the cluster has found out their answer beforehand. The serving notes the use
 * and adds what chance adds. */
#include "gpu/sim/time/time_answer.h"
#include "gpu/sim/time/time_walk.h"

/* Pieces of which the tags are fetched ahead: a queue says what comes, and tags of a large cache are not in the host's. */
#define AHEAD 6
/* The same of ages, each of which is a mere write. */
#define AGES_AHEAD 8
#define HOST_LINE  64

/* The cache of the whole GPU that the piece asks first, or NULL. */
static const struct time_cache *first_asked(const struct far_piece *p)
{
	if (p->kind != PIECE_WALK || p->first >= p->route->levels || p->route->level[p->first]->scope != SCOPE_GPU)
		return NULL;
	return &p->route->level[p->first]->cache[0];
}

static void prefetch_tags(const struct far_piece *p, const struct far_seen *s)
{
	const struct time_cache *c = first_asked(p);
	if (c)
		cache_prefetch(c, p->address, s->place);
}

static void prefetch_age(const struct time_cache *c, const struct far_seen *s)
{
	__builtin_prefetch(c->age + s->place, 1);
}

void time_far_ahead(const struct time_gpu *g, const struct time_cluster *c, const struct far_request *q)
{
	for (uint32_t k = q->piece; k < q->piece + q->count && k < q->piece + AHEAD; k++)
		if (c->seen[k].wait)
			prefetch_age(g->common, &c->seen[k]);
		else
			prefetch_tags(&c->piece[k], &c->seen[k]);
}

void time_far_soon(const struct time_cluster *c, const struct far_request *q)
{
	const char *from = (const char *)(c->seen + q->piece), *end = (const char *)(c->seen + q->piece + q->count);
	for (; from < end; from += HOST_LINE)
		__builtin_prefetch(from);
	if (q->effect != FAR_NONE)
		time_effect_soon(c, q->effect);
}

/* When the piece of a settled line is there, which is filled at `fill`. */
static inline uint64_t settled_at(const struct time_gpu *g, const struct time_cluster *c, const struct far_piece *p,
				  uint64_t fill, uint64_t t, uint64_t late)
{
	const struct time_level *l = p->route->level[p->first];
	uint64_t latency = undisturbed(l, l->cache, c->number, p->address, p->queue);
	uint64_t ready = after(t, steady(g, latency, t) + late);
	ready = fill > ready ? fill : ready;
	return ready < t + g->epoch ? t + g->epoch : ready; /* only a latency below one cycle is less */
}

/* A settled piece comes so much later, fixed point. */
static __attribute__((noinline)) void delay(const struct time_gpu *g, struct time_cluster *c, uint32_t k, uint64_t late)
{
	struct far_piece *p = &c->piece[k];
	const uint64_t fill = *cache_fill_at(g->common, p->address, c->seen[k].place);
	p->time = settled_at(g, c, p, fill, p->time - c->seen[k].wait, late);
}

/* What the serving will answer, if chance and other pieces leave it so. */
static inline void settle(const struct time_gpu *g, const struct time_cluster *c, struct far_piece *p,
			  struct far_seen *s)
{
	if (s->place == CACHE_NOWHERE || p->route->level[p->first]->cache != g->common || p->route->tlb || g->note)
		return;
	const uint64_t fill = *cache_fill_at(g->common, p->address, s->place);
	if (fill == CACHE_INVALID)
		return;
	uint64_t ready = settled_at(g, c, p, fill, p->time, 0), wait = ready - p->time;
	if (wait > UINT32_MAX)
		return;
	s->wait = (uint32_t)wait;
	p->time = ready;
}

void time_far_look(struct time_cluster *c)
{
	const struct time_gpu *g = c->run.g;
	const uint32_t count = c->piece_count;
	struct {
		const struct time_cache *of;
		uint32_t set;
	} asked[AHEAD];
	/* Three passes, one behind the other: tags are fetched, then looked at, and when the rest has come too, the piece is settled. */
	for (uint32_t k = 0; k < count + 2 * AHEAD; k++) {
		const uint32_t look = k - AHEAD, done = look - AHEAD, turn = k % AHEAD;
		if (k >= AHEAD && look < count && asked[turn].of) {
			const uint64_t address = c->piece[look].address;
			const uint32_t place = cache_place_in(asked[turn].of, address, asked[turn].set);
			c->seen[look].place = place;
			if (place != CACHE_NOWHERE)
				__builtin_prefetch(cache_fill_at(asked[turn].of, address, place));
		}
		if (k < count) {
			asked[turn].of = first_asked(&c->piece[k]);
			asked[turn].set = asked[turn].of ? cache_prefetch_set(asked[turn].of, c->piece[k].address) : 0;
		}
		if (k >= 2 * AHEAD)
			settle(g, c, &c->piece[done], &c->seen[done]);
	}
}

/* Pieces from k on and before end as long as they are settled. Returns the first that is not. */
static uint32_t serve_settled(struct time_gpu *g, struct time_cluster *c, uint32_t k, uint32_t end)
{
	const struct noise_spec *n = &g->spec->noise;
	struct time_cache *of = g->common;
	const uint32_t first = k;
	for (; k < end && c->seen[k].wait; k++) {
		if (k + AGES_AHEAD < end && c->seen[k + AGES_AHEAD].wait)
			prefetch_age(of, &c->seen[k + AGES_AHEAD]);
		cache_use_place(of, c->seen[k].place);
	}
	of->hits += k - first;
	if (!(n->jitter_probability > 0))
		return k;
	/* Apart from the uses, so that the generator stays in the host's registers. */
	struct rng noise = g->noise;
	for (uint32_t p = first; p < k; p++)
		if (__builtin_expect(rng_unit(&noise) < n->jitter_probability, 0)) {
			g->noise = noise;
			delay(g, c, p, jitter_cycles(n, &g->noise));
			noise = g->noise;
		}
	g->noise = noise;
	return k;
}

/* What is not settled may still be where the cluster saw it, with nothing in between. When the data is there, or 0: then all levels have
 * to be asked. */
static inline uint64_t found_again(struct time_gpu *g, const struct time_cluster *c, const struct far_piece *p,
				   uint32_t place)
{
	const struct time_route *r = p->route;
	if (place == CACHE_NOWHERE || r->tlb || g->note)
		return 0;
	const struct time_level *l = r->level[p->first];
	if (l->cache->port)
		return 0;
	const uint64_t *fill = cache_touch_place(l->cache, p->address, p->time, place);
	if (!fill)
		return 0;
	l->cache->hits++;
	uint64_t ready = answered(g, &g->noise, l, l->cache, c->number, p->address, p->time, p->queue);
	return *fill > ready ? *fill : ready;
}

static void serve_walk(struct time_gpu *g, struct time_cluster *c, struct far_piece *p, struct far_seen *s)
{
	p->time -= s->wait; /* what the cluster found out does not hold any more */
	s->wait = 0;
	uint64_t t = p->time, ready = found_again(g, c, p, s->place);
	if (!ready) {
		struct time_transit w = {.address = p->address,
					 .t = t,
					 .bytes = p->bytes,
					 .fetch = p->fetch,
					 .lanes = 1,
					 .entry = INFLIGHT_NONE,
					 .queue = p->queue,
					 .late = p->late};
		ready = time_walk_at_once(g, c, p->route, p->first, p->sm, &w);
	}
	p->time = ready < t + g->epoch ? t + g->epoch : ready; /* only a latency below one cycle is less */
}

void time_far_pieces(struct time_gpu *g, struct time_cluster *c, const struct far_request *q)
{
	uint64_t out = q->kind == FAR_STORE ? q->extra : 0;
	uint32_t end = q->piece + q->count;
	bool one = time_one_queue(g);
	for (uint32_t k = q->piece; k < end; k++) {
		if (c->seen[k].wait && g->common->lost == g->order->lost) {
			k = serve_settled(g, c, k, end);
			if (k == end)
				break;
		}
		struct far_piece *p = &c->piece[k];
		uint64_t t = p->time;
		if (k + AHEAD < end)
			prefetch_tags(p + AHEAD, &c->seen[k + AHEAD]);
		if (p->kind == PIECE_MERGE)
			continue;
		if (p->kind == PIECE_WALK) {
			serve_walk(g, c, p, &c->seen[k]);
			continue;
		}
		p->time = 0;
		if (p->kind == PIECE_WRITE) {
			dram_give(&g->dram, p->address, p->bytes, t);
		} else if (!g->global.stores ||
			   time_store_levels(g, c, p->route, p->first, p->route->levels, p->sm, p->address, t, false)) {
			out++;
			if (!one)
				dram_give(&g->dram, p->address, p->bytes, q->t);
		}
	}
	if (one && out)
		dram_give(&g->dram, 0, (uint32_t)out * g->global.fetch, q->t);
}
