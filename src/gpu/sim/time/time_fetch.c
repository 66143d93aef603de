#include "gpu/sim/time/time_fetch.h"
#include "gpu/sim/time/time_tally.h"
#include <errno.h>
#include <string.h>

#define INSTRUCTION_HOME (1ull << 41) /* where code lies in the caches that it shares with other spaces */

/* ---- layout ---- */

static uint32_t bytes_of(const struct sim_spec *s, const struct time_inst *t)
{
	uint32_t own = t->op >= 0 ? s->op[t->op].bytes : 0;
	return own ? own : s->fetch.bytes ? s->fetch.bytes : 8;
}

static bool is_routine(const struct sim_spec *s, const struct time_inst *t)
{
	return t->op >= 0 && s->op[t->op].routine && t->before;
}

/* Puts n native instructions at *at, aligned to themselves, so that none lies in two blocks. */
static uint64_t put(uint64_t *at, uint32_t bytes, uint32_t n)
{
	uint64_t here = (*at + bytes - 1) / bytes * bytes;
	*at = here + (uint64_t)bytes * n;
	return here;
}

/* The subroutines that are called stand behind the program, each once, in the order of the file's operations. A record that
 * calls one has the address of the subroutine: its steps are fetched there. */
static void put_routines(const struct sim_spec *s, struct time_inst *t, uint32_t n, uint64_t *at)
{
	for (uint32_t op = 0; op < s->op_count; op++) {
		uint64_t here = UINT64_MAX;
		if (!s->op[op].routine)
			continue;
		for (uint32_t i = 0; i < n; i++) {
			if (t[i].op != (int32_t)op || !is_routine(s, &t[i]))
				continue;
			if (here == UINT64_MAX)
				here = put(at, t[i].bytes, t[i].before + 1u);
			t[i].address = here;
		}
	}
}

void time_layout(struct time_program *p, const struct sim_spec *s, struct time_inst *t)
{
	uint32_t n = p->func->inst_count, shift = 0;
	uint64_t at = s->fetch.base;
	while (s->fetch.block >> (shift + 1))
		shift++;
	for (uint32_t i = 0; i < n; i++) {
		if (p->func->info[i].fused)
			continue;
		uint32_t call = s->fetch.bytes ? s->fetch.bytes : 8;
		t[i].bytes = (uint16_t)bytes_of(s, &t[i]);
		if (t[i].operand) { /* part of the instruction behind it */
			t[i].address = at;
			continue;
		}
		t[i].address =
		    is_routine(s, &t[i]) ? put(&at, call, 1) : put(&at, t[i].bytes, t[i].before + t[i].beside + 1u);
	}
	put_routines(s, t, n, &at);
	for (uint32_t i = 0; i < n && s->fetch.path.levels; i++) {
		uint64_t last = t[i].address + (uint64_t)t[i].bytes * t[i].before;
		t[i].block = (uint32_t)(t[i].address >> shift);
		t[i].spans = last >> shift != t[i].block;
	}
	p->code_bytes = at - s->fetch.base;
	p->code = 0x9e3779b97f4a7c15u;
	for (uint32_t i = 0; i < n; i++) {
		uint64_t word[sizeof(struct func_inst) / 8];
		memcpy(word, &p->func->inst[i], sizeof word);
		for (size_t k = 0; k < sizeof word / sizeof word[0]; k++) {
			p->code = (p->code ^ word[k]) * 0xbf58476d1ce4e5b9u;
			p->code ^= p->code >> 29;
		}
	}
}

uint64_t time_address(const struct time_program *p, uint32_t pc, uint32_t *bytes)
{
	*bytes = p->inst[pc].bytes;
	return p->inst[pc].address;
}

uint64_t time_code_bytes(const struct time_program *p)
{
	return p->code_bytes;
}

/* ---- the caches ---- */

static struct time_level *partner(struct time_gpu *g, enum fetch_share share)
{
	if (share != SHARE_GLOBAL_L2)
		return g->constant.level[share - SHARE_CONSTANT_L1];
	return g->global.level[g->global.levels - 1];
}

