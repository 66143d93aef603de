#include "gpu/sim/time/time_fetch.h"
#include <errno.h>
#include <math.h>
#include <string.h>

/* Where the spaces lie in the caches that they share. Far above any global address. */
#define CONSTANT_HOME (1ull << 42)
#define LOCAL_HOME    (1ull << 43)
#define DRIFT_PERIOD  (1ull << 26) /* cycles of one slow swing of the clocks against each other */
#define DRAM_FRACTION 20	   /* bits of a cycle a byte */

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
	g->dram_byte = s->dram_bandwidth > 0 ? (uint64_t)llround((1 << DRAM_FRACTION) / s->dram_bandwidth) : 0;
	return 0;
}

void time_memory_close(struct time_gpu *g)
{
	for (uint32_t k = 0; k < g->level_count; k++)
		time_level_close(&g->levels[k]);
	/* A level whose instances could not be allocated is not counted yet. */
	mem_free(g->levels);
	mem_free(g->cluster_table);
}

/* ---- one access ---- */

static uint64_t dram_take(struct time_gpu *g, uint64_t t, uint32_t bytes)
{
	uint64_t arrival = t << FIX, start = g->dram_free > arrival ? g->dram_free : arrival;
	g->dram_free = start + (bytes * g->dram_byte >> (DRAM_FRACTION - FIX));
	return start - arrival;
}

/* What happens to an access beyond the SM besides its latency. Fixed point in and out. */
static uint64_t disturb(struct time_gpu *g, uint64_t latency, uint64_t t)
{
	const struct noise_spec *n = &g->spec->noise;
	if (n->drift != 0) {
		double phase = (double)(t % DRIFT_PERIOD) / DRIFT_PERIOD;
		latency = (uint64_t)((double)latency * (1 + n->drift * (4 * fabs(phase - 0.5) - 1)));
	}
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

/* What a level that missed fills at once. */
static uint32_t filled(const struct cache_spec *c)
{
	return c->sector ? c->sector : c->line;
}

/* Lines that were replaced go back to memory, in the background. */
static void write_back(struct time_gpu *g, struct time_cache *c, uint64_t t)
{
	uint32_t bytes = cache_written_back(c);
	if (bytes && g->dram_byte)
		dram_take(g, t, bytes);
}

/* Looks the address up level by level; every level passed on the way keeps the line. Returns when the data is there.
 * bytes: what the first level gives to the SM. */
uint64_t time_walk(struct time_gpu *g, const struct time_route *r, uint32_t first, uint32_t sm, uint64_t address,
		   uint64_t t, uint32_t bytes)
{
	uint64_t *pending[TIME_LEVELS];
	uint32_t passed = 0, cluster = g->sm[sm].cluster, k;
	uint64_t ready = 0, queue = 0; /* the longest wait at a port: the others have drained by then */

	for (k = first; k < r->levels; k++) {
		const struct time_level *l = r->level[k];
		uint32_t n = l->scope == SCOPE_SM ? sm : l->scope == SCOPE_CLUSTER ? cluster : 0;
		struct time_cache *c = &l->cache[n];
		if (__builtin_expect(!c->tag, 0) && cache_reserve(c)) {
			g->out_of_memory = true;
			return t;
		}
		uint64_t *fill = cache_touch(c, address, t);
		bool miss = *fill == CACHE_INVALID;
		if (miss)
			bytes = filled(l->spec);
		if (c->port_byte) {
			uint64_t wait = cache_port(c, t, bytes);
			queue = wait > queue ? wait : queue;
		}
		if (miss) {
			if (c->dirty)
				write_back(g, c, t);
			pending[passed++] = fill;
			continue;
		}
		uint64_t latency = l->latency[cluster] + queue;
		if (l->spec->partitions > 1 && is_far(l->spec, address, cluster))
			latency += l->far;
		if (l->scope != SCOPE_SM)
			latency = disturb(g, latency, t);
		ready = t + ((latency + FIX_ONE / 2) >> FIX);
		if (*fill > ready)
			ready = *fill;
		break;
	}
	if (k >= r->levels) {
		uint32_t moved = r->levels ? filled(r->level[r->levels - 1]->spec) : 0;
		uint64_t latency = disturb(g, r->memory[cluster], t) + refresh(g, t) + queue;
		if (g->dram_byte)
			latency += dram_take(g, t, moved > r->fetch ? moved : r->fetch);
		ready = t + ((latency + FIX_ONE / 2) >> FIX);
	}
	for (k = 0; k < passed; k++)
		*pending[k] = ready;
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
				write_back(g, c, t);
		}
		if (l->spec->write == WRITE_BACK && sector) {
			cache_soil(c, sector);
			return false;
		}
	}
	return true;
}

