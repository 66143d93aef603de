#include "gpu/sim/time/time_atomic.h"
#include "base/arena.h"
#include <errno.h>

#define FIX	    10 /* as in time_state.h */
#define SLOTS_FIRST 256

int atomics_open(struct time_atomics *a, const struct sim_spec *s, uint32_t partitions)
{
	*a = (struct time_atomics){
	    .units = s->atomic_units ? s->atomic_units : partitions, .slots = SLOTS_FIRST, .queue = s->atomic_queue};
	a->unit = mem_zero(a->units, sizeof *a->unit);
	a->next = mem_zero(s->sm_count, sizeof *a->next);
	a->until = mem_zero((size_t)s->sm_count * (a->queue ? a->queue : 1), sizeof *a->until);
	a->word = mem_zero(a->slots, sizeof *a->word);
	a->free = mem_zero(a->slots, sizeof *a->free);
	if (a->unit && a->next && a->until && a->word && a->free)
		return 0;
	atomics_close(a);
	return -ENOMEM;
}

void atomics_close(struct time_atomics *a)
{
	mem_free(a->unit);
	mem_free(a->next);
	mem_free(a->until);
	mem_free(a->word);
	mem_free(a->free);
	*a = (struct time_atomics){0};
}

static uint32_t find(const uint64_t *table, uint32_t slots, uint64_t word)
{
	uint32_t at = (uint32_t)(word * 0x9e3779b97f4a7c15u >> 32) & (slots - 1);
	while (table[at] && table[at] != word)
		at = (at + 1) & (slots - 1);
	return at;
}

/* Keeps what is still busy at t, in a table of which it fills a quarter at most. Requests come nearly in the order of time;
 * `slack` is more than they differ. */
static int sweep(struct time_atomics *a, uint64_t t)
{
	const uint64_t slack = 1u << 14;
	uint32_t kept = 0, slots = SLOTS_FIRST;
	uint64_t since = (t > slack ? t - slack : 0) << FIX;
	for (uint32_t k = 0; k < a->slots; k++)
		kept += a->word[k] && a->free[k] > since;
	while (slots < 4 * kept)
		slots *= 2;
	uint64_t *word = mem_zero(slots, sizeof *word), *free = mem_zero(slots, sizeof *free);
	if (!word || !free) {
		mem_free(word);
		mem_free(free);
		return -ENOMEM;
	}
	for (uint32_t k = 0; k < a->slots; k++)
		if (a->word[k] && a->free[k] > since) {
			uint32_t at = find(word, slots, a->word[k]);
			word[at] = a->word[k];
			free[at] = a->free[k];
		}
	mem_free(a->word);
	mem_free(a->free);
	a->word = word;
	a->free = free;
	a->slots = slots;
	a->used = kept;
	return 0;
}

uint32_t atomics_unit(const struct time_atomics *a, uint64_t line)
{
	return (uint32_t)((line * 0x9e3779b97f4a7c15u >> 32) * a->units >> 32);
}

int atomics_take(struct time_atomics *a, uint32_t unit, uint64_t address, uint64_t t, uint64_t same, uint64_t distinct,
		 uint64_t *wait)
{
	uint64_t arrival = t << FIX, start = a->unit[unit] > arrival ? a->unit[unit] : arrival;
	if (same) {
		if (2 * (a->used + 1) > a->slots && sweep(a, t))
			return -ENOMEM;
		uint32_t at = find(a->word, a->slots, address / 4 + 1);
		if (!a->word[at]) {
			a->word[at] = address / 4 + 1;
			a->used++;
		} else if (a->free[at] > start) {
			start = a->free[at];
		}
		a->free[at] = start + same;
	}
	/* The unit takes others meanwhile: an address that has to wait does not hold it up. */
	uint64_t from = a->unit[unit] > arrival ? a->unit[unit] : arrival;
	a->unit[unit] = from + distinct;
	*wait = start - arrival;
	return 0;
}

uint64_t atomics_room(const struct time_atomics *a, uint32_t sm)
{
	return a->queue ? a->until[(size_t)sm * a->queue + a->next[sm]] : 0;
}

void atomics_sent(struct time_atomics *a, uint32_t sm, uint64_t until)
{
	if (!a->queue)
		return;
	a->until[(size_t)sm * a->queue + a->next[sm]] = until;
	a->next[sm] = (a->next[sm] + 1) % a->queue;
}
