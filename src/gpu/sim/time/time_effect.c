/* What an access to global memory does besides taking time, while clusters run side by side.
 *
 * Global memory stands still during an epoch. A store is noted, and its bytes are written when it is served; until then
 * only the cluster's own loads see them, through the overlay. An atomic happens when it is served, so it sees exactly
 * what came before it. So does a load that has to see what other SMs write: volatile, .cg, relaxed and stronger. A weak
 * load takes its value at once. */
#include "gpu/sim/func/func_lanes.h"
#include "gpu/sim/time/time_state.h"
#include <string.h>

#define GRANULE 7 /* bits of an address within what one bit of the filter covers */

#define HOST_LINE 64 /* bytes of a line of the host's caches */
#define AHEAD	  3  /* of them that are fetched ahead: a warp's addresses, or what it stores side by side */

enum effect_kind { EFFECT_STORE, EFFECT_RUN, EFFECT_LOAD, EFFECT_ATOMIC };
struct effect {	       /* in c->effect, followed by what kind says */
	uint32_t size; /* of it and what follows */
	uint32_t mask, pc;
	uint8_t kind, lanes;
	uint16_t bytes;	     /* of one lane */
	struct func_warp *f; /* the half that has the registers */
	/* EFFECT_RUN: one address, then the bytes of all lanes; the others: an address each lane, then for each lane
	 * STORE: its bytes; ATOMIC: two operands */
};

static uint32_t reserve(struct time_cluster *c, uint32_t size)
{
	size = (size + 7) & ~7u;
	if (c->effect_bytes + size > c->effect_room) {
		size_t room = c->effect_room ? c->effect_room * 2 : 16384;
		uint8_t *more = room <= UINT32_MAX ? mem_grow(c->effect, room) : NULL;
		if (!more) {
			c->out_of_memory = c->run.stop = true;
			return FAR_NONE;
		}
		c->effect = more;
		c->effect_room = room;
	}
	uint32_t at = (uint32_t)c->effect_bytes;
	c->effect_bytes += size;
	((struct effect *)(void *)(c->effect + at))->size = size;
	return at;
}

static struct effect *effect_at(const struct time_cluster *c, uint32_t at)
{
	return (struct effect *)(void *)(c->effect + at);
}

static uint32_t bloom_bit(uint64_t address)
{
	return (uint32_t)((address >> GRANULE) * 0x9e3779b97f4a7c15u >> 52);
}

static void mark(struct time_overlay *o, uint64_t address)
{
	uint32_t bit = bloom_bit(address);
	o->bloom[bit / 64] |= 1ull << bit % 64;
	o->any = true;
}

static bool marked(const struct time_overlay *o, uint64_t address)
{
	uint32_t bit = bloom_bit(address);
	return o->bloom[bit / 64] >> bit % 64 & 1;
}

/* ---- noting ---- */

static bool is_run(const uint64_t *address, uint32_t mask, uint32_t bytes)
{
	struct func_spread s = {.bytes = bytes};
	if (mask != UINT32_MAX)
		return false;
	func_lanes(address, mask, &s);
	return !s.skew;
}

/* What one lane of an atomic brings. */
static uint32_t atomic_bytes(uint32_t bytes)
{
	return bytes > 8 ? 4 * 8 : 2 * 8;
}

static uint32_t note(struct time_run *x, uint32_t pc, struct func_warp *f, const struct func_inst *fi, uint32_t mask)
{
	struct time_cluster *c = x->c;
	uint32_t bytes = func_access_bytes(fi), lanes = (uint32_t)__builtin_popcount(mask);
	bool run = fi->kind == FUNC_STORE && is_run(f->addr, mask, bytes);
	uint32_t data = fi->kind == FUNC_STORE ? bytes : fi->kind == FUNC_ATOMIC ? atomic_bytes(bytes) : 0;
	uint32_t at = reserve(c, (uint32_t)sizeof(struct effect) + (run ? 8 : 8 * lanes) + lanes * data);
	if (at == FAR_NONE)
		return FAR_NONE;
	struct effect *e = effect_at(c, at);
	e->mask = mask;
	e->pc = pc;
	e->lanes = (uint8_t)lanes;
	e->bytes = (uint16_t)bytes;
	e->f = f;
	e->kind = run			    ? EFFECT_RUN
		  : fi->kind == FUNC_STORE  ? EFFECT_STORE
		  : fi->kind == FUNC_ATOMIC ? EFFECT_ATOMIC
					    : EFFECT_LOAD;
	uint64_t *address = (uint64_t *)(void *)(e + 1), operand[FUNC_ATOMIC_WORDS];
	uint8_t *follows = (uint8_t *)(address + (run ? 1 : lanes));
	address[0] = f->addr[__builtin_ctz(mask)];
	if (fi->kind == FUNC_STORE)
		func_store_data(f, fi, mask, follows);
	uint32_t n = 0;
	for (uint32_t rest = run ? 0 : mask; rest; rest &= rest - 1, n++) {
		uint32_t l = (uint32_t)__builtin_ctz(rest);
		address[n] = f->addr[l];
		if (fi->kind == FUNC_ATOMIC) {
			func_atomic_data(f, fi, l, operand);
			memcpy(follows + (size_t)n * data, operand, data);
		}
		if (fi->kind != FUNC_LOAD)
			mark(&c->overlay, f->addr[l]);
	}
	for (uint32_t k = 0; run && k < bytes * FUNC_LANES; k += 1u << GRANULE)
		mark(&c->overlay, address[0] + k);
	if (run)
		mark(&c->overlay, address[0] + bytes * FUNC_LANES - 1);
	return at;
}

