#include "gpu/sim/time/time_cache.h"
#include "base/arena.h"
#include "gpu/sim/time/time_replace.h"
#include "gpu/sim/time/time_set.h"
#include <assert.h>
#include <errno.h>
#include <math.h>
#include <string.h>

#define PORT_FRACTION 20 /* bits of a cycle a byte */
#define PORT_FIX      10 /* bits of a cycle that a port is busy */

/* Set dueling (Qureshi et al. 2007). Of each DUEL_SPAN sets one always inserts lines young and one always old. The
 * others do as the one that missed less lately, by a counter that saturates. */
#define DUEL_SPAN  32
#define DUEL_EVEN  512
#define DUEL_YOUNG 2

#define STRANGER (1ull << (CACHE_LINE_BITS - 1)) /* line numbers from here on are nobody's addresses */

static int shift_of(uint64_t n)
{
	return n && !(n & (n - 1)) ? __builtin_ctzll(n) : -1;
}

void cache_init(struct time_cache *c, const struct cache_spec *s, uint64_t seed, double evict_rate)
{
	*c = (struct time_cache){.spec = s, .ways = s->ways, .epoch = 1, .emptied = 1, .evict_rate = evict_rate};
	uint32_t sector = s->sector ? s->sector : s->line;
	c->sectors = sector ? (s->line + sector - 1) / sector : 1;
	c->line_shift = shift_of(s->line);
	c->sector_shift = shift_of(sector);
	if (s->set_bits_from && c->line_shift >= 0 && s->set_bits_from > (uint32_t)c->line_shift)
		c->set_shift = s->set_bits_from - (uint32_t)c->line_shift;
	for (uint32_t k = 0; s->set_ways && k < s->sets; k++)
		c->dealt_count += s->set_ways[k];
	/* Dealt sets have no mask, so that they are told from the plain mapping without a look at the table. */
	if (shift_of(s->sets) >= 0 && !s->set_ways) {
		c->set_mask = s->sets - 1;
		c->set_bits = (uint32_t)shift_of(s->sets);
	}
	if (s->bandwidth > 0)
		c->port_byte = (uint64_t)llround((1 << PORT_FRACTION) / s->bandwidth);
	c->port_least = (uint64_t)llround(s->interval * (1 << PORT_FIX));
	c->store_least = (uint64_t)llround(s->store_interval * (1 << PORT_FIX));
	c->port = c->port_byte || c->port_least;
	c->placed = s->policy == POLICY_LRU || s->policy == POLICY_FIFO || s->policy == POLICY_RANDOM ||
		    s->policy == POLICY_WEIGHTED;
	c->duel = DUEL_EVEN;
	c->sets_inverse = s->sets ? UINT64_MAX / s->sets + 1 : 0;
	rng_seed(&c->rng, seed);
}

void cache_free(struct time_cache *c)
{
	mem_free(c->tag);
	mem_free(c->age);
	mem_free(c->fill);
	mem_free(c->tree);
	mem_free(c->dirty);
	mem_free(c->dealt);
	mem_free(c->turn);
	mem_free(c->print);
	mem_free(c->room);
	mem_free(c->oldest);
	spare_free(&c->spare);
	c->tag = c->age = c->fill = c->tree = NULL;
	c->print = NULL;
	c->room = NULL;
	c->oldest = NULL;
	c->dirty = c->turn = NULL;
	c->dealt = NULL;
}

/* Position n of each run of as many lines as the cache holds goes to set dealt[n]: round the sets, passing by the full ones. */
static void deal(struct time_cache *c)
{
	const uint32_t *room = c->spec->set_ways;
	for (uint32_t n = 0, round = 0; n < c->dealt_count; round++)
		for (uint32_t set = 0; set < c->spec->sets; set++)
			if (round < room[set])
				c->dealt[n++] = set;
}

