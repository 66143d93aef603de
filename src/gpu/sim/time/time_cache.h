/* One cache: tags, ages and fill times. Private to time/. */
#ifndef FATHOM_TIME_CACHE_H
#define FATHOM_TIME_CACHE_H
#include "base/rng.h"
#include "gpu/sim/spec.h"
#include "gpu/sim/time/time_spare.h"
#include <stdbool.h>
#include <stdint.h>

#define CACHE_INVALID UINT64_MAX /* fill time of a sector that is not there */
#define CACHE_NOWHERE UINT32_MAX /* place of a line that is not there */

#define CACHE_HINTS	128
#define CACHE_LINE_BITS 40
#define CACHE_LINE_MASK ((1ull << CACHE_LINE_BITS) - 1)

/* How far a set is filled: while the cache's `emptied` is `at`, every way before `next` holds a line. */
struct cache_room {
	uint64_t at;
	uint32_t next;
};

/* The ways of a set that were used longest ago, in order: all whose age is not above `until`, as long as nobody uses them. */
#define CACHE_OLDEST 8
struct cache_oldest {
	uint64_t until;
	uint16_t way[CACHE_OLDEST];
	uint8_t next, count;
};

struct time_cache {
	const struct cache_spec *spec;
	uint32_t ways;	  /* usable: fewer than the file's while shared memory takes part of the array */
	uint32_t sectors; /* of a line */
	int line_shift;	  /* -1: not a power of two */
	int sector_shift;
	uint32_t set_mask; /* sets - 1 when sets is a power of two, else 0 */
	uint32_t set_bits;
	uint32_t set_shift; /* address bits between the line and the set index */
	uint64_t *tag;	    /* sets * ways: epoch << 40 | line; NULL until the cache is first used */
	uint64_t *age;	    /* LRU: last use; FIFO: fill; NRU: 1 = used. sets * ways */
	uint64_t *fill;	    /* cycle at which a sector is there. sets * ways * sectors */
	uint64_t *tree;	    /* PLRU: two words of direction bits a set */
	uint8_t *turn;	    /* schedule: how far each set's pointer has come */
	uint32_t *dealt;    /* unequal sets: the set of each of dealt_count lines in a row, else NULL */
	uint32_t dealt_count;
	uint32_t written_back; /* bytes that replaced lines gave back, until somebody asks */
	uint8_t *dirty;	       /* write back: a sector that memory does not have; sets * ways * sectors */
	uint64_t port_free;    /* 1/1024 cycle: when the port is free again */
	uint64_t port_byte;    /* 2^-20 cycles a byte, 0: no limit */
	uint64_t port_least;   /* 1/1024 cycle that every access takes of the port */
	uint64_t port_block;   /* the access that the latest sector belongs to, and what all that it moved takes */
	uint64_t port_moved;
	uint64_t store_free, store_block; /* the same of stores, before what they move takes the port */
	uint64_t store_least;
	bool port;   /* one of the two is not 0 */
	bool placed; /* a use of a line changes at most its own age: neither tree nor turn nor its neighbours' ages */
	uint64_t epoch, stamp;
	uint64_t sets_inverse;	     /* floor(2^64 / sets) + 1 */
	uint8_t *print;		     /* more than a few ways: 8 bits of each tag, print_ways a set, else NULL */
	uint32_t print_ways;	     /* ways, rounded up to what is looked at together */
	struct cache_room *room;     /* of each set */
	struct cache_oldest *oldest; /* of each set of more than a few ways that goes by age, else NULL */
	uint64_t emptied;	     /* how often a way may have become free without being filled again; from 1 on */
	uint32_t hint
	    [CACHE_HINTS]; /* where lines of these lowest bits were found last; their tags say whether they are there */
	uint64_t
	    lost;    /* how many lines have gone that were there: while it stays the same, every line is where it was */
	double debt; /* evictions by others that are due, below one */
	uint64_t last;	       /* when they were last counted */
	double evict_rate;     /* by others, a cycle */
	double insert_share;   /* of those that leave a line of theirs; the caller's to set after cache_init */
	uint64_t hits, misses; /* loads and fetches, for statistics: the caller's to count */
	uint64_t strangers;    /* lines that they left so far */
	uint32_t duel;	       /* POLICY_DUEL: how much better old insertion did lately, DUEL_EVEN when they are even */
	struct time_spare spare;
	struct rng rng;
};

void cache_init(struct time_cache *c, const struct cache_spec *s, uint64_t seed, double evict_rate);
void cache_free(struct time_cache *c);
int cache_reserve(struct time_cache *c); /* memory for the tables, at first use. 0 or -ENOMEM */
void cache_flush(struct time_cache *c);
void cache_forget(struct time_cache *c, uint64_t base, uint64_t bytes);

