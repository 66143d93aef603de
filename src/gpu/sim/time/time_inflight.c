#include "gpu/sim/time/time_inflight.h"
#include "base/arena.h"
#include <assert.h>
#include <errno.h>

int inflight_open(struct time_inflight *f, enum outstanding_kind kind, uint32_t entries, uint32_t merge)
{
	*f = (struct time_inflight){
	    .kind = kind, .entries = entries, .merge = merge, .owner = INFLIGHT_NONE, .recorder = INFLIGHT_NONE};
	if (kind == OUTSTANDING_NONE || !entries)
		return 0;
	f->done = mem_zero(entries, sizeof *f->done);
	f->heap = mem_zero(entries, sizeof *f->heap);
	f->place = mem_zero(entries, sizeof *f->place);
	if (!f->done || !f->heap || !f->place)
		goto nomem;
	for (uint32_t k = 0; k < entries; k++)
		f->heap[k] = f->place[k] = k;
	if (kind == OUTSTANDING_PRT) {
		f->latest = mem_zero(entries, sizeof *f->latest);
		f->pending = mem_zero(entries, sizeof *f->pending);
		if (f->latest && f->pending)
			return 0;
		goto nomem;
	}
	for (f->slots = 4; f->slots < 4 * entries;)
		f->slots *= 2;
	f->line = mem_zero(entries, sizeof *f->line);
	f->lanes = mem_zero(entries, sizeof *f->lanes);
	f->slot = mem_zero(f->slots, sizeof *f->slot);
	if (f->line && f->lanes && f->slot)
		return 0;
nomem:
	inflight_close(f);
	return -ENOMEM;
}

void inflight_close(struct time_inflight *f)
{
	mem_free(f->done);
	mem_free(f->line);
	mem_free(f->lanes);
	mem_free(f->latest);
	mem_free(f->pending);
	mem_free(f->heap);
	mem_free(f->place);
	mem_free(f->slot);
	*f = (struct time_inflight){0};
}

/* ---- entries by completion ---- */

static void put(struct time_inflight *f, uint32_t at, uint32_t entry)
{
	f->heap[at] = entry;
	f->place[entry] = at;
}

/* The entry's completion has changed: it moves to where it belongs. */
static void settle(struct time_inflight *f, uint32_t entry)
{
	uint32_t at = f->place[entry];
	uint64_t done = f->done[entry];
	while (at && f->done[f->heap[(at - 1) / 2]] > done) {
		put(f, at, f->heap[(at - 1) / 2]);
		at = (at - 1) / 2;
	}
	for (;;) {
		uint32_t child = 2 * at + 1;
		if (child >= f->entries)
			break;
		if (child + 1 < f->entries && f->done[f->heap[child + 1]] < f->done[f->heap[child]])
			child++;
		if (f->done[f->heap[child]] >= done)
			break;
		put(f, at, f->heap[child]);
		at = child;
	}
	put(f, at, entry);
}

/* ---- entries by line ---- */

static uint32_t home(const struct time_inflight *f, uint64_t line)
{
	return (uint32_t)(line * 0x9e3779b97f4a7c15u >> 32) & (f->slots - 1);
}

/* The slot of the line, or the empty slot that it would take. */
static uint32_t find(const struct time_inflight *f, uint64_t line)
{
	uint32_t at = home(f, line);
	while (f->slot[at] && f->line[f->slot[at] - 1] != line)
		at = (at + 1) & (f->slots - 1);
	return at;
}

/* Empties the slot of an entry, if its line still leads to it, and moves up what stood behind. */
static void forget(struct time_inflight *f, uint32_t entry)
{
	uint32_t hole = find(f, f->line[entry]);
	if (f->slot[hole] != entry + 1)
		return;
	f->slot[hole] = 0;
	for (uint32_t at = (hole + 1) & (f->slots - 1); f->slot[at]; at = (at + 1) & (f->slots - 1)) {
		uint32_t from = home(f, f->line[f->slot[at] - 1]);
		/* May it stand in the hole: is its home not within (hole, at]? */
		if (((at - from) & (f->slots - 1)) < ((at - hole) & (f->slots - 1)))
			continue;
		f->slot[hole] = f->slot[at];
		f->slot[at] = 0;
		hole = at;
	}
}

/* ---- requests ---- */

void inflight_begin(struct time_inflight *f)
{
	f->owner = f->recorder = INFLIGHT_NONE;
}

uint64_t inflight_record(struct time_inflight *f, uint32_t lanes, uint64_t t, uint64_t *wait)
{
	*wait = 0;
	if (f->recorder == INFLIGHT_NONE) {
		f->recorder = 0;
		for (uint32_t k = 1; k < f->recorders; k++)
			if (f->recorder_free[k] < f->recorder_free[f->recorder])
				f->recorder = k;
		*wait = f->recorder_free[f->recorder] > t ? f->recorder_free[f->recorder] - t : 0;
	}
	uint64_t *free = &f->recorder_free[f->recorder], begins = *free > t ? *free : t;
	*free = begins + (uint64_t)lanes * f->record;
	return begins;
}

void inflight_hold(struct time_inflight *f, uint64_t wait)
{
	f->recorder_free[f->recorder] += wait;
}

/* The entry that is free first, which is then held until it is answered. */
static enum inflight_answer take(struct time_inflight *f, uint64_t t, uint64_t *at, uint32_t *entry)
{
	uint32_t first = f->heap[0];
	uint64_t free = f->done[first];
	if (free == INFLIGHT_UNKNOWN)
		return INFLIGHT_FULL;
	*entry = first;
	*at = free > t ? free : t;
	f->done[first] = INFLIGHT_UNKNOWN;
	settle(f, first);
	return INFLIGHT_GO;
}

static enum inflight_answer enter_prt(struct time_inflight *f, uint64_t t, uint64_t *at, uint32_t *entry)
{
	*at = t;
	if (f->owner == INFLIGHT_NONE) {
		if (take(f, t, at, &f->owner) == INFLIGHT_FULL)
			return INFLIGHT_FULL;
		f->latest[f->owner] = 0;
	}
	f->pending[f->owner]++;
	*entry = f->owner;
	return INFLIGHT_GO;
}

enum inflight_answer inflight_enter(struct time_inflight *f, uint64_t line, uint32_t lanes, uint64_t t, uint64_t *at,
				    uint32_t *entry)
{
	if (f->kind == OUTSTANDING_PRT)
		return enter_prt(f, t, at, entry);
	uint32_t here = f->slot[find(f, line)];
	if (here && f->done[here - 1] > t && (!f->merge || f->lanes[here - 1] + lanes <= f->merge)) {
		f->lanes[here - 1] += lanes;
		*entry = here - 1;
		*at = f->done[here - 1];
		return INFLIGHT_MERGED;
	}
	if (take(f, t, at, entry) == INFLIGHT_FULL)
		return INFLIGHT_FULL;
	forget(f, *entry);
	f->line[*entry] = line;
	f->lanes[*entry] = lanes;
	/* An older entry of the line, which is full or done, is led to no longer. */
	f->slot[find(f, line)] = *entry + 1;
	return INFLIGHT_GO;
}

void inflight_leave(struct time_inflight *f, uint32_t entry, uint64_t done)
{
	assert(entry < f->entries);
	if (f->kind == OUTSTANDING_PRT) { /* it goes with the last of the instruction's requests */
		f->latest[entry] = done > f->latest[entry] ? done : f->latest[entry];
		if (--f->pending[entry])
			return;
		done = f->latest[entry];
	}
	f->done[entry] = done;
	settle(f, entry);
}