int cache_reserve(struct time_cache *c)
{
	size_t lines = (size_t)c->spec->sets * c->spec->ways;
	c->tag = mem_zero(lines, sizeof *c->tag);
	c->age = mem_zero(lines, sizeof *c->age);
	c->fill = mem_alloc(lines * c->sectors * sizeof *c->fill);
	if (c->spec->policy == POLICY_PLRU)
		c->tree = mem_zero((size_t)c->spec->sets * 2, sizeof *c->tree);
	if (c->spec->policy == POLICY_SCHEDULE)
		c->turn = mem_zero(c->spec->sets, sizeof *c->turn);
	if (c->spec->write == WRITE_BACK)
		c->dirty = mem_zero(lines, c->sectors);
	if (c->dealt_count)
		c->dealt = mem_alloc(c->dealt_count * sizeof *c->dealt);
	c->room = mem_zero(c->spec->sets, sizeof *c->room);
	c->print_ways = c->spec->ways > FEW ? (c->spec->ways + PRINTS - 1) / PRINTS * PRINTS : 0;
	if (c->print_ways)
		c->print = mem_zero(c->spec->sets, c->print_ways);
	const bool by_age = (c->spec->policy == POLICY_LRU || c->spec->policy == POLICY_FIFO) && c->spec->ways > FEW &&
			    c->spec->ways <= UINT16_MAX;
	if (by_age)
		c->oldest = mem_zero(c->spec->sets, sizeof *c->oldest);
	const int rc = spare_reserve(&c->spare, c->spec->victims, c->sectors);
	if (rc || !c->tag || !c->age || !c->fill || !c->room || (c->print_ways && !c->print) ||
	    (by_age && !c->oldest) || (c->spec->policy == POLICY_PLRU && !c->tree) ||
	    (c->spec->policy == POLICY_SCHEDULE && !c->turn) || (c->spec->write == WRITE_BACK && !c->dirty) ||
	    (c->dealt_count && !c->dealt)) {
		cache_free(c);
		return -ENOMEM;
	}
	if (c->dealt)
		deal(c);
	return 0;
}

/* A line is there only when its tag carries the present epoch, so emptying a cache costs nothing. */
void cache_flush(struct time_cache *c)
{
	if (!c->tag)
		return;
	c->lost++;
	c->emptied++;
	if (++c->epoch >> (64 - LINE_BITS)) {
		c->epoch = 1;
		memset(c->tag, 0, (size_t)c->spec->sets * c->spec->ways * sizeof *c->tag);
		spare_forget(&c->spare, UINT64_MAX, 0, UINT64_MAX);
	}
}

/* n / sets, without a division where that is exact. */
static inline uint64_t rounds(const struct time_cache *c, uint64_t n, uint32_t sets)
{
	/* The inverse is too large by at most 1 / sets of its last bit, so the quotient is right while n is below 2^64 / sets. */
	if (__builtin_expect(sets <= 1u << 20 && n < 1ull << 44, 1))
		return (uint64_t)((unsigned __int128)n * c->sets_inverse >> 64);
	return n / sets;
}

static inline uint32_t set_of(const struct time_cache *c, uint64_t line)
{
	uint32_t sets = c->spec->sets;
	line >>= c->set_shift;
	if (c->spec->mapping == MAP_MODULO) {
		if (c->set_mask || sets == 1)
			return (uint32_t)line & c->set_mask;
		return c->dealt ? c->dealt[line % c->dealt_count] : (uint32_t)(line - rounds(c, line, sets) * sets);
	}
	/* Hashed: the upper digits of the line number permute the sets, so every aligned run of `sets` lines still
	 * spreads over all of them. */
	if (sets == 1)
		return 0;
	if (c->spec->mapping == MAP_SCRAMBLE)
		return (uint32_t)(line ^ (line >> c->set_bits) * 0x9e3779b97f4a7c15u >> 32) & c->set_mask;
	if (c->set_mask) {
		uint64_t h = 0;
		for (uint64_t rest = line; rest; rest >>= c->set_bits)
			h ^= rest;
		return (uint32_t)h & c->set_mask;
	}
	uint64_t h = 0;
	for (uint64_t rest = line; rest;) {
		uint64_t upper = rounds(c, rest, sets);
		h += rest - upper * sets;
		rest = upper;
	}
	return (uint32_t)(h - rounds(c, h, sets) * sets);
}

