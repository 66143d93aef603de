#include "gpu/sim/func/func_lanes.h"
#include "gpu/sim/time/time_answer.h"
#include "gpu/sim/time/time_coalesce.h"
#include "gpu/sim/time/time_fetch.h"
#include "gpu/sim/time/time_tally.h"
#include "gpu/sim/time/time_units.h"
#include "gpu/sim/time/time_walk.h"
#include "ptx/ptx.h"
#include <assert.h>
#include <errno.h>
#include <math.h>
#include <string.h>

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

/* Whether some lane reaches the shared memory of another block of the cluster. */
static bool reaches_far(const struct time_warp *w, const uint64_t *address, uint32_t mask)
{
	const uint32_t own = w->block->f.rank + 1;
	for (uint32_t rest = mask; rest; rest &= rest - 1) {
		const uint64_t window = address[__builtin_ctz(rest)] / FUNC_RANK_BYTES;
		if (window && window != own)
			return true;
	}
	return false;
}

static uint64_t shared_access(struct time_run *x, const struct time_warp *w, const uint64_t *address,
			      const struct func_inst *i, uint32_t mask, uint64_t t, uint32_t *busy)
{
	struct time_gpu *g = x->g;
	const struct sim_spec *s = g->spec;
	const double issue = s->shared_conflict_issue > 0 ? s->shared_conflict_issue : s->shared_conflict_cost;
	double extra = 0, held = 0, latency = s->shared.memory_latency;
	uint32_t more = mask & (mask - 1) ? banks_extra(&g->banks, address, mask, i->bytes) : 0;
	if (__builtin_expect(g->note != NULL, 0))
		time_note_passes(g, more + 1);
	if (__builtin_expect(x->tally != NULL, 0))
		time_counted(x, w)->passes += more + 1;
	const bool far = s->cluster_shared > 0 && x->l->cluster[0] && reaches_far(w, address, mask);
	if (!more && i->kind != FUNC_ATOMIC && !far) {
		*busy = g->shared_issue;
		return t + g->shared_latency;
	}
	latency = far ? s->cluster_shared : latency;
	extra = more * s->shared_conflict_cost;
	held = more * issue;
	if (i->kind == FUNC_ATOMIC) {
		double cost = s->shared_atomic_same > 0 ? s->shared_atomic_same : s->shared_conflict_cost;
		double again = mask & (mask - 1) ? (most_wanted(address, mask) - 1) * cost : 0;
		extra = again > extra ? again : extra;
		held = again > held ? again : held;
		if (s->shared_atomic_latency > 0)
			latency += s->shared_atomic_latency - s->shared.memory_latency;
	}
	*busy = g->shared_issue + time_fixed(held);
	return t + (uint64_t)llround(latency + extra);
}

/* Local memory is striped over the lanes, so that lanes at the same local address are neighbours in memory. */
static void local_home(const struct time_run *x, const struct time_warp *w, const struct func_warp *f, uint32_t mask,
		       uint64_t *address)
{
	uint64_t warp = (uint64_t)w->block->sm * x->g->spec->max_warps_per_sm + w->f.warp_id;
	uint64_t stripe = w->f.upper ? FUNC_WIDEST : FUNC_LANES;
	uint64_t base = warp * ((x->p->func->local_bytes + 3) & ~3ull);
	for (uint32_t rest = mask; rest; rest &= rest - 1) {
		uint32_t lane = (uint32_t)__builtin_ctz(rest);
		uint64_t a = base + f->addr[lane];
		address[lane] = LOCAL_HOME + ((a & ~3ull) * stripe | (f->first_lane + lane) << 2 | (a & 3));
	}
}

static enum time_path path_now(const struct func_warp *w, const struct func_inst *i, uint32_t path)
{
	if (i->space != PTX_GENERIC)
		return path;
	return w->space == PTX_SHARED				? PATH_SHARED
	       : w->space == PTX_CONST || w->space == PTX_PARAM ? PATH_CONSTANT
								: PATH_GLOBAL;
}

