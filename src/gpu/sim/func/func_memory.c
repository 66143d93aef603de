#include "gpu/sim/func/func.h"
#include <errno.h>
#include <string.h>

int func_memory_add(struct func_memory *m, uint64_t base, uint64_t size, struct func_region **out)
{
	if (m->count == FUNC_REGIONS || size == 0 || base + size < base || size > SIZE_MAX)
		return -EINVAL;
	for (uint32_t i = 0; i < m->count; i++) {
		const struct func_region *r = &m->region[i];
		if (base < r->base + r->size && r->base < base + size)
			return -EINVAL;
	}
	/* The allocator hands out large zeroed blocks as untouched pages, so a sparse buffer costs only what it uses. */
	uint8_t *data = mem_zero((size_t)size, 1);
	if (!data)
		return -ENOMEM;
	struct func_region *r = &m->region[m->count++];
	r->base = base;
	r->size = size;
	r->data = data;
	if (out)
		*out = r;
	return 0;
}

void func_memory_free(struct func_memory *m)
{
	for (uint32_t i = 0; i < m->count; i++)
		mem_free(m->region[i].data);
	memset(m, 0, sizeof *m);
}

uint8_t *func_memory_find(struct func_memory *m, uint64_t addr, uint64_t bytes)
{
	for (uint32_t i = 0; i < m->count; i++) {
		const struct func_region *r = &m->region[i];
		uint64_t at = addr - r->base;
		if (at < r->size && bytes <= r->size - at) {
			m->last = i;
			return r->data + at;
		}
	}
	return NULL;
}