/* ---- replacement ---- */

/* A set's pointer goes on by one. */
static void step(struct time_cache *c, uint32_t set)
{
	uint32_t next = c->turn[set] + 1u;
	c->turn[set] = (uint8_t)(next < c->spec->schedule_count ? next : 0);
}

/* The way that the pointer is at, or the next one of those that shared memory has left. */
static uint32_t scheduled(struct time_cache *c, uint32_t set, uint32_t ways)
{
	const struct cache_spec *s = c->spec;
	assert(c->turn);
	uint32_t at = c->turn[set];
	while (s->schedule[at] >= ways)
		at = at + 1 < s->schedule_count ? at + 1 : 0;
	if (s->step == STEP_MISS)
		step(c, set);
	return s->schedule[at];
}

/* The age of a line that comes into the set. In a duel, a miss is counted against the side whose set it is in. */
static uint32_t insert_age(struct time_cache *c, uint32_t set)
{
	if (c->spec->policy == POLICY_QLRU)
		return c->spec->insert_age;
	const uint32_t span = c->spec->sets < DUEL_SPAN ? c->spec->sets : DUEL_SPAN, of = set % span;
	const bool young = of == 0, old = of && of == span / 2;
	if (young && c->duel < 2 * DUEL_EVEN)
		c->duel++;
	if (old && c->duel > 0)
		c->duel--;
	return old || (!young && c->duel > DUEL_EVEN) ? QLRU_OLDEST : DUEL_YOUNG;
}

static uint32_t victim(struct time_cache *c, uint32_t set, const uint64_t *tag, uint32_t ways)
{
	const uint64_t *age = c->age + (size_t)set * c->spec->ways;
	uint32_t empty = find_empty(c, set, tag, ways);
	if (empty < ways)
		return empty;
	switch (c->spec->policy) {
	case POLICY_RANDOM:
		return (uint32_t)rng_below(&c->rng, ways);
	case POLICY_WEIGHTED: {
		double u = rng_unit(&c->rng);
		for (uint32_t w = 0; w + 1 < ways; w++) {
			u -= c->spec->weight[w];
			if (u < 0)
				return w;
		}
		return ways - 1;
	}
	case POLICY_PLRU:
		return tree_victim(c->tree + (size_t)set * 2, ways);
	case POLICY_NRU: /* the first that was not used since all others were; 1: used */
		for (uint32_t w = 0; w < ways; w++)
			if (!age[w])
				return w;
		return 0; /* only a set of one way has no such line */
	case POLICY_SCHEDULE:
		return scheduled(c, set, ways);
	case POLICY_QLRU:
	case POLICY_DUEL:
		return qlru_victim(c->age + (size_t)set * c->spec->ways, ways);
	case POLICY_LRU:
	case POLICY_FIFO:
		break;
	}
	return find_oldest(c, set, age, ways);
}

/* Bytes of the line at index i that memory does not have yet; they are written back now. */
static uint32_t clean(struct time_cache *c, size_t i)
{
	uint32_t n = 0;
	for (uint32_t k = 0; k < c->sectors; k++) {
		n += c->dirty[i * c->sectors + k];
		c->dirty[i * c->sectors + k] = 0;
	}
	return n * (c->spec->sector ? c->spec->sector : c->spec->line);
}

static void leave_stranger(struct time_cache *c);

