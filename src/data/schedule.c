#include "data/schedule.h"
#include <assert.h>
#include <stdio.h>
#include <string.h>

static void renamed(uint16_t *out, const uint16_t *way, uint32_t count, uint32_t from)
{
	uint16_t name[SCHEDULE_WAYS] = {0}, names = 0;

	for (uint32_t i = 0; i < count; i++) {
		uint16_t w = way[(from + i) % count];
		assert(w < SCHEDULE_WAYS);
		if (!name[w])
			name[w] = ++names;
		out[i] = name[w];
	}
}

void schedule_text(char *out, size_t n, const uint16_t *way, uint32_t count)
{
	uint16_t best[SCHEDULE_MOST], one[SCHEDULE_MOST];
	size_t at = 0;

	assert(count && count <= SCHEDULE_MOST);
	renamed(best, way, count, 0);
	for (uint32_t from = 1; from < count; from++) {
		uint32_t i = 0;
		renamed(one, way, count, from);
		while (i < count && one[i] == best[i])
			i++;
		if (i < count && one[i] < best[i])
			memcpy(best, one, count * sizeof(one[0]));
	}
	out[0] = '\0';
	for (uint32_t i = 0; i < count && at < n; i++)
		at += (size_t)snprintf(out + at, n - at, "%s%u", i ? "," : "", best[i]);
}