int time_fetch_open(struct time_gpu *g, uint64_t seed)
{
	const struct sim_spec *s = g->spec;
	const struct fetch_spec *p = &s->fetch;
	uint32_t clusters = s->cluster_count;
	if (!p->path.levels)
		return 0;
	struct time_fetch *f = g->fetch = mem_zero(1, sizeof *f);
	if (!f)
		return -ENOMEM;
	f->table = mem_zero((size_t)(CONST_LEVELS + 1) * clusters, sizeof *f->table);
	f->ahead = p->ahead;
	f->line = mem_zero((size_t)s->sm_count * (p->ahead ? p->ahead : 1), sizeof *f->line);
	f->turn = mem_zero(s->sm_count, sizeof *f->turn);
	if (!f->table || !f->line || !f->turn)
		return -ENOMEM;
	while (p->block >> (f->block_shift + 1))
		f->block_shift++;
	while (p->block << (f->unit_shift + 1) <= p->path.level[0].sector)
		f->unit_shift++;
	f->unit = p->path.level[0].sector ? p->path.level[0].sector : p->path.level[0].line;
	for (uint32_t k = 0; k < p->path.levels; k++) {
		struct time_level *l = &f->level[k];
		uint32_t *table = f->table + (size_t)k * clusters;
		f->borrowed[k] = p->share[k] != SHARE_NONE;
		if (time_level_open(g, l, &p->path.level[k], table, seed + k,
				    f->borrowed[k] ? partner(g, p->share[k]) : NULL))
			return -ENOMEM;
		f->route.level[f->route.levels++] = l;
	}
	f->route.memory = time_memory_table(g, &p->path, f->table + (size_t)CONST_LEVELS * clusters);
	f->route.fetch = f->unit;
	for (uint32_t k = 0; k < f->route.levels; k++)
		f->level[k].beyond = f->borrowed[k] && partner(g, p->share[k])->beyond;
	time_split(g, &f->route);
	return 0;
}

void time_fetch_close(struct time_gpu *g)
{
	struct time_fetch *f = g->fetch;
	if (!f)
		return;
	for (uint32_t k = 0; k < CONST_LEVELS; k++)
		if (!f->borrowed[k])
			time_level_close(&f->level[k]);
	mem_free(f->table);
	mem_free(f->line);
	mem_free(f->turn);
	mem_free(f);
	g->fetch = NULL;
}

static void forget_lines(struct time_gpu *g)
{
	struct time_fetch *f = g->fetch;
	memset(f->line, 0, (size_t)g->spec->sm_count * (f->ahead ? f->ahead : 1) * sizeof *f->line);
}

void time_fetch_flush(struct time_gpu *g)
{
	struct time_fetch *f = g->fetch;
	if (!f)
		return;
	for (uint32_t k = 0; k < f->route.levels; k++)
		for (uint32_t n = 0; n < f->level[k].count && !f->borrowed[k]; n++)
			cache_flush(&f->level[k].cache[n]);
	forget_lines(g);
}

void time_fetch_program(struct time_gpu *g, const struct time_program *p)
{
	struct time_fetch *f = g->fetch;
	if (!f || f->code == p->code)
		return;
	uint64_t least = f->last_bytes > p->code_bytes ? f->last_bytes : p->code_bytes;
	for (uint32_t k = 0; k < f->route.levels; k++)
		for (uint32_t n = 0; n < f->level[k].count; n++)
			cache_forget(&f->level[k].cache[n], INSTRUCTION_HOME | g->spec->fetch.base, least);
	forget_lines(g);
	f->code = p->code;
	f->last_bytes = p->code_bytes;
}

/* ---- one fetch ---- */

static struct time_cache *first_level(const struct time_gpu *g, uint32_t k, uint32_t sm)
{
	const struct time_level *l = &g->fetch->level[k];
	return &l->cache[l->scope == SCOPE_SM ? sm : l->scope == SCOPE_CLUSTER ? g->sm[sm].cluster : 0];
}

/* The line in the buffer beside the first level, which gives it away, or 0. */
static uint64_t take_along(struct time_fetch *f, uint32_t sm, uint64_t line)
{
	struct fetch_line *e = f->line + (size_t)sm * f->ahead;
	for (uint32_t k = 0; k < f->ahead; k++)
		if (e[k].address == line) {
			e[k].address = 0;
			return e[k].ready;
		}
	return 0;
}

/* The later of a cycle and of a time that may be pending: then the latest piece says it. */
static uint64_t later(struct time_run *x, uint64_t at, uint64_t than)
{
	if (than < PENDING)
		return than > at ? than : at;
	struct far_piece *p = far_piece(x->c, PIECE_MERGE, NULL, 0, 0, 0, at);
	if (p)
		p->other = (uint32_t)(than - PENDING);
	return PENDING;
}

static void keep(struct time_run *x, uint64_t *where, uint64_t ready)
{
	*where = ready;
	if (ready == PENDING)
		far_fill(x->c, where);
}