/* ---- the lanes of one instruction ---- */

/* The distinct pieces of `size` bytes (a power of two in practice) that the lanes touch, in the order of the lanes. */
static uint32_t pieces(const uint64_t *address, uint32_t mask, uint32_t size, uint64_t *out)
{
	bool power = !(size & (size - 1));
	int shift = __builtin_ctz(size);
	uint32_t n = 0;
	for (uint32_t rest = mask; rest; rest &= rest - 1) {
		uint64_t a = address[__builtin_ctz(rest)];
		uint64_t p = power ? a >> shift : a / size;
		uint32_t k = n;
		/* Neighbours mostly share a piece, so the latest is looked at first. */
		while (k && out[k - 1] != p)
			k--;
		if (!k)
			out[n++] = p;
	}
	for (uint32_t k = 0; k < n; k++)
		out[k] *= size;
	return n;
}

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

/* Further passes over the banks that the lanes need, beyond one for each group of lanes that the banks serve at a time.
 * Lanes that read the same word of a bank are served together. */
static uint32_t conflicts(const struct sim_spec *s, const uint64_t *address, uint32_t mask, uint32_t bytes)
{
	uint32_t width = s->shared_bank_width ? s->shared_bank_width : 4, banks = s->shared_banks ? s->shared_banks : 1;
	uint32_t words = bytes > width ? bytes / width : 1;
	uint32_t group = banks / words ? banks / words : 1, extra = 0;
	for (uint32_t first = 0; first < FUNC_LANES; first += group) {
		uint32_t lanes = group >= FUNC_LANES ? mask : mask & ((1u << group) - 1) << first;
		uint64_t seen[FUNC_LANES * 4];
		uint32_t n = 0, most = 0;
		for (uint32_t rest = lanes; rest; rest &= rest - 1) {
			uint64_t word = address[__builtin_ctz(rest)] / width;
			for (uint32_t k = 0; k < words && n < FUNC_LANES * 4; k++) {
				uint32_t same = 0, seat = 0;
				for (; seat < n && seen[seat] != word + k; seat++)
					;
				if (seat < n)
					continue;
				seen[n++] = word + k;
				for (seat = 0; seat < n; seat++)
					same += seen[seat] % banks == (word + k) % banks;
				most = same > most ? same : most;
			}
		}
		extra += most > 1 ? most - 1 : 0;
		if (group >= FUNC_LANES)
			break;
	}
	return extra;
}