static inline uint64_t cache_line_of(const struct time_cache *c, uint64_t address)
{
	return c->line_shift >= 0 ? address >> c->line_shift : address / c->spec->line;
}

static inline uint64_t cache_key_of(const struct time_cache *c, uint64_t line)
{
	return c->epoch << CACHE_LINE_BITS | (line & CACHE_LINE_MASK);
}

static inline uint32_t cache_sector_of(const struct time_cache *c, uint64_t address)
{
	if (c->sectors == 1)
		return 0;
	uint64_t within = c->line_shift >= 0 ? address & (c->spec->line - 1) : address % c->spec->line;
	return (uint32_t)(c->sector_shift >= 0 ? within >> c->sector_shift : within / c->spec->sector);
}

/* The fill time of a byte address that is there or on its way, else NULL. Changes nothing. */
uint64_t *cache_find(const struct time_cache *c, uint64_t address);
/* The place of the line of a byte address now, or CACHE_NOWHERE. Changes nothing. */
uint32_t cache_place(const struct time_cache *c, uint64_t address);
/* The same where the set is known: of a line that was not looked at lately. */
uint32_t cache_place_in(const struct time_cache *c, uint64_t address, uint32_t set);
/* Whether uses of lines that are there can be told by their places alone. The policy keeps no more than the last use
 * then, no port counts them, and nobody else's traffic replaces lines. */
bool cache_uses_places(const struct time_cache *c);
/* The host will soon look at what the cache keeps of this address. place: where its line was lately, or CACHE_NOWHERE. */
void cache_prefetch(const struct time_cache *c, uint64_t address, uint32_t place);
uint32_t cache_prefetch_set(const struct time_cache *c, uint64_t address); /* at its tags: returns its set */
/* The entry that keeps the fill time of a byte address whose line is at `place`. It is CACHE_INVALID when the sector is
 * not there. */
static inline const uint64_t *cache_fill_at(const struct time_cache *c, uint64_t address, uint32_t place)
{
	return c->fill + (size_t)place * c->sectors + cache_sector_of(c, address);
}

/* Looks a byte address up at cycle now, and makes room for it when it is not there. Returns the sector's fill time: its value
 * is CACHE_INVALID on a miss, and the caller writes when the data will be there. */
uint64_t *cache_touch(struct time_cache *c, uint64_t address, uint64_t now);
/* The same for a sector that is there, with where its line was when somebody looked. NULL when it is not there now, or when a use
 * changes more than the line: then nothing was touched. */
uint64_t *cache_touch_place(struct time_cache *c, uint64_t address, uint64_t now, uint32_t place);

/* A use of the line at `place`, which is there; where cache_uses_places, the same as cache_touch. */
static inline void cache_use_place(struct time_cache *c, uint32_t place)
{
	if (c->spec->policy == POLICY_LRU)
		c->age[place] = ++c->stamp;
}

/* A use of a sector that is there and whose line is where it was found last: its fill time. NULL: cache_touch has to look; nothing was
 * touched. Only where nobody else's traffic replaces lines and the tables are reserved. */
static inline const uint64_t *cache_use_again(struct time_cache *c, uint64_t address)
{
	uint64_t line = cache_line_of(c, address);
	uint32_t place = c->hint[line % CACHE_HINTS];
	const uint64_t *fill = c->fill + (size_t)place * c->sectors + cache_sector_of(c, address);
	if (!c->placed || c->tag[place] != cache_key_of(c, line) || *fill == CACHE_INVALID)
		return NULL;
	cache_use_place(c, place);
	return fill;
}

/* The ways that may be used from now on, at least 1: the others hold nothing. */
void cache_narrow(struct time_cache *c, uint32_t ways);
void cache_drop(struct time_cache *c, uint64_t address); /* the line is not there any more */
/* A sector that cache_find or cache_touch gave was written and memory does not have it yet. Write back only. */
void cache_soil(struct time_cache *c, const uint64_t *sector);
/* Bytes that lines replaced since the last call have to give back to memory. */
uint32_t cache_written_back(struct time_cache *c);
/* The port moves this many bytes of an address at cycle t: how long they wait for it, in 1/1024 cycle. Only where there is a port. ahead: as
 * dram_take has it. */
/* When it has taken a store of so many bytes. */
uint64_t cache_store_port(struct time_cache *c, uint64_t address, uint64_t t, uint32_t bytes);
uint64_t cache_port(struct time_cache *c, uint64_t address, uint64_t t, uint64_t ahead, uint32_t bytes);

#endif