/* What somebody else's traffic evicted since the last look. */
static void neighbours(struct time_cache *c, uint64_t now)
{
	if (now <= c->last)
		return;
	c->debt += (double)(now - c->last) * c->evict_rate;
	c->last = now;
	uint64_t lines = c->dealt ? c->dealt_count : (uint64_t)c->spec->sets * c->spec->ways;
	if (c->debt > (double)lines)
		c->debt = (double)lines;
	for (; c->debt >= 1; c->debt--) {
		if (c->insert_share > 0 && rng_unit(&c->rng) < c->insert_share) {
			leave_stranger(c);
			continue;
		}
		uint64_t n = rng_below(&c->rng, lines);
		if (c->dealt) {
			uint32_t set = c->dealt[n];
			n = (uint64_t)set * c->spec->ways + rng_below(&c->rng, c->spec->set_ways[set]);
		}
		c->tag[n] = 0;
		c->lost++;
		c->emptied++;
	}
}

static inline uint32_t ways_of(const struct time_cache *c, uint32_t set)
{
	return c->dealt ? c->spec->set_ways[set] : c->ways;
}

/* Makes room for a line in its set: the way that it gets. */
static __attribute__((noinline)) uint32_t make_room(struct time_cache *c, uint32_t set, uint32_t ways, uint64_t key)
{
	size_t first = (size_t)set * c->spec->ways;
	uint64_t *tag = c->tag + first;
	uint32_t w = victim(c, set, tag, ways);
	bool was = tag[w] >> LINE_BITS == c->epoch;
	c->lost += was;
	if (c->dirty) {
		uint32_t left = clean(c, first + w);
		c->written_back += was ? left : 0;
	}
	uint64_t *fill = c->fill + (first + w) * c->sectors;
	if (c->spare.count)
		spare_swap(&c->spare, was ? tag[w] : 0, key, fill);
	else
		for (uint32_t k = 0; k < c->sectors; k++)
			fill[k] = CACHE_INVALID;
	tag[w] = key;
	if (c->print)
		c->print[(size_t)set * c->print_ways + w] = print_of(key);
	return w;
}

/* A line is used that is at way w, where it has just come in or was before. */
static inline void use(struct time_cache *c, uint32_t set, uint32_t ways, uint32_t w, bool was)
{
	uint64_t *age = c->age + (size_t)set * c->spec->ways;
	if (c->spec->policy == POLICY_LRU) { /* most are */
		age[w] = ++c->stamp;
		return;
	}
	switch (c->spec->policy) {
	case POLICY_QLRU:
	case POLICY_DUEL:
		age[w] = was ? 0 : insert_age(c, set);
		break;
	case POLICY_NRU:
		nru_use(age, ways, w);
		break;
	default:
		if (!was)
			age[w] = ++c->stamp;
	}
	if (c->tree)
		tree_use(c->tree + (size_t)set * 2, ways, w);
}

/* Somebody else reads a line of theirs, which stays until the policy takes it for the one to go. */
static void leave_stranger(struct time_cache *c)
{
	const uint32_t set = (uint32_t)rng_below(&c->rng, c->spec->sets), ways = ways_of(c, set);
	const uint64_t line = STRANGER | (c->strangers++ & (STRANGER - 1));
	const uint32_t w = make_room(c, set, ways, cache_key_of(c, line));
	use(c, set, ways, w, false);
	for (uint32_t k = 0; k < c->sectors; k++)
		c->fill[((size_t)set * c->spec->ways + w) * c->sectors + k] = 0;
}

static __attribute__((noinline)) uint64_t *touch_slow(struct time_cache *c, uint64_t address, uint64_t line,
						      uint64_t key)
{
	uint32_t set = set_of(c, line), ways = ways_of(c, set), sector = cache_sector_of(c, address);
	size_t first = (size_t)set * c->spec->ways;
	uint32_t w = find_tag(c, set, ways, key);
	if (c->turn && c->spec->step == STEP_ACCESS)
		step(c, set);
	const bool was = w < ways;
	if (!was)
		w = make_room(c, set, ways, key);
	use(c, set, ways, w, was);
	c->hint[line % CACHE_HINTS] = (uint32_t)(first + w);
	return c->fill + (first + w) * c->sectors + sector;
}

