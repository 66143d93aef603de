/* When each warp of a scheduler may go on. A calendar of the next cycles has a bit a slot in each. A look at all slots
 * thus takes as long for many as for few. A warp that comes later is found when its time comes near. Slots from
 * WAKE_SLOTS on are only in the table. Private to time/. */
#ifndef FATHOM_TIME_WAKE_H
#define FATHOM_TIME_WAKE_H
#include <assert.h>
#include <stdint.h>

#define WAKE_SLOTS  64
#define WAKE_CYCLES 64

struct time_wakes {
	uint64_t ready;		    /* slots that may go on at `seen` */
	uint64_t seen;		    /* cycle of the latest look */
	uint64_t used;		    /* which places of near[] may hold a slot */
	uint64_t far;		    /* nobody who is neither ready nor near comes before it */
	uint32_t slots;		    /* that it has: WAKE_SLOTS, or 0 while nobody looks */
	uint64_t near[WAKE_CYCLES]; /* slots of each of the cycles after `seen` and before seen + WAKE_CYCLES */
};

static inline uint64_t wakes_turned(uint64_t bits, uint64_t by)
{
	return bits >> by % 64 | bits << (-by & 63);
}

static inline void wakes_put(struct time_wakes *c, uint32_t slot, uint64_t at)
{
	const uint64_t bit = 1ull << slot;
	if (at <= c->seen) {
		c->ready |= bit;
	} else if (at - c->seen < WAKE_CYCLES) {
		c->near[at % WAKE_CYCLES] |= bit;
		c->used |= 1ull << at % WAKE_CYCLES;
	} else {
		c->far = at < c->far ? at : c->far;
	}
}

/* wake: the table of all slots. */
static inline void wakes_set(struct time_wakes *c, uint64_t *wake, uint32_t slot, uint64_t at)
{
	const uint64_t old = wake[slot];
	wake[slot] = at;
	if (__builtin_expect(slot >= c->slots, 0))
		return;
	c->ready &= ~(1ull << slot);
	if (old > c->seen && old - c->seen < WAKE_CYCLES)
		c->near[old % WAKE_CYCLES] &= ~(1ull << slot);
	wakes_put(c, slot, at);
}

/* From now on nobody looks. Somebody does again after wakes_open, whatever the table says then. */
static inline void wakes_close(struct time_wakes *c)
{
	c->slots = 0;
}

static inline void wakes_open(struct time_wakes *c)
{
	*c = (struct time_wakes){.seen = c->seen, .slots = WAKE_SLOTS};
}

/* The first n slots, n at most WAKE_SLOTS, are looked at in cycle t, which no look was later than: those that may go on. */
static inline uint64_t wakes_ready(struct time_wakes *c, const uint64_t *wake, uint32_t n, uint64_t t)
{
	const uint64_t passed = t - c->seen;
	assert(t >= c->seen);
	uint64_t due = passed < WAKE_CYCLES ? (1ull << passed) - 1 : UINT64_MAX;
	for (due = c->used & wakes_turned(due, -(c->seen + 1)); due; due &= due - 1) {
		const uint32_t k = (uint32_t)__builtin_ctzll(due);
		c->ready |= c->near[k];
		c->near[k] = 0;
		c->used &= ~(1ull << k);
	}
	c->seen = t;
	if (__builtin_expect(c->far <= t || c->far - t < WAKE_CYCLES, 0)) {
		c->far = UINT64_MAX;
		for (uint32_t k = 0; k < n; k++)
			wakes_put(c, k, wake[k]);
	}
	return c->ready;
}

/* After a look: when the first of the others may go on. */
static inline uint64_t wakes_later(struct time_wakes *c)
{
	for (uint64_t rest = wakes_turned(c->used, c->seen + 1); rest; rest &= rest - 1) {
		const uint64_t at = c->seen + 1 + (uint32_t)__builtin_ctzll(rest);
		if (c->near[at % WAKE_CYCLES])
			return at;
		c->used &= ~(1ull << at % WAKE_CYCLES);
	}
	return c->far;
}

#endif