/* Generic addresses of one instruction may lie in several spaces. When some are global, those say how long it takes: the others
 * are served while it is under way. */
static uint32_t timed_lanes(const struct func_warp *w, const struct func_inst *i, uint32_t mask)
{
	if (i->space != PTX_GENERIC || w->space != PTX_GLOBAL)
		return mask;
	uint32_t global = 0;
	for (uint32_t rest = mask; rest; rest &= rest - 1)
		if (w->addr[__builtin_ctz(rest)] >= FUNC_MODULE_BASE) /* offsets in a window are less */
			global |= rest & -rest;
	return global;
}

/* A store or atomic of these lanes, of which those in `timed` are timed, may have changed the block's shared memory. */
static bool writes_shared(const struct func_warp *w, const struct func_inst *i, uint32_t mask, uint32_t timed)
{
	return i->space == PTX_SHARED || (i->space == PTX_GENERIC && (w->space != PTX_GLOBAL || timed != mask));
}

static bool is_local(const struct func_warp *w, const struct func_inst *i)
{
	return i->space == PTX_LOCAL || (i->space == PTX_GENERIC && w->space == PTX_LOCAL);
}

/* Host memory that a kernel has changed must be set up again before the next launch. */
static void mark_written(struct func_memory *m, const struct func_warp *w, uint32_t mask)
{
	if (mask & (mask - 1) && func_global(m, w->addr[__builtin_ctz(mask)], 1)) {
		struct func_region *r = &m->region[m->last];
		struct func_spread s = {.base = r->base};
		func_lanes(w->addr, mask, &s);
		r->written = true;
		if (s.far < r->size)
			return;
	}
	for (uint32_t rest = mask; rest; rest &= rest - 1)
		if (func_global(m, w->addr[__builtin_ctz(rest)], 1))
			m->region[m->last].written = true;
}

/* A filtered texture read asks for several texels a lane: the pieces of all of them, each once. */
static uint32_t filtered_pieces(const struct time_route *r, const struct func_warp *w, uint32_t mask, uint64_t *all)
{
	struct time_transaction piece[COALESCE_MAX];
	uint32_t count = 0;
	for (uint32_t k = 0; k < w->texels; k++) {
		const uint64_t *texel = k ? w->block->texel[k - 1] + w->first_lane : w->addr;
		uint32_t n = coalesce(COALESCE_LINES, r->fetch, texel, mask, 4, piece);
		for (uint32_t p = 0; p < n; p++) {
			uint32_t known = count;
			while (known && all[known - 1] != piece[p].address)
				known--;
			if (!known)
				all[count++] = piece[p].address;
		}
	}
	return count;
}

/* What the texture unit takes for its threads, however few transactions they are. In 1/1024 cycle. */
static uint32_t unit_turns(const struct time_gpu *g, const struct func_warp *w, uint32_t mask)
{
	const struct sim_spec *s = g->spec;
	const uint32_t turns = spec_texture_turns(s, w->texel_bytes, w->texels);
	return time_fixed(__builtin_popcount(mask) * turns / s->texture_lanes);
}

/* An atomic is done beyond the near levels, and what they hold of the line is no longer true. That goes for all SMs of
 * the cluster. A load of any of them whose turn is behind the atomic's then has to ask beyond. */
static void drop(const struct time_gpu *g, uint32_t cluster, const uint64_t *address, uint32_t mask)
{
	for (uint32_t k = 0; k < g->global.near; k++) {
		const struct time_level *l = g->global.level[k];
		uint32_t per = l->scope == SCOPE_SM ? g->spec->sm_per_cluster : 1, first = cluster * per;
		for (uint32_t n = first; n < first + per && n < l->count; n++)
			for (uint32_t rest = mask; rest; rest &= rest - 1)
				cache_drop(&l->cache[n], address[__builtin_ctz(rest)]);
	}
}