uint64_t *cache_touch(struct time_cache *c, uint64_t address, uint64_t now)
{
	if (c->evict_rate > 0)
		neighbours(c, now);
	uint64_t line = cache_line_of(c, address), key = cache_key_of(c, line);
	uint32_t place = c->hint[line % CACHE_HINTS];
	/* A line has one set, so a tag that is its own is the only one. */
	if (!c->placed || c->tag[place] != key)
		return touch_slow(c, address, line, key);
	if (c->spec->policy == POLICY_LRU)
		c->age[place] = ++c->stamp;
	return c->fill + (size_t)place * c->sectors + cache_sector_of(c, address);
}

uint64_t *cache_touch_place(struct time_cache *c, uint64_t address, uint64_t now, uint32_t place)
{
	if (!c->placed)
		return NULL;
	if (c->evict_rate > 0)
		neighbours(c, now);
	uint64_t *fill = c->fill + (size_t)place * c->sectors + cache_sector_of(c, address);
	if (c->tag[place] != cache_key_of(c, cache_line_of(c, address)) || *fill == CACHE_INVALID)
		return NULL;
	if (c->spec->policy == POLICY_LRU)
		c->age[place] = ++c->stamp;
	return fill;
}

/* Index of the line, or CACHE_NOWHERE; its set is `set`. */
static inline uint32_t place_in(const struct time_cache *c, uint32_t set, uint64_t key)
{
	const uint32_t ways = ways_of(c, set), w = find_tag(c, set, ways, key);
	const size_t at = (size_t)set * c->spec->ways + w;
	return w < ways && at < CACHE_NOWHERE ? (uint32_t)at : CACHE_NOWHERE;
}

static uint32_t place_of(const struct time_cache *c, uint64_t address)
{
	if (!c->tag)
		return CACHE_NOWHERE;
	uint64_t line = cache_line_of(c, address), key = cache_key_of(c, line);
	uint32_t place = c->hint[line % CACHE_HINTS];
	return c->tag[place] == key ? place : place_in(c, set_of(c, line), key);
}

uint32_t cache_place(const struct time_cache *c, uint64_t address)
{
	return place_of(c, address);
}

uint32_t cache_place_in(const struct time_cache *c, uint64_t address, uint32_t set)
{
	return c->tag ? place_in(c, set, cache_key_of(c, cache_line_of(c, address))) : CACHE_NOWHERE;
}

bool cache_uses_places(const struct time_cache *c)
{
	const enum cache_policy p = c->spec->policy;
	return (c->placed || p == POLICY_SCHEDULE) && !c->port && !(c->evict_rate > 0);
}

uint32_t cache_prefetch_set(const struct time_cache *c, uint64_t address)
{
	if (!c->tag)
		return 0;
	const uint32_t set = set_of(c, cache_line_of(c, address));
	const uint64_t *tag = c->tag + (size_t)set * c->spec->ways;
	if (c->print)
		__builtin_prefetch(c->print + (size_t)set * c->print_ways);
	__builtin_prefetch(tag);
	__builtin_prefetch(tag + c->spec->ways - 1);
	return set;
}

void cache_prefetch(const struct time_cache *c, uint64_t address, uint32_t place)
{
	if (place == CACHE_NOWHERE) {
		cache_prefetch_set(c, address);
		return;
	}
	__builtin_prefetch(c->tag + place);
	__builtin_prefetch(c->age + place, 1);
	__builtin_prefetch(cache_fill_at(c, address, place));
}