/* ---- what the cluster's own loads have to see ---- */

static struct overlay_word *word_of(struct time_overlay *o, uint64_t word)
{
	uint32_t mask = o->size - 1, k = (uint32_t)(word * 0x9e3779b97f4a7c15u >> 32) & mask;
	while (o->word[k].stamp == o->stamp && o->word[k].word != word)
		k = (k + 1) & mask;
	return &o->word[k];
}

static bool widen(struct time_overlay *o)
{
	struct time_overlay old = *o;
	o->size = old.size ? old.size * 2 : 1024;
	o->word = mem_zero(o->size, sizeof *o->word);
	if (!o->word) {
		*o = old;
		return false;
	}
	if (!o->stamp)
		o->stamp = 1;
	for (uint32_t k = 0; k < old.size; k++)
		if (old.word[k].stamp == o->stamp)
			*word_of(o, old.word[k].word) = old.word[k];
	mem_free(old.word);
	return true;
}

static bool put(struct time_overlay *o, uint64_t address, const uint8_t *data, uint32_t bytes)
{
	for (uint32_t k = 0; k < bytes;) {
		uint32_t in = (uint32_t)(address + k) & 7, n = 8 - in < bytes - k ? 8 - in : bytes - k;
		if (o->used * 2 >= o->size && !widen(o))
			return false;
		struct overlay_word *w = word_of(o, (address + k) >> 3);
		if (w->stamp != o->stamp) {
			*w = (struct overlay_word){.word = (address + k) >> 3, .stamp = o->stamp};
			o->used++;
		}
		uint8_t mask = (uint8_t)(((1u << n) - 1) << in);
		if (data) {
			memcpy((uint8_t *)&w->data + in, data + k, n);
			w->mask |= mask;
		} else {
			w->locked |= mask;
		}
		k += n;
	}
	return true;
}

/* How many lanes of the mask come before one of them. */
static uint32_t place_in(uint32_t mask, uint32_t lane)
{
	return (uint32_t)__builtin_popcount(mask & ((1u << lane) - 1));
}

static bool index_stores(struct time_cluster *c)
{
	struct time_overlay *o = &c->overlay;
	bool good = true;
	while (good && o->indexed < c->effect_bytes) {
		const struct effect *e = effect_at(c, o->indexed);
		const uint64_t *address = (const uint64_t *)(const void *)(e + 1);
		const uint8_t *data = (const uint8_t *)(address + e->lanes);
		if (e->kind == EFFECT_RUN)
			good = put(o, address[0], (const uint8_t *)(address + 1), (uint32_t)e->lanes * e->bytes);
		uint8_t order[FUNC_LANES];
		const unsigned lanes = e->kind == EFFECT_STORE || e->kind == EFFECT_ATOMIC
					   ? func_store_order(e->mask, e->bytes, order)
					   : 0;
		for (unsigned k = 0; good && k < lanes; k++) {
			const uint32_t n = place_in(e->mask, order[k]);
			good =
			    put(o, address[n], e->kind == EFFECT_STORE ? data + (size_t)n * e->bytes : NULL, e->bytes);
		}
		o->indexed += e->size;
	}
	return good;
}

/* A weak load of the lanes in mask has taken its values from memory. Values that the cluster has stored meanwhile are
 * put in their place. Returns the lanes whose bytes an atomic is about to change. */
static uint32_t look(struct time_run *x, struct func_warp *f, const struct func_inst *fi, uint32_t mask)
{
	struct time_cluster *c = x->c;
	struct time_overlay *o = &c->overlay;
	uint32_t locked = 0, bytes = fi->bytes;
	for (uint32_t rest = mask; rest; rest &= rest - 1) {
		uint32_t l = (uint32_t)__builtin_ctz(rest);
		uint64_t a = f->addr[l];
		uint8_t data[FUNC_ACCESS];
		if (!marked(o, a) || bytes > sizeof data)
			continue;
		const uint8_t *memory = a >= FUNC_MODULE_BASE ? func_global(&c->memory, a, bytes) : NULL;
		if (!memory)
			continue;
		if (!index_stores(c)) {
			c->out_of_memory = x->stop = true;
			return 0;
		}
		bool any = false;
		memcpy(data, memory, bytes);
		for (uint64_t word = a >> 3; word <= (a + bytes - 1) >> 3 && o->size; word++) {
			const struct overlay_word *v = word_of(o, word);
			if (v->stamp != o->stamp)
				continue;
			for (uint32_t k = 0; k < 8; k++) {
				uint64_t at = word * 8 + k - a;
				if (at >= bytes)
					continue;
				if (v->mask >> k & 1) {
					data[at] = ((const uint8_t *)&v->data)[k];
					any = true;
				}
				if (v->locked >> k & 1)
					locked |= 1u << l;
			}
		}
		if (any)
			func_load_data(f, fi, l, data);
	}
	return locked;
}

