#include "gpu/sim/time/time_coalesce.h"
#include "gpu/sim/time/time_fetch.h"
#include "gpu/sim/time/time_trace.h"
#include "ptx/ptx.h"
#include <assert.h>
#include <errno.h>
#include <math.h>
#include <string.h>

/* Where the spaces lie in the caches that they share. Far above any global address. */
#define CONSTANT_HOME (1ull << 42)
#define LOCAL_HOME    (1ull << 43)
#define DRIFT_PERIOD  (1ull << 26) /* cycles of one slow swing of the clocks against each other */

static uint32_t fixed(double cycles)
{
	return cycles > 0 ? (uint32_t)llround(cycles * FIX_ONE) : 0;
}

static uint32_t instances(const struct sim_spec *s, enum cache_scope scope)
{
	return scope == SCOPE_SM ? s->sm_count : scope == SCOPE_CLUSTER ? s->cluster_count : 1;
}

int time_level_open(struct time_gpu *g, struct time_level *l, const struct cache_spec *c, uint32_t *table,
		    uint64_t seed, const struct time_level *of)
{
	const struct sim_spec *s = g->spec;
	l->spec = c;
	l->scope = c->scope;
	l->count = instances(s, c->scope);
	l->latency = table;
	l->far = fixed(c->far_extra);
	for (uint32_t k = 0; k < s->cluster_count; k++)
		table[k] = fixed(c->latency + (c->scope == SCOPE_GPU && s->cluster_offset ? s->cluster_offset[k] : 0));
	l->cache = of ? of->cache : mem_zero(l->count, sizeof *l->cache);
	if (!l->cache)
		return -ENOMEM;
	if (of)
		return 0;
	double evict = c->scope == SCOPE_GPU ? s->noise.neighbour_rate / 1000 : 0;
	for (uint32_t k = 0; k < l->count; k++)
		cache_init(&l->cache[k], c, seed * 1000003u + k, evict);
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
		table[k] = fixed(p->memory_latency + (s->cluster_offset ? s->cluster_offset[k] : 0));
	return table;
}

/* What stands between an SM and the memory besides caches. */
static int requests_open(struct time_gpu *g)
{
	const struct sim_spec *s = g->spec;
	banks_init(&g->banks, s);
	g->plain = s->coalesce == COALESCE_LINES && s->outstanding == OUTSTANDING_NONE;
	g->atomic_issue = fixed(s->atomic_issue);
	g->timed_atomics = s->atomic_issue > 0;
	for (uint32_t k = 0; k < SPEC_ATOMICS; k++)
		g->timed_atomics |=
		    s->atomic[k].latency > 0 || s->atomic[k].same_address > 0 || s->atomic[k].distinct > 0;
	if (dram_open(&g->dram, s) || (g->timed_atomics && atomics_open(&g->atomics, g->dram.partitions)))
		return -ENOMEM;
	if (s->outstanding == OUTSTANDING_NONE)
		return 0;
	g->inflight = mem_zero(s->sm_count, sizeof *g->inflight);
	for (uint32_t k = 0; g->inflight && k < s->sm_count; k++)
		if (inflight_open(&g->inflight[k], s->outstanding, s->outstanding_entries, s->outstanding_merge))
			return -ENOMEM;
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
		else if (s->constant_uses_l2)
			g->constant.level[g->constant.levels++] = l;
	}
	g->constant.memory = time_memory_table(g, &s->constant, table);
	g->global.memory = time_memory_table(g, &s->global, table + clusters);
	g->global.fetch = s->coalesce_segment ? s->coalesce_segment : 32;
	for (uint32_t k = 0; k < g->global.levels; k++)
		g->global.stores |=
		    g->global.level[k]->spec->write != WRITE_THROUGH || g->global.level[k]->spec->write_allocate;
	g->constant.fetch = 32;
	g->shared_issue = fixed(s->shared.issue);
	g->constant_issue = fixed(s->constant.issue);
	g->global_issue = fixed(s->global.issue);
	if (time_texture_open(g, seed + 1000))
		return -ENOMEM;
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

/* ---- one access ---- */