static uint64_t shared_access(struct time_gpu *g, const uint64_t *address, const struct func_inst *i, uint32_t mask,
			      uint64_t t, uint32_t *busy)
{
	double extra = 0;
	if (mask & (mask - 1)) {
		uint32_t n = conflicts(g->spec, address, mask, i->bytes);
		if (i->kind == FUNC_ATOMIC) {
			uint32_t wanted = most_wanted(address, mask) - 1;
			n = wanted > n ? wanted : n;
		}
		extra = n * g->spec->shared_conflict_cost;
	}
	*busy = g->shared_issue + fixed(extra);
	return t + (uint64_t)llround(g->spec->shared.memory_latency + extra);
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
				const struct time_warp *w, uint32_t mask, uint64_t t, uint32_t *busy)
{
	uint64_t all[FUNC_TEXELS * FUNC_LANES], piece[FUNC_LANES], ready = t;
	uint32_t count = 0;
	for (uint32_t k = 0; k < w->f.texels; k++) {
		uint32_t n = pieces(k ? w->block->f.texel[k - 1] : w->f.addr, mask, r->fetch, piece);
		for (uint32_t p = 0; p < n; p++) {
			uint32_t known = count;
			while (known && all[known - 1] != piece[p])
				known--;
			if (!known)
				all[count++] = piece[p];
		}
	}
	for (uint32_t k = 0; k < count; k++) {
		uint64_t at =
		    time_walk(g, r, first, w->block->sm, all[k], t + ((uint64_t)k * g->global_issue >> FIX), r->fetch);
		ready = at > ready ? at : ready;
	}
	*busy = g->global_issue * count;
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
	uint64_t home = path == PATH_CONSTANT ? CONSTANT_HOME : 0;
	uint32_t first = 0;
	if (path == PATH_GLOBAL && g->global_l1 && (i->kind == FUNC_ATOMIC || i->flags & FUNC_SKIP_L1))
		first = 1;

	if (__builtin_expect(i->space == PTX_TEX && w->f.texels > 1, 0))
		return filtered_access(g, r, first, w, mask, t, busy);
	uint64_t address[FUNC_LANES];
	const uint64_t *from = w->f.addr;
	if (is_local(w, i)) {
		local_home(x, w, mask, address);
		from = address;
	}
	if (!(mask & (mask - 1))) {
		*busy = issue;
		return time_walk(g, r, first, sm, home | from[__builtin_ctz(mask)], t, i->bytes);
	}
	uint64_t piece[FUNC_LANES], ready = 0;
	uint32_t size = path == PATH_CONSTANT ? i->bytes : r->fetch;
	uint32_t n = pieces(from, mask, size ? size : 1, piece);
	for (uint32_t k = 0; k < n; k++) {
		uint64_t at = time_walk(g, r, first, sm, home | piece[k], t + ((uint64_t)k * issue >> FIX), size);
		ready = at > ready ? at : ready;
	}
	if (i->kind == FUNC_ATOMIC) {
		uint32_t again = most_wanted(from, mask) - 1;
		ready += (uint64_t)again * issue >> FIX;
		n += again;
	}
	*busy = issue * n;
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
	uint64_t address[FUNC_LANES], piece[FUNC_LANES];
	const uint64_t *from = w->f.addr;
	if (is_local(w, i)) {
		local_home(x, w, mask, address);
		from = address;
	} else {
		mark_written(x->l->memory, &w->f, mask);
	}
	piece[0] = from[__builtin_ctz(mask)];
	uint32_t n = mask & (mask - 1) ? pieces(from, mask, g->global.fetch, piece) : 1, out = n;
	if (g->global.stores)
		for (uint32_t k = 0; k < n; k++)
			out -= !store_walk(g, &g->global, w->block->sm, piece[k],
					   t + ((uint64_t)k * g->global_issue >> FIX));
	if (g->dram_byte && out)
		dram_take(g, t, out * g->global.fetch);
	*busy = g->global_issue * n;
}

/* ---- between launches ---- */

void time_flush(struct time_gpu *g)
{
	for (uint32_t k = 0; k < g->level_count; k++)
		for (uint32_t n = 0; n < g->levels[k].count; n++)
			cache_flush(&g->levels[k].cache[n]);
	time_fetch_flush(g);
}

static void forget(const struct time_route *r, uint64_t base, uint64_t bytes)
{
	for (uint32_t k = 0; k < r->levels; k++)
		for (uint32_t n = 0; n < r->level[k]->count; n++)
			cache_forget(&r->level[k]->cache[n], base, bytes);
}

void time_forget(struct time_gpu *g, enum time_area a, uint64_t base, uint64_t bytes)
{
	if (a == TIME_CONSTANT)
		forget(&g->constant, CONSTANT_HOME | base, bytes);
	else
		forget(&g->global, base, bytes);
}