uint64_t *cache_find(const struct time_cache *c, uint64_t address)
{
	uint32_t place = place_of(c, address);
	if (place == CACHE_NOWHERE)
		return NULL;
	uint64_t *fill = c->fill + (size_t)place * c->sectors + cache_sector_of(c, address);
	return *fill == CACHE_INVALID ? NULL : fill;
}

void cache_drop(struct time_cache *c, uint64_t address)
{
	uint32_t place = place_of(c, address);
	if (c->spare.count) {
		const uint64_t key = cache_key_of(c, cache_line_of(c, address));
		spare_forget(&c->spare, UINT64_MAX, key, key);
	}
	if (place == CACHE_NOWHERE)
		return;
	c->tag[place] = 0;
	c->lost++;
	c->emptied++;
}

void cache_narrow(struct time_cache *c, uint32_t ways)
{
	uint32_t all = c->spec->ways;
	for (uint32_t set = 0; c->tag && ways < c->ways && set < c->spec->sets; set++)
		for (uint32_t w = ways; w < c->ways; w++)
			c->tag[(size_t)set * all + w] = 0;
	c->emptied += ways != c->ways;
	c->ways = ways;
}

void cache_soil(struct time_cache *c, const uint64_t *sector)
{
	c->dirty[sector - c->fill] = 1;
}

uint32_t cache_written_back(struct time_cache *c)
{
	uint32_t bytes = c->written_back;
	c->written_back = 0;
	return bytes;
}

uint64_t cache_port(struct time_cache *c, uint64_t address, uint64_t t, uint64_t ahead, uint32_t bytes)
{
	uint64_t arrival = t << PORT_FIX, asked = (t - ahead) << PORT_FIX,
		 start = c->port_free > asked ? c->port_free : asked;
	uint64_t takes = bytes * c->port_byte >> (PORT_FRACTION - PORT_FIX);
	uint64_t block = c->spec->access ? address / c->spec->access + 1 : 0, before = 0;
	if (block && block == c->port_block) {
		before = c->port_moved > c->port_least ? c->port_moved : c->port_least;
		takes += c->port_moved;
	}
	c->port_block = block;
	c->port_moved = takes;
	c->port_free = start + (takes > c->port_least ? takes : c->port_least) - before;
	return start > arrival ? start - arrival : 0;
}

uint64_t cache_store_port(struct time_cache *c, uint64_t address, uint64_t t, uint32_t bytes)
{
	const uint64_t block = c->spec->access ? address / c->spec->access + 1 : 0, arrival = t << PORT_FIX;
	if (!block || block != c->store_block)
		c->store_free = (c->store_free > arrival ? c->store_free : arrival) + c->store_least;
	c->store_block = block;
	/* Its data are moved as a load's are. */
	const uint64_t taken = c->store_free >> PORT_FIX,
		       moved = c->port ? t + (cache_port(c, address, t, 0, bytes) >> PORT_FIX) : t;
	return taken > moved ? taken : moved;
}

void cache_forget(struct time_cache *c, uint64_t base, uint64_t bytes)
{
	if (!c->tag || !bytes)
		return;
	c->lost++;
	c->emptied++;
	uint64_t from = cache_line_of(c, base), to = cache_line_of(c, base + bytes - 1);
	size_t lines = (size_t)c->spec->sets * c->spec->ways;
	spare_forget(&c->spare, LINE_MASK, from, to);
	if (to - from >= c->spec->sets) { /* one pass over the tags is shorter than one over the lines */
		for (size_t i = 0; i < lines; i++) {
			uint64_t line = c->tag[i] & LINE_MASK;
			if (line >= from && line <= to)
				c->tag[i] = 0;
		}
		return;
	}
	for (uint64_t line = from; line <= to; line++) {
		uint64_t key = cache_key_of(c, line);
		uint64_t *tag = c->tag + (size_t)set_of(c, line) * c->spec->ways;
		for (uint32_t w = 0; w < c->spec->ways; w++)
			if (tag[w] == key)
				tag[w] = 0;
	}
}