/* What happens to an access beyond the SM besides its latency. Fixed point in and out. */
static uint64_t disturb(struct time_gpu *g, uint64_t latency, uint64_t t)
{
	const struct noise_spec *n = &g->spec->noise;
	if (n->drift != 0) {
		double phase = (double)(t % DRIFT_PERIOD) / DRIFT_PERIOD;
		latency = (uint64_t)((double)latency * (1 + n->drift * (4 * fabs(phase - 0.5) - 1)));
	}
	if (g->boost.gain > 0)
		latency = (uint64_t)((double)latency * boost_pace(&g->boost, t));
	if (n->jitter_probability > 0 && rng_unit(&g->noise) < n->jitter_probability)
		latency += (uint64_t)(rng_unit(&g->noise) * n->jitter_cycles * FIX_ONE);
	return latency;
}

static uint64_t refresh(const struct time_gpu *g, uint64_t t)
{
	const struct noise_spec *n = &g->spec->noise;
	if (!(n->refresh_interval >= 1) || !(n->refresh_cycles > 0))
		return 0;
	/* Not fmod: it divides bit by bit, and every access to memory comes by here. */
	double now = (double)t, phase = now - n->refresh_interval * (double)(uint64_t)(now / n->refresh_interval);
	return phase < n->refresh_cycles ? (uint64_t)((n->refresh_cycles - phase) * FIX_ONE) : 0;
}