/* The transactions of one instruction. */
struct batch {
	struct time_run *x;
	const struct time_route *route;
	struct time_inflight *table;
	uint32_t first, sm, issue, fetch; /* fetch: bytes that a miss of each moves, 0 = its own */
	uint64_t home, t;
	uint64_t *back; /* NULL, or when the last request of each was back ... */
	uint32_t *turn; /* ... and the turn of the pipe in which its first one left */
	/* what it took */
	uint32_t slots; /* turns of the load/store pipe ... */
	uint64_t stall; /* ... and cycles that it stood still because the table was full */
	bool late;	/* some of it comes with the answer of the far side */
};

/* Lanes that one request serves. */
static uint32_t most_lanes(const struct batch *b)
{
	return b->table && b->table->merge ? b->table->merge : FUNC_LANES;
}

/* One after the other; a full table holds up the pipe and with it all that follow. Returns when the last is back of those of
 * which that is known. */
static uint64_t send(struct batch *b, const struct time_transaction *piece, uint32_t n)
{
	uint64_t ready = 0;
	uint32_t most = most_lanes(b);
	if (b->table)
		inflight_begin(b->table);
	for (uint32_t k = 0; k < n; k++) {
		uint64_t last = 0;
		if (b->back)
			b->turn[k] = b->slots;
		/* More lanes than an entry serves go out as several requests. */
		for (uint32_t left = piece[k].lanes; left;) {
			uint32_t lanes = left < most ? left : most;
			uint64_t t = b->t + ((uint64_t)b->slots++ * b->issue >> FIX) + b->stall;
			struct time_transit q = {.table = b->table,
						 .address = b->home | piece[k].address,
						 .t = t,
						 .ahead = b->stall,
						 .bytes = piece[k].bytes,
						 .fetch = b->fetch ? b->fetch : piece[k].bytes,
						 .lanes = lanes,
						 .entry = INFLIGHT_NONE};
			uint64_t at = time_request(b->x, b->route, b->first, b->sm, &q);
			b->stall += q.stood;
			b->slots -= q.recorded;
			b->late |= at == PENDING;
			last = at != PENDING && at > last ? at : last;
			left -= lanes;
		}
		if (b->back)
			b->back[k] = last;
		ready = last > ready ? last : ready;
	}
	return ready;
}

static uint32_t atomic_unit(const struct time_gpu *g, uint64_t address)
{
	const struct sim_spec *s = g->spec;
	if (!s->atomic_units)
		return dram_partition(&g->dram, address);
	return atomics_unit(&g->atomics, address / spec_atomic_unit(s));
}

