#include "gpu/sim/time/time_spare.h"
#include "base/arena.h"
#include "gpu/sim/time/time_state.h"
#include <errno.h>

int spare_reserve(struct time_spare *s, uint32_t count, uint32_t sectors)
{
	*s = (struct time_spare){.sectors = sectors};
	if (!count)
		return 0;
	s->tag = mem_zero(count, sizeof *s->tag);
	s->fill = mem_zero((size_t)count * sectors, sizeof *s->fill);
	s->age = mem_zero(count, sizeof *s->age);
	if (!s->tag || !s->age || !s->fill) {
		spare_free(s);
		return -ENOMEM;
	}
	s->count = count;
	return 0;
}

void spare_free(struct time_spare *s)
{
	mem_free(s->tag);
	mem_free(s->age);
	mem_free(s->fill);
	*s = (struct time_spare){0};
}

/* A line whose data are still on their way is not kept: what brings them looks for it in the cache. */
static bool is_settled(const struct time_spare *s, const uint64_t *fill)
{
	for (uint32_t k = 0; k < s->sectors; k++)
		if (fill[k] >= PENDING && fill[k] != CACHE_INVALID)
			return false;
	return true;
}

bool spare_swap(struct time_spare *s, uint64_t old, uint64_t key, uint64_t *fill)
{
	uint32_t at = 0;
	while (at < s->count && s->tag[at] != key)
		at++;
	const bool found = at < s->count, keep = old && is_settled(s, fill);
	if (!found) {
		at = 0;
		for (uint32_t k = 1; k < s->count; k++)
			at = s->age[k] < s->age[at] ? k : at;
	}
	for (uint32_t k = 0; k < s->sectors; k++) {
		uint64_t was = fill[k];
		fill[k] = found ? s->fill[(size_t)at * s->sectors + k] : CACHE_INVALID;
		if (keep)
			s->fill[(size_t)at * s->sectors + k] = was;
	}
	if (found || keep) {
		s->tag[at] = keep ? old : 0;
		s->age[at] = keep ? ++s->stamp : 0;
	}
	return found;
}

void spare_forget(struct time_spare *s, uint64_t mask, uint64_t from, uint64_t to)
{
	for (uint32_t k = 0; k < s->count; k++)
		if ((s->tag[k] & mask) >= from && (s->tag[k] & mask) <= to)
			s->tag[k] = s->age[k] = 0;
}