static bool is_far(const struct cache_spec *c, uint64_t address, uint32_t cluster)
{
	uint64_t line = address / c->line;
	uint32_t home = c->partitions == 2 ? (uint32_t)__builtin_parityll(line)
					   : (uint32_t)((line ^ line >> 5 ^ line >> 11) % c->partitions);
	return home != cluster % c->partitions;
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

/* Lines that were replaced go back to memory, in the background. */
static void write_back(struct time_gpu *g, struct time_cache *c, uint64_t address, uint64_t t)
{
	uint32_t bytes = cache_written_back(c);
	if (bytes)
		dram_take(&g->dram, address, bytes, t);
}

/* One transaction on its way. */
struct request {
	struct time_inflight *table; /* NULL: nothing that could be full */
	uint64_t address, t;	     /* t: when it leaves the pipe; later when the table is full */
	uint32_t bytes;		     /* what the first level gives to the SM */
	uint32_t fetch;		     /* what a miss of every level moves at least */
	uint32_t lanes;
	uint32_t entry; /* of the table, INFLIGHT_NONE */
};

/* Takes an entry of the SM's table at the latest now. Returns when what is in flight already is back, 0 when this request has
 * to fetch it itself. */
static __attribute__((noinline)) uint64_t take_entry(struct time_gpu *g, struct request *q,
							   uint32_t line)
{
	uint64_t at;
	if (q->entry != INFLIGHT_NONE)
		return 0;
	/* Lines of the L1 and segments that skip it have different sizes and are never taken for each other. */
	uint64_t name = q->address / line * 64 + (uint64_t)__builtin_ctz(line);
	switch (inflight_enter(q->table, name, q->lanes, q->t, &at, &q->entry)) {
	case INFLIGHT_GO:
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

/* Looks the address up level by level; every level passed on the way keeps the line. Returns when the data is there. */
static uint64_t walk(struct time_gpu *g, const struct time_route *r, uint32_t first, uint32_t sm, struct request *q)
{
	uint64_t *pending[TIME_LEVELS];
	uint32_t passed = 0, cluster = g->sm[sm].cluster, bytes = q->bytes, line = q->fetch, k;
	uint64_t ready = 0, queue = 0; /* the longest wait at a port: the others have drained by then */
	uint64_t extra = 0;	       /* for the translation */
	uint32_t translate = !r->tlb ? UINT32_MAX : first > r->translate ? first : r->translate;

	for (k = first; k < r->levels; k++) {
		const struct time_level *l = r->level[k];
		if (__builtin_expect(q->table != NULL, 0)) {
			if (l->scope == SCOPE_SM)
				line = l->spec->sector ? l->spec->sector : l->spec->line;
			else if ((ready = take_entry(g, q, line)))
				break;
		}
		if (__builtin_expect(k == translate, 0) &&
		    !tlb_translate(r->tlb, sm, cluster, q->address, q->t, &extra)) {
			g->out_of_memory = true;
			return q->t;
		}
		uint32_t n = l->scope == SCOPE_SM ? sm : l->scope == SCOPE_CLUSTER ? cluster : 0;
		struct time_cache *c = &l->cache[n];
		if (__builtin_expect(!c->tag, 0) && cache_reserve(c)) {
			g->out_of_memory = true;
			return q->t;
		}
		uint64_t *fill = cache_touch(c, q->address, q->t);
		bool miss = *fill == CACHE_INVALID;
		if (miss)
			bytes = filled(l->spec);
		/* What is still on its way is not there: the table counts who waits for it. */
		else if (__builtin_expect(q->table && l->scope == SCOPE_SM && *fill > q->t, 0))
			take_entry(g, q, line);
		if (c->port_byte) {
			uint64_t wait = cache_port(c, q->t, bytes);
			queue = wait > queue ? wait : queue;
		}
		if (miss) {
			if (c->dirty)
				write_back(g, c, q->address, q->t);
			pending[passed++] = fill;
			continue;
		}
		uint64_t latency = l->latency[cluster] + queue + extra;
		if (l->spec->partitions > 1 && is_far(l->spec, q->address, cluster))
			latency += l->far;
		if (l->scope != SCOPE_SM)
			latency = disturb(g, latency, q->t);
		ready = q->t + ((latency + FIX_ONE / 2) >> FIX);
		if (*fill > ready)
			ready = *fill;
		note_place(g, l->spec, NULL);
		break;
	}
	if (k >= r->levels && q->table)
		ready = take_entry(g, q, line);
	if (!ready) {
		if (__builtin_expect(k == translate, 0) &&
		    !tlb_translate(r->tlb, sm, cluster, q->address, q->t, &extra)) {
			g->out_of_memory = true;
			return q->t;
		}
		uint32_t moved = r->levels ? filled(r->level[r->levels - 1]->spec) : 0;
		uint64_t latency = disturb(g, r->memory[cluster], q->t) + refresh(g, q->t) + queue + extra;
		latency += dram_take(&g->dram, q->address, moved > q->fetch ? moved : q->fetch, q->t);
		ready = q->t + ((latency + FIX_ONE / 2) >> FIX);
		note_place(g, NULL, "memory");
	}
	for (k = 0; k < passed; k++)
		*pending[k] = ready;
	if (__builtin_expect(q->entry != INFLIGHT_NONE, 0))
		inflight_leave(q->table, q->entry, ready);
	return ready;
}

/* A store passes the levels; each does with the line what its write policy says. A sector that a store made room for counts as
 * there. Returns whether it goes on to memory. */
static bool store_walk(struct time_gpu *g, const struct time_route *r, uint32_t sm, uint64_t address, uint64_t t)
{
	for (uint32_t k = 0; k < r->levels; k++) {
		const struct time_level *l = r->level[k];
		uint32_t n = l->scope == SCOPE_SM ? sm : l->scope == SCOPE_CLUSTER ? g->sm[sm].cluster : 0;
		struct time_cache *c = &l->cache[n];
		if (l->spec->write == WRITE_EVICT) {
			cache_drop(c, address);
			continue;
		}
		uint64_t *sector = cache_find(c, address);
		if (l->spec->write_allocate && !sector) {
			if (!c->tag && cache_reserve(c)) {
				g->out_of_memory = true;
				return false;
			}
			sector = cache_touch(c, address, t);
			*sector = t;
			if (c->dirty)
				write_back(g, c, address, t);
		}
		if (l->spec->write == WRITE_BACK && sector) {
			cache_soil(c, sector);
			return false;
		}
	}
	return true;
}

uint64_t time_walk(struct time_gpu *g, const struct time_route *r, uint32_t first, uint32_t sm, uint64_t address,
		   uint64_t t, uint32_t bytes)
{
	struct request q = {
	    .address = address, .t = t, .bytes = bytes, .fetch = r->fetch, .lanes = 1, .entry = INFLIGHT_NONE};
	return walk(g, r, first, sm, &q);
}

/* ---- the lanes of one instruction ---- */

/* How many lanes go to the most wanted address: atomics on one address happen one after another. */
static uint32_t most_wanted(const uint64_t *address, uint32_t mask)
{
	uint32_t most = 1;
	for (uint32_t rest = mask; rest; rest &= rest - 1) {
		uint64_t a = address[__builtin_ctz(rest)];
		uint32_t same = 0;
		for (uint32_t other = rest; other; other &= other - 1)
			same += address[__builtin_ctz(other)] == a;
		most = same > most ? same : most;
	}
	return most;
}

static uint64_t shared_access(struct time_gpu *g, const uint64_t *address, const struct func_inst *i, uint32_t mask,
			      uint64_t t, uint32_t *busy)
{
	const struct sim_spec *s = g->spec;
	double extra = 0, latency = s->shared.memory_latency;
	uint32_t more = mask & (mask - 1) ? banks_extra(&g->banks, address, mask, i->bytes) : 0;
	extra = more * s->shared_conflict_cost;
	if (__builtin_expect(g->note != NULL, 0))
		time_note_passes(g, more + 1);
	if (i->kind == FUNC_ATOMIC) {
		double cost = s->shared_atomic_same > 0 ? s->shared_atomic_same : s->shared_conflict_cost;
		double again = mask & (mask - 1) ? (most_wanted(address, mask) - 1) * cost : 0;
		extra = again > extra ? again : extra;
		latency = s->shared_atomic_latency > 0 ? s->shared_atomic_latency : latency;
	}
	*busy = g->shared_issue + fixed(extra);
	return t + (uint64_t)llround(latency + extra);
}

/* Local memory is striped over the lanes, so that lanes at the same local address are neighbours in memory. */
static void local_home(const struct time_run *x, const struct time_warp *w, uint32_t mask, uint64_t *address)
{
	uint64_t warp = (uint64_t)w->block->sm * x->g->spec->max_warps_per_sm + w->f.warp_id;
	uint64_t base = warp * ((x->p->func->local_bytes + 3) & ~3ull);
	for (uint32_t rest = mask; rest; rest &= rest - 1) {
		uint32_t lane = (uint32_t)__builtin_ctz(rest);
		uint64_t a = base + w->f.addr[lane];
		address[lane] = LOCAL_HOME + ((a & ~3ull) * FUNC_LANES | lane << 2 | (a & 3));
	}
}

static enum time_path path_now(const struct time_warp *w, const struct func_inst *i, uint32_t path)
{
	if (i->space != PTX_GENERIC)
		return path;
	return w->f.space == PTX_SHARED ? PATH_SHARED : w->f.space == PTX_CONST ? PATH_CONSTANT : PATH_GLOBAL;
}

static bool is_local(const struct time_warp *w, const struct func_inst *i)
{
	return i->space == PTX_LOCAL || (i->space == PTX_GENERIC && w->f.space == PTX_LOCAL);
}

/* Host memory that a kernel has changed must be set up again before the next launch. */
static void mark_written(struct func_memory *m, const struct func_warp *w, uint32_t mask)
{
	for (uint32_t rest = mask; rest; rest &= rest - 1)
		if (func_global(m, w->addr[__builtin_ctz(rest)], 1))
			m->region[m->last].written = true;
}

/* A filtered texture read asks for several texels a lane: the pieces of all of them, each once. */
static uint64_t filtered_access(struct time_gpu *g, const struct time_route *r, uint32_t first,
				const struct time_warp *w, uint32_t mask, uint64_t t, uint32_t issue, uint32_t *busy)
{
	struct time_transaction piece[COALESCE_MAX];
	uint64_t all[FUNC_TEXELS * FUNC_LANES], ready = t;
	uint32_t count = 0;
	for (uint32_t k = 0; k < w->f.texels; k++) {
		const uint64_t *texel = k ? w->block->f.texel[k - 1] : w->f.addr;
		uint32_t n = coalesce(COALESCE_LINES, r->fetch, texel, mask, 4, piece);
		for (uint32_t p = 0; p < n; p++) {
			uint32_t known = count;
			while (known && all[known - 1] != piece[p].address)
				known--;
			if (!known)
				all[count++] = piece[p].address;
		}
	}
	for (uint32_t k = 0; k < count; k++) {
		uint64_t at = time_walk(g, r, first, w->block->sm, all[k], t + ((uint64_t)k * issue >> FIX), r->fetch);
		ready = at > ready ? at : ready;
	}
	*busy = issue * count;
	return ready;
}

/* The transactions of one instruction. */
struct batch {
	struct time_gpu *g;
	const struct time_route *route;
	struct time_inflight *table;
	uint32_t first, sm, issue, fetch; /* fetch: bytes that a miss of each moves, 0 = its own */
	uint64_t home, t;
	uint64_t *back; /* NULL, or when each was back */
	/* what it took */
	uint32_t slots; /* turns of the load/store pipe ... */
	uint64_t stall; /* ... and cycles that it stood still because the table was full */
};

/* One after the other; a full table holds up the pipe and with it all that follow. Returns when the last is back. */
static uint64_t send(struct batch *b, const struct time_transaction *piece, uint32_t n)
{
	uint64_t ready = 0;
	uint32_t most = b->table && b->table->merge ? b->table->merge : FUNC_LANES;
	if (b->table)
		inflight_begin(b->table);
	for (uint32_t k = 0; k < n; k++) {
		uint64_t last = 0;
		/* More lanes than an entry serves go out as several requests. */
		for (uint32_t left = piece[k].lanes; left;) {
			uint32_t lanes = left < most ? left : most;
			uint64_t t = b->t + ((uint64_t)b->slots++ * b->issue >> FIX) + b->stall;
			struct request q = {.table = b->table,
					    .address = b->home | piece[k].address,
					    .t = t,
					    .bytes = piece[k].bytes,
					    .fetch = b->fetch ? b->fetch : piece[k].bytes,
					    .lanes = lanes,
					    .entry = INFLIGHT_NONE};
			uint64_t at = walk(b->g, b->route, b->first, b->sm, &q);
			b->stall += q.t - t;
			last = at > last ? at : last;
			left -= lanes;
		}
		if (b->back)
			b->back[k] = last;
		ready = last > ready ? last : ready;
	}
	return ready;
}

/* Atomics whose cost the description gives: each lane's goes to its partition, in the order of the lanes. */
static uint64_t atomic_batch(struct batch *b, const struct func_inst *i, const uint64_t *address, uint32_t mask,
			     const struct time_transaction *piece, uint32_t n, uint32_t *busy)
{
	struct time_gpu *g = b->g;
	const struct sim_spec *s = g->spec;
	uint64_t back[COALESCE_MAX], ready = 0, lanes = 0;
	uint32_t kind = i->more[0] >= PTX_ATOM_AND && i->more[0] <= PTX_ATOM_CAS ? i->more[0] - PTX_ATOM_AND : 0;
	const struct atomic_spec *a = &s->atomic[kind];
	double load = s->has_l2 ? s->global.level[1].latency : s->global.memory_latency;
	int64_t more = a->latency > 0 ? llround((a->latency - load) * FIX_ONE) : 0;
	b->back = back;
	if (g->atomic_issue)
		b->issue = 0; /* the lanes leave one by one, which is counted below */
	send(b, piece, n);
	for (uint32_t rest = mask; rest; rest &= rest - 1, lanes++) {
		uint64_t at = address[__builtin_ctz(rest)], wait, t = b->t + (lanes * g->atomic_issue >> FIX);
		uint32_t k = 0;
		while (k + 1 < n && at - piece[k].address >= piece[k].bytes)
			k++;
		if (atomics_take(&g->atomics, dram_partition(&g->dram, at), at, t, fixed(a->same_address),
				 fixed(a->distinct), &wait)) {
			g->out_of_memory = true;
			return b->t;
		}
		int64_t late = more + (int64_t)wait + (int64_t)(lanes * g->atomic_issue);
		uint64_t done = (uint64_t)((int64_t)(back[k] << FIX) + late + FIX_ONE / 2) >> FIX;
		ready = done > ready ? done : ready;
	}
	uint64_t pipe = g->atomic_issue ? lanes * g->atomic_issue : (uint64_t)b->slots * b->issue;
	*busy = (uint32_t)(pipe + (b->stall << FIX));
	return ready;
}

uint64_t time_load(struct time_run *x, struct time_warp *w, const struct func_inst *i, uint32_t path, uint32_t mask,
		   uint64_t t, uint32_t *busy)
{
	struct time_gpu *g = x->g;
	uint32_t sm = w->block->sm;
	path = path_now(w, i, path);
	if (i->kind == FUNC_ATOMIC) {
		if (path == PATH_SHARED)
			w->block->shared_written = true;
		else if (!is_local(w, i))
			mark_written(x->l->memory, &w->f, mask);
	}
	if (path == PATH_SHARED)
		return shared_access(g, w->f.addr, i, mask, t, busy);

	const struct time_route *r = path == PATH_CONSTANT ? &g->constant : &g->global;
	uint32_t issue = path == PATH_CONSTANT ? g->constant_issue : g->global_issue;
	if (path == PATH_TEXTURE) {
		path = g->texture ? path : PATH_GLOBAL;
		r = g->texture ? &g->texture->route : r;
		issue = g->texture ? g->texture->issue : issue;
	}
	uint64_t home = path == PATH_CONSTANT ? CONSTANT_HOME : 0;
	uint32_t first = 0;
	if (path == PATH_GLOBAL && g->global_l1 && (i->kind == FUNC_ATOMIC || i->flags & FUNC_SKIP_L1))
		first = 1;

	if (__builtin_expect(i->space == PTX_TEX && w->f.texels > 1, 0))
		return filtered_access(g, r, first, w, mask, t, issue, busy);
	uint64_t address[FUNC_LANES];
	const uint64_t *from = w->f.addr;
	if (is_local(w, i)) {
		local_home(x, w, mask, address);
		from = address;
	}
	if (!(mask & (mask - 1)) && (g->plain || path == PATH_CONSTANT || i->space == PTX_TEX) &&
	    !(g->timed_atomics && i->kind == FUNC_ATOMIC)) {
		*busy = issue;
		return time_walk(g, r, first, sm, home | from[__builtin_ctz(mask)], t, i->bytes);
	}
	/* What comes by a read-only path of its own is put together as its cache wants it, and no table of the SM counts it. */
	bool own = path == PATH_CONSTANT || i->space == PTX_TEX;
	struct time_transaction piece[COALESCE_MAX];
	uint32_t size = path != PATH_CONSTANT ? r->fetch : i->bytes ? i->bytes : 1;
	uint32_t n = coalesce(own ? COALESCE_LINES : g->spec->coalesce, size, from, mask, i->bytes, piece);
	struct batch b = {.g = g, .route = r, .first = first, .sm = sm, .home = home, .issue = issue, .t = t};
	if (own)
		b.fetch = r->fetch;
	else if (g->inflight)
		b.table = &g->inflight[sm];
	if (i->kind == FUNC_ATOMIC && g->timed_atomics)
		return atomic_batch(&b, i, from, mask, piece, n, busy);
	uint64_t ready = send(&b, piece, n);
	if (i->kind == FUNC_ATOMIC) {
		uint32_t again = most_wanted(from, mask) - 1;
		ready += (uint64_t)again * issue >> FIX;
		b.slots += again;
	}
	*busy = issue * b.slots + (uint32_t)(b.stall << FIX);
	return ready;
}

void time_store(struct time_run *x, struct time_warp *w, const struct func_inst *i, uint32_t path, uint32_t mask,
		uint64_t t, uint32_t *busy)
{
	struct time_gpu *g = x->g;
	path = path_now(w, i, path);
	if (path == PATH_SHARED) {
		w->block->shared_written = true;
		shared_access(g, w->f.addr, i, mask, t, busy);
		return;
	}
	uint64_t address[FUNC_LANES];
	const uint64_t *from = w->f.addr;
	if (is_local(w, i)) {
		local_home(x, w, mask, address);
		from = address;
	} else {
		mark_written(x->l->memory, &w->f, mask);
	}
	struct time_transaction piece[COALESCE_MAX];
	uint32_t n = coalesce(g->spec->coalesce, g->global.fetch, from, mask, i->bytes, piece), out = 0;
	if (__builtin_expect(g->note != NULL, 0))
		time_note_stores(g, n);
	bool one = dram_is_one_queue(&g->dram) && g->spec->coalesce == COALESCE_LINES;
	for (uint32_t k = 0; k < n; k++) {
		uint64_t then = t + ((uint64_t)k * g->global_issue >> FIX);
		if (g->global.stores && !store_walk(g, &g->global, w->block->sm, piece[k].address, then))
			continue;
		out++;
		if (!one)
			dram_take(&g->dram, piece[k].address, piece[k].bytes, t);
	}
	if (one && out)
		dram_take(&g->dram, 0, out * g->global.fetch, t);
	*busy = g->global_issue * n;
}

/* ---- between launches ---- */

void time_flush(struct time_gpu *g)
{
	for (uint32_t k = 0; k < g->level_count; k++)
		for (uint32_t n = 0; n < g->levels[k].count; n++)
			cache_flush(&g->levels[k].cache[n]);
	time_fetch_flush(g);
	time_texture_flush(g);
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