/* Atomics whose cost the description gives: each lane's goes to its unit, in the order of the lanes, when its own request leaves. */
static uint64_t atomic_batch(struct batch *b, const struct func_inst *i, const uint64_t *address, uint32_t mask,
			     const struct time_transaction *piece, uint32_t n, uint32_t *busy)
{
	struct time_gpu *g = b->x->g;
	const struct sim_spec *s = g->spec;
	uint64_t back[COALESCE_MAX], ready = 0, lanes = 0, begun = 0, longest = 0;
	uint32_t turn[COALESCE_MAX], served[COALESCE_MAX] = {0}, most = most_lanes(b);
	uint32_t kind = i->more[0] >= PTX_ATOM_AND && i->more[0] <= PTX_ATOM_CAS ? i->more[0] - PTX_ATOM_AND : 0;
	const struct atomic_spec *a = &s->atomic[kind];
	double load = s->has_l2 ? s->global.level[1].latency : s->global.memory_latency;
	int64_t more = a->latency > 0 ? llround((a->latency - load) * FIX_ONE) : 0;
	uint64_t room = atomics_room(&g->atomics, b->sm);
	if (room > b->t) {
		b->stall = room - b->t;
		b->t = room;
	}
	uint64_t full = b->stall;
	b->stall = 0; /* send counts its own */
	b->back = back;
	b->turn = turn;
	if (g->atomic_issue)
		b->issue = 0; /* the lanes leave one by one, which is counted below */
	send(b, piece, n);
	b->back = NULL;
	assert(n);
	for (uint32_t rest = mask; rest; rest &= rest - 1, lanes++) {
		uint64_t at = address[__builtin_ctz(rest)], wait;
		uint32_t k = 0;
		while (k + 1 < n && at - piece[k].address >= piece[k].bytes)
			k++;
		uint32_t own = served[k]++ / most, last = piece[k].lanes ? (piece[k].lanes - 1) / most : 0;
		uint64_t turns = (uint64_t)(turn[k] + own) * b->issue,
			 t = b->t + ((lanes * g->atomic_issue + turns) >> FIX);
		int64_t sooner = own < last ? (int64_t)(last - own) * b->issue : 0;
		uint64_t keeps = time_fixed(a->distinct) + (begun >> k & 1 ? 0 : time_fixed(s->atomic_request));
		begun |= 1ull << k;
		if (atomics_take(&g->atomics, atomic_unit(g, at), at, t, time_fixed(a->same_address), keeps, &wait)) {
			time_out_of_memory(b->x->c);
			return b->t;
		}
		int64_t late = more + (int64_t)wait + (int64_t)(lanes * g->atomic_issue) - sooner;
		uint64_t done = (uint64_t)((int64_t)(back[k] << FIX) + late + FIX_ONE / 2) >> FIX;
		ready = done > ready ? done : ready;
		longest = wait + turns > longest ? wait + turns : longest;
	}
	uint64_t pipe = g->atomic_issue ? lanes * g->atomic_issue : (uint64_t)b->slots * b->issue;
	*busy = (uint32_t)(pipe + ((b->stall + full) << FIX));
	atomics_sent(&g->atomics, b->sm, b->t + (longest >> FIX));
	return ready;
}

/* How long each of a load's n transactions keeps an L1 busy whose data lie in banks. Whichever takes longer, finding
 * its lines or fetching its words, is shared out over them. In 1/1024 cycle. */
static uint32_t l1_issue(const struct time_gpu *g, const uint64_t *address, uint32_t mask, uint32_t bytes,
			 const struct time_transaction *piece, uint32_t n)
{
	const struct cache_spec *c = g->global_l1->spec;
	uint32_t lines = 0, passes = banks_extra(&g->banks, address, mask, bytes) + 1;
	for (uint32_t k = 0; k < n; k++) {
		uint32_t known = k;
		while (known && piece[known - 1].address / c->line != piece[k].address / c->line)
			known--;
		lines += !known;
	}
	uint32_t looks = (lines + c->tags - 1) / c->tags;
	return (looks > passes ? looks : passes) * g->global_issue / (n ? n : 1);
}

/* Whether a load of the host's memory, which nothing on the GPU keeps. */
static bool is_hosts(const struct time_run *x, const struct func_inst *i, uint32_t path, uint64_t address)
{
	return __builtin_expect(x->l->host_bytes != 0, 0) && path == PATH_GLOBAL && i->kind == FUNC_LOAD &&
	       !(i->flags & FUNC_SKIP_L1) && address - x->l->host_base < x->l->host_bytes && x->g->host_latency;
}

uint64_t time_load_one(struct time_run *x, struct time_warp *w, struct func_warp *f, const struct func_inst *i,
		       uint32_t path, uint32_t lane, uint64_t t, uint32_t *busy)
{
	struct time_gpu *g = x->g;
	const struct time_route *r = path == PATH_CONSTANT ? &g->constant : &g->global;
	uint64_t address = f->addr[lane] | (path == PATH_CONSTANT ? CONSTANT_HOME : 0);
	uint32_t sm = w->block->sm;
	*busy = path == PATH_CONSTANT ? g->constant_issue : g->global_issue;
	time_tally_transactions(x, w, 1);
	if (is_hosts(x, i, path, address))
		return t + g->host_latency;
	if (r->prompt && !g->note) {
		const struct time_level *l = r->level[0];
		struct time_cache *c = &l->cache[sm];
		const uint64_t *fill = c->tag ? cache_use_again(c, address) : NULL;
		if (fill) {
			c->hits++;
			uint64_t ready = after(t, undisturbed(l, c, x->c->number, address, 0));
			return *fill > ready ? *fill : ready;
		}
	}
	return time_walk(x, r, 0, sm, address, t, i->bytes);
}