void time_effect(struct time_run *x, struct time_warp *w, struct func_warp *f, const struct func_inst *fi,
		 uint32_t mask, uint32_t *effect)
{
	bool texture = fi->space == PTX_TEX, weak = fi->kind == FUNC_LOAD && (texture || !(fi->flags & FUNC_SKIP_L1));
	uint32_t global = 0;
	if (!weak) {
		global = func_access(f, fi, mask);
		if (__builtin_expect(f->fault, 0))
			return;
	}
	if (global)
		*effect = note(x, w->f.pc, f, fi, global);
	if (mask & ~global) {
		uint32_t lanes = mask & ~global;
		uint8_t space = f->space;
		if (__builtin_expect(x->watch, 0) && fi->kind != FUNC_LOAD)
			time_watch_handler(x, f, fi, lanes);
		else
			func_do_half(f, fi, lanes);
		if (global)
			f->space = space;
	}
	if (weak && !texture && x->c->overlay.any && !f->fault) {
		uint32_t locked = look(x, f, fi, mask);
		if (__builtin_expect(locked, 0))
			*effect = note(x, w->f.pc, f, fi, locked);
	}
}

/* ---- serving ---- */

static bool write(uint8_t *p, const void *data, size_t bytes, bool look)
{
	bool changed = look && memcmp(p, data, bytes) != 0;
	memcpy(p, data, bytes);
	return changed;
}

bool time_effect_serve(struct time_cluster *c, uint32_t effect, struct func_memory *m, bool look)
{
	const struct effect *e = effect_at(c, effect);
	const struct func_inst *fi = &c->run.fi[e->pc];
	const uint64_t *address = (const uint64_t *)(const void *)(e + 1);
	const uint8_t *follows = (const uint8_t *)(address + e->lanes);
	bool changed = false;
	if (e->kind == EFFECT_RUN) {
		const uint8_t *data = (const uint8_t *)(address + 1);
		uint8_t *p = func_global(m, address[0], (uint64_t)e->lanes * e->bytes);
		if (p)
			return write(p, data, (size_t)e->lanes * e->bytes, look);
		for (uint32_t l = 0; l < e->lanes; l++) { /* over the border of two regions */
			p = func_global(m, address[0] + (uint64_t)l * e->bytes, e->bytes);
			if (p)
				changed |= write(p, data + (size_t)l * e->bytes, e->bytes, look);
		}
		return changed;
	}
	if (e->kind == EFFECT_STORE) {
		uint8_t order[FUNC_LANES];
		const unsigned lanes = func_store_order(e->mask, e->bytes, order);
		for (unsigned k = 0; k < lanes; k++) {
			const uint32_t at = place_in(e->mask, order[k]);
			uint8_t *p = func_global(m, address[at], e->bytes);
			if (p) /* func_access has looked */
				changed |= write(p, follows + (size_t)at * e->bytes, e->bytes, look);
		}
		return changed;
	}
	uint32_t n = 0;
	for (uint32_t rest = e->mask; rest; rest &= rest - 1, n++) {
		uint32_t l = (uint32_t)__builtin_ctz(rest);
		uint8_t *p = func_global(m, address[n], e->bytes), before[FUNC_ACCESS];
		if (!p)
			continue;
		if (e->kind == EFFECT_LOAD) {
			func_load_data(e->f, fi, l, p);
		} else {
			uint64_t operand[FUNC_ATOMIC_WORDS];
			const uint32_t data = atomic_bytes(e->bytes);
			memcpy(operand, follows + (size_t)n * data, data);
			memcpy(before, p, e->bytes);
			func_atomic_do(e->f, fi, l, p, operand);
			changed |= look && memcmp(before, p, e->bytes) != 0;
		}
	}
	return changed;
}

void time_effect_soon(const struct time_cluster *c, uint32_t effect)
{
	const char *e = (const char *)effect_at(c, effect);
	for (uint32_t k = 0; k < AHEAD; k++)
		__builtin_prefetch(e + (size_t)k * HOST_LINE);
}

void time_effect_clear(struct time_cluster *c)
{
	struct time_overlay *o = &c->overlay;
	c->effect_bytes = 0;
	o->indexed = o->used = 0;
	if (!o->any)
		return;
	o->any = false;
	memset(o->bloom, 0, sizeof o->bloom);
	if (!++o->stamp) {
		o->stamp = 1;
		if (o->word)
			memset(o->word, 0, o->size * sizeof *o->word);
	}
}
