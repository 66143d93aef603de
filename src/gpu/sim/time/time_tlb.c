#include "gpu/sim/time/time_tlb.h"
#include "gpu/sim/time/time_state.h"
#include "gpu/sim/time/time_units.h"
#include <errno.h>
#include <math.h>
#include <string.h>

/* The place of the page tables in the cache that walks look up. Far above everything else that is in memory. */
#define TABLE_HOME  (1ull << 44)
#define TABLE_ENTRY 3 /* log2 of its bytes */

int tlb_open(struct time_tlb *t, const struct sim_spec *s, enum tlb_path path, const struct time_level *table,
	     uint64_t *window, uint64_t seed)
{
	const struct tlb_spec *spec = &s->tlb[path];
	*t = (struct time_tlb){.miss = time_fixed(spec->miss_latency),
			       .walk_memory = time_fixed(spec->walk_memory),
			       .table = spec->walk == WALK_L2 ? table : NULL,
			       .page_shift = s->page_size ? (uint32_t)__builtin_ctzll(s->page_size) : 12,
			       .window_switch = time_fixed(s->tlb_window_switch),
			       .window = window};
	while (s->tlb_window >> t->window_shift > 1)
		t->window_shift++;
	for (uint32_t k = 0; k < spec->levels; k++) {
		struct time_tlb_level *l = &t->level[k];
		l->scope = spec->level[k].scope;
		l->count = time_instances(s, l->scope);
		l->latency = time_fixed(spec->level[k].latency);
		l->cache = mem_zero(l->count, sizeof *l->cache);
		if (!l->cache)
			return -ENOMEM;
		t->levels++;
		t->near += l->scope != SCOPE_GPU;
		for (uint32_t n = 0; n < l->count; n++)
			cache_init(&l->cache[n], &spec->level[k], seed * 1000003u + k * 4099u + n, 0);
	}
	return 0;
}

void tlb_close(struct time_tlb *t)
{
	for (uint32_t k = 0; k < t->levels; k++) {
		for (uint32_t n = 0; n < t->level[k].count; n++)
			cache_free(&t->level[k].cache[n]);
		mem_free(t->level[k].cache);
	}
	t->levels = t->near = 0;
}

/* Something that is there, or will be at cycle `at`, takes no less time than that. */
static void wait_for(struct tlb_look *look, uint64_t at, uint64_t now)
{
	uint64_t wait = at > now ? (at - now) << FIX : 0;
	look->extra = wait > look->extra ? wait : look->extra;
}

bool tlb_levels(struct time_tlb *t, uint32_t from, uint32_t to, uint32_t sm, uint32_t cluster, uint64_t address,
		uint64_t now, struct tlb_look *look)
{
	for (uint32_t k = from; k < to; k++) {
		const struct time_tlb_level *l = &t->level[k];
		struct time_cache *c = &l->cache[l->scope == SCOPE_SM ? sm : l->scope == SCOPE_CLUSTER ? cluster : 0];
		if (__builtin_expect(!c->tag, 0) && cache_reserve(c))
			return false;
		uint64_t *entry = cache_touch(c, address, now);
		look->extra += l->latency;
		if (*entry == CACHE_INVALID) {
			c->misses++;
			look->pending[look->passed++] = entry;
			continue;
		}
		c->hits++;
		wait_for(look, *entry, now);
		look->found = true;
		return true;
	}
	return true;
}

bool tlb_walk(struct time_tlb *t, uint64_t address, uint64_t now, struct tlb_look *look)
{
	look->extra += t->miss;
	if (t->table) {
		struct time_cache *c = &t->table->cache[0];
		if (__builtin_expect(!c->tag, 0) && cache_reserve(c))
			return false;
		uint64_t *entry = cache_touch(c, TABLE_HOME | (address >> t->page_shift) << TABLE_ENTRY, now);
		if (*entry == CACHE_INVALID) {
			look->extra += t->walk_memory;
			*entry = now + ((look->extra + FIX_ONE / 2) >> FIX);
		} else {
			wait_for(look, *entry, now);
		}
	}
	if (t->window_shift) {
		uint64_t is = (address >> t->window_shift) + 1;
		if (*t->window && *t->window != is)
			look->extra += t->window_switch;
		*t->window = is;
	}
	return true;
}

void tlb_fill(const struct tlb_look *look, uint64_t now)
{
	for (uint32_t k = 0; k < look->passed; k++)
		*look->pending[k] = now + ((look->extra + FIX_ONE / 2) >> FIX);
}

bool tlb_translate(struct time_tlb *t, uint32_t sm, uint32_t cluster, uint64_t address, uint64_t now, uint64_t *extra)
{
	struct tlb_look look = {.extra = 0};
	if (!tlb_levels(t, 0, t->levels, sm, cluster, address, now, &look) ||
	    (!look.found && !tlb_walk(t, address, now, &look)))
		return false;
	tlb_fill(&look, now);
	*extra = look.extra;
	return true;
}