uint64_t time_load(struct time_run *x, struct time_warp *w, struct func_warp *f, const struct func_inst *i,
		   uint32_t path, uint32_t mask, uint64_t t, uint32_t *busy)
{
	struct time_gpu *g = x->g;
	uint32_t sm = w->block->sm;
	uint32_t whole = mask;
	path = path_now(f, i, path);
	mask = timed_lanes(f, i, whole);
	const uint32_t unit = i->space == PTX_TEX && g->spec->texture_lanes > 0 ? unit_turns(g, f, mask) : 0;
	if (i->kind == FUNC_ATOMIC) {
		w->block->shared_written |= writes_shared(f, i, whole, mask);
		if (path != PATH_SHARED && !is_local(f, i))
			mark_written(x->l->memory, f, mask);
	}
	if (path == PATH_SHARED)
		return shared_access(x, w, f->addr, i, mask, t, busy);
	if (is_hosts(x, i, path, f->addr[__builtin_ctz(mask)])) {
		*busy = g->global_issue * (uint32_t)__builtin_popcount(mask);
		return t + g->host_latency;
	}

	const struct time_route *r = path == PATH_CONSTANT ? &g->constant : &g->global;
	uint32_t issue = path == PATH_CONSTANT ? g->constant_issue : g->global_issue;
	if (path == PATH_TEXTURE) {
		path = g->texture ? path : PATH_GLOBAL;
		r = g->texture ? &g->texture->route : r;
		issue = g->texture ? g->texture->issue : issue;
	}
	uint64_t home = path == PATH_CONSTANT ? CONSTANT_HOME : 0;
	uint32_t first = 0;
	const bool local = is_local(f, i);
	if (path == PATH_GLOBAL && g->global_l1 &&
	    (i->kind == FUNC_ATOMIC || i->flags & FUNC_SKIP_L1 || (local && g->spec->local_past_l1)))
		first = 1;

	uint64_t address[FUNC_LANES];
	const uint64_t *from = f->addr;
	if (local) {
		local_home(x, w, f, mask, address);
		from = address;
	}
	if (__builtin_expect(i->kind == FUNC_ATOMIC && g->global.near, 0))
		drop(g, x->c->number, from, mask);
	uint32_t before = x->c->piece_count;
	uint64_t known = 0, extra = 0;
	bool late = false, own = path == PATH_CONSTANT || path == PATH_TEXTURE || i->space == PTX_TEX;
	if (__builtin_expect(i->space == PTX_TEX && f->texels > 1, 0)) {
		uint64_t all[FUNC_TEXELS * FUNC_LANES];
		uint32_t n = filtered_pieces(r, f, mask, all);
		time_tally_transactions(x, w, n);
		for (uint32_t k = 0; k < n; k++) {
			uint64_t at = time_walk(x, r, first, sm, all[k], t + ((uint64_t)k * issue >> FIX), r->fetch);
			late |= at == PENDING;
			known = at != PENDING && at > known ? at : known;
		}
		*busy = issue * n > unit ? issue * n : unit;
	} else if (!(mask & (mask - 1)) && (g->plain || own) && !(g->timed_atomics && i->kind == FUNC_ATOMIC)) {
		*busy = issue > unit ? issue : unit;
		time_tally_transactions(x, w, 1);
		known = time_walk(x, r, first, sm, home | from[__builtin_ctz(mask)], t, i->bytes);
		if (known != PENDING)
			return known;
		late = true;
		known = 0;
	} else {
		/* What comes by a read-only path of its own is put together as its cache wants it, and no table of the SM
		 * counts it. */
		struct time_transaction piece[COALESCE_MAX];
		uint32_t size = path != PATH_CONSTANT ? r->fetch : i->bytes ? i->bytes : 1;
		uint32_t n = coalesce(own ? COALESCE_LINES : g->spec->coalesce, size, from, mask, i->bytes, piece);
		if (path == PATH_GLOBAL && !first && !own && g->global_l1 && g->global_l1->spec->tags)
			issue = l1_issue(g, from, mask, i->bytes, piece, n);
		struct batch b = {.x = x, .route = r, .first = first, .sm = sm, .home = home, .issue = issue, .t = t};
		if (own)
			b.fetch = r->fetch;
		else if (g->inflight)
			b.table = &g->inflight[sm];
		if (i->kind == FUNC_ATOMIC && g->timed_atomics) {
			known = atomic_batch(&b, i, from, mask, piece, n, busy);
			time_tally_transactions(x, w, b.slots);
			return known;
		}
		known = send(&b, piece, n);
		time_tally_transactions(x, w, b.slots);
		late = b.late;
		if (i->kind == FUNC_ATOMIC) {
			uint32_t again = most_wanted(from, mask) - 1;
			extra = (uint64_t)again * issue >> FIX;
			b.slots += again;
		}
		*busy = issue * (b.slots ? b.slots : 1) + (uint32_t)(b.stall << FIX);
		*busy = *busy > unit ? *busy : unit;
	}
	if (x->c->piece_count == before)
		return known + extra;
	struct far_request *q = far_request(x->c, late ? FAR_LOAD : FAR_STORE, t, before);
	if (!late)
		return known + extra;
	if (q) {
		q->warp = w;
		q->known = known;
		q->extra = extra;
	}
	return PENDING;
}