/* The lines behind one that a warp enters, as far as they are at hand in the second level. */
static void look_ahead(struct time_run *x, uint32_t sm, uint64_t line, uint64_t t)
{
	struct time_gpu *g = x->g;
	struct time_fetch *f = g->fetch;
	struct fetch_line *e = f->line + (size_t)sm * f->ahead;
	const struct time_level *second = &f->level[1];
	struct time_cache *c = first_level(g, 1, sm);
	for (uint32_t n = 1; n <= f->ahead; n++) {
		uint64_t next = line + (uint64_t)n * f->unit, *fill;
		bool have = cache_find(first_level(g, 0, sm), next) != NULL;
		for (uint32_t k = 0; k < f->ahead; k++)
			have |= e[k].address == next;
		if (have || !c->tag || !(fill = cache_find(c, next)))
			continue;
		uint64_t wait = c->port ? cache_port(c, next, t, 0, (uint32_t)f->unit) : 0;
		uint64_t ready = t + ((second->latency[g->sm[sm].cluster] + wait + FIX_ONE / 2) >> FIX);
		cache_touch(c, next, t);
		e[f->turn[sm]].address = next;
		keep(x, &e[f->turn[sm]].ready, later(x, ready, *fill));
		f->turn[sm] = f->turn[sm] + 1 == f->ahead ? 0 : f->turn[sm] + 1;
	}
}

/* The first level lies beyond the cluster, and all of it is asked there. */
static uint64_t fetch_far(struct time_run *x, struct time_warp *w, uint64_t line, uint64_t t)
{
	const struct time_fetch *f = x->g->fetch;
	uint32_t before = x->c->piece_count;
	uint64_t ready = time_walk(x, &f->route, 0, w->block->sm, line, t, (uint32_t)f->unit);
	struct far_request *q = ready == PENDING ? far_request(x->c, FAR_FETCH, x->c->now, before) : NULL;
	if (q) {
		q->warp = w;
		q->pc = w->held;
	}
	return ready;
}

uint64_t time_fetch_block(struct time_run *x, struct time_warp *w, uint32_t block, uint64_t t)
{
	struct time_gpu *g = x->g;
	struct time_fetch *f = g->fetch;
	uint32_t sm = w->block->sm, before = x->c->piece_count;
	uint64_t address = INSTRUCTION_HOME | (uint64_t)block << f->block_shift;
	struct time_cache *c = first_level(g, 0, sm);
	const struct time_level *l = &f->level[0];
	uint64_t line = address - address % f->unit;
	bool enters = f->ahead && (w->held == FETCH_NOTHING || (w->held ^ block) >> f->unit_shift);
	w->held = block;
	if (__builtin_expect(!f->route.near, 0))
		return fetch_far(x, w, line, t);
	if (__builtin_expect(g->note != NULL, 0))
		time_note_fetch(g, w, true);
	if (__builtin_expect(!c->tag, 0) && cache_reserve(c)) {
		x->c->out_of_memory = x->stop = true;
		return t;
	}
	uint64_t *fill = cache_touch(c, address, t);
	uint64_t ready = *fill, wait = 0;
	c->hits += ready != CACHE_INVALID;
	c->misses += ready == CACHE_INVALID;
	if (__builtin_expect(c->port, 0))
		wait = cache_port(c, address, t, 0, ready == CACHE_INVALID ? f->unit : 1u << f->block_shift);
	uint64_t hit = t + ((l->latency[g->sm[sm].cluster] + wait + FIX_ONE / 2) >> FIX);
	if (__builtin_expect(ready == CACHE_INVALID, 0)) {
		ready = f->ahead ? take_along(f, sm, line) : 0;
		if (!ready)
			ready = time_walk(x, &f->route, 1, sm, line, t, (uint32_t)f->unit);
		else
			ready = later(x, 0, ready);
		keep(x, fill, ready);
		ready = ready > hit ? ready : hit;
	} else {
		ready = later(x, hit, ready);
	}
	if (x->c->piece_count != before) {
		struct far_request *q = far_request(x->c, FAR_FETCH, x->c->now, before);
		if (q && ready == PENDING) {
			q->warp = w;
			q->pc = block;
			q->known = hit;
		}
		before = x->c->piece_count;
	}
	if (enters)
		look_ahead(x, sm, line, t);
	if (x->c->piece_count != before)
		far_request(x->c, FAR_FETCH, x->c->now, before);
	w->fetched = ready;
	if (__builtin_expect(g->note != NULL, 0))
		time_note_fetch(g, w, false);
	return ready;
}

uint64_t time_fetch_step(struct time_run *x, struct time_warp *w, const struct time_inst *ti, uint64_t t)
{
	uint32_t block = (uint32_t)((ti->address + (uint64_t)w->sub * ti->bytes) >> x->g->fetch->block_shift);
	return block == w->held ? t : time_fetch_block(x, w, block, t);
}