void time_store(struct time_run *x, struct time_warp *w, struct func_warp *f, const struct func_inst *i, uint32_t path,
		uint32_t mask, uint64_t t, uint32_t *busy, uint32_t effect)
{
	struct time_gpu *g = x->g;
	uint32_t before = x->c->piece_count, out = 0, all = mask;
	path = path_now(f, i, path);
	mask = timed_lanes(f, i, all);
	w->block->shared_written |= writes_shared(f, i, all, mask);
	if (path == PATH_SHARED) {
		shared_access(x, w, f->addr, i, mask, t, busy);
	} else {
		uint64_t address[FUNC_LANES];
		const uint64_t *from = f->addr;
		if (is_local(f, i)) {
			local_home(x, w, f, mask, address);
			from = address;
		} else {
			mark_written(x->l->memory, f, mask);
		}
		struct time_transaction piece[COALESCE_MAX];
		const struct time_route *r = &g->global;
		uint32_t n = coalesce(g->spec->coalesce, r->fetch, from, mask, i->bytes, piece);
		bool one = time_one_queue(g), ask = !x->c->direct;
		if (__builtin_expect(g->note != NULL, 0))
			time_note_stores(g, n);
		time_tally_transactions(x, w, n);
		for (uint32_t k = 0; k < n; k++) {
			uint64_t then = t + ((uint64_t)k * g->global_issue >> FIX);
			if (r->stores && !time_store_levels(g, x->c, r, 0, ask ? r->near : r->levels, w->block->sm,
							    piece[k].address, then, ask))
				continue;
			if (ask && (!one || r->stores)) {
				struct far_piece *p =
				    far_piece(x->c, PIECE_STORE, r, r->near, w->block->sm, piece[k].address, then);
				if (p)
					p->bytes = piece[k].bytes;
				continue;
			}
			out++;
			if (!one)
				dram_give(&g->dram, piece[k].address, piece[k].bytes, t);
		}
		*busy = g->global_issue * n;
	}
	if (x->c->direct) {
		if (out && time_one_queue(g))
			dram_give(&g->dram, 0, out * g->global.fetch, t);
	} else if (out || effect != FAR_NONE || x->c->piece_count != before) {
		struct far_request *q = far_request(x->c, FAR_STORE, t, before);
		if (q) {
			q->effect = effect;
			q->extra = out;
		}
	}
}
